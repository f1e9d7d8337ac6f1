#include "triangles.h"

#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 64 }; // along the longest side, at most
enum { HULL = 16 };  // parts of an octahedron's edge

void triangles_free(Triangles* t) {
  free(t->vert);
  free(t->face);
  *t = (Triangles){0};
}

static int by_vertices(const void* a, const void* b) {
  const int *p = a, *q = b;
  for (int k = 0; k < 3; k++) {
    if (p[k] != q[k]) return p[k] < q[k] ? -1 : 1;
  }
  return 0;
}

// Faces between three different ones of the new vertices (place: of old ones), each once. Returns
// how many.
static int join_faces(int* face, const Triangles* t, const int* place) {
  int n = 0, kept = 0;
  for (int i = 0; i < t->nface; i++) {
    int v[3];
    for (int k = 0; k < 3; k++) v[k] = place[t->face[3 * i + k]];
    if (v[0] == v[1] || v[1] == v[2] || v[2] == v[0]) continue;
    int least = v[1] < v[0] ? v[2] < v[1] ? 2 : 1 : v[2] < v[0] ? 2 : 0;
    for (int k = 0; k < 3; k++) face[3 * n + k] = v[(least + k) % 3];
    n++;
  }
  if (n > 0) qsort(face, (size_t)n, 3 * sizeof *face, by_vertices);
  for (int i = 0; i < n; i++) {
    if (kept > 0 && by_vertices(face + 3 * (kept - 1), face + 3 * i) == 0) continue;
    memmove(face + 3 * kept++, face + 3 * i, 3 * sizeof *face);
  }
  return kept;
}

// The vertex farthest along a direction.
static int farthest(const Triangles* t, double x, double y, double z) {
  int best = 0;
  double most = -INFINITY;
  for (int i = 0; i < t->nvert; i++) {
    double d = t->vert[3 * i] * x + t->vert[3 * i + 1] * y + t->vert[3 * i + 2] * z;
    if (d > most) most = d, best = i;
  }
  return best;
}

// Nearly the hull of the vertices: the faces of an octahedron, divided, go to the vertices that are
// farthest along their corners. That is closed, whatever becomes of small faces.
static void find_hull(Triangles* t) {
  int* face = tool_alloc(3 * 8 * (size_t)HULL * HULL, sizeof *face);
  int* same = tool_alloc((size_t)t->nvert, sizeof *same);
  int corner[HULL + 1][HULL + 1], n = 0;
  for (int octant = 0; octant < 8 && t->nvert > 0; octant++) {
    int x = octant & 1 ? -1 : 1, y = octant & 2 ? -1 : 1, z = octant & 4 ? -1 : 1;
    for (int i = 0; i <= HULL; i++) {
      for (int j = 0; i + j <= HULL; j++) {
        corner[i][j] = farthest(t, x * i, y * j, z * (HULL - i - j));
      }
    }
    for (int i = 0; i < HULL; i++) {
      for (int j = 0; i + j < HULL; j++) {
        const int one[3] = {corner[i][j], corner[i + 1][j], corner[i][j + 1]};
        const int two[3] = {corner[i + 1][j], i + j + 1 < HULL ? corner[i + 1][j + 1] : -1,
                            corner[i][j + 1]};
        bool out = x * y * z > 0;
        for (int f = 0; f < (two[1] < 0 ? 1 : 2); f++) {
          const int* v = f ? two : one;
          face[3 * n] = v[0];
          face[3 * n + 1] = v[out ? 1 : 2];
          face[3 * n++ + 2] = v[out ? 2 : 1];
        }
      }
    }
  }
  for (int i = 0; i < t->nvert; i++) same[i] = i;
  free(t->face);
  t->face = tool_alloc(3 * (size_t)n, sizeof *face);
  Triangles all = {t->nvert, t->vert, n, face};
  t->nface = join_faces(t->face, &all, same);
  free(face);
  free(same);
}

void triangles_mesh(Triangles* t, const djModel* m, int mesh, bool hull) {
  bool own = !hull && m->mesh_trinum[mesh] > 0;
  const int* face =
      own ? m->mesh_tri + 3 * m->mesh_triadr[mesh] : m->mesh_face + 3 * m->mesh_faceadr[mesh];
  *t = (Triangles){.nvert = m->mesh_vertnum[mesh],
                   .nface = own ? m->mesh_trinum[mesh] : m->mesh_facenum[mesh]};
  size_t nv = 3 * (size_t)t->nvert, nf = 3 * (size_t)t->nface;
  t->vert = tool_alloc(nv, sizeof *t->vert);
  t->face = tool_alloc(nf, sizeof *t->face);
  if (nv > 0) memcpy(t->vert, m->mesh_vert + 3 * m->mesh_vertadr[mesh], nv * sizeof *t->vert);
  if (nf > 0) memcpy(t->face, face, nf * sizeof *t->face);
  if (nf == 0 && !hull) find_hull(t);
}

// Of n lines every step-th, and the last.
static int line_of(int k, int step, int n) { return k * step < n - 1 ? k * step : n - 1; }
static int lines_of(int step, int n) { return (n - 2) / step + 2; }

static void add_face(Triangles* t, int a, int b, int c) {
  int* face = t->face + 3 * t->nface++;
  face[0] = a, face[1] = b, face[2] = c;
}

// The k-th vertex of the border of so many rows and columns, counter-clockwise from above.
static int border(int k, int rows, int columns) {
  if (k < columns - 1) return k;
  k -= columns - 1;
  if (k < rows - 1) return k * columns + columns - 1;
  k -= rows - 1;
  if (k < columns - 1) return rows * columns - 1 - k;
  return (rows - 1 - (k - (columns - 1))) * columns;
}

void triangles_hfield(Triangles* t, const djModel* m, int hfield, int most) {
  const int nrow = m->hfield_nrow[hfield], ncol = m->hfield_ncol[hfield];
  const double *size = m->hfield_size + 3 * hfield, *h = m->hfield_height + m->hfield_adr[hfield];
  int step = 1;
  while (step < nrow + ncol && 2.0 * lines_of(step, nrow) * lines_of(step, ncol) > most) step++;
  const int rows = lines_of(step, nrow), columns = lines_of(step, ncol), n = rows * columns;
  const int round = 2 * (rows + columns - 2);
  *t = (Triangles){.nvert = n + round};
  t->vert = tool_alloc(3 * (size_t)t->nvert, sizeof *t->vert);
  t->face = tool_alloc(6 * (size_t)(n + round), sizeof *t->face);
  for (int k = 0; k < t->nvert; k++) {
    const int at = k < n ? k : border(k - n, rows, columns);
    const int j = line_of(at / columns, step, nrow), i = line_of(at % columns, step, ncol);
    t->vert[3 * k] = size[0] * (2.0 * i / (ncol - 1) - 1);
    t->vert[3 * k + 1] = size[1] * (2.0 * j / (nrow - 1) - 1);
    t->vert[3 * k + 2] = k < n ? h[(size_t)j * (size_t)ncol + (size_t)i] : -size[2];
  }
  for (int k = 0; k < n; k++) {
    if (k % columns == columns - 1 || k / columns == rows - 1) continue;
    add_face(t, k, k + 1, k + columns + 1);
    add_face(t, k, k + columns + 1, k + columns);
  }
  for (int k = 0; k < round; k++) {
    const int next = (k + 1) % round, a = border(k, rows, columns);
    add_face(t, a, n + k, n + next);
    add_face(t, a, n + next, border(next, rows, columns));
  }
}

// Vertices by cells of this size, from the corner `low`: their places, and how many there are.
static int place_vertices(int* place, const Triangles* t, const double low[3], double size) {
  int* first = tool_alloc((size_t)(CELLS + 1) * (CELLS + 1) * (CELLS + 1), sizeof *first);
  int n = 0;
  for (int i = 0; i < t->nvert; i++) {
    size_t cell = 0;
    for (int k = 0; k < 3; k++) {
      cell = cell * (CELLS + 1) + (size_t)((t->vert[3 * i + k] - low[k]) / size);
    }
    if (first[cell] == 0) first[cell] = ++n;
    place[i] = first[cell] - 1;
  }
  free(first);
  return n;
}

// New vertices are the means of those that they take the place of.
static void join_vertices(Triangles* t, const int* place, int n) {
  double* mean = tool_alloc(3 * (size_t)n, sizeof *mean);
  int* count = tool_alloc((size_t)n, sizeof *count);
  for (int i = 0; i < t->nvert; i++) {
    count[place[i]]++;
    for (int k = 0; k < 3; k++) mean[3 * place[i] + k] += t->vert[3 * i + k];
  }
  for (int i = 0; i < 3 * n; i++) mean[i] /= count[i / 3];
  free(count);
  free(t->vert);
  t->vert = mean;
  t->nvert = n;
}

void triangles_thin(Triangles* t, int most) {
  if (t->nface <= most || t->nvert < 1) return;
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
  for (int i = 0; i < 3 * t->nvert; i++) {
    low[i % 3] = fmin(low[i % 3], t->vert[i]);
    high[i % 3] = fmax(high[i % 3], t->vert[i]);
  }
  double side = fmax(fmax(high[0] - low[0], high[1] - low[1]), high[2] - low[2]);
  int* place = tool_alloc((size_t)t->nvert, sizeof *place);
  int* face = tool_alloc(3 * (size_t)t->nface, sizeof *face);
  int n = 0, cells = CELLS;
  do {
    n = place_vertices(place, t, low, fmax(side / cells, 1e-12));
    int left = join_faces(face, t, place);
    if (left <= most || cells == 1) {
      t->nface = left;
      break;
    }
    cells = cells * 7 / 8;
  } while (cells > 0);
  join_vertices(t, place, n);
  free(t->face);
  free(place);
  t->face = face;
}
