#include "inertia/crossing.h"

// Where an edge goes through a plane.
typedef struct Crossing {
  const djVec3 *in, *out;
  double t;
} Crossing;

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
  const double a = dj_heightOf(h, *x), b = dj_heightOf(h, *y), c = dj_heightOf(h, *z);
  if (out & (out - 1)) { // two: x is inside
    *begin = (Crossing){x, y, a / (a - b)};
    *end = (Crossing){x, z, a / (a - c)};
  } else {
    *begin = (Crossing){z, x, c / (c - a)};
    *end = (Crossing){y, x, b / (b - a)};
  }
}

bool dj_crossFaces(djVec3* from, djVec3* to, const djSolid* a, int f, int fout, const djSolid* b,
                   int g, int gout) {
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
