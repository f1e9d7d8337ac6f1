// A model as the text of its file.

#ifndef DJ_IO_MODEL_SAVE_H_
#define DJ_IO_MODEL_SAVE_H_

#include "io/text.h"

#include <dijoco/model.h>

// Adds the keys that differ from the defaults, and numbers that are not those of the model that they
// make: where dj_setParam has set parameters, or in any case (who knows the struct may change it).
djStatus dj_modelText(djText* text, const djModel* model, bool in_any_case, djError* err);

#endif  // DJ_IO_MODEL_SAVE_H_
