// Names of parameters with a pattern in the element's place: "mesh/jaw_*/vert".

#include "base/status.h"
#include "model/kernel_setting.h"
#include "model/param_row.h"

#include <stdio.h>
#include <string.h>

// `*` stands for any characters, also for none. Where a text goes on differently than the pattern
// after a star, the star takes one character more.
bool dj_matches(const char* pattern, size_t length, const char* text) {
  size_t p = 0, star = length;
  const char* after = text;
  while (*text) {
    if (p < length && pattern[p] == '*') {
      star = p++;
      after = text;
    } else if (p < length && pattern[p] == *text) {
      p++, text++;
    } else if (star < length) {
      p = star + 1;
      text = ++after;
    } else {
      return false;
    }
  }
  while (p < length && pattern[p] == '*') p++;
  return p == length;
}

static bool isField(const djFieldRow* row, const char* name, const char* first, const char* last) {
  size_t kind = (size_t)(first - name);
  return row->object != DJ_NOBJ && strlen(row->kind) == kind &&
         strncmp(row->kind, name, kind) == 0 && strcmp(row->name, last + 1) == 0;
}

void dj_listElements(char* what, size_t size, const djModel* m, djObject object) {
  int n = dj_objectCount(m, object), listed = 0;
  for (int i = 0; i < n && listed < 8; i++) {
    const char* name = dj_id2name(m, object, i);
    size_t used = strlen(what);
    if (!name[0]) continue;
    snprintf(what + used, size - used, "%s'%.40s'", listed++ == 0 ? ", there are " : ", ", name);
  }
  size_t used = strlen(what);
  if (listed == 0) snprintf(what + used, size - used, ", there are %d without a name", n);
  else if (listed < n) snprintf(what + used, size - used, "...");
}

static djStatus failMatch(djError* err, const djModel* m, const char* name, djObject object) {
  char what[400] = "";
  dj_listElements(what, sizeof what, m, object);
  return dj_fail(err, DJ_INVALID, "'%.100s': no %s is called like that%s", name,
                 dj_objectName(object), what);
}

// Elements match, but none has the parameter: geoms without points of their own.
static djStatus failHave(djError* err, const char* name, const char* what, djObject object) {
  return dj_fail(err, DJ_INVALID, "'%.100s': no %s that is called like that has %.40s", name,
                 dj_objectName(object), what);
}

int dj_matchParams(djParam* param, int room, const djModel* m, const char* name, djError* err) {
  djParam one;
  djError exact;
  const char *first = name ? strchr(name, '/') : NULL, *last = name ? strrchr(name, '/') : NULL;
  djStatus status = dj_paramId(&one, m, name, &exact);
  if (status == DJ_OK && room > 0 && param) *param = one;
  if (status == DJ_OK) return 1;
  if (status == DJ_NO_MEMORY) return dj_failMemory(err);
  int field = -1;
  bool pattern = m && first && last > first && memchr(first, '*', (size_t)(last - first));
  for (int f = 0; f < DJ_NFIELD && pattern; f++) {
    if (isField(&dj_paramRows[f], name, first, last)) field = f;
  }
  if (field < 0) return dj_fail(err, status, "%s", exact.text);
  djObject object = dj_paramRows[field].object;
  int n = 0, called = 0;
  for (int i = object == DJ_OBJ_BODY ? 1 : 0; i < dj_objectCount(m, object); i++) {
    const char* element = dj_id2name(m, object, i);
    if (!dj_matches(first + 1, (size_t)(last - first - 1), element)) continue;
    called++;
    if (!dj_makeParam(&one, m, (djField)field, i)) continue;
    if (n < room && param) param[n] = one;
    n++;
  }
  if (n == 0 && called > 0) return (int)failHave(err, name, last + 1, object);
  return n > 0 ? n : (int)failMatch(err, m, name, object);
}

// "contact/SETTING" of the scene's kernel, "contact/KERNEL/SETTING" of another one.
static int writeSetting(char* text, size_t size, const djModel* m, const djParam* p) {
  int kernel, scene = m->opt.contact == DJ_CONTACT_NONE ? 0 : (int)m->opt.contact;
  const djSetting* row = dj_settingOfSlot(&kernel, dj_settingParam(p->id));
  if (kernel == scene) return snprintf(text, size, "contact/%s", row->name);
  return snprintf(text, size, "contact/%s/%s", dj_kernelName(kernel), row->name);
}

// Bytes without the end, as snprintf's.
static int writeName(char* text, size_t size, const djModel* m, const djParam* p) {
  if (p->field == DJ_FIELD_SETTING) return writeSetting(text, size, m, p);
  const djFieldRow* row = &dj_paramRows[p->field];
  const char* name = dj_id2name(m, row->object, p->id);
  if (row->object == DJ_NOBJ) return snprintf(text, size, "%s/%s", row->kind, row->name);
  if (name[0]) return snprintf(text, size, "%s/%s/%s", row->kind, name, row->name);
  return snprintf(text, size, "%s/#%d/%s", row->kind, p->id, row->name);
}

const char* dj_paramName(char* text, size_t size, const djModel* m, const djParam* p) {
  if (!text || size == 0) return "";
  text[0] = 0;
  if (m && p && dj_isParam(m, p)) writeName(text, size, m, p);
  return text;
}

size_t dj_paramNameSize(const djModel* m, const djParam* p) {
  if (!m || !p || !dj_isParam(m, p)) return 1;
  return (size_t)writeName(NULL, 0, m, p) + 1;
}
