// Settings of penalty contact, and their default rules. With W the weight on the heavier of both
// geoms, r the smaller inner radius, g gravity and l = r/1000:
//   kn = W/l             W on one point sinks by l
//   kt = W/v             where friction is W it creeps at v = sqrt(g r)/100
//   kd = 2 z kn/sqrt(g l_n),  l_n = W/kn   damps small motions about that depth by the part z =
//   0.03
//                        of what is critical: kd l_n = 2 z sqrt(kn W/g)

#include "contact/penalty/penalty.h"
#include "model/check.h"

#include <float.h>
#include <math.h>

#define SINK 1e-3
#define CREEP 1e-2
#define DAMPING 0.03

static double radiusOf(const djContactScale* scale) {
  return fmin(scale->radius[0], scale->radius[1]);
}

static double within(double k) { return fmin(fmax(k, DBL_MIN), DJ_LARGEST_FORCE); }

static double normal(const djContactScale* scale, const double* x) {
  return within(x[DJ_PENALTY_KN_SCALE] * scale->heavier / (SINK * radiusOf(scale)));
}

static double tangential(const djContactScale* scale, const double* x) {
  const double speed = CREEP * sqrt(scale->gravity * radiusOf(scale));
  return within(x[DJ_PENALTY_KT_SCALE] * scale->heavier / speed);
}

static double damping(const djContactScale* scale, const double* x) {
  const double kn = x[DJ_PENALTY_KN], depth = scale->heavier / kn;
  return within(x[DJ_PENALTY_KD_SCALE] * 2 * DAMPING * kn / sqrt(scale->gravity * depth));
}

static double slope(const djContactScale* scale, const double* x, int row) {
  (void)scale;
  return row == DJ_PENALTY_KN ? 1.5 / x[DJ_PENALTY_KN] : 0;
}

#define NAMED(text, of) .name = text, .unit = of, .size = 1, .ways = DJ_BY_PAIR
#define FACTOR(of)                                                                                 \
  NAMED(of "_scale", ""), .zero = true, .most = 1e6, .standard = {1},                              \
                          .help = "factor of the default " of
#define NUMBER(text, of) NAMED(text, of), .automatic = true, .most = DJ_LARGEST_FORCE
static const djSetting rows[DJ_PENALTY_NSETTING] = {
    [DJ_PENALTY_KN_SCALE] = {FACTOR("kn")},
    [DJ_PENALTY_KT_SCALE] = {FACTOR("kt")},
    [DJ_PENALTY_KD_SCALE] = {FACTOR("kd")},
    [DJ_PENALTY_KN] = {NUMBER("kn", "N/m"),
                       .rule = "the heavier geom's weight sinks one point by 0.001 r of the "
                               "smaller one",
                       .help = "normal force of a point by its depth"},
    [DJ_PENALTY_KT] = {NUMBER("kt", "N s/m"), .zero = true,
                       .rule = "friction as large as that weight creeps at 0.01 sqrt(g r)",
                       .help = "friction of a point that sticks by its tangential velocity"},
    [DJ_PENALTY_KD] = {NUMBER("kd", "N s/m2"), .zero = true,
                       .rule = "0.03 of critical damping at the depth of that weight",
                       .help = "damping of a point by depth and speed of approach"},
    [DJ_PENALTY_SCALE] = {NAMED("scale", ""), .zero = true, .most = DJ_LARGEST, .standard = {1},
                          .help = "factor of kn, kt and kd in force, beside that of geoms"}};

#define PARAM(name_, unit_, help_)                                                                 \
  { "contact/penalty/" name_, unit_, help_, NULL }
static const djKernelRule rules[DJ_PENALTY_NSETTING] = {
    [DJ_PENALTY_KN] = {.rule = normal,
                       .param = PARAM("kn", "N/m", "normal force of a point by its depth"),
                       .factor = DJ_PENALTY_KN_SCALE + 1},
    [DJ_PENALTY_KT] = {.rule = tangential,
                       .param = PARAM("kt", "N s/m", "friction of a point that sticks"),
                       .factor = DJ_PENALTY_KT_SCALE + 1},
    [DJ_PENALTY_KD] = {.rule = damping,
                       .param = PARAM("kd", "N s/m2", "damping of a point in contact"),
                       .factor = DJ_PENALTY_KD_SCALE + 1,
                       .slope = slope},
    [DJ_PENALTY_SCALE] = {.param = PARAM("scale", "", "factor of kn, kt and kd")}};

const djKernelSettings dj_penaltySettings = {"penalty", DJ_PENALTY_NSETTING, rows, rules};
