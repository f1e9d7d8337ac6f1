#include "common/fields.h"

#include "common/vec3.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// How far parameters of a kind are moved: along entry k by its scale times a random number.
typedef enum Scale {
  LENGTH,       // 2 cm
  ANGLE,        // 0.1 rad
  UNIT,         // 0.1
  VALUE,        // 0.3 of the value; 1 upward where it is 0
  MOMENTS,      // of inertias: 0.3 of each second moment
  ENDS,         // 0.02 m; two that are equal move together
  GENERAL,      // 0.2 of the value, at least 0.02
  SHARPNESS,    // 0.3 of the value; upward where it is 1
  COORDINATES,  // 0.1, rotations too
  GRAVITY       // 1
} Scale;

// Inputs of a run beside parameters.
typedef enum Input { NO_INPUT, QPOS, QVEL, ACT, CTRL } Input;

typedef struct Field {
  const char* kind;
  const char* name;
  djObject object;          // DJ_NOBJ: of the model
  Scale scale;
  Input input;              // else it is a parameter
  djContactModel contact;   // that alone has it; 0: all have
} Field;

#define PARAM(kind, name, object, scale) {kind, name, object, scale, NO_INPUT, DJ_SEPARATING_PLANE}
#define SURFACE(name, scale) {"geom", name, DJ_OBJ_GEOM, scale, NO_INPUT, DJ_IMPLICIT_SURFACE}
#define INPUT(kind, name, scale, input) {kind, name, DJ_NOBJ, scale, input, DJ_SEPARATING_PLANE}
static const Field fields[DJV_NFIELD] = {
    PARAM("body", "pos", DJ_OBJ_BODY, LENGTH),
    PARAM("body", "quat", DJ_OBJ_BODY, ANGLE),
    PARAM("body", "mass", DJ_OBJ_BODY, VALUE),
    PARAM("body", "ipos", DJ_OBJ_BODY, LENGTH),
    PARAM("body", "iquat", DJ_OBJ_BODY, ANGLE),
    PARAM("body", "inertia", DJ_OBJ_BODY, MOMENTS),
    PARAM("body", "gravcomp", DJ_OBJ_BODY, UNIT),
    PARAM("joint", "pos", DJ_OBJ_JOINT, LENGTH),
    PARAM("joint", "axis", DJ_OBJ_JOINT, UNIT),
    PARAM("joint", "damping", DJ_OBJ_JOINT, VALUE),
    PARAM("joint", "stiffness", DJ_OBJ_JOINT, VALUE),
    PARAM("joint", "springref", DJ_OBJ_JOINT, COORDINATES),
    PARAM("joint", "armature", DJ_OBJ_JOINT, VALUE),
    PARAM("joint", "frictionloss", DJ_OBJ_JOINT, VALUE),
    PARAM("joint", "range", DJ_OBJ_JOINT, UNIT),
    PARAM("geom", "pos", DJ_OBJ_GEOM, LENGTH),
    PARAM("geom", "quat", DJ_OBJ_GEOM, ANGLE),
    PARAM("geom", "size", DJ_OBJ_GEOM, VALUE),
    PARAM("geom", "friction", DJ_OBJ_GEOM, VALUE),
    PARAM("mesh", "vert", DJ_OBJ_MESH, VALUE),
    PARAM("site", "pos", DJ_OBJ_SITE, LENGTH),
    PARAM("tendon", "stiffness", DJ_OBJ_TENDON, VALUE),
    PARAM("tendon", "damping", DJ_OBJ_TENDON, VALUE),
    PARAM("tendon", "springlength", DJ_OBJ_TENDON, ENDS),
    PARAM("tendon", "frictionloss", DJ_OBJ_TENDON, VALUE),
    PARAM("tendon", "range", DJ_OBJ_TENDON, LENGTH),
    PARAM("actuator", "gainprm", DJ_OBJ_ACTUATOR, GENERAL),
    PARAM("actuator", "biasprm", DJ_OBJ_ACTUATOR, GENERAL),
    PARAM("actuator", "gear", DJ_OBJ_ACTUATOR, GENERAL),
    PARAM("option", "gravity", DJ_NOBJ, GRAVITY),
    PARAM("contact", "stiffness", DJ_NOBJ, VALUE),
    PARAM("contact", "support", DJ_NOBJ, VALUE),
    PARAM("contact", "exponent", DJ_NOBJ, VALUE),
    PARAM("contact", "damping", DJ_NOBJ, VALUE),
    SURFACE("sharpness", SHARPNESS),
    SURFACE("surface", VALUE),
    INPUT("start", "qpos", LENGTH, QPOS),
    INPUT("start", "qvel", UNIT, QVEL),
    INPUT("start", "act", UNIT, ACT),
    INPUT("run", "ctrl", UNIT, CTRL),
};

const char* djv_fieldName(int f) {
  static char name[40];
  snprintf(name, sizeof name, "%s/%s", fields[f].kind, fields[f].name);
  return name;
}

static double* copyOf(const double* from, size_t n) {
  double* to = djv_take(n, sizeof(double));
  if (n) memcpy(to, from, n * sizeof(double));
  return to;
}

// ------------------------------------------ runs -----------------------------------------------

// `at`: where the thing is at the start; the target is near it, so that the loss is small beside
// its derivatives. NULL: the origin.
static djLossTerm term(djLossType type, djObject object, int id, double weight, djWhen when,
                       const double* at) {
  djLossTerm t = {.type = type, .object = object, .id = id, .weight = weight, .when = when,
                  .target = {0.1, -0.15, 0.05}};
  for (int k = 0; k < 3 && at; k++) t.target[k] += at[k];
  return t;
}

// Centre of mass of everything that moves or not, the world's bodies included.
static void centre(double c[3], const djModel* m, const djData* d) {
  double mass = 0;
  c[0] = c[1] = c[2] = 0;
  for (int b = 1; b < m->nbody; b++) {
    mass += m->body_mass[b];
    for (int k = 0; k < 3; k++) c[k] += m->body_mass[b] * d->xipos[3 * b + k];
  }
  for (int k = 0; k < 3; k++) c[k] /= mass;
}

static int listLosses(djLossTerm loss[6], const djModel* m, djData* d, const double* qpos) {
  double com[3];
  int n = 0, body = m->nbody - 1, geom = m->ngeom - 1, site = m->nsite - 1;
  memcpy(d->qpos, qpos, (size_t)m->nq * sizeof(double));
  dj_forward(m, d);
  centre(com, m, d);
  const double* x = d->xpos + 3 * body;
  loss[n++] = term(DJ_LOSS_POSITION, DJ_OBJ_BODY, body, 1, DJ_WHEN_FINAL, x);
  loss[n] = term(DJ_LOSS_ORIENTATION, DJ_OBJ_BODY, body, 0.3, DJ_WHEN_FINAL, NULL);
  memcpy(loss[n].target, d->xquat + 4 * body, 4 * sizeof(double));
  loss[n++].target[1] += 0.2;
  loss[n++] = term(DJ_LOSS_VELOCITY, DJ_OBJ_BODY, body, 0.5, DJ_WHEN_RUNNING, NULL);
  loss[n++] = term(DJ_LOSS_COM, DJ_OBJ_BODY, -1, 5, DJ_WHEN_RUNNING, com);
  x = d->geom_xpos + 3 * geom;
  loss[n++] = term(DJ_LOSS_POSITION, DJ_OBJ_GEOM, geom, 0.3, DJ_WHEN_FINAL, x);
  if (site < 0) return n;
  x = d->site_xpos + 3 * site;
  loss[n++] = term(DJ_LOSS_POSITION, DJ_OBJ_SITE, site, 0.7, DJ_WHEN_FINAL, x);
  return n;
}

void djv_openRun(djvRun* run, djModel* m, const djData* from, int horizon) {
  djError err = {""};
  *run = (djvRun){.model = m};
  if (dj_makeData(&run->data, m, &err) < 0 || djd_makeTape(&run->tape, m, horizon, &err) < 0) {
    djv_fail("run: %s", err.text);
  }
  size_t nu = (size_t)m->nu;
  run->qpos = copyOf(from->qpos, (size_t)m->nq);
  run->qvel = copyOf(from->qvel, (size_t)m->nv);
  run->act = copyOf(from->act, (size_t)m->na);
  run->ctrl = djv_take((size_t)horizon * nu, sizeof(double));
  for (size_t i = 0; i < (size_t)horizon * nu; i++) run->ctrl[i] = from->ctrl[i % nu];
  int n = listLosses(run->loss, m, run->data, run->qpos);
  run->rollout = (djRollout){.horizon = horizon, .qpos0 = run->qpos, .qvel0 = run->qvel,
                             .act0 = run->act, .ctrl = run->ctrl, .nloss = n, .loss = run->loss,
                             .refinement_steps = 8};
}

void djv_closeRun(djvRun* run) {
  double* memory[] = {run->qpos, run->qvel, run->act, run->ctrl};
  for (int k = 0; k < 4; k++) free(memory[k]);
  djd_deleteTape(run->tape);
  dj_deleteData(run->data);
  dj_deleteModel(run->model);
}

djvActivity djv_activity(djvRun* run) {
  const djModel* m = run->model;
  djData* d = run->data;
  djvActivity a = {0, 0, 0, 0};
  dj_resetData(m, d);
  memcpy(d->qpos, run->qpos, (size_t)m->nq * sizeof(double));
  memcpy(d->qvel, run->qvel, (size_t)m->nv * sizeof(double));
  if (m->na) memcpy(d->act, run->act, (size_t)m->na * sizeof(double));
  for (int k = 0; k < run->rollout.horizon; k++) {
    if (m->nu) memcpy(d->ctrl, run->ctrl + k * m->nu, (size_t)m->nu * sizeof(double));
    dj_step(m, d);
    bool touches = false, rubs = false;
    for (int i = 0; i < d->npair; i++) {
      const djContactPair* p = &d->pair[i];
      const double *n = p->normal, *f = p->force;
      double along = f[0] * n[0] + f[1] * n[1] + f[2] * n[2], square = 0;
      for (int c = 0; c < 3; c++) square += pow(f[c] - along * n[c], 2);
      touches = touches || p->normal_force > 0.01;
      rubs = rubs || sqrt(square) > 0.005;
    }
    a.contact += touches;
    a.friction += rubs;
  }
  a.recovering = (int)d->stats.recovering_steps;
  a.unconverged = (int)d->stats.unconverged_steps;
  return a;
}

// ------------------------------------------ directions -----------------------------------------

// An input as the run has it (its numbers) and as it may vary.
typedef struct Slot {
  const double** at;
  int nvalue, ntangent;
} Slot;

static Slot slotOf(djRollout* r, const djModel* m, Input input) {
  switch (input) {
    case QPOS: return (Slot){&r->qpos0, m->nq, m->nv};
    case QVEL: return (Slot){&r->qvel0, m->nv, m->nv};
    case ACT: return (Slot){&r->act0, m->na, m->na};
    default: return (Slot){&r->ctrl, r->horizon * m->nu, r->horizon * m->nu};
  }
}

// Parameters that move together, or an input, their values, and where they move.
typedef struct Line {
  djvRun* run;
  djModel* copy;
  djData* data;
  Input input;
  int n;
  djParam* param;
  double *value, *direction;   // concatenated: nvalue, ntangent of each
} Line;

// Fields of the model as a whole count once.
static int elementCount(const djModel* m, djObject object) {
  return object == DJ_NOBJ ? 1 : dj_objectCount(m, object);
}

static bool findParam(djParam* p, const djModel* m, const Field* f, int id) {
  char name[60];
  if (f->input || (f->contact && f->contact != m->opt.contact)) return false;
  if (f->object == DJ_NOBJ) snprintf(name, sizeof name, "%s/%s", f->kind, f->name);
  else snprintf(name, sizeof name, "%s/#%d/%s", f->kind, id, f->name);
  if (f->object == DJ_OBJ_BODY && id == 0) return false;
  if (f->contact && m->geom_type[id] == DJ_PLANE) return false;
  return dj_paramId(p, m, name, NULL) == DJ_OK;
}

static void drawMoments(double* d, const double* I, djvRandom* random) {
  double s[3];
  for (int k = 0; k < 3; k++) {
    double moment = 0.5 * (I[(k + 1) % 3] + I[(k + 2) % 3] - I[k]);
    s[k] = 0.3 * moment * djv_uniform(random, -1, 1);
  }
  for (int k = 0; k < 3; k++) d[k] = s[(k + 1) % 3] + s[(k + 2) % 3];
}

static void draw(double* d, const double* value, int nvalue, int ntangent, Scale scale,
                 djvRandom* random) {
  if (scale == MOMENTS) {
    drawMoments(d, value, random);
    return;
  }
  bool plain = nvalue == ntangent;
  for (int k = 0; k < ntangent; k++) {
    double u = djv_uniform(random, -1, 1), v = plain ? value[k] : 0;
    switch (scale) {
      case LENGTH: d[k] = 0.02 * u; break;
      case ENDS: d[k] = k > 0 && value[k] == value[0] ? d[0] : 0.02 * u; break;
      case VALUE: d[k] = v != 0 ? 0.3 * v * u : fabs(u); break;
      case SHARPNESS: d[k] = 0.3 * v * (v > 1 ? u : fabs(u)); break;
      case GENERAL: d[k] = fmax(0.2 * fabs(v), 0.02) * u; break;
      case GRAVITY: d[k] = u; break;
      default: d[k] = 0.1 * u; break;
    }
    if (!isfinite(v)) d[k] = 0;
  }
}

// q exp(w)
static void turn(double q[4], const double w[3]) {
  double angle = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
  double s = angle > 1e-12 ? sin(angle / 2) / angle : 0.5;
  double p[4] = {cos(angle / 2), s * w[0], s * w[1], s * w[2]};
  djv_mulQuat(q, q, p);
}

static bool moveAll(Line* line, double e) {
  const double *value = line->value, *d = line->direction;
  bool good = true;
  for (int i = 0; i < line->n; i++) {
    const djParam* p = &line->param[i];
    double* moved = copyOf(value, (size_t)p->nvalue);
    int plain = p->nvalue == p->ntangent ? p->nvalue : p->nvalue - 4;
    for (int k = 0; k < plain; k++) moved[k] += e * d[k];
    if (plain < p->nvalue) {
      turn(moved + plain, (double[3]){e * d[plain], e * d[plain + 1], e * d[plain + 2]});
    }
    good = good && dj_setParam(line->copy, p, moved, NULL) == DJ_OK;
    free(moved);
    value += p->nvalue;
    d += p->ntangent;
  }
  return good;
}

// The input of a rollout, moved; to be freed.
static double* moveInput(djRollout* rollout, const Line* line, double e) {
  const Slot slot = slotOf(rollout, line->copy, line->input);
  double* moved = copyOf(line->value, (size_t)slot.nvalue);
  if (line->input == QPOS) {
    dj_integratePos(moved, line->copy, line->value, line->direction, e);
  } else {
    for (int k = 0; k < slot.nvalue; k++) moved[k] += e * line->direction[k];
  }
  *slot.at = moved;
  return moved;
}

static bool lossAlong(void* user, double e, double* loss) {
  Line* line = user;
  djRollout rollout = line->run->rollout;
  rollout.loss_only = true;
  if (!line->input && !moveAll(line, e)) return false;
  double* moved = line->input ? moveInput(&rollout, line, e) : NULL;
  djRolloutResult result = {0};
  djStatus status =
      djd_rolloutForward(&result, line->copy, line->data, &rollout, line->run->tape);
  free(moved);
  *loss = result.loss;
  return status == DJ_OK;
}

// ------------------------------------------ certificates ---------------------------------------

// Of three random directions the one with the largest derivative, which is returned: where entries
// nearly cancel, a relative comparison would only measure rounding.
static double steepest(Line* line, size_t ntangent, const double* gradient, Scale scale,
                       djvRandom* random) {
  double best = 0, *kept = copyOf(line->direction, ntangent);
  for (int c = 0; c < 3; c++) {
    double *value = line->value, *d = line->direction, analytic = 0;
    if (line->input) {
      const Slot slot = slotOf(&line->run->rollout, line->copy, line->input);
      draw(d, value, slot.nvalue, slot.ntangent, scale, random);
    }
    for (int i = 0; i < line->n; i++) {
      draw(d, value, line->param[i].nvalue, line->param[i].ntangent, scale, random);
      value += line->param[i].nvalue;
      d += line->param[i].ntangent;
    }
    for (size_t k = 0; k < ntangent; k++) analytic += gradient[k] * line->direction[k];
    if (c > 0 && !(fabs(analytic) > fabs(best))) continue;
    best = analytic;
    memcpy(kept, line->direction, ntangent * sizeof(double));
  }
  free(line->direction);
  line->direction = kept;
  return best;
}

// What moves together: n parameters, or an input; gradient: their entries.
typedef struct Block {
  Input input;
  int n;
  const djParam* param;
  const double* gradient;
  Scale scale;
} Block;

static void openLine(Line* line, size_t* ntangent, djvRun* run, const Block* b) {
  size_t nvalue = 0;
  *ntangent = 0;
  *line = (Line){.run = run, .input = b->input, .n = b->n};
  if (b->input) {
    const Slot slot = slotOf(&run->rollout, run->model, b->input);
    nvalue = (size_t)slot.nvalue;
    *ntangent = (size_t)slot.ntangent;
  }
  for (int i = 0; i < b->n; i++) {
    nvalue += (size_t)b->param[i].nvalue;
    *ntangent += (size_t)b->param[i].ntangent;
  }
  line->value = djv_take(nvalue, sizeof(double));
  line->direction = djv_take(*ntangent, sizeof(double));
  line->param = djv_take((size_t)b->n, sizeof(djParam));
  if (b->n) memcpy(line->param, b->param, (size_t)b->n * sizeof(djParam));
  if (dj_copyModel(&line->copy, run->model, NULL) < 0 ||
      dj_makeData(&line->data, line->copy, NULL) < 0) {
    djv_fail("no copy of the model");
  }
  if (b->input) {
    const double* from = *slotOf(&run->rollout, run->model, b->input).at;
    memcpy(line->value, from, nvalue * sizeof(double));
  }
  double* value = line->value;
  for (int i = 0; i < b->n; i++) {
    dj_getParam(value, run->model, &b->param[i]);
    value += b->param[i].nvalue;
  }
}

// Along a random direction.
static djdCertificate certify(djvRun* run, const Block* b, djvRandom* random) {
  Line line;
  size_t ntangent;
  openLine(&line, &ntangent, run, b);
  double analytic = steepest(&line, ntangent, b->gradient, b->scale, random);
  djdCertificate c;
  if (djd_check(&c, run->result.loss, analytic, 0.3, lossAlong, &line) < 0) {
    c = (djdCertificate){.analytic = analytic, .difference = NAN, .relative_error = INFINITY};
  }
  dj_deleteData(line.data);
  dj_deleteModel(line.copy);
  free(line.value);
  free(line.direction);
  free(line.param);
  return c;
}

// Losses of stiff runs repeat to 1e-12 only: errors that this noise makes
// at the difference's step tell nothing.
static bool isNoise(const djdCertificate* c, double loss) {
  bool slope_good = !c->has_slope || (c->slope >= 1.9 && c->slope <= 2.1);
  return slope_good && fabs(c->analytic - c->difference) <= 1e-12 * fabs(loss) / c->step;
}

// A wrong gradient fails along every direction. A right one may fail along one where the loss bends
// so much that differences cannot resolve it before its noise: another is drawn then, twice.
static djdCertificate certifyAgain(djvCell* cell, djvRun* run, const Block* b, djvRandom* random) {
  djdCertificate c = certify(run, b, random);
  for (int k = 0; k < 2 && !c.passed && c.relative_error < 1e-4; k++) {
    cell->redrawn++;
    c = certify(run, b, random);
  }
  return c;
}

static void keep(djvCell* cell, const djdCertificate* c, double loss) {
  bool worse = cell->taken == 0 || (cell->worst.passed && !c->passed) ||
               (cell->worst.passed == c->passed && c->relative_error > cell->worst.relative_error);
  if (worse) cell->worst = *c;
  bool noise = !c->passed && isNoise(c, loss);
  cell->taken++;
  cell->noisy += noise;
  cell->failed += !c->passed && !noise;
}

// Every parameter of the model, kind by kind: first[f] is the first of kind f.
static djParam* listParams(int first[DJV_NFIELD + 1], const djModel* m) {
  int total = 0;
  for (int f = 0; f < DJV_NFIELD; f++) total += elementCount(m, fields[f].object);
  djParam* param = djv_take((size_t)total, sizeof(djParam));
  int n = 0;
  for (int f = 0; f < DJV_NFIELD; f++) {
    first[f] = n;
    for (int id = 0; id < elementCount(m, fields[f].object); id++) {
      n += findParam(&param[n], m, &fields[f], id);
    }
  }
  first[DJV_NFIELD] = n;
  return param;
}

// Where gradients by inputs go: one block of memory, which begins at by[QPOS].
static void takeInputs(djvRun* run, double* by[CTRL + 1]) {
  size_t adr[CTRL + 2] = {0};
  for (Input i = QPOS; i <= CTRL; i++) {
    adr[i + 1] = adr[i] + (size_t)slotOf(&run->rollout, run->model, i).ntangent;
  }
  double* memory = djv_take(adr[CTRL + 1], sizeof(double));
  for (Input i = QPOS; i <= CTRL; i++) by[i] = memory + adr[i];
}

static bool gradient(djvRun* run, double* by[CTRL + 1], djParam* param, int n) {
  size_t size = 0;
  for (int i = 0; i < n; i++) size += (size_t)param[i].ntangent;
  takeInputs(run, by);
  run->result = (djRolloutResult){.grad_qpos0 = by[QPOS], .grad_qvel0 = by[QVEL],
                                  .grad_act0 = by[ACT], .grad_ctrl = by[CTRL],
                                  .nparam = n, .param = param,
                                  .grad_param = djv_take(size, sizeof(double))};
  djRolloutResult* r = &run->result;
  dj_resetData(run->model, run->data);
  djStatus status = djd_rolloutForward(r, run->model, run->data, &run->rollout, run->tape);
  if (status == DJ_OK) {
    status = djd_rolloutBackward(r, run->model, run->data, &run->rollout, run->tape);
  }
  if (status != DJ_OK) djv_note("rollout: status %d: %s", (int)status, dj_errorText(run->data));
  return status == DJ_OK;
}

static void certifyBlock(djvCell* cell, djvRun* run, const Block* b, djvRandom* random) {
  djdCertificate c = certifyAgain(cell, run, b, random);
  keep(cell, &c, run->result.loss);
}

bool djv_certifyFields(djvCell cell[DJV_NFIELD], djvRun* run, djvRandom* random, int single) {
  int first[DJV_NFIELD + 1];
  double* by[CTRL + 1];
  djParam* param = listParams(first, run->model);
  bool good = gradient(run, by, param, first[DJV_NFIELD]);
  const double* g = run->result.grad_param;
  for (int f = 0; f < DJV_NFIELD && good; f++) {
    int n = first[f + 1] - first[f];
    const Field* field = &fields[f];
    Block b = {field->input, n, param + first[f], field->input ? by[field->input] : g,
               field->scale};
    cell[f].present = n > 0 || (field->input && slotOf(&run->rollout, run->model,
                                                       field->input).ntangent > 0);
    if (!cell[f].present) continue;
    certifyBlock(&cell[f], run, &b, random);
    for (int k = 0; k < single && n > 1; k++) {
      int id = djv_integer(random, 0, n - 1), at = 0;
      for (int i = 0; i < id; i++) at += param[first[f] + i].ntangent;
      b = (Block){NO_INPUT, 1, param + first[f] + id, g + at, field->scale};
      certifyBlock(&cell[f], run, &b, random);
    }
    for (int i = first[f]; i < first[f + 1]; i++) g += param[i].ntangent;
  }
  free(by[QPOS]);
  free(run->result.grad_param);
  run->result.grad_param = NULL;
  free(param);
  return good;
}

void djv_testRun(djvReport* r, djvCell cell[DJV_NFIELD], const char* name, djvRun* run,
                 djvRandom* random, int single, int least) {
  djvActivity active = djv_activity(run);
  bool good = djv_certifyFields(cell, run, random, single);
  int failed = good ? 0 : 1, taken = 0, redrawn = 0, noisy = 0;
  for (int f = 0; f < DJV_NFIELD; f++) {
    failed += cell[f].failed;
    taken += cell[f].taken;
    redrawn += cell[f].redrawn;
    noisy += cell[f].noisy;
    if (!cell[f].failed) continue;
    const djdCertificate* c = &cell[f].worst;
    djv_note("%s: %s: analytic %.10g, difference %.10g (+- %.1g), relative %.2g, slope %.4f", name,
             djv_fieldName(f), c->analytic, c->difference, c->difference_error, c->relative_error,
             c->has_slope ? c->slope : NAN);
  }
  char text[120];
  snprintf(text, sizeof text, "%s (%d touch, %d rub, %d recover): failed", name, active.contact,
           active.friction, active.recovering);
  if (redrawn || noisy) {
    djv_note("%s: %d directions drawn again, %d not resolved", name, redrawn, noisy);
  }
  djv_countOf(r, text, failed, 0, taken);
  if (active.friction < least) djv_count(r, "too few steps with friction", 1, 0);
  djv_figure(r, "directions", taken, "");
  djv_figure(r, "failed", failed, "");
  djv_figure(r, "drawn again or not resolved", redrawn + noisy, "");
}

// ------------------------------------------ table ----------------------------------------------

static void printCell(const djvCell* c) {
  if (!c->present) {
    printf(" %13s", "-");
    return;
  }
  char slope[10] = "    -";
  if (c->worst.has_slope) snprintf(slope, sizeof slope, "%5.2f", c->worst.slope);
  printf(" %6.0e %s%c", c->worst.relative_error, slope, c->failed ? '!' : c->noisy ? '~' : ' ');
}

void djv_printCells(int nscene, const char* const* scene, djvCell (*cell)[DJV_NFIELD]) {
  enum { WIDTH = 5 };
  for (int from = 0; from < nscene; from += WIDTH) {
    int to = from + WIDTH < nscene ? from + WIDTH : nscene;
    printf("%-20s", "error, slope");
    for (int k = from; k < to; k++) printf(" %13.13s", scene[k]);
    printf("\n");
    for (int f = 0; f < DJV_NFIELD; f++) {
      printf("%-20s", djv_fieldName(f));
      for (int k = from; k < to; k++) printCell(&cell[k][f]);
      printf("\n");
    }
    printf("\n");
  }
}
