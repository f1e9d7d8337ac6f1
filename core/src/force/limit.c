// Limits: one-sided springs at both bounds of a coordinate, and of a ball joint's angle, with
// damping of coordinates that fades in with the depth at the start of the step; of prompt motions
// with that at the point, where it has no energy.

#include "force/forces.h"
#include "force/radial.h"

#include "math/so3.h"
#include "model/param.h"

#include <math.h>

// Width over which a spring sets in, as a fraction of the range.
#define LIMIT_WIDTH 0.01

// One side of a limit at the start of a step, or at the point; out: direction of pressing in.
typedef struct Side {
  double out, bound;
  double start;        // depth there
  bool damped;
  double damping;      // in force
  djJet fade, spring;  // of the damping and the spring
} Side;

// What limits a coordinate or an angle during a step.
typedef struct Limit {
  bool acts;
  double margin, stiffness, damping, width;
  bool follows;        // the width follows the range; otherwise it is a constant
  double quiet[2];     // of coordinates: between these nothing acts (low > high: it may anywhere)
  Side side[2];
} Limit;

// State: of each coordinate, then of each joint that has none.
static size_t size(const djModel* m) {
  return ((size_t)m->ncoord + (size_t)m->njnt) * sizeof(Limit);
}

static void beginSide(Side* s, const Limit* l, double x) {
  s->start = l->margin + s->out * (x - s->bound);
  s->damped = false;
  if (!(s->start > 0)) return;
  s->fade = dju_smoothStep(s->start / l->width);
  s->spring = dju_softLimit(s->start, l->stiffness, l->width);
  s->damping = l->damping * s->fade.f;
  s->damped = s->damping > 0;
}

// inertia: that stiffness and damping are given for. range: of a coordinate, or 0 and an angle.
static void beginLimit(Limit* l, double low, double high, double margin, double stiffness,
                       double damping, double inertia) {
  double width = LIMIT_WIDTH * (high - low);
  l->follows = width > 1e-9 && isfinite(width);
  l->width = l->follows ? width : 1e-3;
  l->margin = margin;
  l->stiffness = stiffness * inertia;
  l->damping = damping * inertia;
  for (int k = 0; k < 2; k++) {
    l->side[k].out = k ? 1 : -1;
    l->side[k].bound = k ? high : low;
  }
}

static djStatus begin(void* state, const djMotion* at, djError* err) {
  (void)err;
  const djModel* m = at->model;
  bool off = (m->opt.disable & DJ_DSBL_LIMIT) != 0;
  Limit* l = state;
  for (int c = 0; c < dj_linkCoordinates(m); c++, l++) {
    l->acts = *DJ_LINK(m, c, limited, 1) && !off;
    if (!l->acts) continue;
    const double* range = DJ_LINK(m, c, range, 2);
    beginLimit(l, range[0], range[1], *DJ_LINK(m, c, margin, 1),
               *DJ_LINK(m, c, limit_stiffness, 1), *DJ_LINK(m, c, limit_damping, 1),
               *DJ_LINK(m, c, effinertia, 1));
    bool pressed = false;
    for (int k = 0; k < 2; k++) {
      beginSide(&l->side[k], l, at->at0.coord->x[c]);
      pressed |= l->side[k].start > 0;
    }
    l->quiet[0] = pressed ? INFINITY : range[0] + l->margin;
    l->quiet[1] = pressed ? -INFINITY : range[1] - l->margin;
  }
  l = (Limit*)state + m->ncoord;
  for (int j = 0; j < m->njnt; j++, l++) {
    l->acts = dj_jointRow(m, j)->quat && m->jnt_limited[j] && !off;
    if (!l->acts) continue;
    beginLimit(l, 0, m->jnt_range[2 * j + 1], m->jnt_margin[j], m->jnt_limit_stiffness[j],
               m->jnt_limit_damping[j], m->jnt_effinertia[j]);
  }
  return DJ_OK;
}

// Damping at speed u into the bound. c: coefficient, F: the spring's force, both at the start of
// the step. Pressing in it is linear, energy rate c u^2/2. On the way out it never outweighs the
// spring: F (sqrt(u^2 + w^2) - w) with w = F/c, which has the same curvature at rest and the slope
// F far from it. Beside value and derivatives by u, the slope's by c and F.
static djJet dampingAt(double* by_c, double* by_F, double u, double c, double F) {
  if (u >= 0 || !(F > 0)) {
    double side = u >= 0 ? 1 : 0;
    *by_c = side * u;
    *by_F = 0;
    return (djJet){0.5 * side * c * u * u, side * c * u, side * c};
  }
  double w = F / c, r = sqrt(u * u + w * w), r3 = r * r * r;
  *by_c = F * u * w * w / (c * r3);
  *by_F = u * u * u / r3;
  return (djJet){F * u * u / (r + w), F * u / r, F * w * w / r3};
}

// ---- coordinates ------------------------------------------------------------------------------

static double depthOf(const Limit* l, const Side* s, const djMotion* at, int c) {
  return l->margin + s->out * (at->at.coord->x[c] - s->bound);
}

static djJet dampingOf(double* by_c, double* by_F, const Side* s, const djMotion* at, int c) {
  double speed = s->out * (at->at.coord->x[c] - at->rate.coord->x[c]) / at->h;
  return dampingAt(by_c, by_F, speed, s->damping, s->spring.d);
}

// The depth by which side k is damped: that of the start, or of the point.
static Side sideOf(const Limit* l, const djMotion* at, int c, int k) {
  Side s = l->side[k];
  if (at->prompt) beginSide(&s, l, at->at.coord->x[c]);
  return s;
}

// Derivative of the damping's slope by that depth.
static double dampingByDepth(const Limit* l, const Side* s, double by_c, double by_F) {
  return by_c * l->damping * s->fade.d / l->width + by_F * s->spring.dd;
}

// Energy, its slope and curvature along coordinate c; *extra: of the slope what has no energy.
static djJet scalarAt(double* extra, const Limit* l, const djMotion* at, int c) {
  djJet sum = {0, 0, 0};
  *extra = 0;
  for (int k = 0; k < 2; k++) {
    Side side = sideOf(l, at, c, k), *s = &side;
    double depth = depthOf(l, s, at, c);
    if (depth <= 0 && s->start <= 0) continue;
    djJet V = dju_softLimit(depth, l->stiffness, l->width);
    sum.f += V.f;
    sum.d += s->out * V.d;
    sum.dd += V.dd;
    if (!s->damped) continue;
    double by_c, by_F;
    djJet D = dampingOf(&by_c, &by_F, s, at, c);
    sum.d += s->out * D.d;
    sum.dd += D.dd / at->h;
    if (at->prompt) {
      sum.dd += dampingByDepth(l, s, by_c, by_F);
      *extra += s->out * D.d;
    } else {
      sum.f += at->h * D.f;
    }
  }
  return sum;
}

static djStatus start(djStartSum* sum, void* state, const djMotion* at) {
  const djModel* m = at->model;
  const Limit* l = state;
  for (int c = 0; c < dj_linkCoordinates(m); c++, l++) {
    if (!l->acts) continue;
    for (int k = 0; k < 2; k++) {
      Side side = sideOf(l, at, c, k), *s = &side;
      if (!s->damped) continue;
      double by_c, by_F;
      djJet D = dampingOf(&by_c, &by_F, s, at, c);
      if (!at->prompt) sum->k0[c] += dampingByDepth(l, s, by_c, by_F);
      sum->krate[c] -= D.dd / at->h;
    }
  }
  return DJ_OK;
}

// Both sides press with out (V'(depth) + D'), V' the slope of the soft limit, D' that of the
// damping c A(start/w) at the depth that it goes by. A bound moves both depths by -out; both move
// the width w.
static void scalarParams(double range[2], const Limit* l, const djMotion* at, int c, double z) {
  double w = l->width, by_width = 0;
  for (int k = 0; k < 2; k++) {
    Side side = sideOf(l, at, c, k), *s = &side;
    double depth = depthOf(l, s, at, c);
    range[k] -= z * dju_softLimit(depth, l->stiffness, w).dd;
    by_width += z * s->out * dju_softLimitByWidth(depth, l->stiffness, w);
    if (!s->damped) continue;
    double by_c, by_F;
    dampingOf(&by_c, &by_F, s, at, c);
    range[k] -= z * dampingByDepth(l, s, by_c, by_F);
    by_width += z * s->out * (by_F * dju_softLimitByWidth(s->start, l->stiffness, w) -
                              by_c * l->damping * s->fade.d * s->start / (w * w));
  }
  if (!l->follows) return;
  range[0] -= LIMIT_WIDTH * by_width;
  range[1] += LIMIT_WIDTH * by_width;
}

// ---- angles of ball joints --------------------------------------------------------------------

static djVec3 turn(const djMotion* at, int j) {
  return dju_logQuat(dju_normalizeQuat(dju_loadQuat(at->at.q + at->model->jnt_qposadr[j])));
}

static djJet angleAt(const Limit* l, double angle) {
  return dju_softLimit(angle - l->side[1].bound + l->margin, l->stiffness, l->width);
}

static void addAngle(djForceSum* sum, const Limit* l, const djMotion* at, int j) {
  djVec3 x = turn(at, j);
  double r = dju_norm3(x), y[3] = {0}, Y[9] = {0};
  dj_addRadial(y, Y, &sum->value, angleAt(l, r), x, r);
  if (sum->derivatives) dj_addRotation(sum, at->model->jnt_dofadr[j], x, y, Y);
}

// y = V'(|x| - range) x/|x|, x = log q.
static void angleParams(double range[2], const Limit* l, const djMotion* at, int j, djVec3 z) {
  djVec3 x = turn(at, j);
  double r = dju_norm3(x);
  if (!(r > 1e-12)) return;
  double along = dju_dot3(z, x) / r, by_range = -angleAt(l, r).dd;
  if (l->follows) {
    double depth = r - l->side[1].bound + l->margin;
    by_range += LIMIT_WIDTH * dju_softLimitByWidth(depth, l->stiffness, l->width);
  }
  range[1] += along * by_range;
}

// ---- all --------------------------------------------------------------------------------------

static djStatus evaluate(djForceSum* sum, void* state, const djMotion* at) {
  const djModel* m = at->model;
  const Limit* l = state;
  for (int c = 0; c < dj_linkCoordinates(m); c++, l++) {
    double x = at->at.coord->x[c];
    if (!l->acts || (x >= l->quiet[0] && x <= l->quiet[1])) continue;
    double extra;
    djJet V = scalarAt(&extra, l, at, c);
    sum->extra[c] += extra;
    sum->value += V.f;
    sum->f[c] += V.d;
    sum->k[c] += V.dd;
  }
  l = (const Limit*)state + m->ncoord;
  for (int j = 0; j < m->njnt; j++, l++) {
    if (l->acts) addAngle(sum, l, at, j);
  }
  return DJ_OK;
}

static djStatus params(djParamSums* sums, void* state, const djMotion* at, const double* z,
                       const double* zeta) {
  (void)zeta;
  const djModel* m = at->model;
  const Limit* l = state;
  djLinkBlocks ranges =
      dj_linkBlocks(sums->param, m, DJ_FIELD_JOINT_RANGE, DJ_FIELD_TENDON_RANGE);
  for (int c = 0; c < dj_linkCoordinates(m); c++, l++) {
    if (!l->acts) continue;
    double along = dj_coordinateRate(at->at.coord, m, c, z);
    scalarParams(dj_linkEntry(&ranges, m, c, 2), l, at, c, along);
  }
  l = (const Limit*)state + m->ncoord;
  double* range = ranges.block[DJ_COORD_JOINT];
  for (int j = 0; j < m->njnt; j++, l++) {
    if (l->acts) angleParams(range + 2 * j, l, at, j, dju_load3(z + m->jnt_dofadr[j]));
  }
  return DJ_OK;
}

double dj_jointLimitForce(const djForces* forces, const djMotion* at, int j) {
  int c = at->model->jnt_coord[j];
  if (c >= 0) return dj_limitForceAlong(forces, at, c);
  const Limit* l = (const Limit*)forces->state[DJ_FORCE_LIMIT] + at->model->ncoord + j;
  return l->acts ? angleAt(l, dju_norm3(turn(at, j))).d : 0;
}

double dj_limitForceAlong(const djForces* forces, const djMotion* at, int c) {
  const Limit* l = (const Limit*)forces->state[DJ_FORCE_LIMIT] + c;
  double extra;
  return l->acts ? fabs(scalarAt(&extra, l, at, c).d) : 0;
}

const djForceRow dj_limitForce = {.name = "limit",.acts = DJ_ACTS_ROWS,
                                  .along = true,
                                  .size = size,
                                  .begin = begin,
                                  .evaluate = evaluate,
                                  .start = start,
                                  .params = params,
                                  .params_of = DJ_BY_LAW};
