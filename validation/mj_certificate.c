// The judge judged on gymnasium's robots: see certificate.c. Every geom gets a friction coefficient
// of its own: of two equal ones neither is the larger, and the loss has a kink.

#include "common/blocks.h"
#include "common/robots.h"

#include <stdio.h>
#include <string.h>

static const char* const robots[] = {"walker2d", "hopper", "half_cheetah", "ant", "humanoid",
                                     "swimmer", "reacher", "inverted_double_pendulum"};
enum { NROBOT = sizeof robots / sizeof robots[0], EACH = 8 };

static djModel* openModel(const char* name, const mjModel* m, djvRandom* random) {
  djError err = {""};
  djModel* model = robot_import(m, &err);
  if (!model) djv_fail("%s: %s", name, err.text);
  djOption option = model->opt;
  if (djv_integer(random, 0, 1)) option.timestep = 2e-3;
  if (djv_integer(random, 0, 1)) option.integrator = DJ_VARIATIONAL;
  if (dj_setOption(model, &option, &err) < 0) djv_fail("%s: %s", name, err.text);
  robot_partFrictions(model);
  return model;
}

// From a state of our own run under random controls.
static void testRobot(djvTally* tally, int robot, djvRandom* random) {
  const char* name = robots[robot];
  mjModel* m = robot_load(name);
  djModel* model = openModel(name, m, random);
  djData* d = robot_makeData(model);
  for (int k = djv_integer(random, 0, 150); k >= 0; k--) {
    if (k % 10 == 0) robot_randomCtrl(d->ctrl, m, random, 0.5);
    dj_step(model, d);
  }
  djv_certifyBlocks(tally, name, model, d, random, EACH);
  dj_deleteData(d);
  dj_deleteModel(model);
  mj_deleteModel(m);
}

int main(int argc, char** argv) {
  if (!robot_folder()) return DJV_SKIPPED;
  return djv_judgeBlocks(argc, argv, robots, NROBOT, 40, 500, testRobot);
}
