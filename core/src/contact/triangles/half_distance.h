// The mean distance of a mesh and a half space, by heights z_v of vertices above it and their parts
// w_v of the surface (a third of each triangle's area at each of its vertices):
//   D = [sum w_v z_v^-alpha]^(-1/alpha),   alpha = 12 (mean_distance.h).
// Of two meshes sums of distances^-q over a plane fall as distance^(2 - q): alpha is q - 2.

#ifndef DJ_CONTACT_TRIANGLES_HALF_DISTANCE_H_
#define DJ_CONTACT_TRIANGLES_HALF_DISTANCE_H_

#include "contact/triangles/mean_distance.h"

// The half space is normal.x < offset, in b's frame.
typedef struct djHalfPair {
  int nvert;
  const double* vert[3]; // (nvert) each, in a's frame
  const double* weight;  // (nvert) sum 1, or as triangle_sum.h has them
  djPose place;          // of a's frame in b's
  djVec3 c;
  djVec3 normal;
  double offset, length_scale; // of sums
  int order;
} djHalfPair;

static inline double dj_heightOf(const djHalfPair* p, int i) {
  const djVec3 x = {p->vert[0][i], p->vert[1][i], p->vert[2][i]};
  return dju_dot3(p->normal, dju_transform(&p->place, x)) - p->offset;
}

// A height by motions: z + g.(w, v) + N.(w x (w x y))/2, with the arm y about c.
typedef struct djHeightTerms {
  double z, g[6];
  djVec3 arm;
  djVec3 normal;
} djHeightTerms;
void dj_heightTerms(djHeightTerms* out, const djHalfPair* p, int i);
// H += by ddz + by2 dz dz^T
void dj_addHeights(double H[DJ_PACKED6], double by, double by2, const djHeightTerms* z);

// As dj_meanDistance. *least: the lowest vertex.
djStatus dj_halfDistance(djMeanDistance* out, double* least, const djHalfPair* pair);

#endif // DJ_CONTACT_TRIANGLES_HALF_DISTANCE_H_
