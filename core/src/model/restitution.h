// Coefficients of restitution of geoms and explicit pairs (DJ_OBJ_GEOM, DJ_OBJ_PAIR).
//
// Each element has a number that is given, and one that MuJoCo's solref stands for. Under option
// restitution = solref the second counts where it is not 0, else the first. As a parameter an
// element's coefficient is the number that counts. Another one that is set is given, and solref no
// longer counts, whatever the option is.

#ifndef DJ_MODEL_RESTITUTION_H_
#define DJ_MODEL_RESTITUTION_H_

#include <dijoco/model.h>

// Where the number that counts is.
double* dj_restitutionPlace(const djModel* model, djObject object, int id);

// Sets a coefficient. What is there already stays where it is from.
void dj_giveRestitution(djModel* model, djObject object, int id, double value);

#endif  // DJ_MODEL_RESTITUTION_H_
