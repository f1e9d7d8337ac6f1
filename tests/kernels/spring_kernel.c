// A contact kernel that is written against the interface alone: a sphere on a half space, pushed
// out by a spring and a damper. No energy. With depth d, approach speed s and tangential velocity v
// of the sphere's body at the point x of the surface below its centre, the force on it at x is
//   F = d (k + c s) N - mu b d v

#include "spring_kernel.h"

#include "contact/shapes/convex.h"
#include "contact/wrench.h"

#include <string.h>

static double weightRule(const djContactScale* scale, const double* setting) {
  // sinks by a hundredth of the radius
  return setting[SPRING_STIFFNESS_SCALE] * 100 * scale->weight / scale->radius[0];
}

static double dampingRule(const djContactScale* scale, const double* setting) {
  return setting[SPRING_DAMPING_SCALE] * 0.5 * setting[SPRING_STIFFNESS] /
         sqrt(scale->gravity * scale->radius[0]);
}

#define ROW(text, of) .name = text, .unit = of, .size = 1, .zero = true, .ways = DJ_BY_PAIR
static const djSetting settings[SPRING_NSETTING] = {
    [SPRING_STIFFNESS_SCALE] = {ROW("stiffness_scale", ""), .standard = {1},
                                .help = "of stiffness"},
    [SPRING_DAMPING_SCALE] = {ROW("damping_scale", ""), .standard = {1}, .help = "of damping"},
    [SPRING_STIFFNESS] = {ROW("stiffness", "N/m"), .automatic = true, .help = "of the spring"},
    [SPRING_DAMPING] = {ROW("damping", "N s/m2"), .automatic = true,
                        .help = "of the damper, per depth"},
    [SPRING_VISCOSITY] = {ROW("viscosity", "N s/m2"), .standard = {1},
                          .help = "of friction, per depth"}};

static const djKernelRule rules[SPRING_NSETTING] = {
    [SPRING_STIFFNESS] = {.rule = weightRule,
                          .param = {"contact/spring/stiffness", "N/m", "of the spring", NULL},
                          .factor = SPRING_STIFFNESS_SCALE + 1},
    [SPRING_DAMPING] = {.rule = dampingRule,
                        .param = {"contact/spring/damping", "N s/m2", "of the damper", NULL},
                        .factor = SPRING_DAMPING_SCALE + 1},
    [SPRING_VISCOSITY] = {.param = {"contact/spring/viscosity", "N s/m2", "of friction", NULL}}};

static bool takes(int type_a, int type_b) { return type_a == DJ_SPHERE && type_b == DJ_PLANE; }

static double range(const double* setting) { return setting[SPRING_STIFFNESS] >= 0 ? 0 : NAN; }

typedef struct Touch {
  djVec3 c, N, x, u, F;      // centre, normal, point, relative velocity there, force on a
  double H, d, s;            // height of the centre, depth, approach speed
  djVec3 ref[2], w[2];       // reference points, angular velocities
  double k, damp, drag;      // drag: mu b
} Touch;

static Touch touchOf(const djPairInput* in) {
  Touch t = {.ref = {in->ref_a, in->ref_b}, .w = {dju_load3(in->twist_a), dju_load3(in->twist_b)},
             .k = in->setting[SPRING_STIFFNESS], .damp = in->setting[SPRING_DAMPING],
             .drag = in->friction * in->setting[SPRING_VISCOSITY]};
  const double* const* v = in->a->vert;
  t.c = dju_transform(in->pose_a, dju_vec3(v[0][0], v[1][0], v[2][0]));
  t.N = dju_mulMV(in->pose_b->R, in->b->normal);
  t.H = dju_dot3(t.N, dju_sub3(t.c, in->pose_b->p)) - in->b->offset;
  t.d = in->a->radius + in->inflate - t.H;
  t.x = dju_madd3(t.c, -t.H, t.N);
  t.u = dju_sub3(dj_twistField(in->twist_a, dju_sub3(t.x, t.ref[0])),
                 dj_twistField(in->twist_b, dju_sub3(t.x, t.ref[1])));
  t.s = -dju_dot3(t.N, t.u);
  t.F = dju_scale3(t.d * (t.k + t.damp * t.s), t.N);
  t.F = dju_madd3(t.F, -t.drag * t.d, dju_madd3(t.u, t.s, t.N));
  return t;
}

typedef struct Change {      // by how much all that changes; u: by velocities alone
  djVec3 c, N, u;
  double H, radius, k, damp, drag;
} Change;

// g (12, stride apart) += the gradient's change.
static void addChange(double* g, int stride, const Touch* t, const Change* e) {
  djVec3 dx = dju_madd3(dju_madd3(e->c, -e->H, t->N), -t->H, e->N);
  djVec3 du = dju_add3(e->u, dju_cross3(dju_sub3(t->w[0], t->w[1]), dx));
  djVec3 v = dju_madd3(t->u, t->s, t->N);
  double ds = -dju_dot3(e->N, t->u) - dju_dot3(t->N, du), dd = e->radius - e->H;
  djVec3 dv = dju_madd3(dju_madd3(du, ds, t->N), t->s, e->N);
  double f = t->k + t->damp * t->s, df = e->k + e->damp * t->s + t->damp * ds;
  djVec3 dF = dju_madd3(dju_scale3(dd * f + t->d * df, t->N), t->d * f, e->N);
  dF = dju_madd3(dju_madd3(dF, -t->drag * t->d, dv), -(t->drag * dd + e->drag * t->d), v);
  dj_addForce(g, stride, t->x, t->ref, dF);
  double turn[3];            // the arms change, too
  dju_store3(turn, dju_cross3(dx, t->F));
  for (int i = 0; i < 3; i++) g[i * stride] -= turn[i], g[(6 + i) * stride] += turn[i];
}

static bool isGood(const djPairInput* in) {
  if (!in || !in->a || !in->b || !in->pose_a || !in->pose_b || !in->setting) return false;
  if (!in->twist_a || !in->twist_b || in->a->nvert != 1 || in->a->npad < 1) return false;
  if (!dj_settingsValid(&test_springKernel, in->setting)) return false;
  Touch t = touchOf(in);
  return isfinite(t.d) && isfinite(dju_dot3(t.F, t.F));
}

static djStatus eval(djPairOutput* out, djPairState* state, const djPairInput* in, int flags) {
  (void)state;
  if (!isGood(in)) return DJ_INVALID;
  Touch t = touchOf(in);
  *out = (djPairOutput){.gap = -t.d, .active = t.d > 0, .twist_jac = out->twist_jac};
  if (out->twist_jac) memset(out->twist_jac, 0, 144 * sizeof(double));
  if (!out->active) return DJ_OK;
  dj_addForce(out->gradient, 1, t.x, t.ref, t.F);
  for (int j = 0; j < 12 && (flags & (DJ_EVAL_HESSIAN | DJ_EVAL_MAJORIZER)); j++) {
    double e[6] = {0}, sign = j < 6 ? 1 : -1;
    e[j % 6] = 1;
    djVec3 move = dj_twistField(e, dju_sub3(t.c, t.ref[j / 6])), none = {0, 0, 0};
    Change pose = {.c = j < 6 ? move : none, .H = sign * dju_dot3(t.N, move)};
    if (j >= 6) pose.N = dju_cross3(dju_load3(e), t.N);
    Change velocity = {.u = dju_scale3(sign, dj_twistField(e, dju_sub3(t.x, t.ref[j / 6])))};
    addChange(out->hessian + j, 12, &t, &pose);
    if (out->twist_jac) addChange(out->twist_jac + j, 12, &t, &velocity);
  }
  if (flags & (DJ_EVAL_HESSIAN | DJ_EVAL_MAJORIZER)) dj_toExponential(out->hessian, out->gradient);
  return DJ_OK;
}

static double alongLambda(const Touch* t, const Change* e, const double lambda[12]) {
  double g[12] = {0}, sum = 0;
  addChange(g, 1, t, e);
  for (int i = 0; i < 12; i++) sum += lambda[i] * g[i];
  return sum;
}

static djStatus vjp(djPairGrad* grad, djPairState* state, const djPairInput* in,
                    const double lambda[12]) {
  (void)state;
  if (!isGood(in)) return DJ_INVALID;
  Touch t = touchOf(in);
  if (!(t.d > 0)) return DJ_OK;
#define ALONG(...) alongLambda(&t, &(Change){__VA_ARGS__}, lambda)
  grad->setting[SPRING_STIFFNESS] += ALONG(.k = 1);
  grad->setting[SPRING_DAMPING] += ALONG(.damp = 1);
  grad->setting[SPRING_VISCOSITY] += ALONG(.drag = in->friction);
  grad->friction += ALONG(.drag = in->setting[SPRING_VISCOSITY]);
  grad->a->radius += ALONG(.radius = 1);
  grad->b->offset += ALONG(.H = -1);
  double normal[3] = {0, 0, 0};
  for (int k = 0; k < 3; k++) {
    djVec3 a = dju_column(&in->pose_a->R, k), b = dju_column(&in->pose_b->R, k);
    grad->a->vert[k][0] += ALONG(.c = a, .H = dju_dot3(t.N, a));
    normal[k] = ALONG(.N = b, .H = dju_dot3(b, dju_sub3(t.c, in->pose_b->p)));
  }
  grad->b->normal = dju_add3(grad->b->normal, dju_load3(normal));
  return DJ_OK;
}

const djKernelSettings test_springSettings = {"spring", SPRING_NSETTING, settings, rules};

const djKernel test_springKernel = {
    .settings = &test_springSettings, .smoothness = DJ_C1, .where = "at first touch",
    .traits = {.uses_twist = true, .overlaps = true},
    .range = range,
    .takes = takes, .shapeSize = dj_convexSize, .makeShape = dj_makeConvex, .eval = eval,
    .shapeParams = dj_convexParams, .gap = dj_convexGap, .depth = dj_convexDepth, .vjp = vjp};
