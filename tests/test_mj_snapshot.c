// A snapshot of a model is out of date when anything has changed that the import makes something
// of, and as long as nothing has, it is not.

#include "snapshot.h"

#include "common/mjcf.h"
#include "common/sample_model.h"
#include "common/test.h"

#include <mujoco/mjxmacro.h>

// Elements of all kinds that are imported, so that every number of theirs counts.
static const char SCENE[] =
    "<mujoco><compiler autolimits='true'/><option density='2' viscosity='.01' wind='1 0 0' "
    "actuatorgroupdisable='2'/>"
    "<worldbody><geom name='floor' type='plane' size='5 5 1'/><site name='wall' pos='0 0 2'/>"
    "<body name='box' pos='0 0 .2' gravcomp='.2'><joint type='free' damping='.1'/>"
    "<geom name='box' type='box' size='.1 .1 .1' margin='.001'/><site name='box' pos='.1 0 0'/>"
    "</body><body name='arm' pos='0 2 1'><joint name='hinge' axis='0 1 .2' range='-1 .5' "
    "damping='.2 .1 .1' stiffness='2 1 1' armature='.1' frictionloss='.05' "
    "actuatorfrcrange='-2 2'/><geom type='capsule' size='.03 .1'/><site name='arm' pos='.1 0 .1'/>"
    "<body name='hand' pos='.3 0 0'><joint name='ball' type='ball' range='0 1'/>"
    "<geom type='ellipsoid' size='.05 .03 .02'/><site name='hand' euler='10 20 30'/></body></body>"
    "<body name='cart' pos='0 4 1'><joint name='slide' type='slide' range='-1 1'/><geom size='.1'/>"
    "</body></worldbody><contact><pair geom1='floor' geom2='box' margin='.002'/></contact>"
    "<tendon><fixed name='fixed' stiffness='2' damping='.1' range='-1 1' frictionloss='.1'>"
    "<joint joint='hinge' coef='2'/><joint joint='slide' coef='-1'/></fixed>"
    "<spatial name='path' stiffness='2 1 1' damping='.1 .1 .1' range='0 3' armature='.1' "
    "actuatorfrcrange='-1 1'><site site='wall'/><site site='arm'/><pulley divisor='2'/>"
    "<site site='hand'/><site site='box'/></spatial></tendon>"
    "<actuator><general joint='hinge' gaintype='affine' gainprm='1 .2 .1' biastype='affine' "
    "biasprm='.1 -.2 -.3' ctrlrange='-1 .5' forcerange='-3 .4' armature='.05' damping='.1 .2 .3'/>"
    "<general joint='slide' dyntype='filter' dynprm='.1' actrange='-1 1'/>"
    "<general tendon='path' gear='2'/><general cranksite='wall' slidersite='hand' cranklength='3'/>"
    "<general site='hand' refsite='box' gear='1 2 3 4 5 6'/></actuator></mujoco>";

typedef struct Watch {
  mjModel* m;
  djModel* was;
  djmSnapshot* snapshot;
  int seen, followed;
} Watch;

// Whether the import makes another model of it, or none.
static bool matters(const Watch* w) {
  djModel* now = NULL;
  djError err;
  bool other = dj_importMuJoCo(&now, NULL, w->m, &err) != DJ_OK || djt_difference(now, w->was);
  dj_deleteModel(now);
  return other;
}

static void checkEntry(Watch* w, const char* name, int entry) {
  bool current = djm_isCurrent(w->snapshot, w->m), other = matters(w);
  if (other && current) fail_msg("%s[%d] is not followed", name, entry);
  w->seen++;
  w->followed += other;
}

static void visitNumbers(Watch* w, const char* name, mjtNum* v, int n) {
  for (int i = 0; i < n; i++) {
    mjtNum was = v[i];
    v[i] += 0.125 * (was < 0 ? -1 : 1);
    checkEntry(w, name, i);
    v[i] = was;
  }
}

static void visitBits(Watch* w, const char* name, unsigned char* v, int n) {
  for (int i = 0; i < n; i++) {
    v[i] ^= 1;
    checkEntry(w, name, i);
    v[i] ^= 1;
  }
}

// Integers that are no addresses, ids, counts or types: those are the structure.
static void visitIntegers(Watch* w, const char* name, int* v, int n) {
  static const char* const list[] = {"geom_contype", "geom_conaffinity", "geom_condim",
                                     "geom_priority", "pair_dim", "geom_group", "jnt_group",
                                     "actuator_group", "site_group", "tendon_group"};
  bool value = false;
  for (size_t k = 0; k < sizeof list / sizeof *list; k++) value |= strcmp(name, list[k]) == 0;
  for (int i = 0; i < n && value; i++) {
    v[i] ^= 2;
    checkEntry(w, name, i);
    v[i] ^= 2;
  }
}

static void visitBools(Watch* w, const char* name, bool* v, int n) {
  for (int i = 0; i < n; i++) {
    v[i] = !v[i];
    checkEntry(w, name, i);
    v[i] = !v[i];
  }
}

// Meshes, looks, names.
static void visitOthers(Watch* w, const char* name, const void* v, int n) {
  (void)w, (void)name, (void)v, (void)n;
}

#define VISIT(v)                                                                          \
  _Generic((v), mjtNum*: visitNumbers, unsigned char*: visitBits, bool*: visitBools,      \
           int*: visitIntegers, default: visitOthers)

static void testFields(void) {
  mjModel* m = djt_compile(SCENE);
  Watch w = {.m = m, .was = djt_import(NULL, m), .snapshot = djm_makeSnapshot(m)};
  assert_non_null(w.snapshot);
#undef MJ_M
#define MJ_M(n) m->n
#define XNV X
#define X(type, name, rows, columns) \
  VISIT(m->name)(&w, #name, m->name, (int)((size_t)(m->rows) * (size_t)(columns)));
  MJMODEL_POINTERS
#undef X
#undef XNV
  print_message("%d entries, of which the import uses %d\n", w.seen, w.followed);
  assert_true(w.followed > 400 && w.followed < w.seen - 100);
  assert_true(djm_isCurrent(w.snapshot, m));
  djm_deleteSnapshot(w.snapshot);
  dj_deleteModel(w.was);
  mj_deleteModel(m);
}

// Options count, too; once a change is taken it is what the model is compared with.
static void testTaken(void) {
  mjModel *m = djt_compile(SCENE), *other = mj_copyModel(NULL, m);
  djmSnapshot* snapshot = djm_makeSnapshot(m);
  assert_true(snapshot && djm_isCurrent(snapshot, m) && djm_isCurrent(snapshot, other));
  other->opt.gravity[2] = -1;
  other->qpos0[0] = 3;
  assert_false(djm_isCurrent(snapshot, other));
  djm_takeSnapshot(snapshot, other);
  assert_true(djm_isCurrent(snapshot, other));
  assert_false(djm_isCurrent(snapshot, m));
  m->qpos0[0] = 3;
  assert_false(djm_isCurrent(snapshot, m));   // gravity differs still
  m->opt.gravity[2] = -1;
  assert_true(djm_isCurrent(snapshot, m));
  djm_deleteSnapshot(snapshot);
  djm_deleteSnapshot(NULL);
  mj_deleteModel(other);
  mj_deleteModel(m);
}

DJT_MAIN(testFields, testTaken)
