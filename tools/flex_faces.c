#include "flex_faces.h"

#include "picture_color.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

// A triangle of a tetrahedron, by its vertices in ascending order.
typedef struct Side {
  int sorted[3], vert[3];
} Side;

static int compare_sides(const void* a, const void* b) {
  const Side *x = a, *y = b;
  for (int k = 0; k < 3; k++) {
    if (x->sorted[k] != y->sorted[k]) return x->sorted[k] < y->sorted[k] ? -1 : 1;
  }
  return 0;
}

static int compare_ints(const void* a, const void* b) {
  const int *x = a, *y = b;
  return *x < *y ? -1 : *x > *y;
}

// Triangles of one tetrahedron alone.
static FlexFaces surface_of(const djModel* m, int flex) {
  int n = 4 * m->flex_elemnum[flex], first = m->flex_vertadr[flex];
  Side* side = tool_alloc((size_t)n, sizeof *side);
  for (int i = 0; i < n; i++) {
    const int* elem = m->flexelem_vert + 4 * (m->flex_elemadr[flex] + i / 4);
    for (int k = 0; k < 3; k++) side[i].vert[k] = elem[(i % 4 + k) % 4] - first;
    memcpy(side[i].sorted, side[i].vert, sizeof side[i].sorted);
    qsort(side[i].sorted, 3, sizeof(int), compare_ints);
  }
  qsort(side, (size_t)n, sizeof *side, compare_sides);
  FlexFaces out = {0, 3, tool_alloc(3 * (size_t)n, sizeof(int))};
  for (int i = 0; i < n; i++) {
    bool before = i > 0 && compare_sides(&side[i], &side[i - 1]) == 0;
    bool after = i + 1 < n && compare_sides(&side[i], &side[i + 1]) == 0;
    if (!before && !after) memcpy(out.vert + 3 * out.n++, side[i].vert, sizeof side[i].vert);
  }
  free(side);
  return out;
}

FlexFaces flex_faces(const djModel* m, int flex) {
  int dim = m->flex_dim[flex], first = m->flex_vertadr[flex];
  if (dim == 3) return surface_of(m, flex);
  FlexFaces out = {m->flex_elemnum[flex], dim + 1, NULL};
  out.vert = tool_alloc((size_t)out.n * (size_t)out.corners, sizeof(int));
  for (int i = 0; i < out.n * out.corners; i++) {
    int elem = m->flex_elemadr[flex] + i / out.corners;
    out.vert[i] = m->flexelem_vert[4 * elem + i % out.corners] - first;
  }
  return out;
}

const char* flex_color(const djModel* m, int flex) {
  int v = m->flex_vertadr[flex], end = v + m->flex_vertnum[flex];
  while (v + 1 < end && !picture_moves(m, m->flexvert_body[v])) v++;
  return picture_color(m, m->flexvert_body[v]);
}
