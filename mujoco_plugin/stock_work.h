// What stock.c and stock_param.c share.

#ifndef DJ_MUJOCO_STOCK_WORK_H_
#define DJ_MUJOCO_STOCK_WORK_H_

#include "stock.h"

struct djStockWork {
  mjData* probe;                // scratch: its state is never used
  double gravity[3];            // unscaled
  int maxcontact;               // room in djStock.contact
  bool broken;                  // an error left d unusable until a reset
};

djStatus djm_stockError(djError* err, djStatus status, const char* format, ...);

#endif  // DJ_MUJOCO_STOCK_WORK_H_
