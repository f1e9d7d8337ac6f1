// The search for constraint forces r with which MuJoCo's solver answers a force that depends on r.

#include "common/mjcf.h"
#include "common/near.h"
#include "common/plugin.h"
#include "common/test.h"
#include "common/worst.h"
#include "engine/couple.h"

enum { NV = 5 };

// Slides, three of which follow others: the answer is linear in the force, and of rank three.
static const char kScene[] =
    "<mujoco><extension><plugin plugin='test.couple'><instance name='i'/></plugin></extension>"
    "<option tolerance='0' iterations='100'><flag gravity='disable' contact='disable' "
    "energy='enable'/></option>"
    "<default><joint type='slide' axis='1 0 0'/><geom size='.1'/></default><worldbody>"
    "<body><joint name='a'/><geom mass='1'/></body><body><joint name='b'/><geom mass='2'/></body>"
    "<body><joint name='c'/><geom mass='5'/></body><body><joint name='d'/><geom mass='.5'/></body>"
    "<body><joint name='free'/><geom mass='3'/></body></worldbody><equality>"
    "<joint joint1='a' joint2='b'/><joint joint1='c' joint2='b' polycoef='0 2 0 0 0'/>"
    "<joint joint1='d' joint2='c' polycoef='0 -1 0 0 0'/></equality><actuator><motor joint='a'/>"
    "<general joint='b' dyntype='filter' dynprm='.1'/><general joint='c' dyntype='integrator'/>"
    "</actuator><sensor><jointpos joint='a'/><jointvel joint='a'/><jointactuatorfrc joint='a'/>"
    "</sensor></mujoco>";

// ------------------------------ inside a pass of MuJoCo's ----------------------------------------

static void (*script)(const mjModel* m, mjData* d);   // runs when MuJoCo wants the passive force
static mjModel* stock;                                // the scene without plugins
static mjData* other;
static mjtNum work[1000];

static void compute(const mjModel* m, mjData* d, int instance, int capability) {
  (void)instance, (void)capability;
  if (script) script(m, d);
}

static int registerPlugin(void** state) {
  (void)state;
  return djt_registerPlugin("test.couple", mjPLUGIN_PASSIVE, compute) < 0;
}

// In a state that agrees with the constraints, or in another one.
static bool moving;
static void runScript(void (*wanted)(const mjModel* m, mjData* d)) {
  script = NULL;
  mjModel* m = djt_compile(kScene);
  stock = mj_copyModel(NULL, m);
  stock->nplugin = 0;
  mjData* d = mj_makeData(m);
  other = mj_makeData(stock);
  assert_int_equal(m->nv, NV);
  for (int i = 0; i < NV && moving; i++) {
    d->qpos[i] = other->qpos[i] = 1e-3 * i * i;
    d->qvel[i] = other->qvel[i] = 0.1 - 0.02 * i;
  }
  script = wanted;
  mju_fill(work, 77, 1000);
  mj_forward(m, d);
  script = NULL;
  assert_true(djm_coupleWork(m) < 1000);
  for (size_t i = djm_coupleWork(m); i < 1000; i++) assert_true(work[i] == 77);
  mj_deleteData(other);
  mj_deleteData(d);
  stock->nplugin = m->nplugin;
  mj_deleteModel(stock);
  mj_deleteModel(m);
}

// Stock MuJoCo's constraint force beside a force.
static void answerTo(mjtNum g[NV], const mjtNum force[NV]) {
  mju_copy(other->qfrc_applied, force, NV);
  mj_forward(stock, other);
  mju_copy(g, other->qfrc_constraint, NV);
}

// a M^-1 b
static double product(const mjtNum a[NV], const mjtNum b[NV]) {
  static const double mass[NV] = {1, 2, 5, 0.5, 3};
  double sum = 0;
  for (int i = 0; i < NV; i++) sum += a[i] * b[i] / mass[i];
  return sum;
}

static const mjtNum kForce[NV] = {1, -2, 3, 0.5, 7};

static djmCouple begin(const mjModel* m) {
  djmCouple c;
  djm_startCouple(&c, m, work);
  for (int i = 0; i < NV; i++) assert_true(c.r[i] == 0);
  return c;
}

// The next guess when MuJoCo's step is given this force besides r, which is taken out of it.
static bool next(djmCouple* c, const mjModel* m, mjData* d, const mjtNum force[NV],
                 double tolerance) {
  mju_add(d->qfrc_passive, force, c->r, NV);
  bool more = djm_nextCouple(c, m, d, tolerance);
  return more;
}

static void checkNear(const mjtNum a[NV], const mjtNum b[NV], double tolerance) {
  for (int i = 0; i < NV; i++) djt_near(a[i], b[i], tolerance);
}

// ------------------------------ linear answers ---------------------------------------------------

// r is taken out, the first guess is the answer itself, the second try finds it right.
static void constant(const mjModel* m, mjData* d) {
  mjtNum g[NV];
  answerTo(g, kForce);
  assert_true(mju_norm(g, NV) > 1);
  djmCouple c = begin(m);
  // what is found and put back, and what is not found at all
  mjtNum* const field[] = {d->qacc, d->qacc_smooth, d->qfrc_smooth, d->qfrc_constraint,
                           d->qfrc_actuator, d->actuator_force, d->act_dot, d->sensordata,
                           d->energy};
  const int size[] = {NV, NV, NV, NV, NV, 3, 2, 3, 2};
  for (int k = 0; k < 9; k++) mju_fill(field[k], 1234 + k, size[k]);
  assert_true(next(&c, m, d, kForce, 1e-6));
  for (int k = 0; k < 9; k++) {
    for (int i = 0; i < size[k]; i++) assert_true(field[k][i] == 1234 + k);
  }
  checkNear(c.r, g, 1e-9);
  checkNear(d->qfrc_passive, kForce, 0);
  assert_false(next(&c, m, d, kForce, 1e-6));
  checkNear(c.r, g, 1e-9);
  checkNear(d->qfrc_passive, kForce, 1e-14);
}

static void testConstant(void) {
  for (int k = 0; k < 2; k++) {
    moving = k;
    runScript(constant);
  }
  moving = false;
}

// force = kForce + L r for a matrix of this size: plain substitution diverges for the larger ones.
static double scale;
static void linear(const mjModel* m, mjData* d) {
  djmCouple c = begin(m);
  mjtNum force[NV], g[NV];
  int guesses = 0;
  for (bool more = true; more; guesses++) {
    for (int i = 0; i < NV; i++) {
      force[i] = kForce[i];
      for (int j = 0; j < NV; j++) force[i] += scale * sin(3 * i + 5 * j + 1) * c.r[j];
    }
    more = next(&c, m, d, force, 1e-4);
    assert_true(guesses < 40);
  }
  answerTo(g, force);
  checkNear(c.r, g, 1e-7 * mju_norm(g, NV));
  // An unknown for each constraint; more where guesses that are far off begin the search anew.
  if (guesses > (scale < 2 ? 5 : 20)) fail_msg("%d guesses for a scale of %g", guesses, scale);
}

static void testLinear(void) {
  for (scale = 0.1; scale < 5; scale *= 1.5) runScript(linear);
}

// ------------------------------ single guesses ---------------------------------------------------

enum { NGUESS = 60 };
static mjtNum answers[NGUESS][NV], errors[NGUESS][NV], guesses[NGUESS][NV];

// Guess k of a search is met with `factor` times kForce, whatever it is.
static bool meet(djmCouple* c, const mjModel* m, mjData* d, int k, double factor,
                 double tolerance) {
  mjtNum force[NV];
  mju_scl(force, kForce, factor, NV);
  answerTo(answers[k], force);
  mju_copy(guesses[k], c->r, NV);
  mju_sub(errors[k], answers[k], c->r, NV);
  return next(c, m, d, force, tolerance);
}

// The same with a force of its own.
static bool meetForce(djmCouple* c, const mjModel* m, mjData* d, int k, const mjtNum force[NV]) {
  answerTo(answers[k], force);
  mju_copy(guesses[k], c->r, NV);
  mju_sub(errors[k], answers[k], c->r, NV);
  return next(c, m, d, force, 1e-6);
}

// g_k - x (g_k - g_j), x by the difference of two errors alone.
static void oneStep(mjtNum r[NV], int k, int j) {
  mjtNum difference[NV];
  mju_sub(difference, errors[k], errors[j], NV);
  double x = product(difference, errors[k]) / product(difference, difference);
  for (int i = 0; i < NV; i++) r[i] = answers[k][i] - x * (answers[k][i] - answers[j][i]);
}

// Two guesses: the error that is least in the norm of M^-1, better or worse though the second be.
static void secant(const mjModel* m, mjData* d) {
  static const mjtNum force[3][NV] = {{2, 1, -4, 3, 0}, {20, 1, -4, 3, 0}, {1, -2, 3, 0.7, 7}};
  for (int k = 0; k < 3; k++) {
    mjtNum wanted[NV];
    djmCouple c = begin(m);
    assert_true(meet(&c, m, d, 0, 1, 1e-6));
    assert_true(meetForce(&c, m, d, 1, force[k]));
    oneStep(wanted, 1, 0);
    checkNear(c.r, wanted, 1e-8);
  }
}

// Errors along one line: their differences are parallel, and the older one is left out.
static void parallel(const mjModel* m, mjData* d) {
  mjtNum wanted[NV];
  djmCouple c = begin(m);
  assert_true(meet(&c, m, d, 0, 1, 1e-6));
  assert_true(meet(&c, m, d, 1, 1.3, 1e-6));
  assert_true(meet(&c, m, d, 2, 1.1, 1e-6));
  oneStep(wanted, 2, 1);
  checkNear(c.r, wanted, 1e-8);
}

// A guess that is much worse than the best one is followed by the best one's answer, and what came
// before is forgotten; one that is a little worse is not.
static void worse(const mjModel* m, mjData* d) {
  static const double factor[] = {1.3, 9, -5};
  for (int i = 0; i < 3; i++) {
    mjtNum wanted[NV];
    djmCouple c = begin(m);
    assert_true(meet(&c, m, d, 0, 1, 1e-6));
    assert_true(meet(&c, m, d, 1, 1.1, 1e-6));
    assert_true(meet(&c, m, d, 2, factor[i], 1e-6));
    bool restarts = product(errors[2], errors[2]) > 9 * product(errors[1], errors[1]);
    assert_true(restarts == (i > 0));
    oneStep(wanted, 2, 1);
    checkNear(c.r, restarts ? answers[1] : wanted, 1e-8);
    if (!restarts) continue;
    assert_true(meet(&c, m, d, 3, 1.2, 1e-6));     // the first again: plain substitution
    checkNear(c.r, answers[3], 1e-8);
  }
}

static void testGuesses(void) {
  runScript(secant);
  runScript(parallel);
  runScript(worse);
}

// ------------------------------ ends -------------------------------------------------------------

// Guesses that never fit: after a while the best one is taken once more, and that is the end.
static void never(const mjModel* m, mjData* d) {
  djmCouple c = begin(m);
  int n = 0, best = 0;
  for (bool more = true; more && n < NGUESS; n++) {
    more = meet(&c, m, d, n, n == 17 ? 1 : 3 + sin(5 * n) + 0.1 * n, 1e-6);
    if (more && product(errors[n], errors[n]) < product(errors[best], errors[best])) best = n;
  }
  assert_true(n > 20 && n < 50);
  assert_true(best < n - 2);
  checkNear(c.r, guesses[best], 1e-12);
  mjtNum plain[NV];
  mju_scl(plain, kForce, 3 + sin(5 * (n - 1)) + 0.1 * (n - 1), NV);
  checkNear(d->qfrc_passive, plain, 1e-12);
}

// Within the tolerance, some guesses that are no better are enough.
static void stall(const mjModel* m, mjData* d) {
  djmCouple c = begin(m);
  int n = 0, best = 0;
  for (bool more = true; more && n < NGUESS; n++) {
    more = meet(&c, m, d, n, n == 0 ? 1 : 1 + 1e-3 * (n == 3 ? 1 : 3 * sin(7 * n)), 0.1);
    if (more && product(errors[n], errors[n]) < product(errors[best], errors[best])) best = n;
  }
  assert_true(n > 4 && n < 15);
  checkNear(c.r, guesses[best], 1e-12);
}

static void testEnds(void) {
  runScript(never);
  runScript(stall);
}

// The tolerance with which an error of `part` of the answer is small enough, for `factor` kForce.
static double toleranceOf(const mjModel* m, mjData* d, double factor, double part) {
  mjtNum force[NV], g[NV];
  mju_scl(force, kForce, factor, NV);
  answerTo(g, force);
  double low = 1e-8, high = 1e8;
  while (high > low * (1 + 1e-9)) {
    double middle = sqrt(low * high);
    djmCouple c = begin(m);
    mju_scl(c.r, g, 1 + part, NV);
    if (next(&c, m, d, force, middle)) low = middle;
    else high = middle;
  }
  return high;
}

// Errors are small against the tolerance times the answer and the weight, all in the norm of M^-1.
static void small(const mjModel* m, mjData* d) {
  static const double factor[] = {0.01, 1, 30, 1000};
  double far = 0;
  for (int i = 0; i < 4; i++) {
    mjtNum force[NV], g[NV];
    mju_scl(force, kForce, factor[i], NV);
    answerTo(g, force);
    double answer = product(g, g), weight = 9.81 * 9.81 * 11.5;
    double tolerance = toleranceOf(m, d, factor[i], 1e-3);
    double ratio = 1e-3 * sqrt(answer / (answer + weight)) / tolerance;
    if (i == 0) far = ratio;
    djt_near(ratio, far, 1e-6 * far);
  }
  assert_true(far < 1e-2);      // far less than the tolerance
}

static void testSmall(void) { runScript(small); }

// ------------------------------ joints -----------------------------------------------------------

// Joints beyond their limits, with friction, beside an equality constraint.
static const char kJoints[] =
    "<mujoco><extension><plugin plugin='test.couple'><instance name='i'/></plugin></extension>"
    "<default><joint type='slide' axis='1 0 0'/><geom size='.1' contype='0' "
    "conaffinity='0'/></default><worldbody><body>"
    "<joint name='a' limited='true' range='-1 1' frictionloss='.3'/><geom/></body><body><joint "
    "name='b' limited='true' range='-1 1' solreflimit='-1e-20 -1e3'/><geom/></body><body><joint "
    "name='c' frictionloss='2'/><geom/></body><body><joint name='d' limited='true' range='-1 1' "
    "margin='.1'/><geom/></body></worldbody><equality><joint joint1='c' joint2='d'/></equality>"
    "</mujoco>";

static bool left[2];
static void drop(const mjModel* m, mjData* d) {
  (void)m;
  left[0] = djm_hasConstraints(m, d);
  djm_dropOurRows(m, d, false);
  left[1] = djm_hasConstraints(m, d);
}

// Limits and friction of joints that are dropped are as if disabled; the rest acts as before.
static void testDrop(void) {
  script = NULL;
  mjModel* m = djt_compile(kJoints);
  static const mjtNum qpos[4] = {1.1, 1.2, 0, 0.95}, qvel[4] = {3, 5, -2, 4};
  for (int k = 0; k < 24; k++) {
    mjData *d = mj_makeData(m), *plain = mj_makeData(m);
    m->opt.solver = k % 3;
    m->opt.disableflags = k / 3 % 2 ? mjDSBL_ISLAND : 0;
    m->eq_active0[0] = k / 6 % 2;
    mjData* both[2] = {d, plain};
    for (int i = 0; i < 2; i++) {
      if (i) m->opt.disableflags |= mjDSBL_LIMIT | mjDSBL_FRICTIONLOSS;
      mj_resetData(m, both[i]);
      mju_copy(both[i]->qpos, qpos, 4);
      mju_scl(both[i]->qvel, qvel, k < 12 ? 1 : -1, 4);
      mju_fill(both[i]->qfrc_applied, k < 12 ? 3 : -3, 4);
      script = i ? NULL : drop;
      mj_forward(m, both[i]);
      script = NULL;
    }
    bool equality = k / 6 % 2;
    assert_int_equal(d->nefc, 5 + equality);
    assert_int_equal(plain->nefc, equality);
    assert_true(left[0] && left[1] == equality);
    for (int i = 0; i < 4; i++) djt_near(d->qacc[i], plain->qacc[i], 1e-9);
    for (int i = 0; i < d->nefc; i++) {
      bool own = d->efc_type[i] != mjCNSTR_EQUALITY;
      assert_true(own ? fabs(d->efc_force[i]) < 1e-9 : fabs(d->efc_force[i]) > 1);
    }
    mj_deleteData(d);
    mj_deleteData(plain);
  }
  mj_deleteModel(m);
}

DJT_MAIN_IN(registerPlugin, NULL, testConstant, testLinear, testGuesses, testEnds, testSmall,
            testDrop)
