// Pairs of shapes at a given distance, and derivatives of a contact kernel by differences.

#ifndef DJ_TESTS_PAIR_CASE_H_
#define DJ_TESTS_PAIR_CASE_H_

#include "common/random_shape.h"
#include "common/worst.h"
#include "contact/penalty/damped.h"
#include "contact/implicit/implicit_fit.h"
#include "contact/implicit/implicit_surface.h"
#include "contact/implicit/implicit_touch.h"
#include "contact/kernel.h"
#include "contact/penalty/penalty.h"
#include "contact/penalty/penalty_shape.h"
#include "contact/plane/recovery.h"
#include "contact/plane/separating_plane.h"
#include "contact/triangles/long_range.h"
#include "contact/triangles/long_range_shape.h"
#include "contact/triangles/tessellation.h"
#include "shape/terrain.h"
#include "model/geom_row.h"
#include "shape/curve.h"
#include "shape/distance.h"

enum { PAIR_STATE = 1 << 16 };   // bytes; checked against state_size

// A pair with everything that its input points to. Do not copy: use pairInput after any change.
typedef struct PairCase {
  TestShape shape[2];
  djPose now[2], start[2];
  djVec3 ref[2];
  const djKernel* kernel;        // whose settings are in force; NULL: the separating plane
  double setting[DJ_MAX_OF_KERNEL];
  double s, L, K, guide, friction;   // of the separating plane
  double decay;                  // of its guide; 0: the default
  double weight[2][64];          // of a mesh's vertices, in a guide
  double twist[2][6];
  djPose rate[2];                // from which displacements count, where apart
  bool apart;
  djPose past[2];                // a step before the start, where that is known
  bool has_past;
  double size;                   // larger bounding radius
  djPairInput in;
  double* scratch;
  int nscratch;
  double* fit[2];                // surfaces of implicit_surface, points and fields of penalty
  union {
    char bytes[PAIR_STATE];
    double align;
  } state;
} PairCase;

static inline djPairState* stateOf(PairCase* c) { return (djPairState*)(void*)c->state.bytes; }

static inline djPose poseOf(djVec3 p, djQuat q) { return (djPose){p, dju_quatToMat(q)}; }

// exp(w) by its quaternion
static inline djMat3 turn(djVec3 w) {
  double a = dju_norm3(w), half = 0.5 * a, k = a > 1e-8 ? sin(half) / a : 0.5 - a * a / 48;
  return dju_quatToMat((djQuat){cos(half), k * w.x, k * w.y, k * w.z});
}

// x -> ref + exp(w)(x - ref) + v for a pose, xi = (w, v)
static inline djPose twistPose(const djPose* T, djVec3 ref, const double xi[6]) {
  djMat3 Q = turn(dju_load3(xi));
  djVec3 arm = dju_mulMV(Q, dju_sub3(T->p, ref));
  return (djPose){dju_add3(dju_add3(ref, arm), dju_load3(xi + 3)), dju_mulMM(Q, T->R)};
}

static inline void setCurved(TestShape* t, int type, const double size[3]) {
  const djGeomRow* row = dj_geomRow(type);
  int n = type == DJ_CYLINDER ? 2 : 1;
  double axes[3], slope[3];
  row->curve->axes(axes, size);
  double height = n == 2 ? size[1] - axes[2] : 0;
  double vert[6] = {0, 0, -height, 0, 0, height}, move[6] = {0, 0, -1, 0, 0, 1};
  setVertices(t, n, vert, n == 2 ? move : NULL);
  for (int k = 0; k < 3; k++) slope[k] = row->curve->erodes[k];
  djShape* s = &t->shape;
  s->type = type;
  s->curved = true;
  s->curve = dj_scaleColumns(dju_eye3(), axes);
  s->curve_move = dj_scaleColumns(dju_eye3(), slope);
  s->spread = row->curve->spread;
  s->inner = n == 2 ? fmin(size[0], size[1]) : fmin(size[0], fmin(size[1], size[2]));
  s->bound = height + dj_curveSize(&s->curve);
}

enum { GROUND_ROWS = 9, GROUND_COLUMNS = 8 };
static inline djHeightLattice groundLattice(double size) {
  return (djHeightLattice){GROUND_ROWS, GROUND_COLUMNS, {8 * size, 7 * size}, 2 * size};
}

// Gentle hills, whose valleys are wider than shapes of this size.
static inline void setGround(TestShape* t, double size, Random* r) {
  const djHeightLattice l = groundLattice(size);
  double height[GROUND_ROWS * GROUND_COLUMNS];
  for (int i = 0; i < l.nrow * l.ncol; i++) height[i] = 0.1 * size * uniform(r, -1, 1);
  t->buffer = malloc(dj_terrainSize(&l) * sizeof(double));
  const djPose pose = {randomPoint(r, size, size, size), dju_quatToMat(randomQuat(r))};
  dj_makeTerrain(t->buffer, &l, height, &pose);
  t->shape = (djShape){.type = DJ_HFIELD, .fit = t->buffer, .offset = uniform(r, -0.3, 0.3) * size,
                       .nnumber = dj_terrainCoefs(l.nrow, l.ncol), .inner = INFINITY,
                       .center = pose.p, .bound = 15 * size};
}

// A contact shape of a geom type with sizes as MuJoCo's, eroded by nothing. DJ_MESH: nmesh random
// points of an ellipsoid with semiaxes size.
static inline void setGeom(TestShape* t, int type, const double size[3], int nmesh, Random* r) {
  double vert[24];
  memset(t, 0, sizeof *t);
  if (type == DJ_PLANE) {
    djVec3 n = randomUnit(r);
    t->shape = (djShape){.type = DJ_PLANE, .normal = n, .offset = uniform(r, -1, 1) * size[0]};
    return;
  }
  if (type == DJ_HFIELD) {
    setGround(t, size[0], r);
    return;
  }
  if (type == DJ_MESH) {
    double* point = malloc(3 * (size_t)nmesh * sizeof(double));
    cloud(r, 1, nmesh, point);
    for (int i = 0; i < nmesh; i++) {
      for (int k = 0; k < 3; k++) point[3 * i + k] *= size[k];
    }
    if (setHull(t, nmesh, point) != DJ_OK) abort();
    free(point);
    return;
  }
  if (type == DJ_ELLIPSOID || type == DJ_CYLINDER) {
    setCurved(t, type, size);
    return;
  }
  int n = type == DJ_SPHERE ? 1 : type == DJ_CAPSULE ? 2 : 8;
  double move[24];
  boxVertices(vert, size[0], size[1], size[2]);
  boxVertices(move, 1, 1, 1);
  if (n <= 2) memset(vert, 0, sizeof vert);
  if (n == 2) {
    vert[2] = -size[1];
    vert[5] = size[1];
  }
  setVertices(t, n, vert, n == 8 ? move : NULL);
  djShape* s = &t->shape;
  s->type = type;
  s->radius = n <= 2 ? size[0] : 0;
  s->radius_slope = n <= 2 ? -1 : 0;
  s->inner = n <= 2 ? size[0] : fmin(size[0], fmin(size[1], size[2]));
  s->bound = n == 1 ? size[0]
             : n == 2 ? size[0] + size[1]
                      : sqrt(size[0] * size[0] + size[1] * size[1] + size[2] * size[2]);
}

// Unequal parts of the surface, sum 1; w (npad) stays in use.
static inline void setWeights(djShape* s, double* w) {
  double sum = 0;
  if (s->npad > 64) abort();
  for (int i = 0; i < s->npad; i++) sum += w[i] = i < s->nvert ? 1 + 0.4 * (i % 5) : 0;
  for (int i = 0; i < s->npad; i++) w[i] /= sum;
  s->weight = w;
}

// Refresh pointers and coefficients. The start is what pose_a, pose_b were at begin().
static inline const djPairInput* pairInput(PairCase* c) {
  djPairInput* in = &c->in;
  in->recovery_part = 0.4;
  in->a = &c->shape[0].shape;
  in->b = &c->shape[1].shape;
  in->pose_a = &c->now[0];
  in->pose_b = &c->now[1];
  in->start_a = &c->start[0];
  in->start_b = &c->start[1];
  in->ref_a = c->ref[0];
  in->ref_b = c->ref[1];
  in->rate_a = c->apart ? &c->rate[0] : in->start_a;
  in->rate_b = c->apart ? &c->rate[1] : in->start_b;
  in->past_a = c->has_past ? &c->past[0] : NULL;
  in->past_b = c->has_past ? &c->past[1] : NULL;
  in->twist_a = c->twist[0];
  in->twist_b = c->twist[1];
  in->setting = c->setting;
  if (!c->kernel || c->kernel == &dj_separatingPlane) {
    c->setting[DJ_PLANE_SUPPORT] = c->s;
    c->setting[DJ_PLANE_LENGTH_SCALE] = c->L;
    c->setting[DJ_PLANE_STIFFNESS] = c->K;
    c->setting[DJ_PLANE_RECOVERY] = 0.5;
    c->setting[DJ_PLANE_GUIDE] = c->guide;
    c->setting[DJ_PLANE_GUIDE_LENGTH] = 0.1 * c->L;
    c->setting[DJ_PLANE_GUIDE_DECAY] = c->decay > 0 ? c->decay : DJ_TAIL_DECAY;
  }
  in->friction = c->friction;
  int n = in->a->npad + in->b->npad;
  if (c->nscratch != DJ_KERNEL_SCRATCH(n)) {
    free(c->scratch);
    c->nscratch = DJ_KERNEL_SCRATCH(n);
    c->scratch = malloc((size_t)c->nscratch * sizeof(double));
  }
  in->scratch = c->scratch;
  in->nscratch = c->nscratch;
  return in;
}

// 2 s L/(1 - s)
static inline double planeRange(double s, double L) {
  double setting[DJ_PLANE_NSETTING] = {[DJ_PLANE_SUPPORT] = s, [DJ_PLANE_LENGTH_SCALE] = L};
  return dj_planeRange(setting);
}

static inline void freeCase(PairCase* c) {
  freeShape(&c->shape[0]);
  freeShape(&c->shape[1]);
  free(c->scratch);
  for (int k = 0; k < 2; k++) {
    free(c->fit[k]);
    c->fit[k] = NULL;
  }
  c->scratch = NULL;
  c->nscratch = 0;
}

// Surfaces of both shapes for implicit_surface, neither sharp nor round.
static inline void fitCase(PairCase* c) {
  for (int k = 0; k < 2; k++) {
    djShape* s = &c->shape[k].shape;
    const djHull* hull = s->type == DJ_MESH ? &c->shape[k].hull : NULL;
    if (s->type == DJ_PLANE) continue;
    c->fit[k] = malloc((size_t)dj_fitSize(s->type, hull, NULL) * sizeof(double));
    s->sharp = s->type == DJ_SPHERE || s->type == DJ_ELLIPSOID ? 1
               : s->type == DJ_CAPSULE                         ? 8
               : s->type == DJ_MESH                            ? 25
                                                               : 3;
    s->length = s->inner;
    if (dj_fitImplicit(s, c->fit[k], hull, NULL, NULL) != DJ_OK) abort();
  }
}

// Sizes of a shape that setGeom has made, and the frame of a plane.
static inline void sizesOf(double size[3], djPose* frame, const djShape* s) {
  *frame = (djPose){{0, 0, 0}, dju_eye3()};
  size[0] = size[1] = size[2] = 0;
  if (s->type == DJ_PLANE) {
    const djVec3 z = s->normal, e = fabs(z.x) < 0.6 ? dju_vec3(1, 0, 0) : dju_vec3(0, 1, 0);
    djVec3 x = dju_cross3(e, z);
    x = dju_scale3(1 / dju_norm3(x), x);
    const djVec3 y = dju_cross3(z, x);
    frame->R = (djMat3){{x.x, y.x, z.x, x.y, y.y, z.y, x.z, y.z, z.z}};
    frame->p = dju_scale3(s->offset, z);
  } else if (s->type == DJ_SPHERE || s->type == DJ_CAPSULE) {
    size[0] = s->radius;
    size[1] = s->type == DJ_CAPSULE ? s->vert[2][1] : 0;
  } else if (s->type == DJ_BOX) {
    for (int k = 0; k < 3; k++) size[k] = s->vert[k][7];
  } else if (s->curved) {
    for (int k = 0; k < 3; k++) size[k] = dju_norm3(dju_column(&s->curve, k));
    if (s->type == DJ_CYLINDER) size[1] = s->vert[2][1] + size[2];
  }
}

// Penalty's meshes are all the same, as its field takes long to make. Into t, which is one already.
static inline void usualMesh(TestShape* t) {
  Random r = {77};
  freeShape(t);
  setGeom(t, DJ_MESH, (const double[]){0.6, 0.5, 0.8}, 30, &r);
}

static inline const djGrid* gridOf(const TestShape* mesh) {
  static djGrid grid;
  const djHull* hull = &mesh->hull;
  if (!grid.buffer &&
      dj_makeGrid(&grid, hull->nvert, hull->vert, hull->nface, hull->face, NULL, NULL)) {
    abort();
  }
  return &grid;
}

// Points and fields of both shapes for penalty. given: the first has points of its own, inside (4 x 3).
static inline void penaltyCase(PairCase* c, const double* given) {
  for (int k = 0; k < 2; k++) {
    djShape* s = &c->shape[k].shape;
    if (s->type == DJ_MESH) usualMesh(&c->shape[k]);
    djPenaltySource from = {.type = s->type, .field = true, .scale = 1 + 0.3 * k};
    sizesOf(from.size, &from.frame, s);
    double* vert = malloc(3 * (size_t)(s->nvert + 1) * sizeof *vert);
    for (int i = 0; i < 3 * s->nvert; i++) vert[i] = s->vert[i % 3][i / 3];
    from.vert = vert;
    if (s->type == DJ_MESH) from.grid = gridOf(&c->shape[k]);
    from.nvert = from.npoint = s->nvert;
    if (s->type != DJ_MESH) from.npoint = dj_typePoints(s->type, dj_ruleOfPoints(s->type, from.size));
    if (k == 0 && given) from.given = given, from.npoint = 4;
    free(c->fit[k]);
    c->fit[k] = malloc((size_t)dj_penaltySize(from.npoint) * sizeof(double));
    dj_fitPenalty(s, c->fit[k], &from);
    free(vert);
  }
}

// Triangles of both shapes for long_range: of meshes those of their hull, of others a few.
static inline void longCase(PairCase* c) {
  for (int k = 0; k < 2; k++) {
    djShape* s = &c->shape[k].shape;
    const djHull* hull = s->type == DJ_MESH ? &c->shape[k].hull : NULL;
    if (s->type == DJ_PLANE) continue;
    djTessellation t = {.nvert = hull ? hull->nvert : 0, .ntri = hull ? hull->nface : 0};
    double size[3];
    djPose frame;
    sizesOf(size, &frame, s);
    if (!hull && !dj_openTessellation(&t, s->type, 20)) abort();
    double* vert = calloc(3 * (size_t)t.nvert, sizeof *vert);
    int* tri = malloc(3 * (size_t)t.ntri * sizeof *tri);
    for (int i = 0; i < t.nvert; i++) {
      djVec3 f[3];
      if (hull) memcpy(vert + 3 * i, hull->vert + 3 * i, 3 * sizeof *vert);
      else dj_tessellationVertex(f, &t, i);
      for (int j = 0; j < 3 && !hull; j++) dju_addTo3(vert + 3 * i, size[j], f[j]);
    }
    if (hull) memcpy(tri, hull->face, 3 * (size_t)t.ntri * sizeof *tri);
    else dj_tessellationTriangles(tri, &t);
    free(c->fit[k]);
    c->fit[k] = malloc((size_t)dj_trianglesSize(t.nvert, t.ntri) * sizeof(double));
    s->curved = false;
    s->radius = 0;
    const bool layered = c->setting[DJ_LONG_WEIGHTING] == DJ_LONG_PAPER;
    if (dj_fitTriangles(s, c->fit[k], t.nvert, vert, t.ntri, tri, NULL, layered, NULL) < 0) abort();
    free(vert);
    free(tri);
  }
}

static inline double kernelGap(PairCase* c) {
  djDistance d;
  const djPairInput* in = pairInput(c);
  const djGeomPair pair = {.a = in->a, .b = in->b, .pose_a = in->pose_a, .pose_b = in->pose_b};
  if (c->kernel->gap(&d, NULL, &pair) != DJ_OK) abort();
  return d.gap;
}

// Moves b apart, along the line of the centres or a plane along its normal, until the gap of
// triangles is as wanted.
static inline void setTrianglesGap(PairCase* c, double gap) {
  const djShape *a = &c->shape[0].shape, *b = &c->shape[1].shape;
  djVec3 u = dju_mulMV(c->now[1].R, dju_neg3(b->normal));
  if (b->type != DJ_PLANE) {
    u = dju_sub3(dju_transform(&c->now[1], b->center), dju_transform(&c->now[0], a->center));
    u = dju_scale3(1 / dju_norm3(u), u);
  }
  c->now[1].p = dju_madd3(c->now[1].p, 10 * c->size, u);
  const djVec3 far = c->now[1].p;
  double low = -30 * c->size, high = 0; // from afar the gap falls until they touch
  for (int i = 0; i < 3000 && b->type != DJ_PLANE && low < high - 0.02 * c->size; i++) {
    c->now[1].p = dju_madd3(far, high - 0.01 * c->size, u);
    if (kernelGap(c) < gap) low = high - 0.01 * c->size;
    else high -= 0.01 * c->size;
  }
  for (int i = 0; i < 60; i++) {
    const double t = 0.5 * (low + high);
    c->now[1].p = dju_madd3(far, t, u);
    if (kernelGap(c) < gap) low = t;
    else high = t;
  }
  c->now[1].p = dju_madd3(far, high, u);
  c->start[0] = c->now[0];
  c->start[1] = c->now[1];
}

static inline double pointGap(PairCase* c, djVec3 b) {
  djDistance d;
  c->now[1].p = b;
  const djPairInput* in = pairInput(c);
  const djGeomPair pair = {.a = in->a, .b = in->b, .pose_a = in->pose_a, .pose_b = in->pose_b,
                           .inflate = in->inflate};
  if (dj_penalty.gap(&d, NULL, &pair) != DJ_OK) abort();
  return d.gap;
}

// Moves b along the line of the centres, or a plane along its normal, until the gap of points is as
// wanted: there are as few points as there are, so that other ways may never come to an end.
static inline void setPointGap(PairCase* c, double gap) {
  const djShape *a = &c->shape[0].shape, *b = &c->shape[1].shape;
  const djVec3 from = dju_transform(&c->now[0], a->center);
  djVec3 u = dju_mulMV(c->now[1].R, dju_neg3(b->normal)), middle = dju_mulMV(c->now[1].R, b->center);
  if (b->type == DJ_PLANE) {
    middle = dju_neg3(dju_scale3(b->offset, u));
  } else {
    u = dju_sub3(dju_add3(c->now[1].p, middle), from);
    u = dju_scale3(1 / dju_norm3(u), u);
  }
  const djVec3 at = dju_sub3(from, middle);
  double low = 0, high = 4 * c->size;
  if (b->type == DJ_PLANE) low = -high;
  for (int i = 0; i < 100; i++) {
    const double t = 0.5 * (low + high);
    if (pointGap(c, dju_madd3(at, t, u)) < gap) low = t;
    else high = t;
  }
  pointGap(c, dju_madd3(at, high, u));
  c->start[0] = c->now[0];
  c->start[1] = c->now[1];
}

// Moves b along the line of the origins until the gap of the surfaces is as wanted.
static inline void setSurfaceGap(PairCase* c, double gap) {
  djVec3 last = {0, 0, 0};
  djSurfacePair pair;
  djSurfaceTouch touch;
  djImplicitWarm warm = {.valid = false};
  if (dj_openSurfacePair(&pair, &last, pairInput(c)) != DJ_OK) abort();
  if (dj_findSurfaceTouch(&touch, &warm, &pair) != DJ_OK) abort();
  c->now[1].p = dju_madd3(c->now[1].p, gap + touch.depth, pair.d);
  c->start[0] = c->now[0];
  c->start[1] = c->now[1];
}

static inline bool isGround(int type) { return type == DJ_PLANE || type == DJ_HFIELD; }

// As shapes are, whatever b is.
static inline djDistance apartOf(PairCase* c) {
  djDistance d;
  const djPairInput* in = pairInput(c);
  const djGeomPair pair = {.a = in->a, .b = in->b, .pose_a = in->pose_a, .pose_b = in->pose_b,
                           .inflate = in->inflate, .scratch = in->scratch};
  if (in->b->type == DJ_HFIELD) {
    if (dj_separatingPlane.gap(&d, NULL, &pair) < 0) abort();
  } else if (dj_distance(&d, NULL, in->a, in->pose_a, 0, in->b, in->pose_b, 0) < 0) {
    abort();
  }
  return d;
}

// The least height above a field. Where one point is near, its plane is followed.
static inline void setGroundGap(PairCase* c, double gap) {
  const djPose* field = &c->now[1];
  djTerrain t;
  dj_readTerrain(&t, c->shape[1].shape.fit);
  const djVec3 up = dju_column(&t.pose.R, 2);
  const djVec3 over = dju_madd3(t.pose.p, 2 * c->size, up);
  const djVec3 at = dju_transform(&c->now[0], c->shape[0].shape.center);
  c->now[1].p = dju_sub3(at, dju_mulMV(field->R, over));
  for (int k = 0; k < 80; k++) {
    const djDistance d = apartOf(c);
    if (fabs(d.gap - gap) <= 1e-14 * c->size) break;
    c->now[1].p = dju_madd3(c->now[1].p, gap - d.gap, d.normal);
  }
  // that is a bound: points between vertices act later
  for (int k = 0; k < 80; k++) {
    djPairReport report;
    memcpy(c->start, c->now, sizeof c->now);
    memset(&c->state, 0, sizeof c->state);
    if (dj_separatingPlane.report(&report, stateOf(c), pairInput(c)) < 0) abort();
    if (fabs(report.gap - gap) <= 1e-14 * c->size) break;
    c->now[1].p = dju_madd3(c->now[1].p, gap - report.gap, report.normal);
  }
  c->start[0] = c->now[0];
  c->start[1] = c->now[1];
}

// Move b along the direction of least separation until the signed gap is as wanted.
static inline void setGap(PairCase* c, double gap) {
  if (c->kernel == &dj_implicitSurface) {
    setSurfaceGap(c, gap);
    return;
  }
  if (c->kernel == &dj_penalty || c->kernel == &dj_damped) {
    setPointGap(c, gap);
    return;
  }
  if (c->kernel == &dj_longRange) {
    setTrianglesGap(c, gap);
    return;
  }
  if (c->shape[1].shape.type == DJ_HFIELD) {
    setGroundGap(c, gap);
    return;
  }
  for (int k = 0; k < 60; k++) {
    djDistance d;
    dj_distance(&d, NULL, &c->shape[0].shape, &c->now[0], 0, &c->shape[1].shape, &c->now[1], 0);
    double now = d.gap - dj_pairInflation(&c->shape[0].shape, &c->shape[1].shape, c->in.inflate);
    if (fabs(now - gap) <= 1e-14 * c->size) break;
    c->now[1].p = dju_madd3(c->now[1].p, gap - now, d.normal);
  }
  c->start[0] = c->now[0];
  c->start[1] = c->now[1];
}

// What friction has besides sliding alike in all directions, by the case's number: nothing in one
// of four.
static inline djCone someCone(int number) {
  static const djCone cone[4] = {{0, 0, {0, 0}},
                                 {0, 0.25, {0.2, 0.2}},
                                 {0.3, 0, {0, 0}},
                                 {0.8, 0.3, {0.2, 0.35}}};
  return cone[number % 4];
}

// Two shapes of given types with sizes about `size`, random poses, at a gap of `part` times the
// range. K = 1.
static inline void randomPair(PairCase* c, Random* r, int type_a, int type_b, double size,
                              double s, double L, double part) {
  memset(c, 0, sizeof *c);
  int type[2] = {type_a, type_b};
  c->s = s;
  c->L = L;
  c->K = 1;
  c->size = size;
  for (int k = 0; k < 2; k++) {
    double dims[3];
    for (int j = 0; j < 3; j++) dims[j] = size * uniform(r, 0.3, 1);
    setGeom(&c->shape[k], type[k], dims, 30, r);
    if (type[k] == DJ_MESH) c->shape[k].shape.type = DJ_MESH;
    djVec3 p = randomPoint(r, size, size, size);
    if (k == 1 && type_b != DJ_PLANE) p = dju_madd3(c->now[0].p, 3 * size, randomUnit(r));
    c->now[k] = poseOf(p, randomQuat(r));
    c->ref[k] = dju_madd3(c->now[k].p, 0.3 * size, randomUnit(r));
    if (!isGround(type[k])) c->size = djt_worst(c->size, c->shape[k].shape.bound);
  }
  for (int k = 0; k < 2; k++) {
    if (type[k] == DJ_MESH) setWeights(&c->shape[k].shape, c->weight[k]);
  }
  c->in.guide_part = 0.7;
  c->in.guide_scale = c->shape[0].shape.bound + c->shape[1].shape.bound;
  c->in.h = 0.01;
  c->setting[DJ_PLANE_FRICTION_EPS] = 1e-8;
  c->in.force_cap = INFINITY;
  setGap(c, part * 2 * s * L / (1 - s));
}

// ------------------------------------------ differences ----------------------------------------

// Central differences of a vector function along one direction, extrapolated thrice: error O(e^8).
// Returns the difference between the last two orders, relative to `scale`.
static inline double extrapolate(double* out, int n, double e, double scale,
                                 void (*f)(double* y, void* user, double e), void* user) {
  double T[4][160], y0[160], y1[160], worst = 0;
  for (int k = 0; k < 4; k++, e *= 0.5) {
    f(y1, user, e);
    f(y0, user, -e);
    for (int i = 0; i < n; i++) T[k][i] = (y1[i] - y0[i]) / (2 * e);
  }
  for (int m = 1; m < 4; m++) {
    double q = pow(4, m);
    for (int k = 3; k >= m; k--) {
      for (int i = 0; i < n; i++) {
        double better = T[k][i] + (T[k][i] - T[k - 1][i]) / (q - 1);
        if (k == 3 && m == 3) worst = djt_worst(worst, fabs(better - T[k][i]) / scale);
        T[k][i] = better;
      }
    }
  }
  memcpy(out, T[3], (size_t)n * sizeof(double));
  return worst;
}

// Begins the kernel's step at the start poses.
static inline djStatus beginCase(PairCase* c, const djKernel* kernel) {
  memset(&c->state, 0, sizeof c->state);
  djPairInput in = *pairInput(c);
  in.pose_a = &c->start[0];
  in.pose_b = &c->start[1];
  return kernel->begin(stateOf(c), &in);
}

// A step before the start the pair was deeper by so many metres, along the force there, and turned
// a little; where there is no force nothing is known.
static inline void setPast(PairCase* c, const djKernel* kernel, Random* r, double deeper) {
  djPairOutput out = {.twist_jac = NULL};
  djPose now[2] = {c->now[0], c->now[1]};
  double friction = c->friction;
  c->has_past = false;
  if (!kernel->past) return;
  memcpy(c->now, c->start, sizeof c->now);
  c->friction = 0;
  bool begun = beginCase(c, kernel) >= 0;
  bool acts = begun && kernel->eval(&out, stateOf(c), pairInput(c), DJ_EVAL_GRADIENT) >= 0;
  memcpy(c->now, now, sizeof c->now);
  c->friction = friction;
  double size = acts && out.active ? dju_norm3(dju_load3(out.gradient + 3)) : 0;
  if (!(size > 0 && size < INFINITY)) return;
  c->has_past = true;
  for (int b = 0; b < 2; b++) {
    double xi[6];
    for (int i = 0; i < 6; i++) {
      xi[i] = 0.02 * deeper * uniform(r, -1, 1);
      if (i >= 3 && b == 0) xi[i] += deeper * out.gradient[i] / size;
    }
    c->past[b] = twistPose(&c->start[b], c->ref[b], xi);
  }
}

#endif  // DJ_TESTS_PAIR_CASE_H_
