// Where the search for a touch begins: at the touch of ellipsoids of about the same extents.

#include "shape/implicit_pair.h"

// (R S R^T), S symmetric (xx, yy, zz, xy, xz, yz)
static void turn(double out[6], djMat3 R, const double S[6]) {
  static const int ROW[6] = {0, 1, 2, 0, 0, 1}, COLUMN[6] = {0, 1, 2, 1, 2, 2};
  djVec3 v[3];
  for (int i = 0; i < 3; i++) {
    v[i] = dj_bendImplicit(S, dju_vec3(R.m[3 * i], R.m[3 * i + 1], R.m[3 * i + 2]));
  }
  for (int k = 0; k < 6; k++) {
    const double* r = &R.m[3 * COLUMN[k]];
    out[k] = dju_dot3(v[ROW[k]], dju_vec3(r[0], r[1], r[2]));
  }
}

// S^-1 x; S positive definite.
static djVec3 solve(const double S[6], djVec3 x) {
  double C[6];
  dj_invertImplicit(C, S);
  return dj_bendImplicit(C, x);
}

// T = (ha(n) + hb(n))/(n.d) is least where n is parallel to (Sa/ha + Sb/hb)^-1 d, with h^2 = n.S n
// the support functions: of the same centre and size that is solved at once, else by iteration.
void dj_startImplicit(djImplicitStart* start, const djImplicit* a, const djImplicit* b,
                      const djImplicitPlace* place) {
  double Sb[6], S[6];
  turn(Sb, place->R, b->round);
  djVec3 n = place->d;
  for (int k = 0; k < 3; k++) {
    const double ha = sqrt(dju_dot3(n, dj_bendImplicit(a->round, n)));
    const double hb = sqrt(dju_dot3(n, dj_bendImplicit(Sb, n)));
    for (int i = 0; i < 6; i++) S[i] = a->round[i] / ha + Sb[i] / hb;
    n = solve(S, place->d);
  }
  const djVec3 y = dj_bendImplicit(a->round, n);
  const double ha = sqrt(dju_dot3(n, y)), hb = sqrt(dju_dot3(n, dj_bendImplicit(Sb, n)));
  start->y = dju_scale3(1 / ha, y);
  start->T = (ha + hb) / dju_dot3(n, place->d);
  dj_settleStart(start, false, place);
}
