#include <dijoco/model.h>

#include <string.h>

// Offsets into names, and number of elements.
static const int* nameOffsets(int* n, const djModel* model, djObject type) {
  *n = 0;
  if (!model) return NULL;
  switch (type) {
    case DJ_OBJ_BODY: *n = model->nbody; return model->name_body;
    case DJ_OBJ_JOINT: *n = model->njnt; return model->name_jnt;
    case DJ_OBJ_GEOM: *n = model->ngeom; return model->name_geom;
    case DJ_OBJ_MESH: *n = model->nmesh; return model->name_mesh;
    case DJ_OBJ_SITE: *n = model->nsite; return model->name_site;
    case DJ_OBJ_ACTUATOR: *n = model->nu; return model->name_actuator;
    case DJ_OBJ_TENDON: *n = model->ntendon; return model->name_tendon;
    case DJ_OBJ_KEY: *n = model->nkey; return model->name_key;
    case DJ_NOBJ: break;
  }
  return NULL;
}

const char* dj_objectName(djObject type) {
  static const char* const names[DJ_NOBJ] = {
      [DJ_OBJ_BODY] = "body", [DJ_OBJ_JOINT] = "joint", [DJ_OBJ_GEOM] = "geom",
      [DJ_OBJ_MESH] = "mesh", [DJ_OBJ_SITE] = "site",   [DJ_OBJ_ACTUATOR] = "actuator",
      [DJ_OBJ_KEY] = "key",   [DJ_OBJ_TENDON] = "tendon"};
  return (int)type >= 0 && type < DJ_NOBJ ? names[type] : "";
}

int dj_objectCount(const djModel* model, djObject type) {
  int n;
  nameOffsets(&n, model, type);
  return n;
}

const char* dj_id2name(const djModel* model, djObject type, int id) {
  int n = 0;
  const int* offset = nameOffsets(&n, model, type);
  return id >= 0 && id < n ? model->names + offset[id] : "";
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
  int n = 0;
  const int* offset = nameOffsets(&n, model, type);
  if (!name || !name[0]) return -1;
  for (int i = 0; i < n; i++) {
    if (strcmp(model->names + offset[i], name) == 0) return i;
  }
  int id = parseId(name);
  return id < n ? id : -1;
}
