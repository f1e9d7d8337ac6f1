// Putting the wanted numbers into the compiled model and into the spec.

#include "import.h"
#include "param_table.h"
#include "write.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ------------------------------ arrays of the compiled model ------------------------------------

// One parameter of all elements, where it differs from what the scene has.
static bool putRow(djmWrite* w, const djmParamRow* row) {
  djmParamList list;
  double wanted[DJ_NPRM], base[DJ_NPRM];   // the most that a row has
  if (!djm_listParams(&list, w->base, row->name)) {
    return djm_writeFail(w, DJ_NO_MEMORY, "out of memory");
  }
  bool actuator = strncmp(row->name, "actuator/", 9) == 0, good = true;
  bool size = strcmp(row->name, "geom/N/size") == 0;
  int n = w->base->nu;
  for (int i = 0; i < list.n && good; i++) {
    const djParam* p = &list.param[i];
    dj_getParam(wanted, w->wanted, p);
    dj_getParam(base, w->base, p);
    if (memcmp(wanted, base, sizeof(double) * (size_t)p->nvalue) == 0) continue;
    const int type = w->base->geom_type[p->id];
    if (size && (type == DJ_MESH || type == DJ_HFIELD)) continue;   // MuJoCo's own, by the asset
    good = !actuator || (w->m->nactuator == n && w->m->nout == n);
    bool servo = good && row->place == DJM_LAW && djm_isServo(w->m, p->id) &&
                 !djm_isMotor(w->m, p->id);
    if (servo) {
      djm_writeFail(w, DJ_UNSUPPORTED, "actuator/#%d: changes of what a pid or dcmotor is made of "
                    "cannot be written", p->id);
      good = false;
    } else if (good) djm_putParam(w->m, row, p->id, wanted);
    else djm_writeFail(w, DJ_UNSUPPORTED, "actuator/#%d: the scene has actuators with several "
                       "controls or outputs; changes of actuators cannot be written", p->id);
  }
  free(list.param);
  return good;
}

// A free body's frame is its reference pose.
static void putReference(djmWrite* w) {
  const djModel *wanted = w->wanted, *base = w->base;
  for (int i = 0; i < base->njnt; i++) {
    int b = base->jnt_body[i];
    if (base->jnt_type[i] != DJ_FREE) continue;
    mjtNum* qpos0 = w->m->qpos0 + base->jnt_qposadr[i];
    if (memcmp(wanted->body_pos + 3 * b, base->body_pos + 3 * b, 3 * sizeof(double)) != 0) {
      mju_copy3(qpos0, wanted->body_pos + 3 * b);
    }
    if (memcmp(wanted->body_quat + 4 * b, base->body_quat + 4 * b, 4 * sizeof(double)) != 0) {
      mju_copy4(qpos0 + 3, wanted->body_quat + 4 * b);
    }
  }
}

static bool sameModels(const djModel* a, const djModel* b) {
  return a->nq == b->nq && a->nv == b->nv && a->nbody == b->nbody && a->njnt == b->njnt &&
         a->ngeom == b->ngeom && a->nmesh == b->nmesh && a->nmeshvert == b->nmeshvert &&
         a->nsite == b->nsite && a->ntendon == b->ntendon && a->nwrap == b->nwrap &&
         a->nu == b->nu && a->na == b->na && a->nhfield == b->nhfield &&
         a->nhfielddata == b->nhfielddata && a->nflex == b->nflex &&
         a->nflexvert == b->nflexvert && a->nflexelem == b->nflexelem;
}

// The design's meshes may have more vertices than the scene's, at their ends. The base gets others
// in their place, so that these meshes count as changed.
static bool growBase(djmWrite* w) {
  const djModel *wanted = w->wanted, *base = w->base;
  int n = wanted->nmeshvert - base->nmeshvert, used = 0;
  if (n <= 0 || wanted->nmesh != base->nmesh) return true;
  for (int i = 0; i < base->nmesh; i++) {
    if (wanted->mesh_vertnum[i] < base->mesh_vertnum[i]) return true;
  }
  int* mesh = malloc((size_t)n * sizeof *mesh);
  double* vert = malloc(3 * (size_t)n * sizeof *vert);
  djStatus status = mesh && vert ? DJ_OK : DJ_NO_MEMORY;
  for (int i = 0; i < base->nmesh && status == DJ_OK; i++) {
    for (int v = base->mesh_vertnum[i]; v < wanted->mesh_vertnum[i]; v++) {
      mesh[used] = i;
      mju_copy3(vert + 3 * used, wanted->mesh_vert + 3 * (wanted->mesh_vertadr[i] + v));
      vert[3 * used++] += 1;
    }
  }
  if (status == DJ_OK) status = dj_addMeshVertices(w->base, used, mesh, vert, w->err);
  free(mesh);
  free(vert);
  if (status < 0) w->status = status;
  return status == DJ_OK;
}

bool djm_writeValues(djmWrite* w) {
  if (!growBase(w)) return false;
  const djModel *wanted = w->wanted, *base = w->base;
  mjModel* m = w->m;
  if (!sameModels(wanted, base)) {
    return djm_writeFail(w, DJ_INVALID, "the design is not one of this scene: sizes differ");
  }
  w->mesh_changed = calloc((size_t)base->nmesh + 1, sizeof *w->mesh_changed);
  if (!w->mesh_changed) return djm_writeFail(w, DJ_NO_MEMORY, "out of memory");
  for (int i = 0; i < base->nmesh; i++) {
    size_t adr = 3 * (size_t)base->mesh_vertadr[i], n = 3 * (size_t)base->mesh_vertnum[i];
    w->mesh_changed[i] =
        memcmp(wanted->mesh_vert + adr, base->mesh_vert + adr, n * sizeof(double)) != 0;
  }
  for (int k = 0; djm_paramRow(k); k++) {
    if (!putRow(w, djm_paramRow(k))) return false;
  }
  putReference(w);
  mju_copy3(m->opt.gravity, wanted->opt.gravity);
  mju_copy3(m->opt.wind, wanted->opt.wind);
  m->opt.density = wanted->opt.density;
  m->opt.viscosity = wanted->opt.viscosity;
  m->opt.timestep = wanted->opt.timestep;
  return true;
}

// ------------------------------ bodies ----------------------------------------------------------

// mj_copyBack leaves gravcomp out, and an inertia that did not change may be inferred from geoms
// which did: it is written as it is wanted.
void djm_writeBodies(djmWrite* w) {
  const djModel* wanted = w->wanted;
  for (mjsElement* e = mjs_firstElement(w->spec, mjOBJ_BODY); e;
       e = mjs_nextElement(w->spec, e)) {
    int i = mjs_getId(e);
    if (i <= 0 || i >= wanted->nbody) continue;
    mjsBody* body = mjs_asBody(e);
    body->gravcomp = wanted->body_gravcomp[i];
    body->mass = wanted->body_mass[i];
    mju_copy3(body->ipos, wanted->body_ipos + 3 * i);
    mju_copy4(body->iquat, wanted->body_iquat + 4 * i);
    mju_copy3(body->inertia, wanted->body_inertia + 3 * i);
    body->ialt.type = mjORIENTATION_QUAT;
    body->fullinertia[0] = NAN;
    body->explicitinertial = 1;
  }
}

// Where springs rest that follow the scene's geometry: as it is wanted.
void djm_writeTendons(djmWrite* w) {
  for (mjsElement* e = mjs_firstElement(w->spec, mjOBJ_TENDON); e;
       e = mjs_nextElement(w->spec, e)) {
    int i = mjs_getId(e);
    if (i < 0 || i >= w->wanted->ntendon) continue;
    mju_copy(mjs_asTendon(e)->springlength, w->wanted->tendon_lengthspring + 2 * i, 2);
  }
}

// ------------------------------ meshes ----------------------------------------------------------

// Geoms of a changed mesh: their frames are those of the wanted vertices.
static void placeGeoms(djmWrite* w, int mesh) {
  for (mjsElement* e = mjs_firstElement(w->spec, mjOBJ_GEOM); e;
       e = mjs_nextElement(w->spec, e)) {
    int g = mjs_getId(e);
    if (g < 0 || g >= w->base->ngeom || w->base->geom_type[g] != DJ_MESH ||
        w->base->geom_mesh[g] != mesh) {
      continue;
    }
    mjsGeom* geom = mjs_asGeom(e);
    mju_copy3(geom->pos, w->wanted->geom_pos + 3 * g);
    mju_copy4(geom->quat, w->wanted->geom_quat + 4 * g);
    geom->alt.type = mjORIENTATION_QUAT;
  }
}

static bool writeMesh(djmWrite* w, mjsMesh* mesh, int id, bool with_faces) {
  const mjModel* m = w->m;
  int n = 3 * w->wanted->mesh_vertnum[id], nface = 3 * m->mesh_facenum[id];
  const double* wanted = w->wanted->mesh_vert + 3 * (size_t)w->wanted->mesh_vertadr[id];
  float* vert = malloc(sizeof(float) * (size_t)n);
  if (!vert) return djm_writeFail(w, DJ_NO_MEMORY, "out of memory");
  for (int k = 0; k < n; k++) vert[k] = (float)wanted[k];
  mjs_setFloat(mesh->uservert, vert, n);
  free(vert);
  mjs_setInt(mesh->userface, m->mesh_face + 3 * m->mesh_faceadr[id], with_faces ? nface : 0);
  mjs_setFloat(mesh->usernormal, NULL, 0);
  mjs_setInt(mesh->userfacenormal, NULL, 0);
  mjs_setFloat(mesh->usertexcoord, NULL, 0);
  mjs_setInt(mesh->userfacetexcoord, NULL, 0);
  mjs_setString(mesh->file, "");
  mjs_setString(mesh->content_type, "");
  static const double zero[3] = {0, 0, 0}, one[3] = {1, 1, 1}, unit[4] = {1, 0, 0, 0};
  mju_copy3(mesh->refpos, zero);
  mju_copy4(mesh->refquat, unit);
  mju_copy3(mesh->scale, one);
  mesh->inertia = mjMESH_INERTIA_CONVEX;
  return true;
}

bool djm_writeMeshes(djmWrite* w, bool with_faces) {
  for (mjsElement* e = mjs_firstElement(w->spec, mjOBJ_MESH); e;
       e = mjs_nextElement(w->spec, e)) {
    int id = mjs_getId(e);
    if (id < 0 || id >= w->base->nmesh || !w->mesh_changed[id]) continue;
    if (!writeMesh(w, mjs_asMesh(e), id, with_faces)) return false;
    placeGeoms(w, id);
  }
  return true;
}
