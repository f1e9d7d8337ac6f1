#include "touch.h"

#include <dijoco/penalty.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

Touch* touch_add(TouchList* list) {
  if (list->n == list->capacity) {
    list->capacity = 2 * list->capacity + 32;
    list->touch = tool_grow(list->touch, (size_t)list->capacity, sizeof *list->touch);
  }
  return &list->touch[list->n++];
}

void touch_free(TouchList* list) {
  free(list->touch);
  *list = (TouchList){0};
}

double touch_size(const Touch* t) { return hypot(hypot(t->force[0], t->force[1]), t->force[2]); }

// Of equal ones in their order, so that files do not depend on the sort.
static int by_size(const void* a, const void* b) {
  const Touch *p = a, *q = b;
  double x = touch_size(p), y = touch_size(q);
  if (x != y) return x > y ? -1 : 1;
  if (p->geom1 != q->geom1) return p->geom1 < q->geom1 ? -1 : 1;
  if (p->geom2 != q->geom2) return p->geom2 < q->geom2 ? -1 : 1;
  return memcmp(p->point, q->point, sizeof p->point);
}

void touch_sort(TouchList* list, int most) {
  if (list->n > 0) qsort(list->touch, (size_t)list->n, sizeof *list->touch, by_size);
  if (list->n > most) list->n = most;
}

// ---- our engine

typedef struct Points {
  int n;
  djcPenaltyPoint* point;
  double* place;
  int* geom;
} Points;

static void find_points(Points* p, const djModel* m, djData* d) {
  *p = (Points){0};
  if (dj_contactPoints(&p->n, NULL, NULL, NULL, 0, m, d) < 0 || p->n == 0) return;
  size_t n = (size_t)p->n;
  p->point = tool_alloc(n, sizeof *p->point);
  p->place = tool_alloc(3 * n, sizeof *p->place);
  p->geom = tool_alloc(2 * n, sizeof *p->geom);
  if (dj_contactPoints(&p->n, p->point, p->place, p->geom, p->n, m, d) < 0) p->n = 0;
}

static void free_points(Points* p) {
  free(p->point);
  free(p->place);
  free(p->geom);
}

static void add_point(TouchList* list, const Points* p, int i) {
  static const TouchState state[] = {
      [DJC_FREE] = TOUCH_FREE, [DJC_STICK] = TOUCH_STICKS, [DJC_SLIP] = TOUCH_SLIPS};
  Touch* t = touch_add(list);
  *t = (Touch){
      .geom1 = p->geom[2 * i + 1], .geom2 = p->geom[2 * i], .state = state[p->point[i].state]};
  memcpy(t->point, p->place + 3 * i, sizeof t->point);
  memcpy(t->force, p->point[i].force, sizeof t->force);
}

static void add_pair(TouchList* list, const djModel* m, const djContactPair* pair) {
  Touch t = {.geom1 = pair->geom1,
             .geom2 = pair->geom2,
             .state = dj_guidesRuns(m) && pair->gap > m->contact.range ? TOUCH_AFAR : TOUCH_ACTS};
  memcpy(t.point, pair->point, sizeof t.point);
  memcpy(t.force, pair->force, sizeof t.force);
  if (touch_size(&t) > 0) *touch_add(list) = t;
}

// Points come in the order of the pairs, and are all that acts in theirs.
void touch_dijoco(TouchList* list, const djModel* m, djData* d) {
  Points p;
  find_points(&p, m, d);
  list->n = 0;
  for (int k = 0, i = 0; k < d->npair; k++) {
    const djContactPair* pair = &d->pair[k];
    int first = i;
    for (; i < p.n; i++) {
      int a = p.geom[2 * i], b = p.geom[2 * i + 1];
      bool mine = (a == pair->geom1 && b == pair->geom2) || (b == pair->geom1 && a == pair->geom2);
      if (!mine) break;
      add_point(list, &p, i);
    }
    if (i == first) add_pair(list, m, pair);
  }
  free_points(&p);
}
