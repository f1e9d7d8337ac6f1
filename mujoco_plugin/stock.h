// Stock MuJoCo, for comparison: a private copy of a model with its data, and errors that come back
// as a status instead of ending the process.

#ifndef DJ_MUJOCO_STOCK_H_
#define DJ_MUJOCO_STOCK_H_

#include <dijoco/mujoco.h>

#include <dijoco/data.h>

typedef struct djStock {
  mjModel* m;                   // own copy; energy on, automatic reset off
  mjData* d;                    // state and inputs may be written between steps
  double gravity_scale;         // factor on gravity of the next steps
  // of the last step
  double distance;              // smallest distance over its contacts, infinite when there is none
  int ncontact;                 // body pairs with a contact force other than zero
  djContactForce* contact;      // sorted by (body1, body2); mean force over the step
  // of the last dj_probeStock
  double energy[2];             // potential, kinetic
  double probe_distance;
  // text of the last warning of MuJoCo, on one line, or ""
  char warning[512];
  struct djStockWork* work;     // private
} djStock;

// The state is that of qpos0.
djStatus dj_makeStock(djStock** stock, const mjModel* m, djError* err);
void dj_deleteStock(djStock* stock);

// State of keyframe `key`, or of qpos0 (key < 0).
djStatus dj_resetStock(djStock* stock, int key, djError* err);

// Set a parameter by the name that dj_paramId knows, with n values of the compiled model, and
// recompute what MuJoCo derives from it; the state is kept. contact/* has no counterpart and does
// nothing. DJ_UNSUPPORTED: a compiled model cannot be changed that way.
djStatus dj_setStockParam(djStock* stock, const char* name, int n, const double* value,
                          djError* err);

// One step with controls ctrl (nu), or with those in d->ctrl (NULL). DJ_INVALID: an error of
// MuJoCo, or a state that is not finite; err says which. With RK4, contact forces are those of the
// last of its four evaluations; otherwise those that acted during the step.
djStatus dj_stepStock(djStock* stock, const double* ctrl, djError* err);

// Energies and smallest contact distance of the present state; the run is not disturbed.
djStatus dj_probeStock(djStock* stock, djError* err);

#endif  // DJ_MUJOCO_STOCK_H_
