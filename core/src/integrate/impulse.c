#include "integrate/impulse.h"

#include "base/arena.h"
#include "base/room.h"
#include "base/status.h"
#include "integrate/armature.h"
#include "integrate/mocap.h"
#include "math/spatial.h"
#include "model/articulated.h"

#include <stdlib.h>
#include <string.h>

enum { EACH = 3 };   // impulses of one pair in a step

// ---- memory -----------------------------------------------------------------------------------

static void layout(struct djImpulses* s, djArena* a, const djModel* m) {
  size_t nv = m->nv, nb = m->nbody, d = sizeof(double);
  s->way = dj_take(a, nb, sizeof(djFlight));
  s->pose = dj_take(a, nb, sizeof(djPose));
  s->c = dj_take(a, nv, d);
  s->a = dj_take(a, nv, d);
  s->S2 = dj_take(a, nv, d);
  s->bar = dj_take(a, 12 * nv + 24 * nb, d);
  for (int k = 0; k < DJ_MAX_IMPULSE; k++) {
    djImpulse* p = &s->of[k];
    for (int i = 0; i < 3; i++) p->y[i] = dj_take(a, nv, d);
    p->before = dj_take(a, nv, d);
    p->change = dj_take(a, nv, d);
  }
}

static djStatus makeMemory(djWork* w, const djModel* m) {
  struct djImpulses* s = w->impulses;
  if (!s) s = w->impulses = calloc(1, sizeof *s);
  if (!s) return dj_failMemory(&w->error);
  if (s->memory) return DJ_OK;
  djArena a = {NULL, 0};
  layout(s, &a, m);
  s->memory = dj_roomFor(NULL, &s->nmemory, a.used);
  if (!s->memory) return dj_failMemory(&w->error);
  a = (djArena){s->memory, 0};
  layout(s, &a, m);
  return DJ_OK;
}

static bool mayMeet(const djModel* m) {
  return m->collision && dj_ownContact(m) && dj_hasRestitution(m);
}

size_t dj_impulsesSize(const djModel* m) {
  struct djImpulses s;
  djArena a = {NULL, 0};
  if (!mayMeet(m)) return 0;
  layout(&s, &a, m);
  return sizeof s + dj_roomBytes(a.used);
}

djStatus dj_makeImpulses(djWork* w, const djModel* m) {
  return mayMeet(m) ? makeMemory(w, m) : DJ_OK;
}

void dj_freeImpulses(djWork* w) {
  if (w->impulses) {
    free(w->impulses->memory);
    free(w->impulses->linear_memory);
  }
  free(w->impulses);
}

size_t dj_heldImpulses(const djWork* w) {
  const struct djImpulses* s = w->impulses;
  return s ? sizeof *s + s->nmemory + s->nlinear : 0;
}

// ---- bodies on their way ----------------------------------------------------------------------

// Rates of body b along joint velocities, beside V, at the start of the step.
static void rates(djVec3* turn, djVec3* move, const djWork* w, const djModel* m, int b, djSix V,
                  const double* qvel) {
  const djKin* from = &dj_fromPlace(w)->kin;
  for (int i = m->body_lastdof[b]; i >= 0; i = m->dof_parent[i]) {
    V = dju_madd6(V, qvel[i], dju_load6(w->begin.kin.S + 6 * i));
  }
  djVec3 arm = dju_sub3(from->com[b], w->ref[b]);
  *turn = V.w;
  *move = dju_add3(V.v, dju_cross3(V.w, arm));
}

// A time into the step, with the joint velocity c and its changes until then.
static void setRates(djWork* w, const djModel* m, const double* qvel, double time) {
  for (int b = 0; b < m->nbody; b++) {
    djFlight* way = &w->impulses->way[b];
    rates(&way->turn, &way->move, w, m, b, dj_mocapTwist(w, m, b, &dj_fromPlace(w)->kin), qvel);
    way->turn = dju_madd3(way->turn, time, way->spin);
    way->move = dju_madd3(way->move, time, way->push);
  }
}

static void setWays(djWork* w, const djModel* m) {
  struct djImpulses* s = w->impulses;
  const djSix still = {{0, 0, 0}, {0, 0, 0}};
  double h = w->h;
  for (int i = 0; i < m->nv; i++) {
    double f = w->drift[i] / h, v = w->start.qvel[i];
    s->c[i] = 0.5 * (v + f);
    s->a[i] = (f - v) / h;
    s->S2[i] = 0;
  }
  for (int b = 0; b < m->nbody; b++) {
    s->way[b].pose = dj_fromPlace(w)->kin.body[b];
    s->way[b].com = dj_fromPlace(w)->kin.com[b];
    rates(&s->way[b].spin, &s->way[b].push, w, m, b, still, s->a);
  }
  setRates(w, m, s->c, 0);
}

static djStatus cover(djWork* w, const djModel* m, double time) {
  struct djImpulses* s = w->impulses;
  djContacts* c = dj_contactsOf(&w->forces);
  for (int b = 0; b < m->nbody; b++) s->pose[b] = dj_alongFlight(&s->way[b], time).pose;
  return dj_coverContacts(c, m, dj_fromPlace(w)->kin.body, s->pose);
}

static void advance(struct djImpulses* s, const djModel* m, double time) {
  for (int b = 0; b < m->nbody && time > 0; b++) s->way[b] = dj_alongFlight(&s->way[b], time);
}

// ---- the next touch ---------------------------------------------------------------------------

static int countOf(const struct djImpulses* s, const djNearPair* p) {
  int n = 0;
  for (int k = 0; k < s->n; k++) n += s->of[k].touch.low == p->low && s->of[k].touch.high == p->high;
  return n;
}

static double approach(const djImpulse* k) { return -dju_dot3(k->impact.n, k->impact.w); }

// Relative velocity at the point, before the impulse, `after` the last one.
static void setApproach(djImpulse* k, const struct djImpulses* s, double after) {
  djVec3 speed[2];
  for (int i = 0; i < 2; i++) {
    const djFlight* way = &s->way[k->touch.body[i]];
    k->arm[i] = dju_sub3(k->touch.point, k->touch.com[i]);
    k->turn[i] = dju_madd3(way->turn, after, way->spin);
    speed[i] = dju_add3(dju_madd3(way->move, after, way->push), dju_cross3(k->turn[i], k->arm[i]));
  }
  k->impact.n = k->touch.normal;
  k->impact.w = dju_sub3(speed[1], speed[0]);
  k->impact.friction = k->touch.friction;
  k->impact.restitution = k->touch.restitution;
  k->impact.least = k->touch.speed;
}

// The first touch of an approach within `rest` of the last impulse at `time`, into *next.
static djStatus findNext(bool* found, djImpulse* next, djWork* w, const djModel* m, double time,
                         double rest) {
  struct djImpulses* s = w->impulses;
  djContacts* c = dj_contactsOf(&w->forces);
  *found = false;
  for (int k = 0; k < c->npair; k++) {
    const djNearPair* p = &c->pair[k];
    double moved = dj_bothMove(p, &c->moved);
    if (!dj_mayTouch(p) || p->bound - moved > 4 * p->range || countOf(s, p) >= EACH) continue;
    const djFlight way[2] = {s->way[p->body_a], s->way[p->body_b]};
    djImpulse one = *next;
    double after;
    djStatus status = dj_timeOfTouch(&after, &one.timed, &one.touch, c, m, p, way, rest);
    if (status < 0) return status;
    if (!(after <= rest) || (*found && !(time + after < next->time))) continue;
    one.time = time + after;
    setApproach(&one, s, after);
    if (approach(&one) <= one.impact.least) continue;
    *next = one;
    *found = true;
  }
  return DJ_OK;
}

// ---- one impulse ------------------------------------------------------------------------------

// J^T (nv) of an impulse P at the point: on b, and -P on a.
static void project(double* out, const djWork* w, const djModel* m, const djImpulse* k, djVec3 P) {
  memset(out, 0, (size_t)m->nv * sizeof(double));
  for (int i = 0; i < 2; i++) {
    int b = k->touch.body[i];
    djVec3 f = i ? P : dju_neg3(P), com = dju_sub3(w->begin.kin.com[b], w->ref[b]);
    djSix W = {dju_cross3(dju_add3(k->arm[i], com), f), f};
    for (int j = m->body_lastdof[b]; j >= 0; j = m->dof_parent[j]) {
      out[j] += dju_dot6(dju_load6(w->begin.kin.S + 6 * j), W);
    }
  }
}

// False: nothing happens.
static djStatus strike(bool* struck, djImpulse* k, djWork* w, const djModel* m) {
  double* g = w->scale;
  *struck = false;
  for (int i = 0; i < 3; i++) {
    project(k->y[i], w, m, k, dju_vec3(i == 0, i == 1, i == 2));
    if (!dj_solveInertia(k->y[i], w->articulated, m, &w->begin.kin, w->ref, w->armature)) {
      return dj_fail(&w->error, DJ_INVALID, "inertia is singular at the start of the step");
    }
  }
  for (int i = 0; i < 3; i++) {
    project(g, w, m, k, dju_vec3(i == 0, i == 1, i == 2));
    for (int j = 0; j < 3; j++) {
      double sum = 0;
      for (int v = 0; v < m->nv; v++) sum += g[v] * k->y[j][v];
      k->impact.C.m[3 * i + j] = sum;
    }
  }
  *struck = dj_impactImpulse(&k->P, &k->impact);
  const double P[3] = {k->P.x, k->P.y, k->P.z};
  for (int v = 0; v < m->nv && *struck; v++) {
    k->change[v] = P[0] * k->y[0][v] + P[1] * k->y[1][v] + P[2] * k->y[2][v];
  }
  return DJ_OK;
}

// Into the record, whose arrays stay its own.
static djImpulse* keep(struct djImpulses* s, const djImpulse* next) {
  djImpulse *to = &s->of[s->n], own = *to;
  *to = *next;
  for (int i = 0; i < 3; i++) to->y[i] = own.y[i];
  to->before = own.before;
  to->change = own.change;
  return to;
}

// Where ways cannot be followed, as those of numbers that overflow, the step's solution says so.
static djStatus find(djWork* w, const djModel* m) {
  struct djImpulses* s = w->impulses;
  double time = 0, h = w->h;
  size_t bytes = (size_t)m->nv * sizeof(double);
  double* v = w->shift;
  memcpy(v, s->c, bytes);
  djImpulse next;
  memset(&next, 0, sizeof next);
  while (s->n < DJ_MAX_IMPULSE) {
    bool found, struck;
    djStatus status = cover(w, m, h - time);
    if (status >= 0) status = findNext(&found, &next, w, m, time, h - time);
    if (status < 0 || !found) break;
    djImpulse* k = keep(s, &next);
    memcpy(k->before, v, bytes);
    status = strike(&struck, k, w, m);
    if (status < 0) return status;
    if (!struck) break;
    advance(s, m, k->time - time);
    time = k->time;
    for (int i = 0; i < m->nv; i++) v[i] += k->change[i];
    setRates(w, m, v, time);
    s->n++;
  }
  return DJ_OK;
}

djStatus dj_findImpulses(djWork* w, const djModel* m) {
  djContacts* c = dj_contactsOf(&w->forces);
  if (w->impulses) w->impulses->n = 0;
  memset(w->kick, 0, (size_t)m->nv * sizeof(double));
  if (!c || !dj_hasRestitution(m)) return DJ_OK;
  djStatus status = makeMemory(w, m);
  if (status < 0) return status;
  setWays(w, m);
  status = find(w, m);
  if (status < 0) return status;
  struct djImpulses* s = w->impulses;
  for (int k = 0; k < s->n; k++) {
    double theta = s->of[k].time / w->h;
    for (int i = 0; i < m->nv; i++) {
      w->kick[i] += (1 - theta) * s->of[k].change[i];
      s->S2[i] += theta * s->of[k].change[i];
    }
  }
  return DJ_OK;
}
