#include "inertia/body_hulls.h"

#include "inertia/facets.h"
#include "model/geom_row.h"
#include "model/param.h"

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

// ------------------------------------------ lists ----------------------------------------------

djStatus dj_startHulls(djBodyHulls* h, int n) {
  size_t room = (size_t)n + 1;
  *h = (djBodyHulls){0, calloc(room, sizeof *h->part), calloc(room, sizeof *h->geom),
                     calloc(room, sizeof *h->face), calloc(room, sizeof *h->vert)};
  return h->part && h->geom && h->face && h->vert ? DJ_OK : DJ_NO_MEMORY;
}

void dj_freeBodyHulls(djBodyHulls* h) {
  for (int k = 0; k < h->n; k++) {
    free(h->face[k]);
    free(h->vert[k]);
  }
  free(h->part);
  free(h->geom);
  free(h->face);
  free(h->vert);
}

djStatus dj_addHull(djBodyHulls* h, int nvert, const double* vert,
                    const djClosedSurface* surface) {
  int k = h->n++;
  djPolytope* part = &h->part[k];
  part->vert = vert;
  if (surface && dj_isHull(nvert, vert, surface->nface, surface->face)) {
    part->nface = surface->nface;
    part->face = surface->face;
    return DJ_OK;
  }
  djStatus status = surface && surface->nface > 0
                        ? dj_hullFacetsFrom(&part->nface, &h->face[k], nvert, vert,
                                            surface->nface, surface->face)
                        : dj_hullFacets(&part->nface, &h->face[k], nvert, vert);
  part->face = h->face[k];
  return status;
}

djStatus dj_bodyHulls(djBodyHulls* h, const djModel* m, int first, int last,
                      const djClosedSurface* surface) {
  djStatus status = dj_startHulls(h, last > first ? last - first : 0);
  for (int g = first; g < last && status == DJ_OK; g++) {
    if (!dj_isPolytope(m->geom_type[g])) continue;
    int nvert = dj_polytopeVertices(m, g), k = h->n;
    bool is_mesh = m->geom_type[g] == DJ_MESH;
    h->vert[k] = malloc(3 * (size_t)nvert * sizeof(double) + 1);
    if (!h->vert[k]) return DJ_NO_MEMORY;
    dj_placePolytope(h->vert[k], m, g);
    h->geom[k] = g;
    status = dj_addHull(h, nvert, h->vert[k],
                        surface && is_mesh ? &surface[m->geom_mesh[g]] : NULL);
  }
  return status;
}
