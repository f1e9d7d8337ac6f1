// The tail of a guide: what it is beside its formula, its derivatives, how it goes with size and
// distance, and that a run's gradient sees bodies that are apart.

#include "contact/plane/plane_sums.h"
#include "shape/hull_surface.h"

#include "common/make_model.h"
#include "common/method_suite.h"
#include "common/near.h"
#include "common/random.h"
#include "common/scene.h"
#include "common/test.h"

#include <dijoco/contact.h>
#include <dijoco/dijoco.h>

// ------------------------------------------ queries --------------------------------------------

enum { NV = 6 };

typedef struct Query {
  double vert[2][3 * NV], weight[2][NV];
  djcShape shape[2];
  djcSetting setting[3];   // guide, guide_length, guide_decay
  djcOption option;
} Query;

// Two clouds of vertices, whose centres are `apart`, times a size.
static void newQuery(Query* q, djRng* rng, double apart, double size) {
  memset(q, 0, sizeof *q);
  for (int k = 0; k < 2; k++) {
    double sum = 0;
    for (int i = 0; i < NV; i++) {
      for (int j = 0; j < 3; j++) q->vert[k][3 * i + j] = size * djt_uniform(rng, -0.1, 0.1);
      q->vert[k][3 * i] += size * apart * k;
      sum += q->weight[k][i] = djt_uniform(rng, 0.1, 1);
    }
    for (int i = 0; i < NV; i++) q->weight[k][i] /= sum;
    q->shape[k] = (djcShape){.nvert = NV, .vert = q->vert[k], .radius = 0.02 * size * k,
                             .quat = {1}, .nweight = NV, .weight = q->weight[k]};
    q->shape[k].origin[0] = size * apart * k;
  }
  q->setting[0] = (djcSetting){"guide", 0.3};
  q->setting[1] = (djcSetting){"guide_length", 0.03 * size};
  q->option = djc_defaultOption();
  q->option.support = 0.02;
  q->option.length_scale = 0.5 * size;
  q->option.guide_scale = 0.25 * size;
  q->setting[2] = (djcSetting){"guide_decay", 1.5};
  q->option.nsetting = 3;
  q->option.setting = q->setting;
}

static djcResult solve(Query* q) {
  djcResult r;
  double grad[2][3 * NV];
  assert_int_equal(djc_pair(&r, grad[0], grad[1], NULL, &q->shape[0], &q->shape[1], &q->option),
                   DJ_OK);
  return r;
}

// The function that the tail's plane minimises, p in units of L.
static double formula(const Query* q, const double p[4]) {
  double L = q->option.length_scale, c = q->setting[0].value;
  double n = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
  double sum = c * 4 * n / (q->option.guide_scale / L * (1 - n));
  for (int k = 0; k < 2; k++) {
    double mean[3] = {0};
    for (int i = 0; i < 3 * NV; i++) mean[i % 3] += q->weight[k][i / 3] * q->vert[k][i];
    for (int i = 0; i < NV; i++) {
      double d = p[3];
      for (int j = 0; j < 3; j++) {
        double y = q->vert[k][3 * i + j];
        d += p[j] * (y + 0.25 * (mean[j] - y)) / L;
      }
      double x = (k ? d : -d) + q->setting[1].value / L;
      sum = x > 0 && n < 1 ? sum + c * q->weight[k][i] / x : INFINITY;
    }
  }
  return sum;
}

// Value by the formula at the plane found, which is lower than at all planes nearby; near contact
// the barrier adds what it has without a guide.
static void testFormula(void) {
  djRng rng = {3};
  static const double apart[] = {0.26, 0.5, 3, 100};
  int near = 0;
  for (int k = 0; k < 400; k++) {
    Query q;
    newQuery(&q, &rng, k % 2 ? apart[k / 2 % 4] : djt_uniform(&rng, 0.15, 0.25), 1);
    djcResult r = solve(&q), plain;
    if (!(r.gap > 1e-3)) continue;
    q.option.nsetting = 0;
    plain = solve(&q);
    q.option.nsetting = 3;
    if (plain.value > 0) {   // the plane told is the barrier's
      near++;
      Query far = q;
      far.shape[0].vert = far.vert[0], far.shape[1].vert = far.vert[1];
      far.shape[0].weight = far.weight[0], far.shape[1].weight = far.weight[1];
      far.option.setting = far.setting;
      far.option.support = 1e-9;
      djcResult tail = solve(&far);
      djt_near(r.value, plain.value + tail.value, 1e-12 * r.value);
      for (int j = 0; j < 12; j++) {
        djt_near(r.twist_gradient[j], plain.twist_gradient[j] + tail.twist_gradient[j],
                 1e-12 * djt_largest(r.twist_gradient, 12));
      }
      for (int j = 0; j < 4; j++) assert_true(r.plane[j] == plain.plane[j]);
      continue;
    }
    double p[4] = {r.plane[0], r.plane[1], r.plane[2], r.plane[3] / q.option.length_scale};
    double value = formula(&q, p);
    assert_true(fabs(r.value - value) <= 1e-12 * value);
    for (int j = 0; j < 4; j++) {
      double h = 1e-5 * (1 - sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2])), x = p[j], y[2];
      for (int side = 0; side < 2; side++) {
        p[j] = x + (side ? h : -h);
        y[side] = formula(&q, p);
      }
      p[j] = x;
      double slope = (y[1] - y[0]) / (2 * h), curve = (y[0] + y[1] - 2 * value) / (h * h);
      assert_true(curve > 0 && fabs(slope) <= 1e-4 * sqrt(curve * value));
    }
  }
  assert_true(near > 2);
}

// Crossed rods, about as near as where the tail levels off: its plane is near the tip of |n|.
static void testTip(void) {
  djRng rng = {8};
  int flat = 0;
  for (int k = 0; k < 300; k++) {
    Query q;
    newQuery(&q, &rng, 0, 1);
    double apart = djt_uniform(&rng, 0.005, 0.04), along = 0;
    for (int side = 0; side < 2; side++) {
      double turn = djt_uniform(&rng, 0, 3), c = cos(turn), s = sin(turn);
      for (int i = 0; i < NV; i++) {
        double* x = q.vert[side] + 3 * i;
        along = i % 2 ? -along : djt_uniform(&rng, -1, 1);
        double off = djt_uniform(&rng, -0.001, 0.001);
        double put[3] = {c * along - s * off, s * along + c * off, apart * side + off};
        memcpy(x, put, sizeof put);
        q.weight[side][i] = 1.0 / NV;
      }
      q.shape[side].radius = 0;
    }
    q.option.support = 1e-9;   // without contact
    djcResult r = solve(&q);
    double zero[4] = {0, 0, 1e-9, 0}, W = 2 * q.setting[0].value * q.option.length_scale;
    assert_true(r.value <= formula(&q, zero) * (1 + 1e-9));
    if (djt_largest(r.twist_gradient, 12) == 0) {
      djt_near(r.value, W / q.setting[1].value, 1e-12 * r.value);
      flat++;
      continue;
    }
    double p[4] = {r.plane[0], r.plane[1], r.plane[2], r.plane[3] / q.option.length_scale};
    djt_near(r.value, formula(&q, p), 1e-12 * r.value);
    for (int j = 0; j < 60; j++) {
      double dp[4], move = pow(10, djt_uniform(&rng, -6, -1));
      for (int i = 0; i < 4; i++) dp[i] = p[i] + move * djt_uniform(&rng, -1, 1);
      assert_true(formula(&q, dp) >= r.value * (1 - 1e-12));
    }
  }
  assert_in_range(flat, 20, 280);
}

// Derivatives by the poses, apart and near; the force pushes b away along the line of centres.
static void testTwists(void) {
  djRng rng = {5};
  static const double apart[] = {0.3, 0.5, 2};
  const double quat[4] = {1, 0, 0, 0}, zero[3] = {0, 0, 0};
  for (int k = 0; k < 60; k++) {
    Query q;
    newQuery(&q, &rng, apart[k % 3], 1);
    if (k > 29) q.setting[2].value = djt_uniform(&rng, 0.1, 0.9);
    djcPair* pair;
    assert_int_equal(djc_makePair(&pair, &q.shape[0], &q.shape[1], &q.option, NULL), DJ_OK);
    double value, g[12], H[144], y[2], gy[2][12], unused[144];
    double pos[3] = {apart[k % 3], 0, 0};
    assert_int_equal(djc_evalPair(&value, g, H, pair, zero, quat, pos, quat), DJ_OK);
    if (!isfinite(value)) {
      djc_deletePair(pair);
      continue;
    }
    assert_true(g[9] < 0 && g[3] > 0);
    for (int j = 0; j < 6; j++) {
      const double h = 1e-6;
      for (int side = 0; side < 2; side++) {
        double to[4] = {1, 0, 0, 0}, at[3] = {pos[0], pos[1], pos[2]}, e = side ? h : -h;
        if (j < 3) to[1 + j] = sin(0.5 * e), to[0] = cos(0.5 * e);
        else at[j - 3] += e;
        assert_int_equal(djc_evalPair(&y[side], gy[side], unused, pair, zero, quat, at, to), DJ_OK);
      }
      double scale = djt_largest(g, 12), curve = djt_largest(H, 144);
      assert_true(fabs((y[1] - y[0]) / (2 * h) - g[6 + j]) <= 1e-6 * scale);
      for (int i = 0; i < 6; i++) {   // of a, which stays
        double d = (gy[1][i] - gy[0][i]) / (2 * h);
        assert_true(fabs(d - H[12 * i + 6 + j]) <= 1e-5 * curve);
      }
    }
    djc_deletePair(pair);
  }
}

// Derivatives by single vertices, apart and near.
static void testVertices(void) {
  djRng rng = {6};
  static const double apart[] = {0.21, 0.3, 0.5, 2};
  enum { N = 6 * NV };
  static double H[N * N], unused[N * N];
  int done = 0;
  for (int k = 0; k < 48; k++) {
    Query q;
    newQuery(&q, &rng, apart[k % 4], 1);
    if (k > 23) q.setting[2].value = djt_uniform(&rng, 0.1, 0.9);
    djcResult r;
    double g[N], y[2], gy[2][N];
    djcShape *a = &q.shape[0], *b = &q.shape[1];
    assert_int_equal(djc_pair(&r, g, g + 3 * NV, H, a, b, &q.option), DJ_OK);
    if (!(r.gap > 5e-3)) continue;
    done++;
    for (int j = 0; j < N; j += 5) {
      double *x = q.vert[j / (3 * NV)] + j % (3 * NV), at = *x, h = 1e-6;
      for (int side = 0; side < 2; side++) {
        *x = at + (side ? h : -h);
        djcResult moved;
        assert_int_equal(djc_pair(&moved, gy[side], gy[side] + 3 * NV, unused, a, b, &q.option),
                         DJ_OK);
        y[side] = moved.value;
      }
      *x = at;
      djt_near((y[1] - y[0]) / (2 * h), g[j], 1e-6 * djt_largest(g, N));
      for (int i = 0; i < N; i++) {
        djt_near((gy[1][i] - gy[0][i]) / (2 * h), H[N * i + j], 1e-5 * djt_largest(H, N * N));
      }
    }
  }
  assert_true(done > 30);
}

// Two balls: with a decay p < 1 the force at l is that without, and falls as d^-p far away; all of
// it is proportional to the guide.
static void testDecay(void) {
  static const double decay[] = {0.1, 0.25, 0.5, 0.9};
  for (int k = 0; k < 4; k++) {
    double force[3], value[2];   // at l, at 1e7 l, at 1e8 l
    for (int i = 0; i < 3; i++) {
      double l = 0.3, apart = i == 0 ? l : i == 1 ? 1e7 * l : 1e8 * l;
      for (int j = 0; j < 3; j++) {
        djcSetting setting[3] = {{"guide", j == 2 ? 0.2 : 0.1}, {"guide_length", 0.03},
                                 {"guide_decay", j ? decay[k] : 1.5}};
        djcShape ball[2] = {{.geom = DJ_SPHERE, .size = {0.05}, .quat = {1}},
                            {.geom = DJ_SPHERE, .size = {0.1}, .quat = {1}, .pos = {apart}}};
        djcOption o = djc_defaultOption();
        djcResult r;
        o.support = 1e-9;
        o.guide_scale = l;
        o.nsetting = 3;
        o.setting = setting;
        assert_int_equal(djc_pair(&r, NULL, NULL, NULL, &ball[0], &ball[1], &o), DJ_OK);
        double f = -r.twist_gradient[9];
        if (j == 0) force[0] = f;
        if (j == 1 && i == 0) djt_near(f, force[0], 1e-12 * f);
        if (j == 1) force[i] = f, value[0] = r.value;
        if (j < 2) continue;
        djt_near(f, 2 * force[i], 1e-12 * f);
        djt_near(r.value, 2 * value[0], 1e-12 * fabs(r.value));
      }
      assert_true(force[i] > 0);
    }
    djt_near(log10(force[1] / force[2]), decay[k], 1e-3);
  }
}

// All lengths times a factor: the same value, slopes over it. Repulsive at all sizes.
static void testScale(void) {
  static const double size[] = {1e-3, 0.1, 10, 1e4}, apart[] = {0.3, 1, 30};
  for (int k = 0; k < 12; k++) {
    Query q;
    djRng rng = {7};
    newQuery(&q, &rng, apart[k % 3], 1);
    djcResult one = solve(&q);
    rng = (djRng){7};
    newQuery(&q, &rng, apart[k % 3], size[k / 3]);
    djcResult r = solve(&q);
    assert_true(fabs(r.value - one.value) <= 1e-10 * one.value);
    assert_true(r.twist_gradient[9] < 0 && r.twist_gradient[3] > 0);
    for (int j = 0; j < 12; j++) {
      double f = j % 6 < 3 ? 1 : size[k / 3], scale = fabs(one.twist_gradient[9]);
      assert_true(fabs(f * r.twist_gradient[j] - one.twist_gradient[j]) <= 1e-8 * scale);
    }
  }
}

static void expectRefused(Query* q, const char* text) {
  djcResult r;
  assert_true(djc_pair(&r, NULL, NULL, NULL, &q->shape[0], &q->shape[1], &q->option) < 0);
  if (!strstr(r.message, text)) fail_msg("%s", r.message);
}

static void testRefused(void) {
  djRng rng = {9};
  Query q;
  newQuery(&q, &rng, 1, 1);
  q.setting[0].value = -1;
  expectRefused(&q, "guide must not be negative");
  newQuery(&q, &rng, 1, 1);
  q.setting[1].value = 0;
  expectRefused(&q, "guide_length");
  newQuery(&q, &rng, 1, 1);
  for (int k = 0; k < 3; k++) {
    static const double wrong[] = {0, 1, 1.4};
    q.setting[1].value = 0.03;
    q.setting[2].value = wrong[k];
    expectRefused(&q, "guide_decay");
  }
  newQuery(&q, &rng, 1, 1);
  q.shape[1].nweight = 3;
  expectRefused(&q, "b: 3 weights, expected one for each of 6");
  newQuery(&q, &rng, 1, 1);
  q.weight[0][2] = NAN;
  expectRefused(&q, "a: weight 2");
  newQuery(&q, &rng, 1, 1);
  q.option.guide_scale = -1;
  expectRefused(&q, "guide_scale");
}

// ------------------------------------------ surfaces -------------------------------------------

// A box's corners have equal parts however its faces are cut; a pyramid's by its facets.
static void testSurface(void) {
  double box[24], part[8];
  for (int i = 0; i < 8; i++) {
    box[3 * i] = i & 1 ? 1 : -1;
    box[3 * i + 1] = i & 2 ? 2 : -2;
    box[3 * i + 2] = i & 4 ? 3 : -3;
  }
  djHull hull;
  assert_int_equal(dj_makeHull(&hull, 8, box, 0, NULL, NULL), DJ_OK);
  djt_near(dj_hullSurface(part, &hull), 88, 1e-12);
  for (int i = 0; i < 8; i++) djt_near(part[i], 0.125, 1e-14);
  dj_freeHull(&hull);
  // base 2 x 2, height 1: facets of 4, sqrt 2 each
  const double pyramid[15] = {-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0, 0, 0, 1};
  assert_int_equal(dj_makeHull(&hull, 5, pyramid, 0, NULL, NULL), DJ_OK);
  double side = sqrt(2), area = 4 + 4 * side;
  djt_near(dj_hullSurface(part, &hull), area, 1e-12);
  for (int i = 0; i < 5; i++) {
    double wanted = hull.id[i] == 4 ? 4 * side / 3 : 1 + 2 * side / 3;
    djt_near(part[i], wanted / area, 1e-14);
  }
  dj_freeHull(&hull);
}

// Sums of whole lanes are those of single vertices.
static void testLanes(void) {
  double p[3], x = 0.4, w = 0.7;
  djLanes q[3];
  dj_tail(p, x, w);
  dj_tailLanes(q, dju_splat(x), dju_splat(w));
  for (int k = 0; k < 3; k++) djt_near(q[k][5], p[k], 1e-14);
  djt_near(p[0], w / x, 1e-14);
  djt_near(p[1], -w / (x * x), 1e-13);
  djt_near(p[2], 2 * w / (x * x * x), 1e-12);
}

// ------------------------------------------ scenes ---------------------------------------------

// A ball, a box and a capsule, free, apart along x, without a floor.
static djModel* newModel(djData** d, double guide, double apart) {
  Scene* s = newScene(3);
  static const int type[3] = {DJ_SPHERE, DJ_BOX, DJ_CAPSULE};
  for (int k = 0; k < 3; k++) {
    int b = addBody(s, 0, DJ_FREE, apart * k, 0.01 * k, 0.02 * k, 1, 0.05);
    addGeom(s, b, type[k], 0.05, 0.04, 0.03);
  }
  s->def.option.guide = guide;
  s->def.option.timestep = 5e-3;
  s->def.option.tolerance = 1e-10;
  s->def.option.stiffness_scale = 1e-4;   // soft enough for differences
  s->def.option.gravity[2] = 0;
  return startScene(d, s);
}

// How the second body's velocity follows the first one's place.
static double couplingOf(double guide, double apart) {
  djData* d;
  djModel* m = newModel(&d, guide, apart);
  enum { N = 36 };
  static double A[N * N];
  assert_int_equal(dj_step(m, d), DJ_OK);
  assert_int_equal(djd_lastTransition(m, d, A, NULL), DJ_OK);
  double coupling = A[(18 + 6) * N + 0];
  djt_delete(m, d);
  return coupling;
}

static void testCoupling(void) {
  for (double apart = 0.2; apart < 60; apart *= 4) {
    assert_true(couplingOf(0, apart) == 0);
    assert_true(couplingOf(1e-2, apart) > 0);
  }
}

// Gradients of a run by the guide, stiffness and shapes, apart and in touch.
static void testParams(void) {
  static const char* const name[] = {"geom/#0/pos",  "geom/#1/size",  "geom/#1/pos",
                                     "geom/#2/pos",  "geom/#2/quat",  "body/#2/mass",
                                     "contact/guide", "contact/stiffness", "contact/support"};
  enum { N = sizeof name / sizeof name[0], T = 8 };
  for (int k = 0; k < 2; k++) {
    djtRun run = {0};
    djError err = {""};
    run.m = newModel(&run.d, 1e-2, k ? 0.3 : 0.101);
    double q0[21], v0[18] = {0.7, 0.1, 0, 0.2, -0.3, 0.5, -0.1, 0, 0.2, 0.5, 1, 0.3, -0.8};
    memcpy(q0, run.d->qpos, sizeof q0);
    assert_int_equal(djd_makeTape(&run.tape, run.m, T, &err), DJ_OK);
    djLossTerm loss[2] = {{.type = DJ_LOSS_VELOCITY, .object = DJ_OBJ_BODY, .id = 1, .weight = 1},
                          {.type = DJ_LOSS_POSITION, .object = DJ_OBJ_BODY, .id = 3, .weight = 1,
                           .target = {0.1, 0.2, 0.3}}};
    run.r = (djRollout){.horizon = T, .qpos0 = q0, .qvel0 = v0, .nloss = 2, .loss = loss,
                        .refinement_steps = 3};
    // apart, what the support does is far below rounding of the run
    assert_true(djt_runNamed(&run, name, N, k ? 1e-3 : 5e-4, 3, 1e-4) < 1e-5);
    djd_deleteTape(run.tape);
    djt_delete(run.m, run.d);
  }
}

DJT_MAIN(testFormula, testTip, testTwists, testVertices, testDecay, testScale, testRefused,
         testSurface, testLanes, testCoupling, testParams)
