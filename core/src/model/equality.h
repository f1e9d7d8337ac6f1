// Equality constraints: their part of definitions and models. Each of their numbers is a scalar
// coordinate (coordinate.h).

#ifndef DJ_MODEL_EQUALITY_H_
#define DJ_MODEL_EQUALITY_H_

#include "model/choice.h"

#include <dijoco/model.h>

extern const djChoice dj_equalityNames[];

// How many numbers a type has; 0: there is no such type.
int dj_equalityCount(int type);
// Between points or frames of bodies: of connect and weld.
static inline bool dj_isBetweenBodies(int type) {
  return type == DJ_EQ_CONNECT || type == DJ_EQ_WELD;
}

// Of a connect or weld the point that it keeps on its body k (3), in that body's frame: a site's, or
// an anchor.
static inline const double* dj_equalityPoint(const djModel* m, int e, int k) {
  const int site = m->eq_site[2 * e + k];
  return site >= 0 ? m->site_pos + 3 * site : m->eq_anchor + 6 * e + 3 * k;
}

// Bodies of a connect or weld, whose sites may be given instead.
void dj_equalityBodies(int body[2], const djModelDef* def, const djEqualityDef* e);

#endif  // DJ_MODEL_EQUALITY_H_
