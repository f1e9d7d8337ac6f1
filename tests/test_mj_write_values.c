// Numbers of a design in the MJCF that is written from it.

#define _GNU_SOURCE   // mkstemps
#include "common/make_model.h"
#include "common/mjcf.h"
#include "common/near.h"
#include "common/test.h"

#include "param_table.h"
#include "write.h"

#include <dijoco/entry.h>

#include <unistd.h>

static void writeScene(char* path, const char* text) {
  int file = mkstemps(path, 4);
  assert_true(file >= 0);
  assert_int_equal(write(file, text, strlen(text)), (int)strlen(text));
  close(file);
}

// A number that changes to what another one was is a change.
static void testExchanged(void) {
  static const char kText[] =
      "<mujoco><worldbody><body><joint name='j' type='ball'/><geom size='.1'/></body><body "
      "pos='1 0 0'><joint name='k' type='ball' stiffness='4' damping='3' armature='2' "
      "frictionloss='1'/><geom size='.1'/></body></worldbody></mujoco>";
  static const char* const names[] = {"stiffness", "damping", "armature", "frictionloss"};
  char path[] = "djwriteXXXXXX.xml";
  writeScene(path, kText);
  mjModel* m = djt_compile(kText);
  for (int i = 0; i < 16; i++) {   // parameter i % 4 gets the number of i / 4
    djModel* x = djt_import(NULL, m);
    double want[4] = {4, 3, 2, 1}, value = 4 - i / 4;
    char name[100], *text;
    djError err;
    snprintf(name, sizeof(name), "joint/k/%s", names[i % 4]);
    djParam param = djt_param(x, name);
    assert_int_equal(dj_setParam(x, &param, &value, &err), DJ_OK);
    want[i % 4] = value;
    if (djm_makeMJCF(&text, path, x, NULL, &err) != DJ_OK) fail_msg("%s", err.text);
    mjModel* w = djt_compile(text);
    assert_true(w->jnt_stiffness[1] == want[0] && w->jnt_stiffness[0] == 0);
    for (int k = 0; k < 6; k++) {
      assert_true(w->dof_damping[k] == (k < 3 ? 0 : want[1]));
      assert_true(w->dof_armature[k] == (k < 3 ? 0 : want[2]));
      assert_true(w->dof_frictionloss[k] == (k < 3 ? 0 : want[3]));
    }
    free(text);
    mj_deleteModel(w);
    dj_deleteModel(x);
  }
  mj_deleteModel(m);
  remove(path);
}

// Inertias given in full are replaced by those of the design.
static void testFullInertia(void) {
  static const char kText[] =
      "<mujoco><worldbody><body><freejoint/><geom size='.1'/></body><body name='b' pos='1 0 0'>"
      "<inertial pos='.1 .2 .3' mass='2' fullinertia='2 3 4 .1 .2 .3'/><joint/><geom size='.1'/>"
      "</body></worldbody></mujoco>";
  static const char* const names[] = {"body/b/inertia", "body/b/iquat", "body/b/mass"};
  static const double values[][4] = {{3, 4, 5}, {.5, .5, .5, .5}, {3}};
  char path[] = "djwriteXXXXXX.xml";
  writeScene(path, kText);
  mjModel* m = djt_compile(kText);
  for (int i = 0; i < 4; i++) {   // the last time as it is
    djModel* x = djt_import(NULL, m);
    djParam param;
    djError err;
    char* text;
    if (i < 3) {
      assert_int_equal(dj_paramId(&param, x, names[i], &err), DJ_OK);
      assert_int_equal(dj_setParam(x, &param, values[i], &err), DJ_OK);
    }
    if (djm_makeMJCF(&text, path, x, NULL, &err) != DJ_OK) fail_msg("%s", err.text);
    mjModel* w = djt_compile(text);
    djt_near(w->body_mass[2], i == 2 ? 3 : 2, 1e-12);
    for (int k = 0; k < 3; k++) {
      djt_near(w->body_inertia[6 + k], i == 0 ? 3 + k : m->body_inertia[6 + k], 1e-12);
    }
    const double* quat = i == 1 ? values[1] : m->body_iquat + 8;
    djt_near(fabs(mju_dot(w->body_iquat + 8, quat, 4)), 1, 1e-12);
    free(text);
    mj_deleteModel(w);
    dj_deleteModel(x);
  }
  mj_deleteModel(m);
  remove(path);
}

// Each parameter of an element, but vertices and restitution (solref), has a row that says where MuJoCo has it, and its own
// place there; what is set there is what the import finds.
static void testTable(void) {
  mjModel* m = djt_compile(
      "<mujoco><worldbody><geom name='f' type='box' size='.1 .2 .3'/>"
      "<body name='b' pos='1 0 0'><joint name='j' stiffness='1' range='-1 1' "
      "limited='true'/><geom name='g' type='box' size='.1 .2 .3'/><site name='s'/></body>"
      "</worldbody><contact><pair geom1='g' geom2='f'/></contact><tendon><fixed name='t' limited='true' range='-1 1'><joint joint='j' coef='1'/>"
      "</fixed></tendon><equality><connect body1='b' anchor='1 0 0'/><joint joint1='j'/>"
      "</equality><actuator><dcmotor name='w' joint='j' motorconst='.5' resistance='2' "
      "inductance='0 .01' thermal='2 3 0 .004 25 30' lugre='30 .4 .3 .5 .1'/>"
      "<general name='u' joint='j' gaintype='affine' biastype='affine'/></actuator></mujoco>");
  const djEntry* e;
  int n = 0;
  for (int i = 0; (e = dj_parameterEntry(i)); i++) {
    const djmParamRow* row = djm_findParam(e->name);
    bool elements = strstr(e->name, "/N/") && strcmp(e->name, "mesh/N/vert") != 0 &&
                    strcmp(e->name, "hfield/N/heights") != 0 &&   // write_hfield.h
                    strncmp(e->name, "flex/", 5) != 0 &&           // write_flex.c
                    !strstr(e->name, "/N/restitution") &&
                    strcmp(e->name, "geom/N/sharpness") != 0 &&   // <custom> has these
                    strcmp(e->name, "geom/N/surface") != 0 &&
                    strcmp(e->name, "geom/N/points") != 0 &&
                    strcmp(e->name, "equality/N/anchor") != 0 &&   // MuJoCo finds the second one
                    strcmp(e->name, "geom/N/contact_scale") != 0;
    assert_int_equal(row != NULL, elements);
    if (!row) continue;
    assert_string_equal(row->name, e->name);
    djmParamList list;
    djModel* x = djt_import(NULL, m);
    assert_true(djm_listParams(&list, x, e->name) && list.n >= 1);
    const djParam* p = &list.param[list.n - 1];
    double value[8];
    assert_int_equal(dj_getParam(value, x, p), DJ_OK);
    bool second = row->place == DJM_PAIR_SECOND;   // another number than the first
    for (int k = 0; k < p->nvalue && !row->unit; k++) value[k] = 0.5 + 0.125 * (k + second);
    djm_putParam(m, row, p->id, value);
    djModel* y = djt_import(NULL, m);
    double got[8];
    assert_int_equal(dj_getParam(got, y, p), DJ_OK);
    for (int k = 0; k < p->nvalue; k++) djt_near(got[k], value[k], 1e-15);
    dj_deleteModel(y);
    dj_deleteModel(x);
    free(list.param);
    n++;
  }
  int rows = 0;
  while (djm_paramRow(rows)) rows++;
  assert_int_equal(n, rows);
  mj_deleteModel(m);
}

// The frame of a surface on a mesh that MuJoCo centres and turns is what it was in the scene that
// is written, and where the compiled mesh is.
static void testShapePose(void) {
  static const char kText[] =
      "<mujoco><asset><mesh name='wedge' vertex='.3 0 .1 .5 .1 .1 .2 .4 .1 .3 .1 .35'/></asset>"
      "<custom><text name='dijoco_shape/g' data='superellipsoid .1 .2 .15 1.5 pose .3 .1 .2 "
      ".5 .1 -.7 .5'/><text name='dijoco_shape/h' data='smooth_polytope .6 .6 .6 .6 -.6 -.6 "
      "-.6 .6 -.6 -.6 -.6 .6 .1 .1 .1 .1 .1 20'/></custom><worldbody><body><freejoint/>"
      "<geom name='g' type='mesh' mesh='wedge'/></body><body pos='2 0 0'><freejoint/>"
      "<geom name='h' type='box' size='.1 .1 .1'/></body></worldbody></mujoco>";
  char path[] = "djwriteXXXXXX.xml";
  writeScene(path, kText);
  mjModel* m = djt_compile(kText);
  djModel* x = djt_import(NULL, m);
  assert_true(fabs(m->mesh_quat[0]) < 0.99 && mju_norm3(m->mesh_pos) > 0.1);
  double quat[4] = {.5, .1, -.7, .5}, turn[4], pos[3] = {.3, .1, .2}, at[3];
  mju_negQuat(turn, m->mesh_quat);
  mju_normalize4(quat);
  mju_mulQuat(turn, turn, quat);
  djt_near(fabs(mju_dot(x->geom_surfacequat, turn, 4)), 1, 1e-12);
  mju_rotVecQuat(at, x->geom_surfacepos, m->mesh_quat);
  for (int k = 0; k < 3; k++) djt_near(at[k] + m->mesh_pos[k], pos[k], 1e-12);
  djError err;
  char* text;
  double friction[3] = {.3, .01, .001};
  djParam param = djt_param(x, "geom/g/friction");
  assert_int_equal(dj_setParam(x, &param, friction, &err), DJ_OK);
  if (djm_makeMJCF(&text, path, x, NULL, &err) != DJ_OK) fail_msg("%s", err.text);
  mjModel* w = djt_compile(text);
  djModel* y = djt_import(NULL, w);
  assert_int_equal(y->geom_family[0], x->geom_family[0]);
  assert_true(y->geom_surfacenum[0] == 3 && y->geom_surfacenum[1] == 17);   // 4 facets
  djt_near(fabs(mju_dot(y->geom_surfacequat, x->geom_surfacequat, 4)), 1, 1e-12);
  for (int k = 0; k < 3; k++) djt_near(y->geom_surfacepos[k], x->geom_surfacepos[k], 1e-12);
  dj_deleteModel(y);
  mj_deleteModel(w);
  free(text);
  dj_deleteModel(x);
  mj_deleteModel(m);
  remove(path);
}

DJT_MAIN(testTable, testExchanged, testFullInertia, testShapePose)
