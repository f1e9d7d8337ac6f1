// What the mean distance leaves out by the nearest triangles: a bound that holds, and what is gone
// through by how finely two touching balls are cut.

#include "common/test.h"
#include "common/triangle_along.h"
#include "common/triangle_case.h"
#include "contact/triangles/mean_distance.h"
#include "contact/triangles/mesh_distance.h"

// log D is no more than the bound, which is not much more than that: of touching and of far meshes,
// by planes and by nearest points.
static void testBound(void) {
  djRng rng = {11};
  int near = 0, none = 0;
  double worst = 0;
  for (int i = 0; i < 300; i++) {
    TreeMesh A = someTree(&rng, i % NSOLID), B = someTree(&rng, i / NSOLID % NSOLID);
    djMeshDistance gap;
    djMeanDistance d;
    djPose T = randomPlace(&rng, djt_uniform(&rng, 1, 6));
    for (int k = 0; k < i % 4; k++) { // nearer and nearer
      dj_meshDistance(&gap, &A.tree, &B.tree, &T);
      if (gap.gap > 0) T.p = dju_madd3(T.p, 0.99 * gap.gap, gap.normal);
    }
    djMeanPair p = {.a = &A.tree, .b = &B.tree, .place = T, .near = i % 2};
    const double faint = dj_firstFaint(&p), most = -(faint + DJ_MEAN_FAINT) / DJ_MEAN_Q;
    if (dj_meanDistance(&d, &p) == DJ_OK && faint > -INFINITY) {
      near++;
      assert_true(d.L < most + 1e-12);
      if (most - d.L > worst) worst = most - d.L;
    } else {
      none++;
    }
    freeTree(&A);
    freeTree(&B);
  }
  assert_true(worst < log(4));
  assert_true(near > 100 && none > 20);
}

// Triangles of two nodes in the order of leaves, apart by the gap that is told.
static void testNearTriangles(void) {
  djRng rng = {12};
  for (int i = 0; i < 100; i++) {
    TreeMesh A = someTree(&rng, i % NSOLID), B = someTree(&rng, i / NSOLID % NSOLID);
    const djPose T = randomPlace(&rng, djt_uniform(&rng, 1.5, 6));
    djMeshDistance gap, one;
    for (int part = 1; part <= 2; part++) {
      djVec3 v[2][3];
      djMeshDistance best;
      dj_meshDistance(&best, &A.tree, &B.tree, &T);
      dj_nearTriangles(&gap, &A.tree, &B.tree, &T, 1.0 / part);
      if (!(best.gap > 0)) continue;
      for (int k = 0; k < 3; k++) {
        v[0][k] = dju_transform(&T, dj_treeVertex(&A.tree, gap.tri_a, k));
        v[1][k] = dj_treeVertex(&B.tree, gap.tri_b, k);
      }
      dj_triangleDistance(&one, v[0], v[1], INFINITY);
      assert_true(fabs(one.gap - gap.gap) < 1e-12);
      assert_true(gap.gap >= best.gap && gap.gap <= part * best.gap);
    }
    freeTree(&A);
    freeTree(&B);
  }
}

// Pairs of nodes and planes of two balls that touch grow by less than triangles do.
static void testTouchingBalls(void) {
  double visited[2] = {0, 0}, exact[2] = {0, 0};
  enum { FIRST = 1, LAST = 4 };
  for (int k = FIRST; k <= LAST; k += LAST - FIRST) {
    SolidMesh s = makeBallSolid(k);
    TreeMesh t = makeTree(&s);
    djRng rng = {13};
    for (int i = 0; i < 10; i++) {
      djMeshDistance gap = {.gap = 1};
      djMeanDistance d;
      djPose T = randomPlace(&rng, 0);
      T.p = dju_vec3(2.2, 0, 0);
      for (int n = 0; n < 60 && gap.gap > 1.01e-4; n++) {
        dj_meshDistance(&gap, &t.tree, &t.tree, &T);
        T.p.x -= gap.gap - 1e-4;
      }
      djMeanPair p = {.a = &t.tree, .b = &t.tree, .place = T};
      assert_int_equal(dj_meanDistance(&d, &p), DJ_OK);
      visited[k == LAST] += (double)p.visited;
      exact[k == LAST] += (double)p.exact;
    }
    freeTree(&t);
    freeSolid(&s);
  }
  const double finer = log(4) * (LAST - FIRST);
  assert_true(log(visited[1] / visited[0]) < 0.7 * finer);
  assert_true(exact[1] < 10 * 60);
}

DJT_MAIN(testBound, testNearTriangles, testTouchingBalls)
