// Scenes of flexes by damped contact beyond the paper: a rope is drawn through a ring
// (models/damped/rope_ring), grippers fold a cloth over a bar (models/damped/gripper_fold). The
// task's own lbfgsb improves the path of what is held; whether the rope is in the ring and the
// cloth lies over the bar is measured of the result, and of the same controls in stock MuJoCo, open
// loop. Gradients along random directions are compared with differences.
//
//   mj_damped_scenes [--quick]     with two fifths of the iterations

#include "common/report.h"
#include "common/scene.h"

#include <dijoco/dijoco.h>
#include <stock.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Scene {
  djTask* task;
  djModel* model;
  mjModel* m;
  djProblem* problem;
  djDesign* design;
} Scene;

static void openScene(Scene* s, const char* name) {
  char path[500];
  djError err;
  snprintf(path, sizeof path, "%s/models/damped/%s/task.json", DIJOCO_SOURCE_DIR, name);
  if (dj_loadTask(&s->task, path, &err) < 0 ||
      dj_loadMJCF(&s->model, NULL, &s->m, s->task->scene, &err) < 0 ||
      dj_applyTask(s->model, s->task, &err) < 0 ||
      dj_resolveTask(&s->problem, s->task, s->model, &err) < 0 ||
      djd_makeDesign(&s->design, s->model, s->problem, &err) < 0) {
    djv_fail("%s: %s", path, err.text);
  }
}

static void closeScene(Scene* s) {
  djd_deleteDesign(s->design);
  dj_deleteProblem(s->problem);
  dj_deleteTask(s->task);
  dj_deleteModel(s->model);
  mj_deleteModel(s->m);
}

// ------------------------------------------ what counts ----------------------------------------

static const mjtNum* placeOf(const mjModel* m, const mjData* d, const char* body) {
  return d->xpos + 3 * mj_name2id(m, mjOBJ_BODY, body);
}

static const mjtNum* vertexOf(const mjModel* m, const mjData* d, int v) {
  return d->xpos + 3 * m->flex_vertbodyid[v];
}

// The farthest of the bodies of the loss from its goal, m.
static double farthest(const Scene* s, const mjData* d) {
  double most = 0;
  for (int k = 0; k < s->task->nloss; k++) {
    const mjtNum* x = placeOf(s->m, d, s->task->loss[k].name);
    most = djv_worst(most, mju_dist3(x, s->problem->loss[k].target));
  }
  return most;
}

// Where the rope crosses the ring's plane: how far from its middle, m; infinite where it does not.
// Geoms ring0... are around (0, 0, high).
static double inRing(const Scene* s, const mjData* d) {
  const int top = mj_name2id(s->m, mjOBJ_GEOM, "ring0"),
            low = mj_name2id(s->m, mjOBJ_GEOM, "ring6");
  const double high = 0.5 * (s->m->geom_pos[3 * top + 2] + s->m->geom_pos[3 * low + 2]);
  double least = INFINITY;
  for (int v = 0; v + 1 < s->m->nflexvert; v++) {
    const mjtNum *a = vertexOf(s->m, d, v), *b = vertexOf(s->m, d, v + 1);
    if (!(a[0] * b[0] < 0)) continue;
    const double part = a[0] / (a[0] - b[0]);
    const double y = a[1] + part * (b[1] - a[1]), z = a[2] + part * (b[2] - a[2]) - high;
    least = fmin(least, hypot(y, z));
  }
  return least;
}

// How far the cloth's two halves are from lying over the bar: the highest of both edges' vertices
// above the bar's axis, or of any that is on the other's side of it, m; negative: it lies there.
static double overBar(const Scene* s, const mjData* d) {
  const int bar = mj_name2id(s->m, mjOBJ_GEOM, "bar"), n = (int)sqrt((double)s->m->nflexvert + 0.5);
  const double axis = s->m->geom_pos[3 * bar + 2];
  double most = -INFINITY;
  for (int k = 0; k < n; k++) {
    const mjtNum *held = vertexOf(s->m, d, k), *free = vertexOf(s->m, d, n * (n - 1) + k);
    most = fmax(most, fmax(held[2] - axis, free[2] - axis));
    most = fmax(most, fmax(held[0], -free[0]));
  }
  return most;
}

// ------------------------------------------ runs -----------------------------------------------

// The gradient along a direction beside differences of the best of some steps, as a part of it.
static double gradientError(djDesign* design, const double* x, djvRandom* random) {
  const size_t n = (size_t)design->n;
  const double weight[4] = {1, -8, 8, -1}, place[4] = {-2, -1, 1, 2};
  double *g = djv_take(3 * n, sizeof *g), *at = g + n, *along = at + n, slope = 0, loss[4];
  double least = INFINITY;
  djv_uniforms(along, (int)n, random, -1, 1);
  if (djd_evaluateDesign(loss, g, design, x) < 0) djv_fail("%s", design->error.text);
  for (size_t i = 0; i < n; i++) slope += g[i] * along[i];
  for (double h = 1e-5; h > 5e-8; h *= 0.1) {
    double sum = 0;
    for (int k = 0; k < 4; k++) {
      for (size_t i = 0; i < n; i++) at[i] = x[i] + place[k] * h * along[i];
      if (djd_evaluateDesign(&loss[k], NULL, design, at) < 0) djv_fail("%s", design->error.text);
      sum += weight[k] * loss[k] / (12 * h);
    }
    least = fmin(least, fabs(sum - slope) / fabs(slope));
  }
  free(g);
  return least;
}

static void run(djvReport* r, const char* name, bool quick,
                double (*measure)(const Scene* s, const mjData* d), const char* what, double most) {
  Scene s;
  djError err = {""};
  djOptimizeResult result;
  djStock* stock;
  double first, last;
  djvRandom random = djv_random(7);
  openScene(&s, name);
  djOptimizer how = s.task->optimizer;
  const size_t nq = (size_t)s.m->nq, nv = (size_t)s.m->nv, states = (size_t)s.task->horizon + 1;
  double* x = djv_take((size_t)s.design->n, sizeof *x);
  double* qpos = djv_take(states * nq, sizeof *qpos);
  double* qvel = djv_take(states * nv, sizeof *qvel);
  memcpy(x, s.design->x0, (size_t)s.design->n * sizeof *x);
  const double error = gradientError(s.design, x, &random);
  if (quick) how.iterations = how.iterations * 2 / 5;
  if (djd_evaluateDesign(&first, NULL, s.design, x) < 0 ||
      djd_optimizeDesign(&result, x, s.design, &how, 1, NULL, NULL, &err) < 0 ||
      djd_evaluateDesign(&last, NULL, s.design, x) < 0 ||
      djd_tapeStates(qpos, qvel, NULL, s.design->model, s.design->tape) < 0 ||
      dj_makeStock(&stock, s.m, &err) < 0) {
    djv_fail("%s %s", err.text, s.design->error.text);
  }
  mjData* d = mj_makeData(s.m);
  mju_copy(d->qpos, qpos + (states - 1) * nq, (int)nq);
  mj_kinematics(s.m, d);
  for (int k = 0; k < s.task->horizon; k++) {
    if (dj_stepStock(stock, s.design->rollout.ctrl + k * s.m->nu, &err) < 0) {
      djv_fail("MuJoCo: %s", err.text);
    }
  }
  mj_kinematics(s.m, stock->d);
  djv_title("%s: loss %.3g, after %d iterations %.3g m^2", name, first, how.iterations, last);
  djv_below(r, "gradient beside differences", error, 1e-6, "");
  djv_above(r, "first loss over the final one", first / last, quick ? 2 : 10, "");
  djv_below(r, "farthest from its goal", farthest(&s, d), quick ? 0.1 : 0.03, "m");
  djv_below(r, what, measure(&s, d), most, "m");
  djv_below(r, "the same in MuJoCo", measure(&s, stock->d), most, "m");
  djv_note("in MuJoCo the farthest is %.3g m from its goal", farthest(&s, stock->d));
  djv_count(r, "unconverged steps", s.design->result.unconverged_steps, 0);
  dj_deleteStock(stock);
  mj_deleteData(d);
  free(x);
  free(qpos);
  free(qvel);
  closeScene(&s);
}

int main(int argc, char** argv) {
  djvReport r = {0};
  const bool quick = djv_isQuick(argc, argv);
  run(&r, "rope_ring", quick, inRing, "the rope from the ring's middle, in its plane", 0.05);
  run(&r, "gripper_fold", quick, overBar, "edges above the bar's axis, or on one side of it", 0);
  return djv_finish(&r);
}
