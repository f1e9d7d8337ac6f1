// What rows against half spaces and height fields share.

#ifndef DJ_CONTACT_PLANE_PLANE_ROWS_H_
#define DJ_CONTACT_PLANE_PLANE_ROWS_H_

#include "contact/friction/friction.h"
#include "contact/plane/plane_pair.h"
#include "contact/rows.h"

// Rows whose arguments are beyond so many supports are left out: nothing comes that far within a
// pass. And those that stand for the plane's own terms.
#define DJ_ROWS_NEAR 10
enum { DJ_ROW_OWN_OFFSET = -1 };

// The next row, or NULL where there is no room: then there are none.
djContactRow* dj_nextRow(djPairRows* rows, djRowKind kind, int id, double x, double weight,
                         double width);
djContactRow* dj_barrierRow(djPairRows* rows, djRowKind kind, int id, double x, double weight,
                            djBarrier law);
// f (a: rho_a x d, d; b: -rho_b x d, -d): how the point moves along d.
void dj_rowTwist(double J[12], double f, djVec3 d, djVec3 rho_a, djVec3 rho_b);
// -P'(x), infinite where x is not positive.
double dj_rowLoad(double x, djBarrier law);
// t, or |n|, is within s of 1, where -P'(1 - t) is the load by it: that of the forces at the poses
// now, if there are any, or what it was.
void dj_adaptLength(djPairPlane* plane, double load, djBarrier law);
// Where a half space's plane is to begin: t and -o, given the least height over L at the poses now.
void dj_beginHalfRows(djPairPlane* plane, const djPlaneState* state, double least,
                      djBarrier law, double L);
// Points against a half space of b: there is no motion of a plane's own. first: of their numbers.
void dj_halfSlipRows(djPairRows* rows, const djLagged* lagged, const djPairInput* in, int first);

#endif  // DJ_CONTACT_PLANE_PLANE_ROWS_H_
