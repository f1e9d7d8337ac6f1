// How much more than a mesh its convex hull fills.
//
// Volumes are sums of tetrahedra over triangles, about the first vertex. A mesh that is open, as
// the sum of its triangles' area vectors shows, has none. Depth of a dent: that of the deepest
// below the hull's faces among corners, middles of edges and centres of triangles.

#include "import_hull.h"

#include <math.h>
#include <stdlib.h>

typedef struct Surface {
  const float* vert;
  const int* face;
  int nface;
} Surface;

static void corner(mjtNum out[3], const Surface* s, int face, int k) {
  const float* v = s->vert + 3 * s->face[3 * face + k];
  for (int i = 0; i < 3; i++) out[i] = v[i];
}

// Twice a triangle's area vector; its first corner.
static void areaOf(mjtNum area[3], mjtNum first[3], const Surface* s, int face) {
  mjtNum b[3], c[3];
  corner(first, s, face, 0);
  corner(b, s, face, 1);
  corner(c, s, face, 2);
  mju_subFrom3(b, first);
  mju_subFrom3(c, first);
  mju_cross(area, b, c);
}

// False: open.
static bool volumeOf(double* volume, const Surface* s) {
  mjtNum sum[3] = {0, 0, 0}, origin[3];
  double total = 0, six = 0;
  corner(origin, s, 0, 0);
  for (int i = 0; i < s->nface; i++) {
    mjtNum area[3], first[3];
    areaOf(area, first, s, i);
    mju_addTo3(sum, area);
    total += mju_norm3(area);
    mju_subFrom3(first, origin);
    six += mju_dot3(area, first);
  }
  *volume = six / 6;
  return six > 0 && mju_norm3(sum) <= 1e-5 * total;
}

// Planes (n, o) of a hull's faces: n.x + o is the depth of x below one.
typedef struct Planes {
  double (*plane)[4];
  int n, last;             // last: the one that was nearest to a point before
} Planes;

static bool findPlanes(Planes* out, const Surface* hull) {
  out->n = out->last = 0;
  out->plane = malloc((size_t)hull->nface * sizeof *out->plane);
  for (int i = 0; i < hull->nface && out->plane; i++) {
    mjtNum area[3], first[3];
    areaOf(area, first, hull, i);
    if (!(mju_normalize3(area) > 0)) continue;
    double* plane = out->plane[out->n++];
    for (int k = 0; k < 3; k++) plane[k] = -area[k];
    plane[3] = mju_dot3(area, first);
  }
  return out->n > 0;
}

// Of a point below all planes, or anything that is at most `most`.
static double depthOf(Planes* planes, const mjtNum point[3], double most) {
  double least = INFINITY;
  for (int i = -1; i < planes->n && least > most; i++) {
    const int k = i < 0 ? planes->last : i;
    const double* n = planes->plane[k];
    double depth = n[0] * point[0] + n[1] * point[1] + n[2] * point[2] + n[3];
    if (depth >= least) continue;
    least = depth;
    planes->last = k;
  }
  return least;
}

// Deepest of a triangle's points, weights of its corners, or `most`.
static double dentOf(Planes* hull, const Surface* own, int face, double most) {
  static const double weights[7][3] = {{1, 0, 0},    {0, 1, 0},    {0, 0, 1},   {.5, .5, 0},
                                       {0, .5, .5},  {.5, 0, .5},  {1. / 3, 1. / 3, 1. / 3}};
  for (int k = 0; k < 7; k++) {
    mjtNum point[3] = {0, 0, 0};
    for (int j = 0; j < 3; j++) {
      mjtNum x[3];
      corner(x, own, face, j);
      mju_addToScl3(point, x, weights[k][j]);
    }
    most = fmax(most, depthOf(hull, point, most));
  }
  return most;
}

static int rootOf(int* parent, int i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

// Faces that vertices connect are one piece; 1 where there is no memory to tell.
static int countPieces(const Surface* s, int nvert) {
  int *parent = malloc((size_t)nvert * sizeof(int)), pieces = 0;
  if (!parent) return 1;
  for (int i = 0; i < nvert; i++) parent[i] = -1; // of no face
  for (int k = 0; k < 3 * s->nface; k++) parent[s->face[k]] = s->face[k];
  for (int k = 0; k < 3 * s->nface; k++) {
    parent[rootOf(parent, s->face[k])] = rootOf(parent, s->face[k - k % 3]);
  }
  for (int i = 0; i < nvert; i++) pieces += parent[i] == i;
  free(parent);
  return pieces;
}

enum { kLooked = 1000 };   // triangles that are looked at: all, or evenly so many

djmConcave djm_concave(const mjModel* m, int mesh) {
  djmConcave out = {1, 0, 1};
  if (mesh < 0 || m->mesh_graphadr[mesh] < 0 || m->mesh_facenum[mesh] == 0) return out;
  const int *graph = m->mesh_graph + m->mesh_graphadr[mesh], nvert = graph[0], nface = graph[1];
  const float* vert = m->mesh_vert + 3 * m->mesh_vertadr[mesh];
  Surface hull = {vert, graph + 2 + 3 * nvert + 3 * nface, nface};
  Surface own = {vert, m->mesh_face + 3 * m->mesh_faceadr[mesh], m->mesh_facenum[mesh]};
  double filled, solid;
  if (nface == 0 || !volumeOf(&filled, &hull)) return out;
  bool closed = volumeOf(&solid, &own);
  out.ratio = closed ? filled / solid : NAN;
  if (closed && out.ratio < 1.01) return out;
  out.pieces = countPieces(&own, m->mesh_vertnum[mesh]);
  int step = own.nface > kLooked ? own.nface / kLooked : 1;
  Planes planes;
  if (findPlanes(&planes, &hull)) {
    for (int i = 0; i < own.nface; i += step) out.dent = dentOf(&planes, &own, i, out.dent);
  }
  free(planes.plane);
  return out;
}

bool djm_isConcave(const djmConcave* c, double size) {
  return c->ratio >= 1.01 || (isnan(c->ratio) && c->dent > 0.02 * size);
}
