#include "integrate/solve_stage.h"

#include "base/status.h"
#include "force/hold.h"
#include "integrate/carry.h"
#include "integrate/row_pass.h"
#include "integrate/stage_problem.h"
#include "solve/root.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static const double AGREED = 1e-9; // of the tolerance: by which solutions may differ unnoticed
static const double GUESSED = 10;  // from where guesses of rows are worth a start, of the unit

// ---- start of a stage -------------------------------------------------------------------------

// The energy of the start is infinite: because shapes overlap, or by overflow.
static djStatus failStart(djWork* w, const djModel* m) {
  double value;
  bool majorized;
  djMotion motion = dj_motionAt(w, m, &w->begin);
  djStatus status = dj_findForces(&value, &majorized, &w->forces, &motion, 0);
  if (status < 0) return status;
  if (!isfinite(value)) return dj_failInfinite(&w->error, dj_contactsOf(&w->forces), m);
  return dj_fail(&w->error, DJ_INVALID, "state or inputs: too large, their energy overflows");
}

// The present iterate: q (+) f psi of the lowest energy for f = 1, 1/2, 1/4, 0, psi the method's
// prediction or what keeps the velocity, with the relative approach of contact pairs limited.
// Energies that differ by less than the tolerance squared are equal.
static djStatus startGuess(djStageProblem* p) {
  djWork* w = p->work;
  const djModel* m = p->model;
  dj_copyPlace(&w->now, m, &w->begin);
  double factor, best, value, stop = m->opt.tolerance * p->unit, tiny = stop * stop;
  p->predicted = w->method->predicts;
  for (int i = 0; i < m->nv; i++) {
    w->step[i] =
        p->predicted ? w->drift[i] : w->stage_h * w->start.qvel[i] + (w->drifts ? w->drift[i] : 0);
  }
  djStatus status = dj_maxStageStep(p, &factor, w->step);
  if (status < 0) return status;
  status = p->method->evaluate(&best, NULL, w, m, &w->now, NULL);
  if (status < 0) return status;
  if (!isfinite(best)) return failStart(w, m);
  for (int k = 0; k < 3; k++) {
    dj_setStageTrial(p, w->step, factor);
    status = p->method->evaluate(&value, NULL, w, m, &w->trial, NULL);
    if (status < 0) return status;
    if (value < best) {
      dj_acceptStage(p);
      return DJ_OK;
    }
    if (value - best <= tiny) return DJ_OK;
    factor *= 0.5;
  }
  return DJ_OK;
}

// The present iterate by passes over rows, if they find one, or p->exact.
static djStatus rowGuess(bool* found, djStageProblem* p) {
  djWork* w = p->work;
  const djModel* m = p->model;
  double fraction;
  *found = p->exact = false;
  if (!w->method->rows || dj_isAhead(w)) return DJ_OK;
  djStatus status = dj_passRows(found, &p->exact, w->step, w, m);
  if (status < 0 || !*found) return status;
  dj_copyPlace(&w->now, m, &w->begin);
  p->predicted = false;
  if (p->exact) {
    w->trial_carried = w->stage_part;
    status = dj_capStageTrial(&fraction, w, m);
    p->trial_fraction = 1;
  } else {
    status = dj_maxStageStep(p, &fraction, w->step);
  }
  if (status < 0) return status;
  *found = fraction == 1;
  p->exact = p->exact && *found;
  if (!*found) return status;
  dj_setStageTrial(p, w->step, 1);
  dj_acceptStage(p);
  return status;
}

// The present iterate is the start, which may be the end where all is slow.
static bool restGuess(djStageProblem* p) {
  djWork* w = p->work;
  const djModel* m = p->model;
  double sum = 0;
  dj_copyPlace(&w->now, m, &w->begin);
  dj_openPlace(&w->now, m, w->ref);
  dj_setStageScale(p);
  for (int i = 0; i < m->nv; i++) {
    double move = w->stage_h * w->start.qvel[i];
    sum += w->scale[i] * move * move;
  }
  return sum <= DJ_STAGE_NEAR * DJ_STAGE_NEAR * p->unit * p->unit;
}

bool dj_lagsEnd(const djWork* w, const djModel* m) {
  return m->opt.friction == DJ_FRICTION_IMPLICIT && dj_contactsOf(&w->forces);
}

// ---- what is by the end -----------------------------------------------------------------------

// What hard equality constraints are off by, of their size: where solutions stop, of the tolerance,
// and what passes where rounding stops them before.
static const double HELD = 1e-6, HELD_ROUNDED = 1e-9;

// Solutions one after the other until they hold.
static djStatus solveHolds(djNewtonResult* result, djStageProblem* p, djStatus status) {
  djWork* w = p->work;
  djHold* hold = dj_holdsOf(&w->forces, p->model);
  double before = INFINITY;
  while (hold && status >= 0) {
    djMotion motion = dj_motionAt(w, p->model, &w->now);
    double off = dj_holdError(hold, &motion);
    if (off <= HELD * p->model->opt.tolerance) break;
    if (!(off < 0.5 * before)) return off <= HELD_ROUNDED ? status : DJ_NOT_CONVERGED;
    before = off;
    dj_moveHolds(hold, &motion);
    w->count.hold_attempts++;
    int iterations = result->iterations;
    status = dj_solveFrom(result, p);
    result->iterations += iterations;
  }
  return status;
}

// What is by an iterate of the end is by the present one, friction too where it is; and the
// residual's size over the masses.
static djStatus lagHere(double* size, djStageProblem* p) {
  djWork* w = p->work;
  const djModel* m = p->model;
  double value;
  bool majorizer = false;
  djStatus status = DJ_OK;
  if (dj_lagsEnd(w, m)) {
    dj_copyPlace(&w->lag, m, &w->now);
    w->lags = true;
    dj_keepHolds(&w->forces, true);
    status = dj_beginStage(w, m, w->method);
    dj_keepHolds(&w->forces, false);
  } else {
    w->method->relag(w, m);
  }
  if (status >= 0) status = dj_evaluateStage(p, &value, w->gradient, &majorizer);
  if (status < 0) return status;
  *size = sqrt(dj_stageSize(p, w->gradient));
  return DJ_OK;
}

// A step of Newton's method with all that depends on the end, after lagHere; *moved: it has halved
// *size, or was below `stop`, *solved. Else all is as before.
static djStatus stepLag(bool* moved, bool* solved, double* size, double* decrement,
                        djStageProblem* p, double stop) {
  djWork* w = p->work;
  const djModel* m = p->model;
  double before = *size, fraction, value, sum = 0;
  *moved = *solved = false;
  djStageWork* stage = dj_stageOf(w);
  djStatus status = dj_factorEnd(w, m);
  if (status == DJ_SINGULAR) w->error.text[0] = 0; // to be solved otherwise
  if (status != DJ_OK) return status == DJ_SINGULAR ? DJ_OK : status;
  for (int i = 0; i < m->nv; i++) w->step[i] = -w->gradient[i];
  dj_solve(w->step, stage->pivoted ? &stage->lu : &stage->linear.factor);
  for (int i = 0; i < m->nv; i++) sum -= w->gradient[i] * w->step[i];
  *decrement = sqrt(fabs(sum));
  *solved = *decrement <= stop;
  status = dj_maxStageStep(p, &fraction, w->step);
  if (status < 0) return status;
  dj_setStageTrial(p, w->step, fraction);
  status = p->method->evaluate(&value, NULL, w, m, &w->trial, NULL);
  if (status < 0 || !isfinite(value)) return status;
  dj_acceptStage(p);
  status = lagHere(size, p);
  *moved = *solved || *size < 0.5 * before;
  if (status < 0 || *moved) return status;
  dj_swapPlaces(&w->now, &w->trial);
  return lagHere(size, p);
}

// Of spins: what is left then is momentum, to the error of the last but one.
enum { MOST_LAGS = 50, MOST_SPIN_LAGS = 4 };

// By the end what was by the start or a prediction, after a solution with that: Newton's method as
// it is where it converges, which has no energy to go by, else a solution by the last iterate.
// There may be none.
static djStatus solveLags(djNewtonResult* result, djStageProblem* p) {
  double stop = p->model->opt.tolerance * p->unit, size;
  int refined = 0;
  p->work->count.lag_attempts++;
  djStatus status = lagHere(&size, p);
  for (int k = 0; k < MOST_LAGS && status >= 0; k++) {
    bool moved, solved;
    status = stepLag(&moved, &solved, &size, &result->decrement, p, stop);
    result->exact = true;
    if (status < 0 || (solved && refined++ >= p->work->refinement_steps)) return status;
    result->iterations++;
    if (moved) continue;
    int before = result->iterations;
    status = dj_solveFrom(result, p);
    result->iterations += before;
    if (k + 1 >= MOST_SPIN_LAGS && !dj_lagsEnd(p->work, p->model)) return status;
    if (status >= 0) status = lagHere(&size, p);
  }
  result->exhausted = status >= 0;
  return status < 0 ? status : DJ_NOT_CONVERGED;
}

// ---- roots ------------------------------------------------------------------------------------

static djStatus evaluateRoot(void* user, double* size, double* residual) {
  djStageProblem* p = user;
  double value;
  bool majorizer = false;
  djStatus status = dj_evaluateStage(p, &value, residual, &majorizer);
  if (status >= 0) *size = isfinite(value) ? dj_stageSize(p, residual) : INFINITY;
  return status;
}

static djStatus findDirection(void* user, double* step, const double* residual) {
  djStageProblem* p = user;
  djWork* w = p->work;
  djStageWork* stage = dj_stageOf(w);
  djStatus status = dj_factorEnd(w, p->model);
  if (status == DJ_SINGULAR) w->error.text[0] = 0;
  if (status != DJ_OK) return status;
  for (int i = 0; i < p->model->nv; i++) step[i] = -residual[i];
  dj_solve(step, stage->pivoted ? &stage->lu : &stage->linear.factor);
  return DJ_OK;
}

static djStatus tryRoot(void* user, double* size, double* residual, const double* step,
                        double fraction) {
  djStageProblem* p = user;
  double value;
  bool majorizer = false;
  djStatus status = dj_tryStage(p, &value, residual, step, fraction, &majorizer);
  if (status >= 0) *size = isfinite(value) ? dj_stageSize(p, residual) : INFINITY;
  return status;
}

static djStatus solveRoot(djNewtonResult* result, djStageProblem* p) {
  djWork* w = p->work;
  const djModel* m = p->model;
  const djRootProblem root = {m->nv,           p,       evaluateRoot,  findDirection,
                              dj_maxStageStep, tryRoot, dj_acceptStage};
  const djRootOption option = {.tolerance = m->opt.tolerance * p->unit,
                               .max_iterations = m->opt.max_iterations,
                               .refinement_steps = w->refinement_steps};
  p->predicted = false;
  p->path = 0;
  return dj_root(result, &root, &option, w->gradient, w->step);
}

// ---- attempts ---------------------------------------------------------------------------------

// The present iterate becomes where an attempt begins, *found, if there is such a place.

// Where a solution should be near, if it is.
static djStatus beginNear(bool* found, djStageProblem* p) {
  *found = p->carried;
  djStatus status = p->carried ? DJ_OK : rowGuess(found, p);
  if (status < 0) return status;
  p->near = *found ? GUESSED : DJ_STAGE_NEAR;
  *found = *found || restGuess(p);
  return status;
}

// The minimum over rows is all that is asked for: nothing else acts, and to no more digits.
static bool isRowProblem(const djStageProblem* p) {
  const djWork* w = p->work;
  return w->kind == DJ_LDL && w->refinement_steps == 0 && !dj_holdsOf(&w->forces, p->model);
}

// The present iterate, w->step from the start, is the solution, unless something turns by more than
// half a turn, which poses do not tell. What contact and rows are there.
static djStatus endExact(djNewtonResult* result, djStageProblem* p) {
  djWork* w = p->work;
  double value, off = 0;
  *result = (djNewtonResult){.decrement = w->pass.left, .exact = true};
  w->count.evaluations++;
  djStatus status = p->method->evaluate(&value, NULL, w, p->model, &w->now, NULL);
  if (status < 0) return status;
  const double* psi = dj_stageOf(w)->linear.psi;
  for (int i = 0; i < p->model->nv; i++) off = fmax(off, fabs(psi[i] - w->step[i]));
  return isfinite(value) && off < 1 ? DJ_OK : DJ_NOT_CONVERGED;
}

static djStatus solveNear(djNewtonResult* result, djStageProblem* p) {
  return p->exact && isRowProblem(p) ? endExact(result, p) : dj_solveFrom(result, p);
}

static djStatus beginGuess(bool* found, djStageProblem* p) {
  *found = true;
  p->near = 0;
  return p->carried ? DJ_OK : startGuess(p);
}

// Where forces have no energy and kinks: work along a path is no merit where it depends on the
// path, and leads in circles.
static bool isKinked(const djStageProblem* p) {
  return dj_kinkedContacts(dj_contactsOf(&p->work->forces));
}

static djStatus stayHere(bool* found, djStageProblem* p) {
  *found = isKinked(p);
  return DJ_OK;
}

static djStatus guessAnew(bool* found, djStageProblem* p) {
  *found = isKinked(p);
  return *found ? startGuess(p) : DJ_OK;
}

static djStatus beginAtStart(bool* found, djStageProblem* p) {
  *found = isKinked(p);
  if (*found) dj_copyPlace(&p->work->now, p->model, &p->work->begin);
  return DJ_OK;
}

typedef struct Attempt {
  djStatus (*begin)(bool* found, djStageProblem* problem);
  djStatus (*solve)(djNewtonResult* result, djStageProblem* problem);
  size_t count; // where djStats has its number
} Attempt;

// In order, until one finds a solution; what they cost is that of their iterations.
static const Attempt attempts[] = {
    {beginNear, solveNear, offsetof(djStats, near_attempts)},
    {beginGuess, dj_solveFrom, offsetof(djStats, guess_attempts)},
    {stayHere, solveRoot, offsetof(djStats, root_attempts)},
    {guessAnew, solveRoot, offsetof(djStats, root_attempts)},
    {beginAtStart, solveRoot, offsetof(djStats, root_attempts)},
};

enum { NATTEMPT = sizeof attempts / sizeof *attempts };

static djStatus attemptStage(djNewtonResult* result, djStageProblem* p) {
  djStatus status = DJ_NOT_CONVERGED;
  result->iterations = 0;
  for (int k = 0; k < NATTEMPT && status == DJ_NOT_CONVERGED; k++) {
    const int before = result->iterations;
    bool found;
    djStatus begun = attempts[k].begin(&found, p);
    if (begun < 0) return begun;
    if (!found) continue;
    ++*(int*)(void*)((char*)&p->work->count + attempts[k].count);
    status = attempts[k].solve(result, p);
    result->iterations += before;
  }
  p->near = 0;
  return status;
}

djStatus dj_solveStage(djNewtonResult* result, djWork* w, const djModel* m, double unit) {
  djStageProblem problem = {.work = w, .model = m, .method = w->method, .unit = unit};
  double stop = m->opt.tolerance * unit;
  w->lags = false;
  dj_stageOf(w)->linear.factor.kind = w->kind; // not that of the last step's end
  djStatus status = dj_beginStage(w, m, w->method);
  djNewtonProblem carry = dj_stageNewton(&problem);
  if (status >= 0 && w->carries) status = dj_carry(&problem.carried, &carry, w, m);
  problem.iterate = 0;
  if (status < 0 || w->jams) return status;
  status = solveHolds(result, &problem, attemptStage(result, &problem));
  if (status < 0) return status;
  dj_settle(w, m);
  bool moved = w->method->relag && w->method->relag(w, m) > AGREED * stop;
  if (moved || dj_lagsEnd(w, m)) {
    status = solveLags(result, &problem);
    if (status < 0) return status;
    dj_settle(w, m);
  }
  djStageWork* s = dj_stageOf(w);
  memcpy(s->q, w->now.q, (size_t)m->nq * sizeof(double));
  dj_differentiatePos(s->linear.psi, m, 1, w->start.qpos, s->q);
  return status;
}
