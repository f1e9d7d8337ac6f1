// Derivatives of contact forces through the step.
//
// The force on a body is minus the derivative of the pair's energy by the body's translation, taken
// at the poses of the end and with what the start has fixed (lagged plane, erosion), so that
//   df = -U_v,xi xi+ - U_v,xi0 xi0,   xi+ = S(q+) dq+,  xi0 = S(q) dq
// for twists of both bodies; dq+ follows from the implicit step (transition.c). The normal force is
// that of the energy without friction. Second derivatives are in the coordinates
// x -> ref + exp(w)(x - ref) + v, in which U_v is the force everywhere, but U_w the torque t about
// ref only at w = 0: by the body's own twist it changes by w x t/2 + v x f more (dj_addNested).

#include "base/status.h"
#include "gradient/columns.h"
#include "integrate/parts.h"
#include "integrate/turn.h"
#include "math/block6.h"

#include <stdlib.h>
#include <string.h>

// Columns first ... end - 1 of (q, v, act, history, ctrl), and q+'s derivative by them.
typedef struct Slab {
  int first, end, nc;
  const double* X;
} Slab;

// out (nc) += f (by_now . twists of both bodies now + by_start . twists at the start).
static void addTwists(double* out, double f, const double by_now[12], const double by_start[12],
                      const Slab* s, const djWork* w, const djModel* m, const djContactBlock* c) {
  int width = s->end - s->first, body[2] = {c->body_a, c->body_b};
  for (int side = 0; side < 2; side++) {
    for (int i = m->body_lastdof[body[side]]; i >= 0; i = m->dof_parent[i]) {
      double now = f * dju_dotRow6(by_now + 6 * side, w->now.kin.S + 6 * i);
      const double* X = s->X + (size_t)i * width;
      for (int k = 0; k < width; k++) out[s->first + k] += now * X[k];
      if (i < s->first || i >= s->end) continue;
      out[i] += f * dju_dotRow6(by_start + 6 * side, dj_fromPlace(w)->kin.S + 6 * i);
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

// out (nc) += f by_past . twists a step before the start, at q (+) -h v; y (nv) scratch.
static void addPast(double* out, double f, const double by_past[12], const Slab* s, djWork* w,
                    const djModel* m, const djContactBlock* c) {
  const int body[2] = {c->body_a, c->body_b}, nv = m->nv;
  double *y = w->shift, *psi = w->scale, *dv = w->path_scratch;
  memset(y, 0, (size_t)nv * sizeof(double));
  for (int side = 0; side < 2; side++) {
    for (int i = m->body_lastdof[body[side]]; i >= 0; i = m->dof_parent[i]) {
      y[i] += f * dju_dotRow6(by_past + 6 * side, w->back.kin.S + 6 * i);
    }
  }
  memcpy(dv, y, (size_t)nv * sizeof(double));
  for (int i = 0; i < nv; i++) psi[i] = -w->h * w->start.qvel[i];
  dj_turnVector(y, m, psi, true);
  dj_pushVector(dv, m, psi, true);
  for (int k = s->first; k < s->end && k < 2 * nv; k++) {
    out[k] += k < nv ? y[k] : -w->h * dv[k - nv];
  }
}

// Force on geom2 and its moment about the world's origin, (3 x nc) each or NULL.
static void forceRows(double* force, double* moment, const Slab* slab, djWork* w, const djModel* m,
                      const djContactBlock* c) {
  int nc = slab->nc, side = c->geom_a > c->geom_b ? 0 : 1;
  const double* gradient = c->out.gradient + 6 * side;
  double nested[36] = {0}, zero[36] = {0}, row[12];
  dj_addNested(nested, zero, gradient);
  djVec3 ref = w->ref[side ? c->body_b : c->body_a];
  double now[72];
  const double *H = c->out.hessian + 72 * side, *S = c->start_jac + 72 * side;
  if (c->lagged) {
    for (int i = 0; i < 72; i++) now[i] = H[i] + S[i];
    H = now;
    S = c->rate_jac + 72 * side;
  }
  const bool past = w->has_past && c->has_past;
  const double* by = c->past.by + 6 * side;
  for (int r = 0; r < 3; r++) {
    if (force && past) {
      addPast(force + (size_t)r * nc, -by[3 + r], c->past.number, slab, w, m, c);
    }
    if (moment && past) {
      const int u = (r + 1) % 3, v = (r + 2) % 3;
      const double arm[3] = {ref.x, ref.y, ref.z};
      double f = -by[r] - arm[u] * by[3 + v] + arm[v] * by[3 + u];
      addPast(moment + (size_t)r * nc, f, c->past.number, slab, w, m, c);
    }
    if (force) {
      addTwists(force + (size_t)r * nc, -1, H + 12 * (3 + r), S + 12 * (3 + r), slab, w, m, c);
    }
    if (!moment) continue;
    double* out = moment + (size_t)r * nc;
    memcpy(row, H + 12 * r, sizeof row);
    for (int k = 0; k < 6; k++) row[6 * side + k] += nested[6 * r + k];
    addTwists(out, -1, row, S + 12 * r, slab, w, m, c);
    // (ref x f)_r = ref_u f_v - ref_v f_u
    int u = (r + 1) % 3, v = (r + 2) % 3;
    const double arm[3] = {ref.x, ref.y, ref.z};
    addTwists(out, -arm[u], H + 12 * (3 + v), S + 12 * (3 + v), slab, w, m, c);
    addTwists(out, arm[v], H + 12 * (3 + u), S + 12 * (3 + u), slab, w, m, c);
  }
}

// The columns of a slab, of all reported pairs.
static djStatus fillSlab(double* force, double* moment, double* normal, Slab* slab,
                         const djLinear* lin, const djModel* m, djData* d) {
  djWork* w = d->work;
  int n;
  const djContactBlock* const* block = dj_contactBlocks(&n, dj_contactsOf(&w->forces));
  slab->X = dj_pointColumns(w, m, lin, slab->first, slab->end);
  for (int p = 0; p < d->npair; p++) {
    int k = blockOf(&d->pair[p], block, n);
    if (k < 0) continue;
    const djContactBlock* c = block[k];
    size_t at = 3 * (size_t)p * slab->nc;
    forceRows(force ? force + at : NULL, moment ? moment + at : NULL, slab, w, m, c);
    if (!normal) continue;
    double now[12], start[12];
    djStatus status =
        dj_contactNormal(now, start, dj_contactsOf(&w->forces), m, w->now.kin.body, k);
    if (status < 0) return dj_fail(&w->error, status, "contact: derivative of a force failed");
    addTwists(normal + (size_t)p * slab->nc, 1, now, start, slab, w, m, c);
  }
  return DJ_OK;
}

// rows (n x nc), by the start of a step's last part, by the start of the step: [gx gu] becomes
// [gx A, gx B + gu].
static void pullRows(double* rows, size_t n, const double* A, const double* B, const djModel* m,
                     double* scratch) {
  size_t nx = (size_t)dj_tangentSize(m), nu = (size_t)m->nu;
  for (size_t r = 0; r < n && rows; r++) {
    double* row = rows + r * (nx + nu);
    memset(scratch, 0, nx * sizeof(double));
    for (size_t k = 0; k < nx; k++) {
      for (size_t c = 0; c < nx; c++) scratch[c] += row[k] * A[k * nx + c];
      for (size_t c = 0; c < nu; c++) row[nx + c] += row[k] * B[k * nu + c];
    }
    memcpy(row, scratch, nx * sizeof(double));
  }
}

// The columns of all outputs, of the step or of the part of it that the workspace holds.
static djStatus fillOutputs(double* force, double* moment, double* normal, const djLinear* lin,
                            const djModel* m, djData* d) {
  djWork* w = d->work;
  int nc = dj_tangentSize(m) + m->nu;
  djStatus status = DJ_OK;
  dj_motionSubspace(&w->now.kin, m, w->ref);
  dj_motionSubspace(&w->begin.kin, m, w->ref);
  for (int first = 0; first < nc && status >= 0; first += w->nslab) {
    int end = nc - first > w->nslab ? first + w->nslab : nc;
    Slab slab = {first, end, nc, NULL};
    status = fillSlab(force, moment, normal, &slab, lin, m, d);
  }
  dj_pullBeforeRows(force, 3 * d->npair, nc, lin, m);
  dj_pullBeforeRows(moment, 3 * d->npair, nc, lin, m);
  dj_pullBeforeRows(normal, d->npair, nc, lin, m);
  return status;
}

// The same of a step that was taken in parts, of which the last one has the forces.
static djStatus fillByParts(double* force, double* moment, double* normal, const djModel* m,
                            djData* d) {
  size_t nx = (size_t)dj_tangentSize(m), nu = (size_t)m->nu, n = (size_t)d->npair;
  int last = d->work->npart - 1;
  double* A = malloc((nx * nx + nx * nu + nx + 1) * sizeof(double));
  if (!A) return dj_failMemory(&d->work->error);
  double *B = A + nx * nx, *scratch = B + nx * nu;
  djLinear lin;
  djStatus status = dj_chainParts(A, B, m, d, last);
  if (status == DJ_OK) status = dj_linearizePart(&lin, m, d, last);
  if (status == DJ_OK) status = fillOutputs(force, moment, normal, &lin, m, d);
  if (status == DJ_OK) {
    pullRows(force, 3 * n, A, B, m, scratch);
    pullRows(moment, 3 * n, A, B, m, scratch);
    pullRows(normal, n, A, B, m, scratch);
  }
  free(A);
  return status;
}

djStatus djd_lastContact(const djModel* m, djData* d, double* force, double* moment,
                         double* normal) {
  if (!m || !d) return DJ_INVALID;
  djLinear lin;
  djWork* w = d->work;
  bool parts = w->npart > 1;
  djStatus status = parts ? dj_checkData(m, d) : dj_linearizeStep(&lin, m, d);
  if (status != DJ_OK) return status;
  size_t nc = (size_t)dj_tangentSize(m) + m->nu;
  if (force) memset(force, 0, (size_t)d->npair * 3 * nc * sizeof(double));
  if (moment) memset(moment, 0, (size_t)d->npair * 3 * nc * sizeof(double));
  if (normal) memset(normal, 0, (size_t)d->npair * nc * sizeof(double));
  if (!dj_contactsOf(&w->forces)) return DJ_OK;
  return parts ? fillByParts(force, moment, normal, m, d)
               : fillOutputs(force, moment, normal, &lin, m, d);
}
