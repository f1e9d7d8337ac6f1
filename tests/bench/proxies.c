// Times of damped contact's points: steps of a ball of points on fields, CPU time for each point
// and iteration of Newton's method, and how it grows from 1e2 to 1e5 points. `make bench` runs it.

#include <dijoco/dijoco.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TRIES = 3 };

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Points of a ball of .1 m by a spiral of equal areas.
static void placePoints(double* x, int n) {
  const double golden = 10.166407384630519; // pi (1 + sqrt(5))
  for (int i = 0; i < n; i++) {
    const double z = 1 - (2.0 * i + 1) / n, r = sqrt(1 - z * z), t = golden * i;
    x[3 * i] = 0.1 * r * cos(t);
    x[3 * i + 1] = 0.1 * r * sin(t);
    x[3 * i + 2] = 0.1 * z;
  }
}

static djModel* ballOn(int type, const double size[3], double height, double* point, int n) {
  djError err;
  djModel* m;
  djBodyDef body[2] = {dj_defaultBodyDef(), dj_defaultBodyDef()};
  djJointDef joint = dj_defaultJointDef();
  djGeomDef geom[2] = {dj_defaultGeomDef(), dj_defaultGeomDef()};
  djModelDef def = dj_defaultModelDef();
  placePoints(point, n);
  body[1].mass = 1;
  for (int k = 0; k < 3; k++) body[1].inertia[k] = 0.004;
  body[1].pos[2] = height;
  joint.type = DJ_FREE, joint.body = 1;
  geom[0].type = type, geom[0].body = 0, geom[0].point_count = 0;
  memcpy(geom[0].size, size, sizeof geom[0].size);
  geom[1].type = DJ_SPHERE, geom[1].body = 1, geom[1].size[0] = 0.1;
  geom[1].npoint = n, geom[1].point = point;
  def.body = body, def.nbody = 2, def.joint = &joint, def.njnt = 1;
  def.geom = geom, def.ngeom = 2;
  def.option.timestep = 0.01;
  def.option.integrator = DJ_MIDPOINT;
  def.option.contact = DJ_DAMPED;
  def.option.sigma = 0.25 / n;
  def.option.alpha = 1.5;
  if (dj_makeModel(&m, &def, &err) == DJ_OK) return m;
  fprintf(stderr, "%s\n", err.text);
  exit(1);
}

// Nanoseconds of a point and iteration: the least of some runs.
static double timeOf(const djModel* m, int n, int steps) {
  double best = INFINITY;
  for (int k = 0; k < TRIES; k++) {
    djError err;
    djData* d;
    if (dj_makeData(&d, m, &err) != DJ_OK) exit(1);
    d->qvel[4] = 12;
    const double start = seconds();
    for (int i = 0; i < steps; i++) {
      if (dj_step(m, d) != DJ_OK) printf("(step %d not solved) ", i);
    }
    best = fmin(best, (seconds() - start) * 1e9 / ((double)d->stats.newton_iterations * n));
    if (k == 0 && getenv("SHOW")) printf("its %ld ", d->stats.newton_iterations);
    dj_deleteData(d);
  }
  return best;
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    int type;
    double size[3], height;
  } field[] = {{"plane", DJ_PLANE, {0, 0, 0}, 0.11},
               {"box", DJ_BOX, {0.05, 0.05, 0.05}, 0.16},
               {"sphere", DJ_SPHERE, {0.1, 0, 0}, 0.21}};
  const int most = argc > 1 ? atoi(argv[1]) : 100000;
  double* point = malloc(3 * (size_t)most * sizeof *point);
  if (!point) return 1;
  printf("Points of damped contact: nanoseconds each and iteration of Newton's method\n");
  for (int f = 0; f < 3; f++) {
    double before = 0;
    printf("%-7s", field[f].name);
    for (int n = 100; n <= most; n *= 10) {
      djModel* m = ballOn(field[f].type, field[f].size, field[f].height, point, n);
      const double ns = timeOf(m, n, n > 10000 ? 10 : 100);
      printf("  %d: %6.1f", n, ns);
      if (before > 0) printf(" (exponent %.2f)", 1 + log10(ns / before));
      before = ns;
      fflush(stdout);
      dj_deleteModel(m);
    }
    printf("\n");
  }
  free(point);
  return 0;
}
