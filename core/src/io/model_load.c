// Reading a model file into a definition, and making the model.

#include "base/status.h"
#include "io/model_contact.h"
#include "io/model_exact.h"
#include "io/model_flex.h"
#include "io/model_shape.h"
#include "io/settings.h"
#include "io/text.h"
#include "model/activation.h"
#include "model/check.h"
#include "model/element.h"
#include "model/joint_type.h"
#include "model/setting.h"

#include <dijoco/io.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Names of one kind of element, sorted.
typedef struct djNameIndex {
  int n;
  struct djNameEntry {
    const char* name;
    int id;
  }* entry;
} djNameIndex;

typedef struct djLoader {
  djPool pool;
  djModelDef def;
  djError* err;
  djNameIndex index[DJ_NOBJ];
} djLoader;

static int compareEntries(const void* a, const void* b) {
  const struct djNameEntry *x = a, *y = b;
  int order = strcmp(x->name, y->name);
  return order ? order : x->id - y->id;
}

static int listCount(const cJSON* list) {
  int n = 0;
  for (const cJSON* c = list ? list->child : NULL; c; c = c->next) n++;
  return n;
}

// Collect the names of a list of elements, before anything refers to them.
static djStatus indexNames(djLoader* l, djNameIndex* index, const cJSON* list) {
  *index = (djNameIndex){0, NULL};
  index->entry = dj_poolTake(&l->pool, (size_t)listCount(list), sizeof *index->entry);
  if (!index->entry) return dj_failMemory(l->err);
  int id = 0;
  for (const cJSON* c = list ? list->child : NULL; c; c = c->next, id++) {
    const cJSON* name = dj_jsonGet(c, "name");
    if (!cJSON_IsString(name) || !name->valuestring[0]) continue;
    index->entry[index->n].name = name->valuestring;
    index->entry[index->n++].id = id;
  }
  qsort(index->entry, (size_t)index->n, sizeof *index->entry, compareEntries);
  return DJ_OK;
}

static int compareName(const void* name, const void* entry) {
  const struct djNameEntry* e = entry;
  return strcmp(name, e->name);
}

// key: of the item, or of the list that it is in.
static djStatus readReference(int* id, const djLoader* l, djObject kind, const cJSON* item,
                              const char* key, const djAt* at) {
  if (cJSON_IsNumber(item)) return dj_jsonInt(id, item, at);
  const char* name = NULL;
  if (!cJSON_IsString(item)) return dj_jsonFail(at, key, "must be a name or an index");
  djStatus status = dj_jsonText(&name, item, at);
  const djNameIndex* index = &l->index[kind];
  const struct djNameEntry* e =
      bsearch(name, index->entry, (size_t)index->n, sizeof *index->entry, compareName);
  if (!e) {
    char what[160];
    snprintf(what, sizeof what, "there is no '%.100s'", name);
    return dj_jsonFail(at, key, what);
  }
  *id = e->id;
  return status;
}

static djStatus readReals(double* out, int n, const cJSON* item, const djAt* at) {
  if (n > 1 || cJSON_IsArray(item)) return dj_jsonReals(out, n, item, at);
  return dj_jsonNumber(out, item, at);
}

// At most n numbers in a list, the others 0.
static djStatus readSome(double* out, int n, const cJSON* item, const djAt* at) {
  int given = cJSON_IsArray(item) ? cJSON_GetArraySize(item) : n;
  memset(out, 0, (size_t)n * sizeof *out);
  return dj_jsonReals(out, given < n ? given : n, item, at);
}

// One member into its field.
static djStatus readValue(const djLoader* l, const djElementField* f, char* field,
                          const cJSON* item, int ncoord, const djAt* at) {
  double* real = (double*)(void*)field;
  int number = 0;
  djStatus status = DJ_OK;
  switch (f->type) {
    case DJ_IS_REAL: return readReals(real, f->count, item, at);
    case DJ_IS_REALS: return readSome(real, f->count, item, at);
    case DJ_IS_COORD: return readReals(real, ncoord, item, at);
    case DJ_IS_BOOL: return dj_jsonBool((bool*)field, item, at);
    case DJ_IS_TEXT: return dj_jsonText((const char**)(void*)field, item, at);
    case DJ_IS_INT: status = dj_jsonInt(&number, item, at); break;
    case DJ_IS_NAMED: status = dj_jsonNamed(&number, item, f->choice, at); break;
    case DJ_IS_REFERENCE: status = readReference(&number, l, f->object, item, item->string, at);
  }
  if (status == DJ_OK) memcpy(field, &number, sizeof number);
  return status;
}

// Keys that are no fields of the table: they are read when all lists are there.
static const char* const geomKeys[] = {"shape", "points", NULL};
static const char* const tendonKeys[] = {"joints", "coef", "path", NULL};
static const char* const* const moreKeys[DJ_NELEMENT] = {
    [DJ_OBJ_GEOM] = geomKeys, [DJ_OBJ_TENDON] = tendonKeys, [DJ_OBJ_FLEX] = dj_flexLists};

static djStatus checkKeys(const cJSON* object, int kind, const djAt* at) {
  const char* names[DJ_MAX_KEYS] = {NULL};
  int n = 0;
  for (const djElementField* f = dj_elementKinds[kind].field; f->name; f++) names[n++] = f->name;
  for (int k = 0; moreKeys[kind] && moreKeys[kind][k]; k++) names[n++] = moreKeys[kind][k];
  if (kind == DJ_OBJ_GEOM || kind == DJ_OBJ_PAIR) {
    dj_listOwnSettings(names, n, DJ_MAX_KEYS - 1, kind == DJ_OBJ_PAIR);
  }
  return dj_jsonKeys(object, names, at);
}

static djStatus readElement(const djLoader* l, int kind, char* out, const cJSON* object,
                            const djAt* at) {
  djStatus status = checkKeys(object, kind, at);
  int ncoord = 1;
  dj_defaultElement(out, kind);
  for (const djElementField* f = dj_elementKinds[kind].field; f->name && status == DJ_OK; f++) {
    const cJSON* item = dj_jsonGet(object, f->name);
    if (!item) continue;
    status = readValue(l, f, out + f->at, item, ncoord, at);
    // A joint's type comes before its coordinates.
    if (kind == DJ_OBJ_JOINT && f->type == DJ_IS_NAMED && status == DJ_OK) {
      ncoord = dj_jointNq((int)((const djJointDef*)(const void*)out)->type);
    }
  }
  return status;
}

// "joint 'knee'" for the i-th object of a list.
static djElementText elementOf(const char* kind, const cJSON* object, int i) {
  const cJSON* name = dj_jsonGet(object, "name");
  return dj_elementText(kind, cJSON_IsString(name) ? name->valuestring : NULL, i);
}

// A list of elements.
static djStatus readList(djLoader* l, const cJSON* root, int kind) {
  const djElementKind* k = &dj_elementKinds[kind];
  const cJSON* list = dj_jsonGet(root, k->list);
  int n = listCount(list), i = 0;
  char* data = dj_poolTake(&l->pool, (size_t)n, k->size);
  if (!data) return dj_failMemory(l->err);
  memcpy((char*)&l->def + k->array, &data, sizeof data);
  memcpy((char*)&l->def + k->n, &n, sizeof n);
  for (const cJSON* c = list ? list->child : NULL; c; c = c->next, i++) {
    djElementText element = elementOf(k->name, c, i);
    djAt at = {l->err, element.text};
    djStatus status = readElement(l, kind, data + (size_t)i * k->size, c, &at);
    if (status < 0) return status;
  }
  return DJ_OK;
}

// "joints" and "coef" of a fixed tendon.
static djStatus readFixed(djLoader* l, djTendonDef* t, const cJSON* joints, const cJSON* coef,
                          const djAt* at) {
  if (!cJSON_IsArray(joints)) return dj_jsonFail(at, "joints", "must be a list");
  t->nwrap = listCount(joints);
  djWrapDef* wrap = dj_poolTake(&l->pool, (size_t)t->nwrap, sizeof *wrap);
  double* factor = dj_poolTake(&l->pool, (size_t)t->nwrap, sizeof *factor);
  if (!wrap || !factor) return dj_failMemory(l->err);
  if (!coef) return dj_jsonFail(at, "coef", "is missing");
  t->wrap = wrap;
  djStatus status = dj_jsonVector(factor, t->nwrap, coef, at);
  int k = 0;
  for (const cJSON* c = joints->child; c && status == DJ_OK; c = c->next, k++) {
    wrap[k] = (djWrapDef){DJ_WRAP_JOINT, -1, factor[k]};
    status = readReference(&wrap[k].id, l, DJ_OBJ_JOINT, c, "joints", at);
  }
  return status;
}

// {"geom": G, "side": SITE} of a path.
static djStatus readGeom(djLoader* l, djWrapDef* w, const cJSON* c, const djAt* at) {
  static const char* const keys[] = {"geom", "side", NULL};
  const cJSON* side = dj_jsonGet(c, "side");
  int site = -1;
  djStatus status = dj_jsonKeys(c, keys, at);
  if (status == DJ_OK) {
    status = readReference(&w->id, l, DJ_OBJ_GEOM, dj_jsonGet(c, "geom"), "path", at);
  }
  if (status == DJ_OK && side) status = readReference(&site, l, DJ_OBJ_SITE, side, "path", at);
  bool cylinder = w->id >= 0 && w->id < l->def.ngeom && l->def.geom[w->id].type == DJ_CYLINDER;
  w->type = cylinder ? DJ_WRAP_CYLINDER : DJ_WRAP_SPHERE;
  w->prm = site;
  return status;
}

// "path" of a spatial one: sites, and objects {"pulley": divisor} and {"geom": G, "side": SITE}.
static djStatus readPath(djLoader* l, djTendonDef* t, const cJSON* path, const djAt* at) {
  static const char* const keys[] = {"pulley", NULL};
  if (!cJSON_IsArray(path)) return dj_jsonFail(at, "path", "must be a list");
  t->nwrap = listCount(path);
  djWrapDef* wrap = dj_poolTake(&l->pool, (size_t)t->nwrap, sizeof *wrap);
  if (!wrap) return dj_failMemory(l->err);
  t->wrap = wrap;
  djStatus status = DJ_OK;
  int k = 0;
  for (const cJSON* c = path->child; c && status == DJ_OK; c = c->next, k++) {
    const cJSON* pulley = dj_jsonGet(c, "pulley");
    wrap[k] = (djWrapDef){pulley ? DJ_WRAP_PULLEY : DJ_WRAP_SITE, -1, 0};
    if (dj_jsonGet(c, "geom")) {
      status = readGeom(l, &wrap[k], c, at);
      continue;
    }
    if (!pulley) status = readReference(&wrap[k].id, l, DJ_OBJ_SITE, c, "path", at);
    else status = dj_jsonKeys(c, keys, at);
    if (pulley && status == DJ_OK) status = dj_jsonNumber(&wrap[k].prm, pulley, at);
  }
  return status;
}

// "joints" and "coef", or "path".
static djStatus readWraps(djLoader* l, djTendonDef* t, const cJSON* c, const djAt* at) {
  const cJSON *joints = dj_jsonGet(c, "joints"), *path = dj_jsonGet(c, "path");
  const cJSON* coef = dj_jsonGet(c, "coef");
  if (path && (joints || coef)) return dj_jsonFail(at, "path", "excludes joints and coef");
  if (joints) return readFixed(l, t, joints, coef, at);
  return path ? readPath(l, t, path, at) : DJ_OK;
}

static djStatus bodyOf(int* id, const void* loader, const cJSON* item, const djAt* at) {
  return readReference(id, loader, DJ_OBJ_BODY, item, "bodies", at);
}

// Triangles of nvert vertices.
static djStatus readFaces(djLoader* l, int* nface, const int** out, int nvert, const cJSON* item,
                          const djAt* at) {
  int n = 3;
  const double* v = NULL;
  djStatus status = dj_jsonRows(&v, nface, &n, item, &l->pool, at);
  if (status < 0) return status;
  int* face = dj_poolTake(&l->pool, 3 * (size_t)*nface, sizeof *face);
  if (!face) return dj_failMemory(l->err);
  for (int k = 0; k < 3 * *nface; k++) {
    if (!(v[k] >= 0 && v[k] < nvert)) {
      return dj_jsonFail(at, item->string, "names a vertex that does not exist");
    }
    face[k] = (int)v[k];
    if (face[k] != v[k]) return dj_jsonFail(at, item->string, "must hold integers");
  }
  *out = face;
  return DJ_OK;
}

static djStatus readMeshes(djLoader* l, const cJSON* root) {
  static const char* const keys[] = {"name", "vert", "face", "triangles", NULL};
  const cJSON* list = dj_jsonGet(root, "meshes");
  int n = listCount(list), i = 0;
  djMeshDef* mesh = dj_poolTake(&l->pool, (size_t)n, sizeof *mesh);
  if (!mesh) return dj_failMemory(l->err);
  l->def.mesh = mesh;
  l->def.nmesh = n;
  for (const cJSON* c = list ? list->child : NULL; c; c = c->next, i++) {
    djElementText element = elementOf("mesh", c, i);
    djAt at = {l->err, element.text};
    djStatus status = dj_jsonKeys(c, keys, &at);
    if (status < 0) return status;
    const cJSON* name = dj_jsonGet(c, "name");
    const cJSON* vert = dj_jsonGet(c, "vert");
    const cJSON* face = dj_jsonGet(c, "face");
    const cJSON* tri = dj_jsonGet(c, "triangles");
    int columns = 3;
    if (name) status = dj_jsonText(&mesh[i].name, name, &at);
    if (status == DJ_OK && !vert) status = dj_jsonFail(&at, "vert", "is missing");
    if (status == DJ_OK) {
      status = dj_jsonRows(&mesh[i].vert, &mesh[i].nvert, &columns, vert, &l->pool, &at);
    }
    djMeshDef* out = &mesh[i];
    if (status == DJ_OK && face) {
      status = readFaces(l, &out->nface, &out->face, out->nvert, face, &at);
    }
    if (status == DJ_OK && tri) {
      status = readFaces(l, &out->ntri, &out->tri, out->nvert, tri, &at);
    }
    if (status < 0) return status;
  }
  return DJ_OK;
}

static djStatus readHfields(djLoader* l, const cJSON* root) {
  static const char* const keys[] = {"name", "size", "heights", NULL};
  const cJSON* list = dj_jsonGet(root, "hfields");
  int n = listCount(list), i = 0;
  djHfieldDef* field = dj_poolTake(&l->pool, (size_t)n, sizeof *field);
  if (!field) return dj_failMemory(l->err);
  l->def.hfield = field;
  l->def.nhfield = n;
  for (const cJSON* c = list ? list->child : NULL; c; c = c->next, i++) {
    djElementText element = elementOf("hfield", c, i);
    djAt at = {l->err, element.text};
    djStatus status = dj_jsonKeys(c, keys, &at);
    if (status < 0) return status;
    const cJSON* name = dj_jsonGet(c, "name");
    const cJSON* size = dj_jsonGet(c, "size");
    const cJSON* heights = dj_jsonGet(c, "heights");
    if (name) status = dj_jsonText(&field[i].name, name, &at);
    if (status == DJ_OK && !size) status = dj_jsonFail(&at, "size", "is missing");
    if (status == DJ_OK) status = dj_jsonReals(field[i].size, 3, size, &at);
    if (status == DJ_OK && !heights) status = dj_jsonFail(&at, "heights", "is missing");
    field[i].ncol = -1;   // whatever the first row has
    if (status == DJ_OK) {
      status = dj_jsonRows(&field[i].height, &field[i].nrow, &field[i].ncol, heights, &l->pool, &at);
    }
    if (status < 0) return status;
  }
  return DJ_OK;
}

// A row of a key; missing: NULL.
static djStatus readKeyRow(djLoader* l, const double** out, const cJSON* object, const char* name,
                           int n, const djAt* at) {
  const cJSON* item = dj_jsonGet(object, name);
  if (!item) return DJ_OK;
  double* v = dj_poolTake(&l->pool, (size_t)n, sizeof *v);
  if (!v) return dj_failMemory(l->err);
  *out = v;
  return dj_jsonVector(v, n, item, at);
}

static djStatus readKey(djLoader* l, djKeyDef* key, const cJSON* object, const int size[5],
                        const djAt* at) {
  static const char* const keys[] = {"name", "time",      "qpos",       "qvel", "act",
                                     "ctrl", "mocap_pos", "mocap_quat", NULL};
  djStatus status = dj_jsonKeys(object, keys, at);
  if (status < 0) return status;
  const cJSON* name = dj_jsonGet(object, "name");
  const cJSON* time = dj_jsonGet(object, "time");
  if (name) status = dj_jsonText(&key->name, name, at);
  if (status == DJ_OK && time) status = dj_jsonNumber(&key->time, time, at);
  if (status == DJ_OK) status = readKeyRow(l, &key->qpos, object, "qpos", size[0], at);
  if (status == DJ_OK) status = readKeyRow(l, &key->qvel, object, "qvel", size[1], at);
  if (status == DJ_OK) status = readKeyRow(l, &key->act, object, "act", size[2], at);
  if (status == DJ_OK) status = readKeyRow(l, &key->ctrl, object, "ctrl", size[3], at);
  if (status == DJ_OK) {
    status = readKeyRow(l, &key->mocap_pos, object, "mocap_pos", 3 * size[4], at);
  }
  if (status == DJ_OK) {
    status = readKeyRow(l, &key->mocap_quat, object, "mocap_quat", 4 * size[4], at);
  }
  return status;
}

static djStatus readKeys(djLoader* l, const cJSON* root) {
  const cJSON* list = dj_jsonGet(root, "keys");
  int n = listCount(list), i = 0;
  djKeyDef* key = dj_poolTake(&l->pool, (size_t)n, sizeof *key);
  if (!key) return dj_failMemory(l->err);
  l->def.key = key;
  l->def.nkey = n;
  int size[5] = {0, 0, 0, l->def.nu, 0};  // nq, nv, na, nu, nmocap
  for (int k = 0; k < l->def.njnt; k++) {
    size[0] += dj_jointNq((int)l->def.joint[k].type);
    size[1] += dj_jointNv((int)l->def.joint[k].type);
  }
  for (int k = 0; k < l->def.nu; k++) size[2] += dj_activationCount(&l->def.actuator[k]);
  for (int k = 0; k < l->def.nbody; k++) size[4] += l->def.body[k].mocap;
  for (const cJSON* c = list ? list->child : NULL; c; c = c->next, i++) {
    djElementText element = elementOf("key", c, i);
    djAt at = {l->err, element.text};
    djStatus status = readKey(l, &key[i], c, size, &at);
    if (status < 0) return status;
  }
  return DJ_OK;
}

// Leaving an automatic one out is the only way to ask for its rule.
static djStatus readSetting(djOption* option, const djSetting* s, const cJSON* item,
                            const djAt* at) {
  double value[3] = {1};
  const djSetting* meant = dj_settingOfText(s, cJSON_GetStringValue(item));
  if (meant) {
    dj_storeRow(option, meant, value);
    return DJ_OK;
  }
  djStatus status = dj_jsonValue(value, s, item, at);
  if (status < 0) return status;
  if (s->automatic && value[0] < 0) return dj_jsonFail(at, item->string, "must not be negative");
  dj_storeRow(option, s, value);
  return DJ_OK;
}

// "contact": {...} as in tasks. What it gives may not be a key of the option, too.
static djStatus readContact(djLoader* l, const cJSON* item, const cJSON* option, const djAt* at) {
  djSettings settings = {{0}, l->def.option};
  djStatus status = dj_jsonGroup(&settings, "contact", DJ_BY_SCENE, NULL, item, at);
  for (const cJSON* c = item->child; c && status == DJ_OK; c = c->next) {
    if (dj_jsonGet(option, c->string)) status = dj_jsonFail(at, c->string, "is given twice");
  }
  if (status == DJ_OK) dj_applySettings(&l->def.option, &settings);
  return status;
}

static djStatus readOption(djLoader* l, const cJSON* object) {
  djAt at = {l->err, "option"};
  const char* names[DJ_MAX_SETTINGS + DJ_MAX_MODELS + 1] = {NULL};
  const djSetting* s;
  int n = 0;
  for (int i = 0; (s = dj_setting(i)); i++) {
    if (s->ways & DJ_BY_SCENE) names[n++] = s->name;
  }
  dj_listModels(names, n, DJ_MAX_SETTINGS + DJ_MAX_MODELS);
  djStatus status = dj_jsonKeys(object, names, &at);
  for (int i = 0; i < n && status == DJ_OK; i++) {
    const cJSON* item = dj_jsonGet(object, names[i]);
    s = dj_findSetting(names[i], 0);
    if (!item) continue;
    bool group = cJSON_IsObject(item) && strcmp(names[i], "contact") == 0;
    status = group ? readContact(l, item, object, &at)
                   : readSetting(&l->def.option, s, item, &at);
  }
  return status;
}

// Top level: known keys, and lists that are lists.
static djStatus readTop(djLoader* l, const cJSON* root) {
  static const char* const keys[] = {
      "dijoco_model", "name",  "option",    "gravity_ramp", "bodies",   "joints", "meshes",
      "geoms",        "sites", "tendons",   "actuators",    "pairs",    "excludes", "guides", "keys",
      "equalities",   "hfields", "flexes", "exact", NULL};
  djAt at = {l->err, ""};
  const cJSON* version = dj_jsonGet(root, "dijoco_model");
  if (!version && dj_jsonGet(root, "loss")) {
    return dj_jsonFail(&at, NULL, "a task, where a model is expected");
  }
  if (!version) return dj_jsonFail(&at, NULL, "not a DiJoCo model: 'dijoco_model' is missing");
  djStatus status = dj_jsonKeys(root, keys, &at);
  if (status < 0) return status;
  if (!cJSON_IsNumber(version) || version->valuedouble != 1) {
    return dj_jsonFail(&at, "dijoco_model", "unknown version of the format");
  }
  for (int k = 4; strcmp(keys[k], "exact") != 0; k++) {
    const cJSON* list = dj_jsonGet(root, keys[k]);
    if (list && !cJSON_IsArray(list)) return dj_jsonFail(&at, keys[k], "must be a list");
  }
  const cJSON* name = dj_jsonGet(root, "name");
  const cJSON* ramp = dj_jsonGet(root, "gravity_ramp");   // where it was before it was an option
  const cJSON* option = dj_jsonGet(root, "option");
  if (name) status = dj_jsonText(&l->def.name, name, &at);
  if (status == DJ_OK && ramp) status = dj_jsonNumber(&l->def.option.gravity_ramp, ramp, &at);
  if (status == DJ_OK && ramp && option && dj_jsonGet(option, "gravity_ramp")) {
    status = dj_jsonFail(&at, "gravity_ramp", "is given twice");
  }
  return status == DJ_OK && option ? readOption(l, option) : status;
}

// `shape` and `points`.
static djStatus readShape(djLoader* l, djGeomDef* geom, const cJSON* c, const djAt* at) {
  const cJSON *shape = dj_jsonGet(c, "shape"), *points = dj_jsonGet(c, "points");
  djStatus status = DJ_OK;
  int columns = 3;
  if (shape) status = dj_readShape(&geom->surface, shape, &l->pool, at);
  if (!points || status < 0) return status;
  status = dj_jsonRows(&geom->point, &geom->npoint, &columns, points, &l->pool, at);
  if (status < 0 || geom->npoint > 0) return status;
  return dj_jsonFail(at, "points", "has none: point_count 0 is no points");
}

// What moreKeys names, of all elements of a kind.
static djStatus readMore(djLoader* l, const cJSON* root, int kind) {
  const djElementKind* k = &dj_elementKinds[kind];
  const cJSON* list = dj_jsonGet(root, k->list);
  djStatus status = DJ_OK;
  int i = 0;
  for (const cJSON* c = list ? list->child : NULL; c && status == DJ_OK; c = c->next, i++) {
    void* element = (void*)(size_t)dj_elementAt(&l->def, kind, i);   // made by readList
    djElementText text = elementOf(k->name, c, i);
    djAt at = {l->err, text.text};
    if (kind == DJ_OBJ_GEOM) status = readShape(l, element, c, &at);
    else if (kind == DJ_OBJ_TENDON) status = readWraps(l, element, c, &at);
    else status = dj_readFlexLists(element, c, bodyOf, l, &l->pool, &at);
  }
  return status;
}

static djStatus readElements(djLoader* l, const cJSON* root) {
  djStatus status = DJ_OK;
  for (int kind = 0; kind < DJ_NOBJ && status == DJ_OK; kind++) {
    status = indexNames(l, &l->index[kind], dj_jsonGet(root, dj_elementKinds[kind].list));
  }
  for (int kind = 0; kind < DJ_NELEMENT && status == DJ_OK; kind++) {
    if (dj_elementKinds[kind].field->name) status = readList(l, root, kind);
  }
  if (status == DJ_OK) status = dj_readOwnSettings(&l->def, root, &l->pool, l->err);
  if (status == DJ_OK) status = readMore(l, root, DJ_OBJ_GEOM);
  if (status == DJ_OK) status = readMeshes(l, root);
  if (status == DJ_OK) status = readHfields(l, root);
  if (status == DJ_OK) status = readMore(l, root, DJ_OBJ_TENDON);
  if (status == DJ_OK) status = readMore(l, root, DJ_OBJ_FLEX);
  if (status == DJ_OK) status = readKeys(l, root);
  return status;
}

djStatus dj_readModel(djModel** model, const cJSON* root, const djWatch* watch, djError* err) {
  djLoader l = {.def = dj_defaultModelDef(), .err = err};
  if (watch) l.def.watch = *watch;
  djStatus status = readTop(&l, root);
  if (status == DJ_OK) status = readElements(&l, root);
  if (status == DJ_OK) status = dj_makeModel(model, &l.def, err);
  dj_poolFree(&l.pool);
  if (status == DJ_OK) status = dj_readExact(*model, dj_jsonGet(root, "exact"), err);
  if (status < 0) {
    dj_deleteModel(*model);
    *model = NULL;
  }
  return status;
}

static djStatus loadText(djModel** model, const char* text, size_t length, const djWatch* watch,
                         djError* err) {
  cJSON* root = NULL;
  djStatus status = dj_parseJson(&root, text, length, err);
  if (status == DJ_OK) status = dj_readModel(model, root, watch, err);
  cJSON_Delete(root);
  return status;
}

djStatus dj_loadModelText(djModel** model, const char* text, djError* err) {
  if (!model) return dj_fail(err, DJ_INVALID, "model: NULL");
  *model = NULL;
  if (!text) return dj_fail(err, DJ_INVALID, "text: NULL");
  return loadText(model, text, strlen(text), NULL, err);
}

djStatus dj_loadModelWatched(djModel** model, const char* path, const djWatch* watch,
                             djError* err) {
  if (!model) return dj_fail(err, DJ_INVALID, "model: NULL");
  *model = NULL;
  if (!path) return dj_fail(err, DJ_INVALID, "path: NULL");
  char* text = NULL;
  size_t length = 0;
  djStatus status = dj_readFile(&text, &length, path, err);
  if (status == DJ_OK) status = loadText(model, text, length, watch, err);
  free(text);
  return status < 0 ? dj_prefix(err, status, path) : status;
}

djStatus dj_loadModel(djModel** model, const char* path, djError* err) {
  return dj_loadModelWatched(model, path, NULL, err);
}
