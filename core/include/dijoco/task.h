// Tasks: what `grad` and `optimize` work on, in JSON. Reading has two stages: a djTask holds what
// the file says, checked as far as that is possible without its scene; a djProblem is a task whose
// names were looked up in a model.
//
//   djTask* task;
//   dj_loadTask(&task, "task.json", &err);
//   ... load task->scene, dj_applySettings to its option, dj_makeModel ...
//   dj_applySet(model, task, &err);
//   djProblem* problem;
//   dj_resolveTask(&problem, task, model, &err);
//   djd_rolloutForward(&result, model, data, &problem->rollout, tape);

#ifndef DIJOCO_TASK_H_
#define DIJOCO_TASK_H_

#include <dijoco/gradient.h>
#include <dijoco/optimize.h>
#include <dijoco/setting.h>

#ifdef __cplusplus
extern "C" {
#endif

// `"set"`: a parameter and its values.
typedef struct djTaskSet {
  const char* name;         // of a parameter
  int n;                    // entries
  const double* value;      // (n) in the units of the parameter
} djTaskSet;

// One term of the loss; names not yet looked up.
typedef struct djTaskLoss {
  djLossTerm term;          // type, target, weight, tolerance, when, step
  djObject object;          // kind of `name`; DJ_NOBJ: none
  const char* name;         // body, site, geom or joint
  const char* name2;        // distance: the second body
} djTaskLoss;

// One entry of `variables`.
typedef struct djTaskVariable {
  const char* name;         // ctrl, qpos0..., of a parameter or of a free vector
  int nindex;               // entries picked; -1: all
  const int* index;         // (nindex)
  int nmin, nmax;           // 0: none; 1: the same for all; else one for each entry picked
  const double* min;        // (nmin) in the units of what varies
  const double* max;        // (nmax) in the units of what varies
} djTaskVariable;

// `"free"`: a vector that maps read and variables may name.
typedef struct djTaskFree {
  const char* name;         // of the vector
  int n;                    // entries
  const double* value;      // (n) in units that the maps give it
  int nmin, nmax;           // 0: none; 1: the same for all; else n
  const double* min;        // (nmin) units of value
  const double* max;        // (nmax) units of value
} djTaskFree;

// What a map was given under a key of its type, besides type, from and to.
typedef struct djMapArg {
  bool given;               // by the file
  int integer;              // of a key that holds one
  const char* text;         // likewise
  int rows, columns;        // of number; a vector is one row
  const double* number;     // (rows x columns) in the key's units
} djMapArg;

// Keys of a map's type, at most.
enum { DJ_NMAPARG = 2 };

// `"maps"`: parameters or controls computed from a free vector z, one map after the other; types
// and their keys are those of dj_mapEntry, and docs/tasks.md describes them. Later maps replace
// what earlier ones set; cages add to it.
typedef struct djTaskMap {
  const char* type;         // name
  const char* from;         // name of a free vector
  int nto;                  // targets
  const char* const* to;    // (nto) parameters, or "ctrl"
  djMapArg arg[DJ_NMAPARG]; // in the order of the type's keys
} djTaskMap;

// A point of a body in `"connect"`: a vertex of a mesh geom, the position of a geom or site, the
// frame of a child body, or the anchor of a joint.
typedef struct djTaskPoint {
  djObject object;          // geom, site, body, joint
  const char* name;         // of the element
  int vertex;               // of the geom's mesh; -1: none
} djTaskPoint;

// `"connect"`: two points of one body whose difference does not change while a design varies, so
// that parts keep connected (SDRS's shared vertices and attachment points).
typedef struct djTaskConnect {
  djTaskPoint a, b;         // of one body
} djTaskConnect;

// A task as its file says it.
typedef struct djTask {
  const char* path;         // of the task file; "" when read from text
  const char* scene;        // path of the scene, relative to the working directory or absolute
  djSettings settings;      // that it gives
  int horizon;              // steps
  const char* keyframe;     // name or "#index", NULL: none
  int nqpos, nqvel, nact;   // numbers of the start; -1: not given
  const double* qpos;       // (nqpos) m, rad, quaternions
  const double* qvel;       // (nqvel) m/s, rad/s
  const double* act;        // (nact) units of the actuators' inputs
  int nrow, nctrl;          // rows and columns of ctrl; one row is constant; nrow 0: not given
  const double* ctrl;       // (nrow x nctrl) units of the actuators' inputs
  const char* ctrl_file;    // path, or NULL
  int nset;                 // parameters that it sets
  const djTaskSet* set;     // (nset)
  int nloss;                // terms of the loss
  const djTaskLoss* loss;   // (nloss)
  int nvariable;            // what varies
  const djTaskVariable* variable;   // (nvariable)
  int nfree;                // free vectors
  const djTaskFree* free;   // (nfree)
  int nmap;                 // maps
  const djTaskMap* map;     // (nmap)
  int nconnect;             // connections
  const djTaskConnect* connect;     // (nconnect)
  bool inertia_from_geom;   // mass and inertia follow geom sizes and vertices
  djOptimizer optimizer;    // how to optimise
  void* memory;             // private
} djTask;

// Read a task from a file or from text. Errors name the key.
DJ_API djStatus dj_loadTask(djTask** task, const char* path, djError* err);
// folder: where relative paths start; NULL: the working directory.
DJ_API djStatus dj_loadTaskText(djTask** task, const char* text, const char* folder, djError* err);
DJ_API void dj_deleteTask(djTask* task);

// Set the parameters of `set` on an unshared model; with inertia_from_geom masses and inertias
// follow its geoms (dj_followGeoms).
DJ_API djStatus dj_applySet(djModel* model, const djTask* task, djError* err);

// The task's settings, then its `set`, on an unshared model of its scene.
DJ_API djStatus dj_applyTask(djModel* model, const djTask* task, djError* err);

// Fields of a task, for other languages.
DJ_API const char* dj_taskScene(const djTask* task);
DJ_API const djOptimizer* dj_taskOptimizer(const djTask* task);

// What a variable of a task is.
typedef enum djVariableKind {
  DJ_VAR_CTRL,              // horizon x nu
  DJ_VAR_QPOS0,             // tangent, nv
  DJ_VAR_QVEL0,
  DJ_VAR_ACT0,
  DJ_VAR_QPOS0_JOINT,       // tangent of one joint
  DJ_VAR_QVEL0_JOINT,
  DJ_VAR_PARAM,
  DJ_VAR_FREE               // a free vector
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

// A task whose names are looked up. Arrays may be written before a djDesign is made.
typedef struct djProblem {
  int key;                  // keyframe of the start, or -1
  double* qpos0;            // (nq) m, rad, quaternions
  double* qvel0;            // (nv) m/s, rad/s
  double* act0;             // (na) units of the actuators' inputs
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
  bool inertia_from_geom;   // mass and inertia follow geom sizes and vertices
  djRollout rollout;        // points into the arrays above; refinement_steps is 0
  void* memory;             // private
} djProblem;

// Look up a task's names. The model must have the task's `set` applied already. The task must
// outlive the problem.
DJ_API djStatus dj_resolveTask(djProblem** problem, const djTask* task, const djModel* model,
                               djError* err);
DJ_API void dj_deleteProblem(djProblem* problem);

#ifdef __cplusplus
}
#endif

#endif  // DIJOCO_TASK_H_
