// Contact models, settings and restitution of single pairs and geoms, in <custom>:
//
//   text dijoco_contact/ELEMENT           a contact model
//   numeric, text dijoco_SETTING/ELEMENT  a setting of the pair or geom, or
//   numeric, text dijoco_restitution/ELEMENT  its coefficient of restitution, or
//   numeric dijoco_soft_depth/ELEMENT     how deep MuJoCo's contact is taken to rest, or
//   numeric dijoco_contact/MODEL/SETTING  of all pairs of a model other than the first
//   text dijoco_shape/ELEMENT, numeric dijoco_sharpness/ELEMENT  of a geom (import_surface.c)
//   numeric dijoco_points/ELEMENT...      of a geom, and dijoco_penalty (import_points.c)
//
// ELEMENT: name of an explicit pair, else of a geom, or a geom's "#id".

#include "import.h"

#include <dijoco/setting.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char kPrefix[] = "dijoco_", kContact[] = "dijoco_contact/";
static const char kRestitution[] = "dijoco_restitution/", kDepth[] = "dijoco_soft_depth/";
static const char kShape[] = "dijoco_shape/", kSharpness[] = "dijoco_sharpness/";

static djStatus refuse(djmImport* imp, const char* kind, const char* field, const char* why) {
  snprintf(imp->err->text, sizeof(imp->err->text), "%s/%.100s: %.380s", kind, field, why);
  return DJ_INVALID;
}

// A field of ours, as its text or its numbers.
typedef struct Field {
  const char *kind, *name;
  const char* text;          // NULL: a numeric
  int size;
  double value;
  const double* data;        // (size) of a numeric
  const char* element;       // what follows the first '/', or ""
  char word[200];            // text without blanks at its end
} Field;

bool djm_isOwnSetting(const char* name) {
  if (strncmp(name, kPrefix, strlen(kPrefix)) != 0) return false;
  return strchr(name, '/') || djm_isPenalty(name);
}

static Field openField(const char* kind, const char* name, const char* text) {
  const char* slash = strchr(name, '/');
  Field f = {.kind = kind, .name = name, .text = text, .element = slash ? slash + 1 : ""};
  if (!text) return f;
  snprintf(f.word, sizeof(f.word), "%s", text);
  for (size_t n = strlen(f.word); n > 0 && f.word[n - 1] == ' '; n--) f.word[n - 1] = '\0';
  return f;
}

// The geom that a name or #id means, or -1.
static int findGeom(const djmImport* imp, const char* name) {
  for (int i = 0; i < imp->def.ngeom; i++) {
    if (strcmp(imp->def.geom[i].name, name) == 0) return i;
  }
  if (name[0] != '#') return -1;
  char* end;
  long id = strtol(name + 1, &end, 10);
  return end != name + 1 && !*end && id >= 0 && id < imp->def.ngeom ? (int)id : -1;
}

// The pair or geom that a name means; both -1: none.
static void findElement(int* pair, int* geom, const djmImport* imp, const char* name) {
  *pair = *geom = -1;
  for (int i = 0; i < imp->def.npair && *pair < 0; i++) {
    if (strcmp(imp->def.pair[i].name, name) == 0) *pair = i;
  }
  if (*pair < 0) *geom = findGeom(imp, name);
}

// The row of a setting's name (length), of a model or of any (-1).
static const djSetting* findRow(const char* name, size_t length, int only) {
  const djSetting* row;
  int model;
  for (int i = 0; (row = dj_contactSetting(&model, i)); i++) {
    bool same = strlen(row->name) == length && strncmp(row->name, name, length) == 0;
    if (same && (only < 0 || model == only)) break;
  }
  return row;
}

static djStatus readValue(double* value, djmImport* imp, const Field* f, const djSetting* row) {
  if (!f->text) {
    *value = f->value;
    return f->size == 1 ? DJ_OK : refuse(imp, f->kind, f->name, "one number is expected");
  }
  char why[300] = "unknown value, expected one of";
  for (const djChoice* c = row->choice; c && c->name; c++) {
    size_t n = strlen(why);
    *value = c->value;
    if (strcmp(c->name, f->word) == 0) return DJ_OK;
    snprintf(why + n, sizeof(why) - n, " %s", c->name);
  }
  if (row->choice) return refuse(imp, f->kind, f->name, why);
  char* end;
  *value = strtod(f->word, &end);
  bool number = end != f->word && !*end;
  return number ? DJ_OK : refuse(imp, f->kind, f->name, "is not a number");
}

// The contact model of this name, -1 where there is none.
static int findModel(const char* name, size_t length) {
  for (int k = 0; dj_contactName((djContactModel)k)[0]; k++) {
    const char* own = dj_contactName((djContactModel)k);
    if (strlen(own) == length && strncmp(own, name, length) == 0) return k;
  }
  return -1;
}

// A field's settings into the next entry of the list.
static djStatus addSetting(djmImport* imp, djSettingDef* list, const Field* f) {
  djSettingDef s = {NULL, NULL, -1, -1, 0};
  const char *first = f->name + strlen(kPrefix), *last = strrchr(f->name, '/');
  const djSetting* row = NULL;
  if (strncmp(f->name, kContact, strlen(kContact)) == 0 && last >= f->element) {
    size_t length = (size_t)(last - f->element);
    int kernel = findModel(f->element, length);
    if (kernel < 0) return refuse(imp, f->kind, f->name, "there is no such contact model");
    s.model = dj_contactName((djContactModel)kernel);
    row = findRow(last + 1, strlen(last + 1), kernel);
  } else {
    row = findRow(first, (size_t)(f->element - 1 - first), -1);
    findElement(&s.pair, &s.geom, imp, f->element);
    if (row && s.pair < 0 && s.geom < 0) {
      return refuse(imp, f->kind, f->name, "there is no pair or geom of that name");
    }
  }
  if (!row) return refuse(imp, f->kind, f->name, "there is no such contact setting");
  djStatus status = readValue(&s.value, imp, f, row);
  s.name = row->name;
  if (status == DJ_OK) list[imp->def.nsetting++] = s;
  return status;
}

static djStatus setModel(djmImport* imp, djGeomDef* geom, djPairDef* pair, const Field* f) {
  int p, g;
  findElement(&p, &g, imp, f->element);
  if (p < 0 && g < 0) {
    return refuse(imp, f->kind, f->name, "there is no pair or geom of that name");
  }
  char* name = djm_alloc(imp, strlen(f->word) + 1, 1);
  if (!name) return DJ_NO_MEMORY;
  strcpy(name, f->word);
  *(p >= 0 ? &pair[p].contact : &geom[g].contact) = name;
  return DJ_OK;
}

// What is given counts, whatever solref is.
static djStatus setRestitution(djmImport* imp, djGeomDef* geom, djPairDef* pair, const Field* f) {
  static const djSetting number = {.name = "restitution", .kind = DJ_SETTING_REAL, .size = 1};
  int p, g;
  double value;
  findElement(&p, &g, imp, f->element);
  if (p < 0 && g < 0) {
    return refuse(imp, f->kind, f->name, "there is no pair or geom of that name");
  }
  djStatus status = readValue(&value, imp, f, &number);
  if (status != DJ_OK) return status;
  if (!(value >= 0 && value <= 1)) {
    return refuse(imp, f->kind, f->name, "must be between 0 and 1");
  }
  *(p >= 0 ? &pair[p].restitution : &geom[g].restitution) = value;
  *(p >= 0 ? &pair[p].solref_restitution : &geom[g].solref_restitution) = 0;
  return DJ_OK;
}

// Of a pair or geom, instead of what solref and solimp give.
static djStatus setDepth(djmImport* imp, djGeomDef* geom, djPairDef* pair, const Field* f) {
  static const djSetting number = {.name = "soft_depth", .kind = DJ_SETTING_REAL, .size = 1};
  int p, g;
  findElement(&p, &g, imp, f->element);
  if (p < 0 && g < 0) {
    return refuse(imp, f->kind, f->name, "there is no pair or geom of that name");
  }
  double* value = p >= 0 ? &pair[p].soft_depth : &geom[g].soft_depth;
  djStatus status = readValue(value, imp, f, &number);
  if (status != DJ_OK || *value >= 0) return status;
  return refuse(imp, f->kind, f->name, "must be 0 or more");
}

// An implicit surface, or the sharpness of the one that fits.
static djStatus setSurface(djmImport* imp, djGeomDef* geom, const Field* f, bool shape) {
  static const djSetting number = {.name = "sharpness", .kind = DJ_SETTING_REAL, .size = 1};
  const int g = findGeom(imp, f->element);
  if (g < 0) return refuse(imp, f->kind, f->name, "there is no geom of that name");
  if (!shape) {
    double* value = &geom[g].sharpness;
    const djStatus status = readValue(value, imp, f, &number);
    if (status != DJ_OK || *value >= 1) return status;
    return refuse(imp, f->kind, f->name, "must be at least 1");
  }
  char why[200];
  const char* problem = f->text ? djm_importShape(why, imp, &geom[g], f->text) : "must be a text";
  return problem ? refuse(imp, f->kind, f->name, problem) : DJ_OK;
}

static djStatus setPoints(djmImport* imp, djGeomDef* geom, const Field* f) {
  const int g = findGeom(imp, f->element);
  if (g < 0) return refuse(imp, f->kind, f->name, "there is no geom of that name");
  const char* problem = djm_importPoints(imp, &geom[g], f->name, f->data, f->size);
  return problem ? refuse(imp, f->kind, f->name, problem) : DJ_OK;
}

static djStatus addPenalty(djmImport* imp, djSettingDef* list, const Field* f) {
  djSettingDef s = {NULL, NULL, -1, -1, 0};
  if (!strchr(f->name, '/')) s.model = "penalty";
  else findElement(&s.pair, &s.geom, imp, f->element);
  if (!s.model && s.pair < 0 && s.geom < 0) {
    return refuse(imp, f->kind, f->name, "there is no pair or geom of that name");
  }
  djSettingDef* at = list + imp->def.nsetting;
  for (int k = 0; k < 3; k++) at[k] = s;
  const char* problem = djm_importPenalty(at, f->data, f->size);
  if (problem) return refuse(imp, f->kind, f->name, problem);
  imp->def.nsetting += 3;
  return DJ_OK;
}

static djStatus setField(djmImport* imp, djGeomDef* geom, djPairDef* pair, djSettingDef* list,
                         const Field* f) {
  if (djm_isLimitInertia(f->name)) return DJ_OK;
  if (djm_isPenalty(f->name)) return addPenalty(imp, list, f);
  if (djm_isPointField(f->name)) return setPoints(imp, geom, f);
  bool model = f->text && strncmp(f->name, kContact, strlen(kContact)) == 0;
  if (model) return setModel(imp, geom, pair, f);
  bool shape = strncmp(f->name, kShape, strlen(kShape)) == 0;
  bool sharpness = strncmp(f->name, kSharpness, strlen(kSharpness)) == 0;
  if (shape || sharpness) return setSurface(imp, geom, f, shape);
  if (strncmp(f->name, kDepth, strlen(kDepth)) == 0) return setDepth(imp, geom, pair, f);
  bool restitution = strncmp(f->name, kRestitution, strlen(kRestitution)) == 0;
  return restitution ? setRestitution(imp, geom, pair, f) : addSetting(imp, list, f);
}

static int countFields(const mjModel* m) {
  int n = 0;
  for (int i = 0; i < m->nnumeric; i++) n += djm_isOwnSetting(djm_name(m, m->name_numericadr[i]));
  for (int i = 0; i < m->ntext; i++) n += djm_isOwnSetting(djm_name(m, m->name_textadr[i]));
  return n;
}

djStatus djm_importPairSettings(djmImport* imp, djGeomDef* geom, djPairDef* pair) {
  const mjModel* m = imp->m;
  int n = countFields(m);
  djSettingDef* list = n > 0 ? djm_alloc(imp, 3 * (size_t)n, sizeof(*list)) : NULL;
  if (n == 0) return DJ_OK;
  if (!list) return DJ_NO_MEMORY;
  imp->def.setting = list;
  for (int i = 0; i < m->nnumeric; i++) {
    const char* name = djm_name(m, m->name_numericadr[i]);
    if (!djm_isOwnSetting(name)) continue;
    Field f = openField("numeric", name, NULL);
    f.size = m->numeric_size[i];
    f.data = m->numeric_data + m->numeric_adr[i];
    f.value = f.size > 0 ? f.data[0] : 0;
    djStatus status = setField(imp, geom, pair, list, &f);
    if (status != DJ_OK) return status;
  }
  for (int i = 0; i < m->ntext; i++) {
    const char* name = djm_name(m, m->name_textadr[i]);
    if (!djm_isOwnSetting(name)) continue;
    Field f = openField("text", name, m->text_data + m->text_adr[i]);
    djStatus status = setField(imp, geom, pair, list, &f);
    if (status != DJ_OK) return status;
  }
  return DJ_OK;
}
