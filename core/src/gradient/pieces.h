// Into how many pieces the shapes fall that connections hold together.

#ifndef DJ_GRADIENT_PIECES_H_
#define DJ_GRADIENT_PIECES_H_

#include <dijoco/design.h>

typedef struct djPieces djPieces;

// Of a design at its start; pieces of others than connected bodies do not count. Memory is the
// design's. NULL in *pieces: the task has no connections.
djStatus dj_makePieces(djPieces** pieces, djDesign* design);

#endif // DJ_GRADIENT_PIECES_H_
