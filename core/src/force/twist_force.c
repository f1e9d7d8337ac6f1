// With a wrench g(poses, twists) on bodies (minus it, as all gradients), r_i = S_i . sum of g below
// i:
//   dr_i/dq_j = sum S_i . (dg/dpose S_j + dg/dtwist dV/dq_j) + dS_i/dq_j . sum of g.
// Twists V_b = sum S_k v_k, v = log(q_rate^-1 q)/h, change by a dof j before b by what moves with
// it, and by v_j itself (inverse_dynamics.h): dV_b/dq_j = S_j x V_b + D_j,
//   D_j = -S_j x U_j + sum_k S_k (J_r^-1)_kj/h,
// over the dofs k of j's rotation. So with T = dg/dtwist and K = dg/dpose - T [V x],
//   dr/dq = S^T K S + S^T T D + turning.
// By q_rate: dV/dq_j = D0_j = -sum_k S_k (J_r^-T)_kj/h; of prompt motions see dj_turnStart, which
// has D1 by the start besides. By a frame's motion S, which no velocity goes with, S x V_b - S x
// U; it turns what is below it, wrenches by S x* g, so that for twists x along z, as z . r changes
// with a frame, C_b = K^T x + x_b x* g_b, and with T^T x below it.

#include "force/twist_force.h"

#include "base/arena.h"
#include "math/so3.h"
#include "math/spatial.h"
#include "model/frame_param.h"
#include "model/momentum.h"

#include <string.h>

static void layout(djTwistForces* s, djArena* a, const djModel* m) {
  size_t nv = m->nv, nb = m->nbody;
  s->v = dj_take(a, nv, sizeof(double));
  s->V = dj_take(a, 6 * nb, sizeof(double));
  s->D = dj_take(a, 6 * nv, sizeof(double));
  s->D0 = dj_take(a, 6 * nv, sizeof(double));
  s->D1 = dj_take(a, 6 * nv, sizeof(double));
  s->K = dj_take(a, 36 * nb, sizeof(double));
  s->T = dj_take(a, 36 * nb, sizeof(double));
  s->W = dj_take(a, 6 * nb, sizeof(double));
}

size_t dj_twistForcesSize(const djModel* m) {
  djTwistForces s;
  djArena a = {NULL, 0};
  layout(&s, &a, m);
  return a.used;
}

djTwistForces dj_initTwistForces(const djModel* m, void* memory) {
  djTwistForces s = {0};
  djArena a = {memory, 0};
  layout(&s, &a, m);
  return s;
}

// ---- velocities -------------------------------------------------------------------------------

// The sum over a rotation's dofs, D_j += S_k B_kj/h, or one dof's own.
static void addOwn(double* D, double sign, const djKin* kin, int dof, int n, const djMat3* B,
                   double h) {
  for (int j = 0; j < n; j++) {
    djSix sum = dju_load6(D + 6 * (dof + j));
    for (int k = 0; k < n; k++) {
      double b = B ? B->m[3 * k + j] : 1;
      sum = dju_madd6(sum, sign * b / h, dju_load6(kin->S + 6 * (dof + k)));
    }
    dju_store6(D + 6 * (dof + j), sum);
  }
}

static void setOwn(djTwistForces* s, const djMotion* at) {
  const djModel* m = at->model;
  memset(s->D0, 0, (size_t)m->nv * 6 * sizeof(double));
  memset(s->D1, 0, (size_t)m->nv * 6 * sizeof(double));
  for (int j = 0; j < m->njnt; j++) {
    int dof = m->jnt_dofadr[j], rotation = dj_rotationDof(m, j);
    int end = rotation < 0 ? dof + 1 : rotation;
    for (int i = dof; i < end; i++) {
      addOwn(s->D, 1, at->at.kin, i, 1, NULL, at->h);
      addOwn(s->D0, -1, at->at.kin, i, 1, NULL, at->h);
    }
    if (rotation < 0) continue;
    djMat3 J = dj_turnSlope(at, j), by_start, by_rate;
    dj_turnStart(&by_start, &by_rate, at, j);
    addOwn(s->D, 1, at->at.kin, rotation, 3, &J, at->h);
    addOwn(s->D0, -1, at->at.kin, rotation, 3, &by_rate, at->h);
    if (at->prompt) addOwn(s->D1, -1, at->at.kin, rotation, 3, &by_start, at->h);
  }
}

static void setVelocity(double* v, const djMotion* at) {
  const djModel* m = at->model;
  if (!at->prompt) {
    dj_differentiatePos(v, m, at->h, at->rate.q, at->at.q);
    return;
  }
  dj_differentiatePos(v, m, 1, at->at0.q, at->at.q);
  for (int i = 0; i < m->nv; i++) v[i] = (v[i] - at->drift[i]) / at->h;
}

// Of the mocap body that b is or hangs on.
static djSix baseOf(const djTwistForces* s, const djMotion* at, int b) {
  int base = s->bases && at->mocap_rate ? dj_baseBody(at->model, b) : 0;
  int k = at->model->body_mocap[base];
  if (k < 0) return (djSix){{0, 0, 0}, {0, 0, 0}};
  djVec3 turn = dju_load3(at->mocap_rate + 6 * k), move = dju_load3(at->mocap_rate + 6 * k + 3);
  djVec3 arm = dju_sub3(at->ref[b], at->at.kin->body[base].p);
  return (djSix){turn, dju_add3(move, dju_cross3(turn, arm))};
}

void dj_setTwists(djTwistForces* s, const djMotion* at) {
  const djModel* m = at->model;
  const djKin* kin = at->at.kin;
  setVelocity(s->v, at);
  memset(s->V, 0, (size_t)m->nbody * 6 * sizeof(double));
  for (int b = 1; b < m->nbody; b++) {
    int up = m->body_parent[b];
    djSix V = m->body_lastdof[up] < 0 ? baseOf(s, at, b) : dju_load6(s->V + 6 * up), U = V;
    for (int i = m->body_dofadr[b]; i < m->body_dofadr[b] + m->body_dofnum[b]; i++) {
      int rotation = dj_rotationDof(m, m->dof_jnt[i]);
      if (rotation < 0 || i <= rotation) U = V;
      djSix S = dju_load6(kin->S + 6 * i), L = dju_crossTwist(S, U);
      dju_store6(s->D + 6 * i, (djSix){dju_neg3(L.w), dju_neg3(L.v)});
      V = dju_madd6(V, s->v[i], S);
    }
    dju_store6(s->V + 6 * b, V);
  }
  setOwn(s, at);
}

// ---- sums -------------------------------------------------------------------------------------

// K -= T [V x]: columns e -> T (V x e).
static void subtractTurned(double K[36], const double T[36], const double V[6]) {
  for (int c = 0; c < 6; c++) {
    double e[6] = {0}, y[6];
    e[c] = 1;
    dju_store6(y, dju_crossTwist(dju_load6(V), dju_load6(e)));
    for (int r = 0; r < 6; r++) {
      for (int k = 0; k < 6; k++) K[6 * r + c] -= T[6 * r + k] * y[k];
    }
  }
}

static void clear(double* x, const djModel* m, int n) {
  memset(x, 0, (size_t)m->nbody * (size_t)n * sizeof(double));
}

void dj_openTwistForces(djTwistForces* s, const djMotion* at) {
  if (s->open) return;
  dj_setTwists(s, at);
  dj_clearTwistForces(s, at->model);
}

void dj_clearTwistForces(djTwistForces* s, const djModel* m) {
  s->open = true;
  clear(s->K, m, 36);
  clear(s->T, m, 36);
  clear(s->W, m, 6);
}

void dj_addWrenchBy(djTwistForces* s, djMatrix* H, const djMotion* at, int a, int b, double K[36],
                    const double T[36]) {
  const djModel* m = at->model;
  djKin rates = *at->at.kin;
  rates.S = s->D;
  subtractTurned(K, T, s->V + 6 * b);
  if (a != b) {
    dj_projectCrossMixed(H, m, at->at.kin, at->at.kin, a, b, K);
    dj_projectCrossMixed(H, m, at->at.kin, &rates, a, b, T);
    return;
  }
  for (int i = 0; i < 36; i++) s->K[36 * a + i] += K[i];
  for (int i = 0; i < 36; i++) s->T[36 * a + i] += T[i];
}

void dj_projectTwistForces(djTwistForces* s, djMatrix* H, double* gradient, const djMotion* at) {
  const djModel* m = at->model;
  djKin rates = *at->at.kin;
  rates.S = s->D;
  dj_gatherWrench(s->W, m);
  dj_gatherMatrix(s->K, m);
  dj_gatherMatrix(s->T, m);
  dj_projectWrench(gradient, m, at->at.kin, s->W);
  dj_projectMixed(H, m, at->at.kin, at->at.kin, s->K);
  dj_projectMixed(H, m, at->at.kin, &rates, s->T);
  dj_projectTurning(H, m, at->at.kin, s->W);
}

void dj_addWrenchByRate(djTwistForces* s, djStartSum* sum, const djMotion* at, int a, int b,
                        const double T[36]) {
  djKin rates = *at->at.kin, start = rates;
  rates.S = s->D0;
  start.S = s->D1;
  if (a != b) {
    dj_projectCrossMixed(sum->Rrate, at->model, at->at.kin, &rates, a, b, T);
    if (at->prompt) dj_projectCrossMixed(sum->R0, at->model, at->at.kin, &start, a, b, T);
    return;
  }
  for (int i = 0; i < 36; i++) s->T[36 * a + i] += T[i];
}

void dj_projectTwistRates(djTwistForces* s, djStartSum* sum, const djMotion* at) {
  djKin rates = *at->at.kin, start = rates;
  rates.S = s->D0;
  start.S = s->D1;
  dj_gatherMatrix(s->T, at->model);
  dj_projectMixed(sum->Rrate, at->model, at->at.kin, &rates, s->T);
  if (at->prompt) dj_projectMixed(sum->R0, at->model, at->at.kin, &start, s->T);
}

// ---- parameters -------------------------------------------------------------------------------

void dj_addTwistCotangent(djTwistForces* s, djParamSums* p, int b, const double y[6],
                          const double t[6], const double g[6]) {
  djSix V = dju_load6(s->V + 6 * b), x = dju_load6(p->x + 6 * b);
  djSix C = dju_add6(dju_load6(y), dju_crossWrench(V, dju_load6(t)));
  C = dju_add6(C, dju_crossWrench(x, dju_load6(g)));
  double* to = p->C + 6 * b;
  dju_store6(to, dju_add6(dju_load6(to), C));
  for (int i = 0; i < 6; i++) s->W[6 * b + i] += t[i];
}

// y . (U x S) with -: what moves with U is not turned.
static djSix unturned(const djFramePlace* p) {
  djSix y = dju_crossWrench(p->above[0], p->below[0]);
  return (djSix){dju_neg3(y.w), dju_neg3(y.v)};
}

void dj_projectTwistCotangents(djTwistForces* s, djParamSums* p, const djMotion* at) {
  if (!(p->wants & DJ_BY_FRAME)) return;
  dj_gatherCotangents(s->W, at->model, at->ref);
  p->field[p->nfield++] =
      (djFrameField){.above = {s->V}, .rate = {s->v}, .below = {s->W}, .dual = unturned};
}
