#include "couple.h"

#include "import.h"

#include <math.h>

// With our step's contact force F(r) and the answer G of MuJoCo's solver to it, r = G(F(r)) is
// sought. A body m_a in our contact that carries m_b by a weld answers an error of r with
// m_b/(m_a + m_b) of it: plain substitution is slow. The next guess is that of Anderson's method,
//   r+ = g_k - sum_j c_j (g_k - g_{k-j}),   c minimises |e_k - sum_j c_j (e_k - e_{k-j})|^2,
// with answers g_k = G(F(r_k)) and errors e_k = g_k - r_k, in the norm of M^-1. A guess much worse
// than the best so far is followed by the best one's answer, and the method begins anew: the errors
// of plain substitution fall. After MAX_GUESSES the best guess is kept. Derivatives by differences
// need errors far below those that matter to a step: the last digits cost a guess or two.

enum { DEPTH = 5, MAX_GUESSES = 40, NKEPT = 6 };
static const double kMuchWorse = 3;
static const double kAim = 1e-4;     // of the tolerance
static const int kPatience = 4;      // guesses that may bring nothing once within the tolerance

// Memory: r; the answers, errors and M^-1 errors of the last DEPTH + 1 guesses; the best guess and
// its answer; copies of outputs.
size_t djm_coupleWork(const mjModel* m) {
  return (size_t)((3 + 3 * (DEPTH + 1) + NKEPT) * m->nv + m->nout + m->na) + 1;
}

void djm_startCouple(djmCouple* couple, const mjModel* m, mjtNum* work) {
  int nv = (int)m->nv;
  *couple = (djmCouple){.nv = nv, .best = INFINITY, .r = work, .best_r = work + nv,
                        .best_g = work + 2 * nv, .memory = work + 3 * nv};
  mju_zero(couple->r, nv);
}

static bool isFriction(const mjData* d, int row) {
  return d->efc_type[row] == mjCNSTR_FRICTION_DOF || d->efc_type[row] == mjCNSTR_FRICTION_TENDON;
}

static bool isEquality(const mjData* d, int row) { return d->efc_type[row] == mjCNSTR_EQUALITY; }

// Limits and friction loss of joints and tendons, and equality constraints that our step has.
static bool isOurRow(const mjModel* m, const mjData* d, int row) {
  int type = d->efc_type[row];
  if (type == mjCNSTR_EQUALITY) return djm_equalityKept(m, d->efc_id[row]);
  return type == mjCNSTR_LIMIT_JOINT || type == mjCNSTR_FRICTION_DOF ||
         type == mjCNSTR_LIMIT_TENDON || type == mjCNSTR_FRICTION_TENDON;
}

static const mjtNum kSoft = 1e15;   // more than any row's own inverse inertia

// Newton's method and CG go by the stiffness D, of islands by their copy; PGS by J M^-1 J^T + R.
static void dropEquality(const mjModel* m, mjData* d, int row) {
  d->efc_D[row] = 0;
  if (d->nisland > 0) d->iefc_D[d->map_efc2iefc[row]] = 0;
  if (m->opt.solver != mjSOL_PGS || !d->efc_AR) return;
  if (!mj_isSparse(m)) d->efc_AR[row * d->nefc + row] = kSoft;
  for (int k = 0; mj_isSparse(m) && k < d->efc_AR_rownnz[row]; k++) {
    int at = d->efc_AR_rowadr[row] + k;
    if (d->efc_AR_colind[at] == row) d->efc_AR[at] = kSoft;
  }
}

// Friction is bounded by 0. Limits are out of reach: MuJoCo has yet to find reference accelerations
//   aref = -b v - k d (pos - margin),  (k, b, d) = efc_KBIP,  d > 1e-5,
// and a limit whose aref is far below any acceleration has no force. Equality constraints have no
// stiffness. Rows are made anew with the next positions.
void djm_dropOurRows(const mjModel* m, mjData* d, bool equalities) {
  for (int i = 0; i < d->nefc; i++) {
    if (!isOurRow(m, d, i)) continue;
    if (isEquality(d, i)) {
      if (equalities) dropEquality(m, d, i);
      continue;
    }
    d->efc_frictionloss[i] = 0;
    if (d->nisland > 0) d->iefc_frictionloss[d->map_efc2iefc[i]] = 0;   // copied with the islands
    if (isFriction(d, i)) continue;
    d->efc_KBIP[4 * i] = 1;
    d->efc_pos[i] = d->efc_margin[i] + 1e15;
  }
}

// Rows that were dropped have neither a bound on friction nor a limit within reach.
bool djm_hasConstraints(const mjModel* m, const mjData* d) {
  for (int i = 0; i < d->nefc; i++) {
    bool dropped = isFriction(d, i)   ? d->efc_frictionloss[i] == 0
                   : isEquality(d, i) ? d->efc_D[i] == 0
                                      : d->efc_pos[i] > 1e14;
    if (!isOurRow(m, d, i) || !dropped) return true;
  }
  return false;
}

// ------------------------------ MuJoCo's answer --------------------------------------------------

static void copyOutputs(mjtNum* to, const mjModel* m, mjData* d, bool back) {
  mjtNum* field[] = {d->qacc,            d->qacc_smooth,   d->qfrc_smooth, d->qfrc_passive,
                     d->qfrc_constraint, d->qfrc_actuator, d->actuator_force, d->act_dot};
  int nv = (int)m->nv, size[] = {nv, nv, nv, nv, nv, nv, (int)m->nout, (int)m->na};
  for (int k = 0; k < 8; to += size[k++]) {
    mju_copy(back ? field[k] : to, back ? to : field[k], size[k]);
  }
}

// force (nv) of MuJoCo's constraints, with d->qfrc_passive.
static void answer(mjtNum* force, const mjModel* m, mjData* d, mjtNum* kept) {
  mjModel own = *m;
  own.nplugin = 0;
  copyOutputs(kept, m, d, false);
  mj_fwdVelocity(&own, d);    // bias and reference accelerations of constraints
  mju_copy(d->qfrc_passive, kept + 3 * m->nv, (int)m->nv);
  mj_forwardSkip(m, d, mjSTAGE_VEL, 1);
  mj_mulJacTVec(m, d, force, d->efc_force);
  copyOutputs(kept, m, d, true);
}

// ------------------------------ the next guess ---------------------------------------------------

// Solve A x = b in place by Cholesky's factors, A (n x n) positive; pivots that are lost drop their
// unknown.
static void solvePositive(double* x, double A[DEPTH][DEPTH], int n) {
  for (int j = 0; j < n; j++) {
    double size = A[j][j];
    for (int k = 0; k < j; k++) A[j][j] -= A[j][k] * A[j][k];
    bool lost = !(A[j][j] > 1e-12 * size);
    A[j][j] = lost ? 0 : sqrt(A[j][j]);
    for (int i = j + 1; i < n; i++) {
      for (int k = 0; k < j; k++) A[i][j] -= A[i][k] * A[j][k];
      A[i][j] = lost ? 0 : A[i][j] / A[j][j];
    }
  }
  for (int j = 0; j < n; j++) {
    for (int k = 0; k < j; k++) x[j] -= A[j][k] * x[k];
    x[j] = A[j][j] > 0 ? x[j] / A[j][j] : 0;
  }
  for (int j = n - 1; j >= 0; j--) {
    for (int k = j + 1; k < n; k++) x[j] -= A[k][j] * x[k];
    x[j] = A[j][j] > 0 ? x[j] / A[j][j] : 0;
  }
}

// Row i of the memory: g, e and M^-1 e of a guess.
static mjtNum* row(const djmCouple* c, int guess) {
  return c->memory + (size_t)(guess % (DEPTH + 1)) * 3 * c->nv;
}

static void extrapolate(djmCouple* c) {
  int nv = c->nv, n = c->count < DEPTH ? c->count : DEPTH;
  const mjtNum* now = row(c, c->count);
  double A[DEPTH][DEPTH] = {{0}}, x[DEPTH] = {0};
  for (int i = 0; i < n; i++) {
    const mjtNum* a = row(c, c->count - 1 - i);
    x[i] = 0;
    for (int k = 0; k < nv; k++) x[i] += (now[nv + k] - a[nv + k]) * now[2 * nv + k];
    for (int j = 0; j <= i; j++) {
      const mjtNum* b = row(c, c->count - 1 - j);
      A[i][j] = 0;
      for (int k = 0; k < nv; k++) {
        A[i][j] += (now[nv + k] - a[nv + k]) * (now[2 * nv + k] - b[2 * nv + k]);
      }
    }
  }
  solvePositive(x, A, n);
  mju_copy(c->r, now, nv);
  for (int i = 0; i < n; i++) {
    const mjtNum* a = row(c, c->count - 1 - i);
    for (int k = 0; k < nv; k++) c->r[k] -= x[i] * (now[k] - a[k]);
  }
}

bool djm_nextCouple(djmCouple* c, const mjModel* m, mjData* d, double tolerance) {
  int nv = c->nv;
  mju_subFrom(d->qfrc_passive, c->r, nv);
  if (c->total == MAX_GUESSES) return false;
  mjtNum *now = row(c, c->count), *error = now + nv, *scaled = now + 2 * nv;
  answer(now, m, d, c->memory + 3 * (DEPTH + 1) * nv);
  mj_solveM(m, d, scaled, now, 1);
  double weight = 9.81 * 9.81 * m->body_subtreemass[0] + mju_dot(now, scaled, nv);
  mju_sub(error, now, c->r, nv);
  mj_solveM(m, d, scaled, error, 1);
  double size = mju_dot(error, scaled, nv);
  if (!(size > pow(kAim * tolerance, 2) * weight)) return false;
  c->total++;
  if (size < c->best) {
    c->best = size;
    c->since = 0;
    mju_copy(c->best_r, c->r, nv);
    mju_copy(c->best_g, now, nv);
  } else {
    c->since++;
  }
  bool stalls = c->since >= kPatience && c->best <= tolerance * tolerance * weight;
  if (stalls || c->total == MAX_GUESSES) {
    c->total = MAX_GUESSES;
    if (c->since == 0) return false;
    mju_copy(c->r, c->best_r, nv);
  } else if (size > kMuchWorse * kMuchWorse * c->best && c->count > 1) {
    mju_copy(c->r, c->best_g, nv);
    c->count = 0;
  } else {
    extrapolate(c);
    c->count++;
  }
  return true;
}
