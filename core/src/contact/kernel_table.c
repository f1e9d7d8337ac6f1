// The table of contact kernels, and nothing else, so that a program may bring another in its place.
// The first row is the model of scenes that name none.

#include "contact/kernel.h"

#define KERNELS(X)                          \
  X("separating_plane", dj_separatingPlane) \
  X("implicit_surface", dj_implicitSurface) \
  X("penalty", dj_penalty)                  \
  X("damped", dj_damped)                    \
  X("long_range", dj_longRange)

#define DECLARATION(name, row) extern const djKernel row;
KERNELS(DECLARATION)

#define ROW(name, row) &row,
#define PLACE(name, row) PLACE_##row,
#define NAME(name, row) {name, PLACE_##row},
enum { KERNELS(PLACE) NKERNEL };
const djKernel* const dj_kernelTable[NKERNEL + 1] = {KERNELS(ROW) NULL};
const djChoice dj_contactNames[NKERNEL + 3] = {
    {"none", DJ_CONTACT_NONE}, {"mujoco", DJ_CONTACT_MUJOCO}, KERNELS(NAME) {NULL, 0}};
