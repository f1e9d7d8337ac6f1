// The book stack of "Efficient Differentiable Contact Model with Long-Range Influence", Table 2: 20
// planks of 2 x 0.4 x 0.2 m and 0.16 kg, each reaching as far over the one below as it can, less
// 0.1% of its length, without friction, at coefficients from 1e-5 to 1e-10 J. What the paper gives:
//
//   coefficient (J)   1e-5     1e-6     1e-7     1e-8     1e-10
//   margin (mm)       18.2     5.67     1.47     0.412    0.0313
//   force error (N)   6.38e-3  6.40e-4  6.42e-5  6.42e-6  6.42e-8
//   stands            no       yes      yes      yes      yes
//
// The lowest plank is fixed; the others start level, at the gaps at which each bears what is above
// it: their mean is the margin, and what planks that are no neighbours push the top one with is the
// error. Then the stack is let go, without friction. Both weightings; with --quick one coefficient.

#include "common/report.h"
#include "common/scene.h"

#include <math.h>
#include <stdio.h>

enum { NPLANK = 20, NCOEF = 5 };
#define HALF_LENGTH 1.0
#define HALF_HEIGHT 0.1
#define MASS 0.16
#define INSET 2e-3
#define STEP 0.02
#define SECONDS 4.0
#define TOPPLED 0.05 // m, of drift

static const double coefficient[NCOEF] = {1e-5, 1e-6, 1e-7, 1e-8, 1e-10};
static const double margin[NCOEF] = {18.2, 5.67, 1.47, 0.412, 0.0313};

typedef struct Outcome {
  double margin;       // mean, m; of planks that stand
  double error;        // of the top plank's force there, N
  double drift, after; // largest along x, m; when it toppled, s
  long unconverged;
} Outcome;

// Two planks, one over the other by `shift`, in a query.
typedef struct Planks {
  djcShape shape[2];
  djcOption option;
  djcSetting setting[2];
} Planks;

static void openPlanks(Planks* p, bool paper, int triangles) {
  const djcShape plank = {
      .geom = DJ_BOX, .size = {HALF_LENGTH, 0.2, HALF_HEIGHT}, .quat = {1, 0, 0, 0}};
  p->shape[0] = p->shape[1] = plank;
  p->setting[0] = (djcSetting){"weighting", paper};
  p->setting[1] = (djcSetting){"triangles", triangles};
  p->option = djc_defaultOption();
  p->option.model = DJ_LONG_RANGE;
  p->option.nsetting = 2;
  p->option.setting = p->setting;
}

// The gap at which level planks bear a force at a stiffness of K.
static double restGap(Planks* p, double shift, double K, double force) {
  double low = 1e-8, high = 0.3;
  for (int i = 0; i < 40; i++) {
    const double gap = sqrt(low * high);
    djcResult r;
    p->shape[1].pos[0] = shift;
    p->shape[1].pos[2] = 2 * HALF_HEIGHT + gap;
    const djStatus status = djc_pair(&r, NULL, NULL, NULL, &p->shape[0], &p->shape[1], &p->option);
    if (status < 0) djv_fail("%s", r.message);
    if (-K * r.twist_gradient[11] > force)
      low = gap;
    else
      high = gap;
  }
  return low;
}

// Places of the level stack, its mean gap, and the error.
typedef struct Level {
  double x[NPLANK], z[NPLANK], margin, error;
} Level;

static void levelStack(Level* level, double K, bool paper, int triangles) {
  Planks p;
  openPlanks(&p, paper, triangles);
  *level = (Level){.margin = 0};
  for (int k = 1; k < NPLANK; k++) {
    const int above = NPLANK - k;
    const double shift = HALF_LENGTH / above - INSET;
    const double gap = restGap(&p, shift, K, 9.81 * MASS * above);
    level->margin += gap / (NPLANK - 1);
    level->x[k] = level->x[k - 1] + shift;
    level->z[k] = level->z[k - 1] + 2 * HALF_HEIGHT + gap;
  }
  for (int k = 0; k < NPLANK - 2; k++) {
    djcResult r;
    p.shape[1].pos[0] = level->x[NPLANK - 1] - level->x[k];
    p.shape[1].pos[2] = level->z[NPLANK - 1] - level->z[k];
    if (djc_pair(&r, NULL, NULL, NULL, &p.shape[0], &p.shape[1], &p.option) < 0) {
      djv_fail("%s", r.message);
    }
    level->error -= K * r.twist_gradient[11];
  }
}

static void buildStack(djModel** m, djData** d, djvScene* s, double K, bool paper, int triangles,
                       const Level* level) {
  const double size[3] = {HALF_LENGTH, 0.2, HALF_HEIGHT};
  djv_startScene(s, STEP);
  s->def.option.contact = DJ_LONG_RANGE;
  s->def.option.integrator = DJ_POSITION;
  for (int k = 0; k < NPLANK; k++) {
    const double pos[3] = {level->x[k], 0, level->z[k]};
    const int body = k > 0 ? djv_addFree(s, pos, NULL) : 0;
    djGeomDef* g = djv_addGeom(s, body, DJ_BOX, size, NULL, NULL);
    for (int i = 0; i < 3; i++) g->friction[i] = 0;
    g->condim = 1;
    if (k > 0) djv_setMass(s, body, MASS);
  }
  const double value[3] = {paper, triangles, K};
  static const char* const name[3] = {"weighting", "triangles", "stiffness"};
  static djSettingDef setting[3];
  for (int i = 0; i < 3; i++) {
    setting[i] = (djSettingDef){name[i], "long_range", -1, -1, value[i]};
  }
  s->def.nsetting = 3;
  s->def.setting = setting;
  djv_make(m, d, s);
}

// Largest displacement along x.
static double driftOf(const djModel* m, const djData* d) {
  double drift = 0;
  for (int b = 1; b < m->nbody; b++) {
    drift = djv_worst(drift, fabs(d->xpos[3 * b] - m->body_pos[3 * b]));
  }
  return drift;
}

static Outcome run(double K, bool paper, int triangles, double seconds) {
  static djvScene scene;
  djModel* m = NULL;
  djData* d = NULL;
  Level level;
  levelStack(&level, K, paper, triangles);
  Outcome out = {.margin = level.margin, .error = level.error, .after = INFINITY};
  buildStack(&m, &d, &scene, K, paper, triangles, &level);
  for (double t = 0; t < seconds && out.drift < TOPPLED; t += STEP) {
    if (dj_step(m, d) < 0) djv_fail("%s", dj_errorText(d));
    out.drift = djv_worst(out.drift, driftOf(m, d));
    if (out.drift >= TOPPLED) out.after = d->time;
  }
  out.unconverged = d->stats.unconverged_steps;
  dj_deleteData(d);
  dj_deleteModel(m);
  return out;
}

static void table(djvReport* r, bool paper, int triangles, bool quick) {
  djv_title("Weighting %s, %d triangles a plank, %g s in steps of %g s", paper ? "paper" : "mean",
            triangles, SECONDS, STEP);
  djv_note("%10s %14s %10s %16s %14s %s", "J", "margin (mm)", "paper's", "force error (N)",
           "drift (mm)", "stands");
  for (int k = 0; k < NCOEF; k++) {
    if (quick && k != 3) continue;
    const Outcome o = run(coefficient[k], paper, triangles, quick ? 0.1 : SECONDS);
    char text[60] = "yes";
    if (o.after < INFINITY) snprintf(text, sizeof text, "no, topples at %.2f s", o.after);
    djv_note("%10.0e %14.4g %10.4g %16.3g %14.3g %s", coefficient[k], 1e3 * o.margin, margin[k],
             o.error, 1e3 * o.drift, text);
    djv_count(r, "unconverged steps", o.unconverged, 0);
    if (!paper && k == 4) djv_above(r, "stands for", fmin(o.after, SECONDS), SECONDS - 1e-9, "s");
    if (k == 3 && !paper) {
      djv_near(r, "force error over coefficient (the paper's: 642)", o.error / coefficient[k], 435,
               10, "1/m");
    }
  }
}

int main(int argc, char** argv) {
  const bool quick = djv_isQuick(argc, argv);
  djvReport r = {0};
  table(&r, false, 12, quick);
  table(&r, true, 12, quick);
  if (!quick) table(&r, true, 48, quick);
  return djv_finish(&r);
}
