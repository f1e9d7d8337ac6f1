// L-BFGS-B 3.0 (Zhu, Byrd, Lu, Nocedal, Morales) as cmake/Lbfgsb.cmake takes it into the core, and
// what it asks of Fortran's runtime.

#ifndef DJ_OPTIMIZE_LBFGSB_FORTRAN_H_
#define DJ_OPTIMIZE_LBFGSB_FORTRAN_H_

#include <stddef.h>

enum { DJ_SETULB_TEXT = 60 };

// Reverse communication: `task` (blank padded) says what is wanted. wa (2mn + 5n + 11mm + 8m),
// iwa (3n), lsave (4), isave (44), dsave (29); ntask, ncsave: DJ_SETULB_TEXT.
void dj_setulb(const int* n, const int* m, double* x, const double* lower, const double* upper,
               const int* nbd, double* f, double* g, const double* factr, const double* pgtol,
               double* wa, int* iwa, char* task, const int* iprint, char* csave, int* lsave,
               int* isave, double* dsave, size_t ntask, size_t ncsave);

// Called by it: Fortran's order of texts, which are padded by blanks; the clock, on which nothing
// depends; and output, which is dropped with all its arguments.
int dj_fortranCompare(size_t na, const char* a, size_t nb, const char* b);
void dj_fortranTime(float* seconds);
#define DJ_FORTRAN_OUTPUT(X)                                                    \
  X(st_write) X(st_write_done) X(transfer_array_write) X(transfer_character_write) \
  X(transfer_integer_write) X(transfer_real_write)
#define X(name) void dj_fortran_##name(void);
DJ_FORTRAN_OUTPUT(X)
#undef X

#endif  // DJ_OPTIMIZE_LBFGSB_FORTRAN_H_
