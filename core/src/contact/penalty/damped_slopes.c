// With F = N n - a t, N by g = d + T n.u, a by N and |t|, t = u - (n.u) n, and m = n - a_N t:
//   F_u = T N' m n^T - a (1 - n n^T) - a_t t t^T
//   F_n = (N + a n.u) 1 + (T N' m + a n) u^T + a_t (n.u) t t^T - F_u r [w]
//   F_c = F_n dn/dc + N' m (grad d)^T
// where x = c - r n moves with n, and u with x by w x dx.

#include "contact/penalty/damped_slopes.h"

#include "contact/penalty/damped_law.h"

#include <string.h>

typedef struct Slopes {
  djMat3 u, n, c;
} Slopes;

static djMat3 times(djVec3 a, djVec3 b) {
  return (djMat3){{a.x * b.x, a.x * b.y, a.x * b.z, a.y * b.x, a.y * b.y, a.y * b.z, a.z * b.x,
                   a.z * b.y, a.z * b.z}};
}

static void addTimes(djMat3* A, djVec3 a, djVec3 b) {
  const djMat3 more = times(a, b);
  for (int i = 0; i < 9; i++) A->m[i] += more.m[i];
}

static void addUnit(djMat3* A, double s) {
  for (int i = 0; i < 9; i += 4) A->m[i] += s;
}

static void addMatrix(djMat3* A, double s, const djMat3* B) {
  for (int i = 0; i < 9; i++) A->m[i] += s * B->m[i];
}

// A [x].
static djMat3 turned(const djMat3* A, djVec3 x) {
  djMat3 out;
  for (int i = 0; i < 9; i += 3) {
    const double a = A->m[i], b = A->m[i + 1], c = A->m[i + 2];
    out.m[i] = b * x.z - c * x.y;
    out.m[i + 1] = c * x.x - a * x.z;
    out.m[i + 2] = a * x.y - b * x.x;
  }
  return out;
}

static bool isZero(const djMat3* A) {
  for (int i = 0; i < 9; i++) {
    if (A->m[i] != 0) return false;
  }
  return true;
}

static Slopes slopesOf(const djPointForce* p, double ahead) {
  const double slope = p->own[DJ_DAMPED_SLOPE], a = p->own[DJ_DAMPED_DRAG];
  const double along = p->own[DJ_DAMPED_DRAG_BY_SPEED];
  const djVec3 m = dju_scale3(slope, dju_madd3(p->n, -p->own[DJ_DAMPED_DRAG_BY_N], p->t));
  const djVec3 ahead_m = dju_scale3(ahead, m);
  Slopes s;
  s.u = times(dju_madd3(ahead_m, a, p->n), p->n);
  addUnit(&s.u, -a);
  addTimes(&s.u, dju_scale3(-along, p->t), p->t);
  s.n = times(dju_madd3(ahead_m, a, p->n), p->u);
  addUnit(&s.n, p->N + a * p->rate);
  addTimes(&s.n, dju_scale3(along * p->rate, p->t), p->t);
  if (p->radius != 0) {
    const djMat3 slide = turned(&s.u, p->w);
    addMatrix(&s.n, -p->radius, &slide);
  }
  s.c = times(m, p->gradient);
  if (!isZero(&p->turn)) {
    const djMat3 turn = dju_mulMM(s.n, p->turn);
    addMatrix(&s.c, 1, &turn);
  }
  return s;
}

// Adds columns k of a twist (w, v) about O, by which the force changes by Fw w + Fv v and x by
// Xw w + Xv v: minus the wrench on a, of F, has arm x dF + dx x F; X NULL: x stays.
static void addColumns(double* out, const djMat3* Fw, const djMat3* Fv, const djMat3* Xw,
                       const djMat3* Xv, djVec3 arm, djVec3 F) {
  for (int k = 0; k < 6; k++) {
    const double *f = (k < 3 ? Fw->m : Fv->m) + k % 3, *x = NULL;
    if (Xw) x = (k < 3 ? Xw->m : Xv->m) + k % 3;
    out[k] += arm.y * f[6] - arm.z * f[3];
    out[12 + k] += arm.z * f[0] - arm.x * f[6];
    out[24 + k] += arm.x * f[3] - arm.y * f[0];
    out[36 + k] += f[0];
    out[48 + k] += f[3];
    out[60 + k] += f[6];
    if (!x) continue;
    out[k] += x[3] * F.z - x[6] * F.y;
    out[12 + k] += x[6] * F.x - x[0] * F.z;
    out[24 + k] += x[0] * F.y - x[3] * F.x;
  }
}

// Of the point's body c moves by v + w x (c - O); against the field c moves the other way as the
// field's does, whose turning also turns n by w x n.
void dj_addDampedSlopes(djPenaltySum* sum, const djPenaltyPair* pair, const djPenaltyWay* way,
                        const djPointForce* p) {
  const djDampedLaw* law = pair->own;
  const bool b = way->points_of_b;
  const djVec3 O = pair->in->ref_a, arm = dju_sub3(p->x, O), place = dju_neg3(dju_sub3(p->c, O));
  const djVec3 F = b ? p->F : dju_neg3(p->F); // minus that on a
  Slopes s = slopesOf(p, law->ahead);
  if (!b) {
    for (int i = 0; i < 9; i++) s.u.m[i] = -s.u.m[i], s.n.m[i] = -s.n.m[i], s.c.m[i] = -s.c.m[i];
  }
  // the point's body
  djMat3 Fv = turned(&s.u, p->w), Xv = {{1, 0, 0, 0, 1, 0, 0, 0, 1}};
  addMatrix(&Fv, 1, &s.c);
  addMatrix(&Xv, -p->radius, &p->turn);
  djMat3 Fw = turned(&Fv, place), Xw = turned(&Xv, place);
  addColumns(sum->by_pose + 6 * b, &Fw, &Fv, &Xw, &Xv, arm, F);
  // the field's
  for (int i = 0; i < 9; i++) Fv.m[i] = -s.c.m[i], Xv.m[i] = p->radius * p->turn.m[i];
  Fw = turned(&Fv, place);
  const bool moves = p->radius != 0;
  if (moves) Xw = turned(&Xv, place);
  if (!p->held) {
    const djMat3 by_turn = turned(&s.n, p->n);
    addMatrix(&Fw, -1, &by_turn);
    if (moves) {
      const djMat3 skew = dju_skew(p->n);
      addMatrix(&Xw, p->radius, &skew);
    }
  }
  addColumns(sum->by_pose + 6 * !b, &Fw, &Fv, moves ? &Xw : NULL, &Xv, arm, F);
  // velocities
  Fw = turned(&s.u, dju_neg3(arm));
  if (b) {
    for (int i = 0; i < 9; i++) s.u.m[i] = -s.u.m[i], Fw.m[i] = -Fw.m[i];
  }
  addColumns(sum->by_twist, &Fw, &s.u, NULL, NULL, arm, F);
}

// Columns of b from twists about ref_a to those about ref_b: v there makes v + w x (ref_a - ref_b)
// here.
static void moveColumns(double* by, djVec3 apart) {
  for (int i = 0; i < 72; i += 12) {
    const djVec3 f = dju_load3(by + i + 9);
    dju_addTo3(by + i + 6, 1, dju_cross3(apart, f));
  }
}

void dj_completeDampedSum(djPenaltySum* sum, const djPenaltyPair* pair) {
  const djVec3 apart = dju_sub3(pair->in->ref_a, pair->in->ref_b);
  for (int i = 0; i < 72; i += 12) {
    for (int k = 0; k < 6; k++) sum->by_twist[i + 6 + k] = -sum->by_twist[i + k];
  }
  moveColumns(sum->by_pose, apart);
  moveColumns(sum->by_twist, apart);
}
