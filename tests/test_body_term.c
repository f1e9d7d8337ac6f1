// Inertia of bodies and their terms in a step, against bodies of six points: two on each axis of
// the inertial frame, with a sixth of the mass each, have any second moments.

#include "model/body_term.h"

#include "common/kin_case.h"
#include "common/make_model.h"
#include "common/near.h"
#include "common/test.h"
#include "common/worst.h"
#include "model/body_inertia.h"
#include "model/body_param.h"
#include "model/momentum_param.h"
#include "model/param.h"

enum { POINTS = 6 };

static const double H = 0.1;

static djVec3 pointOf(const djModel* m, const djKin* kin, int b, int p) {
  const double* I = m->body_inertia + 3 * b;
  int k = p / 2;
  double moment = 0.5 * (I[(k + 1) % 3] + I[(k + 2) % 3] - I[k]);
  double reach = sqrt(3 * moment / m->body_mass[b]);
  return dju_madd3(kin->com[b], p % 2 ? -reach : reach, dju_column(&kin->principal[b], k));
}

static djVec3 velocityAt(djSix x, djVec3 ref, djVec3 point) {
  return dju_add3(x.v, dju_cross3(x.w, dju_sub3(point, ref)));
}

// Momenta of the points by twists.
static void testInertia(void) {
  djRng rng = {1};
  for (int trial = 0; trial < 5; trial++) {
    djtKins c = djt_openKins(djt_randomModel(&rng, 4, 0), &rng, 1);
    for (int b = 1; b < c.m->nbody; b++) {
      djInertia I = dj_bodyInertia(c.m, &c.kin[0], c.ref, b);
      djSix x = djt_twist(&rng), got = dju_mulInertia(&I, x), sum = {{0, 0, 0}, {0, 0, 0}};
      for (int p = 0; p < POINTS; p++) {
        djVec3 at = pointOf(c.m, &c.kin[0], b, p);
        djVec3 v = dju_scale3(c.m->body_mass[b] / POINTS, velocityAt(x, c.ref[b], at));
        djSix part = {dju_cross3(dju_sub3(at, c.ref[b]), v), v};
        sum = dju_add6(sum, part);
      }
      djSix error = dju_sub6(got, sum);
      djt_near(dju_norm3(error.w) + dju_norm3(error.v), 0, 1e-13);
    }
    djt_closeKins(&c);
  }
}

// ---- terms of a step --------------------------------------------------------------------------

// Poses end, start and back; loads and constants of all bodies.
typedef struct Case {
  djtKins k;
  djKin *kin, *kin0, *back, *moved;
  djLoad* load;
  djBodyStep* step;
  double *wrench, *other, *N, *M;
} Case;

static Case openCase(djRng* rng, djModel* m) {
  size_t nb = (size_t)m->nbody;
  Case c = {.k = djt_openKins(m, rng, 0.2)};
  c.load = calloc(nb, sizeof *c.load);
  c.step = calloc(nb, sizeof *c.step);
  assert_true(c.load && c.step);
  c.wrench = djt_room(6 * nb);
  c.other = djt_room(6 * nb);
  c.N = djt_room(36 * nb);
  c.M = djt_room(36 * nb);
  for (int b = 1; b < m->nbody; b++) {
    c.load[b].force = djt_vec3(rng, 5);
    c.load[b].torque = djt_vec3(rng, 5);
  }
  return c;
}

// The case keeps pointers to its own poses.
static void usePoses(Case* c) {
  c->back = &c->k.kin[0];
  c->kin0 = &c->k.kin[1];
  c->kin = &c->k.kin[2];
  c->moved = &c->k.kin[3];
  dj_beginBodyTerms(c->step, c->k.m, c->load, c->kin0, c->back, H);
}

static void closeCase(Case* c) {
  double* const list[] = {c->wrench, c->other, c->N, c->M};
  for (size_t k = 0; k < sizeof list / sizeof list[0]; k++) free(list[k]);
  free(c->load);
  free(c->step);
  djt_closeKins(&c->k);
}

// Of one body, with the potentials of its loads.
static double energyOf(const Case* c, int b) {
  const djModel* m = c->k.m;
  double sum = 0;
  for (int p = 0; p < POINTS; p++) {
    djVec3 d = dju_add3(pointOf(m, c->kin, b, p), pointOf(m, c->back, b, p));
    d = dju_madd3(d, -2, pointOf(m, c->kin0, b, p));
    sum += 0.5 * m->body_mass[b] / POINTS / (H * H) * dju_dot3(d, d);
  }
  sum -= dju_dot3(c->load[b].force, dju_sub3(c->kin->com[b], c->kin0->com[b]));
  for (int k = 0; k < 3; k++) {
    djVec3 turn = dju_cross3(dju_column(&c->kin0->principal[b], k),
                             dju_column(&c->kin->principal[b], k));
    sum -= 0.5 * dju_dot3(c->load[b].torque, turn);
  }
  return sum;
}

static void testEnergy(void) {
  djRng rng = {2};
  for (int trial = 0; trial < 5; trial++) {
    Case c = openCase(&rng, djt_randomModel(&rng, 4, 0));
    usePoses(&c);
    double sum = 0;
    for (int b = 1; b < c.k.m->nbody; b++) sum += energyOf(&c, b);
    double got = dj_bodyTerms(NULL, NULL, c.k.m, c.step, c.kin, c.kin0, c.k.ref);
    djt_near(got, sum, 1e-12 * fabs(sum));
    closeCase(&c);
  }
}

// Wrenches against differences of the points' energy.
static void testWrench(void) {
  djRng rng = {3};
  double worst = 0, h = 1e-3;
  for (int trial = 0; trial < 5; trial++) {
    Case c = openCase(&rng, djt_randomModel(&rng, 4, 0));
    usePoses(&c);
    dj_bodyTerms(c.wrench, NULL, c.k.m, c.step, c.kin, c.kin0, c.k.ref);
    Case moved = c;
    moved.kin = c.moved;
    for (int b = 1; b < c.k.m->nbody; b++) {
      djSix x = djt_twist(&rng);
      double sum = 0, along = dju_dot6(x, dju_load6(c.wrench + 6 * b));
      for (int i = 0; i < 4; i++) {
        djt_movePose(c.moved, c.kin, b, c.k.ref[b], x, h * djt_point[i]);
        sum += djt_weight[i] / h * energyOf(&moved, b);
      }
      worst = djt_worst(worst, fabs(along - sum) / (1 + fabs(sum)));
    }
    closeCase(&c);
  }
  djt_below("wrench", worst, 1e-8);
}

// At the start pose loads are forces and torques as they are: what the wrench has with them less
// what it has without.
static void testLoads(void) {
  djRng rng = {4};
  Case c = openCase(&rng, djt_randomModel(&rng, 5, 0));
  usePoses(&c);
  dj_bodyTerms(c.wrench, NULL, c.k.m, c.step, c.kin0, c.kin0, c.k.ref);
  djLoad* none = calloc((size_t)c.k.m->nbody, sizeof *none);
  assert_non_null(none);
  dj_beginBodyTerms(c.step, c.k.m, none, c.kin0, c.back, H);
  dj_bodyTerms(c.other, NULL, c.k.m, c.step, c.kin0, c.kin0, c.k.ref);
  for (int b = 1; b < c.k.m->nbody; b++) {
    djSix got = dju_sub6(dju_load6(c.other + 6 * b), dju_load6(c.wrench + 6 * b));
    djVec3 arm = dju_sub3(c.kin0->com[b], c.k.ref[b]), f = c.load[b].force;
    djVec3 torque = dju_add3(c.load[b].torque, dju_cross3(arm, f));
    djt_near(dju_norm3(dju_sub3(got.v, f)), 0, 1e-11);
    djt_near(dju_norm3(dju_sub3(got.w, torque)), 0, 1e-11);
  }
  free(none);
  closeCase(&c);
}

// Difference of x . wrench of body b by a twist y of one pose: 0 the end, 1 the start, 2 before it.
static double wrenchSlope(Case* c, int b, djSix x, djSix y, int pose) {
  djKin* const from[3] = {c->kin, c->kin0, c->back};
  djKin at[3] = {*c->kin, *c->kin0, *c->back};
  double sum = 0, h = 1e-3;
  dj_copyPoses(c->moved, c->k.m, from[pose]);
  at[pose] = *c->moved;
  for (int i = 0; i < 4; i++) {
    djt_movePose(c->moved, from[pose], b, c->k.ref[b], y, h * djt_point[i]);
    dj_beginBodyTerms(c->step, c->k.m, c->load, &at[1], &at[2], H);
    dj_bodyTerms(c->other, NULL, c->k.m, c->step, &at[0], &at[1], c->k.ref);
    sum += djt_weight[i] / h * dju_dot6(x, dju_load6(c->other + 6 * b));
  }
  usePoses(c);
  return sum;
}

// All second derivatives against differences of wrenches. d/ds of W(exp(s y) T) . x is the nested
// one less W . (y x x).
static void testSecond(void) {
  djRng rng = {5};
  double worst[3] = {0, 0, 0};
  for (int trial = 0; trial < 5; trial++) {
    Case c = openCase(&rng, djt_randomModel(&rng, 4, 0));
    usePoses(&c);
    double* N0 = djt_room(36 * (size_t)c.k.m->nbody);
    for (int k = 0; k < 36; k++) N0[k] = c.N[k] = c.M[k] = NAN;   // the world's are overwritten
    dj_bodyTerms(c.wrench, c.N, c.k.m, c.step, c.kin, c.kin0, c.k.ref);
    dj_bodyTermsStart(N0, c.M, c.k.m, c.step, c.kin, c.kin0, c.back, c.k.ref);
    assert_true(N0[0] == 0 && c.N[35] == 0 && c.M[7] == 0);
    const double* block[3] = {c.N, N0, c.M};
    for (int b = 1; b < c.k.m->nbody; b++) {
      djSix x = djt_twist(&rng), y = djt_twist(&rng);
      double turned = dju_dot6(dju_load6(c.wrench + 6 * b), dju_crossTwist(y, x));
      for (int pose = 0; pose < 3; pose++) {
        double got = pose == 0 ? djt_form6(y, block[pose] + 36 * b, x) - turned
                               : djt_form6(x, block[pose] + 36 * b, y);
        double fd = wrenchSlope(&c, b, x, y, pose);
        worst[pose] = djt_worst(worst[pose], fabs(got - fd) / (1 + fabs(fd)));
      }
    }
    free(N0);
    closeCase(&c);
  }
  print_message("by the end %.1e, start %.1e, before %.1e\n", worst[0], worst[1], worst[2]);
  for (int pose = 0; pose < 3; pose++) assert_true(worst[pose] < 1e-8);
}

// Of bodies that no dof moves nothing is left.
static void testIdle(void) {
  djRng rng = {6};
  Case c = openCase(&rng, djt_sampleModel(NULL));
  usePoses(&c);
  memset(c.wrench, 0xff, 6 * (size_t)c.k.m->nbody * sizeof(double));
  dj_bodyTerms(c.wrench, c.N, c.k.m, c.step, c.kin, c.kin0, c.k.ref);
  for (int b = 0; b < c.k.m->nbody; b++) {
    bool idle = b == 0 || c.k.m->body_mocap[b] >= 0;
    assert_true(c.step[b].active == !idle);
    for (int k = 6 * b; k < 6 * b + 6; k++) assert_true((c.wrench[k] == 0) == idle);
  }
  closeCase(&c);
}

// ---- momenta by parameters --------------------------------------------------------------------

typedef struct Balance {
  Case c;
  bool loads, at_end;
  double *x, *V, s1, s2;
} Balance;

// sum_b x_b . (s1 P_b - s2 h_b - weight) of the points.
static double balanceOf(const Balance* s) {
  const Case* c = &s->c;
  const djModel* m = c->k.m;
  const djKin* at = s->at_end ? c->kin : c->kin0;
  double sum = 0;
  for (int b = 1; b < m->nbody; b++) {
    djSix x = dju_load6(s->x + 6 * b), V = dju_load6(s->V + 6 * b);
    djVec3 ref = c->k.ref[b];
    for (int p = 0; p < POINTS; p++) {
      djVec3 point = pointOf(m, at, b, p);
      djVec3 d = dju_sub3(pointOf(m, c->kin, b, p), pointOf(m, c->kin0, b, p));
      d = dju_madd3(dju_scale3(s->s1, d), -s->s2, velocityAt(V, ref, point));
      sum += m->body_mass[b] / POINTS * dju_dot3(velocityAt(x, ref, point), d);
    }
    if (s->loads) sum -= dju_dot3(velocityAt(x, ref, at->com[b]), c->load[b].force);
  }
  return sum;
}

// By one number of the model: entry k of a parameter, or a turn of the inertial frame.
static double balanceSlope(Balance* s, double* value, int k, bool quat) {
  double base[4], sum = 0, h = 1e-3;
  memcpy(base, value, (quat ? 4 : k + 1) * sizeof(double));
  for (int i = 0; i < 4; i++) {
    double by = h * djt_point[i];
    if (quat) {
      double w[3] = {0, 0, 0};
      w[k] = by;
      dju_storeQuat(value, dju_mulQuat(dju_loadQuat(base), dju_expQuat(dju_load3(w))));
    } else {
      value[k] = base[k] + by * fmin(1, 0.1 + fabs(base[k]));
    }
    for (int q = 0; q < 3; q++) djt_setKin(&s->c.k, q);
    double step = quat ? h : h * fmin(1, 0.1 + fabs(base[k]));
    sum += djt_weight[i] / step * balanceOf(s);
  }
  memcpy(value, base, (quat ? 4 : k + 1) * sizeof(double));
  for (int q = 0; q < 3; q++) djt_setKin(&s->c.k, q);
  return sum;
}

static double balanceError(Balance* s, djRng* rng) {
  djModel* m = s->c.k.m;
  double *grad = djt_room(dj_paramGradSize(m)), *tensor = djt_room(6 * (size_t)m->nbody);
  const djKin* at = s->at_end ? s->c.kin : s->c.kin0;
  double worst = 0;
  dj_momentumParams(grad, tensor, m, s->c.step, s->loads, s->c.kin, s->c.kin0, at, s->c.k.ref,
                    s->x, s->V, s->s1, s->s2);
  dj_tensorParams(grad, m, tensor);
  for (int b = 1; b < m->nbody; b++) {
    const struct {
      djField field;
      double* value;
      int n;
    } list[4] = {{DJ_FIELD_BODY_MASS, m->body_mass + b, 1},
                 {DJ_FIELD_BODY_IPOS, m->body_ipos + 3 * b, 3},
                 {DJ_FIELD_BODY_IQUAT, m->body_iquat + 4 * b, 3},
                 {DJ_FIELD_BODY_INERTIA, m->body_inertia + 3 * b, 3}};
    for (int f = 0; f < 4; f++) {
      int k = djt_integer(rng, list[f].n);
      double fd = balanceSlope(s, list[f].value, k, list[f].field == DJ_FIELD_BODY_IQUAT);
      double got = dj_paramEntry(grad, m, list[f].field, b)[k];
      worst = djt_worst(worst, fabs(got - fd) / (1 + fabs(fd)));
    }
  }
  free(grad);
  free(tensor);
  return worst;
}

static void testMomentumParams(void) {
  djRng rng = {7};
  double worst = 0;
  for (int trial = 0; trial < 12; trial++) {
    Balance s = {.loads = trial % 2, .at_end = trial % 4 > 1, .s1 = 3.5, .s2 = trial % 3 * 0.8};
    s.c = openCase(&rng, djt_randomModel(&rng, 3, 0));
    usePoses(&s.c);
    int n = 6 * s.c.k.m->nbody;
    s.x = djt_room((size_t)n);
    s.V = djt_room((size_t)n);
    djt_uniforms(s.x, n, &rng, -1, 1);
    djt_uniforms(s.V, n, &rng, -1, 1);
    worst = djt_worst(worst, balanceError(&s, &rng));
    free(s.x);
    free(s.V);
    closeCase(&s.c);
  }
  djt_below("momenta by parameters", worst, 1e-8);
}

// Loads alone are what bodies without inertia have: without a torque, without a force, or with
// neither, too; and their products with twists.
static void testLoadsAlone(void) {
  djRng rng = {12};
  for (int trial = 0; trial < 5; trial++) {
    Case c = openCase(&rng, djt_randomModel(&rng, 5, 0));
    usePoses(&c);
    const djModel* m = c.k.m;
    size_t n = 6 * (size_t)m->nbody;
    for (int b = 1; b < m->nbody; b++) {
      if (b % 4 & 1) c.load[b].torque = (djVec3){0, 0, 0};
      if (b % 4 & 2) c.load[b].force = (djVec3){0, 0, 0};
    }
    dj_beginBodyTerms(c.step, m, c.load, c.kin0, c.back, H);
    for (int b = 0; b < m->nbody; b++) {
      c.step[b].mass = 0;
      memset(c.step[b].moment, 0, sizeof c.step[b].moment);
    }
    double *N = djt_room(6 * n), *M = djt_room(6 * n), *sum[4];
    for (int k = 0; k < 4; k++) sum[k] = djt_room(n);   // W, C, C0, x
    djt_uniforms(sum[3], (int)n, &rng, -1, 1);
    double value = dj_bodyTerms(c.wrench, c.N, m, c.step, c.kin, c.kin0, c.k.ref);
    djt_near(dj_loadTerms(c.other, N, m, c.load, c.kin, c.kin0, c.k.ref), value, 1e-13);
    for (size_t i = 0; i < n; i++) djt_near(c.other[i], c.wrench[i], 1e-13);
    for (size_t i = 0; i < 6 * n; i++) djt_near(N[i], c.N[i], 1e-13);
    dj_bodyTermsStart(c.N, c.M, m, c.step, c.kin, c.kin0, c.back, c.k.ref);
    dj_loadTermsStart(M, m, c.load, c.kin, c.kin0);
    for (size_t i = 0; i < 6 * n; i++) djt_near(M[i], c.N[i], 1e-13);
    dj_addLoadProducts(sum[0], sum[1], sum[2], m, c.load, c.kin, c.kin0, c.k.ref, sum[3]);
    for (size_t i = 0; i < n; i++) {
      double by_end = 0, by_start = 0;
      for (size_t k = 0; k < 6; k++) {
        by_end += N[6 * i + k] * sum[3][i / 6 * 6 + k];
        by_start += M[36 * (i / 6) + 6 * k + i % 6] * sum[3][i / 6 * 6 + k];
      }
      djt_near(sum[0][i], c.wrench[i], 1e-13);
      djt_near(sum[1][i], by_end, 1e-12);
      djt_near(sum[2][i], by_start, 1e-12);
    }
    assert_true(djt_largest(sum[1], (int)n) > 0.1 && djt_largest(sum[2], (int)n) > 0.1);
    for (int k = 0; k < 4; k++) free(sum[k]);
    free(N);
    free(M);
    closeCase(&c);
  }
}

DJT_MAIN(testInertia, testEnergy, testWrench, testLoads, testSecond, testIdle, testMomentumParams,
         testLoadsAlone)
