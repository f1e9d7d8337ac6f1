// Where children hang, and the links that are to have that place in them.

#ifndef DJ_IO_TASK_ATTACH_H_
#define DJ_IO_TASK_ATTACH_H_

#include "scene/body_part.h"

#include <dijoco/task.h>

// Where a body hangs: at a joint's anchor, without one (-1) at its frame; in its own frame, and in
// the parent's.
void dj_placeOfHanging(djVec3* own, djVec3* above, const djModel* model, int body, int joint);

// Is a point, in the body's frame, in one of its parts (ngeom; those without planes are none)?
// *depth: in the one where it is deepest, m; negative: outside, -infinite: there is none.
bool dj_linkHolds(double* depth, const djModel* model, const djBodyPart* part, int body, djVec3 x);

// That it is not: of a link, by the depth; of both.
djStatus dj_failOutside(const djModel* model, int body, int joint, int link, double depth,
                        djError* err);
djStatus dj_failOutsideBoth(const djModel* model, int body, djError* err);

// Listed connections that tie a geom to where a child hangs: the geom's link has it in it.
djStatus dj_checkAttachments(const djModel* model, const djTask* task, djError* err);

#endif // DJ_IO_TASK_ATTACH_H_
