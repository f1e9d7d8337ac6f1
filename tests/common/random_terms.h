// Random terms of a rollout's loss, one of each type that the model has something for.

#ifndef DJ_TESTS_RANDOM_TERMS_H_
#define DJ_TESTS_RANDOM_TERMS_H_

#include "common/random_model.h"

#include <dijoco/dijoco.h>

// term (DJ_NLOSS); returns how many. norms: some are norms; else some have a tolerance.
static inline int djt_randomTerms(djLossTerm* term, const djModel* m, djRng* rng, int horizon,
                                  bool norms) {
  int scalar = -1, n = 0;
  for (int j = 0; j < m->njnt; j++) {
    if (m->jnt_type[j] >= DJ_SLIDE) scalar = j;
  }
  for (int type = 0; type < DJ_NLOSS; type++) {
    djLossTerm t = {0};
    t.type = (djLossType)type;
    t.object = DJ_OBJ_BODY;
    t.id = 1 + djt_integer(rng, m->nbody - 1);
    t.id2 = djt_integer(rng, m->nbody);
    if (type == DJ_LOSS_COM && djt_integer(rng, 2)) t.id = -1;
    if (type == DJ_LOSS_QPOS || type == DJ_LOSS_QVEL) {
      if (scalar < 0) continue;
      t.id = scalar;
    }
    if ((type == DJ_LOSS_DISTANCE || type == DJ_LOSS_RELATIVE) && t.id == t.id2) continue;
    for (int k = 0; k < 3; k++) t.target[k] = djt_uniform(rng, -1, 1);
    if (type == DJ_LOSS_ORIENTATION) djt_unitQuat(t.target, rng);
    t.weight = djt_uniform(rng, 0.5, 2);
    if (norms) t.norm = type != DJ_LOSS_RELATIVE && djt_integer(rng, 3) == 0;
    else if (djt_integer(rng, 2) && type != DJ_LOSS_RELATIVE) t.tolerance = 0.1;
    t.when = (djWhen)djt_integer(rng, 3);
    t.step = 1 + djt_integer(rng, horizon);
    if (type == DJ_LOSS_RELATIVE && djt_integer(rng, 2)) {   // by the state in the middle, too
      t.when = djt_integer(rng, 2) ? DJ_WHEN_RUNNING : DJ_WHEN_EVERY;
      t.every = 2;
      t.from = 1 + djt_integer(rng, horizon - 2);
    }
    term[n++] = t;
  }
  return n;
}

#endif  // DJ_TESTS_RANDOM_TERMS_H_
