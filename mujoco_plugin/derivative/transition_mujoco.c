// djm_transitionMuJoCo: A and B of MuJoCo's own step, exactly. The solution's derivative is that of
// rows.h, the end of the step that of transition_end.c; the position moves by q+ = q (+) h v+.

#include "transition_work.h"

#include "attach.h"
#include "step.h"

#include "slope_error.h"

#include <stdlib.h>
#include <string.h>

// ---- memory -------------------------------------------------------------------------------------

void djm_deleteTransitionWork(djmTransitionWork* w) {
  if (!w) return;
  mj_deleteData(w->d);
  mj_deleteData(w->e);
  free(w->motion.body);
  free(w->a);
  free(w->dof);
  free(w->y);
  free(w->force);
  free(w->dense);
  free(w->state);
  free(w);
}

typedef struct Making {
  djmTransitionWork* w;
} Making;

static void makeData(void* arg) {
  djmTransitionWork* w = ((Making*)arg)->w;
  w->d = mj_makeData(&w->view);
  w->e = mj_makeData(&w->view);
}

static mjModel viewOf(const mjModel* m) {
  mjModel view = djm_plainModel(m);
  view.opt.disableflags |= mjDSBL_SENSOR;
  view.opt.enableflags &= ~(mjENBL_ENERGY | mjENBL_FWDINV);
  return view;
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
                (size_t)m->na * (size_t)w->ncol + djm_smoothWorkSize(m);
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
  w->smooth.memory = p += (size_t)m->na * (size_t)w->ncol;
  w->motion.drag = p + djm_smoothWorkSize(m);
  return true;
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
  w->view = viewOf(m);
  Making making = {w};
  status = djm_guard(makeData, &making, err);
  if (status >= 0 && (!w->d || !w->e || !makeRoom(w))) status = djm_slopeError(err, DJ_NO_MEMORY, "out of memory");
  if (status < 0) {
    djm_deleteTransitionWork(w);
    return status;
  }
  w->smooth.d = w->e;
  *work = w;
  return DJ_OK;
}

const djmTransitionInfo* djm_transitionInfo(const djmTransitionWork* w) { return &w->info; }

// ---- what is refused ----------------------------------------------------------------------------

static const char* refusedOption(const mjModel* m) {
  const mjOption* opt = &m->opt;
  if (opt->integrator == mjINT_RK4) return "integrator RK4";
  if (opt->integrator == mjINT_DISCRETE) return "integrator discrete";
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

static bool moves(const mjtNum* v, int n) {
  for (int k = 0; k < n; k++) {
    if (v[k] != 0) return true;
  }
  return false;
}

djStatus djm_checkTransition(const mjModel* m, const mjData* d, djError* err) {
  const char* option = refusedOption(m);
  if (option) return djm_slopeError(err, DJ_UNSUPPORTED, "%s: has no derivative", option);
  for (int i = 0; i < (int)m->nplugin; i++) {
    const mjpPlugin* plugin = mjp_getPluginAtSlot(m->plugin[i]);
    if (plugin && plugin->capabilityflags & (mjPLUGIN_PASSIVE | mjPLUGIN_ACTUATOR)) {
      return refuse(m, mjOBJ_PLUGIN, i, "plugin", "a plugin's force", err);
    }
  }
  for (int i = 0; i < (int)m->neq; i++) {
    if (d->eq_active[i] && m->eq_type[i] > mjEQ_TENDON) {
      return refuse(m, mjOBJ_EQUALITY, i, "equality", "this type", err);
    }
  }
  for (int i = 0; i < (int)m->ngeom; i++) {
    if (moves(m->geom_surfacevel + 6 * i, 6)) {
      return refuse(m, mjOBJ_GEOM, i, "geom", "surfacevel", err);
    }
    if (m->geom_adhesion[i] != 0) return refuse(m, mjOBJ_GEOM, i, "geom", "adhesion", err);
  }
  for (int i = 0; i < (int)m->npair; i++) {
    if (m->pair_adhesion[i] != 0) return refuse(m, mjOBJ_PAIR, i, "pair", "adhesion", err);
  }
  return DJ_OK;
}

// ---- assembly -----------------------------------------------------------------------------------

static void copyStateTo(mjData* to, const mjModel* m, const mjData* d) {
  mj_copyState(m, d, to, mjSTATE_INTEGRATION);
  mj_normalizeQuat(m, to->qpos);
}

static void forward(void* arg) {
  djmTransitionWork* w = arg;
  mj_forward(&w->view, w->d);
  if (w->view.opt.integrator == mjINT_IMPLICIT || w->view.opt.integrator == mjINT_IMPLICITFAST) {
    int nq = (int)w->view.nq;
    mju_copy(w->smooth.memory, w->d->qpos, nq);
    mju_copy(w->smooth.memory + nq, w->d->qvel, w->nv);
    mju_copy(w->memory, w->d->act, w->na);
    mj_implicit(&w->view, w->d);
    mju_copy(w->d->qpos, w->smooth.memory, nq);
    mju_copy(w->d->qvel, w->smooth.memory + nq, w->nv);
    mju_copy(w->d->act, w->memory, w->na);
  }
  if (w->d->ncon || w->view.ntendon) mj_fwdPosition(&w->view, w->e);
}

// X = -dr + g
static djStatus rightSides(djmTransitionWork* w, djError* err) {
  int nv = w->nv, na = w->na, nu = w->nu;
  mjtNum* by = w->smooth_by;
  djmSlope slope = {by, by + nv * nv, by + 2 * nv * nv, by + 2 * nv * nv + nv * na};
  djStatus status = djm_smoothSlope(&slope, &w->view, w->d, w->a, &w->smooth, err);
  if (status < 0) return status;
  for (int i = 0; i < nv; i++) {
    mjtNum* row = w->X + (size_t)i * w->ncol;
    mju_scl(row, slope.by_q + (size_t)i * nv, -1, nv);
    mju_scl(row + nv, slope.by_v + (size_t)i * nv, -1, nv);
    mju_scl(row + 2 * nv, slope.by_act + (size_t)i * na, -1, na);
    mju_scl(row + 2 * nv + na, slope.by_ctrl + (size_t)i * nu, -1, nu);
  }
  mj_fullM(&w->view, w->d, w->H);
  djm_findMotion(&w->motion, &w->view, w->d, w->a);
  mju_zero(w->wrench, 6 * (int)w->view.nbody);
  djmRowSum sum = {
    .m = &w->view, .d = w->d, .pose = w->e, .a = w->a, .motion = &w->motion, .y = w->y,
    .force = w->force, .state = w->state, .stride = w->ncol, .H = w->H, .by_q = w->X,
    .by_v = w->X + nv, .wrench = w->wrench, .smooth = &w->smooth, .memory = w->memory,
    .dof = w->dof, .drop_force = w->drop & DJM_DROP_FORCE,
    .drop_impedance = w->drop & DJM_DROP_IMPEDANCE,
    .drop_reference = w->drop & DJM_DROP_REFERENCE,
    .drop_curvature = w->drop & DJM_DROP_CURVATURE, .drop_feature = w->drop & DJM_DROP_FEATURE,
  };
  status = djm_addRows(&sum, err);
  if (status < 0) return status;
  djm_wrenchSlope(w->X, w->ncol, &w->view, w->d, w->wrench);
  return DJ_OK;
}

// ---- position -----------------------------------------------------------------------------------

// out (3 rows of n) = P from (3 rows), P (3 x 3)
static void mulRows(mjtNum* out, int n, const mjtNum P[9], const mjtNum* from) {
  for (int i = 0; i < 3; i++) {
    mjtNum* row = out + (size_t)i * n;
    for (int k = 0; k < 3; k++) mju_addToScl(row, from + (size_t)k * n, P[3 * i + k], n);
  }
}

// Rows of q+ = q (+) h v+ from those of v+: with the turn of v+ by P and of q by Q,
// dq+ = Q dq + h P dv+.
static void positionRows(mjtNum* row, const mjtNum* velocity, int n, const mjModel* m,
                         const mjtNum* v, mjtNum h, bool state) {
  for (int j = 0; j < (int)m->njnt; j++) {
    int type = m->jnt_type[j], adr = m->jnt_dofadr[j];
    int plain = type == mjJNT_FREE ? 3 : type == mjJNT_BALL ? 0 : 1;
    for (int k = adr; k < adr + plain; k++) {
      mju_scl(row + (size_t)k * n, velocity + (size_t)k * n, h, n);
      if (state) row[(size_t)k * n + k] += 1;
    }
    if (type != mjJNT_FREE && type != mjJNT_BALL) continue;
    adr += plain;
    mjtNum Q[9], P[9], S[3];
    mjd_quatIntegrate(v + adr, h, Q, P, S);
    mju_scl(P, P, h, 9);
    mju_zero(row + (size_t)adr * n, 3 * n);
    mulRows(row + (size_t)adr * n, n, P, velocity + (size_t)adr * n);
    for (int i = 0; i < 9 && state; i++) row[(size_t)(adr + i / 3) * n + adr + i % 3] += Q[i];
  }
}

static void fill(mjtNum* A, mjtNum* B, djmTransitionWork* w) {
  int nv = w->nv, na = w->na, nx = 2 * nv + na, nu = w->nu;
  mjtNum h = w->view.opt.timestep, *v = w->memory;
  mju_addScl(v, w->d->qvel, w->end, h, nv);
  for (int i = 0; i < nv; i++) {
    const mjtNum* y = w->Y + (size_t)i * w->ncol;
    if (A) {
      mjtNum* row = A + (size_t)(nv + i) * nx;
      mju_scl(row, y, h, nx);
      row[nv + i] += 1;
    }
    if (B) mju_scl(B + (size_t)(nv + i) * nu, y + nx, h, nu);
  }
  if (A) positionRows(A, A + (size_t)nv * nx, nx, &w->view, v, h, true);
  if (B) positionRows(B, B + (size_t)nv * nu, nu, &w->view, v, h, false);
}

static djStatus activations(mjtNum* A, mjtNum* B, djmTransitionWork* w, djError* err) {
  int nv = w->nv, na = w->na, nx = 2 * nv + na, nu = w->nu;
  mjtNum* by = w->act_by;
  djmSlope s = {by, by + na * nv, by + 2 * na * nv, by + 2 * na * nv + na * na};
  djStatus status = djm_nextActSlope(&s, &w->view, w->d, &w->smooth, err);
  if (status < 0) return status;
  for (int i = 0; i < na; i++) {
    if (A) {
      mjtNum* row = A + (size_t)(2 * nv + i) * nx;
      mju_copy(row, s.by_q + (size_t)i * nv, nv);
      mju_copy(row + nv, s.by_v + (size_t)i * nv, nv);
      mju_copy(row + 2 * nv, s.by_act + (size_t)i * na, na);
    }
    if (B) mju_copy(B + (size_t)(2 * nv + i) * nu, s.by_ctrl + (size_t)i * nu, nu);
  }
  return DJ_OK;
}

djStatus djm_transitionMuJoCo(const mjModel* m, const mjData* d, djmTransitionWork* w, mjtNum* A,
                              mjtNum* B, mjtNum* C, mjtNum* D, djError* err) {
  if (m->nbuffer != w->nbuffer || (int)m->nv != w->nv || (int)m->nu != w->nu) {
    return djm_slopeError(err, DJ_INVALID, "the work was made for another model");
  }
  djStatus status = djm_checkTransition(m, d, err);
  if (status < 0) return status;
  if (C || D) return djm_slopeError(err, DJ_UNSUPPORTED, "C and D have no derivative yet");
  if (!A && !B) return DJ_OK;
  w->view = viewOf(m);
  copyStateTo(w->d, &w->view, d);
  copyStateTo(w->e, &w->view, d);
  status = djm_guard(forward, w, err);
  if (status >= 0) status = djm_solveRows(w, err);
  if (status >= 0) status = rightSides(w, err);
  if (status < 0) return status;
  if (!djm_factorLower(w->H, w->nv)) return djm_slopeError(err, DJ_INVALID, "inertia is not positive");
  djm_solveLower(w->X, w->H, w->nv, w->ncol);
  status = djm_endSlopes(w, err);
  if (status < 0) return status;
  fill(A, B, w);
  return w->na ? activations(A, B, w, err) : DJ_OK;
}
