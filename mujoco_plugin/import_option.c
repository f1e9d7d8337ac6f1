// Options: MuJoCo's, and the scene's own settings in <custom>.

#include "import.h"

#include <dijoco/setting.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Flags that mean the same to both.
static const struct {
  int mujoco, ours;
} kFlags[] = {
    {mjDSBL_CONTACT, DJ_DSBL_CONTACT},
    {mjDSBL_LIMIT, DJ_DSBL_LIMIT},
    {mjDSBL_FRICTIONLOSS, DJ_DSBL_FRICTIONLOSS},
    {mjDSBL_SPRING, DJ_DSBL_SPRING},
    {mjDSBL_DAMPER, DJ_DSBL_DAMPER},
    {mjDSBL_GRAVITY, DJ_DSBL_GRAVITY},
    {mjDSBL_CLAMPCTRL, DJ_DSBL_CLAMPCTRL},
    {mjDSBL_FILTERPARENT, DJ_DSBL_FILTERPARENT},
    {mjDSBL_ACTUATION, DJ_DSBL_ACTUATION},
    {mjDSBL_EQUALITY, DJ_DSBL_EQUALITY},
};
enum { NFLAG = sizeof(kFlags) / sizeof(*kFlags) };

static int disableBits(const mjModel* m) {
  int bits = 0;
  for (size_t i = 0; i < NFLAG; i++) {
    if (djm_disabled(m, kFlags[i].mujoco)) bits |= kFlags[i].ours;
  }
  return bits;
}

void djm_putDisableBits(mjModel* m, int bits) {
  for (size_t i = 0; i < NFLAG; i++) {
    bool off = bits & kFlags[i].ours;
    if (off == djm_disabled(m, kFlags[i].mujoco)) continue;
    m->opt.disableflags ^= kFlags[i].mujoco;
  }
}

// What MuJoCo's own integrator takes by the velocity at the end.
static djImplicitTerms implicitOf(const mjModel* m) {
  int integrator = m->opt.integrator;
  if (integrator == mjINT_IMPLICIT || integrator == mjINT_IMPLICITFAST) return DJ_TERMS_RATES;
  bool explicit_damping = integrator == mjINT_EULER && djm_disabled(m, mjDSBL_EULERDAMP);
  return explicit_damping ? DJ_TERMS_NONE : DJ_TERMS_DAMPING;
}

// Whether a force of actuator i depends on a velocity that is not along a coordinate.
static bool turnsByRate(const mjModel* m, int i) {
  int type = m->actuator_trntype[i], j = m->actuator_trnid[2 * i];
  bool joint = type == mjTRN_JOINT || type == mjTRN_JOINTINPARENT;
  bool turns = joint && (m->jnt_type[j] == mjJNT_BALL || m->jnt_type[j] == mjJNT_FREE);
  const mjtNum *gain = m->actuator_gainprm + mjNGAIN * i, *bias = m->actuator_biasprm + mjNBIAS * i;
  return (turns || type == mjTRN_SITE) &&
         ((m->actuator_gaintype[i] == mjGAIN_AFFINE && gain[2] != 0) ||
          (m->actuator_biastype[i] == mjBIAS_AFFINE && bias[2] != 0));
}

const char* djm_beyondEuler(const mjModel* m) {
  if (djm_bentArmature(m)) return "there is armature along a path that bends";
  bool rates = m->opt.integrator == mjINT_IMPLICIT || m->opt.integrator == mjINT_IMPLICITFAST;
  for (int i = 0; i < m->nactuator && rates; i++) {
    if (turnsByRate(m, i)) return "actuators on balls, free joints or sites are damped";
  }
  return NULL;
}

// ------------------------------ scene settings --------------------------------------------------

static const char kPrefix[] = "dijoco_";

static djStatus refuse(djmImport* imp, const char* kind, const char* field, const char* why) {
  snprintf(imp->err->text, sizeof(imp->err->text), "%s/%.100s: %.380s", kind, field, why);
  return DJ_INVALID;
}

// The error of a setting without the name that it begins with.
static const char* without(const djError* err) {
  const char* colon = strchr(err->text, ':');
  return colon ? colon + 2 : err->text;
}

// The setting that a field names.
static djStatus find(const djSetting** setting, djmImport* imp, const char* kind,
                     const char* field) {
  *setting = dj_findSetting(field + strlen(kPrefix), DJ_BY_MJCF);
  if (*setting) return DJ_OK;
  char why[400] = "there is no such setting";
  const char* between = ", expected one of ";
  const djSetting* s;
  for (int i = 0; (s = dj_setting(i)); i++) {
    size_t n = strlen(why);
    if (!(s->ways & DJ_BY_MJCF)) continue;
    snprintf(why + n, sizeof(why) - n, "%s%s%s", between, kPrefix, s->name);
    between = ", ";
  }
  return refuse(imp, kind, field, why);
}

// kind: of the field that holds the number. Choices are given by their enumerators.
static djStatus setNumber(djmImport* imp, const char* kind, const char* field, int size,
                          double value) {
  const djSetting* setting;
  djSettings given = {.given = {0}};
  djError err;
  djStatus status = find(&setting, imp, kind, field);
  if (status != DJ_OK) return status;
  if (size != 1) return refuse(imp, kind, field, "one number is expected");
  if (dj_giveSetting(&given, setting, &value, &err) < 0) {
    return refuse(imp, kind, field, without(&err));
  }
  dj_applySettings(&imp->def.option, &given);
  return DJ_OK;
}

// The name of a choice, or a number, after which blanks may follow.
static djStatus setText(djmImport* imp, const char* field, const char* value) {
  const djSetting* setting;
  djSettings given = {.given = {0}};
  djError err;
  char text[200];
  djStatus status = find(&setting, imp, "text", field);
  if (status != DJ_OK) return status;
  snprintf(text, sizeof(text), "%s", value);
  for (size_t n = strlen(text); n > 0 && text[n - 1] == ' '; n--) text[n - 1] = '\0';
  if (setting->kind == DJ_SETTING_CHOICE) {
    char* end;
    double number = strtod(text, &end);
    if (end != text && !*end) return setNumber(imp, "text", field, 1, number);
  }
  if (dj_parseSetting(&given, setting->name, text, &err) < 0) {
    return refuse(imp, "text", field, without(&err));
  }
  dj_applySettings(&imp->def.option, &given);
  return DJ_OK;
}

// Names of bodies: they can be looked up in the finished model.
const char* const djm_guideBodies = "dijoco_guide_bodies";

djStatus djm_setGuideBodies(djModel* model, const djmImport* imp, const char* given) {
  const mjModel* m = imp->m;
  const char* text = NULL;
  for (int i = 0; i < m->ntext && !text; i++) {
    bool is = strcmp(djm_name(m, m->name_textadr[i]), djm_guideBodies) == 0;
    if (is) text = m->text_data + m->text_adr[i];
  }
  if (*given) text = given;
  return text ? dj_setGuideText(model, text, imp->err) : DJ_OK;
}

static djStatus importSettings(djmImport* imp) {
  const mjModel* m = imp->m;
  size_t length = strlen(kPrefix);
  for (int i = 0; i < m->nnumeric; i++) {
    const char* name = djm_name(m, m->name_numericadr[i]);
    if (strncmp(name, kPrefix, length) != 0 || djm_isOwnSetting(name)) continue;
    int size = m->numeric_size[i];
    double value = size > 0 ? m->numeric_data[m->numeric_adr[i]] : 0;
    djStatus status = setNumber(imp, "numeric", name, size, value);
    if (status != DJ_OK) return status;
  }
  for (int i = 0; i < m->ntext; i++) {
    const char* name = djm_name(m, m->name_textadr[i]);
    if (strncmp(name, kPrefix, length) != 0 || djm_isOwnSetting(name)) continue;
    if (strcmp(name, djm_guideBodies) == 0) continue;
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
  option->implicit = implicitOf(m);
  // whose springs are by the end of the step, as `position` has them
  if (m->opt.integrator == mjINT_DISCRETE) option->integrator = DJ_POSITION;
  return importSettings(imp);
}
