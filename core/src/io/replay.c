// Repeating records: what each line says is set and done, and what comes of it compared.

#include "base/status.h"
#include "io/json.h"
#include "io/record_row.h"
#include "io/text.h"

#include <dijoco/gradient.h>
#include <dijoco/io.h>
#include <dijoco/record.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct djReplay {
  char* path;
  char* text;
  size_t length, at;     // of the next line
  long line, call, step; // of those that have been read
  char writer[DJ_RECORD_ORIGIN], reader[DJ_RECORD_ORIGIN];
  djModel* model;
  djData* data;
  double* memory;               // of the following
  double* value[DJ_NRECORDROW]; // what the record has
  double* found;                // room for the largest row
  double *A, *B;
};

// ---- lines ------------------------------------------------------------------------------------

static djStatus failLine(const djReplay* r, djStatus status, djError* err) {
  char where[600];
  snprintf(where, sizeof where, "%.500s: line %ld", r->path, r->line);
  return dj_prefix(err, status, where);
}

// The next line; *root NULL: there is none.
static djStatus nextLine(cJSON** root, djReplay* r, djError* err) {
  *root = NULL;
  if (r->at >= r->length) return DJ_OK;
  const char* line = r->text + r->at;
  const char* end = memchr(line, '\n', r->length - r->at);
  r->line++;
  if (!end) {
    dj_fail(err, DJ_INVALID, "is cut off; the %ld calls before it are whole", r->call);
    return failLine(r, DJ_INVALID, err);
  }
  r->at += (size_t)(end - line) + 1;
  djStatus status = dj_parseJson(root, line, (size_t)(end - line), err);
  return status < 0 ? failLine(r, status, err) : status;
}

// Whether the next line is the end of a call, or there is none that is whole.
static bool endFollows(const djReplay* r) {
  return r->at < r->length && memchr(r->text + r->at, '\n', r->length - r->at);
}

// A member that is an integer from `least` on.
static djStatus readInteger(long* value, const cJSON* root, const char* key, int least,
                            djError* err) {
  const djAt at = {err, ""};
  const cJSON* item = dj_jsonGet(root, key);
  int number = 0;
  if (!item) return dj_jsonFail(&at, key, "is missing");
  djStatus status = dj_jsonInt(&number, item, &at);
  if (status == DJ_OK && number < least) status = dj_jsonFail(&at, key, "is too small");
  *value = number;
  return status;
}

// Exactly n numbers, which may be infinite or none.
static djStatus readNumbers(double* value, int n, const cJSON* item, const djAt* at) {
  const cJSON* c = cJSON_IsArray(item) ? item->child : NULL;
  for (int i = 0; i < n; i++, c = c->next) {
    if (!c) return dj_jsonFail(at, item->string, "has too few numbers");
    if (cJSON_IsNumber(c))
      value[i] = c->valuedouble;
    else if (!cJSON_IsString(c))
      return dj_jsonFail(at, item->string, "expected numbers");
    else if (strcmp(c->valuestring, "nan") == 0)
      value[i] = NAN;
    else if (strcmp(c->valuestring, "inf") == 0)
      value[i] = INFINITY;
    else if (strcmp(c->valuestring, "-inf") == 0)
      value[i] = -INFINITY;
    else
      return dj_jsonFail(at, item->string, "expected numbers");
  }
  return c ? dj_jsonFail(at, item->string, "has too many numbers") : DJ_OK;
}

// ---- differences ------------------------------------------------------------------------------

static bool sameNumber(double a, double b) {
  return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0;
}

static void differ(djReplayCall* c, const char* array, int entry, const char* recorded,
                   const char* found) {
  if (c->differs) return;
  c->differs = true;
  c->entry = entry;
  snprintf(c->array, sizeof c->array, "%.63s", array);
  snprintf(c->recorded, sizeof c->recorded, "%.127s", recorded);
  snprintf(c->found, sizeof c->found, "%.127s", found);
}

static void compareRow(djReplayCall* c, djReplay* r, int row) {
  const int n = dj_recordRead(r->found, row, r->model, r->data);
  for (int i = 0; i < n; i++) {
    char recorded[32], found[32];
    if (sameNumber(r->value[row][i], r->found[i])) continue;
    dj_exactNumber(recorded, r->value[row][i]);
    dj_exactNumber(found, r->found[i]);
    differ(c, dj_recordRows[row].name, i, recorded, found);
    return;
  }
}

// ---- the model --------------------------------------------------------------------------------

static djStatus makeRoom(djReplay* r, djError* err) {
  size_t nx = (size_t)dj_tangentSize(r->model), nu = (size_t)r->model->nu, most = 1, sum = 0;
  for (int k = 0; k < DJ_NRECORDROW; k++) {
    size_t n = (size_t)dj_recordSize(k, r->model, r->data) + 1;
    sum += n;
    if (n > most) most = n;
  }
  r->memory = calloc(sum + most + nx * (nx + nu) + 1, sizeof(double));
  if (!r->memory) return dj_failMemory(err);
  double* next = r->memory;
  for (int k = 0; k < DJ_NRECORDROW; k++) {
    r->value[k] = next;
    next += (size_t)dj_recordSize(k, r->model, r->data) + 1;
  }
  r->found = next;
  r->A = next + most;
  r->B = r->A + nx * nx;
  for (int k = 0; k < DJ_NRECORDROW; k++) dj_recordRead(r->value[k], k, r->model, r->data);
  return DJ_OK;
}

static void forgetModel(djReplay* r) {
  dj_deleteData(r->data);
  dj_deleteModel(r->model);
  free(r->memory);
  r->data = NULL;
  r->model = NULL;
  r->memory = NULL;
}

static void compareArray(djReplayCall* c, const djModel* m, const char* name,
                         const char* recorded) {
  djArray a;
  char found[17] = "none";
  if (dj_modelArray(&a, m, name) == DJ_OK) {
    uint64_t hash = 0;
    dj_mixArray(&hash, &a);
    dj_hashText(found, hash);
  }
  if (strcmp(found, recorded) != 0) differ(c, name, -1, recorded, found);
}

static djStatus readModelLine(djReplayCall* c, djReplay* r, const cJSON* root, djError* err) {
  static const char* const keys[] = {"model", "arrays", NULL};
  const djAt at = {err, ""};
  djStatus status = dj_jsonKeys(root, keys, &at);
  const cJSON* arrays = dj_jsonGet(root, "arrays");
  if (status == DJ_OK && !cJSON_IsObject(arrays)) {
    status = dj_jsonFail(&at, "arrays", "must be an object");
  }
  if (status < 0) return status;
  forgetModel(r);
  status = dj_readModel(&r->model, dj_jsonGet(root, "model"), NULL, err);
  if (status == DJ_OK) status = dj_makeData(&r->data, r->model, err);
  if (status == DJ_OK) status = makeRoom(r, err);
  c->what = "model";
  for (const cJSON* a = arrays->child; a && status == DJ_OK; a = a->next) {
    const char* hash;
    status = dj_jsonText(&hash, a, &at);
    if (status == DJ_OK) compareArray(c, r->model, a->string, hash);
  }
  if (status < 0) forgetModel(r);
  return status;
}

// ---- calls ------------------------------------------------------------------------------------

// Members of an object into the rows that they name.
static djStatus readRows(djReplay* r, bool given[DJ_NRECORDROW], const cJSON* object, bool results,
                         const djAt* at) {
  if (!cJSON_IsObject(object)) return dj_jsonFail(at, NULL, "must be an object");
  for (const cJSON* item = object->child; item; item = item->next) {
    int k = 0;
    while (k < DJ_NRECORDROW && strcmp(dj_recordRows[k].name, item->string) != 0) k++;
    if (k == DJ_NRECORDROW || (dj_recordRows[k].kind == DJ_RECORD_RESULT && !results)) {
      return dj_jsonFail(at, item->string, "is not known");
    }
    int n = dj_recordSize(k, r->model, r->data);
    djStatus status = readNumbers(r->value[k], n, item, at);
    const bool integers =
        dj_recordRows[k].kind == DJ_RECORD_REFINEMENT || strcmp(item->string, "eq_active") == 0;
    for (int i = 0; i < n && integers && status == DJ_OK; i++) {
      double v = r->value[k][i];
      if (!(v >= 0 && v <= 1000)) status = dj_jsonFail(at, item->string, "must be in 0..1000");
    }
    if (status < 0) return status;
    given[k] = true;
  }
  return DJ_OK;
}

static djStatus make(djReplay* r, djRecordedCall call) {
  switch (call) {
    case DJ_CALL_FORWARD:
      return dj_forward(r->model, r->data);
    case DJ_CALL_STEP:
      return dj_step(r->model, r->data);
    case DJ_CALL_TRANSITION:
      return djd_transition(r->model, r->data, r->A, r->B);
    default:
      return djd_lastTransition(r->model, r->data, r->A, r->B);
  }
}

static void compareStatus(djReplayCall* c, const djReplay* r, long status, const cJSON* error) {
  char recorded[128], found[128];
  if (status == (long)c->status) return;
  const char* text = cJSON_IsString(error) ? error->valuestring : "";
  snprintf(recorded, sizeof recorded, "%ld%s%.100s", status, *text ? ": " : "", text);
  text = c->status < 0 ? dj_errorText(r->data) : "";
  snprintf(found, sizeof found, "%d%s%.100s", (int)c->status, *text ? ": " : "", text);
  differ(c, "status", -1, recorded, found);
}

static djStatus readEnd(djReplayCall* c, djReplay* r, djRecordedCall call, const cJSON* root,
                        djError* err) {
  static const char* const keys[] = {"end",      "status", "error", "now", "poses",
                                     "contacts", "A",      "B",     NULL};
  const djAt at = {err, ""}, now = {err, "now"};
  bool given[DJ_NRECORDROW] = {false};
  long number = 0, status = 0;
  djStatus read = dj_jsonKeys(root, keys, &at);
  if (read == DJ_OK) read = readInteger(&number, root, "end", 1, err);
  if (read == DJ_OK) read = readInteger(&status, root, "status", -100, err);
  if (read == DJ_OK && number != r->call) read = dj_jsonFail(&at, "end", "is of another call");
  const cJSON* item = dj_jsonGet(root, "now");
  if (read == DJ_OK && item) read = readRows(r, given, item, call == DJ_CALL_STEP, &now);
  if (read < 0) return read;
  compareStatus(c, r, status, dj_jsonGet(root, "error"));
  for (int k = 0; k < DJ_NRECORDROW; k++) {
    if (dj_recordRows[k].kind != DJ_RECORD_RESULT || given[k]) compareRow(c, r, k);
  }
  const djCallEnd end = {c->status, r->A, r->B};
  for (int k = 0; k < DJ_NRECORDHASH; k++) {
    char found[17];
    const char* recorded;
    item = dj_jsonGet(root, dj_recordHashes[k]);
    if (!item) continue;
    if (dj_jsonText(&recorded, item, &at) < 0) return DJ_INVALID;
    if (!dj_recordHash(found, k, r->model, r->data, call, end)) strcpy(found, "none");
    if (strcmp(recorded, found) != 0) differ(c, dj_recordHashes[k], -1, recorded, found);
  }
  return DJ_OK;
}

static djStatus readCall(djReplayCall* c, djReplay* r, const cJSON* root, djRecordedCall* call,
                         djError* err) {
  static const char* const keys[] = {"call", "do", "set", NULL};
  const djAt at = {err, ""}, set = {err, "set"};
  bool given[DJ_NRECORDROW] = {false};
  const char* name = "";
  long number = 0;
  int which = 0;
  djStatus status = dj_jsonKeys(root, keys, &at);
  if (status == DJ_OK && !r->model) status = dj_jsonFail(&at, NULL, "no model before it");
  if (status == DJ_OK) status = readInteger(&number, root, "call", 1, err);
  if (status == DJ_OK && number != r->call + 1) {
    status = dj_fail(err, DJ_INVALID, "call: expected %ld", r->call + 1);
  }
  const cJSON* item = dj_jsonGet(root, "do");
  if (status == DJ_OK && !item) status = dj_jsonFail(&at, "do", "is missing");
  if (status == DJ_OK) status = dj_jsonText(&name, item, &at);
  while (which < DJ_NCALL && strcmp(dj_recordedCalls[which], name) != 0) which++;
  if (status == DJ_OK && which == DJ_NCALL) status = dj_jsonFail(&at, "do", "is not known");
  item = dj_jsonGet(root, "set");
  if (status == DJ_OK && item) status = readRows(r, given, item, false, &set);
  if (status < 0) return status;
  for (int k = 0; k < DJ_NRECORDROW; k++) {
    const bool marks = item && dj_recordRows[k].kind == DJ_RECORD_HAS_HISTORY;
    if (given[k] || marks) dj_recordWrite(r->data, k, r->model, r->value[k]);
  }
  *call = (djRecordedCall)which;
  c->what = dj_recordedCalls[which];
  r->call++;
  c->status = make(r, *call);
  if (*call == DJ_CALL_STEP) r->step++;
  return DJ_OK;
}

djStatus dj_nextReplay(djReplayCall* c, djReplay* r, djError* err) {
  if (!c || !r) return dj_fail(err, DJ_INVALID, "call or replay: NULL");
  *c = (djReplayCall){.ended = true, .entry = -1, .status = DJ_OK};
  cJSON* root;
  djRecordedCall call;
  djStatus status = nextLine(&root, r, err);
  if (status < 0 || !root) return status;
  const bool model = dj_jsonGet(root, "model");
  status = model ? readModelLine(c, r, root, err) : readCall(c, r, root, &call, err);
  cJSON_Delete(root);
  if (status == DJ_OK && !model) {
    c->ended = endFollows(r);
    if (c->ended) {
      status = nextLine(&root, r, err);
      if (status < 0) return status;
      status = readEnd(c, r, call, root, err);
      cJSON_Delete(root);
    }
  }
  if (status < 0) {
    c->what = NULL;
    return failLine(r, status, err);
  }
  c->call = r->call;
  c->step = r->step;
  c->time = r->data->time;
  return DJ_OK;
}

// ---- beginning and end ------------------------------------------------------------------------

static void originText(char text[DJ_RECORD_ORIGIN], const cJSON* root) {
  static const char* const keys[] = {"version", "compiler", "processor", "libraries"};
  size_t used = 0;
  for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
    const cJSON* item = dj_jsonGet(root, keys[k]);
    const char* value = cJSON_IsString(item) ? item->valuestring : "?";
    used += (size_t)snprintf(text + used, DJ_RECORD_ORIGIN - used, "%s%.90s", k ? ", " : "", value);
  }
  for (char* c = text; *c; c++) {
    if (*c < 32 || *c > 126) *c = '?';
  }
}

static djStatus readHeader(djReplay* r, djError* err) {
  char own[DJ_RECORD_ORIGIN], object[DJ_RECORD_ORIGIN + 8];
  cJSON* root;
  djError unused;
  dj_recordOrigin(own);
  snprintf(object, sizeof object, "{%s}", own);
  if (dj_parseJson(&root, object, strlen(object), &unused) == DJ_OK) originText(r->reader, root);
  cJSON_Delete(root);
  djStatus status = nextLine(&root, r, err);
  if (status < 0) return status;
  long version = 0;
  if (!root) {
    r->line = 1;
    status = dj_fail(err, DJ_INVALID, "is empty");
  } else {
    status = readInteger(&version, root, "dijoco_record", 1, err);
  }
  if (status == DJ_OK && version != 1) {
    status = dj_fail(err, DJ_INVALID, "dijoco_record: version %ld is not known", version);
  }
  if (status == DJ_OK) originText(r->writer, root);
  cJSON_Delete(root);
  return status < 0 ? failLine(r, status, err) : status;
}

djStatus dj_openReplay(djReplay** replay, const char* path, djError* err) {
  if (!replay) return dj_fail(err, DJ_INVALID, "replay: NULL");
  *replay = NULL;
  if (!path) return dj_fail(err, DJ_INVALID, "path: NULL");
  djReplay* r = calloc(1, sizeof *r);
  if (!r) return dj_failMemory(err);
  r->path = dj_joinPath("", path);
  djStatus status = r->path ? dj_readFile(&r->text, &r->length, path, err) : dj_failMemory(err);
  if (status < 0) status = dj_prefix(err, status, path);
  if (status == DJ_OK) status = readHeader(r, err);
  if (status < 0) {
    dj_closeReplay(r);
    return status;
  }
  *replay = r;
  return DJ_OK;
}

void dj_closeReplay(djReplay* r) {
  if (!r) return;
  forgetModel(r);
  dj_freeFile(r->text);
  free(r->path);
  free(r);
}

const char* dj_replayWriter(const djReplay* r) { return r ? r->writer : ""; }
const char* dj_replayReader(const djReplay* r) { return r ? r->reader : ""; }
const djModel* dj_replayModel(const djReplay* r) { return r ? r->model : NULL; }
const djData* dj_replayData(const djReplay* r) { return r ? r->data : NULL; }
