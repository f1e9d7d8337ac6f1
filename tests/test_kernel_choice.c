// Contact kernels by pair: which kernel and which settings a pair has, in scenes with several
// kernels of which one has no energy (tests/kernels); their blocks, reports and derivatives by
// parameters; a kernel without a range; and that all this survives copies and files.

#include "common/json.h"
#include "common/make_model.h"
#include "common/near.h"
#include "common/random_shape.h"
#include "common/scene.h"
#include "common/test.h"
#include "common/worst.h"
#include "contact/contact.h"
#include "contact/pairs/shape_grad.h"
#include "model/kernel_setting.h"
#include "model/param.h"
#include "integrate/work.h"
#include "contact/plane/separating_plane.h"
#include "spring_kernel.h"

#include "common/sample_model.h"

#include <dijoco/io.h>

enum { PLANE, IMPLICIT, PENALTY, DAMPED, LONG_RANGE, SPRING, CHARGE, NBALL = 4 };

// A floor, three balls and a box that touch it; `option`, `floor`, `ball` (the first), `pairs`:
// more members, from a comma on, or lists.
static void writeScene(char* text, size_t size, const char* option, const char* floor,
                       const char* ball, const char* pairs) {
  int n = snprintf(text, size,
                   "{'dijoco_model': 1, 'option': {'timestep': 0.01%s}, 'bodies': "
                   "[{'name': 'world'}",
                   option);
  for (int i = 1; i <= NBALL; i++) {
    n += snprintf(text + n, size - (size_t)n,
                  ", {'pos': [%d, 0, 0.09], 'mass': 1, 'inertia': [0.01, 0.01, 0.01]}", i);
  }
  n += snprintf(text + n, size - (size_t)n, "], 'joints': [");
  for (int i = 1; i <= NBALL; i++) {
    n += snprintf(text + n, size - (size_t)n, "%s{'type': 'free', 'body': %d}", i > 1 ? ", " : "",
                  i);
  }
  snprintf(text + n, size - (size_t)n,
           "], 'geoms': [{'name': 'floor', 'type': 'plane', 'body': 0%s}, {'name': 'ball', 'body': "
           "1, 'size': [0.1, 0, 0]%s}, {'name': 'second', 'body': 2, 'size': [0.1, 0, 0]}, "
           "{'name': 'third', 'body': 3, 'size': [0.1, 0, 0]}, {'name': 'box', 'type': 'box', "
           "'body': 4, 'size': [0.1, 0.1, 0.1]}]%s}",
           floor, ball, pairs);
}

static djModel* load(const char* option, const char* floor, const char* ball, const char* pairs) {
  char text[4000];
  writeScene(text, sizeof text, option, floor, ball, pairs);
  djModel* m = djt_modelOf(text);
  return m;
}

static double inForce(const djModel* m, int kernel, int row, int a, int b) {
  double setting[DJ_MAX_OF_KERNEL];
  dj_pairSettings(setting, m, kernel, a, b);
  return setting[row];
}

// ------------------------------------------ choice ---------------------------------------------

static void testChoice(void) {
  djModel* m = load("", "", "", "");
  for (int g = 1; g <= 4; g++) assert_int_equal(dj_pairKernel(m, 0, g), PLANE);
  assert_int_equal(m->collision->nuse, 1);
  dj_deleteModel(m);

  // a geom names the kernel of its pairs; those with types that it has not have the scene's
  m = load("", "", ", 'contact': 'spring'", "");
  assert_int_equal(dj_pairKernel(m, 0, 1), SPRING);
  assert_int_equal(dj_pairKernel(m, 1, 0), SPRING);
  assert_int_equal(dj_pairKernel(m, 0, 2), PLANE);
  assert_int_equal(dj_pairKernel(m, 1, 4), PLANE);
  assert_int_equal(m->collision->nuse, 2);
  dj_deleteModel(m);

  // the scene names one; what that does not have is the first row's that does
  m = load(", 'contact': 'spring'", "", "", "");
  assert_int_equal(dj_pairKernel(m, 0, 3), SPRING);
  assert_int_equal(dj_pairKernel(m, 0, 4), PLANE);
  assert_int_equal(dj_pairKernel(m, 1, 2), PLANE);
  assert_true(dj_isContactPair(m, 0, 4));
  dj_deleteModel(m);

  // of two geoms the later one, or that of higher priority; an explicit pair before both
  const char *none = ", 'contact': 'none'", *spring = ", 'contact': 'spring'";
  m = load("", none, spring, "");
  assert_int_equal(dj_pairKernel(m, 0, 1), SPRING);
  assert_int_equal(dj_pairKernel(m, 0, 2), -1);
  assert_false(dj_isContactPair(m, 0, 2));
  dj_deleteModel(m);
  m = load("", ", 'contact': 'none', 'priority': 1", spring, "");
  assert_int_equal(dj_pairKernel(m, 1, 0), -1);
  dj_deleteModel(m);
  m = load("", ", 'contact': 'none', 'priority': 1", spring,
           ", 'pairs': [{'geom1': 0, 'geom2': 1, 'contact': 'separating_plane'}]");
  assert_int_equal(dj_pairKernel(m, 0, 1), PLANE);
  dj_deleteModel(m);
  m = load(", 'contact': 'none'", "", spring, ""); // contact is switched off
  assert_int_equal(dj_pairKernel(m, 0, 1), -1);
  dj_deleteModel(m);
}

static void testSettings(void) {
  const char* pair = ", 'pairs': [{'name': 'p', 'geom1': 'ball', 'geom2': 0, 'stiffness': 7}]";
  djModel* m = load(", 'spring': {'stiffness': 100}", ", 'stiffness': 3, 'damping': 2",
                    ", 'contact': 'spring', 'stiffness': 5, 'skin': 0.001", "");
  // the later geom's, then the scene's; the others by their rules
  djt_near(inForce(m, SPRING, SPRING_STIFFNESS, 0, 1), 5, 0);
  djt_near(inForce(m, SPRING, SPRING_DAMPING, 0, 1), 2, 0);
  djt_near(inForce(m, SPRING, SPRING_VISCOSITY, 0, 1), 1, 0);
  djt_near(inForce(m, SPRING, SPRING_STIFFNESS, 2, 3), 100, 0);
  djt_near(inForce(m, PLANE, DJ_PLANE_STIFFNESS, 0, 4), 3, 0);
  djt_near(inForce(m, PLANE, DJ_PLANE_SUPPORT, 0, 4), m->contact.support, 0);
  // skins are of geoms
  djt_near(m->collision->skin[1], 0.001, 0);
  djt_near(m->collision->skin[2], m->contact.skin, 0);
  djt_near(m->collision->skin[m->ngeom + 1], 0, 0);   // the spring's shapes have none
  dj_deleteModel(m);
  m = load("", ", 'stiffness': 3, 'priority': 1", ", 'contact': 'spring', 'stiffness': 5", "");
  djt_near(inForce(m, SPRING, SPRING_STIFFNESS, 1, 0), 3, 0);
  dj_deleteModel(m);
  m = load("", ", 'stiffness': 3, 'priority': 1", ", 'contact': 'spring', 'stiffness': 5", pair);
  djt_near(inForce(m, SPRING, SPRING_STIFFNESS, 1, 0), 7, 0);
  // defaults: of the spring by the weight
  djt_near(m->kernel_setting[m->nkernelsetting - 5], 100 * m->contact.load / 0.1, 1e-9);
  djt_near(inForce(m, SPRING, SPRING_STIFFNESS, 3, 2), 100 * m->contact.load / 0.1, 1e-9);
  dj_deleteModel(m);
}

static void testRefused(void) {
  static const struct {
    const char *option, *floor, *ball, *pairs, *text;
  } bad[] = {
      {"", "", ", 'contact': 'sprung'", "",
       "geom 'ball': contact: unknown value 'sprung', expected one of separating_plane, "
       "implicit_surface, penalty, damped, long_range, spring, charge, swirl, none"},
      {"", "", ", 'stiffness': -1", "", "geom 'ball': stiffness: must be positive"},
      {"", "", ", 'damping': -1", "", "geom 'ball': damping: must not be negative"},
      {"", "", ", 'damping': 'x'", "", "geom 'ball': damping: must be a number"},
      {"", "", ", 'friction_arms': 'leg'", "",
       "geom 'ball': friction_arms: unknown value 'leg', expected one of plane, paper"},
      {"", "", ", 'dumping': 1", "", "geom 'ball': unknown key 'dumping'"},
      {", 'spring': {'dumping': 1}", "", "", "", "spring: dumping: unknown setting"},
      {", 'spring': 3", "", "", "", "spring: must be an object"},
      {", 'sprung': {}", "", "", "", "option: unknown key 'sprung'"},
      {"", "", "", ", 'pairs': [{'geom1': 0, 'geom2': 1, 'skin': 0.1}]",
       "pair #0: unknown key 'skin'"},
      {"", "", "", ", 'pairs': [{'geom1': 0, 'geom2': 1, 'contact': 3}]",
       "pair #0: contact: must be a string"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    char text[4000];
    djModel* m = NULL;
    djError err = {""};
    writeScene(text, sizeof text, bad[i].option, bad[i].floor, bad[i].ball, bad[i].pairs);
    assert_int_equal(dj_loadModelText(&m, djt_json(text), &err), DJ_INVALID);
    assert_null(m);
    if (!strstr(err.text, bad[i].text)) fail_msg("%s\nnot: %s", err.text, bad[i].text);
  }
}

// Copies, definitions and files have the same.
static void testKept(void) {
  djModel* m =
      load(", 'contact': 'charge', 'spring': {'viscosity': 3}, 'charge': "
           "{'charge': 0.5}",
           ", 'friction_cap': 'paper'", ", 'contact': 'spring', 'stiffness': 5, 'skin': 0.001",
           ", 'pairs': [{'geom1': 'box', 'geom2': 0, 'contact': 'none', "
           "'support': 0.01}]");
  djModel *again, *read;
  djModelDef def;
  void* storage;
  djError err = {""};
  djModel* copy = djt_copy(m);
  assert_null(djt_difference(m, copy));
  assert_int_equal(copy->collision->nuse, 3);
  assert_int_equal(dj_getDef(&def, &storage, m, &err), DJ_OK);
  again = djt_makeModel(&def);
  assert_null(djt_difference(m, again));
  dj_freeDef(storage);
  const char* path = DIJOCO_BUILD_DIR "/tests/kernel_choice.json";
  if (dj_saveModel(m, path, &err) != DJ_OK) fail_msg("%s", err.text);
  if (dj_loadModel(&read, path, &err) != DJ_OK) fail_msg("%s", err.text);
  assert_null(djt_difference(m, read));
  // a parameter that is set is given from then on
  double value = 77;
  djParam p = djt_param(m, "contact/spring/viscosity");
  assert_int_equal(dj_setParam(copy, &p, &value, &err), DJ_OK);
  assert_int_equal(dj_getDef(&def, &storage, copy, &err), DJ_OK);
  dj_deleteModel(again);
  assert_int_equal(dj_makeModel(&again, &def, &err), DJ_OK);
  assert_null(djt_difference(copy, again));
  djt_near(inForce(again, SPRING, SPRING_VISCOSITY, 2, 3), 77, 0);
  djt_near(inForce(again, SPRING, SPRING_STIFFNESS, 0, 1), 5, 0);
  dj_freeDef(storage);
  value = -1;
  djt_refused(DJ_INVALID, dj_setParam(copy, &p, &value, &err), err,
              "contact/spring/viscosity: must not be negative");
  assert_int_equal(dj_paramId(&p, m, "contact/charge", &err), DJ_OK);   // of the scene's kernel
  dj_deleteModel(copy);
  dj_deleteModel(again);
  dj_deleteModel(read);
  dj_deleteModel(m);
}

// ------------------------------------------ sums -----------------------------------------------

typedef struct Case {
  djModel* m;
  djContacts* c;
  djPose pose[NBALL + 1];
  djVec3 ref[NBALL + 1];
  double twist[6 * (NBALL + 1)];
} Case;

static void open(Case* s, djModel* m) {
  djError err = {""};
  memset(s, 0, sizeof *s);
  s->m = m;
  for (int b = 0; b <= NBALL; b++) {
    s->pose[b] = (djPose){dju_load3(m->body_pos + 3 * b), dju_eye3()};
    s->ref[b] = dju_add3(s->pose[b].p, dju_vec3(0.02, 0.01 * b, -0.03));
  }
  if (dj_makeContacts(&s->c, m, &err) != DJ_OK) fail_msg("%s", err.text);
}

static void close(Case* s) {
  dj_deleteContacts(s->c);
  dj_deleteModel(s->m);
}

static void begin(Case* s) {
  djError err = {""};
  djStatus status = dj_beginContacts(s->c, s->m, s->pose, NULL, s->twist, s->ref, 0.01, &err);
  if (status < 0) fail_msg("%s", err.text);
}

static const djContactBlock* blockOf(const Case* s, int a, int b) {
  int n;
  const djContactBlock* const* block = dj_contactBlocks(&n, s->c);
  for (int k = 0; k < n; k++) {
    if (block[k]->geom_a == a && block[k]->geom_b == b) return block[k];
  }
  return NULL;
}

static void testBlocks(void) {
  Case s;
  open(&s, load("", "", ", 'contact': 'spring', 'stiffness': 400, 'damping': 30", ""));
  for (int i = 0; i < 6; i++) s.twist[6 + i] = 0.1 * (i + 1);
  begin(&s);
  double value, other;
  assert_true(dj_evalContacts(&value, s.c, s.m, s.pose, s.twist, DJ_EVAL_HESSIAN) >= 0);
  assert_true(dj_startContacts(s.c, s.m, s.pose) >= 0);
  const djContactBlock *spring = blockOf(&s, 1, 0), *plane = blockOf(&s, 2, 0);
  assert_non_null(spring);
  assert_non_null(plane);
  assert_non_null(blockOf(&s, 4, 0));
  assert_ptr_equal(spring->kernel, &test_springKernel);
  assert_true(dj_isPotential(plane->traits));
  assert_non_null(spring->out.twist_jac);
  assert_null(plane->out.twist_jac);
  assert_null(spring->rate_jac);
  // 0.01 deep; the point below the centre moves down by -(v + w x arm)_z
  const double* w = s.twist + 6;
  djVec3 arm = dju_sub3(dju_vec3(1, 0, 0), s.ref[1]);
  djVec3 v = dju_add3(dju_cross3(dju_load3(w), arm), dju_load3(w + 3));
  djt_near(-spring->out.gradient[5], 0.01 * (400 - 30 * v.z), 1e-12);
  djt_near(spring->out.gradient[11], 0.01 * (400 - 30 * v.z), 1e-12);
  djt_near(-spring->out.gradient[3], -1 * 1 * 0.01 * v.x, 1e-12);
  djt_near(spring->out.twist_jac[12 * 5 + 5], 0.3, 1e-12);
  assert_true(spring->out.value == 0 && value > 0);
  for (int i = 0; i < 144; i++) assert_true(spring->start_jac[i] == 0);
  // velocities do nothing to the others' sum
  assert_true(dj_evalContacts(&other, s.c, s.m, s.pose, NULL, DJ_EVAL_HESSIAN) >= 0);
  assert_true(value == other);
  djt_near(-blockOf(&s, 1, 0)->out.gradient[5], 4, 1e-12);
  close(&s);
}

// Rate poses of their own: the part by them is told apart, and adds up to the whole where all move.
static void testRates(void) {
  Case s;
  djError err = {""};
  double value, both[144];
  djPose rate[NBALL + 1];
  open(&s, load("", "", "", ""));
  begin(&s);
  for (int b = 1; b <= NBALL; b++) s.pose[b].p.x += 1e-3;   // slides
  assert_true(dj_evalContacts(&value, s.c, s.m, s.pose, NULL, DJ_EVAL_HESSIAN) >= 0);
  assert_true(dj_startContacts(s.c, s.m, s.pose) >= 0);
  memcpy(both, blockOf(&s, 4, 0)->start_jac, sizeof both);
  double slid = blockOf(&s, 4, 0)->out.gradient[3];
  assert_true(slid > 0);
  for (int b = 0; b <= NBALL; b++) {
    s.pose[b].p = dju_load3(s.m->body_pos + 3 * b);
    rate[b] = s.pose[b];
    if (b > 0) rate[b].p.x += 1e-300;   // elsewhere, by nothing
  }
  rate[1].p.y += 1e-13;
  assert_true(dj_beginContacts(s.c, s.m, s.pose, rate, NULL, s.ref, 0.01, &err) >= 0);
  for (int b = 1; b <= NBALL; b++) s.pose[b].p.x += 1e-3;
  assert_true(dj_evalContacts(&value, s.c, s.m, s.pose, NULL, DJ_EVAL_HESSIAN) >= 0);
  assert_true(dj_startContacts(s.c, s.m, s.pose) >= 0);
  const djContactBlock* block = blockOf(&s, 4, 0);
  assert_non_null(block->rate_jac);
  djt_near(block->out.gradient[3], slid, 1e-12 * slid);
  double most = 0;
  for (int i = 0; i < 144; i++) most = djt_worst(most, fabs(both[i]));
  for (int i = 0; i < 144; i++) {
    djt_near(block->start_jac[i] + block->rate_jac[i], both[i], 1e-9 * most);
  }
  // where displacements count from now, nothing slides
  memcpy(rate, s.pose, sizeof rate);
  for (int b = 0; b <= NBALL; b++) s.pose[b].p = dju_load3(s.m->body_pos + 3 * b);
  assert_true(dj_beginContacts(s.c, s.m, s.pose, rate, NULL, s.ref, 0.01, &err) >= 0);
  assert_true(dj_evalContacts(&value, s.c, s.m, rate, NULL, DJ_EVAL_GRADIENT) >= 0);
  djt_near(blockOf(&s, 4, 0)->out.gradient[3], 0, 1e-12 * slid);
  close(&s);
}

static void testReport(void) {
  djModel* m = load("", "", ", 'contact': 'spring', 'stiffness': 400", "");
  Case s;
  open(&s, m);
  djData* d = djt_data(m);
  begin(&s);
  assert_true(dj_reportContacts(d, s.c, m, s.pose) >= 0);
  assert_int_equal(d->npair, 4);
  const djContactPair* p = &d->pair[0];
  assert_true(p->geom1 == 0 && p->geom2 == 1 && !p->recovering);
  djt_near(p->gap, -0.01, 1e-12);
  djt_near(p->normal_force, 4, 1e-12);
  djt_near(p->normal[2], 1, 1e-12);
  djt_near(p->force[2], 4, 1e-12);
  djt_near(p->point[2], -0.005, 1e-12);
  djt_near(d->stats.overlap, 0.01, 1e-12);
  assert_true(d->pair[1].gap < 0 && d->pair[1].recovering);   // of the separating plane
  dj_deleteData(d);
  close(&s);
}

// ------------------------------------------ parameters -----------------------------------------

// x . gradient of all contact, after the parameter has been set.
static double product(Case* s, const djParam* p, const double* value, const double* x) {
  djError err = {""};
  double sum = 0, energy;
  int n;
  if (dj_setParam(s->m, p, value, &err) != DJ_OK) fail_msg("%s", err.text);
  begin(s);
  assert_true(dj_evalContacts(&energy, s->c, s->m, s->pose, s->twist, DJ_EVAL_GRADIENT) >= 0);
  const djContactBlock* const* block = dj_contactBlocks(&n, s->c);
  for (int k = 0; k < n; k++) {
    for (int i = 0; i < 6; i++) {
      sum += x[6 * block[k]->body_a + i] * block[k]->out.gradient[i];
      sum += x[6 * block[k]->body_b + i] * block[k]->out.gradient[6 + i];
    }
  }
  return sum;
}

static void testParams(void) {
  static const char* const names[] = {
      "contact/spring/stiffness", "contact/spring/damping", "contact/spring/viscosity",
      "contact/stiffness",        "geom/ball/size",         "geom/ball/pos",
      "geom/floor/pos",           "geom/floor/quat",        "geom/ball/friction"};
  Case s;
  Random r = {5};
  double x[6 * (NBALL + 1)];
  // the third ball has a stiffness of its own: the scene's does nothing to it
  open(&s, load("", ", 'friction': [0.2, 0, 0]", ", 'contact': 'spring'",
                ", 'pairs': [{'geom1': 'third', 'geom2': 0, 'contact': 'spring', "
                "'stiffness': 50, 'friction': 0.3}]"));
  s.pose[4].R = dju_quatToMat(randomQuat(&r));   // faces that lie on each other are a kink
  s.pose[4].p.z = 0.17;
  for (int i = 0; i < 6 * (NBALL + 1); i++) {
    x[i] = uniform(&r, -1, 1);
    s.twist[i] = i < 6 ? 0 : uniform(&r, -1, 1);
  }
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    double base[4], value[4], energy;
    djParam p = djt_param(s.m, names[i]);
    assert_int_equal(dj_getParam(base, s.m, &p), DJ_OK);
    double* param = calloc(dj_paramGradSize(s.m), sizeof *param);
    void* memory = aligned_alloc(64, (dj_shapeGradSize(s.m) + 63) / 64 * 64);
    djShapeGrad* shape = dj_initShapeGrads(memory, s.m);
    begin(&s);
    assert_true(dj_evalContacts(&energy, s.c, s.m, s.pose, s.twist, DJ_EVAL_GRADIENT) >= 0);
    assert_true(dj_contactParams(param, shape, s.c, s.m, s.pose, x) >= 0);
    for (int k = 0; k < s.m->collision->nshape; k++) {
      assert_int_equal(dj_shapeParams(param, s.m, k, &shape[k]), DJ_OK);
    }
    const double* grad = dj_paramEntry(param, s.m, (djField)p.field, p.id);
    for (int k = 0; k < (p.nvalue == 4 ? 3 : 1); k++) {
      double y[2], e = 1e-6 * (p.nvalue == 1 ? base[0] : 1);
      for (int side = 0; side < 2; side++) {
        double step = side ? e : -e;
        memcpy(value, base, sizeof value);
        if (p.nvalue == 4) {
          djVec3 turn = dju_vec3(k == 0 ? step : 0, k == 1 ? step : 0, k == 2 ? step : 0);
          djQuat q = {1, 0.5 * turn.x, 0.5 * turn.y, 0.5 * turn.z};
          dju_storeQuat(value, dju_normalizeQuat(q));
        } else {
          value[k] += step;
        }
        y[side] = product(&s, &p, value, x);
      }
      product(&s, &p, base, x);
      double wanted = (y[1] - y[0]) / (2 * e);
      djt_failIf(!(fabs(grad[k] - wanted) <= 1e-5 * (1 + fabs(wanted))),
                 "%s[%d]: %.9g, by differences %.9g", names[i], k, grad[k], wanted);
    }
    free(param);
    free(memory);
  }
  close(&s);
}

// ------------------------------------------ no range -------------------------------------------

// n balls far from each other, all of which repel each other.
static djModel* charges(int n) {
  Scene* s = newScene(n);
  for (int i = 0; i < n; i++) {
    const int b = addBody(s, 0, DJ_FREE, 3 * i, (i * i) % 7, 0, 1, 0.16);
    addGeom(s, b, DJ_SPHERE, 0.1, 0, 0)->contact = "charge";
  }
  s->def.option.gravity[2] = 0;
  return takeScene(s);
}

static void testCharges(void) {
  enum { N = 60 };
  djModel* m = charges(N);
  djContacts* c;
  djError err = {""};
  djPose pose[N + 1];
  djVec3 ref[N + 1] = {{0, 0, 0}};
  double value, sum = 0, force[3] = {0};
  int n;
  for (int b = 0; b <= N; b++) {
    pose[b] = (djPose){dju_load3(m->body_pos + 3 * b), dju_eye3()};
    for (int a = 1; a < b; a++) sum += 1e-3 / dju_norm3(dju_sub3(pose[a].p, pose[b].p));
  }
  assert_int_equal(dj_makeContacts(&c, m, &err), DJ_OK);
  size_t before = dj_contactsBytes(c);
  assert_true(dj_maxContactPairs(m) < N * (N - 1) / 2);
  assert_true(dj_beginContacts(c, m, pose, NULL, NULL, ref, 0.01, &err) >= 0);
  assert_true(dj_contactsBytes(c) > before);
  assert_int_equal(dj_evalContacts(&value, c, m, pose, NULL, DJ_EVAL_HESSIAN), DJ_OK);
  const djContactBlock* const* block = dj_contactBlocks(&n, c);
  assert_int_equal(n, N * (N - 1) / 2);
  djt_near(value, sum, 1e-12 * sum);
  for (int k = 0; k < n; k++) {
    const double* g = block[k]->out.gradient;
    for (int i = 0; i < 3; i++) force[i] += g[3 + i] + g[9 + i];
  }
  djt_near(force[0], 0, 1e-15);
  double factor;
  pose[1].p.x += 1e3;
  assert_int_equal(dj_capContacts(&factor, c, m, pose, pose), DJ_OK);
  assert_true(factor == 1);   // charges have no cap
  dj_deleteContacts(c);
  dj_deleteModel(m);
}

// A step with more pairs than data had room for is the step that it would have been; copies of data
// have all pairs.
static void testStep(void) {
  enum { N = 50 };
  djModel* m = charges(N);
  djError err = {""};
  djData* d = djt_data(m);
  djData* copy = djt_data(m);
  for (int k = 0; k < 3; k++) {
    djStatus status = dj_step(m, d);
    if (status != DJ_OK) fail_msg("%d: %s", (int)status, dj_errorText(d));
  }
  assert_int_equal(d->npair, N * (N - 1) / 2);
  assert_int_equal(dj_copyData(copy, m, d), DJ_OK);
  assert_int_equal(copy->npair, d->npair);
  assert_memory_equal(copy->pair, d->pair, sizeof *d->pair * (size_t)d->npair);
  assert_memory_equal(copy->contact, d->contact, sizeof *d->contact * (size_t)d->ncontact);
  assert_int_equal(dj_step(m, d), DJ_OK);
  assert_int_equal(dj_step(m, copy), DJ_OK);
  assert_memory_equal(d->qpos, copy->qpos, sizeof(double) * (size_t)m->nq);
  double momentum = 0;
  for (int b = 0; b < N; b++) momentum += d->qvel[6 * b];
  djt_near(momentum, 0, 1e-9);
  assert_true(d->qvel[0] < 0 && d->qvel[6 * (N - 1)] > 0);
  // a model with other contact models has other data
  djOption option = m->opt;
  djModel* other = djt_copy(m);
  option.contact = (djContactModel)SPRING;
  assert_int_equal(dj_setOption(other, &option, &err), DJ_OK);
  assert_int_equal(dj_step(other, d), DJ_INVALID);
  assert_non_null(strstr(dj_errorText(d), "other contact models"));
  dj_deleteModel(other);
  dj_deleteData(d);
  djt_delete(m, copy);
}

// While a step is being solved nothing grows: the call tells, and after dj_growContacts all is
// well.
static void testCrowded(void) {
  enum { N = 200 };
  djError err = {""};
  djModel* all = charges(N);
  djModelDef def;
  void* storage;
  assert_int_equal(dj_getDef(&def, &storage, all, &err), DJ_OK);
  for (int g = 0; g < N; g++) ((djGeomDef*)(size_t)def.geom)[g].contact = NULL;
  djModel* m = djt_makeModel(&def);
  dj_freeDef(storage);
  dj_deleteModel(all);
  djContacts *c, *roomy;
  djPose start[N + 1], pose[N + 1];
  djVec3 ref[N + 1] = {{0, 0, 0}};
  for (int b = 0; b <= N; b++) {
    start[b] = pose[b] = (djPose){dju_load3(m->body_pos + 3 * b), dju_eye3()};
    if (b > 0) pose[b].p = dju_vec3(0.1995 * (b % 6), 0.1995 * (b / 6 % 6), 0.1995 * (b / 36));
  }
  assert_int_equal(dj_makeContacts(&c, m, &err), DJ_OK);
  assert_int_equal(dj_makeContacts(&roomy, m, &err), DJ_OK);
  double value = 0, wanted;
  assert_true(dj_beginContacts(c, m, start, NULL, NULL, ref, 0.01, &err) >= 0);
  dj_fixContacts(c, true);
  size_t before = dj_contactsBytes(c);
  djStatus status = DJ_CROWDED;
  for (int k = 0; status == DJ_CROWDED; k++) {
    assert_true(k < 20);
    status = dj_evalContacts(&value, c, m, pose, NULL, DJ_EVAL_GRADIENT);
    if (status != DJ_CROWDED) break;
    assert_int_equal(dj_contactsBytes(c), before);
    assert_int_equal(dj_growContacts(c, m, &err), DJ_OK);
    assert_true(dj_contactsBytes(c) > before);
    before = dj_contactsBytes(c);
    assert_true(dj_beginContacts(c, m, start, NULL, NULL, ref, 0.01, &err) >= 0);
  }
  assert_true(status >= 0);
  assert_true(dj_beginContacts(roomy, m, start, NULL, NULL, ref, 0.01, &err) >= 0);
  assert_true(dj_evalContacts(&wanted, roomy, m, pose, NULL, DJ_EVAL_GRADIENT) >= 0);
  int n, nroomy;
  const djContactBlock* const* a = dj_contactBlocks(&n, c);
  const djContactBlock* const* b = dj_contactBlocks(&nroomy, roomy);
  assert_true(n == nroomy && n > 2 * N + 64 && value == wanted);
  for (int k = 0; k < n; k++) {
    assert_memory_equal(a[k]->out.gradient, b[k]->out.gradient, sizeof a[k]->out.gradient);
  }
  dj_deleteContacts(c);
  dj_deleteContacts(roomy);
  dj_deleteModel(m);
}

DJT_MAIN(testChoice, testSettings, testRefused, testKept, testBlocks, testRates, testReport,
         testParams, testCharges, testStep, testCrowded)
