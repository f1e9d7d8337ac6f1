// What a comparison keeps of two runs: differences over all steps, samples, forces between bodies.
// The runs are made up.

#include "common/test.h"
#include "common/tool_case.h"
#include "record.h"

enum { NBODY = 3, NV = 7 };

typedef struct Pair {
  djModel* model;
  Record r;
  Engine e[ENGINES];
  double qvel[ENGINES][NV], xpos[ENGINES][3 * NBODY], xquat[ENGINES][4 * NBODY];
  djContactForce contact[ENGINES][2];
  djData data;         // of the first: what its steps took
} Pair;

static void openPair(Pair* p, long steps) {
  *p = (Pair){0};
  assert_int_equal(dj_loadModel(&p->model, "scene.json", NULL), DJ_OK);
  assert_int_equal(p->model->nv, NV);
  record_open(&p->r, p->model, steps);
  for (int k = 0; k < ENGINES; k++) {
    p->e[k] = (Engine){.model = p->model,
                       .qvel = p->qvel[k],
                       .xpos = p->xpos[k],
                       .xquat = p->xquat[k],
                       .contact = p->contact[k],
                       .gap = 1};
    for (int b = 0; b < NBODY; b++) p->xquat[k][4 * b] = 1;
  }
  p->e[0].own = &p->data;
}

static void closePair(Pair* p) {
  record_close(&p->r);
  assert_null(p->r.time);
  dj_deleteModel(p->model);
}

static void add(Pair* p, long k) {
  p->e[0].time = p->e[1].time = 0.01 * (double)k;
  record_add(&p->r, p->e, k);
}

static void assertLargest(const Largest* l, double max, double time, int id, int id2) {
  djt_near(l->max, max, 1e-15 * (1 + max));
  djt_near(l->time, time, 1e-15);
  assert_int_equal(l->id, id);
  assert_int_equal(l->id2, id2);
}

static void testDifferences(void) {
  Pair p;
  openPair(&p, 4);
  add(&p, 0);
  const Differences* d = &p.r.difference;
  assertLargest(&d->position, 0, 0, 0, 0);
  assertLargest(&d->force, 0, 0, 0, 0);
  p.xpos[0][3] = 3;   // (3, 4, 12) apart: 13
  p.xpos[1][4] = 4;
  p.xpos[1][5] = -12;
  // A turn by 0.7 about (2, 3, 6)/7, whose quaternion has the other sign.
  double half = 0.35, axis[3] = {2 / 7.0, 3 / 7.0, 6 / 7.0};
  p.xquat[1][8] = -cos(half);
  for (int i = 0; i < 3; i++) p.xquat[1][9 + i] = -sin(half) * axis[i];
  p.qvel[0][6] = -2;
  p.e[1].energy = 5;
  add(&p, 1);
  p.xpos[0][3] = 2;
  p.qvel[0][6] = 1;
  p.e[1].energy = -6;
  add(&p, 2);
  assertLargest(&d->position, 13, 0.01, 1, 0);
  assertLargest(&d->qvel, 2, 0.01, 6, 0);
  assertLargest(&d->energy, 6, 0.02, 0, 0);
  djt_near(d->rotation.max, 0.7, 1e-14);
  assert_int_equal(d->rotation.id, 2);
  // Forces: of both, then of one alone.
  djContactForce ours = {0, 1, {1, 2, 2}, {0}}, stock = {0, 1, {1, 2, 0}, {0}};
  djContactForce alone = {1, 2, {0, 0, -7}, {0}};
  p.contact[0][0] = ours;
  p.contact[1][0] = stock;
  p.e[0].ncontact = p.e[1].ncontact = 1;
  add(&p, 3);
  assertLargest(&d->force, 2, 0.03, 0, 1);
  p.contact[1][1] = alone;
  p.e[1].ncontact = 2;
  add(&p, 4);
  assertLargest(&d->force, 7, 0.04, 1, 2);
  djt_near(d->force_mean_last_half, (2 + 7) / 2.0, 1e-15);
  assert_int_equal(p.r.npair, 2);
  djt_near(p.r.pair[0].peak, 3, 1e-15);
  djt_near(p.r.pair[1].peak, 7, 1e-15);
  assert_int_equal(p.r.nsample, 5);
  djt_near(p.r.apart[1], 13, 1e-14);
  djt_near(p.r.apart[4], sqrt(4 + 16 + 144), 1e-14);
  closePair(&p);
}

// A run that broke down: infinite, and kept so.
static void testBroken(void) {
  Pair p;
  openPair(&p, 2);
  add(&p, 0);
  p.xpos[1][3] = NAN;
  p.xpos[1][6] = 2;
  p.qvel[1][0] = NAN;
  add(&p, 1);
  p.xpos[1][3] = 0;
  add(&p, 2);
  const Largest *position = &p.r.difference.position, *qvel = &p.r.difference.qvel;
  assert_true(position->max == INFINITY && qvel->max == INFINITY);
  assert_true(position->id == 1 && position->time == 0.01 && qvel->id == 0);
  djt_near(p.r.apart[1], 2, 1e-15);   // charts show what is finite
  closePair(&p);
}

// 1001 steps are sampled every third, and at the end: means of forces and smallest gaps since then.
static void testSamples(void) {
  Pair p;
  openPair(&p, 1001);
  assert_int_equal(p.r.stride, 3);
  p.e[0].ncontact = 1;
  for (long k = 0; k <= 1001; k++) {
    p.contact[0][0] = (djContactForce){0, 2, {0, 0, (double)k}, {0}};
    p.e[0].gap = k % 3 == 1 ? (double)(k - 2000) : 1;
    p.e[1].energy = (double)k;
    p.data.stats.evaluations = k % 3 == 1 ? 7 : 2;
    p.data.stats.loaded_pairs = (int)k;
    p.xpos[1][4] = (double)k;
    p.xquat[0][4] = (double)(k + 1);
    add(&p, k);
  }
  assert_int_equal(p.r.nsample, 335);
  assert_true(p.r.nsample <= p.r.capacity && p.r.npair == 1);
  const double* force = p.r.pair[0].force[0];
  for (int i = 0; i < 335; i++) {
    double last = i < 334 ? 3 * i : 1001;
    djt_near(p.r.time[i], 0.01 * last, 1e-12);
    djt_near(force[3 * i + 2], i == 0 ? 0 : i < 334 ? last - 1 : last - 0.5, 1e-12);
    djt_near(p.r.pair[0].force[1][3 * i + 2], 0, 0);
    djt_near(p.r.gap[0][i], i == 0 ? 1 : i < 334 ? last - 2002 : -1000, 0);
    djt_near(p.r.gap[1][i], 1, 0);
    djt_near(p.r.energy[1][i], last, 0);
    djt_near(p.r.work[0][i], i == 0 ? 2 : 7, 0);
    djt_near(p.r.work[3][i], last, 0);
    djt_near(p.r.apart[i], last, 0);
    djt_near(record_poses(&p.r, 1, i).xpos[4], last, 0);
    djt_near(record_poses(&p.r, 0, i).xquat[4], last + 1, 0);
  }
  djt_near(p.r.pair[0].peak, 1000.5, 1e-12);
  assertLargest(&p.r.difference.force, 1001, 10.01, 0, 2);
  djt_near(p.r.difference.force_mean_last_half, (501 + 1001) / 2.0, 1e-9);
  int sample[10];
  static const int wanted[6] = {0, 67, 134, 200, 267, 334};
  assert_int_equal(record_times(&p.r, 6, sample), 6);
  assert_memory_equal(sample, wanted, sizeof wanted);
  closePair(&p);
}

static void testShort(void) {
  Pair p;
  int sample[10];
  openPair(&p, 0);
  add(&p, 0);
  assert_int_equal(p.r.nsample, 1);
  assert_int_equal(record_times(&p.r, 6, sample), 1);
  assert_int_equal(sample[0], 0);
  closePair(&p);
  openPair(&p, 2);
  for (long k = 0; k < 3; k++) add(&p, k);
  assert_int_equal(record_times(&p.r, 6, sample), 3);   // each once
  for (int i = 0; i < 3; i++) assert_int_equal(sample[i], i);
  closePair(&p);
}

DJT_MAIN_IN(djt_enterFolder, djt_leaveFolder, testDifferences, testBroken, testSamples, testShort)
