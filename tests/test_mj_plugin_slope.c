// Under the plugin dijoco.contact A and B of djm_transition, with the plugin's own context, are
// those of mj_step, contact and controls together; mjd_transitionFD's B is not, for MuJoCo does not
// ask a plugin anew for other controls.

#include "common/mjcf.h"
#include "common/near.h"
#include "common/test.h"
#include "common/worst.h"

#include <dijoco/mujoco.h>

// A cart that is pressed on the floor and pushed along it, with an arm that reaches the floor, too.
static const char kScene[] =
    "<mujoco><extension><plugin plugin='dijoco.contact'><instance name='dj'><config key='tolerance' value='1e-9'/></instance></plugin></extension>"
    "<option timestep='.004'><flag contact='disable'/></option><worldbody>"
    "<geom type='plane' size='2 2 .1'/>"
    "<body pos='0 0 .1'><joint type='slide' axis='1 0 0' damping='.3'/>"
    "<joint type='slide' axis='0 0 1'/><joint axis='0 1 0'/>"
    "<geom type='box' size='.15 .1 .1' mass='1' friction='.3 0 0'/>"
    "<body pos='.2 0 0'><joint axis='0 1 0' damping='.05'/>"
    "<geom type='capsule' fromto='0 0 0 .3 0 -.08' size='.03' mass='.3' friction='.5 0 0'/></body>"
    "</body></worldbody><actuator><motor joint='#0'/><motor joint='#1'/><motor joint='#2'/>"
    "<motor joint='#3'/></actuator></mujoco>";

enum { NV = 4, NU = 4, NX = 2 * NV };

static mjModel* compile(void) {
  char text[sizeof kScene + 200], joint[] = "<joint";
  size_t n = 0;
  int id = 0;
  // joints and the actuators' names for them
  for (const char* from = kScene; *from; from++) {
    bool begins = !strncmp(from, joint, strlen(joint));
    if (begins) n += (size_t)sprintf(text + n, "<joint name='#%d'", id++);
    else text[n++] = *from;
    if (begins) from += strlen(joint) - 1;
  }
  text[n] = 0;
  return djt_compile(text);
}

static void drive(mjData* d, int k) {
  const double ctrl[NU] = {3 + sin(0.1 * k), -4, 0.3 * cos(0.07 * k), 0.4};
  mju_copy(d->ctrl, ctrl, NU);
}

// The end of mj_step from d, moved by e along column k of (q, v, ctrl); joints are scalar.
static void endOf(double x[NX], mjData* scratch, const mjModel* m, const mjData* d, int k,
                  double e) {
  mj_copyData(scratch, m, d);
  if (k < NV) scratch->qpos[k] += e;
  else if (k < NX) scratch->qvel[k - NV] += e;
  else scratch->ctrl[k - NX] += e;
  mj_step(m, scratch);
  mju_copy(x, scratch->qpos, NV);
  mju_copy(x + NV, scratch->qvel, NV);
}

// The largest error of column k of A and B beside 4th-order differences; of velocities alone, for
// positions follow them.
static double errorOf(const double* A, const double* B, mjData* scratch, const mjModel* m,
                      const mjData* d, int k) {
  const double e = k < NV ? 1e-8 : k < NX ? 1e-5 : 1e-4;   // gaps are stiff
  double x[4][NX], worst = 0, size = k < NX ? 1 : 1e-3;
  for (int s = 0; s < 4; s++) endOf(x[s], scratch, m, d, k, (s < 2 ? e : 2 * e) * (s % 2 ? -1 : 1));
  for (int i = NV; i < NX; i++) {
    double slope = (8 * (x[0][i] - x[1][i]) - (x[2][i] - x[3][i])) / (12 * e);
    double own = k < NX ? A[i * NX + k] : B[i * NU + k - NX];
    worst = djt_worst(worst, fabs(slope - own));
    size = fmax(size, fabs(slope));
  }
  return worst / size;
}

static void testMatrices(void) {
  mjModel* m = compile();
  mjData *d = mj_makeData(m), *scratch = mj_makeData(m);
  double worst[2] = {0, 0}, fd = 0;
  int pressed = 0;
  for (int k = 0; k < 150; k++) {
    drive(d, k);
    mj_step(m, d);
    if (k < 20 || k % 10) continue;
    drive(d, k);
    double A[NX * NX], B[NX * NU], FA[NX * NX], FB[NX * NU];
    mj_forward(m, d);
    djmContext* context = djm_pluginContext(m, d);
    assert_non_null(context);
    pressed += djm_data(context)->npair > 0;
    assert_true(djm_transition(m, d, context, A, B, NULL, NULL) >= 0);
    mj_copyData(scratch, m, d);
    mjd_transitionFD(m, scratch, 1e-6, 1, FA, FB, NULL, NULL);
    for (int i = 0; i < NX + NU; i++) {
      double error = errorOf(A, B, scratch, m, d, i);
      worst[i >= NX] = djt_worst(worst[i >= NX], error);
      if (i >= NX) fd = fmax(fd, errorOf(FA, FB, scratch, m, d, i));
    }
  }
  print_message("plugin: A %.1e, B %.1e, mjd_transitionFD's B %.2f\n", worst[0], worst[1], fd);
  assert_true(pressed > 8);
  assert_true(worst[0] < 1e-5 && worst[1] < 1e-5);
  assert_true(fd > 0.3);   // what there would be to do if MuJoCo asked for the plugin
  mj_deleteData(scratch);
  djt_deleteEngine(m, d);
}

DJT_MAIN_IN(djt_registerContact, NULL, testMatrices)
