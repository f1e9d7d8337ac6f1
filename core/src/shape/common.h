// What convex polyhedra have in common.

#ifndef DJ_SHAPE_COMMON_H_
#define DJ_SHAPE_COMMON_H_

#include "math/vec.h"

#include <stdbool.h>

// The point that is deepest inside n half spaces, plane (n x 4): unit normal and offset, n.x <= d
// inside, and how deep: the distance to the nearest plane, negative where nothing is inside all.
// The planes bound a region (those of one polyhedron do). Of a common face or edge of two polyhedra
// it is a point in the middle. size: of the polyhedra, m; start: some point near.
double dj_commonPoint(djVec3* point, int n, const double* plane, djVec3 start, double size);

// Is some point inside of all half spaces once these are moved outward by `grow`? To 1e-5 of size.
bool dj_haveCommon(int n, const double* plane, djVec3 start, double size, double grow);

#endif // DJ_SHAPE_COMMON_H_
