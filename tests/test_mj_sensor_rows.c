// Rows of C and D (sensor.h): for forces of actuators, which are known in closed form,
// F = (g0 + g1 l + g2 v) u + b0 + b1 l + b2 v, and nothing changes it where it is clipped; for
// sensors of all types against values and differences of MuJoCo's.

#include "sensor.h"

#include "common/mj_zoo.h"
#include "common/near.h"
#include "common/room.h"
#include "common/test.h"
#include "common/worst.h"

#include <dijoco/dijoco.h>

// Gain, bias, state, control and force range; whether the force is clipped.
typedef struct Drive {
  double gain[3], bias[3], q, v, u, low, high;
} Drive;

static void checkDrive(const Drive* t) {
  char text[1200];
  snprintf(text, sizeof text,
           "<mujoco><option timestep='.001'/><worldbody><body><joint name='j' axis='0 1 0'/>"
           "<geom size='.1' mass='1' pos='.3 0 0'/></body></worldbody><actuator>"
           "<general name='a' joint='j' gear='2' gaintype='affine' biastype='affine' "
           "gainprm='%g %g %g' biasprm='%g %g %g' forcelimited='true' forcerange='%g %g'/>"
           "</actuator><sensor><actuatorfrc actuator='a'/></sensor></mujoco>",
           t->gain[0], t->gain[1], t->gain[2], t->bias[0], t->bias[1], t->bias[2], t->low,
           t->high);
  mjModel* m = djt_compile(text);
  mjData* d = mj_makeData(m);
  djmContext* c = djt_context(m);
  d->qpos[0] = t->q;
  d->qvel[0] = t->v;
  d->ctrl[0] = t->u;
  mj_forward(m, d);
  mjtNum A[4], B[2], C[2], D[1];
  if (djm_transition(m, d, c, A, B, C, D) != DJ_OK) fail_msg("%s", djm_errorText(c));
  const double *g = t->gain, *b = t->bias, l = 2 * t->q, v = 2 * t->v;
  double force = (g[0] + g[1] * l + g[2] * v) * t->u + b[0] + b[1] * l + b[2] * v;
  bool free = force > t->low && force < t->high;
  djt_near(d->sensordata[0], fmin(fmax(force, t->low), t->high), 1e-12);
  djt_near(C[0], free ? 2 * (g[1] * t->u + b[1]) : 0, 1e-9);
  djt_near(C[1], free ? 2 * (g[2] * t->u + b[2]) : 0, 1e-9);
  djt_near(D[0], free ? g[0] + g[1] * l + g[2] * v : 0, 1e-9);
  djm_deleteContext(c);
  djt_deleteEngine(m, d);
}

// Each term decides whether the force is within its range: in turn without it, it would not be.
static void testTerms(void) {
  static const Drive drives[] = {
      {{10, 0, 0}, {0, -10, -1}, 0.5, 0.25, 1, -2, 2},     // a servo close to its target
      {{10, 0, 0}, {0, -10, -1}, 0.5, 0.25, 1.3, -2, 2},   // ... and far from it
      {{1, 0, 0}, {8, -4, -2}, 1, 0, 0.5, -2, 2},          // b0
      {{1, 0, 0}, {0, -4, -8}, -1, 0.5, 0.5, -2, 2},       // b2
      {{3, 2, -1}, {0.5, -4, 1}, 1, 0.5, 1.5, -3, 5},      // an affine gain
      {{3, 2, -4}, {0, 0, 0}, 1, 0.75, 2, -3, 5},          // g1 and g2
      {{1, 0, 0}, {0, 0, 0}, 0, 0, 3, -2, 2},
      {{1, 0, 0}, {0, 0, 0}, 0, 0, -3, -2, 2}};
  for (size_t k = 0; k < sizeof drives / sizeof drives[0]; k++) checkDrive(&drives[k]);
}

// ---- all types --------------------------------------------------------------------------------

typedef struct Zoo {
  mjModel* m;
  mjData *d, *e;           // the state, and others beside it
  djmContext* c;
  int nx, nu, ns;
} Zoo;

// A random state, 2 m higher; no sensor is cut.
static Zoo openZoo(const char* text, djRng* rng) {
  Zoo z = {.m = djt_compile(text)};
  for (int i = 0; i < z.m->nsensor; i++) z.m->sensor_cutoff[i] *= z.m->sensor_cutoff[i] > 1;
  z.d = mj_makeData(z.m);
  z.e = mj_makeData(z.m);
  z.c = djt_context(z.m);
  z.d->qpos[2] += 2;
  djt_shake(z.d, rng, z.m, 0.2, 1);
  djt_tolerance(z.c, 1e-12);
  z.nx = 2 * (int)z.m->nv + (int)z.m->na;
  z.nu = (int)z.m->nu;
  z.ns = (int)z.m->nsensordata;
  return z;
}

static void closeZoo(Zoo* z) {
  djm_deleteContext(z->c);
  mj_deleteData(z->d);
  djt_deleteEngine(z->m, z->e);
}

// dy (ns) of sensordata by column k of state and controls; ours: by djm_forward, else mj_forward.
static void sensorSlope(mjtNum* dy, Zoo* z, int k, bool ours, double h) {
  static const double point[4] = {1, -1, 2, -2}, weight[4] = {8, -8, -1, 1};
  int nv = (int)z->m->nv;
  mjtNum* step = djt_room((size_t)nv);
  mju_zero(dy, z->ns);
  for (int i = 0; i < 4; i++) {
    mj_copyData(z->e, z->m, z->d);
    double by = point[i] * h;
    if (k < nv) step[k] = by;
    if (k < nv) mj_integratePos(z->m, z->e->qpos, step, 1);
    else if (k < 2 * nv) z->e->qvel[k - nv] += by;
    else if (k < z->nx) z->e->act[k - 2 * nv] += by;
    else z->e->ctrl[k - z->nx] += by;
    if (ours) assert_true(djm_forward(z->m, z->e, z->c) >= 0);
    else mj_forward(z->m, z->e);
    mju_addToScl(dy, z->e->sensordata, weight[i] / (12 * h), z->ns);
  }
  free(step);
}

// Largest error of the rows of sensor i, each of n columns, relative to the largest entry.
typedef struct Error {
  double worst, size;
} Error;

static void addError(Error* e, const Zoo* z, int i, const mjtNum* x, const mjtNum* u, int k,
                     const mjtNum* dy) {
  for (int r = 0; r < z->m->sensor_dim[i]; r++) {
    double got = k < z->nx ? x[r * z->nx + k] : u[r * z->nu + k - z->nx];
    double fd = dy[z->m->sensor_adr[i] + r];
    e->worst = djt_worst(e->worst, fabs(got - fd));
    e->size = djt_worst(e->size, fabs(fd));
  }
}

// Values and derivatives of the sensors that follow from the state alone, by differences with steps
// h. Takes the zoo; returns how many there are.
static int checkRows(Zoo z, double h, double tolerance) {
  int seen = 0;
  const mjModel* m = z.m;
  size_t nx = (size_t)z.nx, nu = (size_t)z.nu;
  mjtNum *memory = djt_room(djm_sensorWorkSize(m)), *dy = djt_room((size_t)z.ns);
  mjtNum *x = djt_room(DJM_MAXDIM * nx), *u = djt_room(DJM_MAXDIM * nu);
  djmSensorWork work;
  djm_initSensorWork(&work, memory, m);
  assert_ptr_equal(work.jac + 3 * m->nv, memory + djm_sensorWorkSize(m));
  mj_forward(m, z.d);
  mjData* pose = mj_makeData(m);
  djt_copyState(pose, z.d, m);
  mju_copy(pose->mocap_pos, z.d->mocap_pos, 3 * (int)m->nmocap);
  mju_copy(pose->mocap_quat, z.d->mocap_quat, 4 * (int)m->nmocap);
  mj_kinematics(m, pose);
  mj_comPos(m, pose);
  for (int i = 0; i < m->nsensor; i++) {
    bool touch = m->sensor_type[i] == mjSENS_TOUCH;
    if (!djm_sensorIsAnalytic(m, i) || djm_isAcceleration(m, i) || touch) continue;
    djmRows rows = {.dim = m->sensor_dim[i], .x = x, .u = u, .nx = z.nx, .nu = z.nu};
    mju_zero(x, DJM_MAXDIM * z.nx);
    mju_zero(u, DJM_MAXDIM * z.nu);
    djm_sensorRows(&rows, &work, m, z.d, pose, i);
    for (int r = 0; r < rows.dim; r++) {
      djt_near(rows.value[r], z.d->sensordata[m->sensor_adr[i] + r], 1e-12);
    }
    Error e = {0, 1e-2};
    for (int k = 0; k < z.nx + z.nu; k++) {
      sensorSlope(dy, &z, k, false, h);
      addError(&e, &z, i, x, u, k, dy);
    }
    bool right = e.worst < tolerance * e.size;
    if (!right) fail_msg("sensor %d, type %d: %g", i, m->sensor_type[i], e.worst);
    seen++;
  }
  mjtNum* const list[] = {memory, dy, x, u};
  for (int i = 0; i < 4; i++) free(list[i]);
  mj_deleteData(pose);
  closeZoo(&z);
  return seen;
}

static void testFormulas(void) {
  djRng rng = {5};
  assert_true(checkRows(openZoo(DJT_ZOO, &rng), 1e-3, 1e-8) > 60);
}

// Those of the plugin dijoco.gap: all ten numbers, and some of them in another order than theirs.
static void testGaps(void) {
  static const char text[] =
      "<mujoco><extension><plugin plugin='dijoco.gap'><instance name='all'><config key='geom1' "
      "value='a'/><config key='geom2' value='b'/></instance><instance name='some'><config "
      "key='geom1' value='a'/><config key='geom2' value='b'/><config key='output' "
      "value='normal point2'/></instance></plugin></extension><worldbody><body><freejoint/>"
      "<geom name='a' type='capsule' size='.1 .3'/></body><body pos='.1 .5 0'><joint name='j' "
      "axis='0 0 1'/><joint axis='1 .2 0'/><geom name='b' type='box' size='.2 .1 .15' "
      "pos='.3 .2 0'/></body>"
      "</worldbody><actuator><motor joint='j'/></actuator><sensor><plugin plugin='dijoco.gap' "
      "instance='all'/><plugin plugin='dijoco.gap' instance='some'/></sensor></mujoco>";
  djRng rng = {7};
  assert_int_equal(checkRows(openZoo(text, &rng), 1e-4, 1e-6), 2);
}

// Accelerations by formula, all others by differences: each writes the rows of its own sensors.
static void testOthers(void) {
  djRng rng = {6};
  Zoo z = openZoo(DJT_ZOO, &rng);
  int ns = z.ns, nx = z.nx, nu = z.nu, rows[2] = {0, 0};
  mjtNum *C = djt_room((size_t)(ns * nx)), *D = djt_room((size_t)(ns * nu));
  mjtNum* dy = djt_room((size_t)ns);
  Error error[2] = {{0, 1e-2}, {0, 1e-2}};
  for (int kind = 0; kind < 2; kind++) {
    mju_fill(C, 77, ns * nx);
    mju_fill(D, 77, ns * nu);
    assert_int_equal(djm_begin(z.c, z.m, z.d), DJ_OK);
    djStats stats = z.c->data->stats;
    if (kind == 0) {
      djmChain w;
      mjModel view = djm_plainModel(z.m);
      assert_int_equal(djm_makeChain(&w, z.c, z.m, true), DJ_OK);
      djm_readData(z.c, z.d);
      assert_true(djm_takeChain(&w) >= 0);
      assert_int_equal(djm_accelerationRows(C, D, &w, &view, z.d), DJ_OK);
      djm_freeChain(&w);
    } else {
      mju_zero(C, ns * nx);   // columns that a sensor does not see stay
      mju_zero(D, ns * nu);
      assert_int_equal(djm_sensorDifferences(C, D, z.c, z.m, z.d), DJ_OK);
      assert_memory_equal(&stats, &z.c->data->stats, sizeof stats);
      assert_true(z.c->model->opt.tolerance == 1e-12);
    }
    for (int k = 0; k < nx + nu; k++) {
      sensorSlope(dy, &z, k, true, 1e-4);
      for (int i = 0; i < z.m->nsensor; i++) {
        size_t row = (size_t)z.m->sensor_adr[i];
        const mjtNum *x = C + row * (size_t)nx, *u = D + row * (size_t)nu;
        bool own = kind ? !djm_sensorIsAnalytic(z.m, i) : djm_isAcceleration(z.m, i);
        if (own) addError(&error[kind], &z, i, x, u, k, dy);
        if (!own && k == 0) assert_true(x[0] == (kind ? 0 : 77));
        if (own && k == 0) rows[kind] += z.m->sensor_dim[i];
      }
    }
  }
  print_message("%d accelerations %.1e of %.1e, %d others %.1e of %.1e\n", rows[0],
                error[0].worst, error[0].size, rows[1], error[1].worst, error[1].size);
  assert_true(rows[0] > 10 && rows[1] > 15);
  assert_true(error[0].worst < 1e-6 * error[0].size && error[1].worst < 1e-5 * error[1].size);
  free(C);
  free(D);
  free(dy);
  closeZoo(&z);
}

// ---- predicates -------------------------------------------------------------------------------

static void testPredicates(void) {
  mjModel* m = djt_compile(
      "<mujoco><worldbody><body name='b'><joint name='ball' type='ball'/><geom size='.1'/>"
      "<site name='s'/><body pos='1 0 0'><joint name='j'/><geom size='.1'/><site name='t'/></body>"
      "</body></worldbody><tendon><fixed name='fixed'><joint joint='j' coef='2'/></fixed>"
      "<spatial name='path'><site site='s'/><site site='t'/></spatial></tendon>"
      "<actuator><motor joint='j'/><motor joint='ball'/><motor tendon='fixed'/>"
      "<motor tendon='path'/><motor site='s'/></actuator><sensor><jointpos joint='j' cutoff='2'/>"
      "<touch site='s' cutoff='2'/><clock/><accelerometer site='s'/></sensor></mujoco>");
  static const bool simple[5] = {true, false, true, false, false};
  for (int i = 0; i < 5; i++) assert_true(djm_simpleLength(m, i) == simple[i]);
  static const struct {
    int sensor;
    double value;
    bool cut;
  } cut[] = {{0, 1.9, false}, {0, 2, true},    {0, -2, true},  {1, 1.9, false}, {1, 2.5, true},
             {1, -5, false},  {2, 1e9, false}};
  for (size_t i = 0; i < sizeof cut / sizeof *cut; i++) {
    assert_true(djm_isCut(m, cut[i].sensor, cut[i].value) == cut[i].cut);
  }
  for (int i = 0; i < 4; i++) {
    assert_true(djm_isAcceleration(m, i) == (i == 3));
    assert_true(djm_sensorIsAnalytic(m, i) && !djm_isDelayed(m, i));
  }
  m->sensor_delay[3] = 0.1;
  assert_false(djm_isDelayed(m, 3));   // nothing is kept
  m->sensor_history[2 * 3] = 4;
  assert_true(djm_isDelayed(m, 3));
  assert_false(djm_isAcceleration(m, 3) || djm_sensorIsAnalytic(m, 3));
  m->sensor_delay[3] = 0;
  assert_false(djm_isDelayed(m, 3));
  m->sensor_interval[2 * 3] = 0.1;
  assert_true(djm_isDelayed(m, 3));
  assert_false(djm_sensorIsAnalytic(m, -1) || djm_sensorIsAnalytic(m, 4));
  mj_deleteModel(m);
}

static int setup(void** state) {
  (void)state;
  return mjp_registerPlugin(djm_gapPlugin()) < 0;
}

DJT_MAIN_IN(setup, NULL, testTerms, testFormulas, testGaps, testOthers, testPredicates)
