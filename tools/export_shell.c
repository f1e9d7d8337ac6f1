#include "export_shell.h"

#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { AROUND = 32, RINGS = 16 }; // points of round shapes

bool shell_has(const djModel* m, int geom) {
  return m->geom_type[geom] != DJ_PLANE && m->geom_type[geom] != DJ_HFIELD;
}

static void cross(double out[3], const double a[3], const double b[3]) {
  for (int k = 0; k < 3; k++) {
    out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
  }
}

static double dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// Unit vector, false: there is none.
static bool normalize(double v[3], double least) {
  double n = sqrt(dot(v, v));
  if (!(n > least)) return false;
  for (int k = 0; k < 3; k++) v[k] /= n;
  return true;
}

void shell_normal(double n[3], const double a[3], const double b[3], const double c[3]) {
  double u[3], v[3];
  for (int k = 0; k < 3; k++) u[k] = b[k] - a[k], v[k] = c[k] - a[k];
  cross(n, u, v);
  if (!normalize(n, 0)) memset(n, 0, 3 * sizeof *n);
}

// ---- points -------------------------------------------------------------------------------------

typedef struct Points {
  int n;
  double x[(RINGS + 2) * AROUND + 2][3];
} Points;

static void add_point(Points* p, double x, double y, double z) {
  double* to = p->x[p->n++];
  to[0] = x, to[1] = y, to[2] = z;
}

static void add_ring(Points* p, double rx, double ry, double z) {
  for (int i = 0; i < AROUND; i++) {
    const double turn = 2 * M_PI * i / AROUND;
    add_point(p, rx * cos(turn), ry * sin(turn), z);
  }
}

// Half-axes a, halves apart by 2 h along z.
static void add_ellipsoid(Points* p, const double a[3], double h) {
  add_point(p, 0, 0, a[2] + h);
  add_point(p, 0, 0, -a[2] - h);
  for (int k = 1; k < RINGS; k++) {
    const double turn = M_PI * k / RINGS, z = a[2] * cos(turn), r = sin(turn);
    add_ring(p, a[0] * r, a[1] * r, z + (2 * k <= RINGS ? h : -h));
    if (2 * k == RINGS && h > 0) add_ring(p, a[0], a[1], -h);
  }
}

// In the geom's frame. Returns whether the shape is round.
static bool geom_points(Points* p, const djModel* m, int geom) {
  const double* s = m->geom_size + 3 * (size_t)geom;
  const double ball[3] = {s[0], s[0], s[0]};
  p->n = 0;
  switch (m->geom_type[geom]) {
    case DJ_BOX:
      for (int i = 0; i < 8; i++) {
        add_point(p, i & 1 ? s[0] : -s[0], i & 2 ? s[1] : -s[1], i & 4 ? s[2] : -s[2]);
      }
      return false;
    case DJ_CYLINDER:
      add_ring(p, s[0], s[0], s[1]);
      add_ring(p, s[0], s[0], -s[1]);
      return true;
    case DJ_ELLIPSOID:
      add_ellipsoid(p, s, 0);
      return true;
    case DJ_CAPSULE:
      add_ellipsoid(p, ball, s[1]);
      return true;
    default:
      add_ellipsoid(p, ball, 0);
      return true;
  }
}

static void to_body(double* x, int n, const djModel* m, int geom) {
  const double *q = m->geom_quat + 4 * (size_t)geom, *at = m->geom_pos + 3 * (size_t)geom;
  for (int i = 0; i < n; i++) {
    double *v = x + 3 * (size_t)i, t[3], u[3];
    cross(t, q + 1, v);
    for (int k = 0; k < 3; k++) t[k] *= 2;
    cross(u, q + 1, t);
    for (int k = 0; k < 3; k++) v[k] += q[0] * t[k] + u[k] + at[k];
  }
}

djStatus shell_add(djPieces* pieces, bool* round, const djModel* m, int geom, djError* err) {
  Points own;
  const int mesh = m->geom_type[geom] == DJ_MESH ? m->geom_mesh[geom] : -1;
  if (mesh < 0)
    *round = geom_points(&own, m, geom);
  else
    *round = false;
  const int n = mesh < 0 ? own.n : m->mesh_vertnum[mesh];
  const double* from = mesh < 0 ? own.x[0] : m->mesh_vert + 3 * (size_t)m->mesh_vertadr[mesh];
  double* x = tool_alloc(3 * (size_t)n, sizeof *x);
  if (n > 0) memcpy(x, from, 3 * (size_t)n * sizeof *x);
  to_body(x, n, m, geom);
  djStatus status = dj_addPiece(pieces, n, x, NULL, n > 4 ? n : 4, err);
  free(x);
  return status;
}

// ---- thickness ----------------------------------------------------------------------------------

static double width_along(const djTriangles* t, const double n[3]) {
  double low = INFINITY, high = -INFINITY;
  for (int i = 0; i < t->nvert; i++) {
    const double d = dot(n, t->vert + 3 * (size_t)i);
    low = fmin(low, d);
    high = fmax(high, d);
  }
  return high - low;
}

// The least width of a polytope is along a face's normal or one that is normal to two edges.
static double hull_width(const djTriangles* t) {
  double least = INFINITY;
  int nedge = 0;
  double* edge = tool_alloc(3 * 3 * (size_t)t->ntri, sizeof *edge);
  for (int i = 0; i < t->ntri; i++) {
    const int* v = t->tri + 3 * (size_t)i;
    double n[3];
    shell_normal(n, t->vert + 3 * (size_t)v[0], t->vert + 3 * (size_t)v[1],
                 t->vert + 3 * (size_t)v[2]);
    if (dot(n, n) > 0) least = fmin(least, width_along(t, n));
    for (int k = 0; k < 3; k++) {
      const int a = v[k], b = v[(k + 1) % 3];
      if (a > b) continue;
      double* e = edge + 3 * (size_t)nedge;
      for (int c = 0; c < 3; c++) e[c] = t->vert[3 * (size_t)b + c] - t->vert[3 * (size_t)a + c];
      nedge += normalize(e, 0);
    }
  }
  for (int i = 0; i < nedge; i++) {
    for (int j = 0; j < i; j++) {
      double n[3];
      cross(n, edge + 3 * (size_t)i, edge + 3 * (size_t)j);
      if (normalize(n, 1e-9)) least = fmin(least, width_along(t, n));
    }
  }
  free(edge);
  return least;
}

double shell_thickness(const djModel* m, int geom, const djTriangles* hull) {
  const double* s = m->geom_size + 3 * (size_t)geom;
  switch (m->geom_type[geom]) {
    case DJ_SPHERE:
    case DJ_CAPSULE:
      return 2 * s[0];
    case DJ_CYLINDER:
      return 2 * fmin(s[0], s[1]);
    case DJ_BOX:
    case DJ_ELLIPSOID:
      return 2 * fmin(s[0], fmin(s[1], s[2]));
    default:
      return hull_width(hull);
  }
}

// ---- slivers ------------------------------------------------------------------------------------

static double distance(const double a[3], const double b[3]) {
  return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
              (a[2] - b[2]) * (a[2] - b[2]));
}

// Whether the corners of a triangle are on a line, all apart; *edge: the first end of its longest
// edge.
static bool is_sliver(int* edge, const djTriangles* t, const int* tri, double tolerance) {
  double length[3], longest = 0;
  for (int k = 0; k < 3; k++) {
    length[k] = distance(t->vert + 3 * (size_t)tri[k], t->vert + 3 * (size_t)tri[(k + 1) % 3]);
    if (length[k] <= longest) continue;
    longest = length[k];
    *edge = k;
  }
  // Heron's formula, from the longest edge on
  double a = longest, b = length[(*edge + 1) % 3], c = length[(*edge + 2) % 3];
  double height = sqrt(fmax(0, (a + (b + c)) * (c + b - a) * (c - (a - b)) * (a + (b - c)))) / 2 /
                  (longest > 0 ? longest : 1);
  return b > 0 && c > 0 && height <= tolerance;
}

// Index of the edge from u to v in the list of all triangles, or -1.
static int find_edge(const djTriangles* t, int u, int v) {
  for (int i = 0; i < 3 * t->ntri; i++) {
    int next = i % 3 == 2 ? i - 2 : i + 1;
    if (t->tri[i] == u && t->tri[next] == v) return i;
  }
  return -1;
}

void shell_mend(djTriangles* t) {
  double size = 0;
  for (int i = 0; i < 3 * t->nvert; i++) size = fmax(size, fabs(t->vert[i]));
  for (int round = 0; round < 4; round++) {   // a divided one may be one of these itself
    for (int i = 0; i < t->ntri; i++) {
      int edge = 0, *mine = t->tri + 3 * (size_t)i;
      if (!is_sliver(&edge, t, mine, 1e-8 * size)) continue;
      int u = mine[edge], v = mine[(edge + 1) % 3], corner = mine[(edge + 2) % 3];
      int at = find_edge(t, v, u);
      if (at < 0) continue;
      int* other = t->tri + 3 * (size_t)(at / 3);
      int far = other[(at + 2) % 3];
      if (far == corner) continue;
      const int halves[2][3] = {{far, v, corner}, {far, corner, u}};
      for (int k = 0; k < 3; k++) mine[k] = halves[0][k], other[k] = halves[1][k];
    }
  }
}
