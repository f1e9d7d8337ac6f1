// What pictures show of a flex: triangles of a cloth, the surface of a solid, edges of a rope.

#ifndef DJ_TOOLS_FLEX_FACES_H_
#define DJ_TOOLS_FLEX_FACES_H_

#include <dijoco/model.h>

typedef struct FlexFaces {
  int n, corners; // how many, of so many vertices
  int* vert;      // (n x corners) of the flex; the caller's to free
} FlexFaces;

FlexFaces flex_faces(const djModel* model, int flex);

// Its colour, that of the first body that moves and has a vertex.
const char* flex_color(const djModel* model, int flex);

#endif // DJ_TOOLS_FLEX_FACES_H_
