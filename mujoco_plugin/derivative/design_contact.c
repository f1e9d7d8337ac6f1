// Contacts in the adjoint of a step. With rho the rows of the Jacobian times lambda, f their
// forces, S their curvature, L = rho . f has the derivatives
//
//   by rho: f less adhesion,   by y: -S rho,   by ln D: rho . f
//
// and y = e_k . (A + B v) at the point, row 0 with K I (dist - margin), see row_contact.c. Forces
// and y see the two bodies' motions of lambda, of the acceleration and velocity; the geoms' poses
// by the contact's point, frame and distance. Friction:
//
//   cones       f_0 = -c X, f_k = c X mu_k^2 y_k / T, X = y_0 - T, T = |mu_k y_k|, c = D/(1 +
//   mu^2),
//               mu^2 = mu_1^2/impratio; where rows stick D_k is D impratio mu_k^2/mu_1^2
//   pyramids    edges y_0 +- mu_k y_k, D as 1/(mu_1^2 (1 + mu_1^2))

#include "design_work.h"
#include "slope_error.h"
#include "spatial.h"

#include <math.h>
#include <string.h>

typedef struct Touch {
  const mjContact* con;
  int adr, dim;
  bool pyramid;
  int body[2];
  mjtNum r[2][3];
  mjtNum beta[6], acc[6], vel[6];        // relative motions at the point, of body 2 less body 1
  mjtNum surface[2][6];                  // of the geoms' surfaces at the point
  mjtNum rho[DJM_MAXROWS], f[DJM_MAXROWS], g[DJM_MAXROWS];   // g: by y
  mjtNum speed[DJM_MAXROWS];             // rows times velocities
  mjtNum B[DJM_MAXROWS];
  mjtNum ln_D;                           // L by it
  mjtNum by_friction[5];
} Touch;

// ---- opening ------------------------------------------------------------------------------------

static void relative(mjtNum out[6], const mjtNum* a, const mjtNum* b, const Touch* t) {
  mjtNum x[6], y[6];
  djm_moveTwist(x, a, t->r[0]);
  djm_moveTwist(y, b, t->r[1]);
  djm_sub6(out, y, x);
}

static void surfaceMotion(mjtNum out[6], const Touch* t, const djmBackward* b, int side) {
  int geom = t->con->geom[side];
  const mjData* d = b->w->d;
  const mjtNum *v = b->w->view.geom_surfacevel + 6 * geom, *R = d->geom_xmat + 9 * geom;
  mjtNum arm[3];
  mju_zero(out, 6);
  if (mju_isZero(v, 6)) return;
  mju_mulMatVec3(out, R, v + 3);
  mju_mulMatVec3(out + 3, R, v);
  mju_sub3(arm, t->con->pos, d->geom_xpos + 3 * geom);
  addCross3(out + 3, out, arm);
}

static const mjtNum* rowAxis(const Touch* t, int k) { return t->con->frame + 3 * (k % 3); }
static int rowPart(int k) { return k < 3 ? 3 : 0; }

static void openTouch(Touch* t, const djmBackward* b, const mjContact* con) {
  const djmTransitionWork* w = b->w;
  const mjModel* m = &w->view;
  memset(t, 0, sizeof(*t));
  t->con = con;
  t->adr = con->efc_address;
  t->dim = con->dim;
  t->pyramid = w->d->efc_type[t->adr] == mjCNSTR_CONTACT_PYRAMIDAL;
  for (int s = 0; s < 2; s++) {
    t->body[s] = m->geom_bodyid[con->geom[s]];
    mju_sub3(t->r[s], con->pos, djm_center(m, w->d, t->body[s]));
    surfaceMotion(t->surface[s], t, b, s);
  }
  const djmFlow *x = &b->sweep.body[t->body[0]].flow, *y = &b->sweep.body[t->body[1]].flow;
  relative(t->beta, x->beta, y->beta, t);
  relative(t->acc, x->acc, y->acc, t);
  relative(t->vel, x->vel, y->vel, t);
  for (int k = 0; k < t->dim; k++) {
    const mjtNum* e = rowAxis(t, k);
    int part = rowPart(k);
    t->B[k] = w->d->efc_KBIP[4 * (t->pyramid ? t->adr : t->adr + k) + 1];
    t->rho[k] = -dot3(e, t->beta + part);
    t->speed[k] = dot3(e, t->vel + part);
    if (k < 1 || k > 3) continue;   // surfaces slip and spin, but do not roll
    t->speed[k] += dot3(e, t->surface[1] + part) - dot3(e, t->surface[0] + part);
  }
}

// ---- forces -------------------------------------------------------------------------------------

static void pyramid(Touch* t, const djmTransitionWork* w) {
  const mjtNum* mu = t->con->friction;
  for (int k = 1; k < t->dim; k++) {
    for (int side = 0; side < 2; side++) {
      int row = t->adr + 2 * (k - 1) + side;
      if (w->state[row] == mjCNSTRSTATE_SATISFIED) continue;
      mjtNum slope = side ? -mu[k - 1] : mu[k - 1], D = w->d->efc_D[row], f = w->force[row];
      mjtNum rho = t->rho[0] + slope * t->rho[k];
      mjtNum y = 0.5 * (w->y[row - side] - w->y[row - side + 1]);
      t->f[0] += f;
      t->f[k] += slope * f;
      t->g[0] -= D * rho;
      t->g[k] -= slope * D * rho;
      t->ln_D += rho * f;
      // y = mu_k y_k
      t->by_friction[k - 1] += (side ? -1 : 1) * (f * t->rho[k] - D * rho * y / mu[k - 1]);
    }
  }
  t->by_friction[0] -= t->ln_D * (2 / mu[0] + 2 * mu[0] / (1 + mu[0] * mu[0]));
}

static void coneFriction(Touch* t, const djmTransitionWork* w) {
  const mjtNum *mu = t->con->friction, *y = w->y + t->adr;
  mjtNum D = w->d->efc_D[t->adr], ratio = mju_max(mjMINVAL, w->view.opt.impratio);
  mjtNum square = mu[0] * mu[0] / ratio, c = D / (1 + square), T = 0, sum = 0;
  for (int k = 1; k < t->dim; k++) {
    T += mu[k - 1] * mu[k - 1] * y[k] * y[k];
    sum += t->rho[k] * mu[k - 1] * mu[k - 1] * y[k];
  }
  T = sqrt(T);
  mjtNum X = y[0] - T;
  for (int k = 1; k < t->dim; k++) {
    mjtNum u = mu[k - 1], dT = u * y[k] * y[k] / T;
    t->by_friction[k - 1] += c * (dT * t->rho[0] - dT * sum / T + 2 * X * t->rho[k] * u * y[k] / T -
                                  X * sum * dT / (T * T));
  }
  t->by_friction[0] -= t->ln_D * 2 * mu[0] / ratio / (1 + square);
}

static void cone(Touch* t, const djmTransitionWork* w) {
  const mjtNum* mu = t->con->friction;
  int state = w->state[t->adr], dim = t->dim;
  mjtNum S[DJM_MAXROWS * DJM_MAXROWS] = {0};
  if (state == mjCNSTRSTATE_SATISFIED) return;
  for (int k = 0; k < dim; k++) {
    t->f[k] = w->force[t->adr + k];
    S[k * (dim + 1)] = w->d->efc_D[t->adr + k];
    t->ln_D += t->rho[k] * t->f[k];
  }
  if (state == mjCNSTRSTATE_CONE) djm_coneCurvature(S, w->d, t->con, t->adr, w->y + t->adr);
  if (state == mjCNSTRSTATE_CONE && (w->drop & DJM_DROP_CURVATURE)) {
    for (int k = 1; k < dim * dim; k++) S[k] = 0;
  }
  for (int k = 0; k < dim; k++) {
    for (int l = 0; l < dim; l++) t->g[k] -= S[k * dim + l] * t->rho[l];
  }
  if (dim == 1) return;
  if (state == mjCNSTRSTATE_CONE) {
    coneFriction(t, w);
    return;
  }
  for (int k = 2; k < dim; k++) {
    t->by_friction[k - 1] += 2 / mu[k - 1] * t->f[k] * t->rho[k];
    t->by_friction[0] -= 2 / mu[0] * t->f[k] * t->rho[k];
  }
}

// ---- bodies and geoms ---------------------------------------------------------------------------

// (torque, force) of rows.
static void wrenchOf(mjtNum out[6], const Touch* t, const mjtNum* row) {
  mju_zero(out, 6);
  for (int k = 0; k < t->dim; k++) mju_addToScl3(out + rowPart(k), rowAxis(t, k), row[k]);
}

// L by the frame's turn, (t x e) . motion = t . (e x motion), of rows times c.
static void addTurn(mjtNum out[3], const Touch* t, const mjtNum* c, const mjtNum m[6]) {
  for (int k = 0; k < t->dim; k++) {
    mjtNum x[3];
    cross3(x, rowAxis(t, k), m + rowPart(k));
    mju_addToScl3(out, x, c[k]);
  }
}

// Into the sweep: derivatives by the bodies' motions and the geoms' poses. force: L by rho.
static void addTouch(djmBackward* b, const Touch* t, const mjtNum* force,
                     const djmContactSlope* slope, mjtNum by_dist) {
  const mjData* d = b->w->d;
  mjtNum W[6], G[6], V[6], slip[6], damped[DJM_MAXROWS], minus[DJM_MAXROWS],
    slips[DJM_MAXROWS], by_pos[3], turn[3] = {0};
  for (int k = 0; k < t->dim; k++) {
    damped[k] = t->B[k] * t->g[k];
    minus[k] = -force[k];
    slips[k] = k > 0 && k < 4 ? damped[k] : 0;
  }
  wrenchOf(W, t, minus);
  wrenchOf(G, t, t->g);
  wrenchOf(V, t, damped);
  wrenchOf(slip, t, slips);
  if (b->w->drop & DJM_DROP_FORCE) mju_zero(minus, t->dim);
  // e . (w x dp) = dp . (e x w)
  cross3(by_pos, W + 3, t->beta);
  if (b->w->drop & DJM_DROP_FORCE) mju_zero3(by_pos);
  addCross3(by_pos, G + 3, t->acc);
  addCross3(by_pos, V + 3, t->vel);
  addTurn(turn, t, minus, t->beta);
  addTurn(turn, t, t->g, t->acc);
  addTurn(turn, t, damped, t->vel);
  mjtNum surface[6];
  djm_sub6(surface, t->surface[1], t->surface[0]);
  addCross3(by_pos, slip + 3, surface);
  addTurn(turn, t, slips, surface);
  if (b->w->drop & DJM_DROP_FEATURE) mju_zero3(by_pos);
  if (b->g) {
    mjtNum size[2][3][7];
    djm_contactSize(size, &b->w->view, b->w->d, t->con, slope, b->sizes);
    for (int i = 0; i < 6; i++) {
      const mjtNum* x = size[i / 3][i % 3];
      b->g->geom_size[3 * t->con->geom[i / 3] + i % 3] +=
        by_dist * x[0] + mju_dot3(by_pos, x + 1) + mju_dot3(turn, x + 4);
    }
  }
  for (int s = 0; s < 2; s++) {
    mjtNum sign = s ? 1 : -1, T[6], about[6];
    int geom = t->con->geom[s], body = t->body[s];
    djmPart* p = b->sweep.body + body;
    p->loaded = true;
    djm_addWrenchAt(p->F, W, W + 3, t->r[s], sign);
    djm_addWrenchAt(p->P, G, G + 3, t->r[s], sign);
    djm_addWrenchAt(p->V, V, V + 3, t->r[s], sign);
    for (int k = 0; k < 6; k++) {
      int c = 6 * s + k;
      T[k] = by_dist * slope->dist[c];
      for (int i = 0; i < 3; i++) {
        T[k] += by_pos[i] * slope->pos[i][c] + turn[i] * slope->turn[i][c];
      }
    }
    djm_crossForce(about, t->surface[s], slip);
    addScl6(T, about, sign);
    djm_addWrenchAt(p->T, T, T + 3, t->r[s], 1);
    if (!b->g) continue;
    mjtNum arm[3], local[3], torque[3];
    mju_mulMatTVec3(local, d->xmat + 9 * body, T + 3);
    mju_addTo3(b->g->geom_pos + 3 * geom, local);
    mju_sub3(arm, t->con->pos, d->geom_xpos + 3 * geom);
    mju_copy3(torque, T);
    addCross3(torque, arm, T + 3);
    mju_mulMatTVec3(local, d->geom_xmat + 9 * geom, torque);
    mju_addTo3(b->g->geom_quat + 3 * geom, local);
  }
}

// ---- parameters ---------------------------------------------------------------------------------

static int pairOf(const mjModel* m, const mjContact* con) {
  for (int i = 0; i < (int)m->npair; i++) {
    int a = m->pair_geom1[i], b = m->pair_geom2[i];
    if ((a == con->geom[0] && b == con->geom[1]) || (a == con->geom[1] && b == con->geom[0])) {
      return i;
    }
  }
  return -1;
}

// Share of a geom in the mean.
static mjtNum mixOf(const mjModel* m, int a, int b) {
  mjtNum x = m->geom_solmix[a], y = m->geom_solmix[b];
  if (x >= mjMINVAL && y >= mjMINVAL) return x / (x + y);
  if (x < mjMINVAL && y < mjMINVAL) return 0.5;
  return x < mjMINVAL ? 0 : 1;
}

static void addMixed(djmDesignGradient* g, const mjModel* m, const Touch* t, const mjtNum* by_ref,
                     const mjtNum* by_imp) {
  int a = t->con->geom[0], b = t->con->geom[1];
  int before = m->geom_priority[a] - m->geom_priority[b];
  mjtNum mix = before > 0 ? 1 : before < 0 ? 0 : mixOf(m, a, b);
  const mjtNum *x = m->geom_solref + mjNREF * a, *y = m->geom_solref + mjNREF * b;
  bool least = before == 0 && !(x[0] > 0 && y[0] > 0);
  for (int i = 0; i < mjNREF; i++) {
    mjtNum share = least ? (x[i] <= y[i]) : mix;
    g->geom_solref[mjNREF * a + i] += share * by_ref[i];
    g->geom_solref[mjNREF * b + i] += (1 - share) * by_ref[i];
  }
  for (int i = 0; i < mjNIMP; i++) {
    g->geom_solimp[mjNIMP * a + i] += mix * by_imp[i];
    g->geom_solimp[mjNIMP * b + i] += (1 - mix) * by_imp[i];
  }
  static const int kPlace[5] = {0, 0, 1, 2, 2};
  for (int k = 0; k + 1 < t->dim; k++) {
    int i = kPlace[k];
    mjtNum fa = m->geom_friction[3 * a + i], fb = m->geom_friction[3 * b + i];
    if (mju_max(fa, fb) < mjMINMU && before == 0) continue;
    mjtNum share = before > 0 ? 1 : before < 0 ? 0 : fa > fb ? 1 : fa < fb ? 0 : 0.5;
    if (fa >= mjMINMU) g->geom_friction[3 * a + i] += share * t->by_friction[k];
    if (fb >= mjMINMU) g->geom_friction[3 * b + i] += (1 - share) * t->by_friction[k];
  }
}

static void addLaw(djmBackward* b, const Touch* t, mjtNum by_margin) {
  const mjModel* m = &b->w->view;
  const mjData* d = b->w->d;
  const mjContact* con = t->con;
  const mjtNum* K = d->efc_KBIP + 4 * t->adr;
  mjtNum depth = con->dist - d->efc_margin[t->adr];
  mjtNum by_ref[mjNREF] = {0}, by_other[mjNREF] = {0}, by_imp[mjNIMP] = {0};
  djmRowLaw law = {.by_K = t->g[0] * K[2] * depth, .by_I = t->g[0] * K[0] * depth};
  bool apart = !t->pyramid && (con->solreffriction[0] != 0 || con->solreffriction[1] != 0);
  law.by_B = t->g[0] * t->speed[0];
  for (int k = 1; k < t->dim; k++) {
    *(apart ? &law.by_friction : &law.by_B) += t->g[k] * t->speed[k];
  }
  if (d->efc_R[t->adr] > mjMINVAL) law.by_I += t->ln_D / (K[2] * (1 - K[2]));
  djm_lawSlope(by_ref, apart ? by_other : NULL, by_imp, &law, m, con->solref, con->solreffriction,
               con->solimp, depth);
  if (m->opt.enableflags & mjENBL_OVERRIDE) return;
  int pair = m->npair ? pairOf(m, con) : -1;
  if (pair < 0) {
    addMixed(b->g, m, t, by_ref, by_imp);
    for (int s = 0; s < 2; s++) b->g->geom_margin[con->geom[s]] += by_margin;
    return;
  }
  b->g->pair_margin[pair] += by_margin;
  mju_addTo(b->g->pair_solref + mjNREF * pair, by_ref, mjNREF);
  mju_addTo(b->g->pair_solreffriction + mjNREF * pair, by_other, mjNREF);
  mju_addTo(b->g->pair_solimp + mjNIMP * pair, by_imp, mjNIMP);
  for (int k = 0; k + 1 < t->dim; k++) {
    if (m->pair_friction[5 * pair + k] < mjMINMU) continue;
    b->g->pair_friction[5 * pair + k] += t->by_friction[k];
  }
}

static void addContact(djmBackward* b, const mjContact* con, const djmContactSlope* slope) {
  const mjModel* m = &b->w->view;
  const mjData* d = b->w->d;
  Touch t;
  openTouch(&t, b, con);
  int adr = t.adr;
  if (t.pyramid) {
    pyramid(&t, b->w);
  } else {
    cone(&t, b->w);
  }
  mjtNum force[DJM_MAXROWS];
  mju_copy(force, t.f, t.dim);
  bool free = d->efc_R[adr] > mjMINVAL;
  if (con->adhesion != 0) {
    mjtNum part = t.pyramid ? con->adhesion / (2 * (con->dim - 1)) : con->adhesion;
    t.ln_D += t.g[0] * d->efc_R[adr] * part;
    if (t.pyramid) {   // that part of mu_1 in D
      mjtNum u = con->friction[0];
      t.by_friction[0] -= t.g[0] * d->efc_R[adr] * part * (2 / u + 2 * u / (1 + u * u));
    }
    force[0] -= con->adhesion;
  }
  if (b->w->drop & DJM_DROP_IMPEDANCE) t.ln_D = 0;
  mjtNum by_dist = t.ln_D * djm_impedanceSlope(d, adr);
  if (!(b->w->drop & DJM_DROP_REFERENCE)) by_dist += t.g[0] * djm_springSlope(d, adr);
  addTouch(b, &t, force, slope, by_dist);
  if (!b->g) return;
  addLaw(b, &t, -by_dist);
  if (!free) return;
  mjtNum weight = 0;
  for (int s = 0; s < 2; s++) weight += m->body_invweight0[2 * t.body[s]];
  if (weight <= 0) return;
  for (int s = 0; s < 2; s++) b->g->body_invweight0[2 * t.body[s]] -= t.ln_D / weight;
}

static void backContact(void* user, const mjContact* con, const djmContactSlope* slope) {
  djmBackward* b = user;
  addContact(b, con, slope);
  b->w->info.ncontact++;
  if (slope->feature == DJM_FEATURE_DIFFERENCES) b->w->info.differences++;
}

djStatus djm_backContacts(djmBackward* b, djError* err) {
  djmTransitionWork* w = b->w;
  djmRowSum sum = {.m = &w->view, .d = w->d, .pose = w->d, .state = w->state};
  w->info.ncontact = w->info.differences = 0;
  return djm_visitContacts(&sum, backContact, b, err);
}
