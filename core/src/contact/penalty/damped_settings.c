// Settings of damped contact, and their default rules. With W the weight on the heavier of both
// geoms, r the smaller inner radius, g gravity and l = r/1000:
//   sigma = W l/10          W on one point hovers l/10 above the ground, by the law perturbed
//   kn = W/l                W on one point sinks by l, by smooth_penalty
//   damping_time = 2 sqrt(l/g)   of that stiffness critical: kn t = 2 sqrt(kn W/g)
//   alpha = damping_time/timestep
//   friction_eps = v^2, sigma_t = W v/10,  v = sqrt(g r)/100
//   detect = 10 l

#include "contact/penalty/damped.h"
#include "model/check.h"

#include <float.h>
#include <math.h>

#define SINK 1e-3
#define HOVER 1e-4
#define CREEP 1e-2
#define DETECT 1e-2

static double radiusOf(const djContactScale* scale) {
  return fmin(scale->radius[0], scale->radius[1]);
}

static double within(double k) { return fmin(fmax(k, DBL_MIN), DJ_LARGEST_FORCE); }

static double creep(const djContactScale* scale) {
  return CREEP * sqrt(scale->gravity * radiusOf(scale));
}

static double sigma(const djContactScale* scale, const double* x) {
  return within(x[DJ_DAMPED_SIGMA_SCALE] * scale->heavier * HOVER * radiusOf(scale));
}

static double stiffness(const djContactScale* scale, const double* x) {
  return within(x[DJ_DAMPED_KN_SCALE] * scale->heavier / (SINK * radiusOf(scale)));
}

static double dampingTime(const djContactScale* scale, const double* x) {
  (void)x;
  return 2 * sqrt(SINK * radiusOf(scale) / scale->gravity);
}

static double alpha(const djContactScale* scale, const double* x) {
  return x[DJ_DAMPED_ALPHA_SCALE] * x[DJ_DAMPED_TIME] / scale->timestep;
}

static double tangential(const djContactScale* scale, const double* x) {
  (void)x;
  return within(0.1 * scale->heavier * creep(scale));
}

static double frictionEps(const djContactScale* scale, const double* x) {
  (void)x;
  return within(creep(scale) * creep(scale));
}

static double detect(const djContactScale* scale, const double* x) {
  (void)x;
  return DETECT * radiusOf(scale);
}

// Both may be given where they say the same, as of a model that is written with all its settings.
const char* dj_dampedConflict(const djContactScale* scale, const double* given) {
  const double alpha = given[DJ_DAMPED_ALPHA], time = given[DJ_DAMPED_TIME];
  if (alpha < 0 || time < 0) return NULL;
  const bool same = fabs(alpha * scale->timestep - time) <= 1e-9 * time;
  return same ? NULL : "alpha and damping_time are both given: one of them says the other";
}

#define NAMED(text, of) .name = text, .unit = of, .size = 1
#define NUMBER(text, of) NAMED(text, of), .ways = DJ_BY_PAIR, .automatic = true
#define FACTOR(of)                                                                                 \
  NAMED(of "_scale", ""), .ways = DJ_BY_PAIR, .zero = true, .most = 1e6, .standard = {1},          \
                          .help = "factor of the default " of
#define CHOICE(text, of)                                                                           \
  NAMED(text, ""), .ways = DJ_BY_SCENE, .kind = DJ_SETTING_CHOICE, .choice = of
static const djSetting rows[DJ_DAMPED_NSETTING] = {
    [DJ_DAMPED_LAW] = {CHOICE("law", dj_dampedLaws), .standard = {DJ_LAW_PERTURBED},
                       .help = "of the normal force by the gap ahead"},
    [DJ_DAMPED_SIGMA_SCALE] = {FACTOR("sigma")},
    [DJ_DAMPED_KN_SCALE] = {FACTOR("kn")},
    [DJ_DAMPED_ALPHA_SCALE] = {FACTOR("alpha")},
    [DJ_DAMPED_SIGMA] = {NUMBER("sigma", "N m"), .most = DJ_LARGEST_FORCE,
                         .rule = "the heavier geom's weight on one point hovers at 0.0001 r of the "
                                 "smaller one",
                         .help = "a point's force times its distance"},
    [DJ_DAMPED_KN] = {NUMBER("kn", "N/m"), .most = DJ_LARGEST_FORCE,
                      .rule = "that weight sinks one point by 0.001 r",
                      .help = "stiffness of the laws smooth_penalty and log"},
    [DJ_DAMPED_TIME] = {NUMBER("damping_time", "s"), .zero = true, .most = DJ_LARGEST,
                        .rule = "2 sqrt(0.001 r/g)",
                        .help = "time ahead, beyond the step's end, at which gaps are seen"},
    [DJ_DAMPED_ALPHA] = {NUMBER("alpha", ""), .zero = true, .most = DJ_LARGEST,
                         .rule = "damping_time/timestep", .help = "that time in steps"},
    [DJ_DAMPED_FRICTION_LAW] = {CHOICE("friction_law", dj_pointFrictions),
                                .help = "of friction at a point"},
    [DJ_DAMPED_SIGMA_T] = {NUMBER("sigma_t", "W"), .most = DJ_LARGEST_FORCE,
                           .rule = "0.001 sqrt(g r) times that weight",
                           .help = "of perturbed friction: power at which sticking turns to slip"},
    [DJ_DAMPED_FRICTION_EPS] = {NUMBER("friction_eps", "m2/s2"), .most = DJ_LARGEST_FORCE,
                                .rule = "0.0001 g r",
                                .help = "of smooth friction: square of the velocity below which it "
                                        "is viscous"},
    [DJ_DAMPED_DETECT] = {NUMBER("detect", "m"), .most = DJ_LARGEST, .rule = "0.01 r",
                          .help = "where the law log begins, and points are detected"},
    [DJ_DAMPED_CUT] = {NAMED("cut", "N"), .ways = DJ_BY_SCENE, .zero = true,
                       .most = DJ_LARGEST_FORCE, .standard = {0},
                       .help = "balls of points with less force at each are left out"},
    [DJ_DAMPED_INVARIANT] = {CHOICE("invariant", dj_switch), .standard = {1},
                             .help = "false: only points that are detected at a step's start act"},
    [DJ_DAMPED_COORDINATE_DERIVATIVE] = {CHOICE("coordinate_derivative", dj_switch),
                                         .standard = {1},
                                         .help = "false: derivatives are those for fixed normals"},
    [DJ_DAMPED_NORMAL] = {CHOICE("normal", dj_dampedNormals), .standard = {1},
                          .help = "the poses that normals are of"}};

#define PARAM(name_, unit_, help_)                                                                 \
  { "contact/damped/" name_, unit_, help_, NULL }
static const djKernelRule rules[DJ_DAMPED_NSETTING] = {
    [DJ_DAMPED_SIGMA] = {.rule = sigma,
                         .param = PARAM("sigma", "N m", "a point's force times its distance"),
                         .factor = DJ_DAMPED_SIGMA_SCALE + 1},
    [DJ_DAMPED_KN] = {.rule = stiffness,
                      .param = PARAM("kn", "N/m", "stiffness of damped contact's points"),
                      .factor = DJ_DAMPED_KN_SCALE + 1},
    [DJ_DAMPED_TIME] = {.rule = dampingTime},
    [DJ_DAMPED_ALPHA] = {.rule = alpha,
                         .param = PARAM("alpha", "", "damping of damped contact, in steps ahead"),
                         .factor = DJ_DAMPED_ALPHA_SCALE + 1},
    [DJ_DAMPED_SIGMA_T] = {.rule = tangential},
    [DJ_DAMPED_FRICTION_EPS] = {.rule = frictionEps},
    [DJ_DAMPED_DETECT] = {.rule = detect}};

const djKernelSettings dj_dampedSettings = {"damped", DJ_DAMPED_NSETTING, rows, rules};
