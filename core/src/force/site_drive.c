#include "force/site_drive.h"

#include "math/block6.h"
#include "math/so3.h"
#include "model/span.h"

#include <string.h>

// ---- psi and its gradient ----------------------------------------------------------------------

static djQuat siteTurn(const djModel* m, const djKin* kin, int site) {
  return dju_mulQuat(kin->quat[m->site_body[site]], dju_loadQuat(m->site_quat + 4 * site));
}

static djMat3 siteAxes(const djModel* m, const djKin* kin, int site) {
  djMat3 R = kin->body[m->site_body[site]].R;
  return dju_mulMM(R, dju_quatToMat(dju_loadQuat(m->site_quat + 4 * site)));
}

// Rotation vector from one site's axes to the other's, in axes of the first.
static djVec3 turnBetween(const djModel* m, const djKin* kin, int from, int to) {
  djQuat q = dju_mulQuat(dju_conj(siteTurn(m, kin, from)), siteTurn(m, kin, to));
  return dju_logQuat(dju_normalizeQuat(q));
}

// That of body b since displacements began, world axes.
static djQuat turnSince(const djMotion* at, int b) {
  return dju_mulQuat(at->at.kin->quat[b], dju_conj(at->rate.kin->quat[b]));
}

// The body of the last dof of both chains, or the world.
static int commonBody(const djModel* m, int a, int b) {
  int i = m->body_lastdof[a], k = m->body_lastdof[b];
  while (i != k) {
    int* end = i > k ? &i : &k;
    *end = m->dof_parent[*end];
  }
  return i < 0 ? 0 : m->dof_body[i];
}

static djMat3 mulMMt(djMat3 A, djMat3 B) {
  djMat3 C;
  for (int r = 0; r < 3; r++) {
    for (int c = 0; c < 3; c++) {
      C.m[3 * r + c] = A.m[3 * r] * B.m[3 * c] + A.m[3 * r + 1] * B.m[3 * c + 1] +
                       A.m[3 * r + 2] * B.m[3 * c + 2];
    }
  }
  return C;
}

// Torque by a turn of the body: the left Jacobian's inverse, transposed, applied to T.
static djVec3 torqueOf(const djSiteDrive* d, int side) {
  return dju_mulMV(dju_rightJacobianInv(d->theta[side]), d->T);
}

static void setGradient(djSiteDrive* d, const djMotion* at) {
  djVec3 F = dju_mulMV(d->Y, d->F);
  for (int s = 0; s < (d->two ? 2 : 1); s++) {
    double sign = s ? -1 : 1;
    djVec3 arm = dju_sub3(d->p[s], at->ref[d->body[s]]);
    djVec3 t = dju_add3(dju_cross3(arm, F), dju_mulMV(d->Y, torqueOf(d, s)));
    dju_store3(d->W[s], dju_scale3(sign, t));
    dju_store3(d->W[s] + 3, dju_scale3(sign, F));
  }
}

// W_a = -(W_s + W_r), about its own reference point.
static void setBase(djSiteDrive* d) {
  for (int k = 0; k < 6; k++) d->W[DJ_DRIVE_BASE][k] = -d->W[0][k] - d->W[1][k];
}

djSiteDrive dj_siteDrive(const djMotion* at, int i) {
  const djModel* m = at->model;
  const int* site = m->actuator_site + 2 * i;
  const double* gear = m->actuator_gear + 6 * i;
  djSiteDrive d;
  memset(&d, 0, sizeof d);
  d.two = site[1] >= 0;
  d.axes = siteAxes(m, at->rate.kin, site[d.two ? 1 : 0]);
  d.F = dju_mulMV(d.axes, dju_load3(gear));
  d.T = dju_mulMV(d.axes, dju_load3(gear + 3));
  int base = d.two ? commonBody(m, m->site_body[site[0]], m->site_body[site[1]]) : 0;
  const djPose *X = &at->at.kin->body[base], *X0 = &at->rate.kin->body[base];
  djQuat back = dju_conj(turnSince(at, base));
  d.Y = mulMMt(X->R, X0->R);
  for (int s = 0; s < 2; s++) {
    d.body[s] = site[s] < 0 ? 0 : m->site_body[site[s]];
    if (site[s] < 0) continue;
    d.p[s] = dj_sitePoint(m, at->at.kin, site[s]);
    d.p0[s] = dj_sitePoint(m, at->rate.kin, site[s]);
    djQuat turn = dju_mulQuat(back, turnSince(at, d.body[s]));
    d.theta[s] = dju_logQuat(dju_normalizeQuat(turn));
    djVec3 p = dju_add3(dju_mulMtV(d.Y, dju_sub3(d.p[s], X->p)), X0->p);
    d.moved = dju_madd3(d.moved, s ? -1 : 1, dju_sub3(p, d.p0[s]));
  }
  d.psi = dju_dot3(d.F, d.moved) + dju_dot3(d.T, dju_sub3(d.theta[0], d.theta[1]));
  d.body[DJ_DRIVE_BASE] = base;
  setGradient(&d, at);
  setBase(&d);
  for (int k = 0; k < DJ_NDRIVE; k++) {
    if (m->body_lastdof[d.body[k]] < 0) d.body[k] = -1;
  }
  return d;
}

djVec3 dj_siteTurnLength(const djMotion* at, int i) {
  const int* site = at->model->actuator_site + 2 * i;
  return turnBetween(at->model, at->rate.kin, site[1], site[0]);
}

double dj_siteLength(const djMotion* at, int i) {
  const djModel* m = at->model;
  const int* site = m->actuator_site + 2 * i;
  const double* gear = m->actuator_gear + 6 * i;
  const djKin* kin = at->rate.kin;
  if (site[1] < 0) return 0;
  djMat3 ref = siteAxes(m, kin, site[1]);
  djVec3 d = dju_sub3(dj_sitePoint(m, kin, site[0]), dj_sitePoint(m, kin, site[1]));
  djVec3 turn = dj_siteTurnLength(at, i);
  return dju_dot3(dju_load3(gear), dju_mulMtV(ref, d)) + dju_dot3(dju_load3(gear + 3), turn);
}

// ---- second derivatives ------------------------------------------------------------------------

// d(J_r^-1(theta) T)/d theta: with J_r(theta) = J_r(-theta)^T, that of a pull-back at -theta.
static djMat3 torqueSlope(djVec3 theta, djVec3 T) {
  djVec3 G;
  djMat3 K, zero = {{0}};
  dju_pullback(&G, &K, dju_neg3(theta), T, &zero);
  for (int k = 0; k < 9; k++) K.m[k] = -K.m[k];
  return K;
}

static void addScaled(double* to, double f, const double* from) {
  for (int k = 0; k < 36; k++) to[k] += f * from[k];
}

static void addTransposed(double* to, double f, const double* from) {
  for (int r = 0; r < 6; r++) {
    for (int c = 0; c < 6; c++) to[6 * r + c] += f * from[6 * c + r];
  }
}

// Of either site's body: theta changes by J_r^-T along a turn.
static void setOwn(double N[36], const djSiteDrive* d, const djMotion* at, int s, double f) {
  djMat3 slope = mulMMt(torqueSlope(d->theta[s], d->T), dju_rightJacobianInv(d->theta[s]));
  djMat3 W = mulMMt(dju_mulMM(d->Y, slope), d->Y);
  djVec3 F = dju_mulMV(d->Y, d->F), arm = dju_sub3(d->p[s], at->ref[d->body[s]]);
  djMat3 X = dju_skew(F);
  dju_addSkewProduct(&W, 1, F, arm);
  dju_addBlock6(N, 0, 0, f, &W);
  dju_addBlock6(N, 0, 3, -f, &X);
}

// What moves all three bodies changes nothing. Twists x of a act as -x does on s and r, before what
// these do themselves.
static void setBaseBlocks(djSiteBlocks* b) {
  double(*B)[DJ_NDRIVE][36] = b->B;
  for (int s = 0; s < 2; s++) {
    double* cross = B[s][DJ_DRIVE_BASE];
    addTransposed(cross, -1, B[s][s]);
    addScaled(cross, -1, B[s][1 - s]);
    addTransposed(B[DJ_DRIVE_BASE][s], 1, cross);
    for (int t = 0; t < 2; t++) addTransposed(B[DJ_DRIVE_BASE][DJ_DRIVE_BASE], 1, B[s][t]);
  }
}

void dj_siteBlocks(djSiteBlocks* b, const djSiteDrive* d, const djMotion* at, double f, double k) {
  memset(b, 0, sizeof *b);
  for (int s = 0; s < 2; s++) {
    if (d->body[s] >= 0) setOwn(b->B[s][s], d, at, s, s ? -f : f);
    for (int t = 0; t < 2; t++) {
      for (int e = 0; e < 36; e++) b->B[s][t][e] += k * d->W[s][e / 6] * d->W[t][e % 6];
    }
  }
  setBaseBlocks(b);
}

// ---- by the start ------------------------------------------------------------------------------

static void add6(double x[6], double f, djVec3 w, djVec3 v) {
  dju_addTo3(x, f, w);
  dju_addTo3(x + 3, f, v);
}

static djVec3 armAtStart(const djSiteDrive* d, const djMotion* at, int s) {
  return dju_sub3(d->p0[s], at->ref[d->body[s]]);
}

// The gear's axes turn with the body of the reference site, or of the site: F and T with it.
static void startScalars(double psi[DJ_NDRIVE][6], double length[DJ_NDRIVE][6],
                         const djSiteDrive* d, const djMotion* at, int i) {
  int owner = d->two ? 1 : 0;
  djVec3 none = {0, 0, 0}, gear = dju_load3(at->model->actuator_gear + 6 * i + 3), turn = none;
  if (d->two) {
    djMat3 J = dju_rightJacobianInv(dj_siteTurnLength(at, i));
    turn = dju_mulMV(d->axes, dju_mulMV(J, gear));
  }
  for (int s = 0; s < 2; s++) {
    if (d->body[s] < 0 || (s && !d->two)) continue;
    double sign = s ? -1 : 1;
    djVec3 push = dju_cross3(armAtStart(d, at, s), d->F);
    djVec3 back = dju_mulMtV(dju_rightJacobianInv(d->theta[s]), d->T);
    add6(psi[s], -sign, dju_add3(push, back), d->F);
    if (d->two) add6(length[s], sign, dju_add3(push, turn), d->F);
  }
  if (d->body[owner] < 0) return;
  djVec3 turned = dju_sub3(d->theta[0], d->theta[1]);
  add6(psi[owner], 1, dju_add3(dju_cross3(d->F, d->moved), dju_cross3(d->T, turned)), none);
  if (!d->two) return;
  add6(length[owner], 1, dju_cross3(d->F, dju_sub3(d->p0[0], d->p0[1])), none);
}

// Rows of W_s by turns at the start: B of its force, C of its torque, both before Y.
static void addTurns(double M[36], const djSiteDrive* d, const djMotion* at, int s, double f,
                     const djMat3* B, const djMat3* C) {
  djVec3 arm = dju_sub3(d->p[s], at->ref[d->body[s]]);
  djMat3 force = dju_mulMM(d->Y, *B), torque = dju_mulMM(d->Y, *C);
  djMat3 lever = dju_mulMM(dju_skew(arm), force);
  dju_addBlock6(M, 0, 0, f, &torque);
  dju_addBlock6(M, 0, 0, f, &lever);
  dju_addBlock6(M, 3, 0, f, &force);
}

void dj_siteStart(double psi[DJ_NDRIVE][6], double length[DJ_NDRIVE][6], djSiteBlocks* W,
                  const djSiteDrive* d, const djMotion* at, int i, double f) {
  int owner = d->two ? 1 : 0;
  memset(psi, 0, DJ_NDRIVE * 6 * sizeof(double));
  memset(length, 0, DJ_NDRIVE * 6 * sizeof(double));
  memset(W, 0, sizeof *W);
  startScalars(psi, length, d, at, i);
  for (int s = 0; s < 2; s++) {
    if (d->body[s] < 0 || (s && !d->two)) continue;
    double sign = s ? -f : f;
    djMat3 Jinv = dju_rightJacobianInv(d->theta[s]), zero = {{0}};
    djMat3 own = dju_mulMM(torqueSlope(d->theta[s], d->T), Jinv);   // theta falls by J_r^-1 w
    addTurns(W->B[s][s], d, at, s, -sign, &zero, &own);
    djMat3 F = dju_skew(d->F), T = dju_mulMM(Jinv, dju_skew(d->T));   // w x F = -[F] w
    addTurns(W->B[s][owner], d, at, s, -sign, &F, &T);
  }
  for (int k = 0; k < 6; k++) {
    psi[DJ_DRIVE_BASE][k] = -psi[0][k] - psi[1][k];
    length[DJ_DRIVE_BASE][k] = -length[0][k] - length[1][k];
  }
  for (int s = 0; s < 2; s++) {
    for (int t = 0; t < 2; t++) {
      addScaled(W->B[s][DJ_DRIVE_BASE], -1, W->B[s][t]);
      addScaled(W->B[DJ_DRIVE_BASE][t], -1, W->B[s][t]);
      addScaled(W->B[DJ_DRIVE_BASE][DJ_DRIVE_BASE], 1, W->B[s][t]);
    }
  }
}
