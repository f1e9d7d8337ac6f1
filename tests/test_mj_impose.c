// djm_impose: MuJoCo's own step ends with the velocity that a passive plugin wants.

#include "common/mjcf.h"
#include "common/near.h"
#include "common/plugin.h"
#include "common/test.h"
#include "common/worst.h"
#include "engine/impose.h"

enum { MAXDOF = 100 };
#define EXTENSION \
  "<extension><plugin plugin='test.impose'><instance name='i'/></plugin></extension>"
#define QUIET "<flag contact='disable'/>"

// ------------------------------ the plugin -------------------------------------------------------

typedef enum { IDLE, IMPOSE, FOLLOW, REPLAY, PLAIN_METRIC } Mode;

// What the plugin does at the next evaluations, and what it found.
static struct {
  Mode mode;
  mjtNum vnext[MAXDOF];       // read by IMPOSE, PLAIN_METRIC
  mjtNum passive[MAXDOF];     // written by IMPOSE, read by REPLAY
  djStatus status;
} plan;

// M (v+ - v)/h + bias - the rest, with the plain M and the bias of bodies alone.
static void plainMetric(const mjModel* m, mjData* d) {
  int nv = (int)m->nv;
  mjtNum acc[MAXDOF], bias[MAXDOF];
  for (int i = 0; i < nv; i++) acc[i] = (plan.vnext[i] - d->qvel[i]) / m->opt.timestep;
  mj_fwdActuation(m, d);
  mj_rne(m, d, 0, bias);
  mj_mulM(m, d, d->qfrc_passive, acc);
  mju_addTo(d->qfrc_passive, bias, nv);
  mju_subFrom(d->qfrc_passive, d->qfrc_actuator, nv);
  mju_subFrom(d->qfrc_passive, d->qfrc_applied, nv);
  for (int i = 1; i < m->nbody; i++) {
    mjtNum back[6];
    mju_scl(back, d->xfrc_applied + 6 * i, -1, 6);
    mj_applyFT(m, d, back, back + 3, d->xipos + 3 * i, i, d->qfrc_passive);
  }
}

// Nothing in d is changed but qfrc_passive, what the pass has yet to find (the bias) and scratch of
// the integrators.
static djStatus impose(const mjModel* m, mjData* d, const mjtNum* vnext) {
  mjtNum work[7 * MAXDOF], energy[2];
  char* before = malloc((size_t)d->nbuffer);
  assert_non_null(before);
  assert_true(djm_imposeWork(m) < 7 * MAXDOF);
  memcpy(before, d->buffer, (size_t)d->nbuffer);
  mju_copy(energy, d->energy, 2);
  d->energy[0] = 1234;
  d->energy[1] = 5678;
  djStatus status = djm_impose(m, d, vnext, work);
  assert_true(d->energy[0] == 1234 && d->energy[1] == 5678);
  mju_copy(d->energy, energy, 2);
#define X(type, name, nr, nc)                                                                      \
  if (strncmp(#name, "qH", 2) != 0 && strcmp(#name, "qLU") != 0 && strcmp(#name, "qDeriv") != 0 && \
      strcmp(#name, "qfrc_passive") != 0 && strcmp(#name, "qfrc_bias") != 0 && m->nr > 0 &&        \
      memcmp(d->name, before + ((char*)d->name - (char*)d->buffer),                                \
             (size_t)(m->nr) * (nc) * sizeof(type)) != 0) {                                        \
    fail_msg("integrator %d: %s", m->opt.integrator, #name);                                       \
  }
  MJDATA_POINTERS
#undef X
  free(before);
  return status;
}

static void compute(const mjModel* m, mjData* d, int instance, int capability) {
  (void)instance, (void)capability;
  int nv = (int)m->nv;
  mjtNum wanted[MAXDOF];
  switch (plan.mode) {
    case IDLE:
      return;
    case IMPOSE:
      // As if another plugin came before.
      for (int i = 0; i < nv; i++) d->qfrc_passive[i] += 3 + i;
      plan.status = impose(m, d, plan.vnext);
      mju_copy(plan.passive, d->qfrc_passive, nv);
      return;
    case FOLLOW:
      for (int i = 0; i < nv; i++) wanted[i] = 0.9 * d->qvel[i] + cos(i);
      plan.status = impose(m, d, wanted);
      return;
    case REPLAY:
      mju_copy(d->qfrc_passive, plan.passive, nv);
      return;
    case PLAIN_METRIC:
      plainMetric(m, d);
      return;
  }
}

static int registerPlugin(void** state) {
  (void)state;
  return djt_registerPlugin("test.impose", mjPLUGIN_PASSIVE, compute) < 0;
}

// ------------------------------ models -----------------------------------------------------------

typedef struct {
  const char* name;
  const char* text;
  double spin;                // size of random velocities
  double plain;               // by how much plain M misses at least, worst of Euler and the others
  double plainImplicit;
} Case;

static const Case kCases[] = {
    {"free bodies",
     "<mujoco>" EXTENSION "<option>" QUIET "</option><worldbody>"
     "<body><freejoint/><geom type='box' size='.1 .2 .4' pos='.1 .05 0'/></body>"
     "<body pos='2 0 0'><joint type='free' damping='.3' armature='.02' stiffness='2'/>"
     "<geom type='capsule' size='.05 .3'/><geom type='sphere' size='.1' pos='.2 .1 .3'/></body>"
     "<body pos='4 0 0'><freejoint/><geom type='box' size='.1 .1 .3'/><body pos='0 0 .3'>"
     "<joint axis='0 1 0' damping='.1'/><geom type='box' size='.05 .1 .2' pos='0 .1 .2'/></body>"
     "</body></worldbody></mujoco>",
     20, 1e-2, 5e-2},
    {"damped arm",
     "<mujoco>" EXTENSION "<option>" QUIET "</option><worldbody><body>"
     "<joint axis='0 1 0' damping='4'/><geom type='capsule' fromto='0 0 0 .4 0 0' size='.04'/>"
     "<body pos='.4 0 0'><joint axis='0 0 1' damping='1.5' springdamper='.05 1' armature='.05'/>"
     "<geom type='capsule' fromto='0 0 0 .3 0 .1' size='.03'/><body pos='.3 0 .1'>"
     "<joint type='ball' damping='.4' stiffness='5'/><geom type='box' size='.1 .05 .02' "
     "pos='.1 0 0'/></body></body></body></worldbody></mujoco>",
     6, .1, .1},
    {"polynomial damping and springs",
     "<mujoco>" EXTENSION "<option>" QUIET "</option><worldbody><body gravcomp='.5'>"
     "<joint name='a' axis='0 1 0' damping='.5 .2 .1' stiffness='3 1 2' springref='30'/>"
     "<geom type='capsule' fromto='0 0 0 .4 0 0' size='.04'/><body pos='.4 0 0' gravcomp='1'>"
     "<joint name='b' axis='0 1 0' damping='0 .3 .2' actuatorgravcomp='true'/>"
     "<geom type='capsule' fromto='0 0 0 .3 0 .1' size='.03'/></body></body></worldbody>"
     "<actuator><motor joint='b' gear='3' damping='.2' armature='.01'/>"
     "<motor joint='a' gear='2' damping='.1'/><position joint='a' kp='50' damping='.3'/>"
     "</actuator></mujoco>",
     4, 5e-2, 5e-2},
    {"actuators",
     "<mujoco>" EXTENSION "<option>" QUIET "</option><worldbody><body>"
     "<joint name='a' axis='0 1 0' damping='.2'/><geom type='capsule' fromto='0 0 0 .4 0 0' "
     "size='.04'/><site name='s' pos='.4 0 0'/><body pos='.4 0 0'><joint name='b' axis='0 0 1'/>"
     "<geom type='capsule' fromto='0 0 0 .3 0 .1' size='.03'/><body pos='.3 0 .1'>"
     "<joint name='c' type='ball'/><geom type='box' size='.1 .05 .02' pos='.1 0 0'/>"
     "</body></body></body><body pos='0 3 0'><joint name='d' type='slide' axis='0 0 1'/>"
     "<geom type='sphere' size='.1'/></body></worldbody><actuator>"
     "<position joint='a' kp='80' kv='3'/><velocity joint='b' kv='2'/>"
     "<general joint='b' gainprm='2 .5 .3' biasprm='1 -20 -.7' biastype='affine' gaintype='affine' "
     "dyntype='filter' dynprm='.05'/><motor joint='c' gear='.3 .2 .1'/>"
     "<position joint='c' gear='0 1 0' kp='5' kv='.3'/><velocity joint='a' kv='9' "
     "forcelimited='true' forcerange='-.1 .1'/><motor site='s' gear='0 1 0 .1 0 .2'/>"
     "<muscle joint='d' lengthrange='-1 1' force='60'/><intvelocity joint='d' kp='30' "
     "actrange='-1 1'/><damper joint='d' kv='4' ctrlrange='0 1'/></actuator></mujoco>",
     5, 5e-3, .3},
    {"tendons",
     "<mujoco>" EXTENSION "<option>" QUIET "</option><worldbody><site name='w' pos='0 0 .5'/>"
     "<body><joint name='a' axis='0 1 0' damping='.2'/><geom type='capsule' "
     "fromto='0 0 0 .4 0 0' size='.04'/><site name='p' pos='.2 0 .05'/><body pos='.4 0 0'>"
     "<joint name='b' axis='0 .8 .6'/><geom type='capsule' fromto='0 0 0 .3 0 .1' size='.03'/>"
     "<site name='q' pos='.2 0 .1'/></body></body><body pos='0 1 0'><joint name='c' axis='1 0 0'/>"
     "<geom type='capsule' fromto='0 0 0 0 .3 0' size='.03'/><site name='r' pos='0 .2 .05'/></body>"
     "</worldbody><tendon><spatial name='t' stiffness='30 5' damping='3 1' springlength='.1'>"
     "<site site='w'/><site site='p'/><site site='q'/></spatial>"
     "<spatial name='u' armature='.3' damping='.5'><site site='w'/><site site='q'/></spatial>"
     "<fixed name='f' stiffness='4' damping='.6' armature='.02'><joint joint='a' coef='1'/>"
     "<joint joint='b' coef='-.7'/></fixed>"
     "<spatial name='x' stiffness='8' damping='2'><site site='p'/><site site='r'/></spatial>"
     "</tendon><actuator><position tendon='t' kp='20' kv='2'/><motor tendon='f' damping='.1'/>"
     "<velocity tendon='x' kv='1'/></actuator></mujoco>",
     4, 5e-3, 5e-2},
    {"fluid",
     "<mujoco>" EXTENSION "<option density='300' viscosity='.2' wind='1 .5 0'>" QUIET "</option>"
     "<worldbody><body><freejoint/><geom type='box' size='.1 .2 .3'/></body><body pos='1 0 0'>"
     "<joint axis='0 1 0'/><geom type='ellipsoid' size='.3 .1 .05' fluidshape='ellipsoid'/>"
     "<body pos='.3 0 0'><joint type='ball' damping='.05'/><geom type='box' size='.2 .05 .02' "
     "pos='.2 0 0'/></body></body><body pos='3 0 0'><freejoint/><geom type='ellipsoid' "
     "size='.3 .1 .05' fluidshape='ellipsoid'/></body></worldbody></mujoco>",
     3, .1, .1},
};
enum { NCASE = sizeof(kCases) / sizeof(*kCases) };

static const mjtIntegrator kIntegrators[] = {mjINT_EULER, mjINT_IMPLICIT, mjINT_IMPLICITFAST,
                                             mjINT_DISCRETE};
enum { NINTEGRATOR = 4 };

static unsigned seed;
static double draw(void) {
  seed = 1664525 * seed + 1013904223;
  return (seed >> 8) / 8388608.0 - 1;
}

static void randomState(const mjModel* m, mjData* d, double spin) {
  mj_resetData(m, d);
  for (int i = 0; i < m->nv; i++) d->qvel[i] = draw();
  mj_integratePos(m, d->qpos, d->qvel, 1);
  for (int i = 0; i < m->nv; i++) d->qvel[i] = spin * draw();
  for (int i = 0; i < m->nv; i++) d->qfrc_applied[i] = draw();
  for (int i = 6; i < 6 * m->nbody; i++) d->xfrc_applied[i] = draw();
  for (int i = 0; i < m->nu; i++) d->ctrl[i] = draw();
  for (int i = 0; i < m->na; i++) d->act[i] = 0.5 + 0.5 * draw();
  for (int i = 0; i < m->nv; i++) plan.vnext[i] = d->qvel[i] + draw();
}

// Largest relative miss of a step.
static double miss(const mjModel* m, mjData* d, Mode mode) {
  plan.mode = mode;
  plan.status = DJ_OK;
  mj_step(m, d);
  plan.mode = IDLE;
  assert_int_equal(plan.status, DJ_OK);
  double worst = 0;
  for (int i = 0; i < m->nv; i++) {
    double scale = fmax(1, fabs(plan.vnext[i]));
    worst = djt_worst(worst, fabs(d->qvel[i] - plan.vnext[i]) / scale);
  }
  return worst;
}

// The worst of 20 random states, with the right metric and with the plain one.
static void worstMiss(double* imposed, double* plain, const mjModel* m, mjData* d, int c) {
  *imposed = *plain = 0;
  for (int trial = 0; trial < 20; trial++) {
    seed = 7919 * trial + c;
    randomState(m, d, kCases[c].spin);
    *imposed = djt_worst(*imposed, miss(m, d, IMPOSE));
    randomState(m, d, kCases[c].spin);
    *plain = djt_worst(*plain, miss(m, d, PLAIN_METRIC));
  }
}

// Every integrator lands on the wanted velocity; with M in place of its metric it does not.
static void testIntegrators(void) {
  for (int c = 0; c < NCASE; c++) {
    mjModel* m = djt_compile(kCases[c].text);
    mjData* d = mj_makeData(m);
    for (int k = 0; k < NINTEGRATOR; k++) {
      m->opt.integrator = kIntegrators[k];
      for (int trial = 0; trial < 2; trial++) {
        double imposed, plain;
        m->opt.timestep = trial == 0 ? 0.01 : 0.001;
        worstMiss(&imposed, &plain, m, d, c);
        if (imposed > 1e-12) fail_msg("%s, integrator %d: %g", kCases[c].name, k, imposed);
        double bound = k == 0 ? kCases[c].plain : kCases[c].plainImplicit;
        if (trial == 0 && plain < bound) fail_msg("%s, %d: %g", kCases[c].name, k, plain);
      }
    }
    djt_deleteEngine(m, d);
  }
}

// Flags that change forces or the metric.
static void testFlags(void) {
  static const int disable[] = {mjDSBL_EULERDAMP, mjDSBL_GRAVITY, mjDSBL_DAMPER, mjDSBL_SPRING,
                                mjDSBL_ACTUATION, mjDSBL_CLAMPCTRL, mjDSBL_ISLAND};
  static const int enable[] = {mjENBL_ENERGY, mjENBL_FWDINV, mjENBL_INVDISCRETE, mjENBL_DIAGEXACT};
  enum { NDISABLE = sizeof(disable) / sizeof(int), NENABLE = sizeof(enable) / sizeof(int) };
  for (int c = 0; c < NCASE; c++) {
    mjModel* m = djt_compile(kCases[c].text);
    mjData* d = mj_makeData(m);
    int off = m->opt.disableflags;
    for (int k = 0; k < NINTEGRATOR * (NDISABLE + NENABLE + 1); k++) {
      int flag = k / NINTEGRATOR;
      m->opt.integrator = kIntegrators[k % NINTEGRATOR];
      m->opt.timestep = 0.01;
      m->opt.disableflags = flag < NDISABLE ? off | disable[flag] : off;
      m->opt.enableflags = flag >= NDISABLE && flag < NDISABLE + NENABLE
          ? enable[flag - NDISABLE] : 0;
      m->opt.solver = flag == NDISABLE + NENABLE ? mjSOL_PGS : mjSOL_NEWTON;
      seed = k;
      randomState(m, d, kCases[c].spin);
      double worst = miss(m, d, IMPOSE);
      if (worst > 1e-12) fail_msg("%s, integrator %d, flag %d: %g", kCases[c].name, k, flag, worst);
    }
    djt_deleteEngine(m, d);
  }
}

// A force on the last body alone, in each of its components.
static void testOneForce(void) {
  mjModel* m = djt_compile(kCases[0].text);
  mjData* d = mj_makeData(m);
  for (int k = 0; k < 6 * NINTEGRATOR; k++) {
    m->opt.integrator = kIntegrators[k % NINTEGRATOR];
    seed = k;
    randomState(m, d, 1);
    mju_zero(d->xfrc_applied, 6 * (int)m->nbody);
    d->xfrc_applied[6 * (m->nbody - 1) + k / NINTEGRATOR] = 3;
    double worst = miss(m, d, IMPOSE);
    if (worst > 1e-12) fail_msg("component %d: %g", k / NINTEGRATOR, worst);
  }
  djt_deleteEngine(m, d);
}

// ------------------------------ what else changes ------------------------------------------------

// A chain on a plane, with a joint at its limit and friction in it, and sensors.
static const char kBusy[] =
    "<mujoco>" EXTENSION "<option><flag energy='enable'/></option><worldbody>"
    "<geom type='plane' size='2 2 1'/><body pos='0 0 .09'><freejoint/><geom type='box' "
    "size='.2 .1 .1'/><site name='s'/><body pos='.2 0 .1'><joint name='j' axis='0 1 0' "
    "limited='true' range='-20 20' frictionloss='.1' damping='.3'/><geom type='capsule' "
    "fromto='0 0 0 .2 0 .3' size='.04'/></body></body><body pos='0 2 .3'><freejoint/>"
    "<geom type='sphere' size='.1'/></body></worldbody>"
    "<actuator><position name='a' joint='j' kp='10' kv='1'/><general joint='j' dyntype='filter' "
    "dynprm='.1'/></actuator><sensor><accelerometer site='s'/><gyro site='s'/>"
    "<actuatorfrc actuator='a'/><jointactuatorfrc joint='j'/><framelinacc objtype='site' "
    "objname='s'/><force site='s'/></sensor></mujoco>";

static void busyState(const mjModel* m, mjData* d) {
  mj_resetData(m, d);
  d->qpos[7] = 0.4;
  for (int i = 0; i < m->nv; i++) d->qvel[i] = 0.5 * draw();
  for (int i = 0; i < m->nv; i++) d->qfrc_applied[i] = draw();
  for (int i = 0; i < m->nu; i++) d->ctrl[i] = draw();
  d->act[0] = draw();
  for (int i = 0; i < m->nv; i++) plan.vnext[i] = draw();
}

// Fails where arrays of two data differ, besides scratch of the integrators.
static void compareData(const mjModel* m, const mjData* a, const mjData* b, const char* call) {
#define X(type, name, nr, nc)                                                                 \
  if (strncmp(#name, "qH", 2) != 0 && strcmp(#name, "qLU") != 0 &&                            \
      strcmp(#name, "qDeriv") != 0 && m->nr > 0 &&                                            \
      memcmp(a->name, b->name, (size_t)(m->nr) * (nc) * sizeof(type)) != 0) {                 \
    fail_msg("%s, integrator %d: %s", call, m->opt.integrator, #name);                        \
  }
  MJDATA_POINTERS
#undef X
  assert_int_equal(a->nefc, b->nefc);
  assert_true(a->nefc > 4);
  assert_memory_equal(a->efc_force, b->efc_force, a->nefc * sizeof(mjtNum));
  assert_memory_equal(a->efc_aref, b->efc_aref, a->nefc * sizeof(mjtNum));
  assert_memory_equal(a->energy, b->energy, sizeof(a->energy));
}

static void runStep(const mjModel* m, mjData* d) { mj_step(m, d); }
static void runForward(const mjModel* m, mjData* d) { mj_forward(m, d); }

static void runInverse(const mjModel* m, mjData* d) {
  for (int i = 0; i < m->nv; i++) d->qacc[i] = 0.3 * i;
  mj_inverse(m, d);
}

static void runHalves(const mjModel* m, mjData* d) {
  mj_step1(m, d);
  d->ctrl[0] = 0.7;           // the callback has not seen this
  d->ctrl[1] = -0.4;
  mj_step2(m, d);
}

// All that a pass leaves in mjData is what a plugin would have left that wrote the same passive
// force and called nothing, also where contacts, limits and friction act.
static void testNothingElse(void) {
  static const struct {
    void (*run)(const mjModel* m, mjData* d);
    const char* name;
  } calls[] = {{runStep, "step"}, {runForward, "forward"}, {runInverse, "inverse"},
               {runHalves, "step1, step2"}};
  mjModel* m = djt_compile(kBusy);
  mjData *d = mj_makeData(m), *e = mj_makeData(m);
  for (int k = 0; k < 4 * NINTEGRATOR * 5; k++) {
    m->opt.integrator = kIntegrators[k % NINTEGRATOR];
    for (int side = 0; side < 2; side++) {
      seed = k;
      busyState(m, side ? e : d);
      plan.mode = IDLE;
      mj_step(m, side ? e : d);
      plan.mode = side ? REPLAY : IMPOSE;
      calls[k / NINTEGRATOR % 4].run(m, side ? e : d);
    }
    assert_int_equal(plan.status, DJ_OK);
    compareData(m, d, e, calls[k / NINTEGRATOR % 4].name);
  }
  plan.mode = IDLE;
  mj_deleteData(d);
  djt_deleteEngine(m, e);
}

// The same force, whether or not constraints act: they come on top.
static void testConstraints(void) {
  mjModel* m = djt_compile(kBusy);
  mjData* d = mj_makeData(m);
  for (int k = 0; k < NINTEGRATOR; k++) {
    m->opt.integrator = kIntegrators[k];
    mjtNum alone[MAXDOF];
    for (int side = 0; side < 2; side++) {
      m->opt.disableflags = side ? 0 : mjDSBL_CONSTRAINT;
      seed = k;
      busyState(m, d);
      double off = miss(m, d, IMPOSE);
      assert_true(side ? off > 1e-3 : off < 1e-12);
      if (side == 0) mju_copy(alone, plan.passive, (int)m->nv);
    }
    assert_memory_equal(alone, plan.passive, m->nv * sizeof(mjtNum));
  }
  djt_deleteEngine(m, d);
}

// With v+ = 0.9 v + constant, differences by MuJoCo give dv+/dv = 0.9, dv+/dq = 0, twice the same.
static void testTransition(void) {
  for (int c = 0; c < NCASE; c++) {
    mjModel* m = djt_compile(kCases[c].text);
    mjData* d = mj_makeData(m);
    int nv = (int)m->nv, nx = 2 * nv + (int)m->na;
    mjtNum *A = calloc(nx * nx, sizeof(*A)), *again = calloc(nx * nx, sizeof(*A));
    assert_non_null(A);
    assert_non_null(again);
    for (int k = 0; k < NINTEGRATOR; k++) {
      m->opt.integrator = kIntegrators[k];
      seed = k;
      randomState(m, d, 1);
      plan.mode = FOLLOW;
      mjd_transitionFD(m, d, 1e-6, 1, A, NULL, NULL, NULL);
      mjd_transitionFD(m, d, 1e-6, 1, again, NULL, NULL, NULL);
      plan.mode = IDLE;
      assert_memory_equal(A, again, nx * nx * sizeof(*A));
      for (int i = nv; i < 2 * nv; i++) {
        for (int j = 0; j < 2 * nv; j++) djt_near(A[nx * i + j], i == j ? 0.9 : 0, 1e-7);
      }
    }
    free(A);
    free(again);
    djt_deleteEngine(m, d);
  }
}

// ------------------------------ refusals ---------------------------------------------------------

// Steps with the passive force left alone where nothing can be imposed.
static void refuse(mjModel* m, mjData* d, djStatus status) {
  mjData* e = mj_makeData(m);
  mj_copyData(e, m, d);
  plan.mode = IMPOSE;
  mj_forward(m, d);
  assert_int_equal(plan.status, status);
  plan.mode = IDLE;
  mj_forward(m, e);
  for (int i = 0; i < m->nv; i++) e->qfrc_passive[i] += 3 + i;   // "another plugin's" force
  assert_memory_equal(d->qfrc_passive, e->qfrc_passive, m->nv * sizeof(mjtNum));
  mj_deleteData(e);
}

static void testRefusals(void) {
  mjModel* m = djt_compile(kCases[3].text);
  mjData* d = mj_makeData(m);
  seed = 1;
  randomState(m, d, 1);
  m->opt.integrator = mjINT_RK4;
  refuse(m, d, DJ_UNSUPPORTED);
  for (int k = 0; k < NINTEGRATOR; k++) {
    m->opt.integrator = kIntegrators[k];
    for (int trial = 0; trial < 3; trial++) {
      plan.vnext[2] = trial == 0 ? NAN : trial == 1 ? -INFINITY : 1e308;
      refuse(m, d, DJ_INVALID);
    }
    plan.vnext[2] = 0;
    m->opt.timestep = 0;
    refuse(m, d, DJ_INVALID);
    m->opt.timestep = 0.002;
  }
  m->opt.enableflags |= mjENBL_SLEEP;
  refuse(m, d, DJ_UNSUPPORTED);
  djt_deleteEngine(m, d);
}

DJT_MAIN_IN(registerPlugin, NULL, testIntegrators, testFlags, testNothingElse, testConstraints,
            testTransition, testRefusals, testOneForce)
