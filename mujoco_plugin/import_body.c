// Bodies and joints.

#include "import.h"
#include "type_table.h"

#include <math.h>

djStatus djm_importBodies(djmImport* imp) {
  const mjModel* m = imp->m;
  djBodyDef* body = djm_alloc(imp, m->nbody, sizeof(*body));
  if (!body) return DJ_NO_MEMORY;
  for (int i = 0; i < m->nbody; i++) {
    djBodyDef* b = body + i;
    *b = dj_defaultBodyDef();
    b->name = djm_name(m, m->name_bodyadr[i]);
    b->parent = m->body_parentid[i];
    mju_copy3(b->pos, m->body_pos + 3 * i);
    mju_copy4(b->quat, m->body_quat + 4 * i);
    mju_copy3(b->ipos, m->body_ipos + 3 * i);
    mju_copy4(b->iquat, m->body_iquat + 4 * i);
    b->mass = m->body_mass[i];
    mju_copy3(b->inertia, m->body_inertia + 3 * i);
    b->gravcomp = m->body_gravcomp[i];
    b->mocap = m->body_mocapid[i] >= 0;
  }
  imp->def.nbody = (int)m->nbody;
  imp->def.body = body;
  return DJ_OK;
}

void djm_softness(double* k, double* b, double* dmin, double* dmax, const mjModel* m,
                  const mjtNum solref[mjNREF], const mjtNum solimp[mjNIMP]) {
  *dmin = mju_clip(solimp[0], mjMINIMP, mjMAXIMP);
  *dmax = mju_clip(solimp[1], mjMINIMP, mjMAXIMP);
  double time = solref[0], ratio = solref[1], h = m->opt.timestep;
  if ((time > 0) != (ratio > 0)) {   // of two formats: MuJoCo takes its default
    time = 0.02;
    ratio = 1;
  }
  if (time <= 0) {
    *k = -time / (*dmax * *dmax);
    *b = -ratio / *dmax;
    return;
  }
  if (!(m->opt.disableflags & mjDSBL_REFSAFE)) {
    if (m->opt.integrator == mjINT_DISCRETE) {
      time = fmax(time, h / (ratio * sqrt(*dmax)));   // h^2 k dmax <= 1
    } else {
      time = fmax(time, 2 * h);
    }
  }
  double s = *dmax * time * ratio;
  *k = 1 / (s * s);
  *b = 2 / (*dmax * time);
}

// MuJoCo's limit gives a = (1-d) a0 + d (-b v - k d r), a0 the acceleration without it. This is the
// motion under the force -M (d^2 k r + d b v)/(1-d) of a body whose inertia is M/(1-d): so this
// spring and damper hold the same load at the same depth, and creep back at the same rate.
void djm_limitLaw(double* stiffness, double* damping, const mjModel* m,
                  const mjtNum solref[mjNREF], const mjtNum solimp[mjNIMP]) {
  double k, b, dmin, d;
  djm_softness(&k, &b, &dmin, &d, m, solref, solimp);
  *stiffness = d * d * k / (1 - d);
  *damping = d * b / (1 - d);
}

void djm_impedance(double impedance[mjNIMP], const mjtNum solimp[mjNIMP]) {
  for (int k = 0; k < mjNIMP; k++) impedance[k] = solimp[k];
  for (int k = 0; k < 4; k++) {
    if (k != 2) impedance[k] = mju_clip(solimp[k], mjMINIMP, mjMAXIMP);
  }
  impedance[2] = fmax(solimp[2], 0);
  impedance[4] = fmax(solimp[4], 1);
}

void djm_lossLaw(double* damping, double* impedance, const mjModel* m,
                 const mjtNum solref[mjNREF], const mjtNum solimp[mjNIMP]) {
  double k, dmax;
  djm_softness(&k, damping, impedance, &dmax, m, solref, solimp);
}

static void importJoint(djJointDef* j, const mjModel* m, int i) {
  int dof = m->jnt_dofadr[i], adr = m->jnt_qposadr[i], type = m->jnt_type[i];
  *j = dj_defaultJointDef();
  j->name = djm_name(m, m->name_jntadr[i]);
  j->body = m->jnt_bodyid[i];
  j->type = (djJointType)djm_ourType(DJM_TYPE_JOINT, type);
  mju_copy3(j->pos, m->jnt_pos + 3 * i);
  mju_copy3(j->axis, m->jnt_axis + 3 * i);
  mju_copy(j->qpos0, m->qpos0 + adr, djm_jointNq(type));
  mju_copy(j->springref, m->qpos_spring + adr, djm_jointNq(type));
  j->stiffness = m->jnt_stiffness[i];
  mju_copy(j->stiffnesspoly, m->jnt_stiffnesspoly + mjNPOLY * i, mjNPOLY);
  j->damping = m->dof_damping[dof];
  mju_copy(j->dampingpoly, m->dof_dampingpoly + mjNPOLY * dof, mjNPOLY);
  j->armature = m->dof_armature[dof];
  j->frictionloss = m->dof_frictionloss[dof];
  j->limited = m->jnt_limited[i] && type != mjJNT_FREE;
  mju_copy(j->range, m->jnt_range + 2 * i, 2);
  j->margin = m->jnt_margin[i];
  djm_limitLaw(&j->limit_stiffness, &j->limit_damping, m, m->jnt_solref + mjNREF * i,
               m->jnt_solimp + mjNIMP * i);
  djm_impedance(j->limit_impedance, m->jnt_solimp + mjNIMP * i);
  djm_lossLaw(&j->frictionloss_damping, &j->frictionloss_impedance, m,
              m->dof_solref + mjNREF * dof, m->dof_solimp + mjNIMP * dof);
  j->actfrclimited = m->jnt_actfrclimited[i];
  mju_copy(j->actfrcrange, m->jnt_actfrcrange + 2 * i, 2);
  // Actuators without controls, of which there are none here, are actuation for MuJoCo.
  j->actgravcomp = m->jnt_actgravcomp[i] && !(m->nactuator > 0 && m->nu == 0);
}

djStatus djm_importJoints(djmImport* imp) {
  const mjModel* m = imp->m;
  djJointDef* joint = djm_alloc(imp, m->njnt, sizeof(*joint));
  if (!joint) return DJ_NO_MEMORY;
  for (int i = 0; i < m->njnt; i++) importJoint(joint + i, m, i);
  imp->def.njnt = (int)m->njnt;
  imp->def.joint = imp->joint = joint;
  return DJ_OK;
}
