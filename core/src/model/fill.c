#include "base/status.h"
#include "model/guide_bodies.h"
#include "model/activation.h"
#include "model/check.h"
#include "model/element.h"
#include "model/equality.h"
#include "model/geom_row.h"
#include "model/joint_type.h"
#include "model/kernel_setting.h"
#include "model/make.h"

#include <string.h>

static void fillBodyValues(djModel* m, const djModelDef* def) {
  int nmocap = 0;
  dj_fillKind(m, def, DJ_OBJ_BODY);
  for (int i = 0; i < m->nbody; i++) {
    m->body_mocap[i] = def->body[i].mocap ? nmocap++ : -1;
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
  dj_fillKind(m, def, DJ_OBJ_JOINT);
  for (int i = 0; i < m->njnt; i++) {
    const djJointDef* j = &def->joint[i];
    int qadr = m->jnt_qposadr[i];
    bool pose = dj_jointRows[j->type].pose;
    if (dj_isScalarJoint((int)j->type)) dj_makeUnit(m->jnt_axis + 3 * i, j->axis, 3);
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
  dj_fillKind(m, def, DJ_OBJ_GEOM);
  for (int i = 0; i < m->ngeom; i++) {
    const djGeomDef* g = &def->geom[i];
    // Planes and meshes keep theirs, which pictures use.
    for (int k = dj_geomRow((int)g->type)->nsize; k > 0 && k < 3; k++) m->geom_size[3 * i + k] = 0;
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
  dj_fillKind(m, def, DJ_OBJ_TENDON);
  for (int i = 0; i < m->ntendon; i++) {
    const djTendonDef* t = &def->tendon[i];
    m->tendon_adr[i] = nwrap;
    m->tendon_num[i] = t->nwrap;
    for (int k = 0; k < t->nwrap; k++) {
      m->wrap_type[nwrap] = (int)t->wrap[k].type;
      m->wrap_objid[nwrap] = t->wrap[k].type == DJ_WRAP_PULLEY ? -1 : t->wrap[k].id;
      m->wrap_prm[nwrap++] = t->wrap[k].type == DJ_WRAP_SITE ? 0 : t->wrap[k].prm;
    }
    m->tendon_hasarmature[i] = t->armature > 0;
    m->tendon_effinertia[i] = 1;
  }
}

static void fillActuators(djModel* m, const djModelDef* def) {
  int na = 0;
  dj_fillKind(m, def, DJ_OBJ_ACTUATOR);
  for (int i = 0; i < m->nu; i++) {
    const djActuatorDef* a = &def->actuator[i];
    m->actuator_actadr[i] = dj_hasActivation((int)a->dyn) ? na++ : -1;
    m->actuator_zadr[i] = dj_hasIntegral(a) ? na++ : -1;
    for (int k = 0; k < DJ_NMOTORSTATE; k++) {
      m->actuator_motoradr[DJ_NMOTORSTATE * i + k] = dj_hasMotorState(a, k) ? na++ : -1;
    }
    if (a->tendon >= 0 && a->armature > 0) m->tendon_hasarmature[a->tendon] = 1;
  }
}

static void fillEqualities(djModel* m, const djModelDef* def) {
  dj_fillKind(m, def, DJ_OBJ_EQUALITY);
  for (int i = 0; i < m->nequality; i++) {
    const djEqualityDef* e = &def->equality[i];
    int* pair = m->eq_pair + 2 * i;
    dj_equalityBodies(pair, def, e);
    if (e->type == DJ_EQ_JOINT) pair[0] = e->joint1, pair[1] = e->joint2;
    if (e->type == DJ_EQ_TENDON) pair[0] = e->tendon1, pair[1] = e->tendon2;
    m->eq_effinertia[2 * i] = m->eq_effinertia[2 * i + 1] = 1;
  }
}

void dj_fillElements(djModel* m, const djModelDef* def) {
  fillGeoms(m, def);
  fillMeshes(m, def);
  fillHfields(m, def);
  fillTendons(m, def);
  fillActuators(m, def);
  fillEqualities(m, def);
  dj_fillKind(m, def, DJ_OBJ_SITE);
  dj_fillKind(m, def, DJ_OBJ_PAIR);
  dj_fillKind(m, def, DJ_ELEMENT_EXCLUDE);
  dj_fillKind(m, def, DJ_ELEMENT_GUIDE);
  for (int i = 0; i < m->npair; i++) m->pair_contact[i] = dj_contactNamed(def->pair[i].contact);
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
