// Meshes in trees, and derivatives of numbers of pairs of them along motions. Included after
// cmocka.

#ifndef DJ_TESTS_TRIANGLE_ALONG_H_
#define DJ_TESTS_TRIANGLE_ALONG_H_

#include "common/triangle_case.h"
#include "common/worst.h"
#include "contact/triangles/triangle_sum.h"

enum { NSOLID = 5 };

// A ball, boxes, a ring, an L; vertices moved by a little, so that no two distances are equal.
static inline TreeMesh someTree(djRng* rng, int kind) {
  SolidMesh s = kind == 0   ? makeBallSolid(1)
                : kind == 1 ? makeBoxSolid(0.5, 0.7, 0.3)
                : kind == 2 ? makeTorus(1, 0.3, 8, 5)
                : kind == 3 ? makeL()
                            : makeSplitBox(1, 0.2, 0.1, 1);
  for (int i = 0; i < 3 * s.nvert; i++) s.vert[i] += djt_uniform(rng, -0.03, 0.03);
  TreeMesh t = makeTree(&s);
  freeSolid(&s);
  return t;
}

typedef struct Along {
  djMeanPair pair;
  djHalfPair half;
  bool plane;
  double gap; // of sums
  double dir[6];
  int sharp; // derivatives that agree to more digits than kinks leave
} Along;

static inline djStatus distanceAt(djMeanDistance* d, Along* w, double e) {
  double least;
  djPose* place = w->plane ? &w->half.place : &w->pair.place;
  const djPose T = *place;
  *place = movePlace(&T, w->plane ? w->half.c : w->pair.c, w->dir, e);
  djStatus status;
  if (w->pair.sums) {
    status = w->plane ? dj_halfSum(d, &least, &w->half) : dj_triangleSum(d, &w->pair);
  } else {
    status = w->plane ? dj_halfDistance(d, &least, &w->half) : dj_meanDistance(d, &w->pair);
  }
  *place = T;
  return status;
}

// First and second differences of L, extrapolated, against gradient and Hessian.
static inline void checkAlong(double worst[2], Along* w) {
  djMeanDistance at, e[2];
  double g = 0, H = 0, slope[3], bend[3];
  if (distanceAt(&at, w, 0) < 0) return;
  for (int i = 0, k = 0; i < 6; i++) {
    g += at.g[i] * w->dir[i];
    for (int j = 0; j <= i; j++) H += (i == j ? 1 : 2) * at.H[k++] * w->dir[i] * w->dir[j];
  }
  const double D = w->pair.sums ? w->gap : exp(at.L);
  double h = fmin(4e-3, 0.02 * D);
  for (int m = 0; m < 3; m++, h *= 0.5) {
    for (int s = 0; s < 2; s++) assert_int_equal(distanceAt(&e[s], w, s ? -h : h), DJ_OK);
    slope[m] = (e[0].L - e[1].L) / (2 * h);
    bend[m] = (e[0].L - 2 * at.L + e[1].L) / (h * h);
  }
  double* both[2] = {slope, bend};
  const double want[2] = {g, H};
  for (int k = 0; k < 2; k++) {
    double* x = both[k];
    const double once = x[1] + (x[1] - x[0]) / 3, twice = x[2] + (x[2] - x[1]) / 3;
    const double best = twice + (twice - once) / 15;
    const double doubt = fabs(best - twice);
    const double error = fabs(best - want[k]) / (1 + fabs(want[k]));
    const double limit = k ? 1e-5 : 1e-8;
    w->sharp += error < limit;
    // nearest points go over edges, where second derivatives jump
    if (w->pair.near && fabs(x[2] - want[k]) < limit + 3 * fabs(x[2] - x[1])) continue;
    // blends begin and end with a third derivative that jumps: differences tell it themselves
    if (error > limit + 3 * doubt) worst[k] = djt_worst(worst[k], error);
  }
}

#endif // DJ_TESTS_TRIANGLE_ALONG_H_
