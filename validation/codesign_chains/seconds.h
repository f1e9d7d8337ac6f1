#ifndef DJ_VALIDATION_CODESIGN_SECONDS_H_
#define DJ_VALIDATION_CODESIGN_SECONDS_H_

#include <time.h>

// Of this thread.
static inline double cpuSeconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif // DJ_VALIDATION_CODESIGN_SECONDS_H_
