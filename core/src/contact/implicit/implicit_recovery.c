#include "contact/implicit/implicit_recovery.h"

#include "contact/friction/recovering.h"

#include <string.h>

#define FROM 0.2
#define FLOOR 0.1

void dj_liftSurfaces(djSurfaceLift* out, const double* setting, double depth) {
  const double s = setting[DJ_IMPLICIT_SUPPORT], g = -depth / s, width = FROM - FLOOR;
  memset(out, 0, sizeof *out);
  if (!(g < FROM)) return;
  double slope;
  const double raised = dj_raisedGap(&slope, g, FROM, FLOOR);
  out->e = s * (raised - g);
  out->by_depth = 1 - slope;
  out->by_support = raised - g * slope;
  out->t = (g - FROM) / width;
  out->t_by_depth = -1 / (s * width);
  out->t_by_support = -g / (s * width);
}

void dj_boundSurfaceLoad(djImplicitForce* force, const djSurfaceLift* lift, double W) {
  if (!(lift->e > 0)) return;
  double by[2];
  const double c = dj_lagBound(by, force->f, lift->t, W);
  const double gain = c + force->f * by[0], rise = force->f * by[1];
  force->by_setting[DJ_IMPLICIT_SUPPORT] -= force->by_depth * lift->by_support;
  for (int i = 0; i < DJ_IMPLICIT_NSETTING; i++) force->by_setting[i] *= gain;
  force->by_setting[DJ_IMPLICIT_SUPPORT] += rise * lift->t_by_support;
  force->by_depth = gain * force->by_depth * (1 - lift->by_depth) + rise * lift->t_by_depth;
  force->f *= c;
}
