// Rows of constraints of the integrator `discrete`. It has other rows than the others: with the
// spring K I and the damping B of a row, s = 1 + h B + h^2 K I, and the other integrators' aref, R,
//
//   aref' = (aref - h K I J v) / s,   R' = R (1 / s) (sum_j J_j^2 / G_jj) / (sum_j J_j^2 / M_jj)
//
// where G is the metric, and J the row; rows of a contact have the factor of their first one. All
// that is a function of the state, also by velocities and controls where G is. The derivative of
// J^T f while a is held is differenced: MuJoCo makes the rows anew at states next to this one, from
// the state's contacts, which are moved by their derivatives. Rows keep their states.
//
// The law is MuJoCo's as far as it was found by experiment: at each call R' is compared with what
// the step has.

#include "transition_work.h"

#include "slope_error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Rows {
  djmTransitionWork* w;
  djmRowSum* sum;
  mjModel free, plain;           // without constraints; that by Euler, whose data have no metric
  mjModel fixed;                 // whose solver does nothing
  mjtNum* moved;                 // (ncon x nv x 7) derivatives of dist, pos and turn of contacts
  mjtNum *inverse_M, *inverse_G; // (nv) of the diagonals
  mjtNum *y, *force;             // (nefc)
  mjtNum* near;                  // 2 x (nv + nefc)
  mjtNum* torque;                // (nv)
  bool same, known;              // whether rows are those of the state; whether R' is
  bool heard;                    // whether activations or controls change forces that sensors see
} Rows;

// ---- R' -----------------------------------------------------------------------------------------

static mjtNum square(mjtNum x) { return x * x; }

// At w->e after mj_forward without constraints. Parts of the metric that nothing adds to are NULL.
static void invertDiagonals(Rows* x) {
  const mjModel* m = &x->free;
  const mjData* e = x->w->e;
  int nv = x->w->nv;
  mjtNum *M = x->inverse_M, *G = x->inverse_G;
  bool fluid = m->opt.density != 0 || m->opt.viscosity != 0;
  for (int i = 0; i < nv; i++) {
    int diagonal = m->M_rowadr[i] + m->M_rownnz[i] - 1;
    M[i] = e->M[diagonal];
    G[i] = M[i];
    if (e->efm_active && e->efm_diag) G[i] += e->efm_diag[i];
    if (e->efm_active && e->efm_fluid && fluid) G[i] += e->efm_fluid[diagonal];
  }
  for (int k = 0; k < e->nefmT && e->efm_active && e->efm_ts; k++) {
    int t = e->efm_tid[k], adr = m->ten_J_rowadr[t];
    for (int i = 0; i < m->ten_J_rownnz[t]; i++) {
      G[m->ten_J_colind[adr + i]] += e->efm_ts[k] * square(e->ten_J[adr + i]);
    }
  }
  for (int k = 0; k < e->nefmA && e->efm_active && e->efm_as; k++) {
    int out = m->actuator_outadr[e->efm_aid[k]], adr = e->moment_rowadr[out];
    for (int i = 0; i < e->moment_rownnz[out]; i++) {
      G[e->moment_colind[adr + i]] += e->efm_as[k] * square(e->actuator_moment[adr + i]);
    }
  }
  for (int i = 0; i < nv; i++) {
    M[i] = 1 / M[i];
    G[i] = 1 / G[i];
  }
}

static bool isContact(int type) {
  return type == mjCNSTR_CONTACT_FRICTIONLESS || type == mjCNSTR_CONTACT_PYRAMIDAL ||
         type == mjCNSTR_CONTACT_ELLIPTIC;
}

// By row i of w->e.
static mjtNum metricFactor(const Rows* x, int i) {
  const mjData* e = x->w->e;
  int nv = x->w->nv, sparse = mj_isSparse(&x->fixed), n = sparse ? e->efc_J_rownnz[i] : nv;
  size_t adr = sparse ? (size_t)e->efc_J_rowadr[i] : (size_t)i * nv;
  mjtNum by_M = 0, by_G = 0;
  for (int k = 0; k < n; k++) {
    int dof = sparse ? e->efc_J_colind[adr + k] : k;
    by_M += square(e->efc_J[adr + k]) * x->inverse_M[dof];
    by_G += square(e->efc_J[adr + k]) * x->inverse_G[dof];
  }
  return by_M > 0 ? by_G / by_M : 1;
}

static void applyFactors(Rows* x) {
  mjData* e = x->w->e;
  mjtNum factor = 1;
  for (int i = 0; i < e->nefc; i++) {
    bool next = i > 0 && isContact(e->efc_type[i]) && isContact(e->efc_type[i - 1]) &&
                e->efc_id[i] == e->efc_id[i - 1];
    if (!next) factor = metricFactor(x, i);
    e->efc_D[i] /= factor;
    e->efc_R[i] *= factor;
  }
}

// ---- rows at a state ----------------------------------------------------------------------------

static void moveContact(mjContact* con, const mjtNum rate[7], mjtNum step) {
  con->dist += step * rate[0];
  mju_addToScl3(con->pos, rate + 1, step);
  for (int r = 0; r < 3; r++) {
    mjtNum turn[3];
    mju_cross(turn, rate + 4, con->frame + 3 * r);
    mju_addToScl3(con->frame + 3 * r, turn, step);
  }
}

// x->force, x->torque = J^T force at the state moved by step along column k.
static void evaluateRows(Rows* x, int k, mjtNum step) {
  djmTransitionWork* w = x->w;
  mjData* e = w->e;
  int nv = w->nv;
  mju_zero(x->torque, nv);
  djm_moveState(w, k, step, x->torque);
  mj_forward(&x->free, e);
  invertDiagonals(x);
  mj_fwdPosition(&x->plain, e); // rows are made in its memory, where the metric was
  for (int i = 0; i < w->d->ncon; i++) {
    mjContact con = w->d->contact[i];
    if (k < nv) moveContact(&con, x->moved + ((size_t)i * nv + k) * 7, step);
    if (mj_addContact(&x->fixed, e, &con)) x->same = false;
  }
  mj_makeConstraint(&x->fixed, e);
  if (e->nefc != w->d->nefc) x->same = false;
  if (!x->same) return;
  mj_forwardSkip(&x->fixed, e, mjSTAGE_POS, 1);
  applyFactors(x);
  mj_mulJacVec(&x->fixed, e, x->y, w->a);
  mju_subFrom(x->y, e->efc_aref, e->nefc);
  djm_forcesIn(x->force, w->state, e, x->y);
  mj_mulJacTVec(&x->fixed, e, x->torque, x->force);
}

// Whether rows at the state itself are those of the step.
static void checkRows(Rows* x) {
  const mjData *d = x->w->d, *e = x->w->e;
  evaluateRows(x, 0, 0);
  x->known = x->same;
  for (int i = 0; i < d->nefc && x->known; i++) {
    x->known = fabs(e->efc_D[i] - d->efc_D[i]) <= 1e-9 * d->efc_D[i] &&
               fabs(e->efc_aref[i] - d->efc_aref[i]) <= 1e-9 * (1 + fabs(d->efc_aref[i]));
  }
}

// x->near = derivatives of torque (nv) and force (nefc) by column k, by steps of h and 2 h, of
// fourth order; returns how far both differ, relative to the torques.
static mjtNum differColumn(Rows* x, int k, mjtNum h) {
  int nv = x->w->nv, n = nv + x->w->d->nefc;
  mjtNum *near = x->near, *wide = x->near + n, size = 1, apart = 0;
  mju_zero(near, 2 * n);
  for (int p = 0; p < 4; p++) {
    mjtNum step = (p % 2 ? -1 : 1) * (p < 2 ? h : 2 * h), *to = p < 2 ? near : wide;
    evaluateRows(x, k, step);
    if (!x->same) return 0;
    mju_addToScl(to, x->torque, 1 / (2 * step), nv);
    mju_addToScl(to + nv, x->force, 1 / (2 * step), n - nv);
  }
  for (int i = 0; i < n; i++) {
    if (i < nv) size = fmax(size, fabs(near[i]));
    if (i < nv) apart = fmax(apart, fabs(near[i] - wide[i]));
    near[i] = (4 * near[i] - wide[i]) / 3;
  }
  return apart / size;
}

// X += dJ^T f, and sum's by_force, which has q and v alone. Steps are shorter where an impedance is
// next to the middle of its width, where it has a kink.
static void differRows(Rows* x) {
  static const mjtNum kStep[] = {3e-6, 3e-7, 3e-8};
  djmTransitionWork* w = x->w;
  int nv = w->nv, nefc = w->d->nefc;
  for (int k = 0; k < w->ncol; k++) {
    for (int i = 0; i < 3 && differColumn(x, k, kStep[i]) > 1e-5; i++) {}
    if (!x->same) return;
    for (int i = 0; i < nv; i++) w->X[(size_t)i * w->ncol + k] += x->near[i];
    for (int i = 0; i < nefc && x->sum->by_force; i++) {
      mjtNum slope = x->near[nv + i];
      if (k < 2 * nv)
        x->sum->by_force[(size_t)i * 2 * nv + k] += slope;
      else if (fabs(slope) > 1e-6 * (1 + fabs(w->force[i])))
        x->heard = true;
    }
  }
}

// ---- all ----------------------------------------------------------------------------------------

static void keepRates(void* user, const mjContact* con, const djmContactSlope* slope) {
  Rows* x = user;
  djmTransitionWork* w = x->w;
  mjtNum* rates = x->moved + (size_t)(con - w->d->contact) * (size_t)w->nv * 7;
  djm_contactRates(rates, x->sum, con, slope);
  djm_countContact(x->sum, con, slope);
}

static void run(void* arg) {
  Rows* x = arg;
  checkRows(x);
  if (x->known) differRows(x);
}

static djStatus refuse(const char* what, djError* err) {
  return djm_slopeError(err, DJ_UNSUPPORTED, "integrator discrete: %s has no derivative", what);
}

static djStatus addRows(Rows* x, djError* err) {
  djmTransitionWork* w = x->w;
  djStatus status = djm_visitContacts(x->sum, keepRates, x, err);
  if (status >= 0) status = djm_guard(run, x, err);
  if (status < 0) return status;
  if (!x->same) return refuse("a state at which rows of constraints come or go", err);
  if (!x->known) return refuse("a constraint in this metric", err);
  if (x->heard) return refuse("a sensor of forces, where gains depend on lengths or speeds,", err);
  djm_findHessian(w);
  return DJ_OK;
}

djStatus djm_discreteRows(djmTransitionWork* w, djmRowSum* sum, djError* err) {
  int nv = w->nv, nefc = w->d->nefc, ncon = w->d->ncon;
  for (int i = 0; i < ncon; i++) {
    if (w->d->contact[i].adhesion != 0) return refuse("adhesion", err);
  }
  size_t moved = (size_t)ncon * (size_t)nv * 7, size = moved + 5 * (size_t)nv + 4 * (size_t)nefc;
  mjtNum* memory = calloc(size + 1, sizeof(mjtNum));
  if (!memory) return djm_slopeError(err, DJ_NO_MEMORY, "out of memory");
  mjtNum* p = memory + moved;
  Rows x = {.w = w, .sum = sum, .free = w->view, .fixed = w->view, .moved = memory, .same = true};
  x.free.opt.disableflags |= mjDSBL_CONSTRAINT;
  x.plain = x.free;
  x.plain.opt.integrator = mjINT_EULER;
  x.fixed.opt.iterations = 0;
  x.inverse_M = p;
  x.inverse_G = p += nv;
  x.torque = p += nv;
  x.y = p + nv;
  x.force = x.y + nefc;
  x.near = x.force + nefc;
  djStatus status = addRows(&x, err);
  free(memory);
  return status;
}
