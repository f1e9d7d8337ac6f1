#include "model/span.h"

#include "math/block6.h"
#include "math/smooth.h"
#include "model/equality.h"
#include "model/wrap.h"

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

static void setBodies(djSpan* span, int body0, int body1) {
  span->body[0] = body0;
  span->body[1] = body1;
  span->nbody = body0 == body1 ? 1 : 2;
  span->carrier = span->geom = -1;
}

// ---- a part around a geom ----------------------------------------------------------------------

static djWrapShape shapeOf(const djModel* m, const djKin* kin, int geom, double side) {
  const djPose* T = &kin->body[m->geom_body[geom]];
  djMat3 frame = dju_quatToMat(dju_loadQuat(m->geom_quat + 4 * geom));
  return (djWrapShape){.centre = dju_transform(T, dju_load3(m->geom_pos + 3 * geom)),
                       .axis = dju_mulMV(T->R, dju_column(&frame, 2)),
                       .radius = m->geom_size[3 * geom],
                       .onset = m->opt.wrap_onset,
                       .cylinder = m->geom_type[geom] == DJ_CYLINDER,
                       .sided = side >= 0,
                       .side = side >= 0 ? dj_sitePoint(m, kin, (int)side) : (djVec3){0, 0, 0}};
}

// The side of a body, which is new at most.
static int sideOf(djSpan* span, int body) {
  for (int s = 0; s < span->nbody; s++) {
    if (span->body[s] == body) return s;
  }
  span->body[span->nbody] = body;
  return span->nbody++;
}

// f times the length between both points, whose bodies are set. False: it is straight.
static bool setWrapped(djSpan* span, double f, const djModel* m, const djKin* kin, int geom,
                       double side, int order) {
  djWrapShape shape = shapeOf(m, kin, geom, side);
  djWrapLength l;
  if (!dj_wrapLength(&l, &shape, span->point[0], span->point[1], order)) return false;
  span->value = f * l.value;
  span->by_radius = f * l.by_radius;
  int body[2] = {span->body[0], span->body[1]};
  span->body[0] = m->geom_body[geom];
  span->nbody = 1;
  span->carrier = 0;
  span->geom = geom;
  for (int i = 0; i < 2; i++) {
    span->side[i] = sideOf(span, body[i]);
    span->g[i] = dju_scale3(f, l.g[i]);
    span->g_by_radius[i] = dju_scale3(f, l.g_by_radius[i]);
    for (int k = 0; k < 2; k++) span->A[i][k] = scaled(f, l.A[i][k]);
  }
  return true;
}

static bool nextPart(djSpan* span, djSpanAt* at, const djModel* m, const djKin* kin, int t,
                     int order) {
  const int *type = m->wrap_type + m->tendon_adr[t], *id = m->wrap_objid + m->tendon_adr[t];
  const double* prm = m->wrap_prm + m->tendon_adr[t];
  if (at->next == 0) at->divisor = 1;
  for (; at->next + 1 < m->tendon_num[t]; at->next++) {
    int k = at->next;
    if (type[k] == DJ_WRAP_PULLEY) at->divisor = prm[k];
    if (type[k] != DJ_WRAP_SITE || type[k + 1] == DJ_WRAP_PULLEY) continue;
    int step = type[k + 1] == DJ_WRAP_SITE ? 1 : 2, site[2] = {id[k], id[k + step]};
    setBodies(span, m->site_body[site[0]], m->site_body[site[1]]);
    span->n = 2;
    for (int i = 0; i < 2; i++) putPoint(span, i, i, site[i], dj_sitePoint(m, kin, site[i]));
    at->next += step;
    double f = 1 / at->divisor;
    if (step == 1 || !setWrapped(span, f, m, kin, id[k + 1], prm[k + 1], order)) {
      setDistance(span, f, order);
    }
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
  setBodies(span, m->site_body[crank], m->site_body[slider]);
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
  const djVec3 at = dju_load3(dj_equalityPoint(m, e, k));
  putPoint(span, k, k, site, dju_transform(&kin->body[b], at));
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
  *span = (djSpan){.n = 2, .world = true};
  setBodies(span, m->eq_pair[2 * e], m->eq_pair[2 * e + 1]);
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
  if (m->coord_type[c] == DJ_COORD_TENDON) return nextPart(span, at, m, kin, id, order);
  return m->coord_type[c] == DJ_COORD_CRANK && nextCrank(span, at, m, kin, id);
}

// ---- by twists ---------------------------------------------------------------------------------

// A body's twist moves its point by v + w x rho, and the carrier's the other way, as the carrier
// sees it: sides that move point k, with these signs.
typedef struct Movers {
  int n, side[2];
  double sign[2];
  djVec3 rho[2];
} Movers;

static Movers moversOf(const djSpan* span, int k, const djVec3* ref) {
  int both[2] = {span->side[k], span->carrier};
  Movers a = {0};
  for (int i = 0; i < 2; i++) {
    if (both[0] == both[1] || both[i] < 0) continue;
    a.side[a.n] = both[i];
    a.sign[a.n] = i ? -1 : 1;
    a.rho[a.n++] = dju_sub3(span->point[k], ref[span->body[both[i]]]);
  }
  return a;
}

void dj_spanGradient(double* W, const djSpan* span, const djVec3* ref) {
  memset(W, 0, 6 * (size_t)(span->nbody > 2 ? span->nbody : 2) * sizeof(double));
  for (int k = 0; k < span->n; k++) {
    Movers a = moversOf(span, k, ref);
    for (int i = 0; i < a.n; i++) {
      double* w = W + 6 * a.side[i];
      dju_addTo3(w, a.sign[i], dju_cross3(a.rho[i], span->g[k]));
      dju_addTo3(w + 3, a.sign[i], span->g[k]);
    }
  }
  for (int k = 0; k < 2 && span->turns; k++) dju_addTo3(W + 6 * k, k ? -1 : 1, span->turn);
}

djVec3 dj_spanVelocity(djVec3* w, const djSpan* span, int k, const djVec3* ref, const double* z) {
  Movers a = moversOf(span, k, ref);
  djVec3 u = {0, 0, 0};
  *w = u;
  for (int i = 0; i < a.n; i++) {
    const double* twist = z + 6 * span->body[a.side[i]];
    djVec3 turn = dju_load3(twist);
    djVec3 v = dju_add3(dju_load3(twist + 3), dju_cross3(turn, a.rho[i]));
    *w = dju_madd3(*w, a.sign[i], turn);
    u = dju_madd3(u, a.sign[i], v);
  }
  return u;
}

// N += f P^T A Q, P = (-[p] I) and Q = (-[q] I) of points: their motion by a twist.
static void addBetween(double N[36], double f, djVec3 p, djVec3 q, const djMat3* A) {
  djMat3 X = dju_skew(p), Y = dju_skew(q), XA = dju_mulMM(X, *A), AY = dju_mulMM(*A, Y);
  djMat3 XAY = dju_mulMM(XA, Y);
  dju_addBlock6(N, 0, 0, -f, &XAY);
  dju_addBlock6(N, 0, 3, f, &XA);
  dju_addBlock6(N, 3, 0, -f, &AY);
  dju_addBlock6(N, 3, 3, f, A);
}

// Of x = s e . Im(p a) with u = s/2 e . Im(p w a) by w: the nested turns w1, w2 of one body make of
// a or p the product w1 w2/4, s/4 e . Im(p w1 w2 a) = -(w1 . w2) x/4 + u . (w1 x w2)/2.
static void addTurns(djSpanHess* h, const djSpan* span) {
  djMat3 X = dju_skew(span->turn), I = dju_eye3();
  double x = 0.25 * span->value, *K = h->K[dj_spanPair(0, 1)];
  for (int s = 0; s < 2; s++) {
    dju_addBlock6(h->N[s], 0, 0, -x, &I);
    dju_addBlock6(h->N[s], 0, 0, s ? 0.5 : -0.5, &X);
  }
  dju_addBlock6(K, 0, 0, x, &I);
  dju_addBlock6(K, 0, 0, -0.5, &X);
}

// What g adds by nested motions 1 before 2 of a point. Of its body w1 x (w2 x rho + v2); of the
// carrier, whose motion takes it back, w2 x (w1 x rho + v1); of the carrier's 1 and its body's 2,
// -w1 x (w2 x rho + v2).
static void addBent(djSpanHess* h, const Movers* a, djVec3 g) {
  djMat3 F = dju_skew(g);
  for (int i = 0; i < a->n; i++) {
    djMat3 W = {{0}};
    bool back = a->sign[i] < 0;
    if (back) dju_addSkewProduct(&W, 1, a->rho[i], g);
    else dju_addSkewProduct(&W, 1, g, a->rho[i]);
    dju_addBlock6(h->N[a->side[i]], 0, 0, 1, &W);
    dju_addBlock6(h->N[a->side[i]], back ? 3 : 0, back ? 0 : 3, back ? 1 : -1, &F);
  }
  if (a->n < 2) return;
  bool rows = a->side[1] < a->side[0];   // the carrier's
  double* K = h->K[dj_spanPair(a->side[0], a->side[1])];
  djMat3 W = {{0}};
  if (rows) dju_addSkewProduct(&W, -1, g, a->rho[0]);
  else dju_addSkewProduct(&W, -1, a->rho[0], g);
  dju_addBlock6(K, 0, 0, 1, &W);
  dju_addBlock6(K, rows ? 0 : 3, rows ? 3 : 0, rows ? 1 : -1, &F);
}

void dj_spanHessian(djSpanHess* h, const djSpan* span, const djVec3* ref) {
  memset(h, 0, sizeof *h);
  if (span->turns) addTurns(h, span);
  Movers of[3];
  for (int k = 0; k < span->n; k++) {
    of[k] = moversOf(span, k, ref);
    addBent(h, &of[k], span->g[k]);
  }
  for (int n = 0; n < span->n * span->n; n++) {
    const Movers *a = &of[n / span->n], *b = &of[n % span->n];
    const djMat3* A = &span->A[n / span->n][n % span->n];
    for (int i = 0; i < a->n; i++) {
      for (int k = 0; k < b->n; k++) {
        int s = a->side[i], t = b->side[k];
        if (s > t) continue;   // K has it
        double* to = s == t ? h->N[s] : h->K[dj_spanPair(s, t)];
        addBetween(to, a->sign[i] * b->sign[k], a->rho[i], b->rho[k], A);
      }
    }
  }
}

// ---- by dofs -----------------------------------------------------------------------------------

void dj_spanChains(int at[DJ_SPAN_BODY], const djModel* m, const djSpan* span) {
  for (int s = 0; s < span->nbody; s++) at[s] = m->body_lastdof[span->body[s]];
}

int dj_nextSpanDof(bool moves[DJ_SPAN_BODY], int at[DJ_SPAN_BODY], const djModel* m,
                   const djSpan* span) {
  int last = -1, n = 0;
  for (int s = 0; s < span->nbody; s++) last = at[s] > last ? at[s] : last;
  for (int s = 0; s < span->nbody; s++) n += at[s] == last;
  if (last < 0 || (n == span->nbody && !span->world)) return -1;
  for (int s = 0; s < span->nbody; s++) {
    moves[s] = at[s] == last;
    if (moves[s]) at[s] = m->dof_parent[last];
  }
  return last;
}
