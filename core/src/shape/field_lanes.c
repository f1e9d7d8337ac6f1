// Fields of planes, spheres, capsules and boxes side by side, by the formulas of field.c; of others
// one point after the other.

#include "shape/field_lanes.h"

#define NEAR 1e-100

static void setNormal(djFieldLanes* out, djLanes3 n) { out->gradient = out->normal = n; }

// (P - n n^T)/d, P the diagonal of these; 0 where there is no direction.
static void setTurn(djFieldLanes* out, const djLanes along[3], djLanes inverse) {
  const djLanes3 n = out->normal;
  out->turn = dju_zeroLanes33();
  dju_addOuterLanes(&out->turn, dju_scaleLanes3(-inverse, n), n);
  for (int k = 0; k < 3; k++) out->turn.m[4 * k] += inverse * along[k];
}

static void planeLanes(djFieldLanes* out, const djDistanceField* field, const djLanes3* x) {
  (void)field;
  out->distance = x->z;
  setNormal(out, (djLanes3){dju_splat(0), dju_splat(0), dju_splat(1)});
}

static void sphereLanes(djFieldLanes* out, const djDistanceField* field, const djLanes3* x) {
  const djLanes length = dju_sqrtLanes(dju_dotLanes3(*x, *x)), one = dju_splat(1);
  const djMask good = length > NEAR;
  const djLanes inverse = dju_keep(1 / dju_pick(good, length, one), good);
  const djLanes along[3] = {one, one, one};
  djLanes3 n = dju_scaleLanes3(inverse, *x);
  n.z = dju_pick(good, n.z, one);
  out->distance = length - field->size[0];
  setNormal(out, n);
  setTurn(out, along, inverse);
}

// About the nearest point of the axis; on it n is along x where that is not an end.
static void capsuleLanes(djFieldLanes* out, const djDistanceField* field, const djLanes3* x) {
  const djLanes h = dju_splat(field->size[1]), one = dju_splat(1), zero = dju_splat(0);
  const djMask side = dju_absLanes(x->z) <= h;
  const djLanes3 y = {x->x, x->y, dju_pick(side, zero, x->z - dju_pick(x->z < 0, -h, h))};
  const djLanes length = dju_sqrtLanes(dju_dotLanes3(y, y));
  const djMask good = length > NEAR;
  const djLanes inverse = dju_keep(1 / dju_pick(good, length, one), good);
  const djLanes along[3] = {one, one, dju_pick(side, zero, one)};
  djLanes3 n = dju_scaleLanes3(inverse, y);
  n.x = dju_pick(good | ~side, n.x, one);
  n.z = dju_pick(good | side, n.z, one);
  out->distance = length - field->size[0];
  setNormal(out, n);
  setTurn(out, along, inverse);
}

// Beside one face d is the greatest q, along its axis; else n is from the nearest point of the box.
static void boxLanes(djFieldLanes* out, const djDistanceField* field, const djLanes3* x) {
  const djLanes zero = dju_splat(0), one = dju_splat(1), at[3] = {x->x, x->y, x->z};
  djLanes q[3], y[3], beyond[3], side[3];
  for (int k = 0; k < 3; k++) {
    side[k] = dju_pick(at[k] < 0, -one, one);
    q[k] = dju_absLanes(at[k]) - field->size[k];
    beyond[k] = dju_keep(one, q[k] > 0);
    y[k] = dju_keep(q[k] * side[k], q[k] > 0);
  }
  const djLanes3 out_of = {y[0], y[1], y[2]};
  const djLanes d = dju_sqrtLanes(dju_dotLanes3(out_of, out_of));
  const djMask edge = (beyond[0] + beyond[1] + beyond[2] > 1) & (d > NEAR);
  const djMask second = q[1] > q[0], third = q[2] > dju_pick(second, q[1], q[0]);
  const djLanes3 face = {dju_pick(second | third, zero, side[0]),
                         dju_keep(dju_pick(third, zero, side[1]), second),
                         dju_keep(side[2], third)};
  const djLanes inverse = dju_keep(1 / dju_pick(edge, d, one), edge);
  out->distance = dju_pick(edge, d, dju_pick(third, q[2], dju_pick(second, q[1], q[0])));
  setNormal(out, dju_pick3(edge, dju_scaleLanes3(inverse, out_of), face));
  setTurn(out, beyond, inverse);
}

static void oneByOne(djFieldLanes* out, const djDistanceField* field, const djLanes3* x, int n) {
  double place[3][DJU_LANES], row[16][DJU_LANES] = {{0}};
  dju_storeLanes(place[0], x->x);
  dju_storeLanes(place[1], x->y);
  dju_storeLanes(place[2], x->z);
  for (int i = 0; i < n; i++) {
    djFieldAt at;
    dj_fieldAt(&at, field, (const double[3]){place[0][i], place[1][i], place[2][i]});
    row[0][i] = at.distance;
    for (int k = 0; k < 3; k++) row[1 + k][i] = at.gradient[k], row[4 + k][i] = at.normal[k];
    for (int k = 0; k < 9; k++) row[7 + k][i] = at.turn[k];
  }
  djLanes v[16];
  for (int k = 0; k < 16; k++) v[k] = dju_loadLanes(row[k]);
  *out = (djFieldLanes){v[0], {v[1], v[2], v[3]}, {v[4], v[5], v[6]}, {{v[7]}}};
  for (int k = 0; k < 9; k++) out->turn.m[k] = v[7 + k];
}

void dj_fieldLanes(djFieldLanes* out, const djDistanceField* field, const djLanes3* x, int n) {
  switch (field->type) {
    case DJ_PLANE:
      planeLanes(out, field, x);
      break;
    case DJ_SPHERE:
      sphereLanes(out, field, x);
      break;
    case DJ_CAPSULE:
      capsuleLanes(out, field, x);
      break;
    case DJ_BOX:
      boxLanes(out, field, x);
      break;
    default:
      oneByOne(out, field, x, n);
  }
}
