// The table of contact kernels, and nothing else, so that a program may bring another in its place,
// with that of contact/setting_table.c.

#include "contact/kernel.h"
#include "contact/kernel_list.h"

#define DECLARATION(name, kernel, settings) extern const djKernel kernel;
DJ_KERNELS(DECLARATION)

#define ROW(name, kernel, settings) &kernel,
const djKernel* const dj_kernelTable[] = {DJ_KERNELS(ROW) NULL};
