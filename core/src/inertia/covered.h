// What of the faces of convex solids lies inside of other ones.

#ifndef DJ_INERTIA_COVERED_H_
#define DJ_INERTIA_COVERED_H_

#include "inertia/cones.h"
#include "inertia/solids.h"

// A signed triangle of a face: its first corner and two points, in the part as it is. Those of a
// face together are what other solids cover of it.
typedef struct djCover {
  void (*visit)(struct djCover* c, int solid, int face, djVec3 a, djVec3 b);
  djCones cones; // where visit is NULL the triangles' cones are added here
  djVec3 from;   // to which cones lead
} djCover;

djStatus dj_visitCovered(djCover* c, const djSolids* s);

#endif // DJ_INERTIA_COVERED_H_
