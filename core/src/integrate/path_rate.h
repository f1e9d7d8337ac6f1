// Rates along coordinates that bend, of methods whose stages have a velocity V (inverse.h):
// dx/dq V, where differences of lengths over the time t would err at first order in it. Forces see
// them as the displacement from
//   x_rate = x - t dx/dq V,
// which is written over the coordinate at work->rate. With f a force's slope along x, krate its
// derivative by x_rate, J = dx/dq at Q, s the derivative of J V by Q, V held, and dV = (dpsi)/t +
// what other sources do, dpsi = J_r^-1 (dQ - E dq):
//   d(f J) = f dJ + J^T (k J + krate (J - t s - J J_r^-1)) dQ + krate J^T J J_r^-1 E dq
//            - t krate J^T J (sum of a_k dsrc_k).
// What f is beyond that of the difference of lengths is no derivative of an energy.

#ifndef DJ_INTEGRATE_PATH_RATE_H_
#define DJ_INTEGRATE_PATH_RATE_H_

#include "integrate/work.h"

// After dj_beginStep, and work->bends: keeps the lengths of work->rate.
void dj_beginPathRates(djWork* work, const djModel* model);

// At a place that is opened, V set. All of them put V's rates in the place of lengths at `rate`.
void dj_setPathRates(djWork* work, const djModel* model, const djPlace* at);
// Before forces are evaluated: their slopes by rates, into work->sum.path; then lengths again.
djStatus dj_findPathSlopes(djWork* work, const djModel* model, const djPlace* at);
// After it, H whole: H, and what has no energy to work->nonpotential. Sets rates.
void dj_addPathRates(djWork* work, const djModel* model, const djPlace* at);

// After dj_startForces at the place: to Rq and G.
void dj_startPathRates(djMatrix* Rq, djMatrix* G, djWork* work, const djModel* model,
                       const djPlace* at);

// After dj_alongParams at the place: what parameters do to dx/dq V in z . gradient.
void dj_pathRateParams(djParamSums* sums, djWork* work, const djModel* model, const djPlace* at,
                       const double* z);

#endif  // DJ_INTEGRATE_PATH_RATE_H_
