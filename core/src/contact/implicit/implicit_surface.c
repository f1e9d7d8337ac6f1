// Contact of implicit surfaces by Hertz's law (iDCOL, VII-B, with an energy): with depth the
// negative gap (30) and what both are inflated by,
//
//   U = stiffness/(p + 1) depth^(p + 1),   depth > 0,
//
// whose gradient and Hessian follow from the first derivatives of the touch alone
// (contact/implicit/implicit_touch.h): the gap's own are known in closed form.

#include "contact/implicit/implicit_surface.h"

#include "base/status.h"
#include "contact/implicit/implicit_fit.h"
#include "contact/implicit/implicit_touch.h"
#include "contact/shapes/convex.h"
#include "contact/wrench.h"

#include <string.h>

typedef struct State {
  djImplicitWarm warm;
  djVec3 last;
} State;

static State* stateOf(djPairState* state) { return (State*)(void*)state; }

static bool isGood(const djPairInput* in) {
  return in && in->setting && dj_settingsValid(&dj_implicitSurface, in->setting);
}

// U' and U'' at a depth.
static void law(double out[3], const double* setting, double depth) {
  const double k = setting[DJ_IMPLICIT_STIFFNESS], p = setting[DJ_IMPLICIT_EXPONENT];
  const double f = k * pow(depth, p);
  out[0] = f * depth / (p + 1);
  out[1] = f;
  out[2] = p * f / depth;
}

static djStatus begin(djPairState* state, const djPairInput* in) {
  djSurfacePair pair;
  djVec3 last = {0, 0, 0};
  if (!isGood(in)) return DJ_INVALID;
  memset(state, 0, sizeof(State));
  return dj_openSurfacePair(&pair, &last, in);
}

static djStatus eval(djPairOutput* out, djPairState* pair_state, const djPairInput* in, int flags) {
  State* state = stateOf(pair_state);
  djSurfacePair pair;
  djSurfaceTouch touch;
  if (!isGood(in)) return DJ_INVALID;
  if (in->cold) memset(state, 0, sizeof *state);
  djStatus status = dj_openSurfacePair(&pair, &state->last, in);
  if (status) return status;
  *out = (djPairOutput){.gap = dj_surfaceBound(&pair), .twist_jac = out->twist_jac};
  if (out->gap > 0) return DJ_OK;
  status = dj_findSurfaceTouch(&touch, &state->warm, &pair);
  if (status < 0) return status;
  out->gap = -touch.depth;
  if (!(touch.depth > 0)) return status;
  double U[3];
  law(U, in->setting, touch.depth);
  out->active = true;
  out->value = U[0];
  dj_surfaceGradient(out->gradient, &touch, U[1]);
  if (!(flags & (DJ_EVAL_HESSIAN | DJ_EVAL_MAJORIZER))) return status;
  djImplicitRates rates;
  dj_moveTouch(&rates, &touch.f);
  for (int j = 0; j < 12; j++) {
    djSurfaceChange e;
    dj_twistChange(&e, &pair, &rates, j);
    dj_addSurfaceChange(out->hessian + j, 12, &pair, &touch, U[1], U[2], &e);
  }
  dj_toExponential(out->hessian, out->gradient);
  for (int i = 0; i < 12; i++) { // symmetric but for rounding
    for (int j = 0; j < i; j++) {
      const double mean = 0.5 * (out->hessian[12 * i + j] + out->hessian[12 * j + i]);
      out->hessian[12 * i + j] = out->hessian[12 * j + i] = mean;
    }
  }
  return status;
}

// ---- gaps -------------------------------------------------------------------------------------

static djStatus gap(djDistance* d, djDistanceCache* cache, const djGeomPair* g) {
  djSurfacePair pair;
  djSurfaceTouch touch;
  djVec3 last = {0, 0, 0};
  const djPairInput in = {
      .a = g->a, .b = g->b, .pose_a = g->pose_a, .pose_b = g->pose_b, .inflate = g->inflate};
  (void)cache;
  djStatus status = dj_openSurfacePair(&pair, &last, &in);
  if (!status) status = dj_findSurfaceTouch(&touch, NULL, &pair);
  if (status < 0) return status;
  d->gap = -touch.depth;
  d->normal = touch.f.n;
  d->point_a = dju_add3(pair.frame_a.p, touch.f.y);
  d->point_b = dju_add3(pair.frame_b.p, touch.f.y_b);
  d->iterations = 0;
  return DJ_OK;
}

static double range(const double* setting) {
  (void)setting;
  return 0;
}

// ---- parameters -------------------------------------------------------------------------------

// lambda.gradient's change.
static double along(const djSurfacePair* pair, const djSurfaceTouch* t, const double U[3],
                    const djSurfaceChange* e, const double lambda[12]) {
  double g[12] = {0}, sum = 0;
  dj_addSurfaceChange(g, 1, pair, t, U[1], U[2], e);
  for (int i = 0; i < 12; i++) sum += lambda[i] * g[i];
  return sum;
}

// By the surface's numbers, and by its frame, which moves as its body would.
static djStatus shapeVjp(djShapeGrad* grad, const djSurfacePair* pair, const djSurfaceTouch* t,
                         const djImplicitRates* rates, const double U[3], const djPairInput* in,
                         int side, const double lambda[12]) {
  const djShape* s = side ? in->b : in->a;
  const djImplicit* shape = side ? &pair->b : &pair->a;
  const djPose* frame = side ? &pair->frame_b : &pair->frame_a;
  const djPose* body = side ? in->pose_b : in->pose_a;
  const int n = shape->nsize;
  if (5 * n > in->nscratch || !in->scratch) return DJ_NO_MEMORY;
  double *number = in->scratch, *dphi = number + n, *dgrad = dphi + n;
  shape->row->by(dphi, dgrad, shape, dju_mulMtV(frame->R, side ? t->f.y_b : t->f.y));
  double of[4]; // by dphi and the entries of dgrad, on which all numbers act
  for (int k = 0; k < 4; k++) {
    djSurfaceChange e = {.T = 0};
    const djVec3 v = k > 0 ? dju_column(&frame->R, k - 1) : dju_vec3(0, 0, 0);
    dj_bendTouch(&e.y, &e.T, &e.n, &t->f, side, k == 0, v);
    of[k] = along(pair, t, U, &e, lambda);
  }
  for (int k = 0; k < n; k++) {
    const double* g = dgrad + 3 * k;
    number[k] = of[0] * dphi[k] + of[1] * g[0] + of[2] * g[1] + of[3] * g[2];
  }
  // The frame moves about its own origin, the references stay.
  djSurfacePair own = *pair;
  own.ref[side] = frame->p;
  double by[6];
  for (int j = 0; j < 6; j++) {
    djSurfaceChange e;
    dj_twistChange(&e, &own, rates, 6 * side + j);
    by[j] = along(pair, t, U, &e, lambda);
  }
  dj_fitGrad(grad, s, dju_mulMtV(body->R, dju_load3(by + 3)), dju_mulMtV(body->R, dju_load3(by)),
             number);
  return DJ_OK;
}

// normal and offset of a half space: about the world's origin they move as its body does.
static void planeVjp(djShapeGrad* grad, const djSurfacePair* pair, const djSurfaceTouch* t,
                     const djImplicitRates* rates, const double U[3], const djPairInput* in,
                     const double lambda[12]) {
  const djVec3 N = dju_neg3(pair->d);
  double by[3];
  djSurfaceChange lift = {.D = -1, .pb = N};
  grad->offset += along(pair, t, U, &lift, lambda);
  for (int k = 0; k < 3; k++) { // normal . x = offset in the body's frame
    const djVec3 v = dju_column(&in->pose_b->R, k);
    double turn[9] = {0};
    const djVec3 e = dju_neg3(v);
    dju_store3(turn + 3, dju_cross3(N, v));
    dju_store3(turn + 6, e);
    djSurfaceChange c = {.d = e, .D = dju_dot3(v, dju_sub3(pair->frame_a.p, in->pose_b->p))};
    dj_touchChange(&c, rates, turn);
    c.pb = dju_madd3(dju_scale3(c.D, pair->d), pair->D, e);
    by[k] = along(pair, t, U, &c, lambda);
  }
  grad->normal = dju_add3(grad->normal, dju_load3(by));
}

static djStatus vjp(djPairGrad* grad, djPairState* pair_state, const djPairInput* in,
                    const double lambda[12]) {
  State* state = stateOf(pair_state);
  djSurfacePair pair;
  djSurfaceTouch touch;
  if (!isGood(in)) return DJ_INVALID;
  djStatus status = dj_openSurfacePair(&pair, &state->last, in);
  if (status || dj_surfaceBound(&pair) > 0) return status;
  status = dj_findSurfaceTouch(&touch, &state->warm, &pair);
  if (status < 0 || !(touch.depth > 0)) return status;
  double U[3];
  law(U, in->setting, touch.depth);
  djImplicitRates rates;
  dj_moveTouch(&rates, &touch.f);
  djSurfaceChange e = {.force = U[1] / in->setting[DJ_IMPLICIT_STIFFNESS]};
  grad->setting[DJ_IMPLICIT_STIFFNESS] += along(&pair, &touch, U, &e, lambda);
  e.force = U[1] * log(touch.depth);
  grad->setting[DJ_IMPLICIT_EXPONENT] += along(&pair, &touch, U, &e, lambda);
  e = (djSurfaceChange){.inflate = 1};
  const double inflate = along(&pair, &touch, U, &e, lambda);
  dj_fitInflationGrad(grad->a, in->a, inflate);
  dj_fitInflationGrad(grad->b, in->b, inflate);
  status = shapeVjp(grad->a, &pair, &touch, &rates, U, in, 0, lambda);
  if (status) return status;
  if (!pair.half_space) return shapeVjp(grad->b, &pair, &touch, &rates, U, in, 1, lambda);
  planeVjp(grad->b, &pair, &touch, &rates, U, in, lambda);
  return DJ_OK;
}

const djKernel dj_implicitSurface = {
    .name = "implicit_surface",
    .smoothness = DJ_C1,
    .where =
        "at first touch with an exponent of at most 2; where origins coincide; flat on flat the "
        "point of contact is not certain",
    .energy = true,
    .symmetric = true,
    .overlaps = true,
    .state_size = sizeof(State),
    .nsetting = DJ_IMPLICIT_NSETTING,
    .setting = dj_implicitSettings,
    .rule = dj_implicitRules,
    .takes = dj_convexTakes,
    .range = range,
    .shapeSize = dj_surfaceSize,
    .makeShape = dj_makeSurface,
    .shapeParams = dj_surfaceParams,
    .gap = gap,
    .depth = dj_convexDepth,
    .begin = begin,
    .eval = eval,
    .vjp = vjp,
};
