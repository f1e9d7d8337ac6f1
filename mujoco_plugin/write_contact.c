// Contact models and settings of single pairs and geoms of a written scene (import_contact.c).

#include "import.h"
#include "write.h"

#include <dijoco/setting.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool djm_pairHasOwn(const djModel* m, int pair) {
  bool own = m->pair_contact[pair] != DJ_CONTACT_DEFAULT;
  for (int i = 0; i < m->nsetting; i++) own = own || m->setting_pair[i] == pair;
  return own || djm_hasRestitution(m, pair) || djm_hasDepth(m, pair);
}

static bool writeModel(djmWrite* w, int contact, int geom, int pair) {
  char field[700];
  if (contact == DJ_CONTACT_DEFAULT) return true;
  djm_fieldName(field, sizeof field, "contact", w->wanted, geom, pair);
  return djm_setText(w, field, dj_contactName((djContactModel)contact));
}

// Vertices of meshes are written as floats, from which other inner radii would follow.
static bool writeMeshes(djmWrite* w) {
  const djModel* m = w->wanted;
  char field[700];
  for (int g = 0; g < m->ngeom && !m->defaults_kept; g++) {
    if (m->geom_type[g] != DJ_MESH || !(m->geom_radius[g] > 0)) continue;
    djm_fieldName(field, sizeof field, "inner_radius", m, g, -1);
    if (!djm_setNumber(w, field, m->geom_radius[g])) return false;
  }
  return true;
}

// What a name and numbers take as a text.
static size_t shapeRoom(const djSurfaceDef* s) { return 100 + 27 * ((size_t)s->nsize + 7); }

static void appendNumbers(char* text, size_t size, const double* v, int n) {
  size_t used = strlen(text);
  for (int i = 0; i < n; i++) used += (size_t)snprintf(text + used, size - used, " %.17g", v[i]);
}

// Its frame in the geom's as the scene has it: of a mesh that is not written anew, that of its
// file, from which the compiled one is at mesh_pos, turned by mesh_quat.
static void shapePose(double pose[7], const djmWrite* w, const djSurfaceDef* s, int geom) {
  const djModel* m = w->wanted;
  const int mesh = m->geom_type[geom] == DJ_MESH ? m->geom_mesh[geom] : -1;
  memcpy(pose, s->pos, sizeof s->pos);
  memcpy(pose + 3, s->quat, sizeof s->quat);
  if (mesh < 0 || !w->base || w->mesh_changed[mesh]) return;
  mju_rotVecQuat(pose, s->pos, w->m->mesh_quat + 4 * mesh);
  mju_addTo3(pose, w->m->mesh_pos + 3 * mesh);
  mju_mulQuat(pose + 3, w->m->mesh_quat + 4 * mesh, s->quat);
}

static bool writeShape(djmWrite* w, const djSurfaceDef* s, int geom) {
  char field[700];
  double pose[7], far = 0;
  const double rest[7] = {0, 0, 0, 1, 0, 0, 0};
  char* text = malloc(shapeRoom(s));
  if (!text) return djm_writeFail(w, DJ_NO_MEMORY, "out of memory");
  strcpy(text, s->family);
  appendNumbers(text, shapeRoom(s), s->size, s->nsize);
  shapePose(pose, w, s, geom);
  for (int k = 0; k < 7; k++) {
    far = fmax(far, fabs(pose[k] - (pose[3] < 0 && k == 3 ? -1 : rest[k])));
  }
  if (far > 1e-12) {
    strcat(text, " pose");
    appendNumbers(text, shapeRoom(s), pose, 7);
  }
  djm_fieldName(field, sizeof field, "shape", w->wanted, geom, -1);
  const bool good = djm_setText(w, field, text);
  free(text);
  return good;
}

// Implicit surfaces and their sharpness.
static bool writeSurfaces(djmWrite* w, const djModelDef* def) {
  char field[700];
  for (int i = 0; i < def->ngeom; i++) {
    const djGeomDef* g = &def->geom[i];
    if (g->surface && !writeShape(w, g->surface, i)) return false;
    if (!(g->sharpness > 0)) continue;
    djm_fieldName(field, sizeof field, "sharpness", w->wanted, i, -1);
    if (!djm_setNumber(w, field, g->sharpness)) return false;
  }
  return true;
}

// Settings of geoms and pairs, those included that default rules gave before the design changed.
static bool writeElements(djmWrite* w) {
  djModelDef def;
  void* storage;
  char field[700];
  djStatus status = dj_getDef(&def, &storage, w->wanted, NULL);
  if (status < 0) return djm_writeFail(w, status, "the design's definition cannot be made");
  bool good = true;
  for (int i = 0; i < def.nsetting && good; i++) {
    const djSettingDef* s = &def.setting[i];
    int model;
    if (s->model || s->geom >= djm_ownGeoms(w->wanted)) continue;
    const djSetting* row;
    for (int k = 0; (row = dj_contactSetting(&model, k)) && strcmp(row->name, s->name) != 0;) k++;
    djm_fieldName(field, sizeof field, s->name, w->wanted, s->geom, s->pair);
    good = row->kind == DJ_SETTING_CHOICE
               ? djm_setText(w, field, dj_choiceName(row, (int)s->value))
               : djm_setNumber(w, field, s->value);
  }
  good = good && writeSurfaces(w, &def) && djm_writePoints(w, &def);
  dj_freeDef(storage);
  return good && writeMeshes(w);
}

bool djm_writeOwnSettings(djmWrite* w) {
  const djModel* m = w->wanted;
  const djSetting* row;
  char field[700];
  int model;
  for (int i = 0; (row = dj_contactSetting(&model, i)); i++) {
    if (dj_isOption(m, i) || m->kernel_given[i] < 0) continue;
    snprintf(field, sizeof field, "dijoco_contact/%s/%s", dj_contactName((djContactModel)model),
             row->name);
    if (!djm_setNumber(w, field, m->kernel_setting[i])) return false;
  }
  for (int i = 0; i < m->ngeom; i++) {
    if (!writeModel(w, m->geom_contact[i], i, -1) || !djm_writeRestitution(w, i, -1)) return false;
  }
  for (int i = 0; i < m->npair; i++) {
    if (!writeModel(w, m->pair_contact[i], -1, i) || !djm_writeRestitution(w, -1, i)) return false;
  }
  return djm_writeDepths(w) && writeElements(w);
}

static bool differs(djError* err, const char* field, double got, double wanted) {
  snprintf(err->text, sizeof err->text,
           "%.200s: could not be written: it is %.17g there, not %.17g", field, got, wanted);
  return false;
}

// The value that a model has for an element; NAN: none.
static double ownValue(const djModel* m, int slot, int geom, int pair) {
  double value = NAN;
  for (int i = 0; i < m->nsetting; i++) {
    bool same = m->setting_slot[i] == slot && m->setting_geom[i] == geom;
    if (same && m->setting_pair[i] == pair) value = m->setting_value[i];
  }
  return value;
}

static void bodyPose(double pos[3], double quat[4], const djModel* m, int geom) {
  mju_rotVecQuat(pos, m->geom_surfacepos + 3 * geom, m->geom_quat + 4 * geom);
  mju_addTo3(pos, m->geom_pos + 3 * geom);
  mju_mulQuat(quat, m->geom_quat + 4 * geom, m->geom_surfacequat + 4 * geom);
}

// Surfaces that are given are the same, in the body's frame.
static bool checkSurfaces(const djModel* got, const djModel* wanted, double tolerance,
                          djError* err) {
  char field[700];
  for (int g = 0; g < wanted->ngeom; g++) {
    const int n = wanted->geom_surfacenum[g];
    double a = got->geom_family[g], b = wanted->geom_family[g];
    djm_fieldName(field, sizeof field, "shape", wanted, g, -1);
    if (a != b || got->geom_surfacenum[g] != n) return differs(err, field, a, b);
    for (int k = 0; k < n; k++) {
      a = got->surface_number[got->geom_surfaceadr[g] + k];
      b = wanted->surface_number[wanted->geom_surfaceadr[g] + k];
      if (fabs(a - b) > tolerance * fmin(1, fabs(b))) return differs(err, field, a, b);
    }
    double pose[2][7];
    bodyPose(pose[0], pose[0] + 3, got, g);
    bodyPose(pose[1], pose[1] + 3, wanted, g);
    const double sign = mju_dot(pose[0] + 3, pose[1] + 3, 4) < 0 ? -1 : 1;
    for (int k = 0; k < 7 && n > 1; k++) {
      a = k < 3 ? pose[0][k] : sign * pose[0][k];
      if (fabs(a - pose[1][k]) > 1e-9) return differs(err, field, a, pose[1][k]);
    }
    a = got->geom_sharpness[g], b = wanted->geom_sharpness[g];
    djm_fieldName(field, sizeof field, "sharpness", wanted, g, -1);
    if (wanted->geom_sharpgiven[g] && fabs(a - b) > tolerance * b) return differs(err, field, a, b);
  }
  return true;
}

bool djm_checkOwnSettings(const djModel* got, const djModel* wanted, double tolerance,
                          djError* err) {
  char field[700];
  const djSetting* row;
  int model;
  if (got->npair != wanted->npair) return true;   // explicit pairs are not written
  for (int i = 0; (row = dj_contactSetting(&model, i)); i++) {
    double a = got->kernel_given[i], b = wanted->kernel_given[i];
    if (dj_isOption(wanted, i) || (a < 0 && b < 0) || fabs(a - b) <= tolerance * fabs(b)) continue;
    snprintf(field, sizeof field, "contact/%s/%s", dj_contactName((djContactModel)model),
             row->name);
    return differs(err, field, a, b);
  }
  for (int i = 0; i < wanted->ngeom; i++) {
    if (got->geom_contact[i] == wanted->geom_contact[i]) continue;
    djm_fieldName(field, sizeof field, "contact", wanted, i, -1);
    return differs(err, field, got->geom_contact[i], wanted->geom_contact[i]);
  }
  for (int i = 0; i < wanted->npair; i++) {
    if (got->pair_contact[i] == wanted->pair_contact[i]) continue;
    djm_fieldName(field, sizeof field, "contact", wanted, -1, i);
    return differs(err, field, got->pair_contact[i], wanted->pair_contact[i]);
  }
  for (int i = 0; i < wanted->nsetting; i++) {
    int slot = wanted->setting_slot[i], geom = wanted->setting_geom[i];
    double a = ownValue(got, slot, geom, wanted->setting_pair[i]);
    double b = ownValue(wanted, slot, geom, wanted->setting_pair[i]);
    if (fabs(a - b) <= tolerance * fmin(1, fabs(b))) continue;
    row = dj_contactSetting(&model, slot);
    djm_fieldName(field, sizeof field, row->name, wanted, geom, wanted->setting_pair[i]);
    return differs(err, field, a, b);
  }
  double a, b;
  if (!djm_checkRestitution(field, sizeof field, &a, &b, got, wanted, tolerance)) {
    return differs(err, field, a, b);
  }
  return checkSurfaces(got, wanted, tolerance, err) &&
         djm_checkDepths(got, wanted, tolerance, err) &&
         djm_checkPoints(got, wanted, tolerance, err);
}
