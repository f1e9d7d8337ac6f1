// A row of the table of losses.

#ifndef DJ_GRADIENT_LOSS_ROW_H_
#define DJ_GRADIENT_LOSS_ROW_H_

#include "gradient/loss.h"
#include "math/vec.h"

#include <dijoco/entry.h>

// A term at a state.
typedef struct djLossAt {
  djLossWork* w;
  const djModel* m;
  const djLossTerm* t;
  const double* qpos;
  const double* qvel;
} djLossAt;

// A term is the squared distance of a vector from its target, or of a number from target[0]. Below,
// f is the derivative of the term by that vector, or by the number (f.x).
typedef struct djLossRow {
  djEntry entry;
  bool quaternion;       // the target is one, and is normalised
  bool of_velocity;      // its forces act on velocities; `params` is then all that parameters do
  bool relative;         // the target is what was measured before, at another state of the run
  djWhen when;           // default
  djVec3 (*vector)(djVec3* target, const djLossAt* at);
  double (*number)(const djLossAt* at);
  void (*push)(const djLossAt* at, djVec3 f);    // adds forces on bodies to w->wrench; or NULL
  void (*state)(double* dq, double* dv, const djLossAt* at, djVec3 f);   // adds the rest; or NULL
  void (*params)(double* param, const djLossAt* at, djVec3 f, double* scratch);  // likewise
} djLossRow;

extern const djLossRow dj_lossRows[DJ_NLOSS];

// The kind of element that a term is about, DJ_NOBJ where it is about none: the only one that its
// row names, else the term's own.
djObject dj_lossObject(const djLossTerm* term);

// The same of the second element, whose keys end with a 2; DJ_NOBJ also where it is left out.
djObject dj_lossObject2(const djLossTerm* term);
bool dj_isSecondKey(const djKey* key);

#endif  // DJ_GRADIENT_LOSS_ROW_H_
