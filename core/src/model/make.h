// Building a model from its definition, without collision data.

#ifndef DJ_MODEL_MAKE_H_
#define DJ_MODEL_MAKE_H_

#include <dijoco/model.h>

#include <string.h>

static inline void dj_copyNumbers(double* out, const double* v, int n) {
  memcpy(out, v, sizeof(double) * (size_t)n);
}

// All arrays but geom_skin (0) and jnt_effinertia (1); `contact` is zero, `collision` NULL.
djStatus dj_buildModel(djModel** model, const djModelDef* def, djError* err);
djStatus dj_copyBuilt(djModel** copy, const djModel* model, djError* err);
void dj_deleteBuilt(djModel* model);  // leaves `collision` alone

// Room for n pairs of bodies of guides, all zero, in a model that is there.
djStatus dj_resizeGuides(djModel* model, int n, djError* err);

// Vertices at the end of meshes, as dj_addMeshVertices; collision data stay as they were.
djStatus dj_growMeshes(djModel* model, int n, const int* mesh, const double* vert, djError* err);

// total_mass and moving_mass from body_mass.
void dj_sumMasses(djModel* model);

// Parts of dj_buildModel: copy a checked definition into a model whose arrays are laid out.
void dj_fillTree(djModel* model, const djModelDef* def);
void dj_fillElements(djModel* model, const djModelDef* def);
djStatus dj_fillKeys(djModel* model, const djModelDef* def, djError* err);

#endif  // DJ_MODEL_MAKE_H_
