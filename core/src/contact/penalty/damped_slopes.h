// Derivatives of the force at a point of damped contact, summed over points.

#ifndef DJ_CONTACT_PENALTY_DAMPED_SLOPES_H_
#define DJ_CONTACT_PENALTY_DAMPED_SLOPES_H_

#include "contact/penalty/penalty_pair.h"
#include "math/lanes.h"

// Points of one way that are worked out side by side.
enum {
  DJ_BATCH_N, // vectors, then the matrix, are three and nine rows
  DJ_BATCH_U = DJ_BATCH_N + 3,
  DJ_BATCH_T = DJ_BATCH_U + 3,
  DJ_BATCH_GRADIENT = DJ_BATCH_T + 3,
  DJ_BATCH_F = DJ_BATCH_GRADIENT + 3, // minus that on a
  DJ_BATCH_C = DJ_BATCH_F + 3,        // from ref_a
  DJ_BATCH_X = DJ_BATCH_C + 3,        // likewise
  DJ_BATCH_TURN = DJ_BATCH_X + 3,
  DJ_BATCH_FORCE = DJ_BATCH_TURN + 9,
  DJ_BATCH_RATE,
  DJ_BATCH_SLOPE,
  DJ_BATCH_DRAG,
  DJ_BATCH_DRAG_BY_N,
  DJ_BATCH_DRAG_BY_SPEED,
  DJ_BATCH_ROWS
};

typedef struct djPointBatch {
  djLanes sum[112]; // so far: by_pose (6 x 12), by_twist of a (6 x 6), and none
  bool summed;      // they are set
  int n;            // points that wait, of:
  const djPenaltyWay* way;
  djVec3 w;
  double radius;
  bool held;
  double row[DJ_BATCH_ROWS][DJU_LANES];
} djPointBatch;

static inline void dj_emptyBatch(djPointBatch* batch) {
  batch->summed = false;
  batch->n = 0;
}

// For djPointModel. Until dj_completeDampedSum twists of both bodies count about ref_a, and those
// of b are missing in by_twist: they are opposite.
void dj_addDampedSlopes(djPenaltySum* sum, const djPenaltyPair* pair, const djPenaltyWay* way,
                        const djPointForce* p);
void dj_completeDampedSum(djPenaltySum* sum, const djPenaltyPair* pair);

#endif // DJ_CONTACT_PENALTY_DAMPED_SLOPES_H_
