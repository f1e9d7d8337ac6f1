// The map `taper`: where every kind of place goes, against the box worked out by hand; mass,
// inertia and centre; derivatives against differences; and what is refused.

#include "common/design_case.h"
#include "common/json.h"
#include "common/make_model.h"
#include "common/near.h"
#include "common/refused_text.h"
#include "common/test.h"
#include "gradient/map_box.h"
#include "model/param.h"

#include <dijoco/dijoco.h>

// Of `arm` the box has x from -0.1 to 0.3, ends 0.2 x 0.4 and 0.4 x 0.2. The mesh is turned by a
// quarter about z: its (x, y) is (y, -x) in the body.
static const char scene[] =
    "{'dijoco_model':1,'option':{'gravity':[0,0,-9.81]},'bodies':[{'name':'world'},"
    "{'name':'arm','mass':3,'inertia':[0.2,0.3,0.4],'pos':[0,0,1],"
    "'iquat':[0.7071067811865476,0,0,0.7071067811865476]},"
    "{'name':'hand','parent':'arm','pos':[0.3,0.1,0],'mass':0.5,'inertia':[0.01,0.02,0.02]},"
    "{'name':'other','parent':'arm','pos':[0.4,0,0],'mass':0.5,'inertia':[0.01,0.02,0.02]}],"
    "'joints':[{'name':'swing','type':'hinge','body':'arm','axis':[0,1,0],"
    "'pos':[0.1,0.05,0]},"
    "{'name':'bend','type':'hinge','body':'hand','axis':[0,1,0]}],"
    "'meshes':[{'name':'block','vert':[[-0.05,0,0],[0.05,0,0],[0,0.1,0],[0,0.1,0.05],"
    "[0.7,0,0]]}],"
    "'geoms':[{'name':'floor','type':'plane','body':'world','pos':[0,0,0.85]},"
    "{'name':'head','type':'mesh','mesh':'block','body':'arm',"
    "'pos':[0.1,0,0],'quat':[0.7071067811865476,0,0,0.7071067811865476],"
    "'points':[[0.03,0.02,0.04]],'contact_scale':2,'field':0},"
    "{'name':'ball','type':'sphere','body':'arm','pos':[-0.1,0.1,-0.2],"
    "'size':[0.02,0,0]},"
    "{'name':'off','type':'sphere','body':'arm','pos':[2,0,0],'size':[0.02,0,0]}],"
    "'sites':[{'name':'tip','body':'arm','pos':[0.2,0.1,0.05]},"
    "{'name':'far','body':'arm','pos':[0.2,0.3,0.05]},"
    "{'name':'end','body':'hand','pos':[0.1,0,0.1]}],"
    "'actuators':[{'name':'m0','joint':'swing'},{'name':'m1','joint':'bend'}]}";

#define BOX "'box':[[-0.1,-0.1,-0.2],[-0.1,0.1,0.2],[0.3,-0.2,-0.1],[0.3,0.2,0.1]]"
#define TAPER(more) "{'type':'taper','from':'c','body':'arm'," more "}"
#define SCALED BOX ",'density':100,'length':[0],'y0':[1],'z0':[2],'y1':[3,1],'z1':[4,4]"

static void makeCaseOf(DesignCase* c, const char* model, const char* maps, const char* rest) {
  char text[4096];
  snprintf(text, sizeof text,
           "{'scene':'s','horizon':4,'integrator':'bdf1','ctrl':[0.3,-0.2],'free':{"
           "'c':{'value':[1,1,1,1,1]}},'maps':[%s],%s,'variables':[{'name':'c'}]}",
           maps, rest);
  djError err = {""};
  *c = (DesignCase){0};
  if (dj_loadModelText(&c->m, djt_json(model), &err) != DJ_OK) fail_msg("%s", err.text);
  if (dj_loadTaskText(&c->task, djt_json(text), NULL, &err) != DJ_OK) fail_msg("%s", err.text);
  if (dj_applyTask(c->m, c->task, &err) != DJ_OK) fail_msg("%s", err.text);
  if (dj_resolveTask(&c->p, c->task, c->m, &err) != DJ_OK) fail_msg("%s", err.text);
  if (djd_makeDesign(&c->d, c->m, c->p, &err) != DJ_OK) fail_msg("%s", err.text);
}

static void makeCase(DesignCase* c, const char* maps, const char* rest) {
  makeCaseOf(c, scene, maps, rest);
}

static const double x[5] = {1.2, 0.9, 1.1, 0.8, 1.3};

// Where a place of the arm goes: its part of the length, then its parts of width and height.
static void placeOf(double out[3], double px, double py, double pz) {
  double t = (px + 0.1) / 0.4, w0 = 0.2, h0 = 0.4, w1 = 0.4, h1 = 0.2;
  double w = w0 + t * (w1 - w0), h = h0 + t * (h1 - h0);
  double wn = w0 * x[1] * (1 - t) + w1 * x[3] * x[1] * t;
  double hn = h0 * x[2] * (1 - t) + h1 * x[4] * x[4] * t;
  out[0] = x[0] * px; // the origin is inside, and stays
  out[1] = py / w * wn;
  out[2] = pz / h * hn;
}

static void expectAt(const double* got, double px, double py, double pz) {
  double want[3];
  placeOf(want, px, py, pz);
  for (int k = 0; k < 3; k++) djt_near(got[k], want[k], 1e-12);
}

static void testMoves(void) {
  DesignCase c;
  makeCase(&c, TAPER(SCALED), "'loss':[]");
  const djModel *m = c.m, *moved = c.d->model;
  for (int k = 0; k < 2; k++) { // at 1 all is where it was, but for the mass
    if (k == 1) assert_int_equal(djd_moveDesign(c.d, x), DJ_OK);
    for (int i = 0; i < 3 && k == 0; i++) {
      djt_near(moved->body_pos[6 + i], m->body_pos[6 + i], 1e-15);
      djt_near(moved->site_pos[i], m->site_pos[i], 1e-15);
      for (int v = 0; v < 5; v++) {
        djt_near(moved->mesh_vert[3 * v + i], m->mesh_vert[3 * v + i], 1e-15);
      }
    }
  }
  expectAt(moved->body_pos + 6, 0.3, 0.1, 0);
  expectAt(moved->jnt_pos, 0.1, 0.05, 0);
  expectAt(moved->geom_pos + 6, -0.1, 0.1, -0.2);
  expectAt(moved->site_pos, 0.2, 0.1, 0.05);
  for (int v = 0; v < 4; v++) {
    const double *p = m->mesh_vert + 3 * v, *q = moved->mesh_vert + 3 * v;
    double body[3] = {0.1 - q[1], q[0], q[2]};
    expectAt(body, 0.1 - p[1], p[0], p[2]);
  }
  for (int k = 0; k < 3; k++) { // outside, or of another body
    assert_true(moved->body_pos[9 + k] == m->body_pos[9 + k]);
    assert_true(moved->site_pos[3 + k] == m->site_pos[3 + k]);
    assert_true(moved->site_pos[6 + k] == m->site_pos[6 + k]);
    assert_true(moved->mesh_vert[12 + k] == m->mesh_vert[12 + k]);
    assert_true(moved->geom_pos[3 + k] == m->geom_pos[3 + k]);
  }
  double w = (0.2 * x[1] + 0.4 * x[3] * x[1]) / 2, h = (0.4 * x[2] + 0.2 * x[4] * x[4]) / 2;
  double L = 0.4 * x[0], mass = 100 * w * h * L;
  djt_near(moved->body_mass[1], mass, 1e-12);
  // the principal axes are those of the body, turned by a quarter about z
  djt_near(moved->body_inertia[3], mass / 12 * (h * h + L * L), 1e-12);
  djt_near(moved->body_inertia[4], mass / 12 * (w * w + h * h), 1e-12);
  djt_near(moved->body_inertia[5], mass / 12 * (w * w + L * L), 1e-12);
  djt_near(moved->body_ipos[3], 0.1 * x[0], 1e-12);
  djt_near(moved->body_ipos[4], 0, 1e-15);
  // coefficients of contact as the surface, of what is inside
  double wa = 0.2 * x[1], ha = 0.4 * x[2], wb = 0.4 * x[3] * x[1], hb = 0.2 * x[4] * x[4];
  double surface = wa * ha + wb * hb + (wa + ha + wb + hb) * L;
  djt_near(moved->geom_contact_scale[1], 2 * surface / (0.08 + 0.08 + 1.2 * 0.4), 1e-12);
  djt_near(moved->geom_contact_scale[2], surface / 0.64, 1e-12);
  assert_true(moved->geom_contact_scale[3] == 1 && moved->geom_contact_scale[0] == 1);
  // a point of the mesh that is given
  double point[3] = {0.1 - moved->point_pos[1], moved->point_pos[0], moved->point_pos[2]};
  expectAt(point, 0.1 - 0.02, 0.03, 0.04);
  djt_closeDesign(&c);
}

// A box that does not reach to the origin keeps the end next to it.
static void testFixedEnd(void) {
  DesignCase c;
  makeCase(&c, TAPER("'box':[[0.05,-0.2,-0.2],[0.3,0.2,0.2]],'length':[0]"), "'loss':[]");
  assert_int_equal(djd_moveDesign(c.d, x), DJ_OK);
  djt_near(c.d->model->jnt_pos[0], 0.05 + 1.2 * 0.05, 1e-12);
  djt_near(c.d->model->body_pos[6], 0.05 + 1.2 * 0.25, 1e-12);
  assert_true(c.d->model->body_mass[1] == c.m->body_mass[1]); // no density: as it was
  djt_closeDesign(&c);
}

// All derivatives of the loss by differences; the largest.
static double checkSlopes(DesignCase* c) {
  double loss, grad[5], side[4], y[5], most = 0;
  if (djd_evaluateDesign(&loss, grad, c->d, x) != DJ_OK) fail_msg("%s", c->d->error.text);
  for (int k = 0; k < 5; k++) {
    const double e = 1e-4;
    for (int i = 0; i < 4; i++) {
      memcpy(y, x, sizeof y);
      y[k] += (i % 2 ? e : -e) * (i < 2 ? 1 : 2);
      assert_int_equal(djd_evaluateDesign(&side[i], NULL, c->d, y), DJ_OK);
    }
    double near = (side[1] - side[0]) / (2 * e), far = (side[3] - side[2]) / (4 * e);
    djt_near(grad[k], (4 * near - far) / 3, 1e-8 * (1 + fabs(loss)));
    most = fmax(most, fabs(grad[k]));
    assert_true(fabs(grad[k]) > 1e-4);
  }
  return most;
}

// What lies on a face but for single precision is inside.
static void testFaces(void) {
  DesignCase c;
  makeCase(&c, TAPER("'box':[[-0.1,-0.2,-0.2],[0.3,0.09999998,0.2]],'length':[0]"), "'loss':[]");
  assert_int_equal(djd_moveDesign(c.d, x), DJ_OK);
  djt_near(c.d->model->site_pos[0], 1.2 * 0.2, 1e-12);
  djt_closeDesign(&c);
}

// Points that are given of a geom that is no mesh go where they are in the body, it with its
// middle.
static void testPoints(void) {
  static const char at[] = "'pos':[-0.1,0.1,-0.2],";
  char text[sizeof scene + 200];
  const char* found = strstr(scene, at);
  snprintf(text, sizeof text,
           "%.*s%s'quat':[0.7071067811865476,0,0,0.7071067811865476],"
           "'points':[[-0.06,-0.05,0.03],[5,0,0]],%s",
           (int)(found - scene), scene, at, found + strlen(at));
  DesignCase c;
  makeCaseOf(&c, text, TAPER(SCALED),
             "'contact':'penalty','loss':[{'type':'position','site':'end','target':[1,1,1]},"
             "{'type':'distance','site':'tip','geom2':'ball'},"
             "{'type':'velocity','body':'hand','when':'running','weight':30}]");
  assert_int_equal(djd_moveDesign(c.d, x), DJ_OK);
  const djModel* m = c.d->model;
  const double *pos = m->geom_pos + 6, *p = m->point_pos + 3 * m->geom_pointadr[2];
  double body[3] = {pos[0] - p[1], pos[1] + p[0], pos[2] + p[2]};
  expectAt(pos, -0.1, 0.1, -0.2);
  expectAt(body, -0.1 + 0.05, 0.1 - 0.06, -0.2 + 0.03);
  assert_true(p[3] == 5 && p[4] == 0 && p[5] == 0); // outside: with its geom
  djt_near(m->geom_contact_scale[2], m->geom_contact_scale[1] / 2, 1e-12);
  checkSlopes(&c);
  djt_closeDesign(&c);
}

// Principal axes that are not along the body's become so, and the inertia that of the box.
static void testAxes(void) {
  char text[sizeof scene];
  static const char turn[] = "[0.7071067811865476,0,0,0.7071067811865476]";
  memcpy(text, scene, sizeof scene);
  memcpy(strstr(text, turn), "[0.9,0.1,0.3,0.2]                          ", sizeof turn - 1);
  DesignCase c;
  makeCaseOf(&c, text, TAPER(SCALED),
             "'loss':[{'type':'com','target':[1,0,0]},"
             "{'type':'qvel','joint':'swing'}]");
  assert_int_equal(djd_moveDesign(c.d, x), DJ_OK);
  const djModel* m = c.d->model;
  double w = (0.2 * x[1] + 0.4 * x[3] * x[1]) / 2, h = (0.4 * x[2] + 0.2 * x[4] * x[4]) / 2;
  double L = 0.4 * x[0], mass = 100 * w * h * L;
  for (int k = 0; k < 4; k++) assert_true(m->body_iquat[4 + k] == (k == 0));
  djt_near(m->body_inertia[3], mass / 12 * (w * w + h * h), 1e-12);
  djt_near(m->body_inertia[4], mass / 12 * (h * h + L * L), 1e-12);
  djt_near(m->body_inertia[5], mass / 12 * (w * w + L * L), 1e-12);
  checkSlopes(&c);
  djt_closeDesign(&c);
}

// Derivatives by differences: of a run, which takes places, mass and inertia, and where the arm is
// in the floor points and coefficients.
static void checkGradient(const char* contact) {
  char rest[1000];
  snprintf(rest, sizeof rest,
           "'contact':'%s','loss':[{'type':'position','site':'end','target':"
           "[1,1,1]},{'type':'distance','site':'tip','geom2':'ball','norm':true},"
           "{'type':'velocity','body':'hand','when':'running','weight':30}]",
           contact);
  DesignCase c;
  makeCase(&c, TAPER(SCALED), rest);
  assert_true(checkSlopes(&c) > 0.1);
  djt_closeDesign(&c);
}

static void testGradient(void) {
  checkGradient("none");
  checkGradient("penalty");
}

// Every place of a body is visited once, and those of its children's frames.
typedef struct Visits {
  int n, places, field[DJ_NFIELD];
} Visits;

static djStatus visit(void* user, const djParam* param, const djPose* pose) {
  Visits* v = user;
  v->n++;
  v->places += param->nvalue / 3;
  v->field[param->field]++;
  bool turned = fabs(pose->R.m[0] - 1) > 0.5;
  bool of_mesh = param->field == DJ_FIELD_MESH_VERT || param->field == DJ_FIELD_GEOM_POINTS;
  assert_true(turned == of_mesh);
  return v->n < 100 ? DJ_OK : DJ_INVALID;
}

static void testPlaces(void) {
  djModel* m = djt_modelOf(scene);
  Visits v = {0};
  assert_int_equal(dj_visitPlaces(m, 1, visit, &v), DJ_OK);
  // mesh and point, two spheres, two sites, two children, one joint
  assert_true(v.n == 9 && v.places == 5 + 1 + 2 + 2 + 2 + 1);
  assert_true(v.field[DJ_FIELD_GEOM_POS] == 2 && v.field[DJ_FIELD_BODY_POS] == 2);
  assert_true((size_t)v.n <= dj_placeParams(m) && (size_t)v.places <= dj_places(m));
  v.n = 99; // an error ends it
  assert_int_equal(dj_visitPlaces(m, 1, visit, &v), DJ_INVALID);
  assert_int_equal(v.n, 100);
  dj_deleteModel(m);
}

// A mask leaves out what the map computes; a name that is given may not.
static void testMask(void) {
  djError err;
  djModel* m = djt_modelOf(scene);
  for (int k = 0; k < 2; k++) {
    char text[1000];
    snprintf(text, sizeof text,
             "{'scene':'s','horizon':4,'free':{'c':{'value':[1,1,1,1,1]}},'loss':[],"
             "'maps':[" TAPER(SCALED) "],'variables':[{'name':'body/%s/mass'}]}",
             k ? "arm" : "*");
    djTask* task;
    djProblem* problem;
    assert_int_equal(dj_loadTaskText(&task, djt_json(text), NULL, &err), DJ_OK);
    djStatus status = dj_resolveTask(&problem, task, m, &err);
    assert_int_equal(status, k ? DJ_INVALID : DJ_OK);
    if (k == 0) {
      assert_int_equal(problem->nvariable, 2);
      assert_string_equal(problem->variable[0].name, "body/hand/mass");
      dj_deleteProblem(problem);
    } else {
      assert_string_equal(err.text, "variables: 'body/arm/mass' is computed by maps[0]");
    }
    dj_deleteTask(task);
  }
  dj_deleteModel(m);
}

static void testRefused(void) {
  static const char* const bad[][2] = {
      {TAPER("'box':[[0.3,-0.1,-0.1],[-0.1,0.1,0.1]]"), "maps[0]: box: is empty or inverted"},
      {TAPER("'box':[[-0.1,0.1,-0.1],[0.3,-0.1,0.1]]"), "maps[0]: box: is empty or inverted"},
      {TAPER("'box':[[0,0,0]]"), "maps[0]: box: must be two points, or two of each end"},
      {TAPER("'box':[[0,-1,-1],[1,1,1],[2,-1,-1],[2,1,1]]"),
       "maps[0]: box: an end is not at one x"},
      {TAPER(BOX ",'y0':[5]"), "maps[0]: y0: 'c' has no entry 5"},
      {TAPER(BOX ",'z1':[0.5]"), "maps[0]: z1: 'c' has no entry 0.5"},
      {TAPER(BOX ",'density':-1"), "maps[0]: density: must be a positive number"},
      {TAPER(BOX ",'density':0"), "maps[0]: density: must be a positive number"},
      {TAPER(BOX ",'to':'body/hand/pos'"), "maps[0]: to: taper takes none"},
      {"{'type':'taper','from':'c','body':'leg'," BOX "}", "maps[0]: body: there is no 'leg'"},
      {TAPER("'box':[[5,-1,-1],[6,1,1]]"), "maps[0]: box: nothing of the body is inside"},
      {TAPER(BOX) "," TAPER("'box':[[0.29,-0.2,-0.2],[0.31,0.2,0.2]]"),
       "maps[1]: 'body/hand/pos' is computed by maps[0], too"},
      {"{'type':'affine','from':'c','to':'site/tip/pos','matrix':[[1,0,0,0,0],"
       "[0,1,0,0,0],[0,0,1,0,0]]}," TAPER(BOX),
       "maps[1]: 'site/tip/pos' is computed by maps[0], too"}};
  // entries that scale by nothing or less
  static const char* const start[][2] = {{"0", "maps[0]: y1: the taper is inverted"},
                                         {"-1", "maps[0]: y1: the taper is inverted"}};
  djModel* m = djt_modelOf(scene);
#define TASK(free, maps)                                                                           \
  "{'scene':'s','horizon':4,'free':{'c':{'value':" free "}},'loss':[],'maps':[" maps "]}"
  djt_refuseTasks(DJ_INVALID, m, TASK("[1,1,1,1,1]", "%s"), bad);
  djt_refuseTasks(DJ_INVALID, m, TASK("[%s,1]", TAPER(BOX ",'y1':[1,0]")), start);
#undef TASK
  dj_deleteModel(m);
}

DJT_MAIN(testMoves, testPlaces, testFixedEnd, testFaces, testAxes, testMask, testPoints,
         testGradient, testRefused)
