#include "contact/contact.h"

#include "base/arena.h"
#include "base/status.h"
#include "contact/near.h"
#include "shape/curve.h"

#include <stdlib.h>
#include <string.h>

// ------------------------------------------ memory ---------------------------------------------

static void layout(djContacts* c, djArena* arena, const djModel* m) {
  const struct djCollision* col = m->collision;
  size_t nb = m->nbody, nlist = c->maxlist, nslot = c->nslot;
  c->start = dj_take(arena, nb, sizeof(djPose));
  c->eval_pose = dj_take(arena, nb, sizeof(djPose));
  c->ref = dj_take(arena, nb, sizeof(djVec3));
  c->slack = dj_take(arena, nb, sizeof(double));
  c->moved = dj_take(arena, nb, sizeof(double));
  c->move = dj_take(arena, nb, sizeof(double));
  c->need = dj_take(arena, nb, sizeof(double));
  c->pair = dj_take(arena, nlist + nslot, sizeof(djNearPair));
  c->other = dj_take(arena, nlist + nslot, sizeof(djNearPair));
  c->found = dj_take(arena, nlist, sizeof(djBoxPair));
  c->box_geom = dj_take(arena, c->nbox, sizeof(int));
  c->box = dj_take(arena, 6 * (size_t)c->nbox, sizeof(double));
  c->broadphase_memory = dj_take(arena, dj_broadphaseSize(c->nbox), 1);
  c->free_slot = dj_take(arena, nslot, sizeof(int));
  c->state = dj_take(arena, nslot, c->state_size);
  c->block = dj_take(arena, nslot, sizeof(djContactBlock));
  c->active = dj_take(arena, nslot, sizeof(*c->active));
  c->active_pair = dj_take(arena, nslot, sizeof(int));
  c->depth = dj_take(arena, nslot, sizeof(double));
  c->nscratch = DJ_KERNEL_SCRATCH(2 * col->maxvert) + 64;
  c->scratch = dj_take(arena, c->nscratch, sizeof(double));
}

// Sizes of the arrays. False where the model has no contact.
static bool setSizes(djContacts* c, const djModel* m) {
  const struct djCollision* col = m->collision;
  memset(c, 0, sizeof *c);
  c->kernel = dj_kernel(m->opt.contact);
  if (!c->kernel || !col) return false;
  c->nbody = m->nbody;
  for (int g = 0; g < m->ngeom; g++) c->nbox += col->shape[g].type >= 0;
  c->nslot = col->maxpair;
  int heap = (int)dj_pairsOfHeap(c->nbox);
  c->maxlist = col->maxpair < heap ? col->maxpair : 4 * heap;
  c->state_size = (c->kernel->state_size + DJ_ALIGN - 1) / DJ_ALIGN * DJ_ALIGN;
  return true;
}

size_t dj_contactsSize(const djModel* model) {
  djContacts c;
  if (!model || !setSizes(&c, model)) return 0;
  djArena arena = {NULL, 0};
  layout(&c, &arena, model);
  return sizeof c + arena.used + DJ_ALIGN;
}

int dj_maxContactPairs(const djModel* model) {
  return model && model->collision ? model->collision->maxpair : 0;
}

djStatus dj_makeContacts(djContacts** contacts, const djModel* model, djError* err) {
  if (!contacts) return dj_fail(err, DJ_INVALID, "contacts: NULL");
  *contacts = NULL;
  djContacts sizes;
  if (!model || !setSizes(&sizes, model)) {
    return dj_fail(err, DJ_UNSUPPORTED, "contact: unknown model");
  }
  djContacts* c = malloc(sizeof *c);
  if (!c) return dj_failMemory(err);
  *c = sizes;
  djArena arena = {NULL, 0};
  layout(c, &arena, model);
  c->nbuffer = arena.used;
  c->buffer = arena.used < SIZE_MAX / 2 ? calloc(1, arena.used + DJ_ALIGN) : NULL;
  if (!c->buffer) {
    free(c);
    return dj_failMemory(err);
  }
  unsigned char* base = c->buffer;
  arena = (djArena){base + (DJ_ALIGN - (uintptr_t)base % DJ_ALIGN) % DJ_ALIGN, 0};
  layout(c, &arena, model);
  for (int g = 0, n = 0; g < model->ngeom; g++) {
    if (model->collision->shape[g].type >= 0) c->box_geom[n++] = g;
  }
  dj_resetContacts(c);
  *contacts = c;
  return DJ_OK;
}

void dj_deleteContacts(djContacts* contacts) {
  if (!contacts) return;
  free(contacts->buffer);
  free(contacts);
}

void dj_resetContacts(djContacts* c) {
  if (!c) return;
  c->listed = c->evaluated = false;
  c->npair = c->nblock = 0;
  c->nfree = c->nslot;
  for (int i = 0; i < c->nslot; i++) c->free_slot[i] = c->nslot - 1 - i;
  c->broadphase = dj_initBroadphase(c->broadphase_memory, c->nbox);
}

// ------------------------------------------ start of a step ------------------------------------

// A state for the pair; where all are in use, that of a pair which this step has not used.
static bool takeSlot(djContacts* c, djNearPair* p) {
  if (p->slot >= 0) return true;
  if (c->nfree > 0) p->slot = c->free_slot[--c->nfree];
  for (int k = 0; k < c->npair && p->slot < 0; k++) {
    djNearPair* q = &c->pair[k];
    if (q->slot < 0 || q->begun || q->near) continue;
    p->slot = q->slot;
    q->slot = -1;
  }
  if (p->slot < 0) return false;
  memset(dj_stateOf(c, p), 0, c->state_size);
  return true;
}

static djStatus beginPair(djContacts* c, const djModel* m, djNearPair* p) {
  if (p->begun) return DJ_OK;
  if (!takeSlot(c, p)) return DJ_NO_MEMORY;
  djPairInput in = dj_pairInput(c, m, p, c->start);
  p->begun = true;
  p->acted_at = 0;
  return c->kernel->begin(dj_stateOf(c, p), &in);
}

static bool validSettings(const djModel* m, const djContacts* c) {
  double s = m->contact.support, L = m->contact.length_scale;
  return s > 0 && s < 1 && L > 0 && isfinite(L) && m->collision &&
         m->collision->maxpair <= c->nslot && m->nbody == c->nbody;
}

// Moves the bounds and margins from the start of the last step to that of this one.
static djStatus moveStart(djContacts* c, const djModel* m, const djPose* pose) {
  bool valid = c->listed;
  const double* reach = m->collision->reach;
  for (int b = 0; b < c->nbody; b++) {
    c->moved[b] = c->listed ? dj_displacement(&c->start[b], &pose[b], reach[b]) : 0;
    c->need[b] = c->moved[b];   // as much again is likely
    c->slack[b] -= c->moved[b];
    if (m->body_weld[b] == 0) {
      if (c->moved[b] > 0) valid = false;   // the world is not meant to move
    } else if (!(c->slack[b] >= 0)) {
      valid = false;
    }
  }
  memcpy(c->start, pose, (size_t)c->nbody * sizeof(djPose));
  for (int k = 0; k < c->npair; k++) {
    djNearPair* p = &c->pair[k];
    p->bound -= c->moved[p->body_a] + c->moved[p->body_b];
    p->near = p->begun = false;
  }
  for (int b = 0; b < c->nbody && !valid; b++) {
    double need = 8 * c->need[b];
    c->need[b] = isfinite(need) ? need : 0;
  }
  if (valid) return DJ_OK;
  djStatus status = dj_listPairs(c, m, false);
  if (status == DJ_NO_MEMORY) {
    memset(c->need, 0, (size_t)c->nbody * sizeof(double));
    status = dj_listPairs(c, m, true);
  }
  return status;
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
    if (p->bound > c->range) continue;
    if ((p->acted || p->always) && !refuse) {   // the kernel finds out by itself
      p->near = true;
      continue;
    }
    djDistance d;
    djStatus status = dj_pairGap(&d, &p->cache, p, m, c->start);
    if (status < 0) return dj_fail(err, status, "contact: the distance of two geoms is undefined");
    if (!p->always) p->bound = d.gap;
    p->near = d.gap <= c->range;
    if (!refuse || d.gap > 0) continue;
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

static djStatus failPair(djError* err, djStatus status, const djContacts* c, const djModel* m,
                         const djNearPair* p) {
  if (status == DJ_NO_MEMORY) {
    return dj_fail(err, status, "contact: more than %d pairs of geoms are near at once", c->nslot);
  }
  return dj_fail(err, status, "contact of geom '%.60s' (#%d) and geom '%.60s' (#%d) failed",
                 nameOf(m, p->low), p->low, nameOf(m, p->high), p->high);
}

static djStatus beginStep(djContacts* c, const djModel* m, const djPose* pose, const djVec3* ref,
                          double h, djError* err) {
  double range = c->kernel->range(m->contact.support, m->contact.length_scale);
  if (range != c->range || c->collision != m->collision || c->version != m->collision->version) {
    dj_resetContacts(c);
  }
  c->collision = m->collision;
  c->version = m->collision->version;
  c->range = range;
  c->h = h;
  c->neval = 0;
  c->evaluated = false;
  c->nblock = 0;
  djStatus status = moveStart(c, m, pose);
  memcpy(c->ref, ref, (size_t)c->nbody * sizeof(djVec3));
  if (status < 0) {
    return dj_fail(err, status, "contact: more than %d pairs of geoms are near at once",
                   c->maxlist);
  }
  status = findNear(c, m, err);
  if (status < 0) return status;
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

djStatus dj_beginContacts(djContacts* c, const djModel* m, const djPose* pose, const djVec3* ref,
                          double h, djError* err) {
  if (!c || !m || !pose || !ref || !(h > 0)) return dj_fail(err, DJ_INVALID, "contact: bad input");
  if (!validSettings(m, c)) return dj_fail(err, DJ_INVALID, "contact: settings are invalid");
  djStatus status = beginStep(c, m, pose, ref, h, err);
  if (status < 0) dj_resetContacts(c);   // the list may be half made
  return status;
}

// ------------------------------------------ evaluation -----------------------------------------

// Displacements since the start of the step, into c->moved and c->need; remakes the list where it
// no longer covers them.
static djStatus coverPoses(djContacts* c, const djModel* m, const djPose* pose) {
  bool valid = c->listed;
  if (!valid) return DJ_INVALID;
  const double* reach = m->collision->reach;
  for (int b = 0; b < c->nbody; b++) {
    c->moved[b] = m->body_weld[b] ? dj_displacement(&c->start[b], &pose[b], reach[b]) : 0;
    c->need[b] = c->moved[b];
    if (c->need[b] > c->slack[b]) valid = false;
  }
  if (valid) return DJ_OK;
  djStatus status = dj_listPairs(c, m, false);
  return status == DJ_NO_MEMORY ? dj_listPairs(c, m, true) : status;
}

djStatus dj_evalContacts(double* value, djContacts* c, const djModel* m, const djPose* pose,
                         int flags) {
  if (!value || !c || !m || !pose) return DJ_INVALID;
  *value = 0;
  c->nblock = 0;
  c->evaluated = false;
  c->neval++;
  djStatus worst = DJ_OK, status = coverPoses(c, m, pose);
  if (status < 0) return status;
  for (int k = 0; k < c->npair; k++) {
    djNearPair* p = &c->pair[k];
    double moved = c->moved[p->body_a] + c->moved[p->body_b];
    if (!p->near && p->bound - moved > c->range) continue;
    status = beginPair(c, m, p);
    if (status < 0) return status;
    if (status > 0) worst = status;
    if (c->nblock == c->nslot) return DJ_NO_MEMORY;
    djContactBlock* block = &c->block[c->nblock];
    djPairInput in = dj_pairInput(c, m, p, pose);
    // Whether a pair out of range is evaluated depends on what is known of it from earlier steps.
    in.cold = p->acted_at + 1 != c->neval;
    status = c->kernel->eval(&block->out, dj_stateOf(c, p), &in, flags);
    if (status < 0) return status;
    if (status > 0) worst = status;
    p->acted = block->out.active;
    if (p->acted) p->acted_at = c->neval;
    if (!block->out.active) {
      if (!p->always && block->out.gap - moved > p->bound) p->bound = block->out.gap - moved;
      continue;
    }
    if (!(block->out.value < INFINITY)) {   // or NaN
      *value = INFINITY;
      c->infinite = k;
      c->nblock = 0;
      return DJ_OK;
    }
    *value += block->out.value;
    block->geom_a = p->a;
    block->geom_b = p->b;
    block->body_a = p->body_a;
    block->body_b = p->body_b;
    c->active[c->nblock] = block;
    c->active_pair[c->nblock++] = k;
  }
  memcpy(c->eval_pose, pose, (size_t)c->nbody * sizeof(djPose));
  c->evaluated = true;
  return worst;
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

djStatus dj_refreshContacts(djContacts* c, const djModel* m, const djPose* pose) {
  if (c->evaluated && !memcmp(c->eval_pose, pose, (size_t)c->nbody * sizeof(djPose))) return DJ_OK;
  double value;
  return dj_evalContacts(&value, c, m, pose, 0);
}

djStatus dj_startContacts(djContacts* c, const djModel* m, const djPose* pose) {
  if (!c || !m || !pose || !c->listed) return DJ_INVALID;
  djStatus worst = dj_refreshContacts(c, m, pose);
  if (worst < 0) return worst;
  for (int k = 0; k < c->nblock; k++) {
    const djNearPair* p = &c->pair[c->active_pair[k]];
    djPairInput in = dj_pairInput(c, m, p, pose);
    djStatus status = c->kernel->start(c->block[k].start_jac, dj_stateOf(c, p), &in);
    if (status < 0) return status;
    if (status > 0) worst = status;
  }
  return worst;
}

// ------------------------------------------ step cap -------------------------------------------

// Relative rotation up to which the end points of a motion tell what happens on the way, radians.
#define SMALL_TURN 0.2

// By how much the motion of both bodies brings A nearer to the half space behind B's supporting
// plane with normal n (from a to b), which moves with B. An upper bound of what the gap loses.
static double approach(const djShape* a, const djPose* pose_a, const djPose* trial_a,
                       const djPose* pose_b, const djPose* trial_b, djVec3 n) {
  djVec3 after = dju_mulMV(trial_b->R, dju_mulMtV(pose_b->R, n));
  djVec3 u0 = dju_mulMtV(pose_a->R, n), u1 = dju_mulMtV(trial_a->R, after);
  double h0 = -INFINITY, h1 = -INFINITY;
  for (int i = 0; i < a->nvert; i++) {
    djVec3 x = {a->vert[0][i], a->vert[1][i], a->vert[2][i]};
    h0 = fmax(h0, dju_dot3(u0, x));
    h1 = fmax(h1, dju_dot3(u1, x));
  }
  if (a->curved) {
    h0 += dj_curveReach(NULL, NULL, &a->curve, u0);
    h1 += dj_curveReach(NULL, NULL, &a->curve, u1);
  }
  return h1 - h0 + dju_dot3(after, dju_sub3(trial_a->p, trial_b->p)) -
         dju_dot3(n, dju_sub3(pose_a->p, pose_b->p));
}

// Angle between two rotations: |R1 - R0|_F = 2 sqrt(2) sin(angle/2).
static double angleBetween(const djMat3* R0, const djMat3* R1) {
  double sum = 0;
  for (int k = 0; k < 9; k++) sum += (R1->m[k] - R0->m[k]) * (R1->m[k] - R0->m[k]);
  return 2 * asin(fmin(1, sqrt(sum / 8)));
}

static double reachOf(const djShape* s) {
  return dju_norm3(s->center) + fmax(s->bound - s->radius, 0);
}

// Bounds of the approach of A to B in B's frame, where A turns by `turn`. They hold on the whole
// way only where the way is nearly straight there: B hardly turns, or A moves less than `thick`,
// which is too little to pass the thinner one.
static double carriedApproach(const djShape* a, const djPose* pa, const djPose* ta,
                              const djPose* pb, const djPose* tb, djVec3 n, double turn,
                              double thick) {
  djVec3 way = dju_sub3(dju_untransform(tb, ta->p), dju_untransform(pb, pa->p));
  if (angleBetween(&pb->R, &tb->R) >= SMALL_TURN && dju_norm3(way) > thick) return INFINITY;
  double loose = dju_dot3(dju_mulMtV(pb->R, n), way) + turn * reachOf(a);
  return turn < SMALL_TURN ? fmin(loose, approach(a, pa, ta, pb, tb, n)) : loose;
}

// By how much two bodies near each other along n: the least of bounds that hold on the whole way,
// on which origins move straight. In the world, what origins move and what turns move vertices.
static double approachOf(const djShape* a, const djPose* pa, const djPose* ta, const djShape* b,
                         const djPose* pb, const djPose* tb, djVec3 n, double thick) {
  djMat3 R0 = dju_mulMtM(pb->R, pa->R), R1 = dju_mulMtM(tb->R, ta->R);
  double turn = angleBetween(&R0, &R1);
  double loss = dju_dot3(n, dju_sub3(dju_sub3(ta->p, pa->p), dju_sub3(tb->p, pb->p))) +
                angleBetween(&pa->R, &ta->R) * reachOf(a) +
                angleBetween(&pb->R, &tb->R) * reachOf(b);
  loss = fmin(loss, carriedApproach(a, pa, ta, pb, tb, n, turn, thick));
  return fmin(loss, carriedApproach(b, pb, tb, pa, ta, dju_neg3(n), turn, thick));
}

static djStatus capPair(double* factor, djContacts* c, const djModel* m, djNearPair* p,
                        const djPose* pose, const djPose* trial) {
  const djShape *a = &m->collision->shape[p->a], *b = &m->collision->shape[p->b];
  if (b->type == DJ_PLANE) return DJ_OK;
  double moved = c->moved[p->body_a] + c->moved[p->body_b];
  double move = c->move[p->body_a] + c->move[p->body_b];
  double room = m->contact.support * m->contact.length_scale + 2 * fmin(a->inner, b->inner);
  if (move <= 0.25 * (fmax(p->bound - moved, 0) + room)) return DJ_OK;
  djDistance d;
  djStatus status = dj_pairGap(&d, NULL, p, m, pose);   // cold: the bits depend on poses alone
  if (status < 0) return status;
  if (!p->near && d.gap - moved > p->bound) p->bound = d.gap - moved;
  double limit = 0.25 * (fmax(d.gap, 0) + room);
  if (move <= limit) return DJ_OK;
  const djPose *pa = &pose[p->body_a], *ta = &trial[p->body_a];
  const djPose *pb = &pose[p->body_b], *tb = &trial[p->body_b];
  double thick = 2 * fmin(a->inner, b->inner);
  double loss = approachOf(a, pa, ta, b, pb, tb, d.normal, thick);
  if (loss > limit && limit / loss < *factor) *factor = limit / loss;
  return DJ_OK;
}

// The list must hold every pair whose gap, less what the bodies have moved, is below four times
// the motion to come: only those can be capped. Where it has no room for them the motion is cut.
djStatus dj_capContacts(double* factor, djContacts* c, const djModel* m, const djPose* pose,
                        const djPose* trial) {
  if (!factor || !c || !m || !pose || !trial || !c->listed) return DJ_INVALID;
  *factor = 1;
  djStatus status = coverPoses(c, m, pose);
  if (status < 0) return status;
  const double* reach = m->collision->reach;
  bool valid = true;
  for (int b = 0; b < c->nbody; b++) {
    double move = m->body_weld[b] ? dj_displacement(&pose[b], &trial[b], reach[b]) : 0;
    c->need[b] = c->moved[b] + 4 * (isfinite(move) ? move : 0);
    if (c->need[b] > c->slack[b]) valid = false;
  }
  if (!valid) {
    status = dj_listPairs(c, m, false);
    if (status == DJ_NO_MEMORY) status = dj_listPairs(c, m, true);
    if (status < 0 && status != DJ_NO_MEMORY) return status;
  }
  for (int b = 0; b < c->nbody; b++) {
    c->move[b] = 0.25 * (c->need[b] - c->moved[b]);
    if (c->need[b] <= c->slack[b]) continue;
    *factor = fmin(*factor, fmax((c->slack[b] - c->moved[b]) / (4 * c->move[b]), 1e-3));
  }
  for (int k = 0; k < c->npair; k++) {
    status = capPair(factor, c, m, &c->pair[k], pose, trial);
    if (status < 0) return status;
  }
  return DJ_OK;
}
