// Times of contact between triangles. Two touching icospheres: value, gradient and Hessian by the
// number of triangles of each, and the slope of log time over log triangles. Sixteen balls on a
// table, 7,040 triangles in all: the tree beside brute force, all pairs of triangles of all pairs
// of balls. `make bench` runs it.

#include "common/triangle_case.h"
#include "contact/triangles/mesh_distance.h"
#include "contact/triangles/tessellation.h"
#include "contact/triangles/triangle_sum.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CUTS = 4, TURNS = 20, BALLS = 16, OF_BALL = 388, SAMPLE = 15 };

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// ------------------------------------------ icospheres -----------------------------------------

static SolidMesh makeIcosahedron(void) {
  SolidMesh s = allocSolid(12, 20);
  const double a = 0.5 * (1 + sqrt(5)), norm = sqrt(1 + a * a);
  static const int tri[60] = {0, 11, 5,  0, 5,  1, 0, 1, 7, 0, 7,  10, 0, 10, 11, 1, 5, 9, 5, 11,
                              4, 11, 10, 2, 10, 7, 6, 7, 1, 8, 3,  9,  4, 3,  4,  2, 3, 2, 6, 3,
                              6, 8,  3,  8, 9,  4, 9, 5, 2, 4, 11, 6,  2, 10, 8,  6, 7, 9, 8, 1};
  for (int i = 0; i < 12; i++) { // (+-1, +-a, 0) and its turns
    const int turn = i / 4;
    s.vert[3 * i + turn] = (i % 2 ? 1 : -1) / norm;
    s.vert[3 * i + (turn + 1) % 3] = (i % 4 < 2 ? a : -a) / norm;
  }
  for (int i = 0; i < 60; i++) s.tri[i] = tri[i];
  return s;
}

// Of random turns, brought together along x up to a gap of 1e-4.
static djPose touchingPlace(const TreeMesh* t, djRng* rng) {
  djPose T = randomPlace(rng, 0);
  djMeshDistance d = {.gap = 0.1};
  T.p = dju_vec3(2.1, 0, 0);
  for (int k = 0; k < 60 && d.gap > 1.01e-4; k++) {
    dj_meshDistance(&d, &t->tree, &t->tree, &T);
    T.p.x -= d.gap - 1e-4;
  }
  return T;
}

// Best of some, seconds a value with so many derivatives. visited, exact: pairs of nodes, of
// triangles.
static double timeTouching(double* visited, double* exact, const TreeMesh* t, int order) {
  djRng rng = {1};
  djPose T[TURNS];
  double best = INFINITY;
  for (int i = 0; i < TURNS; i++) T[i] = touchingPlace(t, &rng);
  for (int run = 0; run < 5; run++) {
    const double start = seconds();
    *visited = *exact = 0;
    for (int i = 0; i < TURNS; i++) {
      djMeanDistance d;
      djMeanPair p = {.a = &t->tree, .b = &t->tree, .place = T[i], .order = order};
      if (dj_meanDistance(&d, &p) < 0) abort();
      *visited += (double)p.visited / TURNS;
      *exact += (double)p.exact / TURNS;
    }
    best = fmin(best, (seconds() - start) / TURNS);
  }
  return best;
}

// Of log y over log x by least squares.
static double slopeOf(const double* x, const double* y, int n) {
  double mx = 0, my = 0, xy = 0, xx = 0;
  for (int i = 0; i < n; i++) {
    mx += log(x[i]) / n;
    my += log(y[i]) / n;
  }
  for (int i = 0; i < n; i++) {
    xy += (log(x[i]) - mx) * (log(y[i]) - my);
    xx += (log(x[i]) - mx) * (log(x[i]) - mx);
  }
  return xy / xx;
}

static void icospheres(void) {
  double n[CUTS], first[CUTS], second[CUTS];
  printf("Two touching icospheres: gradient, with Hessian, pairs of nodes, planes\n");
  for (int k = 0; k < CUTS; k++) {
    SolidMesh s = makeSplit(makeIcosahedron(), k + 1, true);
    TreeMesh t = makeTree(&s);
    double visited, exact;
    n[k] = s.ntri;
    first[k] = timeTouching(&visited, &exact, &t, 1);
    second[k] = timeTouching(&visited, &exact, &t, 2);
    printf("%6d triangles %8.3f ms %8.3f ms %8.0f %6.0f\n", s.ntri, 1e3 * first[k], 1e3 * second[k],
           visited, exact);
    freeTree(&t);
    freeSolid(&s);
  }
  printf("time by triangles to the power of %.2f, with Hessian %.2f\n", slopeOf(n, first, CUTS),
         slopeOf(n, second, CUTS));
}

// ------------------------------------------ billiards ------------------------------------------

// A sphere of radius 1 as geoms are cut, of at least so many triangles.
static SolidMesh makeBall(int wanted) {
  djTessellation of;
  dj_openTessellation(&of, DJ_SPHERE, wanted);
  SolidMesh s = allocSolid(of.nvert, of.ntri);
  for (int i = 0; i < of.nvert; i++) {
    djVec3 f[3];
    dj_tessellationVertex(f, &of, i);
    dju_store3(s.vert + 3 * i, f[0]);
  }
  dj_tessellationTriangles(s.tri, &of);
  return s;
}

// All pairs of triangles, which no tree brings together: eq. 3 of the paper, and its derivatives.
static double bruteForce(const TreeMesh* t, const djPose* place) {
  djMeanPair p = {
      .a = &t->tree, .b = &t->tree, .place = *place, .sums = true, .length_scale = 1, .order = 2};
  double sum = 0;
  for (int i = 0; i < 2 * t->tree.ntri - 1; i++) {
    const djSphereNode* a = &t->tree.node[i];
    for (int j = 0; j < 2 * t->tree.ntri - 1 && !(a->right > 0); j++) {
      const djSphereNode* b = &t->tree.node[j];
      djTrianglePlane plane;
      djVec3 c;
      double g[6], H[DJ_PACKED6];
      if (b->right > 0) continue;
      if (dj_leafPlane(&plane, &c, &p, a, b) < 0) abort();
      dj_planeTerms(g, H, &plane, c, 2);
      sum += plane.P + g[3] + H[0];
    }
  }
  return sum;
}

// Balls of radius 1 at random places on a table, 4.6 apart at least, but the last one, which
// touches the one before. Brute force is timed for every SAMPLE-th pair of them.
static void billiards(void) {
  SolidMesh s = makeBall(OF_BALL);
  TreeMesh t = makeTree(&s);
  djRng rng = {7};
  djVec3 x[BALLS];
  for (int n = 0; n < BALLS - 1;) {
    x[n] = dju_vec3(djt_uniform(&rng, -13, 27), djt_uniform(&rng, -15, 15), 0);
    bool apart = true;
    for (int i = 0; i < n; i++) apart = apart && dju_norm3(dju_sub3(x[n], x[i])) > 4.6;
    n += apart;
  }
  x[BALLS - 1] = dju_add3(x[BALLS - 2], dju_vec3(2.001, 0, 0));
  double sum = 0, tree[2] = {0, 0}, brute = 0;
  int pairs = 0, timed = 0;
  for (int i = 0; i < BALLS; i++) {
    for (int j = 0; j < i; j++, pairs++) {
      const djPose T = {dju_sub3(x[i], x[j]), dju_eye3()};
      for (int sums = 0; sums < 2; sums++) {
        djMeanDistance d;
        djMeanPair p = {.a = &t.tree,
                        .b = &t.tree,
                        .place = T,
                        .sums = sums,
                        .length_scale = 1,
                        .eps = 0.1,
                        .order = 2};
        const double start = seconds();
        if ((sums ? dj_triangleSum(&d, &p) : dj_meanDistance(&d, &p)) < 0) abort();
        tree[sums] += seconds() - start;
        sum += d.L;
      }
      if (pairs % SAMPLE > 0) continue;
      const double start = seconds();
      sum += bruteForce(&t, &T);
      brute += seconds() - start;
      timed++;
    }
  }
  brute *= (double)pairs / timed;
  printf("%d balls, %d triangles in all, gradient and Hessian of %d pairs%s: mean %.2f ms, paper "
         "%.2f ms, brute force %.0f ms (of %d pairs): %.0f and %.0f times as long\n",
         BALLS, BALLS * s.ntri, pairs, sum > 0 ? "" : " (?)", 1e3 * tree[0], 1e3 * tree[1],
         1e3 * brute, timed, brute / tree[0], brute / tree[1]);
  freeTree(&t);
  freeSolid(&s);
}

int main(void) {
  icospheres();
  billiards();
  return 0;
}
