#include "common/codesign.h"

#ifdef DJ_HAVE_MUJOCO

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char* const cd_names[CD_NTASK] = {"chain_reach", "spider",       "biped",
                                        "single_jaw",  "parallel_jaw", "three_finger"};

const char* cd_takeResults(int* argc, char** argv) { return djv_takeText(argc, argv, "--results"); }

void cd_taskPath(char path[400], const char* name) {
  snprintf(path, 400, "%s/models/codesign/%s/task.json", DIJOCO_SOURCE_DIR, name);
}

// Whether the result in a folder is there and no older than its task.
static bool isResult(const char* folder, const char* task) {
  char path[500];
  struct stat result, source;
  snprintf(path, sizeof path, "%s/final.json", folder);
  if (stat(path, &result) != 0) return false;
  return !task || (stat(task, &source) == 0 && source.st_mtime <= result.st_mtime);
}

void cd_result(char folder[400], const char* results, const char* name, const char* quick) {
  char task[400], command[1500];
  if (results) {
    snprintf(folder, 400, "%s/%s_task", results, name);
    if (!isResult(folder, NULL)) djv_fail("%s: no result of `dijoco optimize`", folder);
    return;
  }
  const char* build = DIJOCO_BUILD_DIR;
  cd_taskPath(task, name);
  if (quick)
    snprintf(folder, 400, "%s/validate/%s/%s_task", build, quick, name);
  else
    snprintf(folder, 400, "%s/codesign/%s_task", build, name);
  if (isResult(folder, task)) return;
  djv_note("dijoco optimize models/codesign/%s/task.json ...", name);
  snprintf(command, sizeof command,
           "mkdir -p '%s' && '%s/bin/dijoco' optimize '%s' %s --out '%s' >'%s/optimize.log' 2>&1",
           folder, build, task, quick ? "--iterations 2" : "", folder, folder);
  (void)!system(command); // 1: a step of the result is unsolved
  if (!isResult(folder, task)) djv_fail("%s: `dijoco optimize` fails, see optimize.log", folder);
}

// ---- opening -----------------------------------------------------------------------------------

djTask* cd_load(const char* path) {
  djTask* task;
  djError err = {""};
  if (dj_loadTask(&task, path, &err) < 0) djv_fail("%s: %s", path, err.text);
  return task;
}

bool cd_isWhole(const djTask* scene, const djTask* task) {
  return scene->horizon >= task->horizon;
}

void cd_open(CdScene* s, const djTask* task) {
  djError err = {""};
  *s = (CdScene){0};
  djStatus status = dj_loadMJCF(&s->model, NULL, NULL, task->scene, &err);
  if (status == DJ_OK) status = dj_applyTask(s->model, task, &err);
  if (status == DJ_OK) status = dj_resolveTask(&s->problem, task, s->model, &err);
  if (status == DJ_OK) status = djd_makeDesign(&s->design, s->model, s->problem, &err);
  if (status < 0) djv_fail("%s: %s", task->path, err.text);
}

void cd_close(CdScene* s) {
  djd_deleteDesign(s->design);
  dj_deleteProblem(s->problem);
  dj_deleteModel(s->model);
}

CdAim cd_aim(const djTask* task) {
  CdAim aim = {0};
  for (int i = 0; i < task->nloss; i++) {
    const djTaskLoss* l = &task->loss[i];
    if (l->term.type == DJ_LOSS_RELATIVE) {
      aim = (CdAim){.body = l->name, .holder = l->name2, .from = l->term.from};
    } else if (i == 0) {
      if (l->object == DJ_OBJ_SITE)
        aim.site = l->name;
      else
        aim.body = l->name;
      memcpy(aim.mark, l->term.target, sizeof aim.mark);
    }
  }
  return aim;
}

// ---- tracks ------------------------------------------------------------------------------------

void cd_newTrack(CdTrack* t, int n) {
  double** all[] = {&t->distance, &t->height, &t->holder, &t->tilt, &t->low};
  t->n = n;
  for (int k = 0; k < 5; k++) *all[k] = djv_take((size_t)n + 1, sizeof(double));
}

void cd_freeTrack(CdTrack* t) {
  double* all[] = {t->distance, t->height, t->holder, t->tilt, t->low};
  for (int k = 0; k < 5; k++) free(all[k]);
  *t = (CdTrack){0};
}

// Tilt of the first free body since the start, and its height over the plane below it.
static void trunk(double* tilt, double* height, const mjModel* m, const mjData* d) {
  int body = 0, plane = -1;
  for (int j = (int)m->njnt - 1; j >= 0; j--) {
    if (m->jnt_type[j] == mjJNT_FREE) body = m->jnt_bodyid[j];
  }
  for (int g = (int)m->ngeom - 1; g >= 0; g--) {
    if (m->geom_type[g] == mjGEOM_PLANE) plane = g;
  }
  *tilt = *height = 0;
  if (body == 0 || plane < 0) return;
  double axis[3], R[9], normal[3], from[3];
  mju_quat2Mat(R, m->body_quat + 4 * body);
  for (int k = 0; k < 3; k++) {
    axis[k] = 0;
    for (int i = 0; i < 3; i++) axis[k] += d->xmat[9 * body + 3 * k + i] * R[6 + i];
    normal[k] = d->geom_xmat[9 * plane + 3 * k + 2];
  }
  // The body's own axis that was vertical in the reference.
  *tilt = acos(fmax(-1, fmin(1, axis[2])));
  mju_sub3(from, d->xpos + 3 * body, d->geom_xpos + 3 * plane);
  *height = mju_dot3(from, normal);
}

void cd_addTrack(CdTrack* t, int k, const CdAim* aim, const mjModel* m, const mjData* d) {
  int site = aim->site ? mj_name2id(m, mjOBJ_SITE, aim->site) : -1;
  int body = aim->body ? mj_name2id(m, mjOBJ_BODY, aim->body) : 0;
  const double* p = site >= 0 ? d->site_xpos + 3 * site : d->subtree_com + 3 * body;
  if (aim->holder) {
    t->distance[k] = hypot(p[0], p[1]);
    t->holder[k] = d->subtree_com[3 * mj_name2id(m, mjOBJ_BODY, aim->holder) + 2];
  } else {
    t->distance[k] = -mju_dist3(p, aim->mark);
  }
  t->height[k] = p[2];
  trunk(&t->tilt[k], &t->low[k], m, d);
  if (k < t->n) return;
  double first[3] = {t->distance[0], t->height[0], t->low[0]}, held = t->holder[aim->from];
  for (int i = 0; i <= t->n; i++) {
    t->distance[i] -= first[0];
    t->height[i] -= first[1];
    t->holder[i] -= held;
    if (first[2] > 0) t->low[i] /= first[2];
  }
}

CdExtremes cd_extremes(const double* x, int n) {
  CdExtremes e = {x[0], x[0]};
  for (int k = 1; k <= n; k++) e = (CdExtremes){fmin(e.low, x[k]), fmax(e.high, x[k])};
  return e;
}

double cd_range(const double* x, int n) {
  CdExtremes e = cd_extremes(x, n);
  return e.high - e.low;
}

double* cd_run(int* unsolved, CdScene* s, double* loss) {
  djDesign* d = s->design;
  int n = d->rollout.horizon;
  double value, *qpos = djv_take((size_t)((n + 1) * d->model->nq), sizeof *qpos);
  if (djd_forwardDesign(&value, d, d->x0, false) < 0 ||
      djd_tapeStates(qpos, NULL, NULL, d->model, d->tape) < 0) {
    djv_fail("a run fails: %s", d->error.text);
  }
  *unsolved = d->result.unconverged_steps;
  if (loss) *loss = value;
  return qpos;
}

double cd_trackRun(CdTrack* t, int* unsolved, CdScene* s, const CdAim* aim, const mjModel* m) {
  double loss, *qpos = cd_run(unsolved, s, &loss);
  mjData* d = mj_makeData(m);
  int n = s->design->rollout.horizon, nq = (int)m->nq;
  cd_newTrack(t, n);
  for (int k = 0; k <= n; k++) {
    mju_copy(d->qpos, qpos + (size_t)k * (size_t)nq, nq);
    mj_kinematics(m, d);
    mj_comPos(m, d);
    cd_addTrack(t, k, aim, m, d);
  }
  mj_deleteData(d);
  free(qpos);
  return loss;
}

// ---- written scenes ----------------------------------------------------------------------------

void cd_openWritten(CdWritten* w, const char* folder, const djTask* scene) {
  char path[500], error[500] = "", part[64] = "";
  djError err = {""};
  if (*scene->name) snprintf(part, sizeof part, "_%s", scene->name);
  snprintf(path, sizeof path, "%s/scene%s.xml", folder, part);
  w->m = mj_loadXML(path, NULL, error, sizeof error);
  if (!w->m) djv_fail("%s: %s", path, error);
  w->key = mj_name2id(w->m, mjOBJ_KEY, "optimized");
  if (w->key < 0) djv_fail("%s: no keyframe \"optimized\"", path);
  snprintf(path, sizeof path, "%s/ctrl%s.csv", folder, part);
  if (dj_readCtrl(&w->ctrl, &w->nrow, (int)w->m->nu, path, &err) < 0) djv_fail("%s", err.text);
}

void cd_closeWritten(CdWritten* w) {
  dj_freeNumbers(w->ctrl);
  mj_deleteModel(w->m);
}

void cd_centre(double out[3], const djModel* m, const djData* d) {
  double mass = 0;
  memset(out, 0, 3 * sizeof *out);
  for (int b = 1; b < m->nbody; b++) {
    if (m->body_dofnum[b] == 0 && m->body_parent[b] == 0) continue; // fixed to the world
    const double *q = d->xquat + 4 * b, *p = m->body_ipos + 3 * b, *x = d->xpos + 3 * b;
    double R[9], at[3];
    mju_quat2Mat(R, q);
    mju_mulMatVec3(at, R, p);
    for (int k = 0; k < 3; k++) out[k] += m->body_mass[b] * (x[k] + at[k]);
    mass += m->body_mass[b];
  }
  for (int k = 0; k < 3; k++) out[k] /= mass;
}

void cd_scaleFriction(mjModel* m, double factor) {
  for (int g = 0; g < m->ngeom; g++) m->geom_friction[3 * g] *= factor;
  for (int p = 0; p < m->npair; p++) {
    m->pair_friction[5 * p] *= factor;
    m->pair_friction[5 * p + 1] *= factor;
  }
}

void cd_scaleOurs(djModel* m, double factor) {
  djParam p[1 << 12];
  djError err = {""};
  int n = dj_matchParams(p, sizeof p / sizeof p[0], m, "geom/*/friction", &err);
  if (n < 0 || n > (int)(sizeof p / sizeof p[0])) djv_fail("friction: %s", err.text);
  for (int k = 0; k < n; k++) {
    double friction[3];
    dj_getParam(friction, m, &p[k]);
    friction[0] *= factor;
    if (dj_setParam(m, &p[k], friction, &err) < 0) djv_fail("%s", err.text);
  }
}

#endif // DJ_HAVE_MUJOCO
