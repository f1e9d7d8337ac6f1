// A contact kernel of the tests without a range: spheres repel each other by k/r, r being the
// distance of their centres, wherever they are.

#include "charge_kernel.h"

#include "contact/shapes/convex.h"

#include <string.h>

static const djSetting settings[] = {{.name = "charge", .unit = "J m", .size = 1, .zero = true,
                                      .standard = {1e-3}, .ways = DJ_BY_PAIR,
                                      .help = "energy at a distance of 1 m"}};
static const djKernelRule rules[] = {
    {.param = {"contact/charge/charge", "J m", "energy at a distance of 1 m", NULL}}};

static bool takes(int type_a, int type_b) { return type_a == DJ_SPHERE && type_b == DJ_SPHERE; }

static double range(const double* setting) {
  (void)setting;
  return INFINITY;
}

static bool isGood(const djPairInput* in) {
  return in && in->a && in->b && in->pose_a && in->pose_b && in->setting && in->a->nvert == 1 &&
         in->a->npad >= 1 && in->b->nvert == 1 && isfinite(in->inflate) &&
         dj_settingsValid(&test_chargeKernel, in->setting);
}

static djVec3 centreOf(const djShape* s, const djPose* T) {
  return dju_transform(T, dju_vec3(s->vert[0][0], s->vert[1][0], s->vert[2][0]));
}

// With d = c_b - c_a, u = d/r: U = k/r, dU/dc_b = -k u/r^2 = -dU/dc_a, and by both
//   d2U/dd dd = k (3 u u^T - 1)/r^3.
// Centres turn about ref: dc = w x rho + w x (w x rho)/2 + v, so that with F = dU/dc the angular
// block gains (F rho^T + rho F^T)/2 - (F.rho) 1.
static void addBlock(djPairOutput* out, const djMat3* K, const djVec3 rho[2], djVec3 F, int a,
                     int b) {
  for (int j = 0; j < 6; j++) {
    djVec3 e = dju_vec3(j % 3 == 0, j % 3 == 1, j % 3 == 2);
    djVec3 dc = j < 3 ? dju_cross3(e, rho[b]) : e, dF = dju_mulMV(*K, dc);
    if (a != b) dF = dju_neg3(dF);
    djVec3 torque = dju_cross3(rho[a], dF);
    if (a == b && j < 3) {
      double half = 0.5 * dju_dot3(rho[a], e);
      djVec3 bend = dju_madd3(dju_scale3(half, F), 0.5 * dju_dot3(F, e), rho[a]);
      torque = dju_add3(torque, dju_madd3(bend, -dju_dot3(F, rho[a]), e));
    }
    const double column[6] = {torque.x, torque.y, torque.z, dF.x, dF.y, dF.z};
    for (int i = 0; i < 6; i++) out->hessian[12 * (6 * a + i) + 6 * b + j] = column[i];
  }
}

static djStatus eval(djPairOutput* out, djPairState* state, const djPairInput* in, int flags) {
  (void)state, (void)flags;
  if (!isGood(in)) return DJ_INVALID;
  djVec3 c[2] = {centreOf(in->a, in->pose_a), centreOf(in->b, in->pose_b)};
  djVec3 d = dju_sub3(c[1], c[0]), rho[2] = {dju_sub3(c[0], in->ref_a), dju_sub3(c[1], in->ref_b)};
  double r = dju_norm3(d), k = in->setting[0];
  if (!(r > 0) || !isfinite(r)) return DJ_INVALID;
  djVec3 u = dju_scale3(1 / r, d), F[2] = {dju_scale3(k / (r * r), u), dju_scale3(-k / (r * r), u)};
  out->value = k / r;
  out->gap = r - in->a->radius - in->b->radius - in->inflate;
  out->active = true;
  djMat3 K;
  for (int i = 0; i < 9; i++) {
    const double v[3] = {u.x, u.y, u.z};
    K.m[i] = k / (r * r * r) * (3 * v[i / 3] * v[i % 3] - (i % 4 == 0));
  }
  for (int a = 0; a < 2; a++) {
    dju_store3(out->gradient + 6 * a, dju_cross3(rho[a], F[a]));
    dju_store3(out->gradient + 6 * a + 3, F[a]);
    for (int b = 0; b < 2; b++) addBlock(out, &K, rho, F[a], a, b);
  }
  return DJ_OK;
}

const djKernelSettings test_chargeSettings = {"charge", 1, settings, rules};

const djKernel test_chargeKernel = {
    .settings = &test_chargeSettings, .smoothness = DJ_C2, .where = "at coincident centres",
    .traits = {.energy = true, .symmetric = true, .overlaps = true},
    .range = range, .takes = takes, .shapeSize = dj_convexSize, .makeShape = dj_makeConvex,
    .gap = dj_convexGap, .depth = dj_convexDepth, .eval = eval};
