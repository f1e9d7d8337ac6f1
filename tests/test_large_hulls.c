// Distances of hulls of hundreds of vertices, as they are and eroded: always those of the supports
// along their own normals, which a scan of this test finds; and recovery from any overlap of them.

#include "common/pair_case.h"
#include "common/test.h"

typedef struct Worst {
  double claim, target;
  int cases, overlapping, unconverged;
} Worst;

static double power(double x, double e) { return copysign(pow(fabs(x), e), x); }

// Spheres, flat ones, and superellipsoids with corners or ridges, in axes of their own.
static void setMesh(TestShape* t, Random* r, int kind) {
  int rings = 12 + below(r, 12), n = 0;
  double size[3] = {uniform(r, 0.5, 1), uniform(r, 0.5, 1), uniform(r, 0.5, 1)};
  double e1 = kind < 2 ? 1 : uniform(r, 0.3, 1.6), e2 = kind < 2 ? 1 : uniform(r, 0.3, 1.6);
  double* vert = malloc(6 * (size_t)rings * (size_t)rings * sizeof(double));
  djMat3 R = dju_quatToMat(randomQuat(r));
  if (kind == 0) size[1] = size[2] = size[0];
  if (kind == 1) size[2] = uniform(r, 0.05, 0.3);
  for (int i = 0; i < rings; i++) {
    for (int j = 0; j < 2 * rings; j++) {
      double u = M_PI * (i + 0.5) / rings - M_PI / 2, w = M_PI * j / rings;
      djVec3 p = {size[0] * power(cos(u), e1) * power(cos(w), e2),
                  size[1] * power(cos(u), e1) * power(sin(w), e2), size[2] * power(sin(u), e1)};
      dju_store3(vert + 3 * n++, dju_mulMV(R, p));
    }
  }
  if (setHull(t, n, vert) != DJ_OK) abort();
  listHull(t, 0.03 * t->hull.inner);
  free(vert);
}

static double reachOf(const djShape* s, const djPose* pose, djVec3 d) {
  djVec3 local = dju_mulMtV(pose->R, d);
  double h = -INFINITY;
  for (int i = 0; i < s->nvert; i++) h = fmax(h, dju_dot3(local, dj_erodedVertex(s, 0, i)));
  if (s->curved) h += dj_curveReach(NULL, NULL, &s->curve, local);
  return h + s->radius + dju_dot3(d, pose->p);
}

static void note(double* worst, double x) {
  if (!(x <= *worst)) *worst = x;
}

// A claim: the gap along the normal is that of the supports.
static void checkClaim(Worst* w, const djDistance* d, const djShape* a, const djPose* pose_a,
                       const djShape* b, const djPose* pose_b) {
  double gap = -reachOf(a, pose_a, d->normal) - reachOf(b, pose_b, dju_neg3(d->normal));
  assert_true(fabs(dju_norm3(d->normal) - 1) < 1e-13);
  note(&w->claim, fabs(gap - d->gap));
  w->cases++;
  w->overlapping += d->gap < 0;
}

// A mesh, and as its partner a cylinder, an ellipsoid, a box or another mesh; from apart to
// concentric.
static void setPair(PairCase* c, Random* r, int kind, int partner) {
  double size[3];
  memset(c, 0, sizeof *c);
  setMesh(&c->shape[0], r, kind);
  for (int k = 0; k < 3; k++) size[k] = uniform(r, 0.2, 1.2);
  if (partner == DJ_MESH) {
    setMesh(&c->shape[1], r, below(r, 3));
  } else {
    setGeom(&c->shape[1], partner, size, 0, r);
  }
  for (int k = 0; k < 2; k++) {
    djVec3 p = randomWithin(r, 1.2);
    c->now[k] = c->start[k] = poseOf(p, randomQuat(r));
  }
  c->s = 0.01;
  c->L = c->K = 1;
  pairInput(c);
}

static const int partners[] = {DJ_CYLINDER, DJ_ELLIPSOID, DJ_BOX, DJ_MESH};

static void claims(void) {
  Random r = {31};
  Worst w = {0};
  for (int i = 0; i < 120; i++) {
    PairCase c;
    djDistance d;
    djDistanceCache cache = {0};
    setPair(&c, &r, i % 3, partners[i / 3 % 4]);
    double* mem[2];
    djShape out[2];
    for (int k = 0; k < 2; k++) mem[k] = malloc(3 * (size_t)c.shape[k].shape.npad * sizeof(double));
    for (int part = 0; part < 4; part++) { // not at all, little, much
      djErosion er = {.span = 1};
      for (int k = 0; k < 2; k++) {
        const djShape* s = &c.shape[k].shape;
        er.first_end[k] = er.e = part == 0 ? 0 : s->inner * uniform(&r, 0, part == 1 ? 0.03 : 0.95);
        dj_erodeShape(&out[k], mem[k], s, &er, k, false);
      }
      djStatus status = dj_distance(&d, &cache, &out[0], &c.now[0], 0, &out[1], &c.now[1], 0);
      assert_true(status >= 0);
      w.unconverged += status > 0;
      checkClaim(&w, &d, &out[0], &c.now[0], &out[1], &c.now[1]);
    }
    free(mem[0]);
    free(mem[1]);
    freeCase(&c);
  }
  print_message("%d distances, %d overlapping: claims off by %.1e, %d unconverged\n", w.cases,
                w.overlapping, w.claim, w.unconverged);
  assert_true(w.overlapping > w.cases / 4 && w.overlapping < w.cases);
  assert_true(w.claim < 1e-13);
  assert_int_equal(w.unconverged, 0);
}

// The erosion of a pair that is too near, and the distance of the shapes with it. False: it is not.
static bool erode(djStatus* status, djDistance* d, double* target, Worst* w, PairCase* c,
                  double range) {
  djErosion er;
  const djPairInput* in = pairInput(c);
  assert_true(dj_distance(d, NULL, in->a, in->start_a, 0, in->b, in->start_b, 0) >= 0);
  double g, gap = d->gap;
  *target = range * dj_recoveryGap(&g, gap / range);
  if (!(gap < DJ_RECOVERY_GAP * range)) return false;
  double* mem = malloc(6 * (size_t)(in->a->npad + in->b->npad) * sizeof(double));
  djShape out[2];
  *status = dj_solveErosion(&er, d, gap, in, range, mem);
  dj_erodeShape(&out[0], mem, in->a, &er, 0, false);
  dj_erodeShape(&out[1], mem + 3 * in->a->npad, in->b, &er, 1, false);
  assert_true(dj_distance(d, NULL, &out[0], in->start_a, 0, &out[1], in->start_b, 0) >= 0);
  checkClaim(w, d, &out[0], in->start_a, &out[1], in->start_b);
  free(mem);
  return true;
}

// Erosion gives the gap that it is to give, by supports of the eroded shapes that owe nothing to
// it.
static void recovers(void) {
  Random r = {32};
  Worst w = {0};
  double range = planeRange(0.01, 1), target;
  for (int i = 0; i < 120; i++) {
    PairCase c;
    djDistance d;
    djStatus status;
    setPair(&c, &r, i % 3, partners[i / 3 % 4]);
    if (erode(&status, &d, &target, &w, &c, range)) {
      assert_true(status >= 0);
      w.unconverged += status > 0;
      note(&w.target, fabs(d.gap - target));
    }
    freeCase(&c);
  }
  print_message("%d overlaps, %d left: claims off by %.1e, gaps by %.1e, %d unconverged\n", w.cases,
                w.overlapping, w.claim, w.target, w.unconverged);
  assert_true(w.cases > 60);
  assert_int_equal(w.overlapping, 0);
  assert_true(w.claim < 1e-13);
  assert_true(w.target < 1e-12);
  assert_int_equal(w.unconverged, 0);
}

// Lists that are taken for more erosion than they were made for make supports wrong here and there,
// so that the gap jumps. Then erosion says that its gap is another, and leaves the shapes apart.
static void jumps(void) {
  Random r = {33};
  Worst w = {0};
  double range = planeRange(0.01, 1), target;
  for (int i = 0; i < 120; i++) {
    PairCase c;
    djDistance d;
    djStatus status;
    setPair(&c, &r, i % 3, DJ_CYLINDER);
    c.shape[0].shape.list_reach = INFINITY;
    if (erode(&status, &d, &target, &w, &c, range)) {
      assert_true(status >= 0);
      w.unconverged += status > 0;
      if (status == DJ_OK) assert_true(fabs(d.gap - target) < 1e-11);
      if (status > 0) assert_true(d.gap > target);
    }
    freeCase(&c);
  }
  print_message("%d overlaps, %d unconverged\n", w.cases, w.unconverged);
  assert_true(w.unconverged > 0);
}

DJT_MAIN(claims, recovers, jumps)
