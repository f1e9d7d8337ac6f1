// Equality constraints of a written scene against those of the design.

#include "write.h"

#include <math.h>
#include <stdio.h>

typedef struct Numbers {
  const char* name;
  int width;
  const double *got, *wanted;
} Numbers;

// Of constraint i: whether all are there; *which: the first that differs.
static bool agree(int* which, const Numbers* x, int i, double tolerance) {
  const double *a = x->got + x->width * i, *b = x->wanted + x->width * i;
  const double sign = x->width == 4 && mju_dot(a, b, 4) < 0 ? -1 : 1;   // a quaternion's
  for (int k = *which = 0; k < x->width; k++) {
    *which = k;
    if (!(fabs(sign * a[k] - b[k]) <= tolerance * fmax(1, fabs(b[k])))) return false;
  }
  return true;
}

bool djm_checkEqualities(const djModel* got, const djModel* wanted, double tolerance,
                         djError* err) {
#define NUMBERS(name, width) {#name, width, got->eq_##name, wanted->eq_##name}
  const Numbers list[] = {NUMBERS(polycoef, 5),  NUMBERS(anchor, 6),  NUMBERS(quat, 4),
                          NUMBERS(torquescale, 1), NUMBERS(stiffness, 1), NUMBERS(damping, 1),
                          NUMBERS(impedance, 5)};
#undef NUMBERS
  for (int i = 0; i < wanted->nequality; i++) {
    const char* name = dj_id2name(wanted, DJ_OBJ_EQUALITY, i);
    char element[100];
    if (name[0]) snprintf(element, sizeof element, "%.90s", name);
    else snprintf(element, sizeof element, "#%d", i);
    bool same = got->eq_type[i] == wanted->eq_type[i] &&
                got->eq_active0[i] == wanted->eq_active0[i];
    for (int k = 0; k < 2; k++) {
      same = same && got->eq_pair[2 * i + k] == wanted->eq_pair[2 * i + k] &&
             got->eq_site[2 * i + k] == wanted->eq_site[2 * i + k];
    }
    if (!same) {
      snprintf(err->text, sizeof err->text, "equality/%s: could not be written", element);
      return false;
    }
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
      const Numbers* x = &list[k];
      bool frames = x->got == got->eq_anchor || x->got == got->eq_quat;
      int which;
      if ((frames && wanted->eq_site[2 * i] >= 0) || agree(&which, x, i, tolerance)) continue;
      snprintf(err->text, sizeof err->text,
               "equality/%s/%s: could not be written: it is %.17g there, not %.17g", element,
               x->name, x->got[x->width * i + which], x->wanted[x->width * i + which]);
      return false;
    }
  }
  return true;
}
