// Written MJCF, compiled again, against the mjModel that it came from, field by field.

#include "common/make_model.h"
#include "common/mjcf.h"
#include "common/near.h"
#include "common/random_mjcf.h"
#include "common/test.h"

#include <dijoco/dijoco.h>

#include <mujoco/mjxmacro.h>

#include <sys/stat.h>
#include <unistd.h>

static void checkNear(double a, double b, double tolerance, const char* what, int i) {
  djt_failIf(!(fabs(a - b) <= tolerance * (1 + fabs(b))), "%s[%d]: %.17g is not %.17g", what, i, a,
             b);
}

static void checkArray(const mjtNum* a, const mjtNum* b, int n, double tolerance,
                       const char* what) {
  for (int i = 0; i < n; i++) checkNear(a[i], b[i], tolerance, what, i);
}

static void checkInts(const int* a, const int* b, int n, const char* what) {
  for (int i = 0; i < n; i++) {
    if (a[i] != b[i]) fail_msg("%s[%d]: %d is not %d", what, i, a[i], b[i]);
  }
}

static void checkQuats(const mjtNum* a, const mjtNum* b, int n, double tolerance,
                       const char* what) {
  for (int i = 0; i < n; i++) {
    checkNear(fabs(mju_dot(a + 4 * i, b + 4 * i, 4)), 1, tolerance, what, i);
  }
}

// Expanded by name, so that no field is compared with another one.
#define NEAR(field, n) checkArray(w->field, m->field, (int)(n), 1e-12, #field)
#define SAME(field, n) checkInts(w->field, m->field, (int)(n), #field)
#define QUATS(field, n) checkQuats(w->field, m->field, (int)(n), 1e-14, #field)

// ------------------------------ written from our own model --------------------------------------

static void checkBodies(const mjModel* w, const mjModel* m) {
  SAME(body_parentid, m->nbody);
  SAME(body_mocapid, m->nbody);
  SAME(body_jntnum, m->nbody);
  SAME(body_geomnum, m->nbody);
  NEAR(body_pos, 3 * m->nbody);
  QUATS(body_quat, m->nbody);
  NEAR(body_ipos, 3 * m->nbody);
  QUATS(body_iquat, m->nbody);
  NEAR(body_mass, m->nbody);
  NEAR(body_inertia, 3 * m->nbody);
  NEAR(body_gravcomp, m->nbody);
  SAME(site_bodyid, m->nsite);
  NEAR(site_pos, 3 * m->nsite);
  QUATS(site_quat, m->nsite);
}

static void jointLimit(double law[2], const mjModel* m, int j) {
  djm_limitLaw(&law[0], &law[1], m, m->jnt_solref + mjNREF * j, m->jnt_solimp + mjNIMP * j);
}

static void checkJoints(const mjModel* w, const mjModel* m) {
  SAME(jnt_type, m->njnt);
  SAME(jnt_bodyid, m->njnt);
  NEAR(jnt_pos, 3 * m->njnt);
  NEAR(jnt_stiffness, m->njnt);
  NEAR(jnt_stiffnesspoly, mjNPOLY * m->njnt);
  NEAR(dof_damping, m->nv);
  NEAR(dof_dampingpoly, mjNPOLY * m->nv);
  NEAR(dof_armature, m->nv);
  NEAR(dof_frictionloss, m->nv);
  NEAR(qpos0, m->nq);
  for (int j = 0; j < m->njnt; j++) {
    int type = m->jnt_type[j], adr = m->jnt_qposadr[j];
    assert_int_equal(w->jnt_limited[j], m->jnt_limited[j]);
    assert_int_equal(w->jnt_actfrclimited[j], m->jnt_actfrclimited[j]);
    if (type == mjJNT_HINGE || type == mjJNT_SLIDE) {
      checkArray(w->jnt_axis + 3 * j, m->jnt_axis + 3 * j, 3, 1e-14, "axis");
      checkNear(w->qpos_spring[adr], m->qpos_spring[adr], 1e-14, "springref", j);
    }
    if (m->jnt_actfrclimited[j]) {
      checkArray(w->jnt_actfrcrange + 2 * j, m->jnt_actfrcrange + 2 * j, 2, 0, "actfrcrange");
    }
    if (!m->jnt_limited[j]) continue;
    checkArray(w->jnt_range + 2 * j, m->jnt_range + 2 * j, 2, 1e-14, "range");
    checkNear(w->jnt_margin[j], m->jnt_margin[j], 1e-14, "margin", j);
    // MuJoCo's spring and damper beyond the width: see djm_limitLaw
    double law[2][2];
    jointLimit(law[0], w, j);
    jointLimit(law[1], m, j);
    checkArray(law[0], law[1], 2, 1e-12, "limit");
  }
}

static void checkGeoms(const mjModel* w, const mjModel* m) {
  SAME(geom_type, m->ngeom);
  SAME(geom_bodyid, m->ngeom);
  SAME(geom_dataid, m->ngeom);
  SAME(geom_contype, m->ngeom);
  SAME(geom_conaffinity, m->ngeom);
  SAME(geom_condim, m->ngeom);
  SAME(geom_priority, m->ngeom);
  NEAR(geom_friction, 3 * m->ngeom);
  NEAR(geom_margin, m->ngeom);
  for (int g = 0; g < m->ngeom; g++) {
    double tolerance = m->geom_type[g] == mjGEOM_MESH ? 1e-6 : 1e-14;
    int used = m->geom_type[g] == mjGEOM_SPHERE ? 1 : m->geom_type[g] == mjGEOM_CAPSULE ? 2 : 3;
    checkArray(w->geom_pos + 3 * g, m->geom_pos + 3 * g, 3, tolerance, "geom_pos");
    checkQuats(w->geom_quat + 4 * g, m->geom_quat + 4 * g, 1, tolerance, "geom_quat");
    checkArray(w->geom_size + 3 * g, m->geom_size + 3 * g, used, tolerance, "geom_size");
  }
  SAME(mesh_vertnum, m->nmesh);
  SAME(pair_geom1, m->npair);
  SAME(pair_geom2, m->npair);
  SAME(pair_dim, m->npair);
  NEAR(pair_margin, m->npair);
  for (int i = 0; i < m->npair; i++) {
    const mjtNum* f = m->pair_friction + 5 * i;
    for (int k = 0; k < 5; k++) {
      checkNear(w->pair_friction[5 * i + k], f[k], 1e-14, "pair_friction", i);
    }
  }
  SAME(exclude_signature, m->nexclude);
}

static void checkActuators(const mjModel* w, const mjModel* m) {
  assert_int_equal(w->nu, m->nu);
  assert_int_equal(w->na, m->na);
  SAME(actuator_trntype, m->nactuator);
  SAME(actuator_trnid, 2 * m->nactuator);
  NEAR(actuator_gear, 6 * m->nout);
  NEAR(actuator_armature, m->nactuator);
  NEAR(actuator_damping, m->nactuator);
  NEAR(actuator_dampingpoly, mjNPOLY * m->nactuator);
  for (int i = 0; i < m->nactuator; i++) {
    assert_int_equal(w->actuator_ctrllimited[i], m->actuator_ctrllimited[i]);
    if (m->actuator_ctrllimited[i]) {
      checkArray(w->actuator_ctrlrange + 2 * i, m->actuator_ctrlrange + 2 * i, 2, 0, "ctrlrange");
    }
    if (!djm_actuatorLive(m, i)) {   // makes no force
      assert_true(w->actuator_gainprm[mjNGAIN * i] == 0 && w->actuator_biasprm[mjNBIAS * i] == 0);
      continue;
    }
    assert_int_equal(w->actuator_dyntype[i], m->actuator_dyntype[i]);
    assert_int_equal(w->actuator_gaintype[i], m->actuator_gaintype[i]);
    assert_int_equal(w->actuator_biastype[i], m->actuator_biastype[i]);
    assert_int_equal(w->actuator_forcelimited[i], m->actuator_forcelimited[i]);
    const mjtNum *g = m->actuator_gainprm + mjNGAIN * i, *b = m->actuator_biasprm + mjNBIAS * i;
    checkArray(w->actuator_gainprm + mjNGAIN * i, g, 3, 0, "gainprm");
    if (m->actuator_biastype[i]) checkArray(w->actuator_biasprm + mjNBIAS * i, b, 3, 0, "biasprm");
    if (m->actuator_forcelimited[i]) {
      const mjtNum* range = m->actuator_forcerange + 2 * i;
      checkArray(w->actuator_forcerange + 2 * i, range, 2, 0, "forcerange");
    }
    if (m->actuator_dyntype[i] == mjDYN_NONE) continue;
    checkNear(w->actuator_dynprm[mjNDYN * i], m->actuator_dynprm[mjNDYN * i], 0, "dynprm", i);
    assert_int_equal(w->actuator_actearly[i], m->actuator_actearly[i]);
    assert_int_equal(w->actuator_actlimited[i], m->actuator_actlimited[i]);
    if (m->actuator_actlimited[i]) {
      checkArray(w->actuator_actrange + 2 * i, m->actuator_actrange + 2 * i, 2, 0, "actrange");
    }
  }
}

static void checkRest(const mjModel* w, const mjModel* m, int disable) {
  NEAR(key_time, m->nkey);
  NEAR(key_qpos, m->nkey * m->nq);
  NEAR(key_qvel, m->nkey * m->nv);
  NEAR(key_act, m->nkey * m->na);
  NEAR(key_ctrl, m->nkey * m->nu);
  NEAR(key_mpos, m->nkey * 3 * m->nmocap);
  NEAR(key_mquat, m->nkey * 4 * m->nmocap);
  checkNear(w->opt.timestep, m->opt.timestep, 0, "timestep", 0);
  checkArray(w->opt.gravity, m->opt.gravity, 3, 0, "gravity");
  checkArray(w->opt.wind, m->opt.wind, 3, 0, "wind");
  checkNear(w->opt.density, m->opt.density, 0, "density", 0);
  checkNear(w->opt.viscosity, m->opt.viscosity, 0, "viscosity", 0);
  assert_int_equal(w->opt.disableflags, disable);
  static const mjtObj named[] = {mjOBJ_BODY, mjOBJ_JOINT, mjOBJ_GEOM, mjOBJ_SITE, mjOBJ_MESH,
                                 mjOBJ_ACTUATOR, mjOBJ_KEY};
  for (size_t k = 0; k < sizeof(named) / sizeof(*named); k++) {
    for (int i = 0; mj_id2name(m, named[k], i); i++) {
      assert_string_equal(mj_id2name(w, named[k], i), mj_id2name(m, named[k], i));
    }
  }
  assert_string_equal(w->names, m->names);   // the model's own
}

static void testFromModel(void) {
  static const int ours[] = {mjDSBL_CONTACT, mjDSBL_LIMIT, mjDSBL_FRICTIONLOSS, mjDSBL_SPRING,
                             mjDSBL_DAMPER, mjDSBL_GRAVITY, mjDSBL_CLAMPCTRL, mjDSBL_FILTERPARENT,
                             mjDSBL_ACTUATION};
  djRng rng = {61};
  for (int trial = 0; trial < 60; trial++) {
    char *mjcf = djt_randomMjcf(&rng, 1 + trial % 9, DJT_MJCF_ALL), *text;
    mjModel* m = djt_compile(mjcf);
    size_t first = strlen(m->names) + 1;
    // elements that others refer to, without names
    if (trial % 3 == 0) memset(m->names + first, 0, (size_t)m->nnames - first);
    int disable = 0;
    for (int k = 0; k < 9; k++) disable |= djt_integer(&rng, 6) ? 0 : ours[k];
    m->opt.disableflags = disable;
    djModel* x = djt_import(NULL, m);
    djError err;
    djKeyDef key = {.name = "mine", .time = 2, .qpos = x->qpos0, .act = x->key_act + x->na};
    djt_failIf(djm_makeMJCF(&text, "scene.json", x, trial % 2 ? &key : NULL, &err) != DJ_OK,
               "%s\n%s", err.text, mjcf);
    mjModel* w = djt_compile(text);
    if (trial % 2) {
      assert_int_equal(mj_name2id(w, mjOBJ_KEY, "mine"), m->nkey);
      checkArray(w->key_act + m->nkey * m->na, m->key_act + m->na, (int)m->na, 0, "act");
      checkNear(w->key_time[m->nkey], 2, 0, "time", 0);
    }
    checkBodies(w, m);
    checkJoints(w, m);
    checkGeoms(w, m);
    checkActuators(w, m);
    checkRest(w, m, disable);
    mj_deleteModel(w);
    mj_deleteModel(m);
    dj_deleteModel(x);
    free(text);
    free(mjcf);
  }
}

// ------------------------------ written from a scene --------------------------------------------

static void writeFile(const char* folder, const char* name, const void* data, size_t size) {
  char path[300];
  snprintf(path, sizeof(path), "%s/%s", folder, name);
  FILE* f = fopen(path, "wb");
  assert_non_null(f);
  assert_int_equal(fwrite(data, 1, size, f), size);
  fclose(f);
}

static void removeAll(const char* folder) {
  char command[300];
  snprintf(command, sizeof(command), "rm -r '%s'", folder);
  assert_int_equal(system(command), 0);
}

static mjModel* load(const char* folder, const char* name) {
  char path[300], error[1000] = "";
  snprintf(path, sizeof(path), "%s/%s", folder, name);
  mjModel* m = mj_loadXML(path, NULL, error, sizeof(error));
  if (!m) fail_msg("%s", error);
  return m;
}

// Arrays that a written scene need not share: settings, names, file paths, and what the compiler
// derives from the order of names.
static bool isOwn(const char* field) {
  static const char* const own[] = {"numeric_", "text_", "name", "paths", "mesh_pathadr",
                                    "tex_pathadr", "hfield_pathadr", "skin_pathadr", "key_",
                                    "wrap_prm"};   // tendons have six digits
  for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++) {
    if (strncmp(field, own[i], strlen(own[i])) == 0) return true;
  }
  return false;
}

#define CHECK_REAL(type, field, size)                                             \
  for (size_t i = 0; i < (size); i++) {                                           \
    checkNear((double)((type*)w->field)[i], (double)((type*)m->field)[i], 1e-6, #field, (int)i); \
  }

// All arrays of both models.
static void checkAll(const mjModel* w, const mjModel* m) {
#undef MJ_M
#define MJ_M(n) m->n
#define XNV X
#define X(type, field, rows, cols)                                                            \
  if (!isOwn(#field)) {                                                                       \
    size_t size = (size_t)(m->rows) * (size_t)(cols);                                         \
    if (w->rows != m->rows) fail_msg("%s: %d rows, not %d", #field, (int)w->rows, (int)m->rows); \
    if (_Generic((type*)NULL, mjtNum*: 1, default: 0)) {                                      \
      CHECK_REAL(mjtNum, field, size)                                                         \
    } else if (_Generic((type*)NULL, float*: 1, default: 0)) {                                \
      CHECK_REAL(float, field, size)                                                          \
    } else if (size > 0 && memcmp(w->field, m->field, size * sizeof(type)) != 0) {            \
      fail_msg("%s differs", #field);                                                         \
    }                                                                                         \
  }
  MJMODEL_POINTERS
#undef X
#undef XNV
}

// A chunk of a PNG file; returns its length.
static size_t putChunk(unsigned char* to, const char* name, const unsigned char* data, size_t n) {
  unsigned crc = 0xffffffffu;
  for (int k = 0; k < 4; k++) to[k] = (unsigned char)(n >> (24 - 8 * k));
  memcpy(to + 4, name, 4);
  memcpy(to + 8, data, n);
  for (size_t i = 4; i < n + 8; i++) {
    crc ^= to[i];
    for (int bit = 0; bit < 8; bit++) crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
  }
  for (int k = 0; k < 4; k++) to[n + 8 + k] = (unsigned char)(~crc >> (24 - 8 * k));
  return n + 12;
}

// An image of one pixel.
static void writeImage(const char* folder, const char* name, unsigned char red) {
  static const unsigned char head[13] = {0, 0, 0, 1, 0, 0, 0, 1, 8, 2};
  unsigned char png[100] = {0x89, 'P', 'N', 'G', 13, 10, 26, 10}, pixel[4] = {0, red, 20, 30};
  unsigned char data[15] = {0x78, 1, 1, 4, 0, 0xfb, 0xff};   // zlib, one block as it is
  unsigned a = 1, b = 0;
  for (int k = 0; k < 4; k++) {
    data[7 + k] = pixel[k];
    a += pixel[k];
    b += a;
  }
  for (int k = 0; k < 4; k++) data[11 + k] = (unsigned char)((b << 16 | a) >> (24 - 8 * k));
  size_t n = 8;
  n += putChunk(png + n, "IHDR", head, sizeof(head));
  n += putChunk(png + n, "IDAT", data, sizeof(data));
  n += putChunk(png + n, "IEND", head, 0);
  writeFile(folder, name, png, n);
}

static void writeAssets(const char* folder) {
  char assets[200], images[200];
  snprintf(assets, sizeof(assets), "%s/assets", folder);
  snprintf(images, sizeof(images), "%s/images", folder);
  assert_true(mkdir(assets, 0700) == 0 && mkdir(images, 0700) == 0);
  static const char mesh[] = "v 0 0 0\nv .3 0 0\nv 0 .2 0\nv 0 0 .4\nf 1 3 2\nf 1 2 4\nf 1 4 3\n"
                             "f 2 3 4\n";
  writeFile(assets, "part.obj", mesh, sizeof(mesh) - 1);
  struct {
    int size[2];
    float height[6];
  } field = {{2, 3}, {0, .2f, .4f, .6f, .8f, 1}};
  writeFile(assets, "field.bin", &field, sizeof(field));
  for (int k = 0; k < 7; k++) {
    char name[20];
    snprintf(name, sizeof(name), "side%d.png", k);
    writeImage(images, name, (unsigned char)(30 * k));
  }
}

// How a scene names the folders of its assets: from its own, by files with folders that the
// compiler strips, by files in folders, from the root.
typedef enum Folders { OWN, STRIPPED, NESTED, ABSOLUTE } Folders;

static void writeScene(const char* folder, Folders folders) {
  char text[9000], root[1000] = "";
  bool strip = folders == STRIPPED;
  const char* dir = strip || folders == NESTED ? "elsewhere/" : "";
  for (int k = 0; k < 2 && folders == NESTED; k++) {
    char command[700];
    const char* name = k ? "images" : "assets";
    snprintf(command, sizeof(command), "cd '%s' && mkdir elsewhere && mv %s elsewhere/elsewhere && "
             "mv elsewhere %s", folder, name, name);
    assert_int_equal(system(command), 0);
  }
  if (folders == ABSOLUTE) {
    assert_non_null(getcwd(root, sizeof(root)));
    snprintf(root + strlen(root), sizeof(root) - strlen(root), "/%s/", folder);
  }
  snprintf(text, sizeof(text),
           "<mujoco model='all'><compiler angle='degree' meshdir='%sassets' "
           "texturedir='%simages' %s/>"
           "<option timestep='.003' density='1.2' impratio='3' integrator='implicitfast' "
           "cone='elliptic'><flag warmstart='disable' energy='enable'/></option>"
           "<size nuser_body='1'/><default><geom solref='.01 1' solimp='.8 .9 "
           ".01'/></default><asset>"
           "<mesh name='part' file='%spart.obj' scale='1.1 .9 1'/><hfield name='land' "
           "file='%sfield.bin' size='1 1 .3 .1'/><texture name='one' type='2d' file='%sside0.png'/>"
           "<texture name='six' type='cube' fileright='%sside1.png' fileleft='%sside2.png' "
           "fileup='%sside3.png' filedown='%sside4.png' filefront='%sside5.png' "
           "fileback='%sside6.png'/><material name='mat' texture='one' specular='.3'/></asset>"
           "<worldbody><geom name='land' type='hfield' hfield='land' pos='0 0 -1'/>"
           "<light pos='0 0 3' dir='0 0 -1'/><camera name='eye' pos='0 -2 1' fovy='30'/>"
           "<body name='arm' pos='0 0 1' euler='10 20 30' user='7'><joint name='hinge' "
           "axis='0 1 .2' damping='.2 .1 .3' stiffness='3 1 2' springref='5' ref='3' margin='.01' "
           "range='-50 60' limited='true' solreflimit='.03 .9' frictionloss='.1' armature='.2'/>"
           "<geom name='part' type='mesh' mesh='part' material='mat' gap='.01' margin='.02' "
           "condim='4'/><site name='tip' pos='.1 .2 .3' euler='5 6 7'/><body pos='.3 0 0' "
           "gravcomp='.4'><joint name='ball' type='ball' range='0 40' limited='true'/><geom "
           "name='rod' type='capsule' size='.02 .1' contype='2' priority='1' friction='.3 .02 .01' "
           "mass='.4'/></body></body><body name='free' pos='2 0 .5'><freejoint name='root'/><geom "
           "name='egg' type='ellipsoid' size='.1 .2 .3' fluidshape='ellipsoid'/></body><body "
           "name='hand' mocap='true' pos='0 3 0'/></worldbody><contact><pair geom1='rod' "
           "geom2='egg' "
           "friction='.4 .4 .1 .2 .3' solref='.05 1' margin='.03' gap='.01'/><exclude body1='arm' "
           "body2='free'/></contact><tendon><fixed name='fixed' stiffness='2' damping='.3' "
           "range='-1 1' limited='true'><joint joint='hinge' "
           "coef='1.5'/></fixed></tendon><equality>"
           "<weld body1='hand' body2='free' solref='.04 1' active='false'/><joint joint1='hinge' "
           "polycoef='.1 0 0 0 0'/></equality><actuator><position name='servo' joint='hinge' "
           "kp='3' "
           "kv='.2' ctrlrange='-1 1' ctrllimited='true' timeconst='.1'/><muscle joint='hinge' "
           "lengthrange='-1 1'/><motor tendon='fixed' gear='2'/></actuator><sensor><gyro "
           "site='tip' noise='.1'/><framepos objtype='xbody' objname='arm' reftype='site' "
           "refname='tip' cutoff='3'/></sensor><keyframe><key name='k' time='2' qpos='3 1 0 0 0 "
           "2 0 1 1 0 0 0' act='.3 .4'/></keyframe></mujoco>",
           root, root, strip ? "strippath='true'" : "", dir, dir, dir, dir, dir, dir, dir, dir,
           dir);
  writeFile(folder, "scene.xml", text, strlen(text));
}

// A design that was not changed compiles to what the scene compiles to, all of it, from any folder.
static void testUnchanged(void) {
  for (Folders folders = OWN; folders <= ABSOLUTE; folders++) {
    char folder[] = "dj%d fieldsXXXXXX", path[300];
    assert_non_null(mkdtemp(folder));
    writeAssets(folder);
    writeScene(folder, folders);
    mjModel* m = load(folder, "scene.xml");
    snprintf(path, sizeof(path), "%s/scene.xml", folder);
    djModel* x = djt_import(NULL, m);
    djError err;
    char* text;
    if (djm_makeMJCF(&text, path, x, NULL, &err) != DJ_OK) fail_msg("%s", err.text);
    mjModel* w = djt_compile(text);
    checkAll(w, m);
    NEAR(key_qpos, m->nkey * m->nq);
    NEAR(key_act, m->nkey * m->na);
    NEAR(key_time, m->nkey);
    assert_int_equal(w->opt.integrator, m->opt.integrator);
    assert_int_equal(w->opt.cone, m->opt.cone);
    assert_int_equal(w->opt.disableflags, m->opt.disableflags);
    assert_int_equal(w->opt.enableflags, m->opt.enableflags);
    checkNear(w->opt.impratio, m->opt.impratio, 0, "impratio", 0);
    mj_deleteModel(w);
    mj_deleteModel(m);
    dj_deleteModel(x);
    free(text);
    removeAll(folder);
  }
}

// A keyframe is added, or takes the place of one of its name, with all that it has.
static void testKey(void) {
  char folder[] = "djfieldsXXXXXX", path[300];
  assert_non_null(mkdtemp(folder));
  writeAssets(folder);
  writeScene(folder, OWN);
  mjModel* m = load(folder, "scene.xml");
  snprintf(path, sizeof(path), "%s/scene.xml", folder);
  double qpos[20], qvel[20], ctrl[5] = {.1, .2, .3};
  for (int i = 0; i < m->nq; i++) qpos[i] = m->qpos0[i] + .01 * i;
  mj_normalizeQuat(m, qpos);
  for (int i = 0; i < m->nv; i++) qvel[i] = i - 2.5;
  static const char* const names[] = {NULL, "", "mine", "k"};
  for (int i = 0; i < 4; i++) {
    djModel* x = djt_import(NULL, m);
    djKeyDef key = {.name = names[i], .time = 3.5, .qpos = qpos, .qvel = qvel, .ctrl = ctrl};
    djError err;
    char* text;
    if (djm_makeMJCF(&text, path, x, &key, &err) != DJ_OK) fail_msg("%s", err.text);
    mjModel* w = djt_compile(text);
    const char* name = i < 2 ? "optimized" : names[i];
    int k = mj_name2id(w, mjOBJ_KEY, name);
    assert_int_equal(w->nkey, i < 3 ? 2 : 1);
    assert_int_equal(k, i < 3 ? 1 : 0);
    checkNear(w->key_time[k], 3.5, 0, "time", k);
    checkArray(w->key_qpos + k * m->nq, qpos, (int)m->nq, 1e-12, "qpos");
    checkArray(w->key_qvel + k * m->nv, qvel, (int)m->nv, 0, "qvel");
    checkArray(w->key_ctrl + k * m->nu, ctrl, (int)m->nu, 0, "ctrl");
    mj_deleteModel(w);
    dj_deleteModel(x);
    free(text);
  }
  mj_deleteModel(m);
  removeAll(folder);
}

// The model of a text that becomes scene.xml in a new folder, and the path of that (300).
static mjModel* loadText(char* folder, char* path, const char* text) {
  assert_non_null(mkdtemp(folder));
  writeFile(folder, "scene.xml", text, strlen(text));
  snprintf(path, 300, "%s/scene.xml", folder);
  return load(folder, "scene.xml");
}

// Parameters of one actuator reach this one, and leave all that MuJoCo has beside them.
static void testActuators(void) {
  static const char kScene[] =
      "<mujoco><worldbody><body><joint name='j'/><geom size='.1'/></body></worldbody><actuator>"
      "<position joint='j' kp='3' kv='.1'/><general joint='j' gaintype='affine' biastype='affine' "
      "gainprm='1 2 3 4 5 6' biasprm='7 8 9 10 11 12'/><position joint='j' kp='5' kv='.2'/>"
      "</actuator></mujoco>";
  char folder[] = "djfieldsXXXXXX", path[300];
  mjModel* m = loadText(folder, path, kScene);
  for (int i = 0; i < 3; i++) {
    djModel* x = djt_import(NULL, m);
    djError err;
    for (int k = 0; k < 3; k++) {
      static const char* const field[] = {"gainprm", "biasprm", "gear"};
      char name[40];
      snprintf(name, sizeof(name), "actuator/#%d/%s", i, field[k]);
      const double value[6] = {20 + k, 0.3, 0.4, 0.5, 0.6, 0.7};
      djParam param = djt_param(x, name);
      if (dj_setParam(x, &param, value, &err) != DJ_OK) fail_msg("%s", err.text);
      mjtNum* own = k == 0   ? m->actuator_gainprm + mjNGAIN * i
                    : k == 1 ? m->actuator_biasprm + mjNBIAS * i
                             : m->actuator_gear + 6 * i;
      mju_copy(own, value, param.nvalue);
    }
    char* text;
    if (djm_makeMJCF(&text, path, x, NULL, &err) != DJ_OK) fail_msg("%s", err.text);
    mjModel* w = djt_compile(text);
    checkArray(w->actuator_gainprm, m->actuator_gainprm, mjNGAIN * 3, 0, "gainprm");
    checkArray(w->actuator_biasprm, m->actuator_biasprm, mjNBIAS * 3, 0, "biasprm");
    checkArray(w->actuator_gear, m->actuator_gear, 6 * 3, 0, "gear");
    mj_deleteModel(w);
    mj_deleteModel(m);
    m = load(folder, "scene.xml");
    dj_deleteModel(x);
    free(text);
  }
  mj_deleteModel(m);
  removeAll(folder);
}

// ------------------------------ settings --------------------------------------------------------

// Settings that differ from the scene's are written, and only these; without a scene those that
// differ from the defaults.
static void testSettings(void) {
  static const char kScene[] = "<mujoco><custom><numeric name='dijoco_gravity_ramp' data='0.5'/>"
                               "</custom><worldbody><geom type='plane' size='1 1 1'/><body "
                               "pos='0 0 1'>"
                               "<freejoint/><geom size='.1'/></body></worldbody></mujoco>";
  char folder[] = "djfieldsXXXXXX", path[300];
  mjModel* m = loadText(folder, path, kScene);
  for (int k = 0; k < 25; k++) {
    bool ramp = k < 24;
    if (!ramp) m->numeric_data[0] = 0;
    djModel* x = djt_import(NULL, m);
    djOption option = x->opt;
    djError err;
    char* text;
    if (k % 12 == 1) option.contact = DJ_CONTACT_NONE;
    if (k % 12 == 2) option.integrator = DJ_VARIATIONAL;
    if (k % 12 == 3) option.overlap = DJ_OVERLAP_ERROR;
    if (k % 12 == 4) option.tolerance = 3e-7;
    if (k % 12 == 5) option.skin = 0.0021;
    if (k % 12 == 6) option.frictionloss_eps = 0.0123;
    if (k % 12 == 7) option.max_iterations = 77;
    if (k % 12 == 8) option.friction_arms = DJ_ARMS_PAPER;
    if (k % 12 == 9) option.friction_cap = DJ_CAP_PAPER;
    if (k % 12 == 10) option.barrier = DJ_BARRIER_LOG;
    assert_int_equal(dj_setOption(x, &option, &err), DJ_OK);
    bool scene = k < 12;
    djStatus status = djm_makeMJCF(&text, scene ? path : "scene.json", x, NULL, &err);
    if (status != DJ_OK) fail_msg("%s", err.text);
    mjModel* w = djt_compile(text);
    djModel* y = djt_import(NULL, w);
    assert_int_equal(y->opt.contact, option.contact);
    assert_int_equal(y->opt.integrator, option.integrator);
    assert_int_equal(y->opt.overlap, option.overlap);
    checkNear(y->opt.tolerance, option.tolerance, 0, "tolerance", k);
    checkNear(y->opt.skin, option.skin, 0, "skin", k);
    checkNear(y->opt.frictionloss_eps, option.frictionloss_eps, 0, "frictionloss_eps", k);
    assert_int_equal(y->opt.max_iterations, option.max_iterations);
    assert_int_equal(y->opt.friction_arms, option.friction_arms);
    assert_int_equal(y->opt.friction_cap, option.friction_cap);
    assert_int_equal(y->opt.barrier, option.barrier);
    checkNear(y->opt.gravity_ramp, ramp ? 0.5 : 0, 0, "gravity_ramp", k);
    assert_int_equal(mj_name2id(w, mjOBJ_NUMERIC, "dijoco_gravity_ramp") >= 0, ramp);
    bool choice = (k % 12 > 0 && k % 12 < 4) || (k % 12 >= 8 && k % 12 <= 10);
    assert_int_equal(w->ntext, choice);
    assert_int_equal(mj_name2id(w, mjOBJ_NUMERIC, "dijoco_skin") >= 0, k % 12 == 5);
    assert_int_equal(mj_name2id(w, mjOBJ_NUMERIC, "dijoco_tolerance") >= 0, k % 12 == 4);
    dj_deleteModel(y);
    mj_deleteModel(w);
    dj_deleteModel(x);
    free(text);
  }
  mj_deleteModel(m);
  removeAll(folder);
}

// ------------------------------ sizes and errors ------------------------------------------------

// Texts of any length.
static void testLarge(void) {
  enum { NGEOM = 1500 };
  char folder[] = "djfieldsXXXXXX", path[300], *scene = calloc(NGEOM + 10, 80), *text;
  assert_non_null(mkdtemp(folder));
  assert_non_null(scene);
  size_t n = (size_t)sprintf(scene, "<mujoco><worldbody><body><freejoint/>");
  for (int i = 0; i < NGEOM; i++) {
    n += (size_t)sprintf(scene + n, "<geom size='.0123456789' pos='%d.123456789 0 0'/>", i);
  }
  n += (size_t)sprintf(scene + n, "</body></worldbody></mujoco>");
  writeFile(folder, "scene.xml", scene, n);
  snprintf(path, sizeof(path), "%s/scene.xml", folder);
  mjModel* m = load(folder, "scene.xml");
  djModel* x = djt_import(NULL, m);
  djError err;
  for (int k = 0; k < 2; k++) {
    djt_failIf(djm_makeMJCF(&text, k ? path : "scene.json", x, NULL, &err) != DJ_OK, "%s",
               err.text);
    assert_true(strlen(text) > 1 << 16);
    mjModel* w = djt_compile(text);
    assert_int_equal(w->ngeom, NGEOM);
    checkArray(w->geom_pos, m->geom_pos, 3 * NGEOM, 1e-14, "geom_pos");
    mj_deleteModel(w);
    free(text);
  }
  free(scene);
  dj_deleteModel(x);
  mj_deleteModel(m);
  removeAll(folder);
}

// One line that says what is wrong; no text.
static void testErrors(void) {
  static const struct {
    const char *text, *part;
  } bad[] = {{"<mujoco><worldbody>\n<geom size='1'\n foo='2'/></worldbody></mujoco>", "foo"},
             {"<mujoco><worldbody>\n<body name='thing'><joint/></body></worldbody></mujoco>",
              "thing"},
             {"<mujoco", "XML"}};
  mjModel* m = djt_compile("<mujoco><worldbody><geom size='1'/></worldbody></mujoco>");
  djModel* x = djt_import(NULL, m);
  char folder[] = "djfieldsXXXXXX", path[300], full[1];
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof(path), "%s/scene.xml", folder);
  for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
    char* text = full;
    djError err;
    writeFile(folder, "scene.xml", bad[i].text, strlen(bad[i].text));
    assert_int_equal(djm_makeMJCF(&text, path, x, NULL, &err), DJ_INVALID);
    assert_null(text);
    if (!strstr(err.text, bad[i].part)) fail_msg("'%s' lacks %s", err.text, bad[i].part);
    assert_null(strpbrk(err.text, "\r\n"));
  }
  for (int k = 0; k < 3; k++) {
    char* text = full;
    djError err;
    djStatus status = djm_makeMJCF(k == 0 ? NULL : &text, k == 1 ? NULL : path, k == 2 ? NULL : x,
                                   NULL, &err);
    djt_refusedWith(DJ_INVALID, status, err, "no text, scene or model");
    if (k > 0) assert_null(text);
  }
  dj_deleteModel(x);
  mj_deleteModel(m);
  removeAll(folder);
}

DJT_MAIN(testFromModel, testUnchanged, testKey, testSettings, testLarge, testActuators, testErrors)
