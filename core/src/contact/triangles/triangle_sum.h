// The potential P of two closed meshes as "Efficient Differentiable Contact Model with Long-Range
// Influence" has it, eqs. 3-8, in lengths over length_scale: sums over pairs of triangles near by,
// a pair of balls far away. Of two triangles, x_v as in triangle_plane.h,
//
//   P_ij = min [12/(1 - |n|) + sum_6 1/x_v],
//
// or by their distance d (near_points.h) 12 (1 + d^-1/2)^2, as of points; of two nodes I and J, r =
// |x_I - x_J|, d = R_I + R_J:
//   far     P_c  = 12 (1 + r^-1/2)^2, where r >= (1 + eps) d
//   near    P_ch = sum_cd P_cd of their children; of two triangles: P_ij
//   P = (1 - phi) P_ch + phi P_c,  phi = 6 t^5 - 15 t^4 + 10 t^3 of t = (r/d - 1)/eps.
//
// Trees are layered: x_I is the mean of a node's vertices, each counted once, R that of a ball
// about x_I that holds both children's balls (sphere_tree.h); then P_c <= P_ch wherever both count.
// Algorithm 1 blends two nodes by eq. 4 with their own d, as eq. 8 says.
//
// P ignores how many triangles a node has: forces near by grow with the number of pairs in
// contact, and fall where a node's P_c takes over.
//
// A half space has none of this: n_v the number of triangles at a vertex, z_v its height,
//   P = sum_v n_v/3 12 (1 + z_v^-1/2)^2.

#ifndef DJ_CONTACT_TRIANGLES_TRIANGLE_SUM_H_
#define DJ_CONTACT_TRIANGLES_TRIANGLE_SUM_H_

#include "contact/triangles/half_distance.h"

// P with derivatives, as djMeanDistance's L; infinite: they touch. Pairs have sums, length_scale,
// eps. With a tape P stands where that has L.
djStatus dj_triangleSum(djMeanDistance* out, djMeanPair* pair);

// As dj_halfDistance; weights are n_v/3.
djStatus dj_halfSum(djMeanDistance* out, double* least, const djHalfPair* pair);

// 12 (1 + s^-1/4)^2 of the square s of a distance in length_scale, and its derivatives by s.
void dj_centredSum(double P[3], double s);

#endif // DJ_CONTACT_TRIANGLES_TRIANGLE_SUM_H_
