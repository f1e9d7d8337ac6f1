// Time as programs measure it.

#ifndef DJ_TOOLS_CLOCK_H_
#define DJ_TOOLS_CLOCK_H_

// Seconds of a clock that never jumps.
double tool_clock(void);

#endif  // DJ_TOOLS_CLOCK_H_
