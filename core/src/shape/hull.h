// Convex hulls: facets, adjacency, erosion vectors, inner radius.

#ifndef DJ_SHAPE_HULL_H_
#define DJ_SHAPE_HULL_H_

#include "math/vec.h"

#include <dijoco/types.h>

// A hull in the frame of its vertices. Arrays live in one block, dj_freeHull releases it.
typedef struct djHull {
  int nvert;              // vertices of the hull
  int* id;                // (nvert) index into the input vertices
  double* vert;           // (nvert x 3)
  double* move;           // (nvert x 3) erosion vectors: shortest m with n_f . m >= 1, all facets
  int nface;
  int* face;              // (nface x 3) indices into vert, outward
  int* group;             // (nface) first triangle of the flat facet that each belongs to
  double* plane;          // (nface x 4) outward unit normal and offset: n.x <= d inside, of the
                          //   whole facet: its area vector, whatever its triangulation, so that
                          //   facets may bend when vertices move
  int* adjadr;            // (nvert + 1)
  int* adj;               // neighbours
  djVec3 center;          // centre of volume
  double inner;           // distance from center to the nearest facet
  double bound;           // distance from center to the farthest vertex
  double width;           // dj_hullWidth
  void* buffer;
} djHull;

// Hull of (nvert x 3) points by qhull, or from given outward triangles (nface > 0, indices into
// vert). DJ_INVALID for fewer than 4 points, flat or non-finite ones.
djStatus dj_makeHull(djHull* hull, int nvert, const double* vert, int nface, const int* face,
                     djError* err);
// The same, told of to a watch (or NULL), which may end it.
djStatus dj_makeHullWatched(djHull* hull, int nvert, const double* vert, int nface,
                            const int* face, const djWatch* watch, djError* err);
void dj_freeHull(djHull* hull);
size_t dj_hullBytes(const djHull* hull);   // of its arrays

// Hull of points that have moved, by the facets of the hull that they had: equal to dj_makeHull's
// up to rounding. Facets of several triangles stay one facet, with one normal, when they bend, so
// that erosion vectors stay smooth in the vertices. DJ_INVALID where a point lies above a facet
// that it is not part of.
djStatus dj_moveHull(djHull* hull, const djHull* old, int nvert, const double* vert);

djStatus dj_copyHull(djHull* copy, const djHull* hull);

// Middle half extent of its vertices, along their principal axes.
double dj_hullWidth(const djHull* hull);

// Shortest m with normal_k . m >= 1 for k < n (n >= 1); a small active-set problem.
// Returns false where there is none (normals positively span the space).
bool dj_erosionVector(double m[3], int n, const double* normal);

// The normals on which that m depends, n_f . m = 1, at most three. Returns how many; 0: no m.
int dj_activeNormals(int id[3], int n, const double* normal);

#endif  // DJ_SHAPE_HULL_H_
