#include "base/status.h"
#include "model/guide_bodies.h"
#include "model/activation.h"
#include "model/check.h"
#include "model/geom_row.h"
#include "model/joint_type.h"
#include "model/kernel_setting.h"
#include "model/make.h"

#include <string.h>

static void fillBodyValues(djModel* m, const djModelDef* def) {
  int nmocap = 0;
  for (int i = 0; i < m->nbody; i++) {
    const djBodyDef* b = &def->body[i];
    m->body_parent[i] = b->parent;
    m->body_mocap[i] = b->mocap ? nmocap++ : -1;
    dj_copyNumbers(m->body_pos + 3 * i, b->pos, 3);
    dj_makeUnit(m->body_quat + 4 * i, b->quat, 4);
    dj_copyNumbers(m->body_ipos + 3 * i, b->ipos, 3);
    dj_makeUnit(m->body_iquat + 4 * i, b->iquat, 4);
    m->body_mass[i] = b->mass;
    dj_copyNumbers(m->body_inertia + 3 * i, b->inertia, 3);
    m->body_gravcomp[i] = b->gravcomp;
    m->body_jntadr[i] = -1;
    m->body_dofadr[i] = -1;
    m->body_geomadr[i] = -1;
  }
}

// Coordinates of a joint, quaternions normalised; a zero quaternion means `given`, a pose, instead.
static void fillCoordinates(double* q, int type, const double* v, const double given[7]) {
  int plain = dj_jointRows[type].nplain;
  if (!dj_jointRows[type].quat || dj_makeUnit(q + plain, v + plain, 4)) {
    dj_copyNumbers(q, v, plain);
  } else {
    dj_copyNumbers(q, given + 3 - plain, dj_jointNq(type));
  }
}

static void fillJointValues(djModel* m, const djModelDef* def) {
  for (int i = 0; i < m->njnt; i++) {
    const djJointDef* j = &def->joint[i];
    int qadr = m->jnt_qposadr[i];
    m->jnt_type[i] = (int)j->type;
    m->jnt_body[i] = j->body;
    m->jnt_limited[i] = j->limited;
    m->jnt_actfrclimited[i] = j->actfrclimited;
    m->jnt_actgravcomp[i] = j->actgravcomp;
    dj_copyNumbers(m->jnt_pos + 3 * i, j->pos, 3);
    bool pose = dj_jointRows[j->type].pose, axial = dj_isScalarJoint((int)j->type);
    if (!axial || !dj_makeUnit(m->jnt_axis + 3 * i, j->axis, 3)) {
      dj_copyNumbers(m->jnt_axis + 3 * i, j->axis, 3);
    }
    m->jnt_stiffness[i] = j->stiffness;
    dj_copyNumbers(m->jnt_stiffnesspoly + 2 * i, j->stiffnesspoly, 2);
    m->jnt_damping[i] = j->damping;
    dj_copyNumbers(m->jnt_dampingpoly + 2 * i, j->dampingpoly, 2);
    m->jnt_armature[i] = j->armature;
    m->jnt_frictionloss[i] = j->frictionloss;
    dj_copyNumbers(m->jnt_range + 2 * i, j->range, 2);
    m->jnt_margin[i] = j->margin;
    m->jnt_limit_stiffness[i] = j->limit_stiffness;
    m->jnt_limit_damping[i] = j->limit_damping;
    dj_copyNumbers(m->jnt_limit_impedance + 5 * i, j->limit_impedance, 5);
    m->jnt_frictionloss_damping[i] = j->frictionloss_damping;
    m->jnt_frictionloss_impedance[i] = j->frictionloss_impedance;
    dj_copyNumbers(m->jnt_actfrcrange + 2 * i, j->actfrcrange, 2);
    m->jnt_effinertia[i] = 1;

    // A free joint starts at its body's frame, and its spring rests where it starts.
    double given[7] = {0, 0, 0, 1, 0, 0, 0};
    if (pose) {
      dj_copyNumbers(given, m->body_pos + 3 * j->body, 3);
      dj_copyNumbers(given + 3, m->body_quat + 4 * j->body, 4);
    }
    fillCoordinates(m->qpos0 + qadr, (int)j->type, j->qpos0, given);
    if (pose) dj_copyNumbers(given, m->qpos0 + qadr, 7);
    fillCoordinates(m->qpos_spring + qadr, (int)j->type, j->springref, given);
  }
}

// Addresses of joints and dofs, and what follows from the tree: parents come first.
static void fillAddresses(djModel* m, const djModelDef* def) {
  int qpos = 0, dof = 0, jnt = 0;
  for (int b = 0; b < m->nbody; b++) {
    int parent = m->body_parent[b];
    int last = b > 0 ? m->body_lastdof[parent] : -1;
    for (; jnt < m->njnt && def->joint[jnt].body == b; jnt++) {
      int type = (int)def->joint[jnt].type;
      if (m->body_jntadr[b] < 0) {
        m->body_jntadr[b] = jnt;
        m->body_dofadr[b] = dof;
      }
      m->jnt_qposadr[jnt] = qpos;
      m->jnt_dofadr[jnt] = dof;
      m->body_jntnum[b]++;
      m->body_dofnum[b] += dj_jointNv(type);
      qpos += dj_jointNq(type);
      for (int k = 0; k < dj_jointNv(type); k++) {
        m->dof_jnt[dof] = jnt;
        m->dof_body[dof] = b;
        m->dof_parent[dof] = last;
        last = dof++;
      }
    }
    bool moves = m->body_dofnum[b] > 0;
    m->body_lastdof[b] = last;
    m->body_weld[b] = moves || m->body_mocap[b] >= 0 ? b : m->body_weld[parent];
    m->body_root[b] = m->body_root[parent] > 0 ? m->body_root[parent] : moves ? b : 0;
  }
}

void dj_fillTree(djModel* m, const djModelDef* def) {
  fillBodyValues(m, def);
  fillAddresses(m, def);
  fillJointValues(m, def);
}

void dj_sumMasses(djModel* m) {
  m->total_mass = 0;
  m->moving_mass = 0;
  for (int b = 1; b < m->nbody; b++) {
    m->total_mass += m->body_mass[b];
    if (m->body_lastdof[b] >= 0) m->moving_mass += m->body_mass[b];
  }
}

static void fillGeoms(djModel* m, const djModelDef* def) {
  for (int i = 0; i < m->ngeom; i++) {
    const djGeomDef* g = &def->geom[i];
    m->geom_type[i] = (int)g->type;
    m->geom_body[i] = g->body;
    m->geom_mesh[i] = g->mesh;
    m->geom_hfield[i] = g->hfield;
    m->geom_flex[i] = g->flex;
    m->geom_contype[i] = g->contype;
    m->geom_conaffinity[i] = g->conaffinity;
    m->geom_condim[i] = g->condim;
    m->geom_priority[i] = g->priority;
    dj_copyNumbers(m->geom_size + 3 * i, g->size, 3);
    // Planes and meshes keep theirs, which pictures use.
    for (int k = dj_geomRow((int)g->type)->nsize; k > 0 && k < 3; k++) m->geom_size[3 * i + k] = 0;
    dj_copyNumbers(m->geom_pos + 3 * i, g->pos, 3);
    dj_makeUnit(m->geom_quat + 4 * i, g->quat, 4);
    dj_copyNumbers(m->geom_friction + 3 * i, g->friction, 3);
    m->geom_restitution[i] = g->restitution;
    m->geom_solref_restitution[i] = g->solref_restitution;
    m->geom_margin[i] = g->margin;
    m->geom_gap[i] = g->gap;
    m->geom_soft_depth[i] = g->soft_depth;
    m->geom_contact[i] = dj_contactNamed(g->contact);
    if (m->body_geomadr[g->body] < 0) m->body_geomadr[g->body] = i;
    m->body_geomnum[g->body]++;
  }
}

static void fillMeshes(djModel* m, const djModelDef* def) {
  int vert = 0, face = 0, tri = 0;
  for (int i = 0; i < m->nmesh; i++) {
    const djMeshDef* s = &def->mesh[i];
    m->mesh_vertadr[i] = vert;
    m->mesh_vertnum[i] = s->nvert;
    m->mesh_faceadr[i] = face;
    m->mesh_facenum[i] = s->nface;
    dj_copyNumbers(m->mesh_vert + 3 * (size_t)vert, s->vert, 3 * s->nvert);
    if (s->nface > 0) {
      memcpy(m->mesh_face + 3 * (size_t)face, s->face, sizeof(int) * 3 * (size_t)s->nface);
    }
    vert += s->nvert;
    face += s->nface;
    m->mesh_triadr[i] = tri;
    m->mesh_trinum[i] = s->ntri;
    if (s->ntri > 0) {
      memcpy(m->mesh_tri + 3 * (size_t)tri, s->tri, sizeof(int) * 3 * (size_t)s->ntri);
    }
    tri += s->ntri;
  }
}

static void fillHfields(djModel* m, const djModelDef* def) {
  int adr = 0;
  for (int i = 0; i < m->nhfield; i++) {
    const djHfieldDef* h = &def->hfield[i];
    m->hfield_nrow[i] = h->nrow;
    m->hfield_ncol[i] = h->ncol;
    m->hfield_adr[i] = adr;
    dj_copyNumbers(m->hfield_size + 3 * i, h->size, 3);
    dj_copyNumbers(m->hfield_height + adr, h->height, h->nrow * h->ncol);
    adr += h->nrow * h->ncol;
  }
}

static void fillTendons(djModel* m, const djModelDef* def) {
  int nwrap = 0;
  for (int i = 0; i < m->ntendon; i++) {
    const djTendonDef* t = &def->tendon[i];
    m->tendon_adr[i] = nwrap;
    m->tendon_num[i] = t->nwrap;
    for (int k = 0; k < t->nwrap; k++) {
      m->wrap_type[nwrap] = (int)t->wrap[k].type;
      m->wrap_objid[nwrap] = t->wrap[k].type == DJ_WRAP_PULLEY ? -1 : t->wrap[k].id;
      m->wrap_prm[nwrap++] = t->wrap[k].type == DJ_WRAP_SITE ? 0 : t->wrap[k].prm;
    }
    m->tendon_limited[i] = t->limited;
    m->tendon_actfrclimited[i] = t->actfrclimited;
    dj_copyNumbers(m->tendon_lengthspring + 2 * i, t->springlength, 2);
    m->tendon_stiffness[i] = t->stiffness;
    dj_copyNumbers(m->tendon_stiffnesspoly + 2 * i, t->stiffnesspoly, 2);
    m->tendon_damping[i] = t->damping;
    dj_copyNumbers(m->tendon_dampingpoly + 2 * i, t->dampingpoly, 2);
    m->tendon_armature[i] = t->armature;
    m->tendon_hasarmature[i] = t->armature > 0;
    m->tendon_frictionloss[i] = t->frictionloss;
    dj_copyNumbers(m->tendon_range + 2 * i, t->range, 2);
    m->tendon_margin[i] = t->margin;
    m->tendon_limit_stiffness[i] = t->limit_stiffness;
    m->tendon_limit_damping[i] = t->limit_damping;
    dj_copyNumbers(m->tendon_limit_impedance + 5 * i, t->limit_impedance, 5);
    m->tendon_frictionloss_damping[i] = t->frictionloss_damping;
    m->tendon_frictionloss_impedance[i] = t->frictionloss_impedance;
    dj_copyNumbers(m->tendon_actfrcrange + 2 * i, t->actfrcrange, 2);
    m->tendon_effinertia[i] = 1;
  }
}

static void fillActuators(djModel* m, const djModelDef* def) {
  int na = 0;
  for (int i = 0; i < m->nu; i++) {
    const djActuatorDef* a = &def->actuator[i];
    m->actuator_joint[i] = a->joint;
    m->actuator_tendon[i] = a->tendon;
    m->actuator_site[2 * i] = a->site;
    m->actuator_site[2 * i + 1] = a->refsite;
    m->actuator_crank[2 * i] = a->cranksite;
    m->actuator_crank[2 * i + 1] = a->slidersite;
    m->actuator_cranklength[i] = a->cranklength;
    m->actuator_body[i] = a->body;
    m->actuator_addsto[i] = a->adds_to;
    m->actuator_integral[i] = a->integral;
    m->actuator_integral_limit[i] = a->integral_limit;
    m->actuator_integral_clipped[i] = a->integral_clipped;
    m->actuator_inparent[i] = a->in_parent;
    m->actuator_gain[i] = (int)a->gain;
    m->actuator_bias[i] = (int)a->bias;
    m->actuator_dyn[i] = (int)a->dyn;
    m->actuator_actadr[i] = dj_hasActivation((int)a->dyn) ? na++ : -1;
    m->actuator_zadr[i] = a->integral != 0 ? na++ : -1;
    m->actuator_actearly[i] = a->actearly;
    m->actuator_ctrllimited[i] = a->ctrllimited;
    m->actuator_forcelimited[i] = a->forcelimited;
    m->actuator_actlimited[i] = a->actlimited;
    dj_copyNumbers(m->actuator_gear + 6 * i, a->gear, 6);
    dj_copyNumbers(m->actuator_gainprm + DJ_NPRM * i, a->gainprm, DJ_NPRM);
    dj_copyNumbers(m->actuator_biasprm + DJ_NPRM * i, a->biasprm, DJ_NPRM);
    dj_copyNumbers(m->actuator_lengthrange + 2 * i, a->lengthrange, 2);
    m->actuator_acc0[i] = a->acc0;
    m->actuator_tau[i] = a->tau;
    m->actuator_tau_deactivation[i] = a->tau_deactivation;
    m->actuator_tau_smooth[i] = a->tau_smooth;
    dj_copyNumbers(m->actuator_ctrlrange + 2 * i, a->ctrlrange, 2);
    dj_copyNumbers(m->actuator_forcerange + 2 * i, a->forcerange, 2);
    dj_copyNumbers(m->actuator_actrange + 2 * i, a->actrange, 2);
    m->actuator_armature[i] = a->armature;
    m->actuator_damping[i] = a->damping;
    dj_copyNumbers(m->actuator_dampingpoly + 2 * i, a->dampingpoly, 2);
  }
}

void dj_fillElements(djModel* m, const djModelDef* def) {
  fillGeoms(m, def);
  fillMeshes(m, def);
  fillHfields(m, def);
  fillTendons(m, def);
  fillActuators(m, def);
  for (int i = 0; i < m->nu; i++) {
    int t = m->actuator_tendon[i];
    if (t >= 0 && m->actuator_armature[i] > 0) m->tendon_hasarmature[t] = 1;
  }
  for (int i = 0; i < m->nsite; i++) {
    m->site_body[i] = def->site[i].body;
    dj_copyNumbers(m->site_pos + 3 * i, def->site[i].pos, 3);
    dj_makeUnit(m->site_quat + 4 * i, def->site[i].quat, 4);
  }
  for (int i = 0; i < m->npair; i++) {
    const djPairDef* p = &def->pair[i];
    m->pair_geom1[i] = p->geom1;
    m->pair_geom2[i] = p->geom2;
    m->pair_condim[i] = p->condim;
    m->pair_friction[i] = p->friction;
    m->pair_friction2[i] = p->friction2;
    m->pair_torsion[i] = p->torsion;
    dj_copyNumbers(m->pair_rolling + 2 * i, p->rolling, 2);
    m->pair_restitution[i] = p->restitution;
    m->pair_solref_restitution[i] = p->solref_restitution;
    m->pair_margin[i] = p->margin;
    m->pair_gap[i] = p->gap;
    m->pair_soft_depth[i] = p->soft_depth;
    m->pair_contact[i] = dj_contactNamed(p->contact);
  }
  for (int i = 0; i < m->nexclude; i++) {
    m->exclude_body1[i] = def->exclude[i].body1;
    m->exclude_body2[i] = def->exclude[i].body2;
  }
  for (int i = 0; i < m->nguide; i++) {
    m->guide_body1[i] = def->guide[i].body1;
    m->guide_body2[i] = def->guide[i].body2;
  }
  dj_sortGuides(m);
}

// One row of a key's table; where it is not given, `rest`, or zeros. What is wrong with it, or
// NULL.
static const char* fillRow(double* row, const double* given, const double* rest, int n) {
  if (given) dj_copyNumbers(row, given, n);
  else if (rest) dj_copyNumbers(row, rest, n);
  return dj_allFinite(row, n) ? dj_sizeProblem(row, n, DJ_LARGEST) : "is not finite";
}

djStatus dj_fillKeys(djModel* m, const djModelDef* def, djError* err) {
  for (int i = 0; i < m->nkey; i++) {
    const djKeyDef* k = &def->key[i];
    size_t row = (size_t)i;
    double* mpos = m->key_mpos + row * 3 * (size_t)m->nmocap;
    double* mquat = m->key_mquat + row * 4 * (size_t)m->nmocap;
    for (int b = 0; b < m->nbody; b++) {
      if (m->body_mocap[b] < 0) continue;
      dj_copyNumbers(mpos + 3 * m->body_mocap[b], m->body_pos + 3 * b, 3);
      dj_copyNumbers(mquat + 4 * m->body_mocap[b], m->body_quat + 4 * b, 4);
    }
    const struct {
      const char* name;
      double* to;
      const double *from, *rest;
      int n;
    } part[] = {{"time", &m->key_time[i], &k->time, NULL, 1},
                {"qpos", m->key_qpos + row * (size_t)m->nq, k->qpos, m->qpos0, m->nq},
                {"qvel", m->key_qvel + row * (size_t)m->nv, k->qvel, NULL, m->nv},
                {"act", m->key_act + row * (size_t)m->na, k->act, NULL, m->na},
                {"ctrl", m->key_ctrl + row * (size_t)m->nu, k->ctrl, NULL, m->nu},
                {"mocap_pos", mpos, k->mocap_pos, NULL, 3 * m->nmocap},
                {"mocap_quat", mquat, k->mocap_quat, NULL, 4 * m->nmocap}};
    for (size_t p = 0; p < sizeof part / sizeof part[0]; p++) {
      const char* problem = fillRow(part[p].to, part[p].from, part[p].rest, part[p].n);
      if (!problem) continue;
      return dj_fail(err, DJ_INVALID, "%s: %s %s", dj_elementText("key", k->name, i).text,
                     part[p].name, problem);
    }
  }
  return DJ_OK;
}
