// What L-BFGS-B asks of Fortran's runtime.

#include "optimize/lbfgsb_fortran.h"

int dj_fortranCompare(size_t na, const char* a, size_t nb, const char* b) {
  for (size_t i = 0; i < na || i < nb; i++) {
    int x = i < na ? (unsigned char)a[i] : ' ', y = i < nb ? (unsigned char)b[i] : ' ';
    if (x != y) return x < y ? -1 : 1;
  }
  return 0;
}

void dj_fortranTime(float* seconds) { *seconds = 0; }

#define X(name) void dj_fortran_##name(void) {}
DJ_FORTRAN_OUTPUT(X)
#undef X
