// djData: memory, copies, resets, state vectors.

#include "base/arena.h"
#include "base/status.h"
#include "integrate/impulse.h"
#include "integrate/outside.h"
#include "integrate/parts.h"
#include "integrate/recorder.h"

#include <stdlib.h>
#include <string.h>

// ---- memory ------------------------------------------------------------------------------------

static double* takeDoubles(djArena* a, size_t n) { return dj_take(a, n, sizeof(double)); }

// Inputs and state of a djData, or of the view of a step's start.
static void layoutState(djData* d, djArena* a, const djModel* m) {
  d->qpos = takeDoubles(a, m->nq);
  d->qvel = takeDoubles(a, m->nv);
  d->act = takeDoubles(a, m->na);
  d->ctrl = takeDoubles(a, m->nu);
  d->qfrc_applied = takeDoubles(a, m->nv);
  d->xfrc_applied = takeDoubles(a, (size_t)m->nbody * 6);
  d->mocap_pos = takeDoubles(a, (size_t)m->nmocap * 3);
  d->mocap_quat = takeDoubles(a, (size_t)m->nmocap * 4);
  d->mocap_last_pos = takeDoubles(a, (size_t)m->nmocap * 3);
  d->mocap_last_quat = takeDoubles(a, (size_t)m->nmocap * 4);
  d->history = takeDoubles(a, (size_t)dj_historySize(m));
  d->eq_active = dj_take(a, (size_t)m->nequality, sizeof(int));
}

static void layoutResults(djData* d, djArena* a, const djModel* m) {
  size_t nb = m->nbody;
  d->xpos = takeDoubles(a, nb * 3);
  d->xquat = takeDoubles(a, nb * 4);
  d->xmat = takeDoubles(a, nb * 9);
  d->xipos = takeDoubles(a, nb * 3);
  d->site_xpos = takeDoubles(a, (size_t)m->nsite * 3);
  d->geom_xpos = takeDoubles(a, (size_t)m->ngeom * 3);
  d->geom_xmat = takeDoubles(a, (size_t)m->ngeom * 9);
  d->contact = dj_take(a, d->work->maxcontact, sizeof(djContactForce));
  d->pair = dj_take(a, d->work->maxpair, sizeof(djContactPair));
}

static void layoutPlace(djPlace* p, djArena* a, const djModel* m, bool view) {
  void* kin = dj_take(a, dj_kinSize(m), 1);
  void* coord = dj_take(a, dj_coordinatesSize(m), 1);
  if (!view) p->q = takeDoubles(a, m->nq);
  if (!kin) return;
  p->kin = dj_initKin(m, kin);
  p->coord = dj_initCoordinates(m, coord);
}

static void layoutSums(djWork* w, djArena* a, const djModel* m) {
  size_t nv = m->nv, nc = m->ncoord;
  djForceSum* sum = &w->sum;
  djStartSum* start = &w->start_sum;
  sum->f = takeDoubles(a, nc);
  sum->k = takeDoubles(a, nc);
  sum->y = takeDoubles(a, nv);
  sum->Y = takeDoubles(a, 3 * nv);
  sum->pushed = dj_take(a, m->njnt, sizeof(bool));
  sum->extra = takeDoubles(a, nc);
  double** path[] = {&sum->path.x, &sum->path.f, &sum->path.k, &sum->path.krate};
  for (size_t k = 0; k < sizeof path / sizeof path[0]; k++) *path[k] = takeDoubles(a, nc);
  sum->wrench = w->wrench;
  sum->N = w->N;
  sum->H = &w->H;
  start->k0 = takeDoubles(a, nc);
  start->krate = takeDoubles(a, nc);
  start->Yrate = takeDoubles(a, 3 * nv);
  start->N0 = start->Nrate = w->N;
}

// Columns that are solved for at a time: all those of small models.
static size_t slabColumns(const djModel* m) {
  size_t nv = m->nv, all = 2 * nv + (size_t)m->na + (size_t)m->nu, least = 32;
  size_t some = nv ? ((size_t)1 << 16) / nv : 0;
  if (some < least) some = least;
  return all < some ? all : some;
}

static djMatrix takeMatrix(djArena* a, size_t entries, const djBlocks* blocks) {
  return (djMatrix){takeDoubles(a, entries), blocks};
}

static void layoutStage(djStageWork* s, djWork* w, djArena* a, const djModel* m) {
  djStageLinear* linear = &s->linear;
  linear->Rq.blocks = linear->G.blocks = &w->pattern.blocks;
  linear->factor = (djFactor){.kind = DJ_LDL, .n = m->nv, .data = linear->factor.data};
  s->lu = (djFactor){.kind = DJ_LU, .n = m->nv};
  linear->M = takeMatrix(a, dj_treeEntries(m), &w->trees);
  linear->psi = takeDoubles(a, (size_t)m->nv);
  s->q = takeDoubles(a, (size_t)m->nq);
  s->X = takeDoubles(a, (size_t)m->nv * slabColumns(m));
}

static void layoutRows(djEulerRows* r, djArena* a, const djModel* m) {
  size_t n = (size_t)dj_eulerRowCount(m), nv = (size_t)m->nv;
  r->mass = (djFactor){.kind = DJ_LDL, .n = m->nv, .data = takeDoubles(a, dj_treeEntries(m))};
  r->row = dj_take(a, n, sizeof(djEulerRow));
  r->group = dj_take(a, n, sizeof(djRowGroup));
  r->active = dj_take(a, n, sizeof(int));
  double** of_rows[] = {&r->factored, &r->zeta, &r->residual, &r->force, &r->trial};
  double** of_dofs[] = {&r->accel, &r->by_M, &r->by_K, &r->dual_M, &r->dual_K, &r->zero};
  for (size_t k = 0; k < sizeof of_rows / sizeof *of_rows; k++) {
    *of_rows[k] = takeDoubles(a, 2 * n);
  }
  for (size_t k = 0; k < sizeof of_dofs / sizeof *of_dofs; k++) *of_dofs[k] = takeDoubles(a, nv);
  r->scratch = takeDoubles(a, 3 * nv);
}

static void layoutInverse(djWork* w, djArena* a, const djModel* m) {
  size_t own = dj_treeEntries(m), nv = (size_t)m->nv;
  void* inverse = dj_take(a, dj_inverseSize(m), 1);
  if (inverse) w->inverse = dj_initInverse(m, inverse);
  w->V = takeDoubles(a, nv);
  w->A = takeDoubles(a, nv);
  w->drift = takeDoubles(a, nv);
  w->Dq = takeMatrix(a, own, &w->trees);
  w->Dv = takeMatrix(a, own, &w->trees);
  w->bias = takeDoubles(a, nv);
  w->damping = takeDoubles(a, nv);
  w->inertia = takeMatrix(a, own, &w->trees);
  w->kick = takeDoubles(a, nv);
  layoutRows(&w->rows, a, m);
  dj_layoutRowPass(&w->pass, a, m);
  w->spins.joint = dj_take(a, (size_t)m->njnt, sizeof(int));
  w->spins.bound = dj_take(a, (size_t)m->nbody, sizeof(bool));
  w->rates.slope = takeDoubles(a, m->ncoord);
  w->rates.bend = takeDoubles(a, m->ncoord);
  w->rate_along = takeDoubles(a, m->ncoord);
  w->rates.by_x = takeDoubles(a, m->ncoord);
}

// What is theirs in steps that carry (mocap.h).
static void layoutMocap(djWork* w, djArena* a, const djModel* m) {
  if (m->nmocap == 0) return;
  layoutPlace(&w->from, a, m, true);
  layoutPlace(&w->from_rate, a, m, true);
  w->from.q = w->start.qpos;
  w->from_rate.q = w->rate.q;
  w->mocap_rate = takeDoubles(a, (size_t)m->nmocap * 6);
  w->mocap_squeeze = takeDoubles(a, (size_t)m->nmocap * 2);
  w->mocap_scratch = takeDoubles(a, (size_t)m->nmocap * 7);
}

static void layoutWork(djWork* w, djArena* a, const djModel* m) {
  size_t nv = m->nv, nb = m->nbody, nu = m->nu, na = m->na;
  layoutState(&w->start, a, m);
  w->ref = dj_take(a, nb, sizeof(djVec3));
  layoutPlace(&w->begin, a, m, true);
  w->begin.q = w->start.qpos;
  layoutPlace(&w->back, a, m, false);
  layoutPlace(&w->ahead, a, m, false);
  layoutPlace(&w->rate, a, m, false);
  layoutPlace(&w->lag, a, m, false);
  layoutPlace(&w->now, a, m, false);
  layoutPlace(&w->trial, a, m, false);
  layoutMocap(w, a, m);
  w->act_next = takeDoubles(a, na);
  w->body = dj_take(a, nb, sizeof(djBodyStep));
  w->armature = takeDoubles(a, (size_t)m->njnt + (size_t)m->ntendon);
  w->tendon_rate = takeDoubles(a, m->ntendon);
  w->gradient = takeDoubles(a, nv);
  w->step = takeDoubles(a, nv);
  w->learned = takeDoubles(a, 3 * nv);
  w->scale = takeDoubles(a, nv);
  w->shift = takeDoubles(a, nv);
  dj_takePattern(&w->pattern, a, m->nv, dj_treeRanges(NULL, m));
  void* trees = dj_take(a, dj_treeBlocksSize(m), 1);
  if (trees) w->trees = dj_treeBlocks(m, trees);
  size_t own = dj_treeEntries(m);
  w->H.blocks = &w->pattern.blocks;
  w->wrench = takeDoubles(a, nb * 6);
  w->N = takeDoubles(a, nb * 36);
  w->M = takeDoubles(a, nb * 36);
  w->momentum = takeDoubles(a, nb * 6);
  w->axis_cross = takeDoubles(a, nv * 6);
  w->momentum_change = takeDoubles(a, nb * 6);
  w->momentum_residual = takeDoubles(a, nv);
  w->nonpotential = takeDoubles(a, nv);
  w->nonpotential_force = takeDoubles(a, nv);
  w->nonpotential_now = takeDoubles(a, nv);
  w->articulated = takeDoubles(a, dj_articulatedSize(m));
  w->mass = (djFactor){.kind = DJ_LDL, .n = m->nv};
  w->mass.data = takeDoubles(a, own);
  w->own = takeMatrix(a, own, &w->trees);
  w->nslab = (int)slabColumns(m);
  w->nstage = dj_stageCount(m);
  for (int k = 0; k < w->nstage; k++) layoutStage(&w->at_stage[k], w, a, m);
  layoutInverse(w, a, m);
  dj_layoutMultiplier(&w->multiplier, a, m);
  w->qnext = takeDoubles(a, m->nq);
  w->turn = takeDoubles(a, nv);
  w->before = takeDoubles(a, nv);
  w->path_scratch = takeDoubles(a, nv);
  w->mark_q = takeDoubles(a, m->nq);
  w->mark_v = takeDoubles(a, nv);
  w->mark_act = takeDoubles(a, m->na);
  w->vnext = takeDoubles(a, nv);
  w->qvel = takeDoubles(a, nv);
  w->Vplus = takeMatrix(a, own, &w->trees);
  w->Vstart = takeMatrix(a, own, &w->trees);
  w->mass_slope = takeMatrix(a, own, &w->trees);
  w->act_by_act = takeDoubles(a, na);
  w->act_by_ctrl = takeDoubles(a, nu);
  w->z_by = takeDoubles(a, 3 * nu);
  w->motor_by = takeDoubles(a, dj_motorRows(m));
  w->lambda = takeDoubles(a, dj_linearScratch(m));
  w->tangent = takeDoubles(a, 2 * (size_t)dj_tangentSize(m));
  layoutSums(w, a, m);
  dj_layoutOutside(w, a, m);
}

// Pairs that one step can report: bounded by what the contact module can hold.
static void setCapacities(djWork* w, const djModel* m) {
  w->maxpair = dj_maxContactPairs(m);
  w->maxcontact = w->maxpair;
}

static djArena measure(const djModel* m) {
  djData d = {0};
  djWork w = {0};
  d.work = &w;
  setCapacities(&w, m);
  djArena a = {NULL, 0};
  layoutState(&d, &a, m);
  layoutResults(&d, &a, m);
  layoutWork(&w, &a, m);
  return a;
}

size_t dj_dataSize(const djModel* m) {
  if (!m) return 0;
  return sizeof(djData) + sizeof(djWork) + measure(m).used + DJ_ALIGN + dj_forcesSize(m) +
         dj_roomSize(m, dj_stageCount(m)) + dj_impulsesSize(m);
}

size_t dj_dataBytes(const djData* d) {
  if (!d || !d->work) return 0;
  const djWork* w = d->work;
  return sizeof *d + sizeof *w + w->nbuffer + DJ_ALIGN + w->forces.size +
         dj_contactsBytes(dj_contactsOf(&w->forces)) + dj_heldRoom(w) + dj_heldParts(w) +
         dj_heldImpulses(w) + dj_heldOutside(w);
}

int dj_dataGrowths(const djData* d) { return d && d->work ? d->work->growths : 0; }

djStatus dj_makeData(djData** data, const djModel* m, djError* err) {
  if (!data) return dj_fail(err, DJ_INVALID, "data: NULL");
  *data = NULL;
  if (!m) return dj_fail(err, DJ_INVALID, "model: NULL");
  djData* d = calloc(1, sizeof(djData));
  djWork* w = calloc(1, sizeof(djWork));
  djArena a = measure(m);
  void* buffer = calloc(1, a.used + DJ_ALIGN);
  if (!d || !w || !buffer) {
    free(d);
    free(w);
    free(buffer);
    return dj_failMemory(err);
  }
  d->work = w;
  w->buffer = buffer;
  w->nbuffer = a.used;
  setCapacities(w, m);
  w->sizes = dj_sizesOf(m);
  unsigned char* base = buffer;
  base += DJ_ALIGN - (uintptr_t)base % DJ_ALIGN;
  a = (djArena){base, 0};
  layoutState(d, &a, m);
  w->nstate = a.used;
  w->parts = w->npart = 1;
  w->acting = DJ_ACTS_ALL;
  layoutResults(d, &a, m);
  w->nkeep = a.used;
  layoutWork(w, &a, m);
  djStatus status = dj_makeRoom(w, m);
  if (status < 0) dj_failMemory(err);
  if (status >= 0) status = dj_makeForces(&w->forces, m, err);
  if (status >= 0 && dj_makeImpulses(w, m) < 0) status = dj_failMemory(err);
  if (status >= 0) status = dj_makeOutside(w, m, err);
  if (status >= 0) status = dj_resetData(m, d);
  if (status < 0) {
    dj_deleteData(d);
    return status;
  }
  *data = d;
  return DJ_OK;
}

void dj_deleteData(djData* d) {
  if (!d) return;
  if (d->work) {
    if (d->work->recorder) d->work->recorder->release(d->work->recorder);
    dj_freeForces(&d->work->forces);
    dj_freeRoom(d->work);
    dj_freeParts(d->work);
    dj_freeImpulses(d->work);
    dj_freeOutside(d->work);
    free(d->work->buffer);
    free(d->work);
  }
  free(d);
}

djStatus dj_copyData(djData* dest, const djModel* m, const djData* src) {
  if (!dest || !src || !m) return DJ_INVALID;
  djWork *to = dest->work, *from = src->work;
  djStatus fits = dj_checkData(m, dest);
  if (fits < 0) return fits;
  if (dest == src) return DJ_OK;
  if (!dj_fitsSizes(from, m)) {
    return dj_fail(&to->error, DJ_INVALID, "source: made for a model of other sizes");
  }
  if (to->nbuffer != from->nbuffer) return DJ_INVALID;
  if (!dj_contactsOf(&to->forces) != !dj_contactsOf(&from->forces)) return DJ_INVALID;
  // What a step works with is not copied, it is filled when a step is begun; nor the list of near
  // pairs, which changes no result. Where the state jumps it begins anew, as margins that cover the
  // jump would make it long.
  dj_forgetForces(&to->forces);
  djContacts* contacts = dj_contactsOf(&to->forces);
  djReportRoom* room = contacts ? dj_reportRoom(contacts) : &to->outside.report;
  if (dj_roomForReport(dest, room, src->npair) < 0) {
    return dj_fail(&to->error, DJ_NO_MEMORY, "out of memory");
  }
  // The blocks have the same layout; only their alignment may differ.
  memcpy(dest->qpos, src->qpos, to->nkeep);
  dest->time = src->time;
  dest->gravity_scale = src->gravity_scale;
  memcpy(dest->energy, src->energy, sizeof(src->energy));
  dest->stats = src->stats;
  dest->ncontact = src->ncontact;
  dest->npair = src->npair;
  memcpy(dest->pair, src->pair, (size_t)src->npair * sizeof *src->pair);
  memcpy(dest->contact, src->contact, (size_t)src->ncontact * sizeof *src->contact);
  to->error = from->error;
  to->refinement_steps = from->refinement_steps;
  to->mark_h = from->mark_h;
  memcpy(to->mark_q, from->mark_q, (size_t)m->nq * sizeof(double));
  memcpy(to->mark_v, from->mark_v, (size_t)m->nv * sizeof(double));
  memcpy(to->mark_act, from->mark_act, (size_t)m->na * sizeof(double));
  to->stepped = to->linearized = false;
  return DJ_OK;
}

void dj_forgetSteps(djData* d) {
  if (d && d->work) dj_forgetForces(&d->work->forces);
}

const char* dj_errorText(const djData* d) { return d && d->work ? d->work->error.text : ""; }
