// Random implicit shapes of tests, by the four families.

#ifndef DJ_TESTS_IMPLICIT_CASE_H_
#define DJ_TESTS_IMPLICIT_CASE_H_

#include "common/random.h"
#include "common/test.h"
#include "math/so3.h"
#include "shape/implicit.h"

#include <dijoco/implicit.h>

#include <string.h>

enum { DJT_FACETS = 14, DJT_NUMBERS = 4 * DJT_FACETS + 2, DJT_FAMILIES = 5 };

typedef struct djtImplicit {
  djcImplicitShape given;
  double size[DJT_NUMBERS];
} djtImplicit;

// Facets that bound: those of a box, then random ones, none of which cuts off the middle.
static inline int djt_facets(double* size, int m, double scale, djRng* rng) {
  static const double box[6][3] = {{1, 0, 0},  {-1, 0, 0}, {0, 1, 0},
                                   {0, -1, 0}, {0, 0, 1},  {0, 0, -1}};
  for (int i = 0; i < m; i++) {
    const double length = djt_uniform(rng, 0.5, 2);
    if (i < 6)
      memcpy(size + 3 * i, box[i], sizeof box[i]);
    else
      djt_unitVector(size + 3 * i, rng);
    for (int k = 0; k < 3; k++) size[3 * i + k] *= length;
    size[3 * m + i] = length * scale * djt_uniform(rng, 0.6, 1.2);
  }
  size[4 * m] = scale;
  return 4 * m + 1;
}

// A shape of about `scale` metres; sharp: of beta, and of n an eighth of that and more than 1.
static inline void djt_implicitShape(djtImplicit* s, int family, double scale, double sharp,
                                     djRng* rng) {
  int n = 0, m = 0;
  const char* name = djc_implicitFamily(family);
  const bool maximum = strncmp(name, "superelli", 9) != 0;
  if (!strcmp(name, "smooth_polytope")) {
    m = 6 + djt_integer(rng, DJT_FACETS - 5);
    n = djt_facets(s->size, m, scale, rng);
  } else {
    while (*djc_implicitNumber(family, n + 1)) s->size[n++] = scale * djt_uniform(rng, 0.4, 1.1);
  }
  s->size[n++] = maximum ? sharp : 1 + sharp / 8;
  s->given = (djcImplicitShape){name, m, n, s->size};
}

// ------------------------------------------ places ----------------------------------------------

typedef struct djtPose {
  double pos[3], quat[4];
} djtPose;

static inline void djt_randomPose(djtPose* p, double spread, djRng* rng) {
  djt_uniforms(p->pos, 3, rng, -spread, spread);
  djt_unitQuat(p->quat, rng);
}

// By h along twist k: turns (0..2), then moves (3..5) in the world's axes.
static inline void djt_movePose(djtPose* p, int k, double h) {
  double w[3] = {0};
  if (k >= 3) {
    p->pos[k - 3] += h;
    return;
  }
  w[k] = h;
  dju_storeQuat(p->quat, dju_mulQuat(dju_expQuat(dju_load3(w)), dju_loadQuat(p->quat)));
}

// ------------------------------------------ results ---------------------------------------------

// All outputs of a touch in one row.
enum { DJT_OUTPUTS = 14 };
static inline void djt_outputs(double v[DJT_OUTPUTS], const djcImplicit* o) {
  v[0] = o->alpha;
  v[1] = o->gap;
  memcpy(v + 2, o->x, sizeof o->x);
  memcpy(v + 5, o->normal, sizeof o->normal);
  memcpy(v + 8, o->point_a, sizeof o->point_a);
  memcpy(v + 11, o->point_b, sizeof o->point_b);
}

static inline void setNumbers(djtImplicit* s, const char* family, int n, const double* size) {
  memcpy(s->size, size, (size_t)n * sizeof *size);
  s->given = (djcImplicitShape){family, 0, n, s->size};
}

static inline void evalAt(djcImplicit* out, djcImplicitPair* pair, const djtPose pose[2],
                          int flags) {
  const djStatus status =
      djc_evalImplicitPair(out, pair, pose[0].pos, pose[0].quat, pose[1].pos, pose[1].quat, flags);
  if (status) fail_msg("status %d", status);
}

#endif // DJ_TESTS_IMPLICIT_CASE_H_
