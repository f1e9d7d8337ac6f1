// Actuators on bodies: adhesion. The force p (there is no length) pulls the body's geoms towards
// those that they touch, along the normals of contact, and these as much towards the body: over the
// pairs k of its geoms with others, of which it takes the shares
//   f_k = p R(S) w_k,   S = sum of w_k,   R(S) = T(S)/S,
// with weights w_k of the gap g_k of contact shapes: 1 up to where contact forces begin, 0 beyond
// twice that, a quintic between; T = S^3 (10 - 15 S + 6 S^2) up to S = 1, then 1. So where one pair
// touches the shares add up to p, and all is C2. The pair's potential would be f_k g_k: both bodies
// get -f_k dg_k/dtwist,
//   G = dg/dtwist = (-(x_a - ref_a) x n, -n, (x_b - ref_b) x n, n),
// which keeps momentum, as the points x_a and x_b lie on the normal n. Gaps, points and normals are
// those of shapes whose edges are rounded (shape/soft_distance.h), so that they have derivatives.
// A smooth force by the start of the step, as in MuJoCo.

#include "force/actuator.h"
#include "force/forces.h"
#include "force/twist_force.h"
#include "shape/soft_distance.h"

#include "base/arena.h"

#include <string.h>

#define ROUNDING 0.5   // of edges, as a part of the range of contact

typedef struct djAdhesionPair {
  int actuator, kernel, use;
  int geom[2], body[2];   // the second one may be a plane
  bool near;              // w, dw or both are not 0
  double range;
  double w, dw;
  double G[12];           // of the gap
} Pair;

int dj_firstAdhesion(const djModel* m) {
  for (int i = 0; i < m->nu && !dj_actuatorsOff(m); i++) {
    if (m->actuator_body[i] >= 0) return i;
  }
  return -1;
}

// ---- pairs ------------------------------------------------------------------------------------

static bool isPlane(const djModel* m, int geom) { return m->geom_type[geom] == DJ_PLANE; }

// Of actuator i, into pair, which may be NULL: how many.
static int listPairs(Pair* pair, const djModel* m, int i) {
  int b = m->actuator_body[i], n = 0, first = b < 0 ? 0 : m->body_geomadr[b];
  int end = b < 0 ? 0 : first + m->body_geomnum[b];
  for (int g = first; g < end && m->collision; g++) {
    for (int h = 0; h < m->ngeom; h++) {
      if (g == h || !dj_isContactPair(m, g, h) || (isPlane(m, g) && isPlane(m, h))) continue;
      if (m->geom_type[g] == DJ_HFIELD || m->geom_type[h] == DJ_HFIELD) continue;
      if (pair) {
        bool swap = isPlane(m, g);
        Pair* p = &pair[n];
        *p = (Pair){.actuator = i, .kernel = dj_pairKernel(m, g, h),
                    .geom = {swap ? h : g, swap ? g : h}};
        p->use = dj_useOf(m->collision, p->kernel);
        for (int s = 0; s < 2; s++) p->body[s] = m->geom_body[p->geom[s]];
      }
      n++;
    }
  }
  return n;
}

void dj_layoutAdhesion(djActuators* t, djArena* a, const djModel* m) {
  t->npair = 0;
  for (int i = 0; i < m->nu; i++) t->npair += listPairs(NULL, m, i);
  t->maxvert = t->npair > 0 ? m->collision->maxvert : 0;
  t->pair = dj_take(a, t->npair, sizeof *t->pair);
  t->soft = dj_take(a, 8 * (size_t)t->maxvert, sizeof(double));
}

void dj_makeAdhesion(djActuators* t, const djModel* m) {
  int n = 0;
  for (int i = 0; i < m->nu; i++) n += listPairs(t->pair + n, m, i);
}

static const djShape* shapeOf(const djModel* m, const Pair* p, int s) {
  return &m->collision->shape[p->use * m->ngeom + p->geom[s]];
}

// Contact acts up to here; where it does by depth alone, a part of the shapes' size.
static double rangeOf(const djModel* m, const Pair* p) {
  double setting[DJ_MAX_OF_KERNEL];
  dj_pairSettings(setting, m, p->kernel, p->geom[0], p->geom[1]);
  double range = dj_kernel(p->kernel)->range(setting);
  double inner = fmin(shapeOf(m, p, 0)->inner, shapeOf(m, p, 1)->inner);
  if (isfinite(range) && range > 0) return range;
  return 0.01 * (isfinite(inner) && inner > 0 ? inner : 1);
}

// A lower bound of the gap.
static double leastGap(const djModel* m, const Pair* p, const djKin* kin) {
  const djShape *a = shapeOf(m, p, 0), *b = shapeOf(m, p, 1);
  djVec3 from = dju_transform(&kin->body[p->body[0]], a->center);
  const djPose* pose = &kin->body[p->body[1]];
  if (b->type == DJ_PLANE) {
    djVec3 n = dju_mulMV(pose->R, b->normal);
    return dju_dot3(n, dju_sub3(from, pose->p)) - b->offset - a->bound;
  }
  djVec3 way = dju_sub3(dju_transform(pose, b->center), from);
  return dju_norm3(way) - a->bound - b->bound;
}

// False: there is no normal.
static bool findGap(djSoftGap* gap, const djActuators* t, const Pair* p, const djMotion* at) {
  const djModel* m = at->model;
  const djKin* kin = at->at.kin;
  djSoft soft[2];
  double* mem = t->soft;
  for (int s = 0; s < 2; s++) {
    const djShape* shape = shapeOf(m, p, s);
    if (shape->type < 0 || shape->npad > t->maxvert) return false;
    dj_softenShape(&soft[s], mem, shape, shape->nvert, ROUNDING * p->range);
    mem += 4 * t->maxvert;
  }
  return dj_softDistance(gap, &soft[0], &kin->body[p->body[0]], &soft[1],
                         &kin->body[p->body[1]]) >= 0;
}

static bool touches(const djModel* m) {
  return dj_ownContact(m) && !(m->opt.disable & DJ_DSBL_CONTACT);
}

// The step from 1 at the range to 0 at twice that.
static void setWeight(Pair* p, double gap) {
  djJet fall = dju_smoothStep(gap / p->range - 1);
  p->w = 1 - fall.f;
  p->dw = -fall.d / p->range;
  p->near = p->w != 0 || p->dw != 0;
}

void dj_beginAdhesion(djActuators* t, const djMotion* at) {
  const djModel* m = at->model;
  bool on = at->acting == DJ_ACTS_SMOOTH && !dj_actuatorsOff(m) && touches(m);
  for (int k = 0; k < t->npair; k++) {
    Pair* p = &t->pair[k];
    djSoftGap gap;
    p->near = false;
    if (!on || leastGap(m, p, at->at.kin) > 2 * m->collision->range[p->use]) continue;
    p->range = rangeOf(m, p);
    if (leastGap(m, p, at->at.kin) > 2 * p->range || !findGap(&gap, t, p, at)) continue;
    setWeight(p, gap.gap);
  }
}

// ---- forces -----------------------------------------------------------------------------------

// Column w of a twist about ref from those about a pose's position, rows apart.
static void moveColumns(double* A, int rows, int side, djVec3 arm) {
  for (int r = 0; r < rows; r++) {
    double* x = A + 12 * r + 6 * side;
    djVec3 more = dju_cross3(arm, dju_load3(x + 3));   // v . (w x arm) = w . (arm x v)
    dju_addTo3(x, 1, more);
  }
}

// G, and J (12 x 12) by twists, or NULL.
static bool findSlope(Pair* p, double* J, const djActuators* t, const djMotion* at) {
  djSoftGap gap;
  double by[12], n[36], x[72];
  if (!findGap(&gap, t, p, at)) return false;
  djVec3 origin = at->at.kin->body[p->body[0]].p;
  dj_softTwists(by, n, x, x + 36, &gap);
  for (int s = 0; s < 2; s++) {
    djVec3 arm = dju_sub3(at->at.kin->body[p->body[s]].p, at->ref[p->body[s]]);
    moveColumns(n, 3, s, arm);
    moveColumns(x, 6, s, arm);
  }
  for (int s = 0; s < 2; s++) {
    double sign = s ? 1 : -1, *G = p->G + 6 * s;
    djVec3 point = dju_add3(origin, s ? gap.point_b : gap.point_a);
    djVec3 arm = dju_sub3(point, at->ref[p->body[s]]);
    dju_store3(G, dju_scale3(sign, dju_cross3(arm, gap.normal)));
    dju_store3(G + 3, dju_scale3(sign, gap.normal));
    for (int c = 0; c < 12 && J; c++) {
      const double* dx = x + 36 * s + c;
      djVec3 dn = {n[c], n[12 + c], n[24 + c]}, darm = {dx[0], dx[12], dx[24]};
      djVec3 turn = dju_add3(dju_cross3(darm, gap.normal), dju_cross3(arm, dn));
      const double row[6] = {turn.x, turn.y, turn.z, dn.x, dn.y, dn.z};
      for (int r = 0; r < 6; r++) J[12 * (6 * s + r) + c] = sign * row[r];
    }
  }
  return true;
}

// Those of one actuator: first to end - 1; S.
typedef struct Share {
  int first, end;
  double R, dR;
} Share;

static bool nextShare(Share* s, const djActuators* t) {
  s->first = s->end;
  if (s->first == t->npair) return false;
  double S = 0;
  int i = t->pair[s->first].actuator;
  for (; s->end < t->npair && t->pair[s->end].actuator == i; s->end++) {
    if (t->pair[s->end].near) S += t->pair[s->end].w;
  }
  s->R = S < 1 ? S * S * (10 + S * (6 * S - 15)) : 1 / S;
  s->dR = S < 1 ? S * (20 + S * (24 * S - 45)) : -1 / (S * S);
  return true;
}

static djJet forceOf(const djActuators* t, const djModel* m, int i) {
  return dj_clampForce(&t->act[i], m, i, t->act[i].alpha);
}

static bool moves(const djModel* m, int body) { return m->body_lastdof[body] >= 0; }

static void copyBlock(double K[36], const double* from, int r, int s) {
  for (int e = 0; e < 36; e++) K[e] = from[12 * (6 * r + e / 6) + 6 * s + e % 6];
}

// K (36) += f g u^T
static void addOuter6(double* K, double f, const double* g, const double* u) {
  for (int e = 0; e < 36; e++) K[e] += f * g[e / 6] * u[e % 6];
}

// Visits df_k G_k by body c of pair l: K of body b, for all of one actuator. f: p.
typedef void (*Visit)(void* user, int a, int b, double K[36]);

static void visitSlopes(Visit visit, void* user, const Share* s, const djActuators* t,
                        const djMotion* at, double f) {
  for (int k = s->first; k < s->end; k++) {
    Pair* p = &t->pair[k];
    double J[144];
    if (!p->near || !findSlope(p, J, t, at)) continue;
    for (int e = 0; e < 4; e++) {
      double K[36];
      copyBlock(K, J, e / 2, e % 2);
      for (int i = 0; i < 36; i++) K[i] *= f * s->R * p->w;
      addOuter6(K, f * s->R * p->dw, p->G + 6 * (e / 2), p->G + 6 * (e % 2));
      visit(user, p->body[e / 2], p->body[e % 2], K);
    }
    for (int l = s->first; l < s->end; l++) {
      const Pair* q = &t->pair[l];
      for (int e = 0; e < 4 && q->near && q->dw != 0; e++) {
        double K[36] = {0};
        addOuter6(K, f * s->dR * p->w * q->dw, p->G + 6 * (e / 2), q->G + 6 * (e % 2));
        visit(user, p->body[e / 2], q->body[e % 2], K);
      }
    }
  }
}

typedef struct Adding {
  djForceSum* sum;
  const djMotion* at;
} Adding;

static void addSlope(void* user, int a, int b, double K[36]) {
  const Adding* x = user;
  const double none[36] = {0};
  if (!moves(x->at->model, a) || !moves(x->at->model, b)) return;
  dj_addWrenchBy(x->sum->twist, x->sum->H, x->at, a, b, K, none);
}

// All G, which slopes of others need.
static bool openShare(const Share* s, const djActuators* t, const djMotion* at) {
  bool any = false;
  for (int k = s->first; k < s->end; k++) {
    Pair* p = &t->pair[k];
    if (p->near && !findSlope(p, NULL, t, at)) p->near = false;
    any |= p->near;
  }
  return any;
}

void dj_addAdhesion(djForceSum* sum, const djActuators* t, const djMotion* at) {
  const djModel* m = at->model;
  Share s = {0};
  while (nextShare(&s, t)) {
    if (!openShare(&s, t, at)) continue;
    double f = forceOf(t, m, t->pair[s.first].actuator).f;
    Adding add = {sum, at};
    dj_openTwistForces(sum->twist, at);
    for (int k = s.first; k < s.end; k++) {
      const Pair* p = &t->pair[k];
      for (int e = 0; e < 12 && p->near; e++) {
        int body = p->body[e / 6];
        if (moves(m, body)) sum->twist->W[6 * body + e % 6] += f * s.R * p->w * p->G[e];
      }
    }
    visitSlopes(addSlope, &add, &s, t, at, f);
  }
}

void dj_coupleAdhesion(djPattern* pattern, const djActuators* t, const djModel* m) {
  Share s = {0};
  while (nextShare(&s, t)) {
    for (int k = s.first; k < s.end; k++) {
      for (int l = s.first; l <= k && t->pair[k].near; l++) {
        for (int e = 0; e < 4 && t->pair[l].near; e++) {
          int a = m->body_lastdof[t->pair[k].body[e / 2]];
          int b = m->body_lastdof[t->pair[l].body[e % 2]];
          if (a >= 0 && b >= 0) dj_coupleRows(pattern, a, b);
        }
      }
    }
  }
}

void dj_adhesionInput(djInputSum* sum, const djActuators* t, const djMotion* at, int i,
                      djSignal signal) {
  const djModel* m = at->model;
  Share s = {0};
  while (nextShare(&s, t)) {
    if (t->pair[s.first].actuator != i || !openShare(&s, t, at)) continue;
    double dp = forceOf(t, m, i).d * signal.step->gain[0];
    for (int k = s.first; k < s.end; k++) {
      const Pair* p = &t->pair[k];
      for (int e = 0; e < 2 && p->near; e++) {
        for (int dof = m->body_lastdof[p->body[e]]; dof >= 0; dof = m->dof_parent[dof]) {
          double along = dju_dotRow6(p->G + 6 * e, at->at.kin->S + 6 * dof);
          dj_addInput(sum, signal.step, signal.from, dof, dp * s.R * p->w * along);
        }
      }
    }
  }
}

// ---- parameters -------------------------------------------------------------------------------

typedef struct Turning {
  djParamSums* sums;
} Turning;

static void addCotangent(void* user, int a, int b, double K[36]) {
  djParamSums* sums = ((Turning*)user)->sums;
  dju_mulAdd6(sums->C + 6 * b, K, 6, sums->x + 6 * a, true);
}

double dj_adhesionParams(bool* any, djParamSums* sums, const djActuators* t, const djMotion* at,
                         int i) {
  const djModel* m = at->model;
  const double none[6] = {0};
  double by_p = 0;
  Share s = {0};
  *any = false;
  while (nextShare(&s, t)) {
    if (t->pair[s.first].actuator != i || !openShare(&s, t, at)) continue;
    djJet f = forceOf(t, m, i);
    *any = true;
    dj_openTwistForces(sums->twist, at);
    for (int k = s.first; k < s.end; k++) {
      const Pair* p = &t->pair[k];
      for (int e = 0; e < 2 && p->near; e++) {
        int body = p->body[e];
        double g[6], share = s.R * p->w;
        for (int r = 0; r < 6; r++) g[r] = f.f * share * p->G[6 * e + r];
        by_p += f.d * share * dju_dotRow6(p->G + 6 * e, sums->x + 6 * body);
        for (int r = 0; r < 6; r++) sums->W[6 * body + r] += g[r];
        dj_addTwistCotangent(sums->twist, sums, body, none, none, g);
      }
    }
    visitSlopes(addCotangent, &(Turning){sums}, &s, t, at, f.f);
  }
  return by_p;
}
