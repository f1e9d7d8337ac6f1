#include "model/coordinate.h"

#include "base/arena.h"
#include "math/block6.h"
#include "model/equality.h"
#include "model/param.h"
#include "model/span.h"

#include <string.h>

static void layout(djCoordinates* coord, djArena* a, const djModel* m) {
  coord->x = dj_take(a, m->ncoord, sizeof(double));
  coord->J = dj_take(a, m->ncoorddof, sizeof(double));
}

size_t dj_coordinatesSize(const djModel* m) {
  djCoordinates coord;
  djArena a = {NULL, 0};
  layout(&coord, &a, m);
  return a.used;
}

static bool isFixed(const djModel* m, int t) {
  return m->wrap_type[m->tendon_adr[t]] == DJ_WRAP_JOINT;
}

// J of coordinates that do not bend.
static void setConstant(double* J, const djModel* m, int c) {
  if (m->coord_type[c] == DJ_COORD_JOINT) *J = 1;
  if (m->coord_type[c] != DJ_COORD_TENDON || !isFixed(m, m->coord_id[c])) return;
  int t = m->coord_id[c];
  memset(J, 0, (size_t)m->coord_dofnum[c] * sizeof(double));
  for (int w = m->tendon_adr[t]; w < m->tendon_adr[t] + m->tendon_num[t]; w++) {
    for (int k = 0; k < m->coord_dofnum[c]; k++) {
      bool own = m->coord_dof[m->coord_dofadr[c] + k] == m->jnt_dofadr[m->wrap_objid[w]];
      if (own) J[k] += m->wrap_prm[w];
    }
  }
}

djCoordinates dj_initCoordinates(const djModel* m, void* memory) {
  djCoordinates coord;
  djArena a = {memory, 0};
  layout(&coord, &a, m);
  for (int c = 0; c < m->ncoord; c++) setConstant(coord.J + m->coord_dofadr[c], m, c);
  return coord;
}

bool dj_coordinateBends(const djModel* m, int c) {
  if (m->coord_type[c] == DJ_COORD_JOINT) return false;
  return m->coord_type[c] != DJ_COORD_TENDON || !isFixed(m, m->coord_id[c]);
}

bool dj_anyBends(const djModel* m) {
  for (int c = m->ncoord - 1; c >= 0 && m->coord_type[c] != DJ_COORD_JOINT; c--) {
    if (dj_coordinateBends(m, c)) return true;
  }
  return false;
}

// ---- values and Jacobians ----------------------------------------------------------------------

static double fixedLength(const djModel* m, int t, const double* qpos) {
  double sum = 0;
  for (int w = m->tendon_adr[t]; w < m->tendon_adr[t] + m->tendon_num[t]; w++) {
    sum += m->wrap_prm[w] * qpos[m->jnt_qposadr[m->wrap_objid[w]]];
  }
  return sum;
}

// The coordinate of joint or tendon k of an equality constraint and its value at qpos0; -1: none.
static int sideOf(double* x0, const djModel* m, int e, int k) {
  int id = m->eq_pair[2 * e + k];
  if (id < 0) return -1;
  bool joint = m->eq_type[e] == DJ_EQ_JOINT;
  *x0 = joint ? m->qpos0[m->jnt_qposadr[id]] : m->tendon_length0[id];
  return joint ? m->jnt_coord[id] : m->tendon_coord[id];
}

bool dj_coupling(djCoupling* out, const djModel* m, const djCoordinates* coord, int c) {
  int e = m->coord_id[c];
  if (m->coord_type[c] != DJ_COORD_EQUALITY || dj_isBetweenBodies(m->eq_type[e])) return false;
  const double* p = m->eq_polycoef + 5 * e;
  double x0[2] = {0, 0}, P = 0, x;
  for (int k = 0; k < 2; k++) out->c[k] = sideOf(&x0[k], m, e, k);
  out->slope = out->bend = 0;
  x = out->c[1] < 0 ? 0 : coord->x[out->c[1]] - x0[1];
  for (int k = 4; k >= 0 && out->c[1] >= 0; k--) {
    out->bend = 2 * out->slope + x * out->bend;
    out->slope = P + x * out->slope;
    P = p[k] + x * P;
  }
  if (out->c[1] < 0) P = p[0];
  out->x = x;
  out->value = coord->x[out->c[0]] - x0[0] - P;
  return true;
}

void dj_setCoordinates(djCoordinates* coord, const djModel* m, const double* qpos,
                       const djKin* kin) {
  int c = 0;
  for (; c < m->ncoord && m->coord_type[c] == DJ_COORD_JOINT; c++) {
    coord->x[c] = qpos[m->jnt_qposadr[m->coord_id[c]]];
  }
  for (; c < m->ncoord; c++) {
    if (!dj_coordinateBends(m, c)) {
      coord->x[c] = fixedLength(m, m->coord_id[c], qpos);
      continue;
    }
    djSpan span;
    djSpanAt at = {0, 1};
    djCoupling both;
    coord->x[c] = dj_coupling(&both, m, coord, c) ? both.value : 0;
    while (dj_nextSpan(&span, &at, m, kin, c, 0)) coord->x[c] += span.value;
  }
}

// J += W of a span along the chains of its bodies.
static void addSpan(double* J, const djModel* m, const djKin* kin, int c, const djSpan* span,
                    const djVec3* ref) {
  const int* dof = m->coord_dof + m->coord_dofadr[c];
  double W[6 * DJ_SPAN_BODY];
  bool moves[DJ_SPAN_BODY];
  int at[DJ_SPAN_BODY], k = m->coord_dofnum[c] - 1;
  dj_spanGradient(W, span, ref);
  dj_spanChains(at, m, span);
  for (int i = dj_nextSpanDof(moves, at, m, span); i >= 0;
       i = dj_nextSpanDof(moves, at, m, span)) {
    while (dof[k] != i) k--;
    for (int s = 0; s < span->nbody; s++) {
      if (moves[s]) J[k] += dju_dotRow6(kin->S + 6 * i, W + 6 * s);
    }
  }
}

// J of coordinate c += f times that of another one, which has some of its dofs.
static void addAlong(double* J, double f, const djModel* m, const djCoordinates* coord, int c,
                     int other) {
  djAlong x = dj_along(coord, m, c), from = dj_along(coord, m, other);
  for (int k = 0, at = 0; k < from.n; k++) {
    while (x.dof[at] != from.dof[k]) at++;
    J[at] += f * from.J[k];
  }
}

void dj_setCoordinateJacobian(djCoordinates* coord, const djModel* m, const djKin* kin,
                              const djVec3* ref) {
  for (int c = m->ncoord - 1; c >= 0 && m->coord_type[c] != DJ_COORD_JOINT; c--) {
    if (!dj_coordinateBends(m, c)) continue;
    double* J = coord->J + m->coord_dofadr[c];
    memset(J, 0, (size_t)m->coord_dofnum[c] * sizeof(double));
    djSpan span;
    djSpanAt at = {0, 1};
    while (dj_nextSpan(&span, &at, m, kin, c, 1)) {
      if (span.nbody > 1) addSpan(J, m, kin, c, &span, ref);
    }
  }
  for (int c = m->ncoord - m->nequalitycoord; c < m->ncoord; c++) {
    djCoupling both;
    if (!dj_coupling(&both, m, coord, c)) continue;
    double* J = coord->J + m->coord_dofadr[c];
    memset(J, 0, (size_t)m->coord_dofnum[c] * sizeof(double));
    addAlong(J, 1, m, coord, c, both.c[0]);
    if (both.c[1] >= 0) addAlong(J, -both.slope, m, coord, c, both.c[1]);
  }
}

// ---- by poses ----------------------------------------------------------------------------------

void dj_addCoordinateCurvature(double* N, djMatrix* H, const djModel* m, const djKin* kin,
                               const djVec3* ref, int c, double f) {
  djSpan span;
  djSpanAt at = {0, 1};
  while (dj_nextSpan(&span, &at, m, kin, c, 2)) {
    djSpanHess h;
    if (span.nbody < 2) continue;
    dj_spanHessian(&h, &span, ref);
    for (int s = 0; s < span.nbody; s++) {
      double* to = N + 36 * (size_t)span.body[s];
      if (m->body_lastdof[span.body[s]] < 0) continue;
      for (int k = 0; k < 36; k++) to[k] += f * h.N[s][k];
      for (int t = s + 1; t < span.nbody; t++) {
        double* K = h.K[dj_spanPair(s, t)];
        for (int k = 0; k < 36; k++) K[k] *= f;
        dj_projectCross(H, m, kin, span.body[s], span.body[t], K);
      }
    }
  }
}

void dj_addCoordinateWrench(double* W, const djModel* m, const djKin* kin, const djVec3* ref,
                            int c, double f) {
  djSpan span;
  djSpanAt at = {0, 1};
  while (dj_nextSpan(&span, &at, m, kin, c, 1)) {
    double w[6 * DJ_SPAN_BODY];
    if (span.nbody < 2) continue;
    dj_spanGradient(w, &span, ref);
    for (int k = 0; k < 6 * span.nbody; k++) W[6 * span.body[k / 6] + k % 6] += f * w[k];
  }
}

void dj_addCoordinateCotangents(double* C, const djModel* m, const djKin* kin, const djVec3* ref,
                               int c, double f, const double* z) {
  djSpan span;
  djSpanAt at = {0, 1};
  while (dj_nextSpan(&span, &at, m, kin, c, 2)) {
    djSpanHess h;
    if (span.nbody < 2) continue;
    dj_spanHessian(&h, &span, ref);
    for (int k = 0; k < DJ_SPAN_BODY * 36; k++) h.N[k / 36][k % 36] *= f;
    for (int k = 0; k < DJ_SPAN_CROSS * 36; k++) h.K[k / 36][k % 36] *= f;
    for (int s = 0; s < span.nbody; s++) {
      int a = span.body[s];
      dju_mulAdd6(C + 6 * a, h.N[s], 6, z + 6 * a, false);
      for (int t = s + 1; t < span.nbody; t++) {
        int b = span.body[t];
        const double* K = h.K[dj_spanPair(s, t)];
        dju_mulAdd6(C + 6 * a, K, 6, z + 6 * b, false);
        dju_mulAdd6(C + 6 * b, K, 6, z + 6 * a, true);
      }
    }
  }
}

// ---- by sites and geoms ------------------------------------------------------------------------

double* dj_spanPoint(double* param, const djModel* m, const djSpan* span, int k) {
  if (span->site[k] >= 0) return dj_paramBlock(param, m, DJ_FIELD_SITE_POS) + 3 * span->site[k];
  return dj_paramBlock(param, m, DJ_FIELD_EQUALITY_ANCHOR) + span->anchor[k];
}

// g by a point, to its site or anchor.
static void addSite(double* param, const djModel* m, const djKin* kin, const djSpan* span, int k,
                    double f, djVec3 g) {
  double* to = dj_spanPoint(param, m, span, k);
  djVec3 local = dju_mulMtV(kin->body[span->body[span->side[k]]].R, g);
  dju_addTo3(to, f, local);
}

// A wrench on points, forces and torque about the geom's place, moves the geom that they go around
// the other way; by_radius: by its radius. To its pos, quat and size.
static void addGeom(double* param, const djModel* m, const djKin* kin, int geom, double f,
                    djVec3 force, djVec3 torque, double by_radius) {
  djMat3 R = kin->body[m->geom_body[geom]].R;
  djMat3 frame = dju_quatToMat(dju_loadQuat(m->geom_quat + 4 * geom));
  djVec3 turn = dju_mulMtV(frame, dju_mulMtV(R, torque));
  dju_addTo3(dj_paramBlock(param, m, DJ_FIELD_GEOM_POS) + 3 * geom, -f, dju_mulMtV(R, force));
  dju_addTo3(dj_paramBlock(param, m, DJ_FIELD_GEOM_QUAT) + 3 * geom, -f, turn);
  dj_paramBlock(param, m, DJ_FIELD_GEOM_SIZE)[3 * geom] += f * by_radius;
}

static djVec3 centreOf(const djModel* m, const djKin* kin, int geom) {
  return dju_transform(&kin->body[m->geom_body[geom]], dju_load3(m->geom_pos + 3 * geom));
}

void dj_addCoordinateSites(double* param, const djModel* m, const djKin* kin, int c, double f) {
  djSpan span;
  djSpanAt at = {0, 1};
  while (dj_nextSpan(&span, &at, m, kin, c, 1)) {
    djVec3 force = {0, 0, 0}, torque = {0, 0, 0};
    for (int k = 0; k < span.n; k++) addSite(param, m, kin, &span, k, f, span.g[k]);
    for (int k = 0; k < span.n && span.geom >= 0; k++) {
      djVec3 arm = dju_sub3(span.point[k], centreOf(m, kin, span.geom));
      force = dju_add3(force, span.g[k]);
      torque = dju_add3(torque, dju_cross3(arm, span.g[k]));
    }
    if (span.geom >= 0) addGeom(param, m, kin, span.geom, f, force, torque, span.by_radius);
  }
}

// sum_k g_k . u_k, u_k the velocity of point k: one that moves by e with its site changes g_l by
// A_lk e and its own u by w x e. A geom that moves by v + w x arm moves points by minus that, and
// turns their velocities by -w x u_k.
void dj_addCoordinateSitesSecond(double* param, const djModel* m, const djKin* kin,
                                 const djVec3* ref, int c, double f, const double* z) {
  djSpan span;
  djSpanAt at = {0, 1};
  while (dj_nextSpan(&span, &at, m, kin, c, 2)) {
    djVec3 u[3], w[3], force = {0, 0, 0}, torque = {0, 0, 0};
    double by_radius = 0;
    for (int k = 0; k < span.n; k++) u[k] = dj_spanVelocity(&w[k], &span, k, ref, z);
    for (int k = 0; k < span.n; k++) {
      djVec3 sum = {0, 0, 0};
      for (int l = 0; l < span.n; l++) sum = dju_add3(sum, dju_mulMV(span.A[k][l], u[l]));
      addSite(param, m, kin, &span, k, f, dju_add3(sum, dju_cross3(span.g[k], w[k])));
      if (span.geom < 0) continue;
      djVec3 arm = dju_sub3(span.point[k], centreOf(m, kin, span.geom));
      force = dju_add3(force, sum);
      torque = dju_add3(torque, dju_add3(dju_cross3(arm, sum), dju_cross3(u[k], span.g[k])));
      by_radius += dju_dot3(span.g_by_radius[k], u[k]);
    }
    if (span.geom >= 0) addGeom(param, m, kin, span.geom, f, force, torque, by_radius);
  }
}

// ---- couplings ---------------------------------------------------------------------------------

// Whether the k-th dof of a coordinate is of another tree than the one before.
static bool startsTree(const djModel* m, const int* dof, int k) {
  return k == 0 || m->body_root[m->dof_body[dof[k]]] != m->body_root[m->dof_body[dof[k - 1]]];
}

void dj_coupleCoordinates(djPattern* pattern, const djModel* m) {
  for (int c = m->ncoord - 1; c >= 0 && m->coord_type[c] != DJ_COORD_JOINT; c--) {
    const int* dof = m->coord_dof + m->coord_dofadr[c];
    for (int a = 1; a < m->coord_dofnum[c]; a++) {
      if (!startsTree(m, dof, a)) continue;
      for (int b = 0; b < a; b++) {
        if (startsTree(m, dof, b)) dj_coupleRows(pattern, dof[a], dof[b]);
      }
    }
  }
}

// ---- places ------------------------------------------------------------------------------------

void dj_setPlace(djPlace* p, const djModel* m, const double* mocap_pos, const double* mocap_quat) {
  dj_kinematics(&p->kin, m, p->q, mocap_pos, mocap_quat);
  dj_setCoordinates(&p->coord, m, p->q, &p->kin);
}

void dj_copyPlace(djPlace* dest, const djModel* m, const djPlace* src) {
  memcpy(dest->q, src->q, (size_t)m->nq * sizeof(double));
  dj_copyPoses(&dest->kin, m, &src->kin);
  memcpy(dest->coord.x, src->coord.x, (size_t)m->ncoord * sizeof(double));
}

void dj_openPlace(djPlace* p, const djModel* m, const djVec3* ref) {
  dj_motionSubspace(&p->kin, m, ref);
  dj_setCoordinateJacobian(&p->coord, m, &p->kin, ref);
}
