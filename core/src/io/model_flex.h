// Keys of a flex that are lists: `bodies`, `pos`, `vert`, `elements`.

#ifndef DJ_IO_MODEL_FLEX_H_
#define DJ_IO_MODEL_FLEX_H_

#include "io/json.h"
#include "io/text.h"

#include <dijoco/model.h>

// Keys that are no lists are fields of model/element.h.
extern const char* const dj_flexLists[]; // NULL ends it

// The body that an item names.
typedef djStatus (*djBodyOf)(int* id, const void* user, const cJSON* item, const djAt* at);

// Of a flex whose other keys are read, in memory of the pool.
djStatus dj_readFlexLists(djFlexDef* flex, const cJSON* object, djBodyOf body, const void* user,
                          djPool* pool, const djAt* at);

// Those lists, each with a comma before it; a body by its name or number.
void dj_addFlexLists(djText* text, const djFlexDef* flex, const djModelDef* def);

#endif // DJ_IO_MODEL_FLEX_H_
