// Free bodies of the method `euler`, with the option spin = exact. Explicit gyroscopic terms, as
// MuJoCo has them, gain energy. Here the body goes by the discrete Lagrangian
//   L = m |c+ - c|^2/(2 h) + psi . J psi/(2 h)
// (Marsden and West, Discrete mechanics and variational integrators, 2001, section 1.5), c its
// centre of mass, J the inertia about it, psi the rotation's displacement: its momenta are
//   -D1 L: m (c+ - c)/h, J_r^-1 J psi/h in the axes of q,  D2 L: that, J_r^-T J psi/h in those of q+,
// so that linear and angular momentum are kept to rounding and energy stays about what it was. The
// velocity stands for the momentum: at the end
//   w+ = J^-1 J_r^-T J psi/h,   v+ = (c+ - c)/h - w+ x R+ r
// of the frame's origin, r the centre of mass in the body. What turns slowly goes as by MuJoCo.
//
// With R the balance of euler.c, E = exp(psi), u = psi/h, w and R0 at the start,
//   s_c = (J_r^-1 - 1) J u/h - w x J w,   s_t = m R0 (((E - 1) r/h - u x r)/h - w x (w x r))
// are what R lacks. Forces and torques about the centre of mass stay as they are in space while the
// body turns, and with it the frame's origin, about which r has its moments; in the axes of the end
//   F = R_t + s_t,   r_t = F,   r_r = E^T (R_r - r x R0^T R_t + s_c) + r x E^T R0^T F.
// E^T times what stays has no energy. Newton's method solves euler.c's, J_r^-T K (psi - p)/h^2 +
// dU/dq+, with p such that both agree at some psi: first where the body ends without U, then at the
// last solution, until that is its own. Each time the error falls by about |psi|.

#include "integrate/euler_spin.h"
#include "math/ldl.h"
#include "math/ldu.h"
#include "math/so3.h"
#include "model/body_param.h"
#include "model/param.h"

#include <math.h>
#include <string.h>

enum { MOST_PREDICTIONS = 20 };
static const double MOST_TURN = 0.3;     // rad, of a step of a prediction
static const double PREDICTED = 1e-9;    // rad, of its last step, whose square is the error

// ---- one body ---------------------------------------------------------------------------------

typedef struct Spin {
  int body, dof;           // the first of six
  double mass, h;
  djVec3 com;
  djMat3 axes, J;          // of its inertia; J in the body's
  djMat3 R0, E, B;         // B = J_r^-1
  djVec3 w, u;
  djVec3 t, c;             // s_t, s_c
  double K[36], R[6];      // of openBalance
} Spin;

static djVec3 turnRest(const Spin* p, djVec3 x) { return dju_sub3(dju_mulMV(p->E, x), x); }

static djVec3 gyration(djVec3 w, djVec3 r) { return dju_cross3(w, dju_cross3(w, r)); }

// Of joint j, at psi (6).
static Spin openJoint(const djWork* w, const djModel* m, int j, const double* psi) {
  int b = m->jnt_body[j];
  Spin p = {.body = b, .dof = m->jnt_dofadr[j], .mass = m->body_mass[b], .h = w->h};
  const double *I = m->body_inertia + 3 * b, f = 1 / p.h;
  p.com = dju_load3(m->body_ipos + 3 * b);
  p.axes = dju_quatToMat(dju_loadQuat(m->body_iquat + 4 * b));
  for (int i = 0; i < 9; i++) {
    const double *x = p.axes.m + 3 * (i / 3), *y = p.axes.m + 3 * (i % 3);
    p.J.m[i] = I[0] * x[0] * y[0] + I[1] * x[1] * y[1] + I[2] * x[2] * y[2];
  }
  p.R0 = dju_quatToMat(dju_loadQuat(w->start.qpos + m->jnt_qposadr[j] + 3));
  p.E = dju_quatToMat(dju_expQuat(dju_load3(psi + 3)));
  p.w = dju_load3(w->start.qvel + p.dof + 3);
  p.B = dju_rightJacobianInv(dju_load3(psi + 3));
  p.u = dju_scale3(f, dju_load3(psi + 3));
  djVec3 t = dju_sub3(dju_scale3(f, turnRest(&p, p.com)), dju_cross3(p.u, p.com));
  t = dju_sub3(dju_scale3(f, t), gyration(p.w, p.com));
  p.t = dju_scale3(p.mass, dju_mulMV(p.R0, t));
  djVec3 Ju = dju_mulMV(p.J, p.u);
  p.c = dju_scale3(f, dju_sub3(dju_mulMV(p.B, Ju), Ju));
  p.c = dju_sub3(p.c, dju_cross3(p.w, dju_mulMV(p.J, p.w)));
  return p;
}

// The k-th spin, psi (nv).
static Spin openSpin(const djWork* w, const djModel* m, int k, const double* psi) {
  int j = w->spins.joint[k];
  return openJoint(w, m, j, psi + m->jnt_dofadr[j]);
}

// Derivative of J_r^-1 J u, or of J_r^-T J u, by psi.
static djMat3 bentSlope(const Spin* p, bool transpose) {
  double sign = transpose ? 1 : -1, f = sign / p->h;
  djVec3 G, phi = dju_scale3(sign * p->h, p->u);
  djMat3 K, Y;
  for (int i = 0; i < 9; i++) Y.m[i] = f * p->J.m[i];
  dju_pullback(&G, &K, phi, dju_mulMV(p->J, p->u), &Y);
  for (int i = 0; i < 9; i++) K.m[i] *= sign;
  return K;
}

// Rows of R, with s on them, to rows of r.
static void turnPair(djVec3* rt, djVec3* rr, const Spin* p, djVec3 Rt, djVec3 Rr, djVec3 st,
                     djVec3 sc) {
  *rt = dju_add3(Rt, st);
  djVec3 about = dju_add3(dju_sub3(Rr, dju_cross3(p->com, dju_mulMtV(p->R0, Rt))), sc);
  djVec3 force = dju_mulMtV(p->E, dju_mulMtV(p->R0, *rt));
  *rr = dju_add3(dju_mulMtV(p->E, about), dju_cross3(p->com, force));
}

// K of its dofs, and R at psi (6).
static void setBalance(Spin* p, const djWork* w, const double* psi) {
  double a[6];
  for (int i = 0; i < 6; i++) {
    a[i] = (psi[i] / p->h - w->start.qvel[p->dof + i] - w->kick[p->dof + i]) / p->h;
    p->R[i] = w->bias[p->dof + i];
  }
  for (int i = 0; i < 36; i++) {
    p->K[i] = *dj_own(&w->inertia, p->dof + i / 6, p->dof + i % 6);
    p->R[i / 6] += p->K[i] * a[i % 6];
  }
}

static Spin openBalance(const djWork* w, const djModel* m, int k, const double* psi) {
  Spin p = openSpin(w, m, k, psi);
  setBalance(&p, w, psi + p.dof);
  return p;
}

static void residualOf(double r[6], const Spin* p) {
  djVec3 t, c;
  turnPair(&t, &c, p, dju_load3(p->R), dju_load3(p->R + 3), p->t, p->c);
  dju_store3(r, t);
  dju_store3(r + 3, c);
}

// W (6 x 6): derivative of r by the dofs at the end.
static void slopeOf(double W[36], const Spin* p) {
  const double *K = p->K, *R = p->R, f = 1 / p->h, f2 = f * f;
  djMat3 byPsi = bentSlope(p, false);
  djVec3 F = dju_add3(dju_load3(R), p->t), local = dju_mulMtV(p->R0, F);
  djVec3 about = dju_sub3(dju_load3(R + 3), dju_cross3(p->com, dju_mulMtV(p->R0, dju_load3(R))));
  djVec3 turned = dju_mulMtV(p->E, dju_add3(about, p->c)), force = dju_mulMtV(p->E, local);
  for (int k = 0; k < 6; k++) {
    double x[6] = {0}, dR[6] = {0};
    djVec3 d = dju_vec3(k == 3, k == 4, k == 5), dt, dc, dpsi = dju_mulMV(p->B, d);
    if (k < 3) x[k] = 1;
    else dju_store3(x + 3, dpsi);
    for (int i = 0; i < 36; i++) dR[i / 6] += f2 * K[i] * x[i % 6];
    djVec3 moved = dju_sub3(dju_mulMV(p->E, dju_cross3(d, p->com)), dju_cross3(dpsi, p->com));
    djVec3 spun = dju_sub3(dju_mulMV(byPsi, dpsi), dju_scale3(f, dju_mulMV(p->J, dpsi)));
    djVec3 st = dju_scale3(f2 * p->mass, dju_mulMV(p->R0, moved)), sc = dju_scale3(f, spun);
    turnPair(&dt, &dc, p, dju_load3(dR), dju_load3(dR + 3), st, sc);
    dc = dju_sub3(dc, dju_cross3(d, turned));
    dc = dju_sub3(dc, dju_cross3(p->com, dju_cross3(d, force)));
    for (int i = 0; i < 3; i++) {
      W[6 * i + k] = (&dt.x)[i];
      W[6 * (i + 3) + k] = (&dc.x)[i];
    }
  }
}

// ---- steps ------------------------------------------------------------------------------------

static bool movesAlone(const djWork* w, const djModel* m, int j) {
  bool lossy = m->jnt_frictionloss[j] > 0 && !(m->opt.disable & DJ_DSBL_FRICTIONLOSS);
  return dj_jointRow(m, j)->pose && dj_rotationDof(m, j) == m->jnt_dofadr[j] + 3 &&
         !w->spins.bound[m->jnt_body[j]] && !lossy && w->armature[j] == 0;
}

// Whether rows (euler_row.h) may be along coordinate c, which they come and go with.
static bool mayHaveRows(const djWork* w, const djModel* m, int c) {
  if (m->coord_type[c] == DJ_COORD_EQUALITY) {
    return w->start.eq_active[m->coord_id[c]] && !(m->opt.disable & DJ_DSBL_EQUALITY);
  }
  if (m->coord_type[c] != DJ_COORD_TENDON) return false;
  int t = m->coord_id[c];
  return (m->tendon_limited[t] && !(m->opt.disable & DJ_DSBL_LIMIT)) ||
         (m->tendon_frictionloss[t] > 0 && !(m->opt.disable & DJ_DSBL_FRICTIONLOSS));
}

// Bodies that carry others, or have rows along what moves them.
static void markBound(bool* bound, const djWork* w, const djModel* m) {
  memset(bound, 0, (size_t)m->nbody * sizeof(bool));
  for (int b = 1; b < m->nbody; b++) bound[m->body_parent[b]] = true;
  for (int c = m->ncoord - 1; c >= 0 && m->coord_type[c] != DJ_COORD_JOINT; c--) {
    const int *dof = m->coord_dof + m->coord_dofadr[c], n = m->coord_dofnum[c];
    if (!mayHaveRows(w, m, c)) continue;
    for (int k = 0; k < n; k++) bound[m->dof_body[dof[k]]] = true;
  }
}

void dj_beginSpins(djWork* w, const djModel* m) {
  djEulerSpins* s = &w->spins;
  s->n = 0;
  if (m->opt.spin != DJ_SPIN_EXACT) return;
  markBound(s->bound, w, m);
  for (int j = 0; j < m->njnt; j++) {
    if (movesAlone(w, m, j)) s->joint[s->n++] = j;
  }
}

// psi (6) of r = 0 by Newton's method, from psi. False: it finds none.
static bool predictSpin(double psi[6], const djWork* w, const djModel* m, int j) {
  double r[6], W[36], F[36];
  for (int i = 0; i < MOST_PREDICTIONS; i++) {
    Spin p = openJoint(w, m, j, psi);
    setBalance(&p, w, psi);
    residualOf(r, &p);
    slopeOf(W, &p);
    if (!dj_factorLDU(F, W, NULL, 6)) return false;
    dj_solveLDU(r, F, 6);
    djVec3 turn = dju_load3(r + 3);
    double size = dju_norm3(turn), most = fmin(1, MOST_TURN / fmax(size, MOST_TURN));
    dju_store3(r + 3, dju_mulMV(p.B, turn));
    for (int v = 0; v < 6; v++) psi[v] -= most * r[v];
    if (size < PREDICTED) return true;
  }
  return false;
}

void dj_predictSpins(djWork* w, const djModel* m) {
  for (int k = 0; k < w->spins.n; k++) {
    int j = w->spins.joint[k], dof = m->jnt_dofadr[j];
    double psi[6];
    for (int i = 0; i < 6; i++) psi[i] = w->h * w->start.qvel[dof + i];
    if (predictSpin(psi, w, m, j)) memcpy(w->drift + dof, psi, sizeof psi);
  }
}

double dj_lagSpins(djWork* w, const djModel* m, const double* psi) {
  double sum = 0;
  for (int k = 0; k < w->spins.n; k++) {
    Spin p = openBalance(w, m, k, psi);
    const double* at = psi + p.dof;
    double L[36], x[6], f = w->h * w->h;
    residualOf(x, &p);
    dju_store3(x + 3, dju_mulMtV(dju_rightJacobian(dju_load3(at + 3)), dju_load3(x + 3)));
    if (!dj_factorLDL(L, p.K, NULL, 6)) continue;
    dj_solveLDL(x, L, 6);
    for (int i = 0; i < 6; i++) {
      double to = at[i] - f * x[i];
      x[i] = to - w->drift[p.dof + i];
      w->drift[p.dof + i] = to;
    }
    for (int i = 0; i < 36; i++) sum += x[i / 6] * p.K[i] * x[i % 6];
  }
  return sqrt(fmax(sum, 0)) / w->h;
}

// H has the symmetric part of W of dj_inertiaSlope; but where the gradient vanishes, what turns in
// that of U makes up for the rest.
void dj_endSpins(djWork* w, const djModel* m, const djMatrix* whole) {
  const double* psi = dj_stageOf(w)->linear.psi;
  for (int k = 0; k < w->spins.n; k++) {
    Spin p = openBalance(w, m, k, psi);
    double W[36];
    slopeOf(W, &p);
    for (int i = 0; i < 36; i++) {
      int a = p.dof + i / 6, b = p.dof + i % 6;
      *dj_own(&w->H, a, b) += W[i] - *dj_own(whole, a, b);
    }
  }
}

// ---- derivatives by the start -----------------------------------------------------------------

void dj_maskSpins(double* masked, const djWork* w, const djModel* m, const double* psi) {
  memcpy(masked, psi, (size_t)m->nv * sizeof(double));
  for (int k = 0; k < w->spins.n; k++) {
    memset(masked + m->jnt_dofadr[w->spins.joint[k]] + 3, 0, 3 * sizeof(double));
  }
}

void dj_spinSlopes(djMatrix* W, djWork* w, const djModel* m, const double* psi) {
  for (int k = 0; k < w->spins.n; k++) {
    Spin p = openBalance(w, m, k, psi);
    double own[36];
    slopeOf(own, &p);
    for (int i = 0; i < 36; i++) *dj_own(W, p.dof + i / 6, p.dof + i % 6) = own[i];
  }
}

// d s by w.
static void byRate(djVec3* st, djVec3* sc, const Spin* p, djVec3 d) {
  djVec3 t = dju_add3(dju_cross3(d, dju_cross3(p->w, p->com)),
                      dju_cross3(p->w, dju_cross3(d, p->com)));
  *st = dju_scale3(-p->mass, dju_mulMV(p->R0, t));
  *sc = dju_neg3(dju_add3(dju_cross3(d, dju_mulMV(p->J, p->w)),
                          dju_cross3(p->w, dju_mulMV(p->J, d))));
}

// By R0 -> R0 exp(d), R held: R0^T x changes by [R0^T x] d, s_t by -R0 [R0^T s_t] d.
static void byTurn(djVec3* rr, djVec3* rt, const Spin* p, djVec3 Rt, djVec3 d) {
  djVec3 local = dju_mulMtV(p->R0, Rt), own = dju_mulMtV(p->R0, p->t);
  djVec3 about = dju_neg3(dju_cross3(p->com, dju_cross3(local, d)));
  djVec3 force = dju_mulMtV(p->E, dju_cross3(local, d));
  *rt = dju_neg3(dju_mulMV(p->R0, dju_cross3(own, d)));
  *rr = dju_add3(dju_mulMtV(p->E, about), dju_cross3(p->com, force));
}

// Rows dof ... dof + 5 of all that A couples with them.
static void turnRows(djMatrix* A, const Spin* p) {
  const djVec3 none = {0, 0, 0};
  const djBlocks* b = A->blocks;
  for (int t = 0; t < b->nblock; t++) {
    djBlockView v = dj_blockView(A, p->dof, b->adr[t]);
    if (!v.at) continue;
    for (int c = b->adr[t]; c < b->adr[t + 1]; c++) {
      djVec3 R[2], r[2];
      for (int i = 0; i < 6; i++) (&R[i / 3].x)[i % 3] = *dj_viewEntry(&v, p->dof + i, c);
      turnPair(&r[0], &r[1], p, R[0], R[1], none, none);
      for (int i = 0; i < 6; i++) *dj_viewEntry(&v, p->dof + i, c) = (&r[i / 3].x)[i % 3];
    }
  }
}

void dj_turnSpinRows(djMatrix* A, djWork* w, const djModel* m, const double* psi) {
  for (int k = 0; k < w->spins.n; k++) {
    Spin p = openSpin(w, m, k, psi);
    turnRows(A, &p);
  }
}

void dj_addSpinStart(djMatrix* A, djWork* w, const djModel* m, const double* psi, bool by_q) {
  const djVec3 none = {0, 0, 0};
  for (int k = 0; k < w->spins.n; k++) {
    Spin p = openBalance(w, m, k, psi);
    for (int c = 0; c < 3; c++) {
      djVec3 d = dju_vec3(c == 0, c == 1, c == 2), st, sc, rt, rr;
      if (by_q) {
        byTurn(&rr, &rt, &p, dju_load3(p.R), d);
      } else {
        byRate(&st, &sc, &p, d);
        turnPair(&rt, &rr, &p, none, none, st, sc);
      }
      for (int i = 0; i < 3; i++) {
        *dj_own(A, p.dof + i, p.dof + 3 + c) += (&rt.x)[i];
        *dj_own(A, p.dof + 3 + i, p.dof + 3 + c) += (&rr.x)[i];
      }
    }
  }
}

void dj_turnSpinEntries(djEntries* A, djWork* w, const djModel* m, const double* psi) {
  const djVec3 none = {0, 0, 0};
  int n = A->n < A->max ? A->n : A->max;
  for (int e = 0; e < n; e++) {
    djMatrixEntry at = A->entry[e];
    int j = m->dof_jnt[at.row], dof = m->jnt_dofadr[j];
    if (w->spins.n == 0 || !movesAlone(w, m, j)) continue;
    Spin p = openJoint(w, m, j, psi + dof);
    double R[6] = {0}, r[6];
    R[at.row - dof] = at.value;
    djVec3 t, c;
    turnPair(&t, &c, &p, dju_load3(R), dju_load3(R + 3), none, none);
    dju_store3(r, t);
    dju_store3(r + 3, c);
    A->entry[e].value = r[at.row - dof];
    for (int i = 0; i < 6; i++) {
      if (dof + i != at.row && r[i] != 0) dj_pushEntry(A, dof + i, at.col, r[i]);
    }
  }
}

// ---- parameters -------------------------------------------------------------------------------

// z . r = x_t . R_t + x_r . R_r + l . s_t + g . s_c.
static void dualOf(djVec3* xt, djVec3* l, djVec3* g, const Spin* p, const double* z) {
  djVec3 zr = dju_load3(z + 3);
  *g = dju_mulMV(p->E, zr);
  djVec3 arm = dju_mulMV(p->R0, dju_mulMV(p->E, dju_cross3(zr, p->com)));
  *l = dju_add3(dju_load3(z), arm);
  *xt = dju_sub3(*l, dju_mulMV(p->R0, dju_cross3(*g, p->com)));
}

void dj_turnSpinDual(double* x, djWork* w, const djModel* m, const double* psi, const double* z) {
  for (int k = 0; k < w->spins.n; k++) {
    Spin p = openSpin(w, m, k, psi);
    int dof = p.dof;
    djVec3 xt, l, g;
    dualOf(&xt, &l, &g, &p, z + dof);
    dju_store3(x + dof, xt);
    dju_store3(x + dof + 3, g);
  }
}

// s_t is linear in m and r, s_c in J; beside s, r moves moments.
static void addParams(djParamSums* s, const djModel* m, const Spin* p, const double* z) {
  djVec3 xt, l, g, zr = dju_load3(z + 3), Rt = dju_load3(p->R);
  dualOf(&xt, &l, &g, p, z);
  double f = 1 / p->h;
  djVec3 pull = dju_mulMtV(p->R0, l), turned = dju_sub3(dju_mulMtV(p->E, pull), pull);
  // l . s_t = m r . q
  djVec3 q = dju_sub3(dju_scale3(f, turned), dju_cross3(pull, p->u));
  q = dju_sub3(dju_scale3(f, q), gyration(p->w, pull));
  djVec3 by = dju_scale3(p->mass, q), F = dju_add3(Rt, p->t);
  by = dju_add3(by, dju_cross3(g, dju_mulMtV(p->R0, Rt)));
  by = dju_sub3(by, dju_cross3(zr, dju_mulMtV(p->E, dju_mulMtV(p->R0, F))));
  if (p->mass > 0) {
    *dj_paramEntry(s->param, m, DJ_FIELD_BODY_MASS, p->body) += dju_dot3(l, p->t) / p->mass;
  }
  dju_addTo3(dj_paramBlock(s->param, m, DJ_FIELD_BODY_IPOS) + 3 * p->body, 1, by);
  djVec3 spin = dju_sub3(dju_mulMtV(p->B, g), g);
  dj_addTensor(s->tensor + 6 * p->body, f, &p->axes, spin, p->u);
  dj_addTensor(s->tensor + 6 * p->body, -1, &p->axes, dju_cross3(g, p->w), p->w);
}

void dj_eulerSpinParams(djParamSums* s, djWork* w, const djModel* m, const double* psi,
                        const double* z) {
  if (!(s->wants & DJ_BY_INERTIA)) return;
  for (int k = 0; k < w->spins.n; k++) {
    Spin p = openBalance(w, m, k, psi);
    addParams(s, m, &p, z + p.dof);
  }
}

// ---- velocity at the end ----------------------------------------------------------------------

static djVec3 divideInertia(const Spin* p, const djModel* m, djVec3 x) {
  const double* I = m->body_inertia + 3 * p->body;
  djVec3 y = dju_mulMtV(p->axes, x);
  return dju_mulMV(p->axes, dju_vec3(y.x / I[0], y.y / I[1], y.z / I[2]));
}

static djVec3 endRate(const Spin* p, const djModel* m) {
  return divideInertia(p, m, dju_mulMtV(p->B, dju_mulMV(p->J, p->u)));
}

// Of v+ what is not psi/h: in the axes of q.
static djVec3 frameRate(const Spin* p, djVec3 rate) {
  djVec3 swept = dju_scale3(1 / p->h, turnRest(p, p->com));
  return dju_sub3(swept, dju_mulMV(p->E, dju_cross3(rate, p->com)));
}

void dj_spinVelocity(djWork* w, const djModel* m, const double* psi) {
  for (int k = 0; k < w->spins.n; k++) {
    Spin p = openSpin(w, m, k, psi);
    int dof = p.dof;
    djVec3 rate = endRate(&p, m);
    dju_store3(w->qvel + dof + 3, rate);
    dju_addTo3(w->qvel + dof, 1, dju_mulMV(p.R0, frameRate(&p, rate)));
  }
}

void dj_linearizeSpinVelocity(djWork* w, const djModel* m, const double* psi) {
  for (int k = 0; k < w->spins.n; k++) {
    Spin p = openSpin(w, m, k, psi);
    int dof = p.dof;
    djMat3 byPsi = bentSlope(&p, true);
    djVec3 rate = endRate(&p, m), arm = dju_cross3(rate, p.com), frame = frameRate(&p, rate);
    for (int c = 0; c < 3; c++) {
      djVec3 d = dju_vec3(c == 0, c == 1, c == 2), dpsi = dju_mulMV(p.B, d);
      djVec3 spun = divideInertia(&p, m, dju_mulMV(byPsi, dpsi));
      djVec3 moved = dju_sub3(dju_scale3(1 / p.h, dju_cross3(d, p.com)), dju_cross3(d, arm));
      moved = dju_mulMV(p.E, dju_sub3(moved, dju_cross3(spun, p.com)));
      moved = dju_mulMV(p.R0, moved);
      djVec3 rest = dju_madd3(spun, -1 / p.h, dpsi), start = dju_mulMV(p.R0, dju_cross3(d, frame));
      for (int i = 0; i < 3; i++) {
        *dj_own(&w->Vplus, dof + i, dof + 3 + c) = (&moved.x)[i];
        *dj_own(&w->Vplus, dof + 3 + i, dof + 3 + c) = (&rest.x)[i];
        *dj_own(&w->Vstart, dof + i, dof + 3 + c) = (&start.x)[i];
      }
    }
  }
}

void dj_spinVelocityParams(djParamSums* s, djWork* w, const djModel* m, const double* psi,
                           const double* lambda) {
  if (!(s->wants & DJ_BY_INERTIA)) return;
  for (int k = 0; k < w->spins.n; k++) {
    Spin p = openSpin(w, m, k, psi);
    int dof = p.dof;
    djVec3 rate = endRate(&p, m), l = dju_mulMtV(p.R0, dju_load3(lambda + dof));
    djVec3 turned = dju_mulMtV(p.E, l);
    djVec3 by = dju_scale3(1 / p.h, dju_sub3(turned, l));
    by = dju_sub3(by, dju_cross3(turned, rate));
    dju_addTo3(dj_paramBlock(s->param, m, DJ_FIELD_BODY_IPOS) + 3 * p.body, 1, by);
    djVec3 g = dju_sub3(dju_load3(lambda + dof + 3), dju_cross3(p.com, turned));
    g = divideInertia(&p, m, g);
    dj_addTensor(s->tensor + 6 * p.body, 1, &p.axes, dju_mulMV(p.B, g), p.u);
    dj_addTensor(s->tensor + 6 * p.body, -1, &p.axes, g, rate);
  }
}

// ---- a change of velocity within the step -----------------------------------------------------

// Of that of the start's axes, to what it is in those of the end, with momentum kept.
static void carryPair(djVec3 to[2], const Spin* p, const djModel* m, const djVec3 S[2]) {
  to[1] = divideInertia(p, m, dju_mulMtV(p->E, dju_mulMV(p->J, S[1])));
  djVec3 arm = dju_sub3(dju_cross3(S[1], p->com), dju_mulMV(p->E, dju_cross3(to[1], p->com)));
  to[0] = dju_add3(S[0], dju_mulMV(p->R0, arm));
}

static void loadPair(djVec3 S[2], const double* from) {
  S[0] = dju_load3(from);
  S[1] = dju_load3(from + 3);
}

void dj_carryKick(double* S, const djWork* w, const djModel* m, const double* psi) {
  for (int k = 0; k < w->spins.n; k++) {
    Spin p = openSpin(w, m, k, psi);
    int dof = p.dof;
    djVec3 from[2], to[2];
    loadPair(from, S + dof);
    carryPair(to, &p, m, from);
    dju_store3(S + dof, to[0]);
    dju_store3(S + dof + 3, to[1]);
  }
}

void dj_carryKickDual(double* lambda, const djWork* w, const djModel* m, const double* psi) {
  for (int k = 0; k < w->spins.n; k++) {
    Spin p = openSpin(w, m, k, psi);
    int dof = p.dof;
    double pulled[6];
    for (int i = 0; i < 6; i++) {
      djVec3 unit[2] = {dju_vec3(i == 0, i == 1, i == 2), dju_vec3(i == 3, i == 4, i == 5)}, to[2];
      carryPair(to, &p, m, unit);
      pulled[i] = dju_dot3(dju_load3(lambda + dof), to[0]) +
                  dju_dot3(dju_load3(lambda + dof + 3), to[1]);
    }
    memcpy(lambda + dof, pulled, sizeof pulled);
  }
}

void dj_linearizeKick(djWork* w, const djModel* m, const double* psi, const double* S) {
  for (int k = 0; k < w->spins.n; k++) {
    Spin p = openSpin(w, m, k, psi);
    int dof = p.dof;
    djVec3 from[2], to[2];
    loadPair(from, S + dof);
    carryPair(to, &p, m, from);
    djVec3 turned = dju_mulMtV(p.E, dju_mulMV(p.J, from[1])), arm = dju_cross3(to[1], p.com);
    djVec3 rest = dju_sub3(dju_cross3(from[1], p.com), dju_mulMV(p.E, arm));
    for (int c = 0; c < 3; c++) {
      djVec3 d = dju_vec3(c == 0, c == 1, c == 2);
      djVec3 spun = dju_neg3(divideInertia(&p, m, dju_cross3(d, turned)));
      djVec3 moved = dju_add3(dju_cross3(d, arm), dju_cross3(spun, p.com));
      moved = dju_neg3(dju_mulMV(p.R0, dju_mulMV(p.E, moved)));
      djVec3 start = dju_mulMV(p.R0, dju_cross3(d, rest));
      for (int i = 0; i < 3; i++) {
        *dj_own(&w->Vplus, dof + i, dof + 3 + c) += (&moved.x)[i];
        *dj_own(&w->Vplus, dof + 3 + i, dof + 3 + c) += (&spun.x)[i];
        *dj_own(&w->Vstart, dof + i, dof + 3 + c) += (&start.x)[i];
      }
    }
  }
}

void dj_kickParams(djParamSums* s, djWork* w, const djModel* m, const double* psi, const double* S,
                   const double* lambda) {
  if (!(s->wants & DJ_BY_INERTIA)) return;
  for (int k = 0; k < w->spins.n; k++) {
    Spin p = openSpin(w, m, k, psi);
    int dof = p.dof;
    djVec3 from[2], to[2], l = dju_mulMtV(p.R0, dju_load3(lambda + dof));
    loadPair(from, S + dof);
    carryPair(to, &p, m, from);
    djVec3 turned = dju_mulMtV(p.E, l);
    djVec3 by = dju_sub3(dju_cross3(l, from[1]), dju_cross3(turned, to[1]));
    dju_addTo3(dj_paramBlock(s->param, m, DJ_FIELD_BODY_IPOS) + 3 * p.body, 1, by);
    djVec3 g = dju_sub3(dju_load3(lambda + dof + 3), dju_cross3(p.com, turned));
    g = divideInertia(&p, m, g);
    dj_addTensor(s->tensor + 6 * p.body, 1, &p.axes, dju_mulMV(p.E, g), from[1]);
    dj_addTensor(s->tensor + 6 * p.body, -1, &p.axes, g, to[1]);
  }
}
