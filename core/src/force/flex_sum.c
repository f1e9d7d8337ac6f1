// From vertices to bodies. A vertex at p = X(local) of body b moves with a twist (w, v) about ref
// by P (w, v) = v + w x r, r = p - ref. Of an energy with derivatives f_i, K_ij by vertices,
//   wrench_b = sum P_i^T f_i,
// and the nested second derivative (model/kinematics.h) of bodies a and b is sum P_i^T K_ij P_j,
// for a = b with f . (w1 x (w2 x r + v2)) besides. Of wrenches g_i(x, v) that are no gradient,
//   by the pose of b, twists held: P_i^T (K_ij P_j + R_ij [W_b] P_j), and of the own vertex the
//     change of its arm, (P e) x g;  by the twist: P_i^T R_ij P_j.
// Where three slides alone move a vertex, as in most flexes, its Jacobian is their axes A (3 x 3),
// which do not turn: second derivatives by their dofs are A_i^T K_ij A_j.

#include "force/flex.h"

#include "base/arena.h"
#include "math/block6.h"

#include <string.h>

static void layout(djFlexSum* s, djArena* a, const djModel* m) {
  size_t n = (size_t)m->nflexvert, pairs = (size_t)dj_flexPairCount(m);
  s->slide = dj_take(a, n, sizeof(int));
  s->x = dj_take(a, 3 * n, sizeof(double));
  s->y = dj_take(a, 3 * n, sizeof(double));
  s->f = dj_take(a, 3 * n, sizeof(double));
  s->K = dj_take(a, 9 * (n + 2 * pairs), sizeof(double));
  s->R = dj_take(a, 9 * (n + 2 * pairs), sizeof(double));
  s->vertex = dj_take(a, n, sizeof(bool));
  s->pair = dj_take(a, pairs, sizeof(bool));
}

size_t dj_flexSumSize(const djModel* m) {
  djFlexSum s;
  djArena a = {NULL, 0};
  layout(&s, &a, m);
  return a.used;
}

// The first of three slides that alone move body b, or -1.
static int slideOf(const djModel* m, int b) {
  int first = m->body_lastdof[b] - 2;
  if (first < 0 || m->dof_parent[first] >= 0) return -1;
  for (int i = first; i < first + 3; i++) {
    if (m->jnt_type[m->dof_jnt[i]] != DJ_SLIDE) return -1;
    if (i > first && m->dof_parent[i] != i - 1) return -1;
  }
  return first;
}

djFlexSum dj_initFlexSum(const djModel* m, void* memory) {
  djFlexSum s;
  djArena a = {memory, 0};
  layout(&s, &a, m);
  for (int i = 0; i < m->nflexvert; i++) s.slide[i] = slideOf(m, m->flexvert_body[i]);
  return s;
}

djVec3 dj_flexPlace(const djModel* m, const djKin* kin, int i) {
  return dju_transform(&kin->body[m->flexvert_body[i]], dju_load3(m->flexvert_pos + 3 * i));
}

static void setPlaces(double* x, const djModel* m, const djKin* kin) {
  for (int i = 0; i < m->nflexvert; i++) dju_store3(x + 3 * i, dj_flexPlace(m, kin, i));
}

void dj_setFlexPlaces(djFlexSum* s, const djMotion* at, const double* twist) {
  const djModel* m = at->model;
  setPlaces(s->x, m, at->at.kin);
  if (!twist) {
    setPlaces(s->y, m, at->rate.kin);
    return;
  }
  for (int i = 0; i < m->nflexvert; i++) {
    int b = m->flexvert_body[i];
    djVec3 r = dju_sub3(dju_load3(s->x + 3 * i), at->ref[b]);
    djVec3 turn = dju_cross3(dju_load3(twist + 6 * b), r);
    dju_store3(s->y + 3 * i, dju_add3(dju_load3(twist + 6 * b + 3), turn));
  }
}

void dj_clearFlexSum(djFlexSum* s, const djModel* m, bool rates) {
  s->rates = rates;
  size_t n = (size_t)m->nflexvert, pairs = (size_t)dj_flexPairCount(m);
  memset(s->f, 0, 3 * n * sizeof(double));
  memset(s->vertex, 0, n * sizeof(bool));
  memset(s->pair, 0, pairs * sizeof(bool));
}

// ---- terms -------------------------------------------------------------------------------------

// K += +-(d_e h_b^T) for the ends of edge e and all b, where h_b = sum_k S_ek (+-g_k) over edges k
// that end in b: the sum over pairs of edges, those of one end taken together.
static void addEdges(double K[DJ_FLEX_VERT][DJ_FLEX_VERT][9], const djFlexEdges* s, int n, int e,
                     const djVec3 g[DJ_FLEX_EDGE]) {
  djVec3 h[DJ_FLEX_VERT];
  for (int b = 0; b < n; b++) h[b] = (djVec3){0, 0, 0};
  for (int k = 0; k < s->n; k++) {
    djVec3 *to = &h[s->edge[k][1]], *from = &h[s->edge[k][0]];
    *to = dju_madd3(*to, s->S[e][k], g[k]);
    *from = dju_madd3(*from, -s->S[e][k], g[k]);
  }
  for (int b = 0; b < n; b++) {
    djMat3 A = {{0}};
    double *to = K[s->edge[e][1]][b], *from = K[s->edge[e][0]][b];
    dju_addOuter3(&A, 1, s->d[e], h[b]);
    for (int i = 0; i < 9; i++) to[i] += A.m[i], from[i] -= A.m[i];
  }
}

void dj_sumFlexEdges(djFlexTerm* t, const djFlexEdges* s, int what) {
  for (int i = 0; i < t->n; i++) t->f[i][0] = t->f[i][1] = t->f[i][2] = 0;
  for (int e = 0; e < s->n; e++) {
    const int a = s->edge[e][0], b = s->edge[e][1];
    double w = 0;
    for (int k = 0; k < s->n; k++) w += s->S[e][k] * s->D[k];
    dju_addTo3(t->f[b], w, s->d[e]);
    dju_addTo3(t->f[a], -w, s->d[e]);
    if (!(what & DJ_FLEX_SLOPES)) continue;
    addEdges(t->K, s, t->n, e, s->g);
    if (what & DJ_FLEX_RATES) addEdges(t->R, s, t->n, e, s->r);
    if (what & DJ_FLEX_MAJORIZER) w = fmax(w, 0);
    for (int i = 0; i < 9; i += 4) {
      t->K[a][a][i] += w;
      t->K[b][b][i] += w;
      t->K[a][b][i] -= w;
      t->K[b][a][i] -= w;
    }
  }
}

// Blocks of K and R at the same place; `set`: they are the first.
static void addBlock(double* K, double* R, const djFlexTerm* t, int i, int k, bool set,
                     bool rates) {
  for (int e = 0; e < 9; e++) {
    K[e] = (set ? 0 : K[e]) + t->K[i][k][e];
    if (rates) R[e] = (set ? 0 : R[e]) + t->R[i][k][e];
  }
}

void dj_addFlexTerm(djFlexSum* s, const djFlexTerm* t, const djModel* m, bool slopes) {
  bool rates = s->rates;
  for (int i = 0; i < t->n; i++) {
    size_t v = (size_t)t->vert[i];
    for (int k = 0; k < 3; k++) s->f[3 * v + (size_t)k] += t->f[i][k];
    if (slopes) addBlock(s->K + 9 * v, s->R + 9 * v, t, i, i, !s->vertex[v], rates);
    s->vertex[v] = true;
    for (int k = 0; k < i && slopes; k++) {
      int p = t->pair[dj_flexPair(k, i)];
      int first = !rates && dj_flexPairVertices(m, p)[0] == t->vert[i];
      for (int turn = first; turn < (rates ? 2 : first + 1); turn++) {
        int a = turn ? i : k, b = turn ? k : i;
        addBlock(dj_flexBlock(s->K, m, p, t->vert[a]), dj_flexBlock(s->R, m, p, t->vert[a]), t, a,
                 b, !s->pair[p], rates);
      }
      s->pair[p] = true;
    }
  }
}

// ---- bodies ------------------------------------------------------------------------------------

// A vertex that moves with its body: its arm there. Of one that does not move body is -1.
typedef struct Arm {
  int body;
  djVec3 r;
} Arm;

static Arm armOf(const djModel* m, const double* x, const djVec3* ref, int v) {
  int b = m->flexvert_body[v];
  return (Arm){m->body_lastdof[b] < 0 ? -1 : b, dju_sub3(dju_load3(x + 3 * v), ref[b])};
}

// out (6 x 6) = P_a^T A P_b.
static void between(double out[36], const double* A, djVec3 ra, djVec3 rb) {
  djMat3 F, Ra = dju_skew(ra), Rb = dju_skew(rb), wf, fw, ww;
  memcpy(F.m, A, sizeof F.m);
  wf = dju_mulMM(Ra, F);
  fw = dju_mulMM(F, Rb);
  ww = dju_mulMM(Ra, fw);
  memset(out, 0, 36 * sizeof(double));
  dju_addBlock6(out, 0, 0, -1, &ww);
  dju_addBlock6(out, 0, 3, 1, &wf);
  dju_addBlock6(out, 3, 0, -1, &fw);
  dju_addBlock6(out, 3, 3, 1, &F);
}

static void addTo(double* to, const double* from, int n) {
  for (int k = 0; k < n; k++) to[k] += from[k];
}

static void addTransposed(double* to, const double* from) {
  for (int k = 0; k < 36; k++) to[k] += from[6 * (k % 6) + k / 6];
}

static void wrenchOf(double out[6], djVec3 f, djVec3 r) {
  dju_store3(out, dju_cross3(r, f));
  dju_store3(out + 3, f);
}

// f . (w1 x (w2 x r + v2)).
static void addCurvature(double N[36], djVec3 f, djVec3 r) {
  djMat3 F = dju_skew(f), W = {{0}};
  double s = dju_dot3(f, r);
  W.m[0] = W.m[4] = W.m[8] = -s;
  dju_addOuter3(&W, 1, r, f);
  dju_addBlock6(N, 0, 0, 1, &W);
  dju_addBlock6(N, 0, 3, -1, &F);
}

// Nested second derivative of vertex v.
static void ownBlock(double N[36], const djFlexSum* s, Arm a, int v) {
  between(N, s->K + 9 * (size_t)v, a.r, a.r);
  addCurvature(N, dju_load3(s->f + 3 * v), a.r);
}

void dj_addFlexWrench(double* wrench, const djFlexSum* s, const djMotion* at) {
  const djModel* m = at->model;
  for (int v = 0; v < m->nflexvert; v++) {
    double W[6];
    Arm a = armOf(m, s->x, at->ref, v);
    if (!s->vertex[v] || a.body < 0) continue;
    wrenchOf(W, dju_load3(s->f + 3 * v), a.r);
    addTo(wrench + 6 * a.body, W, 6);
  }
}

// A K B^T, or its transpose; rows of A and B are axes of slides, S and T their subspaces.
static void slideBlock(double out[9], const double* S, const double* K, const double* T,
                       bool transposed) {
  for (int i = 0; i < 3; i++) {
    const double* a = S + 6 * i + 3;
    const double x = a[0] * K[0] + a[1] * K[3] + a[2] * K[6];
    const double y = a[0] * K[1] + a[1] * K[4] + a[2] * K[7];
    const double z = a[0] * K[2] + a[1] * K[5] + a[2] * K[8];
    for (int j = 0; j < 3; j++) {
      const double* b = T + 6 * j + 3;
      out[transposed ? 3 * j + i : 3 * i + j] = x * b[0] + y * b[1] + z * b[2];
    }
  }
}

// The block of slides from i and j on, rows by S, columns by T.
static void addSlides(djMatrix* A, int i, const double* S, int j, const double* T, const double* K,
                      bool transposed) {
  double block[9];
  djBlockView v = dj_blockView(A, transposed ? j : i, transposed ? i : j);
  double* to = dj_viewEntry(&v, transposed ? j : i, transposed ? i : j);
  slideBlock(block, S + 6 * i, K, T + 6 * j, transposed);
  for (int k = 0; k < 3; k++, to += v.stride) {
    for (int l = 0; l < 3; l++) to[l] += block[3 * k + l];
  }
}

void dj_projectFlex(djForceSum* out, const djFlexSum* s, const djMotion* at) {
  const djModel* m = at->model;
  const double* S = at->at.kin->S;
  dj_addFlexWrench(out->wrench, s, at);
  for (int v = 0; v < m->nflexvert; v++) {
    double N[36];
    int i = s->slide[v];
    Arm a = armOf(m, s->x, at->ref, v);
    if (!s->vertex[v] || a.body < 0) continue;
    if (i >= 0) {
      addSlides(out->H, i, S, i, S, s->K + 9 * (size_t)v, false);
      continue;
    }
    ownBlock(N, s, a, v);
    addTo(out->N + 36 * (size_t)a.body, N, 36);
  }
  for (int p = 0; p < dj_flexPairCount(m); p++) {
    if (!s->pair[p]) continue;
    const int *v = dj_flexPairVertices(m, p), i = s->slide[v[0]], j = s->slide[v[1]];
    double K[36];
    if (i >= 0 && j >= 0) {
      addSlides(out->H, i, S, j, S, dj_flexBlock(s->K, m, p, v[0]), i < j);
      continue;
    }
    Arm a = armOf(m, s->x, at->ref, v[0]), b = armOf(m, s->x, at->ref, v[1]);
    if (a.body < 0 || b.body < 0) continue;
    between(K, dj_flexBlock(s->K, m, p, v[0]), a.r, b.r);
    if (a.body != b.body) {
      dj_projectCross(out->H, m, at->at.kin, a.body, b.body, K);
      continue;
    }
    addTo(out->N + 36 * (size_t)a.body, K, 36);
    addTransposed(out->N + 36 * (size_t)a.body, K);
  }
}

// ---- by rates ----------------------------------------------------------------------------------

// Calls f of blocks of vertices v and w, both of which move, in both orders, and of each and
// itself.
typedef void (*djFlexVisit)(void* user, int v, int w, Arm a, Arm b, const double* K,
                            const double* R);

static void visit(void* user, const djFlexSum* s, const djModel* m, const djVec3* ref,
                  djFlexVisit f) {
  for (int v = 0; v < m->nflexvert; v++) {
    Arm a = armOf(m, s->x, ref, v);
    if (s->vertex[v] && a.body >= 0) f(user, v, v, a, a, s->K + 9 * v, s->R + 9 * v);
  }
  for (int p = 0; p < dj_flexPairCount(m); p++) {
    if (!s->pair[p]) continue;
    const int* v = dj_flexPairVertices(m, p);
    Arm a = armOf(m, s->x, ref, v[0]), b = armOf(m, s->x, ref, v[1]);
    if (a.body < 0 || b.body < 0) continue;
    const double *K = dj_flexBlock(s->K, m, p, v[0]), *turned = dj_flexBlock(s->K, m, p, v[1]);
    double other[9];
    for (int k = 0; k < 9; k++) other[k] = s->rates ? turned[k] : K[3 * (k % 3) + k / 3];
    f(user, v[0], v[1], a, b, K, dj_flexBlock(s->R, m, p, v[0]));
    f(user, v[1], v[0], b, a, other, dj_flexBlock(s->R, m, p, v[1]));
  }
}

typedef struct Rates {
  djStartSum* out;
  djForceSum* sum;
  djTwistForces* twist;
  djParamSums* params;
  double* scratch;
  const djFlexSum* s;
  const djMotion* at;
} Rates;

// Of the wrench on a by the pose of b at `rate`.
static void rateBlock(double M[36], const Rates* x, Arm a, int w, const double* R) {
  Arm from = armOf(x->at->model, x->s->y, x->at->ref, w);
  between(M, R, a.r, from.r);
}

static void addRate(void* user, int v, int w, Arm a, Arm b, const double* K, const double* R) {
  (void)K;
  const Rates* x = user;
  double M[36];
  int i = x->s->slide[v], j = x->s->slide[w];
  if (i >= 0 && j >= 0) {
    addSlides(x->out->Rrate, i, x->at->at.kin->S, j, x->at->rate.kin->S, R, false);
    return;
  }
  rateBlock(M, x, a, w, R);
  if (a.body == b.body)
    addTo(x->out->Nrate + 36 * (size_t)a.body, M, 36);
  else
    dj_projectCrossMixed(x->out->Rrate, x->at->model, x->at->at.kin, x->at->rate.kin, a.body,
                         b.body, M);
}

void dj_projectFlexRates(djStartSum* out, const djFlexSum* s, const djMotion* at) {
  Rates x = {.out = out, .s = s, .at = at};
  visit(&x, s, at->model, at->ref, addRate);
}

// By poses, twists held, and by twists.
static void twistBlocks(double K6[36], double T6[36], const Rates* x, int v, int w, Arm a, Arm b,
                        const double* K, const double* R) {
  djMat3 A, by, turned;
  memcpy(by.m, R, sizeof by.m);
  turned = dju_mulMM(by, dju_skew(dju_load3(x->twist->V + 6 * b.body)));
  for (int k = 0; k < 9; k++) A.m[k] = K[k] + turned.m[k];
  between(K6, A.m, a.r, b.r);
  between(T6, R, a.r, b.r);
  if (v != w) return;
  // (v + w x r) x g = -[g] v + [g][r] w
  djVec3 g = dju_load3(x->s->f + 3 * v);
  djMat3 G = dju_skew(g), W = dju_mulMM(G, dju_skew(a.r));
  dju_addBlock6(K6, 0, 0, 1, &W);
  dju_addBlock6(K6, 0, 3, -1, &G);
}

static void addTwist(void* user, int v, int w, Arm a, Arm b, const double* K, const double* R) {
  const Rates* x = user;
  double K6[36], T6[36];
  twistBlocks(K6, T6, x, v, w, a, b, K, R);
  dj_addWrenchBy(x->twist, x->sum->H, x->at, a.body, b.body, K6, T6);
}

void dj_projectFlexTwists(djForceSum* out, djTwistForces* twist, const djFlexSum* s,
                          const djMotion* at) {
  const djModel* m = at->model;
  Rates x = {.sum = out, .twist = twist, .s = s, .at = at};
  dj_addFlexWrench(twist->W, s, at);
  if (out->matrices) visit(&x, s, m, at->ref, addTwist);
}

static void addTwistRate(void* user, int v, int w, Arm a, Arm b, const double* K, const double* R) {
  (void)v, (void)w, (void)K;
  const Rates* x = user;
  double T6[36];
  between(T6, R, a.r, b.r);
  dj_addWrenchByRate(x->out->twist, x->out, x->at, a.body, b.body, T6);
}

void dj_projectFlexTwistRates(djStartSum* out, const djFlexSum* s, const djMotion* at) {
  Rates x = {.out = out, .s = s, .at = at};
  visit(&x, s, at->model, at->ref, addTwistRate);
}

// ---- cotangents --------------------------------------------------------------------------------

static void addCotangent(void* user, int v, int w, Arm a, Arm b, const double* K, const double* R) {
  const Rates* x = user;
  djParamSums* out = x->params;
  double N[36], M[36], g[6];
  between(N, K, a.r, b.r);
  if (v == w) {
    djVec3 f = dju_load3(x->s->f + 3 * v);
    addCurvature(N, f, a.r);
    wrenchOf(g, f, a.r);
    addTo(out->W + 6 * a.body, g, 6);
  }
  dju_mulAdd6(out->C + 6 * a.body, N, 6, out->x + 6 * b.body, false);
  if (!x->s->rates) return;
  rateBlock(M, x, a, w, R);
  double* Crate = dj_rateCotangents(out, x->at);
  dju_mulAdd6(Crate + 6 * b.body, M, 6, out->x + 6 * a.body, true);
}

void dj_flexCotangents(djParamSums* out, const djFlexSum* s, const djMotion* at) {
  Rates x = {.params = out, .s = s, .at = at};
  visit(&x, s, at->model, at->ref, addCotangent);
}

// y and t of bodies, see dj_addTwistCotangent, into scratch (nbody x 18), and g.
static void addTwistProduct(void* user, int v, int w, Arm a, Arm b, const double* K,
                            const double* R) {
  const Rates* x = user;
  double K6[36], T6[36], g[6], *to = x->scratch + 18 * (size_t)b.body;
  twistBlocks(K6, T6, x, v, w, a, b, K, R);
  dju_mulAdd6(to, K6, 6, x->params->x + 6 * a.body, true);
  dju_mulAdd6(to + 6, T6, 6, x->params->x + 6 * a.body, true);
  if (v != w) return;
  wrenchOf(g, dju_load3(x->s->f + 3 * v), a.r);
  addTo(to + 12, g, 6);
}

void dj_flexTwistCotangents(djParamSums* out, double* scratch, const djFlexSum* s,
                            const djMotion* at) {
  const djModel* m = at->model;
  Rates x = {.params = out, .twist = out->twist, .scratch = scratch, .s = s, .at = at};
  memset(scratch, 0, (size_t)m->nbody * 18 * sizeof(double));
  visit(&x, s, m, at->ref, addTwistProduct);
  for (int b = 1; b < m->nbody; b++) {
    const double* from = scratch + 18 * (size_t)b;
    if (m->body_lastdof[b] < 0) continue;
    addTo(out->W + 6 * b, from + 12, 6);
    dj_addTwistCotangent(out->twist, out, b, from, from + 6, from + 12);
  }
}
