// The distance of two triangles by their nearest points: with `leaf` = distance what stands for the
// plane between them (triangle_plane.h), as in the paper's ablation of smoothness (Fig. 13). Its
// gradient turns where the nearest points come onto other corners, edges or faces.
//
// Nearest points x_a, x_b are on a corner, an edge or in a face each. Within these they may move
// along ways w_k, by u: e(u) = x_a - x_b + sum u_k w_k is shortest at u = 0, w_k.e = 0. Of
// s = |e|^2, by motions m of a with S(m, u) = |e|^2:
//   ds = S_m,  dds = S_mm - S_mu S_uu^-1 S_um,  S_uu = 2 w_k.w_l,
// S_um = 2 (w_k.dx_a + e.(w x w_k)) where w_k is a's own and turns with it, without the second
// where it is b's.

#ifndef DJ_CONTACT_TRIANGLES_NEAR_POINTS_H_
#define DJ_CONTACT_TRIANGLES_NEAR_POINTS_H_

#include "contact/triangles/square.h"

#include <stdbool.h>

typedef struct djNearPoints {
  djVec3 x[2];        // on a, on b
  double part[2][3];  // of corners in them
  int n;              // ways
  int side[2];        // whose way it is: 0, 1
  djVec3 way[2];      // w_k
  double share[2][3]; // how parts change along it
  double inverse[4];  // of w_k.w_l
} djNearPoints;

// Of two triangles. False: they touch.
bool dj_findNearPoints(djNearPoints* out, const djVec3 a[3], const djVec3 b[3]);

// s with derivatives by motions of a about c.
void dj_nearSquare(djMeanSquare* out, const djNearPoints* points, djVec3 c, int order);

#endif // DJ_CONTACT_TRIANGLES_NEAR_POINTS_H_
