// Ties and kinks by exact coincidence, at which a run starts or which it meets, by name.
//
// A pair of geoms takes the larger coefficient of the two: with equal ones the loss is a function of
// max(a, b), whose derivative by a is 0 on one side and the slope on the other. Inputs are clamped
// to their ranges, limits begin to act at theirs. Of geoms whose centres coincide any direction leads
// apart, and of a box that lies flat several points are the deepest. All that is looked up, not
// measured: whether slopes differ there is what differences say.

#include "contact/contact.h"
#include "gradient/certify.h"
#include "model/geom_row.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What a search sees. moved: values a small step along the direction.
typedef struct Search {
  char* text;
  size_t size;
  bool found;        // text is set; until then it may hold what a pair without a force might be
  const djDesign* design;
  double* friction;  // (ngeom x 3) moved, likewise the following
  double* bounce;    // (ngeom) coefficients of restitution
  double* ctrl;      // (horizon x nu)
  double* qpos;      // (nq)
  double* act;       // (na)
  double* xpos;      // (ngeom x 3) places of geoms at the start
  double* xmat;      // (ngeom x 9) their axes there
  int step;          // from 1
  djWatch watch;     // the caller's
} Search;

// "geom/foot", "geom/#3".
static const char* nameOf(char text[64], const djModel* m, djObject type, int id) {
  const char* name = dj_id2name(m, type, id);
  if (*name) snprintf(text, 64, "%s/%.50s", dj_objectName(type), name);
  else snprintf(text, 64, "%s/#%d", dj_objectName(type), id);
  return text;
}

// ---- pairs ------------------------------------------------------------------------------------

// Equal at the start, and parted by the direction.
static bool isTie(double a, double b, double moved_a, double moved_b) {
  return a == b && moved_a - a != moved_b - b;
}

static void tell(Search* s, const djModel* m, const djContactPair* p, const char* format, bool sure) {
  char a[64], b[64];
  if (!sure && *s->text) return;
  snprintf(s->text, s->size, format, nameOf(a, m, DJ_OBJ_GEOM, p->geom1),
           nameOf(b, m, DJ_OBJ_GEOM, p->geom2));
  s->found = sure;
}

// A box with a face or an edge across the normal.
static bool liesFlat(const Search* s, const djModel* m, int geom, const double normal[3]) {
  if (m->geom_type[geom] != DJ_BOX) return false;
  const double* R = s->xmat + 9 * geom;
  for (int k = 0; k < 3; k++) {
    double along = R[k] * normal[0] + R[3 + k] * normal[1] + R[6 + k] * normal[2];
    if (fabs(along) < 1e-12) return true;
  }
  return false;
}

static void lookAtPair(Search* s, const djModel* m, const djContactPair* p) {
  int a = p->geom1, b = p->geom2;
  if (dj_explicitPair(m, a, b) < 0 && m->geom_priority[a] == m->geom_priority[b]) {
    const double *f = m->geom_friction, *moved = s->friction;
    int dim = m->geom_condim[a] > m->geom_condim[b] ? m->geom_condim[a] : m->geom_condim[b];
    for (int k = 0; k < (dim < 4 ? 1 : dim < 6 ? 2 : 3); k++) {
      int at = 3 * a + k, other = 3 * b + k;
      if (!isTie(f[at], f[other], moved[at], moved[other])) continue;
      tell(s, m, p, "friction of %s and %s is equal: the larger counts", p->normal_force > 0);
      return;
    }
    if (isTie(dj_restitution(m, a, -1), dj_restitution(m, b, -1), s->bounce[a], s->bounce[b])) {
      tell(s, m, p, "restitution of %s and %s is equal: the larger counts", true);
      return;
    }
  }
  if (s->step > 1) return;   // of the start alone
  const double *x = s->xpos + 3 * a, *y = s->xpos + 3 * b;
  if (x[0] == y[0] && x[1] == y[1] && x[2] == y[2]) {
    tell(s, m, p, "centres of %s and %s coincide: any direction leads apart", true);
  } else if (dj_isGround(m->geom_type[a]) || dj_isGround(m->geom_type[b])) {
    return;   // its gap at the start is smooth
  } else if (p->recovering && (liesFlat(s, m, a, p->normal) || liesFlat(s, m, b, p->normal))) {
    tell(s, m, p, "several points of %s and %s are the deepest", true);
  }
}

static int lookAtStep(void* user, double done) {
  Search* s = user;
  const djData* d = s->design->data;
  s->step++;
  for (int k = 0; k < d->npair && !s->found; k++) lookAtPair(s, s->design->model, &d->pair[k]);
  if (s->found) return 1;   // nothing more is to be seen
  return s->watch.progress ? s->watch.progress(s->watch.user, done) : 0;
}

// ---- inputs and joints ------------------------------------------------------------------------

static bool isAtBound(double x, double moved, const double range[2]) {
  return moved != x && (x == range[0] || x == range[1]);
}

static void lookAtInputs(Search* s) {
  const djDesign* d = s->design;
  const djModel* m = d->model;
  char name[64];
  for (int t = 0; t < d->rollout.horizon && !(m->opt.disable & DJ_DSBL_CLAMPCTRL); t++) {
    for (int i = 0; i < m->nu; i++) {
      int k = t * m->nu + i;
      if (!m->actuator_ctrllimited[i] ||
          !isAtBound(d->rollout.ctrl[k], s->ctrl[k], m->actuator_ctrlrange + 2 * i)) {
        continue;
      }
      snprintf(s->text, s->size, "ctrl of %s is at its limit in step %d",
               nameOf(name, m, DJ_OBJ_ACTUATOR, i), t + 1);
      s->found = true;
      return;
    }
  }
  for (int i = 0; i < m->nu; i++) {
    int a = m->actuator_actadr[i];
    if (a < 0 || !m->actuator_actlimited[i] ||
        !isAtBound(d->rollout.act0[a], s->act[a], m->actuator_actrange + 2 * i)) {
      continue;
    }
    snprintf(s->text, s->size, "activation of %s starts at its limit",
             nameOf(name, m, DJ_OBJ_ACTUATOR, i));
    s->found = true;
    return;
  }
}

static void lookAtJoints(Search* s) {
  const djDesign* d = s->design;
  const djModel* m = d->model;
  char name[64];
  for (int j = 0; j < m->njnt; j++) {
    if (!m->jnt_limited[j] || (m->jnt_type[j] != DJ_HINGE && m->jnt_type[j] != DJ_SLIDE)) continue;
    double margin = m->jnt_margin[j];
    double range[2] = {m->jnt_range[2 * j] + margin, m->jnt_range[2 * j + 1] - margin};
    int q = m->jnt_qposadr[j];
    if (!isAtBound(d->rollout.qpos0[q], s->qpos[q], range)) continue;
    snprintf(s->text, s->size, "%s starts at its limit", nameOf(name, m, DJ_OBJ_JOINT, j));
    s->found = true;
    return;
  }
}

// ---- runs -------------------------------------------------------------------------------------

static bool takeMemory(Search* s, double** memory) {
  const djModel* m = s->design->model;
  size_t n = (size_t)m->ngeom, nctrl = (size_t)s->design->rollout.horizon * (size_t)m->nu;
  double* x = *memory = calloc(16 * n + nctrl + (size_t)m->nq + (size_t)m->na + 1, sizeof(double));
  if (!x) return false;
  s->friction = x;
  s->bounce = x + 3 * n;
  s->ctrl = x + 4 * n;
  s->qpos = s->ctrl + nctrl;
  s->act = s->qpos + m->nq;
  s->xpos = s->act + m->na;
  s->xmat = s->xpos + 3 * n;
  return true;
}

// The present point's.
static void keep(Search* s) {
  const djDesign* d = s->design;
  const djModel* m = d->model;
  for (int g = 0; g < m->ngeom; g++) {
    memcpy(s->friction + 3 * g, m->geom_friction + 3 * g, 3 * sizeof(double));
    s->bounce[g] = dj_restitution(m, g, -1);
  }
  size_t nctrl = (size_t)d->rollout.horizon * (size_t)m->nu;
  if (nctrl > 0) memcpy(s->ctrl, d->rollout.ctrl, nctrl * sizeof(double));
  memcpy(s->qpos, d->rollout.qpos0, (size_t)m->nq * sizeof(double));
  if (m->na > 0) memcpy(s->act, d->rollout.act0, (size_t)m->na * sizeof(double));
}

static djStatus keepPlaces(Search* s, djDesign* d) {
  const djModel* m = d->model;
  memcpy(d->data->qpos, d->rollout.qpos0, (size_t)m->nq * sizeof(double));
  djStatus status = dj_forward(m, d->data);
  if (status < 0) return status;
  memcpy(s->xpos, d->data->geom_xpos, 3 * (size_t)m->ngeom * sizeof(double));
  memcpy(s->xmat, d->data->geom_xmat, 9 * (size_t)m->ngeom * sizeof(double));
  return DJ_OK;
}

static djStatus moveBy(djDesign* d, double* x, const double* x0, const double* direction,
                       double e) {
  for (int k = 0; k < d->n; k++) x[k] = x0[k] + e * direction[k];
  return djd_moveDesign(d, x);
}

static djStatus searchRun(Search* s, djDesign* d, double* x, const double* x0,
                          const double* direction, double e) {
  djStatus status = moveBy(d, x, x0, direction, e);
  if (status < 0) status = moveBy(d, x, x0, direction, -e);
  if (status < 0) return DJ_OK;   // nothing is known of steps
  keep(s);
  status = djd_moveDesign(d, x0);
  if (status >= 0) status = keepPlaces(s, d);
  if (status < 0) return status;
  s->watch = d->rollout.watch;
  d->rollout.watch = (djWatch){lookAtStep, s};
  double loss;
  status = djd_forwardDesign(&loss, d, x0, false);
  d->rollout.watch = s->watch;
  if (status < 0 && !s->found) return status;
  if (!s->found) lookAtInputs(s);
  if (!s->found) lookAtJoints(s);
  return DJ_OK;
}

djStatus dj_nameKink(char* text, size_t size, djPhases* p, const double* x0,
                     const double* direction, double e) {
  djStatus status = DJ_OK;
  text[0] = 0;
  for (int j = 0; j < p->n && status >= 0; j++) {
    djDesign* d = p->design[j];
    Search s = {.text = text, .size = size, .design = d};
    double* memory = NULL;
    double* x = calloc((size_t)d->n + 1, sizeof(double));
    status = x && takeMemory(&s, &memory) ? searchRun(&s, d, x, x0, direction, e) : DJ_NO_MEMORY;
    free(memory);
    free(x);
    if (s.found) break;
  }
  return status;
}
