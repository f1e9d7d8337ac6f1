// Configuration of a dijoco.contact instance, and whose contacts it makes ours.

#include "instance.h"

#include <dijoco/setting.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char* const djm_ownKeys[] = {"substeps", "bodies", "geoms", "constraints", "guide_bodies",
                                   "warn", NULL};

static djStatus refuse(djmImport* imp, const mjModel* m, int id, const char* key,
                       const char* value, const char* why) {
  snprintf(imp->err->text, sizeof(imp->err->text), "plugin/%.60s: %s%s%.200s: %s",
           djm_name(m, m->name_pluginadr[id]), key, *value ? "=" : "", value, why);
  return DJ_INVALID;
}

const char* djm_configOf(const mjModel* m, int instance, const char* key) {
  const char* value = mj_getPluginConfig(m, instance, key);
  return value ? value : "";
}

static int findInstance(djmImport* imp, const mjModel* m, djStatus* status) {
  int id = -1;
  for (int i = 0; i < m->nplugin; i++) {
    const mjpPlugin* plugin = mjp_getPluginAtSlot(m->plugin[i]);
    if (!plugin || !plugin->name || strcmp(plugin->name, "dijoco.contact") != 0) continue;
    if (id >= 0) *status = refuse(imp, m, i, "instance", "", "a scene may have one");
    id = i;
  }
  return id;
}

// ------------------------------ ownership -------------------------------------------------------

// Whether the name (length n) is that of the element at adr.
static bool isNamed(const mjModel* m, int adr, const char* name, int n) {
  const char* other = djm_name(m, adr);
  return strncmp(other, name, n) == 0 && !other[n];
}

static bool ownGeom(djmInstance* x, const mjModel* m, const char* name, int n) {
  for (int i = 0; i < m->ngeom; i++) {
    if (!isNamed(m, m->name_geomadr[i], name, n)) continue;
    x->owned[i] = x->named[i] = true;
    return true;
  }
  return false;
}

static bool ownBody(djmInstance* x, const mjModel* m, const char* name, int n) {
  for (int b = 0; b < m->nbody; b++) {
    if (!isNamed(m, m->name_bodyadr[b], name, n)) continue;
    int first = m->body_geomadr[b], end = first + m->body_geomnum[b];
    for (int i = first; i < end; i++) {
      if (djm_countsInBody(m, i)) x->owned[i] = x->named[i] = true;
    }
    return true;
  }
  return false;
}

// Names are separated by blanks or commas; "all" is every geom.
static djStatus ownList(djmInstance* x, djmImport* imp, const mjModel* m, const char* key,
                        bool (*own)(djmInstance*, const mjModel*, const char*, int)) {
  const char* list = djm_configOf(m, x->id, key);
  for (const char* c = list; *c;) {
    if (isspace((unsigned char)*c) || *c == ',') {
      c++;
      continue;
    }
    int n = (int)strcspn(c, " \t\r\n,");
    if (n == 3 && strncmp(c, "all", 3) == 0) {
      for (int i = 0; i < m->ngeom; i++) x->owned[i] = true;
    } else if (!own(x, m, c, n)) {
      char name[100];
      snprintf(name, sizeof(name), "%.*s", n, c);
      return refuse(imp, m, x->id, key, name, "there is no such name");
    }
    c += n;
  }
  return DJ_OK;
}

// ------------------------------ configuration ---------------------------------------------------

static djStatus readChoices(djmInstance* x, djmImport* imp, const mjModel* m) {
  const char* substeps = djm_configOf(m, x->id, "substeps");
  x->substeps = 1;
  if (*substeps) {
    char* end;
    long n = strtol(substeps, &end, 10);
    if (*end || n < 1 || n > 1000) {
      return refuse(imp, m, x->id, "substeps", substeps,
                    "a whole number from 1 to 1000 is expected");
    }
    x->substeps = (int)n;
  }
  const char* warn = djm_configOf(m, x->id, "warn");
  if (*warn && strcmp(warn, "true") != 0 && strcmp(warn, "false") != 0) {
    return refuse(imp, m, x->id, "warn", warn, "true or false is expected");
  }
  const char* constraints = djm_configOf(m, x->id, "constraints");
  x->joints = strcmp(constraints, "mujoco") != 0;
  if (*constraints && x->joints && strcmp(constraints, "dijoco") != 0) {
    return refuse(imp, m, x->id, "constraints", constraints, "mujoco or dijoco is expected");
  }
  return DJ_OK;
}

djStatus djm_readInstance(djmInstance* x, djmImport* imp, const mjModel* m) {
  djStatus status = DJ_OK;
  *x = (djmInstance){.id = findInstance(imp, m, &status), .substeps = 1};
  if (status != DJ_OK || x->id < 0) return status;
  x->owned = djm_alloc(imp, m->ngeom, sizeof(bool));
  x->named = djm_alloc(imp, m->ngeom, sizeof(bool));
  if (!x->owned || !x->named) return DJ_NO_MEMORY;
  status = readChoices(x, imp, m);
  if (status == DJ_OK) status = ownList(x, imp, m, "bodies", ownBody);
  if (status == DJ_OK) status = ownList(x, imp, m, "geoms", ownGeom);
  x->all = !*djm_configOf(m, x->id, "bodies") && !*djm_configOf(m, x->id, "geoms");
  if (x->all) {
    memset(x->owned, true, m->ngeom * sizeof(bool));
  }
  return status;
}

djStatus djm_importInstanceOption(djmImport* imp, const djmInstance* x) {
  if (x->id < 0) return DJ_OK;
  djSettings settings = {.given = {0}};
  const djSetting* s;
  for (int i = 0; (s = dj_setting(i)); i++) {
    if (!(s->ways & DJ_BY_PLUGIN)) continue;
    const char* value = djm_configOf(imp->m, x->id, s->name);
    djError err = {""};
    if (!*value || dj_parseSetting(&settings, s->name, value, &err) == DJ_OK) continue;
    const char* colon = strchr(err.text, ':');
    return refuse(imp, imp->m, x->id, s->name, value, colon ? colon + 2 : err.text);
  }
  dj_applySettings(&imp->def.option, &settings);
  return DJ_OK;
}

// ------------------------------ the view --------------------------------------------------------

// Which joint constraints and contacts of the whole scene act in the view. Limits that are MuJoCo's
// act in both: its solver adds only what is missing towards its reference acceleration, and the
// search for forces that go together (engine/couple.c) fails at limbs that are jammed if our step
// knows nothing of limits. Friction loss and equality constraints would act twice.
static void setFlags(mjModel* view, const mjModel* m, const djmInstance* x, djmPurpose purpose) {
  int bits = mjDSBL_CONSTRAINT | mjDSBL_CONTACT | mjDSBL_LIMIT | mjDSBL_FRICTIONLOSS;
  int flags = m->opt.disableflags & ~bits;
  if (djm_disabled(m, mjDSBL_LIMIT)) flags |= mjDSBL_LIMIT;
  bool mujocos = purpose == DJM_CONTACTS && !x->joints;
  if (mujocos || djm_disabled(m, mjDSBL_FRICTIONLOSS)) flags |= mjDSBL_FRICTIONLOSS;
  if (mujocos || djm_disabled(m, mjDSBL_EQUALITY)) flags |= mjDSBL_EQUALITY;
  view->opt.disableflags = flags;
}

// Keep pair i where keep[i], as row n <= i.
#define KEEP_PAIRS(field, type, width)                                              \
  do {                                                                              \
    type* rows = djm_alloc(imp, (size_t)m->npair * (width), sizeof(type));          \
    if (!rows) return DJ_NO_MEMORY;                                                 \
    for (int i = 0, n = 0; i < m->npair; i++) {                                     \
      if (!keep[i]) continue;                                                       \
      memcpy(rows + (width) * n++, m->field + (width) * i, (width) * sizeof(type)); \
    }                                                                               \
    view->field = rows;                                                             \
  } while (0)

static djStatus keepPairs(mjModel* view, djmImport* imp, const mjModel* m, const bool* keep) {
  KEEP_PAIRS(pair_dim, int, 1);
  KEEP_PAIRS(pair_geom1, int, 1);
  KEEP_PAIRS(pair_geom2, int, 1);
  KEEP_PAIRS(pair_signature, int, 1);
  KEEP_PAIRS(name_pairadr, int, 1);
  KEEP_PAIRS(pair_solref, mjtNum, mjNREF);
  KEEP_PAIRS(pair_solreffriction, mjtNum, mjNREF);
  KEEP_PAIRS(pair_solimp, mjtNum, mjNIMP);
  KEEP_PAIRS(pair_margin, mjtNum, 1);
  KEEP_PAIRS(pair_gap, mjtNum, 1);
  KEEP_PAIRS(pair_adhesion, mjtNum, 1);
  KEEP_PAIRS(pair_friction, mjtNum, 5);
  int n = 0;
  for (int i = 0; i < m->npair; i++) n += keep[i];
  view->npair = n;
  return DJ_OK;
}
#undef KEEP_PAIRS

// A class of geoms: equal bits; those that are named and have none are one class.
typedef struct djmClass {
  int contype, conaffinity;
  bool bare;              // named, without bits
} djmClass;

enum { kMaxClasses = 31 };

static djmClass classOf(const mjModel* m, const djmInstance* x, int geom) {
  return (djmClass){m->geom_contype[geom], m->geom_conaffinity[geom],
                    x->named[geom] && !djm_hasBits(m, geom)};
}

static bool classesCollide(const djmClass* a, const djmClass* b) {
  bool real_a = a->bare || a->contype || a->conaffinity;
  bool real_b = b->bare || b->contype || b->conaffinity;
  if (a->bare || b->bare) return real_a && real_b;
  return (a->contype & b->conaffinity) || (b->contype & a->conaffinity);
}

// The class of each geom, and the list of classes.
static djStatus listClasses(djmClass* list, int* nclass, int* class, djmImport* imp,
                            const mjModel* m, const djmInstance* x) {
  *nclass = 0;
  for (int i = 0; i < m->ngeom; i++) {
    djmClass c = classOf(m, x, i);
    int k = 0;
    while (k < *nclass && (list[k].contype != c.contype ||
                           list[k].conaffinity != c.conaffinity || list[k].bare != c.bare)) {
      k++;
    }
    if (k == kMaxClasses) {
      return refuse(imp, m, x->id, "geoms", "",
                    "the scene has more than 31 combinations of contype and conaffinity");
    }
    if (k == *nclass) list[(*nclass)++] = c;
    class[i] = k;
  }
  return DJ_OK;
}

// With a bit for each class, geoms have their class's bit as contype if contacts that they are in
// are ours, and the bits of the classes that they collide with as conaffinity: then two geoms
// collide if their classes do and either one's contacts are ours.
static djStatus setBits(mjModel* view, djmImport* imp, const mjModel* m, const djmInstance* x,
                        bool others) {
  djmClass list[kMaxClasses];
  int nclass;
  int* class = djm_alloc(imp, m->ngeom, sizeof(int));
  view->geom_contype = djm_alloc(imp, m->ngeom, sizeof(int));
  view->geom_conaffinity = djm_alloc(imp, m->ngeom, sizeof(int));
  if (!class || !view->geom_contype || !view->geom_conaffinity) return DJ_NO_MEMORY;
  djStatus status = listClasses(list, &nclass, class, imp, m, x);
  if (status != DJ_OK) return status;
  for (int i = 0; i < m->ngeom; i++) {
    view->geom_contype[i] = x->owned[i] || others ? 1 << class[i] : 0;
    int bits = 0;
    for (int k = 0; k < nclass; k++) {
      if (classesCollide(&list[class[i]], &list[k])) bits |= 1 << k;
    }
    view->geom_conaffinity[i] = bits;
  }
  return DJ_OK;
}

djStatus djm_applyInstance(mjModel* view, djmImport* imp, const djmInstance* x,
                           djmPurpose purpose) {
  if (x->id < 0) return DJ_OK;
  const mjModel m = *view;
  setFlags(view, &m, x, purpose);
  bool others = purpose == DJM_WHOLE && !djm_disabled(&m, mjDSBL_CONTACT);
  bool all = true, bare = false;
  for (int i = 0; i < m.ngeom; i++) {
    all = all && x->owned[i];
    bare = bare || (x->named[i] && !djm_hasBits(&m, i));
  }
  if ((all || others) && !bare) return DJ_OK;
  bool* keep = djm_alloc(imp, m.npair, sizeof(bool));
  if (!keep) return DJ_NO_MEMORY;
  for (int i = 0; i < m.npair; i++) {
    keep[i] = others || x->owned[m.pair_geom1[i]] || x->owned[m.pair_geom2[i]];
  }
  djStatus status = keepPairs(view, imp, &m, keep);
  return status == DJ_OK ? setBits(view, imp, &m, x, others) : status;
}

static void appendName(char* text, size_t size, const mjModel* m, int geom, bool first) {
  size_t n = strlen(text);
  const char* name = djm_name(m, m->name_geomadr[geom]);
  if (*name) {
    snprintf(text + n, size - n, "%s%.60s", first ? "" : ", ", name);
  } else {
    snprintf(text + n, size - n, "%s#%d", first ? "" : ", ", geom);
  }
}

djStatus djm_listCollided(char* text, size_t size, const mjModel* m, djError* err) {
  djmImport imp = {.m = m, .err = err};
  djmInstance x;
  text[0] = '\0';
  djStatus status = djm_readInstance(&x, &imp, m);
  int n = 0, listed = 0;
  if (status == DJ_OK && x.id >= 0 && !djm_disabled(m, mjDSBL_CONTACT)) {
    for (int i = 0; i < m->ngeom; i++) {
      bool collides = false;
      for (int k = 0; k < m->ngeom && x.owned[i] && !collides; k++) {
        collides = k != i && djm_canCollide(m, i, k);
      }
      if (!collides) continue;
      if (n++ < 8) appendName(text, size, m, i, listed++ == 0);
    }
    size_t length = strlen(text);
    if (n > listed) snprintf(text + length, size - length, " and %d more", n - listed);
  }
  djm_freeImport(&imp);
  return status;
}
