// Design maps: parameters and controls computed from free vectors, and their derivatives. A type is
// a row of a table; what it does is described at djMapDef.

#ifndef DJ_GRADIENT_MAP_H_
#define DJ_GRADIENT_MAP_H_

#include "base/pool.h"

#include <dijoco/entry.h>
#include <dijoco/problem.h>

// What `to` may be.
typedef enum djMapTo {
  DJ_MAPTO_ANY,        // parameters or ctrl
  DJ_MAPTO_CTRL,       // ctrl, or missing
  DJ_MAPTO_CHOICE      // missing, or parameters among those that the type finds itself
} djMapTo;

// Outputs that follow one another go to entries start, start + stride... of a parameter's value or
// of the controls (horizon x nu).
typedef struct djMapTarget {
  int param;           // index into problem->param; -1: controls
  int start, stride, n;
} djMapTarget;

typedef struct djMapType djMapType;

typedef struct djMap {
  const djMapType* type;
  int from;            // index into problem->free
  int nz;              // its length
  int ntarget;
  djMapTarget* target;
  int nout;            // outputs of all targets
  double timestep;     // s, of the model; 0: nothing depends on it
  size_t nwork;        // doubles of scratch
  void* detail;        // of the type
} djMap;

// What a type's make function works with.
typedef struct djMapMaking {
  const djMapDef* given;
  const djModel* model;
  djProblem* problem;
  int horizon;
  djPool* pool;
  djError* err;
} djMapMaking;

// A map in a window of a task, see gradient/window.h.
typedef struct djMapReceding {
  int horizon, window; // steps of the task and of the window
  int nu;
  djPool* pool;
  djError* err;
  int steps, numbers;  // to be set: z has a row of so many numbers for so many steps
} djMapReceding;

struct djMapType {
  djEntry entry;       // its keys, beside type, from and to, are the djMapArgs, in this order
  djMapTo to;
  bool adds;           // outputs are added to what is there
  bool alone;          // no other map may compute its outputs
  // Check sizes, fill detail and nwork, and the targets unless `to` is ANY: then they are there.
  djStatus (*make)(djMap* map, const djMapMaking* making);
  // out (nout) from z (nz); dz (nz) += derivative of out by z, transposed, times dout (nout).
  void (*apply)(double* out, const djMap* map, const double* z, double* work);
  void (*vjp)(double* dz, const djMap* map, const double* z, const double* dout, double* work);
  // The rows of z of a map to the controls, and in place of its detail that of the window's map.
  // NULL: controls do not follow from z row by row.
  djStatus (*recede)(djMap* map, djMapReceding* receding);
  // DJ_INVALID: z is one that the map refuses. NULL: it takes all.
  djStatus (*check)(const djMap* map, const double* z, double* work, djError* err);
};

// Rows of the table: one name each, of the constant dj_mapNAME in its own file.
#define DJ_MAPS(X) X(Affine) X(Shared) X(Mirror) X(Tanh) X(Spline) X(Sines) X(Cage) X(Taper)
#define X(name) extern const djMapType dj_map##name;
DJ_MAPS(X)
#undef X

// NULL: there is none.
const djMapType* dj_findMapType(const char* name);

// Look a map up in a model; problem->free is there. Errors do not say which map.
djStatus dj_makeMap(djMap* map, const djMapMaking* making);

// The map's targets: these n runs of entries of the controls.
djStatus dj_targetCtrl(djMap* map, const djMapTarget* target, int n, const djMapMaking* making);

// Likewise all controls of each actuator that is given, in the order of the type's keys.
djStatus dj_targetActuators(djMap* map, const djMapMaking* making);

// "from: 'z' must be n numbers", unless it is that long.
djStatus dj_checkFrom(const djMap* map, int n, const djMapMaking* making);

#endif  // DJ_GRADIENT_MAP_H_
