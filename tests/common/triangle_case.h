// Meshes in trees of balls, for tests of contact between triangles.

#ifndef DJ_TESTS_TRIANGLE_CASE_H_
#define DJ_TESTS_TRIANGLE_CASE_H_

#include "common/random.h"
#include "common/solid_mesh.h"
#include "contact/triangles/mean_distance.h"
#include "math/so3.h"

typedef struct TreeMesh {
  djSphereTree tree;
  djSphereNode* node;
  double *tri, *vert;
  int nvert;
} TreeMesh;

static inline TreeMesh makeTree(const SolidMesh* s) {
  const size_t n = (size_t)s->ntri, m = (size_t)s->nvert;
  TreeMesh t = {.nvert = s->nvert};
  t.node = calloc(2 * n, sizeof *t.node);
  t.tri = calloc(3 * n, sizeof *t.tri);
  t.vert = calloc(3 * m, sizeof *t.vert);
  for (size_t i = 0; i < 3 * m; i++) t.vert[i % 3 * m + i / 3] = s->vert[i];
  t.tree = (djSphereTree){s->ntri, t.node, t.tri, {t.vert, t.vert + m, t.vert + 2 * m}};
  if (dj_growSphereTree(t.node, t.tri, s->tri, s->ntri, t.tree.vert) != DJ_OK) abort();
  dj_fitSphereTree(t.node, &t.tree);
  return t;
}

static inline void freeTree(TreeMesh* t) {
  free(t->node);
  free(t->tri);
  free(t->vert);
}

// Every triangle in four, new vertices in the middles of edges; of a ball on it.
static inline SolidMesh splitSolid(const SolidMesh* s, bool ball) {
  SolidMesh out = allocSolid(s->nvert + 3 * s->ntri / 2, 4 * s->ntri);
  int *middle = calloc((size_t)s->nvert * (size_t)s->nvert, sizeof *middle), n = s->nvert;
  memcpy(out.vert, s->vert, 3 * (size_t)s->nvert * sizeof(double));
  for (int t = 0; t < s->ntri; t++) {
    int m[3];
    const int* v = s->tri + 3 * t;
    for (int k = 0; k < 3; k++) {
      const int i = v[k], j = v[(k + 1) % 3], low = i < j ? i : j, high = i < j ? j : i;
      int* at = &middle[low * s->nvert + high];
      if (*at == 0) {
        *at = n;
        double norm = 0;
        for (int c = 0; c < 3; c++) {
          const double x = 0.5 * (s->vert[3 * i + c] + s->vert[3 * j + c]);
          out.vert[3 * n + c] = x;
          norm += x * x;
        }
        for (int c = 0; c < 3 && ball; c++) out.vert[3 * n + c] /= sqrt(norm);
        n++;
      }
      m[k] = *at;
    }
    const int four[12] = {v[0], m[0], m[2], v[1], m[1], m[0], v[2], m[2], m[1], m[0], m[1], m[2]};
    memcpy(out.tri + 12 * t, four, sizeof four);
  }
  free(middle);
  return out;
}

static inline SolidMesh makeOctahedron(void) {
  SolidMesh s = allocSolid(6, 8);
  const int tri[24] = {0, 2, 4, 2, 1, 4, 1, 3, 4, 3, 0, 4, 2, 0, 5, 1, 2, 5, 3, 1, 5, 0, 3, 5};
  memcpy(s.tri, tri, sizeof tri);
  for (int i = 0; i < 6; i++) s.vert[3 * i + i / 2] = i % 2 ? -1 : 1;
  return s;
}

// A ball of 8 4^k triangles, or a box of 12 4^k.
static inline SolidMesh makeSplit(SolidMesh s, int k, bool ball) {
  for (int i = 0; i < k; i++) {
    SolidMesh finer = splitSolid(&s, ball);
    freeSolid(&s);
    s = finer;
  }
  return s;
}
static inline SolidMesh makeBallSolid(int k) { return makeSplit(makeOctahedron(), k, true); }
static inline SolidMesh makeSplitBox(double a, double b, double c, int k) {
  return makeSplit(makeBoxSolid(a, b, c), k, false);
}

static inline djPose randomPlace(djRng* rng, double r) {
  double q[4], u[3];
  djt_unitQuat(q, rng);
  djt_unitVector(u, rng);
  return (djPose){dju_scale3(r, dju_load3(u)), dju_quatToMat(dju_loadQuat(q))};
}

// x -> c + exp(e w)(x - c) + e v
static inline djPose movePlace(const djPose* T, djVec3 c, const double dir[6], double e) {
  const djMat3 R = dju_quatToMat(dju_expQuat(dju_scale3(e, dju_load3(dir))));
  const djVec3 arm = dju_mulMV(R, dju_sub3(T->p, c));
  return (djPose){dju_madd3(dju_add3(c, arm), e, dju_load3(dir + 3)), dju_mulMM(R, T->R)};
}

#endif // DJ_TESTS_TRIANGLE_CASE_H_
