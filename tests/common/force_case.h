// A motion between three random configurations of a random model, in the places of a data's work,
// one or more of which move along a direction. Included after cmocka.

#ifndef DJ_TESTS_FORCE_CASE_H_
#define DJ_TESTS_FORCE_CASE_H_

#include "common/random_model.h"
#include "common/room.h"
#include "common/step_energy.h"

enum { DJT_START = 1, DJT_RATE = 2, DJT_POINT = 4 };

typedef struct djForceCase {
  djModel* m;
  djData* d;
  djWork* w;
  double *q0, *qrate, *q;   // configurations
  double* along;            // (nv) direction
  int moved;                // which of them move
  bool apart;               // displacements do not begin at the start
  bool prompt;              // forces are those of the point (force/motion.h)
  double* gradient;         // (nv)
} djForceCase;

static inline djForceCase djt_openForceCase(djModel* m, djRng* rng) {
  djForceCase c = {.m = m, .d = makeData(m)};
  djt_randomState(rng, m, c.d, 1);
  m->opt.integrator = DJ_POSITION;   // with any armature
  if (dj_solveStep(m, c.d) < 0) fail_msg("%s", dj_errorText(c.d));
  c.w = c.d->work;
  assert_int_equal(dj_growDerivatives(c.w), DJ_OK);
  c.along = djt_room((size_t)m->nv);
  c.gradient = djt_room((size_t)m->nv);
  double** const q[3] = {&c.q0, &c.qrate, &c.q};
  for (int k = 0; k < 3; k++) {
    *q[k] = djt_room((size_t)m->nq);
    djt_uniforms(c.along, m->nv, rng, -0.4, 0.4);
    dj_integratePos(*q[k], m, c.d->qpos, c.along, 1);
  }
  return c;
}

static inline void djt_closeForceCase(djForceCase* c) {
  double* const part[] = {c->q0, c->qrate, c->q, c->along, c->gradient};
  for (int k = 0; k < 5; k++) free(part[k]);
  dj_deleteData(c->d);
  dj_deleteModel(c->m);
}

static inline void djt_setForcePlace(djPlace* p, const djForceCase* c, const double* q, bool moved,
                                     double s) {
  const djModel* m = c->m;
  memcpy(p->q, q, (size_t)m->nq * sizeof(double));
  if (moved) dj_integratePos(p->q, m, q, c->along, s);
  dj_setPlace(p, m, c->d->mocap_pos, c->d->mocap_quat);
  dj_openPlace(p, m, c->w->ref);
}

// The motion, with what moves at s along the direction. Valid until the next call.
static inline djMotion djt_forceMotion(const djForceCase* c, double s) {
  djWork* w = c->w;
  djt_setForcePlace(&w->begin, c, c->q0, c->moved & DJT_START, s);
  djt_setForcePlace(&w->back, c, c->qrate, c->moved & DJT_RATE, s);
  djt_setForcePlace(&w->now, c, c->q, c->moved & DJT_POINT, s);
  djPoint start = dj_pointOf(&w->begin), rate = c->apart ? dj_pointOf(&w->back) : start;
  if (c->prompt) dj_differentiatePos(w->drift, c->m, 1, start.q, rate.q);
  return (djMotion){c->m, &w->start, w->ref, start, rate, dj_pointOf(&w->now),
                    NULL, 0.01, 0.01, 0, NULL, c->prompt, c->prompt ? w->drift : NULL,
                    DJ_ACTS_ALL, start.kin, rate.kin, NULL, {NULL, NULL, NULL}, 0};
}

// Empty sums, with the case's gradient.
static inline djForceSum* djt_clearForces(djForceCase* c) {
  djWork* w = c->w;
  memset(w->wrench, 0, (size_t)c->m->nbody * 6 * sizeof(double));
  memset(w->N, 0, (size_t)c->m->nbody * 36 * sizeof(double));
  memset(c->gradient, 0, (size_t)c->m->nv * sizeof(double));
  dj_clearMatrix(&w->H);
  dj_clearForceSum(&w->sum, c->m);
  w->sum.gradient = c->gradient;
  w->sum.derivatives = true;
  return &w->sum;
}

// Gradient and H, both triangles, of what the sums hold at the point.
static inline void djt_projectForces(djForceCase* c, const djMotion* at) {
  dj_sumCoordinates(&c->w->sum, at);
  dj_projectForces(c->w, c->m, &c->w->now);
  dj_mirrorMatrix(&c->w->H);
}

static inline double djt_along(const double* x, const djForceCase* c) {
  double sum = 0;
  for (int i = 0; i < c->m->nv; i++) sum += x[i] * c->along[i];
  return sum;
}

// A times the direction.
static inline void djt_timesAlong(double* y, const djMatrix* A, const djForceCase* c) {
  memset(y, 0, (size_t)c->m->nv * sizeof(double));
  dj_mulMatrix(y, 1, A, c->along);
}

#endif  // DJ_TESTS_FORCE_CASE_H_
