#include "integrate/impulse_law.h"

#include <math.h>

// What joints hold in place gives way by so little, over the mean of what moves freely.
static const double YIELD = 1e-9;

static djMat3 yielding(const djMat3* C) {
  djMat3 A = *C;
  double more = YIELD * (C->m[0] + C->m[4] + C->m[8]);
  for (int k = 0; k < 3; k++) A.m[4 * k] += more;
  return A;
}

// Inverse of a symmetric positive definite matrix; false: it is none. By sweeps: cofactors
// cancel where C has but one direction that moves freely.
static bool invert(djMat3* inv, const djMat3* C) {
  djMat3 A = *C;
  for (int k = 0; k < 3; k++) {
    if (!(A.m[4 * k] > 0)) return false;
    double d = 1 / A.m[4 * k];
    const double row[3] = {A.m[3 * k], A.m[3 * k + 1], A.m[3 * k + 2]};
    for (int i = 0; i < 3; i++) {
      for (int j = 0; j < 3 && i != k; j++) A.m[3 * i + j] -= d * row[i] * row[j];
      A.m[3 * i + k] = A.m[3 * k + i] = d * row[i];
    }
    A.m[4 * k] = -d;
  }
  for (int i = 0; i < 9; i++) inv->m[i] = -A.m[i];
  return true;
}

// What lies between the arguments and P.
typedef struct Terms {
  djMat3 inv;              // C^-1
  djVec3 Cn, PII, t;       // t: tangential part of PII
  double u, k, lambda;     // speed of approach, n.C n, n.P_I
  double normal, size;     // n.PII, |t|
  bool slips;
  double kappa, below;     // where it slips; kappa = top/below
  djVec3 whole;            // P before the part
  double part, slope;      // of P, and its derivative by u
} Terms;

static bool find(Terms* s, const djImpact* p) {
  s->u = -dju_dot3(p->n, p->w);
  djMat3 C = yielding(&p->C);
  if (!(s->u > p->least) || !invert(&s->inv, &C)) return false;
  double e = p->restitution, mu = p->friction;
  s->Cn = dju_mulMV(C, p->n);
  s->k = dju_dot3(p->n, s->Cn);
  s->lambda = s->u / s->k;
  s->PII = dju_neg3(dju_mulMV(s->inv, p->w));
  s->normal = dju_dot3(p->n, s->PII);
  s->t = dju_madd3(s->PII, -s->normal, p->n);
  s->size = dju_norm3(s->t);
  s->slips = s->size > mu * (s->normal + e * s->lambda);
  s->whole = dju_madd3(s->PII, e * s->lambda, p->n);
  if (s->slips) {
    s->below = s->size - mu * (s->normal - s->lambda);
    s->kappa = mu * (1 + e) * s->lambda / s->below;
    double along = (1 + e) * s->lambda - s->kappa * s->lambda;
    s->whole = dju_madd3(dju_scale3(along, p->n), s->kappa, s->PII);
  }
  double x = p->least > 0 ? fmin((s->u - p->least) / p->least, 1) : 1;
  s->part = x * x * (3 - 2 * x);
  s->slope = x < 1 ? 6 * x * (1 - x) / p->least : 0;
  return true;
}

bool dj_impactImpulse(djVec3* P, const djImpact* impact) {
  Terms s;
  if (!find(&s, impact)) return false;
  *P = dju_scale3(s.part, s.whole);
  return true;
}

void dj_impactVjp(djImpactGrad* grad, const djImpact* p, djVec3 by_P) {
  Terms s;
  *grad = (djImpactGrad){.friction = 0};
  if (!find(&s, p)) return;
  double e = p->restitution, mu = p->friction;
  double by_u = s.slope * dju_dot3(by_P, s.whole), by_lambda = 0, by_normal = 0;
  djVec3 g = dju_scale3(s.part, by_P), n = p->n, by_PII, by_n;
  double gn = dju_dot3(g, n);
  if (s.slips) {
    double by_kappa = dju_dot3(g, s.PII) - s.lambda * gn, by_size, ratio = s.kappa / s.below;
    by_PII = dju_scale3(s.kappa, g);
    by_n = dju_scale3((1 + e - s.kappa) * s.lambda, g);
    by_lambda = (1 + e - s.kappa) * gn + by_kappa * (mu * (1 + e) / s.below - ratio * mu);
    by_size = -by_kappa * ratio;
    by_normal = by_kappa * ratio * mu;
    grad->friction = by_kappa * ((1 + e) * s.lambda / s.below + ratio * (s.normal - s.lambda));
    grad->restitution = s.lambda * (gn + by_kappa * mu / s.below);
    djVec3 by_t = dju_scale3(s.size > 0 ? by_size / s.size : 0, s.t);   // orthogonal to n
    by_PII = dju_add3(by_PII, by_t);
    by_n = dju_madd3(by_n, -s.normal, by_t);
  } else {
    by_PII = g;
    by_n = dju_scale3(e * s.lambda, g);
    by_lambda = e * gn;
    grad->restitution = s.lambda * gn;
  }
  by_PII = dju_madd3(by_PII, by_normal, n);
  by_n = dju_madd3(by_n, by_normal, s.PII);
  // lambda = u/k, k = n.C n, u = -n.w
  by_u += by_lambda / s.k;
  double by_k = -by_lambda * s.lambda / s.k;
  by_n = dju_madd3(by_n, 2 * by_k, s.Cn);
  by_n = dju_madd3(by_n, -by_u, p->w);
  grad->n = by_n;
  // PII = -C^-1 w
  djVec3 y = dju_mulMV(s.inv, by_PII);
  grad->w = dju_madd3(dju_neg3(y), -by_u, n);
  const double a[3] = {y.x, y.y, y.z}, b[3] = {s.PII.x, s.PII.y, s.PII.z};
  const double m[3] = {n.x, n.y, n.z};
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 3; k++) {
      grad->C.m[3 * i + k] = -0.5 * (a[i] * b[k] + a[k] * b[i]) + by_k * m[i] * m[k];
    }
  }
  grad->C = yielding(&grad->C);   // the same map is its own transpose
}
