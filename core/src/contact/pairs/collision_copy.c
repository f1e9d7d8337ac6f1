// Copying the collision data of a model.

#include "base/status.h"
#include "contact/pairs/collision.h"

#include <stdlib.h>
#include <string.h>

// Where a pointer into one buffer points in its copy.
static void* moved(const struct djCollision* c, const struct djCollision* from,
                   const void* place) {
  return place ? (unsigned char*)c->buffer +
                     ((const unsigned char*)place - (const unsigned char*)from->buffer)
               : NULL;
}

static void movePointers(struct djCollision* c, const struct djCollision* from) {
  c->use = moved(c, from, from->use);
  c->range = moved(c, from, from->range);
  c->shape = moved(c, from, from->shape);
  c->bounds = moved(c, from, from->bounds);
  c->skin = moved(c, from, from->skin);
  c->inner = moved(c, from, from->inner);
  c->collides = moved(c, from, from->collides);
  c->box = moved(c, from, from->box);
  c->beyond = moved(c, from, from->beyond);
  c->reach = moved(c, from, from->reach);
  c->collide = moved(c, from, from->collide);
  c->list = moved(c, from, from->list);
  c->listroom = moved(c, from, from->listroom);
  c->listaxes = moved(c, from, from->listaxes);
  c->listreach = moved(c, from, from->listreach);
  for (int k = 0; k < c->nhull / 2; k++) c->list[k] = moved(c, from, from->list[k]);
  for (int i = 0; i < c->nshape; i++) {
    djShape* s = &c->shape[i];
    s->own = moved(c, from, s->own);
    for (int k = 0; k < 3; k++) {
      s->vert[k] = moved(c, from, s->vert[k]);
      s->move[k] = moved(c, from, s->move[k]);
    }
    s->weight = moved(c, from, s->weight);
    s->fit = moved(c, from, s->fit);
    if (s->grid) s->grid = c->grid + (s->grid - from->grid);
    s->list = moved(c, from, s->list);
  }
}

// Of n meshes. False: no memory; *copy may be released all the same.
static bool copyFacets(djFacets** copy, const djFacets* list, int n) {
  *copy = list ? calloc((size_t)n + 1, sizeof **copy) : NULL;
  bool good = !list || *copy;
  for (int k = 0; list && k < n && good; k++) {
    size_t size = 3 * (size_t)list[k].nface * sizeof(int);
    (*copy)[k] = (djFacets){list[k].key, list[k].nface, list[k].face ? malloc(size + 1) : NULL};
    good = (*copy)[k].face || !list[k].face;
    if (list[k].face && good) memcpy((*copy)[k].face, list[k].face, size);
  }
  return good;
}

static size_t facetsBytes(const djFacets* list, int n) {
  size_t bytes = list ? (size_t)n * sizeof *list : 0;
  for (int k = 0; list && k < n; k++) bytes += 3 * (size_t)list[k].nface * sizeof(int);
  return bytes;
}

size_t dj_collisionBytes(const djModel* model) {
  const struct djCollision* c = model->collision;
  if (!c) return 0;
  int n = c->nhull / 2;
  size_t bytes = sizeof *c + c->nbuffer + facetsBytes(c->facets, n) + facetsBytes(c->own_facets, n);
  if (c->excess) bytes += 2 * (size_t)model->nbody * sizeof *c->excess;
  if (c->lumps) bytes += 2 * (size_t)model->nbody * sizeof *c->lumps;
  for (int k = 0; k < c->nhull; k++) bytes += sizeof *c->hull + dj_hullBytes(&c->hull[k]);
  for (int k = 0; k < n; k++) bytes += sizeof *c->grid + dj_gridBytes(&c->grid[k]);
  return bytes;
}

djStatus dj_copyCollision(djModel* copy, const djModel* model, djError* err) {
  const struct djCollision* from = model->collision;
  struct djCollision* c = malloc(sizeof *c);
  if (!c) return dj_failMemory(err);
  *c = *from;
  c->facets = NULL;
  c->excess = NULL;
  c->buffer = malloc(c->nbuffer + 1);
  c->hull = calloc((size_t)c->nhull + 1, sizeof *c->hull);
  c->grid = calloc((size_t)c->nhull / 2 + 1, sizeof *c->grid);
  const size_t nlump = 2 * (size_t)model->nbody * sizeof(double);
  c->lumps = from->lumps ? malloc(nlump) : NULL;
  bool good = copyFacets(&c->own_facets, from->own_facets, c->nhull / 2);
  good = good && c->buffer && c->hull && c->grid && (c->lumps || !from->lumps);
  for (int k = 0; k < c->nhull && good; k++) {
    good = dj_copyHull(&c->hull[k], &from->hull[k]) == DJ_OK;
  }
  if (good) good = dj_copyGrids(c->grid, from->grid, c->nhull / 2, -1) == DJ_OK;
  copy->collision = c;
  if (!good) {
    dj_freeCollision(copy);
    return dj_failMemory(err);
  }
  memcpy(c->buffer, from->buffer, c->nbuffer);
  if (c->lumps) memcpy(c->lumps, from->lumps, nlump);
  movePointers(c, from);
  return DJ_OK;
}
