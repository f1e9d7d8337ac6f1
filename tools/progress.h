// Progress of long work: one line, written over in place, where stderr is a terminal.

#ifndef DJ_TOOLS_PROGRESS_H_
#define DJ_TOOLS_PROGRESS_H_

// `done` of `all` is done of `what` ("simulating", a constant); all 0: nobody knows. The rest says
// more, as printf. Call it as often as you like: the line appears when the work takes longer than
// half a second, and changes five times a second. It names the time that has passed and an estimate
// of what is left. Another `what` than last time starts anew.
void progress_show(const char* what, double done, double all, const char* format, ...)
    __attribute__((format(printf, 4, 5)));

// Clear the line. Before results or errors are printed.
void progress_end(void);

// What a signal handler may do: end it for good, or put a text before the line.
void progress_stop(void);
void progress_tell(const char* text);

#endif  // DJ_TOOLS_PROGRESS_H_
