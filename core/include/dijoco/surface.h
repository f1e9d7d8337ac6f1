// The implicit surfaces by which geoms of a model touch (contact model implicit_surface): given, or
// such as fit the geoms.

#ifndef DIJOCO_SURFACE_H_
#define DIJOCO_SURFACE_H_

#include <dijoco/model.h>

#ifdef __cplusplus
extern "C" {
#endif

// Of a geom as the model is now. Families, numbers and frames are those of dijoco/implicit.h.
typedef struct djSurface {
  const char* family; // 1; its name
  const char* sharp;  // 1; name of the sharpness
  bool given;         // it is given; else one that fits the geom
  int nface;          // 1; of a smooth_polytope
  int nsize;          // 1; how many numbers
  const double* size; // (nsize) m, the last 1; the model's, while that does not change
  double pos[3];      // m; its frame in the body's
  double quat[4];     // unit quaternion, likewise
  double inside;      // m; how far points of the geom lie outside of the surface at most
  double outside;     // m; how far points of the surface lie outside of the geom at most
} djSurface;

// Both distances are found from the support functions in 2000 directions, and refined where they
// differ most. DJ_UNSUPPORTED: the geom does not touch by that model, or is a plane.
DJ_API djStatus dj_geomSurface(djSurface* out, const djModel* model, int geom, djError* err);

// A convex polyhedron with its vertices on a surface, in the surface's frame.
typedef struct djSurfaceMesh {
  int nvert;    // 1; how many vertices
  double* vert; // (nvert x 3) m
  int nface;    // 1; how many triangles
  int* face;    // (nface x 3) indices of vertices, outward
  double error; // m; by which the surface reaches beyond a face at most
} djSurfaceMesh;

// error: goal of that, as a part of the surface's outer radius; 0: the default, 0.005. With at most
// 4000 vertices.
DJ_API djStatus dj_makeSurfaceMesh(djSurfaceMesh* mesh, const djModel* model, int geom,
                                   double error, djError* err);
DJ_API void dj_freeSurfaceMesh(djSurfaceMesh* mesh);

#ifdef __cplusplus
}
#endif

#endif // DIJOCO_SURFACE_H_
