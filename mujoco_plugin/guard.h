// What is known of djm_guard inside it.

#ifndef DJ_MUJOCO_GUARD_H_
#define DJ_MUJOCO_GUARD_H_

#include <stdbool.h>

// Whether this thread is inside djm_guard: nobody sees MuJoCo's warnings.
bool djm_isGuarded(void);

#endif  // DJ_MUJOCO_GUARD_H_
