#include "contact/penalty/point_query.h"

#include "base/status.h"
#include "model/check.h"
#include "model/geom_row.h"

#include <math.h>
#include <string.h>

#define MOST_POINTS 10000000

djStatus dj_checkAllNumbers(const djNamedNumbers* list, size_t count, djError* err) {
  for (size_t k = 0; k < count; k++) {
    const djStatus status = dj_checkNumbers(list[k].x, list[k].n, list[k].name, err);
    if (status < 0) return status;
  }
  return DJ_OK;
}

djStatus dj_checkQueryParams(const djNamedParam* list, size_t count, djError* err) {
  for (size_t k = 0; k < count; k++) {
    const bool good = list[k].x > 0 || (list[k].zero && list[k].x == 0);
    if (good && list[k].x <= DJ_LARGEST_FORCE) continue;
    return dj_fail(err, DJ_INVALID, "params: %s = %g must %s", list[k].name, list[k].x,
                   good           ? "not be that large"
                   : list[k].zero ? "not be negative"
                                  : "be positive");
  }
  return DJ_OK;
}

djStatus dj_checkQueryPoints(int npoint, const double* point, djError* err) {
  if (npoint >= 1 && npoint <= MOST_POINTS && point) return DJ_OK;
  return dj_fail(err, DJ_INVALID, "a: points: there are none, or too many");
}

djStatus dj_checkFieldGeom(int geom, const double* size, djError* err) {
  const djGeomRow* row = dj_geomRow(geom);
  if (!row || geom == DJ_MESH || !dj_hasField(geom)) {
    return dj_fail(err, DJ_INVALID, "b: geom: has no distance field of its sizes");
  }
  for (int k = 0; k < row->nsize; k++) {
    if (size[k] >= DJ_SMALLEST && size[k] <= DJ_LARGEST) continue;
    return dj_fail(err, DJ_INVALID, "b: size[%d] = %g must be positive", k, size[k]);
  }
  return DJ_OK;
}

djStatus dj_checkQueryQuat(const double quat[4], djError* err) {
  double unit[4];
  if (dj_makeUnit(unit, quat, 4)) return DJ_OK;
  return dj_fail(err, DJ_INVALID, "b: pose: its quaternion is zero or not finite");
}

void dj_openQueryWay(djPenaltyWay* w, djPointNode* node, double* point, double* id, int npoint,
                     const double* given, djVec3 origin, const djQueryField* field,
                     const djPose* place, const djPose* pose) {
  *node = (djPointNode){.radius = INFINITY, .n = npoint};   // all points
  w->part = w->share = 1;
  w->from = (djPenaltyShape){
      .npoint = npoint, .given = true, .node = node, .point = point, .id = id};
  w->in.has_field = true;
  w->in.field.type = field->grid ? DJ_MESH : field->geom;
  w->in.field.grid = field->grid;
  memcpy(w->in.field.size, field->size, sizeof w->in.field.size);
  w->place = *place;
  w->field = *pose;
  w->local.R = dju_mulMtM(w->field.R, w->place.R);
  w->local.p = dju_untransform(&w->field, w->place.p);
  for (int i = 0; i < npoint; i++) {
    dju_store3(point + 3 * i, dju_sub3(dju_load3(given + 3 * i), origin));
    id[i] = i;
  }
}

void dj_completeQuery(double wrench_a[6], double wrench_b[6], double pose_jac[144],
                      double twist_jac[144], const djPenaltySum* sum, const djPenaltyPair* pair) {
  double gradient[12];
  dj_completeSum(gradient, pose_jac, twist_jac, sum, pair);
  for (int k = 0; k < 12; k++) (k < 6 ? wrench_a : wrench_b)[k % 6] = 0 - gradient[k];
  for (int k = 0; k < 144; k++) {
    pose_jac[k] = 0 - pose_jac[k];
    twist_jac[k] = 0 - twist_jac[k];
  }
}
