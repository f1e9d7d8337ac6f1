#include "common/fields.h"

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
  COORDINATES,  // 0.1, rotations too
  GRAVITY       // 1
} Scale;

typedef struct Field {
  const char* kind;
  const char* name;
  djObject object;          // DJ_NOBJ: of the model
  Scale scale;
} Field;

static const Field fields[DJV_NFIELD] = {
    {"body", "pos", DJ_OBJ_BODY, LENGTH},
    {"body", "quat", DJ_OBJ_BODY, ANGLE},
    {"body", "mass", DJ_OBJ_BODY, VALUE},
    {"body", "ipos", DJ_OBJ_BODY, LENGTH},
    {"body", "iquat", DJ_OBJ_BODY, ANGLE},
    {"body", "inertia", DJ_OBJ_BODY, MOMENTS},
    {"body", "gravcomp", DJ_OBJ_BODY, UNIT},
    {"joint", "pos", DJ_OBJ_JOINT, LENGTH},
    {"joint", "axis", DJ_OBJ_JOINT, UNIT},
    {"joint", "damping", DJ_OBJ_JOINT, VALUE},
    {"joint", "stiffness", DJ_OBJ_JOINT, VALUE},
    {"joint", "springref", DJ_OBJ_JOINT, COORDINATES},
    {"joint", "armature", DJ_OBJ_JOINT, VALUE},
    {"joint", "frictionloss", DJ_OBJ_JOINT, VALUE},
    {"joint", "range", DJ_OBJ_JOINT, UNIT},
    {"geom", "pos", DJ_OBJ_GEOM, LENGTH},
    {"geom", "quat", DJ_OBJ_GEOM, ANGLE},
    {"geom", "size", DJ_OBJ_GEOM, VALUE},
    {"geom", "friction", DJ_OBJ_GEOM, VALUE},
    {"mesh", "vert", DJ_OBJ_MESH, VALUE},
    {"site", "pos", DJ_OBJ_SITE, LENGTH},
    {"tendon", "stiffness", DJ_OBJ_TENDON, VALUE},
    {"tendon", "damping", DJ_OBJ_TENDON, VALUE},
    {"tendon", "springlength", DJ_OBJ_TENDON, ENDS},
    {"tendon", "frictionloss", DJ_OBJ_TENDON, VALUE},
    {"tendon", "range", DJ_OBJ_TENDON, LENGTH},
    {"actuator", "gainprm", DJ_OBJ_ACTUATOR, GENERAL},
    {"actuator", "biasprm", DJ_OBJ_ACTUATOR, GENERAL},
    {"actuator", "gear", DJ_OBJ_ACTUATOR, GENERAL},
    {"option", "gravity", DJ_NOBJ, GRAVITY},
    {"contact", "stiffness", DJ_NOBJ, VALUE},
    {"contact", "support", DJ_NOBJ, VALUE},
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

// Parameters that move together, their values, and where they move.
typedef struct Line {
  djvRun* run;
  djModel* copy;
  djData* data;
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
  if (f->object == DJ_NOBJ) snprintf(name, sizeof name, "%s/%s", f->kind, f->name);
  else snprintf(name, sizeof name, "%s/#%d/%s", f->kind, id, f->name);
  if (f->object == DJ_OBJ_BODY && id == 0) return false;
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

static void draw(double* d, const double* value, const djParam* p, Scale scale,
                 djvRandom* random) {
  if (scale == MOMENTS) {
    drawMoments(d, value, random);
    return;
  }
  bool plain = p->nvalue == p->ntangent;
  for (int k = 0; k < p->ntangent; k++) {
    double u = djv_uniform(random, -1, 1), v = plain ? value[k] : 0;
    switch (scale) {
      case LENGTH: d[k] = 0.02 * u; break;
      case ENDS: d[k] = k > 0 && value[k] == value[0] ? d[0] : 0.02 * u; break;
      case VALUE: d[k] = v != 0 ? 0.3 * v * u : fabs(u); break;
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
  double r[4] = {q[0] * p[0] - q[1] * p[1] - q[2] * p[2] - q[3] * p[3],
                 q[0] * p[1] + q[1] * p[0] + q[2] * p[3] - q[3] * p[2],
                 q[0] * p[2] - q[1] * p[3] + q[2] * p[0] + q[3] * p[1],
                 q[0] * p[3] + q[1] * p[2] - q[2] * p[1] + q[3] * p[0]};
  memcpy(q, r, sizeof r);
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

static bool lossAlong(void* user, double e, double* loss) {
  Line* line = user;
  djRollout rollout = line->run->rollout;
  rollout.loss_only = true;
  if (!moveAll(line, e)) return false;
  djRolloutResult result = {0};
  djStatus status =
      djd_rolloutForward(&result, line->copy, line->data, &rollout, line->run->tape);
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
    for (int i = 0; i < line->n; i++) {
      draw(d, value, &line->param[i], scale, random);
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

// n parameters along a random direction; gradient: their entries.
static djdCertificate certify(djvRun* run, const djParam* param, int n, const double* gradient,
                              Scale scale, djvRandom* random) {
  size_t nvalue = 0, ntangent = 0;
  for (int i = 0; i < n; i++) {
    nvalue += (size_t)param[i].nvalue;
    ntangent += (size_t)param[i].ntangent;
  }
  Line line = {.run = run, .n = n, .value = djv_take(nvalue, sizeof(double)),
               .direction = djv_take(ntangent, sizeof(double)),
               .param = djv_take((size_t)n, sizeof(djParam))};
  memcpy(line.param, param, (size_t)n * sizeof(djParam));
  if (dj_copyModel(&line.copy, run->model, NULL) < 0 ||
      dj_makeData(&line.data, line.copy, NULL) < 0) {
    djv_fail("no copy of the model");
  }
  double* value = line.value;
  for (int i = 0; i < n; i++) {
    dj_getParam(value, run->model, &param[i]);
    value += param[i].nvalue;
  }
  double analytic = steepest(&line, ntangent, gradient, scale, random);
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
static djdCertificate certifyAgain(djvCell* cell, djvRun* run, const djParam* param, int n,
                                   const double* gradient, Scale scale, djvRandom* random) {
  djdCertificate c = certify(run, param, n, gradient, scale, random);
  for (int k = 0; k < 2 && !c.passed && c.relative_error < 1e-4; k++) {
    cell->redrawn++;
    c = certify(run, param, n, gradient, scale, random);
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

static bool gradient(djvRun* run, djParam* param, int n) {
  size_t size = 0;
  for (int i = 0; i < n; i++) size += (size_t)param[i].ntangent;
  run->result = (djRolloutResult){.nparam = n, .param = param,
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

bool djv_certifyFields(djvCell cell[DJV_NFIELD], djvRun* run, djvRandom* random, int single) {
  int first[DJV_NFIELD + 1];
  djParam* param = listParams(first, run->model);
  bool good = gradient(run, param, first[DJV_NFIELD]);
  const double* g = run->result.grad_param;
  for (int f = 0; f < DJV_NFIELD && good; f++) {
    int n = first[f + 1] - first[f];
    cell[f].present = n > 0;
    if (n == 0) continue;
    Scale scale = fields[f].scale;
    djdCertificate c = certifyAgain(&cell[f], run, param + first[f], n, g, scale, random);
    keep(&cell[f], &c, run->result.loss);
    for (int k = 0; k < single && n > 1; k++) {
      int id = djv_integer(random, 0, n - 1), at = 0;
      for (int i = 0; i < id; i++) at += param[first[f] + i].ntangent;
      c = certifyAgain(&cell[f], run, param + first[f] + id, 1, g + at, scale, random);
      keep(&cell[f], &c, run->result.loss);
    }
    for (int i = first[f]; i < first[f + 1]; i++) g += param[i].ntangent;
  }
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
