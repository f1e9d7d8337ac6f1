// What is measured of a scene: its first step, a run of 25 steps, the derivatives of the last of
// them, and the gradient of a loss of the run.

#include "result.h"

#include <dijoco/check.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HORIZON = 25, REFINEMENT = 8 };

// The weight of entry i of column k in sums over entries: fixed numbers in [0.5, 1.5), either sign.
static double weight(int i, int k) {
  double x = djd_random(7, (unsigned long)i, (unsigned long)k);
  return x < 0.5 ? -0.5 - 2 * x : 2 * x - 0.5;
}

// ---- a state after a step ----------------------------------------------------------------------

static int byGeoms(const void* a, const void* b) {
  const djContactPair *p = a, *q = b;
  int p1 = p->geom1 < p->geom2 ? p->geom1 : p->geom2, p2 = p->geom1 + p->geom2 - p1;
  int q1 = q->geom1 < q->geom2 ? q->geom1 : q->geom2, q2 = q->geom1 + q->geom2 - q1;
  return p1 != q1 ? p1 - q1 : p2 - q2;
}

// Pairs in the order of their geoms: which, gap, normal, force, moment about the world's origin.
static void addPairs(refResult* out, const char* when, const djData* d) {
  static const char* const what[5] = {"pairs", "gaps", "normals", "forces", "moments"};
  double* value[5];
  char name[REF_NAME];
  int n = d->npair;
  djContactPair* pair = calloc((size_t)n + 1, sizeof *pair);
  if (!pair) ref_fail("out of memory");
  if (n > 0) memcpy(pair, d->pair, (size_t)n * sizeof *pair);
  qsort(pair, (size_t)n, sizeof *pair, byGeoms);
  for (int k = 0; k < 5; k++) {
    snprintf(name, sizeof name, "%s %s", when, what[k]);
    value[k] = ref_add(out, name, k == 1 ? n : 3 * n);
  }
  for (int i = 0; i < n; i++) {
    const djContactPair* p = &pair[i];
    const double *x = p->point, *f = p->force;
    value[0][3 * i] = p->geom1;
    value[0][3 * i + 1] = p->geom2;
    value[0][3 * i + 2] = p->recovering;
    value[1][i] = p->gap;
    for (int k = 0; k < 3; k++) {
      int a = (k + 1) % 3, b = (k + 2) % 3;
      value[2][3 * i + k] = p->normal[k];
      value[3][3 * i + k] = f[k];
      value[4][3 * i + k] = p->torque[k] + x[a] * f[b] - x[b] * f[a];
    }
  }
  free(pair);
}

static void addCopy(refResult* out, const char* when, const char* what, const double* x, int n) {
  char name[REF_NAME];
  snprintf(name, sizeof name, "%s %s", when, what);
  double* value = ref_add(out, name, n);
  if (n > 0) memcpy(value, x, (size_t)n * sizeof *x);
}

static void addState(refResult* out, const char* when, const djModel* m, djData* d) {
  addCopy(out, when, "qpos", d->qpos, m->nq);
  addCopy(out, when, "qvel", d->qvel, m->nv);
  addCopy(out, when, "act", d->act, m->na);
  addPairs(out, when, d);
  double* limit = calloc((size_t)m->njnt + 1, sizeof *limit);
  if (!limit || dj_limitForces(limit, m, d) < 0) ref_fail("limits: %s", dj_errorText(d));
  addCopy(out, when, "limit forces", limit, m->njnt);
  free(limit);
}

// ---- derivatives of the last step --------------------------------------------------------------

// Sums over the rows of A and B in each block of the next state, and over the columns.
static void addTransition(refResult* out, const djModel* m, djData* d) {
  int nv = m->nv, nx = dj_tangentSize(m), nu = m->nu;
  double* A = calloc((size_t)nx * (size_t)(nx + nu) + 1, sizeof *A);
  if (!A) ref_fail("out of memory");
  double* B = A + (size_t)nx * (size_t)nx;
  if (djd_lastTransition(m, d, A, B) < 0) ref_fail("transition: %s", dj_errorText(d));
  double* rows[2] = {ref_add(out, "A rows", nx), ref_add(out, "B rows", nx)};
  double *by_pos = ref_add(out, "A columns of positions", nx),
         *by_vel = ref_add(out, "A columns of velocities", nx),
         *by_ctrl = ref_add(out, "B columns", nu);
  for (int i = 0; i < nx; i++) {
    for (int j = 0; j < nx; j++) {
      double a = A[i * nx + j];
      rows[0][i] += weight(j, 0) * a;
      *(i < nv ? &by_pos[j] : &by_vel[j]) += weight(i, 1) * a;
    }
    for (int j = 0; j < nu; j++) {
      rows[1][i] += weight(j, 2) * B[i * nu + j];
      by_ctrl[j] += weight(i, 3) * B[i * nu + j];
    }
  }
  free(A);
}

// ---- the gradient of a run ---------------------------------------------------------------------

static const struct {
  djObject object;            // DJ_NOBJ: of the model
  const char *kind, *name;
} kFields[] = {
    {DJ_OBJ_BODY, "body", "pos"},          {DJ_OBJ_BODY, "body", "quat"},
    {DJ_OBJ_BODY, "body", "mass"},         {DJ_OBJ_BODY, "body", "ipos"},
    {DJ_OBJ_BODY, "body", "iquat"},        {DJ_OBJ_BODY, "body", "inertia"},
    {DJ_OBJ_BODY, "body", "gravcomp"},     {DJ_OBJ_JOINT, "joint", "pos"},
    {DJ_OBJ_JOINT, "joint", "axis"},       {DJ_OBJ_JOINT, "joint", "damping"},
    {DJ_OBJ_JOINT, "joint", "stiffness"},  {DJ_OBJ_JOINT, "joint", "springref"},
    {DJ_OBJ_JOINT, "joint", "armature"},   {DJ_OBJ_JOINT, "joint", "frictionloss"},
    {DJ_OBJ_JOINT, "joint", "range"},      {DJ_OBJ_GEOM, "geom", "pos"},
    {DJ_OBJ_GEOM, "geom", "quat"},         {DJ_OBJ_GEOM, "geom", "size"},
    {DJ_OBJ_GEOM, "geom", "friction"},     {DJ_OBJ_MESH, "mesh", "vert"},
    {DJ_OBJ_SITE, "site", "pos"},          {DJ_OBJ_ACTUATOR, "actuator", "gainprm"},
    {DJ_OBJ_ACTUATOR, "actuator", "biasprm"}, {DJ_OBJ_ACTUATOR, "actuator", "gear"},
    {DJ_NOBJ, "option", "gravity"},        {DJ_NOBJ, "contact", "stiffness"},
    {DJ_NOBJ, "contact", "support"},
};
enum { NFIELD = sizeof kFields / sizeof *kFields };

static int countOf(const djModel* m, int f) {
  return kFields[f].object == DJ_NOBJ ? 1 : dj_objectCount(m, kFields[f].object);
}

// Every parameter of the model; field[i] is what param[i] is of.
static int listParams(djParam* param, int* field, const djModel* m) {
  int n = 0;
  for (int f = 0; f < NFIELD; f++) {
    for (int id = 0; id < countOf(m, f); id++) {
      char name[60];
      if (kFields[f].object == DJ_OBJ_BODY && id == 0) continue;
      if (kFields[f].object == DJ_NOBJ) {
        snprintf(name, sizeof name, "%s/%s", kFields[f].kind, kFields[f].name);
      } else {
        snprintf(name, sizeof name, "%s/#%d/%s", kFields[f].kind, id, kFields[f].name);
      }
      field[n] = f;
      if (dj_paramId(&param[n], m, name, NULL) == DJ_OK) n++;
    }
  }
  return n;
}

// Terms that see everything that moves: bodies and sites at the end, speeds along the run.
static int listLosses(djLossTerm* loss, const djModel* m) {
  int n = 0;
  for (int b = 1; b < m->nbody; b++) {
    if (m->body_lastdof[b] < 0) continue;
    djLossTerm t = {.object = DJ_OBJ_BODY, .id = b, .weight = 1 + 0.1 * b,
                    .target = {0.3, -0.2, 0.25}};
    t.type = DJ_LOSS_POSITION;
    loss[n++] = t;
    t.type = DJ_LOSS_ORIENTATION;
    memcpy(t.target, (double[4]){0.9, 0.2, -0.3, 0.25}, sizeof t.target);
    loss[n++] = t;
    t.type = DJ_LOSS_VELOCITY;
    t.when = DJ_WHEN_RUNNING;
    loss[n++] = t;
  }
  for (int s = 0; s < m->nsite; s++) {
    loss[n++] = (djLossTerm){.type = DJ_LOSS_POSITION, .object = DJ_OBJ_SITE, .id = s, .weight = 1};
  }
  loss[n++] = (djLossTerm){.type = DJ_LOSS_COM, .object = DJ_OBJ_BODY, .id = -1, .weight = 2,
                           .when = DJ_WHEN_RUNNING};
  return n;
}

// Derivatives by a kind of parameters: for each element the sum over its entries.
static void addParams(refResult* out, const djRolloutResult* result, const int* field) {
  const double* gradient = result->grad_param;
  for (int i = 0, end; i < result->nparam; i = end) {
    char name[REF_NAME];
    for (end = i; end < result->nparam && field[end] == field[i];) end++;
    snprintf(name, sizeof name, "by %s/%s", kFields[field[i]].kind, kFields[field[i]].name);
    double* sum = ref_add(out, name, end - i);
    for (int e = i; e < end; e++) {
      for (int k = 0; k < result->param[e].ntangent; k++) sum[e - i] += weight(k, 4) * *gradient++;
    }
  }
}

static void addGradient(refResult* out, const djModel* m, djData* d) {
  int total = 0, tangent = 0;
  for (int f = 0; f < NFIELD; f++) total += countOf(m, f);
  size_t nterm = 3 * (size_t)m->nbody + (size_t)m->nsite + 1;
  djParam* param = calloc((size_t)total, sizeof *param);
  int* field = calloc((size_t)total, sizeof *field);
  djLossTerm* loss = calloc(nterm, sizeof *loss);
  double* ctrl = calloc((size_t)(HORIZON * m->nu + m->nq + m->nv + m->na), sizeof *ctrl);
  djTape* tape = NULL;
  djError err = {""};
  if (!param || !field || !loss || !ctrl) ref_fail("out of memory");
  if (djd_makeTape(&tape, m, HORIZON, &err) < 0) ref_fail("%s", err.text);
  int n = listParams(param, field, m);
  for (int i = 0; i < n; i++) tangent += param[i].ntangent;
  for (int i = 0; i < HORIZON * m->nu; i++) ctrl[i] = d->ctrl[i % m->nu];
  double *qpos = ctrl + HORIZON * m->nu, *qvel = qpos + m->nq, *act = qvel + m->nv;
  memcpy(qpos, d->qpos, (size_t)m->nq * sizeof *qpos);
  memcpy(qvel, d->qvel, (size_t)m->nv * sizeof *qvel);
  if (m->na > 0) memcpy(act, d->act, (size_t)m->na * sizeof *act);
  djRollout rollout = {.horizon = HORIZON, .qpos0 = qpos, .qvel0 = qvel, .act0 = act, .ctrl = ctrl,
                       .nloss = listLosses(loss, m), .loss = loss, .refinement_steps = REFINEMENT};
  djRolloutResult result = {.nparam = n, .param = param};
  result.grad_qpos0 = ref_add(out, "by qpos", m->nv);
  result.grad_qvel0 = ref_add(out, "by qvel", m->nv);
  result.grad_act0 = ref_add(out, "by act", m->na);
  result.grad_ctrl = ref_add(out, "by ctrl", HORIZON * m->nu);
  result.grad_param = calloc((size_t)tangent + 1, sizeof(double));
  if (djd_rolloutForward(&result, m, d, &rollout, tape) != DJ_OK ||
      djd_rolloutBackward(&result, m, d, &rollout, tape) != DJ_OK) {
    ref_fail("rollout: %s", dj_errorText(d));
  }
  *ref_add(out, "loss", 1) = result.loss;
  addParams(out, &result, field);
  free(result.grad_param);
  djd_deleteTape(tape);
  free(ctrl);
  free(loss);
  free(field);
  free(param);
}

void ref_measure(refResult* out, const djModel* m) {
  djData* d;
  djError err;
  if (m->nkey != 1) ref_fail("one keyframe is the start");
  if (dj_makeData(&d, m, &err) < 0) ref_fail("%s", err.text);
  dj_resetKey(m, d, 0);
  for (int k = 1; k <= HORIZON; k++) {
    djStatus status = dj_step(m, d);
    if (status != DJ_OK) ref_fail("step %d: status %d: %s", k, (int)status, dj_errorText(d));
    if (k == 1) addState(out, "first", m, d);
  }
  addState(out, "last", m, d);
  addTransition(out, m, d);
  if (dj_forward(m, d) < 0) ref_fail("%s", dj_errorText(d));
  addCopy(out, "last", "energy", d->energy, 2);
  dj_resetKey(m, d, 0);
  addGradient(out, m, d);
  dj_deleteData(d);
}
