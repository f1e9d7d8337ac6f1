// Contact queries: one pair of shapes, without a model.

#ifndef DIJOCO_CONTACT_H_
#define DIJOCO_CONTACT_H_

#include <dijoco/types.h>

#ifdef __cplusplus
extern "C" {
#endif

// A convex shape in world coordinates: vertices with a common radius, or a geom with a pose. The
// faces of a cylinder with radius r and half height h are domes, lower at the edge by
// DJ_DOME r h/(r + h), DJ_DOME being 0.02.
typedef struct djcShape {
  int nvert;              // > 0: vertices; 0: a geom
  const double* vert;     // (nvert x 3) m
  double radius;          // m, >= 0; vertex shapes
  djGeomType geom;        // type of a geom
  double size[3];         // m; of a geom, as MuJoCo's
  double pos[3];          // m; of a geom
  double quat[4];         // quaternion of a geom; is normalised, not zero
  double origin[3];       // m; point that twists refer to
  int nweight;            // 0: a guide's weights are from the flat facets, else those of the
  const double* weight;   // (nweight) vertices of the contact shape: parts of its surface, >= 0; 1
  int ntri;               // triangles of vertices, outward and closed, for long_range; 0: of their hull
  const int* tri;         // (ntri x 3) vertex indices
  int nnode;              // 0, or 2 ntri - 1: a tree over these triangles, for long_range
  const int* node;        // (nnode x 2) both children, of a leaf its triangle and -1; the root last
} djcShape;

// Friction over one step of two shapes, given as they are at its start. The barrier
// coefficient is 1 J.
typedef struct djcFriction {
  bool enabled;           // false: the others are not read
  double coefficient;     // of friction, mu: 1
  double dt;              // s; the step
  double eps;             // m^2/s^2; square of the speed below which friction is viscous
  djArms arms;            // where it acts
  djCap cap;              // its limit
  double motion_a[6];     // rotation vector (rad) and translation of the origin (m) over the step
  double motion_b[6];     // likewise: rad, m
} djcFriction;

// A setting of a contact model by its name.
typedef struct djcSetting {
  const char* name;       // of a setting of the model
  double value;           // in the setting's units; choices by their numbers
} djcSetting;

// Which contact model, and its parameters.
typedef struct djcOption {
  djContactModel model;        // one that there is; implicit surfaces are those that fit the shapes
  double support;              // 1, 0 < s < 1; of the separating plane
  double length_scale;         // m; likewise
  djcFriction friction;        // over one step
  int nsetting;                // other settings of the model; those that are not given are by its
  const djcSetting* setting;   // (nsetting) default rules, with a weight of 1 N
  double guide_scale;          // m; l of a guide's tail; 0: the sum of both bounding radii
  double twist_a[6], twist_b[6];   // velocities (rad/s, m/s) about the origins, of models that
                                   //   use them
} djcOption;

// What djc_pair finds.
typedef struct djcResult {
  djStatus status;            // as returned
  char message[200];          // why it is not DJ_OK, else ""
  double value;               // J at a barrier coefficient of 1 J; infinite when overlapping
  double gap;                 // m, negative when overlapping
  bool has_plane;             // false when value is 0 or infinite
  double plane[4];            // n (1) and o (m): n.x + o > 0 on b's side, not normalised
  int iterations;             // of the search for the plane
  double twist_gradient[12];  // a then b; (angular, linear) about the origins: N m, N
  double twist_hessian[144];  // (12 x 12) of value: J by rad and m, twice
  double friction_value;      // J; its energy (SDRS eq. 8)
  double friction_wrench_a[6], friction_wrench_b[6];   // N m, N: minus the derivative by a twist of
                              //   the moved body about its moved origin
  bool energy;                // value is an energy and twist_gradient its gradient; else value is
                              //   0, twist_gradient minus the wrenches, friction included
  double twist_jac[144];      // (12 x 12) derivative of twist_gradient by twist_a, then twist_b:
                              //   N m, N by rad/s, m/s
  int visited, exact;         // of long_range: pairs of nodes gone through; planes found of triangles
} djcResult;

// Separating plane, s = 0.01, L = 1 m, no friction.
DJ_API djcOption djc_defaultOption(void);

// Evaluate one pair. gradient_a (na x 3), gradient_b (nb x 3): d value / d vertex, or NULL.
// hessian: over all vertices of a then b, (3(na+nb))^2, or NULL; vertex shapes only.
DJ_API djStatus djc_pair(djcResult* result, double* gradient_a, double* gradient_b,
                         double* hessian, const djcShape* a, const djcShape* b,
                         const djcOption* option);

// Signed distance of two shapes (negative: penetration depth), unit normal from a to b and
// witness points; for separated shapes the closest points.
DJ_API djStatus djc_distance(double* gap, double normal[3], double point_a[3], double point_b[3],
                             const djcShape* a, const djcShape* b);

// A pair of shapes that is evaluated again and again as it moves: it starts from the plane that it
// found last, and allocates nothing. It belongs to one thread. The option's friction is not used.
typedef struct djcPair djcPair;
DJ_API djStatus djc_makePair(djcPair** pair, const djcShape* a, const djcShape* b,
                             const djcOption* option, djError* err);
DJ_API void djc_deletePair(djcPair* pair);
DJ_API void djc_forgetPair(djcPair* pair);   // the next evaluation starts cold

// Value, twist gradient and twist Hessian (as in djcResult) with each shape's origin at pos, and
// the shape turned by quat about it from how it was given; quaternions are normalised, DJ_INVALID:
// one is zero or not finite. Overlapping: value is infinite.
DJ_API djStatus djc_evalPair(double* value, double gradient[12], double hessian[144],
                             djcPair* pair, const double pos_a[3], const double quat_a[4],
                             const double pos_b[3], const double quat_b[4]);

// ---- smoothed gap -------------------------------------------------------------------------------
//
// A signed distance whose value, normal and witness points are analytic functions of the poses:
// that of smoothed shapes, whose edges are round and whose faces are slightly domed. `smoothing` is
// a length: faces of boxes, spheres, ellipsoids, sides of capsules and cylinders and planes stay
// where they are, faces of other hulls lie deeper by at most smoothing/2, edges and corners by at
// most (|m| - 1/2) smoothing, where m is what moves a corner when its faces move by 1 (a box: 1.24
// smoothing); shapes without volume grow by at most smoothing/2. It is at most half of a shape's
// inner radius. Below 0: the default, 0.002 of the least inner radius. 0: djc_distance, with
// derivatives of the gap alone; the normal has kinks then, and witness points jump.
//
// Differentiable where gaps are above -smoothing (shapes without volume: above 0), deeper except
// where two directions of least separation tie. Between faces that are parallel up to an angle of
// about smoothing/size the witness points cross the faces as that angle changes.

// Derivatives are by twists (angular, linear) of a about its origin, then of b; row-major.
typedef struct djcGap {
  double gap;                 // m, negative when overlapping
  double normal[3];           // unit vector, from a to b
  double point_a[3];          // m; witness point on a, world
  double point_b[3];          // m; on b
  double gap_twist[12];       // m/rad, 1
  double normal_twist[36];    // (3 x 12) 1/rad, 1/m
  double point_a_twist[36];   // (3 x 12) m/rad, 1
  double point_b_twist[36];   // (3 x 12) likewise: m/rad, 1
  double smoothing;           // m; in force
  int iterations;             // of the search for the direction
} djcGap;

// DJ_NOT_CONVERGED: the direction is not the best that there is nearby. DJ_SINGULAR: normal and
// witness points are not differentiable here (centres of spheres coincide, two depths are equal);
// what would come through the normal is left out of their derivatives.
DJ_API djStatus djc_gap(djcGap* out, const djcShape* a, const djcShape* b, double smoothing);

// Two rigid sets of shapes, to be evaluated at any poses. The gap of sets is the soft minimum over
// their pairs, -T log sum exp(-gap/T) with T = smoothing: less than the least gap by at most T log
// of the number of pairs. Normal and witness points are means with the weights exp(-gap/T), the
// normal brought to unit length; where normals cancel it is one pair's, without derivative, and the
// status DJ_SINGULAR. Not changed by evaluations: several threads may share it.
typedef struct djcGapPair djcGapPair;

// Shapes (na, nb of them) as they are in the frames of the sets; their origins are not used.
DJ_API djStatus djc_makeGapPair(djcGapPair** pair, int na, const djcShape* a, int nb,
                                const djcShape* b, double smoothing, djError* err);
DJ_API void djc_deleteGapPair(djcGapPair* pair);

// With the frames at pos, axes the columns of mat (a rotation, row-major); twists are about pos.
// Allocates nothing.
DJ_API djStatus djc_evalGapPair(djcGap* out, const djcGapPair* pair, const double pos_a[3],
                                const double mat_a[9], const double pos_b[3],
                                const double mat_b[9]);

#ifdef __cplusplus
}
#endif

#endif  // DIJOCO_CONTACT_H_
