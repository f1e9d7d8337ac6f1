// A quadrotor, one ellipsoid of fixed orientation, among static obstacles: implicit surfaces of
// dijoco/implicit.h, read from JSON, and how near its path comes to them.

#ifndef QUADROTOR_SCENE_H_
#define QUADROTOR_SCENE_H_

#include "common.h"

typedef struct Body {
  djcImplicitShape shape;
  double* number;         // the shape's
  double pos[3], quat[4]; // m, 1; world
} Body;

typedef struct Scene {
  Body quadrotor;                 // its pos is not used
  int nobstacle;                  // 1
  Body* obstacle;                 // (nobstacle)
  djcImplicitPair** pair;         // (nobstacle) the obstacle, then the quadrotor
  double low[3], high[3];         // m; where its centre may be
  double start[3], goal[3];       // m
  int knots;                      // of the path, both ends included
  double margin;                  // 1; alpha is to be at least 1 + margin
  double bending;                 // m; of the path's smoothness
  double rrt_step, rrt_goal_bias; // m, 1
  int rrt_samples;                // at most
  long queries, failed;           // of alpha; those that did not converge
} Scene;

bool readScene(Scene* scene, const char* file, djError* err);
void freeScene(Scene* scene);

// What the quadrotor's centre at p (m) has to obstacle j: alpha, and its gradient by p (1/m).
typedef struct Touch {
  double alpha, grad[3];
} Touch;
Touch touchAt(Scene* scene, int j, const double p[3]);

// The least alpha on the way from p to q, where those of its ends are known; t (0 to 1): where.
Touch leastTouch(Scene* scene, int j, const double p[3], const double q[3], const Touch ends[2],
                 double* t);

// The same of all obstacles.
double leastOfAll(Scene* scene, const double p[3], const double q[3]);

#endif // QUADROTOR_SCENE_H_
