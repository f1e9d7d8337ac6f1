// Overlaps of convex hulls: what they fill together, and what of their volumes counts more than
// once.

#ifndef DIJOCO_OVERLAP_H_
#define DIJOCO_OVERLAP_H_

#include <dijoco/model.h>

#ifdef __cplusplus
extern "C" {
#endif

// The convex hull of points.
typedef struct djHullPoints {
  int nvert;           // how many points
  const double* vert;  // (nvert x 3) m; any frame, the same for all hulls
} djHullPoints;

// Volumes of a list of hulls. A point that k of them cover counts k times in `sum`, once in
// `whole`, and k - 1 times in `overlap`, which is their difference; any k.
typedef struct djHullOverlap {
  int nhull;           // that have a volume
  double sum;          // m^3
  double whole;        // m^3; of the union
  double overlap;      // m^3; never negative
  double share;        // 1; overlap/sum; 0 where there is nothing
  double error;        // m^3; bound of what is wrong with whole and overlap
} djHullOverlap;

// Of n hulls. Flat ones have no volume and count for nothing. DJ_INVALID: points are not finite, or
// there are too many.
DJ_API djStatus dj_overlapOfHulls(djHullOverlap* out, int n, const djHullPoints* hull,
                                  djError* err);

// Of a body's mesh and box geoms, colliding or not, in its frame; of all bodies but the world for
// body -1, each for itself. Other geoms are left out.
DJ_API djStatus dj_bodyOverlap(djHullOverlap* out, const djModel* model, int body, djError* err);

#ifdef __cplusplus
}
#endif

#endif // DIJOCO_OVERLAP_H_
