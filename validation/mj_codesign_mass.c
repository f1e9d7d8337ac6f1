// Mass at the vertices of hulls against exact mass (SDRS Fig. 21): the spider and the biped walk
// under the same controls, their designed links once with the mass of their volume, once with the
// same mass in equal parts at the hulls' vertices (eq. 4), once with overlaps counted once.
//
// The paper has all links lumped, and 5.063 m against 5.053 m (0.19%), 7.666 m against 7.762 m
// (1.23%); here the other links have geoms without vertices. Distances are positive.
// Each at the start of its task and at its result, in each of the task's scenes.
//   --results DIR: folder of results DIR/NAME_task; --walks: nothing is optimised;
//   --quick: starts alone

#include "common/codesign.h"
#include "common/robots.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 10, NRULE = 3 };
static const djInertiaRule rules[NRULE] = {DJ_INERTIA_EXACT, DJ_INERTIA_LUMPED, DJ_INERTIA_UNION};

// What the paper has, and how far distances may differ, %: at the task's start, at its result, and
// of results that were optimised by each.
typedef struct Robot {
  const char* name;
  double printed, start, result, optimised;
} Robot;
enum { NROBOT = 2 };
static const Robot robots[NROBOT] = {{"spider", 0.19, 1, 10, 10}, {"biped", 1.23, 60, 10, 0}};

typedef struct Walk {
  int nstep, unsolved;
  double mass;
  double* path; // (nstep + 1) distance gone by the centre of mass, m
} Walk;

// The design's own run, step by step.
static void record(Walk* w, djDesign* d) {
  const djModel* m = d->model;
  const djRollout* r = &d->rollout;
  size_t nu = (size_t)m->nu;
  djData* data = robot_makeData(m);
  double start[3], now[3];
  memcpy(data->qpos, r->qpos0, (size_t)m->nq * sizeof(double));
  memcpy(data->qvel, r->qvel0, (size_t)m->nv * sizeof(double));
  *w = (Walk){.nstep = r->horizon,
              .mass = m->total_mass,
              .path = djv_take((size_t)r->horizon, sizeof(double))};
  dj_forward(m, data);
  cd_centre(start, m, data);
  for (int k = 0; k < w->nstep; k++) {
    memcpy(data->ctrl, r->ctrl + (size_t)k * nu, nu * sizeof(double));
    w->unsolved += dj_step(m, data) != DJ_OK;
    dj_forward(m, data);
    cd_centre(now, m, data);
    w->path[k + 1] = hypot(hypot(now[0] - start[0], now[1] - start[1]), now[2] - start[2]);
  }
  dj_deleteData(data);
}

// The same moments by mass, with these masses: at a vertex it is the start's that is shared out.
static void scaleMasses(djModel* m, const double* mass) {
  for (int b = 1; b < m->nbody; b++) {
    char name[2][40];
    djParam p;
    djError err = {""};
    double inertia[3], part = mass[b] / m->body_mass[b];
    if (!(m->body_mass[b] > 0) || part == 1) continue;
    snprintf(name[0], sizeof name[0], "body/#%d/mass", b);
    snprintf(name[1], sizeof name[1], "body/#%d/inertia", b);
    for (int k = 0; k < 3; k++) inertia[k] = part * m->body_inertia[3 * b + k];
    if (dj_paramId(&p, m, name[0], &err) < 0 || dj_setParam(m, &p, mass + b, &err) < 0 ||
        dj_paramId(&p, m, name[1], &err) < 0 || dj_setParam(m, &p, inertia, &err) < 0) {
      djv_fail("%s: %s", name[0], err.text);
    }
  }
}

static void walk(Walk* w, const djTask* task, djInertiaRule rule) {
  djTask changed = *task;
  CdScene s;
  cd_open(&s, task);
  double* mass = djv_take((size_t)s.model->nbody, sizeof *mass);
  memcpy(mass, s.design->model->body_mass, (size_t)s.model->nbody * sizeof *mass);
  cd_close(&s);
  changed.inertia_from_geom = rule;
  cd_open(&s, &changed);
  if (rule == DJ_INERTIA_LUMPED) scaleMasses(s.design->model, mass);
  record(w, s.design);
  free(mass);
  cd_close(&s);
}

// One scene of a task.
static void compare(djvReport* r, const char* robot, const char* point, const djTask* scene,
                    double printed, double limit) {
  Walk w[NRULE];
  char what[100], name[60];
  snprintf(name, sizeof name, "%s%s%.20s, %s", robot, *scene->name ? " " : "", scene->name, point);
  djv_title("%s: distance of the centre of mass from the start, m", name);
  for (int k = 0; k < NRULE; k++) walk(&w[k], scene, rules[k]);
  int n = w[0].nstep;
  djv_note("%8s %10s %10s %10s", "step", "exact", "lumped", "union");
  for (int i = 0; i <= SHOWN; i++) {
    int k = (int)((long)n * i / SHOWN);
    djv_note("%8d %10.4f %10.4f %10.4f", k, w[0].path[k], w[1].path[k], w[2].path[k]);
  }
  double far = w[0].path[n], apart = 0;
  for (int k = 0; k <= n; k++) apart = djv_worst(apart, fabs(w[1].path[k] - w[0].path[k]));
  djv_note("total mass %.6g, %.6g and %.6g kg", w[0].mass, w[1].mass, w[2].mass);
  robot_count(r, w[0].unsolved + w[1].unsolved + w[2].unsolved, 0, "%s: unsolved steps", name);
  robot_below(r, fabs(w[1].mass / w[0].mass - 1), 1e-6, "", "%s: total mass differs", name);
  robot_below(r, 100 * fabs(w[1].path[n] / far - 1), limit, "%",
              "%s: distance differs (paper %g%%)", name, printed);
  snprintf(what, sizeof what, "%s: largest difference", name);
  djv_figure(r, what, apart, "m");
  for (int k = 0; k < NRULE; k++) free(w[k].path);
}

static void compareAll(djvReport* r, const Robot* b, const char* point, const char* path,
                       double limit) {
  djTask* task = cd_load(path);
  for (int k = 0; k < dj_taskScenes(task); k++) {
    const djTask* scene = dj_taskOfScene(task, k);
    if (!cd_isWhole(scene, task)) continue;
    compare(r, b->name, point, scene, b->printed, limit);
  }
  dj_deleteTask(task);
}

// The task optimised once by each rule, each with the distance that it then goes by its own.
static void optimise(djvReport* r, const Robot* b, const char* path) {
  static const djInertiaRule rule[2] = {DJ_INERTIA_EXACT, DJ_INERTIA_LUMPED};
  double far[2];
  djv_title("%s, optimised by each", b->name);
  for (int k = 0; k < 2; k++) {
    djError err = {""};
    djOptimizeResult result;
    djTask* task = cd_load(path);
    CdScene s;
    Walk w;
    task->inertia_from_geom = rule[k];
    cd_open(&s, task);
    double* x = djv_take((size_t)s.design->n, sizeof *x);
    memcpy(x, s.design->x0, (size_t)s.design->n * sizeof *x);
    if (djd_optimizeDesign(&result, x, s.design, &task->optimizer, 1, NULL, NULL, &err) < 0 ||
        djd_moveDesign(s.design, x) < 0) {
      djv_fail("%s: %s", path, err.text);
    }
    record(&w, s.design);
    far[k] = w.path[w.nstep];
    djv_note("%-8s loss %.5f, distance %.4f m", dj_inertiaRuleName(rule[k]), result.loss, far[k]);
    free(w.path);
    free(x);
    cd_close(&s);
    dj_deleteTask(task);
  }
  robot_below(r, 100 * fabs(far[1] / far[0] - 1), b->optimised, "%",
              "%s: distance of results differs (paper %g%%)", b->name, b->printed);
}

int main(int argc, char** argv) {
  const char* results = cd_takeResults(&argc, argv);
  bool walks = argc > 1 && strcmp(argv[argc - 1], "--walks") == 0;
  bool quick = djv_isQuick(argc - walks, argv);
  djvReport report = {0};
  char path[500], folder[400];
  for (int k = 0; k < NROBOT; k++) {
    const Robot* b = &robots[k];
    cd_taskPath(folder, b->name);
    compareAll(&report, b, "start", folder, b->start);
    if (quick) continue;
    cd_result(folder, results, b->name, NULL);
    snprintf(path, sizeof path, "%s/task.json", folder);
    compareAll(&report, b, "result", path, b->result);
    cd_taskPath(path, b->name);
    if (b->optimised > 0 && !walks) optimise(&report, b, path);
  }
  return djv_finish(&report);
}
