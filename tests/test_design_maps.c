// What maps and connections do to a whole design: controls that are computed take the place of
// those that are given, a cage moves every kind of element inside it and none outside, and a place
// that both ends of a connection share cancels.

#include "common/design_case.h"
#include "common/test.h"

#include <dijoco/dijoco.h>

static const char scene[] =
    "{'dijoco_model':1,'bodies':[{'name':'world'},"
    "{'name':'hand','pos':[1,0,1],'mass':1,'inertia':[0.02,0.03,0.04]},"
    "{'name':'finger','parent':'hand','pos':[0.1,0,-0.4],'mass':0.2,"
    "'inertia':[0.002,0.002,0.001]}],"
    "'joints':[{'name':'swing','type':'hinge','body':'hand','axis':[0,1,0]},"
    "{'name':'bend','type':'hinge','body':'finger','axis':[1,0,0]}],"
    "'meshes':[{'name':'block','vert':[[-0.1,-0.1,-0.1],[0.1,-0.1,-0.1],[-0.1,0.1,-0.1],"
    "[0.1,0.1,-0.1],[-0.1,-0.1,0.1],[0.1,-0.1,0.1],[-0.1,0.1,0.1],[0.1,0.1,0.1]]}],"
    "'geoms':[{'name':'palm','type':'sphere','body':'hand','pos':[0.2,0.1,-0.1],"
    "'size':[0.02,0,0]},"
    "{'name':'head','type':'mesh','mesh':'block','body':'hand','pos':[0,0,-0.3]},"
    "{'name':'grip','type':'capsule','body':'hand','pos':[0,0.1,-0.2],"
    "'size':[0.02,0.05,0]},"
    "{'name':'far','type':'sphere','body':'hand','pos':[0,0,0.8],"
    "'size':[0.02,0,0]},"
    "{'name':'nail','type':'sphere','body':'finger','size':[0.03,0,0]}],"
    "'sites':[{'name':'tip','body':'hand','pos':[0.02,0,-0.35]},"
    "{'name':'end','body':'finger','pos':[0.02,0,-0.1]}],"
    "'actuators':[{'name':'m0','joint':'swing','ctrllimited':true,"
    "'ctrlrange':[-2,6]},{'name':'m1','joint':'bend'}]}";

// more: keys of the task.
static void makeCase(DesignCase* c, const char* more) {
  char text[4096];
  snprintf(text, sizeof text, "{'scene':'s','horizon':4,%s}", more);
  djt_openDesign(c, scene, text);
}

// The effort tells what the controls are: what a map computes, else what is given.
static void testControls(void) {
  static const char rest[] = "'ctrl':[0.3,0.7],'loss':[{'type':'effort'}]";
  static const struct {
    const char* keys;
    double first, second;   // controls of every step
  } list[] = {
      {"'variables':[]", 0.3, 0.7},
      {"'free':{'z':{'value':[0.4,-0.2]}},'maps':[{'type':'tanh','from':'z',"
       "'hold':4}]",
       2 + 4 * 0.37994896225522488, -0.19737532022490401},
      {"'free':{'z':{'value':[0.4,0.4]}},'maps':[{'type':'spline','from':'z',"
       "'actuator':'m1'}]",
       0.3, 0.4},
      {"'free':{'z':{'value':[0.5]}},'maps':[{'type':'spline','from':'z',"
       "'actuator':'m0'}]",
       0.5, 0.7},
      {"'free':{'z':{'value':[1,2,1,2,1,2,1,2]}},'maps':[{'type':'shared',"
       "'from':'z','to':'ctrl'}]",
       1, 2},
      {"'free':{'z':{'value':[1,2,1,2,1,2,1,2]}},'maps':[{'type':'affine',"
       "'from':'z','to':'ctrl'}]",
       1, 2},
  };
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
    DesignCase c;
    char text[1000];
    snprintf(text, sizeof text, "%s,%s", rest, list[i].keys);
    makeCase(&c, text);
    double loss, a = list[i].first, b = list[i].second;
    assert_int_equal(djd_evaluateDesign(&loss, NULL, c.d, c.d->x0), DJ_OK);
    double expected = 4 * c.m->opt.timestep * (a * a + b * b);
    assert_true(fabs(loss - expected) < 1e-12 * expected);
    djt_closeDesign(&c);
  }
}

// The norm of controls, after every second step.
static void testEffortNorm(void) {
  static const double tolerance[] = {0.1, 0.6};   // |u| is 0.5
  for (int i = 0; i < 2; i++) {
    DesignCase c;
    char more[300];
    double loss, grad[8];
    snprintf(more, sizeof more,
             "'ctrl':[0.3,0.4],'loss':[{'type':'effort','norm':true,'weight':3,"
             "'tolerance':%g,'when':{'every':2}}],'variables':[{'name':'ctrl'}]",
             tolerance[i]);
    makeCase(&c, more);
    assert_int_equal(djd_evaluateDesign(&loss, grad, c.d, c.d->x0), DJ_OK);
    assert_true(fabs(loss - (i ? 0 : 2 * 3 * (0.5 - 0.1))) < 1e-14);
    for (int k = 0; k < 8; k++) {
      double slope = i == 0 && k / 2 % 2 == 1 ? 3 * (k % 2 ? 0.8 : 0.6) : 0;
      assert_true(fabs(grad[k] - slope) < 1e-14);
    }
    djError err;
    int n;
    djt_refused(DJ_UNSUPPORTED, djd_countResiduals(&n, c.d, &err), err,
                "loss[0]: a norm is no square");
    djt_closeDesign(&c);
  }
}

// All corners move alike: so does what is inside.
static void testCageMoves(void) {
  DesignCase c;
  double x[24];
  makeCase(&c, "'loss':[],'free':{'c':{'value':[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,"
               "0]}},'maps':[{'type':'cage','from':'c','body':'hand','box':"
               "[[-0.3,-0.3,-0.6],[0.3,0.3,0]]}],'variables':[{'name':'c'}]");
  const djModel *m = c.m, *moved = c.d->model;
  for (int k = 0; k < 24; k++) x[k] = 0.01 * (k % 3 + 1);
  assert_int_equal(djd_moveDesign(c.d, x), DJ_OK);
  for (int k = 0; k < 3; k++) {
    double u = 0.01 * (k + 1);
    // The palm and the grip move, the head by its vertices, the far geom and the nail not.
    static const int inside[] = {1, 0, 1, 0, 0};
    for (int g = 0; g < 5; g++) {
      double by = moved->geom_pos[3 * g + k] - m->geom_pos[3 * g + k];
      assert_true(fabs(by - (inside[g] ? u : 0)) < 1e-15);
    }
    for (int v = 0; v < 8; v++) {
      assert_true(fabs(moved->mesh_vert[3 * v + k] - m->mesh_vert[3 * v + k] - u) < 1e-15);
    }
    assert_true(fabs(moved->site_pos[k] - m->site_pos[k] - u) < 1e-15);
    assert_true(moved->site_pos[3 + k] == m->site_pos[3 + k]);
    assert_true(moved->body_pos[3 + k] == m->body_pos[3 + k]);
    assert_true(fabs(moved->body_pos[6 + k] - m->body_pos[6 + k] - u) < 1e-15);
  }
  djt_closeDesign(&c);
}

// Two vertices of one geom: its place does not matter, theirs do, with opposite signs.
static void testSharedPlace(void) {
  DesignCase c;
  makeCase(&c, "'loss':[],'connect':[{'a':{'geom':'head','vertex':7},"
               "'b':{'geom':'head','vertex':2}}],"
               "'variables':[{'name':'geom/head/pos'},{'name':'mesh/block/vert'}]");
  const djDesign* d = c.d;
  assert_int_equal(d->nequal, 3);
  assert_int_equal(d->n, 27);
  for (int r = 0; r < 3; r++) {
    for (int k = 0; k < 3; k++) assert_true(djt_equal(d, r, k) == 0);
    for (int k = 0; k < 24; k++) {
      double right = k == 3 * 7 + r ? 1 : k == 3 * 2 + r ? -1 : 0;
      assert_true(fabs(djt_equal(d, r, 3 + k) - right) < 1e-15);
    }
    double apart = c.m->mesh_vert[3 * 7 + r] - c.m->mesh_vert[3 * 2 + r];
    assert_true(fabs(d->value[r] - apart) < 1e-15);
  }
  djt_closeDesign(&c);
}

DJT_MAIN(testControls, testEffortNorm, testCageMoves, testSharedPlace)
