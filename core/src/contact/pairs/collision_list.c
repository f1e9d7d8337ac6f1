// Lists for supports of meshes' hulls (shape/support.h), one for all geoms that are a mesh.

#include "base/status.h"
#include "contact/pairs/collision.h"
#include "shape/support.h"

// Where shapes have all vertices: whichever are the hull's.
int dj_hullListRoom(const djModel* m, const djHull* hull, int mesh) {
  if (!hull->buffer) return 0;
  bool all = m->opt.vertices == DJ_VERTICES_ALL;
  return dj_listRoom(all ? m->mesh_vertnum[mesh] : hull->nvert);
}

// The shape of a geom that is a mesh's hull, or NULL.
static djShape* hullShape(struct djCollision* c, const djModel* m, int i, int mesh) {
  djShape* s = &c->shape[i];
  bool is = m->geom_mesh[i % m->ngeom] == mesh && s->type == DJ_MESH;
  return is && s->nvert == c->hull[mesh].nvert ? s : NULL;
}

// Where a shape finds the lists of its mesh's hull.
void dj_giveLists(struct djCollision* c, const djModel* m, int i) {
  int geom = i % m->ngeom, mesh = m->geom_mesh[geom];
  djShape* s = mesh < 0 ? NULL : hullShape(c, m, i, mesh);
  if (!s || dj_listRoom(s->nvert) == 0) return;
  djMat3 R = dju_quatToMat(dju_loadQuat(m->geom_quat + 4 * geom));
  s->list = c->list[mesh];
  s->list_axes = dju_mulMM(R, c->listaxes[mesh]);
  s->list_reach = c->listreach[mesh];
}

// Lists of a hull. They hold for the skins of its geoms, and for what recovery adds where shapes do
// not overlap; beyond that they would be longer, and are not needed as often.
djStatus dj_fillLists(struct djCollision* c, const djModel* m, int mesh, djError* err) {
  const djHull* h = &c->hull[mesh];
  double reach = 0;
  if (!h->buffer) return DJ_OK;
  for (int i = 0; i < c->nshape; i++) {
    djShape* s = hullShape(c, m, i, mesh);
    if (!s) continue;
    reach = fmax(reach, 1.5 * s->skin);
    s->list = NULL;
  }
  c->listreach[mesh] = reach;
  djMat3* axes = &c->listaxes[mesh];
  djStatus status = dj_makeLists(c->list[mesh], axes, h->nvert, h->vert, h->move, reach);
  if (status < 0) return dj_failMemory(err);
  for (int i = 0; i < c->nshape; i++) {
    if (hullShape(c, m, i, mesh)) dj_giveLists(c, m, i);
  }
  return DJ_OK;
}
