// A step is mj_step's on an mjModel of the djModel's own, from a state that is written whole: no
// warm start, so that it depends on nothing else. Derivatives are djm_transitionMuJoCoWith's there.
//
// A djModel and its copies share the mjModel that they were imported from. One that chooses
// MuJoCo's physics has a copy besides, to which options and parameters are written by their names.

#include "physics.h"

#include "attach.h"
#include "import.h"
#include "param_table.h"
#include "stock_work.h"

#include <dijoco/physics.h>

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Source {
  atomic_int users;
  mjModel* m;
} Source;

typedef struct Physics {
  Source* source;
  djStock* stock;            // NULL: it has not been chosen
} Physics;

typedef struct PhysicsData {
  mjModel view;              // of the last call: the stock's, without plugins and sensors
  mjData* d;
  djmTransitionWork* work;   // NULL: no derivatives have been asked for
  djmDesignGradient* design; // NULL: none by parameters
  int nparam;                // that are asked for
  mjtNum by_start[];         // (tangent + nu) scratch
} PhysicsData;

// ---- models -------------------------------------------------------------------------------------

static void deleteSource(void* arg) { mj_deleteModel(arg); }

static void deleteModel(void* own) {
  Physics* p = own;
  if (!p) return;
  dj_deleteStock(p->stock);
  if (p->source && atomic_fetch_sub(&p->source->users, 1) == 1) {
    djm_guard(deleteSource, p->source->m, NULL);
    free(p->source);
  }
  free(p);
}

static djStatus copyModel(void** copy, const void* own, djError* err) {
  const Physics* p = own;
  Physics* to = calloc(1, sizeof(*to));
  if (!to) return djm_stockError(err, DJ_NO_MEMORY, "out of memory");
  to->source = p->source;
  atomic_fetch_add(&to->source->users, 1);
  djStatus status = p->stock ? dj_makeStock(&to->stock, p->stock->m, err) : DJ_OK;
  if (status < 0) {
    deleteModel(to);
    return status;
  }
  *copy = to;
  return DJ_OK;
}

// What a state of (qpos, qvel, act) leaves out, or a step of mj_step alone does not show.
static const char* refused(const mjModel* m, const djModel* model) {
  if (m->nhistory > 0) return "delays and intervals";
  if (m->nplastic > 0) return "springyield";
  if (m->opt.enableflags & mjENBL_SLEEP) return "flag sleep";
  if (m->na != model->na) return "an activation that is left out";
  if (!djm_sameFlexes(m, model)) return "a flex that has been changed";
  return NULL;
}

static bool isSame(double a, double b) { return fabs(a - b) <= 1e-12 * fmax(fabs(a), fabs(b)); }

static djStatus setParam(void* own, const djModel* model, const djParam* param, djError* err) {
  djStock* s = ((Physics*)own)->stock;
  size_t size = dj_paramNameSize(model, param);
  double* value = calloc((size_t)param->nvalue + 1, sizeof(*value));
  char* name = malloc(size);
  djStatus status = value && name ? DJ_OK : djm_stockError(err, DJ_NO_MEMORY, "out of memory");
  if (status == DJ_OK) status = dj_getParam(value, model, param);
  if (status == DJ_OK) {
    dj_paramName(name, size, model, param);
    status = dj_setStockParam(s, name, param->nvalue, value, err);
    mju_copy3(s->m->opt.gravity, s->work->gravity);
  }
  free(value);
  free(name);
  return status;
}

// Whether the mjModel has a parameter's numbers.
static bool hasParam(const mjModel* m, const djmParamRow* row, const djParam* param,
                     const double* value) {
  int n;
  const mjtNum* place = djm_paramPlace(&n, m, row, param->id);
  for (int k = 0; k < n && k < param->nvalue; k++) {
    if (!isSame(place[k], value[k])) return false;
  }
  return true;
}

// Actuators of which ours are MuJoCo's, number by number: not those with several inputs, nor servos,
// which are made of other numbers.
static bool isAlike(const mjModel* m, const djmParamRow* row, int id) {
  if (strncmp(row->name, "actuator/", 9) != 0) return true;
  if (m->nactuator != m->nu) return false;
  return row->place != DJM_LAW || !djm_isServo(m, id) || djm_isMotor(m, id);
}

static djStatus followRow(Physics* p, const djModel* model, const djmParamRow* row, djError* err) {
  djmParamList list;
  djStatus status = DJ_OK;
  if (!djm_listParams(&list, model, row->name)) {
    return djm_stockError(err, DJ_NO_MEMORY, "out of memory");
  }
  for (int i = 0; i < list.n && status == DJ_OK; i++) {
    const djParam* param = &list.param[i];
    if (!isAlike(p->stock->m, row, param->id)) continue;
    double* value = calloc((size_t)param->nvalue + 1, sizeof(*value));
    if (!value) status = djm_stockError(err, DJ_NO_MEMORY, "out of memory");
    else status = dj_getParam(value, model, param);
    if (status == DJ_OK && !hasParam(p->stock->m, row, param, value)) {
      status = setParam(p, model, param, err);
    }
    free(value);
  }
  free(list.param);
  return status;
}

static djStatus followMeshes(Physics* p, const djModel* model, djError* err) {
  const mjModel* m = p->stock->m;
  djmParamList list;
  djStatus status = DJ_OK;
  if (!djm_listParams(&list, model, "mesh/N/vert")) {
    return djm_stockError(err, DJ_NO_MEMORY, "out of memory");
  }
  for (int i = 0; i < list.n && status == DJ_OK; i++) {
    int mesh = list.param[i].id, n = 3 * m->mesh_vertnum[mesh];
    const double* ours = model->mesh_vert + 3 * model->mesh_vertadr[mesh];
    const float* vert = m->mesh_vert + 3 * m->mesh_vertadr[mesh];
    bool same = list.param[i].nvalue == n;
    for (int k = 0; k < n && same; k++) same = (float)ours[k] == vert[k];
    if (!same) status = setParam(p, model, &list.param[i], err);
  }
  free(list.param);
  return status;
}

static djStatus followHfields(Physics* p, const djModel* model, djError* err) {
  const mjModel* m = p->stock->m;
  djmParamList list;
  djStatus status = DJ_OK;
  if (!djm_listParams(&list, model, "hfield/N/heights")) {
    return djm_stockError(err, DJ_NO_MEMORY, "out of memory");
  }
  for (int i = 0; i < list.n && status == DJ_OK; i++) {
    const int field = list.param[i].id, n = m->hfield_nrow[field] * m->hfield_ncol[field];
    const double* ours = model->hfield_height + model->hfield_adr[field];
    const float* part = m->hfield_data + m->hfield_adr[field];
    bool same = list.param[i].nvalue == n;
    for (int k = 0; k < n && same; k++) same = ours[k] == m->hfield_size[4 * field + 2] * part[k];
    if (!same) status = setParam(p, model, &list.param[i], err);
  }
  free(list.param);
  return status;
}

static djStatus choose(void* own, const djModel* model, djError* err) {
  Physics* p = own;
  const char* why = refused(p->source->m, model);
  if (why) return djm_stockError(err, DJ_UNSUPPORTED, "contact: mujoco: %s: is not stepped", why);
  djStatus status = p->stock ? DJ_OK : dj_makeStock(&p->stock, p->source->m, err);
  if (status < 0) return status;
  mjOption* to = &p->stock->m->opt;
  const djOption* from = &model->opt;
  to->timestep = from->timestep;
  mju_copy3(p->stock->work->gravity, from->gravity);
  mju_copy3(to->gravity, from->gravity);
  mju_copy3(to->wind, from->wind);
  to->density = from->density;
  to->viscosity = from->viscosity;
  djm_putDisableBits(p->stock->m, from->disable);
  const djmParamRow* row;
  for (int i = 0; (row = djm_paramRow(i)) && status == DJ_OK; i++) {
    status = followRow(p, model, row, err);
  }
  if (status >= 0) status = followMeshes(p, model, err);
  return status < 0 ? status : followHfields(p, model, err);
}

// ---- data ---------------------------------------------------------------------------------------

static void deleteMjData(void* arg) { mj_deleteData(arg); }

static void deleteData(void* data) {
  PhysicsData* p = data;
  if (!p) return;
  djm_deleteTransitionWork(p->work);
  djm_deleteDesignGradient(p->design);
  if (p->d) djm_guard(deleteMjData, p->d, NULL);
  free(p);
}

static void makeMjData(void* arg) {
  PhysicsData* p = arg;
  p->d = mj_makeData(&p->view);
}

static djStatus makeData(void** data, const void* own, djError* err) {
  const Physics* physics = own;
  if (!physics->stock) return djm_stockError(err, DJ_INVALID, "contact: mujoco: not chosen");
  const mjModel* m = physics->stock->m;
  size_t n = (size_t)(2 * m->nv + m->na + m->nu);
  PhysicsData* p = calloc(1, sizeof(*p) + n * sizeof(mjtNum));
  if (!p) return djm_stockError(err, DJ_NO_MEMORY, "out of memory");
  p->view = *m;
  p->view.nplugin = 0;
  djStatus status = djm_guard(makeMjData, p, err);
  if (status >= 0 && !p->d) status = djm_stockError(err, DJ_NO_MEMORY, "out of memory");
  if (status < 0) {
    deleteData(p);
    return status;
  }
  *data = p;
  return DJ_OK;
}

static size_t dataBytes(const void* data) {
  const PhysicsData* p = data;
  return sizeof(*p) + (size_t)p->d->nbuffer + (size_t)p->d->narena;
}

// ---- steps --------------------------------------------------------------------------------------

// Where derivatives are wanted, the solver goes on until it finds next to nothing.
static void solveExactly(mjOption* opt) {
  opt->solver = mjSOL_NEWTON;
  opt->tolerance = fmin(opt->tolerance, 1e-20);
  opt->iterations = opt->iterations > 100 ? opt->iterations : 100;
  opt->ls_tolerance = fmin(opt->ls_tolerance, 1e-10);
  opt->ls_iterations = opt->ls_iterations > 100 ? opt->ls_iterations : 100;
}

// The mjModel and the start of a step.
static void begin(const djPhysicsStep* at) {
  PhysicsData* p = at->data;
  const djModel* model = at->model;
  const djData* from = at->start;
  mjData* d = p->d;
  p->view = *((const Physics*)at->own)->stock->m;
  p->view.nplugin = 0;
  p->view.opt.disableflags |= mjDSBL_SENSOR | mjDSBL_WARMSTART | mjDSBL_AUTORESET;
  p->view.opt.enableflags &= ~(mjENBL_ENERGY | mjENBL_FWDINV);
  mju_scl3(p->view.opt.gravity, p->view.opt.gravity, from->gravity_scale);
  if (at->exact) solveExactly(&p->view.opt);
  d->time = from->time;
  mju_copy(d->qpos, from->qpos, model->nq);
  mju_copy(d->qvel, from->qvel, model->nv);
  mju_copy(d->act, from->act, model->na);
  mju_copy(d->ctrl, from->ctrl, model->nu);
  for (int i = 0, n = 0; i < p->view.neq; i++) {
    if (djm_equalityKept(&p->view, i)) d->eq_active[i] = from->eq_active[n++] != 0;
  }
  mju_copy(d->qfrc_applied, from->qfrc_applied, model->nv);
  mju_copy(d->xfrc_applied, from->xfrc_applied, 6 * model->nbody);
  mju_copy(d->mocap_pos, from->mocap_pos, 3 * model->nmocap);
  mju_copy(d->mocap_quat, from->mocap_quat, 4 * model->nmocap);
}

static void runStep(void* arg) {
  PhysicsData* p = arg;
  mj_step(&p->view, p->d);
}

static void runReset(void* arg) {
  PhysicsData* p = arg;
  mj_resetData(&p->view, p->d);
}

static djStatus checkFinite(const char* name, const mjtNum* v, int n, djError* err) {
  for (int i = 0; i < n; i++) {
    if (mju_isBad(v[i])) {
      return djm_stockError(err, DJ_INVALID, "MuJoCo: %s[%d] = %g", name, i, v[i]);
    }
  }
  return DJ_OK;
}

static int iterationsOf(const mjData* d) {
  int islands = d->nisland < 1 ? 1 : d->nisland < mjNISLAND ? d->nisland : mjNISLAND, n = 0;
  for (int k = 0; k < islands; k++) n += d->solver_niter[k];
  return n;
}

static djStatus step(double* qpos, double* qvel, double* act, int* iterations,
                     const djPhysicsStep* at) {
  PhysicsData* p = at->data;
  const djModel* model = at->model;
  const mjData* d = p->d;
  djError text;
  begin(at);
  djStatus status = djm_guard(runStep, p, &text);
  if (status < 0) {
    djm_guard(runReset, p, NULL);
    return djm_stockError(at->err, status, "MuJoCo: %.480s", text.text);
  }
  status = checkFinite("qpos", d->qpos, model->nq, at->err);
  if (status == DJ_OK) status = checkFinite("qvel", d->qvel, model->nv, at->err);
  if (status == DJ_OK) status = checkFinite("act", d->act, model->na, at->err);
  if (status < 0) return status;
  mju_copy(qpos, d->qpos, model->nq);
  mju_copy(qvel, d->qvel, model->nv);
  mju_copy(act, d->act, model->na);
  *iterations = iterationsOf(d);
  return DJ_OK;
}

// ---- contacts -----------------------------------------------------------------------------------

// Adds contact i, weighted by its normal force, to an entry whose point is the sum of w x, torque
// about the origin.
static void addContact(djContactPair* pair, double* weights, const mjModel* m, const mjData* d,
                       int i) {
  const mjContact* c = d->contact + i;
  mjtNum force[3], torque[3], moment[3];
  bool swap = c->geom[0] > c->geom[1];
  double sign = swap ? -1 : 1;
  mjtNum normal = djm_contactWrench(force, torque, m, d, i);
  mju_cross(moment, c->pos, force);
  mju_addTo3(torque, moment);
  mju_addToScl3(pair->force, force, sign);
  mju_addToScl3(pair->torque, torque, sign);
  double weight = normal + 1e-12;   // of contacts without forces the mean
  mju_addToScl3(pair->point, c->pos, weight);
  mju_addToScl3(pair->normal, c->frame, sign * weight);
  pair->normal_force += normal;
  pair->gap = fmin(pair->gap, c->dist);
  *weights += weight;
}

// MuJoCo lists the contacts of two geoms one after the other.
static int contacts(djContactPair* pair, int most, const djPhysicsStep* at) {
  const PhysicsData* p = at->data;
  const mjData* d = p->d;
  int n = 0;
  for (int i = 0; i < d->ncon;) {
    const int* geom = d->contact[i].geom;
    int low = geom[0] < geom[1] ? geom[0] : geom[1], high = geom[0] + geom[1] - low;
    djContactPair sum = {.geom1 = low, .geom2 = high, .gap = INFINITY};
    double weights = 0;
    bool acts = false;
    do {
      acts = acts || d->contact[i].efc_address >= 0;
      if (low >= 0 && d->contact[i].efc_address >= 0) addContact(&sum, &weights, &p->view, d, i);
      i++;
    } while (i < d->ncon && d->contact[i].geom[0] == geom[0] && d->contact[i].geom[1] == geom[1]);
    if (low < 0 || !acts) continue;
    mjtNum moment[3];
    mju_scl3(sum.point, sum.point, 1 / weights);
    mju_normalize3(sum.normal);
    mju_cross(moment, sum.point, sum.force);
    mju_subFrom3(sum.torque, moment);
    if (n < most) pair[n] = sum;
    n++;
  }
  return n;
}

// ---- derivatives --------------------------------------------------------------------------------

// The start of a step that is differentiated: the solution before begins this one's.
static djStatus openDerivatives(const djPhysicsStep* at) {
  PhysicsData* p = at->data;
  begin(at);
  p->view.opt.disableflags &= ~mjDSBL_WARMSTART;
  return p->work ? DJ_OK : djm_makeTransitionWork(&p->work, &p->view, at->err);
}

static djStatus transition(double* A, double* B, const djPhysicsStep* at) {
  PhysicsData* p = at->data;
  djStatus status = openDerivatives(at);
  if (status < 0) return status;
  return djm_transitionMuJoCoWith(&p->view, p->d, p->work, A, B, NULL, NULL, at->err);
}

static djStatus vjp(double* dx, double* du, const djPhysicsStep* at, const double* lambda) {
  PhysicsData* p = at->data;
  const djModel* m = at->model;
  djStatus status = openDerivatives(at);
  if (status < 0) return status;
  djmDesignGradient* design = p->nparam ? p->design : NULL;
  mjtNum *start = p->by_start, *ctrl = start + dj_tangentSize(m);
  status = djm_backwardMuJoCo(start, ctrl, design, &p->view, p->d, p->work, lambda, at->err);
  if (status < 0) return status;
  if (dx) mju_addTo(dx, start, dj_tangentSize(m));
  if (du) mju_addTo(du, ctrl, m->nu);
  return DJ_OK;
}

static bool isInEquality(const mjModel* m, int site) {
  for (int i = 0; i < m->neq; i++) {
    if (m->eq_objtype[i] != mjOBJ_SITE) continue;
    if (m->eq_obj1id[i] == site || m->eq_obj2id[i] == site) return true;
  }
  return false;
}

// n = 0: MuJoCo's steps do not depend on it. Sites of tendons and transmissions have been refused.
static djStatus readParam(double* gradient, int* n, const PhysicsData* p, const djModel* model,
                          const djParam* param, djError* err) {
  const mjModel* m = &p->view;
  size_t size = dj_paramNameSize(model, param);
  char *name = malloc(size), pair[64];
  if (!name) return djm_stockError(err, DJ_NO_MEMORY, "out of memory");
  dj_paramName(name, size, model, param);
  djStatus status = DJ_OK;
  bool idle = strncmp(name, "site/", 5) == 0 && !isInEquality(m, param->id);
  if (idle || strncmp(name, "contact/", 8) == 0) {
    *n = 0;
  } else if (strncmp(name, "pair/", 5) == 0) {
    snprintf(pair, sizeof(pair), "pair/#%d%s", djm_pairNumber(m, param->id), strrchr(name, '/'));
    status = djm_readDesign(gradient, n, p->design, m, pair, err);
  } else {
    status = djm_readDesign(gradient, n, p->design, m, name, err);
  }
  free(name);
  return status;
}

static djStatus answer(double* gradient, const djPhysicsStep* at, int n, const djParam* param) {
  PhysicsData* p = at->data;
  djStatus status = djm_finishDesign(p->design, &p->view, p->work, at->err);
  for (int i = 0; i < n && status >= 0; i++) {
    double own[10];
    int count;
    status = readParam(own, &count, p, at->model, &param[i], at->err);
    for (int k = 0; k < count && status >= 0; k++) gradient[k] += own[k];
    gradient += param[i].ntangent;
  }
  return status;
}

// Parameters that have no derivative are refused before anything is stepped back.
static djStatus ask(const djPhysicsStep* at, int n, const djParam* param) {
  PhysicsData* p = at->data;
  djStatus status = DJ_OK;
  p->nparam = n;
  if (n == 0) return DJ_OK;
  begin(at);
  if (!p->design) status = djm_makeDesignGradient(&p->design, &p->view, at->err);
  if (status < 0) return status;
  djm_zeroDesignGradient(p->design, &p->view);
  for (int i = 0; i < n && status >= 0; i++) {
    double own[10];
    int count;
    status = readParam(own, &count, p, at->model, &param[i], at->err);
  }
  return status;
}

// ---- giving it ----------------------------------------------------------------------------------

static const djPhysics mujoco = {
    .name = "mujoco",
    .copy_model = copyModel,
    .delete_model = deleteModel,
    .choose = choose,
    .set_param = setParam,
    .make_data = makeData,
    .delete_data = deleteData,
    .data_bytes = dataBytes,
    .step = step,
    .transition = transition,
    .vjp = vjp,
    .ask = ask,
    .answer = answer,
    .contacts = contacts,
};

typedef struct Copying {
  const mjModel* from;
  mjModel* to;
} Copying;

static void runCopy(void* arg) {
  Copying* job = arg;
  job->to = mj_copyModel(NULL, job->from);
}

djStatus djm_copyStock(mjModel** copy, const mjModel* m, djError* err) {
  Copying job = {m, NULL};
  djStatus status = djm_guard(runCopy, &job, err);
  if (status == DJ_OK && !job.to) status = djm_stockError(err, DJ_NO_MEMORY, "out of memory");
  *copy = job.to;
  return status;
}

djStatus djm_givePhysics(djModel* model, mjModel* m, djError* err) {
  Physics* p = calloc(1, sizeof(*p));
  Source* source = calloc(1, sizeof(*source));
  if (!p || !source) {
    free(p);
    free(source);
    djm_guard(deleteSource, m, NULL);
    return djm_stockError(err, DJ_NO_MEMORY, "out of memory");
  }
  source->m = m;
  atomic_init(&source->users, 1);
  p->source = source;
  djStatus status = dj_setPhysics(model, &mujoco, p, err);
  if (status < 0) deleteModel(p);
  return status;
}

const mjModel* djm_physicsModel(const djModel* model) {
  if (model->physics != &mujoco || model->opt.contact != DJ_CONTACT_MUJOCO) return NULL;
  return ((const Physics*)model->physics_own)->stock->m;
}
