#include "contact/plane/terrain.h"

#include "math/so3.h"

#include <float.h>
#include <string.h>

// Points whose height above where they act is more than so many ranges are left out.
#define NEAR 2
#define WIDE 2   // and of gaps as such, in radii of the shape

enum { BETWEEN = 7, SIDE = 5 };   // points on an axis; points along a box's edge, ends included

// ------------------------------------------ points ---------------------------------------------

// The lattice of SIDE^3 points of a box, of which those on the surface that are no corners count.
static bool onSurface(const int at[3]) {
  int ends = 0;
  for (int k = 0; k < 3; k++) ends += at[k] == 0 || at[k] == SIDE - 1;
  return ends == 1 || ends == 2;
}

// The i-th of them.
static void latticePlace(int at[3], int i) {
  for (int n = 0; n < SIDE * SIDE * SIDE; n++) {
    const int place[3] = {n % SIDE, n / SIDE % SIDE, n / (SIDE * SIDE)};
    if (!onSurface(place) || i-- > 0) continue;
    memcpy(at, place, sizeof place);
    return;
  }
}

static bool isBox(const djShape* a) { return a->type == DJ_BOX && a->nvert == 8; }

int dj_terrainCount(const djShape* a) {
  if (isBox(a)) return 8 + SIDE * SIDE * SIDE - (SIDE - 2) * (SIDE - 2) * (SIDE - 2) - 8;
  const bool axis = a->nvert == 2 && (a->type == DJ_CAPSULE || a->type == DJ_CYLINDER);
  return a->nvert + (axis ? BETWEEN : 0);
}

djTerrainMean dj_terrainMean(const djShape* a, int point) {
  djTerrainMean m = {.n = 1, .vertex = {point}, .weight = {1}};
  if (point < a->nvert) return m;
  const int i = point - a->nvert;
  if (!isBox(a)) {
    const double part = (i + 1.0) / (BETWEEN + 1);
    m = (djTerrainMean){.n = 2, .vertex = {0, 1}, .weight = {1 - part, part}};
    return m;
  }
  int at[3] = {0, 0, 0};
  latticePlace(at, i);
  m.n = 8;
  for (int k = 0; k < 8; k++) {
    m.vertex[k] = k;
    m.weight[k] = 1;
    for (int axis = 0; axis < 3; axis++) {
      const double part = at[axis] / (SIDE - 1.0);
      m.weight[k] *= k >> axis & 1 ? part : 1 - part;
    }
  }
  return m;
}

static djVec3 pointOf(const djShape* a, int point) {
  const djTerrainMean m = dj_terrainMean(a, point);
  djVec3 x = {0, 0, 0};
  for (int k = 0; k < m.n; k++) {
    const int v = m.vertex[k];
    x = dju_madd3(x, m.weight[k], dju_vec3(a->vert[0][v], a->vert[1][v], a->vert[2][v]));
  }
  return x;
}

// All points in turn.
typedef struct djPointWalk {
  const djShape* a;
  djVec3 low, side[3];       // of a box
  int at[3];
} djPointWalk;

static djVec3 vertexOf(const djShape* a, int i) {
  return dju_vec3(a->vert[0][i], a->vert[1][i], a->vert[2][i]);
}

static djPointWalk beginWalk(const djShape* a) {
  djPointWalk w = {.a = a, .at = {-1, 0, 0}};
  if (!isBox(a)) return w;
  w.low = vertexOf(a, 0);
  for (int k = 0; k < 3; k++) {
    w.side[k] = dju_scale3(1.0 / (SIDE - 1), dju_sub3(vertexOf(a, 1 << k), w.low));
  }
  return w;
}

static djVec3 nextPoint(djPointWalk* w, int point) {
  if (point < w->a->nvert) return vertexOf(w->a, point);
  if (!isBox(w->a)) return pointOf(w->a, point);
  do {
    for (int k = 0; k < 3 && ++w->at[k] == SIDE; k++) w->at[k] = 0;
  } while (!onSurface(w->at));
  djVec3 x = w->low;
  for (int k = 0; k < 3; k++) x = dju_madd3(x, w->at[k], w->side[k]);
  return x;
}

djVec3 dj_terrainPoint(const djTerrainWork* w, const djNearFoot* f) {
  return dju_transform(w->pose[0], pointOf(w->in->a, f->point));
}

// ------------------------------------------ feet -----------------------------------------------

// Numbers of the half space's solver.
static int argumentSize(const djShape* a) { return 3 * dj_paddedCount(dj_terrainCount(a)); }

static bool checkValues(const djPairInput* in) {
  if (!dj_isPlaneInput(in) || in->b->type != DJ_HFIELD || !in->b->fit) return false;
  return in->nscratch >= DJ_LANES + argumentSize(in->a);
}

bool dj_isTerrainInput(const djPairInput* in) {
  return checkValues(in) && dj_isFinitePose(in->pose_a) && dj_isFinitePose(in->pose_b) &&
         dj_isFinitePose(in->start_a) && dj_isFinitePose(in->start_b);
}

static djVec3 world(const djTerrainWork* w, djVec3 v) { return dju_mulMV(w->frame.R, v); }

// M = -B (1 - Q)^-1, Q = (d + C) B, by its adjugate; symmetric but for rounding.
static void bendOf(double M[3], const djFoot* f, double d) {
  const double *B = f->B, c[3] = {d + f->C[0], f->C[1], d + f->C[2]};
  const double q[4] = {1 - (c[0] * B[0] + c[1] * B[1]), -(c[0] * B[1] + c[1] * B[2]),
                       -(c[1] * B[0] + c[2] * B[1]), 1 - (c[1] * B[1] + c[2] * B[2])};
  double det = q[0] * q[3] - q[1] * q[2];
  if (fabs(det) < DBL_MIN) det = DBL_MIN;
  M[0] = -(B[0] * q[3] - B[1] * q[2]) / det;
  M[2] = -(B[2] * q[0] - B[1] * q[1]) / det;
  const double upper = B[1] * q[0] - B[0] * q[1], lower = B[1] * q[3] - B[2] * q[2];
  M[1] = -0.5 * (upper + lower) / det;
}

// One point's foot. False: it is not near.
static bool findOne(djNearFoot* out, bool* lost, djTerrainWork* w, int point, djVec3 local,
                    const double* from) {
  djMat3 G;
  if (w->curved) G = dju_mulMtM(w->frame.R, w->curve);
  djFoot f;
  *lost = !dj_findFoot(&f, &w->terrain, local, w->curved ? &G : NULL, from);
  out->u[0] = f.u[0];
  out->u[1] = f.u[1];
  out->point = point;
  out->z = f.d - w->radius + (point < w->in->a->nvert ? 0 : w->lift);
  w->gap = fmin(w->gap, out->z);
  if (!(out->z < w->near)) return false;
  out->n = world(w, f.n);
  out->x = dju_transform(&w->frame, f.x);
  out->s = dju_transform(&w->frame, f.s);
  for (int k = 0; k < 2; k++) out->T[k] = world(w, f.T[k]);
  bendOf(out->M, &f, f.d);
  return true;
}

// How far shape a has moved since then, m; infinite where b has.
static double movedSince(const djTerrainNear* near, const djTerrainWork* w) {
  if (memcmp(&near->pose[1], w->pose[1], sizeof(djPose)) != 0) return INFINITY;
  const djShape* a = w->in->a;
  const djPose *from = &near->pose[0], *to = w->pose[0];
  const djVec3 d = dju_sub3(dju_transform(to, a->center), dju_transform(from, a->center));
  return dju_norm3(d) + a->bound * dju_turnNorm(&from->R, &to->R);
}

static djStatus takeRoom(djTerrainWork* w, int count) {
  const int first = argumentSize(w->in->a), size = (int)(sizeof(djNearFoot) / sizeof(double));
  const int more = count <= DJ_TERRAIN_POINTS ? 0 : size * count;
  if (first + more > w->nfree) return DJ_NO_MEMORY;
  w->argument = w->free;
  w->foot = more > 0 ? (djNearFoot*)(void*)(w->free + first) : w->own;
  w->free += first + more;
  w->nfree -= first + more;
  return DJ_OK;
}

// known: of the points, or NULL; find: where it is to be set, or NULL. top: of the surface below the
// shape. Where the points do not count but the least gap does, one that is no less than another's is
// left out.
static djStatus visitPoints(djTerrainWork* w, const djTerrainNear* known, djTerrainNear* find,
                            double top) {
  const djShape* a = w->in->a;
  const int count = dj_terrainCount(a);
  const double round = w->curved ? dj_curveSize(&w->curve) : 0;
  const double beyond = fmax(w->radius, 0) + round, slack = find ? find->slack : 0;
  djStatus status = DJ_OK;
  djPointWalk walk = beginWalk(a);
  for (int i = 0; i < count; i++) {
    const djVec3 at = nextPoint(&walk, i);
    if (known && !(known->may[i / 64] >> (i % 64) & 1)) continue;
    const double reach = beyond + (w->lift > 0 ? w->near : fmin(w->near, w->gap)) -
                         (i < a->nvert ? 0 : w->lift);
    const djVec3 local = dju_untransform(&w->frame, dju_transform(w->pose[0], at));
    bool lost = false;
    double room = local.z - top;
    if (room < reach + slack) room = fmax(room, dj_terrainHeadroom(&w->terrain, local));
    if (find && room < reach + slack) find->may[i / 64] |= UINT64_C(1) << (i % 64);
    if (room >= reach) continue;
    const bool warm = known && (known->found[i / 64] >> (i % 64) & 1);
    const bool near = findOne(&w->foot[w->n], &lost, w, i, local, warm ? known->u + 2 * i : NULL);
    if (find) {
      find->found[i / 64] |= UINT64_C(1) << (i % 64);
      memcpy(find->u + 2 * i, w->foot[w->n].u, 2 * sizeof(double));
    }
    if (!near) continue;
    w->n++;
    if (lost) status = DJ_NOT_CONVERGED;
  }
  w->gap = fmin(w->gap, w->near);   // of those that are not near
  return status;
}

static djStatus findFeet(djTerrainWork* w, const djTerrainNear* known, djTerrainNear* find) {
  const djShape* a = w->in->a;
  const djVec3 center = dju_untransform(&w->frame, dju_transform(w->pose[0], a->center));
  const double more = fmax(w->radius - a->radius, 0), all = a->bound + more + w->near;
  w->n = 0;
  w->gap = INFINITY;
  w->beneath = center.z + a->bound < -w->terrain.base;
  if (w->beneath) {
    w->gap = -w->terrain.base - center.z - a->bound - more;
    return DJ_OK;
  }
  const double clear = dj_terrainClearance(&w->terrain, center, 3 * all);
  if (clear >= all) {
    w->gap = clear - a->bound - more;
    return DJ_OK;
  }
  const int count = dj_terrainCount(a);
  const djStatus status = takeRoom(w, count);
  if (status < 0) return status;
  if (known && (!known->known || movedSince(known, w) > known->slack)) known = NULL;
  if (find && count <= DJ_TERRAIN_POINTS) {
    *find = (djTerrainNear){.known = true, .pose = {*w->pose[0], *w->pose[1]},
                            .slack = w->near + 0.02 * a->bound};
  } else {
    find = NULL;
  }
  // clear < 3 all is center.z less the surface's top within 3 all
  return visitPoints(w, known, find, center.z - clear);
}

static djStatus openWork(djTerrainWork* w, const djPairInput* in, const djErosion* erosion,
                         bool at_start) {
  if (!checkValues(in)) return DJ_INVALID;
  w->in = in;
  w->pose[0] = at_start ? in->start_a : in->pose_a;
  w->pose[1] = at_start ? in->start_b : in->pose_b;
  if (!dj_isFinitePose(w->pose[0]) || !dj_isFinitePose(w->pose[1])) return DJ_INVALID;
  w->law = dj_planeLaw(in->setting);
  w->L = in->setting[DJ_PLANE_LENGTH_SCALE];
  w->range = dj_planeRange(in->setting);
  w->soft = dj_softening(&w->soft_rate, erosion, in);
  w->K = w->soft * in->setting[DJ_PLANE_STIFFNESS];
  w->e = erosion->e;
  // The field is lowered by its offset and by e; inflation is of both together.
  w->radius = in->a->radius + in->inflate + in->b->offset - w->e;
  dj_readTerrain(&w->terrain, in->b->fit);
  w->frame.p = dju_transform(w->pose[1], w->terrain.pose.p);
  w->frame.R = dju_mulMM(w->pose[1]->R, w->terrain.pose.R);
  w->curved = in->a->curved;
  if (w->curved) w->curve = dju_mulMM(w->pose[0]->R, in->a->curve);
  const int skip = (int)((64 - (uintptr_t)in->scratch % 64) % 64 / sizeof(double));
  w->free = in->scratch + skip;
  w->nfree = in->nscratch - skip;
  return DJ_OK;
}

static djStatus openNear(djTerrainWork* w, const djPairInput* in, const djErosion* erosion,
                         bool at_start) {
  const djStatus status = openWork(w, in, erosion, at_start);
  w->near = NEAR * w->range;
  w->lift = w->range;
  return status;
}

djStatus dj_openTerrain(djTerrainWork* w, const djPairInput* in, const djErosion* erosion,
                        bool at_start) {
  const djStatus status = openNear(w, in, erosion, at_start);
  return status < 0 ? status : findFeet(w, NULL, NULL);
}

djStatus dj_openTerrainNow(djTerrainWork* w, const djPairInput* in, const djTerrainState* state) {
  const djStatus status = openNear(w, in, &state->plane.erosion, false);
  return status < 0 ? status : findFeet(w, &state->near, NULL);
}

djStatus dj_openTerrainFirst(djTerrainWork* w, const djPairInput* in, djTerrainNear* near) {
  const djErosion none = {0};
  const djStatus status = openNear(w, in, &none, true);
  return status < 0 ? status : findFeet(w, NULL, near);
}

djStatus dj_openTerrainGap(djTerrainWork* w, const djPairInput* in) {
  static const double setting[DJ_PLANE_NSETTING] = {
      [DJ_PLANE_LENGTH_SCALE] = 1, [DJ_PLANE_SUPPORT] = 0.1, [DJ_PLANE_RECOVERY] = 1,
      [DJ_PLANE_GUIDE_LENGTH] = 1, [DJ_PLANE_GUIDE_DECAY] = DJ_TAIL_DECAY};
  const djErosion none = {0};
  djPairInput at = *in;
  at.setting = setting;
  at.recovery_part = 1;
  const djStatus status = openWork(w, &at, &none, false);
  w->in = in;
  w->near = WIDE * in->a->bound;
  w->lift = 0;
  return status < 0 ? status : findFeet(w, NULL, NULL);
}

// ------------------------------------------ t and o --------------------------------------------

djStatus dj_solveTerrain(djTerrainWork* w) {
  const int pad = dj_paddedCount(w->n);
  w->kind = DJ_APART;
  w->half.value = 0;
  if (w->n == 0) return DJ_OK;
  double *none = w->argument, *z = none + pad;
  for (int i = 0; i < pad; i++) {
    none[i] = 0;
    z[i] = w->foot[i < w->n ? i : 0].z / w->L;
  }
  const djHalfSpace space = {.n = w->n, .y = {none, none, z}, .normal = {0, 0, 1}};
  w->half.t = w->half.o = 0;
  const djPlaneStatus solved = dj_solveHalfSpace(&w->half, &space, w->law, z + pad, 80);
  if (solved == DJ_PLANE_ZERO) return DJ_OK;
  w->kind = DJ_OVERLAPPING;
  if (solved == DJ_PLANE_LOST && !(w->half.value > 0 && w->half.value < INFINITY)) return DJ_OK;
  w->kind = DJ_TOUCHING;
  for (int i = 0; i < w->n; i++) {
    double b[3];
    dj_barrier(b, w->half.t * z[i] + w->half.o, w->law);
    w->foot[i].first = b[1];
    w->foot[i].second = b[2];
  }
  return solved == DJ_PLANE_LOST ? DJ_NOT_CONVERGED : DJ_OK;
}

// ------------------------------------------ derivatives ----------------------------------------

djVec3 dj_terrainBend(const djTerrainWork* w, const djNearFoot* f, djVec3 x) {
  return w->curved ? dj_curveBend(&w->curve, f->n, x) : dju_vec3(0, 0, 0);
}

void dj_terrainRow(double J[12], const djTerrainWork* w, const djNearFoot* f) {
  dju_store3(J, dju_cross3(dju_sub3(f->x, w->in->ref_a), f->n));
  dju_store3(J + 3, f->n);
  dju_store3(J + 6, dju_cross3(f->n, dju_sub3(f->x, w->in->ref_b)));
  dju_store3(J + 9, dju_neg3(f->n));
}

// a: rho x T_k - (C T_k) x n, T_k; b: the opposite about its reference.
void dj_terrainTurn(double F[2][12], const djTerrainWork* w, const djNearFoot* f) {
  for (int k = 0; k < 2; k++) {
    const djVec3 T = f->T[k], bend = dju_cross3(dj_terrainBend(w, f, T), f->n);
    dju_store3(F[k], dju_sub3(dju_cross3(dju_sub3(f->x, w->in->ref_a), T), bend));
    dju_store3(F[k] + 3, T);
    dju_store3(F[k] + 6, dju_sub3(bend, dju_cross3(dju_sub3(f->x, w->in->ref_b), T)));
    dju_store3(F[k] + 9, dju_neg3(T));
  }
}

void dj_terrainMixed(double mixed[24], const djTerrainWork* w) {
  memset(mixed, 0, 24 * sizeof *mixed);
  const double t = w->half.t, inv = 1 / w->L;
  for (int i = 0; i < w->n; i++) {
    const djNearFoot* f = &w->foot[i];
    if (f->first == 0) continue;
    double J[12];
    dj_terrainRow(J, w, f);
    const double by_t = inv * (t * f->second * f->z * inv + f->first), by_o = inv * t * f->second;
    for (int j = 0; j < 12; j++) {
      mixed[j] += by_t * J[j];
      mixed[12 + j] += by_o * J[j];
    }
  }
}

double dj_terrainGap(double* by, const djTerrainWork* w) {
  const double width = DJ_SOFT_WIDTH * w->range;
  double least = INFINITY, sum = 0;
  if (by) memset(by, 0, 12 * sizeof *by);
  for (int i = 0; i < w->n; i++) least = fmin(least, w->foot[i].z);
  if (w->n == 0) return INFINITY;
  for (int i = 0; i < w->n; i++) {
    const double share = exp((least - w->foot[i].z) / width);
    double J[12];
    sum += share;
    if (!by) continue;
    dj_terrainRow(J, w, &w->foot[i]);
    for (int j = 0; j < 12; j++) by[j] += share * J[j];
  }
  for (int j = 0; j < 12 && by; j++) by[j] /= sum * w->range;
  return (least - width * log(sum)) / w->range;
}
