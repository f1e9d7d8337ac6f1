// The law of impacts: the rebound, the cone of friction, no energy won, the part that acts of slow
// ones, singular C, and cotangents against differences.

#include "common/near.h"
#include "common/random.h"
#include "common/random_vec.h"
#include "common/test.h"
#include "common/worst.h"
#include "integrate/impulse_law.h"

static const double kFriction[3] = {0, 0.3, 2}, kRestitution[3] = {0, 0.5, 1};

// C += f v v^T
static void addSquare(djMat3* C, double f, djVec3 v) {
  const double x[3] = {v.x, v.y, v.z};
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 3; k++) C->m[3 * i + k] += f * x[i] * x[k];
  }
}

// An approach at the speed u along n, of full rank.
static djImpact randomImpact(djRng* rng, double u, double least) {
  djImpact p = {.friction = 0.3, .restitution = 0.5, .least = least};
  p.n = djt_unit3(rng);
  p.w = djt_vec3(rng, 2);
  p.w = dju_madd3(p.w, -u - dju_dot3(p.n, p.w), p.n);
  for (int k = 0; k < 3; k++) addSquare(&p.C, 0.3, djt_vec3(rng, 1));
  for (int k = 0; k < 3; k++) p.C.m[4 * k] += 0.1;
  return p;
}

typedef struct After {
  double along, side;        // n.P, and the tangential part's size
  double rebound;            // normal velocity after
  double lost;               // energy
  double slide;              // tangential speed after
} After;

static After afterOf(const djImpact* p, djVec3 P) {
  djVec3 change = dju_mulMV(p->C, P), v = dju_add3(p->w, change);
  After s = {.along = dju_dot3(p->n, P)};
  s.side = dju_norm3(dju_madd3(P, -s.along, p->n));
  s.rebound = dju_dot3(p->n, v);
  s.slide = dju_norm3(dju_madd3(v, -s.rebound, p->n));
  s.lost = -(dju_dot3(p->w, P) + 0.5 * dju_dot3(P, change));
  return s;
}

// What holds of every whole impulse, to an error relative to the speed. Returns whether it slips.
static bool checkWhole(const djImpact* p, double error) {
  djVec3 P = {NAN, NAN, NAN};
  double u = -dju_dot3(p->n, p->w);
  assert_true(dj_impactImpulse(&P, p));
  After s = afterOf(p, P);
  double trace = p->C.m[0] + p->C.m[4] + p->C.m[8];   // it yields by 1e-9 of that
  djt_near(s.rebound, p->restitution * u, 1.01e-9 * trace * s.along + error * dju_norm3(p->w));
  assert_true(s.along >= 0);
  double cone = p->friction * s.along;
  assert_true(s.side <= cone * (1 + 1e-9) + 1e-12 * s.along);
  assert_true(s.lost >= -error * dju_dot3(p->w, p->w) / trace);
  return s.side >= cone * (1 - 1e-7);
}

static void testWhole(void) {
  djRng rng = {1};
  int slips[3] = {0};
  for (int i = 0; i < 9 * 500; i++) {
    double least = i % 2 ? 0.1 : 0, u = djt_uniform(&rng, 0.201, 3);
    djImpact p = randomImpact(&rng, u, least);
    p.friction = kFriction[i % 3];
    p.restitution = kRestitution[i / 3 % 3];
    slips[i % 3] += checkWhole(&p, 1e-10);
    if (i % 3 == 0) {
      // no friction: along n alone, and the energy of the normal motion
      djVec3 P, n = p.n;
      assert_true(dj_impactImpulse(&P, &p));
      double e = p.restitution, k = dju_dot3(n, dju_mulMV(p.C, n));
      djt_near(afterOf(&p, P).lost, 0.5 * (1 - e * e) * u * u / k, 1e-7 * u * u / k);
      djt_near(dju_dot3(n, P), (1 + e) * u / k, 1e-7 * u / k);
    }
  }
  print_message("slipping: %d, %d, %d of 1500\n", slips[0], slips[1], slips[2]);
  assert_int_equal(slips[0], 1500);
  assert_true(slips[1] > 500 && slips[1] < 1500);
  assert_true(slips[2] > 100 && slips[2] < 1000);
}

// The impulse that stops all motion.
static djVec3 stopOf(const djImpact* p) {
  djVec3 x = dju_column(&p->C, 0), y = dju_column(&p->C, 1), z = dju_column(&p->C, 2);
  double det = dju_dot3(x, dju_cross3(y, z));
  djVec3 b = dju_scale3(-1 / det, p->w);
  return dju_vec3(dju_dot3(b, dju_cross3(y, z)), dju_dot3(b, dju_cross3(z, x)),
                  dju_dot3(b, dju_cross3(x, y)));
}

// That and the bounce where it is within the cone; else an impulse on it, on the same side of n and
// as much as stops the normal motion too.
static void testStickAndSlip(void) {
  djRng rng = {2};
  int stuck = 0;
  for (int i = 0; i < 600; i++) {
    double u = djt_uniform(&rng, 0.3, 3);
    djImpact p = randomImpact(&rng, u, 0.1);
    djVec3 P, stop = stopOf(&p);
    p.friction = kFriction[i % 3];
    p.restitution = i % 2 ? 0 : 0.7;
    assert_true(dj_impactImpulse(&P, &p));
    double k = dju_dot3(p.n, dju_mulMV(p.C, p.n));
    djVec3 bounce = dju_madd3(stop, p.restitution * u / k, p.n);
    After s = afterOf(&p, P), full = afterOf(&p, bounce);
    if (full.side <= p.friction * full.along) {
      djt_near(dju_norm3(dju_sub3(P, bounce)), 0, 1e-7 * dju_norm3(bounce));
      if (p.restitution == 0) djt_near(s.slide, 0, 1e-7 * dju_norm3(p.w));
      stuck++;
      continue;
    }
    djt_near(s.side, p.friction * s.along, 1e-9 * s.along);
    djVec3 t = dju_madd3(bounce, -full.along, p.n), side = dju_madd3(P, -s.along, p.n);
    djt_near(dju_dot3(t, side), full.side * s.side, 1e-7 * full.side * s.side + 1e-12);
  }
  print_message("%d of 600 stick\n", stuck);
  assert_true(stuck > 50 && stuck < 500);
}

// Nothing happens at `least`, below, or apart; in between a part that is C1.
static void testSlow(void) {
  djRng rng = {3};
  enum { N = 400 };
  for (int i = 0; i < 20; i++) {
    double least = 0.1, part[N + 1], u = 0;
    djImpact p = randomImpact(&rng, 0, least);
    djVec3 P, level = p.w;
    p.friction = kFriction[i % 3];
    p.restitution = kRestitution[i / 3 % 3];
    for (int k = 0; k <= N; k++) {
      u = least * 2.4 * k / N;
      p.w = dju_madd3(level, -u, p.n);
      part[k] = 0;
      if (u > least * (1 + 1e-12)) {
        assert_true(dj_impactImpulse(&P, &p));
        part[k] = dju_dot3(p.n, dju_mulMV(p.C, P)) / ((1 + p.restitution) * u);
        assert_true(afterOf(&p, P).side <= p.friction * dju_dot3(p.n, P) * (1 + 1e-9) + 1e-12);
        assert_true(afterOf(&p, P).lost >= -1e-8);
      } else if (u < least * (1 - 1e-12)) {
        assert_false(dj_impactImpulse(&P, &p));
      }
      if (u >= 2 * least) djt_near(part[k], 1, 1e-7);
      if (k > 0) assert_true(part[k] >= part[k - 1] - 1e-7);
    }
    // no jump, and none of the slope: that of x^2 (3 - 2 x) changes by 6 at most
    double h = 2.4 / N;
    for (int k = 0; k < N; k++) assert_true(part[k + 1] - part[k] < 1.6 * h);
    for (int k = 1; k < N; k++) {
      djt_near(part[k + 1] - 2 * part[k] + part[k - 1], 0, 6.1 * h * h + 1e-7);
    }
    assert_true(part[N / 2 - 1] > 0.05 && part[N / 2 - 1] < 0.95);

    p.w = dju_scale3(-least, dju_vec3(0, 0, 1));
    p.n = dju_vec3(0, 0, 1);
    assert_false(dj_impactImpulse(&P, &p));     // at `least` itself
    p.least = 0;
    p.w = dju_vec3(1, -2, 0);
    assert_false(dj_impactImpulse(&P, &p));     // along each other
    p.w.z = 1;
    assert_false(dj_impactImpulse(&P, &p));     // apart
    p.w.z = -1e-6;
    assert_true(dj_impactImpulse(&P, &p));      // all are whole
    djt_near(afterOf(&p, P).rebound, 1e-6 * p.restitution, 1e-8);
    djImpactGrad grad;
    p.w.z = 1;
    dj_impactVjp(&grad, &p, dju_vec3(1, 1, 1));
    djt_near(djt_largest(&grad.n.x, 3) + djt_largest(&grad.w.x, 3) + djt_largest(grad.C.m, 9) +
                 fabs(grad.friction), 0, 0);
    p.w.z = -1;
    p.C = (djMat3){{0}};
    assert_false(dj_impactImpulse(&P, &p));     // nothing can move
  }
}

// Joints hold what is left: velocities are within the range of C. Bodies on slides along n also
// pass what moves across.
static void testHeld(void) {
  djRng rng = {4};
  int n = 0;
  for (int i = 0; i < 9 * 2000; i++) {
    djImpact p = {.least = 0.1};
    p.friction = kFriction[i % 3];
    p.restitution = kRestitution[i / 3 % 3];
    p.n = djt_unit3(&rng);
    djVec3 a = i / 9 % 4 < 2 ? p.n : djt_unit3(&rng), b = djt_unit3(&rng);
    double size = pow(10, djt_uniform(&rng, -2, 2));
    addSquare(&p.C, size, a);
    bool two = i / 9 % 2;
    if (two) addSquare(&p.C, size * djt_uniform(&rng, 0.2, 1), b);
    // rank 1 along n, but moving across; else in its range
    p.w = dju_scale3(djt_uniform(&rng, -3, 3), a);
    if (two) p.w = dju_madd3(p.w, djt_uniform(&rng, -3, 3), b);
    else if (i / 9 % 4 == 0)
      p.w = dju_add3(p.w, dju_cross3(p.n, djt_vec3(&rng, 1)));
    if (dju_dot3(p.n, p.w) > 0) p.w = dju_neg3(p.w);
    if (dju_dot3(p.n, p.w) > -0.2) continue;
    // so that yielding by 1e-9 stays small beside it
    if (dju_dot3(p.n, dju_mulMV(p.C, p.n)) < 0.1 * size) continue;
    n++;
    checkWhole(&p, 1e-6);
  }
  print_message("%d of 18000 held\n", n);
  assert_true(n > 9000);
}

// ---- cotangents -------------------------------------------------------------------------------

typedef struct Way {
  djVec3 n, w;
  djMat3 C;
  double friction, restitution;
} Way;

static double alongAt(const djImpact* p, const Way* way, djVec3 by, double s) {
  djImpact q = *p;
  djVec3 P = {NAN, NAN, NAN};
  q.n = dju_madd3(p->n, s, way->n);
  q.w = dju_madd3(p->w, s, way->w);
  for (int k = 0; k < 9; k++) q.C.m[k] += s * way->C.m[k];
  q.friction += s * way->friction;
  q.restitution += s * way->restitution;
  assert_true(dj_impactImpulse(&P, &q));
  return dju_dot3(by, P);
}

// 0: sticks, 1: slips, -1: almost the other.
static int regimeOf(const djImpact* p) {
  djImpact q = *p;
  djVec3 P;
  int slips[2];
  for (int k = 0; k < 2; k++) {
    q.friction = p->friction * (k ? 1.05 : 0.95);
    assert_true(dj_impactImpulse(&P, &q));
    After s = afterOf(&q, P);
    slips[k] = s.side >= q.friction * s.along * (1 - 1e-9);
  }
  return slips[0] == slips[1] ? slips[0] : -1;
}

static void testVjp(void) {
  djRng rng = {5};
  int count[2][2] = {{0}};
  double worst[5] = {0};
  for (int i = 0; i < 3000; i++) {
    bool part = i % 2;
    double u = djt_uniform(&rng, part ? 0.55 : 1.05, part ? 0.95 : 3);
    djImpact p = randomImpact(&rng, u, 0.5);
    p.friction = djt_uniform(&rng, 0.05, 2);
    p.restitution = kRestitution[i / 2 % 3];
    int regime = regimeOf(&p);
    if (regime < 0) continue;
    count[part][regime]++;
    djVec3 by = djt_vec3(&rng, 1);
    djImpactGrad grad;
    dj_impactVjp(&grad, &p, by);
    for (int a = 0; a < 3; a++) {
      for (int b = 0; b < a; b++) djt_near(grad.C.m[3 * a + b], grad.C.m[3 * b + a], 1e-12);
    }
    for (int kind = 0; kind < 5; kind++) {
      Way way = {.friction = kind == 3, .restitution = kind == 4};
      double slope = grad.friction * way.friction + grad.restitution * way.restitution;
      double size = fabs(slope), difference[2];
      if (kind == 0) {
        way.n = djt_unit3(&rng); // not across n alone
        slope = dju_dot3(grad.n, way.n);
        size = dju_norm3(grad.n);
      } else if (kind == 1) {
        way.w = djt_unit3(&rng);
        slope = dju_dot3(grad.w, way.w);
        size = dju_norm3(grad.w);
      } else if (kind == 2) {
        addSquare(&way.C, 0.5, djt_unit3(&rng));
        addSquare(&way.C, -0.5, djt_unit3(&rng));
        for (int k = 0; k < 9; k++) slope += grad.C.m[k] * way.C.m[k];
        size = djt_largest(grad.C.m, 9);
      }
      for (int k = 0; k < 2; k++) {
        double e = 4e-4 / (1 + k);
        difference[k] = (alongAt(&p, &way, by, e) - alongAt(&p, &way, by, -e)) / (2 * e);
      }
      double exact = (4 * difference[1] - difference[0]) / 3;
      worst[kind] = djt_worst(worst[kind], fabs(exact - slope) / (1e-2 + size));
      if (kind == 3 && !regime) djt_near(slope, 0, 0);
    }
  }
  print_message("stick %d, slip %d, in part %d, %d; n %.1e w %.1e C %.1e mu %.1e e %.1e\n", count[0][0],
                count[0][1], count[1][0], count[1][1], worst[0], worst[1], worst[2], worst[3],
                worst[4]);
  for (int k = 0; k < 4; k++) {
    assert_true(count[k / 2][k % 2] > 200);
    assert_true(worst[k] < 1e-6);
  }
  assert_true(worst[4] < 1e-6);
}

DJT_MAIN(testWhole, testStickAndSlip, testSlow, testHeld, testVjp)
