// Kernel calls on everything that shapes may be: sizes from a micrometre to a kilometre, needles
// and plates, poses apart, touching to the last bit, coincident, deep inside each other, moving
// fast. No call may fail or give a number that is not finite. An argument says how many: the test
// runs some thousands, `test_kernel_calls 1000000` a million.

#include "common/pair_case.h"
#include "common/test.h"
#include "common/worst.h"

static long ncalls = 6000;

static const int types[] = {DJ_PLANE,     DJ_SPHERE,   DJ_CAPSULE, DJ_BOX,
                            DJ_ELLIPSOID, DJ_CYLINDER, DJ_MESH};
enum { NTYPE = sizeof types / sizeof types[0] };

typedef struct Count {
  long calls, active, recovering, lost, overlapping;
} Count;

static bool allFinite(const double* x, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (!isfinite(x[i])) return false;
  }
  return true;
}

// Semi-axes about `size`, with ratios up to `needle`.
static void randomSize(double out[3], Random* r, double size, double needle) {
  for (int k = 0; k < 3; k++) out[k] = size * (below(r, 3) ? 1 : logUniform(r, 1 / needle, 1));
}

// An orientation that leaves axes aligned now and then, so that faces and edges are parallel.
static djQuat pickQuat(Random* r) {
  static const djQuat aligned[4] = {
      {1, 0, 0, 0},
      {0, 1, 0, 0},
      {0.70710678118654757, 0, 0, 0.70710678118654757},
      {0.5, 0.5, 0.5, 0.5}};
  switch (below(r, 4)) {
    case 0: return aligned[below(r, 4)];
    case 1: return smallQuat(r, logUniform(r, 1e-9, 1e-2));
    default: return randomQuat(r);
  }
}

// Where the second shape stands, in units of the sizes.
static void place(PairCase* c, Random* r, double range) {
  djVec3 at = randomWithin(r, 3 * c->size);
  c->now[0] = poseOf(at, pickQuat(r));
  c->now[1] = poseOf(c->now[0].p, below(r, 3) ? pickQuat(r) : randomQuat(r));
  if (below(r, 6) == 0) c->now[1].R = c->now[0].R;
  int kind = below(r, 6);
  if (kind == 0) return;   // coincident
  djVec3 dir = below(r, 2) ? randomUnit(r) : dju_vec3(0, 0, 1);
  c->now[1].p = dju_madd3(c->now[1].p, uniform(r, 0, 2) * c->size, dir);
  if (kind == 1) return;   // anywhere, mostly inside each other
  static const double part[] = {0, 1e-9, -1e-9, 0.5, 1, 0.8, -3};
  double gap = range * (kind == 2 ? part[below(r, 7)] : uniform(r, -0.5, 1.5));
  for (int k = 0; k < 4; k++) {
    djDistance d;
    if (dj_distance(&d, NULL, &c->shape[0].shape, &c->now[0], 0, &c->shape[1].shape, &c->now[1],
                    0) < 0) {
      return;
    }
    c->now[1].p = dju_madd3(c->now[1].p, gap - d.gap, d.normal);
  }
}

static void makeCase(PairCase* c, Random* r, int type_a, int type_b) {
  memset(c, 0, sizeof *c);
  int type[2] = {type_a, type_b};
  double base = logUniform(r, 1e-6, 1e3), ratio = below(r, 2) ? 1 : logUniform(r, 1e-3, 1);
  for (int k = 0; k < 2; k++) {
    double dims[3];
    randomSize(dims, r, k ? base * ratio : base, below(r, 2) ? 3 : 300);
    setGeom(&c->shape[k], type[k], dims, 4 + below(r, 40), r);
    if (type[k] != DJ_PLANE) c->size = djt_worst(c->size, c->shape[k].shape.bound);
  }
  double inner = fmin(c->shape[0].shape.inner,
                      type_b == DJ_PLANE ? INFINITY : c->shape[1].shape.inner);
  c->L = below(r, 2) ? 1 : logUniform(r, 0.01, 100);
  c->s = fmin(0.4, inner * logUniform(r, 1e-4, 0.1) / c->L);
  if (c->s < 1e-12) c->s = 1e-12;
  c->K = logUniform(r, 1e-6, 1e3);
  c->friction = below(r, 3) ? uniform(r, 0, 2) : 0;
  double range = 2 * c->s * c->L / (1 - c->s);
  place(c, r, range);
  for (int k = 0; k < 2; k++) {
    c->start[k] = c->now[k];
    c->ref[k] = dju_add3(c->now[k].p, randomWithin(r, c->size));
  }
  c->in.h = logUniform(r, 1e-5, 0.1);
  c->setting[DJ_PLANE_FRICTION_EPS] = logUniform(r, 1e-12, 1e-2);
  c->in.force_cap = below(r, 2) ? INFINITY : logUniform(r, 1e-3, 1e3);
  c->in.recover = true;
  c->setting[DJ_PLANE_ARMS] = below(r, 2) ? DJ_ARMS_PLANE : DJ_ARMS_PAPER;
  c->setting[DJ_PLANE_CAP] = below(r, 2) ? DJ_CAP_MAGNITUDE : DJ_CAP_PAPER;
  c->setting[DJ_PLANE_BARRIER] = below(r, 2) ? DJ_BARRIER_SDRS : DJ_BARRIER_LOG;
}

static void moveCase(PairCase* c, Random* r, double range) {
  double step = range * (below(r, 3) ? 0.1 : logUniform(r, 1e-6, 2)), xi[12];
  for (int i = 0; i < 12; i++) xi[i] = step * uniform(r, -1, 1) / (i % 6 < 3 ? c->size : 1);
  for (int k = 0; k < 2; k++) c->now[k] = twistPose(&c->start[k], c->ref[k], xi + 6 * k);
}

static void complain(const char* what, uint64_t seed, const PairCase* c, int a, int b, int status) {
  fail_msg("seed %llu, types %d and %d, size %g, s %g, L %g: %s (status %d)",
           (unsigned long long)seed, a, b, c->size, c->s, c->L, what, status);
}

static void zeroGrad(djShapeGrad* g, double* memory, int npad) {
  memset(g, 0, sizeof *g);
  memset(memory, 0, 6 * (size_t)npad * sizeof *memory);
  for (int k = 0; k < 3; k++) {
    g->vert[k] = memory + k * npad;
    g->move[k] = memory + (3 + k) * npad;
  }
}

// One step of a pair: begin, evaluate, all derivatives, report.
static void callAll(Count* n, const djKernel* k, PairCase* c, Random* r, uint64_t seed, int a,
                    int b) {
  static double memory[2][6 * 64];
  djPairInput in = *pairInput(c);
  double range = 2 * c->s * c->L / (1 - c->s);
  memset(&c->state, 0, sizeof c->state);
  in.pose_a = &c->start[0];
  in.pose_b = &c->start[1];
  djStatus status = k->begin(stateOf(c), &in);
  if (status < 0) complain("begin", seed, c, a, b, status);
  bool lost = status > 0;
  moveCase(c, r, range);
  in = *pairInput(c);
  djPairOutput out = {0};
  status = k->eval(&out, stateOf(c), &in, below(r, 2) ? DJ_EVAL_HESSIAN : DJ_EVAL_MAJORIZER);
  if (status < 0) complain("eval", seed, c, a, b, status);
  lost = lost || status > 0;
  n->calls++;
  n->lost += lost;
  if (!(out.value < INFINITY)) {   // the motion has brought them into each other
    if (isnan(out.value)) complain("value is not a number", seed, c, a, b, status);
    n->overlapping++;
    return;
  }
  if (!out.active) return;
  n->active++;
  if (!allFinite(out.gradient, 12) || !allFinite(out.hessian, 144) || !isfinite(out.gap)) {
    complain("derivatives are not finite", seed, c, a, b, status);
  }
  double jac[144], lambda[12];
  status = k->start(jac, NULL, stateOf(c), &in);
  if (status < 0 && status != DJ_SINGULAR) complain("start", seed, c, a, b, status);
  if (status >= 0 && !allFinite(jac, 144)) complain("start: not finite", seed, c, a, b, status);
  djPairReport report;
  status = k->report(&report, stateOf(c), &in);
  if (status < 0) complain("report", seed, c, a, b, status);
  n->recovering += report.recovering;
  if (!allFinite(report.wrench_a, 6) || !allFinite(report.wrench_b, 6)) {
    complain("report: not finite", seed, c, a, b, status);
  }
  djShapeGrad grad[2];
  djPairGrad sum = {.a = &grad[0], .b = &grad[1]};
  for (int i = 0; i < 12; i++) lambda[i] = uniform(r, -1, 1);
  for (int i = 0; i < 2; i++) zeroGrad(&grad[i], memory[i], c->shape[i].shape.npad);
  status = k->vjp(&sum, stateOf(c), &in, lambda);
  if (status < 0 && status != DJ_SINGULAR) complain("vjp", seed, c, a, b, status);
  bool finite = isfinite(sum.friction) && allFinite(sum.setting, DJ_MAX_OF_KERNEL);
  for (int i = 0; i < 2; i++) {
    finite = finite && allFinite(memory[i], 6 * (size_t)c->shape[i].shape.npad) &&
             isfinite(grad[i].radius);
  }
  if (status >= 0 && !finite) complain("vjp: not finite", seed, c, a, b, status);
}

static void testCalls(void) {
  const djKernel* k = dj_kernel(DJ_SEPARATING_PLANE);
  Count n = {0};
  for (uint64_t seed = 1; n.calls < ncalls; seed++) {
    Random r = {seed * 7919};
    int a = types[below(&r, NTYPE)], b = types[below(&r, NTYPE)];
    if (!k->takes(a, b)) continue;
    PairCase c;
    makeCase(&c, &r, a, b);
    callAll(&n, k, &c, &r, seed, a, b);
    freeCase(&c);
  }
  print_message("%ld calls: %ld active, %ld recovering, %ld moved into each other, %ld not "
                "converged\n", n.calls, n.active, n.recovering, n.overlapping, n.lost);
  assert_true(n.active > ncalls / 3 && n.recovering > ncalls / 20);
  assert_true(n.lost < ncalls / 500);
}

int main(int argc, char** argv) {
  if (argc > 1) ncalls = atol(argv[1]);
  const struct CMUnitTest tests[] = {djt_test(testCalls)};
  return cmocka_run_group_tests_name("kernel_calls", tests, NULL, NULL);
}
