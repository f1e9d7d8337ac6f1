// Changed designs as MJCF: every parameter arrives, the motion is the same, what cannot be written
// is named.

#include "common/file.h"
#include "common/make_model.h"
#include "common/mjcf.h"
#include "common/random_mjcf.h"
#include "common/test.h"
#include "write.h"

#include <dijoco/io.h>

#include <unistd.h>

// ------------------------------ random designs --------------------------------------------------

// Fields with the range of the random factor, or of the random addition where it is a rotation,
// direction or position.
typedef struct djtField {
  const char *kind, *field;
  djObject object;
  double low, high;
  bool add;
} djtField;

static const djtField fields[] = {
    {"body", "pos", DJ_OBJ_BODY, -.02, .02, true},
    {"body", "quat", DJ_OBJ_BODY, -.1, .1, true},
    {"body", "mass", DJ_OBJ_BODY, .7, 1.4, false},
    {"body", "ipos", DJ_OBJ_BODY, -.02, .02, true},
    {"body", "iquat", DJ_OBJ_BODY, -.3, .3, true},
    {"body", "inertia", DJ_OBJ_BODY, .5, 2, false},
    {"body", "gravcomp", DJ_OBJ_BODY, 0, .2, true},
    {"joint", "pos", DJ_OBJ_JOINT, -.02, .02, true},
    {"joint", "axis", DJ_OBJ_JOINT, -.2, .2, true},
    {"joint", "damping", DJ_OBJ_JOINT, .5, 2, false},
    {"joint", "stiffness", DJ_OBJ_JOINT, 0, .5, true},
    {"joint", "springref", DJ_OBJ_JOINT, -.2, .2, true},
    {"joint", "armature", DJ_OBJ_JOINT, 0, .02, true},
    {"joint", "frictionloss", DJ_OBJ_JOINT, 0, .1, true},
    {"joint", "range", DJ_OBJ_JOINT, .9, 1.1, false},
    {"geom", "pos", DJ_OBJ_GEOM, -.01, .01, true},
    {"geom", "quat", DJ_OBJ_GEOM, -.1, .1, true},
    {"geom", "size", DJ_OBJ_GEOM, .8, 1.2, false},
    {"geom", "friction", DJ_OBJ_GEOM, .5, 2, false},
    {"mesh", "vert", DJ_OBJ_MESH, .9, 1.15, false},
    {"site", "pos", DJ_OBJ_SITE, -.1, .1, true},
    {"actuator", "gainprm", DJ_OBJ_ACTUATOR, .5, 2, false},
    {"actuator", "biasprm", DJ_OBJ_ACTUATOR, .5, 2, false},
    {"actuator", "gear", DJ_OBJ_ACTUATOR, .5, 2, false},
};

// What MuJoCo derives itself or cannot hold.
static bool isFixed(const djModel* m, const djtField* f, int id) {
  // A free joint's spring rests at the body's reference pose, which must not change then.
  bool placed = strcmp(f->field, "pos") == 0 || strcmp(f->field, "quat") == 0;
  for (int j = 0; j < m->njnt && f->object == DJ_OBJ_BODY && placed; j++) {
    const double* poly = m->jnt_stiffnesspoly + 2 * j;
    bool spring = m->jnt_stiffness[j] != 0 || poly[0] != 0 || poly[1] != 0;
    if (m->jnt_body[j] == id && m->jnt_type[j] == DJ_FREE && spring) return true;
  }
  if (f->object == DJ_OBJ_BODY) return id == 0 || (m->body_mass[id] == 0 && f->field[0] == 'i');
  if (f->object == DJ_OBJ_GEOM && strcmp(f->field, "size") == 0) {
    return m->geom_type[id] == DJ_MESH || m->geom_type[id] == DJ_PLANE;
  }
  if (f->object != DJ_OBJ_JOINT) return false;
  int type = m->jnt_type[id];
  if (strcmp(f->field, "springref") == 0 || strcmp(f->field, "axis") == 0) return type < DJ_SLIDE;
  return type == DJ_FREE && (strcmp(f->field, "pos") == 0 || strcmp(f->field, "stiffness") == 0);
}

static void changeField(djModel* m, djRng* rng, const djtField* f, int id) {
  char name[64];
  djError err;
  snprintf(name, sizeof name, "%s/#%d/%s", f->kind, id, f->field);
  djParam param = djt_param(m, name);
  double* value = malloc(sizeof(double) * (size_t)param.nvalue);
  dj_getParam(value, m, &param);
  double common = djt_uniform(rng, f->low, f->high);
  for (int k = 0; k < param.nvalue; k++) {
    double one = djt_uniform(rng, f->low, f->high);
    if (strcmp(f->field, "inertia") == 0) one = common;
    value[k] = f->add ? value[k] + one : value[k] * one;
    if (f->object == DJ_OBJ_MESH) value[k] = (float)value[k];   // as MuJoCo keeps it
  }
  if (strcmp(f->field, "gravcomp") == 0 || strcmp(f->field, "stiffness") == 0) {
    value[0] = fabs(value[0]);
  }
  if (dj_setParam(m, &param, value, &err) != DJ_OK) fail_msg("%s: %s", name, err.text);
  free(value);
}

// Changes every parameter of the model, with probability `part` each.
static void changeAll(djModel* m, djRng* rng, double part) {
  for (size_t k = 0; k < sizeof fields / sizeof *fields; k++) {
    for (int i = 0; i < dj_objectCount(m, fields[k].object); i++) {
      if (isFixed(m, &fields[k], i) || djt_uniform(rng, 0, 1) > part) continue;
      changeField(m, rng, &fields[k], i);
    }
  }
}

// ------------------------------ writing and comparing -------------------------------------------

static mjModel* compileText(const char* text) {
  char error[1000] = "";
  mjSpec* spec = mj_parseXMLString(text, NULL, error, sizeof error);
  if (!spec) fail_msg("%s", error);
  mjModel* m = mj_compile(spec, NULL);
  if (!m) fail_msg("%s", mjs_getError(spec));
  mj_deleteSpec(spec);
  return m;
}

// Settings as given numbers: defaults would follow the sizes.
static void fixSettings(djModel* m) {
  djOption option = m->opt;
  djError err;
  option.support = m->contact.support;
  option.stiffness = m->contact.stiffness;
  option.friction_eps = m->contact.friction_eps;
  assert_int_equal(dj_setOption(m, &option, &err), DJ_OK);
}

// qpos: in the start, out the end.
static void run(djModel* m, double* qpos, int steps) {
  djData* d = djt_data(m);
  memcpy(d->qpos, qpos, sizeof(double) * (size_t)m->nq);
  for (int k = 0; k < steps; k++) {
    for (int i = 0; i < m->nu; i++) d->ctrl[i] = 0.2 * sin(0.05 * k + i);
    if (dj_step(m, d) < 0) fail_msg("%s", dj_errorText(d));
  }
  memcpy(qpos, d->qpos, sizeof(double) * (size_t)m->nq);
  dj_deleteData(d);
}

// The motion of the written scene against that of the design, which keeps what it was compiled with
// (inertia of limits).
static void compareRuns(const djModel* wanted, const mjModel* written, double tolerance) {
  djModel *design, *imported = djt_import(NULL, written);
  djError err;
  if (dj_copyModel(&design, wanted, &err) < 0) fail_msg("%s", err.text);
  double *a = calloc((size_t)wanted->nq, sizeof *a), *b = calloc((size_t)wanted->nq, sizeof *b);
  memcpy(a, wanted->nkey > 0 ? wanted->key_qpos : wanted->qpos0,
         sizeof(double) * (size_t)wanted->nq);
  memcpy(b, a, sizeof(double) * (size_t)wanted->nq);
  size_t size = sizeof(double);
  memcpy(imported->jnt_effinertia, design->jnt_effinertia, (size_t)design->njnt * size);
  memcpy(imported->tendon_effinertia, design->tendon_effinertia, (size_t)design->ntendon * size);
  run(design, a, 60);
  run(imported, b, 60);
  for (int i = 0; i < wanted->nq; i++) {
    djt_failIf(!(fabs(a[i] - b[i]) <= tolerance * (1 + fabs(a[i]))),
               "qpos[%d]: %.17g against %.17g", i, a[i], b[i]);
  }
  free(a);
  free(b);
  dj_deleteModel(design);
  dj_deleteModel(imported);
}

static void checkScene(const char* path, int seed, double part, double tolerance) {
  djRng rng = {(unsigned long long)seed};
  djModel* base;
  djError err;
  char* text;
  if (dj_loadMJCF(&base, NULL, NULL, path, &err) < 0) fail_msg("%s: %s", path, err.text);
  djModel* wanted = djt_copy(base);
  changeAll(wanted, &rng, part);
  fixSettings(wanted);
  djStatus status = djm_makeMJCF(&text, path, wanted, NULL, &err);
  if (status != DJ_OK) fail_msg("%s (seed %d): %s", path, seed, err.text);
  mjModel* m = compileText(text);
  assert_int_equal(djm_checkDesign(m, wanted, base, 1e-10, &err), DJ_OK);
  // the check itself can fail
  if (part > 0 && base->nbody > 1) {
    djt_refusedWith(DJ_UNSUPPORTED, djm_checkDesign(m, base, base, 1e-10, &err), err,
                    "could not be written");
  }
  compareRuns(wanted, m, tolerance);
  mj_deleteModel(m);
  free(text);
  dj_deleteModel(wanted);
  dj_deleteModel(base);
}

// ------------------------------ the comparison itself -------------------------------------------

static void expectDifference(const mjModel* m, const djModel* wanted, const djModel* base,
                             const char* name) {
  djError err;
  if (djm_checkDesign(m, wanted, base, 1e-10, &err) != DJ_UNSUPPORTED) fail_msg("%s", name);
  if (strncmp(err.text, name, strlen(name)) != 0) fail_msg("%s: %s", name, err.text);
  const char* words = strstr(err.text, "could not be written: it is");
  assert_non_null(words);
  double got, want;   // of a mesh's vertex that was moved by 3e-5: the coordinate that differs most
  assert_int_equal(sscanf(words, "could not be written: it is %lf there, not %lf", &got, &want), 2);
  double least = strncmp(name, "mesh", 4) == 0 ? 1.7e-5 : 0;
  if (!(fabs(got - want) > least)) fail_msg("%s: %s", name, err.text);
}

// A mesh without geoms is nowhere.
static bool isUsed(const djModel* m, const djtField* f, int id) {
  bool used = f->object != DJ_OBJ_MESH;
  for (int g = 0; g < m->ngeom; g++) used = used || m->geom_mesh[g] == id;
  return used;
}

// A difference in any parameter of any element is found, and named.
static void testComparison(void) {
  djRng rng = {3};
  char* mjcf = djt_randomMjcf(&rng, 6, DJT_MJCF_ALL);
  mjModel* m = djt_compile(mjcf);
  djModel* base = djt_import(NULL, m);
  assert_true(m->nsite > 0 && m->nu > 1 && m->nmesh > 0);
  djError err;
  assert_int_equal(djm_checkDesign(m, base, base, 1e-10, &err), DJ_OK);
  int n = 0;
  for (size_t k = 0; k < sizeof fields / sizeof *fields; k++) {
    for (int i = 0; i < dj_objectCount(base, fields[k].object); i++) {
      char name[100];
      const char* called = dj_id2name(base, fields[k].object, i);
      snprintf(name, sizeof name, "%s/%s/%s", fields[k].kind, called, fields[k].field);
      if (isFixed(base, &fields[k], i) || !isUsed(base, &fields[k], i)) continue;
      djParam param = djt_param(base, name);
      double* value = malloc(sizeof(double) * (size_t)param.nvalue);
      for (int v = 0; v < param.nvalue; v++) {   // each number by itself
        djModel* wanted = djt_copy(base);
        dj_getParam(value, wanted, &param);
        double old = value[v];
        value[v] += fields[k].object == DJ_OBJ_MESH ? 3e-5 : 1e-3 * (1 + fabs(old));
        bool set = dj_setParam(wanted, &param, value, &err) == DJ_OK;
        dj_getParam(value, wanted, &param);
        bool spring = strcmp(fields[k].field, "springref") == 0;
        if (spring && base->jnt_stiffness[i] == 0) {   // rests anywhere
          const double* poly = base->jnt_stiffnesspoly + 2 * i;
          if (poly[0] == 0 && poly[1] == 0) set = false;
        }
        if (set && fabs(value[v] - old) > 1e-5) {
          expectDifference(m, wanted, base, name);
          n++;
        }
        dj_deleteModel(wanted);
      }
      free(value);
    }
  }
  assert_true(n > 300);
  dj_deleteModel(base);
  mj_deleteModel(m);
  free(mjcf);
}

#define TWO(first, second, rest)                                                              \
  "<mujoco><asset><mesh name='m' vertex='0 0 0 1 0 0 0 1 0 0 0 1'/><mesh name='n' vertex='0 0 0 "  \
  "1 0 0 0 1 0 0 0 1 1 1 1'/></asset><worldbody><body>" first "<geom size='.1'/></body><body>" \
  second "</body></worldbody>" rest "</mujoco>"

static bool sameSizes(const djModel* a, const djModel* b) {
  return a->nq == b->nq && a->nv == b->nv && a->nbody == b->nbody && a->ngeom == b->ngeom &&
         a->nmeshvert == b->nmeshvert && a->nsite == b->nsite && a->nu == b->nu;
}

// A scene with one more or another element than the design is not a scene of it.
static void testOtherElements(void) {
  static const char* const texts[] = {
      TWO("<joint name='j'/>", "<geom size='.1'/>", ""),
      TWO("<joint name='j'/>", "<joint/><geom size='.1'/>", ""),
      TWO("<joint name='j' type='ball'/>", "<geom size='.1'/>", ""),
      TWO("<joint name='j'/>", "<geom size='.1'/></body><body>", ""),
      TWO("<joint name='j'/>", "<geom size='.1'/><geom size='.1'/>", ""),
      TWO("<joint name='j'/>", "<geom size='.1'/><site/>", ""),
      TWO("<joint name='j'/>", "<geom type='ellipsoid' size='.1 .1 .1'/>", ""),
      TWO("<joint name='j'/>", "<geom type='mesh' mesh='m'/>", ""),
      TWO("<joint name='j'/>", "<geom type='mesh' mesh='n'/>", ""),
      TWO("<joint name='j'/>", "<geom size='.1'/>", "<actuator><motor joint='j'/></actuator>"),
      TWO("<joint name='j'/>", "<geom size='.1'/>",
          "<asset><mesh name='k' vertex='0 0 0 1 0 0 0 1 0 0 0 1'/></asset>")};
  enum { N = sizeof(texts) / sizeof(*texts) };
  char path[] = "djwriteXXXXXX.xml";
  int file = mkstemps(path, 4);
  assert_true(file >= 0);
  close(file);
  for (int i = 0; i < N; i++) {
    mjModel* m = djt_compile(texts[i]);
    djt_writeText(path, texts[i]);
    for (int k = 0; k < N; k++) {
      mjModel* other = djt_compile(texts[k]);
      djModel* x = djt_import(NULL, other);
      djError err = {""};
      djStatus status = djm_checkDesign(m, x, NULL, 1e-10, &err);
      if ((status == DJ_OK) != (i == k)) fail_msg("%d, %d: %d", i, k, status);
      if (i != k) assert_non_null(strstr(err.text, "elements"));
      char* text;
      status = djm_makeMJCF(&text, path, x, NULL, &err);
      if ((status == DJ_OK) != (i == k)) fail_msg("%d, %d: %s", i, k, err.text);
      if (i != k) assert_true(err.text[0] > ' ');
      djModel* own = djt_import(NULL, m);
      if (!sameSizes(own, x)) assert_non_null(strstr(err.text, "sizes differ"));
      dj_deleteModel(own);
      free(text);
      dj_deleteModel(x);
      mj_deleteModel(other);
    }
    mj_deleteModel(m);
  }
  remove(path);
}

// So is one in any setting.
static void testSettingsCompared(void) {
  mjModel* m = djt_compile("<mujoco><worldbody><geom type='plane' size='1 1 1'/><body pos='0 0 1'>"
                           "<freejoint/><geom size='.1'/></body></worldbody></mujoco>");
  djModel* base = djt_import(NULL, m);
  djError err;
  for (int k = 0; k < 12; k++) {
    static const char* const names[12] = {
        "contact/support", "contact/stiffness", "contact/length_scale", "contact/friction_eps",
        "contact/model", "contact/overlap", "option/integrator", "option/tolerance",
        "option/timestep", "option/gravity", "option/gravity", "option/gravity"};
    djModel* wanted = djt_copy(base);
    djOption option = wanted->opt;
    option.support = base->contact.support * (k == 0 ? 1.001 : 1);
    option.stiffness = base->contact.stiffness * (k == 1 ? 1.001 : 1);
    option.friction_eps = base->contact.friction_eps * (k == 3 ? 1.001 : 1);
    if (k == 2) option.length_scale *= 1.001;
    if (k == 4) option.contact = DJ_CONTACT_NONE;
    if (k == 5) option.overlap = DJ_OVERLAP_ERROR;
    if (k == 6) option.integrator = DJ_VARIATIONAL;
    if (k == 7) option.tolerance *= 1.001;
    if (k == 8) option.timestep *= 1.001;
    if (k > 8) option.gravity[k - 9] += 1e-3;
    if (dj_setOption(wanted, &option, &err) != DJ_OK) fail_msg("%d: %s", k, err.text);
    expectDifference(m, wanted, base, names[k]);
    dj_deleteModel(wanted);
  }
  dj_deleteModel(base);
  mj_deleteModel(m);
}

// ------------------------------ scenes ----------------------------------------------------------

// Everything that MuJoCo's compiler resolves: classes, frames, degrees, fromto, aligned free
// bodies, inertia from geoms with bounds, fitted geoms, a mesh in a file elsewhere, a shared one.
static const char kScene[] =
    "<mujoco><compiler angle='degree' meshdir='assets' boundmass='.01' alignfree='true' "
    "inertiafromgeom='true' settotalmass='7.123456789'/>"
    "<option gravity='0 0 -9.123456789' timestep='.004'/>"
    "<default><joint damping='.123456789'/><default class='thin'><geom size='.0312345678'/>"
    "</default></default>"
    "<asset><mesh name='file' file='part.obj' scale='.1234567891 .1 .1'/><mesh name='list' "
    "vertex='0 0 0 .3 0 0 0 .3 0 0 0 .3 .2 .2 .2'/></asset>"
    "<worldbody><geom name='floor' type='plane' size='5 5 1'/>"
    "<frame euler='10 20 30' pos='.1 0 .5'><body name='arm' childclass='thin' euler='0 0 15'>"
    "<joint name='hinge' axis='0 1 .3' range='-40.123456789 60' stiffness='2' springref='12'/>"
    "<geom name='rod' type='capsule' fromto='0 0 0 .3 .1 .05'/>"
    "<body name='hand' pos='.3 .1 .05'><joint name='ball' type='ball' range='0 70'/>"
    "<geom name='shared' type='mesh' mesh='list' pos='.1 0 0' euler='0 40 0'/>"
    "<geom name='fit' type='box' mesh='list' pos='.5 0 0'/><site name='tip' pos='.2 0 0'/></body>"
    "</body></frame>"
    "<body name='stone' pos='2 0 .5'><freejoint/><geom name='stone' type='mesh' mesh='file'/>"
    "<geom type='mesh' mesh='list' pos='0 .4 0' euler='0 0 50'/></body>"
    "<body name='ball' pos='4 0 .5'><freejoint/><geom size='.1'/></body></worldbody>"
    "<actuator><position name='servo' joint='hinge' kp='3.123456789'/><motor joint='hinge' "
    "ctrlrange='-1 1' gear='2'/></actuator>"
    "<keyframe><key name='start' qpos='.1234567891 1 0 0 0 2 0 1 1 .1 0 0 4 0 1 1 0 0 0' "
    "ctrl='.1 0'/></keyframe></mujoco>";

static const char kMesh[] =
    "v -1 -1 -1\nv 1 -1 -1.1\nv -1 1.3 -1\nv 1 1 -1\nv -1 -1 1\nv 1.2 -1 1\nv -1 1 1\nv 1 1 1.4\n"
    "f 1 3 4\nf 1 4 2\nf 5 6 8\nf 5 8 7\nf 1 2 6\nf 1 6 5\nf 3 7 8\nf 3 8 4\nf 1 5 7\nf 1 7 3\n"
    "f 2 4 8\nf 2 8 6\n";

static void testOwnScene(void) {
  char folder[] = "djwriteXXXXXX", path[200], assets[200], part[220];
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/scene.xml", folder);
  snprintf(assets, sizeof assets, "%s/assets", folder);
  snprintf(part, sizeof part, "%s/part.obj", assets);
  char command[300];
  snprintf(command, sizeof command, "mkdir %s", assets);
  assert_int_equal(system(command), 0);
  djt_writeText(path, kScene);
  djt_writeText(part, kMesh);
  checkScene(path, 1, 0, 1e-9);
  for (int seed = 2; seed < 6; seed++) checkScene(path, seed, seed < 5 ? 0.4 : 1, 1e-6);
  remove(part);
  rmdir(assets);
  remove(path);
  rmdir(folder);
}

static void testShipped(void) {
  checkScene(DIJOCO_SOURCE_DIR "/models/wall_friction/scene.xml", 1, 0.5, 1e-9);
  checkScene(DIJOCO_SOURCE_DIR "/models/book_stacking/scene.xml", 2, 0.2, 1e-9);
}

static void testRobots(void) {
  static const char* const names[] = {"ant", "half_cheetah", "humanoid", "walker2d_v5", "reacher"};
  const char* folder = djt_robotFolder();
  for (int i = 0; i < 5; i++) {
    char path[600];
    snprintf(path, sizeof path, "%s/%s.xml", folder, names[i]);
    checkScene(path, i + 1, 0.4, 1e-9);
  }
}

// What is not a parameter is kept; a state becomes a keyframe.
static const char kRest[] =
    "<mujoco><asset><texture name='t' type='2d' builtin='checker' width='8' height='8'/>"
    "<material name='m' texture='t'/></asset><worldbody><body name='a'><joint name='x' "
    "type='slide' axis='1 0 0'/><geom size='.1' material='m' rgba='.1 .2 .3 1'/><site name='s'/>"
    "<camera name='c' pos='0 -1 0'/></body><body name='b' pos='0 1 0'><joint name='y' type='slide' "
    "axis='1 0 0' solreflimit='.0123456789 1' range='-1 1'/><geom size='.1'/></body></worldbody>"
    "<custom><numeric name='dijoco_support' data='.01'/><numeric name='mine' data='1 2'/></custom>"
    "<tendon><fixed name='f' stiffness='.3'><joint joint='x' coef='.123456789'/></fixed></tendon>"
    "<sensor><framepos objtype='site' objname='s'/></sensor>"
    "<actuator><motor joint='x'/></actuator><keyframe><key name='k' qpos='.1 .2'/></keyframe>"
    "</mujoco>";

static void testRest(void) {
  char path[] = "djwriteXXXXXX.xml", out[] = "/tmp/djwriteXXXXXX.xml";
  djModel* m;
  djError err;
  int file = mkstemps(path, 4), file2 = mkstemps(out, 4);
  assert_true(file >= 0 && file2 >= 0);
  close(file);
  close(file2);
  djt_writeText(path, kRest);
  assert_int_equal(dj_loadMJCF(&m, NULL, NULL, path, &err), DJ_OK);
  const double s = 0.0123456789, kg = 3.3, qpos[2] = {0.3, -0.4}, qvel[2] = {1, 2}, ctrl = 0.7;
  djParam support = djt_param(m, "contact/support");
  djParam mass = djt_param(m, "body/a/mass");
  assert_int_equal(dj_setParam(m, &support, &s, &err), DJ_OK);
  assert_int_equal(dj_setParam(m, &mass, &kg, &err), DJ_OK);
  const djKeyDef key = {.qpos = qpos, .qvel = qvel, .ctrl = &ctrl};
  if (djm_writeMJCF(out, path, m, &key, &err) != DJ_OK) fail_msg("%s", err.text);
  char error[500] = "";
  mjModel* w = mj_loadXML(out, NULL, error, sizeof error);
  if (!w) fail_msg("%s", error);
  assert_true(w->body_mass[1] == kg && w->numeric_size[0] == 1 && w->numeric_data[0] == s);
  assert_true(w->nsensor == 1 && w->ntendon == 1 && w->ncam == 1 && w->ntex == 1 && w->nmat == 1);
  assert_true(fabs(w->wrap_prm[0] - .123456789) < 1e-6 && w->tendon_stiffness[0] == .3);
  assert_true(w->jnt_solref[2] == .0123456789 && w->geom_rgba[1] == .2f && w->geom_matid[0] == 0);
  assert_int_equal(w->nkey, 2);
  int k = mj_name2id(w, mjOBJ_KEY, "optimized");
  assert_true(k == 1 && w->key_qpos[2] == .3 && w->key_qvel[3] == 2 && w->key_ctrl[1] == ctrl);
  mj_deleteModel(w);
  // a design of another scene, and files that cannot be
  djModel* other;
  assert_int_equal(dj_loadMJCF(&other, NULL, NULL,
                               DIJOCO_SOURCE_DIR "/models/wall_friction/scene.xml", &err), DJ_OK);
  assert_int_equal(djm_writeMJCF(out, path, other, NULL, &err), DJ_INVALID);
  assert_int_equal(djm_writeMJCF("/nowhere/x.xml", path, m, NULL, &err), DJ_FILE);
  assert_int_equal(djm_writeMJCF(out, "/nowhere/x.xml", m, NULL, &err), DJ_INVALID);
  dj_deleteModel(other);
  dj_deleteModel(m);
  remove(path);
  remove(out);
}

// Scenes that hold no MJCF are written from the model, limits with their softness.
static void testFromModel(void) {
  for (int seed = 1; seed <= 12; seed++) {
    djRng rng = {(unsigned long long)seed};
    int features = DJT_MJCF_ALL | (seed % 2 ? 0 : DJT_MJCF_SMOOTH);
    char* mjcf = djt_randomMjcf(&rng, 3 + seed % 5, features);
    mjModel* stock = djt_compile(mjcf);
    djModel* m = djt_import(NULL, stock);
    djError err;
    char* text;
    changeAll(m, &rng, 0.3);
    fixSettings(m);
    djStatus status = djm_makeMJCF(&text, "scene.json", m, NULL, &err);
    if (status != DJ_OK) fail_msg("seed %d: %s\n%.3000s", seed, err.text, mjcf);
    mjModel* written = compileText(text);
    assert_int_equal(djm_checkDesign(written, m, NULL, 1e-10, &err), DJ_OK);
    compareRuns(m, written, 2e-5);   // vertices are floats in MJCF
    mj_deleteModel(written);
    free(text);
    dj_deleteModel(m);
    mj_deleteModel(stock);
    free(mjcf);
  }
}

// What MuJoCo cannot hold is named: the spring of a free joint rests where the body starts.
static void testUnsupported(void) {
  const char* path = DIJOCO_SOURCE_DIR "/models/wall_friction/scene.xml";
  djModel* m;
  djError err;
  char* text;
  assert_int_equal(dj_loadMJCF(&m, NULL, NULL, path, &err), DJ_OK);
  const double stiffness = 1, rest[7] = {1, 2, 3, 1, 0, 0, 0};
  djParam param = djt_param(m, "joint/board1/stiffness");
  assert_int_equal(dj_setParam(m, &param, &stiffness, &err), DJ_OK);
  assert_int_equal(djm_makeMJCF(&text, path, m, NULL, &err), DJ_OK);
  free(text);
  assert_int_equal(dj_paramId(&param, m, "joint/board1/springref", &err), DJ_OK);
  assert_int_equal(dj_setParam(m, &param, rest, &err), DJ_OK);
  assert_int_equal(djm_makeMJCF(&text, path, m, NULL, &err), DJ_UNSUPPORTED);
  assert_null(text);
  assert_non_null(strstr(err.text, "joint/board1/springref"));
  // Into a file: what was refused is in another one, which a line tells.
  assert_int_equal(djm_writeMJCF("held.xml", path, m, NULL, &err), DJ_UNSUPPORTED);
  assert_int_equal(access("held.xml", F_OK), -1);
  assert_non_null(strstr(err.text, "held.refused.xml"));
  assert_int_equal(unlink("held.refused.xml"), 0);
  dj_deleteModel(m);
}

DJT_MAIN(testOwnScene, testShipped, testRobots, testRest, testFromModel, testUnsupported,
         testComparison, testOtherElements, testSettingsCompared)
