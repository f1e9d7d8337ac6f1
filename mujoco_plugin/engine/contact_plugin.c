// The plugin dijoco.contact: contact of owned geoms, by our implicit step.
//
// At each evaluation it takes MuJoCo's state, controls and applied forces, takes our step from
// there and sets the passive force with which MuJoCo's own step ends with the same velocity
// (impose.h). Where MuJoCo's constraints act as well, contact forces that go with theirs are found
// (couple.h). What is kept for an mjData (keep.h) is memory only: nothing in it decides what an
// evaluation gives, so that copies and finite differences of MuJoCo's need not carry it. Where
// mocap bodies began the step is state of the plugin, which MuJoCo carries.

#include "attach.h"
#include "engine/couple.h"
#include "engine/draw.h"
#include "engine/engine.h"
#include "engine/impose.h"
#include "engine/keep.h"
#include "engine/rest.h"
#include "engine/tell.h"
#include "instance.h"
#include "snapshot.h"
#include "step.h"

#include <dijoco/record.h>
#include <dijoco/setting.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char kName[] = "dijoco.contact";

// What an mjData has for an instance.
typedef struct djmContact {
  djmContext* context;       // NULL: no memory was left after a change of the model
  djmSnapshot* snapshot;     // of the model that the context was made from
  mjtNum* rest;              // (nv)
  mjtNum* work;              // of djm_impose, then of djmCouple
  mjtNum* rate;              // (nv) of our step's displacement, to which MuJoCo's is made to lead,
  mjtNum* end;               // (nv) and our velocity at its end
  bool ended;                // they are those of the step from `time`
  mjtNum time;
} djmContact;

static djmContact* contactOf(const mjData* d, int instance) {
  return djm_kept(d, instance);
}

// ------------------------------ making ----------------------------------------------------------

// Why a scene cannot have the plugin, or NULL.
static const char* unsuited(const mjModel* m) {
  if (m->opt.integrator == mjINT_RK4) {
    return "integrator RK4 evaluates forces four times a step; use Euler, implicit, implicitfast "
           "or discrete";
  }
  if (m->opt.enableflags & mjENBL_SLEEP) return "bodies that sleep are not supported";
  if (djm_disabled(m, mjDSBL_SPRING) && djm_disabled(m, mjDSBL_DAMPER)) {
    return "MuJoCo calls no passive plugin when the flags spring and damper are both disabled";
  }
  return NULL;
}

// What is not as in MuJoCo, in one warning.
static void tellReport(const mjModel* m, const djReport* report) {
  enum { kMost = 900 };   // of MuJoCo's 1000 characters
  char text[kMost + 100];
  const int n = dj_reportLines(report);
  snprintf(text, sizeof(text), "%.60s: not as in MuJoCo (warn=\"false\" keeps this quiet): ",
           djm_name(m, 0));
  size_t used = strlen(text);
  for (int i = 0; i < n; i++) {
    const char* line = dj_reportLine(report, i);
    if (used + strlen(line) + 2 > kMost) {
      snprintf(text + used, sizeof(text) - used, "%sand %d more (dijoco inspect)",
               i > 0 ? "; " : "", n - i);
      break;
    }
    used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", i > 0 ? "; " : "", line);
  }
  if (n > 0) djm_tellOnce(kName, text);
}

static void tellCollided(const mjModel* m) {
  char names[600], text[800];
  djError err;
  if (djm_listCollided(names, sizeof(names), m, &err) != DJ_OK || !names[0]) return;
  snprintf(text, sizeof(text),
           "MuJoCo collides these geoms too, so that their contact acts twice: %s (disable the "
           "flag contact, or set their contype and conaffinity to 0)", names);
  djm_tellOnce(kName, text);
}

static bool warns(const mjModel* m, int instance) {
  return strcmp(djm_configOf(m, instance, "warn"), "false") != 0;
}

static void destroy(mjData* d, int instance) {
  djmContact* x = contactOf(d, instance);
  if (!x) return;
  djm_deleteContext(x->context);
  djm_deleteSnapshot(x->snapshot);
  free(x->rest);
  free(x->work);
  free(x->rate);
  free(x);
  djm_keep(d, instance, NULL);
}

static int init(const mjModel* m, mjData* d, int instance) {
  destroy(d, instance);   // of one that was here before and was not destroyed
  const char* why = unsuited(m);
  djError err = {"out of memory"};
  djReport* report = NULL;
  djmContact* x = why ? NULL : calloc(1, sizeof(*x));
  bool kept = x && djm_keep(d, instance, x);
  bool made = kept && (x->rest = calloc(m->nv + 1, sizeof(mjtNum))) != NULL &&
              (x->work = calloc(djm_imposeWork(m) + djm_coupleWork(m), sizeof(mjtNum))) != NULL &&
              (x->rate = calloc(2 * m->nv + 1, sizeof(mjtNum))) != NULL &&
              (x->snapshot = djm_makeSnapshot(m)) != NULL &&
              djm_makeContextFor(&x->context, &report, m, DJM_CONTACTS, NULL, &err) == DJ_OK;
  if (made) {
    if (warns(m, instance)) tellReport(m, report);
    tellCollided(m);
  } else {
    mju_warning("%s: %s", kName, why ? why : err.text);
  }
  dj_deleteReport(report);
  if (!kept) free(x);
  if (!made) destroy(d, instance);
  return made ? 0 : -1;
}

// ------------------------------ stepping --------------------------------------------------------

// Follow changes of the model, which are rare.
static bool update(djmContact* x, const mjModel* m) {
  if (x->context && djm_isCurrent(x->snapshot, m)) return true;
  const char* why = unsuited(m);
  if (why) {
    djm_tellOnce(kName, why);
    return false;
  }
  djError err;
  djmContext* old = x->context;
  djStatus made = djm_makeContextFor(&x->context, NULL, m, DJM_CONTACTS, NULL, &err);
  if (made == DJ_OK && old) dj_moveRecord(djm_data(x->context), djm_data(old));
  djm_deleteContext(old);
  if (made != DJ_OK) {
    djm_tellOnce(kName, err.text);
    return false;
  }
  djm_takeSnapshot(x->snapshot, m);
  return true;
}

// Our step from MuJoCo's state, with more forces; false: there is none.
static bool takeStep(djmContact* x, const mjData* d, const mjtNum* last, const mjtNum* more) {
  djModel* model = djm_model(x->context);
  djData* data = djm_data(x->context);
  if (djm_askRecord(x->context) < 0) {
    djm_tellOnce(kName, djm_errorText(x->context));
    return false;
  }
  djm_readData(x->context, d);
  djm_setLast(x->context, last);
  djm_beginWay(x->context);
  mju_addTo(data->qfrc_applied, x->rest, model->nv);
  if (more) mju_addTo(data->qfrc_applied, more, model->nv);
  for (int i = 0; i < x->context->substeps; i++) {
    djm_goWay(x->context, i);
    if (dj_step(model, data) >= 0) continue;
    djm_tellOnce(kName, dj_errorText(data));
    return false;
  }
  return true;
}

static const mjtNum kRounding = 2e-16;   // m or rad, of coordinates

// MuJoCo's step adds h v+ to the coordinates. Where ours ends with another velocity, as after an
// impact within it and of a body that spins, that is told when coordinates have been advanced.
static bool land(djmContact* x, const mjModel* m, mjData* d) {
  const djData* data = djm_data(x->context);
  x->end = x->rate + m->nv;
  mj_differentiatePos(m, x->rate, m->opt.timestep, d->qpos, data->qpos);
  mju_copy(x->end, data->qvel, (int)m->nv);
  for (int i = 0; i < m->nv; i++) {
    bool rounding = fabs(x->rate[i] - x->end[i]) * m->opt.timestep <= kRounding;
    if (rounding) x->rate[i] = x->end[i];
  }
  x->time = d->time;
  x->ended = djm_impose(m, d, x->rate, x->work) == DJ_OK;
  if (x->ended) return true;
  djm_tellOnce(kName, "MuJoCo's step cannot be made to land on ours");
  return false;
}

static void compute(const mjModel* m, mjData* d, int instance, int capability) {
  (void)capability;
  djmContact* x = contactOf(d, instance);
  if (x) x->ended = false;
  if (!x || (x->context && x->context->passing) || !update(x, m)) return;
  djm_restForce(x->rest, m, d);
  const mjtNum* last = d->plugin_state + m->plugin_stateadr[instance];
  if (!takeStep(x, d, last, NULL) || !land(x, m, d)) return;
  const djModel* model = djm_model(x->context);
  bool equalities = model->nequality > 0 && !(model->opt.disable & DJ_DSBL_EQUALITY);
  if (x->context->joints) djm_dropOurRows(m, d, equalities);
  if (djm_data(x->context)->npair == 0 || !djm_hasConstraints(m, d)) return;
  // Contact forces answer to MuJoCo's constraint forces too.
  djmCouple couple;
  djm_startCouple(&couple, m, x->work + djm_imposeWork(m));
  while (djm_nextCouple(&couple, m, d, djm_model(x->context)->opt.tolerance)) {
    if (!takeStep(x, d, last, couple.r) || !land(x, m, d)) return;
  }
  mju_addTo(x->rest, couple.r, couple.nv);   // for visualize
}

// Contacts of the step from here; forces that only MuJoCo knows are those of the last evaluation.
static void visualize(const mjModel* m, mjData* d, const mjvOption* opt, mjvScene* scene,
                      int instance) {
  djmContact* x = contactOf(d, instance);
  bool wanted = opt->flags[mjVIS_CONTACTPOINT] || opt->flags[mjVIS_CONTACTFORCE];
  if (!x || !wanted || !update(x, m)) return;
  const djModel* model = djm_model(x->context);
  djData* data = djm_data(x->context);
  djStats stats = data->stats;   // of the run
  const mjtNum* last = d->plugin_state + m->plugin_stateadr[instance];
  if (takeStep(x, d, last, NULL)) djm_drawContacts(scene, m, model, opt, data);
  data->stats = stats;
}

djmContext* djm_pluginContext(const mjModel* m, const mjData* d) {
  if (!m || !d || djm_attach(NULL) != DJ_OK) return NULL;
  for (int i = 0; i < m->nplugin; i++) {
    const mjpPlugin* plugin = mjp_getPluginAtSlot(m->plugin[i]);
    if (!plugin || plugin->compute != compute) continue;
    djmContact* x = contactOf(d, i);
    return x ? x->context : NULL;
  }
  return NULL;
}

// ------------------------------ registration ----------------------------------------------------

static int nstate(const mjModel* m, int instance) {
  (void)instance;
  return 7 * (int)m->nmocap;
}

static void reset(const mjModel* m, mjtNum* plugin_state, void* plugin_data, int instance) {
  (void)plugin_data, (void)instance;
  mju_zero(plugin_state, 7 * (int)m->nmocap);
}

// After coordinates have been advanced. What MuJoCo's constraints have changed of the velocity
// stays.
static void advance(const mjModel* m, mjData* d, int instance) {
  const djmContact* x = contactOf(d, instance);
  bool ours = x && x->ended && d->time == x->time + m->opt.timestep;
  for (int i = 0; i < m->nv && ours; i++) d->qvel[i] += x->end[i] - x->rate[i];
  mjtNum* last = d->plugin_state + m->plugin_stateadr[instance];
  mju_copy(last, d->mocap_pos, 3 * (int)m->nmocap);
  mju_copy(last + 3 * m->nmocap, d->mocap_quat, 4 * (int)m->nmocap);
}

static mjpPlugin plugin;
static const char* keys[80];

static void makePlugin(void) {
  const djSetting* s;
  int n = 0;
  for (int i = 0; (s = dj_setting(i)); i++) {
    if (s->ways & DJ_BY_PLUGIN) keys[n++] = s->name;
  }
  for (int i = 0; djm_ownKeys[i]; i++) keys[n++] = djm_ownKeys[i];
  plugin = (mjpPlugin){
      .name = kName,
      .nattribute = n,
      .attributes = keys,
      .capabilityflags = mjPLUGIN_PASSIVE,
      .nstate = nstate,
      .init = init,
      .destroy = destroy,
      .reset = reset,
      .compute = compute,
      .advance = advance,
      .visualize = visualize,
  };
}

const mjpPlugin* djm_contactPlugin(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, makePlugin);
  return &plugin;
}
