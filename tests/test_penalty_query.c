// Queries of penalty contact against their formulas and differences: wrenches, states, derivatives
// by poses, velocities, points, coefficients and vertices of a mesh; bad input.

#include "common/message.h"
#include "common/random.h"
#include "common/test.h"
#include "common/worst.h"
#include "math/so3.h"

#include <dijoco/penalty.h>

enum { N = 4 };

typedef struct Case {
  djcPenaltyQuery q;
  double point[3 * N];
} Case;

static void openCase(Case* c, djRng* r, djGeomType geom) {
  memset(c, 0, sizeof *c);
  djcPenaltyQuery* q = &c->q;
  q->npoint = N;
  q->point = c->point;
  q->geom = geom;
  djt_uniforms(q->size, 3, r, 0.4, 0.6);
  djt_uniforms(q->pos, 3, r, -0.1, 0.1);
  djt_uniforms(q->quat, 4, r, -1, 1);
  djt_uniforms(q->origin, 3, r, -1, 1);
  djt_uniforms(q->twist_a, 6, r, -1, 1);
  djt_uniforms(q->twist_b, 6, r, -1, 1);
  djt_uniforms(q->lambda, 12, r, -1, 1);
  djt_uniforms(c->point, 3 * N, r, -0.35, 0.35);
  q->kn = 1000;
  q->kt = djt_uniform(r, 10, 100);
  q->kd = 100;
  q->mu = 0.5;
  q->scale = 1.5;
}

// In place of the geom; NULL: there is none.
static const djcField* mesh;

static djStatus ask(djcPenalty* out, djcPenaltyPoint* point, double* by_point,
                    const djcPenaltyQuery* q, djError* err) {
  if (!mesh) return djc_penalty(out, point, by_point, q, err);
  return djc_penaltyMesh(out, point, by_point, NULL, q, mesh, err);
}

// Both wrenches about the origins that the query had at first.
static void wrenches(double w[12], const djcPenaltyQuery* q, const djcPenaltyQuery* first) {
  djcPenalty out;
  djError err = {""};
  if (ask(&out, NULL, NULL, q, &err) != DJ_OK) fail_msg("%s", err.text);
  memcpy(w, out.wrench_a, sizeof out.wrench_a);
  memcpy(w + 6, out.wrench_b, sizeof out.wrench_b);
  const djVec3 shift = dju_sub3(dju_load3(q->pos), dju_load3(first->pos));
  dju_addTo3(w + 6, 1, dju_cross3(shift, dju_load3(w + 9)));
}

// Column j by poses: a turns about its origin, b about pos; the velocity fields stay.
static void movePose(Case* c, int j, double e) {
  djcPenaltyQuery* q = &c->q;
  double xi[6] = {0};
  xi[j % 6] = e;
  const djQuat turn = dju_expQuat(dju_load3(xi));
  const djMat3 R = dju_quatToMat(turn);
  q->point = c->point;
  if (j < 6) {
    const djVec3 o = dju_load3(q->origin);
    for (int i = 0; i < N; i++) {
      const djVec3 arm = dju_mulMV(R, dju_sub3(dju_load3(c->point + 3 * i), o));
      dju_store3(c->point + 3 * i, dju_add3(dju_add3(o, arm), dju_load3(xi + 3)));
    }
    return;
  }
  double unit[4], norm = 0;
  for (int k = 0; k < 4; k++) norm += q->quat[k] * q->quat[k];
  for (int k = 0; k < 4; k++) unit[k] = q->quat[k] / sqrt(norm);
  dju_storeQuat(q->quat, dju_mulQuat(turn, dju_loadQuat(unit)));
  dju_addTo3(q->pos, 1, dju_load3(xi + 3));
  dju_addTo3(q->twist_b + 3, 1, dju_cross3(dju_load3(q->twist_b), dju_load3(xi + 3)));
}

static void moveNumber(Case* c, double* x, double e) {
  *x += e;
  c->q.point = c->point;
}

// Central difference of both wrenches by one number, or along a twist of the poses (x NULL).
static void difference(double w[12], const Case* c, const double* x, int j) {
  const double e = 1e-6;
  double y[2][12];
  for (int side = 0; side < 2; side++) {
    Case moved = *c;
    const double step = side ? e : -e;
    if (x)
      moveNumber(&moved, (double*)(void*)((char*)&moved + ((const char*)x - (const char*)c)), step);
    else
      movePose(&moved, j, step);
    wrenches(y[side], &moved.q, &c->q);
  }
  for (int i = 0; i < 12; i++) w[i] = (y[1][i] - y[0][i]) / (2 * e);
}

static void checkDerivatives(const Case* c) {
  djcPenalty out;
  double by_point[3 * N], w[12], worst = 0;
  djError err = {""};
  assert_int_equal(ask(&out, NULL, by_point, &c->q, &err), DJ_OK);
  const double unit = djt_largest(out.pose_jac, 144);
  for (int j = 0; j < 12; j++) {
    difference(w, c, NULL, j);
    for (int i = 0; i < 12; i++) {
      worst = djt_worst(worst, fabs(w[i] - out.pose_jac[12 * i + j]) / unit);
    }
    difference(w, c, j < 6 ? &c->q.twist_a[j] : &c->q.twist_b[j - 6], 0);
    for (int i = 0; i < 12; i++) {
      worst = djt_worst(worst, fabs(w[i] - out.twist_jac[12 * i + j]) / unit);
    }
  }
  for (int i = 0; i < 3 * N; i++) {
    difference(w, c, &c->point[i], 0);
    worst = djt_worst(worst, fabs(djt_dot(c->q.lambda, w, 12) - by_point[i]) / unit);
  }
  const double* number[5] = {&c->q.kn, &c->q.kt, &c->q.kd, &c->q.mu, &c->q.scale};
  const double by[5] = {out.by_kn, out.by_kt, out.by_kd, out.by_mu, out.by_scale};
  for (int k = 0; k < 5; k++) {
    difference(w, c, number[k], 0);
    worst = djt_worst(worst, fabs(djt_dot(c->q.lambda, w, 12) - by[k]) / unit);
  }
  assert_true(worst < 1e-7);
}

static void testDerivatives(void) {
  static const djGeomType types[] = {DJ_PLANE, DJ_SPHERE,    DJ_CAPSULE,
                                     DJ_BOX,   DJ_ELLIPSOID, DJ_CYLINDER};
  djRng r = {5};
  int seen[3] = {0};
  for (int i = 0; i < 60; i++) {
    Case c;
    djcPenalty out;
    djcPenaltyPoint point[N];
    openCase(&c, &r, types[i % 6]);
    checkDerivatives(&c);
    assert_int_equal(djc_penalty(&out, point, NULL, &c.q, NULL), DJ_OK);
    for (int k = 0; k < N; k++) seen[point[k].state]++;
  }
  assert_true(seen[DJC_FREE] > 5 && seen[DJC_STICK] > 5 && seen[DJC_SLIP] > 5);
}

// Of each geom at points whose distance, normal and kind are plain to see.
static void testGeoms(void) {
  const double h = sqrt(0.5);
  const struct {
    djGeomType geom;
    double size[3], point[3], distance, normal[3];
  } at[] = {{DJ_PLANE, {0}, {3, 4, -0.2}, -0.2, {0, 0, 1}},
            {DJ_SPHERE, {1}, {0, 0.6, 0}, -0.4, {0, 1, 0}},
            {DJ_SPHERE, {1}, {0, 2, 0}, 1, {0, 1, 0}},
            {DJ_CAPSULE, {1, 2}, {-0.3, 0, 1.5}, -0.7, {-1, 0, 0}},
            {DJ_CAPSULE, {1, 2}, {0, 0.5 * h, 2 + 0.5 * h}, -0.5, {0, h, h}},
            {DJ_ELLIPSOID, {1, 2, 3}, {0, 0, 2.9}, -0.1, {0, 0, 1}},
            {DJ_ELLIPSOID, {1, 2, 3}, {0, -3, 0}, 1, {0, -1, 0}},
            {DJ_CYLINDER, {1, 2}, {0, 0.9, 1}, -0.1, {0, 1, 0}},
            {DJ_CYLINDER, {1, 2}, {0.2, 0, -1.8}, -0.2, {0, 0, -1}},
            {DJ_BOX, {1, 2, 3}, {0.7, 0, 0}, -0.3, {1, 0, 0}},
            {DJ_BOX, {1, 2, 3}, {0, 2.1, 0}, 0.1, {0, 1, 0}}};
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
    // Turned by 90 degrees about x (y to z) and shifted.
    const double p[3] = {at[i].point[0] + 5, -at[i].point[2] + 6, at[i].point[1] + 7};
    djcPenaltyQuery q = {.npoint = 1,
                         .point = p,
                         .geom = at[i].geom,
                         .pos = {5, 6, 7},
                         .quat = {1, 1, 0, 0},
                         .kn = 100,
                         .scale = 1};
    djcPenaltyPoint found;
    djcPenalty out;
    djError err = {""};
    memcpy(q.size, at[i].size, sizeof q.size);
    if (djc_penalty(&out, &found, NULL, &q, &err) != DJ_OK) fail_msg("%s", err.text);
    const double* n = at[i].normal;
    const double normal[3] = {n[0], -n[2], n[1]}, load = 100 * fmax(-at[i].distance, 0);
    assert_true(fabs(found.distance - at[i].distance) < 1e-12);
    assert_int_equal(found.state, at[i].distance < 0 ? DJC_STICK : DJC_FREE);
    for (int k = 0; k < 3; k++) {
      assert_true(fabs(found.normal[k] - normal[k]) < 1e-12);
      assert_true(fabs(found.force[k] - load * normal[k]) < 1e-10);
      assert_true(fabs(out.wrench_a[3 + k] - found.force[k]) < 1e-14);
    }
  }
}

// ------------------------------------------ meshes ---------------------------------------------

// A prism along z on an L, which is not convex: corners of the L, below and above.
enum { L = 6, NVERT = 2 * L, NTRI = 4 * (L - 1) };
static const double CORNER[L][2] = {{0, 0}, {1, 0}, {1, 0.4}, {0.4, 0.5}, {0.4, 1}, {0, 1}};
static const int COVER[L - 2][3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 4}, {0, 4, 5}};

static void makePrism(double vert[3 * NVERT], int tri[3 * NTRI]) {
  int n = 0;
  for (int i = 0; i < NVERT; i++) {
    vert[3 * i] = CORNER[i % L][0];
    vert[3 * i + 1] = CORNER[i % L][1];
    vert[3 * i + 2] = i < L ? -0.3 : 0.3;
  }
  for (int i = 0; i < L - 2; i++) {
    const int* c = COVER[i];
    const int face[6] = {c[0], c[2], c[1], L + c[0], L + c[1], L + c[2]};
    memcpy(tri + 3 * n, face, sizeof face);
    n += 2;
  }
  for (int i = 0; i < L; i++) {
    const int j = (i + 1) % L, face[6] = {i, j, L + j, i, L + j, L + i};
    memcpy(tri + 3 * n, face, sizeof face);
    n += 2;
  }
  assert_int_equal(n, NTRI);
}

static djcField* makeField(const double* vert, const int* tri, double* error) {
  djcField* field;
  djError err = {""};
  if (djc_makeField(&field, error, NVERT, vert, NTRI, tri, &err)) fail_msg("%s", err.text);
  return field;
}

// In the arm, in the foot, in the notch, beside a face of either.
static const double INSIDE[3 * N] = {0.2, 0.93, 0.1,   0.8,  0.06, 0.013,
                                     0.7, 0.8,  0.017, 0.35, 0.7,  0.05};

static void openPrism(Case* c, djRng* r) {
  openCase(c, r, DJ_MESH);
  const djQuat q = dju_normalizeQuat(dju_loadQuat(c->q.quat));
  const djPose pose = {dju_load3(c->q.pos), dju_quatToMat(q)};
  dju_storeQuat(c->q.quat, q);
  for (int i = 0; i < 3 * N; i += 3) {
    dju_store3(c->point + i, dju_transform(&pose, dju_load3(INSIDE + i)));
  }
}

// Distances, also of the notch, to the error that is stated; all derivatives by differences; those
// by the vertices of the notch, which are in no face of the mesh's box, of fields made anew.
static void testMesh(void) {
  double vert[3 * NVERT], error, by_vert[3 * NVERT], worst = 0, unit;
  int tri[3 * NTRI];
  djRng r = {8};
  Case c;
  djcPenalty out;
  djcPenaltyPoint point[N];
  djError err = {""};
  makePrism(vert, tri);
  djcField* field = makeField(vert, tri, &error);
  assert_true(error > 0 && error < 0.02);
  mesh = field;
  openPrism(&c, &r);
  assert_int_equal(ask(&out, point, NULL, &c.q, &err), DJ_OK);
  static const double distance[N] = {-0.07, -0.06, 0.3, -0.05};
  for (int k = 0; k < N; k++) assert_true(fabs(point[k].distance - distance[k]) < 5e-3);
  assert_true(point[2].state == DJC_FREE && point[0].state != DJC_FREE);
  static const djVec3 normal[N] = {{0, 1, 0}, {0, -1, 0}, {0, 0, 0}, {1, 0, 0}};
  const djMat3 R = dju_quatToMat(dju_loadQuat(c.q.quat));
  for (int k = 0; k < N; k++) {
    assert_true(k == 2 || dju_dot3(dju_mulMV(R, normal[k]), dju_load3(point[k].normal)) > 0.99);
  }
  for (int i = 0; i < 5; i++) {
    checkDerivatives(&c);
    openPrism(&c, &r);
  }
  assert_int_equal(djc_penaltyMesh(&out, NULL, NULL, by_vert, &c.q, field, &err), DJ_OK);
  unit = djt_largest(by_vert, 3 * NVERT);
  assert_true(unit > 1);
  for (int j = 0; j < 3 * NVERT; j++) {
    if (j / 3 % L != 3 || j % 3 == 2) continue; // the notch, in its plane
    double w[2][12];
    for (int side = 0; side < 2; side++) {
      double moved[3 * NVERT];
      memcpy(moved, vert, sizeof moved);
      moved[j] += side ? 1e-6 : -1e-6;
      djcField* other = makeField(moved, tri, NULL);
      mesh = other;
      wrenches(w[side], &c.q, &c.q);
      djc_deleteField(other);
    }
    const double by = (djt_dot(c.q.lambda, w[1], 12) - djt_dot(c.q.lambda, w[0], 12)) / 2e-6;
    worst = djt_worst(worst, fabs(by - by_vert[j]) / unit);
  }
  assert_true(worst < 1e-6);
  djc_deleteField(field);
  mesh = NULL;
}

static void testBadMeshes(void) {
  double vert[3 * NVERT], error;
  int tri[3 * NTRI];
  djcField* field;
  djError err = {""};
  makePrism(vert, tri);
#define BAD(nvert, vert, ntri, tri)                                                                \
  do {                                                                                             \
    field = (djcField*)(void*)&err;                                                                \
    err.text[0] = 0;                                                                               \
    assert_int_equal(djc_makeField(&field, &error, nvert, vert, ntri, tri, &err), DJ_INVALID);     \
    assert_null(field);                                                                            \
    assert_true(err.text[0] != 0);                                                                 \
  } while (0)
  BAD(NVERT, vert, NTRI - 1, tri); // open
  BAD(NVERT, vert, 0, tri);
  BAD(NVERT, NULL, NTRI, tri);
  BAD(NVERT - 1, vert, NTRI, tri); // a corner that is none
  vert[4] = NAN;
  BAD(NVERT, vert, NTRI, tri);
#undef BAD
  assert_int_equal(djc_makeField(NULL, NULL, NVERT, vert, NTRI, tri, &err), DJ_INVALID);
  djcPenalty out;
  djcPenaltyQuery q = {.npoint = 0};
  assert_int_equal(djc_penaltyMesh(&out, NULL, NULL, NULL, &q, NULL, &err), DJ_INVALID);
  djc_deleteField(NULL);
}

// One point below the plane z = 0, moving by u.
static void onPlane(djcPenaltyQuery* q, const double* point, double vx, double vz) {
  *q = (djcPenaltyQuery){.npoint = 1,
                         .point = point,
                         .geom = DJ_PLANE,
                         .quat = {1, 0, 0, 0},
                         .kn = 100,
                         .kt = 8,
                         .kd = 50,
                         .mu = 0.25,
                         .scale = 2};
  q->twist_a[3] = vx;
  q->twist_a[5] = vz;
}

static void testFormulas(void) {
  const double point[3] = {0.1, 0.2, -0.03};
  djcPenaltyQuery q;
  djcPenalty out;
  djcPenaltyPoint at;
  onPlane(&q, point, 0.01, -0.2); // s (-kn d + kd d' d) = 2 (3 + 0.3)
  assert_int_equal(djc_penalty(&out, &at, NULL, &q, NULL), DJ_OK);
  assert_true(at.state == DJC_STICK && at.distance == -0.03 && at.normal[2] == 1);
  assert_true(fabs(at.force[2] - 6.6) < 1e-14 && fabs(at.force[0] + 0.16) < 1e-15);
  const double wrench[6] = {0.2 * 6.6, -0.03 * -0.16 - 0.1 * 6.6, 0.2 * 0.16, -0.16, 0, 6.6};
  for (int k = 0; k < 6; k++) assert_true(fabs(out.wrench_a[k] - wrench[k]) < 1e-14);
  for (int k = 0; k < 6; k++) assert_true(out.wrench_b[k] == -out.wrench_a[k]);
  onPlane(&q, point, 1, -0.2); // mu N < s kt |t|
  assert_int_equal(djc_penalty(&out, &at, NULL, &q, NULL), DJ_OK);
  assert_true(at.state == DJC_SLIP && fabs(at.force[0] + 0.25 * 6.6) < 1e-14);
  onPlane(&q, point, 1, 2.5); // it would pull
  assert_int_equal(djc_penalty(&out, &at, NULL, &q, NULL), DJ_OK);
  assert_true(at.state == DJC_FREE && out.wrench_a[5] == 0 && out.wrench_a[3] == 0);
  const double above[3] = {0, 0, 1e-9};
  onPlane(&q, above, 1, -1);
  assert_int_equal(djc_penalty(&out, &at, NULL, &q, NULL), DJ_OK);
  assert_true(at.state == DJC_FREE && out.wrench_a[5] == 0);
}

static void testRefused(void) {
  const double point[3] = {0, 0, -0.1}, nan[3] = {0, NAN, 0};
  djcPenalty out;
  djError err = {""};
  djcPenaltyQuery good, q;
  onPlane(&good, point, 0, 0);
#define BAD(change, says)                                                                          \
  do {                                                                                             \
    q = good;                                                                                      \
    change;                                                                                        \
    assert_int_equal(djc_penalty(&out, NULL, NULL, &q, &err), DJ_INVALID);                         \
    assertMessage(err.text, says);                                                                 \
  } while (0)
  BAD(q.kn = 0, "params: kn = 0 must be positive");
  BAD(q.kt = -1, "params: kt = -1 must not be negative");
  BAD(q.mu = NAN, "params: mu = nan must not be negative");
  BAD(q.npoint = 0, "a: points: there are none, or too many");
  BAD(q.geom = DJ_MESH, "b: geom: has no distance field of its sizes");
  BAD(q.geom = DJ_BOX, "b: size[0] = 0 must be positive");
  BAD(q.quat[0] = 0, "b: pose: its quaternion is zero or not finite");
  q = good;
  q.point = nan;
  assert_int_equal(djc_penalty(&out, NULL, NULL, &q, &err), DJ_INVALID);
  assert_true(strncmp(err.text, "a: points", 9) == 0);
  q = good;
  q.lambda[11] = INFINITY;
  assert_int_equal(djc_penalty(&out, NULL, NULL, &q, &err), DJ_INVALID);
  assert_true(strncmp(err.text, "lambda", 6) == 0);
  assert_int_equal(djc_penalty(NULL, NULL, NULL, &good, &err), DJ_INVALID);
  assert_int_equal(djc_penalty(&out, NULL, NULL, NULL, &err), DJ_INVALID);
}

DJT_MAIN(testDerivatives, testGeoms, testMesh, testBadMeshes, testFormulas, testRefused)
