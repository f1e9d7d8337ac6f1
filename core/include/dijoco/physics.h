// Physics from outside: steps that another library takes, in place of the core's own.
//
// A model may have one, which dj_setPhysics gives it. While its option `contact` is
// DJ_CONTACT_MUJOCO, dj_step, derivatives of the step, and runs with their adjoint are those of
// this physics: its step takes state and inputs to the next state, its transition gives the
// matrices.
// Poses, losses, maps and parameters stay the core's. What is promised:
// - Layouts of qpos, qvel, act, ctrl, applied forces and mocap poses are those of djData; changes
//   of a state are tangent vectors (dj_tangentSize), matrices row-major.
// - A step depends on state, inputs, time and parameters alone: the same bits from the same start,
//   whatever was stepped before, in whichever djData.
// - Where derivatives are wanted (`exact`) it is solved as far as rounding allows.
// - What a step changes is its data's own; the model's part is read alone then, by many threads.

#ifndef DIJOCO_PHYSICS_H_
#define DIJOCO_PHYSICS_H_

#include <dijoco/data.h>

#ifdef __cplusplus
extern "C" {
#endif

// One call on a step's start.
typedef struct djPhysicsStep {
  const djModel* model;    // whose step it is
  const void* own;         // the physics' part of the model
  void* data;              // and of the djData
  const djData* start;     // state and inputs alone: quaternions are of unit length, and time,
                           //   gravity_scale
  bool exact;              // derivatives are wanted
  djError* err;            // says what is wrong where a call fails
} djPhysicsStep;

// Its part of a model, for a copy of the model; and its end.
typedef djStatus (*djPhysicsCopy)(void** copy, const void* own, djError* err);
typedef void (*djPhysicsDelete)(void* own);
// The model is to be stepped by it from now on, or its options have changed: takes over options and
// all parameters. Negative: it cannot be, err says why.
typedef djStatus (*djPhysicsChoose)(void* own, const djModel* model, djError* err);
// One parameter has changed while it is chosen.
typedef djStatus (*djPhysicsSet)(void* own, const djModel* model, const djParam* param,
                                 djError* err);
// Its part of a djData, made after it was chosen; bytes of that.
typedef djStatus (*djPhysicsMake)(void** data, const void* own, djError* err);
typedef size_t (*djPhysicsBytes)(const void* data);
// The state at the end: qpos (nq), qvel (nv), act (na); iterations of its solver.
typedef djStatus (*djPhysicsTake)(double* qpos, double* qvel, double* act, int* iterations,
                                  const djPhysicsStep* at);
// What touched in the step taken last, at the poses of its start, the gap as it is, one entry for a
// pair of geoms: the first `most` to pair. Returns how many there are.
typedef int (*djPhysicsContacts)(djContactPair* pair, int most, const djPhysicsStep* at);
// A (nx x nx) and B (nx x nu), nx = dj_tangentSize, of the step from there.
typedef djStatus (*djPhysicsLinearize)(double* A, double* B, const djPhysicsStep* at);
// The adjoint of the step from there: dx (nx) += A^T lambda, du (nu) += B^T lambda, either may be
// NULL; and to sums in data, lambda^T dx+/dparameter of the parameters asked for.
typedef djStatus (*djPhysicsVjp)(double* dx, double* du, const djPhysicsStep* at,
                                 const double* lambda);
// From now on those n parameters, from sums that are zero.
typedef djStatus (*djPhysicsAsk)(const djPhysicsStep* at, int n, const djParam* param);
// gradient (sum of ntangent) += the sums, after the last step: one parameter after the other.
typedef djStatus (*djPhysicsAnswer)(double* gradient, const djPhysicsStep* at, int n,
                                    const djParam* param);

// A physics.
typedef struct djPhysics {
  const char* name;                // a contact model's
  djPhysicsCopy copy_model;        // what each does: see its type
  djPhysicsDelete delete_model;    // likewise
  djPhysicsChoose choose;          // likewise
  djPhysicsSet set_param;          // likewise
  djPhysicsMake make_data;         // likewise
  djPhysicsDelete delete_data;     // likewise
  djPhysicsBytes data_bytes;       // likewise
  djPhysicsTake step;              // likewise
  djPhysicsLinearize transition;   // likewise
  djPhysicsVjp vjp;                // NULL: adjoints are by A and B; then also
  djPhysicsAsk ask;                // NULL: there are no derivatives by parameters; likewise
  djPhysicsAnswer answer;          // of `ask`
  djPhysicsContacts contacts;      // NULL: there are none
} djPhysics;

// Give a model that has none a physics and its part, which is the model's from then on. A failure,
// where `contact` chooses it already and it cannot be, leaves `own` to the caller.
DJ_API djStatus dj_setPhysics(djModel* model, const djPhysics* physics, void* own, djError* err);

#ifdef __cplusplus
}
#endif

#endif  // DIJOCO_PHYSICS_H_
