// Settings of implicit surfaces, and their default rules, by the smaller inner radius r, the
// weight W on the lighter of both geoms and the timestep T:
//   hertz, paper   W presses r/200 deep,             stiffness = W/(r/200)^exponent
//   barrier, log   W presses to half the support s,  stiffness = W s/B,    s = min(0.02 r, 0.15 T),
//                  B = -B'(1/2), 36 and log(2) + 1/2

#include "contact/implicit/implicit_surface.h"
#include "model/check.h"

#include <float.h>
#include <math.h>

#define DEPTH 0.005
#define REACH 0.02
#define SPEED 0.15 // m/s

static double radiusOf(const djContactScale* scale) {
  return fmin(scale->radius[0], scale->radius[1]);
}

static double support(const djContactScale* scale, const double* x) {
  const double s = fmin(REACH * radiusOf(scale), SPEED * scale->timestep);
  return fmax(x[DJ_IMPLICIT_SUPPORT_SCALE] * s, DJ_SMALLEST);
}

// -B'(1/2), where q = 1.
static double half(const double* x) {
  double f[3];
  dj_barrierByDepth(f, dj_implicitBarrier(x), 1);
  return 4 * f[1];
}

static double stiffness(const djContactScale* scale, const double* x) {
  double k = scale->weight / pow(DEPTH * radiusOf(scale), x[DJ_IMPLICIT_EXPONENT]);
  if (dj_hasBarrier(x)) k = scale->weight * x[DJ_IMPLICIT_SUPPORT] / half(x);
  return fmin(fmax(x[DJ_IMPLICIT_STIFFNESS_SCALE] * k, DBL_MIN), DJ_LARGEST_FORCE);
}

static double slope(const djContactScale* scale, const double* x, int row) {
  if (row == DJ_IMPLICIT_EXPONENT)
    return dj_hasBarrier(x) ? 0 : -log(DEPTH * radiusOf(scale));
  return row == DJ_IMPLICIT_SUPPORT && dj_hasBarrier(x) ? 1 / x[DJ_IMPLICIT_SUPPORT] : 0;
}

static double frictionEps(const djContactScale* scale, const double* x) {
  (void)x;
  return 3.6e-11 * 9.81 * radiusOf(scale);
}

#define NAMED(text, of) .name = text, .unit = of, .size = 1
#define ROW(text, of) NAMED(text, of), .ways = DJ_BY_PAIR
static const djSetting rows[DJ_IMPLICIT_NSETTING] = {
    [DJ_IMPLICIT_LAW] = {NAMED("law", ""), .ways = DJ_BY_SCENE, .kind = DJ_SETTING_CHOICE,
                         .choice = dj_laws, .standard = {DJ_LAW_HERTZ},
                         .help = "of the force by depth"},
    [DJ_IMPLICIT_STIFFNESS_SCALE] = {ROW("stiffness_scale", ""), .zero = true, .standard = {1},
                                     .help = "factor of the default stiffness"},
    [DJ_IMPLICIT_EXPONENT] = {ROW("exponent", ""), .least = 1, .most = 10, .standard = {1.5},
                              .help = "p of Hertz's law, force = stiffness depth^p"},
    [DJ_IMPLICIT_SUPPORT_SCALE] = {ROW("support_scale", ""), .most = 1e6, .standard = {1},
                                   .help = "factor of the default support"},
    [DJ_IMPLICIT_SUPPORT] = {ROW("support", "m"), .automatic = true, .least = DJ_SMALLEST,
                             .most = DJ_LARGEST, .rule = "min(0.02 r, 0.15 m/s timestep)",
                             .help = "gap at which the barrier begins"},
    [DJ_IMPLICIT_STIFFNESS] = {ROW("stiffness", "N/m^p; J"), .zero = true, .automatic = true,
                               .most = DJ_LARGEST_FORCE,
                               .rule = "the geom's weight presses it r/200 deep, or to half the "
                                       "barrier's support",
                               .help = "of the law: force = stiffness depth^p; the barrier's"},
    [DJ_IMPLICIT_DAMPING] = {ROW("damping", "s/m"), .zero = true, .most = DJ_LARGEST,
                             .standard = {0},
                             .help = "force grows by this times the speed of approach"},
    [DJ_IMPLICIT_FRICTION_EPS] = {ROW("friction_eps", "m2/s2"), .automatic = true,
                                  .most = DJ_LARGEST_FORCE,
                                  .rule = "3.6e-11 9.81 m/s2 r of the smaller geom",
                                  .help = "square of the velocity below which friction is "
                                          "viscous"}};

#define PARAM(name_, unit_, help_)                                                                 \
  { "contact/implicit_surface/" name_, unit_, help_, NULL }
static const djKernelRule rules[DJ_IMPLICIT_NSETTING] = {
    [DJ_IMPLICIT_EXPONENT] = {.param = PARAM("exponent", "", "p of implicit surfaces' law")},
    [DJ_IMPLICIT_SUPPORT] = {.rule = support,
                             .param = PARAM("support", "m", "of implicit surfaces' barrier"),
                             .factor = DJ_IMPLICIT_SUPPORT_SCALE + 1},
    [DJ_IMPLICIT_STIFFNESS] = {.rule = stiffness,
                               .param = PARAM("stiffness", "N/m^p; J", "of implicit surfaces"),
                               .factor = DJ_IMPLICIT_STIFFNESS_SCALE + 1,
                               .slope = slope},
    [DJ_IMPLICIT_DAMPING] = {.param = PARAM("damping", "s/m", "of implicit surfaces")},
    [DJ_IMPLICIT_FRICTION_EPS] = {.rule = frictionEps}};

const djKernelSettings dj_implicitSettings = {"implicit_surface", DJ_IMPLICIT_NSETTING, rows, rules};
