// The separating-plane energy as rows, with its plane as unknowns (contact/rows.h).
//
// Half space: x_i = t z_i of vertices, and -o, of four times the weight, is their shared argument.
// t and |n|, which are within s of 1, are held in a pass.
// Hulls, p = (n, o): x_i = sigma (n.y_i + o) - r|n| - q(n), with 1 - |n|.
// Friction: slips of the lagged points, between hulls less the plane's motion (u, w), which are
// three unknowns more: s = P Delta/h - u - w n x (y - c). Torsion and rolling (friction/turning.h):
// c is held in a pass, as the width of slips; with U_c there, and r_0 the norm that torsion adds
// last, discs of
//   U_c sqrt((l_0 x_0)^2 + (sqrt(e_0) + b_1)^2),  U_c (sqrt(e_0) + b_1)/r_0 sqrt((l_1 x_1)^2 +
//   (l_2 x_2)^2 + e_1)
// have its torques: where passes end all is as it is to be.

#include "contact/friction/friction_plane.h"
#include "contact/friction/turning.h"
#include "contact/plane/plane_pair.h"
#include "contact/plane/plane_rows.h"
#include "contact/plane/plane_tail.h"

#include <string.h>

enum { FIRST_SLIP = 1 << 20, FIRST_TURN = 1 << 21 };

djContactRow* dj_nextRow(djPairRows* r, djRowKind kind, int id, double x, double weight,
                          double width) {
  if (r->n < 0 || r->n == DJ_PAIR_ROWS) {
    r->n = -1;
    return NULL;
  }
  djContactRow* row = &r->row[r->n++];
  memset(row, 0, sizeof *row);
  row->kind = kind;
  row->id = id;
  row->x = x;
  row->weight = weight;
  row->width = width;
  return row;
}

djContactRow* dj_barrierRow(djPairRows* r, djRowKind kind, int id, double x, double weight,
                            djBarrier law) {
  djContactRow* row = dj_nextRow(r, kind, id, x, weight, law.s);
  if (row) row->law = law.law;
  return row;
}

void dj_rowTwist(double J[12], double f, djVec3 d, djVec3 rho_a, djVec3 rho_b) {
  d = dju_scale3(f, d);
  dju_store3(J, dju_cross3(rho_a, d));
  dju_store3(J + 3, d);
  dju_store3(J + 6, dju_cross3(d, rho_b));
  dju_store3(J + 9, dju_neg3(d));
}

// ---- normal forces ----------------------------------------------------------------------------

double dj_rowLoad(double x, djBarrier law) {
  double b[3];
  dj_barrier(b, x, law);
  return isinf(b[0]) ? INFINITY : -b[1];
}

void dj_adaptLength(djPairPlane* r, double load, djBarrier law) {
  const double s = law.s;
  if (!(load > 0) || !(load < INFINITY)) return;
  r->length = 1 - s / (1 + dj_barrierDepth(law.law, load * s * s));
}

void dj_beginHalfRows(djPairPlane* r, const djPlaneState* state, double least,
                      djBarrier law, double L) {
  if (state->lagged) {
    r->length = state->lag_plane[0];
    r->p[0] = -state->lag_plane[1];
    return;
  }
  double d = fmin(least > 0 ? least : state->gap_start / L, law.s);
  if (!(d > 0)) d = 0.1 * law.s;
  r->length = dj_startLength(d, law);
  r->p[0] = 0.5 * r->length * d;
}

static void halfRows(djPairRows* rows, djPairPlane* r, djPlaneWork* w,
                     const djPlaneState* state) {
  djHalfSpace space;
  const djPairInput* in = w->in;
  dj_placeClouds(w, dju_transform(w->pose[0], w->shape[0]->center));
  dj_placeHalfSpace(&space, w);
  djVec3 N = dju_load3(space.normal);
  double least = INFINITY;
  for (int i = 0; i < space.n; i++) {
    djVec3 y = {space.y[0][i], space.y[1][i], space.y[2][i]};
    w->z[i] = dju_dot3(N, y) + space.k;
    least = fmin(least, w->z[i]);
  }
  if (!r->begun && !state->lagged && w->L * least >= w->range) return;
  if (!r->begun) dj_beginHalfRows(r, state, least, w->law, w->L);
  double o = -r->p[0], far = DJ_ROWS_NEAR * w->law.s, load = 0;
  for (int i = 0; i < space.n && r->begun; i++) {
    load += dj_rowLoad(r->length * w->z[i] + o, w->law) * w->z[i];
  }
  dj_adaptLength(r, load, w->law);
  const double t = r->length;
  r->nown = 0;
  if (t * least + o > far && !state->lagged) return;
  djContactRow* row = dj_barrierRow(rows, DJ_ROW_SHARED, DJ_ROW_OWN_OFFSET, -o, 4 * w->K, w->law);
  for (int i = 0; i < space.n; i++) {
    double x = t * w->z[i];
    if (x + o > far) continue;
    row = dj_barrierRow(rows, DJ_ROW_BARRIER, i, x, w->K, w->law);
    if (!row) return;
    djVec3 y = {space.y[0][i], space.y[1][i], space.y[2][i]};
    y = dju_madd3(w->center, w->L, y);
    dj_rowTwist(row->J, t / w->L, N, dju_sub3(y, in->ref_a), dju_sub3(y, in->ref_b));
  }
}

// Unknowns between hulls: the normal's turn, o, and the plane's motion.
enum { TURN = 0, OFFSET = 2, MOTION = 3, OWN = 6 };

// A plane between shapes that are apart, at these poses. Leaves no trace in the pair's state: which
// pairs out of range are asked depends on earlier steps.
static djStatus directPlane(double* gap, djPairPlane* r, djPlaneWork* w) {
  djDistance d;
  djStatus status = dj_distance(&d, NULL, w->shape[0], w->pose[0], 0, w->shape[1], w->pose[1], 0);
  *gap = d.gap - w->inflate;
  if (status < 0 || !(*gap > 0)) return status;
  r->center = dju_scale3(0.5, dju_add3(d.point_a, d.point_b));
  r->normal = d.normal;
  r->length = dj_startLength(fmin(*gap / w->L, w->law.s), w->law);
  r->p[OFFSET] = 0;
  return DJ_OK;
}

// *gap: 0 or less: there is none; out of range: none is needed.
static djStatus beginHull(double* gap, djPairPlane* r, djPlaneWork* w, djPlaneState* state) {
  *gap = w->range / 2;
  memset(r->p, 0, sizeof r->p);
  if (state->lagged) {
    r->center = state->lag_center;
    r->normal = dju_load3(state->lag_plane);
    r->length = dju_norm3(r->normal);
    r->normal = dju_scale3(1 / r->length, r->normal);
    r->p[OFFSET] = state->lag_plane[3];
    return DJ_OK;
  }
  djStatus status = directPlane(gap, r, w);
  if (status < 0 || *gap >= w->range) return status;
  djPlaneWork start;
  status = dj_openPlaneWork(&start, w->in, &state->erosion, true);
  if (status >= 0) status = directPlane(gap, r, &start);
  *gap = fmin(*gap, w->range / 2);
  return status;
}

// Second derivatives of r|n| + q(n) along two tangents.
static void bendOf(double bend[3], const djCloud* c, djVec3 n, const djVec3 T[2]) {
  double round = c->r / dju_norm3(n);
  bend[0] = bend[2] = round;
  bend[1] = 0;
  if (!c->curved) return;
  djVec3 x = dj_curveBend(&c->curve, n, T[0]), y = dj_curveBend(&c->curve, n, T[1]);
  bend[0] += dju_dot3(T[0], x);
  bend[1] += dju_dot3(T[0], y);
  bend[2] += dju_dot3(T[1], y);
}

// The normal by what it has been turned.
static djVec3 turnNormal(djPairPlane* r) {
  djVec3 u = r->normal, t = dj_tangent(u);
  u = dju_madd3(dju_madd3(u, r->p[0] / r->length, t), r->p[1] / r->length, dju_cross3(u, t));
  r->p[TURN] = r->p[TURN + 1] = 0;
  r->normal = dju_scale3(1 / dju_norm3(u), u);
  return r->normal;
}

static void adaptHull(djPairPlane* r, const djPlaneWork* w, djVec3 u) {
  double load = 0;
  for (int side = 0; side < 2 && r->begun; side++) {
    const djCloud* c = &w->cloud[side];
    double sign = side ? 1 : -1, reach = dj_cloudReach(NULL, c, u);
    for (int i = 0; i < c->n; i++) {
      double height = sign * dju_dot3(u, dj_cloudVertex(c, i)) - reach;
      load += height * dj_rowLoad(r->length * height + sign * r->p[OFFSET], w->law);
    }
  }
  dj_adaptLength(r, load, w->law);
}

static void hullRows(djPairRows* rows, djPairPlane* r, djPlaneWork* w) {
  const djPairInput* in = w->in;
  djVec3 T[2], u = turnNormal(r);
  dj_placeClouds(w, r->center);
  adaptHull(r, w, u);
  const double length = r->length;
  const djVec3 n = dju_scale3(length, u);
  T[0] = dj_tangent(u);
  T[1] = dju_cross3(u, T[0]);
  const double far = DJ_ROWS_NEAR * w->law.s;
  double least[2] = {INFINITY, INFINITY}, bend[2][3];
  r->nown = OWN;
  for (int side = 0; side < 2; side++) bendOf(bend[side], &w->cloud[side], n, T);
  const int first = rows->n;
  for (int side = 0; side < 2; side++) {
    const djCloud* c = &w->cloud[side];
    djVec3 point;
    double sign = side ? 1 : -1, reach = dj_cloudReach(&point, c, n);
    for (int i = 0; i < c->n; i++) {
      djVec3 y = dj_cloudVertex(c, i);
      double x = sign * (dju_dot3(n, y) + r->p[OFFSET]) - reach;
      least[side] = fmin(least[side], x);
      if (x > far) continue;
      djContactRow* row = dj_barrierRow(rows, DJ_ROW_BARRIER, 2 * i + side, x, w->K, w->law);
      if (!row) return;
      djVec3 z = dju_madd3(y, -sign, point), at = dju_madd3(w->center, w->L, z);
      double J[12];
      djVec3 rho = dju_sub3(at, side ? in->ref_b : in->ref_a), d = dju_scale3(sign / w->L, n);
      memset(J, 0, sizeof J);
      dju_store3(J + 6 * side, dju_cross3(rho, d));
      dju_store3(J + 6 * side + 3, d);
      memcpy(row->J, J, sizeof J);
      row->B[TURN] = sign * dju_dot3(T[0], z);
      row->B[TURN + 1] = sign * dju_dot3(T[1], z);
      row->B[OFFSET] = sign;
      memcpy(row->bend, bend[side], sizeof row->bend);
    }
  }
  // P(1 - |n|) presses n to the shapes' distance
  double gap = fmax(least[0] + least[1], 0) / length;
  for (int i = first; i < rows->n; i++) {
    rows->row[i].bend[0] += 0.5 * gap;
    rows->row[i].bend[2] += 0.5 * gap;
  }
  memset(r->stiff, 0, sizeof r->stiff);
}

// ---- friction ---------------------------------------------------------------------------------

// Torques of a pair whose slips have given U_c: a disc of torsion, whose second row is nothing, and
// one of rolling.
static void turnRows(djPairRows* rows, const djTurn* t, double by_c, int first) {
  const double roll = dj_turnSmooth(t, dj_rollLever(t)), smooth = dj_turnSmooth(t, t->lever[0]);
  double y[3], rolling = 0;
  for (int i = 0; i < 3; i++) y[i] = t->lever[i] * t->x[i];
  if (roll > 0) rolling = sqrt(y[1] * y[1] + y[2] * y[2] + roll * roll) - roll;
  const double inner = smooth + rolling, outer = sqrt(y[0] * y[0] + inner * inner);
  const double part = t->lever[0] > 0 ? inner / outer : 1;
  for (int i = 0; i < 4; i++) {
    const int axis = i == 0 ? 0 : i - 1, used = i != 1;
    if (i < 2 ? !(t->lever[0] > 0) : !(roll > 0)) continue;
    djContactRow* row = dj_nextRow(rows, i % 2 ? DJ_ROW_ACROSS : DJ_ROW_SLIP, FIRST_TURN + 4 * first + i,
                             used * y[axis], i < 2 ? by_c : part * by_c,
                             i < 2 ? inner * inner : roll * roll);
    if (!row) return;
    djVec3 turned = dju_scale3(used * t->lever[axis], dj_turnRow(t, axis));
    dju_store3(row->J, dju_neg3(turned));
    dju_store3(row->J + 6, turned);
  }
}

// W c/r
static double byC(double W, double c2, double s0, double s1) {
  return W * sqrt(c2 / (s0 * s0 + s1 * s1 + c2));
}

void dj_halfSlipRows(djPairRows* rows, const djLagged* lagged, const djPairInput* in, int first) {
  const djMotion ma = dj_motionOf(in, 0), mb = dj_motionOf(in, 1);
  djTurn turn;
  dj_makeTurn(&turn, lagged, in, lagged->law.eps);
  const djStretch stretch = dj_stretchOf(lagged, in);
  const double rate = 1 / in->h, eps = lagged->law.eps;
  const double width = turn.acts ? turn.c * turn.c : eps;
  double by_c = 0;
  djVec3 t[2];
  t[0] = dj_tangent(lagged->normal);
  t[1] = dju_cross3(lagged->normal, t[0]);
  for (int k = 0; k < 2; k++) t[k] = dj_stretched(&stretch, t[k]);
  for (int i = 0; i < lagged->na; i++) {
    djVec3 y = dj_armPoint(lagged, lagged->law.arms, dju_load3(lagged->point + 3 * i));
    djVec3 da = dj_displace(&ma, y), db = dj_displace(&mb, y);
    djVec3 s = dju_scale3(rate, dju_sub3(da, db));
    djVec3 rho_a = dj_armNow(&ma, y, da), rho_b = dj_armNow(&mb, y, db);
    double weight = dj_slipWeight(in, lagged, i);
    if (!(weight > 0)) continue;
    for (int k = 0; k < 2; k++) {
      djContactRow* row = dj_nextRow(rows, k ? DJ_ROW_ACROSS : DJ_ROW_SLIP, FIRST_SLIP + 2 * (first + i) + k,
                               dju_dot3(t[k], s), weight, width);
      if (!row) return;
      dj_rowTwist(row->J, rate, t[k], rho_a, rho_b);
    }
    if (turn.acts) by_c += byC(weight, width, dju_dot3(t[0], s), dju_dot3(t[1], s));
  }
  if (turn.acts && by_c > 0) turnRows(rows, &turn, by_c, first);
}

// x (2) in tangents that depend on the normal alone.
static void turnSlip(double x[2], double c, double s, double x0, double x1) {
  x[0] = c * x0 + s * x1;
  x[1] = c * x1 - s * x0;
}

// Slips less v = (u, w): s = b - u - w J e.
static djStatus hullSlips(djPairRows* rows, djPairPlane* r, const djLagged* lagged,
                          const djPairInput* in) {
  djSlips S;
  djTurn turn;
  double buffer[DJ_SLIP_FIXED * DJ_SLIP_WIDTH], rate = 1 / in->h, by_c = 0;
  djStatus status = dj_gatherSlips(&S, buffer, lagged, in);
  if (status < 0 || S.n == 0) return status;
  dj_makeTurn(&turn, lagged, in, lagged->law.eps);
  const double width = turn.acts ? turn.c * turn.c : lagged->law.eps;
  const djStretch stretch = dj_stretchOf(lagged, in);
  djVec3 t[2];
  t[0] = dj_tangent(lagged->normal);
  t[1] = dju_cross3(lagged->normal, t[0]);
  double c = dju_dot3(t[0], S.q1), s = dju_dot3(t[0], S.q2), mean[2];
  for (int k = 0; k < 2; k++) t[k] = dj_stretched(&stretch, t[k]);
  turnSlip(mean, c, s, S.mean[0], S.mean[1]);
  double* v = r->p + MOTION;
  if (!r->begun) {
    v[0] = mean[0];
    v[1] = mean[1];
    v[2] = 0;
  }
  r->stiff[MOTION + 2] = S.spin;
  for (int i = 0; i < S.n; i++) {
    double e[2], b[2], slip[2];
    int side = i >= S.na;
    turnSlip(e, c, s, S.ex[i], S.ey[i]);
    turnSlip(b, c, s, S.bx[i], S.by[i]);
    djVec3 rho = {S.rx[i], S.ry[i], S.rz[i]};
    for (int k = 0; k < 2; k++) {
      double arm = k ? e[0] : -e[1];
      slip[k] = mean[k] + b[k] - v[k] - v[2] * arm;
      djContactRow* row = dj_nextRow(rows, k ? DJ_ROW_ACROSS : DJ_ROW_SLIP, FIRST_SLIP + 2 * i + k,
                               slip[k], S.W[i], width);
      if (!row) return DJ_OK;
      dju_store3(row->J + 6 * side, dju_scale3(rate, dju_cross3(rho, t[k])));
      dju_store3(row->J + 6 * side + 3, dju_scale3(rate, t[k]));
      row->B[MOTION + k] = -1;
      row->B[MOTION + 2] = -arm;
    }
    if (turn.acts) by_c += byC(S.W[i], width, slip[0], slip[1]);
  }
  if (turn.acts) turnRows(rows, &turn, by_c, 0);
  return DJ_OK;
}

static djStatus slipRows(djPairRows* rows, djPairPlane* r, djPlaneWork* w, djPlaneState* state) {
  djLagged lagged;
  djStatus status = dj_getLagged(&lagged, state, w);
  if (status < 0) return status;
  djPairInput rest = *w->in;
  rest.scratch = w->free;
  rest.nscratch = w->nfree;
  if (!w->half_space) return hullSlips(rows, r, &lagged, &rest);
  dj_halfSlipRows(rows, &lagged, &rest, 0);
  return DJ_OK;
}

djStatus dj_planeRows(djPairRows* rows, djPairPlane* r, djPairState* pair_state,
                      const djPairInput* in) {
  djPlaneState* state = (djPlaneState*)(void*)pair_state;
  djPlaneWork w;
  djStatus status = dj_openPlaneWork(&w, in, &state->erosion, false);
  if (status < 0) return status;
  bool slides = dj_planeSlides(state, in);
  if (dj_planeGuided(in)) {
    rows->n = -1;
    return DJ_OK;
  }
  if (!slides && !r->begun && dj_gapBound(&w, state) >= w.range) return DJ_OK;
  double gap = 0;
  if (w.half_space) halfRows(rows, r, &w, state);
  else if (!r->begun) status = beginHull(&gap, r, &w, state);
  if (status < 0 || gap >= w.range) return status;
  if (!w.half_space && (r->begun || gap > 0)) hullRows(rows, r, &w);
  else if (!w.half_space) rows->n = -1;
  if (rows->n >= 0 && slides) status = slipRows(rows, r, &w, state);
  r->begun = true;
  return status;
}
