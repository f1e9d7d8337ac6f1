// Contacts by the sizes of their geoms (djm_contactSize).
//
// A radius r moves a surface along the normal: dist' = -1, pos' = +-n/2. The half lengths of a box
// and of a capsule's axis move what is on their side as a translation of the geom does, along their
// axis, outwards: faces, edges, corners, ends. What such a translation leaves in place, inner
// points of faces, does not see it. Ellipsoids, cylinders: by differences of the pair.

#include "contact_part.h"

// The contact as geom `side` moves along v.
static void translate(mjtNum out[7], const djmContactSlope* slope, int side, const mjtNum v[3]) {
  const mjtNum* rows[7] = {slope->dist,    slope->pos[0],  slope->pos[1], slope->pos[2],
                           slope->turn[0], slope->turn[1], slope->turn[2]};
  for (int k = 0; k < 7; k++) out[k] = mju_dot3(rows[k] + 6 * side + 3, v);
}

// Along axis i of the geom, to the side where the contact is.
static void stretch(mjtNum out[7], const djmContactSlope* slope, int side, const mjData* d,
                    const mjContact* con, int i) {
  const mjtNum* R = d->geom_xmat + 9 * con->geom[side];
  mjtNum v[3] = {R[i], R[3 + i], R[6 + i]}, r[3];
  mju_sub3(r, con->pos, d->geom_xpos + 3 * con->geom[side]);
  if (mju_dot3(r, v) < 0) mju_scl3(v, v, -1);
  translate(out, slope, side, v);
}

static void inflate(mjtNum out[7], int side, const mjContact* con) {
  mju_zero(out, 7);
  out[0] = -1;
  mju_scl3(out + 1, con->frame, side ? -0.5 : 0.5);
}

static void bySearch(mjtNum out[7], int side, int entry, const mjModel* m, mjData* d,
                     const mjContact* con, mjtNum* sizes) {
  mjtNum slope[7];
  mju_zero(out, 7);
  if (!djm_sizeDifferences(slope, m, d, con, side, entry, sizes)) return;
  mju_copy(out, slope, 4);
  djm_frameTurn(out + 4, m, d, con, slope + 4);
}

void djm_contactSize(mjtNum size[2][3][7], const mjModel* m, mjData* d, const mjContact* con,
                     const djmContactSlope* slope, mjtNum* sizes) {
  mju_zero(size[0][0], 42);
  for (int s = 0; s < 2; s++) {
    int type = m->geom_type[con->geom[s]];
    if (type == mjGEOM_SPHERE || type == mjGEOM_CAPSULE) inflate(size[s][0], s, con);
    if (type == mjGEOM_CAPSULE) stretch(size[s][1], slope, s, d, con, 2);
    for (int i = 0; i < 3; i++) {
      if (type == mjGEOM_BOX) stretch(size[s][i], slope, s, d, con, i);
      if (type == mjGEOM_ELLIPSOID || (type == mjGEOM_CYLINDER && i < 2)) {
        bySearch(size[s][i], s, i, m, d, con, sizes);
      }
    }
  }
}
