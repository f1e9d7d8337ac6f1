// Overlaps of the hulls of bodies, as verbs tell them.

#ifndef DJ_TOOLS_OVERLAP_H_
#define DJ_TOOLS_OVERLAP_H_

#include "json_out.h"

#include <dijoco/overlap.h>
#include <dijoco/problem.h>

// Share of the volume of all bodies' meshes and boxes that counts more than once; NAN: no memory.
double overlap_share(const djModel* model);

// Says how much of the mass that follows geoms counts twice, if any does.
void overlap_warn(const djProblem* problem, double share);

// List `overlap`: bodies of several hulls.
void overlap_write(Json* out, const djModel* model);
// The same as text, of those that overlap.
void overlap_print(const djModel* model);

#endif  // DJ_TOOLS_OVERLAP_H_
