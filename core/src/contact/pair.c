// Contact queries: one pair of shapes, without a model (dijoco/contact.h).
//
// Each shape becomes a contact shape whose body frame has world axes and its origin where twists
// refer to, so that far places lose no digits. A plane is always the second of the pair inside;
// where it is given as the first, the two change places and results are turned round.

#include <dijoco/contact.h>

#include "base/status.h"
#include "contact/barrier.h"
#include "contact/plane_pair.h"
#include "contact/query_shape.h"
#include "contact/separating_plane.h"
#include "math/so3.h"
#include "model/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A query in the order of the kernel: side 0 is not a plane.
typedef struct djQuery {
  bool swapped;
  const djcShape* given[2];
  djShape shape[2];
  djPose start[2], now[2];
  djPairInput in;
  double* buffer;          // vertices of both, zeros for their erosion vectors, scratch
} djQuery;

djcOption djc_defaultOption(void) {
  djcOption option = {.model = DJ_SEPARATING_PLANE, .support = 0.01, .length_scale = 1};
  option.friction.dt = 0.01;
  option.friction.eps = 1e-8;
  option.friction.coefficient = 1;
  return option;
}

// ------------------------------------------ checks ---------------------------------------------

static djStatus checkShapes(const djcShape* a, const djcShape* b, djError* err) {
  djStatus status = dj_checkQueryShape(a, 'a', err);
  if (status == DJ_OK) status = dj_checkQueryShape(b, 'b', err);
  if (status == DJ_OK && a->nvert == 0 && b->nvert == 0 && a->geom == DJ_PLANE &&
      b->geom == DJ_PLANE) {
    status = dj_fail(err, DJ_INVALID, "a and b are both planes");
  }
  return status;
}

// A number that others are divided by.
static djStatus checkUnit(const char* name, double value, djError* err) {
  if (!(value > 0) || !isfinite(value)) {
    return dj_fail(err, DJ_INVALID, "%s = %g is not positive", name, value);
  }
  if (value >= DJ_SMALLEST && value <= DJ_LARGEST) return DJ_OK;
  return dj_fail(err, DJ_INVALID, "%s = %g is not between 1e-20 and 1e20", name, value);
}

static djStatus checkOption(const djcOption* o, djError* err) {
  if (!dj_kernel(o->model)) {
    return dj_fail(err, DJ_INVALID, "unknown contact model %d", (int)o->model);
  }
  if (!(o->support > 0 && o->support < 1)) {
    return dj_fail(err, DJ_INVALID, "s = %g is not between 0 and 1", o->support);
  }
  djStatus status = checkUnit("s", o->support, err);
  if (!status) status = checkUnit("length_scale", o->length_scale, err);
  const djcFriction* f = &o->friction;
  if (status || !f->enabled) return status;
  if (!(f->coefficient >= 0) || !isfinite(f->coefficient)) {
    return dj_fail(err, DJ_INVALID, "friction: coefficient = %g is negative or not finite",
                   f->coefficient);
  }
  status = dj_sizeProblem(&f->coefficient, 1, DJ_LARGEST)
               ? dj_fail(err, DJ_INVALID, "friction: coefficient is larger than 1e20")
               : checkUnit("friction: dt", f->dt, err);
  if (!status) status = checkUnit("friction: eps", f->eps, err);
  if (!status) status = dj_checkNumbers(f->motion_a, 6, "friction: motion_a", err);
  if (!status) status = dj_checkNumbers(f->motion_b, 6, "friction: motion_b", err);
  if (status) return status;
  if (f->arms < DJ_ARMS_PLANE || f->arms > DJ_ARMS_PAPER || f->cap < DJ_CAP_MAGNITUDE ||
      f->cap > DJ_CAP_PAPER) {
    return dj_fail(err, DJ_INVALID, "friction: unknown arms or cap");
  }
  return DJ_OK;
}

// ------------------------------------------ shapes ---------------------------------------------

static void makeCurve(djShape* out, const djcShape* s, djMat3 R) {
  double height, axes[3];
  bool erodes[3];
  if (s->nvert > 0 || !dj_curvedGeom(&height, axes, erodes, s->geom, s->size)) return;
  out->curved = true;
  out->curve = dj_scaleColumns(R, axes);
  out->spread = s->geom == DJ_CYLINDER ? DJ_SPREAD : 0;
  out->radius = 0;
}

// mem: 3 npad for the vertices; zero: npad zeros.
static void makeShape(djShape* out, const djcShape* s, double* mem, const double* zero) {
  djMat3 R = dju_quatToMat(dju_normalizeQuat(dju_loadQuat(s->quat)));
  djVec3 place = dju_sub3(dju_load3(s->pos), dju_load3(s->origin));
  int n = dj_queryVertices(s);
  memset(out, 0, sizeof *out);
  if (n == 0) {
    out->type = DJ_PLANE;
    out->normal = dju_column(&R, 2);
    out->offset = dju_dot3(out->normal, place);
    return;
  }
  out->type = DJ_MESH;
  out->nvert = n;
  out->npad = (n + DJ_LANES - 1) / DJ_LANES * DJ_LANES;
  out->radius = s->nvert > 0 ? s->radius : s->geom == DJ_BOX ? 0 : s->size[0];
  makeCurve(out, s, R);
  djVec3 sum = {0, 0, 0};
  for (int i = 0; i < out->npad; i++) {
    int j = i < n ? i : 0;
    djVec3 x = s->nvert > 0 ? dju_sub3(dju_load3(s->vert + 3 * (size_t)j), dju_load3(s->origin))
                            : dju_add3(dju_mulMV(R, dj_queryVertex(s, j)), place);
    mem[i] = x.x;
    mem[out->npad + i] = x.y;
    mem[2 * out->npad + i] = x.z;
    if (i < n) sum = dju_madd3(sum, 1.0 / n, x);
  }
  out->center = sum;
  double round = out->radius + (out->curved ? dj_curveSize(&out->curve) : 0);
  for (int i = 0; i < n; i++) {
    djVec3 x = {mem[i], mem[out->npad + i], mem[2 * out->npad + i]};
    out->bound = fmax(out->bound, dju_norm3(dju_sub3(x, sum)) + round);
  }
  for (int k = 0; k < 3; k++) {
    out->vert[k] = mem + k * out->npad;
    out->move[k] = zero;
  }
}

static djStatus openQuery(djQuery* q, const djcShape* a, const djcShape* b,
                          const djcOption* option, djError* err) {
  memset(q, 0, sizeof *q);
  q->swapped = dj_queryVertices(a) == 0;
  q->given[0] = q->swapped ? b : a;
  q->given[1] = q->swapped ? a : b;
  int npad[2], sum = 0;
  for (int k = 0; k < 2; k++) {
    npad[k] = (dj_queryVertices(q->given[k]) + DJ_LANES - 1) / DJ_LANES * DJ_LANES;
    sum += npad[k];
  }
  q->buffer = calloc((size_t)sum * (4 + DJ_KERNEL_SCRATCH(1)), sizeof(double));
  if (!q->buffer) return dj_failMemory(err);
  double* zero = q->buffer + 3 * (size_t)sum;
  makeShape(&q->shape[0], q->given[0], q->buffer, zero);
  makeShape(&q->shape[1], q->given[1], q->buffer + 3 * (size_t)npad[0], zero);
  for (int k = 0; k < 2; k++) {
    q->start[k] = q->now[k] = (djPose){dju_load3(q->given[k]->origin), dju_eye3()};
  }
  q->in = (djPairInput){.a = &q->shape[0],
                        .b = &q->shape[1],
                        .pose_a = &q->now[0],
                        .pose_b = &q->now[1],
                        .start_a = &q->start[0],
                        .start_b = &q->start[1],
                        .ref_a = q->now[0].p,
                        .ref_b = q->now[1].p,
                        .h = option->friction.dt,
                        .support = option->support,
                        .length_scale = option->length_scale,
                        .stiffness = 1,
                        .scratch = zero + sum,
                        .nscratch = DJ_KERNEL_SCRATCH(sum)};
  return DJ_OK;
}

static djStatus queryDistance(djDistance* d, const djQuery* q, djError* err) {
  djStatus status =
      dj_distance(d, NULL, &q->shape[0], &q->now[0], 0, &q->shape[1], &q->now[1], 0);
  if (status < 0) return dj_fail(err, status, "a and b: too large or too small to compute with");
  if (q->swapped) {
    djVec3 p = d->point_a;
    d->point_a = d->point_b;
    d->point_b = p;
    d->normal = dju_neg3(d->normal);
  }
  return DJ_OK;
}

// ------------------------------------------ results --------------------------------------------

static void swapHalves(double x[12]) {
  for (int i = 0; i < 6; i++) {
    double t = x[i];
    x[i] = x[6 + i];
    x[6 + i] = t;
  }
}

static void swapHessian(double H[144]) {
  double t[144];
  memcpy(t, H, sizeof t);
  for (int i = 0; i < 12; i++) {
    memcpy(H + 12 * i, t + 12 * ((i + 6) % 12), 12 * sizeof(double));
    swapHalves(H + 12 * i);
  }
}

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
  swapHalves(r->twist_gradient);
  swapHessian(r->twist_hessian);
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
static djStatus queryFriction(djcResult* r, djQuery* q, const djcFriction* f, djError* err) {
  djPlaneState state;
  memset(&state, 0, sizeof state);
  djPairInput* in = &q->in;
  in->friction = f->coefficient;
  in->friction_eps = f->eps;
  in->arms = f->arms;
  in->cap = f->cap;
  djStatus status = dj_separatingPlane.begin((djPairState*)&state, in);
  if (status < 0) return dj_fail(err, status, "friction: the start failed");
  if (!state.lagged) return status;
  const double* motion[2] = {q->swapped ? f->motion_b : f->motion_a,
                             q->swapped ? f->motion_a : f->motion_b};
  for (int k = 0; k < 2; k++) {
    q->now[k].R = dju_quatToMat(dju_expQuat(dju_load3(motion[k])));
    q->now[k].p = dju_add3(q->start[k].p, dju_load3(motion[k] + 3));
  }
  in->ref_a = q->now[0].p;
  in->ref_b = q->now[1].p;
  djPlaneWork w;
  djLagged lagged;
  djPairOutput out;
  memset(&out, 0, sizeof out);
  status = dj_openPlaneWork(&w, in, &state.erosion, false);
  if (!status) status = dj_getLagged(&lagged, &state, &w);
  if (status) return dj_fail(err, status, "friction: the start failed");
  djPairInput rest = *in;
  rest.scratch = w.free;
  rest.nscratch = w.nfree;
  status = dj_frictionEval(&out, &state.friction, &lagged, &rest, DJ_EVAL_GRADIENT);
  if (status < 0) return dj_fail(err, status, "friction: the energy could not be evaluated");
  r->friction_value = out.value;
  double* wrench[2] = {q->swapped ? r->friction_wrench_b : r->friction_wrench_a,
                       q->swapped ? r->friction_wrench_a : r->friction_wrench_b};
  for (int k = 0; k < 12; k++) wrench[k / 6][k % 6] = -out.gradient[k];
  return status;
}

static djStatus queryEnergy(djcResult* r, double* gradient[2], double* hessian, djQuery* q,
                            djError* err) {
  djPlaneState state;
  djPlaneWork w;
  djFound f = {0};
  memset(&state, 0, sizeof state);
  djStatus status = dj_openPlaneWork(&w, &q->in, &state.erosion, false);
  if (!status) status = dj_findPlane(&f, &w, &state);
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
static double sizeOf(const djQuery* q) {
  double size = 0;
  for (int k = 0; k < 2; k++) {
    const djShape* s = &q->shape[k];
    size += dju_norm3(q->now[k].p) + (s->type == DJ_PLANE ? fabs(s->offset) : s->bound);
  }
  return size;
}

static djStatus runPair(djcResult* r, double* gradient_a, double* gradient_b, double* hessian,
                        djQuery* q, const djcOption* option, djError* err) {
  djDistance d;
  djStatus status = queryDistance(&d, q, err);
  if (status) return status;
  r->gap = d.gap;
  double* gradient[2] = {q->given[q->swapped]->nvert > 0 ? gradient_a : NULL,
                         q->given[!q->swapped]->nvert > 0 ? gradient_b : NULL};
  if (q->swapped) {
    double* g = gradient[0];
    gradient[0] = gradient[1];
    gradient[1] = g;
  }
  status = queryEnergy(r, gradient, hessian, q, err);
  if (status >= 0 && isinf(r->value) && r->gap > 1e-9 * sizeOf(q)) {
    return dj_fail(err, DJ_INVALID, "s or length_scale is too large for a and b");
  }
  if (status < 0 || !option->friction.enabled) return status;
  if (isinf(r->value)) {
    r->friction_value = INFINITY;
    return status;
  }
  djStatus sliding = queryFriction(r, q, &option->friction, err);
  return sliding ? sliding : status;
}

// No NaN, and no infinity but the value of shapes that overlap. What gets here otherwise is too
// extreme in proportion.
static djStatus checkResult(const djcResult* r, const double* gradient_a, const double* gradient_b,
                            const double* hessian, const djcShape* a, const djcShape* b,
                            djError* err) {
  bool good = isfinite(r->gap) && !isnan(r->value) && r->value > -INFINITY;
  if (good && isfinite(r->value)) {
    int na = 3 * a->nvert, nb = 3 * b->nvert;
    good = dj_allFinite(r->plane, 4) && dj_allFinite(r->twist_gradient, 12) &&
           dj_allFinite(r->twist_hessian, 144) && isfinite(r->friction_value) &&
           dj_allFinite(r->friction_wrench_a, 6) && dj_allFinite(r->friction_wrench_b, 6) &&
           (!gradient_a || dj_allFinite(gradient_a, na)) &&
           (!gradient_b || dj_allFinite(gradient_b, nb));
    for (int k = 0; good && hessian && k < na + nb; k++) {
      good = dj_allFinite(hessian + (size_t)k * (size_t)(na + nb), na + nb);
    }
  }
  return good ? DJ_OK : dj_fail(err, DJ_INVALID, "a and b: too large or too small to compute with");
}

djStatus djc_pair(djcResult* result, double* gradient_a, double* gradient_b, double* hessian,
                  const djcShape* a, const djcShape* b, const djcOption* option) {
  if (!result) return DJ_INVALID;
  memset(result, 0, sizeof *result);
  djError err = {{0}};
  djQuery q = {0};
  djStatus status = DJ_OK;
  if (!a || !b || !option) {
    status = dj_fail(&err, DJ_INVALID, "a shape or the options are missing");
  }
  if (!status) status = checkOption(option, &err);
  if (!status) status = checkShapes(a, b, &err);
  if (!status && hessian && (a->nvert == 0 || b->nvert == 0)) {
    status = dj_fail(&err, DJ_INVALID, "the Hessian by vertices needs two vertex shapes");
  }
  if (!status) status = openQuery(&q, a, b, option, &err);
  if (!status) status = runPair(result, gradient_a, gradient_b, hessian, &q, option, &err);
  if (status >= 0) {
    djStatus bad = checkResult(result, gradient_a, gradient_b, hessian, a, b, &err);
    if (bad < 0) status = bad;
  }
  free(q.buffer);
  result->status = status;
  snprintf(result->message, sizeof result->message, "%.199s", err.text);
  return status;
}

djStatus djc_distance(double* gap, double normal[3], double point_a[3], double point_b[3],
                      const djcShape* a, const djcShape* b) {
  if (!gap || !normal || !point_a || !point_b || !a || !b) return DJ_INVALID;
  djQuery q;
  djDistance d;
  djcOption option = djc_defaultOption();
  djStatus status = checkShapes(a, b, NULL);
  if (status) return status;
  status = openQuery(&q, a, b, &option, NULL);
  if (!status) status = queryDistance(&d, &q, NULL);
  free(q.buffer);
  if (status) return status;
  *gap = d.gap;
  dju_store3(normal, d.normal);
  dju_store3(point_a, d.point_a);
  dju_store3(point_b, d.point_b);
  return DJ_OK;
}

// ------------------------------------------ pairs that move ------------------------------------

// The query as it was made: vertices relative to the origins, in both shapes' body frames.
struct djcPair {
  djQuery q;
  djPlaneState state;
};

djStatus djc_makePair(djcPair** pair, const djcShape* a, const djcShape* b,
                      const djcOption* option, djError* err) {
  if (!pair) return DJ_INVALID;
  *pair = NULL;
  if (!a || !b || !option) {
    return dj_fail(err, DJ_INVALID, "a shape or the options are missing");
  }
  djStatus status = checkOption(option, err);
  if (!status) status = checkShapes(a, b, err);
  if (status) return status;
  djcPair* p = calloc(1, sizeof *p);
  if (!p) return dj_failMemory(err);
  status = openQuery(&p->q, a, b, option, err);
  if (status) {
    free(p);
    return status;
  }
  p->q.given[0] = p->q.given[1] = NULL;   // they are the caller's
  *pair = p;
  return DJ_OK;
}

void djc_deletePair(djcPair* pair) {
  if (!pair) return;
  free(pair->q.buffer);
  free(pair);
}

void djc_forgetPair(djcPair* pair) {
  if (pair) memset(&pair->state, 0, sizeof pair->state);
}

djStatus djc_evalPair(double* value, double gradient[12], double hessian[144], djcPair* pair,
                      const double pos_a[3], const double quat_a[4], const double pos_b[3],
                      const double quat_b[4]) {
  if (!value || !gradient || !hessian || !pair || !pos_a || !quat_a || !pos_b || !quat_b) {
    return DJ_INVALID;
  }
  djQuery* q = &pair->q;
  int a = q->swapped, b = !q->swapped;
  q->now[a] = (djPose){dju_load3(pos_a), dju_quatToMat(dju_loadQuat(quat_a))};
  q->now[b] = (djPose){dju_load3(pos_b), dju_quatToMat(dju_loadQuat(quat_b))};
  q->in.ref_a = q->now[0].p;
  q->in.ref_b = q->now[1].p;
  djPairOutput out;
  djPairState* state = (djPairState*)&pair->state;
  djStatus status = dj_separatingPlane.eval(&out, state, &q->in, DJ_EVAL_HESSIAN);
  if (status < 0) return status;
  *value = out.value;
  memcpy(gradient, out.gradient, sizeof out.gradient);
  memcpy(hessian, out.hessian, sizeof out.hessian);
  if (!q->swapped) return status;
  swapHalves(gradient);
  swapHessian(hessian);
  return status;
}
