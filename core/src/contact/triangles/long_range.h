// The contact kernel long_range: a potential of the mean distance of triangle meshes.

#ifndef DJ_CONTACT_TRIANGLES_LONG_RANGE_H_
#define DJ_CONTACT_TRIANGLES_LONG_RANGE_H_

#include "contact/kernel.h"

enum {
  DJ_LONG_WEIGHTING,
  DJ_LONG_LEAF,
  DJ_LONG_EPS,
  DJ_LONG_TRIANGLES,
  DJ_LONG_STIFFNESS_SCALE,
  DJ_LONG_LENGTH_SCALE,
  DJ_LONG_STIFFNESS,
  DJ_LONG_FRICTION_EPS,
  DJ_LONG_NSETTING
};

enum { DJ_LONG_MEAN, DJ_LONG_PAPER };     // weightings
enum { DJ_LONG_PLANE, DJ_LONG_DISTANCE }; // leaves

extern const djKernelSettings dj_longSettings;

extern const djKernel dj_longRange;

#endif // DJ_CONTACT_TRIANGLES_LONG_RANGE_H_
