#include "model/kinematics.h"

#include "base/arena.h"
#include "math/so3.h"

#include <string.h>

static void layout(djKin* kin, djArena* a, const djModel* m) {
  size_t nb = m->nbody, nj = m->njnt;
  kin->body = dj_take(a, nb, sizeof(djPose));
  kin->quat = dj_take(a, nb, sizeof(djQuat));
  kin->com = dj_take(a, nb, sizeof(djVec3));
  kin->principal = dj_take(a, nb, sizeof(djMat3));
  kin->anchor = dj_take(a, nj, sizeof(djVec3));
  kin->axis = dj_take(a, nj, sizeof(djVec3));
  kin->frame = dj_take(a, nj, sizeof(djMat3));
  kin->S = dj_take(a, (size_t)m->nv * 6, sizeof(double));
}

size_t dj_kinSize(const djModel* m) {
  djKin kin;
  djArena a = {NULL, 0};
  layout(&kin, &a, m);
  return a.used;
}

djKin dj_initKin(const djModel* m, void* memory) {
  djKin kin;
  djArena a = {memory, 0};
  layout(&kin, &a, m);
  return kin;
}

// Frame of a body while its joints act on it one after the other; R is Q as a matrix.
typedef struct Frame {
  djVec3 X;
  djQuat Q;
  djMat3 R;
} Frame;

static bool isZero(const double v[3]) { return v[0] == 0 && v[1] == 0 && v[2] == 0; }

static void rotate(Frame* f, djQuat turn) {
  f->Q = dju_mulQuat(f->Q, turn);
  f->R = dju_quatToMat(f->Q);
}

static double sinceReference(const djModel* m, int j, const double* qpos) {
  return qpos[m->jnt_qposadr[j]] - m->qpos0[m->jnt_qposadr[j]];
}

static inline djQuat turnOf(const djJointRow* row, const djModel* m, int j, const double* qpos) {
  if (row->quat) return dju_normalizeQuat(dju_loadQuat(qpos + m->jnt_qposadr[j] + row->nplain));
  double d = 0.5 * (row->turn * sinceReference(m, j, qpos)), s = sin(d);
  const double* e = m->jnt_axis + 3 * j;
  return (djQuat){cos(d), s * e[0], s * e[1], s * e[2]};
}

djQuat dj_jointTurn(const djModel* m, int j, const double* qpos) {
  return turnOf(dj_jointRow(m, j), m, j, qpos);
}

double dj_jointSlide(const djModel* m, int j, const double* qpos) {
  double slide = dj_jointRow(m, j)->slide;
  return slide != 0 ? slide * sinceReference(m, j, qpos) : 0;
}

// One joint moves the frame of its body: MuJoCo's order of operations.
static void moveByJoint(Frame* f, djKin* kin, const djModel* m, int j, const double* qpos) {
  const djJointRow* row = dj_jointRow(m, j);
  const double* pos = m->jnt_pos + 3 * j;
  if (row->pose) {
    const double* q = qpos + m->jnt_qposadr[j];
    f->X = kin->anchor[j] = dju_load3(q);
    f->Q = dju_normalizeQuat(dju_loadQuat(q + 3));
    f->R = kin->frame[j] = dju_quatToMat(f->Q);
    return;
  }
  bool centred = isZero(pos);
  djVec3 axis = dju_mulMV(f->R, dju_load3(m->jnt_axis + 3 * j));
  djVec3 anchor = centred ? f->X : dju_add3(f->X, dju_mulMV(f->R, dju_load3(pos)));
  kin->axis[j] = axis;
  if (row->slide != 0) {
    double d = row->slide * sinceReference(m, j, qpos);
    f->X = dju_madd3(f->X, d, axis);
    anchor = dju_madd3(anchor, d, axis);
  }
  kin->anchor[j] = anchor;
  if (!row->quat && row->turn == 0) return;
  rotate(f, turnOf(row, m, j, qpos));
  if (row->quat) kin->frame[j] = f->R;
  f->X = centred ? anchor : dju_sub3(anchor, dju_mulMV(f->R, dju_load3(pos)));
}

void dj_kinematics(djKin* kin, const djModel* m, const double* qpos, const double* mocap_pos,
                   const double* mocap_quat) {
  kin->body[0] = (djPose){{0, 0, 0}, dju_eye3()};
  kin->quat[0] = (djQuat){1, 0, 0, 0};
  kin->com[0] = (djVec3){0, 0, 0};
  kin->principal[0] = dju_eye3();
  for (int b = 1; b < m->nbody; b++) {
    int up = m->body_parent[b], mocap = m->body_mocap[b], first = m->body_jntadr[b];
    Frame f;
    if (mocap >= 0) {
      f.X = dju_load3(mocap_pos + 3 * mocap);
      f.Q = dju_normalizeQuat(dju_loadQuat(mocap_quat + 4 * mocap));
      f.R = dju_quatToMat(f.Q);
    } else {
      f.X = dju_transform(&kin->body[up], dju_load3(m->body_pos + 3 * b));
      f.Q = kin->quat[up];
      f.R = kin->body[up].R;
      if (!isZero(m->body_quat + 4 * b + 1)) rotate(&f, dju_loadQuat(m->body_quat + 4 * b));
    }
    for (int j = first; j < first + m->body_jntnum[b]; j++) moveByJoint(&f, kin, m, j, qpos);
    // products of unit quaternions drift by rounding only; one step of Newton's root restores them
    double n = f.Q.w * f.Q.w + f.Q.x * f.Q.x + f.Q.y * f.Q.y + f.Q.z * f.Q.z;
    double fix = 1.5 - 0.5 * n;
    kin->quat[b] = (djQuat){fix * f.Q.w, fix * f.Q.x, fix * f.Q.y, fix * f.Q.z};
    kin->body[b] = (djPose){f.X, f.R};
    kin->com[b] = dju_transform(&kin->body[b], dju_load3(m->body_ipos + 3 * b));
    const double* inertial = m->body_iquat + 4 * b;
    kin->principal[b] = f.R;
    if (isZero(inertial + 1)) continue;
    kin->principal[b] = dju_quatToMat(dju_mulQuat(kin->quat[b], dju_loadQuat(inertial)));
  }
}

void dj_copyPoses(djKin* dest, const djModel* m, const djKin* src) {
  size_t nb = (size_t)m->nbody, nj = (size_t)m->njnt;
  memcpy(dest->body, src->body, nb * sizeof(djPose));
  memcpy(dest->quat, src->quat, nb * sizeof(djQuat));
  memcpy(dest->com, src->com, nb * sizeof(djVec3));
  memcpy(dest->principal, src->principal, nb * sizeof(djMat3));
  memcpy(dest->anchor, src->anchor, nj * sizeof(djVec3));
  memcpy(dest->axis, src->axis, nj * sizeof(djVec3));
  memcpy(dest->frame, src->frame, nj * sizeof(djMat3));
}

static void setTwist(double S[6], djVec3 angular, djVec3 linear) {
  dju_store3(S, angular);
  dju_store3(S + 3, linear);
}

// About and along an axis e; arm: from its anchor to the reference point.
static void setAxisTwist(double S[6], const djJointRow* row, djVec3 e, djVec3 arm) {
  djVec3 angular = {0, 0, 0}, linear = {0, 0, 0};
  if (row->turn != 0) {
    angular = dju_scale3(row->turn, e);
    linear = dju_scale3(row->turn, dju_cross3(e, arm));
  }
  if (row->slide != 0) linear = dju_madd3(linear, row->slide, e);
  setTwist(S, angular, linear);
}

void dj_motionSubspace(djKin* kin, const djModel* m, const djVec3* ref) {
  for (int j = 0; j < m->njnt; j++) {
    int b = m->jnt_body[j];
    double* S = kin->S + 6 * m->jnt_dofadr[j];
    djVec3 arm = dju_sub3(ref[b], kin->anchor[j]);
    djVec3 zero = {0, 0, 0};
    if (dj_isScalarJoint(m->jnt_type[j])) {
      setAxisTwist(S, dj_jointRow(m, j), kin->axis[j], arm);
      continue;
    }
    if (dj_jointRow(m, j)->pose) {
      setTwist(S, zero, (djVec3){1, 0, 0});
      setTwist(S + 6, zero, (djVec3){0, 1, 0});
      setTwist(S + 12, zero, (djVec3){0, 0, 1});
      S += 18;
    }
    for (int k = 0; k < 3; k++) {
      djVec3 e = dju_column(&kin->frame[j], k);
      setTwist(S + 6 * k, e, dju_cross3(e, arm));
    }
  }
}
