// Pairs for tests that run over every row of the kernel table. Included after cmocka.

#ifndef DJ_TESTS_KERNEL_CASE_H_
#define DJ_TESTS_KERNEL_CASE_H_

#include "common/pair_case.h"
#include "common/test.h"
#include "common/worst.h"

static const int kernelTypes[] = {DJ_PLANE, DJ_SPHERE,    DJ_CAPSULE, DJ_BOX,
                                  DJ_MESH,  DJ_ELLIPSOID, DJ_CYLINDER, DJ_HFIELD};
enum { NTYPE = sizeof kernelTypes / sizeof kernelTypes[0] };
#define GUIDE 2e-2   // J, beside a stiffness of 1e-3 J: of as much force in the middle of the range

typedef void (*PairTest)(const djKernel* k, Random* r, int type_a, int type_b);

// The guide of movingPair's cases, J; see forKernels.
static double kernel_guide;
// Of implicit_surface's cases: which of its laws, with damping or without.
static int kernel_variant;
typedef struct SurfaceVariant {
  int law;
  double damping, exponent;
} SurfaceVariant;
static const SurfaceVariant surfaceVariants[] = {
    {DJ_LAW_HERTZ, 0, 1.5}, {DJ_LAW_HERTZ, 5, 2.5}, {DJ_LAW_PAPER, 5, 1.5}, {DJ_LAW_BARRIER, 5, 1},
    {DJ_LAW_PAPER, 0, 2.5}, {DJ_LAW_BARRIER, 0, 1}, {DJ_LAW_HERTZ, 5, 1}, {DJ_LAW_LOG, 5, 1}};
enum { NVARIANT = sizeof surfaceVariants / sizeof surfaceVariants[0] };
// Of damped's: laws of normal force and friction.
static const int dampedVariants[][2] = {{DJ_LAW_PERTURBED, DJ_POINT_FRICTION_SMOOTH},
                                        {DJ_LAW_SMOOTH_PENALTY, DJ_POINT_FRICTION_PERTURBED},
                                        {DJ_LAW_LOG, DJ_POINT_FRICTION_SMOOTH}};
enum { NDAMPED = sizeof dampedVariants / sizeof dampedVariants[0] };

static inline int variantsOf(const djKernel* k) {
  if (k == &dj_longRange) return 2; // weightings
  return k == &dj_implicitSurface ? NVARIANT : k == &dj_damped ? NDAMPED : 1;
}
static const double sizesApart[] = {0.5, 3, 30};
enum { NAPART = 3 };

// To long_range all solids are triangles: a box and meshes say what others would.
static inline bool ofTriangles(int type) {
  return type == DJ_PLANE || type == DJ_BOX || type == DJ_MESH;
}

// Every row of the table, or those whose shapes may not overlap and recover, every pair of types; the
// separating plane of two convex shapes with a guide, too, implicit surfaces by all laws.
static inline void forKernels(PairTest test, uint64_t seed, bool barriers) {
  for (int m = 0; m < dj_kernelCount(); m++) {
    const djKernel* k = dj_kernel(m);
    assert_non_null(k);
    assert_true(dj_pairStateSize(k, true) <= PAIR_STATE && k->settings->n <= DJ_MAX_OF_KERNEL);
    assert_ptr_equal(k->settings, dj_settingTable[m]);
    assert_string_equal(k->settings->name, dj_nameOf(dj_contactNames, m));
    assert_int_equal(dj_kernelNamed(k->settings->name), m);
    const bool surfaces = k == &dj_implicitSurface; // by one of its laws a barrier
    if (barriers && ((k->traits.overlaps && !surfaces) || !k->recovers)) continue;
    int pairs = 0, most = k == &dj_separatingPlane ? 2 : 1;
    for (int i = 0; i < most * NTYPE * NTYPE; i++) {
      int a = i / NTYPE % NTYPE, b = i % NTYPE;
      bool guided = i >= NTYPE * NTYPE;
      if (!k->takes(kernelTypes[a], kernelTypes[b])) continue;
      const bool few = ofTriangles(kernelTypes[a]) && ofTriangles(kernelTypes[b]);
      if (k == &dj_longRange && !few) continue;
      if (guided && isGround(kernelTypes[b])) continue;
      kernel_guide = guided ? GUIDE : 0;
      for (kernel_variant = 0; kernel_variant < variantsOf(k); kernel_variant++) {
        if (barriers && surfaces && surfaceVariants[kernel_variant].law != DJ_LAW_BARRIER) continue;
        const bool hulls = kernelTypes[a] == DJ_MESH || kernelTypes[b] == DJ_MESH;
        if (k == &dj_longRange && kernel_variant > 0 && hulls) continue; // boxes are enough
        Random r = {seed + 100 * (uint64_t)(7 * a + b)};
        test(k, &r, kernelTypes[a], kernelTypes[b]);
      }
      pairs++;
    }
    kernel_guide = 0;
    kernel_variant = 0;
    assert_true(pairs > 0);
  }
}

static inline void forAllPairs(PairTest test, uint64_t seed) { forKernels(test, seed, false); }
static inline void forBarriers(PairTest test, uint64_t seed) { forKernels(test, seed, true); }

// Repetitions of a long test: of pairs of curved shapes, which are many, a third.
static inline int some(int n, int type_a, int type_b) {
  bool curved = type_a == DJ_ELLIPSOID || type_a == DJ_CYLINDER || type_b == DJ_ELLIPSOID ||
                type_b == DJ_CYLINDER;
  return curved ? (n + 2) / 3 : n;
}

// Settings by a kernel's rules, those of the first one as the case has them.
static inline void useKernel(PairCase* c, const djKernel* k) {
  const djContactScale scale = {{1, 1}, {1, 1}, 1, 9.81, 0.01, 1, 1};
  double given[DJ_MAX_OF_KERNEL];
  for (int i = 0; i < DJ_MAX_OF_KERNEL; i++) given[i] = -1;
  if (k == &dj_implicitSurface) {
    given[DJ_IMPLICIT_LAW] = surfaceVariants[kernel_variant].law;
    given[DJ_IMPLICIT_DAMPING] = surfaceVariants[kernel_variant].damping;
    given[DJ_IMPLICIT_EXPONENT] = surfaceVariants[kernel_variant].exponent;
    given[DJ_IMPLICIT_FRICTION_EPS] = 4e-2;
    given[DJ_IMPLICIT_SUPPORT] = 0.04;
  }
  if (k == &dj_penalty) {   // a point sticks up to about 1 m/s
    given[DJ_PENALTY_KN] = 100;
    given[DJ_PENALTY_KT] = 1;
    given[DJ_PENALTY_KD] = 20;
  }
  if (k == &dj_damped) {
    given[DJ_DAMPED_LAW] = dampedVariants[kernel_variant][0];
    given[DJ_DAMPED_FRICTION_LAW] = dampedVariants[kernel_variant][1];
    given[DJ_DAMPED_SIGMA] = 0.2;
    given[DJ_DAMPED_KN] = 60;
    given[DJ_DAMPED_ALPHA] = 1.5;
    given[DJ_DAMPED_SIGMA_T] = 0.3;
    given[DJ_DAMPED_FRICTION_EPS] = 0.2;
    given[DJ_DAMPED_DETECT] = 0.4;
    c->in.timestep = 0.01;
    c->in.rest = 0.005;
  }
  if (k == &dj_longRange) {
    given[DJ_LONG_WEIGHTING] = kernel_variant;
    given[DJ_LONG_EPS] = 0.5;
  }
  c->kernel = k;
  if (k == &dj_separatingPlane) return;
  assert_int_equal(dj_applyRules(c->setting, k, &scale, given, NULL), DJ_OK);
  if (k == &dj_implicitSurface) fitCase(c);
  if (k == &dj_penalty || k == &dj_damped) penaltyCase(c, NULL);
  if (k == &dj_longRange) longCase(c);
}

static inline djTraits traitsOf(const djKernel* k, PairCase* c) {
  return dj_traitsUnder(k, pairInput(c)->setting);
}

static inline double rangeOf(const djKernel* k, PairCase* c) {
  return k->range(pairInput(c)->setting);
}

// The gap that is a part of the range; where that is zero or infinite, of a length.
static inline double gapOf(const djKernel* k, PairCase* c, double part) {
  double range = rangeOf(k, c);
  if (k == &dj_damped) return 0.2 * part;
  if (k->everywhere) return 0.02 + 0.2 * fabs(part); // there is no range, nor recovery
  if (range == 0) return -0.05 * (1 - part);
  return part * (range < INFINITY ? range : 1);
}

// Begin with the case's start poses on a new state.
static inline djStatus beginNew(const djKernel* k, PairCase* c) {
  memset(&c->state, 0, sizeof c->state);
  djPairInput in = *pairInput(c);
  in.pose_a = &c->start[0];
  in.pose_b = &c->start[1];
  return dj_beginPair(k, stateOf(c), &in);
}

static inline djStatus startCase(double jac[144], double rate_jac[144], const djKernel* k,
                                 PairCase* c) {
  memset(rate_jac, 0, 144 * sizeof(double));
  return dj_startPair(jac, c->apart ? rate_jac : NULL, k, stateOf(c), pairInput(c));
}

static double twist_jac[144];   // of the last evaluation

static inline void evalCase(djPairOutput* out, const djKernel* k, PairCase* c, int flags) {
  memset(out, 0xff, sizeof *out);
  bool twists = k->traits.uses_twist;
  memset(twist_jac, twists ? 0xff : 0, sizeof twist_jac);
  out->twist_jac = twists ? twist_jac : NULL;
  assert_int_equal(k->eval(out, stateOf(c), pairInput(c), flags), DJ_OK);
}

// A pair with friction that has moved by part of its range since the start. part: gap / range.
static int moving_pairs;   // made so far
static inline void movingPair(PairCase* c, const djKernel* k, Random* r, int type_a, int type_b,
                       double part) {
  randomPair(c, r, type_a, type_b, 1, 0.02, 1, 1);
  useKernel(c, k);
  setGap(c, gapOf(k, c, part));
  double xi[12], move = 0.005 * 0.02;
  for (int i = 0; i < 12; i++) xi[i] = move * uniform(r, -1, 1);
  for (int b = 0; b < 2; b++) {
    c->now[b] = twistPose(&c->start[b], c->ref[b], xi + 6 * b);
    for (int i = 0; i < 6; i++) c->twist[b][i] = k->traits.uses_twist ? uniform(r, -1, 1) : 0;
  }
  c->K = 1e-3;
  c->guide = k == &dj_separatingPlane ? kernel_guide : 0;
  c->decay = moving_pairs % 3 == 1 ? 0.3 : 0;
  c->friction = 0.5;
  c->in.cone = someCone(moving_pairs++);
  c->in.recover = true;
  c->in.force_cap = 0.2;
  if (k != &dj_separatingPlane) return;
  c->setting[DJ_PLANE_FRICTION_EPS] = 4e-2;
  c->setting[DJ_PLANE_ARMS] = below(r, 2) ? DJ_ARMS_PLANE : DJ_ARMS_PAPER;
  c->setting[DJ_PLANE_CAP] = below(r, 2) ? DJ_CAP_MAGNITUDE : DJ_CAP_PAPER;
  c->setting[DJ_PLANE_BARRIER] = moving_pairs / 3 % 2 ? DJ_BARRIER_LOG : DJ_BARRIER_SDRS;
}

// Gap over range of a case: within it, and with a guide every other one far apart.
static inline double somePart(Random* r, double low, double high) {
  if (kernel_guide == 0 || below(r, 2)) return uniform(r, low, high);
  return sizesApart[below(r, NAPART)] / planeRange(0.02, 1);
}

// Displacements that count from poses of their own, a little beside the start.
static inline void setRates(PairCase* c, Random* r) {
  c->apart = true;
  for (int b = 0; b < 2; b++) {
    double xi[6];
    for (int i = 0; i < 6; i++) xi[i] = 1e-4 * uniform(r, -1, 1);
    c->rate[b] = twistPose(&c->start[b], c->ref[b], xi);
  }
}

#endif  // DJ_TESTS_KERNEL_CASE_H_
