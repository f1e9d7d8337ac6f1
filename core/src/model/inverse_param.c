// z . ID by parameters. With twists x_b along z, a body's part is x . (I A + V x* I V) = x . I A -
// (V x x) . I V: linear in its inertia. A parameter that moves frames acts as a joint that is
// inserted and stands still (frame_param.h), with subspace S: of dID/dq (inverse_dynamics.h) that
// leaves, with P and Q the sums of I_b x_b and B_b^T x_b below it, x, U and A(U) what is above,
//   - P . K - Q . L + x . (S x* F) = S . D,
//   D = -A(U) x* P + U x* (U x* P) - U x* Q - x x* F.

#include "model/inverse_dynamics.h"

#include "math/spatial.h"
#include "model/body_inertia.h"
#include "model/param.h"

#include <string.h>

void dj_addTensor(double tensor[6], double s, const djMat3* R, djVec3 a, djVec3 b) {
  djVec3 x = dju_mulMtV(*R, a), y = dju_mulMtV(*R, b);
  tensor[0] += s * x.x * y.x;
  tensor[1] += s * x.y * y.y;
  tensor[2] += s * x.z * y.z;
  tensor[3] += s * (x.x * y.y + x.y * y.x);
  tensor[4] += s * (x.x * y.z + x.z * y.x);
  tensor[5] += s * (x.y * y.z + x.z * y.y);
}

// m (u . a - y . c) + w . I alpha - (omega x w) . I omega, with u, a, y and c the linear parts of
// x, A, V x x and V at the centre of mass: arm moves by R de.
static void addBody(double* param, double tensor[6], const djInverse* d, const djModel* m,
                    const djKin* kin, const djInertia* I, int b, djSix x) {
  djSix V = dju_load6(d->V + 6 * b), A = dju_load6(d->A + 6 * b), y = dju_crossTwist(V, x);
  djVec3 u = dju_add3(x.v, dju_cross3(x.w, I->arm)), a = dju_add3(A.v, dju_cross3(A.w, I->arm));
  djVec3 s = dju_add3(y.v, dju_cross3(y.w, I->arm)), c = dju_add3(V.v, dju_cross3(V.w, I->arm));
  dj_paramBlock(param, m, DJ_FIELD_BODY_MASS)[b] += dju_dot3(u, a) - dju_dot3(s, c);
  djVec3 g = dju_add3(dju_cross3(a, x.w), dju_cross3(u, A.w));
  g = dju_sub3(g, dju_add3(dju_cross3(c, y.w), dju_cross3(s, V.w)));
  dju_addTo3(dj_paramBlock(param, m, DJ_FIELD_BODY_IPOS) + 3 * b, I->mass,
       dju_mulMtV(kin->body[b].R, g));
  dj_addTensor(tensor, 1, &kin->principal[b], x.w, A.w);
  dj_addTensor(tensor, -1, &kin->principal[b], y.w, V.w);
}

// B^T x = V-adjoint of I x, h and the rest: x . B e = e . (V x* I x - x x* h - I (V x x)).
static djSix coriolisTransposed(const djInertia* I, djSix V, djSix x) {
  djSix h = dju_mulInertia(I, V);
  djSix y = dju_crossWrench(V, dju_mulInertia(I, x));
  y = dju_sub6(y, dju_crossWrench(x, h));
  return dju_sub6(y, dju_mulInertia(I, dju_crossTwist(V, x)));
}

static djSix dualAt(const djFramePlace* p) {
  djSix x = p->above[0], U = p->above[1], AU = p->above[2];
  djSix F = p->below[0], P = p->below[1], Q = p->below[2];
  djSix y = dju_crossWrench(U, dju_sub6(dju_crossWrench(U, P), Q));
  y = dju_sub6(y, dju_crossWrench(AU, P));
  return dju_sub6(y, dju_crossWrench(x, F));
}

djFrameField dj_inverseField(double* param, double* tensor, double* x, double* P, double* Q,
                             const djInverse* d, const djModel* m, const djConfig* at,
                             const double* z, const double* qvel, const double* qacc) {
  size_t size = (size_t)m->nbody * 6 * sizeof(double);
  dj_bodyTwists(x, m, at->kin, z);
  memset(P, 0, size);
  memset(Q, 0, size);
  for (int b = 1; b < m->nbody; b++) {
    if (m->body_lastdof[b] < 0) continue;
    const djInertia* I = &d->I[b];
    djSix xb = dju_load6(x + 6 * b);
    if (!at->wants || at->wants[b] & DJ_BY_INERTIA) {
      addBody(param, tensor + 6 * b, d, m, at->kin, I, b, xb);
    }
    dju_store6(P + 6 * b, dju_mulInertia(I, xb));
    dju_store6(Q + 6 * b, coriolisTransposed(I, dju_load6(d->V + 6 * b), xb));
  }
  dj_gatherWrench(P, m);
  dj_gatherWrench(Q, m);
  return (djFrameField){.above = {x, d->V, d->A},
                        .rate = {z, qvel, qacc},
                        .axis_cross = {NULL, NULL, d->L},
                        .axis_cross_rate = {NULL, NULL, qvel},
                        .below = {d->F, P, Q},
                        .dual = dualAt};
}

void dj_inverseParams(double* param, double* tensor, double* x, double* P, double* Q,
                      const djInverse* d, const djModel* m, const djConfig* at, const double* z,
                      const double* qvel, const double* qacc) {
  const djFrameField field = dj_inverseField(param, tensor, x, P, Q, d, m, at, z, qvel, qacc);
  dj_frameParamsOf(param, m, at, 1, &field);
}
