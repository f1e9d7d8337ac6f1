// The sensor plugin dijoco.gap: smoothed gap of two geoms or bodies, their normal and witness
// points.
//
// Kept for an mjData (keep.h) are the shapes, which follow from the model: evaluations depend on
// d's poses alone, and change nothing but sensordata.

#include "attach.h"
#include "engine/engine.h"
#include "engine/keep.h"
#include "engine/tell.h"
#include "gap.h"
#include "instance.h"
#include "sensor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char kName[] = "dijoco.gap";
static const char* const kKeys[] = {"geom1",     "geom2",  "body1", "body2",
                                    "smoothing", "output", NULL};

// Parts of the output, in the order of sensordata.
static const struct {
  const char* name;
  int adr, dim;
} kParts[] = {{"distance", 0, 1}, {"normal", 1, 3}, {"point1", 4, 3}, {"point2", 7, 3}};
enum { kNPart = 4 };

// What an mjData has for an instance.
typedef struct Sensor {
  mjtObj type;
  int id[2];
  mjtNum smoothing;
  int parts;               // bit for each part
  djmGap* gap;             // NULL: no memory was left after a change of the model
} Sensor;

// ------------------------------ configuration ---------------------------------------------------

static bool fail(djError* err, const char* key, const char* value, const char* why) {
  snprintf(err->text, sizeof(err->text), "%s='%.100s': %s", key, value, why);
  return false;
}

// The parts that are wanted, as bits: all of them unless the key names some.
static bool readParts(int* parts, const mjModel* m, int instance, djError* err) {
  const char* text = djm_configOf(m, instance, "output");
  const char* c = text + strspn(text, " \t\r\n,");
  *parts = *c ? 0 : (1 << kNPart) - 1;
  while (*c) {
    size_t n = strcspn(c, " \t\r\n,");
    int k = 0;
    while (k < kNPart && (strlen(kParts[k].name) != n || strncmp(kParts[k].name, c, n) != 0)) k++;
    if (k == kNPart) {
      return fail(err, "output", text, "distance, normal, point1 and point2 are known");
    }
    *parts |= 1 << k;
    c += n;
    c += strspn(c, " \t\r\n,");
  }
  return true;
}

static bool readSmoothing(mjtNum* smoothing, const mjModel* m, int instance, djError* err) {
  const char* text = djm_configOf(m, instance, "smoothing");
  *smoothing = -1;
  if (!*text) return true;
  char* end;
  *smoothing = strtod(text, &end);
  if (!*end && *smoothing >= 0 && isfinite(*smoothing)) return true;
  return fail(err, "smoothing", text, "a length >= 0 is expected");
}

// Objects by name: geom1 and geom2, or body1 and body2.
static bool readNames(Sensor* s, const mjModel* m, int instance, djError* err) {
  bool given[2] = {false, false};   // geoms, bodies
  for (int k = 0; k < 4; k++) given[k / 2] |= *djm_configOf(m, instance, kKeys[k]) != 0;
  if (given[0] && given[1]) return fail(err, "geom1", "", "either geoms or bodies, not both");
  s->type = given[1] ? mjOBJ_BODY : mjOBJ_GEOM;
  for (int side = 0; side < 2; side++) {
    const char* key = kKeys[2 * given[1] + side];
    const char* name = djm_configOf(m, instance, key);
    if (!*name) return fail(err, key, name, "a name is expected");
    s->id[side] = mj_name2id(m, s->type, name);
    if (s->id[side] < 0) return fail(err, key, name, "there is no such name");
  }
  if (s->id[0] == s->id[1]) {
    return fail(err, kKeys[2 * given[1] + 1], djm_configOf(m, instance, kKeys[2 * given[1] + 1]),
                "the gap of one thing to itself");
  }
  return true;
}

static bool isOurs(const mjModel* m, int sensor, int instance) {
  return m->sensor_type[sensor] == mjSENS_PLUGIN && m->sensor_plugin[sensor] == instance;
}

// A body has one gap, whichever of its frames is named.
static mjtObj gapType(int type) { return type == mjOBJ_XBODY ? mjOBJ_BODY : (mjtObj)type; }

// Objects that the sensor element itself names (objtype, objname, reftype, refname).
static bool readObjects(Sensor* s, const mjModel* m, int instance, djError* err) {
  int found = 0;
  for (int i = 0; i < m->nsensor; i++) {
    if (!isOurs(m, i, instance)) continue;
    mjtObj type = gapType(m->sensor_objtype[i]), other = gapType(m->sensor_reftype[i]);
    int id1 = m->sensor_objid[i], id2 = m->sensor_refid[i];
    if (found++ && (s->type != type || s->id[0] != id1 || s->id[1] != id2)) {
      return fail(err, "objname", "", "sensors of one instance name different things");
    }
    s->type = type;
    s->id[0] = id1;
    s->id[1] = id2;
    if ((type == mjOBJ_GEOM || type == mjOBJ_BODY) && other == type && id1 != id2) continue;
    return fail(err, "geom1", "", "two geoms or two bodies must be named");
  }
  return found > 0 ? true : fail(err, "geom1", "", "two geoms or two bodies must be named");
}

static bool readConfig(Sensor* s, const mjModel* m, int instance, djError* err) {
  bool named = false;
  for (int k = 0; k < 4; k++) named |= *djm_configOf(m, instance, kKeys[k]) != 0;
  return readParts(&s->parts, m, instance, err) &&
         readSmoothing(&s->smoothing, m, instance, err) &&
         (named ? readNames : readObjects)(s, m, instance, err);
}

// ------------------------------ callbacks -------------------------------------------------------

static Sensor* sensorOf(const mjData* d, int instance) {
  return djm_kept(d, instance);
}

static int nstate(const mjModel* m, int instance) {
  (void)m, (void)instance;
  return 0;
}

static int nsensordata(const mjModel* m, int instance, int sensor) {
  (void)sensor;
  djError err = {""};
  int parts, n = 0;
  readParts(&parts, m, instance, &err);
  for (int k = 0; k < kNPart; k++) n += parts >> k & 1 ? kParts[k].dim : 0;
  return n;
}

static void destroy(mjData* d, int instance) {
  Sensor* s = sensorOf(d, instance);
  if (!s) return;
  djm_deleteGap(s->gap);
  free(s);
  djm_keep(d, instance, NULL);
}

static int init(const mjModel* m, mjData* d, int instance) {
  destroy(d, instance);   // of one that was here before and was not destroyed
  djError err = {"out of memory"};
  Sensor* s = calloc(1, sizeof(*s));
  bool kept = s && djm_keep(d, instance, s);
  bool made = kept && readConfig(s, m, instance, &err) &&
              djm_makeGap(&s->gap, m, s->type, s->id[0], s->id[1], s->smoothing, &err) == DJ_OK;
  if (made) return 0;
  if (!kept) free(s);
  mju_warning("%s: %s", kName, err.text);
  destroy(d, instance);
  return -1;
}

static void reset(const mjModel* m, mjtNum* plugin_state, void* plugin_data, int instance) {
  (void)m, (void)plugin_state, (void)plugin_data, (void)instance;
}

// Follow changes of the geoms, which are rare; an mjData is one thread's.
static bool update(Sensor* s, const mjModel* m) {
  if (s->gap && djm_isGapCurrent(s->gap, m)) return true;
  djError err;
  djm_deleteGap(s->gap);
  djStatus status = djm_makeGap(&s->gap, m, s->type, s->id[0], s->id[1], s->smoothing, &err);
  if (status == DJ_OK) return true;
  djm_tellOnce(kName, err.text);
  return false;
}

static void compute(const mjModel* m, mjData* d, int instance, int capability) {
  (void)capability;
  Sensor* s = sensorOf(d, instance);
  mjtNum value[10] = {0};
  djcGap g;
  if (s && update(s, m) && djm_evalGap(&g, s->gap, d) >= 0) djm_gapValues(value, &g);
  for (int i = 0; i < m->nsensor; i++) {
    if (!isOurs(m, i, instance)) continue;
    mjtNum* out = d->sensordata + m->sensor_adr[i];
    for (int k = 0; k < kNPart && s; k++) {
      if (!(s->parts >> k & 1)) continue;
      mju_copy(out, value + kParts[k].adr, kParts[k].dim);
      out += kParts[k].dim;
    }
  }
}

const mjpPlugin* djm_gapPlugin(void) {
  static const mjpPlugin plugin = {
      .name = kName,
      .nattribute = 6,
      .attributes = kKeys,
      .capabilityflags = mjPLUGIN_SENSOR,
      .needstage = mjSTAGE_POS,
      .nstate = nstate,
      .nsensordata = nsensordata,
      .init = init,
      .destroy = destroy,
      .reset = reset,
      .compute = compute,
  };
  return &plugin;
}

// ------------------------------ derivatives -----------------------------------------------------

bool djm_isGapSensor(const mjModel* m, int sensor) {
  if (!m || djm_attach(NULL) != DJ_OK) return false;
  if (sensor < 0 || sensor >= m->nsensor || m->sensor_type[sensor] != mjSENS_PLUGIN) return false;
  const mjpPlugin* plugin = mjp_getPluginAtSlot(m->plugin[m->sensor_plugin[sensor]]);
  return plugin && plugin->name && strcmp(plugin->name, kName) == 0;
}

djStatus djm_gapSensor(mjtNum* jac, const mjModel* m, const mjData* d, int sensor) {
  if (!jac || !d || !djm_isGapSensor(m, sensor)) return DJ_INVALID;
  const Sensor* s = sensorOf(d, m->sensor_plugin[sensor]);
  int nv = (int)m->nv;
  if (!s || !s->gap) return DJ_INVALID;
  mjtNum* memory = malloc(16 * (size_t)nv * sizeof(*memory) + 1);
  djcGap g;
  djStatus status = memory ? djm_evalGap(&g, s->gap, d) : DJ_NO_MEMORY;
  if (status >= 0) {
    mjtNum* all = memory + 6 * nv;
    djm_gapJacobian(all, nv, memory, &g, s->gap, m, d);
    for (int k = 0; k < kNPart; k++) {
      if (!(s->parts >> k & 1)) continue;
      mju_copy(jac, all + kParts[k].adr * nv, kParts[k].dim * nv);
      jac += kParts[k].dim * nv;
    }
  }
  free(memory);
  return status;
}

void djm_gapRows(djmRows* rows, djmSensorWork* w, const mjModel* m, const mjData* d,
                 const mjData* pose, int i) {
  const Sensor* s = sensorOf(d, m->sensor_plugin[i]);
  djcGap g;
  if (!s || !s->gap || djm_evalGap(&g, s->gap, pose) < 0) return;
  mjtNum value[10];
  djm_gapValues(value, &g);
  // All ten rows, then those that are wanted move up.
  djm_gapJacobian(rows->x, rows->nx, w->object.jacp, &g, s->gap, m, pose);
  int n = 0;
  for (int k = 0; k < kNPart; k++) {
    for (int r = 0; r < kParts[k].dim && (s->parts >> k & 1); r++, n++) {
      rows->value[n] = value[kParts[k].adr + r];
      mju_copy(rows->x + (size_t)n * rows->nx, rows->x + (size_t)(kParts[k].adr + r) * rows->nx,
               rows->nx);
    }
  }
}
