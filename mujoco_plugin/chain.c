// Substeps x_k+1 = f(x_k, u): by the start's state and by the controls
//   A <- A_k A,  B <- A_k B + B_k,
// and forces, means of g(x_k, u) with derivatives (G_x, G_u): the sum of G_x A, of G_x B + G_u.

#include "chain.h"

#include <stdlib.h>
#include <string.h>

djStatus djm_makeChain(djmChain* w, djmContext* c, const mjModel* m, bool forces) {
  size_t nx = (size_t)dj_tangentSize(c->model), nu = (size_t)c->model->nu;
  size_t nforce = forces ? (size_t)m->nsensor + 6 * (size_t)m->nbody : 0, n = nx + nu;
  size_t tall = nx > nforce ? nx : nforce;
  *w = (djmChain){.c = c, .m = m, .nx = (int)nx, .nu = (int)nu, .nforce = (int)nforce};
  w->memory = calloc(2 * nx * n + 2 * nforce * n + tall * n + nforce * nx, sizeof(mjtNum));
  if (!w->memory) return djm_fail(c, DJ_NO_MEMORY, "out of memory");
  w->A = w->memory;
  w->B = w->A + nx * nx;
  w->Ak = w->B + nx * nu;
  w->Bk = w->Ak + nx * nx;
  w->force = w->Bk + nx * nu;
  w->part = w->force + nforce * n;
  w->product = w->part + nforce * n;
  return DJ_OK;
}

void djm_freeChain(djmChain* w) { free(w->memory); }

// A pair's wrench on geom2's body, and its opposite: moment about the origin, force (3 x n each).
static void addWrench(djmChain* w, const djContactPair* p, const mjtNum* moment,
                      const mjtNum* force, double f) {
  int n = w->nx + w->nu;
  for (int s = 0; s < 2; s++) {
    int body = w->c->model->geom_body[s ? p->geom2 : p->geom1];
    mjtNum* rows = w->part + (size_t)(w->m->nsensor + 6 * body) * n;
    mju_addToScl(rows, moment, s ? f : -f, 3 * n);
    mju_addToScl(rows + 3 * (size_t)n, force, s ? f : -f, 3 * n);
  }
}

// w->part: forces of the substep just taken, times f, by its start.
static djStatus setPart(djmChain* w, double f) {
  djmContext* c = w->c;
  const djData* data = c->data;
  size_t n = (size_t)(w->nx + w->nu), npair = (size_t)data->npair;
  memset(w->part, 0, (size_t)w->nforce * n * sizeof(mjtNum));
  if (npair == 0) return DJ_OK;
  mjtNum* memory = malloc(7 * npair * n * sizeof(mjtNum));
  if (!memory) return djm_fail(c, DJ_NO_MEMORY, "out of memory");
  mjtNum *force = memory, *moment = force + 3 * npair * n, *normal = moment + 3 * npair * n;
  djStatus status = djd_lastContact(c->model, c->data, force, moment, normal);
  for (size_t k = 0; k < npair && status == DJ_OK; k++) {
    const djContactPair* p = &data->pair[k];
    addWrench(w, p, moment + 3 * k * n, force + 3 * k * n, f);
    for (int i = 0; i < w->m->nsensor; i++) {
      if (w->m->sensor_type[i] != mjSENS_TOUCH || !djm_touches(c, w->m, i, p)) continue;
      mju_addToScl(w->part + (size_t)i * n, normal + k * n, f, (int)n);
    }
  }
  free(memory);
  return status;
}

// w->force += w->part by the start of the step. Rows hold both kinds of columns.
static void chainForces(djmChain* w) {
  int nx = w->nx, nu = w->nu, n = nx + nu;
  mjtNum *G = w->product + (size_t)w->nforce * n, *to = w->product;
  for (int r = 0; r < w->nforce; r++) mju_copy(G + (size_t)r * nx, w->part + (size_t)r * n, nx);
  mju_mulMatMat(to, G, w->A, w->nforce, nx, nx);
  for (int r = 0; r < w->nforce; r++) {
    mju_addTo(w->force + (size_t)r * n, to + (size_t)r * nx, nx);
  }
  mju_mulMatMat(to, G, w->B, w->nforce, nx, nu);
  for (int r = 0; r < w->nforce; r++) {
    mjtNum* row = w->force + (size_t)r * n + nx;
    mju_addTo(row, to + (size_t)r * nu, nu);
    mju_addTo(row, w->part + (size_t)r * n + nx, nu);
  }
}

static void chainStates(djmChain* w) {
  int nx = w->nx, nu = w->nu;
  mju_mulMatMat(w->product, w->Ak, w->A, nx, nx, nx);
  mju_copy(w->A, w->product, nx * nx);
  mju_mulMatMat(w->product, w->Ak, w->B, nx, nx, nu);
  mju_add(w->B, w->product, w->Bk, nx * nu);
}

djStatus djm_takeChain(djmChain* w) {
  djmContext* c = w->c;
  djStatus worst = DJ_OK;
  double f = 1.0 / c->substeps;
  for (int i = 0; i < w->nx; i++) w->A[(size_t)i * (w->nx + 1)] = 1;
  if (w->nforce > 0) djm_clearForces(c, w->m);
  djm_beginWay(c);
  for (int k = 0; k < c->substeps; k++) {
    djm_goWay(c, k);
    djStatus status = dj_step(c->model, c->data);
    if (status < 0) return status;
    if (status > 0) worst = status;
    status = djd_lastTransition(c->model, c->data, w->Ak, w->Bk);
    if (status == DJ_OK && w->nforce > 0) {
      djm_addForces(c, w->m, f);
      status = setPart(w, f);
      if (status == DJ_OK) chainForces(w);
    }
    if (status != DJ_OK) return status;
    chainStates(w);
  }
  return worst;
}
