#include "integrate/stage_problem.h"

#include "integrate/carry.h"

#include <math.h>
#include <string.h>

static const double ROUNDING = 2e-15;
enum { MOST_KINKED = 20 }; // iterations, where forces have kinks
enum { PLAIN = 20 };       // before friction is eased

// ---- callbacks of Newton's method -------------------------------------------------------------

// Where the residual has a part without a potential, its work along the steps taken and the trial
// one stands in: the trapezoidal rule on either.
static bool hasPath(const djStageProblem* p) { return p->work->kind == DJ_LDU; }

djStatus dj_evaluateStage(void* user, double* value, double* gradient, bool* majorizer) {
  djStageProblem* p = user;
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
static void countIterate(djStageProblem* p) {
  dj_easeContacts(dj_contactsOf(&p->work->forces), p->ease, ++p->iterate);
}

static djStatus evaluateHere(djSystemAt* at, djStageProblem* p) {
  djStatus status = dj_evaluateStage(p, &at->value, at->gradient, &at->majorizer);
  countIterate(p);
  return status;
}

// Anew at a point that contact still has its blocks of, or what it has learned since.
static djStatus evaluateAgain(djSystemAt* at, djStageProblem* p) {
  djContacts* contacts = dj_contactsOf(&p->work->forces);
  dj_replayContacts(contacts, p->work->now.kin.body);
  djStatus status = dj_evaluateStage(p, &at->value, at->gradient, &at->majorizer);
  dj_replayContacts(contacts, NULL);
  return status;
}

static djStatus convexify(djSystemAt* at, djStageProblem* p) {
  at->majorizer = true;
  p->work->convexity = at->share;
  djStatus status = evaluateAgain(at, p);
  p->work->convexity = 0;
  return status;
}

static djStatus learn(djSystemAt* at, djStageProblem* p) {
  int n;
  djStatus status = dj_meetContacts(&n, dj_contactsOf(&p->work->forces), p->model, at->excess);
  at->none = !(status >= 0 && n > 0);
  return at->none ? status : evaluateAgain(at, p);
}

// What is shifted is inertia: contact's stiffness would damp the soft directions for nothing.
void dj_setStageScale(djStageProblem* p) {
  djWork* w = p->work;
  if (p->scaled) return;
  dj_massDiagonal(w->scale, w->M, p->model, &w->now.kin, w->ref);
  for (int i = 0; i < p->model->nv; i++) w->scale[i] /= w->stage_h * w->stage_h;
  p->scaled = true;
}

static bool factor(void* user, double shift) {
  djStageProblem* p = user;
  djWork* w = p->work;
  w->count.factorizations++;
  p->factored = w->pattern.version;
  if (shift == 0) return dj_factor(&dj_stageOf(w)->linear.factor, &w->H, NULL);
  dj_setStageScale(p);
  for (int i = 0; i < p->model->nv; i++) w->shift[i] = shift * w->scale[i];
  return dj_factor(&dj_stageOf(w)->linear.factor, &w->H, w->shift);
}

static bool solve(void* user, double* x) {
  djStageProblem* p = user;
  if (p->factored != p->work->pattern.version) return false;
  dj_solve(x, &dj_stageOf(p->work)->linear.factor);
  return true;
}

// The trial point of a new step is set once for its limit and the first trial.
void dj_setStageTrial(djStageProblem* p, const double* step, double fraction) {
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

// How far the way to the trial point may be gone.
djStatus dj_capStageTrial(double* fraction, djWork* w, const djModel* m) {
  djMotion motion = dj_motionAt(w, m, &w->now);
  return dj_maxStep(fraction, &w->forces, &motion, &w->trial.kin);
}

djStatus dj_maxStageStep(void* user, double* fraction, const double* step) {
  djStageProblem* p = user;
  djWork* w = p->work;
  p->trial_fraction = 0;
  *fraction = 1;
  if (!dj_contactsOf(&w->forces)) return DJ_OK;
  dj_setStageTrial(p, step, 1);
  return dj_capStageTrial(fraction, w, p->model);
}

djStatus dj_tryStage(void* user, double* value, double* gradient, const double* step,
                     double fraction, bool* majorizer) {
  djStageProblem* p = user;
  djWork* w = p->work;
  if (!gradient) p->trial_fraction = 0; // a full step without a limit
  dj_setStageTrial(p, step, fraction);
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

void dj_swapPlaces(djPlace* a, djPlace* b) {
  djPlace place = *a;
  *a = *b;
  *b = place;
}

void dj_acceptStage(void* user) {
  djStageProblem* p = user;
  djWork* w = p->work;
  dj_swapPlaces(&w->now, &w->trial);
  w->carried = w->trial_carried;
  p->trial_fraction = 0;
  if (p->iterate > 0) countIterate(p);
  if (!hasPath(p)) return;
  p->path = p->trial_path;
  memcpy(w->nonpotential_now, w->nonpotential, (size_t)p->model->nv * sizeof(double));
}

// The gradient's size over the masses, squared.
double dj_stageSize(djStageProblem* p, const double* gradient) {
  double sum = 0;
  dj_setStageScale(p);
  for (int i = 0; i < p->model->nv; i++) sum += gradient[i] * gradient[i] / p->work->scale[i];
  return sum;
}

// Friction is that of the system that is asked for; false: it has no easier one.
static bool ease(djStageProblem* p, djSystem system) {
  static const djEase eases[] = {[DJ_SYSTEM_ITSELF] = DJ_EASE_NONE,
                                 [DJ_SYSTEM_EASED] = DJ_EASED,
                                 [DJ_SYSTEM_FORESEEN] = DJ_EASE_FORESEEN};
  djContacts* contacts = dj_contactsOf(&p->work->forces);
  if (p->ease == eases[system]) return true;
  if (system == DJ_SYSTEM_EASED && !dj_canEaseContacts(contacts)) return false;
  p->iterate += system == DJ_SYSTEM_EASED; // as another point
  p->ease = eases[system];
  dj_easeContacts(contacts, p->ease, p->iterate);
  return true;
}

static djStatus systemAt(void* user, djSystemAt* at) {
  static djStatus (*const here[])(djSystemAt* at, djStageProblem* problem) = {
      [DJ_JACOBIAN_EXACT] = evaluateHere,
      [DJ_JACOBIAN_MAJORIZER] = evaluateHere,
      [DJ_JACOBIAN_CONVEX] = convexify,
      [DJ_JACOBIAN_LEARNED] = learn};
  djStageProblem* p = user;
  at->none = !ease(p, at->system);
  if (at->none) return DJ_OK;
  at->majorizer = at->jacobian == DJ_JACOBIAN_MAJORIZER;
  if (!at->step) return here[at->jacobian](at, p);
  return dj_tryStage(p, &at->value, at->gradient, at->step, at->fraction, &at->majorizer);
}

// ---- Newton's method ---------------------------------------------------------------------------

// Forces with kinks either let it converge soon or lead it in circles: see solveRoot.
static int mostIterations(const djWork* w, const djModel* m) {
  bool kinked = dj_kinkedContacts(dj_contactsOf(&w->forces));
  return kinked && m->opt.max_iterations > MOST_KINKED ? MOST_KINKED : m->opt.max_iterations;
}

djNewtonProblem dj_stageNewton(djStageProblem* p) {
  return (djNewtonProblem){.n = p->model->nv,
                           .user = p,
                           .system = systemAt,
                           .factor = factor,
                           .solve = solve,
                           .limit = dj_maxStageStep,
                           .accept = dj_acceptStage,
                           .eases = true,
                           .convex = true,
                           .learns = true,
                           .scratch = p->work->learned};
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
djStatus dj_solveFrom(djNewtonResult* result, djStageProblem* p) {
  djWork* w = p->work;
  const djModel* m = p->model;
  p->path = 0;
  p->predicted = false;
  dj_stageOf(w)->linear.factor.kind = w->kind;
  djNewtonProblem newton = dj_stageNewton(p);
  // Momentum that should last is worth a step more: g h is no measure of a slow body's.
  int refinement = w->kind == DJ_LDU && w->refinement_steps < 1 ? 1 : w->refinement_steps;
  djNewtonOption option = {.tolerance = m->opt.tolerance * p->unit,
                           .plain_iterations = PLAIN,
                           .ease_tolerance = DJ_STAGE_NEAR * p->unit,
                           .max_iterations = mostIterations(w, m),
                           .refinement_steps = refinement,
                           .max_cuts = 30,
                           .near = p->near * p->unit,
                           .enough = m->opt.tolerance * m->opt.tolerance * p->unit,
                           .noise = noiseOf(w, m)};
  countIterate(p);
  djStatus status = dj_newton(result, &newton, &option, w->gradient, w->step);
  p->ease = DJ_EASE_NONE;
  p->iterate = 0;
  dj_easeContacts(dj_contactsOf(&w->forces), DJ_EASE_NONE, 0);
  return status;
}
