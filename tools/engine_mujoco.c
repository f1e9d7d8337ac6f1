// Stock MuJoCo behind the interface of both engines.

#include "clock.h"
#include "touch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef DJ_HAVE_MUJOCO

#include "stock.h"

static void run_kinematics(void* arg) {
  djStock* s = arg;
  mj_kinematics(s->m, s->d);
}

// Poses, energy and distances of the present state. The probe's energy is of the whole gravity.
static bool update(Engine* e, bool first) {
  djStock* s = e->data;
  djError err = {""};
  s->gravity_scale = 1;
  if (dj_probeStock(s, &err) < 0 || djm_guard(run_kinematics, s, &err) < 0) {
    snprintf(e->error, sizeof e->error, "%s", err.text);
    return false;
  }
  e->time = s->d->time;
  e->energy = s->energy[0] + s->energy[1];
  e->gap = s->probe_distance;
  e->ncontact = s->ncontact;
  e->contact = s->contact;
  Tally* t = &e->tally;
  if (first) t->smallest_gap = INFINITY;
  t->smallest_gap = fmin(t->smallest_gap, e->gap);
  t->deepest_overlap = fmax(t->deepest_overlap, fmax(0, -e->gap));
  snprintf(t->note, sizeof t->note, "%s", s->warning);
  return true;
}

// The constraint solver's iterations of the last step.
static void count_iterations(Tally* t, const mjModel* m, const mjData* d) {
  int islands = d->nisland < 1 ? 1 : d->nisland < mjNISLAND ? d->nisland : mjNISLAND;
  bool exhausted = false;
  for (int k = 0; k < islands; k++) {
    int n = d->solver_niter[k], last = (n < mjNSOLVER ? n : mjNSOLVER) - 1;
    t->newton_iterations += n;
    exhausted = exhausted || (n > 0 && n >= m->opt.iterations);
    if (last >= 0) {
      t->worst_residual = fmax(t->worst_residual, d->solver[k * mjNSOLVER + last].gradient);
    }
  }
  t->unconverged_steps += exhausted;
}

static bool step_mujoco(Engine* e, const double* ctrl, double gravity) {
  djStock* s = e->data;
  djError err = {""};
  s->gravity_scale = gravity;
  double before = tool_clock();
  djStatus status = dj_stepStock(s, e->model->nu ? ctrl : NULL, &err);
  e->tally.wall += tool_clock() - before;
  if (status < 0) {
    snprintf(e->error, sizeof e->error, "%s", err.text);
    return false;
  }
  count_iterations(&e->tally, s->m, s->d);
  return update(e, false);
}

// The probe of each step has measured it already.
static bool measure_mujoco(Engine* e) {
  (void)e;
  return true;
}

static void settings_mujoco(const Engine* e, Json* out, const Scene* scene, const Options* o) {
  static const char* const integrator[] = {"Euler", "RK4", "implicit", "implicitfast", "discrete"};
  static const char* const solver[] = {"PGS", "CG", "Newton"};
  const djStock* s = e->data;
  const mjOption* opt = &s->m->opt;
  int i = opt->integrator, k = opt->solver;
  json_object(out, "settings");
  json_number(out, "timestep", opt->timestep);
  json_text(out, "integrator", i >= 0 && i < 5 ? integrator[i] : "unknown");
  json_text(out, "contact", "mujoco");
  const djSetting* ours;
  for (int n = 0; (ours = dj_setting(n)); n++) {   // MuJoCo's contact has none of these
    if (strcmp(ours->in_force, ours->field) != 0) json_number(out, ours->name, NAN);
  }
  json_text(out, "cone", opt->cone == mjCONE_ELLIPTIC ? "elliptic" : "pyramidal");
  json_text(out, "solver", k >= 0 && k < 3 ? solver[k] : "unknown");
  json_integer(out, "iterations", opt->iterations);
  json_number(out, "tolerance", opt->tolerance);
  json_number(out, "impratio", opt->impratio);
  json_integer(out, "noslip_iterations", opt->noslip_iterations);
  json_vector(out, "gravity", 3, scene->model->opt.gravity);
  json_number(out, "gravity_ramp", scene->model->opt.gravity_ramp);
  json_integer(out, "threads", o->threads > 0 ? o->threads : 1);
  json_end(out);
}

void touch_mujoco(TouchList* list, const Engine* e) {
  const djStock* s = e->data;
  const mjData* d = s->d;
  list->n = 0;
  for (int i = 0; i < d->ncon; i++) {
    const mjContact* contact = d->contact + i;
    mjtNum local[6];
    if (contact->geom[0] < 0 || contact->geom[1] < 0 || contact->efc_address < 0) continue;
    mj_contactForce(s->m, d, i, local); // in the contact's frame
    Touch t = {.geom1 = contact->geom[0], .geom2 = contact->geom[1], .state = TOUCH_ACTS};
    mju_copy3(t.point, contact->pos);
    mju_mulMatTVec3(t.force, contact->frame, local);
    if (touch_size(&t) > 0) *touch_add(list) = t;
  }
}

static void close_mujoco(Engine* e) { dj_deleteStock(e->data); }

static bool set_parameters(djStock* s, const Scene* scene, djError* err) {
  for (int i = 0; i < scene->nset; i++) {
    const SetValue* set = &scene->set[i];
    if (dj_setStockParam(s, set->name, set->n, set->value, err) < 0) return false;
  }
  return true;
}

bool engine_openMujoco(Engine* e, const Scene* scene, const Inputs* in) {
  djError err = {""};
  djStock* s = NULL;
  if (!scene->stock) {
    snprintf(e->error, sizeof e->error,
             "stock MuJoCo cannot run our own models: give the .xml or .mjb");
    return false;
  }
  e->name = "mujoco";
  if (dj_makeStock(&s, scene->stock, &err) < 0 || !set_parameters(s, scene, &err) ||
      dj_resetStock(s, in->key, &err) < 0) {
    snprintf(e->error, sizeof e->error, "%s", err.text);
    dj_deleteStock(s);
    return false;
  }
  s->m->opt.timestep = in->timestep;
  s->d->time = in->time;
  mju_copy(s->d->qpos, in->qpos, (int)s->m->nq);
  mju_copy(s->d->qvel, in->qvel, (int)s->m->nv);
  mju_copy(s->d->act, in->act, (int)s->m->na);
  e->data = s;
  e->step_one = step_mujoco;
  e->measure = measure_mujoco;
  e->settings = settings_mujoco;
  e->close = close_mujoco;
  e->qpos = s->d->qpos;
  e->qvel = s->d->qvel;
  e->act = s->d->act;
  e->xpos = s->d->xpos;
  e->xquat = s->d->xquat;
  if (update(e, true)) return true;
  dj_deleteStock(s);
  return false;
}

#else

bool engine_openMujoco(Engine* e, const Scene* scene, const Inputs* in) {
  (void)scene, (void)in;
  snprintf(e->error, sizeof e->error, "this build has no MuJoCo");
  return false;
}

void touch_mujoco(TouchList* list, const Engine* e) {
  (void)e;
  list->n = 0;
}

#endif
