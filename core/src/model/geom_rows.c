// The table of geom types, and each type's geometry.

#include "model/geom_row.h"

#include <dijoco/model.h>

#include <math.h>

#define PI 3.14159265358979323846

// ------------------------------------------ shared ---------------------------------------------

// The least of n sizes (the first of equals).
static double leastOf(double by[3], const double* size, int n) {
  int least = 0;
  for (int k = 1; k < n; k++) {
    if (size[k] < size[least]) least = k;
  }
  for (int k = 0; k < 3; k++) by[k] = k == least;
  return size[least];
}

static double innerOf1(double by[3], const double* size) { return leastOf(by, size, 1); }
static double innerOf2(double by[3], const double* size) { return leastOf(by, size, 2); }
static double innerOf3(double by[3], const double* size) { return leastOf(by, size, 3); }

// Volume c * product of sizes, squares volume * weight * size_k^2.
static void productSolid(djSolid* s, const double* size, double c, double weight) {
  s->volume[0] = c * size[0] * size[1] * size[2];
  s->volume[1] = c * size[1] * size[2];
  s->volume[2] = c * size[0] * size[2];
  s->volume[3] = c * size[0] * size[1];
  for (int k = 0; k < 3; k++) {
    double square = weight * size[k] * size[k];
    for (int j = 0; j < 4; j++) s->square[k][j] = s->volume[j] * square;
    s->square[k][1 + k] += s->volume[0] * 2 * weight * size[k];
  }
}

// ------------------------------------------ ellipsoids -----------------------------------------

static void ellipsoidAxes(double axes[3], const double* size) {
  for (int k = 0; k < 3; k++) axes[k] = size[k];
}

static void ellipsoidAxesParams(double by[3], const double* by_axes, const double* size) {
  (void)size;
  for (int k = 0; k < 3; k++) by[k] += by_axes[k];
}

static void ellipsoidSolid(djSolid* s, const double* size) {
  productSolid(s, size, 4 * PI / 3, 0.2);
}

// Thomsen's formula: 4 pi times the mean of the products of two axes to the power p = 1.6075.
static double ellipsoidArea(const double* size) {
  const double p = 1.6075, x = pow(size[0] * size[1], p), y = pow(size[0] * size[2], p);
  return 4 * PI * pow((x + y + pow(size[1] * size[2], p)) / 3, 1 / p);
}

static const djGeomCurve ellipsoidCurve = {
    .axes = ellipsoidAxes, .axesParams = ellipsoidAxesParams, .erodes = {true, true, true}};
static const djGeomRow ellipsoid = {
    .nsize = 3, .convex = true, .nvert = 1, .curve = &ellipsoidCurve, .inner = innerOf3,
    .area = ellipsoidArea,
    .solid = ellipsoidSolid};

// The three semi-axes of a sphere are one size.
static void sphereSolid(djSolid* s, const double* size) {
  const double axes[3] = {size[0], size[0], size[0]};
  ellipsoidSolid(s, axes);
  s->volume[1] += s->volume[2] + s->volume[3];
  s->volume[2] = s->volume[3] = 0;
  for (int k = 0; k < 3; k++) {
    s->square[k][1] += s->square[k][2] + s->square[k][3];
    s->square[k][2] = s->square[k][3] = 0;
  }
}

static double sphereArea(const double* size) { return 4 * PI * size[0] * size[0]; }

static const djGeomRow sphere = {
    .nsize = 1, .convex = true, .nvert = 1, .round = true, .inner = innerOf1,
    .area = sphereArea, .solid = sphereSolid};

// ------------------------------------------ boxes ----------------------------------------------

static void boxVertex(djVec3* v, djVec3* move, const double* size, int i) {
  *move = dju_vec3(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1);
  *v = dju_vec3(move->x * size[0], move->y * size[1], move->z * size[2]);
}

static void boxVertexParams(double by[3], djVec3 by_vertex, const double* size, int i) {
  (void)size;
  by[0] += i & 1 ? by_vertex.x : -by_vertex.x;
  by[1] += i & 2 ? by_vertex.y : -by_vertex.y;
  by[2] += i & 4 ? by_vertex.z : -by_vertex.z;
}

static void boxSolid(djSolid* s, const double* size) { productSolid(s, size, 8, 1.0 / 3); }

static double boxArea(const double* size) {
  return 8 * (size[0] * size[1] + size[0] * size[2] + size[1] * size[2]);
}

static const djGeomRow box = {
    .nsize = 3, .convex = true, .nvert = 8, .facet = 4, .vertex = boxVertex,
    .vertexParams = boxVertexParams, .inner = innerOf3, .area = boxArea, .solid = boxSolid};

// ------------------------------------------ cylinders ------------------------------------------

// The contact shape of a cylinder of radius r and half height h is the hull of two discs at
// z = +-(h - t) with semi-axes (r, r, t), t = DJ_DOME r h/(r + h): inside the cylinder, whose edge
// alone it misses, by less than t; its side is exact, so that rolling is smooth, and its faces are
// domes of radius r^2/t at the middle: an upright cylinder with its load at x beside the axis tilts
// by x t/r^2, and stands where r^2/t is above the height of its centre. t is below 2% of the lesser
// size, that is about the default skin; thinner discs make the plane at an upright cylinder less
// certain, as it turns by t/r while the force crosses the face.
#define SPREAD (2.0 / 3)   // of a pressed disc: the mean arm of friction about its middle

static double thickness(const double* size) {
  double r = size[0], h = size[1];
  return DJ_DOME * r * h / (r + h);
}

// dt = D (h^2 dr + r^2 dh)/(r + h)^2.
static void thicknessParams(double by[3], double by_thickness, const double* size) {
  double factor = DJ_DOME * by_thickness / ((size[0] + size[1]) * (size[0] + size[1]));
  by[0] += factor * size[1] * size[1];
  by[1] += factor * size[0] * size[0];
}

static void cylinderAxes(double axes[3], const double* size) {
  axes[0] = axes[1] = size[0];
  axes[2] = thickness(size);
}

static void cylinderAxesParams(double by[3], const double* by_axes, const double* size) {
  by[0] += by_axes[0] + by_axes[1];
  thicknessParams(by, by_axes[2], size);
}

static void cylinderVertex(djVec3* v, djVec3* move, const double* size, int i) {
  move->z = i ? 1 : -1;
  v->z = move->z * (size[1] - thickness(size));
}

static void cylinderVertexParams(double by[3], djVec3 by_vertex, const double* size, int i) {
  double height = i ? by_vertex.z : -by_vertex.z;
  by[1] += height;
  thicknessParams(by, -height, size);
}

// V = 2 pi r^2 h; squares V r^2/4, V h^2/3.
static void cylinderSolid(djSolid* s, const double* size) {
  double r = size[0], h = size[1];
  *s = (djSolid){.volume = {2 * PI * r * r * h, 4 * PI * r * h, 2 * PI * r * r}};
  const double across[3] = {r * r / 4, r / 2, 0}, along[3] = {h * h / 3, 0, 2 * h / 3};
  for (int k = 0; k < 3; k++) {
    const double* w = k < 2 ? across : along;
    s->square[k][0] = s->volume[0] * w[0];
    for (int j = 1; j < 3; j++) s->square[k][j] = s->volume[j] * w[0] + s->volume[0] * w[j];
  }
}

static const djGeomCurve cylinderCurve = {
    .axes = cylinderAxes, .axesParams = cylinderAxesParams, .erodes = {true, true, false},
    .disc = thickness, .spread = SPREAD};
static double cylinderArea(const double* size) {
  return 2 * PI * size[0] * (size[0] + 2 * size[1]);
}

static const djGeomRow cylinder = {
    .nsize = 2, .convex = true, .nvert = 2, .vertex = cylinderVertex,
    .vertexParams = cylinderVertexParams, .curve = &cylinderCurve, .inner = innerOf2,
    .area = cylinderArea,
    .solid = cylinderSolid};

// ------------------------------------------ capsules -------------------------------------------

static void capsuleVertex(djVec3* v, djVec3* move, const double* size, int i) {
  (void)move;
  v->z = i ? size[1] : -size[1];
}

static void capsuleVertexParams(double by[3], djVec3 by_vertex, const double* size, int i) {
  (void)size;
  by[1] += i ? by_vertex.z : -by_vertex.z;
}

// A cylinder, and the two halves of a ball of volume U = 4/3 pi r^3, whose centres of mass are
// 3/8 r beyond its ends: squares U r^2/5, U (r^2/5 + 3/4 h r + h^2).
static void capsuleSolid(djSolid* s, const double* size) {
  double r = size[0], h = size[1];
  cylinderSolid(s, size);
  double U = 4 * PI / 3 * r * r * r, dU = 4 * PI * r * r;
  double across = r * r / 5, along = across + 0.75 * h * r + h * h;
  s->volume[0] += U;
  s->volume[1] += dU;
  for (int k = 0; k < 2; k++) {
    s->square[k][0] += U * across;
    s->square[k][1] += dU * across + U * 2 * r / 5;
  }
  s->square[2][0] += U * along;
  s->square[2][1] += dU * along + U * (2 * r / 5 + 0.75 * h);
  s->square[2][2] += U * (0.75 * r + 2 * h);
}

static double capsuleArea(const double* size) {
  return 4 * PI * size[0] * (size[0] + size[1]);
}

static const djGeomRow capsule = {
    .nsize = 2, .convex = true, .nvert = 2, .round = true, .vertex = capsuleVertex,
    .vertexParams = capsuleVertexParams, .inner = innerOf1, .area = capsuleArea,
    .solid = capsuleSolid};

// ------------------------------------------ table ----------------------------------------------

static const djGeomRow plane = {.nsize = 0}, hfield = {.nsize = 0}, mesh = {.convex = true};

#define TYPES(X)                                                                               \
  X(DJ_PLANE, plane)                                                                           \
  X(DJ_HFIELD, hfield)                                                                         \
  X(DJ_SPHERE, sphere)                                                                         \
  X(DJ_CAPSULE, capsule)                                                                       \
  X(DJ_ELLIPSOID, ellipsoid)                                                                   \
  X(DJ_CYLINDER, cylinder)                                                                     \
  X(DJ_BOX, box)                                                                               \
  X(DJ_MESH, mesh)

#define ROW(type, name) [type] = &name,
#define NAME(type, name) [type] = {#name, type},
static const djGeomRow* const table[] = {TYPES(ROW)};
const djChoice dj_geomNames[] = {TYPES(NAME) [DJ_NGEOMTYPE] = {NULL, 0}};
_Static_assert(sizeof table / sizeof table[0] == DJ_NGEOMTYPE, "a row for every geom type");

const djGeomRow* dj_geomRow(int type) {
  return type >= 0 && type < DJ_NGEOMTYPE ? table[type] : NULL;
}

const char* dj_geomName(int* nsize, djGeomType type) {
  const djGeomRow* row = dj_geomRow((int)type);
  bool sized = row && (row->nsize > 0 || type == DJ_PLANE);
  if (nsize) *nsize = sized ? row->nsize : -1;
  return row ? dj_geomNames[type].name : "";
}
