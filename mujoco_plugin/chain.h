// Derivatives of the substeps that make a step of djm_step.

#ifndef DJ_MUJOCO_CHAIN_H_
#define DJ_MUJOCO_CHAIN_H_

#include "step.h"

// By the state of our model (columns first) and the controls at the start.
typedef struct djmChain {
  djmContext* c;
  const mjModel* m;
  int nx, nu;             // dj_tangentSize, controls
  mjtNum *A, *B;          // (nx x nx), (nx x nu) of the substeps so far
  int nforce;             // rows of:
  mjtNum* force;          // (nforce x (nx + nu)) means over substeps: normal forces of touch
                          //   sensors (nsensor, the others 0), then wrenches on bodies (6 nbody)
                          //   as djmContext.wrench
  mjtNum* part;           // (nforce x (nx + nu)) of the present substep, by its start
  mjtNum *Ak, *Bk;        // of the present substep
  mjtNum* product;        // scratch
  mjtNum* memory;
} djmChain;

// forces: whether those are wanted.
djStatus djm_makeChain(djmChain* w, djmContext* c, const mjModel* m, bool forces);
void djm_freeChain(djmChain* w);

// Takes the substeps from c->data; fills c->wrench and c->touch if forces are wanted.
djStatus djm_takeChain(djmChain* w);

static inline const mjtNum* djm_touchRow(const djmChain* w, int sensor) {
  return w->force + (size_t)sensor * (size_t)(w->nx + w->nu);
}
static inline const mjtNum* djm_wrenchRow(const djmChain* w, int body, int component) {
  return djm_touchRow(w, (int)w->m->nsensor + 6 * body + component);
}

// Index in MuJoCo's state of entry k of ours.
static inline int djm_stateIndex(const djmContext* c, int k) {
  int act = k - 2 * c->model->nv;
  return act < 0 ? k : 2 * c->model->nv + c->kept[act];
}

#endif  // DJ_MUJOCO_CHAIN_H_
