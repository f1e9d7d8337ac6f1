// Friction while Newton's method runs: the eased law, derivatives as foreseen, dual variables.

#include "common/friction_case.h"
#include "common/test.h"

static const double EPS = 1e-10, EASE = 1e-6;   // viscous below 1e-5 and 1e-3 m/s

static void makeResting(Problem* P, int t, djCap cap) {
  makeProblem(P, 3 + t % 3, t & 1 ? 0 : 3, EPS, 0, t & 2 ? DJ_ARMS_PAPER : DJ_ARMS_PLANE, cap);
  P->half_space = t & 1;
  for (int k = 0; k < 2; k++) P->now[k] = P->start[k];
  P->in.ease_eps = EASE;
}

// Points slip by about `speed`.
static void randomTwist(double xi[12], const Problem* P, double speed) {
  for (int j = 0; j < 12; j++) xi[j] = speed * P->in.h * uniform();
}

static double largest(const double* x, int n) {
  double most = 0;
  for (int i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
  return most;
}

static void testEased(void) {
  for (int t = 0; t < 40; t++) {
    Problem P, Q;
    double xi[12];
    makeResting(&P, t, DJ_CAP_MAGNITUDE);
    randomTwist(xi, &P, 1e-3);
    Q = P;
    P.in.ease = DJ_EASED;
    Q.law.eps = EASE;
    djPairOutput a = evaluate(&P, NULL, xi, DJ_EVAL_HESSIAN);
    djPairOutput b = evaluate(&Q, NULL, xi, DJ_EVAL_HESSIAN);
    assert_true(a.eases && !b.eases);
    assert_true(a.value == b.value);
    assert_memory_equal(a.gradient, b.gradient, sizeof a.gradient);
    assert_memory_equal(a.hessian, b.hessian, sizeof a.hessian);
    P.in.ease_eps = Q.in.ease_eps = 1e-12;   // less than what friction has: nothing is eased
    Q.law.eps = EPS;
    Q.in.ease = DJ_EASE_NONE;
    P.in.ease = t & 4 ? DJ_EASED : DJ_EASE_FORESEEN;
    a = evaluate(&P, NULL, xi, DJ_EVAL_HESSIAN);
    b = evaluate(&Q, NULL, xi, DJ_EVAL_HESSIAN);
    assert_true(!a.eases);
    assert_true(a.value == b.value);
    for (int i = 0; i < 12; i++) assert_true(fabs(a.gradient[i] - b.gradient[i]) < 1e-9);
  }
}

// Slips are linear in small twists, and a law with p^2 eps does to p times the slips what one with
// eps does to them: so what sticks is foreseen at p times the twist.
static void testForeseenStick(void) {
  const double p = sqrt(EPS / EASE);
  for (int t = 0; t < 40; t++) {
    Problem P;
    double xi[12], there[12], line[12];
    makeResting(&P, t, t & 8 ? DJ_CAP_PAPER : DJ_CAP_MAGNITUDE);
    randomTwist(xi, &P, 5e-4);
    for (int j = 0; j < 12; j++) there[j] = p * xi[j];
    djPairOutput b = evaluate(&P, NULL, there, DJ_EVAL_HESSIAN);
    P.in.ease = DJ_EASED;
    djPairOutput c = evaluate(&P, NULL, xi, DJ_EVAL_GRADIENT);
    P.in.ease = DJ_EASE_FORESEEN;
    djPairOutput a = evaluate(&P, NULL, xi, DJ_EVAL_HESSIAN);
    djPairOutput d = evaluate(&P, NULL, xi, DJ_EVAL_MAJORIZER);   // there is none
    assert_true(a.value == c.value);
    assert_memory_equal(a.hessian, d.hessian, sizeof a.hessian);
    for (int i = 0; i < 12; i++) {
      line[i] = b.gradient[i];
      for (int j = 0; j < 12; j++) line[i] += b.hessian[12 * i + j] * (1 - p) * xi[j];
    }
    double scale = largest(line, 12), stiff = largest(b.hessian, 144);
    for (int i = 0; i < 12; i++) assert_true(fabs(a.gradient[i] - line[i]) < 1e-3 * scale);
    for (int i = 0; i < 144; i++) {
      assert_true(fabs(a.hessian[i] - b.hessian[i]) < 1e-3 * stiff);
    }
  }
}

// What slides is foreseen where it is.
static void testForeseenSlide(void) {
  for (int t = 1; t < 40; t += 2) {
    Problem P;
    double xi[12] = {0};
    makeResting(&P, t, DJ_CAP_MAGNITUDE);
    djVec3 away = dju_cross3(dju_load3(P.normal), dju_vec3(0.3, 0.7, -0.5));
    for (int k = 0; k < 3; k++) xi[3 + k] = (k == 0 ? away.x : k == 1 ? away.y : away.z) * P.in.h;
    djPairOutput b = evaluate(&P, NULL, xi, DJ_EVAL_HESSIAN);
    P.in.ease = DJ_EASE_FORESEEN;
    djPairOutput a = evaluate(&P, NULL, xi, DJ_EVAL_HESSIAN);
    double scale = largest(b.gradient, 12), stiff = largest(b.hessian, 144);
    for (int i = 0; i < 12; i++) {
      assert_true(fabs(a.gradient[i] - b.gradient[i]) < 1e-12 * scale);
    }
    for (int i = 0; i < 144; i++) {
      assert_true(fabs(a.hessian[i] - b.hessian[i]) < 1e-12 * stiff);
    }
  }
}

// x . H x of body a moved along `away`, at slip `speed` along it; the state goes on.
static double stiffness(djFrictionState* memory, const Problem* P, djVec3 away, double speed,
                        int iterate) {
  Instance X;
  djPairOutput out;
  double xi[12] = {0}, sum = 0, unit[3];
  dju_store3(unit, away);
  dju_store3(xi + 3, dju_scale3(speed * P->in.h, away));
  memset(&out, 0, sizeof out);
  makeInstance(&X, P, NULL, xi);
  X.in.iterate = iterate;
  assert_int_equal(dj_frictionEval(&out, memory, &X.lagged, &X.in, DJ_EVAL_HESSIAN), DJ_OK);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) sum += unit[i] * out.hessian[12 * (3 + i) + 3 + j] * unit[j];
  }
  return sum;
}

// A point that slid and now slips backward keeps the stiffness 2 W/(r h^2) of a force that turns;
// where the slip stays the Hessian is exact.
static void testDual(void) {
  for (int t = 1; t < 40; t += 2) {
    Problem P;
    djFrictionState memory = {0}, none = {0};
    makeResting(&P, t, DJ_CAP_MAGNITUDE);
    P.in.ease_eps = 0;
    djVec3 n = dju_load3(P.normal), away = dju_cross3(n, dju_vec3(0.3, 0.7, -0.5));
    n = dju_scale3(1 / dju_norm3(n), n);
    away = dju_scale3(1 / dju_norm3(away), away);
    double W = 0;
    for (int i = 0; i < P.n; i++) W += P.in.friction * P.force[i] / P.in.h;
    double exact = stiffness(&none, &P, away, 1, 0);
    assert_true(fabs(stiffness(&memory, &P, away, 1, 1) - exact) < 1e-6 * W);
    assert_true(fabs(stiffness(&memory, &P, away, 1, 2) - exact) < 1e-6 * W);
    assert_true(fabs(stiffness(&memory, &P, away, -0.5, 3) - 2 * W / 0.5) < 1e-3 * W);
    assert_true(fabs(stiffness(&memory, &P, away, -2, 3) - 2 * W / 2) < 1e-3 * W);   // again
    assert_true(fabs(stiffness(&memory, &P, away, 0, 4) - W / sqrt(EPS)) < 1e-3 * W / sqrt(EPS));
  }
}

DJT_MAIN(testEased, testForeseenStick, testForeseenSlide, testDual)
