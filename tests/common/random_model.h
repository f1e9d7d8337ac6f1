// Random models for tests.

#ifndef DJ_TESTS_RANDOM_MODEL_H_
#define DJ_TESTS_RANDOM_MODEL_H_

#include "common/random.h"

#include <dijoco/dijoco.h>

enum {
  DJT_LIMITS = 1,        // joint limits
  DJT_ACTUATORS = 2,     // every kind of actuator, with clamps and activations
  DJT_LOSS = 4,          // friction loss
  DJT_FLUID = 8,
  DJT_SPRINGS = 16,      // springs, damping, their polynomials, armature, gravcomp
  DJT_TOTAL = 64,        // clamps of a joint's and a tendon's total actuator force
  DJT_EASY = 32,         // slide and hinge joints and one free joint only
  DJT_ALL = 31,          // but DJT_TOTAL and what follows
  DJT_EQUALITIES = 256,  // equality constraints of all types, between trees too; with DJT_TENDONS
                         // of those and of sites
  DJT_WRAPS = 512,       // with DJT_TENDONS: paths go around geoms, by sites and through them
  DJT_FLEXES = 1024,     // a rope, a cloth and a solid between bodies
  DJT_MOTORS = 2048,     // a slide's or hinge's actuator is a motor with all states
  DJT_TENDONS = 128      // fixed ones and paths with pulleys, between trees too; with
                         // DJT_ACTUATORS those on them, on sites and by cranks
};

// A forest of nbody bodies (world not counted) with joints of all types, several per body.
djModel* djt_randomModel(djRng* rng, int nbody, int features);

// Random state and inputs; speed scales qvel.
void djt_randomState(djRng* rng, const djModel* model, djData* data, double speed);

// `euler` refuses armature along paths.
static inline void djt_dropPathArmature(djModel* m) {
  for (int t = 0; t < m->ntendon; t++) m->tendon_armature[t] = 0;
  for (int a = 0; a < m->nu; a++) {
    if (m->actuator_tendon[a] >= 0) m->actuator_armature[a] = 0;
  }
}

// Without rows, whose corners are sharp.
static inline void djt_dropRows(djModel* m) {
  m->opt.disable |= DJ_DSBL_LIMIT | DJ_DSBL_FRICTIONLOSS;
}

#endif  // DJ_TESTS_RANDOM_MODEL_H_
