// Hessian-vector products of runs against extrapolated differences of their gradients.

#ifndef DJ_TESTS_HESSIAN_CASE_H_
#define DJ_TESTS_HESSIAN_CASE_H_

#include "common/random.h"
#include "common/test.h"
#include "common/worst.h"

#include "integrate/work.h"
#include "math/so3.h"
#include "model/joint_type.h"
#include "model/param.h"

#include <dijoco/dijoco.h>

// A run from data's state and inputs, whose numbers lie one after the other: start, its history,
// controls, parameters.
typedef struct djtHessian {
  djModel* m;
  djData* d;   // as it was before the run
  djRollout r; // its start is that of d
  int nparam;
  djParam* param;
  int np, n; // of parameters, of all
  djTape* tape;
  djHessian* hessian;
  int unconverged; // steps of the run
} djtHessian;

static inline djVariation djt_variationOf(const djtHessian* c, double* x) {
  const djModel* m = c->m;
  int nv = m->nv;
  djVariation v = {
      .qpos0 = x, .qvel0 = x + nv, .act0 = x + 2 * nv, .nparam = c->nparam, .param = c->param};
  v.history_qpos0 = v.act0 + m->na;
  v.history_qvel0 = v.history_qpos0 + nv;
  v.ctrl = v.history_qvel0 + nv;
  v.value = v.ctrl + (size_t)c->r.horizon * (size_t)m->nu;
  return v;
}

// The start is d's; ctrl, loss and callback are r's.
static inline void djt_openHessian(djtHessian* c) {
  djError err = {""};
  const djModel* m = c->m;
  c->np = 0;
  for (int i = 0; i < c->nparam; i++) c->np += c->param[i].ntangent;
  c->n = 4 * m->nv + m->na + c->r.horizon * m->nu + c->np;
  c->r.refinement_steps = 8;
  assert_int_equal(djd_makeTape(&c->tape, m, c->r.horizon, &err), DJ_OK);
  assert_int_equal(djd_makeHessian(&c->hessian, m, c->r.horizon, &err), DJ_OK);
}

static inline void djt_closeHessian(djtHessian* c) {
  djd_deleteTape(c->tape);
  djd_deleteHessian(c->hessian);
}

// value (+) e tangent.
static inline void djt_moveValue(double* value, const djParam* p, const double* tangent, double e) {
  int plain = p->nvalue == p->ntangent ? p->nvalue : p->nvalue - 4;
  for (int i = 0; i < plain; i++) value[i] += e * tangent[i];
  if (p->nvalue == p->ntangent) return;
  djQuat q = dju_loadQuat(value + plain);
  q = dju_mulQuat(q, dju_expQuat(dju_scale3(e, dju_load3(tangent + plain))));
  dju_storeQuat(value + plain, q);
}

// Loss and gradient (n) of the run moved by e; tape: where it is kept, or NULL. False: it has none
// there.
static inline bool djt_lossAt(double* loss, int* unconverged, double* g, const djtHessian* c,
                              double* dir, double e, djTape* kept) {
  const djVariation along = djt_variationOf(c, dir);
  djVariation by = djt_variationOf(c, g);
  djModel* m;
  djData* d;
  djError err = {""};
  assert_int_equal(dj_copyModel(&m, c->m, &err), DJ_OK);
  double value[400], *tangent = along.value;
  for (int i = 0; i < c->nparam; tangent += c->param[i++].ntangent) {
    assert_true(c->param[i].nvalue <= 400);
    dj_getParam(value, m, &c->param[i]);
    double* before = value;
    bool same = true;
    for (int k = 0; k < c->param[i].ntangent; k++) same = same && tangent[k] == 0;
    djt_moveValue(before, &c->param[i], tangent, e);
    if (!same && e != 0 && dj_setParam(m, &c->param[i], value, &err) < 0) {
      dj_deleteModel(m);
      return false;
    }
  }
  if (c->r.compiled) assert_int_equal(dj_followGeoms(m, c->r.compiled, &err), DJ_OK);
  assert_int_equal(dj_makeData(&d, m, &err), DJ_OK);
  assert_int_equal(dj_copyData(d, m, c->d), DJ_OK);
  djRollout r = c->r;
  size_t nu = (size_t)m->nu, nq = (size_t)m->nq, T = (size_t)r.horizon;
  double* numbers = calloc(2 * nq + 2 * (size_t)m->nv + T * nu + 1, sizeof *numbers);
  double *q = numbers, *v = q + nq, *u = v + m->nv;
  bool kept_history = dj_getHistory(q, v, m, d);
  if (kept_history) {
    dj_integratePos(q, m, q, along.history_qpos0, e);
    for (int i = 0; i < m->nv; i++) v[i] += e * along.history_qvel0[i];
  }
  dj_integratePos(d->qpos, m, d->qpos, along.qpos0, e);
  for (int i = 0; i < m->nv; i++) d->qvel[i] += e * along.qvel0[i];
  for (int i = 0; i < m->na; i++) d->act[i] += e * along.act0[i];
  if (kept_history) assert_int_equal(dj_setHistory(d, m, q, v), DJ_OK);
  for (size_t i = 0; i < T * nu; i++) u[i] = c->r.ctrl[i] + e * along.ctrl[i];
  r.qpos0 = d->qpos;
  r.qvel0 = d->qvel;
  r.act0 = d->act;
  r.ctrl = u;
  djTape* tape = kept;
  if (!kept) assert_int_equal(djd_makeTape(&tape, m, r.horizon, &err), DJ_OK);
  djRolloutResult result = {.grad_qpos0 = by.qpos0,
                            .grad_qvel0 = by.qvel0,
                            .grad_act0 = by.act0,
                            .grad_history_qpos0 = by.history_qpos0,
                            .grad_history_qvel0 = by.history_qvel0,
                            .grad_ctrl = by.ctrl,
                            .nparam = c->nparam,
                            .param = c->param,
                            .grad_param = by.value};
  djStatus status = djd_rolloutForward(&result, m, d, &r, tape);
  if (status >= 0) status = djd_rolloutBackward(&result, m, d, &r, tape);
  if (status < 0) print_error("%s\n", dj_errorText(d));
  *loss = result.loss;
  *unconverged = result.unconverged_steps;
  if (!kept) djd_deleteTape(tape);
  free(numbers);
  dj_deleteData(d);
  dj_deleteModel(m);
  return status >= 0;
}

static inline bool djt_gradientAt(double* g, const djtHessian* c, double* dir, double e,
                                  djTape* kept) {
  double loss;
  int unconverged;
  return djt_lossAt(&loss, &unconverged, g, c, dir, e, kept);
}

// The run itself, on c->tape, and its gradient (n).
static inline void djt_runHessian(djtHessian* c, double* g) {
  double *zero = calloc((size_t)c->n, sizeof *zero), loss;
  assert_true(djt_lossAt(&loss, &c->unconverged, g, c, zero, 0, c->tape));
  free(zero);
}

// product (n) of dir (n), after djt_runHessian.
static inline djStatus djt_product(double* product, djtHessian* c, double* dir) {
  const djVariation along = djt_variationOf(c, dir);
  djVariation out = djt_variationOf(c, product);
  djRollout r = c->r;
  return djd_rolloutHvp(&out, &along, c->m, c->d, &r, c->tape, c->hessian);
}

// Changes of gradients in axes of bodies become products.
static inline void djt_straighten(double* h, const double* dir, const double* g) {
  djVec3 turn = dju_cross3(dju_load3(dir), dju_load3(g));
  dju_addTo3(h, 0.5, turn);
}

static inline void djt_straightenAll(double* h, const djtHessian* c, double* dir, double* g) {
  const djModel* m = c->m;
  djVariation to = djt_variationOf(c, h), along = djt_variationOf(c, dir),
              by = djt_variationOf(c, g);
  for (int j = 0; j < m->njnt; j++) {
    int dof = dj_rotationDof(m, j);
    if (dof < 0) continue;
    djt_straighten(to.qpos0 + dof, along.qpos0 + dof, by.qpos0 + dof);
    djt_straighten(to.history_qpos0 + dof, along.history_qpos0 + dof, by.history_qpos0 + dof);
  }
  for (int i = 0, at = 0; i < c->nparam; at += c->param[i++].ntangent) {
    const djParam* p = &c->param[i];
    int plain = p->nvalue == p->ntangent ? p->nvalue : p->nvalue - 4;
    if (plain < p->nvalue) {
      djt_straighten(to.value + at + plain, along.value + at + plain, by.value + at + plain);
    }
    if (!dj_paramIsAxis(m, p)) continue;
    double axis[3];
    dj_getParam(axis, m, p);
    double longer = dju_dot3(dju_load3(axis), dju_load3(along.value + at));
    for (int k = 0; k < 3; k++) to.value[at + k] -= longer * by.value[at + k];
  }
}

// Kinds of numbers, of which each is looked at by itself.
enum { DJT_KINDS = 7 };

static inline void djt_kinds(int size[DJT_KINDS], const djtHessian* c) {
  const djModel* m = c->m;
  const int all[] = {m->nv, m->nv, m->na, m->nv, m->nv, c->r.horizon * m->nu, c->np};
  memcpy(size, all, sizeof all);
}

// d (n) <- the same by differences of gradients: those of a step and of its half that are closest,
// over steps from `from` down. Returns by how much they differ, by the size of d; gap: the same of
// each kind.
static inline double djt_differHessian(double* d, double gap[DJT_KINDS], djtHessian* c, double* dir,
                                       double* g, double from) {
  static const double point[4] = {1, -1, 2, -2}, weight[4] = {8, -8, -1, 1};
  size_t n = (size_t)c->n;
  int size[DJT_KINDS];
  double *one = calloc(3 * n, sizeof *one), *coarse = one + n, *fine = coarse + n, best = INFINITY;
  djt_kinds(size, c);
  for (int k = 0; k < 8 && best > 1e-8; k++, from /= 4) {
    memcpy(coarse, fine, n * sizeof *one);
    memset(fine, 0, n * sizeof *one);
    bool there = true;
    for (int j = 0; j < 4 && there; j++) {
      there = djt_gradientAt(one, c, dir, point[j] * from, NULL);
      for (size_t i = 0; i < n; i++) fine[i] += weight[j] / (12 * from) * one[i];
    }
    if (!there) memset(fine, 0, n * sizeof *one);
    for (size_t i = 0; i < n; i++) coarse[i] -= fine[i];
    double own = djt_largest(coarse, (int)n) / djt_largest(fine, (int)n);
    if (k == 0 || !(own < best)) continue;
    best = own;
    memcpy(d, fine, n * sizeof *d);
    for (int j = 0, at = 0; j < DJT_KINDS; at += size[j++]) {
      gap[j] = djt_largest(coarse + at, size[j]) / djt_largest(fine + at, size[j]);
    }
  }
  free(one);
  djt_straightenAll(d, c, dir, g);
  return best;
}

// Largest difference of both by the size of b: of the whole, and of each kind that is known well.
static inline double djt_hessianError(const djtHessian* c, double* a, double* b,
                                      const double gap[DJT_KINDS], bool print) {
  static const char* name[] = {"qpos0", "qvel0", "act0", "hqpos0", "hqvel0", "ctrl", "param"};
  int size[DJT_KINDS];
  double worst = 0, whole = djt_largest(b, c->n);
  djt_kinds(size, c);
  for (int k = 0, at = 0; k < DJT_KINDS; at += size[k++]) {
    double most = djt_largest(b + at, size[k]), off = 0;
    for (int i = 0; i < size[k]; i++) off = djt_worst(off, fabs(a[at + i] - b[at + i]));
    if (print && most > 0) {
      print_message("   %s %.1e of %.2e, known to %.0e\n", name[k], off / most, most, gap[k]);
    }
    worst = djt_worst(worst, off / whole);
    if (most > 0 && gap[k] < 1e-6) worst = djt_worst(worst, off / most);
  }
  return worst;
}

#endif // DJ_TESTS_HESSIAN_CASE_H_
