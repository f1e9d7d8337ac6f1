#include <dijoco/model.h>

#include <stddef.h>
#include <string.h>

// Kinds of elements that have names.
typedef struct ObjectRow {
  const char* name;
  size_t count;     // offset in djModel: of their number
  size_t offsets;   // offset in djModel: of the pointer to the offsets of their names
} ObjectRow;

#define ROW(name, count, offsets) {name, offsetof(djModel, count), offsetof(djModel, offsets)}

static const ObjectRow OBJECTS[DJ_NOBJ] = {
    [DJ_OBJ_BODY] = ROW("body", nbody, name_body),
    [DJ_OBJ_JOINT] = ROW("joint", njnt, name_jnt),
    [DJ_OBJ_GEOM] = ROW("geom", ngeom, name_geom),
    [DJ_OBJ_MESH] = ROW("mesh", nmesh, name_mesh),
    [DJ_OBJ_SITE] = ROW("site", nsite, name_site),
    [DJ_OBJ_ACTUATOR] = ROW("actuator", nu, name_actuator),
    [DJ_OBJ_KEY] = ROW("key", nkey, name_key),
    [DJ_OBJ_TENDON] = ROW("tendon", ntendon, name_tendon),
    [DJ_OBJ_PAIR] = ROW("pair", npair, name_pair),
    [DJ_OBJ_EQUALITY] = ROW("equality", nequality, name_equality),
    [DJ_OBJ_HFIELD] = ROW("hfield", nhfield, name_hfield),
    [DJ_OBJ_FLEX] = ROW("flex", nflex, name_flex)};

static bool isObject(djObject type) { return (int)type >= 0 && type < DJ_NOBJ; }

const char* dj_objectName(djObject type) { return isObject(type) ? OBJECTS[type].name : ""; }

int dj_objectCount(const djModel* model, djObject type) {
  if (!model || !isObject(type)) return 0;
  return *(const int*)((const char*)model + OBJECTS[type].count);
}

// Offsets into names, and number of elements.
static const int* nameOffsets(int* n, const djModel* model, djObject type) {
  const int* offsets = NULL;
  *n = dj_objectCount(model, type);
  if (*n > 0) memcpy(&offsets, (const char*)model + OBJECTS[type].offsets, sizeof offsets);
  return offsets;
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
