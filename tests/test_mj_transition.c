// djm_transition against differences of djm_step and djm_forward.

#include "common/mj_zoo.h"
#include "common/random_mjcf.h"
#include "common/states.h"
#include "common/test.h"
#include "common/text.h"
#include "common/worst.h"

#include <dijoco/dijoco.h>

typedef struct Case {
  mjModel* m;
  mjData *d, *e;          // the state, and others beside it
  djmContext* c;
  int nv, nx, nu, ns;
  mjtNum *A, *B, *C, *D;
} Case;

// Contact is soft enough for differences.
static void soften(djmContext* c) {
  djOption option = djm_model(c)->opt;
  djError err;
  option.stiffness_scale = 1e-5;
  if (dj_setOption(djm_model(c), &option, &err) < 0) fail_msg("%s", err.text);
}

static Case openCase(mjModel* m, int substeps, double tolerance) {
  Case k = {.m = m, .d = mj_makeData(m), .e = mj_makeData(m), .c = djt_context(m)};
  soften(k.c);
  djt_tolerance(k.c, tolerance);
  djm_stepOption(k.c)->substeps = substeps;
  k.nv = (int)m->nv;
  k.nx = 2 * k.nv + (int)m->na;
  k.nu = (int)m->nu;
  k.ns = (int)m->nsensordata;
  k.A = calloc((size_t)((k.nx + k.ns) * (k.nx + k.nu)) + 1, sizeof(mjtNum));
  assert_non_null(k.A);
  k.B = k.A + k.nx * k.nx;
  k.C = k.B + k.nx * k.nu;
  k.D = k.C + k.ns * k.nx;
  return k;
}

static void closeCase(Case* k) {
  free(k->A);
  djm_deleteContext(k->c);
  mj_deleteData(k->d);
  djt_deleteEngine(k->m, k->e);
}

// e = the state, moved by h along column k.
static void moveTo(Case* c, int k, double h) {
  mjtNum* step = calloc((size_t)c->nv + 1, sizeof(*step));
  mj_copyData(c->e, c->m, c->d);
  if (k < c->nv) {
    step[k] = h;
    mj_integratePos(c->m, c->e->qpos, step, 1);
  } else if (k < 2 * c->nv) {
    c->e->qvel[k - c->nv] += h;
  } else if (k < c->nx) {
    c->e->act[k - 2 * c->nv] += h;
  } else {
    c->e->ctrl[k - c->nx] += h;
  }
  free(step);
}

static const double kPoint[4] = {1, -1, 2, -2}, kWeight[4] = {8, -8, -1, 1};

// out (nx) += weight/(12 h) times the state after the step from there, about base.
static void addStep(mjtNum* out, Case* c, const mjData* base, int k, int point, double h) {
  moveTo(c, k, kPoint[point] * h);
  assert_true(djm_step(c->m, c->e, c->c) >= 0);
  mjtNum* x = calloc((size_t)c->nx + 1, sizeof(*x));
  mj_differentiatePos(c->m, x, 1, base->qpos, c->e->qpos);
  mju_sub(x + c->nv, c->e->qvel, base->qvel, c->nv);
  mju_sub(x + 2 * c->nv, c->e->act, base->act, (int)c->m->na);
  mju_addToScl(out, x, kWeight[point] / (12 * h), c->nx);
  free(x);
}

// Largest differences of A and B to differences, relative to the largest entry of their rows' kind.
static double checkStates(Case* c, double h) {
  mjData* base = mj_copyData(NULL, c->m, c->d);
  assert_true(djm_step(c->m, base, c->c) >= 0);
  double worst[2] = {0, 0}, size[2] = {1e-3, 1e-3};
  mjtNum* fd = calloc((size_t)c->nx + 1, sizeof(*fd));
  for (int k = 0; k < c->nx + c->nu; k++) {
    mju_zero(fd, c->nx);
    for (int point = 0; point < 4; point++) addStep(fd, c, base, k, point, h);
    for (int i = 0; i < c->nx; i++) {
      double analytic = k < c->nx ? c->A[i * c->nx + k] : c->B[i * c->nu + k - c->nx];
      int kind = k < c->nx ? 0 : 1;
      worst[kind] = djt_worst(worst[kind], fabs(analytic - fd[i]));
      size[kind] = djt_worst(size[kind], fabs(fd[i]));
    }
  }
  free(fd);
  mj_deleteData(base);
  return fmax(worst[0] / size[0], worst[1] / size[1]);
}

// Errors of C and D by sensor, relative to the sensor's largest entry (or 1e-3 of all's).
static double checkSensors(Case* c, double h, bool analytic, bool verbose) {
  mjtNum* fd = calloc((size_t)(c->ns * (c->nx + c->nu)) + 1, sizeof(*fd));
  int n = c->nx + c->nu;
  for (int k = 0; k < n; k++) {
    for (int point = 0; point < 4; point++) {
      moveTo(c, k, kPoint[point] * h);
      assert_true(djm_forward(c->m, c->e, c->c) >= 0);
      for (int i = 0; i < c->ns; i++) {
        fd[i * n + k] += kWeight[point] / (12 * h) * c->e->sensordata[i];
      }
    }
  }
  double worst = 0;
  for (int s = 0; s < c->m->nsensor; s++) {
    if (djm_sensorIsAnalytic(c->m, s) != analytic) continue;
    double error = 0, size = 1e-3;
    for (int i = c->m->sensor_adr[s]; i < c->m->sensor_adr[s] + c->m->sensor_dim[s]; i++) {
      for (int k = 0; k < n; k++) {
        double y = k < c->nx ? c->C[i * c->nx + k] : c->D[i * c->nu + k - c->nx];
        error = djt_worst(error, fabs(y - fd[i * n + k]));
        size = djt_worst(size, fabs(fd[i * n + k]));
      }
    }
    if (verbose && error > 1e-4 * size) {
      print_message("sensor %d (type %d): %.2e of %.2e\n", s, c->m->sensor_type[s], error, size);
    }
    worst = djt_worst(worst, error / size);
  }
  free(fd);
  return worst;
}

static void solve(Case* c) {
  size_t size = (size_t)c->d->nbuffer;
  void* before = malloc(size);
  assert_non_null(before);
  memcpy(before, c->d->buffer, size);
  mju_fill(c->A, 77, (c->nx + c->ns) * (c->nx + c->nu));   // all of it is written
  djt_failIf(djm_transition(c->m, c->d, c->c, c->A, c->B, c->C, c->D) < 0, "%s",
             djm_errorText(c->c));
  assert_memory_equal(before, c->d->buffer, size);   // d is const, all of it
  free(before);
}

// All sensors with a formula, without contact.
static void testFree(void) {
  djRng rng = {11};
  double worst = 0, states = 0;
  int cut = 0;
  for (int trial = 0; trial < 6; trial++) {
    mjModel* m = djt_compile("<mujoco>" DJT_ZOO_BODIES "<sensor>" DJT_ZOO_ANALYTIC
                             "</sensor></mujoco>");
    for (int i = 0; i < m->nsensor; i++) assert_true(djm_sensorIsAnalytic(m, i));
    if (trial == 5) m->opt.disableflags |= mjDSBL_ACTUATION;
    Case c = openCase(m, 1 + trial % 2, 1e-8);
    djt_shake(c.d, &rng, m, 0.5, 1);
    c.d->qpos[2] += 3;
    if (trial == 1) c.d->ctrl[0] = 2;    // beyond its range
    if (trial == 2) c.d->ctrl[1] = 3;    // a force beyond its range
    if (trial == 3) c.d->act[2] = 0.9999, c.d->ctrl[4] = 1;   // an activation
    solve(&c);
    worst = djt_worst(worst, checkSensors(&c, 1e-5, true, true));
    states = djt_worst(states, checkStates(&c, 1e-5));
    for (int i = 0; i < m->nsensor; i++) {
      if (m->sensor_cutoff[i] == 0) continue;
      djm_forward(m, c.d, c.c);
      for (int r = 0; r < m->sensor_dim[i]; r++) {
        if (fabs(c.d->sensordata[m->sensor_adr[i] + r]) == m->sensor_cutoff[i]) cut++;
      }
    }
    closeCase(&c);
  }
  print_message("formulas %.1e, states %.1e\n", worst, states);
  assert_true(worst < 1e-8 && states < 1e-5 && cut > 2);
}

// A state of the zoo on the floor, with contact.
static void land(Case* c, djRng* rng, int steps) {
  djt_shake(c->d, rng, c->m, 0.05, 0.5);
  for (int k = 0; k < steps; k++) assert_true(djm_step(c->m, c->d, c->c) >= 0);
}

// Both integrators, in states some way from those where a contact's place jumps or friction begins
// to slip: there, as at rest after more steps, a difference has two slopes.
static void testContact(void** state) {
  djRng rng = {12};
  double worst[3] = {0, 0, 0}, touch = 0;
  for (int trial = 0; trial < 9; trial++) {
    Case c = openCase(djt_compile(DJT_ZOO), 1 + trial % 3, 1e-8);
    djm_model(c.c)->opt.integrator = *(const djIntegrator*)*state;
    land(&c, &rng, 34);
    if (trial % 3 == 2) c.d->qpos[2] -= 0.01;   // into the floor
    solve(&c);
    for (int k = 0; k < c.nx; k++) touch = djt_worst(touch, fabs(c.C[k]));
    worst[0] = djt_worst(worst[0], checkStates(&c, 3e-7));
    worst[1] = djt_worst(worst[1], checkSensors(&c, 3e-7, true, true));
    if (trial == 0) worst[2] = checkSensors(&c, 2e-7, false, true);
    closeCase(&c);
  }
  print_message("states %.1e, formulas %.1e, differences %.1e\n", worst[0], worst[1], worst[2]);
  assert_true(touch > 100);   // N/m
  assert_true(worst[0] < 5e-5 && worst[1] < 1e-4 && worst[2] < 1e-3);
}

// Two moving bodies that press on each other: sensors feel the contact's force on both.
static void testPressed(void) {
  for (int substeps = 1; substeps < 4; substeps++) {
    Case c = openCase(djt_compile(
        "<mujoco><option timestep='.004'/><worldbody><body name='stage' pos='0 0 .2'><joint "
        "name='lift' type='slide' axis='.1 0 1' stiffness='300' damping='5'/><joint name='tilt' "
        "axis='0 1 .1' stiffness='30' damping='2'/><geom type='box' size='.3 .2 .05' mass='2'/>"
        "<site name='stage' pos='.1 .05 0' size='.5' euler='10 20 30'/></body><body name='arm' "
        "pos='-.3 0 .29'><joint name='swing' axis='0 1 0' damping='.5'/>"
        "<geom type='box' pos='.3 0 0' size='.1 .03 .03' mass='1'/>"
        "<site name='arm' pos='.2 0 .02' size='.3' euler='30 10 0'/></body>"
        "<body pos='.2 0 .28'><joint type='slide' axis='0 .1 1'/><geom size='.03' "
        "mass='.5'/></body></worldbody><actuator><motor joint='swing' gear='2'/><motor "
        "joint='lift' gear='3'/>"
        "</actuator><sensor><force site='stage'/><torque site='stage'/>"
        "<force site='arm'/><torque site='arm'/><accelerometer site='stage'/><framelinacc "
        "objtype='site' objname='arm'/><frameangacc objtype='body' objname='stage'/>"
        "<accelerometer site='stage' cutoff='.01'/><touch site='arm'/><touch site='stage'/>"
        "</sensor></mujoco>"), substeps, 1e-9);
    c.d->ctrl[0] = 1;
    c.d->ctrl[1] = -1;
    for (int k = 0; k < 60; k++) assert_true(djm_step(c.m, c.d, c.c) >= 0);
    assert_int_equal(djm_data(c.c)->npair, 2);
    for (int k = 0; k < 2; k++) assert_true(mju_norm3(djm_data(c.c)->pair[k].force) > 1);
    solve(&c);
    assert_true(djm_forward(c.m, c.d, c.c) >= 0);
    for (int i = c.ns - 2; i < c.ns; i++) assert_true(c.d->sensordata[i] > 1);
    double states = checkStates(&c, 3e-7), sensors = checkSensors(&c, 1e-7, true, true);
    if (states > 5e-5 || sensors > 1e-6) fail_msg("%g, %g", states, sensors);
    closeCase(&c);
  }
}

// Robots, most of them with RK4, after some steps under random controls.
static void testRobots(void) {
  static const char* const name[] = {"hopper", "ant", "half_cheetah", "humanoid", "walker2d",
                                     "swimmer", "pusher"};
  djRng rng = {13};
  double worst = 0;
  int contacts = 0, rk4 = 0, n = 0;
  for (size_t i = 0; i < sizeof(name) / sizeof(*name); i++) {
    mjModel* m = djt_robot(name[i]);
    rk4 += m->opt.integrator == mjINT_RK4;
    Case c = openCase(m, 1, 1e-8);
    djt_shake(c.d, &rng, m, 0.02, 0.1);
    for (int k = 0; k < 100; k++) {
      for (int j = 0; j < c.nu; j++) c.d->ctrl[j] = djt_uniform(&rng, -0.3, 0.3);
      assert_true(djm_step(m, c.d, c.c) >= 0);
    }
    contacts += djm_data(c.c)->npair;
    solve(&c);
    double error = checkStates(&c, 1e-7);
    if (error > 1e-4) print_message("%s: %.1e\n", name[i], error);
    worst = djt_worst(worst, error);
    n++;
    closeCase(&c);
  }
  print_message("%d robots, %d contacts: %.1e\n", n, contacts, worst);
  assert_true(rk4 > 2 && contacts > 5);
  assert_true(worst < 1e-4);
}

// Actuators that the import leaves out: what djm_step does with their activations and controls.
static void testLeftOut(void) {
  static const char* const text[] = {
      "<mujoco><worldbody><body name='b'><joint name='j'/><geom "
      "size='.1' pos='.2 0 0'/>"
      "<body pos='1 0 0'><joint name='k' axis='0 1 0'/><geom size='.1'/></body></body></worldbody>"
      "<actuator><general joint='j' dyntype='user' actdim='2'/><intvelocity "
      "joint='k' actrange='-1 1' kp='3'/><muscle joint='j' lengthrange='-1 1'/><motor joint='k'/>"
      "<general joint='k' gaintype='user' dyntype='integrator' actlimited='true' "
      "actrange='-1 1'/></actuator>"
      "</mujoco>",
      "<mujoco><worldbody><body mocap='true'><geom size='.1'/><site name='s'/></body></worldbody>"
      "<actuator><general site='s' dyntype='integrator' gear='0 0 1 0 0 0' actlimited='true' "
      "actrange='-1 1'/></actuator></mujoco>"};
  djRng rng = {14};
  for (int i = 0; i < 2; i++) {
    for (int substeps = 1; substeps < 3; substeps++) {
      Case c = openCase(djt_compile(text[i]), substeps, 1e-8);
      djt_shake(c.d, &rng, c.m, 0.3, 1);
      assert_true(djm_model(c.c)->na < c.m->na);
      solve(&c);
      assert_true(checkStates(&c, 1e-4) < 1e-7);
      int last = c.nx - 1;   // of the last one: left alone
      assert_true(c.A[last * c.nx + last] == 1 && fabs(c.B[last * c.nu + c.nu - 1]) < 1e-30);
      closeCase(&c);
    }
  }
}

// Distances of contacts, which are those of a step.
static void testContactDistance(void) {
  Case c = openCase(djt_compile("<mujoco><worldbody><geom type='plane' size='1 1 1'/><body "
                                "pos='0 0 .055' euler='1 2 3'><freejoint/><geom name='box' "
                                "type='box' size='.1 .1 .05'/></body></worldbody><sensor>"
                                "<contact geom1='box' data='dist'/></sensor></mujoco>"), 1, 1e-8);
  for (int k = 0; k < 20; k++) assert_true(djm_step(c.m, c.d, c.c) >= 0);
  solve(&c);
  assert_true(fabs(c.C[8]) > 1e-5);   // by the velocity
  assert_true(checkSensors(&c, 1e-7, false, true) < 1e-4);
  closeCase(&c);
}

// Delays and intervals are refused; a history alone changes nothing.
static void testDelays(void) {
  static const struct {
    const char* sensor;
    bool delayed;
  } cases[] = {{"delay='.01' nsample='9'", true}, {"interval='.01' nsample='9'", true},
               {"nsample='9'", false}, {"interval='.01'", false}};
  for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
    char text[500];
    snprintf(text, sizeof(text),
             "<mujoco><worldbody><body><joint name='j'/><geom size='.1'/></body></worldbody>"
             "<sensor><jointpos joint='j' %s/></sensor></mujoco>", cases[i].sensor);
    Case c = openCase(djt_compile(text), 1, 1e-8);
    assert_int_equal(djm_transition(c.m, c.d, c.c, c.A, NULL, NULL, NULL), DJ_OK);
    assert_int_equal(djm_transition(c.m, c.d, c.c, NULL, NULL, c.C, NULL),
                     cases[i].delayed ? DJ_UNSUPPORTED : DJ_OK);
    assert_true(!cases[i].delayed == djm_sensorIsAnalytic(c.m, 0));
    if (cases[i].delayed) assert_non_null(strstr(djm_errorText(c.c), "delay"));
    else djt_near(c.C[0], 1, 0);
    c.d->qpos[0] = NAN;
    assert_int_equal(djm_transition(c.m, c.d, c.c, c.A, NULL, NULL, NULL), DJ_INVALID);
    assert_non_null(strstr(djm_errorText(c.c), "qpos[0]"));
    closeCase(&c);
  }
}

// Any of the matrices may be missing, whatever the sensors need; statistics are those of the run.
static void testParts(void) {
  static const char* const sensors[] = {
      DJT_ZOO_ANALYTIC DJT_ZOO_OTHER, ("<jointpos joint='hinge'/><framepos objtype='site' "
      "objname='tip'/>"), "<accelerometer site='base'/>", "<touch site='foot'/>",
      "<torque site='link'/><subtreeangmom body='base'/>", ""};
  djRng rng = {15};
  for (int scene = 0; scene < 12; scene++) {
    char text[sizeof(DJT_ZOO) + 100];
    snprintf(text, sizeof(text), "<mujoco>" DJT_ZOO_BODIES "<sensor>%s</sensor></mujoco>",
             sensors[scene / 2]);
    Case c = openCase(djt_compile(text), 1 + scene % 2, 1e-7);
    land(&c, &rng, 30);
    solve(&c);
    size_t n = (size_t)((c.nx + c.ns) * (c.nx + c.nu));
    mjtNum* all = malloc(n * sizeof(*all));
    assert_non_null(all);
    memcpy(all, c.A, n * sizeof(*all));
    mjtNum* const part[4] = {c.A, c.B, c.C, c.D};
    const int size[4] = {c.nx * c.nx, c.nx * c.nu, c.ns * c.nx, c.ns * c.nu};
    djStats stats = djm_data(c.c)->stats;
    for (int mask = 0; mask < 16; mask++) {
      for (size_t i = 0; i < n; i++) c.A[i] = 77;
      assert_true(djm_transition(c.m, c.d, c.c, mask & 1 ? c.A : NULL, mask & 2 ? c.B : NULL,
                                 mask & 4 ? c.C : NULL, mask & 8 ? c.D : NULL) >= 0);
      for (int k = 0; k < 4; k++) {
        for (int i = 0; i < size[k]; i++) {
          double want = mask & (1 << k) ? all[part[k] - c.A + i] : 77;
          djt_near(part[k][i], want, 1e-5 * fmax(1, fabs(want)));
        }
      }
      assert_memory_equal(&stats, &djm_data(c.c)->stats, sizeof(stats));
      assert_true(djm_model(c.c)->opt.tolerance == 1e-7);
    }
    free(all);
    closeCase(&c);
  }
}

// Differences are of steps solved to rounding, however loose the tolerance is: their errors would
// be divided by the small step.
static void testNonpotential(void) {
  djRng rng = {19};
  Case c = openCase(djt_compile("<mujoco>" DJT_ZOO_BODIES "<sensor>" DJT_ZOO_OTHER
                                "</sensor></mujoco>"), 1, 1e-8);
  land(&c, &rng, 40);
  int n = c.ns * c.nx;
  mjtNum* fine = calloc((size_t)n, sizeof(*fine));
  assert_non_null(fine);
  for (int k = 0; k < 4; k++) {
    djt_tolerance(c.c, (double[]){1e-9, 1e-2, 1, 1e2}[k]);
    solve(&c);
    double error = 0;
    for (int s = 0; s < c.m->nsensor; s++) {
      if (djm_sensorIsAnalytic(c.m, s)) continue;
      double size = 1, worst = 0;
      for (int i = c.m->sensor_adr[s]; i < c.m->sensor_adr[s] + c.m->sensor_dim[s]; i++) {
        for (int j = i * c.nx; j < (i + 1) * c.nx; j++) {
          if (k == 0) fine[j] = c.C[j];
          size = djt_worst(size, fabs(fine[j]));
          worst = djt_worst(worst, fabs(c.C[j] - fine[j]));
        }
      }
      error = djt_worst(error, worst / size);
    }
    print_message("tolerance %d: %.1e\n", k, error);
    assert_true(error < 3e-7);
  }
  free(fine);
  closeCase(&c);
}

// Contact of the last of many bodies with few dofs, where no sensor asks for its force: nothing is
// written for the bodies.
static void testManyBodies(void) {
  char text[3000] = "<mujoco><worldbody><geom type='plane' size='1 1 1'/><body pos='0 0 .1'>"
                    "<joint type='slide' axis='0 0 1'/>";
  for (int i = 0; i < 40; i++) strcat(text, "<body pos='.01 0 0'>");
  strcat(text, "<geom size='.1'/>");
  for (int i = 0; i < 41; i++) strcat(text, "</body>");
  strcat(text, "</worldbody></mujoco>");
  Case c = openCase(djt_compile(text), 2, 1e-8);
  for (int k = 0; k < 30; k++) assert_true(djm_step(c.m, c.d, c.c) >= 0);
  assert_int_equal(djm_data(c.c)->npair, 1);
  solve(&c);
  assert_true(checkStates(&c, 1e-6) < 1e-5);
  closeCase(&c);
}

// Sensors in the frames of mocap bodies that were moved.
static void testMocap(void) {
  djRng rng = {20};
#define FRAMES(ref) DJT_FRAMES(DJT_OBJECT("body", "free"), DJT_REF("body", ref)) \
  DJT_FRAMES(DJT_OBJECT("body", ref), DJT_REF("body", "free"))
  Case c = openCase(djt_compile(
      "<mujoco><worldbody><body name='one' mocap='true'/><body name='two' mocap='true' "
      "pos='1 2 3'/><body name='free'><freejoint/><geom type='box' size='.1 .2 .3'/></body>"
      "</worldbody><sensor>" FRAMES("one") FRAMES("two") "</sensor></mujoco>"), 1, 1e-8);
  djt_shake(c.d, &rng, c.m, 1, 1);
  for (int i = 0; i < 6; i++) c.d->mocap_pos[i] = djt_uniform(&rng, -2, 2);
  for (int i = 0; i < 2; i++) djt_unitQuat(c.d->mocap_quat + 4 * i, &rng);
  solve(&c);
  assert_true(checkSensors(&c, 1e-5, true, true) < 1e-7);
  closeCase(&c);
}

// A hinge balanced under a controller that drives it away just as its inertia holds it in a step:
// the step is found, but no derivative, and nothing is written.
static void testSingular(void) {
  for (int k = 0; k < 8; k++) {
    int substeps = 1 + k / 2 % 2;
    char text[600];
    snprintf(text, sizeof text,
        "<mujoco><option timestep='.5'><flag gravity='disable'/></option><worldbody><body><joint "
        "name='j'/><inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/><geom size='.1' "
        "mass='0'/><site name='s'/></body></worldbody><actuator><general joint='j' "
        "biastype='affine' biasprm='0 %d 0'/></actuator><custom><text name='dijoco_integrator' "
        "data='position'/></custom><sensor><jointpos joint='j'/>"
        "<accelerometer site='s'/></sensor></mujoco>", 4 * substeps * substeps);
    Case c = openCase(djt_compile(text), substeps, 1e-8);
    bool sensors = k % 2;
    size_t n = (size_t)((c.nx + c.ns) * (c.nx + c.nu));
    for (size_t i = 0; i < n; i++) c.A[i] = 77;
    if (k < 4) {
      assert_int_equal(djm_step(c.m, c.d, c.c), DJ_OK);
      assert_true(c.d->qpos[0] == 0);
    }
    assert_int_equal(djm_transition(c.m, c.d, c.c, c.A, c.B, sensors ? c.C : NULL,
                                    sensors ? c.D : NULL), DJ_SINGULAR);
    assert_non_null(strstr(djm_errorText(c.c), "singular at the solution: condition inf"));
    for (size_t i = 0; i < n; i++) assert_true(c.A[i] == 77);
    closeCase(&c);
  }
}

static void userSensor(const mjModel* m, mjData* d, int stage) {
  mju_warning("stage %d", stage);
  for (int i = 0; i < m->nsensor; i++) {
    if (m->sensor_type[i] != mjSENS_USER || (int)m->sensor_needstage[i] != stage) continue;
    double x = sin(d->qpos[0]);
    if (stage == mjSTAGE_VEL) x *= d->qvel[0];
    if (stage == mjSTAGE_ACC) x *= d->qacc[0];
    for (int r = 0; r < m->sensor_dim[i]; r++) d->sensordata[m->sensor_adr[i] + r] = (r + 1) * x;
  }
}

// Sensors of the user's, of all stages. Warnings of MuJoCo's are no errors.
static void testUser(void) {
  djRng rng = {18};
  static const char* const stages[] = {"pos", "vel", "acc"};
  for (int last = 0; last < 3; last++) {
    char text[1000];
    snprintf(text, sizeof(text),
             "<mujoco><worldbody><body><joint name='j'/><geom size='.1' pos='.2 0 0'/></body>"
             "</worldbody><actuator><motor joint='j'/></actuator><sensor>"
             "<user dim='2' needstage='pos'/><user dim='1' needstage='%s'/><user dim='1' "
             "needstage='pos'/></sensor></mujoco>",
             stages[last]);
    Case c = openCase(djt_compile(text), 1, 1e-8);
    djt_shake(c.d, &rng, c.m, 0.5, 1);
    mjcb_sensor = userSensor;
    solve(&c);
    assert_string_equal(djm_errorText(c.c), "");
    double size = 0;
    for (int k = 0; k < c.nx; k++) size = djt_worst(size, fabs(c.C[2 * c.nx + k]));
    assert_true(size > 0.1);
    assert_true(checkSensors(&c, 1e-4, false, true) < 1e-5);
    mjcb_sensor = NULL;
    closeCase(&c);
  }
}

// Text of the model with sensors on all its bodies, every other one in the frame of an earlier one.
static char* addSensors(const char* text, const mjModel* m) {
  static const char* const kind[] = {"framepos", "framequat", "framexaxis", "framezaxis",
                                     "framelinvel", "frameangvel"};
  djtText more = {0};
  djt_put(&more, "%.*s", (int)(strstr(text, "</mujoco>") - text), text);
  djt_put(&more, "<sensor>");
  for (int b = 1; b < m->nbody; b++) {
    const char *name = m->names + m->name_bodyadr[b], *ref = m->names + m->name_bodyadr[b / 2];
    for (size_t k = 0; k < sizeof(kind) / sizeof(*kind); k++) {
      djt_put(&more, "<%s objtype='%s' objname='%s'", kind[k], b % 3 ? "xbody" : "body", name);
      if (b % 2 == 0) djt_put(&more, " reftype='body' refname='%s'", ref);
      djt_put(&more, "/>");
    }
    djt_put(&more, "<subtreecom body='%s'/><subtreelinvel body='%s'/>", name, name);
  }
  djt_put(&more, "</sensor></mujoco>");
  assert_false(more.failed);
  return more.text;
}

// Velocities depend on the configuration: without those terms the error is large.
static double withoutTurning(Case* c) {
  for (int s = 0; s < c->m->nsensor; s++) {
    if (c->m->sensor_needstage[s] != mjSTAGE_VEL) continue;
    for (int r = 0; r < c->m->sensor_dim[s]; r++) {
      mju_zero(c->C + (c->m->sensor_adr[s] + r) * c->nx, c->nv);
    }
  }
  return checkSensors(c, 1e-5, true, false);
}

// Random trees with joints of all types, several per body.
static void testTrees(void) {
  djRng rng = {16};
  double worst = 0;
  int sensors = 0, turning = 0;
  for (int trial = 0; trial < 12; trial++) {
    char* text = djt_randomMjcf(&rng, 2 + trial % 6, DJT_MJCF_SMOOTH | DJT_MJCF_MOCAP);
    assert_non_null(text);
    mjModel* m = djt_compile(text);
    char* more = addSensors(text, m);
    mj_deleteModel(m);
    Case c = openCase(djt_compile(more), 1, 1e-8);
    c.m->opt.disableflags |= mjDSBL_CONTACT;
    djt_shake(c.d, &rng, c.m, 1, 1);
    solve(&c);
    sensors += (int)c.m->nsensor;
    worst = djt_worst(worst, checkSensors(&c, 1e-5, true, true));
    turning += withoutTurning(&c) > 0.01;
    closeCase(&c);
    free(more);
    free(text);
  }
  print_message("%d sensors on trees: %.1e\n", sensors, worst);
  assert_true(sensors > 200 && worst < 1e-7 && turning > 9);
}

// A scene with our engine plugin: the context that it holds takes steps as well, and our own step
// and its derivatives, sensors included, are those of the scene without it.
static void testPlugin(void) {
  djError err;
  if (djm_registerPlugins(&err) != DJ_OK) fail_msg("%s", err.text);
  djRng rng = {17};
  for (int substeps = 1; substeps < 3; substeps++) {
    char text[sizeof(DJT_ZOO) + 300];
    snprintf(text, sizeof(text),
             "<mujoco><extension><plugin plugin='dijoco.contact'><instance name='dj'><config "
             "key='substeps' value='%d'/></instance></plugin></extension><option><flag "
             "contact='disable'/></option>%s", substeps, &DJT_ZOO[strlen("<mujoco>")]);
    Case with = openCase(djt_compile(text), substeps, 1e-8);
    Case plain = openCase(djt_compile(DJT_ZOO), substeps, 1e-8);
    land(&plain, &rng, 30);
    djt_copyState(with.d, plain.d, plain.m);
    solve(&with);
    solve(&plain);
    for (int i = 0; i < (plain.nx + plain.ns) * (plain.nx + plain.nu); i++) {
      djt_near(with.A[i], plain.A[i], 1e-5 * (1 + fabs(plain.A[i])));
    }
    djmContext* inside = djm_pluginContext(with.m, with.d);
    assert_non_null(inside);
    for (int k = 0; k < 5; k++) assert_true(djm_step(with.m, with.d, inside) >= 0);
    assert_true(djm_forward(with.m, with.d, inside) >= 0);
    assert_true(with.d->qfrc_constraint[2] > 1);
    assert_true(djm_transition(with.m, with.d, inside, with.A, NULL, with.C, NULL) >= 0);
    // data of a scene of other sizes
    assert_int_equal(djm_step(with.m, plain.d, with.c), DJ_INVALID);
    mjModel* empty = djt_compile("<mujoco/>");
    mjData* small = mj_makeData(empty);
    assert_int_equal(djm_step(with.m, small, with.c), DJ_INVALID);
    assert_non_null(strstr(djm_errorText(with.c), "another"));
    djt_deleteEngine(empty, small);
    closeCase(&with);
    closeCase(&plain);
  }
}

DJT_MAIN_ROWS(djt_test(testFree), djt_by(testContact, DJ_EULER), djt_by(testContact, DJ_POSITION),
              djt_test(testRobots), djt_test(testLeftOut), djt_test(testParts), djt_test(testTrees),
              djt_test(testPlugin), djt_test(testUser), djt_test(testDelays),
              djt_test(testContactDistance), djt_test(testSingular), djt_test(testPressed),
              djt_test(testNonpotential), djt_test(testMocap), djt_test(testManyBodies))
