// The mean distance D of two closed meshes, after "Efficient Differentiable Contact Model with
// Long-Range Influence", with means of distances instead of sums of energies: so that D hardly
// depends on how a surface is cut into triangles.
//
// Of two triangles i and j, with rho as their plane says (triangle_plane.h):
//   D_ij = rho^(alpha/q) (rho^2 + V_i + V_j)^((q-alpha)/2q),        q = 14, alpha = 12,
// or with rho their distance (near_points.h),
// of two nodes I and J of their trees, r = |x_I - x_J|:
//   far      D_c  = sqrt(r^2 + V_I + V_J)                            a mean of squares
//   near     D_ch = [sum_cd (m_c m_d)/(m_I m_J) D_cd^-q]^(-1/q)      of their children; two
//                                                                    triangles: D_ij
//   D = (1 - phi) D_ch + phi D_c,  phi = 6 t^5 - 15 t^4 + 10 t^3 of t = r/S - 1, S = R_I + R_J.
// D_ch <= D_c; D is C2 where the meshes are apart, and 0 where triangles touch.
//
// Here is L = log D with derivatives by a motion of a, x -> c + exp(w)(x - c) + v, (w, v) = 0, all
// in the frame of b. Over children with parts p_c = weight_c D_c^-q / sum
//   dL_ch = sum p_c dL_c,  ddL_ch = sum p_c (ddL_c - q dL_c dL_c^T) + q dL_ch dL_ch^T.
//
// Pairs that are faint are left out, by what triangles near each other say (mean_faint.c) and then
// by what is found. No D of a pair is less than the distance g of its balls: rho of two triangles
// is no less than their distance (a plane in the middle between them has P at most c (1 +
// (l/g)^(2/3))^3), a mean no less than its least part, and D_c > r. In a sum with the terms weight
// D^-q, nearest balls first, a pair with weight g^-q below exp(-DJ_MEAN_FAINT) of one that is in it
// is not seen by rounding, whatever is in its balls. Blends above lessen what a part of their D_ch
// does. Near contact that leaves the triangles about it.

#ifndef DJ_CONTACT_TRIANGLES_MEAN_DISTANCE_H_
#define DJ_CONTACT_TRIANGLES_MEAN_DISTANCE_H_

#include "contact/triangles/near_points.h"
#include "contact/triangles/packed.h"
#include "contact/triangles/sphere_tree.h"
#include "contact/triangles/triangle_plane.h"
#include "contact/triangles/warm_planes.h"

#include <stddef.h>

#define DJ_MEAN_Q 14.0
#define DJ_MEAN_ALPHA 12.0
#define DJ_MEAN_FAINT 39.0 // exp(-39) is 1e-17

typedef struct djMeanDistance {
  double L;    // -infinite: they touch
  double g[6]; // by (w, v)
  double H[DJ_PACKED6];
} djMeanDistance;

// L of pairs of nodes and of their children, with their change along a motion, in the order in
// which pairs are visited. L infinite: the pair is faint, and none below it
// follow.
typedef struct djMeanRecord {
  double L[2], near[2];
} djMeanRecord;
typedef struct djMeanTape {
  double along[6]; // the motion
  djMeanRecord* record;
  size_t n, room; // more are wanted where n > room: these are left out
} djMeanTape;

typedef struct djMeanPair {
  const djSphereTree *a, *b;
  djPose place; // of a's frame in b's
  djVec3 c;     // in b's frame
  bool near;    // triangles by their nearest points
  bool sums;    // of potentials (triangle_sum.h), with
  double length_scale, eps;
  int order;          // of the derivatives that are found: 0, 1, 2
  djMeanTape* tape;   // or NULL; with order 1
  djWarmPlanes* warm; // or NULL
  bool start;         // the poses are those with which the step starts
  // out
  long visited, exact; // pairs of nodes; of triangles whose plane was found
  djStatus status;     // of the planes
} djMeanPair;

// DJ_OVERLAP: triangles touch. DJ_NOT_CONVERGED: some plane is the best that was found.
djStatus dj_meanDistance(djMeanDistance* out, djMeanPair* pair);

// ---- parts, for derivatives of other kinds
// -------------------------------------------------------

// phi with two derivatives.
static inline void dj_quintic(double phi[3], double t) {
  if (t <= 0 || t >= 1) {
    phi[0] = t >= 1;
    phi[1] = phi[2] = 0;
    return;
  }
  phi[0] = t * t * t * (t * (6 * t - 15) + 10);
  phi[1] = 30 * t * t * (t - 1) * (t - 1);
  phi[2] = 60 * t * (2 * t - 1) * (t - 1);
}

// Children of a node: returns how many; of a triangle itself.
static inline int dj_childrenOf(int child[2], const djSphereTree* t, int i) {
  const int right = (int)t->node[i].right;
  child[0] = right > 0 ? i + 1 : i;
  child[1] = right;
  return right > 0 ? 2 : 1;
}

// Pairs of children of a pair in the order in which they are visited. apart: of their balls.
typedef struct djMeanChild {
  int a, b;
  double weight, apart;
} djMeanChild;
int dj_orderChildren(djMeanChild child[4], const djMeanPair* pair, int i, int j);

// |x_a - x_b|^2 with derivatives by motions of a.
void dj_meanSquare(djMeanSquare* out, const djMeanPair* pair, const djSphereNode* a,
                   const djSphereNode* b);
// A function of it, given with two derivatives by s.
void dj_bySquare(djMeanDistance* out, const double f[3], const djMeanSquare* square, int order);

// -q times what log D is at most, by triangles near each other, less DJ_MEAN_FAINT: what is below
// that is faint. -infinite: nothing is, where balls about both meshes are far apart, or triangles
// touch.
double dj_firstFaint(const djMeanPair* pair);

// Whether rho^-q of two triangles is less than exp(faint). Of those that counted before in a step
// nobody asks again.
bool dj_leafIsFaint(const djMeanPair* pair, const djSphereNode* a, const djSphereNode* b,
                    double faint);

// The nearest points of two triangles. False: they touch.
bool dj_leafPoints(djNearPoints* out, const djMeanPair* pair, const djSphereNode* a,
                   const djSphereNode* b);

// The plane of two triangles; c: the pair's, as the plane's vertices are.
djStatus dj_leafPlane(djTrianglePlane* out, djVec3* c, const djMeanPair* pair,
                      const djSphereNode* a, const djSphereNode* b);

// P of a plane by motions of a about c, all lengths over l.
void dj_planeTerms(double g[6], double H[DJ_PACKED6], const djTrianglePlane* plane, djVec3 c,
                   int order);

void dj_recordMean(djMeanTape* tape, size_t at, const djMeanDistance* d, bool near);

// log D_ij, with two derivatives by log P.
void dj_leafDistance(double L[3], double P, double l, double V);
// The same by rho^2, with two derivatives by that.
void dj_leafBySquare(double L[3], double square, double V);

#endif // DJ_CONTACT_TRIANGLES_MEAN_DISTANCE_H_
