// Strictly convex shapes given by implicit functions (iDCOL, III-C and appendix A).
//
// A shape is { y : phi(y) <= 0 } in a frame of its own, whose origin is inside. Its family is a row
// of the table below; a new one is one file and one line. Numbers of a shape, in the order in which
// they are written, are lengths first and its sharpness last.

#ifndef DJ_SHAPE_IMPLICIT_H_
#define DJ_SHAPE_IMPLICIT_H_

#include "math/vec.h"

#include <dijoco/types.h>

#include <stdbool.h>

typedef struct djImplicitRow djImplicitRow;

typedef struct djImplicit {
  const djImplicitRow* row;
  int nsize;             // numbers, the sharpness included
  const double* size;    // (nsize)
  double sharp;          // beta or n
  double ease;           // of smooth maxima: what is taken from log sum exp; 0
  double lift;           // and what ease is where the shape is eased
  double scale;          // times sharp: at 1 about an ellipsoid, as n of the others
  int power;             // n where it is a whole number up to 64; else 0
  djVec3 facing;         // of a half space: d
  int nface, npad;       // polytopes: facets; padded to a multiple of lanes by b = infinity
  const double* face[4]; // (npad) each: a/L (x, y, z) and b/L
  double round[6];       // (xx, yy, zz, xy, xz, yz) S: about the ellipsoid y.S^-1 y = 1
  double flat[6];        // S^-1
  double inner, outer; // a ball of the one about the origin is inside, one of the other outside, m
} djImplicit;

// phi at a point, with gradient and Hessian (xx, yy, zz, xy, xz, yz).
typedef struct djImplicitPoint {
  double phi;
  djVec3 g;
  double H[6];
} djImplicitPoint;

enum { DJ_FEW = 8 };

struct djImplicitRow {
  const char* name;
  const char* sharp; // name of the sharpness
  const char* list;  // name of the list of the others in files; NULL: they stand by their names
  const char* const* size; // names of the other numbers, up to NULL; NULL: polytopes
  // At any point, outside too; phi has no other zeros than the surface.
  void (*eval)(djImplicitPoint* out, const djImplicit* shape, djVec3 y);
  // Derivatives at a point by the numbers: rows of phi and of the entries of its gradient. NULL:
  // shapes may have more than DJ_FEW numbers, and `map` does it.
  void (*by)(double out[4][DJ_FEW], const djImplicit* shape, djVec3 y);
  // dj_mapNumbers; NULL: from `by`.
  void (*map)(double* out, int rows, const double* map, const djImplicit* shape, djVec3 y);
  // The field of that name.
  void (*round)(double S[6], const djImplicit* shape);
  // Radii of balls about the origin that are inside and outside for certain.
  void (*radii)(double* inner, double* outer, const djImplicit* shape);
};

static inline djVec3 dj_bendImplicit(const double H[6], djVec3 x) {
  return dju_vec3(H[0] * x.x + H[3] * x.y + H[4] * x.z, H[3] * x.x + H[1] * x.y + H[5] * x.z,
                  H[4] * x.x + H[5] * x.y + H[2] * x.z);
}

static inline void dj_putNumber(double out[4][DJ_FEW], int k, double dphi, djVec3 dgrad) {
  out[0][k] = dphi;
  out[1][k] = dgrad.x;
  out[2][k] = dgrad.y;
  out[3][k] = dgrad.z;
}

// Inverse of a positive definite matrix in that order, by cofactors.
static inline void dj_invertImplicit(double C[6], const double S[6]) {
  const double c0 = S[1] * S[2] - S[5] * S[5], c1 = S[4] * S[5] - S[3] * S[2];
  const double c2 = S[3] * S[5] - S[1] * S[4], f = 1 / (S[0] * c0 + S[3] * c1 + S[4] * c2);
  C[0] = c0 * f;
  C[1] = (S[0] * S[2] - S[4] * S[4]) * f;
  C[2] = (S[0] * S[1] - S[3] * S[3]) * f;
  C[3] = c1 * f;
  C[4] = c2 * f;
  C[5] = (S[3] * S[4] - S[0] * S[5]) * f;
}

// The table, which ends with NULL, and the row of that name or NULL.
extern const djImplicitRow* const dj_implicitTable[];
const djImplicitRow* dj_implicitRow(const char* name);

// The place of a row's name in it, or -1, and back; whether its numbers are facets; and how many numbers it has,
// sharpness included (nface: of polytopes, else 0).
int dj_familyNamed(const char* name);
const char* dj_familyName(int family);
bool dj_familyHasFacets(int family);
int dj_familySize(int family, int nface);

// How many numbers a shape has, and how much memory it takes (doubles); nface: of polytopes.
int dj_implicitSize(const djImplicitRow* row, int nface);
int dj_implicitRoom(const djImplicitRow* row, int nface);

// The shape of these numbers, with arrays in mem. DJ_INVALID says what is wrong with which.
djStatus dj_makeImplicit(djImplicit* shape, double* mem, const djImplicitRow* row, int nface,
                         const double* size, djError* err);

// The same with the numbers in mem, before what else takes room there. outer: a polytope's outer
// radius, where it is known to be bounded; else 0.
djStatus dj_fillImplicit(djImplicit* shape, double* mem, const djImplicitRow* row, int nface,
                         double outer, djError* err);

// A shape that has been filled there, but for its radii, ellipsoid, lift and scale.
void dj_viewImplicit(djImplicit* shape, const double* mem, const djImplicitRow* row, int nface);

// Derivatives by the numbers at a point of the surface, of what depends linearly on phi and its
// gradient there: out (rows x nsize), where map (rows x 4) is by phi and the gradient's entries.
void dj_mapNumbers(double* out, int rows, const double* map, const djImplicit* shape, djVec3 y);

// The half space z.d >= 0 as a shape that other ones touch, at their scale: no family of the table.
void dj_implicitHalfSpace(djImplicit* shape, djVec3 d, double scale);

extern const djImplicitRow dj_superellipsoid, dj_superellipticCylinder, dj_truncatedCone,
    dj_smoothPolytope, dj_smoothCapsule;

#endif // DJ_SHAPE_IMPLICIT_H_
