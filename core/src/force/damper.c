// Damping and friction loss: dissipation D(v) = a v^2/2 + b |v|^3/3 + c v^4/4 + F |v|, smoothed
// over a rate of frictionloss_eps, along coordinates and each dof of free and ball joints. With the
// rate v = displacement/h, h D is an energy along the step. Actuators add gear[0]^2 times their
// damping.

#include "force/forces.h"

#include "math/smooth.h"
#include "model/param.h"

#include <math.h>
#include <string.h>

typedef struct Damping {
  double a, b, c, loss;
  bool acts;
} Damping;

// State: of each coordinate, then of each joint that has none.
static size_t size(const djModel* m) {
  return ((size_t)m->ncoord + (size_t)m->njnt) * sizeof(Damping);
}

// Of a joint and its coordinate, or -1.
static int entryOf(const djModel* m, int coordinate, int joint) {
  return coordinate >= 0 ? coordinate : m->ncoord + joint;
}

// What actuator i damps; NULL: nothing, it is on sites.
static Damping* ofActuator(void* state, const djModel* m, int i) {
  int c = m->actuator_coord[i], j = m->actuator_joint[i];
  if (c < 0 && j < 0) return NULL;
  return (Damping*)state + entryOf(m, c, j);
}

static void setDamping(Damping* d, const double* loss, const double* damping,
                       const double* poly) {
  if (loss) d->loss = *loss;
  if (!damping) return;
  d->a = *damping;
  d->b = poly[0];
  d->c = poly[1];
}

static djStatus begin(void* state, const djMotion* at, djError* err) {
  (void)err;
  const djModel* m = at->model;
  bool damped = !(m->opt.disable & DJ_DSBL_DAMPER);
  bool rubs = !(m->opt.disable & DJ_DSBL_FRICTIONLOSS);
  memset(state, 0, size(m));
  Damping* all = state;
  for (int c = 0; c < dj_linkCoordinates(m); c++) {
    setDamping(all + c, rubs ? DJ_LINK(m, c, frictionloss, 1) : NULL,
               damped ? DJ_LINK(m, c, damping, 1) : NULL, DJ_LINK(m, c, dampingpoly, 2));
  }
  for (int j = 0; j < m->njnt; j++) {
    if (m->jnt_coord[j] >= 0) continue;
    setDamping(all + m->ncoord + j, rubs ? m->jnt_frictionloss + j : NULL,
               damped ? m->jnt_damping + j : NULL, m->jnt_dampingpoly + 2 * j);
  }
  for (int i = 0; i < m->nu && damped; i++) {
    Damping* d = ofActuator(state, m, i);
    if (!d) continue;
    double g2 = m->actuator_gear[6 * i] * m->actuator_gear[6 * i];
    d->a += g2 * m->actuator_damping[i];
    d->b += g2 * m->actuator_dampingpoly[2 * i];
    d->c += g2 * m->actuator_dampingpoly[2 * i + 1];
  }
  for (int k = 0; k < m->ncoord + m->njnt; k++) {
    Damping* d = all + k;
    d->acts = d->a != 0 || d->b != 0 || d->c != 0 || d->loss > 0;
  }
  return DJ_OK;
}

// Slope and curvature of dissipation's force by the rate, without friction loss; at rest, where the
// slope has a kink, the mean of both curvatures.
static djJet slopeOf(double a, double b, double c, double v) {
  double side = (v > 0) - (v < 0);
  return (djJet){a + 2 * b * fabs(v) + 3 * c * v * v, 2 * b * side + 6 * c * v, 0};
}

static inline djJet dissipation(const Damping* d, double v, double eps) {
  double w = fabs(v);
  if (d->b == 0 && d->c == 0 && !(d->loss > 0)) {
    return (djJet){0.5 * d->a * v * v, d->a * v, d->a};
  }
  djJet r = {v * v * (d->a / 2 + d->b * w / 3 + d->c * v * v / 4),
             v * (d->a + d->b * w + d->c * v * v), slopeOf(d->a, d->b, d->c, v).f};
  if (!(d->loss > 0)) return r;
  djJet f = dju_smoothAbs(v, eps);
  return (djJet){r.f + d->loss * f.f, r.d + d->loss * f.d, r.dd + d->loss * f.dd};
}

// What of it is asked for: damping is smooth, friction loss is bounded.
static Damping actingOf(const Damping* d, const djMotion* at) {
  Damping part = *d;
  if (!(at->acting & DJ_ACTS_SMOOTH)) part.a = part.b = part.c = 0;
  if (!(at->acting & DJ_ACTS_ROWS)) part.loss = 0;
  return part;
}

static double rateOf(const djMotion* at, int c) {
  return (at->at.coord->x[c] - at->rate.coord->x[c]) / at->h;
}

static djStatus evaluate(djForceSum* sum, void* state, const djMotion* at) {
  const djModel* m = at->model;
  const Damping* d = state;
  double eps = m->opt.frictionloss_eps, h = at->h, frequency = 1 / h;
  const double *x = at->at.coord->x, *xr = at->rate.coord->x;
  for (int c = 0; c < dj_linkCoordinates(m); c++, d++) {
    if (!d->acts) continue;
    Damping part = actingOf(d, at);
    djJet D = dissipation(&part, (x[c] - xr[c]) * frequency, eps);
    sum->value += h * D.f;
    sum->f[c] += D.d;
    sum->k[c] += D.dd * frequency;
  }
  d = (const Damping*)state + m->ncoord;
  for (int j = 0; j < m->njnt; j++, d++) {
    if (!d->acts) continue;
    double psi[6];
    int dof = m->jnt_dofadr[j], n = dj_jointNv(m->jnt_type[j]);
    Damping part = actingOf(d, at);
    dj_jointDisplacement(psi, at, j);
    dj_pushJoint(sum, m, j);
    for (int k = 0; k < n; k++) {
      djJet D = dissipation(&part, psi[k] / h, eps);
      sum->value += h * D.f;
      sum->y[dof + k] += D.d;
      sum->Y[3 * (dof + k) + k % 3] += D.dd / h;
    }
  }
  return DJ_OK;
}

void dj_jointDamping(double* slope, double* bend, const djForces* forces, const djModel* m,
                     const double* qvel) {
  const Damping* all = forces->state[DJ_FORCE_DAMPER];
  for (int i = 0; i < m->nv; i++) {
    int j = m->dof_jnt[i];
    const Damping* d = all + entryOf(m, m->jnt_coord[j], j);
    djJet D = slopeOf(d->a, d->b, d->c, qvel[i]);
    slope[i] = D.f;
    if (bend) bend[i] = D.d;
  }
}

// Derivative of an actuator's slope by its gear.
static double slopeByGear(const djModel* m, int i, double v) {
  const double* poly = m->actuator_dampingpoly + 2 * i;
  return 2 * m->actuator_gear[6 * i] * slopeOf(m->actuator_damping[i], poly[0], poly[1], v).f;
}

void dj_jointDampingParams(double* param, const djModel* m, const double* qvel, const double* x) {
  double* damping = dj_paramBlock(param, m, DJ_FIELD_JOINT_DAMPING);
  double* gear = dj_paramBlock(param, m, DJ_FIELD_ACTUATOR_GEAR);
  if (m->opt.disable & DJ_DSBL_DAMPER) return;
  for (int i = 0; i < m->nv; i++) damping[m->dof_jnt[i]] += x[i];
  for (int a = 0; a < m->nu; a++) {
    int j = m->actuator_joint[a];
    for (int i = j < 0 ? m->nv : m->jnt_dofadr[j]; i < m->nv && m->dof_jnt[i] == j; i++) {
      gear[6 * a] += slopeByGear(m, a, qvel[i]) * x[i];
    }
  }
}

// That of joints follows from Y.
static djStatus start(djStartSum* sum, void* state, const djMotion* at) {
  const djModel* m = at->model;
  const Damping* d = state;
  for (int c = 0; c < dj_linkCoordinates(m); c++, d++) {
    if (!d->acts) continue;
    Damping part = actingOf(d, at);
    sum->krate[c] -= dissipation(&part, rateOf(at, c), m->opt.frictionloss_eps).dd / at->h;
  }
  return DJ_OK;
}

// ---- slopes by rates --------------------------------------------------------------------------

// Of tendons.
static void rates(djRateSum* sum, const void* state, const djMotion* at) {
  const djModel* m = at->model;
  const Damping* d = state;
  double* damping = sum->y ? dj_paramBlock(sum->param, m, DJ_FIELD_TENDON_DAMPING) : NULL;
  double* gear = sum->y ? dj_paramBlock(sum->param, m, DJ_FIELD_ACTUATOR_GEAR) : NULL;
  if (m->opt.disable & DJ_DSBL_DAMPER) return;
  for (int c = 0; c < dj_linkCoordinates(m); c++) {
    if (m->coord_type[c] != DJ_COORD_TENDON) continue;
    djJet D = slopeOf(d[c].a, d[c].b, d[c].c, rateOf(at, c));
    sum->slope[c] += D.f;
    sum->bend[c] += D.d;
    if (sum->y) damping[m->coord_id[c]] += sum->y[c];
  }
  for (int i = 0; i < m->nu && sum->y; i++) {
    int c = m->actuator_coord[i];
    if (c < 0 || m->coord_type[c] != DJ_COORD_TENDON) continue;
    gear[6 * i] += slopeByGear(m, i, rateOf(at, c)) * sum->y[c];
  }
}

// ---- parameters -------------------------------------------------------------------------------

typedef struct Slopes {
  double a, b, c, loss;
} Slopes;

// z D'(v) by the coefficients, in which it is linear: also where they are 0.
static void addSlopes(Slopes* s, const djMotion* at, double z, double v) {
  const djModel* m = at->model;
  if (!(m->opt.disable & DJ_DSBL_DAMPER) && at->acting & DJ_ACTS_SMOOTH) {
    s->a += z * v;
    s->b += z * v * fabs(v);
    s->c += z * v * v * v;
  }
  if (m->opt.disable & DJ_DSBL_FRICTIONLOSS || !(at->acting & DJ_ACTS_ROWS)) return;
  s->loss += z * dju_smoothAbs(v, m->opt.frictionloss_eps).d;
}

static Slopes scalarSlopes(const djMotion* at, int c, const double* z) {
  Slopes s = {0};
  addSlopes(&s, at, dj_coordinateRate(at->at.coord, at->model, c, z), rateOf(at, c));
  return s;
}

static Slopes jointSlopes(const djMotion* at, int j, const double* zeta) {
  const djModel* m = at->model;
  Slopes s = {0};
  int dof = m->jnt_dofadr[j];
  double psi[6];
  dj_jointDisplacement(psi, at, j);
  for (int k = 0; k < dj_jointNv(m->jnt_type[j]); k++) {
    addSlopes(&s, at, zeta[dof + k], psi[k] / at->h);
  }
  return s;
}

static djStatus params(djParamSums* sums, void* state, const djMotion* at, const double* z,
                       const double* zeta) {
  (void)state;
  const djModel* m = at->model;
  djLinkBlocks dampings = dj_linkBlocks(sums->param, m, DJ_FIELD_JOINT_DAMPING,
                                        DJ_FIELD_TENDON_DAMPING);
  djLinkBlocks losses = dj_linkBlocks(sums->param, m, DJ_FIELD_JOINT_FRICTIONLOSS,
                                      DJ_FIELD_TENDON_FRICTIONLOSS);
  for (int c = 0; c < dj_linkCoordinates(m); c++) {
    Slopes s = scalarSlopes(at, c, z);
    *dj_linkEntry(&dampings, m, c, 1) += s.a;
    *dj_linkEntry(&losses, m, c, 1) += s.loss;
  }
  double *damping = dampings.block[DJ_COORD_JOINT], *loss = losses.block[DJ_COORD_JOINT];
  double* gear = dj_paramBlock(sums->param, m, DJ_FIELD_ACTUATOR_GEAR);
  for (int j = 0; j < m->njnt; j++) {
    if (m->jnt_coord[j] >= 0) continue;
    Slopes s = jointSlopes(at, j, zeta);
    damping[j] += s.a;
    loss[j] += s.loss;
  }
  for (int i = 0; i < m->nu; i++) {
    const double* poly = m->actuator_dampingpoly + 2 * i;
    if (m->actuator_damping[i] == 0 && poly[0] == 0 && poly[1] == 0) continue;
    int c = m->actuator_coord[i];
    Slopes s = c >= 0 ? scalarSlopes(at, c, z) : jointSlopes(at, m->actuator_joint[i], zeta);
    double by_square = m->actuator_damping[i] * s.a + poly[0] * s.b + poly[1] * s.c;
    gear[6 * i] += 2 * m->actuator_gear[6 * i] * by_square;
  }
  return DJ_OK;
}

const djForceRow dj_damperForce = {.name = "damper",
                                   .acts = DJ_ACTS_ALL,
                                   .along = true,
                                   .size = size,
                                   .begin = begin,
                                   .evaluate = evaluate,
                                   .start = start,
                                   .params = params,
                                   .params_of = DJ_BY_LAW,
                                   .rates = rates};
