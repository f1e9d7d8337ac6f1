// djm_backwardMuJoCo: the adjoint of MuJoCo's own step. With H and the rows of rows.h at the
// solution, G of the integrator, q+ = q (+) h v+, v+ = v + h e:
//
//   e' = h (v+' + (dq+/dv+)^T q+'),  G^T mu = e',  H lambda = M mu
//   L = -lambda . F + mu . (dM (a - e) - h dD e)
//
// for which the derivatives of F are needed along lambda alone. What places bodies goes through
// sweeps (sweep.h), the rest through small matrices (smooth_work.h).

#include "design_work.h"
#include "slope_error.h"
#include "smooth_work.h"

#include <stdlib.h>
#include <string.h>

// ---- memory -------------------------------------------------------------------------------------

typedef struct Room {
  djmPart* body;         // (nbody)
  mjtNum *lambda, *beta, *mu, *e, *v, *masked;   // (nv)
  mjtNum *start, *ctrl;  // (2nv + na), (nu)
  mjtNum* sizes;         // (ngeom x 3)
} Room;

static Room* roomOf(djmTransitionWork* w) {
  size_t nv = (size_t)w->nv, nbody = (size_t)w->view.nbody;
  if (w->back) return w->back;
  size_t head = (sizeof(Room) + 63) / 64 * 64;
  size_t numbers = 6 * nv + (size_t)w->ncol + 3 * (size_t)w->view.ngeom;
  char* memory = calloc(1, head + nbody * sizeof(djmPart) + numbers * sizeof(mjtNum));
  if (!memory) return NULL;
  Room* r = (Room*)(void*)memory;
  r->body = (djmPart*)(void*)(memory + head);
  mjtNum* p = (mjtNum*)(void*)(r->body + nbody);
  r->lambda = p;
  r->beta = p + nv;
  r->mu = p + 2 * nv;
  r->e = p + 3 * nv;
  r->v = p + 4 * nv;
  r->masked = p + 5 * nv;
  r->start = p + 6 * nv;
  r->ctrl = r->start + 2 * nv + (size_t)w->na;
  r->sizes = r->ctrl + w->nu;
  w->back = r;
  return r;
}

djmPart* djm_sweepRoom(djmTransitionWork* w) {
  Room* r = roomOf(w);
  return r ? r->body : NULL;
}

// ---- matrices of joints, tendons, actuators -----------------------------------------------------

// to (n) += scale x^T A, A (rows x n)
static void addProduct(mjtNum* to, const mjtNum* x, const mjtNum* A, int rows, int n,
                       mjtNum scale) {
  for (int i = 0; i < rows; i++) {
    mjtNum s = scale * x[i];
    if (s == 0) continue;
    for (int k = 0; k < n; k++) to[k] += s * A[(size_t)i * n + k];
  }
}

// F but for rigid bodies and rows.
static djStatus addSmooth(mjtNum* start, mjtNum* ctrl, djmBackward* b, djError* err) {
  djmTransitionWork* w = b->w;
  int nv = w->nv, na = w->na, nu = w->nu;
  mjModel* m = &w->view;
  mjtNum* by_q = w->smooth_by;
  mjtNum *by_v = by_q + nv * nv, *by_act = by_v + nv * nv, *by_ctrl = by_act + nv * na;
  mju_zero(by_q, nv * w->ncol);
  bool sticks = m->flg_adhesion;
  m->flg_adhesion = false;   // rows of contacts have it
  djStatus status = djm_actuatorSlope(by_q, by_v, by_act, by_ctrl, m, w->d, w->smooth, err);
  if (status == DJ_OK) status = djm_passiveSlope(by_q, by_v, m, w->d, w->smooth, err);
  if (status == DJ_OK) status = djm_tendonSlope(by_q, by_v, m, w->d, w->smooth, err);
  if (status == DJ_OK) status = djm_armatureSlope(by_q, by_v, m, w->d, w->a, w->smooth, err);
  m->flg_adhesion = sticks;
  if (status < 0) return status;
  addProduct(start, b->lambda, by_q, nv, nv, -1);
  addProduct(start + nv, b->lambda, by_v, nv, nv, -1);
  addProduct(start + 2 * nv, b->lambda, by_act, nv, na, -1);
  addProduct(ctrl, b->lambda, by_ctrl, nv, nu, -1);
  return DJ_OK;
}

// Rows of one number each.
static djStatus addScalars(mjtNum* start, djmBackward* b, djError* err) {
  djmTransitionWork* w = b->w;
  const mjData* d = w->d;
  int nv = w->nv, n = d->ne + d->nf + d->nl;
  if (!n) return DJ_OK;
  mju_zero(w->X, 2 * nv * nv);
  djmRowSum sum = {
    .m = &w->view, .d = d, .a = w->a, .y = w->y, .force = w->force, .state = w->state,
    .stride = nv, .H = w->Y, .by_q = w->X, .by_v = w->X + nv * nv, .smooth = w->smooth,
    .memory = w->memory, .hessian = w->G, .dof = w->dof,
  };
  for (int i = 0; i < n; i++) {
    int type = d->efc_type[i] == mjCNSTR_EQUALITY ? w->view.eq_type[d->efc_id[i]] : mjEQ_JOINT;
    if (type == mjEQ_CONNECT || type == mjEQ_WELD) {
      i += type == mjEQ_WELD ? 5 : 2;
      continue;
    }
    djStatus status = djm_addScalar(&sum, i, err);
    if (status < 0) return status;
  }
  addProduct(start, b->lambda, sum.by_q, nv, nv, 1);
  addProduct(start + nv, b->lambda, sum.by_v, nv, nv, 1);
  return DJ_OK;
}

// ---- sweeps -------------------------------------------------------------------------------------

static djStatus sweepForces(mjtNum* start, djmBackward* b, djError* err) {
  djmTransitionWork* w = b->w;
  djmSweep* s = &b->sweep;
  s->beta = b->beta;
  s->acc = w->a;
  s->vel = w->d->qvel;
  djm_openSweep(s, true);
  djStatus status = djm_backContacts(b, err);
  if (status < 0) return status;
  djm_backRows(b);
  djm_closeWrenches(s);
  djm_sweepInertia(s);
  djm_closeSweep(s, start, start + w->nv);
  return DJ_OK;
}

// Applied forces and gravity compensation: by q they are in addSmooth.
static void sweepApplied(djmBackward* b) {
  djmSweep* s = &b->sweep;
  bool any = b->w->view.flg_gravcomp;
  for (int i = 1; i < (int)b->w->view.nbody && !any; i++) {
    any = !mju_isZero(b->w->d->xfrc_applied + 6 * i, 6);
  }
  if (!any) return;
  s->vel = NULL;
  djm_openSweep(s, false);
  djm_sweepApplied(s);
  djm_closeWrenches(s);
  djm_closeSweep(s, NULL, NULL);
}

// mu . dM (a - e)
static void sweepInertia(mjtNum* start, djmBackward* b, const mjtNum* rest) {
  djmSweep* s = &b->sweep;
  s->beta = b->mu;
  s->acc = rest;
  s->vel = NULL;
  mjtNum* gravity = s->gravity;
  s->gravity = NULL;
  djm_openSweep(s, false);
  djm_sweepInertia(s);
  djm_closeSweep(s, start, NULL);
  s->gravity = gravity;
}

// -h mu . d(dc/dv) e, of rows that have it, from c (v + s e) - c(v - s e).
static void sweepBias(djmBackward* b, Room* r) {
  djmTransitionWork* w = b->w;
  const mjModel* m = &w->view;
  djmSweep* s = &b->sweep;
  int nv = w->nv;
  mjtNum size = mju_norm(w->end, nv), speed = mju_norm(w->d->qvel, nv);
  mjtNum scale = size > 0 ? (speed > 0 ? speed : 1) / size : 1;
  mjtNum* gravity = s->gravity;
  s->gravity = NULL;
  bool any = false;
  for (int i = 0; i < nv; i++) {
    bool has = m->opt.integrator == mjINT_IMPLICIT || djm_isFreeBody(m, m->dof_jntid[i]);
    r->masked[i] = has ? -m->opt.timestep * b->mu[i] / (2 * scale) : 0;
    any = any || has;
  }
  mju_zero(r->e, nv);
  for (int side = 1; side >= -1 && any; side -= 2) {
    mju_scl(r->masked, r->masked, side, nv);
    mju_addScl(r->v, w->d->qvel, w->end, side * scale, nv);
    s->beta = r->masked;
    s->acc = r->e;
    s->vel = r->v;
    djm_openSweep(s, false);
    djm_sweepInertia(s);
    djm_closeSweep(s, NULL, NULL);
  }
  s->gravity = gravity;
}

static djStatus addEnd(mjtNum* start, mjtNum* ctrl, djmBackward* b, Room* r, djError* err) {
  djmTransitionWork* w = b->w;
  int nv = w->nv, na = w->na;
  bool implicit = w->view.opt.integrator != mjINT_EULER;
  mju_sub(r->e, w->a, w->end, nv);
  if (mju_isZero(r->e, nv) && !implicit) return DJ_OK;
  sweepInertia(start, b, r->e);
  bool heavy = false;
  for (int t = 0; t < (int)w->view.ntendon && !heavy; t++) heavy = w->view.tendon_type[t] != 0;
  if (heavy || implicit) {
    mju_zero(w->Y, nv * w->ncol);
    djStatus status = djm_addTendonInertia(w, r->e, err);
    if (status < 0) return status;
    if (implicit) djm_addDampingSlope(w);
    for (int i = 0; i < nv; i++) {
      const mjtNum* row = w->Y + (size_t)i * w->ncol;
      mju_addToScl(start, row, b->mu[i], 2 * nv + na);
      mju_addToScl(ctrl, row + 2 * nv + na, b->mu[i], w->nu);
    }
  }
  if (implicit && b->g) sweepBias(b, r);
  return DJ_OK;
}

// ---- what a design does not have ----------------------------------------------------------------

static bool acts(const mjModel* m, int t) {
  if (m->tendon_limited[t] || m->tendon_stiffness[t] != 0 || m->tendon_damping[t] != 0 ||
      m->tendon_armature[t] != 0 || m->tendon_frictionloss[t] != 0) {
    return true;
  }
  for (int i = 0; i < (int)m->nactuator; i++) {
    if (m->actuator_trntype[i] == mjTRN_TENDON && m->actuator_trnid[2 * i] == t) return true;
  }
  for (int i = 0; i < (int)m->neq; i++) {
    if (m->eq_type[i] == mjEQ_TENDON && (m->eq_obj1id[i] == t || m->eq_obj2id[i] == t)) return true;
  }
  return false;
}

static djStatus checkDesign(const mjModel* m, djError* err) {
  const char* what = NULL;
  if (m->opt.integrator == mjINT_DISCRETE) what = "integrator discrete";
  if (m->opt.density != 0 || m->opt.viscosity != 0) what = "fluid";
  for (int t = 0; t < (int)m->ntendon && !what; t++) {
    if (m->tendon_type[t] != 0 && acts(m, t)) what = "spatial tendon";
  }
  for (int t = 0; t < (int)m->ntendon && !what; t++) {
    if (m->tendon_actfrclimited[t]) what = "tendon actuatorfrcrange";
    if (m->tendon_actuatorid[t] != -1) what = "damping of a tendon's actuator";
  }
  for (int j = 0; j < (int)m->njnt && m->flg_gravcomp && !what; j++) {
    if (m->jnt_actgravcomp[j]) what = "actuatorgravcomp";
  }
  for (int i = 0; i < (int)m->nactuator && !what; i++) {
    int type = m->actuator_trntype[i];
    if (type != mjTRN_JOINT && type != mjTRN_JOINTINPARENT && type != mjTRN_TENDON) {
      what = "transmission by sites or bodies";
    }
  }
  if (!what) return DJ_OK;
  return djm_slopeError(err, DJ_UNSUPPORTED, "%s: has no derivative by design", what);
}

// ---- the call -----------------------------------------------------------------------------------

// From the gradient by (q+, v+) to those by e (r->v), and by q and v that stay.
static void openEnd(mjtNum* start, djmTransitionWork* w, Room* r, const mjtNum* end) {
  const mjModel* m = &w->view;
  int nv = w->nv;
  mjtNum h = m->opt.timestep, *v = w->memory, *by_q = v + nv, *by_v = by_q + 3 * nv;
  mju_addScl(v, w->d->qvel, w->end, h, nv);
  djm_integrateSlope(by_q, by_v, m, v, h);
  mju_copy(r->v, end + nv, nv);
  for (int i = 0; i < nv; i++) {
    int joint = m->dof_jntid[i], type = m->jnt_type[joint], adr = m->jnt_dofadr[joint];
    bool turns = type == mjJNT_BALL || (type == mjJNT_FREE && i >= adr + 3);
    int first = !turns ? i : type == mjJNT_BALL ? adr : adr + 3;
    for (int k = 0; k < (turns ? 3 : 1); k++) {
      r->v[first + k] += by_v[3 * i + k] * end[i];
      start[first + k] += by_q[3 * i + k] * end[i];
    }
  }
  mju_addTo(start + nv, r->v, nv);
}

static djStatus activations(mjtNum* start, mjtNum* ctrl, djmTransitionWork* w, const mjtNum* end,
                            djError* err) {
  int nv = w->nv, na = w->na, nu = w->nu;
  mjtNum* by = w->act_by;
  mjtNum *by_v = by + na * nv, *by_act = by_v + na * nv, *by_ctrl = by_act + na * na;
  djStatus status = djm_activationSlope(by, by_v, by_act, by_ctrl, &w->view, w->d, true, w->smooth,
                                        err);
  if (status < 0) return status;
  addProduct(start, end, by, na, nv, 1);
  addProduct(start + nv, end, by_v, na, nv, 1);
  addProduct(start + 2 * nv, end, by_act, na, na, 1);
  addProduct(ctrl, end, by_ctrl, na, nu, 1);
  return DJ_OK;
}

static djStatus backward(mjtNum* start, mjtNum* ctrl, djmBackward* b, Room* r, const mjtNum* end,
                         djError* err) {
  djmTransitionWork* w = b->w;
  int nv = w->nv;
  djStatus status = djm_endStep(w, err);
  if (status < 0) return status;
  openEnd(start, w, r, end);
  mju_scl(r->e, r->v, w->view.opt.timestep, nv);
  djm_endBackward(r->mu, r->lambda, start + nv, w, r->e);
  djm_findHessian(w);
  if (!djm_factorLower(w->H, nv)) {
    return djm_slopeError(err, DJ_INVALID, "inertia is not positive");
  }
  djm_solveLower(r->lambda, w->H, nv, 1);
  mju_scl(r->beta, r->lambda, -1, nv);
  status = addSmooth(start, ctrl, b, err);
  if (status >= 0) status = addScalars(start, b, err);
  if (status >= 0) status = sweepForces(start, b, err);
  if (status >= 0 && b->g) sweepApplied(b);
  if (status >= 0) status = addEnd(start, ctrl, b, r, err);
  if (status >= 0 && w->na) status = activations(start, ctrl, w, end + 2 * nv, err);
  if (status >= 0 && b->g) djm_backForces(b, end + 2 * nv);
  return status;
}

// Where there is no better way: A^T end and B^T end.
static djStatus byMatrices(mjtNum* start, mjtNum* ctrl, const mjModel* m, const mjData* d,
                           djmTransitionWork* w, const mjtNum* end, djError* err) {
  size_t nx = (size_t)(2 * w->nv + w->na), nu = (size_t)w->nu;
  mjtNum* A = calloc(nx * (nx + nu) + 1, sizeof(*A));
  if (!A) return djm_slopeError(err, DJ_NO_MEMORY, "out of memory");
  djStatus status = djm_transitionMuJoCoWith(m, d, w, A, A + nx * nx, NULL, NULL, err);
  if (status >= 0) {
    addProduct(start, end, A, (int)nx, (int)nx, 1);
    addProduct(ctrl, end, A + nx * nx, (int)nx, (int)nu, 1);
  }
  free(A);
  return status;
}

djStatus djm_backwardMuJoCo(mjtNum* start, mjtNum* ctrl, djmDesignGradient* design,
                            const mjModel* m, const mjData* d, djmTransitionWork* w,
                            const mjtNum* end, djError* err) {
  djStatus status = design ? checkDesign(m, err) : DJ_OK;
  if (status < 0) return status;
  Room* r = roomOf(w);
  if (!r) return djm_slopeError(err, DJ_NO_MEMORY, "out of memory");
  mjtNum *by_start = r->start, *by_ctrl = r->ctrl;
  if (m->opt.integrator != mjINT_DISCRETE) status = djm_openTransition(w, m, d, err);
  if (status < 0) return status;
  mju_zero(by_start, 2 * w->nv + w->na);
  mju_zero(by_ctrl, w->nu);
  djmBackward b = {.w = w, .g = design, .lambda = r->lambda, .beta = r->beta, .mu = r->mu,
                   .sizes = r->sizes};
  b.sweep = (djmSweep){.m = &w->view, .d = w->d, .body = r->body, .design = design,
                       .gravity = design ? design->gravity : NULL};
  if (m->opt.integrator == mjINT_DISCRETE) {
    status = byMatrices(by_start, by_ctrl, m, d, w, end, err);
  } else {
    status = backward(by_start, by_ctrl, &b, r, end, err);
  }
  if (status < 0) return status;
  if (start) mju_copy(start, by_start, 2 * w->nv + w->na);
  if (ctrl) mju_copy(ctrl, by_ctrl, w->nu);
  return DJ_OK;
}
