// The potential of triangles as the paper has it: layered trees, the recursion against a plain one,
// its properties, derivatives, half spaces.

#include "common/near.h"
#include "common/triangle_case.h"
#include "common/worst.h"
#include "contact/triangles/dual.h"
#include "contact/triangles/mesh_distance.h"
#include "contact/triangles/packed.h"
#include "contact/triangles/triangle_sum.h"
#include "contact/triangles/triangle_way.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/triangle_along.h"

static TreeMesh layeredTree(djRng* rng, int kind) {
  TreeMesh t = someTree(rng, kind);
  assert_int_equal(dj_layerSphereTree(t.node, &t.tree, t.nvert), DJ_OK);
  return t;
}

static djMeanPair sumPair(const TreeMesh* A, const TreeMesh* B, djPose T, double eps) {
  return (djMeanPair){
      .a = &A->tree, .b = &B->tree, .place = T, .sums = true, .length_scale = 0.8, .eps = eps};
}

// ------------------------------------------ trees ----------------------------------------------

static void testTrees(void** state) {
  (void)state;
  djRng rng = {31};
  for (int kind = 0; kind < NSOLID; kind++) {
    TreeMesh m = layeredTree(&rng, kind);
    for (int i = 0; i < 2 * m.tree.ntri - 1; i++) {
      const djSphereNode* node = &m.node[i];
      djVec3 sum = {0, 0, 0}, x = dju_load3(node->x);
      double most = 0;
      int n = 0;
      for (int v = 0; v < m.nvert; v++) {
        bool mine = false;
        for (int k = 3 * (int)node->first; k < 3 * (int)(node->first + node->n); k++) {
          mine = mine || (int)m.tri[k] == v;
        }
        if (!mine) continue;
        const djVec3 at = {m.tree.vert[0][v], m.tree.vert[1][v], m.tree.vert[2][v]};
        sum = dju_add3(sum, at);
        most = fmax(most, dju_norm3(dju_sub3(at, x)));
        n++;
      }
      assert_true(dju_norm3(dju_sub3(dju_scale3(1.0 / n, sum), x)) < 1e-13);
      const int right = (int)node->right;
      if (right > 0) {
        double R = 0;
        for (int c = 0; c < 2; c++) {
          const djSphereNode* child = &m.node[c ? right : i + 1];
          R = fmax(R, dju_norm3(dju_sub3(x, dju_load3(child->x))) + child->R);
        }
        assert_true(fabs(node->R - R) < 1e-14 && R > most - 1e-14);
      } else {
        assert_true(fabs(node->R - most) < 1e-15);
      }
    }
    freeTree(&m);
  }
}

static void testTreeParams(void** state) {
  (void)state;
  djRng rng = {32};
  for (int kind = 0; kind < NSOLID; kind++) {
    TreeMesh m = layeredTree(&rng, kind);
    const size_t nnode = 2 * (size_t)m.tree.ntri - 1, nv = 3 * (size_t)m.nvert;
    djSphereGrad *w = malloc(nnode * sizeof *w), *by = malloc(nnode * sizeof *by);
    double *out = calloc(nv, sizeof *out), *dir = malloc(nv * sizeof *dir), sum = 0, y[2] = {0, 0};
    djt_uniforms((double*)w, (int)(6 * nnode), &rng, -1, 1);
    memcpy(by, w, nnode * sizeof *w);
    djt_uniforms(dir, (int)nv, &rng, -1, 1);
    double* const vert[3] = {out, out + m.nvert, out + 2 * m.nvert};
    assert_int_equal(dj_layeredTreeParams(vert, by, &m.tree, m.nvert), DJ_OK);
    for (size_t i = 0; i < nv; i++) sum += out[i] * dir[i];
    for (int s = 0; s < 2; s++) {
      for (size_t i = 0; i < nv; i++) m.vert[i] += (s ? -2e-6 : 1e-6) * dir[i];
      assert_int_equal(dj_layerSphereTree(m.node, &m.tree, m.nvert), DJ_OK);
      for (size_t i = 0; i < nnode; i++) {
        for (int k = 0; k < 3; k++) y[s] += w[i].x[k] * m.node[i].x[k];
        y[s] += w[i].R * m.node[i].R;
      }
    }
    assert_true(fabs((y[0] - y[1]) / 2e-6 - sum) < 1e-6 * (1 + fabs(sum)));
    free(w);
    free(by);
    free(out);
    free(dir);
    freeTree(&m);
  }
}

// ------------------------------------------ values ---------------------------------------------

// As the paper has it, in the unit of length; infinite where triangles touch. *least: of (P_ch -
// P_c)/P_c over pairs whose balls are apart.
static double plainSum(double* least, const djMeanPair* p, int i, int j) {
  const djSphereNode *a = &p->a->node[i], *b = &p->b->node[j];
  const djVec3 d = dju_sub3(dju_transform(&p->place, dju_load3(a->x)), dju_load3(b->x));
  const double r = dju_norm3(d), d1 = a->R + b->R, t = (r - d1) / (p->eps * d1);
  const double Pc = 12 * pow(1 + 1 / sqrt(r / p->length_scale), 2);
  if (t >= 1) return Pc;
  int ca[2], cb[2];
  const int na = dj_childrenOf(ca, p->a, i), nb = dj_childrenOf(cb, p->b, j);
  double Pch = 0;
  if (na * nb == 1) {
    djVec3 v[6];
    djTrianglePlane plane = {.p = 1, .c = 12};
    for (int k = 0; k < 3; k++) {
      v[k] = dju_transform(&p->place, dj_treeVertex(p->a, (int)a->first, k));
      v[3 + k] = dj_treeVertex(p->b, (int)b->first, k);
    }
    if (dj_findTrianglePlane(&plane, v, v + 3, p->length_scale) < 0) return INFINITY;
    Pch = plane.P;
  } else {
    for (int k = 0; k < na * nb; k++) Pch += plainSum(least, p, ca[k / nb], cb[k % nb]);
  }
  if (t >= 0) *least = fmin(*least, (Pch - Pc) / Pc);
  const double phi = t > 0 ? t * t * t * (6 * t * t - 15 * t + 10) : 0;
  return (1 - phi) * Pch + phi * Pc;
}

// Property 3.1: positive, and infinite where triangles touch alone; and P_c <= P.
static void testValues(void** state) {
  (void)state;
  djRng rng = {33};
  int touch = 0;
  double least = INFINITY;
  for (int i = 0; i < 300; i++) {
    TreeMesh A = layeredTree(&rng, i % NSOLID), B = layeredTree(&rng, i / NSOLID % NSOLID);
    djMeanPair p = sumPair(&A, &B, randomPlace(&rng, djt_uniform(&rng, 0.5, 6)), i % 2 ? 0.1 : 1);
    djMeanDistance d;
    bool apart = true;
    const djStatus status = dj_triangleSum(&d, &p);
    for (int k = 0; k < A.tree.ntri * B.tree.ntri && apart; k++) {
      djVec3 a[3], b[3], u;
      for (int c = 0; c < 3; c++) {
        a[c] = dju_transform(&p.place, dj_treeVertex(&A.tree, k / B.tree.ntri, c));
        b[c] = dj_treeVertex(&B.tree, k % B.tree.ntri, c);
      }
      apart = dj_partTriangles(&u, a, b, INFINITY) > 0;
    }
    const double P = plainSum(&least, &p, 0, 0);
    touch += !apart;
    assert_int_equal(status, apart ? DJ_OK : DJ_OVERLAP);
    assert_true(apart ? d.L > 0 && fabs(d.L / P - 1) < 1e-10 : d.L == INFINITY && P == INFINITY);
    freeTree(&A);
    freeTree(&B);
  }
  assert_true(touch > 20 && touch < 250);
  assert_true(least > 0 && least < 1);
}

// Property 3.3: where a plane parts two meshes they are driven apart across it, at any distance.
static void testRepels(void** state) {
  (void)state;
  djRng rng = {34};
  for (int i = 0; i < 400; i++) {
    TreeMesh A = layeredTree(&rng, i % NSOLID), B = layeredTree(&rng, i / NSOLID % NSOLID);
    djPose T = randomPlace(&rng, 1);
    const djVec3 u = T.p;
    double low = INFINITY, high = -INFINITY;
    for (int v = 0; v < A.nvert; v++) {
      const djVec3 x = {A.tree.vert[0][v], A.tree.vert[1][v], A.tree.vert[2][v]};
      low = fmin(low, dju_dot3(u, dju_mulMV(T.R, x)));
    }
    for (int v = 0; v < B.nvert; v++) {
      const djVec3 x = {B.tree.vert[0][v], B.tree.vert[1][v], B.tree.vert[2][v]};
      high = fmax(high, dju_dot3(u, x));
    }
    const double gap = pow(10, djt_uniform(&rng, -4, 4));
    double side[3];
    djt_uniforms(side, 3, &rng, -2, 2);
    T.p = dju_load3(side);
    T.p = dju_madd3(T.p, high - low + gap - dju_dot3(u, T.p), u);
    djMeanPair p = sumPair(&A, &B, T, i % 2 ? 0.1 : 1);
    p.order = 1;
    djMeanDistance d;
    assert_int_equal(dj_triangleSum(&d, &p), DJ_OK);
    assert_true(dju_dot3(dju_load3(d.g + 3), u) < 0);
    freeTree(&A);
    freeTree(&B);
  }
}

// ------------------------------------------ derivatives ----------------------------------------

static void testDerivatives(void** state) {
  (void)state;
  djRng rng = {35};
  double worst[2] = {0, 0};
  int sharp = 0;
  for (int i = 0; i < 600; i++) { // by planes, then by nearest points
    TreeMesh A = layeredTree(&rng, i % NSOLID), B = layeredTree(&rng, i / NSOLID % NSOLID);
    Along w = {.pair =
                   sumPair(&A, &B, randomPlace(&rng, djt_uniform(&rng, 1, 6)), i % 2 ? 0.5 : 1)};
    w.pair.order = 2;
    w.pair.near = i >= 300;
    double c[3];
    djt_uniforms(c, 3, &rng, -1, 1);
    w.pair.c = dju_load3(c);
    djt_uniforms(w.dir, 6, &rng, -1, 1);
    djMeshDistance d;
    dj_meshDistance(&d, &A.tree, &B.tree, &w.pair.place);
    w.gap = d.gap;
    checkAlong(worst, &w);
    if (i >= 300) sharp += w.sharp;
    freeTree(&A);
    freeTree(&B);
  }
  assert_true(sharp > 425); // of 600
  assert_true(worst[0] == 0 && worst[1] == 0);
}

// Property 3.2: second derivatives on both sides of where blends of nodes begin and end.
static void testBlends(void** state) {
  (void)state;
  djRng rng = {36};
  int thresholds = 0;
  while (thresholds < 200) {
    TreeMesh A = layeredTree(&rng, thresholds % NSOLID), B = layeredTree(&rng, 1 + thresholds % 3);
    djMeanPair p = sumPair(&A, &B, randomPlace(&rng, 0), 0.3);
    p.order = 2;
    const djSphereNode* a = &A.node[djt_integer(&rng, 2 * A.tree.ntri - 1)];
    const djSphereNode* b = &B.node[djt_integer(&rng, 2 * B.tree.ntri - 1)];
    const double r = (1 + 0.3 * (thresholds % 2)) * (a->R + b->R);
    double u[3];
    djt_unitVector(u, &rng);
    const djVec3 x = dju_mulMV(p.place.R, dju_load3(a->x));
    djMeanDistance d[2];
    djStatus status = DJ_OK;
    for (int s = 0; s < 2 && status == DJ_OK; s++) {
      const djVec3 to = dju_madd3(dju_load3(b->x), r * (1 + (s ? 1e-10 : -1e-10)), dju_load3(u));
      p.place.p = dju_sub3(to, x);
      status = dj_triangleSum(&d[s], &p);
    }
    if (status == DJ_OK) {
      thresholds++;
      const double H = djt_largest(d[0].H, DJ_PACKED6);
      assert_true(fabs(d[0].L / d[1].L - 1) < 1e-7);
      for (int k = 0; k < DJ_PACKED6; k++) assert_true(fabs(d[0].H[k] - d[1].H[k]) < 1e-5 * H);
    }
    freeTree(&A);
    freeTree(&B);
  }
}

static void testHalfSpaces(void** state) {
  (void)state;
  djRng rng = {37};
  double worst[2] = {0, 0};
  for (int i = 0; i < 60; i++) {
    TreeMesh A = layeredTree(&rng, i % NSOLID);
    double *part = malloc((size_t)A.nvert * sizeof *part), c[3], n[3], least, sum = 0;
    djt_uniforms(part, A.nvert, &rng, 0.5, 2);
    djt_uniforms(c, 3, &rng, -1, 1);
    djt_unitVector(n, &rng);
    Along w = {.plane = true, .pair = {.sums = true}};
    w.half = (djHalfPair){.nvert = A.nvert,
                          .weight = part,
                          .place = randomPlace(&rng, 1),
                          .c = dju_load3(c),
                          .normal = dju_load3(n),
                          .length_scale = 0.8,
                          .order = 2};
    for (int k = 0; k < 3; k++) w.half.vert[k] = A.tree.vert[k];
    djMeanDistance d;
    dj_halfSum(&d, &least, &w.half);
    w.gap = djt_uniform(&rng, 0.05, 2);
    w.half.offset = least - w.gap;
    djt_uniforms(w.dir, 6, &rng, -1, 1);
    checkAlong(worst, &w);
    assert_int_equal(dj_halfSum(&d, &least, &w.half), DJ_OK);
    for (int k = 0; k < A.nvert; k++) {
      sum += part[k] * 12 * pow(1 + sqrt(0.8 / dj_heightOf(&w.half, k)), 2);
    }
    assert_true(fabs(d.L / sum - 1) < 1e-12);
    w.half.offset += least + 1e-9;
    assert_int_equal(dj_halfSum(&d, &least, &w.half), DJ_OVERLAP);
    assert_true(d.L == INFINITY);
    free(part);
    freeTree(&A);
  }
  assert_true(worst[0] == 0 && worst[1] == 0);
}

// Dual numbers beside differences along their changes, and packed matrices beside full ones.
static djDual1 mixed(djDual1 a, djDual1 b) {
  const djDual1 root = dj_dualRoot(dj_times(a, b)), power = dj_exponential(dj_scaled(-0.5, b));
  const djDualVec v = dj_timesVec(dj_over(power, a), (djDualVec){{1, 2, 3}, {0, 0, 0}});
  return dj_minus(dj_shifted(root, 2), (djDual1){v.x.y, v.d.y});
}

static void testParts(void** state) {
  (void)state;
  djRng rng = {12};
  for (int k = 0; k < 20; k++) {
    const djDual1 a = {djt_uniform(&rng, 0.5, 2), djt_uniform(&rng, -1, 1)};
    const djDual1 b = {djt_uniform(&rng, 0.5, 2), djt_uniform(&rng, -1, 1)};
    const double e = 1e-5;
    const double up = mixed((djDual1){a.x + e * a.d, 0}, (djDual1){b.x + e * b.d, 0}).x;
    const double down = mixed((djDual1){a.x - e * a.d, 0}, (djDual1){b.x - e * b.d, 0}).x;
    djt_near(mixed(a, b).d, (up - down) / (2 * e), 1e-8);
    double g[6], h[6], packed[DJ_PACKED6] = {0}, twice[DJ_PACKED6] = {0};
    djt_uniforms(g, 6, &rng, -1, 1);
    djt_uniforms(h, 6, &rng, -1, 1);
    dj_addOuter(packed, 2, g);
    dj_addOuters(packed, -1, g, h);
    dj_addPacked(twice, 2, packed);
    for (int i = 0; i < 36; i++) {
      const int r = i / 6, c = i % 6;
      const double full = 2 * g[r] * g[c] - g[r] * h[c] - h[r] * g[c];
      djt_near(twice[dj_packedAt(r, c)], 2 * full, 1e-14);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testTrees),       cmocka_unit_test(testTreeParams),
      cmocka_unit_test(testValues),      cmocka_unit_test(testRepels),
      cmocka_unit_test(testDerivatives), cmocka_unit_test(testBlends),
      cmocka_unit_test(testHalfSpaces),  cmocka_unit_test(testParts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
