#include "base/arena.h"
#include "base/status.h"
#include "model/equality.h"
#include "model/flex.h"
#include "model/joint_type.h"
#include "model/kernel_setting.h"
#include "model/make.h"
#include "model/points.h"
#include "model/surface.h"

#include <stdlib.h>
#include <string.h>

// The arrays of a definition, in the storage that dj_getDef hands out.
typedef struct djDefArrays {
  djBodyDef* body;
  djJointDef* joint;
  djGeomDef* geom;
  djMeshDef* mesh;
  djHfieldDef* hfield;
  djSiteDef* site;
  djTendonDef* tendon;
  djWrapDef* wrap;
  djActuatorDef* actuator;
  djPairDef* pair;
  djExcludeDef *exclude, *guide;
  djKeyDef* key;
  djSettingDef* setting;
  djEqualityDef* equality;
  djFlexDef* flex;
  int* flex_elem;   // their elements
  djSurfaceDef* surface;
  double* number;   // of surfaces
} djDefArrays;

static size_t layout(djDefArrays* d, const djModel* m, void* base) {
  djArena arena = {base, 0};
  size_t nsurface, nnumber;
  dj_surfaceCount(&nsurface, &nnumber, m);
  d->body = dj_take(&arena, (size_t)m->nbody, sizeof *d->body);
  d->joint = dj_take(&arena, (size_t)m->njnt, sizeof *d->joint);
  d->geom = dj_take(&arena, (size_t)m->ngeom, sizeof *d->geom);
  d->mesh = dj_take(&arena, (size_t)m->nmesh, sizeof *d->mesh);
  d->hfield = dj_take(&arena, (size_t)m->nhfield, sizeof *d->hfield);
  d->site = dj_take(&arena, (size_t)m->nsite, sizeof *d->site);
  d->tendon = dj_take(&arena, (size_t)m->ntendon, sizeof *d->tendon);
  d->wrap = dj_take(&arena, (size_t)m->nwrap, sizeof *d->wrap);
  d->actuator = dj_take(&arena, (size_t)m->nu, sizeof *d->actuator);
  d->pair = dj_take(&arena, (size_t)m->npair, sizeof *d->pair);
  d->exclude = dj_take(&arena, (size_t)m->nexclude, sizeof *d->exclude);
  d->guide = dj_take(&arena, (size_t)m->nguide, sizeof *d->guide);
  d->key = dj_take(&arena, (size_t)m->nkey, sizeof *d->key);
  d->setting = dj_take(&arena, (size_t)dj_settingCount(m), sizeof *d->setting);
  d->equality = dj_take(&arena, (size_t)m->nequality, sizeof *d->equality);
  d->flex = dj_take(&arena, (size_t)m->nflex, sizeof *d->flex);
  d->flex_elem = dj_take(&arena, 4 * (size_t)m->nflexelem, sizeof *d->flex_elem);
  d->surface = dj_take(&arena, nsurface, sizeof *d->surface);
  d->number = dj_take(&arena, nnumber, sizeof *d->number);
  return arena.used;
}

static void getBodies(djBodyDef* body, const djModel* m) {
  for (int i = 0; i < m->nbody; i++) {
    djBodyDef* b = &body[i];
    *b = dj_defaultBodyDef();
    b->name = m->names + m->name_body[i];
    b->parent = m->body_parent[i];
    dj_copyNumbers(b->pos, m->body_pos + 3 * i, 3);
    dj_copyNumbers(b->quat, m->body_quat + 4 * i, 4);
    dj_copyNumbers(b->ipos, m->body_ipos + 3 * i, 3);
    dj_copyNumbers(b->iquat, m->body_iquat + 4 * i, 4);
    b->mass = m->body_mass[i];
    dj_copyNumbers(b->inertia, m->body_inertia + 3 * i, 3);
    b->gravcomp = m->body_gravcomp[i];
    b->mocap = m->body_mocap[i] >= 0;
  }
}

static void getJoints(djJointDef* joint, const djModel* m) {
  for (int i = 0; i < m->njnt; i++) {
    djJointDef* j = &joint[i];
    int nq = dj_jointNq(m->jnt_type[i]);
    *j = dj_defaultJointDef();
    j->name = m->names + m->name_jnt[i];
    j->body = m->jnt_body[i];
    j->type = (djJointType)m->jnt_type[i];
    dj_copyNumbers(j->pos, m->jnt_pos + 3 * i, 3);
    dj_copyNumbers(j->axis, m->jnt_axis + 3 * i, 3);
    dj_copyNumbers(j->qpos0, m->qpos0 + m->jnt_qposadr[i], nq);
    dj_copyNumbers(j->springref, m->qpos_spring + m->jnt_qposadr[i], nq);
    j->stiffness = m->jnt_stiffness[i];
    dj_copyNumbers(j->stiffnesspoly, m->jnt_stiffnesspoly + 2 * i, 2);
    j->damping = m->jnt_damping[i];
    dj_copyNumbers(j->dampingpoly, m->jnt_dampingpoly + 2 * i, 2);
    j->armature = m->jnt_armature[i];
    j->frictionloss = m->jnt_frictionloss[i];
    j->limited = m->jnt_limited[i] != 0;
    dj_copyNumbers(j->range, m->jnt_range + 2 * i, 2);
    j->margin = m->jnt_margin[i];
    j->limit_stiffness = m->jnt_limit_stiffness[i];
    j->limit_damping = m->jnt_limit_damping[i];
    dj_copyNumbers(j->limit_impedance, m->jnt_limit_impedance + 5 * i, 5);
    j->frictionloss_damping = m->jnt_frictionloss_damping[i];
    j->frictionloss_impedance = m->jnt_frictionloss_impedance[i];
    j->actfrclimited = m->jnt_actfrclimited[i] != 0;
    j->actgravcomp = m->jnt_actgravcomp[i] != 0;
    dj_copyNumbers(j->actfrcrange, m->jnt_actfrcrange + 2 * i, 2);
  }
}

static void getGeoms(djGeomDef* geom, const djModel* m) {
  for (int i = 0; i < m->ngeom; i++) {
    djGeomDef* g = &geom[i];
    *g = dj_defaultGeomDef();
    g->name = m->names + m->name_geom[i];
    g->body = m->geom_body[i];
    g->type = (djGeomType)m->geom_type[i];
    dj_copyNumbers(g->size, m->geom_size + 3 * i, 3);
    dj_copyNumbers(g->pos, m->geom_pos + 3 * i, 3);
    dj_copyNumbers(g->quat, m->geom_quat + 4 * i, 4);
    g->mesh = m->geom_mesh[i];
    g->hfield = m->geom_hfield[i];
    g->flex = m->geom_flex[i];
    g->contype = m->geom_contype[i];
    g->conaffinity = m->geom_conaffinity[i];
    g->condim = m->geom_condim[i];
    g->priority = m->geom_priority[i];
    dj_copyNumbers(g->friction, m->geom_friction + 3 * i, 3);
    g->restitution = m->geom_restitution[i];
    g->solref_restitution = m->geom_solref_restitution[i];
    g->margin = m->geom_margin[i];
    g->gap = m->geom_gap[i];
    g->soft_depth = m->geom_soft_depth[i];
    g->contact = dj_contactWord(m->geom_contact[i]);
  }
}

static void getTendons(djTendonDef* tendon, djWrapDef* wrap, const djModel* m) {
  for (int i = 0; i < m->nwrap; i++) {
    wrap[i] = (djWrapDef){(djWrap)m->wrap_type[i], m->wrap_objid[i], m->wrap_prm[i]};
  }
  for (int i = 0; i < m->ntendon; i++) {
    djTendonDef* t = &tendon[i];
    *t = dj_defaultTendonDef();
    t->name = m->names + m->name_tendon[i];
    t->nwrap = m->tendon_num[i];
    t->wrap = wrap + m->tendon_adr[i];
    dj_copyNumbers(t->springlength, m->tendon_lengthspring + 2 * i, 2);
    t->stiffness = m->tendon_stiffness[i];
    dj_copyNumbers(t->stiffnesspoly, m->tendon_stiffnesspoly + 2 * i, 2);
    t->damping = m->tendon_damping[i];
    dj_copyNumbers(t->dampingpoly, m->tendon_dampingpoly + 2 * i, 2);
    t->armature = m->tendon_armature[i];
    t->frictionloss = m->tendon_frictionloss[i];
    t->limited = m->tendon_limited[i] != 0;
    dj_copyNumbers(t->range, m->tendon_range + 2 * i, 2);
    t->margin = m->tendon_margin[i];
    t->limit_stiffness = m->tendon_limit_stiffness[i];
    t->limit_damping = m->tendon_limit_damping[i];
    dj_copyNumbers(t->limit_impedance, m->tendon_limit_impedance + 5 * i, 5);
    t->frictionloss_damping = m->tendon_frictionloss_damping[i];
    t->frictionloss_impedance = m->tendon_frictionloss_impedance[i];
    t->actfrclimited = m->tendon_actfrclimited[i] != 0;
    dj_copyNumbers(t->actfrcrange, m->tendon_actfrcrange + 2 * i, 2);
  }
}

static void getActuators(djActuatorDef* actuator, const djModel* m) {
  for (int i = 0; i < m->nu; i++) {
    djActuatorDef* a = &actuator[i];
    *a = dj_defaultActuatorDef();
    a->name = m->names + m->name_actuator[i];
    a->joint = m->actuator_joint[i];
    a->tendon = m->actuator_tendon[i];
    a->site = m->actuator_site[2 * i];
    a->refsite = m->actuator_site[2 * i + 1];
    a->cranksite = m->actuator_crank[2 * i];
    a->slidersite = m->actuator_crank[2 * i + 1];
    a->cranklength = m->actuator_cranklength[i];
    a->body = m->actuator_body[i];
    a->adds_to = m->actuator_addsto[i];
    a->integral = m->actuator_integral[i];
    a->integral_limit = m->actuator_integral_limit[i];
    a->integral_clipped = m->actuator_integral_clipped[i] != 0;
    a->in_parent = m->actuator_inparent[i] != 0;
    dj_copyNumbers(a->gear, m->actuator_gear + 6 * i, 6);
    a->gain = (djGain)m->actuator_gain[i];
    dj_copyNumbers(a->gainprm, m->actuator_gainprm + DJ_NPRM * i, DJ_NPRM);
    a->bias = (djBias)m->actuator_bias[i];
    dj_copyNumbers(a->biasprm, m->actuator_biasprm + DJ_NPRM * i, DJ_NPRM);
    dj_copyNumbers(a->lengthrange, m->actuator_lengthrange + 2 * i, 2);
    a->acc0 = m->actuator_acc0[i];
    a->dyn = (djDyn)m->actuator_dyn[i];
    a->tau = m->actuator_tau[i];
    a->tau_deactivation = m->actuator_tau_deactivation[i];
    a->tau_smooth = m->actuator_tau_smooth[i];
    a->actearly = m->actuator_actearly[i] != 0;
    a->ctrllimited = m->actuator_ctrllimited[i] != 0;
    a->forcelimited = m->actuator_forcelimited[i] != 0;
    a->actlimited = m->actuator_actlimited[i] != 0;
    dj_copyNumbers(a->ctrlrange, m->actuator_ctrlrange + 2 * i, 2);
    dj_copyNumbers(a->forcerange, m->actuator_forcerange + 2 * i, 2);
    dj_copyNumbers(a->actrange, m->actuator_actrange + 2 * i, 2);
    a->armature = m->actuator_armature[i];
    a->damping = m->actuator_damping[i];
    dj_copyNumbers(a->dampingpoly, m->actuator_dampingpoly + 2 * i, 2);
  }
}

static void getOthers(djDefArrays* d, const djModel* m) {
  for (int i = 0; i < m->nmesh; i++) {
    d->mesh[i] = (djMeshDef){.name = m->names + m->name_mesh[i],
                             .nvert = m->mesh_vertnum[i],
                             .vert = m->mesh_vert + 3 * (size_t)m->mesh_vertadr[i],
                             .nface = m->mesh_facenum[i],
                             .face = m->mesh_face + 3 * (size_t)m->mesh_faceadr[i],
                             .ntri = m->mesh_trinum[i],
                             .tri = m->mesh_tri + 3 * (size_t)m->mesh_triadr[i]};
  }
  for (int i = 0; i < m->nhfield; i++) {
    d->hfield[i] = (djHfieldDef){.name = m->names + m->name_hfield[i],
                                 .nrow = m->hfield_nrow[i],
                                 .ncol = m->hfield_ncol[i],
                                 .height = m->hfield_height + m->hfield_adr[i]};
    dj_copyNumbers(d->hfield[i].size, m->hfield_size + 3 * i, 3);
  }
  for (int i = 0; i < m->nsite; i++) {
    d->site[i] = (djSiteDef){.name = m->names + m->name_site[i], .body = m->site_body[i]};
    dj_copyNumbers(d->site[i].pos, m->site_pos + 3 * i, 3);
    dj_copyNumbers(d->site[i].quat, m->site_quat + 4 * i, 4);
  }
  for (int i = 0; i < m->npair; i++) {
    d->pair[i] = (djPairDef){.name = m->names + m->name_pair[i],
                             .geom1 = m->pair_geom1[i],
                             .geom2 = m->pair_geom2[i],
                             .condim = m->pair_condim[i],
                             .friction = m->pair_friction[i],
                             .friction2 = m->pair_friction2[i],
                             .torsion = m->pair_torsion[i],
                             .restitution = m->pair_restitution[i],
                             .solref_restitution = m->pair_solref_restitution[i],
                             .margin = m->pair_margin[i],
                             .gap = m->pair_gap[i],
                             .soft_depth = m->pair_soft_depth[i],
                             .contact = dj_contactWord(m->pair_contact[i])};
    dj_copyNumbers(d->pair[i].rolling, m->pair_rolling + 2 * i, 2);
  }
  for (int i = 0; i < m->nexclude; i++) {
    d->exclude[i] = (djExcludeDef){m->exclude_body1[i], m->exclude_body2[i]};
  }
  for (int i = 0; i < m->nguide; i++) {
    d->guide[i] = (djExcludeDef){m->guide_body1[i], m->guide_body2[i]};
  }
  for (int i = 0; i < m->nkey; i++) {
    size_t row = (size_t)i;
    d->key[i] = (djKeyDef){.name = m->names + m->name_key[i],
                           .time = m->key_time[i],
                           .qpos = m->key_qpos + row * (size_t)m->nq,
                           .qvel = m->key_qvel + row * (size_t)m->nv,
                           .act = m->key_act + row * (size_t)m->na,
                           .ctrl = m->key_ctrl + row * (size_t)m->nu,
                           .mocap_pos = m->key_mpos + row * 3 * (size_t)m->nmocap,
                           .mocap_quat = m->key_mquat + row * 4 * (size_t)m->nmocap};
  }
}

djStatus dj_getDef(djModelDef* def, void** storage, const djModel* m, djError* err) {
  if (!def || !storage || !m) return dj_fail(err, DJ_INVALID, "definition or model: NULL");
  djDefArrays d;
  size_t size = layout(&d, m, NULL);
  *storage = size == SIZE_MAX ? NULL : calloc(1, size ? size : 1);
  if (!*storage) return dj_failMemory(err);
  layout(&d, m, *storage);
  getBodies(d.body, m);
  getJoints(d.joint, m);
  getGeoms(d.geom, m);
  dj_getSurfaces(d.geom, d.surface, d.number, m);
  dj_getPoints(d.geom, m);
  getTendons(d.tendon, d.wrap, m);
  getActuators(d.actuator, m);
  getOthers(&d, m);
  dj_getEqualities(d.equality, m);
  dj_getFlexes(d.flex, d.flex_elem, m);
  int nsetting = dj_getSettings(d.setting, m);
  *def = (djModelDef){
      .name = m->names,
      .option = m->opt,
      .nbody = m->nbody,
      .njnt = m->njnt,
      .ngeom = m->ngeom,
      .nmesh = m->nmesh,
      .nsite = m->nsite,
      .ntendon = m->ntendon,
      .nu = m->nu,
      .npair = m->npair,
      .nexclude = m->nexclude,
      .nguide = m->nguide,
      .nkey = m->nkey,
      .nsetting = nsetting,
      .body = d.body,
      .joint = d.joint,
      .geom = d.geom,
      .mesh = d.mesh,
      .site = d.site,
      .tendon = d.tendon,
      .actuator = d.actuator,
      .pair = d.pair,
      .exclude = d.exclude,
      .guide = d.guide,
      .key = d.key,
      .setting = d.setting,
      .nequality = m->nequality,
      .equality = d.equality,
      .nhfield = m->nhfield,
      .hfield = d.hfield,
      .nflex = m->nflex,
      .flex = d.flex,
  };
  return DJ_OK;
}

void dj_freeDef(void* storage) { free(storage); }
