// Values that a row of the table of settings takes, and values that it refuses.

#ifndef DJ_TESTS_COMMON_SETTING_CASE_H_
#define DJ_TESTS_COMMON_SETTING_CASE_H_

#include <dijoco/csv.h>
#include <dijoco/setting.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

// Another value than the default.
static inline void djt_goodSetting(double value[3], const djSetting* s) {
  value[0] = 0.0123, value[1] = -0.0456, value[2] = 0.0789;
  if (s->least > value[0]) value[0] = 1.5 * s->least;
  if (s->kind == DJ_SETTING_WHOLE) value[0] = 37;
  if (s->kind == DJ_SETTING_CHOICE) value[0] = s->standard[0];   // there may be one alone
  if (s->kind == DJ_SETTING_FLAGS) value[0] = s->choice[0].value | s->choice[2].value;
  for (const djChoice* c = s->choice; s->kind == DJ_SETTING_CHOICE && c->name; c++) {
    if (c->value != (int)s->standard[0]) value[0] = c->value;
  }
}

enum { DJT_BAD_SETTINGS = 6 };

// What no source may give; false: there is no k-th. Of vectors the last number is the bad one.
static inline bool djt_badSetting(double value[3], const djSetting* s, int k) {
  double bad[DJT_BAD_SETTINGS] = {INFINITY, NAN, NAN, NAN, NAN, NAN};
  if (s->kind == DJ_SETTING_REAL) {
    if (!s->negative) bad[1] = -0.5;
    if (!s->zero) bad[2] = 0;
    if (s->below > 0) bad[3] = s->below;
    if (s->most > 0) bad[4] = 1.001 * s->most;
    if (s->least > 0) bad[5] = 0.999 * s->least;
  } else if (s->kind == DJ_SETTING_WHOLE) {
    bad[0] = s->zero ? -1 : 0, bad[1] = 1.5, bad[2] = 3e9;
  } else {
    bad[0] = 1 << 20, bad[1] = 0.5, bad[2] = -77;
  }
  for (int i = 0; i < 3; i++) value[i] = i < s->size - 1 ? 1 : bad[k];
  return !isnan(bad[k]);
}

// A value as texts have it: "0.0123", "recover".
static inline void djt_settingText(char text[64], const djSetting* s, const double* value) {
  if (s->kind == DJ_SETTING_CHOICE) {
    const char* name = *value == floor(*value) ? dj_choiceName(s, (int)*value) : "";
    snprintf(text, 64, "%s", *name ? name : "nothing");
  } else {
    dj_formatNumber(text, *value);
  }
}

// As JSON has it: 0.0123, [1, 2, 3], "recover", ["contact", "limit"].
static inline void djt_settingJson(char text[200], const djSetting* s, const double* value) {
  char number[64];
  const char* between = "";
  if (s->kind == DJ_SETTING_CHOICE) {
    djt_settingText(number, s, value);
    snprintf(text, 200, "\"%s\"", number);
    return;
  }
  bool list = s->kind == DJ_SETTING_FLAGS || s->size > 1;
  size_t n = (size_t)snprintf(text, 200, list ? "[" : "");
  for (const djChoice* c = s->choice; c && c->name; c++) {
    if (!((int)*value & c->value)) continue;
    n += (size_t)snprintf(text + n, 200 - n, "%s\"%s\"", between, c->name);
    between = ", ";
  }
  for (int k = 0; k < s->size && !s->choice; k++, between = ", ") {
    // JSON has no infinite numbers; what overflows is one.
    const char* written = isinf(value[k]) ? "1e999" : dj_formatNumber(number, value[k]);
    n += (size_t)snprintf(text + n, 200 - n, "%s%s", between, written);
  }
  snprintf(text + n, 200 - n, list ? "]" : "");
}

static inline bool djt_sameSetting(const djSetting* s, const double* a, const double* b) {
  return memcmp(a, b, sizeof(double) * (size_t)s->size) == 0;
}

#endif  // DJ_TESTS_COMMON_SETTING_CASE_H_
