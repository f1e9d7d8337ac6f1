// The library's kernels and those of the tests, in place of contact/kernel_table.c.

#include "contact/penalty/damped.h"
#include "contact/implicit/implicit_surface.h"
#include "contact/penalty/penalty.h"
#include "contact/plane/separating_plane.h"
#include "contact/triangles/long_range.h"
#include "charge_kernel.h"
#include "spring_kernel.h"
#include "swirl_kernel.h"

#define KERNELS(X)                          \
  X("separating_plane", dj_separatingPlane) \
  X("implicit_surface", dj_implicitSurface) \
  X("penalty", dj_penalty)                  \
  X("damped", dj_damped)                    \
  X("long_range", dj_longRange)             \
  X("spring", test_springKernel)            \
  X("charge", test_chargeKernel)            \
  X("swirl", test_swirlKernel)

#define ROW(name, row) &row,
#define PLACE(name, row) PLACE_##row,
#define NAME(name, row) {name, PLACE_##row},
enum { KERNELS(PLACE) NKERNEL };
const djKernel* const dj_kernelTable[NKERNEL + 1] = {KERNELS(ROW) NULL};
const djChoice dj_contactNames[NKERNEL + 3] = {
    {"none", DJ_CONTACT_NONE}, {"mujoco", DJ_CONTACT_MUJOCO}, KERNELS(NAME) {NULL, 0}};
