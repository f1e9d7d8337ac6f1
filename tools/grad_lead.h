// What a certificate says of whether its gradient leads over steps of a size that is of use.

#ifndef DJ_TOOLS_GRAD_LEAD_H_
#define DJ_TOOLS_GRAD_LEAD_H_

#include "json_out.h"

#include <dijoco/check.h>

enum { LEAD_TEXT = 80 };   // room for a verdict

// "leads", "does not lead at 1e-2: slope 0.065, gradient -0.57", with the smallest step at which
// it does not, or why there is no verdict.
void lead_verdict(char* text, size_t size, const djdCertificate* c);

// scale, leads, secants and what belongs to them, in an object that is open.
void lead_write(Json* out, const djdCertificate* c);

// The slopes of all variables, and at the end the verdicts. surrogate: other physics act in the
// gradients alone.
void lead_print(int n, const char* const* name, const djdCertificate* certificate, bool surrogate);

#endif  // DJ_TOOLS_GRAD_LEAD_H_
