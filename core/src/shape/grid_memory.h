// The memory of a grid (shape/grid.h).

#ifndef DJ_SHAPE_GRID_MEMORY_H_
#define DJ_SHAPE_GRID_MEMORY_H_

#include "shape/grid.h"

// Zeroed arrays for n, nvert and ntri.
djStatus dj_allocGrid(djGrid* grid);

#endif // DJ_SHAPE_GRID_MEMORY_H_
