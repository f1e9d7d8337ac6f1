// Parts of mj_long_range: a task of models/long_range, windows of it that are optimised by one way
// or another, and a search without gradients.

#ifndef DJ_VALIDATION_MJ_LONG_RANGE_H_
#define DJ_VALIDATION_MJ_LONG_RANGE_H_

#include "common/report.h"
#include "common/scene.h"

#include <dijoco/dijoco.h>
#include <mujoco/mujoco.h>

#include <stdio.h>

enum { MAX_VARIABLE = 32, NBUNDLE = 32, NSTART = 64 };

// What a loss and its gradient come from.
typedef enum Way {
  RUN,          // our adjoint, the guide acting in the run
  BACKWARD,     // our adjoint, the guide acting in derivatives alone
  PLAIN,        // our adjoint without a guide
  STOCK,        // MuJoCo's run; matrices of mjd_transitionFD, chained
  BUNDLE,       // mean of NBUNDLE gradients of PLAIN at perturbed variables
  SEARCH,       // CMA-ES, by losses of PLAIN alone
  MEAN,         // our adjoint under contact between triangles, long_range.json; weighting mean
  PAPER,        // the same, weighting paper
  NWAY
} Way;

// A task and what it runs on.
typedef struct Scene {
  const char* name;
  djTask* task;
  djTask* triangles;        // of MEAN and PAPER
  djModel* model[NWAY];
  Way own;                  // RUN or BACKWARD, as the task has it
  mjModel* m;               // as compiled, with the task's timestep
} Scene;

void lr_openScene(Scene* s, const char* name);
void lr_closeScene(Scene* s);

// So many steps of a task, from a state on, as a function of its variables x.
typedef struct Window {
  const Scene* scene;
  Way way;
  djTask task;              // the scene's, for fewer steps
  djTaskVariable variable[MAX_VARIABLE];
  djProblem* problem;       // start and controls may be written before lr_restart
  djDesign* design;
  mjData* d;                // STOCK
  double *A, *B;            // of all steps; STOCK
  double *dctrl, *dqpos, *dqvel;   // derivatives by what x makes
  double* trial;            // (n) of BUNDLE
  double* trial_grad;       // (n)
  double sigma;             // of BUNDLE: of the range of a variable, of 1 where it has none
  djvRandom random;
  long steps;               // simulated; not those within mjd_transitionFD
  long live, drawn;         // of BUNDLE's gradients: not zero, all
  FILE* curve;              // NULL, or where each loss below `least` goes: label,steps,loss
  char label[80];
  double least;             // since the last restart
} Window;

void lr_openWindow(Window* w, const Scene* s, Way way, int horizon, double sigma);
void lr_closeWindow(Window* w);
// After the problem's start or controls were written: x0 and all that follows.
void lr_restart(Window* w);

// A djObjective.
djStatus lr_objective(void* window, double* loss, double* grad, const double* x);

// Width of what an entry of x may be, 1 where it has no bounds.
double lr_range(const Window* w, int i);
// Every entry, of controls every `hold` steps a new one, drawn within bounds; without bounds by at
// most a half about x0.
void lr_draw(double* x, const Window* w, djvRandom* random, int hold);
double lr_normal(djvRandom* random);

// The loss of MuJoCo's run, and its derivatives into dctrl, dqpos, dqvel if they are wanted.
double lr_stock(Window* w, bool gradient);

// CMA-ES: improve x (n) within bounds, by `evaluations` of f; the least loss. scale (n): units.
typedef double (*Loss)(void* user, const double* x);
double lr_search(double* x, int n, const double* lower, const double* upper, const double* scale,
                 double sigma, int evaluations, djvRandom* random, Loss f, void* user);

#endif  // DJ_VALIDATION_MJ_LONG_RANGE_H_
