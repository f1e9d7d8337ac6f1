// Connections that a task leaves to us (SDRS III-B): hulls of a body that touch share a vertex in
// what they have in common, and a joint's anchor is a vertex of a hull of both links.

#include "base/status.h"
#include "gradient/problem.h"
#include "io/task_attach.h"
#include "io/task_parse.h"
#include "io/task_resolve.h"
#include "math/vec.h"
#include "model/joint_type.h"
#include "model/param.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- more vertices by `set` -------------------------------------------------------------------

static djStatus grow(djModel* m, int mesh, int more, djError* err) {
  const double* vert = m->mesh_vert + 3 * (size_t)m->mesh_vertadr[mesh];
  int n = m->mesh_vertnum[mesh];
  djVec3 mean = {0, 0, 0};
  for (int i = 0; i < n; i++) mean = dju_madd3(mean, 1.0 / n, dju_load3(vert + 3 * i));
  int* id = malloc((size_t)more * sizeof *id);
  double* at = malloc(3 * (size_t)more * sizeof *at);
  djStatus status = id && at ? DJ_OK : dj_failMemory(err);
  for (int k = 0; k < more && status == DJ_OK; k++) {
    id[k] = mesh;
    dju_store3(at + 3 * k, mean);
  }
  if (status == DJ_OK) status = dj_addMeshVertices(m, more, id, at, err);
  free(id);
  free(at);
  return status;
}

djStatus dj_growBySet(djModel* m, const djTask* task, djError* err) {
  for (int i = 0; i < task->nset && task->nconnect > 0; i++) {
    const djTaskSet* s = &task->set[i];
    djParam param;
    if (dj_paramId(&param, m, s->name, NULL) < 0 || param.field != DJ_FIELD_MESH_VERT) continue;
    int more = s->n - param.nvalue;
    if (more <= 0 || more % 3 != 0) continue;
    djStatus status = grow(m, param.id, more / 3, err);
    if (status < 0) return status;
  }
  return DJ_OK;
}

// ---- what is found ----------------------------------------------------------------------------

typedef struct djFinder {
  djModel* m;
  djPool* pool; // the task's
  djError* err;
  djBodyPart* part; // (ngeom) without planes: it is none
  bool* varies;     // (ngeom) vertices of its mesh vary
  bool* moves;      // (njnt) its anchor varies
  int* next;        // (nmesh) number of the next vertex
  int* set;         // (ngeom) parts that hang together have the same root
  int n, room;      // connections
  djTaskConnect* list;
  int nvert; // vertices that are added
  int* mesh;
  double* vert;
} djFinder;

// Names as a task may have them.
static const char* nameOf(djFinder* f, djObject object, int id) {
  const char* name = dj_id2name(f->m, object, id);
  char text[32];
  snprintf(text, sizeof text, "#%d", id);
  return dj_poolText(f->pool, name && *name ? name : text);
}

static int rootOf(const int* set, int i) {
  while (set[i] != i) i = set[i];
  return i;
}

static djStatus makeRoom(djFinder* f) {
  if (f->n < f->room) return DJ_OK;
  int room = 2 * f->room + 16;
  djTaskConnect* list = realloc(f->list, (size_t)room * sizeof *list);
  if (list) f->list = list;
  int* mesh = realloc(f->mesh, 2 * (size_t)room * sizeof *mesh);
  if (mesh) f->mesh = mesh;
  double* vert = realloc(f->vert, 6 * (size_t)room * sizeof *vert);
  if (vert) f->vert = vert;
  if (!list || !mesh || !vert) return dj_failMemory(f->err);
  f->room = room;
  return DJ_OK;
}

// A point of a geom, x in the body's frame: a new vertex where its mesh varies, else its place.
static djStatus addPoint(djTaskPoint* out, djFinder* f, int g, djVec3 x) {
  const djModel* m = f->m;
  *out = (djTaskPoint){DJ_OBJ_GEOM, nameOf(f, DJ_OBJ_GEOM, g), -1, false};
  if (!out->name) return dj_failMemory(f->err);
  if (!f->varies[g]) return DJ_OK;
  int mesh = m->geom_mesh[g];
  for (int h = 0; h < m->ngeom; h++) {
    if (h == g || m->geom_type[h] != DJ_MESH || m->geom_mesh[h] != mesh) continue;
    return dj_fail(f->err, DJ_INVALID, "connect: mesh '%.60s' is that of geoms '%.60s' and '%.60s'",
                   nameOf(f, DJ_OBJ_MESH, mesh), out->name, nameOf(f, DJ_OBJ_GEOM, h));
  }
  djMat3 R = dju_quatToMat(dju_normalizeQuat(dju_loadQuat(m->geom_quat + 4 * g)));
  djVec3 local = dju_mulMtV(R, dju_sub3(x, dju_load3(m->geom_pos + 3 * g)));
  out->vertex = f->next[mesh]++;
  f->mesh[f->nvert] = mesh;
  dju_store3(f->vert + 3 * f->nvert++, local);
  return DJ_OK;
}

// ---- hulls of a body --------------------------------------------------------------------------

static djStatus joinParts(djFinder* f, int g, int h, djTouch least) {
  djVec3 point;
  bool together = rootOf(f->set, g) == rootOf(f->set, h);
  if (least == DJ_TOUCH_EDGE && together) return DJ_OK;
  if (dj_partsTouch(&point, &f->part[g], &f->part[h]) < least) return DJ_OK;
  f->set[rootOf(f->set, h)] = rootOf(f->set, g);
  if (!f->varies[g] && !f->varies[h]) return DJ_OK;
  djStatus status = makeRoom(f);
  if (status < 0) return status;
  djTaskConnect* c = &f->list[f->n++];
  if (!f->varies[g]) { // a is a vertex
    int other = g;
    g = h;
    h = other;
  }
  status = addPoint(&c->a, f, g, point);
  return status < 0 ? status : addPoint(&c->b, f, h, point);
}

// Edges and corners only where nothing else joins what they are of.
static djStatus joinPairs(djFinder* f, int first, int end, djTouch least) {
  for (int g = first; g < end; g++) {
    for (int h = g + 1; h < end && f->part[g].plane; h++) {
      if (!f->part[h].plane) continue;
      djStatus status = joinParts(f, g, h, least);
      if (status < 0) return status;
    }
  }
  return DJ_OK;
}

// The parts of a body hang together, where some of them vary.
static djStatus joinBody(djFinder* f, int body) {
  const djModel* m = f->m;
  int first = m->body_geomadr[body], end = first + m->body_geomnum[body], one = -1;
  bool any = false;
  for (int g = first; g < end; g++) any |= f->varies[g];
  djStatus status = any ? joinPairs(f, first, end, DJ_TOUCH_FACE) : DJ_OK;
  if (status == DJ_OK && any) status = joinPairs(f, first, end, DJ_TOUCH_EDGE);
  if (status < 0) return status;
  for (int g = first; g < end && any; g++) {
    if (!f->part[g].plane) continue;
    if (one < 0) one = g;
    if (rootOf(f->set, g) == rootOf(f->set, one)) continue;
    return dj_fail(f->err, DJ_INVALID,
                   "connect: geoms '%.60s' and '%.60s' of body '%.60s' do not touch, nor does "
                   "anything between them",
                   nameOf(f, DJ_OBJ_GEOM, one), nameOf(f, DJ_OBJ_GEOM, g),
                   nameOf(f, DJ_OBJ_BODY, body));
  }
  return DJ_OK;
}

// ---- links ------------------------------------------------------------------------------------

// The part of a body that a point is in: one that does not vary, else the deepest; -1: none.
static int holderOf(const djFinder* f, int body, djVec3 x) {
  const djModel* m = f->m;
  int holder = -1;
  double most = 0;
  for (int g = m->body_geomadr[body]; g < m->body_geomadr[body] + m->body_geomnum[body]; g++) {
    if (!f->part[g].plane) continue;
    double depth = dj_depthIn(&f->part[g], x);
    if (depth < dj_partTolerance(&f->part[g])) continue;
    if (!f->varies[g]) return g;
    if (holder < 0 || depth > most) holder = g, most = depth;
  }
  return holder;
}

static bool anyVaries(const djFinder* f, int body) {
  const djModel* m = f->m;
  for (int g = m->body_geomadr[body]; g < m->body_geomadr[body] + m->body_geomnum[body]; g++) {
    if (f->varies[g]) return true;
  }
  return false;
}

static djStatus attach(djFinder* f, int g, djVec3 x, djTaskPoint to) {
  if (g < 0 || !f->varies[g]) return DJ_OK;
  djStatus status = makeRoom(f);
  if (status < 0) return status;
  djTaskConnect* c = &f->list[f->n++];
  c->b = to;
  return to.name ? addPoint(&c->a, f, g, x) : dj_failMemory(f->err);
}

static djStatus joinLink(djFinder* f, int body) {
  const djModel* m = f->m;
  int parent = m->body_parent[body], joint = m->body_jntnum[body] > 0 ? m->body_jntadr[body] : -1;
  if ((joint >= 0 && dj_jointRow(m, joint)->pose) || m->body_mocap[body] >= 0) return DJ_OK;
  if (!anyVaries(f, body) && !(parent > 0 && anyVaries(f, parent))) return DJ_OK;
  djVec3 own, above;
  double depth;
  dj_placeOfHanging(&own, &above, m, body, joint);
  int below = holderOf(f, body, own), holder = parent > 0 ? holderOf(f, parent, above) : -1;
  if (parent > 0 && below < 0 && holder < 0) {
    return dj_prefix(f->err, dj_failOutsideBoth(m, body, f->err), "connect");
  }
  for (int k = 0; k < 2 && parent > 0; k++) {   // a link that varies has nothing of itself there
    int link = k ? parent : body;
    if ((k ? holder : below) >= 0 || !anyVaries(f, link)) continue;
    dj_linkHolds(&depth, m, f->part, link, k ? above : own);
    return dj_prefix(f->err, dj_failOutside(m, body, joint, link, depth, f->err), "connect");
  }
  djTaskPoint to = {DJ_NOBJ, "", -1, false};
  if (joint >= 0) to = (djTaskPoint){DJ_OBJ_JOINT, nameOf(f, DJ_OBJ_JOINT, joint), -1, false};
  djStatus status = attach(f, below, own, to);
  to.above = joint >= 0 && f->moves[joint];
  if (!to.above) to = (djTaskPoint){DJ_OBJ_BODY, nameOf(f, DJ_OBJ_BODY, body), -1, false};
  return status < 0 ? status : attach(f, holder, above, to);
}

// ---- all --------------------------------------------------------------------------------------

// Which geoms' vertices vary, as variables or as what maps compute: bounds and picked entries of
// variables may be about vertices that are not there yet.
static djStatus findVarying(djFinder* f, const djTask* task) {
  djPool pool = {0};
  djProblem p = {0};
  djTask bare = *task;
  djTaskVariable* v = dj_poolTake(&pool, (size_t)task->nvariable, sizeof *v);
  djStatus status = v ? DJ_OK : dj_failMemory(f->err);
  for (int i = 0; i < task->nvariable && v; i++) {
    v[i] = (djTaskVariable){.name = task->variable[i].name, .nindex = -1};
  }
  bare.variable = v;
  if (status == DJ_OK) status = dj_resolveMaps(&p, &bare, f->m, &pool, f->err);
  for (int i = 0; i < task->nvariable && status == DJ_OK; i++) { // one by one: parts may repeat
    djProblem one = p;
    bare.variable = v + i;
    bare.nvariable = 1;
    one.nvariable = 0;
    status = dj_resolveVariables(&one, &bare, f->m, &pool, f->err);
    p.nparam = one.nparam;
    p.param = one.param;
    p.nparamtangent = one.nparamtangent;
  }
  for (int k = 0; k < p.nparam && status == DJ_OK; k++) {
    if (p.param[k].field == DJ_FIELD_JOINT_POS) f->moves[p.param[k].id] = true;
    if (p.param[k].field != DJ_FIELD_MESH_VERT) continue;
    for (int g = 0; g < f->m->ngeom; g++) {
      f->varies[g] |= f->m->geom_type[g] == DJ_MESH && f->m->geom_mesh[g] == p.param[k].id;
    }
  }
  dj_poolFree(&pool);
  return status;
}

static djStatus makeParts(djFinder* f) {
  djModel* m = f->m;
  for (int g = 0; g < m->ngeom; g++) {
    f->set[g] = g;
    if (!dj_isPart(m, g) || m->geom_body[g] == 0) continue;
    djStatus status = dj_makePart(&f->part[g], m, g, f->err);
    if (status < 0) return dj_prefix(f->err, status, nameOf(f, DJ_OBJ_GEOM, g));
  }
  for (int i = 0; i < m->nmesh; i++) f->next[i] = m->mesh_vertnum[i];
  return DJ_OK;
}

static bool samePoint(const djTaskPoint* a, const djTaskPoint* b) {
  return a->object == b->object && a->vertex == b->vertex && a->above == b->above &&
         strcmp(a->name, b->name) == 0;
}

// Into the task, or the same that it has.
static djStatus keep(djFinder* f, djTaskMemory* memory) {
  if (!memory->found) {
    djTaskConnect* list = dj_poolTake(f->pool, (size_t)f->n, sizeof *list);
    if (!list) return dj_failMemory(f->err);
    if (f->n > 0) memcpy(list, f->list, (size_t)f->n * sizeof *list);
    memory->connect = list;
    memory->nfound = f->n;
    memory->found = true;
    return DJ_OK;
  }
  bool same = memory->nfound == f->n;
  for (int i = 0; i < f->n && same; i++) {
    same = samePoint(&f->list[i].a, &memory->connect[i].a) &&
           samePoint(&f->list[i].b, &memory->connect[i].b);
  }
  return same ? DJ_OK : dj_fail(f->err, DJ_INVALID, "connect: models are not connected alike");
}

static djStatus find(djFinder* f, const djTask* task) {
  djModel* m = f->m;
  djStatus status = findVarying(f, task);
  if (status == DJ_OK) status = makeParts(f);
  for (int b = 1; b < m->nbody && status == DJ_OK; b++) status = joinBody(f, b);
  for (int b = 1; b < m->nbody && status == DJ_OK; b++) status = joinLink(f, b);
  if (status == DJ_OK) status = keep(f, task->memory);
  return status < 0 ? status : dj_addMeshVertices(m, f->nvert, f->mesh, f->vert, f->err);
}

djStatus dj_connectAuto(djModel* m, const djTask* task, djError* err) {
  if (!task->connect_auto) return DJ_OK;
  if (m->opt.vertices != DJ_VERTICES_ALL) {
    return dj_fail(err, DJ_INVALID,
                   "connect: \"auto\" needs \"contact\": {\"vertices\": \"all\"}: it adds vertices "
                   "inside of hulls");
  }
  djPool own = {0};
  size_t ngeom = (size_t)m->ngeom;
  djFinder f = {.m = m,
                .pool = &((djTaskMemory*)task->memory)->pool,
                .err = err,
                .part = dj_poolTake(&own, ngeom, sizeof *f.part),
                .varies = dj_poolTake(&own, ngeom, sizeof *f.varies),
                .moves = dj_poolTake(&own, (size_t)m->njnt, sizeof *f.moves),
                .next = dj_poolTake(&own, (size_t)m->nmesh, sizeof *f.next),
                .set = dj_poolTake(&own, ngeom, sizeof *f.set)};
  bool good = f.part && f.varies && f.moves && f.next && f.set;
  djStatus status = good ? find(&f, task) : dj_failMemory(err);
  for (int g = 0; g < m->ngeom && f.part; g++) dj_freePart(&f.part[g]);
  free(f.list);
  free(f.mesh);
  free(f.vert);
  dj_poolFree(&own);
  return status;
}
