#include "contact/triangles/mean_distance.h"

#include <math.h>
#include <string.h>

// ------------------------------------------ far ------------------------------------------------

void dj_meanSquare(djMeanSquare* q, const djMeanPair* p, const djSphereNode* a,
                   const djSphereNode* b) {
  const djVec3 x = dju_transform(&p->place, dju_load3(a->x));
  dj_squareOf(q, dju_sub3(x, p->c), dju_sub3(x, dju_load3(b->x)), p->order);
}

void dj_bySquare(djMeanDistance* out, const double f[3], const djMeanSquare* q, int order) {
  out->L = f[0];
  for (int i = 0; i < 6 && order > 0; i++) out->g[i] = f[1] * q->g[i];
  if (order < 2) return;
  for (int i = 0; i < DJ_PACKED6; i++) out->H[i] = f[1] * q->H[i];
  dj_addOuter(out->H, f[2], q->g);
}

// L = log(s + V)/2
static void farOf(djMeanDistance* out, const djMeanSquare* q, double V, int order) {
  const double D2 = q->s + V, half = 0.5 / D2;
  out->L = 0.5 * log(D2);
  for (int i = 0; i < 6 && order > 0; i++) out->g[i] = half * q->g[i];
  if (order < 2) return;
  for (int i = 0; i < DJ_PACKED6; i++) out->H[i] = half * q->H[i];
  dj_addOuter(out->H, -2 * half * half, q->g);
}

// ------------------------------------------ triangles ------------------------------------------

void dj_leafDistance(double L[3], double P, double l, double V) {
  const double q = DJ_MEAN_Q, alpha = DJ_MEAN_ALPHA, E = cbrt(P / DJ_TRIANGLE_C), F = E - 1;
  const double rho = l / (F * sqrt(F)), square = rho * rho, part = square / (square + V);
  const double by = -0.5 * E / F, by2 = E / (6 * F * F); // of log rho
  const double slope = (alpha + (q - alpha) * part) / q;
  L[0] = (alpha * log(rho) + 0.5 * (q - alpha) * log(square + V)) / q;
  L[1] = slope * by;
  L[2] = slope * by2 + 2 * (q - alpha) / q * part * (1 - part) * by * by;
}

void dj_leafBySquare(double L[3], double s, double V) {
  const double q = DJ_MEAN_Q, alpha = DJ_MEAN_ALPHA, own = 0.5 * alpha / (q * s);
  const double all = 0.5 * (q - alpha) / (q * (s + V));
  L[0] = 0.5 * (alpha * log(s) + (q - alpha) * log(s + V)) / q;
  L[1] = own + all;
  L[2] = -own / s - all / (s + V);
}

// About a place near both, so that coordinates have more digits: b's centre.
static void leafVertices(djVec3 va[3], djVec3 vb[3], const djMeanPair* p, const djSphereNode* a,
                         const djSphereNode* b) {
  const djVec3 origin = dju_load3(b->x);
  for (int k = 0; k < 3; k++) {
    const djVec3 x = dju_transform(&p->place, dj_treeVertex(p->a, (int)a->first, k));
    va[k] = dju_sub3(x, origin);
    vb[k] = dju_sub3(dj_treeVertex(p->b, (int)b->first, k), origin);
  }
}

bool dj_leafIsFaint(const djMeanPair* p, const djSphereNode* a, const djSphereNode* b,
                    double faint) {
  djVec3 va[3], vb[3], u;
  const double enough = exp(-faint / DJ_MEAN_Q);
  const int ia = (int)a->first, ib = (int)b->first;
  if (!(faint > -INFINITY)) return false;
  if (dj_isWarm(p->warm, dj_warmPlane(p->warm, ia, ib, p->start), ia, ib)) return false;
  leafVertices(va, vb, p, a, b);
  return dj_partTriangles(&u, va, vb, enough) >= enough;
}

// From the last one of the step, if there is one.
static djStatus findPlane(djTrianglePlane* out, const djMeanPair* p, const djVec3 va[3],
                          const djVec3 vb[3], double l, int a, int b) {
  djWarmPlane* warm = dj_warmPlane(p->warm, a, b, p->start);
  djStatus status = DJ_OK;
  bool found = false;
  if (dj_isWarm(p->warm, warm, a, b)) {
    out->z = warm->z;
    out->n = warm->n;
    out->o = warm->o;
    found = dj_resumeTrianglePlane(out, va, vb, l);
  }
  if (!found) status = dj_findTrianglePlane(out, va, vb, l);
  if (warm && status == DJ_OK) *warm = (djWarmPlane){p->warm->step, a, b, out->z, out->n, out->o};
  return status;
}

djStatus dj_leafPlane(djTrianglePlane* out, djVec3* c, const djMeanPair* p, const djSphereNode* a,
                      const djSphereNode* b) {
  djVec3 va[3], vb[3];
  const double l = a->R + b->R;
  leafVertices(va, vb, p, a, b);
  out->p = p->sums ? 1 : 2;
  out->c = p->sums ? 12 * l / p->length_scale : DJ_TRIANGLE_C;
  const djStatus status = findPlane(out, p, va, vb, l, (int)a->first, (int)b->first);
  *c = dju_sub3(dju_scale3(1 / l, dju_sub3(p->c, dju_load3(b->x))), out->z);
  return status;
}

bool dj_leafPoints(djNearPoints* out, const djMeanPair* p, const djSphereNode* a,
                   const djSphereNode* b) {
  djVec3 va[3], vb[3];
  leafVertices(va, vb, p, a, b);
  if (!dj_findNearPoints(out, va, vb)) return false;
  for (int k = 0; k < 2; k++) out->x[k] = dju_add3(out->x[k], dju_load3(b->x));
  return true;
}

// P by a motion of a, whose vertices have x = -(n.v + o): with j = (y x n, n)
//   gradient   sum 2 x^-3 j
//   Hessian    sum 6 x^-4 j j^T + 2 x^-3 (y n^T + n y^T - 2 y.n I)/2 on turns,
//              less W (by planes)^-1 W^T,  W = sum 6 x^-4 j (v, 1)^T + 2 x^-3 ([y]x; I | 0).
// Lengths are over l.
void dj_planeTerms(double g[6], double H[DJ_PACKED6], const djTrianglePlane* t, djVec3 c,
                   int order) {
  double W[6][4] = {{0}};
  const double n[3] = {t->n.x, t->n.y, t->n.z};
  memset(g, 0, 6 * sizeof(double));
  if (order > 1) memset(H, 0, DJ_PACKED6 * sizeof(double));
  for (int k = 0; k < 3; k++) {
    const djVec3 arm = dju_sub3(t->v[k], c), turn = dju_cross3(arm, t->n);
    const double j[6] = {turn.x, turn.y, turn.z, n[0], n[1], n[2]}, f = t->force[k];
    for (int i = 0; i < 6; i++) g[i] += f * j[i];
    if (order < 2) continue;
    dj_addOuter(H, t->bend[k], j);
    const double y[3] = {arm.x, arm.y, arm.z}, along = dju_dot3(arm, t->n);
    for (int i = 0; i < 3; i++) {
      for (int m = 0; m <= i; m++) {
        H[dj_packedAt(i, m)] += f * (0.5 * (y[i] * n[m] + n[i] * y[m]) - (i == m ? along : 0));
      }
    }
    for (int m = 0; m < 3; m++) { // along the axes of the plane
      const djVec3 across = dju_cross3(arm, t->axis[m]), axis = t->axis[m];
      const double by = t->bend[k] * dju_dot3(t->v[k], axis);
      const double add[6] = {across.x, across.y, across.z, axis.x, axis.y, axis.z};
      for (int i = 0; i < 6; i++) W[i][1 + m] += by * j[i] + f * add[i];
    }
    for (int i = 0; i < 6; i++) W[i][0] += t->bend[k] * j[i];
  }
  if (order < 2) return;
  const double* L = t->factor;
  double column[6];
  for (int k = 0; k < 4; k++) {
    for (int i = 0; i < 6; i++) {
      for (int m = 0; m < k; m++) W[i][k] -= L[4 * k + m] * W[i][m];
      column[i] = W[i][k] /= L[5 * k];
    }
    dj_addOuter(H, -1, column);
  }
}

typedef enum Visited { TOUCHES, FAINT, COUNTS } Visited;

static Visited nearOf(djMeanDistance* out, djMeanPair* p, const djSphereNode* a,
                      const djSphereNode* b) {
  djNearPoints points;
  djMeanSquare q;
  double L[3];
  p->exact++;
  if (!dj_leafPoints(&points, p, a, b)) return TOUCHES;
  dj_nearSquare(&q, &points, p->c, p->order);
  dj_leafBySquare(L, q.s, a->V + b->V);
  dj_bySquare(out, L, &q, p->order);
  return COUNTS;
}

static Visited leafOf(djMeanDistance* out, djMeanPair* p, const djSphereNode* a,
                      const djSphereNode* b, double faint) {
  djTrianglePlane t;
  djVec3 c;
  const double l = a->R + b->R;
  if (dj_leafIsFaint(p, a, b, faint)) return FAINT;
  if (p->near) return nearOf(out, p, a, b);
  const djStatus status = dj_leafPlane(&t, &c, p, a, b);
  p->exact++;
  if (status < 0) return TOUCHES;
  if (status > 0) p->status = status;
  double L[3];
  dj_leafDistance(L, t.P, l, a->V + b->V);
  out->L = L[0];
  if (p->order < 1) return COUNTS;
  dj_planeTerms(out->g, out->H, &t, c, p->order);
  for (int i = 0; i < 6; i++) out->g[i] *= (i < 3 ? 1 : 1 / l) / t.P; // of log P
  if (p->order > 1) {
    for (int i = 0, k = 0; i < 6; i++) {
      for (int j = 0; j <= i; j++) out->H[k++] *= (i < 3 ? 1 : 1 / l) * (j < 3 ? 1 : 1 / l) / t.P;
    }
    // of log P, then of L
    for (int k = 0; k < DJ_PACKED6; k++) out->H[k] *= L[1];
    dj_addOuter(out->H, L[2] - L[1], out->g);
  }
  for (int i = 0; i < 6; i++) out->g[i] *= L[1];
  return COUNTS;
}

// ------------------------------------------ pairs ----------------------------------------------

// Least first; ties by place.
int dj_orderChildren(djMeanChild child[4], const djMeanPair* p, int i, int j) {
  int ca[2], cb[2], n = 0;
  const int na = dj_childrenOf(ca, p->a, i), nb = dj_childrenOf(cb, p->b, j);
  const double all = p->a->node[i].m * p->b->node[j].m;
  for (int k = 0; k < na; k++) {
    const djSphereNode* a = &p->a->node[ca[k]];
    const djVec3 x = dju_transform(&p->place, dju_load3(a->x));
    for (int m = 0; m < nb; m++, n++) {
      const djSphereNode* b = &p->b->node[cb[m]];
      const djMeanChild c = {.a = ca[k],
                             .b = cb[m],
                             .weight = a->m * b->m / all,
                             .apart = dju_norm3(dju_sub3(x, dju_load3(b->x))) - a->R - b->R};
      int at = n;
      for (; at > 0 && c.apart < child[at - 1].apart; at--) child[at] = child[at - 1];
      child[at] = c;
    }
  }
  return n;
}

static Visited visit(djMeanDistance* out, djMeanPair* p, int i, int j, double faint);

static void recordFaint(djMeanTape* tape, size_t at) {
  if (!tape) return;
  if (at < tape->room) tape->record[at].L[0] = INFINITY;
  tape->n = at + 1;
}

// out: of those that count, of which there are n.
static void addChildren(djMeanDistance* out, const djMeanDistance of[4], const double part[4],
                        int n, int order) {
  memset(out->g, 0, sizeof out->g);
  if (order > 1) memset(out->H, 0, sizeof out->H);
  for (int k = 0; k < n; k++) {
    for (int m = 0; m < 6; m++) out->g[m] += part[k] * of[k].g[m];
    if (order < 2) continue;
    dj_addPacked(out->H, part[k], of[k].H);
    dj_addOuter(out->H, -DJ_MEAN_Q * part[k], of[k].g);
  }
  if (order > 1) dj_addOuter(out->H, DJ_MEAN_Q, out->g);
}

static Visited childrenOf(djMeanDistance* out, djMeanPair* p, int i, int j, double faint) {
  const djSphereNode *a = &p->a->node[i], *b = &p->b->node[j];
  if (!(a->right > 0) && !(b->right > 0)) return leafOf(out, p, a, b, faint);
  djMeanDistance of[4];
  djMeanChild child[4];
  double term[4], most = -INFINITY, sum = 0;
  const int all = dj_orderChildren(child, p, i, j);
  int n = 0;
  for (int k = 0; k < all; k++) {
    const djMeanChild* c = &child[k];
    const double weight = log(c->weight);
    const double least = fmax(faint, most - DJ_MEAN_FAINT) - weight;
    if (c->apart > 0 && -DJ_MEAN_Q * log(c->apart) < least) {
      recordFaint(p->tape, p->tape ? p->tape->n : 0);
      continue;
    }
    const Visited how = visit(&of[n], p, c->a, c->b, least);
    if (how == TOUCHES) return TOUCHES;
    if (how == FAINT) continue;
    term[n] = weight - DJ_MEAN_Q * of[n].L;
    most = fmax(most, term[n]);
    n++;
  }
  if (n == 0) return FAINT;
  for (int k = 0; k < n; k++) sum += term[k] = exp(term[k] - most);
  out->L = -(most + log(sum)) / DJ_MEAN_Q;
  for (int k = 0; k < n; k++) term[k] /= sum;
  if (p->order > 0) addChildren(out, of, term, n, p->order);
  return COUNTS;
}

// D = (1 - phi) D_ch + phi D_c, out is D_ch's.
static void blend(djMeanDistance* out, const djMeanSquare* q, double S, double V, double t,
                  int order) {
  djMeanDistance far;
  double phi[3];
  dj_quintic(phi, t);
  farOf(&far, q, V, order);
  const double near = exp(out->L), Dc = exp(far.L), D = (1 - phi[0]) * near + phi[0] * Dc;
  out->L = log(D);
  if (order < 1) return;
  const double kn = (1 - phi[0]) * near / D, kf = phi[0] * Dc / D, apart = (Dc - near) / D;
  const double r = sqrt(q->s), by = 0.5 / (r * S); // of t by s
  double gt[6], cross[6], g[6];
  for (int i = 0; i < 6; i++) {
    gt[i] = by * q->g[i];
    cross[i] = (Dc * far.g[i] - near * out->g[i]) / D;
    g[i] = kn * out->g[i] + kf * far.g[i] + apart * phi[1] * gt[i];
  }
  if (order > 1) {
    double H[DJ_PACKED6] = {0};
    dj_addPacked(H, kn, out->H);
    dj_addOuter(H, kn, out->g);
    dj_addPacked(H, kf, far.H);
    dj_addOuter(H, kf, far.g);
    dj_addPacked(H, apart * phi[1] * by, q->H);
    dj_addOuter(H, -apart * phi[1] * by * 0.5 / q->s, q->g);
    dj_addOuter(H, apart * phi[2], gt);
    dj_addOuters(H, phi[1], gt, cross);
    dj_addOuter(H, -1, g);
    memcpy(out->H, H, sizeof H);
  }
  memcpy(out->g, g, sizeof g);
}

void dj_recordMean(djMeanTape* tape, size_t at, const djMeanDistance* d, bool near) {
  if (at >= tape->room) return;
  double* to = near ? tape->record[at].near : tape->record[at].L;
  to[0] = d->L;
  to[1] = 0;
  for (int k = 0; k < 6; k++) to[1] += d->g[k] * tape->along[k];
}

static Visited visit(djMeanDistance* out, djMeanPair* p, int i, int j, double faint) {
  const djSphereNode *a = &p->a->node[i], *b = &p->b->node[j];
  djMeanSquare q;
  const size_t at = p->tape ? p->tape->n++ : 0;
  p->visited++;
  dj_meanSquare(&q, p, a, b);
  const double S = a->R + b->R, V = a->V + b->V, t = sqrt(q.s) / S - 1;
  if (t >= 1) {
    farOf(out, &q, V, p->order);
  } else {
    const Visited how = childrenOf(out, p, i, j, faint);
    if (how == FAINT) recordFaint(p->tape, at);
    if (how != COUNTS) return how;
    if (p->tape) dj_recordMean(p->tape, at, out, true);
    if (t > 0) blend(out, &q, S, V, t, p->order);
  }
  if (p->tape) dj_recordMean(p->tape, at, out, false);
  return COUNTS;
}

djStatus dj_meanDistance(djMeanDistance* out, djMeanPair* p) {
  p->visited = p->exact = 0;
  p->status = DJ_OK;
  if (visit(out, p, 0, 0, dj_firstFaint(p)) == COUNTS) return p->status;
  *out = (djMeanDistance){.L = -INFINITY};
  return DJ_OVERLAP;
}
