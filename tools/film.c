#include "film.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void film_open(Film* f, const djModel* m, long steps) {
  *f = (Film){.steps = steps, .stride = (steps + FILM_FRAMES - 1) / FILM_FRAMES};
  if (f->stride < 1) f->stride = 1;
  if (dj_copyModel(&f->model, m, NULL) < 0) return;
  size_t n = (size_t)film_length(f), nbody = (size_t)m->nbody;
  f->frame = tool_alloc(n, sizeof *f->frame);
  f->xpos = tool_alloc(3 * n * nbody, sizeof(double));
  f->xquat = tool_alloc(4 * n * nbody, sizeof(double));
}

void film_close(Film* f) {
  for (int i = 0; i < f->nframe; i++) touch_free(&f->frame[i].touch);
  free(f->frame);
  free(f->xpos);
  free(f->xquat);
  dj_deleteModel(f->model);
  *f = (Film){0};
}

int film_length(const Film* f) { return (int)((f->steps + f->stride - 1) / f->stride) + 1; }

long film_step(const Film* f, int i) {
  long k = i * f->stride;
  return k < f->steps ? k : f->steps;
}

bool film_due(const Film* f, long k) {
  return f->model && f->nframe < film_length(f) && k == film_step(f, f->nframe);
}

static bool is_usable(const double* x, int n) {
  for (int i = 0; i < n; i++) {
    if (!(fabs(x[i]) < 1e9)) return false;
  }
  return true;
}

void film_add(Film* f, double time, const double* xpos, const double* xquat, TouchList* touch) {
  int nbody = f->model->nbody;
  size_t at = (size_t)f->nframe * (size_t)nbody;
  if (!is_usable(xpos, 3 * nbody) || !is_usable(xquat, 4 * nbody)) return;
  memcpy(f->xpos + 3 * at, xpos, 3 * (size_t)nbody * sizeof *xpos);
  memcpy(f->xquat + 4 * at, xquat, 4 * (size_t)nbody * sizeof *xquat);
  Frame* frame = &f->frame[f->nframe++];
  *frame = (Frame){.time = time, .all = touch ? touch->n : 0};
  if (!touch) return;
  touch_sort(touch, FILM_TOUCHES);
  for (int i = 0; i < touch->n; i++) {
    const Touch* t = &touch->touch[i];
    if (is_usable(t->point, 3) && isfinite(touch_size(t))) *touch_add(&frame->touch) = *t;
  }
}

Poses film_poses(const Film* f, int i) {
  size_t at = (size_t)i * (size_t)f->model->nbody;
  return (Poses){f->xpos + 3 * at, f->xquat + 4 * at};
}
