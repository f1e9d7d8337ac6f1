// Flexes of a model: checks, edges and flaps, what follows from material and rest shape.

#ifndef DJ_MODEL_FLEX_H_
#define DJ_MODEL_FLEX_H_

#include "model/flex_law.h"

#include <dijoco/setting.h>

// Sizes of all flexes of a definition, and the edges of all elements, those of each flex numbered
// by where they are met first.
typedef struct djFlexList {
  int nvert, nedge, nelem;
  int* edge;      // (as many as elements have x 2) vertices of the flex, the lower one first
  int* elem_edge; // (nelem x DJ_FLEX_EDGE) edges of the model; -1: no more
  int* nedge_of;  // (nflex) edges
} djFlexList;

djStatus dj_checkFlexes(const djModelDef* def, djError* err);
djStatus dj_makeFlexList(djFlexList* list, const djModelDef* def, djError* err);
void dj_freeFlexList(djFlexList* list);

// Arrays of the model; of a definition (nflex, nflexelem x 4).
void dj_fillFlexes(djModel* model, const djModelDef* def, const djFlexList* list);
void dj_getFlexes(djFlexDef* flex, int* elem, const djModel* model);

// Lengths, stiffness and bending of a flex by its material and rest shape.
void dj_setFlexLaw(djModel* model, int flex);

// What is wrong with a rest shape (vert: of all vertices of the flex), or NULL.
const char* dj_restProblem(const djModel* model, int flex, const double* vert);
// Of a number that a flex of that dim may not have, whose name is *field; or NULL.
const char* dj_flexProblem(const char** field, int dim, double young, double poisson,
                           double edgestiffness);

extern const djChoice dj_elastic2dNames[];

// Places of an element's vertices, or of a flap's (false: the edge has no two triangles), in a list
// of places (nflexvert x 3).
void dj_elementPlaces(const double* place[DJ_FLEX_VERT], const djModel* model, int elem,
                      const double* x);
bool dj_flapPlaces(const double* place[4], const djModel* model, int edge, const double* x);
// Vertices of a flap; false: likewise.
bool dj_flapVertices(int vert[4], const djModel* model, int edge);

#endif // DJ_MODEL_FLEX_H_
