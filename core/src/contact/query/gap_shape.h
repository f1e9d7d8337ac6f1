// Sets of shapes for gaps: as given, and smoothed.

#ifndef DJ_CONTACT_QUERY_GAP_SHAPE_H_
#define DJ_CONTACT_QUERY_GAP_SHAPE_H_

#include "base/pool.h"
#include "shape/hull.h"
#include "shape/soft.h"

#include <dijoco/contact.h>

// One set, in its frame.
typedef struct djGapSide {
  int n;
  djShape* shape;           // (n) as given
  djHull* hull;             // (n) of vertex shapes that have a volume, the others zero
  djSoft* soft;             // (n)
} djGapSide;

// The shapes as given, relative to origin, in memory of the pool. name: the set's in messages.
djStatus dj_makeGapSide(djGapSide* side, djPool* pool, int n, const djcShape* s, char name,
                        const double origin[3], djError* err);
void dj_freeGapSide(djGapSide* side);

// 0.002 of the least inner radius of both sides.
double dj_defaultSmoothing(const djGapSide side[2]);

// Fills side->soft.
djStatus dj_softenSide(djGapSide* side, djPool* pool, double smoothing, djError* err);

#endif  // DJ_CONTACT_QUERY_GAP_SHAPE_H_
