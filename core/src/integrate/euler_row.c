#include "integrate/euler_row.h"

#include "base/status.h"
#include "integrate/euler.h"
#include "math/so3.h"

#include <math.h>
#include <string.h>

int dj_eulerRowCount(const djModel* m) { return dj_linkCoordinates(m) + m->nv + m->njnt; }

// The trees of dofs first to last.
static void setTrees(djEulerRow* r, const djBlocks* trees, int first, int last) {
  int t = 0;
  while (trees->adr[t + 1] <= first) t++;
  r->low = trees->adr[t];
  while (trees->adr[t + 1] <= last) t++;
  r->high = trees->adr[t + 1];
}

// ---- the start --------------------------------------------------------------------------------

static djEulerRow* nextRow(djWork* w) {
  djEulerRow* r = w->rows.row + w->rows.n;
  memset(r, 0, sizeof *r);
  r->coordinate = r->joint = -1;
  r->dof = r->own_dof;
  r->J = r->own_J;
  r->law.corner = DJ_ROW_CORNER / (w->h * w->h);
  return r;
}

static void beginCoordinate(djWork* w, const djModel* m, int c) {
  djEulerRow* r = nextRow(w);
  djAlong x = dj_along(&w->begin.coord, m, c);
  double rate = dj_coordinateRate(&w->begin.coord, m, c, w->start.qvel);
  double inertia = *DJ_LINK(m, c, effinertia, 1);
  const double* range = DJ_LINK(m, c, range, 2);
  djLimitDef limit = {{range[0], range[1]}, *DJ_LINK(m, c, margin, 1),
                      *DJ_LINK(m, c, limit_stiffness, 1), *DJ_LINK(m, c, limit_damping, 1),
                      inertia, DJ_LINK(m, c, limit_impedance, 5)};
  bool acts = false;
  if (*DJ_LINK(m, c, limited, 1) && !(m->opt.disable & DJ_DSBL_LIMIT)) {
    acts = dj_setRowLimit(&r->law, &limit, w->begin.coord.x[c], rate);
  }
  if (!(m->opt.disable & DJ_DSBL_FRICTIONLOSS)) {
    acts |= dj_setRowLoss(&r->law, *DJ_LINK(m, c, frictionloss, 1),
                          *DJ_LINK(m, c, frictionloss_damping, 1),
                          *DJ_LINK(m, c, frictionloss_impedance, 1), inertia, rate);
  }
  if (!acts || x.n == 0) return;
  r->coordinate = c;
  r->bends = dj_coordinateBends(m, c);
  r->n = x.n;
  r->dof = x.dof;
  r->J = x.J;
  w->rows.n++;
}

// Dofs of joint j, and its angle.
static void beginJoint(djWork* w, const djModel* m, int j) {
  int n = dj_jointNv(m->jnt_type[j]), first = m->jnt_dofadr[j];
  for (int k = 0; k < n && !(m->opt.disable & DJ_DSBL_FRICTIONLOSS); k++) {
    djEulerRow* r = nextRow(w);
    r->joint = j;
    r->n = 1;
    r->own_dof[0] = first + k;
    r->own_J[0] = 1;
    w->rows.n += dj_setRowLoss(&r->law, m->jnt_frictionloss[j], m->jnt_frictionloss_damping[j],
                               m->jnt_frictionloss_impedance[j], m->jnt_effinertia[j],
                               w->start.qvel[first + k]);
  }
  if (!dj_jointRow(m, j)->quat || !m->jnt_limited[j] || m->opt.disable & DJ_DSBL_LIMIT) return;
  djVec3 turn = dju_logQuat(dju_normalizeQuat(dju_loadQuat(w->start.qpos + m->jnt_qposadr[j])));
  double angle = dju_norm3(turn), rate = 0;
  if (!(angle > 1e-12)) return;
  djEulerRow* r = nextRow(w);
  r->joint = j;
  r->angle = r->bends = true;
  r->n = 3;
  dju_store3(r->own_J, dju_scale3(1 / angle, turn));
  for (int k = 0; k < 3; k++) {
    r->own_dof[k] = first + k;
    rate += r->own_J[k] * w->start.qvel[first + k];
  }
  djLimitDef limit = {{-INFINITY, m->jnt_range[2 * j + 1]}, m->jnt_margin[j],
                      m->jnt_limit_stiffness[j], m->jnt_limit_damping[j], m->jnt_effinertia[j],
                      m->jnt_limit_impedance + 5 * j};
  w->rows.n += dj_setRowLimit(&r->law, &limit, angle, rate);
}

static void findTrees(djEulerRow* r, const djBlocks* trees) {
  int first = r->dof[0], last = first;
  for (int i = 1; i < r->n; i++) {
    if (r->dof[i] < first) first = r->dof[i];
    if (r->dof[i] > last) last = r->dof[i];
  }
  setTrees(r, trees, first, last);
}

static bool isDamped(const djWork* w, const djModel* m) {
  if (m->opt.implicit == DJ_TERMS_RATES) return true;
  for (int i = 0; i < m->nv && dj_dampsAtEnd(m); i++) {
    if (w->damping[i] != 0) return true;
  }
  return false;
}

djStatus dj_beginRows(djWork* w, const djModel* m) {
  djEulerRows* rows = &w->rows;
  rows->n = 0;
  for (int c = 0; c < dj_linkCoordinates(m); c++) beginCoordinate(w, m, c);
  for (int j = 0; j < m->njnt; j++) {
    if (m->jnt_coord[j] < 0) beginJoint(w, m, j);
  }
  for (int k = 0; k < rows->n; k++) findTrees(&rows->row[k], &w->trees);
  rows->mixed = rows->n > 0 && isDamped(w, m);
  w->kind = rows->mixed || dj_hasNonpotentialForces(&w->forces, m) ? DJ_LDU : DJ_LDL;
  dj_stageOf(w)->linear.factor.kind = w->kind;
  if (!rows->mixed) return DJ_OK;
  if (!dj_factor(&rows->mass, &dj_stageOf(w)->linear.M, NULL)) {
    return dj_fail(&w->error, DJ_INVALID, "inertia is singular at the start of the step");
  }
  dj_copyMatrix(&rows->B, &w->inertia);
  dj_solveDiagonal(&rows->B, &rows->mass);
  return DJ_OK;
}

// ---- the residual -----------------------------------------------------------------------------

// y (nv) = B x
static void mulB(double* y, const djWork* w, const djModel* m, const double* x) {
  memset(y, 0, (size_t)m->nv * sizeof(double));
  dj_mulMatrix(y, 1, &w->rows.B, x);
}

void dj_addRows(double* value, double* y, djWork* w, const djModel* m) {
  const double *psi = dj_stageOf(w)->linear.psi, *z = w->rows.excess;
  double *a = w->rows.excess, h = w->h;
  if (w->rows.n == 0) return;
  for (int i = 0; i < m->nv; i++) a[i] = (psi[i] / h - w->start.qvel[i]) / h;
  if (w->rows.mixed) {
    mulB(w->rows.accel, w, m, a);
    z = w->rows.accel;
  }
  for (int k = 0; k < w->rows.n; k++) {
    djEulerRow* r = w->rows.row + k;
    r->at = dj_rowSlope(&r->law, dj_rowAlong(r, z));
    if (!w->rows.mixed) *value += h * h * r->at.f;
  }
  dj_addRowForces(y, w);
}

void dj_addRowForces(double* y, const djWork* w) {
  for (int k = 0; k < w->rows.n; k++) dj_addRow(y, w->rows.row + k, w->rows.row[k].at.d);
}

double dj_rowLimitForce(const djWork* w, int c, int j) {
  for (int k = 0; k < w->rows.n; k++) {
    const djEulerRow* r = w->rows.row + k;
    if (c >= 0 ? r->coordinate == c : r->angle && r->joint == j) return fabs(r->at.limit);
  }
  return 0;
}

// y (nv) = J^T, or w.
static void spread(double* y, const djEulerRow* r, const djWork* w, const djModel* m, bool mixed) {
  memset(y, 0, (size_t)m->nv * sizeof(double));
  for (int k = 0; k < r->n; k++) {
    int dof = r->dof[k], t = 0;
    if (!mixed) {
      y[dof] = r->J[k];
      continue;
    }
    while (w->trees.adr[t + 1] <= dof) t++;
    const double* row = dj_ownRow(&w->rows.B, dof);
    for (int i = w->trees.adr[t]; i < w->trees.adr[t + 1]; i++) y[i] += r->J[k] * row[i];
  }
}

// Adds f L N^T to A (whole), or to its lower triangle.
static void addOuter(djMatrix* A, const djEulerRow* r, double f, const double* L, const double* N,
                     bool whole) {
  for (int i = r->low; i < r->high; i++) {
    if (L[i] == 0) continue;
    for (int j = r->low; j < (whole ? r->high : i + 1); j++) {
      if (N[j] != 0) dj_addEntry(A, i, j, f * L[i] * N[j]);
    }
  }
}

// s'' L N^T/h^2 to the matrix, N turned to the start or not; L s' to what has no energy.
static void addSlopes(djMatrix* A, double sign, bool turned, djWork* w, const djModel* m) {
  const double* psi = dj_stageOf(w)->linear.psi;
  double *L = w->path_scratch, *N = w->rows.scratch;
  for (int k = 0; k < w->rows.n; k++) {
    const djEulerRow* r = w->rows.row + k;
    if (r->at.dd == 0) continue;
    spread(L, r, w, m, false);
    dj_pullVector(L, m, psi, true);
    spread(N, r, w, m, w->rows.mixed);
    dj_pullVector(N, m, psi, true);
    if (turned) dj_turnVector(N, m, psi, true);
    addOuter(A, r, sign * r->at.dd / (w->h * w->h), L, N, turned || w->kind != DJ_LDL);
  }
}

void dj_addRowSlopes(djWork* w, const djModel* m) {
  if (w->rows.n == 0) return;
  addSlopes(&w->H, 1, false, w, m);
  if (!w->rows.mixed) return;
  double* y = w->rows.scratch;
  memset(y, 0, (size_t)m->nv * sizeof(double));
  dj_addRowForces(y, w);
  dj_pullVector(y, m, dj_stageOf(w)->linear.psi, true);
  for (int i = 0; i < m->nv; i++) w->nonpotential[i] += y[i];
}

void dj_turnRows(djMatrix* Rq, djWork* w, const djModel* m) { addSlopes(Rq, -1, true, w, m); }

void dj_rowResponse(double* y, const djWork* w, const djModel* m) {
  double* u = w->rows.dual;
  if (!w->rows.mixed) return;
  memcpy(u, y, (size_t)m->nv * sizeof(double));
  dj_solve(u, &w->rows.mass);
  for (int k = 0; k < w->rows.n; k++) {
    const djEulerRow* r = &w->rows.row[k];
    if (r->at.dd != 0) dj_addRow(y, r, r->at.dd * dj_rowAlong(r, u));
  }
}
