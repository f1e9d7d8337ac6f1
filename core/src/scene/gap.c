// Gaps of geoms and bodies of a model: shapes in the frames of the bodies that carry them, and the
// way from twists of these frames to coordinates.

#include <dijoco/gap.h>

#include "base/status.h"
#include "integrate/work.h"

#include <dijoco/contact.h>

#include <stdlib.h>
#include <string.h>

struct djGapPair {
  djSizes sizes;
  int body[2];
  djcGapPair* shapes;
};

// ------------------------------------------ making ---------------------------------------------

// Vertices of a mesh geom in its body's frame, the caller's to free.
static double* meshVertices(const djModel* m, int geom) {
  int mesh = m->geom_mesh[geom], n = m->mesh_vertnum[mesh];
  const double* vert = m->mesh_vert + 3 * (size_t)m->mesh_vertadr[mesh];
  double* x = malloc(3 * (size_t)n * sizeof(double) + 1);
  djPose pose = {dju_load3(m->geom_pos + 3 * geom),
                 dju_quatToMat(dju_loadQuat(m->geom_quat + 4 * geom))};
  for (int i = 0; i < n && x; i++) {
    dju_store3(x + 3 * (size_t)i, dju_transform(&pose, dju_load3(vert + 3 * (size_t)i)));
  }
  return x;
}

static djStatus fillShape(djcShape* s, double** vert, const djModel* m, int geom, djError* err) {
  memset(s, 0, sizeof *s);
  s->geom = m->geom_type[geom];
  memcpy(s->size, m->geom_size + 3 * geom, sizeof s->size);
  memcpy(s->pos, m->geom_pos + 3 * geom, sizeof s->pos);
  memcpy(s->quat, m->geom_quat + 4 * geom, sizeof s->quat);
  if (s->geom == DJ_HFIELD) {
    const char* name = m->names + m->name_geom[geom];
    return dj_fail(err, DJ_UNSUPPORTED, "geom '%.60s' (#%d): height fields have no gap", name,
                   geom);
  }
  if (s->geom != DJ_MESH) return DJ_OK;
  s->nvert = m->mesh_vertnum[m->geom_mesh[geom]];
  s->vert = *vert = meshVertices(m, geom);
  return *vert ? DJ_OK : dj_failMemory(err);
}

// Which geoms of an object count. Returns how many; id may be NULL.
static int listGeoms(int* id, const djModel* m, djObject type, int object) {
  if (type == DJ_OBJ_GEOM) {
    if (id) *id = object;
    return 1;
  }
  int first = m->body_geomadr[object], end = first + m->body_geomnum[object], n = 0;
  bool bits = false;
  for (int g = first; g < end; g++) bits |= m->geom_contype[g] || m->geom_conaffinity[g];
  for (int g = first; g < end; g++) {
    if (bits && !m->geom_contype[g] && !m->geom_conaffinity[g]) continue;
    if (id) id[n] = g;
    n++;
  }
  return n;
}

static djStatus makeShapes(djGapPair* p, const djModel* m, djObject type, const int object[2],
                           double smoothing, djError* err) {
  int n[2], k = 0;
  for (int i = 0; i < 2; i++) n[i] = listGeoms(NULL, m, type, object[i]);
  for (int i = 0; i < 2; i++) {
    if (n[i] > 0) continue;
    return dj_fail(err, DJ_INVALID, "body '%.60s' (#%d) has no geoms",
                   m->names + m->name_body[object[i]], object[i]);
  }
  size_t count = (size_t)n[0] + (size_t)n[1];
  djcShape* shape = calloc(count, sizeof *shape);
  double** vert = calloc(count, sizeof *vert);
  int* geom = calloc(count, sizeof *geom);
  djStatus status = shape && vert && geom ? DJ_OK : dj_failMemory(err);
  if (!status) {
    listGeoms(geom, m, type, object[0]);
    listGeoms(geom + n[0], m, type, object[1]);
  }
  for (; k < n[0] + n[1] && !status; k++) {
    status = fillShape(&shape[k], &vert[k], m, geom[k], err);
  }
  if (!status) {
    status = djc_makeGapPair(&p->shapes, n[0], shape, n[1], shape + n[0], smoothing, err);
  }
  while (k > 0) free(vert[--k]);
  free(vert);
  free(shape);
  free(geom);
  return status;
}

djStatus dj_makeGapPair(djGapPair** pair, const djModel* m, djObject type, int id1, int id2,
                        double smoothing, djError* err) {
  if (!pair) return DJ_INVALID;
  *pair = NULL;
  if (!m) return dj_fail(err, DJ_INVALID, "model: NULL");
  if (type != DJ_OBJ_GEOM && type != DJ_OBJ_BODY) {
    return dj_fail(err, DJ_INVALID, "gaps are of geoms or of bodies");
  }
  const int object[2] = {id1, id2};
  int count = dj_objectCount(m, type);
  for (int i = 0; i < 2; i++) {
    if (object[i] >= 0 && object[i] < count) continue;
    return dj_fail(err, DJ_INVALID, "%s #%d: the model has %d",
                   type == DJ_OBJ_GEOM ? "geom" : "body", object[i], count);
  }
  if (id1 == id2) return dj_fail(err, DJ_INVALID, "the gap of one thing to itself");
  djGapPair* p = calloc(1, sizeof *p);
  if (!p) return dj_failMemory(err);
  p->sizes = dj_sizesOf(m);
  for (int i = 0; i < 2; i++) {
    p->body[i] = type == DJ_OBJ_GEOM ? m->geom_body[object[i]] : object[i];
  }
  djStatus status = makeShapes(p, m, type, object, smoothing, err);
  if (status < 0) {
    dj_deleteGapPair(p);
    return status;
  }
  *pair = p;
  return DJ_OK;
}

void dj_deleteGapPair(djGapPair* p) {
  if (!p) return;
  djc_deleteGapPair(p->shapes);
  free(p);
}

// ------------------------------------------ evaluation -----------------------------------------

// jac += D J, where D (10 x 12, the columns from `first` on) is by twists of a body about its
// frame's origin.
static void addChain(double* jac, const djcGap* g, int first, const djModel* m, const djKin* kin,
                     const djVec3* ref, int body) {
  const double* row[10] = {g->gap_twist};
  for (int r = 0; r < 3; r++) {
    row[1 + r] = g->normal_twist + 12 * r;
    row[4 + r] = g->point_a_twist + 12 * r;
    row[7 + r] = g->point_b_twist + 12 * r;
  }
  djVec3 arm = dju_sub3(kin->body[body].p, ref[body]);
  for (int j = m->body_lastdof[body]; j >= 0; j = m->dof_parent[j]) {
    const double* S = kin->S + 6 * j;
    djVec3 w = dju_load3(S), v = dju_add3(dju_load3(S + 3), dju_cross3(w, arm));
    for (int r = 0; r < 10; r++) {
      jac[(size_t)r * m->nv + j] += dju_dot3(dju_load3(row[r] + first), w) +
                                    dju_dot3(dju_load3(row[r] + first + 3), v);
    }
  }
}

djStatus dj_evalGapPair(double gap[1], double normal[3], double point1[3], double point2[3],
                        double* jac, const djGapPair* pair, const djModel* m, djData* d) {
  if (!gap || !normal || !point1 || !point2 || !pair || !m || !d) return DJ_INVALID;
  djWork* w = d->work;
  djError* err = &w->error;
  if (!dj_fitsSizes(w, m) || !dj_sameSizes(&pair->sizes, m)) {
    return dj_fail(err, DJ_INVALID, "gap: made for a model of other sizes");
  }
  djStatus status = dj_checkFinite(err, "qpos", d->qpos, m->nq);
  if (!status) status = dj_checkFinite(err, "mocap_pos", d->mocap_pos, 3 * m->nmocap);
  if (!status) status = dj_checkFinite(err, "mocap_quat", d->mocap_quat, 4 * m->nmocap);
  if (status < 0) return status;
  // The trial point of a step is free between steps.
  djKin* kin = &w->trial.kin;
  dj_kinematics(kin, m, d->qpos, d->mocap_pos, d->mocap_quat);
  const djPose *a = &kin->body[pair->body[0]], *b = &kin->body[pair->body[1]];
  const double pos[6] = {a->p.x, a->p.y, a->p.z, b->p.x, b->p.y, b->p.z};
  djcGap g;
  status = djc_evalGapPair(&g, pair->shapes, pos, a->R.m, pos + 3, b->R.m);
  if (status < 0) return dj_fail(err, status, "gap: numbers too large");
  *gap = g.gap;
  memcpy(normal, g.normal, sizeof g.normal);
  memcpy(point1, g.point_a, sizeof g.point_a);
  memcpy(point2, g.point_b, sizeof g.point_b);
  if (!jac) return status;
  dj_motionSubspace(kin, m, w->ref);
  memset(jac, 0, 10 * (size_t)m->nv * sizeof(double));
  addChain(jac, &g, 0, m, kin, w->ref, pair->body[0]);
  addChain(jac, &g, 6, m, kin, w->ref, pair->body[1]);
  return status;
}

djStatus dj_gap(double gap[1], double normal[3], double point1[3], double point2[3], double* jac,
                const djModel* m, djData* d, djObject type, int id1, int id2, double smoothing) {
  if (!m || !d) return DJ_INVALID;
  djGapPair* pair;
  djStatus status = dj_makeGapPair(&pair, m, type, id1, id2, smoothing, &d->work->error);
  if (status < 0) return status;
  status = dj_evalGapPair(gap, normal, point1, point2, jac, pair, m, d);
  dj_deleteGapPair(pair);
  return status;
}
