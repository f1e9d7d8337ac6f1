// Sensors with a history, as mj_step has them.
//
// A buffer in d->history holds the last n values: a time from which the next interval counts, the
// place of the newest value, n times, n values. What a sensor shows is read from it, `delay` before
// the present, if it has a delay; else it is the present value, or between two intervals the newest
// that was kept. A step then keeps the present value, if its interval has passed.

#include "sensor.h"

typedef struct History {
  int n, dim;              // values that it has room for, numbers of each
  mjtNum *since, *newest;  // the interval's begin; place of the newest, an integer
  mjtNum *time, *value;    // (n), (n x dim)
} History;

static History historyOf(const mjModel* m, mjData* d, int i) {
  History x = {.n = m->sensor_history[2 * i], .dim = m->sensor_dim[i]};
  if (x.n <= 0) return x;
  x.since = d->history + m->sensor_historyadr[i];
  x.newest = x.since + 1;
  x.time = x.newest + 1;
  x.value = x.time + x.n;
  return x;
}

static bool isDue(const History* x, const mjModel* m, const mjData* d, int i) {
  mjtNum interval = m->sensor_interval[2 * i];
  return !(interval > 0) || d->time >= *x->since + interval;   // exactly, as MuJoCo has it
}

mjModel djm_promptModel(const mjModel* m, const djmContext* c) {
  mjModel view = *m;
  view.sensor_delay = view.sensor_interval = c->none;
  view.sensor_history = (int*)c->none;
  return view;
}

void djm_readHistories(mjtNum* present, const mjModel* m, mjData* d) {
  mju_copy(present, d->sensordata, (int)m->nsensordata);
  for (int i = 0; i < m->nsensor; i++) {
    if (!djm_isDelayed(m, i)) continue;
    History x = historyOf(m, d, i);
    if (!(m->sensor_delay[i] > 0) && isDue(&x, m, d, i)) continue;
    mjtNum* out = d->sensordata + m->sensor_adr[i];
    const mjtNum* kept = mj_readSensor(m, d, i, d->time, out, m->sensor_history[2 * i + 1]);
    if (kept) mju_copy(out, kept, x.dim);
  }
}

void djm_advanceHistories(const mjtNum* present, const mjModel* m, mjData* d) {
  for (int i = 0; i < m->nsensor; i++) {
    History x = historyOf(m, d, i);
    if (x.n <= 0 || !isDue(&x, m, d, i)) continue;
    if (m->sensor_interval[2 * i] > 0) *x.since += m->sensor_interval[2 * i];
    int k = ((int)*x.newest + 1) % x.n;
    *x.newest = k;
    x.time[k] = d->time;
    mju_copy(x.value + (size_t)k * (size_t)x.dim, present + m->sensor_adr[i], x.dim);
  }
}
