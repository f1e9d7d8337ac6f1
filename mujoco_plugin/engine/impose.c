#include "impose.h"

#include <math.h>

// Without constraints every integrator but RK4 ends a step with v+ = v + h a,
//
//   Mhat a = passive + applied + J' xfrc + actuator - bias,
//
// bias with the rates of tendons that have armature. Mhat is the integrator's effective metric:
//   Euler          M + h D, D of dof and actuator damping unless eulerdamp is disabled
//   implicit       M - h d(passive + actuator - bias)/dv
//   implicitfast   the same without the bias, by its lower triangle; bodies on a free joint alone
//                  have all of it
//   discrete       M + h D + h^2 K, with the shift -h K v on the right
// Inverse dynamics with the flag invdiscrete evaluates Mhat a + bias - passive by each of these
// metrics, hence passive = inverse(a) + passive - applied - J' xfrc - actuator with
// a = (v+ - v)/h. In the callback poses, M and velocities are current; actuator forces and the
// metric's velocity terms are not: mj_fwdActuation and the velocity stage renew them.

enum { NSAVED = 6 };

// Arrays that MuJoCo has computed and that are overwritten here.
static void listSaved(mjtNum** field, int* size, const mjModel* m, mjData* d) {
  field[0] = d->qacc, size[0] = (int)m->nv;
  field[1] = d->qfrc_inverse, size[1] = (int)m->nv;
  field[2] = d->qfrc_constraint, size[2] = (int)m->nv;
  field[3] = d->qfrc_actuator, size[3] = (int)m->nv;
  field[4] = d->actuator_force, size[4] = (int)m->nout;
  field[5] = d->act_dot, size[5] = (int)m->na;
}

// d->qfrc_passive from d->qacc.
static void invert(const mjModel* m, mjData* d) {
  mjModel own = *m;           // same arrays, other options
  own.opt.enableflags |= mjENBL_INVDISCRETE;
  own.opt.enableflags &= ~(mjENBL_ENERGY | mjENBL_FWDINV);
  own.nplugin = 0;            // the callback is not entered again

  int nefc = d->nefc;
  d->nefc = 0;                // constraints of this step have no reference yet
  mj_fwdActuation(m, d);
  mj_inverseSkip(&own, d, m->opt.integrator == mjINT_DISCRETE ? mjSTAGE_POS : mjSTAGE_VEL, 1);
  d->nefc = nefc;

  mju_addTo(d->qfrc_passive, d->qfrc_inverse, (int)m->nv);
  mju_subFrom(d->qfrc_passive, d->qfrc_applied, (int)m->nv);
  mju_subFrom(d->qfrc_passive, d->qfrc_actuator, (int)m->nv);
  for (int i = 1; i < m->nbody; i++) {
    const mjtNum* f = d->xfrc_applied + 6 * i;
    if (mju_isZero(f, 6)) continue;
    mjtNum back[6];
    mju_scl(back, f, -1, 6);
    mj_applyFT(m, d, back, back + 3, d->xipos + 3 * i, i, d->qfrc_passive);
  }
}

static bool isFinite(const mjtNum* x, int n) {
  for (int i = 0; i < n; i++) {
    if (!isfinite(x[i])) return false;
  }
  return true;
}

size_t djm_imposeWork(const mjModel* m) { return (size_t)(5 * m->nv + m->nout + m->na) + 1; }

djStatus djm_impose(const mjModel* m, mjData* d, const mjtNum* vnext, mjtNum* work) {
  int nv = (int)m->nv, size[NSAVED];
  if (m->opt.integrator == mjINT_RK4 || (m->opt.enableflags & mjENBL_SLEEP)) return DJ_UNSUPPORTED;
  if (!(m->opt.timestep > 0) || !isFinite(vnext, nv)) return DJ_INVALID;

  mjtNum* field[NSAVED];
  listSaved(field, size, m, d);
  mjtNum* at = work;
  for (int k = 0; k < NSAVED; at += size[k++]) mju_copy(at, field[k], size[k]);
  mju_copy(at, d->qfrc_passive, nv);

  for (int i = 0; i < nv; i++) d->qacc[i] = (vnext[i] - d->qvel[i]) / m->opt.timestep;
  invert(m, d);
  bool finite = isFinite(d->qfrc_passive, nv);
  if (!finite) mju_copy(d->qfrc_passive, at, nv);

  at = work;
  for (int k = 0; k < NSAVED; at += size[k++]) mju_copy(field[k], at, size[k]);
  return finite ? DJ_OK : DJ_INVALID;
}
