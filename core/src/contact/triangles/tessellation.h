// Closed triangle meshes of geoms that are no meshes. Vertices lie on the surface and follow sizes:
//   x = sum_k size_k f_k(vertex),
// so that triangles of round geoms lie within these: by 1 - cos(pi/n) of the radius with n segments
// around.

#ifndef DJ_CONTACT_TRIANGLES_TESSELLATION_H_
#define DJ_CONTACT_TRIANGLES_TESSELLATION_H_

#include "math/vec.h"

#include <stdbool.h>

typedef struct djTessellation {
  int type;   // of a geom
  int n;      // parts of an edge of a box; of round ones rings between the poles
  int around; // segments of these
  int nvert, ntri;
} djTessellation;

// Of a type, with at least so many triangles; 0: as the type has them by default. False: the type
// has none.
bool dj_openTessellation(djTessellation* out, int type, int wanted);
// f_k of vertex i.
void dj_tessellationVertex(djVec3 f[3], const djTessellation* of, int i);
// tri: (ntri x 3), outward.
void dj_tessellationTriangles(int* tri, const djTessellation* of);

#endif // DJ_CONTACT_TRIANGLES_TESSELLATION_H_
