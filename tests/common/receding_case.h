// Tasks whose horizon recedes: a finger on a slide and a hinge that pushes a box over a table.

#ifndef DJ_TESTS_RECEDING_CASE_H_
#define DJ_TESTS_RECEDING_CASE_H_

#include "common/design_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// By the integrator.
static const char djt_pushFormat[] =
    "{'dijoco_model':1,'option':{'timestep':0.01,'integrator':'%s'},"
    "'bodies':[{'name':'world'},"
    "{'name':'box','pos':[0.3,0,0.051],'mass':0.2,'inertia':[4e-4,4e-4,4e-4]},"
    "{'name':'cart','pos':[0,0,0.4],'mass':0.3,'inertia':[0.002,0.003,0.001]},"
    "{'name':'arm','parent':'cart','ipos':[0,0,-0.1],'mass':0.3,'inertia':[0.002,0.003,0.001]}],"
    "'joints':[{'name':'free','type':'free','body':'box'},"
    "{'name':'slide','type':'slide','body':'cart','axis':[1,0,0],'damping':0.1},"
    "{'name':'hinge','type':'hinge','body':'arm','axis':[0,1,0]}],"
    "'geoms':[{'name':'table','type':'plane','body':'world','size':[0,0,1]},"
    "{'name':'box','type':'box','body':'box','size':[0.05,0.05,0.05]},"
    "{'name':'tip','type':'sphere','body':'arm','pos':[0.19,0,-0.33],"
    "'size':[0.05,0,0]}],"
    "'actuators':[{'name':'m0','joint':'slide','ctrllimited':true,"
    "'ctrlrange':[-4,9]},{'name':'m1','joint':'hinge','gear':[0.3,0,0,0,0,0],"
    "'dyn':'filter','tau':0.03}]}";

// Everything but horizon, what varies, and settings.
#define DJT_PUSH_LOSS                                                                              \
  "'initial':{'qpos':[0.3,0,0.051,0.99,0.01,0.02,0.03,0.01,0.1],'qvel':[0.1,0,0,0,0.1,0,"          \
  "0.2,-0.3],'act':[0.4]},"                                                                        \
  "'loss':[{'type':'position','body':'box','target':[0.4,0.05,0.05],'weight':3,"                   \
  "'when':'running'},{'type':'qvel','joint':'hinge'},"                                             \
  "{'type':'effort','weight':1e-3}]"

static inline void djt_openPushTask(DesignCase* c, const char* integrator, const char* task) {
  char scene[sizeof djt_pushFormat + 20];
  snprintf(scene, sizeof scene, djt_pushFormat, integrator);
  djt_openDesign(c, scene, task);
}

static inline void djt_openPushBy(DesignCase* c, const char* integrator, int horizon,
                                  const char* rest) {
  char text[4096];
  snprintf(text, sizeof text, "{'scene':'s','horizon':%d," DJT_PUSH_LOSS ",%s}", horizon, rest);
  djt_openPushTask(c, integrator, text);
}

static inline void djt_openPush(DesignCase* c, int horizon, const char* rest) {
  djt_openPushBy(c, "momentum", horizon, rest);
}

static inline djRecedingRun* djt_recede(const DesignCase* c, const djOptimizer* how,
                                        const djRecedingCallback* callback) {
  djRecedingRun* run;
  djError err = {""};
  if (djd_makeReceding(&run, c->d, how, &err) != DJ_OK) fail_msg("%s", err.text);
  if (djd_receding(run, callback, &err) < 0) fail_msg("%s", err.text);
  return run;
}

static inline void djt_sameBits(const double* a, const double* b, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (memcmp(&a[i], &b[i], sizeof *a) == 0) continue;
    fail_msg("number %zu: %.17g, not %.17g", i, a[i], b[i]);
  }
}

// A rollout of what was executed, in new data, has the states and the loss of the run.
static inline void djt_checkReplay(const DesignCase* c, const djRecedingRun* run) {
  const djModel* m = c->m;
  size_t rows = (size_t)run->next + 1;
  djData* d;
  djTape* tape;
  assert_int_equal(dj_makeData(&d, m, NULL), DJ_OK);
  assert_int_equal(djd_makeTape(&tape, m, run->horizon, NULL), DJ_OK);
  djRollout r = c->d->rollout;
  r.qpos0 = c->p->qpos0, r.qvel0 = c->p->qvel0, r.act0 = c->p->act0, r.ctrl = run->ctrl;
  r.loss_only = true;
  djRolloutResult result = {0};
  assert_true(djd_rolloutForward(&result, m, d, &r, tape) >= 0);
  double* all = calloc((size_t)(run->horizon + 1) * (size_t)m->nq, sizeof *all);
  assert_int_equal(djd_tapeStates(all, NULL, NULL, m, tape), DJ_OK);
  djt_sameBits(all, run->qpos, rows * (size_t)m->nq);
  assert_int_equal(djd_tapeStates(NULL, all, NULL, m, tape), DJ_OK);
  djt_sameBits(all, run->qvel, rows * (size_t)m->nv);
  assert_int_equal(djd_tapeStates(NULL, NULL, all, m, tape), DJ_OK);
  djt_sameBits(all, run->act, rows * (size_t)m->na);
  djt_sameBits(&result.loss, &run->loss, 1);
  double loss;
  assert_true(djd_evaluateDesign(&loss, NULL, c->d, run->x) >= 0);
  djt_sameBits(&loss, &run->loss, 1);
  djt_sameBits(c->d->rollout.ctrl, run->ctrl, (size_t)run->horizon * (size_t)m->nu);
  free(all);
  djd_deleteTape(tape);
  dj_deleteData(d);
}

#endif  // DJ_TESTS_RECEDING_CASE_H_
