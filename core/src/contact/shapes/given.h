// Implicit surfaces of a model's geoms as they are given, and the sharpness of those that are not.

#ifndef DJ_CONTACT_SHAPES_GIVEN_H_
#define DJ_CONTACT_SHAPES_GIVEN_H_

#include "math/spatial.h"
#include "shape/implicit.h"

#include <dijoco/model.h>

typedef struct djGivenSurface {
  int family;
  const djImplicitRow* row;
  bool hull;            // a polytope of the facets of the geom's mesh: its only number is L
  int nface;            // facets of its own
  int nnumber;          // without the sharpness
  const double* number; // (nnumber) m
  djPose frame;         // in the body's; not of `hull`
} djGivenSurface;

// False: the geom has none.
bool dj_givenSurface(djGivenSurface* out, const djModel* model, int geom);

// Whether a given surface is one; the error does not name the geom. Of `hull` what shows without
// the mesh: the rest does as its contact shape is made.
djStatus dj_checkGiven(const djModel* model, int geom, djError* err);

// The default rule: edges of the surface lie within a hundredth of the geom's bounding radius, or a
// millimetre. inner: radius of the largest ball inside.
double dj_ruleOfSharpness(int type, double bound, double inner);

#endif // DJ_CONTACT_SHAPES_GIVEN_H_
