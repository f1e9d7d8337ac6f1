// What acts between geoms at one time: points of contact and their forces, of either engine.

#ifndef DJ_TOOLS_TOUCH_H_
#define DJ_TOOLS_TOUCH_H_

#include "engine.h"

// What a point is. Of penalty contact each point has a state of its own; other contact models, and
// MuJoCo's contacts, have one point with all of the force. Of a guide's tail it is where the bodies
// would be parted.
typedef enum TouchState {
  TOUCH_ACTS,
  TOUCH_FREE,
  TOUCH_STICKS,
  TOUCH_SLIPS,
  TOUCH_AFAR,
  TOUCH_STATES
} TouchState;

typedef struct Touch {
  int geom1, geom2; // ids
  TouchState state;
  double point[3]; // m; world
  double force[3]; // N; on geom2
} Touch;

typedef struct TouchList {
  int n, capacity;
  Touch* touch; // (n)
} TouchList;

// Those of the step just taken, before dj_forward.
void touch_dijoco(TouchList* list, const djModel* model, djData* data);
// Those of MuJoCo's last step; where it has forces they are those at its start.
void touch_mujoco(TouchList* list, const Engine* engine);

// The strongest first, at most so many.
void touch_sort(TouchList* list, int most);
double touch_size(const Touch* touch); // of the force, N

// One more, to be filled.
Touch* touch_add(TouchList* list);
void touch_free(TouchList* list);

#endif // DJ_TOOLS_TOUCH_H_
