// Scalar coordinates x(q), on which springs, dampers, limits and actuators act: the coordinate of
// each slide and hinge, in the order of joints, the length of each tendon, the way of each slider
// that an actuator moves by a crank; and the numbers that equality constraints keep at 0.
//
// The dofs that move coordinate c are coord_dof[coord_dofadr[c] ...], ascending. A joint's own has
// dx/dq = 1, a fixed tendon its coefficients; the others bend: they are sums of spans (span.h), or
// functions of two others.

#ifndef DJ_MODEL_COORDINATE_H_
#define DJ_MODEL_COORDINATE_H_

#include "math/block_matrix.h"
#include "model/kinematics.h"

// Those that springs, dampers, limits and friction act along come first: all but sliders' and those
// of equality constraints.
static inline int dj_linkCoordinates(const djModel* m) {
  return m->ncoord - m->ncrank - m->nequalitycoord;
}

// Number of what coordinate c < dj_linkCoordinates belongs to, whose arrays are jnt_NAME and
// tendon_NAME of n columns.
#define DJ_LINK(m, c, name, n)                                                              \
  (((m)->coord_type[c] == DJ_COORD_JOINT ? (m)->jnt_##name : (m)->tendon_##name) +          \
   (n) * (m)->coord_id[c])

// All of them at one configuration.
typedef struct djCoordinates {
  double* x;           // (ncoord)
  double* J;           // (ncoorddof) dx/dq, of the dofs in coord_dof
} djCoordinates;

// A configuration: coordinates, poses and motion subspaces, scalar coordinates. Arrays are the
// caller's.
typedef struct djPlace {
  double* q;           // (nq)
  djKin kin;
  djCoordinates coord;
} djPlace;

// Poses and scalar coordinates at place->q; then, about ref, what derivatives need.
void dj_setPlace(djPlace* place, const djModel* model, const double* mocap_pos,
                 const double* mocap_quat);
void dj_copyPlace(djPlace* dest, const djModel* model, const djPlace* src);   // what the first sets
void dj_openPlace(djPlace* place, const djModel* model, const djVec3* ref);

// What an equality constraint of joints or tendons keeps at 0, with the differences x_k of
// coordinates c[k] from those at qpos0: value = x_0 - P(x_1), slope P' and bend P''. c[1]: -1 where
// there is none. False: c is no such coordinate. Of coord x is used.
typedef struct djCoupling {
  int c[2];
  double x, value, slope, bend;   // x = x_1
} djCoupling;
bool dj_coupling(djCoupling* coupling, const djModel* model, const djCoordinates* coord, int c);

// Bytes of the arrays, and a djCoordinates whose arrays lie in memory of that size, with what is
// constant of J.
size_t dj_coordinatesSize(const djModel* model);
djCoordinates dj_initCoordinates(const djModel* model, void* memory);

// x at qpos (nq), whose poses are kin.
void dj_setCoordinates(djCoordinates* coord, const djModel* model, const double* qpos,
                       const djKin* kin);

// J there; motion subspaces about ref must be set.
void dj_setCoordinateJacobian(djCoordinates* coord, const djModel* model, const djKin* kin,
                              const djVec3* ref);

// x is not linear in q: its Hessian is not zero. Any of them.
bool dj_coordinateBends(const djModel* model, int c);
bool dj_anyBends(const djModel* model);

// The Hessian of coordinate c times f: nested derivatives by poses to N (nbody x 36), what couples
// two bodies to H (lower triangle). This and what follows by poses is not for those that are
// functions of two others.
void dj_addCoordinateCurvature(double* N, djMatrix* H, const djModel* model, const djKin* kin,
                               const djVec3* ref, int c, double f);

// Adds f dx/d pose of coordinate c to wrenches (nbody x 6) about ref; and f times what its second
// derivatives make of twists z (nbody x 6) to C, as the cotangents of frame_param.h.
void dj_addCoordinateWrench(double* W, const djModel* model, const djKin* kin, const djVec3* ref,
                            int c, double f);
void dj_addCoordinateCotangents(double* C, const djModel* model, const djKin* kin,
                               const djVec3* ref, int c, double f, const double* z);

// Adds the derivative of f x by site/pos, by pos, quat and size of geoms that paths go around, and
// by points of equality constraints to param (dj_paramGradSize); of f dx/dq z, with twists z
// (nbody x 6).
void dj_addCoordinateSites(double* param, const djModel* model, const djKin* kin, int c, double f);
void dj_addCoordinateSitesSecond(double* param, const djModel* model, const djKin* kin,
                                 const djVec3* ref, int c, double f, const double* z);

// Derivatives T (n x n) of dx/dq of coordinate c: T[n*i + k] of the entry of its i-th dof along the
// k-th. coord: at that place, with J. scratch (DJ_SLOPE_SCRATCH(n)).
#define DJ_SLOPE_SCRATCH(n) ((size_t)(n) * (39 + (size_t)(n)))
void dj_coordinateSlopes(double* T, double* scratch, const djModel* model, const djKin* kin,
                         const djCoordinates* coord, const djVec3* ref, int c);
// Derivative of dx/dq v of coordinate c, v (nv) held, along its k-th dof. Not of equality
// constraints.
double dj_coordinateRateSlope(const djModel* model, const djKin* kin, const djVec3* ref, int c,
                              const double* v, int k);

// Pairs of trees that a coordinate couples.
void dj_coupleCoordinates(djPattern* pattern, const djModel* model);

// The dofs that move coordinate c, and dx/dq by them.
typedef struct djAlong {
  int n;
  const int* dof;
  const double* J;
} djAlong;

static inline djAlong dj_along(const djCoordinates* coord, const djModel* m, int c) {
  int first = m->coord_dofadr[c];
  return (djAlong){m->coord_dofnum[c], m->coord_dof + first, coord->J + first};
}

// dx/dq of coordinate c times z (nv).
static inline double dj_coordinateRate(const djCoordinates* coord, const djModel* m, int c,
                                       const double* z) {
  double sum = 0;
  int first = m->coord_dofadr[c];
  for (int k = first; k < first + m->coord_dofnum[c]; k++) sum += coord->J[k] * z[m->coord_dof[k]];
  return sum;
}

#endif  // DJ_MODEL_COORDINATE_H_
