#include "sweep.h"

#include "json_in.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char** sweep_labels(const djDesign* d) {
  char** label = tool_alloc((size_t)d->n, sizeof *label);
  for (int i = 0; i < d->problem->nvariable; i++) {
    const djVariable* v = &d->problem->variable[i];
    for (int k = 0; k < v->n; k++) {
      Buffer text = {0};
      buf_addf(&text, "%s[%d]", v->name, v->picked ? v->index[k] : k);
      label[d->adr[i] + k] = text.text;
    }
  }
  return label;
}

static int fail(const Sweep* w, const char* file, const char* element, const char* message) {
  return tool_fail(w->options->verb, file, element, "%s", message);
}

// ---- rows

static char* read_whole(const char* path) {
  FILE* f = fopen(path, "rb");
  if (!f) return NULL;
  Buffer text = {0};
  char part[4096];
  size_t n;
  buf_add(&text, "");
  while ((n = fread(part, 1, sizeof part, f)) > 0) buf_addn(&text, part, n);
  bool good = !ferror(f);
  fclose(f);
  if (!good) buf_free(&text);
  return text.text;
}

// Cut the next line off.
static char* next_line(char** text) {
  char* line = *text;
  if (!*line) return NULL;
  size_t n = strcspn(line, "\n");
  *text = line + n + (line[n] == '\n');
  line[n] = 0;
  if (n > 0 && line[n - 1] == '\r') line[n - 1] = 0;
  return line;
}

// Cut the next field off a line, quoted or not; NULL after the last.
static char* next_field(char** line) {
  char* from = *line;
  if (!from) return NULL;
  while (*from == ' ') from++;
  char *to = from, *field = from;
  bool quoted = *from == '"';
  if (quoted) {
    for (from++; *from && !(*from == '"' && from[1] != '"'); from++) {
      from += *from == '"';
      *to++ = *from;
    }
    from += *from == '"';
  }
  while (*from && *from != ',') *to++ = *from++;
  *line = *from ? from + 1 : NULL;
  while (to > field && to[-1] == ' ') to--;
  *to = 0;
  return field;
}

static int find_label(const Sweep* w, const char* name) {
  for (int e = 0; e < w->base.design->n; e++) {
    if (strcmp(w->label[e], name) == 0) return e;
  }
  return -1;
}

static int read_columns(Samples* s, const Sweep* w, const char* path, char* line) {
  s->column = tool_alloc((size_t)w->base.design->n, sizeof *s->column);
  for (char* name; (name = next_field(&line));) {
    int e = find_label(w, name);
    if (e < 0) {
      return tool_fail(w->options->verb, path, name, "no entry of a variable of the task (%s...)",
                       w->base.design->n > 0 ? w->label[0] : "it has none");
    }
    for (int c = 0; c < s->ncolumn; c++) {
      if (s->column[c] == e) return fail(w, path, name, "is there twice");
    }
    s->column[s->ncolumn++] = e;
  }
  return 0;
}

static int read_rows(Samples* s, const Sweep* w, const char* path) {
  s->text = read_whole(path);
  if (!s->text) return fail(w, path, NULL, "cannot be read");
  char *copy = tool_copyText(s->text), *rest = copy, *line = next_line(&rest);
  int status = line ? read_columns(s, w, path, line) : fail(w, path, NULL, "is empty");
  size_t capacity = 0;
  for (int at = 2; !status && (line = next_line(&rest)); at++) {
    char place[32];
    snprintf(place, sizeof place, "line %d", at);
    if (!line[strspn(line, " \t")]) continue;
    if ((size_t)s->n == capacity) {
      capacity = 2 * capacity + 64;
      s->value = tool_grow(s->value, capacity * (size_t)s->ncolumn, sizeof *s->value);
    }
    for (int c = 0; c < s->ncolumn && !status; c++) {
      char* field = next_field(&line);
      double* value = &s->value[(size_t)s->n * (size_t)s->ncolumn + (size_t)c];
      if (!field) status = fail(w, path, place, "has too few numbers");
      else if (!tool_number(value, field) || !isfinite(*value)) {
        status = tool_fail(w->options->verb, path, place, "expected a finite number, not '%s'",
                           field);
      }
    }
    if (!status && line) status = fail(w, path, place, "has too many numbers");
    s->n++;
  }
  free(copy);
  return status;
}

// ---- JSON

static int read_patches(Samples* s, const Sweep* w, const char* path) {
  char message[256];
  s->patch = read_json(path, message, sizeof message);
  if (!s->patch) return fail(w, path, NULL, message);
  s->text = cJSON_PrintUnformatted(s->patch);
  if (!cJSON_IsArray(s->patch)) return fail(w, path, NULL, "expected a list of objects");
  const cJSON* item;
  cJSON_ArrayForEach(item, s->patch) {
    char place[32];
    snprintf(place, sizeof place, "[%d]", s->n);
    if (!cJSON_IsObject(item)) return fail(w, path, place, "expected an object: keys of the task");
    s->n++;
  }
  return 0;
}

// ---- random numbers

static int check_random(Samples* s, const Sweep* w, long n) {
  const djDesign* d = w->base.design;
  const Options* o = w->options;
  s->n = (int)n;
  s->random = true;
  s->seed = o->seed > 0 ? o->seed : 0;
  s->spread = o->spread;
  for (int e = 0; e < d->n && isnan(s->spread); e++) {
    if (isfinite(d->lower[e]) && isfinite(d->upper[e])) continue;
    return fail(w, o->argument[0], w->label[e],
                "is random between its bounds, and has none: give `min` and `max`, or --spread");
  }
  return 0;
}

int samples_read(Samples* s, const Sweep* w) {
  const Options* o = w->options;
  if (!o->samples == !(o->random > 0)) {
    return fail(w, NULL, "--samples", "needed is either this or --random N");
  }
  if (!(o->random > 0) && (o->seed >= 0 || !isnan(o->spread))) {
    return fail(w, NULL, o->seed >= 0 ? "--seed" : "--spread", "is for --random");
  }
  if (w->base.design->n == 0 && !o->samples) {
    return fail(w, o->argument[0], "variables", "there is nothing to vary");
  }
  int status;
  if (!o->samples) {
    status = check_random(s, w, o->random);
  } else {
    size_t n = strlen(o->samples);
    bool json = n > 5 && strcmp(o->samples + n - 5, ".json") == 0;
    status = json ? read_patches(s, w, o->samples) : read_rows(s, w, o->samples);
  }
  return !status && s->n == 0 ? fail(w, o->samples, NULL, "has no samples") : status;
}

void samples_free(Samples* s) {
  free(s->column);
  free(s->value);
  free(s->text);
  cJSON_Delete(s->patch);
  *s = (Samples){0};
}

// Of a normal distribution, by Box and Muller.
static double normal(unsigned long seed, int sample, int entry) {
  double u = djd_random(seed, (unsigned long)sample, 2 * (unsigned long)entry);
  double v = djd_random(seed, (unsigned long)sample, 2 * (unsigned long)entry + 1);
  return sqrt(-2 * log1p(-u)) * cos(2 * 3.14159265358979323846 * v);
}

void samples_point(double* x, const Samples* s, const djDesign* d, int sample) {
  for (int c = 0; c < s->ncolumn; c++) {
    x[s->column[c]] = s->value[(size_t)sample * (size_t)s->ncolumn + (size_t)c];
  }
  for (int e = 0; e < d->n && s->random; e++) {
    const double low = d->lower[e], high = d->upper[e];
    unsigned long seed = (unsigned long)s->seed;
    if (isfinite(low) && isfinite(high)) {
      x[e] = low + (high - low) * djd_random(seed, (unsigned long)sample, 2 * (unsigned long)e);
    } else {
      x[e] = fmin(fmax(x[e] + s->spread * normal(seed, sample, e), low), high);
    }
  }
}
