// Geoms that a connect or weld holds in each other. The point that it keeps together lies in one
// geom and in the other: while it acts no motion parts them, as none parts links at their joint,
// which do not collide as parent and child. Contact would press against it for ever, with nothing
// for either to give way to; so such a pair has none.

#ifndef DJ_CONTACT_PAIRS_TIED_H_
#define DJ_CONTACT_PAIRS_TIED_H_

#include "contact/pairs/near.h"

// Whether a constraint that acts (c->eq_active) holds two geoms in each other.
bool dj_isTied(const djContacts* c, const djModel* model, int geom1, int geom2);

// Of the constraints that act, and the points that they keep: others have another key. 0: nothing
// can be tied.
uint64_t dj_tiedKey(const djModel* model, const int* eq_active);

#endif  // DJ_CONTACT_PAIRS_TIED_H_
