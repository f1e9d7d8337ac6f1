#include "contact/triangles/triangle_sum.h"

#include <math.h>
#include <string.h>

// With e = s^-1/4: P = 12 (1 + e)^2, de/ds = -e/(4 s), dP = -6 e (1 + e)/s,
// ddP = (7.5 e + 9 e^2)/s^2.
void dj_centredSum(double P[3], double s) {
  const double e = 1 / sqrt(sqrt(s));
  P[0] = 12 * (1 + e) * (1 + e);
  P[1] = -6 * e * (1 + e) / s;
  P[2] = e * (7.5 + 9 * e) / (s * s);
}

// unit: length_scale^2
static void farOf(djMeanDistance* out, const djMeanSquare* q, double unit, int order) {
  double P[3];
  dj_centredSum(P, q->s / unit);
  out->L = P[0];
  for (int i = 0; i < 6 && order > 0; i++) out->g[i] = P[1] / unit * q->g[i];
  if (order < 2) return;
  for (int i = 0; i < DJ_PACKED6; i++) out->H[i] = P[1] / unit * q->H[i];
  dj_addOuter(out->H, P[2] / (unit * unit), q->g);
}

static bool leafOf(djMeanDistance* out, djMeanPair* p, const djSphereNode* a,
                   const djSphereNode* b) {
  djTrianglePlane t;
  djVec3 c;
  p->exact++;
  if (p->near) {
    djNearPoints points;
    djMeanSquare q;
    if (!dj_leafPoints(&points, p, a, b)) return false;
    dj_nearSquare(&q, &points, p->c, p->order);
    farOf(out, &q, p->length_scale * p->length_scale, p->order);
    return true;
  }
  const djStatus status = dj_leafPlane(&t, &c, p, a, b);
  if (status < 0) return false;
  if (status > 0) p->status = status;
  const double scale = p->length_scale / t.l;
  out->L = scale * t.P;
  if (p->order > 0) dj_planeTerms(out->g, out->H, &t, c, p->order);
  for (int i = 0; i < 6 && p->order > 0; i++) out->g[i] *= scale * (i < 3 ? 1 : 1 / t.l);
  for (int i = 0, k = 0; i < 6 && p->order > 1; i++) {
    for (int j = 0; j <= i; j++)
      out->H[k++] *= scale * (i < 3 ? 1 : 1 / t.l) * (j < 3 ? 1 : 1 / t.l);
  }
  return true;
}

// t = (sqrt(s)/d - 1)/eps: dt/ds = 1/(2 r d eps), ddt/ds^2 = -dt/(2 s).
static void blend(djMeanDistance* out, const djMeanPair* p, const djMeanSquare* q, double d,
                  double t) {
  djMeanDistance far;
  double phi[3], gt[6], apart[6];
  dj_quintic(phi, t);
  farOf(&far, q, p->length_scale * p->length_scale, p->order);
  const double more = far.L - out->L, by = 0.5 / (sqrt(q->s) * d * p->eps);
  out->L += phi[0] * more;
  if (p->order < 1) return;
  for (int i = 0; i < 6; i++) {
    gt[i] = by * q->g[i];
    apart[i] = far.g[i] - out->g[i];
    out->g[i] += phi[0] * apart[i] + more * phi[1] * gt[i];
  }
  if (p->order < 2) return;
  for (int i = 0; i < DJ_PACKED6; i++) {
    out->H[i] += phi[0] * (far.H[i] - out->H[i]) + more * phi[1] * by * q->H[i];
  }
  dj_addOuter(out->H, -more * phi[1] * by * 0.5 / q->s, q->g);
  dj_addOuter(out->H, more * phi[2], gt);
  dj_addOuters(out->H, phi[1], gt, apart);
}

static bool visit(djMeanDistance* out, djMeanPair* p, int i, int j);

static bool childrenOf(djMeanDistance* out, djMeanPair* p, int i, int j) {
  const djSphereNode *a = &p->a->node[i], *b = &p->b->node[j];
  int ca[2], cb[2];
  const int na = dj_childrenOf(ca, p->a, i), nb = dj_childrenOf(cb, p->b, j);
  if (na == 1 && nb == 1) return leafOf(out, p, a, b);
  out->L = 0;
  if (p->order > 0) memset(out->g, 0, sizeof out->g);
  if (p->order > 1) memset(out->H, 0, sizeof out->H);
  for (int k = 0; k < na * nb; k++) {
    djMeanDistance of;
    if (!visit(&of, p, ca[k / nb], cb[k % nb])) return false;
    out->L += of.L;
    for (int m = 0; m < 6 && p->order > 0; m++) out->g[m] += of.g[m];
    if (p->order > 1) dj_addPacked(out->H, 1, of.H);
  }
  return true;
}

static bool visit(djMeanDistance* out, djMeanPair* p, int i, int j) {
  const djSphereNode *a = &p->a->node[i], *b = &p->b->node[j];
  djMeanSquare q;
  const size_t at = p->tape ? p->tape->n++ : 0;
  p->visited++;
  dj_meanSquare(&q, p, a, b);
  const double d = a->R + b->R, t = (sqrt(q.s) / d - 1) / p->eps;
  if (t >= 1) {
    farOf(out, &q, p->length_scale * p->length_scale, p->order);
  } else {
    if (!childrenOf(out, p, i, j)) return false;
    if (p->tape) dj_recordMean(p->tape, at, out, true);
    if (t > 0) blend(out, p, &q, d, t);
  }
  if (p->tape) dj_recordMean(p->tape, at, out, false);
  return true;
}

djStatus dj_triangleSum(djMeanDistance* out, djMeanPair* p) {
  p->visited = p->exact = 0;
  p->status = DJ_OK;
  if (visit(out, p, 0, 0)) return p->status;
  *out = (djMeanDistance){.L = INFINITY};
  return DJ_OVERLAP;
}

// dz = N.(v + w x y), ddz = N.(w x (w x y)): of f(z) f' ddz + f'' dz dz^T; with u = z/length_scale,
// e = u^-1/2: f = 12 w (1 + e)^2, f' = -12 w e (1 + e)/z, f'' = 6 w e (3 + 4 e)/z^2.
djStatus dj_halfSum(djMeanDistance* out, double* least, const djHalfPair* p) {
  *least = INFINITY;
  for (int i = 0; i < p->nvert; i++) *least = fmin(*least, dj_heightOf(p, i));
  memset(out, 0, sizeof *out);
  if (!(*least > 0)) {
    out->L = INFINITY;
    return DJ_OVERLAP;
  }
  for (int i = 0; i < p->nvert; i++) {
    djHeightTerms z;
    dj_heightTerms(&z, p, i);
    const double e = 1 / sqrt(z.z / p->length_scale), w = p->weight[i];
    const double by = -12 * w * e * (1 + e) / z.z, by2 = 6 * w * e * (3 + 4 * e) / (z.z * z.z);
    out->L += 12 * w * (1 + e) * (1 + e);
    for (int k = 0; k < 6 && p->order > 0; k++) out->g[k] += by * z.g[k];
    if (p->order > 1) dj_addHeights(out->H, by, by2, &z);
  }
  return DJ_OK;
}
