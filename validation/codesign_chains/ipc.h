// IPC's barrier (Li et al. 2020) between two triangulated hulls, by their vertices: what the
// separating plane is timed against.
//
// The sum, over all pairs of a vertex and a face and of two edges of different hulls that are
// nearer than dhat, of b(d) = -(d - dhat^2)^2 ln(d/dhat^2), d their squared distance; pairs of
// edges have IPC's mollifier. Nothing is allocated in evaluations and Hessians stay in blocks of
// four vertices, which is in IPC's favour.

#ifndef DJ_VALIDATION_CODESIGN_IPC_H_
#define DJ_VALIDATION_CODESIGN_IPC_H_

#include <stdbool.h>

enum { IPC_MAX_VERT = 200, IPC_MAX_BLOCK = 20000 };

// A closed triangle mesh of convex shape.
typedef struct IpcHull {
  int nvert, nface, nedge;
  int face[2 * IPC_MAX_VERT][3], edge[3 * IPC_MAX_VERT][2];
  double scale[3 * IPC_MAX_VERT]; // (nedge) squared length
} IpcHull;

// One pair of primitives: four vertices, of a then b; the Hessian by them.
typedef struct IpcBlock {
  int vert[4];
  double hessian[144];
} IpcBlock;

typedef struct Ipc {
  bool project; // in: blocks become positive semi-definite, as IPC's
                //   Newton steps need them
  int npair;    // that are tested after the broad phase
  int nblock;   // that are near
  IpcBlock block[IPC_MAX_BLOCK];
  double gradient[2 * 3 * IPC_MAX_VERT]; // by the vertices of a, then b
  double least;                          // squared distance of the nearest pair
} Ipc;

// Faces of the hull of n points in general position (n x 3) and their edges; ends the program where
// these are no closed surface.
void ipc_makeHull(IpcHull* hull, int n, const double* vert);

// Value, gradient and Hessian of the barrier between a and b, with vertices (nvert x 3) in the
// world.
double ipc_evaluate(Ipc* out, const IpcHull* a, const double* va, const IpcHull* b,
                    const double* vb, double dhat);

// The same by the poses of both: for a, then b, 3 numbers of a translation and 3 of a rotation (its
// vector) about `at` (2 x 3). Of what was evaluated last with the Hessian not projected.
void ipc_byPoses(double gradient[12], double hessian[144], const Ipc* out, const double at[6],
                 const IpcHull* a, const double* va, const IpcHull* b, const double* vb);

#endif // DJ_VALIDATION_CODESIGN_IPC_H_
