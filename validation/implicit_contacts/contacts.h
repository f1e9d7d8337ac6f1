// Parts of implicit_contacts.

#ifndef DJ_VALIDATION_IMPLICIT_CONTACTS_H_
#define DJ_VALIDATION_IMPLICIT_CONTACTS_H_

#include "common/report.h"
#include "common/vec3.h"

#include <dijoco/implicit.h>

enum { SHARP_FAMILIES = 4, LEVELS = 7 };

// Families in the order of the library's table, as the program's pictures have them; beta is 10
// times n, and n = 1, 2, 4... by level.
typedef struct Sharp {
  const char* name;
  djcImplicitShape shape;
  double size[26];
} Sharp;
void makeSharp(Sharp* s, int family, int level);

// The paper's phi, in long double and apart from the library's.
long double phiOf(const djcImplicitShape* s, const double y[3]);
// The distance from the origin to the surface along u (unit).
double radiusAlong(const djcImplicitShape* s, const double u[3]);

// Distance of each family's shapes from a ball, against that of the sharp ones, by level: the means
// over places. Checks the order.
void checkSharpness(djvReport* r, double error[SHARP_FAMILIES][LEVELS], int places);

// Pictures, as SVG files.
void drawSharpness(const char* file, double error[SHARP_FAMILIES][LEVELS]);
void drawWitness(const char* file);

#endif // DJ_VALIDATION_IMPLICIT_CONTACTS_H_
