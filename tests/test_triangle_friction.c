// Friction between triangles: derivatives by poses now, at the start and before, by coefficients;
// forces that balance; blocks on slopes.

#include "common/scene.h"
#include "common/triangle_case.h"
#include "common/worst.h"
#include "contact/kernel.h"
#include "contact/triangles/long_range.h"
#include "contact/triangles/long_range_shape.h"
#include "contact/triangles/slip_sum.h"
#include "contact/triangles/triangle_friction.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

// now a, b; start a, b; rate a, b
enum { NOW, START, RATE };

typedef struct Pair {
  djShape shape[2];
  double* mem[2];
  djPose pose[3][2], base[3][2];
  double setting[DJ_LONG_NSETTING];
  djPairInput in;
} Pair;

static djPose twisted(const djPose* T, djVec3 ref, const double twist[6], double e) {
  return movePlace(T, ref, twist, e);
}

static void makeShape(Pair* p, int k, djRng* rng, bool layered) {
  SolidMesh s = k ? makeBoxSolid(0.6, 0.5, 0.4) : makeOctahedron();
  const size_t nv = 3 * (size_t)s.nvert;
  p->mem[k] = malloc((size_t)dj_trianglesSize(s.nvert, s.ntri) * sizeof(double));
  for (size_t i = 0; i < nv; i++) s.vert[i] += djt_uniform(rng, -0.05, 0.05);
  p->shape[k].type = DJ_MESH;
  const djStatus status =
      dj_fitTriangles(&p->shape[k], p->mem[k], s.nvert, s.vert, s.ntri, s.tri, NULL, layered, NULL);
  assert_int_equal(status, DJ_OK);
  freeSolid(&s);
}

// a touches b nearly at the start, and has moved by a little; with rate poses of their own or not.
static void openPair(Pair* p, djRng* rng, bool plane, bool layered, bool rates) {
  memset(p, 0, sizeof *p);
  const double setting[DJ_LONG_NSETTING] = {
      [DJ_LONG_WEIGHTING] = layered, [DJ_LONG_EPS] = 0.5,       [DJ_LONG_STIFFNESS_SCALE] = 1,
      [DJ_LONG_LENGTH_SCALE] = 0.7,  [DJ_LONG_STIFFNESS] = 0.3, [DJ_LONG_FRICTION_EPS] = 1};
  memcpy(p->setting, setting, sizeof setting);
  makeShape(p, 0, rng, layered);
  if (plane)
    p->shape[1] = (djShape){.type = DJ_PLANE, .normal = {0, 0.6, 0.8}, .offset = -7};
  else
    makeShape(p, 1, rng, layered);
  p->pose[START][0] = randomPlace(rng, 4);
  p->pose[START][1] = randomPlace(rng, 0.1);
  p->in = (djPairInput){.a = &p->shape[0],
                        .b = &p->shape[1],
                        .pose_a = &p->pose[NOW][0],
                        .pose_b = &p->pose[NOW][1],
                        .start_a = &p->pose[START][0],
                        .start_b = &p->pose[START][1],
                        .rate_a = &p->pose[rates ? RATE : START][0],
                        .rate_b = &p->pose[rates ? RATE : START][1],
                        .ref_a = {0.3, 0.2, -0.1},
                        .ref_b = {-0.4, 0.1, 0.2},
                        .h = 0.1,
                        .friction = 0.4,
                        .setting = p->setting};
  djDistance d;
  djGeomPair g = {.a = &p->shape[0],
                  .b = &p->shape[1],
                  .pose_a = &p->pose[START][0],
                  .pose_b = &p->pose[START][1]};
  assert_true(dj_longRange.gap(&d, NULL, &g) >= 0 && d.gap > 0);
  p->pose[START][0].p = dju_madd3(p->pose[START][0].p, d.gap - 0.15, d.normal);
  const djVec3 ref[2] = {p->in.ref_a, p->in.ref_b};
  for (int k = 0; k < 2; k++) {
    double twist[6];
    djt_uniforms(twist, 6, rng, -0.05, 0.05);
    p->pose[NOW][k] = twisted(&p->pose[START][k], ref[k], twist, 1);
    djt_uniforms(twist, 6, rng, -0.05, 0.05);
    p->pose[RATE][k] = twisted(&p->pose[START][k], ref[k], twist, 1);
  }
  memcpy(p->base, p->pose, sizeof p->base);
}

static void closePair(Pair* p) {
  free(p->mem[0]);
  free(p->mem[1]);
}

static void evalFriction(djPairOutput* out, const Pair* p, bool second) {
  memset(out, 0, sizeof *out);
  assert_true(dj_addTriangleFriction(out, NULL, &p->in, second) >= 0);
}

// Moves the poses of a kind, or of two, by e along a twist of both bodies.
static void move(Pair* p, int kind, int other, const double twist[12], double e) {
  const djVec3 ref[2] = {p->in.ref_a, p->in.ref_b};
  memcpy(p->pose, p->base, sizeof p->base);
  for (int k = 0; k < 2; k++) {
    p->pose[kind][k] = twisted(&p->base[kind][k], ref[k], twist + 6 * k, e);
    if (other != kind) p->pose[other][k] = twisted(&p->base[other][k], ref[k], twist + 6 * k, e);
  }
}

// Differences of the value and of lambda . gradient, extrapolated.
static void differ(double out[2], Pair* p, int kind, int other, const double twist[12],
                   const double lambda[12]) {
  double y[2][2];
  for (int m = 0; m < 2; m++) {
    const double h = m ? 1e-4 : 2e-4;
    double sum[2] = {0, 0};
    for (int s = 0; s < 2; s++) {
      djPairOutput o;
      move(p, kind, other, twist, s ? -h : h);
      evalFriction(&o, p, false);
      sum[0] += (s ? -1 : 1) * o.value;
      for (int i = 0; i < 12; i++) sum[1] += (s ? -1 : 1) * lambda[i] * o.gradient[i];
    }
    for (int k = 0; k < 2; k++) y[m][k] = sum[k] / (2 * h);
  }
  for (int k = 0; k < 2; k++) out[k] = y[1][k] + (y[1][k] - y[0][k]) / 3;
  memcpy(p->pose, p->base, sizeof p->base);
}

static double product(const double M[144], const double left[12], const double right[12]) {
  double sum = 0;
  for (int i = 0; i < 144; i++) sum += left[i / 12] * M[i] * right[i % 12];
  return sum;
}

static double worstOf(double got, double want, double scale) { return fabs(got - want) / scale; }

static void testDerivatives(void** state) {
  (void)state;
  djRng rng = {41};
  for (int i = 0; i < 48; i++) {
    Pair p;
    const bool plane = i % 3 == 2, rates = i / 6 % 2;
    openPair(&p, &rng, plane, i / 12 % 2, rates);
    p.setting[DJ_LONG_LEAF] = i / 24;
    double twist[12], lambda[12], d[2], first = 0, start[144], rate[144];
    djt_uniforms(twist, 12, &rng, -1, 1);
    djt_uniforms(lambda, 12, &rng, -1, 1);
    djPairOutput o;
    evalFriction(&o, &p, true);
    // now: the Hessian along one twist, and the gradient
    differ(d, &p, NOW, NOW, twist, lambda);
    for (int k = 0; k < 12; k++) first += twist[k] * o.gradient[k];
    const double scale = 1 + djt_largest(o.gradient, 12), bend = 1 + djt_largest(o.hessian, 144);
    assert_true(o.value > 0);
    assert_true(worstOf(first, d[0], scale + fabs(first)) < 1e-6);

    double second[2];
    for (int m = 0; m < 2; m++) {
      djPairOutput e[2];
      const double h = m ? 1e-3 : 2e-3;
      for (int s = 0; s < 2; s++) {
        move(&p, NOW, NOW, twist, s ? -h : h);
        evalFriction(&e[s], &p, false);
      }
      second[m] = (e[0].value - 2 * o.value + e[1].value) / (h * h);
    }
    memcpy(p.pose, p.base, sizeof p.base);
    const double want = second[1] + (second[1] - second[0]) / 3;
    assert_true(worstOf(product(o.hessian, twist, twist), want, bend) < 1e-4);

    // start and rate poses: plain derivatives of the gradient
    memset(rate, 0, sizeof rate);
    assert_int_equal(dj_triangleFrictionStart(start, rate, NULL, &p.in), DJ_OK);
    differ(d, &p, START, rates ? START : RATE, twist, lambda);
    const double slope = 1 + djt_largest(start, 144);
    assert_true(worstOf(product(start, lambda, twist), d[1], slope) < 1e-4);

    if (rates) {
      differ(d, &p, RATE, RATE, twist, lambda);
      assert_true(worstOf(product(rate, lambda, twist), d[1], 1 + djt_largest(rate, 144)) < 1e-4);
    }
    closePair(&p);
  }
}

// Forces are opposite, torques but for the slip; with slips much faster than eps the force is mu
// times the normal force of triangles near by, which is no more than the whole.
static void testForces(void** state) {
  (void)state;
  djRng rng = {42};
  for (int i = 0; i < 20; i++) {
    Pair p;
    openPair(&p, &rng, i % 2, i / 10, false);
    // a slides as one
    double slide[6] = {0};
    djt_uniforms(slide + 3, 3, &rng, -1, 1);
    for (int k = 0; k < 2; k++) p.pose[NOW][k] = p.pose[START][k];
    p.pose[NOW][0] = twisted(&p.pose[START][0], p.in.ref_a, slide, 1e-3);
    p.setting[DJ_LONG_FRICTION_EPS] = 1e-12;
    djPairOutput o, whole;
    evalFriction(&o, &p, false);
    whole.twist_jac = NULL;
    djPairInput in = p.in;
    in.friction = 0;
    assert_true(dj_longRange.eval(&whole, NULL, &in, DJ_EVAL_GRADIENT) >= 0);
    const djVec3 F[2] = {dju_load3(o.gradient + 3), dju_load3(o.gradient + 9)};
    const double size = dju_norm3(F[0]), normal = dju_norm3(dju_load3(whole.gradient + 3));
    assert_true(dju_norm3(dju_add3(F[0], F[1])) < 1e-12 * size);
    djVec3 torque = {0, 0, 0};
    const djVec3 ref[2] = {p.in.ref_a, p.in.ref_b};
    for (int k = 0; k < 2; k++) {
      torque = dju_add3(torque, dju_load3(o.gradient + 6 * k));
      torque = dju_add3(torque, dju_cross3(ref[k], F[k]));
    }
    assert_true(dju_norm3(torque) < 3e-3 * size);
    assert_true(size > 0.05 * 0.4 * normal && size < 0.4 * normal * 1.5);
    assert_true(dju_dot3(F[0], dju_load3(slide + 3)) > 0);
    closePair(&p);
  }
}

// ------------------------------------------ slopes ---------------------------------------------

// A box on ground that is turned by an angle: how far it slides in a second.
static double slideOf(double angle, bool plane, int weighting) {
  Scene* s = newScene(2);
  djGeomDef* ground = plane ? addGeom(s, 0, DJ_PLANE, 5, 5, 0.1) : addGeom(s, 0, DJ_BOX, 2, 1, 0.1);
  if (!plane) ground->pos[2] = -0.1;
  const int body = addBody(s, 0, DJ_FREE, 0, 0, 0.2015, 1, 0.02);
  addGeom(s, body, DJ_BOX, 0.2, 0.2, 0.2);
  for (int i = 0; i < 2; i++) {
    s->geom[i].friction[0] = 0.5;
    s->geom[i].condim = 3;
  }
  s->def.option.gravity[0] = 9.81 * sin(angle);
  s->def.option.gravity[2] = -9.81 * cos(angle);
  s->def.option.contact = DJ_LONG_RANGE;
  s->def.option.integrator = DJ_POSITION;
  s->def.option.timestep = 0.01;
  djSettingDef setting = {"weighting", "long_range", -1, -1, weighting};
  s->def.nsetting = 1;
  s->def.setting = &setting;
  djModel* m = NULL;
  djError err = {""};
  if (dj_makeModel(&m, &s->def, &err) != DJ_OK) fail_msg("%s", err.text);
  djData* d = NULL;
  assert_int_equal(dj_makeData(&d, m, NULL), DJ_OK);
  for (int i = 0; i < 20; i++) assert_int_equal(dj_step(m, d), DJ_OK);
  const double from = d->qpos[0], speed = d->qvel[0];
  for (int i = 0; i < 50; i++) assert_int_equal(dj_step(m, d), DJ_OK);
  const double way = d->qpos[0] - from - 0.5 * speed;
  dj_deleteData(d);
  dj_deleteModel(m);
  freeScene(s);
  return way;
}

// It stays below the angle of friction, and beyond has g (sin - mu cos).
static void testSlopes(void** state) {
  (void)state;
  for (int i = 0; i < 3; i++) {
    const bool plane = i == 0;
    assert_true(fabs(slideOf(atan(0.4), plane, i == 2)) < (i == 2 ? 5e-3 : 1e-4));
    const double steep = atan(0.7), want = 0.5 * 0.25 * 9.81 * (sin(steep) - 0.5 * cos(steep));
    const double way = slideOf(steep, plane, i == 2);
    if (!(fabs(way / want - 1) < 0.05)) fail_msg("%d: %g of %g", i, way, want);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testDerivatives),
      cmocka_unit_test(testForces),
      cmocka_unit_test(testSlopes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
