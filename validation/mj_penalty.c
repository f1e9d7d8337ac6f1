// Robots of gymnasium and dm_control under penalty contact with its defaults.
//   - Under random controls every step is solved, by every integrator that was asked for.
//   - Left alone they come to rest, and what rests has sunk by the rule of the defaults: a
//     thousandth of the smallest geom's radius under the weight on the heaviest, or less.

#include "common/robots.h"

#include <dijoco/setting.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char* const gymnasium[] = {"humanoid",    "humanoidstandup",
                                        "ant",         "half_cheetah",
                                        "hopper",      "walker2d",
                                        "walker2d_v5", "pusher",
                                        "pusher_v5",   "reacher",
                                        "swimmer",     "inverted_pendulum",
                                        "point",       "inverted_double_pendulum"};
static const char* const dm_control[] = {"fish", "ball_in_cup", "point_mass"};
enum {
  NGYMNASIUM = sizeof gymnasium / sizeof gymnasium[0],
  NCONTROL = sizeof dm_control / sizeof dm_control[0],
  NSTANDING = 7, // of gymnasium's, the first: on a floor, and not held by what they overlap
  HOLD = 10      // steps for which controls are held
};

// With penalty contact; NULL with the line that refuses it.
static djModel* open(const mjModel* m, char line[600]) {
  djError err;
  djModel* model = robot_import(m, &err);
  if (model) {
    djOption option = model->opt;
    option.contact = DJ_PENALTY;
    if (dj_setOption(model, &option, &err) == DJ_OK) return model;
    dj_deleteModel(model);
  }
  snprintf(line, 600, "%s", err.text);
  return NULL;
}

static void setIntegrator(djModel* model, djIntegrator integrator) {
  djOption option = model->opt;
  djError err;
  option.integrator = integrator;
  if (dj_setOption(model, &option, &err) < 0) djv_fail("%s", err.text);
}

// ---- runs under random control ----------------------------------------------------------------

typedef struct Tally {
  long steps, failed, unconverged, replaced, cut, iterations;
  double deepest;
} Tally;

static Tally runControlled(const mjModel* m, const djModel* model, double time, int seed) {
  djData* data = robot_makeData(model);
  djvRandom random = djv_random((unsigned)seed);
  const long steps = lround(time / model->opt.timestep);
  djStatus status = DJ_OK;
  long k = 0;
  for (; k < steps && status >= 0; k++) {
    if (k % HOLD == 0) robot_randomCtrl(data->ctrl, m, &random, 1);
    status = dj_step(model, data);
  }
  if (status < 0) djv_note("step %ld: %s", k, dj_errorText(data));
  const djStats* s = &data->stats;
  Tally t = {steps,           steps - s->steps,     s->unconverged_steps, s->fallback_steps,
             s->impact_steps, s->newton_iterations, s->deepest_overlap};
  dj_deleteData(data);
  return t;
}

static void testControlled(djvReport* r, const char* name, const mjModel* m, djModel* model,
                           djIntegrator integrator, bool quick) {
  Tally all = {0};
  setIntegrator(model, integrator);
  for (int seed = 1; seed <= (quick ? 1 : 4); seed++) {
    const Tally t = runControlled(m, model, quick ? 2 : 5, seed);
    all.steps += t.steps;
    all.failed += t.failed;
    all.unconverged += t.unconverged;
    all.replaced += t.replaced;
    all.cut += t.cut;
    all.iterations += t.iterations;
    all.deepest = djv_worst(all.deepest, t.deepest);
  }
  const char* by = dj_choiceName(dj_findSetting("integrator", 0), integrator);
  djv_note("%s, %s: %.2f iterations a step, overlap <= %.2g m, by another method %ld, in parts %ld",
           name, by, (double)all.iterations / (double)all.steps, all.deepest, all.replaced,
           all.cut);
  robot_countOf(r, all.failed, 0, all.steps, "%s, %s: steps that failed", name, by);
  robot_countOf(r, all.unconverged, 0, all.steps, "%s, %s: unconverged steps", name, by);
  djv_figure(r, "unconverged steps", (double)all.unconverged, "");
  djv_figure(r, "steps by another method", (double)all.replaced, "");
  djv_figure(r, "steps in parts", (double)all.cut, "");
}

// ---- at rest ----------------------------------------------------------------------------------

// Of the largest ball in a geom; infinite of a plane.
static double radiusOf(const djModel* m, int g) {
  const double* size = m->geom_size + 3 * g;
  switch (m->geom_type[g]) {
    case DJ_PLANE:
      return INFINITY;
    case DJ_CYLINDER:
      return fmin(size[0], size[1]);
    case DJ_BOX:
    case DJ_ELLIPSOID:
      return fmin(fmin(size[0], size[1]), size[2]);
    default:
      return size[0];
  }
}

static void testRest(djvReport* r, const char* name, djModel* model) {
  setIntegrator(model, DJ_EULER);
  djData* data = robot_makeData(model);
  const long steps = lround(5 / model->opt.timestep);
  djStatus status = DJ_OK;
  double speed = 0, sunk = 0;
  for (long k = 0; k < steps && status >= 0; k++) status = dj_step(model, data);
  for (int i = 0; i < model->nv; i++) speed = djv_worst(speed, fabs(data->qvel[i]));
  for (int k = 0; k < data->npair; k++) {
    const djContactPair* c = &data->pair[k];
    const double radius = fmin(radiusOf(model, c->geom1), radiusOf(model, c->geom2));
    sunk = djv_worst(sunk, -c->gap / radius);
  }
  robot_countOf(r, data->stats.unconverged_steps, 0, steps, "%s, left alone: unconverged", name);
  robot_below(r, speed, 0.1, "", "%s, after 5 s: largest |qvel|", name);
  robot_below(r, 1e3 * sunk, 1, "", "%s: sunk, of the smaller radius/1000", name);
  djv_figure(r, "sunk, of the smaller radius/1000", 1e3 * sunk, "");
  if (data->npair == 0) djv_fail("%s: nothing touches", name);
  dj_deleteData(data);
}

// ---- models -----------------------------------------------------------------------------------

// Returns whether it runs.
static bool testModel(djvReport* r, const char* name, mjModel* m, bool stands, bool quick) {
  static const djIntegrator all[] = {DJ_EULER,    DJ_BDF2, DJ_POSITION,
                                     DJ_VARIATIONAL, DJ_BDF1, DJ_MIDPOINT};
  char line[600];
  djModel* model = open(m, line);
  if (model) {
    for (int k = 0; k < (quick ? 2 : 6); k++) testControlled(r, name, m, model, all[k], quick);
    if (stands) testRest(r, name, model);
    dj_deleteModel(model);
  } else {
    djv_note("%s: refused: %s", name, line);
  }
  mj_deleteModel(m);
  return model != NULL;
}

int main(int argc, char** argv) {
  const bool quick = djv_isQuick(argc, argv);
  djvReport report = {0}, *r = &report;
  const char *folder = robot_folder(), *other = robot_controlFolder();
  if (!folder) return DJV_SKIPPED;
  int refused = 0;
  djv_title("Penalty contact by its defaults, random controls");
  for (int k = 0; k < NGYMNASIUM; k++) {
    refused += !testModel(r, gymnasium[k], robot_load(gymnasium[k]), k < NSTANDING, quick);
  }
  for (int k = 0; k < NCONTROL && other; k++) {
    refused += !testModel(r, dm_control[k], robot_loadFrom(other, dm_control[k]), false, quick);
  }
  djv_countOf(r, "models that are refused", refused, 0, NGYMNASIUM + (other ? NCONTROL : 0));
  return other ? djv_finish(r) : djv_finishWithout(r, "dm_control's models");
}
