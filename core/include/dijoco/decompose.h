// Closed meshes of triangles, read from files, as unions of convex hulls.

#ifndef DIJOCO_DECOMPOSE_H_
#define DIJOCO_DECOMPOSE_H_

#include <dijoco/types.h>

#ifdef __cplusplus
extern "C" {
#endif

// A surface. Its arrays are new memory, which dj_freeTriangles releases.
typedef struct djTriangles {
  int nvert;    // vertices
  double* vert; // (nvert x 3) m
  int ntri;     // triangles
  int* tri;     // (ntri x 3) vertices, outward
} djTriangles;

// A mesh from the bytes of a file of this format, "obj" or "stl" (text or binary). Polygons are cut
// into fans. Equal points become one vertex; triangles that have one twice and vertices without
// triangles are left out. DJ_INVALID names the line or the triangle.
DJ_API djStatus dj_parseTriangles(djTriangles* mesh, const char* format, const void* bytes,
                                  size_t n, djError* err);
// The same of a file, by the end of its name; errors begin with the path.
DJ_API djStatus dj_readTriangles(djTriangles* mesh, const char* path, djError* err);
DJ_API void dj_freeTriangles(djTriangles* mesh);

// Volume of what a mesh bounds, m^3. DJ_INVALID where it bounds nothing, with what is wrong: no
// triangles, an open edge or one of more than two triangles, triangles without area, that face
// inward (but those of cavities), or that touch or cross elsewhere than in the vertices that they
// share.
DJ_API djStatus dj_checkSolid(double* volume, const djTriangles* mesh, djError* err);

// Convex hulls that stand for a solid. Memory is released by dj_freePieces.
typedef struct djPieces {
  int n;             // hulls
  djTriangles* hull; // (n) their surfaces
  double* volume;    // (n) m^3
} djPieces;

// Add the hull of (npoint x 3) points, of at most `most` (>= 4) vertices. Of more, those that stand
// out least from the hull of their neighbours go, until so many are left; those that stand out by
// less than 1e-9 of the hull's size go anyway. keep: (npoint) points that stay, or NULL.
// DJ_INVALID where fewer than four points are independent; nothing is added then.
DJ_API djStatus dj_addPiece(djPieces* pieces, int npoint, const double* point, const bool* keep,
                            int most, djError* err);
DJ_API void dj_freePieces(djPieces* pieces);

// Join pairs until at most so many (>= 1) hulls are left, each of at most so many (>= 4) vertices
// if it is a joint one: always the two whose joint hull adds least volume to what they fill.
DJ_API djStatus dj_mergePieces(djPieces* pieces, int most_hulls, int most_vertices, djError* err);

// Cut a solid (dj_checkSolid) by a grid of cells over its box: a hull for each cell, around what of
// the solid is in it, in x-fastest order; cells with less than 1e-6 of their volume have none.
// Hulls do not overlap. Two on either side of a face of cells share a vertex there, where
// most_vertices is 6 or more and the solid goes on.
DJ_API djStatus dj_cutBlocks(djPieces* pieces, const djTriangles* solid, const int grid[3],
                             int most_vertices, const djWatch* watch, djError* err);

// The finest grid of nearly cubic cells that gives at most so many hulls.
DJ_API djStatus dj_chooseGrid(int grid[3], const djTriangles* solid, int most_hulls, djError* err);

// A hull for each shell of a mesh, a closed surface that edges connect, in the order of their first
// triangles. Shells may be apart, have vertices, edges or faces in common, cross, or be inside of
// each other. At edges of more than two triangles those go together between which solid is. A shell
// that faces inward is a cavity and has no hull: the whole mesh has to bound a solid then
// (dj_checkSolid). DJ_INVALID, naming a shell, where it bounds no solid by itself.
DJ_API djStatus dj_cutShells(djPieces* pieces, const djTriangles* mesh, int most_vertices,
                             djError* err);

// How well hulls stand for a solid.
typedef struct djPieceReport {
  double volume_ratio;    // 1, volume of the hulls' union over the solid's
  double overlap;         // 1, the share of the sum of volumes that counts again
  double hausdorff;       // m, between the surfaces of solid and union
  double hausdorff_error; // m, how far that may be off: it is that of samples
} djPieceReport;

// Of hulls beside the solid that they stand for.
DJ_API djStatus dj_comparePieces(djPieceReport* report, const djPieces* pieces,
                                 const djTriangles* solid, djError* err);

// The same of a mesh that dj_cutShells takes, for all that its shells bound together; *volume: of
// that, m^3. Where the mesh bounds no solid (dj_checkSolid), for shells touch, cross, or are inside
// of others, and the hull of a concave shell overlaps another one's, volume and volume_ratio are
// NAN: that of the union of concave solids is not found.
DJ_API djStatus dj_compareShells(djPieceReport* report, double* volume, const djPieces* pieces,
                                 const djTriangles* mesh, djError* err);

#ifdef __cplusplus
}
#endif

#endif // DIJOCO_DECOMPOSE_H_
