// Losses along lines, by damped contact and without what it proposes: how often they change
// direction, how far they vary, and whether the gradient adds up to them. Model 1: a varying set,
// perturbed, undamped; 2: perturbed, undamped; 3: penalty, undamped (models/damped). Claims are at
// the theta at which a scene jitters without: 1/2 of the fall, 1 of the box.

#include "common/report.h"
#include "common/scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MODELS = 5, MOST = 801 };

typedef struct Scene {
  const char *folder, *what;
  int entry;
  double from, to;
  double theta; // of the claims
} Scene;
static const Scene scenes[] = {{"fall", "start height, m", 0, 0.3, 1, 0.5},
                               {"box_flip", "lift, m/s", 0, 0.5, 3, 1},
                               {"box_flip", "tilt, rad/s", 1, -4, -0.5, 1}};
enum { NSCENE = sizeof scenes / sizeof scenes[0] };

static const char* const files[MODELS] = {"task", "task_penalty", "task_model1", "task_model2",
                                          "task_model3"};
static const char* const names[MODELS] = {"damped, perturbed", "damped, penalty", "model 1",
                                          "model 2", "model 3"};

// One number of the task's settings, by its name.
typedef struct Given {
  const char* name;
  double value;
} Given;

typedef struct Opened {
  djTask* task;
  djModel* model;
  djProblem* problem;
  djDesign* design;
} Opened;

// A task with other settings.
static void openTask(Opened* o, const char* folder, const char* file, const Given* given,
                     int ngiven) {
  char path[500];
  djError err = {""};
  snprintf(path, sizeof path, "%s/models/damped/%s/%s.json", DIJOCO_SOURCE_DIR, folder, file);
  djStatus status = dj_loadTask(&o->task, path, &err);
  for (int k = 0; k < ngiven && status >= 0; k++) {
    status =
        dj_giveSetting(&o->task->settings, dj_findSetting(given[k].name, 0), &given[k].value, &err);
  }
  if (status >= 0) status = dj_loadModel(&o->model, o->task->scene, &err);
  if (status >= 0) status = dj_applyTask(o->model, o->task, &err);
  if (status >= 0) status = dj_resolveTask(&o->problem, o->task, o->model, &err);
  if (status >= 0) status = djd_makeDesign(&o->design, o->model, o->problem, &err);
  if (status < 0) djv_fail("%s: %s", path, err.text);
}

static void closeTask(Opened* o) {
  djd_deleteDesign(o->design);
  dj_deleteProblem(o->problem);
  dj_deleteModel(o->model);
  dj_deleteTask(o->task);
}

// The landscape of a task with other settings.
static djLandscape measure(const char* folder, const char* file, const Given* given, int ngiven,
                           const Scene* s, int n) {
  static double array[4][MOST];
  Opened o;
  djPhases* phases;
  djLandscape out;
  djError err = {""};
  openTask(&o, folder, file, given, ngiven);
  djStatus status = djd_makePhases(&phases, o.design, 1, 1, &err);
  if (status >= 0) {
    status = djd_landscape(&out, array[0], array[1], array[2], array[3], n, phases, s->entry,
                           s->from, s->to, &err);
  }
  if (status < 0) djv_fail("%s, %s: %s", folder, file, err.text);
  djd_deletePhases(phases);
  closeTask(&o);
  return out;
}

// Of a loss that forgets the number nothing is told over its range.
static void print(const char* name, const djLandscape* of) {
  const double by = of->range > 1e-9 ? of->range : INFINITY;
  printf("  %-24s %11.4g %8d %11.4g %11.4g %11.3g %s\n", name, of->range, of->sign_changes,
         of->total_variation / by, of->gradient_total_variation, of->reconstruction_error / by,
         of->unconverged ? "unconverged" : "");
}

static void head(void) {
  printf("  %-24s %11s %8s %11s %11s %11s\n", "", "range", "changes", "variation", "of gradient",
         "reconstr.");
}

// The claims, of what is proposed beside models 1 to 3.
static void compare(djvReport* r, const djLandscape* of) {
  for (int k = 0; k < 2; k++) {
    char what[80];
    for (int m = 2; m < MODELS; m++) {
      const double part = m < 4 ? 10 : 2, third = m < 4 ? 3 : 2;
      snprintf(what, sizeof what, "%s: sign changes beside %s", names[k], names[m]);
      djv_below(r, what, of[k].sign_changes, fmax(of[m].sign_changes / part, 1), "");
      snprintf(what, sizeof what, "%s: the gradient's variation beside %s", names[k], names[m]);
      djv_below(r, what, of[k].gradient_total_variation / of[m].gradient_total_variation, 1 / third,
                "");
    }
    snprintf(what, sizeof what, "%s: variation over range", names[k]);
    djv_below(r, what, of[k].total_variation / of[k].range, 1.1, "");
    snprintf(what, sizeof what, "%s: error of reconstruction over range", names[k]);
    djv_below(r, what, of[k].reconstruction_error / of[k].range, 0.01, "");
    djv_count(r, "samples without a loss or with unconverged steps",
              of[k].missing + of[k].unconverged, 0);
  }
}

static void scene(djvReport* r, const Scene* s, int n, double theta) {
  djLandscape of[MODELS];
  djv_title("%s: %s from %g to %g, theta %g, %d values", s->folder, s->what, s->from, s->to, theta,
            n);
  head();
  for (int k = 0; k < MODELS; k++) {
    of[k] = measure(s->folder, files[k], &(Given){"theta", theta}, 1, s, n);
    print(names[k], &of[k]);
  }
  if (theta != s->theta) return;
  compare(r, of);
  const djLandscape fine = measure(s->folder, files[0], &(Given){"theta", theta}, 1, s, 2 * n - 1);
  const double times = of[0].reconstruction_error / fine.reconstruction_error;
  djv_note(
      "half the spacing: error of reconstruction over range %.3g, %.3g times less; model 1's %.3g "
      "times more",
      fine.reconstruction_error / fine.range, times,
      of[2].reconstruction_error / of[0].reconstruction_error);
}

// Whether gradients add up to losses where normals turn, with and without their derivative and all
// points.
static void hollow(djvReport* r, int n) {
  static const char* const file[] = {"task", "task_penalty", "task_without_normals",
                                     "task_without_set"};
  static const char* const name[] = {"damped, perturbed", "damped, penalty", "fixed normals",
                                     "varying set"};
  const Scene s = {"ball_in_sphere", "velocity along x, m/s", 0, -1.5, 1.5, 1};
  djLandscape of[4];
  djv_title("%s: %s from %g to %g, theta 1, %d values", s.folder, s.what, s.from, s.to, n);
  head();
  for (int k = 0; k < 4; k++) {
    of[k] = measure(s.folder, file[k], &(Given){"theta", 1}, 1, &s, n);
    print(name[k], &of[k]);
  }
  for (int k = 0; k < 2; k++) {
    djv_below(r,
              k ? "penalty: error of reconstruction over range"
                : "perturbed: error of reconstruction over range",
              of[k].reconstruction_error / of[k].range, 0.01, "");
  }
  djv_above(r, "fixed normals: error over that of perturbed",
            of[2].reconstruction_error / of[0].reconstruction_error, 10, "");
  djv_above(r, "varying set: error over that of perturbed",
            of[3].reconstruction_error / of[0].reconstruction_error, 10, "");
  const djLandscape fine = measure(s.folder, file[0], &(Given){"theta", 1}, 1, &s, 2 * n - 1);
  djv_near(r, "half the spacing: error of perturbed, times less",
           of[0].reconstruction_error / fine.reconstruction_error, 4, 1.5, "");
}

// By how much of its range the gradient's integral along x0 + p d, p from -1 to 1, misses the loss.
static double lineError(Opened* o, const double* d, int n) {
  double *x = djv_take(2 * (size_t)o->design->n, sizeof *x), *grad = x + o->design->n;
  double first = 0, before = 0, sum = 0, low = INFINITY, high = -INFINITY, worst = 0;
  for (int k = 0; k < n; k++) {
    const double p = -1 + 2.0 * k / (n - 1);
    double loss, slope = 0;
    for (int i = 0; i < o->design->n; i++) x[i] = o->design->x0[i] + p * d[i];
    if (djd_evaluateDesign(&loss, grad, o->design, x) != DJ_OK) djv_fail("no loss at p = %g", p);
    for (int i = 0; i < o->design->n; i++) slope += grad[i] * d[i];
    if (k == 0)
      first = loss;
    else
      sum += (slope + before) / (n - 1);
    before = slope;
    low = fmin(low, loss);
    high = fmax(high, loss);
    worst = djv_worst(worst, fabs(first + sum - loss));
  }
  free(x);
  return worst / (high - low);
}

// The same along five lines through starts: place and velocity by one number p (Fig. 7).
static void lines(djvReport* r, int n) {
  enum { LINES = 5, WAYS = 3 };
  static const char* const file[WAYS] = {"task", "task_without_normals", "task_without_set"};
  Opened o[WAYS];
  djvRandom random = djv_random(7);
  djv_title("ball_in_sphere: place and velocity along five lines, theta 1, %d values: error of "
            "reconstruction over range",
            n);
  printf("  %-8s %12s %14s %12s\n", "line", "damped", "fixed normals", "varying set");
  for (int k = 0; k < WAYS; k++) {
    openTask(&o[k], "ball_in_sphere", file[k], &(Given){"theta", 1}, 1);
  }
  for (int i = 0; i < LINES; i++) {
    double d[4], error[WAYS];
    djv_uniforms(d, 4, &random, -1, 1);
    d[2] *= 0.1, d[3] *= 0.1; // m; the others m/s
    for (int k = 0; k < WAYS; k++) error[k] = lineError(&o[k], d, n);
    printf("  %-8d %12.3g %14.3g %12.3g\n", i, error[0], error[1], error[2]);
    djv_below(r, "damped", error[0], 0.01, "");
    djv_above(r, "fixed normals, times as much", error[1] / error[0], 10, "");
    djv_above(r, "varying set, times as much", error[2] / error[0], 10, "");
  }
  for (int k = 0; k < WAYS; k++) closeTask(&o[k]);
}

// Laws and alphas of the fall, and what alpha costs there is in docs/damped.md.
static void alphas(int n) {
  static const double alpha[] = {0, 0.3, 1.5, 9};
  for (int law = 0; law < 2; law++) {
    for (int k = 0; k < 2; k++) {
      const double theta = k ? 1 : 0.5;
      djv_title("fall, %s, theta %g", law ? "penalty" : "perturbed", theta);
      head();
      for (int a = 0; a < 4; a++) {
        char name[40];
        const Given given[] = {{"theta", theta}, {"alpha", alpha[a]}};
        const djLandscape of =
            measure("fall", law ? "task_penalty" : "task", given, 2, &scenes[0], n);
        snprintf(name, sizeof name, "alpha %g", alpha[a]);
        print(name, &of);
      }
    }
  }
}

// The same fall by the contact that has landed.
static void others(int n) {
  static const struct {
    const char* name;
    djIntegrator integrator;
    djContactModel contact;
  } way[] = {{"separating_plane, euler", DJ_EULER, DJ_SEPARATING_PLANE},
             {"separating_plane, midpoint", DJ_MIDPOINT, DJ_SEPARATING_PLANE},
             {"separating_plane, bdf2", DJ_BDF2, DJ_SEPARATING_PLANE},
             {"penalty kn 1000, euler", DJ_EULER, DJ_PENALTY},
             {"penalty kn 1000, midpoint", DJ_MIDPOINT, DJ_PENALTY},
             {"penalty kn 1000, bdf2", DJ_BDF2, DJ_PENALTY},
             {"damped, euler", DJ_EULER, DJ_DAMPED},
             {"damped, position", DJ_POSITION, DJ_DAMPED},
             {"damped, bdf1", DJ_BDF1, DJ_DAMPED},
             {"damped, bdf2", DJ_BDF2, DJ_DAMPED}};
  djv_title("fall, by other contact and integrators");
  head();
  for (size_t k = 0; k < sizeof way / sizeof way[0]; k++) {
    const Given given[] = {{"integrator", way[k].integrator}, {"contact", way[k].contact}};
    const bool damped = way[k].contact == DJ_DAMPED;
    const djLandscape of = measure("fall", damped ? "task" : "task_plain", given, 2, &scenes[0], n);
    print(way[k].name, &of);
  }
}

int main(int argc, char** argv) {
  djvReport r = {0};
  const bool quick = djv_isQuick(argc, argv);
  const int n = quick ? 101 : 401;
  for (int k = 0; k < NSCENE; k++) {
    const Scene* s = &scenes[k];
    if (quick && k == 2) continue;
    const int samples = quick && k > 0 ? 151 : n;
    if (!quick || s->theta < 1) scene(&r, s, samples, 0.5);
    if (!quick || s->theta == 1) scene(&r, s, samples, 1);
  }
  hollow(&r, quick ? 201 : 401);
  lines(&r, quick ? 201 : 401);
  alphas(n);
  others(quick ? 51 : 201);
  return djv_finish(&r);
}
