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

// Numbers up to here can be computed with: lengths, velocities, factors; masses, stiffnesses and
// forces, which are products of those.
#define DJ_LARGEST 1e20
#define DJ_LARGEST_FORCE 1e60

// Lengths and times that others are divided by are at least this.
#define DJ_SMALLEST 1e-20

// "is larger than 1e20" of numbers beyond `most`, one of the two; else NULL. "is smaller than
// 1e-20" of a positive number.
const char* dj_sizeProblem(const double* v, int n, double most);
const char* dj_smallProblem(double v);
// Of the impedance of a limit.
const char* dj_impedanceProblem(const double limit[5]);

// What is wrong with a range ("is reversed"...), or NULL: where it limits something it must be
// finite and ordered, otherwise just numbers.
const char* dj_rangeProblem(const double range[2], bool limited);

// Principal moments of a body: none negative, none larger than the sum of the others (by more
// than 1%, so that derivatives can be compared with differences at a flat body).
bool dj_inertiaOk(const double inertia[3]);

// Each option by its row in the table of settings (setting.h).
djStatus dj_checkOption(const djOption* option, djError* err);

// The option with -1 for every number that is "auto", however it was written.
djOption dj_plainOption(const djOption* option);

// Everything but names, keys' lengths and memory. dj_checkTree: bodies and joints;
// dj_checkElements: all that hangs on them.
djStatus dj_checkTree(const djModelDef* def, djError* err);
djStatus dj_checkElements(const djModelDef* def, djError* err);

// That no number of a valid definition is too large.
djStatus dj_checkSizes(const djModelDef* def, djError* err);

// Bodies with dofs carry mass, and inertia where they rotate freely.
djStatus dj_checkMasses(const djModel* model, djError* err);

// Coordinates given by a user: finite, not too large, quaternions normalised in place; a zero one
// is an error. Velocities likewise; activations and controls (n), which messages call `what`.
djStatus dj_checkQpos(double* qpos, const djModel* model, djError* err);
djStatus dj_checkQvel(const double* qvel, const djModel* model, djError* err);
djStatus dj_checkNumbers(const double* v, int n, const char* what, djError* err);

#endif  // DJ_MODEL_CHECK_H_
