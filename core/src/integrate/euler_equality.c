// Equality constraints as rows (euler_row.h): one for each number of those that are active.
//
// What velocities make of x'', which connect and weld have in their reference, is g = W . A(q, v) +
// ... (model/span_bias.c) of both bodies' twists V and accelerations A. With inverse_dynamics.h's
//   dV = S_j x V - L_j,  dA = S_j x A - L_j x V - K_j   along dof j,
//   dV = S_j,            dA = S_j x V - Lv_j            by its velocity,
// that is, with Y the derivative by V and C by poses, for each body
//   g_q = S . (C + V x* Y + A x* W) - L . (Y + V x* W) - K . W,
//   g_v = S . (Y + V x* W) - Lv . W.
// A parameter that moves frames is a dof that stands still: with U and A(U) above it,
//   S . D,  D = C + V x* Y + A x* W - A(U) x* W + U x* (U x* W) - U x* (Y + V x* W).

#include "integrate/euler_row.h"

#include "base/status.h"
#include "integrate/euler.h"
#include "integrate/tendon_armature.h"
#include "model/equality.h"
#include "model/span.h"

#include <math.h>
#include <string.h>

static bool areOf(const djModel* m, djEqualityLaw law) {
  return m->opt.equality == law && !(m->opt.disable & DJ_DSBL_EQUALITY);
}

static int firstOf(const djWork* w, const djModel* m, djEqualityLaw law) {
  for (int e = 0; e < m->nequality && areOf(m, law); e++) {
    if (w->start.eq_active[e]) return e;
  }
  return -1;
}

int dj_activeEquality(const djWork* w, const djModel* m) {
  return firstOf(w, m, DJ_EQUALITY_SOFT);
}

int dj_hardEquality(const djWork* w, const djModel* m) {
  return firstOf(w, m, DJ_EQUALITY_HARD);
}

// ---- bodies -----------------------------------------------------------------------------------

typedef struct Side {
  djSix W, Q, C;   // gradient; Y + V x* W; C + V x* Y + A x* W
} Side;

// Both bodies of a number of connect or weld at the start, w->inverse set. Returns g.
static double openBias(Side side[2], djSpan* span, djSpanBias* bias, const djWork* w,
                       const djModel* m, int c) {
  const djSix none = {{0, 0, 0}, {0, 0, 0}};
  djSix V[2], A[2];
  double W[12];
  djSpanAt at = {0, 1};
  dj_nextSpan(span, &at, m, &w->begin.kin, c, 2);
  dj_spanGradient(W, span, w->ref);
  double sum = 0;
  for (int s = 0; s < 2; s++) {
    int b = span->body[s];
    bool moves = m->body_lastdof[b] >= 0;
    V[s] = moves ? dju_load6(w->inverse.V + 6 * b) : none;
    A[s] = moves ? dju_load6(w->inverse.A + 6 * b) : none;
    side[s].W = dju_load6(W + 6 * s);
  }
  dj_spanBias(bias, span, w->ref, V, A);
  sum = bias->value;
  for (int s = 0; s < 2; s++) {
    side[s].Q = dju_add6(bias->V[s], dju_crossWrench(V[s], side[s].W));
    side[s].C = dju_add6(bias->pose[s], dju_add6(dju_crossWrench(V[s], bias->V[s]),
                                                 dju_crossWrench(A[s], side[s].W)));
  }
  return sum;
}

static void moveBodies(double* tau, djWork* w, const djModel* m) {
  dj_inverseDynamics(tau, &w->inverse, m, &w->begin.kin, w->ref, w->armature, w->start.qvel,
                     w->rows.zero);
}

// ---- the start --------------------------------------------------------------------------------

static double sizeOf(const djWork* w, const djModel* m, int e) {
  const double* x = w->begin.coord.x + m->eq_coord[e];
  double sum = 0;
  for (int k = 0; k < m->eq_coordnum[e]; k++) sum += x[k] * x[k];
  return sqrt(sum);
}

static bool isZero(const djAlong* x) {
  for (int k = 0; k < x->n; k++) {
    if (x->J[k] != 0) return false;
  }
  return true;
}

static void beginNumber(djWork* w, const djModel* m, int e, int part, double size) {
  int c = m->eq_coord[e] + part;
  bool bodies = dj_isBetweenBodies(m->eq_type[e]);
  djAlong x = dj_along(&w->begin.coord, m, c);
  Side side[2];
  djSpan span;
  djSpanBias bias;
  if (isZero(&x)) return;
  djEulerRow* r = dj_nextEulerRow(&w->rows, w->h);
  djLimitDef law = {.stiffness = m->eq_stiffness[e], .damping = m->eq_damping[e],
                    .inertia = m->eq_effinertia[2 * e + (part >= 3)],
                    .impedance = m->eq_impedance + 5 * e};
  double g = bodies ? openBias(side, &span, &bias, w, m, c) : 0;
  double rate = dj_coordinateRate(&w->begin.coord, m, c, w->start.qvel);
  dj_setRowHold(&r->law, &law, w->begin.coord.x[c], rate, size, g);
  r->coordinate = c;
  r->equality = e;
  r->biased = bodies;
  r->bends = true;
  r->n = x.n;
  r->dof = x.dof;
  r->J = x.J;
  w->rows.n++;
}

void dj_beginEqualities(djWork* w, const djModel* m) {
  bool moved = false;
  if (!areOf(m, DJ_EQUALITY_SOFT)) return;
  for (int e = 0; e < m->nequality; e++) {
    if (!w->start.eq_active[e]) continue;
    if (!moved) moveBodies(NULL, w, m);
    moved = true;
    double size = sizeOf(w, m, e);
    for (int k = 0; k < m->eq_coordnum[e]; k++) beginNumber(w, m, e, k, size);
  }
}

// ---- derivatives ------------------------------------------------------------------------------

// |r| changes with all numbers of the constraint, which have the same dofs.
static void addSize(djEulerRow* r, const djWork* w, const djModel* m) {
  double size = sizeOf(w, m, r->equality);
  if (r->at.by_size == 0 || size == 0) return;
  for (int k = 0; k < m->eq_coordnum[r->equality]; k++) {
    int c = m->eq_coord[r->equality] + k;
    djAlong x = dj_along(&w->begin.coord, m, c);
    double f = r->at.by_size * w->begin.coord.x[c] / size;
    for (int i = 0; i < x.n; i++) r->law_q[i] += f * x.J[i];
  }
}

static void addBias(djEulerRow* r, const djWork* w, const djModel* m) {
  const djInverse* d = &w->inverse;
  Side side[2];
  djSpan span;
  djSpanBias bias;
  openBias(side, &span, &bias, w, m, r->coordinate);
  for (int s = 0; s < 2; s++) {
    const Side* at = &side[s];
    int k = r->n - 1;
    for (int i = m->body_lastdof[span.body[s]]; i >= 0; i = m->dof_parent[i]) {
      while (r->dof[k] != i) k--;
      djSix S = dju_load6(w->begin.kin.S + 6 * i), L = dju_load6(d->L + 6 * i);
      djSix K = dju_load6(d->K + 6 * i), Lv = dju_load6(d->Lv + 6 * i);
      r->law_q[k] += r->at.by_bias *
                     (dju_dot6(S, at->C) - dju_dot6(L, at->Q) - dju_dot6(K, at->W));
      r->law_v[k] += r->at.by_bias * (dju_dot6(S, at->Q) - dju_dot6(Lv, at->W));
    }
  }
}

void dj_linearizeEqualities(djWork* w, const djModel* m) {
  bool moved = false;
  for (int k = 0; k < w->rows.n; k++) {
    djEulerRow* r = &w->rows.row[k];
    if (r->equality < 0) continue;
    addSize(r, w, m);
    if (!r->biased) continue;
    if (!moved) moveBodies(w->nonpotential, w, m);
    moved = true;
    addBias(r, w, m);
  }
}

// ---- parameters -------------------------------------------------------------------------------

// D above: U and A(U) above, W, Q and C below.
static djSix dualAt(const djFramePlace* p) {
  djSix U = p->above[0], AU = p->above[1], W = p->below[0];
  djSix y = dju_crossWrench(U, dju_sub6(dju_crossWrench(U, W), p->below[1]));
  return dju_add6(p->below[2], dju_sub6(y, dju_crossWrench(AU, W)));
}

static void add6(double* to, double f, djSix x) {
  dju_addTo3(to, f, x.w);
  dju_addTo3(to + 3, f, x.v);
}

// f g of a row.
static void biasParams(djParamSums* s, djWork* w, const djModel* m, const djEulerRow* r, double f) {
  Side side[2];
  djSpan span;
  djSpanBias bias;
  double* sum[3] = {w->wrench, w->momentum_change, s->Cback};
  djConfig at = dj_wantedConfig(s, &w->begin.kin, w->begin.q, w->ref);
  openBias(side, &span, &bias, w, m, r->coordinate);
  for (int k = 0; k < 3; k++) memset(sum[k], 0, (size_t)m->nbody * 6 * sizeof(double));
  for (int k = 0; k < 2; k++) {
    int b = span.body[k];
    add6(sum[0] + 6 * b, f, side[k].W);
    add6(sum[1] + 6 * b, f, side[k].Q);
    add6(sum[2] + 6 * b, f, side[k].C);
    if (k >= span.n) continue;
    djVec3 local = dju_mulMtV(w->begin.kin.body[b].R, bias.point[k]);
    dju_addTo3(dj_spanPoint(s->param, m, &span, k), f, local);
  }
  for (int k = 0; k < 3; k++) dj_gatherCotangents(sum[k], m, w->ref);
  const djFrameField field = {.above = {w->inverse.V, w->inverse.A},
                              .rate = {w->start.qvel, w->rows.zero},
                              .axis_cross = {NULL, w->inverse.L},
                              .axis_cross_rate = {NULL, w->start.qvel},
                              .below = {sum[0], sum[1], sum[2]},
                              .dual = dualAt};
  dj_frameParamsOf(s->param, m, &at, 1, &field);
}

void dj_equalityParams(djParamSums* s, djWork* w, const djModel* m, const djEulerRow* r, double f,
                       bool* moved) {
  double size = sizeOf(w, m, r->equality);
  if (f == 0 || !(s->wants & (DJ_BY_FRAME | DJ_BY_SITE | DJ_BY_LAW))) return;
  for (int k = 0; k < m->eq_coordnum[r->equality] && r->at.by_size != 0 && size > 0; k++) {
    int c = m->eq_coord[r->equality] + k;
    double x = w->begin.coord.x[c];
    dj_addLengthParams(s, w, m, &w->begin, c, f * r->at.by_size * x / size);
  }
  if (!r->biased || r->at.by_bias == 0) return;
  if (!*moved) moveBodies(NULL, w, m);
  *moved = true;
  biasParams(s, w, m, r, f * r->at.by_bias);
}
