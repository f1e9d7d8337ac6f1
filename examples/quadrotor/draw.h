// The files path.csv and path.svg.

#ifndef QUADROTOR_DRAW_H_
#define QUADROTOR_DRAW_H_

#include "scene.h"

// first, path (knots x 3). Both files are in place afterwards, or neither.
bool writeFiles(const char* folder, const double* first, const double* path, Scene* scene,
                djError* err);

#endif // QUADROTOR_DRAW_H_
