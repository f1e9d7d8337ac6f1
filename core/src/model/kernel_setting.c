#include "model/kernel_setting.h"

#include "base/status.h"
#include "model/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

int dj_contactNamed(const char* name) {
  if (!name || !name[0]) return DJ_CONTACT_DEFAULT;
  return dj_kernelNamed(name);   // "none": -1
}

const char* dj_contactWord(int contact) {
  if (contact == DJ_CONTACT_DEFAULT) return "";
  return contact == DJ_CONTACT_NONE ? "none" : dj_kernelName(contact);
}

int dj_settingParam(int i) {
  int slots = dj_settingSlots();
  for (int slot = 0; slot < slots && i >= 0; slot++) {
    if (dj_settingEntry(slot) && i-- == 0) return slot;
  }
  return -1;
}

int dj_settingParams(int slot) {
  int n = 0;
  for (int k = 0; k < slot; k++) n += dj_settingEntry(k) != NULL;
  return n;
}

// The row of a kernel's setting, or NULL.
static const djSetting* rowNamed(int kernel, const char* name) {
  int n, first;
  const djSetting* row = dj_kernelSettings(&n, &first, kernel);
  for (int i = 0; i < n; i++) {
    if (strcmp(row[i].name, name) == 0) return &row[i];
  }
  return NULL;
}

// The kernel that an option of this name is about; scene: that of the scene.
static int kernelOf(const char* name, int scene) {
  if (scene >= 0 && rowNamed(scene, name)) return scene;
  int kernel = 0;
  while (!rowNamed(kernel, name)) kernel++;
  return kernel;
}

const djSetting* dj_optionOfSlot(const djModel* m, int slot) {
  int kernel;
  const djSetting* row = dj_settingOfSlot(&kernel, slot);
  const djSetting* option = row->field ? row : dj_findSetting(row->name, 0);
  if (!option || !option->group) return NULL;   // not of contact
  return kernel == kernelOf(row->name, m->opt.contact) ? option : NULL;
}

bool dj_isOption(const djModel* m, int slot) {
  if (!m || slot < 0 || slot >= m->nkernelsetting) return false;
  return dj_optionOfSlot(m, slot) != NULL;
}

void dj_readGiven(djModel* m, int slot) {
  const djSetting* option = dj_optionOfSlot(m, slot);
  if (!option) return;
  int kernel;
  double value, *given = &m->kernel_given[slot];
  dj_readRow(&value, &m->opt, option);
  // A choice that another model has is about that one, unless the scene's lacks it.
  const djSetting* row = dj_settingOfSlot(&kernel, slot);
  const bool choice = row->kind == DJ_SETTING_CHOICE && row != option;
  if (choice && kernel != (int)m->opt.contact && !dj_isChoice(row->choice, (int)value)) return;
  // Else what names the kernel may have given it.
  if (option == dj_settingOfSlot(&kernel, slot) || value >= 0) *given = value;
}

void dj_mirrorSetting(djModel* m, int slot) {
  const djSetting* row = dj_optionOfSlot(m, slot);
  if (!row || row->kind != DJ_SETTING_REAL) return;
  dj_storeRow(&m->opt, row, &m->kernel_given[slot]);
  if (row->per_geom) return;
  memcpy((char*)m + row->in_force_offset, &m->kernel_setting[slot], sizeof(double));
}

// ------------------------------------------ rules ----------------------------------------------

// x: settings in force, with the new one; held: those before, which rules are to give again.
static void holdDefaults(djModel* m, int kernel, const double* held, double* x) {
  const djContactScale scale = dj_sceneScale(m);
  int n, first;
  const djSetting* row = dj_kernelSettings(&n, &first, kernel);
  const djKernelRule* rule = dj_kernelRules(kernel);
  for (int i = 0; i < n; i++) {
    double* given = m->kernel_given + first;
    if (given[i] >= 0 || !rule[i].rule || x[i] != held[i]) continue;
    if (row[i].per_geom) continue;   // geoms keep theirs: defaults_kept
    double before = rule[i].rule(&scale, held), now = rule[i].rule(&scale, x);
    if (before == now) continue;
    int factor = rule[i].factor - 1;
    if (factor >= 0 && now > 0) {
      x[factor] *= before / now;
      given[factor] = x[factor];
    } else {
      given[i] = x[i];
    }
  }
}

void dj_changeSetting(djModel* m, int slot, double value) {
  int kernel, n, first;
  double held[DJ_MAX_OF_KERNEL];
  if (dj_settingOfSlot(&kernel, slot)->automatic) m->defaults_kept = 1;
  dj_kernelSettings(&n, &first, kernel);
  double *x = m->kernel_setting + first, *given = m->kernel_given + first;
  int row = slot - first, factor = dj_kernelRules(kernel)[row].factor - 1;
  memcpy(held, x, (size_t)n * sizeof(double));
  if (given[row] < 0 && factor >= 0 && x[row] > 0) {
    x[factor] *= value / x[row];
    given[factor] = x[factor];
  } else {
    given[row] = value;
  }
  x[row] = value;
  holdDefaults(m, kernel, held, x);
  for (int i = 0; i < n; i++) dj_mirrorSetting(m, first + i);
}

// ------------------------------------------ definitions ----------------------------------------

// " separating_plane, none" for messages.
static void listNames(char* text, size_t size) {
  text[0] = 0;
  for (int k = 0; k < dj_kernelCount(); k++) {
    size_t n = strlen(text);
    snprintf(text + n, size - n, "%s, ", dj_kernelName(k));
  }
  size_t n = strlen(text);
  snprintf(text + n, size - n, "none");
}

static djStatus checkName(const char* contact, const char* kind, const char* name, int id,
                          djError* err) {
  if (!contact || !contact[0] || strcmp(contact, "none") == 0) return DJ_OK;
  if (dj_kernelNamed(contact) >= 0) return DJ_OK;
  char names[200];
  listNames(names, sizeof names);
  return dj_fail(err, DJ_INVALID, "%s: contact: unknown value '%.100s', expected one of %s",
                 dj_elementText(kind, name, id).text, contact, names);
}

// The element that a setting is of, for messages.
static djElementText ownerOf(const djModelDef* def, const djSettingDef* s) {
  if (s->pair >= 0 && s->pair < def->npair) {
    return dj_elementText("pair", def->pair[s->pair].name, s->pair);
  }
  if (s->geom >= 0 && s->geom < def->ngeom) {
    return dj_elementText("geom", def->geom[s->geom].name, s->geom);
  }
  djElementText text;
  snprintf(text.text, sizeof text.text, "contact/%.80s", s->model ? s->model : "");
  return text;
}

static bool ofModel(const djSettingDef* s) { return s->model && s->model[0]; }

static djStatus checkValue(const djModelDef* def, const djSettingDef* s,
                           const djSetting* row, djError* err) {
  djProblemText what;
  const char* problem = dj_rowProblem(&what, row, &s->value, false);
  if (!problem && row->per_geom && s->pair >= 0) problem = "is of a geom, not of a pair";
  bool own = s->pair >= 0 || s->geom >= 0;
  if (!problem && own && !(row->ways & DJ_BY_PAIR)) problem = "is of the scene";
  if (!problem) return DJ_OK;
  return dj_fail(err, DJ_INVALID, "%s: %s: %s", ownerOf(def, s).text, row->name, problem);
}

static djStatus checkSetting(const djModelDef* def, int i, djError* err) {
  const djSettingDef* s = &def->setting[i];
  bool model = ofModel(s), geom = s->geom >= 0, pair = s->pair >= 0;
  if (!s->name || geom + pair + model != 1 || s->geom >= def->ngeom || s->pair >= def->npair) {
    return dj_fail(err, DJ_INVALID, "setting #%d: is of one geom, pair or contact model", i);
  }
  int kernel, n, first, only = model ? dj_kernelNamed(s->model) : -1;
  if (model && only < 0) {
    return dj_fail(err, DJ_INVALID, "setting #%d: there is no contact model '%.100s'", i,
                   s->model);
  }
  dj_kernelSettings(&n, &first, only);
  bool found = false;
  for (int slot = 0; (slot = dj_settingNamed(s->name, slot)) >= 0; slot++) {
    const djSetting* row = dj_settingOfSlot(&kernel, slot);
    if (model && kernel != only) continue;
    djStatus status = checkValue(def, s, row, err);
    if (status < 0) return status;
    if (model && row->field && kernelOf(s->name, (int)def->option.contact) == only) {
      return dj_fail(err, DJ_INVALID, "%s: %s is one of the options", ownerOf(def, s).text,
                     s->name);
    }
    found = true;
  }
  if (found) return DJ_OK;
  return dj_fail(err, DJ_INVALID, "%s: there is no contact setting '%.100s'",
                 ownerOf(def, s).text, s->name);
}

djStatus dj_checkContact(const djModelDef* def, djError* err) {
  djStatus status = DJ_OK;
  for (int i = 0; i < def->ngeom && status == DJ_OK; i++) {
    status = checkName(def->geom[i].contact, "geom", def->geom[i].name, i, err);
  }
  for (int i = 0; i < def->npair && status == DJ_OK; i++) {
    status = checkName(def->pair[i].contact, "pair", def->pair[i].name, i, err);
  }
  for (int i = 0; i < def->nsetting && status == DJ_OK; i++) status = checkSetting(def, i, err);
  return status;
}

int dj_ownSettings(const djModelDef* def) {
  int n = 0;
  for (int i = 0; i < def->nsetting; i++) n += !ofModel(&def->setting[i]);
  return n;
}

// What a model has been given by name; options come when rules are applied.
static void fillGiven(djModel* m, const djSettingDef* s) {
  int n, first, only = dj_kernelNamed(s->model), slot = 0, kernel;
  dj_kernelSettings(&n, &first, only);
  while ((slot = dj_settingNamed(s->name, slot)) >= 0) {
    dj_settingOfSlot(&kernel, slot);
    if (kernel == only) m->kernel_given[slot] = s->value;
    slot++;
  }
}

void dj_fillSettings(djModel* m, const djModelDef* def) {
  int n = 0;
  for (int i = 0; i < m->nkernelsetting; i++) m->kernel_given[i] = -1;
  for (int i = 0; i < def->nsetting; i++) {
    const djSettingDef* s = &def->setting[i];
    if (ofModel(s)) {
      fillGiven(m, s);
      continue;
    }
    m->setting_slot[n] = dj_settingNamed(s->name, 0);
    m->setting_geom[n] = s->geom;
    m->setting_pair[n] = s->pair;
    m->setting_value[n++] = s->value;
  }
}

// What default rules gave each geom, where it is kept: rows of the first kernel.
enum { NKEPT = 6 };

static double keptOf(const djModel* m, int k, int geom) {
  const double* const kept[NKEPT] = {m->geom_radius, m->geom_load, m->geom_push, m->geom_skin,
                                      m->geom_bound, m->geom_part};
  return kept[k][geom];
}

// Whether some pair may have a tail.
static bool guides(const djModel* m) {
  int slot = dj_settingNamed("guide", 0);
  bool any = m->kernel_setting[slot] > 0;
  for (int i = 0; i < m->nsetting; i++) any |= m->setting_slot[i] == slot;
  return any;
}

// The slot of a geom's value that counts as given, or -1.
static int keptSlot(const djModel* m, int k, int geom) {
  static const char* const name[NKEPT] = {"inner_radius", "load", "recovery_load", "skin",
                                          "guide_radius", "guide_part"};
  int slot = dj_settingNamed(name[k], 0), kernel;
  double value = keptOf(m, k, geom);
  const djSetting* row = dj_settingOfSlot(&kernel, slot);
  if (k > 3 && !guides(m)) return -1;
  if (!m->defaults_kept || !(m->geom_radius[geom] > 0) || !dj_settingInRange(row, value)) return -1;
  for (int i = 0; i < m->nsetting; i++) {
    if (m->setting_slot[i] == slot && m->setting_geom[i] == geom) return -1;
  }
  return slot;
}

int dj_settingCount(const djModel* m) {
  int n = m->nsetting + m->nkernelsetting;
  for (int i = 0; i < NKEPT * m->ngeom; i++) n += keptSlot(m, i % NKEPT, i / NKEPT) >= 0;
  return n;
}

int dj_getSettings(djSettingDef* setting, const djModel* m) {
  int n = 0, kernel;
  for (int slot = 0; slot < m->nkernelsetting; slot++) {
    const djSetting* row = dj_settingOfSlot(&kernel, slot);
    if (dj_optionOfSlot(m, slot) || m->kernel_given[slot] < 0) continue;
    setting[n++] = (djSettingDef){row->name, dj_kernelName(kernel), -1, -1, m->kernel_given[slot]};
  }
  for (int i = 0; i < m->nsetting; i++) {
    const djSetting* row = dj_settingOfSlot(&kernel, m->setting_slot[i]);
    setting[n++] = (djSettingDef){row->name, NULL, m->setting_geom[i], m->setting_pair[i],
                                  m->setting_value[i]};
  }
  for (int i = 0; i < NKEPT * m->ngeom; i++) {
    int slot = keptSlot(m, i % NKEPT, i / NKEPT);
    if (slot < 0) continue;
    const djSetting* row = dj_settingOfSlot(&kernel, slot);
    setting[n++] = (djSettingDef){row->name, NULL, i / NKEPT, -1, keptOf(m, i % NKEPT, i / NKEPT)};
  }
  return n;
}

// ------------------------------------------ pairs ----------------------------------------------

// The more, the more it counts; 0: not of this pair. See djSettingDef.
static double rankOf(const djModel* m, int i, int pair, int geom1, int geom2) {
  int geom = m->setting_geom[i];
  if (m->setting_pair[i] >= 0) return m->setting_pair[i] == pair ? INFINITY : 0;
  if (geom != geom1 && geom != geom2) return 0;
  bool higher = m->geom_priority[geom] > m->geom_priority[geom1 + geom2 - geom];
  bool lower = m->geom_priority[geom] < m->geom_priority[geom1 + geom2 - geom];
  return higher ? 4 : lower ? 1 : geom > geom1 + geom2 - geom ? 3 : 2;
}

unsigned dj_addOwn(double* setting, const djModel* m, int kernel, int pair, int geom1, int geom2) {
  int n, first, of;
  unsigned own = 0;
  double rank[DJ_MAX_OF_KERNEL] = {0};
  const djSetting* row = dj_kernelSettings(&n, &first, kernel);
  for (int i = 0; i < m->nsetting; i++) {
    double now = rankOf(m, i, pair, geom1, geom2);
    const char* name = dj_settingOfSlot(&of, m->setting_slot[i])->name;
    for (int k = 0; k < n && now > 0; k++) {
      if (now < rank[k] || row[k].per_geom || strcmp(row[k].name, name) != 0) continue;
      setting[k] = m->setting_value[i];
      rank[k] = now;
      own |= 1u << k;
    }
  }
  return own;
}

double dj_geomGiven(const djModel* m, int kernel, int row, int geom) {
  int n, first, of;
  const djSetting* rows = dj_kernelSettings(&n, &first, kernel);
  double value = m->kernel_given[first + row];
  for (int i = 0; i < m->nsetting; i++) {
    if (m->setting_geom[i] != geom) continue;
    if (strcmp(dj_settingOfSlot(&of, m->setting_slot[i])->name, rows[row].name) == 0) {
      value = m->setting_value[i];
    }
  }
  return value;
}
