// Geoms that a connect holds in each other. A point that a connect keeps together lies in one geom
// and in the other: while the connect acts no motion parts them, as none parts links at their joint,
// which do not collide as parent and child. Contact would press against the connect for ever, with
// nothing for either to give way to; so such a pair has none.

#ifndef DJ_CONTACT_PAIRS_TIED_H_
#define DJ_CONTACT_PAIRS_TIED_H_

#include "contact/pairs/near.h"

// Whether one of the connects that act (c->eq_active) holds two geoms in each other.
bool dj_isTied(const djContacts* c, const djModel* model, int geom1, int geom2);

// The model's geoms with points that a connect holds, the connects that act: other ones have
// another key. 0: none can be tied.
uint64_t dj_tiedKey(const djModel* model, const int* eq_active);

#endif  // DJ_CONTACT_PAIRS_TIED_H_
