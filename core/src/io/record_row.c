#include "io/record_row.h"

#include "base/hash.h"
#include "io/text.h"
#include "math/blas.h"

#include <stdio.h>
#include <string.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

// A history belongs to the state that it was marked with: that is set last. refinement_steps are
// those that rollouts ask for.
#define HAS_HISTORY "has_history"
#define REFINEMENT "refinement_steps"

const djRecordRow dj_recordRows[DJ_NRECORDROW] = {
    {"time", false},
    {"gravity_scale", false},
    {"qpos", false},
    {"qvel", false},
    {"act", false},
    {"ctrl", false},
    {"qfrc_applied", false},
    {"xfrc_applied", false},
    {"mocap_pos", false},
    {"mocap_quat", false},
    {"mocap_last_pos", false},
    {"mocap_last_quat", false},
    {"eq_active", false},
    {REFINEMENT, false},
    {"history", false},
    {HAS_HISTORY, false},
    {"stats.iterations", true},
    {"stats.recovering", true},
    {"stats.residual", true},
    {"stats.gap", true},
    {"stats.overlap", true},
    {"npair", true},
};

const char* const dj_recordedCalls[DJ_NCALL] = {"forward", "step", "transition", "last_transition"};
const char* const dj_recordHashes[DJ_NRECORDHASH] = {"poses", "contacts", "A", "B"};

static bool is(int row, const char* name) { return strcmp(dj_recordRows[row].name, name) == 0; }

static djArray arrayOf(int row, const djModel* m, djData* d) {
  djArray a = {0};
  if (is(row, REFINEMENT)) {
    int* place = &d->work->refinement_steps;
    return (djArray){place, DJ_ARRAY_INT, 1, 1, sizeof *place};
  }
  dj_dataArray(&a, m, d, dj_recordRows[row].name);
  return a;
}

int dj_recordSize(int row, const djModel* m, djData* d) {
  if (is(row, HAS_HISTORY)) return dj_historySize(m) > 0;
  djArray a = arrayOf(row, m, d);
  return a.rows * a.columns;
}

void dj_recordRead(double* value, int row, const djModel* m, djData* d) {
  int n = dj_recordSize(row, m, d);
  if (n == 0) return;
  if (is(row, HAS_HISTORY)) {
    *value = dj_hasHistory(m, d);
    return;
  }
  djArray a = arrayOf(row, m, d);
  if (is(row, "history") && !dj_hasHistory(m, d))
    memset(value, 0, (size_t)n * sizeof *value);
  else if (a.type == DJ_ARRAY_DOUBLE)
    memcpy(value, a.data, (size_t)n * sizeof *value);
  else
    for (int i = 0; i < n; i++) value[i] = ((const int*)a.data)[i];
}

void dj_recordWrite(djData* d, int row, const djModel* m, const double* value) {
  int n = dj_recordSize(row, m, d);
  if (n == 0) return;
  if (is(row, HAS_HISTORY)) {
    dj_markHistory(m, d, *value != 0);
    return;
  }
  djArray a = arrayOf(row, m, d);
  if (a.type == DJ_ARRAY_DOUBLE)
    memcpy(a.data, value, (size_t)n * sizeof *value);
  else
    for (int i = 0; i < n; i++) ((int*)a.data)[i] = (int)value[i];
}

// ---- the model --------------------------------------------------------------------------------

bool dj_recordedArray(const char* name) {
  return strcmp(name, "nsetting") != 0 && strcmp(name, "defaults_kept") != 0 &&
         strncmp(name, "setting_", 8) != 0;
}

static size_t rowBytes(const djArray* a) {
  static const size_t sizes[] = {sizeof(double), sizeof(int), sizeof(long), sizeof(bool), 1};
  return sizes[a->type] * (size_t)a->columns;
}

static char* rowOf(const djArray* a, int row) {
  return (char*)a->data + (size_t)row * (size_t)a->stride;
}

bool dj_fitsArray(const djArray* a, const djArray* b) {
  return a->type == b->type && a->rows == b->rows && a->columns == b->columns &&
         a->type == DJ_ARRAY_DOUBLE;
}

bool dj_sameArray(const djArray* a, const djArray* b) {
  if (a->type != b->type || a->rows != b->rows || a->columns != b->columns) return false;
  for (int i = 0; i < a->rows; i++) {
    if (memcmp(rowOf(a, i), rowOf(b, i), rowBytes(a)) != 0) return false;
  }
  return true;
}

double dj_arrayNumber(const djArray* a, int i) {
  return ((const double*)(const void*)rowOf(a, i / a->columns))[i % a->columns];
}

void dj_setArrayNumber(djArray* a, int i, double value) {
  ((double*)(void*)rowOf(a, i / a->columns))[i % a->columns] = value;
}

// ---- hashes -----------------------------------------------------------------------------------

void dj_hashText(char text[17], uint64_t hash) {
  static const char digit[] = "0123456789abcdef";
  for (int i = 15; i >= 0; i--, hash >>= 4) text[i] = digit[hash & 15];
  text[16] = 0;
}

void dj_mixArray(uint64_t* hash, const djArray* a) {
  const size_t bytes = rowBytes(a);
  if ((size_t)a->stride == bytes || a->rows <= 1) {
    dj_mixBytes(hash, a->data, bytes * (size_t)a->rows);
    return;
  }
  for (int i = 0; i < a->rows; i++) dj_mixBytes(hash, rowOf(a, i), bytes);
}

static void mixFields(uint64_t* hash, const char* const* name, const djModel* m, djData* d) {
  djArray a;
  for (; *name; name++) {
    dj_dataArray(&a, m, d, *name);
    dj_mixArray(hash, &a);
  }
}

bool dj_recordHash(char text[17], int hash, const djModel* m, djData* d, djRecordedCall call,
                   djCallEnd end) {
  static const char* const poses[] = {"xpos",      "xquat",     "xmat",      "xipos",
                                      "site_xpos", "geom_xpos", "geom_xmat", NULL};
  static const char* const energy[] = {"energy", NULL};
  static const char* const contacts[] = {"contact.body1",
                                         "contact.body2",
                                         "contact.force",
                                         "contact.torque",
                                         "pair.geom1",
                                         "pair.geom2",
                                         "pair.gap",
                                         "pair.normal",
                                         "pair.point",
                                         "pair.force",
                                         "pair.normal_force",
                                         "pair.recovering",
                                         NULL};
  const bool moves = call == DJ_CALL_STEP || call == DJ_CALL_FORWARD;
  const size_t nx = (size_t)dj_tangentSize(m), nu = (size_t)m->nu;
  const double* matrix = hash == DJ_RECORD_A ? end.A : end.B;
  uint64_t mixed = 0;
  if (end.status < 0) return false;
  switch (hash) {
    case DJ_RECORD_POSES:
      if (!moves) return false;
      mixFields(&mixed, poses, m, d);
      if (call == DJ_CALL_FORWARD) mixFields(&mixed, energy, m, d);
      break;
    case DJ_RECORD_CONTACTS:
      if (call != DJ_CALL_STEP) return false;
      mixFields(&mixed, contacts, m, d);
      break;
    default:
      if (moves || !matrix || end.status == DJ_SINGULAR) return false;
      dj_mixNumbers(&mixed, matrix, nx * (hash == DJ_RECORD_A ? nx : nu));
  }
  dj_hashText(text, mixed);
  return true;
}

// ---- origin -----------------------------------------------------------------------------------

// What the compiler was told to use, and what there is of it.
#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif
#ifdef __OPTIMIZE__
#define OPTIMISED " optimised"
#else
#define OPTIMISED ""
#endif
#ifdef __FMA__
#define FUSED " fma"
#else
#define FUSED ""
#endif
#ifdef __AVX2__
#define WIDE " avx2"
#else
#define WIDE ""
#endif
#ifdef __FAST_MATH__
#define FAST " fast-math"
#else
#define FAST ""
#endif

static const char* processor(void) {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f")) return "x86_64 avx512f";
  if (__builtin_cpu_supports("avx2")) return "x86_64 avx2";
  return "x86_64";
#elif defined __aarch64__
  return "aarch64";
#else
  return "other";
#endif
}

void dj_recordOrigin(char text[DJ_RECORD_ORIGIN]) {
  const char* library = "";
#ifdef __GLIBC__
  library = gnu_get_libc_version();
#endif
  snprintf(text, DJ_RECORD_ORIGIN,
           "\"version\": \"%s\", \"compiler\": \"%.100s\", \"processor\": \"%s\", "
           "\"libraries\": \"libc %.20s, %.120s\"",
           dj_version(), COMPILER OPTIMISED FUSED WIDE FAST, processor(), library, dj_blasKind());
}
