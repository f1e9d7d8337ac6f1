// Height fields: the surface through heights, its bounds and feet; what a flat one does beside a
// plane; definitions that are refused; bodies on hills, deep in them and far above.

#include "common/kernel_case.h"
#include "common/make_model.h"
#include "common/message.h"
#include "common/near.h"
#include "common/test.h"
#include "contact/plane/plane_rows.h"
#include "contact/plane/terrain.h"
#include "shape/terrain.h"

#include <dijoco/dijoco.h>

// ------------------------------------------ surfaces -------------------------------------------

enum { ROWS = 7, COLUMNS = 9, NHEIGHT = ROWS * COLUMNS };

typedef struct Ground {
  djHeightLattice lattice;
  double height[NHEIGHT];
  double* mem;
  djTerrain t;
} Ground;

static void makeGround(Ground* g, Random* r, double high) {
  g->lattice = (djHeightLattice){ROWS, COLUMNS, {2, 1.2}, 0.5};
  for (int i = 0; i < NHEIGHT; i++) g->height[i] = high * uniform(r, -1, 1);
  g->mem = malloc(dj_terrainSize(&g->lattice) * sizeof(double));
  const djPose here = {{0, 0, 0}, dju_eye3()};
  dj_makeTerrain(g->mem, &g->lattice, g->height, &here);
  dj_readTerrain(&g->t, g->mem);
}

static void testSurface(void) {
  Random r = {1};
  Ground g;
  makeGround(&g, &r, 0.4);
  for (int i = 0; i < NHEIGHT; i++) {
    djTerrainPoint p;
    dj_evalTerrain(&p, &g.t, g.t.x0 + i % COLUMNS * g.t.dx, g.t.y0 + i / COLUMNS * g.t.dy);
    assert_true(fabs(p.h - g.height[i]) < 1e-14);
  }
  // two derivatives, by differences
  for (int i = 0; i < 200; i++) {
    const double x = uniform(&r, -2.6, 2.6), y = uniform(&r, -1.8, 1.8), e = 1e-5;
    djTerrainPoint p, q[4];
    dj_evalTerrain(&p, &g.t, x, y);
    for (int k = 0; k < 4; k++) {
      const double s = k % 2 ? e : -e;
      dj_evalTerrain(&q[k], &g.t, k < 2 ? x + s : x, k < 2 ? y : y + s);
    }
    const double scale = 1 + fabs(p.g[0]) + fabs(p.g[1]);
    for (int k = 0; k < 2; k++) {
      const djTerrainPoint *low = &q[2 * k], *high = low + 1;
      assert_true(fabs((high->h - low->h) / (2 * e) - p.g[k]) < 1e-7 * scale);
      for (int j = 0; j < 2; j++) {
        const double H = p.H[j + k];
        assert_true(fabs((high->g[j] - low->g[j]) / (2 * e) - H) < 1e-4 * (1 + fabs(H)));
      }
    }
  }
  free(g.mem);
}

// From cell to cell, and over the border, value and two derivatives go on; the third does not.
static void testSmooth(void) {
  Random r = {2};
  Ground g;
  makeGround(&g, &r, 0.4);
  double third = 0;
  for (int i = 0; i < 300; i++) {
    const bool along = i % 2;
    const int n = along ? COLUMNS : ROWS;
    const double low = along ? g.t.x0 : g.t.y0, cell = along ? g.t.dx : g.t.dy, e = 1e-9 * cell;
    const double at = low + below(&r, n) * cell, other = uniform(&r, -1.5, 1.5);
    djTerrainPoint p[2];
    for (int k = 0; k < 2; k++) {
      const double x = at + (k ? e : -e);
      dj_evalTerrain(&p[k], &g.t, along ? x : other, along ? other : x);
    }
    assert_true(fabs(p[1].h - p[0].h) < 1e-7);
    for (int k = 0; k < 2; k++) assert_true(fabs(p[1].g[k] - p[0].g[k]) < 1e-6);
    for (int k = 0; k < 3; k++) assert_true(fabs(p[1].H[k] - p[0].H[k]) < 1e-5);
    djTerrainPoint q[2];
    for (int k = 0; k < 2; k++) {
      const double x = at + (k ? 1e-3 : -1e-3) * cell;
      dj_evalTerrain(&q[k], &g.t, along ? x : other, along ? other : x);
    }
    const int own = along ? 0 : 2;
    const double jump = (q[1].H[own] - 2 * p[0].H[own] + q[0].H[own]) / (1e-3 * cell);
    third = fmax(third, fabs(jump));
  }
  assert_true(third > 1);
  free(g.mem);
}

// Beyond the border it falls by DJ_TERRAIN_FALL cells within a cell of a flat field, ever faster.
static void testBorder(void) {
  Random r = {3};
  Ground g;
  makeGround(&g, &r, 0);
  djTerrainPoint p;
  const double fall = DJ_TERRAIN_FALL * fmax(g.t.dx, g.t.dy);
  for (int k = 0; k < 3; k++) {
    const double x = 2 + 0.5 * k * g.t.dx, s = 0.5 * k;
    dj_evalTerrain(&p, &g.t, x, 0.3);
    assert_true(fabs(p.h + fall * s * s * s) < 1e-12);
    dj_evalTerrain(&p, &g.t, -x, 0.3);
    assert_true(fabs(p.h + fall * s * s * s) < 1e-12);
  }
  free(g.mem);
}

static void testHeights(void) {
  Random r = {4};
  for (int size = 2; size < 6; size++) {
    const djHeightLattice l = {size, 7 - size, {1, 2}, 0};
    const int n = l.nrow * l.ncol, ncoef = dj_terrainCoefs(l.nrow, l.ncol);
    const djPose here = {{0, 0, 0}, dju_eye3()};
    double height[16], by[16] = {0}, work[16];
    double* coef = malloc((size_t)ncoef * sizeof *coef);
    double* weight = malloc((size_t)ncoef * sizeof *weight);
    double* mem = malloc(dj_terrainSize(&l) * sizeof *mem);
    for (int i = 0; i < n; i++) height[i] = uniform(&r, -1, 1);
    for (int i = 0; i < ncoef; i++) coef[i] = weight[i] = uniform(&r, -1, 1);
    dj_terrainHeightsVjp(by, coef, work, &l);
    for (int i = 0; i < n; i++) {   // which is linear
      double y[2] = {0, 0}, kept = height[i];
      for (int k = 0; k < 2; k++) {
        djTerrain t;
        height[i] = kept + (k ? 0.5 : -0.5);
        dj_makeTerrain(mem, &l, height, &here);
        dj_readTerrain(&t, mem);
        for (int c = 0; c < ncoef; c++) y[k] += weight[c] * t.coef[c];
      }
      height[i] = kept;
      assert_true(fabs(y[1] - y[0] - by[i]) < 1e-11);
    }
    free(coef);
    free(weight);
    free(mem);
  }
}

// The distance of a point by brute force, and where.
static double searched(const djTerrain* t, djVec3 p, double wide) {
  double best = INFINITY, x = p.x, y = p.y;
  for (int level = 0; level < 12; level++, wide *= 0.25) {
    const double x0 = x, y0 = y;
    for (int i = -20; i <= 20; i++) {
      for (int j = -20; j <= 20; j++) {
        djTerrainPoint q;
        const double u = x0 + wide * i / 20, v = y0 + wide * j / 20;
        dj_evalTerrain(&q, t, u, v);
        const double d = dju_norm3(dju_sub3(p, dju_vec3(u, v, q.h)));
        if (!(d < best)) continue;
        best = d;
        x = u;
        y = v;
      }
    }
  }
  return best;
}

// Feet are nearest points, bounds are none more than them, and not much less far away.
static void testDistance(void) {
  Random r = {5};
  Ground g;
  makeGround(&g, &r, 0.05);
  for (int i = 0; i < 60; i++) {
    const djVec3 p = {uniform(&r, -2.2, 2.2), uniform(&r, -1.4, 1.4), uniform(&r, 0.06, 0.5)};
    djFoot f;
    assert_true(dj_findFoot(&f, &g.t, p, NULL, NULL));
    const double true_distance = searched(&g.t, p, 0.8);
    assert_true(fabs(f.d - true_distance) < 1e-9);
    for (double reach = 0.01; reach < 3; reach *= 2) {
      const double bound = dj_terrainClearance(&g.t, p, reach);
      assert_true(bound <= reach && bound <= true_distance);
    }
    assert_true(dj_terrainHeadroom(&g.t, p) <= true_distance);
    if (fabs(p.x) < 1.3 && fabs(p.y) < 0.7 && p.z < 0.4) {
      assert_true(dj_terrainHeadroom(&g.t, p) > 0.3 * true_distance);
    }
  }
  const djVec3 far = {0, 0, 40};
  assert_true(dj_terrainClearance(&g.t, far, 100) > 39.5);
  free(g.mem);
}

// ------------------------------------------ points ---------------------------------------------

// Of a box the corners, then points of its edges and faces, none twice; on an axis those between.
static void testPoints(void) {
  static const int types[] = {DJ_BOX, DJ_CAPSULE, DJ_CYLINDER, DJ_SPHERE}, counts[] = {98, 9, 9, 1};
  for (int i = 0; i < 4; i++) {
    Random r = {3};
    TestShape t;
    const double size[3] = {0.3, 0.2, 0.1};
    memset(&t, 0, sizeof t);
    setGeom(&t, types[i], size, 0, &r);
    const djShape* a = &t.shape;
    assert_int_equal(dj_terrainCount(a), counts[i]);
    double seen[98][3];
    for (int p = 0; p < counts[i]; p++) {
      const djTerrainMean m = dj_terrainMean(a, p);
      double sum = 0, *x = seen[p];
      int ends = 0;
      memset(x, 0, sizeof seen[p]);
      for (int k = 0; k < m.n; k++) {
        sum += m.weight[k];
        for (int j = 0; j < 3; j++) x[j] += m.weight[k] * a->vert[j][m.vertex[k]];
      }
      djt_near(sum, 1, 1e-15);
      for (int j = 0; j < 3; j++) ends += fabs(fabs(x[j]) - fabs(a->vert[j][0])) < 1e-12;
      if (types[i] == DJ_BOX) assert_true(p < 8 ? ends == 3 : ends == 1 || ends == 2);
      for (int q = 0; q < p; q++) {
        assert_true(fabs(x[0] - seen[q][0]) + fabs(x[1] - seen[q][1]) + fabs(x[2] - seen[q][2]) > 0.01);
      }
    }
    free(t.buffer);
  }
}

// The load by an argument is the barrier's slope, which there is none of at its end.
static void testLoad(void) {
  for (double x = 0.01; x < 0.1; x += 0.007) {
    double above[3], below[3];
    dj_barrier(above, x + 1e-7, (djBarrier){0.1, 0});
    dj_barrier(below, x - 1e-7, (djBarrier){0.1, 0});
    const double load = dj_rowLoad(x, (djBarrier){0.1, 0});
    djt_near(load, (below[0] - above[0]) / 2e-7, 1e-5 * load + 1e-9);
  }
  assert_true(dj_rowLoad(0.2, (djBarrier){0.1, 0}) == 0);
  assert_true(dj_rowLoad(-0.01, (djBarrier){0.1, 0}) == INFINITY);
}

// ------------------------------------------ beside a plane -------------------------------------

typedef struct Results {
  djPairOutput out;
  djPairReport report;
  double start[144], rate[144];
} Results;

static void results(Results* x, PairCase* c) {
  const djKernel* k = &dj_separatingPlane;
  assert_int_equal(beginNew(k, c), DJ_OK);
  evalCase(&x->out, k, c, DJ_EVAL_HESSIAN);
  assert_int_equal(startCase(x->start, x->rate, k, c), DJ_OK);
  assert_int_equal(k->report(&x->report, stateOf(c), pairInput(c)), DJ_OK);
}

static void assertSame(const double* x, const double* y, int n) {
  const double scale = djt_largest(y, n);
  for (int i = 0; i < n; i++) assert_true(fabs(x[i] - y[i]) <= 2e-9 * scale);
}

// All shapes, with friction, touching, in recovery and deep below.
static void testFlat(void) {
  static const int types[] = {DJ_SPHERE, DJ_CAPSULE, DJ_BOX, DJ_MESH, DJ_ELLIPSOID, DJ_CYLINDER};
  static const double parts[] = {0.3, 0.9, 0.75, 0.5, -2};
  djHeightLattice l = groundLattice(1);
  double height[GROUND_ROWS * GROUND_COLUMNS];
  for (int i = 0; i < l.nrow * l.ncol; i++) height[i] = 0.25;
  for (int i = 0; i < 60; i++) {
    Random r = {50 + (uint64_t)i};
    PairCase c;
    Results plane, field;
    moving_pairs = 0;   // sliding alone: torsion is shared out otherwise
    movingPair(&c, &dj_separatingPlane, &r, types[i % 6], DJ_PLANE, parts[i % 5]);
    c.in.force_cap = i % 2 ? 0.2 : INFINITY;
    results(&plane, &c);
    const djShape was = c.shape[1].shape;
    const djVec3 z = was.normal;
    djVec3 E[2];
    dj_across(E, z);
    const djMat3 R = {{E[0].x, E[1].x, z.x, E[0].y, E[1].y, z.y, E[0].z, E[1].z, z.z}};
    // below the shape, so that it is within the borders
    const djVec3 at = dju_untransform(&c.now[1], dju_transform(&c.now[0], c.shape[0].shape.center));
    const djVec3 low = dju_madd3(at, was.offset - dju_dot3(z, at) - 0.25 + 0.125, z);
    const djPose pose = {low, R};
    c.shape[1].buffer = malloc(dj_terrainSize(&l) * sizeof(double));
    dj_makeTerrain(c.shape[1].buffer, &l, height, &pose);
    c.shape[1].shape = (djShape){.type = DJ_HFIELD, .fit = c.shape[1].buffer, .offset = -0.125,
                                 .inner = INFINITY, .center = pose.p, .bound = 20};
    results(&field, &c);
    assert_true(plane.out.active && field.out.active);
    assertSame(&field.out.value, &plane.out.value, 1);
    assertSame(field.out.gradient, plane.out.gradient, 12);
    assertSame(field.out.hessian, plane.out.hessian, 144);
    assertSame(field.start, plane.start, 144);
    assertSame(&field.report.normal_force, &plane.report.normal_force, 1);
    assert_true(fabs(field.report.gap - plane.report.gap) < 1e-12);
    assert_true(field.report.recovering == plane.report.recovering);
    freeCase(&c);
  }
}

// ------------------------------------------ definitions ----------------------------------------

static const double flat[4] = {0, 0, 0, 0};

typedef struct Scene {
  djBodyDef body[2];
  djJointDef joint;
  djGeomDef geom[2];
  djHfieldDef field;
  djModelDef def;
} Scene;

static void openScene(Scene* s, djGeomType type) {
  *s = (Scene){.def = dj_defaultModelDef()};
  s->body[0] = s->body[1] = dj_defaultBodyDef();
  s->body[0].name = "world";
  s->body[1].name = "body";
  s->body[1].mass = 1;
  for (int k = 0; k < 3; k++) s->body[1].inertia[k] = 0.004;
  s->joint = dj_defaultJointDef();
  s->joint.type = DJ_FREE;
  s->joint.body = 1;
  for (int k = 0; k < 2; k++) s->geom[k] = dj_defaultGeomDef();
  s->geom[0].name = "ground";
  s->geom[0].type = DJ_HFIELD;
  s->geom[0].hfield = 0;
  s->geom[1].name = "thing";
  s->geom[1].type = type;
  s->geom[1].body = 1;
  const double size[3] = {0.1, 0.08, 0.06};
  memcpy(s->geom[1].size, size, sizeof size);
  s->field = (djHfieldDef){.name = "land", .nrow = 2, .ncol = 2, .size = {1, 1, 0.2},
                           .height = flat};
  s->def.option.timestep = 0.002;
  s->def.nbody = 2;
  s->def.body = s->body;
  s->def.njnt = 1;
  s->def.joint = &s->joint;
  s->def.ngeom = 2;
  s->def.geom = s->geom;
  s->def.nhfield = 1;
  s->def.hfield = &s->field;
}

static void expect(const Scene* s, const char* text) {
  djModel* m = NULL;
  djError err;
  assert_true(dj_makeModel(&m, &s->def, &err) < 0);
  assert_null(m);
  if (!strstr(err.text, text)) fail_msg("'%s' does not say '%s'", err.text, text);
}

static void testBadDefinitions(void) {
  const double bad[4] = {0, NAN, 0, 0}, large[4] = {0, 0, 1e30, 0};
  djModel* m;
  djError err;
  Scene s;
#define BAD(text, change)     \
  openScene(&s, DJ_SPHERE);   \
  change;                     \
  expect(&s, text);
  BAD("hfield 'land': has less than 2 rows or columns", s.field.nrow = 1)
  BAD("hfield 'land': has less than 2 rows or columns", s.field.ncol = 0)
  BAD("hfield 'land': size is negative", s.field.size[2] = -1)
  BAD("hfield 'land': size must be positive", s.field.size[1] = 0)
  BAD("hfield 'land': heights are missing", s.field.height = NULL)
  BAD("hfield 'land': a height is not finite", s.field.height = bad)
  BAD("hfield 'land': a height", s.field.height = large)
  BAD("geom 'ground': its height field does not exist", s.geom[0].hfield = 1)
  BAD("geom 'ground': it collides, but has no height field", s.geom[0].hfield = -1)
  BAD("geom 'thing': only geoms of type hfield", s.geom[1].hfield = 0)
  BAD("model: the list of height fields is missing", s.def.hfield = NULL)
#undef BAD
  openScene(&s, DJ_SPHERE);   // one that is only to be seen
  s.geom[0].hfield = -1;
  s.geom[0].contype = s.geom[0].conaffinity = 0;
  assert_int_equal(dj_makeModel(&m, &s.def, &err), DJ_OK);
  dj_deleteModel(m);
}

// The definition comes back, heights by their name.
static void testModel(void) {
  static const double height[12] = {0, .1, .2, .1, 0, .3, .2, .1, 0, .1, .2, -.4};
  Scene s;
  djModel* again;
  djError err;
  openScene(&s, DJ_SPHERE);
  s.field = (djHfieldDef){.name = "land", .nrow = 3, .ncol = 4, .size = {2, 1, 0.2},
                          .height = height};
  djModel* m = djt_makeModel(&s.def);
  double value[12];
  djParam p = djt_param(m, "hfield/land/heights");
  assert_true(p.nvalue == 12 && p.ntangent == 12);
  assert_int_equal(dj_getParam(value, m, &p), DJ_OK);
  assert_memory_equal(value, height, sizeof height);
  const char* path = "test_terrain.json";
  assert_int_equal(dj_saveModel(m, path, &err), DJ_OK);
  assert_int_equal(dj_loadModel(&again, path, &err), DJ_OK);
  assert_true(again->nhfield == 1 && again->hfield_nrow[0] == 3 && again->hfield_ncol[0] == 4);
  assert_memory_equal(again->hfield_height, height, sizeof height);
  assert_memory_equal(again->hfield_size, s.field.size, sizeof s.field.size);
  assert_int_equal(again->geom_hfield[0], 0);
  assert_int_equal(again->geom_hfield[1], -1);
  remove(path);
  dj_deleteModel(again);
  dj_deleteModel(m);
}

// ------------------------------------------ bodies ---------------------------------------------

enum { ACROSS = 21 };

static void hills(double* height) {
  for (int i = 0; i < ACROSS * ACROSS; i++) {
    const double x = i % ACROSS * 0.1 - 1, y = i / ACROSS * 0.1 - 1;
    height[i] = 0.1 + 0.04 * sin(5 * x + 1) * cos(4 * y);
  }
}

static djModel* onHills(Scene* s, double* height, djGeomType type) {
  openScene(s, type);
  hills(height);
  s->field.nrow = s->field.ncol = ACROSS;
  s->field.height = height;
  djModel* m = djt_makeModel(&s->def);
  return m;
}

// A ball that falls on a slope of s = .2, and a disc that stands on it on its rim: what an impact
// leaves of a motion that rolls is 1/(1 + k) of the speed along the slope, k = I/(m r^2), and then it
// wins g s/((1 + k) (1 + s^2)) of horizontal speed a second.
static void testRolling(void) {
  static const djGeomType types[] = {DJ_SPHERE, DJ_CYLINDER};
  for (int i = 0; i < 2; i++) {
    double height[9];
    for (int k = 0; k < 9; k++) height[k] = 0.2 * (k % 3 - 1);
    Scene s;
    openScene(&s, types[i]);
    s.field.nrow = s.field.ncol = 3;
    s.field.height = height;
    s.geom[1].size[1] = 0.03;
    s.geom[1].friction[0] = 1;
    djModel* m = djt_makeModel(&s.def);
    djData* d = djt_data(m);
    d->qpos[0] = 0.6;
    d->qpos[2] = 0.12 + 0.1 * sqrt(1.04) + 0.05;
    d->qpos[3] = d->qpos[4] = i ? sqrt(0.5) : 0;
    if (i == 0) d->qpos[3] = 1;
    double v[2], t[2];
    for (int k = 0; k < 300; k++) {
      assert_true(dj_step(m, d) >= 0);
      if (k == 99 || k == 299) {
        v[k / 200] = d->qvel[0];
        t[k / 200] = d->time;
      }
    }
    assert_true(d->stats.unconverged_steps == 0);
    const double k = 0.004 / 0.01, win = 9.81 * 0.2 / (1 + k) / 1.04;
    const double fall = sqrt(2 * 0.05 / 9.81), end = fall * win;
    djt_near((v[1] - v[0]) / (t[1] - t[0]), -win, 2e-3 * win);
    djt_near(v[0], -end - win * (t[0] - fall), 1e-2 * win);
    djt_delete(m, d);
  }
}

// Bodies that begin in the ground come out, at 0.1 m/s, and rest or roll on it; all steps
// converge.
static void testDeep(void) {
  static const djGeomType types[] = {DJ_SPHERE, DJ_CAPSULE, DJ_ELLIPSOID, DJ_CYLINDER, DJ_BOX};
  double height[ACROSS * ACROSS];
  for (int i = 0; i < 15; i++) {
    Scene s;
    djModel* m = onHills(&s, height, types[i % 5]);
    djData* d = djt_data(m);
    d->qpos[0] = 0.05 * i - 0.3;
    d->qpos[1] = 0.3 - 0.03 * i;
    d->qpos[2] = 0.16 - 0.02 * (i / 5);
    const double q[4] = {0.8, 0.1 * (i % 3), 0.2, 0.3};
    memcpy(d->qpos + 3, q, sizeof q);
    for (int k = 0; k < 1500; k++) {
      assert_true(dj_step(m, d) >= 0);
    }
    assert_true(d->stats.unconverged_steps == 0);
    assert_true(d->stats.overlap < 0.002);
    djTerrain t;
    double mem[4000];
    const djPose here = {{0, 0, 0}, dju_eye3()};
    const djHeightLattice l = {ACROSS, ACROSS, {1, 1}, 0.2};
    assert_true(dj_terrainSize(&l) <= 4000);
    dj_makeTerrain(mem, &l, height, &here);
    dj_readTerrain(&t, mem);
    djTerrainPoint p;
    dj_evalTerrain(&p, &t, d->qpos[0], d->qpos[1]);
    assert_true(d->qpos[2] > p.h + 0.04);
    djt_delete(m, d);
  }
}

// Beneath the base nothing acts; far above neither.
static void testElsewhere(void) {
  static const double z[3] = {-0.35, 0.5, 30};
  double height[ACROSS * ACROSS];
  Scene s;
  djModel* m = onHills(&s, height, DJ_BOX);
  for (int k = 0; k < 3; k++) {
    djData* d = djt_data(m);
    d->qpos[2] = z[k];
    for (int i = 0; i < 20; i++) assert_int_equal(dj_step(m, d), DJ_OK);
    assert_int_equal(d->npair, 0);
    const double h = m->opt.timestep;
    assert_true(fabs(d->qpos[2] - z[k] + 9.81 * h * h * 0.5 * 20 * 21) < 1e-12);
    dj_deleteData(d);
  }
  dj_deleteModel(m);
}

DJT_MAIN(testSurface, testSmooth, testBorder, testHeights, testDistance, testFlat,
         testBadDefinitions, testModel, testPoints, testLoad, testRolling, testDeep, testElsewhere)
