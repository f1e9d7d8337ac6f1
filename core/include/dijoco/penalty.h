// Penalty contact (DiffHand): points of one body with a geom of another, without a model; points
// and distance fields of a model's geoms.

#ifndef DIJOCO_PENALTY_H_
#define DIJOCO_PENALTY_H_

#include <dijoco/data.h>

#ifdef __cplusplus
extern "C" {
#endif

// Points of body a, in world coordinates, and a geom of body b; velocities and wrenches are about
// a's origin and the geom's pos.
typedef struct djcPenaltyQuery {
  int npoint;          // how many points
  const double* point; // (npoint x 3) m; world
  double origin[3];    // m; of a
  double twist_a[6];   // rad/s, m/s
  djGeomType geom;     // no mesh, no height field
  double size[3];      // m; as MuJoCo's
  double pos[3];       // m
  double quat[4];      // unit quaternion
  double twist_b[6];   // rad/s, m/s
  double kn, kt, kd;   // N/m, N s/m, N s/m2; kn > 0
  double mu, scale;    // 1
  double lambda[12];   // of by_*: N m and N, times these
} djcPenaltyQuery;

// What a point does. It sticks where its friction is kt times its tangential velocity.
typedef enum djcPointState { DJC_FREE, DJC_STICK, DJC_SLIP } djcPointState;

typedef struct djcPenaltyPoint {
  double distance;     // m; negative: inside
  double normal[3];    // unit vector, outward from b
  double force[3];     // N; on a
  djcPointState state; // free, stick or slip
} djcPenaltyPoint;

// Derivatives of both wrenches (rows: of a, of b; torque, force) by twists of the poses of a, then
// b, and by their velocities. Origins stay where they are, and velocities as they are where poses
// move. by_*: of lambda . (wrench_a, wrench_b).
typedef struct djcPenalty {
  double wrench_a[6], wrench_b[6];             // N m, N
  double pose_jac[144];                        // (12 x 12) by rad, m
  double twist_jac[144];                       // (12 x 12) by rad/s, m/s
  double by_kn, by_kt, by_kd, by_mu, by_scale; // by the units of these
} djcPenalty;

// point (npoint), by_point (npoint x 3, N by world coordinates) or NULL: not asked for.
DJ_API djStatus djc_penalty(djcPenalty* out, djcPenaltyPoint* point, double* by_point,
                            const djcPenaltyQuery* query, djError* err);

// The points that were inside of another geom's field at the end of the step just taken, n of them
// (1): the first `most` go to point (most), with force on the point's body; place (most x 3 m) is
// where it acts, geom (most x 2) has the ids of the point's geom and of the field's. They stay as
// the data's contacts do, until the state is set or looked at by dj_forward.
DJ_API djStatus dj_contactPoints(int* n, djcPenaltyPoint* point, double* place, int* geom, int most,
                                 const djModel* model, djData* data);

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
