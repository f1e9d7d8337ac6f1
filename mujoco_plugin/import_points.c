// Penalty contact in <custom>:
//
//   numeric dijoco_points/GEOM         x y z of each point, in the geom's frame as its author means
//                                      it: of a mesh that of its file, not of the compiled mesh
//   numeric dijoco_point_count/GEOM    how many points are wanted; 0: none
//   numeric dijoco_field/GEOM          0: it has no distance field
//   numeric dijoco_inside/GEOM         1: points are kept in it instead of out of it
//   numeric dijoco_contact_scale/GEOM  factor of kn, kt and kd of its points
//   numeric dijoco_penalty[/ELEMENT]   kn, kt and kd, of the scene, a pair or a geom

#include "import.h"

#include <math.h>
#include <string.h>

static const char kPrefix[] = "dijoco_";

// Parts of a name up to '/', of geoms.
static const char* const names[] = {"points", "point_count", "field", "contact_scale", "inside", NULL};
enum { POINTS, COUNT, FIELD, SCALE, INSIDE };

// Which of these a field is, or -1.
static int kindOf(const char* field) {
  for (int k = 0; names[k]; k++) {
    const size_t n = strlen(names[k]);
    const char* rest = field + strlen(kPrefix);
    if (strncmp(rest, names[k], n) == 0 && rest[n] == '/') return k;
  }
  return -1;
}

bool djm_isPointField(const char* field) { return kindOf(field) >= 0; }

bool djm_isPenalty(const char* field) {
  const char* rest = field + strlen(kPrefix);
  return strncmp(rest, "penalty", 7) == 0 && (!rest[7] || rest[7] == '/');
}

static bool isFinite(const double* x, int n) {
  for (int i = 0; i < n; i++) {
    if (!isfinite(x[i])) return false;
  }
  return true;
}

// From the geom's own frame to that of the compiled mesh, whose vertices are R(q)^T (x - p).
static const char* setPoints(djmImport* imp, djGeomDef* geom, const double* data, int n) {
  if (n < 3 || n % 3 != 0) return "three numbers for each point are expected";
  double* point = djm_alloc(imp, (size_t)n, sizeof *point);
  if (!point) return "out of memory";
  memcpy(point, data, (size_t)n * sizeof *point);
  for (int i = 0; i < n && geom->type == DJ_MESH; i += 3) {
    mjtNum inverse[4], arm[3];
    mju_negQuat(inverse, imp->m->mesh_quat + 4 * geom->mesh);
    mju_sub3(arm, data + i, imp->m->mesh_pos + 3 * geom->mesh);
    mju_rotVecQuat(point + i, arm, inverse);
  }
  geom->point = point;
  geom->npoint = n / 3;
  return NULL;
}

const char* djm_importPoints(djmImport* imp, djGeomDef* geom, const char* field, const double* data,
                             int n) {
  const int kind = kindOf(field);
  if (!data) return "must be a numeric";
  if (!isFinite(data, n)) return "has a number that is not finite";
  if (kind == POINTS) return setPoints(imp, geom, data, n);
  if (n != 1) return "one number is expected";
  const double value = data[0];
  if (kind == SCALE) {
    if (value < 0) return "must not be negative";
    geom->contact_scale = value;
    return NULL;
  }
  if (!(value >= 0) || value != floor(value) || value > (kind == COUNT ? 1e7 : 1)) {
    return kind == COUNT ? "must be a number of points" : "must be 0 or 1";
  }
  *(kind == FIELD ? &geom->field : kind == INSIDE ? &geom->inside : &geom->point_count) = (int)value;
  return NULL;
}

const char* djm_importPenalty(djSettingDef list[3], const double* data, int n) {
  static const char* const setting[3] = {"kn", "kt", "kd"};
  static const int order[3] = {0, 2, 1}; // as they are written: kn kd kt
  if (!data) return "must be a numeric";
  if (n != 3) return "three numbers, kn kd kt, are expected";
  if (!isFinite(data, n)) return "has a number that is not finite";
  if (!(data[0] > 0)) return "kn must be positive";
  if (data[1] < 0) return "kd must not be negative";
  if (data[2] < 0) return "kt must not be negative";
  for (int k = 0; k < 3; k++) {
    list[k].name = setting[k];
    list[k].value = data[order[k]];
  }
  return NULL;
}
