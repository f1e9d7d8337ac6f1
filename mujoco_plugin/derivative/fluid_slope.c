// Derivatives of forces of the medium, in closed form (djm_fluidSlope).
//
// Both models make of a velocity x = (w, u) in a local frame (a body's inertia frame, a geom's
// frame; u relative to the wind) a wrench (torque, force) y(x) in that frame, at its origin.
// Moving along q_k turns frame and wrench by s_k, and by inverse_slope.c changes the velocity in
// the frame by that of R_k (MuJoCo's cdof_dot) at the origin and by s_k x wind:
//   dx/dq_k = E^T (R_k + (0, s_k x wind)),   dx/dv_k = E^T S_k,
//   d(J_j^T E y) = wrench that turns with k: djm_subWrench + J_j^T (s_k x E y), + J_j^T E dy/dx dx.
// dy/dx comes from the models' formulas by carrying derivatives along.

#include "dual.h"
#include "slope_math.h"
#include "smooth_work.h"

#include <string.h>

static const double TINY = mjMINVAL;

// ---- the models -------------------------------------------------------------------------------

// Drag of the box of a body's inertia.
static void boxModel(djmDual* y, const djmDual* x, const mjModel* m, int body) {
  const double* I = m->body_inertia + 3 * body;
  double mass = m->body_mass[body], s[3], mu = m->opt.viscosity, rho = m->opt.density;
  for (int i = 0; i < 3; i++) {
    double moment = I[(i + 1) % 3] + I[(i + 2) % 3] - I[i];
    s[i] = sqrt((moment > TINY ? moment : TINY) / mass * 6);
  }
  double mean = (s[0] + s[1] + s[2]) / 3, swing = M_PI * mean * mean * mean * mu;
  for (int i = 0; i < 3; i++) {
    double a = s[(i + 1) % 3], b = s[(i + 2) % 3];
    double rest = rho * s[i] * (a * a * a * a + b * b * b * b) / 64, area = 0.5 * rho * a * b;
    y[i] = dChain(x[i], -(swing + rest * fabs(x[i].x)) * x[i].x, -swing - 2 * rest * fabs(x[i].x));
    double drag = 3 * M_PI * mean * mu, v = x[3 + i].x;
    y[3 + i] = dChain(x[3 + i], -(drag + area * fabs(v)) * v, -drag - 2 * area * fabs(v));
  }
}

static void addCrossDual(djmDual* y, const djmDual* a, const djmDual* b, double scale) {
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    y[i] = dAdd(y[i], dScl(dSub(dMul(a[j], b[k]), dMul(a[k], b[j])), scale));
  }
}

static djmDual normDual(const djmDual* a) {
  return dSqrt(dAdd(dAdd(dMul(a[0], a[0]), dMul(a[1], a[1])), dMul(a[2], a[2])));
}

static double pow4(double x) { return x * x * x * x; }

static void semiaxes(double* s, const mjModel* m, int geom) {
  const double* size = m->geom_size + 3 * geom;
  copy3(s, size);
  switch (m->geom_type[geom]) {
    case mjGEOM_SPHERE:
      s[1] = s[2] = size[0];
      break;
    case mjGEOM_CAPSULE:
      s[1] = size[0];
      s[2] = size[1] + size[0];
      break;
    case mjGEOM_CYLINDER:
      s[1] = size[0];
      s[2] = size[1];
      break;
    default:
      break;
  }
}

// Lift and drag of an ellipsoid that moves at u and turns at w; c: blunt, slender and angular drag,
// Kutta's and Magnus' lift.
static void ellipsoidDrag(djmDual* y, const djmDual* w, const djmDual* u, const double* s,
                          const double* c, double rho, double mu) {
  double big = fmax(fmax(s[0], s[1]), s[2]), small = fmin(fmin(s[0], s[1]), s[2]);
  double mid = s[0] + s[1] + s[2] - big - small, most = M_PI * big * mid;
  addCrossDual(y + 3, w, u, c[4] * rho * 4 / 3 * M_PI * s[0] * s[1] * s[2]);
  // area of the projection along u, by its normal n
  djmDual den = dConst(0), num = dConst(0), n[3], circ[3] = {{0}};
  for (int i = 0; i < 3; i++) {
    double a = s[(i + 1) % 3] * s[(i + 2) % 3];
    djmDual square = dMul(u[i], u[i]);
    den = dAdd(den, dScl(square, pow4(a)));
    num = dAdd(num, dScl(square, a * a));
    n[i] = dScl(u[i], a * a);
  }
  djmDual low = num.x > TINY ? num : dConst(TINY);
  djmDual area = dScl(dSqrt(dDiv(den, low)), M_PI), speed = normDual(u);
  djmDual side = dMul(speed, den);
  djmDual cosine = dDiv(num, side.x > TINY ? side : dConst(TINY));
  addCrossDual(circ, n, u, c[3] * rho);
  djmDual lift = dMul(cosine, area);
  for (int i = 0; i < 3; i++) circ[i] = dMul(circ[i], lift);
  addCrossDual(y + 3, circ, u, 1);
  // drag: linear and quadratic
  double diameter = 2.0 / 3 * (s[0] + s[1] + s[2]), moment[3],
         max = 8.0 / 15 * M_PI * mid * pow4(big);
  djmDual drag = dMul(speed, dShift(dScl(area, rho * (c[0] - c[1])), rho * c[1] * most));
  drag = dShift(drag, mu * 3 * M_PI * diameter);
  djmDual swing[3];
  for (int i = 0; i < 3; i++) {
    moment[i] = 8.0 / 15 * M_PI * s[i] * pow4(fmax(s[(i + 1) % 3], s[(i + 2) % 3]));
    swing[i] = dScl(w[i], c[2] * moment[i] + c[1] * (max - moment[i]));
  }
  djmDual brake = dShift(dScl(normDual(swing), rho), mu * M_PI * diameter * diameter * diameter);
  for (int i = 0; i < 3; i++) {
    y[i] = dSub(y[i], dMul(brake, w[i]));
    y[3 + i] = dSub(y[3 + i], dMul(drag, u[i]));
  }
}

static void ellipsoidModel(djmDual* y, const djmDual* x, const mjModel* m, int geom) {
  const double* g = m->geom_fluid + mjNFLUID * geom;
  double rho = m->opt.density, s[3];
  djmDual p[3], h[3];
  semiaxes(s, m, geom);
  for (int i = 0; i < 6; i++) y[i] = dConst(0);
  // momentum of the medium that goes with the geom
  for (int i = 0; i < 3; i++) {
    p[i] = dScl(x[3 + i], rho * g[6 + i]);
    h[i] = dScl(x[i], rho * g[9 + i]);
  }
  addCrossDual(y, p, x + 3, 1);
  addCrossDual(y, h, x, 1);
  addCrossDual(y + 3, p, x, 1);
  ellipsoidDrag(y, x, x + 3, s, g + 1, rho, m->opt.viscosity);
  for (int i = 0; i < 6; i++) y[i] = dScl(y[i], g[0]);
}

// ---- by q and v -------------------------------------------------------------------------------

typedef struct Frame {
  int body, geom; // geom -1: the body's box
  const double *pos, *mat;
} Frame;

// By dof k of the chain: y of the frame, turned (q: with what turns it) and in the world.
static void column(double* force, const double* by, const double* mat, const double* change) {
  double x[6], y[6];
  mulMatT3(x, mat, change);
  mulMatT3(x + 3, mat, change + 3);
  for (int i = 0; i < 6; i++) y[i] = dot6(by + 6 * i, x);
  mulMat3(force, mat, y);
  mulMat3(force + 3, mat, y + 3);
}

static void addFrame(double* by_q, double* by_v, const mjModel* m, const mjData* d,
                     djmSmoothWork* w, Frame f) {
  djmChain* c = w->chain;
  int nv = w->nv;
  djm_fillChain(c, m, d, f.body, f.pos);
  if (!c->n) return;
  double offset[3], v[6], x[6], by[36], value[6], torque[3], force[3];
  sub3(offset, f.pos, d->subtree_com + 3 * m->body_rootid[f.body]);
  memcpy(v, d->cvel + 6 * f.body, sizeof(v));
  addCross3(v + 3, v, offset);
  addScl3(v + 3, m->opt.wind, -1);
  mulMatT3(x, f.mat, v);
  mulMatT3(x + 3, f.mat, v + 3);
  djmDual in[6], y[6];
  for (int i = 0; i < 6; i++) in[i] = dVar(x[i], i);
  if (f.geom < 0)
    boxModel(y, in, m, f.body);
  else
    ellipsoidModel(y, in, m, f.geom);
  for (int i = 0; i < 6; i++) {
    value[i] = y[i].x;
    memcpy(by + 6 * i, y[i].d, 6 * sizeof(double));
  }
  mulMat3(torque, f.mat, value);
  mulMat3(force, f.mat, value + 3);
  if (by_q) djm_subWrench(by_q, nv, c, w->groupend, force, torque);
  for (int b = 0; b < c->n; b++) {
    int k = c->dof[b];
    double axis[6], rate[6], dv[6], dq[6];
    copy3(axis, c->s + 3 * b);
    copy3(axis + 3, c->p + 3 * b);
    memcpy(rate, d->cdof_dot + 6 * k, sizeof(rate));
    addCross3(rate + 3, rate, offset);
    addCross3(rate + 3, axis, m->opt.wind);
    column(dv, by, f.mat, axis);
    column(dq, by, f.mat, rate);
    addCross3(dq, axis, torque);
    addCross3(dq + 3, axis, force);
    for (int a = 0; a < c->n; a++) {
      size_t at = (size_t)c->dof[a] * nv + k;
      if (by_q) by_q[at] -= dot3(c->s + 3 * a, dq) + dot3(c->p + 3 * a, dq + 3);
      if (by_v) by_v[at] -= dot3(c->s + 3 * a, dv) + dot3(c->p + 3 * a, dv + 3);
    }
  }
}

void djm_fluidSlope(double* by_q, double* by_v, const mjModel* m, const mjData* d,
                    djmSmoothWork* w) {
  for (int i = 1; i < w->nbody; i++) {
    if (m->body_mass[i] < TINY) continue;
    int first = m->body_geomadr[i], end = first + m->body_geomnum[i];
    bool shaped = false;
    for (int g = first; g < end; g++) {
      if (m->geom_fluid[mjNFLUID * g] > 0) shaped = true;
    }
    if (!shaped) {
      addFrame(by_q, by_v, m, d, w, (Frame){i, -1, d->xipos + 3 * i, d->ximat + 9 * i});
      continue;
    }
    for (int g = first; g < end; g++) {
      if (m->geom_fluid[mjNFLUID * g] == 0) continue;
      addFrame(by_q, by_v, m, d, w, (Frame){i, g, d->geom_xpos + 3 * g, d->geom_xmat + 9 * g});
    }
  }
}
