// Poses of a model at a few configurations, rigid motions of single bodies, and differences.
// Included after cmocka.

#ifndef DJ_TESTS_KIN_CASE_H_
#define DJ_TESTS_KIN_CASE_H_

#include "common/random_model.h"
#include "common/random_vec.h"
#include "common/room.h"
#include "math/so3.h"
#include "math/spatial.h"
#include "model/kinematics.h"

#include <stdlib.h>
#include <string.h>

enum { DJT_NKIN = 4 };

typedef struct djtKins {
  djModel* m;
  double* q[DJT_NKIN];
  djKin kin[DJT_NKIN];
  djVec3* ref;             // (nbody) one point for all of a tree
  void* memory[DJT_NKIN];
} djtKins;

// With motion subspaces; of at most one mocap body, which stays.
static inline void djt_setKin(djtKins* c, int k) {
  static const double pos[3] = {0.3, -0.2, 0.5}, quat[4] = {0.8, 0, 0.6, 0};
  assert_true(c->m->nmocap <= 1);
  dj_kinematics(&c->kin[k], c->m, c->q[k], pos, quat);
  dj_motionSubspace(&c->kin[k], c->m, c->ref);
}

// Random configurations, the k-th a step of that size from the one before. Takes the model.
static inline djtKins djt_openKins(djModel* m, djRng* rng, double step) {
  djtKins c = {.m = m, .ref = calloc((size_t)m->nbody, sizeof(djVec3))};
  double* move = djt_room((size_t)m->nv);
  assert_non_null(c.ref);
  for (int b = 1; b < m->nbody; b++) {
    c.ref[b] = m->body_root[b] == b ? djt_vec3(rng, 1) : c.ref[m->body_root[b]];
  }
  for (int k = 0; k < DJT_NKIN; k++) {
    c.q[k] = djt_room((size_t)m->nq);
    c.memory[k] = calloc(1, dj_kinSize(m) + 64);
    assert_non_null(c.memory[k]);
    c.kin[k] = dj_initKin(m, c.memory[k]);
    double size = k == 0 ? 1 : step;
    djt_uniforms(move, m->nv, rng, -size, size);
    dj_integratePos(c.q[k], m, k == 0 ? m->qpos0 : c.q[k - 1], move, 1);
    djt_setKin(&c, k);
  }
  free(move);
  return c;
}

static inline void djt_closeKins(djtKins* c) {
  for (int k = 0; k < DJT_NKIN; k++) {
    free(c->q[k]);
    free(c->memory[k]);
  }
  free(c->ref);
  dj_deleteModel(c->m);
}

// The pose of body b in `to` is that in `from`, moved by s x, a twist about ref.
static inline void djt_movePose(djKin* to, const djKin* from, int b, djVec3 ref, djSix x,
                                double s) {
  djQuat turn = dju_expQuat(dju_scale3(s, x.w));
  djMat3 R = dju_quatToMat(turn);
  djVec3 p = dju_sub3(from->body[b].p, ref), c = dju_sub3(from->com[b], ref);
  djVec3 origin = dju_madd3(ref, s, x.v);
  to->body[b] = (djPose){dju_add3(origin, dju_mulMV(R, p)), dju_mulMM(R, from->body[b].R)};
  to->quat[b] = dju_mulQuat(turn, from->quat[b]);
  to->com[b] = dju_add3(origin, dju_mulMV(R, c));
  to->principal[b] = dju_mulMM(R, from->principal[b]);
}

static inline djSix djt_twist(djRng* rng) {
  djVec3 w = djt_vec3(rng, 1);
  return (djSix){w, djt_vec3(rng, 1)};
}

// Sides of differences by four points, whose error is of fourth order: sum of weights times values
// at `point` steps, over the step.
static const double djt_point[4] = {1, -1, 2, -2};
static const double djt_weight[4] = {8. / 12, -8. / 12, -1. / 12, 1. / 12};

// x . A y of a 6 x 6 block.
static inline double djt_form6(djSix x, const double A[36], djSix y) {
  double six[6], sum[6] = {0};
  dju_store6(six, y);
  dju_mulAdd6(sum, A, 6, six, 0);
  return dju_dot6(x, dju_load6(sum));
}

#endif  // DJ_TESTS_KIN_CASE_H_
