// Threads that share work: a crew's threads wait between calls, and whichever is free takes the next
// task. It belongs to one caller at a time.

#ifndef DIJOCO_CREW_H_
#define DIJOCO_CREW_H_

#include <dijoco/types.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// Threads and the caller's own.
typedef struct djCrew djCrew;

// Task `task` of a call, by thread `lane` of the crew, 0 for the caller's own. Two tasks of one lane
// are never done at the same time.
typedef void (*djCrewWork)(void* arg, int task, int lane);

// A crew of nthread, the caller's included; fewer where no more threads can be had. 0: one for each
// processor. NULL: out of memory. Signals are the caller's: its other threads take none.
DJ_API djCrew* dj_makeCrew(int nthread);
DJ_API void dj_deleteCrew(djCrew* crew);        // NULL is allowed
DJ_API int dj_crewSize(const djCrew* crew);     // threads, the caller's included
DJ_API size_t dj_crewBytes(const djCrew* crew);

// All of n tasks: one that is long delays no other. Returns when all are done.
DJ_API void dj_crewDo(djCrew* crew, int n, djCrewWork work, void* arg);

#ifdef __cplusplus
}
#endif

#endif  // DIJOCO_CREW_H_
