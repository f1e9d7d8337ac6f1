// What supports of large hulls cost: distances of two hulls of n vertices each beside those of two
// of 200. `make bench` runs it. With a number it repeats the distances of hulls of so many
// vertices, for a count of instructions: valgrind --tool=callgrind bench_supports 800.

#include "common/random_shape.h"
#include "shape/distance.h"

#include <stdio.h>
#include <time.h>

enum { POSES = 64 };

typedef struct Hulls {
  TestShape shape[2];
  djPose pose[POSES];
  double sum;
} Hulls;

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Points on an ellipsoid, evenly spread and a little off, apart by about a tenth of its size.
static void setSpread(TestShape* t, Random* r, int n) {
  double* vert = malloc(3 * (size_t)n * sizeof(double));
  for (int i = 0; i < n; i++) {
    double z = 1 - (2 * i + 1.0) / n, a = 2.399963229728653 * i, s = sqrt(1 - z * z);
    djVec3 p = dju_vec3(s * cos(a), 0.7 * s * sin(a), 0.4 * z);
    dju_store3(vert + 3 * i, dju_madd3(p, uniform(r, 0, 1e-4), randomUnit(r)));
  }
  if (setHull(t, n, vert) != DJ_OK) exit(1);
  free(vert);
}

static void setUp(Hulls* h, int n) {
  Random r = {7};
  for (int k = 0; k < 2; k++) setSpread(&h->shape[k], &r, n);
  for (int i = 0; i < POSES; i++) {
    double far = uniform(&r, 1.9, 2.2);
    h->pose[i] = (djPose){dju_scale3(far, randomUnit(&r)), dju_quatToMat(randomQuat(&r))};
  }
}

// Distances from nothing, and again from the last one's result near it.
static void distances(Hulls* h) {
  djPose at = {{0, 0, 0}, dju_quatToMat((djQuat){1, 0, 0, 0})};
  for (int i = 0; i < POSES; i++) {
    djDistance d;
    djDistanceCache cache = {0};
    djPose pose = h->pose[i];
    for (int k = 0; k < 4; k++) {
      dj_distance(&d, &cache, &h->shape[0].shape, &at, 0, &h->shape[1].shape, &pose, 0);
      h->sum += d.gap;
      pose.p = dju_madd3(pose.p, 1e-3, dju_vec3(1, 2, -1));
    }
  }
}

static double timed(Hulls* h, void (*run)(Hulls*)) {
  double best = INFINITY;
  for (int k = 0; k < 20; k++) {
    double start = seconds();
    run(h);
    best = fmin(best, seconds() - start);
  }
  return 1e6 * best / (4 * POSES);
}

int main(int argc, char** argv) {
  static const int size[] = {200, 300, 500, 800, 2000};
  double first = 0;
  Hulls h;
  if (argc > 1) {
    setUp(&h, atoi(argv[1]));
    for (int k = 0; k < 20; k++) distances(&h);
    printf("%.17g\n", h.sum);
    return 0;
  }
  for (size_t k = 0; k < sizeof size / sizeof *size; k++) {
    setUp(&h, size[k]);
    double time = timed(&h, distances);
    if (k == 0) first = time;
    printf("distance of two hulls of %4d vertices: %6.2f us, %5.2f times that of %d\n", size[k],
           time, time / first, size[0]);
    for (int i = 0; i < 2; i++) freeShape(&h.shape[i]);
  }
  return 0;
}
