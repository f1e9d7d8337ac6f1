// Geoms of a body are one piece where they overlap or touch, and links are where the child's joint
// is in a part of both. What no connection concerns is as it was: its bodies count as whole, and
// links whose joint was outside of a part at the start as held.

#include "gradient/pieces.h"

#include "base/status.h"
#include "gradient/design_parts.h"
#include "model/joint_type.h"
#include "scene/body_part.h"

#include <stdlib.h>
#include <string.h>

struct djPieces {
  bool* concerned; // (nbody) has a vertex that is connected
  int npair;
  int* pair;   // (npair x 2) geoms that share a vertex...
  int* vertex; // (npair) ... of the first one's mesh
  bool* held;  // (nbody) its link to its parent needs no look
};

// What a count works with.
typedef struct djCount {
  const djModel* m;
  const djPieces* pieces;
  djBodyPart* part; // (ngeom)
  int* set;         // (ngeom + nbody) geoms, then bodies that are whole
} djCount;

static int rootOf(const int* set, int i) {
  while (set[i] != i) i = set[i];
  return i;
}

static void unite(djCount* c, int i, int j) { c->set[rootOf(c->set, j)] = rootOf(c->set, i); }

static void closeCount(djCount* c) {
  for (int g = 0; g < c->m->ngeom && c->part; g++) dj_freePart(&c->part[g]);
  free(c->part);
  free(c->set);
}

static djStatus openCount(djCount* c, const djModel* m, const djPieces* pieces, djError* err) {
  size_t n = (size_t)m->ngeom;
  *c = (djCount){m, pieces, calloc(n + 1, sizeof *c->part),
                 malloc((n + (size_t)m->nbody) * sizeof *c->set)};
  djStatus status = c->part && c->set ? DJ_OK : dj_failMemory(err);
  for (int i = 0; i < m->ngeom + m->nbody && status == DJ_OK; i++) c->set[i] = i;
  for (int g = 0; g < m->ngeom && status == DJ_OK; g++) {
    if (!pieces->concerned[m->geom_body[g]] || !dj_isPart(m, g)) continue;
    status = dj_makePart(&c->part[g], m, g, err);
  }
  return status;
}

static djVec3 vertexOf(const djModel* m, int g, int vertex) {
  const djPose pose = {dju_load3(m->geom_pos + 3 * g),
                       dju_quatToMat(dju_normalizeQuat(dju_loadQuat(m->geom_quat + 4 * g)))};
  int adr = m->mesh_vertadr[m->geom_mesh[g]] + vertex;
  return dju_transform(&pose, dju_load3(m->mesh_vert + 3 * (size_t)adr));
}

static bool holds(const djCount* c, int g, djVec3 x) {
  return c->part[g].plane && dj_depthIn(&c->part[g], x) >= dj_partTolerance(&c->part[g]);
}

static void uniteGeoms(djCount* c) {
  const djModel* m = c->m;
  for (int k = 0; k < c->pieces->npair; k++) { // most pieces, with little work
    int g = c->pieces->pair[2 * k], h = c->pieces->pair[2 * k + 1];
    djVec3 x = vertexOf(m, g, c->pieces->vertex[k]);
    if (holds(c, g, x) && holds(c, h, x)) unite(c, g, h);
  }
  for (int g = 0; g < m->ngeom; g++) {
    for (int h = g + 1; h < m->ngeom && c->part[g].plane; h++) {
      djVec3 x;
      if (m->geom_body[h] != m->geom_body[g]) break; // in the order of their bodies
      if (!c->part[h].plane || rootOf(c->set, g) == rootOf(c->set, h)) continue;
      if (dj_partsTouch(&x, &c->part[g], &c->part[h]) != DJ_TOUCH_NONE) unite(c, g, h);
    }
  }
}

// What of a body is at a point: a geom, or all of a body that is whole; -1: nothing. Any: the
// first.
static int holderOf(const djCount* c, int body, const djVec3* x) {
  const djModel* m = c->m;
  int first = m->body_geomadr[body];
  if (!c->pieces->concerned[body]) return m->ngeom + body;
  for (int g = first; g < first + m->body_geomnum[body]; g++) {
    if (c->part[g].plane && (!x || holds(c, g, *x))) return g;
  }
  return -1;
}

static bool isLink(const djModel* m, int body) {
  int joint = m->body_jntnum[body] > 0 ? m->body_jntadr[body] : -1;
  bool free_joint = joint >= 0 && dj_jointRow(m, joint)->pose;
  return m->body_parent[body] > 0 && !free_joint && m->body_mocap[body] < 0;
}

// The ends of a link; -1: the joint is outside.
static void findEnds(int end[2], const djCount* c, int body) {
  const djModel* m = c->m;
  const djPose pose = {dju_load3(m->body_pos + 3 * body),
                       dju_quatToMat(dju_normalizeQuat(dju_loadQuat(m->body_quat + 4 * body)))};
  djVec3 own = {0, 0, 0};
  if (m->body_jntnum[body] > 0) own = dju_load3(m->jnt_pos + 3 * m->body_jntadr[body]);
  djVec3 above = dju_transform(&pose, own);
  end[0] = holderOf(c, body, &own);
  end[1] = holderOf(c, m->body_parent[body], &above);
}

static void uniteLinks(djCount* c) {
  const djModel* m = c->m;
  for (int b = 1; b < m->nbody; b++) {
    int end[2];
    if (!isLink(m, b)) continue;
    findEnds(end, c, b);
    for (int k = 0; k < 2; k++) {
      int body = k ? m->body_parent[b] : b;
      if (end[k] < 0 && c->pieces->held[b]) end[k] = holderOf(c, body, NULL);
    }
    if (end[0] >= 0 && end[1] >= 0) unite(c, end[0], end[1]);
  }
}

djStatus djd_countPieces(int* n, djDesign* d, djError* err) {
  if (!n || !d) return dj_fail(err, DJ_INVALID, "pieces: NULL");
  const djPieces* pieces = dj_designMemory(d)->pieces;
  const djModel* m = d->model;
  *n = 0;
  if (!pieces) return DJ_OK;
  djCount c;
  djStatus status = openCount(&c, m, pieces, err);
  if (status == DJ_OK) {
    uniteGeoms(&c);
    uniteLinks(&c);
    bool* seen = calloc((size_t)(m->ngeom + m->nbody), sizeof *seen);
    if (!seen) status = dj_failMemory(err);
    for (int g = 0; g < m->ngeom && seen; g++) {
      bool* root = &seen[rootOf(c.set, g)];
      if (!c.part[g].plane || *root) continue;
      *root = true;
      ++*n;
    }
    free(seen);
  }
  closeCount(&c);
  return status;
}

// ---- at the start -----------------------------------------------------------------------------

static int geomOf(const djModel* m, const djTaskPoint* p) {
  return p->object == DJ_OBJ_GEOM ? dj_name2id(m, DJ_OBJ_GEOM, p->name) : -1;
}

static void readPairs(djPieces* pieces, const djModel* m, const djProblem* p) {
  for (int i = 0; i < p->nconnect; i++) {
    const djTaskConnect* c = &p->joined[i];
    int g = geomOf(m, &c->a), h = geomOf(m, &c->b);
    if (g >= 0 && c->a.vertex >= 0) pieces->concerned[m->geom_body[g]] = true;
    if (h >= 0 && c->b.vertex >= 0) pieces->concerned[m->geom_body[h]] = true;
    if (g < 0 || h < 0 || c->a.vertex < 0 || m->geom_body[g] != m->geom_body[h]) continue;
    pieces->vertex[pieces->npair] = c->a.vertex;
    pieces->pair[2 * pieces->npair] = g;
    pieces->pair[2 * pieces->npair++ + 1] = h;
  }
}

djStatus dj_makePieces(djPieces** out, djDesign* d) {
  djPool* pool = &dj_designMemory(d)->pool;
  const djModel* m = d->model;
  size_t n = (size_t)d->problem->nconnect;
  *out = NULL;
  if (n == 0) return DJ_OK;
  djPieces* pieces = dj_poolTake(pool, 1, sizeof *pieces);
  if (!pieces) return DJ_NO_MEMORY;
  pieces->concerned = dj_poolTake(pool, (size_t)m->nbody, sizeof(bool));
  pieces->held = dj_poolTake(pool, (size_t)m->nbody, sizeof(bool));
  pieces->pair = dj_poolTake(pool, 2 * n, sizeof(int));
  pieces->vertex = dj_poolTake(pool, n, sizeof(int));
  if (!pieces->concerned || !pieces->held || !pieces->pair || !pieces->vertex) {
    return DJ_NO_MEMORY;
  }
  readPairs(pieces, m, d->problem);
  djCount c;
  djStatus status = openCount(&c, m, pieces, &d->error);
  for (int b = 1; b < m->nbody && status == DJ_OK; b++) {
    int end[2];
    if (!isLink(m, b)) continue;
    findEnds(end, &c, b);
    pieces->held[b] = end[0] < 0 || end[1] < 0;
  }
  closeCount(&c);
  if (status == DJ_OK) *out = pieces;
  return status == DJ_NO_MEMORY ? status : DJ_OK; // flat geoms: nothing is counted
}
