// With F = N n - a t, N by g = d + T n.u, a by N and |t|, t = u - (n.u) n, and m = n - a_N t:
//   F_u = T N' m n^T - a (1 - n n^T) - a_t t t^T
//   F_n = (N + a n.u) 1 + (T N' m + a n) u^T + a_t (n.u) t t^T - F_u r [w]
//   F_c = F_n dn/dc + N' m (grad d)^T
// where x = c - r n moves with n, and u with x by w x dx.

#include "contact/penalty/damped_slopes.h"

#include "contact/penalty/damped_law.h"

#include <string.h>

// ------------------------------------------ points side by side ---------------------------------

typedef struct Vec {
  djLanes x, y, z;
} Vec;

typedef struct Mat {
  djLanes m[9];
} Mat;

DJU_INLINE Vec spread(djVec3 v) { return (Vec){dju_splat(v.x), dju_splat(v.y), dju_splat(v.z)}; }

DJU_INLINE Vec scaled(djLanes s, Vec v) { return (Vec){s * v.x, s * v.y, s * v.z}; }

// v + s w.
DJU_INLINE Vec added(Vec v, djLanes s, Vec w) {
  return (Vec){dju_fmaLanes(s, w.x, v.x), dju_fmaLanes(s, w.y, v.y), dju_fmaLanes(s, w.z, v.z)};
}

DJU_INLINE void addTimes(Mat* A, Vec a, Vec b) {
  const djLanes r[3] = {a.x, a.y, a.z}, c[3] = {b.x, b.y, b.z};
  for (int i = 0; i < 9; i++) A->m[i] = dju_fmaLanes(r[i / 3], c[i % 3], A->m[i]);
}

DJU_INLINE void addUnit(Mat* A, djLanes s) {
  for (int i = 0; i < 9; i += 4) A->m[i] += s;
}

DJU_INLINE void addMatrix(Mat* A, djLanes s, const Mat* B) {
  for (int i = 0; i < 9; i++) A->m[i] = dju_fmaLanes(s, B->m[i], A->m[i]);
}

DJU_INLINE Mat zero(void) {
  Mat A;
  for (int i = 0; i < 9; i++) A.m[i] = dju_splat(0);
  return A;
}

// A B.
DJU_INLINE Mat product(const Mat* A, const Mat* B) {
  Mat C;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      djLanes sum = A->m[3 * i] * B->m[j];
      sum = dju_fmaLanes(A->m[3 * i + 1], B->m[3 + j], sum);
      C.m[3 * i + j] = dju_fmaLanes(A->m[3 * i + 2], B->m[6 + j], sum);
    }
  }
  return C;
}

// A [x].
DJU_INLINE Mat turned(const Mat* A, Vec x) {
  Mat out;
  for (int i = 0; i < 9; i += 3) {
    const djLanes a = A->m[i], b = A->m[i + 1], c = A->m[i + 2];
    out.m[i] = b * x.z - c * x.y;
    out.m[i + 1] = c * x.x - a * x.z;
    out.m[i + 2] = a * x.y - b * x.x;
  }
  return out;
}

DJU_INLINE Mat negated(const Mat* A) {
  Mat out;
  for (int i = 0; i < 9; i++) out.m[i] = -A->m[i];
  return out;
}

DJU_INLINE djLanes rowOf(const djPointBatch* b, int row) { return dju_loadLanes(b->row[row]); }

DJU_INLINE Vec vecOf(const djPointBatch* b, int row) {
  return (Vec){rowOf(b, row), rowOf(b, row + 1), rowOf(b, row + 2)};
}

typedef struct Slopes {
  Mat u, n, c;
} Slopes;

DJU_INLINE Slopes slopesOf(const djPointBatch* b, const Mat* turn, double ahead) {
  const Vec n = vecOf(b, DJ_BATCH_N), u = vecOf(b, DJ_BATCH_U), t = vecOf(b, DJ_BATCH_T);
  const djLanes a = rowOf(b, DJ_BATCH_DRAG), along = rowOf(b, DJ_BATCH_DRAG_BY_SPEED);
  const djLanes rate = rowOf(b, DJ_BATCH_RATE);
  const Vec m = scaled(rowOf(b, DJ_BATCH_SLOPE), added(n, -rowOf(b, DJ_BATCH_DRAG_BY_N), t));
  const Vec both = added(scaled(dju_splat(ahead), m), a, n);
  Slopes s = {zero(), zero(), zero()};
  addTimes(&s.u, both, n);
  addUnit(&s.u, -a);
  addTimes(&s.u, scaled(-along, t), t);
  addTimes(&s.n, both, u);
  addUnit(&s.n, rowOf(b, DJ_BATCH_FORCE) + a * rate);
  addTimes(&s.n, scaled(along * rate, t), t);
  if (b->radius != 0) {
    const Mat slide = turned(&s.u, spread(b->w));
    addMatrix(&s.n, dju_splat(-b->radius), &slide);
  }
  s.c = product(&s.n, turn);
  addTimes(&s.c, m, vecOf(b, DJ_BATCH_GRADIENT));
  return s;
}

// Adds columns k of a twist (w, v) about O, by which the force changes by Fw w + Fv v and x by
// Xw w + Xv v: minus the wrench on a, of F, has arm x dF + dx x F; X NULL: x stays. out has rows of
// `width`.
DJU_INLINE void addColumns(djLanes* out, int width, const Mat* Fw, const Mat* Fv, const Mat* Xw,
                           const Mat* Xv, Vec arm, Vec F) {
  for (int k = 0; k < 6; k++) {
    const djLanes *f = (k < 3 ? Fw->m : Fv->m) + k % 3, *x = NULL;
    if (Xw) x = (k < 3 ? Xw->m : Xv->m) + k % 3;
    djLanes torque[3] = {arm.y * f[6] - arm.z * f[3], arm.z * f[0] - arm.x * f[6],
                         arm.x * f[3] - arm.y * f[0]};
    if (x) {
      torque[0] += x[3] * F.z - x[6] * F.y;
      torque[1] += x[6] * F.x - x[0] * F.z;
      torque[2] += x[0] * F.y - x[3] * F.x;
    }
    for (int i = 0; i < 3; i++) {
      out[width * i + k] += torque[i];
      out[width * (3 + i) + k] += f[3 * i];
    }
  }
}

// Of the point's body c moves by v + w x (c - O); against the field c moves the other way as the
// field's does, whose turning also turns n by w x n.
static void addBatch(djPointBatch* batch, double ahead) {
  const bool b = batch->way->points_of_b;
  const djLanes radius = dju_splat(batch->radius);
  const Vec arm = vecOf(batch, DJ_BATCH_X), n = vecOf(batch, DJ_BATCH_N);
  const Vec place = scaled(dju_splat(-1), vecOf(batch, DJ_BATCH_C)), F = vecOf(batch, DJ_BATCH_F);
  Mat turn;
  for (int i = 0; i < 9; i++) turn.m[i] = rowOf(batch, DJ_BATCH_TURN + i);
  Slopes s = slopesOf(batch, &turn, ahead);
  if (!b) s = (Slopes){negated(&s.u), negated(&s.n), negated(&s.c)};
  // the point's body
  Mat Fv = turned(&s.u, spread(batch->w)), Xv = zero();
  addMatrix(&Fv, dju_splat(1), &s.c);
  addUnit(&Xv, dju_splat(1));
  addMatrix(&Xv, -radius, &turn);
  Mat Fw = turned(&Fv, place), Xw = turned(&Xv, place);
  addColumns(batch->sum + 6 * b, 12, &Fw, &Fv, &Xw, &Xv, arm, F);
  // the field's
  Fv = negated(&s.c);
  Fw = turned(&Fv, place);
  const bool moves = batch->radius != 0;
  if (moves) {
    Xv = zero();
    addMatrix(&Xv, radius, &turn);
    Xw = turned(&Xv, place);
  }
  if (!batch->held) {
    const Mat by_turn = turned(&s.n, n);
    addMatrix(&Fw, dju_splat(-1), &by_turn);
    if (moves) {
      Mat unit = zero();
      addUnit(&unit, radius);
      const Mat skew = turned(&unit, n);
      addMatrix(&Xw, dju_splat(1), &skew);
    }
  }
  addColumns(batch->sum + 6 * !b, 12, &Fw, &Fv, moves ? &Xw : NULL, &Xv, arm, F);
  // velocities of a
  Fw = turned(&s.u, scaled(dju_splat(-1), arm));
  if (b) s.u = negated(&s.u), Fw = negated(&Fw);
  addColumns(batch->sum + 72, 6, &Fw, &s.u, NULL, NULL, arm, F);
}

static void flush(djPointBatch* b, double ahead) {
  if (!b->summed) {
    memset(b->sum, 0, sizeof b->sum);
    b->summed = true;
  }
  for (int i = 0; i < DJ_BATCH_ROWS; i++) {
    dju_storeLanes(b->row[i], dju_keep(dju_loadLanes(b->row[i]), dju_firstLanes(b->n)));
  }
  addBatch(b, ahead);
  b->n = 0;
}

static void put3(djPointBatch* b, int row, djVec3 v) {
  b->row[row][b->n] = v.x;
  b->row[row + 1][b->n] = v.y;
  b->row[row + 2][b->n] = v.z;
}

void dj_addDampedSlopes(djPenaltySum* sum, const djPenaltyPair* pair, const djPenaltyWay* way,
                        const djPointForce* p) {
  djPointBatch* b = sum->batch;
  const double ahead = ((const djDampedLaw*)pair->own)->ahead;
  const djVec3 O = pair->in->ref_a;
  if (b->n > 0 && (b->way != way || b->n == DJU_LANES)) flush(b, ahead);
  b->way = way;
  b->w = p->w;
  b->radius = p->radius;
  b->held = p->held;
  put3(b, DJ_BATCH_N, p->n);
  put3(b, DJ_BATCH_U, p->u);
  put3(b, DJ_BATCH_T, p->t);
  put3(b, DJ_BATCH_GRADIENT, p->gradient);
  put3(b, DJ_BATCH_F, way->points_of_b ? p->F : dju_neg3(p->F));
  put3(b, DJ_BATCH_C, dju_sub3(p->c, O));
  put3(b, DJ_BATCH_X, dju_sub3(p->x, O));
  for (int i = 0; i < 9; i++) b->row[DJ_BATCH_TURN + i][b->n] = p->turn.m[i];
  b->row[DJ_BATCH_FORCE][b->n] = p->N;
  b->row[DJ_BATCH_RATE][b->n] = p->rate;
  b->row[DJ_BATCH_SLOPE][b->n] = p->own[DJ_DAMPED_SLOPE];
  b->row[DJ_BATCH_DRAG][b->n] = p->own[DJ_DAMPED_DRAG];
  b->row[DJ_BATCH_DRAG_BY_N][b->n] = p->own[DJ_DAMPED_DRAG_BY_N];
  b->row[DJ_BATCH_DRAG_BY_SPEED][b->n] = p->own[DJ_DAMPED_DRAG_BY_SPEED];
  b->n++;
}

// ------------------------------------------ sums ------------------------------------------------

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
  djPointBatch* b = sum->batch;
  if (b->n > 0) flush(b, ((const djDampedLaw*)pair->own)->ahead);
  if (!b->summed) return;
  double all[112];
  for (int i = 0; i < 112; i += 8) dju_sumEight(all + i, b->sum + i);
  memcpy(sum->by_pose, all, sizeof sum->by_pose);
  for (int i = 0; i < 6; i++) memcpy(sum->by_twist + 12 * i, all + 72 + 6 * i, 6 * sizeof *all);
  for (int i = 0; i < 72; i += 12) {
    for (int k = 0; k < 6; k++) sum->by_twist[i + 6 + k] = -sum->by_twist[i + k];
  }
  moveColumns(sum->by_pose, apart);
  moveColumns(sum->by_twist, apart);
}
