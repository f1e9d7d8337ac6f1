// The covered part of a face is bounded by segments in which other solids' surfaces cross it, less
// what of these lies inside of third solids, and by what of its own edges is covered. With signed
// triangles from the face's first corner to these, two of its edges count for nothing.
//
// Two triangles cross where each has corners on both sides of the other's plane, in the interval
// of the planes' line that is inside of both: from the later one of two beginnings to the earlier
// one of two ends. Each of these is a point where an edge goes through a plane, found by the heights
// of the edge's ends, so that triangles with an edge in common have the same.

#include "inertia/covered.h"

#include <stdlib.h>

typedef struct Interval {
  double low, high;
} Interval;

// A third solid that two ones have near.
typedef struct Third {
  int solid;
  const uint64_t *a, *b;   // faces of the two that may enter it
} Third;

typedef struct Scratch {
  const djSolids* s;
  djVec3* own;             // (2) of each solid: offset, then the scale
  Interval* covered;       // (faces, near) of the opposite edges of a solid's faces
  int* ncovered;           // (faces)
  uint64_t* cut;           // faces of the other solid that cross the plane of each face
  Third* third;
  Interval* inside;        // of a segment, in third ones
} Scratch;

// ------------------------------------------ intervals ------------------------------------------

// Narrows the part of a segment that is inside of a solid; false: none is.
static bool clipSegment(Interval* part, djVec3 from, djVec3 to, const djSolid* g) {
  const size_t n = (size_t)g->nlane;
  djLanes low = dju_splat(part->low), high = dju_splat(part->high);
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
    const djMask out_a = a > 0, out_b = b > 0;
    if (dju_any(out_a & out_b)) return false;
    const djLanes t = a / (a - b);
    low = dju_pick(out_a & (t > low), t, low);
    high = dju_pick(out_b & (t < high), t, high);
  }
  part->low = -dju_least(-low);
  part->high = dju_least(high);
  return part->low < part->high;
}

// Sorts intervals and unites those that overlap; returns how many are left.
static int unite(Interval* list, int n) {
  int kept = 0;
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

static djVec3 unscaled(const djVec3 own[2], djVec3 x) {
  return (djVec3){own[1].x * x.x + own[0].x, own[1].x * x.y + own[0].y, own[1].x * x.z + own[0].z};
}

static inline void visit(djCover* c, const Scratch* w, int solid, int face, djVec3 a, djVec3 b) {
  const djSolid* g = &w->s->solid[solid];
  const djVec3* own = w->own + 2 * (size_t)solid;
  a = unscaled(own, a);
  b = unscaled(own, b);
  if (c->visit) {
    c->visit(c, solid, face, a, b);
    return;
  }
  dj_addCone(&c->cones, unscaled(own, g->vert[g->face[3 * face]]), a, b);
}

// A segment of face f of one solid and g of another, less what third ones have of it.
static void visitSegment(djCover* c, const Scratch* w, const int solid[2], const int face[2],
                         djVec3 from, djVec3 to, int nthird) {
  int n = 0;
  for (int k = 0; k < nthird; k++) {
    const Third* t = &w->third[k];
    Interval part = {0, 1};
    if (!dj_hasBit(t->a, face[0]) || !dj_hasBit(t->b, face[1])) continue;
    if (clipSegment(&part, from, to, &w->s->solid[t->solid])) w->inside[n++] = part;
  }
  if (n == 0) {
    visit(c, w, solid[0], face[0], from, to);
    visit(c, w, solid[1], face[1], to, from);
    return;
  }
  n = unite(w->inside, n);
  djVec3 along = dju_sub3(to, from);
  double at = 0;
  for (int k = 0; k <= n; k++) {
    double end = k < n ? w->inside[k].low : 1;
    if (end > at) {
      djVec3 a = dju_madd3(from, at, along), b = dju_madd3(from, end, along);
      visit(c, w, solid[0], face[0], a, b);
      visit(c, w, solid[1], face[1], b, a);
    }
    if (k < n) at = w->inside[k].high;
  }
}

// ------------------------------------------ segments -------------------------------------------

// Where an edge goes through a plane.
typedef struct Crossing {
  const djVec3 *in, *out;
  double t;
} Crossing;

static inline double heightOf(const djHalfSpace* h, djVec3 x) {
  return fma(h->normal.z, x.z, fma(h->normal.y, x.y, fma(h->normal.x, x.x, -h->offset)));
}

static inline double coordinate(const Crossing* c, int axis) {
  const double in = (&c->in->x)[axis], out = (&c->out->x)[axis];
  return in + c->t * (out - in);
}

static inline djVec3 pointAt(const Crossing* c) {
  return dju_madd3(*c->in, c->t, dju_sub3(*c->out, *c->in));
}

// The boundary of what of a triangle is inside of a half space runs along the plane from `begin` to
// `end`. out: which of its corners are outside, one or two.
static inline void crossPlane(Crossing* begin, Crossing* end, const djSolid* g, int face, int out,
                              const djHalfSpace* h) {
  static const signed char odd[8] = {0, 0, 1, 2, 2, 1, 0, 0};
  static const signed char next[3] = {1, 2, 0}, last[3] = {2, 0, 1};
  const int* corner = g->face + 3 * face;
  const int k = odd[out];
  const djVec3 *x = &g->vert[corner[k]], *y = &g->vert[corner[next[k]]];
  const djVec3* z = &g->vert[corner[last[k]]];
  const double a = heightOf(h, *x), b = heightOf(h, *y), c = heightOf(h, *z);
  if (out & (out - 1)) { // two: x is inside
    *begin = (Crossing){x, y, a / (a - b)};
    *end = (Crossing){x, z, a / (a - c)};
  } else {
    *begin = (Crossing){z, x, c / (c - a)};
    *end = (Crossing){y, x, b / (b - a)};
  }
}

// Whether a triangle's face and another's cross, and from where to where: along the boundary of what
// of the first is inside of the second.
static inline bool crossFaces(djVec3* from, djVec3* to, const djSolid* a, int f, int fout,
                              const djSolid* b, int g, int gout) {
  Crossing begin, end, other_begin, other_end;
  const djHalfSpace *ha = &a->side[f], *hb = &b->side[g];
  crossPlane(&begin, &end, a, f, fout, hb);
  crossPlane(&other_end, &other_begin, b, g, gout, ha);
  const djVec3 d = dju_cross3(ha->normal, hb->normal);
  const double x = fabs(d.x), y = fabs(d.y), z = fabs(d.z);
  const int axis = x > y ? (x > z ? 0 : 2) : (y > z ? 1 : 2);
  const double sign = (&d.x)[axis] > 0 ? 1 : -1;
  double low = sign * coordinate(&begin, axis), high = sign * coordinate(&end, axis);
  double other_low = sign * coordinate(&other_begin, axis);
  double other_high = sign * coordinate(&other_end, axis);
  const bool later = other_low > low, earlier = other_high < high;
  low = later ? other_low : low;
  high = earlier ? other_high : high;
  if (!(low < high)) return false;
  *from = pointAt(later ? &other_begin : &begin);
  *to = pointAt(earlier ? &other_end : &end);
  return true;
}

// Which corners of a face are beyond a side.
static inline int cornersOut(const uint64_t* out, const int* corner, size_t nword, int side) {
  const uint64_t* word = out + side / 64;
  const int bit = side % 64;
  return (int)((word[(size_t)corner[0] * nword] >> bit & 1) |
               (word[(size_t)corner[1] * nword] >> bit & 1) << 1 |
               (word[(size_t)corner[2] * nword] >> bit & 1) << 2);
}

// Sides that have corners of a face on both sides, for each face.
static void findCuts(uint64_t* cut, const djSolid* g, const uint64_t* out, size_t nword) {
  for (int f = 0; f < g->part->nface; f++) {
    const int* corner = g->face + 3 * f;
    for (size_t w = 0; w < nword; w++) {
      const uint64_t x = out[(size_t)corner[0] * nword + w], y = out[(size_t)corner[1] * nword + w];
      const uint64_t z = out[(size_t)corner[2] * nword + w];
      cut[(size_t)f * nword + w] = (x | y | z) & ~(x & y & z);
    }
  }
}

// Third solids near to both of a pair.
static int findThird(Scratch* w, int i, int j) {
  const djSolids* s = w->s;
  const djNear *a = s->near + s->solid[i].near_begin, *a_end = s->near + s->solid[i].near_end;
  const djNear *b = s->near + s->solid[j].near_begin, *b_end = s->near + s->solid[j].near_end;
  int n = 0;
  while (a < a_end && b < b_end) {
    if (a->other == b->other) {
      w->third[n++] = (Third){a->other, s->bits + a->enter, s->bits + b->enter};
      a++;
      b++;
    } else if (a->other < b->other) {
      a++;
    } else {
      b++;
    }
  }
  return n;
}

static const djNear* nearOf(const djSolids* s, int solid, int other) {
  const djNear* near = s->near + s->solid[solid].near_begin;
  while (near->other != other) near++;
  return near;
}

// All segments of a pair.
static void visitSegments(djCover* c, Scratch* w, int i, const djNear* near) {
  const djSolids* s = w->s;
  const int j = near->other;
  const djNear* back = nearOf(s, j, i);
  const djSolid *a = &s->solid[i], *b = &s->solid[j];
  const uint64_t *aout = s->bits + near->out, *bout = s->bits + back->out;
  const uint64_t *aenter = s->bits + near->enter, *benter = s->bits + back->enter;
  const size_t na = (size_t)a->nword, nb = (size_t)b->nword;
  uint64_t *acut = w->cut, *bcut = acut + (size_t)a->part->nface * nb;
  int nthird = -1;
  findCuts(acut, a, aout, nb);
  findCuts(bcut, b, bout, na);
  for (int f = 0; f < a->part->nface; f++) {
    if (!dj_hasBit(aenter, f)) continue;
    for (size_t k = 0; k < nb; k++) {
      for (uint64_t bits = acut[(size_t)f * nb + k] & benter[k]; bits; bits &= bits - 1) {
        const int g = (int)(64 * k) + __builtin_ctzll(bits);
        djVec3 from, to;
        if (!dj_hasBit(bcut + (size_t)g * na, f)) continue;
        int fout = cornersOut(aout, a->face + 3 * f, nb, g);
        int gout = cornersOut(bout, b->face + 3 * g, na, f);
        if (!crossFaces(&from, &to, a, f, fout, b, g, gout)) continue;
        if (nthird < 0) nthird = findThird(w, i, j);
        visitSegment(c, w, (const int[2]){i, j}, (const int[2]){f, g}, from, to, nthird);
      }
    }
  }
}

// ------------------------------------------ edges ----------------------------------------------

// What of the edge opposite to each face's first corner is inside of a near solid.
static void coverEdges(Scratch* w, const djSolid* a, const djNear* near) {
  const djSolid* b = &w->s->solid[near->other];
  const size_t nword = (size_t)b->nword;
  const uint64_t *out = w->s->bits + near->out, *enter = w->s->bits + near->enter;
  const int most = a->near_end - a->near_begin;
  for (int f = 0; f < a->part->nface; f++) {
    const int* corner = a->face + 3 * f;
    if (!dj_hasBit(enter, f)) continue;
    const uint64_t *x = out + (size_t)corner[1] * nword, *y = out + (size_t)corner[2] * nword;
    uint64_t both = 0, any = 0;
    Interval part = {0, 1};
    for (size_t k = 0; k < nword; k++) {
      both |= x[k] & y[k];
      any |= x[k] | y[k];
    }
    if (both) continue;
    if (any && !clipSegment(&part, a->vert[corner[1]], a->vert[corner[2]], b)) continue;
    w->covered[(size_t)f * (size_t)most + (size_t)w->ncovered[f]++] = part;
  }
}

static void visitEdges(djCover* c, Scratch* w, int i) {
  const djSolid* g = &w->s->solid[i];
  const int most = g->near_end - g->near_begin;
  for (int f = 0; f < g->part->nface; f++) {
    Interval* list = w->covered + (size_t)f * (size_t)most;
    const int n = unite(list, w->ncovered[f]), *corner = g->face + 3 * f;
    const djVec3 from = g->vert[corner[1]], to = g->vert[corner[2]], along = dju_sub3(to, from);
    for (int k = 0; k < n; k++) {
      visit(c, w, i, f, list[k].low == 0 ? from : dju_madd3(from, list[k].low, along),
            list[k].high == 1 ? to : dju_madd3(from, list[k].high, along));
    }
  }
}

// ------------------------------------------ all ------------------------------------------------

static djStatus makeScratch(Scratch* w, const djSolids* s) {
  size_t near = 0, face = 0, covered = 0, cut = 0;
  for (int i = 0; i < s->n; i++) {
    const djSolid* g = &s->solid[i];
    const size_t n = (size_t)g->part->nface, most = (size_t)(g->near_end - g->near_begin);
    if (n > face) face = n;
    if (most > near) near = most;
    if (n * most > covered) covered = n * most;
    for (int k = g->near_begin; k < g->near_end; k++) {
      const djSolid* b = &s->solid[s->near[k].other];
      size_t need = n * (size_t)b->nword + (size_t)b->part->nface * (size_t)g->nword;
      if (need > cut) cut = need;
    }
  }
  *w = (Scratch){.s = s,
                 .own = malloc((2 * (size_t)s->n + 1) * sizeof *w->own),
                 .covered = malloc((covered + 1) * sizeof *w->covered),
                 .ncovered = malloc((face + 1) * sizeof *w->ncovered),
                 .cut = malloc((cut + 1) * sizeof *w->cut),
                 .third = malloc((near + 1) * sizeof *w->third),
                 .inside = malloc((near + 1) * sizeof *w->inside)};
  return w->own && w->covered && w->ncovered && w->cut && w->third && w->inside ? DJ_OK
                                                                               : DJ_NO_MEMORY;
}

// x -> (x - middle)/(1 + scale) + middle - from.
static void placeOwn(djVec3 own[2], const djSolid* g, djVec3 from) {
  const double s = 1 / (1 + g->scale);
  own[0] = dju_sub3(dju_scale3(g->scale * s, g->middle), from);
  own[1] = (djVec3){s, s, s};
}

djStatus dj_visitCovered(djCover* c, const djSolids* s) {
  Scratch w;
  djStatus status = makeScratch(&w, s);
  for (int i = 0; i < s->n && status == DJ_OK; i++) {
    placeOwn(w.own + 2 * (size_t)i, &s->solid[i], c->visit ? (djVec3){0, 0, 0} : c->from);
  }
  for (int i = 0; i < s->n && status == DJ_OK; i++) {
    const djSolid* g = &s->solid[i];
    if (g->near_begin == g->near_end) continue;
    memset(w.ncovered, 0, (size_t)g->part->nface * sizeof *w.ncovered);
    for (int k = g->near_begin; k < g->near_end; k++) {
      coverEdges(&w, g, &s->near[k]);
      if (s->near[k].other > i) visitSegments(c, &w, i, &s->near[k]);
    }
    visitEdges(c, &w, i);
  }
  free(w.own);
  free(w.covered);
  free(w.ncovered);
  free(w.cut);
  free(w.third);
  free(w.inside);
  return status;
}
