// Forward over adjoint. A run is a row of *parts*, most of them whole steps, with states x_i and
//   dx_{i+1} = A_i dx_i + B_i du_i + P_i dtheta            along a direction,
//   lambda_i = A_i^T lambda_{i+1} + dL/dx_i                 its adjoint, of which
//   dlambda_i = d/de [A_i(e)^T (lambda_{i+1} + e dlambda_{i+1}) + dL/dx_i(e)]
// is the derivative, as the gradients' by inputs and parameters are. A_i(e) is of a step that
// starts at x_i (+) e dx_i and whose stages end at Q (+) e dQ, dQ being their tangents: to first
// order in e it is a solution, so that nothing is solved. The derivative by e is a difference, see
// dj_differ. Changes of states and adjoints are in the axes of bodies, at x_i (+) e dx_i.

#ifndef DJ_GRADIENT_HESSIAN_H_
#define DJ_GRADIENT_HESSIAN_H_

#include "gradient/loss_run.h"
#include "gradient/tape.h"

#include <dijoco/hessian.h>

// What is compared on its own: entries from..from + n - 1, times weight (n), or NULL: 1.
typedef struct djStretch {
  int from, n;
  const double* weight;
} djStretch;

struct djHessian {
  djSizes sizes; // of the model
  int horizon;
  djData* data; // what opens parts anew
  djTape* step; // of djd_stepHvp, or NULL
  void* memory; // of what follows, nmemory bytes
  size_t nmemory;
  void* sums; // of djParamSums, nsums bytes
  size_t nsums;
  double* rate; // (horizon + 1 x nx) of cotangents, then (horizon x nu), in memory of
  size_t nrate; //   nrate bytes
  double* ctrl_rate;
  bool rated; // they have been given
  bool fixed; // cotangents are of the end's coordinates, see djd_stepHvp
  long steps;
  double error;

  // Of the product under way.
  const djModel* model;
  const djRollout* rollout;
  djTape* tape;
  const djVariation* along;
  djModel* moved[4];        // with parameters moved: at two distances, forward and back; or NULL
  double distance[2];       // of these
  int npart, np;            // parts of the run; entries of parameters
  int* part_step;           // (npart) its step
  double* dx;               // (npart + 1 x nx)
  double* dQ;               // (npart x DJ_MAX_STAGE x nv)
  double *value, *base;     // (most values of a parameter) scratch; (all values) of the model
  double *lambda, *dlambda; // (nx)
  double* mix;              // (nx) lambda + e dlambda
  double* du;               // (horizon x nu) of the gradient
  double* dtheta;           // (np)
  double* theta;            // (np) the gradient itself
  double *q, *v;            // (nq), (nv) a state
  double *run_q, *run_v, *run_act; // of a callback: (horizon + 1 x ...) the run moved
  double *ctrl, *by_ctrl;          // (horizon x nu) scratch
  double* Q;                       // (DJ_MAX_STAGE x nq)
  double* psi;                     // (DJ_MAX_STAGE x nv)
  double* scratch;                 // (dj_linearScratch)
  double* residual;                // ((DJ_MAX_STAGE + 1) x nv) changes by parameters
  struct djHold* hold;             // (DJ_MAX_STAGE x dj_holdCount) of the part's own stages
  double* sample;                  // (10 x nsample) of dj_differ
  int nsample;                     // numbers of what is differentiated, at most
  double *change, *mean;           // (nsample) results
  djStretch stretch[6]; // (nstretch) q, v, the rest of a state, controls, parameters, and room
  int nstretch;
  double* weight;       // (np) what the parameters are
  double size;          // of steps of differences: carried from part to part
  void* loss;           // dj_lossWorkSize
  double* loss_scratch; // (nbody x 12)
  double *reference, *dreference, *pull, *dpull, *target; // (nloss x 3)
};

// A function of e near 0, n numbers.
typedef djStatus (*djSampled)(double* out, void* user, double e);

// d (n) <- the derivative of f at 0, mean (n, or NULL) its value there. By central differences over
// *step and a quarter of it, extrapolated; where they are far apart over shorter ones. *step is
// left as is best for the next one. *error: the larger of it and what djd_hessianError has. sample:
// 10 n numbers.
djStatus dj_differ(double* d, double* mean, double* step, double* error, int n,
                   const djStretch* stretch, int nstretch, djSampled f, void* user, double* sample);

// Part i of the run: its linearisation; the record, where the step was taken in parts; how many.
typedef struct djRunPart {
  const djLinear* linear;
  const djTapePart* part;
  int step, nparts, index;
} djRunPart;
djRunPart dj_runPart(const djHessian* h, int i);

// The model with parameters moved by e; NULL: it cannot be, the error of h->data says why.
const djModel* dj_movedModel(djHessian* h, double e);

// Tangents dx and dQ of the run, h->dx and h->dQ.
djStatus dj_pushRun(djHessian* h);

// lambda, dlambda: of the end of part i to that of its start; adds to du and dtheta.
djStatus dj_pullPart(djHessian* h, int i);

// What the loss adds at state k, of the start of part i; targets of relative terms first.
djStatus dj_pushReferences(djHessian* h);
djStatus dj_pullLoss(djHessian* h, int k, int i);

// Memory of a product of h->along, and at least so many bytes in old memory's place.
djStatus dj_takeHessian(djHessian* h, const djModel* model);
djStatus dj_hessianRoom(void** memory, size_t* size, size_t need, djData* data);

// Copies of the model, for dj_movedModel, and h->base; what parameters are, h->weight.
djStatus dj_makeMoved(djHessian* h, const djModel* model);
void dj_dropMoved(djHessian* h);
void dj_weighParams(djHessian* h);

// The product with changes in the axes of bodies, and derivatives in these: H along without what
// makes it symmetric, see dijoco/hessian.h.
djStatus dj_rolloutHvp(djVariation* product, const djVariation* along, const djModel* model,
                       djData* data, const djRollout* rollout, djTape* tape, djHessian* hessian,
                       bool symmetric);

// Step of a difference for changes as large as the direction at part i: h->size by that.
double dj_stepFor(const djHessian* h, int i);

#endif // DJ_GRADIENT_HESSIAN_H_
