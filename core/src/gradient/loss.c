#include "gradient/loss_row.h"

#include "base/arena.h"
#include "base/status.h"
#include "math/so3.h"
#include "model/check.h"
#include "model/frame_param.h"
#include "model/joint_type.h"
#include "model/param.h"

#include <math.h>
#include <string.h>

size_t dj_lossWorkSize(const djModel* m) {
  djArena a = {NULL, 0};
  dj_take(&a, dj_kinSize(m), 1);
  dj_take(&a, m->nbody, sizeof(djVec3));
  dj_take(&a, (size_t)m->nbody * 6, sizeof(double));
  return a.used;
}

djLossWork dj_initLossWork(const djModel* m, void* memory) {
  djArena a = {memory, 0};
  djLossWork w = {.wants = NULL};
  w.kin = dj_initKin(m, dj_take(&a, dj_kinSize(m), 1));
  w.ref = dj_take(&a, m->nbody, sizeof(djVec3));
  w.wrench = dj_take(&a, (size_t)m->nbody * 6, sizeof(double));
  return w;
}

void dj_beginLoss(djLossWork* w, const djModel* m, const djData* d, const double* qpos) {
  dj_kinematics(&w->kin, m, qpos, d->mocap_pos, d->mocap_quat);
  for (int b = 0; b < m->nbody; b++) w->ref[b] = w->kin.com[m->body_root[b]];
  dj_motionSubspace(&w->kin, m, w->ref);
}

// ---- value and derivatives --------------------------------------------------------------------

// The entries of a vector that count.
static djVec3 picked(const djLossTerm* t, djVec3 x) {
  double all[3], some[3] = {0, 0, 0};
  if (t->nindex <= 0) return x;
  dju_store3(all, x);
  for (int k = 0; k < t->nindex; k++) some[t->index[k]] = all[t->index[k]];
  return dju_load3(some);
}

static djVec3 vectorOf(djVec3* target, const djLossRow* row, const djLossAt* at) {
  djVec3 v = row->vector(target, at);
  *target = picked(at->t, *target);
  return picked(at->t, v);
}

// In long double: a target may be far, and differences of losses are to tell what the state tells.
static long double squared(const djLossRow* row, const djLossAt* at) {
  if (row->number) {
    long double x = (long double)row->number(at) - at->t->target[0];
    return x * x;
  }
  djVec3 target, v = vectorOf(&target, row, at);
  long double x = (long double)v.x - target.x, y = (long double)v.y - target.y,
              z = (long double)v.z - target.z;
  return x * x + y * y + z * z;
}

long double dj_lossValue(djLossWork* w, const djModel* m, const djLossTerm* t, const double* qpos,
                         const double* qvel) {
  return dj_lossOfSquare(t, squared(&dj_lossRows[t->type], &(djLossAt){w, m, t, qpos, qvel}));
}

long double dj_lossOfSquare(const djLossTerm* t, long double l) {
  long double e = t->tolerance;
  if (t->norm) return e > 0 ? fmaxl(0, sqrtl(l) - e) : sqrtl(l);
  return e > 0 ? fmaxl(0, l - e * e) : l;
}

double dj_lossBySquare(const djLossTerm* t, long double l) {
  long double e = t->tolerance;
  if (e > 0 && l <= e * e) return 0;
  if (!t->norm) return 1;
  return l > 0 ? (double)(1 / (2 * sqrtl(l))) : 0;
}

// The tolerance makes the term zero.
static bool isFlat(const djLossRow* row, const djLossAt* at) {
  return dj_lossBySquare(at->t, squared(row, at)) == 0;
}

// Derivative of factor times the term by its vector or number; the term is not flat.
static djVec3 slope(const djLossRow* row, const djLossAt* at, double factor) {
  if (at->t->norm) factor *= dj_lossBySquare(at->t, squared(row, at));
  if (row->number) {
    return (djVec3){2 * factor * (row->number(at) - at->t->target[0]), 0, 0};
  }
  djVec3 target, x = vectorOf(&target, row, at);
  return dju_scale3(2 * factor, dju_sub3(x, target));
}

// With a tolerance e a term is |x|^2 - e^2: residuals s x with s^2 = 1 - e^2/|x|^2, whose
// derivatives by x are s + e^2/(s |x|^4) x x^T.
int dj_lossResiduals(double r[3], djVec3 by[3], djLossWork* w, const djModel* m,
                     const djLossTerm* t, const double* qpos, const double* qvel, double factor) {
  const djLossRow* row = &dj_lossRows[t->type];
  const djLossAt at = {w, m, t, qpos, qvel};
  int n = row->number ? 1 : 3;
  double x[3] = {0, 0, 0}, e = t->tolerance, root = sqrt(factor);
  djVec3 target, measured = {0, 0, 0};
  if (row->number) {
    x[0] = row->number(&at) - t->target[0];
  } else {
    measured = vectorOf(&target, row, &at);
    dju_store3(x, dju_sub3(measured, target));
  }
  bool flat = isFlat(row, &at);
  double l = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
  double s = flat ? 0 : e > 0 ? sqrt(1 - e / l * e) : 1;
  for (int i = 0; i < n; i++) {
    double d[3] = {0, 0, 0};
    r[i] = root * s * x[i];
    if (s > 0) d[i] = root * s;
    for (int k = 0; k < n && s > 0 && e > 0; k++) d[k] += root * e * e / (s * l * l) * x[i] * x[k];
    by[i] = dju_load3(d);
    // A turn's forces are by what is parallel to it; see addTurn().
    if (row->quaternion) by[i] = dju_mulMtV(dju_rightJacobianInv(measured), by[i]);
  }
  return n;
}

bool dj_lossSlope(djVec3* by, djLossWork* w, const djModel* m, const djLossTerm* t,
                  const double* qpos, const double* qvel, double factor) {
  const djLossRow* row = &dj_lossRows[t->type];
  const djLossAt at = {w, m, t, qpos, qvel};
  if (isFlat(row, &at)) return false;
  *by = slope(row, &at, factor);
  return true;
}

void dj_pushLoss(double* dq, double* dv, djLossWork* w, const djModel* m, const djLossTerm* t,
                 const double* qpos, const double* qvel, djVec3 f) {
  const djLossRow* row = &dj_lossRows[t->type];
  const djLossAt at = {w, m, t, qpos, qvel};
  if (row->state) row->state(dq, dv, &at, f);
  if (!row->push) return;
  memset(w->wrench, 0, (size_t)m->nbody * 6 * sizeof(double));
  row->push(&at, f);
  dj_gatherWrench(w->wrench, m);
  dj_projectWrench(row->of_velocity ? dv : dq, m, &w->kin, w->wrench);
}

void dj_pushLossParams(double* param, djLossWork* w, const djModel* m, const djLossTerm* t,
                       const double* qpos, const double* qvel, djVec3 f, double* scratch) {
  const djLossRow* row = &dj_lossRows[t->type];
  const djLossAt at = {w, m, t, qpos, qvel};
  if (!row->push) return;
  memset(w->wrench, 0, (size_t)m->nbody * 6 * sizeof(double));
  row->push(&at, f);
  if (row->params) row->params(param, &at, f, scratch);
  if (row->of_velocity) return;
  dj_gatherCotangents(w->wrench, m, w->ref);
  dj_frameParams(param, m, &(djConfig){&w->kin, qpos, w->ref, w->wants}, w->wrench);
}

double dj_lossFactor(const djModel* m, const djLossTerm* t, int k, int horizon) {
  switch (t->when) {
    case DJ_WHEN_FINAL: return k == horizon ? t->weight : 0;
    case DJ_WHEN_STEP: return k == t->step ? t->weight : 0;
    default: break;
  }
  int first = t->from > 0 ? t->from : t->when == DJ_WHEN_EVERY ? t->every : 1;
  if (k < first || (t->to > 0 && k > t->to)) return 0;
  if (t->when == DJ_WHEN_RUNNING) return m->opt.timestep * t->weight;
  return (k - first) % t->every == 0 ? t->weight : 0;
}

// ---- checks -----------------------------------------------------------------------------------

bool dj_isSecondKey(const djKey* k) {
  return k->holds == DJ_HOLDS_ELEMENT && k->name[strlen(k->name) - 1] == '2';
}

djObject dj_lossObject(const djLossTerm* t) {
  djObject only = DJ_NOBJ;
  for (const djKey* k = dj_lossRows[t->type].entry.key; k->name; k++) {
    if (k->holds != DJ_HOLDS_ELEMENT || dj_isSecondKey(k)) continue;
    if (only != DJ_NOBJ) return t->object;
    only = k->object;
  }
  return only;
}

djObject dj_lossObject2(const djLossTerm* t) {
  int n = 0;
  const djKey* only = NULL;
  for (const djKey* k = dj_lossRows[t->type].entry.key; k->name; k++) {
    if (!dj_isSecondKey(k)) continue;
    only = k;
    n++;
  }
  if (n > 1) return t->object2;
  return n == 1 && t->object2 == only->object ? only->object : DJ_NOBJ;
}

// The key of the row that names an element of this kind, or NULL; likewise the second element's.
static const djKey* elementKey(const djLossTerm* t, djObject object, bool second) {
  for (const djKey* k = dj_lossRows[t->type].entry.key; k->name; k++) {
    if (k->holds != DJ_HOLDS_ELEMENT || dj_isSecondKey(k) != second) continue;
    if (k->object == object) return k;
  }
  return NULL;
}

static djStatus checkOne(const djModel* m, const djKey* key, int id, const char* name, int i,
                         djError* err) {
  djObject object = key->object;
  if (id < (key->required ? 0 : -1) || id >= dj_objectCount(m, object)) {
    return dj_fail(err, DJ_INVALID, "loss[%d]: %s %d does not exist", i, name, id);
  }
  if (id >= 0 && object == DJ_OBJ_JOINT && !dj_isScalarJoint(m->jnt_type[id])) {
    return dj_fail(err, DJ_INVALID, "loss[%d]: joint is not a slide or hinge", i);
  }
  return DJ_OK;
}

// The elements that a term of a known type is about.
static djStatus checkElements(const djModel* m, const djLossTerm* t, int i, djError* err) {
  const djLossRow* row = &dj_lossRows[t->type];
  if (!row->vector && !row->number) return DJ_OK;
  djObject object = dj_lossObject(t);
  const djKey* key = elementKey(t, object, false);
  if (!key) return dj_fail(err, DJ_INVALID, "loss[%d]: must be of a body, a site or a geom", i);
  djStatus status = checkOne(m, key, t->id, "element", i, err);
  djObject other = dj_lossObject2(t);
  if (status < 0 || other == DJ_NOBJ) return status;
  key = elementKey(t, other, true);
  if (!key) return dj_fail(err, DJ_INVALID, "loss[%d]: the other is no body, site or geom", i);
  return checkOne(m, key, t->id2, dj_objectName(other), i, err);
}

// The steps at which it counts, and the entries.
static djStatus checkTimes(const djLossTerm* t, int i, int horizon, djError* err) {
  if (t->when == DJ_WHEN_STEP && (t->step < 1 || t->step > horizon)) {
    return dj_fail(err, DJ_INVALID, "loss[%d]: step %d is outside 1..%d", i, t->step, horizon);
  }
  if (t->when == DJ_WHEN_EVERY && t->every < 1) {
    return dj_fail(err, DJ_INVALID, "loss[%d]: every: %d is not positive", i, t->every);
  }
  if (t->from < 0 || t->from > horizon || t->to < 0 || t->to > horizon) {
    return dj_fail(err, DJ_INVALID, "loss[%d]: from or to is outside 1..%d", i, horizon);
  }
  if (t->to > 0 && t->from > t->to) {
    return dj_fail(err, DJ_INVALID, "loss[%d]: from is larger than to", i);
  }
  bool good = t->nindex >= 0 && t->nindex <= 3;
  for (int k = 0; k < t->nindex && good; k++) good = t->index[k] >= 0 && t->index[k] < 3;
  return good ? DJ_OK : dj_fail(err, DJ_INVALID, "loss[%d]: index: must be of 0, 1, 2", i);
}

djStatus dj_checkLoss(const djModel* m, const djLossTerm* term, int nterm, int horizon,
                      djError* err) {
  for (int i = 0; i < nterm; i++) {
    const djLossTerm* t = &term[i];
    if ((int)t->type < 0 || t->type >= DJ_NLOSS) {
      return dj_fail(err, DJ_INVALID, "loss[%d]: unknown type", i);
    }
    if ((int)t->when < 0 || t->when > DJ_WHEN_EVERY) {
      return dj_fail(err, DJ_INVALID, "loss[%d]: unknown value of when", i);
    }
    djStatus status = checkElements(m, t, i, err);
    if (status < 0) return status;
    bool finite = isfinite(t->weight) && isfinite(t->tolerance);
    for (int k = 0; k < 4; k++) finite = finite && isfinite(t->target[k]);
    if (!finite) return dj_fail(err, DJ_INVALID, "loss[%d]: not a finite number", i);
    const struct {
      const char* name;
      const char* problem;
    } size[] = {{"weight", dj_sizeProblem(&t->weight, 1, DJ_LARGEST_FORCE)},
                {"tolerance", dj_sizeProblem(&t->tolerance, 1, DJ_LARGEST)},
                {"target", dj_sizeProblem(t->target, 4, DJ_LARGEST)}};
    for (int k = 0; k < 3; k++) {
      if (!size[k].problem) continue;
      return dj_fail(err, DJ_INVALID, "loss[%d]: %s %s", i, size[k].name, size[k].problem);
    }
    status = checkTimes(t, i, horizon, err);
    if (status < 0) return status;
  }
  return DJ_OK;
}
