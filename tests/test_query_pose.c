// Quaternions of queries need not be of unit length: all that is found is what those are that they
// are brought to, be they off by rounding of single precision or by much. Zero ones are refused.

#include "common/implicit_case.h"
#include "common/near.h"
#include "common/random.h"
#include "common/test.h"

#include <dijoco/contact.h>
#include <dijoco/penalty.h>

static const double FACTOR[] = {1 + 4e-7, 1 - 3e-9, 3, 1e-6};
enum { NFACTOR = 4, MOST = 600 };

// What a query finds as so many numbers, with both poses. -1: refused.
typedef int (*Query)(double* out, const djtPose pose[2]);

static int append(double* out, int n, const double* x, int count) {
  memcpy(out + n, x, (size_t)count * sizeof *x);
  return n + count;
}

static int implicit(double* out, const djtPose pose[2]) {
  static const double size[2][4] = {{0.5, 0.3, 0.4, 3}, {0.3, 0.6, 0.2, 2}};
  const djcImplicitShape egg[2] = {{"superellipsoid", 0, 4, size[0]},
                                   {"superellipsoid", 0, 4, size[1]}};
  djcImplicit o;
  const djStatus status = djc_implicit(&o, NULL, NULL, &egg[0], pose[0].pos, pose[0].quat, &egg[1],
                                       pose[1].pos, pose[1].quat, DJC_DERIVATIVES, NULL);
  if (status == DJ_INVALID) return -1;
  assert_int_equal(status, DJ_OK);
  int n = append(out, 0, o.x, 3);
  n = append(out, n, o.normal, 3);
  n = append(out, n, &o.gap, 1);
  n = append(out, n, o.dx, 36);
  return append(out, n, o.dnormal, 36);
}

static int kept(double* out, const djtPose pose[2]) {
  const djcShape box = {.geom = DJ_BOX, .size = {0.3, 0.4, 0.5}, .quat = {1, 0, 0, 0}};
  const djcShape can = {.geom = DJ_CAPSULE, .size = {0.2, 0.4}, .quat = {1, 0, 0, 0}};
  djcOption option = djc_defaultOption();
  djcPair* pair;
  option.support = 0.5;
  assert_int_equal(djc_makePair(&pair, &box, &can, &option, NULL), DJ_OK);
  const djStatus status = djc_evalPair(out, out + 1, out + 13, pair, pose[0].pos, pose[0].quat,
                                       pose[1].pos, pose[1].quat);
  djc_deletePair(pair);
  if (status == DJ_INVALID) return -1;
  assert_int_equal(status, DJ_OK);
  assert_true(isfinite(out[0]));
  return 157;
}

// One pose: b's.
static int penalty(double* out, const djtPose pose[2]) {
  const double point[6] = {0.1, 0.2, 0.1, -0.2, 0.1, 0};
  djcPenaltyQuery q = {.npoint = 2,
                       .point = point,
                       .geom = DJ_BOX,
                       .size = {0.5, 0.6, 0.7},
                       .kn = 10,
                       .kt = 2,
                       .kd = 1,
                       .mu = 0.7,
                       .scale = 1,
                       .twist_a = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6}};
  djcPenalty o;
  memcpy(q.quat, pose[1].quat, sizeof q.quat);
  for (int k = 0; k < 3; k++) q.pos[k] = 0.1 * pose[1].pos[k];
  const djStatus status = djc_penalty(&o, NULL, NULL, &q, NULL);
  if (status == DJ_INVALID) return -1;
  assert_int_equal(status, DJ_OK);
  int n = append(out, 0, o.wrench_a, 6);
  n = append(out, n, o.pose_jac, 144);
  return append(out, n, o.twist_jac, 144);
}

// Shapes with poses of their own.
static int pair(double* out, const djtPose pose[2]) {
  djcShape s[2] = {{.geom = DJ_BOX, .size = {0.3, 0.4, 0.5}},
                   {.geom = DJ_CYLINDER, .size = {0.2, 0.4}}};
  for (int k = 0; k < 2; k++) {
    memcpy(s[k].pos, pose[k].pos, sizeof s[k].pos);
    memcpy(s[k].quat, pose[k].quat, sizeof s[k].quat);
  }
  djcOption option = djc_defaultOption();
  djcResult o;
  option.support = 0.5;
  const djStatus status = djc_pair(&o, NULL, NULL, NULL, &s[0], &s[1], &option);
  if (status == DJ_INVALID) return -1;
  assert_int_equal(status, DJ_OK);
  int n = append(out, 0, &o.value, 1);
  return append(out, n, o.twist_gradient, 12);
}

static void testUnit(void) {
  static const Query query[] = {implicit, kept, penalty, pair};
  djRng rng = {3};
  for (int k = 0; k < 4; k++) {
    for (int i = 0; i < 20; i++) {
      double expected[MOST], found[MOST];
      djtPose pose[2], other[2];
      for (int b = 0; b < 2; b++) djt_randomPose(&pose[b], 0.2, &rng);
      pose[1].pos[0] += 1.7;
      const int n = query[k](expected, pose);
      assert_true(n > 0);
      for (int f = 0; f < NFACTOR; f++) {
        memcpy(other, pose, sizeof other);
        for (int b = 0; b < 2; b++) {
          for (int c = 0; c < 4; c++) other[b].quat[c] *= FACTOR[(f + b) % NFACTOR];
        }
        assert_int_equal(query[k](found, other), n);
        for (int j = 0; j < n; j++) {
          djt_near(found[j], expected[j], 1e-11 * (1 + fabs(expected[j])));
        }
      }
      for (int b = k == 2; b < 2; b++) {
        memcpy(other, pose, sizeof other);
        memset(other[b].quat, 0, sizeof other[b].quat);
        assert_int_equal(query[k](found, other), -1);
        other[b].quat[2] = NAN;
        assert_int_equal(query[k](found, other), -1);
      }
    }
  }
}

DJT_MAIN(testUnit)
