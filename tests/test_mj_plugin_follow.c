// The plugin follows changes of the model: from any changed field a data that was made before goes
// on as one that is made afterwards does.

#include "common/mjcf.h"
#include "common/test.h"

#include <dijoco/mujoco.h>

// Everything that the fields below are about acts: sliding contact by geoms and by a pair, a joint
// at its limit with friction, springs, dampers, drag, compensation, actuators in their clips.
static const char kScene[] =
    "<mujoco><extension><plugin plugin='dijoco.contact'><instance name='dj'/></plugin></extension>"
    "<option density='2' viscosity='.01' wind='1 0 0'><flag contact='disable'/></option><worldbody>"
    "<geom name='floor' type='plane' size='5 5 1' friction='.2' margin='.001' condim='1'/>"
    "<body name='box' pos='0 0 .1'><joint type='free' damping='.1' armature='.02' "
    "frictionloss='.03'/><geom name='box' type='box' size='.1 .1 .1' friction='.1' condim='3' "
    "conaffinity='0'/></body>"
    "<body name='puck' pos='1 0 .1'><joint type='free'/><geom name='puck' type='box' "
    "size='.1 .1 .1' contype='0' conaffinity='0'/></body>"
    "<body name='arm' pos='0 2 1' quat='1 .1 .2 .3' gravcomp='.3'><joint name='hinge' axis='0 1 "
    ".2' pos='.01 .02 .03' limited='true' range='-90 .5' margin='.01' damping='.2 .1 .1' "
    "stiffness='2 1 1' springref='20' ref='1' armature='.1' frictionloss='.05' "
    "solreflimit='.05 .9' solimplimit='.8 .9 .01'/><inertial pos='.1 .05 0' quat='1 .1 0 0' "
    "mass='1' diaginertia='.05 .04 .03'/><geom name='rod' type='capsule' size='.03 .1' contype='0' "
    "conaffinity='0'/><body name='hand' pos='.2 0 0'><joint name='ball' type='ball' damping='.01' "
    "stiffness='.1'/><geom type='box' size='.05 .03 .02' contype='0' "
    "conaffinity='0'/></body></body>"
    "<body name='cart' pos='0 4 1'><joint name='slide' type='slide' axis='1 0 0' "
    "actuatorfrclimited='true' actuatorfrcrange='-1 1'/><geom size='.1' contype='0' "
    "conaffinity='0'/></body><body pos='0 6 1'><joint name='rail' type='slide' axis='1 0 0'/><geom "
    "size='.1' contype='0' conaffinity='0'/></body></worldbody><contact><pair geom1='floor' "
    "geom2='puck' "
    "friction='.2 .2 0 0 0' margin='.002' condim='3'/></contact><actuator><general joint='hinge' "
    "gear='2' gaintype='affine' gainprm='1 .2 .1' biastype='affine' biasprm='.1 -.2 -.3' "
    "ctrllimited='true' ctrlrange='-1 .5' forcelimited='true' forcerange='-3 .4' armature='.05' "
    "damping='.1 .2 .3'/><general joint='rail' dyntype='filter' actearly='true' dynprm='.1' "
    "gainprm='2' actlimited='true' actrange='-1 .45'/><motor joint='slide' gear='3'/><motor "
    "joint='rail' ctrllimited='true' ctrlrange='-1 .3'/></actuator></mujoco>";

static int entriesOf(const mjModel* m, const char* count, int width) {
  const struct {
    const char* name;
    mjtSize n;
  } counts[] = {{"nbody", m->nbody}, {"njnt", m->njnt}, {"nq", m->nq}, {"nv", m->nv},
                {"ngeom", m->ngeom}, {"npair", m->npair}, {"nactuator", m->nactuator},
                {"nout", m->nout}, {"nu", m->nu}};
  for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
    if (strcmp(counts[i].name, count) == 0) return width * (int)counts[i].n;
  }
  fail_msg("%s", count);
  return 0;
}

// A field and what is added to one of its entries (`on`: toggled, or set to 3).
typedef struct Field {
  const char* name;
  size_t offset;
  char kind;                // n: mjtNum, i: int, b: byte
  const char* count;
  int width, entry;
  double add;
} Field;

#define NUM(field, count, width, entry, add) \
  {#field, offsetof(mjModel, field), 'n', #count, width, entry, add}
#define INT(field, count, entry, add) {#field, offsetof(mjModel, field), 'i', #count, 1, entry, add}
#define BIT(field, count, entry) {#field, offsetof(mjModel, field), 'b', #count, 1, entry, 0}
// bodies 1 box, 2 puck, 3 arm, 4 hand, 5 cart; joints 2 hinge, 3 ball, 4 slide, 5 rail; geoms
// 1 box, 2 puck; dofs 12 hinge, 13 ball, 16 slide; qpos 14 hinge, 15 ball, 19 slide
static const Field fields[] = {
    NUM(body_pos, nbody, 3, 12, .05),        NUM(body_quat, nbody, 4, 17, .1),
    NUM(body_ipos, nbody, 3, 9, .05),        NUM(body_iquat, nbody, 4, 14, .3),
    NUM(body_mass, nbody, 1, 3, .5),         NUM(body_inertia, nbody, 3, 10, .01),
    NUM(body_gravcomp, nbody, 1, 3, .3),     NUM(jnt_pos, njnt, 3, 6, .05),
    NUM(jnt_axis, njnt, 3, 6, .3),           NUM(jnt_stiffness, njnt, 1, 2, 3),
    NUM(jnt_stiffnesspoly, njnt, mjNPOLY, 4, 3), NUM(jnt_range, njnt, 2, 5, -.2),
    BIT(jnt_limited, njnt, 2),               NUM(jnt_margin, njnt, 1, 2, .05),
    NUM(jnt_solref, njnt, mjNREF, 4, .05),   NUM(jnt_solimp, njnt, mjNIMP, 11, -.3),
    BIT(jnt_actfrclimited, njnt, 4),         NUM(jnt_actfrcrange, njnt, 2, 9, -.5),
    NUM(qpos0, nq, 1, 14, .2),               NUM(qpos_spring, nq, 1, 14, .3),
    NUM(dof_damping, nv, 1, 12, 1),          NUM(dof_dampingpoly, nv, mjNPOLY, 24, 1),
    NUM(dof_armature, nv, 1, 12, .1),        NUM(dof_frictionloss, nv, 1, 12, .1),
    INT(geom_contype, ngeom, 1, -1),         INT(geom_conaffinity, ngeom, 0, -1),
    INT(geom_condim, ngeom, 1, -2),          INT(geom_priority, ngeom, 0, 1),
    NUM(geom_size, ngeom, 3, 5, .01),        NUM(geom_pos, ngeom, 3, 5, -.01),
    NUM(geom_quat, ngeom, 4, 5, .1),         NUM(geom_friction, ngeom, 3, 0, .3),
    NUM(geom_margin, ngeom, 1, 1, .01),      INT(pair_dim, npair, 0, -2),
    NUM(pair_friction, npair, 5, 0, .3),     NUM(pair_margin, npair, 1, 0, .01),
    NUM(actuator_dynprm, nactuator, mjNDYN, mjNDYN, .02),
    NUM(actuator_gainprm, nactuator, mjNGAIN, mjNGAIN, 1),
    NUM(actuator_biasprm, nactuator, mjNBIAS, 0, -.5),
    BIT(actuator_forcelimited, nactuator, 0), NUM(actuator_forcerange, nactuator, 2, 1, -.3),
    BIT(actuator_actlimited, nactuator, 1),  NUM(actuator_actrange, nactuator, 2, 3, -.2),
    NUM(actuator_armature, nactuator, 1, 0, .1), NUM(actuator_damping, nactuator, 1, 0, 1),
    NUM(actuator_dampingpoly, nactuator, mjNPOLY, 0, 1), NUM(actuator_gear, nout, 6, 18, 1),
    BIT(actuator_ctrllimited, nu, 3),        NUM(actuator_ctrlrange, nu, 2, 7, -.1),
};

static void change(mjModel* m, const Field* f) {
  void* array;
  memcpy(&array, (char*)m + f->offset, sizeof(array));
  assert_true(f->entry < entriesOf(m, f->count, f->width));
  if (f->kind == 'n') ((mjtNum*)array)[f->entry] += f->add;
  if (f->kind == 'i') ((int*)array)[f->entry] += (int)f->add;
  if (f->kind == 'b') ((mjtByte*)array)[f->entry] ^= 1;
}

static void start(const mjModel* m, mjData* d) {
  d->qvel[0] = d->qvel[6] = 0.5;
  d->qvel[12] = -0.3;
  d->qvel[13] = 0.4;
  d->qvel[16] = 0.1;
  d->ctrl[0] = 0.6;
  d->ctrl[1] = 0.7;
  d->act[0] = 0.28;
  d->ctrl[2] = d->ctrl[3] = 0.4;
  for (int k = 0; k < 20; k++) mj_step(m, d);
}

// Whether 10 steps of both end in the same state.
static bool same(const mjModel* m, mjData* d, const mjModel* n, mjData* e) {
  for (int k = 0; k < 10; k++) {
    mj_step(m, d);
    mj_step(n, e);
  }
  return memcmp(d->qpos, e->qpos, m->nq * sizeof(mjtNum)) == 0 &&
         memcmp(d->qvel, e->qvel, m->nv * sizeof(mjtNum)) == 0;
}

static void testFields(void) {
  for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
    const Field* f = fields + i;
    mjModel *m = djt_compile(kScene), *plain = djt_compile(kScene);
    mjData *d = mj_makeData(m), *unchanged = mj_makeData(plain);
    start(m, d);
    start(plain, unchanged);
    change(m, f);
    mjData* fresh = mj_makeData(m);
    mj_copyData(fresh, m, d);
    if (!same(m, d, m, fresh)) fail_msg("%s: not followed", f->name);
    for (int k = 0; k < 10; k++) mj_step(plain, unchanged);
    bool none = memcmp(d->qvel, unchanged->qvel, m->nv * sizeof(mjtNum)) == 0;
    if (none) fail_msg("%s: no effect", f->name);
    mj_deleteData(fresh);
    mj_deleteData(d);
    djt_deleteEngine(m, unchanged);
    mj_deleteModel(plain);
  }
}

DJT_MAIN_IN(djt_registerContact, NULL, testFields)
