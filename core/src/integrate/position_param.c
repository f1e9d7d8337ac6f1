// Position-level dynamics: derivative of z . r by the model's parameters, r the step's residual.
//
// z . r is the derivative of the step's energy E(T+, T, T-, parameters) along the twists x_b of
// bodies that z causes at T+. A parameter acts on it
//   - by itself: masses and inertias, forces' constants, contact shapes and coefficients
//     (body_param.h, rows of forces);
//   - by moving the frames of all three configurations (frame_param.h). For T+ this is a second
//     derivative, with the cotangents N_b x_b, N_b the nested second derivatives of E by body b's
//     pose; for T and T- it takes M_b^T x_b, M_b the derivative of body b's wrench by its pose
//     there.

#include "integrate/armature.h"
#include "integrate/tendon_armature.h"
#include "math/block6.h"
#include "model/body_param.h"
#include "model/frame_param.h"

#include <string.h>

// Wrenches and cotangents of inertia and loads.
static void addInertia(djParamSums* s, djWork* w, const djModel* m) {
  const djKin *now = &w->now.kin, *kin0 = &w->begin.kin, *back = &w->back.kin;
  dj_bodyTerms(w->wrench, w->N, m, w->body, now, kin0, w->ref);
  for (int i = 0; i < 6 * m->nbody; i++) s->W[i] += w->wrench[i];
  dj_addBodyProducts(s->C, w->N, m, s->x, false);
  dj_bodyTermsStart(w->N, w->M, m, w->body, now, kin0, back, w->ref);
  dj_addBodyProducts(s->C0, w->N, m, s->x, true);
  memset(s->Cback, 0, (size_t)m->nbody * 6 * sizeof(double));
  dj_addBodyProducts(s->Cback, w->M, m, s->x, true);
}

djStatus dj_positionParams(djParamSums* s, djWork* w, const djModel* m, const double* z) {
  dj_openPlace(&w->begin, m, w->ref);
  dj_motionSubspace(&w->back.kin, m, w->ref);
  dj_openPlace(&w->now, m, w->ref);
  djMotion motion = dj_motionAt(w, m, &w->now);
  djStatus status = dj_forceParams(s, &w->forces, &motion, z);
  if (status >= 0) status = dj_alongParams(s, w, &motion, z, 2);
  if (status < 0) return status;
  addInertia(s, w, m);
  dj_backRateParams(s, w, &motion, z);
  dj_frameForces(s, &motion, z);
  dj_gatherCotangents(s->Cback, m, w->ref);
  const djConfig back = dj_wantedConfig(s, &w->back.kin, w->back.q, w->ref);
  dj_frameParams(s->param, m, &back, s->Cback);
  dj_loadParams(s->param, &w->forces, &motion, &motion.at, s->x);
  dj_armatureParams(s->param, w, &motion, z, s->zeta);
  dj_bodyParams(s->param, s->tensor, m, w->body, &w->now.kin, &w->begin.kin, &w->back.kin, w->ref,
                s->x, w->h);
  return DJ_OK;
}
