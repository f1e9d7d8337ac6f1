// Slopes of contacts by fourth-order differences of mj_collision (contact_slope.h).

#include "contact_slope.h"
#include "spatial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const mjtNum kPoint[4] = {1, -1, 2, -2}, kWeight[4] = {8, -8, -1, 1};

// The geom's pose after a small motion about a point.
static void moveGeom(mjData* d, int geom, const mjtNum pos[3], const mjtNum mat[9],
                     const mjtNum quat[4], const mjtNum point[3], const mjtNum twist[6]) {
  mjtNum angle = mju_norm3(twist), axis[3], turn[4], arm[3], R[9];
  mju_copy3(axis, twist);
  mju_normalize3(axis);
  mju_axisAngle2Quat(turn, axis, angle);
  mju_mulQuat(d->geom_xquat + 4 * geom, turn, quat);
  mju_quat2Mat(R, turn);
  mju_mulMatMat(d->geom_xmat + 9 * geom, R, mat, 3, 3, 3);
  mju_sub3(arm, pos, point);
  mju_mulMatVec3(d->geom_xpos + 3 * geom, R, arm);
  mju_addTo3(d->geom_xpos + 3 * geom, point);
  mju_addTo3(d->geom_xpos + 3 * geom, twist + 3);
}

static const mjContact* nearest(const mjData* d, const mjContact* con) {
  const mjContact* best = NULL;
  mjtNum least = 1e-2;
  for (int i = 0; i < d->ncon; i++) {
    const mjContact* x = d->contact + i;
    if (x->geom[0] != con->geom[0] || x->geom[1] != con->geom[1]) continue;
    mjtNum far = mju_dist3(x->pos, con->pos);
    if (far >= least) continue;
    least = far;
    best = x;
  }
  return best;
}

// The turn from a frame to a near one.
static void turnBetween(mjtNum turn[3], const mjtNum from[9], const mjtNum to[9]) {
  mju_zero3(turn);
  for (int k = 0; k < 3; k++) {
    mjtNum part[3];
    djm_cross(part, from + 3 * k, to + 3 * k);
    mju_addToScl3(turn, part, 0.5);
  }
}

// Slopes by the twist of one geom's body. Tangents come from axes of the world: a rigid motion of
// both geoms does not turn the frame rigidly.
static bool differenceGeom(djmContactSlope* slope, const mjModel* m, mjData* d,
                           const mjContact* con, int side) {
  const mjtNum h = 2e-5;
  int geom = con->geom[side];
  mjtNum pos[3], mat[9], quat[4];
  mju_copy3(pos, d->geom_xpos + 3 * geom);
  mju_copy(mat, d->geom_xmat + 9 * geom, 9);
  mju_copy4(quat, d->geom_xquat + 4 * geom);
  const mjContact* found = con;
  for (int k = 0; k < 6 && found; k++) {
    int column = 6 * side + k;
    for (int p = 0; p < 4; p++) {
      mjtNum twist[6] = {0}, turn[3], w = kWeight[p] / (12 * h);
      twist[k] = kPoint[p] * h;
      moveGeom(d, geom, pos, mat, quat, con->pos, twist);
      mj_collision(m, d);
      found = nearest(d, con);
      if (!found) break;
      turnBetween(turn, con->frame, found->frame);
      slope->dist[column] += w * found->dist;
      for (int i = 0; i < 3; i++) {
        slope->pos[i][column] += w * found->pos[i];
        slope->turn[i][column] += w * turn[i];
      }
    }
  }
  mju_copy3(d->geom_xpos + 3 * geom, pos);
  mju_copy(d->geom_xmat + 9 * geom, mat, 9);
  mju_copy4(d->geom_xquat + 4 * geom, quat);
  return found;
}

djStatus djm_contactSlope(djmContactSlope* slope, const mjModel* m, mjData* d,
                          const mjContact* con) {
  memset(slope, 0, sizeof(*slope));
  for (int side = 0; side < 2; side++) {
    if (!differenceGeom(slope, m, d, con, side)) return DJ_UNSUPPORTED;
  }
  slope->feature = DJM_FEATURE_DIFFERENCES;
  return DJ_OK;
}

djStatus djm_contactSlopes(djmContactSlope* slope, const mjModel* m, mjData* d,
                           const mjContact* con, int n) {
  djStatus status = DJ_OK;
  for (int i = 0; i < n && status == DJ_OK; i++) {
    if (!con[i].exclude) status = djm_contactSlope(slope + i, m, d, con + i);
  }
  return status;
}
