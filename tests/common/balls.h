// Models of balls of 0.1 m, each on a body of its own.

#ifndef DJ_TESTS_BALLS_H_
#define DJ_TESTS_BALLS_H_

#include "common/make_model.h"

enum { DJT_MAX_BALLS = 4 };

// The first nfree of nball are free, 1 m apart along x; the others are fixed.
static inline djModel* djt_makeBalls(int nball, int nfree) {
  djBodyDef body[DJT_MAX_BALLS + 1];
  djJointDef joint[DJT_MAX_BALLS];
  djGeomDef geom[DJT_MAX_BALLS];
  for (int b = 0; b <= nball; b++) {
    body[b] = dj_defaultBodyDef();
    body[b].mass = 1;
    body[b].inertia[0] = body[b].inertia[1] = body[b].inertia[2] = 0.01;
  }
  for (int i = 0; i < nball; i++) {
    joint[i] = dj_defaultJointDef();
    joint[i].body = i + 1;
    joint[i].type = DJ_FREE;
    joint[i].qpos0[0] = i;
    joint[i].qpos0[3] = joint[i].springref[3] = 1;
    geom[i] = dj_defaultGeomDef();
    geom[i].type = DJ_SPHERE;
    geom[i].body = i + 1;
    geom[i].size[0] = 0.1;
    geom[i].condim = 1;
  }
  djModelDef def = dj_defaultModelDef();
  def.nbody = nball + 1;
  def.njnt = nfree;
  def.ngeom = nball;
  def.body = body;
  def.joint = joint;
  def.geom = geom;
  return djt_makeModel(&def);
}

#endif // DJ_TESTS_BALLS_H_
