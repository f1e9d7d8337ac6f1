// The search for a touch of implicit shapes that cannot fail: sharp and slender shapes of all
// sizes, from bad starts, against bounds that know nothing of it.

#include "common/implicit_case.h"
#include "common/test.h"
#include "shape/implicit_pair.h"

typedef struct Shapes {
  djtImplicit from[2];
  djImplicit s[2];
  double mem[2][DJT_NUMBERS + 64];
} Shapes;

static void fill(Shapes* p) {
  for (int i = 0; i < 2; i++) {
    const djcImplicitShape* g = &p->from[i].given;
    djError err = {""};
    djt_failIf(dj_makeImplicit(&p->s[i], p->mem[i], dj_implicitRow(g->family), g->nface,
                               p->from[i].size, &err),
               "%s", err.text);
  }
}

// The touch, the search from a bad start, and bounds of T that know of neither: from below what is
// inside of both shapes, from above the support functions along the normal.
static void checkTouch(const Shapes* p, const djImplicitPlace* place, djRng* rng) {
  const djImplicit *a = &p->s[0], *b = &p->s[1];
  djImplicitTouch t, far[2];
  djImplicitStart start;
  double u[3];
  int spent;
  assert_int_equal(dj_touchImplicit(&t, NULL, a, b, place), DJ_OK);
  assert_true(t.la > 0 && t.lb > 0 && t.error < 1e-8);
  djt_unitVector(u, rng);
  start.y = dju_scale3(a->outer, dju_load3(u));
  const double left = dj_searchImplicit(&start, &spent, a, b, place, dju_vec3(0, 0, 0)) / t.T;
  assert_true(left < 1e-11 && spent < 1000);
  assert_true(fabs(start.T - t.T) < 1e-12 * t.T);
  djImplicitPoint pa, pb;
  const double mu = 1 - 1e-10;
  a->row->eval(&pa, a, dju_scale3(mu, t.y));
  b->row->eval(&pb, b, dju_scale3(mu, t.y_b));
  assert_true(pa.phi < 0 && pb.phi < 0);
  assert_int_equal(dj_supportImplicit(&far[0], NULL, a, t.n), DJ_OK);
  const djVec3 m = dju_neg3(dju_mulMtV(place->R, t.n));
  assert_int_equal(dj_supportImplicit(&far[1], NULL, b, m), DJ_OK);
  const double above = (far[0].T + far[1].T) / dju_dot3(t.n, place->d);
  assert_true(fabs(above - t.T) < 1e-11 * a->outer + 1e-11 * b->outer);
}

// Sharp and slender, sizes up to 1:1e6.
static void testSearch(void) {
  static const double SCALE[4] = {1, 1e-3, 1, 1e3};
  djRng rng = {10};
  for (int k = 0; k < 3000; k++) {
    Shapes p;
    djtPose pose;
    double d[3];
    for (int i = 0; i < 2; i++) {
      djtImplicit* s = &p.from[i];
      const int side = djt_integer(&rng, 3);
      djt_implicitShape(s, djt_integer(&rng, DJT_FAMILIES), SCALE[djt_integer(&rng, 4)],
                        k % 3 ? 500 : 60, &rng);
      const int n = s->given.nsize, m = s->given.nface;
      for (int j = 0; j < m; j++) s->size[3 * j + side] *= 50;
      if (m == 0) {
        s->size[side < n - 1 ? side : 0] /= k % 5 ? 50 : 1;
        if (n == 5) s->size[1] = fmin(s->size[0], s->size[1]) * djt_uniform(&rng, 0.3, 1);
        if (!strncmp(s->given.family, "superelli", 9)) s->size[n - 1] = djt_uniform(&rng, 1, 16);
      }
    }
    fill(&p);
    djt_randomPose(&pose, 1, &rng);
    djt_unitVector(d, &rng);
    const djImplicitPlace place = {dju_quatToMat(dju_loadQuat(pose.quat)), dju_load3(d)};
    checkTouch(&p, &place, &rng);
  }
}

static void setOctahedron(djtImplicit* s, double squeeze) {
  static const double FACET[8][3] = {{1, 1, 1},    {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1},
                                     {-1, -1, -1}, {-1, 1, 1},  {1, -1, 1},  {1, 1, -1}};
  for (int i = 0; i < 8; i++) {
    for (int k = 0; k < 3; k++) s->size[3 * i + k] = FACET[i][k] * (k == 1 ? squeeze : 1);
    s->size[24 + i] = i < 4 ? 1 : 5.0 / 3;
  }
  s->size[32] = 1;
  s->size[33] = 500;
  s->given = (djcImplicitShape){"smooth_polytope", 8, 34, s->size};
}

// Thin shapes with beta 500, where Newton's method creeps from face to face.
static void testThin(void) {
  static const double A[5] = {0.58901331444031357, 0.19769771869893293, 0.012572537948287409,
                              0.012572537948287409, 500};
  static const double B[5] = {0.88484771597555567, 0.73116229461223448, 0.019845500943243551,
                              0.019845500943243551, 500};
  static const double PLACE[3][7] = {
      {2.7341635520568666, 1.236951865928815, 1.6693709898329603, 0.41382057040954845,
       0.58980705711386405, 0.4618941805122681, 0.51723682863220333},
      {-1.1002312264228415, 1.2796292551193691, 1.0103588930714085, -0.39257223443403988,
       0.53777919952048614, 0.51389200402746538, -0.5409210492402805},
      {-1.2577564496870683, 0.80609142538983325, 1.7185766555899642, -0.51166382852876391,
       0.47220102622594429, 0.55442353568437697, -0.45589566842172036}};
  djRng rng = {11};
  for (int k = 0; k < 3; k++) {
    Shapes p;
    setNumbers(&p.from[0], "truncated_cone", 5, A);
    setNumbers(&p.from[1], "truncated_cone", 5, B);
    if (k == 1) setOctahedron(&p.from[0], 39.339321144308357);
    if (k == 1) setOctahedron(&p.from[1], 43.419808069333037);
    if (k == 2) {
      const double size[4] = {0.028136214524408794, 0.65644534358082263, 0.98930622500721399, 16};
      setNumbers(&p.from[0], "superellipsoid", 4, size);
      setOctahedron(&p.from[1], 42.178435878761455);
    }
    fill(&p);
    const djVec3 r = dju_load3(PLACE[k]);
    const djImplicitPlace place = {dju_quatToMat(dju_loadQuat(PLACE[k] + 3)),
                                   dju_scale3(1 / dju_norm3(r), r)};
    checkTouch(&p, &place, &rng);
  }
}

DJT_MAIN(testSearch, testThin)
