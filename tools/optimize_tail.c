// The tail of a guide in pictures: which forces it exerts at a time of a run.

#include "optimize_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 40 };

struct Tail {
  djModel* model;           // a copy in which the guide acts
  djData* data;
  double point[MOST][6];    // (n) arrows: where they begin and end
  double force[MOST];       // N
  int n;
};

Tail* tail_open(const OptimizeRun* r) {
  Tail* t = tool_alloc(1, sizeof *t);
  if (dj_copyModel(&t->model, r->grad.design->model, NULL) == DJ_OK) {
    dj_setGuideBackwardOnly(t->model, false);
    if (dj_guidesRuns(t->model) && dj_makeData(&t->data, t->model, NULL) == DJ_OK) return t;
  }
  tail_close(t);
  return NULL;
}

void tail_close(Tail* t) {
  if (!t) return;
  dj_deleteData(t->data);
  dj_deleteModel(t->model);
  free(t);
}

// An arrow in its place among those that are there, the largest first.
static void insert(Tail* t, int body, const double* force, double sign) {
  double size = 0;
  for (int k = 0; k < 3; k++) size += force[k] * force[k];
  size = sqrt(size);
  if (t->n == MOST && t->force[MOST - 1] >= size) return;
  int at = t->n < MOST ? t->n++ : MOST - 1;
  for (; at > 0 && t->force[at - 1] < size; at--) {
    t->force[at] = t->force[at - 1];
    memcpy(t->point[at], t->point[at - 1], sizeof t->point[at]);
  }
  t->force[at] = size;
  for (int k = 0; k < 3; k++) {
    t->point[at][k] = t->data->xpos[3 * body + k];
    t->point[at][3 + k] = sign * force[k];
  }
}

// On both bodies.
static void add(Tail* t, const djContactPair* p) {
  const djModel* m = t->model;
  int body1 = m->geom_body[p->geom1], body2 = m->geom_body[p->geom2];
  if (m->body_lastdof[body1] >= 0) insert(t, body1, p->force, -1);
  if (m->body_lastdof[body2] >= 0) insert(t, body2, p->force, 1);
}

int tail_arrows(Mark* mark, int most, Tail* t, const double* qpos, double length,
                const char* color) {
  const djModel* m = t->model;
  djData* d = t->data;
  t->n = 0;
  memcpy(d->qpos, qpos, (size_t)m->nq * sizeof(double));
  memset(d->qvel, 0, (size_t)m->nv * sizeof(double));
  if (dj_step(m, d) < 0) return 0;
  for (int i = 0; i < d->npair; i++) {
    if (d->pair[i].gap > m->contact.range) add(t, &d->pair[i]);
  }
  int n = t->n < most ? t->n : most;
  for (int i = 0; i < n; i++) {
    // short ones are to be seen, too: lengths by the root
    double f = length * sqrt(t->force[i] / t->force[0]) / t->force[i];
    for (int k = 0; k < 3; k++) t->point[i][3 + k] = t->point[i][k] + f * t->point[i][3 + k];
    mark[i] = (Mark){2, t->point[i], color, false};
  }
  return n;
}
