// Settings of the separating plane, and their default rules.
//
// With r the smallest inner radius, W the movable weight, h the timestep:
//   s = min(0.02 r, 0.3 m/s h)/L
//   skin = s L/(1 - s), half of the range, so that the barrier begins where the geoms touch
//   K = W L s^2/(4 c^3) with c = 0.1, so that W presses a face with four vertices to a depth of c s
//   sqrt(eps) = 3e-4 sqrt(g r)

#include "contact/plane/separating_plane.h"
#include "model/check.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

static double support(const djContactScale* scale, const double* x) {
  return fmin(fmin(0.02 * scale->radius, 0.3 * scale->timestep) / x[DJ_PLANE_LENGTH_SCALE], 0.5);
}

static double stiffness(const djContactScale* scale, const double* x) {
  double s = x[DJ_PLANE_SUPPORT], depth = 0.1;
  double K = scale->weight * x[DJ_PLANE_LENGTH_SCALE] * s * s / (4 * depth * depth * depth);
  return fmax(K, DBL_MIN);
}

static double skin(const djContactScale* scale, const double* x) {
  (void)scale;
  return x[DJ_PLANE_SUPPORT] * x[DJ_PLANE_LENGTH_SCALE] / (1 - x[DJ_PLANE_SUPPORT]);
}

static double frictionEps(const djContactScale* scale, const double* x) {
  (void)x;
  return 9e-8 * scale->gravity * scale->radius;
}

double dj_planeSkin(const double* setting, double inner) {
  return fmin(setting[DJ_PLANE_SKIN], 0.25 * inner);
}

#define WAYS                                                                                   \
  (DJ_BY_SCENE | DJ_BY_MJCF | DJ_BY_TASK | DJ_BY_COMMAND | DJ_BY_PLUGIN | DJ_BY_PAIR)
#define OPTION(name_)                                                                          \
  .name = #name_, .field = "opt." #name_, .offset = offsetof(djOption, name_), .size = 1,      \
  .ways = WAYS, .group = "contact"
#define IN_FORCE(name_)                                                                        \
  .in_force = "contact." #name_, .in_force_offset = offsetof(djModel, contact.name_)
#define AS_GIVEN(name_)                                                                        \
  .in_force = "opt." #name_, .in_force_offset = offsetof(djModel, opt) + offsetof(djOption, name_)

static const djChoice arms[] = {{"plane", DJ_ARMS_PLANE}, {"paper", DJ_ARMS_PAPER}, {NULL, 0}};
static const djChoice caps[] = {
    {"magnitude", DJ_CAP_MAGNITUDE}, {"paper", DJ_CAP_PAPER}, {NULL, 0}};

const djSetting dj_planeSettings[DJ_PLANE_NSETTING] = {
    [DJ_PLANE_LENGTH_SCALE] = {OPTION(length_scale), IN_FORCE(length_scale), .unit = "m",
                               .symbol = "L", .least = DJ_SMALLEST, .most = DJ_LARGEST,
                               .standard = {1}, .help = "length unit of support"},
    [DJ_PLANE_SUPPORT] = {OPTION(support), IN_FORCE(support), .unit = "", .symbol = "S",
                          .automatic = true, .least = DJ_SMALLEST, .below = 1,
                          .rule = "min(0.02 r, 0.3 m/s timestep)/length_scale",
                          .help = "the barrier's s: where contact begins, 0 < s < 1"},
    [DJ_PLANE_STIFFNESS] = {OPTION(stiffness), IN_FORCE(stiffness), .unit = "J", .symbol = "K",
                            .automatic = true, .most = DJ_LARGEST_FORCE,
                            .rule = "250 W length_scale support^2",
                            .help = "barrier coefficient: multiplies the dimensionless barrier"},
    [DJ_PLANE_SKIN] = {OPTION(skin), IN_FORCE(skin), .unit = "m", .symbol = "D", .zero = true,
                       .automatic = true, .per_geom = true,
                       .rule = "support length_scale/(1 - support), at most a quarter of the "
                               "geom's inner radius",
                       .help = "erosion of contact shapes"},
    [DJ_PLANE_FRICTION_EPS] = {OPTION(friction_eps), IN_FORCE(friction_eps), .unit = "m2/s2",
                               .symbol = "E", .automatic = true, .most = DJ_LARGEST_FORCE,
                               .rule = "9e-8 g r",
                               .help = "square of the velocity below which friction is viscous"},
    [DJ_PLANE_ARMS] = {OPTION(friction_arms), AS_GIVEN(friction_arms), .kind = DJ_SETTING_CHOICE,
                       .choice = arms, .unit = "", .symbol = "NAME", .standard = {DJ_ARMS_PLANE},
                       .help = "where friction acts; paper: at vertices, SDRS eq. 9"},
    [DJ_PLANE_CAP] = {OPTION(friction_cap), AS_GIVEN(friction_cap), .kind = DJ_SETTING_CHOICE,
                      .choice = caps, .unit = "", .symbol = "NAME",
                      .standard = {DJ_CAP_MAGNITUDE},
                      .help = "friction's limit; paper: A_eps, SDRS eq. 12"},
};

const djKernelRule dj_planeRules[DJ_PLANE_NSETTING] = {
    [DJ_PLANE_SUPPORT] = {support, {"contact/support", "", "the barrier's s", NULL}},
    [DJ_PLANE_STIFFNESS] = {stiffness, {"contact/stiffness", "J", "the barrier coefficient", NULL}},
    [DJ_PLANE_SKIN] = {skin, {NULL, NULL, NULL, NULL}},
    [DJ_PLANE_FRICTION_EPS] = {frictionEps, {NULL, NULL, NULL, NULL}},
};
