// Rows of MuJoCo's constraints at a step's solution, and what they add to its derivative.
//
// With y = J a - aref a row's force is f = -s'(y), s convex with the curvature S = s''. At the
// solution M a = tau - c + J^T f, so that
//
//   (M + J^T S J) da = -dr + g,   g = dJ^T f + J^T (-S (dJ a - daref) + f dlnD)
//
// where r is what is smooth (smooth_slope.h), aref = -B (J v + surface) - K I (pos - margin), less
// dJ/dt v for connect and weld, and all forces of a constraint are proportional to its D, where
// they depend on it at all: dlnD = I' / (I (1 - I)) dpos with the impedance I.

#ifndef DJ_MUJOCO_ROWS_H_
#define DJ_MUJOCO_ROWS_H_

#include "contact_slope.h"
#include "motion.h"
#include "smooth_slope.h"

#include <dijoco/mujoco.h>

enum { DJM_MAXROWS = 6 };   // of a contact or a weld, pyramids' edges taken together

// Where rows are added up.
typedef struct djmRowSum {
  const mjModel* m;      // without plugins
  const mjData* d;       // past mj_forward
  mjData* pose;          // the same: its geoms are moved and put back
  const mjtNum* a;       // (nv) the solution
  const djmMotion* motion;
  const mjtNum* y;       // (nefc) J a - aref
  const mjtNum* force;   // (nefc)
  const int* state;      // (nefc) mjtConstraintState
  int stride;            // of by_q and by_v
  mjtNum* H;             // (nv x nv) lower half: J^T S J is added
  mjtNum *by_q, *by_v;   // (nv x stride) g is added, but for wrenches that go with the bodies:
  mjtNum* wrench;        // (nbody x 6)
  djmSmoothWork* smooth;
  mjtNum* memory;        // (djm_rowScratchSize)
  mjtNum* hessian;       // (nv x nv) scratch
  mjtNum* by_force;      // (nefc x 2 nv) or NULL: derivatives of forces, a held, by q and v;
                         //   zero before
  int ncontact, features[DJM_NFEATURE];   // contacts that act, and by feature
  djmTransitionInfo* info;   // or NULL: where kinks are listed
  int* dof;              // (nv)
  bool drop_force, drop_impedance, drop_reference, drop_curvature, drop_feature;
} djmRowSum;

size_t djm_rowScratchSize(const mjModel* m);

// Forces and states of all rows by y, as the solver has them at its end.
void djm_findForces(mjtNum* force, int* state, const mjModel* m, const mjData* d,
                    const mjtNum* y);

// Forces by y in given states.
void djm_forcesIn(mjtNum* force, const int* state, const mjData* d, const mjtNum* y);

// S (dim x dim) of a contact with an elliptic cone, in state CONE; rows from adr.
void djm_coneCurvature(mjtNum* S, const mjData* d, const mjContact* con, int adr,
                       const mjtNum* y);

// Derivative of ln D by pos of the constraint that row adr belongs to.
mjtNum djm_impedanceSlope(const mjData* d, int adr);
// Of K I (pos - margin), by pos.
mjtNum djm_springSlope(const mjData* d, int adr);

// Adds a kink, of DJM_KINK_DISTANCE or nearer, to the list.
void djm_addKink(djmTransitionInfo* info, djmKinkKind kind, const mjData* d, int adr,
                 mjtNum distance);

// Adds all constraints.
djStatus djm_addRows(djmRowSum* sum, djError* err);

// Its parts. Rows of contact `con`; of limits, friction loss, equalities of joints and tendons; of
// equality i from row adr.
void djm_addContact(djmRowSum* sum, const mjContact* con, const djmContactSlope* slope);
bool djm_contactActs(const djmRowSum* sum, const mjContact* con);

// rate (nv x 7): of dist, pos and turn of the contact by each dof.
void djm_contactRates(mjtNum* rate, const djmRowSum* sum, const mjContact* con,
                      const djmContactSlope* slope);
// Adds it to sum's counts and kinks.
void djm_countContact(djmRowSum* sum, const mjContact* con, const djmContactSlope* slope);

// Contacts that act, by sum's m, d, pose and state, with their slopes.
typedef void (*djmContactVisit)(void* user, const mjContact* con, const djmContactSlope* slope);
djStatus djm_visitContacts(const djmRowSum* sum, djmContactVisit visit, void* user, djError* err);
djStatus djm_addScalar(djmRowSum* sum, int adr, djError* err);
void djm_addPair(djmRowSum* sum, int adr);

// Dofs that move body 1, 2 or both, the last first; in: bit 0 and 1 of `which`. Returns how many.
int djm_unionDofs(int* dof, unsigned char* which, const mjModel* m, int body1, int body2);

#endif  // DJ_MUJOCO_ROWS_H_
