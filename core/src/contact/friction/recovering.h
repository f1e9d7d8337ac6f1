// What kernels share for pairs that recover from an overlap: how much gap they get for the step,
// and a bound of friction's forces, which would be those of a barrier nearly closed.

#ifndef DJ_CONTACT_FRICTION_RECOVERING_H_
#define DJ_CONTACT_FRICTION_RECOVERING_H_

// The gap that a pair has for the step, by the gap g < from at its start and a unit of length that
// the caller chooses: with t = (g - from)/(from - floor)
//   g_eff = floor + (from - floor)/(1 - t + t^2),
// which joins g_eff = g at t = 0 with two continuous derivatives; and its derivative.
double dj_raisedGap(double* derivative, double g, double from, double floor);

// The factor c by which recovery bounds forces whose sum is F, and its derivatives by F and t; 1
// for t >= 0. W: djPairInput.force_cap.
double dj_lagBound(double derivative[2], double F, double t, double W);

#endif // DJ_CONTACT_FRICTION_RECOVERING_H_
