#include "json_out.h"

#include <math.h>

void json_addNumber(Buffer* out, double value) {
  if (isnan(value)) {
    buf_add(out, "\"nan\"");
  } else if (isinf(value)) {
    buf_add(out, value > 0 ? "\"inf\"" : "\"-inf\"");
  } else {
    buf_addf(out, "%.17g", value);
  }
}

static void add_text(Buffer* out, const char* value) {
  buf_add(out, "\"");
  for (const unsigned char* s = (const unsigned char*)value; *s;) {
    size_t n = text_sequence(s);
    if (n == 0) {
      buf_add(out, "\\ufffd");
      s++;
      continue;
    }
    if (*s == '"' || *s == '\\') {
      buf_addf(out, "\\%c", *s);
    } else if (*s == '\n') {
      buf_add(out, "\\n");
    } else if (*s < 0x20 || *s == 0x7F) {
      buf_addf(out, "\\u%04x", *s);
    } else {
      buf_addn(out, (const char*)s, n);
    }
    s += n;
  }
  buf_add(out, "\"");
}

static void indent(Json* j) {
  buf_add(j->out, "\n");
  for (int i = 0; i < j->depth; i++) buf_add(j->out, "  ");
}

// Everything that comes before a value: comma, line, key.
static void before(Json* j, const char* key) {
  if (j->depth == 0) return;
  if (j->used[j->depth]) buf_add(j->out, ",");
  j->used[j->depth] = true;
  indent(j);
  if (key) {
    add_text(j->out, key);
    buf_add(j->out, ": ");
  }
}

static void open_level(Json* j, const char* key, char opening, char closing) {
  before(j, key);
  buf_addn(j->out, &opening, 1);
  if (j->depth + 1 >= JSON_DEPTH) return;
  j->depth++;
  j->used[j->depth] = false;
  j->closing[j->depth] = closing;
}

void json_start(Json* j, Buffer* out) { *j = (Json){.out = out}; }
void json_object(Json* j, const char* key) { open_level(j, key, '{', '}'); }
void json_list(Json* j, const char* key) { open_level(j, key, '[', ']'); }

void json_end(Json* j) {
  char closing = j->closing[j->depth];
  bool used = j->used[j->depth];
  j->depth--;
  if (used) indent(j);
  buf_addn(j->out, &closing, 1);
  if (j->depth == 0) buf_add(j->out, "\n");
}

void json_number(Json* j, const char* key, double value) {
  before(j, key);
  json_addNumber(j->out, value);
}

void json_integer(Json* j, const char* key, long value) {
  before(j, key);
  buf_addf(j->out, "%ld", value);
}

void json_text(Json* j, const char* key, const char* value) {
  before(j, key);
  add_text(j->out, value);
}

void json_bool(Json* j, const char* key, bool value) {
  before(j, key);
  buf_add(j->out, value ? "true" : "false");
}

void json_null(Json* j, const char* key) {
  before(j, key);
  buf_add(j->out, "null");
}

void json_raw(Json* j, const char* key, const char* text) {
  before(j, key);
  buf_add(j->out, text);
}

static void add_row(Buffer* out, size_t n, const double* value) {
  buf_add(out, "[");
  for (size_t i = 0; i < n; i++) {
    if (i) buf_add(out, ", ");
    json_addNumber(out, value[i]);
  }
  buf_add(out, "]");
}

void json_vector(Json* j, const char* key, size_t n, const double* value) {
  if (!value) {
    json_null(j, key);
    return;
  }
  before(j, key);
  add_row(j->out, n, value);
}

void json_matrix(Json* j, const char* key, size_t rows, size_t columns, const double* value) {
  if (!value) {
    json_null(j, key);
    return;
  }
  json_list(j, key);
  for (size_t i = 0; i < rows; i++) json_vector(j, NULL, columns, value + i * columns);
  json_end(j);
}
