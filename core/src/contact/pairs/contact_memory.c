// Memory of the data side: what the sizes of the model fix, the list of pairs, and their states.
// The last two grow by half where they must; pairs keep their states.

#include "base/arena.h"
#include "base/status.h"
#include "contact/pairs/near.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

// Bytes that states of all pairs may have together where kernels can do with less.
#define STATES ((size_t)1 << 26)

// How many near pairs there is room for at first.
static int firstSlots(const djContacts* c, int maxpair) {
  long n = 2 * (long)c->nbox + 64;
  return n < maxpair ? (int)n : maxpair;
}

static void takeMoves(djMoves* moves, djArena* arena, size_t nb) {
  moves->most = dj_take(arena, nb, sizeof(double));
  moves->turned = dj_take(arena, nb, sizeof(bool));
  moves->turn = dj_take(arena, nb, sizeof(djMat3));
}

static void layoutFixed(djContacts* c, djArena* arena, const djModel* m) {
  const struct djCollision* col = m->collision;
  size_t nb = m->nbody;
  c->start = dj_take(arena, nb, sizeof(djPose));
  c->base = dj_take(arena, nb, sizeof(djPose));
  c->rate_pose = dj_take(arena, nb, sizeof(djPose));
  c->past_pose = dj_take(arena, nb, sizeof(djPose));
  c->lag_pose = dj_take(arena, nb, sizeof(djPose));
  c->eval_pose = dj_take(arena, nb, sizeof(djPose));
  c->kept_pose = dj_take(arena, nb, sizeof(djPose));
  c->twist = dj_take(arena, 6 * nb, sizeof(double));
  c->ref = dj_take(arena, nb, sizeof(djVec3));
  c->slack = dj_take(arena, nb, sizeof(double));
  takeMoves(&c->moved, arena, nb);
  takeMoves(&c->move, arena, nb);
  c->margin = dj_take(arena, nb, sizeof(double));
  c->need = dj_take(arena, nb, sizeof(double));
  c->range = dj_take(arena, c->nuse, sizeof(double));
  c->first = dj_take(arena, c->nuse, sizeof(int));
  c->traits = dj_take(arena, c->nuse, sizeof(djTraits));
  c->use = dj_take(arena, c->nuse, sizeof(int));
  c->box_geom = dj_take(arena, c->nbox, sizeof(int));
  c->box = dj_take(arena, 6 * (size_t)c->nbox, sizeof(double));
  c->swept = dj_take(arena, c->nbox, sizeof(djSwept));
  c->broadphase_memory = dj_take(arena, dj_broadphaseSize(c->nbox), 1);
  c->nscratch = DJ_KERNEL_SCRATCH(2 * col->maxvert) + 64;
  c->scratch = dj_take(arena, c->nscratch, sizeof(double));
  c->touch_state = dj_take(arena, c->touch_size, 1);
}

static void layoutList(djContacts* c, djArena* arena) {
  size_t n = (size_t)c->maxlist + (size_t)c->nslot;
  c->pair = dj_take(arena, n, sizeof(djNearPair));
  c->other = dj_take(arena, n, sizeof(djNearPair));
  c->found = dj_take(arena, c->maxlist, sizeof(djBoxPair));
}

static void layoutSlots(djContacts* c, djArena* arena) {
  size_t n = c->nslot;
  c->free_slot = dj_take(arena, n, sizeof(int));
  c->state = dj_take(arena, n, c->state_size);
  c->block = dj_take(arena, n, sizeof(djContactBlock));
  c->kept = dj_take(arena, n, sizeof(djContactBlock));
  c->active = dj_take(arena, n, sizeof(*c->active));
  c->active_pair = dj_take(arena, n, sizeof(int));
  c->depth = dj_take(arena, n, sizeof(double));
  c->setting = dj_take(arena, n, DJ_MAX_OF_KERNEL * sizeof(double));
  c->twist_jac = c->uses_twist ? dj_take(arena, n, 144 * sizeof(double)) : NULL;
  c->rate_jac = c->uses_rates ? dj_take(arena, n, 144 * sizeof(double)) : NULL;
}

// Zeros for a layout of so many bytes, or NULL; *start: where it begins.
static void* takeBuffer(unsigned char** start, size_t used) {
  if (used >= SIZE_MAX / 2) return NULL;
  unsigned char* base = calloc(1, used + DJ_ALIGN);
  if (base) *start = base + (DJ_ALIGN - (uintptr_t)base % DJ_ALIGN) % DJ_ALIGN;
  return base;
}

// ------------------------------------------ making ---------------------------------------------

// What follows from the kernels in use.
static void setKernels(djContacts* c, const djModel* m) {
  const struct djCollision* col = m->collision;
  size_t state = 0, touch = 0;
  bool hfield = false;
  for (int g = 0; g < m->ngeom; g++) {
    if (m->geom_type[g] == DJ_HFIELD && dj_collides(col, g)) hfield = true;
  }
  c->nuse = col->nuse;
  c->share = INFINITY;
  c->meets = true;
  for (int u = 0; u < col->nuse; u++) {
    const djKernel* kernel = dj_kernel(col->use[u]);
    size_t size = dj_pairStateSize(kernel, hfield);
    if (size > touch) touch = size;
    if (kernel->stateSize)
      size = kernel->stateSize(col->maxvert, STATES / (size_t)(col->maxpair + 1));
    if (size > state) state = size;
    const djTraits traits = dj_modelTraits(m, col->use[u]);
    if (traits.uses_twist) c->uses_twist = true;
    if (!traits.energy || !traits.symmetric || traits.uses_twist) c->meets = false;
    if (traits.limits && kernel->share < c->share) c->share = kernel->share;
  }
  c->state_size = (state + DJ_ALIGN - 1) / DJ_ALIGN * DJ_ALIGN;
  c->touch_size = touch;
}

// Sizes of the arrays. False where the model has no contact.
static bool setSizes(djContacts* c, const djModel* m) {
  const struct djCollision* col = m->collision;
  memset(c, 0, sizeof *c);
  if (!col || !dj_ownContact(m)) return false;
  c->nbody = m->nbody;
  for (int g = 0; g < m->ngeom; g++) c->nbox += dj_collides(col, g);
  long heap = dj_pairsOfHeap(c->nbox);
  c->nslot = firstSlots(c, col->maxpair);
  c->maxlist = col->maxpair < heap ? col->maxpair : (int)heap;
  c->roomy = col->maxpair < heap ? col->maxpair : (int)(4 * heap);
  c->report.npair = col->maxpair;
  setKernels(c, m);
  return true;
}

size_t dj_contactsSize(const djModel* model) {
  djContacts c;
  if (!model || !setSizes(&c, model)) return 0;
  djArena fixed = {NULL, 0}, list = {NULL, 0}, slots = {NULL, 0};
  layoutFixed(&c, &fixed, model);
  layoutList(&c, &list);
  layoutSlots(&c, &slots);
  return sizeof c + fixed.used + list.used + slots.used + 3 * DJ_ALIGN;
}

size_t dj_contactsBytes(const djContacts* c) {
  if (!c) return 0;
  djContacts copy = *c;
  djArena list = {NULL, 0}, slots = {NULL, 0};
  layoutList(&copy, &list);
  layoutSlots(&copy, &slots);
  return sizeof copy + c->nbuffer + list.used + slots.used + 3 * DJ_ALIGN;
}

int dj_maxContactPairs(const djModel* model) {
  return model && model->collision ? model->collision->maxpair : 0;
}

// A new buffer of the list, or of the states, for the sizes in `sizes`; false: no memory.
static bool makeList(djContacts* sizes) {
  djArena arena = {NULL, 0};
  layoutList(sizes, &arena);
  unsigned char* start = NULL;
  sizes->list_buffer = takeBuffer(&start, arena.used);
  if (!sizes->list_buffer) return false;
  arena = (djArena){start, 0};
  layoutList(sizes, &arena);
  return true;
}

static bool makeSlots(djContacts* sizes) {
  djArena arena = {NULL, 0};
  layoutSlots(sizes, &arena);
  unsigned char* start = NULL;
  sizes->slot_buffer = takeBuffer(&start, arena.used);
  if (!sizes->slot_buffer) return false;
  arena = (djArena){start, 0};
  layoutSlots(sizes, &arena);
  return true;
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
  layoutFixed(c, &arena, model);
  c->nbuffer = arena.used;
  unsigned char* start = NULL;
  c->buffer = takeBuffer(&start, arena.used);
  if (!c->buffer || !makeList(c) || !makeSlots(c)) {
    dj_deleteContacts(c);
    return dj_failMemory(err);
  }
  arena = (djArena){start, 0};
  layoutFixed(c, &arena, model);
  for (int g = 0, n = 0; g < model->ngeom; g++) {
    if (dj_collides(model->collision, g)) c->box_geom[n++] = g;
  }
  for (int u = 0, n; u < c->nuse; u++) {
    c->use[u] = model->collision->use[u];
    dj_kernelSettings(&n, &c->first[u], c->use[u]);
    c->traits[u] = dj_modelTraits(model, c->use[u]);
  }
  c->rate = c->start;
  dj_resetContacts(c);
  *contacts = c;
  return DJ_OK;
}

void dj_deleteContacts(djContacts* contacts) {
  if (!contacts) return;
  dj_freeReports(&contacts->report);
  free(contacts->buffer);
  free(contacts->list_buffer);
  free(contacts->slot_buffer);
  free(contacts->afar);
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

// ------------------------------------------ growth ---------------------------------------------

// At least n, and half as much again as there is, but not where the sum of such sizes overflows.
static bool grownSize(int* size, int n) {
  if (n < 0 || n > INT_MAX / 4) return false;
  int more = *size + *size / 2 + 64;
  *size = n > more ? n : more;
  return true;
}

// The list in a new buffer of the size that it has by now.
static bool moveList(djContacts* c, const djNearPair* pair, void* buffer) {
  if (!makeList(c)) return false;
  memcpy(c->pair, pair, (size_t)c->npair * sizeof *pair);
  free(buffer);
  return true;
}

djStatus dj_growList(djContacts* c, int npair) {
  if (c->fixed) return DJ_CROWDED;
  djContacts old = *c;
  if (!grownSize(&c->maxlist, npair) || !moveList(c, old.pair, old.list_buffer)) {
    *c = old;
    return DJ_NO_MEMORY;
  }
  return DJ_OK;
}

// States and blocks in a new buffer, by the sizes and needs in c; `old` is what was.
static bool moveSlots(djContacts* c, const djContacts* old) {
  size_t n = (size_t)old->nslot;
  if (!makeSlots(c)) return false;
  c->marked = c->keeps = false;
  memcpy(c->state, old->state, n * c->state_size);
  memcpy(c->block, old->block, n * sizeof *c->block);
  memcpy(c->active_pair, old->active_pair, n * sizeof(int));
  memcpy(c->setting, old->setting, n * DJ_MAX_OF_KERNEL * sizeof(double));
  for (int i = 0; i < c->nslot - old->nslot; i++) c->free_slot[i] = c->nslot - 1 - i;
  memcpy(c->free_slot + (c->nslot - old->nslot), old->free_slot, (size_t)old->nfree * sizeof(int));
  c->nfree = old->nfree + c->nslot - old->nslot;
  for (int i = 0; i < c->nblock; i++) {
    c->active[i] = &c->block[i];
    djContactBlock* block = &c->block[i];
    if (!c->twist_jac || !block->out.twist_jac) continue;
    double* jac = c->twist_jac + 144 * (size_t)i;
    memcpy(jac, block->out.twist_jac, 144 * sizeof(double));
    block->out.twist_jac = jac;
  }
  return true;
}

djStatus dj_growSlots(djContacts* c, int nslot) {
  c->crowded = nslot;
  if (c->fixed) return DJ_CROWDED;
  djContacts old = *c;
  if (!grownSize(&c->nslot, nslot) || !moveSlots(c, &old)) {
    *c = old;
    return DJ_NO_MEMORY;
  }
  if (!moveList(c, old.pair, old.list_buffer)) {
    free(c->slot_buffer);
    *c = old;
    return DJ_NO_MEMORY;
  }
  free(old.slot_buffer);
  return DJ_OK;
}

djStatus dj_needRates(djContacts* c) {
  djContacts old = *c;
  c->uses_rates = true;
  if (!moveSlots(c, &old)) {
    *c = old;
    return DJ_NO_MEMORY;
  }
  free(old.slot_buffer);
  return DJ_OK;
}

void dj_fixContacts(djContacts* c, bool fixed) {
  if (c) c->fixed = fixed;
}

void dj_easeContacts(djContacts* c, djEase ease, int iterate) {
  if (!c) return;
  if (c->ease != ease) c->evaluated = false;
  c->ease = ease;
  c->iterate = iterate;
  c->marked = c->meets && c->evaluated && c->curved && iterate > 0;
  c->keeps = false; // of a point before
}

bool dj_canEaseContacts(const djContacts* c) {
  for (int k = 0; c && k < c->nblock; k++) {
    if (c->active[k]->out.eases) return true;
  }
  return false;
}

bool dj_kinkedContacts(const djContacts* c) {
  for (int k = 0; c && k < c->npair; k++) {
    if (c->pair[k].begun && c->pair[k].kernel->smoothness == DJ_C0) return true;
  }
  return false;
}

djStatus dj_growContacts(djContacts* c, const djModel* m, djError* err) {
  (void)m;
  bool fixed = c->fixed;
  djStatus status = DJ_OK;
  c->fixed = false;
  if (c->wanted > c->maxlist) status = dj_growList(c, c->wanted);
  if (status == DJ_OK && c->crowded > c->nslot) status = dj_growSlots(c, c->crowded);
  c->fixed = fixed;
  return status < 0 ? dj_failMemory(err) : DJ_OK;
}
