#include "integrate/solve_stage.h"

#include "base/status.h"
#include "force/hold.h"
#include "integrate/carry.h"
#include "integrate/row_pass.h"
#include "solve/newton.h"
#include "solve/root.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static const double AGREED = 1e-9;   // of the tolerance: by which solutions may differ unnoticed
static const double NEAR = 0.05;     // from where no step needs easing, and an eased one leaps
static const double ROUNDING = 2e-15;
static const double GUESSED = 10;    // from where guesses of rows are worth a start, of the unit
enum { MOST_KINKED = 20 };           // iterations, where forces have kinks
enum { PLAIN = 9 };                  // before friction is eased

typedef struct Problem {
  djWork* work;
  const djModel* model;
  const djMethod* method;
  bool scaled;             // work->scale holds this step's
  int iterate;             // accepted points, from 1; 0: not yet in Newton's method
  djEase ease;
  double unit;             // of the decrement
  bool predicted;          // the step is the method's prediction, work->ahead
  double near;             // as of djNewtonOption, of the unit
  bool carried;            // the present iterate is where a solution may be, dj_carry
  double trial_fraction;   // of the present step at which the trial point stands; 0: none
  double path, trial_path; // work of work->nonpotential up to the present and the trial point
} Problem;

// ---- callbacks of Newton's method -------------------------------------------------------------

// Where the residual has a part without a potential, its work along the steps taken and the trial
// one stands in: the trapezoidal rule on either.
static bool hasPath(const Problem* p) { return p->work->kind == DJ_LDU; }

static djStatus evaluateNow(void* user, double* value, double* gradient, bool* majorizer) {
  Problem* p = user;
  djWork* w = p->work;
  dj_openPlace(&w->now, p->model, w->ref);
  w->count.evaluations++;
  djStatus status = p->method->evaluate(value, gradient, w, p->model, &w->now, majorizer);
  if (status < 0 || !hasPath(p)) return status;
  *value += p->path;
  memcpy(w->nonpotential_now, w->nonpotential, (size_t)p->model->nv * sizeof(double));
  return status;
}

// Contact knows which point a trial starts from, and whether it is eased.
static void countIterate(Problem* p) {
  dj_easeContacts(dj_contactsOf(&p->work->forces), p->ease, ++p->iterate);
}

static djStatus evaluateHere(void* user, double* value, double* gradient, bool* majorizer) {
  djStatus status = evaluateNow(user, value, gradient, majorizer);
  countIterate(user);
  return status;
}

// Anew at a point that contact still has its blocks of, or what it has learned since.
static djStatus evaluateAgain(Problem* p, double* value, double* gradient, bool majorizer) {
  djContacts* contacts = dj_contactsOf(&p->work->forces);
  dj_replayContacts(contacts, p->work->now.kin.body);
  djStatus status = evaluateNow(p, value, gradient, &majorizer);
  dj_replayContacts(contacts, NULL);
  return status;
}

static djStatus convexify(void* user, double* value, double* gradient, double share) {
  djWork* w = ((Problem*)user)->work;
  w->convexity = share;
  djStatus status = evaluateAgain(user, value, gradient, true);
  w->convexity = 0;
  return status;
}

static djStatus learn(void* user, bool* found, double* gradient, double excess) {
  Problem* p = user;
  double value;
  int n;
  djStatus status = dj_meetContacts(&n, dj_contactsOf(&p->work->forces), p->model, excess);
  *found = status >= 0 && n > 0;
  return *found ? evaluateAgain(p, &value, gradient, false) : status;
}

// What is shifted is inertia: contact's stiffness would damp the soft directions for nothing.
static void setScale(Problem* p) {
  djWork* w = p->work;
  if (p->scaled) return;
  dj_massDiagonal(w->scale, w->M, p->model, &w->now.kin, w->ref);
  for (int i = 0; i < p->model->nv; i++) w->scale[i] /= w->time * w->time;
  p->scaled = true;
}

static bool factor(void* user, double shift) {
  Problem* p = user;
  djWork* w = p->work;
  w->count.factorizations++;
  if (shift == 0) return dj_factor(&dj_stageOf(w)->linear.factor, &w->H, NULL);
  setScale(p);
  for (int i = 0; i < p->model->nv; i++) w->shift[i] = shift * w->scale[i];
  return dj_factor(&dj_stageOf(w)->linear.factor, &w->H, w->shift);
}

static void solve(void* user, double* x) {
  Problem* p = user;
  dj_solve(x, &dj_stageOf(p->work)->linear.factor);
}

// The trial point of a new step is set once for its limit and the first trial.
static void setTrial(Problem* p, const double* step, double fraction) {
  djWork* w = p->work;
  if (p->trial_fraction == fraction) return;
  p->trial_fraction = fraction;
  if (p->predicted && fraction == 1) {
    dj_copyPlace(&w->trial, p->model, &w->ahead);
    w->trial_carried = w->stage_part;
    return;
  }
  dj_integratePos(w->trial.q, p->model, w->now.q, step, fraction);
  dj_setTrialPlace(w, p->model, fraction);
}

static djStatus maxStep(void* user, double* fraction, const double* step) {
  Problem* p = user;
  djWork* w = p->work;
  p->trial_fraction = 0;
  *fraction = 1;
  if (!dj_contactsOf(&w->forces)) return DJ_OK;
  setTrial(p, step, 1);
  djMotion motion = dj_motionAt(w, p->model, &w->now);
  return dj_maxStep(fraction, &w->forces, &motion, &w->trial.kin);
}

static djStatus trial(void* user, double* value, double* gradient, const double* step,
                      double fraction, bool* majorizer) {
  Problem* p = user;
  djWork* w = p->work;
  if (!gradient) p->trial_fraction = 0;   // a full step without a limit
  setTrial(p, step, fraction);
  if (gradient || dj_contactsUseTwists(dj_contactsOf(&w->forces))) {
    dj_openPlace(&w->trial, p->model, w->ref);
  }
  w->count.evaluations += gradient != NULL;
  djStatus status = p->method->evaluate(value, gradient, w, p->model, &w->trial, majorizer);
  p->trial_path = p->path;
  if (status < 0 || !hasPath(p) || !gradient || !isfinite(*value)) return status;
  for (int i = 0; i < p->model->nv; i++) {
    p->trial_path += 0.5 * fraction * step[i] * (w->nonpotential_now[i] + w->nonpotential[i]);
  }
  *value += p->trial_path;
  return status;
}

static void swapPlaces(djPlace* a, djPlace* b) {
  djPlace place = *a;
  *a = *b;
  *b = place;
}

static void accept(void* user) {
  Problem* p = user;
  djWork* w = p->work;
  swapPlaces(&w->now, &w->trial);
  w->carried = w->trial_carried;
  p->trial_fraction = 0;
  if (p->iterate > 0) countIterate(p);
  if (!hasPath(p)) return;
  p->path = p->trial_path;
  memcpy(w->nonpotential_now, w->nonpotential, (size_t)p->model->nv * sizeof(double));
}

// The gradient's size over the masses, squared.
static double sizeOf(Problem* p, const double* gradient) {
  double sum = 0;
  setScale(p);
  for (int i = 0; i < p->model->nv; i++) sum += gradient[i] * gradient[i] / p->work->scale[i];
  return sum;
}

static bool ease(void* user) {
  Problem* p = user;
  djWork* w = p->work;
  if (!dj_canEaseContacts(dj_contactsOf(&w->forces))) return false;
  p->ease = DJ_EASED;
  countIterate(p);
  return true;
}

static void unease(void* user, bool foresee) {
  Problem* p = user;
  p->ease = foresee ? DJ_EASE_FORESEEN : DJ_EASE_NONE;
  dj_easeContacts(dj_contactsOf(&p->work->forces), p->ease, p->iterate);
}

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
// Energies that differ by less than `tiny` are equal.
static djStatus startGuess(Problem* p, double tiny) {
  djWork* w = p->work;
  const djModel* m = p->model;
  dj_copyPlace(&w->now, m, &w->begin);
  double factor, best, value;
  p->predicted = w->method->predicts;
  for (int i = 0; i < m->nv; i++) {
    w->step[i] = p->predicted ? w->drift[i]
                              : w->time * w->start.qvel[i] + (w->drifts ? w->drift[i] : 0);
  }
  djStatus status = maxStep(p, &factor, w->step);
  if (status < 0) return status;
  status = p->method->evaluate(&best, NULL, w, m, &w->now, NULL);
  if (status < 0) return status;
  if (!isfinite(best)) return failStart(w, m);
  for (int k = 0; k < 3; k++) {
    setTrial(p, w->step, factor);
    status = p->method->evaluate(&value, NULL, w, m, &w->trial, NULL);
    if (status < 0) return status;
    if (value < best) {
      accept(p);
      return DJ_OK;
    }
    if (value - best <= tiny) return DJ_OK;
    factor *= 0.5;
  }
  return DJ_OK;
}

// The present iterate by passes over rows, if they find one.
static djStatus rowGuess(bool* found, Problem* p) {
  djWork* w = p->work;
  const djModel* m = p->model;
  double fraction;
  *found = false;
  if (!w->method->rows || dj_isAhead(w)) return DJ_OK;
  djStatus status = dj_passRows(found, w->step, w, m);
  if (status < 0 || !*found) return status;
  dj_copyPlace(&w->now, m, &w->begin);
  p->predicted = false;
  status = maxStep(p, &fraction, w->step);
  if (status < 0) return status;
  *found = fraction == 1;
  if (!*found) return status;
  setTrial(p, w->step, 1);
  accept(p);
  return status;
}

// The present iterate is the start, which may be the end where all is slow.
static bool restGuess(Problem* p) {
  djWork* w = p->work;
  const djModel* m = p->model;
  double sum = 0;
  dj_copyPlace(&w->now, m, &w->begin);
  dj_openPlace(&w->now, m, w->ref);
  setScale(p);
  for (int i = 0; i < m->nv; i++) {
    double move = w->time * w->start.qvel[i];
    sum += w->scale[i] * move * move;
  }
  return sum <= NEAR * NEAR * p->unit * p->unit;
}

bool dj_lagsEnd(const djWork* w, const djModel* m) {
  return m->opt.friction == DJ_FRICTION_IMPLICIT && dj_contactsOf(&w->forces);
}

// Forces with kinks either let it converge soon or lead it in circles: see solveRoot.
static int mostIterations(const djWork* w, const djModel* m) {
  bool kinked = dj_kinkedContacts(dj_contactsOf(&w->forces));
  return kinked && m->opt.max_iterations > MOST_KINKED ? MOST_KINKED : m->opt.max_iterations;
}

static djNewtonProblem problemOf(Problem* p) {
  return (djNewtonProblem){.n = p->model->nv, .user = p, .evaluate = evaluateHere,
                           .factor = factor, .solve = solve, .max_step = maxStep, .trial = trial,
                           .accept = accept, .convexify = convexify, .ease = ease,
                           .unease = unease, .learn = learn, .scratch = p->work->learned};
}

// Of energies: that of poses, times the weight.
static double noiseOf(const djWork* w, const djModel* m) {
  const double* reach = m->collision ? m->collision->reach : NULL;
  double far = 0;
  for (int b = 1; b < m->nbody; b++) {
    far = fmax(far, dju_norm3(w->begin.kin.body[b].p) + (reach ? reach[b] : 0));
  }
  return ROUNDING * far * m->moving_mass * m->contact.gravity;
}

// From the present iterate.
static djStatus solveFrom(djNewtonResult* result, Problem* p) {
  djWork* w = p->work;
  const djModel* m = p->model;
  p->path = 0;
  p->predicted = false;
  dj_stageOf(w)->linear.factor.kind = w->kind;
  djNewtonProblem newton = problemOf(p);
  // Momentum that should last is worth a step more: g h is no measure of a slow body's.
  int refinement = w->kind == DJ_LDU && w->refinement_steps < 1 ? 1 : w->refinement_steps;
  djNewtonOption option = {.tolerance = m->opt.tolerance * p->unit,
                           .plain_iterations = PLAIN,
                           .ease_tolerance = NEAR * p->unit,
                           .max_iterations = mostIterations(w, m),
                           .refinement_steps = refinement,
                           .max_cuts = 30,
                           .near = p->near * p->unit,
                           .noise = noiseOf(w, m)};
  countIterate(p);
  djStatus status = dj_newton(result, &newton, &option, w->gradient, w->step);
  p->ease = DJ_EASE_NONE;
  p->iterate = 0;
  dj_easeContacts(dj_contactsOf(&w->forces), DJ_EASE_NONE, 0);
  return status;
}

// What hard equality constraints are off by, of their size: where solutions stop, of the tolerance,
// and what passes where rounding stops them before.
static const double HELD = 1e-6, HELD_ROUNDED = 1e-9;

// Solutions one after the other until they hold.
static djStatus solveHolds(djNewtonResult* result, Problem* p, djStatus status) {
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
    status = solveFrom(result, p);
    result->iterations += iterations;
  }
  return status;
}

// What is by an iterate of the end is by the present one, friction too where it is; and the
// residual's size over the masses.
static djStatus lagHere(double* size, Problem* p) {
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
  if (status >= 0) status = evaluateNow(p, &value, w->gradient, &majorizer);
  if (status < 0) return status;
  *size = sqrt(sizeOf(p, w->gradient));
  return DJ_OK;
}

// A step of Newton's method with all that depends on the end, after lagHere; *moved: it has halved
// *size, or was below `stop`, *solved. Else all is as before.
static djStatus stepLag(bool* moved, bool* solved, double* size, double* decrement, Problem* p,
                        double stop) {
  djWork* w = p->work;
  const djModel* m = p->model;
  double before = *size, fraction, value, sum = 0;
  *moved = *solved = false;
  djStageWork* stage = dj_stageOf(w);
  djStatus status = dj_factorEnd(w, m);
  if (status == DJ_SINGULAR) w->error.text[0] = 0;   // to be solved otherwise
  if (status != DJ_OK) return status == DJ_SINGULAR ? DJ_OK : status;
  for (int i = 0; i < m->nv; i++) w->step[i] = -w->gradient[i];
  dj_solve(w->step, stage->pivoted ? &stage->lu : &stage->linear.factor);
  for (int i = 0; i < m->nv; i++) sum -= w->gradient[i] * w->step[i];
  *decrement = sqrt(fabs(sum));
  *solved = *decrement <= stop;
  status = maxStep(p, &fraction, w->step);
  if (status < 0) return status;
  setTrial(p, w->step, fraction);
  status = p->method->evaluate(&value, NULL, w, m, &w->trial, NULL);
  if (status < 0 || !isfinite(value)) return status;
  accept(p);
  status = lagHere(size, p);
  *moved = *solved || *size < 0.5 * before;
  if (status < 0 || *moved) return status;
  swapPlaces(&w->now, &w->trial);
  return lagHere(size, p);
}

// Of spins: what is left then is momentum, to the error of the last but one.
enum { MOST_LAGS = 50, MOST_SPIN_LAGS = 4 };

// By the end what was by the start or a prediction, after a solution with that: Newton's method as it
// is where it converges, which has no energy to go by, else a solution by the last iterate. There may
// be none.
static djStatus solveLags(djNewtonResult* result, Problem* p) {
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
    status = solveFrom(result, p);
    result->iterations += before;
    if (k + 1 >= MOST_SPIN_LAGS && !dj_lagsEnd(p->work, p->model)) return status;
    if (status >= 0) status = lagHere(&size, p);
  }
  result->exhausted = status >= 0;
  return status < 0 ? status : DJ_NOT_CONVERGED;
}

// ---- roots ------------------------------------------------------------------------------------

static djStatus evaluateRoot(void* user, double* size, double* residual) {
  Problem* p = user;
  double value;
  bool majorizer = false;
  djStatus status = evaluateNow(p, &value, residual, &majorizer);
  if (status >= 0) *size = isfinite(value) ? sizeOf(p, residual) : INFINITY;
  return status;
}

static djStatus findDirection(void* user, double* step, const double* residual) {
  Problem* p = user;
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
  Problem* p = user;
  double value;
  bool majorizer = false;
  djStatus status = trial(p, &value, residual, step, fraction, &majorizer);
  if (status >= 0) *size = isfinite(value) ? sizeOf(p, residual) : INFINITY;
  return status;
}

static djStatus solveRoot(djNewtonResult* result, Problem* p) {
  djWork* w = p->work;
  const djModel* m = p->model;
  const djRootProblem root = {m->nv, p, evaluateRoot, findDirection, maxStep, tryRoot, accept};
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
static djStatus beginNear(bool* found, Problem* p) {
  *found = p->carried;
  djStatus status = p->carried ? DJ_OK : rowGuess(found, p);
  if (status < 0) return status;
  p->near = *found ? GUESSED : NEAR;
  *found = *found || restGuess(p);
  return status;
}

static djStatus beginGuess(bool* found, Problem* p) {
  *found = true;
  p->near = 0;
  return p->carried ? DJ_OK : startGuess(p, pow(p->model->opt.tolerance * p->unit, 2));
}

// Where forces have no energy and kinks: work along a path is no merit where it depends on the path,
// and leads in circles.
static bool isKinked(const Problem* p) { return dj_kinkedContacts(dj_contactsOf(&p->work->forces)); }

static djStatus stayHere(bool* found, Problem* p) {
  *found = isKinked(p);
  return DJ_OK;
}

static djStatus guessAnew(bool* found, Problem* p) {
  *found = isKinked(p);
  if (!*found) return DJ_OK;
  dj_copyPlace(&p->work->now, p->model, &p->work->begin);
  return startGuess(p, pow(p->model->opt.tolerance * p->unit, 2));
}

static djStatus beginAtStart(bool* found, Problem* p) {
  *found = isKinked(p);
  if (*found) dj_copyPlace(&p->work->now, p->model, &p->work->begin);
  return DJ_OK;
}

typedef struct Attempt {
  djStatus (*begin)(bool* found, Problem* problem);
  djStatus (*solve)(djNewtonResult* result, Problem* problem);
  size_t count;   // where djStats has its number
} Attempt;

// In order, until one finds a solution; what they cost is that of their iterations.
static const Attempt attempts[] = {
    {beginNear, solveFrom, offsetof(djStats, near_attempts)},
    {beginGuess, solveFrom, offsetof(djStats, guess_attempts)},
    {stayHere, solveRoot, offsetof(djStats, root_attempts)},
    {guessAnew, solveRoot, offsetof(djStats, root_attempts)},
    {beginAtStart, solveRoot, offsetof(djStats, root_attempts)},
};

enum { NATTEMPT = sizeof attempts / sizeof *attempts };

static djStatus attemptStage(djNewtonResult* result, Problem* p) {
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
  Problem problem = {.work = w, .model = m, .method = w->method, .unit = unit};
  double stop = m->opt.tolerance * unit;
  w->lags = false;
  dj_stageOf(w)->linear.factor.kind = w->kind;   // not that of the last step's end
  djStatus status = dj_beginStage(w, m, w->method);
  djNewtonProblem carry = problemOf(&problem);
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
