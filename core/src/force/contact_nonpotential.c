// With a wrench g(poses, twists) on bodies (minus it, as all gradients), r_i = S_i . sum of g below
// i:
//   dr_i/dq_j = sum S_i . (dg/dpose S_j + dg/dtwist dV/dq_j) + dS_i/dq_j . sum of g.
// Twists V_b = sum S_k v_k, v = log(q_rate^-1 q)/h or flat (motion.h), change by a dof j before b
// by what moves with it, and by v_j itself (inverse_dynamics.h): dV_b/dq_j = S_j x V_b + D_j,
//   D_j = -S_j x U_j + sum_k S_k (J_r^-1)_kj/h,
// over the dofs k of j's rotation. So with T = dg/dtwist and K = dg/dpose - T [V x],
//   dr/dq = S^T K S + S^T T D + turning.
// By q_rate: dV/dq_j = D0_j = -sum_k S_k (J_r^-T)_kj/h, or see dj_flatStart. By a frame's motion S,
// which no velocity goes with, S x V_b - S x U.

#include "force/contact_nonpotential.h"

#include "base/arena.h"
#include "math/so3.h"
#include "math/spatial.h"
#include "model/frame_param.h"
#include "model/momentum.h"

#include <string.h>

bool dj_hasNonpotentialContact(const djModel* m) {
  for (int u = 0; m->collision && u < m->collision->nuse; u++) {
    if (m->collision->use[u] == DJ_CONTACT_NONE) continue;
    const djTraits traits = dj_modelTraits(m, m->collision->use[u]);
    if (!dj_isPotential(&traits)) return true;
  }
  return false;
}

static void layout(djNonpotential* s, djArena* a, const djModel* m) {
  size_t nv = m->nv, nb = m->nbody;
  s->v = dj_take(a, nv, sizeof(double));
  s->V = dj_take(a, 6 * nb, sizeof(double));
  s->D = dj_take(a, 6 * nv, sizeof(double));
  s->D0 = dj_take(a, 6 * nv, sizeof(double));
  s->K = dj_take(a, 36 * nb, sizeof(double));
  s->T = dj_take(a, 36 * nb, sizeof(double));
  s->W = dj_take(a, 6 * nb, sizeof(double));
}

size_t dj_nonpotentialSize(const djModel* m) {
  djNonpotential s;
  djArena a = {NULL, 0};
  layout(&s, &a, m);
  return a.used;
}

djNonpotential dj_initNonpotential(const djModel* m, void* memory) {
  djNonpotential s;
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

static void setOwn(djNonpotential* s, const djMotion* at) {
  const djModel* m = at->model;
  for (int j = 0; j < m->njnt; j++) {
    int dof = m->jnt_dofadr[j], rotation = dj_rotationDof(m, j);
    int end = rotation < 0 ? dof + 1 : rotation;
    for (int i = dof; i < end; i++) addOwn(s->D, 1, at->at.kin, i, 1, NULL, at->h);
    if (rotation < 0) continue;
    djMat3 J = dj_turnSlope(at, j);
    addOwn(s->D, 1, at->at.kin, rotation, 3, &J, at->h);
  }
}

void dj_setTwistStart(djNonpotential* s, const djMotion* at, bool beside) {
  const djModel* m = at->model;
  memset(s->D0, 0, (size_t)m->nv * 6 * sizeof(double));
  for (int j = 0; j < m->njnt; j++) {
    int dof = m->jnt_dofadr[j], rotation = dj_rotationDof(m, j);
    int end = rotation < 0 ? dof + 1 : rotation;
    for (int i = dof; i < end && !beside; i++) addOwn(s->D0, -1, at->at.kin, i, 1, NULL, at->h);
    if (rotation < 0) continue;
    djMat3 J = dj_turnSlope(at, j), by_start, by_rate;
    for (int k = 0; k < 9; k++) by_rate.m[k] = J.m[3 * (k % 3) + k / 3];
    if (at->drift) dj_flatStart(&by_start, &by_rate, at, j);
    addOwn(s->D0, -1, at->at.kin, rotation, 3, beside ? &by_start : &by_rate, at->h);
  }
}

static void setVelocity(double* v, const djMotion* at) {
  const djModel* m = at->model;
  if (!at->drift) {
    dj_differentiatePos(v, m, at->h, at->rate.q, at->at.q);
    return;
  }
  dj_differentiatePos(v, m, 1, at->at0.q, at->at.q);
  for (int i = 0; i < m->nv; i++) v[i] = (v[i] - at->drift[i]) / at->h;
}

void dj_setTwists(djNonpotential* s, const djMotion* at) {
  const djModel* m = at->model;
  const djKin* kin = at->at.kin;
  setVelocity(s->v, at);
  memset(s->V, 0, (size_t)m->nbody * 6 * sizeof(double));
  for (int b = 1; b < m->nbody; b++) {
    if (m->body_lastdof[b] < 0) continue;
    djSix V = dju_load6(s->V + 6 * m->body_parent[b]), U = V;
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

// Block of bodies r, s of a 12 x 12 matrix.
static void copyBlock(double K[36], const double* from, int r, int s) {
  from += 72 * r + 6 * s;
  for (int i = 0; i < 6; i++) memcpy(K + 6 * i, from + 12 * i, 6 * sizeof(double));
}

// dg/dpose of bodies r, s: a kernel's is in exponential coordinates.
static void poseBlock(double K[36], const djContactBlock* c, int r, int s) {
  double Q[36];
  copyBlock(Q, c->out.hessian, r, s);
  memset(K, 0, 36 * sizeof(double));
  if (r == s) dj_addNested(K, Q, c->out.gradient + 6 * r);
  else memcpy(K, Q, sizeof Q);
}

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

static bool moves(const djModel* m, int body) { return m->body_lastdof[body] >= 0; }

static void addBlock(djForceSum* sum, djNonpotential* s, const djContactBlock* c,
                     const djMotion* at) {
  const djModel* m = at->model;
  int body[2] = {c->body_a, c->body_b};
  djKin kin = *at->at.kin, rates = kin;
  rates.S = s->D;
  for (int r = 0; r < 2; r++) {
    if (!moves(m, body[r])) continue;
    for (int k = 0; k < 6; k++) s->W[6 * body[r] + k] += c->out.gradient[6 * r + k];
    for (int k = 0; k < 2; k++) {
      if (!moves(m, body[k])) continue;
      double K[36], T[36] = {0};
      poseBlock(K, c, r, k);
      if (c->out.twist_jac) copyBlock(T, c->out.twist_jac, r, k);
      subtractTurned(K, T, s->V + 6 * body[k]);
      if (r == k) {
        for (int i = 0; i < 36; i++) s->K[36 * body[r] + i] += K[i];
        for (int i = 0; i < 36; i++) s->T[36 * body[r] + i] += T[i];
      } else {
        dj_projectCrossMixed(sum->H, m, &kin, &kin, body[r], body[k], K);
        dj_projectCrossMixed(sum->H, m, &kin, &rates, body[r], body[k], T);
      }
    }
  }
}

static void clear(double* x, const djModel* m, int n) {
  memset(x, 0, (size_t)m->nbody * (size_t)n * sizeof(double));
}

void dj_addNonpotential(djForceSum* sum, double* gradient, djNonpotential* s,
                        const djContacts* list, const djMotion* at) {
  const djModel* m = at->model;
  if (!s->V) return;
  int n, any = 0;
  const djContactBlock* const* block = dj_contactBlocks(&n, list);
  for (int k = 0; k < n; k++) any += !dj_isPotential(block[k]->traits);
  if (any == 0) return;
  dj_setTwists(s, at);
  clear(s->K, m, 36);
  clear(s->T, m, 36);
  clear(s->W, m, 6);
  for (int k = 0; k < n; k++) {
    if (!dj_isPotential(block[k]->traits)) addBlock(sum, s, block[k], at);
  }
  djKin rates = *at->at.kin;
  rates.S = s->D;
  dj_gatherWrench(s->W, m);
  dj_gatherMatrix(s->K, m);
  dj_gatherMatrix(s->T, m);
  dj_projectWrench(gradient, m, at->at.kin, s->W);
  dj_projectMixed(sum->H, m, at->at.kin, at->at.kin, s->K);
  dj_projectMixed(sum->H, m, at->at.kin, &rates, s->T);
  dj_projectTurning(sum->H, m, at->at.kin, s->W);
}

// R += T D0
static void addStart(djMatrix* R, djNonpotential* s, const djContacts* list, const djMotion* at,
                     bool beside) {
  const djModel* m = at->model;
  int n;
  const djContactBlock* const* block = dj_contactBlocks(&n, list);
  djKin rates = *at->at.kin;
  rates.S = s->D0;
  dj_setTwistStart(s, at, beside);
  clear(s->T, m, 36);
  for (int k = 0; k < n; k++) {
    const djContactBlock* c = block[k];
    int body[2] = {c->body_a, c->body_b};
    for (int r = 0; r < 4 && c->out.twist_jac; r++) {
      int a = r / 2, b = r % 2;
      double T[36];
      if (!moves(m, body[a]) || !moves(m, body[b])) continue;
      copyBlock(T, c->out.twist_jac, a, b);
      if (a != b) {
        dj_projectCrossMixed(R, m, at->at.kin, &rates, body[a], body[b], T);
        continue;
      }
      for (int i = 0; i < 36; i++) s->T[36 * body[a] + i] += T[i];
    }
  }
  dj_gatherMatrix(s->T, m);
  dj_projectMixed(R, m, at->at.kin, &rates, s->T);
}

void dj_startNonpotential(djStartSum* sum, djNonpotential* s, const djContacts* list,
                          const djMotion* at) {
  addStart(sum->Rrate, s, list, at, false);
  if (at->drift) addStart(sum->R0, s, list, at, true);
}

// ---- parameters -------------------------------------------------------------------------------

// y . (U x S) with -: what moves with U is not turned.
static djSix unturned(const djFramePlace* p) {
  djSix y = dju_crossWrench(p->above[0], p->below[0]);
  return (djSix){dju_neg3(y.w), dju_neg3(y.v)};
}

// A frame's motion S turns what is below it: wrenches by S x* g, and so
//   C_b = K^T x + x_b x* g_b,  K^T x = (dg/dpose)^T x + V_b x* (T^T x).
void dj_nonpotentialCotangents(djParamSums* p, djNonpotential* s, const djContacts* list,
                               const djMotion* at) {
  const djModel* m = at->model;
  int n;
  const djContactBlock* const* block = dj_contactBlocks(&n, list);
  dj_setTwists(s, at);
  clear(s->W, m, 6);
  for (int k = 0; k < n; k++) {
    const djContactBlock* c = block[k];
    if (dj_isPotential(c->traits)) continue;
    int body[2] = {c->body_a, c->body_b};
    for (int b = 0; b < 2; b++) {
      double y[6] = {0}, t[6] = {0};
      for (int r = 0; r < 2; r++) {
        double K[36];
        poseBlock(K, c, r, b);
        dju_mulAdd6(y, K, 6, p->x + 6 * body[r], true);
        if (!c->out.twist_jac) continue;
        dju_mulAdd6(t, c->out.twist_jac + 72 * r + 6 * b, 12, p->x + 6 * body[r], true);
      }
      djSix V = dju_load6(s->V + 6 * body[b]), x = dju_load6(p->x + 6 * body[b]);
      djSix C = dju_add6(dju_load6(y), dju_crossWrench(V, dju_load6(t)));
      C = dju_add6(C, dju_crossWrench(x, dju_load6(c->out.gradient + 6 * b)));
      double* to = p->C + 6 * body[b];
      dju_store6(to, dju_add6(dju_load6(to), C));
      for (int i = 0; i < 6; i++) s->W[6 * body[b] + i] += t[i];
    }
  }
  dj_gatherCotangents(s->W, m, at->ref);
  const djConfig here = {at->at.kin, at->at.q, at->ref};
  const djFrameField field = {.above = {s->V}, .rate = {s->v}, .below = {s->W}, .dual = unturned};
  dj_frameParamsOf(p->param, m, &here, &field);
}
