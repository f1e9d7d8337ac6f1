// Entries `room` and `max_step` of the kernel implicit_surface.

#ifndef DJ_CONTACT_IMPLICIT_IMPLICIT_MAX_STEP_H_
#define DJ_CONTACT_IMPLICIT_IMPLICIT_MAX_STEP_H_

#include "contact/kernel.h"

double dj_surfaceRoom(const double* setting, const djShape* a, const djShape* b);
djStatus dj_surfaceMaxStep(double* factor, double* gap, const djGeomPair* pair,
                           const djPairMotion* motion);

#endif // DJ_CONTACT_IMPLICIT_IMPLICIT_MAX_STEP_H_
