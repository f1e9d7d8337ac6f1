// Writing a model file: one object per element, with the keys that differ from the defaults.

#include "io/model_save.h"

#include "base/status.h"
#include "io/model_contact.h"
#include "io/model_exact.h"
#include "io/model_flex.h"
#include "io/model_shape.h"
#include "io/settings.h"
#include "model/element.h"
#include "model/joint_type.h"

#include <dijoco/io.h>

#include <stdlib.h>
#include <string.h>

// Coordinates that a joint has without being told (see djJointDef), or NULL. buffer is for them.
static const double* givenCoordinates(double buffer[7], const djModelDef* def,
                                      const djJointDef* j, bool spring) {
  static const double scalar[1] = {0}, ball[4] = {1, 0, 0, 0};
  const djJointRow* row = &dj_jointRows[j->type];
  if (!row->pose) return row->quat ? ball : scalar;
  if (spring) return j->qpos0;
  memcpy(buffer, def->body[j->body].pos, 3 * sizeof(double));
  memcpy(buffer + 3, def->body[j->body].quat, 4 * sizeof(double));
  return buffer;
}

static void addVector(djText* t, const double* v, int n) {
  if (n != 1) dj_addText(t, "[");
  for (int k = 0; k < n; k++) {
    if (k > 0) dj_addText(t, ", ");
    dj_addJsonNumber(t, v[k]);
  }
  if (n != 1) dj_addText(t, "]");
}

// Without the zeros at the end, but three.
static void addSome(djText* t, const double* v, int n) {
  while (n > 3 && v[n - 1] == 0) n--;
  addVector(t, v, n);
}

// An element by its name, or by its index where it has none.
static void addReference(djText* t, const djModelDef* def, djObject kind, int id) {
  const char* name = id >= 0 ? dj_elementName(def, (int)kind, id) : NULL;
  if (name && name[0]) dj_addQuoted(t, name);
  else dj_addInt(t, id);
}

static void addValue(djText* t, const djModelDef* def, const djElementField* f,
                     const char* field, int ncoord) {
  int number = 0;
  switch (f->type) {
    case DJ_IS_REAL: addVector(t, (const double*)(const void*)field, f->count); return;
    case DJ_IS_REALS: addSome(t, (const double*)(const void*)field, f->count); return;
    case DJ_IS_COORD: addVector(t, (const double*)(const void*)field, ncoord); return;
    case DJ_IS_BOOL: dj_addText(t, *(const bool*)field ? "true" : "false"); return;
    case DJ_IS_TEXT: dj_addQuoted(t, *(const char* const*)(const void*)field); return;
    default: memcpy(&number, field, sizeof number);
  }
  if (f->type == DJ_IS_INT) dj_addInt(t, number);
  else if (f->type == DJ_IS_NAMED) dj_addQuoted(t, dj_nameOf(f->choice, number));
  else addReference(t, def, f->object, number);
}

static bool isDefault(const djModelDef* def, const djElementField* f, const char* value,
                      const char* standard) {
  const char* field = value + f->at;
  if (f->type == DJ_IS_TEXT) {
    const char* text = *(const char* const*)(const void*)field;
    return !text || !text[0];
  }
  if (f->type == DJ_IS_COORD) {
    double buffer[7];
    const djJointDef* joint = (const djJointDef*)(const void*)value;
    bool spring = f->at == offsetof(djJointDef, springref);
    const double* given = givenCoordinates(buffer, def, joint, spring);
    return memcmp(field, given, sizeof(double) * (size_t)dj_jointNq((int)joint->type)) == 0;
  }
  return memcmp(field, standard + f->at, dj_fieldSize(f)) == 0;
}

// The members of an element that differ from `standard`, in an object that stays open; between what
// precedes the first.
static void addMembers(djText* t, const djModelDef* def, int kind, const char* value,
                       const char* standard, const char* between) {
  int ncoord = 0;
  if (kind == DJ_OBJ_JOINT) ncoord = dj_jointNq((int)((const djJointDef*)(const void*)value)->type);
  for (const djElementField* f = dj_elementKinds[kind].field; f->name; f++) {
    if (!f->always && isDefault(def, f, value, standard)) continue;
    dj_addText(t, between);
    dj_addQuoted(t, f->name);
    dj_addText(t, ": ");
    addValue(t, def, f, value + f->at, ncoord);
    between = ", ";
  }
}

// "name": [ one element a line ].
static void openList(djText* t, const char* name) {
  dj_addText(t, ",\n  ");
  dj_addQuoted(t, name);
  dj_addText(t, ": [");
}

static void startElement(djText* t, int i) { dj_addText(t, i > 0 ? ",\n    " : "\n    "); }

static void addPoints(djText* t, const djGeomDef* geom) {
  for (int i = 0; i < geom->npoint; i++) {
    dj_addText(t, i > 0 ? ", " : ", \"points\": [");
    addVector(t, geom->point + 3 * (size_t)i, 3);
  }
  if (geom->npoint > 0) dj_addText(t, "]");
}

static void addTriangles(djText* t, const char* key, int n, const int* face) {
  if (n == 0) return;
  dj_addText(t, ", ");
  dj_addQuoted(t, key);
  dj_addText(t, ": ");
  for (int k = 0; k < n; k++) {
    dj_addText(t, k > 0 ? ", [" : "[[");
    for (int c = 0; c < 3; c++) {
      if (c > 0) dj_addText(t, ", ");
      dj_addInt(t, face[3 * (size_t)k + (size_t)c]);
    }
    dj_addText(t, "]");
  }
  dj_addText(t, "]");
}

static void addMeshes(djText* t, const djModelDef* def) {
  if (def->nmesh == 0) return;
  openList(t, "meshes");
  for (int i = 0; i < def->nmesh; i++) {
    const djMeshDef* m = &def->mesh[i];
    startElement(t, i);
    dj_addText(t, "{");
    if (m->name && m->name[0]) {
      dj_addText(t, "\"name\": ");
      dj_addQuoted(t, m->name);
      dj_addText(t, ", ");
    }
    dj_addText(t, "\"vert\": [");
    for (int k = 0; k < m->nvert; k++) {
      if (k > 0) dj_addText(t, ", ");
      addVector(t, m->vert + 3 * (size_t)k, 3);
    }
    dj_addText(t, "]");
    addTriangles(t, "face", m->nface, m->face);
    addTriangles(t, "triangles", m->ntri, m->tri);
    dj_addText(t, "}");
  }
  dj_addText(t, "\n  ]");
}

static void addHfields(djText* t, const djModelDef* def) {
  if (def->nhfield == 0) return;
  openList(t, "hfields");
  for (int i = 0; i < def->nhfield; i++) {
    const djHfieldDef* h = &def->hfield[i];
    startElement(t, i);
    dj_addText(t, "{");
    if (h->name && h->name[0]) {
      dj_addText(t, "\"name\": ");
      dj_addQuoted(t, h->name);
      dj_addText(t, ", ");
    }
    dj_addText(t, "\"size\": ");
    addVector(t, h->size, 3);
    dj_addText(t, ", \"heights\": [");
    for (int k = 0; k < h->nrow; k++) {
      if (k > 0) dj_addText(t, ", ");
      addVector(t, h->height + (size_t)k * (size_t)h->ncol, h->ncol);
    }
    dj_addText(t, "]}");
  }
  dj_addText(t, "\n  ]");
}

// "joints" and "coef", or "path".
static void addWraps(djText* t, const djModelDef* def, const djTendonDef* tendon) {
  bool fixed = tendon->wrap[0].type == DJ_WRAP_JOINT;
  dj_addText(t, fixed ? "\"joints\": [" : "\"path\": [");
  for (int k = 0; k < tendon->nwrap; k++) {
    const djWrapDef* w = &tendon->wrap[k];
    if (k > 0) dj_addText(t, ", ");
    if (w->type == DJ_WRAP_SPHERE || w->type == DJ_WRAP_CYLINDER) {
      dj_addText(t, "{\"geom\": ");
      addReference(t, def, DJ_OBJ_GEOM, w->id);
      if (w->prm >= 0) {
        dj_addText(t, ", \"side\": ");
        addReference(t, def, DJ_OBJ_SITE, (int)w->prm);
      }
      dj_addText(t, "}");
      continue;
    }
    if (w->type != DJ_WRAP_PULLEY) {
      addReference(t, def, fixed ? DJ_OBJ_JOINT : DJ_OBJ_SITE, w->id);
      continue;
    }
    dj_addText(t, "{\"pulley\": ");
    dj_addJsonNumber(t, w->prm);
    dj_addText(t, "}");
  }
  dj_addText(t, "]");
  if (!fixed) return;
  dj_addText(t, ", \"coef\": [");
  for (int k = 0; k < tendon->nwrap; k++) {
    if (k > 0) dj_addText(t, ", ");
    dj_addJsonNumber(t, tendon->wrap[k].prm);
  }
  dj_addText(t, "]");
}

// What comes after the members of an element that are in its table.
static void addMore(djText* t, const djModelDef* def, int kind, int i) {
  if (kind == DJ_OBJ_PAIR) dj_addOwnSettings(t, def, -1, i);
  if (kind == DJ_OBJ_FLEX) dj_addFlexLists(t, &def->flex[i], def);
  if (kind != DJ_OBJ_GEOM) return;
  dj_addOwnSettings(t, def, i, -1);
  if (def->geom[i].surface) {
    dj_addText(t, ", ");
    dj_addShape(t, def->geom[i].surface);
  }
  addPoints(t, &def->geom[i]);
}

static void addList(djText* t, const djModelDef* def, int kind) {
  djAnyElement standard;
  int n = dj_elementCount(def, kind);
  if (n == 0) return;
  dj_defaultElement(&standard, kind);
  openList(t, dj_elementKinds[kind].list);
  for (int i = 0; i < n; i++) {
    startElement(t, i);
    dj_addText(t, "{");
    if (kind == DJ_OBJ_TENDON) addWraps(t, def, &def->tendon[i]);
    addMembers(t, def, kind, dj_elementAt(def, kind, i), (const char*)&standard,
               kind == DJ_OBJ_TENDON ? ", " : "");
    addMore(t, def, kind, i);
    dj_addText(t, "}");
  }
  dj_addText(t, "\n  ]");
}

static void addKeyRow(djText* t, const char* name, const double* v, int n) {
  if (n == 0) return;
  dj_addText(t, ", ");
  dj_addQuoted(t, name);
  dj_addText(t, ": [");
  for (int k = 0; k < n; k++) {
    if (k > 0) dj_addText(t, ", ");
    dj_addJsonNumber(t, v[k]);
  }
  dj_addText(t, "]");
}

static void addKeys(djText* t, const djModelDef* def, const djModel* model) {
  if (def->nkey == 0) return;
  openList(t, "keys");
  for (int i = 0; i < def->nkey; i++) {
    const djKeyDef* k = &def->key[i];
    startElement(t, i);
    dj_addText(t, "{\"name\": ");
    dj_addQuoted(t, k->name ? k->name : "");
    dj_addText(t, ", \"time\": ");
    dj_addJsonNumber(t, k->time);
    addKeyRow(t, "qpos", k->qpos, model->nq);
    addKeyRow(t, "qvel", k->qvel, model->nv);
    addKeyRow(t, "act", k->act, model->na);
    addKeyRow(t, "ctrl", k->ctrl, model->nu);
    addKeyRow(t, "mocap_pos", k->mocap_pos, 3 * model->nmocap);
    addKeyRow(t, "mocap_quat", k->mocap_quat, 4 * model->nmocap);
    dj_addText(t, "}");
  }
  dj_addText(t, "\n  ]");
}

// Settings that are not the defaults; all: every one, with what the default rules gave.
static void addOption(djText* t, const djModelDef* def, const djModel* model, bool all) {
  const djOption standard = dj_defaultOption();
  const char* between = "";
  const djSetting* s;
  dj_addText(t, ",\n  \"option\": {");
  for (int i = 0; (s = dj_setting(i)); i++) {
    double value[3], other[3];
    dj_getSetting(value, &model->opt, s);
    dj_getSetting(other, &standard, s);
    bool same = memcmp(value, other, sizeof(double) * (size_t)s->size) == 0;
    if (!(s->ways & DJ_BY_SCENE) || (same && !all)) continue;
    if (s->automatic && value[0] < 0) dj_settingInForce(value, model, s);
    dj_addText(t, between);
    dj_addQuoted(t, s->name);
    dj_addText(t, ": ");
    dj_addSetting(t, s, value);
    between = ", ";
  }
  dj_addModelSettings(t, def, &between);
  dj_addText(t, "}");
}

static void addModel(djText* t, const djModelDef* def, const djModel* model, bool all) {
  dj_addText(t, "{\n  \"dijoco_model\": 1,\n  \"name\": ");
  dj_addQuoted(t, def->name);
  addOption(t, def, model, all);
  addList(t, def, DJ_OBJ_BODY);
  addList(t, def, DJ_OBJ_JOINT);
  addMeshes(t, def);
  addHfields(t, def);
  addList(t, def, DJ_OBJ_GEOM);
  addList(t, def, DJ_OBJ_SITE);
  addList(t, def, DJ_OBJ_TENDON);
  addList(t, def, DJ_OBJ_FLEX);
  addList(t, def, DJ_OBJ_ACTUATOR);
  addList(t, def, DJ_OBJ_PAIR);
  addList(t, def, DJ_ELEMENT_EXCLUDE);
  addList(t, def, DJ_ELEMENT_GUIDE);
  addList(t, def, DJ_OBJ_EQUALITY);
  addKeys(t, def, model);
}

// Members of a text that are not those of the model that it makes.
static djStatus addExact(djText* text, const djModel* model, djError* err) {
  djModel* again = NULL;
  const size_t length = text->length;
  dj_addText(text, "\n}\n");
  if (text->failed) return DJ_OK;
  djStatus status = dj_loadModelText(&again, text->data, err);
  text->length = length;
  if (status == DJ_OK) dj_addExactArrays(text, model, again);
  dj_deleteModel(again);
  return status;
}

djStatus dj_modelText(djText* text, const djModel* model, int with, djError* err) {
  djModelDef def;
  void* storage = NULL;
  djStatus status = dj_getDef(&def, &storage, model, err);
  if (status < 0) return status;
  addModel(text, &def, model, (with & DJ_WITH_SETTINGS) != 0);
  dj_freeDef(storage);
  if (model->changed || with & DJ_WITH_EXACT) status = addExact(text, model, err);
  dj_addText(text, "\n}\n");
  if (text->failed) return dj_failMemory(err);
  if (status < 0) return status;
  return dj_checkJson(text->data, text->length, false, err);   // names may be other than UTF-8
}

djStatus dj_writeModel(const djModel* model, djFile* file, djError* err) {
  if (!model || !file) return dj_fail(err, DJ_INVALID, "model or file: NULL");
  djText text = {0};
  djStatus status = dj_modelText(&text, model, 0, err);
  if (status == DJ_OK) dj_writeFile(file, text.data, text.length);
  dj_freeText(&text);
  return status;
}

djStatus dj_saveModelText(char** text, const djModel* model, djError* err) {
  if (!text) return dj_fail(err, DJ_INVALID, "text: NULL");
  *text = NULL;
  if (!model) return dj_fail(err, DJ_INVALID, "model: NULL");
  djText made = {0};
  djStatus status = dj_modelText(&made, model, 0, err);
  if (status == DJ_OK) *text = made.data;
  else dj_freeText(&made);
  return status;
}

void dj_deleteText(char* text) { free(text); }

djStatus dj_saveModel(const djModel* model, const char* path, djError* err) {
  if (!model || !path) return dj_fail(err, DJ_INVALID, "model or path: NULL");
  djFile* file;
  djStatus status = dj_openFile(&file, path, err);
  if (status < 0) return status;
  status = dj_writeModel(model, file, err);
  if (status == DJ_OK) return dj_commitFile(file, err);
  dj_discardFile(file);
  return dj_prefix(err, status, path);
}
