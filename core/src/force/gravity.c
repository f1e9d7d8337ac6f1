// Gravity, less what bodies compensate.

#include "force/force.h"

#include "model/param.h"

// Compensation is a passive force: flags switch it off.
static bool compensates(const djModel* m) {
  int passive_off = DJ_DSBL_SPRING | DJ_DSBL_DAMPER;
  return (m->opt.disable & passive_off) != passive_off;
}

// f = m (1 - c) g, g the acceleration in force.
static void loads(djLoad* load, const djMotion* at) {
  const djModel* m = at->model;
  if (m->opt.disable & DJ_DSBL_GRAVITY) return;
  bool passive = compensates(m);
  djVec3 g = dju_scale3(at->start->gravity_scale, dju_load3(m->opt.gravity));
  for (int b = 0; b < m->nbody; b++) {
    double weight = m->body_mass[b] * (1 - (passive ? m->body_gravcomp[b] : 0));
    load[b].force = dju_madd3(load[b].force, weight, g);
  }
}

static void loadParams(double* param, const djMotion* at, int b, djVec3 u) {
  const djModel* m = at->model;
  if (m->opt.disable & DJ_DSBL_GRAVITY) return;
  bool passive = compensates(m);
  double scale = at->start->gravity_scale, mass = m->body_mass[b];
  double factor = 1 - (passive ? m->body_gravcomp[b] : 0);
  double ug = scale * dju_dot3(u, dju_load3(m->opt.gravity));
  dj_paramBlock(param, m, DJ_FIELD_BODY_MASS)[b] += factor * ug;
  if (passive) dj_paramBlock(param, m, DJ_FIELD_BODY_GRAVCOMP)[b] -= mass * ug;
  double* gravity = dj_paramBlock(param, m, DJ_FIELD_GRAVITY);
  dju_addTo3(gravity, mass * factor * scale, u);
}

// MuJoCo's does not count compensation.
static double potential(const djMotion* at) {
  const djModel* m = at->model;
  if (m->opt.disable & DJ_DSBL_GRAVITY) return 0;
  djVec3 g = dju_scale3(at->start->gravity_scale, dju_load3(m->opt.gravity));
  double sum = 0;
  for (int b = 1; b < m->nbody; b++) sum -= m->body_mass[b] * dju_dot3(g, at->at.kin->com[b]);
  return sum;
}

const djForceRow dj_gravityForce = {.name = "gravity",
                                    .loads = loads,
                                    .load_params = loadParams,
                                    .potential = potential};
