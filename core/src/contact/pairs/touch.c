#include "contact/pairs/touch.h"

#include "math/block6.h"
#include "math/so3.h"
#include "model/kinematics.h"
#include "shape/curve.h"
#include "shape/soft.h"

#include <math.h>
#include <string.h>

// ------------------------------------------ ways -----------------------------------------------

djFlight dj_alongFlight(const djFlight* way, double time) {
  djFlight to = *way;
  double half = 0.5 * time * time;
  djVec3 turned = dju_madd3(dju_scale3(time, way->turn), half, way->spin);
  djMat3 E = dju_quatToMat(dju_expQuat(turned));
  to.com = dju_madd3(dju_madd3(way->com, time, way->move), half, way->push);
  to.move = dju_madd3(way->move, time, way->push);
  to.turn = dju_madd3(way->turn, time, way->spin);
  to.pose.R = dju_mulMM(E, way->pose.R);
  to.pose.p = dju_add3(to.com, dju_mulMV(E, dju_sub3(way->pose.p, way->com)));
  return to;
}

// Bound of the speed at which points of both bodies approach in a time.
static double speedBound(const djModel* m, const djNearPair* p, const djFlight way[2],
                         double time) {
  const int body[2] = {p->body_a, p->body_b};
  double sum = dju_norm3(dju_sub3(way[1].move, way[0].move));
  sum += time * dju_norm3(dju_sub3(way[1].push, way[0].push));
  for (int k = 0; k < 2; k++) {
    double reach = m->collision->reach[body[k]] + dju_norm3(dju_sub3(way[k].com, way[k].pose.p));
    double turn = dju_norm3(way[k].turn) + time * dju_norm3(way[k].spin);
    if (turn > 0) sum += turn * reach;
  }
  return sum;
}

// ------------------------------------------ one place ------------------------------------------

// Speeds below which the barrier itself resolves an impact: of one that crosses a half of its range
// in a step, and more than gravity gives in two. Like other defaults they are held in the design.
static double leastSpeed(const djModel* m, const djNearPair* p) {
  djContactScale scale = dj_pairScale(m, p->low, p->high);
  double r = fmin(scale.radius[0], scale.radius[1]);
  return fmin(0.02 * r / scale.timestep, 0.15) + 2 * scale.gravity * scale.timestep;
}

// Of soft maxima over vertices, m; held as well.
static double softness(const djModel* m, const djNearPair* p) {
  djContactScale scale = dj_pairScale(m, p->low, p->high);
  return 1e-3 * fmin(scale.radius[0], scale.radius[1]);
}

static djPairInput inputOf(double* setting, double* level, djContacts* c, const djModel* m,
                           const djNearPair* p, const djPose pose[2], const djVec3 com[2]) {
  static const double still[6] = {0};
  const djShape* shape = m->collision->shape + p->use * m->ngeom;
  int kernel = dj_pairKernel(m, p->low, p->high);
  dj_pairSettings(setting, m, kernel, p->low, p->high);
  *level = p->kernel->touch(setting, NULL);
  return (djPairInput){
      .a = &shape[p->a],
      .b = &shape[p->b],
      .pose_a = &pose[0],
      .pose_b = &pose[1],
      .start_a = &pose[0],
      .start_b = &pose[1],
      .rate_a = &pose[0],
      .rate_b = &pose[1],
      .ref_a = com[0],
      .ref_b = com[1],
      .twist_a = still,
      .twist_b = still,
      .timestep = m->opt.timestep,
      .h = m->opt.timestep,   // over which nothing moves
      .setting = setting,
      .force_cap = m->contact.weight,
      .inflate = p->inflate,
      .lower = p->lower,
      .recovery_part = p->recovery_part,
      .scratch = c->scratch,
      .nscratch = c->nscratch,
  };
}

// A shape whose faces and edges count as a whole where they lie nearly across a direction: with one
// vertex for each, the farthest would jump from end to end as they tilt.
static djSoft softened(const djShape* shape, double soft) {
  return (djSoft){.core = *shape, .t = soft};
}

// The point of a shape farthest along n, world axes. Not of planes.
static djVec3 farthest(const djShape* shape, const djPose* pose, djVec3 n, double soft) {
  djSoft s = softened(shape, soft);
  djSoftPoint at;
  dj_softSupport(&at, &s, dju_mulMtV(pose->R, n));
  return dju_transform(pose, at.x);
}

// Normal and point from the force on b and its torque about com[1].
static void locate(djTouch* t, const djShape* a, const djShape* b) {
  djVec3 f = dju_neg3(dju_load3(t->gradient + 9)), torque = dju_neg3(dju_load3(t->gradient + 6));
  double square = dju_dot3(f, f);
  djVec3 n = dju_scale3(1 / sqrt(square), f);
  djVec3 foot = dju_madd3(t->com[1], 1 / square, dju_cross3(f, torque));
  t->normal = n;
  t->surface[0] = farthest(a, &t->pose[0], n, t->soft);
  if (b->type == DJ_PLANE) {
    djVec3 up = dju_mulMV(t->pose[1].R, b->normal);
    double above = dju_dot3(up, dju_sub3(foot, t->pose[1].p)) - b->offset;
    t->surface[1] = dju_madd3(foot, -above, up);
  } else {
    t->surface[1] = farthest(b, &t->pose[1], dju_neg3(n), t->soft);
  }
  double height = 0.5 * (dju_dot3(n, t->surface[0]) + dju_dot3(n, t->surface[1]));
  t->point = dju_madd3(foot, height - dju_dot3(n, foot), n);
}

djStatus dj_evalTouch(djTouch* t, djContacts* c, const djModel* m, const djNearPair* p,
                      const djPose pose[2], const djVec3 com[2], bool cold) {
  double setting[DJ_MAX_OF_KERNEL];
  djPairOutput out = {.twist_jac = NULL};
  djPairInput in = inputOf(setting, &t->level, c, m, p, pose, com);
  if (cold) memset(c->touch_state, 0, c->touch_size);
  for (int k = 0; k < 2; k++) {
    t->pose[k] = pose[k];
    t->com[k] = com[k];
  }
  t->soft = softness(m, p);
  djStatus status = p->kernel->eval(&out, (djPairState*)(void*)c->touch_state, &in,
                                    DJ_EVAL_HESSIAN);
  if (status < 0) return status;
  t->size = 0;
  if (!out.active) return DJ_OK;
  if (!(out.value < INFINITY)) {
    t->size = INFINITY;
    return DJ_OK;
  }
  double inv = 1 / t->level;
  for (int k = 0; k < 12; k++) t->gradient[k] = inv * out.gradient[k];
  for (int k = 0; k < 144; k++) t->hessian[k] = inv * out.hessian[k];
  t->size = dju_norm3(dju_load3(t->gradient + 9));
  if (t->size > 0) locate(t, in.a, in.b);
  return DJ_OK;
}

void dj_pullTouch(double out[12], const djTouch* t, const double lambda[12]) {
  for (int i = 0; i < 12; i++) {
    for (int k = 0; k < 12; k++) out[k] += lambda[i] * t->hessian[12 * i + k];
  }
  for (int side = 0; side < 2; side++) {
    double nested[36] = {0}, zero[36] = {0};
    dj_addNested(nested, zero, t->gradient + 6 * side);
    for (int r = 0; r < 3; r++) {
      for (int k = 0; k < 6; k++) {
        out[6 * side + k] += lambda[6 * side + r] * nested[6 * r + k];
      }
    }
  }
}

// ------------------------------------------ time -----------------------------------------------

// A pair that has just been struck still touches, whichever side of 1 its opening is on by rounding:
// else impulses of several pairs at one time came in one order or another.
#define ROUNDING 1e-10

// size^(-1/6) falls almost linearly as the gap closes: 1 at a touch. Infinite where apart.
static double openingOf(const djTouch* t) {
  if (!(t->size < INFINITY)) return 0;
  return t->size > 0 ? pow(t->size, -1.0 / 6) : INFINITY;
}

// Its rate, per second, where 0 < size < infinity.
static double rateOf(const djTouch* t, const djFlight way[2], double opening) {
  double lambda[12] = {0}, by[12] = {0}, rate = 0;
  dju_store3(lambda + 9, dju_neg3(t->normal));   // size = -normal . gradient
  dj_pullTouch(by, t, lambda);
  for (int k = 0; k < 2; k++) {
    rate += dju_dot3(dju_load3(by + 6 * k), way[k].turn) +
            dju_dot3(dju_load3(by + 6 * k + 3), way[k].move);
  }
  return -opening / (6 * t->size) * rate;
}

typedef struct Search {
  djTouch* touch;
  djContacts* c;
  const djModel* m;
  const djNearPair* p;
  const djFlight* way;
  double opening, rate;
  bool begun;
} Search;

static djStatus look(Search* s, double time) {
  djFlight at[2] = {dj_alongFlight(&s->way[0], time), dj_alongFlight(&s->way[1], time)};
  const djPose pose[2] = {at[0].pose, at[1].pose};
  const djVec3 com[2] = {at[0].com, at[1].com};
  djStatus status = dj_evalTouch(s->touch, s->c, s->m, s->p, pose, com, !s->begun);
  s->begun = true;
  s->opening = openingOf(s->touch);
  s->rate = 0;
  if (s->opening > 0 && s->opening < INFINITY) s->rate = rateOf(s->touch, at, s->opening);
  return status;
}

// How fast the gap may close at most in a time, where the plane between both has the normal n: by
// how they move along it, and by how far out they turn.
static double closingBound(const djModel* m, const djNearPair* p, const djFlight way[2], djVec3 n,
                           double time) {
  djFlight still[2] = {way[0], way[1]};
  double along = dju_dot3(n, dju_sub3(way[0].move, way[1].move));
  double gain = dju_dot3(n, dju_sub3(way[0].push, way[1].push));
  for (int k = 0; k < 2; k++) still[k].move = still[k].push = dju_vec3(0, 0, 0);
  return along + fmax(time * gain, 0) + speedBound(m, p, still, time);
}

// The gap at a time, and a bound of the rate at which it closes from there on, until `most`.
static djStatus gapAt(double* gap, double* closing, const Search* s, double time, double most) {
  djFlight a = dj_alongFlight(&s->way[0], time), b = dj_alongFlight(&s->way[1], time);
  djGeomPair pair = dj_geomPair(s->c, s->p, s->m, s->c->start);
  djDistance d;
  pair.pose_a = &a.pose;
  pair.pose_b = &b.pose;
  djStatus status = s->p->kernel->gap(&d, NULL, &pair);
  *gap = d.gap;
  const djFlight at[2] = {a, b};
  *closing = closingBound(s->m, s->p, at, d.normal, most - time);
  return status;
}

// Between lo, where they are apart, and hi, where they are not: opening = 1 to rounding.
static djStatus refine(double* time, Search* s, double lo, double hi) {
  double t = hi;
  for (int k = 0; k < 60; k++) {
    double next = s->rate < 0 ? t + (1 - s->opening) / s->rate : NAN;
    if (!(next > lo && next < hi)) next = 0.5 * (lo + hi);
    double step = fabs(next - t);
    t = next;
    djStatus status = look(s, t);
    if (status < 0) return status;
    if (s->opening > 1) lo = t;
    else hi = t;
    if (fabs(s->opening - 1) < 1e-14 || step <= 1e-16 * fabs(t)) break;
  }
  *time = t;
  return DJ_OK;
}

djStatus dj_timeOfTouch(double* time, bool* timed, djTouch* touch, djContacts* c, const djModel* m,
                        const djNearPair* p, const djFlight way[2], double most) {
  Search s = {touch, c, m, p, way, 0, 0, false};
  double bound = speedBound(m, p, way, most), t = 0, apart = 0, range = p->range;
  *time = INFINITY;
  *timed = true;
  touch->low = p->low;
  touch->high = p->high;
  touch->body[0] = p->body_a;
  touch->body[1] = p->body_b;
  touch->friction = p->friction;
  touch->restitution = p->restitution;
  touch->speed = leastSpeed(m, p);
  if (bound <= touch->speed) return DJ_OK;
  for (int k = 0; k < 1000 && t <= most; k++) {
    double gap, closing, last = t;
    djStatus status = gapAt(&gap, &closing, &s, t, most);
    if (status < 0) return status;
    if (gap - closing * (most - t) > 4 * range) return DJ_OK;
    if (gap > 4 * range) {
      t += (gap - 3.5 * range) / closing;
    } else {
      status = look(&s, t);
      if (status < 0) return status;
      if (s.opening <= (t > 0 ? 1 : 1 + ROUNDING)) {
        *timed = t > 0;
        if (t > 0) return refine(time, &s, apart, t);
        *time = touch->size < INFINITY ? 0 : INFINITY;
        return DJ_OK;
      }
      double jump = s.rate < 0 ? (1 - s.opening) / s.rate : INFINITY;
      t += fmax(fmin(1.0001 * jump, fmax(gap, range) / bound), 0.05 * range / bound);
    }
    apart = last;
    if (t > most && last < most) t = most;
  }
  return DJ_OK;
}

// ------------------------------------------ parameters -----------------------------------------

// Of along times the height of a shape along n, world axes.
static void addSurface(djShapeGrad* grad, const djShape* shape, const djPose* pose, djVec3 n,
                       djVec3 surface, double along, double soft) {
  djVec3 local = dju_mulMtV(pose->R, n);
  if (shape->type == DJ_PLANE) {   // n = -up: n . x = -up . p - offset about x
    djVec3 x = dju_mulMtV(pose->R, dju_sub3(surface, pose->p));
    grad->offset -= along;
    grad->normal = dju_madd3(grad->normal, along, x);
    return;
  }
  djSoft s = softened(shape, soft);
  dj_softVertexGrad(grad->vert, along, &s, local);
  grad->radius += along;
  if (shape->curved) dj_curveGrad(&grad->curve, along, &shape->curve, local, NULL);
}

djStatus dj_touchParams(double* param, djShapeGrad* shape, djContacts* c, const djModel* m,
                        const djTouch* t, const double lambda[12], double along,
                        djImpactSlopes by) {
  djNearPair p;
  dj_newPair(&p, c, m, t->low, t->high);
  double setting[DJ_MAX_OF_KERNEL], scaled[12], level, by_level = 0;
  djPairInput in = inputOf(setting, &level, c, m, &p, t->pose, t->com);
  shape += p.use * m->ngeom;
  djPairGrad grad = {.a = &shape[p.a], .b = &shape[p.b]};
  for (int k = 0; k < 12; k++) {
    scaled[k] = lambda[k] / level;
    by_level -= scaled[k] * t->gradient[k];
  }
  if (!p.kernel->vjp) return DJ_UNSUPPORTED;
  memset(c->touch_state, 0, c->touch_size);
  djStatus status = p.kernel->vjp(&grad, (djPairState*)(void*)c->touch_state, &in, scaled);
  if (status < 0) return status;
  bool plane = in.b->type == DJ_PLANE;
  djVec3 n = t->normal;
  addSurface(grad.a, in.a, &t->pose[0], n, t->surface[0], 0.5 * along, t->soft);
  addSurface(grad.b, in.b, &t->pose[1], plane ? n : dju_neg3(n), t->surface[1],
             plane ? 0.5 * along : -0.5 * along, t->soft);
  double given[DJ_MAX_OF_KERNEL];
  dj_pairSettings(given, m, dj_pairKernel(m, t->low, t->high), t->low, t->high);
  memcpy(setting, given, sizeof given);
  grad.setting[0] = by_level;
  p.kernel->touch(setting, grad.setting);
  dj_addSettingParams(param, m, c->first[p.use], &p, given, grad.setting);
  const djCone none = {0};
  dj_addFrictionParams(param, m, &p, by.friction, &none);
  dj_addRestitutionParams(param, m, &p, by.restitution);
  return status;
}
