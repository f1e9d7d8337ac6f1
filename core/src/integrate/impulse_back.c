// Derivatives of impulses, backward: from the cotangents of S1 and S2 to those of the start's q, of
// the way (c, a) and of parameters. impulse.h has the map; with y_i = M^-1 J^T B e_i, B the wrenches
// of an impulse at the point,
//   C_ij = e_i . B^T J y_j,  dC_ij = dg_i . y_j + y_i . dg_j - y_i . dM y_j,  g_i = J^T B e_i.
// All that joints and inertia at the start do is one form, z . (a J^T W - b M x) with z, x (nv) and
// wrenches W held; a touch is where its force is 1 (touch.h), at a time that gives way to that.

#include "integrate/impulse.h"

#include "base/status.h"
#include "integrate/armature.h"
#include "integrate/balance.h"
#include "integrate/mocap.h"
#include "math/so3.h"
#include "math/spatial.h"
#include "model/articulated.h"
#include "model/body_param.h"
#include "model/frame_param.h"
#include "model/momentum.h"
#include "model/param.h"

#include <string.h>

// Of a body on its way: by its pose, as a wrench about the centre of mass on what is there; by the
// centre alone; by its rates at the start and with changes, and by its accelerations.
typedef struct FlightBar {
  djVec3 torque, force, com, turn, move, spin, push;
} FlightBar;

typedef struct Back {
  djWork* w;
  const djModel* m;
  djParamSums* sums;       // or NULL
  bool held;               // what depends on the impulses alone is theirs already
  FlightBar* body;         // (nbody)
  double *q, *accel;       // (nv) by the start's q, by a
  double *z, *velocity;    // (nv) scratch; by joint velocities after the impulse at hand
  double* zero;            // (nv) zeros
  double* by_dof;          // (nv x 6) scratch
  double time;             // by the time of the impulse at hand
} Back;

static void addTimes(double* y, double f, const double* x, int n) {
  for (int i = 0; i < n; i++) y[i] += f * x[i];
}

static bool isZero(const double* x, int n) {
  for (int i = 0; i < n; i++) {
    if (x[i] != 0) return false;
  }
  return true;
}

// Twist of a body about its centre of mass along z.
static djSix twistAlong(const djKin* kin, const djWork* w, const djModel* m, int b,
                        const double* z) {
  djSix V = {{0, 0, 0}, {0, 0, 0}};
  for (int i = m->body_lastdof[b]; i >= 0; i = m->dof_parent[i]) {
    V = dju_madd6(V, z[i], dju_load6(kin->S + 6 * i));
  }
  V.v = dju_add3(V.v, dju_cross3(V.w, dju_sub3(kin->com[b], w->ref[b])));
  return V;
}

// ---- joints and inertia at the start ----------------------------------------------------------

// W (nbody x 6): torque about centres of mass, force -> about ref, in work->wrench; its
// derivatives by twists in work->N.
static void placeWrenches(djWork* w, const djModel* m, const double* W, double f) {
  memset(w->wrench, 0, (size_t)m->nbody * 6 * sizeof(double));
  memset(w->N, 0, (size_t)m->nbody * 36 * sizeof(double));
  for (int b = 0; b < m->nbody; b++) {
    djVec3 torque = dju_scale3(f, dju_load3(W + 6 * b));
    djVec3 force = dju_scale3(f, dju_load3(W + 6 * b + 3));
    djVec3 arm = dju_sub3(w->begin.kin.com[b], w->ref[b]);
    dju_store3(w->wrench + 6 * b, dju_add3(torque, dju_cross3(arm, force)));
    dju_store3(w->wrench + 6 * b + 3, force);
    // (v + w x arm) x force
    djMat3 X = dju_skew(force), XA = dju_mulMM(X, dju_skew(arm));
    dju_addBlock6(w->N + 36 * b, 0, 0, 1, &XA);
    dju_addBlock6(w->N + 36 * b, 0, 3, -1, &X);
  }
}

// Parameters of z . J^T W, W placed.
static void wrenchParams(Back* s, const double* z) {
  djWork* w = s->w;
  const djModel* m = s->m;
  djParamSums* p = s->sums;
  const djConfig start = dj_wantedConfig(p, &w->begin.kin, w->start.qpos, w->ref);
  size_t bytes = (size_t)m->nbody * 6 * sizeof(double);
  dj_bodyTwists(p->x, m, &w->begin.kin, z);
  double* ipos = dj_paramBlock(p->param, m, DJ_FIELD_BODY_IPOS);
  for (int b = 1; b < m->nbody; b++) {
    djVec3 turned = dju_cross3(dju_load3(w->wrench + 6 * b + 3), dju_load3(p->x + 6 * b));
    dju_addTo3(ipos + 3 * b, 1, dju_mulMtV(w->begin.kin.body[b].R, turned));
  }
  memcpy(p->W, w->wrench, bytes);
  memset(p->C, 0, bytes);
  dj_addBodyProducts(p->C, w->N, m, p->x, true);
  dj_addDual(p->C, m, p->x, p->W);
  dj_gatherCotangents(p->C, m, w->ref);
  dj_gatherCotangents(p->W, m, w->ref);
  dj_frameParamsSecond(p->param, m, &start, p->C, p->W, p->x, z);
}

// work->own = the derivative of J^T W by q, W placed.
static void turnWrenches(djWork* w, const djModel* m) {
  dj_clearMatrix(&w->own);
  dj_gatherWrench(w->wrench, m);
  dj_gatherMatrix(w->N, m);
  dj_projectTurning(&w->own, m, &w->begin.kin, w->wrench);
  dj_projectMixed(&w->own, m, &w->begin.kin, &w->begin.kin, w->N);
}

// By q: f z . J^T W, with the gathered f W in work->wrench. A dof j turns what it carries and its
// own rotation: (S_j x S_i) . w = S_j . (S_i X w); it moves the centre at `arm` by u, and with it
// the force, by (u x F) . turn = u . (F x turn).
static void turnAlong(Back* s, double f, const double* z, const double* W) {
  djWork* w = s->w;
  const djModel* m = s->m;
  const double* S = w->begin.kin.S;
  memset(s->by_dof, 0, (size_t)m->nv * 6 * sizeof(double));
  memset(w->wrench, 0, (size_t)m->nbody * 6 * sizeof(double));
  for (int b = 0; b < m->nbody; b++) {
    djSix load = dju_load6(W + 6 * b);
    int last = m->body_lastdof[b];
    if (last < 0 || dju_dot6(load, load) == 0) continue;
    djVec3 force = dju_scale3(f, load.v), arm = dju_sub3(w->begin.kin.com[b], w->ref[b]);
    djVec3 torque = dju_madd3(dju_cross3(arm, force), f, load.w);
    djVec3 move = dju_cross3(force, twistAlong(&w->begin.kin, w, m, b, z).w);
    dju_store6(w->wrench + 6 * b, (djSix){torque, force});
    dju_store6(s->by_dof + 6 * last, (djSix){dju_cross3(arm, move), move});
  }
  dj_gatherWrench(w->wrench, m);
  for (int i = 0; i < m->nv; i++) {
    int first = dj_rotationDof(m, m->dof_jnt[i]), at = first >= 0 && i >= first ? first + 2 : i;
    djSix turned = dju_crossWrench(dju_load6(S + 6 * i), dju_load6(w->wrench + 6 * m->dof_body[i]));
    double* by = s->by_dof + 6 * at;
    dju_store6(by, dju_madd6(dju_load6(by), z[i], turned));
  }
  for (int j = m->nv - 1; j >= 0; j--) {
    const double* by = s->by_dof + 6 * j;
    s->q[j] += dju_dotRow6(S + 6 * j, by);
    if (m->dof_parent[j] >= 0) addTimes(s->by_dof + 6 * m->dof_parent[j], 1, by, 6);
  }
}

// By q and parameters, the same.
static void pullWrenches(Back* s, double f, const double* z, const double* W) {
  if (s->sums) {
    placeWrenches(s->w, s->m, W, f);
    wrenchParams(s, z);
  }
  turnAlong(s, f, z, W);
}

// work->Dq = the derivative of M x by q. zero (nv)
static void turnInertia(djWork* w, const djModel* m, const double* x, const double* zero) {
  djMatrix* M = &dj_stageOf(w)->linear.M;
  dj_inverseDynamics(w->nonpotential, &w->inverse, m, &w->begin.kin, w->ref, w->armature, zero, x);
  dj_clearMatrix(&w->Dq);
  dj_clearMatrix(&w->Dv);
  dj_clearMatrix(M);
  dj_inverseDerivatives(&w->Dq, &w->Dv, M, w->N, w->M, &w->inverse, m, &w->begin.kin,
                        w->armature);
}

// By q and parameters: -z . M x.
static void pullInertia(Back* s, const double* z, const double* x) {
  djWork* w = s->w;
  const djModel* m = s->m;
  double* minus = w->nonpotential;
  turnInertia(w, m, x, s->zero);
  dj_mulMatrixT(s->q, -1, &w->Dq, z);
  if (!s->sums) return;
  for (int i = 0; i < m->nv; i++) minus[i] = -z[i];
  const djConfig at = dj_wantedConfig(s->sums, &w->begin.kin, w->start.qpos, w->ref);
  dj_inverseParams(s->sums->param, s->sums->tensor, s->sums->x, s->sums->C, s->sums->C0,
                   &w->inverse, m, &at, minus, s->zero, x);
  dj_inertiaAlongParams(s->sums->param, m, minus, x);
}

// ---- one impulse ------------------------------------------------------------------------------

// Wrenches (nbody x 6) of an impulse P at the point about the centres of mass.
static const double* wrenchesOf(djWork* w, const djModel* m, const djImpulse* k, djVec3 P) {
  double* W = w->momentum_change;
  memset(W, 0, (size_t)m->nbody * 6 * sizeof(double));
  for (int i = 0; i < 2; i++) {
    djVec3 f = i ? P : dju_neg3(P);
    double* to = W + 6 * k->touch.body[i];
    dju_store3(to, dju_cross3(k->arm[i], f));
    dju_store3(to + 3, f);
  }
  return W;
}

void dj_holdImpulses(djWork* w, const djModel* m) {
  struct djImpulses* all = w->impulses;
  double* zero = all->bar;
  memset(zero, 0, (size_t)m->nv * sizeof(double));
  for (int n = 0; n < all->n; n++) {
    djImpulse* k = &all->of[n];
    placeWrenches(w, m, wrenchesOf(w, m, k, k->P), 1);
    turnWrenches(w, m);
    turnInertia(w, m, k->change, zero);
    dj_scaleMatrix(&w->Dq, -1);
    dj_addMatrix(&w->own, &w->Dq);
    dj_copyMatrix(&k->by_change, &w->own);
    for (int i = 0; i < 3; i++) {
      placeWrenches(w, m, wrenchesOf(w, m, k, dju_vec3(i == 0, i == 1, i == 2)), 2);
      turnWrenches(w, m);
      turnInertia(w, m, k->y[i], zero);
      for (int j = 0; j < 3; j++) {
        double* by = k->by_C[3 * i + j];
        memset(by, 0, (size_t)m->nv * sizeof(double));
        dj_mulMatrixT(by, 1, &w->own, k->y[j]);
        dj_mulMatrixT(by, -1, &w->Dq, k->y[j]);
      }
    }
  }
  all->held = true;
}

typedef struct ImpulseBar {
  djVec3 P, arm[2], n;
} ImpulseBar;

// By P and the arms where the wrenches along x (one twist a body) are summed; P held: of it.
static void pullArms(djVec3* by_P, djVec3 arm[2], const djImpulse* k, djVec3 P,
                     const djSix x[2]) {
  for (int i = 0; i < 2; i++) {
    double sign = i ? 1 : -1;
    if (by_P) {
      djVec3 move = dju_add3(x[i].v, dju_cross3(x[i].w, k->arm[i]));
      *by_P = dju_madd3(*by_P, sign, move);
    }
    arm[i] = dju_madd3(arm[i], sign, dju_cross3(P, x[i].w));
  }
}

// S1 and S2 by the impulse: P, its arms, its time, what M and J do.
static djStatus pullChange(Back* s, ImpulseBar* bar, const djImpulse* k, const double* lambda,
                           const double* mu) {
  djWork* w = s->w;
  const djModel* m = s->m;
  double h = w->h, theta = k->time / h;
  djSix x[2];
  for (int i = 0; i < m->nv; i++) {
    s->z[i] = (1 - theta) * lambda[i] + theta * mu[i] + s->velocity[i];
    s->time += (mu[i] - lambda[i]) * k->change[i] / h;
  }
  if (isZero(s->z, m->nv)) return DJ_OK;
  if (!dj_solveInertia(s->z, w->articulated, m, &w->begin.kin, w->ref, w->armature)) {
    return dj_fail(&w->error, DJ_INVALID, "inertia is singular at the start of the step");
  }
  for (int i = 0; i < 2; i++) x[i] = twistAlong(&w->begin.kin, w, m, k->touch.body[i], s->z);
  pullArms(&bar->P, bar->arm, k, k->P, x);
  if (s->held) {
    dj_mulMatrixT(s->q, 1, &k->by_change, s->z);
    return DJ_OK;
  }
  pullWrenches(s, 1, s->z, wrenchesOf(s->w, m, k, k->P));
  pullInertia(s, s->z, k->change);
  return DJ_OK;
}

// P by the law's arguments, and by what C and w are made of.
static void pullLaw(Back* s, ImpulseBar* bar, const djImpulse* k, djImpactGrad* by) {
  const struct djImpulses* all = s->w->impulses;
  const djModel* m = s->m;
  dj_impactVjp(by, &k->impact, bar->P);
  bar->n = dju_add3(bar->n, by->n);
  for (int i = 0; i < 3; i++) {
    djVec3 axis = dju_vec3(i == 0, i == 1, i == 2);
    const double* c = by->C.m + 3 * i;
    djSix x[2];
    for (int v = 0; v < m->nv; v++) {
      s->z[v] = c[0] * k->y[0][v] + c[1] * k->y[1][v] + c[2] * k->y[2][v];
    }
    for (int b = 0; b < 2; b++) {
      x[b] = twistAlong(&s->w->begin.kin, s->w, m, k->touch.body[b], s->z);
      x[b] = dju_madd6(x[b], 1, x[b]);
    }
    pullArms(NULL, bar->arm, k, axis, x);
    if (s->held) {
      for (int j = 0; j < 3; j++) addTimes(s->q, c[j], k->by_C[3 * i + j], m->nv);
      continue;
    }
    pullWrenches(s, 2, s->z, wrenchesOf(s->w, m, k, axis));
    pullInertia(s, s->z, k->y[i]);
  }
  for (int i = 0; i < 2; i++) {
    FlightBar* body = &s->body[k->touch.body[i]];
    const djFlight* way = &all->way[k->touch.body[i]];
    djVec3 w = i ? by->w : dju_neg3(by->w), turn = dju_cross3(k->arm[i], w);
    body->move = dju_add3(body->move, w);
    body->turn = dju_add3(body->turn, turn);
    body->push = dju_madd3(body->push, k->time, w);
    body->spin = dju_madd3(body->spin, k->time, turn);
    bar->arm[i] = dju_add3(bar->arm[i], dju_cross3(w, k->turn[i]));
    s->time += dju_dot3(w, way->push) + dju_dot3(turn, way->spin);
  }
}

// To a body's pose: a force on a point of it.
static void pushPoint(FlightBar* body, djVec3 com, djVec3 point, djVec3 force) {
  body->force = dju_add3(body->force, force);
  body->torque = dju_add3(body->torque, dju_cross3(dju_sub3(point, com), force));
}

// Normal and point by the touch's gradient: lambda (12). *along as dj_touchParams.
static void pullPlace(Back* s, double lambda[12], double* along, ImpulseBar* bar,
                      const djImpulse* k) {
  const djTouch* t = &k->touch;
  djVec3 by_point = dju_add3(bar->arm[0], bar->arm[1]), by_n = bar->n, n = t->normal;
  djVec3 f = dju_neg3(dju_load3(t->gradient + 9)), torque = dju_neg3(dju_load3(t->gradient + 6));
  djVec3 ref = t->com[1], foot = dju_cross3(f, torque);
  double size = t->size, square = size * size;
  for (int i = 0; i < 2; i++) {
    FlightBar* body = &s->body[t->body[i]];
    body->com = dju_sub3(body->com, bar->arm[i]);
  }
  // point = ref + f x torque/f^2 + n (n . (x_a + x_b)/2 - n . ref)
  *along = dju_dot3(n, by_point);
  double height = dju_dot3(n, dju_sub3(t->point, ref));
  djVec3 middle = dju_scale3(0.5, dju_add3(t->surface[0], t->surface[1]));
  by_n = dju_madd3(by_n, height, by_point);
  by_n = dju_madd3(by_n, *along, dju_sub3(middle, ref));
  for (int i = 0; i < 2; i++) {
    pushPoint(&s->body[t->body[i]], t->com[i], t->surface[i], dju_scale3(0.5 * *along, n));
  }
  djVec3 by_f = dju_scale3(1 / square, dju_cross3(torque, by_point));
  by_f = dju_madd3(by_f, -2 * dju_dot3(by_point, foot) / (square * square), f);
  by_f = dju_madd3(by_f, 1 / size, dju_madd3(by_n, -dju_dot3(n, by_n), n));
  djVec3 by_torque = dju_scale3(1 / square, dju_cross3(by_point, f));
  memset(lambda, 0, 12 * sizeof(double));
  dju_store3(lambda + 6, dju_neg3(by_torque));
  dju_store3(lambda + 9, dju_neg3(by_f));
}

static double alongRates(const djVec3 turn[2], const djVec3 move[2], const double by[12]) {
  double sum = 0;
  for (int i = 0; i < 2; i++) {
    sum += dju_dot3(dju_load3(by + 6 * i), turn[i]) + dju_dot3(dju_load3(by + 6 * i + 3), move[i]);
  }
  return sum;
}

static void pushTouch(Back* s, const djTouch* t, const double lambda[12]) {
  double by[12] = {0};
  dj_pullTouch(by, t, lambda);
  for (int i = 0; i < 2; i++) {
    FlightBar* body = &s->body[t->body[i]];
    body->torque = dju_add3(body->torque, dju_load3(by + 6 * i));
    body->force = dju_add3(body->force, dju_load3(by + 6 * i + 3));
  }
}

// The rates of a body before impulse k, a time into the step.
static void ratesAt(Back* s, djVec3* turn, djVec3* move, int b, const djImpulse* k, double time) {
  const djFlight* way = &s->w->impulses->way[b];
  djSix V = twistAlong(&s->w->begin.kin, s->w, s->m, b, k->before);
  djSix base = dj_mocapTwist(s->w, s->m, b, &dj_fromPlace(s->w)->kin);
  djVec3 arm = dju_sub3(dj_fromPlace(s->w)->kin.com[b], s->w->ref[b]);
  *turn = dju_madd3(dju_add3(V.w, base.w), time, way->spin);
  *move = dju_madd3(dju_add3(V.v, dju_add3(base.v, dju_cross3(base.w, arm))), time, way->push);
}

// The rotation of a body from a time of the step to that of impulse k.
static djVec3 turnedSince(Back* s, int b, const djImpulse* k, double time) {
  djVec3 turn, move;
  ratesAt(s, &turn, &move, b, k, 0.5 * (time + k->time));
  return dju_scale3(k->time - time, turn);
}

static bool isMoved(const FlightBar* body) {
  const djVec3 *t = &body->torque, *f = &body->force, *c = &body->com;
  return t->x != 0 || t->y != 0 || t->z != 0 || f->x != 0 || f->y != 0 || f->z != 0 ||
         c->x != 0 || c->y != 0 || c->z != 0;
}

// What moves with the time of the impulse is by the poses there, which go on from those `before`;
// the time by the touch.
static void pullTime(Back* s, double lambda[12], const djImpulse* k, double before) {
  const djTouch* t = &k->touch;
  djVec3 turn[2], move[2];
  for (int b = 0; b < s->m->nbody; b++) {
    djVec3 w, v;
    const FlightBar* body = &s->body[b];
    if (!isMoved(body)) continue;
    ratesAt(s, &w, &v, b, k, k->time);
    w = dju_mulMtV(dju_rightJacobian(turnedSince(s, b, k, before)), w);
    s->time += dju_dot3(body->torque, w) + dju_dot3(body->force, v) + dju_dot3(body->com, v);
  }
  if (!k->timed) return;
  double one[12] = {0}, by[12] = {0};
  for (int i = 0; i < 2; i++) {
    int b = t->body[i];
    ratesAt(s, &turn[i], &move[i], b, k, k->time);
    turn[i] = dju_mulMtV(dju_rightJacobian(turnedSince(s, b, k, before)), turn[i]);
  }
  dju_store3(one + 9, dju_neg3(t->normal));
  dj_pullTouch(by, t, one);
  double f = -s->time / alongRates(turn, move, by);   // size(pose, t) = 1
  for (int i = 0; i < 12; i++) {
    one[i] *= f;
    lambda[i] += one[i];
  }
  pushTouch(s, t, one);
  s->time = 0;
}

// From the poses at impulse k to those `before`, and to the rates between: x -> c + v time + p time^2/2
// + exp(turned)(x - c), with rates at `before`.
static void pullFlight(Back* s, const djImpulse* k, double before) {
  double time = k->time - before, half = 0.5 * (k->time * k->time - before * before);
  for (int b = 0; b < s->m->nbody; b++) {
    FlightBar* body = &s->body[b];
    djVec3 w, v;
    if (!isMoved(body)) continue;
    ratesAt(s, &w, &v, b, k, before);
    djVec3 moved = dju_add3(body->force, body->com), turn = turnedSince(s, b, k, before);
    djVec3 spin = dju_mulMV(dju_rightJacobian(turn), body->torque);
    djMat3 E = dju_quatToMat(dju_expQuat(turn));
    s->time -= dju_dot3(spin, w) + dju_dot3(moved, v);
    body->move = dju_madd3(body->move, time, moved);
    body->turn = dju_madd3(body->turn, time, spin);
    body->push = dju_madd3(body->push, half, moved);
    body->spin = dju_madd3(body->spin, half, spin);
    djVec3 back = dju_mulMtV(E, body->force);
    body->com = dju_add3(body->com, dju_sub3(body->force, back));
    body->force = back;
    body->torque = dju_mulMtV(E, body->torque);
  }
}

// Rates along joint rates x (nv), cotangents in work->momentum_change, to `by` (nv) and q.
static void pullAlong(Back* s, double* by, const double* x) {
  pullWrenches(s, 1, x, s->w->momentum_change);
  dj_projectWrench(by, s->m, &s->w->begin.kin, s->w->wrench);
}

// The rates by joint velocities before impulse k, and by the start.
static void pullRates(Back* s, const djImpulse* k) {
  double* W = s->w->momentum_change;
  for (int b = 0; b < s->m->nbody; b++) {
    dju_store3(W + 6 * b, s->body[b].turn);
    dju_store3(W + 6 * b + 3, s->body[b].move);
    s->body[b].turn = s->body[b].move = dju_vec3(0, 0, 0);
  }
  pullAlong(s, s->velocity, k->before);
}

// The accelerations, of all impulses.
static void pullAccel(Back* s) {
  double* W = s->w->momentum_change;
  for (int b = 0; b < s->m->nbody; b++) {
    dju_store3(W + 6 * b, s->body[b].spin);
    dju_store3(W + 6 * b + 3, s->body[b].push);
  }
  pullAlong(s, s->accel, s->w->impulses->a);
}

static djStatus pullImpulse(Back* s, int index, const double* lambda, const double* mu) {
  const struct djImpulses* all = s->w->impulses;
  const djImpulse* k = &all->of[index];
  double before = index ? all->of[index - 1].time : 0, place[12], along;
  ImpulseBar bar;
  djImpactGrad by;
  memset(&bar, 0, sizeof bar);
  djStatus status = pullChange(s, &bar, k, lambda, mu);
  if (status < 0) return status;
  pullLaw(s, &bar, k, &by);
  pullPlace(s, place, &along, &bar, k);
  pushTouch(s, &k->touch, place);
  pullTime(s, place, k, before);
  if (s->sums) {
    status = dj_touchParams(s->sums->param, s->sums->shape, dj_contactsOf(&s->w->forces), s->m,
                            &k->touch, place, along,
                            (djImpactSlopes){by.friction, by.restitution});
    if (status < 0) return status;
  }
  double rest = s->time;
  s->time = 0;
  pullFlight(s, k, before);
  if (!k->timed) s->time += rest;   // it is the time of the impulse before
  pullRates(s, k);
  return DJ_OK;
}

// ---- all --------------------------------------------------------------------------------------

// Poses and centres of mass at the start.
static void pullStart(Back* s) {
  djWork* w = s->w;
  const djModel* m = s->m;
  memset(w->wrench, 0, (size_t)m->nbody * 6 * sizeof(double));
  for (int b = 0; b < m->nbody; b++) {
    const FlightBar* body = &s->body[b];
    djVec3 force = dju_add3(body->force, body->com);
    djVec3 arm = dju_sub3(w->begin.kin.com[b], w->ref[b]);
    dju_store3(w->wrench + 6 * b, dju_add3(body->torque, dju_cross3(arm, force)));
    dju_store3(w->wrench + 6 * b + 3, force);
    if (!s->sums || b == 0) continue;
    double* ipos = dj_paramBlock(s->sums->param, m, DJ_FIELD_BODY_IPOS);
    dju_addTo3(ipos + 3 * b, 1, dju_mulMtV(w->begin.kin.body[b].R, body->com));
  }
  if (s->sums) {
    const djConfig start = dj_wantedConfig(s->sums, &w->begin.kin, w->start.qpos, w->ref);
    memcpy(s->sums->C, w->wrench, (size_t)m->nbody * 6 * sizeof(double));
    dj_gatherCotangents(s->sums->C, m, w->ref);
    dj_frameParams(s->sums->param, m, &start, s->sums->C);
  }
  dj_gatherWrench(w->wrench, m);
  dj_projectWrench(s->q, m, &w->begin.kin, w->wrench);
}

djStatus dj_impulseVjp(const djImpulseBar* by, djParamSums* sums, djWork* w, const djModel* m,
                       const double* lambda, const double* mu) {
  size_t nv = m->nv, nb = m->nbody, each = sizeof(FlightBar) / sizeof(double);
  struct djImpulses* all = w->impulses;
  double* memory = all->bar;
  Back s = {.w = w, .m = m, .sums = sums, .held = all->held && !sums};
  s.body = (FlightBar*)(void*)memory;
  s.z = memory + each * nb;
  s.velocity = s.z + nv;
  s.zero = s.velocity + nv;
  s.accel = s.zero + nv;
  double* own = s.accel + nv;
  s.by_dof = own + nv;
  memset(memory, 0, (each * nb + 5 * nv) * sizeof(double));
  s.q = by->q ? by->q : own;
  dj_openPlace(&w->begin, m, w->ref);
  djStatus status = DJ_OK;
  for (int k = all->n - 1; k >= 0 && status >= 0; k--) status = pullImpulse(&s, k, lambda, mu);
  if (status < 0) return status;
  pullAccel(&s);
  pullStart(&s);
  addTimes(by->c, 1, s.velocity, m->nv);
  addTimes(by->a, 1, s.accel, m->nv);
  return DJ_OK;
}
