// Smoothed gaps of shapes and of sets of shapes (dijoco/contact.h).
//
// The gap of two sets is the soft minimum of the gaps g_k of their pairs, with T = smoothing:
//
//   g = -T log sum_k exp(-g_k/T),   w_k = exp((g - g_k)/T),   dg = sum w_k dg_k,
//
// and with y_k a pair's normal and witness points, their mean y = sum w_k y_k has
//
//   dy = sum w_k dy_k - (1/T) sum w_k (y_k - y) dg_k.
//
// The mean normal is then brought to unit length. Sums run relative to the least gap so far, and to
// the first pair's y. Pairs whose weight would be lost in rounding are passed over.

#include "base/status.h"
#include "contact/query/gap_shape.h"
#include "math/vec.h"
#include "model/check.h"
#include "shape/distance.h"
#include "shape/soft_distance.h"

#include <stdlib.h>
#include <string.h>

#define NEGLIGIBLE 40       // exponent of weights that are lost

struct djcGapPair {
  djPool pool;
  djGapSide side[2];
  double smoothing;
  bool exact;               // no smoothing: nearest points of the shapes as given
};

// ------------------------------------------ making ---------------------------------------------

static djStatus makePair(djcGapPair** pair, int na, const djcShape* a, const double* origin_a,
                         int nb, const djcShape* b, const double* origin_b, double smoothing,
                         djError* err) {
  *pair = NULL;
  if (isnan(smoothing) || smoothing == INFINITY) {
    return dj_fail(err, DJ_INVALID, "smoothing is not finite");
  }
  if (smoothing > DJ_LARGEST) return dj_fail(err, DJ_INVALID, "smoothing is larger than 1e20");
  djcGapPair* p = calloc(1, sizeof *p);
  if (!p) return dj_failMemory(err);
  djStatus status = dj_makeGapSide(&p->side[0], &p->pool, na, a, 'a', origin_a, err);
  if (!status) status = dj_makeGapSide(&p->side[1], &p->pool, nb, b, 'b', origin_b, err);
  if (!status) {
    bool flat = true;
    for (int k = 0; k < 2; k++) {
      for (int i = 0; i < p->side[k].n; i++) flat &= p->side[k].shape[i].type == DJ_PLANE;
    }
    if (flat) status = dj_fail(err, DJ_INVALID, "a and b are both planes");
  }
  if (!status) {
    p->exact = smoothing == 0;
    p->smoothing = smoothing < 0 ? dj_defaultSmoothing(p->side) : smoothing;
  }
  for (int k = 0; k < 2 && !status; k++) {
    status = dj_softenSide(&p->side[k], &p->pool, p->smoothing, err);
  }
  if (status) {
    djc_deleteGapPair(p);
    return status;
  }
  *pair = p;
  return DJ_OK;
}

djStatus djc_makeGapPair(djcGapPair** pair, int na, const djcShape* a, int nb, const djcShape* b,
                         double smoothing, djError* err) {
  static const double zero[3] = {0, 0, 0};
  if (!pair) return DJ_INVALID;
  return makePair(pair, na, a, zero, nb, b, zero, smoothing, err);
}

void djc_deleteGapPair(djcGapPair* p) {
  if (!p) return;
  for (int k = 0; k < 2; k++) dj_freeGapSide(&p->side[k]);
  dj_poolFree(&p->pool);
  free(p);
}

// ------------------------------------------ one pair -------------------------------------------

// Gap, and y: normal, then witness points relative to the first side's position; and derivatives by
// twists of the sides.
typedef struct Found {
  double gap, y[9], dgap[12], dy[108];
} Found;

static djStatus exactGap(djSoftGap* at, const djSoft* a, const djPose* pose_a, const djSoft* b,
                         const djPose* pose_b) {
  djDistance d;
  memset(at, 0, sizeof *at);
  djStatus status = dj_distance(&d, NULL, &a->core, pose_a, 0, &b->core, pose_b, 0);
  if (status < 0) return status;
  at->gap = d.gap;
  at->normal = d.normal;
  at->point_a = dju_sub3(d.point_a, pose_a->p);
  at->point_b = dju_sub3(d.point_b, pose_a->p);
  at->place_b = dju_sub3(pose_b->p, pose_a->p);
  at->iterations = d.iterations;
  at->plane = b->core.type == DJ_PLANE;
  at->frozen = true;
  return status;
}

static void swapRows(double* x, double* y, int n) {
  for (int i = 0; i < n; i++) {
    double t = x[i];
    x[i] = y[i];
    y[i] = t;
  }
}

static djStatus findPair(Found* f, int* iterations, const djcGapPair* p, const djPose pose[2],
                         int i, int j) {
  const djSoft* soft[2] = {p->side[0].soft + i, p->side[1].soft + j};
  int first = soft[0]->core.type == DJ_PLANE;
  djSoftGap at;
  const djSoft *a = soft[first], *b = soft[!first];
  djStatus status = p->exact ? exactGap(&at, a, &pose[first], b, &pose[!first])
                             : dj_softDistance(&at, a, &pose[first], b, &pose[!first]);
  if (status < 0) return status;
  *iterations += at.iterations;
  djStatus smooth = dj_softTwists(f->dgap, f->dy, f->dy + 36, f->dy + 72, &at);
  if (!status && !p->exact) status = smooth;
  f->gap = at.gap;
  dju_store3(f->y, at.normal);
  dju_store3(f->y + 3, at.point_a);
  dju_store3(f->y + 6, at.point_b);
  if (!first) return status;
  dju_store3(f->y, dju_neg3(at.normal));
  dju_store3(f->y + 3, dju_sub3(at.point_b, at.place_b));
  dju_store3(f->y + 6, dju_sub3(at.point_a, at.place_b));
  for (int k = 0; k < 36; k++) f->dy[k] = -f->dy[k];
  swapRows(f->dy + 36, f->dy + 72, 36);
  swapRows(f->dgap, f->dgap + 6, 6);
  for (int k = 0; k < 9; k++) swapRows(f->dy + 12 * k, f->dy + 12 * k + 6, 6);
  return status;
}

// ------------------------------------------ all pairs ------------------------------------------

typedef struct Sum {
  Found first;              // whose gap and y sums are relative to
  double least, weight;     // sum of exp((least - g_k)/T)
  double y[9], dgap[12], dy[108], mixed[108];   // sums of y, dg, dy, y dg, so weighted
} Sum;

static void addFound(Sum* s, const Found* f, double T) {
  if (s->weight == 0) {
    s->first = *f;
    s->least = f->gap;
  }
  double w = 1;
  if (f->gap < s->least) {
    double shrink = exp((f->gap - s->least) / T);
    double* all[] = {s->y, s->dgap, s->dy, s->mixed};
    static const int size[] = {9, 12, 108, 108};
    for (int k = 0; k < 4; k++) {
      for (int i = 0; i < size[k]; i++) all[k][i] *= shrink;
    }
    s->weight *= shrink;
    s->least = f->gap;
  } else {
    w = exp((s->least - f->gap) / T);
  }
  s->weight += w;
  double dgap[12];
  for (int c = 0; c < 12; c++) s->dgap[c] += w * (dgap[c] = f->dgap[c] - s->first.dgap[c]);
  for (int r = 0; r < 9; r++) {
    double y = f->y[r] - s->first.y[r];
    s->y[r] += w * y;
    for (int c = 0; c < 12; c++) {
      s->dy[12 * r + c] += w * f->dy[12 * r + c];
      s->mixed[12 * r + c] += w * y * dgap[c];
    }
  }
}

// Means into f. DJ_SINGULAR: normals cancel; that of the first pair stands in for them.
static djStatus mean(Found* f, Sum* s, double T) {
  double inverse = 1 / s->weight;
  f->gap = s->least - T * log(s->weight);
  for (int c = 0; c < 12; c++) f->dgap[c] = s->first.dgap[c] + inverse * s->dgap[c];
  for (int r = 0; r < 9; r++) {
    double y = inverse * s->y[r];
    f->y[r] = s->first.y[r] + y;
    for (int c = 0; c < 12; c++) {
      int k = 12 * r + c;
      f->dy[k] = inverse * (s->dy[k] - (s->mixed[k] - y * s->dgap[c]) / T);
    }
  }
  double length = dju_norm3(dju_load3(f->y));
  if (!(length > 1e-9)) {
    memcpy(f->y, s->first.y, 3 * sizeof(double));
    memset(f->dy, 0, 36 * sizeof(double));
    return DJ_SINGULAR;
  }
  for (int r = 0; r < 3; r++) f->y[r] /= length;
  for (int c = 0; c < 12; c++) {
    double along = f->y[0] * f->dy[c] + f->y[1] * f->dy[12 + c] + f->y[2] * f->dy[24 + c];
    for (int r = 0; r < 3; r++) f->dy[12 * r + c] = (f->dy[12 * r + c] - along * f->y[r]) / length;
  }
  return DJ_OK;
}

// A lower bound of a pair's gap.
static double lowerBound(const djShape* a, const djPose* pose_a, const djShape* b,
                         const djPose* pose_b) {
  if (a->type == DJ_PLANE || b->type == DJ_PLANE) return -INFINITY;
  djVec3 between = dju_sub3(dju_mulMV(pose_b->R, b->center), dju_mulMV(pose_a->R, a->center));
  between = dju_add3(between, dju_sub3(pose_b->p, pose_a->p));
  return dju_norm3(between) - a->bound - b->bound;
}

// The nearest pair alone, or the soft minimum over all. *status: the worst of pairs that count.
static djStatus findAll(Found* f, int* iterations, const djcGapPair* p, const djPose pose[2]) {
  const djGapSide *a = &p->side[0], *b = &p->side[1];
  if (a->n == 1 && b->n == 1) return findPair(f, iterations, p, pose, 0, 0);
  Sum sum = {.least = INFINITY};
  Found one;
  djStatus worst = DJ_OK;
  double range = p->exact ? 0 : NEGLIGIBLE * p->smoothing;
  for (int i = 0; i < a->n; i++) {
    for (int j = 0; j < b->n; j++) {
      const djShape *sa = &a->soft[i].core, *sb = &b->soft[j].core;
      if (sa->type == DJ_PLANE && sb->type == DJ_PLANE) continue;
      if (lowerBound(sa, &pose[0], sb, &pose[1]) > sum.least + range) continue;
      djStatus status = findPair(&one, iterations, p, pose, i, j);
      if (status < 0) return status;
      if (one.gap > sum.least + range) continue;
      if (one.gap < sum.least - range) worst = DJ_OK;
      if (status > worst) worst = status;
      if (!p->exact) {
        addFound(&sum, &one, p->smoothing);
      } else if (one.gap < sum.least) {
        sum.least = one.gap;
        *f = one;
      }
    }
  }
  if (p->exact) return worst;
  djStatus status = mean(f, &sum, p->smoothing);
  return status ? status : worst;
}

djStatus djc_evalGapPair(djcGap* out, const djcGapPair* pair, const double pos_a[3],
                         const double mat_a[9], const double pos_b[3], const double mat_b[9]) {
  if (!out || !pair || !pos_a || !mat_a || !pos_b || !mat_b) return DJ_INVALID;
  djPose pose[2];
  pose[0].p = dju_load3(pos_a);
  pose[1].p = dju_load3(pos_b);
  memcpy(pose[0].R.m, mat_a, sizeof pose[0].R.m);
  memcpy(pose[1].R.m, mat_b, sizeof pose[1].R.m);
  Found f = {.gap = INFINITY};  // stays where there are planes only
  int iterations = 0;
  djStatus status = findAll(&f, &iterations, pair, pose);
  if (status < 0) return status;
  memset(out, 0, sizeof *out);
  out->gap = f.gap;
  out->smoothing = pair->smoothing;
  out->iterations = iterations;
  memcpy(out->normal, f.y, sizeof out->normal);
  for (int k = 0; k < 3; k++) {
    out->point_a[k] = pos_a[k] + f.y[3 + k];
    out->point_b[k] = pos_a[k] + f.y[6 + k];
  }
  memcpy(out->gap_twist, f.dgap, sizeof out->gap_twist);
  memcpy(out->normal_twist, f.dy, sizeof out->normal_twist);
  memcpy(out->point_a_twist, f.dy + 36, sizeof out->point_a_twist);
  memcpy(out->point_b_twist, f.dy + 72, sizeof out->point_b_twist);
  return status;
}

djStatus djc_gap(djcGap* out, const djcShape* a, const djcShape* b, double smoothing) {
  if (!out || !a || !b) return DJ_INVALID;
  const djMat3 I = dju_eye3();
  djcGapPair* pair;
  djStatus status = makePair(&pair, 1, a, a->origin, 1, b, b->origin, smoothing, NULL);
  if (status) return status;
  status = djc_evalGapPair(out, pair, a->origin, I.m, b->origin, I.m);
  djc_deleteGapPair(pair);
  return status;
}
