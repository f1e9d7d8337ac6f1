// lambda . gradient is how U changes along the motion lambda. Its derivative by a number of a shape
// is then how dU/dnumber changes along that motion: the recursion of mean_distance.h is gone
// through once for L of all pairs and their changes, then from the roots on for cotangents and
// theirs. A number with its change is a dual number here.
//
// Without a motion, and with the cotangent of L as its change, changes are what cotangents of U
// would be: so U itself is differentiated by shapes.
//
// In a's own frame the cotangent of a point that a carries is R^T y, which changes by
// R^T (dy - w x y).

#include "contact/triangles/long_range_vjp.h"

#include "contact/triangles/long_range.h"
#include "contact/triangles/long_range_shape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ------------------------------------------ dual numbers ---------------------------------------

typedef struct Dual {
  double x, d;
} Dual;

static Dual minus(Dual a, Dual b) { return (Dual){a.x - b.x, a.d - b.d}; }
static Dual times(Dual a, Dual b) { return (Dual){a.x * b.x, a.x * b.d + a.d * b.x}; }
static Dual scaled(double s, Dual a) { return (Dual){s * a.x, s * a.d}; }
static Dual shifted(Dual a, double s) { return (Dual){a.x + s, a.d}; }
static Dual over(Dual a, Dual b) {
  const double q = a.x / b.x;
  return (Dual){q, (a.d - q * b.d) / b.x};
}
static Dual exponential(Dual a) {
  const double e = exp(a.x);
  return (Dual){e, e * a.d};
}
static Dual root(Dual a) {
  const double r = sqrt(a.x);
  return (Dual){r, 0.5 * a.d / r};
}

typedef struct DualVec {
  djVec3 x, d;
} DualVec;

static DualVec timesVec(Dual s, DualVec v) {
  return (DualVec){dju_scale3(s.x, v.x), dju_madd3(dju_scale3(s.x, v.d), s.d, v.x)};
}

// ------------------------------------------ pairs ----------------------------------------------

typedef struct Way {
  const djMeanPair* p;
  const djMeanTape* tape;
  size_t at;                 // of the tape
  djVec3 w, v;               // the motion, about p->c, in b's frame
  djSphereGrad *by_a, *by_b; // (nodes) changes of cotangents, each in its own frame
  double* const* vert_a;
  double* const* vert_b;
} Way;

// The change of a cotangent of a point of a, in a's frame.
static djVec3 ofA(const djMat3* R, djVec3 w, DualVec y) {
  return dju_mulMtV(*R, dju_sub3(y.d, dju_cross3(w, y.x)));
}

static void addVertex(double* const vert[3], const djSphereTree* t, int triangle, int k,
                      djVec3 by) {
  const int i = (int)t->tri[3 * triangle + k];
  vert[0][i] += by.x;
  vert[1][i] += by.y;
  vert[2][i] += by.z;
}

// By s = |x_a - x_b|^2.
static void takeSquare(const Way* way, Dual bar, int i, int j) {
  const djMeanPair* p = way->p;
  const djVec3 xa = dju_transform(&p->place, dju_load3(p->a->node[i].x));
  const djVec3 move = dju_add3(way->v, dju_cross3(way->w, dju_sub3(xa, p->c)));
  const DualVec d = {dju_sub3(xa, dju_load3(p->b->node[j].x)), move};
  const DualVec y = timesVec(scaled(2, bar), d);
  dju_addTo3(way->by_a[i].x, 1, ofA(&p->place.R, way->w, y));
  dju_addTo3(way->by_b[j].x, -1, y.d);
}

// By L = log(s + V)/2.
static void takeFar(const Way* way, Dual bar, Dual square, double V, int i, int j) {
  const Dual by = over(scaled(0.5, bar), shifted(square, V));
  way->by_a[i].V += by.d;
  way->by_b[j].V += by.d;
  takeSquare(way, by, i, j);
}

// ---- triangles

// How the plane and its distances change along the motion.
typedef struct Turning {
  djVec3 n;
  double x[6], P;
} Turning;

static void turnPlane(Turning* out, const Way* way, const djTrianglePlane* t, djVec3 c) {
  djVec3 by = {0, 0, 0}, move[3], v = dju_scale3(1 / t->l, way->v);
  double by_o = 0, dO;
  out->P = 0;
  for (int k = 0; k < 3; k++) {
    move[k] = dju_add3(v, dju_cross3(way->w, dju_sub3(t->v[k], c)));
    const double along = dju_dot3(t->n, move[k]), bend = t->bend[k] * along;
    by = dju_madd3(dju_madd3(by, bend, t->v[k]), t->force[k], move[k]);
    by_o += bend;
    out->P += t->force[k] * along;
  }
  dj_movePlane(&out->n, &dO, t, dju_neg3(by), -by_o);
  for (int k = 0; k < 6; k++) {
    const double moved = k < 3 ? dju_dot3(t->n, move[k]) : 0;
    out->x[k] = (k < 3 ? -1 : 1) * (moved + dju_dot3(out->n, t->v[k]) + dO);
  }
}

static void takeLeaf(const Way* way, Dual bar, int i, int j) {
  const djMeanPair* p = way->p;
  const djSphereNode *a = &p->a->node[i], *b = &p->b->node[j];
  const double q = DJ_MEAN_Q, alpha = DJ_MEAN_ALPHA, V = a->V + b->V;
  djTrianglePlane t;
  Turning turning;
  djVec3 c;
  dj_leafPlane(&t, &c, p, a, b);
  turnPlane(&turning, way, &t, c);
  const double l = t.l, cube = cbrt(t.P / DJ_TRIANGLE_C), one = 1;
  const Dual P = {t.P, turning.P}, E = {cube, cube * P.d / (3 * P.x)}, F = shifted(E, -one);
  const Dual rho = over((Dual){l, 0}, times(F, root(F))), square = times(rho, rho);
  const Dual part = over(square, shifted(square, V));
  // L = (alpha log rho + (q - alpha) log(rho^2 + V)/2)/q; log rho by log P and log l
  const Dual slope = times(bar, scaled(1 / q, shifted(scaled(q - alpha, part), alpha)));
  const Dual by_P = times(slope, scaled(-0.5, over(E, F)));
  Dual by_l = over(scaled(-1, slope), F);
  const Dual by_V = over(scaled(0.5 * (q - alpha) / q, bar), shifted(square, V));
  // P at a fixed plane: c l^-2 (1 - |n|)^-2 + ...
  const double norm = dju_norm3(t.n);
  const Dual room = {1 - norm, -dju_dot3(t.n, turning.n) / norm};
  const Dual share = over(over((Dual){2 * DJ_TRIANGLE_C, 0}, times(room, room)), P);
  by_l = minus(by_l, times(by_P, share));
  way->by_a[i].V += by_V.d;
  way->by_b[j].V += by_V.d;
  way->by_a[i].R += by_l.d / l;
  way->by_b[j].R += by_l.d / l;
  for (int k = 0; k < 6; k++) {
    const Dual force = {t.force[k], -t.bend[k] * turning.x[k]};
    const Dual by = scaled(1 / l, times(over(by_P, P), force));
    const DualVec y = timesVec(by, (DualVec){t.n, turning.n});
    if (k < 3)
      addVertex(way->vert_a, p->a, (int)a->first, k, ofA(&p->place.R, way->w, y));
    else
      addVertex(way->vert_b, p->b, (int)b->first, k - 3, dju_neg3(y.d));
  }
}

// ---- nodes

static void takePair(Way* way, Dual bar, int i, int j);

static Dual recorded(const double x[2]) { return (Dual){x[0], x[1]}; }

// Visits the children's records as the tape has them. By L_ch, of pairs with the parts
// p = w exp(-q (L - L_ch)): of a pair p, of log w -p/q.
static void takeChildren(Way* way, Dual bar, Dual near, int i, int j) {
  const djMeanPair* p = way->p;
  const djSphereNode *a = p->a->node, *b = p->b->node;
  djMeanChild child[4];
  if (!(a[i].right > 0) && !(b[j].right > 0)) {
    takeLeaf(way, bar, i, j);
    return;
  }
  const double each = 1 / DJ_MEAN_Q;
  const int n = dj_orderChildren(child, p, i, j);
  way->by_a[i].m += each * bar.d / a[i].m;
  way->by_b[j].m += each * bar.d / b[j].m;
  for (int k = 0; k < n; k++) {
    const djMeanChild* c = &child[k];
    const Dual L = recorded(way->tape->record[way->at].L);
    if (L.x == INFINITY) {
      way->at++;
      continue;
    }
    const Dual part = scaled(c->weight, exponential(scaled(-DJ_MEAN_Q, minus(L, near))));
    const Dual by = times(bar, part);
    way->by_a[c->a].m -= each * by.d / a[c->a].m;
    way->by_b[c->b].m -= each * by.d / b[c->b].m;
    takePair(way, by, c->a, c->b);
  }
}

static void takePair(Way* way, Dual bar, int i, int j) {
  const djMeanPair* p = way->p;
  const djSphereNode *a = &p->a->node[i], *b = &p->b->node[j];
  const djMeanRecord* record = &way->tape->record[way->at++];
  djMeanSquare q;
  dj_meanSquare(&q, p, a, b);
  Dual square = {q.s, 0};
  for (int k = 0; k < 6; k++) square.d += q.g[k] * way->tape->along[k];
  const double S = a->R + b->R, V = a->V + b->V;
  const Dual r = root(square), t = shifted(scaled(1 / S, r), -1);
  if (t.x >= 1) {
    takeFar(way, bar, square, V, i, j);
    return;
  }
  const Dual near = recorded(record->near);
  if (t.x <= 0) {
    takeChildren(way, bar, near, i, j);
    return;
  }
  double phi[3];
  dj_quintic(phi, t.x);
  const Dual blend = {phi[0], phi[1] * t.d}, slope = {phi[1], phi[2] * t.d};
  const Dual D = exponential(recorded(record->L)), Dch = exponential(near);
  const Dual Dc = root(shifted(square, V)), rest = shifted(scaled(-1, blend), 1);
  const Dual by_t = times(bar, times(slope, over(minus(Dc, Dch), D)));
  const Dual by_S = times(by_t, scaled(-1 / (S * S), r));
  way->by_a[i].R += by_S.d;
  way->by_b[j].R += by_S.d;
  takeSquare(way, over(scaled(0.5 / S, by_t), r), i, j);
  takeFar(way, times(bar, over(times(blend, Dc), D)), square, V, i, j);
  takeChildren(way, times(bar, over(times(rest, Dch), D)), near, i, j);
}

// ------------------------------------------ meshes ---------------------------------------------

// Room for a tape: it is gone through once to know how long it is.
static djStatus recordTape(djMeanDistance* L, djMeanTape* tape, djMeanPair* p) {
  p->tape = tape;
  djStatus status = dj_meanDistance(L, p);
  if (status < 0) return status;
  tape->room = tape->n;
  tape->n = 0;
  tape->record = malloc(tape->room * sizeof *tape->record);
  return tape->record ? dj_meanDistance(L, p) : DJ_NO_MEMORY;
}

static Dual cotangentOf(const djLongLaw* law, double change, bool whole) {
  return whole ? (Dual){0, law->by} : (Dual){law->by, law->by2 * change};
}

// whole: of U, and there is no motion.
static djStatus vjpMeshes(djPairGrad* grad, djLongPair* pair, const djPairInput* in, djVec3 w,
                          djVec3 v, bool whole) {
  djMeanPair* p = &pair->mean;
  const size_t na = 2 * (size_t)p->a->ntri - 1, nb = 2 * (size_t)p->b->ntri - 1;
  djMeanTape tape = {.n = 0};
  djMeanDistance d;
  dju_store3(tape.along, w);
  dju_store3(tape.along + 3, v);
  djStatus status = recordTape(&d, &tape, p);
  djSphereGrad* by = calloc(na + nb, sizeof *by);
  if (!by) status = DJ_NO_MEMORY;
  if (status >= 0) {
    Way way = {.p = p,
               .tape = &tape,
               .w = w,
               .v = v,
               .by_a = by,
               .by_b = by + na,
               .vert_a = grad->a->vert,
               .vert_b = grad->b->vert};
    const djLongLaw law = dj_longLaw(d.L, in->setting);
    takePair(&way, cotangentOf(&law, tape.record[0].L[1], whole), 0, 0);
    dj_sphereTreeParams(grad->a->vert, way.by_a, p->a);
    dj_sphereTreeParams(grad->b->vert, way.by_b, p->b);
  }
  free(by);
  free(tape.record);
  return status;
}

// ------------------------------------------ half spaces ----------------------------------------

// By parts of the surface: thirds of triangles over all.
static void takeParts(djSphereGrad* by, const double* part, const djSphereTree* t,
                      const double* weight, int nvert) {
  const double all = t->node[0].m;
  for (int i = 0; i < 2 * t->ntri - 1; i++) {
    if (t->node[i].right > 0) continue;
    for (int k = 0; k < 3; k++) {
      by[i].m += part[(int)t->tri[3 * (int)t->node[i].first + k]] / (3 * all);
    }
  }
  for (int i = 0; i < nvert; i++) by[0].m -= part[i] * weight[i] / all;
}

static djStatus vjpPlane(djPairGrad* grad, djLongPair* pair, const djPairInput* in, djVec3 w,
                         djVec3 v, bool whole) {
  djHalfPair* p = &pair->half;
  djSphereTree tree;
  djMeanDistance d;
  double least, change = 0;
  dj_openTriangles(&tree, in->a);
  const djStatus status = dj_halfDistance(&d, &least, p);
  if (status < 0) return status;
  const double along[6] = {w.x, w.y, w.z, v.x, v.y, v.z};
  for (int k = 0; k < 6; k++) change += d.g[k] * along[k];
  const djLongLaw law = dj_longLaw(d.L, in->setting);
  const Dual bar = cotangentOf(&law, change, whole), L = {d.L, change};
  const size_t nnode = 2 * (size_t)tree.ntri - 1;
  djSphereGrad* by = calloc(nnode, sizeof *by);
  double* part = calloc((size_t)p->nvert, sizeof *part);
  if (by && part) {
    for (int i = 0; i < p->nvert; i++) {
      const djVec3 x =
          dju_transform(&p->place, dju_vec3(p->vert[0][i], p->vert[1][i], p->vert[2][i]));
      const djVec3 move = dju_add3(v, dju_cross3(w, dju_sub3(x, p->c)));
      const Dual z = {dju_dot3(p->normal, x) - p->offset, dju_dot3(p->normal, move)};
      const Dual log_z = {log(z.x), z.d / z.x};
      // p_v/w_v
      const Dual ratio = times(bar, exponential(scaled(-DJ_MEAN_ALPHA, minus(log_z, L))));
      part[i] = -ratio.d / DJ_MEAN_ALPHA;
      const Dual by_z = over(scaled(p->weight[i], ratio), z);
      const DualVec y = timesVec(by_z, (DualVec){p->normal, {0, 0, 0}});
      const djVec3 own = ofA(&p->place.R, w, y), of_x = timesVec(by_z, (DualVec){x, move}).d;
      grad->a->vert[0][i] += own.x;
      grad->a->vert[1][i] += own.y;
      grad->a->vert[2][i] += own.z;
      grad->b->normal = dju_add3(grad->b->normal, of_x);
      grad->b->offset -= by_z.d;
    }
    takeParts(by, part, &tree, p->weight, p->nvert);
    dj_sphereTreeParams(grad->a->vert, by, &tree);
  }
  const bool good = by && part;
  free(by);
  free(part);
  return good ? DJ_OK : DJ_NO_MEMORY;
}

djStatus dj_longVjp(djPairGrad* grad, const djPairInput* in, const double lambda[12]) {
  djLongPair pair;
  djStatus status = dj_openLongPair(&pair, in, 1);
  if (status < 0) return status;
  const djVec3 wb = dju_load3(lambda + 6);
  const djVec3 at = dju_add3(dju_load3(lambda + 9), dju_cross3(wb, pair.apart));
  const djVec3 w = dju_mulMtV(pair.axes, dju_sub3(dju_load3(lambda), wb));
  const djVec3 v = dju_mulMtV(pair.axes, dju_sub3(dju_load3(lambda + 3), at));
  djMeanDistance d;
  double gap;
  djLongPair plain = pair;
  status = dj_longDistance(&d, &gap, &plain);
  if (status < 0) return status;
  const double along[6] = {w.x, w.y, w.z, v.x, v.y, v.z};
  double unit[DJ_LONG_NSETTING];
  memcpy(unit, in->setting, sizeof unit);
  unit[DJ_LONG_STIFFNESS] = 1;
  const double slope = dj_longLaw(d.L, unit).by;
  for (int k = 0; k < 6; k++) grad->setting[DJ_LONG_STIFFNESS] += slope * d.g[k] * along[k];
  return pair.plane ? vjpPlane(grad, &pair, in, w, v, false)
                    : vjpMeshes(grad, &pair, in, w, v, false);
}

djStatus dj_longGradient(djPairGrad* grad, const djPairInput* in) {
  djLongPair pair;
  const djVec3 none = {0, 0, 0};
  const djStatus status = dj_openLongPair(&pair, in, 1);
  if (status < 0) return status;
  return pair.plane ? vjpPlane(grad, &pair, in, none, none, true)
                    : vjpMeshes(grad, &pair, in, none, none, true);
}
