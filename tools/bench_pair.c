// dijoco bench, pair: energy, gradient and 12x12 Hessian of two boxes near contact, beside MuJoCo's
// distance of the same boxes. Warm: the pair was evaluated before at a pose that differs by a tenth
// of the barrier's range, as between iterations; rest: by a thousandth, as between steps at rest;
// cold: its warm start was forgotten.

#include "bench.h"

#ifdef DJ_HAVE_MUJOCO

#include "engine.h"
#include "inputs.h"

#include <dijoco/dijoco.h>
#include <dijoco/mujoco.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Times are those of CHUNK evaluations, divided by it: one is too short for the clock.
enum { POSES = 1000, CHUNK = 20, REPEATS = 5 };

enum { WARM, REST, COLD, NSTART };
static const char* const start_name[NSTART] = {"warm", "rest", "cold"};
static const char* const start_note[NSTART] = {
    "warm start from a pose a tenth of the range away",
    "warm start from a pose a thousandth of the range away", "no warm start"};

static const double size_a[3] = {0.1, 0.15, 0.2}, size_b[3] = {0.12, 0.08, 0.1};
static const double support = 6e-4;   // the default at 2 ms for geoms of this size

typedef struct Pose {
  double pos[2][3], quat[2][4];       // of both boxes
} Pose;

typedef struct PairBench {
  Bench* b;
  bool faces;
  mjModel* m;
  mjData* d;
  djcPair* pair[CHUNK];
  Pose pose[POSES], before[2][POSES];
  Times ours, peer;
  long failed, lost;   // evaluations without a result, and those of them that are timed
  double check;                       // uses every result
} PairBench;

static double uniform(unsigned long row, unsigned long column, double low, double high) {
  return low + (high - low) * inputs_random(5, row, column);
}

static djcShape box(const double size[3], const double pos[3], const double quat[4]) {
  djcShape s = {.geom = DJ_BOX};
  memcpy(s.size, size, sizeof s.size);
  memcpy(s.pos, pos, sizeof s.pos);
  memcpy(s.quat, quat, sizeof s.quat);
  memcpy(s.origin, pos, sizeof s.origin);
  return s;
}

// q <- q exp(w)
static void turn(double q[4], const double w[3]) { mju_quatIntegrate(q, w, 1); }

// A pose at a gap of part times the range: random rotations, or two faces almost parallel.
static bool make_pose(Pose* p, unsigned long row, bool faces, double gap) {
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
    djcShape a = box(size_a, p->pos[0], p->quat[0]), b = box(size_b, p->pos[1], p->quat[1]);
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
    while (!make_pose(&t->pose[i], row, t->faces, part * range)) row++;
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
  for (int k = 0; k < 2; k++) {
    mju_copy3(t->d->geom_xpos + 3 * k, p->pos[k]);
    mju_quat2Mat(t->d->geom_xmat + 9 * k, p->quat[k]);
  }
  t->check += mj_geomDistance(t->m, t->d, 0, 1, 1, fromto);
}

static void pair_name(char name[60], int start, bool faces) {
  snprintf(name, 60, "pair_%s/box_%s", start_name[start], faces ? "faces" : "random");
}

static void pass(PairBench* t, int start) {
  for (int first = 0; first < POSES; first += CHUNK) {
    for (int i = 0; i < CHUNK; i++) {
      djc_forgetPair(t->pair[i]);
      if (start != COLD) evaluate(t, t->pair[i], &t->before[start][first + i]);
    }
    long failed = t->failed;
    double t0 = engine_clock();
    for (int i = 0; i < CHUNK; i++) evaluate(t, t->pair[i], &t->pose[first + i]);
    double t1 = engine_clock();
    t->lost += t->failed - failed;
    for (int i = 0; i < CHUNK; i++) distance(t, &t->pose[first + i]);
    double t2 = engine_clock();
    times_add(&t->ours, (t1 - t0) / CHUNK);
    times_add(&t->peer, (t2 - t1) / CHUNK);
  }
}

static void run_pair(void* arg) {
  PairBench* t = arg;
  make_poses(t);
  for (int start = 0; start < NSTART; start++) {
    char name[60];
    pair_name(name, start, t->faces);
    if (!bench_wants(t->b, name)) continue;
    pass(t, start);   // warm-up
    t->ours.n = t->peer.n = 0;
    t->lost = 0;
    for (int k = 0; k < REPEATS; k++) pass(t, start);
    bench_add(t->b, name, times_median(&t->ours), "mj_geomDistance (distance only)",
              times_median(&t->peer),
              "Value, gradient, 12x12 Hessian; %d poses %s, gap 0.5 to 0.95 of the range, %s; "
              "chunks of %d; %ld without a result", POSES,
              t->faces ? "with almost parallel faces" : "with random rotations",
              start_note[start], CHUNK, t->lost);
  }
}

void bench_pair(Bench* b) {
  static const char text[] =
      "<mujoco><worldbody><geom type='box' size='.1 .15 .2'/><body><freejoint/>"
      "<geom type='box' size='.12 .08 .1'/></body></worldbody></mujoco>";
  char error[300] = "";
  bool wanted = false;
  for (int i = 0; i < 2 * NSTART; i++) {
    char name[60];
    pair_name(name, i / 2, i % 2);
    wanted = wanted || bench_wants(b, name);
  }
  if (!wanted) return;
  PairBench* t = tool_alloc(1, sizeof *t);
  mjVFS vfs;
  mj_defaultVFS(&vfs);
  mj_addBufferVFS(&vfs, "pair.xml", text, (int)strlen(text));
  t->m = mj_loadXML("pair.xml", &vfs, error, sizeof error);
  mj_deleteVFS(&vfs);
  djcOption option = djc_defaultOption();
  option.support = support;
  static const double zero[3] = {0, 0, 0}, unit[4] = {1, 0, 0, 0};
  djcShape shape_a = box(size_a, zero, unit), shape_b = box(size_b, zero, unit);
  djError err = {""};
  bool good = t->m;
  for (int i = 0; i < CHUNK; i++) {
    good = good && djc_makePair(&t->pair[i], &shape_a, &shape_b, &option, &err) >= 0;
  }
  if (good) {
    t->b = b;
    t->d = mj_makeData(t->m);
    for (int k = 0; k < 2 && good; k++) {
      t->faces = k == 1;
      good = djm_guard(run_pair, t, &err) >= 0;
    }
    mj_deleteData(t->d);
  }
  if (!good) bench_skip(b, "pair", "%s%s", error, err.text);
  for (int i = 0; i < CHUNK; i++) djc_deletePair(t->pair[i]);
  if (t->m) mj_deleteModel(t->m);
  times_free(&t->ours);
  times_free(&t->peer);
  free(t);
}

#endif
