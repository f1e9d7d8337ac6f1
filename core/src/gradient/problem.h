// Problems: what their parts have in common.

#ifndef DJ_GRADIENT_PROBLEM_H_
#define DJ_GRADIENT_PROBLEM_H_

#include "base/pool.h"

#include <dijoco/design.h>

// Index of a parameter in problem->param, where it is listed once; memory is the pool's. Where its
// tangent starts in the concatenated gradients.
djStatus dj_listParam(int* index, djProblem* problem, const djParam* param, djPool* pool,
                      djError* err);
int dj_paramTangentAdr(const djProblem* problem, int index);

// Tangent entry k (before `index`) of a variable is a rotation.
bool dj_variableIsRotation(const djProblem* problem, const djModel* model, const djVariable* v,
                           int k);

// No entry is picked twice. (A whole vector and a part of it may be listed: their gradients agree.)
djStatus dj_checkListed(const djProblem* problem, djError* err);

// Some map computes entries of the parameter.
bool dj_isMapped(const djProblem* problem, const djParam* param);

// No variable is the target of a map. An error names the variable and the map.
djStatus dj_checkTargets(const djProblem* problem, djError* err);

// Of maps of which one wants its targets alone, none has an entry of another one. An error names
// it.
djStatus dj_checkAlone(const djProblem* problem, const djModel* model, djError* err);

// Maps were made for the model's timestep, as far as they depend on it.
djStatus dj_checkTimestep(const djProblem* problem, const djModel* model, djError* err);

// A mass or an inertia of a body with mass and solid geoms: dj_followGeoms computes it.
bool dj_paramFollows(const djModel* model, const djParam* param);

// With inertia_from_geom, no listed parameter is one of these.
djStatus dj_checkFollowers(const djProblem* problem, const djModel* model, djError* err);

#endif  // DJ_GRADIENT_PROBLEM_H_
