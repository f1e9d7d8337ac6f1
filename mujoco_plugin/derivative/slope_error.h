// Error text of derivatives.

#ifndef DJ_MUJOCO_SLOPE_ERROR_H_
#define DJ_MUJOCO_SLOPE_ERROR_H_

#include <dijoco/types.h>

// Write one line into err->text (err may be NULL) and return status.
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
djStatus djm_slopeError(djError* err, djStatus status, const char* format, ...);

#endif  // DJ_MUJOCO_SLOPE_ERROR_H_
