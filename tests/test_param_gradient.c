// Derivatives by every parameter of a model: of one step against differences of steps, with and
// without contact, and of losses over runs against differences of the losses.

#include "common/make_model.h"
#include "common/random_model.h"
#include "common/states.h"
#include "common/test.h"
#include "common/worst.h"

#include "common/scene.h"
#include "integrate/work.h"
#include "math/so3.h"
#include "model/param.h"

// q exp(e w) for the last four entries of a value that has one more than its tangent.
static void moveValue(double* value, const djParam* p, const double* dir, double e) {
  int plain = p->nvalue == p->ntangent ? p->nvalue : p->nvalue - 4;
  for (int i = 0; i < plain; i++) value[i] += e * dir[i];
  if (p->nvalue == p->ntangent) return;
  djQuat q = dju_loadQuat(value + plain);
  q = dju_mulQuat(q, dju_expQuat(dju_scale3(e, dju_load3(dir + plain))));
  dju_storeQuat(value + plain, q);
}

// Parameters of which a state depends smoothly: all, but what is zero and may not be negative.
static int listParams(djParam* list, const djModel* m) {
  int n = 0;
  for (int f = 0; f < DJ_NFIELD; f++) {
    djParam p;
    for (int id = 0; dj_makeParam(&p, m, (djField)f, id); id++) {
      bool vanishing = true;
      double value[32];
      if (p.nvalue > 32) continue;
      dj_getParam(value, m, &p);
      for (int k = 0; k < p.nvalue; k++) vanishing = vanishing && value[k] == 0;
      bool bounded = f == DJ_FIELD_BODY_MASS || f == DJ_FIELD_BODY_INERTIA ||
                     f == DJ_FIELD_JOINT_DAMPING || f == DJ_FIELD_JOINT_STIFFNESS ||
                     f == DJ_FIELD_JOINT_ARMATURE || f == DJ_FIELD_JOINT_FRICTIONLOSS ||
                     f == DJ_FIELD_TENDON_STIFFNESS || f == DJ_FIELD_TENDON_DAMPING ||
                     f == DJ_FIELD_TENDON_FRICTIONLOSS || f == DJ_FIELD_GEOM_SIZE ||
                     f == DJ_FIELD_GEOM_FRICTION || f == DJ_FIELD_GEOM_RESTITUTION ||
                     (f >= DJ_FIELD_PAIR_FRICTION && f <= DJ_FIELD_PAIR_RESTITUTION);
      if (vanishing && bounded) continue;
      if (f == DJ_FIELD_JOINT_STIFFNESS && value[0] < 0.05) continue;   // steps would pass 0
      if (f == DJ_FIELD_GEOM_SHARPNESS && value[0] <= 1) continue;   // at its bound
      list[n++] = p;
    }
    // the world has no frame
    for (int id = 1; (f == DJ_FIELD_BODY_POS || f == DJ_FIELD_BODY_QUAT) && id < m->nbody; id++) {
      if (dj_makeParam(&p, m, (djField)f, id)) list[n++] = p;
    }
  }
  return n;
}

static void drawDirection(double* dir, djRng* rng, const djParam* p, const djModel* m) {
  double value[32];
  dj_getParam(value, m, p);
  for (int k = 0; k < p->ntangent; k++) {
    dir[k] = djt_uniform(rng, -1, 1);
    // numbers that may not become negative move in proportion
    if (p->field == DJ_FIELD_GEOM_FRICTION || p->field == DJ_FIELD_GEOM_RESTITUTION ||
        (p->field >= DJ_FIELD_PAIR_FRICTION && p->field <= DJ_FIELD_PAIR_RESTITUTION) ||
        p->field == DJ_FIELD_BODY_INERTIA ||
        p->field == DJ_FIELD_GEOM_SIZE || p->field == DJ_FIELD_BODY_MASS ||
        p->field == DJ_FIELD_JOINT_FRICTIONLOSS) {
      dir[k] *= value[k];
    }
  }
  bool one = p->field == DJ_FIELD_TENDON_SPRINGLENGTH && value[0] == value[1];
  if (one) dir[1] = dir[0];   // a spring without a dead band stays one
  if (p->field == DJ_FIELD_SETTING) dir[0] *= value[0];
}

// Largest relative error, size of the changes, and of derivatives that count as 0.
typedef struct Tolerance {
  double error, scale, floor;
} Tolerance;

typedef struct Start {
  double q[80], v[80], act[20];
} Start;

static void restart(const djModel* m, djData* d, const Start* s) {
  memcpy(d->qpos, s->q, (size_t)m->nq * sizeof(double));
  memcpy(d->qvel, s->v, (size_t)m->nv * sizeof(double));
  memcpy(d->act, s->act, (size_t)m->na * sizeof(double));
}

// The step's result with a parameter moved: (q+ - qref, v+).
static void stepWith(double* out, djModel* moved, const djModel* m, const djData* like,
                     const Start* s, const djParam* p, const double* dir, double e,
                     const double* qref) {
  double value[32];
  djError err = {""};
  dj_getParam(value, m, p);
  moveValue(value, p, dir, e);
  if (dj_setParam(moved, p, value, &err) < 0) fail_msg("field %d: %s", p->field, err.text);
  djData* d = djt_data(moved);
  assert_int_equal(dj_copyData(d, m, like), DJ_OK);
  d->work->refinement_steps = 8;
  restart(m, d, s);
  assert_true(dj_step(moved, d) >= 0);
  dj_differentiatePos(out, m, 1, qref, d->qpos);
  memcpy(out + m->nv, d->qvel, (size_t)m->nv * sizeof(double));
  dj_deleteData(d);
}

// Differences of the step along dir by steps e (`coarse`) and e/2 (`fine`).
static void differ(double* coarse, double* fine, const djModel* m, const djData* d, const Start* s,
                   const djParam* p, const double* dir, double e) {
  static const double point[4] = {1, -1, 2, -2}, weight[4] = {8, -8, -1, 1};
  double out[160];
  djModel* moved = djt_copy(m);
  for (int half = 0; half < 2; half++, e /= 2) {
    double* sum = half ? fine : coarse;
    memset(sum, 0, sizeof out);
    for (int k = 0; k < 4; k++) {
      stepWith(out, moved, m, d, s, p, dir, point[k] * e, d->qpos);
      for (int i = 0; i < 2 * m->nv; i++) sum[i] += weight[k] / (12 * e) * out[i];
    }
  }
  dj_deleteModel(moved);
}

// Relative error of P dir for one parameter by differences with two steps of size `scale`, smaller
// ones where those differ by more than the tolerance; NaN where differences tell nothing.
static double checkOne(const djModel* m, djData* d, const Start* s, const double* P, int np,
                       int column, const djParam* p, djRng* rng, const Tolerance* t) {
  double dir[32], y[160] = {0}, fine[160], coarse[160];
  int nx = 2 * m->nv;
  drawDirection(dir, rng, p, m);
  for (int i = 0; i < nx; i++) {
    for (int k = 0; k < p->ntangent; k++) y[i] += P[(size_t)i * np + column + k] * dir[k];
  }
  for (double scale = t->scale; scale > t->scale / 100; scale /= 8) {
    double size = 0, diff = 0, own = 0, floor = 3e-12 / scale + t->floor;   // rounding of steps
    differ(coarse, fine, m, d, s, p, dir, scale);
    for (int i = 0; i < nx; i++) {
      assert_true(isfinite(y[i]) && isfinite(fine[i]) && isfinite(coarse[i]));
      size = djt_worst(size, fabs(fine[i]));
      diff = djt_worst(diff, fabs(fine[i] - y[i]));
      own = djt_worst(own, fabs(fine[i] - coarse[i]));
    }
    if (size < floor) return diff < floor ? 0 : 1;
    if (own <= floor + t->error * size) return fmax(0, diff - floor) / size;
  }
  return NAN;
}

// Every parameter of the model at a state. Counts by field those that differences tell of and whose
// derivative is not zero. Directions are of a copy of rng: models that are drawn after this one do not
// depend on how many parameters there are.
static void checkModel(djModel* m, djData* d, djRng rng, const Tolerance* t, int* told,
                       double* worst) {
  Start s;
  assert_true(m->nq <= 80 && m->na <= 20);
  memcpy(s.q, d->qpos, (size_t)m->nq * sizeof(double));
  memcpy(s.v, d->qvel, (size_t)m->nv * sizeof(double));
  memcpy(s.act, d->act, (size_t)m->na * sizeof(double));
  djData* before = djt_data(m);
  assert_int_equal(dj_copyData(before, m, d), DJ_OK);
  d->work->refinement_steps = 8;
  assert_true(dj_step(m, d) >= 0);
  djParam* list = calloc(1000, sizeof *list);
  int n = listParams(list, m), np = 0;
  assert_true(n < 1000);
  for (int i = 0; i < n; i++) np += list[i].ntangent;
  double* P = calloc((size_t)dj_tangentSize(m) * (size_t)np, sizeof *P);
  assert_int_equal(djd_lastParams(m, d, P, n, list), DJ_OK);
  memcpy(before->qpos, d->qpos, (size_t)m->nq * sizeof(double));   // the reference of differences
  for (int i = 0, column = 0; i < n; column += list[i++].ntangent) {
    double error = checkOne(m, before, &s, P, np, column, &list[i], &rng, t);
    if (!isfinite(error)) continue;
    double sum = 0;
    for (int r = 0; r < 2 * m->nv; r++) {
      for (int k = 0; k < list[i].ntangent; k++) sum += fabs(P[(size_t)r * np + column + k]);
    }
    if (sum > 0) told[list[i].field]++;
    if (error > t->error) print_error("field %d of #%d: %.2e\n", list[i].field, list[i].id, error);
    *worst = djt_worst(*worst, error);
  }
  free(P);
  free(list);
  dj_deleteData(before);
}

static djEqualityLaw law;   // of equality constraints

// Random constraints that are hard may contradict each other.
static bool isSound(const djModel* m, const djData* d) {
  djData* copy = djt_data(m);
  assert_int_equal(dj_copyData(copy, m, d), DJ_OK);
  djStatus status = dj_step(m, copy);
  assert_true(status >= 0);
  dj_deleteData(copy);
  return law == DJ_EQUALITY_SOFT || status == DJ_OK;
}

static void checkRandom(int told[DJ_NFIELD], djIntegrator integrator, int features, int trials) {
  const bool hard = law == DJ_EQUALITY_HARD;   // derivatives by a stiffness, see force/hold.c
  const Tolerance tolerance = {hard ? 2e-7 : 1e-6, 1e-3, hard ? 1e-6 : 0};
  djRng rng = {5};
  double worst = 0;
  for (int trial = 0; trial < trials; trial++) {
    djModel* m = djt_randomModel(&rng, 2 + djt_integer(&rng, 3), features);
    m->opt.integrator = integrator;
    m->opt.equality = law;
    m->opt.implicit = (djImplicitTerms)(trial % 3);
    if (integrator == DJ_EULER) djt_dropPathArmature(m);
    djData* d = djt_data(m);
    djt_randomState(&rng, m, d, 1);
    if (hard) m->opt.tolerance = 1e-8;
    for (int e = 0; e < m->nequality && hard; e++) {
      d->eq_active[e] = e == trial % m->nequality;
    }
    if (isSound(m, d)) checkModel(m, d, rng, &tolerance, told, &worst);
    djt_delete(m, d);
  }
  print_message("%s: without contact %.1e\n", dj_integratorName(integrator), worst);
  assert_true(worst < tolerance.error);
}

static void testFree(void** state) {
  int told[DJ_NFIELD] = {0};
  checkRandom(told, *(const djIntegrator*)*state, DJT_ALL, 10);
  static const djField all[] = {DJ_FIELD_BODY_POS,       DJ_FIELD_BODY_QUAT,
                                DJ_FIELD_BODY_MASS,      DJ_FIELD_BODY_IPOS,
                                DJ_FIELD_BODY_IQUAT,     DJ_FIELD_BODY_INERTIA,
                                DJ_FIELD_BODY_GRAVCOMP,  DJ_FIELD_JOINT_POS,
                                DJ_FIELD_JOINT_AXIS,     DJ_FIELD_JOINT_DAMPING,
                                DJ_FIELD_JOINT_STIFFNESS, DJ_FIELD_JOINT_SPRINGREF,
                                DJ_FIELD_JOINT_ARMATURE, DJ_FIELD_JOINT_FRICTIONLOSS,
                                DJ_FIELD_JOINT_RANGE,    DJ_FIELD_ACTUATOR_GAINPRM,
                                DJ_FIELD_ACTUATOR_BIASPRM, DJ_FIELD_ACTUATOR_GEAR,
                                DJ_FIELD_GRAVITY};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) assert_true(told[all[i]] > 0);
}

// With tendons, and actuators on them, on sites and by cranks: also what moves their sites.
static void testTendons(void** state) {
  int told[DJ_NFIELD] = {0};
  checkRandom(told, *(const djIntegrator*)*state, DJT_ALL | DJT_TOTAL | DJT_TENDONS, 12);
  static const djField all[] = {DJ_FIELD_SITE_POS,
                                DJ_FIELD_TENDON_STIFFNESS,
                                DJ_FIELD_TENDON_DAMPING,
                                DJ_FIELD_TENDON_SPRINGLENGTH,
                                DJ_FIELD_TENDON_FRICTIONLOSS,
                                DJ_FIELD_TENDON_RANGE};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) assert_true(told[all[i]] > 0);
}

// With tendons around geoms: also what moves these.
static void testWraps(void** state) {
  int told[DJ_NFIELD] = {0};
  const int features = DJT_SPRINGS | DJT_ACTUATORS | DJT_TENDONS | DJT_WRAPS;
  checkRandom(told, *(const djIntegrator*)*state, features, 12);
  static const djField all[] = {DJ_FIELD_SITE_POS, DJ_FIELD_GEOM_POS, DJ_FIELD_GEOM_QUAT,
                                DJ_FIELD_GEOM_SIZE, DJ_FIELD_BODY_POS, DJ_FIELD_TENDON_STIFFNESS};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) assert_true(told[all[i]] > 0);
}

// With equality constraints of all types, soft ones of `euler`, or hard: also what moves their
// frames and sites.
static void testEqualities(void** state) {
  int told[DJ_NFIELD] = {0};
  const int features = DJT_SPRINGS | DJT_ACTUATORS | DJT_TENDONS | DJT_EQUALITIES;
  checkRandom(told, *(const djIntegrator*)*state, features, law == DJ_EQUALITY_HARD ? 16 : 30);
  static const djField all[] = {DJ_FIELD_BODY_POS,     DJ_FIELD_BODY_QUAT,  DJ_FIELD_BODY_MASS,
                                DJ_FIELD_BODY_INERTIA, DJ_FIELD_JOINT_POS,  DJ_FIELD_JOINT_AXIS,
                                DJ_FIELD_SITE_POS,     DJ_FIELD_EQUALITY_POLYCOEF,
                                DJ_FIELD_EQUALITY_ANCHOR};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) assert_true(told[all[i]] > 0);
}

static void testHard(void** state) {
  law = DJ_EQUALITY_HARD;
  testEqualities(state);
  law = DJ_EQUALITY_SOFT;
}

// A link on a hinge over a floor, with a hand of a box and a ball, and bodies on the floor that
// touch each other and the hand. Frictions differ, as the coefficient of two equal ones is C0. The
// capsule has torsion and rolling, the last ball, by a pair, all that friction can have.
static djModel* touching(bool surfaces) {
  const int box = surfaces ? DJ_ELLIPSOID : DJ_BOX;   // flat ones are uncertain where they touch
  const int type[5] = {box, DJ_SPHERE, DJ_CAPSULE, box, DJ_SPHERE};
  Scene* s = newScene(6);
  addGeom(s, 0, DJ_PLANE, 0, 0, 0)->friction[0] = 0.3;
  int post = addBody(s, 0, -1, 0, 0, 0.02, 1, 0.1);
  int arm = addBody(s, post, DJ_HINGE, 0, 0, 0.13, 1, 0.1);
  s->body[arm].quat[1] = 0.05;
  djGeomDef* g = addGeom(s, arm, DJ_CAPSULE, 0.04, 0.1, 0);
  g->pos[0] = 0.15;
  g->quat[0] = g->quat[2] = sqrt(0.5);
  g->friction[0] = 0.5;
  for (int i = 0; i < 4; i++) {
    int b = addBody(s, 0, DJ_FREE, 0.4 + 0.099 * i, 0.01 * i, 0.05, 0.5, 0.04);
    g = addGeom(s, b, type[i + 1], 0.05, 0.05, 0.05);
    g->friction[0] = 0.6 + 0.1 * i;
    if (type[i + 1] == DJ_CAPSULE) g->quat[0] = g->quat[1] = sqrt(0.5);
    if (type[i + 1] == DJ_CAPSULE) g->size[1] = 0.03;
    if (type[i + 1] != DJ_CAPSULE) continue;
    g->condim = 6;
    g->friction[1] = 0.02;
    g->friction[2] = 0.004;
  }
  djPairDef pair = {.geom1 = 0, .geom2 = 5, .condim = 6, .friction = 0.4, .friction2 = 0.7,
                    .torsion = 0.03, .rolling = {0.005, 0.008}};
  s->def.npair = 1;
  s->def.pair = &pair;
  s->def.option.timestep = 0.005;
  s->def.option.friction_eps = 1e-4;
  if (surfaces) {
    s->def.option.contact = DJ_IMPLICIT_SURFACE;
    s->def.option.law = DJ_LAW_BARRIER;
    s->def.option.support = 1e-3;
    s->def.option.stiffness_scale = 1e-3;
  }
  return takeScene(s);
}

// Pairs of the last step whose friction depends on the poses a step earlier.
static int pastPairs(const djData* d) {
  int n, past = 0;
  const djContactBlock* const* block = dj_contactBlocks(&n, dj_contactsOf(&d->work->forces));
  for (int k = 0; k < n; k++) past += d->work->has_past && block[k]->has_past;
  return past;
}

static void checkContact(int told[DJ_NFIELD], djIntegrator integrator, bool surfaces) {
  const Tolerance tolerance = {1e-4, 1e-6, 0};
  djRng rng = {9};
  double worst = 0;
  int past = 0;
  for (int trial = surfaces ? 6 : 0; trial < 10; trial++) {   // the last ones leave an overlap
    djModel* m = touching(surfaces);
    m->opt.integrator = integrator;
    if (integrator == DJ_EULER) {   // with a row beside contact, and damping that it does not see
      m->jnt_damping[0] = 0.3;
      m->jnt_frictionloss[0] = 3;
    }
    djData* d = sceneData(m);
    for (int i = 0; i < m->nv; i++) d->qvel[i] = djt_uniform(&rng, -0.3, 0.3);
    int steps = 10 + djt_integer(&rng, 20), sunk = trial < 6 ? 0 : trial - 5;
    for (int k = 0; k < steps; k++) assert_true(dj_step(m, d) >= 0);
    for (int i = 0; sunk && i < 4; i++) d->qpos[1 + 7 * i + 2] -= 3e-4 * (1 + i);
    if (sunk) d->qpos[0] = 0.463;   // the arm reaches into the floor
    for (int k = 0; k < sunk; k++) assert_true(dj_step(m, d) >= 0);
    checkModel(m, d, rng, &tolerance, told, &worst);
    past += pastPairs(d);
    djt_delete(m, d);
  }
  assert_true((past > 0) == (integrator == DJ_EULER || integrator == DJ_POSITION));
  print_message("%s: with contact %.1e\n", dj_integratorName(integrator), worst);
  assert_true(worst < tolerance.error);
}

static void testSurfaces(void) {
  int told[DJ_NFIELD] = {0};
  checkContact(told, DJ_EULER, true);
  assert_true(told[DJ_FIELD_GEOM_SIZE] > 0 && told[DJ_FIELD_GEOM_POS] > 0);
}

static void testContact(void** state) {
  const djIntegrator integrator = *(const djIntegrator*)*state;
  int told[DJ_NFIELD] = {0};
  checkContact(told, integrator, false);
  static const djField all[] = {DJ_FIELD_GEOM_POS,  DJ_FIELD_GEOM_QUAT, DJ_FIELD_GEOM_SIZE,
                                DJ_FIELD_GEOM_FRICTION, DJ_FIELD_PAIR_FRICTION,
                                DJ_FIELD_PAIR_FRICTION2, DJ_FIELD_PAIR_TORSION,
                                DJ_FIELD_PAIR_ROLLING, DJ_FIELD_SETTING};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) assert_true(told[all[i]] > 0);
  if (integrator == DJ_EULER) assert_true(told[DJ_FIELD_JOINT_FRICTIONLOSS] == 0);   // it holds
}

// What one body is does not matter at all to another that it neither holds nor touches: those
// derivatives are 0, not small.
static void testApart(void** state) {
  const djIntegrator integrator = *(const djIntegrator*)*state;
  static const djField field[] = {DJ_FIELD_BODY_MASS, DJ_FIELD_BODY_IPOS, DJ_FIELD_BODY_INERTIA};
  enum { N = 3, NP = 2 * (1 + 3 + 3) };
  Scene* s = newScene(2);
  for (int b = 1; b <= 2; b++) {
    addBody(s, 0, DJ_FREE, b, 0, 1, b, 0.1);
    s->body[b].ipos[1] = 0.05;
  }
  djModel* m = takeScene(s);
  m->opt.integrator = integrator;
  djData* d = sceneData(m);
  djRng rng = {4};
  for (int i = 0; i < m->nv; i++) d->qvel[i] = djt_uniform(&rng, -3, 3);
  assert_int_equal(dj_step(m, d), DJ_OK);
  djParam list[2 * N];
  double P[24 * NP];
  for (int i = 0; i < 2 * N; i++) assert_true(dj_makeParam(&list[i], m, field[i % N], 1 + i / N));
  assert_int_equal(djd_lastParams(m, d, P, 2 * N, list), DJ_OK);
  int own = 0;
  for (int row = 0; row < 24; row++) {
    for (int c = 0; c < NP; c++) {
      bool same = row % 12 / 6 == c / (NP / 2);
      if (!same) assert_true(P[row * NP + c] == 0);
      own += same && P[row * NP + c] != 0;
    }
  }
  assert_true(own > 20);
  djt_delete(m, d);
}

DJT_MAIN_ROWS(djt_byThree(testFree), djt_byThree(testTendons), djt_byThree(testContact),
              djt_byTwo(testApart), djt_byThree(testWraps), djt_by(testEqualities, DJ_EULER),
              djt_byThree(testHard), djt_test(testSurfaces))
