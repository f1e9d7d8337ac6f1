// Symmetric matrices 6 x 6 in packed form: entries i, j <= i are at i (i + 1)/2 + j.

#ifndef DJ_CONTACT_TRIANGLES_PACKED_H_
#define DJ_CONTACT_TRIANGLES_PACKED_H_

enum { DJ_PACKED6 = 21 };

static inline int dj_packedAt(int i, int j) {
  return i >= j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i;
}

// H += s g g^T
static inline void dj_addOuter(double H[DJ_PACKED6], double s, const double g[6]) {
  for (int i = 0, k = 0; i < 6; i++) {
    const double row = s * g[i];
    for (int j = 0; j <= i; j++) H[k++] += row * g[j];
  }
}

// H += s (g k^T + k g^T)
static inline void dj_addOuters(double H[DJ_PACKED6], double s, const double g[6],
                                const double k[6]) {
  for (int i = 0, n = 0; i < 6; i++) {
    for (int j = 0; j <= i; j++) H[n++] += s * (g[i] * k[j] + k[i] * g[j]);
  }
}

static inline void dj_addPacked(double H[DJ_PACKED6], double s, const double K[DJ_PACKED6]) {
  for (int i = 0; i < DJ_PACKED6; i++) H[i] += s * K[i];
}

#endif // DJ_CONTACT_TRIANGLES_PACKED_H_
