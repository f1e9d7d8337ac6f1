#include "model/frame_param.h"

#include "model/param.h"

#include <string.h>

// A twist or its dual: angular and linear part.
typedef struct Six {
  djVec3 w, v;
} Six;

static Six load6(const double* x) { return (Six){dju_load3(x), dju_load3(x + 3)}; }

static Six add6(Six a, Six b) { return (Six){dju_add3(a.w, b.w), dju_add3(a.v, b.v)}; }

// Where parameters of one body act: its frame before and after its joints, the gathered covectors,
// and, for second derivatives, the twist of what lies above.
typedef struct Place {
  djVec3 ref;
  Six C;          // of dphi
  Six W;          // of psi
  Six above;      // twist along z of everything above the place
  Six D;          // see setPlace
  bool second;
} Place;

// The derivative by an inserted joint with subspace S = (w, v) is S . D:
//   S . C + x^T N S - S^T N x = S . C + t . (w_x x w) + f . (w_x x v - w x v_x),
// x the twist above, (t, f) = W (see dj_addNested), so
//   D = (C_w + t x w_x + f x v_x, C_v + f x w_x).
static void setPlace(Place* p) {
  p->D = p->C;
  if (!p->second) return;
  djVec3 w = p->above.w, t = p->W.w, f = p->W.v;
  p->D.w = dju_add3(p->D.w, dju_add3(dju_cross3(t, w), dju_cross3(f, p->above.v)));
  p->D.v = dju_add3(p->D.v, dju_cross3(f, w));
}

static void addRow(double g[3], const djMat3* R, djVec3 x, double sign) {
  dju_store3(g, dju_madd3(dju_load3(g), sign, dju_mulMtV(*R, x)));
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

// Twist of joint j's own dofs along z.
static Six jointTwist(const djModel* m, const djKin* kin, int j, const double* z) {
  Six x = {{0, 0, 0}, {0, 0, 0}};
  int dof = m->jnt_dofadr[j], end = j + 1 < m->njnt ? m->jnt_dofadr[j + 1] : m->nv;
  for (int i = dof; i < end; i++) {
    Six S = load6(kin->S + 6 * i);
    x.w = dju_madd3(x.w, z[i], S.w);
    x.v = dju_madd3(x.v, z[i], S.v);
  }
  return x;
}

// Orientation after joint j, given that before it.
static djQuat turned(const djModel* m, int j, const double* qpos, djQuat Q) {
  const double* q = qpos + m->jnt_qposadr[j];
  if (m->jnt_type[j] == DJ_BALL) {
    return dju_mulQuat(Q, dju_normalizeQuat(dju_loadQuat(q)));
  }
  if (m->jnt_type[j] != DJ_HINGE) return Q;
  double d = 0.5 * (q[0] - m->qpos0[m->jnt_qposadr[j]]), s = sin(d);
  const double* e = m->jnt_axis + 3 * j;
  return dju_mulQuat(Q, (djQuat){cos(d), s * e[0], s * e[1], s * e[2]});
}

// An axis e moves by delta, perpendicular to it, when turned by e x delta: g_delta = g_w x e.
static void addAxis(double out[3], const double w[3], const double axis[3]) {
  djVec3 g = dju_cross3(dju_load3(w), dju_load3(axis));
  out[0] += g.x;
  out[1] += g.y;
  out[2] += g.z;
}

// Where the blocks of the fields start.
typedef struct Blocks {
  double *pos, *quat, *anchor, *axis;
} Blocks;

// Joint j: the place moves from above it to below it, the orientation from that before to that
// after, which for the body's last joint is the body's.
static void addJoint(Blocks* out, Place* p, const djModel* m, const djConfig* at, int j, djQuat* Q,
                     djMat3* R, const double* z) {
  const djKin* kin = at->kin;
  int type = m->jnt_type[j], b = m->jnt_body[j];
  djMat3 before = *R, after = kin->body[b].R;
  if (j + 1 < m->body_jntadr[b] + m->body_jntnum[b]) {
    *Q = turned(m, j, at->qpos, *Q);
    *R = after = dju_quatToMat(*Q);
  }
  bool anchored = type == DJ_HINGE || type == DJ_BALL, axial = type == DJ_HINGE || type == DJ_SLIDE;
  djVec3 point = kin->anchor[j];
  double w[3] = {0, 0, 0};
  if (type == DJ_SLIDE) {
    double d = at->qpos[m->jnt_qposadr[j]] - m->qpos0[m->jnt_qposadr[j]];
    point = dju_madd3(point, -d, kin->axis[j]);
  }
  if (anchored) addTranslation(out->anchor + 3 * j, p, &before, 1);
  if (axial) addRotation(w, p, &before, point, 1);
  if (p->second) {
    p->above = add6(p->above, jointTwist(m, kin, j, z));
    setPlace(p);
  }
  if (anchored) addTranslation(out->anchor + 3 * j, p, &after, -1);
  if (axial) addRotation(w, p, &after, kin->anchor[j], -1);
  if (axial) addAxis(out->axis + 3 * j, w, m->jnt_axis + 3 * j);
}

static void addBody(Blocks* out, Place* p, const djModel* m, const djConfig* at, int b,
                    const double* z) {
  int up = m->body_parent[b], first = m->body_jntadr[b], n = m->body_jntnum[b];
  // mocap poses and free joints take no notice of the frame
  if (m->body_mocap[b] >= 0 || (n > 0 && m->jnt_type[first] == DJ_FREE)) return;
  const djPose* parent = &at->kin->body[up];
  djVec3 origin = dju_transform(parent, dju_load3(m->body_pos + 3 * b));
  djQuat Q = dju_mulQuat(at->kin->quat[up], dju_loadQuat(m->body_quat + 4 * b));
  djMat3 R = dju_quatToMat(Q);
  addTranslation(out->pos + 3 * b, p, &parent->R, 1);
  addRotation(out->quat + 3 * b, p, &R, origin, 1);
  for (int j = first; j < first + n; j++) addJoint(out, p, m, at, j, &Q, &R, z);
}

static void addFrames(double* param, const djModel* m, const djConfig* at, const double* C,
                      const double* W, const double* x, const double* z) {
  Blocks out = {dj_paramBlock(param, m, DJ_FIELD_BODY_POS),
                dj_paramBlock(param, m, DJ_FIELD_BODY_QUAT),
                dj_paramBlock(param, m, DJ_FIELD_JOINT_POS),
                dj_paramBlock(param, m, DJ_FIELD_JOINT_AXIS)};
  for (int b = 1; b < m->nbody; b++) {
    Place p = {.ref = at->ref[b], .C = load6(C + 6 * b), .second = W != NULL};
    if (W) {
      p.W = load6(W + 6 * b);
      p.above = load6(x + 6 * m->body_parent[b]);
    }
    setPlace(&p);
    addBody(&out, &p, m, at, b, z);
  }
}

void dj_bodyTwists(double* x, const djModel* m, const djKin* kin, const double* z) {
  memset(x, 0, 6 * sizeof(double));
  for (int b = 1; b < m->nbody; b++) {
    double* to = x + 6 * b;
    memcpy(to, x + 6 * m->body_parent[b], 6 * sizeof(double));
    if (m->body_mocap[b] >= 0) memset(to, 0, 6 * sizeof(double));
    for (int i = m->body_dofadr[b]; i >= 0 && i < m->body_dofadr[b] + m->body_dofnum[b]; i++) {
      for (int k = 0; k < 6; k++) to[k] += z[i] * kin->S[6 * i + k];
    }
  }
}

void dj_gatherCovectors(double* C, const djModel* m, const djVec3* ref) {
  for (int b = m->nbody - 1; b > 0; b--) {
    int up = m->body_parent[b];
    if (up == 0) continue;
    Six g = load6(C + 6 * b);
    djVec3 torque = dju_add3(g.w, dju_cross3(dju_sub3(ref[b], ref[up]), g.v));
    double* to = C + 6 * up;
    dju_store3(to, dju_add3(dju_load3(to), torque));
    dju_store3(to + 3, dju_add3(dju_load3(to + 3), g.v));
  }
}

void dj_frameParams(double* param, const djModel* m, const djConfig* at, const double* C) {
  addFrames(param, m, at, C, NULL, NULL, NULL);
}

void dj_frameParamsSecond(double* param, const djModel* m, const djConfig* at, const double* C,
                          const double* W, const double* x, const double* z) {
  addFrames(param, m, at, C, W, x, z);
}
