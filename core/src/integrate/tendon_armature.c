#include "integrate/tendon_armature.h"

#include "force/bend_param.h"

#include "model/frame_param.h"
#include "model/param.h"

#include <string.h>

static double armatureOf(const djWork* w, const djModel* m, int t) {
  return w->armature[m->njnt + t];
}

bool dj_anyTendonArmature(const djWork* w, const djModel* m) {
  for (int t = 0; t < m->ntendon; t++) {
    if (armatureOf(w, m, t) != 0) return true;
  }
  return false;
}

double dj_tendonArmatureEnergy(const djWork* w, const djModel* m) {
  double sum = 0;
  for (int t = 0; t < m->ntendon; t++) {
    double A = armatureOf(w, m, t), rate = w->tendon_rate[t];
    if (A != 0) sum += 0.5 * A * rate * rate;
  }
  return sum;
}

// The coordinate's dofs and derivatives by them.
// Row i of B is f J_i times the derivative of dx/dq v.
static void addSlope(djMatrix* B, double f, const djModel* m, const djKin* kin, const djVec3* ref,
                     int c, const djAlong* rows, const double* v) {
  const int* dof = m->coord_dof + m->coord_dofadr[c];
  for (int k = 0; k < m->coord_dofnum[c]; k++) {
    double slope = dj_coordinateRateSlope(m, kin, ref, c, v, k);
    for (int i = 0; i < rows->n && slope != 0; i++) {
      dj_addEntry(B, rows->dof[i], dof[k], f * rows->J[i] * slope);
    }
  }
}

void dj_startTendonArmature(djStartSum* sum, djMatrix* Rv, const djWork* w, const djMotion* at) {
  const djModel* m = at->model;
  for (int t = 0; t < m->ntendon; t++) {
    double f = -armatureOf(w, m, t) / at->h;
    int c = m->tendon_coord[t];
    if (f == 0) continue;
    djAlong end = dj_along(at->at.coord, m, c), start = dj_along(at->at0.coord, m, c);
    for (int i = 0; i < end.n; i++) {
      for (int k = 0; k < end.n; k++) {
        dj_addEntry(Rv, end.dof[i], end.dof[k], f * end.J[i] * start.J[k]);
      }
    }
    addSlope(sum->R0, f, m, at->at0.kin, at->ref, c, &end, at->start->qvel);
  }
}

// ---- rates before, by poses --------------------------------------------------------------------

void dj_setBackRates(djWork* w, const djModel* m) {
  for (int t = 0; t < m->ntendon; t++) {
    int c = m->tendon_coord[t];
    w->tendon_rate[t] = (w->begin.coord.x[c] - w->back.coord.x[c]) / w->stage_h;
  }
}

void dj_startBackRates(djStartSum* sum, djMatrix* by_back, const djWork* w, const djMotion* at) {
  const djModel* m = at->model;
  for (int t = 0; t < m->ntendon; t++) {
    double k = armatureOf(w, m, t) / (at->h * at->h);
    int c = m->tendon_coord[t];
    if (k == 0) continue;
    sum->krate[c] -= k;
    djAlong end = dj_along(at->at.coord, m, c), back = dj_along(&w->back.coord, m, c);
    for (int i = 0; i < end.n; i++) {
      for (int e = 0; e < end.n; e++) {
        *dj_own(by_back, end.dof[i], end.dof[e]) += k * end.J[i] * back.J[e];
      }
    }
  }
}

void dj_backRateParams(djParamSums* s, djWork* w, const djMotion* at, const double* z) {
  const djModel* m = at->model;
  for (int t = 0; t < m->ntendon; t++) {
    double k = armatureOf(w, m, t) / (at->h * at->h);
    int c = m->tendon_coord[t];
    if (k == 0 || !dj_coordinateBends(m, c)) continue;
    k *= dj_coordinateRate(at->at.coord, m, c, z);
    dj_addCoordinateWrench(s->Cback, m, &w->back.kin, w->ref, c, k);
    dj_addCoordinateSites(s->param, m, &w->back.kin, c, k);
  }
}

// ---- in inverse dynamics -----------------------------------------------------------------------

int dj_bentArmature(const djWork* w, const djModel* m) {
  for (int t = 0; t < m->ntendon; t++) {
    if (armatureOf(w, m, t) != 0 && dj_coordinateBends(m, m->tendon_coord[t])) return t;
  }
  return -1;
}

void dj_addTendonForce(double* tau, const djWork* w, const djModel* m, const djPlace* at,
                       const double* qacc) {
  for (int t = 0; t < m->ntendon; t++) {
    double A = armatureOf(w, m, t);
    int c = m->tendon_coord[t];
    if (A == 0) continue;
    djAlong x = dj_along(&at->coord, m, c);
    double force = A * dj_coordinateRate(&at->coord, m, c, qacc);
    for (int i = 0; i < x.n; i++) tau[x.dof[i]] += force * x.J[i];
  }
}

void dj_addTendonInertia(djMatrix* M, const djWork* w, const djModel* m, const djPlace* at) {
  for (int t = 0; t < m->ntendon; t++) {
    double A = armatureOf(w, m, t);
    if (A == 0) continue;
    djAlong x = dj_along(&at->coord, m, m->tendon_coord[t]);
    for (int i = 0; i < x.n; i++) {
      for (int k = 0; k < x.n; k++) *dj_own(M, x.dof[i], x.dof[k]) += A * x.J[i] * x.J[k];
    }
  }
}

void dj_tendonInertiaParams(double* param, const djModel* m, const djPlace* at,
                            const double* z, const double* qacc) {
  double* gear = dj_paramBlock(param, m, DJ_FIELD_ACTUATOR_GEAR);
  for (int a = 0; a < m->nu; a++) {
    int t = m->actuator_tendon[a];
    double factor = 2 * m->actuator_gear[6 * a] * m->actuator_armature[a];
    if (t < 0 || factor == 0) continue;
    int c = m->tendon_coord[t];
    gear[6 * a] += factor * dj_coordinateRate(&at->coord, m, c, z) *
                   dj_coordinateRate(&at->coord, m, c, qacc);
  }
}

// ---- momentum at the end -----------------------------------------------------------------------

void dj_addTendonMomentum(djMatrix* M, double* p, djWork* w, const djModel* m) {
  if (!dj_anyTendonArmature(w, m)) return;
  dj_setCoordinateJacobian(&w->now.coord, m, &w->now.kin, w->ref);
  for (int t = 0; t < m->ntendon; t++) {
    double A = armatureOf(w, m, t);
    int c = m->tendon_coord[t];
    if (A == 0) continue;
    djAlong x = dj_along(&w->now.coord, m, c);
    double rate = (w->now.coord.x[c] - w->begin.coord.x[c]) / w->h;
    for (int i = 0; i < x.n; i++) {
      p[x.dof[i]] += A * x.J[i] * rate;
      for (int k = 0; k <= i; k++) *dj_own(M, x.dof[i], x.dof[k]) += A * x.J[i] * x.J[k];
    }
  }
}

// (x+ - x)/h - J v+
static double excessOf(const djWork* w, const djModel* m, int c) {
  return (w->now.coord.x[c] - w->begin.coord.x[c]) / w->h -
         dj_coordinateRate(&w->now.coord, m, c, w->qvel);
}

double dj_tendonMomentumAlong(const djWork* w, const djModel* m, int t, const double* y) {
  int c = m->tendon_coord[t];
  return dj_coordinateRate(&w->now.coord, m, c, y) * excessOf(w, m, c);
}

// dT_i = A e dJ_i + A J_i de, e = (x+ - x)/h - J v+.
void dj_linearizeTendonMomentum(djMatrix* by_end, djMatrix* by_start, djWork* w,
                                const djModel* m) {
  for (int t = 0; t < m->ntendon; t++) {
    double A = armatureOf(w, m, t), h = w->h, *unit = w->shift;
    int c = m->tendon_coord[t];
    if (A == 0) continue;
    djAlong x = dj_along(&w->now.coord, m, c), start = dj_along(&w->begin.coord, m, c);
    double e = excessOf(w, m, c);
    memset(unit, 0, (size_t)m->nv * sizeof(double));
    for (int i = 0; i < x.n; i++) {
      const double one = 1;
      djAlong row = {1, x.dof + i, &one};
      unit[x.dof[i]] = 1;
      addSlope(by_end, A * e, m, &w->now.kin, w->ref, c, &row, unit);
      unit[x.dof[i]] = 0;
      for (int k = 0; k < x.n; k++) {
        *dj_own(by_end, x.dof[i], x.dof[k]) += A / h * x.J[i] * x.J[k];
        *dj_own(by_start, x.dof[i], x.dof[k]) -= A / h * x.J[i] * start.J[k];
      }
    }
    addSlope(by_end, -A, m, &w->now.kin, w->ref, c, &x, w->qvel);
  }
}

// ---- parameters --------------------------------------------------------------------------------

void dj_addLengthParams(djParamSums* s, const djWork* w, const djModel* m, const djPlace* p, int c,
                       double f) {
  djConfig at = dj_wantedConfig(s, &p->kin, p->q, w->ref);
  djPoint point = dj_pointOf(p);
  if (!dj_coordinateBends(m, c)) return;
  memset(w->wrench, 0, (size_t)m->nbody * 6 * sizeof(double));
  dj_bendLength(s, w->wrench, m, &point, w->ref, c, f);
  dj_gatherCotangents(w->wrench, m, w->ref);
  dj_frameParams(s->param, m, &at, w->wrench);
}

void dj_addPathParams(djParamSums* s, const djWork* w, const djModel* m, const djPlace* p, int c,
                      double f, const double* v) {
  djConfig at = dj_wantedConfig(s, &p->kin, p->q, w->ref);
  djPoint point = dj_pointOf(p);
  size_t size = (size_t)m->nbody * 6 * sizeof(double);
  double *x = s->Cback, *W = w->wrench, *C = w->momentum_change;
  if (!dj_coordinateBends(m, c)) return;
  memset(W, 0, size);
  memset(C, 0, size);
  dj_bodyTwists(x, m, at.kin, v);
  dj_bendPath(s, W, C, m, &point, w->ref, c, f, v, x);
  dj_gatherCotangents(W, m, w->ref);
  dj_gatherCotangents(C, m, w->ref);
  dj_frameParamsSecond(s->param, m, &at, C, W, x, v);
}

void dj_tendonArmatureParams(djParamSums* s, djWork* w, const djMotion* at, const double* z) {
  const djModel* m = at->model;
  for (int t = 0; t < m->ntendon; t++) {
    double A = armatureOf(w, m, t);
    int c = m->tendon_coord[t];
    if (A == 0 || !dj_coordinateBends(m, c)) continue;
    double f = -A / at->h * dj_coordinateRate(at->at.coord, m, c, z);
    dj_addPathParams(s, w, m, &w->begin, c, f, at->start->qvel);
  }
}

void dj_tendonMomentumParams(djParamSums* s, djWork* w, const djModel* m, const double* y) {
  for (int t = 0; t < m->ntendon; t++) {
    double A = armatureOf(w, m, t);
    int c = m->tendon_coord[t];
    if (A == 0 || !dj_coordinateBends(m, c)) continue;
    double e = excessOf(w, m, c);
    double f = A * dj_coordinateRate(&w->now.coord, m, c, y);
    dj_addPathParams(s, w, m, &w->now, c, A * e, y);
    dj_addPathParams(s, w, m, &w->now, c, -f, w->qvel);
    dj_addLengthParams(s, w, m, &w->now, c, f / w->h);
    dj_addLengthParams(s, w, m, &w->begin, c, -f / w->h);
  }
}
