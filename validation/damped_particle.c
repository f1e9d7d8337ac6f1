// A particle that falls on flat ground by damped contact: it never gains energy; as sigma -> 0 a
// step does not go below alpha/(1 + alpha) of its height; what damping costs, as height at which it
// hovers and time until it is there; and a step's eigenvalues beside the theory (docs/damped.md).

#include "common/report.h"

#include <math.h>
#include <stdio.h>

static const double alphas[] = {0, 0.3, 1.5, 9, 30};
enum { NALPHA = sizeof alphas / sizeof alphas[0], STEPS = 300 };
static const char* const laws[] = {"perturbed", "smooth_penalty", "log"};

typedef struct Fall {
  double gain;    // largest gain of energy over its start, of that
  double below;   // least x+ - alpha/(1 + alpha) x, m
  double hover;   // height at the end, m
  double settled; // s, from when on it is within 1 mm of that
  long failed;
} Fall;

static djModel* open(const char* law, double theta, double alpha, double sigma) {
  char text[900];
  djModel* m;
  djError err;
  snprintf(text, sizeof text,
           "{\"dijoco_model\": 1, \"option\": {\"timestep\": 0.01, \"integrator\": \"midpoint\", "
           "\"contact\": \"damped\", \"law\": \"%s\", \"theta\": %g, \"alpha\": %g, \"sigma\": %g, "
           "\"kn\": 1000, \"detect\": 0.01, \"tolerance\": 1e-6}, \"bodies\": [{\"name\": "
           "\"world\"}, {\"name\": \"p\", \"mass\": 1, \"inertia\": [1, 1, 1]}], \"joints\": "
           "[{\"type\": \"slide\", \"body\": 1, \"axis\": [0, 0, 1]}], \"geoms\": [{\"type\": "
           "\"plane\", \"body\": 0}, {\"body\": 1, \"size\": [1e-9, 0, 0]}]}",
           law, theta, alpha, sigma);
  if (dj_loadModelText(&m, text, &err) < 0) djv_fail("%s", err.text);
  return m;
}

static Fall drop(const char* law, double theta, double alpha, double sigma, double height) {
  Fall f = {.below = INFINITY};
  djModel* m = open(law, theta, alpha, sigma);
  djData* d;
  static double path[STEPS];
  djError err;
  if (dj_makeData(&d, m, &err) < 0) djv_fail("%s", err.text);
  const double start = 9.81 * height;
  double x = d->qpos[0] = height;
  for (int k = 0; k < STEPS; k++) {
    f.failed += dj_step(m, d) != DJ_OK;
    const double next = d->qpos[0], v = d->qvel[0], energy = 0.5 * v * v + 9.81 * next;
    f.gain = fmax(f.gain, energy / start - 1);
    f.below = fmin(f.below, next - alpha / (1 + alpha) * x);
    x = path[k] = next;
  }
  f.hover = x;
  for (int k = STEPS - 1; k >= 0 && fabs(path[k] - x) < 1e-3; k--) f.settled = 0.01 * k;
  dj_deleteData(d);
  dj_deleteModel(m);
  return f;
}

static void laws_(djvReport* r) {
  double gain = -INFINITY;
  long failed = 0;
  djv_title("hover and time to settle after a fall from .5 m, 10 ms");
  printf("  %-16s %6s %7s %12s %12s %12s\n", "law", "theta", "alpha", "hover, m", "settled, s",
         "energy gained");
  for (int law = 0; law < 3; law++) {
    for (int k = 0; k < 2; k++) {
      for (int a = 0; a < NALPHA; a++) {
        const double theta = k ? 1 : 0.5;
        const Fall f = drop(laws[law], theta, alphas[a], 1e-3, 0.5);
        printf("  %-16s %6g %7g %12.3e %12.2f %12.1e\n", laws[law], theta, alphas[a], f.hover,
               f.settled, f.gain);
        gain = fmax(gain, f.gain);
        failed += f.failed;
      }
    }
  }
  djv_below(r, "largest gain of energy, of the start's", gain, 1e-9, "");
  djv_count(r, "steps without a solution", failed, 0);
  djv_figure(r, "energy gained", gain, "");
}

static void bound(djvReport* r) {
  double worst = INFINITY;
  djv_title("sigma -> 0: least x+ - alpha/(1 + alpha) x");
  for (int a = 0; a < NALPHA; a++) {
    for (double sigma = 1e-3; sigma > 1e-10; sigma *= 1e-2) {
      for (int k = 0; k < 2; k++) {
        const Fall f = drop("perturbed", k ? 1 : 0.5, alphas[a], sigma, 0.7);
        worst = fmin(worst, f.below);
        if (sigma < 1e-8) djv_note("alpha %g, theta %g: %.2e m", alphas[a], k ? 1 : 0.5, f.below);
      }
    }
  }
  djv_above(r, "least of all", worst, -1e-12, "m");
}

// A step in contact with the linear law f = -k g, by A of a spring of that law: eigenvalues.
static void eigenvalues(djvReport* r) {
  double worst = 0;
  djv_title("a step on flat ground near rest, penalty kn 1000, m 1: determinant and trace of A");
  for (int k = 0; k < 3; k++) {
    for (int a = 0; a < NALPHA; a++) {
      const double theta = k == 0 ? 0.5 : k == 1 ? 0.75 : 1, alpha = alphas[a], h = 0.01;
      djModel* m = open("smooth_penalty", theta, alpha, 1e-9);
      djData* d;
      double A[4];
      if (dj_makeData(&d, m, NULL) < 0) djv_fail("no data");
      d->qpos[0] = -0.00981;
      if (djd_transition(m, d, A, NULL) < 0) djv_fail("no transition");
      const double s = h * h * 1000, D = 1 / theta + s * (1 + alpha), turn = (1 - theta) / theta;
      const double det =
          (1 - s / D) * (1 / (theta * theta * D) - turn) + s / (theta * D) * (1 / (theta * D));
      const double trace = 1 - s / D + 1 / (theta * theta * D) - turn;
      const double error = fmax(fabs(A[0] * A[3] - A[1] * A[2] - det), fabs(A[0] + A[3] - trace));
      worst = fmax(worst, error);
      dj_deleteData(d);
      dj_deleteModel(m);
    }
  }
  djv_below(r, "determinant and trace beside the theory's", worst, 1e-3, "");
}

int main(int argc, char** argv) {
  djvReport r = {0};
  djv_isQuick(argc, argv);
  laws_(&r);
  bound(&r);
  eigenvalues(&r);
  return djv_finish(&r);
}
