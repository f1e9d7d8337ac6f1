// The contact kernel implicit_surface (iDCOL): geoms as strictly convex surfaces that push each
// other apart by a law of their overlap.

#ifndef DJ_CONTACT_IMPLICIT_IMPLICIT_SURFACE_H_
#define DJ_CONTACT_IMPLICIT_IMPLICIT_SURFACE_H_

#include "contact/kernel.h"
#include "math/barrier.h"

enum {
  DJ_IMPLICIT_LAW,
  DJ_IMPLICIT_STIFFNESS_SCALE,
  DJ_IMPLICIT_EXPONENT,
  DJ_IMPLICIT_SUPPORT_SCALE,
  DJ_IMPLICIT_SUPPORT,
  DJ_IMPLICIT_STIFFNESS,
  DJ_IMPLICIT_DAMPING,
  DJ_IMPLICIT_FRICTION_EPS,
  DJ_IMPLICIT_NSETTING
};
static inline bool dj_isLaw(const double* setting, djLaw law) {
  return (int)setting[DJ_IMPLICIT_LAW] == (int)law;
}
// Whether the law is a barrier, and which.
static inline bool dj_hasBarrier(const double* setting) {
  djBarrierLaw barrier;
  return dj_barrierOf(&barrier, (djLaw)setting[DJ_IMPLICIT_LAW]);
}
static inline djBarrierLaw dj_implicitBarrier(const double* setting) {
  djBarrierLaw barrier;
  dj_barrierOf(&barrier, (djLaw)setting[DJ_IMPLICIT_LAW]);
  return barrier;
}

extern const djKernelSettings dj_implicitSettings;

extern const djKernel dj_implicitSurface;

#endif // DJ_CONTACT_IMPLICIT_IMPLICIT_SURFACE_H_
