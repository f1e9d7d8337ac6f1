// The surface of a hull, shared out to its vertices.

#ifndef DJ_SHAPE_HULL_SURFACE_H_
#define DJ_SHAPE_HULL_SURFACE_H_

#include "shape/hull.h"

// Area of the hull (m^2), and the vertices' parts of it (nvert, sum 1; or NULL): that of each flat
// facet goes to its corners in equal parts, however it has been cut into triangles.
double dj_hullSurface(double* part, const djHull* hull);

#endif  // DJ_SHAPE_HULL_SURFACE_H_
