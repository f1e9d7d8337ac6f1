#include "inertia/solids.h"

#include "math/lanes.h"
#include "shape/broadphase.h"

#include <stdlib.h>
#include <string.h>

// Numbers that are never near each other, nor in a ratio that lengths of parts are likely to have.
#define ROOT2 1.41421356237309515
#define GOLDEN 0.61803398874989485

// ------------------------------------------ solids ---------------------------------------------

// Corners of triangles, renumbered. `number` (as many as vertices) has -1, and does so afterwards.
static void takeCorners(djSolid* g, int* number) {
  const djPolytope* part = g->part;
  for (int k = 0; k < 3 * part->nface; k++) {
    int i = part->face[k];
    if (number[i] < 0) {
      number[i] = g->nvert;
      g->vert[g->nvert++] = dju_load3(part->vert + 3 * (size_t)i);
    }
    g->face[k] = number[i];
  }
  for (int k = 0; k < 3 * part->nface; k++) number[part->face[k]] = -1;
}

static void addSide(djSolid* g, int face) {
  djVec3 x[3];
  for (int k = 0; k < 3; k++) x[k] = g->vert[g->face[3 * face + k]];
  djVec3 area = dju_cross3(dju_sub3(x[1], x[0]), dju_sub3(x[2], x[0]));
  double size = dju_norm3(area);
  if (!(size > 0)) return;
  djHalfSpace* h = &g->side[g->nside];
  h->normal = dju_scale3(1 / size, area);
  h->offset = dju_dot3(h->normal, dju_scale3(1.0 / 3, dju_add3(x[0], dju_add3(x[1], x[2]))));
  const double value[4] = {h->normal.x, h->normal.y, h->normal.z, h->offset};
  for (int k = 0; k < 4; k++) g->lanes[64 * g->nword * k + g->nside] = value[k];
  g->nside++;
}

// box: lower and upper xyz.
static void fillSolid(djSolid* g, double* box, int* number, int index, double by) {
  const djPolytope* part = g->part;
  double whole, fraction = modf(index * GOLDEN, &whole);
  djVec3 sum = {0, 0, 0};
  takeCorners(g, number);
  for (int k = 0; k < 3 * part->nface; k++) sum = dju_add3(sum, g->vert[g->face[k]]);
  g->middle = dju_scale3(1.0 / (part->nface > 0 ? 3 * part->nface : 1), sum);
  g->scale = by * (ROOT2 + fraction);
  for (int k = 0; k < 6; k++) box[k] = k < 3 ? INFINITY : -INFINITY;
  for (int i = 0; i < g->nvert; i++) {
    djVec3* x = &g->vert[i];
    *x = dju_madd3(*x, g->scale, dju_sub3(*x, g->middle));
    const double at[3] = {x->x, x->y, x->z};
    for (int k = 0; k < 3; k++) {
      box[k] = fmin(box[k], at[k]);
      box[3 + k] = fmax(box[3 + k], at[k]);
    }
  }
  for (int k = 0; k < 64 * g->nword; k++) g->lanes[3 * 64 * g->nword + k] = 1;
  for (int f = 0; f < part->nface; f++) addSide(g, f);
}

// Rooms in one block: corners, sides and lanes of all parts, renumbered faces; then `number`.
static djStatus takeRoom(djSolids* s, int** number, const djPolytope* part) {
  size_t nface = 0, nlane = 0, most = 0;
  for (int k = 0; k < s->n; k++) {
    nface += (size_t)part[k].nface;
    nlane += 4 * 64 * (((size_t)part[k].nface + 63) / 64);
    for (int i = 0; i < 3 * part[k].nface; i++) {
      if ((size_t)part[k].face[i] >= most) most = (size_t)part[k].face[i] + 1;
    }
  }
  char* at = s->buffer =
      calloc(1, nlane * sizeof(double) + nface * sizeof(djHalfSpace) + 3 * nface * sizeof(djVec3) +
                    3 * nface * sizeof(int) + most * sizeof(int) + 1);
  s->solid = calloc((size_t)s->n + 1, sizeof *s->solid);
  if (!at || !s->solid) return DJ_NO_MEMORY;
  double* lanes = (double*)at;
  djHalfSpace* side = (djHalfSpace*)(lanes + nlane);
  djVec3* vert = (djVec3*)(side + nface);
  int* face = (int*)(vert + 3 * nface);
  for (int k = 0; k < s->n; k++) {
    int n = part[k].nface, nword = (n + 63) / 64;
    s->solid[k] = (djSolid){
        .part = &part[k], .vert = vert, .face = face, .nword = nword, .side = side, .lanes = lanes};
    lanes += 4 * 64 * nword;
    side += n;
    vert += 3 * n;
    face += 3 * n;
  }
  *number = face;
  for (size_t i = 0; i < most; i++) face[i] = -1;
  return DJ_OK;
}

// ------------------------------------------ sides ----------------------------------------------

// Points nearer to a plane than this part of their distance from the origin lie in it.
#define IN_PLANE 4e-16

DJU_INLINE djLanes absolute(djLanes x) { return dju_pick(x < 0, -x, x); }

// Bits of one vertex, nword words each; those beyond the last side mean nothing in `enter`.
static void findBits(uint64_t* cut, uint64_t* enter, const djSolid* b, djVec3 x) {
  const size_t n = 64 * (size_t)b->nword;
  const double size = fabs(x.x) + fabs(x.y) + fabs(x.z);
  for (int w = 0; w < b->nword; w++) cut[w] = enter[w] = 0;
  for (int k = 0; k < b->nside; k += DJU_LANES) {
    djLanes offset = dju_loadLanes(b->lanes + 3 * n + k);
    djLanes d = dju_fmaLanes(dju_loadLanes(b->lanes + k), dju_splat(x.x), -offset);
    d = dju_fmaLanes(dju_loadLanes(b->lanes + n + k), dju_splat(x.y), d);
    d = dju_fmaLanes(dju_loadLanes(b->lanes + 2 * n + k), dju_splat(x.z), d);
    djLanes little = dju_splat(IN_PLANE) * (absolute(offset) + dju_splat(size));
    cut[k / 64] |= (uint64_t)dju_maskBits(d > little) << k % 64;
    enter[k / 64] |= (uint64_t)dju_maskBits(d < -little) << k % 64;
  }
}

// Whether a word has a bit for each of its sides.
static bool holdsAll(uint64_t word, const djSolid* b, int w) {
  int left = b->nside - 64 * w;
  uint64_t all = left >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << (left > 0 ? left : 0)) - 1;
  return (word & all) == all;
}

// Bits of all vertices of a by the sides of b. Returns false where a lies beyond one of them.
static bool findAllBits(uint64_t* bits, const djSolid* a, const djSolid* b) {
  const size_t nword = (size_t)b->nword;
  for (int i = 0; i < a->nvert; i++) {
    uint64_t* at = bits + 2 * nword * (size_t)i;
    findBits(at, at + nword, b, a->vert[i]);
  }
  for (size_t w = 0; w < nword; w++) {
    uint64_t any = 0;
    for (int i = 0; i < a->nvert; i++) any |= bits[2 * nword * (size_t)i + nword + w];
    if (!holdsAll(any, b, (int)w)) return false;
  }
  return true;
}

bool dj_mayEnter(uint64_t* cut, const djSolids* s, int solid, int face, const djNear* near) {
  const djSolid* b = &s->solid[near->other];
  const int* corner = s->solid[solid].face + 3 * face;
  const size_t nword = (size_t)b->nword;
  const uint64_t* x[3];
  for (int k = 0; k < 3; k++) x[k] = s->bits + near->bits + 2 * nword * (size_t)corner[k];
  for (size_t w = 0; w < nword; w++) {
    uint64_t any = x[0][nword + w] | x[1][nword + w] | x[2][nword + w];
    if (!holdsAll(any, b, (int)w)) return false;
    cut[w] = x[0][w] | x[1][w] | x[2][w];
  }
  return true;
}

// ------------------------------------------ pairs ----------------------------------------------

static djStatus findBoxPairs(djBoxPair** pair, int* npair, int n, const double* box) {
  void* memory = malloc(dj_broadphaseSize(n) + 1);
  djBroadphase* broadphase = memory ? dj_initBroadphase(memory, n) : NULL;
  int room = 16 * n + 64;
  *pair = malloc((size_t)room * sizeof **pair);
  *npair = 0;
  if (broadphase && *pair) {
    *npair = dj_updateBroadphase(*pair, room, broadphase, box, NULL, NULL);
    if (*npair > room) {
      free(*pair);
      room = *npair;
      *pair = malloc((size_t)room * sizeof **pair);
      if (*pair) dj_updateBroadphase(*pair, room, broadphase, box, NULL, NULL);
    }
  }
  free(memory);
  return broadphase && *pair ? DJ_OK : DJ_NO_MEMORY;
}

static djStatus growBits(djSolids* s, size_t* room, size_t need) {
  if (need <= *room) return DJ_OK;
  uint64_t* bits = realloc(s->bits, 2 * need * sizeof *bits);
  if (!bits) return DJ_NO_MEMORY;
  s->bits = bits;
  *room = 2 * need;
  return DJ_OK;
}

// Keep the pairs that may meet, and the bits of both: at `at` those of a, then those of b.
static djStatus sievePairs(djSolids* s, djBoxPair* pair, size_t* at, int* npair) {
  size_t used = 0, room = 0;
  int kept = 0;
  for (int k = 0; k < *npair; k++) {
    const djSolid *a = &s->solid[pair[k].a], *b = &s->solid[pair[k].b];
    size_t first = 2 * (size_t)a->nvert * (size_t)b->nword;
    size_t need = first + 2 * (size_t)b->nvert * (size_t)a->nword;
    if (a->nside == 0 || b->nside == 0) continue;
    djStatus status = growBits(s, &room, used + need);
    if (status < 0) return status;
    if (!findAllBits(s->bits + used, a, b)) continue;
    if (!findAllBits(s->bits + used + first, b, a)) continue;
    at[kept] = used;
    pair[kept++] = pair[k];
    used += need;
  }
  *npair = kept;
  return DJ_OK;
}

// Pairs come by (a, b), so that each list is in order.
static djStatus listNear(djSolids* s, const djBoxPair* pair, const size_t* at, int npair) {
  s->near = malloc(2 * (size_t)npair * sizeof *s->near + 1);
  if (!s->near) return DJ_NO_MEMORY;
  for (int k = 0; k < npair; k++) {
    s->solid[pair[k].a].near_end++;
    s->solid[pair[k].b].near_end++;
  }
  for (int i = 0, sum = 0; i < s->n; i++) {
    djSolid* g = &s->solid[i];
    int count = g->near_end;
    g->near_begin = g->near_end = sum;
    sum += count;
  }
  for (int k = 0; k < npair; k++) {
    djSolid *a = &s->solid[pair[k].a], *b = &s->solid[pair[k].b];
    s->near[a->near_end++] = (djNear){pair[k].b, at[k]};
    s->near[b->near_end++] = (djNear){pair[k].a, at[k] + 2 * (size_t)a->nvert * (size_t)b->nword};
  }
  return DJ_OK;
}

djStatus dj_makeSolids(djSolids* s, int n, const djPolytope* part, double by) {
  int *number, npair = 0;
  *s = (djSolids){.n = n};
  double* box = malloc(6 * (size_t)n * sizeof *box + 1);
  djBoxPair* pair = NULL;
  size_t* at = NULL;
  djStatus status = takeRoom(s, &number, part);
  if (!box) status = DJ_NO_MEMORY;
  for (int k = 0; k < n && status == DJ_OK; k++) {
    fillSolid(&s->solid[k], box + 6 * (size_t)k, number, k, by);
  }
  if (status == DJ_OK) status = findBoxPairs(&pair, &npair, n, box);
  if (status == DJ_OK) at = malloc((size_t)npair * sizeof *at + 1);
  if (status == DJ_OK && !at) status = DJ_NO_MEMORY;
  if (status == DJ_OK) status = sievePairs(s, pair, at, &npair);
  if (status == DJ_OK) status = listNear(s, pair, at, npair);
  free(at);
  free(pair);
  free(box);
  return status;
}

void dj_freeSolids(djSolids* s) {
  free(s->solid);
  free(s->near);
  free(s->bits);
  free(s->buffer);
}
