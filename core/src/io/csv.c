// Numbers in text files.

#include "base/status.h"
#include "io/text.h"
#include "model/check.h"

#include <dijoco/csv.h>
#include <dijoco/data.h>
#include <dijoco/file.h>
#include <dijoco/io.h>

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool isBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// The k-th number of a list; a comma, blanks or the end follow it.
static djStatus scanOne(double* value, int k, const char** p, const char* end, djError* err) {
  const char* stop;
  *value = dj_scanNumber(*p, &stop);
  bool ends = stop >= end || isBlank(*stop) || *stop == ',';
  if (stop == *p || stop > end || !ends) {
    size_t n = strcspn(*p, " \t\r\n,");
    if (*p >= end || n == 0) return dj_fail(err, DJ_INVALID, "number %d is missing", k);
    return dj_fail(err, DJ_INVALID, "number %d: '%.*s' is not a finite number", k,
                   n < 40 ? (int)n : 40, *p);
  }
  if (!isfinite(*value)) return dj_fail(err, DJ_INVALID, "number %d is not finite", k);
  *p = stop;
  return DJ_OK;
}

// Exactly n numbers between p and end.
static djStatus scanNumbers(double* value, int n, const char* p, const char* end, djError* err) {
  int count = 0;
  bool comma = false;
  while (p < end && isBlank(*p)) p++;
  while (p < end || comma) {
    double x;
    djStatus status = scanOne(&x, count < INT_MAX ? count + 1 : count, &p, end, err);
    if (status < 0) return status;
    if (count < n) value[count] = x;
    if (count < INT_MAX) count++;
    while (p < end && isBlank(*p)) p++;
    comma = p < end && *p == ',';
    if (comma) p++;
    while (p < end && isBlank(*p)) p++;
  }
  if (count == n) return DJ_OK;
  return dj_fail(err, DJ_INVALID, "%d numbers expected, %d found", n, count);
}

djStatus dj_parseNumbers(double* value, int n, const char* text, djError* err) {
  if ((n > 0 && !value) || !text) return dj_fail(err, DJ_INVALID, "numbers or text: NULL");
  return scanNumbers(value, n, text, text + strlen(text), err);
}

djStatus dj_readNumbers(double* value, int n, const char* path, djError* err) {
  if ((n > 0 && !value) || !path) return dj_fail(err, DJ_INVALID, "numbers or path: NULL");
  char* text;
  size_t length;
  djStatus status = dj_readFile(&text, &length, path, err);
  if (status == DJ_OK) status = scanNumbers(value, n, text, text + length, err);
  free(text);
  return status < 0 ? dj_prefix(err, status, path) : status;
}

djStatus dj_readQpos(double* qpos, const djModel* model, const char* path, djError* err) {
  if (!model) return dj_fail(err, DJ_INVALID, "model: NULL");
  djStatus status = dj_readNumbers(qpos, model->nq, path, err);
  if (status < 0) return status;
  status = dj_checkQpos(qpos, model, err);
  return status < 0 ? dj_prefix(err, status, path) : status;
}

djStatus dj_readQvel(double* qvel, const djModel* model, const char* path, djError* err) {
  if (!model) return dj_fail(err, DJ_INVALID, "model: NULL");
  djStatus status = dj_readNumbers(qvel, model->nv, path, err);
  if (status < 0) return status;
  status = dj_checkQvel(qvel, model, err);
  return status < 0 ? dj_prefix(err, status, path) : status;
}

// The first line: ctrl[0],ctrl[1],...
static djStatus checkHeader(const char* p, const char* end, int nu, djError* err) {
  for (int i = 0; i < nu; i++) {
    char name[32];
    size_t n = (size_t)snprintf(name, sizeof name, "ctrl[%d]", i);
    while (p < end && isBlank(*p)) p++;
    if ((size_t)(end - p) < n || memcmp(p, name, n) != 0) {
      return dj_fail(err, DJ_INVALID, "line 1: '%s' expected", name);
    }
    p += n;
    while (p < end && isBlank(*p)) p++;
    if (i + 1 < nu && (p >= end || *p++ != ',')) {
      return dj_fail(err, DJ_INVALID, "line 1: 'ctrl[%d]' expected", i + 1);
    }
  }
  while (p < end && isBlank(*p)) p++;
  if (p < end) return dj_fail(err, DJ_INVALID, "line 1: more than %d columns", nu);
  return DJ_OK;
}

static const char* lineEnd(const char* p, const char* end) {
  const char* stop = memchr(p, '\n', (size_t)(end - p));
  return stop ? stop : end;
}

// Rows of nu numbers; blank lines are passed over. *ctrl grows as they come.
static djStatus readRows(double** ctrl, int* nrow, int nu, const char* p, const char* end,
                         djError* err) {
  size_t capacity = 0;
  for (long line = 2; p < end; line++) {
    const char* stop = lineEnd(p, end);
    const char* q = p;
    while (q < stop && isBlank(*q)) q++;
    if (q < stop) {
      if ((size_t)*nrow == capacity) {
        size_t more = capacity ? 2 * capacity : 64;
        double* grown = more > INT_MAX || more > SIZE_MAX / 16 / (size_t)nu
                            ? NULL
                            : realloc(*ctrl, more * (size_t)nu * sizeof **ctrl);
        if (!grown) return dj_failMemory(err);
        *ctrl = grown;
        capacity = more;
      }
      double* row = *ctrl + (size_t)*nrow * (size_t)nu;
      djStatus status = scanNumbers(row, nu, q, stop, err);
      if (status == DJ_OK) status = dj_checkNumbers(row, nu, "ctrl", err);
      if (status < 0) {
        char where[32];
        snprintf(where, sizeof where, "line %ld", line);
        return dj_prefix(err, status, where);
      }
      (*nrow)++;
    }
    p = stop < end ? stop + 1 : end;
  }
  return *nrow > 0 ? DJ_OK : dj_fail(err, DJ_INVALID, "there are no rows");
}

djStatus dj_readCtrl(double** ctrl, int* nrow, int nu, const char* path, djError* err) {
  if (!ctrl || !nrow) return dj_fail(err, DJ_INVALID, "ctrl or its number of rows: NULL");
  *ctrl = NULL;
  *nrow = 0;
  if (!path) return dj_fail(err, DJ_INVALID, "path: NULL");
  char* text;
  size_t length;
  djStatus status = dj_readFile(&text, &length, path, err);
  if (status == DJ_OK) {
    const char* end = text + length;
    const char* first = lineEnd(text, end);
    status = checkHeader(text, first, nu, err);
    if (status == DJ_OK && nu > 0) {
      status = readRows(ctrl, nrow, nu, first < end ? first + 1 : end, end, err);
    } else if (status == DJ_OK) {
      *nrow = 1;
    }
  }
  free(text);
  if (status < 0) {
    free(*ctrl);
    *ctrl = NULL;
    *nrow = 0;
    return dj_prefix(err, status, path);
  }
  return DJ_OK;
}

void dj_freeNumbers(double* value) { free(value); }

// ---- writing ----------------------------------------------------------------------------------

struct djCsv {
  djFile* file;
  djText line;   // the row that is being put together
};

static void flushLine(djCsv* csv) {
  dj_addText(&csv->line, "\n");
  if (csv->line.failed) return;
  dj_writeFile(csv->file, csv->line.data, csv->line.length);
  csv->line.length = 0;
}

djStatus dj_openCsv(djCsv** csv, const char* path, const char* header, djError* err) {
  if (!csv) return dj_fail(err, DJ_INVALID, "table: NULL");
  *csv = NULL;
  if (!path || !header) return dj_fail(err, DJ_INVALID, "path or header: NULL");
  djCsv* c = calloc(1, sizeof *c);
  if (!c) return dj_failMemory(err);
  djStatus status = dj_openFile(&c->file, path, err);
  if (status < 0) {
    free(c);
    return status;
  }
  dj_addText(&c->line, header);
  flushLine(c);
  *csv = c;
  return DJ_OK;
}

void dj_writeCsv(djCsv* csv, const char* texts, const double* value, int n) {
  if (!csv || (n > 0 && !value)) return;
  if (texts) dj_addText(&csv->line, texts);
  for (int i = 0; i < n; i++) {
    if (i > 0 || texts) dj_addText(&csv->line, ",");
    dj_addExact(&csv->line, value[i]);
  }
  flushLine(csv);
}

djStatus dj_closeCsv(djCsv* csv, djError* err) {
  if (!csv) return DJ_OK;
  djStatus status = DJ_OK;
  if (csv->line.failed) {
    dj_discardFile(csv->file);
    status = dj_failMemory(err);
  } else {
    status = dj_commitFile(csv->file, err);
  }
  dj_freeText(&csv->line);
  free(csv);
  return status;
}

djStatus dj_openStateCsv(djCsv** csv, const djModel* model, const char* path, djError* err) {
  if (!csv) return dj_fail(err, DJ_INVALID, "table: NULL");
  *csv = NULL;
  if (!model || !path) return dj_fail(err, DJ_INVALID, "model or path: NULL");
  djText header = {0};
  char name[32];
  for (int i = 0; i < dj_stateSize(model); i++) {
    if (i > 0) dj_addText(&header, ",");
    dj_addText(&header, dj_stateName(name, model, i));
  }
  djStatus status = header.failed ? dj_failMemory(err) : dj_openCsv(csv, path, header.data, err);
  dj_freeText(&header);
  return status;
}

void dj_writeStateCsv(djCsv* csv, const djModel* model, const double* state) {
  if (csv && model && state) dj_writeCsv(csv, NULL, state, dj_stateSize(model));
}
