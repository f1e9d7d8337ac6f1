// djm_transition beside MuJoCo's mjd_transitionFD.
//   - Without contact both steps are first-order methods for the same equations of motion, so that
//     A and B differ by O(h^2): relative to A - 1 and to B, which are O(h), with order 1.
//   - With contact the models differ; the time of both is compared, at the same states.

#include "common/robots.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A serial arm of seven hinges; its hand rests on a block.
static const char kArm[] =
    "<mujoco><option timestep='0.002'/><default><joint damping='1' armature='.05' axis='0 0 1' "
    "range='-150 150'/><geom type='capsule' size='.05'/></default><worldbody>"
    "<geom name='floor' type='plane' size='3 3 .1'/>"
    "<geom name='block' type='box' size='.2 .2 .18' pos='.65 0 .18'/>"
    "<body pos='0 0 .15'><joint name='j1'/><geom fromto='0 0 0 0 0 .2' size='.06'/>"
    "<body pos='0 0 .2'><joint name='j2' axis='0 1 0'/><geom fromto='0 0 0 0 0 .2'/>"
    "<body pos='0 0 .2'><joint name='j3'/><geom fromto='0 0 0 0 0 .15'/>"
    "<body pos='0 0 .15'><joint name='j4' axis='0 1 0'/><geom fromto='0 0 0 0 0 .15'/>"
    "<body pos='0 0 .15'><joint name='j5'/><geom fromto='0 0 0 0 0 .12' size='.04'/>"
    "<body pos='0 0 .12'><joint name='j6' axis='0 1 0'/><geom fromto='0 0 0 0 0 .08' size='.04'/>"
    "<body pos='0 0 .08'><joint name='j7'/><geom type='box' size='.05 .03 .02' pos='0 0 .04'/>"
    "</body></body></body></body></body></body></body></worldbody><actuator>"
    "<motor joint='j1' gear='20' ctrlrange='-1 1'/><motor joint='j2' gear='20' ctrlrange='-1 1'/>"
    "<motor joint='j3' gear='10' ctrlrange='-1 1'/><motor joint='j4' gear='10' ctrlrange='-1 1'/>"
    "<motor joint='j5' gear='5' ctrlrange='-1 1'/><motor joint='j6' gear='5' ctrlrange='-1 1'/>"
    "<motor joint='j7' gear='2' ctrlrange='-1 1'/></actuator></mujoco>";

static djIntegrator integrator;

static const char* const kName[] = {"hopper", "humanoid", "7-dof arm"};
enum { NMODEL = 3, ARM = 2 };

static mjModel* loadModel(int k) {
  mjModel* m = k == ARM ? robot_compile(kArm) : robot_load(kName[k]);
  m->opt.integrator = mjINT_EULER;   // mjd_transitionFD refuses RK4
  return m;
}

static djmContext* makeContext(const mjModel* m, double tolerance) {
  djmContext* c;
  djError err;
  djStatus status = djm_makeContext(&c, NULL, m, &err);
  if (status < 0) djv_fail("%s", err.text);
  djOption option = djm_model(c)->opt;
  option.integrator = integrator;
  option.tolerance = tolerance;
  if (dj_setOption(djm_model(c), &option, &err) < 0) djv_fail("%s", err.text);
  return c;
}

static void randomState(mjData* d, const mjModel* m, djvRandom* random, double angle,
                        double speed) {
  mjtNum* v = calloc((size_t)m->nv, sizeof *v);
  for (int i = 0; i < m->nv; i++) v[i] = djv_uniform(random, -angle, angle);
  mj_integratePos(m, d->qpos, v, 1);
  for (int i = 0; i < m->nv; i++) d->qvel[i] = djv_uniform(random, -speed, speed);
  robot_randomCtrl(d->ctrl, m, random, 0.5);
  free(v);
}

// Both pairs of matrices at one state.
typedef struct Matrices {
  int nx, nu;
  mjtNum *A, *B, *A2, *B2;   // ours, MuJoCo's
} Matrices;

static Matrices makeMatrices(const mjModel* m) {
  size_t nx = 2 * (size_t)m->nv + (size_t)m->na, nu = (size_t)m->nu;
  Matrices x = {.nx = (int)nx, .nu = (int)nu};
  x.A = calloc(2 * nx * (nx + nu), sizeof(mjtNum));
  if (!x.A) djv_fail("out of memory");
  x.B = x.A + nx * nx;
  x.A2 = x.B + nx * nu;
  x.B2 = x.A2 + nx * nx;
  return x;
}

static void ours(Matrices* x, const mjModel* m, const mjData* d, djmContext* c) {
  djStatus status = djm_transition(m, d, c, x->A, x->B, NULL, NULL);
  if (status < 0) djv_fail("djm_transition: %s", djm_errorText(c));
}

// |A - A2|/|A2 - 1| and |B - B2|/|B2|, Frobenius.
static void differences(double out[2], Matrices* x) {
  int n = x->nx * x->nx, k = x->nx * x->nu;
  mju_subFrom(x->A, x->A2, n);
  mju_subFrom(x->B, x->B2, k);
  for (int i = 0; i < x->nx; i++) x->A2[(size_t)i * ((size_t)x->nx + 1)] -= 1;
  out[0] = mju_norm(x->A, n) / mju_norm(x->A2, n);
  out[1] = mju_norm(x->B, k) / mju_norm(x->B2, k);
}

static void testAccuracy(djvReport* r, int model, int states) {
  static const double step[3] = {1e-2, 1e-3, 1e-4};
  double error[3][2] = {{0}};
  mjModel* m = loadModel(model);
  m->opt.disableflags |= mjDSBL_CONTACT | mjDSBL_LIMIT | mjDSBL_FRICTIONLOSS;
  mjData* d = mj_makeData(m);
  Matrices x = makeMatrices(m);
  for (int k = 0; k < 3; k++) {
    m->opt.timestep = step[k];
    djmContext* c = makeContext(m, 1e-6);
    djvRandom random = djv_random(7);
    for (int s = 0; s < states; s++) {
      double e[2];
      mj_resetData(m, d);
      randomState(d, m, &random, 0.3, 1);
      ours(&x, m, d, c);
      mjd_transitionFD(m, d, 1e-6, true, x.A2, x.B2, NULL, NULL);
      differences(e, &x);
      for (int i = 0; i < 2; i++) error[k][i] += e[i] / states;
    }
    djm_deleteContext(c);
  }
  const char* const letter[2] = {"A", "B"};
  for (int i = 0; i < 2; i++) {
    djv_note("%-10s %s: %.2e %.2e %.2e at h = 1e-2, 1e-3, 1e-4; orders %.2f, %.2f", kName[model],
             letter[i], error[0][i], error[1][i], error[2][i], log10(error[0][i] / error[1][i]),
             log10(error[1][i] / error[2][i]));
  }
  for (int i = 0; i < 2; i++) {
    bool same = error[0][i] < 1e-5;   // but for MuJoCo's differences
    if (!same) {
      robot_near(r, log10(error[1][i] / error[2][i]), 1, 0.15, "%s: order of %s", kName[model],
                 letter[i]);
    }
    robot_below(r, error[2][i], 1e-3, "", "%s: relative difference of %s, h = 1e-4", kName[model],
                letter[i]);
    djv_figure(r, "order", log10(error[1][i] / error[2][i]), "");
    djv_figure(r, "difference at 0.1 ms", error[2][i], "");
  }
  free(x.A);
  mj_deleteData(d);
  mj_deleteModel(m);
}

// ---- time -------------------------------------------------------------------------------------

enum { NWAY = 3, MAXSTATE = 200 };   // ours; MuJoCo's centred and one-sided differences

static double timeOf(int way, Matrices* x, const mjModel* m, mjData* d, djmContext* c) {
  double start = robot_clock();
  if (way == 0) ours(x, m, d, c);
  else mjd_transitionFD(m, d, 1e-6, way == 1, x->A2, x->B2, NULL, NULL);
  return robot_clock() - start;
}

// The shortest times of all ways, which take turns.
static void timeAll(double time[NWAY][MAXSTATE], int state, Matrices* x, const mjModel* m,
                    mjData* d, djmContext* c, int repeat) {
  for (int way = 0; way < NWAY; way++) time[way][state] = INFINITY;
  for (int k = 0; k <= repeat; k++) {
    for (int way = 0; way < NWAY; way++) {
      time[way][state] = fmin(time[way][state], timeOf(way, x, m, d, c));
    }
  }
}

// States of a run of ours under random controls, kept only where there is contact. newton: MuJoCo's
// fastest solver; else as the model has it, where that is another.
static void testTime(int model, bool newton, int states, int repeat) {
  mjModel* m = loadModel(model);
  bool given = m->opt.solver == mjSOL_NEWTON;
  if (!newton && given) {
    mj_deleteModel(m);
    return;
  }
  if (newton && !given) m->opt.solver = mjSOL_NEWTON, m->opt.iterations = 100;
  mjData *d = mj_makeData(m), *e = mj_makeData(m);
  djmContext* c = makeContext(m, 1e-4);
  Matrices x = makeMatrices(m);
  djvRandom random = djv_random(8);
  double time[NWAY][MAXSTATE];
  int n = 0, pairs = 0, contacts = 0;
  randomState(d, m, &random, 0.02, 0.1);
  if (model == ARM) d->qpos[1] = 1.1, d->qpos[3] = 0.8;
  for (int k = 0; n < states && k < 100 * states; k++) {
    if (k % 20 == 0) robot_randomCtrl(d->ctrl, m, &random, 0.3);
    if (djm_step(m, d, c) < 0) djv_fail("djm_step: %s", djm_errorText(c));
    if (k % 10 || djm_data(c)->ncontact == 0) continue;
    pairs += djm_data(c)->npair;
    mj_copyData(e, m, d);
    mj_forward(m, e);
    mju_copy(e->qacc_warmstart, e->qacc, (int)m->nv);   // its solver starts where it will end
    contacts += e->ncon;
    timeAll(time, n++, &x, m, e, c, repeat);
  }
  if (n == 0) djv_fail("%s: no state with contact", kName[model]);
  double t[NWAY];
  for (int way = 0; way < NWAY; way++) t[way] = 1e6 * robot_median(time[way], n);
  djv_note("%-10s nv %2d nu %2d, %3d states (%.1f pairs of ours, %.1f contacts of MuJoCo's%s): "
           "%7.1f us; centred %8.1f us (%.1f times), one-sided %8.1f us (%.1f times)",
           kName[model], (int)m->nv, (int)m->nu, n, (double)pairs / n, (double)contacts / n,
           newton ? "" : ", its solver as in the file", t[0], t[1], t[1] / t[0], t[2],
           t[2] / t[0]);
  free(x.A);
  djm_deleteContext(c);
  mj_deleteData(d);
  mj_deleteData(e);
  mj_deleteModel(m);
}

int main(int argc, char** argv) {
  integrator = djv_takeIntegrator(&argc, argv);
  bool quick = djv_isQuick(argc, argv);
  djvReport report = {0}, *r = &report;
  if (!robot_folder()) return DJV_SKIPPED;
  djv_title("|A - A_FD|/|A_FD - 1| and |B - B_FD|/|B_FD| without contact, limits, friction loss; "
            "mean of states");
  for (int k = 0; k < NMODEL; k++) testAccuracy(r, k, quick ? 3 : 20);
  djv_title("Time of A and B with contact, medians; MuJoCo's solver is Newton's");
  for (int k = 0; k < 2 * NMODEL; k++) {
    testTime(k % NMODEL, k < NMODEL, quick ? 5 : 100, quick ? 1 : 5);
  }
  return djv_finish(r);
}
