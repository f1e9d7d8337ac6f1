// Contacts at the extreme of the distance between patches of two surfaces.
//
// At a contact with the normal n (from A to B) the points a, b of the cores obey
//   b - a = l n,   T_A . n = 0,   T_B . n = 0,   l = dist + r_A + r_B.
// While A is held and B moves by the twist (w, u), v = u + w x (b - pos) at b, the derivatives n'
// (with n . n' = 0) and the steps s, t along the cores follow from
//   e . (l n' + T_A s - T_B t) = e . v         for both e normal to n,
//   T_A . n' + (n . ddA) s = 0,
//   T_B . n' + (n . ddB) t = -n . (w x T_B),
// 2 to 6 equations; then, pos being midway between the surfaces,
//   dist' = n . v,   pos' = (T_A s + v + T_B t + (r_A - r_B) n') / 2.

#include "contact_part.h"

#include <math.h>

enum { MAXDIM = 6 };

// ---- the extreme ------------------------------------------------------------------------------

// Equations of n1, n2 (n' = n1 e1 + n2 e2), s, t. a (6 x 6), the first `size` of each.
static int extremeMatrix(mjtNum a[MAXDIM][MAXDIM], const djmPatch* A, const djmPatch* B,
                         mjtNum e[2][3], mjtNum gap) {
  int size = 2 + A->dim + B->dim;
  for (int i = 0; i < size; i++) {
    for (int k = 0; k < size; k++) a[i][k] = 0;
  }
  for (int i = 0; i < 2; i++) {
    a[i][i] = gap;
    for (int k = 0; k < A->dim; k++) {
      a[i][2 + k] = mju_dot3(e[i], A->tangent[k]);
      a[2 + k][i] = a[i][2 + k];
    }
    for (int k = 0; k < B->dim; k++) {
      int at = 2 + A->dim + k;
      a[at][i] = mju_dot3(e[i], B->tangent[k]);
      a[i][at] = -a[at][i];
    }
  }
  for (int i = 0; i < A->dim; i++) {
    for (int k = 0; k < A->dim; k++) a[2 + i][2 + k] = A->bend[i + k];
  }
  int at = 2 + A->dim;
  for (int i = 0; i < B->dim; i++) {
    for (int k = 0; k < B->dim; k++) a[at + i][at + k] = B->bend[i + k];
  }
  return size;
}

// x = a^-1 x, ncol columns; false: singular. length: what makes of a length a number of size one.
static bool eliminate(mjtNum a[MAXDIM][MAXDIM], mjtNum x[MAXDIM][6], int n, int ncol,
                      mjtNum length) {
  for (int k = 0; k < n; k++) {
    int best = k;
    for (int i = k + 1; i < n; i++) {
      if (fabs(a[i][k]) > fabs(a[best][k])) best = i;
    }
    mjtNum unit = k < 2 ? fmin(length, 1) : fmin(1 / length, 1);
    if (fabs(a[best][k]) < 1e-9 * unit) return false;
    for (int j = 0; j < n && best != k; j++) {
      mjtNum keep = a[k][j];
      a[k][j] = a[best][j];
      a[best][j] = keep;
    }
    for (int j = 0; j < ncol && best != k; j++) {
      mjtNum keep = x[k][j];
      x[k][j] = x[best][j];
      x[best][j] = keep;
    }
    for (int i = k + 1; i < n; i++) {
      mjtNum f = a[i][k] / a[k][k];
      if (f == 0) continue;
      for (int j = k; j < n; j++) a[i][j] -= f * a[k][j];
      for (int j = 0; j < ncol; j++) x[i][j] -= f * x[k][j];
    }
  }
  for (int k = n - 1; k >= 0; k--) {
    for (int j = 0; j < ncol; j++) {
      for (int i = k + 1; i < n; i++) x[k][j] -= a[k][i] * x[i][j];
      x[k][j] /= a[k][k];
    }
  }
  return true;
}

bool djm_extremal(djmContactMotion* x, const djmPatch* A, const djmPatch* B, const mjtNum n[3],
                  const mjtNum pos[3], const mjtNum* slide) {
  mjtNum e[2][3], v[3][6], a[MAXDIM][MAXDIM], y[MAXDIM][6], r[3], c[3];
  djm_normalTo(e, n);
  mju_sub3(r, B->point, A->point);
  mjtNum gap = mju_dot3(n, r);
  djm_materialVelocity(v, B->point, pos);
  for (int i = 0; i < 18 && slide; i++) v[i / 6][i % 6] += slide[i];
  int size = extremeMatrix(a, A, B, e, gap);
  for (int k = 0; k < 6; k++) {
    mjtNum w[3] = {k == 0, k == 1, k == 2};
    for (int i = 0; i < 2; i++) {
      y[i][k] = e[i][0] * v[0][k] + e[i][1] * v[1][k] + e[i][2] * v[2][k];
    }
    for (int i = 2; i < size; i++) y[i][k] = 0;
    for (int i = 0; i < B->dim; i++) {
      mju_cross(c, w, B->tangent[i]);
      y[2 + A->dim + i][k] = -mju_dot3(n, c);
    }
  }
  mjtNum length = fmax(fabs(gap), 1e-3 * (mju_dist3(pos, A->point) + A->radius + B->radius) + 1e-9);
  if (!eliminate(a, y, size, 6, length)) return false;
  mjtNum both = 0.5 * (A->radius - B->radius);
  for (int k = 0; k < 6; k++) {
    x->dist[k] = n[0] * v[0][k] + n[1] * v[1][k] + n[2] * v[2][k];
    for (int i = 0; i < 3; i++) {
      x->normal[i][k] = e[0][i] * y[0][k] + e[1][i] * y[1][k];
      mjtNum sum = v[i][k];
      for (int j = 0; j < A->dim; j++) sum += A->tangent[j][i] * y[2 + j][k];
      for (int j = 0; j < B->dim; j++) sum += B->tangent[j][i] * y[2 + A->dim + j][k];
      x->pos[i][k] = 0.5 * sum + both * x->normal[i][k];
    }
  }
  return true;
}

// Newton steps of the equations at the top from nearly extremal points; n follows.
bool djm_polish(djmPatch* A, djmPatch* B, mjtNum n[3], const djmSurface s[2]) {
  for (int iter = 0; iter < 20; iter++) {
    mjtNum e[2][3], a[MAXDIM][MAXDIM], y[MAXDIM][6], r[3], rest = 0;
    djm_normalTo(e, n);
    mju_sub3(r, B->point, A->point);
    mjtNum gap = mju_dot3(n, r);
    int size = extremeMatrix(a, A, B, e, gap);
    for (int i = 0; i < 2; i++) y[i][0] = mju_dot3(e[i], r);
    for (int i = 0; i < A->dim; i++) y[2 + i][0] = -mju_dot3(A->tangent[i], n);
    for (int i = 0; i < B->dim; i++) y[2 + A->dim + i][0] = -mju_dot3(B->tangent[i], n);
    for (int i = 0; i < size; i++) rest = fmax(rest, fabs(y[i][0]) / (i < 2 ? s[0].scale : 1));
    if (rest < 1e-14) return true;
    if (!eliminate(a, y, size, 1, s[0].scale)) return false;
    for (int i = 0; i < 2; i++) mju_addToScl3(n, e[i], y[i][0]);
    mju_normalize3(n);
    for (int i = 0; i < A->dim; i++) mju_addToScl3(A->point, A->tangent[i], y[2 + i][0]);
    for (int i = 0; i < B->dim; i++) {
      mju_addToScl3(B->point, B->tangent[i], y[2 + A->dim + i][0]);
    }
    if (A->curved) djm_bendPatch(A, &s[0], A->point, n);
    if (B->curved) djm_bendPatch(B, &s[1], B->point, n);
    if (iter == 19) return rest < 1e-11;
  }
  return false;
}

// ---- next to a contact ------------------------------------------------------------------------

bool djm_isGeneral(int a, int b) {
  if (a == mjGEOM_PLANE || b == mjGEOM_SDF || a == mjGEOM_HFIELD) return false;
  if (a == mjGEOM_SPHERE) return b == mjGEOM_ELLIPSOID || b == mjGEOM_MESH;
  if (a == mjGEOM_CAPSULE) return b != mjGEOM_CAPSULE && b != mjGEOM_BOX;
  return a != mjGEOM_BOX || b != mjGEOM_BOX;
}

// Whether n, a and b of the patches obey the equations of an extreme within tol.
static bool isExtreme(const djmPatch* A, const djmPatch* B, const mjtNum n[3], mjtNum size,
                      mjtNum tol) {
  mjtNum r[3];
  mju_sub3(r, B->point, A->point);
  mju_addToScl3(r, n, -mju_dot3(r, n));
  if (mju_norm3(r) > tol * size) return false;
  for (int i = 0; i < A->dim; i++) {
    if (fabs(mju_dot3(A->tangent[i], n)) > tol) return false;
  }
  for (int i = 0; i < B->dim; i++) {
    if (fabs(mju_dot3(B->tangent[i], n)) > tol) return false;
  }
  return true;
}

// How far from the extreme a contact may be, of its size: points and normals of patches, the
// normal, the position.
typedef struct Tolerance {
  mjtNum patch, normal, pos;
} Tolerance;

static const Tolerance EXACT = {1e-9, 1e-9, 1e-9};
// What MuJoCo's iterations leave. They end by the distance, which is of second order: with its
// default tolerance of 1e-6 points and normals of curved surfaces are exact to some 1e-3.
static const Tolerance LOOSE[DJM_TIERS] = {
    {1e-6, 1e-4, 1e-3}, {1e-4, 0.02, 0.02}, {3e-3, 0.05, 0.05}};

bool djm_extremeNextTo(djmPatch* A, djmPatch* B, mjtNum n[3], mjtNum at[3], mjtNum* dist,
                       const mjModel* m, const djmTouch* t, int tier) {
  mjtNum minus[3], r[3];
  const Tolerance* tol = tier < 0 ? &EXACT : &LOOSE[tier];
  mju_copy3(n, t->n);
  mju_scl3(minus, n, -1);
  if (!djm_findPatch(A, m, &t->s[0], t->q[0], n, tol->patch, tier >= 0)) return false;
  if (!djm_findPatch(B, m, &t->s[1], t->q[1], minus, tol->patch, tier >= 0)) return false;
  if (A->curved) djm_bendPatch(A, &t->s[0], t->q[0], n);
  if (B->curved) djm_bendPatch(B, &t->s[1], t->q[1], n);
  if (!isExtreme(A, B, n, t->size, 2 * tol->normal)) return false;
  // What is exactly normal to a face is a contact of that face.
  int a = t->s[0].type, b = t->s[1].type;
  if (djm_isGeneral(a, b) || (a == mjGEOM_BOX && b == mjGEOM_BOX)) {
    if (A->dim < 2 && djm_isFaceNormal(m, &t->s[0], n)) return false;
    if (B->dim < 2 && djm_isFaceNormal(m, &t->s[1], minus)) return false;
  }
  if (tier >= 0 && !djm_polish(A, B, n, t->s)) return false;
  mju_sub3(r, B->point, A->point);
  *dist = mju_dot3(n, r) - A->radius - B->radius;
  mju_addScl3(at, A->point, n, A->radius + 0.5 * *dist);
  mjtNum far = tier < 0 ? 1e-9 * t->size : djm_searchError(m, t->size);
  return fabs(*dist - t->dist) < far && mju_dist3(n, t->n) < tol->normal &&
         mju_dist3(at, t->pos) < tol->pos * t->size;
}
