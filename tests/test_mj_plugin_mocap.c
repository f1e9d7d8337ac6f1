// Mocap bodies that move, inside MuJoCo's step by the plugin dijoco.contact, and by djm_step: they push
// and convey at their speed; where they began is part of MuJoCo's state.

#include "common/mjcf.h"
#include "common/near.h"
#include "common/test.h"

#include <dijoco/mujoco.h>

static const double speed[] = {0.1, 0.5, 2}, timestep[] = {0.002, 0.01};
enum { NSPEED = 3, NTIMESTEP = 2 };

// A pusher before a box of 1 kg, or a belt below it.
static mjModel* makeScene(bool belt, double h, int substeps) {
  char text[2000];
  snprintf(text, sizeof text,
           "<mujoco><extension><plugin plugin='dijoco.contact'><instance name='dj'>"
           "<config key='substeps' value='%d'/></instance></plugin></extension>"
           "<option timestep='%g'><flag contact='disable'/></option><worldbody>"
           "<geom type='plane' size='9 9 1' friction='.5'/>"
           "<body pos='0 0 %g'><freejoint/><geom type='box' size='.05 .05 .05' mass='1'"
           " friction='.5'/></body><body mocap='true' pos='%g 0 %g'><geom type='box'"
           " size='%g .5 %g' friction='.5'/></body></worldbody></mujoco>",
           substeps, h, belt ? 0.37 : 0.05, belt ? 0 : -0.12, belt ? 0.3 : 0.051, belt ? 5 : 0.02,
           belt ? 0.02 : 0.05);
  return djt_compile(text);
}

static void move(const mjModel* m, mjData* d, djmContext* c, double V, int n) {
  for (int k = 0; k < n; k++) {
    d->mocap_pos[0] += V * m->opt.timestep;
    if (c) assert_true(djm_step(m, d, c) >= 0);
    else mj_step(m, d);
  }
}

static void testMoves(void) {
  for (int k = 0; k < 8 * NSPEED * NTIMESTEP; k++) {
    double V = speed[k % NSPEED], h = timestep[k / NSPEED % NTIMESTEP];
    int what = k / NSPEED / NTIMESTEP;
    bool belt = what & 1, inside = what & 2;
    // MuJoCo takes the last substep's velocity for the whole step: what is hit goes too far
    if (inside && !belt && what & 4) continue;
    mjModel* m = makeScene(belt, h, what & 4 ? 3 : 1);
    mjData* d = mj_makeData(m);
    djmContext* c = NULL;
    if (!inside) assert_int_equal(djm_makeContext(&c, NULL, m, NULL), DJ_OK);
    double t = belt ? 1 : fmin(1 / V, 2);
    int n = (int)(t / h + 0.5);
    move(m, d, c, V, n);
    djt_near(d->qvel[0], V, 2e-4 * V);
    double slip = V * V / (2 * 0.5 * 9.81);
    if (belt && !(what & 4)) djt_near(d->qpos[0], V * t - slip, 2 * V * h);
    else if (belt) assert_true(d->qpos[0] > V * t - 2 * slip - 20 * V * h);
    else djt_near(d->qpos[0] - d->mocap_pos[0], 0.07, 2e-4);
    djt_near(d->qpos[2], belt ? 0.37 : 0.05, 2e-4);
    djm_deleteContext(c);
    djt_deleteEngine(m, d);
  }
}

// Copies and states that are set go on alike; after a reset it has always been where it is.
static void testState(void) {
  mjModel* m = makeScene(false, 0.002, 1);
  mjData *d = mj_makeData(m), *other = mj_makeData(m);
  assert_int_equal(m->npluginstate, 7);
  move(m, d, NULL, 0.5, 100);
  assert_memory_equal(d->plugin_state, d->mocap_pos, 3 * sizeof(mjtNum));
  assert_memory_equal(d->plugin_state + 3, d->mocap_quat, 4 * sizeof(mjtNum));
  int spec = mjSTATE_INTEGRATION, n = mj_stateSize(m, spec);
  mjtNum* x = malloc((size_t)n * sizeof(mjtNum));
  mj_getState(m, d, x, spec);
  mj_copyData(other, m, d);
  move(m, d, NULL, 0.5, 5);
  move(m, other, NULL, 0.5, 5);
  assert_memory_equal(d->qpos, other->qpos, 7 * sizeof(mjtNum));
  mj_setState(m, other, x, spec);
  move(m, other, NULL, 0.5, 5);
  for (int i = 0; i < 7; i++) djt_near(other->qpos[i], d->qpos[i], 1e-12);
  assert_true(d->qvel[0] > 0.4);
  // within its size, and in the cube: it recovers
  for (int k = 0; k < 2; k++) {
    mj_resetData(m, d);
    for (int i = 0; i < 7; i++) assert_true(d->plugin_state[i] == 0);
    if (k) {   // it has come that way
      mju_copy(d->plugin_state, d->mocap_pos, 3);
      mju_copy(d->plugin_state + 3, d->mocap_quat, 4);
    }
    d->mocap_pos[0] += 0.055;
    mj_step(m, d);
    djt_near(d->qvel[0], k ? 0.005 / 0.001 : 0.1, k ? 0.01 : 0.15);   // in the step's second half
  }
  free(x);
  mj_deleteData(other);
  djt_deleteEngine(m, d);
}

DJT_MAIN_IN(djt_registerContact, NULL, testMoves, testState)
