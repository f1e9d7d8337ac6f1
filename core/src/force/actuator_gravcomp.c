// Gravity compensation by actuators: of joints with actgravcomp what the compensation of bodies
// does along their dofs,
//   G_i = -sum over b of c_b m_b g . dx_b/dq_i,   x_b centres of mass below dof i,
// is a part of the force A_i of their actuators: it is clamped with them, C_i(A_i + G_i), and
// vanishes where there is no actuation. Compensation acts on bodies all the same (gravity.c), so
// that C_i(A_i + G_i) - G_i is added to that. By the configuration G_i adds (C_i' - 1) dG_i, and
//   dG_i/dq_k = -sum over b of c_b m_b g . (w_a x dx_b/dq_e),
// b below both, a the upper one of dofs i and k, e the lower one, w_a what a turns about.
// Smooth forces by the start alone have it.

#include "force/actuator.h"
#include "force/forces.h"

#include "model/body_param.h"

#include <string.h>

// What all joints' actuators have where there is none.
static bool isOff(const djModel* m) { return m->nu == 0 || dj_actuatorsOff(m); }

int dj_firstCompensated(const djModel* m) {
  const int passive_off = DJ_DSBL_SPRING | DJ_DSBL_DAMPER;
  bool none = m->opt.disable & DJ_DSBL_GRAVITY || (m->opt.disable & passive_off) == passive_off;
  for (int j = 0; j < m->njnt && !none; j++) {
    if (m->jnt_actgravcomp[j] && (isOff(m) || m->jnt_actfrclimited[j])) return j;
  }
  return -1;
}

static djVec3 gravity(const djMotion* at) {
  return dju_scale3(at->start->gravity_scale, dju_load3(at->model->opt.gravity));
}

// m c of body b.
static double compensated(const djModel* m, int b) { return m->body_mass[b] * m->body_gravcomp[b]; }

// Sums over subtrees, about ref: (m c, first moment of it).
static void sumMoments(djActuators* t, const djMotion* at) {
  const djModel* m = at->model;
  for (int b = 0; b < m->nbody; b++) {
    double weight = compensated(m, b);
    djVec3 moment = dju_scale3(weight, dju_sub3(at->at.kin->com[b], at->ref[b]));
    t->moment[4 * b] = weight;
    dju_store3(t->moment + 4 * b + 1, moment);
  }
  for (int b = m->nbody - 1; b > 0; b--) {
    int up = m->body_parent[b];
    for (int k = 0; k < 4 && up > 0; k++) t->moment[4 * up + k] += t->moment[4 * b + k];
  }
}

// Sum over b below of m c dx_b/dq along a dof.
static djVec3 momentRate(const djActuators* t, const djMotion* at, int dof) {
  const double* S = at->at.kin->S + 6 * dof;
  const double* sum = t->moment + 4 * at->model->dof_body[dof];
  djVec3 turned = dju_cross3(dju_load3(S), dju_load3(sum + 1));
  return dju_madd3(turned, sum[0], dju_load3(S + 3));
}

void dj_findCompensation(djActuators* t, const djMotion* at) {
  const djModel* m = at->model;
  t->lifts = at->acting == DJ_ACTS_SMOOTH && dj_firstCompensated(m) >= 0;
  if (!t->lifts) return;
  sumMoments(t, at);
  djVec3 g = gravity(at);
  for (int i = 0; i < m->nv; i++) {
    bool is = m->jnt_actgravcomp[m->dof_jnt[i]];
    t->lift[i] = is ? -dju_dot3(g, momentRate(t, at, i)) : 0;
  }
}

// C_i' - 1.
static double lostShare(const djActuators* t, const djMotion* at, int i) {
  const djModel* m = at->model;
  int j = m->dof_jnt[i], c = m->jnt_coord[j];
  if (!m->jnt_actgravcomp[j]) return 0;
  if (isOff(m)) return -1;
  if (!m->jnt_actfrclimited[j]) return 0;
  return dj_totalForce(t, m, c, at->at.coord->x[c] - at->rate.coord->x[c]).C - 1;
}

// Where one rotation has both dofs, its axes turn with the second one.
static bool standsAbove(const djModel* m, int i, int k) {
  int turn = dj_rotationDof(m, m->dof_jnt[i]);
  bool one = m->dof_jnt[i] == m->dof_jnt[k] && turn >= 0 && i >= turn && k >= turn;
  return !one && i < k;
}

static double slopeBy(const djActuators* t, const djMotion* at, djVec3 g, int i, int k) {
  bool above = standsAbove(at->model, i, k);
  int a = above ? i : k, e = above ? k : i;
  djVec3 w = dju_load3(at->at.kin->S + 6 * a);
  return -dju_dot3(g, dju_cross3(w, momentRate(t, at, e)));
}

// Whether dof i is k or above it.
static bool leadsTo(const djModel* m, int i, int k) {
  while (k > i) k = m->dof_parent[k];
  return k == i;
}

void dj_addCompensation(djForceSum* sum, double* gradient, const djActuators* t,
                        const djMotion* at) {
  const djModel* m = at->model;
  djVec3 g = gravity(at);
  for (int i = 0; i < m->nv && t->lifts; i++) {
    double share = lostShare(t, at, i);
    if (share == 0) continue;
    if (isOff(m)) gradient[i] += t->lift[i];
    for (int k = 0; k < m->nv; k++) {
      if (!leadsTo(m, i, k) && !leadsTo(m, k, i)) continue;
      *dj_own(sum->H, i, k) -= share * slopeBy(t, at, g, i, k);
    }
  }
}

// z' . dG with z'_i = (C_i' - 1) z_i is what compensation of bodies does along z'.
void dj_compensationParams(djParamSums* s, djActuators* t, const djMotion* at, const double* z) {
  const djModel* m = at->model;
  const size_t size = (size_t)m->nbody * 6 * sizeof(double);
  djVec3 g = gravity(at);
  if (!t->lifts) return;
  for (int i = 0; i < m->nv; i++) t->z[i] = z[i] * lostShare(t, at, i);
  dj_bodyTwists(t->twist, m, at->at.kin, t->z);
  memset(t->load, 0, (size_t)m->nbody * sizeof *t->load);
  for (int b = 1; b < m->nbody; b++) t->load[b].force = dju_scale3(-compensated(m, b), g);
  memset(t->wrench, 0, size);
  memset(t->cotangent, 0, size);
  dj_addLoadProducts(t->wrench, t->cotangent, NULL, m, t->load, at->at.kin, at->at.kin, at->ref,
                     t->twist);
  if (s->wants & DJ_BY_INERTIA) {
    for (int b = 1; b < m->nbody; b++) {
      djVec3 arm = dju_sub3(at->at.kin->com[b], at->ref[b]);
      djVec3 u = dju_cross3(dju_load3(t->twist + 6 * b), arm);
      u = dju_add3(u, dju_load3(t->twist + 6 * b + 3));
      double ug = dju_dot3(u, g);
      dj_paramBlock(s->param, m, DJ_FIELD_BODY_MASS)[b] += m->body_gravcomp[b] * ug;
      dj_paramBlock(s->param, m, DJ_FIELD_BODY_GRAVCOMP)[b] += m->body_mass[b] * ug;
      dju_addTo3(dj_paramBlock(s->param, m, DJ_FIELD_GRAVITY),
                 compensated(m, b) * at->start->gravity_scale, u);
    }
    dj_loadPlaceParams(s->param, m, t->load, at->at.kin, t->twist);
  }
  if (!(s->wants & DJ_BY_FRAME)) return;
  djConfig now = dj_wantedConfig(s, at->at.kin, at->at.q, at->ref);
  dj_gatherCotangents(t->wrench, m, at->ref);
  dj_gatherCotangents(t->cotangent, m, at->ref);
  dj_frameParamsSecond(s->param, m, &now, t->cotangent, t->wrench, t->twist, t->z);
}
