#include "io/record_row.h"

#include "base/hash.h"
#include "io/text.h"
#include "math/blas.h"

#include <stdio.h>
#include <string.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

const djRecordRow dj_recordRows[DJ_NRECORDROW] = {
    {"time", DJ_RECORD_FIELD},
    {"gravity_scale", DJ_RECORD_FIELD},
    {"qpos", DJ_RECORD_FIELD},
    {"qvel", DJ_RECORD_FIELD},
    {"act", DJ_RECORD_FIELD},
    {"ctrl", DJ_RECORD_FIELD},
    {"qfrc_applied", DJ_RECORD_FIELD},
    {"xfrc_applied", DJ_RECORD_FIELD},
    {"mocap_pos", DJ_RECORD_FIELD},
    {"mocap_quat", DJ_RECORD_FIELD},
    {"mocap_last_pos", DJ_RECORD_FIELD},
    {"mocap_last_quat", DJ_RECORD_FIELD},
    {"eq_active", DJ_RECORD_FIELD},
    {"refinement_steps", DJ_RECORD_REFINEMENT},
    {"history", DJ_RECORD_HISTORY},
    {"has_history", DJ_RECORD_HAS_HISTORY},
    {"stats.iterations", DJ_RECORD_RESULT},
    {"stats.recovering", DJ_RECORD_RESULT},
    {"stats.residual", DJ_RECORD_RESULT},
    {"stats.gap", DJ_RECORD_RESULT},
    {"stats.overlap", DJ_RECORD_RESULT},
    {"npair", DJ_RECORD_RESULT},
};

const char* const dj_recordedCalls[DJ_NCALL] = {"forward", "step", "transition", "last_transition"};
const char* const dj_recordHashes[DJ_NRECORDHASH] = {"poses", "contacts", "A", "B"};

static djArray arrayOf(int row, const djModel* m, djData* d) {
  djArray a = {0};
  if (dj_recordRows[row].kind == DJ_RECORD_REFINEMENT) {
    int* place = &d->work->refinement_steps;
    return (djArray){place, DJ_ARRAY_INT, 1, 1, sizeof *place};
  }
  dj_dataArray(&a, m, d, dj_recordRows[row].name);
  return a;
}

int dj_recordSize(int row, const djModel* m, djData* d) {
  if (dj_recordRows[row].kind == DJ_RECORD_HAS_HISTORY) return dj_historySize(m) > 0;
  djArray a = arrayOf(row, m, d);
  return a.rows * a.columns;
}

int dj_recordRead(double* value, int row, const djModel* m, djData* d) {
  const djRecordKind kind = dj_recordRows[row].kind;
  if (kind == DJ_RECORD_HAS_HISTORY) {
    if (dj_historySize(m) == 0) return 0;
    *value = dj_hasHistory(m, d);
    return 1;
  }
  const djArray a = arrayOf(row, m, d);
  const int n = a.rows * a.columns;
  if (n == 0) return 0;
  if (kind == DJ_RECORD_HISTORY && !dj_hasHistory(m, d)) {
    memset(value, 0, (size_t)n * sizeof *value);
  } else if (a.type == DJ_ARRAY_DOUBLE) {
    memcpy(value, a.data, (size_t)n * sizeof *value);
  } else {
    for (int i = 0; i < n; i++) value[i] = ((const int*)a.data)[i];
  }
  return n;
}

void dj_recordWrite(djData* d, int row, const djModel* m, const double* value) {
  if (dj_recordRows[row].kind == DJ_RECORD_HAS_HISTORY) {
    if (dj_historySize(m) > 0) dj_markHistory(m, d, *value != 0);
    return;
  }
  const djArray a = arrayOf(row, m, d);
  const int n = a.rows * a.columns;
  if (n == 0) return;
  if (a.type == DJ_ARRAY_DOUBLE) {
    memcpy(a.data, value, (size_t)n * sizeof *value);
  } else {
    for (int i = 0; i < n; i++) ((int*)a.data)[i] = (int)value[i];
  }
}

// ---- the model --------------------------------------------------------------------------------

static size_t rowBytes(const djArray* a) {
  static const size_t sizes[] = {sizeof(double), sizeof(int), sizeof(long), sizeof(bool), 1};
  return sizes[a->type] * (size_t)a->columns;
}

static char* rowOf(const djArray* a, int row) {
  return (char*)a->data + (size_t)row * (size_t)a->stride;
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

// What the compiler was told to use. DJ_FP_CONTRACT is its -ffp-contract.
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
           dj_version(), COMPILER OPTIMISED FUSED WIDE FAST " contract=" DJ_FP_CONTRACT, processor(), library, dj_blasKind());
}
