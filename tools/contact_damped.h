// Queries of damped contact.

#ifndef DJ_TOOLS_CONTACT_DAMPED_H_
#define DJ_TOOLS_CONTACT_DAMPED_H_

#include "json_in.h"
#include "json_out.h"

// As answer_penalty.
int answer_damped(Json* out, const cJSON* entry, char* message, size_t size);

#endif // DJ_TOOLS_CONTACT_DAMPED_H_
