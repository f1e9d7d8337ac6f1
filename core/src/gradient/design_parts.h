// Parts of a design: from x to the values of everything, and derivatives back.
//
// x -> values of parameters, start and controls: base values, over which the entries of x are
// written; then the maps, in order, each from its free vector. Backwards: the gradient by values is
// led through the maps in reverse order (what a map replaced has no influence), then gathered.
//
// Rotations. Derivatives of a rollout by a quaternion q are by the 3-vector d of q exp(d).
//   q = q0 exp(w), the chart of x: exp(w + dw) = exp(w) exp(J_r(w) dw), so dL/dw = J_r^T g.
//   q = p/|p| of four free numbers p (maps): d = 2 vec(q* dp)/|p|, so dL/dp = 2/|p| q (0, g).
//   a = p/|p| of an axis: dL/dp = (g - a (a.g))/|p|.

#ifndef DJ_GRADIENT_DESIGN_PARTS_H_
#define DJ_GRADIENT_DESIGN_PARTS_H_

#include "base/pool.h"
#include "gradient/design_smooth.h"
#include "gradient/map.h"

#include <dijoco/design.h>

typedef struct djDesignMemory {
  djPool pool;
  djModel* given;    // copy of the model as given
  djDesignSmooth smooth;   // whose derivatives are the gradient, if the problem asks for it
  djModel* compiled; // that one, where inertias follow its geoms, else NULL
  int nvalue;        // of all parameters
  int nz;            // of all free vectors
  int nctrl;         // horizon x nu
  int* valueadr;     // (nparam) where a parameter's values start
  int* tangentadr;   // (nparam) where its gradient starts
  int* zadr;         // (nfree)
  int evaluations;   // losses asked for so far
  int flattened;     // points refused so far: hulls would be flat, cells of cages inside out
  struct djPieces* pieces; // see gradient/pieces.h
  bool behind;       // inertias have not followed the values set
  bool taped;        // the tape holds a run of x, with its linearisation,
  bool differentiated;   // and hessian its gradient
  struct djDesignHessian* hessian;   // of products; NULL: there were none
  void (*free_hessian)(struct djDesignHessian* hessian);
  double* base;      // (nvalue) of the model as given
  double* value;     // (nvalue) at x, before normalisation
  double* set;       // (nvalue) that the model has
  double* dvalue;    // (nvalue)
  double* z;         // (nz) free vectors at x
  double* dz;        // (nz)
  double* qpos0;     // (nq) at x, likewise the following
  double* start;     // (nq) qpos0 moved by the phase
  double* qvel0;     // (nv)
  double* act0;      // (na)
  double* history_qpos0;   // (nq) where the task has a history, likewise
  double* history_qvel0;   // (nv)
  double* ctrl;      // (nctrl)
  double* dctrl;     // (nctrl)
  double* tangent;   // (max of nv and parameters' tangents) rotation vectors
  double* dqpos0;    // (nv)
  double* history_tangent; // (nv) rotation vectors, derivatives:
  double* dhistory_qpos0;  // (nv)
  double* out;       // outputs of a map
  double* work;      // its scratch
} djDesignMemory;

static inline djDesignMemory* dj_designMemory(const djDesign* d) { return d->memory; }

// Place in qpos of a dof that is no rotation.
static inline int dj_plainQpos(const djModel* m, int dof) {
  int j = m->dof_jnt[dof];
  return m->jnt_qposadr[j] + dof - m->jnt_dofadr[j];
}

// Where the entries of a target start in values of parameters, or in controls.
static inline double* dj_mapTarget(double* value, double* ctrl, const djDesign* d,
                                   const djMapTarget* t) {
  const djDesignMemory* w = d->memory;
  return (t->param >= 0 ? value + w->valueadr[t->param] : ctrl) + t->start;
}

// Numbers of a parameter before its quaternion, if it has one.
static inline int dj_plainValues(const djParam* p) {
  return p->nvalue == p->ntangent ? p->nvalue : p->nvalue - 4;
}

// The rollout's history: the design's, where the problem has one.
void dj_setDesignHistory(djDesign* design);

// Fill value, z, qpos0, qvel0, act0, history and ctrl from x (n).
void dj_placeDesign(djDesign* design, const double* x);

// Gradient by x (n) from design->result.
void dj_gatherDesign(double* grad, djDesign* design);

// The same from dvalue and dctrl alone, which are overwritten.
void dj_gatherValues(double* grad, djDesign* design);

// Fill nequal, equal, value: the connections, which are linear in x. Nothing was evaluated yet.
djStatus dj_connectDesign(djDesign* design);

#endif  // DJ_GRADIENT_DESIGN_PARTS_H_
