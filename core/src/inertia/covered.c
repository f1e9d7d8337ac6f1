// The covered part of a face is bounded by segments in which other solids' surfaces cross it, less
// what of these lies inside of third solids, and by what of its own edges is covered. With signed
// triangles from the face's first corner to these, two of its edges count for nothing.
//
// Segments begin and end where an edge of one solid goes through a side of the other: on its way
// out a segment begins on the face that has the edge in that direction, and one ends on the other
// face that has it. Where that does not fit together, of sides in the same plane, triangles are
// intersected two at a time.

#include "inertia/covered.h"

#include "inertia/crossing.h"

#include <stdlib.h>
#include <string.h>

// Pairs of more faces times faces are intersected triangle by triangle.
#define TABLE ((size_t)1 << 20)

typedef struct Interval {
  double low, high;
} Interval;

// A covered part of an edge.
typedef struct Part {
  Interval part;
  int next; // of the same edge, or -1
} Part;

// Where two faces cross, along the boundary of what of the first is inside of the other's solid.
typedef struct Segment {
  int face[2];
  size_t entry; // in the table
  int known;    // 1: begin, 2: end
  djVec3 end[2];
} Segment;

// A solid that two ones have near, and its side that last had a segment of theirs beyond.
typedef struct Third {
  int solid, beyond;
} Third;

typedef struct Scratch {
  const djSolids* s;
  djVec3* apex; // first corners of faces as triangles' apices
  djVec3* own;  // (2) of each solid: offset, then the scale
  int *apex_begin, *edge_begin;
  int* covered; // first part of each edge, or -1
  Part* part;
  int npart, part_room;
  int* table; // 1 + the segment of each two faces of a pair; else 0
  Segment* segment;
  int nsegment;
  bool fits;        // segments of the pair in hand have a beginning and an end each
  int* list;        // edges of a solid
  Third* third;     // of a pair
  double* box;      // (6 x room) lower and upper xyz of third solids
  int room;         // a multiple of lanes
  Interval* inside; // of a segment, in third ones, or of an edge
} Scratch;

// ------------------------------------------ intervals ------------------------------------------

// The part of a segment that is inside of a solid; false: none is.
static bool clipSegment(Interval* part, Third* third, djVec3 from, djVec3 to, const djSolid* g) {
  const size_t n = (size_t)g->nlane;
  const djHalfSpace* last = &g->side[third->beyond];
  if (dj_heightOf(last, from) > 0 && dj_heightOf(last, to) > 0) return false;
  djLanes low = dju_splat(0), high = dju_splat(1);
  for (size_t k = 0; k < n; k += DJU_LANES) {
    const djLanes x = dju_loadLanes(g->lanes + k), y = dju_loadLanes(g->lanes + n + k);
    const djLanes z = dju_loadLanes(g->lanes + 2 * n + k);
    const djLanes offset = dju_loadLanes(g->lanes + 3 * n + k);
    djLanes a = dju_fmaLanes(x, dju_splat(from.x), -offset);
    djLanes b = dju_fmaLanes(x, dju_splat(to.x), -offset);
    a = dju_fmaLanes(y, dju_splat(from.y), a);
    b = dju_fmaLanes(y, dju_splat(to.y), b);
    a = dju_fmaLanes(z, dju_splat(from.z), a);
    b = dju_fmaLanes(z, dju_splat(to.z), b);
    const unsigned out_a = dju_greaterBits(a, dju_splat(0)),
                   out_b = dju_greaterBits(b, dju_splat(0));
    if (out_a & out_b) {
      third->beyond = (int)k + __builtin_ctz(out_a & out_b);
      return false;
    }
    if (!(out_a | out_b)) continue;
    const djLanes t = a / (a - b);
    low = dju_pick((a > 0) & (t > low), t, low);
    high = dju_pick((b > 0) & (t < high), t, high);
  }
  part->low = -dju_least(-low);
  part->high = dju_least(high);
  return part->low < part->high;
}

// The same of an edge by the sides that its ends are beyond, and which sides these are, or -1.
static inline bool clipEdge(Interval* part, int side[2], djVec3 from, djVec3 to, const djSolid* g,
                            const uint64_t* from_out, const uint64_t* to_out) {
  double low = 0, high = 1;
  int in = -1, out = -1;
  for (int w = 0; w < g->nword; w++) {
    for (uint64_t bits = from_out[w]; bits; bits &= bits - 1) {
      const int k = 64 * w + __builtin_ctzll(bits);
      const double a = dj_heightOf(&g->side[k], from), b = dj_heightOf(&g->side[k], to);
      const double t = a / (a - b);
      in = t > low ? k : in;
      low = t > low ? t : low;
    }
    for (uint64_t bits = to_out[w]; bits; bits &= bits - 1) {
      const int k = 64 * w + __builtin_ctzll(bits);
      const double a = dj_heightOf(&g->side[k], from), b = dj_heightOf(&g->side[k], to);
      const double t = a / (a - b);
      out = t < high ? k : out;
      high = t < high ? t : high;
    }
  }
  *part = (Interval){low, high};
  side[0] = in;
  side[1] = out;
  return low < high;
}

// Sorts intervals and unites those that overlap; returns how many are left.
static int unite(Interval* list, int n) {
  int kept = 0;
  if (n < 2) return n;
  for (int k = 1; k < n; k++) {
    Interval x = list[k];
    int i = k;
    for (; i > 0 && list[i - 1].low > x.low; i--) list[i] = list[i - 1];
    list[i] = x;
  }
  for (int k = 0; k < n; k++) {
    if (kept > 0 && list[k].low <= list[kept - 1].high) {
      if (list[k].high > list[kept - 1].high) list[kept - 1].high = list[k].high;
    } else {
      list[kept++] = list[k];
    }
  }
  return kept;
}

// ------------------------------------------ visits ---------------------------------------------

static inline djVec3 unscaled(const djVec3 own[2], djVec3 x) {
  return (djVec3){own[1].x * x.x + own[0].x, own[1].x * x.y + own[0].y, own[1].x * x.z + own[0].z};
}

static inline void visit(djCover* c, const Scratch* w, int solid, int face, djVec3 a, djVec3 b) {
  const djVec3* own = w->own + 2 * (size_t)solid;
  a = unscaled(own, a);
  b = unscaled(own, b);
  if (c->visit)
    c->visit(c, solid, face, a, b);
  else
    dj_addCone(&c->cones, w->apex[w->apex_begin[solid] + face], a, b);
}

// Which of eight third solids have boxes that meet that of two points.
static unsigned meetBoxes(const Scratch* w, int first, djVec3 a, djVec3 b) {
  const double* box = w->box + first;
  const size_t n = (size_t)w->room;
  const djVec3 low = {a.x < b.x ? a.x : b.x, a.y < b.y ? a.y : b.y, a.z < b.z ? a.z : b.z};
  const djVec3 high = {a.x < b.x ? b.x : a.x, a.y < b.y ? b.y : a.y, a.z < b.z ? b.z : a.z};
  const unsigned apart = dju_greaterBits(dju_loadLanes(box), dju_splat(high.x)) |
                         dju_greaterBits(dju_loadLanes(box + n), dju_splat(high.y)) |
                         dju_greaterBits(dju_loadLanes(box + 2 * n), dju_splat(high.z)) |
                         dju_greaterBits(dju_splat(low.x), dju_loadLanes(box + 3 * n)) |
                         dju_greaterBits(dju_splat(low.y), dju_loadLanes(box + 4 * n)) |
                         dju_greaterBits(dju_splat(low.z), dju_loadLanes(box + 5 * n));
  return ~apart & 0xff;
}

// A segment of two solids, less what third ones have of it.
static void visitSegment(djCover* c, const Scratch* w, int i, int j, const Segment* s, int nthird) {
  const djVec3 from = s->end[0], to = s->end[1];
  int n = 0;
  for (int k = 0; k < nthird; k += DJU_LANES) {
    for (unsigned bits = meetBoxes(w, k, from, to); bits; bits &= bits - 1) {
      Third* third = &w->third[k + __builtin_ctz(bits)];
      n += clipSegment(&w->inside[n], third, from, to, &w->s->solid[third->solid]);
    }
  }
  if (n == 0) {
    visit(c, w, i, s->face[0], from, to);
    visit(c, w, j, s->face[1], to, from);
    return;
  }
  n = unite(w->inside, n);
  djVec3 along = dju_sub3(to, from);
  double at = 0;
  for (int k = 0; k <= n; k++) {
    double end = k < n ? w->inside[k].low : 1;
    if (end > at) {
      djVec3 a = dju_madd3(from, at, along), b = dju_madd3(from, end, along);
      visit(c, w, i, s->face[0], a, b);
      visit(c, w, j, s->face[1], b, a);
    }
    if (k < n) at = w->inside[k].high;
  }
}

// The box that two have in common; false: they have none.
static bool commonBox(double out[6], const double* a, const double* b) {
  bool meet = true;
  for (int k = 0; k < 3; k++) {
    out[k] = a[k] > b[k] ? a[k] : b[k];
    out[3 + k] = a[3 + k] < b[3 + k] ? a[3 + k] : b[3 + k];
    meet &= out[k] <= out[3 + k];
  }
  return meet;
}

// Solids near to both of a pair, and their boxes in lanes.
static int findThird(Scratch* w, int i, int j) {
  const djSolids* s = w->s;
  const djNear *a = s->near + s->solid[i].near_begin, *a_end = s->near + s->solid[i].near_end;
  const djNear *b = s->near + s->solid[j].near_begin, *b_end = s->near + s->solid[j].near_end;
  double common[6], shared[6];
  int n = 0;
  commonBox(common, s->box + 6 * (size_t)i, s->box + 6 * (size_t)j);
  while (a < a_end && b < b_end) {
    const int x = a->other, y = b->other;
    a += x <= y;
    b += y <= x;
    if (x != y) continue;
    const double* box = s->box + 6 * (size_t)x;
    if (!commonBox(shared, common, box)) continue;
    for (int k = 0; k < 6; k++) w->box[k * w->room + n] = box[k];
    w->third[n++] = (Third){x, 0};
  }
  for (int k = n; k % DJU_LANES != 0; k++) w->box[k] = INFINITY;
  return n;
}

// ------------------------------------------ segments -------------------------------------------

// An end of the segment of two faces, `entry` of the table; false: it has that already.
static inline bool addEnd(Scratch* w, int f, int g, size_t entry, int which, djVec3 at) {
  const int known = w->table[entry], k = known ? known - 1 : w->nsegment;
  Segment* s = &w->segment[k];
  const int ends = known ? s->known : 0;
  w->nsegment += !known;
  w->table[entry] = k + 1;
  s->face[0] = f;
  s->face[1] = g;
  s->entry = entry;
  s->known = ends | 1 << which;
  s->end[which] = at;
  return !(ends & (1 << which));
}

static djStatus growParts(Scratch* w, int n) {
  if (w->npart + n <= w->part_room) return DJ_OK;
  int room = 2 * (w->npart + n) + 1024;
  Part* part = realloc(w->part, (size_t)room * sizeof *part);
  if (!part) return DJ_NO_MEMORY;
  w->part = part;
  w->part_room = room;
  return DJ_OK;
}

// Edges that are not beyond one side, as a list; returns how many.
static int findEdges(int* list, const djSolid* g, const uint64_t* out, size_t nword) {
  int n = 0;
  for (int e = 0; e < g->nedge; e++) {
    const uint64_t* x = out + (size_t)g->edge[e].vert[0] * nword;
    const uint64_t* y = out + (size_t)g->edge[e].vert[1] * nword;
    uint64_t both = x[0] & y[0];
    for (size_t k = 1; k < nword; k++) both |= x[k] & y[k];
    list[n] = e;
    n += both == 0;
  }
  return n;
}

// What of solid i's edges is inside of a near one, and the ends of segments there. swapped: the
// near one is the first of their faces. fits becomes false where segments have an end twice.
static djStatus coverEdges(Scratch* w, int i, const djNear* near, bool swapped) {
  const djSolids* s = w->s;
  const djSolid *a = &s->solid[i], *b = &s->solid[near->other];
  const size_t nword = (size_t)b->nword;
  const size_t columns = (size_t)(swapped ? a : b)->part->nface;
  const uint64_t* out = s->bits + near->out;
  int* covered = w->covered + w->edge_begin[i];
  const int n = findEdges(w->list, a, out, nword);
  djStatus status = growParts(w, n);
  for (int m = 0; m < n && status == DJ_OK; m++) {
    const int e = w->list[m];
    const djEdge* edge = &a->edge[e];
    Interval part;
    int side[2];
    const djVec3 from = a->vert[edge->vert[0]], to = a->vert[edge->vert[1]];
    if (!clipEdge(&part, side, from, to, b, out + (size_t)edge->vert[0] * nword,
                  out + (size_t)edge->vert[1] * nword)) {
      continue;
    }
    if (edge->opposite) {
      w->part[w->npart] = (Part){part, covered[e]};
      covered[e] = w->npart++;
    }
    for (int k = 0; k < 2; k++) { // the way in, and out
      if (side[k] < 0) continue;
      const djVec3 at = dju_madd3(from, k ? part.high : part.low, dju_sub3(to, from));
      for (int r = 0; r < 2; r++) {
        const int f = edge->face[r];
        const int first = swapped ? side[k] : f, second = swapped ? f : side[k];
        if (f < 0 || !w->fits)
          w->fits = false;
        else
          w->fits = addEnd(w, first, second, (size_t)first * columns + (size_t)second,
                           k ^ r ^ !swapped, at);
      }
    }
  }
  return status;
}

// Which corners of a face are beyond a side.
static int cornersOut(const uint64_t* out, const int* corner, size_t nword, int side) {
  int bits = 0;
  for (int k = 0; k < 3; k++) {
    bits |= (int)(out[(size_t)corner[k] * nword + (size_t)(side / 64)] >> side % 64 & 1) << k;
  }
  return bits;
}

// All segments of a pair by pairs of triangles.
static void visitTriangles(djCover* c, Scratch* w, int i, int j, const uint64_t* iout,
                           const uint64_t* jout) {
  const djSolid *a = &w->s->solid[i], *b = &w->s->solid[j];
  const int nthird = findThird(w, i, j);
  for (int f = 0; f < a->part->nface; f++) {
    for (int g = 0; g < b->part->nface; g++) {
      Segment s = {.face = {f, g}};
      const int fout = cornersOut(iout, a->face + 3 * f, (size_t)b->nword, g);
      const int gout = cornersOut(jout, b->face + 3 * g, (size_t)a->nword, f);
      if (fout % 7 == 0 || gout % 7 == 0) continue;
      if (!dj_crossFaces(&s.end[0], &s.end[1], a, f, fout, b, g, gout)) continue;
      visitSegment(c, w, i, j, &s, nthird);
    }
  }
}

static const djNear* nearOf(const djSolids* s, int solid, int other) {
  const djNear* near = s->near + s->solid[solid].near_begin;
  while (near->other != other) near++;
  return near;
}

static djStatus visitPair(djCover* c, Scratch* w, int i, const djNear* near) {
  const djSolids* s = w->s;
  const int j = near->other;
  const djNear* back = nearOf(s, j, i);
  w->nsegment = 0;
  w->fits = (size_t)s->solid[i].part->nface * (size_t)s->solid[j].part->nface <= TABLE;
  const bool fits_table = w->fits;
  djStatus status = coverEdges(w, i, near, false);
  if (status == DJ_OK) status = coverEdges(w, j, back, true);
  for (int k = 0; k < w->nsegment; k++) {
    w->table[w->segment[k].entry] = 0;
    w->fits &= w->segment[k].known == 3;
  }
  if (status < 0 || (w->nsegment == 0 && fits_table)) return status;
  if (!w->fits) {
    visitTriangles(c, w, i, j, s->bits + near->out, s->bits + back->out);
    return DJ_OK;
  }
  const int nthird = findThird(w, i, j);
  for (int k = 0; k < w->nsegment; k++) visitSegment(c, w, i, j, &w->segment[k], nthird);
  return DJ_OK;
}

// ------------------------------------------ all ------------------------------------------------

static void visitEdges(djCover* c, Scratch* w, int i) {
  const djSolid* g = &w->s->solid[i];
  for (int e = 0; e < g->nedge; e++) {
    int n = 0, k = w->covered[w->edge_begin[i] + e];
    if (k < 0) continue;
    for (; k >= 0; k = w->part[k].next) w->inside[n++] = w->part[k].part;
    n = unite(w->inside, n);
    const int* v = g->edge[e].vert;
    const djVec3 from = g->vert[v[0]], to = g->vert[v[1]], along = dju_sub3(to, from);
    for (k = 0; k < n; k++) {
      const Interval x = w->inside[k];
      const djVec3 a = x.low == 0 ? from : dju_madd3(from, x.low, along);
      const djVec3 b = x.high == 1 ? to : dju_madd3(from, x.high, along);
      for (int r = 0; r < 2; r++) {
        if (!(g->edge[e].opposite >> r & 1)) continue;
        visit(c, w, i, g->edge[e].face[r], r ? b : a, r ? a : b);
      }
    }
  }
}

// x -> (x - middle)/(1 + scale) + middle - from.
static void placeOwn(djVec3 own[2], const djSolid* g, djVec3 from) {
  const double s = 1 / (1 + g->scale);
  own[0] = dju_sub3(dju_scale3(g->scale * s, g->middle), from);
  own[1] = (djVec3){s, s, s};
}

static djStatus makeScratch(Scratch* w, const djSolids* s, djVec3 from) {
  size_t near = 0, faces = 0, nedge = 0, edges = 0, table = 0;
  for (int i = 0; i < s->n; i++) {
    const djSolid* g = &s->solid[i];
    const size_t n = (size_t)g->part->nface, most = (size_t)(g->near_end - g->near_begin);
    nedge = (size_t)g->nedge > nedge ? (size_t)g->nedge : nedge;
    near = most > near ? most : near;
    for (int k = g->near_begin; k < g->near_end; k++) {
      const size_t size = n * (size_t)s->solid[s->near[k].other].part->nface;
      table = size > table && size <= TABLE ? size : table;
    }
    faces += n;
    edges += (size_t)g->nedge;
  }
  *w = (Scratch){.s = s,
                 .apex = malloc((faces + 1) * sizeof *w->apex),
                 .own = malloc((2 * (size_t)s->n + 1) * sizeof *w->own),
                 .apex_begin = malloc((2 * (size_t)s->n + 1) * sizeof *w->apex_begin),
                 .covered = malloc((edges + 1) * sizeof *w->covered),
                 .table = calloc(table + 1, sizeof *w->table),
                 .segment = malloc((8 * nedge + 1) * sizeof *w->segment),
                 .list = malloc((nedge + 1) * sizeof *w->list),
                 .third = malloc((near + 1) * sizeof *w->third),
                 .inside = malloc((near + 1) * sizeof *w->inside)};
  w->edge_begin = w->apex_begin + s->n;
  w->room = ((int)near + DJU_LANES) / DJU_LANES * DJU_LANES;
  w->box = calloc(6 * (size_t)w->room, sizeof *w->box);
  if (!w->apex || !w->own || !w->apex_begin || !w->covered || !w->table || !w->segment ||
      !w->list || !w->third || !w->box || !w->inside) {
    return DJ_NO_MEMORY;
  }
  memset(w->covered, -1, edges * sizeof *w->covered);
  for (int i = 0, face = 0, edge = 0; i < s->n; i++) {
    const djSolid* g = &s->solid[i];
    placeOwn(w->own + 2 * i, g, from);
    w->apex_begin[i] = face;
    w->edge_begin[i] = edge;
    edge += g->nedge;
    for (int f = 0; f < g->part->nface; f++) {
      w->apex[face++] = unscaled(w->own + 2 * i, g->vert[g->face[3 * f]]);
    }
  }
  return DJ_OK;
}

static void freeScratch(Scratch* w) {
  free(w->apex);
  free(w->own);
  free(w->apex_begin);
  free(w->covered);
  free(w->part);
  free(w->table);
  free(w->segment);
  free(w->list);
  free(w->third);
  free(w->box);
  free(w->inside);
}

djStatus dj_visitCovered(djCover* c, const djSolids* s) {
  Scratch w;
  djStatus status = makeScratch(&w, s, c->from);
  for (int i = 0; i < s->n && status == DJ_OK; i++) {
    for (int k = s->solid[i].near_begin; k < s->solid[i].near_end && status == DJ_OK; k++) {
      if (s->near[k].other > i) status = visitPair(c, &w, i, &s->near[k]);
    }
  }
  for (int i = 0; i < s->n && status == DJ_OK; i++) visitEdges(c, &w, i);
  freeScratch(&w);
  return status;
}
