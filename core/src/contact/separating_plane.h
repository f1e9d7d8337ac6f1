// The separating-plane contact model (SDRS): row of the kernel table.

#ifndef DJ_CONTACT_SEPARATING_PLANE_H_
#define DJ_CONTACT_SEPARATING_PLANE_H_

#include "contact/kernel.h"

extern const djKernel dj_separatingPlane;

#endif  // DJ_CONTACT_SEPARATING_PLANE_H_
