#include "base/arena.h"
#include "base/status.h"
#include "model/element.h"
#include "model/equality.h"
#include "model/flex.h"
#include "model/joint_type.h"
#include "model/kernel_setting.h"
#include "model/make.h"
#include "model/points.h"
#include "model/surface.h"

#include <stdlib.h>
#include <string.h>

// Lists that are not elements of their own, in the storage that dj_getDef hands out.
typedef struct djDefLists {
  djWrapDef* wrap;
  djSettingDef* setting;
  int* flex_elem;        // elements of flexes
  djSurfaceDef* surface;
  double* number;        // of surfaces
} djDefLists;

// All elements and these, into base or only measured (NULL).
static size_t layout(djModelDef* def, djDefLists* d, const djModel* m, void* base) {
  djArena arena = {base, 0};
  size_t nsurface, nnumber;
  dj_surfaceCount(&nsurface, &nnumber, m);
  for (int kind = 0; kind < DJ_NELEMENT; kind++) {
    const djElementKind* k = &dj_elementKinds[kind];
    int n = *(const int*)(const void*)((const char*)m + k->count);
    void* list = dj_take(&arena, (size_t)n, k->size);
    memcpy((char*)def + k->n, &n, sizeof n);
    memcpy((char*)def + k->array, &list, sizeof list);
  }
  d->wrap = dj_take(&arena, (size_t)m->nwrap, sizeof *d->wrap);
  d->setting = dj_take(&arena, (size_t)dj_settingCount(m), sizeof *d->setting);
  d->flex_elem = dj_take(&arena, 4 * (size_t)m->nflexelem, sizeof *d->flex_elem);
  d->surface = dj_take(&arena, nsurface, sizeof *d->surface);
  d->number = dj_take(&arena, nnumber, sizeof *d->number);
  return arena.used;
}

// An array of the definition, to be written.
#define LIST(def, name) ((void*)(size_t)(def)->name)

static void getBodies(djBodyDef* body, const djModel* m) {
  dj_getKind(body, m, DJ_OBJ_BODY);
  for (int i = 0; i < m->nbody; i++) body[i].mocap = m->body_mocap[i] >= 0;
}

static void getJoints(djJointDef* joint, const djModel* m) {
  dj_getKind(joint, m, DJ_OBJ_JOINT);
  for (int i = 0; i < m->njnt; i++) {
    int nq = dj_jointNq(m->jnt_type[i]);
    dj_copyNumbers(joint[i].qpos0, m->qpos0 + m->jnt_qposadr[i], nq);
    dj_copyNumbers(joint[i].springref, m->qpos_spring + m->jnt_qposadr[i], nq);
  }
}

static void getGeoms(djGeomDef* geom, const djModel* m) {
  dj_getKind(geom, m, DJ_OBJ_GEOM);
  for (int i = 0; i < m->ngeom; i++) geom[i].contact = dj_contactWord(m->geom_contact[i]);
}

static void getPairs(djPairDef* pair, const djModel* m) {
  dj_getKind(pair, m, DJ_OBJ_PAIR);
  for (int i = 0; i < m->npair; i++) pair[i].contact = dj_contactWord(m->pair_contact[i]);
}

static void getTendons(djTendonDef* tendon, djWrapDef* wrap, const djModel* m) {
  dj_getKind(tendon, m, DJ_OBJ_TENDON);
  for (int i = 0; i < m->nwrap; i++) {
    wrap[i] = (djWrapDef){(djWrap)m->wrap_type[i], m->wrap_objid[i], m->wrap_prm[i]};
  }
  for (int i = 0; i < m->ntendon; i++) {
    tendon[i].nwrap = m->tendon_num[i];
    tendon[i].wrap = wrap + m->tendon_adr[i];
  }
}

static void getMeshes(djMeshDef* mesh, const djModel* m) {
  dj_getKind(mesh, m, DJ_OBJ_MESH);
  for (int i = 0; i < m->nmesh; i++) {
    mesh[i].nvert = m->mesh_vertnum[i];
    mesh[i].vert = m->mesh_vert + 3 * (size_t)m->mesh_vertadr[i];
    mesh[i].nface = m->mesh_facenum[i];
    mesh[i].face = m->mesh_face + 3 * (size_t)m->mesh_faceadr[i];
    mesh[i].ntri = m->mesh_trinum[i];
    mesh[i].tri = m->mesh_tri + 3 * (size_t)m->mesh_triadr[i];
  }
}

static void getHfields(djHfieldDef* hfield, const djModel* m) {
  dj_getKind(hfield, m, DJ_OBJ_HFIELD);
  for (int i = 0; i < m->nhfield; i++) {
    hfield[i].nrow = m->hfield_nrow[i];
    hfield[i].ncol = m->hfield_ncol[i];
    hfield[i].height = m->hfield_height + m->hfield_adr[i];
    dj_copyNumbers(hfield[i].size, m->hfield_size + 3 * i, 3);
  }
}

static void getKeys(djKeyDef* key, const djModel* m) {
  dj_getKind(key, m, DJ_OBJ_KEY);
  for (int i = 0; i < m->nkey; i++) {
    size_t row = (size_t)i;
    key[i].time = m->key_time[i];
    key[i].qpos = m->key_qpos + row * (size_t)m->nq;
    key[i].qvel = m->key_qvel + row * (size_t)m->nv;
    key[i].act = m->key_act + row * (size_t)m->na;
    key[i].ctrl = m->key_ctrl + row * (size_t)m->nu;
    key[i].mocap_pos = m->key_mpos + row * 3 * (size_t)m->nmocap;
    key[i].mocap_quat = m->key_mquat + row * 4 * (size_t)m->nmocap;
  }
}

static void getEqualities(djEqualityDef* equality, const djModel* m) {
  dj_getKind(equality, m, DJ_OBJ_EQUALITY);
  for (int i = 0; i < m->nequality; i++) {
    djEqualityDef* e = &equality[i];
    const int* pair = m->eq_pair + 2 * i;
    if (e->type == DJ_EQ_JOINT) e->joint1 = pair[0], e->joint2 = pair[1];
    else if (e->type == DJ_EQ_TENDON) e->tendon1 = pair[0], e->tendon2 = pair[1];
    else if (e->site1 < 0) e->body1 = pair[0], e->body2 = pair[1];
  }
}

djStatus dj_getDef(djModelDef* def, void** storage, const djModel* m, djError* err) {
  if (!def || !storage || !m) return dj_fail(err, DJ_INVALID, "definition or model: NULL");
  djDefLists d;
  *def = (djModelDef){.name = m->names, .option = m->opt};
  size_t size = layout(def, &d, m, NULL);
  *storage = size == SIZE_MAX ? NULL : calloc(1, size ? size : 1);
  if (!*storage) return dj_failMemory(err);
  layout(def, &d, m, *storage);
  getBodies(LIST(def, body), m);
  getJoints(LIST(def, joint), m);
  getGeoms(LIST(def, geom), m);
  dj_getSurfaces(LIST(def, geom), d.surface, d.number, m);
  dj_getPoints(LIST(def, geom), m);
  getMeshes(LIST(def, mesh), m);
  getHfields(LIST(def, hfield), m);
  dj_getKind(LIST(def, site), m, DJ_OBJ_SITE);
  getTendons(LIST(def, tendon), d.wrap, m);
  dj_getKind(LIST(def, actuator), m, DJ_OBJ_ACTUATOR);
  getPairs(LIST(def, pair), m);
  dj_getKind(LIST(def, exclude), m, DJ_ELEMENT_EXCLUDE);
  dj_getKind(LIST(def, guide), m, DJ_ELEMENT_GUIDE);
  getKeys(LIST(def, key), m);
  getEqualities(LIST(def, equality), m);
  dj_getFlexes(LIST(def, flex), d.flex_elem, m);
  def->setting = d.setting;
  def->nsetting = dj_getSettings(d.setting, m);
  return DJ_OK;
}

void dj_freeDef(void* storage) { free(storage); }
