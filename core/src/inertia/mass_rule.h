// Moments of a body's mass by the rules of djInertiaRule, and their derivative.
//
// M are mass, first and second moments about the body frame, V those of volumes, sums over geoms,
// E what of V is counted too often, rho = mass/volume of the compiled body.
//   exact   M = M_compiled + rho (V - V_compiled)
//   lumped  M = sum over vertices of (m/n) (1, x, x x^T): n vertices of all its meshes' hulls share
//           what meshes have of the compiled mass, by their volumes; rho V of other geoms is added
//           (SDRS eq. 4, where rho is then a mass). A vertex that two meshes share counts twice.
//           m and rho stay those of the first compiled model where one that was made so is the
//           compiled one of another: djCollision.lumps, a pair for each body
//   union   M = M_compiled + rho (V - E - base), base = V_compiled where M_compiled is that, as
//           MuJoCo compiles from geoms; else V_compiled - E_compiled, and rho with it, as where
//           M_compiled was measured or is a union's
// V is by held facets, smooth in the vertices; E by the hulls as they are, 0 where none meet.

#ifndef DJ_INERTIA_MASS_RULE_H_
#define DJ_INERTIA_MASS_RULE_H_

#include "contact/contact.h"
#include "inertia/facets.h"

typedef struct djMassRule {
  const djModel *design, *compiled;
  const djSurfaces* surfaces;
  djInertiaRule rule;
  djExcess* excess;        // (2 nbody) what is known of unions, or NULL
  bool keeps;              // and whether what is found is kept there
} djMassRule;

// A body whose mass follows its geoms first, ..., last - 1.
typedef struct djFollower {
  int first, last;
  djMoments mass;          // now, about the body frame; `volume` is the mass
  double rho;              // 0: does not follow
  bool moved;              // it is not the compiled mass
  double share;            // what its meshes have of the mass, lumped
  double lump;             // mass of a hull's vertex; 0: there are none
} djFollower;

// first and last are given.
djStatus dj_findFollower(djFollower* f, const djMassRule* r, int body);

// Adds to param, by the geoms, the derivative of a number of which that by M is `by`.
djStatus dj_followerParams(double* param, const djMassRule* r, const djFollower* f,
                           const djQuadratic* by);

#endif  // DJ_INERTIA_MASS_RULE_H_
