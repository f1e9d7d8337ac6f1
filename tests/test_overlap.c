// The deepest overlap that a step reports is that of the geoms themselves: of shapes that have
// neither skin nor rounded edges, whether or not contact acts on them yet.

#include "common/make_model.h"
#include "common/scene.h"
#include "common/random_shape.h"
#include "common/test.h"

#include "math/so3.h"

// ---- an independent depth ---------------------------------------------------------------------

// A geom at a pose; sizes as in MuJoCo.
typedef struct Solid {
  int type;
  const double* size;
  djVec3 p;
  djMat3 R;
} Solid;

static const double meshVert[6][3] = {{0.1, 0, 0},  {-0.1, 0, 0},    {0, 0.12, 0},
                                      {0, -0.12, 0}, {0, 0.01, 0.3}, {0.01, 0, -0.05}};

// Support function along n (unit, world), about the solid's centre.
static double support(const Solid* s, djVec3 world) {
  djVec3 n = dju_mulMtV(s->R, world);
  const double* a = s->size;
  switch (s->type) {
    case DJ_SPHERE: return a[0];
    case DJ_CAPSULE: return a[0] + a[1] * fabs(n.z);
    case DJ_ELLIPSOID: return sqrt(a[0] * a[0] * n.x * n.x + a[1] * a[1] * n.y * n.y +
                                   a[2] * a[2] * n.z * n.z);
    case DJ_CYLINDER: return a[0] * hypot(n.x, n.y) + a[1] * fabs(n.z);
    case DJ_BOX: return a[0] * fabs(n.x) + a[1] * fabs(n.y) + a[2] * fabs(n.z);
    default: break;
  }
  double most = -INFINITY;
  for (int i = 0; i < 6; i++) most = fmax(most, dju_dot3(n, dju_load3(meshVert[i])));
  return most;
}

// How far B must move along n to leave A: the depth is the least of this over all directions.
static double depthAlong(const Solid* a, const Solid* b, djVec3 n) {
  return support(a, n) + support(b, dju_neg3(n)) - dju_dot3(n, dju_sub3(b->p, a->p));
}

// By search: directions over the whole sphere, then ever closer ones about the best of them,
// `tries` each time. What is found is never below the depth.
static double searchDepth(const Solid* a, const Solid* b, int tries, djRng* rng) {
  enum { NBEST = 4 };
  djVec3 best[NBEST];
  double least[NBEST] = {INFINITY, INFINITY, INFINITY, INFINITY};
  for (int k = 0; k < 50 * tries; k++) {
    djVec3 n = randomUnit(rng);
    double d = depthAlong(a, b, n);
    int at = NBEST;
    while (at > 0 && d < least[at - 1]) at--;
    for (int i = NBEST - 1; i > at; i--) least[i] = least[i - 1], best[i] = best[i - 1];
    if (at < NBEST) least[at] = d, best[at] = n;
  }
  double result = INFINITY;
  for (int i = 0; i < NBEST; i++) {
    for (double size = 0.1; size > 1e-8; size *= 0.8) {
      for (int k = 0; k < tries; k++) {
        djVec3 n = dju_add3(best[i], randomWithin(rng, size));
        n = dju_scale3(1 / dju_norm3(n), n);
        double d = depthAlong(a, b, n);
        if (d < least[i]) least[i] = d, best[i] = n;
      }
    }
    result = fmin(result, least[i]);
  }
  return result;
}

// ---- scenes -----------------------------------------------------------------------------------

static djQuat turned(djRng* rng) {
  double q[4], size = 0;
  for (int k = 0; k < 4; k++) q[k] = djt_uniform(rng, -1, 1);
  for (int k = 0; k < 4; k++) size += q[k] * q[k];
  return (djQuat){q[0] / sqrt(size), q[1] / sqrt(size), q[2] / sqrt(size), q[3] / sqrt(size)};
}

static void setMesh(Scene* s, djMeshDef* mesh, djGeomDef* g) {
  *mesh = (djMeshDef){.nvert = 6, .vert = meshVert[0]};
  g->mesh = 0;
  s->def.mesh = mesh;
  s->def.nmesh = 1;
}

// A geom of the world and a free one; the skin, or negative for the default.
static djModel* twoGeoms(int type_a, const double size_a[3], int type_b, const double size_b[3],
                         double skin) {
  Scene* s = newScene(1);
  djMeshDef mesh;
  djGeomDef* g = addGeom(s, 0, type_a, size_a[0], size_a[1], size_a[2]);
  if (type_a == DJ_MESH) setMesh(s, &mesh, g);
  int body = addBody(s, 0, DJ_FREE, 0, 0, 0, 1, 0.1);
  g = addGeom(s, body, type_b, size_b[0], size_b[1], size_b[2]);
  if (type_b == DJ_MESH) setMesh(s, &mesh, g);
  for (int k = 0; k < 3; k++) s->def.option.gravity[k] = 0;
  s->def.option.timestep = 1e-3;
  s->def.option.skin = skin;
  djModel* m = djt_makeModel(&s->def);
  freeScene(s);
  return m;
}

// The overlap after one step from the given place, and the place in which it ends.
static double stepFrom(djVec3* p, djQuat* q, djData* d, const djModel* m) {
  const double place[7] = {p->x, p->y, p->z, q->w, q->x, q->y, q->z};
  dj_resetData(m, d);
  memcpy(d->qpos, place, sizeof place);
  assert_true(dj_step(m, d) >= 0);
  *p = dju_load3(d->qpos);
  *q = dju_loadQuat(d->qpos + 3);
  return d->stats.overlap;
}

static void test_search(void) {
  static const double size[6][3] = {{0.1, 0, 0},        {0.05, 0.15, 0}, {0.2, 0.1, 0.06},
                                    {0.15, 0.1, 0},     {0.2, 0.1, 0.06}, {0, 0, 0}};
  static const int type[6] = {DJ_SPHERE, DJ_CAPSULE, DJ_ELLIPSOID, DJ_CYLINDER, DJ_BOX, DJ_MESH};
  djRng rng = {21};
  int hidden = 0;
  for (int pair = 0; pair < 36; pair++) {
    int a = pair / 6, b = pair % 6;
    for (int k = 0; k < 6; k++) {
      djModel* m = twoGeoms(type[a], size[a], type[b], size[b], k % 2 ? 0.01 : -1);
      djData* d = djt_data(m);
      // B moves away until the depth is a small one.
      Solid A = {type[a], size[a], {0, 0, 0}, dju_eye3()}, B = {type[b], size[b], {0, 0, 0}, {{0}}};
      djQuat q = turned(&rng);
      B.R = dju_quatToMat(q);
      djVec3 away = randomUnit(&rng);
      double near = 0, far = 1, wanted = djt_uniform(&rng, 0.0002, 0.03);
      for (int i = 0; i < 14; i++) {
        double middle = 0.5 * (near + far);
        B.p = dju_scale3(middle, away);
        if (searchDepth(&A, &B, 20, &rng) > wanted) near = middle;
        else far = middle;
      }
      B.p = dju_scale3(near, away);
      double reported = stepFrom(&B.p, &q, d, m);
      B.R = dju_quatToMat(q);
      double expected = fmax(searchDepth(&A, &B, 400, &rng), 0);
      djt_failIf(fabs(reported - expected) > 1e-6, "types %d, %d: overlap %.9g, by search %.9g",
                 type[a], type[b], reported, expected);
      hidden += d->npair == 0 && expected > 0;
      djt_delete(m, d);
    }
  }
  assert_true(hidden > 20);   // no contact acts: as thick a skin is beyond its range
}

// A ball in the rim of a cylinder: its radius less the distance of its centre from the rim.
static void test_rim(void) {
  const double cylinder[3] = {1, 1, 0}, ball[3] = {0.1, 0, 0};
  djModel* m = twoGeoms(DJ_CYLINDER, cylinder, DJ_SPHERE, ball, -1);
  djData* d = djt_data(m);
  for (int k = 0; k < 40; k++) {
    double away = 0.11 - 0.002 * k, angle = 0.1 * k;
    djVec3 p = {(1 + 0.6 * away) * cos(angle), (1 + 0.6 * away) * sin(angle), 1 + 0.8 * away};
    djQuat q = {1, 0, 0, 0};
    double reported = stepFrom(&p, &q, d, m);
    double expected = fmax(0.1 - hypot(hypot(p.x, p.y) - 1, p.z - 1), 0);
    if (fabs(reported - expected) > 1e-9) fail_msg("overlap %.9g of %.9g", reported, expected);
    assert_true(d->stats.deepest_overlap == reported);
  }
  djt_delete(m, d);
}

DJT_MAIN(test_search, test_rim)
