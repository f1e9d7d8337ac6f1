// Volume moments of geoms, and integrals of quadratic functions over them with derivatives.

#ifndef DJ_INERTIA_GEOM_MOMENTS_H_
#define DJ_INERTIA_GEOM_MOMENTS_H_

#include "math/vec.h"

#include <dijoco/model.h>

// Volume, integral of x, integral of x x^T.
typedef struct djMoments {
  double volume;
  djVec3 first;
  djMat3 second;
} djMoments;

// f(x) = a + b . x + x^T B x, B symmetric. Also a cotangent of moments: f's integral over a solid
// is linear in them.
typedef struct djQuadratic {
  double a;
  djVec3 b;
  djMat3 B;
} djQuadratic;

// Outward triangles of a closed surface; indices into a mesh's vertices.
typedef struct djClosedSurface {
  int nface;
  const int* face;         // (nface x 3)
} djClosedSurface;

// The geom has a volume: no plane, no height field.
bool dj_isSolid(int type);

// Adds the moments of a solid geom, body frame. Meshes: what the surface bounds, signed.
void dj_addMoments(djMoments* moments, const djModel* model, int geom,
                   const djClosedSurface* surface);

// Adds to param the derivative of f's integral over a solid geom, f in the body frame, by geom pos,
// quat, size and mesh vertices.
void dj_momentParams(double* param, const djModel* model, int geom, const djClosedSurface* surface,
                     const djQuadratic* f);

// Adds the moments about `from` of the tetrahedron that a triangle, outward, spans with it.
void dj_addTetrahedron(djMoments* moments, const djVec3 corner[3], djVec3 from);

// Adds moments that are given in another frame, x -> R x + p.
void dj_addCarried(djMoments* moments, const djMoments* own, const djPose* pose);

double dj_integral(const djQuadratic* f, const djMoments* moments);

#endif  // DJ_INERTIA_GEOM_MOMENTS_H_
