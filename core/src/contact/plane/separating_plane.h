// The separating-plane contact model (SDRS): row of the kernel table, and its settings.

#ifndef DJ_CONTACT_PLANE_SEPARATING_PLANE_H_
#define DJ_CONTACT_PLANE_SEPARATING_PLANE_H_

#include "contact/kernel.h"
#include "math/barrier.h"

// Settings, in this order.
enum {
  DJ_PLANE_PRESET,         // of dj_planePresets
  DJ_PLANE_BARRIER,        // djBarrierLaw
  DJ_PLANE_LENGTH_SCALE,   // L, m
  DJ_PLANE_INNER_RADIUS,   // r, m
  DJ_PLANE_LOAD,           // W, N
  DJ_PLANE_RECOVERY_LOAD,  // P, N
  DJ_PLANE_SUPPORT_SCALE,
  DJ_PLANE_STIFFNESS_SCALE,
  DJ_PLANE_FRICTION_EPS_SCALE,
  DJ_PLANE_SUPPORT,        // s, dimensionless
  DJ_PLANE_STIFFNESS,      // K, J: multiplies the dimensionless barrier
  DJ_PLANE_RECOVERY,       // part of K
  DJ_PLANE_SKIN,           // m
  DJ_PLANE_FRICTION_EPS,   // m^2/s^2
  DJ_PLANE_ARMS,           // djArms
  DJ_PLANE_CAP,            // djCap
  DJ_PLANE_GUIDE_FACTOR,   // on guide's rule
  DJ_PLANE_GUIDE_RADIUS,   // m, of a geom: half of l
  DJ_PLANE_GUIDE_PART,     // of a geom: of its body's surface
  DJ_PLANE_GUIDE_LENGTH,   // a, m
  DJ_PLANE_GUIDE,          // c, J: the tail; 0: none
  DJ_PLANE_GUIDE_DECAY,    // p, dimensionless
  DJ_PLANE_NSETTING
};

#define DJ_TAIL_DECAY 1.5   // p of the tail as it is

// Distance beyond which the barrier does not act, 2 s L/(1 - s).
static inline double dj_planeRange(const double* setting) {
  double s = setting[DJ_PLANE_SUPPORT];
  return 2 * s * setting[DJ_PLANE_LENGTH_SCALE] / (1 - s);
}

// The barrier by the settings.
static inline djBarrier dj_planeLaw(const double* setting) {
  return (djBarrier){setting[DJ_PLANE_SUPPORT], (djBarrierLaw)setting[DJ_PLANE_BARRIER]};
}

// Entry `touch` of the row.
double dj_planeTouch(double* setting, double* by);

// Its derivative by s.
static inline double dj_planeRangeSlope(const double* setting) {
  double r = 1 - setting[DJ_PLANE_SUPPORT];
  return 2 * setting[DJ_PLANE_LENGTH_SCALE] / (r * r);
}

extern const djKernelSettings dj_planeSettings;
extern const djPreset dj_planePresets[];
extern const djChoice dj_planePresetNames[];
double dj_planeSkin(const double* setting, double inner);

extern const djKernel dj_separatingPlane;

#endif  // DJ_CONTACT_PLANE_SEPARATING_PLANE_H_
