// Lagged friction: balance of momentum, invariances, degenerate point sets, bad input.

#include "common/friction_case.h"
#include "common/test.h"
#include "common/worst.h"

// Friction forces at the state's (u, w), straight from eq. 9-12 in long double.
// F: (n x 3) dU/dz; the sum of forces and of torques of y x F about the origin.
static void referenceForces(double F[3 * MAXP], double total[6], double* value, const Instance* X,
                            const djFrictionState* state) {
  const djLagged* L = &X->lagged;
  long double sum = 0, c[3] = {0}, y[3 * MAXP], A[MAXP], U = 0, res[6] = {0};
  const double n[3] = {L->normal.x, L->normal.y, L->normal.z};
  const double eps = X->lagged.law.eps, h = X->in.h, mu = X->in.friction;
  for (int i = 0; i < L->n; i++) {
    long double lift = L->offset;
    for (int r = 0; r < 3; r++) lift += (long double)n[r] * L->point[3 * i + r];
    if (X->lagged.law.arms == DJ_ARMS_PAPER) lift = 0;
    A[i] = L->force[i];
    if (X->lagged.law.cap == DJ_CAP_PAPER) A[i] = sqrtl(A[i] * A[i] + eps) - sqrtl(eps);
    sum += A[i];
    for (int r = 0; r < 3; r++) {
      y[3 * i + r] = L->point[3 * i + r] - lift * n[r];
      c[r] += A[i] * y[3 * i + r];
    }
  }
  for (int r = 0; r < 3; r++) c[r] /= sum;
  for (int i = 0; i < L->n; i++) {
    const djPose *T = &X->start[i >= L->na], *now = &X->now[i >= L->na];
    long double local[3] = {0}, s[3], e[3], ns = 0, ss = 0;
    const double p0[3] = {T->p.x, T->p.y, T->p.z}, p1[3] = {now->p.x, now->p.y, now->p.z};
    for (int r = 0; r < 3; r++) {
      for (int q = 0; q < 3; q++) local[r] += T->R.m[3 * q + r] * (y[3 * i + q] - p0[q]);
      e[r] = y[3 * i + r] - c[r];
    }
    long double cross[3] = {n[1] * e[2] - n[2] * e[1], n[2] * e[0] - n[0] * e[2],
                            n[0] * e[1] - n[1] * e[0]};
    for (int r = 0; r < 3; r++) {
      s[r] = (long double)p1[r] - p0[r];
      for (int q = 0; q < 3; q++) {
        s[r] += ((long double)now->R.m[3 * r + q] - T->R.m[3 * r + q]) * local[q];
      }
      s[r] = s[r] / h - state->u[r] - state->w * cross[r];
      ns += n[r] * s[r];
    }
    for (int r = 0; r < 3; r++) s[r] -= ns * n[r], ss += s[r] * s[r];
    long double root = sqrtl(ss + eps), f[3];
    for (int r = 0; r < 3; r++) f[r] = mu * A[i] * s[r] / root, F[3 * i + r] = (double)f[r];
    U += mu * h * A[i] * root;
    for (int r = 0; r < 3; r++) {
      int a = (r + 1) % 3, b = (r + 2) % 3;
      res[3 + r] += f[r];
      res[r] += y[3 * i + a] * f[b] - y[3 * i + b] * f[a];
    }
  }
  for (int k = 0; k < 6; k++) total[k] = (double)res[k];
  *value = (double)U;
}

static void test_balance(void) {
  double worst_force = 0, worst_torque = 0;
  for (int t = 0; t < 2000; t++) {
    Problem P;
    Instance X;
    djPairOutput out;
    djFrictionState state = {0};
    double F[3 * MAXP], total[6], value, scale_force = 0;
    double eps = pow(10, -12 + t % 13), speed = pow(10, 3 * uniform() - 3);
    makeProblem(&P, 1 + t % 5, 2 + t % 4, eps, speed, t & 1, DJ_CAP_MAGNITUDE);
    makeInstance(&X, &P, NULL, NULL);
    memset(&out, 0, sizeof(out));
    assert_int_equal(dj_frictionEval(&out, &state, &X.lagged, &X.in, 1), DJ_OK);
    referenceForces(F, total, &value, &X, &state);
    for (int i = 0; i < P.n; i++) scale_force += 0.7 * P.force[i];
    // what rounding of the slip allows
    double noise = 4e-15 * (1 + 10 * speed / sqrt(eps));
    assert_true(fabs(out.value - value) <= 1e-13 * value + noise * 1e-2 * value);
    for (int k = 0; k < 3; k++) {
      double force = fabs(out.gradient[3 + k] + out.gradient[9 + k]) / scale_force;
      worst_force = djt_worst(worst_force, force / noise);
      assert_true(force < noise);
      assert_true(fabs(total[3 + k]) < noise * scale_force);
    }
    double about_normal = 0, whole = norm12(total, 3);
    djVec3 n = X.lagged.normal;
    about_normal = fabs(total[0] * n.x + total[1] * n.y + total[2] * n.z);
    assert_true(about_normal < noise * scale_force);
    if (X.lagged.law.arms == DJ_ARMS_PLANE) {
      worst_torque = djt_worst(worst_torque, whole / scale_force / noise);
      assert_true(whole < noise * scale_force);
    }
    for (int k = 0; k < 2; k++) {   // gradients are the sums over points
      double g[6] = {0};
      for (int i = k ? P.na : 0; i < (k ? P.n : P.na); i++) {
        for (int r = 0; r < 3; r++) g[3 + r] += F[3 * i + r];
      }
      assert_true(distance12(g + 3, out.gradient + 6 * k + 3, 3) < 3 * noise * scale_force);
    }
  }
  print_message("balance: force %.2g, torque %.2g of what is allowed\n", worst_force, worst_torque);
}

// Half space: forces straight from the definition, the opposite ones on body b; no (u, w).
static void test_half_space(void) {
  for (int t = 0; t < 200; t++) {
    Problem P;
    Instance X;
    makeProblem(&P, 1 + t % 12, 2, pow(10, -8 + t % 8), 0.1, DJ_ARMS_PLANE, DJ_CAP_MAGNITUDE);
    P.half_space = true;
    djPairOutput out = evaluate(&P, NULL, NULL, 1);
    makeInstance(&X, &P, NULL, NULL);
    djVec3 n = X.lagged.normal, total = {0, 0, 0}, size = {0, 0, 0};
    double value = 0;
    for (int i = 0; i < P.na; i++) {
      djVec3 x = dju_load3(X.point + 3 * i);
      x = dju_madd3(x, -(dju_dot3(n, x) + X.lagged.offset), n);
      djVec3 za = dju_transform(&X.now[0], dju_untransform(&X.start[0], x));
      djVec3 zb = dju_transform(&X.now[1], dju_untransform(&X.start[1], x));
      djVec3 s = dju_scale3(1 / X.in.h, dju_sub3(za, zb));
      s = dju_madd3(s, -dju_dot3(s, n), n);
      double r = sqrt(dju_dot3(s, s) + X.lagged.law.eps);
      value += X.in.friction * X.in.h * P.force[i] * r;
      total = dju_madd3(total, X.in.friction * P.force[i] / r, s);
      size.x += X.in.friction * P.force[i];
    }
    double tol = 1e-12 / sqrt(X.lagged.law.eps) + 1e-12;
    assert_true(fabs(out.value - value) < tol * value);
    assert_true(dju_norm3(dju_sub3(dju_load3(out.gradient + 3), total)) < tol * size.x);
    for (int k = 3; k < 6; k++) assert_true(out.gradient[k] == -out.gradient[6 + k]);
  }
}

// Exchange of the bodies turns the normal round and changes nothing else.
static void test_swap(void) {
  for (int t = 0; t < 300; t++) {
    Problem P, Q;
    makeProblem(&P, 1 + t % 5, 2 + t % 4, pow(10, -t % 9), 0.1, t & 1, t & 2);
    Q = P;
    Q.na = P.n - P.na;
    Q.offset = -P.offset;
    for (int k = 0; k < 3; k++) Q.normal[k] = -P.normal[k];
    for (int k = 0; k < 2; k++) {
      Q.now[k] = P.now[1 - k], Q.start[k] = P.start[1 - k], Q.ref[k] = P.ref[1 - k];
    }
    for (int i = 0; i < P.n; i++) {
      int j = (i + P.na) % P.n;
      Q.force[i] = P.force[j];
      memcpy(Q.vertex + 3 * i, P.vertex + 3 * j, 3 * sizeof(double));
    }
    djPairOutput p = evaluate(&P, NULL, NULL, 2), q = evaluate(&Q, NULL, NULL, 2);
    double tol = 1e-12 + 1e-14 / sqrt(P.law.eps), turned[144];
    assert_true(fabs(p.value - q.value) <= tol * p.value);
    for (int i = 0; i < 12; i++) {
      for (int j = 0; j < 12; j++) {
        turned[12 * i + j] = q.hessian[12 * ((i + 6) % 12) + (j + 6) % 12];
      }
      double f = fabs(p.gradient[i] - q.gradient[(i + 6) % 12]);
      assert_true(f <= 10 * tol * norm12(p.gradient, 12));
    }
    assert_true(distance12(turned, p.hessian, 144) < 1e3 * tol * norm12(p.hessian, 144));
  }
}

// Rigid motion of everything turns forces with it; the value stays.
static void test_rigid_motion(void) {
  for (int t = 0; t < 100; t++) {
    Problem P;
    makeCase(&P, t, 1e-4, 0.1);
    djPairOutput p = evaluate(&P, NULL, NULL, 1);
    djPose T = {randomVec(1), rotation(randomVec(2))};
    djVec3 n = dju_mulMV(T.R, dju_load3(P.normal));
    dju_store3(P.normal, n);
    P.offset -= dju_dot3(n, T.p);
    for (int k = 0; k < 2; k++) {
      P.now[k] = (djPose){dju_transform(&T, P.now[k].p), dju_mulMM(T.R, P.now[k].R)};
      P.start[k] = (djPose){dju_transform(&T, P.start[k].p), dju_mulMM(T.R, P.start[k].R)};
      P.ref[k] = dju_transform(&T, P.ref[k]);
    }
    djPairOutput q = evaluate(&P, NULL, NULL, 1);
    assert_true(fabs(p.value - q.value) < 1e-10 * p.value);
    for (int k = 0; k < 12; k += 3) {
      djVec3 f = dju_mulMV(T.R, dju_load3(p.gradient + k));
      f = dju_sub3(f, dju_load3(q.gradient + k));
      assert_true(dju_norm3(f) < 1e-9 * norm12(p.gradient, 12));
    }
  }
}

// A point whose force goes to zero leaves the sums smoothly, and at zero it has no effect at all.
static void test_vanishing_force(void) {
  for (int t = 0; t < 60; t++) {
    Problem P, Q;
    makeProblem(&P, 3, 1 + t % 3, pow(10, -2 - t % 6), 0.1, t & 1, DJ_CAP_MAGNITUDE);
    P.half_space = t % 3 == 0;
    if (t % 4 == 1) {   // corner against corner, and one vertex more
      djVec3 x = dju_transform(&P.start[0], dju_load3(P.vertex));
      P.n = 4, P.na = 3;
      P.force[2] = 0;
      P.force[3] = P.force[0];
      dju_store3(P.vertex + 9, dju_untransform(&P.start[1], x));
    }
    P.force[1] = 0;
    djPairOutput zero = evaluate(&P, NULL, NULL, 2);
    Q = P;   // the same without the point
    for (int i = 1; i < P.n - 1; i++) {
      Q.force[i] = P.force[i + 1];
      memcpy(Q.vertex + 3 * i, P.vertex + 3 * i + 3, 3 * sizeof(double));
    }
    Q.n--, Q.na--;
    djPairOutput without = evaluate(&Q, NULL, NULL, 2);
    assert_memory_equal(zero.gradient, without.gradient, sizeof(zero.gradient));
    assert_memory_equal(zero.hessian, without.hessian, sizeof(zero.hessian));
    double last = INFINITY;
    for (double f = 1e-2; f > 1e-13; f *= 1e-2) {
      P.force[1] = f;
      djPairOutput out = evaluate(&P, NULL, NULL, 1);
      double d = distance12(out.gradient, zero.gradient, 12);
      double value = fabs(out.value - zero.value);
      // the energy of one point more is at most mu h f |slip|; forces follow
      assert_true(value <= 0.7 * 0.01 * f * 10 + 1e-15);
      assert_true(d < 0.5 * last || d < 1e-9);
      last = d;
    }
    assert_true(last < 1e-6);
  }
}

// Point sets that leave (u, w) undetermined.
static void test_degenerate(void) {
  for (int t = 0; t < 400; t++) {
    int kind = t % 8;
    Problem P;
    double eps = pow(10, -12 + (t / 8) % 13), sum[2] = {0, 0};
    makeProblem(&P, kind < 2 ? 1 : 3, kind < 2 ? 1 : 2, eps, pow(10, 2 * uniform() - 2), t & 1,
                (t / 2) & 1);
    djVec3 n = dju_load3(P.normal), along = dju_cross3(n, randomVec(1));
    djVec3 c = dju_scale3(-P.offset, n);
    for (int i = 0; i < P.n; i++) {
      djVec3 x = c;                                               // all coincide
      if (kind == 1) x = dju_add3(c, randomVec(1e-12));           // up to rounding
      if (kind == 2) x = dju_madd3(c, uniform(), along);          // on a line through c
      if (kind == 3) x = dju_madd3(c, 1e-5 * uniform(), along);   // close together
      if (kind == 4 && i == 0) x = dju_madd3(c, 0.3, along);
      if (kind == 5) x = dju_add3(c, randomVec(1e-4));
      if (kind == 6 && i >= P.na) x = dju_madd3(c, 1e-12, along);
      dju_store3(P.vertex + 3 * i, dju_untransform(&P.start[i >= P.na], x));
      if (kind == 4 && i == 0) P.force[0] = 1e-9;
      sum[i >= P.na] += P.force[i];
    }
    for (int i = P.na; i < P.n; i++) P.force[i] *= sum[0] / sum[1];
    if (kind == 7) P.n = P.na;                                    // one side only
    djPairOutput out = evaluate(&P, NULL, NULL, DJ_EVAL_HESSIAN);
    djPairOutput major = evaluate(&P, NULL, NULL, DJ_EVAL_MAJORIZER);
    double jac[144], noise = 1e-14 * (1 + 3 / sqrt(eps));
    startJacobian(jac, &P, 7);
    double limit = 0.7 * sum[0] * (1 + 1e-12), unbalanced = 0;
    assert_true(out.value > 0);
    for (int k = 0; k < 144; k++) {
      assert_true(isfinite(out.hessian[k]) && isfinite(major.hessian[k]) && isfinite(jac[k]));
      assert_true(fabs(out.hessian[k]) < 100 * limit / (P.in.h * sqrt(eps)));
    }
    for (int k = 3; k < 6; k++) {
      unbalanced = djt_worst(unbalanced, fabs(out.gradient[k] + out.gradient[6 + k]));
    }
    assert_true(unbalanced < noise * limit);
    assert_true(norm12(out.gradient + 3, 3) <= limit);
    if (kind < 2) {   // two points rub against each other: half of the slip each
      djVec3 y = dju_transform(&P.start[0], dju_load3(P.vertex));
      djVec3 za = dju_transform(&P.now[0], dju_load3(P.vertex));
      djVec3 zb = dju_transform(&P.now[1], dju_untransform(&P.start[1], y));
      djVec3 s = dju_scale3(0.5 / P.in.h, dju_sub3(za, zb));
      s = dju_madd3(s, -dju_dot3(s, n), n);
      double A = P.force[0];
      if (P.law.cap == DJ_CAP_PAPER) A = sqrt(A * A + eps) - sqrt(eps);
      double f = 0.7 * A * dju_norm3(s) / sqrt(dju_dot3(s, s) + eps);
      assert_true(fabs(norm12(out.gradient + 3, 3) - f) < 1e-3 * limit);
    }
  }
}

// Displacements of rounding size come out right: all bodies far from the origin's scale.
static void test_tiny_motion(void) {
  for (int t = 0; t < 100; t++) {
    Problem P;
    Instance X;
    djFrictionState state = {0};
    djPairOutput out;
    double F[3 * MAXP], total[6], value;
    makeProblem(&P, 4, 4, 1e-8, 0, t & 1, DJ_CAP_MAGNITUDE);
    for (int k = 0; k < 2; k++) P.now[k].p.x += 4e-14 * uniform(), P.now[k].R.m[1] += 1e-14;
    makeInstance(&X, &P, NULL, NULL);
    memset(&out, 0, sizeof(out));
    assert_int_equal(dj_frictionEval(&out, &state, &X.lagged, &X.in, 1), DJ_OK);
    referenceForces(F, total, &value, &X, &state);
    for (int r = 0; r < 3; r++) {
      double f = 0, size = 0;
      for (int i = 0; i < P.na; i++) f += F[3 * i + r], size += fabs(F[3 * i + r]);
      assert_true(size == 0 || fabs(out.gradient[3 + r] - f) < 1e-6 * norm12(F, 24));
    }
  }
}

// A warm start changes nothing beyond rounding; neither do many points or the caller's scratch.
static void test_warm_start(void) {
  for (int t = 0; t < 300; t++) {
    Problem P;
    Instance X;
    djPairOutput warm;
    djFrictionState state = {.u = {10 * uniform(), uniform(), uniform()}, .w = 30 * uniform()};
    makeProblem(&P, 1 + t % 20, 1 + t / 15, pow(10, -8 + t % 7), 0.3, t & 1, (t / 2) & 1);
    djPairOutput cold = evaluate(&P, NULL, NULL, 2);
    makeInstance(&X, &P, NULL, NULL);
    for (int k = 0; k < 2; k++) {
      memset(&warm, 0, sizeof(warm));
      assert_int_equal(dj_frictionEval(&warm, &state, &X.lagged, &X.in, 2), DJ_OK);
    }
    assert_true(state.iterations <= 2);
    double tol = 1e-11 + 1e-13 / sqrt(P.law.eps), size = norm12(cold.gradient, 12);
    for (int i = 0; i < P.n; i++) size += 0.7 * P.force[i];
    assert_true(fabs(warm.value - cold.value) < tol * cold.value);
    assert_true(distance12(warm.gradient, cold.gradient, 12) < tol * size);
  }
}

// Copies of each point share its force: any number of points gives the same as a few.
static void test_many_points(void) {
  enum { COPY = 61, N = 7 * COPY };
  static double point[3 * N], force[N], scratch[11 * (N + 16)];
  Problem P;
  Instance X;
  djPairOutput out;
  djFrictionState state = {0};
  for (int half = 0; half < 2; half++) {
    makeProblem(&P, 4, 3, 1e-4, 0.1, DJ_ARMS_PLANE, DJ_CAP_MAGNITUDE);
    P.half_space = half;
    djPairOutput few = evaluate(&P, NULL, NULL, 2);
    makeInstance(&X, &P, NULL, NULL);
    for (int i = 0; i < N; i++) {
      memcpy(point + 3 * i, X.point + 3 * (i / COPY), 3 * sizeof(double));
      force[i] = X.force[i / COPY] / COPY;
    }
    X.lagged.n = N, X.lagged.na = 4 * COPY;
    X.lagged.point = point, X.lagged.force = force;
    memset(&out, 0, sizeof(out));
    if (!half) {
      assert_int_equal(dj_frictionEval(&out, &state, &X.lagged, &X.in, 2), DJ_NO_MEMORY);
      assert_false(out.active);
    }
    X.in.scratch = scratch, X.in.nscratch = (int)(sizeof(scratch) / sizeof(scratch[0]));
    assert_int_equal(dj_frictionEval(&out, &state, &X.lagged, &X.in, 2), DJ_OK);
    assert_true(out.active);
    assert_true(fabs(out.value - few.value) < 1e-12 * few.value);
    assert_true(distance12(out.gradient, few.gradient, 12) < 1e-10 * norm12(few.gradient, 12));
    assert_true(distance12(out.hessian, few.hessian, 144) < 1e-9 * norm12(few.hessian, 144));
  }
}

// Results are added; no force or no friction adds nothing.
static void test_adds(void) {
  for (int half = 0; half < 2; half++) {
    Problem P;
    Instance X;
    djPairOutput out, before;
    djFrictionState state = {0};
    double jac[144];
    makeProblem(&P, 2, 3, 1e-4, 0.1, DJ_ARMS_PLANE, DJ_CAP_MAGNITUDE);
    P.half_space = half;
    djPairOutput once = evaluate(&P, NULL, NULL, 2);
    assert_true(once.active);
    makeInstance(&X, &P, NULL, NULL);
    memset(&out, 0, sizeof(out));
    for (int k = 0; k < 2; k++) {
      assert_int_equal(dj_frictionEval(&out, &state, &X.lagged, &X.in, 2), DJ_OK);
    }
    assert_true(fabs(out.value - 2 * once.value) < 1e-13 * out.value);
    assert_true(fabs(out.gradient[4] - 2 * once.gradient[4]) < 1e-10 * fabs(out.gradient[4]));
    before = out;
    for (int none = 0; none < 3; none++) {
      for (int i = 0; i < P.n; i++) X.force[i] = none == 0 ? 0 : P.force[i];
      X.in.friction = none == 1 ? 0 : 0.7;
      X.lagged.n = none == 2 ? 0 : P.n, X.lagged.na = none == 2 ? 0 : P.na;
      memset(jac, 0, sizeof(jac));
      djLaggedJac given = {.dforce = P.dforce};
      assert_int_equal(dj_frictionEval(&out, &state, &X.lagged, &X.in, 2), DJ_OK);
      assert_memory_equal(&out, &before, sizeof(out));
      assert_int_equal(dj_frictionStart(jac, NULL, &state, &X.lagged, &given, &X.in), DJ_OK);
      assert_true(norm12(jac, 144) == 0);
    }
    assert_int_equal(dj_frictionEval(&out, &state, &X.lagged, &X.in, 0), DJ_OK);   // value only
  }
}

static void test_bad_input(void) {
  for (int bad = 0; bad < 16; bad++) {
    for (int half = 0; half < 2; half++) {
      Problem P;
      Instance X;
      djPairOutput out = {0};
      djFrictionState state = {0};
      djLaggedJac given = {0};
      double jac[144] = {0};
      makeProblem(&P, 2, 3, 1e-4, 0.1, DJ_ARMS_PLANE, DJ_CAP_MAGNITUDE);
      P.half_space = half;
      makeInstance(&X, &P, NULL, NULL);
      given.dforce = P.dforce;
      switch (bad) {
        case 0: X.in.h = 0; break;
        case 1: X.in.h = -1; break;
        case 2: X.in.friction = -0.1; break;
        case 3: X.in.friction = NAN; break;
        case 4: X.lagged.law.eps = 0; break;
        case 5: X.lagged.law.eps = INFINITY; break;
        case 6: X.force[1] = -1; break;
        case 7: X.force[0] = NAN; break;
        case 8: X.force[1] = INFINITY; break;
        case 9: X.lagged.normal.x = 3; break;
        case 10: X.lagged.offset = NAN; break;
        case 11: X.lagged.na = 7; break;
        case 12: X.lagged.point = NULL; break;
        case 13: X.in.pose_b = NULL; break;
        case 14: X.now[0].p.y = NAN; break;
        case 15: X.point[3] = INFINITY; break;
      }
      assert_int_equal(dj_frictionEval(&out, &state, &X.lagged, &X.in, 2), DJ_INVALID);
      assert_int_equal(dj_frictionStart(jac, NULL, &state, &X.lagged, &given, &X.in), DJ_INVALID);
      assert_true(isfinite(state.w) && isfinite(state.u[0]));
    }
  }
  assert_int_equal(dj_frictionEval(NULL, NULL, NULL, NULL, 0), DJ_INVALID);
  assert_int_equal(dj_frictionStart(NULL, NULL, NULL, NULL, NULL, NULL), DJ_INVALID);
}

DJT_MAIN(test_balance, test_half_space, test_swap, test_rigid_motion, test_vanishing_force,
         test_degenerate, test_tiny_motion, test_warm_start, test_many_points, test_adds,
         test_bad_input)
