// Memory of the smooth derivatives, chains of dofs, functions over few dofs (smooth_work.h).

#include "smooth_work.h"

#include "slope_math.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

djStatus djm_refuse(djError* err, const char* format, ...) {
  if (err) {
    va_list args;
    va_start(args, format);
    vsnprintf(err->text, sizeof(err->text), format, args);
    va_end(args);
  }
  return DJ_UNSUPPORTED;
}

const char* djm_nameOf(const mjModel* m, int type, int id) {
  const char* name = mj_id2name(m, type, id);
  return name ? name : "(no name)";
}

// ---- memory -----------------------------------------------------------------------------------

// Part of the block, or where there is none yet, its size.
static void* take(char** at, size_t* total, size_t size) {
  size = (size + 63) / 64 * 64;
  void* part = *at;
  if (*at) *at += size;
  *total += size;
  return part;
}

static size_t divide(djmSmoothWork* w, char* at, size_t nv, size_t nbody) {
  size_t total = 0, number = sizeof(double);
  w->dof = take(&at, &total, nv * sizeof(djmDof));
  w->body = take(&at, &total, nbody * sizeof(djmBody));
  w->groupend = take(&at, &total, nv * sizeof(int));
  for (int i = 0; i < DJM_NCHAIN; i++) {
    w->chain[i].dof = take(&at, &total, nv * sizeof(int));
    w->chain[i].p = take(&at, &total, 3 * nv * number);
    w->chain[i].s = take(&at, &total, 3 * nv * number);
  }
  w->form.dof = take(&at, &total, nv * sizeof(int));
  w->form.index = take(&at, &total, nv * sizeof(int));
  w->form.slope = take(&at, &total, nv * number);
  w->form.moment = take(&at, &total, nv * number);
  w->form.hessian = take(&at, &total, nv * nv * number);
  w->e0 = take(&at, &total, 3 * nv * number);
  w->e1 = take(&at, &total, 3 * nv * number);
  w->sg = take(&at, &total, 3 * nv * number);
  w->row = take(&at, &total, nv * number);
  w->square = take(&at, &total, nv * (nv > 6 ? nv : 6) * number);
  w->clamped = take(&at, &total, nv * sizeof(bool));
  w->list = take(&at, &total, nv * sizeof(int));
  return total;
}

djmSmoothWork* djm_makeSmoothWork(const mjModel* m) {
  djmSmoothWork probe = {0};
  size_t nv = (size_t)m->nv, nbody = (size_t)m->nbody, head = (sizeof(probe) + 63) / 64 * 64;
  char* memory = malloc(head + divide(&probe, NULL, nv, nbody) + 64);
  if (!memory) return NULL;
  djmSmoothWork* w = (djmSmoothWork*)(void*)memory;
  memset(w, 0, sizeof(*w));
  divide(w, memory + head, nv, nbody);
  w->nv = (int)nv;
  w->nbody = (int)nbody;
  for (int i = 0; i < w->nv;) {
    int end = i + djm_groupSize(m, i);
    for (; i < end; i++) w->groupend[i] = end;
  }
  for (int i = 0; i < w->nv; i++) w->form.index[i] = -1;
  return w;
}

void djm_deleteSmoothWork(djmSmoothWork* w) { free(w); }

// ---- chains -----------------------------------------------------------------------------------

void djm_fillChain(djmChain* c, const mjModel* m, const mjData* d, int body, const double* point) {
  c->n = 0;
  body = m->body_weldid[body];
  if (m->body_dofnum[body] == 0) return;
  int last = m->body_dofadr[body] + m->body_dofnum[body] - 1, n = 0;
  for (int i = last; i >= 0; i = m->dof_parentid[i]) n++;
  c->n = n;
  double offset[3];
  sub3(offset, point, d->subtree_com + 3 * m->body_rootid[body]);
  for (int i = last; i >= 0; i = m->dof_parentid[i]) {
    const double* axis = d->cdof + 6 * i;
    n--;
    c->dof[n] = i;
    copy3(c->s + 3 * n, axis);
    copy3(c->p + 3 * n, axis + 3);
    addCross3(c->p + 3 * n, axis, offset);
  }
}

int djm_commonDofs(const djmChain* a, const djmChain* b) {
  int n = 0;
  while (n < a->n && n < b->n && a->dof[n] == b->dof[n]) n++;
  return n;
}

// ---- functions over few dofs ------------------------------------------------------------------

void djm_openForm(djmForm* f) { f->n = 0; }

void djm_addDof(djmForm* f, int dof) {
  if (f->index[dof] >= 0) return;
  f->index[dof] = f->n;
  f->dof[f->n++] = dof;
}

void djm_addChain(djmForm* f, const djmChain* c, int first) {
  for (int i = first; i < c->n; i++) djm_addDof(f, c->dof[i]);
}

void djm_startForm(djmForm* f, bool turns) {
  size_t n = (size_t)f->n;
  memset(f->slope, 0, n * sizeof(double));
  memset(f->moment, 0, n * sizeof(double));
  if (turns) memset(f->hessian, 0, n * n * sizeof(double));
  f->turns = turns;
}

void djm_closeForm(djmForm* f) {
  for (int i = 0; i < f->n; i++) f->index[f->dof[i]] = -1;
}

// With g_j = p_j x force + s_j x torque and e_j = force x s_j, the row's entry j changes by
//   s_k . g_j  where k precedes j or turns with it,   p_k . e_j  otherwise.
void djm_addWrenchForm(djmForm* f, const djmChain* c, int first, const int* groupend,
                       const double* force, const double* torque, double scale) {
  for (int a = first; a < c->n; a++) {
    const double *p = c->p + 3 * a, *s = c->s + 3 * a;
    int j = f->index[c->dof[a]], end = groupend[c->dof[a]];
    double g[3], e[3];
    cross3(g, p, force);
    cross3(e, force, s);
    if (torque) addCross3(g, s, torque);
    f->moment[j] += scale * (dot3(p, force) + (torque ? dot3(s, torque) : 0));
    if (!f->turns) continue;
    double* row = f->hessian + (size_t)j * f->n;
    for (int b = first; b < c->n; b++) {
      int k = c->dof[b];
      row[f->index[k]] += scale * (k < end ? dot3(c->s + 3 * b, g) : dot3(c->p + 3 * b, e));
    }
  }
}

void djm_subWrench(double* by_q, int nv, const djmChain* c, const int* groupend,
                   const double* force, const double* torque) {
  for (int a = 0; a < c->n; a++) {
    const double *p = c->p + 3 * a, *s = c->s + 3 * a;
    int end = groupend[c->dof[a]];
    double g[3], e[3], *row = by_q + (size_t)c->dof[a] * nv;
    cross3(g, p, force);
    cross3(e, force, s);
    if (torque) addCross3(g, s, torque);
    for (int b = 0; b < c->n; b++) {
      int k = c->dof[b];
      row[k] -= k < end ? dot3(c->s + 3 * b, g) : dot3(c->p + 3 * b, e);
    }
  }
}
