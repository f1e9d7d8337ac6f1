// Velocities and accelerations of bodies, and how both follow q and v; of generalized forces and of
// the inertia matrix by q. All by dofs' axes S_i (mjData's cdof), about a point of each tree that
// is taken as fixed.
//
// A dof j carries the axes of some dofs i: of all that come after it on the way from the root; of
// its own ball; of a free joint's turns, by any of the six. Then dS_i/dq_j = S_j x S_i.

#ifndef DJ_MUJOCO_MOTION_H_
#define DJ_MUJOCO_MOTION_H_

#include <mujoco/mujoco.h>

#include <stdbool.h>

// Of a body, or of what comes before the dofs that a dof carries.
typedef struct djmRates {
  mjtNum acc[6];         // sum of S_i a_i
  mjtNum vel[6];         // sum of S_i v_i
  mjtNum bias[6];        // sum of dS_i/dt v_i
} djmRates;

typedef struct djmMotion {
  djmRates* body;        // (nbody)
  djmRates* before;      // (nv) sums over the dofs that dof j does not carry
  mjtNum* drag;          // (nv x 6) dS_j/dt
} djmMotion;

// The point about which a body's six-vectors are.
static inline const mjtNum* djm_center(const mjModel* m, const mjData* d, int body) {
  return d->subtree_com + 3 * m->body_rootid[body];
}

// The last dof on the way from the root to a body; -1: there is none.
static inline int djm_lastDof(const mjModel* m, int body) {
  body = m->body_weldid[body];
  return m->body_dofnum[body] ? m->body_dofadr[body] + m->body_dofnum[body] - 1 : -1;
}

// From d's cdof, qvel and an acceleration a (nv).
void djm_findMotion(djmMotion* motion, const mjModel* m, const mjData* d, const mjtNum* a);

// Next of the dofs that carry dof i's axis, from djm_firstCarrier(); -1: none is left.
int djm_firstCarrier(const mjModel* m, int i);

// out (nv x stride) += derivative by q of sum_b J_b^T W_b, with wrenches W (nbody x 6) fixed in the
// world; they are added up over subtrees.
void djm_wrenchSlope(mjtNum* out, int stride, const mjModel* m, const mjData* d, mjtNum* wrench);

// out (nv x stride) += derivative by q of M x, x fixed; without tendons' armature.
// scratch: (12 nbody + 6 nv)
void djm_massSlope(mjtNum* out, int stride, const mjModel* m, const mjData* d, const mjtNum* x,
                   mjtNum* scratch);

#endif  // DJ_MUJOCO_MOTION_H_
