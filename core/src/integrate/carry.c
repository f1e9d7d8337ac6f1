#include "integrate/carry.h"

#include <math.h>
#include <string.h>

enum { MOST_MOVES = 60, MOST_CUTS = 12, MOST_SHIFTS = 20 };
static const double LEAST_PART = 1e-6;   // of the way, in one move
static const double MORE = 2;            // than at the start bodies may be pressed

void dj_setTrialPlace(djWork* w, const djModel* m, double fraction) {
  double rest = w->stage_part - w->carried;
  w->trial_carried = fraction == 1 ? w->stage_part : w->carried + fraction * rest;
  dj_setPlaceAt(&w->trial, w, m, w->trial_carried);
}

// Adds to the gradient what it changes by where mocap bodies go the rest of their way.
static void addRest(double* gradient, djWork* w, const djModel* m) {
  size_t n = 6 * (size_t)m->nbody;
  double rest = (w->stage_part - w->carried) * w->h, *twist = w->momentum_change;
  memset(w->wrench, 0, n * sizeof(double));
  for (int b = 0; b < m->nbody; b++) {
    djSix V = dj_mocapTwist(w, m, b, &w->now.kin);
    dju_store6(twist + 6 * b, (djSix){dju_scale3(rest, V.w), dju_scale3(rest, V.v)});
  }
  dj_pushContacts(w->wrench, &w->forces, twist);
  dj_gatherWrench(w->wrench, m);
  dj_projectWrench(gradient, m, &w->now.kin, w->wrench);
}

// Newton's step for what moves, with a majorizer that is shifted until it can be factored.
static djStatus findStep(bool* found, const djNewtonProblem* p, djWork* w, const djModel* m) {
  double shift = 0;
  djSystemAt at = {.jacobian = DJ_JACOBIAN_MAJORIZER, .gradient = w->gradient};
  djStatus status = p->system(p->user, &at);
  *found = false;
  if (status < 0 || !isfinite(at.value)) return status;
  addRest(w->gradient, w, m);
  for (int k = 0; k < MOST_SHIFTS && !*found; k++) {
    *found = p->factor(p->user, shift);
    shift = shift > 0 ? 10 * shift : 1;
  }
  for (int i = 0; i < m->nv; i++) w->step[i] = -w->gradient[i];
  *found = *found && p->solve(p->user, w->step);
  return status;
}

// How much mocap bodies squeeze at the last evaluation, into work->mocap_squeeze.
static void setSqueeze(djWork* w, const djModel* m) {
  double *speed = w->wrench, *part = speed + m->nbody;
  for (int b = 0; b < m->nbody; b++) speed[b] = dj_baseSpeed(w, m, b);
  dj_squeezeContacts(part, dj_contactsOf(&w->forces), m, speed);
  memset(w->mocap_squeeze, 0, (size_t)m->nmocap * sizeof(double));
  for (int b = 1; b < m->nbody; b++) {
    int k = m->body_mocap[dj_baseBody(m, b)];
    if (k >= 0) w->mocap_squeeze[k] = fmax(w->mocap_squeeze[k], part[b]);
  }
  for (int k = 0; k < m->nmocap; k++) {   // what is between others may be theirs
    w->mocap_squeeze[k] = fmax(w->mocap_squeeze[k], part[0]);
  }
}

static bool squeezes(const djWork* w, const djModel* m, int k) {
  return w->mocap_squeeze[k] > w->mocap_squeeze[m->nmocap + k];
}

static bool anySqueezes(const djWork* w, const djModel* m) {
  for (int k = 0; k < m->nmocap; k++) {
    if (squeezes(w, m, k)) return true;
  }
  return false;
}

// At the start: what is pressed already may be by somewhat more.
static djStatus setMost(djWork* w, const djModel* m) {
  double value, *most = w->mocap_squeeze + m->nmocap;
  djStatus status = w->method->evaluate(&value, NULL, w, m, &w->now, NULL);
  if (status >= 0) setSqueeze(w, m);
  for (int k = 0; k < m->nmocap; k++) most[k] = fmax(1, MORE * w->mocap_squeeze[k]);
  return status;
}

// As far along the step as shapes stay apart and nothing is squeezed, or half as far where that is
// not all: right at a surface forces are no guide. *moved: that is some way; *whole: all of it.
static djStatus move(bool* moved, bool* whole, const djNewtonProblem* p, djWork* w,
                     const djModel* m) {
  double fraction;
  bool apart = false;
  djStatus status = p->limit(p->user, &fraction, w->step);
  *moved = *whole = false;
  for (int k = 0; k < MOST_CUTS && status >= 0 && fraction > LEAST_PART; k++) {
    djSystemAt at = {.step = w->step, .fraction = fraction};
    status = p->system(p->user, &at);
    if (status < 0) return status;
    setSqueeze(w, m);
    *moved = isfinite(at.value) && !anySqueezes(w, m);
    *whole = *moved && fraction == 1;
    if (*whole || (*moved && (apart || k == 0))) return status;
    apart = *moved;
    fraction *= 0.5;
  }
  return status;
}

// With what moves where it would be without contact, or where it is.
static djStatus moveFreely(bool* whole, const djNewtonProblem* p, djWork* w, const djModel* m,
                           bool goes) {
  bool moved, predicts = w->method->predicts;
  for (int i = 0; i < m->nv; i++) {
    double drift = w->drifts || predicts ? w->drift[i] : 0;
    w->step[i] = goes ? (predicts ? 0 : w->stage_h * w->start.qvel[i]) + drift : 0;
  }
  return move(&moved, whole, p, w, m);
}

djStatus dj_carry(bool* found, const djNewtonProblem* p, djWork* w, const djModel* m) {
  bool whole = false, moved = true;
  *found = false;
  if (!dj_contactsOf(&w->forces)) return DJ_OK;
  dj_copyPlace(&w->now, m, &w->from);
  w->carried = 0;
  djStatus status = setMost(w, m);
  if (status >= 0) status = moveFreely(&whole, p, w, m, false);
  if (status < 0 || whole) {
    w->carried = w->stage_part;   // nothing is in their way
    return status;
  }
  status = moveFreely(found, p, w, m, true);
  if (status >= 0 && *found) p->accept(p->user);
  for (int k = 0; k < MOST_MOVES && status >= 0 && !*found && moved; k++) {
    status = findStep(&moved, p, w, m);
    if (status >= 0 && moved) status = move(&moved, found, p, w, m);
    if (status >= 0 && moved) p->accept(p->user);
  }
  w->jams = !*found;
  w->carried = w->stage_part;
  dj_easeContacts(dj_contactsOf(&w->forces), DJ_EASE_NONE, 0);
  return status;
}

void dj_stopJammed(djWork* w, const djModel* m) {
  bool any = anySqueezes(w, m);
  w->jams = false;
  for (int b = 1; b < m->nbody; b++) {
    int k = m->body_mocap[b];
    if (k >= 0 && (!any || squeezes(w, m, k))) dj_stopMocap(w, m, b);
  }
}
