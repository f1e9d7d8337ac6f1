// The mean distance of triangle meshes: trees, planes between triangles, the recursion against a
// plain one, derivatives, blends, scales, and how little it depends on how a surface is cut.

#include "common/test.h"
#include "common/triangle_case.h"
#include "common/worst.h"
#include "contact/triangles/half_distance.h"
#include "contact/triangles/mesh_distance.h"
#include "contact/triangles/near_points.h"
#include "contact/triangles/sphere_tree.h"
#include "contact/triangles/square.h"
#include "contact/triangles/warm_planes.h"

#include "common/triangle_along.h"

// ------------------------------------------ trees ----------------------------------------------

static void testTrees(void) {
  djRng rng = {1};
  for (int kind = 0; kind < NSOLID; kind++) {
    TreeMesh m = someTree(&rng, kind);
    const djSphereTree* t = &m.tree;
    for (int i = 0; i < 2 * t->ntri - 1; i++) {
      const djSphereNode* node = &t->node[i];
      double area = 0, square = 0, most = 0;
      djVec3 sum = {0, 0, 0}, x = dju_load3(node->x);
      for (int k = (int)node->first; k < (int)(node->first + node->n); k++) {
        djVec3 v[3], e[2];
        for (int c = 0; c < 3; c++) v[c] = dj_treeVertex(t, k, c);
        e[0] = dju_sub3(v[1], v[0]);
        e[1] = dju_sub3(v[2], v[0]);
        const double a = 0.5 * dju_norm3(dju_cross3(e[0], e[1]));
        area += a;
        for (int c = 0; c < 3; c++) {
          const djVec3 arm = dju_sub3(v[c], x), edge = dju_sub3(v[(c + 1) % 3], x);
          sum = dju_madd3(sum, a / 3, v[c]);
          // a second moment is that of the middles of edges
          const djVec3 mid = dju_scale3(0.5, dju_add3(arm, edge));
          square += a / 3 * dju_dot3(mid, mid);
          most = djt_worst(most, dju_norm3(arm));
        }
      }
      assert_true(fabs(node->m - area) < 1e-12 * area);
      assert_true(dju_norm3(dju_sub3(dju_scale3(1 / area, sum), x)) < 1e-12);
      assert_true(fabs(node->V - square / area) < 1e-12);
      assert_true(fabs(node->R - most) < 1e-12);
    }
    freeTree(&m);
  }
}

// By vertices, of numbers of all nodes with random weights.
static double weighted(const djSphereTree* t, const djSphereGrad* w) {
  double sum = 0;
  for (int i = 0; i < 2 * t->ntri - 1; i++) {
    const djSphereNode* n = &t->node[i];
    for (int k = 0; k < 3; k++) sum += w[i].x[k] * n->x[k];
    sum += w[i].R * n->R + w[i].V * n->V + w[i].m * n->m;
  }
  return sum;
}

static void testTreeParams(void) {
  djRng rng = {2};
  for (int kind = 0; kind < NSOLID; kind++) {
    TreeMesh m = someTree(&rng, kind);
    const size_t nnode = 2 * (size_t)m.tree.ntri - 1, nv = 3 * (size_t)m.nvert;
    djSphereGrad *w = malloc(nnode * sizeof *w), *by = malloc(nnode * sizeof *by);
    double *out = calloc(nv, sizeof *out), *dir = malloc(nv * sizeof *dir), sum = 0, y[2];
    djt_uniforms((double*)w, (int)(6 * nnode), &rng, -1, 1);
    memcpy(by, w, nnode * sizeof *w);
    djt_uniforms(dir, (int)nv, &rng, -1, 1);
    double* const vert[3] = {out, out + m.nvert, out + 2 * m.nvert};
    dj_sphereTreeParams(vert, by, &m.tree);
    for (size_t i = 0; i < nv; i++) sum += out[i] * dir[i];
    for (int s = 0; s < 2; s++) {
      for (size_t i = 0; i < nv; i++) m.vert[i] += (s ? -2e-5 : 1e-5) * dir[i];
      dj_fitSphereTree(m.node, &m.tree);
      y[s] = weighted(&m.tree, w);
    }
    assert_true(fabs((y[0] - y[1]) / 2e-5 - sum) < 1e-7 * (1 + fabs(sum)));
    free(w);
    free(by);
    free(out);
    free(dir);
    freeTree(&m);
  }
}

// ------------------------------------------ planes ---------------------------------------------

static double sumOf(const djVec3 a[3], const djVec3 b[3], double l, djVec3 n, double o) {
  const double room = 1 - dju_norm3(n);
  double sum = DJ_TRIANGLE_C / (l * l * room * room);
  bool good = room > 0;
  for (int k = 0; k < 3; k++) {
    const double xa = -dju_dot3(n, a[k]) - o, xb = dju_dot3(n, b[k]) + o;
    good = good && xa > 0 && xb > 0;
    sum += 1 / (xa * xa) + 1 / (xb * xb);
  }
  return good ? sum : INFINITY;
}

// No plane about the one that was found has less.
static void testPlanes(void) {
  djRng rng = {3};
  int apart = 0;
  for (int i = 0; i < 2000; i++) {
    djVec3 a[3], b[3];
    const double far = djt_uniform(&rng, 0, 2);
    for (int k = 0; k < 3; k++) {
      double v[6];
      djt_uniforms(v, 6, &rng, -1, 1);
      a[k] = dju_load3(v);
      b[k] = dju_add3(dju_load3(v + 3), dju_vec3(far, 0, 0));
    }
    djTrianglePlane p = {.p = 2, .c = DJ_TRIANGLE_C};
    djVec3 u;
    const double l = 1.3, gap = dj_partTriangles(&u, a, b, INFINITY);
    const djStatus status = dj_findTrianglePlane(&p, a, b, l);
    assert_int_equal(status, gap > 0 ? DJ_OK : DJ_OVERLAP);
    if (gap <= 0) continue;
    apart++;
    const double o = l * (p.o - dju_dot3(p.n, p.z)), least = sumOf(a, b, l, p.n, o);
    assert_true(fabs(least * l * l - p.P) < 1e-9 * p.P);
    for (int k = 0; k < 20; k++) {
      double d[4];
      djt_uniforms(d, 4, &rng, -1, 1);
      const double e = pow(10, -1 - k % 4) * fmin(gap, 1);
      const djVec3 n = dju_madd3(p.n, e, dju_load3(d));
      assert_true(sumOf(a, b, l, n, o + e * d[3]) >= least * (1 - 1e-12));
    }
    assert_true(p.iterations < 40);
  }
  assert_true(apart > 500);
}

// From a plane near by less is to be done, and the same is found.
static void testResumed(void) {
  djRng rng = {31};
  long cold = 0, warm = 0, n = 0;
  for (int i = 0; i < 2000; i++) {
    djVec3 a[3], b[3];
    for (int k = 0; k < 3; k++) {
      double v[6];
      djt_uniforms(v, 6, &rng, -1, 1);
      a[k] = dju_load3(v);
      b[k] = dju_add3(dju_load3(v + 3), dju_vec3(1.5, 0, 0));
    }
    djTrianglePlane p = {.p = 1 + i % 2, .c = DJ_TRIANGLE_C};
    if (dj_findTrianglePlane(&p, a, b, 1.3) != DJ_OK) continue;
    djTrianglePlane again = p, moved = p, found = {.p = p.p, .c = p.c};
    assert_true(dj_resumeTrianglePlane(&again, a, b, 1.3));
    assert_true(again.iterations <= 2 && fabs(again.P - p.P) <= 1e-13 * p.P);
    for (int k = 0; k < 3; k++) a[k] = dju_madd3(a[k], 1e-4, dju_vec3(k, 1, -1));
    const djStatus status = dj_findTrianglePlane(&found, a, b, 1.3);
    if (!dj_resumeTrianglePlane(&moved, a, b, 1.3)) continue; // the plane of before is in a's way
    assert_int_equal(status, DJ_OK);
    assert_true(fabs(moved.P - found.P) < 1e-12 * found.P);
    cold += found.iterations;
    warm += moved.iterations;
    n++;
  }
  assert_true(n > 1500 && 2 * warm < cold);
}

// A pair that keeps its planes within a step has the same values and derivatives; those of other
// triangles and steps are not taken.
static void testWarm(void) {
  djRng rng = {32};
  djWarmPlanes* warm = calloc(1, DJ_WARM_SIZE(DJ_NWARM));
  warm->n = DJ_NWARM;
  for (int i = 0; i < 20; i++) {
    TreeMesh A = someTree(&rng, i % NSOLID), B = someTree(&rng, i / NSOLID % NSOLID);
    djPose T = randomPlace(&rng, djt_uniform(&rng, 3, 4));
    warm->step++;
    warm->stride = (unsigned)B.tree.ntri;
    for (int k = 0; k < 4; k++) {
      djMeanPair p = {.a = &A.tree, .b = &B.tree, .place = T, .order = 2}, q = p;
      djMeanDistance d, e;
      q.warm = warm;
      q.start = k == 2;
      const djStatus status = dj_meanDistance(&d, &p);
      assert_int_equal(dj_meanDistance(&e, &q), status);
      if (status < 0) break;
      assert_true(fabs(d.L - e.L) < 1e-12);
      for (int m = 0; m < 6; m++) assert_true(fabs(d.g[m] - e.g[m]) < 1e-10);
      for (int m = 0; m < DJ_PACKED6; m++) assert_true(fabs(d.H[m] - e.H[m]) < 1e-8);
      T.p.x += 1e-3 * k;
    }
    freeTree(&A);
    freeTree(&B);
  }
  djWarmPlane* plane = dj_warmPlane(warm, 3, 5, false);
  *plane = (djWarmPlane){.step = warm->step, .a = 3, .b = 5};
  assert_true(dj_isWarm(warm, plane, 3, 5));
  assert_false(dj_isWarm(warm, plane, 5, 3));
  warm->step++;
  assert_false(dj_isWarm(warm, plane, 3, 5));
  assert_null(dj_warmPlane(NULL, 3, 5, false));
  free(warm);
}

// With room for all pairs of triangles, at the start and now, none takes the place of another.
static void testWarmPlaces(void) {
  enum { NA = 7, NB = 5, N = 2 * NA * NB };
  djWarmPlanes* warm = calloc(1, DJ_WARM_SIZE(N));
  warm->step = 1;
  warm->n = N;
  warm->stride = NB;
  for (int k = 0; k < N; k++) {
    djWarmPlane* plane = dj_warmPlane(warm, k / 2 / NB, k / 2 % NB, k % 2 == 0);
    assert_true(plane >= warm->plane && plane < warm->plane + N && plane->step == 0);
    plane->step = 1;
  }
  free(warm);
}

// Nearest points: their distance, by parts of corners, across the ways in which they may move.
static void testNearPoints(void) {
  djRng rng = {44};
  int kind[3] = {0};
  for (int i = 0; i < 300; i++) {
    TreeMesh A = someTree(&rng, i % NSOLID), B = someTree(&rng, i / NSOLID % NSOLID);
    const djMeanPair p = {
        .a = &A.tree, .b = &B.tree, .place = randomPlace(&rng, djt_uniform(&rng, 0.5, 3))};
    const djSphereNode *a = A.node, *b = B.node;
    while (a->right > 0) a = djt_uniform(&rng, 0, 1) < 0.5 ? a + 1 : A.node + (int)a->right;
    while (b->right > 0) b = djt_uniform(&rng, 0, 1) < 0.5 ? b + 1 : B.node + (int)b->right;
    djVec3 v[2][3];
    for (int k = 0; k < 3; k++) {
      v[0][k] = dju_transform(&p.place, dj_treeVertex(p.a, (int)a->first, k));
      v[1][k] = dj_treeVertex(p.b, (int)b->first, k);
    }
    djMeshDistance d;
    djNearPoints n;
    dj_triangleDistance(&d, v[0], v[1], INFINITY);
    assert_int_equal(dj_leafPoints(&n, &p, a, b), d.gap > 0);
    if (d.gap > 0) {
      const djVec3 e = dju_sub3(n.x[0], n.x[1]);
      assert_true(fabs(dju_norm3(e) - d.gap) < 1e-12);
      for (int s = 0; s < 2; s++) {
        djVec3 x = n.x[s];
        for (int k = 0; k < 3; k++) x = dju_madd3(x, -n.part[s][k], v[s][k]);
        assert_true(dju_norm3(x) < 1e-12);
      }
      for (int k = 0; k < n.n; k++) {
        assert_true(fabs(dju_dot3(e, n.way[k])) < 1e-10 * dju_norm3(n.way[k]));
      }
      kind[n.n]++;
    }
    freeTree(&A);
    freeTree(&B);
  }
  for (int k = 0; k < 3; k++) assert_true(kind[k] > 10);
}

// Of small triangles rho is their distance, so that D_ij is D_c.
static void testSmallTriangles(void) {
  djVec3 a[3], b[3];
  djRng rng = {4};
  for (int k = 0; k < 3; k++) {
    double v[6];
    djt_uniforms(v, 6, &rng, -1e-7, 1e-7);
    a[k] = dju_load3(v);
    b[k] = dju_add3(dju_load3(v + 3), dju_vec3(0.3, 0.4, 1.2));
  }
  djTrianglePlane p = {.p = 2, .c = DJ_TRIANGLE_C};
  double L[3];
  assert_int_equal(dj_findTrianglePlane(&p, a, b, 0.7), DJ_OK);
  dj_leafDistance(L, p.P, 0.7, 0);
  assert_true(fabs(L[0] - log(1.3)) < 1e-6);
}

// ------------------------------------------ the recursion --------------------------------------

// As mean_distance.h has it, in distances.
static double plainDistance(const TreeMesh* A, const TreeMesh* B, const djPose* T, int i, int j) {
  const djSphereNode *a = &A->node[i], *b = &B->node[j];
  const double r = dju_norm3(dju_sub3(dju_transform(T, dju_load3(a->x)), dju_load3(b->x)));
  const double S = a->R + b->R, Dc = sqrt(r * r + a->V + b->V);
  if (r >= 2 * S) return Dc;
  int ca[2] = {i + 1, (int)a->right}, cb[2] = {j + 1, (int)b->right};
  const int na = a->right > 0 ? 2 : 1, nb = b->right > 0 ? 2 : 1;
  if (na == 1) ca[0] = i;
  if (nb == 1) cb[0] = j;
  double Dch = 0;
  if (na * nb == 1) {
    djVec3 v[6];
    djTrianglePlane p = {.p = 2, .c = DJ_TRIANGLE_C};
    for (int k = 0; k < 3; k++) {
      v[k] = dju_transform(T, dj_treeVertex(&A->tree, (int)a->first, k));
      v[3 + k] = dj_treeVertex(&B->tree, (int)b->first, k);
    }
    if (dj_findTrianglePlane(&p, v, v + 3, S) < 0) return 0;
    const double P = p.P / (S * S);
    const double rho = pow(pow(P / 24, 1 / 3.0) - pow(S, -2 / 3.0), -1.5);
    Dch = pow(rho, 12 / 14.0) * pow(rho * rho + a->V + b->V, 2 / 28.0);
  } else {
    for (int k = 0; k < na * nb; k++) {
      const int c = ca[k / nb], d = cb[k % nb];
      Dch += A->node[c].m * B->node[d].m * pow(plainDistance(A, B, T, c, d), -14);
    }
    Dch = pow(Dch / (a->m * b->m), -1 / 14.0);
  }
  const double t = r / S - 1, phi = t > 0 ? t * t * t * (6 * t * t - 15 * t + 10) : 0;
  assert_true(Dch <= Dc * (1 + 1e-12));
  return (1 - phi) * Dch + phi * Dc;
}

static void testValues(void) {
  djRng rng = {5};
  for (int i = 0; i < 200; i++) {
    TreeMesh A = someTree(&rng, i % NSOLID), B = someTree(&rng, i / NSOLID % NSOLID);
    const djPose T = randomPlace(&rng, djt_uniform(&rng, 0.5, 6));
    djMeanPair p = {.a = &A.tree, .b = &B.tree, .place = T};
    djMeanDistance d;
    const djStatus status = dj_meanDistance(&d, &p);
    const double D = plainDistance(&A, &B, &T, 0, 0);
    assert_int_equal(status, D > 0 ? DJ_OK : DJ_OVERLAP);
    assert_true(D > 0 ? fabs(d.L - log(D)) < 1e-10 : d.L == -INFINITY);
    freeTree(&A);
    freeTree(&B);
  }
}

// A ball comes down on a plate: what is left out is not seen, and the nearer it is the more is.
static void testFaint(void) {
  SolidMesh solid[2] = {makeBallSolid(2), makeSplitBox(1, 1, 0.2, 2)};
  TreeMesh A = makeTree(&solid[0]), B = makeTree(&solid[1]);
  long all = 0;
  for (double gap = 3; gap > 1e-5; gap *= 0.3) {
    const djPose T = {.p = {0.11, 0.07, 1.2 + gap}, .R = dju_eye3()};
    djMeanPair p = {.a = &A.tree, .b = &B.tree, .place = T};
    djMeanDistance d;
    assert_int_equal(dj_meanDistance(&d, &p), DJ_OK);
    assert_true(fabs(d.L - log(plainDistance(&A, &B, &T, 0, 0))) < 1e-13 * (1 + fabs(d.L)));
    if (p.exact > all) all = p.exact;
    if (gap < 1e-2) assert_true(10 * p.exact < all && 2 * p.visited < 12000);
  }
  for (int k = 0; k < 2; k++) freeSolid(&solid[k]);
  freeTree(&A);
  freeTree(&B);
}

// Meshes of another unit of length.
static void testScale(void) {
  djRng rng = {6};
  for (int i = 0; i < 20; i++) {
    TreeMesh A = someTree(&rng, i % NSOLID), B = someTree(&rng, (i + 1) % NSOLID);
    djPose T = randomPlace(&rng, 2.5);
    djMeanPair p = {.a = &A.tree, .b = &B.tree, .place = T};
    djMeanDistance d[2];
    const djStatus status = dj_meanDistance(&d[0], &p);
    for (int k = 0; k < 3 * A.nvert; k++) A.vert[k] *= 1e3;
    for (int k = 0; k < 3 * B.nvert; k++) B.vert[k] *= 1e3;
    dj_fitSphereTree(A.node, &A.tree);
    dj_fitSphereTree(B.node, &B.tree);
    p.place.p = dju_scale3(1e3, T.p);
    assert_int_equal(dj_meanDistance(&d[1], &p), status);
    if (status == DJ_OK) assert_true(fabs(d[1].L - d[0].L - log(1e3)) < 1e-10);
    freeTree(&A);
    freeTree(&B);
  }
}

// ------------------------------------------ derivatives ----------------------------------------

static void testDerivatives(void) {
  djRng rng = {7};
  double worst[2] = {0, 0};
  int sharp = 0;
  for (int i = 0; i < 600; i++) { // by planes, then by nearest points
    TreeMesh A = someTree(&rng, i % NSOLID), B = someTree(&rng, i / NSOLID % NSOLID);
    Along w = {.pair = {.a = &A.tree, .b = &B.tree, .near = i >= 300, .order = 2}};
    w.pair.place = randomPlace(&rng, djt_uniform(&rng, 0.8, 6));
    double c[3];
    djt_uniforms(c, 3, &rng, -1, 1);
    w.pair.c = dju_load3(c);
    djt_uniforms(w.dir, 6, &rng, -1, 1);
    checkAlong(worst, &w);
    if (i >= 300) sharp += w.sharp;
    freeTree(&A);
    freeTree(&B);
  }
  assert_true(sharp > 500); // of 600
  assert_true(worst[0] == 0 && worst[1] == 0);
}

static void testHalfSpaces(void) {
  djRng rng = {8};
  double worst[2] = {0, 0};
  for (int i = 0; i < 60; i++) {
    TreeMesh A = someTree(&rng, i % NSOLID);
    double *part = malloc((size_t)A.nvert * sizeof *part), c[3], n[3], least;
    for (int k = 0; k < A.nvert; k++) part[k] = 1.0 / A.nvert;
    djt_uniforms(c, 3, &rng, -1, 1);
    djt_unitVector(n, &rng);
    Along w = {.plane = true};
    w.half = (djHalfPair){.nvert = A.nvert,
                          .weight = part,
                          .place = randomPlace(&rng, 1),
                          .c = dju_load3(c),
                          .normal = dju_load3(n),
                          .order = 2};
    for (int k = 0; k < 3; k++) w.half.vert[k] = A.tree.vert[k];
    djMeanDistance d;
    dj_halfDistance(&d, &least, &w.half);
    w.half.offset = least - djt_uniform(&rng, 0.01, 2);
    djt_uniforms(w.dir, 6, &rng, -1, 1);
    checkAlong(worst, &w);
    w.half.offset = least + 1e-9;
    assert_int_equal(dj_halfDistance(&d, &least, &w.half), DJ_OVERLAP);
    free(part);
    freeTree(&A);
  }
  assert_true(worst[0] == 0 && worst[1] == 0);
}

// Second derivatives on both sides of where blends of nodes begin and end.
static void testBlends(void) {
  djRng rng = {9};
  int thresholds = 0;
  while (thresholds < 200) {
    TreeMesh A = someTree(&rng, thresholds % NSOLID), B = someTree(&rng, 1 + thresholds % 3);
    djMeanPair p = {.a = &A.tree, .b = &B.tree, .place = randomPlace(&rng, 0), .order = 2};
    const int i = djt_integer(&rng, 2 * A.tree.ntri - 1),
              j = djt_integer(&rng, 2 * B.tree.ntri - 1);
    const djSphereNode *a = &A.node[i], *b = &B.node[j];
    // so that these nodes are at the threshold
    const double r = (1 + thresholds % 2) * (a->R + b->R);
    double u[3];
    djt_unitVector(u, &rng);
    const djVec3 x = dju_mulMV(p.place.R, dju_load3(a->x)), way = dju_load3(u);
    djMeanDistance d[2];
    djStatus status = DJ_OK;
    for (int s = 0; s < 2 && status == DJ_OK; s++) {
      const djVec3 to = dju_madd3(dju_load3(b->x), r * (1 + (s ? 1e-9 : -1e-9)), way);
      p.place.p = dju_sub3(to, x);
      status = dj_meanDistance(&d[s], &p);
    }
    if (status == DJ_OK) {
      thresholds++;
      const double g = djt_largest(d[0].g, 6), H = djt_largest(d[0].H, DJ_PACKED6);
      assert_true(fabs(d[0].L - d[1].L) < 1e-8 * (1 + g * r));
      for (int k = 0; k < 6; k++) assert_true(fabs(d[0].g[k] - d[1].g[k]) < 1e-6 * (g + 1));
      for (int k = 0; k < DJ_PACKED6; k++) {
        assert_true(fabs(d[0].H[k] - d[1].H[k]) < 1e-6 * (H + g * g + 1));
      }
    }
    freeTree(&A);
    freeTree(&B);
  }
}

// ------------------------------------------ forces ---------------------------------------------

// Along the line of the centres, whatever the shapes, where balls about them are apart.
static void testRepels(void) {
  djRng rng = {10};
  for (int i = 0; i < 500; i++) {
    TreeMesh A = someTree(&rng, i % NSOLID), B = someTree(&rng, i / NSOLID % NSOLID);
    djPose T = randomPlace(&rng, 1);
    const djVec3 u = T.p, x = dju_mulMV(T.R, dju_load3(A.node->x));
    const double r = (A.node->R + B.node->R) * djt_uniform(&rng, 1, 3);
    T.p = dju_sub3(dju_madd3(dju_load3(B.node->x), r, u), x);
    djMeanPair p = {.a = &A.tree, .b = &B.tree, .place = T, .order = 1};
    djMeanDistance d;
    assert_int_equal(dj_meanDistance(&d, &p), DJ_OK);
    assert_true(dju_dot3(dju_load3(d.g + 3), u) > 0);
    freeTree(&A);
    freeTree(&B);
  }
}

// Faces, edges and corners 1e-8 of their size apart: log D falls by up to 12/14 of log gap.
static void testNear(void) {
  SolidMesh box = makeBoxSolid(0.5, 0.5, 0.5);
  TreeMesh A = makeTree(&box), B = makeTree(&box);
  freeSolid(&box);
  const double turn[4][3] = {{0, 0, 0},
                             {0, 0, 0.3},
                             {0.7853981633974483, 0, 0},
                             {0.7853981633974483, 0.6154797086703873, 0}};
  for (int k = 0; k < 4; k++) {
    for (double gap = 1e-2; gap > 0.9e-8; gap *= 0.1) {
      djPose T = {.R = dju_eye3()};
      for (int c = 0; c < 3; c++) {
        const djVec3 w =
            dju_vec3(c == 0 ? turn[k][0] : 0, c == 1 ? turn[k][1] : 0, c == 2 ? turn[k][2] : 0);
        T.R = dju_mulMM(dju_quatToMat(dju_expQuat(w)), T.R);
      }
      double low = INFINITY;
      for (int i = 0; i < 8; i++) {
        const djVec3 v = {A.tree.vert[0][i], A.tree.vert[1][i], A.tree.vert[2][i]};
        low = fmin(low, dju_mulMV(T.R, v).z);
      }
      T.p = dju_vec3(0.1, 0.05, 0.5 + gap - low);
      djMeanPair p = {.a = &A.tree, .b = &B.tree, .place = T, .c = T.p, .order = 2};
      djMeanDistance d;
      assert_true(dj_meanDistance(&d, &p) == DJ_OK);
      assert_true(isfinite(d.L) && isfinite(djt_largest(d.g, 6)));
      assert_true(isfinite(djt_largest(d.H, DJ_PACKED6)));
      const double slope = d.g[5] * gap;
      if (gap < 1e-4) assert_true(slope > 0.7 && slope < 12 / 14.0 + 1e-3);
    }
  }
  freeTree(&A);
  freeTree(&B);
}

// The gap, along a line, at which dU/dgap of (1 + D^-1/2)^2 is `force`.
static double gapOfForce(const TreeMesh* A, const TreeMesh* B, djPose T, djVec3 u, double force) {
  double low = 0, high = 3;
  for (int i = 0; i < 40; i++) {
    const double r = 0.5 * (low + high);
    djMeanPair p = {.a = &A->tree, .b = &B->tree, .place = T, .order = 1};
    djMeanDistance d;
    p.place.p = dju_scale3(r, u);
    const bool apart = dj_meanDistance(&d, &p) >= 0;
    const double e = exp(-0.5 * d.L), f = e * (1 + e) * dju_dot3(dju_load3(d.g + 3), u);
    if (apart && f < force)
      high = r;
    else
      low = r;
  }
  return high;
}

// Boxes of 192, 768 triangles as of 3072: in the gap, not the distance of centres.
static void testCuts(void) {
  djRng rng = {11};
  TreeMesh t[3];
  for (int k = 0; k < 3; k++) {
    SolidMesh s = makeSplitBox(1, 0.2, 0.1, 2 + k);
    t[k] = makeTree(&s);
    freeSolid(&s);
  }
  for (int i = 0; i < 4; i++) {
    const djPose T = randomPlace(&rng, 1);
    const double near = gapOfForce(&t[0], &t[0], T, T.p, 1e12); // where they touch
    double gap[3];
    for (int k = 0; k < 3; k++) gap[k] = gapOfForce(&t[k], &t[k], T, T.p, 1e4) - near;
    for (int k = 0; k < 2; k++) assert_true(gap[k] > 0.7 * gap[2] && gap[k] < 1.3 * gap[2]);
  }
  for (int k = 0; k < 3; k++) freeTree(&t[k]);
}

// ------------------------------------------ cost -----------------------------------------------

// A sheet of n x n squares of two triangles.
static SolidMesh makeGrid(int n) {
  SolidMesh s = allocSolid((n + 1) * (n + 1), 2 * n * n);
  for (int i = 0; i < s.nvert; i++) {
    s.vert[3 * i] = i % (n + 1);
    s.vert[3 * i + 1] = i / (n + 1);
    s.vert[3 * i + 2] = 0;
  }
  for (int i = 0; i < n * n; i++) {
    const int v = i % n + (n + 1) * (i / n);
    const int tri[6] = {v, v + 1, v + n + 2, v, v + n + 2, v + n + 1};
    memcpy(s.tri + 6 * i, tri, sizeof tri);
  }
  return s;
}

// The paper's A.2: sheets near each other; for each triangle the same number of pairs.
static void testGrids(void) {
  double least[2] = {INFINITY, INFINITY}, most[2] = {0, 0};
  for (int n = 8; n <= 64; n *= 2) {
    SolidMesh s = makeGrid(n);
    TreeMesh t = makeTree(&s);
    const djPose T = {.p = {0, 0, 1e-6}, .R = dju_eye3()};
    djMeanPair p = {.a = &t.tree, .b = &t.tree, .place = T};
    djMeanDistance d;
    assert_int_equal(dj_meanDistance(&d, &p), DJ_OK);
    const double each = 2.0 * s.ntri, count[2] = {(double)p.visited / each, (double)p.exact / each};
    for (int k = 0; k < 2; k++) {
      least[k] = fmin(least[k], count[k]);
      most[k] = fmax(most[k], count[k]);
    }
    freeTree(&t);
    freeSolid(&s);
  }
  for (int k = 0; k < 2; k++) assert_true(least[k] > 0.8 * most[k]);
  assert_true(most[0] < 14 && most[1] < 7);
}

DJT_MAIN(testTrees, testTreeParams, testPlanes, testNearPoints, testSmallTriangles, testResumed,
         testWarm, testWarmPlaces, testValues, testScale, testFaint, testDerivatives,
         testHalfSpaces, testBlends, testRepels, testNear, testCuts, testGrids)
