// By vertices, of the paper's potential: the recursion of triangle_sum.h from the roots on.

#include "contact/triangles/triangle_sum.h"
#include "contact/triangles/triangle_way.h"

static void takePair(djTriangleWay* way, djDual1 bar, int i, int j);

// By the square of a distance.
static djDual1 slopeOf(const djTriangleWay* way, djDual1 square) {
  double P[3];
  const double unit = way->p->length_scale * way->p->length_scale;
  dj_centredSum(P, square.x / unit);
  return (djDual1){P[1] / unit, P[2] / (unit * unit) * square.d};
}

static void takeFar(const djTriangleWay* way, djDual1 bar, djDual1 square, int i, int j) {
  dj_takeSquare(way, dj_times(bar, slopeOf(way, square)), i, j);
}

// P = length_scale/l P', whose distances are over l.
static void takeLeaf(const djTriangleWay* way, djDual1 bar, int i, int j) {
  const djMeanPair* p = way->p;
  djTrianglePlane t;
  djPlaneTurn turn;
  djVec3 c;
  if (p->near) {
    djNearPoints points;
    djNearTurn near;
    if (!dj_leafPoints(&points, p, &p->a->node[i], &p->b->node[j])) return;
    dj_turnNearPoints(&near, way, &points);
    dj_takeNearPoints(way, dj_times(bar, slopeOf(way, near.square)), &near, i, j);
    return;
  }
  dj_leafPlane(&t, &c, p, &p->a->node[i], &p->b->node[j]);
  dj_turnPlane(&turn, way, &t, c);
  dj_takeCorners(way, dj_scaled(p->length_scale / (t.l * t.l), bar), &t, &turn, i, j);
}

static void takeChildren(djTriangleWay* way, djDual1 bar, int i, int j) {
  int ca[2], cb[2];
  const int na = dj_childrenOf(ca, way->p->a, i), nb = dj_childrenOf(cb, way->p->b, j);
  if (na == 1 && nb == 1) {
    takeLeaf(way, bar, i, j);
    return;
  }
  for (int k = 0; k < na * nb; k++) takePair(way, bar, ca[k / nb], cb[k % nb]);
}

static void takePair(djTriangleWay* way, djDual1 bar, int i, int j) {
  const djMeanPair* p = way->p;
  const djSphereNode *a = &p->a->node[i], *b = &p->b->node[j];
  const djMeanRecord* record = &way->tape->record[way->at++];
  const djDual1 square = dj_squareAlong(way, i, j), r = dj_dualRoot(square);
  const double d = a->R + b->R;
  const djDual1 t = dj_scaled(1 / p->eps, dj_shifted(dj_scaled(1 / d, r), -1));
  if (t.x >= 1) {
    takeFar(way, bar, square, i, j);
    return;
  }
  if (t.x <= 0) {
    takeChildren(way, bar, i, j);
    return;
  }
  double phi[3], P[3];
  dj_quintic(phi, t.x);
  const double unit = p->length_scale * p->length_scale;
  dj_centredSum(P, square.x / unit);
  const djDual1 blend = {phi[0], phi[1] * t.d}, slope = {phi[1], phi[2] * t.d};
  const djDual1 far = {P[0], P[1] / unit * square.d};
  const djDual1 more = dj_minus(far, dj_recorded(record->near));
  const djDual1 by_t = dj_times(bar, dj_times(slope, more));
  const djDual1 by_d = dj_times(by_t, dj_scaled(-1 / (d * d * p->eps), r));
  way->by_a[i].R += by_d.d;
  way->by_b[j].R += by_d.d;
  dj_takeSquare(way, dj_over(dj_scaled(0.5 / (d * p->eps), by_t), r), i, j);
  takeFar(way, dj_times(bar, blend), square, i, j);
  takeChildren(way, dj_times(bar, dj_shifted(dj_scaled(-1, blend), 1)), i, j);
}

void dj_sumVjp(djTriangleWay* way, djDual1 bar) { takePair(way, bar, 0, 0); }
