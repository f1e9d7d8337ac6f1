// Flexes in pictures, see picture_flex.c.

#ifndef DJ_TOOLS_PICTURE_FLEX_H_
#define DJ_TOOLS_PICTURE_FLEX_H_

#include "picture.h"

typedef struct FlexPart {
  int flex, corners;  // a triangle or an edge
  double point[3][3]; // world
  double depth;       // of its middle
} FlexPart;

// All of them from back to front, of which so many are drawn.
typedef struct FlexParts {
  int n, drawn;
  FlexPart* part;
} FlexParts;

FlexParts flex_parts(const djModel* model, const Poses* poses, const Camera* camera);
void flex_freeParts(FlexParts* parts);

// Draws those that are left and at least so deep.
void flex_draw(Buffer* out, FlexParts* parts, double depth, const djModel* model,
               const Camera* camera);

// Where a vertex of the model is.
void flex_vertex(double out[3], const djModel* model, int vertex, const Poses* poses);

#endif // DJ_TOOLS_PICTURE_FLEX_H_
