// What certificates of designs are made of.

#ifndef DJ_GRADIENT_CERTIFY_H_
#define DJ_GRADIENT_CERTIFY_H_

#include <dijoco/design.h>

// djd_checkPhases by so many losses at most.
djStatus dj_checkLine(djdCertificate* result, djPhases* phases, const double* x,
                      const double* direction, double loss, double analytic, double scale,
                      int most);

// Secants of the loss at x (n) along the direction (n), where the loss is given and the gradient is
// analytic (n), over parts of the scale; trial (n) is scratch. The present points are moved.
void dj_takeSecants(djdCertificate* result, djPhases* phases, const double* x,
                    const double* direction, double loss, const double* gradient, double scale,
                    double* trial);

// Names a tie or a kink at which the runs at x (n) are, and which steps of size e along the direction
// (n) part; text is empty where none is found. One more run of each. The present points are moved.
djStatus dj_nameKink(char* text, size_t size, djPhases* phases, const double* x,
                     const double* direction, double e);

#endif  // DJ_GRADIENT_CERTIFY_H_
