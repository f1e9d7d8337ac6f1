// The shells of a mesh: surfaces that edges connect, of solids that may touch or overlap.
//
// An edge of two triangles joins them. Where solids touch or overlap an edge has more. About it,
// by the angle against the sense in which it goes from its lower vertex to the other one, a
// triangle that has it backwards begins a wedge of solid, and one that has it forwards ends one;
// each is joined to the one with which it bounds a wedge. Wedges end in the order in which they
// begin: of wedges that do not overlap that is the only way, and convex ones that do overlap are
// found by it. Shells that the simple edges tell to be whole take no part: where one has as many
// beginnings as ends at an edge, these are its own.

#ifndef DJ_SHAPE_SHELLS_H_
#define DJ_SHAPE_SHELLS_H_

#include "shape/pieces.h"

typedef struct djShells {
  int n;
  int* start; // (n + 1) in tri
  int* tri;   // (ntri) triangles of shell 0, 1, ..., by their first triangles; each list ascends
  int* local; // (nvert) memory
} djShells;

// Of a mesh with a vertex at every corner. dj_freeShells afterwards, whatever the status, which is
// DJ_NO_MEMORY or good.
djStatus dj_findShells(djShells* shells, const djTriangles* mesh);
void dj_freeShells(djShells* shells);

// One shell as a mesh of its own, with its numbers in the whole.
typedef struct djShell {
  djTriangles mesh;
  int* vertex;         // (mesh.nvert)
  const int* triangle; // (mesh.ntri) of the shells
} djShell;

djStatus dj_makeShell(djShell* shell, djShells* shells, int k, const djTriangles* mesh);
void dj_freeShell(djShell* shell);

// dj_checkSolid() of a shell alone; errors name it.
djStatus dj_checkShell(double* volume, int k, const djShell* shell, djError* err);

#endif // DJ_SHAPE_SHELLS_H_
