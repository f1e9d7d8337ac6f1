// Runs of the results of models/codesign, looked at from outside.
//
// Overlap: at every step of our run MuJoCo, with the scene that was written, gives the distance of
// every two geoms that may touch (mj_geomDistance; of a plane by vertices and support points). None
// is below zero from the third step on; where a design grew into the ground its start may be.
//
// Robustness: what a result comes to when it starts 1 cm beside, or has friction 10% lower or
// higher: of grippers the object is moved, of walkers the robot, of the chain its base; along x and
// y on the ground. Printed beside the nominal result, with the part of it that the worst has.
//   --results DIR: folder of results DIR/NAME_task; --only NAME; --quick: two of them, after two
//   iterations

#include "common/codesign.h"
#include "common/robots.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- overlap -----------------------------------------------------------------------------------

typedef struct Pairs {
  int n;
  int (*geom)[2];
} Pairs;

static Pairs pairsOf(const mjModel* m) {
  Pairs p = {0, djv_take((size_t)(m->ngeom * m->ngeom), sizeof *p.geom)};
  for (int i = 0; i < m->ngeom; i++) {
    for (int j = i + 1; j < m->ngeom; j++) {
      if (!djm_canCollide(m, i, j)) continue;
      p.geom[p.n][0] = m->geom_type[j] == mjGEOM_PLANE ? j : i;
      p.geom[p.n++][1] = m->geom_type[j] == mjGEOM_PLANE ? i : j;
    }
  }
  return p;
}

// The lowest point of a geom along a unit direction of the world, from its centre.
static double reach(const mjModel* m, const mjData* d, int g, const double normal[3]) {
  const double *size = m->geom_size + 3 * g, *R = d->geom_xmat + 9 * g;
  double n[3], low = 0;
  mju_mulMatTVec3(n, R, normal);
  switch (m->geom_type[g]) {
    case mjGEOM_SPHERE:
      return -size[0];
    case mjGEOM_CAPSULE:
      return -size[0] - size[1] * fabs(n[2]);
    case mjGEOM_CYLINDER:
      return -size[0] * hypot(n[0], n[1]) - size[1] * fabs(n[2]);
    case mjGEOM_ELLIPSOID:
      return -sqrt(pow(size[0] * n[0], 2) + pow(size[1] * n[1], 2) + pow(size[2] * n[2], 2));
    case mjGEOM_BOX:
      return -size[0] * fabs(n[0]) - size[1] * fabs(n[1]) - size[2] * fabs(n[2]);
    default:
      break;
  }
  int mesh = m->geom_dataid[g];
  low = INFINITY;
  for (int k = 0; k < m->mesh_vertnum[mesh]; k++) {
    const float* v = m->mesh_vert + 3 * (m->mesh_vertadr[mesh] + k);
    low = fmin(low, v[0] * n[0] + v[1] * n[1] + v[2] * n[2]);
  }
  return low;
}

static double gapOf(const mjModel* m, mjData* d, int a, int b, double limit) {
  double apart[3], normal[3], fromto[6];
  mju_sub3(apart, d->geom_xpos + 3 * b, d->geom_xpos + 3 * a);
  if (m->geom_type[a] != mjGEOM_PLANE) {
    if (mju_norm3(apart) - m->geom_rbound[a] - m->geom_rbound[b] > limit) return INFINITY;
    return mj_geomDistance(m, d, a, b, limit, fromto);
  }
  for (int k = 0; k < 3; k++) normal[k] = d->geom_xmat[9 * a + 3 * k + 2];
  double height = mju_dot3(apart, normal);
  return height - m->geom_rbound[b] > limit ? INFINITY : height + reach(m, d, b, normal);
}

enum { OUT = 3 }; // steps in which what reached into the ground comes out

static void overlap(djvReport* r, const char* name, const CdWritten* w, const double* qpos, int n) {
  mjModel* m = w->m;
  mjData* d = mj_makeData(m);
  Pairs p = pairsOf(m);
  double least = INFINITY, first = INFINITY;
  long looked = 0, over = 0;
  int at = 0, pair = 0, nq = (int)m->nq;
  for (int k = 0; k <= n; k++) {
    mju_copy(d->qpos, qpos + (size_t)k * (size_t)nq, nq);
    mj_kinematics(m, d);
    for (int i = 0; i < p.n; i++) {
      double gap = gapOf(m, d, p.geom[i][0], p.geom[i][1], 0.01);
      looked += gap < INFINITY;
      if (k == 0) first = fmin(first, gap);
      if (k < OUT) continue;
      over += gap < 0;
      if (gap < least) least = gap, at = k, pair = i;
    }
  }
  djv_note("%s: %d pairs, %ld distances below 1 cm; at the start least %.3g m, then %.3g m "
           "(%s, %s, step %d)",
           name, p.n, looked, first, least, mj_id2name(m, mjOBJ_GEOM, p.geom[pair][0]),
           mj_id2name(m, mjOBJ_GEOM, p.geom[pair][1]), at);
  robot_count(r, over, 0, "%s: geoms that overlap", name);
  if (least < INFINITY) djv_figure(r, "least distance", least, "m");
  free(p.geom);
  mj_deleteData(d);
}

// ---- robustness --------------------------------------------------------------------------------

typedef struct Change {
  const char* name;
  double shift[2], friction; // m along x and y on the ground; factor
} Change;
static const Change CHANGES[] = {{"nominal", {0, 0}, 1},         {"x + 1 cm", {0.01, 0}, 1},
                                 {"x - 1 cm", {-0.01, 0}, 1},    {"y + 1 cm", {0, 0.01}, 1},
                                 {"y - 1 cm", {0, -0.01}, 1},    {"friction - 10%", {0, 0}, 0.9},
                                 {"friction + 10%", {0, 0}, 1.1}};
enum { NCHANGE = sizeof CHANGES / sizeof CHANGES[0] };

// Moves the start of the body that a task is about, or of the first joint.
static void shift(djProblem* p, const mjModel* m, const CdAim* aim, const double by[2]) {
  int body = aim->holder ? mj_name2id(m, mjOBJ_BODY, aim->body) : m->jnt_bodyid[0];
  int joint = m->body_jntadr[body], plane = -1;
  double normal[3] = {0, 0, 1}, axis[3] = {0, 0, 1}, along[2][3] = {{1, 0, 0}, {0, 1, 0}};
  for (int g = (int)m->ngeom - 1; g >= 0; g--) {
    if (m->geom_type[g] == mjGEOM_PLANE && m->geom_bodyid[g] == 0) plane = g;
  }
  if (plane >= 0) mju_rotVecQuat(normal, axis, m->geom_quat + 4 * plane);
  double* q = p->qpos0 + m->jnt_qposadr[joint];
  for (int k = 0; k < 2; k++) {
    mju_addToScl3(along[k], normal, -mju_dot3(along[k], normal));
    mju_normalize3(along[k]);
    if (m->jnt_type[joint] == mjJNT_FREE) mju_addToScl3(q, along[k], by[k]);
  }
  if (m->jnt_type[joint] != mjJNT_FREE) q[0] += by[0];
}

static double runChanged(CdTrack* t, const djTask* task, const CdWritten* w, const CdAim* aim,
                         const Change* c, int* unsolved) {
  CdScene s;
  djError err = {""};
  cd_open(&s, task);
  shift(s.problem, w->m, aim, c->shift);
  djd_deleteDesign(s.design);
  if (djd_makeDesign(&s.design, s.model, s.problem, &err) < 0) djv_fail("%s", err.text);
  cd_scaleOurs(s.design->model, c->friction);
  double loss = cd_trackRun(t, unsolved, &s, aim, w->m);
  cd_close(&s);
  return loss;
}

// A gripper's object, raised by what part of the gripper's way; a walker's distance.
static void robust(djvReport* r, const char* name, const djTask* task, const CdWritten* w) {
  CdAim aim = cd_aim(task);
  double nominal = 0, worst = INFINITY;
  int unsolved, all = 0;
  djv_note("%-18s %12s %12s %12s %8s", name, aim.holder ? "raised, m" : "nearer, m",
           aim.holder ? "gripper, m" : "height, m", "loss", "tilt");
  for (int k = 0; k < NCHANGE; k++) {
    CdTrack t;
    if (CHANGES[k].shift[1] != 0 && !aim.holder && w->m->jnt_type[0] != mjJNT_FREE) continue;
    double loss = runChanged(&t, task, w, &aim, &CHANGES[k], &unsolved);
    double got = aim.holder ? t.height[t.n] - t.height[aim.from] : t.distance[t.n];
    if (k == 0) nominal = got;
    worst = fmin(worst, got);
    all += unsolved;
    djv_note("  %-16s %12.4f %12.4f %12.5g %8.3f", CHANGES[k].name, got,
             aim.holder ? t.holder[t.n] : t.height[t.n], loss, cd_extremes(t.tilt, t.n).high);
    cd_freeTrack(&t);
  }
  djv_note("  the worst has %.0f%% of the nominal; unsolved steps: %d", 100 * worst / nominal, all);
  robot_countOf(r, all, NCHANGE * task->horizon / 100, NCHANGE * task->horizon,
                "%s: unsolved steps", name);
}

int main(int argc, char** argv) {
  const char* results = cd_takeResults(&argc, argv);
  const char* only = djv_takeText(&argc, argv, "--only");
  bool quick = djv_isQuick(argc, argv);
  djvReport report = {0};
  char folder[400], path[500], name[100];
  djv_title("Overlap by MuJoCo's distances, and robustness");
  for (int k = 0; k < (quick ? 2 : CD_NTASK); k++) {
    if (only && strcmp(only, cd_names[k]) != 0) continue;
    cd_result(folder, results, cd_names[k], quick ? "mj_codesign_runs" : NULL);
    snprintf(path, sizeof path, "%s/task.json", folder);
    djTask* task = cd_load(path);
    for (int s = 0; s < dj_taskScenes(task); s++) {
      const djTask* scene = dj_taskOfScene(task, s);
      if (!cd_isWhole(scene, task)) continue;
      CdWritten w;
      CdScene run;
      int unsolved;
      snprintf(name, sizeof name, "%s%s%s", cd_names[k], *scene->name ? " " : "", scene->name);
      cd_openWritten(&w, folder, scene);
      cd_open(&run, scene);
      double* qpos = cd_run(&unsolved, &run, NULL);
      overlap(&report, name, &w, qpos, run.design->rollout.horizon);
      robust(&report, name, scene, &w);
      free(qpos);
      cd_close(&run);
      cd_closeWritten(&w);
    }
    dj_deleteTask(task);
  }
  return djv_finish(&report);
}
