// What making, cutting and comparing of pieces (dijoco/decompose.h) share.

#ifndef DJ_SHAPE_PIECES_H_
#define DJ_SHAPE_PIECES_H_

#include "math/vec.h"
#include "shape/mesh_closed.h"

#include <dijoco/decompose.h>

// Volume of what triangles bound, about the first vertex.
double dj_boundedVolume(const djTriangles* mesh);

// Box of (n x 3) points: least and greatest coordinates; of no points upside down.
void dj_boxOfPoints(double low[3], double high[3], int n, const double* point);

// A mesh that was given has what its numbers say; otherwise an error.
djStatus dj_checkTriangles(const djTriangles* mesh, djError* err);

// dj_checkSolid() of a part of a mesh, whose numbers (or NULL) are those of the whole in errors.
djStatus dj_checkPart(double* volume, const djTriangles* mesh, const djMeshNumbers* own,
                      djError* err);

#endif // DJ_SHAPE_PIECES_H_
