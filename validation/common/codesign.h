// Tasks of models/codesign and their results in validation programs. Needs MuJoCo.

#ifndef DJ_VALIDATION_CODESIGN_H_
#define DJ_VALIDATION_CODESIGN_H_

#ifdef DJ_HAVE_MUJOCO

#include "common/report.h"

#include <dijoco/dijoco.h>
#include <dijoco/mujoco.h>

enum { CD_NTASK = 6, CD_MAX_SCENE = 12 };
extern const char* const cd_names[CD_NTASK];

// Takes "--results DIR" out of the arguments; NULL where there is none.
const char* cd_takeResults(int* argc, char** argv);

// Path of models/codesign/NAME/task.json.
void cd_taskPath(char path[400], const char* name);

// Folder of the result of that task. Given results have it as DIR/NAME_task (or the program ends);
// else it is in build/codesign (`quick`: of that name in build/validate, after two iterations),
// where `dijoco optimize` makes it, unless there is one that is newer than its task.
void cd_result(char folder[400], const char* results, const char* name, const char* quick);

// One scene of a task, ready to run.
typedef struct CdScene {
  djModel* model;
  djProblem* problem;
  djDesign* design;
} CdScene;

// The program ends where it cannot be opened. The task must outlive the scene.
djTask* cd_load(const char* path);
// Scenes that end before the task only shape its loss.
bool cd_isWhole(const djTask* scene, const djTask* task);
void cd_open(CdScene* s, const djTask* task);
void cd_close(CdScene* s);

// What a task is about: a site or a centre of mass that is to reach a mark, or a body that a
// gripper holds from a step on.
typedef struct CdAim {
  const char* site;   // or NULL
  const char* body;   // or NULL: everything that moves
  const char* holder; // or NULL
  int from;           // step at which it is grasped
  double mark[3];
} CdAim;
CdAim cd_aim(const djTask* task);

// A run as it is looked at.
typedef struct CdTrack {
  int n;            // steps
  double* distance; // (n + 1) m; by which it came nearer to the mark, or went sideways
  double* height;   // (n + 1) m; of the same point over its start
  double* holder;   // (n + 1) m; of the gripper over its place at `from`
  double* tilt;     // (n + 1) rad; of the first body that is free
  double* low;      // (n + 1) 1; height of that body over the ground, by that at the start
} CdTrack;
void cd_newTrack(CdTrack* t, int n);
void cd_freeTrack(CdTrack* t);
// Adds the state after step k, with kinematics and centres of mass done.
void cd_addTrack(CdTrack* t, int k, const CdAim* aim, const mjModel* m, const mjData* d);

// The least and the most of n + 1 numbers, and how far these are apart.
typedef struct CdExtremes {
  double low, high;
} CdExtremes;
CdExtremes cd_extremes(const double* x, int n);
double cd_range(const double* x, int n);

// The design's own run at x0: states (n + 1 x nq), new memory. *unsolved: steps.
double* cd_run(int* unsolved, CdScene* s, double* loss);

// That run as a new track, by kinematics of the scene's model in MuJoCo. Returns its loss.
double cd_trackRun(CdTrack* t, int* unsolved, CdScene* s, const CdAim* aim, const mjModel* m);

// The written scene: DIR/scene.xml, DIR/ctrl.csv, or with the scene's name.
typedef struct CdWritten {
  mjModel* m;
  int nrow, key;
  double* ctrl; // (nrow x nu)
} CdWritten;
void cd_openWritten(CdWritten* w, const char* folder, const djTask* scene);
void cd_closeWritten(CdWritten* w);

// Centre of mass of all that moves, after dj_forward.
void cd_centre(double out[3], const djModel* m, const djData* d);

// Factor on the friction of all geoms, in either engine.
void cd_scaleFriction(mjModel* m, double factor);
void cd_scaleOurs(djModel* m, double factor);

#endif // DJ_HAVE_MUJOCO

#endif // DJ_VALIDATION_CODESIGN_H_
