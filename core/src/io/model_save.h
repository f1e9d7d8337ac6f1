// A model as the text of its file.

#ifndef DJ_IO_MODEL_SAVE_H_
#define DJ_IO_MODEL_SAVE_H_

#include "io/text.h"

#include <dijoco/model.h>

// Adds the keys that differ from the defaults. all: every setting of `option`, with those of contact
// that are in force, so that no later rule changes what the file says. Of skins that differ from geom
// to geom the largest is written then.
djStatus dj_modelText(djText* text, const djModel* model, bool all, djError* err);

#endif  // DJ_IO_MODEL_SAVE_H_
