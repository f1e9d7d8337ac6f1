// What the parts of the smooth derivatives share: chains of dofs that move a point, and functions
// of q with their first and second derivatives over the few dofs that they depend on.
//
// A dof k moves what comes after it as a rigid body. With s the angular part of a dof's axis and p
// the velocity of a point by it (both in world axes), moving along dof k turns s_j and p_j by s_k
// where k precedes j, or both turn the same quaternion. Otherwise s_j stays, and the point moves:
//   ds_j/dq_k = s_k x s_j  or  0,        dp_j/dq_k = s_k x p_j  or  s_j x p_k.

#ifndef DJ_MUJOCO_SMOOTH_WORK_H_
#define DJ_MUJOCO_SMOOTH_WORK_H_

#include "smooth_slope.h"

enum { DJM_NCHAIN = 4 };

// Dofs that move a body, from the root on, and how they move one of its points.
typedef struct djmChain {
  int n;
  int* dof;  // n
  double* p; // n x 3
  double* s; // n x 3
} djmChain;

// A function of q: its derivatives over n dofs.
typedef struct djmForm {
  int n;
  int* dof;        // n
  int* index;      // nv: place in dof, or -1
  double* slope;   // n: by q
  double* moment;  // n: the row that velocities and forces see; not always `slope`
  double* hessian; // n x n: of `moment` by q; valid if `turns`
  bool turns;      // whether `moment` depends on q
} djmForm;

// One dof in the derivative of inverse dynamics (inverse_slope.c).
typedef struct djmDof {
  double axis[6], bend[6], turn[6], rate[3], pad[3];
} djmDof;

enum { DJM_FORCE = 0, DJM_CORIOLIS = 6, DJM_MOMENTUM = 15, DJM_NSUM = 18 };

typedef struct djmBody {
  double acc[6], sum[DJM_NSUM];
} djmBody;

struct djmSmoothWork {
  int nv, nbody;
  int* groupend; // nv: the first dof behind those that turn the same quaternion
  djmDof* dof;
  djmBody* body;
  djmChain chain[DJM_NCHAIN];
  djmForm form;
  double *e0, *e1, *sg; // nv x 3: scratch of wrapping
  double* row;          // nv: scratch
  double* square;       // nv x max(nv, 6): scratch
  bool* clamped;        // nv: joints whose actuator force is at its range
  int* list;            // nv
};

static inline int djm_groupSize(const mjModel* m, int dof) {
  int jnt = m->dof_jntid[dof], type = m->jnt_type[jnt];
  if (type == mjJNT_BALL) return 3;
  return type == mjJNT_FREE && dof >= m->jnt_dofadr[jnt] + 3 ? 3 : 1;
}

djStatus djm_refuse(djError* err, const char* format, ...) DJ_FORMAT(2, 3);
const char* djm_nameOf(const mjModel* m, int type, int id);

// point: 3, of the body, in the world
void djm_fillChain(djmChain* c, const mjModel* m, const mjData* d, int body, const double* point);
int djm_commonDofs(const djmChain* a, const djmChain* b);

void djm_openForm(djmForm* f);
void djm_addDof(djmForm* f, int dof);
// Dofs of c from `first` on; then djm_startForm() clears slope, moment and hessian.
void djm_addChain(djmForm* f, const djmChain* c, int first);
void djm_startForm(djmForm* f, bool turns);
void djm_closeForm(djmForm* f);

// f->moment += p^T force + s^T torque, scaled; hessian: that row's derivative while force and
// torque keep their components in the world.
void djm_addWrenchForm(djmForm* f, const djmChain* c, int first, const int* groupend,
                       const double* force, const double* torque, double scale);

// The same, subtracted from rows of a matrix by q (nv x nv).
void djm_subWrench(double* by_q, int nv, const djmChain* c, const int* groupend,
                   const double* force, const double* torque);

// ---- parts; matrices are added to, each may be NULL -------------------------------------------

djStatus djm_passiveSlope(double* by_q, double* by_v, const mjModel* m, const mjData* d,
                          djmSmoothWork* w, djError* err);
void djm_fluidSlope(double* by_q, double* by_v, const mjModel* m, const mjData* d,
                    djmSmoothWork* w);
djStatus djm_tendonSlope(double* by_q, double* by_v, const mjModel* m, const mjData* d,
                         djmSmoothWork* w, djError* err);
djStatus djm_armatureSlope(double* by_q, double* by_v, const mjModel* m, const mjData* d,
                           const double* a, djmSmoothWork* w, djError* err);
djStatus djm_actuatorSlope(double* by_q, double* by_v, double* by_act, double* by_ctrl,
                           const mjModel* m, const mjData* d, djmSmoothWork* w, djError* err);

// Dofs and accelerations of bodies (inverse_slope.c) at zero acceleration, without gravity.
void djm_freeMotion(djmSmoothWork* w, const mjModel* m, const mjData* d);

// A tendon's length into w->form.
djStatus djm_tendonForm(djmSmoothWork* w, const mjModel* m, const mjData* d, int tendon,
                        djError* err);
// Length and moment of an actuator's output o into w->form; slope: of the length.
djStatus djm_transmissionForm(djmSmoothWork* w, const mjModel* m, const mjData* d, int actuator,
                              int o, djError* err);

// Damping and armature that a joint or a tendon has from actuators (poly: mjNPOLY, added to).
double djm_actuatorDamping(double* poly, const mjModel* m, bool tendon, int id);
double djm_actuatorArmature(const mjModel* m, bool tendon, int id);
// Force k x + poly[0] x^2 + .. (odd: x |x|) and its derivative.
double djm_polyForce(double* slope, double k, const double* poly, double x, bool odd);
bool djm_hasForce(double k, const double* poly);
bool djm_actuatorOff(const mjModel* m, int actuator);

#endif // DJ_MUJOCO_SMOOTH_WORK_H_
