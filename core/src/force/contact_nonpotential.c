// Contact of kernels without an energy, or with velocities, see twist_force.c.

#include "force/contact_nonpotential.h"

#include "math/block6.h"

#include <string.h>

bool dj_hasNonpotentialContact(const djModel* m) {
  for (int u = 0; m->collision && u < m->collision->nuse; u++) {
    if (m->collision->use[u] == DJ_CONTACT_NONE) continue;
    const djTraits traits = dj_modelTraits(m, m->collision->use[u]);
    if (!dj_isPotential(&traits)) return true;
  }
  return false;
}

// Block of bodies r, s of a 12 x 12 matrix.
static void copyBlock(double K[36], const double* from, int r, int s) {
  from += 72 * r + 6 * s;
  for (int i = 0; i < 6; i++) memcpy(K + 6 * i, from + 12 * i, 6 * sizeof(double));
}

// dg/dpose of bodies r, s: a kernel's is in exponential coordinates.
static void poseBlock(double K[36], const djContactBlock* c, int r, int s) {
  double Q[36];
  copyBlock(Q, c->out.hessian, r, s);
  memset(K, 0, 36 * sizeof(double));
  if (r == s)
    dj_addNested(K, Q, c->out.gradient + 6 * r);
  else
    memcpy(K, Q, sizeof Q);
}

static bool moves(const djModel* m, int body) { return m->body_lastdof[body] >= 0; }

static void addBlock(djForceSum* sum, djTwistForces* s, const djContactBlock* c,
                     const djMotion* at) {
  const djModel* m = at->model;
  int body[2] = {c->body_a, c->body_b};
  for (int r = 0; r < 2; r++) {
    if (!moves(m, body[r])) continue;
    for (int k = 0; k < 6; k++) s->W[6 * body[r] + k] += c->out.gradient[6 * r + k];
    for (int k = 0; k < 2; k++) {
      if (!moves(m, body[k])) continue;
      double K[36], T[36] = {0};
      poseBlock(K, c, r, k);
      if (c->out.twist_jac) copyBlock(T, c->out.twist_jac, r, k);
      dj_addWrenchBy(s, sum->H, at, body[r], body[k], K, T);
    }
  }
}

static bool anyNonpotential(const djContactBlock* const* block, int n) {
  for (int k = 0; k < n; k++) {
    if (!dj_isPotential(block[k]->traits)) return true;
  }
  return false;
}

void dj_addNonpotential(djForceSum* sum, double* gradient, djTwistForces* s, const djContacts* list,
                        const djMotion* at) {
  if (!s->V) return;
  int n;
  const djContactBlock* const* block = dj_contactBlocks(&n, list);
  if (!anyNonpotential(block, n)) return;
  dj_clearTwistForces(s, at->model);
  for (int k = 0; k < n; k++) {
    if (!dj_isPotential(block[k]->traits)) addBlock(sum, s, block[k], at);
  }
  dj_projectTwistForces(s, sum->H, gradient, at);
}

void dj_startNonpotential(djStartSum* sum, djTwistForces* s, const djContacts* list,
                          const djMotion* at) {
  const djModel* m = at->model;
  int n;
  const djContactBlock* const* block = dj_contactBlocks(&n, list);
  if (!anyNonpotential(block, n)) return;
  dj_clearTwistForces(s, m);
  for (int k = 0; k < n; k++) {
    const djContactBlock* c = block[k];
    int body[2] = {c->body_a, c->body_b};
    for (int r = 0; r < 4 && c->out.twist_jac; r++) {
      int a = r / 2, b = r % 2;
      double T[36];
      if (!moves(m, body[a]) || !moves(m, body[b])) continue;
      copyBlock(T, c->out.twist_jac, a, b);
      dj_addWrenchByRate(s, sum, at, body[a], body[b], T);
    }
  }
  dj_projectTwistRates(s, sum, at);
}

void dj_nonpotentialCotangents(djParamSums* p, djTwistForces* s, const djContacts* list,
                               const djMotion* at) {
  int n;
  const djContactBlock* const* block = dj_contactBlocks(&n, list);
  if (!anyNonpotential(block, n)) return;
  dj_clearTwistForces(s, at->model);
  for (int k = 0; k < n; k++) {
    const djContactBlock* c = block[k];
    if (dj_isPotential(c->traits)) continue;
    int body[2] = {c->body_a, c->body_b};
    for (int b = 0; b < 2; b++) {
      double y[6] = {0}, t[6] = {0};
      for (int r = 0; r < 2; r++) {
        double K[36];
        poseBlock(K, c, r, b);
        dju_mulAdd6(y, K, 6, p->x + 6 * body[r], true);
        if (!c->out.twist_jac) continue;
        dju_mulAdd6(t, c->out.twist_jac + 72 * r + 6 * b, 12, p->x + 6 * body[r], true);
      }
      dj_addTwistCotangent(s, p, body[b], y, t, c->out.gradient + 6 * b);
    }
  }
  dj_projectTwistCotangents(s, p, at);
}
