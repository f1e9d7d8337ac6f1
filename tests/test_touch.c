// When two bodies touch, where and along what direction: against closed forms and samples of the
// way, and derivatives against differences.

#include "base/arena.h"
#include "common/make_model.h"
#include "common/near.h"
#include "common/random.h"
#include "common/random_vec.h"
#include "common/scene.h"
#include "common/test.h"
#include "common/worst.h"
#include "contact/pairs/touch.h"
#include "integrate/work.h"
#include "math/so3.h"
#include "model/param.h"

#define RADIUS 0.05

typedef struct Pair {
  djModel* m;
  djData* d;
  djContacts* c;
  djNearPair p;
} Pair;

typedef struct Kind {
  const char* name;
  struct {
    int type;
    double size[3];
  } geom[2];
  double reach;              // of both together
} Kind;

static const Kind kKind[] = {
    {"spheres", {{DJ_SPHERE, {RADIUS}}, {DJ_SPHERE, {RADIUS}}}, 0.1},
    {"box, plane", {{DJ_PLANE, {0}}, {DJ_BOX, {0.05, 0.03, 0.04}}}, 0.08},
    {"capsule, box", {{DJ_CAPSULE, {0.03, 0.06}}, {DJ_BOX, {0.05, 0.03, 0.04}}}, 0.17},
    {"boxes", {{DJ_BOX, {0.05, 0.05, 0.05}}, {DJ_BOX, {0.06, 0.02, 0.04}}}, 0.17},
    {"ellipsoid, cylinder",
     {{DJ_ELLIPSOID, {0.05, 0.03, 0.04}}, {DJ_CYLINDER, {0.04, 0.05}}},
     0.12}};
enum { NKIND = 5 };

// Far from each other, after a step; they may touch.
static Pair openPair(const Kind* kind) {
  Pair x;
  Scene* s = newScene(2);
  for (int k = 0; k < 2; k++) {
    const double* size = kind->geom[k].size;
    bool plane = kind->geom[k].type == DJ_PLANE;
    int b = plane ? 0 : addBody(s, 0, DJ_FREE, 0, 0, 3 + 3 * k, 1, 0.05);
    djGeomDef* g = addGeom(s, b, kind->geom[k].type, size[0], size[1], size[2]);
    g->restitution = 0.5;
  }
  x.m = takeScene(s);
  x.d = sceneData(x.m);
  assert_true(dj_step(x.m, x.d) >= 0);
  x.c = dj_contactsOf(&x.d->work->forces);
  assert_non_null(x.c);
  dj_newPair(&x.p, x.c, x.m, 0, 1);
  assert_true(dj_mayTouch(&x.p));
  return x;
}

static void closePair(Pair* x) { djt_delete(x->m, x->d); }

static djFlight restAt(djVec3 p) {
  return (djFlight){.pose = {p, dju_eye3()}, .com = p};
}

static void evalAt(djTouch* t, const Pair* x, const djFlight way[2], double time) {
  djFlight at[2] = {dj_alongFlight(&way[0], time), dj_alongFlight(&way[1], time)};
  const djPose pose[2] = {at[0].pose, at[1].pose};
  const djVec3 com[2] = {at[0].com, at[1].com};
  assert_true(dj_evalTouch(t, x->c, x->m, &x->p, pose, com, true) >= 0);
}

static double timeOf(bool* timed, djTouch* t, const Pair* x, const djFlight way[2], double most) {
  double time = NAN;
  assert_true(dj_timeOfTouch(&time, timed, t, x->c, x->m, &x->p, way, most) >= 0);
  return time;
}

// ---- spheres ----------------------------------------------------------------------------------

// Two spheres whose centres are at x on the first one's axes and close by v.
static void placeSpheres(djFlight way[2], djVec3 x, djVec3 v, djRng* rng) {
  djVec3 at = djt_vec3(rng, 1), move = djt_vec3(rng, 3);
  way[0] = restAt(at);
  way[1] = restAt(dju_add3(at, x));
  way[0].move = move;
  way[1].move = dju_add3(move, v);
  for (int k = 0; k < 2; k++) way[k].turn = djt_vec3(rng, 20);
}

static void testSpheres(void) {
  Pair x = openPair(&kKind[0]);
  djRng rng = {1};
  djFlight way[2];
  djTouch t;
  bool timed;
  // head-on: at what distance of centres they touch
  way[0] = restAt(dju_vec3(0, 0, 0));
  way[1] = restAt(dju_vec3(0.5, 0, 0));
  way[1].move.x = -2;
  double apart = 0.5 - 2 * timeOf(&timed, &t, &x, way, 1);
  const djShape* shape = x.m->collision->shape;
  double gap = apart - shape[x.p.a].radius - shape[x.p.b].radius;
  print_message("spheres touch %.3g ranges from each other\n", gap / x.p.range);
  assert_true(timed);
  assert_true(gap > x.p.range && gap < 2 * x.p.range);
  assert_true(apart > 2 * RADIUS);     // the range begins where the geoms touch

  int hit = 0, miss = 0;
  for (int i = 0; i < 500; i++) {
    djVec3 along = djt_unit3(&rng), side = dju_cross3(along, djt_unit3(&rng));
    side = dju_scale3(djt_uniform(&rng, 0, 1.5) * apart / dju_norm3(side), side);
    double speed = pow(10, djt_uniform(&rng, -0.3, 2)), ahead = djt_uniform(&rng, 0.2, 2);
    double aside = dju_norm3(side), within = apart * apart - aside * aside;
    if (fabs(within) < 1e-3 * apart * apart) continue;   // they graze
    double exact = within > 0 ? (ahead - sqrt(within)) / speed : INFINITY;
    placeSpheres(way, dju_madd3(side, ahead, along), dju_scale3(-speed, along), &rng);
    double time = timeOf(&timed, &t, &x, way, 1.01 * ahead / speed);
    assert_true(timed);
    if (isinf(exact)) {
      assert_true(isinf(time));
      miss++;
      continue;
    }
    hit++;
    djt_near(time, exact, 1e-9 * (apart / speed) + 1e-13);
    djVec3 a = dju_madd3(way[0].com, time, way[0].move);
    djVec3 b = dju_madd3(way[1].com, time, way[1].move);
    djVec3 n = dju_scale3(1 / dju_norm3(dju_sub3(b, a)), dju_sub3(b, a));
    djt_near(dju_norm3(dju_sub3(t.normal, n)), 0, 1e-8);
    djt_near(dju_norm3(dju_sub3(t.point, dju_scale3(0.5, dju_add3(a, b)))), 0, 1e-9);
    assert_int_equal(t.body[0], x.p.body_a);
    assert_int_equal(t.body[1], x.p.body_b);
    djt_near(t.restitution, 0.5, 0);
    // not within a shorter time, just within, and on their way from each other
    assert_true(isinf(timeOf(&timed, &t, &x, way, exact * 0.9999)));
    djt_near(timeOf(&timed, &t, &x, way, exact * 1.0001), exact, 1e-9 * (apart / speed) + 1e-13);
    for (int k = 0; k < 2; k++) way[k].move = dju_neg3(way[k].move);
    assert_true(isinf(timeOf(&timed, &t, &x, way, 1.01 * ahead / speed)));
  }
  print_message("%d touch, %d miss\n", hit, miss);
  assert_true(hit > 200 && miss > 100);

  // in touch already
  for (int k = 0; k < 2; k++) {
    djVec3 n = djt_unit3(&rng);
    placeSpheres(way, dju_scale3(apart - (k ? 0.3 * gap : 1e-9), n), dju_scale3(-2, n), &rng);
    djt_near(timeOf(&timed, &t, &x, way, 1), 0, 0);
    assert_false(timed);
  }
  for (int k = -4; k <= 4; k++) { // up to rounding
    way[0] = restAt(dju_vec3(0, 0, 0));
    way[1] = restAt(dju_vec3(apart + 1e-15 * k, 0, 0));
    way[1].move.x = -2;
    djt_near(timeOf(&timed, &t, &x, way, 1), 0, 0);
    assert_false(timed);
  }
  closePair(&x);
}

// A time of 0 does not move with the start; what overlaps, or is slow, is left to the barrier.
static void testTouching(void) {
  Pair x = openPair(&kKind[0]);
  djFlight way[2] = {restAt(dju_vec3(0, 0, 0)), restAt(dju_vec3(2 * RADIUS, 0, 0))};
  djTouch t;
  bool timed = true;
  way[1].move.x = -2;
  djt_near(timeOf(&timed, &t, &x, way, 1), 0, 0);
  assert_false(timed);
  assert_true(t.size > 1 && t.size < INFINITY);
  way[1] = restAt(dju_vec3(0.5 * RADIUS, 0, 0));
  way[1].move.x = -2;
  assert_true(isinf(timeOf(&timed, &t, &x, way, 1)));
  assert_true(isinf(t.size));
  way[1] = restAt(dju_vec3(0.5, 0, 0));
  way[1].move.x = -0.99 * t.speed;         // left to the barrier
  assert_true(isinf(timeOf(&timed, &t, &x, way, 100)));
  way[1].move.x = -1.01 * t.speed;
  assert_true(timeOf(&timed, &t, &x, way, 100) < 100);
  assert_true(timed);
  closePair(&x);
}

// ---- shapes -----------------------------------------------------------------------------------

static djFlight randomFlight(djRng* rng, double turn) {
  djFlight way = restAt(dju_vec3(0, 0, 0));
  double q[4];
  djt_unitQuat(q, rng);
  way.pose.R = dju_quatToMat(dju_loadQuat(q));
  way.com = djt_vec3(rng, 0.3);
  way.pose.p = dju_add3(way.com, djt_vec3(rng, 0.02));
  way.turn = djt_vec3(rng, turn);
  way.move = djt_vec3(rng, 0.3);
  return way;
}

// On their way to each other, a little past each other or not, from `ahead` away.
static void placePair(djFlight way[2], const Pair* x, const Kind* kind, djRng* rng, double ahead,
                      double speed, double turn) {
  for (int k = 0; k < 2; k++) way[k] = randomFlight(rng, turn);
  djVec3 along = djt_unit3(rng), side = djt_vec3(rng, 0.5 * kind->reach);
  if (x->m->geom_type[x->p.b] == DJ_PLANE) {
    way[1] = restAt(dju_vec3(0, 0, 0));
    along.z = -1 - fabs(along.z);          // down to it
    along = dju_scale3(1 / dju_norm3(along), along);
    side.z = 0;
  }
  way[0].com = dju_add3(way[1].com, dju_madd3(side, -ahead, along));
  way[0].pose.p = dju_add3(way[0].com, djt_vec3(rng, 0.01));
  way[0].move = dju_madd3(way[1].move, speed, along);
}

// Whether they are in touch at some of n times before; the first of those.
static double sampledTouch(const Pair* x, const djFlight way[2], double most, int n) {
  djTouch t;
  for (int k = 0; k <= n; k++) {
    double time = most * k / n;
    evalAt(&t, x, way, time);
    if (t.size > 1 + 1e-9) return time;
  }
  return INFINITY;
}

static void checkPlace(const Pair* x, const djFlight way[2], const djTouch* found, double time) {
  djTouch t;
  evalAt(&t, x, way, time);
  djt_near(found->size, 1, 1e-10);
  djt_near(t.size, 1, 1e-8);               // without warm starts
  djt_near(dju_norm3(t.normal), 1, 1e-12);
  djt_near(dju_norm3(dju_sub3(t.normal, found->normal)), 0, 1e-7);
  djt_near(dju_norm3(dju_sub3(t.point, found->point)), 0, 1e-7);
  // midway between both surfaces, which are as far from each other as at a touch
  double low = dju_dot3(t.normal, t.surface[0]), high = dju_dot3(t.normal, t.surface[1]);
  djt_near(dju_dot3(t.normal, t.point), 0.5 * (low + high), 1e-12);
  assert_true(high - low > 0.5 * x->p.range && high - low < 3 * x->p.range);
  // the point is where the torque about both bodies is that of the force alone
  for (int k = 0; k < 2; k++) {
    djVec3 f = dju_load3(t.gradient + 6 * k + 3), torque = dju_load3(t.gradient + 6 * k);
    djVec3 rest = dju_sub3(torque, dju_cross3(dju_sub3(t.point, t.com[k]), f));
    djt_near(dju_norm3(dju_cross3(t.normal, rest)), 0, 1e-9);
    djt_near(dju_norm3(dju_add3(f, dju_scale3(k ? t.size : -t.size, t.normal))), 0, 1e-8);
  }
}

static void testShapes(void) {
  for (int i = 0; i < NKIND; i++) {
    Pair x = openPair(&kKind[i]);
    djRng rng = {10 + (unsigned)i};
    int hit = 0, miss = 0, late = 0;
    for (int k = 0; k < 60; k++) {
      djFlight way[2];
      djTouch t;
      bool timed;
      double speed = pow(10, djt_uniform(&rng, -0.3, 1)), ahead = 2 * kKind[i].reach;
      double turn = djt_uniform(&rng, 0, 2) * speed / kKind[i].reach, most = 2 * ahead / speed;
      placePair(way, &x, &kKind[i], &rng, ahead, speed, turn);
      double time = timeOf(&timed, &t, &x, way, most);
      double end = time < INFINITY ? time : most;
      if (sampledTouch(&x, way, end * (1 - 1e-6), 300) < INFINITY) late++;
      miss += isinf(time);
      if (isinf(time)) continue;
      hit++;
      assert_true(timed && time > 0);
      checkPlace(&x, way, &t, time);
      evalAt(&t, &x, way, time * (1 - 1e-5));
      assert_true(t.size < 1);
    }
    print_message("%s: %d touch, %d do not, %d late\n", kKind[i].name, hit, miss, late);
    assert_int_equal(late, 0);
    assert_true(hit > 25);
    closePair(&x);
  }
}

// Bodies that pass ten diameters in a step.
static void testFast(void) {
  for (int i = 0; i < NKIND; i++) {
    Pair x = openPair(&kKind[i]);
    djRng rng = {20 + (unsigned)i};
    double h = x.m->opt.timestep, reach = kKind[i].reach;
    for (int k = 0; k < 60; k++) {
      djFlight way[2];
      djTouch t;
      bool timed;
      double ahead = djt_uniform(&rng, 1.5, 8) * reach, speed = 10 * reach / h;
      placePair(way, &x, &kKind[i], &rng, ahead, speed, 0.5 / h);
      if (i != 1) {                        // right at each other
        djVec3 to = dju_sub3(way[1].com, way[0].com);
        way[0].move = dju_madd3(way[1].move, speed / dju_norm3(to), to);
        way[0].pose.p = way[0].com;
        way[1].pose.p = way[1].com;
      }
      double time = timeOf(&timed, &t, &x, way, 5 * h);
      assert_true(time < 5 * h && timed);
      checkPlace(&x, way, &t, time);
      assert_true(isinf(sampledTouch(&x, way, time * (1 - 1e-6), 100)));
    }
    closePair(&x);
  }
}

// Boxes that land flat while they spin at the speed of 50 m/s: bounds of how fast gaps close are
// far off.
static void testSpinning(void) {
  Pair x = openPair(&kKind[1]);
  djRng rng = {50};
  double h = x.m->opt.timestep;
  int n = 0;
  for (int k = 0; k < 200; k++) {
    double speed = djt_uniform(&rng, 0.3, 3), part = djt_uniform(&rng, 0.05, 0.95);
    djVec3 at = {0, 0, 0.04 + 1.5 * x.p.range + part * speed * h};
    djFlight way[2] = {restAt(at), restAt(dju_vec3(0, 0, 0))};
    djTouch t;
    bool timed;
    way[0].turn.z = 1000;
    way[0].move.z = -speed;
    evalAt(&t, &x, way, h);
    if (!(t.size > 1)) continue;
    n++;
    assert_true(timeOf(&timed, &t, &x, way, h) < h);
  }
  assert_true(n > 100);
  closePair(&x);
}

// ---- derivatives ------------------------------------------------------------------------------

// Somewhere near a touch, and centres of mass.
static void randomTouch(djFlight way[2], djTouch* t, const Pair* x, const Kind* kind, djRng* rng) {
  bool timed;
  double time = INFINITY;
  while (isinf(time)) {
    placePair(way, x, kind, rng, 2 * kind->reach, 2, 10);
    time = timeOf(&timed, t, x, way, kind->reach);
  }
  time += djt_uniform(rng, -0.05, 0.05) * x->p.range / 2;
  for (int k = 0; k < 2; k++) way[k] = dj_alongFlight(&way[k], time);
  evalAt(t, x, way, 0);
}

// lambda . gradient after the bodies have moved by s, torques about where their centres were.
static double pulledAt(const Pair* x, const djFlight way[2], const double lambda[12], double s) {
  djTouch t;
  const djPose pose[2] = {dj_alongFlight(&way[0], s).pose, dj_alongFlight(&way[1], s).pose};
  const djVec3 com[2] = {way[0].com, way[1].com};
  double sum = 0;
  assert_true(dj_evalTouch(&t, x->c, x->m, &x->p, pose, com, true) >= 0);
  for (int k = 0; k < 12; k++) sum += lambda[k] * t.gradient[k];
  return sum;
}

static void testPull(void) {
  for (int i = 0; i < NKIND; i++) {
    Pair x = openPair(&kKind[i]);
    djRng rng = {30 + (unsigned)i};
    double worst = 0;
    for (int k = 0; k < 40; k++) {
      djFlight way[2];
      djTouch t;
      double lambda[12], out[12], given[12], difference[2], slope = 0, size = 0;
      randomTouch(way, &t, &x, &kKind[i], &rng);
      djt_uniforms(lambda, 12, &rng, -1, 1);
      djt_uniforms(given, 12, &rng, -1, 1);
      memcpy(out, given, sizeof out);
      dj_pullTouch(out, &t, lambda);
      for (int b = 0; b < 2; b++) {
        way[b].turn = djt_vec3(&rng, 10);
        way[b].move = djt_vec3(&rng, 1);
        const djVec3 twist[2] = {way[b].turn, way[b].move};
        for (int r = 0; r < 2; r++) {
          djVec3 by = dju_load3(out + 6 * b + 3 * r), had = dju_load3(given + 6 * b + 3 * r);
          slope += dju_dot3(dju_sub3(by, had), twist[r]);
          size += dju_norm3(dju_sub3(by, had)) * dju_norm3(twist[r]);
        }
      }
      for (int r = 0; r < 2; r++) {
        double e = 1e-6 / (1 + r);
        difference[r] = pulledAt(&x, way, lambda, e) - pulledAt(&x, way, lambda, -e);
        difference[r] /= 2 * e;
      }
      double exact = (4 * difference[1] - difference[0]) / 3;
      worst = djt_worst(worst, fabs(exact - slope) / size);
    }
    print_message("%s: derivatives to %.1e\n", kKind[i].name, worst);
    assert_true(worst < 1e-6);
    closePair(&x);
  }
}

// lambda . gradient + along n . (mean of surfaces), n held, of a model with a parameter moved.
static double placedAt(const Pair* x, const djParam* param, int entry, double step,
                       const djFlight way[2], const double lambda[12], double along, djVec3 n) {
  Pair y = *x;
  djError err;
  djTouch t;
  double value[8], sum = 0;
  assert_int_equal(dj_copyModel(&y.m, x->m, &err), DJ_OK);
  assert_int_equal(dj_getParam(value, y.m, param), DJ_OK);
  value[entry] += step;
  assert_int_equal(dj_setParam(y.m, param, value, &err), DJ_OK);
  y.d = sceneData(y.m);
  assert_true(dj_step(y.m, y.d) >= 0);
  y.c = dj_contactsOf(&y.d->work->forces);
  dj_newPair(&y.p, y.c, y.m, 0, 1);
  evalAt(&t, &y, way, 0);
  for (int k = 0; k < 12; k++) sum += lambda[k] * t.gradient[k];
  sum += 0.5 * along * dju_dot3(n, dju_add3(t.surface[0], t.surface[1]));
  closePair(&y);
  return sum;
}

static void testParams(void) {
  static const char* const name[] = {"geom/#0/size", "geom/#1/size", "contact/support"};
  for (int i = 0; i < NKIND; i++) {
    Pair x = openPair(&kKind[i]);
    djRng rng = {40 + (unsigned)i};
    double worst = 0;
    int count = 0;
    double* grad = calloc(dj_paramGradSize(x.m), sizeof(double));
    void* memory = aligned_alloc(DJ_ALIGN, (dj_shapeGradSize(x.m) / DJ_ALIGN + 1) * DJ_ALIGN);
    for (int k = 0; k < 10; k++) {
      djFlight way[2];
      djTouch t;
      djError err;
      double lambda[12], along = djt_uniform(&rng, -30, 30);
      randomTouch(way, &t, &x, &kKind[i], &rng);
      t.low = x.p.low;
      t.high = x.p.high;
      djt_uniforms(lambda, 12, &rng, -1, 1);
      memset(grad, 0, dj_paramGradSize(x.m) * sizeof(double));
      djShapeGrad* shape = dj_initShapeGrads(memory, x.m);
      assert_true(dj_touchParams(grad, shape, x.c, x.m, &t, lambda, along,
                                (djImpactSlopes){0.7, 0.5}) >= 0);
      for (int s = 0; s < x.m->collision->nshape; s++) {
        assert_true(dj_shapeParams(grad, x.m, s, &shape[s]) >= 0);
      }
      double* friction = dj_paramBlock(grad, x.m, DJ_FIELD_GEOM_FRICTION);
      djt_near(friction[0], 0.35, 1e-15);    // both geoms have the same
      djt_near(friction[3], 0.35, 1e-15);
      double* restitution = dj_paramBlock(grad, x.m, DJ_FIELD_GEOM_RESTITUTION);
      assert_true(dj_restitution(x.m, 0, -1) == dj_restitution(x.m, 1, -1));
      djt_near(restitution[0], 0.25, 1e-15);
      djt_near(restitution[1], 0.25, 1e-15);
      for (int j = 0; j < 3; j++) {
        djParam param;
        if (dj_paramId(&param, x.m, name[j], &err) != DJ_OK) continue;
        const double* by = dj_paramEntry(grad, x.m, (djField)param.field, param.id);
        for (int r = 0; r < param.nvalue; r++) {
          double value[8], difference[2];
          assert_int_equal(dj_getParam(value, x.m, &param), DJ_OK);
          for (int q = 0; q < 2; q++) {
            double e = (j == 2 ? 1e-4 * value[r] : 2e-7) / (1 + q);
            difference[q] = placedAt(&x, &param, r, e, way, lambda, along, t.normal) -
                            placedAt(&x, &param, r, -e, way, lambda, along, t.normal);
            difference[q] /= 2 * e;
          }
          double exact = (4 * difference[1] - difference[0]) / 3;
          worst = djt_worst(worst, fabs(exact - by[r]) / (fabs(exact) + 1));
          count++;
        }
      }
    }
    print_message("%s: %d derivatives by parameters to %.1e\n", kKind[i].name, count, worst);
    assert_true(count >= 20 && worst < 1e-5);
    free(memory);
    free(grad);
    closePair(&x);
  }
}

DJT_MAIN(testSpheres, testTouching, testShapes, testFast, testSpinning, testPull, testParams)
