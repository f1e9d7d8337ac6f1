// A kernel of the tests: see spring_kernel.c.

#ifndef DJ_TESTS_KERNELS_SPRING_KERNEL_H_
#define DJ_TESTS_KERNELS_SPRING_KERNEL_H_

#include "contact/kernel.h"

// Its settings, in this order.
enum {
  SPRING_STIFFNESS_SCALE,
  SPRING_DAMPING_SCALE,
  SPRING_STIFFNESS,
  SPRING_DAMPING,
  SPRING_VISCOSITY,
  SPRING_NSETTING
};

extern const djKernelSettings test_springSettings;
extern const djKernel test_springKernel;

#endif  // DJ_TESTS_KERNELS_SPRING_KERNEL_H_
