// Surfaces that own their arrays.

#include <dijoco/decompose.h>

#include <stdlib.h>

void dj_freeTriangles(djTriangles* mesh) {
  if (!mesh) return;
  free(mesh->vert);
  free(mesh->tri);
  *mesh = (djTriangles){0};
}
