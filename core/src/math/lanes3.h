// Vectors and matrices of three, eight at once.

#ifndef DJ_MATH_LANES3_H_
#define DJ_MATH_LANES3_H_

#include "math/lanes.h"
#include "math/vec.h"

typedef struct djLanes3 {
  djLanes x, y, z;
} djLanes3;

typedef struct djLanes33 {
  djLanes m[9]; // row-major
} djLanes33;

DJU_INLINE djLanes3 dju_splat3(djVec3 v) {
  return (djLanes3){dju_splat(v.x), dju_splat(v.y), dju_splat(v.z)};
}
DJU_INLINE djLanes3 dju_addLanes3(djLanes3 a, djLanes3 b) {
  return (djLanes3){a.x + b.x, a.y + b.y, a.z + b.z};
}
DJU_INLINE djLanes3 dju_subLanes3(djLanes3 a, djLanes3 b) {
  return (djLanes3){a.x - b.x, a.y - b.y, a.z - b.z};
}
DJU_INLINE djLanes3 dju_scaleLanes3(djLanes s, djLanes3 v) {
  return (djLanes3){s * v.x, s * v.y, s * v.z};
}
// v + s w.
DJU_INLINE djLanes3 dju_maddLanes3(djLanes3 v, djLanes s, djLanes3 w) {
  return (djLanes3){dju_fmaLanes(s, w.x, v.x), dju_fmaLanes(s, w.y, v.y),
                    dju_fmaLanes(s, w.z, v.z)};
}
DJU_INLINE djLanes dju_dotLanes3(djLanes3 a, djLanes3 b) {
  return dju_fmaLanes(a.z, b.z, dju_fmaLanes(a.y, b.y, a.x * b.x));
}
DJU_INLINE djLanes3 dju_crossLanes3(djLanes3 a, djLanes3 b) {
  return (djLanes3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
DJU_INLINE djLanes3 dju_pick3(djMask mask, djLanes3 yes, djLanes3 no) {
  return (djLanes3){dju_pick(mask, yes.x, no.x), dju_pick(mask, yes.y, no.y),
                    dju_pick(mask, yes.z, no.z)};
}
DJU_INLINE djLanes3 dju_keep3(djLanes3 v, djMask mask) {
  return (djLanes3){dju_keep(v.x, mask), dju_keep(v.y, mask), dju_keep(v.z, mask)};
}

// R v + p.
DJU_INLINE djLanes3 dju_placeLanes3(const djMat3* R, djLanes3 v, djVec3 p) {
  const double* m = R->m;
  const double by[3] = {p.x, p.y, p.z};
  djLanes out[3];
  for (int i = 0; i < 3; i++, m += 3) {
    out[i] = dju_fmaLanes(dju_splat(m[0]), v.x, dju_splat(by[i]));
    out[i] = dju_fmaLanes(dju_splat(m[1]), v.y, out[i]);
    out[i] = dju_fmaLanes(dju_splat(m[2]), v.z, out[i]);
  }
  return (djLanes3){out[0], out[1], out[2]};
}

DJU_INLINE djLanes33 dju_zeroLanes33(void) {
  djLanes33 A;
  for (int i = 0; i < 9; i++) A.m[i] = dju_splat(0);
  return A;
}
// A + s a b^T, A + s 1, A + s B.
DJU_INLINE void dju_addOuterLanes(djLanes33* A, djLanes3 a, djLanes3 b) {
  const djLanes r[3] = {a.x, a.y, a.z}, c[3] = {b.x, b.y, b.z};
  for (int i = 0; i < 9; i++) A->m[i] = dju_fmaLanes(r[i / 3], c[i % 3], A->m[i]);
}
DJU_INLINE void dju_addUnitLanes(djLanes33* A, djLanes s) {
  for (int i = 0; i < 9; i += 4) A->m[i] += s;
}
DJU_INLINE void dju_addLanes33(djLanes33* A, djLanes s, const djLanes33* B) {
  for (int i = 0; i < 9; i++) A->m[i] = dju_fmaLanes(s, B->m[i], A->m[i]);
}
// A^T v.
DJU_INLINE djLanes3 dju_mulMtVLanes(const djLanes33* A, djLanes3 v) {
  djLanes out[3];
  for (int j = 0; j < 3; j++) {
    out[j] = dju_fmaLanes(A->m[6 + j], v.z, dju_fmaLanes(A->m[3 + j], v.y, A->m[j] * v.x));
  }
  return (djLanes3){out[0], out[1], out[2]};
}
// A [x], and [x] A.
DJU_INLINE djLanes33 dju_turnColumns(const djLanes33* A, djLanes3 x) {
  djLanes33 out;
  for (int i = 0; i < 9; i += 3) {
    const djLanes a = A->m[i], b = A->m[i + 1], c = A->m[i + 2];
    out.m[i] = b * x.z - c * x.y;
    out.m[i + 1] = c * x.x - a * x.z;
    out.m[i + 2] = a * x.y - b * x.x;
  }
  return out;
}
DJU_INLINE djLanes33 dju_turnRows(djLanes3 x, const djLanes33* A) {
  djLanes33 out;
  for (int j = 0; j < 3; j++) {
    const djLanes a = A->m[j], b = A->m[3 + j], c = A->m[6 + j];
    out.m[j] = x.y * c - x.z * b;
    out.m[3 + j] = x.z * a - x.x * c;
    out.m[6 + j] = x.x * b - x.y * a;
  }
  return out;
}
// R A R^T.
DJU_INLINE djLanes33 dju_turnBoth(const djMat3* R, const djLanes33* A) {
  djLanes33 half, out;
  for (int i = 0; i < 9; i++) {
    const double* r = R->m + 3 * (i / 3);
    const djLanes* a = A->m + i % 3;
    half.m[i] = dju_fmaLanes(dju_splat(r[2]), a[6],
                             dju_fmaLanes(dju_splat(r[1]), a[3], dju_splat(r[0]) * a[0]));
  }
  for (int i = 0; i < 9; i++) {
    const double* r = R->m + 3 * (i % 3);
    const djLanes* a = half.m + 3 * (i / 3);
    out.m[i] = dju_fmaLanes(dju_splat(r[2]), a[2],
                            dju_fmaLanes(dju_splat(r[1]), a[1], dju_splat(r[0]) * a[0]));
  }
  return out;
}

#endif // DJ_MATH_LANES3_H_
