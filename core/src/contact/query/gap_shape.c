#include "contact/query/gap_shape.h"

#include "base/status.h"
#include "contact/query/query_shape.h"

#include <stdlib.h>

#define SHARE 2e-3          // default smoothing, of the least inner radius
#define DIRECTIONS 1000     // of a hull, in which its soft maximum is measured

// Vertices and erosion vectors: of the hull if there is one, else as given. mem: 6 npad.
static void fillVertices(djShape* out, double* mem, const djHull* hull, const djcShape* s,
                         const djPose* pose) {
  int n = out->nvert;
  for (int i = 0; i < out->npad; i++) {
    int j = i < n ? i : 0;
    djVec3 x, move = {0, 0, 0};
    if (s->nvert > 0) {
      x = dju_load3(hull->buffer ? hull->vert + 3 * (size_t)j : s->vert + 3 * (size_t)j);
      if (hull->buffer) move = dju_load3(hull->move + 3 * (size_t)j);
      else x = dju_add3(x, pose->p);
    } else {
      dj_geomVertex(&x, &move, dj_geomRow((int)s->geom), s->size, j);
      x = dju_transform(pose, x);
      move = dju_mulMV(pose->R, move);
    }
    const double y[6] = {x.x, x.y, x.z, move.x, move.y, move.z};
    for (int k = 0; k < 6; k++) mem[k * out->npad + i] = y[k];
  }
  for (int k = 0; k < 3; k++) {
    out->vert[k] = mem + k * out->npad;
    out->move[k] = mem + (3 + k) * out->npad;
  }
  dj_centerShape(out);
}

// Radius of the largest ball inside; 0: none.
static double innerRadius(const djcShape* s, const djHull* hull) {
  double by[3];
  if (s->nvert > 0) return s->radius + (hull->buffer ? hull->inner : 0);
  return dj_geomRow((int)s->geom)->inner(by, s->size);
}

// Vertices relative to origin, which keep the digits of shapes that are far away.
static djStatus makeHull(djHull* hull, const djcShape* s, const double origin[3], djError* err) {
  if (s->nvert < 4) return DJ_OK;
  double* vert = malloc(3 * (size_t)s->nvert * sizeof(double));
  if (!vert) return dj_failMemory(err);
  for (int i = 0; i < 3 * s->nvert; i++) vert[i] = s->vert[i] - origin[i % 3];
  djStatus status = dj_makeHull(hull, s->nvert, vert, 0, NULL, err);
  free(vert);
  return status == DJ_INVALID ? DJ_OK : status;   // flat
}

// The shape as given, in axes of the frame and relative to origin.
static djStatus makeShape(djShape* out, djHull* hull, djPool* pool, const djcShape* s,
                          const double origin[3], djError* err) {
  djPose pose = {dju_sub3(dju_load3(s->pos), dju_load3(origin)),
                 dju_quatToMat(dju_normalizeQuat(dju_loadQuat(s->quat)))};
  out->type = s->nvert > 0 ? DJ_MESH : s->geom;
  out->nvert = dj_queryVertices(s);
  if (out->nvert == 0) {
    out->type = DJ_PLANE;
    out->normal = dju_column(&pose.R, 2);
    out->offset = dju_dot3(out->normal, pose.p);
    out->inner = INFINITY;
    return DJ_OK;
  }
  if (s->nvert > 0) {
    pose.p = dju_neg3(dju_load3(origin));
    djStatus status = makeHull(hull, s, origin, err);
    if (status < 0) return status;
    if (hull->buffer) {
      out->nvert = hull->nvert;
    }
  }
  out->npad = dj_paddedCount(out->nvert);
  dj_roundQuery(out, s, pose.R);
  out->inner = innerRadius(s, hull);
  double* mem = dj_poolTake(pool, 6 * (size_t)out->npad, sizeof(double));
  if (!mem) return dj_failMemory(err);
  fillVertices(out, mem, hull, s, &pose);
  return DJ_OK;
}

// Walks over the vertices of a hull that are near a supporting plane.
typedef struct Walk {
  const djHull* hull;
  int* seen;               // (nvert) the walk in which a vertex was seen last
  int* stack;              // (nvert)
  int count;               // walks so far
} Walk;

static double along(const djHull* hull, djVec3 u, int i) {
  return dju_dot3(u, dju_load3(hull->vert + 3 * (size_t)i));
}

// Climbs along edges from vertex i to the farthest one in direction u.
static int farthest(const djHull* hull, djVec3 u, int i) {
  for (double top = along(hull, u, i);;) {
    int best = i;
    for (int k = hull->adjadr[i]; k < hull->adjadr[i + 1]; k++) {
      double x = along(hull, u, hull->adj[k]);
      if (!(x > top)) continue;
      top = x;
      best = hull->adj[k];
    }
    if (best == i) return i;
    i = best;
  }
}

// sum exp(-depth/t) over vertices below the supporting plane with normal u, from a vertex near it.
// What is above a plane is connected by edges.
static double crowdAt(Walk* w, djVec3 u, int start, double t) {
  const djHull* hull = w->hull;
  int n = 1, stamp = ++w->count;
  start = farthest(hull, u, start);
  double top = along(hull, u, start), sum = 0;
  w->stack[0] = start;
  w->seen[start] = stamp;
  while (n > 0) {
    int i = w->stack[--n];
    sum += exp((along(hull, u, i) - top) / t);
    for (int k = hull->adjadr[i]; k < hull->adjadr[i + 1]; k++) {
      int next = hull->adj[k];
      if (w->seen[next] == stamp || top - along(hull, u, next) > 20 * t) continue;
      w->seen[next] = stamp;
      w->stack[n++] = next;
    }
  }
  return sum;
}

// Vertices of the flat facet that has most of them. count: (nface) zeros.
static int largestFacet(const djHull* hull, int* count) {
  int most = 3;
  for (int f = 0; f < hull->nface; f++) {
    int vertices = ++count[hull->group[f]] + 2;
    if (vertices > most) most = vertices;
  }
  return most;
}

// What the soft maximum over all vertices comes to at most, as a number of vertices, with t that
// belongs to those of one facet: over the normals of facets and the directions of vertices, or some
// of them evenly spread in their lists where they are many.
static djStatus crowd(double* most, const djHull* hull, double smoothing, djError* err) {
  size_t n = (size_t)hull->nvert, nf = (size_t)hull->nface;
  int* memory = calloc(2 * n + nf, sizeof *memory);
  if (!memory) return dj_failMemory(err);
  Walk w = {hull, memory, memory + n, 0};
  *most = largestFacet(hull, memory + 2 * n);
  double t = 0.5 * smoothing / log(*most), sum;
  int stride = 1 + (hull->nface + hull->nvert) / DIRECTIONS;
  for (int f = 0; f < hull->nface; f += stride) {
    sum = crowdAt(&w, dju_load3(hull->plane + 4 * (size_t)f), hull->face[3 * (size_t)f], t);
    *most = fmax(*most, sum);
  }
  for (int i = 0; i < hull->nvert; i += stride) {
    djVec3 m = dju_load3(hull->move + 3 * (size_t)i);
    sum = crowdAt(&w, dju_scale3(1 / dju_norm3(m), m), i, t);
    *most = fmax(*most, sum);
  }
  free(memory);
  return DJ_OK;
}

static djStatus faceCount(double* n, const djShape* shape, const djHull* hull, double smoothing,
                          djError* err) {
  int facet = dj_geomRow(shape->type)->facet;
  *n = fmax(2, facet > 0 ? facet : shape->nvert);
  if (!hull->buffer || !(smoothing > 0)) return DJ_OK;
  return crowd(n, hull, fmin(smoothing, 0.5 * shape->inner), err);
}

djStatus dj_makeGapSide(djGapSide* side, djPool* pool, int n, const djcShape* s, char name,
                        const double origin[3], djError* err) {
  if (n < 1 || !s) return dj_fail(err, DJ_INVALID, "%c: no shapes", name);
  side->shape = dj_poolTake(pool, n, sizeof(djShape));
  side->soft = dj_poolTake(pool, n, sizeof(djSoft));
  side->hull = dj_poolTake(pool, n, sizeof(djHull));
  if (!side->shape || !side->soft || !side->hull) return dj_failMemory(err);
  side->n = n;
  for (int i = 0; i < n; i++) {
    djStatus status = dj_checkQueryShape(s + i, name, err);
    if (!status) {
      status = makeShape(side->shape + i, side->hull + i, pool, s + i, origin, err);
    }
    if (status) return status;
  }
  return DJ_OK;
}

// Size of a shape for the default smoothing.
static double sizeOf(const djShape* s) {
  if (s->inner > 0) return s->inner;
  return s->bound > 0 ? s->bound : INFINITY;
}

void dj_freeGapSide(djGapSide* side) {
  for (int i = 0; i < side->n; i++) dj_freeHull(side->hull + i);
}

double dj_defaultSmoothing(const djGapSide side[2]) {
  double least = INFINITY;
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < side[k].n; i++) least = fmin(least, sizeOf(side[k].shape + i));
  }
  return isfinite(least) ? SHARE * least : 1;   // points and planes are not smoothed at all
}

djStatus dj_softenSide(djGapSide* side, djPool* pool, double smoothing, djError* err) {
  for (int i = 0; i < side->n; i++) {
    const djShape* s = side->shape + i;
    double* mem = dj_poolTake(pool, 4 * (size_t)s->npad, sizeof(double));
    if (!mem) return dj_failMemory(err);
    double nface;
    djStatus status = faceCount(&nface, s, side->hull + i, smoothing, err);
    if (status < 0) return status;
    dj_softenShape(side->soft + i, mem, s, nface, smoothing);
  }
  return DJ_OK;
}
