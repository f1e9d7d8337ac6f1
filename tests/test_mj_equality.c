// Equality constraints beside MuJoCo's: rows to rounding, steps, derivatives, loops, what is
// switched while it runs, the plugin, and files.

#include "common/file.h"
#include "common/make_model.h"
#include "common/mj_zoo.h"
#include "common/random_mjcf.h"
#include "common/test.h"
#include "common/worst.h"

#include "integrate/work.h"
#include "write.h"

#include <dijoco/dijoco.h>

#define IMP "solimp='.8 .95 .3 .4 2.5'"

// A free body with two arms, an arm beside it and a mocap body.
#define HEAD                                                                                       \
  "<mujoco><extension/><compiler autolimits='true'/><option timestep='.002'>"                      \
  "<flag contact='disable' warmstart='disable'/></option>"                                         \
  "<custom><text name='dijoco_spin' data='mujoco'/></custom><worldbody>"                           \
  "<body name='a' pos='0 0 1'><freejoint/><geom size='.1 .2 .3' type='box'/>"                      \
  "<site name='sa' pos='.1 .1 0' quat='1 .2 .3 .1'/>"                                              \
  "<body name='b' pos='.3 0 0'><joint name='jb' axis='0 1 0' damping='.3'/>"                       \
  "<geom size='.1 .05 .1' type='box'/><site name='sb' pos='.1 .1 .1'/></body>"                     \
  "<body name='c' pos='-.3 0 0'><joint type='ball' damping='.2'/>"                                 \
  "<geom size='.1 .05 .1' type='box'/>"                                                            \
  "<body name='d' pos='-.1 .2 0'><joint name='jd' axis='1 0 0' type='slide'/><geom size='.1'/>"    \
  "<site name='sd' pos='.1 .1 .02' quat='.3 .4 1 1'/></body></body></body>"                        \
  "<body name='e' pos='1 0 1'><joint name='je' axis='0 1 0'/>"                                     \
  "<geom size='.1 .05 .1' type='box' pos='.1 0 .1'/><site name='se' pos='.1 .1 .3'/></body>"       \
  "<body name='mo' mocap='true' pos='1.2 0 1.1' quat='1 .1 0 .2'/></worldbody><tendon>"            \
  "<fixed name='t1'><joint joint='jb' coef='1.2'/><joint joint='je' coef='-.7'/></fixed>"          \
  "<spatial name='t2'><site site='sa'/><site site='sb'/><site site='se'/></spatial>"               \
  "<spatial name='t3'><site site='sd'/><site site='sa'/></spatial></tendon><equality>"
#define TAIL "</equality></mujoco>"
#define JOINT                                                                                      \
  "<joint joint1='jb' joint2='jd' polycoef='.1 .5 .3 .2 -.1' " IMP "/>"                            \
  "<joint joint1='je' polycoef='.2' solref='-500 -20' " IMP "/>"
#define TENDON                                                                                     \
  "<tendon tendon1='t1' polycoef='.1' solref='.0001 1' " IMP "/>"                                  \
  "<tendon tendon1='t2' tendon2='t3' polycoef='.1 .5 .3 .2 -.1' " IMP "/>"
#define CONNECT                                                                                    \
  "<connect body1='b' body2='d' anchor='.1 .2 .3' " IMP "/><connect body1='e' anchor='.1 .2 .3' "  \
  IMP "/><connect site1='sb' site2='se' " IMP "/>"
#define WELD                                                                                       \
  "<weld body1='b' body2='d' torquescale='1.7' anchor='.1 .02 .03' " IMP "/>"                      \
  "<weld site1='sd' site2='se' torquescale='.7' " IMP "/><weld body1='mo' body2='e' " IMP "/>"

static const char* const scenes[] = {HEAD JOINT TAIL, HEAD TENDON TAIL, HEAD CONNECT TAIL,
                                     HEAD WELD TAIL, HEAD JOINT TENDON CONNECT WELD TAIL};
enum { NSCENE = sizeof(scenes) / sizeof(*scenes), NWAY = 3 };

static mjModel* sceneOf(int k, int way) {
  mjModel* m = djt_compile(scenes[k]);
  m->opt.tolerance = 0;
  m->opt.iterations = m->opt.ls_iterations = 100;
  if (way == 1) m->opt.integrator = mjINT_IMPLICITFAST;
  if (way == 2) m->opt.disableflags |= mjDSBL_EULERDAMP;
  return m;
}

static void disturb(djRng* rng, const mjModel* m, mjData* d, double size) {
  mjtNum* step = calloc((size_t)m->nv + 1, sizeof(*step));
  for (int i = 0; i < m->nv; i++) {
    step[i] = djt_uniform(rng, -size, size);
    d->qvel[i] = djt_uniform(rng, -1, 1);
    d->qfrc_applied[i] = djt_uniform(rng, -1, 1);
  }
  mj_integratePos(m, d->qpos, step, 1);
  free(step);
}

// ---- rows --------------------------------------------------------------------------------------

// The row of ours that is part `part` of constraint e, or NULL.
static const djEulerRow* rowOf(const djWork* w, const djModel* m, int e, int part) {
  for (int k = 0; k < w->rows.n; k++) {
    const djEulerRow* r = &w->rows.row[k];
    if (r->equality == e && r->coordinate - m->eq_coord[e] == part) return r;
  }
  return NULL;
}

// Largest differences of J, D and aref, relative.
static void rowErrors(double worst[3], const mjModel* m, const mjData* d, const djModel* x,
                      const djWork* w) {
  mjtNum* J = calloc((size_t)(d->nefc * m->nv) + 1, sizeof(*J));
  if (mj_isSparse(m)) {
    mju_sparse2dense(J, d->efc_J, d->nefc, (int)m->nv, d->efc_J_rownnz, d->efc_J_rowadr,
                     d->efc_J_colind);
  } else {
    mju_copy(J, d->efc_J, d->nefc * (int)m->nv);
  }
  for (int i = 0, part = 0; i < d->nefc; i++) {
    part = i > 0 && d->efc_id[i] == d->efc_id[i - 1] ? part + 1 : 0;
    assert_int_equal(d->efc_type[i], mjCNSTR_EQUALITY);
    const djEulerRow* r = rowOf(w, x, d->efc_id[i], part);
    mjtNum* own = J + (size_t)i * (size_t)m->nv;
    if (!r) {   // which moves nothing
      assert_true(mju_norm(own, (int)m->nv) == 0);
      continue;
    }
    for (int k = 0; k < r->n; k++) own[r->dof[k]] -= r->J[k];
    for (int k = 0; k < m->nv; k++) worst[0] = djt_worst(worst[0], fabs(own[k]));
    worst[1] = djt_worst(worst[1], fabs(r->law.hold.D - d->efc_D[i]) / d->efc_D[i]);
    worst[2] = djt_worst(worst[2], fabs(r->law.hold.aref - d->efc_aref[i]) /
                                       (1 + fabs(d->efc_aref[i])));
    double pos = w->begin.coord.x[r->coordinate] - d->efc_pos[i];
    worst[0] = djt_worst(worst[0], fabs(pos));
  }
  free(J);
}

static void testRows(void) {
  djRng rng = {3};
  double worst[3] = {0};
  for (int trial = 0; trial < 20 * NSCENE; trial++) {
    mjModel* m = sceneOf(trial % NSCENE, 0);
    mjData *d = mj_makeData(m), *ours = mj_makeData(m);
    djmContext* c = djt_context(m);
    disturb(&rng, m, d, trial % 2 ? 0.1 : 1);
    mj_copyData(ours, m, d);
    mj_forward(m, d);
    assert_int_equal(djm_step(m, ours, c), DJ_OK);
    rowErrors(worst, m, d, djm_model(c), djm_data(c)->work);
    djm_deleteContext(c);
    mj_deleteData(ours);
    djt_deleteEngine(m, d);
  }
  print_message("J and x %.1e, D %.1e, aref %.1e\n", worst[0], worst[1], worst[2]);
  for (int k = 0; k < 3; k++) assert_true(worst[k] < 1e-12);
}

// ---- steps -------------------------------------------------------------------------------------

static double between(const mjModel* m, const mjData* a, const mjData* b) {
  double worst = 0;
  for (int i = 0; i < m->nq; i++) worst = djt_worst(worst, fabs(a->qpos[i] - b->qpos[i]));
  return worst;
}

// Runs beside MuJoCo's, from states in which the constraints do not hold: a step, and a thousand of
// calm scenes.
static void testSteps(void) {
  djRng rng = {4};
  double one = 0, thousand = 0;
  for (int trial = 0; trial < NSCENE * NWAY; trial++) {
    mjModel* m = sceneOf(trial % NSCENE, trial / NSCENE);
    mjData *ours = mj_makeData(m), *stock = mj_makeData(m);
    djmContext* c = djt_context(m);
    disturb(&rng, m, ours, 0.05);
    mju_zero(ours->qfrc_applied, (int)m->nv);
    mju_scl(ours->qvel, ours->qvel, 0.2, (int)m->nv);
    mj_copyData(stock, m, ours);
    for (int k = 0; k < 1000; k++) {
      if (djm_step(m, ours, c) != DJ_OK) fail_msg("%s", djm_errorText(c));
      mj_step(m, stock);
      if (k == 0) one = djt_worst(one, between(m, ours, stock));
    }
    thousand = djt_worst(thousand, between(m, ours, stock));
    assert_int_equal(djm_data(c)->stats.fallback_steps, 0);
    djm_deleteContext(c);
    mj_deleteData(ours);
    djt_deleteEngine(m, stock);
  }
  print_message("after a step %.1e, after a thousand %.1e\n", one, thousand);
  assert_true(one < 1e-12 && thousand < 1e-8);
}

// Hands and legs of dm_control whose tendons are coupled, with random controls.
static void testRobots(void) {
  static const char* const names[] = {"stacker", "manipulator", "quadruped"};
  const char* folder = getenv("DIJOCO_DM_CONTROL");
  djRng rng = {5};
  if (!folder) fail_msg("no models of dm_control: scripts/fetch_models.sh fetches them");
  for (int i = 0; i < 3; i++) {
    char path[1000], error[1000];
    snprintf(path, sizeof(path), "%s/%s.xml", folder, names[i]);
    mjModel* m = mj_loadXML(path, NULL, error, sizeof(error));
    if (!m) fail_msg("%s", error);
    m->opt.disableflags |= mjDSBL_CONTACT | mjDSBL_WARMSTART;
    m->opt.tolerance = 0;
    m->opt.iterations = m->opt.ls_iterations = 100;
    mjData *ours = mj_makeData(m), *stock = mj_makeData(m);
    djmContext* c = djt_context(m);
    djOption option = djm_model(c)->opt;
    option.spin = DJ_SPIN_MUJOCO;
    assert_int_equal(dj_setOption(djm_model(c), &option, NULL), DJ_OK);
    assert_true(djm_model(c)->nequality > 0);
    for (int k = 0; k < 1000; k++) {
      for (int u = 0; u < m->nu && k % 10 == 0; u++) {
        ours->ctrl[u] = stock->ctrl[u] = djt_uniform(&rng, -1, 1);
      }
      if (djm_step(m, ours, c) != DJ_OK) fail_msg("%s", djm_errorText(c));
      mj_step(m, stock);
    }
    double error_at_end = between(m, ours, stock);
    print_message("%s: %.1e after a thousand steps\n", names[i], error_at_end);
    assert_true(error_at_end < 1e-8);
    djm_deleteContext(c);
    mj_deleteData(ours);
    djt_deleteEngine(m, stock);
  }
}

// ---- derivatives -------------------------------------------------------------------------------

// A against the limit of MuJoCo's differences, by columns.
static double transitionError(const mjModel* m, const mjData* d, djmContext* c, double wrong) {
  size_t nx = 2 * (size_t)m->nv, n = nx * nx;
  mjtNum *A = calloc(3 * n, sizeof(*A)), *D = A + n, *D2 = D + n;
  double worst = 0;
  if (djm_transition(m, d, c, A, NULL, NULL, NULL) != DJ_OK) fail_msg("%s", djm_errorText(c));
  mjData* own = mj_copyData(NULL, m, d);
  mjd_transitionFD(m, own, 1e-5, 1, D, NULL, NULL, NULL);
  mjd_transitionFD(m, own, 2e-5, 1, D2, NULL, NULL, NULL);
  A[0] += wrong;
  for (size_t col = 0; col < nx; col++) {
    double error = 0, size = 1e-2;
    for (size_t row = 0; row < nx; row++) {
      size_t i = row * nx + col;
      double limit = (4 * D[i] - D2[i]) / 3;
      error = djt_worst(error, fabs(A[i] - limit));
      size = djt_worst(size, fabs(limit));
    }
    worst = djt_worst(worst, error / size);
  }
  mj_deleteData(own);
  free(A);
  return worst;
}

static void testDerivatives(void) {
  djRng rng = {6};
  double worst = 0, wrong = INFINITY;
  for (int trial = 0; trial < 2 * NSCENE * NWAY; trial++) {
    mjModel* m = sceneOf(trial % NSCENE, trial / NSCENE % NWAY);
    mjData* d = mj_makeData(m);
    djmContext* c = djt_context(m);
    disturb(&rng, m, d, 0.1);
    worst = djt_worst(worst, transitionError(m, d, c, 0));
    wrong = fmin(wrong, transitionError(m, d, c, 1e-3));
    djm_deleteContext(c);
    djt_deleteEngine(m, d);
  }
  print_message("A: %.1e (with an error of 1e-3: %.1e)\n", worst, wrong);
  assert_true(worst < 1e-6 && wrong > 1e-5);
}

// ---- loops -------------------------------------------------------------------------------------

// Four bars in a plane, the last one's end connected to the world: one row of three says nothing,
// and the connection is there twice.
static const char fourBar[] =
    "<mujoco><option timestep='.002'><flag contact='disable' warmstart='disable'/></option>"
    "<worldbody><body name='crank'><joint name='crank' axis='0 1 0'/>"
    "<geom type='capsule' size='.02' fromto='0 0 0 0 0 .2'/>"
    "<body name='rod' pos='0 0 .2'><joint axis='0 1 0'/>"
    "<geom type='capsule' size='.02' fromto='0 0 0 .6 0 .1'/>"
    "<body name='rocker' pos='.6 0 .1'><joint axis='0 1 0'/>"
    "<geom type='capsule' size='.02' fromto='0 0 0 0 0 -.3'/></body></body></body></worldbody>"
    "<equality><connect body1='rocker' anchor='0 0 -.3'/><connect body1='rocker' anchor='0 0 -.3'/>"
    "</equality><actuator><motor joint='crank'/></actuator></mujoco>";

static double gapOf(const mjModel* m, mjData* d) {
  mj_kinematics(m, d);
  mjtNum end[3], local[3] = {0, 0, -0.3};
  mju_mulMatVec3(end, d->xmat + 9 * 3, local);
  mju_addTo3(end, d->xpos + 9);
  mjtNum at[3] = {0.6, 0, 0};
  return mju_dist3(end, at);
}

static void testLoop(void) {
  mjModel* m = djt_compile(fourBar);
  m->opt.tolerance = 0;
  m->opt.iterations = m->opt.ls_iterations = 100;
  mjData *ours = mj_makeData(m), *stock = mj_makeData(m);
  djmContext* c = djt_context(m);
  double open[2] = {0, 0}, apart = 0;
  for (int k = 0; k < 5000; k++) {
    ours->ctrl[0] = stock->ctrl[0] = k < 500 ? 1.5 : 0.2 * sin(0.01 * k);
    if (djm_step(m, ours, c) != DJ_OK) fail_msg("%s", djm_errorText(c));
    mj_step(m, stock);
    open[0] = fmax(open[0], gapOf(m, ours));
    open[1] = fmax(open[1], gapOf(m, stock));
    if (k < 1000) apart = djt_worst(apart, between(m, ours, stock));
  }
  print_message("10 s: open by %.3e m, MuJoCo's %.3e m; apart by %.1e after 2 s; crank %.1f rad\n",
                open[0], open[1], apart, ours->qpos[0]);
  assert_true(fabs(ours->qpos[0]) > 6);   // it goes round
  assert_true(open[0] < 1.02 * open[1] + 1e-9 && apart < 1e-8);
  djm_deleteContext(c);
  mj_deleteData(ours);
  djt_deleteEngine(m, stock);
}

// The end of our step from d moved by e along tangent direction i.
static void stepFrom(mjData* out, const mjModel* m, const mjData* d, djmContext* c, int i,
                     double e) {
  mjtNum* x = calloc((size_t)m->nv, sizeof(*x));
  mj_copyData(out, m, d);
  if (i < m->nv) {
    x[i] = e;
    mj_integratePos(m, out->qpos, x, 1);
  } else {
    out->qvel[i - m->nv] += e;
  }
  if (djm_step(m, out, c) < 0) fail_msg("%s", djm_errorText(c));
  free(x);
}

// A against extrapolated differences of our own step.
static double ownError(const mjModel* m, const mjData* d, djmContext* c) {
  int nv = (int)m->nv, nx = 2 * nv;
  mjtNum *A = calloc((size_t)(nx * nx + 2 * nx), sizeof(*A)), *D = A + nx * nx, *x = D + nx;
  mjData *a = mj_makeData(m), *b = mj_makeData(m);
  double worst = 0;
  if (djm_transition(m, d, c, A, NULL, NULL, NULL) != DJ_OK) fail_msg("%s", djm_errorText(c));
  for (int i = 0; i < nx; i++) {
    double size = 1e-2;
    mju_zero(D, nx);
    for (int k = 1; k <= 2; k++) {
      double e = 1e-4 * k, weight = (k == 1 ? 4.0 : -1.0) / 3;
      stepFrom(a, m, d, c, i, -e);
      stepFrom(b, m, d, c, i, e);
      mj_differentiatePos(m, x, 2 * e, a->qpos, b->qpos);
      mju_sub(x + nv, b->qvel, a->qvel, nv);
      mju_scl(x + nv, x + nv, 0.5 / e, nv);
      mju_addToScl(D, x, weight, nx);
    }
    for (int r = 0; r < nx; r++) size = fmax(size, fabs(D[r]));
    for (int r = 0; r < nx; r++) worst = djt_worst(worst, fabs(A[nx * r + i] - D[r]) / size);
  }
  free(A);
  mj_deleteData(a);
  mj_deleteData(b);
  return worst;
}

// Free bodies that a weld or a tendon's limit holds, of which the option `spin` would keep the
// spin.
static void testSpin(void) {
  static const char* const held[] = {
      "<equality><weld body1='a' body2='b' relpose='.1 0 0 1 0 0 0'/></equality>",
      "<tendon><spatial range='0 .2' limited='true'><site site='a'/><site site='b'/></spatial>"
      "</tendon>",
      "<tendon><spatial frictionloss='.3'><site site='a'/><site site='b'/></spatial></tendon>"};
  djRng rng = {8};
  for (int k = 0; k < 3; k++) {
    char text[2000];
    snprintf(text, sizeof(text),
             "<mujoco><option timestep='.002'><flag contact='disable'/></option><worldbody>"
             "<body name='a' pos='0 0 1'><freejoint/><geom size='.1 .07 .2' type='box' mass='1'/>"
             "<site name='a' pos='.1 .1 0'/></body><body name='b' pos='.3 0 1'><freejoint/>"
             "<geom size='.1 .02 .15' type='box' pos='.02 .03 .01' mass='2'/>"
             "<site name='b' pos='0 .1 .1'/></body></worldbody>%s</mujoco>", held[k]);
    mjModel* m = djt_compile(text);
    mjData* d = mj_makeData(m);
    djmContext* c = djt_context(m);
    djt_tolerance(c, 1e-10);
    assert_int_equal(djm_model(c)->opt.spin, DJ_SPIN_EXACT);
    disturb(&rng, m, d, 0.05);
    double error = ownError(m, d, c);
    djt_below("free bodies that are held: A", error, 1e-6);
    djm_deleteContext(c);
    djt_deleteEngine(m, d);
  }
}

// ---- switching ---------------------------------------------------------------------------------

// What mjData says acts, from one step to the next; model changes are followed.
static void testActive(void) {
  djRng rng = {9};
  mjModel* m = sceneOf(4, 0);
  mjData *ours = mj_makeData(m), *stock = mj_makeData(m);
  djmContext* c = djt_context(m);
  double worst = 0;
  for (int k = 0; k < 200; k++) {
    for (int e = 0; e < m->neq; e++) {
      if (djt_integer(&rng, 10) == 0) ours->eq_active[e] = stock->eq_active[e] ^= 1;
    }
    if (k == 100) m->eq_data[1] = 0.7;
    if (k == 120) m->eq_solref[0] = 0.05;
    mju_copy(stock->qpos, ours->qpos, (int)m->nq);
    mju_copy(stock->qvel, ours->qvel, (int)m->nv);
    if (djm_step(m, ours, c) != DJ_OK) fail_msg("%s", djm_errorText(c));
    mj_step(m, stock);
    worst = djt_worst(worst, between(m, ours, stock));
  }
  djt_below("switched", worst, 1e-11);
  djm_deleteContext(c);
  mj_deleteData(ours);
  djt_deleteEngine(m, stock);
}

// ---- the plugin --------------------------------------------------------------------------------

// A box on the floor that carries another by a weld, and a coupled pair of hinges on that.
#define CARRIER(plugin)                                                                            \
  "<mujoco>" plugin "<option timestep='.002'><flag contact='disable'/></option><worldbody>"        \
  "<geom type='plane' size='3 3 1'/><body name='A' pos='0 0 .06'><freejoint/>"                     \
  "<geom type='box' size='.1 .1 .05' mass='1'/></body><body name='B' pos='0 0 .3'><freejoint/>"    \
  "<geom type='box' size='.05 .05 .05' mass='2'/><body name='C' pos='.1 0 0'>"                     \
  "<joint name='j' axis='0 1 0' damping='.01'/><geom size='.02' pos='.1 0 0'/></body>"             \
  "<body name='D' pos='-.1 0 0'><joint name='k' axis='0 1 0'/><geom size='.02' pos='-.1 0 0'/>"    \
  "</body></body></worldbody><equality><weld body1='A' body2='B'/>"                                \
  "<joint joint1='j' joint2='k' polycoef='.1 -1 0 0 0'/></equality></mujoco>"
#define MUJOCOS                                                                                    \
  "<extension><plugin plugin='dijoco.contact'><instance name='dj'><config key='constraints' "      \
  "value='mujoco'/></instance></plugin></extension>"
#define PLUGIN                                                                                     \
  "<extension><plugin plugin='dijoco.contact'><instance name='dj'/></plugin></extension>"

static void testPlugin(void) {
  for (int solver = 0; solver < 3; solver++) {
    mjModel *with = djt_compile(CARRIER(PLUGIN)), *m = djt_compile(CARRIER(PLUGIN));
    with->opt.solver = solver;
    mjData *inside = mj_makeData(with), *ours = mj_makeData(m);
    djmContext* c = djt_context(m);
    double worst = 0;
    for (int k = 0; k < 300; k++) {
      mj_step(with, inside);
      if (djm_step(m, ours, c) != DJ_OK) fail_msg("%s", djm_errorText(c));
      worst = djt_worst(worst, between(m, inside, ours));
    }
    print_message("plugin with solver %d: %.1e\n", solver, worst);
    assert_true(worst < 1e-10);
    assert_true(fabs(ours->qpos[2] - 0.05) < 1e-3);   // it rests, with what it carries
    assert_true(djm_data(c)->pair[0].force[2] > 25);
    djm_deleteContext(c);
    mj_deleteData(inside);
    djt_deleteEngine(with, ours);
    mj_deleteModel(m);
  }
}

// Where constraints are to be MuJoCo's they are its alone: above the floor its own step.
static void testMuJoCos(void) {
  djRng rng = {10};
  mjModel *with = djt_compile(CARRIER(MUJOCOS)), *m = djt_compile(CARRIER(""));
  mjData *inside = mj_makeData(with), *stock = mj_makeData(m);
  double worst = 0;
  inside->qpos[2] = stock->qpos[2] = 2;
  inside->qpos[9] = stock->qpos[9] = 2.2;
  for (int i = 0; i < m->nv; i++) {
    inside->qvel[i] = stock->qvel[i] = i % 6 < 3 ? djt_uniform(&rng, -1, 1) : 0;
  }
  for (int k = 0; k < 50; k++) {
    mj_step(with, inside);
    mj_step(m, stock);
    for (int i = 0; i < 3; i++) {   // spins are kept in the one
      worst = djt_worst(worst, fabs(inside->qpos[i] - stock->qpos[i]));
      worst = djt_worst(worst, fabs(inside->qpos[7 + i] - stock->qpos[7 + i]));
    }
  }
  djt_below("constraints of MuJoCo", worst, 1e-5);
  mj_deleteData(inside);
  djt_deleteEngine(with, stock);
  mj_deleteModel(m);
}

// Contact model mujoco: what data say is told to MuJoCo.
static void testPhysics(void) {
  djRng rng = {11};
  mjModel* m = sceneOf(0, 0);
  mjData* stock = mj_makeData(m);
  djModel* model = djt_import(NULL, m);
  djOption option = model->opt;
  option.contact = DJ_CONTACT_MUJOCO;
  assert_int_equal(dj_setOption(model, &option, NULL), DJ_OK);
  djData* data = djt_data(model);
  disturb(&rng, m, stock, 0.05);
  mju_copy(data->qpos, stock->qpos, (int)m->nq);
  mju_copy(data->qvel, stock->qvel, (int)m->nv);
  mju_copy(data->qfrc_applied, stock->qfrc_applied, (int)m->nv);
  for (int k = 0; k < 20; k++) {
    data->eq_active[k % 2] = stock->eq_active[k % 2] = k / 4 % 2;
    assert_int_equal(dj_step(model, data), DJ_OK);
    mj_step(m, stock);
  }
  double worst = 0;
  for (int i = 0; i < m->nq; i++) worst = djt_worst(worst, fabs(data->qpos[i] - stock->qpos[i]));
  djt_below("contact mujoco", worst, 1e-12);
  djt_delete(model, data);
  djt_deleteEngine(m, stock);
}

// ---- files and reports --------------------------------------------------------------------------

// Exact in the report; as MJCF that is written from our own file they are the same constraints.
static void testFiles(void) {
  for (int k = 0; k < NSCENE; k++) {
    mjModel* m = sceneOf(k, 0);
    djReport* report;
    djModel* model = djt_import(&report, m);
    for (int i = 0; i < report->n; i++) {
      assert_true(strncmp(report->entry[i].element, "equality", 8) != 0);
    }
    int kept = 0;
    for (int i = 0; i < m->neq; i++) kept += djm_equalityKept(m, i);
    assert_int_equal(kept, m->neq);
    assert_int_equal(model->nequality, m->neq);
    char* text = NULL;
    djError err;
    if (djm_makeMJCF(&text, "scene.json", model, NULL, &err) != DJ_OK) fail_msg("%s", err.text);
    mjModel* again = djt_compile(text);
    djModel* back = djt_import(NULL, again);
    assert_int_equal(back->nequality, model->nequality);
    double worst = 0;
    for (int i = 0; i < 6 * model->nequality; i++) {
      if (model->eq_site[i / 6 * 2] >= 0) continue;
      worst = djt_worst(worst, fabs(back->eq_anchor[i] - model->eq_anchor[i]));
    }
    for (int i = 0; i < 5 * model->nequality; i++) {
      worst = djt_worst(worst, fabs(back->eq_polycoef[i] - model->eq_polycoef[i]));
      worst = djt_worst(worst, fabs(back->eq_impedance[i] - model->eq_impedance[i]));
    }
    assert_true(worst < 1e-9);
    free(text);
    dj_deleteModel(back);
    mj_deleteModel(again);
    dj_deleteReport(report);
    dj_deleteModel(model);
    mj_deleteModel(m);
  }
}

// A scene that is not the design's is told by the constraint.
static void testCheck(void) {
  mjModel* m = sceneOf(4, 0);
  djModel* model = djt_import(NULL, m);
  djError err;
  assert_int_equal(djm_checkDesign(m, model, NULL, 1e-10, &err), DJ_OK);
  model->eq_active0[3] = 0;
  djt_refused(DJ_UNSUPPORTED, djm_checkDesign(m, model, NULL, 1e-10, &err), err,
              "equality/#3: could not be written");
  model->eq_active0[3] = 1;
  model->eq_polycoef[5 * 1] = 0.5;
  djt_refused(DJ_UNSUPPORTED, djm_checkDesign(m, model, NULL, 1e-10, &err), err,
              "equality/#1/polycoef: could not be written: it is "
              "0.20000000000000001 there, not 0.5");
  model->eq_polycoef[5 * 1] = 0.2;
  model->eq_effinertia[1] *= 2;
  djt_refusedWith(DJ_UNSUPPORTED, djm_checkDesign(m, model, NULL, 1e-10, &err), err,
                  "dijoco_limit_inertia/equality/#0: could not be written");
  dj_deleteModel(model);
  mj_deleteModel(m);
}

static void setParam(djModel* model, const char* name, const double* value) {
  djParam p;
  djError err;
  djt_failIf(dj_paramId(&p, model, name, &err) < 0 || dj_setParam(model, &p, value, &err) < 0, "%s",
             err.text);
}

// Coefficients of a design are written into its scene, those of the constraint that is meant;
// points of bodies, of which MuJoCo finds the second, are refused.
static void testDesign(void) {
  static const char path[] = "test_mj_equality_scene.xml";
  djt_writeText(path, HEAD CONNECT JOINT TAIL);
  char error[1000], *text = NULL;
  mjModel *m = mj_loadXML(path, NULL, error, sizeof(error)), *again;
  if (!m) fail_msg("%s", error);
  djModel* model = djt_import(NULL, m);
  djError err;
  const double c[5] = {0.1, 0.7, -0.3, 0.2, 0.4};
  setParam(model, "equality/#3/polycoef", c);
  if (djm_makeMJCF(&text, path, model, NULL, &err) != DJ_OK) fail_msg("%s", err.text);
  again = djt_compile(text);
  for (int k = 0; k < 5; k++) djt_near(again->eq_data[mjNEQDATA * 3 + k], c[k], 1e-12);
  for (int k = 0; k < 3; k++) djt_near(again->eq_data[k], m->eq_data[k], 1e-12);
  free(text);
  const double anchor[6] = {0.2, 0.2, 0.3, 0, 0, 0};
  setParam(model, "equality/#0/anchor", anchor);
  djt_refusedWith(DJ_UNSUPPORTED, djm_makeMJCF(&text, path, model, NULL, &err), err,
                  "equality/#0/anchor: could not be written");
  remove(path);
  dj_deleteModel(model);
  mj_deleteModel(again);
  mj_deleteModel(m);
}

// What a scene says of the inertia that a constraint counts by.
static void testInertia(void) {
  static const char scene[] =
      "<mujoco><custom><numeric name='dijoco_limit_inertia/equality/%s' data='%s'/></custom>"
      "<worldbody><body><joint name='j'/><geom size='.1' pos='.2 0 0'/></body></worldbody>"
      "<equality><joint name='e' joint1='j'/></equality></mujoco>";
  static const char* const bad[][3] = {
      {"f", "1 2", "there is no joint, tendon or equality constraint of that name"},
      {"e", "1", "two positive numbers are expected"},
      {"e", "1 -2", "two positive numbers are expected"}};
  char text[1000];
  djModel* model;
  djError err;
  for (int k = 0; k < 3; k++) {
    snprintf(text, sizeof(text), scene, bad[k][0], bad[k][1]);
    mjModel* m = djt_compile(text);
    djt_refusedWith(DJ_INVALID, dj_importMuJoCo(&model, NULL, m, &err), err, bad[k][2]);
    mj_deleteModel(m);
  }
  snprintf(text, sizeof(text), scene, "e", "3 4");
  mjModel* m = djt_compile(text);
  model = djt_import(NULL, m);
  djt_near(model->eq_effinertia[0], 3, 0);
  djt_near(model->eq_effinertia[1], 4, 0);
  dj_deleteModel(model);
  mj_deleteModel(m);
}

DJT_MAIN_IN(djt_registerContact, NULL, testRows, testSteps, testRobots, testDerivatives, testLoop,
            testSpin, testActive, testPlugin, testMuJoCos, testPhysics, testFiles, testCheck,
            testDesign, testInertia)
