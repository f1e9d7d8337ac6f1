// Parameters by name: every field of every element is found, read, written and refused.

#include "common/random_model.h"
#include "common/sample_model.h"
#include "model/param.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static djModel* makeSample(djSample* sample) {
  djt_fillSample(sample);
  djModel* model = NULL;
  djError err = {""};
  if (dj_makeModel(&model, &sample->def, &err) != DJ_OK) fail_msg("%s", err.text);
  return model;
}

static djParam find(const djModel* m, const char* name) {
  djParam param;
  djError err = {""};
  if (dj_paramId(&param, m, name, &err) != DJ_OK) fail_msg("%s", err.text);
  return param;
}

static void test_find(void** state) {
  (void)state;
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
      {"contact/stiffness", 0, 1, 1},
      {"contact/support", 0, 1, 1},
  };
  djSample sample;
  djModel* m = makeSample(&sample);
  djModel* copy = NULL;
  assert_int_equal(dj_copyModel(&copy, m, NULL), DJ_OK);
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
    const char* difference = djt_difference(m, copy);
    if (difference) fail_msg("%s changes %s", list[i].name, difference);
  }
  dj_deleteModel(m);
  dj_deleteModel(copy);
}

static void test_unknown(void** state) {
  (void)state;
  static const char* const list[][2] = {
      {"mass", "there is no parameter 'mass'"},
      {"", "there is no parameter ''"},
      {"/", "there is no parameter '/'"},
      {"body//mass", "'body//mass': there is no such body"},
      {"body/mass", "there is no parameter 'body/mass'"},
      {"body/nobody/mass", "'body/nobody/mass': there is no such body"},
      {"body/#6/mass", "'body/#6/mass': there is no such body"},
      {"body/#-1/mass", "'body/#-1/mass': there is no such body"},
      {"body/box/masses", "'body/box/masses': there is no parameter 'masses' of this kind"},
      {"bodies/box/mass", "there is no parameter 'bodies/box/mass'"},
      {"option/timestep", "'option/timestep': there is no parameter 'timestep' of this kind"},
      {"option/x/gravity", "there is no parameter 'option/x/gravity'"},
      {"contact/support/", "'contact/support/': there is no parameter '' of this kind"},
      {"body/world/pos", "'body/world/pos': the world's frame is fixed"},
      {"body/#0/quat", "'body/#0/quat': the world's frame is fixed"},
  };
  djSample sample;
  djModel* m = makeSample(&sample);
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
    djParam p;
    djError err = {""};
    assert_int_equal(dj_paramId(&p, m, list[i][0], &err), DJ_INVALID);
    assert_string_equal(err.text, list[i][1]);
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

static void test_refused(void** state) {
  (void)state;
  static const struct {
    const char* name;
    double value[7];
    const char* text;
  } list[] = {
      {"body/box/mass", {0}, "body 'box': mass must be positive"},
      {"body/box/mass", {NAN}, "body 'box': mass is not finite"},
      {"body/box/pos", {0, INFINITY, 0}, "body 'box': pos is not finite"},
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
      {"contact/support", {1}, "contact/support: must be between 0 and 1"},
      {"option/gravity", {0, 0, NAN}, "option/gravity: is not finite"},
  };
  djSample sample;
  djModel* m = makeSample(&sample);
  djModel* copy = NULL;
  assert_int_equal(dj_copyModel(&copy, m, NULL), DJ_OK);
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
    djParam p = find(m, list[i].name);
    djError err = {""};
    assert_int_equal(dj_setParam(m, &p, list[i].value, &err), DJ_INVALID);
    assert_string_equal(err.text, list[i].text);
    assert_null(djt_difference(m, copy));
  }
  dj_deleteModel(m);
  dj_deleteModel(copy);
}

static void test_set(void** state) {
  (void)state;
  djSample sample;
  djModel* m = makeSample(&sample);
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
  assert_true(m->contact.support == 0.02 && m->opt.support == 0.02);
  assert_true(fabs(m->contact.range - 0.04 / 0.98) < 1e-15);
  assert_true(m->contact.skin == before.skin && m->contact.stiffness == before.stiffness);
  p = find(m, "contact/stiffness");
  assert_int_equal(dj_setParam(m, &p, (double[1]){0.5}, NULL), DJ_OK);
  assert_true(m->contact.stiffness == 0.5);
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

static void test_kinds(void** state) {
  (void)state;
  djSample sample;
  djModel* m = makeSample(&sample);
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_find), cmocka_unit_test(test_unknown), cmocka_unit_test(test_refused),
      cmocka_unit_test(test_set),  cmocka_unit_test(test_kinds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
