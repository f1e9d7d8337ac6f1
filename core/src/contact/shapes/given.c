#include "contact/shapes/given.h"

#include "base/status.h"
#include "math/so3.h"

#include <stdlib.h>
#include <string.h>

bool dj_givenSurface(djGivenSurface* out, const djModel* m, int geom) {
  const int family = m->geom_family[geom];
  if (family < 0) return false;
  *out = (djGivenSurface){.family = family,
                          .row = dj_implicitTable[family],
                          .nnumber = m->geom_surfacenum[geom],
                          .number = m->surface_number + m->geom_surfaceadr[geom]};
  out->hull = !out->row->size && out->nnumber == 1;
  if (!out->row->size) out->nface = (out->nnumber - 1) / 4;
  const djPose own = {dju_load3(m->geom_surfacepos + 3 * geom),
                      dju_quatToMat(dju_loadQuat(m->geom_surfacequat + 4 * geom))};
  const djPose at = {dju_load3(m->geom_pos + 3 * geom),
                     dju_quatToMat(dju_loadQuat(m->geom_quat + 4 * geom))};
  out->frame = (djPose){dju_transform(&at, own.p), dju_mulMM(at.R, own.R)};
  return true;
}

djStatus dj_checkGiven(const djModel* m, int geom, djError* err) {
  djGivenSurface given;
  const double sharp = m->geom_sharpness[geom];
  if (!dj_givenSurface(&given, m, geom)) return DJ_OK;
  if (given.hull) {
    const char* name = given.row->name;
    if (!(sharp >= 1 && isfinite(sharp))) {
      return dj_fail(err, DJ_INVALID, "%s: %s = %g must be at least 1", name, given.row->sharp,
                     sharp);
    }
    if (given.number[0] > 0 && isfinite(given.number[0])) return DJ_OK;
    return dj_fail(err, DJ_INVALID, "%s: L = %g must be positive", name, given.number[0]);
  }
  double* mem = malloc((size_t)dj_implicitRoom(given.row, given.nface) * sizeof *mem);
  if (!mem) return dj_failMemory(err);
  djImplicit shape;
  memcpy(mem, given.number, (size_t)given.nnumber * sizeof *mem);
  mem[given.nnumber] = sharp;
  const djStatus status = dj_fillImplicit(&shape, mem, given.row, given.nface, 0, err);
  free(mem);
  return status;
}

// How deep an edge may lie below that of a geom: a hundredth of its bounding radius, or a
// millimetre.
static double deviation(double bound) { return fmax(0.01 * bound, fmin(1e-3, 0.05 * bound)); }

// Corners of a superellipsoid lie at 3^(-1/2n) of a box's, rims of a cylinder at 2^(-1/2n); the
// ends of a capsule deeper by r (1 - sqrt(1 - (log 2/beta)^2)); corners of a polytope by about
// log(k) L/beta for k facets there, times what moves a corner when its facets move by 1.
double dj_ruleOfSharpness(int type, double bound, double inner) {
  const double part = fmin(deviation(bound) / bound, 0.5);
  switch (type) {
    case DJ_BOX:
      return fmin(ceil(-0.5 * log(3) / log1p(-part)), 64);
    case DJ_CYLINDER:
      return fmin(ceil(-0.5 * log(2) / log1p(-part)), 64);
    case DJ_CAPSULE: {
      const double left = 1 - fmin(deviation(bound) / inner, 0.5);
      return fmax(log(2) / sqrt(1 - left * left), 3);
    }
    case DJ_MESH:
      return fmin(fmax(2 * inner / deviation(bound), 20), 500);
    default:
      return 1;
  }
}
