#include "scene/body_part.h"

#include "base/status.h"
#include "contact/contact.h"
#include "shape/common.h"
#include "shape/hull.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TOUCHING 1e-5
#define ON 1e-4     // of the size: a point counts as on a plane
#define ANGLE 1e-3  // sine
enum { DIRECTIONS = 26 };

bool dj_isPart(const djModel* m, int g) {
  int type = m->geom_type[g];
  bool convex = type == DJ_SPHERE || type == DJ_CAPSULE || type == DJ_ELLIPSOID ||
                type == DJ_CYLINDER || type == DJ_BOX || type == DJ_MESH;
  return convex && (type == DJ_MESH || m->geom_contype[g] || m->geom_conaffinity[g]);
}

// Farthest point of a round geom, or corner of a box, in a direction whose entries are -1, 0 or 1.
static djVec3 farthest(const djModel* m, int g, djVec3 d) {
  const double* s = m->geom_size + 3 * g;
  djVec3 u = dju_scale3(1 / dju_norm3(d), d);
  double across = hypot(d.x, d.y), to = across > 0 ? s[0] / across : 0;
  switch (m->geom_type[g]) {
    case DJ_SPHERE:
      return dju_scale3(s[0], u);
    case DJ_CAPSULE:
      return (djVec3){s[0] * u.x, s[0] * u.y, s[0] * u.z + d.z * s[1]};
    case DJ_ELLIPSOID:
      return (djVec3){s[0] * u.x, s[1] * u.y, s[2] * u.z};
    case DJ_CYLINDER:
      return (djVec3){to * d.x, to * d.y, (d.z == 0 ? 1 : d.z) * s[1]};
    default:
      return (djVec3){d.x * s[0], d.y * s[1], d.z * s[2]};
  }
}

// Hull of a geom that is no mesh.
static djStatus plainHull(djHull* hull, const djModel* m, int g, djError* err) {
  double vert[3 * DIRECTIONS];
  int n = 0;
  for (int k = 0; k < 27; k++) {
    djVec3 d = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
    bool corner = d.x != 0 && d.y != 0 && d.z != 0;
    if (k == 13 || (m->geom_type[g] == DJ_BOX && !corner)) continue;
    dju_store3(vert + 3 * n++, farthest(m, g, d));
  }
  return dj_makeHull(hull, n, vert, 0, NULL, err);
}

// One plane each of flat facets, in the body's frame.
static djStatus fillPart(djBodyPart* part, const djHull* hull, const djPose* pose) {
  part->plane = calloc(4 * (size_t)hull->nface + 1, sizeof *part->plane);
  if (!part->plane) return DJ_NO_MEMORY;
  for (int f = 0; f < hull->nface; f++) {
    djVec3 n = dju_load3(hull->plane + 4 * f);
    if (hull->group[f] != f || dju_dot3(n, n) < 0.5) continue;
    n = dju_mulMV(pose->R, n);
    double* out = part->plane + 4 * part->nplane++;
    dju_store3(out, n);
    out[3] = hull->plane[4 * f + 3] + dju_dot3(n, pose->p);
  }
  part->centre = dju_transform(pose, hull->center);
  part->bound = hull->bound;
  return DJ_OK;
}

djStatus dj_makePart(djBodyPart* part, const djModel* m, int g, djError* err) {
  *part = (djBodyPart){.geom = g};
  const djPose pose = {dju_load3(m->geom_pos + 3 * g),
                       dju_quatToMat(dju_normalizeQuat(dju_loadQuat(m->geom_quat + 4 * g)))};
  int mesh = m->geom_type[g] == DJ_MESH ? m->geom_mesh[g] : -1;
  if (mesh >= 0 && m->collision && m->collision->hull[mesh].buffer) {
    djStatus status = fillPart(part, &m->collision->hull[mesh], &pose);
    return status < 0 ? dj_failMemory(err) : status;
  }
  djHull hull = {0};
  djStatus status;
  if (mesh >= 0) {
    const double* vert = m->mesh_vert + 3 * (size_t)m->mesh_vertadr[mesh];
    status = dj_makeHull(&hull, m->mesh_vertnum[mesh], vert, 0, NULL, err);
  } else {
    status = plainHull(&hull, m, g, err);
  }
  if (status == DJ_OK && fillPart(part, &hull, &pose) < 0) status = dj_failMemory(err);
  dj_freeHull(&hull);
  return status;
}

void dj_freePart(djBodyPart* part) {
  free(part->plane);
  *part = (djBodyPart){0};
}

double dj_depthIn(const djBodyPart* part, djVec3 x) {
  double depth = INFINITY;
  for (int i = 0; i < part->nplane; i++) {
    const double* p = part->plane + 4 * i;
    depth = fmin(depth, p[3] - dju_dot3(dju_load3(p), x));
  }
  return depth;
}

double dj_partTolerance(const djBodyPart* part) { return -TOUCHING * part->bound; }

// Do planes that a point is on, to a small part of the size, meet at an angle?
static bool isOnEdge(int n, const double* plane, djVec3 x, double size) {
  djVec3 first = {0, 0, 0};
  bool any = false;
  for (int i = 0; i < n; i++) {
    djVec3 normal = dju_load3(plane + 4 * i);
    if (plane[4 * i + 3] - dju_dot3(normal, x) > ON * size) continue;
    if (any && dju_norm3(dju_cross3(first, normal)) > ANGLE) return true;
    first = normal;
    any = true;
  }
  return false;
}

djTouch dj_partsTouch(djVec3* point, const djBodyPart* a, const djBodyPart* b) {
  double size = fmin(a->bound, b->bound), apart = dju_norm3(dju_sub3(a->centre, b->centre));
  if (apart > (a->bound + b->bound) * (1 + TOUCHING)) return DJ_TOUCH_NONE;
  int n = a->nplane + b->nplane;
  double* plane = malloc(4 * (size_t)n * sizeof *plane);
  if (!plane) return DJ_TOUCH_NONE;
  memcpy(plane, a->plane, 4 * (size_t)a->nplane * sizeof *plane);
  memcpy(plane + 4 * (size_t)a->nplane, b->plane, 4 * (size_t)b->nplane * sizeof *plane);
  djVec3 start = a->bound < b->bound ? a->centre : b->centre;
  double depth = dj_commonPoint(point, n, plane, start, size);
  bool edge = depth < TOUCHING * size && isOnEdge(n, plane, *point, size);
  free(plane);
  return depth < -TOUCHING * size ? DJ_TOUCH_NONE : edge ? DJ_TOUCH_EDGE : DJ_TOUCH_FACE;
}
