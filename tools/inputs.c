#include "inputs.h"

#include <dijoco/csv.h>

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// Steps for which random controls are held.
enum { HOLD = 10 };

int inputs_keyframe(int* key, const Options* o, const Scene* s) {
  *key = -1;
  if (!o->keyframe) return 0;
  *key = dj_name2id(s->model, DJ_OBJ_KEY, o->keyframe);
  if (*key >= 0) return 0;
  char* end;
  long index = strtol(o->keyframe, &end, 10);
  if (*o->keyframe && !*end) {
    if (index >= 0 && index < s->model->nkey) {
      *key = (int)index;
      return 0;
    }
    return tool_fail(o->verb, s->path, "--keyframe", "index %s: the scene has %d keyframes",
                     o->keyframe, s->model->nkey);
  }
  return tool_fail(o->verb, s->path, "--keyframe", "the scene has no keyframe '%s'", o->keyframe);
}

static double* copy(size_t n, const double* from) {
  double* to = tool_alloc(n, sizeof *to);
  if (from && n) memcpy(to, from, n * sizeof *to);
  return to;
}

// The start that the scene itself has.
static void scene_start(Inputs* in, const djModel* m) {
  size_t k = in->key >= 0 ? (size_t)in->key : 0;
  bool keyed = in->key >= 0;
  size_t nq = (size_t)m->nq, nv = (size_t)m->nv, na = (size_t)m->na, nu = (size_t)m->nu;
  in->time = keyed ? m->key_time[k] : 0;
  in->qpos = copy(nq, keyed ? m->key_qpos + k * nq : m->qpos0);
  in->qvel = copy(nv, keyed ? m->key_qvel + k * nv : NULL);
  in->act = copy(na, keyed ? m->key_act + k * na : NULL);
  in->ctrl0 = copy(nu, keyed ? m->key_ctrl + k * nu : NULL);
}

int inputs_read(Inputs* in, const Options* o, const Scene* s, double timestep) {
  const djModel* m = s->model;
  djError err = {""};
  *in = (Inputs){.key = -1, .seed = o->ctrl_seed, .model = m, .timestep = timestep,
                 .gravity_ramp = m->opt.gravity_ramp};
  if (isnan(o->time)) return tool_fail(o->verb, NULL, "--time", "missing");
  double steps = round(o->time / in->timestep);
  if (!(steps < 1e9)) return tool_fail(o->verb, NULL, "--time", "%g steps are too many", steps);
  in->steps = (long)steps;
  int status = inputs_keyframe(&in->key, o, s);
  if (status) return status;
  scene_start(in, m);
  if (o->state && (o->qpos || o->qvel)) {
    return tool_fail(o->verb, NULL, o->qpos ? "--qpos" : "--qvel",
                     "cannot be given together with --state");
  }
  if (o->qpos && dj_readQpos(in->qpos, m, o->qpos, &err) < 0) return scene_fail(o, o->qpos, &err);
  if (o->qvel && dj_readQvel(in->qvel, m, o->qvel, &err) < 0) return scene_fail(o, o->qvel, &err);
  if (o->ctrl && o->ctrl_seed >= 0) {
    return tool_fail(o->verb, NULL, "--ctrl-seed", "cannot be given together with --ctrl");
  }
  if (o->ctrl && dj_readCtrl(&in->ctrl, &in->nrow, m->nu, o->ctrl, &err) < 0) {
    return scene_fail(o, o->ctrl, &err);
  }
  return 0;
}

void inputs_free(Inputs* in) {
  free(in->qpos);
  free(in->qvel);
  free(in->act);
  free(in->history_qpos);
  free(in->history_qvel);
  free(in->ctrl0);
  dj_freeNumbers(in->ctrl);
  *in = (Inputs){0};
}

void inputs_ctrl(double* ctrl, const Inputs* in, long k) {
  const djModel* m = in->model;
  size_t nu = (size_t)m->nu;
  if (nu == 0) return;
  if (in->seed >= 0) {
    for (size_t i = 0; i < nu; i++) {
      bool limited = m->actuator_ctrllimited[i];
      double low = limited ? m->actuator_ctrlrange[2 * i] : -1;
      double high = limited ? m->actuator_ctrlrange[2 * i + 1] : 1;
      ctrl[i] = low + (high - low) * djd_random((unsigned long)in->seed,
                                                (unsigned long)(k / HOLD), (unsigned long)i);
    }
  } else if (in->nrow > 0) {
    size_t row = (size_t)(k < in->nrow ? k : in->nrow - 1);
    memcpy(ctrl, in->ctrl + row * nu, nu * sizeof *ctrl);
  } else {
    memcpy(ctrl, in->ctrl0, nu * sizeof *ctrl);
  }
}

double inputs_gravity(const Inputs* in, long k) {
  if (!(in->gravity_ramp > 0)) return 1;
  double scale = (double)k * in->timestep / in->gravity_ramp;
  return scale < 1 ? scale : 1;
}
