// dijoco contact: one query of penalty contact.

#ifndef DJ_TOOLS_CONTACT_PENALTY_H_
#define DJ_TOOLS_CONTACT_PENALTY_H_

#include "json_in.h"
#include "json_out.h"

// Writes the answer and returns its exit status; EXIT_BAD_INPUT: nothing is written, and message
// says why.
int answer_penalty(Json* out, const cJSON* entry, char* message, size_t size);

#endif // DJ_TOOLS_CONTACT_PENALTY_H_
