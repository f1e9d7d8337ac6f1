// Points on the surfaces of geoms, where none are given, and a tree of balls about points.

#ifndef DJ_CONTACT_SHAPES_POINTS_H_
#define DJ_CONTACT_SHAPES_POINTS_H_

#include "math/vec.h"

#include <stdbool.h>

// Points of a type that is no mesh: of sphere and capsule with its radius, on the axis; of others
// on the surface. They lie at
//   x_k = u_k size[axis_k],
// u fixed numbers. The number is at least `wanted`, and that of a regular set:
//   sphere 1; capsule any; box k x k on each face, k >= 2; ellipsoid 4 k^2 + 2, an octahedron's
//   faces in k parts; cylinder 12 k + 2, three rings and the centres of its ends.
// Planes have none.
int dj_typePoints(int type, int wanted);
// unit (n x 3), of that number; axes (3): those of sizes.
void dj_placePoints(double* unit, int axes[3], int type, int n);

// How many are wanted of a geom of this size, where that is not given: of a capsule so many that
// they are no farther apart than its radius, up to 17; box 5 x 5, ellipsoid and cylinder 50 or
// more.
int dj_ruleOfPoints(int type, const double size[3]);

// ---- tree ---------------------------------------------------------------------------------------

// A ball that holds points first .. first + n - 1. Its left child is the next node; right: 0 of a
// leaf, else how many nodes later the other child is.
typedef struct djPointNode {
  double center[3], radius;
  double first, n, right;
} djPointNode;
enum { DJ_POINT_NODE = 7 }; // numbers of it

// Nodes of n points at most.
static inline int dj_pointNodes(int n) { return n / 2 + 1; }

// Sorts points (n x 3), and id (n) with them, and fills the nodes.
void dj_makePointTree(djPointNode* node, double* point, double* id, int n);

#endif // DJ_CONTACT_SHAPES_POINTS_H_
