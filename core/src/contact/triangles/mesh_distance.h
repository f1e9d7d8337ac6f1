// The distance of two triangle meshes, or of one and a half space, and how far one may move.

#ifndef DJ_CONTACT_TRIANGLES_MESH_DISTANCE_H_
#define DJ_CONTACT_TRIANGLES_MESH_DISTANCE_H_

#include "contact/triangles/sphere_tree.h"

// Closest points, in the frame of b; normal: unit, from a to b. Where triangles cross gap is
// negative: they reach into each other by that much at least.
typedef struct djMeshDistance {
  double gap;
  djVec3 normal, on_a, on_b;
  int tri_a, tri_b; // of meshes: the triangles, in the order of leaves
} djMeshDistance;

// place: of a's frame in b's.
void dj_meshDistance(djMeshDistance* out, const djSphereTree* a, const djSphereTree* b,
                     const djPose* place);
// The same of triangles near each other, if not the nearest: none are nearer than a part of their
// gap.
void dj_nearTriangles(djMeshDistance* out, const djSphereTree* a, const djSphereTree* b,
                      const djPose* place, double part);
// Of triangles; where that is `enough` only a gap that is, too.
void dj_triangleDistance(djMeshDistance* out, const djVec3 a[3], const djVec3 b[3], double enough);

// The part of a motion from place to trial that leaves the meshes apart all the way: its center (of
// a, in its frame) moves straight while a turns evenly. It ends where a tenth of the gap is left,
// or after some advances, each by no more than the gap.
double dj_meshAdvance(double* gap, const djSphereTree* a, const djSphereTree* b,
                      const djPose* place, const djPose* trial, djVec3 center, double bound);

#endif // DJ_CONTACT_TRIANGLES_MESH_DISTANCE_H_
