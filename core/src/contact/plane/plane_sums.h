// Sums over the vertices of both clouds at one plane, eight at a time.

#ifndef DJ_CONTACT_PLANE_PLANE_SUMS_H_
#define DJ_CONTACT_PLANE_PLANE_SUMS_H_

#include "math/barrier.h"
#include "contact/plane/plane_solve.h"

#include <math.h>

// Lane sums of value, P' xi, P'' xi xi^T and r P', with xi = sigma (z, 1).
typedef struct djLaneSums {
  djLanes v, fx, fy, fz, fo, xx, xy, xz, xo, yy, yz, yo, zz, zo, oo, rp;
} djLaneSums;

// A normal n: its length, the inverse, and the unit vector.
typedef struct djNormal {
  double length, inv, u[3];
} djNormal;

DJU_INLINE djNormal dj_normalOf(const double n[3]) {
  djNormal d;
  d.length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
  d.inv = d.length > 0 ? 1 / d.length : 0;
  for (int k = 0; k < 3; k++) d.u[k] = d.inv * n[k];
  return d;
}

// acc += b[0], b[1] xi, b[2] xi xi^T
DJU_INLINE void dj_addTerms(djLaneSums* acc, const djLanes b[3], djLanes x, djLanes y, djLanes z,
                            djLanes o) {
  djLanes px = b[2] * x, py = b[2] * y, pz = b[2] * z, po = b[2] * o;
  acc->v += b[0];
  acc->fx = dju_fmaLanes(b[1], x, acc->fx);
  acc->fy = dju_fmaLanes(b[1], y, acc->fy);
  acc->fz = dju_fmaLanes(b[1], z, acc->fz);
  acc->fo = dju_fmaLanes(b[1], o, acc->fo);
  acc->xx = dju_fmaLanes(px, x, acc->xx);
  acc->xy = dju_fmaLanes(px, y, acc->xy);
  acc->xz = dju_fmaLanes(px, z, acc->xz);
  acc->xo = dju_fmaLanes(px, o, acc->xo);
  acc->yy = dju_fmaLanes(py, y, acc->yy);
  acc->yz = dju_fmaLanes(py, z, acc->yz);
  acc->yo = dju_fmaLanes(py, o, acc->yo);
  acc->zz = dju_fmaLanes(pz, z, acc->zz);
  acc->zo = dju_fmaLanes(pz, o, acc->zo);
  acc->oo = dju_fmaLanes(po, o, acc->oo);
}

// Add vertices begin to end - 1; returns their smallest arguments. u = n/|n|.
//
// Arguments: D_i = sigma (n.y_i + o) - r|n| - q(n) = p.xi_i with xi_i = sigma (z_i, 1) and
// z_i = y_i - sigma (r u + c). dD/dp = xi, d2D/dn dn = -(r/|n|)(I - u u^T) - C.
//
// point: c of both sides, NULL where nothing is curved; with it acc->rp is the sum of P' over a.
DJU_INLINE djLanes dj_addVertices(djLaneSums* acc, const djClouds* c, int begin, int end,
                                  const double p[4], const double u[3], djBarrier law,
                                  const djVec3* point) {
  const bool round = c->r[0] > 0 || c->r[1] > 0;
  const djLanes p0 = dju_splat(p[0]), p1 = dju_splat(p[1]);
  djLanes least = dju_splat(INFINITY);
  for (int i = begin / DJU_LANES * DJU_LANES; i < end; i += DJU_LANES) {
    djLanes x = dju_loadLanes(c->x[0] + i), y = dju_loadLanes(c->x[1] + i);
    djLanes z = dju_loadLanes(c->x[2] + i), o = dju_loadLanes(c->x[3] + i), r;
    if (round) {
      r = dju_loadLanes(c->lift + i);
      x -= r * u[0];
      y -= r * u[1];
      z -= r * u[2];
    }
    djMask first = dju_firstLanes(c->na - i);
    if (point) {
      x -= dju_pick(first, dju_splat(point[0].x), dju_splat(point[1].x));
      y -= dju_pick(first, dju_splat(point[0].y), dju_splat(point[1].y));
      z -= dju_pick(first, dju_splat(point[0].z), dju_splat(point[1].z));
    }
    djLanes d = dju_fmaLanes(p0, x, p1 * y) + (p[2] * z + p[3] * o);
    djMask own = dju_firstLanes(end - i);
    if (begin > 0) own &= ~dju_firstLanes(begin - i);
    if (begin > 0 || end < c->n) {
      least = dju_minLanes(dju_pick(own, d, least), least);
    } else {
      least = dju_minLanes(d, least);
    }
    djMask mask = (d < law.s) & own;
    if (c->n > 2 * DJU_LANES && !dju_any(mask)) continue;
    djLanes b[3];
    dj_barrierLanes(b, d, law, mask);
    dj_addTerms(acc, b, x, y, z, o);
    if (point) {
      acc->rp += dju_keep(b[1], first);
    } else if (round) {
      acc->rp = dju_fmaLanes(r, b[1], acc->rp);
    }
  }
  return least;
}

// Add tails of vertices begin to end - 1; returns the smallest of their x + a.
DJU_INLINE djLanes dj_addTails(djLaneSums* acc, const djClouds* c, int begin, int end,
                               const double p[4]) {
  const djLanes p0 = dju_splat(p[0]), p1 = dju_splat(p[1]), a = dju_splat(c->tail->offset);
  djLanes least = dju_splat(INFINITY);
  for (int i = begin / DJU_LANES * DJU_LANES; i < end; i += DJU_LANES) {
    djLanes x = dju_loadLanes(c->x[0] + i), y = dju_loadLanes(c->x[1] + i);
    djLanes z = dju_loadLanes(c->x[2] + i), o = dju_loadLanes(c->x[3] + i), b[3];
    djLanes d = dju_fmaLanes(p0, x, p1 * y) + (p[2] * z + (p[3] * o + a));
    djMask own = dju_firstLanes(end - i);
    if (begin > 0) own &= ~dju_firstLanes(begin - i);
    least = dju_minLanes(dju_pick(own, d, least), least);
    dj_tailLanes(b, d, dju_keep(dju_loadLanes(c->tail->weight + i), own));
    dj_addTerms(acc, b, x, y, z, o);
  }
  return least;
}

// As in djPlaneSums, in that order.
DJU_INLINE void dj_storeSums(double out[16], const djLaneSums* a) {
  dju_storeLanes(out, dju_foldEight(a->v, a->fx, a->fy, a->fz, a->fo, a->xx, a->xy, a->xz));
  dju_storeLanes(out + 8, dju_foldEight(a->xo, a->yy, a->yz, a->yo, a->zz, a->zo, a->oo, a->rp));
}

#endif  // DJ_CONTACT_PLANE_PLANE_SUMS_H_
