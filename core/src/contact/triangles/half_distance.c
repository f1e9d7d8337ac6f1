#include "contact/triangles/half_distance.h"

#include <math.h>
#include <string.h>

static double leastHeight(const djHalfPair* p) {
  double least = INFINITY;
  for (int i = 0; i < p->nvert; i++) least = fmin(least, dj_heightOf(p, i));
  return least;
}

void dj_heightTerms(djHeightTerms* out, const djHalfPair* p, int i) {
  const djVec3 x = {p->vert[0][i], p->vert[1][i], p->vert[2][i]};
  out->arm = dju_sub3(dju_transform(&p->place, x), p->c);
  out->normal = p->normal;
  out->z = dj_heightOf(p, i);
  dju_store3(out->g, dju_cross3(out->arm, p->normal));
  dju_store3(out->g + 3, p->normal);
}

void dj_addHeights(double H[DJ_PACKED6], double by, double by2, const djHeightTerms* z) {
  const djVec3 y = z->arm, N = z->normal;
  const double arm[3] = {y.x, y.y, y.z}, n[3] = {N.x, N.y, N.z}, along = dju_dot3(y, N);
  dj_addOuter(H, by2, z->g);
  for (int k = 0, at = 0; k < 3; k++) {
    for (int m = 0; m <= k; m++, at++) {
      H[at] += by * (0.5 * (arm[k] * n[m] + n[k] * arm[m]) - (k == m ? along : 0));
    }
  }
}

// dz = N.(v + w x y), ddz = N.(w x (w x y)), y = x - c. With parts p_v = w_v z_v^-alpha/sum
//   dL = sum p_v dz/z,  ddL = sum p_v (ddz/z - (1 + alpha) dz dz^T/z^2) + alpha dL dL^T.
djStatus dj_halfDistance(djMeanDistance* out, double* least, const djHalfPair* p) {
  double sum = 0;
  *least = leastHeight(p);
  if (!(*least > 0)) {
    *out = (djMeanDistance){.L = -INFINITY};
    return DJ_OVERLAP;
  }
  memset(out, 0, sizeof *out);
  for (int i = 0; i < p->nvert; i++) {
    const double height = dj_heightOf(p, i);
    const double part = p->weight[i] * pow(*least / height, DJ_MEAN_ALPHA);
    sum += part;
    if (p->order < 1) continue;
    djHeightTerms z;
    dj_heightTerms(&z, p, i);
    const double slope = part / z.z;
    for (int k = 0; k < 6; k++) out->g[k] += slope * z.g[k];
    if (p->order > 1) dj_addHeights(out->H, slope, -(1 + DJ_MEAN_ALPHA) * slope / z.z, &z);
  }
  out->L = log(*least) - log(sum) / DJ_MEAN_ALPHA;
  for (int k = 0; k < 6; k++) out->g[k] /= sum;
  for (int k = 0; k < DJ_PACKED6; k++) out->H[k] /= sum;
  dj_addOuter(out->H, DJ_MEAN_ALPHA, out->g);
  return DJ_OK;
}
