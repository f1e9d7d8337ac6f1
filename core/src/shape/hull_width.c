// How wide a hull is: the middle one of its half extents along the principal axes of its vertices.

#include "math/eigen3.h"
#include "shape/hull.h"

#include <math.h>

double dj_hullWidth(const djHull* hull) {
  const int n = hull->nvert;
  djVec3 mean = {0, 0, 0};
  djMat3 S = {{0}};
  djQuat q = {1, 0, 0, 0};
  double value[3], low[3] = {0}, high[3] = {0};
  for (int i = 0; i < n; i++) mean = dju_madd3(mean, 1.0 / n, dju_load3(hull->vert + 3 * i));
  for (int i = 0; i < n; i++) {
    double x[3];
    dju_store3(x, dju_sub3(dju_load3(hull->vert + 3 * i), mean));
    for (int k = 0; k < 9; k++) S.m[k] += x[k / 3] * x[k % 3] / n;
  }
  dju_principalAxes(&q, value, &S);
  djMat3 R = dju_quatToMat(q);
  for (int i = 0; i < n; i++) {
    double x[3];
    dju_store3(x, dju_mulMtV(R, dju_load3(hull->vert + 3 * i)));
    for (int k = 0; k < 3; k++) {
      low[k] = i ? fmin(low[k], x[k]) : x[k];
      high[k] = i ? fmax(high[k], x[k]) : x[k];
    }
  }
  return 0.5 * dju_middle(high[0] - low[0], high[1] - low[1], high[2] - low[2]);
}
