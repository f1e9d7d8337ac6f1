// What functions on a djmContext share (step.h), and the derivatives of substeps (chain.h).

#include "chain.h"
#include "step.h"

#include "common/mj_zoo.h"
#include "common/room.h"
#include "common/test.h"
#include "common/worst.h"

#include <dijoco/dijoco.h>

// A box that a hinged arm presses upon, on a floor, with a touch sensor; an activation that our
// model leaves out comes before one that it has.
static const char SCENE[] =
    "<mujoco><option timestep='.002'/><custom><numeric name='dijoco_stiffness_scale' data='1e-5'/>"
    "</custom><worldbody><geom name='floor' type='plane' size='5 5 1'/>"
    "<body name='box' pos='0 0 .0995'><freejoint/><geom name='box' type='box' size='.2 .15 .1' "
    "mass='2'/><site name='foot' pos='0 0 -.08' size='.3 .3 .1' type='box'/></body>"
    "<body name='arm' pos='.4 0 .245' euler='0 3 0'><joint name='hinge' axis='0 1 0' damping='.1'/>"
    "<geom name='arm' type='capsule' fromto='0 0 0 -.4 0 0' size='.05' mass='1'/></body>"
    "</worldbody><actuator><general joint='hinge' dyntype='user' actdim='2'/>"
    "<general joint='hinge' dyntype='filter' dynprm='.05' gainprm='3'/><motor "
    "joint='hinge' gear='2'/></actuator><sensor><clock/><touch site='foot'/><user dim='1' "
    "needstage='acc'/></sensor></mujoco>";

typedef struct Case {
  mjModel* m;
  mjData* d;
  djmContext* c;
} Case;

// Some steps after the start, pressed together.
static Case openCase(int substeps) {
  Case k = {.m = djt_compile(SCENE)};
  k.d = mj_makeData(k.m);
  k.c = djt_context(k.m);
  djOption option = djm_model(k.c)->opt;
  djError err = {""};
  option.tolerance = 1e-12;
  option.friction_eps = 1e-3;   // smooth enough for differences
  option.support = 0.02;
  option.restitution = DJ_RESTITUTION_GIVEN;   // contact alone
  if (dj_setOption(djm_model(k.c), &option, &err) != DJ_OK) fail_msg("%s", err.text);
  djm_stepOption(k.c)->substeps = substeps;
  for (int i = 0; i < 20; i++) assert_true(djm_step(k.m, k.d, k.c) >= 0);
  for (int i = 0; i < k.m->nv; i++) k.d->qvel[i] += 0.1 * sin(i + 1);
  for (int i = 0; i < k.m->na; i++) k.d->act[i] = 0.1 * (i + 1);
  k.d->ctrl[1] = -0.4;
  k.d->xfrc_applied[6] = 1.5;
  k.d->xfrc_applied[6 * 2 + 4] = 0.2;
  assert_int_equal(djm_begin(k.c, k.m, k.d), DJ_OK);
  return k;
}

static void closeCase(Case* k) {
  djm_deleteContext(k->c);
  djt_deleteEngine(k->m, k->d);
}

// ---- calls ------------------------------------------------------------------------------------

static void testBegin(void) {
  Case k = openCase(1), other = openCase(1);
  mjModel* foreign = djt_compile("<mujoco><worldbody><body><joint/><geom size='.1'/></body>"
                                 "</worldbody></mujoco>");
  mjData* d = mj_makeData(foreign);
  assert_int_equal(djm_begin(NULL, k.m, k.d), DJ_INVALID);
  assert_int_equal(djm_begin(k.c, NULL, k.d), DJ_INVALID);
  assert_int_equal(djm_begin(k.c, k.m, NULL), DJ_INVALID);
  assert_int_equal(djm_begin(k.c, foreign, d), DJ_INVALID);
  assert_string_equal(djm_errorText(k.c), "the context was made from another MuJoCo model");
  assert_int_equal(djm_begin(k.c, other.m, other.d), DJ_OK);   // equal, if not the same
  assert_string_equal(djm_errorText(k.c), "");
  djm_stepOption(k.c)->substeps = 4;
  assert_int_equal(djm_begin(k.c, k.m, k.d), DJ_OK);
  djt_near(k.c->model->opt.timestep, 0.0005, 1e-18);
  djt_near(djm_timestep(k.c), 0.002, 1e-17);
  djm_stepOption(k.c)->substeps = 0;
  assert_int_equal(djm_begin(k.c, k.m, k.d), DJ_INVALID);
  assert_string_equal(djm_errorText(k.c), "substeps: must be at least 1");
  assert_int_equal(djm_fail(k.c, DJ_UNSUPPORTED, "no"), DJ_UNSUPPORTED);
  assert_string_equal(djm_errorText(k.c), "no");
  djt_deleteEngine(foreign, d);
  closeCase(&other);
  closeCase(&k);
}

static void warn(void* arg) {
  (void)arg;
  mju_warning("careful");
}
static void failInside(void* arg) {
  (void)arg;
  mju_error("broken");
}

static void testCatch(void) {
  Case k = openCase(1);
  assert_int_equal(djm_catch(k.c, failInside, NULL), DJ_INVALID);
  assert_string_equal(djm_errorText(k.c), "broken");
  assert_int_equal(djm_catch(k.c, warn, NULL), DJ_OK);   // MuJoCo's data count them
  assert_string_equal(djm_errorText(k.c), "");
  closeCase(&k);
}

static void testView(void) {
  Case k = openCase(1);
  k.m->opt.enableflags |= mjENBL_SLEEP | mjENBL_ENERGY;
  mjtSize plugins = k.m->nplugin;
  k.m->nplugin = 3;
  mjModel view = djm_plainModel(k.m);
  assert_true(view.nplugin == 0 && k.m->nplugin == 3);
  assert_true(view.opt.enableflags == mjENBL_ENERGY && view.qpos0 == k.m->qpos0);
  k.m->nplugin = plugins;
  k.m->opt.enableflags = 0;
  closeCase(&k);
}

// All that a step reads; of activations those that are kept.
static void testReadData(void) {
  Case k = openCase(1);
  const djData* x = k.c->data;
  int nv = (int)k.m->nv, nkept = k.c->model->na;
  assert_true(k.c->kept && nkept < k.m->na);
  djm_readData(k.c, k.d);
  assert_true(x->time == k.d->time && k.d->time > 0);
  assert_memory_equal(x->qpos, k.d->qpos, sizeof(mjtNum) * (size_t)k.m->nq);
  assert_memory_equal(x->qvel, k.d->qvel, sizeof(mjtNum) * (size_t)nv);
  assert_memory_equal(x->ctrl, k.d->ctrl, sizeof(mjtNum) * (size_t)k.m->nu);
  assert_memory_equal(x->xfrc_applied, k.d->xfrc_applied, sizeof(mjtNum) * 6 * (size_t)k.m->nbody);
  for (int i = 0; i < nkept; i++) {
    assert_true(x->act[i] == k.d->act[k.c->kept[i]]);
    assert_int_equal(djm_stateIndex(k.c, 2 * nv + i), 2 * nv + k.c->kept[i]);
  }
  assert_int_equal(k.c->kept[nkept - 1], k.m->na - 1);
  assert_int_equal(djm_stateIndex(k.c, 2 * nv - 1), 2 * nv - 1);
  k.c->data->qvel[nv - 1] += 0.5 * djm_timestep(k.c);
  djm_setAcceleration(k.d, k.c);
  for (int i = 0; i < nv; i++) djt_near(k.d->qacc[i], i == nv - 1 ? 0.5 : 0, 1e-12);
  closeCase(&k);
}

// ---- forces -----------------------------------------------------------------------------------

// Contact forces are opposite and equal, and weigh what lies on the floor with what presses; their
// generalized forces are those that MuJoCo makes of them.
static void testForces(void) {
  Case k = openCase(2);
  int nv = (int)k.m->nv, nb = (int)k.m->nbody;
  assert_true(djm_solve(k.c, k.m, k.d) >= 0);
  const double* w = k.c->wrench;
  double sum[6] = {0}, size = 0;
  for (int i = 0; i < 6 * nb; i++) sum[i % 6] += w[i];
  for (int i = 0; i < 6; i++) size = djt_worst(size, fabs(w[i]));
  assert_true(size > 10 && k.c->touch[1] > 10);
  for (int i = 0; i < 6; i++) djt_near(sum[i], 0, 1e-9 * size);

  mjModel view = djm_plainModel(k.m);
  djm_poseData(k.c, &view, k.d);
  mjData* pose = k.c->pose;
  mj_kinematics(k.m, k.d);
  mj_comPos(k.m, k.d);
  assert_memory_equal(pose->xipos, k.d->xipos, sizeof(mjtNum) * 3 * (size_t)nb);
  assert_memory_equal(pose->cdof, k.d->cdof, sizeof(mjtNum) * 6 * (size_t)nv);
  mjtNum *qfrc = djt_room((size_t)nv), *ext = djt_room(6 * (size_t)nb);
  mjtNum *wanted = djt_room((size_t)nv), *applied = djt_room(6 * (size_t)nb);
  const mjtNum origin[3] = {0, 0, 0};
  djm_projectForces(qfrc, ext, k.c, k.m, pose, k.d->xfrc_applied);
  for (int b = 1; b < nb; b++) mj_applyFT(k.m, k.d, w + 6 * b + 3, w + 6 * b, origin, b, wanted);
  for (int i = 0; i < nv; i++) djt_near(qfrc[i], wanted[i], 1e-9 * size);

  // the same as applied forces, of which MuJoCo makes cfrc_ext
  djm_addWrench(applied, k.d->xfrc_applied, w, k.d->xipos, nb);
  mju_copy(k.d->xfrc_applied, applied, 6 * nb);
  k.d->ncon = k.d->nefc = 0;
  mj_rnePostConstraint(k.m, k.d);
  for (int i = 6; i < 6 * nb; i++) djt_near(ext[i], k.d->cfrc_ext[i], 1e-9 * size);
  mjtNum* const list[] = {qfrc, ext, wanted, applied};
  for (int i = 0; i < 4; i++) free(list[i]);
  closeCase(&k);
}

// What is added is of the substep just taken, times the factor, until it is cleared.
static void testAdding(void) {
  Case k = openCase(1);
  int n = 6 * (int)k.m->nbody;
  assert_true(djm_solve(k.c, k.m, k.d) >= 0);
  double *once = djt_room((size_t)n), touch = k.c->touch[1];
  mju_copy(once, k.c->wrench, n);
  djm_addForces(k.c, k.m, 0.5);
  for (int i = 0; i < n; i++) djt_near(k.c->wrench[i], 1.5 * once[i], 1e-12 * (1 + fabs(once[i])));
  djt_near(k.c->touch[1], 1.5 * touch, 1e-12 * touch);
  assert_true(k.c->touch[0] == 0);
  djm_clearForces(k.c, k.m);
  assert_true(mju_isZero(k.c->wrench, n) && mju_isZero(k.c->touch, 2));
  free(once);
  closeCase(&k);
}

// A touch sensor counts pairs of its own body that push, along a ray that meets its site.
static void testTouches(void) {
  Case k = openCase(1);
  assert_true(djm_solve(k.c, k.m, k.d) >= 0);
  int box = mj_name2id(k.m, mjOBJ_GEOM, "box"), floor = mj_name2id(k.m, mjOBJ_GEOM, "floor"), n = 0;
  for (int i = 0; i < k.c->data->npair; i++) {
    djContactPair p = k.c->data->pair[i];
    bool below = p.geom1 == floor && p.geom2 == box;
    assert_true(djm_touches(k.c, k.m, 1, &p) == below);
    if (!below) continue;
    n++;
    djContactPair other = p;
    other.normal_force = 0;
    assert_false(djm_touches(k.c, k.m, 1, &other));
    other = p;
    mju_scl3(other.normal, p.normal, -1);
    other.geom1 = box, other.geom2 = floor;   // the same seen from the other side
    assert_true(djm_touches(k.c, k.m, 1, &other));
    other = p;
    other.point[0] += 1;                      // beside the site
    assert_false(djm_touches(k.c, k.m, 1, &other));
    for (int above = 0; above < 2; above++) {   // the ray leads down, away from the box
      other = p;
      other.point[2] = above ? 0.5 : -0.5;
      assert_true(djm_touches(k.c, k.m, 1, &other) == above);
    }
    other = p;
    other.geom2 = mj_name2id(k.m, mjOBJ_GEOM, "arm");
    assert_false(djm_touches(k.c, k.m, 1, &other));
  }
  assert_true(n > 0 && k.c->data->npair > n);
  closeCase(&k);
}

static void failing(const mjModel* m, mjData* d, int stage) {
  (void)m;
  if (stage == mjSTAGE_ACC) mju_error("with %d contacts", d->ncon);
}

// MuJoCo's pass shows our contacts to sensors and hides them again; so does one that fails.
static void testPass(void) {
  Case k = openCase(1);
  for (int run = 0; run < 2; run++) {
    assert_true(djm_solve(k.c, k.m, k.d) >= 0);
    mjcb_sensor = run ? failing : NULL;
    const mjtNum* applied = k.d->xfrc_applied;
    char text[40];
    snprintf(text, sizeof text, "with %d contacts", k.c->data->npair);
    size_t pstack = k.d->pstack;
    djStatus status = djm_pass(k.c, k.m, k.d);
    mjcb_sensor = NULL;
    assert_int_equal(status, run ? DJ_INVALID : DJ_OK);
    assert_string_equal(djm_errorText(k.c), run ? text : "");
    assert_true(k.d->xfrc_applied == applied && k.d->pstack == pstack && !k.c->passing);
    assert_true(k.d->contact != k.c->contact && k.d->efc_force != k.c->edge);
    assert_true(k.d->ncon > 0 && k.d->nefc > 0);   // MuJoCo's own, which exert nothing
    if (run) continue;
    djt_near(k.d->sensordata[1], k.c->touch[1], 0);
    assert_true(mju_isZero(k.d->efc_force, k.d->nefc));
  }
  closeCase(&k);
}

// ---- chains -----------------------------------------------------------------------------------

// x (nx) = state after the substeps, force (nforce) = touch and wrenches, from state column k and
// controls moved by s.
static void runMoved(mjtNum* x, mjtNum* force, Case* k, const djmChain* w, int column, double s) {
  djData* data = k->c->data;
  const djModel* m = k->c->model;
  int nv = m->nv, n = (int)k->m->nsensor;
  mjtNum* step = djt_room((size_t)nv);
  djm_readData(k->c, k->d);
  if (column < nv) {
    step[column] = s;
    dj_integratePos(data->qpos, m, data->qpos, step, 1);
  } else if (column < 2 * nv) {
    data->qvel[column - nv] += s;
  } else if (column < w->nx) {
    data->act[column - 2 * nv] += s;
  } else {
    data->ctrl[column - w->nx] += s;
  }
  djm_clearForces(k->c, k->m);
  for (int i = 0; i < k->c->substeps; i++) {
    assert_true(dj_step(m, data) >= 0);
    djm_addForces(k->c, k->m, 1.0 / k->c->substeps);
  }
  dj_differentiatePos(x, m, 1, k->d->qpos, data->qpos);
  mju_copy(x + nv, data->qvel, nv);
  mju_copy(x + 2 * nv, data->act, m->na);
  mju_copy(force, k->c->touch, n);
  mju_copy(force + n, k->c->wrench, 6 * (int)k->m->nbody);
  free(step);
}

// Errors of A, B and forces against differences, relative to the largest of a column.
static void chainErrors(double worst[2], Case* k, const djmChain* w) {
  int nx = w->nx, nu = w->nu, nf = w->nforce;
  static const double point[4] = {1, -1, 2, -2}, weight[4] = {8, -8, -1, 1};
  mjtNum *x = djt_room((size_t)nx), *dx = djt_room((size_t)nx);
  mjtNum *f = djt_room((size_t)nf), *df = djt_room((size_t)nf);
  for (int c = 0; c < nx + nu; c++) {
    double h = 3e-5, size[2] = {1e-3, 1e-3}, error[2] = {0, 0};
    mju_zero(dx, nx);
    mju_zero(df, nf);
    for (int i = 0; i < 4; i++) {
      runMoved(x, f, k, w, c, point[i] * h);
      mju_addToScl(dx, x, weight[i] / (12 * h), nx);
      mju_addToScl(df, f, weight[i] / (12 * h), nf);
    }
    for (int r = k->c->model->nv; r < nx; r++) {   // displacements have other coordinates
      double got = c < nx ? w->A[r * nx + c] : w->B[r * nu + c - nx];
      error[0] = djt_worst(error[0], fabs(got - dx[r]));
      size[0] = djt_worst(size[0], fabs(dx[r]));
    }
    for (int r = 0; r < nf; r++) {
      const mjtNum* row = r < k->m->nsensor ? djm_touchRow(w, r)
                                            : djm_wrenchRow(w, (r - (int)k->m->nsensor) / 6,
                                                            (r - (int)k->m->nsensor) % 6);
      error[1] = djt_worst(error[1], fabs(row[c] - df[r]));
      size[1] = djt_worst(size[1], fabs(df[r]));
    }
    for (int i = 0; i < 2; i++) worst[i] = djt_worst(worst[i], error[i] / size[i]);
  }
  mjtNum* const list[] = {x, dx, f, df};
  for (int i = 0; i < 4; i++) free(list[i]);
}

static void testChain(void) {
  for (int substeps = 1; substeps <= 3; substeps += 2) {
    Case k = openCase(substeps);
    djmChain w;
    double worst[2] = {0, 0};
    assert_int_equal(djm_makeChain(&w, k.c, k.m, true), DJ_OK);
    assert_true(w.nx == dj_tangentSize(k.c->model) && w.nu == k.c->model->nu);
    assert_int_equal(w.nforce, k.m->nsensor + 6 * k.m->nbody);
    assert_int_equal(w.nx, 2 * k.m->nv + k.c->model->na);
    djm_readData(k.c, k.d);
    assert_true(djm_takeChain(&w) >= 0);
    double *wrench = djt_room(6 * (size_t)k.m->nbody), touch = k.c->touch[1];
    mju_copy(wrench, k.c->wrench, 6 * (int)k.m->nbody);
    assert_true(djm_solve(k.c, k.m, k.d) >= 0);   // the same forces
    djt_near(k.c->touch[1], touch, 1e-9 * touch);
    for (int i = 0; i < 6 * k.m->nbody; i++) djt_near(k.c->wrench[i], wrench[i], 1e-9 * touch);
    chainErrors(worst, &k, &w);
    print_message("%d substeps: states %.1e, forces %.1e\n", substeps, worst[0], worst[1]);
    assert_true(worst[0] < 1e-4 && worst[1] < 1e-4);
    free(wrench);
    djm_freeChain(&w);
    closeCase(&k);
  }
}

// Without forces the chain is A and B alone.
static void testPlainChain(void) {
  Case k = openCase(2);
  djmChain w, forces;
  assert_int_equal(djm_makeChain(&w, k.c, k.m, false), DJ_OK);
  assert_int_equal(djm_makeChain(&forces, k.c, k.m, true), DJ_OK);
  assert_int_equal(w.nforce, 0);
  djm_clearForces(k.c, k.m);
  djm_readData(k.c, k.d);
  assert_true(djm_takeChain(&w) >= 0);
  assert_true(k.c->touch[1] == 0);
  djm_readData(k.c, k.d);
  assert_true(djm_takeChain(&forces) >= 0);
  for (int i = 0; i < w.nx * w.nx; i++) djt_near(w.A[i], forces.A[i], 1e-6 * (1 + fabs(w.A[i])));
  djm_freeChain(&w);
  djm_freeChain(&forces);
  closeCase(&k);
}

DJT_MAIN(testBegin, testCatch, testView, testReadData, testForces, testAdding, testTouches,
         testPass, testChain, testPlainChain)
