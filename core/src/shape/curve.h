// Ellipsoids that round the vertices of a shape.
//
// With G the matrix of semi-axes, q(n) = |G^T n| is the support function of the ellipsoid about its
// centre. With s = G^T n and w = s/q, q is homogeneous of degree 1 and
//
//   c(n) = q'  = G w                     the point farthest along n
//   C(n) = q'' = G (I - w w^T) G^T / q   positive semi-definite, C n = 0,
//
// both accurate for ellipsoids as flat as discs: no product of semi-axes is formed. Which geoms
// have them: model/geom_row.h.

#ifndef DJ_SHAPE_CURVE_H_
#define DJ_SHAPE_CURVE_H_

#include "shape/shape.h"

// R diag(d)
static inline djMat3 dj_scaleColumns(djMat3 R, const double d[3]) {
  for (int i = 0; i < 9; i++) R.m[i] *= d[i % 3];
  return R;
}

// q(n); *point = c(n), *w as above, where they are not NULL. q = 0: both are zero.
static inline double dj_curveReach(djVec3* point, djVec3* w, const djMat3* G, djVec3 n) {
  djVec3 s = dju_mulMtV(*G, n);
  double q = dju_norm3(s);
  s = dju_scale3(q > 0 ? 1 / q : 0, s);
  if (point) *point = dju_mulMV(*G, s);
  if (w) *w = s;
  return q;
}

// C(n) x for a vector x
static inline djVec3 dj_curveBend(const djMat3* G, djVec3 n, djVec3 x) {
  djVec3 w, s = dju_mulMtV(*G, x);
  double q = dj_curveReach(NULL, &w, G, n);
  if (!(q > 0)) return dju_vec3(0, 0, 0);
  return dju_scale3(1 / q, dju_mulMV(*G, dju_madd3(s, -dju_dot3(w, s), w)));
}

// Adds f times the derivatives by G of q (where x is NULL) or of c.x for a vector x that is held:
//   by G: n w^T;  n b^T + x w^T,  b = (I - w w^T) G^T x/q.
static inline void dj_curveGrad(djMat3* grad, double f, const djMat3* G, djVec3 n,
                                const djVec3* x) {
  djVec3 w, b, zero = {0, 0, 0};
  double q = dj_curveReach(NULL, &w, G, n);
  if (!(q > 0)) return;
  b = w;
  if (x) {
    djVec3 s = dju_mulMtV(*G, *x);
    b = dju_scale3(1 / q, dju_madd3(s, -dju_dot3(w, s), w));
  }
  double l[2][3], r[2][3];
  dju_store3(l[0], n);
  dju_store3(r[0], b);
  dju_store3(l[1], x ? *x : zero);
  dju_store3(r[1], w);
  for (int i = 0; i < 9; i++) {
    grad->m[i] += f * (l[0][i / 3] * r[0][i % 3] + l[1][i / 3] * r[1][i % 3]);
  }
}

// The longest semi-axis.
static inline double dj_curveSize(const djMat3* G) {
  double most = 0;
  for (int k = 0; k < 3; k++) {
    djVec3 g = dju_column(G, k);
    most = fmax(most, dju_dot3(g, g));
  }
  return sqrt(most);
}

// E[0], E[1], n: orthonormal and right-handed; n a unit vector.
static inline void dj_across(djVec3 E[2], djVec3 n) {
  djVec3 axis = fabs(n.x) < 0.6 ? dju_vec3(1, 0, 0) : dju_vec3(0, 1, 0);
  djVec3 t = dju_cross3(n, axis);
  E[0] = dju_scale3(1 / dju_norm3(t), t);
  E[1] = dju_cross3(n, E[0]);
}

#endif  // DJ_SHAPE_CURVE_H_
