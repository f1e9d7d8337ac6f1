// All forces of one simulation, as an integrator calls them. In one step: begin; then at each point
// find, couple and clear its matrix, evaluate, sum; at the end start and inputs, or params.

#ifndef DJ_FORCE_FORCES_H_
#define DJ_FORCE_FORCES_H_

#include "force/twist_force.h"

#define DJ_FORCE_ID(id, name) DJ_FORCE_##id,
typedef enum djForceId { DJ_FORCES(DJ_FORCE_ID) DJ_NFORCE } djForceId;

typedef struct djForces {
  void* state[DJ_NFORCE];   // NULL: switched off
  djLoad* load;             // (nbody) of the step
  djTwistForces twist;      // sums of a call under way
  void* twist_memory;
  size_t size;              // bytes, without the contacts' own
} djForces;

djStatus dj_makeForces(djForces* forces, const djModel* model, djError* err);
void dj_freeForces(djForces* forces);
void dj_forgetForces(djForces* forces);
size_t dj_forcesSize(const djModel* model);
bool dj_hasContact(const djModel* model);   // it is switched on

// Start of a step, whose motion is at its start. Sets forces->load.
djStatus dj_beginForces(djForces* forces, const djMotion* at, djError* err);

// Coordinates that bend have moved at `rate`.
void dj_moveRates(djForces* forces, const djMotion* at);

// Adds what acts along coordinates and joints alone, matrices and bodies' arrays left alone: the
// sum's derivatives are not wanted, and the start's slopes along coordinates are added.
djStatus dj_alongForces(djForceSum* sum, djStartSum* start, djForces* forces, const djMotion* at);

// Value of the energies that are found ahead, infinite where the point is not allowed.
djStatus dj_findForces(double* value, bool* majorized, djForces* forces, const djMotion* at,
                       int flags);

// Names all couplings of forces that are asked for, beside those along coordinates.
void dj_coupleForces(djPattern* pattern, const djForces* forces, const djModel* model,
                     djActing acting);

// Adds all forces to the sum; what coordinates and joints hold goes to gradient, N and H, and
// wrenches stay, to be gathered with those of inertia.
djStatus dj_evaluateForces(djForceSum* sum, djForces* forces, const djMotion* at);

// Some force of the model is nonpotential (djForceRow): dr/dq+ is not symmetric.
bool dj_hasNonpotentialForces(const djForces* forces, const djModel* model);
// Those alone, after evaluation, once both triangles of H are set: gradient (nv) is overwritten.
void dj_nonpotentialForces(djForceSum* sum, double* gradient, djForces* forces, const djMotion* at);

// Derivatives by the start, at the point of the last evaluation, whose sum is given. Wrenches stay
// in N0 and Nrate.
djStatus dj_startForces(djStartSum* start, const djForceSum* sum, djForces* forces,
                        const djMotion* at);
// By the poses of `past`, which are known, into R.
djStatus dj_startPast(djMatrix* R, djForces* forces, const djMotion* at);
// What lagged quantities that belong to the point add to H and to bodies' N (nbody x 36).
djStatus dj_lagAtEnd(djMatrix* H, double* N, djForces* forces, const djMotion* at);
void dj_forceInputs(djInputSum* sum, djForces* forces, const djMotion* at);

// Adds the derivative of z . gradient by parameters, all but that of loads, in two calls: between
// them others may add to the cotangents, which the second takes to the parameters that move frames.
// Motion subspaces of all three points must be set. Leaves twists along z in sums->x.
djStatus dj_forceParams(djParamSums* sums, djForces* forces, const djMotion* at, const double* z);
// After the first, what parameters that move frames and sites do to coordinates that bend. The sums
// hold what acts along them beside forces; matrices and bodies' arrays are left alone.
djStatus dj_bendingParams(djParamSums* sums, djForceSum* sum, djStartSum* start, djForces* forces,
                          const djMotion* at, const double* z);
void dj_frameForces(djParamSums* sums, const djMotion* at, const double* z);

// Loads alone, bodies' centres of mass moving with the twists x (nbody x 6) at a point.
void dj_loadParams(double* param, const djForces* forces, const djMotion* at, const djPoint* point,
                   const double* x);

// Adds what contact's gradient changes by where bodies move by twists (nbody x 6) from the point of
// the last evaluation, to wrench (nbody x 6).
void dj_pushContacts(double* wrench, const djForces* forces, const double* twist);

djStatus dj_maxStep(double* fraction, djForces* forces, const djMotion* at, const djKin* trial);
double dj_potential(const djForces* forces, const djMotion* at);
djStatus dj_reportForces(djData* data, djForces* forces, const djMotion* at);

// Sets slope and bend, see djRateSum. After it: x times the derivative of actuator i's slope by its
// input, in the row of a dof.
void dj_rateSlopes(djRateSum* sum, djForces* forces, const djMotion* at);
void dj_rateInput(djInputSum* sum, const djForces* forces, const djMotion* at, int i, int dof,
                  double x);

// Of a step that has begun: slope by the velocity (nv) of what damps joints' dofs, and, unless NULL,
// its derivative. Adds d(sum of x slope)/d parameter, x (nv).
void dj_jointDamping(double* slope, double* bend, const djForces* forces, const djModel* model,
                     const double* qvel);
void dj_jointDampingParams(double* param, const djModel* model, const double* qvel,
                           const double* x);

// Of joint j's limit, >= 0, at the point: spring and damper; of a ball along the axis of its turn.
double dj_jointLimitForce(const djForces* forces, const djMotion* at, int j);
double dj_limitForceAlong(const djForces* forces, const djMotion* at, int coordinate);

// The list of contacts, or NULL.
static inline djContacts* dj_contactsOf(const djForces* f) {
  return f->state[DJ_FORCE_CONTACT] ? *(djContacts* const*)f->state[DJ_FORCE_CONTACT] : NULL;
}

// The first actuator on a body, which only they have, too; or -1.
int dj_firstAdhesion(const djModel* model);
// The first joint whose gravity compensation is not what bodies have: actuators' ranges clip it, or
// there is no actuation; or -1. Only integrators that take smooth forces by the start have that.
int dj_firstCompensated(const djModel* model);

#endif  // DJ_FORCE_FORCES_H_
