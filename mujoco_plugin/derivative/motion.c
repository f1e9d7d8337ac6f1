// Velocities and accelerations of bodies (motion.h).

#include "motion.h"

#include "spatial.h"

// ---- rates --------------------------------------------------------------------------------------

static void addRates(djmRates* r, const mjtNum S[6], mjtNum a, mjtNum v) {
  addScl6(r->acc, S, a);
  addScl6(r->vel, S, v);
}

// A free joint's translations are along axes of the world: they carry its turns, and nothing
// carries them.
static void freeRates(djmMotion* x, djmRates* r, const mjData* d, const mjtNum* a, int adr) {
  for (int k = 0; k < 3; k++) addRates(r, d->cdof + 6 * (adr + k), a[adr + k], d->qvel[adr + k]);
  djmRates before = *r;
  for (int k = 3; k < 6; k++) addRates(r, d->cdof + 6 * (adr + k), a[adr + k], d->qvel[adr + k]);
  for (int k = 0; k < 6; k++) {
    mjtNum* drag = x->drag + 6 * (adr + k);
    x->before[adr + k] = before;
    mju_zero(drag, 6);
    if (k < 3) continue;
    djm_crossMotion(drag, r->vel, d->cdof + 6 * (adr + k));
    addScl6(r->bias, drag, d->qvel[adr + k]);
  }
}

// The axes of a ball turn with it: what comes before is what was before the joint.
static void ballRates(djmMotion* x, djmRates* r, const mjData* d, const mjtNum* a, int adr) {
  djmRates before = *r;
  for (int k = 0; k < 3; k++) addRates(r, d->cdof + 6 * (adr + k), a[adr + k], d->qvel[adr + k]);
  for (int k = 0; k < 3; k++) {
    mjtNum* drag = x->drag + 6 * (adr + k);
    x->before[adr + k] = before;
    djm_crossMotion(drag, r->vel, d->cdof + 6 * (adr + k));
    addScl6(r->bias, drag, d->qvel[adr + k]);
  }
}

static void scalarRates(djmMotion* x, djmRates* r, const mjData* d, const mjtNum* a, int adr) {
  const mjtNum* S = d->cdof + 6 * adr;
  x->before[adr] = *r;
  djm_crossMotion(x->drag + 6 * adr, r->vel, S);
  addScl6(r->bias, x->drag + 6 * adr, d->qvel[adr]);
  addRates(r, S, a[adr], d->qvel[adr]);
}

void djm_findMotion(djmMotion* x, const mjModel* m, const mjData* d, const mjtNum* a) {
  mju_zero((mjtNum*)x->body, 18);
  for (int b = 1; b < (int)m->nbody; b++) {
    djmRates* r = x->body + b;
    *r = x->body[m->body_parentid[b]];
    int end = m->body_jntadr[b] + m->body_jntnum[b];
    for (int j = m->body_jntadr[b]; j < end; j++) {
      int adr = m->jnt_dofadr[j];
      if (m->jnt_type[j] == mjJNT_FREE) {
        freeRates(x, r, d, a, adr);
      } else if (m->jnt_type[j] == mjJNT_BALL) {
        ballRates(x, r, d, a, adr);
      } else {
        scalarRates(x, r, d, a, adr);
      }
    }
  }
}

// ---- wrenches -----------------------------------------------------------------------------------

int djm_firstCarrier(const mjModel* m, int i) {
  int joint = m->dof_jntid[i], adr = m->jnt_dofadr[joint];
  if (m->jnt_type[joint] == mjJNT_FREE) return i < adr + 3 ? -1 : adr + 5;
  return m->jnt_type[joint] == mjJNT_BALL ? adr + 2 : m->dof_parentid[i];
}

// (S_j x S_i) . W = S_j . (S_i x* W), with W of all that dof i moves.
void djm_wrenchSlope(mjtNum* out, int stride, const mjModel* m, const mjData* d, mjtNum* wrench) {
  for (int b = (int)m->nbody - 1; b > 0; b--) {
    if (m->body_parentid[b]) addScl6(wrench + 6 * m->body_parentid[b], wrench + 6 * b, 1);
  }
  for (int i = 0; i < (int)m->nv; i++) {
    mjtNum y[6];
    djm_crossForce(y, d->cdof + 6 * i, wrench + 6 * m->dof_bodyid[i]);
    for (int j = djm_firstCarrier(m, i); j >= 0; j = m->dof_parentid[j]) {
      out[(size_t)i * stride + j] += dot6(d->cdof + 6 * j, y);
    }
  }
}

// ---- inertia ------------------------------------------------------------------------------------

// Sums of S_i x_i over dofs: of bodies; before (nv x 6): over those that a dof does not carry.
static void sums(mjtNum* body, mjtNum* before, const mjModel* m, const mjData* d,
                 const mjtNum* x) {
  mju_zero(body, 6);
  for (int b = 1; b < (int)m->nbody; b++) {
    mjtNum* sum = body + 6 * b;
    djm_copy6(sum, body + 6 * m->body_parentid[b]);
    int end = m->body_jntadr[b] + m->body_jntnum[b];
    for (int j = m->body_jntadr[b]; j < end; j++) {
      int adr = m->jnt_dofadr[j], type = m->jnt_type[j];
      int n = type == mjJNT_FREE ? 6 : type == mjJNT_BALL ? 3 : 1;
      int first = type == mjJNT_FREE ? 3 : 0;
      for (int k = 0; k < first; k++) addScl6(sum, d->cdof + 6 * (adr + k), x[adr + k]);
      for (int k = 0; k < n; k++) djm_copy6(before + 6 * (adr + k), sum);
      for (int k = first; k < n; k++) addScl6(sum, d->cdof + 6 * (adr + k), x[adr + k]);
    }
  }
}

// M x = S^T F, F = sum of I alpha over what a dof moves, alpha = sum of S_i x_i. Moved along dof j,
// with C the inertia of all that j moves and z = S_j x (alpha before j):
//
//   rows of dofs whose axes j does not carry, on the way to it:  S_i . (S_j x* F - C z)
//   rows of dofs i that it carries:                              -S_i . C_i z
//
// In the second the turn of axes and that of forces cancel.
void djm_massSlope(mjtNum* out, int stride, const mjModel* m, const mjData* d, const mjtNum* x,
                   mjtNum* scratch) {
  int nbody = (int)m->nbody, nv = (int)m->nv;
  mjtNum *alpha = scratch, *F = scratch + 6 * nbody, *before = F + 6 * nbody;
  sums(alpha, before, m, d, x);
  for (int b = 1; b < nbody; b++) mulInertia(F + 6 * b, d->cinert + 10 * b, alpha + 6 * b);
  for (int b = nbody - 1; b > 0; b--) {
    if (m->body_parentid[b]) addScl6(F + 6 * m->body_parentid[b], F + 6 * b, 1);
  }
  for (int j = 0; j < nv; j++) {
    const mjtNum* S = d->cdof + 6 * j;
    const mjtNum* C = d->crb + 10 * m->dof_bodyid[j];
    mjtNum z[6], Z[6], y[6];
    djm_crossMotion(z, S, before + 6 * j);
    djm_copy6(before + 6 * j, z);
    mulInertia(y, C, z);
    djm_crossForce(Z, S, F + 6 * m->dof_bodyid[j]);
    addScl6(Z, y, -1);
    int joint = m->dof_jntid[j], adr = m->jnt_dofadr[joint], type = m->jnt_type[joint];
    int last = type == mjJNT_FREE ? adr + 2 : type == mjJNT_BALL ? m->dof_parentid[adr] : j;
    for (int i = last; i >= 0; i = m->dof_parentid[i]) {
      out[(size_t)i * stride + j] += dot6(d->cdof + 6 * i, Z);
    }
  }
  for (int i = 0; i < nv; i++) {
    mjtNum y[6];
    mulInertia(y, d->crb + 10 * m->dof_bodyid[i], d->cdof + 6 * i);
    for (int j = djm_firstCarrier(m, i); j >= 0; j = m->dof_parentid[j]) {
      out[(size_t)i * stride + j] -= dot6(y, before + 6 * j);
    }
  }
}
