// Lagged friction: derivative of lambda . gradient by the lagged points, forces and plane.
//
// lambda . gradient is the derivative of the energy U = sum W_i r_i + spin w^2/2 along the twists
// lambda at fixed plane motion (u, w), and (u, w) minimises U. Its total derivative by any lagged
// quantity is therefore the partial one of
//
//   psi = DU (lambda, delta) = sum W_i yhat_i . sdot_i + spin w dw,
//   delta = (du, dw) = -U_vv^-1 U_vx lambda,
//
// with u, w, du, dw held, and psi does not change when they or the centre c move. Here, see
// friction.c and friction_start.c, with the basis B of the plane, beta = B^T dn,
//
//   s = B^T Delta/h - u - w J e,        sdot = B^T zeta/h - du - dw J e,
//   Delta = (Q - Qr)(y - p) + dp,  Q = R+ R^T,  Qr = Rr R^T (1 where the rate pose is the start),
//   zeta = omega x rho + v,  rho = T+ T^-1 y - ref,
//   ds = B^T dDelta/h - (n.Delta/h) beta - w J de,    de = B^T dy - eta beta,
//
// eta the height of y above the plane. The partial derivatives by s, sdot, W are
//   k sdot,  W yhat,  yhat . sdot,      yhat = s/r,  k = W/r (1 - yhat yhat^T).

#include "contact/friction/friction_plane.h"
#include "contact/friction/turning.h"

#include <string.h>

// The tangents as slips are stretched, with the cotangent of S = 1 + more t2 t2^T in the axes of
// that: (t1, t1), (t1, t2) and (t2, t1) together, (t2, t2).
typedef struct djPlaneBasis {
  djVec3 n, t1, t2;
  djVec3 q1, q2;           // unit, as they were before
  djVec3 d1, d2;           // axes of e
  djStretch stretch;
  double mixed, second;
} djPlaneBasis;

static djVec3 inPlane(const djPlaneBasis* B, double a, double b) {
  return dju_madd3(dju_scale3(a, B->t1), b, B->t2);
}

// What is stretched, v, and its cotangent a q1 + b q2.
static void addStretch(djPlaneBasis* B, djVec3 v, double a, double b) {
  const djStretch* S = &B->stretch;
  if (S->more == 0) return;
  djVec3 by = dju_madd3(dju_scale3(a, B->q1), b, B->q2);
  double by1 = dju_dot3(by, S->t1), by2 = dju_dot3(by, S->t2);
  B->mixed += by1 * dju_dot3(S->t2, v) + by2 * dju_dot3(S->t1, v);
  B->second += by2 * dju_dot3(S->t2, v);
}

// S by the second coefficient, the first, and its axes.
static void finishStretch(djLaggedGrad* grad, const djPlaneBasis* B, const djPairInput* in) {
  if (B->stretch.more == 0) return;
  djSlipAxes axes;
  dj_slipAxes(&axes, in, B->n);
  double spin = -B->stretch.more * B->mixed;
  grad->cone.friction2 += B->second / in->friction;
  grad->coefficient -= B->second * (1 + B->stretch.more) / in->friction;
  dju_addTo3(grad->normal, spin * axes.by_n, axes.t2);
  if (axes.turns) grad->along = dju_madd3(grad->along, spin * axes.by_a, axes.t2);
}

// A point's motion with one body: displacement, its place now, and its velocity along lambda.
typedef struct djPointMotion {
  djVec3 move, velocity;
} djPointMotion;

static djPointMotion motionOf(const djMotion* m, djVec3 y, const double lambda[6]) {
  djPointMotion out;
  out.move = dj_displace(m, y);
  djVec3 rho = dj_armNow(m, y, out.move);
  out.velocity = dju_add3(dju_cross3(dju_load3(lambda), rho), dju_load3(lambda + 3));
  return out;
}

// What a cotangent S of Delta and one Z of zeta are as one of y:
//   (Q - Qr)^T S + Q^T (Z x omega).
static djVec3 pullBack(const djMotion* m, djVec3 S, djVec3 Z, const double lambda[6]) {
  djVec3 q = dju_add3(S, dju_cross3(Z, dju_load3(lambda)));
  if (m->rate != m->start) S = dju_mulMV(m->start->R, dju_mulMtV(m->rate->R, S));
  return dju_sub3(dju_mulMV(m->start->R, dju_mulMtV(m->now->R, q)), S);
}

// A cotangent of y as cotangents of the vertex and the plane. arms = plane: y = x - eta n, eta =
// n.x + o.
static void addArmPoint(djLaggedGrad* grad, int i, djVec3 by_y, const djLagged* lagged,
                        djArms arms) {
  djVec3 x = dju_load3(lagged->point + 3 * i), n = lagged->normal;
  if (arms == DJ_ARMS_PLANE) {
    double along = dju_dot3(n, by_y), eta = dju_dot3(n, x) + lagged->offset;
    djVec3 by_n = dju_madd3(dju_scale3(-eta, by_y), -along, x);
    dju_addTo3(grad->normal, 1, by_n);
    grad->offset -= along;
    by_y = dju_madd3(by_y, -along, n);
  }
  dju_store3(grad->point + 3 * i, by_y);
}

// c in place of sqrt(eps), where torsion and rolling act, and its rate along lambda (turning.h);
// sums of partial derivatives by both.
typedef struct djSmooth {
  double eps, c, dc, by_c, by_dc;
} djSmooth;

// Slip and its rate along (lambda, delta), and the partial derivatives by both and by W.
typedef struct djSlipGrad {
  double by_W, by_s[2], by_rate[2];
} djSlipGrad;

static djSlipGrad slipGrad(djSmooth* smooth, double W, double s1, double s2, double d1,
                           double d2) {
  double ir = 1 / sqrt(s1 * s1 + s2 * s2 + smooth->eps), y1 = s1 * ir, y2 = s2 * ir, c = W * ir;
  double along = y1 * d1 + y2 * d2;
  if (smooth->dc != 0 || smooth->c != 0) {
    double y3 = smooth->c * ir;
    along += y3 * smooth->dc;
    smooth->by_c += c * (smooth->dc - along * y3);
    smooth->by_dc += W * y3;
  }
  return (djSlipGrad){along, {c * (d1 - along * y1), c * (d2 - along * y2)}, {W * y1, W * y2}};
}

// By the weight W = mu h A(f).
static void addWeight(djLaggedGrad* grad, int i, double by_W, const djLagged* lagged,
                      const djPairInput* in) {
  double unit = in->h * by_W, force = lagged->force[i];
  grad->force[i] = unit * in->friction * dj_forceCapSlope(force, lagged->law.eps, lagged->law.cap);
  grad->coefficient += unit * dj_forceCap(force, lagged->law.eps, lagged->law.cap);
}

static void addNormal(djLaggedGrad* grad, const djPlaneBasis* B, double b1, double b2) {
  dju_addTo3(grad->normal, 1, inPlane(B, b1, b2));
}

// ------------------------------------------ half space ------------------------------------------

static djPlaneBasis basisOf(djVec3 n, djStretch stretch) {
  djVec3 t = fabs(n.x) < 0.6 ? dju_cross3(n, dju_vec3(1, 0, 0)) : dju_cross3(n, dju_vec3(0, 1, 0));
  t = dju_scale3(1 / dju_norm3(t), t);
  djVec3 u = dju_cross3(n, t);
  return (djPlaneBasis){.n = n, .t1 = dj_stretched(&stretch, t), .t2 = dj_stretched(&stretch, u),
                        .q1 = t, .q2 = u, .d1 = t, .d2 = u, .stretch = stretch};
}

static djStatus vjpHalfSpace(djLaggedGrad* grad, djSmooth* smooth, const djLagged* lagged,
                             const djPairInput* in, const double lambda[12]) {
  const djMotion a = dj_motionOf(in, 0), b = dj_motionOf(in, 1);
  djPlaneBasis B = basisOf(lagged->normal, dj_stretchOf(lagged, in));
  const double rate = 1 / in->h;
  for (int i = 0; i < lagged->na; i++) {
    double force = lagged->force[i];
    if (!(force >= 0) || !isfinite(force)) return DJ_INVALID;
    djVec3 y = dj_armPoint(lagged, lagged->law.arms, dju_load3(lagged->point + 3 * i));
    djPointMotion ma = motionOf(&a, y, lambda), mb = motionOf(&b, y, lambda + 6);
    djVec3 move = dju_scale3(rate, dju_sub3(ma.move, mb.move));
    djVec3 velocity = dju_scale3(rate, dju_sub3(ma.velocity, mb.velocity));
    double W = dj_slipWeight(in, lagged, i);
    djSlipGrad g = slipGrad(smooth, W, dju_dot3(B.t1, move), dju_dot3(B.t2, move),
                            dju_dot3(B.t1, velocity), dju_dot3(B.t2, velocity));
    addWeight(grad, i, g.by_W, lagged, in);
    double lift = dju_dot3(B.n, move), dlift = dju_dot3(B.n, velocity);
    addNormal(grad, &B, -lift * g.by_s[0] - dlift * g.by_rate[0],
              -lift * g.by_s[1] - dlift * g.by_rate[1]);
    addStretch(&B, move, g.by_s[0], g.by_s[1]);
    addStretch(&B, velocity, g.by_rate[0], g.by_rate[1]);
    djVec3 S = dju_scale3(rate, inPlane(&B, g.by_s[0], g.by_s[1]));
    djVec3 Z = dju_scale3(rate, inPlane(&B, g.by_rate[0], g.by_rate[1]));
    djVec3 by_y = dju_sub3(pullBack(&a, S, Z, lambda), pullBack(&b, S, Z, lambda + 6));
    addArmPoint(grad, i, by_y, lagged, lagged->law.arms);
  }
  finishStretch(grad, &B, in);
  return DJ_OK;
}

// ------------------------------------------ between hulls ---------------------------------------

// Velocity along lambda of the loaded point k, over h, in the plane.
static void pointRate(double out[2], djVec3* velocity, const djSlips* S, int k,
                      const djPairInput* in, const double lambda[12]) {
  const double* twist = k < S->na ? lambda : lambda + 6;
  djVec3 rho = dju_vec3(S->rx[k], S->ry[k], S->rz[k]);
  djVec3 v = dju_add3(dju_cross3(dju_load3(twist), rho), dju_load3(twist + 3));
  *velocity = dju_scale3(1 / in->h, v);
  out[0] = dju_dot3(S->t1, *velocity);
  out[1] = dju_dot3(S->t2, *velocity);
}

// delta = U_vv^-1 sum E^T k (B^T zeta/h), E = (1, J e), in units of S->v.
static void planeRate(double delta[3], const djSlips* S, const djSmooth* smooth,
                      const djPairInput* in, const double lambda[12]) {
  double b[3] = {0, 0, 0};
  djSmooth own = *smooth;
  for (int k = 0; k < S->n; k++) {
    double d[2], ex = S->ex[k], ey = S->ey[k];
    djVec3 velocity;
    pointRate(d, &velocity, S, k, in, lambda);
    djSlipGrad g = slipGrad(&own, S->W[k], S->bx[k] - S->v[0] + S->v[2] * ey,
                            S->by[k] - S->v[1] - S->v[2] * ex, d[0], d[1]);
    b[0] += g.by_s[0];
    b[1] += g.by_s[1];
    b[2] += ex * g.by_s[1] - ey * g.by_s[0];
  }
  djPlaneFactor f;
  dj_factorSlips(&f, S->at.H);
  b[1] -= f.l10 * b[0];
  b[2] -= f.l20 * b[0] + f.l21 * b[1];
  delta[2] = b[2] / f.d2;
  delta[1] = b[1] / f.d1 - f.l21 * delta[2];
  delta[0] = b[0] / f.d0 - f.l10 * delta[1] - f.l20 * delta[2];
}

// How psi's spin term follows W and e: spin(total, I) w dw, I = sum W |e|^2/total.
typedef struct djSpinGrad {
  double by_total, by_spread;   // over total
  double by_size;
  double w, dw;                 // rad/s
} djSpinGrad;

static djSpinGrad spinGrad(const djSlips* S, const double delta[3]) {
  djSpinGrad g = {.w = S->v[2] / S->scale, .dw = delta[2] / S->scale};
  double slope, stiffness = dj_spinStiffness(&slope, S->total, S->spread, S->size, S->h);
  g.by_total = g.w * g.dw * stiffness / S->total;
  g.by_spread = g.w * g.dw * slope / S->total;
  g.by_size = g.w * g.dw * (stiffness - 2 * slope * S->spread) / S->size;
  return g;
}

// Point i of the lagged ones, the k-th loaded.
static void addPoint(djLaggedGrad* grad, djSmooth* smooth, int i, int k, const djSlips* S,
                     const double delta[3], const djSpinGrad* spin, djPlaneBasis* B,
                     const djLagged* lagged, const djPairInput* in, const double lambda[12]) {
  bool of_a = i < lagged->na;
  const djMotion m = dj_motionOf(in, !of_a);
  const double *twist = of_a ? lambda : lambda + 6, rate = 1 / in->h;
  double d[2], ex = S->ex[k], ey = S->ey[k], W = S->W[k], e1 = ex * S->scale, e2 = ey * S->scale;
  djVec3 velocity, y = dj_armPoint(lagged, lagged->law.arms, dju_load3(lagged->point + 3 * i));
  pointRate(d, &velocity, S, k, in, lambda);
  djSlipGrad g =
      slipGrad(smooth, W, S->bx[k] - S->v[0] + S->v[2] * ey, S->by[k] - S->v[1] - S->v[2] * ex,
               d[0] - delta[0] + delta[2] * ey, d[1] - delta[1] - delta[2] * ex);
  double by_W = g.by_W + spin->by_total + spin->by_spread * (e1 * e1 + e2 * e2 - S->spread);
  addWeight(grad, i, by_W, lagged, in);
  // -w J de, -dw J de, and the spread
  double by_e1 = -spin->w * g.by_s[1] - spin->dw * g.by_rate[1] + 2 * spin->by_spread * W * e1;
  double by_e2 = spin->w * g.by_s[0] + spin->dw * g.by_rate[0] + 2 * spin->by_spread * W * e2;
  double eta = dju_dot3(B->n, y) + lagged->offset;
  double lift = rate * dju_dot3(B->n, dj_displace(&m, y)), dlift = dju_dot3(B->n, velocity);
  addNormal(grad, B, -lift * g.by_s[0] - dlift * g.by_rate[0],
            -lift * g.by_s[1] - dlift * g.by_rate[1]);
  djVec3 by_e = dju_madd3(dju_scale3(by_e1, B->d1), by_e2, B->d2);
  dju_addTo3(grad->normal, -eta, by_e);
  djVec3 arm = dju_cross3(B->n, dju_sub3(y, dju_load3(lagged->point)));
  addStretch(B, dju_madd3(dju_scale3(rate, dj_displace(&m, y)), -spin->w, arm), g.by_s[0],
             g.by_s[1]);
  addStretch(B, dju_madd3(velocity, -spin->dw, arm), g.by_rate[0], g.by_rate[1]);
  addStretch(B, arm, -2 * spin->by_spread * W * e2, 2 * spin->by_spread * W * e1);
  djVec3 move = dju_scale3(rate, inPlane(B, g.by_s[0], g.by_s[1]));
  djVec3 speed = dju_scale3(rate, inPlane(B, g.by_rate[0], g.by_rate[1]));
  djVec3 by_y = dju_add3(pullBack(&m, move, speed, twist), by_e);
  addArmPoint(grad, i, by_y, lagged, lagged->law.arms);
}

static djStatus vjpHulls(djLaggedGrad* grad, djSmooth* smooth, djFrictionState* state,
                         const djLagged* lagged, const djPairInput* in,
                         const double lambda[12]) {
  djSlips S;
  double buffer[DJ_SLIP_FIXED * DJ_SLIP_WIDTH], delta[3];
  djStatus status = dj_gatherSlips(&S, buffer, lagged, in);
  if (status || S.n == 0) return status;
  status = dj_solveSlips(&S, state, smooth->eps);
  if (status < 0) return status;
  planeRate(delta, &S, smooth, in, lambda);
  djSpinGrad spin = spinGrad(&S, delta);
  grad->size = spin.by_size;
  djPlaneBasis B = {.n = lagged->normal, .t1 = S.t1, .t2 = S.t2, .q1 = S.q1, .q2 = S.q2,
                    .d1 = S.d1, .d2 = S.d2, .stretch = dj_stretchOf(lagged, in)};
  for (int i = 0, k = 0; i < lagged->n; i++) {
    if (lagged->force[i] == 0) continue;
    addPoint(grad, smooth, i, k++, &S, delta, &spin, &B, lagged, in, lambda);
  }
  finishStretch(grad, &B, in);
  return status;
}

djStatus dj_frictionVjp(djLaggedGrad* grad, djFrictionState* state, const djLagged* lagged,
                        const djPairInput* in, const double lambda[12]) {
  if (!grad || !state || !dj_checkFriction(lagged, in)) return DJ_INVALID;
  memset(grad->normal, 0, sizeof grad->normal);
  grad->offset = grad->coefficient = grad->size = 0;
  grad->cone = (djCone){0};
  grad->along = dju_vec3(0, 0, 0);
  if (lagged->n == 0) return DJ_OK;
  memset(grad->point, 0, 3 * (size_t)lagged->n * sizeof(double));
  memset(grad->force, 0, (size_t)lagged->n * sizeof(double));
  djTurn turn;
  dj_makeTurn(&turn, lagged, in, lagged->law.eps);
  djSmooth smooth = {.eps = lagged->law.eps};
  if (turn.acts) {
    smooth = (djSmooth){.eps = turn.c * turn.c, .c = turn.c, .dc = dj_turnRate(&turn, lambda)};
  }
  djStatus status = lagged->half_space ? vjpHalfSpace(grad, &smooth, lagged, in, lambda)
                                       : vjpHulls(grad, &smooth, state, lagged, in, lambda);
  if (status >= 0 && turn.acts) {
    dj_addTurnVjp(grad, &turn, smooth.by_c, smooth.by_dc, lambda, in);
  }
  return status;
}
