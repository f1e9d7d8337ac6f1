// djm_contactSlopes: which formula a contact follows, and from the motion with geom[0] held to the
// twists of both bodies and to the whole frame.
//
// With w = w2 - w1, u = u2 - u1: dist' = D (w, u), pos' = u1 + P (w, u), n' = w1 x n + N (w, u).
// mju_makeFrame takes an axis a, of the capsule on a plane, else y, or z where |n_y| >= 1/2:
//   t1 = (a - n (n . a)) / |...|,  t2 = n x t1.
// The frame turns by n x n' + s n with s = t1' . t2 = (a' . t2 - (n . a) (n' . t2)) / |a - n (n . a)|.

#include "contact_part.h"

#include <math.h>
#include <string.h>

const char* djm_featureName(djmFeature feature) {
  static const char* names[DJM_NFEATURE] = {"closed",  "vertex-face", "edge-edge",  "clipped",
                                            "sliding", "curved",      "differences"};
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

static void fill(djmContactSlope* slope, const djmMotion* x, const mjContact* con,
                 const djmTouch* t) {
  const mjtNum *n = con->frame, *t2 = con->frame + 6;
  mjtNum a[3], across[3];
  bool moves = frameAxis(a, con, t);
  mjtNum along = mju_dot3(n, a);
  mju_addScl3(across, a, n, -along);
  mjtNum length = mju_norm3(across);
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

// Whether n, a and b of the patches obey the equations of an extreme within tol.
static bool isExtreme(const djmPatch* A, const djmPatch* B, const mjtNum n[3], mjtNum size,
                      mjtNum tol) {
  mjtNum r[3];
  mju_sub3(r, B->point, A->point);
  mju_addToScl3(r, n, -mju_dot3(r, n));
  if (mju_norm3(r) > tol * size) return false;
  for (int i = 0; i < A->dim; i++) {
    if (fabs(mju_dot3(A->tangent[i], n)) > tol) return false;
  }
  for (int i = 0; i < B->dim; i++) {
    if (fabs(mju_dot3(B->tangent[i], n)) > tol) return false;
  }
  return true;
}

static bool isSolid(int type) { return type == mjGEOM_BOX || type == mjGEOM_MESH; }

static djmFeature featureOf(const djmPatch* A, const djmPatch* B, const djmTouch* t) {
  if (A->curved || B->curved) return DJM_FEATURE_CURVED;
  if (!isSolid(t->s[0].type) || !isSolid(t->s[1].type)) return DJM_FEATURE_CLOSED;
  return A->dim == 1 && B->dim == 1 ? DJM_FEATURE_EDGE_EDGE : DJM_FEATURE_VERTEX_FACE;
}

// A contact at the extreme of the distance. loose: where MuJoCo's iterations leave an error, patches
// are searched for with a tolerance and the extreme next to the contact is taken.
static bool extreme(djmMotion* x, djmFeature* feature, const mjModel* m, const djmTouch* t,
                    bool loose) {
  djmPatch A, B;
  mjtNum n[3], minus[3], tol = loose ? 1e-4 : 1e-9;
  mju_copy3(n, t->n);
  mju_scl3(minus, n, -1);
  if (!djm_findPatch(&A, m, &t->s[0], t->q[0], n, tol, loose)) return false;
  if (!djm_findPatch(&B, m, &t->s[1], t->q[1], minus, tol, loose)) return false;
  if (A.curved) djm_bendPatch(&A, &t->s[0], t->q[0], n);
  if (B.curved) djm_bendPatch(&B, &t->s[1], t->q[1], n);
  mjtNum at[3];
  mju_copy3(at, t->pos);
  if (!isExtreme(&A, &B, n, t->size, loose ? 0.05 : 1e-9)) return false;
  if (loose) {
    mjtNum r[3];
    if (!djm_polish(&A, &B, n, t->s)) return false;
    mju_sub3(r, B.point, A.point);
    mjtNum dist = mju_dot3(n, r) - A.radius - B.radius;
    mju_addScl3(at, A.point, n, A.radius + 0.5 * dist);
    if (fabs(dist - t->dist) > 1e-4 * t->size || mju_dist3(n, t->n) > 0.02) return false;
    if (mju_dist3(at, t->pos) > 0.02 * t->size) return false;
  }
  *feature = featureOf(&A, &B, t);
  return djm_extremal(x, &A, &B, n, t->pos, NULL);
}

// false: by differences.
static bool byFormula(djmMotion* x, djmFeature* feature, const mjModel* m, const djmTouch* t) {
  if (t->s[0].type == mjGEOM_HFIELD || t->s[1].type == mjGEOM_SDF) return false;
  if (djm_planeCylinder(x, t)) {
    *feature = DJM_FEATURE_CURVED;
    return true;
  }
  if (extreme(x, feature, m, t, false)) return true;
  if (djm_capsuleBox(x, m, t)) {
    *feature = DJM_FEATURE_SLIDING;
    return true;
  }
  if (djm_clipped(x, m, t)) {
    *feature = DJM_FEATURE_CLIPPED;
    return true;
  }
  if (isSolid(t->s[0].type) && isSolid(t->s[1].type)) return false;
  return extreme(x, feature, m, t, true);
}

djStatus djm_contactSlopes(djmContactSlope* slope, const mjModel* m, mjData* d,
                           const mjContact* con, int n) {
  djmMotion shared[mjMAXCONPAIR];
  int first = -1, count = 0;  // contacts whose differences are in `shared`
  for (int i = 0; i < n; i++) {
    if (con[i].geom[0] < 0 || con[i].geom[1] < 0) return DJ_UNSUPPORTED;
    djmTouch t = djm_touch(m, d, &con[i]);
    djmMotion x;
    if (!byFormula(&x, &slope[i].feature, m, &t)) {
      slope[i].feature = DJM_FEATURE_DIFFERENCES;
      if (first < 0 || i >= first + count) {
        first = i;
        for (count = 1; i + count < n && count < mjMAXCONPAIR; count++) {
          if (memcmp(con[i + count].geom, con[i].geom, sizeof con->geom) != 0) break;
        }
        djStatus status = djm_pairDifferences(shared, m, d, con + first, count);
        if (status != DJ_OK) return status;
      }
      x = shared[i - first];
    }
    fill(&slope[i], &x, &con[i], &t);
  }
  return DJ_OK;
}

djStatus djm_contactSlope(djmContactSlope* slope, const mjModel* m, mjData* d,
                          const mjContact* con) {
  return djm_contactSlopes(slope, m, d, con, 1);
}
