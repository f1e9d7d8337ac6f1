#include "model/span.h"

#include "math/block6.h"
#include "math/smooth.h"

#include <string.h>

djVec3 dj_sitePoint(const djModel* m, const djKin* kin, int s) {
  return dju_transform(&kin->body[m->site_body[s]], dju_load3(m->site_pos + 3 * s));
}

static void putPoint(djSpan* span, int k, int side, int site, djVec3 point) {
  span->site[k] = site;
  span->side[k] = side;
  span->point[k] = point;
}

static djMat3 scaled(double f, djMat3 A) {
  for (int k = 0; k < 9; k++) A.m[k] *= f;
  return A;
}

// a A + b B
static djMat3 combine(double a, djMat3 A, double b, djMat3 B) {
  for (int k = 0; k < 9; k++) A.m[k] = a * A.m[k] + b * B.m[k];
  return A;
}

static djMat3 transposed(djMat3 A) {
  return (djMat3){{A.m[0], A.m[3], A.m[6], A.m[1], A.m[4], A.m[7], A.m[2], A.m[5], A.m[8]}};
}

static djMat3 outer(double f, djVec3 u, djVec3 v) {
  djMat3 A = {{0}};
  dju_addOuter3(&A, f, u, v);
  return A;
}

// ---- a straight part of a tendon ---------------------------------------------------------------

// f |p1 - p0|: with d = p1 - p0 and r = sqrt(d . d), dr = 2 r' d, d2r = 2 r' I + 4 r'' d d^T.
static void setDistance(djSpan* span, double f, int order) {
  djVec3 d = dju_sub3(span->point[1], span->point[0]);
  djJet r = dju_smoothRoot(dju_dot3(d, d), DJ_SPAN_EPS);
  span->n = 2;
  span->value = f * r.f;
  if (order < 1) return;
  span->g[1] = dju_scale3(2 * f * r.d, d);
  span->g[0] = dju_neg3(span->g[1]);
  if (order < 2) return;
  djMat3 A = combine(2 * f * r.d, dju_eye3(), 1, outer(4 * f * r.dd, d, d));
  span->A[0][0] = span->A[1][1] = A;
  span->A[0][1] = span->A[1][0] = scaled(-1, A);
}

static bool nextStraight(djSpan* span, djSpanAt* at, const djModel* m, const djKin* kin, int t,
                         int order) {
  const int *type = m->wrap_type + m->tendon_adr[t], *id = m->wrap_objid + m->tendon_adr[t];
  if (at->next == 0) at->divisor = 1;
  for (; at->next + 1 < m->tendon_num[t]; at->next++) {
    int k = at->next;
    if (type[k] == DJ_WRAP_PULLEY) at->divisor = m->wrap_prm[m->tendon_adr[t] + k];
    if (type[k] != DJ_WRAP_SITE || type[k + 1] != DJ_WRAP_SITE) continue;
    for (int i = 0; i < 2; i++) {
      span->body[i] = m->site_body[id[k + i]];
      putPoint(span, i, i, id[k + i], dj_sitePoint(m, kin, id[k + i]));
    }
    setDistance(span, 1 / at->divisor, order);
    at->next++;
    return true;
  }
  return false;
}

// ---- the way of a slider -----------------------------------------------------------------------

// A rod of length r leads from the crank's site to a point of the slider's axis a at distance
//   l = a . v - sqrt(y),  y = (a . v)^2 + r^2 - v . v,
// from the slider's site, v from there to the crank's. Beyond the rod's reach y < 0 and l = a . v,
// as in MuJoCo; y's root is rounded off below y = (1e-8 r)^2.
typedef struct Crank {
  djVec3 lv, la;
  djMat3 vv, va, aa;
} Crank;

static double crankAt(Crank* c, djVec3 v, djVec3 a, double rod) {
  double av = dju_dot3(a, v);
  djJet s = dju_smoothRampRoot(av * av + rod * rod - dju_dot3(v, v), DJ_SPAN_EPS * rod);
  djVec3 yv = dju_scale3(2, dju_sub3(dju_scale3(av, a), v)), ya = dju_scale3(2 * av, v);
  c->lv = dju_madd3(a, -s.d, yv);
  c->la = dju_madd3(v, -s.d, ya);
  djMat3 I = dju_eye3();
  c->vv = combine(2 * s.d, combine(1, I, -1, outer(1, a, a)), -s.dd, outer(1, yv, yv));
  c->va = combine(1 - 2 * s.d * av, I, -2 * s.d, outer(1, a, v));
  c->va = combine(1, c->va, -s.dd, outer(1, yv, ya));
  c->aa = combine(-s.dd, outer(1, ya, ya), -2 * s.d, outer(1, v, v));
  return av - s.f;
}

// Points: the crank's site p, the slider's o and the tip o + a.
static bool nextCrank(djSpan* span, djSpanAt* at, const djModel* m, const djKin* kin, int i) {
  if (at->next++ > 0) return false;
  int crank = m->actuator_crank[2 * i], slider = m->actuator_crank[2 * i + 1];
  span->body[0] = m->site_body[crank];
  span->body[1] = m->site_body[slider];
  djMat3 frame = dju_quatToMat(dju_loadQuat(m->site_quat + 4 * slider));
  djVec3 a = dju_mulMV(kin->body[span->body[1]].R, dju_column(&frame, 2));
  djVec3 p = dj_sitePoint(m, kin, crank), o = dj_sitePoint(m, kin, slider);
  putPoint(span, 0, 0, crank, p);
  putPoint(span, 1, 1, slider, o);
  putPoint(span, 2, 1, slider, dju_add3(o, a));
  Crank c;
  span->n = 3;
  span->value = crankAt(&c, dju_sub3(p, o), a, m->actuator_cranklength[i]);
  span->g[0] = c.lv;
  span->g[1] = dju_neg3(dju_add3(c.lv, c.la));
  span->g[2] = c.la;
  djMat3 vo = combine(1, c.vv, 1, c.va), av = transposed(c.va), ao = combine(1, av, 1, c.aa);
  span->A[0][0] = c.vv;
  span->A[0][1] = scaled(-1, vo);
  span->A[0][2] = c.va;
  span->A[1][0] = transposed(span->A[0][1]);
  span->A[1][1] = combine(1, vo, 1, ao);
  span->A[2][1] = scaled(-1, ao);
  span->A[1][2] = transposed(span->A[2][1]);
  span->A[2][0] = av;
  span->A[2][2] = c.aa;
  return true;
}

bool dj_nextSpan(djSpan* span, djSpanAt* at, const djModel* m, const djKin* kin, int c,
                 int order) {
  int id = m->coord_id[c];
  if (m->coord_type[c] == DJ_COORD_TENDON) return nextStraight(span, at, m, kin, id, order);
  return m->coord_type[c] == DJ_COORD_CRANK && nextCrank(span, at, m, kin, id);
}

// ---- by twists ---------------------------------------------------------------------------------

// A point moves with v + w x rho.
void dj_spanGradient(double W[12], const djSpan* span, const djVec3* ref) {
  memset(W, 0, 12 * sizeof(double));
  for (int k = 0; k < span->n; k++) {
    double* w = W + 6 * span->side[k];
    djVec3 rho = dju_sub3(span->point[k], ref[span->body[span->side[k]]]);
    dju_addTo3(w, 1, dju_cross3(rho, span->g[k]));
    dju_addTo3(w + 3, 1, span->g[k]);
  }
}

// N += P^T A Q, P = (-[p] I) and Q = (-[q] I) of points: their motion by a twist.
static void addBetween(double N[36], djVec3 p, djVec3 q, const djMat3* A) {
  djMat3 X = dju_skew(p), Y = dju_skew(q), XA = dju_mulMM(X, *A), AY = dju_mulMM(*A, Y);
  djMat3 XAY = dju_mulMM(XA, Y);
  dju_addBlock6(N, 0, 0, -1, &XAY);
  dju_addBlock6(N, 0, 3, 1, &XA);
  dju_addBlock6(N, 3, 0, -1, &AY);
  dju_addBlock6(N, 3, 3, 1, A);
}

// The nested motion w1 x (w2 x rho + v2) adds g times it.
void dj_spanHessian(double N[72], double K[36], const djSpan* span, const djVec3* ref) {
  memset(N, 0, 72 * sizeof(double));
  memset(K, 0, 36 * sizeof(double));
  djVec3 rho[3];
  for (int k = 0; k < span->n; k++) {
    double* own = N + 36 * span->side[k];
    rho[k] = dju_sub3(span->point[k], ref[span->body[span->side[k]]]);
    djMat3 W = {{0}}, F = dju_skew(span->g[k]);
    dju_addSkewProduct(&W, 1, span->g[k], rho[k]);
    dju_addBlock6(own, 0, 0, 1, &W);
    dju_addBlock6(own, 0, 3, -1, &F);
  }
  for (int k = 0; k < span->n; k++) {
    for (int l = 0; l < span->n; l++) {
      int a = span->side[k], b = span->side[l];
      if (a == 1 && b == 0) continue;   // K has it
      addBetween(a == b ? N + 36 * a : K, rho[k], rho[l], &span->A[k][l]);
    }
  }
}
