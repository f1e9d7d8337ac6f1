#include "math/pattern.h"

#include "base/room.h"
#include "math/super.h"

#include <stdlib.h>
#include <string.h>

// ---- memory -----------------------------------------------------------------------------------

// All pairs of few blocks, and at most so many for each of many.
static int capacity(int nfine, int each) {
  size_t n = nfine, all = n * (n ? n - 1 : 0) / 2, some = (size_t)each * n;
  size_t least = all < 2048 || all < some ? all : some > 2048 ? some : 2048;
  return least > INT32_MAX / 8 ? INT32_MAX / 8 : (int)least;
}

static int firstPairs(int nfine) { return capacity(nfine, 6); }    // coupled
static int firstLater(int nfine) { return capacity(nfine, 16); }   // beside the factor's diagonal

void dj_takePattern(djPattern* p, djArena* a, int n, int nfine) {
  size_t nb = nfine, size = sizeof(int);
  p->n = n;
  p->nfine = nfine;
  bool many = nfine >= DJ_MANY;
  size_t some = many ? nb + 2 : 0;
  p->words = many ? 0 : (nb + 63) / 64;
  p->fine = dj_take(a, nb + 1, size);
  p->fine_of = dj_take(a, n, size);
  p->coupled = dj_take(a, nb * p->words, sizeof(uint64_t));
  p->work = dj_take(a, nb * p->words, sizeof(uint64_t));
  p->matrix_adr = dj_take(a, nb + 2, sizeof(size_t));
  p->factor_adr = dj_take(a, nb + 2, sizeof(size_t));
  p->upper_adr = dj_take(a, nb + 2, sizeof(size_t));
  p->row_adr = dj_take(a, n, sizeof(size_t));
  p->zero = dj_take(a, n, size);
  p->order = dj_take(a, nb + 1, size);
  p->near_adr = dj_take(a, nb + 2, size);
  p->later_adr = dj_take(a, nb + 2, size);
  int** scratch[] = {&p->rank, &p->degree, &p->head, &p->next, &p->previous};
  for (size_t k = 0; k < sizeof scratch / sizeof scratch[0]; k++) {
    *scratch[k] = dj_take(a, nb + 2, size);
  }
  int** large[] = {&p->length, &p->weight, &p->element, &p->mark, &p->super_first, &p->super_of,
                   &p->super_row};
  for (size_t k = 0; k < sizeof large / sizeof large[0]; k++) *large[k] = dj_take(a, some, size);
  p->super_adr = dj_take(a, some, sizeof(size_t));
  p->super_upper = dj_take(a, some, sizeof(size_t));
}

// The lists that grow.
static void layoutLists(djPattern* p, djArena* a) {
  size_t pairs = p->maxpair, near = (size_t)p->nfine + 1 + 2 * pairs;
  p->pair = dj_take(a, 2 * pairs, sizeof(int));
  p->analysed = dj_take(a, 2 * pairs, sizeof(int));
  p->near = dj_take(a, near, sizeof(int));
  p->near_col = dj_take(a, near, sizeof(int));
  p->later = dj_take(a, p->maxlater, sizeof(int));
  bool many = p->nfine >= DJ_MANY;
  p->nslot = 1;
  while (many && p->nslot < 2 * p->maxpair) p->nslot *= 2;
  p->slot = dj_take(a, many ? p->nslot : 0, sizeof(int));
  p->nlist = many ? (int)(2 * pairs + pairs / 2) + 2 * p->nfine : 0;   // as AMD asks for
  p->list = dj_take(a, p->nlist, sizeof(int));
}

static size_t listsSize(const djPattern* p, int maxpair, int maxlater) {
  djPattern q = {.nfine = p->nfine, .maxpair = maxpair, .maxlater = maxlater};
  djArena a = {NULL, 0};
  layoutLists(&q, &a);
  return a.used;
}

size_t dj_patternLists(int nfine) {
  djPattern p = {.nfine = nfine};
  return listsSize(&p, firstPairs(nfine), firstLater(nfine)) + DJ_ALIGN;
}

static bool makeLists(djPattern* p, int maxpair, int maxlater) {
  void* memory = dj_roomFor(p->lists, &p->nlists, listsSize(p, maxpair, maxlater));
  if (!memory) return false;
  p->lists = memory;
  p->maxpair = maxpair;
  p->maxlater = maxlater;
  djArena a = {memory, 0};
  layoutLists(p, &a);
  dj_forgetPattern(p);
  return true;
}

static int enough(int max, int want) { return want <= max ? max : want + want / 2; }

bool dj_growPattern(djPattern* p) {
  if (p->wantpair > INT32_MAX / 8 || p->wantlater > INT32_MAX / 8) return false;
  return makeLists(p, enough(p->maxpair, p->wantpair), enough(p->maxlater, p->wantlater));
}

void dj_freePattern(djPattern* p) {
  free(p->lists);
  p->lists = NULL;
}

static void setBlocks(djPattern* p, int nblock, const int* adr, const int* block_of) {
  p->blocks = (djBlocks){.n = p->n,
                         .nblock = nblock,
                         .matrix_adr = p->matrix_adr,
                         .factor_adr = p->factor_adr,
                         .upper_adr = p->upper_adr,
                         .row_adr = p->row_adr,
                         .adr = adr,
                         .order = p->order,
                         .near_adr = p->near_adr,
                         .near = p->near,
                         .near_col = p->near_col,
                         .later_adr = p->later_adr,
                         .later = p->later,
                         .block_of = block_of,
                         .rank = p->rank};
}

// One block of all rows.
static void setDense(djPattern* p) {
  int last = p->n > 0;
  p->whole[0] = 0;
  p->whole[1] = p->n;
  p->order[0] = p->rank[0] = p->near[0] = p->near_col[0] = 0;
  p->near_adr[0] = p->later_adr[0] = p->later_adr[1] = 0;
  p->near_adr[1] = last;
  p->matrix_adr[0] = p->factor_adr[0] = 0;
  p->matrix_adr[1] = p->factor_adr[1] = (size_t)p->n * (size_t)p->n;
  p->upper_adr[0] = p->upper_adr[1] = p->factor_adr[last];
  for (int i = 0; i < p->n; i++) p->row_adr[i] = (size_t)i * (size_t)p->n;
  setBlocks(p, last, p->whole, p->zero);
}

void dj_forgetPattern(djPattern* p) {
  memset(p->coupled, 0, (size_t)p->nfine * p->words * sizeof(uint64_t));
  if (!p->words) memset(p->slot, -1, (size_t)p->nslot * sizeof(int));
  p->npair = 0;
  p->wantpair = p->wantlater = 0;
  p->nanalysed = -1;
  setDense(p);
}

bool dj_setPattern(djPattern* p, const int* fine) {
  memcpy(p->fine, fine, ((size_t)p->nfine + 1) * sizeof(int));
  for (int b = 0; b < p->nfine; b++) {
    for (int i = fine[b]; i < fine[b + 1]; i++) p->fine_of[i] = b;
  }
  memset(p->zero, 0, (size_t)p->n * sizeof(int));
  p->lists = NULL;
  return makeLists(p, firstPairs(p->nfine), firstLater(p->nfine));
}

// ---- couplings --------------------------------------------------------------------------------

static bool bit(const uint64_t* rows, size_t words, int a, int b) {
  return rows[(size_t)a * words + (size_t)(b / 64)] >> (b % 64) & 1;
}

static void setBit(uint64_t* row, int b) { row[b / 64] |= (uint64_t)1 << (b % 64); }
static void clearBit(uint64_t* row, int b) { row[b / 64] &= ~((uint64_t)1 << (b % 64)); }

// Where the pair is in the table, or would be.
static int* findSlot(const djPattern* p, int a, int b) {
  uint64_t key = (uint64_t)a << 32 | (uint64_t)b;
  size_t mask = (size_t)p->nslot - 1, at = (size_t)(key * 0x9e3779b97f4a7c15u >> 32) & mask;
  for (;; at = (at + 1) & mask) {
    int k = p->slot[at];
    if (k < 0 || (p->pair[2 * k] == a && p->pair[2 * k + 1] == b)) return &p->slot[at];
  }
}

void dj_beginPattern(djPattern* p) {
  if (!p->words) memset(p->slot, -1, (size_t)p->nslot * sizeof(int));
  for (int k = 0; k < p->npair && p->words; k++) {
    int a = p->pair[2 * k], b = p->pair[2 * k + 1];
    clearBit(p->coupled + (size_t)a * p->words, b);
    clearBit(p->coupled + (size_t)b * p->words, a);
  }
  p->npair = p->wantpair = p->wantlater = 0;
}

void dj_coupleRows(djPattern* p, int row_a, int row_b) {
  int a = p->fine_of[row_a], b = p->fine_of[row_b];
  if (a == b) return;
  if (p->words) {
    if (bit(p->coupled, p->words, a, b)) return;
    p->wantpair++;
    if (p->npair == p->maxpair) return;
    setBit(p->coupled + (size_t)a * p->words, b);
    setBit(p->coupled + (size_t)b * p->words, a);
  } else {
    if (a > b) {
      int swap = a;
      a = b;
      b = swap;
    }
    int* slot = findSlot(p, a, b);
    if (*slot >= 0) return;
    p->wantpair++;
    if (p->npair == p->maxpair) return;
    *slot = p->npair;
  }
  p->pair[2 * p->npair] = a;
  p->pair[2 * p->npair++ + 1] = b;
}

enum { MARKED = 1, NEAR = 2 };

void dj_clearMarks(djPattern* p) { memset(p->degree, 0, (size_t)p->nfine * sizeof(int)); }

void dj_markRow(djPattern* p, int row) { p->degree[p->fine_of[row]] = MARKED; }

void dj_coupleMarked(djPattern* p) {
  int* mark = p->degree;   // of the analysis, which is still to come
  for (int k = 0, known = p->npair; k < known; k++) {
    for (int side = 0; side < 2; side++) {
      int a = p->pair[2 * k + side], b = p->pair[2 * k + 1 - side];
      if (mark[a] == MARKED && mark[b] == 0) mark[b] = NEAR;
    }
  }
  for (int a = 0; a < p->nfine; a++) {
    for (int b = 0; b < p->nfine && mark[a] == MARKED; b++) {
      if (mark[b]) dj_coupleRows(p, p->fine[a], p->fine[b]);
    }
  }
}

// ---- analysis ---------------------------------------------------------------------------------

// The lowest bit of x that is set.
static int lowest(uint64_t x) {
  int k = 0;
  for (int step = 32; step > 0; step /= 2) {
    if (x & (((uint64_t)1 << step) - 1)) continue;
    x >>= step;
    k += step;
  }
  return k;
}

// Blocks of a row of bits, ascending. Returns how many; at most `room` are written.
static int listBits(int* out, int room, const uint64_t* row, size_t words) {
  int n = 0;
  for (size_t w = 0; w < words; w++) {
    for (uint64_t x = row[w]; x; x &= x - 1) {
      if (n < room) out[n] = (int)(64 * w) + lowest(x);
      n++;
    }
  }
  return n;
}

static int countBits(const uint64_t* row, size_t words) {
  int n = 0;
  for (size_t w = 0; w < words; w++) {
    for (uint64_t x = row[w]; x; x &= x - 1) n++;
  }
  return n;
}

// Lists of blocks by degree, doubly linked.
static void addLink(djPattern* p, int b) {
  int d = p->degree[b], first = p->head[d];
  p->next[b] = first;
  p->previous[b] = -1;
  if (first >= 0) p->previous[first] = b;
  p->head[d] = b;
}

static void dropLink(djPattern* p, int b) {
  int to = p->next[b], from = p->previous[b];
  if (from >= 0) p->next[from] = to;
  else p->head[p->degree[b]] = to;
  if (to >= 0) p->previous[to] = from;
}

// Elimination of block a joins its neighbours `near` to each other.
static void eliminate(djPattern* p, int a, const int* near, int n) {
  const uint64_t* row = p->work + (size_t)a * p->words;
  for (int k = 0; k < n; k++) {
    int b = near[k];
    uint64_t* to = p->work + (size_t)b * p->words;
    for (size_t w = 0; w < p->words; w++) to[w] |= row[w];
    clearBit(to, a);
    clearBit(to, b);
    dropLink(p, b);
    p->degree[b] = countBits(to, p->words);
    addLink(p, b);
  }
}

// Minimum degree: always the block with the fewest neighbours among those that are left.
static void findOrder(djPattern* p) {
  int nb = p->nfine, lowest_degree = 0;
  memcpy(p->work, p->coupled, (size_t)nb * p->words * sizeof(uint64_t));
  for (int d = 0; d < nb; d++) p->head[d] = -1;
  for (int b = 0; b < nb; b++) {
    p->degree[b] = countBits(p->work + (size_t)b * p->words, p->words);
    addLink(p, b);
  }
  for (int k = 0; k < nb; k++) {
    while (p->head[lowest_degree] < 0) lowest_degree++;
    int a = p->head[lowest_degree], n = p->degree[a];
    dropLink(p, a);
    p->order[k] = a;
    p->rank[a] = k;
    listBits(p->later_adr, n, p->work + (size_t)a * p->words, p->words);   // not yet in use
    eliminate(p, a, p->later_adr, n);
    // Neighbours lose a and may gain others: their degrees fall by one at most.
    lowest_degree = lowest_degree > 0 ? lowest_degree - 1 : 0;
  }
}

// Rows of the factor. Row j of the elimination is `later` to all k on the paths from its earlier
// neighbours up the elimination tree, in which k's parent is the first row that is later to it
// (George and Liu, Computer Solution of Large Sparse Positive Definite Systems, 1981). Rows j
// come in order, so the lists are ascending. `add`: to the lists; otherwise counts them.
static void walkRows(djPattern* p, int* parent, int* mark, int* count, bool add) {
  for (int j = 0; j < p->nfine; j++) {
    int b = p->order[j];
    mark[j] = j;
    if (!add) parent[j] = -1;
    for (int i = p->near_adr[b]; i < p->near_adr[b + 1]; i++) {
      for (int k = p->rank[p->near[i]]; k < j && mark[k] != j; k = parent[k]) {
        if (!add && parent[k] < 0) parent[k] = j;
        mark[k] = j;
        if (add) p->later[p->later_adr[k] + count[k]] = j;
        count[k]++;
      }
    }
  }
}

// `later`, its entries numbers in the order of elimination. False where it is too short.
static bool listLater(djPattern* p) {
  int *parent = p->degree, *mark = p->head, *count = p->next, nb = p->nfine;
  memset(count, 0, (size_t)nb * sizeof(int));
  walkRows(p, parent, mark, count, false);
  size_t used = 0;
  for (int k = 0; k < nb; k++) {
    if (used <= INT32_MAX / 8) p->later_adr[k] = (int)used;
    used += (size_t)count[k];
  }
  p->wantlater = used > INT32_MAX / 8 ? INT32_MAX : (int)used;
  if (p->wantlater > p->maxlater) return false;
  p->later_adr[nb] = (int)used;
  memset(count, 0, (size_t)nb * sizeof(int));
  walkRows(p, parent, mark, count, true);
  return true;
}

static void listNear(djPattern* p) {
  int used = 0;
  for (int a = 0; a < p->nfine; a++) {
    uint64_t* row = p->coupled + (size_t)a * p->words;
    p->near_adr[a] = used;
    setBit(row, a);
    used += listBits(p->near + used, p->nfine, row, p->words);
    clearBit(row, a);
  }
  p->near_adr[p->nfine] = used;
}

// The same from the list of pairs: first neighbours as they come, then every block into the lists
// of its neighbours, so that these are ascending.
static void listManyNear(djPattern* p) {
  int nb = p->nfine, *adr = p->next, *length = p->length, used = 0;
  memset(length, 0, (size_t)nb * sizeof(int));
  for (int k = 0; k < 2 * p->npair; k++) length[p->pair[k]]++;
  for (int b = 0; b < nb; b++) {
    adr[b] = used;
    p->near_adr[b] = used + b;
    used += length[b];
  }
  p->near_adr[nb] = used + nb;
  memset(length, 0, (size_t)nb * sizeof(int));
  for (int k = 0; k < 2 * p->npair; k++) {
    int a = p->pair[k], b = p->pair[k ^ 1];
    p->list[adr[a] + length[a]++] = b;
  }
  int* count = p->mark;
  memset(count, 0, (size_t)nb * sizeof(int));
  for (int a = 0; a < nb; a++) {
    p->near[p->near_adr[a] + count[a]++] = a;
    for (int k = adr[a]; k < adr[a] + length[a]; k++) {
      int b = p->list[k];
      p->near[p->near_adr[b] + count[b]++] = a;
    }
  }
}

static int size(const djPattern* p, int b) { return p->fine[b + 1] - p->fine[b]; }

// Addresses of packed rows of blocks. Returns the entries of the factor.
static size_t setAddresses(djPattern* p) {
  size_t matrix = 0, factor = 0, upper = 0, entries = 0;
  for (int k = 0; k < p->nfine; k++) {
    size_t near = 0, later = 0, rows = (size_t)size(p, k), own = (size_t)size(p, p->order[k]);
    size_t diagonal = 0;
    for (int i = p->near_adr[k]; i < p->near_adr[k + 1]; i++) {
      p->near_col[i] = (int)near;
      if (p->near[i] == k) diagonal = near;
      near += (size_t)size(p, p->near[i]);
    }
    for (size_t i = 0; i < rows; i++) {
      p->row_adr[(size_t)p->fine[k] + i] = matrix + i * near + diagonal - (size_t)p->fine[k];
    }
    for (int i = p->later_adr[k]; i < p->later_adr[k + 1]; i++) {
      later += (size_t)size(p, p->order[p->later[i]]);
    }
    p->matrix_adr[k] = matrix;
    p->factor_adr[k] = factor;
    p->upper_adr[k] = upper;
    matrix += rows * near;
    factor += own * (own + later);
    upper += own * later;
    entries += own * (own + 1) / 2 + own * later;
  }
  p->matrix_adr[p->nfine] = matrix;
  p->factor_adr[p->nfine] = factor;
  p->upper_adr[p->nfine] = upper;
  for (int k = 0; k <= p->nfine; k++) p->upper_adr[k] += factor;
  return entries;
}

static bool analyse(djPattern* p) {
  if (p->words) {
    findOrder(p);
    listNear(p);
  } else {
    listManyNear(p);
    dj_orderMany(p);
  }
  if (!listLater(p)) return false;
  // Where the factor is nearly full, the dense one is faster.
  size_t n = p->n, entries = setAddresses(p);
  if (entries > 3 * (n * (n + 1) / 8)) {
    setDense(p);
    return true;
  }
  setBlocks(p, p->nfine, p->fine, p->fine_of);
  if (!p->words) dj_findSupernodes(p);
  return true;
}

bool dj_endPattern(djPattern* p) {
  if (p->dense || p->nfine < 2) {
    if (p->nanalysed >= 0 || p->blocks.nblock > 1) setDense(p);
    p->version += p->nanalysed >= 0;
    p->nanalysed = -1;
    return true;
  }
  if (p->wantpair > p->maxpair) return false;
  size_t bytes = 2 * (size_t)p->npair * sizeof(int);
  if (p->nanalysed == p->npair && !memcmp(p->analysed, p->pair, bytes)) return true;
  memcpy(p->analysed, p->pair, bytes);
  bool done = analyse(p);
  p->version++;
  p->nanalysed = done ? p->npair : -1;
  return done;
}

// ---- block diagonal ---------------------------------------------------------------------------

size_t dj_diagonalSize(int n, int nblock) {
  size_t nb = nblock, rows = n;
  return (2 * (nb + 1) + rows) * sizeof(size_t) + (4 * (nb + 1) + rows) * sizeof(int);
}

djBlocks dj_diagonalBlocks(void* memory, int n, int nblock, const int* first) {
  size_t *adr = memory, *upper = adr + nblock + 1, *row = upper + nblock + 1;
  int *start = (int*)(void*)(row + n), *self = start + nblock + 1, *zero = self + nblock + 1;
  int* block_of = zero + nblock + 1;
  adr[0] = 0;
  for (int b = 0; b < nblock; b++) {
    size_t size = (size_t)(first[b + 1] - first[b]);
    for (int i = first[b]; i < first[b + 1]; i++) {
      block_of[i] = b;
      row[i] = adr[b] + (size_t)(i - first[b]) * size - (size_t)first[b];
    }
    adr[b + 1] = adr[b] + size * size;
  }
  for (int b = 0; b <= nblock; b++) {
    start[b] = b < nblock ? first[b] : n;
    self[b] = b;
    zero[b] = 0;
    upper[b] = adr[nblock];
  }
  return (djBlocks){.n = n,
                    .nblock = nblock,
                    .matrix_adr = adr,
                    .factor_adr = adr,
                    .upper_adr = upper,
                    .row_adr = row,
                    .adr = start,
                    .order = self,
                    .near_adr = self,
                    .near = self,
                    .near_col = zero,
                    .later_adr = zero,
                    .later = zero,
                    .block_of = block_of,
                    .rank = self};
}

// ---- copies -----------------------------------------------------------------------------------

static size_t blocksSize(const djBlocks* b, size_t near, size_t later) {
  size_t nb = (size_t)b->nblock + 1, ns = b->nsuper ? (size_t)b->nsuper + 1 : 0;
  size_t ints = 5 * nb + 2 * near + later + (ns ? ns + 2 * nb : 0);
  return (3 * nb + 2 * ns) * sizeof(size_t) + (ints / 2 + 1) * 2 * sizeof(int);
}

size_t dj_blocksSize(const djBlocks* b) {
  return blocksSize(b, b->near_adr[b->nblock], b->later_adr[b->nblock]);
}

static const int* copyInts(int** to, const int* from, int n) {
  int* dest = *to;
  memcpy(dest, from, (size_t)n * sizeof(int));
  *to += n;
  return dest;
}

static const size_t* copySizes(size_t** to, const size_t* from, int n) {
  size_t* dest = *to;
  memcpy(dest, from, (size_t)n * sizeof(size_t));
  *to += n;
  return dest;
}

void dj_copyBlocks(djBlocks* dest, void* memory, const djBlocks* src) {
  int nb = src->nblock, ns = src->nsuper;
  size_t* sizes = memory;
  *dest = *src;
  dest->row_adr = NULL;
  dest->block_of = NULL;
  dest->matrix_adr = copySizes(&sizes, src->matrix_adr, nb + 1);
  dest->factor_adr = copySizes(&sizes, src->factor_adr, nb + 1);
  dest->upper_adr = copySizes(&sizes, src->upper_adr, nb + 1);
  if (ns) {
    dest->super_adr = copySizes(&sizes, src->super_adr, ns + 1);
    dest->super_upper = copySizes(&sizes, src->super_upper, ns + 1);
  }
  int* to = (int*)(void*)sizes;
  dest->adr = copyInts(&to, src->adr, nb + 1);
  dest->order = copyInts(&to, src->order, nb);
  dest->rank = copyInts(&to, src->rank, nb);
  dest->near_adr = copyInts(&to, src->near_adr, nb + 1);
  dest->near = copyInts(&to, src->near, src->near_adr[nb]);
  dest->near_col = copyInts(&to, src->near_col, src->near_adr[nb]);
  dest->later_adr = copyInts(&to, src->later_adr, nb + 1);
  dest->later = copyInts(&to, src->later, src->later_adr[nb]);
  if (!ns) return;
  dest->super_first = copyInts(&to, src->super_first, ns + 1);
  dest->super_of = copyInts(&to, src->super_of, nb);
  dest->super_row = copyInts(&to, src->super_row, nb);
}
