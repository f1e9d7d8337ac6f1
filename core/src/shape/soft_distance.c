// With h_A, h_B the support functions (shape/soft.h) in world axes, x_a, x_b the points whose
// normals are n on A and -n on B, and r = x_b - x_a, the gap along the unit vector n is
//
//   g(n) = -h_A(n) - h_B(-n) = n . r(n),
//
// and its derivatives on the sphere, with E (3 x 2) a basis across n and C = C_A(n) + C_B(-n),
//
//   gradient E^T r,   Hessian -M,   M = E^T C E + g I.
//
// The signed distance is its maximum, where r = g n: n is normal to both surfaces there. C is at
// least rho_A + rho_B, so that M is positive definite and the maximum one and only, an analytic
// function of the poses, for every gap above -(rho_A + rho_B): the cores inside the balls are then
// apart. Deeper overlaps have several maxima; that next to the least depth of the cores (EPA) is
// taken, and what it is may jump where two depths are equal.
//
// Newton's method n' = n + E M^-1 E^T r with a line search starts from the normal of the exact
// cores. Where that is slow (t far below the size, a vertex about to take over), it starts from the
// maximum for softer shapes.

#include "shape/soft_distance.h"

#include "shape/distance.h"

#include <float.h>
#include <string.h>

#define MAX_STEPS 40

// A pair at one normal.
typedef struct Place {
  djVec3 n, E[2];
  djSoftPoint a, b;       // world axes; a.x, b.x relative to a's position
  double g, slope[2], M[3];   // M: 00 01 11
} Place;

// The point of a shape whose normal is n, world axes, relative to its pose's position.
static void support(djSoftPoint* p, const djSoft* soft, const djMat3* R, djVec3 n) {
  dj_softSupport(p, soft, dju_mulMtV(*R, n));
  djMat3 T;   // R^T
  for (int i = 0; i < 9; i++) T.m[i] = R->m[3 * (i % 3) + i / 3];
  p->x = dju_mulMV(*R, p->x);
  p->C = dju_mulMM(dju_mulMM(*R, p->C), T);
}

static void visit(Place* at, djVec3 n, const djSoft* a, const djPose* pose_a, const djSoft* b,
                  const djPose* pose_b) {
  djVec3 place = dju_sub3(pose_b->p, pose_a->p);
  at->n = n;
  dj_across(at->E, n);
  support(&at->a, a, &pose_a->R, n);
  support(&at->b, b, &pose_b->R, dju_neg3(n));
  at->g = dju_dot3(n, place) - at->a.h - at->b.h;
  at->b.x = dju_add3(at->b.x, place);
  djVec3 r = dju_sub3(at->b.x, at->a.x);
  for (int i = 0; i < 2; i++) at->slope[i] = dju_dot3(at->E[i], r);
  for (int k = 0; k < 3; k++) {
    djVec3 e = at->E[k / 2];
    djVec3 Ce = dju_add3(dju_mulMV(at->a.C, e), dju_mulMV(at->b.C, e));
    at->M[k] = dju_dot3(at->E[(k + 1) / 2], Ce) + (k == 1 ? 0 : at->g);
  }
}

// step = M^-1 slope, with eigenvalues of M that are not positive turned round.
static void ascent(double step[2], const Place* at) {
  double mean = 0.5 * (at->M[0] + at->M[2]), half = 0.5 * (at->M[0] - at->M[2]);
  double radius = hypot(half, at->M[1]), angle = 0.5 * atan2(at->M[1], half);
  double value[2] = {mean + radius, mean - radius}, c = cos(angle), s = sin(angle);
  double axis[2][2] = {{c, s}, {-s, c}};
  double least = 1e-12 * (fabs(value[0]) + fabs(value[1])) + DBL_MIN;
  step[0] = step[1] = 0;
  for (int k = 0; k < 2; k++) {
    double along = axis[k][0] * at->slope[0] + axis[k][1] * at->slope[1];
    along /= fmax(fabs(value[k]), least);
    for (int i = 0; i < 2; i++) step[i] += along * axis[k][i];
  }
}

// From *at to the maximum. scale: size of the numbers in r.
static djStatus climb(Place* at, int* iterations, double scale, const djSoft* a,
                      const djPose* pose_a, const djSoft* b, const djPose* pose_b) {
  for (int end = *iterations + MAX_STEPS; *iterations < end; ++*iterations) {
    double step[2], size = hypot(at->slope[0], at->slope[1]);
    if (size <= 4 * DBL_EPSILON * scale) return DJ_OK;
    ascent(step, at);
    double gain = step[0] * at->slope[0] + step[1] * at->slope[1], turn = hypot(step[0], step[1]);
    double fraction = fmin(1, 0.5 / turn);
    // So near that the gap no longer tells: full steps while they bring the points together by more
    // than rounding does.
    bool near = gain <= 1e-13 * scale;
    Place trial;
    for (int k = 0;; k++, fraction *= 0.5) {
      if (k == 40) return DJ_NOT_CONVERGED;
      djVec3 n = dju_madd3(dju_madd3(at->n, fraction * step[0], at->E[0]), fraction * step[1],
                           at->E[1]);
      visit(&trial, dju_scale3(1 / dju_norm3(n), n), a, pose_a, b, pose_b);
      if (!near && trial.g >= at->g + 1e-4 * fraction * gain) break;
      if (near && hypot(trial.slope[0], trial.slope[1]) < 0.9 * size) break;
      if (near) return DJ_OK;
    }
    *at = trial;
  }
  return DJ_NOT_CONVERGED;
}

// The same, by way of softer shapes.
static djStatus descend(Place* at, int* iterations, double scale, const djSoft* a,
                        const djPose* pose_a, const djSoft* b, const djPose* pose_b) {
  djStatus status = DJ_OK;
  for (double factor = 4096; factor >= 1; factor *= 0.25) {
    djSoft soft_a = *a, soft_b = *b;
    soft_a.t *= factor;
    soft_b.t *= factor;
    visit(at, at->n, &soft_a, pose_a, &soft_b, pose_b);
    status = climb(at, iterations, scale, &soft_a, pose_a, &soft_b, pose_b);
  }
  return status;
}

static void besidePlane(djSoftGap* out, const djSoft* a, const djPose* pose_a, const djSoft* b,
                        const djPose* pose_b) {
  djSoftPoint p;
  djVec3 up = dju_mulMV(pose_b->R, b->core.normal);
  support(&p, a, &pose_a->R, dju_neg3(up));
  out->plane = true;
  out->normal = dju_neg3(up);
  out->point_a = p.x;
  out->bend_a = p.C;
  out->gap = -dju_dot3(up, dju_sub3(pose_b->p, pose_a->p)) - b->core.offset - p.h;
  out->point_b = dju_madd3(p.x, out->gap, out->normal);
}

djStatus dj_softDistance(djSoftGap* out, const djSoft* a, const djPose* pose_a, const djSoft* b,
                         const djPose* pose_b) {
  memset(out, 0, sizeof *out);
  out->place_b = dju_sub3(pose_b->p, pose_a->p);
  djDistance start;
  djStatus status = dj_distance(&start, NULL, &a->core, pose_a, 0, &b->core, pose_b, 0);
  if (status < 0) return status;
  if (b->core.type == DJ_PLANE) {
    besidePlane(out, a, pose_a, b, pose_b);
    return isfinite(out->gap) ? DJ_OK : DJ_INVALID;
  }
  Place at;
  visit(&at, start.normal, a, pose_a, b, pose_b);
  double scale = dju_norm3(at.a.x) + dju_norm3(at.b.x);
  status = climb(&at, &out->iterations, scale, a, pose_a, b, pose_b);
  if (status == DJ_NOT_CONVERGED && at.g > 0) {
    status = descend(&at, &out->iterations, scale, a, pose_a, b, pose_b);
  }
  out->gap = at.g;
  out->normal = at.n;
  out->point_a = at.a.x;
  out->point_b = at.b.x;
  out->bend_a = at.a.C;
  out->bend_b = at.b.C;
  return isfinite(at.g) && isfinite(dju_norm3(at.n)) ? status : DJ_INVALID;
}

// ------------------------------------------ derivatives ----------------------------------------

// A twist (w, v) about the pose's position moves the point of A whose normal is n by
//
//   dx_a = v + w x x_a - C_A (w x n) + C_A dn,
//
// a point of B, whose normal is -n, by dx_b = v + w x y + C_B (w x n) - C_B dn with y = x_b less
// B's position. r = g n implies E^T (dr - g dn) = 0, that is
//
//   dn = E M^-1 E^T (dr at fixed n),   dg = n . dr.
//
// A plane's twist turns n itself: dn = w x n; x_b = x_a + g n follows.

static djMat3 addMat(djMat3 A, double f, djMat3 B) {
  for (int i = 0; i < 9; i++) A.m[i] += f * B.m[i];
  return A;
}

// Puts f times a 3x3 block at a column of a (3 x 12).
static void setBlock(double* out, int column, double f, const djMat3* A) {
  for (int i = 0; i < 9; i++) out[12 * (i / 3) + column + i % 3] = f * A->m[i];
}

// out (3 x 12) += f A X
static void addProduct(double* out, double f, const djMat3* A, const double* X) {
  for (int c = 0; c < 12; c++) {
    for (int r = 0; r < 3; r++) {
      const double* row = A->m + 3 * r;
      out[12 * r + c] += f * (row[0] * X[c] + row[1] * X[12 + c] + row[2] * X[24 + c]);
    }
  }
}

// G = E M^-1 E^T; false where M is not positive definite.
static bool inverse(djMat3* G, const djSoftGap* at) {
  djVec3 E[2];
  double M[3];
  djMat3 C = addMat(at->bend_a, 1, at->bend_b);
  dj_across(E, at->normal);
  for (int k = 0; k < 3; k++) {
    M[k] = dju_dot3(E[(k + 1) / 2], dju_mulMV(C, E[k / 2])) + (k == 1 ? 0 : at->gap);
  }
  double det = M[0] * M[2] - M[1] * M[1], trace = M[0] + M[2];
  double unit = dju_norm3(at->point_a) + dju_norm3(at->point_b);
  // det/trace is the lesser eigenvalue, at most halved
  if (!(trace > 0 && det > 1e-12 * unit * trace)) return false;
  double e[2][3], I[2][2] = {{M[2] / det, -M[1] / det}, {-M[1] / det, M[0] / det}};
  for (int k = 0; k < 2; k++) dju_store3(e[k], E[k]);
  for (int i = 0; i < 9; i++) {
    G->m[i] = 0;
    for (int k = 0; k < 4; k++) G->m[i] += e[k / 2][i / 3] * I[k / 2][k % 2] * e[k % 2][i % 3];
  }
  return true;
}

djStatus dj_softTwists(double gap[12], double normal[36], double point_a[36], double point_b[36],
                       const djSoftGap* at) {
  djVec3 n = at->normal, y = dju_sub3(at->point_b, at->place_b);
  djMat3 N = dju_skew(n), I = dju_eye3(), G;
  djMat3 A = addMat(dju_mulMM(at->bend_a, N), -1, dju_skew(at->point_a));
  djMat3 B = addMat(dju_mulMM(at->bend_b, N), 1, dju_skew(y));
  memset(normal, 0, 36 * sizeof(double));
  memset(point_a, 0, 36 * sizeof(double));
  memset(point_b, 0, 36 * sizeof(double));
  dju_store3(gap, dju_cross3(n, at->point_a));
  dju_store3(gap + 3, dju_neg3(n));
  dju_store3(gap + 6, dju_cross3(y, n));
  dju_store3(gap + 9, n);
  setBlock(point_a, 0, 1, &A);
  setBlock(point_a, 3, 1, &I);
  if (at->plane) {
    setBlock(normal, 6, -1, &N);
    addProduct(point_a, 1, &at->bend_a, normal);
    double u[3];
    dju_store3(u, n);
    for (int i = 0; i < 36; i++) {
      point_b[i] = point_a[i] + u[i / 12] * gap[i % 12] + at->gap * normal[i];
    }
    return DJ_OK;
  }
  setBlock(point_b, 6, -1, &B);
  setBlock(point_b, 9, 1, &I);
  if (at->frozen || !inverse(&G, at)) return DJ_SINGULAR;
  double r[36];
  for (int i = 0; i < 36; i++) r[i] = point_b[i] - point_a[i];
  addProduct(normal, 1, &G, r);
  addProduct(point_a, 1, &at->bend_a, normal);
  addProduct(point_b, -1, &at->bend_b, normal);
  return DJ_OK;
}
