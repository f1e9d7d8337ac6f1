// Settings by name: finding rows, reading, checking and storing what they describe.

#include "model/kernel_setting.h"

#include "base/status.h"
#include "model/check.h"

#include <stdio.h>
#include <string.h>

// ---- rows -------------------------------------------------------------------------------------

static djSettingTable firstKernel(void) {
  int n, slot;
  const djSetting* row = dj_kernelSettings(&n, &slot, 0);
  return (djSettingTable){n, row};
}

const djSetting* dj_setting(int i) {
  const djSettingTable tables[] = {dj_engineSettings, dj_contactSettings, firstKernel()};
  for (int k = 0; k < 3 && i >= 0; i -= tables[k++].n) {
    if (i < tables[k].n) return &tables[k].row[i];
  }
  return NULL;
}

const djSetting* dj_findSetting(const char* name, unsigned ways) {
  const djSetting* s = NULL;
  for (int i = 0; name && (s = dj_setting(i)); i++) {
    if (strcmp(s->name, name) == 0) break;
  }
  return s && (ways == 0 || (s->ways & ways)) ? s : NULL;
}

// ---- names ------------------------------------------------------------------------------------

void dj_unknownSetting(char* what, size_t size, unsigned ways) {
  snprintf(what, size, "unknown setting");
  bool first = true;
  const djSetting* s;
  for (int i = 0; (s = dj_setting(i)); i++) {
    if (!(s->ways & ways)) continue;
    dj_expectName(what, size, s->name, first);
    first = false;
  }
}

const djSetting* dj_contactSetting(int* model, int i) {
  int kernel;
  const djSetting* row = dj_settingOfSlot(&kernel, i);
  if (model) *model = kernel;
  return row;
}

const char* dj_contactName(djContactModel contact) {
  return dj_choiceName(dj_findSetting("contact", 0), (int)contact);
}

const char* dj_integratorName(djIntegrator integrator) {
  return dj_choiceName(dj_findSetting("integrator", 0), (int)integrator);
}

const char* dj_overlapName(djOverlap overlap) {
  return dj_choiceName(dj_findSetting("overlap", 0), (int)overlap);
}

const djSetting* dj_settingOfText(const djSetting* row, const char* text) {
  bool is = row->automatic_by && text && strcmp(text, "auto") == 0;
  return is ? dj_findSetting(row->automatic_by, 0) : NULL;
}

// ---- values -----------------------------------------------------------------------------------

void dj_getSetting(double* value, const djOption* option, const djSetting* s) {
  if (value && option && s) dj_readRow(value, option, s);
}

void dj_settingInForce(double* value, const djModel* m, const djSetting* s) {
  if (value && m && s) dj_readPlace(value, (const char*)m + s->in_force_offset, s);
}

djStatus dj_setSetting(djOption* option, const djSetting* s, const double* value, djError* err) {
  djProblemText what;
  if (!option || !s || !value) return dj_fail(err, DJ_INVALID, "option, setting or value: NULL");
  const char* problem = dj_rowProblem(&what, s, value, true);
  if (problem) return dj_fail(err, DJ_INVALID, "%s: %s", s->name, problem);
  dj_storeRow(option, s, value);
  return DJ_OK;
}

// ---- settings that a source gives -------------------------------------------------------------

static int indexOf(const djSetting* s) {
  int i = 0;
  while (dj_setting(i) && dj_setting(i) != s) i++;
  return i;
}

bool dj_isGiven(const djSettings* settings, const djSetting* s) {
  if (!settings) return false;
  return s ? settings->given[indexOf(s)] : memchr(settings->given, true, DJ_MAX_SETTINGS) != NULL;
}

djStatus dj_giveSetting(djSettings* settings, const djSetting* s, const double* value,
                        djError* err) {
  djProblemText what;
  if (!settings || !s || !value) {
    return dj_fail(err, DJ_INVALID, "settings, setting or value: NULL");
  }
  const char* problem = dj_rowProblem(&what, s, value, false);
  if (problem) return dj_fail(err, DJ_INVALID, "%s: %s", s->name, problem);
  dj_storeRow(&settings->option, s, value);
  settings->given[indexOf(s)] = true;
  return DJ_OK;
}

void dj_applySettings(djOption* option, const djSettings* settings) {
  if (!option || !settings) return;
  const djSetting* s;
  for (int i = 0; (s = dj_setting(i)); i++) {
    double value[3];
    if (!settings->given[i]) continue;
    dj_readRow(value, &settings->option, s);
    dj_storeRow(option, s, value);
  }
}

// ---- options ----------------------------------------------------------------------------------

djOption dj_defaultOption(void) {
  djOption option = {0};
  const djSetting* s;
  for (int i = 0; (s = dj_setting(i)); i++) {
    double automatic = -1;
    dj_storeRow(&option, s, s->automatic ? &automatic : s->standard);
  }
  return option;
}

djOption dj_plainOption(const djOption* o) {
  djOption plain = *o;
  const djSetting* s;
  for (int i = 0; (s = dj_setting(i)); i++) {
    double value[3], automatic = -1;
    dj_readRow(value, o, s);
    if (s->automatic && value[0] < 0) dj_storeRow(&plain, s, &automatic);
  }
  return plain;
}

djStatus dj_checkOption(const djOption* o, djError* err) {
  const djSetting* s;
  for (int i = 0; (s = dj_setting(i)); i++) {
    djProblemText what;
    double value[3];
    dj_readRow(value, o, s);
    const char* problem = dj_rowProblem(&what, s, value, true);
    if (!problem) continue;
    return dj_fail(err, DJ_INVALID, "option: %s%s %s", s->name,
                   s->kind == DJ_SETTING_CHOICE ? ":" : "", problem);
  }
  if (o->guide_decay < 1 && !o->guide_backward_only) {
    return dj_fail(err, DJ_INVALID,
                   "option: guide_decay: %g, less than 1, goes with guide_backward_only",
                   o->guide_decay);
  }
  return DJ_OK;
}
