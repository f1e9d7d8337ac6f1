// A row for each type of geom. With y from the nearest point, or from the centre or axis that a
// round shape is about, to x: d = |y| - r, n = y/|y|, and dn/dx = (P - n n^T)/|y| where P projects
// on the directions in which y moves with x.

#include "shape/field.h"

#include "shape/field_ellipsoid.h"

#include <math.h>
#include <string.h>

#define SQRT1_2 0.70710678118654752440

const char* dj_ridgeName(djRidge ridge) {
  static const char* const name[] = {"", "centre", "axis", "middle", "bisector", "edge", "medial"};
  return ridge >= 0 && ridge < (int)(sizeof name / sizeof name[0]) ? name[ridge] : "";
}

// The normal, of an exact field the gradient, too.
static void setNormal(djFieldAt* out, double x, double y, double z) {
  out->gradient[0] = out->normal[0] = x;
  out->gradient[1] = out->normal[1] = y;
  out->gradient[2] = out->normal[2] = z;
}

static void setRidge(djFieldAt* out, djRidge ridge, double distance) {
  out->ridge = ridge;
  out->ridge_distance = distance;
}

// The bisector of two faces at right angles, p and q beyond them, goes inward from their edge.
static void addBisector(djFieldAt* out, double p, double q) {
  bool inward = p + q < 0;
  double distance = inward ? SQRT1_2 * fabs(p - q) : sqrt(p * p + q * q);
  if (distance < out->ridge_distance) {
    setRidge(out, inward ? DJ_RIDGE_BISECTOR : DJ_RIDGE_EDGE, distance);
  }
}

// dn/dx += s v v^T
static void addOuter(djFieldAt* out, double s, const double v[3]) {
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) out->turn[3 * i + j] += s * v[i] * v[j];
  }
}

// What the sizes of a type that are half extents do: size k moves what is at the side of x along
// axis k, dd/ds = -|n_k|, dn/ds = -sign(x_k) dn/dx_k.
static void sizeAlong(double distance[3], double normal[9], const djFieldAt* at, const double x[3],
                      int axis, int k) {
  double side = x[axis] < 0 ? -1 : 1;
  distance[k] = -side * at->normal[axis];
  for (int i = 0; i < 3; i++) normal[3 * i + k] = -side * at->turn[3 * i + axis];
}

// ------------------------------------------ planes ---------------------------------------------

static void planeAt(djFieldAt* out, const djDistanceField* field, const double x[3]) {
  (void)field;
  out->distance = x[2];
  setNormal(out, 0, 0, 1);
  setRidge(out, DJ_RIDGE_NONE, INFINITY);
}

static double planeBound(const djDistanceField* field, const double x[3]) {
  (void)field;
  return x[2];
}

// ------------------------------------------ spheres, capsules ----------------------------------

static void sphereAt(djFieldAt* out, const djDistanceField* field, const double x[3]) {
  double length = dju_norm3(dju_load3(x));
  out->distance = length - field->size[0];
  setRidge(out, DJ_RIDGE_CENTRE, length);
  setNormal(out, 0, 0, 1);
  if (!(length > 1e-100)) return;
  setNormal(out, x[0] / length, x[1] / length, x[2] / length);
  addOuter(out, -1 / length, out->normal);
  for (int k = 0; k < 3; k++) out->turn[4 * k] += 1 / length;
}

static void sphereSizes(double distance[3], double normal[9], const djDistanceField* field,
                        const double x[3], const djFieldAt* at) {
  (void)normal, (void)field, (void)x, (void)at;
  distance[0] = -1;
}

static double sphereBound(const djDistanceField* field, const double x[3]) {
  return dju_norm3(dju_load3(x)) - field->size[0];
}

// Round a vertical axis: n along (x, y), or along x on the axis, d given.
static void roundAxis(djFieldAt* out, const double x[3], double length, double distance) {
  out->distance = distance;
  setNormal(out, 1, 0, 0);
  if (!(length > 1e-100)) return;
  double c = x[0] / length, s = x[1] / length;
  setNormal(out, c, s, 0);
  addOuter(out, 1 / length, (const double[3]){-s, c, 0});
}

static void capsuleAt(djFieldAt* out, const djDistanceField* field, const double x[3]) {
  double h = field->size[1];
  if (fabs(x[2]) <= h) {
    double length = sqrt(x[0] * x[0] + x[1] * x[1]);
    roundAxis(out, x, length, length - field->size[0]);
    setRidge(out, DJ_RIDGE_AXIS, length);
    return;
  }
  const double y[3] = {x[0], x[1], x[2] - copysign(h, x[2])};
  sphereAt(out, field, y);
  out->ridge = DJ_RIDGE_AXIS;
  out->piece = x[2] < 0 ? 1 : 2;
}

static void capsuleSizes(double distance[3], double normal[9], const djDistanceField* field,
                         const double x[3], const djFieldAt* at) {
  (void)field;
  distance[0] = -1;
  sizeAlong(distance, normal, at, x, 2, 1);
}

static double capsuleBound(const djDistanceField* field, const double x[3]) {
  double z = fmax(fabs(x[2]) - field->size[1], 0);
  return sqrt(x[0] * x[0] + x[1] * x[1] + z * z) - field->size[0];
}

// ------------------------------------------ cylinders ------------------------------------------

static void faceAt(djFieldAt* out, int axis, double x, double half) {
  double side = x < 0 ? -1 : 1;
  out->distance = fabs(x) - half;
  setNormal(out, axis == 0 ? side : 0, axis == 1 ? side : 0, axis == 2 ? side : 0);
}

// Pieces: 0 side, 1, 2 faces, 3, 4 their rims.
static void cylinderAt(djFieldAt* out, const djDistanceField* field, const double x[3]) {
  double length = sqrt(x[0] * x[0] + x[1] * x[1]);
  double side = length - field->size[0], cap = fabs(x[2]) - field->size[1];
  double rim = sqrt(side * side + cap * cap);
  int down = x[2] < 0;
  if (side > 0 && cap > 0 && rim > 0) {
    // n = (s, c)/d in the half plane through x, m across it: dn/dx = m m^T/d + (s/d) t t^T/length
    double along = x[2] < 0 ? -1 : 1, ex = x[0] / length, ey = x[1] / length;
    double s = side / rim, c = cap / rim;
    out->distance = rim;
    setNormal(out, s * ex, s * ey, along * c);
    addOuter(out, 1 / rim, (const double[3]){c * ex, c * ey, -along * s});
    addOuter(out, s / length, (const double[3]){-ey, ex, 0});
    setRidge(out, DJ_RIDGE_EDGE, rim);
    out->piece = 3 + down;
    return;
  }
  if (side > cap) {
    roundAxis(out, x, length, side);
    setRidge(out, DJ_RIDGE_AXIS, length);
  } else {
    faceAt(out, 2, x[2], field->size[1]);
    setRidge(out, DJ_RIDGE_MIDDLE, fabs(x[2]));
    out->piece = 1 + down;
  }
  addBisector(out, side, cap);
}

static void cylinderSizes(double distance[3], double normal[9], const djDistanceField* field,
                          const double x[3], const djFieldAt* at) {
  double length = sqrt(x[0] * x[0] + x[1] * x[1]);
  (void)field;
  sizeAlong(distance, normal, at, x, 2, 1);
  // along the radius e: dd/dr = -n.e, dn/dr = -dn/dx e
  double e[2] = {1, 0};
  if (length > 1e-100) e[0] = x[0] / length, e[1] = x[1] / length;
  distance[0] = -(at->normal[0] * e[0] + at->normal[1] * e[1]);
  for (int i = 0; i < 3; i++) {
    normal[3 * i] = -(at->turn[3 * i] * e[0] + at->turn[3 * i + 1] * e[1]);
  }
}

static double cylinderBound(const djDistanceField* field, const double x[3]) {
  double side = sqrt(x[0] * x[0] + x[1] * x[1]) - field->size[0];
  double cap = fabs(x[2]) - field->size[1];
  if (side > 0 && cap > 0) return sqrt(side * side + cap * cap);
  return fmax(side, cap);
}

// ------------------------------------------ boxes ----------------------------------------------

static double boxOutside(double y[3], double q[3], const djDistanceField* field,
                         const double x[3]) {
  for (int k = 0; k < 3; k++) {
    q[k] = fabs(x[k]) - field->size[k];
    y[k] = q[k] > 0 ? copysign(q[k], x[k]) : 0;
  }
  return sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2]);
}

// Beside one face: d is the greatest q, to its axis.
static void boxFaceAt(djFieldAt* out, const double q[3], const double half[3], const double x[3]) {
  int k = q[1] > q[0] ? 1 : 0;
  if (q[2] > q[k]) k = 2;
  double next = fmax(q[(k + 1) % 3], q[(k + 2) % 3]);
  faceAt(out, k, x[k], half[k]);
  out->piece = 2 * k + (x[k] < 0);
  setRidge(out, DJ_RIDGE_MIDDLE, fabs(x[k]));
  addBisector(out, q[k], next);
}

// Pieces: 0 to 5 faces, and of edges and corners a digit for each axis.
static void boxAt(djFieldAt* out, const djDistanceField* field, const double x[3]) {
  double y[3], q[3], d = boxOutside(y, q, field, x);
  int beyond = 0;
  for (int k = 0; k < 3; k++) beyond += q[k] > 0;
  if (beyond < 2 || !(d > 1e-100)) {
    boxFaceAt(out, q, field->size, x);
    return;
  }
  out->distance = d;
  setNormal(out, y[0] / d, y[1] / d, y[2] / d);
  addOuter(out, -1 / d, out->normal);
  for (int k = 0, digit = 6; k < 3; k++, digit *= 3) {
    if (!(q[k] > 0)) continue;
    out->turn[4 * k] += 1 / d;
    out->piece += digit * (x[k] < 0 ? 1 : 2);
  }
  setRidge(out, DJ_RIDGE_EDGE, d);
}

static void boxSizes(double distance[3], double normal[9], const djDistanceField* field,
                     const double x[3], const djFieldAt* at) {
  (void)field;
  for (int k = 0; k < 3; k++) sizeAlong(distance, normal, at, x, k, k);
}

static double boxBound(const djDistanceField* field, const double x[3]) {
  double y[3], q[3], d = boxOutside(y, q, field, x);
  return d > 0 ? d : fmax(q[0], fmax(q[1], q[2]));
}

// ------------------------------------------ meshes ---------------------------------------------

// Where the gradient is shorter than this two points of the surface are about equally near.
#define MEDIAL 0.9
// Shorter ones have no direction.
#define NO_GRADIENT 1e-9

// n = g/|g|, dn/dx = (1 - n n^T) H/|g|.
static void meshAt(djFieldAt* out, const djDistanceField* field, const double x[3]) {
  if (!field->grid) {
    out->distance = INFINITY;
    return;
  }
  double H[6];
  out->distance = dj_gridAt(out->gradient, H, field->grid, x);
  djVec3 g = dju_load3(out->gradient);
  double length = dju_norm3(g);
  bool medial = length < MEDIAL && out->distance < 0;
  setRidge(out, medial ? DJ_RIDGE_MEDIAL : DJ_RIDGE_NONE, medial ? 0 : INFINITY);
  djVec3 n = length > NO_GRADIENT ? dju_scale3(1 / length, g) : dju_vec3(0, 0, 1);
  dju_store3(out->normal, n);
  if (!(length > NO_GRADIENT)) return;
  const int at[9] = {0, 1, 2, 1, 3, 4, 2, 4, 5};
  for (int j = 0; j < 3; j++) {
    djVec3 column = dju_scale3(1 / length, dju_vec3(H[at[j]], H[at[3 + j]], H[at[6 + j]]));
    column = dju_madd3(column, -dju_dot3(n, column), n);
    out->turn[j] = column.x;
    out->turn[3 + j] = column.y;
    out->turn[6 + j] = column.z;
  }
}

void dj_fieldVertices(double* vert, const djDistanceField* field, const double x[3],
                      double by_distance, const double by_normal[3]) {
  if (field->type != DJ_MESH || !field->grid) return;
  double g[3], by_gradient[3] = {0, 0, 0};
  dj_gridAt(g, NULL, field->grid, x);
  double length = dju_norm3(dju_load3(g));
  if (length > NO_GRADIENT) { // (1 - n n^T) by_normal/|g|
    djVec3 n = dju_scale3(1 / length, dju_load3(g)), b = dju_load3(by_normal);
    dju_store3(by_gradient, dju_scale3(1 / length, dju_madd3(b, -dju_dot3(n, b), n)));
  }
  dj_gridVertices(vert, field->grid, x, by_distance, by_gradient);
}

// ------------------------------------------ table ----------------------------------------------

typedef struct FieldRow {
  void (*at)(djFieldAt* out, const djDistanceField* field, const double x[3]); // out: zero
  // distance, normal: zero; NULL: there are none
  void (*sizes)(double distance[3], double normal[9], const djDistanceField* field,
                const double x[3], const djFieldAt* at);
  double (*bound)(const djDistanceField* field, const double x[3]); // at most d; NULL: grid's
} FieldRow;

static const FieldRow table[] = {
    [DJ_PLANE] = {planeAt, NULL, planeBound},
    [DJ_SPHERE] = {sphereAt, sphereSizes, sphereBound},
    [DJ_CAPSULE] = {capsuleAt, capsuleSizes, capsuleBound},
    [DJ_ELLIPSOID] = {dj_ellipsoidAt, dj_ellipsoidSizes, dj_ellipsoidBound},
    [DJ_CYLINDER] = {cylinderAt, cylinderSizes, cylinderBound},
    [DJ_BOX] = {boxAt, boxSizes, boxBound},
    [DJ_MESH] = {meshAt, NULL, NULL},
};

static const FieldRow* rowOf(int type) {
  bool known = type >= 0 && type < (int)(sizeof table / sizeof table[0]) && table[type].at;
  return known ? &table[type] : NULL;
}

bool dj_hasField(int type) { return rowOf(type) != NULL; }

void dj_fieldAt(djFieldAt* out, const djDistanceField* field, const double x[3]) {
  const FieldRow* row = rowOf(field->type);
  memset(out, 0, sizeof *out);
  if (row)
    row->at(out, field, x);
  else
    out->distance = INFINITY;
}

void dj_fieldSizes(double distance[3], double normal[9], const djDistanceField* field,
                   const double x[3], const djFieldAt* at) {
  const FieldRow* row = rowOf(field->type);
  memset(distance, 0, 3 * sizeof *distance);
  memset(normal, 0, 9 * sizeof *normal);
  if (row && row->sizes) row->sizes(distance, normal, field, x, at);
}

double dj_fieldBound(const djDistanceField* field, const double x[3], double radius) {
  const FieldRow* row = rowOf(field->type);
  if (!row || (!row->bound && !field->grid)) return INFINITY;
  return row->bound ? row->bound(field, x) - radius : dj_gridBound(field->grid, x, radius);
}
