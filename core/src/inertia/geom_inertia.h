// Mass and inertia of bodies as functions of their geoms (dj_followGeomsBy), and its derivative.
//
// Mass, ipos, and the second moments about it, are read from the moments M of the body's mass about
// its frame (inertia/mass_rule.h). By `exact` these are linear in the geoms' moments, so that they
// are smooth where those are: everywhere, while meshes keep their facets.
// The axes (iquat) are the principal ones nearest to the compiled; where moments coincide they may
// turn at once, but the tensor is smooth, and what depends on it alone.

#ifndef DJ_INERTIA_GEOM_INERTIA_H_
#define DJ_INERTIA_GEOM_INERTIA_H_

#include "inertia/geom_moments.h"

// Moments of a body's mass about its frame, `volume` its mass.
djMoments dj_bodyMoments(const djModel* model, int body);

// Given the derivative by bodies' mass, ipos, inertia and iquat in param (model/param.h; of the
// last two only what does not come through the inertia tensor, as drag does) and by tensor (nbody x
// 6, the inertia tensor in principal axes, see model/body_param.h), adds that by pos, quat, size
// and mesh vertices of the geoms of bodies that follow. What was given of these bodies becomes
// zero: their own values have no effect. The rule is that by which the design followed last, or
// `exact` where it never did. Where two moments coincide, inertia and iquat entries that
// tell their axes apart are left out. moment (nbody) or NULL: the derivative by the moments of
// these bodies, 0 of others.
djStatus dj_followInertiaParams(double* param, double* tensor, djQuadratic* moment,
                                const djModel* design, const djModel* compiled);

#endif  // DJ_INERTIA_GEOM_INERTIA_H_
