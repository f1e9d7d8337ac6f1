// Places in a body that maps of boxes move.

#ifndef DJ_GRADIENT_MAP_BOX_H_
#define DJ_GRADIENT_MAP_BOX_H_

#include "gradient/map.h"
#include "math/vec.h"

// Told of a parameter whose values are nvalue/3 places; pose takes them to the body's frame.
typedef djStatus (*djBoxVisit)(void* user, const djParam* param, const djPose* pose);

// Part of a box by which a place may be beyond a face and still counts as on it: vertices of MJCF
// are of single precision.
#define DJ_ON_FACE 1e-6

// All parameters that are places in a body: vertices of its meshes and points that are given for
// their contact, positions of its other geoms (their points move with them) and of its sites, frames
// of its children, anchors of its joints. A mesh of several geoms is that of the first.
djStatus dj_visitPlaces(const djModel* model, int body, djBoxVisit visit, void* user);

// At most so many parameters are visited, and so many places.
size_t dj_placeParams(const djModel* model);
size_t dj_places(const djModel* model);

// Index of the body of a map's key; an error names the key.
djStatus dj_boxBody(int* body, const djMapArg* arg, const djMapMaking* making);

#endif  // DJ_GRADIENT_MAP_BOX_H_
