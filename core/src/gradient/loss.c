#include "gradient/loss.h"

#include "base/arena.h"
#include "base/status.h"
#include "math/so3.h"
#include "model/check.h"
#include "model/frame_param.h"
#include "model/param.h"

#include <math.h>
#include <string.h>

size_t dj_lossWorkSize(const djModel* m) {
  djArena a = {NULL, 0};
  dj_take(&a, dj_kinSize(m), 1);
  dj_take(&a, m->nbody, sizeof(djVec3));
  dj_take(&a, (size_t)m->nbody * 6, sizeof(double));
  return a.used;
}

djLossWork dj_initLossWork(const djModel* m, void* memory) {
  djArena a = {memory, 0};
  djLossWork w;
  w.kin = dj_initKin(m, dj_take(&a, dj_kinSize(m), 1));
  w.ref = dj_take(&a, m->nbody, sizeof(djVec3));
  w.wrench = dj_take(&a, (size_t)m->nbody * 6, sizeof(double));
  return w;
}

void dj_beginLoss(djLossWork* w, const djModel* m, const djData* d, const double* qpos) {
  dj_kinematics(&w->kin, m, qpos, d->mocap_pos, d->mocap_quat);
  for (int b = 0; b < m->nbody; b++) w->ref[b] = w->kin.com[m->body_root[b]];
  dj_motionSubspace(&w->kin, m, w->ref);
}

// ---- quantities -------------------------------------------------------------------------------

// Body that carries a point, and the point.
static djVec3 pointOf(int* body, const djLossWork* w, const djModel* m, const djLossTerm* t) {
  djVec3 local = {0, 0, 0};
  *body = t->id;
  if (t->object == DJ_OBJ_SITE) {
    *body = m->site_body[t->id];
    local = dju_load3(m->site_pos + 3 * t->id);
  } else if (t->object == DJ_OBJ_GEOM) {
    *body = m->geom_body[t->id];
    local = dju_load3(m->geom_pos + 3 * t->id);
  }
  return dju_transform(&w->kin.body[*body], local);
}

static bool inSubtree(const djModel* m, int body, int root) {
  if (root < 0) return body > 0;
  while (body > root) body = m->body_parent[body];
  return body == root;
}

static djVec3 massCentre(double* mass, const djLossWork* w, const djModel* m, int root) {
  djVec3 sum = {0, 0, 0};
  *mass = 0;
  for (int b = 1; b < m->nbody; b++) {
    if (!inSubtree(m, b, root)) continue;
    sum = dju_madd3(sum, m->body_mass[b], w->kin.com[b]);
    *mass += m->body_mass[b];
  }
  if (*mass <= 0) *mass = 1;
  return dju_scale3(1 / *mass, sum);
}

// Velocity of the origin of a body: sum over the chain of S_i v_i.
static djVec3 originVelocity(const djLossWork* w, const djModel* m, int b, const double* qvel) {
  djVec3 v = {0, 0, 0}, arm = dju_sub3(w->kin.body[b].p, w->ref[b]);
  for (int i = m->body_lastdof[b]; i >= 0; i = m->dof_parent[i]) {
    const double* S = w->kin.S + 6 * i;
    djVec3 at = dju_add3(dju_load3(S + 3), dju_cross3(dju_load3(S), arm));
    v = dju_madd3(v, qvel[i], at);
  }
  return v;
}

// log(target^-1 q), body frame.
static djVec3 rotationError(const djLossWork* w, const djLossTerm* t) {
  djQuat target = dju_normalizeQuat(dju_loadQuat(t->target));
  return dju_logQuat(dju_mulQuat(dju_conj(target), w->kin.quat[t->id]));
}

// Vector whose squared distance from the target a term is, where it is one; of a rotation the error
// itself, whose target is 0.
static djVec3 vectorOf(djVec3* target, int* body, const djLossWork* w, const djModel* m,
                       const djLossTerm* t, const double* qvel) {
  double mass;
  *target = dju_load3(t->target);
  *body = t->id;
  switch (t->type) {
    case DJ_LOSS_POSITION: return pointOf(body, w, m, t);
    case DJ_LOSS_VELOCITY: return originVelocity(w, m, t->id, qvel);
    case DJ_LOSS_COM: return massCentre(&mass, w, m, t->id);
    default: *target = (djVec3){0, 0, 0}; return rotationError(w, t);
  }
}

static djVec3 errorVector(int* body, const djLossWork* w, const djModel* m, const djLossTerm* t,
                          const double* qvel) {
  djVec3 target, x = vectorOf(&target, body, w, m, t, qvel);
  return dju_sub3(x, target);
}

static double scalarError(const djModel* m, const djLossTerm* t, const double* qpos,
                          const double* qvel) {
  double x = t->type == DJ_LOSS_QPOS ? qpos[m->jnt_qposadr[t->id]] : qvel[m->jnt_dofadr[t->id]];
  return x - t->target[0];
}

static double scalarOf(const djLossWork* w, const djModel* m, const djLossTerm* t,
                       const double* qpos, const double* qvel) {
  if (t->type == DJ_LOSS_QPOS) return qpos[m->jnt_qposadr[t->id]];
  if (t->type == DJ_LOSS_QVEL) return qvel[m->jnt_dofadr[t->id]];
  return dju_norm3(dju_sub3(w->kin.body[t->id].p, w->kin.body[t->id2].p));
}

// In long double: a target may be far, and differences of losses are to tell what the state tells.
static long double squared(djLossWork* w, const djModel* m, const djLossTerm* t,
                           const double* qpos, const double* qvel) {
  if (t->type == DJ_LOSS_QPOS || t->type == DJ_LOSS_QVEL || t->type == DJ_LOSS_DISTANCE) {
    long double x = (long double)scalarOf(w, m, t, qpos, qvel) - t->target[0];
    return x * x;
  }
  int body;
  djVec3 target, at = vectorOf(&target, &body, w, m, t, qvel);
  long double x = (long double)at.x - target.x, y = (long double)at.y - target.y,
              z = (long double)at.z - target.z;
  return x * x + y * y + z * z;
}

long double dj_lossValue(djLossWork* w, const djModel* m, const djLossTerm* t, const double* qpos,
                         const double* qvel) {
  long double l = squared(w, m, t, qpos, qvel);
  return t->tolerance > 0 ? fmaxl(0, l - (long double)t->tolerance * t->tolerance) : l;
}

// ---- derivatives ------------------------------------------------------------------------------

static void addForce(djLossWork* w, int body, djVec3 point, djVec3 f) {
  double* g = w->wrench + 6 * body;
  djVec3 torque = dju_cross3(dju_sub3(point, w->ref[body]), f);
  dju_store3(g, dju_add3(dju_load3(g), torque));
  dju_store3(g + 3, dju_add3(dju_load3(g + 3), f));
}

// f: derivative by the rotation error phi. A world rotation w changes it by J_r^-1 R^T w, and
// J_r^-T leaves phi, to which f is parallel, as it is.
static void addTurn(djLossWork* w, int body, djVec3 f) {
  double* g = w->wrench + 6 * body;
  dju_store3(g, dju_add3(dju_load3(g), dju_mulMV(w->kin.body[body].R, f)));
}

static void distanceForces(djLossWork* w, const djLossTerm* t, double factor) {
  djVec3 a = w->kin.body[t->id].p, b = w->kin.body[t->id2].p, x = dju_sub3(a, b);
  double d = dju_norm3(x);
  if (d <= 0) return;   // no direction: a subgradient
  djVec3 f = dju_scale3(2 * factor * (d - t->target[0]) / d, x);
  addForce(w, t->id, a, f);
  addForce(w, t->id2, b, dju_neg3(f));
}

// The tolerance makes the term zero.
static bool isFlat(djLossWork* w, const djModel* m, const djLossTerm* t, const double* qpos,
                   const double* qvel) {
  long double e2 = (long double)t->tolerance * t->tolerance;
  return t->tolerance > 0 && squared(w, m, t, qpos, qvel) <= e2;
}

static void project(double* dq, djLossWork* w, const djModel* m) {
  dj_gatherWrench(w->wrench, m);
  dj_projectWrench(dq, m, &w->kin, w->wrench);
}

// f . d(velocity of the origin)/dq_k. The velocity is sum_i v_i S_i(x). Turning dof k turns S_i
// and x for i after k (and within the same rotation): S_k acts on S_i(x); for i before k it moves
// x only: w_i x S_k(x).
static void velocityGradient(double* dq, const djLossWork* w, const djModel* m, int b,
                             const double* qvel, djVec3 f) {
  djVec3 arm = dju_sub3(w->kin.body[b].p, w->ref[b]);
  djVec3 after = {0, 0, 0}, omega = {0, 0, 0};
  for (int i = m->body_lastdof[b]; i >= 0; i = m->dof_parent[i]) {
    omega = dju_madd3(omega, qvel[i], dju_load3(w->kin.S + 6 * i));
  }
  for (int k = m->body_lastdof[b]; k >= 0;) {
    int first = dj_rotationDof(m, m->dof_jnt[k]);
    if (first < 0 || k < first) first = k;
    for (int i = k; i >= first; i--) {
      const double* S = w->kin.S + 6 * i;
      djVec3 at = dju_add3(dju_load3(S + 3), dju_cross3(dju_load3(S), arm));
      after = dju_madd3(after, qvel[i], at);
      omega = dju_madd3(omega, -qvel[i], dju_load3(S));
    }
    for (int i = k; i >= first; i--) {
      const double* S = w->kin.S + 6 * i;
      djVec3 at = dju_add3(dju_load3(S + 3), dju_cross3(dju_load3(S), arm));
      djVec3 d = dju_add3(dju_cross3(dju_load3(S), after), dju_cross3(omega, at));
      dq[i] += dju_dot3(f, d);
    }
    k = m->dof_parent[first];
  }
}

static void vectorGradient(double* dq, double* dv, djLossWork* w, const djModel* m,
                           const djLossTerm* t, const double* qvel, double factor) {
  int body;
  djVec3 f = dju_scale3(2 * factor, errorVector(&body, w, m, t, qvel));
  switch (t->type) {
    case DJ_LOSS_POSITION: addForce(w, body, pointOf(&body, w, m, t), f); break;
    case DJ_LOSS_VELOCITY:
      addForce(w, body, w->kin.body[body].p, f);
      velocityGradient(dq, w, m, body, qvel, f);
      project(dv, w, m);
      return;
    case DJ_LOSS_COM: {
      double mass;
      massCentre(&mass, w, m, t->id);
      for (int b = 1; b < m->nbody; b++) {
        if (!inSubtree(m, b, t->id)) continue;
        addForce(w, b, w->kin.com[b], dju_scale3(m->body_mass[b] / mass, f));
      }
      break;
    }
    default: addTurn(w, body, f);
  }
  project(dq, w, m);
}

void dj_lossGradient(double* dq, double* dv, djLossWork* w, const djModel* m,
                     const djLossTerm* t, const double* qpos, const double* qvel, double factor) {
  if (isFlat(w, m, t, qpos, qvel)) return;
  if (t->type == DJ_LOSS_QPOS || t->type == DJ_LOSS_QVEL) {
    double g = 2 * factor * scalarError(m, t, qpos, qvel);
    (t->type == DJ_LOSS_QPOS ? dq : dv)[m->jnt_dofadr[t->id]] += g;
    return;
  }
  memset(w->wrench, 0, (size_t)m->nbody * 6 * sizeof(double));
  if (t->type == DJ_LOSS_DISTANCE) {
    distanceForces(w, t, factor);
    project(dq, w, m);
    return;
  }
  vectorGradient(dq, dv, w, m, t, qvel, factor);
}

// ---- derivatives by parameters -----------------------------------------------------------------

// A point of a site or geom, by its place in the body.
static void pointParams(double* param, const djLossWork* w, const djModel* m, const djLossTerm* t,
                        int body, djVec3 f) {
  if (t->object != DJ_OBJ_SITE && t->object != DJ_OBJ_GEOM) return;
  djField field = t->object == DJ_OBJ_SITE ? DJ_FIELD_SITE_POS : DJ_FIELD_GEOM_POS;
  double* g = dj_paramEntry(param, m, field, t->id);
  dju_store3(g, dju_add3(dju_load3(g), dju_mulMtV(w->kin.body[body].R, f)));
}

// d com = sum (c_b - com) dm_b/M + m_b R dipos/M
static void massParams(double* param, djLossWork* w, const djModel* m, int root, djVec3 f) {
  double total, *mass = dj_paramBlock(param, m, DJ_FIELD_BODY_MASS);
  double* ipos = dj_paramBlock(param, m, DJ_FIELD_BODY_IPOS);
  djVec3 com = massCentre(&total, w, m, root);
  for (int b = 1; b < m->nbody; b++) {
    if (!inSubtree(m, b, root)) continue;
    mass[b] += dju_dot3(f, dju_sub3(w->kin.com[b], com)) / total;
    djVec3 g = dju_scale3(m->body_mass[b] / total, f);
    addForce(w, b, w->kin.com[b], g);
    g = dju_mulMtV(w->kin.body[b].R, g);
    dju_store3(ipos + 3 * b, dju_add3(dju_load3(ipos + 3 * b), g));
  }
}

// The velocity of a point p of body b along f is D_v (f . p): a second derivative of psi = f . p,
// whose nested second derivative takes twists to f . (w1 x (w2 x rho + v2)).
static void velocityParams(double* param, djLossWork* w, const djModel* m, const djConfig* at,
                           int body, djVec3 f, const double* qvel, double* scratch) {
  double *x = scratch, *C = scratch + 6 * (size_t)m->nbody;
  dj_bodyTwists(x, m, &w->kin, qvel);
  memset(C, 0, (size_t)m->nbody * 6 * sizeof(double));
  djVec3 p = w->kin.body[body].p, rho = dju_sub3(p, w->ref[body]);
  djVec3 u = dju_add3(dju_cross3(dju_load3(x + 6 * body), rho), dju_load3(x + 6 * body + 3));
  dju_store3(C + 6 * body, dju_cross3(u, f));
  addForce(w, body, p, f);
  dj_gatherCovectors(C, m, w->ref);
  dj_gatherCovectors(w->wrench, m, w->ref);
  dj_frameParamsSecond(param, m, at, C, w->wrench, x, qvel);
}

void dj_lossParams(double* param, djLossWork* w, const djModel* m, const djLossTerm* t,
                   const double* qpos, const double* qvel, double factor, double* scratch) {
  if (t->type == DJ_LOSS_QPOS || t->type == DJ_LOSS_QVEL) return;
  if (isFlat(w, m, t, qpos, qvel)) return;
  const djConfig at = {&w->kin, qpos, w->ref};
  int body = t->id;
  memset(w->wrench, 0, (size_t)m->nbody * 6 * sizeof(double));
  djVec3 f = {0, 0, 0};
  if (t->type != DJ_LOSS_DISTANCE) {
    f = dju_scale3(2 * factor, errorVector(&body, w, m, t, qvel));
  }
  switch (t->type) {
    case DJ_LOSS_POSITION:
      addForce(w, body, pointOf(&body, w, m, t), f);
      pointParams(param, w, m, t, body, f);
      break;
    case DJ_LOSS_VELOCITY: velocityParams(param, w, m, &at, body, f, qvel, scratch); return;
    case DJ_LOSS_COM: massParams(param, w, m, t->id, f); break;
    case DJ_LOSS_DISTANCE: distanceForces(w, t, factor); break;
    default: addTurn(w, body, f);
  }
  dj_gatherCovectors(w->wrench, m, w->ref);
  dj_frameParams(param, m, &at, w->wrench);
}

double dj_lossFactor(const djModel* m, const djLossTerm* t, int k, int horizon) {
  switch (t->when) {
    case DJ_WHEN_FINAL: return k == horizon ? t->weight : 0;
    case DJ_WHEN_RUNNING: return m->opt.timestep * t->weight;
    default: return k == t->step ? t->weight : 0;
  }
}

// ---- checks -----------------------------------------------------------------------------------

djStatus dj_checkLoss(const djModel* m, const djLossTerm* term, int nterm, int horizon,
                      djError* err) {
  for (int i = 0; i < nterm; i++) {
    const djLossTerm* t = &term[i];
    bool joint = t->type == DJ_LOSS_QPOS || t->type == DJ_LOSS_QVEL;
    djObject object = joint ? DJ_OBJ_JOINT
                            : t->type == DJ_LOSS_POSITION ? t->object : DJ_OBJ_BODY;
    int lowest = t->type == DJ_LOSS_COM ? -1 : 0;
    if ((int)t->type < 0 || t->type >= DJ_NLOSS) {
      return dj_fail(err, DJ_INVALID, "loss[%d]: unknown type", i);
    }
    if ((int)t->when < 0 || t->when > DJ_WHEN_STEP) {
      return dj_fail(err, DJ_INVALID, "loss[%d]: unknown value of when", i);
    }
    bool carries = object == DJ_OBJ_BODY || object == DJ_OBJ_SITE || object == DJ_OBJ_GEOM;
    if (!joint && t->type != DJ_LOSS_EFFORT && !carries) {
      return dj_fail(err, DJ_INVALID, "loss[%d]: must be of a body, a site or a geom", i);
    }
    if (t->type != DJ_LOSS_EFFORT && (t->id < lowest || t->id >= dj_objectCount(m, object))) {
      return dj_fail(err, DJ_INVALID, "loss[%d]: element %d does not exist", i, t->id);
    }
    if (joint && m->jnt_type[t->id] != DJ_SLIDE && m->jnt_type[t->id] != DJ_HINGE) {
      return dj_fail(err, DJ_INVALID, "loss[%d]: joint is not a slide or hinge", i);
    }
    if (t->type == DJ_LOSS_DISTANCE && (t->id2 < 0 || t->id2 >= m->nbody)) {
      return dj_fail(err, DJ_INVALID, "loss[%d]: body %d does not exist", i, t->id2);
    }
    bool finite = isfinite(t->weight) && isfinite(t->tolerance);
    for (int k = 0; k < 4; k++) finite = finite && isfinite(t->target[k]);
    if (!finite) return dj_fail(err, DJ_INVALID, "loss[%d]: not a finite number", i);
    const struct {
      const char* name;
      const char* problem;
    } size[] = {{"weight", dj_sizeProblem(&t->weight, 1, DJ_LARGEST_FORCE)},
                {"tolerance", dj_sizeProblem(&t->tolerance, 1, DJ_LARGEST)},
                {"target", dj_sizeProblem(t->target, 4, DJ_LARGEST)}};
    for (int k = 0; k < 3; k++) {
      if (!size[k].problem) continue;
      return dj_fail(err, DJ_INVALID, "loss[%d]: %s %s", i, size[k].name, size[k].problem);
    }
    if (t->when == DJ_WHEN_STEP && (t->step < 1 || t->step > horizon)) {
      return dj_fail(err, DJ_INVALID, "loss[%d]: step %d is outside 1..%d", i, t->step, horizon);
    }
  }
  return DJ_OK;
}
