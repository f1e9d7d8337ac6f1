// Eight points of a distance field at once.

#ifndef DJ_SHAPE_FIELD_LANES_H_
#define DJ_SHAPE_FIELD_LANES_H_

#include "math/lanes3.h"
#include "shape/field.h"

// djFieldAt of eight points, without ridges and pieces.
typedef struct djFieldLanes {
  djLanes distance;
  djLanes3 gradient, normal;
  djLanes33 turn; // not set where the field is flat
} djFieldLanes;

// Its normal is the same everywhere.
static inline bool dj_flatField(const djDistanceField* field) { return field->type == DJ_PLANE; }

// n: points there are, of at most eight; what is found of others is finite where they are.
void dj_fieldLanes(djFieldLanes* out, const djDistanceField* field, const djLanes3* x, int n);

// Whether it has pieces (djFieldAt.piece).
static inline bool dj_hasPieces(const djDistanceField* field) {
  return field->type == DJ_BOX || field->type == DJ_CYLINDER || field->type == DJ_CAPSULE;
}

#endif // DJ_SHAPE_FIELD_LANES_H_
