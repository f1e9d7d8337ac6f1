// A model as the text of its file.

#ifndef DJ_IO_MODEL_SAVE_H_
#define DJ_IO_MODEL_SAVE_H_

#include "io/text.h"

#include <dijoco/model.h>

// Beside the keys that differ from the defaults, and numbers that are not those of the model that
// they make where dj_setParam has set parameters:
enum {
  DJ_WITH_SETTINGS = 1,   // every setting of `option`, with those of contact that are in force, so
                          //   that no later rule changes what the file says. Of skins that differ
                          //   from geom to geom the largest is written then
  DJ_WITH_EXACT = 2       // such numbers in any case (who knows the struct may change them)
};
djStatus dj_modelText(djText* text, const djModel* model, int with, djError* err);

#endif  // DJ_IO_MODEL_SAVE_H_
