// The list of a model's scalar coordinates, from its definition.

#ifndef DJ_MODEL_COORDINATE_LIST_H_
#define DJ_MODEL_COORDINATE_LIST_H_

#include <dijoco/model.h>

typedef struct djCoordinateList {
  int n, ndof, ncrank, nequality;
  int *type, *id;        // (n) as coord_type, coord_id
  int* num;              // (n) dofs of each
  int* dof;              // (ndof) of one after the other, ascending
  int room;              // of dof
} djCoordinateList;

// Makes the list of a checked definition; frees it; fills coord_*, jnt_coord, tendon_coord,
// actuator_coord and eq_coord of a model that has its sizes.
djStatus dj_makeCoordinateList(djCoordinateList* list, const djModelDef* def, djError* err);
void dj_freeCoordinateList(djCoordinateList* list);
void dj_fillCoordinates(djModel* model, const djCoordinateList* list);

#endif  // DJ_MODEL_COORDINATE_LIST_H_
