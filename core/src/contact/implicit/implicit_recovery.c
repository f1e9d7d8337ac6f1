#include "contact/implicit/implicit_recovery.h"

#include "contact/friction/recovering.h"

#include <math.h>
#include <string.h>

#define FROM DJ_SURFACE_RECOVERY
#define FLOOR 0.1

void dj_liftSurfaces(djSurfaceLift* out, const double* setting, double depth) {
  const double s = setting[DJ_IMPLICIT_SUPPORT], g = -depth / s;
  memset(out, 0, sizeof *out);
  if (!(g < FROM)) return;
  double slope;
  const double raised = dj_raisedGap(&slope, g, FROM, FLOOR);
  out->e = s * (raised - g);
  out->by_depth = 1 - slope;
  out->by_support = raised - g * slope;
}

void dj_boundSurfaceLoad(djImplicitForce* force, double* by_past, const djSurfaceLift* lift,
                         const double gap[2], const djPairInput* in) {
  const double f = force->f, s = in->setting[DJ_IMPLICIT_SUPPORT];
  const double stiffness = in->setting[DJ_IMPLICIT_STIFFNESS];
  const djLagLaw law = {FROM, FLOOR, 0, 0, stiffness / s, in->force_cap,
                        dj_implicitBarrier(in->setting)};
  const djLagFactor c = dj_lagFactor(f, gap[0], gap[1], &law);
  const double gain = c.c + f * c.by_force;
  force->by_setting[DJ_IMPLICIT_SUPPORT] -= force->by_depth * lift->by_support;
  for (int i = 0; i < DJ_IMPLICIT_NSETTING; i++) force->by_setting[i] *= gain;
  force->by_depth *= gain * (1 - lift->by_depth);
  *by_past = 0;
  if (gap[0] < INFINITY) { // g = -depth/s
    force->by_depth -= f * c.by_gap / s;
    force->by_setting[DJ_IMPLICIT_SUPPORT] -= f * c.by_gap * gap[0] / s;
  }
  if (gap[1] < INFINITY) {
    *by_past = -f * c.by_past / s;
    force->by_setting[DJ_IMPLICIT_SUPPORT] -= f * (c.by_past * gap[1] + c.by_scale) / s;
    if (c.by_scale != 0) force->by_setting[DJ_IMPLICIT_STIFFNESS] += f * c.by_scale / stiffness;
  }
  force->f *= c.c;
}
