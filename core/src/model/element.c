#include "model/element.h"

#include "base/status.h"
#include "model/check.h"
#include "model/joint_type.h"

#include <string.h>

int dj_elementCount(const djModelDef* def, int kind) {
  return *(const int*)(const void*)((const char*)def + dj_elementKinds[kind].n);
}

const void* dj_elementList(const djModelDef* def, int kind) {
  const void* list;
  memcpy(&list, (const char*)def + dj_elementKinds[kind].array, sizeof list);
  return list;
}

const void* dj_elementAt(const djModelDef* def, int kind, int i) {
  return (const char*)dj_elementList(def, kind) + (size_t)i * dj_elementKinds[kind].size;
}

// Names are the first members of definitions that have them.
const char* dj_elementName(const djModelDef* def, int kind, int i) {
  const char* name = NULL;
  if (dj_elementKinds[kind].name_offset) {
    memcpy(&name, dj_elementAt(def, kind, i), sizeof name);
  }
  return name;
}

size_t dj_fieldSize(const djElementField* f) {
  if (dj_hasNumbers(f)) return (size_t)f->count * sizeof(double);
  return f->type == DJ_IS_BOOL ? sizeof(bool) : f->type == DJ_IS_TEXT ? sizeof(char*) : sizeof(int);
}

void dj_defaultElement(void* element, int kind) {
  const djElementKind* k = &dj_elementKinds[kind];
  memset(element, 0, k->size);
  for (const djElementField* f = k->field; f->name; f++) {
    char* to = (char*)element + f->at;
    int number = (int)f->standard[0];
    if (dj_hasNumbers(f)) memcpy(to, f->standard, dj_fieldSize(f));
    else if (f->type == DJ_IS_BOOL) *(bool*)to = number != 0;
    else if (f->type != DJ_IS_TEXT) memcpy(to, &number, sizeof number);
  }
}

// ---- checks ------------------------------------------------------------------------------------

static djStatus checkElement(const djModelDef* def, int kind, int i, djError* err) {
  const djElementKind* k = &dj_elementKinds[kind];
  const void* element = dj_elementAt(def, kind, i);
  djElementText text = dj_elementText(k->name, dj_elementName(def, kind, i), i);
  const char* problem = k->before ? k->before(def, i) : NULL;
  for (const djElementField* f = k->field; !problem && f->name; f++) {
    const char* wrong = f->check ? f->check(f, element) : NULL;
    if (wrong) return dj_fail(err, DJ_INVALID, "%s: %s %s", text.text, f->name, wrong);
  }
  if (!problem && k->after) problem = k->after(def, i);
  return problem ? dj_fail(err, DJ_INVALID, "%s: %s", text.text, problem) : DJ_OK;
}

djStatus dj_checkKind(const djModelDef* def, int kind, djError* err) {
  djStatus status = DJ_OK;
  int n = dj_elementCount(def, kind);
  for (int i = 0; i < n && status == DJ_OK; i++) status = checkElement(def, kind, i, err);
  return status;
}

// Quaternions among coordinates may be of any size.
static const char* sizeProblem(const djElementField* f, const char* element) {
  if (f->most == 0 || (f->flag && !*(const bool*)(element + f->flag))) return NULL;
  const djJointDef* joint = (const djJointDef*)(const void*)element;
  int n = f->type == DJ_IS_COORD ? dj_jointRows[joint->type].nplain : f->count;
  return dj_sizeProblem((const double*)(const void*)(element + f->at), n, f->most);
}

// "joint 'knee': damping is larger than 1e60"
djStatus dj_checkKindSizes(const djModelDef* def, int kind, djError* err) {
  const djElementKind* k = &dj_elementKinds[kind];
  int n = dj_elementCount(def, kind);
  for (int i = 0; i < n; i++) {
    for (const djElementField* f = k->field; f->name; f++) {
      const char* problem = sizeProblem(f, dj_elementAt(def, kind, i));
      if (!problem) continue;
      djElementText text = dj_elementText(k->name, dj_elementName(def, kind, i), i);
      return dj_fail(err, DJ_INVALID, "%s: %s %s", text.text, f->name, problem);
    }
  }
  return DJ_OK;
}

// ---- to models and back ------------------------------------------------------------------------

// Where the model has a field of element i, or NULL.
static char* inModel(const djModel* m, const djElementField* f, int i) {
  char* array;
  if (!f->array) return NULL;
  memcpy(&array, (const char*)m + f->array, sizeof array);
  size_t entry = (size_t)i * (size_t)(f->columns ? f->columns : f->count) + (size_t)f->column;
  return array + entry * (dj_hasNumbers(f) ? sizeof(double) : sizeof(int));
}

void dj_fillKind(djModel* m, const djModelDef* def, int kind) {
  int n = dj_elementCount(def, kind);
  for (int i = 0; i < n; i++) {
    const char* element = dj_elementAt(def, kind, i);
    for (const djElementField* f = dj_elementKinds[kind].field; f->name; f++) {
      const char* from = element + f->at;
      char* to = inModel(m, f, i);
      double* number = (double*)(void*)to;
      if (!to) continue;
      if (f->unit_length) {
        if (!dj_makeUnit(number, (const double*)(const void*)from, f->count)) number[0] = 1;
      } else if (f->type == DJ_IS_BOOL) {
        *(int*)(void*)to = *(const bool*)from;
      } else {
        memcpy(to, from, dj_fieldSize(f));
      }
    }
  }
}

void dj_getKind(void* element, const djModel* m, int kind) {
  const djElementKind* k = &dj_elementKinds[kind];
  int n = *(const int*)(const void*)((const char*)m + k->count);
  char* out = element;
  for (int i = 0; i < n; i++, out += k->size) {
    dj_defaultElement(out, kind);
    if (k->name_offset) {
      const char* name = dj_id2name(m, (djObject)kind, i);
      memcpy(out, &name, sizeof name);
    }
    for (const djElementField* f = k->field; f->name; f++) {
      const char* from = inModel(m, f, i);
      if (!from) continue;
      if (f->type == DJ_IS_BOOL) *(bool*)(out + f->at) = *(const int*)(const void*)from != 0;
      else memcpy(out + f->at, from, dj_fieldSize(f));
    }
  }
}
