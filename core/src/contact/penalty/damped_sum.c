// With F = N n - a t on the points' body at x, N by g = d + T n.u, a by N and |t|, t = u - (n.u) n,
// and m = N' (n - a_N t):
//   F_u = T m n^T - a (1 - n n^T) - a_t t t^T
//   F_n = (N + a n.u) 1 + (T m + a n) u^T + a_t (n.u) t t^T - F_u r [w]
//   F_c = F_n dn/dc + m (grad d)^T
// where x = c - r n moves with n, and u with x by w x dx. Places count from O.
//
// Let G(x) = (-[x], 1) take a twist about O to the motion of x; G^T takes a force to its wrench.
// Summed over points are the wrench W = G(x)^T F, its derivatives
//   V = G(x)^T F_u G(x)                           by the points' velocity against the field's,
//   P = G(x)^T (F_u [w] + F_c) G(c) + dx x F      by a twist of the points' body,
// dx = (1 - r dn/dc) G(c): of the first part only sums of F and c F^T are needed. A twist
// xi = (w', v') of both bodies turns and moves all alike but for velocities, which the world holds,
//   J xi = V (w x w', w x v' - w' x u_O) + (w' x torque + v' x F, w' x F),
// so that the derivative by a twist of the field's body is J - P. Where normals do not turn with it
// (held) that lacks
//   Q w' = G(x)^T F_n (w' x n) - r (w' x n) x F.

#include "contact/penalty/damped_sum.h"

#include "contact/penalty/damped_lanes.h"
#include "contact/penalty/damped_search.h"

#include <math.h>
#include <string.h>

// ------------------------------------------ sums over points -----------------------------------

enum {
  SUM_N,
  SUM_NX,
  SUM_WRENCH = SUM_NX + 3,
  SUM_CF = SUM_WRENCH + 6, // c F^T
  SUM_V = SUM_CF + 9,
  SUM_P = SUM_V + 36,
  SUM_PLAIN = SUM_P + 36 + 5, // a multiple of eight
  SUM_ROUND = SUM_PLAIN,      // torques of P by what x = c - r n makes; by r
  SUM_HELD = SUM_ROUND + 18,  // Q
  SUM_ALL = SUM_HELD + 18 + 4
};

typedef struct Total {
  djWayLanes way;
  bool derivatives, moved; // moved: points have a radius
  double least;
  djLanes sum[SUM_ALL];
} Total;

static inline void addVector(djLanes* to, djLanes3 v) {
  to[0] += v.x;
  to[1] += v.y;
  to[2] += v.z;
}

// Adds a 3 x 3 block to rows of `width`.
static inline void addBlock(djLanes* to, int width, const djLanes33* A) {
  for (int i = 0; i < 9; i++) to[width * (i / 3) + i % 3] += A->m[i];
}

static inline djLanes33 negated(const djLanes33* A) {
  djLanes33 out;
  for (int i = 0; i < 9; i++) out.m[i] = -A->m[i];
  return out;
}

// G(x)^T A G(c).
static inline void addTwists(djLanes* to, djLanes3 x, const djLanes33* A, djLanes3 c) {
  const djLanes33 turned = dju_turnColumns(A, c), back = negated(&turned);
  const djLanes33 torque = dju_turnRows(x, A), both = dju_turnRows(x, &back);
  addBlock(to, 6, &both);
  addBlock(to + 3, 6, &torque);
  addBlock(to + 18, 6, &back);
  addBlock(to + 21, 6, A);
}

// F by u, and what F_n is by u^T beside the rest: T m + a n.
static inline djLanes33 byVelocity(djLanes3* m, djLanes3* both, const djPointLanes* p,
                                   double ahead) {
  djLanes33 out = dju_zeroLanes33();
  *m = dju_scaleLanes3(p->slope, dju_maddLanes3(p->n, -p->drag_by_N, p->t));
  *both = dju_maddLanes3(dju_scaleLanes3(dju_splat(ahead), *m), p->drag, p->n);
  dju_addOuterLanes(&out, *both, p->n);
  dju_addOuterLanes(&out, dju_scaleLanes3(-p->drag_by_speed, p->t), p->t);
  dju_addUnitLanes(&out, -p->drag);
  return out;
}

// P where normals turn. F_n dn/dc is a sum of products with vectors, but for -F_u r [w] dn/dc.
static inline void addTurning(djLanes33* A, Total* s, const djPointLanes* p, djLanes3 both,
                              const djLanes33* slide) {
  const djLanes upright = p->N + p->drag * p->rate;
  const djLanes3 along = dju_scaleLanes3(p->drag_by_speed * p->rate, p->t);
  dju_addLanes33(A, upright, &p->turn);
  dju_addOuterLanes(A, both, dju_mulMtVLanes(&p->turn, p->u));
  dju_addOuterLanes(A, along, dju_mulMtVLanes(&p->turn, p->t));
  if (!s->moved) return;
  const djLanes r = dju_splat(s->way.way->from.radius);
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 3; k++) {
      djLanes sum = slide->m[3 * i] * p->turn.m[k];
      sum = dju_fmaLanes(slide->m[3 * i + 1], p->turn.m[3 + k], sum);
      sum = dju_fmaLanes(slide->m[3 * i + 2], p->turn.m[6 + k], sum);
      A->m[3 * i + k] -= r * sum;
    }
  }
  // (-r dn/dc dx) x F = r [F] dn/dc dx
  const djLanes33 by = dju_turnRows(p->F, &p->turn), turned = dju_turnColumns(&by, p->c);
  const djLanes33 back = negated(&turned);
  addBlock(s->sum + SUM_ROUND, 6, &back);
  addBlock(s->sum + SUM_ROUND + 3, 6, &by);
}

static inline void addHeld(Total* s, const djPointLanes* p, djLanes3 both, const djLanes33* slide) {
  const double r = s->way.way->from.radius;
  djLanes33 by_n = dju_zeroLanes33();
  dju_addUnitLanes(&by_n, p->N + p->drag * p->rate);
  dju_addOuterLanes(&by_n, both, p->u);
  dju_addOuterLanes(&by_n, dju_scaleLanes3(p->drag_by_speed * p->rate, p->t), p->t);
  dju_addLanes33(&by_n, dju_splat(-r), slide);
  const djLanes33 turned = dju_turnColumns(&by_n, p->n), back = negated(&turned);
  djLanes33 torque = dju_turnRows(p->x, &back);
  // (w' x n) x F = n (w'.F) - w' (n.F)
  dju_addOuterLanes(&torque, dju_scaleLanes3(dju_splat(-r), p->n), p->F);
  dju_addUnitLanes(&torque, r * dju_dotLanes3(p->n, p->F));
  addBlock(s->sum + SUM_HELD, 3, &torque);
  addBlock(s->sum + SUM_HELD + 9, 3, &back);
}

static inline void addSlopes(Total* s, const djPointLanes* p) {
  djLanes3 m, both;
  djLanes33 outer = dju_zeroLanes33();
  const djLanes33 by_u = byVelocity(&m, &both, p, s->way.law->ahead);
  addTwists(s->sum + SUM_V, p->x, &by_u, p->x);
  const djLanes33 slide = dju_turnColumns(&by_u, dju_splat3(s->way.w));
  djLanes33 A = slide;
  dju_addOuterLanes(&A, m, p->gradient);
  if (s->way.held)
    addHeld(s, p, both, &slide);
  else if (!dj_flatField(&s->way.way->in.field))
    addTurning(&A, s, p, both, &slide);
  addTwists(s->sum + SUM_P, p->x, &A, p->c);
  dju_addOuterLanes(&outer, p->c, p->F);
  addBlock(s->sum + SUM_CF, 3, &outer);
}

static void addRange(void* user, int first, int n) {
  Total* s = user;
  djPointLanes p;
  for (int i = first; i < first + n; i += DJU_LANES) {
    double least;
    dj_pointLanes(&p, &least, &s->way, i, first + n - i < DJU_LANES ? first + n - i : DJU_LANES);
    s->least = fmin(s->least, least);
    if (!dju_any(p.acts)) continue;
    s->sum[SUM_N] += p.N;
    addVector(s->sum + SUM_NX, dju_scaleLanes3(p.N, p.x));
    addVector(s->sum + SUM_WRENCH, dju_crossLanes3(p.x, p.F));
    addVector(s->sum + SUM_WRENCH + 3, p.F);
    if (s->derivatives) addSlopes(s, &p);
  }
}

// ------------------------------------------ a way ----------------------------------------------

// Adds [v], as 3 x 3 block of rows of `width`.
static void addSkew(double* to, int width, double s, djVec3 v) {
  const djMat3 skew = dju_skew(v);
  for (int i = 0; i < 9; i++) to[width * (i / 3) + i % 3] += s * skew.m[i];
}

// The part of P by dx x F, dx = G(c).
static void addMoved(double P[36], const double* sum) {
  const double* cF = sum + SUM_CF;
  addSkew(P + 3, 6, -1, dju_load3(sum + SUM_WRENCH + 3));
  for (int i = 0; i < 9; i++) P[6 * (i / 3) + i % 3] += cF[i];
  for (int i = 0; i < 3; i++) P[7 * i] -= cF[0] + cF[4] + cF[8];
}

// J.
static void jointly(double J[36], const double* sum, const djWayLanes* way) {
  const double* V = sum + SUM_V;
  const djVec3 torque = dju_load3(sum + SUM_WRENCH), F = dju_load3(sum + SUM_WRENCH + 3);
  for (int i = 0; i < 6; i++) {
    // V_w (w x w') = w'.(V_w x w), V_v (-w' x u) = w'.(V_v x u)
    const djVec3 Vw = dju_load3(V + 6 * i), Vv = dju_load3(V + 6 * i + 3);
    dju_store3(J + 6 * i, dju_add3(dju_cross3(Vw, way->w), dju_neg3(dju_cross3(way->u, Vv))));
    dju_store3(J + 6 * i + 3, dju_cross3(Vv, way->w));
  }
  addSkew(J, 6, -1, torque);
  addSkew(J + 3, 6, -1, F);
  addSkew(J + 18, 6, -1, F);
}

// To twists of b about ref_b: v there makes v + w x (ref_a - ref_b) here.
static void moveColumns(double by[36], djVec3 apart) {
  for (int i = 0; i < 36; i += 6) {
    dju_addTo3(by + i, 1, dju_cross3(apart, dju_load3(by + i + 3)));
  }
}

static void addSum(djPenaltySum* out, double* sum, const Total* s) {
  const djPenaltyPair* pair = s->way.pair;
  const int body = s->way.way->points_of_b;
  const double sign = body ? 1 : -1; // minus the wrench on a
  const djVec3 apart = dju_sub3(pair->in->ref_a, pair->in->ref_b);
  double J[36], *P = sum + SUM_P, *V = sum + SUM_V;
  addMoved(P, sum);
  if (s->moved && !s->way.held) {
    const double r = s->way.way->from.radius;
    for (int i = 0; i < 18; i++) P[i] += r * sum[SUM_ROUND + i];
  }
  jointly(J, sum, &s->way);
  for (int i = 0; i < 36; i++) J[i] -= P[i];
  for (int i = 0; i < 18 && s->way.held; i++) J[6 * (i / 3) + i % 3] -= sum[SUM_HELD + i];
  moveColumns(body ? P : J, apart);
  for (int i = 0; i < 36; i++) {
    const int at = 12 * (i / 6) + i % 6;
    out->by_pose[at + 6 * body] += sign * P[i];
    out->by_pose[at + 6 * !body] += sign * J[i];
    out->by_twist[at] -= V[i];
  }
  moveColumns(V, apart);
  for (int i = 0; i < 36; i++) out->by_twist[12 * (i / 6) + 6 + i % 6] += V[i];
}

double dj_sumDamped(djPenaltySum* out, bool derivatives, const djPenaltyPair* pair,
                    const djPenaltyWay* way) {
  Total s;
  dj_openWayLanes(&s.way, pair, way);
  s.derivatives = derivatives;
  s.moved = way->from.radius != 0;
  s.least = INFINITY;
  const int last = s.way.held ? SUM_ALL : s.moved ? SUM_HELD : SUM_PLAIN;
  const int n = derivatives ? last : SUM_CF;
  double sum[SUM_ALL];
  memset(s.sum, 0, (size_t)(n + 7) / 8 * 8 * sizeof *s.sum);
  const double bound = dj_visitRanges(pair, way, addRange, &s);
  for (int i = 0; i < n; i += 8) dju_sumEight(sum + i, s.sum + i);
  const double least = fmin(bound, s.least);
  if (!(sum[SUM_N] > 0)) return least;
  out->active = true;
  out->N += sum[SUM_N];
  out->point = dju_add3(out->point, dju_madd3(dju_load3(sum + SUM_NX), sum[SUM_N], s.way.O));
  for (int k = 0; k < 6; k++) {
    out->gradient[k] += (way->points_of_b ? 1 : -1) * sum[SUM_WRENCH + k];
  }
  if (derivatives) addSum(out, sum, &s);
  return least;
}
