// Key `shape` of a geom: its implicit surface, by the keys that a query of contact has for it.

#ifndef DJ_IO_MODEL_SHAPE_H_
#define DJ_IO_MODEL_SHAPE_H_

#include "io/json.h"
#include "io/text.h"

#include <dijoco/model.h>

// In memory of the pool, or of the item.
djStatus dj_readShape(const djSurfaceDef** out, const cJSON* item, djPool* pool, const djAt* at);

// "shape": {...}, without what precedes it.
void dj_addShape(djText* text, const djSurfaceDef* surface);

#endif // DJ_IO_MODEL_SHAPE_H_
