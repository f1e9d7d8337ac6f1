// What is wrong with a flex of a definition, but for its elements (flex.c).

#include "model/check.h"
#include "model/choice.h"
#include "model/element.h"
#include "model/flex.h"

#include <limits.h>

const djChoice dj_elastic2dNames[] = {{"none", DJ_ELASTIC_NONE},
                                      {"bend", DJ_ELASTIC_BEND},
                                      {"stretch", DJ_ELASTIC_STRETCH},
                                      {"both", DJ_ELASTIC_BOTH},
                                      {NULL, 0}};

const char* dj_flexProblem(const char** field, int dim, double young, double poisson,
                           double edgestiffness) {
  *field = "poisson";
  if (!(poisson >= 0 && poisson < 0.5)) return "must be from 0 to below 0.5";
  *field = "young";
  if (dim == 1 && young != 0) return "is of dim 2 and 3: rods that bend are not supported";
  *field = "edgestiffness";
  return dim != 1 && edgestiffness != 0 ? "is of dim 1" : NULL;
}

const char* dj_flexBefore(const djModelDef* def, int flex) {
  const djFlexDef* f = &def->flex[flex];
  if (f->dim < 1 || f->dim > 3) return "dim must be 1, 2 or 3";
  if (f->nvert < 1 || f->nelem < 1) return "has no vertices or no elements";
  if (f->nvert > INT_MAX / 64 || f->nelem > INT_MAX / 64) return "is too large";
  if (!f->body || !f->vert || !f->elem) return "bodies, vert or elements are missing";
  if (!dj_isChoice(dj_elastic2dNames, (int)f->elastic2d)) return "unknown elastic2d";
  for (int i = 0; i < f->nvert; i++) {
    if (f->body[i] < 0 || f->body[i] >= def->nbody) return "a body does not exist";
    if (def->body[f->body[i]].mocap) return "vertices on mocap bodies are not supported";
    const double *pos = f->pos ? f->pos + 3 * (size_t)i : NULL, *vert = f->vert + 3 * (size_t)i;
    if (!dj_allFinite(vert, 3) || dj_sizeProblem(vert, 3, DJ_LARGEST)) return "vert is not finite";
    if (pos && (!dj_allFinite(pos, 3) || dj_sizeProblem(pos, 3, DJ_LARGEST))) {
      return "pos is not finite";
    }
  }
  return NULL;
}
