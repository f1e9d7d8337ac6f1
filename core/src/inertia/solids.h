// Convex polytopes for the question of what lies inside of which: scaled about their middles, with
// the half spaces of their triangles, and which of them may share something.

#ifndef DJ_INERTIA_SOLIDS_H_
#define DJ_INERTIA_SOLIDS_H_

#include "inertia/hull_union.h"
#include "inertia/polygons.h"

// What two faces have in common.
typedef struct djEdge {
  int vert[2];
  int face[2];  // which has it from the first vertex to the other one, and back; -1: none
  int next;     // another edge of the lower vertex, or -1
  int opposite; // 1, 2: it is opposite to the first corner of either face
} djEdge;

typedef struct djSolid {
  const djPolytope* part;
  djVec3 middle;
  double scale; // x becomes x + scale (x - middle)
  int nvert;    // vertices that facets have
  djVec3* vert; // (nvert)
  int* face;    // (part->nface x 3) into vert
  int nedge;
  djEdge* edge;             // (nedge)
  int nlane;                // nface, up to a multiple of lanes
  int nword;                // words of 64 bits for a bit a side
  djHalfSpace* side;        // (nface); that of a face without an area holds everything
  double* lanes;            // (4 x nlane) normals and offset again, an array each; what follows
                            //   the last side holds everything
  int near_begin, near_end; // in djSolids.near
} djSolid;

// Another solid that may share something with one: no side of either has the whole other one
// beyond.
typedef struct djNear {
  int other;
  size_t out; // in djSolids.bits: for each vertex nword words of the other's sides,
              //   those that it is beyond
} djNear;

typedef struct djSolids {
  int n;
  djSolid* solid; // (n)
  double* box;    // (n x 6) lower and upper xyz
  djNear* near;   // a list a solid, by `other`
  uint64_t* bits;
  void* buffer;
} djSolids;

// dj_freeSolids afterwards, whatever the status. Part k is scaled by 1 + `by` (root 2 + fraction of
// k times the golden ratio).
djStatus dj_makeSolids(djSolids* s, int n, const djPolytope* part, double by);
void dj_freeSolids(djSolids* s);

// Which sides of a solid a triangle is not inside of (nword words, into `cut`). Returns false where
// it lies beyond one of them. What lies in a side's plane within rounding errors is on neither
// side.
bool dj_mayEnter(uint64_t* cut, const djSolid* solid, const djVec3 triangle[3]);

#endif // DJ_INERTIA_SOLIDS_H_
