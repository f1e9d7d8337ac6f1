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
// centre of pressure), w is undetermined, and where they nearly do, a huge w would annul friction
// across what is left between them. So a term spin w^2/2 with
//   spin = 1e-2 sum_i W_i  h l (1 - t)^3,  t = I/(1e-3 l)^2 < 1,   else exactly 0,
// is added; I = sum W |y - c|^2/sum W, l the size of the smaller shape. It is C2 in the data.
// Where it acts, friction can exert no more than 1e-3 of (force l) about the normal anyway. A point
// of each side, 1e-4 l apart, that slides at .1 m/s has .99 of its friction.

#include "contact/friction/friction_plane.h"

#include <float.h>

#define DJ_SPIN_STIFFNESS 1e-2
#define DJ_SPIN_SPREAD 1e-3

enum { DJ_PLANE_MAXITER = 100, DJ_PLANE_MAXCUT = 60 };

bool dj_checkFriction(const djLagged* lagged, const djPairInput* in) {
  if (!in || !lagged || lagged->n < 0 || lagged->na < 0 || lagged->na > lagged->n) return false;
  if (lagged->n == 0) return true;
  if (!lagged->point || !lagged->force) return false;
  if (!in->pose_a || !in->pose_b || !in->start_a || !in->start_b) return false;
  if (!in->rate_a || !in->rate_b) return false;
  if (!(in->h > 0) || !isfinite(in->h)) return false;
  if (!(in->friction >= 0) || !isfinite(in->friction)) return false;
  if (!(lagged->law.eps > 0) || !isfinite(lagged->law.eps)) return false;
  double nn = dju_dot3(lagged->normal, lagged->normal);
  return fabs(nn - 1) < 1e-6 && isfinite(lagged->offset);
}

double dj_spinStiffness(double* slope, double total, double spread, double size, double h) {
  double range = DJ_SPIN_SPREAD * size, t = spread / (range * range);
  double full = DJ_SPIN_STIFFNESS * total * h * size;
  *slope = 0;
  if (!(t < 1)) return 0;
  *slope = -3 * full * (1 - t) * (1 - t) / (range * range);
  return full * (1 - t) * (1 - t) * (1 - t);
}

int dj_smallerShape(const djPairInput* in) {
  double a = in->a ? in->a->bound : 0, b = in->b ? in->b->bound : 0;
  if (!(a > 0 && a < INFINITY)) return b > 0 && b < INFINITY ? 1 : -1;
  return b > 0 && b < a ? 1 : 0;
}

// l: radius of the smaller shape, which fixes what counts as coincident.
double dj_slipSize(const djLagged* lagged, const djPairInput* in) {
  int smaller = dj_smallerShape(in);
  double size = smaller < 0 ? lagged->law.length : (smaller ? in->b : in->a)->bound;
  return size > 0 && isfinite(size) ? size : 1;
}

// Tangents of the plane, t1 along the relative velocity v (any direction where that vanishes).
static void makeTangents(djSlips* S, djVec3 n, djVec3 v, const djStretch* stretch) {
  v = dj_stretched(stretch, v);
  djVec3 t = dju_madd3(v, -dju_dot3(n, v), n);
  if (!(dju_dot3(t, t) > 1e-12 * dju_dot3(v, v) + 1e-200)) {
    double x = fabs(n.x), y = fabs(n.y), z = fabs(n.z);
    v = x <= y && x <= z ? dju_vec3(1, 0, 0) : y <= z ? dju_vec3(0, 1, 0) : dju_vec3(0, 0, 1);
    t = dju_madd3(v, -dju_dot3(n, v), n);
  }
  t = dju_scale3(1 / dju_norm3(t), t);
  t = dju_madd3(t, -dju_dot3(n, t), n);
  S->t1 = S->q1 = S->d1 = dju_scale3(1 / dju_norm3(t), t);
  S->t2 = S->q2 = S->d2 = dju_cross3(n, S->t1);
  if (stretch->more == 0) return;
  S->t1 = dj_stretched(stretch, S->q1);
  S->t2 = dj_stretched(stretch, S->q2);
  S->d1 = dju_cross3(S->t2, n);
  S->d2 = dju_cross3(n, S->t1);
}

DJU_INLINE djLanes maxLanes(djLanes a, djLanes b) { return dju_pick(a > b, a, b); }

DJU_INLINE double largest(djLanes v) { return -dju_least(-v); }

// Centre points and velocities on their weighted means; scale.
static void centerSlips(djSlips* S, double ce[2], double cb[2]) {
  double inv = 1 / S->total;
  for (int k = 0; k < 2; k++) ce[k] *= inv, cb[k] *= inv;
  djLanes I = {0}, emax = {0}, bmax = {0};
  for (int i = 0; i < S->n; i += DJU_LANES) {
    djLanes W = dju_loadLanes(S->W + i);
    djLanes ex = dju_loadLanes(S->ex + i) - dju_splat(ce[0]);
    djLanes ey = dju_loadLanes(S->ey + i) - dju_splat(ce[1]);
    djLanes bx = dju_loadLanes(S->bx + i) - dju_splat(cb[0]);
    djLanes by = dju_loadLanes(S->by + i) - dju_splat(cb[1]);
    djMask loaded = W > dju_splat(0);
    djLanes ee = dju_keep(ex * ex + ey * ey, loaded), bb = dju_keep(bx * bx + by * by, loaded);
    I += W * ee;
    emax = maxLanes(emax, ee);
    bmax = maxLanes(bmax, bb);
    dju_storeLanes(S->ex + i, ex);
    dju_storeLanes(S->ey + i, ey);
    dju_storeLanes(S->bx + i, bx);
    dju_storeLanes(S->by + i, by);
  }
  S->spread = inv * dju_sumLanes(I);
  S->scale = sqrt(S->spread + 1e-16 * S->size * S->size);
  double unit = 1 / S->scale, slope;
  for (int i = 0; i < S->n; i += DJU_LANES) {
    dju_storeLanes(S->ex + i, dju_splat(unit) * dju_loadLanes(S->ex + i));
    dju_storeLanes(S->ey + i, dju_splat(unit) * dju_loadLanes(S->ey + i));
  }
  S->spin = dj_spinStiffness(&slope, S->total, S->spread, S->size, S->h) * unit * unit;
  S->emax = sqrt(largest(emax)) * unit;
  S->bmax = sqrt(largest(bmax));
  S->mean[0] = cb[0], S->mean[1] = cb[1];
}

// Lay out the arrays for n points, in buffer or in the caller's scratch.
static djStatus layoutSlips(djSlips* S, double* buffer, int n, const djPairInput* in) {
  int np = (n + DJU_LANES - 1) / DJU_LANES * DJU_LANES + DJU_LANES;
  double* x = buffer;
  if (np > DJ_SLIP_FIXED) {
    if (!in->scratch || in->nscratch / DJ_SLIP_WIDTH < np) return DJ_NO_MEMORY;
    x = in->scratch;
  }
  S->n = n;
  S->W = x, S->ex = x + np, S->ey = x + 2 * np, S->bx = x + 3 * np, S->by = x + 4 * np;
  S->rx = x + 5 * np, S->ry = x + 6 * np, S->rz = x + 7 * np;
  S->px = x + 8 * np, S->py = x + 9 * np, S->pz = x + 10 * np;
  for (int i = n; i < np; i++) S->W[i] = S->px[i] = S->py[i] = S->pz[i] = 0;
  for (int i = n; i < np - DJU_LANES; i++) {
    S->ex[i] = S->ey[i] = S->bx[i] = S->by[i] = S->rx[i] = S->ry[i] = S->rz[i] = 0;
  }
  return DJ_OK;
}

// Plane coordinates, velocities and arms of the points lo to hi - 1, all of the body with motion m.
// Writes some points beyond hi too.
static void placePoints(djSlips* S, int lo, int hi, const djMotion* m, const djLagged* lagged,
                        const djPairInput* in, djVec3 origin) {
  const double *A = m->now->R.m, *B = m->start->R.m;
  const djVec3 n = lagged->normal, t1 = S->t1, t2 = S->t2, d1 = S->d1, d2 = S->d2;
  const djVec3 p = m->start->p;
  const djVec3 dp = dju_sub3(m->now->p, p);
  const bool moved = m->rate != m->start;
  const double rate = 1 / in->h, project = lagged->law.arms == DJ_ARMS_PAPER ? 0 : 1;
  for (int i = lo; i < hi; i += DJU_LANES) {
    djLanes x = dju_loadLanes(S->px + i), y = dju_loadLanes(S->py + i);
    djLanes z = dju_loadLanes(S->pz + i);
    djLanes lift = project * (n.x * x + n.y * y + n.z * z + lagged->offset);
    x -= lift * n.x, y -= lift * n.y, z -= lift * n.z;
    djLanes cx = x - p.x, cy = y - p.y, cz = z - p.z;
    djLanes lx = B[0] * cx + B[3] * cy + B[6] * cz;
    djLanes ly = B[1] * cx + B[4] * cy + B[7] * cz;
    djLanes lz = B[2] * cx + B[5] * cy + B[8] * cz;
    djLanes dx = dp.x + (A[0] - B[0]) * lx + (A[1] - B[1]) * ly + (A[2] - B[2]) * lz;
    djLanes dy = dp.y + (A[3] - B[3]) * lx + (A[4] - B[4]) * ly + (A[5] - B[5]) * lz;
    djLanes dz = dp.z + (A[6] - B[6]) * lx + (A[7] - B[7]) * ly + (A[8] - B[8]) * lz;
    dju_storeLanes(S->rx + i, (x - m->ref.x) + dx);
    dju_storeLanes(S->ry + i, (y - m->ref.y) + dy);
    dju_storeLanes(S->rz + i, (z - m->ref.z) + dz);
    if (moved) {   // from the rate pose
      const double* C = m->rate->R.m;
      const djVec3 q = dju_sub3(m->now->p, m->rate->p);
      dx = q.x + (A[0] - C[0]) * lx + (A[1] - C[1]) * ly + (A[2] - C[2]) * lz;
      dy = q.y + (A[3] - C[3]) * lx + (A[4] - C[4]) * ly + (A[5] - C[5]) * lz;
      dz = q.z + (A[6] - C[6]) * lx + (A[7] - C[7]) * ly + (A[8] - C[8]) * lz;
    }
    dju_storeLanes(S->bx + i, rate * (t1.x * dx + t1.y * dy + t1.z * dz));
    dju_storeLanes(S->by + i, rate * (t2.x * dx + t2.y * dy + t2.z * dz));
    x -= origin.x, y -= origin.y, z -= origin.z;
    dju_storeLanes(S->ex + i, d1.x * x + d1.y * y + d1.z * z);
    dju_storeLanes(S->ey + i, d2.x * x + d2.y * y + d2.z * z);
  }
}

djStatus dj_gatherSlips(djSlips* S, double* buffer, const djLagged* lagged,
                        const djPairInput* in) {
  int n = 0, na = 0;
  for (int i = 0; i < lagged->n; i++) {
    if (!(lagged->force[i] >= 0) || !isfinite(lagged->force[i])) return DJ_INVALID;
    n += lagged->force[i] > 0;
    if (i < lagged->na) na = n;
  }
  S->n = n, S->na = na;
  if (n == 0) return DJ_OK;
  djStatus status = layoutSlips(S, buffer, n, in);
  if (status) return status;
  for (int i = 0, k = 0; k < n; i++) {
    if (lagged->force[i] == 0) continue;
    S->W[k] = dj_slipWeight(in, lagged, i);
    const double* x = lagged->point + 3 * i;
    S->px[k] = x[0], S->py[k] = x[1], S->pz[k] = x[2];
    k++;
  }

  const djMotion ma = dj_motionOf(in, 0), mb = dj_motionOf(in, 1);
  djVec3 origin = dj_armPoint(lagged, lagged->law.arms, dju_vec3(S->px[0], S->py[0], S->pz[0]));
  const djStretch stretch = dj_stretchOf(lagged, in);
  makeTangents(S, lagged->normal,
               dju_sub3(dj_displace(&ma, origin), dj_displace(&mb, origin)), &stretch);
  placePoints(S, 0, na, &ma, lagged, in, origin);
  placePoints(S, na, n, &mb, lagged, in, origin);

  djLanes sum[5] = {{0}};
  for (int i = 0; i < n; i += DJU_LANES) {
    djLanes W = dju_loadLanes(S->W + i);
    sum[0] += W;
    sum[1] += W * dju_loadLanes(S->ex + i), sum[2] += W * dju_loadLanes(S->ey + i);
    sum[3] += W * dju_loadLanes(S->bx + i), sum[4] += W * dju_loadLanes(S->by + i);
  }
  S->total = dju_sumLanes(sum[0]);
  if (!(S->total > 0)) {   // forces so small that their weights vanish
    S->n = 0;
    return DJ_OK;
  }
  double ce[2] = {dju_sumLanes(sum[1]), dju_sumLanes(sum[2])};
  double cb[2] = {dju_sumLanes(sum[3]), dju_sumLanes(sum[4])};
  S->size = dj_slipSize(lagged, in);
  S->h = in->h;
  centerSlips(S, ce, cb);
  return DJ_OK;
}

// Energy, gradient and Hessian at v.
static void evalPlane(djPlaneEnergy* E, const djSlips* S, const double v[3], double eps) {
  const djLanes v0 = dju_splat(v[0]), v1 = dju_splat(v[1]), v2 = dju_splat(v[2]);
  djLanes U = {0}, stiff = {0}, g0 = {0}, g1 = {0}, g2 = {0};
  djLanes h0 = {0}, h1 = {0}, h2 = {0}, h3 = {0}, h4 = {0}, h5 = {0};
  for (int i = 0; i < S->n; i += DJU_LANES) {
    djLanes W = dju_loadLanes(S->W + i);
    djLanes ex = dju_loadLanes(S->ex + i), ey = dju_loadLanes(S->ey + i);
    djLanes s1 = dju_loadLanes(S->bx + i) - v0 + v2 * ey;
    djLanes s2 = dju_loadLanes(S->by + i) - v1 - v2 * ex;
    djLanes r = dj_sqrtLanes(s1 * s1 + s2 * s2 + eps), ir = 1 / r, y1 = s1 * ir, y2 = s2 * ir;
    djLanes c = W * ir, f1 = W * y1, f2 = W * y2, low = eps * ir * ir;
    djLanes k11 = c * (low + y2 * y2), k22 = c * (low + y1 * y1), k12 = -c * (y1 * y2);
    djLanes q1 = ex * k12 - ey * k11, q2 = ex * k22 - ey * k12;
    U += W * r, stiff += c;
    g0 -= f1, g1 -= f2, g2 += ey * f1 - ex * f2;
    h0 += k11, h1 += k12, h2 += k22, h3 += q1, h4 += q2, h5 += ex * q2 - ey * q1;
  }
  double sum[8];
  const djLanes eight[8] = {U, stiff, g0, g1, g2, h0, h1, h2};
  dju_sumEight(sum, eight);
  *E = (djPlaneEnergy){.value = sum[0] + 0.5 * S->spin * v[2] * v[2],
                       .g = {sum[2], sum[3], sum[4] + S->spin * v[2]},
                       .H = {sum[5], sum[6], sum[7], dju_sumLanes(h3), dju_sumLanes(h4),
                             dju_sumLanes(h5) + S->spin},
                       .stiff = sum[1]};
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
// its value. Accepts a slope of at most 0.9 of the first one's size (0.1 when the minimum is
// passed: steps that leap over kinks zigzag) with an energy that has not risen, but for rounding;
// reach bounds the terms of slips. Brackets by regula falsi, which one-sided progress (a kink)
// turns into bisection, or into division by ten while the lower end is still 0.
static void searchPlane(djSlips* S, const double p[3], double decrement, double reach,
                        double eps) {
  double lo = 0, hi = 0, slope_lo = -decrement, slope_hi = 0, step = 1;
  double v[3], bound = S->at.value + 4 * DBL_EPSILON * (S->at.value + S->total * reach);
  int side = 0;   // ends moved in a row: > 0 upper, < 0 lower
  djPlaneEnergy E;
  for (int cut = 0; cut < DJ_PLANE_MAXCUT; cut++) {
    for (int k = 0; k < 3; k++) v[k] = S->v[k] + step * p[k];
    evalPlane(&E, S, v, eps);
    double slope = E.g[0] * p[0] + E.g[1] * p[1] + E.g[2] * p[2];
    bool high = E.value > bound;
    if (!high && slope >= -0.9 * decrement && slope <= 0.1 * decrement) break;
    if (high || slope > 0) {
      hi = step, slope_hi = slope;
      side = side > 0 ? side + 1 : 1;
    } else {
      lo = step, slope_lo = slope;
      side = side < 0 ? side - 1 : -1;
    }
    if (hi == 0) {
      step *= 4;
      continue;
    }
    double t = slope_hi > 0 ? slope_lo / (slope_lo - slope_hi) : 0.5;
    if (side > 1 || side < -1) t = lo > 0 ? 0.5 : fmin(t, 0.1);
    step = lo + fmin(fmax(t, 0.01), 0.99) * (hi - lo);
  }
  if (E.value > bound) return;
  for (int k = 0; k < 3; k++) S->v[k] = v[k];
  S->at = E;
}

// The weighted means, where they have less energy than S->v. (b is relative to its mean, so the
// mean's u is zero.)
static void tryMean(djSlips* S, double eps) {
  djLanes spin = {0};
  for (int i = 0; i < S->n; i += DJU_LANES) {
    spin += dju_loadLanes(S->W + i) * (dju_loadLanes(S->ex + i) * dju_loadLanes(S->by + i) -
                                       dju_loadLanes(S->ey + i) * dju_loadLanes(S->bx + i));
  }
  // sum W |e|^2 = sum W spread/scale^2, and scale^2 is a little more than spread
  double v[3] = {0, 0, dju_sumLanes(spin) / (S->total + S->spin)};
  djPlaneEnergy E;
  evalPlane(&E, S, v, eps);
  if (S->at.value <= E.value) return;
  for (int k = 0; k < 3; k++) S->v[k] = v[k];
  S->at = E;
}

// Damped Newton from the better of the state's motion and the means. It ends where the decrement is
// one of rounding: g carries errors of about DBL_EPSILON (sum W/r |b| + sum W), the first because s
// is a difference.
djStatus dj_solveSlips(djSlips* S, djFrictionState* state, double eps) {
  djStatus status = DJ_NOT_CONVERGED;
  djVec3 u = dju_load3(state->u);
  S->v[0] = dju_dot3(S->q1, u) - S->mean[0];
  S->v[1] = dju_dot3(S->q2, u) - S->mean[1];
  S->v[2] = state->w * S->scale;
  evalPlane(&S->at, S, S->v, eps);
  S->iterations = 0;
  while (S->iterations < DJ_PLANE_MAXITER) {
    double p[3], v[3], slope = maxAbs3(S->at.g);
    // a warm start within a hundredth of the forces is near enough
    if (S->iterations == 0 && !(slope <= 0.01 * S->total)) {
      tryMean(S, eps);
      slope = maxAbs3(S->at.g);
      if (!isfinite(S->at.value)) return DJ_INVALID;
    }
    if (slope <= DBL_EPSILON * S->total) {
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
      if (maxAbs3(E.g) < slope) {
        for (int k = 0; k < 3; k++) S->v[k] = v[k];
        S->at = E;
      }
      status = DJ_OK;
      break;
    }
    searchPlane(S, p, decrement, reach, eps);
  }
  u = dju_madd3(dju_scale3(S->v[0] + S->mean[0], S->q1), S->v[1] + S->mean[1], S->q2);
  dju_store3(state->u, u);
  state->w = S->v[2] / S->scale;
  state->iterations = S->iterations;
  return status;
}
