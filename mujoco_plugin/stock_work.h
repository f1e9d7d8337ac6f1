// What stock.c, stock_param.c and physics.c share.

#ifndef DJ_MUJOCO_STOCK_WORK_H_
#define DJ_MUJOCO_STOCK_WORK_H_

#include "stock.h"

struct djStockWork {
  mjData* probe;                // scratch: its state is never used
  double gravity[3];            // unscaled
  int maxcontact;               // room in djStock.contact
  bool broken;                  // an error left d unusable until a reset
};

// Force and torque of contact i on its second geom, about the contact's point, world axes. Returns
// the normal force.
mjtNum djm_contactWrench(mjtNum force[3], mjtNum torque[3], const mjModel* m, const mjData* d,
                         int i);

djStatus djm_stockError(djError* err, djStatus status, const char* format, ...);

#endif  // DJ_MUJOCO_STOCK_WORK_H_
