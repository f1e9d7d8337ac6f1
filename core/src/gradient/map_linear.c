// Maps that are linear in z: affine and shared.

#include "base/status.h"
#include "gradient/map.h"

#include <string.h>

// ---- affine: out = M z + o

typedef struct djAffine {
  const double* matrix;  // (nout x nz), or NULL: the identity
  const double* offset;  // (nout), or NULL
} djAffine;

static djStatus makeAffine(djMap* map, const djMapMaking* making) {
  const djMapArg *matrix = &making->given->arg[0], *offset = &making->given->arg[1];
  djAffine* a = dj_poolTake(making->pool, 1, sizeof *a);
  if (!a) return dj_failMemory(making->err);
  if (matrix->given && (matrix->rows != map->nout || matrix->columns != map->nz)) {
    return dj_fail(making->err, DJ_INVALID, "matrix: must be %d x %d numbers", map->nout, map->nz);
  }
  if (offset->given && offset->columns != map->nout) {
    return dj_fail(making->err, DJ_INVALID, "offset: must be %d numbers", map->nout);
  }
  if (!matrix->given) {
    djStatus status = dj_checkFrom(map, map->nout, making);
    if (status < 0) return status;
  }
  a->matrix = matrix->given ? matrix->number : NULL;
  a->offset = offset->given ? offset->number : NULL;
  map->detail = a;
  return DJ_OK;
}

static void applyAffine(double* out, const djMap* map, const double* z, double* work) {
  (void)work;
  const djAffine* a = map->detail;
  for (int i = 0; i < map->nout; i++) {
    double sum = a->matrix ? 0 : z[i];
    const double* row = a->matrix ? a->matrix + (size_t)i * (size_t)map->nz : NULL;
    for (int j = 0; j < map->nz && row; j++) sum += row[j] * z[j];
    out[i] = sum + (a->offset ? a->offset[i] : 0);
  }
}

static void vjpAffine(double* dz, const djMap* map, const double* z, const double* dout,
                      double* work) {
  (void)z;
  (void)work;
  const djAffine* a = map->detail;
  for (int i = 0; i < map->nout; i++) {
    if (!a->matrix) dz[i] += dout[i];
    const double* row = a->matrix ? a->matrix + (size_t)i * (size_t)map->nz : NULL;
    for (int j = 0; j < map->nz && row; j++) dz[j] += row[j] * dout[i];
  }
}

// Every step has the same block of the matrix, and of the offset.
static bool isRegular(const djAffine* a, const djMapReceding* r) {
  size_t nu = r->nu, columns = r->numbers, steps = r->horizon, nz = steps * columns;
  for (size_t i = 0; i < steps * nu && a->matrix; i++) {
    for (size_t j = 0; j < nz; j++) {
      bool own = i / nu == j / columns;
      if (a->matrix[i * nz + j] != (own ? a->matrix[i % nu * nz + j % columns] : 0)) return false;
    }
  }
  for (size_t i = 0; i < steps * nu && a->offset; i++) {
    if (a->offset[i] != a->offset[i % nu]) return false;
  }
  return true;
}

static djStatus recedeAffine(djMap* map, djMapReceding* r) {
  const djAffine* a = map->detail;
  r->steps = 1;
  r->numbers = map->nz / r->horizon;
  if (map->nz % r->horizon != 0 || !isRegular(a, r)) {
    return dj_fail(r->err, DJ_UNSUPPORTED, "matrix or offset: not the same for every step");
  }
  size_t nout = (size_t)r->window * (size_t)r->nu, nz = (size_t)r->window * (size_t)r->numbers;
  djAffine* own = dj_poolTake(r->pool, 1, sizeof *own);
  double* matrix = a->matrix ? dj_poolTake(r->pool, nout * nz, sizeof *matrix) : NULL;
  if (!own || (a->matrix && !matrix)) return dj_failMemory(r->err);
  for (size_t i = 0; i < nout && matrix && nz > 0; i++) {
    memcpy(matrix + i * nz, a->matrix + i * (size_t)map->nz, nz * sizeof *matrix);
  }
  *own = (djAffine){matrix, a->offset};
  map->detail = own;
  return DJ_OK;
}

const djMapType dj_mapAffine = {
    {.name = "affine", .unit = "",
     .help = "the values of `to`, one after the other, = matrix z + offset",
     .key = (const djKey[]){{"matrix", DJ_HOLDS_ROWS, 0, DJ_NOBJ, false, "", "the identity"},
                            {"offset", DJ_HOLDS_NUMBERS, 0, DJ_NOBJ, false, "", "0"},
                            {0}}},
    DJ_MAPTO_ANY, false, false, makeAffine, applyAffine, vjpAffine, recedeAffine, NULL};

// ---- shared: every target = z

static djStatus makeShared(djMap* map, const djMapMaking* making) {
  for (int i = 0; i < map->ntarget; i++) {
    if (map->target[i].n == map->nz) continue;
    return dj_fail(making->err, DJ_INVALID, "to: '%.100s' is %d numbers, '%.100s' is %d",
                   making->given->to[i], map->target[i].n, making->given->from, map->nz);
  }
  return DJ_OK;
}

static void applyShared(double* out, const djMap* map, const double* z, double* work) {
  (void)work;
  size_t n = (size_t)map->nz;
  for (int i = 0; i < map->ntarget && n > 0; i++) memcpy(out + (size_t)i * n, z, n * sizeof *z);
}

static void vjpShared(double* dz, const djMap* map, const double* z, const double* dout,
                      double* work) {
  (void)z;
  (void)work;
  for (int i = 0; i < map->ntarget; i++) {
    for (int k = 0; k < map->nz; k++) dz[k] += dout[(size_t)i * (size_t)map->nz + (size_t)k];
  }
}

static djStatus recedeShared(djMap* map, djMapReceding* receding) {
  (void)map;
  receding->steps = 1;
  receding->numbers = receding->nu;
  return DJ_OK;
}

const djMapType dj_mapShared = {
    {.name = "shared", .unit = "", .help = "each parameter of `to` = z",
     .key = (const djKey[]){{0}}},
    DJ_MAPTO_ANY, false, false, makeShared, applyShared, vjpShared, recedeShared, NULL};
