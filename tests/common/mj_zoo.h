// Scenes with every kind of joint and sensor, and random states, for tests of djm_*.

#ifndef DJ_TESTS_MJ_ZOO_H_
#define DJ_TESTS_MJ_ZOO_H_

#include "common/mjcf.h"
#include "common/near.h"
#include "common/random_model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// A free body that carries an arm (ball, hinge, slide), a fixed pendulum, a mocap body, a floor.
// Sensors of all types of mjtSensor that are built in, but tactile and plugins.
#define DJT_ZOO_BODIES                                                                            \
  "<option timestep='0.002'/><compiler autolimits='true'/>"                                       \
  "<worldbody><geom name='floor' type='plane' size='5 5 .1'/>"                                    \
  "<site name='world' pos='.3 -.2 .5' euler='20 30 40'/>"                                         \
  "<camera name='eye' pos='0 -3 1' xyaxes='1 0 0 0 .3 1'/>"                                       \
  "<body name='puck' mocap='true' pos='1.5 0 .2' euler='10 20 0'><geom name='puck' size='.05' "   \
  "contype='0' conaffinity='0'/><site name='puck'/></body>"                                       \
  "<body name='base' pos='0 0 .1'><freejoint name='root'/>"                                       \
  "<geom name='base' type='box' size='.2 .15 .1' pos='.01 .02 0' euler='0 0 20' mass='2'/>"       \
  "<site name='base' pos='.1 .05 .08' euler='10 -20 60'/>"                                        \
  "<site name='foot' pos='0 0 -.08' size='.3 .3 .1' type='box'/>"                                 \
  "<body name='link' pos='.1 0 .15' euler='5 0 10'><joint name='ball' type='ball' damping='.1'/>" \
  "<geom name='link' type='capsule' fromto='0 0 0 .3 0 .05' size='.04' mass='.7'/>"               \
  "<site name='link' pos='.1 .02 .03' euler='30 5 -40'/>"                                         \
  "<body name='tip' pos='.3 0 .05'><joint name='hinge' axis='0 1 .2' range='-90 90' "             \
  "damping='.05'/><joint name='slide' type='slide' axis='1 0 0' damping='.3' stiffness='20'/>"    \
  "<geom name='tip' type='capsule' fromto='0 0 0 .2 .05 0' size='.03' mass='.4'/>"                \
  "<site name='tip' pos='.1 0 .02' euler='-20 15 70'/></body></body></body>"                      \
  "<body name='pole' pos='-1 0 .8'><joint name='swing' axis='1 1 0' damping='.02' "               \
  "armature='.01'/><geom name='pole' type='capsule' fromto='0 0 0 0 .1 -.3' size='.03' "          \
  "mass='.5'/><site name='pole' pos='0 0 -.2'/></body></worldbody>"                               \
  "<tendon><fixed name='tendon' range='-2 2'><joint joint='hinge' coef='.5'/><joint "             \
  "joint='swing' coef='-1.5'/></fixed></tendon>"                                                  \
  "<actuator><motor name='motor' joint='hinge' gear='2' ctrlrange='-1 1'/>"                       \
  "<position name='servo' joint='swing' kp='3' kv='.2' forcerange='-2 2'/>"                       \
  "<general name='filter' joint='slide' dyntype='filter' dynprm='.05' gainprm='3 .2 -.1' "        \
  "gaintype='affine' biastype='affine' biasprm='.1 -.2 -.05'/>"                                   \
  "<general name='exact' joint='hinge' dyntype='filterexact' dynprm='.03' gainprm='1.5' "         \
  "actearly='true'/><general name='integrator' joint='swing' dyntype='integrator' "               \
  "actrange='-1 1' gainprm='.7' actearly='true'/>"                                                \
  "<motor name='turn' joint='ball' gear='.1 .2 .3'/><general name='early' joint='slide' "         \
  "dyntype='filter' dynprm='.03' gainprm='1 .8 .5' gaintype='affine' actearly='true'/></actuator>"

#define DJT_OBJECT(type, name) "objtype='" type "' objname='" name "'"
#define DJT_REF(type, name) "reftype='" type "' refname='" name "'"

#define DJT_FRAMES(object, ref)                                                                   \
  "<framepos " object " " ref "/><framequat " object " " ref "/><framexaxis " object " " ref "/>" \
  "<frameyaxis " object " " ref "/><framezaxis " object " " ref "/><framelinvel " object " " ref  \
  "/><frameangvel " object " " ref "/>"

// Those with a derivative by formula.
#define DJT_ZOO_ANALYTIC                                                                          \
  "<touch site='foot'/><framelinvel " DJT_OBJECT("site", "tip") " " DJT_REF("geom", "pole") "/>"   \
  "<actuatorfrc actuator='early'/><velocimeter site='tip'/><gyro site='link'/>"                   \
  "<magnetometer site='tip'/>"                                                                    \
  "<velocimeter site='base'/><gyro site='base' cutoff='.4'/><jointpos joint='hinge'/>"            \
  "<jointpos joint='slide' cutoff='.01'/><jointvel joint='swing'/><tendonpos tendon='tendon'/>"   \
  "<tendonvel tendon='tendon'/><actuatorpos actuator='motor'/><actuatorvel actuator='filter'/>"   \
  "<actuatorfrc actuator='motor'/><actuatorfrc actuator='servo'/><actuatorfrc "                   \
  "actuator='filter'/><actuatorfrc actuator='exact'/><actuatorfrc actuator='integrator'/>"        \
  "<ballquat joint='ball'/><ballangvel joint='ball'/>" DJT_FRAMES(DJT_OBJECT("xbody", "tip"), "") \
  DJT_FRAMES(DJT_OBJECT("body", "base"), "") DJT_FRAMES(DJT_OBJECT("geom", "link"), "")           \
  DJT_FRAMES(DJT_OBJECT("site", "tip"), DJT_REF("site", "link"))                                  \
  DJT_FRAMES(DJT_OBJECT("site", "world"), DJT_REF("body", "tip"))                                 \
  DJT_FRAMES(DJT_OBJECT("geom", "pole"), DJT_REF("xbody", "base"))                                \
  DJT_FRAMES(DJT_OBJECT("site", "puck"), DJT_REF("geom", "tip"))                                  \
  "<subtreecom body='base'/><subtreecom body='link'/><subtreelinvel body='base'/>"                \
  "<subtreelinvel body='world'/><subtreelinvel body='tip'/><clock/>"

// And those without.
#define DJT_ZOO_OTHER                                                                             \
  "<accelerometer site='tip'/><accelerometer site='base'/><force site='link'/><torque "           \
  "site='tip'/><framelinacc " DJT_OBJECT("xbody", "link") "/><frameangacc "                       \
  DJT_OBJECT("body", "tip") "/><subtreeangmom body='base'/><actuatorpos actuator='turn'/>"        \
  "<jointactuatorfrc joint='hinge'/><jointlimitpos joint='hinge'/><jointlimitvel "                \
  "joint='hinge'/><tendonlimitpos tendon='tendon'/><rangefinder site='pole'/><distance "          \
  "geom1='tip' geom2='pole' cutoff='5'/><normal geom1='tip' geom2='pole' cutoff='5'/>"            \
  "<e_potential/><e_kinetic/><camprojection site='tip' camera='eye'/>"                            \
  "<contact geom1='base' data='force' reduce='netforce'/>"

#define DJT_ZOO                                                                                   \
  "<mujoco>" DJT_ZOO_BODIES "<sensor>" DJT_ZOO_ANALYTIC DJT_ZOO_OTHER "</sensor></mujoco>"

static inline djmContext* djt_context(const mjModel* m) {
  djmContext* context;
  djError err;
  if (djm_makeContext(&context, NULL, m, &err) != DJ_OK) fail_msg("%s", err.text);
  return context;
}

// Change one option of the context's model.
static inline void djt_tolerance(djmContext* c, double tolerance) {
  djError err;
  djOption option = djm_model(c)->opt;
  option.tolerance = tolerance;
  if (dj_setOption(djm_model(c), &option, &err) != DJ_OK) fail_msg("%s", err.text);
}

// A state by random displacements of the present one, velocities, activations, controls, forces.
static inline void djt_shake(mjData* d, djRng* rng, const mjModel* m, double angle,
                             double speed) {
  mjtNum* v = calloc((size_t)m->nv + 1, sizeof(*v));
  for (int i = 0; i < m->nv; i++) v[i] = djt_uniform(rng, -angle, angle);
  mj_integratePos(m, d->qpos, v, 1);
  for (int i = 0; i < m->nv; i++) d->qvel[i] = djt_uniform(rng, -speed, speed);
  for (int i = 0; i < m->na; i++) d->act[i] = djt_uniform(rng, -0.5, 0.5);
  for (int i = 0; i < m->nu; i++) d->ctrl[i] = djt_uniform(rng, -0.9, 0.9);
  for (int i = 0; i < m->nv; i++) d->qfrc_applied[i] = djt_uniform(rng, -0.1, 0.1);
  for (int i = 6; i < 6 * m->nbody; i++) d->xfrc_applied[i] = djt_uniform(rng, -0.1, 0.1);
  free(v);
}

// State and inputs of a scene with the same bodies.
static inline void djt_copyState(mjData* to, const mjData* d, const mjModel* m) {
  to->time = d->time;
  mju_copy(to->qpos, d->qpos, (int)m->nq);
  mju_copy(to->qvel, d->qvel, (int)m->nv);
  mju_copy(to->act, d->act, (int)m->na);
  mju_copy(to->ctrl, d->ctrl, (int)m->nu);
  mju_copy(to->qfrc_applied, d->qfrc_applied, (int)m->nv);
  mju_copy(to->xfrc_applied, d->xfrc_applied, 6 * (int)m->nbody);
}

// A gymnasium robot.
static inline mjModel* djt_robot(const char* name) {
  char path[1000], error[1000] = "";
  snprintf(path, sizeof(path), "%s/%s.xml", djt_robotFolder(), name);
  mjModel* m = mj_loadXML(path, NULL, error, sizeof(error));
  if (!m) fail_msg("%s: %s", path, error);
  return m;
}

#endif  // DJ_TESTS_MJ_ZOO_H_
