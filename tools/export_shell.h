// Closed surfaces of geoms.

#ifndef DJ_TOOLS_EXPORT_SHELL_H_
#define DJ_TOOLS_EXPORT_SHELL_H_

#include <dijoco/decompose.h>
#include <dijoco/model.h>

// The geom has a shell: no plane, no height field.
bool shell_has(const djModel* model, int geom);

// Add the hull of a geom, in its body's frame: meshes and boxes have all their vertices, of round
// shapes are points on their surface.
djStatus shell_add(djPieces* pieces, bool* round, const djModel* model, int geom, djError* err);

// Least distance of two parallel planes that have the geom between them; hull: its shell.
double shell_thickness(const djModel* model, int geom, const djTriangles* hull);

// Where a triangle of a closed surface has no area since a corner lies on the opposite edge, the
// triangle beyond that edge is divided there instead.
void shell_mend(djTriangles* t);

// Unit normal of a triangle, or zeros.
void shell_normal(double n[3], const double a[3], const double b[3], const double c[3]);

#endif // DJ_TOOLS_EXPORT_SHELL_H_
