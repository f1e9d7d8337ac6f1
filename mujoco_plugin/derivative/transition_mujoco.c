// djm_transitionMuJoCoWith: A and B of MuJoCo's own step, exactly. The solution's derivative is
// that of rows.h, the end of the step that of transition_end.c; the position moves by q+ = q (+) h
// v+.

#include "transition_work.h"

#include "attach.h"
#include "sensor.h"

#include "slope_error.h"

#include <stdlib.h>
#include <string.h>

// ---- memory -------------------------------------------------------------------------------------

void djm_deleteTransitionWork(djmTransitionWork* w) {
  if (!w) return;
  mj_deleteData(w->d);
  mj_deleteData(w->e);
  djm_deleteSmoothWork(w->smooth);
  free(w->motion.body);
  free(w->a);
  free(w->dof);
  free(w->y);
  free(w->force);
  free(w->dense);
  free(w->state);
  free(w->back);
  free(w->by_force);
  free(w->rate);
  free(w);
}

static void makeData(void* arg) {
  djmTransitionWork* w = arg;
  w->d = mj_makeData(&w->view);
  w->e = mj_makeData(&w->view);
}

// What the step is taken of: m without plugins, sensors and energies.
void djm_setView(djmTransitionWork* w, const mjModel* m) {
  w->view = *m;
  w->view.nplugin = 0;
  w->view.opt.disableflags |= mjDSBL_SENSOR;
  w->view.opt.enableflags &= ~(mjENBL_ENERGY | mjENBL_FWDINV);
}

static size_t max3(size_t a, size_t b, size_t c) {
  size_t most = a > b ? a : b;
  return most > c ? most : c;
}

static bool makeRoom(djmTransitionWork* w) {
  const mjModel* m = &w->view;
  size_t nv = (size_t)w->nv, n = nv * (size_t)w->ncol, nbody = (size_t)m->nbody;
  size_t scratch = max3(djm_rowScratchSize(m), 12 * nbody + 6 * nv, nv * nv + 8 * nv);
  size_t size = 2 * nv + 2 * nv * nv + 3 * n + 6 * nbody + scratch +
                (size_t)m->na * (size_t)w->ncol + (size_t)m->nq + nv + (size_t)m->na +
                DJM_MAXDIM * (size_t)w->ncol + djm_sensorWorkSize(m);
  w->motion.body = calloc(nbody + nv + 1, sizeof(djmRates));
  w->dof = calloc(nv + 1, sizeof(int));
  w->a = calloc(size + 6 * nv + 1, sizeof(mjtNum));
  if (!w->motion.body || !w->dof || !w->a) return false;
  w->motion.before = w->motion.body + nbody;
  mjtNum* p = w->a + nv;
  w->end = p;
  w->H = p += nv;
  w->G = p += nv * nv;
  w->X = p += nv * nv;
  w->Y = p += n;
  w->smooth_by = p += n;
  w->wrench = p += n;
  w->memory = p += 6 * nbody;
  w->act_by = p += scratch;
  w->save = p += (size_t)m->na * (size_t)w->ncol;
  w->sensor = p += (size_t)m->nq + nv + (size_t)m->na;
  w->motion.drag = p + DJM_MAXDIM * (size_t)w->ncol + djm_sensorWorkSize(m);
  w->smooth = djm_makeSmoothWork(m);
  return w->smooth;
}

djStatus djm_makeTransitionWork(djmTransitionWork** work, const mjModel* m, djError* err) {
  *work = NULL;
  djStatus status = djm_attach(err);
  if (status < 0) return status;
  djmTransitionWork* w = calloc(1, sizeof(*w));
  if (!w) return djm_slopeError(err, DJ_NO_MEMORY, "out of memory");
  w->nbuffer = m->nbuffer;
  w->nv = (int)m->nv;
  w->na = (int)m->na;
  w->nu = (int)m->nu;
  w->ncol = 2 * w->nv + w->na + w->nu;
  djm_setView(w, m);
  status = djm_guard(makeData, w, err);
  if (status >= 0 && (!w->d || !w->e || !makeRoom(w))) {
    status = djm_slopeError(err, DJ_NO_MEMORY, "out of memory");
  }
  if (status < 0) {
    djm_deleteTransitionWork(w);
    return status;
  }
  *work = w;
  return DJ_OK;
}

const djmTransitionInfo* djm_transitionInfo(const djmTransitionWork* w) { return &w->info; }

// ---- what is refused ----------------------------------------------------------------------------

static const char* refusedOption(const mjModel* m) {
  const mjOption* opt = &m->opt;
  if (opt->integrator == mjINT_RK4) return "integrator RK4";
  if (opt->noslip_iterations > 0) return "option noslip_iterations";
  if (opt->enableflags & mjENBL_SLEEP) return "flag sleep";
  if (opt->enableflags & mjENBL_DIAGEXACT) return "flag diagexact";
  if (opt->enableflags & mjENBL_IPC) return "flag ipc";
  if (opt->enableflags & mjENBL_SPECULATIVE) return "flag speculative";
  if (mjcb_passive || mjcb_control || mjcb_contactfilter || mjcb_act_dyn || mjcb_act_gain ||
      mjcb_act_bias) {
    return "callbacks";
  }
  if (m->nhistory > 0) return "delays and intervals";
  if (m->nplastic > 0) return "springyield";
  if (m->nflex > 0) return "flex";
  return NULL;
}

static djStatus refuse(const mjModel* m, mjtObj type, int id, const char* kind, const char* what,
                       djError* err) {
  const char* name = mj_id2name(m, type, id);
  return name ? djm_slopeError(err, DJ_UNSUPPORTED, "%s/%s: %s has no derivative", kind, name, what)
              : djm_slopeError(err, DJ_UNSUPPORTED, "%s/#%d: %s has no derivative", kind, id, what);
}

djStatus djm_checkTransition(const mjModel* m, const mjData* d, djError* err) {
  const char* option = refusedOption(m);
  if (option) return djm_slopeError(err, DJ_UNSUPPORTED, "%s: has no derivative", option);
  djStatus status = djm_checkSmooth(m, err);
  if (status < 0) return status;
  for (int i = 0; i < (int)m->neq; i++) {
    if (d->eq_active[i] && m->eq_type[i] > mjEQ_TENDON) {
      return refuse(m, mjOBJ_EQUALITY, i, "equality", "this type", err);
    }
  }
  return DJ_OK;
}

// What mj_step would set back to the start, or leave out.
static djStatus checkState(const mjModel* m, const mjData* d, djError* err) {
  const struct {
    const char* name;
    const mjtNum* x;
    mjtSize n;
  } parts[] = {{"qpos", d->qpos, m->nq}, {"qvel", d->qvel, m->nv}, {"act", d->act, m->na},
               {"ctrl", d->ctrl, m->nu}, {"qfrc_applied", d->qfrc_applied, m->nv},
               {"xfrc_applied", d->xfrc_applied, 6 * m->nbody}};
  for (size_t k = 0; k < sizeof(parts) / sizeof(*parts); k++) {
    for (mjtSize i = 0; i < parts[k].n; i++) {
      if (mju_isBad(parts[k].x[i])) {
        return djm_slopeError(err, DJ_INVALID, "%s[%d] is not finite, or beyond what MuJoCo takes",
                              parts[k].name, (int)i);
      }
    }
  }
  return DJ_OK;
}

// ---- assembly -----------------------------------------------------------------------------------

static void forward(void* arg) {
  djmTransitionWork* w = arg;
  mj_forward(&w->view, w->d);
  if (w->view.opt.integrator == mjINT_IMPLICIT || w->view.opt.integrator == mjINT_IMPLICITFAST) {
    int nq = (int)w->view.nq;
    mju_copy(w->save, w->d->qpos, nq);
    mju_copy(w->save + nq, w->d->qvel, w->nv);
    mju_copy(w->save + nq + w->nv, w->d->act, w->na);
    mj_implicit(&w->view, w->d);
    mju_copy(w->d->qpos, w->save, nq);
    mju_copy(w->d->qvel, w->save + nq, w->nv);
    mju_copy(w->d->act, w->save + nq + w->nv, w->na);
  }
}

// X = -dr, H = M
static djStatus smoothSides(djmTransitionWork* w, djError* err) {
  int nv = w->nv, na = w->na, nu = w->nu;
  mjtNum* by = w->smooth_by;
  mjtNum *by_v = by + nv * nv, *by_act = by_v + nv * nv, *by_ctrl = by_act + nv * na;
  bool sticks = w->view.flg_adhesion;
  w->view.flg_adhesion = false;   // rows of contacts have it
  djStatus status = djm_smoothSlope(by, by_v, by_act, by_ctrl, &w->view, w->d, w->a, w->smooth,
                                    err);
  w->view.flg_adhesion = sticks;
  if (status < 0) return status;
  for (int i = 0; i < nv; i++) {
    mjtNum* row = w->X + (size_t)i * w->ncol;
    mju_scl(row, by + (size_t)i * nv, -1, nv);
    mju_scl(row + nv, by_v + (size_t)i * nv, -1, nv);
    mju_scl(row + 2 * nv, by_act + (size_t)i * na, -1, na);
    mju_scl(row + 2 * nv + na, by_ctrl + (size_t)i * nu, -1, nu);
  }
  mj_fullM(&w->view, w->d, w->H);
  return DJ_OK;
}

// X = -dr + g
static djStatus rightSides(djmTransitionWork* w, bool sensed, djError* err) {
  djStatus status = w->view.opt.integrator == mjINT_DISCRETE ? djm_discreteSides(w, err)
                                                             : smoothSides(w, err);
  if (status < 0) return status;
  djm_findMotion(&w->motion, &w->view, w->d, w->a);
  mju_zero(w->wrench, 6 * (int)w->view.nbody);
  w->info.nkink = 0;
  djmRowSum sum = {
    .info = &w->info,
    .m = &w->view, .d = w->d, .pose = w->d, .a = w->a, .motion = &w->motion, .y = w->y,
    .force = w->force, .state = w->state, .stride = w->ncol, .H = w->H, .by_q = w->X,
    .by_v = w->X + w->nv, .wrench = w->wrench, .smooth = w->smooth, .memory = w->memory,
    .hessian = w->G, .by_force = sensed ? w->by_force : NULL,
    .dof = w->dof, .drop_force = w->drop & DJM_DROP_FORCE,
    .drop_impedance = w->drop & DJM_DROP_IMPEDANCE,
    .drop_reference = w->drop & DJM_DROP_REFERENCE,
    .drop_curvature = w->drop & DJM_DROP_CURVATURE, .drop_feature = w->drop & DJM_DROP_FEATURE,
  };
  bool discrete = w->view.opt.integrator == mjINT_DISCRETE;
  if (!discrete) status = djm_addRows(&sum, err);
  else if (w->d->nefc) status = djm_discreteRows(w, &sum, err);
  if (status < 0) return status;
  w->info.ncontact = sum.ncontact;
  w->info.differences = sum.features[DJM_FEATURE_DIFFERENCES];
  for (int i = 0; i < DJM_NFEATURE; i++) w->info.features[i] = sum.features[i];
  djm_findKinks(w);
  if (!discrete) djm_wrenchSlope(w->X, w->ncol, &w->view, w->d, w->wrench);
  return DJ_OK;
}

// ---- position -----------------------------------------------------------------------------------

// Rows of q+ = q (+) h v+ from those of v+.  by_q, by_v: (nv x 3) blocks of djm_integrateSlope.
static void positionRows(mjtNum* row, const mjtNum* velocity, int n, const mjModel* m,
                         const mjtNum* by_q, const mjtNum* by_v, bool state) {
  for (int i = 0; i < (int)m->nv; i++) {
    int joint = m->dof_jntid[i], type = m->jnt_type[joint], adr = m->jnt_dofadr[joint];
    bool turns = type == mjJNT_BALL || (type == mjJNT_FREE && i >= adr + 3);
    int first = !turns ? i : type == mjJNT_BALL ? adr : adr + 3;
    mjtNum* to = row + (size_t)i * n;
    mju_scl(to, velocity + (size_t)first * n, by_v[3 * i], n);
    for (int k = 1; k < 3 && turns; k++) {
      mju_addToScl(to, velocity + (size_t)(first + k) * n, by_v[3 * i + k], n);
    }
    for (int k = 0; k < (turns ? 3 : 1) && state; k++) to[first + k] += by_q[3 * i + k];
  }
}

static void fill(mjtNum* A, mjtNum* B, djmTransitionWork* w) {
  int nv = w->nv, na = w->na, nx = 2 * nv + na, nu = w->nu;
  mjtNum h = w->view.opt.timestep, *v = w->memory, *by_q = v + nv, *by_v = by_q + 3 * nv;
  mju_addScl(v, w->d->qvel, w->end, h, nv);
  djm_integrateSlope(by_q, by_v, &w->view, v, h);
  for (int i = 0; i < nv; i++) {
    const mjtNum* y = w->Y + (size_t)i * w->ncol;
    if (A) {
      mjtNum* row = A + (size_t)(nv + i) * nx;
      mju_scl(row, y, h, nx);
      row[nv + i] += 1;
    }
    if (B) mju_scl(B + (size_t)(nv + i) * nu, y + nx, h, nu);
  }
  if (A) positionRows(A, A + (size_t)nv * nx, nx, &w->view, by_q, by_v, true);
  if (B) positionRows(B, B + (size_t)nv * nu, nu, &w->view, by_q, by_v, false);
}

static djStatus activations(mjtNum* A, mjtNum* B, djmTransitionWork* w, djError* err) {
  int nv = w->nv, na = w->na, nx = 2 * nv + na, nu = w->nu;
  mjtNum* by = w->act_by;
  mjtNum *by_v = by + na * nv, *by_act = by_v + na * nv, *by_ctrl = by_act + na * na;
  djStatus status = djm_activationSlope(by, by_v, by_act, by_ctrl, &w->view, w->d, true, w->smooth,
                                        err);
  if (status < 0) return status;
  for (int i = 0; i < na; i++) {
    if (A) {
      mjtNum* row = A + (size_t)(2 * nv + i) * nx;
      mju_copy(row, by + (size_t)i * nv, nv);
      mju_copy(row + nv, by_v + (size_t)i * nv, nv);
      mju_copy(row + 2 * nv, by_act + (size_t)i * na, na);
    }
    if (B) mju_copy(B + (size_t)(2 * nv + i) * nu, by_ctrl + (size_t)i * nu, nu);
  }
  return DJ_OK;
}

djStatus djm_openTransition(djmTransitionWork* w, const mjModel* m, const mjData* d,
                            djError* err) {
  if (m->nbuffer != w->nbuffer || (int)m->nv != w->nv || (int)m->nu != w->nu) {
    return djm_slopeError(err, DJ_INVALID, "the work was made for another model");
  }
  djStatus status = djm_checkTransition(m, d, err);
  if (status >= 0) status = checkState(m, d, err);
  if (status < 0) return status;
  djm_setView(w, m);
  mj_copyState(&w->view, d, w->d, mjSTATE_INTEGRATION);
  mj_normalizeQuat(&w->view, w->d->qpos);
  status = djm_guard(forward, w, err);
  if (status >= 0 && w->view.opt.integrator == mjINT_DISCRETE) {
    status = djm_findMetric(w, err);
  }
  return status < 0 ? status : djm_solveRows(w, err);
}

djStatus djm_transitionMuJoCoWith(const mjModel* m, const mjData* d, djmTransitionWork* w,
                                  mjtNum* A, mjtNum* B, mjtNum* C, mjtNum* D, djError* err) {
  if (!A && !B && !C && !D) {
    bool same = m->nbuffer == w->nbuffer && (int)m->nv == w->nv && (int)m->nu == w->nu;
    return same ? djm_checkTransition(m, d, err)
                : djm_slopeError(err, DJ_INVALID, "the work was made for another model");
  }
  djStatus status = djm_openTransition(w, m, d, err);
  bool sensed = false;
  if (status >= 0 && (C || D)) status = djm_roomForForces(&sensed, w, m, err);
  if (status >= 0) status = rightSides(w, sensed, err);
  if (status < 0) return status;
  if (!djm_factorLower(w->H, w->nv)) {
    return djm_slopeError(err, DJ_INVALID, "inertia is not positive");
  }
  djm_solveLower(w->X, w->H, w->nv, w->ncol);
  status = djm_endSlopes(w, err);
  if (status < 0) return status;
  fill(A, B, w);
  if (w->na && (A || B)) status = activations(A, B, w, err);
  if (status >= 0 && (C || D)) status = djm_sensorSlopes(C, D, w, m, err);
  return status;
}

djStatus djm_transitionMuJoCo(const mjModel* m, const mjData* d, mjtNum* A, mjtNum* B, mjtNum* C,
                              mjtNum* D) {
  djmTransitionWork* w;
  djError err;
  djStatus status = djm_makeTransitionWork(&w, m, &err);
  if (status < 0) return status;
  status = djm_transitionMuJoCoWith(m, d, w, A, B, C, D, &err);
  djm_deleteTransitionWork(w);
  return status;
}
