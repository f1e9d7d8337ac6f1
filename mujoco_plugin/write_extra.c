// Settings and the keyframe of a written scene.

#include "import.h"
#include "write.h"

#include <dijoco/setting.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ------------------------------ settings --------------------------------------------------------

static bool has(const djmWrite* w, const char* name) {
  return mjs_findElement(w->spec, mjOBJ_NUMERIC, name) ||
         mjs_findElement(w->spec, mjOBJ_TEXT, name);
}

// Whether a reader would find another value if it were not written. Default rules choose again,
// from what djm_writeOwnSettings writes of geoms.
static bool isNeeded(const djmWrite* w, const djSetting* s, const char* name) {
  const djOption defaults = dj_defaultOption();
  double wanted[3], old[3];
  dj_getSetting(wanted, &w->wanted->opt, s);
  dj_getSetting(old, w->base ? &w->base->opt : &defaults, s);
  if (s->automatic || s->per_geom) return wanted[0] >= 0;
  return wanted[0] != old[0] && (!s->mujoco || has(w, name));
}

// By its number where the name is no word of the list.
static void appendBody(char* text, size_t size, const djModel* m, int body) {
  const char* name = dj_id2name(m, DJ_OBJ_BODY, body);
  size_t n = strlen(text);
  if (*name && !strpbrk(name, " \t\n,")) snprintf(text + n, size - n, "%s", name);
  else snprintf(text + n, size - n, "#%d", body);
}

static bool writeGuideBodies(djmWrite* w) {
  const djModel* m = w->wanted;
  size_t size = 1;
  mjsElement* old = mjs_findElement(w->spec, mjOBJ_TEXT, djm_guideBodies);
  if (m->nguide == 0) {
    return !old || mjs_delete(w->spec, old) == 0 ||
           djm_writeFail(w, DJ_INVALID, "text/%s: cannot be taken away", djm_guideBodies);
  }
  for (int i = 0; i < m->nguide; i++) {
    size += strlen(dj_id2name(m, DJ_OBJ_BODY, m->guide_body1[i])) +
            strlen(dj_id2name(m, DJ_OBJ_BODY, m->guide_body2[i])) + 30;
  }
  char* text = malloc(size);
  if (!text) return djm_writeFail(w, DJ_NO_MEMORY, "out of memory");
  *text = 0;
  for (int i = 0; i < m->nguide; i++) {
    if (i > 0) strcat(text, ", ");
    appendBody(text, size, m, m->guide_body1[i]);
    strcat(text, " ");
    appendBody(text, size, m, m->guide_body2[i]);
  }
  bool good = djm_setText(w, djm_guideBodies, text);
  free(text);
  return good;
}

bool djm_writeSettings(djmWrite* w) {
  const djSetting* s;
  for (int i = 0; (s = dj_setting(i)); i++) {
    char name[100];
    double value[3];
    snprintf(name, sizeof name, "dijoco_%s", s->name);
    if (!(s->ways & DJ_BY_MJCF) || !isNeeded(w, s, name)) continue;
    dj_getSetting(value, &w->wanted->opt, s);
    bool good = s->kind == DJ_SETTING_CHOICE
                    ? djm_setText(w, name, dj_choiceName(s, (int)value[0]))
                    : djm_setNumber(w, name, value[0]);
    if (!good) return false;
  }
  return writeGuideBodies(w) && djm_writeOwnSettings(w);
}

// ------------------------------ keyframe --------------------------------------------------------

bool djm_writeKey(djmWrite* w) {
  const djKeyDef* key = w->key;
  const mjModel* m = w->m;
  const djKeyDef start = {.name = "start", .qpos = w->wanted->qpos0};
  if (!key && w->rest_moved) key = &start;
  if (!key) return true;
  const char* name = key->name && key->name[0] ? key->name : "optimized";
  mjsElement* e = mjs_findElement(w->spec, mjOBJ_KEY, name);
  mjsKey* out = e ? mjs_asKey(e) : mjs_addKey(w->spec);
  if (!out || (!e && mjs_setName(out->element, name) != 0)) {
    return djm_writeFail(w, DJ_INVALID, "key/%s: cannot be added", name);
  }
  out->time = key->time;
  if (key->qpos) mjs_setDouble(out->qpos, key->qpos, (int)m->nq);
  if (key->qvel) mjs_setDouble(out->qvel, key->qvel, (int)m->nv);
  if (key->act && m->na == w->wanted->na) mjs_setDouble(out->act, key->act, (int)m->na);
  if (key->ctrl) mjs_setDouble(out->ctrl, key->ctrl, (int)m->nu);
  return true;
}
