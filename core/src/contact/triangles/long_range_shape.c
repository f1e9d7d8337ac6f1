#include "contact/triangles/long_range_shape.h"

#include "base/status.h"
#include "contact/shapes/convex.h"
#include "contact/triangles/long_range.h"
#include "contact/triangles/tessellation.h"
#include "contact/triangles/triangle_plane.h"
#include "model/param.h"
#include "shape/hull.h"
#include "shape/mesh_closed.h"

#include <stdlib.h>
#include <string.h>

// ------------------------------------------ triangles ------------------------------------------

// Vertices, their parts, zeros for erosion; the number of triangles, nodes, triangles.
int dj_trianglesSize(int nvert, int ntri) {
  return 5 * dj_paddedCount(nvert) + 1 + DJ_SPHERE_NODE * (2 * ntri - 1) + 3 * ntri;
}

static void fillBounds(djShape* s) {
  s->center = dju_vec3(0, 0, 0);
  s->bound = 0;
  dj_centerShape(s);
}

// A third of each of its triangles: of the area over all, of layered trees of their number.
static void fillParts(double* part, const djSphereTree* t, int npad, bool layered) {
  memset(part, 0, (size_t)npad * sizeof *part);
  for (int i = 0; i < 2 * t->ntri - 1; i++) {
    const djSphereNode* node = &t->node[i];
    if (node->right > 0) continue;
    const double* v = t->tri + 3 * (int)node->first;
    const double all = layered ? node->m : t->node[0].m;
    for (int k = 0; k < 3; k++) part[(int)v[k]] += node->m / (3 * all);
  }
}

djStatus dj_fitTriangles(djShape* s, double* mem, int nvert, const double* vert, int ntri,
                         const int* tri, const int* tree, bool layered, const djShape* old) {
  s->nvert = nvert;
  s->npad = dj_paddedCount(nvert);
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < s->npad; i++) mem[k * s->npad + i] = vert[3 * (i < nvert ? i : 0) + k];
    s->vert[k] = mem + k * s->npad;
  }
  double* part = mem + 3 * s->npad;
  double* zero = part + s->npad;
  double* fit = zero + s->npad;
  memset(zero, 0, (size_t)s->npad * sizeof *zero);
  for (int k = 0; k < 3; k++) s->move[k] = zero;
  djSphereNode* node = (djSphereNode*)(void*)(fit + 1);
  double* own = fit + 1 + DJ_SPHERE_NODE * (2 * ntri - 1);
  const int numbers = 1 + DJ_SPHERE_NODE * (2 * ntri - 1) + 3 * ntri;
  s->weight = part;
  s->fit = fit;
  const bool keeps = old && old->fit && (int)old->fit[0] == ntri && old->nvert == nvert;
  djStatus status = DJ_OK;
  if (keeps && old->fit != fit) memcpy(fit, old->fit, (size_t)numbers * sizeof *fit);
  fit[0] = ntri;
  if (tree)
    status = dj_plantSphereTree(node, own, tri, ntri, tree);
  else if (!keeps)
    status = dj_growSphereTree(node, own, tri, ntri, s->vert);
  if (status < 0) return status;
  djSphereTree all;
  dj_openTriangles(&all, s);
  dj_fitSphereTree(node, &all);
  fillParts(part, &all, s->npad, layered);
  fillBounds(s);
  return layered ? dj_layerSphereTree(node, &all, nvert) : DJ_OK;
}

// ------------------------------------------ crossing -------------------------------------------

static bool shareVertex(const double* a, const double* b) {
  for (int i = 0; i < 9; i++) {
    if (a[i / 3] == b[i % 3]) return true;
  }
  return false;
}

// Triangles below nodes i and j of one tree that cross: of those that share no vertex.
static bool findCrossing(int at[2], const djSphereTree* t, int i, int j) {
  const djSphereNode *a = &t->node[i], *b = &t->node[j];
  const int ra = (int)a->right, rb = (int)b->right;
  if (i == j) {
    return ra > 0 && (findCrossing(at, t, i + 1, i + 1) || findCrossing(at, t, ra, ra) ||
                      findCrossing(at, t, i + 1, ra));
  }
  const djVec3 apart = dju_sub3(dju_load3(a->x), dju_load3(b->x));
  if (dju_norm3(apart) > a->R + b->R) return false;
  if (ra == 0 && rb == 0) {
    djVec3 va[3], vb[3], u;
    const int ta = (int)a->first, tb = (int)b->first;
    if (shareVertex(t->tri + 3 * ta, t->tri + 3 * tb)) return false;
    for (int k = 0; k < 3; k++) {
      va[k] = dj_treeVertex(t, ta, k);
      vb[k] = dj_treeVertex(t, tb, k);
    }
    at[0] = ta;
    at[1] = tb;
    return !(dj_partTriangles(&u, va, vb, 0) >= 0);
  }
  if (rb == 0 || (ra > 0 && a->R >= b->R)) {
    return findCrossing(at, t, i + 1, j) || findCrossing(at, t, ra, j);
  }
  return findCrossing(at, t, i, j + 1) || findCrossing(at, t, i, rb);
}

djStatus dj_checkCrossing(const djShape* s, djError* err) {
  djSphereTree t;
  int at[2];
  dj_openTriangles(&t, s);
  if (!findCrossing(at, &t, 0, 0)) return DJ_OK;
  const double *a = t.tri + 3 * at[0], *b = t.tri + 3 * at[1];
  return dj_fail(err, DJ_INVALID,
                 "the mesh crosses itself: triangles of vertices %d, %d, %d and %d, %d, %d",
                 (int)a[0], (int)a[1], (int)a[2], (int)b[0], (int)b[1], (int)b[2]);
}

// ------------------------------------------ geoms ----------------------------------------------

static bool isMesh(const djGeomSource* from) {
  return from->model->geom_type[from->geom] == DJ_MESH;
}

static double settingOf(const djGeomSource* from, int row) {
  int n, first;
  dj_kernelSettings(&n, &first, DJ_LONG_RANGE);
  return from->model->kernel_setting[first + row];
}

static void openGeom(djTessellation* out, const djGeomSource* from) {
  const double wanted = settingOf(from, DJ_LONG_TRIANGLES);
  dj_openTessellation(out, from->model->geom_type[from->geom], (int)ceil(wanted));
}

// A mesh's own triangles, or those of its hull.
static int triangleCount(const djGeomSource* from) {
  const djModel* m = from->model;
  const int mesh = m->geom_mesh[from->geom];
  return m->mesh_trinum[mesh] > 0 ? m->mesh_trinum[mesh] : from->first->nface;
}

static void meshTriangles(int* tri, const djGeomSource* from) {
  const djModel* m = from->model;
  const int mesh = m->geom_mesh[from->geom], n = m->mesh_trinum[mesh];
  const int* own = m->mesh_tri + 3 * (size_t)m->mesh_triadr[mesh];
  if (n > 0) memcpy(tri, own, 3 * (size_t)n * sizeof *tri);
  for (int i = 0; n == 0 && i < 3 * from->first->nface; i++) {
    tri[i] = from->first->id[from->first->face[i]];
  }
}

static void countGeom(int* nvert, int* ntri, const djGeomSource* from) {
  djTessellation t = {0};
  if (!isMesh(from)) openGeom(&t, from);
  *nvert = isMesh(from) ? from->model->mesh_vertnum[from->model->geom_mesh[from->geom]] : t.nvert;
  *ntri = isMesh(from) ? triangleCount(from) : t.ntri;
}

int dj_longShapeSize(const djGeomSource* from) {
  int nvert, ntri;
  if (from->model->geom_type[from->geom] == DJ_PLANE) return 0;
  countGeom(&nvert, &ntri, from);
  return dj_trianglesSize(nvert, ntri);
}

// In the geom's frame.
static djVec3 localVertex(const djTessellation* t, const djGeomSource* from, int i) {
  const djModel* m = from->model;
  if (isMesh(from)) {
    const size_t first = (size_t)m->mesh_vertadr[m->geom_mesh[from->geom]];
    return dju_load3(m->mesh_vert + 3 * (first + (size_t)i));
  }
  const double* size = m->geom_size + 3 * from->geom;
  djVec3 f[3], x = {0, 0, 0};
  dj_tessellationVertex(f, t, i);
  for (int k = 0; k < 3; k++) x = dju_madd3(x, size[k], f[k]);
  return x;
}

static djStatus fillGeom(djShape* s, double* mem, double* vert, int* tri, const djGeomSource* from,
                         const djPose* pose, djError* err) {
  int nvert, ntri;
  djTessellation t = {0};
  countGeom(&nvert, &ntri, from);
  if (isMesh(from)) {
    meshTriangles(tri, from);
  } else {
    openGeom(&t, from);
    dj_tessellationTriangles(tri, &t);
  }
  for (int i = 0; i < nvert; i++) dju_store3(vert + 3 * i, localVertex(&t, from, i));
  double box[6];
  djStatus status = dj_checkMesh(box, nvert, vert, ntri, tri, NULL, err);
  if (status < 0) return status;
  for (int i = 0; i < nvert; i++) {
    dju_store3(vert + 3 * i, dju_transform(pose, dju_load3(vert + 3 * i)));
  }
  const bool layered = settingOf(from, DJ_LONG_WEIGHTING) == DJ_LONG_PAPER;
  status = dj_fitTriangles(s, mem, nvert, vert, ntri, tri, NULL, layered, from->old);
  if (status < 0) return dj_failMemory(err);
  return isMesh(from) ? dj_checkCrossing(s, err) : DJ_OK;
}

static void fillBox(double box[6], const djShape* s) {
  for (int k = 0; k < 3; k++) {
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < s->nvert; i++) {
      low = fmin(low, s->vert[k][i]);
      high = fmax(high, s->vert[k][i]);
    }
    box[k] = 0.5 * (low + high);
    box[3 + k] = 0.5 * (high - low);
  }
}

djStatus dj_makeLongShape(djShape* s, djShapeBounds* bounds, double* mem, const djGeomSource* from,
                          djError* err) {
  const djModel* m = from->model;
  const int geom = from->geom;
  const djPose pose = {dju_load3(m->geom_pos + 3 * geom),
                       dju_quatToMat(dju_loadQuat(m->geom_quat + 4 * geom))};
  memset(bounds, 0, sizeof *bounds);
  memset(s, 0, sizeof *s);
  s->type = m->geom_type[geom];
  s->inner = from->inner;
  if (m->geom_margin[geom] != m->geom_gap[geom]) {
    return dj_fail(err, DJ_UNSUPPORTED, "long_range: margin and gap must be equal");
  }
  if (s->type == DJ_PLANE) {
    s->normal = dju_column(&pose.R, 2);
    s->center = pose.p;
    s->offset = dju_dot3(s->normal, pose.p);
    s->bound = INFINITY;
    return DJ_OK;
  }
  int nvert, ntri;
  countGeom(&nvert, &ntri, from);
  double* vert = malloc(3 * (size_t)nvert * sizeof *vert);
  int* tri = malloc(3 * (size_t)ntri * sizeof *tri);
  djStatus status = vert && tri ? DJ_OK : dj_failMemory(err);
  if (status == DJ_OK) status = fillGeom(s, mem, vert, tri, from, &pose, err);
  free(vert);
  free(tri);
  if (status == DJ_OK) fillBox(bounds->box, s);
  return status;
}

// ------------------------------------------ derivatives ----------------------------------------

// A vertex R x + p of the body's frame has dp + R (w x x + dx).
djStatus dj_longShapeParams(double* param, const djGeomSource* from, const djShape* s,
                            const djShapeGrad* grad) {
  const djModel* m = from->model;
  const int geom = from->geom;
  const djPose pose = {dju_load3(m->geom_pos + 3 * geom),
                       dju_quatToMat(dju_loadQuat(m->geom_quat + 4 * geom))};
  double* pos = dj_paramEntry(param, m, DJ_FIELD_GEOM_POS, geom);
  double* quat = dj_paramEntry(param, m, DJ_FIELD_GEOM_QUAT, geom);
  double* size = dj_paramEntry(param, m, DJ_FIELD_GEOM_SIZE, geom);
  if (s->type == DJ_PLANE) { // normal = R z, offset = normal . p
    const djVec3 normal = dju_madd3(grad->normal, grad->offset, pose.p);
    const djVec3 turn = dju_cross3(dju_vec3(0, 0, 1), dju_mulMtV(pose.R, normal));
    dju_addTo3(quat, 1, turn);
    dju_addTo3(pos, grad->offset, s->normal);
    return DJ_OK;
  }
  djTessellation t = {0};
  double* vert =
      isMesh(from) ? dj_paramEntry(param, m, DJ_FIELD_MESH_VERT, m->geom_mesh[geom]) : NULL;
  if (!vert) openGeom(&t, from);
  for (int i = 0; i < s->nvert; i++) {
    const djVec3 by = {grad->vert[0][i], grad->vert[1][i], grad->vert[2][i]};
    const djVec3 x = {s->vert[0][i], s->vert[1][i], s->vert[2][i]};
    const djVec3 local = dju_mulMtV(pose.R, by);
    dju_addTo3(pos, 1, by);
    dju_addTo3(quat, 1, dju_cross3(dju_untransform(&pose, x), local));
    if (vert) {
      dju_addTo3(vert + 3 * i, 1, local);
      continue;
    }
    djVec3 f[3];
    dj_tessellationVertex(f, &t, i);
    for (int k = 0; k < 3; k++) size[k] += dju_dot3(f[k], local);
  }
  return DJ_OK;
}
