// Sensors with delays, intervals and histories under djm_step, beside mj_step.

#include "common/mj_zoo.h"
#include "common/near.h"
#include "common/test.h"
#include "sensor.h"

#define SENSORS(attributes)                                                       \
  "<jointpos joint='slide' " attributes "/><jointvel joint='slide' " attributes   \
  "/><framepos objtype='body' objname='ball' " attributes                         \
  "/><accelerometer site='cart' " attributes "/>"

// What moves by the same steps in both engines: a cart under a force, a ball that falls.
static const char kScene[] =
    "<mujoco><option timestep='.01'/><worldbody><body name='cart' pos='3 0 5'>"
    "<joint name='slide' type='slide' axis='1 0 0'/><geom size='.1' mass='2'/><site name='cart'/>"
    "</body><body name='ball' pos='0 0 5'><freejoint/><geom size='.1'/></body></worldbody>"
    "<actuator><motor joint='slide'/></actuator><sensor>"
    SENSORS("") SENSORS("nsample='3'") SENSORS("nsample='3' delay='.005'")
    SENSORS("nsample='4' delay='.015' interp='linear'")
    SENSORS("nsample='6' delay='.033' interp='cubic'") SENSORS("nsample='3' interval='.015'")
    SENSORS("nsample='3' interval='.03'") SENSORS("nsample='2' interval='.01'")
    SENSORS("nsample='5' interval='.025' delay='.02' interp='linear'") "</sensor></mujoco>";

static void testHistories(void) {
  mjModel* m = djt_compile(kScene);
  mjData *d = mj_makeData(m), *e = mj_makeData(m);
  djmContext* c = djt_context(m);
  djt_tolerance(c, 1e-9);
  d->qvel[0] = e->qvel[0] = 0.3;
  d->qvel[1] = e->qvel[1] = 0.2;
  for (int k = 0; k < 60; k++) {
    d->ctrl[0] = e->ctrl[0] = sin(0.3 * k);
    assert_int_equal(djm_step(m, d, c), DJ_OK);
    mj_step(m, e);
    for (int i = 0; i < m->nsensordata; i++) {
      djt_near(d->sensordata[i], e->sensordata[i], 1e-8 * (1 + fabs(e->sensordata[i])));
    }
    for (int i = 0; i < m->nhistory; i++) {
      djt_near(d->history[i], e->history[i], 1e-8 * (1 + fabs(e->history[i])));
    }
  }
  // djm_forward shows what mj_forward does, and keeps nothing
  mjtNum* kept = calloc((size_t)m->nhistory, sizeof(*kept));
  assert_non_null(kept);
  mju_copy(kept, d->history, (int)m->nhistory);
  assert_int_equal(djm_forward(m, d, c), DJ_OK);
  assert_memory_equal(d->history, kept, (size_t)m->nhistory * sizeof(*kept));
  mj_forward(m, e);
  for (int i = 0; i < m->nsensor; i++) {
    if (m->sensor_needstage[i] == mjSTAGE_ACC) continue;   // qacc is that of a step
    for (int k = m->sensor_adr[i]; k < m->sensor_adr[i] + m->sensor_dim[i]; k++) {
      djt_near(d->sensordata[k], e->sensordata[k], 1e-8 * (1 + fabs(e->sensordata[k])));
    }
  }
  m->opt.disableflags |= mjDSBL_SENSOR;
  assert_int_equal(djm_step(m, d, c), DJ_OK);   // which follows
  djm_stepOption(c)->sensors = true;
  assert_int_equal(djm_step(m, d, c), DJ_OK);
  assert_memory_equal(d->history, kept, (size_t)m->nhistory * sizeof(*kept));
  free(kept);
  djm_deleteContext(c);
  mj_deleteData(d);
  djt_deleteEngine(m, e);
}

// Touch and limits' forces are ours; what comes late is what was there before.
static void testOurs(void) {
  mjModel* m = djt_compile(
      "<mujoco><option timestep='.002'/><worldbody><geom type='plane' size='1 1 1'/>"
      "<body pos='0 0 .1'><freejoint/><geom type='box' size='.1 .1 .1' mass='2'/>"
      "<site name='skin' type='box' size='.11 .11 .11'/></body></worldbody><sensor>"
      "<touch site='skin'/><touch site='skin' nsample='10' delay='.01'/></sensor></mujoco>");
  mjData* d = mj_makeData(m);
  djmContext* c = djt_context(m);
  double last[100];
  for (int k = 0; k < 100; k++) {
    assert_true(djm_step(m, d, c) >= 0);
    last[k] = d->sensordata[0];
    djt_near(d->sensordata[1], k < 5 ? 0 : last[k - 5], 0);
  }
  djt_near(last[99], 2 * 9.81, 0.1);
  djm_deleteContext(c);
  djt_deleteEngine(m, d);
}

// The view without histories.
static void testView(void) {
  mjModel* m = djt_compile(kScene);
  djmContext* c = djt_context(m);
  mjModel view = djm_promptModel(m, c);
  int delayed = 0;
  for (int i = 0; i < m->nsensor; i++) {
    delayed += djm_isDelayed(m, i);
    assert_false(djm_isDelayed(&view, i));
  }
  assert_int_equal(delayed, 4 * 7);
  djm_deleteContext(c);
  mj_deleteModel(m);
}

DJT_MAIN(testHistories, testOurs, testView)
