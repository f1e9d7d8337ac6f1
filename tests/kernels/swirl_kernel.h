// A kernel of the tests: see swirl_kernel.c.

#ifndef DJ_TESTS_KERNELS_SWIRL_KERNEL_H_
#define DJ_TESTS_KERNELS_SWIRL_KERNEL_H_

#include "contact/kernel.h"

extern const djKernelSettings test_swirlSettings;
extern const djKernel test_swirlKernel;

#endif  // DJ_TESTS_KERNELS_SWIRL_KERNEL_H_
