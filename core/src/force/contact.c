// Contact of all pairs of geoms, see contact/contact.h.

#include "force/contact_nonpotential.h"
#include "force/forces.h"

#include "math/block6.h"

#include <string.h>

// The list comes first: see dj_contactsOf.
typedef struct State {
  djContacts* list;
  djTwistForces nonpotential;
} State;

static djContacts* listOf(const void* state) { return ((const State*)state)->list; }

static bool isTied(const djContactBlock* c) { return dj_isPotential(c->traits); }

static size_t size(const djModel* m) {
  return sizeof(State) + (dj_hasNonpotentialContact(m) ? dj_twistForcesSize(m) : 0);
}

static djStatus make(void* state, const djModel* m, djError* err) {
  State* s = state;
  if (dj_hasNonpotentialContact(m)) s->nonpotential = dj_initTwistForces(m, s + 1);
  s->nonpotential.bases = true;
  return dj_makeContacts(&s->list, m, err);
}

static void release(void* state) { dj_deleteContacts(listOf(state)); }
static void forget(void* state) { dj_resetContacts(listOf(state)); }

// Velocities of bodies at the point, or NULL where no kernel asks for them: what has none for an
// energy has no value that depends on them; but reports may be of the last evaluation.
static const double* twistsAt(void* state, const djMotion* at, bool derivatives) {
  State* s = state;
  if (!s->nonpotential.V || !derivatives) return NULL;
  dj_setTwists(&s->nonpotential, at);
  return s->nonpotential.V;
}

static djStatus begin(void* state, const djMotion* at, djError* err) {
  const djPose* rate = at->from_rate == at->from ? NULL : at->from_rate->body;
  djContacts* list = listOf(state);
  dj_setRestOfContacts(list, at->rest);
  dj_setPastContacts(list, at->past.kin ? at->past.kin->body : NULL);
  djStatus status = dj_beginContacts(list, at->model, at->from->body, rate, NULL, at->ref,
                                     at->h, err);
  return status < 0 || !at->lag ? status : dj_lagContacts(list, at->model, at->lag->body, err);
}

static djStatus find(double* value, bool* majorized, void* state, const djMotion* at, int flags) {
  int eval = 0, n;
  if (flags & DJ_FORCE_DERIVATIVES) eval |= DJ_EVAL_HESSIAN;
  if (flags & DJ_FORCE_MAJORIZER) eval |= DJ_EVAL_MAJORIZER;
  double energy;
  djStatus status =
      dj_evalContacts(&energy, listOf(state), at->model, at->at.kin->body,
                      twistsAt(state, at, eval != 0 || dj_contactsUseTwists(listOf(state))), eval);
  if (status < 0) return status;
  *value += energy;
  dj_contactBlocks(&n, listOf(state));
  if (eval & DJ_EVAL_MAJORIZER && n > 0) *majorized = true;
  if (at->convexity > 0) dj_convexContacts(listOf(state), at->model, at->convexity);
  return status;
}

static void couple(djPattern* pattern, const void* state, const djModel* m) {
  int n;
  const djContactBlock* const* block = dj_contactBlocks(&n, listOf(state));
  for (int k = 0; k < n; k++) {
    int a = m->body_lastdof[block[k]->body_a], b = m->body_lastdof[block[k]->body_b];
    if (a >= 0 && b >= 0) dj_coupleRows(pattern, a, b);
  }
}

// Block of bodies r, s in a 12 x 12 matrix.
static void copyBlock(double K[36], const double* from, int r, int s) {
  from += 72 * r + 6 * s;
  for (int i = 0; i < 6; i++) memcpy(K + 6 * i, from + 12 * i, 6 * sizeof(double));
}

// Substitutes leave out what the path of the bodies adds, as if that were straight.
static djStatus evaluate(djForceSum* sum, void* state, const djMotion* at) {
  const djModel* m = at->model;
  const bool convex = at->convexity > 0;
  int n;
  if (!sum->derivatives) return DJ_OK;
  const djContactBlock* const* block = dj_contactBlocks(&n, listOf(state));
  for (int k = 0; k < n; k++) {
    const djContactBlock* c = block[k];
    int body[2] = {c->body_a, c->body_b};
    double K[36];
    if (!isTied(c)) continue;
    for (int s = 0; s < 2; s++) {
      if (m->body_lastdof[body[s]] < 0) continue;
      const double* g = c->out.gradient + 6 * s;
      for (int r = 0; r < 6; r++) sum->wrench[6 * body[s] + r] += g[r];
      copyBlock(K, c->out.hessian, s, s);
      if (!convex) dj_addNested(sum->N + 36 * body[s], K, g);
      for (int i = 0; i < 36 && convex; i++) sum->N[36 * body[s] + i] += K[i];
    }
    if (m->body_lastdof[body[0]] < 0 || m->body_lastdof[body[1]] < 0) continue;
    copyBlock(K, c->out.hessian, 0, 1);
    dj_projectCross(sum->H, m, at->at.kin, body[0], body[1], K);
  }
  return DJ_OK;
}

// Friction by the end has no energy.
static bool hasNonpotential(const djModel* m) {
  return dj_hasNonpotentialContact(m) || m->opt.friction == DJ_FRICTION_IMPLICIT;
}

static void nonpotential(djForceSum* sum, double* gradient, void* state, const djMotion* at) {
  State* s = state;
  if (s->nonpotential.V) dj_addNonpotential(sum, gradient, &s->nonpotential, s->list, at);
}

// It hangs on a mocap body, which moves between the start and the point.
static bool isBased(const djModel* m, int body) { return m->body_mocap[dj_baseBody(m, body)] >= 0; }

// d gradient by poses of `from`, J (12 x 12), into N and R.
static void addStart(double* N, djMatrix* R, const double* J, const djContactBlock* c,
                     const djMotion* at, const djKin* from) {
  const djModel* m = at->model;
  int body[2] = {c->body_a, c->body_b};
  for (int r = 0; r < 2; r++) {
    for (int s = 0; s < 2; s++) {
      if (m->body_lastdof[body[r]] < 0 || m->body_lastdof[body[s]] < 0) continue;
      double K[36];
      copyBlock(K, J, r, s);
      if (r == s && !isBased(m, body[r])) {
        for (int i = 0; i < 36; i++) N[36 * body[r] + i] += K[i];
      } else {
        dj_projectCrossMixed(R, m, at->at.kin, from, body[r], body[s], K);
      }
    }
  }
}

static djStatus start(djStartSum* sum, void* state, const djMotion* at) {
  State* s = state;
  djStatus status = dj_startContacts(s->list, at->model, at->at.kin->body);
  if (status < 0) return status;
  int n;
  const djContactBlock* const* block = dj_contactBlocks(&n, s->list);
  for (int k = 0; k < n; k++) {
    if (!block[k]->lagged) addStart(sum->N0, sum->R0, block[k]->start_jac, block[k], at, at->from);
    if (!block[k]->rate_jac) continue;
    addStart(sum->Nrate, sum->Rrate, block[k]->rate_jac, block[k], at, at->from_rate);
  }
  if (s->nonpotential.V) dj_startNonpotential(sum, &s->nonpotential, s->list, at);
  return status;
}

static djStatus past(djMatrix* R, void* state, const djMotion* at) {
  const djModel* m = at->model;
  djContacts* list = listOf(state);
  djStatus status = dj_pastContacts(list, m, at->at.kin->body);
  int n;
  const djContactBlock* const* block = dj_contactBlocks(&n, list);
  for (int k = 0; k < n && status >= 0; k++) {
    const djContactBlock* c = block[k];
    const int body[2] = {c->body_a, c->body_b};
    for (int i = 0; i < 4 && c->has_past; i++) {
      const int r = i / 2, s = i % 2;
      if (m->body_lastdof[body[r]] < 0 || m->body_lastdof[body[s]] < 0) continue;
      double K[36];
      for (int e = 0; e < 36; e++) {
        K[e] = c->past.by[6 * r + e / 6] * c->past.number[6 * s + e % 6];
      }
      dj_projectCrossMixed(R, m, at->at.kin, at->past.kin, body[r], body[s], K);
    }
  }
  return status;
}

static djStatus lag(djMatrix* H, double* N, void* state, const djMotion* at) {
  djContacts* list = listOf(state);
  djStatus status = dj_startContacts(list, at->model, at->at.kin->body);
  if (status < 0) return status;
  int n;
  const djContactBlock* const* block = dj_contactBlocks(&n, list);
  for (int k = 0; k < n; k++) {
    if (block[k]->lagged) addStart(N, H, block[k]->start_jac, block[k], at, at->at.kin);
  }
  return DJ_OK;
}

static void addPastCotangents(djParamSums* s, const djContactBlock* c) {
  const int body[2] = {c->body_a, c->body_b};
  double along = 0;
  for (int k = 0; k < 12 && c->has_past; k++) {
    along += c->past.by[k] * s->x[6 * body[k / 6] + k % 6];
  }
  for (int k = 0; k < 12 && c->has_past; k++) {
    s->Cpast[6 * body[k / 6] + k % 6] += along * c->past.number[k];
  }
}

static void addCotangents(djParamSums* s, const djContactBlock* c, const djMotion* at) {
  int body[2] = {c->body_a, c->body_b};
  for (int i = 0; i < 2; i++) {
    const double *g = c->out.gradient + 6 * i, *x = s->x + 6 * body[i];
    double Q[36], N[36] = {0};
    for (int r = 0; r < 6; r++) s->W[6 * body[i] + r] += g[r];
    for (int k = 0; k < 2; k++) {   // rows of body k, columns of body i
      const double* block = c->start_jac + 72 * k + 6 * i;
      double* to = c->lagged ? s->C : s->C0;
      dju_mulAdd6(to + 6 * body[i], block, 12, s->x + 6 * body[k], true);
      if (!c->rate_jac) continue;
      block = c->rate_jac + 72 * k + 6 * i;
      dju_mulAdd6(dj_rateCotangents(s, at) + 6 * body[i], block, 12, s->x + 6 * body[k], true);
    }
    if (!isTied(c)) continue;
    copyBlock(Q, c->out.hessian, i, i);
    dj_addNested(N, Q, g);
    dju_mulAdd6(s->C + 6 * body[i], N, 6, x, false);
    const double* cross = c->out.hessian + 72 * i + 6 * (1 - i);
    dju_mulAdd6(s->C + 6 * body[i], cross, 12, s->x + 6 * body[1 - i], false);
  }
}

static djStatus params(djParamSums* s, void* state, const djMotion* at, const double* z,
                       const double* zeta) {
  (void)z, (void)zeta;
  djContacts* list = listOf(state);
  const djPose* pose = at->at.kin->body;
  double value;
  djStatus status =
      dj_evalContacts(&value, list, at->model, pose, twistsAt(state, at, true), DJ_EVAL_HESSIAN);
  if (status >= 0) status = dj_startContacts(list, at->model, pose);
  if (status >= 0) status = dj_pastContacts(list, at->model, pose);
  if (status < 0) return status;
  int n;
  const djContactBlock* const* block = dj_contactBlocks(&n, list);
  const bool frames = s->wants & DJ_BY_FRAME;
  for (int k = 0; k < n && frames; k++) {
    addCotangents(s, block[k], at);
    addPastCotangents(s, block[k]);
  }
  djTwistForces* other = &((State*)state)->nonpotential;
  if (other->V && frames) dj_nonpotentialCotangents(s, other, list, at);
  if (!(s->wants & DJ_BY_CONTACT)) return DJ_OK;
  return dj_contactParams(s->param, s->shape, list, at->model, pose, s->x);
}

void dj_pushContacts(double* wrench, const djForces* forces, const double* twist) {
  const djContacts* list = dj_contactsOf(forces);
  int n = 0;
  const djContactBlock* const* block = list ? dj_contactBlocks(&n, list) : NULL;
  for (int k = 0; k < n; k++) {
    const djContactBlock* c = block[k];
    int body[2] = {c->body_a, c->body_b};
    for (int r = 0; r < 2 && isTied(c); r++) {
      double* to = wrench + 6 * body[r];
      for (int s = 0; s < 2; s++) {
        dju_mulAdd6(to, c->out.hessian + 72 * r + 6 * s, 12, twist + 6 * body[s], false);
      }
    }
  }
}

static djStatus maxStep(double* fraction, void* state, const djMotion* at, const djKin* trial) {
  double own;
  djStatus status =
      dj_capContacts(&own, listOf(state), at->model, at->at.kin->body, trial->body);
  if (status >= 0 && own < *fraction) *fraction = own;
  return status;
}

static djStatus report(djData* d, void* state, const djMotion* at) {
  djContacts* list = listOf(state);
  const djPose* pose = at->at.kin->body;
  if (dj_contactsUseTwists(list)) {
    djStatus status = dj_refreshTwists(list, at->model, pose, twistsAt(state, at, true));
    if (status < 0) return status;
  }
  return dj_reportContacts(d, list, at->model, pose);
}

const djForceRow dj_contactForce = {.name = "contact",.acts = DJ_ACTS_BOUNDED,
                                    .size = size,
                                    .make = make,
                                    .free = release,
                                    .forget = forget,
                                    .begin = begin,
                                    .find = find,
                                    .couple = couple,
                                    .evaluate = evaluate,
                                    .is_nonpotential = hasNonpotential,
                                    .nonpotential = nonpotential,
                                    .start = start,
                                    .past = past,
                                    .lag = lag,
                                    .params = params,
                                    .params_of = DJ_BY_CONTACT | DJ_BY_FRAME,
                                    .max_step = maxStep,
                                    .report = report};
