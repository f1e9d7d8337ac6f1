// The table of methods. Tests link one of their own in its place.

#include "integrate/method.h"

const djMethod* dj_method(djIntegrator integrator) {
#define ROW(enumerator, name) [enumerator] = &dj_##name,
  static const djMethod* const table[DJ_NINTEGRATOR] = {DJ_INTEGRATORS(ROW)};
  return (int)integrator >= 0 && integrator < DJ_NINTEGRATOR ? table[integrator] : NULL;
}
