// An actuator on a site: a wrench with the gear's components in axes of the site, or of a reference
// site against whose body it acts.
//
// MuJoCo's moment is that of F . (p_s - p_r) and T . (turn of s against r), F and T the gear in
// world axes there, held. Here the site's displacement within the step is followed, as are those of
// ball joints: F and T are those where displacements begin, fixed to the body a of the last dof
// that moves both sites (or the world), which has no part in it. With poses that Y^-1 brings back,
// Y = X_a X_a0^-1,
//   psi = F . (p_s' - p_s0 - p_r' + p_r0) + T . (theta_s - theta_r),  theta = log(R' R0^T).
// At the start psi has MuJoCo's moment; beyond, the difference is of order h.

#ifndef DJ_FORCE_SITE_DRIVE_H_
#define DJ_FORCE_SITE_DRIVE_H_

#include "force/actuator.h"
#include "force/twist_force.h"

enum { DJ_DRIVE_SITE, DJ_DRIVE_REF, DJ_DRIVE_BASE, DJ_NDRIVE };

// psi at a point of the step. Bodies that have no part in it, as they do not move, are -1.
typedef struct djSiteDrive {
  int body[DJ_NDRIVE];     // of the site, of the reference site, a
  bool two;                // there is a reference site
  double psi;
  djVec3 F, T;             // where displacements begin
  djMat3 axes;             // in which the gear is given, there
  djMat3 Y;                // rotation of a since
  djVec3 p[2], p0[2];      // points: now and there
  djVec3 theta[2];
  djVec3 moved;            // p_s' - p_s0 - p_r' + p_r0
  double W[DJ_NDRIVE][6];  // derivative by twists of bodies
} djSiteDrive;

djSiteDrive dj_siteDrive(const djMotion* at, int i);

// Rotation vector of the site's axes against the reference site's, in the latter, there.
djVec3 dj_siteTurnLength(const djMotion* at, int i);

// Nested second derivatives of psi by body b, or between two (rows b): see model/kinematics.h.
typedef struct djSiteBlocks {
  double B[DJ_NDRIVE][DJ_NDRIVE][36];
} djSiteBlocks;

// f times psi's second derivatives, and k times the product of the first.
void dj_siteBlocks(djSiteBlocks* blocks, const djSiteDrive* drive, const djMotion* at, double f,
                   double k);

// Derivatives by twists of bodies where displacements begin, the point held: of psi and of the
// length there; of W, f times, rows of the first body.
void dj_siteStart(double psi[DJ_NDRIVE][6], double length[DJ_NDRIVE][6], djSiteBlocks* W,
                  const djSiteDrive* drive, const djMotion* at, int i, double f);

// In prompt motions (actuator_site_twist.c): the drive whose displacement begins at the point,
// which `here` is, so that W are the wrenches of a unit force; and the force. Opens the twists.
typedef struct djSiteUnit {
  djSiteDrive d;
  djMotion here;
  double length, rate;
  djJet p;
} djSiteUnit;

void dj_openSiteUnit(djSiteUnit* unit, const djActuators* t, djTwistForces* twist,
                     const djMotion* at, int i);

// Derivatives of minus the wrenches: rows of the first body, by the pose of the second and by its
// twist.
void dj_siteUnitByPoses(djSiteBlocks* K, const djSiteUnit* unit, const djActuatorStep* a,
                        const djTwistForces* twist, int i);
void dj_siteUnitByTwist(double T[36], const djSiteUnit* unit, const djActuatorStep* a, int s,
                        int t);

#endif  // DJ_FORCE_SITE_DRIVE_H_
