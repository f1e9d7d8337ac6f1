// Sines: the controls of one actuator, and of another one their derivative by time. z holds rows
// of amplitude A, frequency f in Hz and phase p in rad, then, where it has one number more, an
// offset o. With w = 2 pi f, in step k at t = k h, h being the timestep,
//   u = o + sum A sin(w t + p),   u' = sum A w cos(w t + p).

#include "base/status.h"
#include "gradient/map.h"

#include <math.h>

static djStatus makeSines(djMap* map, const djMapMaking* making) {
  if (map->nz < 3 || map->nz % 3 == 2) {
    return dj_fail(making->err, DJ_INVALID,
                   "from: '%.100s' must be 3 W or 3 W + 1 numbers: rows of amplitude, Hz and "
                   "phase, then perhaps an offset",
                   making->given->from);
  }
  map->timestep = making->model->opt.timestep;
  return dj_targetActuators(map, making);
}

static void applySines(double* out, const djMap* map, const double* z, double* work) {
  (void)work;
  int rows = map->target[0].n, waves = map->nz / 3;
  for (int k = 0; k < rows; k++) {
    double t = k * map->timestep, value = map->nz % 3 == 1 ? z[map->nz - 1] : 0, rate = 0;
    for (int i = 0; i < waves; i++) {
      double amplitude = z[3 * i], w = 2 * M_PI * z[3 * i + 1], angle = w * t + z[3 * i + 2];
      value += amplitude * sin(angle);
      rate += amplitude * w * cos(angle);
    }
    out[k] = value;
    if (map->ntarget > 1) out[rows + k] = rate;
  }
}

// By A: sin, w cos. By p: A cos, -A w sin. By f, through w: A t cos, A cos - A w t sin.
static void vjpSines(double* dz, const djMap* map, const double* z, const double* dout,
                     double* work) {
  (void)work;
  int rows = map->target[0].n, waves = map->nz / 3;
  for (int k = 0; k < rows; k++) {
    double t = k * map->timestep, by_value = dout[k];
    double by_rate = map->ntarget > 1 ? dout[rows + k] : 0;
    if (map->nz % 3 == 1) dz[map->nz - 1] += by_value;
    for (int i = 0; i < waves; i++) {
      double amplitude = z[3 * i], w = 2 * M_PI * z[3 * i + 1], angle = w * t + z[3 * i + 2];
      double s = sin(angle), c = cos(angle);
      double by_angle = amplitude * (by_value * c - by_rate * w * s);
      dz[3 * i] += by_value * s + by_rate * w * c;
      dz[3 * i + 1] += 2 * M_PI * (by_angle * t + by_rate * amplitude * c);
      dz[3 * i + 2] += by_angle;
    }
  }
}

const djMapType dj_mapSines = {
    {.name = "sines", .unit = "",
     .help = "one actuator's controls = offset + sum of amplitude sin(2 pi Hz t + phase), t being "
             "0 in the first step; those of `velocity` = the derivative by time; z has rows of "
             "amplitude, Hz and phase (rad), then, where it has one number more, the offset",
     .key = (const djKey[]){
         {"actuator", DJ_HOLDS_ELEMENT, 0, DJ_OBJ_ACTUATOR, true, "", ""},
         {"velocity", DJ_HOLDS_ELEMENT, 0, DJ_OBJ_ACTUATOR, false, "", "none"},
         {0}}},
    DJ_MAPTO_CTRL, false, false, makeSines, applySines, vjpSines, NULL, NULL};
