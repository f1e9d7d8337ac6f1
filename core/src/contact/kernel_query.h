// A contact query (dijoco/contact.h) as kernels see it: two shapes without a model.

#ifndef DJ_CONTACT_KERNEL_QUERY_H_
#define DJ_CONTACT_KERNEL_QUERY_H_

#include "contact/kernel.h"

#include <dijoco/contact.h>

// In the order of the kernel: side 0 is not a plane. Body frames have world axes and their origins
// where twists refer to, so that far places lose no digits.
typedef struct djContactQuery {
  const djKernel* kernel;
  const djcOption* option;
  bool swapped;                  // b was given as the first
  const djcShape* given[2];
  djShape shape[2];
  djPose start[2], now[2];
  double setting[DJ_MAX_OF_KERNEL];
  djPairInput in;                // at start poses; friction as asked for
  djPairState* state;            // zeros
  // What is asked for: result->gap is set. By vertices (3 each) and all vertices of a then b, or
  // NULL.
  djcResult* result;
  double* gradient[2];
  double* hessian;
  void* buffer;
  void* own;                     // of the kernel's shapes, by malloc; or NULL
} djContactQuery;

// Poses now: the start's, moved by the motions of the option's friction.
void dj_moveQuery(djContactQuery* query);

// Twist gradients and Hessians, in the order of the kernel, to that of the query.
void dj_swapHalves(double x[12]);
void dj_swapHessian(double H[144]);

#endif  // DJ_CONTACT_KERNEL_QUERY_H_
