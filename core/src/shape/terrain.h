// Surfaces through heights on a lattice: tensor products of cubic B-splines, C2 everywhere.
//
// Heights h_ji lie at (x0 + i dx, y0 + j dy), i < ncol, j < nrow. With B the cubic B-spline of unit
// spacing and its support (-2, 2)
//
//   h(x, y) = sum_ji c_ji B((x - x0)/dx - i) B((y - y0)/dy - j)
//
// goes through them; at the borders the second derivative across is zero (natural splines), so that
// c_0 = h_0 and c_-1 = 2 c_0 - c_1. Beyond a border the surface goes on in a line across it and falls
// by DJ_TERRAIN_FALL cells times s^3, s the distance from the border in cells, C2 at the border:
// whatever rolls over it slides down, and there is nothing to be met far away. Heights alike
// everywhere give a plane to rounding.
//
// A cell's surface lies in the hull of its 16 coefficients: the largest of them, for blocks of 1, 2,
// 4... cells a side, bound how near a point may be to the surface at the cost of a few numbers.
//
// All numbers lie in one array, so that a contact shape carries it (djShape.fit).

#ifndef DJ_SHAPE_TERRAIN_H_
#define DJ_SHAPE_TERRAIN_H_

#include "shape/shape.h"

#define DJ_TERRAIN_FALL 4      // in cells of the longer side, at one cell from a border
enum {
  DJ_TERRAIN_LEVELS = 24,
  DJ_TERRAIN_HEAD = 24         // numbers before the coefficients; the frame's pose from 6 on
};

typedef struct djTerrain {
  int nrow, ncol;
  double dx, dy, x0, y0;
  double base;                 // what is farther below z = 0 is beneath it all, m
  double steep;                // a bound of the slope within the borders
  djPose pose;                 // of its frame, z up, in the body
  const double* coef;          // (nrow + 4 x ncol + 4), from c_-2,-2
  int nlevel;
  const double* top[DJ_TERRAIN_LEVELS];   // largest coefficients, from cell (-1, -1)
  int row[DJ_TERRAIN_LEVELS], column[DJ_TERRAIN_LEVELS];
} djTerrain;

// A lattice over a rectangle with these half extents.
typedef struct djHeightLattice {
  int nrow, ncol;              // >= 2
  double half[2];              // along x and y, m
  double base;                 // below z = 0, m
} djHeightLattice;

static inline int dj_terrainCoefs(int nrow, int ncol) { return (nrow + 4) * (ncol + 4); }
// Numbers of the array, and the array. pose: as above. mem: 8 byte aligned.
size_t dj_terrainSize(const djHeightLattice* lattice);
void dj_makeTerrain(double* mem, const djHeightLattice* lattice, const double* height,
                    const djPose* pose);
// The array's parts; other = true: of none.
void dj_readTerrain(djTerrain* out, const double* mem);

// Adds the derivative by the heights, given that by coefficients, which is lost. work: (nrow + ncol)
// numbers.
void dj_terrainHeightsVjp(double* height, double* coef, double* work, const djHeightLattice* lattice);

// At a place (x, y): value, and derivatives x, y, xx, xy, yy.
typedef struct djTerrainPoint {
  double h, g[2], H[3];
  int first;                   // in coef, of the 4 x 4 that count
  double bx[4], by[4];         // what they count with is bx[i] by[j]
  double sx[4], sy[4];         // and their derivatives, per m
} djTerrainPoint;
void dj_evalTerrain(djTerrainPoint* out, const djTerrain* t, double x, double y);

// A lower bound of the distance of a point (frame of the terrain) from the surface, or of -depth
// below it; not more than `reach`.
double dj_terrainClearance(const djTerrain* t, djVec3 point, double reach);
// The same from the height below the point: with G a bound of the slope the surface stays below a
// cone, so that v/sqrt(1 + G^2) is a bound where the point is v within the borders. Negative: none.
double dj_terrainHeadroom(const djTerrain* t, djVec3 point);

// The foot of a point with an ellipsoid about it, G its semi-axes, on the surface: where the
// surface's tangent plane, n its normal, is that of the ellipsoid, turned over:
//
//   S_k . (y - c(n) - S) = 0,  k = 1, 2,  c as in shape/curve.h.
typedef struct djFoot {
  double u[2];                 // place of the foot, (x, y)
  djVec3 n, x;                 // unit, outward; the point y - c(n)
  djVec3 s;                    // the foot
  double d;                    // n . (x - s)
  djVec3 T[2];                 // orthonormal tangents
  double A[4];                 // T_k = A_kl S_l
  double B[3];                 // n . S'' in these: xx, xy, yy
  double C[3];                 // C(n) in them
} djFoot;
// All in the frame of the terrain; G NULL: a point. from: a foot nearby, or NULL. False: Newton's
// method did not converge, the best is given.
bool dj_findFoot(djFoot* foot, const djTerrain* t, djVec3 y, const djMat3* G, const double* from);
// That with a foot which is known.
void dj_footAt(djFoot* foot, const djTerrain* t, const double u[2], djVec3 y, const djMat3* G);

#endif  // DJ_SHAPE_TERRAIN_H_
