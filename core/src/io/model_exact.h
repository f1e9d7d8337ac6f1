// What a model has of its making, where parameters have been set since: some of its numbers follow
// from those that it was made with (inertias that limits and equalities see, sizes by which default
// rules go) and stay as they were. A model that is made of its text has others, so that these are
// written as they are, by the names of dj_modelArray.

#ifndef DJ_IO_MODEL_EXACT_H_
#define DJ_IO_MODEL_EXACT_H_

#include "io/json.h"
#include "io/text.h"

#include <dijoco/array.h>

// Arrays that steps depend on: not how contact settings were given, of which those in force are
// what counts, and which are given otherwise in the file of a model that has been changed.
bool dj_isExactArray(const char* name);

// Adds a member "exact" with the arrays in which `again`, made of the text of `model`, differs;
// none if none does.
void dj_addExactArrays(djText* text, const djModel* model, const djModel* again);
// Numbers that replace the model's own: never sizes or indices. exact: NULL has none.
djStatus dj_readExact(djModel* model, const cJSON* exact, djError* err);

#endif // DJ_IO_MODEL_EXACT_H_
