#include "force/hold.h"

#include "math/vec.h"
#include "model/equality.h"
#include "model/param.h"

#include <math.h>
#include <string.h>

// K h^2 over the inertia along x: in a solution that of qpos0, from where one pass is nearly enough,
// and of derivatives, between what the constraint gives way by and what rounding makes of it.
static const double SOLVING = 1e4, SETTLED = 1e8;

static bool isHard(const djModel* m) {
  return m->opt.equality == DJ_EQUALITY_HARD && !(m->opt.disable & DJ_DSBL_EQUALITY);
}

// State: whether any acts, then one a number.
typedef struct State {
  int n;
  bool keeps;
  djHold hold[];
} State;

static size_t size(const djModel* m) {
  return sizeof(State) + (size_t)dj_holdCount(m) * sizeof(djHold);
}

// ---- the start --------------------------------------------------------------------------------

static double extentOf(const djModel* m) {
  double most = 0;
  for (int b = 1; b < m->nbody; b++) {
    most = fmax(most, dju_norm3(dju_load3(m->body_pos + 3 * b)));
    most = fmax(most, dju_norm3(dju_load3(m->body_ipos + 3 * b)));
  }
  return most > 0 ? most : 1;
}

static double sizeOf(const djModel* m, int e, int part, double extent) {
  int id = m->eq_pair[2 * e];
  if (m->eq_type[e] == DJ_EQ_JOINT) return m->jnt_type[id] == DJ_HINGE ? 1 : extent;
  if (m->eq_type[e] == DJ_EQ_TENDON) return fmax(fabs(m->tendon_length0[id]), extent);
  return part < 3 ? extent : fmax(fabs(m->eq_torquescale[e]), 1e-3);
}

// Rate at which the law of a soft constraint (soft_row.h) closes it, damped critically.
static double rateOf(const djModel* m, int e) {
  double top = m->eq_impedance[5 * e + 1];
  double b = (1 - top) / top * m->eq_damping[e];
  return b > 0 ? 0.5 * b : sqrt((1 - top) / top * m->eq_stiffness[e]);
}

static djStatus begin(void* state, const djMotion* at, djError* err) {
  (void)err;
  State* s = state;
  const djModel* m = at->model;
  if (s->keeps) return DJ_OK;
  s->n = 0;
  if (!isHard(m)) return DJ_OK;
  double extent = extentOf(m), h2 = at->h * at->h;
  int first = m->ncoord - m->nequalitycoord;
  for (int e = 0; e < m->nequality; e++) {
    for (int part = 0; part < m->eq_coordnum[e]; part++) {
      int c = m->eq_coord[e] + part;
      djHold* hold = &s->hold[c - first];
      double inertia = m->eq_effinertia[2 * e + (part >= 3)];
      *hold = (djHold){.acts = at->start->eq_active[e] && m->coord_dofnum[c] > 0,
                       .coordinate = c,
                       .x0 = at->at0.coord->x[c],
                       .gamma = exp(-at->act_time * rateOf(m, e)),
                       .K = SOLVING * inertia / h2,
                       .stiff = SETTLED / h2,
                       .size = sizeOf(m, e, part, extent)};
      hold->r = hold->gamma * hold->x0;
      s->n += hold->acts;
    }
  }
  return DJ_OK;
}

// ---- multipliers ------------------------------------------------------------------------------

djHold* dj_holdsOf(const djForces* f, const djModel* m) {
  State* s = f->state[DJ_FORCE_HOLD];
  return isHard(m) && s->n > 0 ? s->hold : NULL;
}

void dj_keepHolds(const djForces* f, bool keep) {
  State* s = f->state[DJ_FORCE_HOLD];
  s->keeps = keep;
}

static double offOf(const djHold* h, const djMotion* at) {
  return at->at.coord->x[h->coordinate] - h->r;
}

double dj_holdError(const djHold* hold, const djMotion* at) {
  double worst = 0;
  for (int i = 0; i < dj_holdCount(at->model); i++) {
    if (hold[i].acts) worst = fmax(worst, fabs(offOf(&hold[i], at)) / hold[i].size);
  }
  return worst;
}

void dj_moveHolds(djHold* hold, const djMotion* at) {
  for (int i = 0; i < dj_holdCount(at->model); i++) {
    if (hold[i].acts) hold[i].F += hold[i].K * offOf(&hold[i], at);
  }
}

void dj_settleHolds(djHold* hold, const djMotion* at, const double* inverse) {
  dj_moveHolds(hold, at);
  for (int i = 0; i < dj_holdCount(at->model); i++) {
    if (!hold[i].acts) continue;
    hold[i].r += offOf(&hold[i], at);
    hold[i].K = inverse[i] > 0 ? hold[i].stiff / inverse[i] : 0;
  }
}

// ---- the energy -------------------------------------------------------------------------------

static djStatus evaluate(djForceSum* sum, void* state, const djMotion* at) {
  const State* s = state;
  for (int i = 0; i < dj_holdCount(at->model) && s->n > 0; i++) {
    const djHold* h = &s->hold[i];
    if (!h->acts) continue;
    double off = offOf(h, at);
    sum->value += off * (h->F + 0.5 * h->K * off);
    sum->f[h->coordinate] += h->F + h->K * off;
    sum->k[h->coordinate] += h->K;
  }
  return DJ_OK;
}

static djStatus start(djStartSum* sum, void* state, const djMotion* at) {
  const State* s = state;
  for (int i = 0; i < dj_holdCount(at->model) && s->n > 0; i++) {
    const djHold* h = &s->hold[i];
    if (h->acts) sum->k0[h->coordinate] -= h->K * h->gamma;
  }
  return DJ_OK;
}

const djForceRow dj_holdForce = {.name = "hold",
                                 .acts = DJ_ACTS_BOUNDED,
                                 .along = true,
                                 .size = size,
                                 .begin = begin,
                                 .evaluate = evaluate,
                                 .start = start};
