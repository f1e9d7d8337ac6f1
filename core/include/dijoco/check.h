// Certificate of a directional derivative: differences of the loss itself along one direction.

#ifndef DIJOCO_CHECK_H_
#define DIJOCO_CHECK_H_

#include <dijoco/types.h>

#ifdef __cplusplus
extern "C" {
#endif

// Loss at step e along the direction. Returns false where it has none there (the run starts
// outside what the model allows): such steps are left out.
typedef bool (*djdLossAlong)(void* user, double e, double* loss);

// Losses that a certificate takes at most, and how many more for each variable a task's certificates
// take together: see djd_checkBudget.
enum { DJD_CHECK_RUNS = 800, DJD_CHECK_SHARE = 8 };

// Steps over which a variable's certificate has secants: 1e-3, 1e-2 and 5e-2 of the variable's
// scale.
enum { DJD_NSECANT = 3 };

// Whether a derivative foretells what steps of a size that is of use do.
typedef enum djdLead {
  DJD_LEAD_UNKNOWN,        // no secants were taken, or one is missing and the others agree
  DJD_LEADS,               // at every step
  DJD_LEADS_NOT            // not at one step at least
} djdLead;

// A directional derivative beside its differences.
typedef struct djdCertificate {
  double analytic;         // g.d as given, units of the loss
  double difference;       // Richardson-extrapolated difference, units of the loss; 0 where
                           //   analytic is 0 and rounding of the losses explains it
  double difference_error; // its own error estimate, units of the loss
  double step;             // 1; about which it was taken: the smallest one that entered
  double relative_error;   // 1; |analytic - difference| / max(|analytic|, 1e-9 |loss|)
  double uncertainty;      // 1; relative error that the difference's own error explains: four times
                           //   difference_error / max(|analytic|, 1e-9 |loss|)
  bool has_slope;          // false: the remainder at the largest step used for it is below
                           //   1e-10 max(|loss|, |analytic| step), or of third order wherever it
                           //   is above, so that nothing can be read
  double slope;            // 1; of log |L(e) - L - e g.d| over log e: 2 for a right gradient
  bool passed;             // relative_error <= 1e-6 + uncertainty, uncertainty <= 0.01 unless it
                           //   is 0 against 0, and slope in [1.9, 2.1] where there is one. At a
                           //   tie that is named: analytic is one of one_sided or between them
  bool surrogate;          // of djd_isSurrogate: these are not those
                           //   of the loss, `passed` says nothing
  unsigned touched;        // sum of 1 << djKink: of a design, what other runs cross than its own,
                           //   among those with steps up to 10 `step`; their losses have kinks there
  int evaluations;         // losses computed, but for secants
  double one_sided[2];     // units of the loss; slopes of the loss at steps below and above 0, by
                           //   differences; NaN where there are no such steps, or nothing is known
  char kink[160];          // names a tie or kink at step 0 between which slopes differ, or where a
                           //   gradient does not pass; "": none is known
  char gave_up[160];       // why there is no verdict, and then `passed` is false; "": there is one
  // Of a variable's certificate alone, else 0: slopes of runs along its direction,
  // (L(x + s d) - L(x - s d)) / (2 s), by up to 6 losses that `evaluations` does not count. Entries
  // that would pass a bound of the task end there, and both slopes are by what the movement has
  // along d. Where one side has no loss, or no room, the loss itself takes its place.
  djdLead leads;           // by secant and secant_analytic: see djd_leadsAt
  double scale;            // units of the variable; 0: no secants
  double secant_step[3];   // 1; s by the scale, ascending; this and the others: (DJD_NSECANT)
  double secant[3];        // units of the loss, as analytic; NaN: no run on either side
  double secant_analytic[3];   // units of the loss; the gradient's own: analytic, unless a bound is
                           //   in the way
  double secant_flat[3];   // units of the loss; what rounding may make of secant
  int secant_sides[3];     // 2, 1 or 0: on how many sides there was a run
} djdCertificate;

// Whether the gradient leads over a step: secant between half of secant_analytic and twice, each
// with secant_flat to spare, so that what is rounding on both sides leads, too. NaN does not.
DJ_API bool djd_leadsAt(const djdCertificate* certificate, int step);

// Steps form the ladder scale * 10^(-k/2), k = 0..18, from the largest downwards, both signs; it
// ends early where smaller steps cannot improve anything. A Richardson tableau over central
// differences (one-sided ones where only one sign is allowed) yields the difference with the
// smallest error estimate; the noise of the losses is measured. Where that is not enough, up to 374
// steps more are taken, whose fit averages the noise, while these can still decide something; in
// all DJD_CHECK_RUNS losses at most. The losses of the ladder yield the slope,
// from the largest step at which the remainder is mainly even in the step. scale > 0: the largest
// step. Returns DJ_NOT_CONVERGED where fewer than three steps of the ladder are allowed, and then
// does not pass.
DJ_API djStatus djd_check(djdCertificate* result, double loss, double analytic, double scale,
                          djdLossAlong along, void* user);

// Losses that the n-th certificate may take (from 1 on) after `taken` by those before: `most` of a
// single one (0: DJD_CHECK_RUNS), and n together as many and most / DJD_CHECK_SHARE for each of n, so
// that so many are left for each, whatever those before it took. 0: there are none left.
DJ_API int djd_checkBudget(int n, int most, long taken);

// Random number in [0, 1) that depends on seed, row and column only; the same on every machine.
DJ_API double djd_random(unsigned long seed, unsigned long row, unsigned long column);

#ifdef __cplusplus
}
#endif

#endif  // DIJOCO_CHECK_H_
