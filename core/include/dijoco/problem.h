// Problems: a rollout with a loss, what may vary in it, and how parameters and controls follow from
// that. Made of a task (task.h); a djDesign (design.h) works on it.

#ifndef DIJOCO_PROBLEM_H_
#define DIJOCO_PROBLEM_H_

#include <dijoco/gradient.h>

#ifdef __cplusplus
extern "C" {
#endif

// What a map was given under a key of its type, besides type, from and to.
typedef struct djMapArg {
  bool given;               // by the file
  int integer;              // of a key that holds one
  const char* text;         // likewise
  int rows, columns;        // of number; a vector is one row
  const double* number;     // (rows x columns) in the key's units
} djMapArg;

// Keys of a map's type, at most.
enum { DJ_NMAPARG = 8 };

// `"maps"`: parameters or controls computed from a free vector z, one map after the other; types
// and their keys are those of dj_mapEntry, and docs/tasks.md describes them. Later maps replace
// what earlier ones set; cages add to it.
typedef struct djMapDef {
  const char* type;         // name
  const char* from;         // name of a free vector
  int nto;                  // targets
  const char* const* to;    // (nto) parameters, or "ctrl"
  djMapArg arg[DJ_NMAPARG]; // in the order of the type's keys
} djMapDef;

// What a variable of a task is.
typedef enum djVariableKind {
  DJ_VAR_CTRL,              // horizon x nu
  DJ_VAR_QPOS0,             // tangent, nv
  DJ_VAR_QVEL0,
  DJ_VAR_ACT0,
  DJ_VAR_QPOS0_JOINT,       // tangent of one joint
  DJ_VAR_QVEL0_JOINT,
  DJ_VAR_PARAM,
  DJ_VAR_FREE,              // a free vector
  DJ_VAR_HISTORY_QPOS0,     // tangent, nv, at the history's qpos
  DJ_VAR_HISTORY_QVEL0
} djVariableKind;

// A variable whose names were looked up.
typedef struct djVariable {
  djVariableKind kind;      // what it is
  const char* name;         // as in the task
  int joint;                // of the _JOINT kinds, else -1
  int param;                // DJ_VAR_PARAM: index into problem->param, else -1
  int free;                 // DJ_VAR_FREE: index into problem->free, else -1
  int adr;                  // where its tangent starts: in rollout's ctrl, qpos0's tangent, qvel0,
                            //   act0, or the concatenated gradients of the parameters; free: 0
  int valueadr;             // where its value starts: in ctrl, qpos0, qvel0, act0; others: 0
  int nvalue, ntangent;     // before `index`
  bool picked;              // `index` was given
  int n;                    // tangent entries that vary
  const int* index;         // (n) ascending is not required; 0..ntangent-1
  const double* min;        // (n) units of the value; -inf where there is none; a bound on that
                            //   entry of the value
  const double* max;        // (n) units of the value
} djVariable;

// A free vector.
typedef struct djFree {
  const char* name;         // as in the task
  int n;                    // entries
  double* value;            // (n) units of the maps that read it
  double* min;              // (n) bounds, units of value
  double* max;              // (n) units of value
} djFree;

// Three values of a parameter in a connection: factor (3 x 3) times value[start..start+2].
typedef struct djConnectPart {
  djParam param;            // a place
  int start;                // entry of it
  double factor[9];         // (3 x 3) 1
} djConnectPart;

// A connection: the sum of its parts does not change.
typedef struct djConnect {
  int npart;                // parts in use
  djConnectPart part[4];    // (npart)
} djConnect;

// A point of a body in `"connect"`: a vertex of a mesh geom, the position of a geom or site, the
// frame of a child body, or the anchor of a joint.
typedef struct djTaskPoint {
  djObject object;          // geom, site, body, joint; DJ_NOBJ: what does not move in the body
  const char* name;         // of the element
  int vertex;               // of the geom's mesh; -1: none
  bool above;               // of a joint: its anchor in the frame of its body's parent
} djTaskPoint;

// `"connect"`: two points of one body whose difference does not change while a design varies, so
// that parts keep connected (SDRS's shared vertices and attachment points).
typedef struct djTaskConnect {
  djTaskPoint a, b;         // of one body
} djTaskConnect;

// Of which steps derivatives are.
typedef enum djDerivatives {
  DJ_DERIVATIVES_ANALYTIC,   // those of the run
  DJ_DERIVATIVES_SMOOTH,     // those that the contact of the preset `smooth` takes from the run's states
  DJ_NDERIVATIVES
} djDerivatives;

// A task whose names are looked up. Arrays may be written before a djDesign is made.
typedef struct djProblem {
  const char* element;      // the scene's, for messages: "scenes[1] 'cup'"; "": the only one
  int key;                  // keyframe of the start, or -1
  double* qpos0;            // (nq) m, rad, quaternions
  double* qvel0;            // (nv) m/s, rad/s
  double* act0;             // (na) units of the actuators' inputs
  double* history_qpos0;    // (nq) m, rad, quaternions; of the start's history; NULL: it has none
  double* history_qvel0;    // (nv) m/s, rad/s; likewise
  double* ctrl;             // (horizon x nu) units of the actuators' inputs
  djLossTerm* loss;         // (nloss)
  int nvariable;            // what varies
  djVariable* variable;     // (nvariable)
  int nparam;               // parameters among the variables and targets of maps, each once
  djParam* param;           // (nparam)
  int nparamtangent;        // length of their concatenated gradients
  int nfree;                // free vectors
  djFree* free;             // (nfree)
  int nmap;                 // maps
  struct djMap* map;        // (nmap) see gradient/map.h
  int nconnect;             // connections
  djConnect* connect;       // (nconnect)
  const djTaskConnect* joined;   // (nconnect) what they join
  djInertiaRule inertia_from_geom;   // how mass and inertia follow geom sizes and vertices
  djDerivatives derivatives;   // of the gradient; the loss is the run's
  djRollout rollout;        // points into the arrays above; refinement_steps is 0
  void* memory;             // private
} djProblem;

// Release a problem; NULL is allowed.
DJ_API void dj_deleteProblem(djProblem* problem);

#ifdef __cplusplus
}
#endif

#endif  // DIJOCO_PROBLEM_H_
