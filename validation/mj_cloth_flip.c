// Flipping a cloth by its gradient (damped contact, Fig. 8 and Table I; models/damped/cloth_flip):
// two held corners go over the free ones, which are to end at two goals. Ten pairs of first paths
// and goals are drawn, each improved by the task's own lbfgsb: with damped contact, undamped, and
// with a set that varies. Results of the first also run in stock MuJoCo, open loop.
//
//   mj_cloth_flip [--quick]     of the first pair, which tells little of means

#include "common/report.h"
#include "common/scene.h"

#include <dijoco/dijoco.h>
#include <stock.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MODELS = 3, PAIRS = 10, CORNERS = 2 };
static const char* const files[MODELS] = {"task", "task_undamped", "task_without_set"};
static const char* const names[MODELS] = {"damped", "undamped", "varying set"};
static const double published[MODELS] = {0.0081, 0.0125, 0.0311};

typedef struct Scene {
  djTask* task;
  djModel* model;
  mjModel* m;
  int corner[CORNERS]; // bodies of the free ones
} Scene;

static void openScene(Scene* s, const char* file) {
  char path[500];
  djError err;
  snprintf(path, sizeof path, "%s/models/damped/cloth_flip/%s.json", DIJOCO_SOURCE_DIR, file);
  if (dj_loadTask(&s->task, path, &err) < 0 ||
      dj_loadMJCF(&s->model, NULL, &s->m, s->task->scene, &err) < 0 ||
      dj_applyTask(s->model, s->task, &err) < 0) {
    djv_fail("%s: %s", path, err.text);
  }
  if (s->task->nloss != CORNERS) djv_fail("%s: %d terms of the loss", path, s->task->nloss);
  for (int k = 0; k < CORNERS; k++) {
    s->corner[k] = mj_name2id(s->m, mjOBJ_BODY, s->task->loss[k].name);
  }
}

static void closeScene(Scene* s) {
  dj_deleteTask(s->task);
  dj_deleteModel(s->model);
  mj_deleteModel(s->m);
}

// One pair: where the goals of a task go, and what its first path is multiplied by.
typedef struct Pair {
  double shift[2], turn;     // m; rad, of both goals about the middle between them
  double along, up, side[2]; // of the path's x and z; m, of each corner's y at its end
} Pair;

static Pair drawPair(djvRandom* random) {
  double u[7];
  djv_uniforms(u, 7, random, -1, 1);
  return (Pair){.shift = {0.06 * u[0], 0.05 * u[1]},
                .turn = 0.2 * u[2],
                .along = 1 + 0.1 * u[3],
                .up = 1 + 0.2 * u[4],
                .side = {0.03 * u[5], 0.03 * u[6]}};
}

// Moves the problem's goals.
static void placeGoals(djProblem* p, const Pair* pair) {
  double middle[2];
  for (int i = 0; i < 2; i++) middle[i] = 0.5 * (p->loss[0].target[i] + p->loss[1].target[i]);
  const double c = cos(pair->turn), s = sin(pair->turn);
  for (int k = 0; k < CORNERS; k++) {
    double* goal = p->loss[k].target;
    const double x = goal[0] - middle[0], y = goal[1] - middle[1];
    goal[0] = middle[0] + pair->shift[0] + c * x - s * y;
    goal[1] = middle[1] + pair->shift[1] + s * x + c * y;
  }
}

// Of variables "held_right_x"...: their entries, knots of a path that begins at 0.
static void placePath(double* x, const djDesign* design, const Pair* pair) {
  for (int v = 0; v < design->problem->nvariable; v++) {
    const char* name = design->problem->variable[v].name;
    const char axis = name[strlen(name) - 1];
    const int n = design->adr[v + 1] - design->adr[v];
    double* knot = x + design->adr[v];
    for (int k = 0; k < n; k++) {
      if (axis == 'x') knot[k] *= pair->along;
      if (axis == 'z') knot[k] *= pair->up;
      if (axis == 'y') knot[k] += pair->side[strstr(name, "left") != NULL] * (k + 1) / n;
    }
  }
}

// How much of the cloth's area lies with its first upper side up, less what lies with it down, over
// all of it; qpos of the slides of vertices.
static double upright(const djModel* m, const mjModel* stock, const double* qpos) {
  double area = 0, all = 0;
  for (int e = 0; e < m->nflexelem; e++) {
    double x[3][3], n[3];
    for (int k = 0; k < 3; k++) {
      const int body = m->flexvert_body[m->flexelem_vert[4 * e + k]];
      const int dof = stock->body_dofadr[body];
      for (int i = 0; i < 3; i++) x[k][i] = stock->body_pos[3 * body + i] + qpos[dof + i];
    }
    for (int i = 0; i < 3; i++) x[1][i] -= x[0][i], x[2][i] -= x[0][i];
    mju_cross(n, x[1], x[2]);
    area += n[2];
    all += mju_norm3(n);
  }
  return area / all;
}

typedef struct Outcome {
  double first, last; // losses
  double apart;       // m, the larger distance of a corner from its goal
  double upright;
  int unconverged;
} Outcome;

static double cornersApart(const Scene* s, const djProblem* p, const double* qpos) {
  double most = 0;
  for (int k = 0; k < CORNERS; k++) {
    const int body = s->corner[k], dof = s->m->body_dofadr[body];
    double far[3];
    for (int i = 0; i < 3; i++) {
      far[i] = s->m->body_pos[3 * body + i] + qpos[dof + i] - p->loss[k].target[i];
    }
    most = djv_worst(most, mju_norm3(far));
  }
  return most;
}

// The same controls in stock MuJoCo.
static Outcome replay(const Scene* s, const djProblem* p, const djRollout* r) {
  djError err;
  djStock* stock;
  if (dj_makeStock(&stock, s->m, &err) < 0) djv_fail("%s", err.text);
  for (int k = 0; k < r->horizon; k++) {
    if (dj_stepStock(stock, r->ctrl + k * s->m->nu, &err) < 0) djv_fail("MuJoCo: %s", err.text);
  }
  const Outcome o = {.apart = cornersApart(s, p, stock->d->qpos),
                     .upright = upright(s->model, s->m, stock->d->qpos)};
  dj_deleteStock(stock);
  return o;
}

static Outcome improve(Outcome* in_mujoco, const Scene* s, const Pair* pair, int iterations) {
  djError err = {""};
  djProblem* problem;
  djDesign* design;
  djOptimizeResult result;
  djOptimizer how = s->task->optimizer;
  Outcome o = {0};
  if (dj_resolveTask(&problem, s->task, s->model, &err) < 0) djv_fail("%s", err.text);
  placeGoals(problem, pair);
  if (djd_makeDesign(&design, s->model, problem, &err) < 0) djv_fail("%s", err.text);
  const size_t nq = (size_t)s->m->nq, states = (size_t)s->task->horizon + 1;
  double* x = djv_take((size_t)design->n, sizeof *x);
  double* qpos = djv_take(states * nq, sizeof *qpos);
  double* qvel = djv_take(states * nq, sizeof *qvel);
  memcpy(x, design->x0, (size_t)design->n * sizeof *x);
  placePath(x, design, pair);
  how.iterations = iterations;
  if (djd_evaluateDesign(&o.first, NULL, design, x) < 0 ||
      djd_optimizeDesign(&result, x, design, &how, 1, NULL, NULL, &err) < 0 ||
      djd_evaluateDesign(&o.last, NULL, design, x) < 0 ||
      djd_tapeStates(qpos, qvel, NULL, design->model, design->tape) < 0) {
    djv_fail("%s %s", err.text, design->error.text);
  }
  const double* end = qpos + (states - 1) * nq;
  o.apart = cornersApart(s, problem, end);
  o.upright = upright(s->model, s->m, end);
  o.unconverged = design->result.unconverged_steps;
  if (in_mujoco) *in_mujoco = replay(s, problem, &design->rollout);
  free(x);
  free(qpos);
  free(qvel);
  djd_deleteDesign(design);
  dj_deleteProblem(problem);
  return o;
}

int main(int argc, char** argv) {
  djvReport r = {0};
  const bool quick = djv_isQuick(argc, argv);
  const int pairs = quick ? 1 : PAIRS;
  double sum[MODELS] = {0}, most[2] = {0}, least = INFINITY, turned[2] = {-1, -1};
  int unconverged = 0, astray = 0;
  Scene scene[MODELS];
  for (int k = 0; k < MODELS; k++) openScene(&scene[k], files[k]);
  djv_title("%d pairs of first paths and goals, %d iterations", pairs,
            scene[0].task->optimizer.iterations);
  printf("  %4s %9s", "pair", "first");
  for (int k = 0; k < MODELS; k++) printf(" %12s", names[k]);
  printf(" %10s %8s %10s %8s\n", "corners, m", "upright", "MuJoCo: m", "upright");
  djvRandom random = djv_random(42);
  for (int i = 0; i < pairs; i++) {
    const Pair pair = drawPair(&random);
    Outcome of[MODELS], stock;
    for (int k = 0; k < MODELS; k++) {
      of[k] = improve(k ? NULL : &stock, &scene[k], &pair, scene[k].task->optimizer.iterations);
      sum[k] += of[k].last / pairs;
    }
    printf("  %4d %9.5f", i, of[0].first);
    for (int k = 0; k < MODELS; k++) printf(" %12.6f", of[k].last);
    printf(" %10.4f %8.3f %10.4f %8.3f\n", of[0].apart, of[0].upright, stock.apart, stock.upright);
    fflush(stdout);
    least = fmin(least, of[0].first / of[0].last);
    most[0] = djv_worst(most[0], of[0].apart);
    most[1] = djv_worst(most[1], stock.apart);
    turned[0] = djv_worst(turned[0], of[0].upright);
    turned[1] = djv_worst(turned[1], stock.upright);
    unconverged += of[0].unconverged;
    astray += of[0].apart > 0.05;
  }
  djv_title("mean of the final losses, m^2");
  for (int k = 0; k < MODELS; k++) {
    djv_note("%-12s %.6f, published %.4f", names[k], sum[k], published[k]);
  }
  djv_above(&r, "first loss over the final one", least, 10, "");
  djv_below(&r, "damped over undamped", sum[0] / sum[1], quick ? 1 : 0.65, "");
  djv_below(&r, "damped over varying set", sum[0] / sum[2], quick ? 1 : 0.5, "");
  djv_countOf(&r, "pairs with a corner farther than 5 cm from its goal", astray, pairs / 10, pairs);
  djv_below(&r, "area upright less area upside down, over all", turned[0], 0, "");
  djv_below(&r, "the same in MuJoCo", turned[1], 0, "");
  djv_note("corners from their goals: %.3g m at most, in MuJoCo %.3g m", most[0], most[1]);
  djv_count(&r, "unconverged steps", unconverged, 0);
  for (int k = 0; k < MODELS; k++) closeScene(&scene[k]);
  return djv_finish(&r);
}
