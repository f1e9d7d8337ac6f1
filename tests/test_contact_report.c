// What a step reports of contact, against what is known otherwise: the change of momentum, closed
// forms of depths and gaps, sums over pairs; whichever geom and body comes first.

#include "common/make_model.h"
#include "common/near.h"
#include "common/random_shape.h"
#include "common/scene.h"
#include "common/test.h"

#include "model/geom_row.h"

static const int types[] = {DJ_SPHERE, DJ_CAPSULE, DJ_BOX, DJ_ELLIPSOID, DJ_CYLINDER, DJ_MESH};
enum { NTYPE = 6 };

// A body of one geom and a floor, whose margins may inflate or shrink them. The floor is geom 0 of
// the world, or geom 0 or 1 on a mocap body.
typedef enum Where { IN_WORLD, BEFORE, AFTER, NWHERE } Where;

typedef struct Floor {
  djModel* m;
  djData* d;
  int geom, floor, body;
  double size[3], inflate[2];   // of the geom and the floor
  double height;                // of the floor
} Floor;

static const double stone[18] = {0.1, 0.02, 0, -0.09, 0, 0.03, 0, 0.12, 0,
                                 0,   -0.1, 0, 0.02,  0, 0.1,  0, 0.03, -0.08};

static djGeomDef* addFloor(Scene* s) {
  int b = addBody(s, 0, -1, 0, 0, 0.3, 1, 0.1);
  s->body[b].mocap = true;
  return addGeom(s, b, DJ_PLANE, 0, 0, 0);
}

static void openFloor(Floor* f, Random* r, int type, Where where, int condim) {
  djMeshDef mesh = {.nvert = 6, .vert = stone};
  Scene* s = newScene(2);
  djGeomDef* floor = NULL;
  memset(f, 0, sizeof *f);
  if (where == IN_WORLD) floor = addGeom(s, 0, DJ_PLANE, 0, 0, 0);
  if (where == BEFORE) floor = addFloor(s);
  f->body = addBody(s, 0, DJ_FREE, 0, 0, 0, 1, 0.1);
  for (int k = 0; k < 3; k++) f->size[k] = uniform(r, 0.05, 0.15);
  f->geom = s->def.ngeom;
  djGeomDef* g = addGeom(s, f->body, type, f->size[0], f->size[1], f->size[2]);
  g->mesh = type == DJ_MESH ? 0 : -1;
  dju_storeQuat(g->quat, randomQuat(r));
  dju_store3(g->pos, dju_scale3(0.05, randomUnit(r)));
  if (where == AFTER) floor = addFloor(s);
  f->floor = where == AFTER ? f->geom + 1 : 0;
  floor->pos[2] = uniform(r, -0.2, 0.2);
  f->height = floor->pos[2] + (where == IN_WORLD ? 0 : 0.3);
  djGeomDef* both[2] = {g, floor};
  for (int k = 0; k < 2; k++) {
    if (below(r, 2)) both[k]->margin = uniform(r, 0, 0.01);
    if (below(r, 3) == 0) both[k]->gap = uniform(r, 0, 0.01);
    both[k]->condim = condim;
    f->inflate[k] = both[k]->margin - both[k]->gap;
  }
  s->def.mesh = &mesh;
  s->def.nmesh = 1;
  s->def.option.gravity[2] = 0;
  f->m = sceneModel(s);
  f->d = sceneData(f->m);
  freeScene(s);
}

static void closeFloor(Floor* f) { djt_delete(f->m, f->d); }

// How far the geom as given reaches below its body's origin.
static double reachDown(const Floor* f) {
  djMat3 R;
  const double *mat = f->d->geom_xmat + 9 * f->geom, *size = f->size;
  memcpy(R.m, mat, sizeof R.m);
  djVec3 u = dju_vec3(-R.m[6], -R.m[7], -R.m[8]);   // down, in the geom's frame
  double center = f->d->qpos[2] - f->d->geom_xpos[3 * f->geom + 2], flat = hypot(u.x, u.y), h = 0;
  switch (f->m->geom_type[f->geom]) {
    case DJ_SPHERE: return center + size[0];
    case DJ_CAPSULE: return center + size[0] + size[1] * fabs(u.z);
    case DJ_BOX: return center + size[0] * fabs(u.x) + size[1] * fabs(u.y) + size[2] * fabs(u.z);
    case DJ_ELLIPSOID:
      return center + sqrt(size[0] * size[0] * u.x * u.x + size[1] * size[1] * u.y * u.y +
                           size[2] * size[2] * u.z * u.z);
    case DJ_CYLINDER: return center + size[0] * flat + size[1] * fabs(u.z);
    default:
      for (int i = 0; i < 6; i++) h = fmax(h, dju_dot3(u, dju_load3(stone + 3 * i)));
      return center + h;
  }
}

// Cylinders are a little thinner than their sizes, and rounded by that: see model/geom_rows.c.
static double roundness(const Floor* f) {
  if (f->m->geom_type[f->geom] != DJ_CYLINDER) return 0;
  return 2 * dj_geomDisc(dj_geomRow(DJ_CYLINDER), f->size);
}

// A geom that starts deep in the floor: depths and gaps after the step, whether the floor holds it
// or it flies off so fast that nothing acts at the end.
static void testDepth(void) {
  Random r = {1};
  int silent = 0, held = 0;
  double deepest = 0;
  for (int trial = 0; trial < 240; trial++) {
    Floor f;
    bool fast = trial % 3 == 0;
    openFloor(&f, &r, types[trial % NTYPE], (Where)(trial / NTYPE % NWHERE), fast ? 1 : 3);
    djData* d = f.d;
    djQuat q = randomQuat(&r);
    dju_storeQuat(d->qpos + 3, q);
    assert_int_equal(dj_forward(f.m, d), DJ_OK);
    double depth = uniform(&r, 0.02, 0.04);
    d->qpos[2] = f.height + reachDown(&f) - depth;
    if (fast) d->qvel[2] = 5;
    long recovered = d->stats.recovering_steps;
    assert_int_equal(dj_step(f.m, d), DJ_OK);
    depth = f.height + reachDown(&f) - d->qpos[2];
    double inflate = f.inflate[0] + f.inflate[1];
    djt_near(d->stats.overlap, depth, roundness(&f) + 1e-9);
    assert_true(d->stats.deepest_overlap == d->stats.overlap);
    // both are eroded by the skin, and the geom by what gap exceeds margin; erosion moves round
    // shapes by that along any normal, corners and flat ends by up to twice as much
    double gap = -depth + 2 * f.m->contact.skin - inflate;
    double eroded = f.m->contact.skin + fmax(-f.inflate[0], 0);
    bool round = f.m->geom_type[f.geom] == DJ_SPHERE || f.m->geom_type[f.geom] == DJ_CAPSULE;
    djt_near(d->stats.gap, gap, round ? 1e-9 : roundness(&f) + eroded);
    assert_true(d->stats.smallest_gap == d->stats.gap);
    assert_int_equal(d->stats.recovering_steps, recovered + 1);
    assert_int_equal(d->stats.recovering, 1);
    silent += d->npair == 0;
    held += d->npair == 1;
    if (d->npair == 1) {
      assert_true(d->pair[0].recovering && d->pair[0].gap == d->stats.gap);
      djt_near(d->pair[0].normal[2], f.floor < f.geom ? 1 : -1, 1e-12);
    }
    // the deepest one stays
    deepest = d->stats.overlap;
    double smallest = d->stats.gap;
    d->qpos[2] += 5;
    assert_int_equal(dj_step(f.m, d), DJ_OK);
    assert_true(d->stats.overlap == 0 && d->stats.deepest_overlap == deepest);
    assert_true(d->stats.gap == INFINITY && d->stats.smallest_gap == smallest);
    assert_int_equal(d->stats.recovering_steps, recovered + 1);
    assert_int_equal(d->stats.recovering, 0);
    closeFloor(&f);
  }
  assert_true(silent > 40 && held > 40);
}

// Force times h is the change of momentum; torques about the body's origin and about the pair's
// point agree.
static void testMomentum(void) {
  Random r = {2};
  int acting = 0;
  for (int trial = 0; trial < 200; trial++) {
    Floor f;
    openFloor(&f, &r, types[trial % NTYPE], (Where)(trial / NTYPE % NWHERE), 3);
    djData* d = f.d;
    djQuat q = randomQuat(&r);
    dju_storeQuat(d->qpos + 3, q);
    assert_int_equal(dj_forward(f.m, d), DJ_OK);
    d->qpos[2] = f.height + reachDown(&f) + f.inflate[0] + f.inflate[1] + 0.001;
    for (int k = 0; k < 6; k++) d->qvel[k] = uniform(&r, -1, 1);
    for (int k = 0; k < 2; k++) d->qpos[k] = uniform(&r, -1, 1);
    d->qvel[2] = -3;
    double before[3], h = f.m->opt.timestep;
    memcpy(before, d->qvel, sizeof before);
    assert_int_equal(dj_step(f.m, d), DJ_OK);
    if (d->npair == 1) {
      const djContactPair* p = &d->pair[0];
      const djContactForce* c = &d->contact[0];
      bool second = f.geom == p->geom2;   // forces are on geom2 and body2
      assert_int_equal(d->ncontact, 1);
      assert_int_equal(p->geom1 + p->geom2, f.geom + f.floor);
      assert_int_equal(c->body1 + c->body2, f.m->geom_body[0] + f.m->geom_body[1]);
      assert_true(p->geom1 < p->geom2 && c->body1 < c->body2);
      double sign = second ? 1 : -1;
      for (int k = 0; k < 3; k++) {
        djt_near(sign * p->force[k] * h, d->qvel[k] - before[k], 1e-6 * fabs(p->force[2]) * h);
        djt_near(c->force[k], p->force[k], 1e-12 * p->normal_force);
      }
      djt_near(fabs(p->force[2]), p->normal_force, 1e-6 * p->normal_force);
      // about body2's origin
      const double* o = d->xpos + 3 * c->body2;
      djVec3 arm = dju_sub3(dju_load3(p->point), dju_load3(o));
      djVec3 torque = dju_add3(dju_load3(p->torque), dju_cross3(arm, dju_load3(p->force)));
      djt_near(dju_norm3(dju_sub3(torque, dju_load3(c->torque))), 0, 1e-10 * p->normal_force);
      // normal force acts at the point: what is left about it is friction's
      djVec3 about = dju_load3(p->torque);
      djt_near(hypot(about.x, about.y), 0, 0.02 * p->normal_force * f.size[0]);
      // and the point is where the geom is lowest
      djt_near(p->point[2] - f.height, 0.5 * (f.inflate[1] - f.inflate[0]), 0.02);
      acting++;
    }
    closeFloor(&f);
  }
  assert_true(acting > 100);
}

// Entries of body pairs are in order, and each is there once; so are those of geoms.
static void testOrder(void) {
  Scene* s = newScene(12);
  addGeom(s, 0, DJ_PLANE, 0, 0, 0);
  for (int i = 0; i < 12; i++) {
    int b = addBody(s, 0, DJ_FREE, 0.3 * i, 0, 0.25, 1, 0.1);
    for (int k = 0; k < 2; k++) addGeom(s, b, DJ_SPHERE, 0.1, 0, 0)->pos[0] = 0.2 * k;
  }
  djData* d;
  djModel* m = startScene(&d, s);
  Random r = {3};
  int most = 0;
  for (int step = 0; step < 60; step++) {
    if (step % 6 == 0) {   // a heap of them, in any order
      for (int i = 0; i < 12; i++) {
        for (int k = 0; k < 3; k++) d->qpos[7 * i + k] = uniform(&r, 0.1, 0.6);
      }
    }
    assert_true(dj_step(m, d) >= 0);
    double sum[3] = {0, 0, 0}, size = 0;
    for (int i = 0; i < d->ncontact; i++) {
      const djContactForce* c = &d->contact[i];
      assert_true(c->body1 < c->body2);
      if (i > 0) assert_true(c[-1].body1 < c->body1 || (c[-1].body1 == c->body1 &&
                                                       c[-1].body2 < c->body2));
      for (int k = 0; k < 3; k++) sum[k] += c->force[k];
      size += fabs(c->force[2]);
    }
    for (int i = 0; i < d->npair; i++) {
      const djContactPair* p = &d->pair[i];
      assert_true(p->geom1 < p->geom2);
      if (i > 0) assert_true(p[-1].geom1 < p->geom1 || (p[-1].geom1 == p->geom1 &&
                                                       p[-1].geom2 < p->geom2));
      double sign = m->geom_body[p->geom1] < m->geom_body[p->geom2] ? 1 : -1;
      for (int k = 0; k < 3; k++) sum[k] -= sign * p->force[k];
    }
    for (int k = 0; k < 3; k++) djt_near(sum[k], 0, 1e-10 * size);
    most = d->ncontact > most ? d->ncontact : most;
  }
  assert_true(most > 12);
  djt_delete(m, d);
}

// Of balls in a row that overlap the deepest pair is named, with the depth of the geoms themselves.
static void testDeepestNamed(void) {
  static const double x[4] = {0, 0.13, 0.21, 0.35};   // radii are 0.1
  for (int turn = 0; turn < 2; turn++) {
    Scene* s = newScene(4);
    static const char* const name[4] = {"a", "b", "c", "d"};
    for (int i = 0; i < 4; i++) {
      int b = addBody(s, 0, DJ_FREE, turn ? -x[3 - i] : x[i], 0, 0, 1, 0.1);
      addGeom(s, b, DJ_SPHERE, 0.1, 0, 0)->name = name[i];
    }
    s->def.option.overlap = DJ_OVERLAP_ERROR;
    djModel* m = takeScene(s);
    djData* d = djt_data(m);
    assert_int_equal(dj_step(m, d), DJ_OVERLAP);
    assert_non_null(strstr(dj_errorText(d), "geom 'b' (#1) and geom 'c' (#2) overlap by 0.12 m"));
    djt_delete(m, d);
  }
}

DJT_MAIN(testDepth, testMomentum, testOrder, testDeepestNamed)
