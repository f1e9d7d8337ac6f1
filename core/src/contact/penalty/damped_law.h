// The force at a point of damped contact (damped contact, 3, 4, 9, 10, corrected: docs/damped.md).
//
// With d and d' as in penalty_law.h, T the timestep and R the time from the poses now to the step's
// end, the gap there, and alpha steps later at the same velocity, is
//   g = d + (R + alpha T) d'.
// Its normal force N = s f(g) is positive and falls with g,
//   perturbed        f = sigma/g
//   smooth_penalty   f = kn (sqrt(g^2 + 4 sigma/kn) - g)/2,  the root of f (g + f/kn) = sigma
//   log              f = kn (2 (g-c) ln(g/c) + (g-c)^2/g) for g < c, else 0,  c = detect
// and its friction, t the velocity along the surface,
//   smooth           -mu N t/sqrt(|t|^2 + friction_eps)
//   perturbed        -mu N^2 t/(N |t| + s sigma_t)
// Force and opposite act at one point x. What of `perturbed` and `log` is infinite at g = 0 goes on
// along its tangent from where f is STEEP times the weight that moves, or g = SHALLOW c: a start
// inside, or behind an obstacle that rises, then comes out.

#ifndef DJ_CONTACT_PENALTY_DAMPED_LAW_H_
#define DJ_CONTACT_PENALTY_DAMPED_LAW_H_

#include "contact/penalty/penalty_law.h"

typedef struct djDampedLaw {
  djLaw law;
  djPointFriction friction;
  double sigma, kn;    // N m, N/m
  double ahead;        // R + alpha T, s
  double sigma_t, eps; // W, m2/s2
  double c;            // m
  double most;         // N, where `perturbed` goes on along its tangent; infinite: nowhere
} djDampedLaw;

// f and its derivatives by g, sigma and kn.
typedef struct djDampedForce {
  double f, by_g, by_sigma, by_kn;
} djDampedForce;
djDampedForce dj_dampedForce(const djDampedLaw* law, double g);

// `own` of djPenaltyLaw is a djDampedLaw; that of djPointForce N by g, the friction -mu a t over
// -t, mu a, and its derivatives by N and |t|, that over |t|.
enum { DJ_DAMPED_SLOPE, DJ_DAMPED_DRAG, DJ_DAMPED_DRAG_BY_N, DJ_DAMPED_DRAG_BY_SPEED };
// `own` of djPointGrad.
enum { DJ_DAMPED_BY_SIGMA, DJ_DAMPED_BY_KN, DJ_DAMPED_BY_AHEAD, DJ_DAMPED_BY_SHARE };
extern const djPointRow dj_dampedPoints;

#endif // DJ_CONTACT_PENALTY_DAMPED_LAW_H_
