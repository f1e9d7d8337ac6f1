#include "gradient/map_box.h"

#include "base/status.h"
#include "model/joint_type.h"
#include "model/param.h"

// Is g the first geom of its body with its mesh?
static bool isFirst(const djModel* m, int g) {
  for (int i = m->body_geomadr[m->geom_body[g]]; i < g; i++) {
    if (m->geom_mesh[i] == m->geom_mesh[g]) return false;
  }
  return true;
}

static bool hasFreeJoint(const djModel* m, int body) {
  return m->body_jntnum[body] > 0 && dj_jointRow(m, m->body_jntadr[body])->pose;
}

// One visit, told by field and element; nothing where the model has no such parameter.
typedef struct djVisitor {
  const djModel* m;
  djBoxVisit visit;
  void* user;
} djVisitor;

static djStatus visitOne(const djVisitor* v, djField field, int id, const djPose* pose) {
  djParam param;
  return dj_makeParam(&param, v->m, field, id) ? v->visit(v->user, &param, pose) : DJ_OK;
}

static djStatus visitGeom(const djVisitor* v, int g, const djPose* own) {
  const djModel* m = v->m;
  int mesh = m->geom_type[g] == DJ_MESH ? m->geom_mesh[g] : -1;
  if (mesh < 0) return visitOne(v, DJ_FIELD_GEOM_POS, g, own);
  djPose pose = {dju_load3(m->geom_pos + 3 * g),
                 dju_quatToMat(dju_normalizeQuat(dju_loadQuat(m->geom_quat + 4 * g)))};
  djStatus status = visitOne(v, DJ_FIELD_GEOM_POINTS, g, &pose);
  if (status < 0) return status;
  return isFirst(m, g) ? visitOne(v, DJ_FIELD_MESH_VERT, mesh, &pose) : DJ_OK;
}

djStatus dj_visitPlaces(const djModel* m, int body, djBoxVisit visit, void* user) {
  const djVisitor v = {m, visit, user};
  const djPose own = {{0, 0, 0}, dju_eye3()};
  djStatus status = DJ_OK;
  for (int g = 0; g < m->ngeom && status == DJ_OK; g++) {
    if (m->geom_body[g] == body) status = visitGeom(&v, g, &own);
  }
  for (int s = 0; s < m->nsite && status == DJ_OK; s++) {
    if (m->site_body[s] == body) status = visitOne(&v, DJ_FIELD_SITE_POS, s, &own);
  }
  for (int b = 1; b < m->nbody && status == DJ_OK; b++) {
    if (m->body_parent[b] != body || hasFreeJoint(m, b) || m->body_mocap[b] >= 0) continue;
    status = visitOne(&v, DJ_FIELD_BODY_POS, b, &own);
  }
  for (int j = 0; j < m->njnt && status == DJ_OK; j++) {
    if (m->jnt_body[j] == body) status = visitOne(&v, DJ_FIELD_JOINT_POS, j, &own);
  }
  return status;
}

size_t dj_placeParams(const djModel* m) {
  return 2 * (size_t)m->ngeom + (size_t)m->nsite + (size_t)m->nbody + (size_t)m->njnt;
}

size_t dj_places(const djModel* m) {
  return dj_placeParams(m) + (size_t)m->nmeshvert + (size_t)m->npoint;
}

djStatus dj_boxBody(int* body, const djMapArg* arg, const djMapMaking* making) {
  *body = dj_name2id(making->model, DJ_OBJ_BODY, arg->text);
  if (*body >= 0) return DJ_OK;
  return dj_fail(making->err, DJ_INVALID, "body: there is no '%.100s'", arg->text);
}
