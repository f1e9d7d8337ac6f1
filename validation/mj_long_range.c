// Tasks whose losses know nothing of what varies until bodies touch (models/long_range): by what
// gradient they are solved, and how far within one budget of simulated steps.
//
//   mj_long_range [--quick] [--curves FILE.csv] [TASK]...
//
// Tasks are push, billiards and ant_push, by default all. --curves: a row for each loss that is the
// least of its window so far, and the steps simulated until then (scripts/long_range_curves.py).
//
// Of each task, by each way of mj_long_range/long_range.h, from its own start, which is trivial,
// and from the best of 64 random ones:
//   - the gradient at the start, by all that varies, and how many of its entries are zero;
//   - the loss there, and after the budget: iterations of the task's own optimizer, one run each; a
//     bundle of 32 has so many fewer of them, CMA-ES ten times as many runs. Steps within
//     mjd_transitionFD are not counted, and there are fewer iterations where it takes long. A run
//     ends early where a gradient is exactly zero, or the loss is.
// The guide's coefficient is the task's. Where it acts in the run, the loss of the result without
// it stands beside. The task with a receding horizon (push) goes by windows of which one step each
// is executed; its loss is that at the end of the last window, and `frame` the first one whose
// window ends with loss 0. MuJoCo runs the stock scene.
//
// It fails only where the plain gradients at the trivial start are not exactly zero, the guide's or
// that of triangles is zero, or the guide's loss or that of weighting mean has not fallen.

#include "mj_long_range/long_range.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct Plan {
  const char* name;
  int frames, iterations;              // of a receding horizon, else 0; of each window
  int stock;                           // iterations by MuJoCo's gradients, at most
  int quick_iterations, quick_steps;   // --quick: of two frames; of a window
  double sigma;                        // of the bundle
} Plan;

static const Plan PLANS[] = {
    {"push", 16, 30, 30, 8, 48, 0.1},
    {"billiards", 0, 40, 6, 4, 40, 0.1},
    {"ant_push", 0, 30, 15, 2, 40, 0.1},
};
enum { NPLAN = sizeof PLANS / sizeof PLANS[0], HOLD = 16 };

static const char* const WAYS[NWAY] = {"guide in the run", "guide backward only", "plain contact",
                                       "MuJoCo", "bundle of 32", "CMA-ES, 10 times",
                                       "triangles, mean", "triangles, paper"};

typedef struct Outcome {
  double gradient;          // its norm at the start
  int live;                 // entries of it that are not zero
  double first, last, bare; // losses: start, end, the end without the guide
  int frame;                // the first that has loss 0, or -1
  long steps;
  double seconds;
  double share;             // of a bundle's gradients that are not zero
} Outcome;

static double now(void) { return (double)clock() / CLOCKS_PER_SEC; }

// ---- one window --------------------------------------------------------------------------------

// Ends what a gradient of zero cannot move, and what is done.
static bool onStep(void* user, const djOptimizeStep* step) {
  const Window* w = user;
  bool dead = step->iteration == 0 && step->gradient_norm == 0 && w->way != BUNDLE;
  return !dead && step->loss > 0;
}

static double lossOf(void* user, const double* x) {
  double loss = INFINITY;
  if (lr_objective(user, &loss, NULL, x) < 0) return INFINITY;
  return loss;
}

// Improves x; the least loss.
static double minimise(Window* w, double* x, int iterations) {
  djDesign* d = w->design;
  if (w->way == SEARCH) {
    double* scale = djv_take((size_t)d->n, sizeof *scale);
    for (int i = 0; i < d->n; i++) scale[i] = lr_range(w, i);
    double least = lr_search(x, d->n, d->lower, d->upper, scale, 0.3, 10 * iterations, &w->random,
                             lossOf, w);
    free(scale);
    return least;
  }
  djError err;
  djOptimizeResult result;
  djOptimizer how = w->scene->task->optimizer;
  djOptimizeProblem problem = {.n = d->n, .lower = d->lower, .upper = d->upper, .group = d->group,
                               .objective = lr_objective, .user = w, .callback = onStep,
                               .callback_user = w};
  how.iterations = w->way == BUNDLE ? (iterations + NBUNDLE) / (NBUNDLE + 1) : iterations;
  how.receding = (djReceding){0};
  if (dj_optimize(&result, x, &problem, &how, &err) < 0) {
    djv_fail("%s, %s: %s", w->scene->name, WAYS[w->way], err.text);
  }
  return result.loss;
}

// ---- a receding horizon ------------------------------------------------------------------------

// The state after the first step of the window at x becomes its start, its controls are moved on.
static void moveOn(Window* w, double* x) {
  djProblem* p = w->problem;
  const mjModel* m = w->scene->m;
  int h = w->task.horizon, nu = (int)m->nu;
  const djRollout* r = &w->design->rollout;
  double loss, *qpos = djv_take((size_t)((h + 1) * m->nq), sizeof(double));
  double* qvel = djv_take((size_t)((h + 1) * m->nv), sizeof(double));
  if (w->way == STOCK) {
    djd_moveDesign(w->design, x);
    mj_resetData(m, w->d);
    mju_copy(w->d->qpos, r->qpos0, (int)m->nq);
    mju_copy(w->d->qvel, r->qvel0, (int)m->nv);
    mju_copy(w->d->ctrl, r->ctrl, nu);
    mj_step(m, w->d);
    mju_copy(p->qpos0, w->d->qpos, (int)m->nq);
    mju_copy(p->qvel0, w->d->qvel, (int)m->nv);
  } else {
    if (djd_forwardDesign(&loss, w->design, x, false) < 0 ||
        djd_tapeStates(qpos, qvel, NULL, w->design->model, w->design->tape) < 0) {
      djv_fail("%s: a window fails", w->scene->name);
    }
    mju_copy(p->qpos0, qpos + m->nq, (int)m->nq);
    mju_copy(p->qvel0, qvel + m->nv, (int)m->nv);
  }
  mju_copy(p->ctrl, r->ctrl + nu, (h - 1) * nu);
  mju_copy(p->ctrl + (h - 1) * nu, r->ctrl + (h - 1) * nu, nu);
  lr_restart(w);
  memcpy(x, w->design->x0, (size_t)w->design->n * sizeof *x);
  free(qpos);
  free(qvel);
}

// Without the guide: the loss of these controls over as many steps.
static double bareLoss(const Scene* s, const double* ctrl, int horizon) {
  Window w;
  lr_openWindow(&w, s, PLAIN, horizon, 0);
  mju_copy(w.problem->ctrl, ctrl, horizon * (int)s->m->nu);
  lr_restart(&w);
  double loss = lossOf(&w, w.design->x0);
  lr_closeWindow(&w);
  return loss;
}

static void recede(Outcome* o, Window* w, double* x, int frames, int iterations) {
  const Scene* s = w->scene;
  int h = w->task.horizon, nu = (int)s->m->nu, f = 0;
  double* ctrl = djv_take((size_t)((frames + h) * nu), sizeof *ctrl);
  for (f = 0; f < frames; f++) {
    o->last = minimise(w, x, iterations);
    djd_moveDesign(w->design, x);
    mju_copy(ctrl + f * nu, w->design->rollout.ctrl, h * nu);
    if (o->frame < 0 && o->last == 0) o->frame = f;
    if (o->last == 0 || f == frames - 1) break;
    moveOn(w, x);
  }
  const bool other = w->way == RUN || w->way >= MEAN;
  o->bare = other ? bareLoss(s, ctrl, f + h) : w->way == STOCK ? NAN : o->last;
  free(ctrl);
}

// ---- one way -----------------------------------------------------------------------------------

// The best of random variables, into x.
static void drawStart(double* x, Window* w) {
  djvRandom random = djv_random(11);
  int n = w->design->n;
  double *y = djv_take((size_t)n, sizeof *y), least = INFINITY;
  for (int k = 0; k < NSTART; k++) {
    lr_draw(y, w, &random, HOLD);
    double loss = lossOf(w, y);
    if (!(loss < least)) continue;
    least = loss;
    memcpy(x, y, (size_t)n * sizeof *x);
  }
  free(y);
}

// Loss and gradient at x.
static void lookAround(Outcome* o, Window* w, const double* x) {
  int n = w->design->n;
  double* g = djv_take((size_t)n, sizeof *g);
  if (lr_objective(w, &o->first, w->way == SEARCH ? NULL : g, x) < 0) {
    djv_fail("%s: no loss at the start", w->scene->name);
  }
  for (int i = 0; i < n; i++) {
    o->gradient += g[i] * g[i];
    o->live += g[i] != 0;
  }
  o->gradient = w->way == SEARCH ? NAN : sqrt(o->gradient);
  free(g);
}

static void measure(Outcome* o, const Scene* s, const Plan* p, Way way, bool random, bool quick,
                    FILE* curves) {
  bool windows = s->task->optimizer.receding.horizon > 0;
  int frames = quick ? 2 : p->frames, iterations = quick ? p->quick_iterations : p->iterations;
  int steps = windows ? s->task->optimizer.receding.horizon : s->task->horizon;
  Window w;
  double started = now();
  if (quick && p->quick_steps < steps) steps = p->quick_steps;
  if (way == STOCK && p->stock < iterations) iterations = p->stock;
  lr_openWindow(&w, s, way, steps, p->sigma);
  int n = w.design->n;
  double* x = djv_take((size_t)n, sizeof *x);
  *o = (Outcome){.frame = -1, .bare = NAN, .share = NAN};
  memcpy(x, w.design->x0, (size_t)n * sizeof *x);
  if (random) drawStart(x, &w);
  w.steps = 0;
  snprintf(w.label, sizeof w.label, "%s,%s,\"%s\"", p->name, random ? "random" : "trivial",
           WAYS[way]);
  w.curve = curves;
  lookAround(o, &w, x);
  bool dead = o->live == 0 && way != SEARCH && way != BUNDLE && !(random && windows);
  if (dead) {
    o->last = o->first;
  } else if (windows) {
    recede(o, &w, x, frames, iterations);
  } else {
    Window plain;
    o->last = minimise(&w, x, iterations);
    lr_openWindow(&plain, s, PLAIN, steps, 0);
    o->bare = way == STOCK ? NAN : lossOf(&plain, x);
    lr_closeWindow(&plain);
  }
  if (w.drawn > 0) o->share = (double)w.live / (double)w.drawn;
  o->steps = w.steps;
  o->seconds = now() - started;
  lr_closeWindow(&w);
  free(x);
}

static void printOutcome(const Outcome* o, Way way, bool random) {
  char frame[20] = "", share[40] = "", bare[20] = "-", gradient[20] = "-";
  if (o->frame >= 0) snprintf(frame, sizeof frame, "frame %d", o->frame);
  if (isfinite(o->share)) snprintf(share, sizeof share, "%.0f%% not zero", 100 * o->share);
  if (isfinite(o->bare)) snprintf(bare, sizeof bare, "%.4g", o->bare);
  if (isfinite(o->gradient)) snprintf(gradient, sizeof gradient, "%.2e", o->gradient);
  djv_note("%-20s %-8s %9s %10.4g %10.4g %10s %9ld %7.1f  %s%s", WAYS[way],
           random ? "random" : "trivial", gradient, o->first, o->last, bare, o->steps, o->seconds,
           frame, share);
}

static void check(djvReport* report, const Plan* p, const Outcome* o, Way own,
                  bool quick) {
  char text[80];
  snprintf(text, sizeof text, "%s: plain gradient, entries not zero", p->name);
  djv_count(report, text, o[PLAIN].live, 0);
  snprintf(text, sizeof text, "%s: MuJoCo's, entries not zero", p->name);
  djv_count(report, text, o[STOCK].live, 0);
  snprintf(text, sizeof text, "%s: the guide's gradient", p->name);
  djv_above(report, text, o[own].gradient, 0, "");
  if (quick && own == BACKWARD) return;   // the run does not change before bodies touch
  snprintf(text, sizeof text, "%s: the guide's loss after the budget", p->name);
  djv_below(report, text, o[own].last, o[own].first, "m2");
  for (int way = MEAN; way <= PAPER && !quick; way++) {
    snprintf(text, sizeof text, "%s: gradient, %s", p->name, WAYS[way]);
    djv_above(report, text, o[way].gradient, 0, "");
    if (way == PAPER) break;
    snprintf(text, sizeof text, "%s: loss after the budget, %s", p->name, WAYS[way]);
    djv_below(report, text, o[way].last, o[way].first, "m2");
  }
}

static void runTask(djvReport* report, const Plan* p, bool quick, FILE* curves) {
  Scene s;
  Outcome o[NWAY];
  lr_openScene(&s, p->name);
  const djModel* m = s.model[RUN];
  djv_title("%s: guide %g J, in the task %s; %d iterations%s; bundle's sigma %g of the range",
            p->name, m->contact.guide, s.own == RUN ? "in the run" : "backward only",
            quick ? p->quick_iterations : p->iterations,
            s.task->optimizer.receding.horizon > 0 ? " a frame" : "", p->sigma);
  djv_note("%-20s %-8s %9s %10s %10s %10s %9s %7s", "", "start", "|grad|", "loss", "after",
           "no guide", "steps", "s");
  for (int random = 0; random < (quick ? 1 : 2); random++) {
    for (int way = 0; way < NWAY; way++) {
      if (random && way >= SEARCH) continue;    // it draws by itself; triangles need no luck
      if (quick && way > STOCK && (p->frames == 0 || way >= MEAN)) continue;
      Outcome one;
      measure(&one, &s, p, (Way)way, random, quick, curves);
      printOutcome(&one, (Way)way, random);
      if (!random) o[way] = one;
    }
  }
  check(report, p, o, s.own, quick);
  lr_closeScene(&s);
}

int main(int argc, char** argv) {
  djvReport report = {0};
  bool quick = false, any = false, wanted[NPLAN] = {false};
  FILE* curves = NULL;
  for (int i = 1; i < argc; i++) {
    int k = 0;
    while (k < NPLAN && strcmp(argv[i], PLANS[k].name) != 0) k++;
    if (k < NPLAN) {
      wanted[k] = any = true;
    } else if (strcmp(argv[i], "--quick") == 0) {
      quick = true;
    } else if (strcmp(argv[i], "--curves") == 0 && i + 1 < argc && !curves) {
      curves = fopen(argv[++i], "w");
      if (!curves) djv_fail("%s: cannot be written", argv[i]);
      fprintf(curves, "task,start,way,steps,loss\n");
    } else {
      fprintf(stderr, "usage: mj_long_range [--quick] [--curves FILE.csv] [TASK]...\n");
      return 2;
    }
  }
  for (int k = 0; k < NPLAN; k++) {
    if (wanted[k] || !any) runTask(&report, &PLANS[k], quick, curves);
  }
  if (curves && fclose(curves) != 0) djv_fail("curves: not written whole");
  djv_note("(%.0f s of processor time)", now());
  return djv_finish(&report);
}
