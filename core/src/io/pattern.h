// Names with a pattern, in tasks.

#ifndef DJ_IO_PATTERN_H_
#define DJ_IO_PATTERN_H_

#include "base/pool.h"

#include <dijoco/model.h>

// The names that a name stands for: itself, or where the element of a parameter ("geom/leg_*/size")
// or of a part of the start ("qpos0[joint/leg_*]") is a pattern, those of all that match, in the
// model's order. In memory of the pool. An error names the pattern.
djStatus dj_expandName(const char* const** names, int* n, const djModel* model, const char* name,
                       djPool* pool, djError* err);

#endif  // DJ_IO_PATTERN_H_
