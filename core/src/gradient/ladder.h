// Losses along a line at a ladder of steps, and what their differences know of the derivative.

#ifndef DJ_GRADIENT_LADDER_H_
#define DJ_GRADIENT_LADDER_H_

#include <dijoco/check.h>

// How far the loss at step e is from that at 0. Returns false where there is none.
typedef bool (*djChangeAlong)(void* user, double e, double* change);

enum { DJ_LADDER = 19 };
#define DJ_RATIO 3.1622776601683795   // of neighbouring steps: sqrt(10)

typedef struct djLadder {
  djChangeAlong along;
  void* user;
  double loss;                               // at step 0
  double scale;                              // the largest step
  double rounding;                           // of one loss
  double noise;                              // of one loss, as measured
  int evaluations;
  int most;                                  // of these
  bool spent;                                // more were wanted
  int n;                                     // steps so far
  double e[DJ_LADDER];
  double plus[DJ_LADDER], minus[DJ_LADDER];  // changes; NaN where not allowed
} djLadder;

// The derivative as differences know it.
typedef struct djDifference {
  double value, error;    // error: an estimate, about three times what it mostly is
  double step;            // the smallest that entered
  int side;               // 0 central, +1 and -1 one-sided
} djDifference;

// The change at step e; NaN where there is none.
double dj_changeAt(djLadder* ladder, double e);

// Measure the noise: after Moré and Wild.
void dj_measureNoise(djLadder* ladder);

// One step more. Then the difference with the smallest error so far; false: too few steps.
void dj_descend(djLadder* ladder);
bool dj_extrapolate(djDifference* out, const djLadder* ladder);

// The slope on one side, +1 or -1; false: too few steps.
bool dj_oneSided(djDifference* out, const djLadder* ladder, int side);

// Whether n losses more may be taken; else it is spent.
bool dj_mayTake(djLadder* ladder, int n);

// Whether far smaller steps agree with it. Otherwise *below is a step that does not.
bool dj_isConfirmed(double* below, const djDifference* d, djLadder* ladder);

// Fit to n more losses on each side, at steps from *low on. Replaces the difference where its error
// is smaller, and puts *low where the next fit is to start.
void dj_refine(djDifference* d, double* low, djLadder* ladder, int n);

// Slope of the remainder's size, by how much it is in doubt, and whether there is one.
bool dj_measureSlope(double* slope, double* doubt, const djDifference* d, const djLadder* ladder,
                     double analytic);

// djd_check by changes whose rounding is known, of which so many may be taken.
djStatus dj_judge(djdCertificate* result, double loss, double analytic, double scale,
                  double rounding, int most, djChangeAlong along, void* user);

// Whether analytic is one of the slopes or between them, as far as these are known.
bool dj_isBetween(const djdCertificate* result, double analytic);

#endif  // DJ_GRADIENT_LADDER_H_
