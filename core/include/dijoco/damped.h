// Damped contact (Lee, Lee and Lee): points of one body with a geom of another, without a model.

#ifndef DIJOCO_DAMPED_H_
#define DIJOCO_DAMPED_H_

#include <dijoco/data.h>

#ifdef __cplusplus
extern "C" {
#endif

// Points of body a and a geom of body b at the start of a step, and how both move in it. All is in
// world axes; points are world coordinates. Motions (angular, linear) are about a's origin and the
// geom's pos, at constant velocities; so are wrenches (torque, force), about where these end.
typedef struct djcDampedQuery {
  int npoint;                   // how many points; 1 to 1e7
  const double* point;          // (npoint x 3) m; world
  double origin[3];             // m; of a
  double motion_a[6];           // rad, m; in the step
  djGeomType geom;              // no mesh, no height field
  double size[3];               // m; as MuJoCo's, 1e-20 to 1e20; of those that the geom has
  double pos[3];                // m
  double quat[4];               // quaternion of the geom; is normalised, not zero
  double motion_b[6];           // rad, m; in the step
  double dt;                    // s; T of the step, positive
  djLaw law;                    // of damped contact
  double sigma, kn;             // N m, N/m; positive
  double alpha;                 // 1; >= 0
  double detect;                // m; c of the law log; positive
  double mu;                    // 1; >= 0
  djPointFriction friction_law; // of djPointFriction
  double sigma_t, friction_eps; // N m/s, m2/s2; positive
} djcDampedQuery;

// What a point does where it ends.
typedef struct djcDampedPoint {
  double gap;        // m; of the point where it ends
  double gap_damped; // m; with alpha T times its rate there
  double normal[3];  // unit vector, outward from b; world
  double hessian[9]; // 1/m; of the gap by the point's place: how the normal turns
  double force[3];   // N; on a at the point; world
} djcDampedPoint;

// The force at a point x, of the gap g, with the normal n and the velocity u of a against b there:
//   g_d = g + alpha T n.u,  t = u - (n.u) n,  F = f(g_d) n + friction along -t
// on a, -F on b at the same x (docs/damped.md has the laws). Derivatives of both wrenches (rows: of
// a, of b; torque, force) by twists of the poses of a, then b, at the end, and by their velocities;
// by the motions it is the first plus the second over dt. Where a law is infinite at g_d <= 0 there
// is none.
typedef struct djcDamped {
  double wrench_a[6], wrench_b[6]; // N m, N
  double pose_jac[144];            // (12 x 12) by rad, m
  double twist_jac[144];           // (12 x 12) by rad/s, m/s
} djcDamped;

// point (npoint): what each point does; or NULL. DJ_INVALID: err (or NULL) says which number is
// wrong, "a: ...", "b: ..." or "params: ...", or which point's damped gap is not positive where the
// law wants that; *out is 0. DJ_NO_MEMORY.
DJ_API djStatus djc_damped(djcDamped* out, djcDampedPoint* point, const djcDampedQuery* query,
                           djError* err);

#ifdef __cplusplus
}
#endif

#endif // DIJOCO_DAMPED_H_
