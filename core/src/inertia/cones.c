#include "inertia/cones.h"

// With x, y, z the corners, s their sum and d = x . (y x z): d/6, d s/24 and
// d (s s^T + x x^T + y y^T + z z^T)/120. Lanes beyond the last cone are made 0.
void dj_sumCones(djCones* c) {
  for (int k = 0; k < 9; k++) {
    for (int i = c->n; i % DJU_LANES != 0; i++) c->x[k][i] = 0;
  }
  for (int i = 0; i < c->n; i += DJU_LANES) {
    djLanes x[9], s[3];
    for (int k = 0; k < 9; k++) x[k] = dju_loadLanes(c->x[k] + i);
    for (int k = 0; k < 3; k++) s[k] = x[k] + x[3 + k] + x[6 + k];
    djLanes d = x[0] * (x[4] * x[8] - x[5] * x[7]) + x[1] * (x[5] * x[6] - x[3] * x[8]) +
                x[2] * (x[3] * x[7] - x[4] * x[6]);
    c->sum[0] += d;
    for (int k = 0; k < 3; k++) c->sum[1 + k] += d * s[k];
    for (int k = 0; k < 6; k++) {
      const int a = k < 3 ? k : k == 5 ? 1 : 0, b = k < 3 ? k : k == 3 ? 1 : 2;
      c->sum[4 + k] += d * (s[a] * s[b] + x[a] * x[b] + x[3 + a] * x[3 + b] + x[6 + a] * x[6 + b]);
    }
  }
  c->n = 0;
}

djMoments dj_conesMoments(djCones* c) {
  double sum[10];
  dj_sumCones(c);
  for (int k = 0; k < 10; k++) sum[k] = dju_sumLanes(c->sum[k]);
  const double *b = sum + 1, *B = sum + 4;
  djMoments out = {sum[0] / 6,
                   dju_scale3(1.0 / 24, dju_load3(b)),
                   {{B[0], B[3], B[4], B[3], B[1], B[5], B[4], B[5], B[2]}}};
  for (int k = 0; k < 9; k++) out.second.m[k] /= 120;
  return out;
}
