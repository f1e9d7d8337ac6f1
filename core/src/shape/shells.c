#include "shape/shells.h"

#include "shape/mesh_shells.h"

#include <stdlib.h>
#include <string.h>

// Wedges end by so much sooner, rad: those of solids that touch up to rounding do not overlap.
#define TOUCH 1e-6

// ---- about an edge ----------------------------------------------------------------------------

// A triangle at an edge.
typedef struct Blade {
  double angle; // where it begins or ends a wedge, from 0 to 2 pi
  int tri;
  int shell; // as far as it is known
  bool ends;
} Blade;

static int compareAngles(const void* a, const void* b) {
  const Blade *x = a, *y = b;
  if (x->angle != y->angle) return x->angle < y->angle ? -1 : 1;
  return (x->tri > y->tri) - (x->tri < y->tri);
}

static int compareShells(const void* a, const void* b) {
  const Blade *x = a, *y = b;
  if (x->shell != y->shell) return x->shell < y->shell ? -1 : 1;
  return (x->tri > y->tri) - (x->tri < y->tri);
}

static djVec3 vertexOf(const djTriangles* mesh, int v) {
  return dju_load3(mesh->vert + 3 * (size_t)v);
}

// With d from the lower vertex to the higher one and w across it, towards the triangle's third
// corner, the normal of a triangle that goes forth is d x w: the solid is at smaller angles.
static double angleOf(const djTriangles* mesh, const djMeshEdge* e, djVec3 d, djVec3 u) {
  const int* v = mesh->tri + 3 * (size_t)(e->index / 3);
  djVec3 w = dju_sub3(vertexOf(mesh, v[(e->index + 2) % 3]), vertexOf(mesh, e->low));
  double angle = atan2(dju_dot3(dju_cross3(d, u), w), dju_dot3(u, w));
  angle -= e->forth ? TOUCH : 0;
  return angle >= 0 ? angle : angle < 0 ? angle + 2 * M_PI : 0; // 0: the edge has no length
}

// The unit vector of an edge, and one across it.
static void axesOf(djVec3* d, djVec3* u, const djTriangles* mesh, const djMeshEdge* e) {
  djVec3 along = dju_sub3(vertexOf(mesh, e->high), vertexOf(mesh, e->low));
  double x = fabs(along.x), y = fabs(along.y), z = fabs(along.z);
  djVec3 least = {x <= y && x <= z, !(x <= y && x <= z) && y <= z, 0};
  if (least.x + least.y == 0) least.z = 1;
  *d = dju_scale3(1 / dju_norm3(along), along);
  djVec3 across = dju_cross3(*d, least);
  *u = dju_scale3(1 / dju_norm3(across), across);
}

// ---- the shells -------------------------------------------------------------------------------

static void join(int* parent, int a, int b) {
  a = dj_shellRoot(parent, a);
  b = dj_shellRoot(parent, b);
  parent[a > b ? a : b] = a > b ? b : a;
}

// Leaves out what belongs to shells with as many beginnings as ends. Returns how many are left.
static int leaveWhole(int n, Blade* blade) {
  int left = 0;
  qsort(blade, (size_t)n, sizeof *blade, compareShells);
  for (int i = 0, end; i < n; i = end) {
    int sum = 0;
    for (end = i; end < n && blade[end].shell == blade[i].shell; end++) {
      sum += blade[end].ends ? -1 : 1;
    }
    for (int k = i; k < end && sum != 0; k++) blade[left++] = blade[k];
  }
  return left;
}

// Wedges end in the order in which they begin, from where fewest are open.
static void joinWedges(int* parent, int n, Blade* blade) {
  int open = 0, fewest = 0, start = 0, next = 0;
  qsort(blade, (size_t)n, sizeof *blade, compareAngles);
  for (int i = 0; i < n; i++) {
    open += blade[i].ends ? -1 : 1;
    if (open >= fewest) continue;
    fewest = open;
    start = i + 1;
  }
  for (int i = 0; i < n; i++) {
    const Blade* end = &blade[(start + i) % n];
    if (!end->ends) continue;
    while (next < n && blade[(start + next) % n].ends) next++;
    if (next < n) join(parent, end->tri, blade[(start + next++) % n].tri);
  }
}

// The edges of two triangles, or those of more.
static void joinEdges(int* parent, const djTriangles* mesh, const djMeshEdge* edge, Blade* blade,
                      bool simple) {
  for (int i = 0, n; i < 3 * mesh->ntri; i += n) {
    const djMeshEdge* e = &edge[i];
    for (n = 1; i + n < 3 * mesh->ntri && e[n].low == e->low && e[n].high == e->high; n++) continue;
    if (simple && n == 2) join(parent, e[0].index / 3, e[1].index / 3);
    if (simple || n <= 2) continue;
    djVec3 d, u;
    axesOf(&d, &u, mesh, e);
    for (int k = 0; k < n; k++) {
      int tri = e[k].index / 3;
      blade[k] = (Blade){angleOf(mesh, &e[k], d, u), tri, dj_shellRoot(parent, tri), e[k].forth};
    }
    joinWedges(parent, leaveWhole(n, blade), blade);
  }
}

// From a parent of every triangle, roots being the first of theirs; number: (ntri) memory.
static djStatus listShells(djShells* s, int ntri, int* parent, int* number) {
  for (int t = 0; t < ntri; t++) {
    int root = dj_shellRoot(parent, t);
    number[t] = root == t ? s->n++ : number[root];
  }
  s->start = calloc((size_t)s->n + 2, sizeof *s->start);
  s->tri = malloc((size_t)ntri * sizeof *s->tri);
  if (!s->start || !s->tri) return DJ_NO_MEMORY;
  for (int t = 0; t < ntri; t++) s->start[number[t] + 2]++;
  for (int k = 2; k <= s->n; k++) s->start[k] += s->start[k - 1];
  for (int t = 0; t < ntri; t++) s->tri[s->start[number[t] + 1]++] = t;
  return DJ_OK;
}

djStatus dj_findShells(djShells* s, const djTriangles* mesh) {
  size_t n = (size_t)mesh->ntri;
  *s = (djShells){.local = malloc((size_t)mesh->nvert * sizeof *s->local)};
  djMeshEdge* edge = dj_sortEdges(mesh->ntri, mesh->tri);
  Blade* blade = malloc(3 * n * sizeof *blade);
  int *parent = malloc(n * sizeof *parent), *number = malloc(n * sizeof *number);
  bool made = s->local && edge && blade && parent && number;
  if (made) {
    for (int t = 0; t < mesh->ntri; t++) parent[t] = t;
    for (int v = 0; v < mesh->nvert; v++) s->local[v] = -1;
    joinEdges(parent, mesh, edge, blade, true);
    joinEdges(parent, mesh, edge, blade, false);
  }
  djStatus status = made ? listShells(s, mesh->ntri, parent, number) : DJ_NO_MEMORY;
  free(edge);
  free(blade);
  free(parent);
  free(number);
  return status;
}

void dj_freeShells(djShells* s) {
  free(s->start);
  free(s->tri);
  free(s->local);
  *s = (djShells){0};
}

// ---- one of them ------------------------------------------------------------------------------

djStatus dj_makeShell(djShell* shell, djShells* s, int k, const djTriangles* mesh) {
  int ntri = s->start[k + 1] - s->start[k], most = 3 * ntri < mesh->nvert ? 3 * ntri : mesh->nvert;
  *shell = (djShell){.mesh = {.ntri = ntri}, .triangle = s->tri + s->start[k]};
  djTriangles* own = &shell->mesh;
  own->vert = malloc(3 * (size_t)most * sizeof *own->vert);
  own->tri = malloc(3 * (size_t)ntri * sizeof *own->tri);
  shell->vertex = malloc((size_t)most * sizeof *shell->vertex);
  if (!own->vert || !own->tri || !shell->vertex) {
    dj_freeShell(shell);
    return DJ_NO_MEMORY;
  }
  for (int i = 0; i < 3 * ntri; i++) {
    int v = mesh->tri[3 * (size_t)shell->triangle[i / 3] + (size_t)(i % 3)];
    if (s->local[v] < 0) {
      s->local[v] = own->nvert;
      shell->vertex[own->nvert] = v;
      memcpy(own->vert + 3 * (size_t)own->nvert++, mesh->vert + 3 * (size_t)v, 3 * sizeof(double));
    }
    own->tri[i] = s->local[v];
  }
  for (int i = 0; i < own->nvert; i++) s->local[shell->vertex[i]] = -1;
  return DJ_OK;
}

void dj_freeShell(djShell* shell) {
  dj_freeTriangles(&shell->mesh);
  free(shell->vertex);
  *shell = (djShell){0};
}
