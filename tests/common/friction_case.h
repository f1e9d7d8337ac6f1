// Random pairs with lagged friction whose data are smooth functions of start twists.

#ifndef DJ_TESTS_FRICTION_CASE_H_
#define DJ_TESTS_FRICTION_CASE_H_

#include "common/test.h"
#include "contact/friction/friction.h"

enum { MAXP = 40 };

// A pair whose lagged data are smooth functions of start twists.
typedef struct Problem {
  djPose now[2], start[2];       // at twist zero
  djVec3 ref[2];
  djShape shape[2];
  int n, na;
  bool half_space;
  double vertex[3 * MAXP];       // body coordinates
  double force[MAXP], dforce[12 * MAXP], bend[MAXP];
  double normal[3], dnormal[36], offset, doffset[12];
  djPairInput in;
  djFrictionLaw law;
} Problem;

// The problem at one pair of start and present twists, ready to be evaluated.
typedef struct Instance {
  djPose now[2], start[2];
  double point[3 * MAXP], force[MAXP];
  djLagged lagged;
  djDualPair dual[DJ_DUAL_POINTS];
  djPairInput in;
} Instance;

static uint64_t seed = 1;
static inline double uniform(void) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(seed >> 11) / 4503599627370496.0 - 1;
}
static inline djVec3 randomVec(double size) {
  double x = uniform(), y = uniform(), z = uniform();
  return dju_vec3(size * x, size * y, size * z);
}

static inline djMat3 rotation(djVec3 w) {
  double a = dju_norm3(w), half = 0.5 * a, s = a > 1e-8 ? sin(half) / a : 0.5;
  return dju_quatToMat((djQuat){cos(half), s * w.x, s * w.y, s * w.z});
}

// x -> ref + exp(w) (x - ref) + v, applied to a pose
static inline djPose twisted(djPose T, djVec3 ref, const double xi[6]) {
  djMat3 Q = rotation(dju_load3(xi));
  djVec3 arm = dju_mulMV(Q, dju_sub3(T.p, ref));
  return (djPose){dju_add3(dju_add3(ref, arm), dju_load3(xi + 3)), dju_mulMM(Q, T.R)};
}

static inline void makeInstance(Instance* X, const Problem* P, const double start[12],
                         const double now[12]) {
  const double zero[12] = {0};
  if (!start) start = zero;
  if (!now) now = zero;
  for (int k = 0; k < 2; k++) {
    X->now[k] = twisted(P->now[k], P->ref[k], now + 6 * k);
    X->start[k] = twisted(P->start[k], P->ref[k], start + 6 * k);
  }
  double square = 0, normal[3], offset = P->offset;
  for (int j = 0; j < 12; j++) square += start[j] * start[j], offset += P->doffset[j] * start[j];
  for (int i = 0; i < P->n; i++) {
    djVec3 x = dju_transform(&X->start[i >= P->na], dju_load3(P->vertex + 3 * i));
    dju_store3(X->point + 3 * i, x);
    X->force[i] = P->force[i] + P->bend[i] * square;
    for (int j = 0; j < 12; j++) X->force[i] += P->dforce[12 * i + j] * start[j];
  }
  for (int r = 0; r < 3; r++) {
    normal[r] = P->normal[r];
    for (int j = 0; j < 12; j++) normal[r] += P->dnormal[12 * r + j] * start[j];
  }
  djVec3 n = dju_load3(normal);
  n = dju_scale3(1 / dju_norm3(n), n);
  X->lagged = (djLagged){.n = P->n,
                         .na = P->na,
                         .point = X->point,
                         .force = X->force,
                         .normal = n,
                         .offset = offset,
                         .half_space = P->half_space,
                         .law = P->law,
                         .dual = X->dual,
                         .ndual = DJ_DUAL_POINTS};
  X->in = P->in;
  X->in.a = &P->shape[0], X->in.b = &P->shape[1];
  X->in.pose_a = &X->now[0], X->in.pose_b = &X->now[1];
  X->in.start_a = &X->start[0], X->in.start_b = &X->start[1];
  X->in.rate_a = X->in.start_a, X->in.rate_b = X->in.start_b;
  X->in.ref_a = P->ref[0], X->in.ref_b = P->ref[1];
}

// Fills the stack below with NaN, so that what is not set shows.
static inline void poisonStack(void) {
  volatile double x[8000];
  for (int i = 0; i < 8000; i++) x[i] = NAN;
  (void)x[0];
}

static inline djPairOutput evaluate(const Problem* P, const double start[12], const double now[12],
                             int flags) {
  Instance X;
  djPairOutput out;
  djFrictionState state = {0};
  memset(&out, 0, sizeof(out));
  makeInstance(&X, P, start, now);
  poisonStack();
  assert_int_equal(dj_frictionEval(&out, &state, &X.lagged, &X.in, flags), DJ_OK);
  return out;
}

// d gradient/d start twists; parts: 1 force, 2 normal, 4 offset are told
static inline void startJacobian(double jac[144], const Problem* P, int parts) {
  Instance X;
  djFrictionState state = {0};
  djLaggedJac given;
  double zero[12 * MAXP] = {0};
  memset(&given, 0, sizeof(given));
  makeInstance(&X, P, NULL, NULL);
  given.dforce = parts & 1 ? P->dforce : zero;
  if (parts & 2) memcpy(given.dnormal, P->dnormal, sizeof(given.dnormal));
  if (parts & 4) memcpy(given.doffset, P->doffset, sizeof(given.doffset));
  memset(jac, 0, 144 * sizeof(double));
  poisonStack();
  assert_int_equal(dj_frictionStart(jac, NULL, &state, &X.lagged, &given, &X.in), DJ_OK);
}

// speed: of the relative motion, m/s
static inline void makeProblem(Problem* P, int na, int nb, double eps, double speed, djArms arms,
                        djCap cap) {
  memset(P, 0, sizeof(*P));
  P->n = na + nb, P->na = na;
  P->in.h = 0.01, P->in.friction = 0.7;
  P->law = (djFrictionLaw){eps, arms, cap, 1};
  djVec3 n = randomVec(1);
  n = dju_scale3(1 / dju_norm3(n), n);
  dju_store3(P->normal, n);
  P->offset = 0.3 * uniform();
  for (int j = 0; j < 12; j++) {
    djVec3 d = randomVec(1);
    d = dju_madd3(d, -dju_dot3(n, d), n);
    P->dnormal[j] = d.x, P->dnormal[12 + j] = d.y, P->dnormal[24 + j] = d.z;
    P->doffset[j] = uniform();
  }
  for (int k = 0; k < 2; k++) {
    P->start[k] = (djPose){randomVec(0.5), rotation(randomVec(2))};
    P->ref[k] = dju_add3(P->start[k].p, randomVec(0.2));
    double xi[6];
    for (int j = 0; j < 6; j++) xi[j] = P->in.h * speed * uniform();
    P->now[k] = twisted(P->start[k], P->ref[k], xi);
    P->shape[k].bound = 1;
  }
  for (int i = 0; i < P->n; i++) {
    int k = i >= na;
    djVec3 x = randomVec(0.5);
    double lift = 0.05 * uniform() - (dju_dot3(n, x) + P->offset);
    x = dju_madd3(x, lift, n);
    dju_store3(P->vertex + 3 * i, dju_untransform(&P->start[k], x));
    P->force[i] = 3 + 2.5 * uniform();
    P->bend[i] = uniform();
    for (int j = 0; j < 12; j++) P->dforce[12 * i + j] = uniform();
  }
}

static inline double distance12(const double* a, const double* b, int n) {
  double s = 0;
  for (int i = 0; i < n; i++) s += (a[i] - b[i]) * (a[i] - b[i]);
  return sqrt(s);
}
static inline double norm12(const double* a, int n) {
  double s = 0;
  for (int i = 0; i < n; i++) s += a[i] * a[i];
  return sqrt(s);
}

// What there is beside sliding alike in all directions.
enum { PLAIN, TORSION, ROLLING, TURNING, TWO, ALL, NCONE };
static int cone_kind;
static inline djCone coneOf(int kind) {
  static const djCone cone[NCONE] = {[TORSION] = {.torsion = 0.1},
                                     [ROLLING] = {.rolling = {0.05, 0.05}},
                                     [TURNING] = {.torsion = 0.1, .rolling = {0.05, 0.08}},
                                     [TWO] = {.friction2 = 0.3},
                                     [ALL] = {1.1, 0.1, {0.2, 0.06}}};
  return cone[kind];
}

// A random case among many kinds; t counts. Some of those against half spaces are of capsules,
// whose axis is the first tangent.
static inline void makeCase(Problem* P, int t, double eps, double speed) {
  djArms arms = t & 1 ? DJ_ARMS_PAPER : DJ_ARMS_PLANE;
  djCap cap = t & 2 ? DJ_CAP_PAPER : DJ_CAP_MAGNITUDE;
  int na = 1 + t % 5, nb = 1 + (t / 5) % 4;
  if (na + nb < 3) na = 4;
  makeProblem(P, na, t % 3 == 2 ? 0 : nb, eps, speed, arms, cap);
  P->half_space = t % 3 == 2;
  P->in.cone = coneOf(cone_kind);
  P->shape[0].type = P->half_space && t % 2 ? DJ_CAPSULE : DJ_SPHERE;
  P->shape[1].type = P->half_space ? DJ_PLANE : DJ_SPHERE;
  if (P->shape[0].type != DJ_CAPSULE) return;
  static const double ends[3][2] = {{0.1, 0.4}, {-0.2, 0.1}, {0.3, 0.2}};
  P->shape[0].nvert = 2;
  for (int k = 0; k < 3; k++) P->shape[0].vert[k] = ends[k];
}

#endif  // DJ_TESTS_FRICTION_CASE_H_
