// What contact queries ask of a separating plane: the plane, derivatives by vertices, and friction
// apart from the energy of the plane. A guide's tail adds to the value and its derivatives; the
// plane told is the tail's where it acts alone.

#include "base/status.h"
#include "contact/kernel_query.h"
#include "math/barrier.h"
#include "contact/plane/plane_pair.h"
#include "contact/plane/plane_tail.h"

#include <stdlib.h>
#include <string.h>

// Adds to the twists' derivatives, a then b of the kernel's order, and tells the plane.
static void addTwist(djcResult* r, double g[12], double H[144], djVec3 n, double o, bool swapped) {
  double sign = swapped ? -1 : 1;
  if (swapped) {
    dj_swapHalves(g);
    dj_swapHessian(H);
  }
  for (int i = 0; i < 12; i++) r->twist_gradient[i] += g[i];
  for (int i = 0; i < 144; i++) r->twist_hessian[i] += H[i];
  r->has_plane = true;
  dju_store3(r->plane, dju_scale3(sign, n));
  r->plane[3] = sign * o;
}

static void storeTwist(djcResult* r, const djFound* f, const djPlaneWork* w, bool swapped) {
  double gradient[12], hessian[144];
  dj_foundTwist(gradient, NULL, hessian, f, w, 1);
  djVec3 n =
      w->half_space ? dju_scale3(-f->half.t, dju_load3(f->space.normal)) : dju_load3(f->plane.p);
  // half space: -(t z + o) with z = N.y + k, k less the radius, is n.y + o'
  double o = w->half_space ? -f->half.t * (f->space.k + w->radius[0]) - f->half.o : f->plane.p[3];
  addTwist(r, gradient, hessian, n, w->L * o - dju_dot3(n, w->center), swapped);
}

// P' and P'' of a vertex at the plane found, and the direction of D by x: dD/dx = dir/L.
typedef struct djVertexTerm {
  double first, second;
  djVec3 dir, z;   // z: sigma (z, 1) is dD/dp
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
  dj_barrier(b, D, w->law);
  v.first = b[1];
  v.second = b[2];
  return v;
}

// The same of the tail, whose argument nothing but the vertex enters.
static djVertexTerm tailTerm(const djTailWork* w, int side, int at) {
  const double* const* x = w->clouds.x;
  djVertexTerm v = {.sigma = side == 0 ? -1 : 1};
  djVec3 n = dju_load3(w->plane.p);
  double t[3];
  v.z = dju_scale3(v.sigma, dju_vec3(x[0][at], x[1][at], x[2][at]));
  v.dir = dju_scale3(v.sigma, n);
  dj_tail(t, v.sigma * (dju_dot3(n, v.z) + w->plane.p[3]) + w->tail.offset, w->tail.weight[at]);
  v.first = t[1];
  v.second = t[2];
  return v;
}

// Terms of all vertices, a's first; L and the plane they go with. Their points are the vertices, or
// are drawn to the mean of their side, z_i = q y_i + (1 - q) sum lambda_j y_j.
typedef struct djTerms {
  int n, na;
  double L;
  djVertexTerm* term;   // (n)
  const djPlaneSolution* plane;
  double share;           // q
  const djTailWork* tail;   // with lambda and E of U; NULL: share is 1, and it is U itself
} djTerms;

static double partOf(const djTerms* t, int i) {
  return t->tail ? (1 - t->share) * dj_tailPart(t->tail, i) : 0;
}

// Rows x_i of so many numbers by z become those by y, q x_i + (1 - q) lambda_i sum x.
static void drawRows(double* x, int width, const djTerms* t) {
  if (!t->tail) return;
  for (int side = 0; side < 2; side++) {
    int begin = side ? t->na : 0, end = side ? t->n : t->na;
    for (int k = 0; k < width; k++) {
      double sum = 0;
      for (int i = begin; i < end; i++) sum += x[width * i + k];
      for (int i = begin; i < end; i++) {
        x[width * i + k] = t->share * x[width * i + k] + partOf(t, i) * sum;
      }
    }
  }
}

// gradient += E' dU/dz_i, dU/dz_i = P' dD/dz_i, by y; work (3 n) is that of U.
static void addGradient(double* const gradient[2], double* work, const djTerms* t) {
  double slope = t->tail ? t->tail->law[1] : 1;
  for (int i = 0; i < t->n; i++) {
    dju_store3(work + 3 * i, dju_scale3(t->term[i].first / t->L, t->term[i].dir));
  }
  drawRows(work, 3, t);
  for (int i = 0; i < t->n; i++) {
    double* to = i < t->na ? gradient[0] : gradient[1];
    for (int k = 0; k < 3 && to; k++) {
      to[3 * (i < t->na ? i : i - t->na) + k] += slope * work[3 * i + k];
    }
  }
}

// Rows of the diagonal P'' by y: row i (n) of T^T P'' T, T as above.
static void spreadRow(double* row, const djTerms* t, int i) {
  int begin = i < t->na ? 0 : t->na, end = i < t->na ? t->na : t->n;
  double q = t->share, sum = 0, part = partOf(t, i), own = t->term[i].second;
  for (int j = begin; j < end; j++) sum += t->term[j].second;
  for (int j = 0; j < t->n; j++) row[j] = 0;
  for (int j = begin; j < end && t->tail; j++) {
    row[j] = q * (partOf(t, j) * own + part * t->term[j].second) + part * partOf(t, j) * sum;
  }
  row[i] += q * q * own;
}

// With U_p,xi = (P'' (z,1) n^T + sigma P' (I; 0))/L and Z_i = D^-1/2 L^-1 U_p,xi (4 x 3), by y,
// added:
//   H_ij = (T^T P'' T)_ij n n^T/L^2 - Z_i^T Z_j,   of E:  E' H_ij + E'' U_i U_j^T, U_i = dU/dy_i.
// Vertices out of reach have zero rows.
// Z: (n x 12) workspace; row: (n); by: (n x 3) U_i.
static void addHessian(double* hessian, double* Z, double* row, const double* by,
                       const djTerms* t) {
  double slope = t->tail ? t->tail->law[1] : 1, curve = t->tail ? t->tail->law[2] : 0;
  int n = t->n;
  size_t width = 3 * (size_t)n;
  djVec3 normal = dju_load3(t->plane->p);
  double m[3] = {normal.x, normal.y, normal.z}, inv = 1 / t->L;
  for (int i = 0; i < n; i++) {
    djVertexTerm v = t->term[i];
    double z[4] = {v.z.x, v.z.y, v.z.z, 1}, *Zi = Z + 12 * (size_t)i;
    for (int r = 0; r < 4; r++) {
      for (int k = 0; k < 3; k++) {
        Zi[3 * r + k] = inv * (v.second * z[r] * m[k] + (r == k ? v.sigma * v.first : 0));
      }
    }
    dju_forwardLdl4(Zi, &t->plane->factor, Zi, 3);
    for (int r = 0; r < 4; r++) {
      for (int k = 0; k < 3; k++) Zi[3 * r + k] *= sqrt(t->plane->factor.inv[r]);
    }
  }
  drawRows(Z, 12, t);
  for (int i = 0; i < n; i++) {
    const double* Zi = Z + 12 * (size_t)i;
    spreadRow(row, t, i);
    for (int j = 0; j < n; j++) {
      const double* Zj = Z + 12 * (size_t)j;
      for (int k = 0; k < 3; k++) {
        double* to = hessian + (3 * (size_t)i + (size_t)k) * width + 3 * (size_t)j;
        for (int l = 0; l < 3; l++) {
          double H = inv * inv * row[j] * (m[k] * m[l]) -
                     ((Zi[k] * Zj[l] + Zi[3 + k] * Zj[3 + l]) +
                      (Zi[6 + k] * Zj[6 + l] + Zi[9 + k] * Zj[9 + l]));
          to[l] += slope * H + curve * (by[3 * i + k] * by[3 * j + l]);
        }
      }
    }
  }
}

// Adds derivatives by the vertices of t, whose terms are set.
static djStatus addTerms(djContactQuery* q, const djTerms* t, djError* err) {
  double* const gradient[2] = {q->gradient[0], q->gradient[1]};
  size_t n = (size_t)t->n;
  double *work = malloc(16 * n * sizeof *work), *by = work + 13 * n;
  if (!work) return dj_failMemory(err);
  addGradient(gradient, by, t);
  if (q->hessian) addHessian(q->hessian, work, work + 12 * n, by, t);
  free(work);
  return DJ_OK;
}

static djStatus queryBarrier(djContactQuery* q, djTerms* t, djError* err) {
  djcResult* r = q->result;
  djPlaneState* state = (djPlaneState*)q->state;
  djPlaneWork w;
  djFound f = {0};
  djStatus status = dj_openPlaneWork(&w, &q->in, &state->erosion, false);
  if (!status) status = dj_findPlane(&f, &w, state);
  if (status < 0) return dj_fail(err, status, "the separating plane could not be computed");
  r->iterations = f.iterations;
  r->value = f.kind == DJ_OVERLAPPING ? INFINITY : f.value;
  if (f.kind != DJ_TOUCHING) return status;
  storeTwist(r, &f, &w, q->swapped);
  t->L = w.L;
  t->plane = &f.plane;
  t->n = w.half_space ? t->na : t->n;
  for (int i = 0; i < t->n; i++) {
    t->term[i] = vertexTerm(&f, &w, i >= t->na, i < t->na ? i : i - t->na);
  }
  djStatus added = addTerms(q, t, err);
  if (added < 0) return added;
  if (status > 0) dj_fail(err, status, "the separating plane did not converge");
  return status;
}

static djStatus queryTail(djContactQuery* q, djTerms* t, djError* err) {
  djcResult* r = q->result;
  djTailWork w;
  djStatus status = dj_findTail(&w, (djPlaneState*)q->state, &q->in);
  if (status < 0) return dj_fail(err, status, "the plane of the guide could not be computed");
  r->value += w.law[0];
  if (w.kind == DJ_PLANE_ZERO) return status;
  double gradient[12], hessian[144], told[4], o;
  bool alone = !r->has_plane;
  djVec3 n = dju_load3(w.plane.p);
  memcpy(told, r->plane, sizeof told);
  dj_tailTwist(gradient, hessian, &w);
  o = w.L * w.plane.p[3] - dju_dot3(n, w.center);
  addTwist(r, gradient, hessian, n, o, q->swapped);
  if (!alone) memcpy(r->plane, told, sizeof told);
  r->iterations += w.plane.iterations;
  t->L = w.L;
  t->plane = &w.plane;
  t->tail = &w;
  t->share = DJ_TAIL_SHARE;
  for (int i = 0; i < t->n; i++) t->term[i] = tailTerm(&w, i >= t->na, i);
  djStatus added = addTerms(q, t, err);
  if (added < 0) return added;
  if (status > 0) dj_fail(err, status, "the plane of the guide did not converge");
  return status;
}

static djStatus queryEnergy(djContactQuery* q, djError* err) {
  djTerms t = {.na = q->in.a->nvert, .n = q->in.a->nvert + q->in.b->nvert, .share = 1};
  size_t n = (size_t)t.n;
  for (int k = 0; k < 2; k++) {
    const djShape* s = k ? q->in.b : q->in.a;
    if (q->gradient[k]) memset(q->gradient[k], 0, 3 * (size_t)s->nvert * sizeof(double));
  }
  if (q->hessian) memset(q->hessian, 0, 9 * n * n * sizeof(double));
  t.term = malloc(n * sizeof *t.term);
  if (!t.term) return dj_failMemory(err);
  djStatus status = queryBarrier(q, &t, err);
  if (status >= 0 && !isinf(q->result->value) && dj_planeGuided(&q->in)) {
    djStatus guided = queryTail(q, &t, err);
    if (guided) status = guided;
  }
  free(t.term);
  return status;
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
