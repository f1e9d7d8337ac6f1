// Derivative of lambda . gradient of the separating-plane model by the shapes and coefficients.
//
// Normal contact: p minimises U(p, y), so lambda . K U_xi changes by a parameter as the derivative
// of K U along the twists lambda and dp = -U_pp^-1 U_p,xi lambda does, both held. With D the
// barriers' arguments, Ddot their rates along (lambda, dp), it is K sum P'(D) Ddot, and
//
//   D    = sigma (n.y + o) - r |n|,
//   Ddot = sigma (dn.y + do + n.u) - r dn.n/|n|,  u = w x (y - ref) + v/L;
//   by y:  sigma (P'' Ddot n + P' (dn + n x w)),
//   by r:  -(P'' Ddot |n| + P' dn.n/|n|);
//
// ellipsoids (shape/curve.h): D has -q(n), Ddot -c.x with x = dn - w x n (plane_twist.c), whose
// derivatives by G are those of dj_curveGrad;
//
// half space: D = t z + o, z = N.(x - p_b)/L - offset/L - r, with rate N.(u_a - u_b).
//
// Friction: lambda . gradient depends on lagged points, forces and plane (friction_vjp.c). These
// are functions of the minimiser p and the vertices at the start; with g the derivative by p, what
// goes through p is the derivative of U along dp = -U_pp^-1 g by the vertices, without twists: the
// same formulas. Recovery's erosion acts before all of that: recovery_vjp.c.

#include "math/barrier.h"
#include "contact/plane/plane_lag.h"

#include <string.h>

// Derivatives collected at the eroded shapes.
typedef struct djPlaneVjp {
  double* x[2];            // (3 npad) by vertices, body frame
  double radius[2];        // by the radii in force, metres
  djMat3 curve[2];         // by the semi-axes, body frame, metres
  double support;
  djVec3 normal;           // half space, body frame
  double offset;
} djPlaneVjp;

// A direction in which U is differentiated: of the plane, and of the bodies where there are twists.
typedef struct djDirection {
  double dp[4];
  const double* twist;     // (12) or NULL
} djDirection;

static void addLocal(double* x, int npad, int i, djVec3 g) {
  x[i] += g.x;
  x[npad + i] += g.y;
  x[2 * npad + i] += g.z;
}

// Velocity of a point y of the clouds with body k, dimensionless.
static djVec3 velocityOf(const djPlaneWork* w, int k, const double* twist, djVec3 y) {
  djVec3 ref = dju_sub3(k ? w->in->ref_b : w->in->ref_a, w->center);
  djVec3 rho = dju_madd3(y, -1 / w->L, ref);
  return dju_madd3(dju_cross3(dju_load3(twist + 6 * k), rho), 1 / w->L,
                   dju_load3(twist + 6 * k + 3));
}

// by: of the dimensionless semi-axes in world axes.
static void addCurve(djPlaneVjp* out, const djPlaneWork* w, int side, const djMat3* by) {
  djMat3 local = dju_mulMtM(w->pose[side]->R, *by);
  for (int i = 0; i < 9; i++) out->curve[side].m[i] += local.m[i] / w->L;
}

// ------------------------------------------ hulls ----------------------------------------------

// factor times the derivative along the direction, and by_D[i] (NULL: none) times that of D_i.
static void addHulls(djPlaneVjp* out, const djPlaneWork* w, const double p[4],
                     const djDirection* d, double factor, const double* by_D) {
  djVec3 n = dju_load3(p), dn = dju_load3(d->dp);
  double length = dju_norm3(n), dl = dju_dot3(dn, n) / length;
  const djBarrier law = w->law;
  out->support -= factor * dj_barrierBySupport(1 - length, law) * dl;
  for (int side = 0, at = 0; side < 2; side++) {
    const djCloud* c = &w->cloud[side];
    double sigma = side ? 1 : -1, by_r = 0;
    djVec3 turn = d->twist ? dju_cross3(n, dju_load3(d->twist + 6 * side)) : dju_vec3(0, 0, 0);
    djVec3 x = dju_add3(dn, turn), point = {0, 0, 0};
    djMat3 by_G = {{0}};
    double reach = c->r * length, by_q = 0, by_c = 0;
    if (c->curved) reach += dj_curveReach(&point, NULL, &c->curve, n);
    for (int i = 0; i < c->n; i++, at++) {
      djVec3 y = dj_cloudVertex(c, i);
      double b[3], D = sigma * (dju_dot3(n, y) + p[3]) - reach;
      double direct = by_D ? by_D[at] : 0;
      if (!(D < law.s)) continue;
      dj_barrier(b, D, law);
      double rate = sigma * (dju_dot3(dn, y) + d->dp[3]) - c->r * dl;
      if (d->twist) rate += sigma * dju_dot3(n, velocityOf(w, side, d->twist, y));
      rate -= dju_dot3(point, x);
      double f = factor * b[1], g = factor * b[2] * rate + direct;
      djVec3 by_y = dju_madd3(dju_scale3(g, n), f, x);
      by_y = dju_mulMtV(w->pose[side]->R, dju_scale3(sigma / w->L, by_y));
      addLocal(out->x[side], w->shape[side]->npad, i, by_y);
      by_r -= g * length + f * dl;
      by_q -= g;
      by_c -= f;
      out->support += factor * dj_barrierBySupport(D, law) * rate;
    }
    out->radius[side] += by_r / w->L;
    if (!c->curved) continue;
    dj_curveGrad(&by_G, by_q, &c->curve, n, NULL);
    dj_curveGrad(&by_G, by_c, &c->curve, n, &x);
    addCurve(out, w, side, &by_G);
  }
}

// ------------------------------------------ half space -----------------------------------------

static void addHalf(djPlaneVjp* out, const djPlaneWork* w, const djFound* f,
                    const djDirection* d, double factor, const double* by_D) {
  djVec3 N = dju_load3(f->space.normal), by_N = {0, 0, 0};
  const djCloud* c = &w->cloud[0];
  double t = f->half.t, o = f->half.o, by_r = 0, by_c = 0;
  const djBarrier law = w->law;
  djVec3 spin = {0, 0, 0};
  if (d->twist) spin = dju_cross3(N, dju_sub3(dju_load3(d->twist), dju_load3(d->twist + 6)));
  out->support += factor * (4 * dj_barrierBySupport(-o, law) * -d->dp[1] -
                            dj_barrierBySupport(1 - t, law) * d->dp[0]);
  for (int i = 0; i < c->n; i++) {
    djVec3 y = dj_cloudVertex(c, i), u = {0, 0, 0};
    double b[3], z = dju_dot3(N, y) + f->space.k, D = t * z + o, direct = by_D ? by_D[i] : 0;
    if (!(D < law.s)) continue;
    dj_barrier(b, D, law);
    if (d->twist) {
      u = dju_sub3(velocityOf(w, 0, d->twist, y), velocityOf(w, 1, d->twist, y));
    }
    double rate = d->dp[0] * z + d->dp[1] + t * dju_dot3(N, u);
    double g = factor * b[2] * rate + direct, by_z = g * t + factor * b[1] * d->dp[0];
    djVec3 by_y = dju_madd3(dju_scale3(by_z, N), factor * b[1] * t, spin);
    by_y = dju_mulMtV(w->pose[0]->R, dju_scale3(1 / w->L, by_y));
    addLocal(out->x[0], w->shape[0]->npad, i, by_y);
    by_r -= by_z;
    by_c -= factor * b[1] * t;
    djVec3 arm = dju_madd3(y, 1 / w->L, dju_sub3(w->center, w->pose[1]->p));
    by_N = dju_add3(by_N, dju_madd3(dju_scale3(by_z, arm), factor * b[1] * t, u));
    out->support += factor * dj_barrierBySupport(D, law) * rate;
  }
  if (f->space.curved) {   // z = .. - q(N), its rate .. - c.spin; y is the ellipsoid's point
    djMat3 by_G = {{0}};
    dj_curveGrad(&by_G, by_r, &w->curve[0], N, NULL);
    dj_curveGrad(&by_G, by_c, &w->curve[0], N, &spin);
    addCurve(out, w, 0, &by_G);
    by_N = dju_madd3(by_N, by_c, dju_mulMV(f->space.bend, spin));
  }
  out->radius[0] += by_r / w->L;
  out->offset += by_r / w->L;
  out->normal = dju_add3(out->normal, dju_mulMtV(w->pose[1]->R, by_N));
}

static void addDirection(djPlaneVjp* out, const djPlaneWork* w, const djFound* f,
                         const djDirection* d, double factor, const double* by_D) {
  if (w->half_space) {
    addHalf(out, w, f, d, factor, by_D);
  } else {
    addHulls(out, w, f->plane.p, d, factor, by_D);
  }
}

// ------------------------------------------ normal contact -------------------------------------

static djStatus addNormal(djPlaneVjp* out, double* stiffness, djPlaneState* state,
                          djPlaneWork* w, const double lambda[12]) {
  djFound f;
  djStatus status = dj_findPlane(&f, w, state);
  if (status < 0 || f.kind != DJ_TOUCHING) return status;
  double gradient[12], mixed[48], b[4] = {0}, x[4];
  dj_foundTwist(gradient, mixed, NULL, &f, w, 1);
  for (int j = 0; j < 12; j++) *stiffness += gradient[j] * lambda[j];
  for (int r = 0; r < (w->half_space ? 2 : 4); r++) {
    for (int j = 0; j < 12; j++) b[r] -= mixed[12 * r + j] * lambda[j];
  }
  dj_solveFound(x, &f, w, b);
  djDirection d = {{x[0], x[1], x[2], x[3]}, lambda};
  addDirection(out, w, &f, &d, w->K, NULL);
  return status;
}

// ------------------------------------------ lagged quantities ----------------------------------

// By the force of a vertex, whose points have equal parts of it; *at moves on to the next.
static double nextForce(const djLaggedGrad* grad, int* at, const djPlaneWork* w, int side) {
  int split = dj_lagSplit(w, side);
  double sum = 0;
  for (int k = 0; k < split; k++) sum += grad->force[(*at)++];
  return sum / split;
}

// Forces f_i = c(F, g, g_) g_i, g_i = -(K/L) l P'(D_i), l = |n| or t: by the arguments D (by_D, n),
// by l, and, in by_c, by both gaps and log A.
static void forcesVjp(double* by_D, double* by_l, djLagFactor* by_c, djPlaneVjp* out,
                      double* stiffness, const djForces* forces, const djLaggedGrad* grad,
                      const djPlaneState* state, const djPlaneWork* w, const double* D) {
  double scale = dj_forceScale(w, state), dot = 0;
  double unit = w->K / w->L, part = dj_lagPart(w);
  double l = scale / unit, c = state->lag_factor;
  djLagSums sums = {0, 0};
  for (int i = 0, at = 0; i < forces->n; i++) {
    double g = -scale * forces->first[i];
    sums.F += part * g;
    sums.squares += part * g * g;
    if (forces->first[i] != 0) dot += nextForce(grad, &at, w, i >= forces->na) * g;
  }
  double by_count;
  djLagFactor by = dj_planeLagFactor(&by_count, &sums, state, w->in);
  *by_l = 0;
  by_c->by_gap = by.by_gap * dot;
  by_c->by_past = by.by_past * dot;
  by_c->by_scale = by.by_scale * dot;
  for (int i = 0, at = 0; i < forces->n; i++) {
    by_D[i] = 0;
    if (forces->first[i] == 0) continue;
    double by_g = c * nextForce(grad, &at, w, i >= forces->na) + part * dot * by.by_force;
    double g = -scale * forces->first[i];
    by_g += 2 * part * dot * by_count * (1 / sums.F - g / sums.squares);
    by_D[i] = -by_g * scale * forces->second[i];
    *by_l -= by_g * unit * forces->first[i];
    *stiffness -= by_g * l / w->L * forces->first[i];
    out->support -= by_g * scale * dj_barrierBySupport(D[i], w->law);
  }
}

// By the plane p = (n, o), given derivatives by the unit normal and offset in metres, by |n| and by
// the arguments: normal n/|n|, offset L o/|n| - normal . centre.
static void planeVjp(double by_p[4], const djPlaneWork* w, const double p[4],
                     const djLaggedGrad* grad, double by_l, const double* by_D) {
  djVec3 n = dju_load3(p);
  double length = dju_norm3(n);
  djVec3 u = dju_scale3(1 / length, n);
  djVec3 g = dju_madd3(dju_load3(grad->normal), -grad->offset, w->center);
  g = dju_scale3(1 / length, dju_madd3(g, -dju_dot3(g, u), u));
  g = dju_madd3(g, by_l - grad->offset * w->L * p[3] / (length * length), u);
  double by_o = grad->offset * w->L / length;
  for (int side = 0, at = 0; side < 2; side++) {
    const djCloud* c = &w->cloud[side];
    double sigma = side ? 1 : -1;
    djVec3 point;
    dj_cloudReach(&point, c, n);
    for (int i = 0; i < c->n; i++, at++) {
      if (by_D[at] == 0) continue;
      djVec3 z = dju_madd3(dj_cloudVertex(c, i), -sigma, point);
      g = dju_madd3(g, sigma * by_D[at], z);
      by_o += sigma * by_D[at];
    }
  }
  dju_store3(by_p, g);
  by_p[3] = by_o;
}

// Half space: normal -N, offset N.p_b + offset_b - L o/t; D_i = t z_i + o.
static void halfVjp(double by_p[4], djPlaneVjp* out, const djPlaneWork* w, const djFound* f,
                    const djLaggedGrad* grad, double by_l, const double* by_D) {
  double t = f->half.t, o = f->half.o;
  djVec3 N = dju_load3(f->space.normal);
  by_p[0] = by_l + grad->offset * w->L * o / (t * t);
  by_p[1] = -grad->offset * w->L / t;
  by_p[2] = by_p[3] = 0;
  for (int i = 0; i < w->cloud[0].n; i++) {
    double z = dju_dot3(N, dj_cloudVertex(&w->cloud[0], i)) + f->space.k;
    by_p[0] += by_D[i] * z;
    by_p[1] += by_D[i];
  }
  djVec3 by_N = dju_madd3(dju_neg3(dju_load3(grad->normal)), grad->offset, w->pose[1]->p);
  out->normal = dju_add3(out->normal, dju_mulMtV(w->pose[1]->R, by_N));
  out->offset += grad->offset;
}

// Arguments of all barriers at the lagged plane.
static void lagArguments(double* D, const djPlaneWork* w, const djFound* f) {
  if (w->half_space) {
    for (int i = 0; i < w->cloud[0].n; i++) {
      double z = dju_dot3(dju_load3(f->space.normal), dj_cloudVertex(&w->cloud[0], i));
      D[i] = f->half.t * (z + f->space.k) + f->half.o;
    }
    return;
  }
  const double* p = f->plane.p;
  for (int side = 0, at = 0; side < 2; side++) {
    const djCloud* c = &w->cloud[side];
    double reach = dj_cloudReach(NULL, c, dju_load3(p));
    for (int i = 0; i < c->n; i++) {
      double d = dju_dot3(dju_load3(p), dj_cloudVertex(c, i)) + p[3];
      D[at++] = (side ? d : -d) - reach;
    }
  }
}

// Points that carry force are vertices of the shapes as given, at the start poses, or points about
// them: those also depend on the semi-axes and the lagged normal.
static void pointsVjp(djPairGrad* grad, djLaggedGrad* lag, const djForces* forces,
                      const djPlaneWork* w, const djPlaneState* state) {
  djVec3 by_normal = dju_load3(lag->normal);
  for (int i = 0, at = 0; i < forces->n; i++) {
    if (forces->first[i] == 0) continue;
    int side = i >= forces->na, k = side ? i - forces->na : i, split = dj_lagSplit(w, side);
    djShapeGrad* shape = side ? grad->b : grad->a;
    djVec3 g = {0, 0, 0};
    for (int j = 0; j < split; j++) g = dju_add3(g, dju_load3(lag->point + 3 * (at + j)));
    if ((side ? w->in->b : w->in->a)->curved) {
      const djLagShape on = dj_lagShape(w, state, side);
      by_normal = dju_add3(by_normal, dj_lagOffsetVjp(&shape->curve, lag->point + 3 * at, &on));
    }
    at += split;
    g = dju_mulMtV(w->pose[side]->R, g);
    double* const* to = shape->vert;
    to[0][k] += g.x;
    to[1][k] += g.y;
    to[2][k] += g.z;
  }
  dju_store3(lag->normal, by_normal);
}

// The axis of a capsule, between its vertices, guides the first tangent.
static void addGuide(djShapeGrad* grad, const djPairInput* in, djVec3 along) {
  double by[3];
  dju_store3(by, dju_mulMtV(in->start_a->R, along));
  for (int k = 0; k < 3 && in->a->type == DJ_CAPSULE; k++) {
    grad->vert[k][0] -= by[k];
    grad->vert[k][1] += by[k];
  }
}

static djStatus addFriction(djPairGrad* grad, djPlaneVjp* out, djLagFactor* by_c,
                            double* by_K, djPlaneState* state, const djPairInput* in,
                            const double lambda[12]) {
  djPlaneWork w;
  djLagged lagged;
  djLaggedGrad lag;
  djForces forces;
  djFound f;
  djStatus status = dj_openPlaneWork(&w, in, &state->erosion, false);
  if (!status) status = dj_getLagged(&lagged, state, &w);
  if (status) return status;
  lag.point = dj_takeScratch(&w, 3 * lagged.n);
  lag.force = dj_takeScratch(&w, lagged.n);
  if (!lag.point || !lag.force) return DJ_NO_MEMORY;
  djPairInput rest = *in;
  rest.scratch = w.free;
  rest.nscratch = w.nfree;
  djStatus sliding = dj_frictionVjp(&lag, &state->friction, &lagged, &rest, lambda);
  if (sliding < 0) return sliding;
  status = dj_openPlaneWork(&w, &rest, &state->erosion, true);
  if (!status) status = dj_lagForces(&forces, &w, state);
  if (!status) status = dj_solveLagged(&f, &w, state);
  if (status) return status;
  double *D = dj_takeScratch(&w, forces.n), *by_D = dj_takeScratch(&w, forces.n);
  if (!D || !by_D) return DJ_NO_MEMORY;
  double by_l, by_p[4], x[4];
  lagArguments(D, &w, &f);
  pointsVjp(grad, &lag, &forces, &w, state);
  forcesVjp(by_D, &by_l, by_c, out, by_K, &forces, &lag, state, &w, D);
  if (w.half_space) {
    halfVjp(by_p, out, &w, &f, &lag, by_l, by_D);
  } else {
    planeVjp(by_p, &w, f.plane.p, &lag, by_l, by_D);
  }
  for (int r = 0; r < 4; r++) by_p[r] = -by_p[r];
  dj_solveFound(x, &f, &w, by_p);
  djDirection d = {{x[0], x[1], x[2], x[3]}, NULL};
  // by_D of a half space is by t z + o, of hulls by D at fixed plane: the explicit part
  addDirection(out, &w, &f, &d, 1, by_D);
  grad->friction += lag.coefficient;
  dj_addCone(&grad->cone, &lag.cone);
  addGuide(grad->a, in, lag.along);
  int smaller = dj_smallerShape(in);
  if (smaller >= 0) (smaller ? grad->b : grad->a)->bound += lag.size;
  return sliding;
}

// ------------------------------------------ together -------------------------------------------

// Radii in force: their sum is that of both shapes and the inflation; each is at least zero.
static void radiiVjp(double* by_a, double* by_b, const djPlaneVjp* out, const djPlaneWork* w) {
  *by_a = out->radius[0];
  *by_b = out->radius[1];
  if (w->half_space) return;
  if (w->inflate != w->in->inflate) {   // their sum is held at zero
    *by_a = *by_b = 0;
  } else if (w->shape[0]->radius + 0.5 * w->inflate < 0) {
    *by_a = *by_b;
  } else if (w->shape[1]->radius + 0.5 * w->inflate < 0) {
    *by_b = *by_a;
  }
}

static void addGiven(djShapeGrad* grad, const double* x, double radius, const djMat3* curve,
                     const djShape* s) {
  for (int i = 0; i < s->nvert; i++) {
    for (int k = 0; k < 3; k++) grad->vert[k][i] += x[k * s->npad + i];
  }
  grad->radius += radius;
  for (int i = 0; i < 9; i++) grad->curve.m[i] += curve->m[i];
}

djStatus dj_planeVjp(djPairGrad* grad, djPlaneState* state, const djPairInput* in,
                     const double lambda[12]) {
  djPlaneWork w;
  djPlaneVjp out = {.x = {NULL, NULL}};
  djLagFactor by_c = {0, 0, 0, 0, 0};
  double by_K = 0, radius[2];
  const double width = DJ_RECOVERY_GAP - DJ_RECOVERY_FLOOR;
  djStatus status = dj_openPlaneWork(&w, in, &state->erosion, false);
  if (status) return status;
  for (int side = 0; side < (w.half_space ? 1 : 2); side++) {
    int n = 3 * w.shape[side]->npad;
    out.x[side] = dj_takeScratch(&w, n);
    if (!out.x[side]) return DJ_NO_MEMORY;
    memset(out.x[side], 0, (size_t)n * sizeof(double));
  }
  djStatus solved = addNormal(&out, &by_K, state, &w, lambda);
  if (solved < 0) return solved;
  radiiVjp(&radius[0], &radius[1], &out, &w);
  djPairInput rest = *in;
  rest.scratch = w.free;
  rest.nscratch = w.nfree;
  if (dj_planeSlides(state, in)) {
    status = addFriction(grad, &out, &by_c, &by_K, state, &rest, lambda);
    if (status < 0) return status;
    if (status > 0) solved = status;
    radiiVjp(&radius[0], &radius[1], &out, &w);
  }
  grad->setting[DJ_PLANE_STIFFNESS] += w.soft * by_K;
  grad->setting[DJ_PLANE_SUPPORT] += out.support;
  if (by_c.by_scale != 0) {   // A is K/s^2 times a constant
    grad->setting[DJ_PLANE_STIFFNESS] += by_c.by_scale / in->setting[DJ_PLANE_STIFFNESS];
    grad->setting[DJ_PLANE_SUPPORT] -= 2 * by_c.by_scale / w.law.s;
  }
  djErosionGrad erosion = {.t = by_c.by_gap * width + w.soft_rate * w.K * by_K};
  if (w.half_space) {
    addGiven(grad->a, out.x[0], radius[0], &out.curve[0], in->a);
    grad->b->normal = dju_add3(grad->b->normal, out.normal);
    grad->b->offset += out.offset;
    // against a half space the plane alone is lowered
    erosion.e -= out.offset;
  } else {
    const djErodedGrad a = {out.x[0], radius[0], out.curve[0]};
    const djErodedGrad b = {out.x[1], radius[1], out.curve[1]};
    dj_erodeShapeVjp(grad->a, &erosion, &a, in->a, &state->erosion, 0);
    dj_erodeShapeVjp(grad->b, &erosion, &b, in->b, &state->erosion, 1);
  }
  status = dj_erosionVjp(grad, &erosion, &state->erosion, in, rest.scratch);
  if (status >= 0 && by_c.by_past != 0) {
    const djErosion none = {0};
    rest.start_a = in->past_a;
    rest.start_b = in->past_b;
    const djErosionGrad past = {.t = by_c.by_past * width};
    status = dj_erosionVjp(grad, &past, &none, &rest, rest.scratch);
  }
  return status < 0 ? status : solved;
}
