// Names of parameters with patterns: "mesh/jaw_*/vert", "body/*/*", "contact/*", "*".

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

// Patterns of kind, element and field: all the same one where a name is a single star, and two of a
// model's own parameters, or of a kind of elements.
typedef struct Pattern {
  const char* part[3];
  size_t length[3];
} Pattern;

static Pattern patternOf(const char* name) {
  const char *first = strchr(name, '/'), *last = strrchr(name, '/'), *end = name + strlen(name);
  if (!first) return (Pattern){{name, name, name}, {1, 1, 1}};
  if (first == last) {
    Pattern p = {{name, first + 1, first + 1}, {0}};
    p.length[0] = (size_t)(first - name);
    p.length[1] = p.length[2] = (size_t)(end - first - 1);
    return p;
  }
  Pattern p = {{name, first + 1, last + 1}, {0}};
  p.length[0] = (size_t)(first - name);
  p.length[1] = (size_t)(last - first - 1);
  p.length[2] = (size_t)(end - last - 1);
  return p;
}

static bool isPart(const Pattern* p, int k, const char* text) {
  return dj_matches(p->part[k], p->length[k], text);
}

// A row that the pattern stands for. Of two parts the second is a field, or all of an element.
static bool isField(const djFieldRow* row, const Pattern* p, bool two) {
  if (two && row->object != DJ_NOBJ && !(p->length[1] == 1 && p->part[1][0] == '*')) return false;
  return isPart(p, 0, row->kind) && isPart(p, 2, row->name);
}

typedef struct Found {
  djParam* param;
  int room, n;
} Found;

static void addFound(Found* f, const djModel* m, djField field, int id) {
  djParam one;
  if (!dj_makeParam(&one, m, field, id)) return;
  if (f->n < f->room && f->param) f->param[f->n] = one;
  f->n++;
}

// Settings of the scene's kernel, or of one that is named.
static void findSettings(Found* f, const djModel* m, const Pattern* p, bool three) {
  int n, slot, scene = dj_ownContact(m) ? (int)m->opt.contact : 0;
  for (int kernel = 0; kernel < dj_kernelCount() && isPart(p, 0, "contact"); kernel++) {
    if (three ? !isPart(p, 1, dj_kernelName(kernel)) : kernel != scene) continue;
    const djSetting* row = dj_kernelSettings(&n, &slot, kernel);
    for (int i = 0; i < n; i++) {
      if (!dj_settingEntry(slot + i) || !isPart(p, 2, row[i].name)) continue;
      addFound(f, m, DJ_FIELD_SETTING, dj_settingParams(slot + i));
    }
  }
}

static void findAll(Found* f, const djModel* m, const char* name) {
  const Pattern p = patternOf(name);
  const char* first = strchr(name, '/');
  const bool two = first && first == strrchr(name, '/'), three = first && !two;
  for (int k = 0; k < DJ_FIELD_SETTING; k++) {
    const djFieldRow* row = &dj_paramRows[k];
    if (!isField(row, &p, two)) continue;
    if (row->object == DJ_NOBJ) {
      if (!three) addFound(f, m, (djField)k, 0);
      continue;
    }
    for (int i = row->object == DJ_OBJ_BODY ? 1 : 0; i < dj_objectCount(m, row->object); i++) {
      if (isPart(&p, 1, dj_id2name(m, row->object, i))) addFound(f, m, (djField)k, i);
    }
  }
  findSettings(f, m, &p, three);
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
  djStatus status = dj_paramId(&one, m, name, &exact);
  if (status == DJ_OK && room > 0 && param) *param = one;
  if (status == DJ_OK) return 1;
  if (status == DJ_NO_MEMORY) return dj_failMemory(err);
  bool pattern = m && name && (strchr(name, '/') ? strchr(name, '*') != NULL : !strcmp(name, "*"));
  Found found = {param, room, 0};
  if (pattern) findAll(&found, m, name);
  if (found.n > 0) return found.n;
  // an error about the element where all else is known
  const Pattern p = pattern ? patternOf(name) : (Pattern){{NULL}, {0}};
  for (int f = 0; f < DJ_FIELD_SETTING && pattern && strchr(name, '/') != strrchr(name, '/'); f++) {
    const djFieldRow* row = &dj_paramRows[f];
    if (row->object == DJ_NOBJ || !isField(row, &p, false)) continue;
    for (int i = 0; i < dj_objectCount(m, row->object); i++) {
      if (!isPart(&p, 1, dj_id2name(m, row->object, i))) continue;
      return (int)failHave(err, name, strrchr(name, '/') + 1, row->object);
    }
    return (int)failMatch(err, m, name, row->object);
  }
  return dj_fail(err, status, "%s", exact.text);
}

// "contact/SETTING" of the scene's kernel, "contact/KERNEL/SETTING" of another one.
static int writeSetting(char* text, size_t size, const djModel* m, const djParam* p) {
  int kernel, scene = dj_ownContact(m) ? (int)m->opt.contact : 0;
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
