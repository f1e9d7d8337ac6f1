// Points, fields and contact_scale of geoms of a written scene (import_points.c).

#include "write.h"

#include <dijoco/setting.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fieldName(char field[700], const char* name, const djModel* m, int geom) {
  const char* own = dj_id2name(m, DJ_OBJ_GEOM, geom);
  if (*own)
    snprintf(field, 700, "dijoco_%s/%.600s", name, own);
  else
    snprintf(field, 700, "dijoco_%s/#%d", name, geom);
}

// In the frame that the scene has: of a mesh that is not written anew, that of its file, from which
// the compiled one is at mesh_pos, turned by mesh_quat.
static bool writePoints(djmWrite* w, const djGeomDef* g, int geom) {
  char field[700];
  const size_t n = 3 * (size_t)g->npoint;
  double* point = malloc(n * sizeof *point);
  if (!point) return djm_writeFail(w, DJ_NO_MEMORY, "out of memory");
  memcpy(point, g->point, n * sizeof *point);
  const int mesh = g->type == DJ_MESH ? g->mesh : -1;
  for (size_t i = 0; i < n && mesh >= 0 && w->base && !w->mesh_changed[mesh]; i += 3) {
    mju_rotVecQuat(point + i, g->point + i, w->m->mesh_quat + 4 * mesh);
    mju_addTo3(point + i, w->m->mesh_pos + 3 * mesh);
  }
  fieldName(field, "points", w->wanted, geom);
  const bool good = djm_setNumbers(w, field, (int)n, point);
  free(point);
  return good;
}

// What is as it is without a field is not written, but where the scene has one.
static bool writeNumber(djmWrite* w, const char* name, int geom, double value, double standard) {
  char field[700];
  fieldName(field, name, w->wanted, geom);
  const bool has = mjs_findElement(w->spec, mjOBJ_NUMERIC, field) != NULL;
  return (value == standard && !has) || djm_setNumber(w, field, value);
}

bool djm_writePoints(djmWrite* w, const djModelDef* def) {
  const djGeomDef plain = dj_defaultGeomDef();
  for (int i = 0; i < def->ngeom; i++) {
    const djGeomDef* g = &def->geom[i];
    if (g->npoint > 0 && !writePoints(w, g, i)) return false;
    const int count = g->point_count, field = g->field;
    if (count >= 0 && !writeNumber(w, "point_count", i, count, -1)) return false;
    if (field >= 0 && !writeNumber(w, "field", i, field, -1)) return false;
    if (!writeNumber(w, "inside", i, g->inside, plain.inside)) return false;
    if (!writeNumber(w, "contact_scale", i, g->contact_scale, plain.contact_scale)) return false;
  }
  return true;
}

static bool differs(djError* err, const char* field, double got, double wanted) {
  snprintf(err->text, sizeof err->text,
           "%.200s: could not be written: it is %.17g there, not %.17g", field, got, wanted);
  return false;
}

static void bodyPoint(double out[3], const djModel* m, int geom, int i) {
  mju_rotVecQuat(out, m->point_pos + 3 * (m->geom_pointadr[geom] + i), m->geom_quat + 4 * geom);
  mju_addTo3(out, m->geom_pos + 3 * geom);
}

// Points are the same, in the body's frame.
bool djm_checkPoints(const djModel* got, const djModel* wanted, double tolerance, djError* err) {
  char field[700];
  for (int g = 0; g < wanted->ngeom; g++) {
    double a = got->geom_pointnum[g], b = wanted->geom_pointnum[g];
    fieldName(field, "points", wanted, g);
    if (a != b) return differs(err, field, a, b);
    for (int i = 0; i < wanted->geom_pointnum[g]; i++) {
      double x[3], y[3];
      bodyPoint(x, got, g, i);
      bodyPoint(y, wanted, g, i);
      for (int k = 0; k < 3; k++) {
        if (fabs(x[k] - y[k]) > 1e-9) return differs(err, field, x[k], y[k]);
      }
    }
    a = got->geom_field[g] != 0, b = wanted->geom_field[g] != 0;
    fieldName(field, "field", wanted, g);
    if (a != b) return differs(err, field, a, b);
    a = got->geom_inside[g], b = wanted->geom_inside[g];
    fieldName(field, "inside", wanted, g);
    if (a != b) return differs(err, field, a, b);
    a = got->geom_contact_scale[g], b = wanted->geom_contact_scale[g];
    fieldName(field, "contact_scale", wanted, g);
    if (fabs(a - b) > tolerance * fmin(1, fabs(b))) return differs(err, field, a, b);
  }
  return true;
}
