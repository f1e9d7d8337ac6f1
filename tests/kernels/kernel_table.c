// The library's kernels and those of the tests, in place of contact/kernel_table.c and
// contact/setting_table.c.

#include "contact/kernel_list.h"
#include "contact/penalty/damped.h"
#include "contact/implicit/implicit_surface.h"
#include "contact/penalty/penalty.h"
#include "contact/plane/separating_plane.h"
#include "contact/triangles/long_range.h"
#include "charge_kernel.h"
#include "spring_kernel.h"
#include "swirl_kernel.h"

#define KERNELS(X)                                        \
  DJ_KERNELS(X)                                           \
  X("spring", test_springKernel, test_springSettings)     \
  X("charge", test_chargeKernel, test_chargeSettings)     \
  X("swirl", test_swirlKernel, test_swirlSettings)

#define ROW(name, row, settings) &row,
#define SETTINGS(name, row, settings) &settings,
#define PLACE(name, row, settings) PLACE_##row,
#define NAME(name, row, settings) {name, PLACE_##row},
enum { KERNELS(PLACE) NKERNEL };
const djKernel* const dj_kernelTable[NKERNEL + 1] = {KERNELS(ROW) NULL};
const djKernelSettings* const dj_settingTable[NKERNEL + 1] = {KERNELS(SETTINGS) NULL};
const djChoice dj_contactNames[NKERNEL + 3] = {
    {"none", DJ_CONTACT_NONE}, {"mujoco", DJ_CONTACT_MUJOCO}, KERNELS(NAME) {NULL, 0}};
