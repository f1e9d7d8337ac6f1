// Settings and the keyframe of a written scene.

#include "import.h"
#include "write.h"

#include <dijoco/task.h>

#include <stdio.h>

// ------------------------------ settings --------------------------------------------------------

static bool setNumber(djmWrite* w, const char* name, double value) {
  mjsElement* e = mjs_findElement(w->spec, mjOBJ_NUMERIC, name);
  mjsNumeric* numeric = e ? mjs_asNumeric(e) : mjs_addNumeric(w->spec);
  if (!numeric || (!e && mjs_setName(numeric->element, name) != 0)) {
    return djm_writeFail(w, DJ_INVALID, "numeric/%s: cannot be added", name);
  }
  mjs_setDouble(numeric->data, &value, 1);
  numeric->size = 1;
  return true;
}

// Texts are read after numbers and so prevail.
static bool setText(djmWrite* w, const char* name, const char* value) {
  mjsElement* e = mjs_findElement(w->spec, mjOBJ_TEXT, name);
  mjsText* text = e ? mjs_asText(e) : mjs_addText(w->spec);
  if (!text || (!e && mjs_setName(text->element, name) != 0)) {
    return djm_writeFail(w, DJ_INVALID, "text/%s: cannot be added", name);
  }
  mjs_setString(text->data, value);
  return true;
}

// Those that hardly anybody changes: only where they differ from what would be read without.
static bool writeRareSettings(djmWrite* w) {
  const djOption defaults = dj_defaultOption(), *o = &w->wanted->opt;
  const djOption* old = w->base ? &w->base->opt : &defaults;
  bool good = true;
  if (o->frictionloss_eps != old->frictionloss_eps) {
    good = setNumber(w, "dijoco_frictionloss_eps", o->frictionloss_eps);
  }
  if (good && o->max_iterations != old->max_iterations) {
    good = setNumber(w, "dijoco_max_iterations", o->max_iterations);
  }
  if (good && o->friction_arms != old->friction_arms) {
    good = setText(w, "dijoco_friction_arms", djm_armNames[o->friction_arms]);
  }
  if (good && o->friction_cap != old->friction_cap) {
    good = setText(w, "dijoco_friction_cap", djm_capNames[o->friction_cap]);
  }
  return good;
}

bool djm_writeSettings(djmWrite* w) {
  const djModel *wanted = w->wanted, *base = w->base;
  const djContactSettings* c = &wanted->contact;
  bool good = setNumber(w, "dijoco_support", c->support) &&
              setNumber(w, "dijoco_stiffness", c->stiffness) &&
              setNumber(w, "dijoco_length_scale", c->length_scale) &&
              setNumber(w, "dijoco_friction_eps", c->friction_eps);
  if (good && wanted->opt.skin >= 0) good = setNumber(w, "dijoco_skin", wanted->opt.skin);
  if (good && (!base || wanted->opt.tolerance != base->opt.tolerance)) {
    good = setNumber(w, "dijoco_tolerance", wanted->opt.tolerance);
  }
  if (good && (!base || wanted->opt.contact != base->opt.contact)) {
    good = setText(w, "dijoco_contact", dj_contactName(wanted->opt.contact));
  }
  if (good && (!base || wanted->opt.integrator != base->opt.integrator)) {
    good = setText(w, "dijoco_integrator", dj_integratorName(wanted->opt.integrator));
  }
  if (good && (!base || wanted->opt.overlap != base->opt.overlap)) {
    good = setText(w, "dijoco_overlap", dj_overlapName(wanted->opt.overlap));
  }
  if (good && !base && wanted->gravity_ramp > 0) {
    good = setNumber(w, "dijoco_gravity_ramp", wanted->gravity_ramp);
  }
  return good && writeRareSettings(w);
}

// ------------------------------ keyframe --------------------------------------------------------

bool djm_writeKey(djmWrite* w) {
  const djKeyDef* key = w->key;
  const mjModel* m = w->m;
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
