#include "contact/pairs/tied.h"

#include "base/hash.h"
#include "model/equality.h"
#include "shape/distance.h"

// Of the radius of the largest ball inside the smaller geom: how deep the point lies in both.
static const double INSIDE = 0.05;

// How deep a point of its body's frame lies in a geom's shape.
static double depthOf(const djShape* shape, const double* at) {
  double x[3][DJ_LANES];
  for (int k = 0; k < 3 * DJ_LANES; k++) x[k / DJ_LANES][k % DJ_LANES] = at[k / DJ_LANES];
  const djShape point = {.type = DJ_SPHERE, .nvert = 1, .npad = DJ_LANES,
                         .vert = {x[0], x[1], x[2]}, .center = dju_load3(at)};
  const djPose here = {.R = {{1, 0, 0, 0, 1, 0, 0, 0, 1}}};
  djDistance d;
  djStatus status = dj_distance(&d, NULL, &point, &here, 0, shape, &here, 0);
  return status < 0 ? -INFINITY : -d.gap;
}

static bool keepsPoint(const djModel* m, int e) {
  return dj_isBetweenBodies(m->eq_type[e]) && !(m->opt.disable & DJ_DSBL_EQUALITY);
}

// Whether constraint e holds two geoms, of its first body and of its second, in each other.
static bool holds(const djModel* m, int e, int first, int second) {
  const struct djCollision* col = m->collision;
  const int kernel = dj_pairKernel(m, first, second);
  if (kernel < 0 || !dj_kernel(kernel)->convex) return false;
  const djShape* shape = col->shape + (size_t)dj_useOf(col, kernel) * (size_t)m->ngeom;
  const djShape *a = &shape[first], *b = &shape[second];
  if (a->type < 0 || b->type < 0) return false;
  const double least = INSIDE * fmin(a->inner, b->inner);
  return depthOf(a, dj_equalityPoint(m, e, 0)) > least &&
         depthOf(b, dj_equalityPoint(m, e, 1)) > least;
}

bool dj_isTied(const djContacts* c, const djModel* m, int g1, int g2) {
  const int body1 = m->geom_body[g1], body2 = m->geom_body[g2];
  for (int e = 0; e < m->nequality && c->tied_key != 0; e++) {
    const int* body = m->eq_pair + 2 * e;
    const bool same = body[0] == body1 && body[1] == body2;
    if (!same && !(body[0] == body2 && body[1] == body1)) continue;
    if (!keepsPoint(m, e) || !c->eq_active[e]) continue;
    if (holds(m, e, same ? g1 : g2, same ? g2 : g1)) return true;
  }
  return false;
}

int dj_tiedGeoms(int geom[2], const djModel* m, int equality) {
  int n = 0;
  if (!m || !m->collision || equality < 0 || equality >= m->nequality) return 0;
  if (!keepsPoint(m, equality)) return 0;
  const int* body = m->eq_pair + 2 * equality;
  for (int g = 0; g < m->ngeom; g++) {
    for (int k = 0; k < m->ngeom && m->geom_body[g] == body[0]; k++) {
      if (m->geom_body[k] != body[1] || !dj_isContactPair(m, g, k)) continue;
      if (!holds(m, equality, g, k)) continue;
      if (n++ > 0 || !geom) continue;
      geom[0] = g;
      geom[1] = k;
    }
  }
  return n;
}

uint64_t dj_tiedKey(const djModel* m, const int* eq_active) {
  uint64_t key = 0;
  for (int e = 0; e < m->nequality; e++) {
    if (!keepsPoint(m, e) || !eq_active[e]) continue;
    const double number = e + 1;
    dj_mixNumbers(&key, &number, 1);
    for (int k = 0; k < 2; k++) dj_mixNumbers(&key, dj_equalityPoint(m, e, k), 3);
  }
  return key;
}
