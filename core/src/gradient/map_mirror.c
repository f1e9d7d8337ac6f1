// Mirror: the first target = z, every further one = z reflected in the plane through the origin
// with unit normal n, M = I - 2 n n^T. Places and directions x become M x; rotations M R M, whose
// quaternion is (w, -M v); so do axes of hinges, -M a; what has no direction is copied.

#include "base/status.h"
#include "gradient/map.h"
#include "math/vec.h"
#include "model/check.h"
#include "model/joint_type.h"
#include "model/param.h"

#include <string.h>

// How the values of a parameter are reflected.
typedef enum djReflection {
  REFLECT_COPY,
  REFLECT_PLACES,
  REFLECT_AXIAL,
  REFLECT_QUAT
} djReflection;

typedef struct djMirror {
  djVec3 normal;
  djReflection reflection;
} djMirror;

// Axes about which a joint turns are axial; one that slides along it, too, would have to be another
// joint.
static bool reflectAxis(djReflection* out, const djJointRow* row) {
  *out = row->turn != 0 ? REFLECT_AXIAL : REFLECT_PLACES;
  return row->turn == 0 || row->slide == 0;
}

// False: it cannot be told.
static bool reflectionOf(djReflection* out, const djModel* m, const djParam* p) {
  *out = REFLECT_COPY;
  switch (dj_paramMirror(p)) {
    case DJ_MIRROR_COPY: return true;
    case DJ_MIRROR_PLACES: *out = REFLECT_PLACES; return true;
    case DJ_MIRROR_QUAT: *out = REFLECT_QUAT; return true;
    case DJ_MIRROR_AXIS: return reflectAxis(out, dj_jointRow(m, p->id));
    case DJ_MIRROR_NUMBER: return p->nvalue == 1;
    default: return false;
  }
}

static djStatus makeMirror(djMap* map, const djMapMaking* making) {
  const djMapDef* given = making->given;
  const djMapArg* normal = &given->arg[0];
  djError* err = making->err;
  djMirror* mirror = dj_poolTake(making->pool, 1, sizeof *mirror);
  double unit[3];
  if (!mirror) return dj_failMemory(err);
  map->detail = mirror;
  if (normal->columns != 3 || !dj_makeUnit(unit, normal->number, 3)) {
    return dj_fail(err, DJ_INVALID, "normal: must be a vector of 3 numbers");
  }
  mirror->normal = dju_load3(unit);
  map->nwork = (size_t)map->nz;
  for (int i = 0; i < map->ntarget; i++) {
    const djMapTarget* t = &map->target[i];
    const djParam* p = t->param >= 0 ? &making->problem->param[t->param] : NULL;
    djReflection reflection;
    if (!p || !reflectionOf(&reflection, making->model, p)) {
      return dj_fail(err, DJ_INVALID, "to: '%.100s' has no mirror image", given->to[i]);
    }
    if (i == 0) mirror->reflection = reflection;
    if (reflection != mirror->reflection || t->n != map->nz) {
      return dj_fail(err, DJ_INVALID, "to: '%.100s' is no mirror image of %d numbers '%.100s'",
                     given->to[i], map->nz, given->from);
    }
  }
  return DJ_OK;
}

// out (n) = reflected v; the reflection is its own transpose.
static void reflect(double* out, const djMirror* mirror, const double* v, int n) {
  if (n > 0) memcpy(out, v, (size_t)n * sizeof *v);
  if (mirror->reflection == REFLECT_COPY) return;
  int first = mirror->reflection == REFLECT_QUAT ? 1 : 0;
  double sign = mirror->reflection == REFLECT_PLACES ? 1 : -1;
  for (int i = first; i + 2 < n; i += 3) {
    djVec3 x = dju_load3(v + i);
    x = dju_madd3(x, -2 * dju_dot3(mirror->normal, x), mirror->normal);
    dju_store3(out + i, dju_scale3(sign, x));
  }
}

static void applyMirror(double* out, const djMap* map, const double* z, double* work) {
  (void)work;
  int n = map->nz;
  if (n > 0) memcpy(out, z, (size_t)n * sizeof *z);
  for (int i = 1; i < map->ntarget; i++) reflect(out + (size_t)i * (size_t)n, map->detail, z, n);
}

static void vjpMirror(double* dz, const djMap* map, const double* z, const double* dout,
                      double* work) {
  (void)z;
  int n = map->nz;
  for (int i = 0; i < map->ntarget; i++) {
    const double* from = dout + (size_t)i * (size_t)n;
    if (i > 0) reflect(work, map->detail, from, n);
    for (int k = 0; k < n; k++) dz[k] += i > 0 ? work[k] : from[k];
  }
}

const djMapType dj_mapMirror = {
    {.name = "mirror", .unit = "",
     .help = "the first of `to` = z, the others = z reflected in the plane through the origin of "
             "their frame: positions, vertices, axes, quaternions; what has no direction is copied",
     .key = (const djKey[]){{"normal", DJ_HOLDS_NUMBERS, 3, DJ_NOBJ, true, "", ""}, {0}}},
    DJ_MAPTO_ANY, false, false, makeMirror, applyMirror, vjpMirror, NULL, NULL};
