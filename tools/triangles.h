// Triangles of geoms for pictures, as many as there is room for.

#ifndef DJ_TOOLS_TRIANGLES_H_
#define DJ_TOOLS_TRIANGLES_H_

#include <dijoco/model.h>

typedef struct Triangles {
  int nvert;
  double* vert; // (nvert x 3) m
  int nface;
  int* face; // (nface x 3) vertices, counter-clockwise from outside
} Triangles;

// Those of a mesh's hull, in its own frame, as far as they are known; or, where these are known,
// its own, concave ones, else nearly those of the hull.
void triangles_mesh(Triangles* t, const djModel* model, int mesh, bool hull);
// Those of a height field and of its sides, in its geom's frame, at most so many: of more rows and
// columns some are left out.
void triangles_hfield(Triangles* t, const djModel* model, int hfield, int most);
void triangles_free(Triangles* t);

// At most so many: vertices that are near each other become one.
void triangles_thin(Triangles* t, int most);

#endif // DJ_TOOLS_TRIANGLES_H_
