// Shapes whose numbers all move along a random direction, and derivatives by them.

#ifndef DJ_TESTS_VARIED_SHAPE_H_
#define DJ_TESTS_VARIED_SHAPE_H_

#include "common/pair_case.h"

// A shape, a direction in which its numbers move, and the derivative by them.
typedef struct Varied {
  djShape base;
  double* array;             // (6 npad) of the shape's own vertices and erosion vectors
  double *start, *along;     // (6 npad); of ground, its coefficients (nnumber)
  djVec3 turn, move;         // and the motion of its frame
  double frame[12];          // which was there, and so
  djShapeGrad rate, grad;
  double* buffer;            // (6 npad) of grad's arrays
} Varied;

static inline djVec3 scaled(Random* r, double size) { return dju_scale3(size, randomUnit(r)); }

static inline void openVaried(Varied* v, TestShape* t, Random* r, double size) {
  memset(v, 0, sizeof *v);
  const bool ground = t->shape.type == DJ_HFIELD;
  size_t n = ground ? (size_t)t->shape.nnumber : 6 * (size_t)t->shape.npad;
  v->base = t->shape;
  v->array = t->buffer;
  v->start = calloc(3 * n + 1, sizeof(double));
  v->along = v->start + n;
  v->buffer = v->along + n;
  if (ground) {
    djTerrain terrain;
    dj_readTerrain(&terrain, t->buffer);
    v->array = t->buffer + (terrain.coef - t->buffer);
    for (size_t i = 0; i < n; i++) v->along[i] = 0.3 * size * uniform(r, -1, 1);
    dju_store3(v->frame, terrain.pose.p);
    memcpy(v->frame + 3, terrain.pose.R.m, sizeof terrain.pose.R.m);
    v->turn = scaled(r, size);
    v->move = scaled(r, size);
    v->grad.number = v->buffer;
  }
  if (n) memcpy(v->start, v->array, n * sizeof(double));
  int nvert = t->shape.nvert, npad = t->shape.npad;
  double A[18];   // a box's facets must stay flat: linear maps
  for (int i = 0; i < 18; i++) A[i] = size * uniform(r, -1, 1);
  for (int k = 0; k < 6; k++) {
    for (int i = 0; i < npad; i++) {
      double* x = v->along + k * npad;
      const double* from = v->start + k / 3 * 3 * npad + i;
      x[i] = i < nvert ? size * uniform(r, -1, 1) : x[0];
      if (t->shape.type != DJ_BOX) continue;
      const double* row = A + 3 * k;
      x[i] = row[0] * from[0] + row[1] * from[npad] + row[2] * from[2 * npad];
    }
  }
  v->rate.radius = t->shape.radius > 0 ? size * uniform(r, -1, 1) : 0;   // may not be negative
  v->rate.radius_slope = t->shape.radius > 0 ? size * uniform(r, -1, 1) : 0;
  v->rate.inner = size * uniform(r, -1, 1);
  v->rate.skin = 0.1 * v->rate.inner;   // as a number, of which recovery takes notice
  v->rate.bound = size * uniform(r, -1, 1);
  v->rate.offset = size * uniform(r, -1, 1);
  v->rate.center = scaled(r, size);
  v->rate.normal = scaled(r, size);
  for (int i = 0; i < 9 && t->shape.curved; i++) {   // a flat disc stays one
    double width = dju_norm3(dju_column(&t->shape.curve, i % 3));
    v->rate.curve.m[i] = fmin(size, width) * uniform(r, -1, 1);
    v->rate.curve_move.m[i] = fmin(size, width) * uniform(r, -1, 1);
  }
  for (int k = 0; k < 3; k++) {
    v->grad.vert[k] = v->buffer + k * npad;
    v->grad.move[k] = v->buffer + (3 + k) * npad;
  }
}

static inline void moveVaried(djShape* s, const Varied* v, double e) {
  const djShape* b = &v->base;
  if (b->type == DJ_HFIELD) {
    const int n = b->nnumber;
    double* mem = v->array - DJ_TERRAIN_HEAD;
    const djPose pose = {dju_load3(v->frame), *(const djMat3*)(const void*)(v->frame + 3)};
    for (int i = 0; i < n; i++) v->array[i] = v->start[i] + e * v->along[i];
    dju_store3(mem + 6, dju_madd3(pose.p, e, v->move));
    const djMat3 R = dju_mulMM(turn(dju_scale3(e, v->turn)), pose.R);
    memcpy(mem + 9, R.m, sizeof R.m);
    s->offset = b->offset + e * v->rate.offset;
    return;
  }
  for (int i = 0; i < 6 * b->npad; i++) v->array[i] = v->start[i] + e * v->along[i];
  if (b->type == DJ_PLANE) {
    s->normal = dju_madd3(b->normal, e, v->rate.normal);
    s->normal = dju_scale3(1 / dju_norm3(s->normal), s->normal);
    s->offset = b->offset + e * v->rate.offset;
    return;
  }
  s->radius = b->radius + e * v->rate.radius;
  s->radius_slope = b->radius_slope + e * v->rate.radius_slope;
  s->inner = b->inner + e * v->rate.inner;
  s->skin = b->skin + e * v->rate.skin;
  s->bound = b->bound + e * v->rate.bound;
  s->center = dju_madd3(b->center, e, v->rate.center);
  for (int i = 0; i < 9; i++) {
    s->curve.m[i] = b->curve.m[i] + e * v->rate.curve.m[i];
    s->curve_move.m[i] = b->curve_move.m[i] + e * v->rate.curve_move.m[i];
  }
}

static inline double dotVaried(const Varied* v) {
  const djShape* b = &v->base;
  const djShapeGrad *g = &v->grad, *d = &v->rate;
  double sum = 0;
  if (b->type == DJ_HFIELD) {
    for (int i = 0; i < b->nnumber; i++) sum += v->buffer[i] * v->along[i];
    return sum + g->offset * d->offset + dju_dot3(g->origin, v->move) + dju_dot3(g->turn, v->turn);
  }
  if (b->type == DJ_PLANE) {
    djVec3 n = dju_madd3(d->normal, -dju_dot3(d->normal, b->normal), b->normal);
    return dju_dot3(g->normal, n) + g->offset * d->offset;
  }
  for (int k = 0; k < 6; k++) {
    for (int i = 0; i < b->nvert; i++) {
      sum += v->buffer[k * b->npad + i] * v->along[k * b->npad + i];
    }
  }
  for (int i = 0; i < 9; i++) {
    sum += g->curve.m[i] * d->curve.m[i] + g->curve_move.m[i] * d->curve_move.m[i];
  }
  return sum + g->radius * d->radius + g->radius_slope * d->radius_slope + g->inner * d->inner +
         g->skin * d->skin + g->bound * d->bound + dju_dot3(g->center, d->center);
}

#endif  // DJ_TESTS_VARIED_SHAPE_H_
