// lambda . gradient depends on shapes through up to three touches: at the poses now, through its
// gradient; at the poses that velocities count from, through the depth of damping; at the start of
// the step, through the lift, and through friction's point, plane and load. Of each it is a linear
// function of a djSurfaceChange, so that it is kept as one, and shapes see no more than that.

#include "contact/implicit/implicit_vjp.h"

#include "base/status.h"
#include "contact/implicit/implicit_fit.h"

// A touch, and derivatives by all that may change of it.
typedef struct View {
  djSurfacePair pair;
  djSurfaceTouch touch;
  const djPose *pose_a, *pose_b;
  djSurfaceChange by;
} View;

static double* numbersOf(djSurfaceChange* e) { return (double*)(void*)e; }

// ---- shapes -----------------------------------------------------------------------------------

// By the surface's numbers, and by its frame, which moves as its body would.
static djStatus shapeVjp(djShapeGrad* grad, const View* v, const djImplicitRates* rates,
                         const djPairInput* in, int side) {
  const djSurfacePair* pair = &v->pair;
  const djSurfaceTouch* t = &v->touch;
  const djShape* s = side ? in->b : in->a;
  const djImplicit* shape = side ? &pair->b : &pair->a;
  const djPose* frame = side ? &pair->frame_b : &pair->frame_a;
  const djPose* body = side ? v->pose_b : v->pose_a;
  const int n = shape->nsize;
  if (n > in->nscratch || !in->scratch) return DJ_NO_MEMORY;
  double *number = in->scratch, of[4]; // by dphi and the entries of dgrad, on which all numbers act
  for (int k = 0; k < 4; k++) {
    djSurfaceChange e = {.T = 0};
    const djVec3 w = k > 0 ? dju_column(&frame->R, k - 1) : dju_vec3(0, 0, 0);
    dj_bendTouch(&e.y, &e.T, &e.n, &t->f, side, k == 0, w);
    of[k] = dj_dotChanges(&v->by, &e);
  }
  dj_mapNumbers(number, 1, of, shape, dju_mulMtV(frame->R, side ? t->f.y_b : t->f.y));
  djSurfacePair own = *pair; // whose twists are about the frame's origin
  double by[6];
  own.ref[side] = frame->p;
  for (int j = 0; j < 6; j++) {
    djSurfaceChange e;
    dj_twistChange(&e, &own, rates, 6 * side + j);
    by[j] = dj_dotChanges(&v->by, &e);
  }
  dj_fitGrad(grad, s, dju_mulMtV(body->R, dju_load3(by + 3)), dju_mulMtV(body->R, dju_load3(by)),
             number);
  return DJ_OK;
}

// normal and offset of a half space: about the world's origin they move as its body does.
static void planeVjp(djShapeGrad* grad, const View* v, const djImplicitRates* rates) {
  const djSurfacePair* pair = &v->pair;
  const djVec3 N = dju_neg3(pair->d);
  double by[3];
  djSurfaceChange lift = {.D = -1, .pb = N};
  grad->offset += dj_dotChanges(&v->by, &lift);
  for (int k = 0; k < 3; k++) { // normal . x = offset in the body's frame
    const djVec3 axis = dju_column(&v->pose_b->R, k);
    double turn[9] = {0};
    const djVec3 e = dju_neg3(axis);
    dju_store3(turn + 3, dju_cross3(N, axis));
    dju_store3(turn + 6, e);
    djSurfaceChange c = {.d = e, .D = dju_dot3(axis, dju_sub3(pair->frame_a.p, v->pose_b->p))};
    dj_touchChange(&c, rates, turn);
    c.pb = dju_madd3(dju_scale3(c.D, pair->d), pair->D, e);
    by[k] = dj_dotChanges(&v->by, &c);
  }
  grad->normal = dju_add3(grad->normal, dju_load3(by));
}

static djStatus shapesVjp(djPairGrad* grad, const View* v, const djPairInput* in) {
  djImplicitRates rates;
  dj_moveTouch(&rates, &v->touch.f);
  dj_fitInflationGrad(grad->a, in->a, v->by.inflate);
  dj_fitInflationGrad(grad->b, in->b, v->by.inflate);
  const djStatus status = shapeVjp(grad->a, v, &rates, in, 0);
  if (status) return status;
  if (!v->pair.half_space) return shapeVjp(grad->b, v, &rates, in, 1);
  planeVjp(grad->b, v, &rates);
  return DJ_OK;
}

// ---- what depends on them ---------------------------------------------------------------------

static void addNormal(View* v, const djImplicitForce* force, const double lambda[12]) {
  for (int i = 0; i < DJ_SURFACE_CHANGES; i++) {
    djSurfaceChange e = {.T = 0};
    double g[12] = {0};
    numbersOf(&e)[i] = 1;
    dj_addSurfaceChange(g, 1, &v->pair, &v->touch, force->f, force->by_depth, &e);
    for (int j = 0; j < 12; j++) numbersOf(&v->by)[i] += lambda[j] * g[j];
  }
}

// by: derivative by the depth t0.
static void addDepth(View* v, double by) {
  v->by.T += by;
  v->by.D -= by;
  v->by.inflate += by;
}

// The plane passes through both points, which are one.
static djStatus addFriction(View* v, double* by_past, djPairGrad* grad, djSurfaceState* state,
                            const djPairInput* in, const double lambda[12]) {
  djSurfaceLag lag;
  double point[6], pressed[2], load;
  djLaggedGrad g = {.point = point, .force = pressed};
  dj_openSurfaceLag(&lag, state, in);
  const djStatus status = dj_frictionVjp(&g, &state->friction, &lag.lagged, in, lambda);
  if (status < 0) return status;
  djVec3 by_x = dju_load3(point), by_n = dju_load3(g.normal);
  double by_load = pressed[0];
  if (!v->pair.half_space) {
    by_x = dju_add3(by_x, dju_load3(point + 3));
    by_load += pressed[1];
  }
  by_x = dju_madd3(by_x, -g.offset, state->normal);
  by_n = dju_madd3(by_n, -g.offset, state->point);
  const djImplicitForce force = dj_surfaceLoad(&load, by_past, &v->touch, state, in);
  *by_past *= by_load;
  for (int i = 0; i < DJ_SURFACE_CHANGES; i++) {
    djSurfaceChange e = {.T = 0};
    numbersOf(&e)[i] = 1;
    numbersOf(&v->by)[i] += dju_dot3(by_x, dj_pointChange(&v->touch, &e)) + dju_dot3(by_n, e.n) +
                            by_load * dj_loadChange(&v->pair, &v->touch, &force, &e);
  }
  for (int i = 0; i < DJ_IMPLICIT_NSETTING; i++) {
    const djSurfaceChange e = {.force = force.by_setting[i]};
    grad->setting[i] +=
        by_load * dj_loadChange(&v->pair, &v->touch, &(djImplicitForce){.f = 0}, &e);
  }
  grad->friction += g.coefficient;
  dj_addCone(&grad->cone, &g.cone);
  int smaller = dj_smallerShape(in);
  if (smaller >= 0) (smaller ? grad->b : grad->a)->bound += g.size;
  return status;
}

static djStatus openView(View* v, const djSurfaceState* state, const djPairInput* in,
                         const djPose* pose_a, const djPose* pose_b) {
  *v = (View){.pose_a = pose_a, .pose_b = pose_b};
  return dj_touchAt(&v->pair, &v->touch, state, in, pose_a, pose_b);
}

// By all settings; without damping that by it needs the depth of which nothing else asks.
static djStatus addSettings(djPairGrad* grad, const djSurfaceState* state, const djPairInput* in,
                            const djSurfaceTouch* touch, const djImplicitForce* force,
                            double along) {
  for (int i = 0; i < DJ_IMPLICIT_NSETTING; i++) grad->setting[i] += along * force->by_setting[i];
  grad->setting[DJ_IMPLICIT_SUPPORT] += along * dj_byLift(force) * dj_liftOf(state, in).by_support;
  if (in->setting[DJ_IMPLICIT_DAMPING] > 0) return DJ_OK;
  View v;
  const djStatus status = openView(&v, state, in, in->rate_a, in->rate_b);
  if (status < 0) return status;
  const double approach = (touch->depth - v.touch.depth) / in->h;
  grad->setting[DJ_IMPLICIT_DAMPING] += along * force->f * approach;
  return status;
}

djStatus dj_surfaceVjp(djPairGrad* grad, djSurfaceState* state, const djPairInput* in,
                       const djSurfacePair* pair, const djSurfaceTouch* touch,
                       const djImplicitForce* force, const double lambda[12]) {
  djStatus status = DJ_OK, worst = DJ_OK;
  double by_start = 0, by_lift = 0;
  View v;
  if (force) {
    v = (View){.pair = *pair, .touch = *touch, .pose_a = in->pose_a, .pose_b = in->pose_b};
    double unit[12], along = 0;
    dj_surfaceGradient(unit, touch, 1);
    for (int i = 0; i < 12; i++) along += lambda[i] * unit[i];
    worst = addSettings(grad, state, in, touch, force, along);
    if (worst < 0) return worst;
    by_start = along * force->by_start;
    by_lift = along * dj_byLift(force) * dj_liftOf(state, in).by_depth;
    addNormal(&v, force, lambda);
    status = shapesVjp(grad, &v, in);
  }
  if (!status && by_start != 0) {
    worst = openView(&v, state, in, in->rate_a, in->rate_b);
    if (worst < 0) return worst;
    addDepth(&v, by_start);
    status = shapesVjp(grad, &v, in);
  }
  if (!status && by_lift != 0) {
    worst = openView(&v, state, in, in->start_a, in->start_b);
    if (worst < 0) return worst;
    addDepth(&v, by_lift);
    status = shapesVjp(grad, &v, in);
  }
  if (status || !dj_hasSurfaceLag(state, in)) return status ? status : worst;
  worst = openView(&v, state, in, in->start_a, in->start_b);
  if (worst < 0) return worst;
  double by_past;
  const djStatus sliding = addFriction(&v, &by_past, grad, state, in, lambda);
  if (sliding < 0) return sliding;
  status = shapesVjp(grad, &v, in);
  if (!status && by_past != 0) {
    v = (View){.pose_a = in->past_a, .pose_b = in->past_b};
    worst = dj_pastTouch(&v.pair, &v.touch, state, in);
    if (worst < 0) return worst;
    addDepth(&v, by_past);
    status = shapesVjp(grad, &v, in);
  }
  return status ? status : sliding ? sliding : worst;
}
