// Lattices over a box: displacements of the nodes on its surface are given, those inside follow.

#ifndef DJ_GRADIENT_LATTICE_H_
#define DJ_GRADIENT_LATTICE_H_

#include "base/pool.h"

#include <dijoco/types.h>

// Nodes are numbered with x fastest; so are those on the surface.
typedef struct djLattice {
  int cells[3];
  int nodes[3]; // cells + 1
  int inner[3]; // cells - 1
  int nnode, nsurface, ninner;
  int* surface;     // (nsurface) their nodes
  double size[3];   // m, of a cell
  double couple[3]; // 1/size^2, of neighbours along an axis
  double* sine[3];  // (inner x inner)
  double* value[3]; // (inner) eigenvalues
} djLattice;

// cells: at least 1 each, DJ_MOST_CELLS at most. size: of a cell. Memory is the pool's.
enum { DJ_MOST_CELLS = 100 };
djStatus dj_makeLattice(djLattice* lattice, const int cells[3], const double size[3], djPool* pool);

// Doubles that the following need as work.
size_t dj_latticeWork(const djLattice* lattice);

// node (nnode x 3) from z (nsurface x 3).
void dj_spreadLattice(double* node, const djLattice* lattice, const double* z, double* work);

// The transpose: dz (nsurface x 3) += that of dnode (nnode x 3), which is overwritten.
void dj_gatherLattice(double* dz, const djLattice* lattice, double* dnode, double* work);

// First cell that the displacements of nodes turn inside out: one of its corners has edges along x,
// y, z that no longer span a positive volume. -1: none.
int dj_flippedCell(const djLattice* lattice, const double* node);

#endif // DJ_GRADIENT_LATTICE_H_
