#include "model/element.h"

#include <string.h>

static bool isObject(djObject type) { return (int)type >= 0 && type < DJ_NOBJ; }

const char* dj_objectName(djObject type) {
  return isObject(type) ? dj_elementKinds[type].name : "";
}

int dj_objectCount(const djModel* model, djObject type) {
  if (!model || !isObject(type)) return 0;
  return *(const int*)(const void*)((const char*)model + dj_elementKinds[type].count);
}

int* dj_nameOffsets(const djModel* model, int kind) {
  int* offset;
  memcpy(&offset, (const char*)model + dj_elementKinds[kind].name_offset, sizeof offset);
  return offset;
}

const char* dj_id2name(const djModel* model, djObject type, int id) {
  int n = dj_objectCount(model, type);
  return id >= 0 && id < n ? model->names + dj_nameOffsets(model, (int)type)[id] : "";
}

// The number of "#12", or -1.
static int parseId(const char* text) {
  if (text[0] != '#' || !text[1]) return -1;
  int id = 0;
  for (const char* c = text + 1; *c; c++) {
    if (*c < '0' || *c > '9' || id > 100000000) return -1;
    id = 10 * id + (*c - '0');
  }
  return id;
}

int dj_name2id(const djModel* model, djObject type, const char* name) {
  int n = dj_objectCount(model, type);
  if (!name || !name[0]) return -1;
  const int* offset = n > 0 ? dj_nameOffsets(model, (int)type) : NULL;
  for (int i = 0; i < n; i++) {
    if (strcmp(model->names + offset[i], name) == 0) return i;
  }
  int id = parseId(name);
  return id < n ? id : -1;
}
