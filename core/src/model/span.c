#include "model/span.h"

#include "math/block6.h"
#include "math/smooth.h"
#include "model/equality.h"

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

// ---- equality constraints ----------------------------------------------------------------------

// Point k of a span between bodies: that of a site, or an anchor.
static void putAnchor(djSpan* span, int k, const djModel* m, const djKin* kin, int e) {
  int site = m->eq_site[2 * e + k], b = m->eq_pair[2 * e + k];
  const double* at = site >= 0 ? m->site_pos + 3 * site : m->eq_anchor + 6 * e + 3 * k;
  putPoint(span, k, k, site, dju_transform(&kin->body[b], dju_load3(at)));
  span->anchor[k] = 6 * e + 3 * k;
}

// Of frame k that is welded.
static djQuat frameOf(const djModel* m, const djKin* kin, int e, int k) {
  int site = m->eq_site[2 * e + k];
  djQuat Q = kin->quat[m->eq_pair[2 * e + k]];
  if (site >= 0) return dju_mulQuat(Q, dju_loadQuat(m->site_quat + 4 * site));
  return k == 0 ? dju_mulQuat(Q, dju_loadQuat(m->eq_quat + 4 * e)) : Q;
}

static double partOf(djQuat q, int k) { return k == 0 ? q.x : k == 1 ? q.y : q.z; }

// s e . Im(p a), p = conj(q2), a = q1, with the derivative s/2 e . Im(p w a) by the turn w of body
// 1, less that of body 2.
static void setTurn(djSpan* span, const djModel* m, const djKin* kin, int e, int axis) {
  djQuat p = dju_conj(frameOf(m, kin, e, 1)), a = frameOf(m, kin, e, 0);
  double s = m->eq_torquescale[e], d[3];
  span->turns = true;
  span->n = 0;
  span->value = s * partOf(dju_mulQuat(p, a), axis);
  for (int k = 0; k < 3; k++) {
    djQuat w = {0, k == 0, k == 1, k == 2};
    d[k] = 0.5 * s * partOf(dju_mulQuat(p, dju_mulQuat(w, a)), axis);
  }
  span->turn = dju_load3(d);
}

// Numbers of connect and weld: three of points, three of rotations.
static bool nextEquality(djSpan* span, djSpanAt* at, const djModel* m, const djKin* kin, int c) {
  int e = m->coord_id[c], axis = c - m->eq_coord[e];
  if (!dj_isBetweenBodies(m->eq_type[e]) || at->next++ > 0) return false;
  *span = (djSpan){.body = {m->eq_pair[2 * e], m->eq_pair[2 * e + 1]}, .n = 2, .world = true};
  if (axis >= 3) {
    setTurn(span, m, kin, e, axis - 3);
    return true;
  }
  djVec3 unit = {axis == 0, axis == 1, axis == 2};
  for (int k = 0; k < 2; k++) putAnchor(span, k, m, kin, e);
  span->value = dju_dot3(unit, dju_sub3(span->point[0], span->point[1]));
  span->g[0] = unit;
  span->g[1] = dju_neg3(unit);
  return true;
}

bool dj_nextSpan(djSpan* span, djSpanAt* at, const djModel* m, const djKin* kin, int c,
                 int order) {
  int id = m->coord_id[c];
  span->turns = span->world = false;
  if (m->coord_type[c] == DJ_COORD_EQUALITY) return nextEquality(span, at, m, kin, c);
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
  for (int k = 0; k < 2 && span->turns; k++) dju_addTo3(W + 6 * k, k ? -1 : 1, span->turn);
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

// Of x = s e . Im(p a) with u = s/2 e . Im(p w a) by w: the nested turns w1, w2 of one body make of
// a or p the product w1 w2/4, s/4 e . Im(p w1 w2 a) = -(w1 . w2) x/4 + u . (w1 x w2)/2.
static void addTurns(double N[72], double K[36], const djSpan* span) {
  djMat3 X = dju_skew(span->turn), I = dju_eye3();
  double x = 0.25 * span->value;
  for (int s = 0; s < 2; s++) {
    dju_addBlock6(N + 36 * s, 0, 0, -x, &I);
    dju_addBlock6(N + 36 * s, 0, 0, s ? 0.5 : -0.5, &X);
  }
  dju_addBlock6(K, 0, 0, x, &I);
  dju_addBlock6(K, 0, 0, -0.5, &X);
}

// The nested motion w1 x (w2 x rho + v2) adds g times it.
void dj_spanHessian(double N[72], double K[36], const djSpan* span, const djVec3* ref) {
  memset(N, 0, 72 * sizeof(double));
  memset(K, 0, 36 * sizeof(double));
  if (span->turns) addTurns(N, K, span);
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
