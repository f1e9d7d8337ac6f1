// What every part of writing needs: the first failure, custom fields with their names, and the text
// of a spec.

#include "write.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

bool djm_writeFail(djmWrite* w, djStatus status, const char* format, ...) {
  if (w->status != DJ_OK) return false;
  va_list args;
  va_start(args, format);
  vsnprintf(w->err->text, sizeof w->err->text, format, args);
  va_end(args);
  for (char* c = w->err->text; *c; c++) {
    if (*c == '\n' || *c == '\r') *c = ' ';
  }
  w->status = status;
  return false;
}

// Texts are read after numbers and so prevail: one of that name is taken away.
bool djm_setNumbers(djmWrite* w, const char* name, int n, const double* value) {
  mjsElement* text = mjs_findElement(w->spec, mjOBJ_TEXT, name);
  if (text && mjs_delete(w->spec, text) != 0) {
    return djm_writeFail(w, DJ_INVALID, "text/%s: cannot be taken away", name);
  }
  mjsElement* e = mjs_findElement(w->spec, mjOBJ_NUMERIC, name);
  mjsNumeric* numeric = e ? mjs_asNumeric(e) : mjs_addNumeric(w->spec);
  if (!numeric || (!e && mjs_setName(numeric->element, name) != 0)) {
    return djm_writeFail(w, DJ_INVALID, "numeric/%s: cannot be added", name);
  }
  mjs_setDouble(numeric->data, value, n);
  numeric->size = n;
  return true;
}

bool djm_setNumber(djmWrite* w, const char* name, double value) {
  return djm_setNumbers(w, name, 1, &value);
}

bool djm_setText(djmWrite* w, const char* name, const char* value) {
  mjsElement* e = mjs_findElement(w->spec, mjOBJ_TEXT, name);
  mjsText* text = e ? mjs_asText(e) : mjs_addText(w->spec);
  if (!text || (!e && mjs_setName(text->element, name) != 0)) {
    return djm_writeFail(w, DJ_INVALID, "text/%s: cannot be added", name);
  }
  mjs_setString(text->data, value);
  return true;
}

void djm_pairName(char* name, size_t size, const djModel* m, int pair) {
  const char* own = m->names + m->name_pair[pair];
  if (own[0]) snprintf(name, size, "%s", own);
  else snprintf(name, size, "pair#%d", pair);
}

void djm_fieldName(char* field, size_t size, const char* name, const djModel* m, int geom,
                   int pair) {
  char element[600];
  const char* own = geom >= 0 ? dj_id2name(m, DJ_OBJ_GEOM, geom) : "";
  if (pair >= 0) djm_pairName(element, sizeof element, m, pair);
  else if (own[0]) snprintf(element, sizeof element, "%s", own);
  else snprintf(element, sizeof element, "#%d", geom);
  snprintf(field, size, "dijoco_%s/%s", name, element);
}

// The spec as written, orientations as quaternions, angles in radians, every number exact.
bool djm_saveSpec(djmWrite* w, char** text) {
  char error[1000] = "";
  w->spec->compiler.savecompiled = 0;
  w->spec->compiler.savecanonical = 1;
  int size = 1 << 16;
  for (int round = 0; round < 3; round++) {
    char* larger = realloc(*text, (size_t)size);
    if (!larger) return djm_writeFail(w, DJ_NO_MEMORY, "out of memory");
    *text = larger;
    int need = mj_saveXMLString(w->spec, larger, size, error, sizeof error);
    if (need == 0) return true;
    if (need < 0) break;
    size = need + 1;
  }
  return djm_writeFail(w, DJ_INVALID, "MuJoCo cannot save the scene: %.400s", error);
}

void djm_freeSceneFiles(djmSceneFiles* f) {
  for (int i = 0; i < f->nfile; i++) {
    free(f->name[i]);
    free(f->obj[i]);
  }
  free(f->name);
  free(f->obj);
  free(f->text);
  free(f->refused);
  free(f->scene);
  *f = (djmSceneFiles){0};
}
