#include "force/bend_param.h"

// f times the derivatives of P, or (1) of P', by its coefficients.
static void addPowers(djParamSums* s, const djModel* m, const djCoupling* both, int c, double f,
                      int derivative) {
  double* to = dj_paramBlock(s->param, m, DJ_FIELD_EQUALITY_POLYCOEF) + 5 * m->coord_id[c];
  double power = 1;
  if (both->c[1] < 0) {
    to[0] += f;
    return;
  }
  for (int k = derivative; k < 5; k++, power *= both->x) to[k] += f * (derivative ? k : 1) * power;
}

void dj_bendLength(djParamSums* s, double* C, const djModel* m, const djPoint* at,
                   const djVec3* ref, int c, double f) {
  djCoupling both;
  if (dj_coupling(&both, m, at->coord, c)) {
    addPowers(s, m, &both, c, -f, 0);
    dj_bendLength(s, C, m, at, ref, both.c[0], f);
    if (both.c[1] >= 0) dj_bendLength(s, C, m, at, ref, both.c[1], -both.slope * f);
    return;
  }
  if (!dj_coordinateBends(m, c)) return;
  dj_addCoordinateWrench(C, m, at->kin, ref, c, f);
  dj_addCoordinateSites(s->param, m, at->kin, c, f);
}

void dj_bendPath(djParamSums* s, double* W, double* C, const djModel* m, const djPoint* at,
                 const djVec3* ref, int c, double f, const double* z, const double* x) {
  djCoupling both;
  if (dj_coupling(&both, m, at->coord, c)) {
    dj_bendPath(s, W, C, m, at, ref, both.c[0], f, z, x);
    if (both.c[1] < 0) return;
    double rate = dj_coordinateRate(at->coord, m, both.c[1], z);
    addPowers(s, m, &both, c, -f * rate, 1);
    dj_bendPath(s, W, C, m, at, ref, both.c[1], -both.slope * f, z, x);
    dj_bendLength(s, C, m, at, ref, both.c[1], -both.bend * rate * f);
    return;
  }
  if (!dj_coordinateBends(m, c)) return;
  dj_addCoordinateWrench(W, m, at->kin, ref, c, f);
  dj_addCoordinateCotangents(C, m, at->kin, ref, c, f, x);
  dj_addCoordinateSitesSecond(s->param, m, at->kin, ref, c, f, x);
}
