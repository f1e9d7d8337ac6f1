// Penalty contact: points of geoms and their tree; which ways of a pair act; what scenes do, to
// rounding: depth at rest, creep, sliding, momenta.

#include "common/make_model.h"
#include "common/near.h"
#include "common/random.h"
#include "common/scene.h"
#include "common/solid_mesh.h"
#include "common/test.h"
#include "common/worst.h"
#include "contact/penalty/penalty.h"
#include "contact/penalty/penalty_law.h"
#include "contact/penalty/penalty_pair.h"
#include "contact/penalty/penalty_query.h"
#include "contact/penalty/point_query.h"
#include "contact/penalty/penalty_search.h"
#include "contact/contact.h"
#include "contact/shapes/points.h"
#include "model/points.h"

#define G 9.81

// ------------------------------------------ points ---------------------------------------------

// Where the field of the geom itself says that they are; and symmetric.
static void testSurfaces(void) {
  static const int type[] = {DJ_SPHERE, DJ_CAPSULE, DJ_BOX, DJ_ELLIPSOID, DJ_CYLINDER};
  static const int wanted[] = {1, 2, 7, 50, 99, 300};
  const double size[3] = {0.3, 0.7, 0.5};
  for (int t = 0; t < 5; t++) {
    for (int w = 0; w < 6; w++) {
      const int n = dj_typePoints(type[t], wanted[w]);
      assert_true(n == 1 || n >= wanted[w]);
      assert_true((n == 1) == (type[t] == DJ_SPHERE));
      double* unit = malloc(3 * (size_t)n * sizeof *unit);
      int axes[3];
      dj_placePoints(unit, axes, type[t], n);
      const djDistanceField field = {.type = type[t], .size = {size[0], size[1], size[2]}};
      const double radius = type[t] == DJ_SPHERE || type[t] == DJ_CAPSULE ? size[0] : 0;
      double sum[3] = {0, 0, 0};
      for (int i = 0; i < n; i++) {
        double x[3];
        djFieldAt at;
        for (int k = 0; k < 3; k++) {
          x[k] = unit[3 * i + k] * size[axes[k]];
          sum[k] += x[k];
        }
        dj_fieldAt(&at, &field, x);
        assert_true(fabs(at.distance + radius) < 1e-12);
        for (int j = 0; j < i; j++) { // none comes twice
          const double *a = unit + 3 * i, *b = unit + 3 * j;
          assert_true(hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]) > 1e-3);
        }
      }
      for (int k = 0; k < 3; k++) assert_true(fabs(sum[k]) < 1e-10);
      free(unit);
    }
  }
  assert_int_equal(dj_typePoints(DJ_PLANE, 10), 0);
  assert_int_equal(dj_typePoints(DJ_BOX, 0), 0);
  assert_int_equal(dj_ruleOfPoints(DJ_CAPSULE, (const double[]){0.1, 0.2, 0}), 5);
}

// Balls hold their points, leaves all of them once; order is a permutation.
static void testTree(void) {
  djRng r = {3};
  for (int n = 1; n < 200; n = n * 5 / 4 + 1) {
    double point[600], first[600], id[200];
    djPointNode node[110];
    int seen[200] = {0}, covered = 0;
    djt_uniforms(point, 3 * n, &r, -1, 1);
    for (int i = 3; i < 3 * n; i++) {
      if (djt_integer(&r, 4) == 0) point[i] = point[i - 3]; // ties
    }
    memcpy(first, point, sizeof first);
    for (int i = 0; i < n; i++) id[i] = i;
    dj_makePointTree(node, point, id, n);
    for (int k = 0, left = 1; left > 0; k++, left--) {
      const djPointNode* b = &node[k];
      assert_true(k < dj_pointNodes(n));
      if (b->right > 0)
        left += 2;
      else
        covered += (int)b->n;
      for (int i = (int)b->first; i < (int)(b->first + b->n); i++) {
        double away = 0;
        for (int c = 0; c < 3; c++) away = hypot(away, point[3 * i + c] - b->center[c]);
        assert_true(away <= b->radius * (1 + 1e-14));
      }
    }
    assert_int_equal(covered, n);
    for (int i = 0; i < n; i++) {
      seen[(int)id[i]]++;
      for (int c = 0; c < 3; c++) assert_true(point[3 * i + c] == first[3 * (int)id[i] + c]);
    }
    for (int i = 0; i < n; i++) assert_int_equal(seen[i], 1);
  }
}

// ------------------------------------------ scenes ---------------------------------------------

static djModel* model(Scene* s, djIntegrator integrator, double kn, double kt, double kd) {
  static const char* const name[] = {"contact/kn", "contact/penalty/kt", "contact/kd"};
  const double value[] = {kn, kt, kd};
  s->def.option.contact = DJ_PENALTY;
  s->def.option.integrator = integrator;
  s->def.option.timestep = 0.004;
  s->def.option.tolerance = 1e-10;
  s->def.option.gravity[2] = -G;
  djModel* m = sceneModel(s);
  for (int k = 0; k < 3; k++) {
    djError err = {""};
    djParam p = djt_param(m, name[k]);
    if (dj_setParam(m, &p, &value[k], &err) != DJ_OK) fail_msg("%s", err.text);
  }
  return m;
}

// Points in the ground, and their least and largest depth.
static int pointsBelow(const djModel* m, int geom, const djData* d, double* least, double* most) {
  djPenaltyShape s;
  dj_openPenalty(&s, &m->collision->shape[geom]);
  const int body = m->geom_body[geom];
  const djPose pose = {dju_load3(d->xpos + 3 * body),
                       dju_quatToMat(dju_loadQuat(d->xquat + 4 * body))};
  int n = 0;
  *least = INFINITY, *most = 0;
  for (int i = 0; i < s.npoint; i++) {
    const double depth = s.radius - dju_transform(&pose, dju_load3(s.point + 3 * i)).z;
    if (!(depth > 0)) continue;
    *least = fmin(*least, depth);
    *most = fmax(*most, depth);
    n++;
  }
  return n;
}

static const djIntegrator methods[] = {DJ_POSITION, DJ_BDF1, DJ_MIDPOINT};

// mg/(n kn), of any type.
static void testRest(void) {
  static const int type[] = {DJ_SPHERE, DJ_CAPSULE, DJ_BOX, DJ_CYLINDER};
  static const int wanted[] = {1, 5, 25, 17};
  const double mass = 0.7, kn = 2000;
  for (int t = 0; t < 4; t++) {
    for (int k = 0; k < 3; k++) {
      Scene* s = newScene(1);
      addGeom(s, 0, DJ_PLANE, 0, 0, 0);
      const int lies = type[t] == DJ_CAPSULE;
      const int b = addBody(s, 0, DJ_FREE, 0, 0, 0.1, mass, 0.1);
      djGeomDef* g = addGeom(s, b, type[t], 0.1, lies ? 0.2 : 0.1, 0.1);
      if (lies) g->quat[0] = g->quat[2] = sqrt(0.5);
      djModel* m = model(s, methods[k], kn, 50, 4000);
      djData* d = sceneData(m);
      for (int i = 0; i < 3000; i++) assert_int_equal(dj_step(m, d), DJ_OK);
      double least, most;
      const int n = pointsBelow(m, 1, d, &least, &most);
      assert_int_equal(n, wanted[t]);
      djt_near(least, mass * G / (n * kn), 1e-12);
      djt_near(most, mass * G / (n * kn), 1e-12);
      djt_near(d->stats.overlap, most, 1e-12);
      djt_near(d->pair[0].normal_force, mass * G, 1e-8);
      assert_int_equal(d->stats.fallback_steps + d->stats.unconverged_steps, 0);
      djt_delete(m, d);
      freeScene(s);
    }
  }
}

// On a slope tilted by an angle: a box with given points sticks and creeps at mg sin/(n kt), or
// slides with g (sin - mu cos).
static void onSlope(double angle, double mu, double* creep, double* acceleration, djIntegrator by) {
  static const double corner[12] = {-0.1, -0.1, -0.1, 0.1, -0.1, -0.1,
                                    -0.1, 0.1,  -0.1, 0.1, 0.1,  -0.1};
  const double mass = 2, h = 0.004;
  Scene* s = newScene(1);
  djGeomDef* floor = addGeom(s, 0, DJ_PLANE, 0, 0, 0);
  floor->friction[0] = mu;
  const int b = addBody(s, 0, DJ_FREE, 0, 0, 0.1, mass, 0.1);
  djGeomDef* g = addGeom(s, b, DJ_BOX, 0.1, 0.1, 0.1);
  g->friction[0] = mu;
  g->npoint = 4;
  g->point = corner;
  g->contact_scale = 2;
  djModel* m = model(s, by, 5000, 30, 2e5);
  djOption option = m->opt;
  option.gravity[0] = G * sin(angle);
  option.gravity[2] = -G * cos(angle);
  assert_int_equal(dj_setOption(m, &option, NULL), DJ_OK);
  djData* d = sceneData(m);
  d->qpos[2] = 0.1 - mass * G * cos(angle) / (4 * 2 * 5000);
  for (int i = 0; i < 2000; i++) assert_int_equal(dj_step(m, d), DJ_OK);
  const double v = d->qvel[0];
  for (int i = 0; i < 10; i++) assert_int_equal(dj_step(m, d), DJ_OK);
  *creep = d->qvel[0];
  *acceleration = (d->qvel[0] - v) / (10 * h);
  djt_delete(m, d);
  freeScene(s);
}

static void testSlope(void) {
  const double mass = 2, angle = 0.3;
  for (int k = 0; k < 3; k++) {
    double creep, acceleration;
    onSlope(angle, 1, &creep, &acceleration, methods[k]);
    djt_near(creep, mass * G * sin(angle) / (4 * 2 * 30), 1e-10);
    djt_near(acceleration, 0, 1e-9);
    onSlope(angle, 0.2, &creep, &acceleration, methods[k]);
    djt_near(acceleration, G * (sin(angle) - 0.2 * cos(angle)), 1e-8);
  }
}

// Of free bodies that meet, without gravity, momentum and angular momentum stay to rounding. The
// force is at one point of both.
static void momenta(double p[6], const djModel* m, const djData* d) {
  memset(p, 0, 6 * sizeof *p);
  for (int b = 1; b < m->nbody; b++) {
    const double* v = d->qvel + 6 * (b - 1);
    const djVec3 at = dju_load3(d->xpos + 3 * b),
                 linear = dju_scale3(m->body_mass[b], dju_load3(v));
    const djMat3 R = dju_quatToMat(dju_loadQuat(d->xquat + 4 * b));
    djVec3 w = dju_load3(v + 3); // body's axes; balls' inertia
    const djVec3 spin = dju_scale3(m->body_inertia[3 * b], dju_mulMV(R, w));
    dju_addTo3(p, 1, linear);
    dju_addTo3(p + 3, 1, dju_add3(spin, dju_cross3(at, linear)));
  }
}

static void meet(double worst[2], djIntegrator by) {
  Scene* s = newScene(3);
  static const int type[3] = {DJ_BOX, DJ_SPHERE, DJ_CAPSULE};
  for (int i = 0; i < 3; i++) {
    const int b = addBody(s, 0, DJ_FREE, 0.21 * i, 0.02 * i, 0.01 * i, 1 + i, 0.1);
    addGeom(s, b, type[i], 0.1, 0.1, 0.1);
  }
  djModel* m = model(s, by, 3000, 20, 300);
  djOption option = m->opt;
  option.gravity[2] = 0;
  option.tolerance = 1e-11;
  assert_int_equal(dj_setOption(m, &option, NULL), DJ_OK);
  djData* d = sceneData(m);
  d->qvel[0] = 1, d->qvel[4] = 2, d->qvel[12] = -1, d->qvel[15] = 3, d->qvel[7] = 0.3;
  double first[6], last[6], force = 0;
  assert_int_equal(dj_forward(m, d), DJ_OK);
  momenta(first, m, d);
  for (int i = 0; i < 60; i++) {
    assert_int_equal(dj_step(m, d), DJ_OK);
    for (int k = 0; k < d->ncontact; k++) {
      force = fmax(force, dju_norm3(dju_load3(d->contact[k].force)));
    }
  }
  momenta(last, m, d);
  assert_true(force > 10);
  worst[0] = worst[1] = 0;
  for (int k = 0; k < 6; k++) worst[k / 3] = djt_worst(worst[k / 3], fabs(last[k] - first[k]));
  djt_delete(m, d);
  freeScene(s);
}

// The midpoint rule keeps angular momentum, too, as far as forces do.
static void testMomenta(void) {
  double worst[2];
  meet(worst, DJ_BDF1);
  assert_true(worst[0] < 1e-12 && worst[1] < 0.1);
  meet(worst, DJ_POSITION);
  assert_true(worst[0] < 1e-12);
  meet(worst, DJ_MIDPOINT);
  print_message("momenta %.1e %.1e\n", worst[0], worst[1]);
  assert_true(worst[0] < 1e-12 && worst[1] < 1e-12);
}

// ------------------------------------------ ways -----------------------------------------------

static djPenaltyShape shapeOf(const djModel* m, int geom) {
  djPenaltyShape out;
  dj_openPenalty(&out, &m->collision->shape[geom]);
  return out;
}

static int ways(djPenaltyWay way[2], const djModel* m, int a, int b) {
  const djPose rest = {{0, 0, 0}, dju_eye3()};
  const djShape* shape = m->collision->shape;
  return dj_penaltyWays(way, &shape[a], &shape[b], &rest, &rest, 0);
}

// A sphere alone stands for the contact; points that are given, in its place; two spheres once in
// all; fields and points may be taken away.
static void testWays(void) {
  static const double given[3] = {0.1, 0, 0};
  Scene* s = newScene(6);
  addGeom(s, 0, DJ_PLANE, 0, 0, 0);
  static const int type[6] = {DJ_SPHERE, DJ_SPHERE, DJ_BOX, DJ_BOX, DJ_BOX, DJ_SPHERE};
  for (int i = 0; i < 6; i++) {
    const int b = addBody(s, 0, DJ_FREE, i, 0, 1, 1, 0.1);
    djGeomDef* g = addGeom(s, b, type[i], 0.1, 0.1, 0.1);
    g->contact_scale = 1 + i;
    if (i == 3) g->npoint = 1, g->point = given;
    if (i == 4) g->point_count = 30, g->field = 0;
    if (i == 5) g->point_count = 0;
  }
  djModel* m = model(s, DJ_BDF1, 1000, 1, 1);
  djPenaltyWay way[2];
  assert_int_equal(ways(way, m, 1, 0), 1); // sphere, plane
  assert_true(!way[0].points_of_b && way[0].share == 1);
  assert_int_equal(ways(way, m, 1, 2), 2); // spheres: half each
  assert_true(way[0].share == 0.5 && way[1].share == 1 && way[1].points_of_b);
  assert_int_equal(ways(way, m, 3, 1), 1); // box, sphere: the sphere's
  assert_true(way[0].points_of_b && way[0].share == 1 && way[0].from.radius == 0.1);
  assert_int_equal(ways(way, m, 4, 1), 1); // given points
  assert_true(!way[0].points_of_b && way[0].share == 4 && way[0].from.npoint == 1);
  assert_int_equal(ways(way, m, 3, 4), 2); // boxes
  assert_true(way[0].from.npoint == 98 && way[1].from.npoint == 1 && way[0].share == 3);
  assert_int_equal(ways(way, m, 5, 1), 1); // no field: its own points
  assert_true(!way[0].points_of_b && way[0].from.npoint == 56);
  assert_int_equal(ways(way, m, 5, 3), 1);
  assert_int_equal(ways(way, m, 6, 1), 1); // no points
  assert_int_equal(shapeOf(m, 6).npoint, 0);
  assert_true(way[0].points_of_b);
  assert_int_equal(ways(way, m, 6, 5), 1);
  assert_int_equal(ways(way, m, 6, 0), 0);
  dj_deleteModel(m);
  freeScene(s);
}

// Balls about the points, where a margin grows them, lie in the bounds of the shape, in the box and
// in the ball, which reach no farther than these and the geom do.
static void testBounds(void) {
  djRng rng = {8};
  static const int type[5] = {DJ_SPHERE, DJ_CAPSULE, DJ_BOX, DJ_ELLIPSOID, DJ_CYLINDER};
  for (int k = 0; k < 50; k++) {
    double given[9];
    Scene* s = newScene(1);
    addGeom(s, 0, DJ_PLANE, 0, 0, 0);
    djGeomDef* g = addGeom(s, addBody(s, 0, DJ_FREE, 0, 0, 2, 1, 1), type[k % 5], 0.1, 0.1, 0.1);
    djt_uniforms(given, 9, &rng, -0.4, 0.4);
    djt_uniforms(g->pos, 3, &rng, -0.2, 0.2);
    djt_unitQuat(g->quat, &rng);
    g->margin = djt_uniform(&rng, -0.02, 0.02);
    g->npoint = 3, g->point = given;
    djModel* m = model(s, DJ_BDF1, 1000, 1, 1);
    const djShape* shape = &m->collision->shape[1];
    const double* box = m->collision->bounds[1].box;
    const djPenaltyShape p = shapeOf(m, 1);
    double far = 0, grow = p.radius + fmax(g->margin, 0);
    assert_true(p.npoint == 3 && p.radius == 0);
    for (int i = 0; i < 3; i++) {
      djVec3 x = dju_load3(p.point + 3 * i);
      far = fmax(far, dju_norm3(dju_sub3(x, shape->center)) + grow);
      for (int c = 0; c < 3; c++) {
        assert_true(fabs(p.point[3 * i + c] - box[c]) + grow <= box[3 + c] * (1 + 1e-12));
      }
    }
    if (far > 0.3) djt_near(shape->bound, far, 1e-12);   // geoms do not reach so far
    else assert_true(shape->bound >= far);
    dj_deleteModel(m);
    freeScene(s);
  }
}

static const double cube[24] = {-1, -1, -1, 1, -1, -1, -1, 1, -1, 1, 1, -1,
                                -1, -1, 1,  1, -1, 1,  -1, 1, 1,  1, 1, 1};

// Balls and capsules on a mesh, of a radius that is large beside the cells of its grid, touch where
// they do, also where they have grown since: height at rest is radius - mg/(n kn).
static void testRadii(void) {
  const double mass = 0.7, kn = 20000;
  djMeshDef mesh = {.nvert = 8, .vert = cube};
  for (int k = 0; k < 4; k++) {
    const bool ball = k % 2 == 0;
    double radius = k < 2 ? 0.5 : 3;
    Scene* s = newScene(1);
    djGeomDef* floor = addGeom(s, 0, DJ_MESH, 0, 0, 0);
    floor->mesh = 0;
    const int b = addBody(s, 0, DJ_FREE, 0, 0, 1.01 + radius, mass, radius);
    djGeomDef* g = addGeom(s, b, ball ? DJ_SPHERE : DJ_CAPSULE, radius, 0.3, 0);
    if (!ball) g->quat[0] = g->quat[2] = sqrt(0.5);
    g->point_count = ball ? -1 : 2;
    g->margin = 0.02;
    s->def.mesh = &mesh;
    s->def.nmesh = 1;
    djModel* m = model(s, DJ_POSITION, kn, 50, 4000);
    djData* d = sceneData(m);
    for (int grown = 0; grown < 2; grown++) {
      djError err = {""};
      double size[3] = {radius, 0.3, 0};
      djParam p = djt_param(m, "geom/#1/size");
      if (dj_setParam(m, &p, size, &err) != DJ_OK) fail_msg("%s", err.text);
      d->qpos[2] = 1.03 + radius;
      for (int i = 0; i < 3000; i++) assert_int_equal(dj_step(m, d), DJ_OK);
      djt_near(d->qpos[2], 1.02 + radius - mass * G / ((ball ? 1 : 2) * kn), 1e-9);
      radius *= 1.2;
    }
    djt_delete(m, d);
    freeScene(s);
  }
}

// Of a mesh so many vertices as are wanted, equally spaced in their order.
static void testVertices(void) {
  djMeshDef mesh = {.nvert = 8, .vert = cube};
  static const int wanted[4] = {-1, 100, 4, 0}, found[4] = {8, 8, 4, 0};
  for (int k = 0; k < 4; k++) {
    Scene* s = newScene(1);
    addGeom(s, 0, DJ_PLANE, 0, 0, 0);
    djGeomDef* g = addGeom(s, addBody(s, 0, DJ_FREE, 0, 0, 2, 1, 1), DJ_MESH, 0, 0, 0);
    g->mesh = 0;
    g->point_count = wanted[k];
    s->def.mesh = &mesh;
    s->def.nmesh = 1;
    djModel* m = model(s, DJ_BDF1, 1000, 1, 1);
    const djPenaltyShape p = shapeOf(m, 1);
    assert_int_equal(p.npoint, found[k]);
    for (int i = 0; i < p.npoint; i++) {
      const int v = (int)p.id[i] * 8 / p.npoint;
      for (int c = 0; c < 3; c++) assert_true(p.point[3 * i + c] == cube[3 * v + c]);
    }
    dj_deleteModel(m);
    freeScene(s);
  }
}

// Balls rest on a mesh as on what it bounds, whatever their size: also one that has been changed,
// and on a mesh that has moved.
static void testBallOnMesh(void) {
  SolidMesh box = makeBoxSolid(0.2, 0.15, 0.1);
  djMeshDef mesh = {.nvert = box.nvert, .vert = box.vert, .ntri = box.ntri, .tri = box.tri};
  const double mass = 0.3, kn = 3000, sink = mass * G / kn;
  Scene* s = newScene(1);
  djGeomDef* g = addGeom(s, 0, DJ_MESH, 0, 0, 0);
  g->mesh = 0;
  addGeom(s, addBody(s, 0, DJ_SLIDE, 0.03, 0.02, 0.15, mass, 0.04), DJ_SPHERE, 0.04, 0, 0);
  s->joint[0].axis[1] = 0;
  s->joint[0].axis[2] = 1;
  s->def.mesh = &mesh;
  s->def.nmesh = 1;
  djModel* m = model(s, DJ_BDF1, kn, 1, 800);
  double top = 0.1, moved[24];
  djParam size = djt_param(m, "geom/#1/size");
  djParam vert = djt_param(m, "mesh/#0/vert");
  static const double radius[] = {0.04, 0.05, 0.4, 0.01};
  for (int k = 0; k < 8; k++) {
    const double r[3] = {radius[k % 4], 0, 0};
    if (k == 4) {
      for (int i = 0; i < 24; i++) moved[i] = (i % 3 == 2 ? 1.5 : 1) * box.vert[i];
      assert_int_equal(dj_setParam(m, &vert, moved, NULL), DJ_OK);
      top = 0.15;
    }
    assert_int_equal(dj_setParam(m, &size, r, NULL), DJ_OK);
    djData* d = sceneData(m);
    d->qpos[0] = top + r[0] - 0.15;
    for (int i = 0; i < 2000; i++) assert_int_equal(dj_step(m, d), DJ_OK);
    const double found = 0.15 + d->qpos[0] - r[0] - (top - sink);
    print_message("radius %g: off by %.1e\n", r[0], found);
    assert_true(fabs(found) < 1e-3 * r[0]);
    dj_deleteData(d);
  }
  dj_deleteModel(m);
  freeScene(s);
  freeSolid(&box);
}

// Default coefficients: the weight sinks a single point by a thousandth of the radius.
static void testDefaults(void) {
  Scene* s = newScene(1);
  addGeom(s, 0, DJ_PLANE, 0, 0, 0);
  const int b = addBody(s, 0, DJ_FREE, 0, 0, 0.2, 3, 0.1);
  addGeom(s, b, DJ_SPHERE, 0.2, 0, 0);
  s->def.option.contact = DJ_PENALTY;
  s->def.option.timestep = 0.002;
  s->def.option.gravity[2] = -G;
  djModel* m = sceneModel(s);
  double x[DJ_PENALTY_NSETTING];
  dj_pairSettings(x, m, DJ_PENALTY, 0, 1);
  djt_near(x[DJ_PENALTY_KN], 3 * G / (1e-3 * 0.2), 1e-6);
  djt_near(x[DJ_PENALTY_KT], 3 * G / (1e-2 * sqrt(G * 0.2)), 1e-6);
  djt_near(x[DJ_PENALTY_KD] * 2e-4, 2 * 0.03 * sqrt(x[DJ_PENALTY_KN] * 3), 1e-6);
  djData* d = sceneData(m);
  for (int i = 0; i < 2000; i++) assert_int_equal(dj_step(m, d), DJ_OK);
  djt_near(d->qpos[2], 0.2 * (1 - 1e-3), 1e-10);
  djt_delete(m, d);
  freeScene(s);
}

static void testRefused(void) {
  static const double nan[3] = {0, NAN, 0}, good[3] = {0};
  const struct {
    int npoint;
    const double* point;
    int count, field;
    double scale;
    const char* text;
  } bad[] = {{1, nan, -1, -1, 1, "geom #1: points has a number that is not finite"},
             {-1, NULL, -1, -1, 1, "geom #1: points: their number is impossible"},
             {0, NULL, -2, -1, 1, "geom #1: point_count must be -1 or between 0 and 10000000"},
             {1, good, 3, -1, 1, "geom #1: points and point_count are both given"},
             {0, NULL, -1, 2, 1, "geom #1: field must be 0, 1 or -1"},
             {0, NULL, -1, -1, -1, "geom #1: contact_scale must not be negative"},
             {0, NULL, -1, -1, NAN, "geom #1: contact_scale must not be negative"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    Scene* s = newScene(1);
    djModel* m;
    djError err = {""};
    addGeom(s, 0, DJ_PLANE, 0, 0, 0);
    const int b = addBody(s, 0, DJ_FREE, 0, 0, 0.2, 3, 0.1);
    djGeomDef* g = addGeom(s, b, DJ_SPHERE, 0.2, 0, 0);
    g->npoint = bad[i].npoint;
    g->point = bad[i].point;
    g->point_count = bad[i].count;
    g->field = bad[i].field;
    g->contact_scale = bad[i].scale;
    djt_refused(DJ_INVALID, dj_makeModel(&m, &s->def, &err), err, bad[i].text);
    freeScene(s);
  }
}

DJT_MAIN(testSurfaces, testTree, testRest, testSlope, testMomenta, testWays, testRadii, testBounds,
         testVertices, testDefaults, testRefused, testBallOnMesh)
