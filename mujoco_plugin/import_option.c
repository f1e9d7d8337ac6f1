// Options: MuJoCo's, and the scene's own settings in <custom>.

#include "import.h"

#include <dijoco/task.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Flags that mean the same to both.
static int disableBits(const mjModel* m) {
  static const struct {
    int mujoco, ours;
  } map[] = {
      {mjDSBL_CONTACT, DJ_DSBL_CONTACT},
      {mjDSBL_LIMIT, DJ_DSBL_LIMIT},
      {mjDSBL_FRICTIONLOSS, DJ_DSBL_FRICTIONLOSS},
      {mjDSBL_SPRING, DJ_DSBL_SPRING},
      {mjDSBL_DAMPER, DJ_DSBL_DAMPER},
      {mjDSBL_GRAVITY, DJ_DSBL_GRAVITY},
      {mjDSBL_CLAMPCTRL, DJ_DSBL_CLAMPCTRL},
      {mjDSBL_FILTERPARENT, DJ_DSBL_FILTERPARENT},
      {mjDSBL_ACTUATION, DJ_DSBL_ACTUATION},
  };
  int bits = 0;
  for (size_t i = 0; i < sizeof(map) / sizeof(*map); i++) {
    if (djm_disabled(m, map[i].mujoco)) bits |= map[i].ours;
  }
  return bits;
}

// ------------------------------ scene settings --------------------------------------------------

// A setting is a number, or a choice: an enumerator, given by its number in a numeric field and by
// its name in a text field.
typedef struct djmSetting {
  const char* name;
  enum { kReal, kWhole, kChoice } kind;
  size_t offset;              // in djModelDef
  int lowest, end;            // choice: enumerators are lowest..end-1
} djmSetting;

#define OPTION(field) offsetof(djModelDef, option.field)
static const djmSetting settings[] = {
    {"timestep", kReal, OPTION(timestep), 0, 0},
    {"support", kReal, OPTION(support), 0, 0},
    {"length_scale", kReal, OPTION(length_scale), 0, 0},
    {"stiffness", kReal, OPTION(stiffness), 0, 0},
    {"skin", kReal, OPTION(skin), 0, 0},
    {"friction_eps", kReal, OPTION(friction_eps), 0, 0},
    {"frictionloss_eps", kReal, OPTION(frictionloss_eps), 0, 0},
    {"tolerance", kReal, OPTION(tolerance), 0, 0},
    {"gravity_ramp", kReal, offsetof(djModelDef, gravity_ramp), 0, 0},
    {"max_iterations", kWhole, OPTION(max_iterations), 0, 0},
    {"contact", kChoice, OPTION(contact), DJ_CONTACT_NONE, DJ_NCONTACT},
    {"integrator", kChoice, OPTION(integrator), 0, DJ_NINTEGRATOR},
    {"overlap", kChoice, OPTION(overlap), 0, 2},
    {"friction_arms", kChoice, OPTION(friction_arms), 0, 2},
    {"friction_cap", kChoice, OPTION(friction_cap), 0, 2},
};
#undef OPTION

const char* const djm_armNames[] = {"plane", "paper"};
const char* const djm_capNames[] = {"magnitude", "paper"};
static const char kPrefix[] = "dijoco_";

static const djmSetting* findSetting(const char* name) {
  for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++) {
    if (strcmp(settings[i].name, name) == 0) return settings + i;
  }
  return NULL;
}

static djStatus refuse(djmImport* imp, const char* kind, const char* name, const char* why) {
  snprintf(imp->err->text, sizeof(imp->err->text), "%s/%s: %s", kind, name, why);
  return DJ_INVALID;
}

// The enumerator of a name, as text. False: none.
static bool findChoice(int* value, const djmSetting* setting, const char* text) {
  djSettings parsed = {.option = dj_defaultOption()};
  if (dj_parseSetting(&parsed, setting->name, text, NULL) == DJ_OK) {
    djModelDef def = {.option = parsed.option};
    memcpy(value, (const char*)&def + setting->offset, sizeof(int));
    return true;
  }
  bool is_arms = strcmp(setting->name, "friction_arms") == 0;
  if (!is_arms && strcmp(setting->name, "friction_cap") != 0) return false;
  for (*value = 0; *value < 2; ++*value) {
    if (strcmp((is_arms ? djm_armNames : djm_capNames)[*value], text) == 0) return true;
  }
  return false;
}

// Check a number as the command line does. why: what is wrong with it.
static bool isAllowed(const djmSetting* setting, double value, char why[200]) {
  bool ramp = strcmp(setting->name, "gravity_ramp") == 0;
  if (ramp || strcmp(setting->name, "frictionloss_eps") == 0) {   // the command line has neither
    snprintf(why, 200, "must %s", ramp ? "not be negative" : "be positive");
    return ramp ? value >= 0 : value > 0;
  }
  char text[40];
  djSettings parsed = {.option = dj_defaultOption()};
  djError err = {""};
  snprintf(text, sizeof text, "%.17g", value);
  if (dj_parseSetting(&parsed, setting->name, text, &err) == DJ_OK) return true;
  const char* colon = strchr(err.text, ':');
  snprintf(why, 200, "%.190s", colon ? colon + 2 : err.text);
  return false;
}

// kind: of the field that holds the number.
static djStatus setNumber(djmImport* imp, const char* kind, const char* field, int size,
                          double value) {
  const djmSetting* setting = findSetting(field + strlen(kPrefix));
  if (!setting) return refuse(imp, kind, field, "there is no such setting");
  if (size != 1) return refuse(imp, kind, field, "one number is expected");
  if (!isfinite(value)) return refuse(imp, kind, field, "not a finite number");
  if (setting->kind == kReal) {
    char why[200];
    if (!isAllowed(setting, value, why)) return refuse(imp, kind, field, why);
    memcpy((char*)&imp->def + setting->offset, &value, sizeof(double));
    return DJ_OK;
  }
  if (value != floor(value) || fabs(value) > 1e9) {
    return refuse(imp, kind, field, "a whole number is expected");
  }
  if (setting->kind == kChoice && (value < setting->lowest || value >= setting->end)) {
    return refuse(imp, kind, field, "there is no such choice");
  }
  int whole = (int)value;   // enumerators are ints too
  memcpy((char*)&imp->def + setting->offset, &whole, sizeof(int));
  return DJ_OK;
}

static djStatus setText(djmImport* imp, const char* field, const char* value) {
  const djmSetting* setting = findSetting(field + strlen(kPrefix));
  if (!setting) return refuse(imp, "text", field, "there is no such setting");
  if (setting->kind != kChoice) {
    char* end;
    double number = strtod(value, &end);
    while (*end == ' ') end++;
    if (end == value || *end) return refuse(imp, "text", field, "a number is expected");
    return setNumber(imp, "text", field, 1, number);
  }
  int choice;
  if (!findChoice(&choice, setting, value)) {
    return refuse(imp, "text", field, "there is no such choice");
  }
  memcpy((char*)&imp->def + setting->offset, &choice, sizeof(int));
  return DJ_OK;
}

static djStatus importSettings(djmImport* imp) {
  const mjModel* m = imp->m;
  size_t length = strlen(kPrefix);
  for (int i = 0; i < m->nnumeric; i++) {
    const char* name = djm_name(m, m->name_numericadr[i]);
    if (strncmp(name, kPrefix, length) != 0) continue;
    int size = m->numeric_size[i];
    double value = size > 0 ? m->numeric_data[m->numeric_adr[i]] : 0;
    djStatus status = setNumber(imp, "numeric", name, size, value);
    if (status != DJ_OK) return status;
  }
  for (int i = 0; i < m->ntext; i++) {
    const char* name = djm_name(m, m->name_textadr[i]);
    if (strncmp(name, kPrefix, length) != 0) continue;
    djStatus status = setText(imp, name, m->text_data + m->text_adr[i]);
    if (status != DJ_OK) return status;
  }
  return DJ_OK;
}

djStatus djm_importOption(djmImport* imp) {
  const mjModel* m = imp->m;
  djOption* option = &imp->def.option;
  *option = dj_defaultOption();
  option->timestep = m->opt.timestep;
  mju_copy3(option->gravity, m->opt.gravity);
  mju_copy3(option->wind, m->opt.wind);
  option->density = m->opt.density;
  option->viscosity = m->opt.viscosity;
  option->disable = disableBits(m);
  return importSettings(imp);
}
