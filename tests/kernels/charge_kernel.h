// A kernel of the tests: see charge_kernel.c.

#ifndef DJ_TESTS_KERNELS_CHARGE_KERNEL_H_
#define DJ_TESTS_KERNELS_CHARGE_KERNEL_H_

#include "contact/kernel.h"

extern const djKernelSettings test_chargeSettings;
extern const djKernel test_chargeKernel;

#endif  // DJ_TESTS_KERNELS_CHARGE_KERNEL_H_
