// Unions of convex hulls: volumes and moments of boxes in closed form, of hulls by disjoint cells,
// coincident faces, and derivatives by vertices against differences.

#include "common/near.h"
#include "common/random_shape.h"
#include "common/test.h"
#include "common/worst.h"
#include "inertia/body_hulls.h"
#include "inertia/cones.h"
#include "inertia/covered.h"
#include "inertia/crossing.h"
#include "inertia/facets.h"
#include "inertia/geom_moments.h"
#include "inertia/hull_union.h"
#include "inertia/mend.h"
#include "inertia/polygons.h"
#include "inertia/solids.h"

#include <dijoco/check.h>
#include <dijoco/overlap.h>

enum { MOST = 12, POINTS = 20 };

// Hulls with facets of their own.
typedef struct Parts {
  int n, nvert[MOST];
  double vert[MOST][3 * POINTS];
  int* face[MOST];
  djPolytope part[MOST];
} Parts;

static void addPart(Parts* p, int nvert) {
  djPolytope* part = &p->part[p->n];
  int** face = &p->face[p->n];
  assert_int_equal(dj_hullFacets(&part->nface, face, nvert, p->vert[p->n]), DJ_OK);
  part->face = *face;
  part->vert = p->vert[p->n];
  p->nvert[p->n++] = nvert;
}

// Facets of the vertices as they are.
static void refresh(Parts* p) {
  int n = p->n;
  for (int k = 0; k < n; k++) free(p->face[k]);
  for (p->n = 0; p->n < n;) addPart(p, p->nvert[p->n]);
}

static void freeAll(Parts* p) {
  for (int k = 0; k < p->n; k++) free(p->face[k]);
  p->n = 0;
}

static void addBox(Parts* p, djVec3 low, djVec3 high) {
  double* v = p->vert[p->n];
  for (int i = 0; i < 8; i++) {
    v[3 * i] = i & 1 ? high.x : low.x;
    v[3 * i + 1] = i & 2 ? high.y : low.y;
    v[3 * i + 2] = i & 4 ? high.z : low.z;
  }
  addPart(p, 8);
}

static void addCloud(Parts* p, Random* r, int n, djVec3 at, double size) {
  double* v = p->vert[p->n];
  cloud(r, 1, n, v);
  for (int i = 0; i < 3 * n; i++) v[i] = size * v[i] + (&at.x)[i % 3];
  addPart(p, n);
}

static djMoments unionOf(const Parts* p) {
  djMoments m = {0};
  assert_int_equal(dj_unionMoments(&m, p->n, p->part), DJ_OK);
  return m;
}

static djMoments excessOf(const Parts* p) {
  djMoments m = {0};
  assert_int_equal(dj_excessMoments(&m, p->n, p->part), DJ_OK);
  return m;
}

static djMoments sumOf(const Parts* p) {
  djMoments m = {0};
  for (int k = 0; k < p->n; k++) assert_int_equal(dj_unionMoments(&m, 1, &p->part[k]), DJ_OK);
  return m;
}

static void assertMoments(djMoments a, djMoments b, double tolerance) {
  djt_near(a.volume, b.volume, tolerance);
  for (int k = 0; k < 3; k++) djt_near((&a.first.x)[k], (&b.first.x)[k], tolerance);
  for (int k = 0; k < 9; k++) djt_near(a.second.m[k], b.second.m[k], tolerance);
}

// ---- parts of which unions are made

// Eight tetrahedra at a time beside one after the other; not a multiple of what is kept.
static void testCones(void) {
  Random r = {5};
  djCones cones = {0};
  djMoments sum = {0};
  for (int k = 0; k < 2 * DJ_CONES + 3; k++) {
    djVec3 x[3];
    for (int i = 0; i < 3; i++) x[i] = randomPoint(&r, 1, 1, 1);
    dj_addCone(&cones, x[0], x[1], x[2]);
    dj_addTetrahedron(&sum, x, (djVec3){0, 0, 0});
  }
  assertMoments(dj_conesMoments(&cones), sum, 1e-13);
}

// Where faces of two hulls cross: in both planes, within both hulls, and with what is covered to
// the left.
static void testCrossing(void) {
  Random r = {6};
  static Parts p;
  int crossed = 0;
  for (int trial = 0; trial < 20; trial++) {
    for (int k = 0; k < 2; k++) addCloud(&p, &r, POINTS, randomPoint(&r, 0.5, 0.5, 0.5), 1);
    djSolids s;
    assert_int_equal(dj_makeSolids(&s, p.n, p.part, 0), DJ_OK);
    const djSolid *a = &s.solid[0], *b = &s.solid[1];
    for (int f = 0; f < a->part->nface; f++) {
      for (int g = 0; g < b->part->nface; g++) {
        int fout = 0, gout = 0;
        for (int k = 0; k < 3; k++) {
          fout |= (dj_heightOf(&b->side[g], a->vert[a->face[3 * f + k]]) > 0) << k;
          gout |= (dj_heightOf(&a->side[f], b->vert[b->face[3 * g + k]]) > 0) << k;
        }
        djVec3 end[2];
        if (fout % 7 == 0 || gout % 7 == 0) continue;
        if (!dj_crossFaces(&end[0], &end[1], a, f, fout, b, g, gout)) continue;
        crossed++;
        for (int k = 0; k < 2; k++) {
          djt_near(dj_heightOf(&a->side[f], end[k]), 0, 1e-12);
          djt_near(dj_heightOf(&b->side[g], end[k]), 0, 1e-12);
          for (int i = 0; i < a->part->nface; i++) {
            assert_true(dj_heightOf(&a->side[i], end[k]) < 1e-12);
          }
          for (int i = 0; i < b->part->nface; i++) {
            assert_true(dj_heightOf(&b->side[i], end[k]) < 1e-12);
          }
        }
        djVec3 left = dju_cross3(a->side[f].normal, dju_sub3(end[1], end[0]));
        assert_true(dju_dot3(b->side[g].normal, left) < 0);
      }
    }
    dj_freeSolids(&s);
    freeAll(&p);
  }
  assert_true(crossed > 200);
}

// Of two boxes that share a cube of size 1.
static void testCovered(void) {
  static Parts p;
  addBox(&p, dju_vec3(0, 0, 0), dju_vec3(2, 2, 2));
  addBox(&p, dju_vec3(1, 1, 1), dju_vec3(3, 3, 3));
  djSolids s;
  djCover cover = {.from = {0.3, 0.2, 0.1}};
  assert_int_equal(dj_makeSolids(&s, p.n, p.part, -1e-10), DJ_OK);
  assert_int_equal(dj_visitCovered(&cover, &s), DJ_OK);
  djMoments shared = dj_conesMoments(&cover.cones);
  djt_near(shared.volume, 1, 1e-9);
  djt_near(shared.first.x, 1.5 - 0.3, 1e-9);
  djt_near(shared.first.z, 1.5 - 0.1, 1e-9);
  dj_freeSolids(&s);
  freeAll(&p);
}

// ---- boxes on a lattice: every cell that some box covers, once

enum { CELLS = 4 };

static djMoments cellsOf(int n, int box[][6]) {
  djMoments sum = {0};
  for (int c = 0; c < CELLS * CELLS * CELLS; c++) {
    int x[3] = {c % CELLS, c / CELLS % CELLS, c / CELLS / CELLS};
    bool covered = false;
    for (int k = 0; k < n; k++) {
      bool in = true;
      for (int i = 0; i < 3; i++) in = in && x[i] >= box[k][i] && x[i] < box[k][3 + i];
      covered = covered || in;
    }
    if (!covered) continue;
    sum.volume += 1;
    for (int i = 0; i < 3; i++) (&sum.first.x)[i] += x[i] + 0.5;
    for (int i = 0; i < 9; i++) {
      sum.second.m[i] += (x[i / 3] + 0.5) * (x[i % 3] + 0.5) + (i % 4 == 0 ? 1.0 / 12 : 0);
    }
  }
  return sum;
}

// All faces lie in few planes: each kind of coincidence, and up to 8 boxes at a point. The same in
// a turned frame, whose planes agree up to rounding errors.
static void testBoxes(void) {
  Random r = {3};
  static Parts p;
  for (int trial = 0; trial < 300; trial++) {
    int n = 2 + below(&r, MOST - 4), box[MOST][6];
    for (int k = 0; k < n; k++) {
      for (int i = 0; i < 3; i++) {
        box[k][i] = below(&r, CELLS);
        box[k][3 + i] = box[k][i] + 1 + below(&r, CELLS - box[k][i]);
      }
      addBox(&p, dju_vec3(box[k][0], box[k][1], box[k][2]),
             dju_vec3(box[k][3], box[k][4], box[k][5]));
    }
    djMoments cells = cellsOf(n, box);
    assertMoments(unionOf(&p), cells, 1e-7);
    djMat3 R = dju_quatToMat(randomQuat(&r));
    for (int k = 0; k < n; k++) {
      for (int i = 0; i < 8; i++) {
        dju_store3(p.vert[k] + 3 * i, dju_mulMV(R, dju_load3(p.vert[k] + 3 * i)));
      }
    }
    djt_near(unionOf(&p).volume, cells.volume, 1e-7);
    // Numbers of single precision: planes that nearly agree.
    for (int k = 0; k < n; k++) {
      for (int i = 0; i < 24; i++) p.vert[k][i] = (float)p.vert[k][i];
    }
    refresh(&p);
    djt_near(unionOf(&p).volume, cells.volume, 1e-5);
    freeAll(&p);
  }
}

// ---- hulls

// The union of a, b, c by volumes of intersections is a + b + c - ab - bc - ca + abc; intersections
// as unions again: of two hulls, ab = a + b - union.
static void testSets(void) {
  Random r = {8};
  static Parts p, q;
  for (int trial = 0; trial < 40; trial++) {
    for (int k = 0; k < 3; k++) addCloud(&p, &r, POINTS, randomPoint(&r, 0.6, 0.6, 0.6), 1);
    double three = unionOf(&p).volume;
    // Monte Carlo on a lattice of the box about all.
    int inside = 0, total = 60;
    for (int c = 0; c < total * total * total; c++) {
      const int at[3] = {c % total, c / total % total, c / total / total};
      djVec3 x;
      for (int i = 0; i < 3; i++) (&x.x)[i] = -2 + 4 * (at[i] + 0.5) / total;
      bool in_any = false;
      for (int k = 0; k < 3; k++) {
        bool in = true;
        for (int f = 0; f < p.part[k].nface && in; f++) {
          const int* face = p.part[k].face + 3 * f;
          djVec3 a = dju_load3(p.vert[k] + 3 * face[0]), b = dju_load3(p.vert[k] + 3 * face[1]);
          djVec3 c3 = dju_load3(p.vert[k] + 3 * face[2]);
          in = dju_dot3(dju_cross3(dju_sub3(b, a), dju_sub3(c3, a)), dju_sub3(x, a)) <= 0;
        }
        in_any = in_any || in;
      }
      inside += in_any;
    }
    djt_near(three, inside * 64.0 / (total * total * total), 0.02 * three);
    // The order does not matter, and a hull within one changes nothing.
    for (int k = 2; k >= 0; k--) {
      memcpy(q.vert[q.n], p.vert[k], sizeof p.vert[k]);
      addPart(&q, POINTS);
    }
    assertMoments(unionOf(&p), unionOf(&q), 1e-8);
    for (int i = 0; i < 3 * POINTS; i++) q.vert[3][i] = 0.5 * p.vert[0][i];
    for (int k = 0; k < 3; k++) {
      djVec3 middle = {0, 0, 0};
      for (int i = 0; i < POINTS; i++) {
        middle = dju_madd3(middle, 0.5 / POINTS, dju_load3(p.vert[0] + 3 * i));
      }
      for (int i = 0; i < POINTS; i++) q.vert[3][3 * i + k] += (&middle.x)[k];
    }
    addPart(&q, POINTS);
    assertMoments(unionOf(&p), unionOf(&q), 1e-8);
    // Twice the same hull counts once.
    memcpy(q.vert[4], p.vert[1], sizeof p.vert[1]);
    addPart(&q, POINTS);
    assertMoments(unionOf(&p), unionOf(&q), 1e-8);
    freeAll(&p);
    freeAll(&q);
  }
}

// Far from each other: exactly the sum.
static void testApart(void) {
  Random r = {9};
  static Parts p;
  for (int k = 0; k < 8; k++) {
    addCloud(&p, &r, POINTS, dju_vec3(3 * (k & 1), 3 * (k >> 1 & 1), 3 * (k >> 2)), 1);
  }
  assertMoments(unionOf(&p), sumOf(&p), 1e-12);
  assert_true(excessOf(&p).volume == 0);
  freeAll(&p);
}

// A wall of blocks with bent faces that overlap with all eight neighbours, beside the volume that
// the union's surface bounds, which is found by polygons: its solids are larger by 2e-6.
static void testWall(void) {
  Random r = {17};
  static Parts p;
  for (int trial = 0; trial < 40; trial++) {
    djPolygons surface = {0};
    double volume = 0;
    for (int k = 0; k < MOST; k++) {
      double* v = p.vert[p.n];
      for (int i = 0; i < 10; i++) {
        const djVec3 x = {(i & 1) + k % 4, (i >> 1 & 1) + k / 4, i >> 2 & 1};
        const djVec3 top = {k % 4 + 0.5, k / 4 + 0.5, i == 8 ? 1.2 : -0.2};
        const double size = trial % 2 ? 0.3 : 0.05;
        dju_store3(v + 3 * i, dju_add3(i < 8 ? x : top, randomPoint(&r, size, size, size)));
      }
      addPart(&p, 10);
    }
    djMoments moments = unionOf(&p);
    assert_int_equal(dj_unionSurface(&surface, p.n, p.part), DJ_OK);
    for (int k = 0; k < surface.n; k++) {
      const djVec3* x = surface.point + dj_polygonStart(&surface, k);
      volume += dju_dot3(x[0], dju_cross3(x[1], x[2])) / 6;
    }
    djt_near(moments.volume, volume, 1e-4);
    djt_near(excessOf(&p).volume, sumOf(&p).volume - volume, 1e-4);
    dj_freePolygons(&surface);
    freeAll(&p);
  }
}

// ---- derivatives, of what counts too often

static void testDerivatives(void) {
  Random r = {21};
  static Parts p;
  for (int trial = 0; trial < 20; trial++) {
    for (int k = 0; k < 5; k++) addCloud(&p, &r, POINTS, randomPoint(&r, 0.6, 0.6, 0.6), 1);
    djt_near(excessOf(&p).volume, sumOf(&p).volume - unionOf(&p).volume, 1e-10);
    djQuadratic f = {.a = uniform(&r, -1, 1), .b = randomPoint(&r, 1, 1, 1)};
    for (int i = 0; i < 3; i++) {
      for (int j = 0; j <= i; j++) f.B.m[3 * i + j] = f.B.m[3 * j + i] = uniform(&r, -1, 1);
    }
    double by[5][3 * POINTS] = {{0}}, direction[5][3 * POINTS], analytic = 0;
    double* list[5] = {by[0], by[1], by[2], by[3], by[4]};
    assert_int_equal(dj_excessParams(list, p.n, p.part, &f), DJ_OK);
    for (int k = 0; k < 5; k++) {
      for (int i = 0; i < 3 * POINTS; i++) {
        direction[k][i] = uniform(&r, -1, 1);
        analytic += direction[k][i] * by[k][i];
      }
    }
    double value[4], step = 2e-7;
    const double at[4] = {-1, 1, -0.5, 0.5};
    for (int s = 0; s < 4; s++) {
      static Parts moved;
      memcpy(moved.vert, p.vert, sizeof p.vert);
      for (int k = 0; k < 5; k++) {
        for (int i = 0; i < 3 * POINTS; i++) moved.vert[k][i] += at[s] * step * direction[k][i];
        addPart(&moved, POINTS);
      }
      djMoments m = excessOf(&moved);
      value[s] = dj_integral(&f, &m);
      freeAll(&moved);
    }
    double wide = (value[1] - value[0]) / (2 * step), fine = (value[3] - value[2]) / step;
    djt_near((4 * fine - wide) / 3, analytic, 1e-6 * fmax(1, fabs(analytic)));
    freeAll(&p);
  }
}

// ---- facets of a hull that has moved

// A block whose faces have a vertex in the middle, moved: flat faces bend, vertices sink and come
// out again. The volume is that of qhull's facets.
static void testMoved(void) {
  double v[3 * 14], moved[3 * 14];
  int nface, *face, good = 0;
  boxVertices(v, 1, 1, 1);
  for (int k = 0; k < 6; k++) {
    for (int i = 0; i < 3; i++) v[3 * (8 + k) + i] = i == k / 2 ? (k % 2 ? 1.1 : -1.1) : 0;
  }
  assert_int_equal(dj_hullFacets(&nface, &face, 14, v), DJ_OK);
  for (unsigned long trial = 0; trial < 200; trial++) {
    int n = nface, mended[6 * 14], other, *list;
    for (int i = 0; i < 42; i++) {
      moved[i] = v[i] + 0.2 * (2 * djd_random(3, trial, (unsigned long)i) - 1);
    }
    memcpy(mended, face, 3 * (size_t)nface * sizeof *face);
    if (!dj_mendFacets(&n, mended, 14, moved)) continue;   // qhull finds them then
    if (!dj_isHull(14, moved, n, mended)) continue;
    good++;
    assert_int_equal(dj_hullFacets(&other, &list, 14, moved), DJ_OK);
    const djPolytope part[2] = {{moved, n, mended}, {moved, other, list}};
    djMoments a = {0}, b = {0};
    assert_int_equal(dj_unionMoments(&a, 1, &part[0]), DJ_OK);
    assert_int_equal(dj_unionMoments(&b, 1, &part[1]), DJ_OK);
    assertMoments(a, b, 1e-12);
    // and back
    int back = n;
    int again[6 * 14];
    memcpy(again, mended, sizeof mended);
    if (dj_mendFacets(&back, again, 14, v)) assert_int_equal(back, nface);
    free(list);
  }
  assert_true(good >= 190);
  free(face);
}

// ---- interface

static void testVolumes(void) {
  double a[24], b[24], flat[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0};
  boxVertices(a, 1, 1, 1);
  boxVertices(b, 1, 1, 1);
  for (int i = 0; i < 8; i++) b[3 * i] += 1;
  djHullPoints hull[3] = {{8, a}, {8, b}, {4, flat}};
  djHullOverlap o;
  djError err = {""};
  assert_int_equal(dj_overlapOfHulls(&o, 3, hull, &err), DJ_OK);
  assert_int_equal(o.nhull, 2);
  djt_near(o.sum, 16, 1e-12);
  djt_near(o.whole, 12, o.error);
  djt_near(o.overlap, 4, o.error);
  djt_near(o.share, 0.25, 1e-8);
  assert_true(o.error < 1e-6);
  for (int i = 0; i < 8; i++) b[3 * i] += 1; // they touch
  assert_int_equal(dj_overlapOfHulls(&o, 2, hull, &err), DJ_OK);
  djt_near(o.overlap, 0, 1e-8);
  for (int i = 0; i < 8; i++) b[3 * i] += 1; // apart
  assert_int_equal(dj_overlapOfHulls(&o, 2, hull, &err), DJ_OK);
  assert_true(o.overlap == 0 && o.share == 0);
  b[4] = NAN;
  djt_refused(DJ_INVALID, dj_overlapOfHulls(&o, 2, hull, &err), err,
              "hull 1: its points are not finite");
  assert_int_equal(dj_overlapOfHulls(&o, 0, NULL, &err), DJ_OK);
  assert_int_equal(dj_overlapOfHulls(NULL, 0, NULL, &err), DJ_INVALID);
}

// A polygon minus a solid that holds it, touches it, or cuts a corner off.
static void testPolygons(void) {
  static const djHalfSpace corner[3] = {{{-1, 0, 0}, -0.5}, {{0, -1, 0}, -0.5}, {{0, 0, -1}, 1}};
  const djVec3 square[4] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
  djPolygons in = {0}, out = {0};
  assert_int_equal(dj_addPolygon(&in, 4, square), DJ_OK);
  assert_int_equal(dj_subtractSolid(&out, &in, 1, (const uint64_t[]){7}, corner), DJ_OK);
  double area = 0;
  for (int k = 0; k < out.n; k++) {
    int start = dj_polygonStart(&out, k);
    for (int i = start + 2; i < out.end[k]; i++) {
      djVec3 e = dju_sub3(out.point[i - 1], out.point[start]);
      area += 0.5 * dju_cross3(e, dju_sub3(out.point[i], out.point[start])).z;
    }
  }
  djt_near(area, 0.75, 1e-15);
  out.n = 0;
  static const djHalfSpace all = {{1, 0, 0}, 2}, touching = {{-1, 0, 0}, -1};
  assert_int_equal(dj_subtractSolid(&out, &in, 1, (const uint64_t[]){1}, &all), DJ_OK);
  assert_int_equal(out.n, 0);
  assert_int_equal(dj_subtractSolid(&out, &in, 1, (const uint64_t[]){1}, &touching), DJ_OK);
  assert_true(out.n == 1 && out.end[0] == 4);
  dj_freePolygons(&in);
  dj_freePolygons(&out);
}

DJT_MAIN(testPolygons, testCones, testCrossing, testCovered, testBoxes, testSets, testWall,
         testApart, testDerivatives, testMoved, testVolumes)
