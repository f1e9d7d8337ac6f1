// The minimum that `euler` looks for, euler.c, by the forces of what is one-sided or bounded.
//
//   psi = p + h^2 K^-1 sum_r L_r^T F_r,   F_r = -E_r'(x_r),   L_r = dx_r/dpsi.
//
// A pass takes arguments x and L of all rows (contact/rows.h, euler_row.h) at psi_k and solves
//   x = x_k + L_k (psi - psi_k) = [x_k + L_k (p - psi_k)] + G F,   G = h^2 L_k K^-1 L_k^T,
// with the exact laws for the forces (row_solve.h), so that passes end where psi is the minimum, to
// the curvature of bodies' paths. Newton's method takes over from there, and finds it alone where
// there are too many rows. Without contact x is linear in psi, and the first pass has the minimum.

#include "integrate/row_pass.h"

#include "integrate/mocap.h"
#include "integrate/turn.h"
#include "integrate/work.h"
#include "math/products.h"

#include <math.h>
#include <string.h>

enum { MOST_PASSES = 10, MOST_DOFS = 300 };
// Beyond these Newton's method is as fast: of contact, unknowns, limits and friction loss.
enum { CONTACT_ROWS = 48, OWN = 18, COST_ROWS = 64 };
static const double DONE = 1e-5;         // what the next pass would move, of the unit
static const double CLOSE = 0.1;         // the most that a last move is
static const double LIGHTEST = 1e-14;    // of all mass
static const double INNER = 3e-4;        // of the last move, by which forces are found
static const double LEAST_INNER = 1e-7;  // of the unit
static const double ALL = 1e-11;         // of it, where nothing touches: this is the end
static const double SOLVED = 1e-2;       // of the unit, that they must be

void dj_layoutRowPass(djRowPass* s, djArena* a, const djModel* m) {
  size_t nv = (size_t)m->nv, cost = (size_t)dj_eulerRowCount(m);
  if (cost > COST_ROWS) cost = COST_ROWS;
  size_t n = cost + (dj_hasContact(m) ? CONTACT_ROWS : 0), d = sizeof(double);
  if (m->nv > MOST_DOFS) n = 0;
  djRowProblem* P = &s->problem;
  s->room = (int)n;
  s->visited = dj_take(a, 1, sizeof *s->visited);
  s->row = dj_take(a, n, sizeof *s->row);
  s->old = dj_take(a, n, sizeof *s->old);
  s->key = dj_take(a, n, sizeof *s->key);
  s->old_key = dj_take(a, n, sizeof *s->old_key);
  s->L = dj_take(a, n * nv, d);
  s->Y = dj_take(a, n * nv, d);
  s->range = dj_take(a, n, sizeof *s->range);
  s->psi = dj_take(a, nv, d);
  s->forced = dj_take(a, nv, d);
  s->moved = dj_take(a, nv, d);
  P->row = s->row;
  P->G = dj_take(a, n * n, d);
  P->base = dj_take(a, n, d);
  P->B = dj_take(a, n * OWN, d);
  P->stiff = dj_take(a, OWN, d);
  P->p = dj_take(a, OWN, d);
  P->scratch = dj_take(a, (size_t)dj_rowScratch((int)n, OWN), d);
  P->before = dj_take(a, n, sizeof *P->before);
  P->acting = dj_take(a, n, sizeof *P->acting);
}

// ---- rows at the pass's place -----------------------------------------------------------------

typedef struct Gather {
  djRowPass* s;
  djWork* w;
  const djModel* m;
  const djPlace* at;
} Gather;

static djLawRow* nextRow(djRowPass* s, int nv, int plane, int id) {
  if (s->n == s->room) return NULL;
  djLawRow* r = &s->row[s->n];
  *r = (djLawRow){.shared = -1, .turn = -1};
  s->key[s->n][0] = plane;
  s->key[s->n][1] = id;
  memset(s->L + (size_t)s->n * (size_t)nv, 0, (size_t)nv * sizeof(double));
  s->n++;
  return r;
}

static const djLawRow* oldRow(const djRowPass* s, int plane, int id) {
  for (int k = 0; k < s->nold; k++) {
    if (s->old_key[k][0] == plane && s->old_key[k][1] == id) return &s->old[k];
  }
  return NULL;
}

// L (nv) += J (6), by twists of a body.
static void addBody(double* L, const djModel* m, int body, const double* J, const djKin* kin) {
  for (int i = m->body_lastdof[body]; i >= 0; i = m->dof_parent[i]) {
    const double* S = kin->S + 6 * i;
    L[i] += S[0] * J[0] + S[1] * J[1] + S[2] * J[2] + S[3] * J[3] + S[4] * J[4] + S[5] * J[5];
  }
}

static djCurveKind lawOf(djRowKind kind) {
  switch (kind) {
    case DJ_ROW_SHARED: return DJ_CURVE_SHARED;
    case DJ_ROW_SLIP: return DJ_CURVE_SLIP;
    case DJ_ROW_ACROSS: return DJ_CURVE_ACROSS;
    case DJ_ROW_BARRIER:
    default: return DJ_CURVE_BARRIER;
  }
}

// Where a row that joins begins, one that has been there goes on.
static void placeRow(djRowPass* s, djLawRow* r, int plane, int id) {
  const djLawRow* old = oldRow(s, plane, id);
  if (r->kind == DJ_CURVE_ACROSS) {
    const djLawRow* first = oldRow(s, plane, id - 1);
    if (old && first) dj_placeSlip(r - 1, first->at.x, old->at.x);
    else dj_placeSlip(r - 1, 0, 0);
  } else if (r->kind != DJ_CURVE_SLIP) {
    if (old && old->weight == r->weight && old->width == r->width) r->at = old->at;
    else dj_placeForce(r, old ? old->at.F : 0);
  }
}

static bool addPair(void* user, int plane, const djPairRows* rows) {
  const Gather* g = user;
  djRowPass* s = g->s;
  const djPairPlane* pair = &s->plane[plane];
  const int nv = g->m->nv;
  int shared = -1;
  for (int i = 0; i < rows->n; i++) {
    const djContactRow* from = &rows->row[i];
    djLawRow* r = nextRow(s, nv, plane, from->id);
    if (!r) return false;
    int at = s->n - 1;
    r->kind = lawOf(from->kind);
    r->weight = from->weight;
    r->width = from->width;
    r->law = from->law;
    if (r->kind == DJ_CURVE_SHARED) shared = at;
    if (r->kind == DJ_CURVE_BARRIER) r->shared = shared;
    if (r->kind == DJ_CURVE_BARRIER && pair->nown > 0) r->turn = 0;
    memcpy(r->bend, from->bend, sizeof r->bend);
    s->problem.base[at] = from->x;
    double* L = s->L + (size_t)at * (size_t)nv;
    for (int k = 0; k < 2 && r->kind != DJ_CURVE_SHARED; k++) {
      addBody(L, g->m, pair->body[k], from->J + 6 * k, &g->at->kin);
    }
    memcpy(s->problem.B + (size_t)at * DJ_PAIR_OWN, from->B, sizeof from->B);
    placeRow(s, r, plane, from->id);
  }
  return true;
}

// Limits and friction loss: arguments are accelerations.
static bool addCosts(Gather* g) {
  djRowPass* s = g->s;
  const djWork* w = g->w;
  const double h = w->h;
  for (int k = 0; k < w->rows.n; k++) {
    const djEulerRow* from = &w->rows.row[k];
    djLawRow* r = nextRow(s, g->m->nv, -1, k);
    if (!r) return false;
    double x = w->rows.zeta[k], *L = s->L + (size_t)(s->n - 1) * (size_t)g->m->nv;
    for (int i = 0; i < from->n; i++) {
      int d = from->dof[i];
      L[d] += from->J[i] / (h * h);
      x += from->J[i] * (s->psi[d] / h - w->start.qvel[d] - w->kick[d]) / h;
    }
    r->kind = DJ_CURVE_COST;
    r->weight = h * h;
    r->soft = &from->law;
    s->problem.base[s->n - 1] = x;
    const djLawRow* old = oldRow(s, -1, k);
    dj_placeArgument(r, old ? old->at.x : x);
  }
  return true;
}

// Unknowns of all pairs one after another, B of all rows by them; base less B p.
static void numberUnknowns(djRowPass* s) {
  djRowProblem* P = &s->problem;
  P->m = 0;
  for (int k = 0; k < s->npair; k++) {
    djPairPlane* pair = &s->plane[k];
    pair->first = P->m;
    for (int j = 0; j < pair->nown; j++, P->m++) {
      P->p[P->m] = pair->p[j];
      P->stiff[P->m] = pair->stiff[j];
    }
  }
  for (int i = s->n - 1; i >= 0; i--) {   // rows become wider
    double own[DJ_PAIR_OWN], *B = P->B + (size_t)i * (size_t)P->m;
    int k = s->key[i][0];
    if (s->row[i].turn >= 0) s->row[i].turn = s->plane[k].first;
    memcpy(own, P->B + (size_t)i * DJ_PAIR_OWN, sizeof own);
    memset(B, 0, (size_t)P->m * sizeof(double));
    for (int j = 0; k >= 0 && j < s->plane[k].nown; j++) {
      B[s->plane[k].first + j] = own[j];
      P->base[i] -= own[j] * s->plane[k].p[j];
    }
  }
}

// Newton's method finds the minimum of these alone in a step.
static bool allQuadratic(const djRowPass* s, const djEulerRows* rows) {
  bool all = s->npair == 0 && rows->n > 0;
  for (int k = 0; k < rows->n && all; k++) all = rows->row[k].equality >= 0;
  return all;
}

// *same: there was a pass before, and the rows are its. False: there are too many, or some pair has none.
static djStatus gather(bool* found, bool* same, djRowPass* s, djWork* w, const djModel* m,
                       const djPlace* at) {
  Gather g = {s, w, m, at};
  djContacts* contacts = dj_contactsOf(&w->forces);
  djRowVisit visit = {s->plane, DJ_PASS_PAIRS, s->visited, addPair, &g};
  djStatus status = DJ_OK;
  int own = 0;
  size_t n = (size_t)s->n;
  *same = false;
  memcpy(s->old, s->row, n * sizeof *s->old);
  memcpy(s->old_key, s->key, n * sizeof *s->key);
  s->nold = s->n;
  s->n = 0;
  if (contacts) status = dj_visitRows(&s->npair, &visit, contacts, m, at->kin.body);
  *found = status >= 0 && allQuadratic(s, &w->rows);
  if (*found) return status;
  for (int k = 0; k < s->npair; k++) own += s->plane[k].nown;
  *found = status >= 0 && s->npair >= 0 && s->n <= CONTACT_ROWS && own <= OWN && addCosts(&g);
  if (!*found) return status;
  *same = s->n == s->nold && !memcmp(s->key, s->old_key, n * sizeof *s->key);
  dj_pushRowsBack(s->L, s->n - w->rows.n, m, s->psi);
  numberUnknowns(s);
  return status;
}

// ---- responses --------------------------------------------------------------------------------

// y (nv) = h^2 K^-1 L^T F.
static void moveByForces(double* y, const djRowPass* s, const djWork* w, const djModel* m) {
  size_t nv = (size_t)m->nv;
  memset(y, 0, nv * sizeof(double));
  for (int i = 0; i < s->n; i++) {
    const double *L = s->L + (size_t)i * nv, F = w->h * w->h * s->row[i].at.F;
    for (size_t k = 0; k < nv && F != 0; k++) y[k] += F * L[k];
  }
  dj_solve(y, &w->mass);
}

// What rows of limits see of each other beside psi, euler_row.h.
static void addCompliance(double* G, const djRowPass* s, const djWork* w) {
  const int n = s->n, first = n - w->rows.n;
  for (int g = 0; g < w->rows.ngroup && w->rows.mixed; g++) {
    const djRowGroup* group = &w->rows.group[g];
    int at = first + group->first;
    for (int i = 0; i < group->n; i++) {
      for (int k = 0; k < group->n; k++) {
        G[n * (at + i) + at + k] += group->C[group->n * i + k] / (w->h * w->h);
      }
    }
  }
}

// Dofs from the first to the last of the trees that a row is on.
static void setRange(int range[2], const double* L, const djBlocks* trees, int nv) {
  range[0] = nv;
  range[1] = 0;
  for (int t = 0; t < trees->nblock; t++) {
    bool on = false;
    for (int k = trees->adr[t]; k < trees->adr[t + 1] && !on; k++) on = L[k] != 0;
    if (!on) continue;
    if (trees->adr[t] < range[0]) range[0] = trees->adr[t];
    range[1] = trees->adr[t + 1];
  }
}

// G, from h W L^T with W^T W = K^-1, which has zeros where dofs carry no row's bodies.
static void setResponses(djRowPass* s, const djWork* w, const djModel* m) {
  const size_t nv = (size_t)m->nv;
  const int n = s->n;
  for (int i = 0; i < n; i++) {
    double* Y = s->Y + (size_t)i * nv;
    const int* own = s->range[i];
    setRange(s->range[i], s->L + (size_t)i * nv, &w->trees, m->nv);
    for (size_t k = 0; k < nv; k++) Y[k] = w->h * s->L[(size_t)i * nv + k];
    dj_halveDiagonal(Y, &w->mass, own[0], own[1]);
    double* G = s->problem.G + (size_t)n * (size_t)i;
    memset(G, 0, (size_t)(i + 1) * sizeof(double));
    dju_addProducts(G, 1, s->Y + own[0], nv, Y + own[0], i + 1, own[1] - own[0]);
    for (int j = 0; j < i; j++) s->problem.G[n * j + i] = G[j];
  }
  addCompliance(s->problem.G, s, w);
}

// base, whose arguments are those at psi.
static void setBase(djRowPass* s, const djWork* w, const djModel* m) {
  const size_t nv = (size_t)m->nv;
  for (size_t k = 0; k < nv; k++) s->moved[k] = w->drift[k] - s->psi[k];
  dju_addProducts(s->problem.base, 1, s->L, nv, s->moved, s->n, m->nv);
}

// What planes are to know of the solution.
static void keepPlanes(djRowPass* s) {
  const djRowProblem* P = &s->problem;
  for (int k = 0; k < s->npair; k++) {
    djPairPlane* pair = &s->plane[k];
    for (int j = 0; j < pair->nown; j++) pair->p[j] = P->p[pair->first + j];
    for (int i = 0; i < s->n; i++) {
      if (s->key[i][0] != k) continue;
      if (s->row[i].kind == DJ_CURVE_SHARED) pair->p[0] = s->row[i].at.x;
    }
  }
}

// Goes where the forces lead. Returns how far, as a decrement.
static double advance(djRowPass* s, djWork* w, const djModel* m) {
  double sum = 0, *y = w->path_scratch;
  moveByForces(s->forced, s, w, m);
  for (int k = 0; k < m->nv; k++) {
    double psi = w->drift[k] + s->forced[k];
    s->moved[k] = psi - s->psi[k];
    s->psi[k] = psi;
    y[k] = 0;
  }
  dj_mulMatrix(y, 1 / (w->h * w->h), &w->inertia, s->moved);
  for (int k = 0; k < m->nv; k++) sum += y[k] * s->moved[k];
  return sqrt(fabs(sum));
}

static double treeMass(const djModel* m, int body) {
  double sum = 0;
  for (int b = 1; b < m->nbody; b++) {
    if (m->body_root[b] == m->body_root[body]) sum += m->body_mass[b];
  }
  return sum;
}

// Of decrements: what the lightest tree in contact gains in a step by its weight, J^1/2. Newton's
// unit is that of all: a light body that it finds to be solved goes on from here.
static double unitOf(const djRowPass* s, const djModel* m, double h) {
  double least = m->moving_mass;
  for (int k = 0; k < s->npair; k++) {
    for (int i = 0; i < 2; i++) {
      int b = s->plane[k].body[i];
      if (m->body_lastdof[b] >= 0) least = fmin(least, treeMass(m, b));
    }
  }
  return m->contact.gravity * h * sqrt(fmax(fmax(least, LIGHTEST * m->moving_mass), 1e-300));
}

djStatus dj_passRows(bool* found, bool* exact, double* psi, djWork* w, const djModel* m) {
  djRowPass* s = &w->pass;
  djPlace* at = &w->trial;
  double change = 1;
  bool solved = true;
  s->npair = s->n = 0;
  s->left = 0;
  memcpy(s->psi, w->drift, (size_t)m->nv * sizeof(double));
  *found = *exact = false;
  if (m->nv > MOST_DOFS) return DJ_OK;
  for (int pass = 0; pass < MOST_PASSES; pass++) {
    bool same;
    if (pass == 0) {
      dj_copyPlace(at, m, &w->ahead);
    } else {
      dj_integratePos(at->q, m, w->start.qpos, s->psi, 1);
      dj_setPlaceAt(at, w, m, w->stage_part);
    }
    dj_openPlace(at, m, w->ref);
    djStatus status = gather(found, &same, s, w, m, at);
    if (status < 0 || !*found) return status;
    *found = s->n > 0 || pass == 0;
    // Without contact arguments are linear in psi: that of the pass before is the minimum.
    *exact = same && s->npair == 0 && solved && !dj_pullsAfar(dj_contactsOf(&w->forces), m);
    if (s->n == 0 || (same && s->npair == 0)) break;
    setResponses(s, w, m);
    setBase(s, w, m);
    s->problem.n = s->n;
    double unit = unitOf(s, m, w->h);
    double tolerance = unit * (s->npair ? fmax(INNER * fmin(change, 1), LEAST_INNER) : ALL);
    w->count.passes++;
    w->count.rows = s->n;
    w->count.inner_iterations += dj_solveRows(&s->left, &s->problem, tolerance, pass == 0);
    *found = s->left < SOLVED * unit;
    solved = s->left <= tolerance;
    if (!*found) return DJ_OK;
    keepPlanes(s);
    const double before = pass > 0 ? change : 0;
    change = advance(s, w, m) / unit;
    *found = change < CLOSE;
    if (!(change * fmin(1, change / before) > DONE)) break;   // moves shrink by the same factor
  }
  memcpy(psi, s->psi, (size_t)m->nv * sizeof(double));
  return DJ_OK;
}
