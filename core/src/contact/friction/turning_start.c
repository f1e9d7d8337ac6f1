// Torsional and rolling friction: derivatives by the start of a step and by coefficients.
//
// With c, its gradient d = (-slope, slope) by turns now, and friction's energy U at the plane's
// best motion, the gradient by poses now is U_x + U_c d. By what is fixed at the start, c held,
//   (U_x + U_c d)' = U_x' + U_xc c' + d (U_c' + U_cc c') + U_c d'.
// c follows from x_i = part axis_i.theta; theta by turns w of both rate poses,
//   theta' = J_l^-1 w_a - J_r^-1 w_b.

#include "contact/friction/turning.h"

#include "math/so3.h"

static djVec3 unit(int j) { return dju_vec3(j == 0, j == 1, j == 2); }

// Rate poses move.
static bool rateMoves(djStartKind kind) { return kind == START_BOTH || kind == RATE_ALONE; }

static djVec3 thetaColumn(const djTurn* t, djStartKind kind, int j) {
  if (j % 6 > 2 || !rateMoves(kind)) return dju_vec3(0, 0, 0);
  djMat3 right = dju_rightJacobianInv(t->theta);
  djVec3 e = unit(j % 6);
  return j < 6 ? dju_mulMtV(right, e) : dju_neg3(dju_mulMV(right, e));
}

// Derivatives of the axes by column j.
static void axisColumn(djVec3 out[3], const djTurn* t, djStartKind kind, const djLaggedJac* jac,
                       int j) {
  const djSlipAxes* A = &t->axes;
  out[0] = out[1] = out[2] = dju_vec3(0, 0, 0);
  if (!dj_startMoves(kind)) return;
  djVec3 dn = {jac->dnormal[j], jac->dnormal[12 + j], jac->dnormal[24 + j]};
  djVec3 turn = dju_scale3(A->by_n, dn);
  if (A->turns && j < 3) turn = dju_madd3(turn, A->by_a, dju_cross3(unit(j), A->guide));
  double spin = dju_dot3(A->t2, turn);
  out[0] = dn;
  out[1] = dju_madd3(dju_scale3(-dju_dot3(A->t1, dn), A->n), spin, A->t2);
  out[2] = dju_madd3(dju_scale3(-dju_dot3(A->t2, dn), A->n), -spin, A->t1);
}

// c' of column j, and slope'.
static double turnColumn(djVec3* dslope, const djTurn* t, djStartKind kind,
                         const djLaggedJac* jac, int j) {
  djVec3 axis[3], dtheta = thetaColumn(t, kind, j), more = {0, 0, 0};
  double by_axis[3], dc = 0;
  axisColumn(axis, t, kind, jac, j);
  for (int i = 0; i < 3; i++) {
    by_axis[i] = t->part * dju_dot3(axis[i], t->theta);
    dc += t->g[i] * (by_axis[i] + t->part * dju_dot3(t->axis[i], dtheta));
  }
  for (int i = 0; i < 3; i++) {
    double dg = 0;
    for (int k = 0; k < 3; k++) dg += t->H[3 * i + k] * by_axis[k];
    more = dju_madd3(dju_madd3(more, t->part * t->g[i], axis[i]), t->part * dg, t->axis[i]);
  }
  djMat3 inverse = dju_rightJacobianInv(dju_neg3(t->theta));
  djVec3 dG = dju_neg3(dju_add3(dju_mulMV(t->K, dtheta), dju_mulMtV(inverse, more)));
  djVec3 back = dju_neg3(dG);
  if (rateMoves(kind) && j < 3) {   // C' = [w_a] C
    djVec3 G = dju_neg3(dju_mulMV(t->C, t->slope));
    back = dju_add3(back, dju_cross3(unit(j), G));
  }
  *dslope = dju_mulMtV(t->C, back);
  return dc;
}

void dj_addTurnStart(double start_jac[144], djStartKind kind, const djTurn* t,
                     const djTurnSums* sums, const double dby_c[12],
                     const djLaggedJac* jac) {
  double d[12] = {0};
  dju_store3(d, dju_neg3(t->slope));
  dju_store3(d + 6, t->slope);
  for (int j = 0; j < 12; j++) {
    djVec3 dslope;
    double dc = turnColumn(&dslope, t, kind, jac, j), change[12] = {0};
    dju_store3(change, dju_neg3(dslope));
    dju_store3(change + 6, dslope);
    for (int i = 0; i < 12; i++) {
      start_jac[12 * i + j] += sums->mixed[i] * dc + d[i] * (dby_c[j] + sums->by_cc * dc) +
                               sums->by_c * change[i];
    }
  }
}

// ------------------------------------------ by coefficients ------------------------------------

static djVec3 relativeTurn(const double lambda[12]) {
  return dju_sub3(dju_load3(lambda + 6), dju_load3(lambda));
}

double dj_turnRate(const djTurn* t, const double lambda[12]) {
  return t->acts ? dju_dot3(t->slope, relativeTurn(lambda)) : 0;
}

// A level b -> sqrt(y^2 + (e + b)^2) - e with the derivative of both sides along a motion: numbers,
// and cotangents of them.
typedef struct djLevel {
  const double* lever;
  double e, b, db;         // before it
  double by_e, by_b, by_db;
} djLevel;

static void forward(double* b, double* db, djLevel* level, const double lever[3], double e,
                    const double x[3], const double dx[3]) {
  double y2 = 0, ydy = 0, inner = e + *b;
  *level = (djLevel){.lever = lever, .e = e, .b = *b, .db = *db};
  for (int i = 0; i < 3; i++) {
    y2 += lever[i] * lever[i] * x[i] * x[i];
    ydy += lever[i] * lever[i] * x[i] * dx[i];
  }
  double r = sqrt(y2 + inner * inner);
  *db = (ydy + inner * *db) / r;
  *b = (y2 + *b * (e + inner)) / (r + e);
}

// by: cotangents of what came out; added to those of levers, x and dx.
static void backward(double by_lever[3], double by_x[3], double by_dx[3], djLevel* level,
                     double by_b, double by_db, const double x[3], const double dx[3]) {
  const double* l = level->lever;
  double y2 = 0, ydy = 0, inner = level->e + level->b;
  for (int i = 0; i < 3; i++) {
    y2 += l[i] * l[i] * x[i] * x[i];
    ydy += l[i] * l[i] * x[i] * dx[i];
  }
  double r = sqrt(y2 + inner * inner), N = ydy + inner * level->db;
  double by_r = by_b - by_db * N / (r * r), by_N = by_db / r;
  double by_inner = by_r * inner / r + by_N * level->db;
  for (int i = 0; i < 3; i++) {
    by_lever[i] += by_r / r * l[i] * x[i] * x[i] + 2 * by_N * l[i] * x[i] * dx[i];
    by_x[i] += l[i] * l[i] * (by_r / r * x[i] + by_N * dx[i]);
    by_dx[i] += by_N * l[i] * l[i] * x[i];
  }
  level->by_e = by_inner - by_b;
  level->by_b = by_inner;
  level->by_db = by_N * inner;
}

// The smoothing e = sqrt(eps) l/R; returns the cotangent of l.
static double addSmooth(djLaggedGrad* grad, const djTurn* t, const djLevel* level) {
  grad->size -= level->by_e * level->e / t->size;
  return level->by_e * t->smooth / t->size;
}

void dj_addTurnVjp(djLaggedGrad* grad, const djTurn* t, double by_c, double by_rate,
                   const double lambda[12], const djPairInput* in) {
  const double torsion[3] = {t->lever[0], 0, 0}, roll[3] = {0, t->lever[1], t->lever[2]};
  const bool rolls = dj_rollLever(t) > 0, spins = t->lever[0] > 0;
  djVec3 dtheta = dju_mulMtV(dju_rightJacobianInv(t->theta),
                             dju_mulMV(t->C, relativeTurn(lambda)));
  double dx[3], b = 0, db = 0, by_x[3] = {0}, by_dx[3] = {0}, by_lever[3] = {0};
  djLevel level[2];
  for (int i = 0; i < 3; i++) dx[i] = t->part * dju_dot3(t->axis[i], dtheta);
  if (rolls) forward(&b, &db, &level[0], roll, dj_turnSmooth(t, dj_rollLever(t)), t->x, dx);
  if (spins) forward(&b, &db, &level[1], torsion, dj_turnSmooth(t, t->lever[0]), t->x, dx);
  if (spins) {
    backward(by_lever, by_x, by_dx, &level[1], by_c, by_rate, t->x, dx);
    by_lever[0] += addSmooth(grad, t, &level[1]);
    by_c = level[1].by_b;
    by_rate = level[1].by_db;
  }
  if (rolls) {
    backward(by_lever, by_x, by_dx, &level[0], by_c, by_rate, t->x, dx);
    double by = 0.5 * addSmooth(grad, t, &level[0]) / dj_rollLever(t);
    for (int i = 1; i < 3; i++) by_lever[i] += by * t->lever[i];
  }
  grad->cone.torsion += by_lever[0] / in->friction;
  for (int i = 0; i < 2; i++) grad->cone.rolling[i] += by_lever[1 + i] / in->friction;
  for (int i = 0; i < 3; i++) grad->coefficient -= by_lever[i] * t->lever[i] / in->friction;
  // axes: a cotangent of each as one of the normal and of the guide
  const djSlipAxes* A = &t->axes;
  djVec3 by[3];
  for (int i = 0; i < 3; i++) {
    by[i] = dju_scale3(t->part, dju_madd3(dju_scale3(by_x[i], t->theta), by_dx[i], dtheta));
  }
  double spin = dju_dot3(by[1], A->t2) - dju_dot3(by[2], A->t1);
  dju_addTo3(grad->normal, 1, by[0]);
  dju_addTo3(grad->normal, -dju_dot3(by[1], A->n), A->t1);
  dju_addTo3(grad->normal, spin * A->by_n - dju_dot3(by[2], A->n), A->t2);
  if (A->turns) grad->along = dju_madd3(grad->along, spin * A->by_a, A->t2);
}
