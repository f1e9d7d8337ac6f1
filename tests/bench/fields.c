// Times of distance fields: values with two derivatives, bounds, derivatives by vertices, and how
// long a grid takes to be made. `make bench` runs it.

#include "common/random.h"
#include "common/solid_mesh.h"
#include "shape/field.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { POINTS = 1000, ROUNDS = 20, TRIES = 20 };

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct Timed {
  const djDistanceField* field;
  double x[3 * POINTS];
  double* vert; // (nvert x 3) of a mesh
  double sum;   // so that nothing is left out
} Timed;

static void values(Timed* t, int i) {
  djFieldAt at;
  dj_fieldAt(&at, t->field, t->x + 3 * i);
  t->sum += at.distance + at.turn[3];
}

static void bounds(Timed* t, int i) { t->sum += dj_fieldBound(t->field, t->x + 3 * i, 0.01); }

static void vertices(Timed* t, int i) {
  const double by_normal[3] = {0.1, 0.2, 0.3};
  dj_fieldVertices(t->vert, t->field, t->x + 3 * i, 1, by_normal);
}

// Best of some, in nanoseconds a point.
static double timeOf(Timed* t, void (*what)(Timed* t, int i)) {
  double best = INFINITY;
  for (int k = 0; k < TRIES; k++) {
    double start = seconds();
    for (int i = 0; i < ROUNDS * POINTS; i++) what(t, i % POINTS);
    best = fmin(best, (seconds() - start) * 1e9 / (ROUNDS * POINTS));
  }
  return best;
}

static void primitive(const char* name, int type) {
  djDistanceField field = {.type = type, .size = {0.1, 0.2, 0.15}};
  Timed t = {.field = &field};
  djRng rng = {1};
  djt_uniforms(t.x, 3 * POINTS, &rng, -0.3, 0.3);
  printf("%-10s %6.1f ns  bound %5.1f ns\n", name, timeOf(&t, values), timeOf(&t, bounds));
}

static void mesh(const char* name, SolidMesh m) {
  djGrid grid;
  djError err = {""};
  double start = seconds();
  if (dj_makeGrid(&grid, m.nvert, m.vert, m.ntri, m.tri, NULL, &err) != DJ_OK) {
    printf("%s: %s\n", name, err.text);
  } else {
    double made = seconds() - start;
    djDistanceField field = {.type = DJ_MESH, .grid = &grid};
    Timed t = {.field = &field, .vert = calloc(3 * (size_t)m.nvert, sizeof(double))};
    djRng rng = {1};
    for (int i = 0; i < 3 * POINTS; i++) {
      t.x[i] = grid.box[i % 3] + grid.box[3 + i % 3] * djt_uniform(&rng, -1, 1);
    }
    printf("%-10s %6.1f ns  bound %5.1f ns  by vertices %.2f us  (%d triangles, %d x %d x %d "
           "nodes: made in %.3f s, error %.2f of a cell)\n",
           name, timeOf(&t, values), timeOf(&t, bounds), t.vert ? timeOf(&t, vertices) * 1e-3 : 0,
           m.ntri, grid.n[0], grid.n[1], grid.n[2], made, grid.error / grid.h[0]);
    free(t.vert);
  }
  dj_freeGrid(&grid);
  freeSolid(&m);
}

int main(void) {
  printf("Distance fields: time of a value with two derivatives, of a bound\n");
  primitive("plane", DJ_PLANE);
  primitive("sphere", DJ_SPHERE);
  primitive("capsule", DJ_CAPSULE);
  primitive("cylinder", DJ_CYLINDER);
  primitive("box", DJ_BOX);
  primitive("ellipsoid", DJ_ELLIPSOID);
  mesh("box mesh", makeBoxSolid(0.1, 0.1, 0.1));
  mesh("L", makeL());
  mesh("torus", makeTorus(0.5, 0.2, 48, 24));
  mesh("fine torus", makeTorus(0.5, 0.2, 200, 100));
  return 0;
}
