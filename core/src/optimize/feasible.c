// Projection by parts: least |x - p|^2/2 with lower <= x <= upper, A x = b.
//
// Two unknowns are joined by an equation that has both. What is joined, directly or through others,
// is a part, and the nearest point is found part by part. An unknown without equations is clipped.
//
// Tie: where no equation of a part has more than two unknowns, one unknown s tells all,
//   x_i = a_i s + b_i,   from equation to equation  f_i x_i + f_j x_j = v:
//   a_j = -f_i a_i/f_j,  b_j = (v - f_i b_i)/f_j.
// Its bounds are those of all x_i, and the least of sum (a_i s + b_i - p_i)^2 is at
//   s = sum a_i (p_i - b_i)/sum a_i^2,
// clipped. So it is for points of shapes that connections hold together. What is left is a block
// (project.c), as are ties whose equations close a loop with another factor.

#include "optimize/feasible.h"

#include <float.h>
#include <math.h>
#include <string.h>

// An entry of a row that rounding has left does not count.
#define NOTHING (8 * DBL_EPSILON)
// Of an equation, in parts of its terms.
#define ROUNDING 1e-12

// Entries of the equations by row and by unknown.
typedef struct Entries {
  int n, m;
  const double* value;
  int* row_start; // (m + 1)
  int* row;       // unknowns
  double* entry;  // what they are multiplied by
  int* of_start;  // (n + 1)
  int* of;        // equations of an unknown
  int* part;      // (n) an unknown of the same part: the first one; -1: of none
  int* size;      // (n) unknowns of the part, by that one
  bool* general;  // (n) is a block, by that one
  int* queue;     // (n)
  double* a;      // (n)
  double* b;      // (n)
} Entries;

// fmin and fmax are calls.
static double within(double low, double value, double high) {
  return value > low ? value < high ? value : high : low;
}

// Of an unknown that row r has; rows of ties are short.
static double entry(const Entries* e, int r, int i) {
  int k = e->row_start[r];
  while (e->row[k] != i) k++;
  return e->entry[k];
}

djStatus dj_sparseEquations(djEquations* out, djPool* pool, int n, int m, const double* equal,
                            const double* value) {
  int all = 0, *start = dj_poolTake(pool, (size_t)m + 1, sizeof *start);
  for (size_t k = 0; k < (size_t)m * (size_t)n; k++) all += equal[k] != 0;
  int* index = dj_poolTake(pool, (size_t)all, sizeof *index);
  double* entries = dj_poolTake(pool, (size_t)all, sizeof *entries);
  if (!start || !index || !entries) return DJ_NO_MEMORY;
  *out = (djEquations){n, m, start, index, entries, value};
  for (int r = 0, k = 0; r < m; r++) {
    for (int i = 0; i < n; i++) {
      double a = equal[(size_t)r * (size_t)n + (size_t)i];
      if (a == 0) continue;
      index[k] = i;
      entries[k++] = a;
    }
    start[r + 1] = k;
  }
  return DJ_OK;
}

// ------------------------------------------ parts -----------------------------------------------

static djStatus takeEntries(Entries* e, djPool* pool, int all) {
  const size_t n = (size_t)e->n, m = (size_t)e->m;
  e->row_start = dj_poolTake(pool, m + 1, sizeof(int));
  e->row = dj_poolTake(pool, (size_t)all, sizeof(int));
  e->entry = dj_poolTake(pool, (size_t)all, sizeof(double));
  e->of_start = dj_poolTake(pool, n + 1, sizeof(int));
  e->of = dj_poolTake(pool, (size_t)all, sizeof(int));
  e->part = dj_poolTake(pool, n, sizeof(int));
  e->size = dj_poolTake(pool, n, sizeof(int));
  e->general = dj_poolTake(pool, n, sizeof(bool));
  e->queue = dj_poolTake(pool, n, sizeof(int));
  e->a = dj_poolTake(pool, n, sizeof(double));
  e->b = dj_poolTake(pool, n, sizeof(double));
  if (!e->row_start || !e->row || !e->entry || !e->of_start || !e->of || !e->part || !e->size ||
      !e->general || !e->queue || !e->a || !e->b)
    return DJ_NO_MEMORY;
  return DJ_OK;
}

// Row r without what rounding has left.
static void readRow(Entries* e, const djEquations* from, int r) {
  double most = 0;
  int at = e->row_start[r];
  for (int k = from->start[r]; k < from->start[r + 1]; k++) most = fmax(most, fabs(from->entry[k]));
  for (int k = from->start[r]; k < from->start[r + 1]; k++) {
    if (!(fabs(from->entry[k]) > NOTHING * most)) continue;
    e->row[at] = from->index[k];
    e->entry[at++] = from->entry[k];
  }
  e->row_start[r + 1] = at;
}

static djStatus readEntries(Entries* e, djPool* pool, const djEquations* from) {
  djStatus status = takeEntries(e, pool, from->start[from->m]);
  if (status < 0) return status;
  for (int r = 0; r < e->m; r++) readRow(e, from, r);
  const int all = e->row_start[e->m];
  for (int k = 0; k < all; k++) e->of_start[e->row[k] + 1]++;
  for (int i = 0; i < e->n; i++) {
    e->of_start[i + 1] += e->of_start[i];
    e->queue[i] = e->of_start[i];
  }
  for (int r = 0; r < e->m; r++) {
    for (int k = e->row_start[r]; k < e->row_start[r + 1]; k++) e->of[e->queue[e->row[k]]++] = r;
  }
  return DJ_OK;
}

// Unknown j by i, which equation r joins. False: it has been told otherwise.
static bool follow(Entries* e, int r, int i, int j, bool fresh) {
  const double fi = entry(e, r, i), fj = entry(e, r, j), v = e->value[r];
  const double a = -fi * e->a[i] / fj, b = (v - fi * e->b[i]) / fj;
  if (!fresh) {
    const double size = fabs(v / fj) + fabs(fi * e->b[i] / fj) + fabs(e->b[j]);
    return fabs(a - e->a[j]) <= ROUNDING * fabs(a) && fabs(b - e->b[j]) <= ROUNDING * size;
  }
  e->a[j] = a;
  e->b[j] = b;
  return true;
}

// The part of unknown i.
static void findPart(Entries* e, int i) {
  int end = 0;
  e->part[i] = i;
  e->a[i] = 1;
  e->b[i] = 0;
  e->queue[end++] = i;
  for (int k = 0; k < end; k++) {
    const int x = e->queue[k];
    for (int q = e->of_start[x]; q < e->of_start[x + 1]; q++) {
      const int r = e->of[q];
      const bool pair = e->row_start[r + 1] - e->row_start[r] <= 2;
      if (!pair) e->general[i] = true;
      for (int c = e->row_start[r]; c < e->row_start[r + 1]; c++) {
        const int y = e->row[c];
        const bool fresh = e->part[y] < 0;
        if (fresh) {
          e->part[y] = i;
          e->queue[end++] = y;
        }
        if (pair && y != x && !follow(e, r, x, y, fresh)) e->general[i] = true;
      }
    }
  }
  e->size[i] = end;
}

// ------------------------------------------ ties ------------------------------------------------

// Bounds of s by those of x_i = a s + b.
static void narrow(djTie* t, double a, double b, double lower, double upper) {
  const double one = (lower - b) / a, other = (upper - b) / a;
  t->low = fmax(t->low, fmin(one, other));
  t->high = fmin(t->high, fmax(one, other));
}

static void makeTie(djFeasible* s, const Entries* e, int part, int* at) {
  djTie* t = &s->tie[s->ntie++];
  *t = (djTie){.first = *at, .low = -INFINITY, .high = INFINITY};
  for (int i = part; i < e->n; i++) {
    if (e->part[i] != part) continue;
    s->tied[*at] = i;
    s->factor[*at] = e->a[i];
    s->shift[*at] = e->b[i];
    t->square += e->a[i] * e->a[i];
    narrow(t, e->a[i], e->b[i], s->lower[i], s->upper[i]);
    for (int q = e->of_start[i]; q < e->of_start[i + 1]; q++) {
      const int r = e->of[q];
      if (e->row_start[r + 1] - e->row_start[r] > 1) continue;
      const double x = e->value[r] / entry(e, r, i); // it alone
      narrow(t, e->a[i], e->b[i], x, x);
    }
    t->slack = fmax(t->slack, ROUNDING * fabs(e->b[i] / e->a[i]));
    t->n++;
    ++*at;
  }
  t->slack += ROUNDING * fmin(fabs(t->low), fabs(t->high));
}

// False: there is no such point.
static bool projectTie(djFeasible* set, const djTie* t, const double* point) {
  double s = 0;
  for (int k = t->first; k < t->first + t->n; k++) {
    s += set->factor[k] * (point[set->tied[k]] - set->shift[k]);
  }
  if (t->low > t->high + t->slack) return false;
  s = within(t->low, s / t->square, t->high);
  for (int k = t->first; k < t->first + t->n; k++) {
    const int i = set->tied[k];
    set->x[i] = within(set->lower[i], set->factor[k] * s + set->shift[k], set->upper[i]);
  }
  return true;
}

// ------------------------------------------ blocks ----------------------------------------------

static djStatus takeBlock(djBlock* b, djPool* pool) {
  const size_t n = (size_t)b->n, m = (size_t)b->nequal;
  struct {
    double** array;
    size_t n;
  } list[] = {{&b->lower, n}, {&b->upper, n}, {&b->equal, m * n},
              {&b->value, m}, {&b->point, n}, {&b->x, n},
              {&b->y, m},     {&b->ytry, m},  {&b->residual, m},
              {&b->H, m * m}, {&b->L, m * m}, {&b->free, m < DJ_MANY_EQUATIONS ? 0 : m * n}};
  b->column = dj_poolTake(pool, n, sizeof *b->column);
  if (!b->column) return DJ_NO_MEMORY;
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    *list[i].array = dj_poolTake(pool, list[i].n, sizeof(double));
    if (!*list[i].array) return DJ_NO_MEMORY;
  }
  return DJ_OK;
}

// Does equation r belong to the part? Those without unknowns: to -1.
static bool isOf(const Entries* e, int r, int part) {
  if (e->row_start[r] == e->row_start[r + 1]) return part < 0;
  return e->part[e->row[e->row_start[r]]] == part;
}

static djStatus makeBlock(djFeasible* s, djPool* pool, Entries* e, int part) {
  djBlock* b = &s->block[s->nblock++];
  b->n = part < 0 ? 0 : e->size[part];
  for (int r = 0; r < e->m; r++) b->nequal += isOf(e, r, part);
  djStatus status = takeBlock(b, pool);
  if (status < 0) return status;
  for (int i = 0, k = 0; i < e->n && k < b->n; i++) {
    if (e->part[i] != part) continue;
    b->column[k] = i;
    e->queue[i] = k;
    b->lower[k] = s->lower[i];
    b->upper[k++] = s->upper[i];
  }
  for (int r = 0, k = 0; r < e->m; r++) {
    if (!isOf(e, r, part)) continue;
    b->value[k] = e->value[r];
    double* row = b->equal + (size_t)k++ * (size_t)b->n;
    for (int c = e->row_start[r]; c < e->row_start[r + 1]; c++) {
      row[e->queue[e->row[c]]] = e->entry[c];
    }
  }
  return DJ_OK;
}

static bool projectColumns(djFeasible* set, djBlock* b, const double* point) {
  for (int i = 0; i < b->n; i++) b->point[i] = point[b->column[i]];
  if (dj_projectBlock(b) < 0) return false;
  for (int i = 0; i < b->n; i++) set->x[b->column[i]] = b->x[i];
  return true;
}

// ------------------------------------------ the set ---------------------------------------------

static djStatus takeParts(djFeasible* s, djPool* pool, const Entries* e) {
  size_t tied = 0, nblock = 1; // one of equations without unknowns
  size_t ntie = 0;
  for (int i = 0; i < e->n; i++) {
    if (e->part[i] != i) continue;
    if (e->general[i])
      nblock++;
    else
      ntie++, tied += (size_t)e->size[i];
  }
  s->tie = dj_poolTake(pool, ntie, sizeof *s->tie);
  s->block = dj_poolTake(pool, nblock, sizeof *s->block);
  s->tied = dj_poolTake(pool, tied, sizeof *s->tied);
  s->factor = dj_poolTake(pool, tied, sizeof *s->factor);
  s->shift = dj_poolTake(pool, tied, sizeof *s->shift);
  return s->tie && s->block && s->tied && s->factor && s->shift ? DJ_OK : DJ_NO_MEMORY;
}

static djStatus makeParts(djFeasible* s, djPool* pool, Entries* e, const int* group) {
  for (int i = 0; i < e->n; i++) e->part[i] = -1;
  for (int i = 0; i < e->n; i++) {
    if (e->part[i] < 0 && e->of_start[i + 1] > e->of_start[i]) findPart(e, i);
  }
  djStatus status = takeParts(s, pool, e);
  for (int i = 0, at = 0; i < e->n && status == DJ_OK; i++) {
    if (e->part[i] >= 0 && group && group[i] != group[e->part[i]]) s->couples = true;
    if (e->part[i] != i) continue;
    if (e->general[i])
      status = makeBlock(s, pool, e, i);
    else
      makeTie(s, e, i, &at);
  }
  for (int r = 0; r < e->m && status == DJ_OK; r++) {
    if (isOf(e, r, -1) && e->value[r] != 0) return makeBlock(s, pool, e, -1);
  }
  return status;
}

djStatus dj_makeFeasible(djFeasible* set, djPool* pool, const double* lower, const double* upper,
                         const djEquations* equations, const int* group) {
  const djEquations* q = equations;
  Entries e = {.n = q->n, .m = q->m, .value = q->value};
  djPool own = {0};
  *set = (djFeasible){.n = q->n, .nequal = q->m, .lower = lower, .upper = upper};
  set->x = dj_poolTake(pool, (size_t)q->n, sizeof *set->x);
  if (!set->x) return DJ_NO_MEMORY;
  if (q->m == 0) return DJ_OK;
  djStatus status = readEntries(&e, &own, q);
  if (status == DJ_OK) status = makeParts(set, pool, &e, group);
  dj_poolFree(&own);
  return status;
}

djStatus dj_project(double* out, djFeasible* s, const double* point) {
  for (int i = 0; i < s->n; i++) s->x[i] = within(s->lower[i], point[i], s->upper[i]);
  for (int k = 0; k < s->ntie; k++) {
    if (projectTie(s, &s->tie[k], point)) continue;
    s->failed = s->tied[s->tie[k].first];
    return DJ_INVALID;
  }
  for (int k = 0; k < s->nblock; k++) {
    if (projectColumns(s, &s->block[k], point)) continue;
    s->failed = s->block[k].n > 0 ? s->block[k].column[0] : -1;
    return DJ_INVALID;
  }
  if (s->n > 0) memcpy(out, s->x, (size_t)s->n * sizeof *out);
  return DJ_OK;
}
