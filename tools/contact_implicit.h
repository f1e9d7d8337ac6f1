// Queries of contact between implicit surfaces.

#ifndef DJ_TOOLS_CONTACT_IMPLICIT_H_
#define DJ_TOOLS_CONTACT_IMPLICIT_H_

#include "json_in.h"
#include "json_out.h"

// Answers one query with "model":"implicit_surface". Returns the exit status; where that says bad
// input nothing has been written, and message says why.
int answer_implicit(Json* out, const cJSON* entry, char* message, size_t size);

#endif // DJ_TOOLS_CONTACT_IMPLICIT_H_
