// Tasks: what `grad` and `optimize` work on, in JSON. Reading has two stages: a djTask holds what
// the file says, checked as far as that is possible without its scene; a djProblem (problem.h) is a
// task whose names were looked up in a model.
//
//   djTask* task;
//   dj_loadTask(&task, "task.json", &err);
//   ... load task->scene, dj_applySettings to its option, dj_makeModel ...
//   dj_applySet(model, task, &err);
//   djProblem* problem;
//   dj_resolveTask(&problem, task, model, &err);
//   djd_rolloutForward(&result, model, data, &problem->rollout, tape);
//
// Where there are several scenes this is done with each dj_taskOfScene().

#ifndef DIJOCO_TASK_H_
#define DIJOCO_TASK_H_

#include <dijoco/optimize.h>
#include <dijoco/problem.h>
#include <dijoco/setting.h>

#ifdef __cplusplus
extern "C" {
#endif

// One term of the loss; names not yet looked up.
typedef struct djTaskLoss {
  djLossTerm term;          // type, target, weight, tolerance, when, step...
  djObject object;          // kind of `name`; DJ_NOBJ: none
  const char* name;         // body, site, geom or joint
  djObject object2;         // kind of `name2`; DJ_NOBJ: none
  const char* name2;        // distance, qpos: the second one
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

// A task as its file says it. One with `"scenes"` is a list of tasks, of which the first is what the
// struct itself holds: each is the task with some keys of its own, and their losses add up.
typedef struct djTask {
  const char* path;         // of the task file; "" when read from text
  const char* scene;        // path of the scene, relative to the working directory or absolute
  djSettings settings;      // that it gives
  int nguide;               // `guide_bodies`: pairs; -1: not given
  const char* const* guide; // (nguide x 2) names of bodies
  int horizon;              // steps
  djDerivatives derivatives;   // of the gradient; the loss is the run's
  int checkpoint;           // linearisations that a tape holds (djRollout); 0: those of all steps
  const char* keyframe;     // name or "#index", NULL: none
  int nqpos, nqvel, nact;   // numbers of the start; -1: not given
  const double* qpos;       // (nqpos) m, rad, quaternions
  const double* qvel;       // (nqvel) m/s, rad/s
  const double* act;        // (nact) units of the actuators' inputs
  bool history;             // that of the start is given
  int nhistory_qpos, nhistory_qvel;   // numbers of it
  const double* history_qpos;   // (nhistory_qpos) m, rad, quaternions
  const double* history_qvel;   // (nhistory_qvel) m/s, rad/s
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
  const djMapDef* map;     // (nmap)
  int nconnect;             // connections
  const djTaskConnect* connect;     // (nconnect)
  bool connect_auto;        // "auto": those that dj_applySet finds in the model
  djInertiaRule inertia_from_geom;   // how mass and inertia follow geom sizes and vertices
  djOptimizer optimizer;    // how to optimise
  int nscene;               // at least 1
  struct djTask* const* scenes;   // (nscene) the first is this one
  const char* name;         // of its scene, which no other has; "": there is no list
  const char* element;      // "scenes[1] 'cup'", for messages; likewise
  double weight;            // 1; of its loss in the sum of all, positive
  void* memory;             // private
} djTask;

// Read a task from a file or from text. Errors name the key.
DJ_API djStatus dj_loadTask(djTask** task, const char* path, djError* err);
// folder: where relative paths start; NULL: the working directory.
DJ_API djStatus dj_loadTaskText(djTask** task, const char* text, const char* folder, djError* err);
DJ_API void dj_deleteTask(djTask* task);

// Set the parameters of `set` on an unshared model; with inertia_from_geom masses and inertias
// follow its geoms (dj_followGeomsBy). With `connect`: "auto" the vertices that hulls share are then
// added to the model's meshes, and the task remembers what they join; it must find the same in
// every model. A list of connections lets `set` give a mesh more vertices than it has.
DJ_API djStatus dj_applySet(djModel* model, const djTask* task, djError* err);

// The task's settings, then its `set`, on an unshared model of its scene.
DJ_API djStatus dj_applyTask(djModel* model, const djTask* task, djError* err);

// Fields of a task, for other languages.
DJ_API const char* dj_taskScene(const djTask* task);
DJ_API const djOptimizer* dj_taskOptimizer(const djTask* task);

// Scenes of a task, 1 where it has no list; the task of one, which the first task owns; its name,
// "" without a list, and its weight (1).
DJ_API int dj_taskScenes(const djTask* task);
DJ_API const djTask* dj_taskOfScene(const djTask* task, int scene);
DJ_API const char* dj_taskName(const djTask* task);
DJ_API double dj_taskWeight(const djTask* task);

// Look up a task's names, of the first of several scenes: the others' tasks are to be resolved each
// with its own model (see djd_makeScenes). The model must have the task's settings and `set` applied
// already: maps take its timestep. The task must outlive the problem.
DJ_API djStatus dj_resolveTask(djProblem** problem, const djTask* task, const djModel* model,
                               djError* err);

#ifdef __cplusplus
}
#endif

#endif  // DIJOCO_TASK_H_
