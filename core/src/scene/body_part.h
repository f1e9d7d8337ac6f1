// Geoms of a body as convex polyhedra in its frame: whether they touch, what they hold.

#ifndef DJ_SCENE_BODY_PART_H_
#define DJ_SCENE_BODY_PART_H_

#include "math/vec.h"

#include <dijoco/model.h>

typedef struct djBodyPart {
  int geom;
  int nplane;
  double* plane; // (nplane x 4) outward normals and offsets
  djVec3 centre;
  double bound; // m; no point is farther from the centre
} djBodyPart;

// A geom that is part of its body: of a convex type, and colliding or a mesh.
bool dj_isPart(const djModel* model, int geom);

// A mesh is its hull, round geoms are polyhedra inside them.
djStatus dj_makePart(djBodyPart* part, const djModel* model, int geom, djError* err);
void dj_freePart(djBodyPart* part);

// How deep a point is in a part, m; negative: outside, by no less than that.
double dj_depthIn(const djBodyPart* part, djVec3 point);

// What two parts have in common; gaps of 1e-5 of the smaller one's size count as touching.
typedef enum djTouch {
  DJ_TOUCH_NONE,
  DJ_TOUCH_EDGE,       // no more than an edge or a point
  DJ_TOUCH_FACE        // a volume or part of a face
} djTouch;

// And a point well inside it.
djTouch dj_partsTouch(djVec3* point, const djBodyPart* a, const djBodyPart* b);

// Where a point counts as inside of a part, m, negative.
double dj_partTolerance(const djBodyPart* part);

#endif // DJ_SCENE_BODY_PART_H_
