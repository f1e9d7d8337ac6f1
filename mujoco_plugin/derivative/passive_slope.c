// Derivatives of passive forces of joints and bodies, and of applied wrenches (djm_passiveSlope).
//
// With g(x) = k x + b x^2 + c x^3 (dampers: x |x| in the middle), D the derivative:
//   slide, hinge:  f = -g(q - rest),            df/dq = -g'
//   ball:          f = -(g(r)/r) x,  x = log(rest^-1 q), r = |x|:
//                  df/dq = -(g/r (1 - n n^T) + g' n n^T) dx/dq,   n = x/r
//   free:          the same law on the offset in the world, and on the rotation
//   dampers:       df/dv = -g'(v)
// Gravity compensation is a force -gravcomp m gravity at a body's centre of mass, xfrc_applied one
// with a torque there; both keep their components in the world (djm_subWrench). Of joints with
// actgravcomp compensation is an actuator's force: rows whose joint is at its actuator's range, or
// whose actuation is off, go without.

#include "slope_math.h"
#include "smooth_work.h"

#include <string.h>

double djm_polyForce(double* slope, double k, const double* poly, double x, bool odd) {
  double y = odd ? fabs(x) : x, value = k, by = k, power = 1;
  for (int i = 0; i < mjNPOLY; i++) {
    power *= y;
    value += poly[i] * power;
    by += (i + 2) * poly[i] * power;
  }
  *slope = by;
  return x * value;
}

bool djm_hasForce(double k, const double* poly) {
  for (int i = 0; i < mjNPOLY; i++) {
    if (poly[i] != 0) return true;
  }
  return k != 0;
}

// An actuator's share: all of its first output's gear squared.
static double squaredGear(const mjModel* m, int actuator) {
  double gear = m->actuator_gear[6 * m->actuator_outadr[actuator]];
  return gear * gear;
}

static bool drives(const mjModel* m, int actuator, bool tendon, int id) {
  int type = m->actuator_trntype[actuator];
  if (m->actuator_trnid[2 * actuator] != id) return false;
  return tendon ? type == mjTRN_TENDON : type == mjTRN_JOINT || type == mjTRN_JOINTINPARENT;
}

double djm_actuatorDamping(double* poly, const mjModel* m, bool tendon, int id) {
  int from = tendon ? m->tendon_actuatorid[id] : m->jnt_actuatorid[id];
  if (from == -1) return 0;
  double damping = 0;
  int first = from >= 0 ? from : 0, end = from >= 0 ? from + 1 : (int)m->nactuator;
  for (int i = first; i < end; i++) {
    if (from < 0 && !drives(m, i, tendon, id)) continue;
    double gear = squaredGear(m, i);
    damping += m->actuator_damping[i] * gear;
    for (int k = 0; k < mjNPOLY; k++) poly[k] += m->actuator_dampingpoly[mjNPOLY * i + k] * gear;
  }
  return damping;
}

double djm_actuatorArmature(const mjModel* m, bool tendon, int id) {
  int from = tendon ? m->tendon_actuatorid[id] : m->jnt_actuatorid[id];
  if (from == -1) return 0;
  double armature = 0;
  int first = from >= 0 ? from : 0, end = from >= 0 ? from + 1 : (int)m->nactuator;
  for (int i = first; i < end; i++) {
    if (from >= 0 || drives(m, i, tendon, id)) {
      armature += m->actuator_armature[i] * squaredGear(m, i);
    }
  }
  return armature;
}

// ---- springs and dampers ----------------------------------------------------------------------

// r += (g/r) x: block (3 x 3, row length nv) += (g/r (1 - n n^T) + g' n n^T) D; D NULL: identity.
static void radial(double* block, int nv, double k, const double* poly, const double* x,
                   const double* D) {
  double r = sqrt(dot3(x, x)), slope, force = djm_polyForce(&slope, k, poly, r, false);
  double ratio = r > 0 ? force / r : k, law[9];
  for (int i = 0; i < 9; i++) {
    double n = r > 0 ? x[i / 3] / r * (x[i % 3] / r) : 0;
    law[i] = (i % 4 == 0 ? ratio : 0) + (slope - ratio) * n;
  }
  for (int i = 0; i < 9; i++) {
    double sum = law[i];
    if (D)
      sum = law[i - i % 3] * D[i % 3] + law[i - i % 3 + 1] * D[3 + i % 3] +
            law[i - i % 3 + 2] * D[6 + i % 3];
    block[i / 3 * (size_t)nv + i % 3] += sum;
  }
}

static void spring(double* by_q, const mjModel* m, const mjData* d, int j, int nv) {
  double k = m->jnt_stiffness[j], slope;
  const double* poly = m->jnt_stiffnesspoly + mjNPOLY * j;
  if (!djm_hasForce(k, poly)) return;
  int adr = m->jnt_qposadr[j], dof = m->jnt_dofadr[j];
  const double *q = d->qpos + adr, *rest = m->qpos_spring + adr;
  if (m->jnt_plasticadr[j] >= 0) rest = d->plastic + m->jnt_plasticadr[j];
  if (m->jnt_type[j] == mjJNT_FREE) {
    double x[3];
    sub3(x, q, rest);
    radial(by_q + (size_t)dof * (nv + 1), nv, k, poly, x, NULL);
    q += 3;
    rest += 3;
    dof += 3;
  }
  double* block = by_q + (size_t)dof * (nv + 1);
  if (m->jnt_type[j] == mjJNT_SLIDE || m->jnt_type[j] == mjJNT_HINGE) {
    djm_polyForce(&slope, k, poly, q[0] - rest[0], false);
    *block += slope;
    return;
  }
  mjtNum quat[4], x[3], by[9], other[9];
  mju_copy4(quat, q);
  mju_normalize4(quat);
  mju_subQuat(x, quat, rest);
  mjd_subQuat(quat, rest, by, other);
  radial(block, nv, k, poly, x, by);
}

static void dampers(double* by_v, const mjModel* m, const mjData* d, int nv) {
  for (int i = 0; i < nv; i++) {
    double poly[mjNPOLY], slope, k = m->dof_damping[i];
    memcpy(poly, m->dof_dampingpoly + mjNPOLY * i, sizeof(poly));
    k += djm_actuatorDamping(poly, m, false, m->dof_jntid[i]);
    if (!djm_hasForce(k, poly)) continue;
    djm_polyForce(&slope, k, poly, d->qvel[i], true);
    by_v[(size_t)i * (nv + 1)] += slope;
  }
}

// ---- wrenches of bodies -----------------------------------------------------------------------

// Rows of dofs where compensation does not arrive are given back.
static void compensation(double* by_q, const mjModel* m, const mjData* d, djmSmoothWork* w) {
  int nv = w->nv;
  bool off = !m->nactuator || (m->opt.disableflags & mjDSBL_ACTUATION), some = false;
  for (int i = 0; i < nv; i++) {
    int j = m->dof_jntid[i];
    if (m->jnt_actgravcomp[j] && (off || w->clamped[i])) some = true;
  }
  double* to = by_q;
  if (some) {
    to = w->square;
    memset(to, 0, (size_t)nv * nv * sizeof(double));
  }
  for (int i = 1; i < w->nbody; i++) {
    if (m->body_gravcomp[i] == 0) continue;
    double force[3] = {0};
    addScl3(force, m->opt.gravity, -m->body_mass[i] * m->body_gravcomp[i]);
    djm_fillChain(w->chain, m, d, i, d->xipos + 3 * i);
    djm_subWrench(to, nv, w->chain, w->groupend, force, NULL);
  }
  for (int i = 0; i < nv && some; i++) {
    if (m->jnt_actgravcomp[m->dof_jntid[i]] && (off || w->clamped[i])) continue;
    for (int k = 0; k < nv; k++) by_q[(size_t)i * nv + k] += to[(size_t)i * nv + k];
  }
}

static void applied(double* by_q, const mjModel* m, const mjData* d, djmSmoothWork* w) {
  for (int i = 1; i < w->nbody; i++) {
    const double* x = d->xfrc_applied + 6 * i;
    if (mju_isZero(x, 6)) continue;
    djm_fillChain(w->chain, m, d, i, d->xipos + 3 * i);
    djm_subWrench(by_q, w->nv, w->chain, w->groupend, x, x + 3);
  }
}

static djStatus checkAdhesion(const mjModel* m, const mjData* d, djError* err) {
  if (!m->flg_adhesion || (m->opt.disableflags & mjDSBL_CONTACT)) return DJ_OK;
  for (int i = 0; i < d->ncon; i++) {
    const mjContact* c = d->contact + i;
    if (c->adhesion == 0 || c->exclude > 1) continue;
    return djm_refuse(err, "geom %s: forces of adhesive contacts are not differentiated",
                      djm_nameOf(m, mjOBJ_GEOM, c->geom[0]));
  }
  return DJ_OK;
}

djStatus djm_passiveSlope(double* by_q, double* by_v, const mjModel* m, const mjData* d,
                          djmSmoothWork* w, djError* err) {
  int off = m->opt.disableflags, nv = w->nv;
  if (by_q) applied(by_q, m, d, w);
  if ((off & mjDSBL_SPRING) && (off & mjDSBL_DAMPER)) return DJ_OK;
  djStatus status = checkAdhesion(m, d, err);
  if (status < 0) return status;
  if (by_q && !(off & mjDSBL_SPRING)) {
    for (int j = 0; j < m->njnt; j++) spring(by_q, m, d, j, nv);
  }
  if (by_v && !(off & mjDSBL_DAMPER)) dampers(by_v, m, d, nv);
  if (by_q && m->flg_gravcomp && !(off & mjDSBL_GRAVITY)) compensation(by_q, m, d, w);
  if (m->opt.density != 0 || m->opt.viscosity != 0) djm_fluidSlope(by_q, by_v, m, d, w);
  return DJ_OK;
}
