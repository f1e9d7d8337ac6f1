// Taper: a box in a body's frame whose sections change linearly along x. Products of entries of z
// scale its length and the widths and heights of its two ends; what is inside follows.
//
// With s_L, s_y0, s_z0, s_y1, s_z1 the products, the ends at x0 and x1, c_i and e_i the middle and
// the half extents of end i, a point at x with t = (x - x0)/(x1 - x0) and p, q in [-1, 1] across
// the section (its trilinear weights) goes to
//   x' = a + s_L (x - a),   y' = (1 - t)(c_0y + p e_0y s_y0) + t (c_1y + p e_1y s_y1),   z'
//   likewise,
// where a, the place of [x0, x1] nearest to the body's origin, stays. With w = e_0y s_y0 + e_1y
// s_y1 and h likewise, the mean section, and L = s_L (x1 - x0), the body has the mass and the
// inertia of the box L w h at its density, and its centre in the middle. With w_i and h_i the sizes
// of end i, the contact_scale of its geoms changes as w_0 h_0 + w_1 h_1 + (w_0 + h_0 + w_1 + h_1)
// L.

#include "base/status.h"
#include "gradient/map_box.h"
#include "gradient/problem.h"
#include "model/param.h"

#include <math.h>
#include <string.h>

enum { LENGTH, Y0, Z0, Y1, Z1, SCALES };                         // the products
enum { BODY, BOX, DENSITY, FIRST_SCALE };                        // keys
enum { MASS, INERTIA, IPOS = INERTIA + 3, IQUAT = IPOS + 3 };    // outputs; then places, geoms

typedef struct djTaperPoint {
  int frame, anchor;      // in which its coordinates are; the point that moves it, or -1
  double x, t, across[2]; // x, its part of the length, p and q
} djTaperPoint;

typedef struct djTaper {
  int nindex[SCALES];   // entries of z in each product
  int* index[SCALES];   // (nindex)
  double end[2], fixed; // x0, x1, a
  double middle[2][2];  // [end][y, z]
  double half[2][2];
  double density;       // kg/m^3; 0: inertia stays
  int ninertial; // outputs of the inertia; with IQUAT where that is not along the body's axes
  double squares[3][3]; // principal moment k = sum_i squares[k][i] times that about axis i
  int npoint;
  djTaperPoint* point; // (npoint) one each target after the inertial ones
  int ngeom;
  double* scale; // (ngeom) contact_scale as given, of the last targets
  bool* inside;  // (model's ngeom) of making: some of the geom is inside
  djPose* frame; // (nframe)
  int nframe;
} djTaper;

// ---- making -----------------------------------------------------------------------------------

static double product(const djTaper* t, int k, const double* z) {
  double s = 1;
  for (int i = 0; i < t->nindex[k]; i++) s *= z[t->index[k][i]];
  return s;
}

// Two rows: lowest and highest corner. Four: those of the first end, then those of the other.
static djStatus setBox(djTaper* t, const djMapArg* box, djError* err) {
  if ((box->rows != 2 && box->rows != 4) || box->columns != 3) {
    return dj_fail(err, DJ_INVALID, "box: must be two points, or two of each end");
  }
  bool whole = box->rows == 2;
  for (int i = 0; i < 2; i++) {
    const double *low = box->number + (whole ? 0 : 6 * i), *high = low + 3;
    t->end[i] = whole ? box->number[3 * i] : low[0];
    if (!whole && high[0] != low[0]) {
      return dj_fail(err, DJ_INVALID, "box: an end is not at one x");
    }
    for (int k = 0; k < 2; k++) {
      t->middle[i][k] = (low[1 + k] + high[1 + k]) / 2;
      t->half[i][k] = (high[1 + k] - low[1 + k]) / 2;
      if (!(t->half[i][k] > 0)) return dj_fail(err, DJ_INVALID, "box: is empty or inverted");
    }
  }
  if (!(t->end[1] > t->end[0])) return dj_fail(err, DJ_INVALID, "box: is empty or inverted");
  t->fixed = fmin(fmax(0, t->end[0]), t->end[1]);
  return DJ_OK;
}

static djStatus setScales(djTaper* t, const djMap* map, const djMapMaking* making) {
  const djMapDef* given = making->given;
  const double* z = making->problem->free[map->from].value;
  const djKey* key = map->type->entry.key + FIRST_SCALE;
  for (int k = 0; k < SCALES; k++) {
    const djMapArg* arg = &given->arg[FIRST_SCALE + k];
    int n = arg->given ? arg->columns : 0;
    t->index[k] = dj_poolTake(making->pool, (size_t)n, sizeof(int));
    if (!t->index[k]) return dj_failMemory(making->err);
    for (int i = 0; i < n; i++) {
      double entry = arg->number[i];
      if (!(entry >= 0 && entry < map->nz) || entry != floor(entry)) {
        return dj_fail(making->err, DJ_INVALID, "%s: '%.100s' has no entry %g", key[k].name,
                       given->from, entry);
      }
      t->index[k][t->nindex[k]++] = (int)entry;
    }
    if (product(t, k, z) > 0) continue;
    return dj_fail(making->err, DJ_INVALID, "%s: the taper is inverted", key[k].name);
  }
  return DJ_OK;
}

static djStatus addTarget(djMap* map, const djParam* param, int start, int n,
                          const djMapMaking* making) {
  djMapTarget* target = &map->target[map->ntarget++];
  *target = (djMapTarget){-1, start, 1, n};
  map->nout += n;
  return dj_listParam(&target->param, making->problem, param, making->pool, making->err);
}

// Mass, inertia and centre of the body, and its principal axes where they are not along the body's.
static djStatus addInertia(djMap* map, int body, const djMapMaking* making) {
  djTaper* t = map->detail;
  const djModel* m = making->model;
  if (t->density == 0) return DJ_OK;
  djMat3 R = dju_quatToMat(dju_normalizeQuat(dju_loadQuat(m->body_iquat + 4 * body)));
  bool turned = false;
  for (int k = 0; k < 9; k++) {
    double r = R.m[3 * (k % 3) + k / 3];
    t->squares[k / 3][k % 3] = round(r * r);
    turned |= !(fabs(r * r - round(r * r)) < 1e-9);
  }
  for (int k = 0; k < 9 && turned; k++) t->squares[k / 3][k % 3] = k % 4 == 0;
  t->ninertial = turned ? IQUAT + 4 : IQUAT;
  static const djField fields[] = {DJ_FIELD_BODY_MASS, DJ_FIELD_BODY_INERTIA, DJ_FIELD_BODY_IPOS,
                                   DJ_FIELD_BODY_IQUAT};
  for (int k = 0; k < (turned ? 4 : 3); k++) {
    djParam param;
    if (!dj_makeParam(&param, m, fields[k], body)) {
      return dj_fail(making->err, DJ_INVALID, "body: '%.100s' has no mass",
                     making->given->arg[BODY].text);
    }
    djStatus status = addTarget(map, &param, 0, param.nvalue, making);
    if (status < 0) return status;
  }
  return DJ_OK;
}

// Coefficients of contact follow the surface.
static djStatus addScales(djMap* map, int body, const djMapMaking* making) {
  djTaper* t = map->detail;
  const djModel* m = making->model;
  djStatus status = DJ_OK;
  t->scale = dj_poolTake(making->pool, (size_t)m->ngeom, sizeof *t->scale);
  if (!t->scale) return dj_failMemory(making->err);
  for (int g = 0; g < m->ngeom && status == DJ_OK; g++) {
    djParam param;
    if (m->geom_body[g] != body || !t->inside[g]) continue;
    if (!dj_makeParam(&param, m, DJ_FIELD_GEOM_CONTACT_SCALE, g)) continue;
    t->scale[t->ngeom++] = m->geom_contact_scale[g];
    status = addTarget(map, &param, 0, 1, making);
  }
  return status;
}

// Place within the box; false outside. Points on a face count as inside, to rounding.
static bool placeIn(djTaperPoint* point, const djTaper* t, djVec3 place) {
  const double yz[2] = {place.y, place.z};
  point->x = place.x;
  point->t = (place.x - t->end[0]) / (t->end[1] - t->end[0]);
  if (point->t < -DJ_ON_FACE || point->t > 1 + DJ_ON_FACE) return false;
  for (int k = 0; k < 2; k++) {
    double middle = t->middle[0][k] + point->t * (t->middle[1][k] - t->middle[0][k]);
    double half = t->half[0][k] + point->t * (t->half[1][k] - t->half[0][k]);
    point->across[k] = (yz[k] - middle) / half;
    if (fabs(point->across[k]) > 1 + DJ_ON_FACE) return false;
  }
  return true;
}

typedef struct djTaperVisit {
  djMap* map;
  const djMapMaking* making;
} djTaperVisit;

// Geoms that a parameter with places inside belongs to.
static void markGeoms(djTaper* t, const djParam* param, const djModel* m) {
  bool mesh = param->field == DJ_FIELD_MESH_VERT;
  bool geom = param->field == DJ_FIELD_GEOM_POS || param->field == DJ_FIELD_GEOM_POINTS;
  if (geom) t->inside[param->id] = true;
  for (int g = 0; g < m->ngeom && mesh; g++) {
    t->inside[g] |= m->geom_type[g] == DJ_MESH && m->geom_mesh[g] == param->id;
  }
}

// anchor: the point with which their frame moves; -1: it stays.
static djStatus addPoints(djMap* map, const djMapMaking* making, const djParam* param,
                          const djPose* pose, int anchor) {
  djTaper* t = map->detail;
  const double* place = dj_paramData(making->model, param);
  int first = t->npoint;
  t->frame[t->nframe] = *pose;
  for (int i = 0; i < param->nvalue / 3; i++) {
    djTaperPoint* point = &t->point[t->npoint];
    if (!placeIn(point, t, dju_transform(pose, dju_load3(place + 3 * i)))) continue;
    point->frame = t->nframe;
    point->anchor = anchor;
    t->npoint++;
    djStatus status = addTarget(map, param, 3 * i, 3, making);
    if (status < 0) return status;
  }
  if (t->npoint > first) markGeoms(t, param, making->model);
  t->nframe++;
  return DJ_OK;
}

// Points that are given move as places, their geom with its middle.
static djStatus addPlaces(void* user, const djParam* param, const djPose* pose) {
  const djMapMaking* making = ((djTaperVisit*)user)->making;
  const djModel* m = making->model;
  djMap* map = ((djTaperVisit*)user)->map;
  djTaper* t = map->detail;
  int before = t->npoint, g = param->id;
  djParam points;
  djStatus status = addPoints(map, making, param, pose, -1);
  if (status < 0 || param->field != DJ_FIELD_GEOM_POS) return status;
  if (!dj_makeParam(&points, m, DJ_FIELD_GEOM_POINTS, g)) return DJ_OK;
  djPose frame = {dju_load3(m->geom_pos + 3 * g),
                  dju_quatToMat(dju_normalizeQuat(dju_loadQuat(m->geom_quat + 4 * g)))};
  return addPoints(map, making, &points, &frame, t->npoint > before ? before : -1);
}

static djStatus makeTaper(djMap* map, const djMapMaking* making) {
  const djModel* m = making->model;
  const djMapDef* given = making->given;
  djError* err = making->err;
  djTaper* t = dj_poolTake(making->pool, 1, sizeof *t);
  if (!t) return dj_failMemory(err);
  map->detail = t;
  int body;
  djStatus status = dj_boxBody(&body, &given->arg[BODY], making);
  if (status == DJ_OK) status = setBox(t, &given->arg[BOX], err);
  if (status == DJ_OK) status = setScales(t, map, making);
  if (status < 0) return status;
  if (given->nto > 0) return dj_fail(err, DJ_INVALID, "to: taper takes none");
  if (given->arg[DENSITY].given) {
    t->density = given->arg[DENSITY].columns == 1 ? given->arg[DENSITY].number[0] : -1;
    if (!(t->density > 0)) return dj_fail(err, DJ_INVALID, "density: must be a positive number");
  }
  t->point = dj_poolTake(making->pool, dj_places(m), sizeof *t->point);
  t->frame = dj_poolTake(making->pool, dj_placeParams(m), sizeof *t->frame);
  map->target = dj_poolTake(making->pool, dj_places(m) + (size_t)m->ngeom + 4, sizeof *map->target);
  t->inside = dj_poolTake(making->pool, (size_t)m->ngeom, sizeof *t->inside);
  if (!t->point || !t->frame || !map->target || !t->inside) return dj_failMemory(err);
  djTaperVisit visit = {map, making};
  status = addInertia(map, body, making);
  if (status == DJ_OK) status = dj_visitPlaces(m, body, addPlaces, &visit);
  if (status == DJ_OK && map->ntarget == 0) {
    status = dj_fail(err, DJ_INVALID, "box: nothing of the body is inside");
  }
  return status < 0 ? status : addScales(map, body, making);
}

// ---- values and derivatives -------------------------------------------------------------------

// Width or height (k) of the mean section.
static double mean(const djTaper* t, int k, const double s[SCALES]) {
  return t->half[0][k] * s[Y0 + k] + t->half[1][k] * s[Y1 + k];
}

// Width and height of both ends, and the surface by them.
static double ends(double size[4], const djTaper* t, const double s[SCALES]) {
  for (int k = 0; k < 4; k++) size[k] = 2 * t->half[k / 2][k % 2] * s[Y0 + k];
  double L = s[LENGTH] * (t->end[1] - t->end[0]);
  return size[0] * size[1] + size[2] * size[3] + (size[0] + size[1] + size[2] + size[3]) * L;
}

static double surfaceAtOne(const djTaper* t) {
  static const double one[SCALES] = {1, 1, 1, 1, 1};
  double size[4];
  return ends(size, t, one);
}

static void surfaceVjp(double* ds, const djTaper* t, const double s[SCALES], double dsurface) {
  double size[4], extent = t->end[1] - t->end[0];
  ends(size, t, s);
  for (int k = 0; k < 4; k++) {
    double by = size[k ^ 1] + s[LENGTH] * extent;
    ds[Y0 + k] += dsurface * by * 2 * t->half[k / 2][k % 2];
    ds[LENGTH] += dsurface * size[k] * extent;
  }
}

static void applyInertia(double* out, const djTaper* t, const double s[SCALES]) {
  double L = s[LENGTH] * (t->end[1] - t->end[0]), w = mean(t, 0, s), h = mean(t, 1, s);
  double m = t->density * L * w * h, square[3] = {L * L, w * w, h * h};
  out[MASS] = m;
  for (int k = 0; k < 3; k++) {
    out[INERTIA + k] = 0;
    for (int i = 0; i < 3; i++) {
      double about = square[(i + 1) % 3] + square[(i + 2) % 3];
      out[INERTIA + k] += t->squares[k][i] * m / 12 * about;
    }
  }
  double x = (t->end[0] + t->end[1]) / 2;
  out[IPOS] = t->fixed + s[LENGTH] * (x - t->fixed);
  for (int k = 0; k < 2; k++) out[IPOS + 1 + k] = (t->middle[0][k] + t->middle[1][k]) / 2;
  for (int k = IQUAT; k < t->ninertial; k++) out[k] = k == IQUAT;
}

static djVec3 movedPlace(const djTaper* t, const djTaperPoint* p, const double s[SCALES]) {
  double x[3] = {t->fixed + s[LENGTH] * (p->x - t->fixed)};
  for (int k = 0; k < 2; k++) {
    x[1 + k] = (1 - p->t) * (t->middle[0][k] + p->across[k] * t->half[0][k] * s[Y0 + k]) +
               p->t * (t->middle[1][k] + p->across[k] * t->half[1][k] * s[Y1 + k]);
  }
  return dju_load3(x);
}

static void placeVjp(double* ds, const djTaper* t, const djTaperPoint* p, djVec3 by) {
  const double across[2] = {by.y, by.z};
  ds[LENGTH] += by.x * (p->x - t->fixed);
  for (int k = 0; k < 2; k++) {
    ds[Y0 + k] += across[k] * (1 - p->t) * p->across[k] * t->half[0][k];
    ds[Y1 + k] += across[k] * p->t * p->across[k] * t->half[1][k];
  }
}

static void applyTaper(double* out, const djMap* map, const double* z, double* work) {
  (void)work;
  const djTaper* t = map->detail;
  double s[SCALES];
  for (int k = 0; k < SCALES; k++) s[k] = product(t, k, z);
  if (t->density > 0) {
    applyInertia(out, t, s);
    out += t->ninertial;
  }
  double size[4], ratio = ends(size, t, s) / surfaceAtOne(t);
  for (int i = 0; i < t->ngeom; i++) out[3 * t->npoint + i] = t->scale[i] * ratio;
  for (int i = 0; i < t->npoint; i++) {
    const djTaperPoint* p = &t->point[i];
    const djPose* frame = &t->frame[p->frame];
    djVec3 from = p->anchor < 0 ? frame->p : movedPlace(t, &t->point[p->anchor], s);
    dju_store3(out + 3 * i, dju_mulMtV(frame->R, dju_sub3(movedPlace(t, p, s), from)));
  }
}

// ds (SCALES) += derivative by the products.
static void inertiaVjp(double* ds, const djTaper* t, const double s[SCALES], const double* dout) {
  double extent = t->end[1] - t->end[0];
  double size[3] = {s[LENGTH] * extent, mean(t, 0, s), mean(t, 1, s)}, dsize[3];
  double m = t->density * size[0] * size[1] * size[2], dm = dout[MASS], dabout[3];
  for (int i = 0; i < 3; i++) {
    dabout[i] = 0;
    for (int k = 0; k < 3; k++) dabout[i] += t->squares[k][i] * dout[INERTIA + k];
    const double *a = &size[(i + 1) % 3], *b = &size[(i + 2) % 3];
    dm += dabout[i] / 12 * (*a * *a + *b * *b);
  }
  for (int i = 0; i < 3; i++) {
    dsize[i] = dm * t->density * size[(i + 1) % 3] * size[(i + 2) % 3] +
               m / 6 * size[i] * (dabout[(i + 1) % 3] + dabout[(i + 2) % 3]);
  }
  double x = (t->end[0] + t->end[1]) / 2;
  ds[LENGTH] += dsize[0] * extent + dout[IPOS] * (x - t->fixed);
  for (int k = 0; k < 2; k++) {
    ds[Y0 + k] += dsize[1 + k] * t->half[0][k];
    ds[Y1 + k] += dsize[1 + k] * t->half[1][k];
  }
}

static void vjpTaper(double* dz, const djMap* map, const double* z, const double* dout,
                     double* work) {
  (void)work;
  const djTaper* t = map->detail;
  double s[SCALES], ds[SCALES] = {0};
  for (int k = 0; k < SCALES; k++) s[k] = product(t, k, z);
  if (t->density > 0) {
    inertiaVjp(ds, t, s, dout);
    dout += t->ninertial;
  }
  double dsurface = 0;
  for (int i = 0; i < t->ngeom; i++) {
    dsurface += dout[3 * t->npoint + i] * t->scale[i] / surfaceAtOne(t);
  }
  surfaceVjp(ds, t, s, dsurface);
  for (int i = 0; i < t->npoint; i++) {
    const djTaperPoint* p = &t->point[i];
    djVec3 by = dju_mulMV(t->frame[p->frame].R, dju_load3(dout + 3 * i));
    placeVjp(ds, t, p, by);
    if (p->anchor >= 0) placeVjp(ds, t, &t->point[p->anchor], dju_neg3(by));
  }
  for (int k = 0; k < SCALES; k++) {
    for (int i = 0; i < t->nindex[k]; i++) {
      double others = ds[k];
      for (int j = 0; j < t->nindex[k]; j++) others *= j == i ? 1 : z[t->index[k][j]];
      dz[t->index[k][i]] += others;
    }
  }
}

#define SCALE(name)                                                                                \
  { name, DJ_HOLDS_NUMBERS, 0, DJ_NOBJ, false, "", "none" }

const djMapType dj_mapTaper = {
    {.name = "taper",
     .unit = "",
     .help =
         "a box in the body's frame, lowest and highest corner (or those of its end at the lower "
         "x, then of the other): the entries of z that each key lists scale, by their product, its "
         "length along x and the y and z of its two ends; what is inside follows",
     .key = (const djKey[]){{"body", DJ_HOLDS_ELEMENT, 0, DJ_OBJ_BODY, true, "", ""},
                            {"box", DJ_HOLDS_ROWS, 0, DJ_NOBJ, true, "m", ""},
                            {"density", DJ_HOLDS_NUMBERS, 1, DJ_NOBJ, false, "kg/m3", "mass stays"},
                            SCALE("length"),
                            SCALE("y0"),
                            SCALE("z0"),
                            SCALE("y1"),
                            SCALE("z1"),
                            {0}}},
    DJ_MAPTO_CHOICE,
    false,
    true,
    makeTaper,
    applyTaper,
    vjpTaper,
    NULL, NULL};
