// Derivatives of the balance by the model's parameters.
//
// z . b is zeta . y with zeta = z turned back, that is sum_b x_b . W_b with the twists x_b of
// bodies at the start along zeta. A parameter that moves frames at the start moves W_b by M_b and
// turns x_b with the part of the chain below it; with gathered cotangents that is
// dj_frameParamsSecond's form when
//   C_b = M_b^T x_b + (w_x x t + v_x x f, w_x x f),  (t, f) = W_b, (w_x, v_x) = x_b.
// M_b carries momentum, and with it all of the body's twist V_b along v, of which a parameter turns
// only what is below it: the rest is the same form with C = 0, I x_b in place of W_b, v for zeta.

#include "integrate/balance.h"
#include "model/body_param.h"
#include "model/frame_param.h"
#include "model/momentum.h"
#include "model/momentum_param.h"
#include "model/param.h"

#include <string.h>

static void clear6(double* x, const djModel* m) {
  memset(x, 0, (size_t)m->nbody * 6 * sizeof(double));
}

static void clear36(double* N, const djModel* m) {
  memset(N, 0, (size_t)m->nbody * 36 * sizeof(double));
}

// C_b += (w x t + v x f, w x f)
void dj_addDual(double* C, const djModel* m, const double* x, const double* W) {
  for (int b = 1; b < m->nbody; b++) {
    if (m->body_lastdof[b] < 0) continue;
    double* to = C + 6 * b;
    djVec3 w = dju_load3(x + 6 * b), v = dju_load3(x + 6 * b + 3);
    djVec3 t = dju_load3(W + 6 * b), f = dju_load3(W + 6 * b + 3);
    djVec3 torque = dju_add3(dju_cross3(w, t), dju_cross3(v, f));
    dju_addTo3(to, 1, torque);
    dju_addTo3(to + 3, 1, dju_cross3(w, f));
  }
}

void dj_momentumFrames(djParamSums* s, const djModel* m, const djConfig* at, const double* M,
                       const double* z, const double* qvel, double scale) {
  clear6(s->C, m);
  dj_addBodyProducts(s->C, M, m, s->x, true);
  dj_addDual(s->C, m, s->x, s->W);
  dj_gatherCotangents(s->C, m, at->ref);
  dj_gatherCotangents(s->W, m, at->ref);
  dj_frameParamsSecond(s->param, m, at, s->C, s->W, s->x, z);
  dj_bodyMomentum(s->W, NULL, m, at->kin, at->ref, z);
  for (int k = 0; k < 6 * m->nbody; k++) s->W[k] *= -scale;
  dj_gatherCotangents(s->W, m, at->ref);
  dj_bodyTwists(s->Cback, m, at->kin, qvel);
  clear6(s->C, m);
  dj_frameParamsSecond(s->param, m, at, s->C, s->W, s->Cback, qvel);
}

void dj_turnBack(double* zeta, double* param, const djWork* w, const djModel* m, const double* q,
                 const double* z) {
  memcpy(zeta, z, (size_t)m->nv * sizeof(double));
  for (int j = 0; j < m->njnt; j++) {
    djTurn t;
    if (!dj_turnOf(&t, w, m, q, j)) continue;
    djVec3 turned = dju_mulMV(t.E, dju_load3(z + t.dof));
    dju_store3(zeta + t.dof, turned);
    if (!t.free) continue;
    djVec3 g = dju_mulMV(t.R, turned), Fg = dju_cross3(t.F, g);
    double* up = zeta + t.dof - 3;
    dju_addTo3(up, 1, dju_cross3(g, t.delta));
    if (!param) continue;
    double* ipos = dj_paramBlock(param, m, DJ_FIELD_BODY_IPOS) + 3 * m->jnt_body[j];
    djVec3 turn = dju_sub3(dju_mulMtV(t.Rnext, Fg), dju_mulMtV(t.R, Fg));
    dju_addTo3(ipos, 1, turn);
  }
}

void dj_balanceParams(djParamSums* s, djWork* w, const djModel* m, const djPlace* at,
                      const double* z) {
  const djKin *kin = &at->kin, *kin0 = &w->begin.kin;
  const djBodyStep* body = w->body;
  double h = w->h, *zeta = w->nonpotential_now;
  djMotion motion = dj_motionAt(w, m, at);
  clear6(s->W, m);
  clear36(w->N, m);
  clear36(w->M, m);
  dj_startMomentum(s->W, w->N, m, body, w->momentum, kin, kin0, w->ref, h);
  dj_startMomentumStart(w->M, m, body, w->momentum, kin, kin0, w->ref, h);
  memcpy(w->momentum_change, s->W, (size_t)m->nbody * 6 * sizeof(double));
  dj_gatherWrench(w->momentum_change, m);
  memset(w->momentum_residual, 0, (size_t)m->nv * sizeof(double));
  dj_projectWrench(w->momentum_residual, m, kin0, w->momentum_change);
  dj_turnBack(zeta, s->param, w, m, at->q, z);
  dj_bodyTwists(s->x, m, kin0, zeta);
  const djConfig now = dj_wantedConfig(s, kin, at->q, w->ref);
  const djConfig start = dj_wantedConfig(s, kin0, w->start.qpos, w->ref);
  clear6(s->C0, m);
  dj_addBodyProducts(s->C0, w->N, m, s->x, true);
  dj_gatherCotangents(s->C0, m, w->ref);
  dj_frameParams(s->param, m, &now, s->C0);
  dj_momentumFrames(s, m, &start, w->M, zeta, w->start.qvel, 1 / h);
  dj_loadParams(s->param, &w->forces, &motion, &motion.at0, s->x);
  dj_momentumParams(s->param, s->tensor, m, body, true, kin, kin0, kin0, w->ref, s->x, s->Cback,
                    1 / (h * h), 1 / h);
}
