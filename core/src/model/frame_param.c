#include "model/frame_param.h"

#include "model/param.h"

#include <string.h>

// Where parameters of one body act: its frame before and after its joints.
typedef struct Place {
  int n;
  const djFrameField* field;             // (n)
  djVec3 ref;
  djFramePlace at[DJ_MAX_FRAME_FIELD];
  djSix D;
} Place;

static void setDual(Place* p) {
  p->D = p->field[0].dual(&p->at[0]);
  for (int i = 1; i < p->n; i++) p->D = dju_add6(p->D, p->field[i].dual(&p->at[i]));
}

static void addRow(double g[3], const djMat3* R, djVec3 x, double sign) {
  dju_addTo3(g, sign, dju_mulMtV(*R, x));
}

// Inserted translation along the columns of R, or rotation about them through a point:
// S = (e, e x arm), S . D = e . (D_w + arm x D_v).
static void addTranslation(double g[3], const Place* p, const djMat3* R, double sign) {
  addRow(g, R, p->D.v, sign);
}

static void addRotation(double g[3], const Place* p, const djMat3* R, djVec3 point, double sign) {
  djVec3 arm = dju_sub3(p->ref, point);
  addRow(g, R, dju_add3(p->D.w, dju_cross3(arm, p->D.v)), sign);
}

// From above dofs first..end-1 to below them.
static void passDofs(djFramePlace* at, const djFrameField* f, const djKin* kin, int first,
                     int end) {
  for (int k = 0; k < 3 && f->above[k]; k++) {
    djSix sum = {{0, 0, 0}, {0, 0, 0}};
    for (int i = first; i < end; i++) {
      sum = dju_madd6(sum, f->rate[k][i], dju_load6(kin->S + 6 * i));
      if (!f->axis_cross[k]) continue;
      sum = dju_madd6(sum, -f->axis_cross_rate[k][i], dju_load6(f->axis_cross[k] + 6 * i));
    }
    at->above[k] = dju_add6(at->above[k], sum);
  }
}

static void passJoint(Place* p, const djModel* m, const djKin* kin, int j) {
  int dof = m->jnt_dofadr[j], end = j + 1 < m->njnt ? m->jnt_dofadr[j + 1] : m->nv;
  for (int i = 0; i < p->n; i++) passDofs(&p->at[i], &p->field[i], kin, dof, end);
  setDual(p);
}

// Orientation after joint j, given that before it.
static djQuat turned(const djModel* m, int j, const double* qpos, djQuat Q) {
  return dj_jointTurns(m->jnt_type[j]) ? dju_mulQuat(Q, dj_jointTurn(m, j, qpos)) : Q;
}

// An axis e moves by delta, perpendicular to it, when turned by e x delta: g_delta = g_w x e.
static void addAxis(double out[3], const double w[3], const double axis[3]) {
  dju_addTo3(out, 1, dju_cross3(dju_load3(w), dju_load3(axis)));
}

// Where the blocks of the fields start.
typedef struct Blocks {
  double *pos, *quat, *anchor, *axis;
} Blocks;

// Joint j: the place moves from above it to below it, the orientation from that before to that
// after, which for the body's last joint is the body's.
static void addJoint(Blocks* out, Place* p, const djModel* m, const djConfig* at, int j, djQuat* Q,
                     djMat3* R, int wants) {
  const djKin* kin = at->kin;
  int type = m->jnt_type[j], b = m->jnt_body[j];
  bool anchored = dj_jointTurns(type) && wants & DJ_BY_ANCHOR;
  bool axial = dj_isScalarJoint(type) && wants & DJ_BY_AXIS;
  djMat3 before = *R, after = kin->body[b].R;
  if (j + 1 < m->body_jntadr[b] + m->body_jntnum[b]) {
    *Q = turned(m, j, at->qpos, *Q);
    *R = after = dju_quatToMat(*Q);
  }
  djVec3 point = kin->anchor[j];
  double w[3] = {0, 0, 0};
  if (dj_jointRow(m, j)->slide != 0) {
    point = dju_madd3(point, -dj_jointSlide(m, j, at->qpos), kin->axis[j]);
  }
  if (anchored) addTranslation(out->anchor + 3 * j, p, &before, 1);
  if (axial) addRotation(w, p, &before, point, 1);
  passJoint(p, m, kin, j);
  if (anchored) addTranslation(out->anchor + 3 * j, p, &after, -1);
  if (axial) addRotation(w, p, &after, kin->anchor[j], -1);
  if (axial) addAxis(out->axis + 3 * j, w, m->jnt_axis + 3 * j);
}

static void addBody(Blocks* out, Place* p, const djModel* m, const djConfig* at, int b, int wants) {
  int up = m->body_parent[b], first = m->body_jntadr[b], n = m->body_jntnum[b];
  // mocap poses and free joints take no notice of the frame
  if (m->body_mocap[b] >= 0 || (n > 0 && dj_jointRow(m, first)->pose)) return;
  const djPose* parent = &at->kin->body[up];
  if (wants & DJ_BY_POS) addTranslation(out->pos + 3 * b, p, &parent->R, 1);
  if (!(wants & (DJ_BY_FRAME - DJ_BY_POS))) return;
  djVec3 origin = dju_transform(parent, dju_load3(m->body_pos + 3 * b));
  djQuat Q = dju_mulQuat(at->kin->quat[up], dju_loadQuat(m->body_quat + 4 * b));
  djMat3 R = dju_quatToMat(Q);
  if (wants & DJ_BY_QUAT) addRotation(out->quat + 3 * b, p, &R, origin, 1);
  if (!(wants & (DJ_BY_ANCHOR + DJ_BY_AXIS))) return;
  for (int j = first; j < first + n; j++) addJoint(out, p, m, at, j, &Q, &R, wants);
}

static void openBody(Place* p, const djModel* m, int b) {
  for (int i = 0; i < p->n; i++) {
    const djFrameField* f = &p->field[i];
    for (int k = 0; k < 3; k++) {
      if (f->above[k]) p->at[i].above[k] = dju_load6(f->above[k] + 6 * m->body_parent[b]);
      if (f->below[k]) p->at[i].below[k] = dju_load6(f->below[k] + 6 * b);
    }
  }
  setDual(p);
}

void dj_frameParamsOf(double* param, const djModel* m, const djConfig* at, int n,
                      const djFrameField* field) {
  Blocks out = {dj_paramBlock(param, m, DJ_FIELD_BODY_POS),
                dj_paramBlock(param, m, DJ_FIELD_BODY_QUAT),
                dj_paramBlock(param, m, DJ_FIELD_JOINT_POS),
                dj_paramBlock(param, m, DJ_FIELD_JOINT_AXIS)};
  Place p = {.n = n, .field = field};
  for (int b = 1; b < m->nbody; b++) {
    int wants = at->wants ? at->wants[b] : DJ_BY_ALL;
    if (!(wants & DJ_BY_FRAME)) continue;
    p.ref = at->ref[b];
    openBody(&p, m, b);
    addBody(&out, &p, m, at, b, wants);
  }
}

void dj_bodyTwists(double* x, const djModel* m, const djKin* kin, const double* z) {
  memset(x, 0, 6 * sizeof(double));
  for (int b = 1; b < m->nbody; b++) {
    double* to = x + 6 * b;
    memcpy(to, x + 6 * m->body_parent[b], 6 * sizeof(double));
    for (int i = m->body_dofadr[b]; i >= 0 && i < m->body_dofadr[b] + m->body_dofnum[b]; i++) {
      for (int k = 0; k < 6; k++) to[k] += z[i] * kin->S[6 * i + k];
    }
  }
}

void dj_gatherCotangents(double* C, const djModel* m, const djVec3* ref) {
  for (int b = m->nbody - 1; b > 0; b--) {
    int up = m->body_parent[b];
    if (up == 0) continue;
    djSix g = dju_load6(C + 6 * b);
    g.w = dju_add3(g.w, dju_cross3(dju_sub3(ref[b], ref[up]), g.v));
    dju_store6(C + 6 * up, dju_add6(dju_load6(C + 6 * up), g));
  }
}

static djSix first(const djFramePlace* at) { return at->below[0]; }

void dj_frameParams(double* param, const djModel* m, const djConfig* at, const double* C) {
  const djFrameField field = {.below = {C}, .dual = first};
  dj_frameParamsOf(param, m, at, 1, &field);
}

// With the twist x above and the gradient W below, S . C + x^T N S - S^T N x = S . (C - x x* W):
// see dj_addNested.
static djSix second(const djFramePlace* at) {
  return dju_sub6(at->below[0], dju_crossWrench(at->above[0], at->below[1]));
}

djFrameField dj_frameFieldSecond(const double* C, const double* W, const double* x,
                                 const double* z) {
  return (djFrameField){.above = {x}, .rate = {z}, .below = {C, W}, .dual = second};
}

void dj_frameParamsSecond(double* param, const djModel* m, const djConfig* at, const double* C,
                          const double* W, const double* x, const double* z) {
  const djFrameField field = dj_frameFieldSecond(C, W, x, z);
  dj_frameParamsOf(param, m, at, 1, &field);
}
