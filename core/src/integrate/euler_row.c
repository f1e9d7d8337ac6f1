#include "integrate/euler_row.h"

#include "base/room.h"
#include "base/status.h"
#include "integrate/euler.h"
#include "math/ldl.h"
#include "math/so3.h"

#include <math.h>
#include <string.h>

int dj_eulerRowCount(const djModel* m) {
  return dj_linkCoordinates(m) + m->nequalitycoord + m->nv + m->njnt;
}

enum { MOST_AT_FIRST = 200 };   // rows that there is room for from the start

typedef struct Likely {
  size_t n, most, slopes;   // rows; dofs of one; numbers of their slopes
} Likely;

static void addLikely(Likely* l, int n, bool bends) {
  size_t dofs = (size_t)n;
  if (l->n == MOST_AT_FIRST) return;
  l->n++;
  l->slopes += 3 * dofs + (bends ? dofs * dofs : 0);
  if (dofs > l->most) l->most = dofs;
}

// Rows that limits, losses and equality constraints which the model has now may be.
static Likely likelyRows(const djModel* m) {
  Likely l = {0, 3, 0};
  for (int c = 0; c < m->ncoord; c++) {
    bool link = c < dj_linkCoordinates(m), equality = m->coord_type[c] == DJ_COORD_EQUALITY;
    if (link && !*DJ_LINK(m, c, limited, 1) && !(*DJ_LINK(m, c, frictionloss, 1) > 0)) continue;
    if (link || equality) addLikely(&l, m->coord_dofnum[c], dj_coordinateBends(m, c));
  }
  for (int j = 0; j < m->njnt; j++) {
    int n = m->jnt_frictionloss[j] > 0 && m->jnt_coord[j] < 0 ? dj_jointNv(m->jnt_type[j]) : 0;
    for (int k = 0; k < n; k++) addLikely(&l, 1, false);
    if (m->jnt_limited[j] && dj_jointRow(m, j)->quat) addLikely(&l, 3, true);
  }
  return l;
}

bool dj_makeRowRoom(djWork* w, const djModel* m) {
  djEulerRows* rows = &w->rows;
  Likely l = likelyRows(m);
  size_t n = l.n, each = sizeof(double);
  if (n == 0 || m->opt.integrator != DJ_EULER) return true;
  rows->room = dj_roomFor(rows->room, &rows->nroom, (3 * n + (size_t)m->nv) * n * each);
  size_t slopes = 2 * (size_t)m->nv * n + l.slopes + DJ_SLOPE_SCRATCH(l.most);
  rows->slopes = dj_roomFor(rows->slopes, &rows->nslopes, slopes * each);
  return rows->room && rows->slopes;
}

// ---- the start --------------------------------------------------------------------------------

static void beginCoordinate(djWork* w, const djModel* m, int c) {
  djEulerRow* r = dj_nextEulerRow(&w->rows, w->h);
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
    djEulerRow* r = dj_nextEulerRow(&w->rows, w->h);
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
  djEulerRow* r = dj_nextEulerRow(&w->rows, w->h);
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

// The trees that its dofs are on.
static void findTrees(djEulerRow* r, const djBlocks* trees) {
  int first = r->dof[0], last = first, t = 0;
  for (int i = 1; i < r->n; i++) {
    if (r->dof[i] < first) first = r->dof[i];
    if (r->dof[i] > last) last = r->dof[i];
  }
  while (trees->adr[t + 1] <= first) t++;
  r->low = trees->adr[t];
  while (trees->adr[t + 1] <= last) t++;
  r->high = trees->adr[t + 1];
}

// ---- groups -----------------------------------------------------------------------------------

static bool isDamped(const djWork* w, const djModel* m) {
  if (m->opt.implicit == DJ_TERMS_RATES) return true;
  for (int i = 0; i < m->nv && dj_dampsAtEnd(m); i++) {
    if (w->damping[i] != 0) return true;
  }
  return false;
}

// By trees, in which rows stay in order; own arrays move along.
static void sortRows(djEulerRows* rows) {
  for (int k = 1; k < rows->n; k++) {
    djEulerRow r = rows->row[k];
    int i = k;
    for (; i > 0 && rows->row[i - 1].low > r.low; i--) rows->row[i] = rows->row[i - 1];
    rows->row[i] = r;
  }
  for (int k = 0; k < rows->n; k++) {
    djEulerRow* r = &rows->row[k];
    if (r->coordinate >= 0) continue;
    r->dof = r->own_dof;
    r->J = r->own_J;
  }
}

// Sets `first` and n of groups, and the most rows that one has.
static size_t groupRows(djEulerRows* rows) {
  int high = 0, most = 0;
  rows->ngroup = 0;
  for (int k = 0; k < rows->n; k++) {
    if (!rows->mixed || k == 0 || rows->row[k].low >= high) {
      rows->group[rows->ngroup++] = (djRowGroup){.first = k};
    }
    djRowGroup* g = &rows->group[rows->ngroup - 1];
    rows->row[k].group = rows->ngroup - 1;
    if (++g->n > most) most = g->n;
    if (rows->row[k].high > high) high = rows->row[k].high;
  }
  return (size_t)most;
}

static djStatus makeGroups(djWork* w, const djModel* m) {
  djEulerRows* rows = &w->rows;
  size_t most = groupRows(rows), need = most * (most + (size_t)m->nv);
  for (int g = 0; g < rows->ngroup; g++) need += 2 * (size_t)(rows->group[g].n * rows->group[g].n);
  if (need == 0) return DJ_OK;
  double* at = dj_roomFor(rows->room, &rows->nroom, need * sizeof(double));
  if (!at) return dj_failMemory(&w->error);
  rows->room = at;
  for (int g = 0; g < rows->ngroup; g++) {
    djRowGroup* group = &rows->group[g];
    size_t size = (size_t)(group->n * group->n);
    group->C = at;
    group->L = at + size;
    group->active = rows->active + group->first;
    group->factored = rows->factored + group->first;
    group->nactive = -1;
    at += 2 * size;
  }
  rows->whole = at;
  rows->pulled = at + most * most;
  return DJ_OK;
}

// Y (n of the group x nv) = D^-1/2 L^-T J^T of a factor: C's share is Y Y^T.
static void halveGroup(double* Y, const djFactor* f, const djRowGroup* g, const djWork* w,
                       const djModel* m) {
  memset(Y, 0, (size_t)(g->n * m->nv) * sizeof(double));
  for (int i = 0; i < g->n; i++, Y += m->nv) {
    const djEulerRow* r = &w->rows.row[g->first + i];
    dj_addRow(Y, r, 1);
    dj_halveDiagonal(Y, f, r->low, r->high);
  }
}

// C += sign Y Y^T, lower triangle.
static void addGram(double* C, double sign, const double* Y, const djRowGroup* g, const djWork* w,
                    const djModel* m) {
  for (int i = 0; i < g->n; i++) {
    const djEulerRow* r = &w->rows.row[g->first + i];
    const double* own = Y + (size_t)i * (size_t)m->nv;
    for (int k = 0; k <= i; k++) {
      const double* other = Y + (size_t)k * (size_t)m->nv;
      double sum = 0;
      for (int d = r->low; d < r->high; d++) sum += own[d] * other[d];
      C[g->n * i + k] += sign * sum;
    }
  }
}

// C, and zeta without a.
static void setCompliance(djWork* w, const djModel* m) {
  djEulerRows* rows = &w->rows;
  double *x = rows->scratch, *y = x + m->nv;
  memset(rows->zeta, 0, (size_t)rows->n * sizeof(double));
  for (int k = 0; k < rows->ngroup; k++) {
    const djRowGroup* g = &rows->group[k];
    memset(g->C, 0, (size_t)(g->n * g->n) * sizeof(double));
    if (!rows->mixed) continue;
    halveGroup(rows->pulled, &rows->mass, g, w, m);
    addGram(g->C, 1, rows->pulled, g, w, m);
    halveGroup(rows->pulled, &w->mass, g, w, m);
    addGram(g->C, -1, rows->pulled, g, w, m);
    for (int i = 0; i < g->n; i++) {
      for (int j = 0; j < i; j++) g->C[g->n * j + i] = g->C[g->n * i + j];
    }
  }
  if (!rows->mixed) return;
  for (int i = 0; i < m->nv; i++) x[i] = y[i] = -w->bias[i];
  dj_solve(x, &rows->mass);
  dj_solve(y, &w->mass);
  for (int k = 0; k < rows->n; k++) {
    rows->zeta[k] = dj_rowAlong(&rows->row[k], x) - dj_rowAlong(&rows->row[k], y);
  }
}

djStatus dj_beginRows(djWork* w, const djModel* m) {
  djEulerRows* rows = &w->rows;
  rows->n = 0;
  for (int c = 0; c < dj_linkCoordinates(m); c++) beginCoordinate(w, m, c);
  for (int j = 0; j < m->njnt; j++) {
    if (m->jnt_coord[j] < 0) beginJoint(w, m, j);
  }
  dj_beginEqualities(w, m);
  for (int k = 0; k < rows->n; k++) findTrees(&rows->row[k], &w->trees);
  rows->mixed = rows->n > 0 && isDamped(w, m);
  if (rows->mixed && !dj_factor(&rows->mass, &dj_stageOf(w)->linear.M, NULL)) {
    return dj_fail(&w->error, DJ_INVALID, "inertia is singular at the start of the step");
  }
  sortRows(rows);
  djStatus status = makeGroups(w, m);
  if (status >= 0) setCompliance(w, m);
  return status;
}

void dj_coupleEulerRows(djWork* w) {
  const djEulerRows* rows = &w->rows;
  for (int g = 0; g < rows->ngroup && rows->mixed; g++) {
    dj_clearMarks(&w->pattern);
    for (int i = 0; i < rows->group[g].n; i++) {
      const djEulerRow* r = &rows->row[rows->group[g].first + i];
      for (int k = 0; k < r->n; k++) dj_markRow(&w->pattern, r->dof[k]);
    }
    dj_coupleMarked(&w->pattern);
  }
}

// ---- the law of a group -----------------------------------------------------------------------

// residual = z + C s'(z) - zeta, laws at z. Returns its size squared.
static double evaluateGroup(djEulerRows* rows, const djRowGroup* g, const double* z,
                            const double* zeta) {
  double sum = 0, *rho = rows->residual;
  for (int i = 0; i < g->n; i++) {
    djEulerRow* r = &rows->row[g->first + i];
    r->at = dj_rowSlope(&r->law, z[i]);
  }
  for (int i = 0; i < g->n; i++) {
    rho[i] = z[i] - zeta[i];
    for (int k = 0; k < g->n; k++) rho[i] += g->C[g->n * i + k] * rows->row[g->first + k].at.d;
    sum += rho[i] * rho[i];
  }
  return sum;
}

// Factors 1/S + C of the rows that have curvature, unless it is what it was.
static void factorGroup(djEulerRows* rows, djRowGroup* g) {
  int n = 0;
  bool same = g->nactive >= 0;
  for (int i = 0; i < g->n; i++) {
    double S = fmax(rows->row[g->first + i].at.dd, 0);
    same = same && g->factored[i] == S;
    g->factored[i] = S;
    if (S > 0) g->active[n++] = i;
  }
  if (same) return;
  g->nactive = n;
  for (int i = 0; i < n; i++) {
    const double* C = g->C + g->n * g->active[i];
    for (int k = 0; k <= i; k++) rows->whole[n * i + k] = C[g->active[k]];
    rows->whole[(n + 1) * i] += 1 / g->factored[g->active[i]];
  }
  dj_factorLDL(g->L, rows->whole, NULL, n);
}

// step (n) = -(1 + C S)^-1 residual; x (n): scratch.
static void stepGroup(double* step, double* x, djEulerRows* rows, djRowGroup* g) {
  factorGroup(rows, g);
  for (int i = 0; i < g->nactive; i++) x[i] = -rows->residual[g->active[i]];
  dj_solveLDL(x, g->L, g->nactive);
  for (int i = 0; i < g->n; i++) {
    step[i] = -rows->residual[i];
    for (int k = 0; k < g->nactive; k++) step[i] -= g->C[g->n * i + g->active[k]] * x[k];
  }
}

// Newton's method on a residual that is piecewise linear but for corners.
static void solveGroup(djEulerRows* rows, djRowGroup* g, double* zeta) {
  double *z = rows->trial, *step = rows->force;
  for (int i = 0; i < g->n; i++) z[i] = zeta[i];
  double size = evaluateGroup(rows, g, z, zeta), unit = 0;
  if (!rows->mixed) return;
  for (int i = 0; i < g->n; i++) unit += zeta[i] * zeta[i];
  for (int k = 0; k < 100 && size > 1e-30 * unit; k++) {
    double *x = rows->residual + g->n, fraction = 1, next;
    stepGroup(step, x, rows, g);
    for (int i = 0; i < g->n; i++) z[i] += step[i];
    while ((next = evaluateGroup(rows, g, z, zeta)) >= size && fraction > 1e-6) {
      for (int i = 0; i < g->n; i++) z[i] -= 0.5 * fraction * step[i];
      fraction *= 0.5;
    }
    if (next >= size) return;   // to rounding
    size = next;
  }
}

// ---- the residual -----------------------------------------------------------------------------

// s + s' C s'/2, summed.
static double energyOf(const djEulerRows* rows, const djRowGroup* g) {
  double sum = 0;
  for (int i = 0; i < g->n; i++) {
    const djRowSlope* s = &rows->row[g->first + i].at;
    sum += s->f;
    for (int k = 0; k < g->n; k++) {
      sum += 0.5 * s->d * g->C[g->n * i + k] * rows->row[g->first + k].at.d;
    }
  }
  return sum;
}

void dj_addRows(double* value, double* y, djWork* w, const djModel* m) {
  djEulerRows* rows = &w->rows;
  const double* psi = dj_stageOf(w)->linear.psi;
  double *a = rows->accel, *zeta = rows->zeta + dj_eulerRowCount(m), h = w->h;
  if (rows->n == 0) return;
  for (int i = 0; i < m->nv; i++) a[i] = (psi[i] / h - w->start.qvel[i] - w->kick[i]) / h;
  for (int k = 0; k < rows->n; k++) zeta[k] = rows->zeta[k] + dj_rowAlong(&rows->row[k], a);
  for (int k = 0; k < rows->ngroup; k++) {
    solveGroup(rows, &rows->group[k], zeta + rows->group[k].first);
    *value += h * h * energyOf(rows, &rows->group[k]);
  }
  dj_addRowForces(y, w);
}

void dj_addRowForces(double* y, const djWork* w) {
  for (int k = 0; k < w->rows.n; k++) dj_addRow(y, &w->rows.row[k], w->rows.row[k].at.d);
}

double dj_rowLimitForce(const djWork* w, int c, int j) {
  for (int k = 0; k < w->rows.n; k++) {
    const djEulerRow* r = w->rows.row + k;
    if (c >= 0 ? r->coordinate == c : r->angle && r->joint == j) return fabs(r->at.limit);
  }
  return 0;
}

// Of the rows with curvature, Y (nactive x nv) = D^-1/2 L^-T J J_r^-1: Y^T Y is J_r^-T J^T Q J J_r^-1.
static void pullGroup(double* Y, djRowGroup* g, djWork* w, const djModel* m) {
  size_t nv = (size_t)m->nv;
  factorGroup(&w->rows, g);
  memset(Y, 0, (size_t)g->nactive * nv * sizeof(double));
  for (int i = 0; i < g->nactive; i++) {
    dj_addRow(Y + (size_t)i * nv, &w->rows.row[g->first + g->active[i]], 1);
    dj_pullVector(Y + (size_t)i * nv, m, dj_stageOf(w)->linear.psi, true);
  }
  dj_halveLDLMulti(Y, g->L, g->nactive, m->nv);
}

// Y^T Y/h^2 of a group, the right factor turned to the start or not.
static void addSlopes(djMatrix* A, double sign, bool turned, djRowGroup* g, djWork* w,
                      const djModel* m) {
  double *Y = w->rows.pulled, *N = w->rows.scratch;
  bool whole = turned || w->kind != DJ_LDL;
  int low = m->nv, high = 0;
  for (int i = 0; i < g->n; i++) {
    const djEulerRow* r = &w->rows.row[g->first + i];
    if (r->low < low) low = r->low;
    if (r->high > high) high = r->high;
  }
  pullGroup(Y, g, w, m);
  for (int i = 0; i < g->nactive; i++, Y += m->nv) {
    memcpy(N, Y, (size_t)m->nv * sizeof(double));
    if (turned) dj_turnVector(N, m, dj_stageOf(w)->linear.psi, true);
    dj_addOuter(A, sign / (w->h * w->h), Y, N, low, high, !whole);
  }
}

void dj_addRowSlopes(djWork* w, const djModel* m) {
  for (int g = 0; g < w->rows.ngroup; g++) addSlopes(&w->H, 1, false, &w->rows.group[g], w, m);
}

void dj_openRows(djWork* w, const djModel* m) {
  double value = 0, *y = w->shift;
  memset(y, 0, (size_t)m->nv * sizeof(double));
  dj_addRows(&value, y, w, m);
  for (int g = 0; g < w->rows.ngroup; g++) factorGroup(&w->rows, &w->rows.group[g]);
}

void dj_turnRows(djMatrix* Rq, djWork* w, const djModel* m) {
  for (int g = 0; g < w->rows.ngroup; g++) {
    addSlopes(Rq, -1, true, &w->rows.group[g], w, m);
  }
}

// ---- responses --------------------------------------------------------------------------------

void dj_mulGroupCurvature(double* x, const djEulerRows* rows, const djRowGroup* g,
                          const double* y) {
  double* z = rows->residual;
  for (int i = 0; i < g->nactive; i++) z[i] = y[g->active[i]];
  dj_solveLDL(z, g->L, g->nactive);
  for (int i = 0; i < g->n; i++) x[i] = 0;
  for (int i = 0; i < g->nactive; i++) x[g->active[i]] = z[i];
}

void dj_mulCurvature(double* x, const djEulerRows* rows, const double* y) {
  for (int k = 0; k < rows->ngroup; k++) {
    const djRowGroup* g = &rows->group[k];
    dj_mulGroupCurvature(x + g->first, rows, g, y + g->first);
  }
}

bool dj_rowsCurve(const djEulerRows* rows) {
  for (int g = 0; g < rows->ngroup; g++) {
    if (rows->group[g].nactive > 0) return true;
  }
  return false;
}

void dj_rowResponse(double* y, djWork* w, const djModel* m, const double* X) {
  djEulerRows* rows = &w->rows;
  double* v = rows->scratch;
  if (!rows->mixed || !dj_rowsCurve(rows)) return;
  memcpy(v, X, (size_t)m->nv * sizeof(double));
  dj_solve(v, &w->mass);
  for (int k = 0; k < rows->n; k++) rows->trial[k] = dj_rowAlong(&rows->row[k], v);
  dj_mulCurvature(rows->force, rows, rows->trial);
  for (int k = 0; k < rows->n; k++) dj_addRow(y, &rows->row[k], rows->force[k]);
}
