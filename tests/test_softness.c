// Softness = mujoco: contact begins as much deeper as soft_depth of both geoms or of the pair says.

#include "common/make_model.h"
#include "common/scene.h"
#include "common/test.h"

typedef struct Case {
  djGeomType type;         // of a body of .1 m
  djGeomType below;        // on which it lies: a plane, or one on a plane
  double depth[2];         // soft_depth of both
  double pair;             // of an explicit pair with the plane; negative: there is none
  double sinks;            // how much deeper it then lies
} Case;

// How high the last body's centre is above what it lies on, after two seconds.
static double restHeight(const Case* c, djSoftness softness, djContactModel contact) {
  Scene* s = newScene(2);
  int b = 0;
  djPairDef pair = {.geom1 = 0, .geom2 = 1, .condim = 3, .friction = 1, .soft_depth = c->pair};
  addGeom(s, 0, DJ_PLANE, 3, 3, 0.1);
  if (c->below != DJ_PLANE) {
    b = addBody(s, 0, DJ_FREE, 0, 0, 0.05, 1, 0.06);
    addGeom(s, b, c->below, 0.05, 0.05, 0.05)->soft_depth = c->depth[1];
  }
  int top = addBody(s, 0, DJ_FREE, 0, 0, b > 0 ? 0.15 : 0.05, 1, 0.06);
  addGeom(s, top, c->type, 0.05, 0.05, 0.05)->soft_depth = c->depth[0];
  if (c->pair >= 0) s->def.npair = 1;
  s->def.pair = &pair;
  s->def.option.softness = softness;
  s->def.option.contact = contact;
  djModel* m = sceneModel(s);
  djData* d = sceneData(m);
  for (int k = 0; k < 1000; k++) assert_true(dj_step(m, d) >= 0);
  double z = d->xpos[3 * top + 2] - (b > 0 ? d->xpos[3 * b + 2] : 0);
  djt_delete(m, d);
  freeScene(s);
  return z;
}

static void testRest(void) {
  static const Case cases[] = {
      {DJ_SPHERE, DJ_PLANE, {0.02, 0}, -1, 0.02},
      {DJ_BOX, DJ_PLANE, {0.003, 0}, -1, 0.003},
      {DJ_CYLINDER, DJ_PLANE, {0.003, 0}, -1, 0.003},
      {DJ_BOX, DJ_BOX, {0.003, 0.001}, -1, 0.004},      // those of two that move add up
      {DJ_CYLINDER, DJ_BOX, {0.003, 0.002}, -1, 0.005},
      {DJ_SPHERE, DJ_PLANE, {0.02, 0}, 0.005, 0.005},   // the pair's own counts
      {DJ_BOX, DJ_PLANE, {0.001, 0}, 0.005, 0.005},
      {DJ_BOX, DJ_PLANE, {0.004, 0}, 0, 0},
      {DJ_SPHERE, DJ_PLANE, {1, 0}, -1, 0.04},          // no more than .8 of the inner radius
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    double hard = restHeight(&cases[i], DJ_SOFTNESS_HARD, DJ_SEPARATING_PLANE);
    double soft = restHeight(&cases[i], DJ_SOFTNESS_MUJOCO, DJ_SEPARATING_PLANE);
    djt_failIf(!(fabs(hard - soft - cases[i].sinks) < 5e-6), "%zu: sinks by %g, not %g", i,
               hard - soft, cases[i].sinks);
  }
  // Laws with a depth of their own keep that.
  double hertz[2];
  for (int k = 0; k < 2; k++) hertz[k] = restHeight(&cases[0], (djSoftness)k, DJ_IMPLICIT_SURFACE);
  assert_true(hertz[0] == hertz[1]);
}

DJT_MAIN(testRest)
