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
  s->fall = dj_take(a, nb, d);
  s->end = dj_take(a, nb, sizeof(djBodyStep));
  s->bar = dj_take(a, 11 * nv + 15 * nb, d);
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
  return m->collision && m->opt.contact != DJ_CONTACT_NONE && dj_hasRestitution(m);
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

// Rates of body b along joint velocities, at the start of the step.
static void rates(djVec3* turn, djVec3* move, const djWork* w, const djModel* m, int b,
                  const double* qvel) {
  const djKin* from = &dj_fromPlace(w)->kin;
  djSix V = dj_mocapTwist(w, m, b, from);
  for (int i = m->body_lastdof[b]; i >= 0; i = m->dof_parent[i]) {
    V = dju_madd6(V, qvel[i], dju_load6(w->begin.kin.S + 6 * i));
  }
  djVec3 arm = dju_sub3(from->com[b], w->ref[b]);
  *turn = V.w;
  *move = dju_add3(V.v, dju_cross3(V.w, arm));
}

static void setRates(djWork* w, const djModel* m, const double* qvel) {
  for (int b = 0; b < m->nbody; b++) {
    rates(&w->impulses->way[b].turn, &w->impulses->way[b].move, w, m, b, qvel);
  }
}

static void setWays(djWork* w, const djModel* m) {
  struct djImpulses* s = w->impulses;
  bool heavy = !(m->opt.disable & DJ_DSBL_GRAVITY);
  for (int b = 0; b < m->nbody; b++) {
    int root = m->body_root[b], first = m->body_jntadr[root];
    bool falls = m->body_jntnum[root] == 1 && dj_jointRow(m, first)->pose;
    s->way[b].pose = dj_fromPlace(w)->kin.body[b];
    s->way[b].com = dj_fromPlace(w)->kin.com[b];
    s->fall[b] = falls && heavy ? w->start.gravity_scale : 0;
  }
  setRates(w, m, w->start.qvel);
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

// Relative velocity at the point, before the impulse.
static void setApproach(djImpulse* k, const struct djImpulses* s, const djModel* m) {
  djVec3 speed[2];
  for (int i = 0; i < 2; i++) {
    int b = k->touch.body[i];
    k->arm[i] = dju_sub3(k->touch.point, k->touch.com[i]);
    k->turn[i] = s->way[b].turn;
    speed[i] = dju_add3(s->way[b].move, dju_cross3(k->turn[i], k->arm[i]));
    speed[i] = dju_madd3(speed[i], k->time * s->fall[b], dju_load3(m->opt.gravity));
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
    double moved = c->moved[p->body_a] + c->moved[p->body_b];
    if (!dj_mayTouch(p) || p->bound - moved > 4 * p->range || countOf(s, p) >= EACH) continue;
    const djFlight way[2] = {s->way[p->body_a], s->way[p->body_b]};
    djImpulse one = *next;
    double after;
    djStatus status = dj_timeOfTouch(&after, &one.timed, &one.touch, c, m, p, way, rest);
    if (status < 0) return status;
    if (!(after <= rest) || (*found && !(time + after < next->time))) continue;
    one.time = time + after;
    setApproach(&one, s, m);
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
  memcpy(v, w->start.qvel, bytes);
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
    setRates(w, m, v);
    s->n++;
  }
  return DJ_OK;
}

djStatus dj_findImpulses(djWork* w, const djModel* m) {
  djContacts* c = dj_contactsOf(&w->forces);
  if (w->impulses) w->impulses->n = 0;
  if (!c || !dj_hasRestitution(m)) return DJ_OK;
  djStatus status = makeMemory(w, m);
  if (status < 0) return status;
  dj_setMocapStage(w, m, w->h);
  dj_setStart(w, m);
  dj_openPlace(&w->begin, m, w->ref);
  dj_setArmature(w, m);
  setWays(w, m);
  status = find(w, m);
  if (status < 0) return status;
  struct djImpulses* s = w->impulses;
  for (int k = 0; k < s->n; k++) {
    double f = 1 - s->of[k].time / w->h;
    for (int i = 0; i < m->nv; i++) w->start.qvel[i] += f * s->of[k].change[i];
  }
  return DJ_OK;
}

void dj_dropImpulses(djWork* w, const djModel* m, const double* qvel) {
  if (!dj_impulseCount(w)) return;
  w->impulses->n = 0;
  memcpy(w->start.qvel, qvel, (size_t)m->nv * sizeof(double));
}

void dj_setEndLoads(djWork* w, const djModel* m) {
  struct djImpulses* s = w->impulses;
  w->end = w->body;
  if (!dj_impulseCount(w)) return;
  memcpy(s->end, w->body, (size_t)m->nbody * sizeof(djBodyStep));
  w->end = s->end;
  for (int k = 0; k < s->n; k++) {
    const djImpulse* p = &s->of[k];
    double f = p->time / (w->h * w->h);
    for (int i = 0; i < 2; i++) {
      djBodyStep* to = &s->end[p->touch.body[i]];
      djVec3 force = dju_scale3(i ? f : -f, p->P);
      to->force = dju_add3(to->force, force);
      to->torque = dju_add3(to->torque, dju_cross3(p->arm[i], force));
    }
  }
}
