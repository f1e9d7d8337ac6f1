// Signals that ask the program to end: Ctrl-C (SIGINT), SIGTERM, SIGHUP.
//
// By default the first one ends the program: what is unfinished is removed from the disk, and the
// signal is raised again with its default action, so that the shell sees it (128 + n). A verb that
// has something to give before its end defers: then the first signal is only remembered, for
// interrupt_asked to tell, and the second one ends the program. Other signals that end programs
// (SIGQUIT, SIGPIPE) never wait.

#ifndef DJ_TOOLS_INTERRUPT_H_
#define DJ_TOOLS_INTERRUPT_H_

#include <stdbool.h>

// Handle signals, from now to the end of the program.
void interrupt_install(void);

// What removes the unfinished: it may do only what a signal handler may (unlink, rmdir), and runs
// in any thread.
void interrupt_onEnd(void (*clean)(void));

// From now on the first signal is remembered; `told` is what a terminal shows then.
void interrupt_defer(const char* told);
// Whether it has come. Verbs that defer ask often.
bool interrupt_asked(void);

// Between these no signal ends the program; it waits for the release. For moments in which the disk
// does not match what `clean` knows, such as the renaming of several files. Main thread only.
void interrupt_hold(void);
void interrupt_release(void);

#endif  // DJ_TOOLS_INTERRUPT_H_
