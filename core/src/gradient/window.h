// A window of a task: the same design over fewer steps, from a start that is replaced. What varies
// are rows of numbers, each for so many steps: controls, or free vectors that maps take to controls
// row by row. Rows move on with the window; what does not vary is the task's at the same steps, and
// its last row beyond its end.

#ifndef DJ_GRADIENT_WINDOW_H_
#define DJ_GRADIENT_WINDOW_H_

#include "base/pool.h"

#include <dijoco/design.h>

// A vector of the task by rows: the controls, or a free vector.
typedef struct djWindowTrack {
  const double* from;  // (rows x columns) the task's
  double* to;          // (nrow x columns) the window's
  int steps;           // that a row is for
  int columns;         // 0: not by rows
  int rows, nrow;
  bool* varies;        // (columns)
} djWindowTrack;

// A variable of both.
typedef struct djWindowVariable {
  int track;
  int n;               // columns that vary
  int* entry;          // (rows x n) of the task's variable
} djWindowVariable;

typedef struct djWindow {
  djDesign* task;
  djDesign* design;
  djProblem problem;   // of design
  int ntrack;
  djWindowTrack* track;         // controls, then the free vectors
  djWindowVariable* variable;   // (nvariable)
  double* state;       // (dj_stateSize) scratch
  double* history_qpos0;   // (nq), (nv) of the problem, where the start has a history
  double* history_qvel0;
  djPool pool;
} djWindow;

// The numbers of a djReceding for a task of so many steps. Errors name the key.
djStatus dj_checkReceding(const djReceding* receding, int horizon, djError* err);

// Of the first steps. The task's design must outlive it. DJ_UNSUPPORTED: what varies, or a map,
// does not go by rows; err names it.
djStatus dj_makeWindow(djWindow** window, djDesign* task, const djReceding* receding,
                       djError* err);
void dj_deleteWindow(djWindow* window);   // NULL is allowed

// Let it start at a step of the task, from the state of data.
void dj_placeWindow(djWindow* window, const djData* data, int step);

// x of the window at a step, from x of the task.
void dj_cutWindow(double* x, const djWindow* window, const double* task_x, int step);

// The other way, up to the step end; the last row goes on beyond the window.
void dj_pasteWindow(double* task_x, const djWindow* window, const double* x, int step, int end);

// Move x on by so many steps: rows that enter repeat the last one.
void dj_shiftWindow(double* x, const djWindow* window, int steps);

#endif  // DJ_GRADIENT_WINDOW_H_
