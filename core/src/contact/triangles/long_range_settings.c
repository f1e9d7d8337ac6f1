// Settings of long_range, and their default rules. With W the weight on the lighter of both geoms
// and r the smaller inner radius, W rests at a mean distance of r/100:
//   W = 12 stiffness e (1 + e)/D,  e = sqrt(length_scale/D),  D = r/100.

#include "contact/triangles/long_range.h"
#include "model/check.h"

#include <float.h>

#define REST 0.01
#define MOST_TRIANGLES 1e5

static double stiffness(const djContactScale* scale, const double* x) {
  const double D = REST * fmin(scale->radius[0], scale->radius[1]);
  const double e = sqrt(x[DJ_LONG_LENGTH_SCALE] / D);
  const double k = scale->weight * D / (12 * e * (1 + e));
  return fmin(fmax(x[DJ_LONG_STIFFNESS_SCALE] * k, DBL_MIN), DJ_LARGEST_FORCE);
}

static double frictionEps(const djContactScale* scale, const double* x) {
  (void)x;
  return 9e-8 * 9.81 * fmin(scale->radius[0], scale->radius[1]);
}

// How a node's potential follows from its children's.
static const djChoice weightings[] = {{"mean", DJ_LONG_MEAN}, {"paper", DJ_LONG_PAPER}, {NULL, 0}};

// What tells the distance of two triangles.
static const djChoice leaves[] = {
    {"plane", DJ_LONG_PLANE}, {"distance", DJ_LONG_DISTANCE}, {NULL, 0}};

#define NAMED(text, of) .name = text, .unit = of, .size = 1
static const djSetting rows[DJ_LONG_NSETTING] = {
    [DJ_LONG_WEIGHTING] = {NAMED("weighting", ""), .ways = DJ_BY_SCENE, .kind = DJ_SETTING_CHOICE,
                           .choice = weightings, .standard = {0},
                           .help = "mean: by power means of distances; paper: sums of potentials"},
    [DJ_LONG_LEAF] = {NAMED("leaf", ""), .ways = DJ_BY_SCENE, .kind = DJ_SETTING_CHOICE,
                      .choice = leaves, .standard = {0},
                      .help = "plane: two triangles by the plane between them; distance: by their "
                              "nearest points, with kinks"},
    [DJ_LONG_EPS] = {NAMED("eps", ""), .ways = DJ_BY_SCENE, .least = 1e-3, .most = 1e3,
                     .standard = {0.1},
                     .help = "of paper: a pair of balls counts from 1 + eps times their radii on"},
    [DJ_LONG_TRIANGLES] = {NAMED("triangles", ""), .ways = DJ_BY_SCENE, .zero = true,
                           .most = MOST_TRIANGLES, .standard = {0},
                           .help = "of geoms that are no meshes, at least; 0: by their types"},
    [DJ_LONG_STIFFNESS_SCALE] = {NAMED("stiffness_scale", ""), .ways = DJ_BY_PAIR, .zero = true,
                                 .most = 1e6, .standard = {1},
                                 .help = "factor of the default stiffness"},
    [DJ_LONG_LENGTH_SCALE] = {NAMED("length_scale", "m"), .ways = DJ_BY_PAIR, .least = DJ_SMALLEST,
                              .most = DJ_LARGEST, .standard = {1},
                              .help = "length unit of the potential's distance"},
    [DJ_LONG_STIFFNESS] = {NAMED("stiffness", "J"), .ways = DJ_BY_PAIR, .automatic = true,
                           .zero = true, .most = DJ_LARGEST_FORCE,
                           .rule = "the lighter geom's weight rests at 0.01 r of the smaller one",
                           .help = "coefficient of the potential 12 (1 + D^-1/2)^2"},
    [DJ_LONG_FRICTION_EPS] = {NAMED("friction_eps", "m2/s2"), .ways = DJ_BY_PAIR, .automatic = true,
                              .most = DJ_LARGEST_FORCE,
                              .rule = "9e-8 9.81 m/s2 r of the smaller geom",
                              .help = "square of the velocity below which friction is viscous"}};

static const djKernelRule rules[DJ_LONG_NSETTING] = {
    [DJ_LONG_STIFFNESS] = {.rule = stiffness,
                           .param = {"contact/long_range/stiffness", "J",
                                     "coefficient of the potential of triangles", NULL},
                           .factor = DJ_LONG_STIFFNESS_SCALE + 1},
    [DJ_LONG_FRICTION_EPS] = {.rule = frictionEps}};

const djKernelSettings dj_longSettings = {"long_range", DJ_LONG_NSETTING, rows, rules};
