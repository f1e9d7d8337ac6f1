// Validation of definitions and of single values.

#ifndef DJ_MODEL_CHECK_H_
#define DJ_MODEL_CHECK_H_

#include <dijoco/model.h>

// "joint 'knee'", or "joint #3" without a name.
typedef struct djElementText {
  char text[96];
} djElementText;
djElementText dj_elementText(const char* kind, const char* name, int id);

bool dj_allFinite(const double* v, int n);
bool dj_allNonnegative(const double* v, int n);  // and finite

// out = v/|v|, or v itself where it is a unit vector to rounding, so that doing it twice changes
// nothing. False when v is zero or not finite. out may be v.
bool dj_makeUnit(double* out, const double* v, int n);

// What is wrong with a range ("is reversed"...), or NULL: where it limits something it must be
// finite and ordered, otherwise just numbers.
const char* dj_rangeProblem(const double range[2], bool limited);

// How many entries of `size` a geom type uses.
int dj_usedSizes(int geom_type);

// Principal moments of a body: none negative, none larger than the sum of the others (by more
// than 1%, so that derivatives can be compared with differences at a flat body).
bool dj_inertiaOk(const double inertia[3]);

djStatus dj_checkOption(const djOption* option, djError* err);

// Everything but names, keys' lengths and memory. dj_checkTree: bodies and joints;
// dj_checkElements: all that hangs on them.
djStatus dj_checkTree(const djModelDef* def, djError* err);
djStatus dj_checkElements(const djModelDef* def, djError* err);

// Bodies with dofs carry mass, and inertia where they rotate freely.
djStatus dj_checkMasses(const djModel* model, djError* err);

// Coordinates given by a user: finite, quaternions normalised in place; a zero one is an error.
djStatus dj_checkQpos(double* qpos, const djModel* model, djError* err);

#endif  // DJ_MODEL_CHECK_H_
