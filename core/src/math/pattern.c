#include "math/pattern.h"

#include <string.h>

// ---- memory -----------------------------------------------------------------------------------

// Capacities are at most so many for each block.
static int capacity(int nfine, int each) {
  size_t all = (size_t)nfine * (size_t)(nfine - 1) / 2, some = (size_t)each * (size_t)nfine;
  size_t least = all < some ? all : some;
  return nfine < 2 ? 0 : least > INT32_MAX / 4 ? INT32_MAX / 4 : (int)least;
}

static int maxPairs(int nfine) { return capacity(nfine, 32); }    // coupled
static int maxLater(int nfine) { return capacity(nfine, 96); }    // beside the factor's diagonal

void dj_takePattern(djPattern* p, djArena* a, int n, int nfine) {
  size_t nb = nfine, size = sizeof(int);
  p->n = n;
  p->nfine = nfine;
  p->maxpair = maxPairs(nfine);
  p->maxlater = maxLater(nfine);
  p->words = (nb + 63) / 64;
  p->fine = dj_take(a, nb + 1, size);
  p->fine_of = dj_take(a, n, size);
  p->coupled = dj_take(a, nb * p->words, sizeof(uint64_t));
  p->work = dj_take(a, nb * p->words, sizeof(uint64_t));
  p->pair = dj_take(a, 2 * (size_t)p->maxpair, size);
  p->analysed = dj_take(a, 2 * (size_t)p->maxpair, size);
  p->matrix_adr = dj_take(a, nb + 2, sizeof(size_t));
  p->factor_adr = dj_take(a, nb + 2, sizeof(size_t));
  p->upper_adr = dj_take(a, nb + 2, sizeof(size_t));
  p->order = dj_take(a, nb + 1, size);
  p->near_adr = dj_take(a, nb + 2, size);
  p->near = dj_take(a, nb + 1 + 2 * (size_t)p->maxpair, size);
  p->later_adr = dj_take(a, nb + 2, size);
  p->later = dj_take(a, p->maxlater, size);
  int** scratch[] = {&p->rank, &p->degree, &p->head, &p->next, &p->previous};
  for (size_t k = 0; k < sizeof scratch / sizeof scratch[0]; k++) {
    *scratch[k] = dj_take(a, nb + 2, size);
  }
}

static void setBlocks(djPattern* p, int nblock, const int* adr) {
  p->blocks = (djBlocks){p->n,     nblock,      p->matrix_adr, p->factor_adr, p->upper_adr, adr,
                         p->order, p->near_adr, p->near,       p->later_adr,  p->later};
}

// One block of all rows.
static void setDense(djPattern* p) {
  int last = p->n > 0;
  p->whole[0] = 0;
  p->whole[1] = p->n;
  p->order[0] = p->near[0] = 0;
  p->near_adr[0] = p->later_adr[0] = p->later_adr[1] = 0;
  p->near_adr[1] = last;
  p->matrix_adr[0] = p->factor_adr[0] = 0;
  p->matrix_adr[1] = p->factor_adr[1] = (size_t)p->n * (size_t)p->n;
  p->upper_adr[0] = p->upper_adr[1] = p->factor_adr[last];
  setBlocks(p, last, p->whole);
}

void dj_forgetPattern(djPattern* p) {
  memset(p->coupled, 0, (size_t)p->nfine * p->words * sizeof(uint64_t));
  p->npair = 0;
  p->nanalysed = -1;
  p->overflow = false;
  setDense(p);
}

void dj_setPattern(djPattern* p, const int* fine) {
  memcpy(p->fine, fine, ((size_t)p->nfine + 1) * sizeof(int));
  for (int b = 0; b < p->nfine; b++) {
    for (int i = fine[b]; i < fine[b + 1]; i++) p->fine_of[i] = b;
  }
  dj_forgetPattern(p);
}

// ---- couplings --------------------------------------------------------------------------------

static bool bit(const uint64_t* rows, size_t words, int a, int b) {
  return rows[(size_t)a * words + (size_t)(b / 64)] >> (b % 64) & 1;
}

static void setBit(uint64_t* row, int b) { row[b / 64] |= (uint64_t)1 << (b % 64); }
static void clearBit(uint64_t* row, int b) { row[b / 64] &= ~((uint64_t)1 << (b % 64)); }

void dj_beginPattern(djPattern* p) {
  for (int k = 0; k < p->npair; k++) {
    int a = p->pair[2 * k], b = p->pair[2 * k + 1];
    clearBit(p->coupled + (size_t)a * p->words, b);
    clearBit(p->coupled + (size_t)b * p->words, a);
  }
  p->npair = 0;
  p->overflow = false;
}

void dj_coupleRows(djPattern* p, int row_a, int row_b) {
  int a = p->fine_of[row_a], b = p->fine_of[row_b];
  if (a == b || bit(p->coupled, p->words, a, b)) return;
  if (p->npair == p->maxpair) {
    p->overflow = true;
    return;
  }
  p->pair[2 * p->npair] = a;
  p->pair[2 * p->npair++ + 1] = b;
  setBit(p->coupled + (size_t)a * p->words, b);
  setBit(p->coupled + (size_t)b * p->words, a);
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

// Minimum degree: always the block with the fewest neighbours among those that are left. False
// where the lists are too short.
static bool findOrder(djPattern* p) {
  int nb = p->nfine, lowest_degree = 0;
  memcpy(p->work, p->coupled, (size_t)nb * p->words * sizeof(uint64_t));
  for (int d = 0; d < nb; d++) p->head[d] = -1;
  for (int b = 0; b < nb; b++) {
    p->degree[b] = countBits(p->work + (size_t)b * p->words, p->words);
    addLink(p, b);
  }
  int used = 0;
  for (int k = 0; k < nb; k++) {
    while (p->head[lowest_degree] < 0) lowest_degree++;
    int a = p->head[lowest_degree], n = p->degree[a];
    dropLink(p, a);
    p->order[k] = a;
    p->rank[a] = k;
    if (used + n > p->maxlater) return false;
    listBits(p->later + used, n, p->work + (size_t)a * p->words, p->words);
    eliminate(p, a, p->later + used, n);
    p->later_adr[k] = used;
    used += n;
    // Neighbours lose a and may gain others: their degrees fall by one at most.
    lowest_degree = lowest_degree > 0 ? lowest_degree - 1 : 0;
  }
  p->later_adr[nb] = used;
  return true;
}

// `later` from blocks to their numbers in the order of elimination, ascending.
static void arrangeLater(djPattern* p) {
  for (int k = 0; k < p->nfine; k++) {
    int *list = p->later + p->later_adr[k], n = p->later_adr[k + 1] - p->later_adr[k];
    for (int i = 0; i < n; i++) {
      int rank = p->rank[list[i]], j = i;
      for (; j > 0 && list[j - 1] > rank; j--) list[j] = list[j - 1];
      list[j] = rank;
    }
  }
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

static int size(const djPattern* p, int b) { return p->fine[b + 1] - p->fine[b]; }

// Addresses of packed rows of blocks. Returns the entries of the factor.
static size_t setAddresses(djPattern* p) {
  size_t matrix = 0, factor = 0, upper = 0, entries = 0;
  for (int k = 0; k < p->nfine; k++) {
    size_t near = 0, later = 0, rows = (size_t)size(p, k), own = (size_t)size(p, p->order[k]);
    for (int i = p->near_adr[k]; i < p->near_adr[k + 1]; i++) near += (size_t)size(p, p->near[i]);
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

static void analyse(djPattern* p) {
  if (!findOrder(p)) {
    setDense(p);
    return;
  }
  arrangeLater(p);
  listNear(p);
  // Where the factor is nearly full, the dense one is faster.
  size_t n = p->n, entries = setAddresses(p);
  if (entries > 3 * (n * (n + 1) / 8)) {
    setDense(p);
    return;
  }
  setBlocks(p, p->nfine, p->fine);
}

void dj_endPattern(djPattern* p) {
  if (p->dense || p->overflow || p->nfine < 2) {
    if (p->nanalysed >= 0 || p->blocks.nblock > 1) setDense(p);
    p->nanalysed = -1;
    return;
  }
  size_t bytes = 2 * (size_t)p->npair * sizeof(int);
  if (p->nanalysed == p->npair && !memcmp(p->analysed, p->pair, bytes)) return;
  memcpy(p->analysed, p->pair, bytes);
  p->nanalysed = p->npair;
  analyse(p);
}

// ---- copies -----------------------------------------------------------------------------------

static size_t blocksSize(size_t nblock, size_t near, size_t later) {
  size_t ints = (nblock + 1) * 4 + near + later + 1;
  return 3 * (nblock + 1) * sizeof(size_t) + (ints / 2 + 1) * 2 * sizeof(int);
}

size_t dj_blocksSize(const djBlocks* b) {
  return blocksSize(b->nblock, b->near_adr[b->nblock], b->later_adr[b->nblock]);
}

size_t dj_maxBlocksSize(int nfine) {
  size_t nb = nfine > 0 ? nfine : 1;
  return blocksSize(nb, nb + 2 * (size_t)maxPairs(nfine), maxLater(nfine));
}

static const int* copyInts(int** to, const int* from, int n) {
  int* dest = *to;
  memcpy(dest, from, (size_t)n * sizeof(int));
  *to += n;
  return dest;
}

void dj_copyBlocks(djBlocks* dest, void* memory, const djBlocks* src) {
  int nb = src->nblock;
  size_t *matrix = memory, *factor = matrix + nb + 1, *upper = factor + nb + 1;
  memcpy(matrix, src->matrix_adr, ((size_t)nb + 1) * sizeof(size_t));
  memcpy(factor, src->factor_adr, ((size_t)nb + 1) * sizeof(size_t));
  memcpy(upper, src->upper_adr, ((size_t)nb + 1) * sizeof(size_t));
  int* to = (int*)(void*)(upper + nb + 1);
  *dest = *src;
  dest->matrix_adr = matrix;
  dest->factor_adr = factor;
  dest->upper_adr = upper;
  dest->adr = copyInts(&to, src->adr, nb + 1);
  dest->order = copyInts(&to, src->order, nb);
  dest->near_adr = copyInts(&to, src->near_adr, nb + 1);
  dest->near = copyInts(&to, src->near, src->near_adr[nb]);
  dest->later_adr = copyInts(&to, src->later_adr, nb + 1);
  dest->later = copyInts(&to, src->later, src->later_adr[nb]);
}
