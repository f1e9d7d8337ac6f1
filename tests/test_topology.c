// Components, tunnels and cavities of a body, of shapes whose numbers are known.

#include <dijoco/topology.h>

#include "common/make_model.h"
#include "common/test.h"
#include "scene/nerve.h"
#include "shape/common.h"

enum { MOST = 32 };

#define CELL 0.011

typedef struct Shape {
  djGeomDef geom[MOST];
  djMeshDef mesh[MOST];
  double vert[MOST][48];
  djBodyDef body[2];
  djModelDef def;
} Shape;

static void start(Shape* s) {
  memset(s, 0, sizeof *s);
  s->def = dj_defaultModelDef();
  s->body[0] = s->body[1] = dj_defaultBodyDef();
  s->def.nbody = 2;
  s->def.body = s->body;
  s->def.geom = s->geom;
  s->def.mesh = s->mesh;
  s->def.option.contact = DJ_CONTACT_NONE;
}

static djGeomDef* add(Shape* s, djGeomType type, double x, double y, double z) {
  djGeomDef* g = &s->geom[s->def.ngeom++];
  *g = dj_defaultGeomDef();
  g->type = type;
  g->body = 1;
  g->pos[0] = x;
  g->pos[1] = y;
  g->pos[2] = z;
  g->size[0] = g->size[1] = g->size[2] = 0.1;
  return g;
}

// A box of half sides 0.1 as a mesh, with vertices more in the middle of its edges, of whose four
// along z one may be drawn in.
static void addMesh(Shape* s, double x, double y, double z, int edge, bool drawn) {
  int k = s->def.nmesh++;
  double* v = s->vert[k];
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      for (int e = 0; e < 2 && (i != 1 || j != 1); e++, v += 3) {
        bool in = drawn && i == (edge & 1 ? 2 : 0) && j == (edge & 2 ? 2 : 0);
        v[0] = 0.1 * (i - 1) * (in ? 0.2 : 1);
        v[1] = 0.1 * (j - 1) * (in ? 0.2 : 1);
        v[2] = e ? 0.1 : -0.1;
      }
    }
  }
  s->mesh[k] = (djMeshDef){.nvert = 16, .vert = s->vert[k]};
  add(s, DJ_MESH, x, y, z)->mesh = k;
}

static void expect(Shape* s, int components, int genus, int cavities, double volume) {
  djError err;
  djModel* m = djt_makeModel(&s->def);
  for (int k = 1; k <= 2; k++) {
    djTopology t;
    if (dj_bodyTopology(&t, m, 1, k * CELL, &err) < 0) fail_msg("%s", err.text);
    djt_failIf(t.components != components || t.genus != genus || t.cavities != cavities ||
                   !(fabs(t.volume - volume) < 0.2 * k * volume),
               "cells of %g: %d components, genus %d, %d cavities, %g m3 for %d, %d, %d, %g",
               k * CELL, t.components, t.genus, t.cavities, t.volume, components, genus, cavities,
               volume);
  }
  dj_deleteModel(m);
}

// Each geom that fills something is a ball; apart they are components.
static void testPrimitives(void) {
  static const djGeomType type[] = {DJ_SPHERE, DJ_BOX, DJ_CYLINDER, DJ_CAPSULE, DJ_ELLIPSOID};
  static const double volume[] = {4.18879e-3, 8e-3, 6.28319e-3, 10.47198e-3, 4.18879e-3};
  Shape all;
  double sum = 0;
  start(&all);
  for (int k = 0; k < 5; k++) {
    Shape s;
    start(&s);
    djGeomDef* g = add(&s, type[k], 0.3, -0.2, 0.1);
    g->quat[0] = 0.8;
    g->quat[2] = 0.6;
    expect(&s, 1, 0, 0, volume[k]);
    add(&all, type[k], 0.5 * k, 0, 0);
    sum += volume[k];
  }
  expect(&all, 5, 0, 0, sum);
}

// Boxes in a ring, that touch by their faces; eight round a middle one that is missing. Its rim of
// meshes is the same; closed above and below it is a cavity.
static void testRing(void) {
  Shape s;
  start(&s);
  for (int k = 0; k < 9; k++) {
    if (k == 4) continue;
    add(&s, DJ_BOX, 0.2 * (k % 3), 0.2 * (k / 3), 0);
  }
  expect(&s, 1, 1, 0, 64e-3);
  for (int k = 0; k < 2; k++) add(&s, DJ_BOX, 0.2, 0.2, k ? 0.2 : -0.2);
  expect(&s, 1, 0, 1, 80e-3);
}

// Four blocks about a line: solid; a hole where their edges there are drawn in.
static void testBlocks(void) {
  for (int drawn = 0; drawn <= 1; drawn++) {
    Shape s;
    start(&s);
    for (int k = 0; k < 4; k++) addMesh(&s, k & 1 ? 0.2 : 0, k & 2 ? 0.2 : 0, 0, 3 - k, drawn);
    expect(&s, 1, drawn, 0, 32e-3);
  }
}

static double draw(unsigned* seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return (*seed >> 8) / 16777216.0 - 0.5;
}

// An irregular hull and another, or a round geom, that cross: cells beside the line where they do
// touch by chance.
static void testCrossing(void) {
  static const djGeomType round[] = {DJ_CAPSULE, DJ_CYLINDER, DJ_ELLIPSOID, DJ_SPHERE};
  unsigned seed = 1;
  for (int pair = 0; pair < 100; pair++) {
    Shape s;
    start(&s);
    const int nhull = pair < 12 ? 2 : 1;
    for (int k = 0; k < nhull; k++) {
      for (int i = 0; i < 36; i++) {
        s.vert[k][i] = draw(&seed);
      }
      for (double* v = s.vert[k]; v < s.vert[k] + 36; v += 3) {
        double norm = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        for (int i = 0; i < 3; i++) v[i] *= (i ? 0.07 : 0.12) / norm;
      }
      s.mesh[s.def.nmesh++] = (djMeshDef){.nvert = 12, .vert = s.vert[k]};
      add(&s, DJ_MESH, 0.08 * k, 0, 0.01 * k)->mesh = k;
    }
    if (nhull == 1) {
      djGeomDef* g = add(&s, round[pair % 4], 0.08, 0, 0.01);
      for (int i = 0; i < 3; i++) g->size[i] = 0.05 + 0.01 * i;
      for (int i = 0; i < 4; i++) g->quat[i] = draw(&seed);
    }
    djTopology t;
    djError err;
    djModel* m = djt_makeModel(&s.def);
    if (dj_bodyTopology(&t, m, 1, 0, &err) < 0) fail_msg("%s", err.text);
    djt_failIf((nhull == 2 && t.components != 1) || t.genus != 0,
               "pair %d: %d components, genus %d", pair, t.components, t.genus);
    dj_deleteModel(m);
  }
}

// Rods round a square keep their tunnel, which a ball in the middle closes.
static void testRods(void) {
  static const djGeomType round[] = {DJ_CAPSULE, DJ_CYLINDER, DJ_ELLIPSOID};
  for (int kind = 0; kind < 3; kind++) {
    for (int filled = 0; filled < 2; filled++) {
      Shape s;
      djModel* m;
      djTopology t;
      djError err;
      start(&s);
      for (int k = 0; k < 4; k++) {
        djGeomDef* g = add(&s, round[kind], k == 0 ? 0.1 : k == 1 ? -0.1 : 0,
                           k == 2 ? 0.1 : k == 3 ? -0.1 : 0, 0.003 * k);
        g->size[0] = g->size[1] = 0.03;
        g->size[kind == 2 ? 2 : 1] = kind == 2 ? 0.18 : 0.11;
        g->quat[0] = sqrt(0.5);
        g->quat[k < 2 ? 1 : 2] = sqrt(0.5);
        g->quat[3] = 0.01 * k;
      }
      if (filled) add(&s, DJ_SPHERE, 0.001, 0.002, 0)->size[0] = 0.12;
      if (dj_makeModel(&m, &s.def, &err) < 0) fail_msg("%s", err.text);
      if (dj_bodyTopology(&t, m, 1, 0, &err) < 0) fail_msg("%s", err.text);
      djt_failIf(t.components != 1 || t.genus != !filled, "%d, filled %d: %d components, genus %d",
                 kind, filled, t.components, t.genus);
      dj_deleteModel(m);
    }
  }
}

// Bars round a square: a loop, which a lid closes; ajar by more than they are grown there is none.
static void testNerve(void) {
  static const double side[6][4] = {{1, 0, 0},  {-1, 0, 0}, {0, 1, 0},
                                    {0, -1, 0}, {0, 0, 1},  {0, 0, -1}};
  for (int kind = 0; kind < 3; kind++) {
    djNervePart part[5];
    double plane[5][24];
    djPool pool = {0};
    for (int k = 0; k < 5; k++) {
      double low[3] = {k == 1 ? 2.01 : 0, k == 3 ? 2.01 : 0, 0}, high[3] = {3, 3, 1};
      if (k == 0) high[0] = 0.95;
      if (k == 2) high[1] = 1;
      if (kind == 2 && k > 1) low[0] = 1;
      memcpy(plane[k], side, sizeof side);
      for (int i = 0; i < 6; i++) plane[k][4 * i + 3] = i & 1 ? -low[i / 2] : high[i / 2];
      part[k] = (djNervePart){6, plane[k], dju_load3(low), dju_load3(high)};
    }
    int loops = -1;
    assert_int_equal(dj_nerveLoops(&loops, &pool, kind == 1 ? 5 : 4, part, 0.02), DJ_OK);
    assert_int_equal(loops, kind == 0);
    dj_poolFree(&pool);
  }
}

// Boxes at random, turned, two or three: they have a point in common once grown as far as their
// deepest point is outside, and not before.
static void testCommon(void) {
  enum { PLANES = 18 };
  unsigned seed = 5;
  int outside = 0;
  for (int round = 0; round < 400; round++) {
    double plane[4 * PLANES];
    const int n = round % 2 ? PLANES : PLANES - 6;
    for (int i = 0; i < n; i += 6) {
      const double at[3] = {draw(&seed), draw(&seed), draw(&seed)};
      const djMat3 R = dju_quatToMat(dju_normalizeQuat(
          (djQuat){draw(&seed), draw(&seed), draw(&seed), draw(&seed)}));
      for (int k = 0; k < 6; k++) {
        const double sign = k & 1 ? -1 : 1;
        double* q = plane + 4 * (i + k);
        djVec3 axis = dju_vec3(k / 2 == 0 ? sign : 0, k / 2 == 1 ? sign : 0, k / 2 == 2 ? sign : 0);
        axis = dju_mulMV(R, axis);
        dju_store3(q, axis);
        q[3] = dju_dot3(axis, dju_load3(at)) + 0.1 + 0.1 * fabs(draw(&seed));
      }
    }
    djVec3 point;
    const double depth = dj_commonPoint(&point, n, plane, dju_vec3(0, 0, 0), 1);
    outside += depth < 0;
    for (int k = 0; k < 2; k++) {
      const double grow = -depth + (k ? 1e-4 : -1e-4);
      assert_int_equal(dj_haveCommon(n, plane, dju_vec3(0, 0, 0), 1, grow), k);
    }
  }
  assert_in_range(outside, 100, 390);
}

static void testRefusals(void) {
  Shape s;
  djTopology t;
  djError err;
  start(&s);
  add(&s, DJ_BOX, 0, 0, 0);
  djModel* m = djt_makeModel(&s.def);
  assert_int_equal(dj_bodyTopology(&t, m, 1, 0, &err), DJ_OK);
  assert_int_equal(dj_bodyTopology(&t, m, 1, 1e-5, &err), DJ_INVALID);
  assert_int_equal(dj_bodyTopology(&t, m, 1, -1, &err), DJ_INVALID);
  assert_int_equal(dj_bodyTopology(&t, m, 1, NAN, &err), DJ_INVALID);
  assert_int_equal(dj_bodyTopology(&t, m, 2, 0, &err), DJ_INVALID);
  assert_int_equal(dj_bodyTopology(&t, m, 0, 0, &err), DJ_INVALID);
  dj_deleteModel(m);
}

DJT_MAIN(testPrimitives, testRing, testBlocks, testRods, testNerve, testCommon, testCrossing,
         testRefusals)
