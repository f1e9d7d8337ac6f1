// Gradients through contact and friction, certified by extrapolated differences of the same loss.
//
// Each scene runs at least 30 steps in contact. The gradient by controls, start positions and start
// velocities is compared along random directions with Richardson differences (relative error at
// most 1e-6), and the error of the linear prediction must fall with the square of the step.

#include "common/robots.h"

#include <dijoco/check.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Scene {
  const char* name;
  const char* body;        // whose position and velocity the loss measures
  const char* text;        // MJCF
  int horizon;
  int settle;              // steps at rest before the run: a start in the middle of the barrier
  int least;               // steps with friction that the scene must have
} Scene;

#define OPEN "<mujoco><compiler angle='radian'/><option timestep='0.005'/><worldbody>"
#define FLOOR "<geom name='floor' type='plane' size='5 5 1' friction='0.5 0.005 0.0001'/>"
#define BOX(at, how)                                                                     \
  "<body name='box' pos='" at "' " how "><joint name='f' type='free'/>"                  \
  "<geom type='box' size='0.1 0.15 0.1' friction='0.5 0.005 0.0001' mass='1'/></body>"
#define PUSH                                                                             \
  "</worldbody><actuator><general joint='f' gear='1 0 0 0 0 0'/>"                        \
  "<general joint='f' gear='0 1 0 0 0 0.1'/></actuator><keyframe>"
#define SLOW " ctrl='0.3 -0.2'"

static const Scene scenes[] = {
    {"box slides on a plane", "box",
     OPEN FLOOR BOX("0 0 0.1", "") PUSH
     "<key qpos='0 0 0.1 1 0 0 0' qvel='1 0.3 0 0 0 0.5' ctrl='1 -0.5'/></keyframe></mujoco>",
     60, 100, 50},
    {"box sticks on an incline", "box",
     OPEN "<geom name='floor' type='plane' size='5 5 1' euler='0 0.3 0' friction='0.5 0 0'/>"
     BOX("0.029552 0 0.0955336", "euler='0 0.3 0'") PUSH
     "<key" SLOW "/></keyframe></mujoco>", 60, 100, 50},
    {"ball strikes a plane", "ball",
     OPEN FLOOR "<body name='ball' pos='0 0 0.12'><joint name='f' type='free'/>"
     "<geom size='0.1' friction='0.5 0.005 0.0001' mass='1'/></body>" PUSH
     "<key qpos='0 0 0.12 1 0 0 0' qvel='1 0.2 -2 1 2 3'" SLOW "/></keyframe></mujoco>", 40, 0, 5},
    {"box strikes a plane", "box",
     OPEN FLOOR BOX("0 0 0.3", "euler='0.4 0.3 0'") PUSH
     "<key qpos='0 0 0.24 0.96 0.2 0.15 0.05' qvel='1 0.2 -2 0.5 1 -0.5'" SLOW
     "/></keyframe></mujoco>", 40, 0, 5},
    {"arm pushes a box", "box",
     OPEN FLOOR BOX("0.55 0.1 0.1", "")
     "<body pos='0 0 0.1'><joint name='h1' axis='0 0 1' damping='0.1'/>"
     "<geom type='capsule' size='0.03' fromto='0 0 0 0.3 0 0' contype='0' conaffinity='0'/>"
     "<body pos='0.3 0 0'><joint name='h2' axis='0 0 1' damping='0.1'/>"
     "<geom type='capsule' size='0.03' fromto='0 0 0 0.22 0 0' friction='0.5 0 0'/></body></body>"
     "</worldbody><actuator><motor joint='h1'/><motor joint='h2'/></actuator><keyframe>"
     "<key qpos='0.55 0.1 0.1 1 0 0 0 -0.6 1.4' qvel='0 0 0 0 0 0 1 0' ctrl='1.5 -0.5'/>"
     "</keyframe></mujoco>", 80, 100, 30},
};
enum { NSCENES = sizeof scenes / sizeof scenes[0], REFINEMENT = 8 };

// A scene with its loss: squared distance of a body to a target at the end, and the running square
// of its velocity.
typedef struct Run {
  const Scene* scene;
  djModel* model;
  djData* data;
  djTape* tape;
  djLossTerm loss[2];
  djRollout rollout;
  double *qpos, *qvel, *ctrl;               // of the rollout; may be moved
  double *grad_qpos, *grad_qvel, *grad_ctrl;
  djRolloutResult result;
} Run;

static double* copy(const double* from, int n) {
  double* to = calloc((size_t)n + 1, sizeof(double));
  if (!to) djv_fail("no memory");
  if (from && n) memcpy(to, from, (size_t)n * sizeof(double));
  return to;
}

// Arrays and loss of a run.
static void allocate(Run* run) {
  const djModel* m = run->model;
  int h = run->scene->horizon;
  int body = run->scene->body ? dj_name2id(m, DJ_OBJ_BODY, run->scene->body) : 1;
  run->qpos = copy(NULL, m->nq);
  run->qvel = copy(NULL, m->nv);
  run->ctrl = copy(NULL, h * m->nu);
  run->grad_qpos = copy(NULL, m->nv);
  run->grad_qvel = copy(NULL, m->nv);
  run->grad_ctrl = copy(NULL, h * m->nu);
  run->loss[0] = (djLossTerm){.type = DJ_LOSS_POSITION, .object = DJ_OBJ_BODY, .id = body,
                              .target = {0.9, 0.4, 0.2}, .weight = 1, .when = DJ_WHEN_FINAL};
  run->loss[1] = (djLossTerm){.type = DJ_LOSS_VELOCITY, .object = DJ_OBJ_BODY, .id = body,
                              .target = {0.1, 0.2, 0}, .weight = 0.3, .when = DJ_WHEN_RUNNING};
  run->rollout = (djRollout){.horizon = h, .qpos0 = run->qpos, .qvel0 = run->qvel,
                             .ctrl = run->ctrl, .nloss = 2, .loss = run->loss,
                             .refinement_steps = REFINEMENT};
  run->result = (djRolloutResult){.grad_qpos0 = run->grad_qpos, .grad_qvel0 = run->grad_qvel,
                                  .grad_ctrl = run->grad_ctrl};
}

// Let the scene's start come to rest, velocities and controls zero.
static void rest(Run* run) {
  djModel* m = run->model;
  memset(run->data->ctrl, 0, (size_t)m->nu * sizeof(double));
  memset(run->data->qvel, 0, (size_t)m->nv * sizeof(double));
  for (int k = 0; k < run->scene->settle; k++) {
    if (dj_step(m, run->data) != DJ_OK) djv_fail("%s: does not settle", run->scene->name);
  }
}

static void openRun(Run* run, const Scene* scene, double eps, bool settle) {
  djError err;
  mjModel* m = robot_compile(scene->text);
  *run = (Run){.scene = scene, .model = robot_import(m, &err)};
  mj_deleteModel(m);
  if (!run->model) djv_fail("%s: %s", scene->name, err.text);
  djModel* model = run->model;
  djOption option = model->opt;
  option.friction_eps = eps;
  option.stiffness_scale = 1e-5;   // differences can tell
  int h = scene->horizon;
  if (dj_setOption(model, &option, &err) < 0 || djd_makeTape(&run->tape, model, h, &err) < 0) {
    djv_fail("%s: %s", scene->name, err.text);
  }
  run->data = robot_makeData(model);
  allocate(run);
  dj_resetKey(model, run->data, 0);
  memcpy(run->qvel, run->data->qvel, (size_t)model->nv * sizeof(double));
  for (int k = 0; k < h * model->nu; k++) {
    run->ctrl[k] = run->data->ctrl[k % model->nu] * (1 + 0.3 * sin(0.1 * k));
  }
  if (settle) rest(run);
  memcpy(run->qpos, run->data->qpos, (size_t)model->nq * sizeof(double));
}

static void closeRun(Run* run) {
  double* memory[] = {run->qpos, run->qvel, run->ctrl, run->grad_qpos, run->grad_qvel,
                      run->grad_ctrl};
  for (int k = 0; k < 6; k++) free(memory[k]);
  djd_deleteTape(run->tape);
  dj_deleteData(run->data);
  dj_deleteModel(run->model);
}

// One line along which the loss is taken: ctrl, qpos0 or qvel0.
typedef struct Line {
  Run* run;
  int which, n;
  double* direction;       // (n)
  double* moved;
} Line;

static bool lossAlong(void* user, double e, double* loss) {
  Line* line = user;
  Run* run = line->run;
  djRollout rollout = run->rollout;
  rollout.loss_only = true;
  if (line->which == 1) {
    dj_integratePos(line->moved, run->model, run->qpos, line->direction, e);
    rollout.qpos0 = line->moved;
  } else {
    const double* from = line->which == 0 ? run->ctrl : run->qvel;
    for (int i = 0; i < line->n; i++) line->moved[i] = from[i] + e * line->direction[i];
    if (line->which == 0) rollout.ctrl = line->moved;
    else rollout.qvel0 = line->moved;
  }
  djRolloutResult result = {0};
  djStatus status = djd_rolloutForward(&result, run->model, run->data, &rollout, run->tape);
  *loss = result.loss;
  return status == DJ_OK;
}

static djdCertificate certify(Run* run, int which, djvRandom* random) {
  const djModel* m = run->model;
  int n = which == 0 ? run->scene->horizon * m->nu : m->nv;
  const double* gradient =
      which == 0 ? run->grad_ctrl : which == 1 ? run->grad_qpos : run->grad_qvel;
  Line line = {.run = run, .which = which, .n = n, .direction = copy(NULL, n),
               .moved = copy(NULL, n + m->nq)};
  double square = 0, analytic = 0;
  for (int i = 0; i < n; i++) {
    line.direction[i] = djv_uniform(random, -1, 1);
    square += line.direction[i] * line.direction[i];
  }
  for (int i = 0; i < n; i++) {
    line.direction[i] /= sqrt(square);
    analytic += gradient[i] * line.direction[i];
  }
  djdCertificate c;
  if (djd_check(&c, run->result.loss, analytic, 0.1 * sqrt(n), lossAlong, &line) < 0) {
    djv_fail("%s: the check was refused", run->scene->name);
  }
  free(line.direction);
  free(line.moved);
  return c;
}

// What the run goes through: steps in contact, and how fast contacts slide.
static void describe(Run* run, double eps) {
  djModel* m = run->model;
  djData* d = run->data;
  dj_resetData(m, d);
  memcpy(d->qpos, run->qpos, (size_t)m->nq * sizeof(double));
  memcpy(d->qvel, run->qvel, (size_t)m->nv * sizeof(double));
  int touching = 0, rubbing = 0;
  double demand = 0;
  for (int k = 0; k < run->scene->horizon; k++) {
    memcpy(d->ctrl, run->ctrl + k * m->nu, (size_t)m->nu * sizeof(double));
    dj_step(m, d);
    bool rubs = false, touches = false;
    for (int i = 0; i < d->npair; i++) {
      const djContactPair* p = &d->pair[i];
      const double* n = p->normal;
      double along = p->force[0] * n[0] + p->force[1] * n[1] + p->force[2] * n[2], square = 0;
      for (int c = 0; c < 3; c++) square += pow(p->force[c] - along * n[c], 2);
      touches = touches || p->normal_force > 0.01;
      rubs = rubs || sqrt(square) > 0.01;
      if (p->normal_force > 0.1) demand = djv_worst(demand, sqrt(square) / (0.5 * p->normal_force));
    }
    touching += touches;
    rubbing += rubs;
  }
  djv_note("%s, sqrt(eps) %g m/s: %d steps of %g ms, %d in contact, %d with friction (up to "
           "%.3g of 0.5 N), %ld recovering, %ld unconverged", run->scene->name, sqrt(eps),
           run->scene->horizon, 1e3 * m->opt.timestep, touching, rubbing, demand,
           d->stats.recovering_steps, d->stats.unconverged_steps);
  if (rubbing < run->scene->least) djv_fail("%s: too little friction", run->scene->name);
}

// must: a failure is a miss.
static void testScene(djvReport* r, const Scene* scene, double eps, bool settle, int seeds,
                      bool must) {
  static const char* const variable[] = {"ctrl", "qpos0", "qvel0"};
  Run run;
  djvRandom random = djv_random(5);
  openRun(&run, scene, eps, settle);
  describe(&run, eps);
  djStatus status = djd_rolloutForward(&run.result, run.model, run.data, &run.rollout, run.tape);
  if (status >= 0) {
    djStatus back = djd_rolloutBackward(&run.result, run.model, run.data, &run.rollout, run.tape);
    if (back != DJ_OK) status = back;
  }
  djv_note("%s: loss %.6g, status %d, %d unconverged, residual %.2g, condition %.2g", scene->name,
           run.result.loss, (int)status, run.result.unconverged_steps, run.result.worst_residual,
           run.result.worst_condition);
  robot_count(r, status != DJ_OK, 0, "%s: rollout fails", scene->name);
  for (int which = 0; which < 3 && status >= 0; which++) {
    double worst = 0;
    int failed = 0;
    for (int k = 0; k < seeds; k++) {
      djdCertificate c = certify(&run, which, &random);
      worst = djv_worst(worst, c.relative_error);
      failed += !c.passed;
      djv_note("%s: analytic %.10g, difference %.10g (+- %.1g), relative %.2g, slope %.4f%s",
               variable[which], c.analytic, c.difference, c.difference_error, c.relative_error,
               c.has_slope ? c.slope : NAN, c.passed ? "" : "   NOT PASSED");
    }
    if (must) {
      robot_countOf(r, failed, 0, seeds, "%s: %s: failed", scene->name, variable[which]);
      djv_figure(r, "error", worst, "");
    } else {
      djv_note("%s: %d of %d pass; worst error %.3g", variable[which], seeds - failed, seeds,
               worst);
    }
  }
  closeRun(&run);
}

// ---- robots: short runs from states of stock MuJoCo's runs, most of which overlap ---------------

typedef struct Tally {
  int runs, failed, unconverged, recovering, directions, wrong, slopes;
  double worst;            // relative error of directions that are not wrong
} Tally;

static void openRobot(Run* run, Scene* scene, const char* name, mjModel* m) {
  djError err;
  *run = (Run){.scene = scene, .model = robot_import(m, &err)};
  if (!run->model) djv_fail("%s: %s", name, err.text);
  djModel* model = run->model;
  djOption option = model->opt;
  option.timestep = 2e-3;
  option.stiffness_scale = 1e-5;
  if (dj_setOption(model, &option, &err) < 0 ||
      djd_makeTape(&run->tape, model, scene->horizon, &err) < 0) {
    djv_fail("%s: %s", name, err.text);
  }
  run->data = robot_makeData(model);
  allocate(run);
}

static void certifyState(Tally* t, Run* run, djvRandom* random) {
  const djModel* m = run->model;
  dj_resetData(m, run->data);
  djStatus status = djd_rolloutForward(&run->result, m, run->data, &run->rollout, run->tape);
  t->recovering += run->data->stats.recovering_steps > 0;
  t->unconverged += run->result.unconverged_steps > 0;
  if (status >= 0) {
    djStatus back = djd_rolloutBackward(&run->result, m, run->data, &run->rollout, run->tape);
    if (back != DJ_OK) status = back;
  }
  t->runs++;
  t->failed += status != DJ_OK;
  for (int which = 0; which < 3 && status == DJ_OK; which++) {
    djdCertificate c = certify(run, which, random);
    bool wrong = !(c.relative_error <= 1e-6);
    t->directions++;
    t->wrong += wrong;
    t->slopes += !wrong && !c.passed;
    if (!wrong) t->worst = djv_worst(t->worst, c.relative_error);
    if (wrong && t->wrong < 6) {
      djv_note("variable %d: analytic %.10g, difference %.10g (+- %.1g), relative %.2g, %ld "
               "recovering", which, c.analytic, c.difference, c.difference_error, c.relative_error,
               run->data->stats.recovering_steps);
    }
  }
}

static void testRobot(djvReport* r, const char* name, int states) {
  mjModel* m = robot_load(name);
  m->opt.timestep = 2e-3;
  m->opt.integrator = mjINT_EULER;
  mjData* d = mj_makeData(m);
  Scene scene = {.name = name, .horizon = 5};
  Run run;
  openRobot(&run, &scene, name, m);
  djvRandom random = djv_random(9);
  Tally t = {0};
  for (int k = 0; k < 25 * states; k++) {
    if (k % 2500 == 0) mj_resetData(m, d);
    if (k % 10 == 0) robot_randomCtrl(d->ctrl, m, &random, 1);
    mj_step(m, d);
    if (k % 25 != 24) continue;
    mju_copy(run.qpos, d->qpos, (int)m->nq);
    mju_copy(run.qvel, d->qvel, (int)m->nv);
    for (int i = 0; i < scene.horizon; i++) mju_copy(run.ctrl + i * m->nu, d->ctrl, (int)m->nu);
    certifyState(&t, &run, &random);
  }
  djv_note("%s: %d runs of %d steps, %d recovering, %d unconverged; largest error of the others "
           "%.2g, %d fail by their slope only", name, t.runs, scene.horizon, t.recovering,
           t.unconverged, t.worst, t.slopes);
  robot_countOf(r, t.failed, 0, t.runs, "%s: runs that fail", name);
  robot_countOf(r, t.wrong, 0, t.directions, "%s: error above 1e-6", name);
  djv_figure(r, "error", t.worst, "");
  closeRun(&run);
  mj_deleteData(d);
  mj_deleteModel(m);
}

int main(int argc, char** argv) {
  bool quick = djv_isQuick(argc, argv);
  djvReport report = {0}, *r = &report;
  int seeds = quick ? 1 : 4;
  djv_title("Certificates at sqrt(eps) = 1e-2 m/s");
  for (int k = 0; k < NSCENES; k++) testScene(r, &scenes[k], 1e-4, true, seeds, true);
  djv_title("Stiff friction, sqrt(eps) = 1e-5 m/s: reported, no target");
  for (int k = 0; k < NSCENES; k++) testScene(r, &scenes[k], 1e-10, true, seeds, false);
  djv_title("Starts exactly where the barrier begins: reported, no target");
  testScene(r, &scenes[0], 1e-4, false, seeds, false);
  testScene(r, &scenes[1], 1e-4, false, seeds, false);
  if (!robot_folder()) return djv_finishWithout(r, "gymnasium's robots");
  djv_title("Robots: runs of 5 steps of 2 ms from states of stock MuJoCo's runs");
  static const char* const robots[] = {"hopper", "ant", "half_cheetah", "humanoid"};
  for (int k = 0; k < 4; k++) testRobot(r, robots[k], quick ? 10 : 100);
  return djv_finish(r);
}
