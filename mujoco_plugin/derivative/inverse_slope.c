// Derivatives of inverse dynamics of rigid bodies, exact and in one sweep (djm_inverseSlope).
//
// All spatial vectors are about one point of the tree (MuJoCo's subtree_com), which is held fixed.
// Body b has velocity v, acceleration a (with -gravity at the root), inertia I, and
//   f = I a + v x* I v,     tau_j = S_j . F_j,   F: f summed over the subtree.
// Let v', a' be velocity and acceleration before joint k, v+ the velocity behind it, and
//   R_k = v' x S_k (MuJoCo's cdof_dot),   D_k = a' x S_k + v' x R_k,   T_k = R_k + v+ x S_k
// (of a free joint's translations R = T = 0: their axes stay). Moving along q_k carries all that
// follows along as a rigid body, while what precedes stays:
//   dv/dq_k = S_k x v + R_k,   da/dq_k = S_k x a + R_k x v + D_k,
//   dv/dv_k = S_k,             da/dv_k = S_k x v + T_k.
// So with B x = v x* I x - I (v x x) + x x* I v, and C, G, F the sums of I, B, f over the subtree,
//   df/dq_k = S_k x* f + I D_k + B R_k,    df/dv_k = I T_k + B S_k.
// j before k (on the way to the root):
//   dtau_j/dq_k = S_j . (C D_k + G R_k + S_k x* F)           of body k
//   dtau_j/dv_k = S_j . (C T_k + G S_k)
// j = k, or j after k, or both of one quaternion (S_j turns with k, and S_k x* F cancels):
//   dtau_j/dq_k = (C S_j) . D_k + (G^T S_j) . R_k            of body j
//   dtau_j/dv_k = (C S_j) . T_k + (G^T S_j) . S_k
// By Jacobi's identity B sees the angular part alone: with J the inertia about the point, P =
// tr(J)/2 - J, m c the first moment, w and u the angular and linear velocity, p the momentum m u +
// w x m c,
//   B x = ( 2 (m c . u - u m c^T - [w] P) x_a,  2 x_a x p ),
// nine and three numbers. Sums of them are those of the subtree. d->crb has C.

#include "slope_math.h"
#include "smooth_work.h"

#include <string.h>

// f, B and p of a body at velocity v.
static inline void bodyTerms(djmBody* b, const double* I, const double* v) {
  double h[6], f[6], P[9], *B = b->sum + DJM_CORIOLIS;
  const double *c = I + 6, *w = v, *u = v + 3;
  mulInertia(h, I, v);
  mulInertia(f, I, b->acc);
  addCrossForce(f, v, h);
  memcpy(b->sum + DJM_FORCE, f, sizeof(f));
  copy3(b->sum + DJM_MOMENTUM, h + 3);
  double half = 0.5 * (I[0] + I[1] + I[2]), cu = dot3(c, u);
  P[0] = half - I[0];
  P[4] = half - I[1];
  P[8] = half - I[2];
  P[1] = P[3] = -I[3];
  P[2] = P[6] = -I[4];
  P[5] = P[7] = -I[5];
  for (int k = 0; k < 3; k++) {
    B[k] = -2 * (w[1] * P[6 + k] - w[2] * P[3 + k] + u[0] * c[k]);
    B[3 + k] = -2 * (w[2] * P[k] - w[0] * P[6 + k] + u[1] * c[k]);
    B[6 + k] = -2 * (w[0] * P[3 + k] - w[1] * P[k] + u[2] * c[k]);
  }
  B[0] += 2 * cu;
  B[4] += 2 * cu;
  B[8] += 2 * cu;
}

// R, D and T of a body's dofs; its acceleration. a: NULL: zero.
static inline void bodyMotion(djmSmoothWork* w, const mjModel* m, const mjData* d, int body,
                              const double* a) {
  int parent = m->body_parentid[body], i = m->body_dofadr[body], end = i + m->body_dofnum[body];
  double v[6], acc[6];
  memcpy(v, d->cvel + 6 * parent, sizeof(v));
  memcpy(acc, w->body[parent].acc, sizeof(acc));
  while (i < end) {
    int first = i, last = w->groupend[i];
    double after[6], next[6];
    memcpy(after, v, sizeof(v));
    memcpy(next, acc, sizeof(acc));
    for (; i < last; i++) {
      djmDof* dof = w->dof + i;
      const double *axis = d->cdof + 6 * i, *rate = d->cdof_dot + 6 * i;
      double bend[6] = {0};
      addCrossMotion(bend, acc, axis);
      addCrossMotion(bend, v, rate);
      memcpy(dof->axis, axis, sizeof(dof->axis));
      memcpy(dof->bend, bend, sizeof(bend));
      memcpy(dof->turn, rate, sizeof(dof->turn));
      copy3(dof->rate, rate);
      addScl6(after, axis, d->qvel[i]);
      if (a) addScl6(next, axis, a[i]);
      addScl6(next, rate, d->qvel[i]);
    }
    if (last - first == 3) {
      for (int k = first; k < last; k++) addCrossMotion(w->dof[k].turn, after, w->dof[k].axis);
    } else if (m->jnt_type[m->dof_jntid[first]] != mjJNT_FREE) {
      addScl6(w->dof[first].turn, d->cdof_dot + 6 * first, 1);
    }
    memcpy(v, after, sizeof(v));
    memcpy(acc, next, sizeof(acc));
  }
  memcpy(w->body[body].acc, acc, sizeof(acc));
}

// Row and column k: dofs on its way to the root.
static inline void dofTerms(double* by_q, double* by_v, djmSmoothWork* w, const mjModel* m,
                            const double* C, int k) {
  int nv = w->nv, first = k;
  const djmDof* own = w->dof + k;
  const double* sum = w->body[m->dof_bodyid[k]].sum;
  const double *G = sum + DJM_CORIOLIS, *S = own->axis, *R = own->rate, *p = sum + DJM_MOMENTUM;
  double P[6], Q[3], U[6], W[6], twice[3] = {2 * p[0], 2 * p[1], 2 * p[2]}, q[3];
  mulInertia(P, C, S);
  mulInertia(U, C, own->bend);
  mulInertia(W, C, own->turn);
  mulMatT3(Q, G, S);
  addCross3(Q, twice, S + 3);
  mulMat3(q, G, R);
  addScl3(U, q, 1);
  addCross3(U + 3, R, twice);
  addCrossForce(U, S, sum + DJM_FORCE);
  mulMat3(q, G, S);
  addScl3(W, q, 1);
  addCross3(W + 3, S, twice);
  int end = w->groupend[k];
  while (first > 0 && w->groupend[first - 1] == end) first--;
  double *row_q = by_q + (size_t)k * nv, *row_v = by_v + (size_t)k * nv;
  for (int j = first; j < end; j++) { // of its own group
    const djmDof* o = w->dof + j;
    row_q[j] = dot6(P, o->bend) + dot3(Q, o->rate);
    row_v[j] = dot6(P, o->turn) + dot3(Q, o->axis);
  }
  for (int j = m->dof_parentid[first]; j >= 0; j = m->dof_parentid[j]) {
    const djmDof* o = w->dof + j;
    row_q[j] = dot6(P, o->bend) + dot3(Q, o->rate);
    row_v[j] = dot6(P, o->turn) + dot3(Q, o->axis);
    by_q[(size_t)j * nv + k] = dot6(o->axis, U);
    by_v[(size_t)j * nv + k] = dot6(o->axis, W);
  }
}

void djm_freeMotion(djmSmoothWork* w, const mjModel* m, const mjData* d) {
  memset(w->body, 0, sizeof(djmBody));
  for (int i = 1; i < w->nbody; i++) bodyMotion(w, m, d, i, NULL);
}

void djm_inverseSlope(double* by_q, double* by_v, const mjModel* m, const mjData* d,
                      const double* a, djmSmoothWork* w) {
  int nbody = w->nbody, nv = w->nv;
  size_t size = (size_t)nv * (size_t)nv * sizeof(double);
  memset(by_q, 0, size);
  memset(by_v, 0, size);
  memset(w->body, 0, sizeof(djmBody));
  if (!(m->opt.disableflags & mjDSBL_GRAVITY)) {
    addScl3(w->body[0].acc + 3, m->opt.gravity, -1);
  }
  for (int i = 1; i < nbody; i++) {
    bodyMotion(w, m, d, i, a);
    bodyTerms(w->body + i, d->cinert + 10 * i, d->cvel + 6 * i);
  }
  for (int i = nbody - 1; i > 0; i--) {
    int parent = m->body_parentid[i];
    if (!parent) continue;
    double* to = w->body[parent].sum;
    const double* from = w->body[i].sum;
    for (int k = 0; k < DJM_NSUM; k++) to[k] += from[k];
  }
  for (int k = 0; k < nv; k++) dofTerms(by_q, by_v, w, m, d->crb + 10 * m->dof_bodyid[k], k);
}
