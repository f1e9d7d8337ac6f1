// Erosion vectors of corners.

#include "shape/hull.h"
#include "shape/simplex.h"

// Corners of at most so many facets are eroded by trying all threes of them.
enum { FEW = 5 };

// Three normals hold m where it solves n_k.m = 1 for them, is a positive sum of them, and has
// n_f.m >= 1 for the others. False where they do not, or it is not known well.
static bool isHeld(djVec3* m, const int id[3], int n, const double* normal) {
  djVec3 a = dju_load3(normal + 3 * id[0]), b = dju_load3(normal + 3 * id[1]);
  djVec3 c = dju_load3(normal + 3 * id[2]);
  djVec3 bc = dju_cross3(b, c), ca = dju_cross3(c, a), ab = dju_cross3(a, b);
  double det = dju_dot3(a, bc);
  if (!(fabs(det) > 1e-3)) return false;
  djVec3 x = dju_scale3(1 / det, dju_add3(ab, dju_add3(bc, ca)));
  bool holds = dju_dot3(x, bc) * det > 0 && dju_dot3(x, ca) * det > 0 && dju_dot3(x, ab) * det > 0;
  for (int f = 0; f < n && holds; f++) holds = dju_dot3(dju_load3(normal + 3 * f), x) > 1 - 1e-13;
  *m = x;
  return holds;
}

// Corners of few facets, most of which are held by three.
static bool erodeCorner(double m[3], int n, const double* normal) {
  djVec3 x;
  for (int i = 0; i < n; i++) {
    for (int j = i + 1; j < n; j++) {
      for (int k = j + 1; k < n; k++) {
        if (!isHeld(&x, (int[3]){i, j, k}, n, normal)) continue;
        dju_store3(m, x);
        return true;
      }
    }
  }
  return false;
}

bool dj_erosionVector(double m[3], int n, const double* normal) {
  if (n <= FEW && erodeCorner(m, n, normal)) return true;
  // With z the shortest vector of the normals' convex hull, n_f.z >= z.z for all f, and m = z/z.z:
  // any m with n_f.m >= 1 has z.m >= 1, hence |m| >= 1/|z|.
  djVec3 z;
  m[0] = m[1] = m[2] = 0;
  if (n < 1 || !dj_minNorm(&z, n, normal)) return false;
  dju_store3(m, dju_scale3(1 / dju_dot3(z, z), z));
  return true;
}

int dj_activeNormals(int id[3], int n, const double* normal) {
  djVec3 z;
  djSimplex simplex;
  if (!dj_minNormSimplex(&z, &simplex, n, normal)) return 0;
  for (int k = 0; k < simplex.n; k++) id[k] = simplex.p[k].ia;
  return simplex.n;
}
