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

// Edges of triangles, once each. `number` as above.
static void takeEdges(djSolid* g, int* number) {
  for (int k = 0; k < 3 * g->part->nface; k++) {
    const int u = g->face[k], v = g->face[k % 3 < 2 ? k + 1 : k - 2], least = u < v ? u : v;
    int e = number[least];
    while (e >= 0 &&
           (g->edge[e].vert[0] != v || g->edge[e].vert[1] != u || g->edge[e].face[1] >= 0)) {
      e = g->edge[e].next;
    }
    if (e >= 0) {
      g->edge[e].face[1] = k / 3;
      g->edge[e].opposite |= 2 * (k % 3 == 1);
      continue;
    }
    g->edge[g->nedge] = (djEdge){{u, v}, {k / 3, -1}, number[least], k % 3 == 1};
    number[least] = g->nedge++;
  }
  for (int i = 0; i < g->nvert; i++) number[i] = -1;
}

// Sides that have no area hold everything.
static void makeSide(djSolid* g, int face) {
  djVec3 x[3];
  for (int k = 0; k < 3; k++) x[k] = g->vert[g->face[3 * face + k]];
  djVec3 area = dju_cross3(dju_sub3(x[1], x[0]), dju_sub3(x[2], x[0]));
  double size = dju_norm3(area);
  djHalfSpace* h = &g->side[face];
  *h = (djHalfSpace){{0, 0, 0}, 1};
  if (size > 0) {
    h->normal = dju_scale3(1 / size, area);
    h->offset = dju_dot3(h->normal, dju_scale3(1.0 / 3, dju_add3(x[0], dju_add3(x[1], x[2]))));
  }
  const double value[4] = {h->normal.x, h->normal.y, h->normal.z, h->offset};
  for (int k = 0; k < 4; k++) g->lanes[g->nlane * k + face] = value[k];
}

static int upToLanes(int n) { return (n + DJU_LANES - 1) / DJU_LANES * DJU_LANES; }

// Rooms in one block. Numbers of vertices and edges are known when solids are filled.
typedef struct Room {
  djVec3* vert;
  djEdge* edge;
  int* number; // as many as a part has vertices
} Room;

static djStatus takeRoom(djSolids* s, Room* room, const djPolytope* part) {
  size_t nface = 0, nlane = 0, most = 0;
  for (int k = 0; k < s->n; k++) {
    nface += (size_t)part[k].nface;
    nlane += 4 * (size_t)upToLanes(part[k].nface);
    for (int i = 0; i < 3 * part[k].nface; i++) {
      if ((size_t)part[k].face[i] >= most) most = (size_t)part[k].face[i] + 1;
    }
  }
  char* at = s->buffer =
      malloc(nlane * sizeof(double) + nface * sizeof(djHalfSpace) + 3 * nface * sizeof(djVec3) +
             3 * nface * sizeof(djEdge) + 3 * nface * sizeof(int) + most * sizeof(int) + 1);
  s->solid = calloc((size_t)s->n + 1, sizeof *s->solid);
  if (!at || !s->solid) return DJ_NO_MEMORY;
  double* lanes = (double*)at;
  djHalfSpace* side = (djHalfSpace*)(lanes + nlane);
  room->vert = (djVec3*)(side + nface);
  room->edge = (djEdge*)(room->vert + 3 * nface);
  int* face = (int*)(room->edge + 3 * nface);
  for (int k = 0; k < s->n; k++) {
    int n = part[k].nface;
    s->solid[k] = (djSolid){.part = &part[k],
                            .face = face,
                            .nlane = upToLanes(n),
                            .nword = (n + 63) / 64,
                            .side = side,
                            .lanes = lanes};
    lanes += 4 * upToLanes(n);
    side += n;
    face += 3 * n;
  }
  room->number = face;
  for (size_t i = 0; i < most; i++) face[i] = -1;
  return DJ_OK;
}

// box: lower and upper xyz.
static void fillSolid(djSolid* g, double* box, Room* room, int index, double by) {
  const djPolytope* part = g->part;
  double whole, fraction = modf(index * GOLDEN, &whole);
  djVec3 sum = {0, 0, 0};
  g->vert = room->vert;
  g->edge = room->edge;
  takeCorners(g, room->number);
  takeEdges(g, room->number);
  room->vert += g->nvert;
  room->edge += g->nedge;
  for (int k = 0; k < 3 * part->nface; k++) sum = dju_add3(sum, g->vert[g->face[k]]);
  g->middle = dju_scale3(1.0 / (part->nface > 0 ? 3 * part->nface : 1), sum);
  g->scale = by * (ROOT2 + fraction);
  for (int k = 0; k < 6; k++) box[k] = k < 3 ? INFINITY : -INFINITY;
  for (int i = 0; i < g->nvert; i++) {
    djVec3* x = &g->vert[i];
    *x = dju_madd3(*x, g->scale, dju_sub3(*x, g->middle));
    const double at[3] = {x->x, x->y, x->z};
    for (int k = 0; k < 3; k++) {
      if (at[k] < box[k]) box[k] = at[k];
      if (at[k] > box[3 + k]) box[3 + k] = at[k];
    }
  }
  for (int k = part->nface; k < g->nlane; k++) {
    for (int i = 0; i < 4; i++) g->lanes[g->nlane * i + k] = i == 3;
  }
  for (int f = 0; f < part->nface; f++) makeSide(g, f);
}

// ------------------------------------------ sides ----------------------------------------------

// Points nearer to a plane than this part of their distance from the origin lie in it.
#define IN_PLANE 4e-16

// Sides of b that each vertex of a is beyond, nword words a vertex.
static void findOut(uint64_t* out, const djSolid* a, const djSolid* b) {
  const size_t n = (size_t)b->nlane, nword = (size_t)b->nword;
  memset(out, 0, (size_t)a->nvert * nword * sizeof *out);
  for (size_t k = 0; k < n; k += DJU_LANES) {
    const djLanes x = dju_loadLanes(b->lanes + k), y = dju_loadLanes(b->lanes + n + k);
    const djLanes z = dju_loadLanes(b->lanes + 2 * n + k);
    const djLanes offset = dju_loadLanes(b->lanes + 3 * n + k);
    uint64_t* word = out + k / 64;
    for (int i = 0; i < a->nvert; i++, word += nword) {
      const djVec3 p = a->vert[i];
      djLanes d = dju_fmaLanes(x, dju_splat(p.x), -offset);
      d = dju_fmaLanes(y, dju_splat(p.y), d);
      d = dju_fmaLanes(z, dju_splat(p.z), d);
      *word |= (uint64_t)dju_greaterBits(d, dju_splat(0)) << k % 64;
    }
  }
}

// Some side has all vertices beyond.
static bool isBeyond(const uint64_t* out, int nvert, int nword) {
  for (int w = 0; w < nword; w++) {
    uint64_t all = ~(uint64_t)0;
    for (int i = 0; i < nvert; i++) all &= out[(size_t)i * (size_t)nword + (size_t)w];
    if (all) return true;
  }
  return false;
}

bool dj_mayEnter(uint64_t* cut, const djSolid* solid, const djVec3 triangle[3]) {
  memset(cut, 0, (size_t)solid->nword * sizeof *cut);
  for (int s = 0; s < solid->part->nface; s++) {
    const djHalfSpace* h = &solid->side[s];
    bool inside = false;
    for (int k = 0; k < 3; k++) {
      djVec3 x = triangle[k];
      double d = dju_dot3(h->normal, x) - h->offset;
      double little = IN_PLANE * (fabs(h->offset) + fabs(x.x) + fabs(x.y) + fabs(x.z));
      cut[s / 64] |= (uint64_t)(d > little) << s % 64;
      inside |= d < -little;
    }
    if (!inside) return false;
  }
  return true;
}

// ------------------------------------------ pairs ----------------------------------------------

// So few boxes are compared each with all others.
enum { FEW_BOXES = 512 };

static djStatus findFewPairs(djBoxPair** pair, int* npair, int n, const double* box) {
  const int room = upToLanes(n);
  double* lanes = malloc(6 * (size_t)room * sizeof *lanes + 1);
  int most = 8 * n + 64;
  *pair = malloc((size_t)most * sizeof **pair);
  bool good = lanes && *pair;
  for (int k = 0; k < 6 && good; k++) {
    for (int i = 0; i < n; i++) lanes[k * room + i] = box[6 * i + k];
    for (int i = n; i < room; i++) lanes[k * room + i] = k < 3 ? INFINITY : -INFINITY;
  }
  for (int a = 0; a < n && good; a++) {
    const double* x = box + 6 * a;
    if (*npair + n > most) {
      most = 2 * (*npair + n);
      djBoxPair* more = realloc(*pair, (size_t)most * sizeof *more);
      if (!more)
        good = false;
      else
        *pair = more;
    }
    for (int b = a / DJU_LANES * DJU_LANES; b < n && good; b += DJU_LANES) {
      unsigned apart = b < a + 1 ? (2u << (a - b)) - 1 : 0;
      for (int k = 0; k < 3; k++) {
        apart |= dju_greaterBits(dju_loadLanes(lanes + k * room + b), dju_splat(x[3 + k])) |
                 dju_greaterBits(dju_splat(x[k]), dju_loadLanes(lanes + (3 + k) * room + b));
      }
      for (unsigned bits = ~apart & 0xff; bits; bits &= bits - 1) {
        (*pair)[(*npair)++] = (djBoxPair){a, b + __builtin_ctz(bits)};
      }
    }
  }
  free(lanes);
  return good ? DJ_OK : DJ_NO_MEMORY;
}

static djStatus findBoxPairs(djBoxPair** pair, int* npair, int n, const double* box) {
  *npair = 0;
  if (n <= FEW_BOXES) return findFewPairs(pair, npair, n, box);
  void* memory = malloc(dj_broadphaseSize(n) + 1);
  djBroadphase* broadphase = memory ? dj_initBroadphase(memory, n) : NULL;
  int room = 16 * n + 64;
  *pair = malloc((size_t)room * sizeof **pair);
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

// What two solids know of each other.
typedef struct Pair {
  djNear a, b; // of each, as its near solid is listed
} Pair;

// Whether two solids may share something; then their bits are at `used`.
static bool sievePair(djSolids* s, Pair* pair, size_t used) {
  const djSolid *a = &s->solid[pair->b.other], *b = &s->solid[pair->a.other];
  pair->a.out = used;
  pair->b.out = used + (size_t)a->nvert * (size_t)b->nword;
  findOut(s->bits + pair->a.out, a, b);
  if (isBeyond(s->bits + pair->a.out, a->nvert, b->nword)) return false;
  findOut(s->bits + pair->b.out, b, a);
  return !isBeyond(s->bits + pair->b.out, b->nvert, a->nword);
}

// Keep the pairs that may meet.
static djStatus sievePairs(djSolids* s, Pair* pair, int* kept, const djBoxPair* box, int nbox) {
  size_t used = 0, room = 0;
  *kept = 0;
  for (int k = 0; k < nbox; k++) {
    const djSolid *a = &s->solid[box[k].a], *b = &s->solid[box[k].b];
    size_t need = (size_t)a->nvert * (size_t)b->nword + (size_t)b->nvert * (size_t)a->nword;
    if (a->part->nface == 0 || b->part->nface == 0) continue;
    djStatus status = growBits(s, &room, used + need);
    if (status < 0) return status;
    pair[*kept] = (Pair){{.other = box[k].b}, {.other = box[k].a}};
    if (!sievePair(s, &pair[*kept], used)) continue;
    ++*kept;
    used += need;
  }
  return DJ_OK;
}

// Pairs come by (a, b), so that each list is in order.
static djStatus listNear(djSolids* s, const Pair* pair, int npair) {
  s->near = malloc(2 * (size_t)npair * sizeof *s->near + 1);
  if (!s->near) return DJ_NO_MEMORY;
  for (int k = 0; k < npair; k++) {
    s->solid[pair[k].a.other].near_end++;
    s->solid[pair[k].b.other].near_end++;
  }
  for (int i = 0, sum = 0; i < s->n; i++) {
    djSolid* g = &s->solid[i];
    int count = g->near_end;
    g->near_begin = g->near_end = sum;
    sum += count;
  }
  for (int k = 0; k < npair; k++) {
    s->near[s->solid[pair[k].b.other].near_end++] = pair[k].a;
    s->near[s->solid[pair[k].a.other].near_end++] = pair[k].b;
  }
  return DJ_OK;
}

djStatus dj_makeSolids(djSolids* s, int n, const djPolytope* part, double by) {
  Room memory;
  int npair = 0, nbox = 0;
  *s = (djSolids){.n = n};
  s->box = malloc(6 * (size_t)n * sizeof *s->box + 1);
  djBoxPair* near_box = NULL;
  Pair* pair = NULL;
  djStatus status = takeRoom(s, &memory, part);
  if (!s->box) status = DJ_NO_MEMORY;
  for (int k = 0; k < n && status == DJ_OK; k++) {
    fillSolid(&s->solid[k], s->box + 6 * (size_t)k, &memory, k, by);
  }
  if (status == DJ_OK) status = findBoxPairs(&near_box, &nbox, n, s->box);
  if (status == DJ_OK) pair = malloc((size_t)nbox * sizeof *pair + 1);
  if (status == DJ_OK && !pair) status = DJ_NO_MEMORY;
  if (status == DJ_OK) status = sievePairs(s, pair, &npair, near_box, nbox);
  if (status == DJ_OK) status = listNear(s, pair, npair);
  free(pair);
  free(near_box);
  return status;
}

void dj_freeSolids(djSolids* s) {
  free(s->box);
  free(s->solid);
  free(s->near);
  free(s->bits);
  free(s->buffer);
}
