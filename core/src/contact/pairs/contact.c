#include "contact/contact.h"

#include "base/status.h"
#include "contact/pairs/near.h"
#include "contact/pairs/tied.h"
#include "contact/rows.h"

#include <string.h>

// ------------------------------------------ start of a step ------------------------------------

// A state for the pair, and its settings; where all are in use, that of a pair which this step has
// not used.
static bool takeSlot(djContacts* c, const djModel* m, djNearPair* p) {
  if (p->slot >= 0) return true;
  if (c->nfree > 0) p->slot = c->free_slot[--c->nfree];
  for (int k = 0; k < c->npair && p->slot < 0; k++) {
    djNearPair* q = &c->pair[k];
    if (q->slot < 0 || q->begun || q->near) continue;
    p->slot = q->slot;
    q->slot = -1;
  }
  if (p->slot < 0) return false;
  double* setting = c->setting + (size_t)p->slot * DJ_MAX_OF_KERNEL;
  dj_pairSettings(setting, m, c->use[p->use], p->low, p->high);
  memset(dj_stateOf(c, p), 0, c->state_size);
  return true;
}

// Where it does not recover, the pair's state is that by the lag instead of the start.
static djStatus lagPair(djContacts* c, const djModel* m, djNearPair* p) {
  djPairState* state = dj_stateOf(c, p);
  if (p->kernel->recovers && p->kernel->recovers(state)) return DJ_OK;
  p->lagged = true;
  djPairInput in = dj_pairInput(c, m, p, c->lag);
  return dj_beginPair(p->kernel, state, &in);
}

// DJ_CROWDED: there is no state for it.
static djStatus beginPair(djContacts* c, const djModel* m, djNearPair* p) {
  if (p->begun) return DJ_OK;
  if (!takeSlot(c, m, p)) return DJ_CROWDED;
  p->begun = true;
  p->lagged = false;
  p->acted_at = 0;
  djPairInput in = dj_pairInput(c, m, p, c->start);
  djStatus status = dj_beginPair(p->kernel, dj_stateOf(c, p), &in);
  return status < 0 || !c->lag ? status : lagPair(c, m, p);
}

// States and blocks are those of the kernels that were in use when they were made, and of what they
// were then.
static bool sameKernels(const djModel* m, const djContacts* c) {
  const struct djCollision* col = m->collision;
  if (!col || col->nuse != c->nuse) return false;
  for (int u = 0; u < c->nuse; u++) {
    if (col->use[u] != c->use[u]) return false;
    const djTraits now = dj_modelTraits(m, c->use[u]), *made = &c->traits[u];
    if (dj_isPotential(&now) != dj_isPotential(made) || now.uses_twist != made->uses_twist ||
        now.limits != made->limits) {
      return false;
    }
  }
  return true;
}

static bool validSettings(const djModel* m, const djContacts* c) {
  const struct djCollision* col = m->collision;
  if (!col || m->nbody != c->nbody) return false;
  for (int u = 0; u < col->nuse; u++) {
    const double* setting = m->kernel_setting + c->first[u];
    if (!dj_settingsValid(dj_kernel(col->use[u]), setting)) return false;
  }
  return true;
}

// Where a list no longer covers what bodies move by, the next one covers that so many times, but no
// more than the scene's radius: bodies that have been placed elsewhere do not go on like that.
static const double AHEAD = 4;

static double aheadOf(const djModel* m, double moved) {
  return fmin(AHEAD * moved, m->contact.radius);
}

// Moves the bounds and margins to other poses, near which steps go on: to which c->moved leads.
static djStatus moveBase(djContacts* c, const djModel* m) {
  bool valid = c->listed, moved = false;
  for (int b = 0; b < c->nbody; b++) {
    double most = c->moved.most[b];
    moved = moved || most != 0;
    c->slack[b] -= most;
    c->need[b] = isfinite(most) ? aheadOf(m, most) : 0;
    if (m->body_weld[b] == 0) {
      if (most > 0) valid = false;   // the world is not meant to move
    } else if (!(c->slack[b] >= 0)) {
      valid = false;
    }
  }
  for (int k = 0; k < c->npair && moved; k++) {
    djNearPair* p = &c->pair[k];
    double most = dj_bothMove(p, &c->moved);
    bool far = p->near || p->bound - most > p->range;   // of near ones nobody asks
    if (!far) {
      double relative = dj_relativeMove(p, m, &c->moved);
      if (relative < most) most = relative;
    }
    p->bound -= most;
  }
  memcpy(c->base, c->moved.to, (size_t)c->nbody * sizeof(djPose));
  memset(c->moved.most, 0, (size_t)c->nbody * sizeof *c->moved.most);
  memset(c->moved.turned, 0, (size_t)c->nbody * sizeof *c->moved.turned);
  return valid ? DJ_OK : dj_listPairs(c, m, true);
}

static djStatus moveStart(djContacts* c, const djModel* m, const djPose* pose) {
  memcpy(c->start, pose, (size_t)c->nbody * sizeof(djPose));
  for (int k = 0; k < c->npair; k++) {
    c->pair[k].near = c->pair[k].begun = c->pair[k].lagged = false;
  }
  c->ahead = false;
  if (!c->listed) memcpy(c->base, pose, (size_t)c->nbody * sizeof(djPose));
  dj_measureMoves(&c->moved, m, c->base, pose);
  return moveBase(c, m);
}

static const char* nameOf(const djModel* m, int geom) { return m->names + m->name_geom[geom]; }

static djStatus failOverlap(djError* err, const djModel* m, const djNearPair* p, double depth) {
  return dj_fail(err, DJ_OVERLAP, "geom '%.60s' (#%d) and geom '%.60s' (#%d) overlap by %.6g m",
                 nameOf(m, p->low), p->low, nameOf(m, p->high), p->high, depth);
}

// Which pairs are in range now; with overlap = error, whether one overlaps: the deepest is named.
static djStatus findNear(djContacts* c, const djModel* m, djError* err) {
  bool refuse = m->opt.overlap == DJ_OVERLAP_ERROR;
  double deepest = -INFINITY;
  const djNearPair* worst = NULL;
  for (int k = 0; k < c->npair; k++) {
    djNearPair* p = &c->pair[k];
    if (dj_leastGap(p, m, &c->moved, p->range) > p->range) continue;
    bool refuses = refuse && !c->traits[p->use].overlaps;
    bool within = p->afar ? p->close : p->acted;
    if ((within || p->always) && !refuses) {   // the kernel finds out by itself
      p->near = true;
      continue;
    }
    djDistance d;
    djStatus status = dj_pairGap(&d, &p->cache, c, p, m, c->start);
    if (status < 0) return dj_fail(err, status, "contact: the distance of two geoms is undefined");
    p->bound = -INFINITY;
    dj_seeGap(p, m, &c->moved, dj_separation(&d));
    p->near = d.gap <= p->range;
    if (!refuses || d.gap > 0) continue;
    double depth;
    status = dj_trueDepth(&depth, c, p, m, c->start);
    if (status < 0) return dj_fail(err, status, "contact: the distance of two geoms is undefined");
    if (!worst || depth > deepest) {
      deepest = depth;
      worst = p;
    }
  }
  return worst ? failOverlap(err, m, worst, deepest) : DJ_OK;
}

static djStatus failRoom(djError* err, djStatus status, const djContacts* c) {
  return dj_fail(err, status, "contact: no memory for more than %d near pairs of geoms",
                 c->wanted > c->nslot ? c->maxlist : c->nslot);
}

static djStatus failPair(djError* err, djStatus status, const djContacts* c, const djModel* m,
                         const djNearPair* p) {
  if (status == DJ_NO_MEMORY) return failRoom(err, status, c);
  return dj_fail(err, status, "contact of geom '%.60s' (#%d) and geom '%.60s' (#%d) failed",
                 nameOf(m, p->low), p->low, nameOf(m, p->high), p->high);
}

bool dj_isCurrent(const djContacts* c, const djModel* m) {
  const struct djCollision* col = m->collision;
  return c->listed && c->collision == col && col && c->version == col->version;
}

static void checkCoefficients(djContacts* c, const djModel* m) {
  if (c->coefficients == m->collision->coefficients) return;
  for (int k = 0; k < c->npair; k++) dj_takeCoefficients(&c->pair[k], m);
  c->coefficients = m->collision->coefficients;
}

// Whether the list is about these shapes and ranges; else it begins anew.
static djStatus checkShapes(djContacts* c, const djModel* m) {
  const struct djCollision* col = m->collision;
  bool same = c->collision == col && c->version == col->version;
  c->maxrange = 0;
  for (int u = 0; u < c->nuse; u++) {
    double range = col->range[u] * (dj_hasRestitution(m) ? 4 : 1);
    same = same && range == c->range[u];
    c->range[u] = range;
    c->maxrange = fmax(c->maxrange, range);
  }
  if (same) {
    checkCoefficients(c, m);
    return DJ_OK;
  }
  dj_resetContacts(c);
  djStatus status = dj_listAfar(c, m);
  if (status < 0) return status;
  c->collision = col;
  c->version = col->version;
  c->coefficients = col->coefficients;
  return DJ_OK;
}

// Velocities of bodies; NULL: zero.
static void setTwists(djContacts* c, const double* twist) {
  size_t size = 6 * (size_t)c->nbody * sizeof(double);
  if (twist) memcpy(c->twist, twist, size);
  else if (c->moving) memset(c->twist, 0, size);
  c->moving = twist != NULL;
}

// Poses from which displacements count, and velocities.
static djStatus setRates(djContacts* c, const djPose* pose, const djPose* rate,
                         const double* twist) {
  size_t nb = (size_t)c->nbody;
  c->rate = c->start;
  setTwists(c, twist);
  if (!rate || rate == pose || !memcmp(rate, pose, nb * sizeof(djPose))) return DJ_OK;
  memcpy(c->rate_pose, rate, nb * sizeof(djPose));
  c->rate = c->rate_pose;
  return c->rate_jac ? DJ_OK : dj_needRates(c);
}

static djStatus beginStep(djContacts* c, const djModel* m, const djPose* pose, const djPose* rate,
                          const double* twist, const djVec3* ref, double h, djError* err) {
  djStatus status = checkShapes(c, m);
  if (status < 0) return failRoom(err, status, c);
  c->lag = NULL;
  c->h = h;
  c->neval = 0;
  c->evaluated = c->blocked = c->marked = c->keeps = false;
  c->nblock = 0;
  status = moveStart(c, m, pose);
  memcpy(c->ref, ref, (size_t)c->nbody * sizeof(djVec3));
  if (status >= 0) status = setRates(c, pose, rate, twist);
  if (status < 0) return failRoom(err, status, c);
  status = findNear(c, m, err);
  if (status < 0) return status;
  int nnear = 0;   // with those that will be evaluated for acting afar
  for (int k = 0; k < c->npair; k++) nnear += c->pair[k].near || c->pair[k].afar;
  if (nnear > c->nslot) status = dj_growSlots(c, nnear);
  if (status < 0) return failRoom(err, status, c);
  djStatus worst = DJ_OK;
  for (int k = 0; k < c->npair; k++) {
    djNearPair* p = &c->pair[k];
    if (!p->near) continue;
    status = beginPair(c, m, p);
    if (status < 0) return failPair(err, status, c, m, p);
    if (status > 0) worst = status;
  }
  return worst;
}

void dj_tieContacts(djContacts* c, const djModel* m, const int* eq_active) {
  if (!c) return;
  const uint64_t key = dj_tiedKey(m, eq_active);
  c->eq_active = eq_active;
  if (key != c->tied_key) c->collision = NULL;   // the list begins anew
  c->tied_key = key;
}

void dj_setRestOfContacts(djContacts* c, double rest) {
  if (c) c->rest = rest;
}

void dj_setPastContacts(djContacts* c, const djPose* past) {
  if (!c) return;
  c->past = past ? c->past_pose : NULL;
  if (past) memcpy(c->past_pose, past, (size_t)c->nbody * sizeof(djPose));
}

djStatus dj_beginContacts(djContacts* c, const djModel* m, const djPose* pose, const djPose* rate,
                          const double* twist, const djVec3* ref, double h, djError* err) {
  if (!c || !m || !pose || !ref || !(h > 0)) return dj_fail(err, DJ_INVALID, "contact: bad input");
  if (!sameKernels(m, c)) {
    return dj_fail(err, DJ_INVALID, "contact: data: made for a model with other contact models");
  }
  if (!validSettings(m, c)) return dj_fail(err, DJ_INVALID, "contact: settings are invalid");
  bool fixed = c->fixed;
  c->fixed = false;   // nothing of the step has been computed yet
  djStatus status = beginStep(c, m, pose, rate, twist, ref, h, err);
  c->fixed = fixed;
  if (status < 0) dj_resetContacts(c);   // the list may be half made
  return status;
}

djStatus dj_lagContacts(djContacts* c, const djModel* m, const djPose* pose, djError* err) {
  memcpy(c->lag_pose, pose, (size_t)c->nbody * sizeof(djPose));
  c->lag = c->lag_pose;
  c->evaluated = false;
  bool fixed = c->fixed;
  c->fixed = false;
  djStatus status = c->rate_jac ? DJ_OK : dj_needRates(c), worst = DJ_OK;
  c->fixed = fixed;
  if (status < 0) return failRoom(err, status, c);
  for (int k = 0; k < c->npair; k++) {
    djNearPair* p = &c->pair[k];
    if (!p->begun) continue;
    status = lagPair(c, m, p);
    if (status < 0) return failPair(err, status, c, m, p);
    if (status > 0) worst = status;
  }
  return worst;
}

// ------------------------------------------ evaluation -----------------------------------------

// Motions from the base poses, into c->moved and c->need; remakes the list where it no longer
// covers them.
static djStatus coverPoses(djContacts* c, const djModel* m, const djPose* pose) {
  bool valid = c->listed;
  if (!valid) return DJ_INVALID;
  dj_measureMoves(&c->moved, m, c->base, pose);
  for (int b = 0; b < c->nbody; b++) {
    if (m->body_weld[b] == 0) c->moved.most[b] = 0;
    c->need[b] = c->moved.most[b];
    if (c->need[b] > c->slack[b]) valid = false;
  }
  if (valid) return DJ_OK;
  // As much again is likely for some steps, in whichever direction of time.
  for (int b = 0; b < c->nbody; b++) {
    c->need[b] = fmax(c->moved.most[b], aheadOf(m, c->moved.most[b]));
  }
  djStatus status = dj_listPairs(c, m, false);
  if (status != DJ_CROWDED) return status;
  memcpy(c->need, c->moved.most, (size_t)c->nbody * sizeof *c->need);
  return dj_listPairs(c, m, false);
}

djStatus dj_coverContacts(djContacts* c, const djModel* m, const djPose* start, const djPose* end) {
  if (!sameKernels(m, c) || !validSettings(m, c)) return DJ_INVALID;
  bool fixed = c->fixed;
  c->fixed = false;
  djStatus status = checkShapes(c, m);
  if (status >= 0) status = moveStart(c, m, start);
  if (status >= 0) status = coverPoses(c, m, end);
  c->fixed = fixed;
  if (status < 0) dj_resetContacts(c);
  return status;
}

// Into the next free block.
static djStatus evalBlock(djContacts* c, const djModel* m, djNearPair* p, const djPose* pose,
                          int flags) {
  djContactBlock* block = &c->block[c->nblock];   // pairs that have begun have states, so blocks
  djPairInput in = dj_pairInput(c, m, p, pose);
  // Whether a pair out of range is evaluated depends on what is known of it from earlier steps.
  in.cold = p->acted_at + 1 != c->neval;
  block->out.twist_jac = NULL;
  block->out.eases = false;
  if (c->traits[p->use].uses_twist) block->out.twist_jac = c->twist_jac + 144 * (size_t)c->nblock;
  return p->kernel->eval(&block->out, dj_stateOf(c, p), &in, flags);
}

// One pair. Where guides act in derivatives alone they do so in those of pairs that do not touch.
// The others have derivatives of their own: with the tail's second ones in them a step would be the
// derivative of nothing, as the run knows no tail, and friction, whose load has the barrier's
// stiffness, would make chains of such steps grow without end.
static djStatus evalPair(djContacts* c, const djModel* m, djNearPair* p, const djPose* pose,
                         int flags) {
  p->plain = m->opt.guide_backward_only;
  djStatus worst = beginPair(c, m, p);
  if (worst < 0) return worst;
  djContactBlock* block = &c->block[c->nblock];
  djStatus status = evalBlock(c, m, p, pose, flags);
  if (status >= 0 && p->plain && !block->out.active && p->guide_part > 0 && dj_guides(c, m)) {
    p->plain = false;
    status = evalBlock(c, m, p, pose, flags);
  }
  if (status < 0) return status;
  p->acted = block->out.active;
  p->close = block->out.gap < p->range;
  if (p->acted) p->acted_at = c->neval;
  bool beyond = p->afar ? !p->near && !p->close : !p->acted;
  if (beyond) dj_seeGap(p, m, &c->moved, block->out.gap);
  return status > 0 ? status : worst;
}

// The next free block becomes that of the k-th listed pair.
static void keepBlock(djContacts* c, const djNearPair* p, int k) {
  djContactBlock* block = &c->block[c->nblock];
  block->geom_a = p->a;
  block->geom_b = p->b;
  block->body_a = p->body_a;
  block->body_b = p->body_b;
  block->kernel = p->kernel;
  block->traits = &c->traits[p->use];
  block->lagged = p->lagged;
  c->active[c->nblock] = block;
  c->active_pair[c->nblock++] = k;
}

static djStatus evalAll(double* value, djContacts* c, const djModel* m, const djPose* pose,
                        int flags) {
  *value = 0;
  if (c->replays) {
    *value = dj_replayBlocks(c);
    return DJ_OK;
  }
  dj_keepBlocks(c);
  c->nblock = 0;
  c->evaluated = c->blocked = false;
  c->neval++;
  const bool guides = dj_guides(c, m);
  djStatus worst = DJ_OK, status = coverPoses(c, m, pose);
  if (status < 0) return status;
  for (int k = 0; k < c->npair; k++) {
    djNearPair* p = &c->pair[k];
    const bool acts = p->afar && (guides || p->kernel->everywhere);
    if (!p->near && !acts && !dj_mayReach(c, m, p)) continue;
    status = evalPair(c, m, p, pose, flags);
    if (status == DJ_CROWDED) {
      status = dj_growSlots(c, c->nslot + 1);
      p = &c->pair[k];   // lists have been moved
      if (status == DJ_OK) status = evalPair(c, m, p, pose, flags);
    }
    if (status < 0) return status;
    if (status > 0) worst = status;
    if (!p->acted) continue;
    double* energy = &c->block[c->nblock].out.value;
    if (!(*energy < INFINITY)) {   // or NaN
      if (*value < INFINITY) c->infinite = k;
      *value = *energy = INFINITY;
      if (!c->keeps || !(flags & DJ_EVAL_HESSIAN)) {
        c->nblock = 0;
        return DJ_OK;
      }
    }
    *value += *energy;
    keepBlock(c, p, k);
  }
  memcpy(c->eval_pose, pose, (size_t)c->nbody * sizeof(djPose));
  c->blocked = *value == INFINITY;
  c->evaluated = !c->blocked;
  c->curved = flags & DJ_EVAL_HESSIAN;
  return worst;
}

// Of one pair, which may become known.
static djStatus visitPair(int* n, const djRowVisit* v, djContacts* c, const djModel* m,
                          djNearPair* p, const djPose* pose) {
  int at = 0;
  djStatus status = beginPair(c, m, p);
  if (status < 0) return status;
  while (at < *n && (v->plane[at].low != p->low || v->plane[at].high != p->high)) at++;
  if (!p->kernel->rows || at == v->room) {
    *n = -1;
    return DJ_OK;
  }
  djPairPlane* plane = &v->plane[at];
  if (at == *n) {
    *plane = (djPairPlane){.low = p->low, .high = p->high, .body = {p->body_a, p->body_b}};
  }
  djPairInput in = dj_pairInput(c, m, p, pose);
  v->scratch->n = 0;
  status = p->kernel->rows(v->scratch, plane, dj_stateOf(c, p), &in);
  if (status < 0 || (at == *n && v->scratch->n == 0)) return status;
  if (at == *n) ++*n;
  if (v->scratch->n < 0 || !v->add(v->user, at, v->scratch)) *n = -1;
  return DJ_OK;
}

djStatus dj_visitRows(int* n, const djRowVisit* v, djContacts* c, const djModel* m,
                      const djPose* pose) {
  if (!c->listed) return DJ_INVALID;
  double sum = 0;
  dj_measureMoves(&c->moved, m, c->base, pose);
  for (int b = 0; b < c->nbody; b++) sum += c->moved.most[b];
  if (!isfinite(sum)) *n = -1;
  djStatus status = DJ_OK;
  if (*n >= 0 && !c->ahead) status = moveBase(c, m);   // the end of the step is near
  else if (*n >= 0) status = coverPoses(c, m, pose);
  c->ahead = true;
  for (int k = 0; k < c->npair && status >= 0 && *n >= 0; k++) {
    djNearPair* p = &c->pair[k];
    const bool acts = p->afar && p->kernel->everywhere;
    if (!p->near && !acts && !dj_mayReach(c, m, p)) continue;
    status = visitPair(n, v, c, m, p, pose);
  }
  return status;
}

bool dj_pullsAfar(const djContacts* c, const djModel* m) {
  return c && c->nafar > 0 && dj_guides(c, m);
}

djStatus dj_evalContacts(double* value, djContacts* c, const djModel* m, const djPose* pose,
                         const double* twist, int flags) {
  if (!value || !c || !m || !pose) return DJ_INVALID;
  setTwists(c, twist);
  return evalAll(value, c, m, pose, flags);
}

djStatus dj_failInfinite(djError* err, const djContacts* c, const djModel* m) {
  const djNearPair* p = &c->pair[c->infinite];
  return dj_fail(err, DJ_OVERLAP,
                 "contact shapes of geom '%.60s' (#%d) and geom '%.60s' (#%d) overlap at the start "
                 "of the step", nameOf(m, p->low), p->low, nameOf(m, p->high), p->high);
}

const djContactBlock* const* dj_contactBlocks(int* n, const djContacts* c) {
  *n = c ? c->nblock : 0;
  return c ? c->active : NULL;
}

void dj_differentiateContacts(djContacts* c, const djModel* m, bool derivatives) {
  if (!c) return;
  if (m->opt.guide_backward_only && c->derivatives != derivatives) c->evaluated = false;
  c->derivatives = derivatives;
}

djStatus dj_refreshContacts(djContacts* c, const djModel* m, const djPose* pose) {
  if (c->evaluated && !memcmp(c->eval_pose, pose, (size_t)c->nbody * sizeof(djPose))) return DJ_OK;
  double value;
  return evalAll(&value, c, m, pose, 0);
}

djStatus dj_startContacts(djContacts* c, const djModel* m, const djPose* pose) {
  if (!c || !m || !pose || !c->listed) return DJ_INVALID;
  djStatus worst = dj_refreshContacts(c, m, pose);
  if (worst < 0) return worst;
  for (int k = 0; k < c->nblock; k++) {
    const djNearPair* p = &c->pair[c->active_pair[k]];
    djContactBlock* block = &c->block[k];
    djPairInput in = dj_pairInput(c, m, p, pose);
    bool together = c->rate == c->start && !p->lagged;
    block->rate_jac = together ? NULL : c->rate_jac + 144 * (size_t)k;
    djStatus status = dj_startPair(block->start_jac, block->rate_jac, p->kernel,
                                   dj_stateOf(c, p), &in);
    if (status < 0) return status;
    if (status > 0) worst = status;
  }
  return worst;
}

djStatus dj_pastContacts(djContacts* c, const djModel* m, const djPose* pose) {
  if (!c || !m || !pose || !c->listed) return DJ_INVALID;
  djStatus worst = dj_refreshContacts(c, m, pose);
  for (int k = 0; k < c->nblock && worst >= 0; k++) {
    const djNearPair* p = &c->pair[c->active_pair[k]];
    djContactBlock* block = &c->block[k];
    djPairInput in = dj_pairInput(c, m, p, pose);
    block->has_past = false;
    if (!in.past_a || !p->kernel->past) continue;
    djStatus status = p->kernel->past(&block->has_past, &block->past, dj_stateOf(c, p), &in);
    if (status != DJ_OK) worst = status;
  }
  return worst;
}

// ------------------------------------------ largest step ---------------------------------------

static djStatus capPair(double* factor, djContacts* c, const djModel* m, djNearPair* p,
                        const djPose* pose, const djPose* trial) {
  double move = dj_bothMove(p, &c->move), apart = p->bound - dj_bothMove(p, &c->moved);
  if (move <= p->share * (dj_larger(apart, 0) + p->room)) return DJ_OK;
  double relative = dj_relativeMove(p, m, &c->move);
  if (relative < move) move = relative;
  apart = dj_leastGap(p, m, &c->moved, move / p->share - p->room);
  if (move <= p->share * (dj_larger(apart, 0) + p->room)) return DJ_OK;
  djGeomPair pair = dj_geomPair(c, p, m, pose);
  double setting[DJ_MAX_OF_KERNEL], gap = -INFINITY;
  djPairMotion motion = {&trial[p->body_a], &trial[p->body_b], setting, move};
  dj_pairSettings(setting, m, c->use[p->use], p->low, p->high);
  djStatus status = p->kernel->max_step(factor, &gap, &pair, &motion);
  if (!p->near && status >= 0) dj_seeGap(p, m, &c->moved, gap);
  return status;
}

// The list must hold every pair whose gap, less what the bodies have moved, is below the motion to
// come over the kernels' share: only those can be capped. Where these are more than a list may grow
// to, or there is no memory for them, the motion is cut.
djStatus dj_capContacts(double* factor, djContacts* c, const djModel* m, const djPose* pose,
                        const djPose* trial) {
  if (!factor || !c || !m || !pose || !trial || !c->listed) return DJ_INVALID;
  *factor = 1;
  dj_keepBlocks(c); // whether the list is remade depends on earlier steps
  djStatus status = coverPoses(c, m, pose);
  if (status < 0) return status;
  if (!(c->share < INFINITY)) return DJ_OK;   // no kernel limits steps
  const double far = 1 / c->share;
  bool valid = true;
  dj_measureMoves(&c->move, m, pose, trial);
  for (int b = 0; b < c->nbody; b++) {
    double* move = &c->move.most[b];
    if (m->body_weld[b] == 0 || !isfinite(*move)) *move = 0;
    c->need[b] = c->moved.most[b] + far * *move;
    if (c->need[b] > c->slack[b]) valid = false;
  }
  if (!valid) {
    status = dj_listPairs(c, m, false);
    bool may_grow = status == DJ_CROWDED && c->wanted > 0 && c->wanted <= c->roomy;
    if (may_grow || (status < 0 && status != DJ_NO_MEMORY && status != DJ_CROWDED)) return status;
  }
  for (int b = 0; b < c->nbody; b++) {
    if (c->need[b] <= c->slack[b]) continue;
    double left = c->slack[b] - c->moved.most[b];
    *factor = fmin(*factor, fmax(left / (far * c->move.most[b]), 1e-3));
  }
  for (int k = 0; k < c->npair; k++) {
    status = capPair(factor, c, m, &c->pair[k], pose, trial);
    if (status < 0) return status;
  }
  return DJ_OK;
}
