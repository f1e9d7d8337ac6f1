// The memory of a grid: one block, doubles first.

#include "shape/grid_memory.h"

#include <stdlib.h>
#include <string.h>

static size_t nodesOf(const djGrid* g) {
  return (size_t)g->n[0] * (size_t)g->n[1] * (size_t)g->n[2];
}

static size_t gridSize(const djGrid* g) {
  size_t nodes = nodesOf(g), ntri = (size_t)g->ntri;
  size_t doubles = 3 * nodes + 3 * (size_t)g->nvert + 3 * ntri;
  return doubles * sizeof(double) + (nodes + 3 * ntri) * sizeof(int);
}

size_t dj_gridBytes(const djGrid* grid) { return grid->buffer ? gridSize(grid) : 0; }

djStatus dj_allocGrid(djGrid* grid) {
  size_t nodes = nodesOf(grid), nvert = (size_t)grid->nvert, ntri = (size_t)grid->ntri;
  grid->buffer = calloc(1, gridSize(grid));
  if (!grid->buffer) return DJ_NO_MEMORY;
  grid->coef = grid->buffer;
  grid->bary = grid->coef + nodes;
  grid->vert = grid->bary + 2 * nodes;
  grid->normal = grid->vert + 3 * nvert;
  grid->near = (int*)(grid->normal + 3 * ntri);
  grid->tri = grid->near + nodes;
  return DJ_OK;
}

djStatus dj_copyGrid(djGrid* copy, const djGrid* grid) {
  memset(copy, 0, sizeof *copy);
  if (!grid->buffer) return DJ_OK;
  *copy = *grid;
  djStatus status = dj_allocGrid(copy);
  if (status == DJ_OK)
    memcpy(copy->buffer, grid->buffer, gridSize(grid));
  else
    memset(copy, 0, sizeof *copy);
  return status;
}

void dj_freeGrid(djGrid* grid) {
  if (!grid) return;
  free(grid->buffer);
  memset(grid, 0, sizeof *grid);
}
