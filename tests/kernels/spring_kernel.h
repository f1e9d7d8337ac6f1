// A kernel of the tests: see spring_kernel.c.

#ifndef DJ_TESTS_KERNELS_SPRING_KERNEL_H_
#define DJ_TESTS_KERNELS_SPRING_KERNEL_H_

#include "contact/kernel.h"

extern const djKernel test_springKernel;

#endif  // DJ_TESTS_KERNELS_SPRING_KERNEL_H_
