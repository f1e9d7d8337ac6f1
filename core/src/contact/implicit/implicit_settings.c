// Settings of implicit surfaces, and their default rules: the weight on the lighter of both geoms
// presses them 1/200 of the smaller inner radius r into each other,
//   stiffness = W/(r/200)^exponent.

#include "contact/implicit/implicit_surface.h"
#include "model/check.h"

#include <float.h>
#include <math.h>

#define DEPTH 0.005

static double depthOf(const djContactScale* scale) {
  return DEPTH * fmin(scale->radius[0], scale->radius[1]);
}

static double stiffness(const djContactScale* scale, const double* x) {
  const double k = scale->weight / pow(depthOf(scale), x[DJ_IMPLICIT_EXPONENT]);
  return fmin(fmax(x[DJ_IMPLICIT_STIFFNESS_SCALE] * k, DBL_MIN), DJ_LARGEST_FORCE);
}

static double slope(const djContactScale* scale, const double* x, int row) {
  (void)x;
  return row == DJ_IMPLICIT_EXPONENT ? -log(depthOf(scale)) : 0;
}

#define ROW(text, of) .name = text, .unit = of, .size = 1, .ways = DJ_BY_PAIR
const djSetting dj_implicitSettings[DJ_IMPLICIT_NSETTING] = {
    [DJ_IMPLICIT_STIFFNESS_SCALE] = {ROW("stiffness_scale", ""), .zero = true, .standard = {1},
                                     .help = "factor of the default stiffness"},
    [DJ_IMPLICIT_EXPONENT] = {ROW("exponent", ""), .least = 1, .most = 10, .standard = {1.5},
                              .help = "p of Hertz's law, force = stiffness depth^p"},
    [DJ_IMPLICIT_STIFFNESS] = {ROW("stiffness", "N/m^p"), .zero = true, .automatic = true,
                               .most = DJ_LARGEST_FORCE,
                               .rule = "the geom's weight presses it r/200 deep",
                               .help = "of Hertz's law, force = stiffness depth^p"}};

const djKernelRule dj_implicitRules[DJ_IMPLICIT_NSETTING] = {
    [DJ_IMPLICIT_STIFFNESS_SCALE] = {0},
    [DJ_IMPLICIT_EXPONENT] = {.param = {"contact/implicit_surface/exponent", "",
                                        "p of implicit surfaces' law", NULL}},
    [DJ_IMPLICIT_STIFFNESS] = {
        stiffness,
        {"contact/implicit_surface/stiffness", "N/m^p", "of implicit surfaces", NULL},
        DJ_IMPLICIT_STIFFNESS_SCALE + 1,
        slope}};
