#include "integrate/path_rate.h"

#include "integrate/tendon_armature.h"
#include "integrate/turn.h"

#include <string.h>

void dj_beginPathRates(djWork* w, const djModel* m) {
  memcpy(w->sum.path.x, w->rate.coord.x, (size_t)m->ncoord * sizeof(double));
}

// Of coordinates that bend: from there on, or where the stage's displacement begins.
static void setRateCoordinates(djWork* w, const djModel* m, const djPlace* at) {
  for (int c = m->ncoord - 1; c >= 0 && m->coord_type[c] != DJ_COORD_JOINT; c--) {
    if (!dj_coordinateBends(m, c)) continue;
    double rate = at ? dj_coordinateRate(&at->coord, m, c, w->V) : 0;
    w->rate.coord.x[c] = at ? at->coord.x[c] - w->stage_h * rate : w->sum.path.x[c];
  }
  djMotion motion = dj_motionAt(w, m, at ? at : &w->begin);
  dj_moveRates(&w->forces, &motion);
}

void dj_setPathRates(djWork* w, const djModel* m, const djPlace* at) {
  setRateCoordinates(w, m, at);
}

djStatus dj_findPathSlopes(djWork* w, const djModel* m, const djPlace* at) {
  djForceSum* sum = &w->sum;
  size_t size = (size_t)m->ncoord * sizeof(double);
  setRateCoordinates(w, m, at);
  djMotion motion = dj_motionAt(w, m, at);
  bool derivatives = sum->derivatives;
  sum->derivatives = false;
  dj_clearStartSum(&w->start_sum, m);
  djStatus status = dj_alongForces(sum, &w->start_sum, &w->forces, &motion);
  memcpy(sum->path.f, sum->f, size);
  memcpy(sum->path.k, sum->k, size);
  memcpy(sum->path.krate, w->start_sum.krate, size);
  dj_clearForceSum(sum, m);
  sum->derivatives = derivatives;
  setRateCoordinates(w, m, NULL);
  return status;
}

// y (nv) = J J_r^-1, or J J_r^-1 E.
static void pullSlope(double* y, const djWork* w, const djModel* m, const djAlong* x, bool turned) {
  const double* psi = w->at_stage[w->stage].linear.psi;
  memset(y, 0, (size_t)m->nv * sizeof(double));
  for (int i = 0; i < x->n; i++) y[x->dof[i]] = x->J[i];
  dj_pullVector(y, m, psi, true);
  if (turned) dj_turnVector(y, m, psi, true);
}

void dj_addPathRates(djWork* w, const djModel* m, const djPlace* at) {
  const djPathSlopes* path = &w->sum.path;
  double *y = w->path_scratch, t = w->stage_h;
  for (int c = m->ncoord - 1; c >= 0 && m->coord_type[c] != DJ_COORD_JOINT; c--) {
    if (!dj_coordinateBends(m, c)) continue;
    djAlong x = dj_along(&at->coord, m, c);
    double krate = path->krate[c];
    if (krate == 0) continue;
    pullSlope(y, w, m, &x, false);
    for (int k = 0; k < x.n; k++) {
      double slope = dj_coordinateRateSlope(m, &at->kin, w->ref, c, w->V, k);
      double by = krate * (x.J[k] - t * slope - y[x.dof[k]]);
      for (int i = 0; i < x.n; i++) dj_addEntry(&w->H, x.dof[i], x.dof[k], by * x.J[i]);
    }
  }
  setRateCoordinates(w, m, at);
}

void dj_startPathRates(djMatrix* Rq, djMatrix* G, djWork* w, const djModel* m,
                       const djPlace* at) {
  double* y = w->path_scratch;
  for (int c = m->ncoord - 1; c >= 0 && m->coord_type[c] != DJ_COORD_JOINT; c--) {
    double krate = w->start_sum.krate[c];
    if (krate == 0 || !dj_coordinateBends(m, c)) continue;
    djAlong x = dj_along(&at->coord, m, c);
    pullSlope(y, w, m, &x, true);
    for (int i = 0; i < x.n; i++) {
      for (int k = 0; k < x.n; k++) {
        double by = krate * x.J[i];
        dj_addEntry(Rq, x.dof[i], x.dof[k], by * y[x.dof[k]]);
        dj_addEntry(G, x.dof[i], x.dof[k], -w->stage_h * by * x.J[k]);
      }
    }
  }
}

void dj_pathRateParams(djParamSums* s, djWork* w, const djModel* m, const djPlace* at,
                       const double* z) {
  for (int c = m->ncoord - 1; c >= 0 && m->coord_type[c] != DJ_COORD_JOINT; c--) {
    double krate = w->start_sum.krate[c];
    if (krate == 0 || !dj_coordinateBends(m, c)) continue;
    double by = -w->stage_h * krate * dj_coordinateRate(&at->coord, m, c, z);
    dj_addPathParams(s, w, m, at, c, by, w->V);
  }
}
