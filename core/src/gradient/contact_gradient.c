// Derivatives of contact forces through the step.
//
// The force on a body is minus the derivative of the pair's energy by the body's translation, taken
// at the poses of the end and with what the start has fixed (lagged plane, erosion), so that
//   df = -U_v,xi xi+ - U_v,xi0 xi0,   xi+ = S(q+) dq+,  xi0 = S(q) dq
// for twists of both bodies; dq+ follows from the implicit step (transition.c). The normal force is
// that of the energy without friction.

#include "base/status.h"
#include "gradient/linear.h"

#include <string.h>

static double dot6(const double* a, const double* b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5];
}

// out (nc) += f (by_now . twists of both bodies now + by_start . twists at the start).
static void addTwists(double* out, double f, const double by_now[12], const double by_start[12],
                      const djWork* w, const djModel* m, const djContactBlock* c) {
  int nc = 2 * m->nv + m->na + m->nu, body[2] = {c->body_a, c->body_b};
  for (int side = 0; side < 2; side++) {
    for (int i = m->body_lastdof[body[side]]; i >= 0; i = m->dof_parent[i]) {
      double now = f * dot6(by_now + 6 * side, w->now.S + 6 * i);
      const double* X = w->X + (size_t)i * nc;
      for (int k = 0; k < nc; k++) out[k] += now * X[k];
      out[i] += f * dot6(by_start + 6 * side, w->kin0.S + 6 * i);
    }
  }
}

// The block of a reported pair, or -1.
static int blockOf(const djContactPair* p, const djContactBlock* const* block, int n) {
  for (int k = 0; k < n; k++) {
    int a = block[k]->geom_a, b = block[k]->geom_b;
    if (p->geom1 == (a < b ? a : b) && p->geom2 == (a < b ? b : a)) return k;
  }
  return -1;
}

djStatus djd_lastContact(const djModel* m, djData* d, double* force, double* normal) {
  if (!m || !d) return DJ_INVALID;
  djLinear lin;
  djStatus status = dj_linearizeStep(&lin, m, d);
  if (status != DJ_OK) return status;
  djWork* w = d->work;
  size_t nc = 2 * (size_t)m->nv + m->na + m->nu;
  if (force) memset(force, 0, (size_t)d->npair * 3 * nc * sizeof(double));
  if (normal) memset(normal, 0, (size_t)d->npair * nc * sizeof(double));
  if (!w->contacts) return DJ_OK;
  dj_endColumns(w, m);
  dj_motionSubspace(&w->now, m, w->ref);
  dj_motionSubspace(&w->kin0, m, w->ref);
  int n;
  const djContactBlock* const* block = dj_contactBlocks(&n, w->contacts);
  for (int p = 0; p < d->npair; p++) {
    int k = blockOf(&d->pair[p], block, n);
    if (k < 0) continue;
    const djContactBlock* c = block[k];
    int row = c->geom_a > c->geom_b ? 3 : 9;   // translation of geom2's body
    for (int r = 0; r < 3 && force; r++) {
      addTwists(force + (3 * (size_t)p + r) * nc, -1, c->out.hessian + 12 * (row + r),
                c->start_jac + 12 * (row + r), w, m, c);
    }
    if (!normal) continue;
    double now[12], start[12];
    status = dj_contactNormal(now, start, w->contacts, m, w->now.body, k);
    if (status < 0) return dj_fail(&w->error, status, "contact: derivative of a force failed");
    addTwists(normal + (size_t)p * nc, 1, now, start, w, m, c);
  }
  return DJ_OK;
}
