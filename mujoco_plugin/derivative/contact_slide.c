// Contacts of points that MuJoCo's rules move within a geom: those of a cylinder's rim on a plane,
// and of points of a capsule's axis on a box.
//
// Plane and cylinder, axis k: the direction e0 in which the rim is deepest turns by theta' about k
// in the cylinder; T0 = k x e0 stays normal to n, so that theta' = n . (w x T0) / (n . e0). All
// contacts are points of rims at fixed angles (0, 120, -120 degrees) from e0. Where the tilt is
// less than UPRIGHT, e0 is that of rounding: the points are taken as fixed to the cylinder.
//
// Capsule and box: a point c = center + z k of the axis, against the box's nearest vertex, edge or
// face. z is an end of the axis; or where the axis is next to an edge or a corner; or where it
// crosses the plane of a side; or a fixed span of the box, 2 s_i / |k_i|, beyond such a place.

#include "contact_part.h"

#include <math.h>

static const mjtNum UPRIGHT = 1e-7;

static void axisOf(mjtNum out[3], const djmSurface* s, int i) {
  for (int r = 0; r < 3; r++) out[r] = s->mat[3 * r + i];
}

// ---- plane and cylinder ------------------------------------------------------------------------

bool djm_planeCylinder(djmContactMotion* x, const djmTouch* t) {
  const djmSurface* s = &t->s[1];
  const mjtNum *n = t->n, *b = t->q[1];
  mjtNum k[3], r[3], e[3], e0[3], T0[3], T[3], v[3][6];
  if (t->s[0].type != mjGEOM_PLANE || s->type != mjGEOM_CYLINDER) return false;
  axisOf(k, s, 2);
  mju_sub3(r, b, s->pos);
  mjtNum z = mju_dot3(r, k);
  mju_addScl3(e, r, k, -z);
  mjtNum radius = mju_normalize3(e);
  if (fabs(radius - s->size[0]) > 1e-9 * t->size || fabs(fabs(z) - s->size[1]) > 1e-9 * t->size) {
    return false;
  }
  mju_scl3(e0, n, -1);
  mju_addToScl3(e0, k, mju_dot3(n, k));
  bool upright = mju_norm3(e0) < UPRIGHT;
  mju_normalize3(e0);
  mju_cross(T0, k, e0);
  mju_cross(T, k, e);
  mjtNum cosine = mju_dot3(e, e0);
  if (!upright && fabs(cosine - 1) > 1e-6 && fabs(cosine + 0.5) > 1e-6) return false;
  mju_cross(r, T0, n);
  djm_materialVelocity(v, b, t->pos);
  for (int c = 0; c < 6; c++) {
    mjtNum turn = c < 3 && !upright ? r[c] / mju_dot3(n, e0) : 0;
    x->dist[c] = 0;
    for (int i = 0; i < 3; i++) {
      x->pos[i][c] = v[i][c] + turn * radius * T[i];
      x->dist[c] += n[i] * x->pos[i][c];
      x->normal[i][c] = 0;
    }
    for (int i = 0; i < 3; i++) x->pos[i][c] -= 0.5 * n[i] * x->dist[c];
  }
  return true;
}

// ---- capsule and box ---------------------------------------------------------------------------

// The axis against a box that is held: k in world axes and, local, in those of the box; a point c
// of it (local), its velocity by the capsule's twist.
typedef struct Line {
  const djmSurface* box;
  mjtNum k[3], local[3], half, tol;
  mjtNum turn[3][6]; // of k
} Line;

// z' of a place at the axis' point c (world), local x, coordinate z; false: it is no such place.
static bool atPlace(mjtNum rate[6], const Line* l, const mjtNum c[3], const mjtNum x[3], mjtNum z,
                    const mjtNum pos[3]) {
  const mjtNum* size = l->box->size;
  mjtNum v[3][6], d[3], e[3] = {0};
  for (int k = 0; k < 6; k++) rate[k] = 0;
  if (fabs(fabs(z) - l->half) < l->tol) return true;
  djm_materialVelocity(v, c, pos);
  // j = 3: a corner; else an edge along j.
  for (int j = 3; j >= 0; j--) {
    for (int i = 0; i < 8; i++) {
      mjtNum y[3], b = j < 3 ? l->local[j] : 0;
      if (j < 3 && (i >> j) % 2) continue;
      for (int q = 0; q < 3; q++) y[q] = x[q] - ((i >> q) % 2 ? 1 : -1) * size[q];
      if (j < 3) y[j] = 0;
      if (fabs(mju_dot3(y, l->local)) > l->tol || 1 - b * b < 1e-9) continue;
      if (j < 3 && fabs(x[j]) > size[j] + l->tol) continue;
      mju_mulMatVec3(d, l->box->mat, y);
      if (j < 3) axisOf(e, l->box, j);
      for (int k = 0; k < 6; k++) {
        mjtNum sum = 0;
        for (int r = 0; r < 3; r++) sum -= (l->k[r] - b * e[r]) * v[r][k] + d[r] * l->turn[r][k];
        rate[k] = sum / (1 - b * b);
      }
      return true;
    }
  }
  return false;
}

// z' where the axis crosses the plane of a side.
static bool atSide(mjtNum rate[6], const Line* l, const mjtNum c[3], const mjtNum x[3],
                   const mjtNum pos[3]) {
  mjtNum v[3][6], e[3];
  for (int i = 0; i < 3; i++) {
    if (fabs(fabs(x[i]) - l->box->size[i]) > l->tol || fabs(l->local[i]) < 1e-9) continue;
    djm_materialVelocity(v, c, pos);
    axisOf(e, l->box, i);
    for (int k = 0; k < 6; k++) {
      rate[k] = -(e[0] * v[0][k] + e[1] * v[1][k] + e[2] * v[2][k]) / l->local[i];
    }
    return true;
  }
  return false;
}

// z' a span of the box beyond a place.
static bool beyondPlace(mjtNum rate[6], const Line* l, const mjtNum c[3], const mjtNum x[3],
                        mjtNum z, const mjtNum pos[3]) {
  for (int i = 0; i < 3; i++) {
    if (fabs(l->local[i]) < 1e-9) continue;
    for (int side = -1; side <= 1; side += 2) {
      mjtNum f[3], y[3], span = side * 2 * l->box->size[i] / l->local[i];
      if (fabs(z - span) > l->half + l->tol) continue;
      mju_addScl3(f, c, l->k, -span);
      mju_addScl3(y, x, l->local, -span);
      if (!atPlace(rate, l, f, y, z - span, pos)) continue;
      mjtNum e[3];
      axisOf(e, l->box, i);
      for (int k = 0; k < 6; k++) {
        mjtNum change = e[0] * l->turn[0][k] + e[1] * l->turn[1][k] + e[2] * l->turn[2][k];
        rate[k] -= span * change / l->local[i];
      }
      return true;
    }
  }
  return false;
}

bool djm_capsuleBox(djmContactMotion* x, const mjModel* m, const djmTouch* t) {
  const djmSurface* s = &t->s[0];
  if (s->type != mjGEOM_CAPSULE || t->s[1].type != mjGEOM_BOX) return false;
  Line l = {.box = &t->s[1], .half = s->size[1], .tol = 1e-9 * t->size};
  djmPatch core = {.radius = s->size[0]}, patch;
  mjtNum c[3], r[3], y[3], rate[6], slide[18], n[3];
  axisOf(l.k, s, 2);
  mju_mulMatTVec3(l.local, l.box->mat, l.k);
  for (int k = 0; k < 6; k++) {
    mjtNum w[3] = {k == 0, k == 1, k == 2};
    mju_cross(r, w, l.k);
    for (int i = 0; i < 3; i++) l.turn[i][k] = r[i];
  }
  mju_addScl3(c, t->q[0], t->n, -core.radius);
  mju_sub3(r, c, s->pos);
  mjtNum z = mju_dot3(r, l.k);
  mju_addToScl3(r, l.k, -z);
  if (mju_norm3(r) > l.tol) return false;
  mju_sub3(r, c, l.box->pos);
  mju_mulMatTVec3(y, l.box->mat, r);
  if (!atPlace(rate, &l, c, y, z, t->pos) && !atSide(rate, &l, c, y, t->pos) &&
      !beyondPlace(rate, &l, c, y, z, t->pos)) {
    return false;
  }
  mju_copy3(core.point, c);
  mju_scl3(n, t->n, -1);
  if (!djm_findPatch(&patch, m, l.box, t->q[1], n, 1e-9, true)) return false;
  for (int i = 0; i < 18; i++) slide[i] = l.k[i / 6] * rate[i % 6];
  if (!djm_extremal(x, &patch, &core, n, t->pos, slide)) return false;
  for (int i = 0; i < 18; i++) x->normal[i / 6][i % 6] *= -1;
  djm_exchange(x, t->n);
  return true;
}
