// The square of the distance of a point of a and one of b, with derivatives by motions of a,
// x -> c + exp(w)(x - c) + v, (w, v) = 0, in b's frame.

#ifndef DJ_CONTACT_TRIANGLES_SQUARE_H_
#define DJ_CONTACT_TRIANGLES_SQUARE_H_

#include "contact/triangles/packed.h"
#include "math/vec.h"

typedef struct djMeanSquare {
  double s, g[6], H[DJ_PACKED6];
} djMeanSquare;

// s = |d|^2 with d = x_a - x_b, arm y = x_a - c: by a motion of a
//   |d + v + w x y + w x (w x y)/2|^2 = s + 2 d.(v + w x y) + |v + w x y|^2 + d.(w x (w x y)) + ...
static inline void dj_squareOf(djMeanSquare* q, djVec3 arm, djVec3 d, int order) {
  q->s = dju_dot3(d, d);
  if (order < 1) return;
  const djVec3 turn = dju_cross3(arm, d);
  dju_store3(q->g, dju_scale3(2, turn));
  dju_store3(q->g + 3, dju_scale3(2, d));
  if (order < 2) return;
  const double y[3] = {arm.x, arm.y, arm.z}, e[3] = {d.x, d.y, d.z};
  const double trace = 2 * dju_dot3(arm, arm) - 2 * dju_dot3(arm, d);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j <= i; j++) {
      q->H[dj_packedAt(i, j)] = y[i] * e[j] + e[i] * y[j] - 2 * y[i] * y[j] + (i == j ? trace : 0);
      q->H[dj_packedAt(3 + i, 3 + j)] = i == j ? 2 : 0;
    }
    const int k = (i + 1) % 3, m = (i + 2) % 3; // 2 [y]x, row i
    q->H[dj_packedAt(3 + i, i)] = 0;
    q->H[dj_packedAt(3 + k, i)] = -2 * y[m];
    q->H[dj_packedAt(3 + m, i)] = 2 * y[k];
  }
}

#endif // DJ_CONTACT_TRIANGLES_SQUARE_H_
