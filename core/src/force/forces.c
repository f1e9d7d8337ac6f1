#include "force/forces.h"

#include "base/status.h"
#include "force/bend_param.h"
#include "math/block6.h"
#include "math/so3.h"
#include "model/param.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROW(id, name) &dj_##name##Force,
static const djForceRow* const rows[DJ_NFORCE] = {DJ_FORCES(ROW)};

// ---- memory -----------------------------------------------------------------------------------

bool dj_hasContact(const djModel* m) {
  return dj_ownContact(m) && !(m->opt.disable & DJ_DSBL_CONTACT);
}

static bool isOff(const djModel* m, int i) { return i == DJ_FORCE_CONTACT && !dj_hasContact(m); }

// At least a byte, so that a state that is on is not NULL.
static size_t stateSize(const djModel* m, int i) {
  if (isOff(m, i)) return 0;
  return 1 + (rows[i]->size ? rows[i]->size(m) : 0);
}

size_t dj_forcesSize(const djModel* m) {
  size_t size = (size_t)m->nbody * sizeof(djLoad) + dj_twistForcesSize(m);
  for (int i = 0; i < DJ_NFORCE; i++) size += stateSize(m, i);
  return dj_hasContact(m) ? size + dj_contactsSize(m) : size;
}

djStatus dj_makeForces(djForces* f, const djModel* m, djError* err) {
  djStatus status = DJ_OK;
  memset(f, 0, sizeof *f);
  f->load = calloc((size_t)m->nbody, sizeof(djLoad));
  f->twist_memory = calloc(1, dj_twistForcesSize(m));
  f->size = (size_t)m->nbody * sizeof(djLoad) + dj_twistForcesSize(m);
  if (!f->load || !f->twist_memory) status = dj_failMemory(err);
  else f->twist = dj_initTwistForces(m, f->twist_memory);
  for (int i = 0; i < DJ_NFORCE && status == DJ_OK; i++) {
    if (isOff(m, i)) continue;
    f->state[i] = calloc(1, stateSize(m, i));
    f->size += stateSize(m, i);
    if (!f->state[i]) status = dj_failMemory(err);
    else if (rows[i]->make) status = rows[i]->make(f->state[i], m, err);
  }
  if (status < 0) dj_freeForces(f);
  return status;
}

void dj_freeForces(djForces* f) {
  for (int i = 0; i < DJ_NFORCE; i++) {
    if (f->state[i] && rows[i]->free) rows[i]->free(f->state[i]);
    free(f->state[i]);
  }
  free(f->load);
  free(f->twist_memory);
  memset(f, 0, sizeof *f);
}

void dj_forgetForces(djForces* f) {
  for (int i = 0; i < DJ_NFORCE; i++) {
    if (f->state[i] && rows[i]->forget) rows[i]->forget(f->state[i]);
  }
}

// ---- a step -----------------------------------------------------------------------------------

// Whether row i is on, and of those that are asked for.
static bool acts(const djForces* f, int i, djActing acting) {
  return f->state[i] && dj_rowActs(rows[i], acting);
}

djStatus dj_beginForces(djForces* f, const djMotion* at, djError* err) {
  if (at->acting & DJ_ACTS_SMOOTH) {
    memset(f->load, 0, (size_t)at->model->nbody * sizeof(djLoad));
  }
  for (int i = 0; i < DJ_NFORCE; i++) {
    if (!acts(f, i, at->acting)) continue;
    if (rows[i]->loads) rows[i]->loads(f->load, at);
    if (!rows[i]->begin) continue;
    djStatus status = rows[i]->begin(f->state[i], at, err);
    if (status < 0) return status;
  }
  return DJ_OK;
}

void dj_moveRates(djForces* f, const djMotion* at) {
  for (int i = 0; i < DJ_NFORCE; i++) {
    if (acts(f, i, at->acting) && rows[i]->move_rates) rows[i]->move_rates(f->state[i], at);
  }
}

djStatus dj_alongForces(djForceSum* sum, djStartSum* start, djForces* f, const djMotion* at) {
  djStartSum slopes = *start;
  slopes.N0 = slopes.Nrate = NULL;
  slopes.R0 = slopes.Rrate = NULL;
  for (int i = 0; i < DJ_NFORCE; i++) {
    if (!acts(f, i, at->acting) || !rows[i]->along) continue;
    djStatus status = rows[i]->evaluate(sum, f->state[i], at);
    if (status >= 0 && rows[i]->start) status = rows[i]->start(&slopes, f->state[i], at);
    if (status < 0) return status;
  }
  return DJ_OK;
}

djStatus dj_findForces(double* value, bool* majorized, djForces* f, const djMotion* at,
                       int flags) {
  *value = 0;
  *majorized = false;
  for (int i = 0; i < DJ_NFORCE; i++) {
    if (!acts(f, i, at->acting) || !rows[i]->find) continue;
    djStatus status = rows[i]->find(value, majorized, f->state[i], at, flags);
    if (status < 0) return status;
    if (!isfinite(*value)) {
      *value = INFINITY;
      return DJ_OK;
    }
  }
  return DJ_OK;
}

void dj_coupleForces(djPattern* pattern, const djForces* f, const djModel* m, djActing acting) {
  for (int i = 0; i < DJ_NFORCE; i++) {
    if (acts(f, i, acting) && rows[i]->couple) rows[i]->couple(pattern, f->state[i], m);
  }
}

djStatus dj_evaluateForces(djForceSum* sum, djForces* f, const djMotion* at) {
  for (int i = 0; i < DJ_NFORCE; i++) {
    if (!acts(f, i, at->acting) || !rows[i]->evaluate) continue;
    djStatus status = rows[i]->evaluate(sum, f->state[i], at);
    if (status < 0) return status;
  }
  if (sum->derivatives) dj_sumCoordinates(sum, at);
  return DJ_OK;
}

void dj_rateSlopes(djRateSum* sum, djForces* f, const djMotion* at) {
  memset(sum->slope, 0, (size_t)at->model->ncoord * sizeof(double));
  memset(sum->bend, 0, (size_t)at->model->ncoord * sizeof(double));
  memset(sum->by_x, 0, (size_t)at->model->ncoord * sizeof(double));
  for (int i = 0; i < DJ_NFORCE; i++) {
    if (acts(f, i, at->acting) && rows[i]->rates) rows[i]->rates(sum, f->state[i], at);
  }
}

djStatus dj_lagAtEnd(djMatrix* H, double* N, djForces* f, const djMotion* at) {
  for (int i = 0; i < DJ_NFORCE; i++) {
    if (!acts(f, i, at->acting) || !rows[i]->lag) continue;
    djStatus status = rows[i]->lag(H, N, f->state[i], at);
    if (status < 0) return status;
  }
  return DJ_OK;
}

bool dj_hasNonpotentialForces(const djForces* f, const djModel* m) {
  for (int i = 0; i < DJ_NFORCE; i++) {
    if (f->state[i] && rows[i]->is_nonpotential && rows[i]->is_nonpotential(m)) return true;
  }
  return false;
}

void dj_nonpotentialForces(djForceSum* sum, double* gradient, djForces* f, const djMotion* at) {
  memset(gradient, 0, (size_t)at->model->nv * sizeof(double));
  sum->twist = &f->twist;
  f->twist.open = false;
  for (int i = 0; i < DJ_NFORCE; i++) {
    if (acts(f, i, at->acting) && rows[i]->nonpotential) rows[i]->nonpotential(sum, gradient, f->state[i], at);
  }
  if (f->twist.open) dj_projectTwistForces(&f->twist, sum->H, gradient, at);
}

djStatus dj_startForces(djStartSum* start, const djForceSum* sum, djForces* f,
                        const djMotion* at) {
  start->twist = &f->twist;
  f->twist.open = false;
  for (int i = 0; i < DJ_NFORCE; i++) {
    if (!acts(f, i, at->acting) || !rows[i]->start) continue;
    djStatus status = rows[i]->start(start, f->state[i], at);
    if (status < 0) return status;
  }
  dj_startCoordinates(start, sum, at);
  if (f->twist.open) dj_projectTwistRates(&f->twist, start, at);
  return DJ_OK;
}

djStatus dj_startPast(djMatrix* R, djForces* f, const djMotion* at) {
  for (int i = 0; i < DJ_NFORCE; i++) {
    if (!acts(f, i, at->acting) || !rows[i]->past) continue;
    djStatus status = rows[i]->past(R, f->state[i], at);
    if (status < 0) return status;
  }
  return DJ_OK;
}

void dj_forceInputs(djInputSum* sum, djForces* f, const djMotion* at) {
  sum->twist = &f->twist;
  f->twist.open = false;
  for (int i = 0; i < DJ_NFORCE; i++) {
    if (acts(f, i, at->acting) && rows[i]->inputs) rows[i]->inputs(sum, f->state[i], at);
  }
}

djStatus dj_maxStep(double* fraction, djForces* f, const djMotion* at, const djKin* trial) {
  *fraction = 1;
  for (int i = 0; i < DJ_NFORCE; i++) {
    if (!acts(f, i, at->acting) || !rows[i]->max_step) continue;
    djStatus status = rows[i]->max_step(fraction, f->state[i], at, trial);
    if (status < 0) return status;
  }
  return DJ_OK;
}

double dj_potential(const djForces* f, const djMotion* at) {
  double sum = 0;
  for (int i = 0; i < DJ_NFORCE; i++) {
    if (f->state[i] && rows[i]->potential) sum += rows[i]->potential(at);
  }
  return sum;
}

djStatus dj_reportForces(djData* d, djForces* f, const djMotion* at) {
  for (int i = 0; i < DJ_NFORCE; i++) {
    if (!f->state[i] || !rows[i]->report) continue;
    djStatus status = rows[i]->report(d, f->state[i], at);
    if (status < 0) return status;
  }
  return DJ_OK;
}

// ---- parameters -------------------------------------------------------------------------------

// zeta = J_r^-1(phi) z on rotations, phi the displacement; z elsewhere, and of a prompt motion.
static void displace(double* zeta, const djMotion* at, const double* z) {
  const djModel* m = at->model;
  memcpy(zeta, z, (size_t)m->nv * sizeof(double));
  for (int j = 0; j < m->njnt && !at->prompt; j++) {
    int dof = dj_rotationDof(m, j);
    if (dof < 0) continue;
    djMat3 Jinv = dju_rightJacobianInv(dj_turnSince(at, j));
    dju_store3(zeta + dof, dju_mulMV(Jinv, dju_load3(z + dof)));
  }
}

djStatus dj_forceParams(djParamSums* s, djForces* f, const djMotion* at, const double* z) {
  const djModel* m = at->model;
  size_t size = (size_t)m->nbody * 6 * sizeof(double);
  dj_bodyTwists(s->x, m, at->at.kin, z);
  memset(s->W, 0, size);
  memset(s->C, 0, size);
  memset(s->C0, 0, size);
  memset(s->Crate, 0, size);
  memset(s->Cpast, 0, size);
  s->nfield = 0;
  displace(s->zeta, at, z);
  s->twist = &f->twist;
  f->twist.open = false;
  for (int i = 0; i < DJ_NFORCE; i++) {
    if (!acts(f, i, at->acting) || !rows[i]->params) continue;
    if (!(rows[i]->params_of & s->wants)) continue;
    djStatus status = rows[i]->params(s, f->state[i], at, z, s->zeta);
    if (status < 0) return status;
  }
  if (f->twist.open) dj_projectTwistCotangents(&f->twist, s, at);
  return DJ_OK;
}

// z . gradient of coordinate c is f (dx . z) with f(x, x at the start, x at `rate`): cotangents and
// sites of f's slopes and of dx . z. Where rates are those of a velocity, x at `rate` moves with x,
// and what else it does is the caller's.
static void addBending(djParamSums* s, const djForceSum* sum, const djStartSum* start,
                       const djMotion* at, int c, const double* z) {
  const djModel* m = at->model;
  double f = sum->f[c], along = dj_coordinateRate(at->at.coord, m, c, z);
  double krate = at->qvel ? 0 : start->krate[c];
  double slope = sum->k[c] + (at->qvel ? start->krate[c] : 0);
  const struct {
    const djPoint* point;
    double* C;
    double slope;
  } part[3] = {{&at->at, s->C, slope},
               {&at->at0, s->C0, start->k0[c]},
               {&at->rate, dj_rateCotangents(s, at), krate}};
  for (int k = 0; k < 3; k++) {
    if (part[k].slope == 0) continue;
    dj_bendLength(s, part[k].C, m, part[k].point, at->ref, c, part[k].slope * along);
  }
  if (f != 0) dj_bendPath(s, s->W, s->C, m, &at->at, at->ref, c, f, z, s->x);
}

djStatus dj_bendingParams(djParamSums* s, djForceSum* sum, djStartSum* start, djForces* f,
                          const djMotion* at, const double* z) {
  const djModel* m = at->model;
  sum->derivatives = false;
  djStatus status = dj_alongForces(sum, start, f, at);
  if (status < 0) return status;
  for (int c = 0; c < m->ncoord; c++) {
    if (dj_coordinateBends(m, c)) addBending(s, sum, start, at, c, z);
  }
  return DJ_OK;
}

// Of cotangents by the poses of a point: there are none where nothing depends on these.
static void pointFrames(djParamSums* s, const djMotion* at, const djPoint* point, double* C) {
  const djModel* m = at->model;
  if (dju_isZero(C, 6 * (size_t)m->nbody)) return;
  const djConfig config = dj_wantedConfig(s, point->kin, point->q, at->ref);
  dj_gatherCotangents(C, m, at->ref);
  dj_frameParams(s->param, m, &config, C);
}

void dj_frameForces(djParamSums* s, const djMotion* at, const double* z) {
  const djModel* m = at->model;
  if (!(s->wants & DJ_BY_FRAME)) return;
  size_t size = 6 * (size_t)m->nbody;
  if (!dju_isZero(s->W, size) || !dju_isZero(s->C, size)) {
    dj_gatherCotangents(s->W, m, at->ref);
    dj_gatherCotangents(s->C, m, at->ref);
    s->field[s->nfield++] = dj_frameFieldSecond(s->C, s->W, s->x, z);
  }
  const djConfig now = dj_wantedConfig(s, at->at.kin, at->at.q, at->ref);
  if (s->nfield > 0) dj_frameParamsOf(s->param, m, &now, s->nfield, s->field);
  s->nfield = 0;
  pointFrames(s, at, &at->at0, s->C0);
  if (at->rate.kin != at->at0.kin) pointFrames(s, at, &at->rate, s->Crate);
  if (at->past.kin) pointFrames(s, at, &at->past, s->Cpast);
}

void dj_loadParams(double* param, const djForces* f, const djMotion* at, const djPoint* point,
                   const double* x) {
  const djModel* m = at->model;
  for (int b = 1; b < m->nbody && at->acting & DJ_ACTS_SMOOTH; b++) {
    if (m->body_lastdof[b] < 0) continue;
    djVec3 rho = dju_sub3(point->kin->com[b], at->ref[b]);
    djVec3 u = dju_add3(dju_load3(x + 6 * b + 3), dju_cross3(dju_load3(x + 6 * b), rho));
    for (int i = 0; i < DJ_NFORCE; i++) {
      if (f->state[i] && rows[i]->load_params) rows[i]->load_params(param, at, b, dju_neg3(u));
    }
  }
}
