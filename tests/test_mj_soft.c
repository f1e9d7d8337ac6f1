// What reports say of MuJoCo's contacts is what MuJoCo does: depths at rest, rebounds. How much of
// hulls a mesh does not fill.

#include "import_hull.h"
#include "import_soft.h"

#include "common/make_model.h"
#include "common/mjcf.h"
#include "common/near.h"
#include "common/test.h"

#define WORLD(option, defaults, bodies)                                                        \
  "<mujoco><option " option "/><default><geom " defaults "/></default><worldbody><geom "        \
  "type='plane' size='5 5 1'/>" bodies "</worldbody></mujoco>"
#define BALL "<body pos='0 0 .1'><freejoint/><geom size='.1'/></body>"
#define BOX "<body pos='0 0 .1'><freejoint/><geom type='box' size='.1 .1 .1'/></body>"
#define ROD "<body pos='0 0 .05'><freejoint/><geom type='capsule' size='.05 .2' "              \
  "quat='1 0 1 0'/></body>"
#define LEG(x, y) "<body pos='" x " " y " 0'><joint axis='0 1 0' stiffness='2000' damping='20'/>" \
  "<geom type='capsule' fromto='0 0 0 0 0 -.2' size='.02' mass='.5' contype='0' "              \
  "conaffinity='0'/><body pos='0 0 -.2'><joint axis='0 1 0' stiffness='2000' damping='20'/>"   \
  "<geom size='.022' pos='0 0 -.2' mass='.2'/></body></body>"
#define FOURLEGS "<body pos='0 0 .422'><freejoint/><geom type='box' size='.2 .1 .05' mass='8' "  \
  "contype='0' conaffinity='0'/>" LEG(".2", ".1") LEG(".2", "-.1") LEG("-.2", ".1")             \
  LEG("-.2", "-.1") "</body>"
#define SOFT "solimp='.015 1 .022' condim='6' friction='.8 .02 .01'"

static djmImport begin(const mjModel* m) {
  djmImport imp = {.m = m};
  assert_int_equal(djm_findContacts(&imp), DJ_OK);
  return imp;
}

// Of the last geom on the floor, which is the first.
static double told(const mjModel* m) {
  djmImport imp = begin(m);
  djmSoft s = djm_softOfGeoms(m, (int)m->ngeom - 1, 0);
  int n;
  double load = djm_contactLoad(&n, &imp, s.geom), depth = djm_restDepth(m, &s, load);
  djm_freeImport(&imp);
  return depth;
}

// Deepest contact after four seconds of MuJoCo.
static double measured(const mjModel* m) {
  mjData* d = mj_makeData(m);
  double deepest = 0;
  for (int k = 0; k < 4 / m->opt.timestep; k++) mj_step(m, d);
  for (int k = 0; k < d->ncon; k++) deepest = fmax(deepest, -d->contact[k].dist);
  mj_deleteData(d);
  return deepest;
}

static void testDepth(void) {
  static const char* const scenes[] = {
      WORLD("", "", BALL),
      WORLD("", "", BOX),
      WORLD("", "", ROD),
      WORLD("cone='elliptic' impratio='100'", "", BOX),
      WORLD("", "friction='.5'", BALL),
      WORLD("impratio='10'", "friction='.5'", BALL),
      WORLD("", "condim='1'", BALL),
      WORLD("", "condim='4'", BALL),
      WORLD("", "condim='6' friction='.7'", BALL),
      WORLD("", "solref='-1000 -30'", BALL),
      WORLD("", "solimp='.2 .9 .002 .3 3'", BALL),
      WORLD("", "solimp='.2 .9 .0004 .7 3'", BALL),
      WORLD("", "", FOURLEGS),
      WORLD("cone='elliptic' impratio='100'", SOFT, FOURLEGS),
  };
  for (size_t i = 0; i < sizeof(scenes) / sizeof(*scenes); i++) {
    mjModel* m = djt_compile(scenes[i]);
    double a = told(m), b = measured(m);
    if (!(fabs(a - b) <= 0.02 * b)) fail_msg("%g m is told, %g m measured\n%s", a, b, scenes[i]);
    mj_deleteModel(m);
  }
}

static djModel* importAs(const char* scene, const char* softness) {
  char text[6000];
  const int n = (int)(strlen(scene) - strlen("</mujoco>"));
  snprintf(text, sizeof(text), "%.*s<custom><text name='dijoco_softness' data='%s'/></custom>"
           "</mujoco>", n, scene, softness);
  mjModel* m = djt_compile(text);
  djModel* x = djt_import(NULL, m);
  mj_deleteModel(m);
  return x;
}

// Under softness = mujoco these rest where MuJoCo's do; else on the surface.
static void testRest(void) {
  static const struct {
    const char* scene;
    double within;   // of the depth
  } rest[] = {
      {WORLD("", "", BALL), 0.02},
      {WORLD("", "", BOX), 0.05},
      {WORLD("", "solref='.1 1'", BALL), 0.02},
      {WORLD("cone='elliptic' impratio='100'", "solref='.06 1'", BOX), 0.02},
      {WORLD("", "solref='-1000 -30'", BALL), 0.02},
      {WORLD("", "solref='.1 1' condim='4'", BALL), 0.02},
      {WORLD("cone='elliptic' impratio='100'", SOFT, FOURLEGS), 0.05},
  };
  for (size_t i = 0; i < sizeof(rest) / sizeof(*rest); i++) {
    mjModel* m = djt_compile(rest[i].scene);
    mjData* d = mj_makeData(m);
    const int n = (int)(3 / m->opt.timestep);
    double z[2];
    for (int k = 0; k < n; k++) mj_step(m, d);
    for (int soft = 0; soft < 2; soft++) {
      djModel* x = importAs(rest[i].scene, soft ? "mujoco" : "hard");
      djData* own = djt_data(x);
      for (int k = 0; k < n; k++) assert_true(dj_step(x, own) >= 0);
      z[soft] = own->qpos[2] - d->qpos[2];
      djt_delete(x, own);
    }
    djt_failIf(!(fabs(z[1]) <= rest[i].within * z[0] + 1e-5),
               "%g m above MuJoCo's, %g m on the surface\n%s", z[1], z[0], rest[i].scene);
    djt_deleteEngine(m, d);
  }
}

static void testRebound(void) {
  static const char* const geoms[] = {
      "solimp='.015 1 .022'",           "solref='.02 1'",
      "solimp='0 .8 .03' solref='.02 .3'", "solimp='.5 .9 .01' solref='.02 .2'",
      "solimp='.3 .99 .02' solref='-2000 -10'", "solref='-1000 0'",
  };
  for (size_t i = 0; i < sizeof(geoms) / sizeof(*geoms); i++) {
    char scene[1000];
    snprintf(scene, sizeof(scene), "<mujoco><option timestep='2e-5' gravity='0 0 0'/><default><geom "
             "condim='1' %s/></default><worldbody><geom type='plane' size='5 5 1'/><body "
             "pos='0 0 .1001'><freejoint/><geom size='.1'/></body></worldbody></mujoco>", geoms[i]);
    mjModel* m = djt_compile(scene);
    mjData* d = mj_makeData(m);
    d->qvel[2] = -1;
    for (int k = 0; k < 100000 && !(d->qpos[2] > .1 && d->qvel[2] > 0); k++) mj_step(m, d);
    djmSoft s = djm_softOfGeoms(m, 1, 0);
    djt_near(djm_rebound(m, &s, 1), d->qvel[2], 2e-3);
    djt_deleteEngine(m, d);
  }
}

#define MESH(vertices, faces) "<mujoco><asset><mesh name='x' inertia='shell' vertex='" vertices "' " \
  "face='" faces "'/></asset><worldbody><body><freejoint/><geom type='mesh' mesh='x'/></body>"   \
  "</worldbody></mujoco>"
#define CORNERS "-1 -1 -1 1 -1 -1 1 1 -1 -1 1 -1 -1 -1 1 1 -1 1 1 1 1 -1 1 1 0 -1 "
#define SIDES "0 3 2 0 2 1 0 8 4 0 1 8 1 5 8 2 3 9 3 7 9 2 9 6 1 2 6 1 6 5 0 4 7 0 7 3 "
#define NOTCH "4 8 9 4 9 7 5 6 9 5 9 8"

static djmConcave concave(const char* scene) {
  mjModel* m = djt_compile(scene);
  djmConcave c = djm_concave(m, 0);
  assert_true(djm_concave(m, -1).ratio == 1);
  mj_deleteModel(m);
  return c;
}

// A cube of 8 with a notch across its top, of the depth 1 and a fourth of its face; the same open.
static void testConcave(void) {
  djmConcave c = concave(MESH(CORNERS "0 0 1 0", SIDES NOTCH));
  djt_near(c.ratio, 8. / 6, 1e-6);
  djt_near(c.dent, 1, 1e-6);
  assert_true(djm_isConcave(&c, 2));
  c = concave(MESH(CORNERS "1 0 1 1", SIDES NOTCH));   // its edge is in the top
  djt_near(c.ratio, 1, 1e-6);
  assert_false(djm_isConcave(&c, 2));
  c = concave(MESH(CORNERS "0 0 1 0", SIDES "4 8 9 4 9 7"));
  assert_true(isnan(c.ratio));
  djt_near(c.dent, 1, 1e-6);
  assert_true(djm_isConcave(&c, 2) && !djm_isConcave(&c, 100));
}

static void testLength(void) {
  djmLength text;
  assert_string_equal(djm_length(text, 1.25), "1.2 m");
  assert_string_equal(djm_length(text, 0.013), "13 mm");
  assert_string_equal(djm_length(text, 0.0999999), "0.1 m");
  assert_string_equal(djm_length(text, 4.5e-5), "45 um");
  assert_string_equal(djm_length(text, 3.9e-9), "3.9 nm");
  assert_string_equal(djm_length(text, 0), "0 nm");
}

DJT_MAIN(testDepth, testRest, testRebound, testConcave, testLength)
