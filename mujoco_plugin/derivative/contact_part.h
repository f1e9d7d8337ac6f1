// Parts of djm_contactSlopes.

#ifndef MUJOCO_PLUGIN_DERIVATIVE_CONTACT_PART_H_
#define MUJOCO_PLUGIN_DERIVATIVE_CONTACT_PART_H_

#include "contact_slope.h"

#include <math.h>
#include <stdbool.h>

// A contact and its derivatives by the twist (w, u) of geom[1] while geom[0] is held: u is the
// velocity of the material point at pos.
typedef struct djmContactMotion {
  mjtNum dist[6];
  mjtNum pos[3][6];
  mjtNum normal[3][6];
  mjtNum off;  // how far another feature is, where that is known; else infinite
} djmContactMotion;

typedef struct djmSurface {
  int type, geom, mesh;
  const mjtNum *pos, *mat, *size;
  mjtNum scale;  // of its size: where tolerances are relative
  bool on_plane; // the other geom is a plane: contacts are vertices
} djmSurface;

// What a surface is about a point of it: a core of `dim` dimensions, inflated by a radius.
typedef struct djmPatch {
  int dim; // 0: point, 1: curve, 2: surface
  mjtNum radius;
  mjtNum point[3];      // of the core
  mjtNum tangent[2][3]; // of the core, unit vectors
  mjtNum bend[3];       // n . second derivatives of the core: 11, 12, 22
  bool curved;
} djmPatch;

// A contact, geom[0] first: n points from it, a and b are the points of the two surfaces.
typedef struct djmTouch {
  djmSurface s[2];
  mjtNum n[3], pos[3], dist, q[2][3];
  mjtNum size;  // of the smaller one
  bool rounded; // a margin: MuJoCo's search sees the shapes inflated by half of it
} djmTouch;

djmTouch djm_touch(const mjModel* m, const mjData* d, const mjContact* con);

// The patch of a surface at a point q of it with the outward normal out; false: none within tol. By
// which point: mesh faces, edges and vertices that q is on; else those that lie deepest along out.
bool djm_findPatch(djmPatch* p, const mjModel* m, const djmSurface* s, const mjtNum q[3],
                   const mjtNum out[3], mjtNum tol, bool by_point);

// The patches that meet at a contact, with the extreme that MuJoCo's contact is (tier -1) or is
// next to (tiers 0 to DJM_TIERS - 1: tolerances): normal, position, distance.
enum { DJM_TIERS = 3 };
bool djm_extremeNextTo(djmPatch* A, djmPatch* B, mjtNum n[3], mjtNum at[3], mjtNum* dist,
                       const mjModel* m, const djmTouch* t, int tier);

// Patches with curvature are evaluated anew at q; n from geom[0] to geom[1].
void djm_bendPatch(djmPatch* p, const djmSurface* s, const mjtNum q[3], const mjtNum n[3]);

// To the extreme next to two patches of s; false: none found.
bool djm_polish(djmPatch* A, djmPatch* B, mjtNum n[3], const djmSurface s[2]);

// Derivatives at the extreme of the distance of patches A of geom[0], B of geom[1]; false: not told
// by them. slide (3 x 6): how B's core moves beside its material; or NULL.
bool djm_extremal(djmContactMotion* x, const djmPatch* A, const djmPatch* B, const mjtNum n[3],
                  const mjtNum pos[3], const mjtNum* slide);

// Whether MuJoCo's collision function of a pair of types is that of all convex shapes.
bool djm_isGeneral(int a, int b);

// Of the contact with its two geoms exchanged, into that of the contact.
void djm_exchange(djmContactMotion* x, const mjtNum n[3]);

// Touches of kinds that are not extremal. false: not of that kind.
bool djm_planeCylinder(djmContactMotion* x, const djmTouch* t);
bool djm_capsuleBox(djmContactMotion* x, const mjModel* m, const djmTouch* t);
// Whether dir is the normal of a face.
bool djm_isFaceNormal(const mjModel* m, const djmSurface* s, const mjtNum dir[3]);
bool djm_clipped(djmContactMotion* x, const mjModel* m, const djmTouch* t);

// The distance below which MuJoCo lists contacts of the pair.
mjtNum djm_pairMargin(const mjModel* m, const mjContact* con);

// How far MuJoCo's distance may be from that of an extreme to which its search came.
mjtNum djm_searchError(const mjModel* m, mjtNum size);

// Differences of a pair: x (n) of contacts con (n). false: contacts do not follow small motions;
// with n > 1 also where others come or go.
bool djm_pairDifferences(djmContactMotion* x, const mjModel* m, mjData* d, const mjContact* con,
                         int n);

// slope: dist, pos, normal along one twist about con->pos; false: the contact does not follow it.
bool djm_twistDifferences(mjtNum slope[7], const mjModel* m, mjData* d, const mjContact* con,
                          const mjtNum twist[6]);

// The turn of the frame by a rate of the normal alone.
void djm_frameTurn(mjtNum turn[3], const mjModel* m, const mjData* d, const mjContact* con,
                   const mjtNum rate[3]);
// slope: dist, pos, normal by an entry of a geom's size. sizes: (ngeom x 3) scratch
bool djm_sizeDifferences(mjtNum slope[7], const mjModel* m, mjData* d, const mjContact* con,
                         int side, int entry, mjtNum* sizes);
// Columns of x along which the contact follows, in place of what is there.
void djm_partDifferences(djmContactMotion* x, const mjModel* m, mjData* d, const mjContact* con);

// Two unit vectors normal to n.
static inline void djm_normalTo(mjtNum e[2][3], const mjtNum n[3]) {
  int least = 0;
  for (int i = 1; i < 3; i++) {
    if (fabs(n[i]) < fabs(n[least])) least = i;
  }
  mjtNum axis[3] = {least == 0, least == 1, least == 2};
  mju_cross(e[0], n, axis);
  mju_normalize3(e[0]);
  mju_cross(e[1], n, e[0]);
}

static inline void djm_column(mjtNum out[3], const mjtNum jac[3][6], int k) {
  for (int i = 0; i < 3; i++) out[i] = jac[i][k];
}

// The velocity of the material point at x: u + w x (x - pos), (3 x 6).
static inline void djm_materialVelocity(mjtNum v[3][6], const mjtNum x[3], const mjtNum pos[3]) {
  mjtNum r[3] = {x[0] - pos[0], x[1] - pos[1], x[2] - pos[2]};
  mjtNum spin[3][3] = {{0, r[2], -r[1]}, {-r[2], 0, r[0]}, {r[1], -r[0], 0}};
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 3; k++) {
      v[i][k] = spin[i][k];
      v[i][3 + k] = i == k;
    }
  }
}

#endif // MUJOCO_PLUGIN_DERIVATIVE_CONTACT_PART_H_
