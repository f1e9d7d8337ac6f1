// Derivative of the separating-plane gradient by the poses at the start of the step.
//
// The start poses act through recovery's erosion e and, in its last phase, the shifts of the shapes
// (recovery.h), and through friction's lagged plane and forces. With U_e the derivative of U by e
// at fixed plane,
//
//   dG/de = U_xi,e - U_xi,p U_pp^-1 U_p,e,
//
// and at the start  dp = -U_pp^-1 (U_p,xi dxi + U_p,e de + U_p,shift dshift).

#include "math/barrier.h"
#include "contact/plane/plane_lag.h"

#include <string.h>

// How the erosion follows the start twists.
typedef struct djErosionMotion {
  bool any, shifting;
  double de[12], dt[12];
  double shift[2][36];     // (3 x 12): d shift of a and b, world axes at the start
} djErosionMotion;

// Derivatives by e at a fixed plane, per metre, of U_p (4; half space: U_t, U_o) and U_xi (12).
typedef struct djErosionSlope {
  double p[4], xi[12];
} djErosionSlope;

// By how far phase 3 has moved each shape: the shape's shift is +-shift apart, so that for twists
// of the start poses d shift_k = +-shift (du - w_k x u).
static djStatus erosionMotion(djErosionMotion* m, const djPlaneState* state,
                              const djPairInput* in) {
  memset(m, 0, sizeof *m);
  m->any = state->erosion.e > 0;
  djPlaneWork w;
  djErosion none = {0};
  djStatus status = dj_openPlaneWork(&w, in, &none, true);
  if (status) return status;
  if (!m->any) {
    double gap, width = DJ_RECOVERY_GAP - DJ_RECOVERY_FLOOR;
    if (!state->lagged || !(state->lag_past < INFINITY)) return DJ_OK;
    status = dj_startGap(&gap, m->dt, in, w.range);
    for (int j = 0; j < 12; j++) m->dt[j] /= width;
    return status;
  }
  double du[36];
  double* scratch = dj_takeScratch(&w, w.half_space ? 0 : 6 * (in->a->npad + in->b->npad));
  if (!scratch) return DJ_NO_MEMORY;
  status = dj_erosionJac(m->de, m->dt, du, &state->erosion, in, w.range, scratch);
  double shift = w.half_space ? 0 : dj_erosionShift(&state->erosion);
  m->shifting = shift > 0;
  if (status || !m->shifting) return status;
  for (int k = 0; k < 2; k++) {
    double sign = k == 0 ? -shift : shift;
    for (int i = 0; i < 36; i++) m->shift[k][i] = sign * du[i];
    for (int j = 0; j < 3; j++) {
      djVec3 axis = dju_vec3(j == 0, j == 1, j == 2);
      djVec3 turn = dju_cross3(axis, state->erosion.apart);
      m->shift[k][6 * k + j] -= sign * turn.x;
      m->shift[k][12 + 6 * k + j] -= sign * turn.y;
      m->shift[k][24 + 6 * k + j] -= sign * turn.z;
    }
  }
  return DJ_OK;
}

// What e does to one side: vertices (body frame), and what rounds them, over L.
typedef struct djRates {
  double* vert;            // (3 npad), metres
  double radius;
  djMat3 curve;            // dG/de, world axes; curved shapes
} djRates;

// By e, at fixed n: returns d(r|n| + q)/de, *slide = d(r u + c)/de. With w of shape/curve.h
//   q_e = w.G_e^T n,  w_e = (G_e^T n - w q_e)/q,  c_e = G_e w + G w_e.
static double roundRate(djVec3* slide, const djRates* rates, const djCloud* c, djVec3 n) {
  double length = dju_norm3(n);
  *slide = dju_scale3(rates->radius / length, n);
  if (!c->curved) return rates->radius * length;
  djVec3 w, turn = dju_mulMtV(rates->curve, n);
  double q = dj_curveReach(NULL, &w, &c->curve, n), qe = dju_dot3(w, turn);
  turn = dju_scale3(1 / q, dju_madd3(turn, -qe, w));
  *slide = dju_add3(*slide, dju_add3(dju_mulMV(rates->curve, w), dju_mulMV(c->curve, turn)));
  return rates->radius * length + qe;
}

// D_e of vertex i and, in mu, its velocity by e over L (world axes):
//   D = sigma (n.y + o) - r|n| - q(n),  D_e = sigma n.mu - round,  round = r_e |n| + q_e.
static double argumentRate(djVec3* mu, const djRates* rates, int npad, int i, const djPose* pose,
                           double round, double sigma, djVec3 n, double L) {
  const double* rate = rates->vert;
  djVec3 local = dju_vec3(rate[i], rate[npad + i], rate[2 * npad + i]);
  *mu = dju_scale3(1 / L, dju_mulMV(pose->R, local));
  return sigma * dju_dot3(n, *mu) - round;
}

// Rates of the clouds' radii: none where inflation clamps their sum at zero.
static double clampedRate(const djPlaneWork* w, double radius_rate) {
  return w->radius[0] + w->radius[1] > 0 ? radius_rate : 0;
}

// Sums over the vertices that touch, with J = (rho x n, n), rho = z - ref, and the slide as above:
//   U_p,e = sum P'' sigma (z, 1) D_e + P' (sigma mu - slide, 0)
//   U_xi,e = sum sigma P'' D_e J + P' ((sigma mu - slide) x n, 0)
static void addErosionSlope(djErosionSlope* out, const djFound* f, const djPlaneWork* w,
                            int side, const djRates* rates) {
  const djCloud* c = &w->cloud[side];
  double sigma = side == 0 ? -1 : 1;
  djVec3 n = dju_load3(f->plane.p), ref = dju_load3(f->ref[side]);
  djVec3 point, slide, p = {0, 0, 0}, torque = {0, 0, 0}, force = {0, 0, 0};
  double po = 0, reach = dj_cloudReach(&point, c, n), round = roundRate(&slide, rates, c, n);
  for (int i = 0; i < c->n; i++) {
    djVec3 y = dj_cloudVertex(c, i), mu;
    double b[3], D = sigma * (dju_dot3(n, y) + f->plane.p[3]) - reach;
    if (!(D < w->law.s)) continue;
    dj_barrier(b, D, w->law);
    double De = argumentRate(&mu, rates, w->shape[side]->npad, i, w->pose[side], round, sigma, n,
                             w->L);
    djVec3 z = dju_madd3(y, -sigma, point), move = dju_madd3(dju_scale3(sigma, mu), -1, slide);
    p = dju_madd3(p, b[2] * sigma * De, z);
    p = dju_madd3(p, b[1], move);
    po += b[2] * sigma * De;
    torque = dju_madd3(torque, sigma * b[2] * De, dju_cross3(dju_sub3(z, ref), n));
    torque = dju_madd3(torque, b[1], dju_cross3(move, n));
    force = dju_madd3(force, sigma * b[2] * De, n);
  }
  out->p[0] += p.x;
  out->p[1] += p.y;
  out->p[2] += p.z;
  out->p[3] += po;
  dju_store3(out->xi + 6 * side, torque);
  dju_store3(out->xi + 6 * side + 3, dju_scale3(1 / w->L, force));
}

static void fillRates(djRates* rates, const djPlaneWork* w, const djErosion* erosion, int side) {
  const djShape* shape = side ? w->in->b : w->in->a;
  dj_erosionRate(rates->vert, &rates->radius, shape, erosion, side);
  rates->radius = clampedRate(w, rates->radius) / w->L;
  if (!shape->curved) return;
  rates->curve = dju_mulMM(w->pose[side]->R, dj_erosionCurveRate(shape, erosion, side));
  for (int i = 0; i < 9; i++) rates->curve.m[i] /= w->L;
}

// mixed: of f, per metre, stiffness 1. rates: with memory, filled here.
static void erosionSlope(djErosionSlope* out, djRates rates[2], const djFound* f,
                         const djPlaneWork* w, const djErosion* erosion, const double mixed[48]) {
  memset(out, 0, sizeof *out);
  if (w->half_space) {   // z_e = 1/L; U_xi,e = t z_e U_o,xi
    const djPlaneSums* m = &f->half.m;
    const double* N = f->space.normal;
    double t = f->half.t, inv = 1 / w->L;
    double Mk = m->m[3] * N[0] + m->m[6] * N[1] + m->m[8] * N[2] + m->m[9] * f->space.k;
    out->p[0] = inv * (t * Mk + m->f[3]);
    out->p[1] = inv * t * m->m[9];
    for (int j = 0; j < 12; j++) out->xi[j] = inv * t * mixed[12 + j];
    return;
  }
  for (int k = 0; k < 2; k++) {
    fillRates(&rates[k], w, erosion, k);
    addErosionSlope(out, f, w, k, &rates[k]);
  }
}

static djStatus takeRates(djRates rates[2], djPlaneWork* w) {
  rates[0].vert = dj_takeScratch(w, 3 * w->in->a->npad);
  rates[1].vert = dj_takeScratch(w, w->half_space ? 0 : 3 * w->in->b->npad);
  return rates[0].vert && rates[1].vert ? DJ_OK : DJ_NO_MEMORY;
}

// ------------------------------------------ normal contact -------------------------------------

// A body-fixed shift d of all vertices of body k acts as its linear twist does, except that the
// torque about the reference point also gains sum sigma P' d x n.
static void addShift(double start_jac[144], const double hessian[144], const djFound* f,
                     const djPlaneWork* w, const djErosionMotion* m) {
  const djPose* start[2] = {w->in->start_a, w->in->start_b};
  djVec3 n = dju_load3(f->plane.p);
  for (int k = 0; k < 2; k++) {
    double f0 = w->K / w->L * f->plane.side[k].f[3];
    for (int j = 0; j < 12; j++) {
      djVec3 d = dju_vec3(m->shift[k][j], m->shift[k][12 + j], m->shift[k][24 + j]);
      d = dju_mulMV(w->pose[k]->R, dju_mulMtV(start[k]->R, d));
      for (int i = 0; i < 12; i++) {
        const double* H = hessian + 12 * i + 6 * k + 3;
        start_jac[12 * i + j] += H[0] * d.x + H[1] * d.y + H[2] * d.z;
      }
      djVec3 torque = dju_scale3(f0, dju_cross3(d, n));
      start_jac[12 * (6 * k) + j] += torque.x;
      start_jac[12 * (6 * k + 1) + j] += torque.y;
      start_jac[12 * (6 * k + 2) + j] += torque.z;
    }
  }
}

static djStatus addNormal(double start_jac[144], djPlaneState* state, const djPairInput* in,
                          const djErosionMotion* m) {
  djPlaneWork w;
  djFound f;
  djRates rates[2] = {0};
  djStatus status = dj_openPlaneWork(&w, in, &state->erosion, false);
  if (!status) status = takeRates(rates, &w);
  if (status) return status;
  status = dj_findPlane(&f, &w, state);
  if (status < 0 || f.kind != DJ_TOUCHING) return status;
  double mixed[48], hessian[144], gradient[12], x[4];
  dj_foundTwist(gradient, mixed, NULL, &f, &w, 1);
  djErosionSlope slope;
  erosionSlope(&slope, rates, &f, &w, &state->erosion, mixed);
  dj_solveFound(x, &f, &w, slope.p);
  for (int i = 0; i < 12; i++) {
    double g = slope.xi[i] - mixed[i] * x[0] - mixed[12 + i] * x[1];
    if (!w.half_space) g -= mixed[24 + i] * x[2] + mixed[36 + i] * x[3];
    double softer = w.soft_rate * gradient[i];
    for (int j = 0; j < 12; j++) start_jac[12 * i + j] += w.K * (g * m->de[j] + softer * m->dt[j]);
  }
  if (m->shifting) {
    dj_foundTwist(NULL, NULL, hessian, &f, &w, w.K);
    addShift(start_jac, hessian, &f, &w, m);
  }
  return status;
}

// ------------------------------------------ friction -------------------------------------------

// dp (4 x 12), or (dt, do).
static void planeMotion(double dp[48], const djFound* f, const djPlaneWork* w,
                        const djErosionMotion* m, const djErosionSlope* slope,
                        const double mixed[48]) {
  int rows = w->half_space ? 2 : 4;
  for (int j = 0; j < 12; j++) {
    double b[4] = {0}, x[4];
    for (int r = 0; r < rows; r++) {
      b[r] = mixed[12 * r + j] + slope->p[r] * m->de[j];
      for (int k = 0; m->shifting && k < 2; k++) {
        const double *W = mixed + 12 * r + 6 * k + 3, *d = m->shift[k] + j;
        b[r] += W[0] * d[0] + W[1] * d[12] + W[2] * d[24];
      }
    }
    dj_solveFound(x, f, w, b);
    for (int r = 0; r < 4; r++) dp[12 * r + j] = -x[r];
  }
}

// dD_i (12) of the point y of one side, z or as far from the plane, at fixed plane and erosion:
// sigma (rho x n, n/L).
static void twistColumns(double dD[12], djVec3 y, djVec3 n, double sigma, int side,
                         const djFound* f, double L) {
  memset(dD, 0, 12 * sizeof(double));
  djVec3 rho = dju_sub3(y, dju_load3(f->ref[side]));
  dju_store3(dD + 6 * side, dju_scale3(sigma, dju_cross3(rho, n)));
  dju_store3(dD + 6 * side + 3, dju_scale3(sigma / L, n));
}

// The same derivative for all points of a vertex that act with equal parts of its force; returns
// the index of the next.
static int copyRows(double* dforce, int at, int split) {
  double* row = dforce + 12 * at;
  for (int j = 0; j < 12 && split > 1; j++) row[j] /= split;
  for (int k = 1; k < split; k++) memcpy(row + 12 * k, row, 12 * sizeof(double));
  return at + split;
}

// Forces' derivatives between hulls: with D = sigma (n.z + o),
//   dD = sigma (n.dy + z.dn + do) + D_e de + sigma n.dshift/L,
//   df = -(K/L) (P'' |n| dD + P' u.dn) + f dlog K.
static void hullForces(double* dforce, const djForces* forces, const djFound* f,
                       const djPlaneWork* w, const djErosionMotion* m, const double dp[48],
                       const djRates rates[2]) {
  djVec3 n = dju_load3(f->plane.p), mu, point[2], slide;
  double length = dju_norm3(n), scale = w->K / w->L, round[2] = {0};
  djVec3 u = dju_scale3(1 / length, n);
  for (int side = 0; side < 2; side++) {
    dj_cloudReach(&point[side], &w->cloud[side], n);
    if (m->any) round[side] = roundRate(&slide, &rates[side], &w->cloud[side], n);
  }
  for (int i = 0, at = 0; i < forces->n; i++) {
    if (forces->first[i] == 0) continue;
    int side = i >= forces->na, k = side ? i - forces->na : i;
    const djCloud* c = &w->cloud[side];
    double sigma = side ? 1 : -1, De = 0, dD[12];
    djVec3 y = dj_cloudVertex(c, k);
    djVec3 z = dju_madd3(y, -sigma, point[side]);
    twistColumns(dD, z, n, sigma, side, f, w->L);
    if (m->any) {
      De = argumentRate(&mu, &rates[side], w->shape[side]->npad, k, w->pose[side], round[side],
                        sigma, n, w->L);
    }
    const double* shift = m->shift[side];
    for (int j = 0; j < 12; j++) {
      const double* dn = dp + j;
      double dl = u.x * dn[0] + u.y * dn[12] + u.z * dn[24];
      double d = dD[j] + sigma * (z.x * dn[0] + z.y * dn[12] + z.z * dn[24] + dn[36]);
      d += De * m->de[j];
      d += sigma / w->L * (n.x * shift[j] + n.y * shift[12 + j] + n.z * shift[24 + j]);
      dl += length * w->soft_rate * m->dt[j];
      dforce[12 * at + j] =
          -scale * (forces->second[i] * length * d + forces->first[i] * dl);
    }
    at = copyRows(dforce, at, dj_lagSplit(w, side));
  }
}

// Against a half space: dD = z dt + do + t (dz + de/L),  df = -(K/L) (P' dt + t P'' dD) + f dlog K.
static void halfForces(double* dforce, const djForces* forces, const djFound* f,
                       const djPlaneWork* w, const djErosionMotion* m, const double dp[48]) {
  djVec3 N = dju_load3(f->space.normal);
  double t = f->half.t, scale = w->K / w->L;
  for (int i = 0, at = 0; i < forces->n; i++) {
    if (forces->first[i] == 0) continue;
    djVec3 y = dj_cloudVertex(&w->cloud[0], i);
    double z = dju_dot3(N, y) + f->space.k, dz[12], dz_b[12];
    twistColumns(dz, y, N, 1, 0, f, w->L);
    twistColumns(dz_b, y, N, -1, 1, f, w->L);
    for (int j = 0; j < 12; j++) {
      double d = z * dp[j] + dp[12 + j] + t * (dz[j] + dz_b[j] + m->de[j] / w->L);
      double dt = dp[j] + t * w->soft_rate * m->dt[j];
      dforce[12 * at + j] = -scale * (forces->first[i] * dt + t * forces->second[i] * d);
    }
    at = copyRows(dforce, at, dj_lagSplit(w, 0));
  }
}

// Forces times the factor c(F, g, g_), at fixed g_: d(c f) = c df + f dc.
static void boundForces(double* dforce, const djLagged* lagged, const djPlaneState* state,
                        const djErosionMotion* m, const djPlaneWork* w) {
  double c = state->lag_factor, part = dj_lagPart(w), dc[12];
  djLagSums sums = dj_lagSums(lagged, w, state);
  double by_count;
  djLagFactor by = dj_planeLagFactor(&by_count, &sums, state, w->in);
  double by_t = by.by_gap * (DJ_RECOVERY_GAP - DJ_RECOVERY_FLOOR);
  if (c == 1 && by.by_force == 0 && by_t == 0 && by_count == 0) return;
  for (int j = 0; j < 12; j++) dc[j] = by_t * m->dt[j];
  for (int i = 0; i < lagged->n; i++) {   // the count is F^2/squares
    double f = lagged->force[i] / c * dj_lagSplit(w, i >= lagged->na);
    double by_f = by.by_force + 2 * by_count * (1 / sums.F - f / sums.squares);
    for (int j = 0; j < 12; j++) dc[j] += part * by_f * dforce[12 * i + j];
  }
  for (int i = 0; i < lagged->n; i++) {
    double* d = dforce + 12 * i;
    for (int j = 0; j < 12; j++) d[j] = c * d[j] + lagged->force[i] / c * dc[j];
  }
}

// Unit normal and offset (metres, world) of the lagged plane.
static void planeFrame(djLaggedJac* jac, const djFound* f, const djPlaneWork* w,
                       const djErosionMotion* m, const double dp[48]) {
  double L = w->L;
  if (w->half_space) {
    // normal -N, dN = w_b x N; the surface N.x = d moves by dd = (w_b x N).ref_b + N.v_b, the
    // plane lies at d - e - L o/t
    djVec3 N = dju_load3(f->space.normal);
    double t = f->half.t, o = f->half.o, d[12] = {0};
    memset(jac->dnormal, 0, sizeof jac->dnormal);
    for (int j = 0; j < 3; j++) {
      djVec3 dN = dju_cross3(dju_vec3(j == 0, j == 1, j == 2), N);
      jac->dnormal[6 + j] = -dN.x;
      jac->dnormal[18 + j] = -dN.y;
      jac->dnormal[30 + j] = -dN.z;
      d[6 + j] = dju_dot3(dN, w->in->ref_b);
    }
    dju_store3(d + 9, N);
    for (int j = 0; j < 12; j++) {
      jac->doffset[j] = d[j] - m->de[j] - L * (dp[12 + j] / t - o * dp[j] / (t * t));
    }
    return;
  }
  djVec3 n = dju_load3(f->plane.p);
  double length = dju_norm3(n), o = f->plane.p[3];
  djVec3 u = dju_scale3(1 / length, n);
  for (int j = 0; j < 12; j++) {
    djVec3 dn = dju_vec3(dp[j], dp[12 + j], dp[24 + j]);
    double dl = dju_dot3(u, dn);
    djVec3 du = dju_scale3(1 / length, dju_madd3(dn, -dl, u));
    jac->dnormal[j] = du.x;
    jac->dnormal[12 + j] = du.y;
    jac->dnormal[24 + j] = du.z;
    jac->doffset[j] = L * (dp[36 + j] - o * dl / length) / length - dju_dot3(du, w->center);
  }
}

// Slides of the points of curved sides.
static void addSlides(djLaggedJac* jac, double slide[2][DJ_LAG_SPLIT * 36], const djPlaneWork* w,
                      const djPlaneState* state) {
  const djShape* shape[2] = {w->in->a, w->in->b};
  for (int side = 0; side < 2; side++) {
    if (!shape[side]->curved) continue;
    const djLagShape on = dj_lagShape(w, state, side);
    dj_lagSlide(slide[side], &on, jac->dnormal);
    jac->slide[side] = slide[side];
    jac->nslide[side] = dj_lagSplit(w, side);
  }
}

static djStatus addFriction(double start_jac[144], double rate_jac[144], djPlaneState* state,
                            const djPairInput* in, const djErosionMotion* m) {
  djPlaneWork w;
  djFound f;
  djForces forces;
  djLagged lagged;
  djErosionSlope slope = {0};
  djRates rates[2] = {0};
  double mixed[48], dp[48];
  djStatus status = dj_openPlaneWork(&w, in, &state->erosion, false);
  if (!status) status = dj_getLagged(&lagged, state, &w);
  if (status) return status;
  djPairInput rest = *in;   // the scratch that the lagged points do not occupy
  rest.scratch = w.free;
  rest.nscratch = w.nfree;
  status = dj_openPlaneWork(&w, &rest, &state->erosion, true);
  if (!status) status = dj_lagForces(&forces, &w, state);
  if (!status) status = takeRates(rates, &w);
  if (!status) status = dj_solveLagged(&f, &w, state);
  if (status) return status;
  double* dforce = dj_takeScratch(&w, 12 * lagged.n);
  if (!dforce) return DJ_NO_MEMORY;
  dj_foundTwist(NULL, mixed, NULL, &f, &w, 1);
  if (m->any) erosionSlope(&slope, rates, &f, &w, &state->erosion, mixed);
  planeMotion(dp, &f, &w, m, &slope, mixed);
  if (w.half_space) {
    halfForces(dforce, &forces, &f, &w, m, dp);
  } else {
    hullForces(dforce, &forces, &f, &w, m, dp, rates);
  }
  boundForces(dforce, &lagged, state, m, &w);
  djLaggedJac jac = {.dforce = dforce};
  planeFrame(&jac, &f, &w, m, dp);
  double slide[2][DJ_LAG_SPLIT * 36];
  addSlides(&jac, slide, &w, state);
  rest.scratch = w.free;
  rest.nscratch = w.nfree;
  return dj_frictionStart(start_jac, rate_jac, &state->friction, &lagged, &jac, &rest);
}

djStatus dj_planeStart(double start_jac[144], double rate_jac[144], djPlaneState* state,
                       const djPairInput* in) {
  memset(start_jac, 0, 144 * sizeof(double));
  djErosionMotion motion;
  djStatus status = erosionMotion(&motion, state, in), solved = DJ_OK;
  if (status) return status;
  if (in->rate_a != in->start_a || in->rate_b != in->start_b) {
    if (!rate_jac) return DJ_INVALID;
    memset(rate_jac, 0, 144 * sizeof(double));
  }
  if (motion.any) solved = addNormal(start_jac, state, in, &motion);
  if (solved < 0) return solved;
  if (dj_planeSlides(state, in)) {
    status = addFriction(start_jac, rate_jac, state, in, &motion);
    if (status) return status;
  }
  return solved;
}

// By g_, through the factor of all forces.
djStatus dj_planePast(bool* any, djPairPast* past, djPlaneState* state, const djPairInput* in) {
  *any = dj_planeSlides(state, in) && state->lag_past < INFINITY && in->past_a &&
         in->past_b;
  if (!*any) return DJ_OK;
  djPlaneWork w;
  djLagged lagged;
  djStatus status = dj_openPlaneWork(&w, in, &state->erosion, false);
  if (!status) status = dj_getLagged(&lagged, state, &w);
  if (status) return status;
  double* dforce = dj_takeScratch(&w, 12 * lagged.n);
  if (!dforce) return DJ_NO_MEMORY;
  djLagSums sums = dj_lagSums(&lagged, &w, state);
  double gap, c = state->lag_factor, by = dj_planeLagFactor(NULL, &sums, state, in).by_past;
  memset(dforce, 0, 12 * (size_t)lagged.n * sizeof(double));
  for (int i = 0; i < lagged.n; i++) dforce[12 * i] = by * lagged.force[i] / c;
  djPairInput rest = *in;
  rest.scratch = w.free;
  rest.nscratch = w.nfree;
  memset(past, 0, sizeof *past);
  djStatus sliding = dj_frictionByForces(past->by, &state->friction, &lagged, dforce, &rest);
  if (sliding < 0) return sliding;
  rest.start_a = in->past_a;
  rest.start_b = in->past_b;
  status = dj_startGap(&gap, past->number, &rest, w.range);
  return status < 0 ? status : sliding;
}
