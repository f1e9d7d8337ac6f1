// The scenes of implicit surfaces (models/implicit) at full length: ten bodies that keep momentum and
// energy, and an arm that meets ground, cube and cylinder in this order and holds on to the last one.
//
// Times are the processor's. Share of contact: each step is also taken from the same state without
// contact; the rest is contact's: search, kinematics, derivatives and the iterations that it takes.

#include "common/mj_scene.h"
#include "common/vec3.h"

#include <stdlib.h>
#include <string.h>

#define SECONDS 5.0
#define PULL 40.0      // N, the tendon's tension after that time
enum { MAX_GEOM = 64, NTIME = 3 };

typedef struct Run {
  djvBoth both;
  djModel* model;      // without contact
  djData* data;
  double* state;
  double with, without;
} Run;

static void openRun(Run* run, const char* name) {
  djError err;
  *run = (Run){0};
  djv_loadBoth(&run->both, name);
  if (dj_copyModel(&run->model, run->both.model, &err) < 0) djv_fail("%s: %s", name, err.text);
  djOption option = run->model->opt;
  option.contact = DJ_CONTACT_NONE;
  if (dj_setOption(run->model, &option, &err) < 0 ||
      dj_makeData(&run->data, run->model, &err) < 0) {
    djv_fail("%s: %s", name, err.text);
  }
  run->state = djv_take((size_t)dj_stateSize(run->model), sizeof(double));
}

static void closeRun(Run* run) {
  free(run->state);
  dj_deleteData(run->data);
  dj_deleteModel(run->model);
  djv_freeBoth(&run->both);
}

static void setState(djData* d, const djModel* m, const Run* run) {
  if (dj_setState(d, m, run->state) < 0) djv_fail("state: %s", dj_errorText(d));
}

static double timeStep(const djModel* m, djData* d) {
  double start = djv_clock();
  if (dj_step(m, d) < 0) djv_fail("step: %s", dj_errorText(d));
  return djv_clock() - start;
}

// One step; the least time of NTIME, as other programs disturb it.
static void takeStep(Run* run) {
  const djModel* m = run->both.model;
  djData* d = run->both.data;
  double with = INFINITY, without = INFINITY;
  if (dj_getState(run->state, m, d) < 0) djv_fail("state: %s", dj_errorText(d));
  if (m->nu) memcpy(run->data->ctrl, d->ctrl, (size_t)m->nu * sizeof(double));
  for (int k = 0; k < NTIME; k++) {
    setState(run->data, run->model, run);
    without = fmin(without, timeStep(run->model, run->data));
    setState(d, m, run);
    with = fmin(with, timeStep(m, d));
  }
  run->without += without;
  run->with += with;
}

static void reportTimes(djvReport* r, const Run* run, const char* name, double limit) {
  char text[100];
  const djStats* s = &run->both.data->stats;
  snprintf(text, sizeof text, "%s: processor time of 5 s", name);
  djv_below(r, text, run->with, limit, "s");
  djv_figure(r, text, run->with, "s");
  snprintf(text, sizeof text, "%s: share of contact", name);
  djv_figure(r, text, 100 * (1 - run->without / run->with), "%");
  djv_note("share of contact %.0f %%, %.2f Newton iterations a step",
           100 * (1 - run->without / run->with), (double)s->newton_iterations / (double)s->steps);
  snprintf(text, sizeof text, "%s: unconverged steps", name);
  djv_count(r, text, s->unconverged_steps, 0);
}

// ---- ten bodies -------------------------------------------------------------------------------

// Linear momentum, and angular momentum about the origin, by MuJoCo.
static void momentumOf(double out[6], const djvBoth* both, mjData* d) {
  const mjModel* m = both->m;
  memcpy(d->qpos, both->data->qpos, (size_t)m->nq * sizeof(double));
  memcpy(d->qvel, both->data->qvel, (size_t)m->nv * sizeof(double));
  mj_forward(m, d);
  mj_subtreeVel(m, d);
  for (int k = 0; k < 3; k++) out[k] = m->body_subtreemass[0] * d->subtree_linvel[k];
  djv_cross(out + 3, d->subtree_com, out);
  for (int k = 0; k < 3; k++) out[3 + k] += d->subtree_angmom[k];
}

static double changeOf(const double a[3], const double b[3]) {
  double worst = 0;
  for (int k = 0; k < 3; k++) worst = djv_worst(worst, fabs(a[k] - b[k]));
  return worst;
}

// Starts at the keyframe; the integrator's own step, or another.
static void throwBodies(djvReport* r, const char* integrator, double timestep) {
  Run run;
  djError err;
  bool own = !integrator;
  openRun(&run, "implicit/ten_bodies");
  djModel* models[2] = {run.both.model, run.model};
  for (int k = 0; k < 2 && !own; k++) {
    djOption option = models[k]->opt;
    option.integrator = strcmp(integrator, "variational") == 0 ? DJ_VARIATIONAL : DJ_MIDPOINT;
    option.timestep = timestep;
    if (dj_setOption(models[k], &option, &err) < 0) djv_fail("ten_bodies: %s", err.text);
  }
  const djModel* m = run.both.model;
  djData* d = run.both.data;
  mjData* seen = mj_makeData(run.both.m);
  if (!seen || dj_resetKey(m, d, 0) < 0 || dj_forward(m, d) < 0) djv_fail("ten_bodies: no start");
  double first[6], now[6], linear = 0, angular = 0, energy = d->energy[0] + d->energy[1];
  bool met[MAX_GEOM][MAX_GEOM] = {{false}};
  int pairs = 0;
  momentumOf(first, &run.both, seen);
  for (long k = lround(SECONDS / m->opt.timestep); k > 0; k--) {
    takeStep(&run);
    momentumOf(now, &run.both, seen);
    linear = djv_worst(linear, changeOf(now, first));
    angular = djv_worst(angular, changeOf(now + 3, first + 3));
    for (int p = 0; p < d->npair; p++) {
      const djContactPair* c = &d->pair[p];
      bool* one = &met[c->geom1][c->geom2];
      if (c->normal_force > 0 && !*one) pairs++;
      *one |= c->normal_force > 0;
    }
  }
  if (dj_forward(m, d) < 0) djv_fail("ten_bodies: %s", dj_errorText(d));
  double lost = 100 * fabs(1 - (d->energy[0] + d->energy[1]) / energy);
  if (own) {
    djv_title("Ten bodies thrown at a point");
    djv_above(r, "ten bodies: pairs of 45 that met", pairs, 15, "");
    djv_below(r, "ten bodies: change of linear momentum", linear, 1e-9, "kg m/s");
    djv_below(r, "ten bodies: change of angular momentum", angular, 1e-9, "kg m2/s");
    djv_below(r, "ten bodies: change of energy", lost, 1, "%");
    djv_figure(r, "ten bodies: change of energy", lost, "%");
    reportTimes(r, &run, "ten bodies", 0.4);
  } else {
    djv_note("%s at %g ms: energy changes by %.3g %%, linear momentum by %.2g kg m/s, angular by "
             "%.2g kg m2/s, %.2f s",
             integrator, 1e3 * timestep, lost, linear, angular, run.with);
  }
  mj_deleteData(seen);
  closeRun(&run);
}

// ---- soft arm ---------------------------------------------------------------------------------

enum { GROUND, CUBE, CYLINDER, NTHING };

static void bendArm(djvReport* r) {
  static const char* const names[NTHING] = {"ground", "cube", "cylinder"};
  Run run;
  openRun(&run, "implicit/soft_arm");
  const djModel* m = run.both.model;
  djData* d = run.both.data;
  long nstep = lround(SECONDS / m->opt.timestep);
  double first[NTHING] = {INFINITY, INFINITY, INFINITY}, last[NTHING] = {0};
  int geom[NTHING], fewest = MAX_GEOM;
  for (int k = 0; k < NTHING; k++) geom[k] = dj_name2id(m, DJ_OBJ_GEOM, names[k]);
  for (long k = 1; k <= nstep; k++) {
    d->ctrl[0] = PULL * (double)k / (double)nstep;
    takeStep(&run);
    int holding = 0;
    double time = (double)k * m->opt.timestep;
    for (int p = 0; p < d->npair; p++) {
      const djContactPair* c = &d->pair[p];
      if (!(c->normal_force > 0)) continue;
      for (int i = 0; i < NTHING; i++) {
        if (c->geom1 != geom[i] && c->geom2 != geom[i]) continue;
        first[i] = fmin(first[i], time);
        last[i] = time;
        holding += i == CYLINDER;
      }
    }
    if (time > SECONDS - 1 && holding < fewest) fewest = holding;
  }
  djv_title("A soft arm whose tendon is pulled with 0 to %g N", PULL);
  for (int i = 0; i < NTHING; i++) {
    djv_note("%-8s first at %.3f s, last at %.3f s", names[i], first[i], last[i]);
  }
  djv_below(r, "arm: first touch of the ground", first[GROUND], first[CUBE], "s");
  djv_below(r, "arm: last touch of the cube", last[CUBE], first[CYLINDER], "s");
  djv_above(r, "arm: segments on the cylinder in the last second", fewest, 2, "");
  djv_figure(r, "arm: segments on the cylinder", fewest, "");
  reportTimes(r, &run, "arm", 5.64);
  closeRun(&run);
}

int main(int argc, char** argv) {
  djvReport r = {0};
  bool quick = djv_isQuick(argc, argv);
  throwBodies(&r, NULL, 0);
  if (!quick) {
    throwBodies(&r, "midpoint", 1e-3);
    throwBodies(&r, "variational", 5e-3);
    throwBodies(&r, "variational", 1e-3);
    throwBodies(&r, "variational", 1e-4);
  }
  bendArm(&r);
  return djv_finish(&r);
}
