#include "contact/triangles/triangle_way.h"

#include <string.h>

djVec3 dj_ofA(const djMat3* R, djVec3 w, djDualVec y) {
  return dju_mulMtV(*R, dju_sub3(y.d, dju_cross3(w, y.x)));
}

static void addVertex(double* const vert[3], const djSphereTree* t, int triangle, int k,
                      djVec3 by) {
  const int i = (int)t->tri[3 * triangle + k];
  vert[0][i] += by.x;
  vert[1][i] += by.y;
  vert[2][i] += by.z;
}

djDual1 dj_squareAlong(const djTriangleWay* way, int i, int j) {
  const djMeanPair* p = way->p;
  djMeanSquare q;
  dj_meanSquare(&q, p, &p->a->node[i], &p->b->node[j]);
  djDual1 square = {q.s, 0};
  for (int k = 0; k < 6; k++) square.d += q.g[k] * way->tape->along[k];
  return square;
}

void dj_takeSquare(const djTriangleWay* way, djDual1 bar, int i, int j) {
  const djMeanPair* p = way->p;
  const djVec3 xa = dju_transform(&p->place, dju_load3(p->a->node[i].x));
  const djVec3 move = dju_add3(way->v, dju_cross3(way->w, dju_sub3(xa, p->c)));
  const djDualVec d = {dju_sub3(xa, dju_load3(p->b->node[j].x)), move};
  const djDualVec y = dj_timesVec(dj_scaled(2, bar), d);
  dju_addTo3(way->by_a[i].x, 1, dj_ofA(&p->place.R, way->w, y));
  dju_addTo3(way->by_b[j].x, -1, y.d);
}

void dj_turnPlane(djPlaneTurn* out, const djTriangleWay* way, const djTrianglePlane* t, djVec3 c) {
  djVec3 by = {0, 0, 0}, move[3], v = dju_scale3(1 / t->l, way->v);
  double by_o = 0, dO;
  out->P = 0;
  for (int k = 0; k < 3; k++) {
    move[k] = dju_add3(v, dju_cross3(way->w, dju_sub3(t->v[k], c)));
    const double along = dju_dot3(t->n, move[k]), bend = t->bend[k] * along;
    by = dju_madd3(dju_madd3(by, bend, t->v[k]), t->force[k], move[k]);
    by_o += bend;
    out->P += t->force[k] * along;
  }
  dj_movePlane(&out->n, &dO, t, dju_neg3(by), -by_o);
  for (int k = 0; k < 6; k++) {
    const double moved = k < 3 ? dju_dot3(t->n, move[k]) : 0;
    out->x[k] = (k < 3 ? -1 : 1) * (moved + dju_dot3(out->n, t->v[k]) + dO);
  }
}

void dj_takeCorners(const djTriangleWay* way, djDual1 by, const djTrianglePlane* t,
                    const djPlaneTurn* turn, int i, int j) {
  const djMeanPair* p = way->p;
  const djSphereNode *a = &p->a->node[i], *b = &p->b->node[j];
  for (int k = 0; k < 6; k++) {
    const djDual1 force = {t->force[k], -t->bend[k] * turn->x[k]};
    const djDualVec y = dj_timesVec(dj_times(by, force), (djDualVec){t->n, turn->n});
    if (k < 3)
      addVertex(way->vert_a, p->a, (int)a->first, k, dj_ofA(&p->place.R, way->w, y));
    else
      addVertex(way->vert_b, p->b, (int)b->first, k - 3, dju_neg3(y.d));
  }
}

// ------------------------------------------ nearest points -------------------------------------

void dj_turnNearPoints(djNearTurn* out, const djTriangleWay* way, const djNearPoints* n) {
  const djVec3 e = dju_sub3(n->x[0], n->x[1]), none = {0, 0, 0};
  const djVec3 move = dju_add3(way->v, dju_cross3(way->w, dju_sub3(n->x[0], way->p->c)));
  double by[2] = {0, 0}, u[2];
  for (int k = 0; k < n->n; k++) {
    by[k] = dju_dot3(n->way[k], move);
    if (n->side[k] == 0) by[k] += dju_dot3(e, dju_cross3(way->w, n->way[k]));
  }
  for (int k = 0; k < 2; k++) u[k] = -n->inverse[2 * k] * by[0] - n->inverse[2 * k + 1] * by[1];
  for (int s = 0; s < 2; s++) {
    out->x[s] = (djDualVec){n->x[s], s ? none : move};
    for (int m = 0; m < 3; m++) out->part[s][m] = (djDual1){n->part[s][m], 0};
  }
  for (int k = 0; k < n->n; k++) {
    const int s = n->side[k];
    out->x[s].d = dju_madd3(out->x[s].d, s ? -u[k] : u[k], n->way[k]);
    for (int m = 0; m < 3; m++) out->part[s][m].d += u[k] * n->share[k][m];
  }
  out->e = (djDualVec){e, dju_sub3(out->x[0].d, out->x[1].d)};
  out->square = (djDual1){dju_dot3(e, e), 2 * dju_dot3(e, out->e.d)};
}

void dj_takeNearPoints(const djTriangleWay* way, djDual1 bar, const djNearTurn* n, int i, int j) {
  const djMeanPair* p = way->p;
  const djSphereNode *a = &p->a->node[i], *b = &p->b->node[j];
  const djDualVec y = dj_timesVec(dj_scaled(2, bar), n->e);
  for (int k = 0; k < 3; k++) {
    const djDual1 pa = n->part[0][k], pb = n->part[1][k];
    const djDualVec ya = {dju_scale3(pa.x, y.x), dju_madd3(dju_scale3(pa.x, y.d), pa.d, y.x)};
    const djDualVec yb = {dju_scale3(pb.x, y.x), dju_madd3(dju_scale3(pb.x, y.d), pb.d, y.x)};
    addVertex(way->vert_a, p->a, (int)a->first, k, dj_ofA(&p->place.R, way->w, ya));
    addVertex(way->vert_b, p->b, (int)b->first, k, dju_neg3(yb.d));
  }
}
