// The contact kernel penalty (DiffHand, III): points of one geom in the distance field of the
// other.

#ifndef DJ_CONTACT_PENALTY_PENALTY_H_
#define DJ_CONTACT_PENALTY_PENALTY_H_

#include "contact/kernel.h"

enum {
  DJ_PENALTY_KN_SCALE,
  DJ_PENALTY_KT_SCALE,
  DJ_PENALTY_KD_SCALE,
  DJ_PENALTY_KN,
  DJ_PENALTY_KT,
  DJ_PENALTY_KD,
  DJ_PENALTY_SCALE,
  DJ_PENALTY_NSETTING
};

extern const djKernelSettings dj_penaltySettings;

extern const djKernel dj_penalty;

#endif // DJ_CONTACT_PENALTY_PENALTY_H_
