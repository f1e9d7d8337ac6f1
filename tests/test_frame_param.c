// Derivatives by parameters that place frames, and the recursions over bodies that they need.

#include "model/frame_param.h"

#include "common/kin_case.h"
#include "common/make_model.h"
#include "common/near.h"
#include "common/param_case.h"
#include "common/test.h"
#include "common/worst.h"

// phi = sum over bodies of g . c + sum_k h_k . a_k, by centres of mass and inertial axes.
typedef struct Function {
  djVec3 *g, *h;           // (nbody), (nbody x 3)
} Function;

static Function openFunction(const djModel* m, djRng* rng) {
  size_t nb = (size_t)m->nbody;
  Function f = {calloc(nb, sizeof(djVec3)), calloc(3 * nb, sizeof(djVec3))};
  assert_true(f.g && f.h);
  for (size_t b = 1; b < nb; b++) {
    f.g[b] = djt_vec3(rng, 1);
    for (size_t k = 0; k < 3; k++) f.h[3 * b + k] = djt_vec3(rng, 1);
  }
  return f;
}

static void closeFunction(Function* f) {
  free(f->g);
  free(f->h);
}

static double valueOf(const Function* f, const djModel* m, const djKin* kin) {
  double sum = 0;
  for (int b = 1; b < m->nbody; b++) {
    sum += dju_dot3(f->g[b], kin->com[b]);
    for (int k = 0; k < 3; k++) {
      sum += dju_dot3(f->h[3 * b + k], dju_column(&kin->principal[b], k));
    }
  }
  return sum;
}

// Its gradient C (nbody x 6) by twists of bodies. With twists x (nbody x 6), those of N x instead:
// w1 x (w2 x rho + v2) adds g times it.
static void cotangents(double* C, const Function* f, const djtKins* c, const djKin* kin,
                       const double* x) {
  for (int b = 1; b < c->m->nbody; b++) {
    djVec3 rho = dju_sub3(kin->com[b], c->ref[b]);
    djSix y = x ? dju_load6(x + 6 * b) : (djSix){{0, 0, 0}, {0, 0, 0}};
    djSix sum = {dju_cross3(rho, f->g[b]), f->g[b]};
    if (x) sum.w = dju_cross3(dju_add3(y.v, dju_cross3(y.w, rho)), f->g[b]);
    if (x) sum.v = dju_vec3(0, 0, 0);
    for (int k = 0; k < 3; k++) {
      djVec3 a = dju_column(&kin->principal[b], k);
      if (x) a = dju_cross3(y.w, a);
      sum.w = dju_add3(sum.w, dju_cross3(a, f->h[3 * b + k]));
    }
    dju_store6(C + 6 * b, sum);
  }
}

// ---- recursions -------------------------------------------------------------------------------

// Twists along z against differences of poses.
static void testTwists(void) {
  djRng rng = {1};
  double worst = 0, h = 1e-3;
  for (int trial = 0; trial < 8; trial++) {
    djModel* m = trial ? djt_randomModel(&rng, 5, 0) : djt_sampleModel(NULL);
    djtKins c = djt_openKins(m, &rng, 1);
    double *z = djt_room((size_t)m->nv), *x = djt_room(6 * (size_t)m->nbody);
    double* fd = djt_room(6 * (size_t)m->nbody);
    djt_uniforms(z, m->nv, &rng, -1, 1);
    x[0] = NAN;   // the world's is overwritten
    dj_bodyTwists(x, m, &c.kin[0], z);
    for (int i = 0; i < 4; i++) {
      dj_integratePos(c.q[1], m, c.q[0], z, h * djt_point[i]);
      djt_setKin(&c, 1);
      for (int b = 0; b < m->nbody; b++) {
        djVec3 axis = dju_column(&c.kin[1].principal[b], 1);
        dju_addTo3(fd + 6 * b, djt_weight[i] / h, c.kin[1].com[b]);
        dju_addTo3(fd + 6 * b + 3, djt_weight[i] / h, axis);
      }
    }
    for (int b = 0; b < m->nbody; b++) {
      djSix y = dju_load6(x + 6 * b);
      djVec3 v = dju_add3(y.v, dju_cross3(y.w, dju_sub3(c.kin[0].com[b], c.ref[b])));
      djVec3 turn = dju_cross3(y.w, dju_column(&c.kin[0].principal[b], 1));
      worst = djt_worst(worst, dju_norm3(dju_sub3(v, dju_load3(fd + 6 * b))));
      worst = djt_worst(worst, dju_norm3(dju_sub3(turn, dju_load3(fd + 6 * b + 3))));
    }
    free(z);
    free(x);
    free(fd);
    djt_closeKins(&c);
  }
  djt_below("twists", worst, 1e-9);
}

// Each body's sum is that of all below it, moved to its point; nothing reaches the world.
static void testGather(void) {
  djRng rng = {2};
  djtKins c = djt_openKins(djt_randomModel(&rng, 9, 0), &rng, 1);
  const djModel* m = c.m;
  int n = 6 * m->nbody;
  double *C = djt_room((size_t)n), *own = djt_room((size_t)n);
  for (int b = 0; b < m->nbody; b++) c.ref[b] = djt_vec3(&rng, 1);   // each its own
  djt_uniforms(C, n, &rng, -1, 1);
  memcpy(own, C, (size_t)n * sizeof(double));
  dj_gatherCotangents(C, m, c.ref);
  assert_memory_equal(C, own, 6 * sizeof(double));
  for (int b = 1; b < m->nbody; b++) {
    djSix sum = {{0, 0, 0}, {0, 0, 0}};
    for (int d = b; d < m->nbody; d++) {
      int up = d;
      while (up > b) up = m->body_parent[up];
      if (up != b) continue;
      djSix part = dju_load6(own + 6 * d);
      part.w = dju_add3(part.w, dju_cross3(dju_sub3(c.ref[d], c.ref[b]), part.v));
      sum = dju_add6(sum, part);
    }
    djSix error = dju_sub6(sum, dju_load6(C + 6 * b));
    djt_near(dju_norm3(error.w) + dju_norm3(error.v), 0, 1e-13);
  }
  free(C);
  free(own);
  djt_closeKins(&c);
}

// ---- derivatives ------------------------------------------------------------------------------

static const djField FIELD[] = {DJ_FIELD_BODY_POS, DJ_FIELD_BODY_QUAT, DJ_FIELD_JOINT_POS,
                                DJ_FIELD_JOINT_AXIS};
enum { NFIELD = sizeof FIELD / sizeof FIELD[0] };

typedef double (*Value)(const Function* f, const djtKins* c, double* x, double* C, const double* z);

static double plainValue(const Function* f, const djtKins* c, double* x, double* C,
                         const double* z) {
  (void)x, (void)C, (void)z;
  return valueOf(f, c->m, &c->kin[0]);
}

// z . dphi/dq by twists along z.
static double slopeValue(const Function* f, const djtKins* c, double* x, double* C,
                         const double* z) {
  double sum = 0;
  dj_bodyTwists(x, c->m, &c->kin[0], z);
  cotangents(C, f, c, &c->kin[0], NULL);
  for (int k = 6; k < 6 * c->m->nbody; k++) sum += x[k] * C[k];
  return sum;
}

// Error of grad by all entries of the fields; what takes no part has exact zeros.
static double gradError(double* grad, Value value, const Function* f, djtKins* c, double* x,
                        double* C, const double* z, int* nonzero) {
  double worst = 0, h = 1e-3, base[4], moved[4];
  djModel* m = c->m;
  for (int i = 0; i < NFIELD; i++) {
    for (int id = 0; id < (i < 2 ? m->nbody : m->njnt); id++) {
      djParam p;
      if (!dj_makeParam(&p, m, FIELD[i], id)) continue;
      for (int k = 0; k < 3; k++) {
        double fd = 0, got = dj_paramEntry(grad, m, FIELD[i], id)[k];
        assert_int_equal(dj_getParam(base, m, &p), DJ_OK);
        for (int s = 0; s < 4; s++) {
          memcpy(moved, base, sizeof moved);
          djt_moveParam(moved, m, &p, k, h * djt_point[s]);
          assert_int_equal(dj_writeParam(m, &p, moved, NULL), DJ_OK);
          djt_setKin(c, 0);
          fd += djt_weight[s] / h * value(f, c, x, C, z);
        }
        assert_int_equal(dj_writeParam(m, &p, base, NULL), DJ_OK);
        djt_setKin(c, 0);
        worst = djt_worst(worst, fabs(got - fd) / (1 + fabs(fd)));
        nonzero[i] += got != 0;
      }
    }
  }
  return worst;
}

static djModel* caseModel(djRng* rng, int trial) {
  return trial ? djt_randomModel(rng, 1 + trial % 6, 0) : djt_sampleModel(NULL);
}

static void testFirst(void) {
  djRng rng = {3};
  double worst = 0;
  int nonzero[NFIELD] = {0};
  for (int trial = 0; trial < 12; trial++) {
    djtKins c = djt_openKins(caseModel(&rng, trial), &rng, 1);
    Function f = openFunction(c.m, &rng);
    double *grad = djt_room(dj_paramGradSize(c.m)), *C = djt_room(6 * (size_t)c.m->nbody);
    const djConfig at = {&c.kin[0], c.q[0], c.ref, NULL};
    cotangents(C, &f, &c, &c.kin[0], NULL);
    dj_gatherCotangents(C, c.m, c.ref);
    dj_frameParams(grad, c.m, &at, C);
    worst = djt_worst(worst, gradError(grad, plainValue, &f, &c, NULL, NULL, NULL, nonzero));
    free(grad);
    free(C);
    closeFunction(&f);
    djt_closeKins(&c);
  }
  print_message("first derivatives %.1e\n", worst);
  for (int i = 0; i < NFIELD; i++) assert_true(nonzero[i] > 30);
  assert_true(worst < 1e-9);
}

static void testSecond(void) {
  djRng rng = {4};
  double worst = 0;
  int nonzero[NFIELD] = {0};
  for (int trial = 0; trial < 12; trial++) {
    djtKins c = djt_openKins(caseModel(&rng, trial), &rng, 1);
    Function f = openFunction(c.m, &rng);
    size_t n = 6 * (size_t)c.m->nbody;
    double *grad = djt_room(dj_paramGradSize(c.m)), *x = djt_room(n), *W = djt_room(n);
    double *C = djt_room(n), *z = djt_room((size_t)c.m->nv);
    djt_uniforms(z, c.m->nv, &rng, -1, 1);
    const djConfig at = {&c.kin[0], c.q[0], c.ref, NULL};
    dj_bodyTwists(x, c.m, &c.kin[0], z);
    cotangents(W, &f, &c, &c.kin[0], NULL);
    cotangents(C, &f, &c, &c.kin[0], x);
    dj_gatherCotangents(W, c.m, c.ref);
    dj_gatherCotangents(C, c.m, c.ref);
    dj_frameParamsSecond(grad, c.m, &at, C, W, x, z);
    worst = djt_worst(worst, gradError(grad, slopeValue, &f, &c, x, C, z, nonzero));
    double* list[] = {grad, x, W, C, z};
    for (int k = 0; k < 5; k++) free(list[k]);
    closeFunction(&f);
    djt_closeKins(&c);
  }
  print_message("second derivatives %.1e\n", worst);
  for (int i = 0; i < NFIELD; i++) assert_true(nonzero[i] > 30);
  assert_true(worst < 1e-9);
}

// ---- fields -----------------------------------------------------------------------------------

static djSix sumAbove(const djFramePlace* at) {
  return dju_add6(at->above[0], dju_crossWrench(at->above[1], at->below[0]));
}

// S_i (rate - r) is what S_i rate less axis_cross = S_i times r makes; gradients are added.
static void testAxisCross(void) {
  djRng rng = {5};
  djtKins c = djt_openKins(djt_randomModel(&rng, 6, 0), &rng, 1);
  size_t size = dj_paramGradSize(c.m), n = 6 * (size_t)c.m->nbody, nv = (size_t)c.m->nv;
  double *a = djt_room(size), *b = djt_room(size), *x[2], *C = djt_room(n);
  double *z[2], *less = djt_room(nv), *rest = djt_room(nv);
  for (int k = 0; k < 2; k++) {
    x[k] = djt_room(n);
    z[k] = djt_room(nv);
    djt_uniforms(x[k], (int)n, &rng, -1, 1);
    djt_uniforms(z[k], (int)nv, &rng, -1, 1);
  }
  djt_uniforms(C, (int)n, &rng, -1, 1);
  djt_uniforms(less, (int)nv, &rng, -1, 1);
  for (size_t i = 0; i < nv; i++) rest[i] = z[1][i] - less[i];
  const djConfig at = {&c.kin[0], c.q[0], c.ref, NULL};
  const djFrameField crossed = {.above = {x[0], x[1]}, .rate = {z[0], z[1]},
                                .axis_cross = {NULL, c.kin[0].S}, .axis_cross_rate = {NULL, less},
                                .below = {C}, .dual = sumAbove};
  const djFrameField plain = {.above = {x[0], x[1]}, .rate = {z[0], rest}, .below = {C},
                              .dual = sumAbove};
  dj_frameParamsOf(a, c.m, &at, 1, &crossed);
  dj_frameParamsOf(b, c.m, &at, 1, &plain);
  for (size_t k = 0; k < size; k++) djt_near(a[k], b[k], 1e-12);
  assert_true(djt_largest(a, (int)size) > 0.1);
  dj_frameParamsOf(a, c.m, &at, 1, &plain);
  for (size_t k = 0; k < size; k++) djt_near(a[k], 2 * b[k], 1e-12);
  double* list[] = {a, b, x[0], x[1], C, z[0], z[1], less, rest};
  for (size_t k = 0; k < sizeof list / sizeof list[0]; k++) free(list[k]);
  djt_closeKins(&c);
}

DJT_MAIN(testTwists, testGather, testFirst, testSecond, testAxisCross)
