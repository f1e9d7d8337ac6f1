// Equality constraints without MuJoCo: definitions that are refused, model files, which act, and
// integrators that have none.

#include "common/make_model.h"
#include "common/near.h"
#include "common/random_model.h"
#include "common/refused_text.h"
#include "common/scene.h"
#include "common/test.h"
#include "common/worst.h"
#include "io/model_save.h"
#include "integrate/multiplier.h"
#include "integrate/work.h"
#include "io/text.h"
#include "model/equality.h"

#include <dijoco/io.h>

// Two pendulums side by side, a slide and a ball, with a site on each body and tendons of the
// hinges.
typedef struct Bench {
  Scene* s;
  djSiteDef site[5];
  djWrapDef wrap[2];
  djTendonDef tendon[2];
  djEqualityDef equality;
} Bench;

static void openBench(Bench* x) {
  *x = (Bench){.s = newScene(4), .equality = dj_defaultEqualityDef()};
  static const djJointType type[4] = {DJ_HINGE, DJ_HINGE, DJ_SLIDE, DJ_BALL};
  for (int b = 0; b < 4; b++) {
    addBody(x->s, 0, (int)type[b], 0.5 * b, 0, 0, 1, 0.1);
    x->s->body[b + 1].ipos[0] = 0.2;
  }
  for (int i = 0; i < 5; i++) x->site[i] = (djSiteDef){.body = i, .quat = {1, 0, 0, 0}};
  for (int i = 0; i < 2; i++) {
    x->wrap[i] = (djWrapDef){DJ_WRAP_JOINT, i, 1};
    x->tendon[i] = dj_defaultTendonDef();
    x->tendon[i].nwrap = 1;
    x->tendon[i].wrap = &x->wrap[i];
  }
  x->equality.name = "loop";
  x->equality.type = DJ_EQ_JOINT;
  x->equality.joint1 = 0;
  x->equality.joint2 = 1;
  djModelDef* def = &x->s->def;
  def->site = x->site;
  def->nsite = 5;
  def->tendon = x->tendon;
  def->ntendon = 2;
  def->equality = &x->equality;
  def->nequality = 1;
  def->option.contact = DJ_CONTACT_NONE;
}

// ---- definitions -------------------------------------------------------------------------------

static void expectError(Bench* x, const char* text) {
  djModel* m = NULL;
  djError err = {""};
  djStatus status = dj_makeModel(&m, &x->s->def, &err);
  if (!text && status < 0) fail_msg("%s", err.text);
  djt_failIf(text && (status != DJ_INVALID || strcmp(err.text, text) != 0), "'%s' is not '%s'",
             err.text, text);
  dj_deleteModel(m);
  freeScene(x->s);
}

#define EXPECT(change, text)           \
  do {                                 \
    Bench x;                           \
    openBench(&x);                     \
    djEqualityDef* e = &x.equality;    \
    (void)e;                           \
    change;                            \
    expectError(&x, text);             \
  } while (0)
#define JOINTS(a, b) (e->joint1 = (a), e->joint2 = (b))
#define TENDONS(a, b) (JOINTS(-1, -1), e->type = DJ_EQ_TENDON, e->tendon1 = (a), e->tendon2 = (b))
#define BODIES(a, b) (JOINTS(-1, -1), e->type = DJ_EQ_CONNECT, e->body1 = (a), e->body2 = (b))
#define SITES(a, b) (JOINTS(-1, -1), e->type = DJ_EQ_WELD, e->site1 = (a), e->site2 = (b))

static void testDefinitions(void) {
  EXPECT((void)0, NULL);
  EXPECT(JOINTS(2, -1), NULL);
  EXPECT(TENDONS(0, 1), NULL);
  EXPECT(TENDONS(1, -1), NULL);
  EXPECT(BODIES(1, 0), NULL);
  EXPECT(SITES(1, 4), NULL);
  EXPECT(e->type = (djEqualityType)7, "equality 'loop': unknown type");
  EXPECT(e->type = (djEqualityType)-1, "equality 'loop': unknown type");
  EXPECT(JOINTS(-1, -1), "equality 'loop': a joint does not exist");
  EXPECT(JOINTS(0, 4), "equality 'loop': a joint does not exist");
  EXPECT(JOINTS(0, 3), "equality 'loop': its joints must be slides or hinges");
  EXPECT(JOINTS(1, 1), "equality 'loop': its joints are the same");
  EXPECT(TENDONS(0, 2), "equality 'loop': a tendon does not exist");
  EXPECT(TENDONS(1, 1), "equality 'loop': its tendons are the same");
  EXPECT(BODIES(1, -1), "equality 'loop': a body does not exist");
  EXPECT(BODIES(5, 1), "equality 'loop': a body does not exist");
  EXPECT(BODIES(2, 2), "equality 'loop': its bodies are the same");
  EXPECT(SITES(1, -1), "equality 'loop': a site does not exist");
  EXPECT((SITES(1, 2), x.site[2].body = 1), "equality 'loop': its bodies are the same");
  EXPECT((SITES(1, 2), e->body1 = 1),
         "equality 'loop': must be between joints, tendons, bodies or sites");
  EXPECT((BODIES(1, 2), e->tendon2 = 0),
         "equality 'loop': must be between joints, tendons, bodies or sites");
  EXPECT(e->polycoef[3] = NAN, "equality 'loop': polycoef is not finite");
  EXPECT(e->polycoef[4] = 1e30, "equality 'loop': polycoef is larger than 1e20");
  EXPECT((BODIES(1, 2), e->anchor2[1] = INFINITY), "equality 'loop': anchor is not finite");
  EXPECT((BODIES(1, 2), e->quat[0] = 0), "equality 'loop': quat is zero or not finite");
  EXPECT((SITES(1, 2), e->torquescale = NAN), "equality 'loop': torquescale is not finite");
  EXPECT(e->stiffness = -1, "equality 'loop': stiffness is negative or not finite");
  EXPECT(e->damping = NAN, "equality 'loop': damping is negative or not finite");
  EXPECT(e->impedance[1] = 1, "equality 'loop': impedance is out of range");
  EXPECT(x.s->def.equality = NULL, "model: the list of equality constraints is missing");
  EXPECT(x.s->def.nequality = -1, "model: impossible number of equality constraints");
}

// A list of two of one name.
static void testNames(void) {
  Bench x;
  openBench(&x);
  djEqualityDef two[2] = {x.equality, x.equality};
  x.s->def.equality = two;
  x.s->def.nequality = 2;
  djModel* m = NULL;
  djError err;
  djt_refused(DJ_INVALID, dj_makeModel(&m, &x.s->def, &err), err,
              "equality 'loop': the name is used twice");
  two[1].name = "";
  m = djt_makeModel(&x.s->def);
  assert_int_equal(dj_objectCount(m, DJ_OBJ_EQUALITY), 2);
  assert_int_equal(dj_name2id(m, DJ_OBJ_EQUALITY, "loop"), 0);
  assert_int_equal(dj_name2id(m, DJ_OBJ_EQUALITY, "#1"), 1);
  dj_deleteModel(m);
  freeScene(x.s);
}

// ---- files -------------------------------------------------------------------------------------

// Random constraints are the same after writing and reading, and after a definition was taken.
static void testFiles(void) {
  djRng rng = {7};
  int n = 0;
  for (int trial = 0; trial < 20; trial++) {
    djModel *m = djt_randomModel(&rng, 4, DJT_TENDONS | DJT_EQUALITIES), *back = NULL, *again;
    djText text = {0};
    djError err = {""};
    djModelDef def;
    void* storage;
    assert_int_equal(dj_modelText(&text, m, trial % 2 ? DJ_WITH_SETTINGS : 0, &err), DJ_OK);
    if (dj_loadModelText(&back, text.data, &err) < 0) fail_msg("%s", err.text);
    assert_int_equal(dj_getDef(&def, &storage, m, &err), DJ_OK);
    again = djt_makeModel(&def);
    for (int e = 0; e < m->nequality; e++) {
      for (int k = 0; k < 2; k++) assert_true(m->eq_effinertia[2 * e + k] > 0);
      assert_int_equal(m->eq_coordnum[e], dj_equalityCount(m->eq_type[e]));
    }
    const char* difference = djt_difference(m, again);
    if (difference) fail_msg("%s", difference);
    if (trial % 2 == 0) difference = djt_difference(m, back);
    if (difference) fail_msg("%s", difference);
    assert_int_equal(back->nequality, m->nequality);
    n += m->nequality;
    dj_freeDef(storage);
    dj_freeText(&text);
    dj_deleteModel(m);
    dj_deleteModel(back);
    dj_deleteModel(again);
  }
  assert_true(n > 40);
}

static void testBadFiles(void) {
  static const char* const bad[][2] = {
      {"{'type': 'rope'}",
       "^equality #0: type: unknown value 'rope', expected one of connect, weld, joint,"},
      {"{'type': 'joint', 'joint1': 'j', 'polycoef': [1, 2]}",
       "^equality #0: polycoef: must be 5 numbers"},
      {"{'type': 'joint', 'joint1': 'k'}", "^equality #0: joint1: there is no 'k'"},
      {"{'name': 'e', 'type': 'joint', 'body': 1}",
       "^equality 'e': unknown key 'body', expected one of"},
      {"3", "^equality #0: "}};
  djt_refuseModels(DJ_INVALID,
                   "{'dijoco_model':1,'bodies':[{},{'mass':1,'inertia':[1,1,1]}],'joints':[{'name':"
                   "'j','type':'hinge','body':1}],'equalities':[%s]}",
                   bad);
}

// ---- steps -------------------------------------------------------------------------------------

static djModel* benchModel(djIntegrator integrator, int disable) {
  Bench x;
  openBench(&x);
  x.s->def.option.integrator = integrator;
  x.s->def.option.disable = disable;
  djModel* m = djt_makeModel(&x.s->def);
  freeScene(x.s);
  return m;
}

static djData* dataOf(const djModel* m) {
  djData* d = djt_data(m);
  return d;
}

// Difference of the two hinges after a while in which one is pushed.
static double apart(const djModel* m, djData* d) {
  d->qfrc_applied[0] = 3;
  for (int k = 0; k < 50; k++) assert_int_equal(dj_step(m, d), DJ_OK);
  return fabs(d->qpos[0] - d->qpos[1]);
}

// It acts as data say, which begin as the model does, go along with copies, and come back.
static void testActive(void) {
  djModel* m = benchModel(DJ_EULER, 0);
  djData *d = dataOf(m), *copy = dataOf(m);
  assert_int_equal(d->eq_active[0], 1);
  assert_true(apart(m, d) < 3e-3);
  assert_int_equal(dj_resetData(m, d), DJ_OK);
  d->eq_active[0] = 0;
  assert_int_equal(dj_copyData(copy, m, d), DJ_OK);
  assert_true(apart(m, d) > 0.03);
  assert_int_equal(copy->eq_active[0], 0);
  assert_true(apart(m, copy) > 0.03);
  assert_int_equal(dj_resetData(m, copy), DJ_OK);
  assert_int_equal(copy->eq_active[0], 1);
  dj_deleteData(copy);
  djt_delete(m, d);
  m = benchModel(DJ_EULER, DJ_DSBL_EQUALITY);
  d = dataOf(m);
  assert_true(apart(m, d) > 0.03);
  djt_delete(m, d);
}

// Others refuse it by its name, and step where it does not act.
static void testOtherIntegrators(void) {
  for (int i = 0; i < DJ_NINTEGRATOR; i++) {
    if (i == DJ_EULER) continue;
    char text[200];
    djModel* m = benchModel((djIntegrator)i, 0);
    djData* d = dataOf(m);
    assert_int_equal(dj_step(m, d), DJ_UNSUPPORTED);
    snprintf(text, sizeof text,
             "equality 'loop': integrator %s has no soft equality constraints, euler has "
             "(equality: hard, or disable: equality)",
             dj_integratorName((djIntegrator)i));
    assert_string_equal(dj_errorText(d), text);
    assert_true(d->time == 0);
    d->eq_active[0] = 0;
    assert_int_equal(dj_step(m, d), DJ_OK);
    d->eq_active[0] = 1;
    djOption option = m->opt;
    option.disable = DJ_DSBL_EQUALITY;
    assert_int_equal(dj_setOption(m, &option, NULL), DJ_OK);
    assert_int_equal(dj_step(m, d), DJ_OK);
    djt_delete(m, d);
  }
}

// The largest number of an equality constraint at the end of the last step.
static double openBy(const djModel* m, const djData* d) {
  double worst = 0;
  for (int c = m->ncoord - m->nequalitycoord; c < m->ncoord; c++) {
    worst = djt_worst(worst, fabs(d->work->now.coord.x[c]));
  }
  return worst;
}

// Hard ones of every type and under every integrator: what is open at the start closes, as fast as
// the soft law would, and stays closed to 1e-8 of its size.
static void testHard(void) {
  for (int i = 0; i < DJ_NINTEGRATOR; i++) {
    for (int type = 0; type < 4; type++) {
      Bench x;
      openBench(&x);
      djEqualityDef* e = &x.equality;
      x.s->def.option.integrator = (djIntegrator)i;
      x.s->def.option.equality = DJ_EQUALITY_HARD;
      if (type == 0) e->polycoef[0] = 0.1, e->polycoef[2] = 0.5;
      if (type == 1) TENDONS(0, 1), e->polycoef[3] = 0.2;
      if (type == 2) BODIES(1, 2), e->anchor1[0] = 0.4, e->anchor2[0] = -0.1, e->anchor2[2] = 0.05;
      if (type == 3) SITES(3, 4), x.site[4].pos[0] = -0.5;
      djModel* m = djt_makeModel(&x.s->def);
      freeScene(x.s);
      djData* d = dataOf(m);
      d->qfrc_applied[0] = 1;
      if (i == DJ_MIDPOINT) {   // solved at no end of a step
        assert_int_equal(dj_step(m, d), DJ_UNSUPPORTED);
        assert_string_equal(dj_errorText(d), "equality 'loop': integrator midpoint has no hard "
                                             "equality constraints, all others have");
        djt_delete(m, d);
        continue;
      }
      assert_int_equal(dj_step(m, d), DJ_OK);
      double first = openBy(m, d), last = 0;
      for (int k = 0; k < 300; k++) {
        djt_failIf(dj_step(m, d) != DJ_OK, "%s, type %d, step %d: not solved", dj_integratorName(i),
                   type, k);
        if (k >= 200) last = djt_worst(last, openBy(m, d));
      }
      if (type != 1 && type != 3 && !(first > 1e-4)) fail_msg("type %d: %g at first", type, first);
      if (!(last < 1e-8)) fail_msg("%s, type %d: open by %g", dj_integratorName(i), type, last);
      djOption option = m->opt;
      option.disable = DJ_DSBL_EQUALITY;
      assert_int_equal(dj_setOption(m, &option, NULL), DJ_OK);
      for (int k = 0; k < 300; k++) assert_int_equal(dj_step(m, d), DJ_OK);
      assert_true(openBy(m, d) > 1e-3);
      djt_delete(m, d);
    }
  }
}

// Constraints that contradict each other are told, not a crash: the step is unconverged.
static void testContradiction(void) {
  Bench x;
  openBench(&x);
  djEqualityDef both[2] = {x.equality, x.equality};
  both[1].name = "other";
  both[1].polycoef[0] = 0.2;
  x.s->def.equality = both;
  x.s->def.nequality = 2;
  x.s->def.option.equality = DJ_EQUALITY_HARD;
  djModel* m = djt_makeModel(&x.s->def);
  freeScene(x.s);
  djData* d = dataOf(m);
  assert_int_equal(dj_step(m, d), DJ_NOT_CONVERGED);
  for (int k = 0; k < 20; k++) assert_true(dj_step(m, d) >= 0);
  for (int i = 0; i < m->nq; i++) assert_true(isfinite(d->qpos[i]));
  djt_delete(m, d);
}

// Under damping a row's force depends on what acts on all its dofs: one tree by a spring along a tendon
// from another, which its row is not on.
static void testNeighbours(void) {
  Bench x;
  openBench(&x);
  djEqualityDef* e = &x.equality;
  e->joint1 = 1;
  e->joint2 = 2;
  x.tendon[0].nwrap = 2;
  x.tendon[0].stiffness = 50;
  for (int j = 0; j < 4; j++) x.s->joint[j].damping = 0.3;
  djModel* m = djt_makeModel(&x.s->def);
  freeScene(x.s);
  m->opt.tolerance = 1e-10;
  djData *d = dataOf(m), *moved = dataOf(m);
  const double v[] = {0.5, -0.4, 0.2}, q[] = {0.3, -0.1, 0.05};
  memcpy(d->qvel, v, sizeof v);
  memcpy(d->qpos, q, sizeof q);
  int nx = dj_tangentSize(m);
  double *A = calloc((size_t)(nx * nx), sizeof *A), by[2] = {0, 0};
  assert_non_null(A);
  for (int k = 0; k < 2; k++) {
    double h = k ? 1e-5 : -1e-5;
    assert_int_equal(dj_copyData(moved, m, d), DJ_OK);
    moved->qpos[0] += h;
    assert_int_equal(dj_step(m, moved), DJ_OK);
    for (int i = 0; i < 2; i++) by[i] += moved->qvel[1 + i] / (2 * h);
  }
  assert_int_equal(djd_transition(m, d, A, NULL), DJ_OK);
  for (int i = 0; i < 2; i++) {
    double own = A[(m->nv + 1 + i) * nx];
    print_message("joint %d: %.6g, by differences %.6g\n", 1 + i, own, by[i]);
    assert_true(fabs(by[i]) > 1e-3);
    djt_near(own, by[i], 1e-6);
  }
  free(A);
  dj_deleteData(moved);
  djt_delete(m, d);
}

// Two bodies in free fall and apart, welded: momentum stays, and they come together.
static void checkMomentum(djEqualityLaw law) {
  Scene* s = newScene(2);
  for (int k = 0; k < 2; k++) addBody(s, 0, DJ_FREE, 0.3 * k, 0, 1, 1 + k, 0.1);
  djEqualityDef e = dj_defaultEqualityDef();
  e.type = DJ_EQ_WELD;
  e.body1 = 1;
  e.body2 = 2;
  e.anchor1[0] = 0.1;
  s->def.equality = &e;
  s->def.nequality = 1;
  s->def.option.contact = DJ_CONTACT_NONE;
  s->def.option.equality = law;
  s->def.option.timestep = 0.001;
  memset(s->def.option.gravity, 0, sizeof s->def.option.gravity);
  djModel* m = djt_makeModel(&s->def);
  freeScene(s);
  djData* d = dataOf(m);
  double first[6], last[6];
  for (int i = 0; i < m->nv; i++) d->qvel[i] = 0.3 * sin(1.0 + i);
  assert_int_equal(dj_totalMomentum(first, m, d), DJ_OK);
  for (int k = 0; k < 500; k++) assert_int_equal(dj_step(m, d), DJ_OK);
  assert_int_equal(dj_totalMomentum(last, m, d), DJ_OK);
  double worst = 0, gap = 0;
  for (int k = 3; k < 6; k++) worst = djt_worst(worst, fabs(last[k] - first[k]));
  for (int k = 0; k < 3; k++) {
    double p = d->xpos[3 + k] + 0.1 * d->xmat[9 + 3 * k] - d->xpos[6 + k];
    gap += p * p;
  }
  print_message("momentum %.1e, gap %.1e m\n", worst, sqrt(gap));
  assert_true(worst < 1e-10 && sqrt(gap) < 1e-4);
  djt_delete(m, d);
}

static void testMomentum(void) {
  checkMomentum(DJ_EQUALITY_SOFT);
  checkMomentum(DJ_EQUALITY_HARD);
}

// All memory is there when data are made.
static void testMemory(void) {
  djRng rng = {9};
  int rows = 0;
  for (int trial = 0; trial < 30; trial++) {
    djModel* m = djt_randomModel(&rng, 4, DJT_SPRINGS | DJT_TENDONS | DJT_EQUALITIES);
    m->opt.integrator = DJ_EULER;
    djt_dropPathArmature(m);
    djData* d = dataOf(m);
    djt_randomState(&rng, m, d, 1);
    size_t bytes = dj_dataBytes(d), nx = (size_t)dj_tangentSize(m);
    double* A = calloc(nx * nx + 1, sizeof(double));
    assert_non_null(A);
    assert_true(dj_step(m, d) >= 0);
    assert_true(djd_lastTransition(m, d, A, NULL) >= 0);
    assert_int_equal(dj_dataBytes(d), bytes);
    rows += d->work->rows.n;
    free(A);
    djt_delete(m, d);
  }
  assert_true(rows > 100);
}

DJT_MAIN(testDefinitions, testNames, testFiles, testBadFiles, testActive, testOtherIntegrators,
         testHard, testContradiction, testNeighbours, testMomentum, testMemory)
