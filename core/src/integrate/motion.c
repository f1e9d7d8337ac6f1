// What the start of a step fixes, and the motion from there.

#include "integrate/armature.h"
#include "integrate/mocap.h"

void dj_setStart(djWork* w, const djModel* m) {
  if (!w->begun) dj_setPlaceAt(&w->begin, w, m, w->stage_part);
  w->begun = false;
  for (int b = 0; b < m->nbody; b++) w->ref[b] = w->begin.kin.com[m->body_root[b]];
}

// Where q+ = q (+) c psi the displacement goes on by (c - 1) psi, over stage_h.
static double restOf(const djWork* w) {
  if (!w->coef.turns) return 0;
  return (w->coef.position[DJ_SOURCE_STAGE + w->stage] - 1) * w->stage_h;
}

djMotion dj_motionAt(const djWork* w, const djModel* m, const djPlace* at) {
  bool exact = w->method && w->method->prompt;
  bool prompt = exact || w->acting == DJ_ACTS_SMOOTH;
  djPoint start = dj_pointOf(&w->begin), rate = w->drifts ? dj_pointOf(&w->rate) : start;
  const djKin *from = start.kin, *from_rate = rate.kin;
  if (w->carries) {
    from = &w->from.kin;
    from_rate = w->drifts ? &w->from_rate.kin : from;
  }
  return (djMotion){m,
                    &w->start,
                    w->ref,
                    start,
                    rate,
                    dj_pointOf(at),
                    w->lags ? &w->lag.kin : NULL,
                    w->stage_h,
                    exact ? w->coef.time[w->stage] : w->h,
                    w->convexity,
                    w->bends ? w->V : NULL,
                    prompt,
                    prompt ? w->drift : NULL,
                    w->acting,
                    from,
                    from_rate,
                    w->carries ? w->mocap_rate : NULL,
                    w->has_past ? dj_pointOf(&w->back) : (djPoint){NULL, NULL, NULL},
                    restOf(w)};
}

djInputs dj_inputsOf(const djWork* w) {
  if (w->acting != DJ_ACTS_ALL) return DJ_INPUTS_HARD;
  return w->method->prompt ? DJ_INPUTS_EXACT : DJ_INPUTS_ROUNDED;
}

djStatus dj_beginStep(djWork* w, const djModel* m, double stage_h) {
  const djData* d = &w->start;
  w->stage_h = stage_h;
  dj_setMocapStage(w, m, stage_h);
  dj_setStart(w, m);
  if (w->carries) dj_openPlace(&w->from, m, w->ref);
  if (w->drifts) {
    dj_integratePos(w->rate.q, m, d->qpos, w->drift, 1);
    dj_setPlaceAt(&w->rate, w, m, w->stage_part);
    if (w->carries) dj_setPlaceAt(&w->from_rate, w, m, w->rate_part);
    if (w->carries) dj_openPlace(&w->from_rate, m, w->ref);
  }
  dj_nextActivations(w->act_next, m, d, w->h, dj_inputsOf(w));
  dj_setArmature(w, m);
  djMotion motion = dj_motionAt(w, m, &w->begin);
  return dj_beginForces(&w->forces, &motion, &w->error);
}

// With mocap bodies where they would have been, had they come on their way.
void dj_setPast(djWork* w, const djModel* m, const djPlace* there) {
  if (!dj_contactsOf(&w->forces)) return;
  if (there && !w->carries) {
    dj_copyPlace(&w->back, m, there);
  } else {
    dj_integratePos(w->back.q, m, w->start.qpos, w->start.qvel, -w->h);
    dj_setPlaceAt(&w->back, w, m, -1);
  }
  w->has_past = true;
}

djStatus dj_pastForces(djMatrix* G, djWork* w, const djModel* m, const djPlace* at) {
  if (!w->has_past) return DJ_OK;
  djMotion motion = dj_motionAt(w, m, at);
  dj_motionSubspace(&w->back.kin, m, w->ref);
  return dj_startPast(G, &w->forces, &motion);
}

void dj_setBack(djWork* w, const djModel* m) {
  const djData* d = &w->start;
  dj_integratePos(w->back.q, m, d->qpos, d->qvel, -w->stage_h);
  dj_setPlaceAt(&w->back, w, m, w->stage_part);
}
