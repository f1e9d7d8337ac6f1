// Broad phase: pairs of boxes (axis-aligned, world) that overlap. Boxes are given anew at each
// update; the structure reuses the last order or tree. Allocates only when made.

#ifndef DJ_SHAPE_BROADPHASE_H_
#define DJ_SHAPE_BROADPHASE_H_

#include <dijoco/types.h>

typedef struct djBroadphase djBroadphase;

size_t dj_broadphaseSize(int nbox);                        // bytes
djBroadphase* dj_initBroadphase(void* memory, int nbox);   // in caller memory

typedef struct djBoxPair {
  int a, b;               // a < b
} djBoxPair;

// The order of lists.
static inline bool dj_pairBefore(djBoxPair p, djBoxPair q) {
  return p.a < q.a || (p.a == q.a && p.b < q.b);
}

// box: (nbox x 6) lower xyz, upper xyz; infinite bounds are allowed. keep(user, a, b) filters
// candidates before they are listed. Pairs come sorted by (a, b). Returns the number found, which
// may exceed maxpair: then only the first maxpair in that order are written.
int dj_updateBroadphase(djBoxPair* pair, int maxpair, djBroadphase* broadphase, const double* box,
                        bool (*keep)(const void* user, int a, int b), const void* user);

#endif  // DJ_SHAPE_BROADPHASE_H_
