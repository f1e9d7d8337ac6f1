// Forces with velocities or without an energy: wrenches of bodies with derivatives by poses and
// twists. Each sum is begun empty, added to, and projected; wrenches and matrices are about ref.

#ifndef DJ_FORCE_TWIST_FORCE_H_
#define DJ_FORCE_TWIST_FORCE_H_

#include "force/force.h"

// Arrays are the caller's.
typedef struct djTwistForces {
  bool open;         // velocities are set and sums are empty or hold something
  bool bases;        // V has velocities of mocap bodies (djMotion.mocap_rate)
  double* v;         // (nv) velocities: displacements over h
  double* V;         // (nbody x 6) twists that they give bodies
  double* D;         // (nv x 6) see twist_force.c
  double *D0, *D1;   // (nv x 6)
  double *K, *T;     // (nbody x 36)
  double* W;         // (nbody x 6) wrenches, minus them; of cotangents T^T x
} djTwistForces;

size_t dj_twistForcesSize(const djModel* model);
djTwistForces dj_initTwistForces(const djModel* model, void* memory);

// v, V, D, D0 and D1 at the point, whose motion subspaces must be set. Empty sums. Both, if not open.
void dj_setTwists(djTwistForces* forces, const djMotion* at);
void dj_clearTwistForces(djTwistForces* forces, const djModel* model);
void dj_openTwistForces(djTwistForces* forces, const djMotion* at);

// Derivatives of the wrench on body a by pose and twist of body b, both of which move: K = dg/dpose
// (overwritten), T = dg/dtwist. To H at once where they are not one. The wrench is added to W.
void dj_addWrenchBy(djTwistForces* forces, djMatrix* H, const djMotion* at, int a, int b,
                    double K[36], const double T[36]);
// gradient (nv) and H (both triangles) += the sum.
void dj_projectTwistForces(djTwistForces* forces, djMatrix* H, double* gradient,
                           const djMotion* at);

// What velocities change by where displacements begin, to sum->Rrate, and to R0 by what a prompt
// motion has by the start beside that.
void dj_addWrenchByRate(djTwistForces* forces, djStartSum* sum, const djMotion* at, int a, int b,
                        const double T[36]);
void dj_projectTwistRates(djTwistForces* forces, djStartSum* sum, const djMotion* at);

// Cotangents C of body b: y and t are the sums of (dg/dpose)^T x and T^T x over the wrenches that
// it moves, g its own, which the caller adds to sums->W; sums->x: twists along z. Then z . gradient
// by parameters that turn velocities.
void dj_addTwistCotangent(djTwistForces* forces, djParamSums* sums, int b, const double y[6],
                          const double t[6], const double g[6]);
void dj_projectTwistCotangents(djTwistForces* forces, djParamSums* sums, const djMotion* at);

#endif  // DJ_FORCE_TWIST_FORCE_H_
