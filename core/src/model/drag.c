// Fluid drag by the box of equal inertia, edges s_i = sqrt(6 x_i/m), x_i = I_j + I_k - I_i, along
// inertia axis i; with e the mean edge,
//   force  -3 pi e mu v - rho/2 s_j s_k v|v|,
//   torque -pi e^3 mu w - rho/64 s_i (s_j^4 + s_k^4) w|w|.

#include "model/drag.h"

#define FLAT 1e-15   // smallest x_i

static void boxEdges(double edge[3], const djModel* m, int b) {
  const double* I = m->body_inertia + 3 * b;
  for (int i = 0; i < 3; i++) {
    double x = I[(i + 1) % 3] + I[(i + 2) % 3] - I[i];
    edge[i] = sqrt(fmax(x, FLAT) * 6 / m->body_mass[b]);
  }
}

void dj_setDrag(djBodyStep* s, const djModel* m, int b) {
  double edge[3];
  boxEdges(edge, m, b);
  double mean = (edge[0] + edge[1] + edge[2]) / 3;
  double mu = m->opt.viscosity, rho = m->opt.density;
  for (int i = 0; i < 3; i++) {
    double y = edge[(i + 1) % 3], z = edge[(i + 2) % 3];
    s->drag_linear[i] = M_PI * mean * mean * mean * mu;
    s->drag_square[i] = rho / 64 * edge[i] * (y * y * y * y + z * z * z * z);
    s->drag_linear[3 + i] = 3 * M_PI * mean * mu;
    s->drag_square[3 + i] = 0.5 * rho * y * z;
  }
}

// ds_i = 3/(m s_i) dx_i - s_i/(2m) dm; s_i does not depend on the inertia where x_i is clamped.
void dj_dragVjp(double* mass, double* inertia, const djModel* m, int b, const double linear[6],
                const double square[6]) {
  const double* I = m->body_inertia + 3 * b;
  double s[3], by_edge[3] = {0, 0, 0}, by_mean = 0;
  boxEdges(s, m, b);
  double mean = (s[0] + s[1] + s[2]) / 3;
  double mu = m->opt.viscosity, rho = m->opt.density;
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    by_mean += M_PI * mu * (3 * mean * mean * linear[i] + 3 * linear[3 + i]);
    double y3 = s[j] * s[j] * s[j], z3 = s[k] * s[k] * s[k], c = rho / 64 * square[i];
    by_edge[i] += c * (y3 * s[j] + z3 * s[k]);
    by_edge[j] += c * 4 * s[i] * y3 + 0.5 * rho * s[k] * square[3 + i];
    by_edge[k] += c * 4 * s[i] * z3 + 0.5 * rho * s[j] * square[3 + i];
  }
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    double g = by_edge[i] + by_mean / 3, M = m->body_mass[b];
    *mass -= g * s[i] / (2 * M);
    if (!(I[j] + I[k] - I[i] > FLAT)) continue;
    double by_x = 3 * g / (M * s[i]);
    inertia[i] -= by_x;
    inertia[j] += by_x;
    inertia[k] += by_x;
  }
}
