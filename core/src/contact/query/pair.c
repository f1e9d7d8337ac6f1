// Contact queries: one pair of shapes, without a model (dijoco/contact.h).
//
// Each shape becomes a contact shape whose body frame has world axes and its origin where twists
// refer to, so that far places lose no digits. A plane is always the second of the pair inside;
// where it is given as the first, the two change places and results are turned round.

#include <dijoco/contact.h>

#include "base/status.h"
#include "contact/kernel_query.h"
#include "contact/query/query_shape.h"
#include "math/so3.h"
#include "model/check.h"
#include "shape/hull_surface.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static djStatus checkFriction(const djcFriction* f, djError* err) {
  if (!(f->coefficient >= 0) || !isfinite(f->coefficient)) {
    return dj_fail(err, DJ_INVALID, "friction: coefficient = %g is negative or not finite",
                   f->coefficient);
  }
  djStatus status = dj_sizeProblem(&f->coefficient, 1, DJ_LARGEST)
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

// s and L, where the kernel has them.
static djStatus checkOption(const djcOption* o, djError* err) {
  const djKernel* kernel = dj_kernel((int)o->model);
  if (!kernel) return dj_fail(err, DJ_INVALID, "unknown contact model %d", (int)o->model);
  bool own = false;
  for (int i = 0; i < kernel->settings->n; i++) own |= kernel->settings->row[i].field != NULL;
  djStatus status = DJ_OK;
  if (own && !(o->support > 0 && o->support < 1)) {
    return dj_fail(err, DJ_INVALID, "s = %g is not between 0 and 1", o->support);
  }
  if (own) status = checkUnit("s", o->support, err);
  if (own && !status) status = checkUnit("length_scale", o->length_scale, err);
  if (!(o->guide_scale >= 0) || o->guide_scale > DJ_LARGEST) {
    return dj_fail(err, DJ_INVALID, "guide_scale = %g is not between 0 and 1e20", o->guide_scale);
  }
  if (!status) status = dj_checkNumbers(o->twist_a, 6, "twist_a", err);
  if (!status) status = dj_checkNumbers(o->twist_b, 6, "twist_b", err);
  return status || !o->friction.enabled ? status : checkFriction(&o->friction, err);
}

// ------------------------------------------ settings -------------------------------------------

// What a query's option says about the settings of the first kernel, which are those of models too;
// the others' default rules. A query has no weight: 1 N.
static double givenFor(const djcOption* o, const djSetting* row) {
  const struct {
    size_t option;
    double value;
  } known[] = {{offsetof(djOption, support), o->support},
               {offsetof(djOption, length_scale), o->length_scale},
               {offsetof(djOption, stiffness), 1},
               {offsetof(djOption, skin), 0},
               {offsetof(djOption, friction_eps), o->friction.enabled ? o->friction.eps : 1},
               {offsetof(djOption, friction_arms), o->friction.enabled ? o->friction.arms : 0},
               {offsetof(djOption, friction_cap), o->friction.enabled ? o->friction.cap : 0}};
  for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
    if (row->field && row->offset == known[k].option) return known[k].value;
  }
  return -1;
}

static djStatus makeSettings(djContactQuery* q, const djcOption* o, djError* err) {
  const djKernel* kernel = q->kernel;
  double given[DJ_MAX_OF_KERNEL];
  for (int i = 0; i < kernel->settings->n; i++) given[i] = givenFor(o, &kernel->settings->row[i]);
  for (int k = 0; k < o->nsetting; k++) {
    const char* name = o->setting[k].name;
    int at = 0;
    while (at < kernel->settings->n && (!name || strcmp(kernel->settings->row[at].name, name) != 0)) at++;
    if (at == kernel->settings->n) {
      return dj_fail(err, DJ_INVALID, "%s has no setting '%.100s'", kernel->settings->name,
                     name ? name : "");
    }
    djProblemText what;
    const char* problem =
        dj_rowProblem(&what, &kernel->settings->row[at], &o->setting[k].value, false);
    if (problem) return dj_fail(err, DJ_INVALID, "%s %s", name, problem);
    given[at] = o->setting[k].value;
  }
  djContactScale scale = {{1, 1}, {0, 0}, 1, 9.81, o->friction.dt, 1, 1};
  double radius = INFINITY;
  for (int k = 0; k < 2; k++) {
    if (q->shape[k].type == DJ_PLANE) continue;
    radius = fmin(radius, q->shape[k].bound);
    scale.bound[k] = q->shape[k].bound;
  }
  if (radius > 0) scale.radius[0] = scale.radius[1] = radius;
  double l = scale.bound[0] + scale.bound[1];
  if (!(l > 0)) scale.bound[0] = scale.bound[1] = 0.5;   // two points
  if (!(scale.bound[0] > 0)) scale.bound[0] = l, scale.bound[1] = 0;   // one: their sum counts
  q->in.guide_part = q->in.recovery_part = 1;
  q->in.guide_scale = o->guide_scale > 0 ? o->guide_scale : l > 0 ? l : 1;
  return dj_applyRules(q->setting, kernel, &scale, given, err);
}

// ------------------------------------------ shapes ---------------------------------------------

// Parts of the surface: the given ones, or those of the hull; equal ones where there is none.
static void makeParts(djShape* out, const djcShape* s, double* mem) {
  djHull hull = {0};
  double* part = mem + 3 * out->npad;
  if (s->nweight > 0) {
    memcpy(part, s->weight, (size_t)out->nvert * sizeof *part);
    out->weight = part;
  } else if (s->nvert > 3 && dj_makeHull(&hull, s->nvert, s->vert, 0, NULL, NULL) == DJ_OK) {
    double* of_hull = mem;   // the vertices come later
    dj_hullSurface(of_hull, &hull);
    memset(part, 0, (size_t)out->npad * sizeof *part);
    for (int i = 0; i < hull.nvert; i++) part[hull.id[i]] = of_hull[i];
    out->weight = part;
  }
  dj_freeHull(&hull);
}

// mem: 4 npad, for the vertices and parts of the surface; zero: npad zeros.
static void makeShape(djShape* out, const djcShape* s, double* mem, const double* zero,
                      bool guided) {
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
  out->npad = dj_paddedCount(n);
  dj_roundQuery(out, s, R);
  out->curve_move = (djMat3){{0}};   // nothing erodes, as `move` says
  if (guided) makeParts(out, s, mem);
  for (int i = 0; i < out->npad; i++) {
    int j = i < n ? i : 0;
    djVec3 x, move;
    if (s->nvert > 0) {
      x = dju_sub3(dju_load3(s->vert + 3 * (size_t)j), dju_load3(s->origin));
    } else {
      dj_geomVertex(&x, &move, dj_geomRow((int)s->geom), s->size, j);
      x = dju_add3(dju_mulMV(R, x), place);
    }
    mem[i] = x.x;
    mem[out->npad + i] = x.y;
    mem[2 * out->npad + i] = x.z;
  }
  for (int k = 0; k < 3; k++) {
    out->vert[k] = mem + k * out->npad;
    out->move[k] = zero;
  }
  dj_centerShape(out);
}

static bool isGuided(const djcOption* o) {
  bool guided = false;
  for (int k = 0; k < o->nsetting; k++) {
    const djcSetting* s = &o->setting[k];
    guided |= s->name && strcmp(s->name, "guide") == 0 && s->value > 0;
  }
  return guided;
}

static int geomOf(const djcShape* s) { return s->nvert > 0 ? DJ_MESH : (int)s->geom; }

static void closeQuery(djContactQuery* q) {
  free(q->buffer);
  free(q->own);
  q->buffer = q->own = NULL;
}

static djStatus openQuery(djContactQuery* q, const djcShape* a, const djcShape* b,
                          const djcOption* option, djError* err) {
  memset(q, 0, sizeof *q);
  q->kernel = dj_kernel((int)option->model);
  q->option = option;
  q->swapped = dj_queryVertices(a) == 0;
  q->given[0] = q->swapped ? b : a;
  q->given[1] = q->swapped ? a : b;
  if (!q->kernel->takes(geomOf(q->given[0]), geomOf(q->given[1])) &&
      !q->kernel->takes(geomOf(q->given[1]), geomOf(q->given[0]))) {
    return dj_fail(err, DJ_UNSUPPORTED, "%s: a and b are of types that it does not have",
                   q->kernel->settings->name);
  }
  int npad[2], sum = 0;
  for (int k = 0; k < 2; k++) {
    npad[k] = dj_paddedCount(dj_queryVertices(q->given[k]));
    sum += npad[k];
  }
  size_t state = (q->kernel->state_size + sizeof(double) - 1) / sizeof(double);
  double* buffer = calloc(state + (size_t)sum * (5 + DJ_KERNEL_SCRATCH(1)), sizeof(double));
  if (!buffer) return dj_failMemory(err);
  q->buffer = buffer;
  q->state = (djPairState*)(void*)buffer;
  double *vert = buffer + state, *zero = vert + 4 * (size_t)sum;
  bool guided = isGuided(option);
  makeShape(&q->shape[0], q->given[0], vert, zero, guided);
  makeShape(&q->shape[1], q->given[1], vert + 4 * (size_t)npad[0], zero, guided);
  for (int k = 0; k < 2; k++) {
    q->start[k] = q->now[k] = (djPose){dju_load3(q->given[k]->origin), dju_eye3()};
  }
  q->in = (djPairInput){.a = &q->shape[0],
                        .b = &q->shape[1],
                        .pose_a = &q->now[0],
                        .pose_b = &q->now[1],
                        .start_a = &q->start[0],
                        .start_b = &q->start[1],
                        .rate_a = &q->start[0],
                        .rate_b = &q->start[1],
                        .ref_a = q->now[0].p,
                        .ref_b = q->now[1].p,
                        .twist_a = q->swapped ? option->twist_b : option->twist_a,
                        .twist_b = q->swapped ? option->twist_a : option->twist_b,
                        .h = option->friction.dt,
                        .setting = q->setting,
                        .friction = option->friction.enabled ? option->friction.coefficient : 0,
                        .state_size = q->kernel->state_size,
                        .scratch = zero + sum,
                        .nscratch = DJ_KERNEL_SCRATCH(sum)};
  djStatus status = q->kernel->queryShapes ? q->kernel->queryShapes(q, err) : DJ_OK;
  if (!status) status = makeSettings(q, option, err);
  if (status < 0) closeQuery(q);
  return status;
}

static djStatus queryDistance(djDistance* d, const djContactQuery* q, djError* err) {
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

// Kernels without a query of their own: one evaluation after the start.
static djStatus evalQuery(djContactQuery* q, djError* err) {
  djcResult* r = q->result;
  djPairOutput out;
  memset(&out, 0, sizeof out);
  out.twist_jac = r->twist_jac;
  djStatus status = dj_beginPair(q->kernel, q->state, &q->in);
  if (status == DJ_OVERLAP) { // a barrier's
    r->value = INFINITY;
    return DJ_OK;
  }
  if (q->option->friction.enabled) dj_moveQuery(q);
  if (status >= 0) status = q->kernel->eval(&out, q->state, &q->in, DJ_EVAL_HESSIAN);
  if (status < 0) return dj_fail(err, status, "the pair could not be evaluated");
  r->value = out.value;
  if (!isfinite(out.value)) return status;
  memcpy(r->twist_gradient, out.gradient, sizeof out.gradient);
  memcpy(r->twist_hessian, out.hessian, sizeof out.hessian);
  if (!q->swapped) return status;
  dj_swapHalves(r->twist_gradient);
  dj_swapHessian(r->twist_hessian);
  dj_swapHessian(r->twist_jac);
  return status;
}

static djStatus runPair(djcResult* r, double* gradient_a, double* gradient_b, double* hessian,
                        djContactQuery* q, djError* err) {
  djDistance d;
  djStatus status = queryDistance(&d, q, err);
  if (status) return status;
  r->gap = d.gap;
  r->energy = dj_traitsUnder(q->kernel, q->setting).energy;
  double* gradient[2] = {q->given[q->swapped]->nvert > 0 ? gradient_a : NULL,
                         q->given[!q->swapped]->nvert > 0 ? gradient_b : NULL};
  q->result = r;
  q->gradient[0] = gradient[q->swapped];
  q->gradient[1] = gradient[!q->swapped];
  q->hessian = hessian;
  if (q->kernel->query) return q->kernel->query(q, err);
  if (gradient[0] || gradient[1] || hessian) {
    return dj_fail(err, DJ_UNSUPPORTED, "%s has no derivatives by vertices", q->kernel->settings->name);
  }
  return evalQuery(q, err);
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
           dj_allFinite(r->twist_hessian, 144) && dj_allFinite(r->twist_jac, 144) &&
           isfinite(r->friction_value) &&
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
  djContactQuery q = {0};
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
  if (!status) status = runPair(result, gradient_a, gradient_b, hessian, &q, &err);
  if (status >= 0) {
    djStatus bad = checkResult(result, gradient_a, gradient_b, hessian, a, b, &err);
    if (bad < 0) status = bad;
  }
  closeQuery(&q);
  result->status = status;
  snprintf(result->message, sizeof result->message, "%.199s", err.text);
  return status;
}

djStatus djc_distance(double* gap, double normal[3], double point_a[3], double point_b[3],
                      const djcShape* a, const djcShape* b) {
  if (!gap || !normal || !point_a || !point_b || !a || !b) return DJ_INVALID;
  djContactQuery q;
  djDistance d;
  djcOption option = djc_defaultOption();
  djStatus status = checkShapes(a, b, NULL);
  if (status) return status;
  status = openQuery(&q, a, b, &option, NULL);
  if (!status) status = queryDistance(&d, &q, NULL);
  closeQuery(&q);
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
  djContactQuery q;
  djcOption option;
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
  p->option = *option;
  p->option.friction.enabled = false;
  status = openQuery(&p->q, a, b, &p->option, err);
  if (status) {
    free(p);
    return status;
  }
  p->option.setting = NULL;   // the caller's
  p->option.nsetting = 0;
  p->q.given[0] = p->q.given[1] = NULL;   // they are the caller's
  *pair = p;
  return DJ_OK;
}

void djc_deletePair(djcPair* pair) {
  if (!pair) return;
  closeQuery(&pair->q);
  free(pair);
}

void djc_forgetPair(djcPair* pair) {
  if (pair) memset(pair->q.state, 0, pair->q.kernel->state_size);
}

djStatus djc_evalPair(double* value, double gradient[12], double hessian[144], djcPair* pair,
                      const double pos_a[3], const double quat_a[4], const double pos_b[3],
                      const double quat_b[4]) {
  if (!value || !gradient || !hessian || !pair || !pos_a || !quat_a || !pos_b || !quat_b) {
    return DJ_INVALID;
  }
  double unit_a[4], unit_b[4];
  if (!dj_makeUnit(unit_a, quat_a, 4) || !dj_makeUnit(unit_b, quat_b, 4)) return DJ_INVALID;
  djContactQuery* q = &pair->q;
  int a = q->swapped, b = !q->swapped;
  q->now[a] = (djPose){dju_load3(pos_a), dju_quatToMat(dju_loadQuat(unit_a))};
  q->now[b] = (djPose){dju_load3(pos_b), dju_quatToMat(dju_loadQuat(unit_b))};
  q->in.ref_a = q->now[0].p;
  q->in.ref_b = q->now[1].p;
  djPairOutput out;
  out.twist_jac = NULL;
  djStatus status = q->kernel->eval(&out, q->state, &q->in, DJ_EVAL_HESSIAN);
  if (status < 0) return status;
  *value = out.value;
  memcpy(gradient, out.gradient, sizeof out.gradient);
  memcpy(hessian, out.hessian, sizeof out.hessian);
  if (!q->swapped) return status;
  dj_swapHalves(gradient);
  dj_swapHessian(hessian);
  return status;
}
