// Parameters by name: every field of every element is found, read, written and refused.

#include "common/make_model.h"
#include "common/random_model.h"
#include "common/sample_model.h"
#include "common/test.h"
#include "model/param.h"

static djParam find(const djModel* m, const char* name) {
  djParam param = djt_param(m, name);
  return param;
}

static void test_find(void) {
  static const struct {
    const char* name;
    int id, nvalue, ntangent;
  } list[] = {
      {"body/cart/pos", 1, 3, 3},
      {"body/robot/pole/quat", 2, 4, 3},
      {"body/#5/mass", 5, 1, 1},
      {"body/box/ipos", 3, 3, 3},
      {"body/box/iquat", 3, 4, 3},
      {"body/box/inertia", 3, 3, 3},
      {"body/box/gravcomp", 3, 1, 1},
      {"joint/slide/pos", 0, 3, 3},
      {"joint/robot/hinge/axis", 1, 3, 3},
      {"joint/slide/damping", 0, 1, 1},
      {"joint/slide/stiffness", 0, 1, 1},
      {"joint/slide/springref", 0, 1, 1},
      {"joint/free/springref", 2, 7, 6},
      {"joint/#3/springref", 3, 4, 3},
      {"joint/slide/armature", 0, 1, 1},
      {"joint/slide/frictionloss", 0, 1, 1},
      {"joint/robot/hinge/range", 1, 2, 2},
      {"geom/foot/pos", 2, 3, 3},
      {"geom/foot/quat", 2, 4, 3},
      {"geom/robot/ball/size", 4, 3, 3},
      {"geom/#3/friction", 3, 3, 3},
      {"mesh/cube/vert", 1, 24, 24},
      {"mesh/tetra/vert", 0, 15, 15},
      {"site/tip/pos", 0, 3, 3},
      {"actuator/servo/gainprm", 1, 3, 3},
      {"actuator/servo/biasprm", 1, 3, 3},
      {"actuator/#2/gear", 2, 6, 6},
      {"option/gravity", 0, 3, 3},
      {"contact/support", 0, 1, 1},
      {"contact/stiffness", 1, 1, 1},
      {"contact/separating_plane/stiffness", 1, 1, 1},
  };
  djSample sample;
  djModel* m = djt_sampleModel(&sample);
  djModel* copy = djt_copy(m);
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
    djParam p = find(m, list[i].name);
    assert_int_equal(p.id, list[i].id);
    assert_int_equal(p.nvalue, list[i].nvalue);
    assert_int_equal(p.ntangent, list[i].ntangent);
    // Writing back what was read changes nothing.
    double value[24];
    djError err = {""};
    assert_int_equal(dj_getParam(value, m, &p), DJ_OK);
    if (dj_setParam(m, &p, value, &err) != DJ_OK) fail_msg("%s", err.text);
    m->opt = copy->opt;  // contact/... become explicit options
    memcpy(m->kernel_given, copy->kernel_given, sizeof(double) * (size_t)m->nkernelsetting);
    const char* difference = djt_difference(m, copy);
    if (difference) fail_msg("%s changes %s", list[i].name, difference);
  }
  dj_deleteModel(m);
  dj_deleteModel(copy);
}

static void test_unknown(void) {
  static const char* const list[][2] = {
      {"mass", "there is no parameter 'mass'"},
      {"", "there is no parameter ''"},
      {"/", "there is no parameter '/'"},
      {"body//mass", "'body//mass': there is no such body"},
      {"body/mass", "there is no parameter 'body/mass'"},
      {"body/nobody/mass", "'body/nobody/mass': there is no such body"},
      {"body/#6/mass", "'body/#6/mass': there is no such body"},
      {"body/#-1/mass", "'body/#-1/mass': there is no such body"},
      {"body/box/masses", "'body/box/masses': there is no parameter 'masses', expected one of pos, "
                          "quat, mass, ipos, iquat, inertia, gravcomp"},
      {"bodies/box/mass", "there is no parameter 'bodies/box/mass'"},
      {"option/timestep",
       "'option/timestep': there is no parameter 'timestep', expected one of gravity"},
      {"option/x/gravity", "there is no parameter 'option/x/gravity'"},
      {"contact/support/",
       "'contact/support/': there is no parameter '', expected one of support, stiffness, "
                                                "guide"},
      {"body/world/pos", "'body/world/pos': the world's frame is fixed"},
      {"body/#0/quat", "'body/#0/quat': the world's frame is fixed"},
  };
  djSample sample;
  djModel* m = djt_sampleModel(&sample);
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
    djParam p;
    djError err = {""};
    djt_refused(DJ_INVALID, dj_paramId(&p, m, list[i][0], &err), err, list[i][1]);
    double value[7];
    assert_int_equal(dj_getParam(value, m, &p), DJ_INVALID);
    assert_int_equal(dj_setParam(m, &p, value, NULL), DJ_INVALID);
  }
  djParam p;
  assert_int_equal(dj_paramId(&p, m, NULL, NULL), DJ_INVALID);
  djParam forged = find(m, "geom/foot/size");
  forged.nvalue = 300;
  double value[300];
  assert_int_equal(dj_getParam(value, m, &forged), DJ_INVALID);
  assert_int_equal(dj_setParam(m, &forged, value, NULL), DJ_INVALID);
  dj_deleteModel(m);
}

static void test_refused(void) {
  static const struct {
    const char* name;
    double value[7];
    const char* text;
  } list[] = {
      {"body/box/mass", {0}, "body 'box': mass must be positive"},
      {"body/box/mass", {NAN}, "body 'box': mass is not finite"},
      {"body/box/pos", {0, INFINITY, 0}, "body 'box': pos is not finite"},
      {"body/box/pos", {0, 1.1e20, 0}, "body 'box': pos is larger than 1e20"},
      {"body/box/mass", {1.1e60}, "body 'box': mass is larger than 1e60"},
      {"body/box/inertia", {1e61, 1e61, 1e61}, "body 'box': inertia is larger than 1e60"},
      {"geom/robot/ball/size", {1e21, 1, 1}, "geom 'robot/ball': size is larger than 1e20"},
      {"joint/robot/hinge/range", {0, 1e300}, "joint 'robot/hinge': range is larger than 1e20"},
      {"option/gravity", {0, 0, -1e300}, "option/gravity: is larger than 1e20"},
      {"actuator/servo/gainprm", {1e61, 0, 0}, "actuator 'servo': gainprm is larger than 1e60"},
      {"body/box/quat", {0, 0, 0, 0}, "body 'box': quat is a zero quaternion"},
      {"body/box/inertia", {1, 1, -1}, "body 'box': inertia must not be negative"},
      {"body/box/inertia",
       {1, 1, 3},
       "body 'box': inertia has a moment larger than the sum of the other two"},
      {"joint/slide/axis", {0, 0, 0}, "joint 'slide': axis is a zero vector"},
      {"joint/slide/damping", {-1e-9}, "joint 'slide': damping must not be negative"},
      {"joint/free/springref",
       {1, 2, 3, 0, 0, 0, 0},
       "joint 'free': springref has a zero quaternion"},
      {"joint/robot/hinge/range", {2, 1}, "joint 'robot/hinge': range is reversed"},
      {"geom/foot/size", {0.1, 0, 0}, "geom 'foot': size must be positive"},
      {"geom/foot/friction", {-1, 0, 0}, "geom 'foot': friction must not be negative"},
      {"contact/stiffness", {0}, "contact/stiffness: must be positive"},
      {"contact/support", {1}, "contact/support: must be less than 1"},
      {"option/gravity", {0, 0, NAN}, "option/gravity: is not finite"},
      {"body/#5/iquat", {0, 0, 0, 1e-16}, "body #5: iquat is a zero quaternion"},
      {"geom/#3/quat", {0, 0, 0, 0}, "geom #3: quat is a zero quaternion"},
      {"joint/#3/springref", {0, 0, 0, 0}, "joint #3: springref has a zero quaternion"},
      {"joint/robot/hinge/range", {1, 1}, "joint 'robot/hinge': range is empty"},
      {"joint/robot/hinge/range", {0, INFINITY}, "joint 'robot/hinge': range is not finite"},
      {"joint/slide/frictionloss", {-1}, "joint 'slide': frictionloss must not be negative"},
      {"joint/slide/armature", {NAN}, "joint 'slide': armature is not finite"},
      {"joint/slide/stiffness", {-2}, "joint 'slide': stiffness must not be negative"},
      {"geom/robot/ball/size", {-0.1, 1, 1}, "geom 'robot/ball': size must be positive"},
      {"geom/robot/ball/size", {0.1, NAN, 1}, "geom 'robot/ball': size is not finite"},
      {"site/tip/pos", {0, 0, INFINITY}, "site 'tip': pos is not finite"},
      {"actuator/#2/gear", {0, 0, 0, 0, 0, NAN}, "actuator #2: gear is not finite"},
      {"actuator/servo/gainprm", {NAN, 0, 0}, "actuator 'servo': gainprm is not finite"},
      {"actuator/servo/biasprm", {0, NAN, 0}, "actuator 'servo': biasprm is not finite"},
      {"body/cart/gravcomp", {NAN}, "body 'cart': gravcomp is not finite"},
      {"body/cart/ipos", {NAN, 0, 0}, "body 'cart': ipos is not finite"},
      {"joint/slide/pos", {0, NAN, 0}, "joint 'slide': pos is not finite"},
  };
  djSample sample;
  djModel* m = djt_sampleModel(&sample);
  djModel* copy = djt_copy(m);
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
    djParam p = find(m, list[i].name);
    djError err = {""};
    djt_refused(DJ_INVALID, dj_setParam(m, &p, list[i].value, &err), err, list[i].text);
    assert_null(djt_difference(m, copy));
  }
  dj_deleteModel(m);
  dj_deleteModel(copy);
}

static void test_set(void) {
  djSample sample;
  djModel* m = djt_sampleModel(&sample);
  djParam p = find(m, "body/box/quat");
  assert_int_equal(dj_setParam(m, &p, (double[4]){0, 0, -5, 0}, NULL), DJ_OK);
  assert_true(m->body_quat[14] == -1);
  p = find(m, "joint/slide/axis");
  assert_int_equal(dj_setParam(m, &p, (double[3]){3, 0, 4}, NULL), DJ_OK);
  assert_true(fabs(m->jnt_axis[0] - 0.6) < 1e-15);
  p = find(m, "body/box/mass");
  double moving = m->moving_mass, total = m->total_mass;
  assert_int_equal(dj_setParam(m, &p, (double[1]){3.1}, NULL), DJ_OK);
  assert_true(fabs(m->moving_mass - moving - 1) < 1e-12);
  assert_true(fabs(m->total_mass - total - 1) < 1e-12);
  // Entries that the type does not use stay as they are.
  p = find(m, "geom/foot/size");
  assert_int_equal(dj_setParam(m, &p, (double[3]){0.2, 0.3, 9}, NULL), DJ_OK);
  assert_true(m->geom_size[6] == 0.2 && m->geom_size[7] == 0.3 && m->geom_size[8] == 0);
  // The values in force, with what follows from them.
  djContactSettings before = m->contact;
  p = find(m, "contact/support");
  assert_int_equal(dj_setParam(m, &p, (double[1]){0.02}, NULL), DJ_OK);
  assert_true(m->contact.support == 0.02 && m->opt.support < 0);   // by its factor
  assert_true(fabs(m->opt.support_scale * before.support - 0.02) < 1e-16);
  assert_true(fabs(m->contact.range - 0.04 / 0.98) < 1e-15);
  assert_true(m->contact.skin == before.skin && m->contact.stiffness == before.stiffness);
  p = find(m, "contact/stiffness");
  assert_int_equal(dj_setParam(m, &p, (double[1]){0.5}, NULL), DJ_OK);
  assert_true(m->contact.stiffness == 0.5 && m->opt.stiffness < 0);
  p = find(m, "option/gravity");
  assert_int_equal(dj_setParam(m, &p, (double[3]){1, 0, -20}, NULL), DJ_OK);
  assert_true(m->opt.gravity[2] == -20 && m->contact.gravity == before.gravity);
  p = find(m, "mesh/cube/vert");
  double vert[24];
  assert_int_equal(dj_getParam(vert, m, &p), DJ_OK);
  for (int k = 0; k < 24; k++) vert[k] *= 1.5;
  assert_int_equal(dj_setParam(m, &p, vert, NULL), DJ_OK);
  assert_memory_equal(m->mesh_vert + 15, vert, sizeof vert);
  dj_deleteModel(m);
}

static const char* const kind_name[DJ_NOBJ] = {
    [DJ_OBJ_BODY] = "body", [DJ_OBJ_JOINT] = "joint", [DJ_OBJ_GEOM] = "geom",
    [DJ_OBJ_MESH] = "mesh", [DJ_OBJ_SITE] = "site",   [DJ_OBJ_ACTUATOR] = "actuator",
    [DJ_OBJ_PAIR] = "pair"};

// Every parameter of every element: found by name and by number, the same either way; set to what
// it is, it changes nothing; set to another value, it changes its own numbers and those that are
// derived from them, but not the constants that defaults are made of.
static void test_every(void) {
  static const struct {
    djObject object;
    const char* name;
  } fields[] = {
      {DJ_OBJ_BODY, "pos"},        {DJ_OBJ_BODY, "quat"},        {DJ_OBJ_BODY, "mass"},
      {DJ_OBJ_BODY, "ipos"},       {DJ_OBJ_BODY, "iquat"},       {DJ_OBJ_BODY, "inertia"},
      {DJ_OBJ_BODY, "gravcomp"},   {DJ_OBJ_JOINT, "pos"},        {DJ_OBJ_JOINT, "axis"},
      {DJ_OBJ_JOINT, "damping"},   {DJ_OBJ_JOINT, "stiffness"},  {DJ_OBJ_JOINT, "springref"},
      {DJ_OBJ_JOINT, "armature"},  {DJ_OBJ_JOINT, "frictionloss"}, {DJ_OBJ_JOINT, "range"},
      {DJ_OBJ_GEOM, "pos"},        {DJ_OBJ_GEOM, "quat"},        {DJ_OBJ_GEOM, "size"},
      {DJ_OBJ_GEOM, "friction"},   {DJ_OBJ_GEOM, "restitution"},
      {DJ_OBJ_PAIR, "restitution"}, {DJ_OBJ_PAIR, "friction"},
      {DJ_OBJ_MESH, "vert"},        {DJ_OBJ_SITE, "pos"},
      {DJ_OBJ_ACTUATOR, "gainprm"}, {DJ_OBJ_ACTUATOR, "biasprm"}, {DJ_OBJ_ACTUATOR, "gear"},
  };
  djSample sample;
  djModel* m = djt_sampleModel(&sample);
  // what is set counts in their place (test_param_rows.c)
  memset(m->geom_solref_restitution, 0, sizeof(double) * (size_t)m->ngeom);
  memset(m->pair_solref_restitution, 0, sizeof(double) * (size_t)m->npair);
  djModel* copy = djt_copy(m);
  const int count[DJ_NOBJ] = {
      [DJ_OBJ_BODY] = m->nbody, [DJ_OBJ_JOINT] = m->njnt, [DJ_OBJ_GEOM] = m->ngeom,
      [DJ_OBJ_MESH] = m->nmesh, [DJ_OBJ_SITE] = m->nsite, [DJ_OBJ_ACTUATOR] = m->nu,
      [DJ_OBJ_PAIR] = m->npair};
  int found = 0;
  for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
    djObject object = fields[i].object;
    bool frame = object == DJ_OBJ_BODY && i < 2;
    for (int id = frame; id < count[object]; id++) {
      char name[100];
      double value[24], other[24];
      djError err = {""};
      snprintf(name, sizeof name, "%s/#%d/%s", kind_name[object], id, fields[i].name);
      djParam p = find(m, name), q = p;
      const char* own = dj_id2name(m, object, id);
      snprintf(name, sizeof name, "%s/%s/%s", kind_name[object], own, fields[i].name);
      if (own[0]) q = find(m, name);
      assert_memory_equal(&p, &q, sizeof p);
      assert_int_equal(dj_getParam(value, m, &p), DJ_OK);
      if (dj_setParam(copy, &p, value, &err) != DJ_OK) fail_msg("%s: %s", name, err.text);
      const char* difference = djt_difference(m, copy);
      if (difference) fail_msg("%s changes %s", name, difference);
      for (int k = 0; k < p.nvalue; k++) other[k] = 1.01 * value[k] + (value[k] == 0 ? 0 : 1e-3);
      if (dj_setParam(copy, &p, other, &err) != DJ_OK) fail_msg("%s: %s", name, err.text);
      assert_memory_equal(copy->jnt_effinertia, m->jnt_effinertia,
                          sizeof(double) * (size_t)m->njnt);
      assert_true(copy->contact.weight == m->contact.weight);
      assert_true(copy->contact.skin == m->contact.skin);
      assert_true(copy->contact.stiffness == m->contact.stiffness);
      assert_true(copy->contact.support == m->contact.support);
      assert_int_equal(dj_setParam(copy, &p, value, NULL), DJ_OK);
      found++;
    }
  }
  assert_int_equal(found, 7 * 6 - 2 + 8 * 4 + 5 * 5 + 2 + 2 + 2 + 3 * 3);
  dj_deleteModel(m);
  dj_deleteModel(copy);
}

// Quaternions and axes of length 1 whatever is given; the range of a ball joint is its angle.
static void test_normalised(void) {
  djSample sample;
  djt_fillSample(&sample);
  sample.joint[3].limited = true;
  sample.joint[3].range[0] = 0;
  sample.joint[3].range[1] = 1;
  djModel* m = djt_makeModel(&sample.def);
  static const char* const quats[] = {"body/box/quat", "body/box/iquat", "geom/foot/quat",
                                      "joint/#3/springref"};
  double value[7];
  for (int i = 0; i < 4; i++) {
    djParam p = find(m, quats[i]);
    assert_int_equal(dj_setParam(m, &p, (double[4]){3e100, 0, -4e100, 0}, NULL), DJ_OK);
    assert_int_equal(dj_getParam(value, m, &p), DJ_OK);
    assert_true(fabs(value[0] - 0.6) < 1e-15 && fabs(value[2] + 0.8) < 1e-15);
  }
  djParam p = find(m, "joint/free/springref");
  assert_int_equal(dj_setParam(m, &p, (double[7]){5, 6, 7, 0, 0, 0, 2}, NULL), DJ_OK);
  assert_int_equal(dj_getParam(value, m, &p), DJ_OK);
  assert_true(value[0] == 5 && value[2] == 7 && value[6] == 1);
  // A moved axis is as if its component along the axis were not there, to first order.
  p = find(m, "joint/slide/axis");
  assert_int_equal(dj_setParam(m, &p, (double[3]){1.7, 0, 0}, NULL), DJ_OK);
  assert_true(m->jnt_axis[0] == 1);
  p = find(m, "joint/#3/range");
  djError err = {""};
  assert_int_equal(dj_setParam(m, &p, (double[2]){5, 0.5}, &err), DJ_OK);
  djt_refused(DJ_INVALID, dj_setParam(m, &p, (double[2]){0, 0}, &err), err,
              "joint #3: range must end at a positive angle");
  assert_int_equal(dj_setParam(m, &p, (double[2]){-1, INFINITY}, &err), DJ_INVALID);
  dj_deleteModel(m);
}

// Sizes beyond those that the type uses: 0 in the model, whatever is given.
static void test_unused_sizes(void) {
  djSample sample;
  djt_fillSample(&sample);
  for (int k = 0; k < 3; k++) sample.geom[2].size[k] = sample.geom[4].size[k] = 0.1 + k;
  djModel* m = djt_makeModel(&sample.def);
  double value[3];
  for (int side = 0; side < 2; side++) {
    djParam foot = find(m, "geom/foot/size"), ball = find(m, "geom/robot/ball/size");
    assert_int_equal(dj_getParam(value, m, &foot), DJ_OK);
    assert_true(value[0] == 0.1 && value[1] == 1.1 && value[2] == 0);
    assert_int_equal(dj_getParam(value, m, &ball), DJ_OK);
    assert_true(value[0] == 0.1 && value[1] == 0 && value[2] == 0);
    assert_int_equal(dj_setParam(m, &foot, (double[3]){0.1, 1.1, 7}, NULL), DJ_OK);
    assert_int_equal(dj_setParam(m, &ball, (double[3]){0.1, -1, 7}, NULL), DJ_OK);
  }
  dj_deleteModel(m);
}

static void test_kinds(void) {
  djSample sample;
  djModel* m = djt_sampleModel(&sample);
  djParam p = find(m, "joint/free/springref");
  assert_false(dj_paramIsRotation(m, &p, 2));
  assert_true(dj_paramIsRotation(m, &p, 3));
  p = find(m, "geom/foot/quat");
  assert_true(dj_paramIsRotation(m, &p, 0));
  p = find(m, "joint/slide/axis");
  assert_false(dj_paramIsRotation(m, &p, 0));
  assert_false(dj_makeParam(&p, m, DJ_NFIELD, 0));
  assert_false(dj_makeParam(&p, m, DJ_FIELD_BODY_MASS, 6));
  assert_true(dj_makeParam(&p, m, DJ_FIELD_MESH_VERT, 1));
  assert_ptr_equal(dj_paramData(m, &p), m->mesh_vert + 15);
  dj_deleteModel(m);
}

DJT_MAIN(test_find, test_unknown, test_refused, test_set, test_every, test_normalised,
         test_unused_sizes, test_kinds)
