// A contact kernel of the tests without an energy that sees no velocities: two spheres push each
// other aside. With w the sum of both bodies' z axes, d = c_b - c_a and r = |d|, the force on a at
// the middle of the centres is
//   F = -k w x d/r^3.

#include "swirl_kernel.h"

#include "contact/shapes/convex.h"
#include "contact/wrench.h"

#include <string.h>

static const djSetting settings[] = {{.name = "strength", .unit = "N m2", .size = 1, .zero = true,
                                      .standard = {1e-2}, .ways = DJ_BY_PAIR,
                                      .help = "force at a distance of 1 m by half w"}};
static const djKernelRule rules[] = {
    {.param = {"contact/swirl/strength", "N m2", "force at a distance of 1 m by half w", NULL}}};

static bool takes(int type_a, int type_b) { return type_a == DJ_SPHERE && type_b == DJ_SPHERE; }

static double range(const double* setting) {
  (void)setting;
  return INFINITY;
}

typedef struct Pair {
  djVec3 c[2], axis[2], ref[2];
  djVec3 w, d, x, F;
  double r, k;
} Pair;

static djVec3 centreOf(const djShape* s, const djPose* T) {
  return dju_transform(T, dju_vec3(s->vert[0][0], s->vert[1][0], s->vert[2][0]));
}

static Pair pairOf(const djPairInput* in) {
  Pair p = {.c = {centreOf(in->a, in->pose_a), centreOf(in->b, in->pose_b)},
            .axis = {dju_column(&in->pose_a->R, 2), dju_column(&in->pose_b->R, 2)},
            .ref = {in->ref_a, in->ref_b}, .k = in->setting[0]};
  p.w = dju_add3(p.axis[0], p.axis[1]);
  p.d = dju_sub3(p.c[1], p.c[0]);
  p.r = dju_norm3(p.d);
  p.x = dju_scale3(0.5, dju_add3(p.c[0], p.c[1]));
  p.F = dju_scale3(-p.k / (p.r * p.r * p.r), dju_cross3(p.w, p.d));
  return p;
}

// g (12, stride apart) += the gradient's change, where the centres move and w changes.
static void addChange(double* g, int stride, const Pair* p, const djVec3 dc[2], djVec3 dw) {
  djVec3 dd = dju_sub3(dc[1], dc[0]), dx = dju_scale3(0.5, dju_add3(dc[0], dc[1]));
  djVec3 turned = dju_add3(dju_cross3(dw, p->d), dju_cross3(p->w, dd));
  djVec3 dF = dju_scale3(-p->k / (p->r * p->r * p->r), turned);
  dF = dju_madd3(dF, -3 * dju_dot3(p->d, dd) / (p->r * p->r), p->F);
  dj_addForce(g, stride, p->x, p->ref, dF);
  double turn[3];   // the arms change, too
  dju_store3(turn, dju_cross3(dx, p->F));
  for (int i = 0; i < 3; i++) g[i * stride] -= turn[i], g[(6 + i) * stride] += turn[i];
}

static bool isGood(const djPairInput* in) {
  if (!in || !in->a || !in->b || !in->pose_a || !in->pose_b || !in->setting) return false;
  if (in->a->nvert != 1 || in->a->npad < 1 || in->b->nvert != 1 || in->b->npad < 1) return false;
  if (!isfinite(in->inflate) || !dj_settingsValid(&test_swirlKernel, in->setting)) return false;
  Pair p = pairOf(in);
  return p.r > 0 && isfinite(p.r) && isfinite(dju_dot3(p.F, p.F));
}

static djStatus eval(djPairOutput* out, djPairState* state, const djPairInput* in, int flags) {
  (void)state, (void)flags;
  if (!isGood(in)) return DJ_INVALID;
  Pair p = pairOf(in);
  *out = (djPairOutput){.gap = p.r - in->a->radius - in->b->radius - in->inflate,
                        .active = true, .twist_jac = out->twist_jac};
  dj_addForce(out->gradient, 1, p.x, p.ref, p.F);
  for (int j = 0; j < 12; j++) {
    double e[6] = {0};
    int side = j / 6;
    e[j % 6] = 1;
    djVec3 dc[2] = {{0, 0, 0}, {0, 0, 0}};
    dc[side] = dj_twistField(e, dju_sub3(p.c[side], p.ref[side]));
    addChange(out->hessian + j, 12, &p, dc, dju_cross3(dju_load3(e), p.axis[side]));
  }
  dj_toExponential(out->hessian, out->gradient);
  return DJ_OK;
}

static djStatus vjp(djPairGrad* grad, djPairState* state, const djPairInput* in,
                    const double lambda[12]) {
  (void)state;
  if (!isGood(in)) return DJ_INVALID;
  Pair p = pairOf(in);
  djShapeGrad* shape[2] = {grad->a, grad->b};
  const djPose* pose[2] = {in->pose_a, in->pose_b};
  double g[12] = {0};
  djVec3 none = {0, 0, 0};
  dj_addForce(g, 1, p.x, p.ref, dju_scale3(-1 / (p.r * p.r * p.r), dju_cross3(p.w, p.d)));
  for (int i = 0; i < 12; i++) grad->setting[0] += lambda[i] * g[i];
  for (int k = 0; k < 6; k++) {
    int side = k / 3;
    djVec3 dc[2] = {none, none};
    dc[side] = dju_column(&pose[side]->R, k % 3);
    memset(g, 0, sizeof g);
    addChange(g, 1, &p, dc, none);
    for (int i = 0; i < 12; i++) shape[side]->vert[k % 3][0] += lambda[i] * g[i];
  }
  return DJ_OK;
}

const djKernelSettings test_swirlSettings = {"swirl", 1, settings, rules};

const djKernel test_swirlKernel = {
    .settings = &test_swirlSettings, .smoothness = DJ_C2, .where = "at coincident centres",
    .traits = {.overlaps = true},
    .range = range, .takes = takes,
    .shapeSize = dj_convexSize, .makeShape = dj_makeConvex, .shapeParams = dj_convexParams,
    .gap = dj_convexGap, .depth = dj_convexDepth, .eval = eval, .vjp = vjp};
