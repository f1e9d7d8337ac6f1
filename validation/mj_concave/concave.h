// Parts of mj_concave: closed meshes, the scenes that they hang in, and how deep they reach into
// each other.

#ifndef DJ_VALIDATION_MJ_CONCAVE_H_
#define DJ_VALIDATION_MJ_CONCAVE_H_

#include "common/report.h"

#include <dijoco/decompose.h>
#include <dijoco/dijoco.h>
#include <dijoco/mujoco.h>

// ---- meshes: closed, outward, in m. Memory is released by dj_freeTriangles ----------------------

void cv_ring(djTriangles* mesh); // about z
void cv_peg(djTriangles* mesh);  // along x
void cv_mug(djTriangles* mesh);  // standing along z, its handle towards x
void cv_hook(djTriangles* mesh); // along x, up at its end

// ---- scenes -------------------------------------------------------------------------------------

// What hangs (body "thing"), and what it hangs on (body "holder", on two slides that servos hold).
typedef struct Hanging {
  const char* name;
  void (*thing)(djTriangles* mesh);
  void (*holder)(djTriangles* mesh);
  double pos[3], quat[4]; // of the thing as it is let go: around the holder, above its rest
  double before[3];       // where it is to begin so that it does not touch for a while
} Hanging;
enum { NHANGING = 2 };
extern const Hanging cv_hangings[NHANGING];

// The scene as MJCF (freed by free()): meshes as they are, or each as hulls of dj_cutBlocks, at
// most so many.
char* cv_write(const Hanging* what, int most_hulls, const double pos[3]);
mjModel* cv_compile(const Hanging* what, int most_hulls, const double pos[3]);

// ---- distances ----------------------------------------------------------------------------------

// Both bodies' surfaces as they are in d.
typedef struct Surfaces {
  djTriangles own[2]; // in the frames of the bodies
  djTriangles world[2];
  int body[2];
} Surfaces;

void cv_openSurfaces(Surfaces* s, const Hanging* what, const mjModel* m);
void cv_closeSurfaces(Surfaces* s);
// Distance of the surfaces; where they cross, less how deep points of one are inside of the other:
// vertices, and the middles of edges and of triangles. Bodies are at pos (3), mat (9) of each.
double cv_apart(Surfaces* s, const double* const pos[2], const double* const mat[2]);

#endif // DJ_VALIDATION_MJ_CONCAVE_H_
