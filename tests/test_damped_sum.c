// What eight points at a time are: fields and sums of damped contact beside one point after the
// other, with differentials of the law.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/random.h"
#include "common/worst.h"
#include "contact/penalty/damped.h"
#include "contact/penalty/damped_lanes.h"
#include "contact/penalty/damped_search.h"
#include "contact/penalty/damped_sum.h"
#include "math/lanes3.h"
#include "math/so3.h"
#include "shape/field_lanes.h"

enum { N = DJU_LANES };

static double lane(djLanes v, int i) {
  double x[N];
  dju_storeLanes(x, v);
  return x[i];
}

static double vectorError(djLanes3 v, int i, const double x[3]) {
  return fmax(fabs(lane(v.x, i) - x[0]),
              fmax(fabs(lane(v.y, i) - x[1]), fabs(lane(v.z, i) - x[2])));
}

static const int types[] = {DJ_PLANE, DJ_SPHERE, DJ_CAPSULE, DJ_BOX, DJ_CYLINDER, DJ_ELLIPSOID};
enum { NTYPE = sizeof types / sizeof types[0] };

// In the middle, on axes, faces and edges, and anywhere.
static void testFields(void** state) {
  (void)state;
  djRng rng = {11};
  double worst = 0;
  for (int round = 0; round < 3000; round++) {
    const djDistanceField field = {.type = types[round % NTYPE], .size = {0.1, 0.2, 0.15}};
    double x[3][N];
    for (int i = 0; i < 3 * N; i++) {
      const int kind = djt_integer(&rng, 8);
      x[i % 3][i / 3] = kind == 0   ? 0
                        : kind == 1 ? field.size[i % 3]
                        : kind == 2 ? -field.size[i % 3]
                                    : djt_uniform(&rng, -0.3, 0.3);
    }
    const djLanes3 at = {dju_loadLanes(x[0]), dju_loadLanes(x[1]), dju_loadLanes(x[2])};
    const int n = 1 + djt_integer(&rng, N);
    djFieldLanes all;
    dj_fieldLanes(&all, &field, &at, n);
    for (int i = 0; i < n; i++) {
      djFieldAt one;
      dj_fieldAt(&one, &field, (const double[3]){x[0][i], x[1][i], x[2][i]});
      double error = fabs(lane(all.distance, i) - one.distance);
      error = djt_worst(error, vectorError(all.normal, i, one.normal));
      error = djt_worst(error, vectorError(all.gradient, i, one.gradient));
      for (int k = 0; k < 9 && !dj_flatField(&field); k++) {
        const double off = fabs(lane(all.turn.m[k], i) - one.turn[k]);
        error = djt_worst(error, off / (1 + fabs(one.turn[k])));
      }
      if (!(error < 1e-12)) {
        fail_msg("type %d at %g %g %g: %g", field.type, x[0][i], x[1][i], x[2][i], error);
      }
      worst = djt_worst(worst, error);
    }
  }
  print_message("fields: %.1e\n", worst);
}

// ------------------------------------------ sums -----------------------------------------------

typedef struct Case {
  double point[3 * 40], id[40], setting[DJ_DAMPED_NSETTING], twist[2][6];
  djPointNode node;
  djPairInput in;
  djPenaltyPair pair;
  djDampedLaw law;
} Case;

static djPose randomPose(djRng* rng, double size) {
  double q[4];
  djPose pose;
  djt_unitQuat(q, rng);
  djt_uniforms(&pose.p.x, 3, rng, -size, size);
  pose.R = dju_quatToMat(dju_loadQuat(q));
  return pose;
}

static void place(djPenaltyWay* w, djPose body, djPose field) {
  w->place = body;
  w->field = field;
  w->local.R = dju_mulMtM(field.R, body.R);
  w->local.p = dju_untransform(&field, body.p);
}

static void openCase(Case* c, djRng* rng, int i) {
  const int n = 1 + djt_integer(rng, 40);
  static const djLaw laws[] = {DJ_LAW_PERTURBED, DJ_LAW_SMOOTH_PENALTY, DJ_LAW_LOG};
  *c = (Case){.node = {.radius = 1, .n = n}};
  djt_uniforms(c->point, 3 * n, rng, -0.2, 0.2);
  djt_uniforms(c->twist[0], 12, rng, -1, 1);
  c->law = (djDampedLaw){.law = laws[i % 3],
                         .friction = (djPointFriction)(i / 3 % 2),
                         .sigma = 0.05,
                         .kn = 200,
                         .ahead = 0.02,
                         .sigma_t = 0.05,
                         .eps = 0.05,
                         .c = 0.1,
                         .most = i % 5 ? 1 : INFINITY};
  c->setting[DJ_DAMPED_INVARIANT] = i % 4 != 3;
  c->setting[DJ_DAMPED_DETECT] = 0.1;
  c->in = (djPairInput){
      .twist_a = c->twist[0], .twist_b = c->twist[1], .setting = c->setting, .friction = 0.7};
  djt_uniforms(&c->in.ref_a.x, 3, rng, -1, 1);
  djt_uniforms(&c->in.ref_b.x, 3, rng, -1, 1);
  c->pair = (djPenaltyPair){.in = &c->in,
                            .model = &dj_dampedModel,
                            .nway = 1,
                            .own = &c->law,
                            .held = i % 7 == 6,
                            .early = i % 5 == 4};
  djPenaltyWay* w = &c->pair.way[0];
  w->points_of_b = i % 2;
  w->share = 0.6;
  w->inflate = 0.01;
  w->from = (djPenaltyShape){.npoint = n, .node = &c->node, .point = c->point, .id = c->id};
  w->from.radius = i % 3 == 1 ? 0.05 : 0;
  w->in = (djPenaltyShape){.has_field = true, .inside = i % 11 == 10};
  w->in.field = (djDistanceField){.type = types[i % NTYPE], .size = {0.1, 0.15, 0.12}};
  c->pair.start[0] = *w;
  place(w, randomPose(rng, 0.3), randomPose(rng, 0.1));
  place(&c->pair.start[0], randomPose(rng, 0.3), randomPose(rng, 0.1));
}

typedef struct Slow {
  const djPenaltyPair* pair;
  djPenaltySum sum;
} Slow;

static void addSlowly(void* user, const djPenaltyWay* w, int i, const double x[3],
                      const djFieldAt* at) {
  Slow* s = user;
  djPointForce p;
  (void)x;
  dj_findPoint(&p, s->pair, w, i, at);
  if (p.state != DJ_POINT_FREE) dj_addPoint(&s->sum, true, s->pair, w, &p);
}

static double apart(const double* a, const double* b, int n) {
  double worst = 0, size = 1e-3;
  for (int i = 0; i < n; i++) {
    worst = djt_worst(worst, fabs(a[i] - b[i]));
    size = fmax(size, fabs(b[i]));
  }
  return worst / size;
}

static void testSums(void** state) {
  (void)state;
  djRng rng = {12};
  double worst[3] = {0};
  int active = 0;
  for (int i = 0; i < 20000; i++) {
    Case c;
    openCase(&c, &rng, i);
    const djPenaltyWay* w = &c.pair.way[0];
    Slow slow = {.pair = &c.pair};
    djPenaltySum sum = {.active = false};
    const double least = dj_visitPair(&c.pair, w, addSlowly, &slow);
    const double found = dj_sumDamped(&sum, true, &c.pair, w);
    assert_true(fabs(least - found) < 1e-13);
    assert_true(sum.active == slow.sum.active);
    active += sum.active;
    worst[0] = djt_worst(worst[0], apart(sum.gradient, slow.sum.gradient, 6));
    worst[0] = djt_worst(worst[0], fabs(sum.N - slow.sum.N) / (1 + slow.sum.N));
    worst[0] = djt_worst(worst[0], apart(&sum.point.x, &slow.sum.point.x, 3));
    worst[1] = djt_worst(worst[1], apart(sum.by_pose, slow.sum.by_pose, 72));
    worst[2] = djt_worst(worst[2], apart(sum.by_twist, slow.sum.by_twist, 72));
    djPenaltySum alone = {.active = false};
    dj_sumDamped(&alone, false, &c.pair, w);
    assert_true(memcmp(alone.gradient, sum.gradient, sizeof sum.gradient) == 0);
  }
  print_message("%d sums: forces %.1e, by poses %.1e, by velocities %.1e\n", active, worst[0],
                worst[1], worst[2]);
  assert_true(active > 10000 && worst[0] < 1e-11 && worst[1] < 1e-9 && worst[2] < 1e-9);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testFields), cmocka_unit_test(testSums)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
