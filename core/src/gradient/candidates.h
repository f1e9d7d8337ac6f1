// Where a window of a receding horizon begins its descent: at the best of several plans, the one it
// has and smooth seeded changes of it, compared by the guided loss.
//
// Descent sees the slope alone: not round a wall, nor left from right on the line. A change of what
// varies is a path of random terms that begins at 0, by tau = (row + 1)/rows of the window, and for
// each column another:
//
//   change(tau) = S sum_j xi_j 2^1/2 sin((j - 1/2) pi tau)/((j - 1/2) pi),  j = 1..4,
//
// xi_j normal: the first terms of a Brownian path, so that S is about what it deviates by at the
// window's end. The guided loss is that of the window's run with the guide in it, which before
// contact tells who is nearer. A plan whose loss without it is 0, all targets being within their
// tolerances, stays.

#ifndef DJ_GRADIENT_CANDIDATES_H_
#define DJ_GRADIENT_CANDIDATES_H_

#include "gradient/window.h"

typedef struct djCandidates djCandidates;

// For a window, which must outlive them; NULL in *out where there is but one. receding has been
// checked.
djStatus dj_makeCandidates(djCandidates** out, const djWindow* window, const djReceding* receding,
                           djError* err);
void dj_deleteCandidates(djCandidates* candidates);   // NULL is allowed

// x of the window, placed at a step, becomes the best one; of equal ones the first. Returns which,
// 0 being x as it was. A step has the same ones however it is come to, in any number of threads.
// *count rises by the losses asked for.
int dj_chooseCandidate(double* x, int* count, djCandidates* candidates, int step);

#endif  // DJ_GRADIENT_CANDIDATES_H_
