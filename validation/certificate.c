// The judge judged: certificates of right gradients and of slightly wrong ones, on random scenes,
// horizons, losses and blocks of variables. No right gradient may be refused (a false alarm), no
// adjoint that is wrong by 1e-6 a step may pass where it goes at least ten steps back (a false ok).
//
// Kinks by exact coincidence have no derivative and are avoided: coefficients of friction differ,
// and no moment of inertia is the sum of the others.

#include "common/blocks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double uniform(djvRandom* random, double low, double high) {
  return djv_uniform(random, low, high);
}

static void setInertia(djBodyDef* b, djvRandom* random) {
  double s[3];
  b->mass = uniform(random, 0.3, 2);
  for (int k = 0; k < 3; k++) {
    s[k] = b->mass * uniform(random, 0.002, 0.01);
    b->ipos[k] = uniform(random, -0.05, 0.05);
  }
  for (int k = 0; k < 3; k++) b->inertia[k] = s[(k + 1) % 3] + s[(k + 2) % 3];
  djv_randomQuat(random, b->iquat);
}

static void addActuator(djvScene* s, int joint, double gear, djvRandom* random) {
  djActuatorDef* a = &s->actuator[s->def.nu++];
  *a = dj_defaultActuatorDef();
  a->joint = joint;
  a->gear[0] = gear;
  a->gainprm[0] = uniform(random, 0.5, 2);
  if (djv_integer(random, 0, 2) == 0) {
    a->dyn = DJ_DYN_FILTER;
    a->tau = uniform(random, 0.05, 0.3);
  }
  if (djv_integer(random, 0, 1) == 0) {
    a->bias = DJ_BIAS_AFFINE;
    a->biasprm[1] = uniform(random, -2, 0);
    a->biasprm[2] = uniform(random, -0.2, 0);
  }
}

// Half of the lengths are 0, as in most scenes that people write.
static void place(double pos[3], djvRandom* random, double size) {
  bool zero = djv_integer(random, 0, 1) == 0;
  for (int k = 0; k < 3; k++) pos[k] = zero ? 0 : uniform(random, -size, size);
}

static djGeomDef* addShape(djvScene* s, int body, djvRandom* random) {
  static const djGeomType types[] = {DJ_SPHERE, DJ_SPHERE, DJ_CAPSULE, DJ_BOX, DJ_MESH,
                                     DJ_CYLINDER, DJ_ELLIPSOID};
  djGeomType type = types[djv_integer(random, 0, 6)];
  double size[3], pos[3], quat[4];
  for (int k = 0; k < 3; k++) size[k] = uniform(random, 0.05, 0.12);
  place(pos, random, 0.03);
  djv_randomQuat(random, quat);
  djGeomDef* g;
  if (type == DJ_MESH) {
    djvHull hull;
    djv_makeHull(&hull, random, 12);
    djv_scaleHull(&hull, &hull, size);
    g = djv_addHull(s, body, &hull, pos, quat);
  } else {
    g = djv_addGeom(s, body, type, size, pos, quat);
  }
  g->friction[0] = uniform(random, 0.3, 0.9);
  return g;
}

// ------------------------------------------ scenes ---------------------------------------------

// Joints with all that acts on them; nothing collides.
static void makeTree(djvScene* s, djvRandom* random) {
  int n = djv_integer(random, 1, 5);
  for (int b = 1; b <= n; b++) {
    double at[3];
    place(at, random, 0.4);
    bool top = b == 1 || djv_integer(random, 0, 4) == 0;
    if (top && djv_integer(random, 0, 3) == 0) {
      double quat[4];
      djv_randomQuat(random, quat);
      setInertia(&s->body[djv_addFree(s, at, quat)], random);
      memcpy(s->joint[s->def.njnt - 1].qpos0, at, sizeof at);
      memcpy(s->joint[s->def.njnt - 1].qpos0 + 3, quat, sizeof quat);
      continue;
    }
    int body = djv_addBody(s, top ? 0 : djv_integer(random, 1, b - 1), at);
    setInertia(&s->body[body], random);
    bool ball = djv_integer(random, 0, 3) == 0;
    for (int k = ball ? 1 : djv_integer(random, 1, 2); k > 0; k--) {
      double axis[3];
      for (int i = 0; i < 3; i++) axis[i] = uniform(random, i < 2 ? -1 : 0.3, 1);
      djJointType type = ball ? DJ_BALL : djv_integer(random, 0, 3) ? DJ_HINGE : DJ_SLIDE;
      djJointDef* j = &s->joint[djv_addJoint(s, body, type, axis)];
      place(j->pos, random, 0.2);
      if (ball) j->qpos0[0] = j->springref[0] = 1;
      j->armature = 0.02;
      if (djv_integer(random, 0, 1)) j->damping = uniform(random, 0.01, 0.3);
      if (djv_integer(random, 0, 1)) j->stiffness = uniform(random, 0.1, 20);
      if (djv_integer(random, 0, 2) == 0) j->frictionloss = uniform(random, 0.01, 0.3);
      if (djv_integer(random, 0, 2) == 0) {
        j->limited = true;
        j->range[0] = ball ? 0 : uniform(random, -0.3, -0.02);
        j->range[1] = uniform(random, 0.02, 0.3);
      }
      double gear = uniform(random, 0.5, 2);
      if (djv_integer(random, 0, 1)) addActuator(s, s->def.njnt - 1, gear, random);
    }
  }
}

// Bodies thrown at a floor, and at each other.
static void makeThrow(djvScene* s, djvRandom* random) {
  djGeomDef* floor = djv_addFloor(s);
  floor->friction[0] = uniform(random, 0.2, 0.6);
  int n = djv_integer(random, 1, 3);
  for (int b = 0; b < n; b++) {
    double quat[4], at[3] = {0, 0, 0.22 + 0.3 * b};
    for (int k = 0; k < 2; k++) at[k] = uniform(random, -0.05, 0.05);
    djv_randomQuat(random, quat);
    int body = djv_addFree(s, at, quat);
    djJointDef* j = &s->joint[s->def.njnt - 1];
    memcpy(j->qpos0, at, sizeof at);
    memcpy(j->qpos0 + 3, quat, sizeof quat);
    addShape(s, body, random);
    setInertia(&s->body[body], random);
    for (int k = 0; k < 3; k++) s->body[body].ipos[k] *= 0.2;
  }
}

// Two bodies in the void, of which one hits the other, or just misses where it is moved a little.
static void makeBilliard(djvScene* s, djvRandom* random) {
  s->def.option.gravity[2] = djv_integer(random, 0, 1) ? 0 : -1;
  for (int b = 0; b < 2; b++) {
    double size[3] = {uniform(random, 0.05, 0.1)};
    double quat[4], at[3] = {0, 0, 0};
    if (b) at[0] = uniform(random, 0.2, 0.24);
    if (b) at[1] = uniform(random, 0, 0.05);
    djv_randomQuat(random, quat);
    int body = djv_addFree(s, at, quat);
    djJointDef* j = &s->joint[s->def.njnt - 1];
    memcpy(j->qpos0, at, sizeof at);
    memcpy(j->qpos0 + 3, quat, sizeof quat);
    djGeomDef* g = djv_integer(random, 0, 1) ? djv_addGeom(s, body, DJ_SPHERE, size, NULL, NULL)
                                             : addShape(s, body, random);
    g->friction[0] = uniform(random, 0.3, 0.9);
    setInertia(&s->body[body], random);
    for (int k = 0; k < 3; k++) s->body[body].ipos[k] *= 0.1;
  }
}

// A limb with motors that hits and pushes a body on the floor.
static void makeArm(djvScene* s, djvRandom* random) {
  makeThrow(s, random);
  int parent = 0;
  for (int k = 0; k < djv_integer(random, 1, 3); k++) {
    double at[3] = {k ? 0.3 : -0.5, 0, k ? 0 : 0.15};
    int body = djv_addBody(s, parent, at);
    double axis[3] = {0, k ? 1 : 0.1, k ? 0 : 1};
    djJointDef* j = &s->joint[djv_addJoint(s, body, DJ_HINGE, axis)];
    j->damping = uniform(random, 0.01, 0.1);
    j->armature = 0.01;
    addActuator(s, s->def.njnt - 1, uniform(random, 0.5, 3), random);
    double size[3] = {0.03, 0.13, 0}, quat[4] = {sqrt(0.5), 0, sqrt(0.5), 0}, pos[3] = {0.15, 0, 0};
    djGeomDef* g = djv_addGeom(s, body, DJ_CAPSULE, size, pos, quat);
    g->friction[0] = uniform(random, 0.3, 0.9);
    setInertia(&s->body[body], random);
    s->body[body].ipos[0] += 0.15;
    parent = body;
  }
}

typedef struct Family {
  const char* name;
  void (*make)(djvScene*, djvRandom*);
} Family;

enum { TREES, THROWS, ARMS, BILLIARDS, NFAMILY, EACH = 8 };
static const Family families[NFAMILY] = {[TREES] = {"trees", makeTree},
                                         [THROWS] = {"throws", makeThrow},
                                         [ARMS] = {"arms", makeArm},
                                         [BILLIARDS] = {"billiards", makeBilliard}};

static void randomState(djData* d, const djModel* m, djvRandom* random, int family) {
  for (int j = 0; j < m->njnt; j++) {
    double *q = d->qpos + m->jnt_qposadr[j], *v = d->qvel + m->jnt_dofadr[j];
    if (m->jnt_type[j] == DJ_HINGE || m->jnt_type[j] == DJ_SLIDE) {
      q[0] += family == ARMS ? uniform(random, -0.3, 0.3) : uniform(random, -0.2, 0.2);
      v[0] = uniform(random, -2, 2);
      continue;
    }
    for (int k = 0; k < (m->jnt_type[j] == DJ_BALL ? 3 : 6); k++) v[k] = uniform(random, -2, 2);
    if (m->jnt_type[j] == DJ_FREE && family != TREES) v[2] = uniform(random, -3, -0.5);
    if (family != BILLIARDS) continue;
    v[1] = v[2] = 0;
    v[0] = j ? uniform(random, -3, -1) : uniform(random, 0, 1);
  }
  for (int k = 0; k < m->nu; k++) d->ctrl[k] = uniform(random, -1, 1);
}

static void testScene(djvTally* tally, int family, djvRandom* random) {
  static djvScene scene;
  static const double timesteps[] = {0.002, 0.005, 0.01};
  djv_startScene(&scene, timesteps[djv_integer(random, 0, 2)]);
  // Limits and losses of euler have corners that differences meet unseen.
  scene.def.option.integrator = djv_integer(random, 0, 1) ? DJ_VARIATIONAL : DJ_POSITION;
  families[family].make(&scene, random);
  djModel* m;
  djData* d;
  djv_make(&m, &d, &scene);
  randomState(d, m, random, family);
  int before = djv_integer(random, 0, 30);
  if (family == TREES || family == BILLIARDS) before = 0;
  for (int k = 0; k < before; k++) dj_step(m, d);
  djv_certifyBlocks(tally, families[family].name, m, d, random, EACH);
  dj_deleteData(d);
  dj_deleteModel(m);
}

int main(int argc, char** argv) {
  const char* names[NFAMILY];
  for (int k = 0; k < NFAMILY; k++) names[k] = families[k].name;
  return djv_judgeBlocks(argc, argv, names, NFAMILY, 60, 1000, testScene);
}
