#include "contact/triangles/half_distance.h"

#include <math.h>
#include <string.h>

static double leastHeight(const djHalfPair* p) {
  double least = INFINITY;
  for (int i = 0; i < p->nvert; i++) least = fmin(least, dj_heightOf(p, i));
  return least;
}

// dz = N.(v + w x y), ddz = N.(w x (w x y)), y = x - c. With parts p_v = w_v z_v^-alpha/sum
//   dL = sum p_v dz/z,  ddL = sum p_v (ddz/z - (1 + alpha) dz dz^T/z^2) + alpha dL dL^T.
djStatus dj_halfDistance(djMeanDistance* out, double* least, const djHalfPair* p) {
  const djVec3 N = p->normal;
  double sum = 0;
  *least = leastHeight(p);
  if (!(*least > 0)) {
    *out = (djMeanDistance){.L = -INFINITY};
    return DJ_OVERLAP;
  }
  memset(out, 0, sizeof *out);
  for (int i = 0; i < p->nvert; i++) {
    const double z = dj_heightOf(p, i), part = p->weight[i] * pow(*least / z, DJ_MEAN_ALPHA);
    sum += part;
    if (p->order < 1) continue;
    const djVec3 x = {p->vert[0][i], p->vert[1][i], p->vert[2][i]};
    const djVec3 y = dju_sub3(dju_transform(&p->place, x), p->c), turn = dju_cross3(y, N);
    const double g[6] = {turn.x, turn.y, turn.z, N.x, N.y, N.z}, slope = part / z;
    for (int k = 0; k < 6; k++) out->g[k] += slope * g[k];
    if (p->order < 2) continue;
    const double arm[3] = {y.x, y.y, y.z}, n[3] = {N.x, N.y, N.z}, along = dju_dot3(y, N);
    const double bend = -(1 + DJ_MEAN_ALPHA) * slope / z;
    for (int k = 0, at = 0; k < 6; k++) {
      for (int m = 0; m <= k; m++, at++) {
        out->H[at] += bend * g[k] * g[m];
        if (k > 2) continue;
        out->H[at] += slope * (0.5 * (arm[k] * n[m] + n[k] * arm[m]) - (k == m ? along : 0));
      }
    }
  }
  out->L = log(*least) - log(sum) / DJ_MEAN_ALPHA;
  for (int k = 0; k < 6; k++) out->g[k] /= sum;
  for (int k = 0, at = 0; k < 6; k++) {
    for (int m = 0; m <= k; m++, at++) {
      out->H[at] = out->H[at] / sum + DJ_MEAN_ALPHA * out->g[k] * out->g[m];
    }
  }
  return DJ_OK;
}
