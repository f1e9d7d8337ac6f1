#include "math/so3.h"

djQuat dju_quatOf(djMat3 R) {
  const double* r = R.m;
  const double square[4] = {1 + r[0] + r[4] + r[8], 1 + r[0] - r[4] - r[8], 1 - r[0] + r[4] - r[8],
                            1 - r[0] - r[4] + r[8]};
  int k = 0;
  for (int i = 1; i < 4; i++) {
    if (square[i] > square[k]) k = i;
  }
  // 4 q_i q_j
  const double pair[4][4] = {{square[0], r[7] - r[5], r[2] - r[6], r[3] - r[1]},
                             {r[7] - r[5], square[1], r[1] + r[3], r[2] + r[6]},
                             {r[2] - r[6], r[1] + r[3], square[2], r[5] + r[7]},
                             {r[3] - r[1], r[2] + r[6], r[5] + r[7], square[3]}};
  double norm = 0;
  for (int i = 0; i < 4; i++) norm = hypot(norm, pair[k][i]);
  return (djQuat){pair[k][0] / norm, pair[k][1] / norm, pair[k][2] / norm, pair[k][3] / norm};
}

double dju_turnNorm(const djMat3* R0, const djMat3* R1) {
  double sum = 0;
  for (int k = 0; k < 9; k++) sum += (R1->m[k] - R0->m[k]) * (R1->m[k] - R0->m[k]);
  return sqrt(0.5 * sum);
}

// exp(w) = (cos(t/2), sin(t/2)/t w), t = |w|.
djQuat dju_expQuat(djVec3 w) {
  double t2 = dju_dot3(w, w);
  double c, s;   // cos(t/2), sin(t/2)/t
  if (t2 < 1e-4) {
    c = 1 - t2 / 8 + t2 * t2 / 384;
    s = 0.5 - t2 / 48 + t2 * t2 / 3840;
  } else {
    double t = sqrt(t2);
    c = cos(0.5 * t);
    s = sin(0.5 * t) / t;
  }
  return (djQuat){c, s * w.x, s * w.y, s * w.z};
}

// log(q) = t/sin(t/2) v with t = 2 atan2(|v|, w), of the representative with w >= 0.
djVec3 dju_logQuat(djQuat q) {
  if (q.w < 0) q = (djQuat){-q.w, -q.x, -q.y, -q.z};
  djVec3 v = {q.x, q.y, q.z};
  double n2 = dju_dot3(v, v);
  double f;
  if (n2 < 1e-6) {
    // 2 atan(x)/x / w with x = n/w: 2/w (1 - x^2/3 + x^4/5), and the next is below rounding
    double x2 = n2 / (q.w * q.w);
    f = 2 / q.w * (1 - x2 / 3 + x2 * x2 / 5);
  } else {
    double n = sqrt(n2);
    f = 2 * atan2(n, q.w) / n;
  }
  return dju_scale3(f, v);
}

// I + a [w] + b [w]^2 with [w]^2 = w w^T - |w|^2 I.
static djMat3 polynomial(djVec3 w, double a, double b) {
  double t2 = dju_dot3(w, w);
  double d = 1 - b * t2;
  return (djMat3){{d + b * w.x * w.x, b * w.x * w.y - a * w.z, b * w.x * w.z + a * w.y,
                   b * w.x * w.y + a * w.z, d + b * w.y * w.y, b * w.y * w.z - a * w.x,
                   b * w.x * w.z - a * w.y, b * w.y * w.z + a * w.x, d + b * w.z * w.z}};
}

// J_r(w) = I - (1 - cos t)/t^2 [w] + (t - sin t)/t^3 [w]^2.
djMat3 dju_rightJacobian(djVec3 w) {
  double t2 = dju_dot3(w, w);
  double a, b;
  if (t2 < 1e-3) {
    a = 0.5 - t2 / 24 * (1 - t2 / 30 * (1 - t2 / 56));
    b = 1.0 / 6 - t2 / 120 * (1 - t2 / 42 * (1 - t2 / 72));
  } else {
    double t = sqrt(t2);
    a = (1 - cos(t)) / t2;
    b = (t - sin(t)) / (t2 * t);
  }
  return polynomial(w, -a, b);
}

// c(t) = (1 - (t/2) cot(t/2))/t^2, and e(t) = c'(t)/t; J_r^-1 = I + [w]/2 + c [w]^2.
static void inverseCoefficients(double* c, double* e, double t2) {
  if (t2 < 0.02) {
    *c = 1.0 / 12 + t2 * (1.0 / 720 + t2 * (1.0 / 30240 + t2 * (1.0 / 1209600 +
         t2 / 47900160)));
    *e = 1.0 / 360 + t2 * (1.0 / 7560 + t2 * (1.0 / 201600 + t2 / 5987520));
    return;
  }
  double t = sqrt(t2), k = 0.5 * t;
  double s = sin(k), cot = cos(k) / s;
  *c = (1 - k * cot) / t2;
  *e = (-0.5 * (cot - k / (s * s)) / t - 2 * *c) / t2;
}

djMat3 dju_rightJacobianInv(djVec3 w) {
  double c, e;
  inverseCoefficients(&c, &e, dju_dot3(w, w));
  return polynomial(w, 0.5, c);
}

// G = y - phi x y/2 + c phi x (phi x y), and
// dG d = J_r^-T Y d - d x y/2 + c (d x (phi x y) + phi x (d x y)) + e (phi . d) phi x (phi x y).
void dju_pullback(djVec3* G, djMat3* K, djVec3 phi, djVec3 y, const djMat3* Y) {
  double c, e;
  inverseCoefficients(&c, &e, dju_dot3(phi, phi));
  djVec3 py = dju_cross3(phi, y), ppy = dju_cross3(phi, py);
  *G = dju_madd3(dju_madd3(y, -0.5, py), c, ppy);
  if (!K) return;
  djMat3 invT = polynomial(phi, -0.5, c);
  *K = dju_mulMM(invT, *Y);
  djMat3 Sy = dju_skew(y), Sphi = dju_skew(phi), Spy = dju_skew(py);
  djMat3 PS = dju_mulMM(Sphi, Sy);
  double p[3], q[3];
  dju_store3(p, phi);
  dju_store3(q, ppy);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      int k = 3 * i + j;
      K->m[k] += 0.5 * Sy.m[k] - c * (Spy.m[k] + PS.m[k]) + e * q[i] * p[j];
    }
  }
}
