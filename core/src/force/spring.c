// Springs: f = -(a x + b x^2 + c x^3) along coordinates, x from their rest; the same law along the
// distance of a free or ball joint's translation and rotation from theirs.
//
// A tendon rests between two lengths lo < hi, and x is what exceeds them. Within w = (hi - lo)/1000
// of either, x is a ramp whose corner is rounded off, C2: see dju_smoothRamp.

#include "force/radial.h"

#include "math/so3.h"
#include "model/param.h"

#include <string.h>

#define DEAD_WIDTH 1e-3   // over the width of the dead band

static bool springsOff(const djModel* m) { return (m->opt.disable & DJ_DSBL_SPRING) != 0; }

// Coefficients.
typedef struct Law {
  double a, b, c;
} Law;

static Law lawOf(const double* stiffness, const double* poly) {
  return (Law){*stiffness, poly[0], poly[1]};
}

static Law jointLaw(const djModel* m, int j) {
  return lawOf(m->jnt_stiffness + j, m->jnt_stiffnesspoly + 2 * j);
}

static Law linkLaw(const djModel* m, int c) {
  return lawOf(DJ_LINK(m, c, stiffness, 1), DJ_LINK(m, c, stiffnesspoly, 2));
}

static bool isSpring(Law l) { return l.a != 0 || l.b != 0 || l.c != 0; }

static djJet potentialAt(Law l, double x) {
  return (djJet){x * x * (l.a / 2 + x * (l.b / 3 + x * l.c / 4)), x * (l.a + x * (l.b + x * l.c)),
                 l.a + x * (2 * l.b + x * 3 * l.c)};
}

// ---- dead band --------------------------------------------------------------------------------

// Integral of the force from -w to x < w: a polynomial of degree 12, by Gauss' rule of 7 points.
static double onsetEnergy(Law l, double x, double w) {
  static const double node[4] = {0, 0.405845151377397166907, 0.741531185599394439864,
                                 0.949107912342758524526};
  static const double weight[4] = {0.417959183673469387755, 0.381830050505118944950,
                                   0.279705391489276667901, 0.129484966168869693271};
  double half = 0.5 * (x + w), sum = 0;
  for (int k = -3; k <= 3; k++) {
    int i = k < 0 ? -k : k;
    double y = -w + half * (1 + (k < 0 ? -node[i] : node[i]));
    sum += weight[i] * potentialAt(l, dju_smoothRamp(y, w).f).d;
  }
  return half * sum;
}

// A jet by the excess e over one end of the band; force by the width too.
static djJet excessAt(double* by_width, Law l, double e, double w) {
  *by_width = 0;
  if (e <= -w) return (djJet){0, 0, 0};
  djJet V = potentialAt(l, e);
  if (e >= w) {
    V.f += onsetEnergy(l, w, w) - potentialAt(l, w).f;
    return V;
  }
  djJet x = dju_smoothRamp(e, w);
  V = potentialAt(l, x.f);
  *by_width = V.dd * (x.f - e * x.d) / w;
  return (djJet){onsetEnergy(l, e, w), V.d, V.dd * x.d};
}

// ---- from rest --------------------------------------------------------------------------------

// Where a coordinate's spring is at rest: one number, or two.
typedef struct Rest {
  double lo, hi;
} Rest;

static Rest restOf(const djModel* m, int c) {
  int id = m->coord_id[c];
  if (m->coord_type[c] == DJ_COORD_TENDON) {
    return (Rest){m->tendon_lengthspring[2 * id], m->tendon_lengthspring[2 * id + 1]};
  }
  double rest = m->qpos_spring[m->jnt_qposadr[id]];
  return (Rest){rest, rest};
}

// Below the band the law is that of x < 0: f(x) = -g(-x) with b -> -b.
static djJet scalarAt(Law l, Rest rest, double x) {
  double by_width;
  if (!(rest.lo < rest.hi)) return potentialAt(l, x - rest.hi);
  double w = DEAD_WIDTH * (rest.hi - rest.lo);
  if (x - rest.lo > rest.hi - x) return excessAt(&by_width, l, x - rest.hi, w);
  l.b = -l.b;
  djJet V = excessAt(&by_width, l, rest.lo - x, w);
  V.d = -V.d;
  return V;
}

// The slope at x by both ends of the rest: where they are one, by the end on x's side.
static void slopeByRest(double by[2], Law l, Rest rest, double x) {
  double by_width = 0, width = rest.hi - rest.lo, w = DEAD_WIDTH * width;
  bool above = x - rest.lo > rest.hi - x;
  double sign = above ? 1 : -1, e = above ? x - rest.hi : rest.lo - x;
  by[0] = by[1] = 0;
  l.b *= sign;
  by[above] = -(width > 0 ? excessAt(&by_width, l, e, w) : potentialAt(l, e)).dd;
  by[0] -= sign * DEAD_WIDTH * by_width;
  by[1] += sign * DEAD_WIDTH * by_width;
}

// And by the stiffness: the signed excess.
static double slopeByStiffness(Rest rest, double x) {
  const Law unit = {1, 0, 0};
  return scalarAt(unit, rest, x).d;
}

// ---- start of a step --------------------------------------------------------------------------

// State: of each coordinate, then of each joint that has none (its law alone).
typedef struct Spring {
  bool acts;
  Law law;
  Rest rest;
} Spring;

static size_t size(const djModel* m) {
  return ((size_t)m->ncoord + (size_t)m->njnt) * sizeof(Spring);
}

static djStatus begin(void* state, const djMotion* at, djError* err) {
  (void)err;
  const djModel* m = at->model;
  bool off = springsOff(m);
  Spring* s = state;
  for (int c = 0; c < dj_linkCoordinates(m); c++, s++) {
    s->law = linkLaw(m, c);
    s->acts = !off && isSpring(s->law);
    if (s->acts) s->rest = restOf(m, c);
  }
  s = (Spring*)state + m->ncoord;
  for (int j = 0; j < m->njnt; j++, s++) {
    s->law = jointLaw(m, j);
    s->acts = !off && m->jnt_coord[j] < 0 && isSpring(s->law);
  }
  return DJ_OK;
}

// ---- free and ball joints ---------------------------------------------------------------------

static djVec3 shift(const djMotion* at, int j) {
  int a = at->model->jnt_qposadr[j];
  return dju_sub3(dju_load3(at->at.q + a), dju_load3(at->model->qpos_spring + a));
}

static djVec3 turn(const djMotion* at, int j) {
  int a = dj_rotationQpos(at->model, j);
  djQuat rest = dju_normalizeQuat(dju_loadQuat(at->model->qpos_spring + a));
  djQuat q = dju_normalizeQuat(dju_loadQuat(at->at.q + a));
  return dju_logQuat(dju_mulQuat(dju_conj(rest), q));
}

// ---- forces -----------------------------------------------------------------------------------

static void addTranslation(djForceSum* sum, Law law, const djMotion* at, int j) {
  djVec3 x = shift(at, j);
  double r = dju_norm3(x), y[3] = {0}, Y[9] = {0};
  dj_addRadial(y, Y, &sum->value, potentialAt(law, r), x, r);
  if (sum->derivatives) dj_addFlat(sum, at->model->jnt_dofadr[j], y, Y);
}

static void addTurn(djForceSum* sum, Law law, const djMotion* at, int j) {
  djVec3 x = turn(at, j);
  double r = dju_norm3(x), y[3] = {0}, Y[9] = {0};
  dj_addRadial(y, Y, &sum->value, potentialAt(law, r), x, r);
  if (sum->derivatives) dj_addRotation(sum, dj_rotationDof(at->model, j), x, y, Y);
}

static djStatus evaluate(djForceSum* sum, void* state, const djMotion* at) {
  const djModel* m = at->model;
  const Spring* s = state;
  for (int c = 0; c < dj_linkCoordinates(m); c++, s++) {
    if (!s->acts) continue;
    djJet V = scalarAt(s->law, s->rest, at->at.coord->x[c]);
    sum->value += V.f;
    sum->f[c] += V.d;
    sum->k[c] += V.dd;
  }
  s = (const Spring*)state + m->ncoord;
  for (int j = 0; j < m->njnt; j++, s++) {
    if (!s->acts) continue;
    if (dj_jointRow(m, j)->pose) addTranslation(sum, s->law, at, j);
    addTurn(sum, s->law, at, j);
  }
  return DJ_OK;
}

static double potential(const djMotion* at) {
  const djModel* m = at->model;
  double sum = 0;
  if (springsOff(m)) return 0;
  for (int c = 0; c < dj_linkCoordinates(m); c++) {
    Law law = linkLaw(m, c);
    if (isSpring(law)) sum += scalarAt(law, restOf(m, c), at->at.coord->x[c]).f;
  }
  for (int j = 0; j < m->njnt; j++) {
    Law law = jointLaw(m, j);
    if (m->jnt_coord[j] >= 0 || !isSpring(law)) continue;
    sum += potentialAt(law, dju_norm3(turn(at, j))).f;
    if (dj_jointRow(m, j)->pose) sum += potentialAt(law, dju_norm3(shift(at, j))).f;
  }
  return sum;
}

// ---- parameters -------------------------------------------------------------------------------

// V'(|x|) x/|x|, x = p - ref: by the stiffness x, by ref minus the curvature.
static void translationParams(double* stiffness, double* ref, const djMotion* at, int j,
                              djVec3 z) {
  djVec3 x = shift(at, j);
  double r = dju_norm3(x), y[3] = {0}, value = 0;
  djMat3 Y = {{0}};
  dj_addRadial(y, Y.m, &value, potentialAt(jointLaw(at->model, j), r), x, r);
  *stiffness += dju_dot3(z, x);
  dju_store3(ref, dju_sub3(dju_load3(ref), dju_mulMtV(Y, z)));
}

// x = log(ref^-1 q): by the stiffness (J_r^-1 z) . x = z . x; by ref exp(w), -K J_r^-T
// (dju_pullback), transposed.
static void turnParams(double* stiffness, double* ref, const djMotion* at, int j, djVec3 z) {
  djVec3 x = turn(at, j), G;
  double r = dju_norm3(x), y[3] = {0}, value = 0;
  djMat3 Y = {{0}}, K;
  dj_addRadial(y, Y.m, &value, potentialAt(jointLaw(at->model, j), r), x, r);
  dju_pullback(&G, &K, x, dju_load3(y), &Y);
  *stiffness += dju_dot3(z, x);
  dju_store3(ref, dju_sub3(dju_load3(ref), dju_mulMV(dju_rightJacobianInv(x), dju_mulMtV(K, z))));
}

static djStatus params(djParamSums* sums, void* state, const djMotion* at, const double* z,
                       const double* zeta) {
  (void)state, (void)zeta;
  const djModel* m = at->model;
  if (springsOff(m)) return DJ_OK;
  djLinkBlocks stiffnesses = dj_linkBlocks(sums->param, m, DJ_FIELD_JOINT_STIFFNESS,
                                           DJ_FIELD_TENDON_STIFFNESS);
  double* stiffness = stiffnesses.block[DJ_COORD_JOINT];
  double* ref = dj_paramBlock(sums->param, m, DJ_FIELD_JOINT_SPRINGREF);
  double* lengths = dj_paramBlock(sums->param, m, DJ_FIELD_TENDON_SPRINGLENGTH);
  for (int c = 0; c < dj_linkCoordinates(m); c++) {
    double by[2], x = at->at.coord->x[c], along = dj_coordinateRate(at->at.coord, m, c, z);
    Rest rest = restOf(m, c);
    *dj_linkEntry(&stiffnesses, m, c, 1) += along * slopeByStiffness(rest, x);
    slopeByRest(by, linkLaw(m, c), rest, x);
    if (m->coord_type[c] == DJ_COORD_JOINT) {
      ref[m->coord_dof[m->coord_dofadr[c]]] += along * (by[0] + by[1]);
      continue;
    }
    for (int k = 0; k < 2; k++) lengths[2 * m->coord_id[c] + k] += along * by[k];
  }
  for (int j = 0; j < m->njnt; j++) {
    int dof = m->jnt_dofadr[j];
    if (m->jnt_coord[j] >= 0) continue;
    if (dj_jointRow(m, j)->pose) {
      translationParams(&stiffness[j], ref + dof, at, j, dju_load3(z + dof));
    }
    dof = dj_rotationDof(m, j);
    turnParams(&stiffness[j], ref + dof, at, j, dju_load3(z + dof));
  }
  return DJ_OK;
}

const djForceRow dj_springForce = {
    .name = "spring",
    .along = true,
    .size = size,
    .begin = begin,
    .evaluate = evaluate,
    .params = params,
    .params_of = DJ_BY_LAW,
    .potential = potential};
