// Certificates of the gradient by every kind of parameter, on gymnasium's robots.
//
// Runs of 20 steps of 2 ms with random controls: from states of our own runs, and from states of
// stock MuJoCo's, which overlap and recover. Every geom gets a friction coefficient of its own: of
// two equal ones neither is the larger, and the loss has a kink. See parameters.c for the
// directions, and for what is not smooth.

#include "common/fields.h"
#include "common/robots.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { HORIZON = 20, MAX_SCENE = 24 };

static djIntegrator integrator;   // of all runs

static djModel* openModel(const char* name, const mjModel* m) {
  djError err = {""};
  djModel* model = robot_import(m, &err);
  if (!model) djv_fail("%s: %s", name, err.text);
  djOption option = model->opt;
  option.timestep = 2e-3;
  option.integrator = integrator;
  option.friction_eps = 1e-4;      // with which differences can tell
  option.stiffness_scale = 1e-5;   // likewise
  option.frictionloss_eps = 0.05;
  option.restitution = DJ_RESTITUTION_GIVEN;   // impulses have kinks where two feet land at once
  if (dj_setOption(model, &option, &err) < 0) djv_fail("%s: %s", name, err.text);
  robot_partFrictions(model);
  // Of losses that are 0 the gradient jumps where a dof turns back.
  double *joint = model->jnt_frictionloss, *tendon = model->tendon_frictionloss;
  for (int j = 0; j < model->njnt; j++) joint[j] = fmax(joint[j], 1e-3);
  for (int t = 0; t < model->ntendon; t++) tendon[t] = fmax(tendon[t], 1e-3);
  return model;
}

static void testState(djvReport* r, djvCell cell[DJV_NFIELD], const char* label, djModel* model,
                      const djData* d, djvRandom* random, int single) {
  djvRun run;
  djModel* own;
  if (dj_copyModel(&own, model, NULL) < 0) djv_fail("no copy of the model");
  djv_openRun(&run, own, d, HORIZON);
  djv_testRun(r, cell, label, &run, random, single, 3);
  djv_closeRun(&run);
}

// After `steps` of our own engine under random controls; the first state from then on whose run has
// enough friction.
static void testOwn(djvReport* r, djvCell cell[DJV_NFIELD], const char* name, int steps,
                    int single) {
  mjModel* m = robot_load(name);
  djModel* model = openModel(name, m);
  djData* d = robot_makeData(model);
  djvRandom random = djv_random(3);
  int least = 0;
  for (int k = 0; k < 3000 && least < 5; k++) {
    if (k % 10 == 0) robot_randomCtrl(d->ctrl, m, &random, 0.5);
    dj_step(model, d);
    bool rubs = false;
    for (int i = 0; i < d->npair; i++) rubs = rubs || d->pair[i].normal_force > 1;
    least = k >= steps && rubs ? least + 1 : 0;
  }
  testState(r, cell, name, model, d, &random, single);
  dj_deleteData(d);
  dj_deleteModel(model);
  mj_deleteModel(m);
}

// The first state of a stock run, after `steps`, whose geoms overlap by more than a millimetre.
static void testStock(djvReport* r, djvCell cell[DJV_NFIELD], const char* name, const char* label,
                      int steps, int single) {
  mjModel* m = robot_load(name);
  m->opt.timestep = 2e-3;
  m->opt.integrator = mjINT_EULER;
  djModel* model = openModel(name, m);
  djData* d = robot_makeData(model);
  mjData* stock = mj_makeData(m);
  djvRandom random = djv_random(4);
  bool deep = false;
  for (int k = 0; k < 5000 && !deep; k++) {
    if (k % 10 == 0) robot_randomCtrl(stock->ctrl, m, &random, 1);
    mj_step(m, stock);
    for (int i = 0; i < stock->ncon && k >= steps; i++) {
      deep = deep || stock->contact[i].dist < -1e-3;
    }
  }
  if (!deep) djv_fail("%s: no overlap", name);
  robot_copyState(d, m, stock);
  testState(r, cell, label, model, d, &random, single);
  mj_deleteData(stock);
  dj_deleteData(d);
  dj_deleteModel(model);
  mj_deleteModel(m);
}

int main(int argc, char** argv) {
  static const char* const robots[] = {"hopper", "ant", "half_cheetah", "humanoid", "walker2d"};
  static djvCell cell[MAX_SCENE][DJV_NFIELD];
  static char label[MAX_SCENE][40];
  const char* scene[MAX_SCENE];
  integrator = djv_takeIntegrator(&argc, argv);
  bool quick = djv_isQuick(argc, argv);
  int single = quick ? 0 : 3, n = 0, nrobot = quick ? 4 : 5;
  djvReport report = {0};
  if (!robot_folder()) return DJV_SKIPPED;
  djv_title("Certificates of %d %s steps by every kind of parameter: from our own runs",
            (int)HORIZON, dj_integratorName(integrator));
  for (int k = 0; k < nrobot; k++) {
    scene[n] = robots[k];
    testOwn(&report, cell[n++], robots[k], 100, single);
  }
  djv_title("From states of stock MuJoCo's runs, recovering");
  for (int k = 0; k < nrobot; k++) {
    snprintf(label[n], sizeof label[n], "%.9s rec.", robots[k]);
    scene[n] = label[n];
    testStock(&report, cell[n], robots[k], label[n], 100, single);
    n++;
  }
  djv_printCells(n, scene, cell);
  return djv_finish(&report);
}
