#include "contact/triangles/triangle_friction.h"

#include "contact/triangles/long_range.h"
#include "contact/triangles/long_range_pair.h"
#include "contact/triangles/slip_sum.h"
#include "contact/triangles/triangle_way.h"
#include "contact/wrench.h"

#include <stddef.h>
#include <string.h>

typedef enum Visited { TOUCHES, FAINT, COUNTS } Visited;

typedef struct Slips {
  djTriangleWay way; // the change of the start, of a in b's frame
  djSlipPair pair;
  const djPose* frame; // b's at the start
  djVec3 ref_b;
} Slips;

// ------------------------------------------ points ---------------------------------------------

static djDual1 logOf(djDual1 a) { return (djDual1){log(a.x), a.d / a.x}; }
static djDualVec dualVec(djVec3 x, djVec3 d) { return (djDualVec){x, d}; }

// From b's frame to the world, with b's own change at the start.
static djDualVec toWorld(const Slips* w, djDualVec y, bool point) {
  const djVec3 x = point ? dju_transform(w->frame, y.x) : dju_mulMV(w->frame->R, y.x);
  djVec3 d = dju_mulMV(w->frame->R, y.d);
  if (!w->pair.by.start) return dualVec(x, d);
  const double* twist = w->pair.by.twist + 6;
  d = dju_add3(d, point ? dj_twistField(twist, dju_sub3(x, w->ref_b))
                        : dju_cross3(dju_load3(twist), x));
  return dualVec(x, d);
}

// Where both triangles' forces act in the mean, in the middle between them; over l, about z. *sum:
// of a's forces.
static djDualVec middleOf(djDual1* sum, const Slips* w, const djTrianglePlane* t,
                          const djPlaneTurn* turn, djVec3 c) {
  djDualVec middle = {{0, 0, 0}, {0, 0, 0}};
  const djVec3 v = dju_scale3(1 / t->l, w->way.v);
  for (int side = 0; side < 2; side++) {
    djDual1 all = {0, 0};
    djDualVec y = {{0, 0, 0}, {0, 0, 0}};
    for (int k = 3 * side; k < 3 * side + 3; k++) {
      const djDual1 force = {t->force[k], -t->bend[k] * turn->x[k]};
      const djVec3 move = dju_add3(v, dju_cross3(w->way.w, dju_sub3(t->v[k], c)));
      const djDualVec term = dj_timesVec(force, dualVec(t->v[k], side ? dju_vec3(0, 0, 0) : move));
      all = (djDual1){all.x + force.x, all.d + force.d};
      y = dualVec(dju_add3(y.x, term.x), dju_add3(y.d, term.d));
    }
    y = dj_timesVec(dj_over((djDual1){0.5, 0}, all), y);
    middle = dualVec(dju_add3(middle.x, y.x), dju_add3(middle.d, y.d));
    if (side == 0) *sum = all;
  }
  return middle;
}

// By the distance d = sqrt(s) of nearest points, which lie across the middle between them.
static Visited nearOf(djDual1* L, djSlipSum* s, Slips* w, int i, int j) {
  const djMeanPair* p = w->way.p;
  djNearPoints points;
  djNearTurn turn;
  double by[3];
  if (!dj_leafPoints(&points, p, &p->a->node[i], &p->b->node[j])) return TOUCHES;
  dj_turnNearPoints(&turn, &w->way, &points);
  const double unit = p->length_scale * p->length_scale, sign = p->sums ? -1 : 1;
  if (p->sums) {
    dj_centredSum(by, turn.square.x / unit);
    by[1] /= unit;
    by[2] /= unit * unit;
  } else {
    dj_leafBySquare(by, turn.square.x, p->a->node[i].V + p->b->node[j].V);
  }
  *L = (djDual1){by[0], by[1] * turn.square.d};
  const djDual1 slope = {by[1], by[2] * turn.square.d}, d = dj_dualRoot(turn.square);
  const djDual1 N = dj_scaled(2 * sign, dj_times(slope, d)), one = {-1, 0};
  const djDualVec normal = dj_timesVec(dj_over(one, d), turn.e);
  const djDualVec y = {dju_scale3(0.5, dju_add3(turn.x[0].x, turn.x[1].x)),
                       dju_scale3(0.5, dju_add3(turn.x[0].d, turn.x[1].d))};
  dj_slipAt(s, &w->pair, N, toWorld(w, normal, false), toWorld(w, y, true));
  return COUNTS;
}

// dL/dgap of the mean, dP/dgap of sums, without its sign.
static Visited leafOf(djDual1* L, djSlipSum* s, Slips* w, int i, int j, double faint) {
  const djMeanPair* p = w->way.p;
  const djSphereNode *a = &p->a->node[i], *b = &p->b->node[j];
  djTrianglePlane t;
  djPlaneTurn turn;
  djVec3 c;
  if (dj_leafIsFaint(p, a, b, faint)) return FAINT;
  if (p->near) return nearOf(L, s, w, i, j);
  if (dj_leafPlane(&t, &c, p, a, b) < 0) return TOUCHES;
  dj_turnPlane(&turn, &w->way, &t, c);
  const double norm = dju_norm3(t.n);
  const djVec3 u = dju_scale3(1 / norm, t.n);
  const djDual1 length = {norm, dju_dot3(u, turn.n)};
  const djDualVec normal = {u, dju_scale3(1 / norm, dju_madd3(turn.n, -length.d, u))};
  djDual1 sum, N;
  djDualVec y = middleOf(&sum, w, &t, &turn, c);
  y.x = dju_madd3(dju_load3(b->x), t.l, dju_add3(y.x, t.z));
  y.d = dju_scale3(t.l, y.d);
  if (p->sums) {
    *L = dj_scaled(p->length_scale / t.l, (djDual1){t.P, turn.P});
    N = dj_scaled(p->length_scale / (t.l * t.l), dj_times(sum, length));
  } else {
    double by[3];
    const djDual1 P = {t.P, turn.P};
    dj_leafDistance(by, t.P, t.l, a->V + b->V);
    *L = (djDual1){by[0], by[1] * P.d / P.x};
    const djDual1 slope = {-by[1] / t.l, -by[2] / t.l * P.d / P.x};
    N = dj_times(dj_over(slope, P), dj_times(sum, length));
  }
  dj_slipAt(s, &w->pair, N, toWorld(w, normal, false), toWorld(w, y, true));
  return COUNTS;
}

// ------------------------------------------ pairs ----------------------------------------------

static Visited visit(djDual1* L, djSlipSum* s, Slips* w, int i, int j, double faint);

static void clearSlip(djSlipSum* s, bool second) {
  memset(s, 0, second ? sizeof *s : offsetof(djSlipSum, K));
}

static Visited sumChildren(djDual1* L, djSlipSum* s, Slips* w, int i, int j) {
  int ca[2], cb[2];
  const int na = dj_childrenOf(ca, w->way.p->a, i), nb = dj_childrenOf(cb, w->way.p->b, j);
  if (na == 1 && nb == 1) return leafOf(L, s, w, i, j, -INFINITY);
  *L = (djDual1){0, 0};
  clearSlip(s, w->pair.second);
  for (int k = 0; k < na * nb; k++) {
    djSlipSum one;
    djDual1 P;
    if (visit(&P, &one, w, ca[k / nb], cb[k % nb], -INFINITY) == TOUCHES) return TOUCHES;
    *L = (djDual1){L->x + P.x, L->d + P.d};
    dj_addSlip(s, &one, w->pair.second);
  }
  return COUNTS;
}

// As mean_distance.c goes.
static Visited meanChildren(djDual1* L, djSlipSum* s, Slips* w, int i, int j, double faint) {
  const djMeanPair* p = w->way.p;
  if (!(p->a->node[i].right > 0) && !(p->b->node[j].right > 0)) {
    return leafOf(L, s, w, i, j, faint);
  }
  djMeanChild child[4];
  djDual1 of[4];
  djSlipSum one[4];
  double term[4], most = -INFINITY, sum = 0;
  const int all = dj_orderChildren(child, p, i, j);
  int n = 0;
  for (int k = 0; k < all; k++) {
    const double weight = log(child[k].weight), least = fmax(faint, most - DJ_MEAN_FAINT) - weight;
    if (child[k].apart > 0 && -DJ_MEAN_Q * log(child[k].apart) < least) continue;
    const Visited how = visit(&of[n], &one[n], w, child[k].a, child[k].b, least);
    if (how == TOUCHES) return TOUCHES;
    if (how == FAINT) continue;
    term[n] = weight - DJ_MEAN_Q * of[n].x;
    most = fmax(most, term[n]);
    n++;
  }
  if (n == 0) return FAINT;
  for (int k = 0; k < n; k++) sum += term[k] = exp(term[k] - most);
  *L = (djDual1){-(most + log(sum)) / DJ_MEAN_Q, 0};
  for (int k = 0; k < n; k++) L->d += term[k] / sum * of[k].d;
  clearSlip(s, w->pair.second);
  for (int k = 0; k < n; k++) {
    const double part = term[k] / sum;
    dj_scaleSlip(&one[k], (djDual1){part, -DJ_MEAN_Q * part * (of[k].d - L->d)}, w->pair.second);
    dj_addSlip(s, &one[k], w->pair.second);
  }
  return COUNTS;
}

// L or P of a pair far away.
static djDual1 farOf(const djMeanPair* p, djDual1 square, double V) {
  if (!p->sums) return dj_scaled(0.5, logOf(dj_shifted(square, V)));
  double P[3];
  const double unit = p->length_scale * p->length_scale;
  dj_centredSum(P, square.x / unit);
  return (djDual1){P[0], P[1] / unit * square.d};
}

static Visited visit(djDual1* L, djSlipSum* s, Slips* w, int i, int j, double faint) {
  const djMeanPair* p = w->way.p;
  const djSphereNode *a = &p->a->node[i], *b = &p->b->node[j];
  const djDual1 square = dj_squareAlong(&w->way, i, j), r = dj_dualRoot(square);
  const double S = a->R + b->R, V = a->V + b->V, eps = p->sums ? p->eps : 1;
  const djDual1 t = dj_scaled(1 / eps, dj_shifted(dj_scaled(1 / S, r), -1));
  if (t.x >= 1) {
    *L = farOf(p, square, V);
    clearSlip(s, w->pair.second);
    return COUNTS;
  }
  const Visited how = p->sums ? sumChildren(L, s, w, i, j) : meanChildren(L, s, w, i, j, faint);
  if (how != COUNTS || t.x <= 0) return how;
  double phi[3];
  dj_quintic(phi, t.x);
  const djDual1 blend = {phi[0], phi[1] * t.d}, rest = {1 - phi[0], -phi[1] * t.d};
  const djDual1 far = farOf(p, square, V);
  if (p->sums) {
    const djDual1 near = dj_times(rest, *L), more = dj_times(blend, far);
    *L = (djDual1){near.x + more.x, near.d + more.d};
    dj_scaleSlip(s, rest, w->pair.second);
    return COUNTS;
  }
  const djDual1 near = dj_times(rest, dj_exponential(*L)),
                more = dj_times(blend, dj_exponential(far));
  const djDual1 D = {near.x + more.x, near.d + more.d};
  *L = logOf(D);
  dj_scaleSlip(s, dj_over(near, D), w->pair.second);
  return COUNTS;
}

// ------------------------------------------ half spaces ----------------------------------------

static djStatus halfSpace(djDual1* L, djSlipSum* s, Slips* w, djLongPair* pair) {
  const djHalfPair* p = &pair->half;
  djMeanDistance d;
  double least;
  const djStatus status = dj_longDistance(&d, &least, pair);
  if (status < 0) return status;
  *L = (djDual1){d.L, 0};
  const double along[6] = {w->way.w.x, w->way.w.y, w->way.w.z, w->way.v.x, w->way.v.y, w->way.v.z};
  for (int k = 0; k < 6; k++) L->d += d.g[k] * along[k];
  clearSlip(s, w->pair.second);
  for (int i = 0; i < p->nvert; i++) {
    const djVec3 x = {p->vert[0][i], p->vert[1][i], p->vert[2][i]}, n = p->normal;
    const djVec3 at = dju_transform(&p->place, x);
    const djVec3 move = dju_add3(w->way.v, dju_cross3(w->way.w, dju_sub3(at, p->c)));
    const djDual1 z = {dj_heightOf(p, i), dju_dot3(n, move)}, one = {1, 0};
    djDual1 N;
    if (pair->sums) {
      const djDual1 e = dj_over(one, dj_dualRoot(dj_scaled(1 / p->length_scale, z)));
      N = dj_scaled(12 * p->weight[i], dj_over(dj_times(e, dj_shifted(e, 1)), z));
    } else {
      const djDual1 part = dj_exponential(dj_scaled(-DJ_MEAN_ALPHA, dj_minus(logOf(z), *L)));
      N = dj_scaled(p->weight[i], dj_over(part, z));
    }
    const djDualVec y = {dju_madd3(at, -z.x, n), dju_madd3(move, -z.d, n)};
    const djDualVec u = {dju_neg3(n), {0, 0, 0}};
    djSlipSum point;
    dj_slipAt(&point, &w->pair, N, toWorld(w, u, false), toWorld(w, y, true));
    dj_addSlip(s, &point, w->pair.second);
  }
  return DJ_OK;
}

// ------------------------------------------ sums -----------------------------------------------

// The change of a in b's frame where both move by twists at the start.
static void relativeChange(djTriangleWay* way, double along[6], const djLongPair* p,
                           const djSlipChange* by) {
  const djVec3 none = {0, 0, 0}, wb = dju_load3(by->twist + 6);
  const djVec3 at = dju_add3(dju_load3(by->twist + 9), dju_cross3(wb, p->apart));
  way->w = way->v = none;
  if (by->start) {
    way->w = dju_mulMtV(p->axes, dju_sub3(dju_load3(by->twist), wb));
    way->v = dju_mulMtV(p->axes, dju_sub3(dju_load3(by->twist + 3), at));
  }
  dju_store3(along, way->w);
  dju_store3(along + 3, way->v);
}

static djStatus sumSlips(djSlipSum* s, djPairState* state, const djPairInput* in, bool second,
                         const djSlipChange* by) {
  djPairInput start = *in;
  djLongPair pair;
  djMeanTape tape = {.n = 0};
  djDual1 L;
  start.pose_a = in->start_a;
  start.pose_b = in->start_b;
  djStatus status = dj_openLongPair(&pair, state, &start, 1);
  if (status < 0) return status;
  Slips w = {.way = {.p = &pair.mean, .tape = &tape}, .frame = in->start_b, .ref_b = in->ref_b};
  w.pair = (djSlipPair){.motion = {dj_motionOf(in, 0), dj_motionOf(in, 1)},
                        .h = in->h,
                        .eps = in->setting[DJ_LONG_FRICTION_EPS],
                        .second = second,
                        .by = *by};
  relativeChange(&w.way, tape.along, &pair, by);
  pair.mean.start = true;
  const double faint = pair.plane || pair.sums ? -INFINITY : dj_firstFaint(&pair.mean);
  if (pair.plane)
    status = halfSpace(&L, s, &w, &pair);
  else
    status = visit(&L, s, &w, 0, 0, faint) == COUNTS ? DJ_OK : DJ_OVERLAP;
  if (status < 0) return status;
  const djLongLaw law = dj_longLawOf(L.x, &pair, in->setting);
  const double sign = pair.sums ? 1 : -1;
  dj_scaleSlip(s, dj_scaled(sign * in->friction, (djDual1){law.by, law.by2 * L.d}), second);
  return DJ_OK;
}

djStatus dj_addTriangleFriction(djPairOutput* out, djPairState* state, const djPairInput* in,
                                bool second) {
  const djSlipChange none = {.start = false};
  djSlipSum s;
  const djStatus status = sumSlips(&s, state, in, second, &none);
  if (status < 0) return status;
  out->value += s.value;
  for (int i = 0; i < 12; i++) out->gradient[i] += s.g[i];
  if (!second) return DJ_OK;
  dj_toExponential(s.K, s.g);
  for (int i = 0; i < 12; i++) { // an energy's Hessian is symmetric
    for (int j = 0; j < 12; j++)
      out->hessian[12 * i + j] += 0.5 * (s.K[12 * i + j] + s.K[12 * j + i]);
  }
  return DJ_OK;
}

djStatus dj_triangleFriction(double gradient[12], djPairState* state, const djPairInput* in) {
  const djSlipChange none = {.start = false};
  djSlipSum s;
  const djStatus status = sumSlips(&s, state, in, false, &none);
  if (status >= 0) memcpy(gradient, s.g, sizeof s.g);
  return status;
}

djStatus dj_triangleFrictionStart(double start_jac[144], double rate_jac[144], djPairState* state,
                                  const djPairInput* in) {
  const bool apart = in->rate_a != in->start_a;
  for (int k = 0; k < (apart ? 24 : 12); k++) {
    djSlipChange by = {.start = k < 12, .rate = k >= 12 || !apart};
    djSlipSum s;
    double* jac = k < 12 ? start_jac : rate_jac;
    by.twist[k % 12] = 1;
    const djStatus status = sumSlips(&s, state, in, false, &by);
    if (status < 0) return status;
    for (int i = 0; i < 12; i++) jac[12 * i + k % 12] = s.change[i];
  }
  return DJ_OK;
}
