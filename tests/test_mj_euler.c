// Without contact, limits and dry friction the step `euler` is mj_step, for Euler with and without
// eulerdamp and for implicitfast, and its derivatives are the limits of MuJoCo's differences.

#include "common/mj_zoo.h"
#include "common/random_mjcf.h"
#include "common/worst.h"

#include <dijoco/dijoco.h>

#include <math.h>
#include <string.h>

enum { FEATURES = DJT_MJCF_ACTUATORS | DJT_MJCF_TENDONS | DJT_MJCF_MOCAP };

// How MuJoCo integrates.
typedef struct Way {
  int integrator;
  bool eulerdamp;
  bool rows; // with limits and friction loss
  bool wraps; // tendons go around geoms
} Way;

static const Way ways[] = {
    {mjINT_EULER, true, false, false},       {mjINT_EULER, false, false, false},
    {mjINT_IMPLICITFAST, true, false, false}, {mjINT_EULER, true, true, false},
    {mjINT_EULER, false, true, false},       {mjINT_IMPLICITFAST, true, true, false},
    {mjINT_EULER, true, true, true},         {mjINT_IMPLICITFAST, true, false, true}};

typedef struct Case {
  mjModel* m;
  mjData* d; // the start
  djmContext* c;
} Case;

// Left out: armature along tendons (between branches of a tree MuJoCo's inertia lacks what couples
// them, and paths' is refused), ranges of a joint's force that tendons or sites add to, and forces
// by velocities that are not along coordinates, which act as MuJoCo's explicit ones, or on free
// joints not at all; of implicitfast ranges of tendons' forces that bind together with those of
// actuators.

static void simplify(mjModel* m, const Way* way) {
  bool along = true;
  for (int i = 0; i < m->nactuator; i++) {
    int type = m->actuator_trntype[i], j = m->actuator_trnid[2 * i];
    bool joint = type == mjTRN_JOINT || type == mjTRN_JOINTINPARENT;
    bool fast = way->integrator == mjINT_IMPLICITFAST;
    bool turns = type == mjTRN_SITE || (joint && m->jnt_type[j] == mjJNT_BALL);
    along = along && joint;
    if ((joint && m->jnt_type[j] == mjJNT_FREE) || (fast && turns)) {
      m->actuator_gainprm[mjNGAIN * i + 2] = m->actuator_biasprm[mjNBIAS * i + 2] = 0;
    }
    if (type == mjTRN_TENDON) m->actuator_armature[i] = 0;
  }
  for (int t = 0; t < m->ntendon; t++) {
    m->tendon_armature[t] = 0;
    if (way->integrator == mjINT_IMPLICITFAST) m->tendon_actfrclimited[t] = 0;
  }
  for (int j = 0; j < m->njnt && !along; j++) m->jnt_actfrclimited[j] = 0;
}

// MuJoCo's paths through geoms are shortest to 1e-7 or so: others are as exact as its steps.
static void dropInner(mjModel* m) {
  for (int k = 0; k < m->nwrap; k++) {
    int geom = m->wrap_objid[k], side = (int)m->wrap_prm[k];
    mjtNum gap[3];
    bool around = m->wrap_type[k] == mjWRAP_SPHERE || m->wrap_type[k] == mjWRAP_CYLINDER;
    if (!around || side < 0) continue;
    mju_sub3(gap, m->site_pos + 3 * side, m->geom_pos + 3 * geom);
    if (mju_norm3(gap) < m->geom_size[3 * geom]) m->wrap_prm[k] = -1;
  }
}

// A random model, of what is one-sided or bounded with limits and friction loss at most. MuJoCo's
// implicitfast has drag implicit, and an unsymmetric matrix for bodies that move alone: both are left
// out there.
static mjModel* randomModel(djRng* rng, const Way* way, int trial) {
  char* text = djt_randomMjcf(rng, 2 + trial % 6, FEATURES | (way->wraps ? DJT_MJCF_WRAPS : 0));
  assert_non_null(text);
  mjModel* m = djt_compile(text);
  free(text);
  m->opt.integrator = way->integrator;
  m->opt.timestep = 0.004;
  m->opt.disableflags |= mjDSBL_CONTACT | mjDSBL_EQUALITY;
  if (!way->rows) m->opt.disableflags |= mjDSBL_LIMIT | mjDSBL_FRICTIONLOSS;
  m->opt.tolerance = 0;
  m->opt.iterations = m->opt.ls_iterations = 100;
  simplify(m, way);
  dropInner(m);
  mjData* d = mj_makeData(m);
  mj_setConst(m, d);   // invweight0 of what is left
  mj_deleteData(d);
  if (!way->eulerdamp) m->opt.disableflags |= mjDSBL_EULERDAMP;
  if (way->integrator == mjINT_IMPLICITFAST) m->opt.density = m->opt.viscosity = 0;
  return m;
}

static bool isPlain(const mjModel* m, const Way* way) {
  if (way->integrator != mjINT_IMPLICITFAST) return true;
  for (int j = 0; j < m->njnt; j++) {
    int last = m->jnt_dofadr[j] + 5, tree = m->dof_treeid[last];
    if (m->jnt_type[j] == mjJNT_FREE && m->tree_dofnum[tree] == 6) return false;
  }
  return true;
}

// Tendons that at qpos0 nothing moves are rigid in MuJoCo.
static bool isRigid(const mjModel* m, const Way* way) {
  for (int t = 0; t < m->ntendon && way->rows; t++) {
    if (m->tendon_invweight0[t] < 1e-6) return true;
  }
  return false;
}

static void randomStart(djRng* rng, const mjModel* m, mjData* d, bool inside) {
  mjtNum* step = calloc((size_t)m->nv + 1, sizeof(*step));
  for (int i = 0; i < m->nv; i++) {
    step[i] = djt_uniform(rng, -0.5, 0.5);
    d->qvel[i] = djt_uniform(rng, -1, 1);
    d->qfrc_applied[i] = djt_uniform(rng, -0.2, 0.2);
  }
  mj_integratePos(m, d->qpos, step, 1);
  free(step);
  for (int i = 0; i < m->nactuator; i++) {
    const mjtNum* range = m->actuator_actrange + 2 * i;
    for (int k = 0; k < m->actuator_actnum[i]; k++) {
      bool limited = m->actuator_actlimited[i];
      mjtNum low = limited ? range[0] : -1, high = limited ? range[1] : 1;
      d->act[m->actuator_actadr[i] + k] = djt_uniform(rng, low, high);
    }
  }
  for (int i = 0; i < m->nu; i++) { // mjd_transitionFD has 0 beyond ranges that do not clamp, too
    bool limited = m->actuator_ctrllimited[i] && inside;
    d->ctrl[i] =
        limited ? djt_uniform(rng, m->actuator_ctrlrange[2 * i], m->actuator_ctrlrange[2 * i + 1])
                : djt_uniform(rng, -1, 1);
  }
  for (int i = 6; i < 6 * m->nbody; i++) d->xfrc_applied[i] = djt_uniform(rng, -0.2, 0.2);
}

static bool openCase(Case* k, djRng* rng, const Way* way, int trial, bool inside) {
  *k = (Case){.m = randomModel(rng, way, trial)};
  djError err;
  if (!isPlain(k->m, way) || isRigid(k->m, way)) {
    mj_deleteModel(k->m);
    return false;
  }
  k->d = mj_makeData(k->m);
  k->c = djt_context(k->m);
  djOption option = djm_model(k->c)->opt;
  option.integrator = DJ_EULER;
  option.spin = DJ_SPIN_MUJOCO;
  option.wrap_onset = 0;
  if (dj_setOption(djm_model(k->c), &option, &err) < 0) fail_msg("%s", err.text);
  randomStart(rng, k->m, k->d, inside);
  return true;
}

static void closeCase(Case* k) {
  djm_deleteContext(k->c);
  djt_deleteEngine(k->m, k->d);
}

// Largest difference of both steps from the same start, over the largest speed.
static double stepError(const Case* k) {
  int nv = (int)k->m->nv;
  mjData *ours = mj_copyData(NULL, k->m, k->d), *stock = mj_copyData(NULL, k->m, k->d);
  mjtNum* x = calloc((size_t)nv + 1, sizeof(*x));
  double worst = 0, size = 1;
  if (djm_step(k->m, ours, k->c) != DJ_OK) fail_msg("%s", dj_errorText(djm_data(k->c)));
  mj_step(k->m, stock);
  mj_differentiatePos(k->m, x, k->m->opt.timestep, stock->qpos, ours->qpos);
  for (int i = 0; i < nv; i++) {
    size = djt_worst(size, fabs(stock->qvel[i]));
    worst = djt_worst(worst, fmax(fabs(x[i]), fabs(ours->qvel[i] - stock->qvel[i])));
  }
  for (int i = 0; i < k->m->na; i++) worst = djt_worst(worst, fabs(ours->act[i] - stock->act[i]));
  free(x);
  mj_deleteData(ours);
  mj_deleteData(stock);
  return worst / size;
}

static void testStep(void** state) {
  const Way* way = *state;
  djRng rng = {71};
  double worst = 0;
  int n = 0, far = 0;
  for (int trial = 0; trial < 400; trial++) {
    Case k;
    if (!openCase(&k, &rng, way, trial, false)) continue;
    double error = stepError(&k);
    if (djm_data(k.c)->stats.fallback_steps > 0) {   // beyond the step, see below
      far++;
    } else {
      worst = djt_worst(worst, error);
      n++;
    }
    closeCase(&k);
  }
  print_message("%d models, step: %.1e\n", n, worst);
  assert_true(n >= 150 && far <= 2);
  assert_true(worst < 1e-9);
}

// Central differences of mj_step with steps of h and 2 h.
typedef struct Differences {
  mjtNum *A, *A2; // rows of A, then of B
} Differences;

static void differences(const Differences* D, const Case* k, double h) {
  size_t nx = 2 * (size_t)k->m->nv + (size_t)k->m->na;
  mjd_transitionFD(k->m, k->d, h, 1, D->A, D->A + nx * nx, NULL, NULL);
  mjd_transitionFD(k->m, k->d, 2 * h, 1, D->A2, D->A2 + nx * nx, NULL, NULL);
}

// Of each column, relative to its largest entry, beyond what extrapolation changes: ranges, poly
// damping and drag have kinks, at which differences know no more.
static double columnErrors(const mjtNum* A, const mjtNum* D, const mjtNum* D2, size_t rows,
                           size_t columns) {
  double worst = 0;
  for (size_t c = 0; c < columns; c++) {
    double error = 0, size = 1e-2;
    for (size_t r = 0; r < rows; r++) {
      size_t i = r * columns + c;
      double limit = (4 * D[i] - D2[i]) / 3;
      error = djt_worst(error, fabs(A[i] - limit) - fabs(D[i] - D2[i]));
      size = djt_worst(size, fabs(limit));
    }
    worst = djt_worst(worst, error / size);
  }
  return worst;
}

static double derivativeError(Case* k, double wrong) {
  size_t nx = 2 * (size_t)k->m->nv + (size_t)k->m->na, nu = (size_t)k->m->nu, n = nx * (nx + nu);
  mjtNum *A = calloc(3 * n + 1, sizeof(*A)), *B = A + nx * nx;
  const Differences D = {A + n, A + 2 * n};
  if (djm_transition(k->m, k->d, k->c, A, B, NULL, NULL) != DJ_OK) {
    fail_msg("%s", dj_errorText(djm_data(k->c)));
  }
  differences(&D, k, 1e-5);
  A[0] += wrong;
  double worst = columnErrors(A, D.A, D.A2, nx, nx);
  worst = djt_worst(worst, columnErrors(B, D.A + nx * nx, D.A2 + nx * nx, nx, nu));
  free(A);
  return worst;
}

// A joint or body that turns by more than half a turn is beyond the step: `position` has taken it.
static bool turnsFar(const Case* k) {
  stepError(k);
  return djm_data(k->c)->stats.fallback_steps > 0;
}

static void testDerivatives(void** state) {
  const Way* way = *state;
  djRng rng = {72};
  double worst = 0, wrong = INFINITY;
  int n = 0, far = 0;
  for (int trial = 0; trial < 50; trial++) {
    Case k;
    if (!openCase(&k, &rng, way, trial, true)) continue;
    double error = derivativeError(&k, 0);
    if (turnsFar(&k)) {
      far++;
    } else {
      worst = djt_worst(worst, error);
      wrong = fmin(wrong, derivativeError(&k, 1));
      n++;
    }
    closeCase(&k);
  }
  print_message("%d models, A and B: %.1e (with an error of 1: %.1e)\n", n, worst, wrong);
  assert_true(n >= 20 && far <= 2);
  assert_true(worst < 1e-6 && wrong > 1e-4);
}

#define ROW(i)                                                          \
  {"step " #i, testStep, NULL, NULL, (void*)(size_t)&ways[i]},           \
      {"derivatives " #i, testDerivatives, NULL, NULL, (void*)(size_t)&ways[i]}

int main(void) {
  const struct CMUnitTest tests[] = {ROW(0), ROW(1), ROW(2), ROW(3), ROW(4), ROW(5),
                                     ROW(6), ROW(7)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
