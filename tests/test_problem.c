// What the parts of a problem have in common: parameters that are listed once, which entries of
// variables are rotations, what varies twice, what maps compute, what follows geoms.

#include "base/pool.h"
#include "common/make_model.h"
#include "common/message.h"
#include "common/sample_model.h"
#include "common/test.h"
#include "gradient/map.h"
#include "gradient/problem.h"
#include "model/param.h"

static void testParams(void) {
  djModel* m = djt_sampleModel(NULL);
  djProblem p = {0};
  djPool pool = {0};
  djError err = {""};
  djParam listed[40];
  int n = 0, tangent = 0;
  static const djField field[] = {DJ_FIELD_BODY_MASS, DJ_FIELD_BODY_POS, DJ_FIELD_BODY_IQUAT};
  for (int b = 1; b < m->nbody; b++) {
    for (int k = 0; k < 3; k++) {
      int index = -1;
      assert_true(n < 40 && dj_makeParam(&listed[n], m, field[k], b));
      for (int twice = 0; twice < 2; twice++) {   // the same index, and no second place
        assert_int_equal(dj_listParam(&index, &p, &listed[n], &pool, &err), DJ_OK);
        assert_int_equal(index, n);
        assert_int_equal(p.nparam, n + 1);
      }
      assert_int_equal(dj_paramTangentAdr(&p, index), tangent);
      tangent += listed[n++].ntangent;
      assert_int_equal(p.nparamtangent, tangent);
    }
  }
  assert_true(n > 8);   // the list has grown
  for (int k = 0; k < n; k++) {
    assert_true(p.param[k].field == listed[k].field && p.param[k].id == listed[k].id);
    for (int e = 0; e < listed[k].ntangent; e++) {
      djVariable v = {.kind = DJ_VAR_PARAM, .param = k, .ntangent = listed[k].ntangent};
      bool rotation = listed[k].field == DJ_FIELD_BODY_IQUAT;
      assert_true(dj_variableIsRotation(&p, m, &v, e) == rotation);
    }
  }
  dj_poolFree(&pool);
  dj_deleteModel(m);
}

// Entries of the start: rotations are the last three of ball and free joints, velocities never.
static void testRotations(void) {
  djModel* m = djt_sampleModel(NULL);
  djProblem p = {0};
  int count[2] = {0, 0};
  for (int i = 0; i < m->nv; i++) {
    int j = m->dof_jnt[i], first = m->jnt_dofadr[j], type = m->jnt_type[j];
    bool rotation = type == DJ_BALL || (type == DJ_FREE && i >= first + 3);
    djVariable whole = {.kind = DJ_VAR_QPOS0};
    djVariable part = {.kind = DJ_VAR_QPOS0_JOINT, .joint = j, .adr = first};
    djVariable speed = {.kind = DJ_VAR_QVEL0}, ctrl = {.kind = DJ_VAR_CTRL};
    assert_true(dj_variableIsRotation(&p, m, &whole, i) == rotation);
    assert_true(dj_variableIsRotation(&p, m, &part, i - first) == rotation);
    assert_false(dj_variableIsRotation(&p, m, &speed, i));
    assert_false(dj_variableIsRotation(&p, m, &ctrl, i));
    count[rotation]++;
  }
  assert_true(count[0] > 0 && count[1] > 0);
  dj_deleteModel(m);
}

static djVariable picked(const char* name, djVariableKind kind, int adr, int n, const int* index) {
  return (djVariable){.kind = kind, .name = name, .param = -1, .free = -1, .adr = adr,
                      .ntangent = 10, .picked = true, .n = n, .index = index};
}

static void testListed(void) {
  static const int low[] = {2, 0, 1}, high[] = {5, 3}, twice[] = {4, 1, 4}, one[] = {0};
  djVariable v[2];
  djProblem p = {.nvariable = 2, .variable = v};
  djError err = {""};
  v[0] = picked("a", DJ_VAR_CTRL, 0, 3, low);
  v[1] = picked("b", DJ_VAR_CTRL, 0, 2, high);
  assert_int_equal(dj_checkListed(&p, &err), DJ_OK);
  v[1].adr = -3;   // its entries are 2 and 0
  assert_int_equal(dj_checkListed(&p, &err), DJ_INVALID);
  assertMessage(err.text, "variables: 'a' and 'b' have an entry in common");
  v[1].kind = DJ_VAR_ACT0;   // of another vector
  assert_int_equal(dj_checkListed(&p, &err), DJ_OK);
  v[1] = picked("c", DJ_VAR_QVEL0, 0, 3, twice);
  assert_int_equal(dj_checkListed(&p, &err), DJ_INVALID);
  assertMessage(err.text, "variables: an entry of 'c' is listed twice");
  v[0] = picked("z", DJ_VAR_FREE, 0, 1, one);
  v[1] = picked("y", DJ_VAR_FREE, 0, 1, one);
  v[0].free = 0, v[1].free = 1;
  assert_int_equal(dj_checkListed(&p, &err), DJ_OK);
  v[1].free = 0;
  assert_int_equal(dj_checkListed(&p, &err), DJ_INVALID);
  // a whole vector beside a part of it: no matter here, but it is where variables must be apart
  static const int all[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  v[0] = picked("qvel0", DJ_VAR_QVEL0, 0, 10, all);
  v[0].picked = false;
  v[1] = picked("hip", DJ_VAR_QVEL0_JOINT, 9, 1, one);
  assert_int_equal(dj_checkListed(&p, &err), DJ_OK);
  assert_int_equal(djd_checkVariables(&p, &err), DJ_INVALID);
  v[1].adr = 10;
  assert_int_equal(djd_checkVariables(&p, &err), DJ_OK);
  assert_int_equal(djd_checkVariables(NULL, &err), DJ_INVALID);
  p.nvariable = 0;
  assert_int_equal(dj_checkListed(&p, &err), DJ_OK);
}

// Maps compute parameters, or controls start, start + stride...
static void testTargets(void) {
  static const int index[] = {7, 4};
  djMapTarget target[2] = {{.param = -1, .start = 1, .stride = 3, .n = 2}, {.param = 2, .n = 1}};
  djMap map[2] = {{.ntarget = 0}, {.ntarget = 2, .target = target}};
  djVariable v = picked("u", DJ_VAR_CTRL, 0, 2, index);
  djProblem p = {.nvariable = 1, .variable = &v, .nmap = 2, .map = map};
  djError err = {""};
  assert_int_equal(dj_checkTargets(&p, &err), DJ_INVALID);   // entries 1 and 4
  assertMessage(err.text, "variables: 'u' is computed by maps[1]");
  target[0].n = 1;                                           // entry 1 alone
  assert_int_equal(dj_checkTargets(&p, &err), DJ_OK);
  target[0] = (djMapTarget){.param = -1, .start = 0, .stride = 3, .n = 10};
  assert_int_equal(dj_checkTargets(&p, &err), DJ_OK);        // 0, 3, 6...
  target[0].start = 10;                                      // 10, 13...: not 7 and 4
  assert_int_equal(dj_checkTargets(&p, &err), DJ_OK);
  v.kind = DJ_VAR_PARAM;
  for (v.param = 0; v.param < 4; v.param++) {
    assert_int_equal(dj_checkTargets(&p, &err), v.param == 2 ? DJ_INVALID : DJ_OK);
  }
  v.kind = DJ_VAR_QPOS0;
  assert_int_equal(dj_checkTargets(&p, &err), DJ_OK);
}

// Mass and inertia of a body with mass and a solid geom follow it.
static void testFollowers(void) {
  static const djField inertial[] = {DJ_FIELD_BODY_MASS, DJ_FIELD_BODY_IPOS, DJ_FIELD_BODY_IQUAT,
                                     DJ_FIELD_BODY_INERTIA};
  djModelDef def = dj_defaultModelDef();
  djBodyDef body[4];
  djGeomDef geom[2];
  for (int b = 0; b < 4; b++) {
    body[b] = dj_defaultBodyDef();
    body[b].name = (const char*[]){"world", "ball", "bare", "ghost"}[b];
    body[b].mass = b == 3 ? 0 : 1;
    for (int k = 0; k < 3; k++) body[b].inertia[k] = b == 3 ? 0 : 0.01;
  }
  for (int g = 0; g < 2; g++) {
    geom[g] = dj_defaultGeomDef();
    geom[g].body = g ? 3 : 1;
    geom[g].size[0] = 0.1;
  }
  def.nbody = 4, def.body = body, def.ngeom = 2, def.geom = geom;
  djModel* m = djt_makeModel(&def);
  djParam list[1];
  djProblem p = {.nparam = 1, .param = list, .inertia_from_geom = true};
  djError err = {""};
  for (int b = 1; b < 4; b++) {
    for (int k = 0; k < 4; k++) {
      list[0] = (djParam){.field = inertial[k], .id = b};
      assert_true(dj_paramFollows(m, list) == (b == 1));
      assert_int_equal(dj_checkFollowers(&p, m, &err), b == 1 ? DJ_INVALID : DJ_OK);
      if (b == 1) assertMessage(err.text, "inertia_from_geom: 'ball' follows its geoms");
    }
    list[0] = (djParam){.field = DJ_FIELD_BODY_POS, .id = b};
    assert_false(dj_paramFollows(m, list));
  }
  djVariable v = {.kind = DJ_VAR_PARAM, .name = "weight", .param = 0};
  list[0] = (djParam){.field = DJ_FIELD_BODY_MASS, .id = 1};
  p.nvariable = 1, p.variable = &v;   // as the task calls it
  assert_int_equal(dj_checkFollowers(&p, m, &err), DJ_INVALID);
  assertMessage(err.text, "inertia_from_geom: 'weight' follows its geoms");
  p.inertia_from_geom = false;
  assert_int_equal(dj_checkFollowers(&p, m, &err), DJ_OK);
  dj_deleteModel(m);
}

DJT_MAIN(testParams, testRotations, testListed, testTargets, testFollowers)
