// What kernels share for pairs that recover from an overlap: how much gap they get for the step,
// and what friction's forces are, which would be those of a barrier nearly closed.

#ifndef DJ_CONTACT_FRICTION_RECOVERING_H_
#define DJ_CONTACT_FRICTION_RECOVERING_H_

#include "contact/kernel.h"
#include "math/smooth.h"

// The gap that a pair has for the step, by the gap g < from at its start and a unit of length that
// the caller chooses: with t = (g - from)/(from - floor)
//   g_eff = floor + (from - floor)/(1 - t + t^2),
// which joins g_eff = g at t = 0 with two continuous derivatives; and its derivative.
double dj_raisedGap(double* derivative, double g, double from, double floor);

// By how much the barrier of a pair is softer in recovery, r and c the caller's:
//   r^b(t) (1 + c w),   b = smoothstep(-t),   w = smoothRamp(-t - 5, 1);
// the logarithm, and its derivative by t. What cannot come out presses with what this leaves at
// g_eff: beyond t = -4, where a plane's shapes overlap, the deeper it is the more, as a spring's
// force, so that of several such pairs those give way that are less deep. t >= 0: 0.
djJet dj_softerBarrier(double t, double log_r, double c);

// What recovery makes of a lagged normal force F. A pair that leaves an overlap goes through gaps
// at which the barrier, hard as it is by the end of recovery, would press with thousands of
// weights; it goes on by its speed, and nothing of that is ever felt. Friction is to know the force
// that the last step had there. Where the gap g was g_ < g a step ago, the law that found that
// step's end was that of recovery from g_: eroded by e_ = g_eff(g_) - g_, softer by r_.
// With e and r those from g
//
//   F = A r p(u),   p(u) = -P'(u; 1),   of SDRS's barrier (1 - u)^3 (5 - u)/u^6,
//
// has a u, from which follows that step's A r_ p(u + e_ - e). F is
// multiplied by the ratio of both, rounded where it comes to 1:
//
//   k = exp(-y^4/(1 + y^3)),   y = log(A r p(u)) - log(A r_ p(u + e_ - e)), k = 1 where y < 0.
//
// k is 1 where the pair was at `from` or above, or has come nearer. In recovery the rest, k F, is
// bounded by W:
//
//   c = k (1 + (b(t) k F/W)^4)^(-1/4).
typedef struct djLagLaw {
  double from, floor; // of g_eff
  double softness;    // log r, r of dj_softerBarrier
  double deepens;     // c
  double scale;       // A, N
  double weight;      // W, N; not positive, infinite: no bound
  djBarrierLaw barrier;   // P
} djLagLaw;

typedef struct djLagFactor {
  double c;
  double by_force, by_gap, by_past, by_scale; // its derivatives by F, g, g_ and log A
} djLagFactor;

// past: g_, INFINITY where it does not matter. gap: INFINITY for a pair that never recovers.
djLagFactor dj_lagFactor(double F, double gap, double past, const djLagLaw* law);

// By no more than that points of two shapes have come nearer to each other since
// djPairInput.past_a, which is known, m.
double dj_movedSince(const djPairInput* in);

#endif // DJ_CONTACT_FRICTION_RECOVERING_H_
