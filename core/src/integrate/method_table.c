// The table of methods. Tests link one of their own in its place.

#include "integrate/method.h"

const djMethod* dj_method(djIntegrator integrator) {
  static const djMethod* const table[DJ_NINTEGRATOR] = {
      [DJ_POSITION] = &dj_position,
      [DJ_VARIATIONAL] = &dj_variational,
      [DJ_BDF1] = &dj_bdf1,
      [DJ_MIDPOINT] = &dj_midpoint,
  };
  return (int)integrator >= 0 && integrator < DJ_NINTEGRATOR ? table[integrator] : NULL;
}
