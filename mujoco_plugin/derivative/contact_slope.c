// djm_contactSlopes: which formula a contact follows, and from the motion with geom[0] held to the
// twists of both bodies and to the whole frame.
//
// With w = w2 - w1, u = u2 - u1: dist' = D (w, u), pos' = u1 + P (w, u), n' = w1 x n + N (w, u).
// mju_makeFrame takes an axis a, of the capsule on a plane, else y, or z where |n_y| >= 1/2:
//   t1 = (a - n (n . a)) / |...|,  t2 = n x t1.
// The frame turns by n x n' + s n with s = t1' . t2 = (a' . t2 - (n . a) (n' . t2)) / |...|.

#include "contact_part.h"

#include <math.h>
#include <string.h>

const char* djm_featureName(djmFeature feature) {
  static const char* names[DJM_NFEATURE] = {"closed",  "vertex-face", "edge-edge",   "clipped",
                                            "sliding", "curved",      "differences", "kink"};
  return feature >= 0 && feature < DJM_NFEATURE ? names[feature] : "";
}

// ---- the frame ---------------------------------------------------------------------------------

// The axis that the first tangent comes from; whether it moves with geom[1].
static bool frameAxis(mjtNum a[3], const mjContact* con, const djmTouch* t) {
  if (t->s[0].type == mjGEOM_PLANE && t->s[1].type == mjGEOM_CAPSULE) {
    for (int i = 0; i < 3; i++) a[i] = t->s[1].mat[3 * i + 2];
    return true;
  }
  bool y = fabs(con->frame[1]) < 0.5;
  a[0] = 0;
  a[1] = y;
  a[2] = !y;
  return false;
}

void djm_frameTurn(mjtNum turn[3], const mjModel* m, const mjData* d, const mjContact* con,
                   const mjtNum rate[3]) {
  const mjtNum *n = con->frame, *t2 = con->frame + 6;
  djmTouch t = djm_touch(m, d, con);
  mjtNum a[3], across[3];
  frameAxis(a, con, &t);
  mjtNum along = mju_dot3(n, a);
  mju_addScl3(across, a, n, -along);
  mjtNum length = mju_norm3(across), spin = -along * mju_dot3(rate, t2);
  mju_cross(turn, n, rate);
  if (length > 1e-10) mju_addToScl3(turn, n, spin / length);
}

static void fill(djmContactSlope* slope, const djmContactMotion* x, const mjContact* con,
                 const djmTouch* t) {
  const mjtNum *n = con->frame, *t2 = con->frame + 6;
  mjtNum a[3], across[3];
  bool moves = frameAxis(a, con, t);
  mjtNum along = mju_dot3(n, a);
  mju_addScl3(across, a, n, -along);
  mjtNum length = mju_norm3(across);
  slope->off = x->off;
  for (int c = 0; c < 12; c++) {
    int k = c % 6;
    mjtNum sign = c < 6 ? -1 : 1, w[3] = {k == 0, k == 1, k == 2}, rate[3], axis[3], turn[3];
    slope->dist[c] = sign * x->dist[k];
    mju_cross(rate, w, n);
    for (int i = 0; i < 3; i++) {
      slope->pos[i][c] = sign * x->pos[i][k] + (c == 3 + i);
      rate[i] = (c < 6 ? rate[i] : 0) + sign * x->normal[i][k];
    }
    mju_cross(axis, w, a);
    mjtNum spin = (moves && c >= 6 ? mju_dot3(axis, t2) : 0) - along * mju_dot3(rate, t2);
    spin = length > 1e-10 ? spin / length : 0;
    mju_cross(turn, n, rate);
    for (int i = 0; i < 3; i++) slope->turn[i][c] = turn[i] + spin * n[i];
  }
}

// ---- which formula -----------------------------------------------------------------------------

static bool isSolid(int type) { return type == mjGEOM_BOX || type == mjGEOM_MESH; }

static djmFeature featureOf(const djmPatch* A, const djmPatch* B, const djmTouch* t) {
  if (A->curved || B->curved) return DJM_FEATURE_CURVED;
  if (!isSolid(t->s[0].type) || !isSolid(t->s[1].type)) return DJM_FEATURE_CLOSED;
  return A->dim == 1 && B->dim == 1 ? DJM_FEATURE_EDGE_EDGE : DJM_FEATURE_VERTEX_FACE;
}

// A contact at the extreme of the distance, or, with a tier of tolerances, next to it.
static bool extreme(djmContactMotion* x, djmFeature* feature, const mjModel* m, const djmTouch* t,
                    int tier) {
  djmPatch A, B;
  mjtNum n[3], at[3], dist;
  if (!djm_extremeNextTo(&A, &B, n, at, &dist, m, t, tier)) return false;
  *feature = featureOf(&A, &B, t);
  return djm_extremal(x, &A, &B, n, t->pos, NULL);
}

// false: by differences.
static bool byFormula(djmContactMotion* x, djmFeature* feature, const mjModel* m,
                      const djmTouch* t) {
  int a = t->s[0].type, b = t->s[1].type;
  if (a == mjGEOM_HFIELD || b == mjGEOM_SDF) return false;
  if (djm_isGeneral(a, b) && (m->opt.disableflags & mjDSBL_NATIVECCD)) return false;
  if (djm_planeCylinder(x, t)) {
    *feature = DJM_FEATURE_CURVED;
    return true;
  }
  if (extreme(x, feature, m, t, -1)) return true;
  if (djm_capsuleBox(x, m, t)) {
    *feature = DJM_FEATURE_SLIDING;
    return true;
  }
  if (djm_clipped(x, m, t)) {
    *feature = DJM_FEATURE_CLIPPED;
    return true;
  }
  if (!djm_isGeneral(a, b) || (isSolid(a) && isSolid(b) && !t->rounded)) return false;
  for (int tier = 0; tier < DJM_TIERS; tier++) {
    if (extreme(x, feature, m, t, tier)) return true;
  }
  return false;
}

// Where axes of capsules meet, centres coincide, contacts come and go: n turns by half of w, pos
// moves by half of u, but for twists along which the contact follows.
static void kink(djmContactMotion* x, const djmTouch* t) {
  for (int k = 0; k < 6; k++) {
    mjtNum w[3] = {k == 0, k == 1, k == 2}, turn[3];
    mju_cross(turn, w, t->n);
    x->dist[k] = k < 3 ? 0 : t->n[k - 3];
    for (int i = 0; i < 3; i++) {
      x->pos[i][k] = k == 3 + i ? 0.5 : 0;
      x->normal[i][k] = 0.5 * turn[i];
    }
  }
}

// Contacts of the pair of con[0] that follow it, itself included.
static int samePair(const mjContact* con, int n) {
  int count = 1;
  while (count < n && count < mjMAXCONPAIR &&
         memcmp(con[count].geom, con[0].geom, sizeof con->geom) == 0) {
    count++;
  }
  return count;
}

djStatus djm_contactSlopes(djmContactSlope* slope, const mjModel* m, mjData* d,
                           const mjContact* con, int n) {
  djmContactMotion shared[mjMAXCONPAIR];
  for (int first = 0, count = 0; first < n; first += count) {
    const mjContact* c = con + first;
    if (c->geom[0] < 0 || c->geom[1] < 0) return DJ_UNSUPPORTED;
    count = samePair(c, n - first);
    bool asked = false, all = false;
    for (int i = 0; i < count; i++) {
      djmContactSlope* s = &slope[first + i];
      djmTouch t = djm_touch(m, d, &c[i]);
      djmContactMotion x = {.off = INFINITY};
      if (!byFormula(&x, &s->feature, m, &t)) {
        if (!asked) all = djm_pairDifferences(shared, m, d, c, count);
        asked = true;
        if (all) x = shared[i];
        x.off = INFINITY;
        bool found = all || (count > 1 && djm_pairDifferences(&x, m, d, &c[i], 1));
        s->feature = found ? DJM_FEATURE_DIFFERENCES : DJM_FEATURE_KINK;
        if (!found) {
          kink(&x, &t);
          djm_partDifferences(&x, m, d, &c[i]);
        }
      }
      fill(s, &x, &c[i], &t);
    }
  }
  return DJ_OK;
}

bool djm_slopeAlong(mjtNum rate[7], const mjModel* m, mjData* d, const mjContact* con, int side,
                    const mjtNum twist[6]) {
  mjtNum relative[6], x[7], turn[3];
  mju_scl(relative, twist, side ? 1 : -1, 6);
  if (!djm_twistDifferences(x, m, d, con, relative)) return false;
  if (!side) {
    mju_addTo3(x + 1, twist + 3);
    mju_cross(turn, twist, con->frame);
    mju_addTo3(x + 4, turn);
  }
  mju_copy(rate, x, 4);
  djm_frameTurn(rate + 4, m, d, con, x + 4);
  return true;
}

djStatus djm_countFeatures(int contacts[DJM_NFEATURE], const mjModel* m, mjData* d) {
  enum { MOST = mjMAXCONPAIR };
  djmContactSlope slope[MOST];
  for (int i = 0; i < DJM_NFEATURE; i++) contacts[i] = 0;
  for (int first = 0, n; first < d->ncon; first += n) {
    const mjContact* con = d->contact + first;
    n = samePair(con, d->ncon - first);
    if (djm_contactSlopes(slope, m, d, con, n) < 0) return DJ_UNSUPPORTED;
    for (int i = 0; i < n; i++) contacts[slope[i].feature]++;
  }
  return DJ_OK;
}

djStatus djm_contactSlope(djmContactSlope* slope, const mjModel* m, mjData* d,
                          const mjContact* con) {
  return djm_contactSlopes(slope, m, d, con, 1);
}
