// One step: the start guess, Newton, and what is reported.

#include "base/status.h"
#include "integrate/work.h"
#include "solve/newton.h"

#include <math.h>
#include <string.h>

const djIntegratorRow* dj_integratorRow(djIntegrator integrator) {
  switch (integrator) {
    case DJ_POSITION: return &dj_positionRow;
    case DJ_VARIATIONAL: return &dj_variationalRow;
    default: return NULL;
  }
}

typedef struct Problem {
  djWork* work;
  const djModel* model;
  const djIntegratorRow* row;
  bool scaled;             // work->scale holds this step's
  double trial_fraction;   // of the present step at which the trial point stands; 0: none
  double path, trial_path; // work of work->inertial on the way to the present and the trial point
} Problem;

// ---- callbacks of Newton's method -------------------------------------------------------------

// Where the residual has a part without a potential, its work along the steps taken and the trial
// one stands in: the trapezoidal rule on either.
static bool hasPath(const Problem* p) { return p->row->kind == DJ_LDU; }

static djStatus evaluateNow(void* user, double* value, double* gradient, bool* cautious) {
  Problem* p = user;
  djWork* w = p->work;
  dj_motionSubspace(&w->now, p->model, w->ref);
  djStatus status = p->row->evaluate(value, gradient, w, p->model, &w->now, w->q, cautious);
  if (status < 0 || !hasPath(p)) return status;
  *value += p->path;
  memcpy(w->pull, w->inertial, (size_t)p->model->nv * sizeof(double));
  return status;
}

static bool factor(void* user, double shift) {
  Problem* p = user;
  djWork* w = p->work;
  if (shift == 0) return dj_factor(&w->factor, w->H, NULL);
  // What is shifted is inertia: contact's stiffness would damp the soft directions for nothing.
  if (!p->scaled) {
    dj_massDiagonal(w->scale, w->M, p->model, &w->now, w->ref);
    for (int i = 0; i < p->model->nv; i++) w->scale[i] /= w->h * w->h;
    p->scaled = true;
  }
  for (int i = 0; i < p->model->nv; i++) w->shift[i] = shift * w->scale[i];
  return dj_factor(&w->factor, w->H, w->shift);
}

static void solve(void* user, double* x) {
  Problem* p = user;
  dj_solve(x, &p->work->factor);
}

// The trial point of a new step is set once for the cap and the first trial.
static void setTrial(Problem* p, const double* step, double fraction) {
  djWork* w = p->work;
  if (p->trial_fraction == fraction) return;
  p->trial_fraction = fraction;
  dj_integratePos(w->qtrial, p->model, w->q, step, fraction);
  dj_kinematics(&w->trial, p->model, w->qtrial, w->start.mocap_pos, w->start.mocap_quat);
}

static djStatus cap(void* user, double* fraction, const double* step) {
  Problem* p = user;
  djWork* w = p->work;
  *fraction = 1;
  p->trial_fraction = 0;
  if (!w->contacts) return DJ_OK;
  setTrial(p, step, 1);
  return dj_capContacts(fraction, w->contacts, p->model, w->now.body, w->trial.body);
}

static djStatus trial(void* user, double* value, double* gradient, const double* step,
                      double fraction, bool* cautious) {
  Problem* p = user;
  djWork* w = p->work;
  if (!gradient) p->trial_fraction = 0;   // a full step without a cap
  setTrial(p, step, fraction);
  if (gradient) dj_motionSubspace(&w->trial, p->model, w->ref);
  djStatus status = p->row->evaluate(value, gradient, w, p->model, &w->trial, w->qtrial, cautious);
  p->trial_path = p->path;
  if (status < 0 || !hasPath(p) || !gradient || !isfinite(*value)) return status;
  for (int i = 0; i < p->model->nv; i++) {
    p->trial_path += 0.5 * fraction * step[i] * (w->pull[i] + w->inertial[i]);
  }
  *value += p->trial_path;
  return status;
}

static void swapKin(djKin* a, djKin* b) {
  djKin kin = *a;
  *a = *b;
  *b = kin;
}

static void accept(void* user) {
  Problem* p = user;
  djWork* w = p->work;
  swapKin(&w->now, &w->trial);
  double* q = w->q;
  w->q = w->qtrial;
  w->qtrial = q;
  p->trial_fraction = 0;
  if (!hasPath(p)) return;
  p->path = p->trial_path;
  memcpy(w->pull, w->inertial, (size_t)p->model->nv * sizeof(double));
}

// ---- start of a step --------------------------------------------------------------------------

djStatus dj_checkFinite(djError* err, const char* name, const double* v, int n) {
  for (int i = 0; i < n; i++) {
    if (!isfinite(v[i])) return dj_fail(err, DJ_INVALID, "%s[%d]: not a finite number", name, i);
  }
  return DJ_OK;
}

typedef struct Part {
  const char* name;
  const double* from;
  double* to;
  int n;
} Part;

enum { NSTATE = 3, NPART = 8 };   // the state, and inputs after it

static void listParts(Part part[NPART], const djModel* m, const djData* d) {
  djData* s = &d->work->start;
  const Part list[NPART] = {{"qpos", d->qpos, s->qpos, m->nq},
                            {"qvel", d->qvel, s->qvel, m->nv},
                            {"act", d->act, s->act, m->na},
                            {"ctrl", d->ctrl, s->ctrl, m->nu},
                            {"qfrc_applied", d->qfrc_applied, s->qfrc_applied, m->nv},
                            {"xfrc_applied", d->xfrc_applied, s->xfrc_applied, m->nbody * 6},
                            {"mocap_pos", d->mocap_pos, s->mocap_pos, m->nmocap * 3},
                            {"mocap_quat", d->mocap_quat, s->mocap_quat, m->nmocap * 4}};
  memcpy(part, list, sizeof list);
}

static djStatus checkParts(const Part* part, int n, djData* d) {
  djError* err = &d->work->error;
  for (int k = 0; k < n; k++) {
    djStatus status = dj_checkFinite(err, part[k].name, part[k].from, part[k].n);
    if (status < 0) return status;
  }
  if (isfinite(d->gravity_scale) && isfinite(d->time)) return DJ_OK;
  return dj_fail(err, DJ_INVALID, "time or gravity_scale: not a finite number");
}

djStatus dj_checkInputs(const djModel* m, djData* d) {
  Part part[NPART];
  listParts(part, m, d);
  return checkParts(part + NSTATE, NPART - NSTATE, d);
}

// Copies state and inputs into the view of the start, with unit quaternions.
static djStatus copyStart(const djModel* m, djData* d) {
  djWork* w = d->work;
  djData* s = &w->start;
  djStatus status = dj_checkData(m, d);
  if (status < 0) return status;
  Part part[NPART];
  listParts(part, m, d);
  status = checkParts(part, NPART, d);
  if (status < 0) return status;
  for (int k = 0; k < NPART; k++) {
    memcpy(part[k].to, part[k].from, (size_t)part[k].n * sizeof(double));
  }
  s->time = d->time;
  s->gravity_scale = d->gravity_scale;
  s->work = w;
  for (int j = 0; j < m->njnt; j++) {
    if (dj_rotationDof(m, j) < 0) continue;
    double* q = s->qpos + dj_rotationQpos(m, j);
    dju_storeQuat(q, dju_normalizeQuat(dju_loadQuat(q)));
  }
  return DJ_OK;
}

// The energy of the start is infinite: because shapes overlap, or by overflow.
static djStatus failStart(djWork* w, const djModel* m) {
  double contact = 0;
  djStatus status = DJ_OK;
  if (w->contacts) status = dj_evalContacts(&contact, w->contacts, m, w->kin0.body, 0);
  if (status < 0) return status;
  if (!isfinite(contact)) return dj_failInfinite(&w->error, w->contacts, m);
  return dj_fail(&w->error, DJ_INVALID, "state or inputs: too large, their energy overflows");
}

// The present iterate: q (+) f h v of the lowest energy for f = 1, 1/2, 1/4, 0, with the relative
// approach of contact pairs capped. Energies that differ by less than `tiny` are equal.
static djStatus startGuess(Problem* p, double tiny) {
  djWork* w = p->work;
  const djModel* m = p->model;
  memcpy(w->q, w->start.qpos, (size_t)m->nq * sizeof(double));
  dj_copyPoses(&w->now, m, &w->kin0);
  double factor, best, value;
  for (int i = 0; i < m->nv; i++) w->step[i] = w->h * w->start.qvel[i];
  djStatus status = cap(p, &factor, w->step);
  if (status < 0) return status;
  status = p->row->evaluate(&best, NULL, w, m, &w->now, w->q, NULL);
  if (status < 0) return status;
  if (!isfinite(best)) return failStart(w, m);
  for (int k = 0; k < 3; k++) {
    setTrial(p, w->step, factor);
    status = p->row->evaluate(&value, NULL, w, m, &w->trial, w->qtrial, NULL);
    if (status < 0) return status;
    if (value < best) {
      accept(p);
      return DJ_OK;
    }
    if (value - best <= tiny) return DJ_OK;
    factor *= 0.5;
  }
  return DJ_OK;
}

// The step of w->start by w->row. unit: of the decrement.
static djStatus solveBy(djNewtonResult* result, djWork* w, const djModel* m, double unit) {
  Problem problem = {w, m, w->row, false, 0, 0, 0};
  double stop = m->opt.tolerance * unit, tiny = stop * stop;
  w->factor.kind = w->row->kind;
  djStatus status = w->row->begin(w, m);
  if (status >= 0) status = startGuess(&problem, tiny);
  if (status < 0) return status;
  problem.path = 0;
  djNewtonProblem newton = {m->nv, &problem, evaluateNow, factor, solve, cap, trial, accept};
  // Rounding of poses, relative to a metre, times the weight.
  double noise = 1e-15 * m->moving_mass * m->contact.gravity;
  // Momentum that should last is worth a step more: g h is no measure of a slow body's.
  int polish = w->row->kind == DJ_LDU && w->polish < 1 ? 1 : w->polish;
  djNewtonOption option = {m->opt.tolerance * unit, m->opt.max_iterations, polish, 30, noise};
  status = dj_newton(result, &newton, &option, w->gradient, w->step);
  if (status < 0 || !w->row->velocity) return status;
  djStatus end = w->row->velocity(w, m);
  return end < 0 ? end : status;
}

djStatus dj_solveStep(const djModel* m, djData* d) {
  djWork* w = d->work;
  w->stepped = w->linearized = false;
  w->error.text[0] = 0;
  djStatus status = copyStart(m, d);
  if (status < 0) return status;
  w->h = m->opt.timestep;
  w->row = dj_integratorRow(m->opt.integrator);
  if (!w->row) return dj_fail(&w->error, DJ_UNSUPPORTED, "integrator: unknown");
  // Rest within a fraction of g h: SDRS stops at an absolute force instead.
  double unit = m->contact.gravity * w->h * sqrt(fmax(m->moving_mass, 1e-300));
  djNewtonResult result;
  status = solveBy(&result, w, m, unit);
  if (status == DJ_NOT_CONVERGED && w->row != &dj_positionRow) {
    // No solution may exist, as for turns beyond a quarter in a step: position.c always has one.
    int before = result.iterations;
    w->row = &dj_positionRow;
    status = solveBy(&result, w, m, unit);
    result.iterations += before;
    d->stats.damped_steps++;
  }
  if (status < 0) return status;
  d->stats.iterations = result.iterations;
  d->stats.newton_iterations += result.iterations;
  d->stats.residual = result.decrement / unit;
  if (d->stats.residual > d->stats.worst_residual) d->stats.worst_residual = d->stats.residual;
  if (status == DJ_NOT_CONVERGED) d->stats.unconverged_steps++;
  w->stepped = true;
  return status;
}

// Whether qpos is where the last step started, as when steps are replayed backward in time.
static bool isLastStart(const djModel* m, const djData* d, const double* qpos) {
  const djWork* w = d->work;
  size_t nq = m->nq, nmocap = m->nmocap, size = sizeof(double);
  return w->stepped && !memcmp(w->start.qpos, qpos, nq * size) &&
         !memcmp(w->start.mocap_pos, d->mocap_pos, 3 * nmocap * size) &&
         !memcmp(w->start.mocap_quat, d->mocap_quat, 4 * nmocap * size);
}

djStatus dj_replayStep(const djModel* m, djData* d, const djIntegratorRow* row,
                       const double* qpos) {
  djWork* w = d->work;
  bool known = isLastStart(m, d, qpos);
  w->stepped = w->linearized = false;
  w->error.text[0] = 0;
  djStatus status = copyStart(m, d);
  if (status < 0) return status;
  w->h = m->opt.timestep;
  if (known) swapKin(&w->now, &w->kin0);   // begin writes kin0 anew
  w->row = row;
  w->factor.kind = row->kind;
  status = row->begin(w, m);
  if (status < 0) return status;
  memcpy(w->q, qpos, (size_t)m->nq * sizeof(double));
  if (!known) dj_kinematics(&w->now, m, w->q, w->start.mocap_pos, w->start.mocap_quat);
  w->stepped = true;
  return DJ_OK;
}

// ---- end of a step ----------------------------------------------------------------------------

static void storePoses(const djModel* m, djData* d, const djKin* kin) {
  for (int b = 0; b < m->nbody; b++) {
    dju_store3(d->xpos + 3 * b, kin->body[b].p);
    dju_storeQuat(d->xquat + 4 * b, kin->quat[b]);
    memcpy(d->xmat + 9 * b, kin->body[b].R.m, 9 * sizeof(double));
    dju_store3(d->xipos + 3 * b, kin->com[b]);
  }
  for (int s = 0; s < m->nsite; s++) {
    const djPose* T = &kin->body[m->site_body[s]];
    dju_store3(d->site_xpos + 3 * s, dju_transform(T, dju_load3(m->site_pos + 3 * s)));
  }
  for (int g = 0; g < m->ngeom; g++) {
    const djPose* T = &kin->body[m->geom_body[g]];
    djMat3 R = dju_mulMM(T->R, dju_quatToMat(dju_loadQuat(m->geom_quat + 4 * g)));
    dju_store3(d->geom_xpos + 3 * g, dju_transform(T, dju_load3(m->geom_pos + 3 * g)));
    memcpy(d->geom_xmat + 9 * g, R.m, sizeof(R.m));
  }
}

djStatus dj_step(const djModel* m, djData* d) {
  if (!m || !d) return DJ_INVALID;
  djWork* w = d->work;
  djStats before = d->stats;
  djStatus status = dj_solveStep(m, d);
  djStatus report = DJ_OK;
  if (status >= 0 && w->contacts) {
    report = dj_reportContacts(d, w->contacts, m, w->now.body);
  }
  if (status < 0 || report < 0) {
    d->stats = before;
    w->stepped = false;
    if (!w->error.text[0]) dj_fail(&w->error, status < 0 ? status : report, "step: failed");
    return status < 0 ? status : report;
  }
  if (w->row->velocity) {
    memcpy(d->qvel, w->qvel, (size_t)m->nv * sizeof(double));
  } else {
    dj_differentiatePos(d->qvel, m, w->h, w->start.qpos, w->q);
  }
  memcpy(d->qpos, w->q, (size_t)m->nq * sizeof(double));
  memcpy(d->act, w->act_next, (size_t)m->na * sizeof(double));
  d->time += w->h;
  d->stats.steps++;
  storePoses(m, d, &w->now);
  return status;
}

// Kinetic energy: bodies by their twists, and armatures.
static double kineticEnergy(const djModel* m, djWork* w, const double* qvel) {
  double sum = 0;
  memset(w->wrench, 0, (size_t)m->nbody * 6 * sizeof(double));
  for (int b = 1; b < m->nbody; b++) {
    if (m->body_lastdof[b] < 0) continue;
    double* V = w->wrench + 6 * b;
    memcpy(V, w->wrench + 6 * m->body_parent[b], 6 * sizeof(double));
    for (int i = m->body_dofadr[b]; i < m->body_dofadr[b] + m->body_dofnum[b]; i++) {
      for (int k = 0; k < 6; k++) V[k] += w->kin0.S[6 * i + k] * qvel[i];
    }
    djVec3 omega = dju_load3(V), arm = dju_sub3(w->kin0.com[b], w->ref[b]);
    djVec3 v = dju_add3(dju_load3(V + 3), dju_cross3(omega, arm));
    djVec3 local = dju_mulMtV(w->kin0.principal[b], omega);
    const double* I = m->body_inertia + 3 * b;
    sum += 0.5 * (m->body_mass[b] * dju_dot3(v, v) + I[0] * local.x * local.x +
                  I[1] * local.y * local.y + I[2] * local.z * local.z);
  }
  for (int i = 0; i < m->nv; i++) {
    sum += 0.5 * w->joint.joint[m->dof_jnt[i]].armature * qvel[i] * qvel[i];
  }
  return sum;
}

djStatus dj_forward(const djModel* m, djData* d) {
  if (!m || !d) return DJ_INVALID;
  djWork* w = d->work;
  w->stepped = w->linearized = false;
  djStatus status = copyStart(m, d);
  if (status < 0) return status;
  dj_kinematics(&w->kin0, m, w->start.qpos, d->mocap_pos, d->mocap_quat);
  for (int b = 0; b < m->nbody; b++) w->ref[b] = w->kin0.com[m->body_root[b]];
  dj_motionSubspace(&w->kin0, m, w->ref);
  dj_beginJointTerms(&w->joint, w->act_next, m, &w->start, m->opt.timestep);
  storePoses(m, d, &w->kin0);
  d->energy[0] = dj_gravityEnergy(m, &w->kin0, d->gravity_scale) +
                 dj_springEnergy(m, w->start.qpos);
  d->energy[1] = kineticEnergy(m, w, w->start.qvel);
  return DJ_OK;
}
