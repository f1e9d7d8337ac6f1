// Position-level dynamics: derivative of z . r by the model's parameters, r the step's residual,
// and the part of it that the forces of other integrators have too.
//
// z . r is the derivative of the step's energy E(T+, T, T-, parameters) along the twists x_b of
// bodies that z causes at T+. A parameter acts on it
//   - by itself: masses and inertias, joints' and actuators' constants, contact shapes and
//     coefficients (body_param.h, contact_param.c);
//   - by moving the frames of all three configurations (frame_param.h). For T+ this is a second
//     derivative, with the covectors N_b x_b, N_b the nested second derivatives of E by body b's
//     pose; for T and T- it takes M_b^T x_b, M_b the derivative of body b's wrench by its pose there.

#include "integrate/work.h"
#include "model/body_param.h"
#include "model/frame_param.h"

#include <string.h>

// y (6) += A x, or A^T x, of a 6x6 block with row stride
static void mulAdd(double* y, const double* A, int stride, const double* x, bool transpose) {
  for (int r = 0; r < 6; r++) {
    for (int c = 0; c < 6; c++) {
      double a = A[r * stride + c];
      if (transpose) y[c] += a * x[r];
      else y[r] += a * x[c];
    }
  }
}

void dj_addBodyProducts(double* C, const double* A, const djModel* m, const double* x,
                        bool transpose) {
  for (int b = 1; b < m->nbody; b++) {
    if (m->body_lastdof[b] >= 0) mulAdd(C + 6 * b, A + 36 * b, 6, x + 6 * b, transpose);
  }
}

static void addBlocks(djParamSums* s, djWork* w, const djModel* m, const djBodyStep* step) {
  dj_bodyTerms(s->W, w->N, m, step, &w->now, &w->kin0, w->ref, w->h);
  dj_addBodyProducts(s->C, w->N, m, s->x, false);
  dj_bodyTermsStart(w->N, w->M, m, step, &w->now, &w->kin0, &w->back, w->ref, w->h);
  dj_addBodyProducts(s->C0, w->N, m, s->x, true);
  dj_addBodyProducts(s->Cback, w->M, m, s->x, true);
}

static void addContact(djParamSums* s, const djContactBlock* c) {
  int body[2] = {c->body_a, c->body_b};
  for (int i = 0; i < 2; i++) {
    const double *g = c->out.gradient + 6 * i, *x = s->x + 6 * body[i];
    double Q[36], N[36] = {0};
    for (int r = 0; r < 6; r++) {
      s->W[6 * body[i] + r] += g[r];
      memcpy(Q + 6 * r, c->out.hessian + 12 * (6 * i + r) + 6 * i, 6 * sizeof(double));
    }
    dj_addNested(N, Q, g);
    mulAdd(s->C + 6 * body[i], N, 6, x, false);
    const double* cross = c->out.hessian + 72 * i + 6 * (1 - i);
    mulAdd(s->C + 6 * body[i], cross, 12, s->x + 6 * body[1 - i], false);
    for (int k = 0; k < 2; k++) {   // rows of body k, columns of body i
      mulAdd(s->C0 + 6 * body[i], c->start_jac + 72 * k + 6 * i, 12, s->x + 6 * body[k], true);
    }
  }
}

static djStatus addContacts(djParamSums* s, djWork* w, const djModel* m) {
  double value;
  djStatus status = dj_evalContacts(&value, w->contacts, m, w->now.body, DJ_EVAL_HESSIAN);
  if (status >= 0) status = dj_startContacts(w->contacts, m, w->now.body);
  if (status < 0) return status;
  int n;
  const djContactBlock* const* block = dj_contactBlocks(&n, w->contacts);
  for (int k = 0; k < n; k++) addContact(s, block[k]);
  return dj_contactParams(s->param, s->shape, w->contacts, m, w->now.body, s->x);
}

djStatus dj_forceParams(djParamSums* s, djWork* w, const djModel* m, const djBodyStep* step,
                        const double* z) {
  size_t size = (size_t)m->nbody * 6 * sizeof(double);
  dj_motionSubspace(&w->now, m, w->ref);
  dj_bodyTwists(s->x, m, &w->now, z);
  memset(s->W, 0, size);
  memset(s->C, 0, size);
  memset(s->C0, 0, size);
  memset(s->Cback, 0, size);
  if (step) addBlocks(s, w, m, step);
  if (w->contacts) {
    djStatus status = addContacts(s, w, m);
    if (status < 0) return status;
  }
  dj_gatherCovectors(s->W, m, w->ref);
  dj_gatherCovectors(s->C, m, w->ref);
  dj_gatherCovectors(s->C0, m, w->ref);
  const djConfig now = {&w->now, w->q, w->ref}, start = {&w->kin0, w->start.qpos, w->ref};
  dj_frameParamsSecond(s->param, m, &now, s->C, s->W, s->x, z);
  dj_frameParams(s->param, m, &start, s->C0);
  dj_jointParams(s->param, &w->joint, m, &w->start, w->q, z);
  return DJ_OK;
}

djStatus dj_positionParams(djParamSums* s, djWork* w, const djModel* m, const double* z) {
  dj_motionSubspace(&w->kin0, m, w->ref);
  dj_motionSubspace(&w->back, m, w->ref);
  djStatus status = dj_forceParams(s, w, m, w->body, z);
  if (status < 0) return status;
  dj_gatherCovectors(s->Cback, m, w->ref);
  const djConfig back = {&w->back, w->qback, w->ref};
  dj_frameParams(s->param, m, &back, s->Cback);
  dj_bodyParams(s->param, s->tensor, m, w->body, &w->start, &w->now, &w->kin0, &w->back, w->ref,
                s->x, w->h);
  return DJ_OK;
}
