// Distance of convex polytopes: Gilbert, Johnson, Keerthi 1988. In each round the vertex of A - B
// that is farthest along -v joins the simplex, and v becomes the simplex's point nearest to the
// origin. v.w/|v| is a lower bound of the distance, |v| an upper one. Rounding can make the method
// cycle where faces are nearly parallel: a round that does not lower |v| ends it, and the simplex
// before it stands.

#include "shape/minkowski.h"
#include "shape/support.h"

#include <float.h>

#define MAX_ROUNDS 128

static void initCore(djCore* c, const djShape* s, const djPose* pose, double e, djVec3 origin) {
  c->shape = s;
  c->e = e;
  c->R = pose->R;
  c->p = dju_sub3(pose->p, origin);
  c->curved = s->curved;
  if (!s->curved) return;
  djMat3 G = s->curve;
  for (int i = 0; i < 9; i++) G.m[i] -= e * s->curve_move.m[i];
  c->curve = dju_mulMM(c->R, G);
}

void dj_initMinkowski(djMinkowski* m, const djShape* a, const djPose* pose_a, double e_a,
                      const djShape* b, const djPose* pose_b, double e_b) {
  m->origin = pose_a->p;
  initCore(&m->a, a, pose_a, e_a, m->origin);
  initCore(&m->b, b, pose_b, e_b, m->origin);
  // A's centre as origin, without rounding through its world position.
  djVec3 shift = dju_mulMV(pose_a->R, a->center);
  m->a.p = dju_sub3(m->a.p, shift);
  m->b.p = dju_sub3(m->b.p, shift);
  m->origin = dju_add3(m->origin, shift);
  m->scale = 0;
  if (m->a.curved) m->scale += dj_curveSize(&m->a.curve);
  if (m->b.curved) m->scale += dj_curveSize(&m->b.curve);
}

static djVec3 corePoint(const djCore* c, int i) {
  return dju_add3(dju_mulMV(c->R, dj_erodedVertex(c->shape, c->e, i)), c->p);
}

static int supportCore(const djCore* c, djVec3 d) {
  if (c->shape->nvert == 1) return 0;
  return dj_farthestVertex(c->shape, c->e, dju_mulMtV(c->R, d));
}

djSupport dj_minkowskiPoint(djMinkowski* m, int ia, int ib) {
  djSupport p = {.a = corePoint(&m->a, ia), .b = corePoint(&m->b, ib), .ia = ia, .ib = ib};
  p.w = dju_sub3(p.a, p.b);
  double size = fabs(p.a.x) + fabs(p.a.y) + fabs(p.a.z) + fabs(p.b.x) + fabs(p.b.y) + fabs(p.b.z);
  if (size > m->scale) m->scale = size;
  return p;
}

djSupport dj_minkowskiVertices(djMinkowski* m, djVec3 d) {
  return dj_minkowskiPoint(m, supportCore(&m->a, d), supportCore(&m->b, dju_neg3(d)));
}

djSupport dj_minkowskiSupport(djMinkowski* m, djVec3 d) {
  djSupport p = dj_minkowskiVertices(m, d);
  djVec3 c;
  if (m->a.curved) {
    dj_curveReach(&c, NULL, &m->a.curve, d);
    p.a = dju_add3(p.a, c);
  }
  if (m->b.curved) {
    dj_curveReach(&c, NULL, &m->b.curve, d);
    p.b = dju_sub3(p.b, c);
  }
  if (m->a.curved || m->b.curved) p.w = dju_sub3(p.a, p.b);
  return p;
}

static bool holds(const djSimplex* s, const djSupport* p) {
  for (int i = 0; i < s->n; i++) {
    if (s->p[i].ia == p->ia && s->p[i].ib == p->ib) return true;
  }
  return false;
}

// Normal of three points, towards the origin's far side as v is; false for slivers.
static bool normalOf(djVec3* n, djVec3 a, djVec3 b, djVec3 c, djVec3 v) {
  djVec3 ab = dju_sub3(b, a), ac = dju_sub3(c, a);
  *n = dju_cross3(ab, ac);
  double length = dju_norm3(*n);
  if (!(length > 1e-8 * dju_norm3(ab) * dju_norm3(ac))) return false;
  *n = dju_scale3((dju_dot3(*n, v) < 0 ? -1 : 1) / length, *n);
  return true;
}

// A sliver as last simplex leaves the normal uncertain. The distance is also the largest lower
// bound, max over unit n of min w.n; the best n over the points known so far is the normal of
// three of them. Repeat with the point that its bound adds. Returns the bound; *v is n times it.
static double refineNormal(djVec3* v, double lower, const djSimplex* s, djMinkowski* m) {
  enum { MAX_POOL = 8 };
  djVec3 pool[MAX_POOL], v0 = *v, n = dju_scale3(1 / dju_norm3(v0), v0);
  int npool = 0;
  for (int i = 0; i < s->n; i++) pool[npool++] = s->p[i].w;
  while (npool < MAX_POOL) {
    pool[npool++] = dj_minkowskiSupport(m, dju_neg3(n)).w;
    double best = -INFINITY;
    for (int i = 0; i < npool; i++) {
      for (int j = 0; j < i; j++) {
        for (int k = 0; k < j; k++) {
          djVec3 trial;
          if (!normalOf(&trial, pool[i], pool[j], pool[k], v0)) continue;
          double bound = INFINITY;
          for (int l = 0; l < npool; l++) bound = fmin(bound, dju_dot3(trial, pool[l]));
          if (bound > best) {
            best = bound;
            n = trial;
          }
        }
      }
    }
    if (!(best > fmax(lower, 0))) break;
    double bound = dju_dot3(n, dj_minkowskiSupport(m, dju_neg3(n)).w);
    if (bound > fmax(lower, 0)) {
      lower = bound;
      *v = dju_scale3(bound, n);
    }
    if (best - bound <= 4 * DBL_EPSILON * m->scale) break;
  }
  return lower;
}

// Where faces are nearly parallel, by an angle t, |v| is flat to order t^2 while the normal, and so
// the lower bound, is not: below t = 1e-8 rounding hides the progress of |v|. Rounds therefore go
// on while either improves; the result is the best lower bound of those with the least |v|.
bool dj_gjk(djVec3* v, double* bound, djSimplex* s, int* iterations, djMinkowski* m) {
  *iterations = 0;
  if (dj_reduceSimplex(v, s)) return false;
  djSimplex at = *s;
  djVec3 u = *v;
  double uu = dju_dot3(u, u), best = -INFINITY;
  for (int idle = 0; *iterations < MAX_ROUNDS; ++*iterations) {
    if (uu <= 1e-26 * m->scale * m->scale) {
      *s = at;
      return false;
    }
    djSupport p = dj_minkowskiSupport(m, dju_neg3(u));
    double length = sqrt(uu), lower = dju_dot3(u, p.w) / length;
    if (lower > best) {
      best = lower;
      *s = at;
      *v = u;
      idle = 0;
    }
    if (holds(&at, &p) || length - lower <= 2 * DBL_EPSILON * m->scale || idle > 4) break;
    at.p[at.n++] = p;
    if (dj_reduceSimplex(&u, &at)) {
      *s = at;
      return false;
    }
    double before = uu;
    uu = dju_dot3(u, u);
    idle++;
    if (uu < (1 - 1e-12) * before) {   // nearer: bounds of the rounds before are worth less
      best = -INFINITY;
      idle = 0;
    }
    if (!(uu <= (1 + 1e-12) * before)) break;
  }
  if (!(best > -INFINITY)) {   // rounds ended before this one had its bound
    *s = at;
    *v = u;
    best = dju_dot3(u, dj_minkowskiSupport(m, dju_neg3(u)).w) / sqrt(uu);
  }
  double length = dju_norm3(*v);
  if (length - best > 64 * DBL_EPSILON * m->scale) best = refineNormal(v, best, s, m);
  *bound = best;
  // Nearly touching and no normal found that separates: as if touching.
  return best > 0 || length > 1e-9 * m->scale;
}
