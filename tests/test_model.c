// Definitions to models: layout, validation, copies, options.

#include "common/make_model.h"
#include "common/random_model.h"
#include "common/message.h"
#include "common/sample_model.h"
#include "common/test.h"
#include "model/make.h"

static void test_layout(void) {
  djSample sample;
  djt_fillSample(&sample);
  djModel* m = djt_makeModel(&sample.def);
  assert_int_equal(m->nq, 1 + 1 + 7 + 4);
  assert_int_equal(m->nv, 1 + 1 + 6 + 3);
  assert_int_equal(m->na, 2);
  assert_int_equal(m->nmocap, 1);
  static const int qposadr[4] = {0, 1, 2, 9}, dofadr[4] = {0, 1, 2, 8};
  static const int dof_parent[11] = {-1, 0, -1, 2, 3, 4, 5, 6, 1, 8, 9};
  static const int lastdof[6] = {-1, 0, 1, 7, -1, 10}, root[6] = {0, 1, 1, 3, 0, 1};
  static const int weld[6] = {0, 1, 2, 3, 4, 5}, geomadr[6] = {0, 1, 2, 3, -1, 4};
  assert_memory_equal(m->jnt_qposadr, qposadr, sizeof qposadr);
  assert_memory_equal(m->jnt_dofadr, dofadr, sizeof dofadr);
  assert_memory_equal(m->dof_parent, dof_parent, sizeof dof_parent);
  assert_memory_equal(m->body_lastdof, lastdof, sizeof lastdof);
  assert_memory_equal(m->body_root, root, sizeof root);
  assert_memory_equal(m->body_weld, weld, sizeof weld);
  assert_memory_equal(m->body_geomadr, geomadr, sizeof geomadr);
  assert_int_equal(m->actuator_actadr[0], -1);
  assert_int_equal(m->actuator_actadr[2], 1);
  // Axes are normalised, a free joint starts at its body's frame, a ball at the identity.
  assert_true(m->jnt_axis[0] > 0.9 && m->jnt_axis[1] == 0);
  assert_memory_equal(m->qpos0 + 2, m->body_pos + 9, 3 * sizeof(double));
  assert_memory_equal(m->qpos0 + 5, m->body_quat + 12, 4 * sizeof(double));
  assert_memory_equal(m->qpos_spring + 2, m->qpos0 + 2, 7 * sizeof(double));
  assert_true(m->qpos0[9] == 1 && m->qpos0[10] == 0);
  // A key without values holds the reference, and mocap bodies where the model has them.
  assert_memory_equal(m->key_qpos, m->qpos0, 13 * sizeof(double));
  assert_memory_equal(m->key_mpos, m->body_pos + 12, 3 * sizeof(double));
  assert_true(fabs(m->total_mass - 0.7 * 15) < 1e-12);
  assert_true(fabs(m->moving_mass - 0.7 * 11) < 1e-12);
  dj_deleteModel(m);
}

static void test_names(void) {
  djSample sample;
  djt_fillSample(&sample);
  djModel* m = djt_makeModel(&sample.def);
  assert_int_equal(dj_name2id(m, DJ_OBJ_BODY, "robot/pole"), 2);
  assert_int_equal(dj_name2id(m, DJ_OBJ_GEOM, "cart"), 1);
  assert_int_equal(dj_name2id(m, DJ_OBJ_GEOM, "#3"), 3);
  assert_int_equal(dj_name2id(m, DJ_OBJ_GEOM, "#5"), -1);
  assert_int_equal(dj_name2id(m, DJ_OBJ_GEOM, "#"), -1);
  assert_int_equal(dj_name2id(m, DJ_OBJ_GEOM, "#1x"), -1);
  assert_int_equal(dj_name2id(m, DJ_OBJ_GEOM, "#99999999999999999999"), -1);
  assert_int_equal(dj_name2id(m, DJ_OBJ_GEOM, ""), -1);
  assert_int_equal(dj_name2id(m, DJ_OBJ_KEY, "away"), 1);
  assert_string_equal(dj_id2name(m, DJ_OBJ_JOINT, 1), "robot/hinge");
  assert_string_equal(dj_id2name(m, DJ_OBJ_JOINT, 3), "");
  assert_string_equal(dj_id2name(m, DJ_OBJ_JOINT, 4), "");
  assert_string_equal(dj_id2name(m, DJ_OBJ_JOINT, -1), "");
  dj_deleteModel(m);
}

static void test_roundTrip(void) {
  djSample sample;
  djt_fillSample(&sample);
  djModel* m = djt_makeModel(&sample.def);
  djModelDef def;
  void* storage = NULL;
  assert_int_equal(dj_getDef(&def, &storage, m, NULL), DJ_OK);
  djModel* again = djt_makeModel(&def);
  const char* difference = djt_difference(m, again);
  if (difference) fail_msg("%s differs", difference);
  djModel* copy = djt_copy(m);
  difference = djt_difference(m, copy);
  if (difference) fail_msg("%s differs in the copy", difference);
  dj_freeDef(storage);
  dj_deleteModel(m);
  dj_deleteModel(again);
  dj_deleteModel(copy);
  dj_deleteModel(NULL);
}

static void test_randomRoundTrip(void) {
  djRng rng = {7};
  for (int k = 0; k < 100; k++) {
    djModel* m = djt_randomModel(&rng, 1 + djt_integer(&rng, 12), DJT_ALL);
    djModelDef def;
    void* storage = NULL;
    assert_int_equal(dj_getDef(&def, &storage, m, NULL), DJ_OK);
    djModel* again = djt_makeModel(&def);
    const char* difference = djt_difference(m, again);
    if (difference) fail_msg("%s differs", difference);
    dj_freeDef(storage);
    dj_deleteModel(m);
    dj_deleteModel(again);
  }
}

// Everything that can be wrong with a definition, and the text that names it.
typedef void Change(djSample* s);
#define CHANGE(name, statement) \
  static void name(djSample* s) { statement; }
CHANGE(noBody, s->def.nbody = 0)
CHANGE(noList, s->def.joint = NULL)
CHANGE(negativeCount, s->def.ngeom = -1)
CHANGE(parentLater, s->body[2].parent = 3)
CHANGE(parentSelf, s->body[2].parent = 2)
CHANGE(worldMoved, s->body[0].pos[0] = 1)
CHANGE(zeroQuat, memset(s->body[3].quat, 0, sizeof s->body[3].quat))
CHANGE(nanPos, s->body[3].pos[1] = NAN)
CHANGE(negativeMass, s->body[3].mass = -1)
CHANGE(infiniteMass, s->body[3].mass = INFINITY)
CHANGE(inertia, s->body[3].inertia[1] = 7)
CHANGE(mocapChild, s->body[5].mocap = true)
CHANGE(mocapJoint, s->body[3].mocap = true)
CHANGE(jointWorld, s->joint[0].body = 0)
CHANGE(jointBody, s->joint[0].body = 6)
CHANGE(jointOrder, s->joint[0].body = 5)
CHANGE(jointType, s->joint[0].type = (djJointType)9)
CHANGE(zeroAxis, s->joint[0].axis[0] = s->joint[0].axis[2] = 0)
CHANGE(reversed, s->joint[1].range[0] = 2)
CHANGE(empty, s->joint[1].range[0] = 1.2)
CHANGE(infiniteRange, s->joint[1].range[0] = -INFINITY)
CHANGE(damping, s->joint[0].damping = -1)
CHANGE(freeAndHinge, s->joint[3].body = 3)
CHANGE(freeOnChild, s->body[3].parent = 2)
CHANGE(limitedFree, s->joint[2].limited = true)
CHANGE(actfrcBall, s->joint[3].actfrclimited = true)
CHANGE(sevenDofs, s->joint[2].body = s->joint[1].body = 1;
       s->joint[1].type = s->joint[2].type = DJ_BALL; s->joint[1].limited = false)
CHANGE(massless, s->body[3].mass = 0; memset(s->body[3].inertia, 0, 24))
CHANGE(pointMass, memset(s->body[3].inertia, 0, 24))
CHANGE(geomType, s->geom[1].type = (djGeomType)DJ_NGEOMTYPE)
CHANGE(geomBody, s->geom[4].body = -1)
CHANGE(geomOrder, s->geom[0].body = 5)
CHANGE(geomSize, s->geom[1].size[2] = 0)
CHANGE(geomMesh, s->geom[3].mesh = 2)
CHANGE(boxWithMesh, s->geom[1].mesh = 0)
CHANGE(hfield, s->geom[1].type = DJ_HFIELD)
CHANGE(condim, s->geom[1].condim = 2)
CHANGE(friction, s->geom[1].friction[2] = -1)
CHANGE(meshVert, s->vert[0][2][1] = NAN)
CHANGE(meshEmpty, s->mesh[0].nvert = 0)
CHANGE(meshFace, s->mesh[0].nvert = 4)
CHANGE(siteBody, s->site[0].body = 77)
CHANGE(siteQuat, s->site[1].quat[1] = 0)
CHANGE(actuatorJoint, s->actuator[2].joint = -1)
CHANGE(ctrlrange, s->actuator[0].ctrlrange[0] = 1)
CHANGE(tau, s->actuator[1].tau = 0)
CHANGE(pairGeom, s->pair[0].geom2 = 5)
CHANGE(pairSame, s->pair[0].geom2 = 1)
CHANGE(excludeBody, s->exclude[0].body2 = 6)
CHANGE(keyNan, s->qvel[3] = NAN)
CHANGE(sameName, s->geom[1].name = "foot")
CHANGE(timestep, s->def.option.timestep = 0)
CHANGE(support, s->def.option.support = 1)
CHANGE(disable, s->def.option.disable = 1 << 20)
CHANGE(integrator, s->def.option.integrator = (djIntegrator)DJ_NINTEGRATOR)
CHANGE(ramp, s->def.option.gravity_ramp = NAN)
CHANGE(lineBreak, s->joint[1].name = "a\nb"; s->joint[1].range[0] = 2)

static void test_errors(void) {
  static const struct {
    Change* change;
    const char* text;
  } list[] = {
      {noBody, "model: body 0, the world, is missing"},
      {noList, "model: the list of joints is missing"},
      {negativeCount, "model: impossible number of geoms"},
      {parentLater, "body 'robot/pole': parent must be an earlier body"},
      {parentSelf, "body 'robot/pole': parent must be an earlier body"},
      {worldMoved, "body 'world': the world's frame must be the identity"},
      {zeroQuat, "body 'box': quat is zero or not finite"},
      {nanPos, "body 'box': pos is not finite"},
      {negativeMass, "body 'box': mass is negative or not finite"},
      {infiniteMass, "body 'box': mass is negative or not finite"},
      {inertia, "body 'box': a moment of inertia is larger than the sum of the other two"},
      {mocapChild, "body #5: a mocap body must be a child of the world"},
      {mocapJoint, "joint 'free': a mocap body cannot have joints"},
      {jointWorld, "joint 'slide': the world cannot have joints"},
      {jointBody, "joint 'slide': its body does not exist"},
      {jointOrder, "joint 'robot/hinge': joints must be listed in the order of their bodies"},
      {jointType, "joint 'slide': unknown type"},
      {zeroAxis, "joint 'slide': axis is zero or not finite"},
      {reversed, "joint 'robot/hinge': range is reversed"},
      {empty, "joint 'robot/hinge': range is empty"},
      {infiniteRange, "joint 'robot/hinge': range is not finite"},
      {damping, "joint 'slide': damping is negative or not finite"},
      {freeAndHinge, "joint #3: a free joint cannot be combined with other joints"},
      {freeOnChild, "joint 'free': a free joint must be on a child of the world"},
      {limitedFree, "joint 'free': a free joint has no limits"},
      {actfrcBall, "joint #3: actfrcrange is for slide and hinge joints only"},
      {sevenDofs, "body 'cart': more than 6 degrees of freedom"},
      {massless, "body 'box': moves but has no mass"},
      {pointMass, "body 'box': rotates but has no inertia"},
      {geomType, "geom 'cart': unknown type"},
      {geomBody, "geom 'robot/ball': its body does not exist"},
      {geomOrder, "geom 'cart': geoms must be listed in the order of their bodies"},
      {geomSize, "geom 'cart': size must be positive"},
      {geomMesh, "geom #3: its mesh does not exist"},
      {boxWithMesh, "geom 'cart': only geoms of type mesh have a mesh"},
      {hfield, "geom 'cart': it collides, but has no height field"},
      {condim, "geom 'cart': condim must be 1, 3, 4 or 6"},
      {friction, "geom 'cart': friction is negative or not finite"},
      {meshVert, "mesh 'tetra': a vertex is not finite"},
      {meshEmpty, "mesh 'tetra': has no vertices"},
      {meshFace, "mesh 'tetra': a face names a vertex that does not exist"},
      {siteBody, "site 'tip': its body does not exist"},
      {siteQuat, "site #1: quat is zero or not finite"},
      {actuatorJoint, "actuator #2: its joint does not exist"},
      {ctrlrange, "actuator 'motor': ctrlrange is empty"},
      {tau, "actuator 'servo': tau must be positive"},
      {pairGeom, "pair 'pair': its second geom does not exist"},
      {pairSame, "pair 'pair': its geoms are the same"},
      {excludeBody, "exclude #0: a body does not exist"},
      {keyNan, "key 'away': qvel is not finite"},
      {sameName, "geom 'foot': the name is used twice"},
      {timestep, "option: timestep must be positive"},
      {support, "option: support must be less than 1"},
      {disable, "option: disable has unknown bits"},
      {integrator, "option: integrator: unknown value '6'"},
      {ramp, "option: gravity_ramp is not finite"},
      {lineBreak, "joint 'a?b': range is reversed"},
  };
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
    djSample sample;
    djt_fillSample(&sample);
    list[i].change(&sample);
    djError err = {""};
    djModel* model = (djModel*)&sample;
    djStatus status = dj_makeModel(&model, &sample.def, &err);
    assertMessage(err.text, list[i].text);
    assert_true(status < 0);
    assert_null(model);
    assert_int_equal(dj_makeModel(&model, &sample.def, NULL), status);
  }
}

// Every number of a definition: what is too large is named, what is just not is none of that.
static void test_sizes(void) {
  djSample s;
  const struct {
    double* number;
    double most;
    const char* name;
  } list[] = {
      {&s.def.option.timestep, 1e20, "option: timestep"},
      {&s.def.option.wind[1], 1e20, "option: wind"},
      {&s.def.option.density, 1e20, "option: density"},
      {&s.def.option.viscosity, 1e20, "option: viscosity"},
      {&s.def.option.length_scale, 1e20, "option: length_scale"},
      {&s.def.option.friction_eps, 1e60, "option: friction_eps"},
      {&s.def.option.frictionloss_eps, 1e60, "option: frictionloss_eps"},
      {&s.def.option.gravity[2], 1e20, "option: gravity"},
      {&s.def.option.stiffness, 1e60, "option: stiffness"},
      {&s.body[3].pos[1], 1e20, "body 'box': pos"},
      {&s.body[3].ipos[2], 1e20, "body 'box': ipos"},
      {&s.body[3].mass, 1e60, "body 'box': mass"},
      {&s.body[3].gravcomp, 1e20, "body 'box': gravcomp"},
      {&s.joint[1].pos[0], 1e20, "joint 'robot/hinge': pos"},
      {&s.joint[1].qpos0[0], 1e20, "joint 'robot/hinge': qpos0"},
      {&s.joint[1].springref[0], 1e20, "joint 'robot/hinge': springref"},
      {&s.joint[1].stiffness, 1e60, "joint 'robot/hinge': stiffness"},
      {&s.joint[1].stiffnesspoly[1], 1e60, "joint 'robot/hinge': stiffnesspoly"},
      {&s.joint[1].damping, 1e60, "joint 'robot/hinge': damping"},
      {&s.joint[1].dampingpoly[0], 1e60, "joint 'robot/hinge': dampingpoly"},
      {&s.joint[1].armature, 1e60, "joint 'robot/hinge': armature"},
      {&s.joint[1].frictionloss, 1e60, "joint 'robot/hinge': frictionloss"},
      {&s.joint[1].range[1], 1e20, "joint 'robot/hinge': range"},
      {&s.joint[1].margin, 1e20, "joint 'robot/hinge': margin"},
      {&s.joint[1].limit_stiffness, 1e20, "joint 'robot/hinge': limit_stiffness"},
      {&s.joint[1].limit_damping, 1e20, "joint 'robot/hinge': limit_damping"},
      {&s.joint[1].actfrcrange[1], 1e60, "joint 'robot/hinge': actfrcrange"},
      {&s.joint[2].qpos0[2], 1e20, "joint 'free': qpos0"},
      {&s.geom[1].size[0], 1e20, "geom 'cart': size"},
      {&s.geom[1].pos[1], 1e20, "geom 'cart': pos"},
      {&s.geom[1].friction[0], 1e20, "geom 'cart': friction"},
      {&s.geom[1].margin, 1e20, "geom 'cart': margin"},
      {&s.geom[1].gap, 1e20, "geom 'cart': gap"},
      {&s.site[0].pos[2], 1e20, "site 'tip': pos"},
      {&s.actuator[1].gear[5], 1e20, "actuator 'servo': gear"},
      {&s.actuator[1].gainprm[0], 1e60, "actuator 'servo': gainprm"},
      {&s.actuator[1].biasprm[2], 1e60, "actuator 'servo': biasprm"},
      {&s.actuator[1].tau, 1e60, "actuator 'servo': tau"},
      {&s.actuator[1].ctrlrange[1], 1e20, "actuator 'servo': ctrlrange"},
      {&s.actuator[1].forcerange[1], 1e60, "actuator 'servo': forcerange"},
      {&s.actuator[1].actrange[1], 1e20, "actuator 'servo': actrange"},
      {&s.actuator[1].armature, 1e60, "actuator 'servo': armature"},
      {&s.actuator[1].damping, 1e60, "actuator 'servo': damping"},
      {&s.actuator[1].dampingpoly[1], 1e60, "actuator 'servo': dampingpoly"},
      {&s.pair[0].friction, 1e20, "pair 'pair': friction"},
      {&s.pair[0].margin, 1e20, "pair 'pair': margin"},
      {&s.pair[0].gap, 1e20, "pair 'pair': gap"},
  };
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
    for (int beyond = 0; beyond < 2; beyond++) {
      djt_fillSample(&s);
      s.joint[1].actfrclimited = true;
      djActuatorDef* a = &s.actuator[1];
      a->ctrllimited = a->forcelimited = a->actlimited = true;
      a->ctrlrange[0] = a->forcerange[0] = a->actrange[0] = s.joint[1].actfrcrange[0] = -1;
      a->ctrlrange[1] = a->forcerange[1] = a->actrange[1] = s.joint[1].actfrcrange[1] = 1;
      *list[i].number = list[i].most * (beyond ? 1.01 : 1);
      djModel* m = NULL;
      djError err = {""};
      djStatus status = dj_makeModel(&m, &s.def, &err);
      char text[200];
      snprintf(text, sizeof text, "%s is larger than %s", list[i].name,
               list[i].most == 1e20 ? "1e20" : "1e60");
      if (beyond) assert_int_equal(status, DJ_INVALID);
      if ((strcmp(err.text, text) == 0) != (beyond == 1)) fail_msg("%s: %s", text, err.text);
      dj_deleteModel(m);
    }
  }
  // What limits nothing may be anything.
  djt_fillSample(&s);
  s.actuator[1].forcelimited = false;
  s.actuator[1].forcerange[1] = INFINITY;
  djModel* m = djt_makeModel(&s.def);
  dj_deleteModel(m);
  djt_fillSample(&s);
  s.vert[1][1][2] = -1e21;
  djError err = {""};
  djt_refused(DJ_INVALID, dj_makeModel(&m, &s.def, &err), err,
              "mesh 'cube': vertex 1 is farther away than 1e20");
  // What is divided by is not too small.
  const struct {
    double* number;
    const char* name;
  } divisors[] = {{&s.def.option.timestep, "option: timestep"},
                  {&s.def.option.length_scale, "option: length_scale"},
                  {&s.def.option.support, "option: support"},
                  {&s.def.option.frictionloss_eps, "option: frictionloss_eps"},
                  {&s.geom[1].size[0], "geom 'cart': size"},
                  {&s.actuator[1].tau, "actuator 'servo': tau"}};
  for (size_t i = 0; i < sizeof divisors / sizeof divisors[0]; i++) {
    char text[100];
    djt_fillSample(&s);
    *divisors[i].number = 0.9e-20;
    snprintf(text, sizeof text, "%s is smaller than 1e-20", divisors[i].name);
    djt_refused(DJ_INVALID, dj_makeModel(&m, &s.def, &err), err, text);
  }
  djt_fillSample(&s);
  s.qpos[1] = 2e20;
  djt_refused(DJ_INVALID, dj_makeModel(&m, &s.def, &err), err,
              "key 'away': qpos is larger than 1e20");
}

static void test_options(void) {
  djSample sample;
  djt_fillSample(&sample);
  djModel* m = djt_makeModel(&sample.def);
  djModel* before = djt_copy(m);
  djOption option = m->opt;
  option.timestep = -1;
  djError err;
  djt_refused(DJ_INVALID, dj_setOption(m, &option, &err), err, "option: timestep must be positive");
  assert_null(djt_difference(m, before));
  option = m->opt;
  option.support = 0.003;
  option.skin = 0;
  assert_int_equal(dj_setOption(m, &option, &err), DJ_OK);
  assert_true(m->contact.support == 0.003 && m->contact.skin == 0);
  assert_true(m->geom_skin[1] == 0);
  assert_true(fabs(m->contact.range - 2 * 0.003 / 0.997) < 1e-15);
  // Options that are made anew give the defaults again.
  assert_int_equal(dj_setOption(m, &before->opt, &err), DJ_OK);
  assert_null(djt_difference(m, before));
  dj_deleteModel(m);
  dj_deleteModel(before);
}

// Making a model twice changes nothing: unit vectors are left alone to the bit.
static void test_idempotent(void) {
  djRng rng = {3};
  for (int k = 0; k < 20000; k++) {
    djSample* s = calloc(1, sizeof *s);
    djt_fillSample(s);
    for (int b = 1; b < 6; b++) {
      double scale = pow(10, djt_uniform(&rng, -12, 12));
      djt_unitQuat(s->body[b].quat, &rng);
      for (int i = 0; i < 4; i++) s->body[b].quat[i] *= scale;
    }
    djModel *once = NULL, *twice = NULL;
    assert_int_equal(dj_buildModel(&once, &s->def, NULL), DJ_OK);
    for (int b = 1; b < 6; b++) memcpy(s->body[b].quat, once->body_quat + 4 * b, 32);
    assert_int_equal(dj_buildModel(&twice, &s->def, NULL), DJ_OK);
    assert_null(djt_difference(once, twice));
    dj_deleteBuilt(once);
    dj_deleteBuilt(twice);
    free(s);
  }
}

DJT_MAIN(test_layout, test_sizes, test_names, test_roundTrip, test_randomRoundTrip, test_errors,
         test_options, test_idempotent)
