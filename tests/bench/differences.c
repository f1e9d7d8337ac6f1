// What derivatives of contact are worth: a scene's run beside the same one where they come from
// differences, and what contact takes of each. `make bench` runs it on models/implicit/ten_bodies.
//
//   pairs    each pair's Hessian, from its gradient, as of a kernel that has none
//   model    dr/dQ of a step, from the residual: one for each dof, of which each sees all pairs, as
//            of a solver that knows the residual alone (without its structure); contact's own
//            derivatives are not evaluated for them, but those of inertia are
//
// Usage: bench_differences SCENE.json KEYFRAME SECONDS

#include "contact/implicit/implicit_surface.h"
#include "contact/wrench.h"
#include "integrate/inverse.h"
#include "math/so3.h"

#include <dijoco/dijoco.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ANALYTIC, FORWARD, CENTRAL, MODEL, NWAY };
static const double STEP[NWAY] = {0, 1e-7, 1e-5, 1e-7}; // rad, m
enum { REPEATS = 5 };

static int way;
static bool column; // a column of dr/dQ is under way
static double off;  // sum of the largest errors of their diagonal entries, over the largest
static long noff;   //   entry, and how many

static double seconds(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// ---- of pairs ---------------------------------------------------------------------------------

static djStatus gradientAt(double g[12], djPairState* state, const djPairInput* in, int j,
                           double step) {
  djPairInput at = *in;
  djPairOutput out = {.twist_jac = NULL};
  djPose moved = j < 6 ? *in->pose_a : *in->pose_b;
  const djVec3 ref = j < 6 ? in->ref_a : in->ref_b;
  double twist[6] = {0};
  twist[j % 6] = step;
  const djMat3 R = dju_quatToMat(dju_expQuat(dju_load3(twist)));
  moved.R = dju_mulMM(R, moved.R);
  moved.p = dju_add3(dju_add3(ref, dju_mulMV(R, dju_sub3(moved.p, ref))), dju_load3(twist + 3));
  *(j < 6 ? &at.pose_a : &at.pose_b) = &moved;
  djStatus status = dj_implicitSurface.eval(&out, state, &at, DJ_EVAL_GRADIENT);
  memcpy(g, out.gradient, sizeof out.gradient);
  return status;
}

static djStatus evalPair(djPairOutput* out, djPairState* state, const djPairInput* in, int flags) {
  const int second = DJ_EVAL_HESSIAN | DJ_EVAL_MAJORIZER;
  const int first = flags & second ? (flags & ~second) | DJ_EVAL_GRADIENT : flags;
  const bool own = way == ANALYTIC || (way == MODEL && !column);
  djStatus status = dj_implicitSurface.eval(out, state, in, own ? flags : first);
  if (status || own || way == MODEL || !(flags & second) || !out->active) return status;
  double H[144];
  for (int j = 0; j < 12; j++) {
    double high[12], low[12], span = way == CENTRAL ? 2 * STEP[way] : STEP[way];
    status = gradientAt(high, state, in, j, STEP[way]);
    memcpy(low, out->gradient, sizeof low);
    if (!status && way == CENTRAL) status = gradientAt(low, state, in, j, -STEP[way]);
    if (status) return status;
    for (int i = 0; i < 12; i++) H[12 * i + j] = (high[i] - low[i]) / span;
  }
  dj_toExponential(H, out->gradient);
  for (int i = 0; i < 12; i++) {
    for (int j = 0; j < 12; j++) out->hessian[12 * i + j] = 0.5 * (H[12 * i + j] + H[12 * j + i]);
  }
  return DJ_OK;
}

static double narrow; // s in there, of calls that took no more than OTHERS
static long calls, timed;
static const double OTHERS = 1e-4; // another program had the processor

static djStatus eval(djPairOutput* out, djPairState* state, const djPairInput* in, int flags) {
  double start = seconds(CLOCK_MONOTONIC); // the processor's is slower to read than this takes
  djStatus status = evalPair(out, state, in, flags);
  double spent = seconds(CLOCK_MONOTONIC) - start;
  calls++;
  if (spent > OTHERS) return status;
  narrow += spent;
  timed++;
  return status;
}

// The library's rows, the one of implicit surfaces with that entry.
extern const djKernel dj_separatingPlane;
static djKernel surfaces;
const djKernel* const dj_kernelTable[3] = {&dj_separatingPlane, &surfaces, NULL};
extern const djKernelSettings dj_planeSettings, dj_implicitSettings;
const djKernelSettings* const dj_settingTable[3] = {&dj_planeSettings, &dj_implicitSettings, NULL};
const djChoice dj_contactNames[4] = {
    {"none", DJ_CONTACT_NONE}, {"separating_plane", 0}, {"implicit_surface", 1}, {NULL, 0}};

// ---- of the model ------------------------------------------------------------------------------

// Columns of dr/dQ are found, their diagonal entries compared with the analytic ones, and these
// then serve: a run takes as many iterations as with them.
static djStatus evaluateAll(double* value, double* gradient, djWork* w, const djModel* m,
                            const djPlace* at, bool* majorizer) {
  djStatus status = dj_midpoint.evaluate(value, gradient, w, m, at, majorizer);
  if (way != MODEL || !gradient || status < 0 || !isfinite(*value)) return status;
  double *first = w->lambda, *moved = first + m->nv, *unit = moved + m->nv, most = 0, error = 0;
  memcpy(first, gradient, (size_t)m->nv * sizeof(double));
  column = true;
  for (int j = 0; j < m->nv && status >= 0; j++) {
    bool none = *majorizer;
    double unused;
    memset(unit, 0, (size_t)m->nv * sizeof(double));
    unit[j] = 1;
    double diagonal = *dj_own(&w->H, j, j);
    dj_integratePos(w->ahead.q, m, at->q, unit, STEP[MODEL]);
    dj_setPlace(&w->ahead, m, w->start.mocap_pos, w->start.mocap_quat);
    dj_openPlace(&w->ahead, m, w->ref);
    status = dj_midpoint.evaluate(&unused, moved, w, m, &w->ahead, &none);
    error = fmax(error, fabs((moved[j] - first[j]) / STEP[MODEL] - diagonal));
    most = fmax(most, fabs(diagonal));
  }
  column = false;
  off += error / most;
  noff++;
  return status < 0 ? status : dj_midpoint.evaluate(value, gradient, w, m, at, majorizer);
}

static djMethod midpoint;
const djMethod* dj_method(djIntegrator integrator) {
#define METHOD(enumerator, name) [enumerator] = &dj_##name,
  static const djMethod* const table[DJ_NINTEGRATOR] = {DJ_INTEGRATORS(METHOD)};
  return integrator == DJ_MIDPOINT ? &midpoint : table[integrator];
}

// ---- runs --------------------------------------------------------------------------------------

static double processor(void) { return seconds(CLOCK_THREAD_CPUTIME_ID); }

static void fail(const char* what, const char* text) {
  fprintf(stderr, "bench_differences: %s: %s\n", what, text);
  exit(2);
}

typedef struct Run {
  double time, without; // s of the processor; of the same steps without contact
  double narrow;        // s in each evaluation of a pair
  long calls, iterations, unconverged;
} Run;

static void run(Run* out, const djModel* m, const djModel* bare, int key, double time) {
  djError err;
  djData *d, *loose;
  if (dj_makeData(&d, m, &err) < 0 || dj_makeData(&loose, bare, &err) < 0) fail("data", err.text);
  if (dj_resetKey(m, d, key) < 0) fail("keyframe", dj_errorText(d));
  double* state = malloc((size_t)dj_stateSize(m) * sizeof(double));
  if (!state) fail("state", "out of memory");
  *out = (Run){.time = 0};
  narrow = 0;
  calls = timed = 0;
  for (long k = lround(time / m->opt.timestep); k > 0; k--) {
    dj_getState(state, m, d);
    dj_setState(loose, bare, state);
    double start = processor();
    if (dj_step(bare, loose) < 0) fail("step", dj_errorText(loose));
    double middle = processor();
    if (dj_step(m, d) < 0) fail("step", dj_errorText(d));
    out->without += middle - start;
    out->time += processor() - middle;
  }
  out->narrow = narrow / (double)timed;
  out->calls = calls;
  out->iterations = d->stats.newton_iterations;
  out->unconverged = d->stats.unconverged_steps;
  free(state);
  dj_deleteData(d);
  dj_deleteData(loose);
}

int main(int argc, char** argv) {
  static const char* const names[NWAY] = {"analytic", "pairs, 12 forward", "pairs, 24 central",
                                          "model, forward"};
  djModel *m, *bare = NULL;
  djError err;
  if (argc != 4) fail("usage", "bench_differences SCENE.json KEYFRAME SECONDS");
  surfaces = dj_implicitSurface;
  surfaces.eval = eval;
  midpoint = dj_midpoint;
  midpoint.evaluate = evaluateAll;
  if (dj_loadModel(&m, argv[1], &err) < 0 || dj_copyModel(&bare, m, &err) < 0) {
    fail(argv[1], err.text);
  }
  djOption option = bare->opt;
  option.contact = DJ_CONTACT_NONE;
  if (dj_setOption(bare, &option, &err) < 0) fail(argv[1], err.text);
  const int key = dj_name2id(m, DJ_OBJ_KEY, argv[2]);
  Run best[NWAY];
  for (int k = 0; k < REPEATS; k++) {
    for (way = 0; way < NWAY; way++) {
      Run one;
      run(&one, m, bare, key, atof(argv[3]));
      Run* b = &best[way];
      const double least = k == 0 ? one.narrow : fmin(b->narrow, one.narrow);
      if (k == 0 || one.time < b->time) *b = one;
      b->narrow = least;
    }
  }
  printf("%s, %s s: derivatives\n", argv[1], argv[3]);
  for (way = 0; way < NWAY; way++) {
    const Run* r = &best[way];
    printf("  %-18s %8.4f s, %6.2f of the first; contact %4.1f %%, of it %4.1f %% for %ld pairs at "
           "%.2f us;\n%20s %ld iterations, %ld steps unconverged\n",
           names[way], r->time, r->time / best[0].time, 100 * (1 - r->without / r->time),
           100 * r->narrow * (double)r->calls / r->time, r->calls, 1e6 * r->narrow, "",
           r->iterations, r->unconverged);
  }
  printf("  model's differences are off by %.1e of the largest diagonal entry, in the mean\n",
         off / (double)noff);
  dj_deleteModel(m);
  dj_deleteModel(bare);
  return 0;
}
