// The rows flex_edge, flex_element and flex_flap: see flex.h.

#include "force/flex.h"

#include <string.h>

typedef struct State {
  const djFlexLaw* law;
  bool majorizes; // the evaluation under way asks for substitutes
  djFlexSum sum;
  double* scratch; // (nbody x 18)
} State;

static size_t size(const djModel* m) {
  if (m->nflex == 0) return 0;
  return sizeof(State) + dj_flexSumSize(m) + 18 * (size_t)m->nbody * sizeof(double);
}

static djStatus makeLaw(void* state, const djModel* m, const djFlexLaw* law) {
  State* s = state;
  if (m->nflex == 0) return DJ_OK;
  s->law = law;
  s->sum = dj_initFlexSum(m, s + 1);
  s->scratch = (double*)(void*)((char*)(s + 1) + dj_flexSumSize(m));
  return DJ_OK;
}

static djStatus begin(void* state, const djMotion* at, djError* err) {
  (void)err;
  if (at->model->nflex > 0) ((State*)state)->majorizes = false;
  return DJ_OK;
}

static djStatus find(double* value, bool* majorized, void* state, const djMotion* at, int flags) {
  (void)value;
  State* s = state;
  if (at->model->nflex == 0) return DJ_OK;
  s->majorizes = (flags & DJ_FORCE_MAJORIZER) != 0;
  if (s->majorizes && s->law->count(at->model) > 0) *majorized = true;
  return DJ_OK;
}

static void couple(djPattern* pattern, const void* state, const djModel* m) {
  const State* s = state;
  djFlexTerm t;
  for (int i = 0; m->nflex > 0 && i < s->law->count(m); i++) {
    if (!s->law->term(&t, m, i)) continue;
    for (int k = 0; k < t.n; k++) {
      for (int l = 0; l < k; l++) {
        int a = m->body_lastdof[m->flexvert_body[t.vert[k]]];
        int b = m->body_lastdof[m->flexvert_body[t.vert[l]]];
        if (a >= 0 && b >= 0) dj_coupleRows(pattern, a, b);
      }
    }
  }
}

// Parts of the law that no flag switches off.
static int partsOf(const djModel* m, int parts) {
  if (m->opt.disable & DJ_DSBL_SPRING) parts &= ~DJ_FLEX_SPRING;
  if (m->opt.disable & DJ_DSBL_DAMPER) parts &= ~DJ_FLEX_DAMPER;
  return parts;
}

static djFlexMotion motionOf(const djMotion* at) {
  double lag = at->acting == DJ_ACTS_SMOOTH ? at->act_time : 0;
  return (djFlexMotion){at->model, at->prompt, at->h, lag};
}

static void setPlaces(djFlexTerm* t, const djFlexSum* s) {
  for (int k = 0; k < t->n; k++) {
    t->x[k] = dju_load3(s->x + 3 * (size_t)t->vert[k]);
    t->y[k] = dju_load3(s->y + 3 * (size_t)t->vert[k]);
  }
}

static void clearTerm(djFlexTerm* t, bool rates) {
  for (int i = 0; i < t->n; i++) {
    memset(t->K[i], 0, (size_t)t->n * sizeof t->K[i][0]);
    if (rates) memset(t->R[i], 0, (size_t)t->n * sizeof t->R[i][0]);
  }
}

// The sum of what is asked for, with twists of a prompt motion (or NULL); value of energies.
static double sumTerms(State* s, const djMotion* at, const double* twist, int what) {
  double value = 0;
  const djModel* m = at->model;
  bool slopes = (what & DJ_FLEX_SLOPES) != 0, rates = (what & DJ_FLEX_RATES) != 0;
  dj_setFlexPlaces(&s->sum, at, twist);
  dj_clearFlexSum(&s->sum, m, rates);
  djFlexMotion motion = motionOf(at);
  djFlexTerm t;
  for (int i = 0; i < s->law->count(m); i++) {
    if (!s->law->term(&t, m, i)) continue;
    setPlaces(&t, &s->sum);
    if (slopes) clearTerm(&t, rates);
    s->law->evaluate(&t, &motion, i, what);
    value += t.value;
    dj_addFlexTerm(&s->sum, &t, m, slopes);
  }
  return value;
}

static bool acts(const State* s, const djModel* m, int parts) {
  return m->nflex > 0 && s->law->count(m) > 0 && partsOf(m, parts) != 0;
}

// Of the energy: in prompt motions that of springs alone.
static int energyParts(const djMotion* at) {
  return partsOf(at->model, at->prompt ? DJ_FLEX_SPRING : DJ_FLEX_SPRING | DJ_FLEX_DAMPER);
}

static djStatus evaluate(djForceSum* sum, void* state, const djMotion* at) {
  State* s = state;
  if (!acts(s, at->model, energyParts(at))) return DJ_OK;
  bool slopes = sum->derivatives && sum->matrices;
  int what = energyParts(at) | (slopes ? DJ_FLEX_SLOPES : 0);
  sum->value += sumTerms(s, at, NULL, what | (s->majorizes ? DJ_FLEX_MAJORIZER : 0));
  if (slopes)
    dj_projectFlex(sum, &s->sum, at);
  else if (sum->derivatives)
    dj_addFlexWrench(sum->wrench, &s->sum, at);
  return DJ_OK;
}

// ---- damping of prompt motions -----------------------------------------------------------------

static bool damps(const State* s, const djModel* m) {
  if (!acts(s, m, DJ_FLEX_DAMPER)) return false;
  for (int f = 0; f < m->nflex; f++) {
    if (m->flex_damping[f] != 0 || m->flex_edgedamping[f] != 0) return true;
  }
  return false;
}

static void sumDamping(State* s, djTwistForces* twist, const djMotion* at, bool slopes) {
  dj_openTwistForces(twist, at);
  sumTerms(s, at, twist->V, DJ_FLEX_DAMPER | (slopes ? DJ_FLEX_SLOPES | DJ_FLEX_RATES : 0));
}

static void nonpotential(djForceSum* sum, double* gradient, void* state, const djMotion* at) {
  (void)gradient; // of the sum of twists
  if (!at->prompt || !damps(state, at->model)) return;
  sumDamping(state, sum->twist, at, sum->matrices);
  dj_projectFlexTwists(sum, sum->twist, &((State*)state)->sum, at);
}

static djStatus start(djStartSum* sum, void* state, const djMotion* at) {
  State* s = state;
  if (!damps(s, at->model)) return DJ_OK;
  if (at->prompt) {
    sumDamping(s, sum->twist, at, true);
    dj_projectFlexTwistRates(sum, &s->sum, at);
  } else {
    sumTerms(s, at, NULL, DJ_FLEX_DAMPER | DJ_FLEX_SLOPES | DJ_FLEX_RATES);
    dj_projectFlexRates(sum, &s->sum, at);
  }
  return DJ_OK;
}

// ---- parameters --------------------------------------------------------------------------------

// Parameters are asked for also where they are 0.
static void lawParams(djParamSums* sums, State* s, const djMotion* at, const double* twist) {
  const djModel* m = at->model;
  djFlexMotion motion = motionOf(at);
  djFlexTerm t;
  int what = partsOf(m, DJ_FLEX_SPRING | DJ_FLEX_DAMPER);
  dj_setFlexPlaces(&s->sum, at, twist);
  for (int i = 0; i < s->law->count(m); i++) {
    djVec3 u[DJ_FLEX_VERT];
    if (!s->law->term(&t, m, i)) continue;
    setPlaces(&t, &s->sum);
    for (int k = 0; k < t.n; k++) {
      int b = m->flexvert_body[t.vert[k]];
      const double* x = sums->x + 6 * b;
      u[k] = dju_add3(dju_load3(x + 3), dju_cross3(dju_load3(x), dju_sub3(t.x[k], at->ref[b])));
    }
    s->law->params(sums->param, &t, &motion, i, what, u);
  }
}

static djStatus params(djParamSums* sums, void* state, const djMotion* at, const double* z,
                       const double* zeta) {
  (void)z, (void)zeta;
  State* s = state;
  const djModel* m = at->model;
  if (!acts(s, m, DJ_FLEX_SPRING | DJ_FLEX_DAMPER)) return DJ_OK;
  if (at->prompt) dj_openTwistForces(sums->twist, at);
  if (sums->wants & DJ_BY_LAW) lawParams(sums, s, at, at->prompt ? sums->twist->V : NULL);
  if (!(sums->wants & DJ_BY_FRAME)) return DJ_OK;
  if (at->prompt && damps(s, m)) {
    sumDamping(s, sums->twist, at, true);
    dj_flexTwistCotangents(sums, s->scratch, &s->sum, at);
  }
  int rates = energyParts(at) & DJ_FLEX_DAMPER ? DJ_FLEX_RATES : 0;
  sumTerms(s, at, NULL, energyParts(at) | DJ_FLEX_SLOPES | rates);
  dj_flexCotangents(sums, &s->sum, at);
  return DJ_OK;
}

static double potentialOf(const djMotion* at, const djFlexLaw* law) {
  const djModel* m = at->model;
  double sum = 0;
  djFlexMotion motion = motionOf(at);
  djFlexTerm t;
  int what = partsOf(m, DJ_FLEX_SPRING);
  for (int i = 0; i < law->count(m) && what; i++) {
    if (!law->term(&t, m, i)) continue;
    for (int k = 0; k < t.n; k++) t.x[k] = dj_flexPlace(m, at->at.kin, t.vert[k]);
    law->evaluate(&t, &motion, i, what);
    sum += t.value;
  }
  return sum;
}

#define ROW(row, name_, law)                                                                       \
  static djStatus make_##name_(void* state, const djModel* m, djError* err) {                      \
    (void)err;                                                                                     \
    return makeLaw(state, m, &law);                                                                \
  }                                                                                                \
  static double potential_##name_(const djMotion* at) { return potentialOf(at, &law); }            \
  const djForceRow row = {.name = #name_,                                                          \
                          .size = size,                                                            \
                          .make = make_##name_,                                                    \
                          .begin = begin,                                                          \
                          .find = find,                                                            \
                          .couple = couple,                                                        \
                          .evaluate = evaluate,                                                    \
                          .nonpotential = nonpotential,                                            \
                          .start = start,                                                          \
                          .params = params,                                                        \
                          .params_of = DJ_BY_LAW | DJ_BY_FRAME,                                    \
                          .potential = potential_##name_};

ROW(dj_flexEdgeForce, flex_edge, dj_flexEdgeLaw)
ROW(dj_flexElementForce, flex_element, dj_flexElementLaw)
ROW(dj_flexFlapForce, flex_flap, dj_flexFlapLaw)
