// dijoco bench, pair: energy, gradient and 12x12 Hessian of two boxes or hulls near contact, beside
// MuJoCo's distance of the same shapes. Warm: the pair was evaluated before at a pose that differs
// by a tenth of the barrier's range, as between iterations; rest: by a thousandth, as between steps
// at rest; cold: its warm start was forgotten. Hulls of N vertices: random points on ellipsoids of
// the boxes' half sizes.

#include "bench.h"

#ifdef DJ_HAVE_MUJOCO

#include "bench_mujoco.h"
#include "clock.h"
#include "engine.h"
#include "inputs.h"
#include "json_out.h"

#include <dijoco/dijoco.h>
#include <dijoco/mujoco.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Times are those of CHUNK evaluations, divided by it: one is too short for the clock.
enum { POSES = 1000, CHUNK = 20, REPEATS = 5, SHOWN = 100 };

enum { WARM, REST, COLD, NSTART };
static const char* const start_name[NSTART] = {"warm", "rest", "cold"};
static const char* const start_note[NSTART] = {
    "warm start from a pose a tenth of the range away",
    "warm start from a pose a thousandth of the range away", "no warm start"};

enum { MAX_HULLS = 4, MAX_VERT = 152 };
static const int hull_size[MAX_HULLS] = {8, 32, 64, MAX_VERT};

static const double half_size[2][3] = {{0.1, 0.15, 0.2}, {0.12, 0.08, 0.1}};
static const double support = 6e-4;   // the default at 2 ms for geoms of this size

typedef struct Pose {
  double pos[2][3], quat[2][4];       // of both bodies
} Pose;

typedef struct PairBench {
  Bench* b;
  bool faces;
  int nvert;                          // of each hull; 0: boxes
  double vert[2][3 * MAX_VERT], placed[2][3 * MAX_VERT];
  mjModel* m;
  mjData* d;
  djcPair* pair[CHUNK];
  Pose pose[POSES], before[2][POSES];
  Times ours, peer;
  long failed, lost;   // evaluations without a result, and those of them that are timed
  double check;                       // uses every result
} PairBench;

static double uniform(unsigned long row, unsigned long column, double low, double high) {
  return low + (high - low) * djd_random(5, row, column);
}

// Random points on ellipsoids.
static void make_hulls(PairBench* t) {
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < t->nvert; i++) {
      double* x = t->vert[k] + 3 * i;
      double z = djd_random(6, (unsigned long)(2 * i + k), 0) * 2 - 1;
      double turn = djd_random(6, (unsigned long)(2 * i + k), 1) * 2 * mjPI, r = sqrt(1 - z * z);
      mju_copy3(x, (double[3]){r * cos(turn), r * sin(turn), z});
      for (int c = 0; c < 3; c++) x[c] *= half_size[k][c];
    }
  }
}

// Shape k in its body's frame.
static djcShape local_shape(const PairBench* t, int k) {
  djcShape s = {.geom = DJ_BOX, .nvert = t->nvert, .vert = t->vert[k], .quat = {1, 0, 0, 0}};
  mju_copy3(s.size, half_size[k]);
  return s;
}

static djcShape placed_shape(PairBench* t, int k, const Pose* p) {
  djcShape s = local_shape(t, k);
  s.vert = t->placed[k];
  for (int i = 0; i < t->nvert; i++) {
    mju_rotVecQuat(t->placed[k] + 3 * i, t->vert[k] + 3 * i, p->quat[k]);
    mju_addTo3(t->placed[k] + 3 * i, p->pos[k]);
  }
  mju_copy3(s.pos, p->pos[k]);
  mju_copy4(s.quat, p->quat[k]);
  mju_copy3(s.origin, p->pos[k]);
  return s;
}

// q <- q exp(w)
static void turn(double q[4], const double w[3]) { mju_quatIntegrate(q, w, 1); }

// A pose at a gap of part times the range: random rotations, or two faces almost parallel.
static bool make_pose(PairBench* t, Pose* p, unsigned long row, double gap) {
  bool faces = t->faces;
  for (int k = 0; k < 2; k++) {
    double w[3];
    for (int i = 0; i < 3; i++) {
      unsigned long column = (unsigned long)(3 * k + i);
      p->pos[k][i] = k == 0 ? 0 : uniform(row, 6 + column, -0.05, 0.05);
      w[i] = uniform(row, column, -1, 1) * (faces ? 1e-4 : 2);
    }
    mju_copy4(p->quat[k], (double[4]){1, 0, 0, 0});
    turn(p->quat[k], w);
  }
  double up[3] = {0, 0, 0.6};
  if (!faces) mju_rotVecQuat(up, up, p->quat[1]);
  mju_addTo3(p->pos[1], up);
  for (int k = 0; k < 40; k++) {
    djcShape a = placed_shape(t, 0, p), b = placed_shape(t, 1, p);
    double now, normal[3], point_a[3], point_b[3];
    if (djc_distance(&now, normal, point_a, point_b, &a, &b) < 0) return false;
    if (fabs(now - gap) < 1e-9) return true;
    mju_addToScl3(p->pos[1], normal, gap - now);
  }
  return false;
}

// Both bodies moved and turned at random, points by about `size`.
static void move_pose(Pose* out, const Pose* from, unsigned long row, double size) {
  *out = *from;
  for (int k = 0; k < 2; k++) {
    double w[3], v[3];
    for (int c = 0; c < 3; c++) {
      unsigned long column = (unsigned long)(21 + 6 * k + c);
      v[c] = size * uniform(row, column, -1, 1);
      w[c] = size * uniform(row, 3 + column, -1, 1) / 0.2;
    }
    mju_addTo3(out->pos[k], v);
    turn(out->quat[k], w);
  }
}

static void make_poses(PairBench* t) {
  double range = 2 * support / (1 - support);
  unsigned long row = t->faces ? 100000 : 0;
  for (int i = 0; i < POSES; i++) {
    double part = uniform(row, 20, 0.5, 0.95);
    while (!make_pose(t, &t->pose[i], row, part * range)) row++;
    move_pose(&t->before[WARM][i], &t->pose[i], row, 0.05 * range);
    move_pose(&t->before[REST][i], &t->pose[i], row, 0.0005 * range);
    row++;
  }
}

static void evaluate(PairBench* t, djcPair* pair, const Pose* p) {
  double value, gradient[12], hessian[144];
  djStatus status = djc_evalPair(&value, gradient, hessian, pair, p->pos[0], p->quat[0], p->pos[1],
                                 p->quat[1]);
  t->failed += status != DJ_OK || !(value > 0);
  t->check += value + gradient[0] + hessian[0];
}

static void distance(PairBench* t, const Pose* p) {
  double fromto[6];
  for (int k = 0; k < 2; k++) {   // meshes are centred when they are compiled
    double quat[4];
    mju_rotVecQuat(t->d->geom_xpos + 3 * k, t->m->geom_pos + 3 * k, p->quat[k]);
    mju_addTo3(t->d->geom_xpos + 3 * k, p->pos[k]);
    mju_mulQuat(quat, p->quat[k], t->m->geom_quat + 4 * k);
    mju_quat2Mat(t->d->geom_xmat + 9 * k, quat);
  }
  t->check += mj_geomDistance(t->m, t->d, 0, 1, 1, fromto);
}

static void pair_name(char name[60], const PairBench* t, int start) {
  if (t->nvert) snprintf(name, 60, "pair_%s/hull_%d", start_name[start], t->nvert);
  else snprintf(name, 60, "pair_%s/box_%s", start_name[start], t->faces ? "faces" : "random");
}

static void pass(PairBench* t, int start) {
  for (int first = 0; first < POSES; first += CHUNK) {
    for (int i = 0; i < CHUNK; i++) {
      djc_forgetPair(t->pair[i]);
      if (start != COLD) evaluate(t, t->pair[i], &t->before[start][first + i]);
    }
    long failed = t->failed;
    double t0 = tool_clock();
    for (int i = 0; i < CHUNK; i++) evaluate(t, t->pair[i], &t->pose[first + i]);
    double t1 = tool_clock();
    t->lost += t->failed - failed;
    for (int i = 0; i < CHUNK; i++) distance(t, &t->pose[first + i]);
    double t2 = tool_clock();
    times_add(&t->ours, (t1 - t0) / CHUNK);
    times_add(&t->peer, (t2 - t1) / CHUNK);
  }
}

typedef struct Series {
  double ours[NSTART][MAX_HULLS], peer[NSTART][MAX_HULLS];
  int n[NSTART];
} Series;

typedef struct Job {
  PairBench* t;
  Series* series;
  Json* pairs;             // where hull pairs are written, or NULL
} Job;

// Some of the poses, as vertices in the world.
static void write_pairs(Json* j, PairBench* t) {
  char name[60];
  snprintf(name, sizeof name, "hull_%d", t->nvert);
  json_object(j, NULL);
  json_text(j, "name", name);
  json_number(j, "range", 2 * support / (1 - support));
  json_list(j, "pairs");
  for (int i = 0; i < SHOWN; i++) {
    json_list(j, NULL);
    for (int k = 0; k < 2; k++) {
      placed_shape(t, k, &t->pose[i]);
      json_matrix(j, NULL, (size_t)t->nvert, 3, t->placed[k]);
    }
    json_end(j);
  }
  json_end(j);
  json_end(j);
}

static void run_pair(void* arg) {
  Job* job = arg;
  PairBench* t = job->t;
  make_poses(t);
  if (job->pairs && t->nvert) write_pairs(job->pairs, t);
  for (int start = 0; start < NSTART; start++) {
    char name[60];
    pair_name(name, t, start);
    if (!bench_wants(t->b, name)) continue;
    pass(t, start);   // warm-up
    t->ours.n = t->peer.n = 0;
    t->lost = 0;
    for (int k = 0; k < REPEATS; k++) pass(t, start);
    double ours = times_median(&t->ours), peer = times_median(&t->peer);
    bench_add(t->b, name, ours, "mj_geomDistance (distance only)", peer,
              "Value, gradient, 12x12 Hessian; %d poses %s, gap 0.5 to 0.95 of the range, %s; "
              "chunks of %d; %ld without a result", POSES,
              t->faces ? "with almost parallel faces" : "with random rotations",
              start_note[start], CHUNK, t->lost);
    if (!t->nvert) continue;
    int at = job->series->n[start]++;
    job->series->ours[start][at] = ours;
    job->series->peer[start][at] = peer;
  }
}

static void write_scene(Buffer* out, const PairBench* t) {
  buf_addf(out, "<mujoco>");
  for (int k = 0; k < 2 && t->nvert; k++) {
    buf_addf(out, "%s<mesh name='%c' vertex='", k ? "" : "<asset>", 'a' + k);
    for (int i = 0; i < 3 * t->nvert; i++) buf_addf(out, "%.17g ", t->vert[k][i]);
    buf_addf(out, "'/>%s", k ? "</asset>" : "");
  }
  buf_addf(out, "<worldbody>");
  for (int k = 0; k < 2; k++) {
    buf_addf(out, "<body><freejoint/><geom ");
    if (t->nvert) {
      buf_addf(out, "type='mesh' mesh='%c'", 'a' + k);
    } else {
      const double* size = half_size[k];
      buf_addf(out, "type='box' size='%.17g %.17g %.17g'", size[0], size[1], size[2]);
    }
    buf_addf(out, "/></body>");
  }
  buf_addf(out, "</worldbody></mujoco>");
}

static void time_pair(Bench* b, PairBench* t, Series* series, Json* pairs) {
  char error[300] = "", name[60];
  bool wanted = false;
  for (int start = 0; start < NSTART; start++) {
    pair_name(name, t, start);
    wanted = wanted || bench_wants(b, name);
  }
  if (!wanted || !bench_begin(b, name)) return;
  make_hulls(t);
  Buffer text = {0};
  write_scene(&text, t);
  t->m = bench_compile(&text, error, sizeof error);
  djcOption option = djc_defaultOption();
  option.support = support;
  djcShape shape_a = local_shape(t, 0), shape_b = local_shape(t, 1);
  djError err = {""};
  bool good = t->m;
  for (int i = 0; i < CHUNK; i++) {
    good = good && djc_makePair(&t->pair[i], &shape_a, &shape_b, &option, &err) >= 0;
  }
  if (good) {
    Job job = {t, series, pairs};
    t->b = b;
    t->d = mj_makeData(t->m);
    good = djm_guard(run_pair, &job, &err) >= 0;
    mj_deleteData(t->d);
  }
  if (!good) bench_skip(b, name, "%.100s%.100s", error, err.text);
  for (int i = 0; i < CHUNK; i++) djc_deletePair(t->pair[i]);
  if (t->m) mj_deleteModel(t->m);
  times_free(&t->ours);
  times_free(&t->peer);
}

void bench_pair(Bench* b) {
  PairBench* t = tool_alloc(1, sizeof *t);
  Series series = {.n = {0}};
  Buffer text = {0};
  Json pairs;
  json_start(&pairs, &text);
  json_list(&pairs, NULL);
  for (int i = 0; i < 2 + MAX_HULLS; i++) {
    *t = (PairBench){.faces = i == 1, .nvert = i < 2 ? 0 : hull_size[i - 2]};
    time_pair(b, t, &series, b->pairs ? &pairs : NULL);
  }
  double size[MAX_HULLS];
  for (int i = 0; i < MAX_HULLS; i++) size[i] = hull_size[i];
  for (int start = 0; start < NSTART; start++) {
    char name[60];
    snprintf(name, sizeof name, "pair_%s/hull", start_name[start]);
    if (series.n[start] < MAX_HULLS) continue;
    bench_fit(b, name, bench_slope(size, series.ours[start], MAX_HULLS), "mj_geomDistance",
              bench_slope(size, series.peer[start], MAX_HULLS),
              "Cost exponent over hulls of 8, 32, 64 and 152 vertices");
  }
  json_end(&pairs);
  if (!b->counting) dj_writeFile(b->pairs, text.text, text.size);
  buf_free(&text);
  free(t);
}

#endif
