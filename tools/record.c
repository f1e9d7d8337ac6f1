#include "record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 500 };

const char* const record_work[NWORK] = {"evaluations", "factorizations", "steps of passes",
                                        "loaded pairs"};

void record_open(Record* r, const djModel* m, long steps) {
  *r = (Record){.model = m, .steps = steps};
  r->stride = (steps + SAMPLES - 1) / SAMPLES;
  if (r->stride < 1) r->stride = 1;
  r->capacity = (int)(steps / r->stride) + 2;
  size_t n = (size_t)r->capacity, nbody = (size_t)m->nbody;
  r->time = tool_alloc(n, sizeof(double));
  r->apart = tool_alloc(n, sizeof(double));
  for (int k = 0; k < NWORK; k++) r->work[k] = tool_alloc(n, sizeof(double));
  for (int k = 0; k < ENGINES; k++) {
    r->xpos[k] = tool_alloc(3 * n * nbody, sizeof(double));
    r->xquat[k] = tool_alloc(4 * n * nbody, sizeof(double));
    r->energy[k] = tool_alloc(n, sizeof(double));
    r->gap[k] = tool_alloc(n, sizeof(double));
    r->smallest[k] = INFINITY;
  }
}

void record_close(Record* r) {
  for (int k = 0; k < ENGINES; k++) {
    free(r->xpos[k]);
    free(r->xquat[k]);
    free(r->energy[k]);
    free(r->gap[k]);
    for (int p = 0; p < r->npair; p++) free(r->pair[p].force[k]);
  }
  free(r->pair);
  free(r->time);
  free(r->apart);
  for (int k = 0; k < NWORK; k++) free(r->work[k]);
  *r = (Record){0};
}

static void keep(Largest* l, double value, double time, int id, int id2) {
  if (!isfinite(value)) value = INFINITY;
  if (value > l->max || l->time < 0) *l = (Largest){value, time, id, id2};
}

static double distance3(const double* a, const double* b) {
  double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
  return sqrt(x * x + y * y + z * z);
}

// Angle between two rotations: of p^-1 q.
static double angle_between(const double p[4], const double q[4]) {
  double w = p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3];
  double x = p[0] * q[1] - p[1] * q[0] - p[2] * q[3] + p[3] * q[2];
  double y = p[0] * q[2] + p[1] * q[3] - p[2] * q[0] - p[3] * q[1];
  double z = p[0] * q[3] - p[1] * q[2] + p[2] * q[1] - p[3] * q[0];
  return 2 * atan2(sqrt(x * x + y * y + z * z), fabs(w));
}

static const double* force_between(const Engine* e, int body1, int body2) {
  static const double none[3] = {0, 0, 0};
  for (int i = 0; i < e->ncontact; i++) {
    if (e->contact[i].body1 == body1 && e->contact[i].body2 == body2) return e->contact[i].force;
  }
  return none;
}

// Largest difference of one step's contact forces; a pair that only one engine has counts too.
static Largest force_difference(const Engine e[ENGINES]) {
  Largest l = {.time = -1};
  for (int k = 0; k < ENGINES; k++) {
    for (int i = 0; i < e[k].ncontact; i++) {
      const djContactForce* c = &e[k].contact[i];
      const double* other = force_between(&e[1 - k], c->body1, c->body2);
      keep(&l, distance3(c->force, other), e[0].time, c->body1, c->body2);
    }
  }
  if (l.time < 0) l = (Largest){0, e[0].time, 0, 0};
  return l;
}

static void compare_step(Record* r, const Engine e[ENGINES], long k) {
  const djModel* m = r->model;
  Differences* d = &r->difference;
  double time = e[0].time;
  if (k == 0) {
    Largest none = {0, -1, 0, 0};
    *d = (Differences){none, none, none, none, none, 0};
  }
  double apart = 0;
  for (int b = 0; b < m->nbody; b++) {
    double far = distance3(e[0].xpos + 3 * b, e[1].xpos + 3 * b);
    keep(&d->position, far, time, b, 0);
    apart = isfinite(far) && far > apart ? far : apart;
    keep(&d->rotation, angle_between(e[0].xquat + 4 * b, e[1].xquat + 4 * b), time, b, 0);
  }
  r->apart[r->nsample] = fmax(r->apart[r->nsample], apart);
  for (int i = 0; i < m->nv; i++) keep(&d->qvel, fabs(e[0].qvel[i] - e[1].qvel[i]), time, i, 0);
  keep(&d->energy, fabs(e[0].energy - e[1].energy), time, 0, 0);
  Largest force = force_difference(e);
  keep(&d->force, force.max, time, force.id, force.id2);
  if (k > 0 && 2 * k > r->steps) {
    r->force_sum += force.max;
    r->force_count++;
    d->force_mean_last_half = r->force_sum / (double)r->force_count;
  }
}

static PairRecord* find_pair(Record* r, int body1, int body2) {
  for (int p = 0; p < r->npair; p++) {
    if (r->pair[p].body1 == body1 && r->pair[p].body2 == body2) return &r->pair[p];
  }
  if (r->npair == r->pair_capacity) {
    r->pair_capacity = 2 * r->pair_capacity + 16;
    r->pair = tool_grow(r->pair, (size_t)r->pair_capacity, sizeof *r->pair);
  }
  PairRecord* p = &r->pair[r->npair++];
  *p = (PairRecord){.body1 = body1, .body2 = body2};
  size_t n = 3 * (size_t)r->capacity;
  for (int k = 0; k < ENGINES; k++) p->force[k] = tool_alloc(n, sizeof(double));
  return p;
}

static void add_forces(Record* r, const Engine e[ENGINES]) {
  for (int k = 0; k < ENGINES; k++) {
    for (int i = 0; i < e[k].ncontact; i++) {
      const djContactForce* c = &e[k].contact[i];
      double* sum = find_pair(r, c->body1, c->body2)->force[k] + 3 * r->nsample;
      for (int j = 0; j < 3; j++) sum[j] += c->force[j];
    }
    r->smallest[k] = fmin(r->smallest[k], e[k].gap);
  }
}

static void add_work(Record* r, const djStats* s) {
  const int now[NWORK] = {s->evaluations, s->factorizations, s->inner_iterations, s->loaded_pairs};
  for (int k = 0; k < NWORK; k++) {
    r->work[k][r->nsample] = fmax(r->work[k][r->nsample], now[k]);
  }
}

static void close_sample(Record* r, const Engine e[ENGINES]) {
  int i = r->nsample;
  size_t nbody = (size_t)r->model->nbody, at = (size_t)i * nbody;
  r->time[i] = e[0].time;
  for (int k = 0; k < ENGINES; k++) {
    memcpy(r->xpos[k] + 3 * at, e[k].xpos, 3 * nbody * sizeof(double));
    memcpy(r->xquat[k] + 4 * at, e[k].xquat, 4 * nbody * sizeof(double));
    r->energy[k][i] = e[k].energy;
    r->gap[k][i] = r->smallest[k];
    r->smallest[k] = INFINITY;
  }
  for (int p = 0; p < r->npair && r->since > 0; p++) {
    for (int k = 0; k < ENGINES; k++) {
      double *f = r->pair[p].force[k] + 3 * i, zero[3] = {0, 0, 0};
      for (int j = 0; j < 3; j++) f[j] /= (double)r->since;
      r->pair[p].peak = fmax(r->pair[p].peak, distance3(f, zero));
    }
  }
  r->since = 0;
  r->nsample++;
}

void record_add(Record* r, const Engine e[ENGINES], long k) {
  compare_step(r, e, k);
  add_forces(r, e);
  add_work(r, &e[0].own->stats);
  if (k > 0) r->since++;
  if (k % r->stride == 0 || k == r->steps) close_sample(r, e);
}

Poses record_poses(const Record* r, int engine, int i) {
  size_t at = (size_t)i * (size_t)r->model->nbody;
  return (Poses){r->xpos[engine] + 3 * at, r->xquat[engine] + 4 * at};
}

int record_times(const Record* r, int n, int* sample) {
  int count = 0;
  for (int k = 0; k < n; k++) {
    int i = (int)lround((double)k * (r->nsample - 1) / (n - 1));
    if (count == 0 || sample[count - 1] != i) sample[count++] = i;
  }
  return count;
}
