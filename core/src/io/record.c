// Writing records: a listener of a simulation's calls (integrate/recorder.h).
//
// What a call begins with is written as its difference from what the last one ended with, so that
// whatever has changed state and inputs between them is seen. The same is done with the model: its
// struct, pointers included, and a hash of its arrays are compared with those of the model that was
// written last.

#include "base/hash.h"
#include "base/status.h"
#include "integrate/outside.h"
#include "io/model_exact.h"
#include "io/model_save.h"
#include "io/record_row.h"

#include <dijoco/io.h>
#include <dijoco/record.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct djRecord {
  djRecorder listener; // first
  djFile* file;
  char* path;
  djError failure; // that dj_stopRecord tells; "" so far none
  long call;       // number of the last
  bool skips;      // the call under way is not written
  bool stepped;    // a step was, for djd_lastTransition
  // the model that was written last
  const djModel* model;
  djModel struct_of_model; // as it was
  djArray* array;          // (narray) its arrays
  int narray;
  uint64_t hash; // of their contents
  // state and inputs as the file has them
  bool known;
  double* value[DJ_NRECORDROW];
  double* scratch; // room for the largest row
} djRecord;

// ---- lines ------------------------------------------------------------------------------------

static void put(djRecord* r, const char* text) { dj_writeFile(r->file, text, strlen(text)); }

static void putInt(djRecord* r, long value) {
  char text[24];
  snprintf(text, sizeof text, "%ld", value);
  put(r, text);
}

// What is not finite is a text.
static void putNumber(djRecord* r, double value) {
  char text[32];
  const bool finite = isfinite(value);
  if (!finite) put(r, "\"");
  put(r, dj_exactNumber(text, value));
  if (!finite) put(r, "\"");
}

// A name: and numbers.
static void putRow(djRecord* r, const char* name, const double* value, int n) {
  put(r, "\"");
  put(r, name);
  put(r, "\": [");
  for (int i = 0; i < n; i++) {
    if (i > 0) put(r, ", ");
    putNumber(r, value[i]);
  }
  put(r, "]");
}

static void putText(djRecord* r, const char* name, const char* text) {
  put(r, ", \"");
  put(r, name);
  put(r, "\": \"");
  put(r, text);
  put(r, "\"");
}

static void endLine(djRecord* r) {
  put(r, "}\n");
  dj_flushFile(r->file);
}

// Rows that are not as the file has them, and those of results where a step has been taken.
static void putRows(djRecord* r, const char* key, const djModel* m, djData* d, bool results) {
  bool any = false;
  for (int k = 0; k < DJ_NRECORDROW; k++) {
    const bool result = dj_recordRows[k].kind == DJ_RECORD_RESULT;
    if (result && !results) continue;
    const int n = dj_recordRead(r->scratch, k, m, d);
    if (n == 0) continue;
    const size_t bytes = (size_t)n * sizeof(double);
    if (!result && r->known && memcmp(r->scratch, r->value[k], bytes) == 0) continue;
    if (!result) memcpy(r->value[k], r->scratch, bytes);
    if (!any) {
      put(r, ", \"");
      put(r, key);
      put(r, "\": {");
    } else {
      put(r, ", ");
    }
    any = true;
    putRow(r, dj_recordRows[k].name, r->scratch, n);
  }
  if (any) put(r, "}");
}

// ---- the model --------------------------------------------------------------------------------

static uint64_t hashArrays(const djRecord* r) {
  uint64_t hash = 0;
  for (int i = 0; i < r->narray; i++) dj_mixArray(&hash, &r->array[i]);
  return hash;
}

static bool sameModel(const djRecord* r, const djModel* m) {
  return r->model == m && memcmp(&r->struct_of_model, m, sizeof *m) == 0 &&
         hashArrays(r) == r->hash;
}

static void putHashes(djRecord* r) {
  bool any = false;
  put(r, ", \"arrays\": {");
  for (int i = 0; i < r->narray; i++) {
    char hash[17];
    uint64_t mixed = 0;
    if (!dj_isExactArray(dj_modelArrayName(i))) continue;
    dj_mixArray(&mixed, &r->array[i]);
    dj_hashText(hash, mixed);
    put(r, any ? ", \"" : "\"");
    put(r, dj_modelArrayName(i));
    put(r, "\": \"");
    put(r, hash);
    put(r, "\"");
    any = true;
  }
  put(r, "}");
}

static djStatus writeModel(djRecord* r, const djModel* m, djError* err) {
  djText text = {0};
  djStatus status = dj_modelText(&text, m, DJ_WITH_EXACT, err);
  for (int i = 0; i < r->narray; i++) dj_modelArray(&r->array[i], m, dj_modelArrayName(i));
  if (status == DJ_OK) {
    for (char* c = text.data; *c; c++) {
      if (*c == '\n') *c = ' '; // names have none
    }
    put(r, "{\"model\": ");
    dj_writeFile(r->file, text.data, text.length);
    putHashes(r);
    endLine(r);
    r->model = m;
    memcpy(&r->struct_of_model, m, sizeof *m); // padding too
    r->hash = hashArrays(r);
    r->known = r->stepped = false;
  }
  dj_freeText(&text);
  return status;
}

// ---- calls ------------------------------------------------------------------------------------

static void begin(djRecorder* listener, const djModel* m, djData* d, djRecordedCall call) {
  djRecord* r = (djRecord*)listener;
  r->skips = r->failure.text[0] || !dj_fitsSizes(d->work, m) ||
             (call == DJ_CALL_LAST_TRANSITION && !r->stepped);
  if (r->skips) return;
  if (!sameModel(r, m) && writeModel(r, m, &r->failure) < 0) {
    r->skips = true;
    return;
  }
  put(r, "{\"call\": ");
  putInt(r, ++r->call);
  putText(r, "do", dj_recordedCalls[call]);
  putRows(r, "set", m, d, false);
  r->known = true;
  endLine(r);
}

// An error's text, which may be anything.
static void putError(djRecord* r, const char* error) {
  djError plain;
  snprintf(plain.text, sizeof plain.text, "%s", error);
  for (char* c = plain.text; *c; c++) {
    if (*c < 32 || *c > 126 || *c == '"' || *c == '\\') *c = '\'';
  }
  putText(r, "error", plain.text);
}

static void end(djRecorder* listener, const djModel* m, djData* d, djRecordedCall call,
                djCallEnd e) {
  djRecord* r = (djRecord*)listener;
  if (r->skips) return;
  put(r, "{\"end\": ");
  putInt(r, r->call);
  put(r, ", \"status\": ");
  putInt(r, e.status);
  if (e.status < 0) putError(r, dj_errorText(d));
  putRows(r, "now", m, d, call == DJ_CALL_STEP && e.status >= 0);
  for (int k = 0; k < DJ_NRECORDHASH; k++) {
    char hash[17];
    if (dj_recordHash(hash, k, m, d, call, e)) putText(r, dj_recordHashes[k], hash);
  }
  endLine(r);
  if (call == DJ_CALL_STEP) r->stepped = true;
}

// ---- beginning and end -------------------------------------------------------------------------

static void freeRecord(djRecord* r) {
  free(r->path);
  free(r->array);
  free(r->scratch);
  free(r);
}

static void release(djRecorder* listener) {
  djRecord* r = (djRecord*)listener;
  dj_discardFile(r->file); // all is flushed
  freeRecord(r);
}

// Memory for all that a call of data writes. Rows are one after the other behind the scratch.
static djRecord* makeRecord(const djModel* m, djData* d, const char* path) {
  djRecord* r = calloc(1, sizeof *r);
  if (!r) return NULL;
  size_t most = 1, sum = 0, kept = (size_t)d->work->sizes.nhistory;
  for (int k = 0; k < DJ_NRECORDROW; k++) {
    size_t n = (size_t)dj_recordSize(k, m, d) + kept + 1;
    sum += n;
    if (n > most) most = n;
  }
  while (dj_modelArrayName(r->narray)) r->narray++;
  r->array = calloc((size_t)r->narray, sizeof *r->array);
  r->scratch = calloc(most + sum, sizeof(double));
  r->path = dj_joinPath("", path);
  if (!r->array || !r->scratch || !r->path) {
    freeRecord(r);
    return NULL;
  }
  double* next = r->scratch + most;
  for (int k = 0; k < DJ_NRECORDROW; k++) {
    r->value[k] = next;
    next += (size_t)dj_recordSize(k, m, d) + kept + 1;
  }
  r->listener = (djRecorder){begin, end, release};
  return r;
}

djStatus dj_startRecord(djData* d, const djModel* m, const char* path, djError* err) {
  if (!d || !m || !path) return dj_fail(err, DJ_INVALID, "data, model or path: NULL");
  if (d->work->recorder) return dj_fail(err, DJ_INVALID, "data: is being recorded");
  if (dj_isOutside(m)) {
    return dj_fail(err, DJ_UNSUPPORTED, "%.300s: contact mujoco is not recorded", path);
  }
  djStatus fits = dj_checkData(m, d);
  if (fits < 0) return dj_fail(err, fits, "%s", dj_errorText(d));
  djRecord* r = makeRecord(m, d, path);
  if (!r) return dj_failMemory(err);
  djStatus status = dj_openLog(&r->file, path, err);
  if (status < 0) {
    freeRecord(r);
    return status;
  }
  char origin[DJ_RECORD_ORIGIN];
  dj_recordOrigin(origin);
  put(r, "{\"dijoco_record\": 1, ");
  put(r, origin);
  endLine(r);
  status = writeModel(r, m, err);
  if (status < 0) {
    release(&r->listener);
    return status;
  }
  d->work->recorder = &r->listener;
  return DJ_OK;
}

djStatus dj_startRecordBeside(djData* d, const djModel* m, const char* path, djError* err) {
  djStatus status = dj_startRecord(d, m, path, err);
  if (status != DJ_FILE) return status;
  const size_t size = strlen(path) + 8;
  char* other = malloc(size);
  if (!other) return dj_failMemory(err);
  djStatus next = status;
  for (int k = 2; k < 100 && next == DJ_FILE; k++) {
    djError unused;
    snprintf(other, size, "%s.%d", path, k);
    next = dj_startRecord(d, m, other, &unused);
  }
  free(other);
  return next == DJ_OK ? next : status;
}

const char* dj_recordPath(const djData* d) {
  return d && d->work->recorder ? ((const djRecord*)d->work->recorder)->path : NULL;
}

void dj_moveRecord(djData* d, djData* from) {
  if (!d || !from || d->work->recorder) return;
  d->work->recorder = from->work->recorder;
  from->work->recorder = NULL;
}

djStatus dj_stopRecord(djData* d, djError* err) {
  if (!d) return dj_fail(err, DJ_INVALID, "data: NULL");
  djRecord* r = (djRecord*)d->work->recorder;
  if (!r) return DJ_OK;
  d->work->recorder = NULL;
  djStatus status = dj_finishFile(r->file, err);
  if (status == DJ_OK && r->failure.text[0]) {
    status = dj_fail(err, DJ_FILE, "%.200s: a model could not be written: %.250s", r->path,
                     r->failure.text);
  }
  release(&r->listener);
  return status;
}
