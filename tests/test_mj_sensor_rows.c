// Rows of C and D for forces of actuators, which are known in closed form:
// F = (g0 + g1 l + g2 v) u + b0 + b1 l + b2 v, and nothing changes it where it is clipped.

#include "common/mj_zoo.h"
#include "common/near.h"

#include <dijoco/dijoco.h>

#include <math.h>

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
  mj_deleteData(d);
  mj_deleteModel(m);
}

// Each term decides whether the force is within its range: in turn without it, it would not be.
static void testTerms(void** state) {
  (void)state;
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

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testTerms)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
