// What contact queries ask of a separating plane: the plane, derivatives by vertices, and friction
// apart from the energy of the plane.

#include "base/status.h"
#include "contact/kernel_query.h"
#include "math/barrier.h"
#include "contact/plane/plane_pair.h"

#include <string.h>

static void storeTwist(djcResult* r, const djFound* f, const djPlaneWork* w, bool swapped) {
  dj_foundTwist(r->twist_gradient, NULL, r->twist_hessian, f, w, 1);
  djVec3 n = w->half_space ? dju_scale3(-f->half.t, dju_load3(f->space.normal))
                           : dju_load3(f->plane.p);
  // half space: -(t z + o) with z = N.y + k, k less the radius, is n.y + o'
  double o = w->half_space ? -f->half.t * (f->space.k + w->radius[0]) - f->half.o
                           : f->plane.p[3];
  o = w->L * o - dju_dot3(n, w->center);
  r->has_plane = true;
  dju_store3(r->plane, n);
  r->plane[3] = o;
  if (!swapped) return;
  for (int k = 0; k < 4; k++) r->plane[k] = -r->plane[k];
  dj_swapHalves(r->twist_gradient);
  dj_swapHessian(r->twist_hessian);
}

// P' and P'' of a vertex at the plane found, and the direction of D by x: dD/dx = dir/L.
typedef struct djVertexTerm {
  double first, second;
  djVec3 dir, z;           // z: sigma (z, 1) is dD/dp
  double sigma;
} djVertexTerm;

static djVertexTerm vertexTerm(const djFound* f, const djPlaneWork* w, int side, int i) {
  const djCloud* c = &w->cloud[side];
  djVec3 y = dj_cloudVertex(c, i);
  double b[3], D;
  djVertexTerm v;
  v.sigma = side == 0 ? -1 : 1;
  if (w->half_space) {
    djVec3 N = dju_load3(f->space.normal);
    D = f->half.t * (dju_dot3(N, y) + f->space.k) + f->half.o;
    v.dir = dju_scale3(f->half.t, N);
    v.z = y;
  } else {
    djVec3 n = dju_load3(f->plane.p);
    djVec3 point;
    D = v.sigma * (dju_dot3(n, y) + f->plane.p[3]) - dj_cloudReach(&point, c, n);
    v.dir = dju_scale3(v.sigma, n);
    v.z = dju_madd3(y, -v.sigma, point);
  }
  dj_barrier(b, D, w->s);
  dj_addTailOf(b, w, side, i, D);
  v.first = b[1];
  v.second = b[2];
  return v;
}

// dU/dx_i = P' dD/dx_i
static void vertexGradient(double* gradient, const djFound* f, const djPlaneWork* w, int side) {
  for (int i = 0; i < w->shape[side]->nvert; i++) {
    djVertexTerm v = vertexTerm(f, w, side, i);
    dju_store3(gradient + 3 * (size_t)i, dju_scale3(v.first / w->L, v.dir));
  }
}

// With U_p,xi = (P'' (z,1) n^T + sigma P' (I; 0))/L and Z_i = D^-1/2 L^-1 U_p,xi (4 x 3):
//   H_ij = delta_ij P'' n n^T/L^2 - Z_i^T Z_j.   Vertices out of reach have zero rows.
// Z: (n x 12) workspace.
static void vertexHessian(double* hessian, double* Z, const djFound* f, const djPlaneWork* w) {
  int na = w->shape[0]->nvert, n = na + w->shape[1]->nvert;
  size_t width = 3 * (size_t)n;
  memset(hessian, 0, width * width * sizeof(double));
  djVec3 normal = dju_load3(f->plane.p);
  double m[3] = {normal.x, normal.y, normal.z}, inv = 1 / w->L;
  for (int i = 0; i < n; i++) {
    djVertexTerm v = vertexTerm(f, w, i >= na, i < na ? i : i - na);
    double z[4] = {v.z.x, v.z.y, v.z.z, 1}, *Zi = Z + 12 * (size_t)i;
    for (int r = 0; r < 4; r++) {
      for (int k = 0; k < 3; k++) {
        Zi[3 * r + k] = inv * (v.second * z[r] * m[k] + (r == k ? v.sigma * v.first : 0));
      }
    }
    dju_forwardLdl4(Zi, &f->plane.factor, Zi, 3);
    for (int r = 0; r < 4; r++) {
      for (int k = 0; k < 3; k++) Zi[3 * r + k] *= sqrt(f->plane.factor.inv[r]);
    }
    for (int k = 0; k < 3; k++) {
      double* row = hessian + (3 * (size_t)i + k) * width + 3 * (size_t)i;
      for (int l = 0; l < 3; l++) row[l] = inv * inv * v.second * (m[k] * m[l]);
    }
  }
  for (int i = 0; i < n; i++) {
    const double* Zi = Z + 12 * (size_t)i;
    for (int j = 0; j < n; j++) {
      const double* Zj = Z + 12 * (size_t)j;
      for (int k = 0; k < 3; k++) {
        double* row = hessian + (3 * (size_t)i + k) * width + 3 * (size_t)j;
        for (int l = 0; l < 3; l++) {
          row[l] -= (Zi[k] * Zj[l] + Zi[3 + k] * Zj[3 + l]) +
                    (Zi[6 + k] * Zj[6 + l] + Zi[9 + k] * Zj[9 + l]);
        }
      }
    }
  }
}

// The shapes given are those at the start; each then moves by its motion.
static djStatus queryFriction(djContactQuery* q, djError* err) {
  djcResult* r = q->result;
  djPlaneState* state = (djPlaneState*)q->state;
  memset(state, 0, sizeof *state);
  djPairInput* in = &q->in;
  djStatus status = q->kernel->begin(q->state, in);
  if (status < 0) return dj_fail(err, status, "friction: the start failed");
  if (!state->lagged) return status;
  dj_moveQuery(q);
  djPlaneWork w;
  djLagged lagged;
  djPairOutput out;
  memset(&out, 0, sizeof out);
  status = dj_openPlaneWork(&w, in, &state->erosion, false);
  if (!status) status = dj_getLagged(&lagged, state, &w);
  if (status) return dj_fail(err, status, "friction: the start failed");
  djPairInput rest = *in;
  rest.scratch = w.free;
  rest.nscratch = w.nfree;
  status = dj_frictionEval(&out, &state->friction, &lagged, &rest, DJ_EVAL_GRADIENT);
  if (status < 0) return dj_fail(err, status, "friction: the energy could not be evaluated");
  r->friction_value = out.value;
  double* wrench[2] = {q->swapped ? r->friction_wrench_b : r->friction_wrench_a,
                       q->swapped ? r->friction_wrench_a : r->friction_wrench_b};
  for (int k = 0; k < 12; k++) wrench[k / 6][k % 6] = -out.gradient[k];
  return status;
}

static djStatus queryEnergy(djContactQuery* q, djError* err) {
  djcResult* r = q->result;
  double *hessian = q->hessian, *gradient[2] = {q->gradient[0], q->gradient[1]};
  djPlaneState* state = (djPlaneState*)q->state;
  djPlaneWork w;
  djFound f = {0};
  djStatus status = dj_openPlaneWork(&w, &q->in, &state->erosion, false);
  if (!status) status = dj_findPlane(&f, &w, state);
  if (status < 0) return dj_fail(err, status, "the separating plane could not be computed");
  r->iterations = f.iterations;
  r->value = f.kind == DJ_OVERLAPPING ? INFINITY : f.value;
  size_t nb = w.half_space ? 0 : (size_t)w.shape[1]->nvert, na = (size_t)w.shape[0]->nvert;
  if (f.kind != DJ_TOUCHING) {
    if (gradient[0]) memset(gradient[0], 0, 3 * na * sizeof(double));
    if (gradient[1]) memset(gradient[1], 0, 3 * nb * sizeof(double));
    if (hessian) memset(hessian, 0, 9 * (na + nb) * (na + nb) * sizeof(double));
    return status;
  }
  storeTwist(r, &f, &w, q->swapped);
  if (gradient[0]) vertexGradient(gradient[0], &f, &w, 0);
  if (gradient[1] && !w.half_space) vertexGradient(gradient[1], &f, &w, 1);
  if (hessian) {
    double* Z = dj_takeScratch(&w, 12 * (int)(na + nb));
    if (!Z) return dj_failMemory(err);
    vertexHessian(hessian, Z, &f, &w);
  }
  if (status > 0) dj_fail(err, status, "the separating plane did not converge");
  return status;
}

// Of the numbers that go into a gap.
static double sizeOf(const djContactQuery* q) {
  double size = 0;
  for (int k = 0; k < 2; k++) {
    const djShape* s = &q->shape[k];
    size += dju_norm3(q->now[k].p) + (s->type == DJ_PLANE ? fabs(s->offset) : s->bound);
  }
  return size;
}

djStatus dj_planeQuery(djContactQuery* q, djError* err) {
  djcResult* r = q->result;
  djStatus status = queryEnergy(q, err);
  if (status >= 0 && isinf(r->value) && r->gap > 1e-9 * sizeOf(q)) {
    return dj_fail(err, DJ_INVALID, "s or length_scale is too large for a and b");
  }
  if (status < 0 || !q->option->friction.enabled) return status;
  if (isinf(r->value)) {
    r->friction_value = INFINITY;
    return status;
  }
  djStatus sliding = queryFriction(q, err);
  return sliding ? sliding : status;
}
