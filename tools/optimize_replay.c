// The written scene in both engines, from the optimised start with the optimised controls.

#include "optimize_run.h"

#include "progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef DJ_HAVE_MUJOCO

static double* copy(const double* from, size_t n) {
  double* to = tool_alloc(n, sizeof *to);
  if (n > 0) memcpy(to, from, n * sizeof *to);
  return to;
}

static void make_inputs(Inputs* in, const djModel* m, const djDesign* d) {
  const djRollout* rollout = &d->rollout;
  size_t nu = (size_t)m->nu, horizon = (size_t)rollout->horizon;
  *in = (Inputs){.steps = rollout->horizon, .timestep = m->opt.timestep, .key = d->problem->key,
                 .seed = -1, .model = m};
  in->qpos = copy(rollout->qpos0, (size_t)m->nq);
  in->qvel = copy(rollout->qvel0, (size_t)m->nv);
  in->act = copy(rollout->act0, (size_t)m->na);
  if (rollout->history_qpos0) {
    in->history_qpos = copy(rollout->history_qpos0, (size_t)m->nq);
    in->history_qvel = copy(rollout->history_qvel0, (size_t)m->nv);
  }
  in->ctrl0 = tool_alloc(nu, sizeof(double));
  in->nrow = nu > 0 ? (int)horizon : 0;
  in->ctrl = copy(rollout->ctrl, horizon * nu);
}

static void film_mujoco(Replay* replay, TouchList* touch, long k) {
  const Engine* e = &replay->engine[1];
  if (!film_due(&replay->film, k)) return;
  touch_mujoco(touch, e);
  film_add(&replay->film, (double)k * replay->inputs.timestep, e->xpos, e->xquat, touch);
}

void replay_run(Replay* replay, const djDesign* d, const char* path) {
  djError err = {""};
  TouchList touch = {0};
  Scene* s = &replay->scene;
  *s = (Scene){.path = path};
  if (dj_loadMJCF(&s->model, &s->report, &s->stock, path, &err) < 0) {
    snprintf(replay->note, sizeof replay->note, "%.500s", err.text);
    return;
  }
  make_inputs(&replay->inputs, s->model, d);
  for (int k = 0; k < ENGINES; k++) {
    if (engine_open(&replay->engine[k], k == 1, s, &replay->inputs)) continue;
    snprintf(replay->note, sizeof replay->note, "%.500s", replay->engine[k].error);
    return;
  }
  record_open(&replay->record, s->model, replay->inputs.steps);
  record_add(&replay->record, replay->engine, 0);
  film_open(&replay->film, s->model, replay->inputs.steps);
  film_mujoco(replay, &touch, 0);
  replay->done = true;
  for (long i = 0; i < replay->inputs.steps && !*replay->note; i++) {
    for (int k = 0; k < ENGINES; k++) {
      Engine* e = &replay->engine[k];
      if (engine_step(e, &replay->inputs, i) && engine_measure(e)) continue;
      snprintf(replay->note, sizeof replay->note, "%s stops: %.480s", e->name, e->error);
    }
    if (!*replay->note) {
      record_add(&replay->record, replay->engine, i + 1);
      film_mujoco(replay, &touch, i + 1);
    }
    progress_show("replaying the result", (double)i + 1, (double)replay->inputs.steps, "%s", "");
  }
  touch_free(&touch);
  progress_end();
}

#else

void replay_run(Replay* replay, const djDesign* d, const char* path) {
  (void)d, (void)path;
  snprintf(replay->note, sizeof replay->note, "a build with MuJoCo is needed");
}

#endif

void replay_other(OtherReplay* other, const djDesign* d, const char* path) {
  Replay replay = {0};
  replay_run(&replay, d, path);
  other->done = replay.done;
  snprintf(other->note, sizeof other->note, "%s", replay.note);
  other->difference = replay.record.difference;
  replay_close(&replay);
}

void replay_close(Replay* replay) {
  free(replay->other);
  for (int k = 0; k < ENGINES; k++) engine_close(&replay->engine[k]);
  if (replay->done) record_close(&replay->record);
  film_close(&replay->film);
  inputs_free(&replay->inputs);
  scene_close(&replay->scene);
  *replay = (Replay){0};
}
