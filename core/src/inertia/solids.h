// Convex polytopes for the question of what lies inside of which: scaled about their middles, with
// the half spaces of their facets, and on which sides of these the vertices of near ones are.

#ifndef DJ_INERTIA_SOLIDS_H_
#define DJ_INERTIA_SOLIDS_H_

#include "inertia/hull_union.h"
#include "inertia/polygons.h"

typedef struct djSolid {
  const djPolytope* part;
  djVec3 middle;
  double scale;             // x becomes x + scale (x - middle)
  int nvert;                // vertices that facets have
  djVec3* vert;             // (nvert)
  int* face;                // (part->nface x 3) into vert
  int nside;                // facets of an area
  int nword;                // words of 64 bits for a bit a side
  djHalfSpace* side;        // (nside)
  double* lanes;            // (4 x 64 nword) normals and offset again, an array each; what follows
                            //   the last side holds everything
  int near_begin, near_end; // in djSolids.near
} djSolid;

// Another solid that may share something with one: no facet of either has the whole other one
// beyond.
typedef struct djNear {
  int other;
  size_t bits; // in djSolids.bits: for each vertex nword words of the other's sides that
               //   it is not inside of, then nword of those that it is not outside of
} djNear;

typedef struct djSolids {
  int n;
  djSolid* solid; // (n)
  djNear* near;   // a list a solid, by `other`
  uint64_t* bits;
  void* buffer;
} djSolids;

// dj_freeSolids afterwards, whatever the status. Part k is scaled by 1 + `by` (root 2 + fraction of
// k times the golden ratio).
djStatus dj_makeSolids(djSolids* s, int n, const djPolytope* part, double by);
void dj_freeSolids(djSolids* s);

// Which sides of a near solid a triangle is not inside of (nword words, into `cut`). Returns false
// where it lies beyond one of them.
bool dj_mayEnter(uint64_t* cut, const djSolids* s, int solid, int face, const djNear* near);

#endif // DJ_INERTIA_SOLIDS_H_
