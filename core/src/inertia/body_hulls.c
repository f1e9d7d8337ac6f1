#include "inertia/body_hulls.h"

#include "model/geom_row.h"
#include "model/param.h"
#include "shape/hull.h"

#include <stdlib.h>
#include <string.h>

bool dj_isPolytope(int type) {
  const djGeomRow* row = dj_geomRow(type);
  return type == DJ_MESH || (row->convex && row->nvert >= 4 && !row->round && !row->curve);
}

int dj_polytopeVertices(const djModel* m, int geom) {
  int type = m->geom_type[geom];
  return type == DJ_MESH ? m->mesh_vertnum[m->geom_mesh[geom]] : dj_geomRow(type)->nvert;
}

// In the geom's frame.
static djVec3 ownVertex(const djModel* m, int geom, int i) {
  int type = m->geom_type[geom];
  if (type == DJ_MESH) {
    return dju_load3(m->mesh_vert + 3 * ((size_t)m->mesh_vertadr[m->geom_mesh[geom]] + (size_t)i));
  }
  djVec3 vertex, move;
  dj_geomVertex(&vertex, &move, dj_geomRow(type), m->geom_size + 3 * geom, i);
  return vertex;
}

static djPose poseOf(const djModel* m, int geom) {
  return (djPose){dju_load3(m->geom_pos + 3 * geom),
                  dju_quatToMat(dju_loadQuat(m->geom_quat + 4 * geom))};
}

void dj_placePolytope(double* vert, const djModel* m, int geom) {
  djPose pose = poseOf(m, geom);
  int n = dj_polytopeVertices(m, geom);
  for (int i = 0; i < n; i++) {
    dju_store3(vert + 3 * (size_t)i, dju_transform(&pose, ownVertex(m, geom, i)));
  }
}

// x = R y + p; by R exp(w): y x R^T g.
void dj_polytopeParams(double* param, const djModel* m, int geom, const double* by_vert) {
  djPose pose = poseOf(m, geom);
  int n = dj_polytopeVertices(m, geom), type = m->geom_type[geom];
  double* pos = dj_paramEntry(param, m, DJ_FIELD_GEOM_POS, geom);
  double* quat = dj_paramEntry(param, m, DJ_FIELD_GEOM_QUAT, geom);
  for (int i = 0; i < n; i++) {
    djVec3 g = dju_load3(by_vert + 3 * (size_t)i), own = dju_mulMtV(pose.R, g);
    dju_addTo3(pos, 1, g);
    dju_addTo3(quat, 1, dju_cross3(ownVertex(m, geom, i), own));
    if (type == DJ_MESH) {
      double* mesh = dj_paramEntry(param, m, DJ_FIELD_MESH_VERT, m->geom_mesh[geom]);
      dju_addTo3(mesh + 3 * (size_t)i, 1, own);
    } else {
      double* size = dj_paramEntry(param, m, DJ_FIELD_GEOM_SIZE, geom);
      dj_geomRow(type)->vertexParams(size, own, m->geom_size + 3 * geom, i);
    }
  }
}

static djStatus copyFacets(int* nface, int** face, const djHull* hull) {
  *face = malloc(3 * (size_t)hull->nface * sizeof **face + 1);
  if (!*face) return DJ_NO_MEMORY;
  for (int k = 0; k < 3 * hull->nface; k++) (*face)[k] = hull->id[hull->face[k]];
  *nface = hull->nface;
  return DJ_OK;
}

djStatus dj_hullFacets(int* nface, int** face, int nvert, const double* vert) {
  djHull hull;
  *nface = 0;
  *face = NULL;
  djStatus status = dj_makeHull(&hull, nvert, vert, 0, NULL, NULL);
  if (status == DJ_OK)
    status = copyFacets(nface, face, &hull);
  else if (status == DJ_INVALID)
    status = DJ_OK; // flat: nothing
  dj_freeHull(&hull);
  return status;
}
