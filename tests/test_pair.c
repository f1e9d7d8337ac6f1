// Contact queries of single pairs (dijoco/contact.h): derivatives by vertices and twists against
// differences, geoms against their vertices, planes on either side, units, friction, bad input.

#include "common/pair_case.h"
#include "common/test.h"
#include "common/worst.h"

#include <dijoco/contact.h>

enum { MAXN = 24 };

// A pair of random vertex shapes: hulls of na and nb points at a gap in parts of the range.
typedef struct Pair {
  double a[3 * MAXN], b[3 * MAXN];
  djcShape sa, sb;
  djcOption option;
} Pair;

static double rangeOf(const djcOption* o) {
  return 2 * o->support * o->length_scale / (1 - o->support);
}

static void setPairGap(Pair* p, double gap) {
  for (int k = 0; k < 50; k++) {
    double now, n[3], xa[3], xb[3];
    assert_true(djc_distance(&now, n, xa, xb, &p->sa, &p->sb) >= 0);
    if (fabs(now - gap) < 1e-13 * p->option.length_scale) break;
    for (int i = 0; i < p->sb.nvert; i++) {
      for (int j = 0; j < 3; j++) p->b[3 * i + j] += (gap - now) * n[j];
    }
    for (int j = 0; j < 3; j++) p->sb.pos[j] += (gap - now) * n[j];
  }
}

static void makePair(Pair* p, Random* r, double part) {
  memset(p, 0, sizeof *p);
  double size = logUniform(r, 0.01, 10);
  p->option = djc_defaultOption();
  p->option.support = logUniform(r, 0.005, 0.2);
  p->option.length_scale = size;
  int na = 1 + below(r, MAXN), nb = 1 + below(r, MAXN);
  djVec3 place = dju_scale3(4 * size, randomUnit(r));
  for (int k = 0; k < 2; k++) {
    int n = k ? nb : na;
    double* v = k ? p->b : p->a;
    for (int i = 0; i < n; i++) {
      djVec3 x = dju_scale3(size, randomUnit(r));
      if (k) x = dju_add3(x, place);
      dju_store3(v + 3 * i, x);
    }
    djcShape* s = k ? &p->sb : &p->sa;
    s->nvert = n;
    s->vert = v;
    s->radius = below(r, 2) ? 0 : 0.3 * size;
    for (int j = 0; j < 3; j++) s->origin[j] = v[j] + size * uniform(r, -1, 1);
  }
  setPairGap(p, part * rangeOf(&p->option));
}

typedef struct Along {
  Pair* p;
  double base[2][3 * MAXN], dir[2][3 * MAXN];
} Along;

// Value and vertex gradients as vertices move.
static void byVertices(double* y, void* user, double e) {
  Along* A = user;
  Pair* p = A->p;
  djcResult result;
  for (int i = 0; i < 3 * p->sa.nvert; i++) p->a[i] = A->base[0][i] + e * A->dir[0][i];
  for (int i = 0; i < 3 * p->sb.nvert; i++) p->b[i] = A->base[1][i] + e * A->dir[1][i];
  int na = 3 * p->sa.nvert;
  assert_int_equal(djc_pair(&result, y + 1, y + 1 + na, NULL, &p->sa, &p->sb, &p->option), DJ_OK);
  y[0] = result.value;
}

static void testVertexDerivatives(void) {
  Random r = {1};
  static double hessian[36 * MAXN * MAXN];
  int tried = 0, good = 0;
  for (int i = 0; i < 150; i++) {
    Pair p;
    makePair(&p, &r, uniform(&r, 0.1, 0.97));
    Along A = {&p, {{0}}, {{0}}};
    memcpy(A.base[0], p.a, sizeof p.a);
    memcpy(A.base[1], p.b, sizeof p.b);
    int na = 3 * p.sa.nvert, nb = 3 * p.sb.nvert, n = na + nb;
    double g[6 * MAXN], v[6 * MAXN], Hv[6 * MAXN], y[1 + 6 * MAXN];
    djcResult result;
    assert_int_equal(djc_pair(&result, g, g + na, hessian, &p.sa, &p.sb, &p.option), DJ_OK);
    for (int j = 0; j < n; j++) v[j] = uniform(&r, -1, 1);
    memcpy(A.dir[0], v, (size_t)na * sizeof(double));
    memcpy(A.dir[1], v + na, (size_t)nb * sizeof(double));
    for (int j = 0; j < n; j++) Hv[j] = djt_dot(hessian + (size_t)j * n, v, n);
    double gscale = 0, hscale = djt_largest(Hv, n), gv = djt_dot(g, v, n);
    for (int j = 0; j < n; j++) gscale += fabs(g[j] * v[j]);
    bool passed = false;
    double range = rangeOf(&p.option);
    for (double step = 0.01 * range; step > 1e-6 * range && !passed; step *= 0.2) {
      double doubt = extrapolate(y, 1 + n, step, hscale, byVertices, &A);
      if (doubt > 1e-6) continue;
      passed = fabs(y[0] - gv) < 1e-7 * gscale;
      for (int j = 0; j < n; j++) passed = passed && fabs(y[1 + j] - Hv[j]) < 2e-7 * hscale;
      if (passed) assert_false(fabs(y[0] - gv - 1e-5 * gscale) < 1e-7 * gscale);
    }
    tried++;
    good += passed;
    // symmetric; vertices out of reach have none
    for (int j = 0; j < n; j++) {
      for (int k = 0; k < n; k++) {
        assert_true(hessian[(size_t)j * n + k] == hessian[(size_t)k * n + j]);
        if (g[j] == 0) assert_true(hessian[(size_t)j * n + k] == 0);
      }
    }
  }
  assert_int_equal(good, tried);
}

// The twist gradient and Hessian are those of the vertices: g.J and J^T H J + second order.
static void testTwists(void) {
  Random r = {2};
  static double hessian[36 * MAXN * MAXN];
  for (int i = 0; i < 100; i++) {
    Pair p;
    makePair(&p, &r, uniform(&r, 0.1, 0.97));
    int na = p.sa.nvert, nb = p.sb.nvert, n = 3 * (na + nb);
    double g[6 * MAXN], J[6 * MAXN][12], H2[12][12] = {{0}};
    djcResult result;
    assert_int_equal(djc_pair(&result, g, g + 3 * na, hessian, &p.sa, &p.sb, &p.option), DJ_OK);
    memset(J, 0, sizeof J);
    for (int j = 0; j < na + nb; j++) {
      const djcShape* s = j < na ? &p.sa : &p.sb;
      int side = j < na ? 0 : 6;
      djVec3 rho = dju_sub3(dju_load3(s->vert + 3 * (j < na ? j : j - na)), dju_load3(s->origin));
      djVec3 f = dju_load3(g + 3 * j);
      for (int k = 0; k < 3; k++) {
        djVec3 e = dju_vec3(k == 0, k == 1, k == 2), d = dju_cross3(e, rho);
        J[3 * j][side + k] = d.x;
        J[3 * j + 1][side + k] = d.y;
        J[3 * j + 2][side + k] = d.z;
        J[3 * j + k][side + 3 + k] = 1;
        for (int m = 0; m < 3; m++) {   // f . (e_k x (e_m x rho) + e_m x (e_k x rho))/2
          djVec3 h = dju_vec3(m == 0, m == 1, m == 2);
          djVec3 second = dju_add3(dju_cross3(e, dju_cross3(h, rho)),
                                   dju_cross3(h, dju_cross3(e, rho)));
          H2[side + k][side + m] += 0.5 * dju_dot3(f, second);
        }
      }
    }
    double gs = djt_largest(result.twist_gradient, 12), hs = djt_largest(result.twist_hessian, 144);
    for (int a = 0; a < 12; a++) {
      double sum = 0;
      for (int j = 0; j < n; j++) sum += g[j] * J[j][a];
      assert_true(fabs(sum - result.twist_gradient[a]) < 1e-11 * gs);
      for (int b = 0; b < 12; b++) {
        double h = H2[a][b];
        for (int j = 0; j < n; j++) {
          for (int k = 0; k < n && g[j] != 0; k++) {
            h += J[j][a] * hessian[(size_t)j * n + k] * J[k][b];
          }
        }
        assert_true(fabs(h - result.twist_hessian[12 * a + b]) < 1e-9 * hs);
      }
    }
  }
}

// The plane separates, in metres, with b on its positive side; the value does not depend on units.
static void testPlaneAndUnits(void) {
  Random r = {3};
  for (int i = 0; i < 200; i++) {
    Pair p;
    makePair(&p, &r, uniform(&r, 0.05, 0.97));
    djcResult result, scaled;
    double ga[3 * MAXN], gs[3 * MAXN];
    assert_int_equal(djc_pair(&result, ga, NULL, NULL, &p.sa, &p.sb, &p.option), DJ_OK);
    assert_int_equal(result.status, DJ_OK);
    assert_true(result.message[0] == 0 && result.has_plane && result.value > 0);
    assert_true(result.iterations > 0 && result.iterations < 40);
    double length = sqrt(djt_dot(result.plane, result.plane, 3));
    assert_true(length < 1 && length > 1 - p.option.support);
    for (int j = 0; j < p.sa.nvert; j++) {
      assert_true(djt_dot(result.plane, p.a + 3 * j, 3) + result.plane[3] < -length * p.sa.radius);
    }
    for (int j = 0; j < p.sb.nvert; j++) {
      assert_true(djt_dot(result.plane, p.b + 3 * j, 3) + result.plane[3] > length * p.sb.radius);
    }
    // millimetres
    double k = 1000;
    for (int j = 0; j < 3 * MAXN; j++) {
      p.a[j] *= k;
      p.b[j] *= k;
    }
    for (int j = 0; j < 3; j++) {
      p.sa.origin[j] *= k;
      p.sb.origin[j] *= k;
    }
    p.sa.radius *= k;
    p.sb.radius *= k;
    p.option.length_scale *= k;
    assert_int_equal(djc_pair(&scaled, gs, NULL, NULL, &p.sa, &p.sb, &p.option), DJ_OK);
    assert_true(fabs(scaled.value - result.value) <= 1e-10 * result.value);
    assert_true(fabs(scaled.gap - k * result.gap) <= 1e-9 * k * fabs(result.gap));
    assert_true(fabs(scaled.plane[3] - k * result.plane[3]) <=
                1e-9 * k * (fabs(result.plane[3]) + p.option.length_scale / k));
    double scale = djt_largest(ga, 3 * p.sa.nvert);
    for (int j = 0; j < 3 * p.sa.nvert; j++) assert_true(fabs(k * gs[j] - ga[j]) < 1e-9 * scale);
    assert_true(fabs(scaled.twist_hessian[0] - result.twist_hessian[0]) <=
                1e-8 * djt_largest(result.twist_hessian, 144));
  }
}

static djcShape geomShape(djGeomType type, double x, double y, double z, Random* r) {
  djcShape s = {.geom = type, .size = {x, y, z}};
  djQuat q = randomQuat(r);
  dju_store3(s.pos, dju_scale3(2, randomUnit(r)));
  dju_storeQuat(s.quat, q);
  for (int k = 0; k < 4; k++) s.quat[k] *= 3;   // need not be normalised
  for (int k = 0; k < 3; k++) s.origin[k] = s.pos[k] + uniform(r, -1, 1);
  return s;
}

// Geoms are their vertices with a radius; results turn round when the shapes change places.
static void testGeoms(void) {
  Random r = {4};
  static const djGeomType types[] = {DJ_SPHERE, DJ_CAPSULE,   DJ_BOX,
                                     DJ_PLANE,  DJ_ELLIPSOID, DJ_CYLINDER};
  for (int i = 0; i < 300; i++) {
    Pair p;
    memset(&p, 0, sizeof p);
    p.option = djc_defaultOption();
    p.option.support = 0.05;
    p.sa = geomShape(types[below(&r, 3)], 0.3, 0.5, 0.7, &r);
    p.sb = geomShape(types[below(&r, 6)], 0.6, 0.2, 0.4, &r);
    setPairGap(&p, uniform(&r, 0.1, 0.95) * rangeOf(&p.option));
    djcResult geom, vert, turned;
    assert_int_equal(djc_pair(&geom, NULL, NULL, NULL, &p.sa, &p.sb, &p.option), DJ_OK);
    assert_true(geom.value > 0 && geom.has_plane);
    // a as vertices
    djMat3 R = dju_quatToMat(dju_normalizeQuat(dju_loadQuat(p.sa.quat)));
    djcShape v = p.sa;
    double corner[24];
    v.nvert = p.sa.geom == DJ_SPHERE ? 1 : p.sa.geom == DJ_CAPSULE ? 2 : 8;
    v.radius = p.sa.geom == DJ_BOX ? 0 : 0.3;
    boxVertices(corner, 0.3, 0.5, 0.7);
    if (v.nvert == 1) memset(corner, 0, sizeof corner);
    if (v.nvert == 2) memcpy(corner, (double[6]){0, 0, 0.5, 0, 0, -0.5}, 6 * sizeof(double));
    for (int j = 0; j < v.nvert; j++) {
      dju_store3(p.a + 3 * j, dju_add3(dju_mulMV(R, dju_load3(corner + 3 * j)),
                                       dju_load3(p.sa.pos)));
    }
    v.vert = p.a;
    double ga[24];
    assert_int_equal(djc_pair(&vert, ga, NULL, NULL, &v, &p.sb, &p.option), DJ_OK);
    assert_true(fabs(vert.value - geom.value) <= 1e-10 * geom.value);
    double scale = djt_largest(geom.twist_hessian, 144);
    for (int j = 0; j < 144; j++) {
      assert_true(fabs(vert.twist_hessian[j] - geom.twist_hessian[j]) < 1e-8 * scale);
    }
    djVec3 sum = {0, 0, 0};
    for (int j = 0; j < v.nvert; j++) sum = dju_add3(sum, dju_load3(ga + 3 * j));
    djVec3 force = dju_load3(geom.twist_gradient + 3);
    assert_true(dju_norm3(dju_sub3(sum, force)) < 1e-9 * dju_norm3(force));
    // exchanged
    assert_int_equal(djc_pair(&turned, NULL, NULL, NULL, &p.sb, &p.sa, &p.option), DJ_OK);
    assert_true(fabs(turned.value - geom.value) <= 1e-10 * geom.value);
    assert_true(fabs(turned.gap - geom.gap) < 1e-12);
    for (int j = 0; j < 4; j++) {
      assert_true(fabs(turned.plane[j] + geom.plane[j]) < 1e-10 * (1 + fabs(geom.plane[j])));
    }
    for (int a = 0; a < 12; a++) {
      assert_true(fabs(turned.twist_gradient[a] - geom.twist_gradient[(a + 6) % 12]) <
                  1e-9 * djt_largest(geom.twist_gradient, 12));
      for (int b = 0; b < 12; b++) {
        assert_true(fabs(turned.twist_hessian[12 * a + b] -
                         geom.twist_hessian[12 * ((a + 6) % 12) + (b + 6) % 12]) < 1e-8 * scale);
      }
    }
    // distances
    double gap, n[3], xa[3], xb[3], m[3], ya[3], yb[3];
    assert_int_equal(djc_distance(&gap, n, xa, xb, &p.sa, &p.sb), DJ_OK);
    assert_true(fabs(gap - geom.gap) < 1e-14);
    assert_int_equal(djc_distance(&gap, m, ya, yb, &p.sb, &p.sa), DJ_OK);
    for (int j = 0; j < 3; j++) {
      assert_true(fabs(n[j] + m[j]) < 1e-8 && fabs(xa[j] + gap * n[j] - xb[j]) < 1e-11);
    }
  }
}

// An ellipsoid with equal axes is a sphere, with friction too.
static void testRound(void) {
  Random r = {12};
  for (int i = 0; i < 100; i++) {
    Pair p;
    makePair(&p, &r, 0.5);
    p.sa.vert = p.a;
    double size = p.option.length_scale;
    p.sb = geomShape(DJ_SPHERE, 0.5 * size, 0.5 * size, 0.5 * size, &r);
    for (int j = 0; j < 3; j++) p.sb.pos[j] += 4 * size;
    setPairGap(&p, 0.5 * rangeOf(&p.option));
    p.option.friction.enabled = true;
    p.option.friction.arms = DJ_ARMS_PLANE;
    for (int j = 0; j < 6; j++) p.option.friction.motion_b[j] = 1e-3 * uniform(&r, -1, 1);
    djcResult sphere, ellipsoid;
    assert_int_equal(djc_pair(&sphere, NULL, NULL, NULL, &p.sa, &p.sb, &p.option), DJ_OK);
    p.sb.geom = DJ_ELLIPSOID;
    assert_int_equal(djc_pair(&ellipsoid, NULL, NULL, NULL, &p.sa, &p.sb, &p.option), DJ_OK);
    assert_true(sphere.value > 0);
    assert_true(fabs(ellipsoid.gap - sphere.gap) < 1e-12 * size);
    assert_true(fabs(ellipsoid.value - sphere.value) < 1e-10 * sphere.value);
    double g = djt_largest(sphere.twist_gradient, 12), H = djt_largest(sphere.twist_hessian, 144);
    for (int j = 0; j < 12; j++) {
      assert_true(fabs(ellipsoid.twist_gradient[j] - sphere.twist_gradient[j]) < 1e-9 * g);
    }
    for (int j = 0; j < 144; j++) {
      assert_true(fabs(ellipsoid.twist_hessian[j] - sphere.twist_hessian[j]) < 1e-8 * H);
    }
    double w = djt_largest(sphere.friction_wrench_b, 6);
    assert_true(w > 0);
    for (int j = 0; j < 6; j++) {
      assert_true(fabs(ellipsoid.friction_wrench_b[j] - sphere.friction_wrench_b[j]) < 1e-7 * w);
    }
  }
}

// Overlapping: status ok, infinite, derivatives zero, no plane. Apart: all zero.
static void testOverlapAndApart(void) {
  Random r = {5};
  static double hessian[36 * MAXN * MAXN];
  for (int i = 0; i < 100; i++) {
    Pair p;
    double ga[3 * MAXN], gb[3 * MAXN];
    djcResult result;
    makePair(&p, &r, 1.0001);
    p.option.friction.enabled = i % 2;
    memset(ga, 0xff, sizeof ga);
    memset(hessian, 0xff, sizeof hessian);
    assert_int_equal(djc_pair(&result, ga, gb, hessian, &p.sa, &p.sb, &p.option), DJ_OK);
    int n = 3 * (p.sa.nvert + p.sb.nvert);
    assert_true(result.value == 0 && !result.has_plane && result.gap > 0);
    assert_true(djt_largest(result.twist_gradient, 12) == 0);
    assert_true(djt_largest(ga, 3 * p.sa.nvert) == 0);
    assert_true(djt_largest(hessian, n * n) == 0 && result.friction_value == 0);
    double depth = -0.2 * p.option.length_scale * (p.sa.radius + p.sb.radius > 0);
    if (depth == 0) continue;
    setPairGap(&p, depth);
    assert_int_equal(djc_pair(&result, ga, gb, hessian, &p.sa, &p.sb, &p.option), DJ_OK);
    assert_true(isinf(result.value) && result.value > 0 && !result.has_plane);
    assert_true(fabs(result.gap - depth) < 1e-9 * p.option.length_scale);
    assert_true(djt_largest(result.twist_hessian, 144) == 0);
    assert_true(djt_largest(gb, 3 * p.sb.nvert) == 0);
  }
}

// ------------------------------------------ friction -------------------------------------------

typedef struct Slide {
  Pair* p;
  double dir[12];
} Slide;

static void byMotion(double* y, void* user, double e) {
  Slide* S = user;
  Pair* p = S->p;
  djcFriction saved = p->option.friction;
  djcResult result;
  // a further twist of the moved body about its moved origin: exp(e w) exp(rotation)
  for (int k = 0; k < 2; k++) {
    double* motion = k ? p->option.friction.motion_b : p->option.friction.motion_a;
    djMat3 Q = dju_mulMM(turn(dju_scale3(e, dju_load3(S->dir + 6 * k))), turn(dju_load3(motion)));
    // rotation vector of Q, angle below pi
    double angle = acos(fmin(1, 0.5 * (Q.m[0] + Q.m[4] + Q.m[8] - 1)));
    djVec3 w = {Q.m[7] - Q.m[5], Q.m[2] - Q.m[6], Q.m[3] - Q.m[1]};
    double s = dju_norm3(w);
    dju_store3(motion, dju_scale3(angle / s, w));
    for (int j = 0; j < 3; j++) motion[3 + j] += e * S->dir[6 * k + 3 + j];
  }
  assert_int_equal(djc_pair(&result, NULL, NULL, NULL, &p->sa, &p->sb, &p->option), DJ_OK);
  y[0] = result.friction_value;
  p->option.friction = saved;
}

// Wrenches are minus the derivative by twists of the moved bodies; they oppose the motion, balance,
// and do not exceed the coefficient times the normal force.
static void testFriction(void) {
  Random r = {6};
  for (int i = 0; i < 80; i++) {
    Pair p;
    djcResult result, turned;
    makePair(&p, &r, uniform(&r, 0.2, 0.9));
    if (i % 4 == 3) {
      p.sb = (djcShape){.geom = DJ_PLANE, .quat = {1, 0.2, 0.3, 0.1}};
      setPairGap(&p, 0.5 * rangeOf(&p.option));
    }
    djcFriction* f = &p.option.friction;
    double L = p.option.length_scale;
    f->enabled = true;
    f->coefficient = uniform(&r, 0.1, 1);
    f->dt = 0.01;
    f->eps = 1e-2 * L * L;
    f->arms = i % 2 ? DJ_ARMS_PLANE : DJ_ARMS_PAPER;
    f->cap = i % 8 < 4 ? DJ_CAP_MAGNITUDE : DJ_CAP_PAPER;
    for (int j = 0; j < 6; j++) {
      f->motion_a[j] = 0.02 * (j < 3 ? 1 : L) * uniform(&r, -1, 1);
      f->motion_b[j] = 0.02 * (j < 3 ? 1 : L) * uniform(&r, -1, 1);
    }
    assert_int_equal(djc_pair(&result, NULL, NULL, NULL, &p.sa, &p.sb, &p.option), DJ_OK);
    assert_true(result.friction_value > 0);
    const double *wa = result.friction_wrench_a, *wb = result.friction_wrench_b;
    djVec3 fa = dju_load3(wa + 3), fb = dju_load3(wb + 3);
    assert_true(dju_norm3(dju_add3(fa, fb)) < 1e-9 * dju_norm3(fa));
    double normal = dju_norm3(dju_load3(result.twist_gradient + 3));
    assert_true(dju_norm3(fa) < (1 + 1e-12) * f->coefficient * normal);
    Slide S = {&p, {0}};
    double scale = fmax(djt_largest(wa, 6), djt_largest(wb, 6)) * fmax(1, 1 / L);
    for (int j = 0; j < 12; j++) {
      double y[1];
      memset(S.dir, 0, sizeof S.dir);
      S.dir[j] = 1;
      extrapolate(y, 1, j % 6 < 3 ? 2e-4 : 2e-4 * L, 1, byMotion, &S);
      double w = j < 6 ? wa[j] : wb[j - 6];
      assert_true(fabs(y[0] + w) < 1e-6 * scale);
    }
    // exchanged
    djcOption other = p.option;
    memcpy(other.friction.motion_a, f->motion_b, sizeof f->motion_b);
    memcpy(other.friction.motion_b, f->motion_a, sizeof f->motion_a);
    assert_int_equal(djc_pair(&turned, NULL, NULL, NULL, &p.sb, &p.sa, &other), DJ_OK);
    assert_true(fabs(turned.friction_value - result.friction_value) <=
                1e-8 * result.friction_value);
    for (int j = 0; j < 6; j++) {
      assert_true(fabs(turned.friction_wrench_a[j] - wb[j]) < 1e-7 * scale);
      assert_true(fabs(turned.friction_wrench_b[j] - wa[j]) < 1e-7 * scale);
    }
    // no coefficient, no friction
    f->coefficient = 0;
    assert_int_equal(djc_pair(&result, NULL, NULL, NULL, &p.sa, &p.sb, &p.option), DJ_OK);
    assert_true(result.friction_value == 0 && djt_largest(result.friction_wrench_a, 6) == 0);
  }
}

// ------------------------------------------ bad input ------------------------------------------

static void testBadInput(void) {
  Random r = {7};
  Pair good, p;
  djcResult result;
  double out[3 * MAXN], x[4][3];
  static double hessian[36 * MAXN * MAXN];
  makePair(&good, &r, 0.5);
  good.sa.vert = good.a;
  good.option.friction.enabled = true;
#define BAD(expected, change)                                                                  \
  do {                                                                                         \
    p = good;                                                                                  \
    p.sa.vert = p.a;                                                                           \
    p.sb.vert = p.b;                                                                           \
    change;                                                                                    \
    assert_int_equal(djc_pair(&result, out, NULL, NULL, &p.sa, &p.sb, &p.option), expected);   \
    assert_int_equal(result.status, expected);                                                 \
    assert_true(result.message[0] != 0);                                                       \
  } while (0)
  BAD(DJ_INVALID, p.option.model = DJ_CONTACT_NONE);
  BAD(DJ_INVALID, p.option.model = (djContactModel)77);
  BAD(DJ_INVALID, p.option.support = 0);
  BAD(DJ_INVALID, p.option.support = 1);
  BAD(DJ_INVALID, p.option.support = NAN);
  BAD(DJ_INVALID, p.option.length_scale = 0);
  BAD(DJ_INVALID, p.option.length_scale = INFINITY);
  BAD(DJ_INVALID, p.option.friction.coefficient = -1);
  BAD(DJ_INVALID, p.option.friction.dt = 0);
  BAD(DJ_INVALID, p.option.friction.eps = 0);
  BAD(DJ_INVALID, p.option.friction.eps = NAN);
  BAD(DJ_INVALID, p.option.friction.motion_a[2] = NAN);
  BAD(DJ_INVALID, p.option.friction.arms = (djArms)9);
  BAD(DJ_INVALID, p.option.friction.cap = (djCap)9);
  BAD(DJ_INVALID, p.sa.nvert = -1);
  BAD(DJ_INVALID, p.sa.nvert = 2000000000);
  BAD(DJ_INVALID, p.sa.vert = NULL);
  BAD(DJ_INVALID, p.a[0] = NAN);
  BAD(DJ_INVALID, p.b[1] = INFINITY);
  BAD(DJ_INVALID, p.b[1] = 1e308);
  BAD(DJ_INVALID, p.sa.radius = -1);
  BAD(DJ_INVALID, p.sb.radius = NAN);
  BAD(DJ_INVALID, p.sb.origin[0] = NAN);
  djcShape geom = {.geom = DJ_BOX, .size = {1, 1, 1}, .quat = {1, 0, 0, 0}};
  BAD(DJ_INVALID, (p.sa = geom, p.sa.geom = DJ_ELLIPSOID, p.sa.size[2] = 0));
  BAD(DJ_INVALID, (p.sb = geom, p.sb.geom = DJ_CYLINDER, p.sb.size[1] = -1));
  BAD(DJ_UNSUPPORTED, (p.sb = geom, p.sb.geom = DJ_HFIELD));
  BAD(DJ_INVALID, (p.sb = geom, p.sb.geom = DJ_MESH));
  BAD(DJ_INVALID, (p.sb = geom, p.sb.geom = (djGeomType)99));
  BAD(DJ_INVALID, (p.sb = geom, p.sb.geom = (djGeomType)-2));
  BAD(DJ_INVALID, (p.sa = geom, p.sa.size[2] = 0));
  BAD(DJ_INVALID, (p.sa = geom, p.sa.size[1] = NAN));
  BAD(DJ_INVALID, (p.sa = geom, p.sa.quat[0] = 0));
  BAD(DJ_INVALID, (p.sa = geom, p.sa.pos[0] = INFINITY));
  BAD(DJ_INVALID, (p.sa = geom, p.sa.geom = DJ_PLANE, p.sb = p.sa));
#undef BAD
  assert_int_equal(djc_pair(NULL, NULL, NULL, NULL, &good.sa, &good.sb, &good.option), DJ_INVALID);
  assert_int_equal(djc_pair(&result, NULL, NULL, NULL, NULL, &good.sb, &good.option), DJ_INVALID);
  assert_int_equal(djc_pair(&result, NULL, NULL, NULL, &good.sa, NULL, &good.option), DJ_INVALID);
  assert_int_equal(djc_pair(&result, NULL, NULL, NULL, &good.sa, &good.sb, NULL), DJ_INVALID);
  assert_int_equal(djc_pair(&result, NULL, NULL, hessian, &geom, &good.sb, &good.option),
                   DJ_INVALID);
  assert_int_equal(djc_distance(x[0], x[1], x[2], x[3], &good.sa, NULL), DJ_INVALID);
  assert_int_equal(djc_distance(NULL, x[1], x[2], x[3], &good.sa, &good.sb), DJ_INVALID);
  // unused sizes may be anything
  geom.geom = DJ_SPHERE;
  geom.size[1] = geom.size[2] = -1;
  assert_int_equal(djc_pair(&result, NULL, NULL, NULL, &geom, &geom, &good.option), DJ_OK);
}

// Flat, straight and repeated vertices, one vertex; inner vertices; far from the origin.
static void testDegenerate(void) {
  const double square[12] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0};
  const double line[9] = {0, 0, 0.03, 0.5, 0.5, 0.03, 1, 1, 0.03};
  const double same[9] = {0.5, 0.5, 0.03, 0.5, 0.5, 0.03, 0.5, 0.5, 0.03};
  djcOption option = djc_defaultOption();
  option.support = 0.02;
  djcShape a = {.nvert = 4, .vert = square}, b = {.nvert = 3, .vert = line}, c = b;
  djcResult result, once;
  assert_int_equal(djc_pair(&result, NULL, NULL, NULL, &a, &b, &option), DJ_OK);
  assert_true(result.value > 0 && fabs(result.gap - 0.03) < 1e-15);
  // repeated vertices count as often as they are given (SDRS sums over vertices)
  c.vert = same;
  assert_int_equal(djc_pair(&result, NULL, NULL, NULL, &a, &c, &option), DJ_OK);
  c.nvert = 1;
  assert_int_equal(djc_pair(&once, NULL, NULL, NULL, &a, &c, &option), DJ_OK);
  assert_true(result.value > once.value && once.value > 0);
  // planes through both
  double moved[12], line2[9];
  for (int i = 0; i < 12; i++) moved[i] = square[i] + 1e6;
  for (int i = 0; i < 9; i++) line2[i] = line[i] + 1e6;
  djcShape far_a = {.nvert = 4, .vert = moved, .origin = {1e6, 1e6, 1e6}};
  djcShape far_b = {.nvert = 3, .vert = line2, .origin = {1e6, 1e6, 1e6}};
  djcResult near, far;
  assert_int_equal(djc_pair(&near, NULL, NULL, NULL, &a, &b, &option), DJ_OK);
  assert_int_equal(djc_pair(&far, NULL, NULL, NULL, &far_a, &far_b, &option), DJ_OK);
  assert_true(fabs(far.value - near.value) < 1e-6 * near.value);   // 1e6 + 0.03 is rounded
  for (int i = 0; i < 144; i++) {
    assert_true(fabs(far.twist_hessian[i] - near.twist_hessian[i]) <
                1e-5 * djt_largest(near.twist_hessian, 144));
  }
  // touching exactly
  c = b;
  double touching[9] = {0, 0, 0, 0.5, 0.5, 0.5, 1, 1, 1};
  c.vert = touching;
  assert_int_equal(djc_pair(&result, NULL, NULL, NULL, &a, &c, &option), DJ_OK);
  assert_true(isinf(result.value) && !result.has_plane);
}

DJT_MAIN(testVertexDerivatives, testTwists, testPlaneAndUnits, testGeoms, testRound,
         testOverlapAndApart, testFriction, testBadInput, testDegenerate)
