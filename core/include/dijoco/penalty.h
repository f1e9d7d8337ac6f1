// Penalty contact (DiffHand): points of one body with a geom of another, without a model; points
// and distance fields of a model's geoms.

#ifndef DIJOCO_PENALTY_H_
#define DIJOCO_PENALTY_H_

#include <dijoco/data.h>

#ifdef __cplusplus
extern "C" {
#endif

// Points of body a and a geom of body b. All is in world axes; points are world coordinates.
// Velocities and wrenches (angular, linear; torque, force) are about a's origin and the geom's pos.
typedef struct djcPenaltyQuery {
  int npoint;          // how many points; 1 to 1e7
  const double* point; // (npoint x 3) m; world
  double origin[3];    // m; of a
  double twist_a[6];   // rad/s, m/s
  djGeomType geom;     // no mesh (see djc_penaltyMesh), no height field
  double size[3];      // m; as MuJoCo's, 1e-20 to 1e20; of those that the geom has
  double pos[3];       // m
  double quat[4];      // quaternion of the geom; is normalised, not zero
  double twist_b[6];   // rad/s, m/s
  double kn, kt, kd;   // N/m, N s/m, N s/m2; kn > 0, the others >= 0
  double mu, scale;    // 1; >= 0; scale multiplies kn, kt and kd
  double lambda[12];   // of by_*: wrench_a and wrench_b, N m and N, times these
} djcPenaltyQuery;

// What a point does: it is outside or N has ended; it sticks where its friction is kt times its
// tangential velocity, and slips where that is mu times its normal force.
typedef enum djcPointState { DJC_FREE, DJC_STICK, DJC_SLIP } djcPointState;

// Where a point is, and the force on it.
typedef struct djcPenaltyPoint {
  double distance;     // m; negative: inside
  double normal[3];    // unit vector, outward from b; world
  double force[3];     // N; on a at the point; world
  djcPointState state; // free, stick or slip
} djcPenaltyPoint;

// The force at a point x of distance d < 0, with the normal n and the velocity u of a against b at
// x (DiffHand 12-14, corrected: docs/penalty.md): d' = n.u, t = u - d' n,
//   N = scale max(0, -kn d + kd d' d),   F = N n - min(scale kt |t|, mu N) t/|t|
// on a, -F on b at the same x. Derivatives of both wrenches (rows: of a, of b; torque, force) by
// twists of the poses of a, then b, and by their velocities. Origins stay where they are, and
// velocities as they are where poses move. by_*: of lambda . (wrench_a, wrench_b). At kinks and
// ridges they are those of one side.
typedef struct djcPenalty {
  double wrench_a[6], wrench_b[6];             // N m, N
  double pose_jac[144];                        // (12 x 12) by rad, m
  double twist_jac[144];                       // (12 x 12) by rad/s, m/s
  double by_kn, by_kt, by_kd, by_mu, by_scale; // by the units of these
} djcPenalty;

// point (npoint), by_point (npoint x 3): what each point does, and the derivative of lambda .
// (wrench_a, wrench_b) by its world coordinates (N m and N times lambda, by m); or NULL: not asked
// for. DJ_INVALID: err (or NULL) says which number is wrong, "a: ...", "b: ..." or "params: ...",
// and *out is 0. DJ_NO_MEMORY.
DJ_API djStatus djc_penalty(djcPenalty* out, djcPenaltyPoint* point, double* by_point,
                            const djcPenaltyQuery* query, djError* err);

// The points that were inside of another geom's field at the end of the step just taken, n of them
// (1): the first `most` go to point (most), with force on the point's body; place (most x 3 m) is
// where it acts, geom (most x 2) has the ids of the point's geom and of the field's. They stay as
// the data's contacts do, until the state is set or looked at by dj_forward.
DJ_API djStatus dj_contactPoints(int* n, djcPenaltyPoint* point, double* place, int* geom, int most,
                                 const djModel* model, djData* data);

// The distance field of a closed mesh, which may be concave: the C2 spline on a grid that geoms of
// type mesh have (docs/penalty.md). vert (nvert x 3) m, tri (ntri x 3) with outward windings, as
// they are: nothing is centred or turned. error (or NULL): m; the largest found at points on and
// near the surface. Takes up to seconds; what follows reads it only, in any number of threads.
// DJ_INVALID: err names the triangle or edge for which they bound no solid. DJ_NO_MEMORY.
typedef struct djcField djcField;
DJ_API djStatus djc_makeField(djcField** field, double* error, int nvert, const double* vert,
                              int ntri, const int* tri, djError* err);
DJ_API void djc_deleteField(djcField* field);

// djc_penalty of that field in the frame of query->pos and quat; geom and size are not read.
// by_vert (nvert x 3; or NULL): the derivative by vertices, in the mesh's frame, nodes of the grid
// held. Of points beyond the mesh's box `distance` is a lower bound.
DJ_API djStatus djc_penaltyMesh(djcPenalty* out, djcPenaltyPoint* point, double* by_point,
                                double* by_vert, const djcPenaltyQuery* query,
                                const djcField* field, djError* err);

// How penalty contact sees a geom.
typedef struct djGeomPoints {
  int npoint;     // points
  bool given;     // they are given; else those of its type or of its mesh
  double radius;  // m; of points
  bool field;     // it has a distance field
  bool grid;      // that is a grid: the others are exact
  double error;   // m; the largest error found of a grid
  double spacing; // m; the largest of a grid
} djGeomPoints;

// DJ_UNSUPPORTED: it does not.
DJ_API djStatus dj_geomPoints(djGeomPoints* out, const djModel* model, int geom, djError* err);

#ifdef __cplusplus
}
#endif

#endif // DIJOCO_PENALTY_H_
