// By vertices, of the mean distance: the recursion of mean_distance.h from the roots on.

#include "contact/triangles/triangle_way.h"

// By L = log(s + V)/2.
static void takeFar(const djTriangleWay* way, djDual1 bar, djDual1 square, double V, int i, int j) {
  const djDual1 by = dj_over(dj_scaled(0.5, bar), dj_shifted(square, V));
  way->by_a[i].V += by.d;
  way->by_b[j].V += by.d;
  dj_takeSquare(way, by, i, j);
}

// ------------------------------------------ triangles ------------------------------------------

// By L = [alpha log s + (q - alpha) log(s + V)]/(2 q).
static void takeNear(const djTriangleWay* way, djDual1 bar, int i, int j) {
  const djMeanPair* p = way->p;
  const djSphereNode *a = &p->a->node[i], *b = &p->b->node[j];
  const double q = DJ_MEAN_Q, alpha = DJ_MEAN_ALPHA;
  djNearPoints points;
  djNearTurn turn;
  if (!dj_leafPoints(&points, p, a, b)) return;
  dj_turnNearPoints(&turn, way, &points);
  const djDual1 by_V =
      dj_over(dj_scaled(0.5 * (q - alpha) / q, bar), dj_shifted(turn.square, a->V + b->V));
  const djDual1 own = dj_over(dj_scaled(0.5 * alpha / q, bar), turn.square);
  way->by_a[i].V += by_V.d;
  way->by_b[j].V += by_V.d;
  dj_takeNearPoints(way, (djDual1){own.x + by_V.x, own.d + by_V.d}, &turn, i, j);
}

static void takeLeaf(const djTriangleWay* way, djDual1 bar, int i, int j) {
  const djMeanPair* p = way->p;
  const djSphereNode *a = &p->a->node[i], *b = &p->b->node[j];
  const double q = DJ_MEAN_Q, alpha = DJ_MEAN_ALPHA, V = a->V + b->V;
  djTrianglePlane t;
  djPlaneTurn turning;
  djVec3 c;
  dj_leafPlane(&t, &c, p, a, b);
  dj_turnPlane(&turning, way, &t, c);
  const double l = t.l, cube = cbrt(t.P / DJ_TRIANGLE_C), one = 1;
  const djDual1 P = {t.P, turning.P}, E = {cube, cube * P.d / (3 * P.x)}, F = dj_shifted(E, -one);
  const djDual1 rho = dj_over((djDual1){l, 0}, dj_times(F, dj_dualRoot(F))),
                square = dj_times(rho, rho);
  const djDual1 part = dj_over(square, dj_shifted(square, V));
  // L = (alpha log rho + (q - alpha) log(rho^2 + V)/2)/q; log rho by log P and log l
  const djDual1 slope =
      dj_times(bar, dj_scaled(1 / q, dj_shifted(dj_scaled(q - alpha, part), alpha)));
  const djDual1 by_P = dj_times(slope, dj_scaled(-0.5, dj_over(E, F)));
  djDual1 by_l = dj_over(dj_scaled(-1, slope), F);
  const djDual1 by_V = dj_over(dj_scaled(0.5 * (q - alpha) / q, bar), dj_shifted(square, V));
  // P at a fixed plane: c l^-2 (1 - |n|)^-2 + ...
  const double norm = dju_norm3(t.n);
  const djDual1 room = {1 - norm, -dju_dot3(t.n, turning.n) / norm};
  const djDual1 share = dj_over(dj_over((djDual1){2 * DJ_TRIANGLE_C, 0}, dj_times(room, room)), P);
  by_l = dj_minus(by_l, dj_times(by_P, share));
  way->by_a[i].V += by_V.d;
  way->by_b[j].V += by_V.d;
  way->by_a[i].R += by_l.d / l;
  way->by_b[j].R += by_l.d / l;
  dj_takeCorners(way, dj_scaled(1 / l, dj_over(by_P, P)), &t, &turning, i, j);
}

// ------------------------------------------ nodes ----------------------------------------------

static void takePair(djTriangleWay* way, djDual1 bar, int i, int j);

// Visits the children's records as the tape has them. By L_ch, of pairs with the parts
// p = w exp(-q (L - L_ch)): of a pair p, of log w -p/q.
static void takeChildren(djTriangleWay* way, djDual1 bar, djDual1 near, int i, int j) {
  const djMeanPair* p = way->p;
  const djSphereNode *a = p->a->node, *b = p->b->node;
  djMeanChild child[4];
  if (!(a[i].right > 0) && !(b[j].right > 0)) {
    if (p->near)
      takeNear(way, bar, i, j);
    else
      takeLeaf(way, bar, i, j);
    return;
  }
  const double each = 1 / DJ_MEAN_Q;
  const int n = dj_orderChildren(child, p, i, j);
  way->by_a[i].m += each * bar.d / a[i].m;
  way->by_b[j].m += each * bar.d / b[j].m;
  for (int k = 0; k < n; k++) {
    const djMeanChild* c = &child[k];
    const djDual1 L = dj_recorded(way->tape->record[way->at].L);
    if (L.x == INFINITY) {
      way->at++;
      continue;
    }
    const djDual1 part =
        dj_scaled(c->weight, dj_exponential(dj_scaled(-DJ_MEAN_Q, dj_minus(L, near))));
    const djDual1 by = dj_times(bar, part);
    way->by_a[c->a].m -= each * by.d / a[c->a].m;
    way->by_b[c->b].m -= each * by.d / b[c->b].m;
    takePair(way, by, c->a, c->b);
  }
}

static void takePair(djTriangleWay* way, djDual1 bar, int i, int j) {
  const djMeanPair* p = way->p;
  const djSphereNode *a = &p->a->node[i], *b = &p->b->node[j];
  const djMeanRecord* record = &way->tape->record[way->at++];
  const djDual1 square = dj_squareAlong(way, i, j);
  const double S = a->R + b->R, V = a->V + b->V;
  const djDual1 r = dj_dualRoot(square), t = dj_shifted(dj_scaled(1 / S, r), -1);
  if (t.x >= 1) {
    takeFar(way, bar, square, V, i, j);
    return;
  }
  const djDual1 near = dj_recorded(record->near);
  if (t.x <= 0) {
    takeChildren(way, bar, near, i, j);
    return;
  }
  double phi[3];
  dj_quintic(phi, t.x);
  const djDual1 blend = {phi[0], phi[1] * t.d}, slope = {phi[1], phi[2] * t.d};
  const djDual1 D = dj_exponential(dj_recorded(record->L)), Dch = dj_exponential(near);
  const djDual1 Dc = dj_dualRoot(dj_shifted(square, V)), rest = dj_shifted(dj_scaled(-1, blend), 1);
  const djDual1 by_t = dj_times(bar, dj_times(slope, dj_over(dj_minus(Dc, Dch), D)));
  const djDual1 by_S = dj_times(by_t, dj_scaled(-1 / (S * S), r));
  way->by_a[i].R += by_S.d;
  way->by_b[j].R += by_S.d;
  dj_takeSquare(way, dj_over(dj_scaled(0.5 / S, by_t), r), i, j);
  takeFar(way, dj_times(bar, dj_over(dj_times(blend, Dc), D)), square, V, i, j);
  takeChildren(way, dj_times(bar, dj_over(dj_times(rest, Dch), D)), near, i, j);
}

void dj_meanVjp(djTriangleWay* way, djDual1 bar) { takePair(way, bar, 0, 0); }
