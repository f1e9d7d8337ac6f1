// Contact models and settings of single geoms and pairs, and of models other than the first, in
// model files: keys of geoms and pairs, and objects of `option`.

#ifndef DJ_IO_MODEL_CONTACT_H_
#define DJ_IO_MODEL_CONTACT_H_

#include "io/json.h"
#include "io/text.h"

#include <dijoco/model.h>

#define DJ_MAX_KEYS 160    // of an element
#define DJ_MAX_MODELS 16   // with an object in `option`

// Adds the names of settings that an element may have to n names, at most `room` in all; pair: of a
// pair, else of a geom. Returns how many there are.
int dj_listOwnSettings(const char** names, int n, int room, bool pair);

// The same of contact models that have an object in `option`.
int dj_listModels(const char** names, int n, int room);

// All of them, into def, in memory of the pool; root: of the file, whose keys have been checked.
djStatus dj_readOwnSettings(djModelDef* def, const cJSON* root, djPool* pool, djError* err);

// As members that follow others: of one geom or pair (the other -1); of `option`.
void dj_addOwnSettings(djText* text, const djModelDef* def, int geom, int pair);
void dj_addModelSettings(djText* text, const djModelDef* def, const char** between);

#endif  // DJ_IO_MODEL_CONTACT_H_
