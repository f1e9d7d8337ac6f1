// Threads that share work. A crew's threads wait between calls; it belongs to one caller at a time.

#ifndef DJ_BASE_CREW_H_
#define DJ_BASE_CREW_H_

#include <stddef.h>

typedef struct djCrew djCrew;

// Task `task` of a call, by thread `lane` of the crew, 0 for the caller's own. Two tasks of one
// lane are never done at the same time.
typedef void (*djCrewWork)(void* arg, int task, int lane);

// A crew of nthread, the caller's included; fewer where no more threads can be had. 0: one for each
// processor. NULL: out of memory. Signals are the caller's: its other threads take none.
djCrew* dj_makeCrew(int nthread);
void dj_deleteCrew(djCrew* crew); // NULL is allowed
int dj_crewSize(const djCrew* crew);
size_t dj_crewBytes(const djCrew* crew);

// All of n tasks: whichever thread is free takes the next one, so that a long one delays no other.
// Returns when all are done.
void dj_crewDo(djCrew* crew, int n, djCrewWork work, void* arg);

#endif // DJ_BASE_CREW_H_
