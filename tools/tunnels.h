// Tunnels through bodies whose shapes a task's connections hold together.

#ifndef DJ_TOOLS_TUNNELS_H_
#define DJ_TOOLS_TUNNELS_H_

#include <dijoco/design.h>

// How many tunnels (genus) bodies of several meshes have of which a connection names a geom, at x,
// by cells of a hundredth of their longest sides; -1: they cannot be counted there.
int tunnels_count(djDesign* d, const double* x);

#endif // DJ_TOOLS_TUNNELS_H_
