// MuJoCo's soft contacts: what a report says of them.

#ifndef DJ_MUJOCO_IMPORT_SOFT_H_
#define DJ_MUJOCO_IMPORT_SOFT_H_

#include "import.h"

// A contact of two geoms by MuJoCo's rules of mixing, or of an explicit pair.
typedef struct djmSoft {
  mjtNum solref[mjNREF], solimp[mjNIMP];
  double friction;           // the first tangential coefficient
  int dim;                   // condim
  int geom[2];
} djmSoft;

djmSoft djm_softOfGeoms(const mjModel* m, int geom1, int geom2);
djmSoft djm_softOfPair(const mjModel* m, int pair);

// Force on one contact, N, under the weight of the one of the two geoms that moves, or the lighter
// one; *contacts: over how many its weight is taken to be spread. 0: nothing weighs.
double djm_contactLoad(int* contacts, const djmImport* imp, const int geom[2]);

// What geom i adds to the depth at which it rests: that of its body alone, in something that does
// not move, of its partner's solref and solimp. 0: nothing weighs, or it meets nothing.
double djm_softDepth(const djmImport* imp, int i);
double djm_softPairDepth(const djmImport* imp, int pair);

// Depth at which MuJoCo's contact holds this force, m.
double djm_restDepth(const mjModel* m, const djmSoft* s, double load);

// Part of its speed, m/s, with which a body leaves that meets another head-on.
double djm_rebound(const mjModel* m, const djmSoft* s, double speed);

// One that was found: of 1 m/s, by a contact of this softness.
typedef struct djmRebound {
  mjtNum solref[mjNREF], solimp[mjNIMP];
  double part;               // 0 at first, as of no softness
} djmRebound;

// djm_rebound of 1 m/s. imp->rebound becomes it.
double djm_reboundOf(const djmImport* imp, const djmSoft* s);

// A length as text, in the unit that suits it.
typedef char djmLength[24];
const char* djm_length(djmLength text, double metres);

#endif  // DJ_MUJOCO_IMPORT_SOFT_H_
