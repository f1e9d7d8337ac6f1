// Rows of contacts. With p the contact's point, e_k the rows of its frame, and (w, v) the velocity
// of body 2 less that of body 1 at p, row k is e_k . v, from the third on e_(k-3) . w; the edges of
// a pyramid are sums of row 0 and mu_k times row k. Along dof j the bodies' motions g = a + B v
// change by S_j x (g - what j does not carry), p by dp, the frame turns by t:
//
//   d(row . g) = e . dg(p) + (t x e) . g(p) + e . (g_w x dp)
//
// Adhesion, a constant force along the normal among MuJoCo's passive ones, is part of the wrench;
// the reference is shifted by R times it.
//
// Velocities of surfaces are motions that a body carries: they go with v in the rows of slip and
// spin, and nothing before the dof has part in them.
//
// and the force F, torque T of the rows is moved and turned:  t x F;  t x T + dp x F.

#include "rows.h"
#include "spatial.h"

#include <string.h>

// A contact with its rows taken together: of pyramids the edges' sums.
typedef struct Contact {
  const mjContact* con;
  int adr, dim;
  int body[2];
  mjtNum r[2][3];                        // the point, from the centres of the bodies' trees
  mjtNum S[DJM_MAXROWS * DJM_MAXROWS];   // curvature
  mjtNum force[DJM_MAXROWS];
  mjtNum B[DJM_MAXROWS];                 // damping of the rows
  mjtNum spring;                         // derivatives by dist: of K I (dist - margin) less what
  mjtNum ln_D;                           //   adhesion adds, of ln D
  mjtNum wrench[6];                      // on body 2, about the point
} Contact;

// ---- forces -------------------------------------------------------------------------------------

// Edges y_(2k-2), y_(2k-1) = row 0 +- mu_k row k.
static void pyramid(Contact* c, const djmRowSum* sum) {
  const mjtNum* mu = c->con->friction;
  memset(c->S, 0, sizeof(c->S));
  memset(c->force, 0, sizeof(c->force));
  for (int k = 1; k < c->dim; k++) {
    for (int side = 0; side < 2; side++) {
      int row = c->adr + 2 * (k - 1) + side;
      mjtNum slope = side ? -mu[k - 1] : mu[k - 1];
      c->force[0] += sum->force[row];
      c->force[k] += slope * sum->force[row];
      if (sum->state[row] == mjCNSTRSTATE_SATISFIED) continue;
      mjtNum D = sum->d->efc_D[row];
      c->S[0] += D;
      c->S[k] += slope * D;
      c->S[k * c->dim] += slope * D;
      c->S[k * c->dim + k] += slope * slope * D;
    }
  }
}

static void cone(Contact* c, const djmRowSum* sum) {
  memset(c->S, 0, sizeof(c->S));
  memset(c->force, 0, sizeof(c->force));
  if (sum->state[c->adr] == mjCNSTRSTATE_SATISFIED) return;
  for (int k = 0; k < c->dim; k++) {
    c->force[k] = sum->force[c->adr + k];
    c->S[k * (c->dim + 1)] = sum->d->efc_D[c->adr + k];
  }
  if (sum->state[c->adr] == mjCNSTRSTATE_CONE && !sum->drop_curvature) {
    djm_coneCurvature(c->S, sum->d, c->con, c->adr, sum->y + c->adr);
  }
}

bool djm_contactActs(const djmRowSum* sum, const mjContact* con) {
  int adr = con->efc_address;
  if (con->adhesion != 0) return true;
  int n = sum->d->efc_type[adr] == mjCNSTR_CONTACT_PYRAMIDAL ? 2 * (con->dim - 1) : 1;
  for (int k = 0; k < n; k++) {
    if (sum->state[adr + k] != mjCNSTRSTATE_SATISFIED) return true;
  }
  return false;
}

static void openContact(Contact* c, const djmRowSum* sum, const mjContact* con) {
  const mjModel* m = sum->m;
  const mjData* d = sum->d;
  int adr = con->efc_address;
  bool is_pyramid = d->efc_type[adr] == mjCNSTR_CONTACT_PYRAMIDAL;
  c->con = con;
  c->adr = adr;
  c->dim = con->dim;
  for (int s = 0; s < 2; s++) {
    c->body[s] = m->geom_bodyid[con->geom[s]];
    mju_sub3(c->r[s], con->pos, djm_center(m, d, c->body[s]));
  }
  if (is_pyramid) {
    pyramid(c, sum);
  } else {
    cone(c, sum);
  }
  for (int k = 0; k < c->dim; k++) c->B[k] = d->efc_KBIP[4 * (is_pyramid ? adr : adr + k) + 1];
  c->spring = sum->drop_reference ? 0 : djm_springSlope(d, adr);
  c->ln_D = sum->drop_impedance ? 0 : djm_impedanceSlope(d, adr);
  if (con->adhesion != 0) {
    mjtNum part = is_pyramid ? con->adhesion / (2 * (con->dim - 1)) : con->adhesion;
    c->spring += d->efc_R[adr] * part * c->ln_D;
  }
  mju_zero(c->wrench, 6);
  for (int k = 0; k < c->dim; k++) {
    mju_addToScl3(c->wrench + (k < 3 ? 3 : 0), con->frame + 3 * (k % 3), c->force[k]);
  }
  mju_addToScl3(c->wrench + 3, con->frame, -con->adhesion);
}

// The wrench goes with both bodies.
static void addWrenches(const Contact* c, djmRowSum* sum) {
  for (int s = 0; s < 2; s++) {
    mjtNum w[6];
    djm_copy6(w, c->wrench);
    addCross3(w, c->r[s], c->wrench + 3);
    addScl6(sum->wrench + 6 * c->body[s], w, s ? 1 : -1);
  }
}

// ---- one dof ------------------------------------------------------------------------------------

// What the contact does along a dof.
typedef struct Column {
  int dof;
  int sign;              // of the dof's twist in that of body 2 less body 1
  mjtNum twist[6];       // of the dof at the point
  mjtNum row[DJM_MAXROWS];    // of the Jacobian
  mjtNum bent[DJM_MAXROWS];   // S row
  mjtNum damped[DJM_MAXROWS]; // S (B row)
  mjtNum y[DJM_MAXROWS];      // change of y
  mjtNum ln_D;           // change
  mjtNum change[6];      // of the wrench
} Column;

// What is common to dofs: slopes of (dist, pos, turn) by a twist of body 1, of 2, of both; the
// bodies' motions at the point, by coefficients B of normal and friction rows.
typedef struct Common {
  mjtNum slope[3][7][6];
  bool kink;                 // of which this is no derivative
  int nset, end[3];          // rows of a set: from the end of the one before
  mjtNum B[3];
  mjtNum motion[3][2][6];    // of each set and body
  mjtNum relative[3][6];
} Common;

// out = a geom's surface velocity about the contact's point, (angular, linear).
static bool surfaceVelocity(mjtNum out[6], const Contact* c, const djmRowSum* sum, int side) {
  int geom = c->con->geom[side];
  const mjtNum *v = sum->m->geom_surfacevel + 6 * geom, *R = sum->d->geom_xmat + 9 * geom;
  mjtNum arm[3];
  mju_zero(out, 6);
  if (mju_isZero(v, 6)) return false;
  mju_mulMatVec3(out, R, v + 3);
  mju_mulMatVec3(out + 3, R, v);
  mju_sub3(arm, c->con->pos, sum->d->geom_xpos + 3 * geom);
  addCross3(out + 3, out, arm);
  return true;
}

// Rows with the same B and the same motion: all; the normal and others; with surface velocities the
// normal, slip and spin, roll.
static void openSets(Common* x, const Contact* c, bool slips) {
  int dim = c->dim;
  x->nset = dim == 1 ? 1 : slips ? (dim > 4 ? 3 : 2) : c->B[1] != c->B[0] ? 2 : 1;
  x->end[0] = x->nset == 1 ? dim : 1;
  x->end[1] = slips && dim > 4 ? 4 : dim;
  x->end[2] = dim;
  for (int set = 0; set < x->nset; set++) x->B[set] = c->B[set ? 1 : 0];
}

static void openCommon(Common* x, const djmContactSlope* slope, const Contact* c,
                       const djmRowSum* sum) {
  x->kink = slope->feature == DJM_FEATURE_KINK;
  for (int row = 0; row < 7; row++) {
    const mjtNum* from = row == 0 ? slope->dist : row < 4 ? slope->pos[row - 1]
                                                          : slope->turn[row - 4];
    for (int k = 0; k < 6; k++) {
      x->slope[0][row][k] = from[k];
      x->slope[1][row][k] = from[6 + k];
      x->slope[2][row][k] = from[k] + from[6 + k];
    }
  }
  mjtNum surface[2][6];
  bool slips = false;
  for (int s = 0; s < 2; s++) slips = surfaceVelocity(surface[s], c, sum, s) || slips;
  openSets(x, c, slips);
  for (int set = 0; set < x->nset; set++) {
    for (int s = 0; s < 2; s++) {
      const djmRates* rates = sum->motion->body + c->body[s];
      mjtNum g[6];
      for (int k = 0; k < 6; k++) g[k] = rates->acc[k] + x->B[set] * rates->vel[k];
      djm_moveTwist(x->motion[set][s], g, c->r[s]);
      if (slips && set == 1) addScl6(x->motion[set][s], surface[s], x->B[set]);
    }
    djm_sub6(x->relative[set], x->motion[set][1], x->motion[set][0]);
  }
}

// out = change of (body 2 less body 1)'s motion along a dof, at the fixed point.
static void motionChange(mjtNum out[6], const Common* x, const Contact* c, const djmRowSum* sum,
                         const Column* col, int which, int set) {
  const djmRates* before = sum->motion->before + col->dof;
  if (which == 3) {
    djm_crossMotion(out, col->twist, x->relative[set]);
    return;
  }
  int s = which - 1;
  mjtNum g[6], moved[6];
  for (int k = 0; k < 6; k++) g[k] = before->acc[k] + x->B[set] * before->vel[k];
  djm_moveTwist(moved, g, c->r[s]);
  djm_sub6(g, x->motion[set][s], moved);
  djm_crossMotion(out, col->twist, g);
  if (s == 0) {
    for (int k = 0; k < 6; k++) out[k] = -out[k];
  }
}

static void fillColumn(Column* col, const Common* x, const Contact* c, const djmRowSum* sum,
                       int which) {
  const mjtNum* frame = c->con->frame;
  int dim = c->dim;
  mjtNum geometry[7], drow[DJM_MAXROWS], *dp = geometry + 1, *turn = geometry + 4;
  for (int k = 0; k < 7; k++) geometry[k] = dot6(x->slope[which - 1][k], col->twist);
  if (x->kink && which != 3) {
    djm_slopeAlong(geometry, sum->m, sum->pose, c->con, which - 1, col->twist);
  }
  if (sum->drop_feature) mju_zero(dp, 6);
  for (int set = 0; set < x->nset; set++) {
    mjtNum change[6];
    const mjtNum* g = x->relative[set];
    motionChange(change, x, c, sum, col, which, set);
    addCross3(change + 3, g, dp);
    // (t x e) . g = e . (g x t)
    addCross3(change, g, turn);
    addCross3(change + 3, g + 3, turn);
    for (int k = set ? x->end[set - 1] : 0; k < x->end[set]; k++) {
      drow[k] = dot3(frame + 3 * (k % 3), change + (k < 3 ? 3 : 0));
    }
  }
  drow[0] += c->spring * geometry[0];
  mju_copy(col->y, drow, dim);
  col->ln_D = c->ln_D * geometry[0];
  mju_zero(col->change, 6);
  for (int k = 0; k < dim; k++) {
    mjtNum s = c->force[k] * col->ln_D;
    for (int l = 0; l < dim; l++) s -= c->S[k * dim + l] * drow[l];
    mju_addToScl3(col->change + (k < 3 ? 3 : 0), frame + 3 * (k % 3), s);
  }
  if (sum->drop_force) return;
  addCross3(col->change, turn, c->wrench);
  addCross3(col->change, dp, c->wrench + 3);
  addCross3(col->change + 3, turn, c->wrench + 3);
}

// Rows of the Jacobian along the dof, and S times them.
static void fillRows(Column* col, const Contact* c) {
  const mjtNum* frame = c->con->frame;
  int dim = c->dim;
  for (int k = 0; k < dim; k++) {
    col->row[k] = col->sign * dot3(frame + 3 * (k % 3), col->twist + (k < 3 ? 3 : 0));
  }
  for (int k = 0; k < dim; k++) {
    mjtNum bent = 0, damped = 0;
    for (int l = 0; l < dim; l++) {
      mjtNum s = c->S[k * dim + l] * col->row[l];
      bent += s;
      damped += s * c->B[l];
    }
    col->bent[k] = bent;
    col->damped[k] = damped;
  }
}

// ---- all dofs -----------------------------------------------------------------------------------

static void addColumns(djmRowSum* sum, const Contact* c, const Column* column, int n) {
  int nv = (int)sum->m->nv;
  for (int p = 0; p < n; p++) {
    const Column* x = column + p;
    if (!x->sign) continue;
    mjtNum* by_q = sum->by_q + (size_t)x->dof * sum->stride;
    mjtNum* by_v = sum->by_v + (size_t)x->dof * sum->stride;
    mjtNum* H = sum->H + (size_t)x->dof * nv;
    for (int r = 0; r < n; r++) {
      const Column* z = column + r;
      by_q[z->dof] += x->sign * dot6(x->twist, z->change);
      if (!z->sign) continue;
      mjtNum damped = 0, bent = 0;
      for (int k = 0; k < c->dim; k++) {
        damped += x->row[k] * z->damped[k];
        bent += x->row[k] * z->bent[k];
      }
      by_v[z->dof] -= damped;
      if (z->dof <= x->dof) H[z->dof] += bent;
    }
  }
}

// Forces of the rows along the dof, of pyramids those of edges.
static void storeForces(djmRowSum* sum, const Contact* c, const Column* col) {
  int nv = (int)sum->m->nv;
  mjtNum *by_q = sum->by_force + (size_t)c->adr * 2 * nv + col->dof, *by_v = by_q + nv;
  if (sum->d->efc_type[c->adr] != mjCNSTR_CONTACT_PYRAMIDAL) {
    for (int k = 0; k < c->dim; k++) {
      mjtNum f = c->force[k] * col->ln_D;
      for (int l = 0; l < c->dim; l++) f -= c->S[k * c->dim + l] * col->y[l];
      by_q[(size_t)k * 2 * nv] = f;
      by_v[(size_t)k * 2 * nv] = -col->damped[k];
    }
    return;
  }
  for (int e = 0; e < 2 * (c->dim - 1); e++) {
    int row = c->adr + e, k = 1 + e / 2;
    if (sum->state[row] == mjCNSTRSTATE_SATISFIED) continue;
    mjtNum mu = e % 2 ? -c->con->friction[k - 1] : c->con->friction[k - 1], D = sum->d->efc_D[row];
    by_q[(size_t)e * 2 * nv] = sum->force[row] * col->ln_D - D * (col->y[0] + mu * col->y[k]);
    by_v[(size_t)e * 2 * nv] = -D * (c->B[0] * col->row[0] + mu * c->B[k] * col->row[k]);
  }
}

int djm_unionDofs(int* dof, unsigned char* which, const mjModel* m, int body1, int body2) {
  int i = djm_lastDof(m, body1), j = djm_lastDof(m, body2), n = 0;
  while (i >= 0 || j >= 0) {
    int next = i > j ? i : j;
    which[n] = (unsigned char)((i == next) | (j == next) << 1);
    dof[n++] = next;
    if (i == next) i = m->dof_parentid[i];
    if (j == next) j = m->dof_parentid[j];
  }
  return n;
}

size_t djm_rowScratchSize(const mjModel* m) {
  size_t nv = (size_t)m->nv, column = (sizeof(Column) + sizeof(mjtNum) - 1) / sizeof(mjtNum);
  size_t contact = (column + 1) * nv, scalar = nv * nv + 4 * nv, pair = 49 * nv;
  size_t size = contact > scalar ? contact : scalar;
  return (size > pair ? size : pair) + nv + 8;
}

void djm_contactRates(mjtNum* rate, const djmRowSum* sum, const mjContact* con,
                      const djmContactSlope* slope) {
  const mjModel* m = sum->m;
  unsigned char* which = (unsigned char*)sum->memory;
  int body[2] = {m->geom_bodyid[con->geom[0]], m->geom_bodyid[con->geom[1]]};
  int n = djm_unionDofs(sum->dof, which, m, body[0], body[1]);
  mju_zero(rate, 7 * (int)m->nv);
  for (int k = 0; k < n; k++) {
    mjtNum twist[6], arm[3], *to = rate + (size_t)sum->dof[k] * 7;
    mju_sub3(arm, con->pos, djm_center(m, sum->d, body[which[k] == 1 ? 0 : 1]));
    djm_moveTwist(twist, sum->d->cdof + 6 * sum->dof[k], arm);
    for (int r = 0; r < 7; r++) {
      const mjtNum* from = r == 0 ? slope->dist : r < 4 ? slope->pos[r - 1] : slope->turn[r - 4];
      if (which[k] & 1) to[r] += dot6(from, twist);
      if (which[k] & 2) to[r] += dot6(from + 6, twist);
    }
    if (slope->feature == DJM_FEATURE_KINK && which[k] != 3) {
      djm_slopeAlong(to, m, sum->pose, con, which[k] - 1, twist);
    }
  }
}

void djm_addContact(djmRowSum* sum, const mjContact* con, const djmContactSlope* slope) {
  Contact c;
  Common common;
  openContact(&c, sum, con);
  openCommon(&common, slope, &c, sum);
  Column* column = (Column*)sum->memory;
  unsigned char* which = (unsigned char*)(column + sum->m->nv);
  int n = djm_unionDofs(sum->dof, which, sum->m, c.body[0], c.body[1]);
  for (int k = 0; k < n; k++) {
    Column* col = column + k;
    col->dof = sum->dof[k];
    col->sign = which[k] == 3 ? 0 : which[k] == 2 ? 1 : -1;
    djm_moveTwist(col->twist, sum->d->cdof + 6 * col->dof, c.r[which[k] == 1 ? 0 : 1]);
    fillColumn(col, &common, &c, sum, which[k]);
    fillRows(col, &c);
  }
  addColumns(sum, &c, column, n);
  for (int k = 0; k < n && sum->by_force; k++) storeForces(sum, &c, column + k);
  if (!sum->drop_force) addWrenches(&c, sum);
}
