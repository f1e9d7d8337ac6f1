// The plane's own motion in lagged friction (SDRS eq. 10, 13): a convex problem in three unknowns.
//
// In coordinates of the plane, with J the rotation by 90 degrees (n x), e_i = (y_i - c)/scale and
// b_i = P Delta_i/h, the slip of point i and the energy are
//   s_i = b_i - u - w J e_i,   U(u, w) = sum_i W_i sqrt(|s_i|^2 + eps) + spin w^2/2,
// with W_i = mu h A(f_i). c is the mean of y weighted by W, scale^2 the weighted mean of |y - c|^2,
// and b is taken relative to its weighted mean: while bodies stick together, s is then a small
// difference of small numbers. With r_i = sqrt(|s_i|^2 + eps) and E_i = [1, J e_i] (2x3),
//   g = -sum E_i^T W_i s_i/r_i,    H = sum E_i^T k_i E_i,
//   k_i = W_i/r_i (1 - s_i s_i^T/r_i^2)
//       = W_i/r_i^3 [eps + s_y^2, -s_x s_y; -s_x s_y, eps + s_x^2].
// t1 points along the relative velocity, so that the small curvature eps/r^3 of points that slide
// alike stands on the diagonal and does not drown in rounding.
//
// Spin. Where all points coincide (corner against corner: the points of both sides meet at the
// centre of pressure), w is undetermined, and where they coincide up to the rounding of the plane,
// a huge w would annul friction. So a term spin w^2/2 with
//   spin = 1e-10 s/m  sum_i W_i  l^2 (1 - t)^3,  t = I/(1e-4 l)^2 < 1,   else exactly 0,
// is added; I = sum W |y - c|^2/sum W, l the size of the smaller shape. It is C2 in the data.
// Where it acts, friction can exert no more than 1e-4 of (force l) about the normal anyway.

#include "contact/friction_plane.h"

#include <float.h>

#define DJ_SPIN_STIFFNESS 1e-10   // s/m
#define DJ_SPIN_SPREAD 1e-4

enum { DJ_PLANE_MAXITER = 100, DJ_PLANE_MAXCUT = 60 };

bool dj_checkFriction(const djLagged* lagged, const djPairInput* in) {
  if (!in || !lagged || lagged->n < 0 || lagged->na < 0 || lagged->na > lagged->n) return false;
  if (lagged->n == 0) return true;
  if (!lagged->point || !lagged->force) return false;
  if (!in->pose_a || !in->pose_b || !in->start_a || !in->start_b) return false;
  if (!(in->h > 0) || !isfinite(in->h)) return false;
  if (!(in->friction >= 0) || !isfinite(in->friction)) return false;
  if (!(in->friction_eps > 0) || !isfinite(in->friction_eps)) return false;
  double nn = dju_dot3(lagged->normal, lagged->normal);
  return fabs(nn - 1) < 1e-6 && isfinite(lagged->offset);
}

double dj_spinStiffness(double* slope, double total, double spread, double size) {
  double range = DJ_SPIN_SPREAD * size, t = spread / (range * range);
  double full = DJ_SPIN_STIFFNESS * total * size * size;
  *slope = 0;
  if (!(t < 1)) return 0;
  *slope = -3 * full * (1 - t) * (1 - t) / (range * range);
  return full * (1 - t) * (1 - t) * (1 - t);
}

// l: radius of the smaller shape, which fixes what counts as coincident.
static double shapeSize(const djPairInput* in) {
  double size = INFINITY;
  if (in->a && in->a->bound > 0) size = in->a->bound;
  if (in->b && in->b->bound > 0 && in->b->bound < size) size = in->b->bound;
  if (!(size < INFINITY)) size = in->length_scale;
  return size > 0 && isfinite(size) ? size : 1;
}

// Tangents of the plane, t1 along the relative velocity v (any direction where that vanishes).
static void makeTangents(djSlips* S, djVec3 n, djVec3 v) {
  djVec3 t = dju_madd3(v, -dju_dot3(n, v), n);
  if (!(dju_dot3(t, t) > 1e-12 * dju_dot3(v, v) + 1e-200)) {
    double x = fabs(n.x), y = fabs(n.y), z = fabs(n.z);
    v = x <= y && x <= z ? dju_vec3(1, 0, 0) : y <= z ? dju_vec3(0, 1, 0) : dju_vec3(0, 0, 1);
    t = dju_madd3(v, -dju_dot3(n, v), n);
  }
  t = dju_scale3(1 / dju_norm3(t), t);
  t = dju_madd3(t, -dju_dot3(n, t), n);
  S->t1 = dju_scale3(1 / dju_norm3(t), t);
  S->t2 = dju_cross3(n, S->t1);
}

// Centre points and velocities on their weighted means, scale, and fill the padding.
static void centerSlips(djSlips* S, djVec3 origin, double ce[2], double cb[2]) {
  int n = S->n;
  double inv = 1 / S->total, I = 0, emax = 0, bmax = 0;
  for (int k = 0; k < 2; k++) ce[k] *= inv, cb[k] *= inv;
  for (int i = 0; i < n; i++) {
    S->ex[i] -= ce[0], S->ey[i] -= ce[1];
    S->bx[i] -= cb[0], S->by[i] -= cb[1];
    double ee = S->ex[i] * S->ex[i] + S->ey[i] * S->ey[i];
    double bb = S->bx[i] * S->bx[i] + S->by[i] * S->by[i];
    I += S->W[i] * ee;
    emax = ee > emax ? ee : emax;
    bmax = bb > bmax ? bb : bmax;
  }
  I *= inv;
  double scale = sqrt(I + 1e-16 * S->size * S->size), unit = 1 / scale, slope;
  for (int i = 0; i < n; i++) S->ex[i] *= unit, S->ey[i] *= unit;
  for (int i = n; i < S->npad; i++) S->W[i] = S->ex[i] = S->ey[i] = S->bx[i] = S->by[i] = 0;
  S->scale = scale;
  S->spread = I;
  S->spin = dj_spinStiffness(&slope, S->total, I, S->size) * unit * unit;
  S->emax = sqrt(emax) * unit;
  S->bmax = sqrt(bmax);
  S->mean[0] = cb[0], S->mean[1] = cb[1];
  S->center = dju_madd3(dju_madd3(origin, ce[0], S->t1), ce[1], S->t2);
}

// Lay out the arrays for n points: in buffer, or in the caller's scratch.
static djStatus layoutSlips(djSlips* S, double* buffer, int n, const djPairInput* in) {
  S->n = n;
  S->npad = (n + DJ_SLIP_LANES - 1) / DJ_SLIP_LANES * DJ_SLIP_LANES;
  double* x = buffer;
  if (S->npad > DJ_SLIP_FIXED) {
    if (!in->scratch || in->nscratch / DJ_SLIP_WIDTH < S->npad) return DJ_NO_MEMORY;
    x = in->scratch;
  }
  S->W = x, S->ex = x + S->npad, S->ey = x + 2 * S->npad;
  S->bx = x + 3 * S->npad, S->by = x + 4 * S->npad, S->rho = x + 5 * S->npad;
  return DJ_OK;
}

djStatus dj_gatherSlips(djSlips* S, double* buffer, const djLagged* lagged,
                        const djPairInput* in) {
  int n = 0, first = -1;
  for (int i = 0; i < lagged->n; i++) {
    if (!(lagged->force[i] >= 0) || !isfinite(lagged->force[i])) return DJ_INVALID;
    if (lagged->force[i] > 0 && n++ == 0) first = i;
  }
  S->n = n, S->na = 0;
  if (n == 0) return DJ_OK;
  djStatus status = layoutSlips(S, buffer, n, in);
  if (status) return status;

  djMotion ma = dj_motion(in->pose_a, in->start_a, in->ref_a);
  djMotion mb = dj_motion(in->pose_b, in->start_b, in->ref_b);
  djVec3 origin = dj_armPoint(lagged, in->arms, dju_load3(lagged->point + 3 * first));
  makeTangents(S, lagged->normal,
               dju_sub3(dj_displace(&ma, origin), dj_displace(&mb, origin)));

  double rate = 1 / in->h, muh = in->friction * in->h, ce[2] = {0, 0}, cb[2] = {0, 0};
  S->total = 0;
  for (int i = first, k = 0; i < lagged->n; i++) {
    if (lagged->force[i] == 0) continue;
    const djMotion* m = i < lagged->na ? &ma : &mb;
    djVec3 y = dj_armPoint(lagged, in->arms, dju_load3(lagged->point + 3 * i));
    djVec3 move = dj_displace(m, y), arm = dju_sub3(y, origin);
    double W = muh * dj_forceCap(lagged->force[i], in->friction_eps, in->cap);
    S->W[k] = W;
    S->ex[k] = dju_dot3(S->t1, arm), S->ey[k] = dju_dot3(S->t2, arm);
    S->bx[k] = rate * dju_dot3(S->t1, move), S->by[k] = rate * dju_dot3(S->t2, move);
    dju_store3(S->rho + 3 * k, dju_add3(dju_sub3(y, m->ref), move));
    S->total += W;
    ce[0] += W * S->ex[k], ce[1] += W * S->ey[k];
    cb[0] += W * S->bx[k], cb[1] += W * S->by[k];
    S->na += i < lagged->na;
    k++;
  }
  if (!(S->total > 0)) {   // forces so small that their weights vanish
    S->n = S->na = 0;
    return DJ_OK;
  }
  S->size = shapeSize(in);
  centerSlips(S, origin, ce, cb);
  return DJ_OK;
}

// Energy, gradient and Hessian at S->v: a vector loop over DJ_SLIP_LANES points, then sums.
static void evalPlane(djPlaneEnergy* E, const djSlips* S, const double v[3], double eps) {
  double U = 0, stiff = 0, g0 = 0, g1 = 0, g2 = 0;
  double h0 = 0, h1 = 0, h2 = 0, h3 = 0, h4 = 0, h5 = 0;
  for (int i = 0; i < S->n; i += DJ_SLIP_LANES) {
    const double *W = S->W + i, *ex = S->ex + i, *ey = S->ey + i;
    const double *bx = S->bx + i, *by = S->by + i;
    double e[DJ_SLIP_LANES], c[DJ_SLIP_LANES], f1[DJ_SLIP_LANES], f2[DJ_SLIP_LANES];
    double k11[DJ_SLIP_LANES], k12[DJ_SLIP_LANES], k22[DJ_SLIP_LANES];
    for (int l = 0; l < DJ_SLIP_LANES; l++) {
      double s1 = bx[l] - v[0] + v[2] * ey[l], s2 = by[l] - v[1] - v[2] * ex[l];
      double r = sqrt(s1 * s1 + s2 * s2 + eps), ir = 1 / r, y1 = s1 * ir, y2 = s2 * ir;
      double floor = eps * ir * ir;
      c[l] = W[l] * ir;
      e[l] = W[l] * r;
      f1[l] = W[l] * y1, f2[l] = W[l] * y2;
      k11[l] = c[l] * (floor + y2 * y2), k22[l] = c[l] * (floor + y1 * y1);
      k12[l] = -c[l] * (y1 * y2);
    }
    int count = S->n - i < DJ_SLIP_LANES ? S->n - i : DJ_SLIP_LANES;
    for (int l = 0; l < count; l++) {
      double q1 = ex[l] * k12[l] - ey[l] * k11[l], q2 = ex[l] * k22[l] - ey[l] * k12[l];
      U += e[l], stiff += c[l];
      g0 -= f1[l], g1 -= f2[l], g2 += ey[l] * f1[l] - ex[l] * f2[l];
      h0 += k11[l], h1 += k12[l], h2 += k22[l];
      h3 += q1, h4 += q2, h5 += ex[l] * q2 - ey[l] * q1;
    }
  }
  g2 += S->spin * v[2];
  h5 += S->spin;
  *E = (djPlaneEnergy){U + 0.5 * S->spin * v[2] * v[2], {g0, g1, g2}, {h0, h1, h2, h3, h4, h5},
                       stiff};
}

// Pivots below rounding are raised to it: a direction in which the energy is flat.
void dj_factorSlips(djPlaneFactor* f, const double H[6]) {
  const double tiny = 4 * DBL_EPSILON;
  f->d0 = H[0];
  f->l10 = H[1] / f->d0, f->l20 = H[3] / f->d0;
  double d1 = H[2] - f->l10 * H[1], m = H[4] - f->l20 * H[1];
  f->d1 = d1 > tiny * H[2] ? d1 : tiny * H[2];
  f->l21 = m / f->d1;
  double d2 = H[5] - f->l20 * H[3] - f->l21 * m;
  f->d2 = d2 > tiny * H[5] ? d2 : tiny * H[5];
}

static void newtonStep(double p[3], const djPlaneEnergy* E) {
  djPlaneFactor f;
  dj_factorSlips(&f, E->H);
  double a = -E->g[0], b = -E->g[1] - f.l10 * a, c = -E->g[2] - f.l20 * a - f.l21 * b;
  p[2] = c / f.d2;
  p[1] = b / f.d1 - f.l21 * p[2];
  p[0] = a / f.d0 - f.l10 * p[1] - f.l20 * p[2];
}

static double maxAbs3(const double g[3]) { return fmax(fmax(fabs(g[0]), fabs(g[1])), fabs(g[2])); }

// Line search on the slope: along p the energy is convex, and its slope is known more exactly than
// its value. Accepts a slope of at most 0.9 of the first one's size (0.5 when the minimum is
// passed) with an energy that has not risen; brackets by regula falsi, kept off the ends.
static void searchPlane(djSlips* S, const double p[3], double decrement, double eps) {
  double lo = 0, hi = 0, slope_lo = -decrement, slope_hi = 0, step = 1;
  double v[3];
  double bound = S->at.value + 4 * DBL_EPSILON * fabs(S->at.value);
  djPlaneEnergy E;
  for (int cut = 0; cut < DJ_PLANE_MAXCUT; cut++) {
    for (int k = 0; k < 3; k++) v[k] = S->v[k] + step * p[k];
    evalPlane(&E, S, v, eps);
    double slope = E.g[0] * p[0] + E.g[1] * p[1] + E.g[2] * p[2];
    bool high = E.value > bound;
    if (!high && slope >= -0.9 * decrement && slope <= 0.5 * decrement) break;
    if (high || slope > 0) {
      hi = step, slope_hi = slope;
    } else {
      lo = step, slope_lo = slope;
    }
    if (hi == 0) {
      step *= 4;
      continue;
    }
    double t = slope_hi > 0 ? slope_lo / (slope_lo - slope_hi) : 0.5;
    t = fmin(fmax(t, 0.1), 0.9);
    step = lo + t * (hi - lo);
  }
  if (E.value > bound) return;
  for (int k = 0; k < 3; k++) S->v[k] = v[k];
  S->at = E;
}

// Lower of two starts: the state's motion, or the weighted means. (b is relative to its mean, so
// the mean's u is zero.)
static void startPlane(djSlips* S, const djFrictionState* state, double eps) {
  double spin = 0;
  for (int i = 0; i < S->n; i++) spin += S->W[i] * (S->ex[i] * S->by[i] - S->ey[i] * S->bx[i]);
  S->v[0] = S->v[1] = 0;
  // sum W |e|^2 = sum W spread/scale^2
  S->v[2] = spin * S->scale * S->scale /
            (S->total * (S->spread + 1e-16 * S->size * S->size) + S->spin * S->scale * S->scale);
  evalPlane(&S->at, S, S->v, eps);
  djVec3 u = dju_load3(state->u);
  double v[3] = {dju_dot3(S->t1, u) - S->mean[0], dju_dot3(S->t2, u) - S->mean[1],
                 state->w * S->scale};
  djPlaneEnergy E;
  evalPlane(&E, S, v, eps);
  if (!(E.value <= S->at.value)) return;
  for (int k = 0; k < 3; k++) S->v[k] = v[k];
  S->at = E;
}

// Damped Newton. It ends where the decrement is one of rounding: g carries errors of about
// DBL_EPSILON (sum W/r |b| + sum W), the first because s is a difference.
djStatus dj_solveSlips(djSlips* S, djFrictionState* state, double eps) {
  djStatus status = DJ_NOT_CONVERGED;
  startPlane(S, state, eps);
  S->iterations = 0;
  if (!isfinite(S->at.value)) return DJ_INVALID;
  while (S->iterations < DJ_PLANE_MAXITER) {
    double p[3], v[3], largest = maxAbs3(S->at.g);
    if (largest <= DBL_EPSILON * S->total) {
      status = DJ_OK;
      break;
    }
    newtonStep(p, &S->at);
    double decrement = -(S->at.g[0] * p[0] + S->at.g[1] * p[1] + S->at.g[2] * p[2]);
    double reach = S->bmax + fabs(S->v[0]) + fabs(S->v[1]) + fabs(S->v[2]) * S->emax;
    double noise = DBL_EPSILON * (S->at.stiff * reach + S->total);
    S->iterations++;
    if (decrement <= noise * (fabs(p[0]) + fabs(p[1]) + S->emax * fabs(p[2]))) {
      djPlaneEnergy E;   // one full step more, kept if it helps
      for (int k = 0; k < 3; k++) v[k] = S->v[k] + p[k];
      evalPlane(&E, S, v, eps);
      if (maxAbs3(E.g) < largest) {
        for (int k = 0; k < 3; k++) S->v[k] = v[k];
        S->at = E;
      }
      status = DJ_OK;
      break;
    }
    searchPlane(S, p, decrement, eps);
  }
  djVec3 u = dju_madd3(dju_scale3(S->v[0] + S->mean[0], S->t1), S->v[1] + S->mean[1], S->t2);
  dju_store3(state->u, u);
  state->w = S->v[2] / S->scale;
  state->iterations = S->iterations;
  return status;
}
