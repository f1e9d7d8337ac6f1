// Smoothed gaps in MuJoCo's models: shapes of geoms, poses of mjData, derivatives by its qvel.

#include "gap.h"

#include "attach.h"
#include "import.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What a geom's shape depends on; `place` is its pose in the body (bodies only).
typedef struct GeomShape {
  int id;
  mjtNum size[3], place[7];
} GeomShape;

struct djmGap {
  mjtObj type;
  int id[2];
  int ngeom[2];
  GeomShape* geom;         // (ngeom[0] + ngeom[1])
  djcGapPair* shapes;
};

static djStatus refuse(djError* err, djStatus status, const char* what, const char* name, int id,
                       const char* why) {
  if (err) snprintf(err->text, sizeof(err->text), "%s '%.60s' (#%d) %s", what, name, id, why);
  return status;
}

// ------------------------------ making ----------------------------------------------------------

// Which geoms count. geom may be NULL.
static int listGeoms(GeomShape* geom, const mjModel* m, mjtObj type, int object) {
  if (type == mjOBJ_GEOM) {
    if (geom) geom->id = object;
    return 1;
  }
  int first = m->body_geomadr[object], end = first + m->body_geomnum[object], n = 0;
  for (int g = first; g < end; g++) {
    if (!djm_countsInBody(m, g)) continue;
    if (geom) geom[n].id = g;
    n++;
  }
  return n;
}

static void readShape(GeomShape* s, const mjModel* m, mjtObj type) {
  static const mjtNum none[7] = {0, 0, 0, 1, 0, 0, 0};
  mju_copy3(s->size, m->geom_size + 3 * s->id);
  mju_copy(s->place, none, 7);
  if (type == mjOBJ_GEOM) return;
  mju_copy3(s->place, m->geom_pos + 3 * s->id);
  mju_copy4(s->place + 3, m->geom_quat + 4 * s->id);
}

// Vertices of a mesh in the frame of the gap: those of MuJoCo's hull, where it made one. The
// caller's to free.
static double* meshVertices(int* n, const mjModel* m, const GeomShape* s) {
  int mesh = m->geom_dataid[s->id], graph = m->mesh_graphadr[mesh];
  const float* vert = m->mesh_vert + 3 * m->mesh_vertadr[mesh];
  const int* hull = graph < 0 ? NULL : m->mesh_graph + graph;
  *n = hull ? hull[0] : m->mesh_vertnum[mesh];
  double* x = malloc(3 * (size_t)*n * sizeof(*x) + 1);
  for (int i = 0; i < *n && x; i++) {
    const float* from = vert + 3 * (hull ? hull[2 + *n + i] : i);
    mjtNum v[3] = {from[0], from[1], from[2]};
    mju_trnVecPose(x + 3 * (size_t)i, s->place, s->place + 3, v);
  }
  return x;
}

static djStatus fillShape(djcShape* out, double** vert, const mjModel* m, const GeomShape* s,
                          djError* err) {
  int type = m->geom_type[s->id];
  memset(out, 0, sizeof(*out));
  out->geom = (djGeomType)type;
  mju_copy3(out->size, s->size);
  mju_copy3(out->pos, s->place);
  mju_copy4(out->quat, s->place + 3);
  if (type == mjGEOM_HFIELD || (!djm_shapeSupported(type) && type != mjGEOM_SDF)) {
    return refuse(err, DJ_UNSUPPORTED, "geom", djm_name(m, m->name_geomadr[s->id]), s->id,
                  "is a height field or of another type that has no gap");
  }
  if (type != mjGEOM_MESH && type != mjGEOM_SDF) return DJ_OK;
  *vert = meshVertices(&out->nvert, m, s);
  out->vert = *vert;
  if (*vert) return DJ_OK;
  return refuse(err, DJ_NO_MEMORY, "geom", djm_name(m, m->name_geomadr[s->id]), s->id,
                "is too large for the memory");
}

static djStatus makeShapes(djmGap* gap, const mjModel* m, mjtNum smoothing, djError* err) {
  int n = gap->ngeom[0] + gap->ngeom[1], k = 0;
  djcShape* shape = calloc(n, sizeof(*shape));
  double** vert = calloc(n, sizeof(*vert));
  djStatus status = shape && vert ? DJ_OK : DJ_NO_MEMORY;
  for (; k < n && status == DJ_OK; k++) {
    status = fillShape(shape + k, vert + k, m, gap->geom + k, err);
  }
  if (status == DJ_OK) {
    status = djc_makeGapPair(&gap->shapes, gap->ngeom[0], shape, gap->ngeom[1],
                             shape + gap->ngeom[0], smoothing, err);
  }
  while (k > 0) free(vert[--k]);
  free(vert);
  free(shape);
  return status;
}

static djStatus fillGap(djmGap* gap, const mjModel* m, mjtNum smoothing, djError* err) {
  for (int i = 0; i < 2; i++) {
    gap->ngeom[i] = listGeoms(NULL, m, gap->type, gap->id[i]);
    if (gap->ngeom[i] > 0) continue;
    return refuse(err, DJ_INVALID, "body", djm_name(m, m->name_bodyadr[gap->id[i]]), gap->id[i],
                  "has no geoms");
  }
  int n = gap->ngeom[0] + gap->ngeom[1];
  gap->geom = calloc(n, sizeof(*gap->geom));
  if (!gap->geom) return DJ_NO_MEMORY;
  listGeoms(gap->geom, m, gap->type, gap->id[0]);
  listGeoms(gap->geom + gap->ngeom[0], m, gap->type, gap->id[1]);
  for (int i = 0; i < n; i++) readShape(gap->geom + i, m, gap->type);
  return makeShapes(gap, m, smoothing, err);
}

djStatus djm_makeGap(djmGap** out, const mjModel* m, mjtObj type, int id1, int id2,
                     mjtNum smoothing, djError* err) {
  *out = NULL;
  if (err) snprintf(err->text, sizeof(err->text), "out of memory");
  int count = type == mjOBJ_GEOM ? (int)m->ngeom : type == mjOBJ_BODY ? (int)m->nbody : 0;
  if (id1 < 0 || id2 < 0 || id1 >= count || id2 >= count || id1 == id2) {
    if (err) snprintf(err->text, sizeof(err->text), "two geoms or two bodies are expected");
    return DJ_INVALID;
  }
  djmGap* gap = calloc(1, sizeof(*gap));
  if (!gap) return DJ_NO_MEMORY;
  gap->type = type;
  gap->id[0] = id1;
  gap->id[1] = id2;
  djStatus status = fillGap(gap, m, smoothing, err);
  if (status < 0) {
    djm_deleteGap(gap);
    return status;
  }
  *out = gap;
  return DJ_OK;
}

void djm_deleteGap(djmGap* gap) {
  if (!gap) return;
  djc_deleteGapPair(gap->shapes);
  free(gap->geom);
  free(gap);
}

bool djm_isGapCurrent(const djmGap* gap, const mjModel* m) {
  for (int i = 0; i < gap->ngeom[0] + gap->ngeom[1]; i++) {
    GeomShape now = {.id = gap->geom[i].id};
    readShape(&now, m, gap->type);
    if (memcmp(now.size, gap->geom[i].size, sizeof(now.size)) != 0 ||
        memcmp(now.place, gap->geom[i].place, sizeof(now.place)) != 0) {
      return false;
    }
  }
  return true;
}

// ------------------------------ evaluation ------------------------------------------------------

static const mjtNum* positionOf(const djmGap* gap, const mjData* d, int side) {
  return (gap->type == mjOBJ_GEOM ? d->geom_xpos : d->xpos) + 3 * gap->id[side];
}

static const mjtNum* axesOf(const djmGap* gap, const mjData* d, int side) {
  return (gap->type == mjOBJ_GEOM ? d->geom_xmat : d->xmat) + 9 * gap->id[side];
}

djStatus djm_evalGap(djcGap* out, const djmGap* gap, const mjData* d) {
  return djc_evalGapPair(out, gap->shapes, positionOf(gap, d, 0), axesOf(gap, d, 0),
                         positionOf(gap, d, 1), axesOf(gap, d, 1));
}

void djm_gapValues(mjtNum value[10], const djcGap* g) {
  value[0] = g->gap;
  mju_copy3(value + 1, g->normal);
  mju_copy3(value + 4, g->point_a);
  mju_copy3(value + 7, g->point_b);
}

void djm_gapJacobian(mjtNum* jac, int stride, mjtNum* scratch, const djcGap* g, const djmGap* gap,
                     const mjModel* m, const mjData* d) {
  int nv = (int)m->nv;
  const mjtNum* row[10] = {g->gap_twist};
  for (int r = 0; r < 3; r++) {
    row[1 + r] = g->normal_twist + 12 * r;
    row[4 + r] = g->point_a_twist + 12 * r;
    row[7 + r] = g->point_b_twist + 12 * r;
  }
  for (int r = 0; r < 10; r++) mju_zero(jac + (size_t)r * stride, nv);
  for (int side = 0; side < 2; side++) {
    int body = gap->type == mjOBJ_GEOM ? m->geom_bodyid[gap->id[side]] : gap->id[side];
    mj_jac(m, d, scratch + 3 * nv, scratch, positionOf(gap, d, side), body);
    for (int r = 0; r < 10; r++) {
      for (int i = 0; i < 6; i++) {
        mju_addToScl(jac + (size_t)r * stride, scratch + (size_t)i * nv, row[r][6 * side + i], nv);
      }
    }
  }
}

djStatus djm_gap(mjtNum value[10], mjtNum* jac, const mjModel* m, const mjData* d, mjtObj type,
                 int id1, int id2, mjtNum smoothing, djError* err) {
  djmGap* gap = NULL;
  djcGap g;
  if (!value || !m || !d) {
    if (err) snprintf(err->text, sizeof(err->text), "djm_gap: no value, model or data given");
    return DJ_INVALID;
  }
  djStatus status = djm_attach(err);
  if (status == DJ_OK) status = djm_makeGap(&gap, m, type, id1, id2, smoothing, err);
  if (status != DJ_OK) return status;
  const char* why = "";
  status = djm_evalGap(&g, gap, d);
  if (status < 0) why = "numbers too large";
  if (status >= 0) djm_gapValues(value, &g);
  if (status >= 0 && jac) {
    mjtNum* scratch = malloc(6 * (size_t)m->nv * sizeof(*scratch) + 1);
    if (scratch) {
      djm_gapJacobian(jac, (int)m->nv, scratch, &g, gap, m, d);
    } else {
      status = DJ_NO_MEMORY;
      why = "out of memory";
    }
    free(scratch);
  }
  if (err) snprintf(err->text, sizeof(err->text), "%s", why);
  djm_deleteGap(gap);
  return status;
}
