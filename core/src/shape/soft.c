#include "shape/soft.h"

#include <string.h>

void dj_softenShape(djSoft* soft, double* mem, const djShape* shape, double nface,
                    double smoothing) {
  djShape* core = &soft->core;
  *core = *shape;
  soft->t = 0;
  core->radius_slope = 0;
  core->skin = 0;
  core->list = NULL;
  if (shape->type == DJ_PLANE) return;
  bool solid = shape->inner > 0, round = shape->nvert == 1;
  double e = solid ? fmin(smoothing, 0.5 * shape->inner) : smoothing, inward = 0;
  if (round) e = 0;
  if (shape->curved && !round) {   // a cylinder: faces by e/2, its side by e
    inward = 0.5 * e;
    for (int i = 0; i < 9; i++) core->curve.m[i] -= e * shape->curve_move.m[i];
    core->radius = 0.5 * e;
  } else if (!round) {
    if (solid) inward = fmax(0, e - shape->radius);
    core->radius = fmax(0, shape->radius + inward - 0.5 * e);
  }
  double* zero = mem + 3 * shape->npad;
  memset(zero, 0, (size_t)shape->npad * sizeof(double));
  for (int k = 0; k < 3; k++) {
    double* x = mem + k * shape->npad;
    for (int i = 0; i < shape->npad; i++) x[i] = shape->vert[k][i] - inward * shape->move[k][i];
    core->vert[k] = x;
    core->move[k] = zero;
  }
  memset(&core->curve_move, 0, sizeof core->curve_move);
  core->bound += 0.5 * e;
  if (!round && e > 0) soft->t = 0.5 * e / log(fmax(nface, 2));
}

// Weights below exp(-50) count as zero: they are lost in any sum here.
static const double kNegligible = -50;

static int farthest(double* most, const djShape* s, djVec3 n) {
  const double *x = s->vert[0], *y = s->vert[1], *z = s->vert[2];
  int best = 0;
  *most = -INFINITY;
  for (int i = 0; i < s->nvert; i++) {
    double d = n.x * x[i] + n.y * y[i] + n.z * z[i];
    if (d > *most) {
      *most = d;
      best = i;
    }
  }
  return best;
}

// Of a vertex against one that is farther along n by `behind`.
static double weight(const djSoft* soft, double behind) {
  double power = -behind / soft->t;
  return power < kNegligible ? 0 : exp(power);
}

// First and second moments of the vertices about the one that is farthest along n, under weights
// exp(.../t) whose sum is returned.
static double weigh(djVec3* first, double second[6], djVec3* top, const djSoft* soft, djVec3 n) {
  const djShape* s = &soft->core;
  const double *x = s->vert[0], *y = s->vert[1], *z = s->vert[2];
  double most, sum = 0;
  int best = farthest(&most, s, n);
  *top = dju_vec3(x[best], y[best], z[best]);
  *first = dju_vec3(0, 0, 0);
  memset(second, 0, 6 * sizeof(double));
  if (!(soft->t > 0)) return 1;
  for (int i = 0; i < s->nvert; i++) {
    djVec3 v = {x[i] - top->x, y[i] - top->y, z[i] - top->z};
    double p = weight(soft, -dju_dot3(n, v));
    if (p == 0) continue;
    sum += p;
    *first = dju_madd3(*first, p, v);
    double pairs[6] = {v.x * v.x, v.x * v.y, v.x * v.z, v.y * v.y, v.y * v.z, v.z * v.z};
    for (int k = 0; k < 6; k++) second[k] += p * pairs[k];
  }
  return sum;
}

void dj_softSupport(djSoftPoint* out, const djSoft* soft, djVec3 n) {
  static const int at[9] = {0, 1, 2, 1, 3, 4, 2, 4, 5};
  double second[6], u[3];
  djVec3 mean, top;
  double sum = weigh(&mean, second, &top, soft, n);
  mean = dju_scale3(1 / sum, mean);
  double round = soft->core.radius, rise = soft->t * log(sum);
  out->h = dju_dot3(n, top) + rise + round;
  round += rise - dju_dot3(mean, n);
  out->x = dju_madd3(dju_add3(top, mean), round, n);
  // P (S/t + round) P, with S n taken out
  double m[3];
  dju_store3(m, mean);
  dju_store3(u, n);
  djMat3 S;
  for (int i = 0; i < 9; i++) {
    S.m[i] = soft->t > 0 ? (second[at[i]] / sum - m[i / 3] * m[i % 3]) / soft->t : 0;
  }
  double w[3], along;
  djVec3 Sn = dju_mulMV(S, n);
  along = dju_dot3(n, Sn);
  dju_store3(w, Sn);
  for (int i = 0; i < 9; i++) {
    int r = i / 3, c = i % 3;
    out->C.m[i] = S.m[i] - w[r] * u[c] - u[r] * w[c] + (along - round) * u[r] * u[c];
    if (r == c) out->C.m[i] += round;
  }
  if (!soft->core.curved) return;
  djVec3 point;
  out->h += dj_curveReach(&point, NULL, &soft->core.curve, n);
  out->x = dju_add3(out->x, point);
  for (int c = 0; c < 3; c++) {
    double column[3];
    dju_store3(column,
               dj_curveBend(&soft->core.curve, n, dju_vec3(c == 0, c == 1, c == 2)));
    for (int r = 0; r < 3; r++) out->C.m[3 * r + c] += column[r];
  }
}

void dj_softVertexGrad(double* const vert[3], double along, const djSoft* soft, djVec3 n) {
  const djShape* s = &soft->core;
  const double u[3] = {n.x, n.y, n.z};
  double most, sum = 0;
  int best = farthest(&most, s, n);
  if (!(soft->t > 0)) {
    for (int k = 0; k < 3; k++) vert[k][best] += along * u[k];
    return;
  }
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < s->nvert; i++) {
      double height = n.x * s->vert[0][i] + n.y * s->vert[1][i] + n.z * s->vert[2][i];
      double p = weight(soft, most - height);
      if (pass == 0) sum += p;
      for (int k = 0; k < 3 && pass; k++) vert[k][i] += along * p / sum * u[k];
    }
  }
}
