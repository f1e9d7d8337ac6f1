// Models of a folder of robots, what is measured of each, and its picture.

#ifndef DJ_VALIDATION_MJ_MENAGERIE_ROBOTS_H_
#define DJ_VALIDATION_MJ_MENAGERIE_ROBOTS_H_

#ifdef DJ_HAVE_MUJOCO

#include "common/robots.h"

// Paths of all scenes below a folder, in order: files scene*.xml of a folder that has some, else
// its other .xml files.
typedef struct Paths {
  int n;
  char** path;
} Paths;
Paths robots_find(const char* folder);
void robots_free(Paths* paths);

typedef struct Robot {
  char name[60];
  mjModel* m;
  djModel* model;
  int ignored;             // features that the import leaves out
  char first[160];         // the first of them, or why the model does not load
  djData* data;            // of ours,
  mjData* stock;           // and of MuJoCo's, at the end of the run from the keyframe
  // Measured:
  double apart;            // rad, RMS of hinges over half a second from the keyframe
  double derivative;       // largest error of a column of A and B, of its size; median of states
  int bad;                 // steps under random controls that end with no finite state,
  int unconverged;         // that find no solution,
  int passes;              // and the most that one takes
  double cost, transition; // of a step, in mj_steps; of mjd_transitionFD, in steps with A, B (medians)
} Robot;

// False: MuJoCo does not load it; *model is NULL where we do not.
bool robot_open(Robot* robot, const char* path);
void robot_close(Robot* robot);
// seconds: of the run under random controls.
void robot_measure(Robot* robot, double seconds);

// DIR/NAME.svg: both engines after that half second, side by side. False: not written.
bool robot_picture(const Robot* robot, const char* dir);

#endif  // DJ_HAVE_MUJOCO

#endif  // DJ_VALIDATION_MJ_MENAGERIE_ROBOTS_H_
