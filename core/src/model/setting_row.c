// One row of a table of settings: its names, numbers and bounds.

#include "model/setting.h"

#include "model/choice.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void dj_expectName(char* what, size_t size, const char* name, bool first) {
  size_t n = strlen(what);
  snprintf(what + n, size - n, "%s%s", first ? ", expected one of " : ", ", name);
}

void dj_unknownChoice(char* what, size_t size, const char* text, const djChoice* choice) {
  snprintf(what, size, "unknown value '%.100s'", text);
  for (const djChoice* c = choice; c->name; c++) dj_expectName(what, size, c->name, c == choice);
}

const char* dj_nameOf(const djChoice* choice, int value) {
  for (const djChoice* c = choice; c && c->name; c++) {
    if (c->value == value) return c->name;
  }
  return "";
}

const int* dj_valueNamed(const djChoice* choice, const char* name) {
  for (const djChoice* c = choice; c && c->name; c++) {
    if (strcmp(c->name, name) == 0) return &c->value;
  }
  return NULL;
}

const char* dj_choiceName(const djSetting* s, int value) {
  return s ? dj_nameOf(s->choice, value) : "";
}

void dj_readPlace(double* value, const void* place, const djSetting* row) {
  int number;
  if (row->kind == DJ_SETTING_REAL) {
    memcpy(value, place, sizeof(double) * (size_t)row->size);
  } else {
    memcpy(&number, place, sizeof number);   // enumerators are ints too
    *value = number;
  }
}

void dj_readRow(double* value, const void* base, const djSetting* row) {
  dj_readPlace(value, (const char*)base + row->offset, row);
}

void dj_storeRow(void* base, const djSetting* row, const double* value) {
  char* place = (char*)base + row->offset;
  int number = row->kind == DJ_SETTING_REAL ? 0 : (int)*value;
  if (row->kind == DJ_SETTING_REAL) memcpy(place, value, sizeof(double) * (size_t)row->size);
  else memcpy(place, &number, sizeof number);
}

static const char* say(djProblemText* what, const char* text) {
  snprintf(what->text, sizeof what->text, "%s", text);
  return what->text;
}

// "is larger than 1e20"
static const char* sayNumber(djProblemText* what, const char* text, double number) {
  char digits[32];
  snprintf(digits, sizeof digits, "%g", number);
  char* plus = strchr(digits, '+');
  if (plus) memmove(plus, plus + 1, strlen(plus));
  snprintf(what->text, sizeof what->text, "%s %s", text, digits);
  return what->text;
}

static const char* numberProblem(djProblemText* what, const djSetting* row, double value) {
  if (!isfinite(value)) return say(what, "is not finite");
  if (value < 0 && !row->negative) {
    return say(what, row->zero ? "must not be negative" : "must be positive");
  }
  if (value == 0 && !row->zero) return say(what, "must be positive");
  if (row->below > 0 && !(value < row->below)) {
    if (row->also == 0) return sayNumber(what, "must be less than", row->below);
    if (value == row->also) return NULL;
    snprintf(what->text, sizeof what->text, "must be less than %g, or %g", row->below, row->also);
    return what->text;
  }
  if (row->most > 0 && fabs(value) > row->most) {
    return sayNumber(what, "is larger than", row->most);
  }
  return fabs(value) > 0 && fabs(value) < row->least
             ? sayNumber(what, "is smaller than", row->least)
             : NULL;
}

static const char* wholeProblem(djProblemText* what, const djSetting* row, double value) {
  bool whole = fabs(value) <= INT_MAX && value == floor(value);
  if (!whole) return say(what, "must be a whole number");
  if (row->kind == DJ_SETTING_WHOLE) return numberProblem(what, row, value);
  if (row->kind == DJ_SETTING_CHOICE) {
    char number[24];
    if (dj_isChoice(row->choice, (int)value)) return NULL;
    snprintf(number, sizeof number, "%d", (int)value);
    dj_unknownChoice(what->text, sizeof what->text, number, row->choice);
    return what->text;
  }
  int bits = 0;
  for (const djChoice* c = row->choice; c->name; c++) bits |= c->value;
  return value < 0 || ((int)value & ~bits) ? say(what, "has unknown bits") : NULL;
}

const char* dj_rowProblem(djProblemText* what, const djSetting* row, const double* value,
                          bool automatic) {
  if (row->kind != DJ_SETTING_REAL) return wholeProblem(what, row, *value);
  if (automatic && row->automatic && isfinite(*value) && *value < 0) return NULL;
  const char* problem = NULL;
  for (int k = 0; k < row->size && !problem; k++) problem = numberProblem(what, row, value[k]);
  return problem;
}
