// The attempts at a step, in one table and one loop: an attempt goes through all stages of
// work->method (solve_stage.h) and to the step's end; what it ended by says what is tried next.
//
//   ended by                             next                                  costs
//   no room for pairs in contact         the same anew, with more of it        what has been done
//   no room for matrices                 likewise                              likewise
//   mocap bodies that squeeze            without their move                    likewise
//   no solution, or one whose velocity   the substitute of the method          another solution
//     is none

#include "integrate/attempts.h"

#include "integrate/carry.h"
#include "integrate/impulse.h"
#include "integrate/method_need.h"
#include "integrate/solve_stage.h"

#include <string.h>

static const double SOLVED = 1e-4;   // relative decrement of a step that no other method takes
static const double ROUNDED = 1e-7;  // and by a substitute of the Jacobian

typedef struct Step {
  djWork* w;
  const djModel* m;
  double unit;
  // Of the last attempt.
  djStatus status, end;    // of the stages; and of what follows them
  djNewtonResult result;
  djStats before;          // counts where it began
  int iterations;          // of those before it that ended without a solution
} Step;

// ---- one attempt ------------------------------------------------------------------------------

// All stages of w->method. The result is the worst one's, with all iterations.
static djStatus solveStages(djNewtonResult* result, djWork* w, const djModel* m, double unit) {
  djStatus status = DJ_OK;
  memset(result, 0, sizeof *result);
  for (w->stage = 0; w->stage < w->method->nstage; w->stage++) {
    djNewtonResult stage;
    djStatus one = dj_solveStage(&stage, w, m, unit);
    if (one < 0 || w->jams) return one;
    if (one > 0) status = one;
    int before = result->iterations;
    bool exact = stage.exact && (w->stage == 0 || result->exact);
    if (w->stage == 0 || stage.decrement > result->decrement) *result = stage;
    result->iterations = before + stage.iterations;
    result->exact = exact;
  }
  w->stage = w->method->nstage - 1;
  return status;
}

static djStepEnd endOf(const Step* s) {
  const djNewtonResult* r = &s->result;
  if (s->status == DJ_OK) return DJ_END_SOLVED;
  if (r->decrement < (r->exact ? SOLVED : ROUNDED) * s->unit) return DJ_END_ROUNDED;
  return r->exhausted ? DJ_END_ITERATIONS : DJ_END_SEARCH;
}

// What takes a step that the method finds no solution for: NULL: nothing.
static const djMethod* substituteOf(const Step* s) {
  const djMethod* next = s->w->method->substitute;
  return next && dj_hasNeeded(s->w, s->m, next) ? next : NULL;
}

// Where rounding keeps a solution from a small tolerance, it is still one. The decrement by a
// substitute of the Jacobian is small on the way past a saddle, too, where there may be no
// solution: it has to be as small as rounding makes it. The last method's best iterate is taken for
// one.
static bool isSolved(const Step* s) {
  if (s->status == DJ_OK) return true;
  return !substituteOf(s) || endOf(s) == DJ_END_ROUNDED;
}

static void attempt(Step* s) {
  djWork* w = s->w;
  djContacts* contacts = dj_contactsOf(&w->forces);
  s->before = w->count;
  w->count.attempts++;
  dj_fixContacts(contacts, true);
  s->status = s->end = solveStages(&s->result, w, s->m, s->unit);
  dj_fixContacts(contacts, false);
  if (s->status >= 0 && !w->jams && isSolved(s)) s->end = dj_endStep(w, s->m);
}

// ---- the next one -----------------------------------------------------------------------------

static bool isCrowded(const Step* s) { return s->status == DJ_CROWDED; }

static djStatus growContacts(Step* s) {
  s->w->count = s->before;
  s->w->growths++;
  return dj_growContacts(dj_contactsOf(&s->w->forces), s->m, &s->w->error);
}

static bool isCramped(const Step* s) { return s->status == DJ_NO_MEMORY && s->w->cramped; }

static djStatus growRoom(Step* s) {
  s->w->count = s->before;
  return dj_growRoom(s->w, s->m);
}

static bool isJammed(const Step* s) { return s->status >= 0 && s->w->jams; }

static djStatus stopJammed(Step* s) {
  dj_stopJammed(s->w, s->m);
  s->w->count.jammed_attempts++;
  return DJ_OK;
}

static bool isUnsolved(const Step* s) { return s->end == DJ_NOT_CONVERGED && substituteOf(s); }

// No solution may exist, as for turns beyond a quarter in a step: `position` always has one.
static djStatus substitute(Step* s) {
  s->iterations += s->result.iterations;
  dj_chooseMethod(s->w, s->m, substituteOf(s));
  dj_dropImpulses(s->w);
  s->w->count.substitute_attempts++;
  return DJ_OK;
}

typedef struct Attempt {
  bool (*when)(const Step* step);
  djStatus (*prepare)(Step* step);
} Attempt;

static const Attempt attempts[] = {
    {isCrowded, growContacts},
    {isCramped, growRoom},
    {isJammed, stopJammed},
    {isUnsolved, substitute},
};

enum { NATTEMPT = sizeof attempts / sizeof *attempts };

static const Attempt* nextAttempt(const Step* s) {
  for (int k = 0; k < NATTEMPT; k++) {
    if (attempts[k].when(s)) return &attempts[k];
  }
  return NULL;
}

djStatus dj_attemptStep(djNewtonResult* result, djStepEnd* ended, djWork* w, const djModel* m,
                        double unit) {
  Step s = {.w = w, .m = m, .unit = unit};
  for (;;) {
    attempt(&s);
    const Attempt* next = nextAttempt(&s);
    if (!next) break;
    djStatus status = next->prepare(&s);
    if (status < 0) return status;
  }
  *result = s.result;
  result->iterations += s.iterations;
  *ended = endOf(&s);
  return s.end < 0 ? s.end : s.status;
}
