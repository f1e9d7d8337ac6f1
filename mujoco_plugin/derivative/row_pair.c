// Rows of connect and weld: of two points p_1, p_2 of bodies and, of welds, two rotations. With
// body 1's motion less that of body 2 and Q = conj(q_2) q_1,
//
//   pos = (p_1 - p_2, c vec Q),   Q' = w^ Q/2,  w^ = R_2^T (w_1 - w_2),
//
// c the torque's scale, and y = pos'' + B pos' + K I pos: MuJoCo has dJ/dt v in these rows. I and D
// go by |pos|. Moved along a dof, all of this follows by the product rule from the changes of the
// bodies' rotations, velocities and accelerations.

#include "design_work.h"
#include "rows.h"
#include "spatial.h"

#include <math.h>
#include <string.h>

// One of the bodies, at its point.
typedef struct Side {
  int body;
  mjtNum r[3];           // the point, from the centre of the body's tree
  mjtNum vel[6], acc[6]; // of the body, about the point; acc with the bias
} Side;

// A side's change along a dof: turn and motion of the point, changes of twist and acceleration,
// angular and those of the material point.
typedef struct Change {
  mjtNum turn[3], move[3], vel[6], acc[6];
} Change;

typedef struct Pair {
  int adr, dim;
  Side side[2];
  mjtNum Q[4], R[9];     // of welds; R of body 2's frame
  mjtNum scale;          // of torque
  mjtNum force[3];       // world axes
  mjtNum torque[3];
} Pair;

// Along one dof.
typedef struct Column {
  int dof;
  mjtNum row[DJM_MAXROWS];         // Jacobian
  mjtNum by_q[DJM_MAXROWS];        // of forces
  mjtNum by_v[DJM_MAXROWS];
  mjtNum wrench[2][6];             // change of the wrenches on the bodies, about their points
  mjtNum twist[2][6];              // of the dof at the points, zero where it does not move them
} Column;

// ---- opening ------------------------------------------------------------------------------------

static void frames(Pair* p, mjtNum pos[2][3], const mjModel* m, const mjData* d, int eq) {
  const mjtNum* data = m->eq_data + mjNEQDATA * eq;
  bool weld = m->eq_type[eq] == mjEQ_WELD;
  mjtNum quat[2][4];
  for (int s = 0; s < 2; s++) {
    int id = s ? m->eq_obj2id[eq] : m->eq_obj1id[eq];
    Side* side = p->side + s;
    if (m->eq_objtype[eq] == mjOBJ_SITE) {
      side->body = m->site_bodyid[id];
      mju_copy3(pos[s], d->site_xpos + 3 * id);
      mju_mulQuat(quat[s], d->xquat + 4 * side->body, m->site_quat + 4 * id);
    } else {
      side->body = id;
      mju_mulMatVec3(pos[s], d->xmat + 9 * id, data + (weld ? 3 - 3 * s : 3 * s));
      mju_addTo3(pos[s], d->xpos + 3 * id);
      mju_copy4(quat[s], d->xquat + 4 * id);
      if (s == 0) mju_mulQuat(quat[s], d->xquat + 4 * id, data + 6);
    }
  }
  if (!weld) return;
  mjtNum conj[4];
  mju_negQuat(conj, quat[1]);
  mju_mulQuat(p->Q, conj, quat[0]);
  mju_quat2Mat(p->R, quat[1]);
  p->scale = data[10];
}

// vel, acc (nbody x stride): of bodies; bias: of accelerations. force: (nefc)
static void openPair(Pair* p, const mjModel* m, const mjData* d, const mjtNum* force, int adr,
                     const mjtNum* vel, const mjtNum* acceleration, const mjtNum* bias,
                     size_t stride) {
  int eq = d->efc_id[adr];
  mjtNum pos[2][3];
  p->adr = adr;
  p->dim = m->eq_type[eq] == mjEQ_WELD ? 6 : 3;
  frames(p, pos, m, d, eq);
  for (int s = 0; s < 2; s++) {
    Side* side = p->side + s;
    size_t at = stride * (size_t)side->body;
    mjtNum acc[6];
    mju_sub3(side->r, pos[s], djm_center(m, d, side->body));
    djm_moveTwist(side->vel, vel + at, side->r);
    for (int k = 0; k < 6; k++) acc[k] = acceleration[at + k] + bias[at + k];
    djm_moveTwist(side->acc, acc, side->r);
  }
  mju_copy3(p->force, force + adr);
  mju_zero3(p->torque);
  if (p->dim == 3) return;
  // f . c/2 (Q_0 w^ + w^ x Q_v) = w^ . c/2 (Q_0 f + Q_v x f)
  const mjtNum* f = force + adr + 3;
  mjtNum local[3];
  mju_scl3(local, f, p->Q[0]);
  addCross3(local, p->Q + 1, f);
  mju_scl3(local, local, 0.5 * p->scale);
  mju_mulMatVec3(p->torque, p->R, local);
}

// ---- changes ------------------------------------------------------------------------------------

// By q: S is the dof's twist at the point.
static void changeByPos(Change* x, const Side* side, const djmRowSum* sum, const mjtNum S[6],
                        int dof) {
  const djmRates* r = sum->motion->before + dof;
  mjtNum before[6], rel[6], part[6], pre[6], acc[6];
  djm_moveTwist(before, r->vel, side->r);
  djm_sub6(rel, side->vel, before);
  djm_crossMotion(x->vel, S, rel);
  // d acc = S x (acc - before) - (S x vel before) x (vel - before)
  djm_crossMotion(part, S, before);
  for (int k = 0; k < 6; k++) acc[k] = r->acc[k] + r->bias[k];
  djm_moveTwist(pre, acc, side->r);
  djm_sub6(acc, side->acc, pre);
  djm_crossMotion(x->acc, S, acc);
  djm_crossMotion(acc, part, rel);
  addScl6(x->acc, acc, -1);
  mju_copy3(x->turn, S);
  mju_copy3(x->move, S + 3);
  // from the fixed point to the body's own
  addCross3(x->vel + 3, side->vel, x->move);
  addCross3(x->acc + 3, side->acc, x->move);
  addCross3(x->acc + 3, x->vel, side->vel + 3);
  addCross3(x->acc + 3, side->vel, x->vel + 3);
}

static void changeByVel(Change* x, const Side* side, const djmRowSum* sum, const mjtNum S[6],
                        int dof) {
  mjtNum before[6], rel[6];
  memset(x, 0, sizeof(*x));
  djm_copy6(x->vel, S);
  djm_moveTwist(before, sum->motion->before[dof].vel, side->r);
  djm_sub6(rel, side->vel, before);
  djm_crossMotion(x->acc, S, rel);
  djm_moveTwist(before, sum->motion->drag + 6 * dof, side->r);
  addScl6(x->acc, before, 1);
  addCross3(x->acc + 3, S, side->vel + 3);
  addCross3(x->acc + 3, side->vel, S + 3);
}

// out = w Q/2, w without a real part
static void halfMul(mjtNum out[4], const mjtNum w[3], const mjtNum Q[4]) {
  out[0] = -0.5 * dot3(w, Q + 1);
  for (int k = 0; k < 3; k++) out[1 + k] = 0.5 * w[k] * Q[0];
  mjtNum turn[3];
  cross3(turn, w, Q + 1);
  mju_addToScl3(out + 1, turn, 0.5);
}

// out += a
static void addQuat(mjtNum out[4], const mjtNum a[4]) {
  for (int k = 0; k < 4; k++) out[k] += a[k];
}

static void toFrame(mjtNum out[3], const Pair* p, const mjtNum v[3]) {
  mju_mulMatTVec3(out, p->R, v);
}

// Changes of vec Q, Q', Q'' by those of both sides; dQ is the whole quaternion's. value: not
// changes but Q' and Q'' themselves.
static void turnChange(mjtNum dQ[4], mjtNum dvel[4], mjtNum dacc[4], const Pair* p,
                       const Change x[2]) {
  const mjtNum *w1 = p->side[0].vel, *w2 = p->side[1].vel;
  mjtNum w[3], a[3], dw[3], da[3], u[3], lw[3], la[3], Q1[4], y[4];
  mju_sub3(w, w1, w2);
  mju_sub3(a, p->side[0].acc, p->side[1].acc);
  addCross3(a, w, w2);                       // - w2 x w
  toFrame(lw, p, w);
  toFrame(la, p, a);
  halfMul(Q1, lw, p->Q);
  // changes, in the frame of body 2
  mju_sub3(u, x[0].turn, x[1].turn);
  mju_sub3(dw, x[0].vel, x[1].vel);
  mju_sub3(da, x[0].acc, x[1].acc);
  addCross3(da, dw, w2);
  addCross3(da, w, x[1].vel);
  addCross3(dw, w, x[1].turn);               // - turn2 x w
  addCross3(da, a, x[1].turn);
  mjtNum lu[3], ldw[3], lda[3];
  toFrame(lu, p, u);
  toFrame(ldw, p, dw);
  toFrame(lda, p, da);
  halfMul(dQ, lu, p->Q);
  halfMul(dvel, ldw, p->Q);
  halfMul(y, lw, dQ);
  addQuat(dvel, y);
  halfMul(dacc, lda, p->Q);
  halfMul(y, la, dQ);
  addQuat(dacc, y);
  halfMul(y, ldw, Q1);
  addQuat(dacc, y);
  halfMul(y, lw, dvel);
  addQuat(dacc, y);
}

// Change of the torque R c/2 (Q_0 f + Q_v x f) on body 1.
static void torqueChange(mjtNum out[3], const Pair* p, const mjtNum f[3], const mjtNum dQ[4],
                         const mjtNum turn2[3]) {
  mjtNum local[3];
  mju_scl3(local, f, dQ[0]);
  addCross3(local, dQ + 1, f);
  mju_scl3(local, local, 0.5 * p->scale);
  mju_mulMatVec3(out, p->R, local);
  addCross3(out, turn2, p->torque);
}

// ---- columns ------------------------------------------------------------------------------------

static void rowChanges(mjtNum* pos, mjtNum* vel, mjtNum* acc, mjtNum dQ[4], const Pair* p,
                       const Change x[2]) {
  for (int k = 0; k < 3; k++) {
    pos[k] = x[0].move[k] - x[1].move[k];
    vel[k] = x[0].vel[3 + k] - x[1].vel[3 + k];
    acc[k] = x[0].acc[3 + k] - x[1].acc[3 + k];
  }
  if (p->dim == 3) return;
  mjtNum dvel[4], dacc[4];
  turnChange(dQ, dvel, dacc, p, x);
  for (int k = 0; k < 3; k++) {
    pos[3 + k] = p->scale * dQ[1 + k];
    vel[3 + k] = p->scale * dvel[1 + k];
    acc[3 + k] = p->scale * dacc[1 + k];
  }
}

static void fillColumn(Column* col, const Pair* p, const djmRowSum* sum, int which) {
  const mjData* d = sum->d;
  int adr = p->adr, dim = p->dim;
  Change x[2], y[2];
  memset(x, 0, sizeof(x));
  memset(y, 0, sizeof(y));
  memset(col->twist, 0, sizeof(col->twist));
  for (int s = 0; s < 2; s++) {
    if (!(which >> s & 1)) continue;
    djm_moveTwist(col->twist[s], d->cdof + 6 * col->dof, p->side[s].r);
    changeByPos(x + s, p->side + s, sum, col->twist[s], col->dof);
    changeByVel(y + s, p->side + s, sum, col->twist[s], col->dof);
  }
  mjtNum pos[6], vel[6], acc[6], none[6], by_vel[6], by_acc[6], dQ[4] = {0}, nQ[4];
  rowChanges(pos, vel, acc, dQ, p, x);
  rowChanges(none, by_vel, by_acc, nQ, p, y);
  mjtNum size = mju_norm(d->efc_pos + adr, dim), dsize = 0;
  for (int k = 0; k < dim; k++) dsize += d->efc_pos[adr + k] * pos[k];
  if (size > 0) dsize /= size;
  for (int k = 0; k < dim; k++) {
    const mjtNum* K = d->efc_KBIP + 4 * (adr + k);
    mjtNum spring = K[0] * (K[2] * pos[k] + K[3] * dsize * d->efc_pos[adr + k]);
    if (sum->drop_reference) spring = 0;
    col->row[k] = by_vel[k];
    col->by_q[k] = -d->efc_D[adr + k] * (acc[k] + K[1] * vel[k] + spring);
    if (!sum->drop_impedance) {
      col->by_q[k] += sum->force[adr + k] * djm_impedanceSlope(d, adr + k) * dsize;
    }
    col->by_v[k] = -d->efc_D[adr + k] * (by_acc[k] + K[1] * by_vel[k]);
  }
  memset(col->wrench, 0, sizeof(col->wrench));
  if (sum->drop_force) return;
  for (int s = 0; s < 2; s++) {
    addCross3(col->wrench[s], x[s].move, p->force);
    if (p->dim == 3) continue;
    mjtNum torque[3];
    torqueChange(torque, p, sum->force + adr + 3, dQ, x[1].turn);
    mju_addTo3(col->wrench[s], torque);
  }
}

static void addColumns(djmRowSum* sum, const Pair* p, const Column* column, int n) {
  int nv = (int)sum->m->nv;
  for (int i = 0; i < n; i++) {
    const Column* x = column + i;
    for (int j = 0; j < n; j++) {
      const Column* z = column + j;
      mjtNum by_q = dot6(x->twist[0], z->wrench[0]) - dot6(x->twist[1], z->wrench[1]);
      mjtNum by_v = 0, bent = 0;
      for (int k = 0; k < p->dim; k++) {
        by_q += x->row[k] * z->by_q[k];
        by_v += x->row[k] * z->by_v[k];
        bent += x->row[k] * z->row[k] * sum->d->efc_D[p->adr + k];
      }
      sum->by_q[(size_t)x->dof * sum->stride + z->dof] += by_q;
      sum->by_v[(size_t)x->dof * sum->stride + z->dof] += by_v;
      if (z->dof <= x->dof) sum->H[(size_t)x->dof * nv + z->dof] += bent;
    }
  }
}

static void addWrenches(djmRowSum* sum, const Pair* p) {
  for (int s = 0; s < 2; s++) {
    mjtNum w[6];
    mju_copy3(w, p->torque);
    mju_copy3(w + 3, p->force);
    addCross3(w, p->side[s].r, p->force);
    addScl6(sum->wrench + 6 * p->side[s].body, w, s ? -1 : 1);
  }
}

void djm_addPair(djmRowSum* sum, int adr) {
  Pair p;
  const djmRates* rates = sum->motion->body;
  openPair(&p, sum->m, sum->d, sum->force, adr, rates->vel, rates->acc, rates->bias,
           sizeof(*rates) / sizeof(mjtNum));
  Column* column = (Column*)sum->memory;
  unsigned char* which = (unsigned char*)(column + sum->m->nv);
  int n = djm_unionDofs(sum->dof, which, sum->m, p.side[0].body, p.side[1].body);
  for (int k = 0; k < n; k++) {
    column[k].dof = sum->dof[k];
    fillColumn(column + k, &p, sum, which[k]);
  }
  addColumns(sum, &p, column, n);
  int nv = (int)sum->m->nv;
  for (int k = 0; k < n * p.dim && sum->by_force; k++) {
    const Column* col = column + k / p.dim;
    mjtNum* to = sum->by_force + (size_t)(adr + k % p.dim) * 2 * nv + col->dof;
    to[0] = col->by_q[k % p.dim];
    to[nv] = col->by_v[k % p.dim];
  }
  if (!sum->drop_force) addWrenches(sum, &p);
}

// ---- adjoint ------------------------------------------------------------------------------------

// L by changes of the sides: of rows' forces, L = rho . f, and of their wrenches. Derivatives of
// what is linear, by its value at unit changes.
typedef struct PairBack {
  mjtNum g[6];           // L by y
  mjtNum rho[6];
  mjtNum by_size;        // by |pos|
  mjtNum K;              // K I
} PairBack;

static mjtNum rowsAt(const Pair* p, const PairBack* x, const mjData* d, mjtNum size,
                     const Change c[2]) {
  mjtNum pos[6], vel[6], acc[6], dQ[4], sum = 0, dsize = 0;
  rowChanges(pos, vel, acc, dQ, p, c);
  for (int k = 0; k < p->dim; k++) {
    mjtNum B = d->efc_KBIP[4 * (p->adr + k) + 1];
    sum += x->g[k] * (acc[k] + B * vel[k] + x->K * pos[k]);
    dsize += d->efc_pos[p->adr + k] * pos[k];
  }
  return size > 0 ? sum + x->by_size * dsize / size : sum;
}

static void openBack(PairBack* x, const Pair* p, const djmBackward* b,
                     const mjtNum beta[2][6]) {
  const mjData* d = b->w->d;
  const mjtNum *K = d->efc_KBIP + 4 * p->adr, *force = b->w->force + p->adr;
  Change c[2];
  mjtNum pos[6], vel[6], acc[6], dQ[4];
  memset(c, 0, sizeof(c));
  for (int s = 0; s < 2; s++) {
    for (int k = 0; k < 6; k++) c[s].vel[k] = -beta[s][k];
  }
  rowChanges(pos, vel, acc, dQ, p, c);
  x->K = K[0] * K[2];
  x->by_size = 0;
  for (int k = 0; k < p->dim; k++) {
    x->rho[k] = vel[k];
    x->g[k] = -d->efc_D[p->adr + k] * vel[k];
    x->by_size += x->g[k] * K[0] * K[3] * d->efc_pos[p->adr + k] +
                  x->rho[k] * force[k] * djm_impedanceSlope(d, p->adr + k);
  }
}

// With vp = v + w x r at the point, its acceleration a + w' x r + w x vp: from derivatives by those
// of the material point (vel, acc) to those by the motions and the point's motion at their places.
static void toMotions(mjtNum vel[6], mjtNum acc[6], mjtNum move[3], const Side* side) {
  // acc_lin has w x vp
  addCross3(vel, side->vel + 3, acc + 3);
  addCross3(vel + 3, acc + 3, side->vel);
  // vp moves by w x dp, the acceleration by w' x dp
  addCross3(move, vel + 3, side->vel);
  addCross3(move, acc + 3, side->acc);
}

void djm_backPair(djmBackward* b, int adr) {
  djmTransitionWork* w = b->w;
  const djmFlow* flow = &b->sweep.body->flow;
  Pair p;
  PairBack x;
  mjtNum beta[2][6];
  openPair(&p, &w->view, w->d, w->force, adr, flow->vel, flow->acc, flow->bias,
           sizeof(djmPart) / sizeof(mjtNum));
  for (int s = 0; s < 2; s++) {
    djm_moveTwist(beta[s], b->sweep.body[p.side[s].body].flow.beta, p.side[s].r);
  }
  mjtNum size = mju_norm(w->d->efc_pos + adr, p.dim), relative[3], torque[3];
  openBack(&x, &p, b, beta);
  mju_sub3(relative, beta[0], beta[1]);
  for (int s = 0; s < 2; s++) {
    const Side* side = p.side + s;
    djmPart* part = b->sweep.body + side->body;
    mjtNum by[18], *turn = by, *move = by + 3, *vel = by + 6, *acc = by + 12;
    for (int k = 0; k < 18; k++) {
      Change c[2];
      mjtNum pos[6], v[6], a[6], dQ[4] = {0};
      memset(c, 0, sizeof(c));
      (k < 3 ? c[s].turn : k < 6 ? c[s].move - 3 : k < 12 ? c[s].vel - 6 : c[s].acc - 12)[k] = 1;
      by[k] = rowsAt(&p, &x, w->d, size, c);
      if (k >= 3 || p.dim == 3) continue;
      rowChanges(pos, v, a, dQ, &p, c);
      torqueChange(torque, &p, w->force + adr + 3, dQ, c[1].turn);
      by[k] -= mju_dot3(relative, torque);
    }
    toMotions(vel, acc, move, side);
    // the wrench's point: L -= beta . f at it, on the first body
    mjtNum sign = s ? -1 : 1, part_move[3];
    mju_cross(part_move, beta[s], p.force);
    mju_addToScl3(move, part_move, sign);
    part->loaded = true;
    djm_addWrenchAt(part->F, p.torque, p.force, side->r, -sign);
    djm_addWrenchAt(part->V, vel, vel + 3, side->r, 1);
    djm_addWrenchAt(part->P, acc, acc + 3, side->r, 1);
    djm_addWrenchAt(part->Q, acc, acc + 3, side->r, 1);
    djm_addWrenchAt(part->T, turn, move, side->r, 1);
    int eq = w->d->efc_id[adr];
    if (!b->g || w->view.eq_objtype[eq] == mjOBJ_SITE) continue;
    mjtNum local[3];
    mju_mulMatTVec3(local, w->d->xmat + 9 * side->body, move);
    mju_addTo3(b->g->eq_data + mjNEQDATA * eq + (p.dim == 6 ? 3 - 3 * s : 3 * s), local);
  }
}
