// dijoco bench, implicit surfaces: energy, gradient and 12x12 Hessian of every pair of geom types,
// warm, beside MuJoCo's distance of the same geoms (without derivatives) and beside the separating
// plane; and steps of a humanoid.
//
// Geoms are turned at random and moved along the normal of their distance: for `implicit_gap` (law
// barrier) and `implicit_plane` (the same times beside separating_plane's) to a gap of 0.5 to 0.95
// of that kernel's range, for `implicit_overlap` (law hertz) until the surfaces overlap by at most
// 0.3 mm. Before each evaluation the pair was evaluated at a pose that differs by a tenth of the
// range, as between iterations. Meshes have 32 vertices, hulls N: random points on ellipsoids.
// `implicit_step` goes through states of a stock MuJoCo run as `step` does (bench_robots.c).

#include "bench.h"

#ifdef DJ_HAVE_MUJOCO

#include "bench_mujoco.h"
#include "clock.h"
#include "engine.h"
#include "inputs.h"

#include <dijoco/dijoco.h>
#include <dijoco/mujoco.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Times are those of CHUNK evaluations, divided by it.
enum { POSES = 400, CHUNK = 20, REPEATS = 5 };
enum { TYPES = 7, MESH = 5, PLANE = 6, NHULL = 3, MAX_VERT = 152 };

static const djGeomType geom_type[TYPES] = {DJ_SPHERE, DJ_CAPSULE, DJ_ELLIPSOID, DJ_CYLINDER,
                                            DJ_BOX,    DJ_MESH,    DJ_PLANE};
static const char* const type_name[TYPES] = {"sphere", "capsule", "ellipsoid", "cylinder",
                                             "box",    "mesh",    "plane"};
static const int hull_size[NHULL] = {8, 32, MAX_VERT};
static const double half_size[2][3] = {{0.1, 0.15, 0.2}, {0.12, 0.08, 0.1}};
static const double support = 6e-4; // of the plane: the default at 2 ms for geoms of this size
static const double reach = 0.02;   // of the barrier, m: beyond what corners are rounded by

enum { BARRIER, PLANES, HERTZ, NKERNEL };
enum { GAP, BESIDE, OVERLAP, NSERIES };
static const char* const series_name[NSERIES] = {"implicit_gap", "implicit_plane",
                                                 "implicit_overlap"};

// The first geom; the second stays at the origin, turned.
typedef struct Pose {
  double pos[3], quat[2][4];
} Pose;

typedef struct Bodies {
  Bench* b;
  const char* name;
  int type[2], nvert; // rows of type_name; vertices of meshes
  double vert[2][3 * MAX_VERT], placed[2][3 * MAX_VERT];
  mjModel* m;
  mjData* d;
  djcPair* pair[NKERNEL][CHUNK];
  Pose pose[2][POSES], before[2][POSES]; // with a gap, with an overlap
  Times ours[2], plane, peer[2];
  long failed[NKERNEL]; // timed evaluations without a result
  double check;         // uses every result
} Bodies;

static double uniform(unsigned long row, unsigned long column, double low, double high) {
  return low + (high - low) * djd_random(7, row, column);
}

static void unit_vector(double x[3], unsigned long row, unsigned long column) {
  double z = uniform(row, column, -1, 1), turn = uniform(row, column + 1, 0, 2 * mjPI);
  double r = sqrt(1 - z * z);
  mju_copy3(x, (double[3]){r * cos(turn), r * sin(turn), z});
}

static void make_hulls(Bodies* t) {
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < t->nvert; i++) {
      double* x = t->vert[k] + 3 * i;
      unit_vector(x, 1000000 + (unsigned long)(2 * i + k), 0);
      for (int c = 0; c < 3; c++) x[c] *= half_size[k][c];
    }
  }
}

// Shape k in its body's frame.
static djcShape local_shape(const Bodies* t, int k) {
  bool mesh = t->type[k] == MESH;
  djcShape s = {.geom = geom_type[t->type[k]], .quat = {1, 0, 0, 0}};
  if (mesh) s = (djcShape){.nvert = t->nvert, .vert = t->vert[k], .quat = {1, 0, 0, 0}};
  mju_copy3(s.size, half_size[k]);
  return s;
}

static djcShape placed_shape(Bodies* t, int k, const Pose* p) {
  djcShape s = local_shape(t, k);
  for (int i = 0; i < s.nvert; i++) {
    mju_rotVecQuat(t->placed[k] + 3 * i, t->vert[k] + 3 * i, p->quat[k]);
    if (k == 0) mju_addTo3(t->placed[k] + 3 * i, p->pos);
  }
  if (s.nvert > 0) s.vert = t->placed[k];
  if (k == 0) mju_copy3(s.pos, p->pos);
  mju_copy4(s.quat, p->quat[k]);
  return s;
}

static double evaluate(Bodies* t, djcPair* pair, const Pose* p) {
  static const double zero[3];
  double value, gradient[12], hessian[144];
  djStatus status =
      djc_evalPair(&value, gradient, hessian, pair, p->pos, p->quat[0], zero, p->quat[1]);
  bool good = status == DJ_OK && value > 0;
  t->check += value + gradient[0] + hessian[0];
  return good ? value : 0;
}

static void distance(Bodies* t, const Pose* p) {
  double fromto[6];
  for (int k = 0; k < 2; k++) { // meshes are centred when they are compiled
    double quat[4];
    mju_rotVecQuat(t->d->geom_xpos + 3 * k, t->m->geom_pos + 3 * k, p->quat[k]);
    if (k == 0) mju_addTo3(t->d->geom_xpos, p->pos);
    mju_mulQuat(quat, p->quat[k], t->m->geom_quat + 4 * k);
    mju_quat2Mat(t->d->geom_xmat + 9 * k, quat);
  }
  t->check += mj_geomDistance(t->m, t->d, 0, 1, 1, fromto);
}

// A pose with that gap; normal: from the first to the second.
static bool set_gap(Bodies* t, Pose* p, double normal[3], double gap) {
  for (int k = 0; k < 40; k++) {
    djcShape a = placed_shape(t, 0, p), b = placed_shape(t, 1, p);
    double now, point_a[3], point_b[3];
    if (djc_distance(&now, normal, point_a, point_b, &a, &b) < 0) return false;
    if (fabs(now - gap) < 1e-9) return true;
    mju_addToScl3(p->pos, normal, now - gap);
  }
  return false;
}

static bool make_pose(Bodies* t, int i, unsigned long row, double range) {
  Pose* p = &t->pose[0][i];
  double normal[3];
  for (int k = 0; k < 2; k++) {
    double axis[3];
    unit_vector(axis, row, 4 * (unsigned long)k);
    mju_axisAngle2Quat(p->quat[k], axis, uniform(row, 2 + 4 * (unsigned long)k, 0, mjPI));
  }
  unit_vector(p->pos, row, 8);
  if (t->type[1] == PLANE) {
    mju_copy4(p->quat[1], (double[4]){1, 0, 0, 0});
    mju_copy3(p->pos, (double[3]){0, 0, 1});
  }
  mju_scl3(p->pos, p->pos, 0.6);
  if (!set_gap(t, p, normal, uniform(row, 10, 0.5, 0.95) * range)) return false;
  Pose* q = &t->pose[1][i];
  *q = *p;
  for (int k = 0; k < 100; k++) {
    djc_forgetPair(t->pair[HERTZ][0]);
    if (evaluate(t, t->pair[HERTZ][0], q) > 0) return true;
    mju_addToScl3(q->pos, normal, 3e-4);
  }
  return false;
}

static bool make_poses(Bodies* t) {
  double range = 2 * support / (1 - support), move = 0.05 * range;
  unsigned long row = 0;
  for (int i = 0; i < POSES; i++, row++) {
    while (!make_pose(t, i, row, range)) {
      if (++row > 20 * POSES) return false;
    }
    for (int s = 0; s < 2; s++) {
      Pose* p = &t->before[s][i];
      *p = t->pose[s][i];
      for (int k = 0; k < 2; k++) {
        double w[3], v[3];
        for (int c = 0; c < 3; c++) {
          unsigned long column = (unsigned long)(11 + 6 * k + c);
          v[c] = move * uniform(row, column, -1, 1);
          w[c] = move * uniform(row, 3 + column, -1, 1) / 0.2;
        }
        mju_addTo3(p->pos, v);
        mju_quatIntegrate(p->quat[k], w, 1);
      }
    }
  }
  return true;
}

static void time_kernel(Bodies* t, Times* times, int kernel, int s, int first) {
  for (int i = 0; i < CHUNK; i++) {
    djc_forgetPair(t->pair[kernel][i]);
    evaluate(t, t->pair[kernel][i], &t->before[s][first + i]);
  }
  double t0 = tool_clock();
  for (int i = 0; i < CHUNK; i++) {
    t->failed[kernel] += !(evaluate(t, t->pair[kernel][i], &t->pose[s][first + i]) > 0);
  }
  times_add(times, (tool_clock() - t0) / CHUNK);
}

static void pass(Bodies* t) {
  for (int first = 0; first < POSES; first += CHUNK) {
    for (int s = 0; s < 2; s++) {
      time_kernel(t, &t->ours[s], s ? HERTZ : BARRIER, s, first);
      double t0 = tool_clock();
      for (int i = 0; i < CHUNK; i++) distance(t, &t->pose[s][first + i]);
      times_add(&t->peer[s], (tool_clock() - t0) / CHUNK);
    }
    time_kernel(t, &t->plane, PLANES, 0, first);
  }
}

typedef struct Series {
  double size[NHULL], ours[NSERIES][NHULL], peer[NSERIES][NHULL];
  int n;
} Series;

typedef struct Job {
  Bodies* t;
  Series* series; // or NULL
  bool posed;
} Job;

static void run(void* arg) {
  Job* job = arg;
  Bodies* t = job->t;
  job->posed = make_poses(t);
  if (!job->posed) return;
  for (int k = 0; k <= REPEATS; k++) {
    if (k <= 1) { // warm-up
      t->ours[0].n = t->ours[1].n = t->plane.n = t->peer[0].n = t->peer[1].n = 0;
      memset(t->failed, 0, sizeof t->failed);
    }
    pass(t);
  }
  double ours[2], peer[2];
  for (int s = 0; s < 2; s++) {
    ours[s] = times_median(&t->ours[s]);
    peer[s] = times_median(&t->peer[s]);
  }
  const double us[NSERIES] = {ours[0], ours[0], ours[1]};
  const double them[NSERIES] = {peer[0], times_median(&t->plane), peer[1]};
  for (int i = 0; i < NSERIES; i++) {
    char name[60];
    snprintf(name, sizeof name, "%s/%s", series_name[i], t->name);
    bench_add(t->b, name, us[i],
              i == BESIDE ? "separating_plane" : "mj_geomDistance (distance only)", them[i],
              "Value, gradient, 12x12 Hessian, law %s; %d poses, %s, warm start from a pose a "
              "tenth of the plane's range away; chunks of %d; without a result: %ld of %d",
              i == OVERLAP ? "hertz" : "barrier", POSES,
              i == OVERLAP ? "surfaces overlap by at most 0.3 mm"
                           : "gap 0.5 to 0.95 of the plane's range",
              CHUNK,
              t->failed[i == OVERLAP ? HERTZ : BARRIER] + (i == BESIDE ? t->failed[PLANES] : 0),
              REPEATS * POSES);
    if (!job->series) continue;
    job->series->ours[i][job->series->n] = us[i];
    job->series->peer[i][job->series->n] = them[i];
  }
  if (!job->series) return;
  job->series->size[job->series->n++] = 2 * t->nvert - 4;
}

static void write_scene(Buffer* out, const Bodies* t) {
  buf_addf(out, "<mujoco><asset>");
  for (int k = 0; k < 2; k++) {
    if (t->type[k] != MESH) continue;
    buf_addf(out, "<mesh name='%c' vertex='", 'a' + k);
    for (int i = 0; i < 3 * t->nvert; i++) buf_addf(out, "%.17g ", t->vert[k][i]);
    buf_addf(out, "'/>");
  }
  buf_addf(out, "</asset><worldbody>");
  for (int k = 0; k < 2; k++) {
    const double* size = half_size[k];
    buf_addf(out, "<body>%s<geom ", t->type[k] == PLANE ? "" : "<freejoint/>");
    if (t->type[k] == MESH)
      buf_addf(out, "type='mesh' mesh='%c'/></body>", 'a' + k);
    else
      buf_addf(out, "type='%s' size='%.17g %.17g %.17g'/></body>", type_name[t->type[k]], size[0],
               size[1], size[2]);
  }
  buf_addf(out, "</worldbody></mujoco>");
}

static bool open_pairs(Bodies* t, djError* err) {
  const djcSetting barrier[2] = {{"law", DJ_LAW_BARRIER}, {"support", reach}};
  const djcSetting hertz = {"law", DJ_LAW_HERTZ};
  djcShape a = local_shape(t, 0), b = local_shape(t, 1);
  for (int k = 0; k < NKERNEL; k++) {
    djcOption option = djc_defaultOption();
    option.support = support;
    if (k != PLANES) option.model = DJ_IMPLICIT_SURFACE;
    option.nsetting = k == PLANES ? 0 : k == BARRIER ? 2 : 1;
    option.setting = k == BARRIER ? barrier : &hertz;
    for (int i = 0; i < CHUNK; i++) {
      if (djc_makePair(&t->pair[k][i], &a, &b, &option, err) < 0) return false;
    }
  }
  return true;
}

static void time_bodies(Bench* b, Bodies* t, Series* series) {
  char error[300] = "", name[60];
  djError err = {""};
  bool wanted = false;
  for (int i = 0; i < NSERIES; i++) {
    snprintf(name, sizeof name, "%s/%s", series_name[i], t->name);
    wanted = wanted || bench_wants(b, name);
  }
  if (!wanted || !bench_begin(b, name)) return;
  t->b = b;
  make_hulls(t);
  Buffer text = {0};
  write_scene(&text, t);
  t->m = bench_compile(&text, error, sizeof error);
  bool good = t->m && open_pairs(t, &err);
  if (good) {
    Job job = {t, series, false};
    t->d = mj_makeData(t->m);
    good = djm_guard(run, &job, &err) >= 0;
    mj_deleteData(t->d);
    if (good && !job.posed) bench_skip(b, name, "no poses were found");
  }
  if (!good) bench_skip(b, name, "%.100s%.100s", error, err.text);
  for (int i = 0; i < NKERNEL * CHUNK; i++) djc_deletePair(t->pair[i / CHUNK][i % CHUNK]);
  if (t->m) mj_deleteModel(t->m);
  Times* all[] = {&t->ours[0], &t->ours[1], &t->plane, &t->peer[0], &t->peer[1]};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) times_free(all[i]);
}

// ---- a humanoid

enum { STEPS = 1000, HOLD = 10 };

typedef struct Steps {
  mjModel* m;
  mjData* d;
  djModel* model[2]; // separating_plane, implicit_surface
  djData* data[2];
  Times times[2], iterations[2];
  long failed[2], unconverged[2];
} Steps;

static void run_steps(void* arg) {
  Steps* s = arg;
  for (int pass = 0; pass < 3; pass++) {
    mj_resetData(s->m, s->d);
    for (int k = 0; k < 2; k++) dj_resetData(s->model[k], s->data[k]);
    for (int i = 0; i < STEPS; i++) {
      for (int c = 0; c < s->m->nu; c++) {
        bool limited = s->m->actuator_ctrllimited[c];
        double low = limited ? s->m->actuator_ctrlrange[2 * c] : -1;
        double high = limited ? s->m->actuator_ctrlrange[2 * c + 1] : 1;
        double part = djd_random(1, (unsigned long)(i / HOLD), (unsigned long)c);
        s->d->ctrl[c] = low + (high - low) * part;
      }
      for (int k = 0; k < 2; k++) {
        mju_copy(s->data[k]->qpos, s->d->qpos, (int)s->m->nq);
        mju_copy(s->data[k]->qvel, s->d->qvel, (int)s->m->nv);
        mju_copy(s->data[k]->ctrl, s->d->ctrl, (int)s->m->nu);
        double t0 = bench_threadClock();
        djStatus status = dj_step(s->model[k], s->data[k]);
        double t1 = bench_threadClock();
        if (pass == 0) continue; // warm-up
        times_add(&s->times[k], t1 - t0);
        times_add(&s->iterations[k], 1e-6 * s->data[k]->stats.iterations);
        s->failed[k] += status < 0;
        s->unconverged[k] += status > 0;
      }
      mj_step(s->m, s->d);
    }
  }
}

static bool open_steps(Steps* s, const char* path, djError* err) {
  if (dj_loadMJCF(&s->model[0], NULL, &s->m, path, err) < 0) return false;
  s->m->opt.integrator = mjINT_EULER;
  djOption option = s->model[0]->opt;
  option.timestep = s->m->opt.timestep = 2e-3;
  if (dj_copyModel(&s->model[1], s->model[0], err) < 0) return false;
  for (int k = 0; k < 2; k++) {
    option.contact = k ? DJ_IMPLICIT_SURFACE : DJ_SEPARATING_PLANE;
    if (dj_setOption(s->model[k], &option, err) < 0) return false;
    if (dj_makeData(&s->data[k], s->model[k], err) < 0) return false;
  }
  s->d = mj_makeData(s->m);
  return true;
}

static void bench_humanoid(Bench* b) {
  const char* name = "implicit_step/humanoid";
  char path[1000];
  djError err = {""};
  if (!bench_wants(b, name) || !bench_begin(b, name)) return;
  if (!b->robots) {
    bench_skip(b, name, "no folder of gymnasium's models (--models DIR, DIJOCO_GYMNASIUM)");
    return;
  }
  Steps s = {.m = NULL};
  snprintf(path, sizeof path, "%.900s/humanoid.xml", b->robots);
  if (open_steps(&s, path, &err) && djm_guard(run_steps, &s, &err) >= 0) {
    bench_add(b, name, times_median(&s.times[1]), "separating_plane", times_median(&s.times[0]),
              "Consecutive states of a stock MuJoCo run, both warm, 2 ms, %d steps; time of the "
              "thread. Newton: mean "
              "%.2f and %.2f; unconverged %ld and %ld, failed %ld and %ld. Means %.1f and %.1f us",
              s.times[0].n, times_mean(&s.iterations[1]), times_mean(&s.iterations[0]),
              s.unconverged[1], s.unconverged[0], s.failed[1], s.failed[0], times_mean(&s.times[1]),
              times_mean(&s.times[0]));
  } else {
    bench_skip(b, name, "%.150s", err.text);
  }
  for (int k = 0; k < 2; k++) {
    times_free(&s.times[k]);
    times_free(&s.iterations[k]);
    if (s.data[k]) dj_deleteData(s.data[k]);
    if (s.model[k]) dj_deleteModel(s.model[k]);
  }
  if (s.d) mj_deleteData(s.d);
  if (s.m) mj_deleteModel(s.m);
}

// ---- all

void bench_implicit(Bench* b) {
  Bodies* t = tool_alloc(1, sizeof *t);
  Series series = {.n = 0};
  char name[60];
  for (int i = 0; i < PLANE; i++) {
    for (int k = i; k < TYPES; k++) {
      snprintf(name, sizeof name, "%s_%s", type_name[i], type_name[k]);
      *t = (Bodies){.name = name, .type = {i, k}, .nvert = hull_size[1]};
      time_bodies(b, t, NULL);
    }
  }
  for (int i = 0; i < NHULL; i++) {
    snprintf(name, sizeof name, "hull_%d", hull_size[i]);
    *t = (Bodies){.name = name, .type = {MESH, MESH}, .nvert = hull_size[i]};
    time_bodies(b, t, &series);
  }
  for (int i = 0; i < NSERIES && series.n == NHULL; i++) {
    snprintf(name, sizeof name, "%s/hull", series_name[i]);
    bench_fit(b, name, bench_slope(series.size, series.ours[i], NHULL),
              i == BESIDE ? "separating_plane" : "mj_geomDistance",
              bench_slope(series.size, series.peer[i], NHULL),
              "Cost exponent over the 12, 60 and 300 facets of hulls of 8, 32 and 152 vertices");
  }
  free(t);
  bench_humanoid(b);
}

#endif
