#include "shape/mesh_shells.h"

#include <stdlib.h>

static djVec3 corner(const double* vert, const int* tri, int k) {
  return dju_load3(vert + 3 * (size_t)tri[k]);
}

// Solid angle of a triangle (van Oosterom and Strackee 1983).
static double solidAngle(djVec3 a, djVec3 b, djVec3 c) {
  double la = dju_norm3(a), lb = dju_norm3(b), lc = dju_norm3(c);
  double volume = dju_dot3(a, dju_cross3(b, c));
  double sum = la * lb * lc + dju_dot3(a, b) * lc + dju_dot3(b, c) * la + dju_dot3(c, a) * lb;
  return 2 * atan2(volume, sum);
}

// Whether the shell of a root faces as it has to.
static bool isRight(int root, int first, int* parent, const double* vert, int ntri,
                    const int* tri) {
  djVec3 x = corner(vert, tri + 3 * (size_t)first, 0);
  double volume = 0, angle = 0;
  for (int t = 0; t < ntri; t++) {
    const int* v = tri + 3 * (size_t)t;
    djVec3 a = dju_sub3(corner(vert, v, 0), x), b = dju_sub3(corner(vert, v, 1), x);
    djVec3 c = dju_sub3(corner(vert, v, 2), x);
    if (dj_shellRoot(parent, v[0]) == root)
      volume += dju_dot3(a, dju_cross3(b, c));
    else
      angle += solidAngle(a, b, c);
  }
  return lrint(angle / (4 * M_PI)) == (volume > 0 ? 0 : 1);
}

djStatus dj_findWrongShell(int* triangle, int nvert, const double* vert, int ntri, const int* tri) {
  int* parent = malloc((size_t)nvert * sizeof *parent);
  bool* seen = calloc((size_t)nvert, sizeof *seen);
  djStatus status = parent && seen ? DJ_OK : DJ_NO_MEMORY;
  *triangle = -1;
  if (status == DJ_OK) {
    int nshell = 0;
    for (int i = 0; i < nvert; i++) parent[i] = i;
    for (int k = 0; k < 3 * ntri; k++) {
      int a = dj_shellRoot(parent, tri[k]), b = dj_shellRoot(parent, tri[k - k % 3]);
      if (a != b) parent[a] = b;
    }
    for (int t = 0; t < ntri; t++) {
      int root = dj_shellRoot(parent, tri[3 * (size_t)t]);
      nshell += !seen[root];
      seen[root] = true;
    }
    for (int t = 0; t < ntri && nshell > 1 && *triangle < 0; t++) {
      int root = dj_shellRoot(parent, tri[3 * (size_t)t]);
      if (!seen[root]) continue;
      seen[root] = false;
      if (!isRight(root, t, parent, vert, ntri, tri)) *triangle = t;
    }
  }
  free(parent);
  free(seen);
  return status;
}
