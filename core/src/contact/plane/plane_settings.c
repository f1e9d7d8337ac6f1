// Settings of the separating plane, and their default rules.
//
// With r the inner radii of a pair's geoms, W the weight on the lighter of them, T the timestep:
//   s = mean of e(r)/L,  e(r) = min(0.02 r, 0.15 m/s T)
//   skin of a geom: s L/(1 - s) with its own e, half of the range of two like it, so that the
//     barrier begins where the geoms touch
//   K = W L s^2/(4 c^3), of the barrier log W L s^2/(3 c^2), with c = 0.002, so that W presses a
//     face with four vertices to a depth of c s; in recovery K P/W with c = 0.3, P the weight of
//     the inertia with which the geoms' bodies answer a push, the lesser one: a light part of a heavy
//     robot is pushed out lightly
//   sqrt(eps) = 6e-6 sqrt(9.81 m/s^2 r) with the smaller r
//   guide, with l the sum of both bounding radii and a its length: 0, or by `auto` the c with which
//     the tail of two balls of the radius l/2 that are l apart is 1e-3 W. With lengths over L their
//     plane is midway, |n| = n the minimum of 4/(l (1 - n)) + 2/D, D = n l + a:
//     2^1/2 D = l (1 - n), n = (2^1/2 - 2 a/l)/(2 + 2^1/2), and the force c L n/D^2
//   guide_length = min(l/10, 0.3 (r^3 l)^1/4), r the sum of both: two points that are d apart repel
//     less the farther they are where a is below about (d^3 l)^1/4/2, see plane_tail.h

#include "contact/plane/separating_plane.h"
#include "math/barrier.h"
#include "model/check.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

#define REACH 0.15   // A, m/s
#define DEPTH 0.002  // c
#define SOFT 0.3     // of recovery
#define GUIDE 1e-3   // of the weight

static double reach(double radius, const djContactScale* scale) {
  return fmin(0.02 * radius, REACH * scale->timestep);
}

static double support(const djContactScale* scale, const double* x) {
  double e = 0.5 * (reach(scale->radius[0], scale) + reach(scale->radius[1], scale));
  double s = x[DJ_PLANE_SUPPORT_SCALE] * fmin(e / x[DJ_PLANE_LENGTH_SCALE], 0.5);
  return fmin(s, 0.99);
}

// K for which W presses a face to a depth of c s.
static double coefficient(const djContactScale* scale, const double* x, double c) {
  const djBarrier law = dj_planeLaw(x);
  return scale->weight * x[DJ_PLANE_LENGTH_SCALE] * law.s * law.s / dj_barrierOnset(law.law, c);
}

static double stiffness(const djContactScale* scale, const double* x) {
  double K = coefficient(scale, x, DEPTH);
  return fmin(fmax(x[DJ_PLANE_STIFFNESS_SCALE] * K, DBL_MIN), DJ_LARGEST_FORCE);
}

static double recovery(const djContactScale* scale, const double* x) {
  return fmin(1, fmax(coefficient(scale, x, SOFT) / x[DJ_PLANE_STIFFNESS], 1e-30));
}

static double skin(const djContactScale* scale, const double* x) {
  if (isinf(scale->radius[0])) return INFINITY;   // of a plane: as the other geom
  return x[DJ_PLANE_SUPPORT] * x[DJ_PLANE_LENGTH_SCALE] / (1 - x[DJ_PLANE_SUPPORT]);
}

static double frictionEps(const djContactScale* scale, const double* x) {
  double eps = 3.6e-11 * 9.81 * fmin(scale->radius[0], scale->radius[1]);
  return x[DJ_PLANE_FRICTION_EPS_SCALE] * eps;
}

static double innerRadius(const djContactScale* scale, const double* x) {
  (void)x;
  return scale->radius[0];
}

static double guideRadius(const djContactScale* scale, const double* x) {
  (void)x;
  return scale->bound[0];
}

static double guideLength(const djContactScale* scale, const double* x) {
  (void)x;
  double l = scale->bound[0] + scale->bound[1], r = scale->radius[0] + scale->radius[1];
  return fmin(fmax(fmin(0.1 * l, 0.3 * pow(r * r * r * l, 0.25)), DJ_SMALLEST), DJ_LARGEST);
}

static double guide(const djContactScale* scale, const double* x) {
  double l = scale->bound[0] + scale->bound[1], a = x[DJ_PLANE_GUIDE_LENGTH];
  double n = fmax((sqrt(2) - 2 * a / l) / (2 + sqrt(2)), 0.05), D = n * l + a;
  double c = GUIDE * scale->weight * D * D / (n * x[DJ_PLANE_LENGTH_SCALE]);
  return fmin(x[DJ_PLANE_GUIDE_FACTOR] * c, DJ_LARGEST_FORCE);
}

static double guidePart(const djContactScale* scale, const double* x) {
  (void)scale;
  (void)x;
  return 1;
}

static double load(const djContactScale* scale, const double* x) {
  (void)x;
  return scale->weight;
}

static double recoveryLoad(const djContactScale* scale, const double* x) {
  (void)x;
  return scale->push;
}

double dj_planeSkin(const double* setting, double inner) {
  return fmin(setting[DJ_PLANE_SKIN], 0.25 * inner);
}

// Supports that are ten times wider where they are small: s' = 10 s/(1 + 9 s). A touch is where the
// barrier presses as one vertex does that is half as far again from the plane as where the range
// begins, so that gravity brings nobody into the range in the rest of a step: at x = 1.5 s/(1 + s/2)
//   f = -P'(x; s')/L = f1(q)/(x^2 L),  q = (s' - x)/x.
double dj_planeTouch(double* setting, double* by) {
  const djBarrierLaw law = dj_planeLaw(setting).law;
  double s = setting[DJ_PLANE_SUPPORT], L = setting[DJ_PLANE_LENGTH_SCALE];
  double d = 1 + 9 * s, d1 = 1 + 0.5 * s, wide = 10 * s / d, x = 1.5 * s / d1;
  double f[3], slope = 10 / (d * d), q = (wide - x) / x;
  dj_barrierByDepth(f, law, q);
  double level = f[1] / (x * x * L);
  setting[DJ_PLANE_SUPPORT] = wide;
  setting[DJ_PLANE_STIFFNESS] = 1;
  if (!by) return level;
  double x_slope = 1.5 / (d1 * d1), ratio = (slope - wide / x * x_slope) / x;   // of wide/x
  double by_s = dj_barrierDepthSlope(f, q) * ratio / (x * x * L) - 2 * level / x * x_slope;
  by[DJ_PLANE_SUPPORT] = slope * by[DJ_PLANE_SUPPORT] + by[0] * by_s;
  by[0] = by[DJ_PLANE_STIFFNESS] = 0;
  return level;
}

#define WAYS (DJ_BY_SCENE | DJ_BY_MJCF | DJ_BY_TASK | DJ_BY_COMMAND | DJ_BY_PLUGIN)
#define OPTION(name_) ROW(name_), .ways = WAYS | DJ_BY_PAIR
#define ROW(name_)                                                                             \
  .name = #name_, .field = "opt." #name_, .offset = offsetof(djOption, name_), .size = 1,      \
  .group = "contact"
#define IN_FORCE(name_)                                                                        \
  .in_force = "contact." #name_, .in_force_offset = offsetof(djModel, contact.name_)
#define OF_GEOM(name_)                                                                         \
  .in_force = "contact." #name_, .in_force_offset = offsetof(djModel, contact.name_),          \
  .per_geom = true, .automatic = true
#define AS_GIVEN(name_)                                                                        \
  .in_force = "opt." #name_, .in_force_offset = offsetof(djModel, opt) + offsetof(djOption, name_)

static const djChoice arms[] = {{"plane", DJ_ARMS_PLANE}, {"paper", DJ_ARMS_PAPER}, {NULL, 0}};
static const djChoice barriers[] = {
    {"sdrs", DJ_BARRIER_SDRS}, {"log", DJ_BARRIER_LOG}, {NULL, 0}};
static const djChoice caps[] = {
    {"magnitude", DJ_CAP_MAGNITUDE}, {"paper", DJ_CAP_PAPER}, {NULL, 0}};

#define BY_PRESET "1, or what the preset says"

static const djSetting rows[DJ_PLANE_NSETTING] = {
    [DJ_PLANE_PRESET] = {ROW(preset), AS_GIVEN(preset), .kind = DJ_SETTING_CHOICE, .ways = WAYS,
                         .choice = dj_planePresetNames, .unit = "", .symbol = "NAME",
                         .help = "other defaults of contact, by name"},
    [DJ_PLANE_BARRIER] = {OPTION(barrier), AS_GIVEN(barrier), .kind = DJ_SETTING_CHOICE,
                          .choice = barriers, .unit = "", .symbol = "NAME",
                          .standard = {DJ_BARRIER_SDRS},
                          .help = "law of the separating plane: SDRS's, or IPC's logarithm"},
    [DJ_PLANE_INNER_RADIUS] = {OPTION(inner_radius), OF_GEOM(radius), .unit = "m", .symbol = "R",
                               .least = DJ_SMALLEST, .most = DJ_LARGEST,
                               .rule = "of the largest ball in the geom",
                               .help = "r of a geom, which default rules follow"},
    [DJ_PLANE_LOAD] = {OPTION(load), OF_GEOM(load), .unit = "N", .symbol = "W",
                       .most = DJ_LARGEST_FORCE, .rule = "weight of the geom's kinematic tree",
                       .help = "W on a geom's contacts, which default rules follow"},
    [DJ_PLANE_RECOVERY_LOAD] = {OPTION(recovery_load), OF_GEOM(push), .unit = "N", .symbol = "P",
                                .most = DJ_LARGEST_FORCE,
                                .rule = "weight of the inertia with which the geom's body answers "
                                        "a push, at qpos0; at most its tree's",
                                .help = "P of a geom, which recovery from overlaps follows"},
    [DJ_PLANE_GUIDE_RADIUS] = {OPTION(guide_radius), OF_GEOM(bound), .unit = "m", .symbol = "R",
                               .least = DJ_SMALLEST, .most = DJ_LARGEST,
                               .rule = "of a ball about the geom's centre that holds it",
                               .help = "of a geom, which a guide's tail follows"},
    [DJ_PLANE_GUIDE_PART] = {OPTION(guide_part), OF_GEOM(part), .unit = "", .symbol = "X",
                             .most = 1,
                             .rule = "of the surface of the colliding geoms of its body",
                             .help = "part of a geom in its body's guide"},
    [DJ_PLANE_SUPPORT_SCALE] = {ROW(support_scale), IN_FORCE(support_scale), .ways = WAYS,
                                .unit = "", .symbol = "X", .automatic = true, .most = 1e6,
                                .rule = BY_PRESET, .standard = {1},
                                .help = "factor on the default of support"},
    [DJ_PLANE_STIFFNESS_SCALE] = {ROW(stiffness_scale), IN_FORCE(stiffness_scale), .ways = WAYS,
                                  .unit = "", .symbol = "X", .automatic = true,
                                  .most = DJ_LARGEST_FORCE, .standard = {1}, .rule = BY_PRESET,
                                  .help = "factor on the default of stiffness"},
    [DJ_PLANE_FRICTION_EPS_SCALE] = {ROW(friction_eps_scale), IN_FORCE(friction_eps_scale),
                                     .ways = WAYS, .unit = "", .symbol = "X", .automatic = true,
                                     .most = DJ_LARGEST_FORCE, .standard = {1},
                                     .rule = BY_PRESET,
                                     .help = "factor on the default of friction_eps"},
    [DJ_PLANE_GUIDE_FACTOR] = {ROW(guide_factor), IN_FORCE(guide_factor), .ways = WAYS,
                               .unit = "", .symbol = "X", .automatic = true, .zero = true,
                               .most = 1e6, .rule = "0: no guide where it is not given",
                               .help = "times guide's rule; 1 is auto"},
    [DJ_PLANE_LENGTH_SCALE] = {OPTION(length_scale), IN_FORCE(length_scale), .unit = "m",
                               .symbol = "L", .least = DJ_SMALLEST, .most = DJ_LARGEST,
                               .standard = {1}, .help = "length unit of support"},
    [DJ_PLANE_SUPPORT] = {OPTION(support), IN_FORCE(support), .unit = "", .symbol = "S",
                          .automatic = true, .least = DJ_SMALLEST, .below = 1,
                          .rule = "min(0.02 r, 0.15 m/s timestep)/length_scale, mean of both "
                                  "geoms",
                          .help = "the barrier's s: where contact begins, 0 < s < 1"},
    [DJ_PLANE_STIFFNESS] = {OPTION(stiffness), IN_FORCE(stiffness), .unit = "J", .symbol = "K",
                            .automatic = true, .most = DJ_LARGEST_FORCE,
                            .rule = "3.125e7 W length_scale support^2, W of the geom with less "
                                    "load; of the barrier log 8.333e4",
                            .help = "barrier coefficient: multiplies the dimensionless barrier"},
    [DJ_PLANE_RECOVERY] = {OPTION(recovery_stiffness), IN_FORCE(recovery_stiffness), .unit = "",
                           .symbol = "X", .automatic = true, .most = 1,
                           .rule = "9.26 W length_scale support^2/stiffness, at most 1; of the "
                                   "barrier log 3.704",
                           .help = "part of stiffness with which overlaps recover, times P/W"},
    [DJ_PLANE_SKIN] = {OPTION(skin), IN_FORCE(skin), .unit = "m", .symbol = "D", .zero = true,
                       .automatic = true, .per_geom = true,
                       .rule = "support length_scale/(1 - support), at most a quarter of the "
                               "geom's inner radius; of a plane, as the other geom",
                       .help = "erosion of contact shapes"},
    [DJ_PLANE_FRICTION_EPS] = {OPTION(friction_eps), IN_FORCE(friction_eps), .unit = "m2/s2",
                               .symbol = "E", .automatic = true, .most = DJ_LARGEST_FORCE,
                               .rule = "3.6e-11 9.81 m/s2 r of the smaller geom",
                               .help = "square of the velocity below which friction is viscous"},
    [DJ_PLANE_ARMS] = {OPTION(friction_arms), AS_GIVEN(friction_arms), .kind = DJ_SETTING_CHOICE,
                       .choice = arms, .unit = "", .symbol = "NAME", .standard = {DJ_ARMS_PLANE},
                       .help = "where friction acts; paper: at vertices, SDRS eq. 9"},
    [DJ_PLANE_CAP] = {OPTION(friction_cap), AS_GIVEN(friction_cap), .kind = DJ_SETTING_CHOICE,
                      .choice = caps, .unit = "", .symbol = "NAME",
                      .standard = {DJ_CAP_MAGNITUDE},
                      .help = "friction's limit; paper: A_eps, SDRS eq. 12"},
    [DJ_PLANE_GUIDE] = {OPTION(guide), IN_FORCE(guide), .unit = "J", .symbol = "C|auto",
                        .zero = true, .automatic = true, .most = DJ_LARGEST_FORCE,
                        .automatic_by = "guide_factor",
                        .rule = "0; auto: such that at a distance of both bounding radii the tail "
                                "is 1e-3 W",
                        .help = "tail by which convex geoms repel from afar; 0: none"},
    [DJ_PLANE_GUIDE_LENGTH] = {OPTION(guide_length), IN_FORCE(guide_length), .unit = "m",
                               .symbol = "A", .automatic = true, .least = DJ_SMALLEST,
                               .most = DJ_LARGEST,
                               .rule = "0.1 l, of thin geoms 0.3 (r^3 l)^1/4; l, r: sums of "
                                       "bounding and inner radii",
                               .help = "distance below which the tail levels off"},
    [DJ_PLANE_GUIDE_DECAY] = {ROW(guide_decay), AS_GIVEN(guide_decay),
                              .ways = WAYS & ~DJ_BY_PLUGIN, .unit = "", .symbol = "P",
                              .below = 1, .also = DJ_TAIL_DECAY,
                              .standard = {DJ_TAIL_DECAY},
                              .help = "power of the distance by which the tail's force falls; "
                                      "below 1 with guide_backward_only alone"},
};

static const djKernelRule rules[DJ_PLANE_NSETTING] = {
    [DJ_PLANE_INNER_RADIUS] = {.rule = innerRadius},
    [DJ_PLANE_LOAD] = {.rule = load},
    [DJ_PLANE_RECOVERY_LOAD] = {.rule = recoveryLoad},
    [DJ_PLANE_GUIDE_RADIUS] = {.rule = guideRadius},
    [DJ_PLANE_GUIDE_PART] = {.rule = guidePart},
    [DJ_PLANE_SUPPORT] = {.rule = support,
                          .param = {"contact/support", "", "the barrier's s", NULL},
                          .factor = DJ_PLANE_SUPPORT_SCALE + 1},
    [DJ_PLANE_STIFFNESS] = {.rule = stiffness,
                            .param = {"contact/stiffness", "J", "the barrier coefficient", NULL},
                            .factor = DJ_PLANE_STIFFNESS_SCALE + 1},
    [DJ_PLANE_RECOVERY] = {.rule = recovery},
    [DJ_PLANE_SKIN] = {.rule = skin},
    [DJ_PLANE_FRICTION_EPS] = {.rule = frictionEps, .factor = DJ_PLANE_FRICTION_EPS_SCALE + 1},
    [DJ_PLANE_GUIDE] = {.rule = guide,
                        .param = {"contact/guide", "J", "the tail's coefficient", NULL},
                        .factor = DJ_PLANE_GUIDE_FACTOR + 1},
    [DJ_PLANE_GUIDE_LENGTH] = {.rule = guideLength},
};

const djKernelSettings dj_planeSettings = {"separating_plane", DJ_PLANE_NSETTING, rows, rules};
