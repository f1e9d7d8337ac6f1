// Random MJCF models, as text.

#ifndef DJ_TESTS_RANDOM_MJCF_H_
#define DJ_TESTS_RANDOM_MJCF_H_

#include "common/random_model.h"

enum {
  DJT_MJCF_MESHES = 1,
  DJT_MJCF_ACTUATORS = 2,
  DJT_MJCF_CONTACT = 4,    // bitmasks, margins, condim, priority, pairs, excludes
  DJT_MJCF_MOCAP = 8,
  DJT_MJCF_KEYS = 16,
  DJT_MJCF_CLUSTER = 32,   // spheres only, all of them within reach of each other
  DJT_MJCF_ALL = 31,
  DJT_MJCF_SMOOTH = 64,    // nothing that is approximated: no limits, friction loss, ranges
  DJT_MJCF_REST = 128,     // a tendon around a geom and actuators on it; what our step leaves to
                           // MuJoCo: muscles, gravity compensation by actuators
  DJT_MJCF_TENDONS = 256,  // fixed tendons and paths with pulleys, actuators on them, on sites
                           // and by cranks
  DJT_MJCF_WRAPS = 512     // paths go around geoms, w1.., which do not collide
};

// A model with nbody bodies (world not counted), everything in it imported exactly or nearly so.
// The text is malloc'ed; NULL: no memory. Elements are called b1, j1.., g1.., s1.., m1.., a1..,
// t1..
char* djt_randomMjcf(djRng* rng, int nbody, int features);

#endif  // DJ_TESTS_RANDOM_MJCF_H_
