// Components, tunnels and cavities of what a body's geoms fill, on a lattice of cells.
//
// The closed solid cells are a complex of V vertices, E edges, F faces and C cells, and
//   V - E + F - C = components - tunnels + cavities.
// Components are those of cells that share a corner, cavities are components of the rest, whose
// cells share a face, but for the one outside.
//
// Where geoms cross at a slant, cells beside the crossing touch or not as it happens, which makes
// tunnels of a cell's width. The geoms, which are convex, have no more than their nerve has loops.

#include <dijoco/topology.h>

#include "base/pool.h"
#include "base/status.h"
#include "contact/contact.h"
#include "scene/nerve.h"
#include "shape/hull.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_CELLS (1 << 26)
#define OUTSIDE 1e-6 // m, that a centre may lie outside: faces of neighbours coincide
enum { RING = 32, ABOUT = 256 }; // planes of a polyhedron about a round geom
#define SHIFT 2.3183 // cells, from the lattice's begin to the body: no multiple of a half

typedef struct Solid {
  int type;           // djGeom
  djPose pose;        // in the body's frame
  const double* size; // (3)
  int nplane;         // of a hull or box; of others where their nerve is wanted
  double* plane;      // (nplane x 4) outward, in the body's frame
  djVec3 low, high;   // box, body's frame
} Solid;

typedef struct Lattice {
  int n[3]; // cells, with an empty rim
  double cell;
  djVec3 low;
  unsigned char* solid; // (n[2] x n[1] x n[0])
  int* queue;           // as many
} Lattice;

// ------------------------------------------ solids ---------------------------------------------

static void widen(Solid* s, djVec3 x) {
  s->low = dju_vec3(fmin(s->low.x, x.x), fmin(s->low.y, x.y), fmin(s->low.z, x.z));
  s->high = dju_vec3(fmax(s->high.x, x.x), fmax(s->high.y, x.y), fmax(s->high.z, x.z));
}

// By the hull that contact has where there is one.
static djStatus readHull(Solid* s, djPool* pool, const djModel* m, int geom, djError* err) {
  const int mesh = m->geom_mesh[geom];
  const djHull* hull = m->collision ? &m->collision->hull[mesh] : NULL;
  djHull own = {0};
  if (!hull || !hull->buffer) {
    const double* vert = m->mesh_vert + 3 * (size_t)m->mesh_vertadr[mesh];
    const djStatus status = dj_makeHull(&own, m->mesh_vertnum[mesh], vert, 0, NULL, err);
    if (status < 0) return status;
    hull = &own;
  }
  s->plane = dj_poolTake(pool, 4 * (size_t)hull->nface, sizeof(double));
  for (int f = 0; f < hull->nface && s->plane; f++) {
    if (hull->group[f] != f) continue;
    double* plane = s->plane + 4 * (size_t)s->nplane++;
    djVec3 n = dju_mulMV(s->pose.R, dju_load3(hull->plane + 4 * (size_t)f));
    dju_store3(plane, n);
    plane[3] = hull->plane[4 * (size_t)f + 3] + dju_dot3(n, s->pose.p);
  }
  for (int i = 0; i < hull->nvert; i++) {
    widen(s, dju_transform(&s->pose, dju_load3(hull->vert + 3 * (size_t)i)));
  }
  if (hull == &own) dj_freeHull(&own);
  return s->plane ? DJ_OK : dj_failMemory(err);
}

// Half the length of a primitive along its axes; false: it does not count.
static bool halfOf(double half[3], int type, const double* size) {
  memcpy(half, size, 3 * sizeof *half);
  if (type == DJ_SPHERE) half[1] = half[2] = size[0];
  if (type == DJ_CAPSULE || type == DJ_CYLINDER) {
    half[1] = size[0];
    half[2] = size[1] + (type == DJ_CAPSULE ? size[0] : 0);
  }
  return type == DJ_SPHERE || type == DJ_CAPSULE || type == DJ_CYLINDER || type == DJ_BOX ||
         type == DJ_ELLIPSOID;
}

static bool boxPlanes(Solid* s, djPool* pool) {
  s->nplane = 6;
  s->plane = dj_poolTake(pool, 24, sizeof(double));
  for (int k = 0; k < 6 && s->plane; k++) {
    djVec3 n = dju_mulMV(s->pose.R, dju_vec3(k / 2 == 0, k / 2 == 1, k / 2 == 2));
    if (k & 1) n = dju_scale3(-1, n);
    dju_store3(s->plane + 4 * k, n);
    s->plane[4 * k + 3] = s->size[k / 2] + dju_dot3(n, s->pose.p);
  }
  return s->plane;
}

// *there: the geom counts.
static djStatus readSolid(bool* there, Solid* s, djPool* pool, const djModel* m, int geom,
                          djError* err) {
  double half[3];
  *s = (Solid){.type = m->geom_type[geom],
               .size = m->geom_size + 3 * (size_t)geom,
               .low = {INFINITY, INFINITY, INFINITY},
               .high = {-INFINITY, -INFINITY, -INFINITY}};
  s->pose = (djPose){dju_load3(m->geom_pos + 3 * (size_t)geom),
                     dju_quatToMat(dju_loadQuat(m->geom_quat + 4 * (size_t)geom))};
  *there = true;
  if (s->type == DJ_MESH) return readHull(s, pool, m, geom, err);
  *there = halfOf(half, s->type, s->size);
  if (s->type == DJ_BOX && !boxPlanes(s, pool)) return dj_failMemory(err);
  for (int k = 0; k < 8 && *there; k++) {
    widen(s,
          dju_transform(&s->pose, dju_vec3(k & 1 ? half[0] : -half[0], k & 2 ? half[1] : -half[1],
                                           k & 4 ? half[2] : -half[2])));
  }
  return DJ_OK;
}

// Of a primitive.
static bool holds(const Solid* s, djVec3 x) {
  djVec3 y = dju_untransform(&s->pose, x);
  const double* a = s->size;
  double radius = hypot(y.x, y.y);
  switch (s->type) {
    case DJ_SPHERE:
      return dju_norm3(y) <= a[0] + OUTSIDE;
    case DJ_CYLINDER:
      return radius <= a[0] + OUTSIDE && fabs(y.z) <= a[1] + OUTSIDE;
    case DJ_CAPSULE:
      return hypot(radius, fmax(fabs(y.z) - a[1], 0)) <= a[0] + OUTSIDE;
    case DJ_BOX:
      return fabs(y.x) <= a[0] + OUTSIDE && fabs(y.y) <= a[1] + OUTSIDE &&
             fabs(y.z) <= a[2] + OUTSIDE;
    default:
      return dju_norm3(dju_vec3(y.x / a[0], y.y / a[1], y.z / a[2])) <= 1;
  }
}

// ------------------------------------------ cells ----------------------------------------------

static size_t at(const Lattice* l, int i, int j, int k) {
  return ((size_t)k * (size_t)l->n[1] + (size_t)j) * (size_t)l->n[0] + (size_t)i;
}

static djStatus makeLattice(Lattice* l, djPool* pool, const Solid* solid, int n, double cell,
                            djError* err) {
  Solid all = solid[0];
  for (int k = 1; k < n; k++) {
    widen(&all, solid[k].low);
    widen(&all, solid[k].high);
  }
  double low[3], high[3], count = 1, longest = 0;
  dju_store3(low, all.low);
  dju_store3(high, all.high);
  for (int k = 0; k < 3; k++) longest = fmax(longest, high[k] - low[k]);
  l->cell = cell > 0 ? cell : longest / 100;
  for (int k = 0; k < 3; k++) {
    double cells = ceil((high[k] - low[k]) / l->cell) + 5;
    count *= cells;
    if (!(count <= MOST_CELLS)) {
      return dj_fail(err, DJ_INVALID, "a body's lattice: cells of %g m are too many", l->cell);
    }
    l->n[k] = (int)cells;
    low[k] -= SHIFT * l->cell;
  }
  l->low = dju_load3(low);
  l->solid = dj_poolTake(pool, (size_t)count, 1);
  l->queue = dj_poolTake(pool, (size_t)count, sizeof *l->queue);
  return l->solid && l->queue ? DJ_OK : dj_failMemory(err);
}

static djVec3 centreOf(const Lattice* l, int i, int j, int k) {
  return dju_madd3(l->low, l->cell, dju_vec3(i + 0.5, j + 0.5, k + 0.5));
}

// Cells first..last-1 of a row along x whose centres a hull holds, of those from..to.
static void clipRow(int* first, int* last, const Lattice* l, const Solid* s, int from, int to,
                    int j, int k) {
  const djVec3 start = centreOf(l, 0, j, k);
  double low = from, high = to;
  for (int f = 0; f < s->nplane && low <= high; f++) {
    const double* plane = s->plane + 4 * (size_t)f;
    const double room = plane[3] + OUTSIDE - dju_dot3(dju_load3(plane), start);
    const double slope = plane[0] * l->cell; // slope i <= room
    if (slope > 0)
      high = fmin(high, room / slope);
    else if (slope < 0)
      low = fmax(low, room / slope);
    else if (room < 0)
      high = low - 1;
  }
  *first = (int)ceil(low);
  *last = low <= high ? (int)floor(high) + 1 : *first;
}

static void fillSolid(Lattice* l, const Solid* s) {
  djVec3 a = dju_scale3(1 / l->cell, dju_sub3(s->low, l->low));
  djVec3 b = dju_scale3(1 / l->cell, dju_sub3(s->high, l->low));
  for (int k = (int)a.z - 1; k <= (int)b.z + 1; k++) {
    for (int j = (int)a.y - 1; j <= (int)b.y + 1; j++) {
      int first = (int)a.x - 1, last = (int)b.x + 2;
      if (s->type == DJ_MESH) clipRow(&first, &last, l, s, first, last - 1, j, k);
      for (int i = first; i < last; i++) {
        if (s->type == DJ_MESH || holds(s, centreOf(l, i, j, k))) l->solid[at(l, i, j, k)] = 1;
      }
    }
  }
}

// Which of the eight cells at the lower corner of cell i, j, k are solid: bit 1, 2, 4: lower in x,
// y, z.
static int cornerOf(const Lattice* l, int i, int j, int k) {
  int bits = 0;
  for (int c = 0; c < 8; c++) {
    int solid = l->solid[at(l, i - (c & 1), j - (c >> 1 & 1), k - (c >> 2 & 1))];
    if (solid) bits |= 1 << c;
  }
  return bits;
}

// V - E + F - C, each counted at its lower corner.
static long eulerOf(const Lattice* l) {
  long sum = 0;
  for (int k = 1; k < l->n[2]; k++) {
    for (int j = 1; j < l->n[1]; j++) {
      for (int i = 1; i < l->n[0]; i++) {
        int bits = cornerOf(l, i, j, k);
        if (!bits) continue;
        // Cells that touch an edge along x are those of bits 0, 2, 4, 6 (not lower in x), and so
        // on; a face is between two cells.
        sum += 1 - !!(bits & 0x55) - !!(bits & 0x33) - !!(bits & 0x0f);
        sum += !!(bits & 0x11) + !!(bits & 0x05) + !!(bits & 0x03) - (bits & 1);
      }
    }
  }
  return sum;
}

// The row's cells about c that have a value get the other one and join the queue, as first and
// last.
static int pushRun(Lattice* l, int end, int c, unsigned char value, unsigned char done) {
  int first = c, last = c;
  while (l->solid[first - 1] == value) first--;
  while (l->solid[last + 1] == value) last++;
  memset(l->solid + first, done, (size_t)(last - first + 1));
  l->queue[end] = first;
  l->queue[end + 1] = last;
  return end + 2;
}

// Components of the cells that have a value, which then have another one. corners: cells that share
// a corner are neighbours, else those that share a face. None has the value in the lattice's rim.
static int countComponents(Lattice* l, unsigned char value, unsigned char done, bool corners) {
  const int nx = l->n[0], ny = l->n[1], all = nx * ny * l->n[2], beside = corners ? 1 : 0;
  int count = 0, n = 0, row[8];
  for (int d = 0; d < 9; d++) {
    const int j = d % 3 - 1, k = d / 3 - 1, apart = abs(j) + abs(k);
    if (apart == 1 || (corners && apart == 2)) row[n++] = (k * ny + j) * nx;
  }
  for (int start = 0; start < all; start++) {
    if (l->solid[start] != value) continue;
    int end = pushRun(l, 0, start, value, done);
    count++;
    while (end > 0) {
      const int last = l->queue[--end] + beside, first = l->queue[--end] - beside;
      for (int d = 0; d < n; d++) {
        for (int c = first + row[d]; c <= last + row[d]; c++) {
          if (l->solid[c] == value) end = pushRun(l, end, c, value, done);
        }
      }
    }
  }
  return count;
}

// The rim belongs to the outside, and so does the layer below it, which is empty.
static void markRim(Lattice* l, unsigned char mark) {
  const int nx = l->n[0], ny = l->n[1], nz = l->n[2];
  for (int k = 0; k < nz; k++) {
    for (int j = 0; j < ny; j++) {
      const bool inner = k > 0 && k < nz - 1 && j > 0 && j < ny - 1;
      for (int i = 0; i < nx; i += inner ? nx - 1 : 1) l->solid[at(l, i, j, k)] = mark;
    }
  }
}

// How far a round geom reaches along n, in its frame.
static double reachOf(const Solid* s, djVec3 n) {
  const double* a = s->size;
  switch (s->type) {
    case DJ_SPHERE:
      return a[0];
    case DJ_CYLINDER:
      return a[0] * hypot(n.x, n.y) + a[1] * fabs(n.z);
    case DJ_CAPSULE:
      return a[0] + a[1] * fabs(n.z);
    default:
      return dju_norm3(dju_vec3(a[0] * n.x, a[1] * n.y, a[2] * n.z));
  }
}

// Direction i of a polyhedron about a round geom: its axis, round it, and all about, where an
// ellipsoid has those of a ball. Its corners stand out by a hundredth of the radius.
static djVec3 directionOf(const Solid* s, int i) {
  if (i < 2) return dju_vec3(0, 0, i ? 1 : -1);
  if (i < 2 + RING) return dju_vec3(cos(2 * M_PI * i / RING), sin(2 * M_PI * i / RING), 0);
  const double z = 1 - (2 * (i - 2 - RING) + 1) / (double)ABOUT, turn = 2.399963229728653 * i;
  djVec3 n = dju_vec3(sqrt(1 - z * z) * cos(turn), sqrt(1 - z * z) * sin(turn), z);
  if (s->type == DJ_ELLIPSOID) n = dju_vec3(n.x / s->size[0], n.y / s->size[1], n.z / s->size[2]);
  return dju_scale3(1 / dju_norm3(n), n);
}

static bool roundPlanes(Solid* s, djPool* pool) {
  s->nplane = 2 + RING + ABOUT;
  s->plane = dj_poolTake(pool, 4 * (size_t)s->nplane, sizeof(double));
  for (int i = 0; i < s->nplane && s->plane; i++) {
    const djVec3 n = directionOf(s, i), turned = dju_mulMV(s->pose.R, n);
    dju_store3(s->plane + 4 * (size_t)i, turned);
    s->plane[4 * (size_t)i + 3] = reachOf(s, n) + dju_dot3(turned, s->pose.p);
  }
  return s->plane;
}

// Tunnels are no more than loops of the nerve, grown by half a cell.
static djStatus limitGenus(djTopology* topology, djPool* pool, Solid* solid, int n, double cell,
                           djError* err) {
  djNervePart* part = dj_poolTake(pool, (size_t)n, sizeof *part);
  int loops;
  for (int k = 0; part && k < n; k++) {
    Solid* s = &solid[k];
    if (!s->plane && !roundPlanes(s, pool)) return dj_failMemory(err);
    part[k] = (djNervePart){s->nplane, s->plane, s->low, s->high};
  }
  if (!part || dj_nerveLoops(&loops, pool, n, part, 0.5 * cell) < 0) return dj_failMemory(err);
  if (loops < topology->genus) topology->genus = loops;
  return DJ_OK;
}

static djStatus measure(djTopology* topology, djPool* pool, const djModel* m, int body, double cell,
                        djError* err) {
  const int first = m->body_geomadr[body], count = m->body_geomnum[body];
  Solid* solid = dj_poolTake(pool, (size_t)count, sizeof *solid);
  Lattice l = {0};
  if (!solid) return dj_failMemory(err);
  int n = 0;
  for (int g = first; g < first + count; g++) {
    bool there;
    djStatus status = readSolid(&there, &solid[n], pool, m, g, err);
    if (status < 0) return status;
    n += there;
  }
  if (n == 0) return dj_fail(err, DJ_INVALID, "body #%d has no geom that fills anything", body);
  djStatus status = makeLattice(&l, pool, solid, n, cell, err);
  if (status < 0) return status;
  for (int k = 0; k < n; k++) fillSolid(&l, &solid[k]);
  long cells = 0, all = (long)l.n[0] * l.n[1] * l.n[2];
  for (long c = 0; c < all; c++) cells += l.solid[c];
  long euler = eulerOf(&l);
  markRim(&l, 3);
  topology->components = countComponents(&l, 1, 2, true);
  topology->cavities = countComponents(&l, 0, 3, false) - 1;
  topology->genus = (int)(topology->components + topology->cavities - euler);
  topology->volume = (double)cells * l.cell * l.cell * l.cell;
  return topology->genus > 0 ? limitGenus(topology, pool, solid, n, l.cell, err) : DJ_OK;
}

djStatus dj_bodyTopology(djTopology* topology, const djModel* m, int body, double cell,
                         djError* err) {
  if (!topology || !m || body < 0 || body >= m->nbody || !(cell >= 0) || !isfinite(cell)) {
    return dj_fail(err, DJ_INVALID, "dj_bodyTopology: bad argument");
  }
  djPool pool = {0};
  djStatus status = measure(topology, &pool, m, body, cell, err);
  dj_poolFree(&pool);
  return status;
}
