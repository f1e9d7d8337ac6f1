// The table of losses: one row each, with what it measures and the derivative of that.

#include "gradient/loss_row.h"
#include "math/so3.h"
#include "model/frame_param.h"
#include "model/param.h"

#include <string.h>

// ---- quantities -------------------------------------------------------------------------------

// Body that carries a point, and the point.
static djVec3 placeOf(int* body, const djLossAt* at, djObject object, int id) {
  const djModel* m = at->m;
  djVec3 local = {0, 0, 0};
  *body = id;
  if (object == DJ_OBJ_SITE) {
    *body = m->site_body[id];
    local = dju_load3(m->site_pos + 3 * id);
  } else if (object == DJ_OBJ_GEOM) {
    *body = m->geom_body[id];
    local = dju_load3(m->geom_pos + 3 * id);
  }
  return dju_transform(&at->w->kin.body[*body], local);
}

static djVec3 pointOf(int* body, const djLossAt* at) {
  return placeOf(body, at, at->t->object, at->t->id);
}

// Of `distance`: from the second point to the first, and the bodies that carry them.
static djVec3 apart(int body[2], djVec3 point[2], const djLossAt* at) {
  point[0] = pointOf(&body[0], at);
  point[1] = placeOf(&body[1], at, at->t->object2, at->t->id2);
  return dju_sub3(point[0], point[1]);
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

static djVec3 position(djVec3* target, const djLossAt* at) {
  int body;
  *target = dju_load3(at->t->target);
  return pointOf(&body, at);
}

static djVec3 orientation(djVec3* target, const djLossAt* at) {
  *target = (djVec3){0, 0, 0};
  return rotationError(at->w, at->t);
}

static djVec3 velocity(djVec3* target, const djLossAt* at) {
  *target = dju_load3(at->t->target);
  return originVelocity(at->w, at->m, at->t->id, at->qvel);
}

static djVec3 com(djVec3* target, const djLossAt* at) {
  double mass;
  *target = dju_load3(at->t->target);
  return massCentre(&mass, at->w, at->m, at->t->id);
}

// Of `relative`: from the second centre to the first.
static djVec3 centres(djVec3* target, const djLossAt* at) {
  double mass;
  *target = dju_load3(at->t->target);
  djVec3 a = massCentre(&mass, at->w, at->m, at->t->id);
  return dju_sub3(a, massCentre(&mass, at->w, at->m, at->t->id2));
}

static double distance(const djLossAt* at) {
  int body[2];
  djVec3 point[2];
  return dju_norm3(apart(body, point, at));
}

// Is there a joint to be subtracted?
static bool hasOther(const djLossTerm* t) { return t->object2 == DJ_OBJ_JOINT; }

static double jointQpos(const djLossAt* at) {
  const int* adr = at->m->jnt_qposadr;
  double q = at->qpos[adr[at->t->id]];
  return hasOther(at->t) ? q - at->qpos[adr[at->t->id2]] : q;
}
static double jointQvel(const djLossAt* at) { return at->qvel[at->m->jnt_dofadr[at->t->id]]; }

// ---- forces -----------------------------------------------------------------------------------

static void addForce(djLossWork* w, int body, djVec3 point, djVec3 f) {
  double* g = w->wrench + 6 * body;
  djVec3 torque = dju_cross3(dju_sub3(point, w->ref[body]), f);
  dju_addTo3(g, 1, torque);
  dju_addTo3(g + 3, 1, f);
}

// f: derivative by the rotation error phi. A world rotation w changes it by J_r^-1 R^T w, and
// J_r^-T leaves phi, to which f is parallel, as it is.
static void addTurn(djLossWork* w, int body, djVec3 f) {
  double* g = w->wrench + 6 * body;
  dju_addTo3(g, 1, dju_mulMV(w->kin.body[body].R, f));
}

static void pushPoint(const djLossAt* at, djVec3 f) {
  int body;
  djVec3 point = pointOf(&body, at);
  addForce(at->w, body, point, f);
}

static void pushTurn(const djLossAt* at, djVec3 f) { addTurn(at->w, at->t->id, f); }

static void pushOrigin(const djLossAt* at, djVec3 f) {
  addForce(at->w, at->t->id, at->w->kin.body[at->t->id].p, f);
}

static void pushSubtree(const djLossAt* at, int root, djVec3 f) {
  const djModel* m = at->m;
  double mass;
  massCentre(&mass, at->w, m, root);
  for (int b = 1; b < m->nbody; b++) {
    if (!inSubtree(m, b, root)) continue;
    addForce(at->w, b, at->w->kin.com[b], dju_scale3(m->body_mass[b] / mass, f));
  }
}

static void pushMasses(const djLossAt* at, djVec3 f) { pushSubtree(at, at->t->id, f); }

static void pushCentres(const djLossAt* at, djVec3 f) {
  pushSubtree(at, at->t->id, f);
  pushSubtree(at, at->t->id2, dju_neg3(f));
}

// Along the line between the points; zero where they meet, which has no direction: a subgradient.
static djVec3 alongLine(int body[2], djVec3 point[2], const djLossAt* at, double f) {
  djVec3 x = apart(body, point, at);
  double d = dju_norm3(x);
  return d > 0 ? dju_scale3(f / d, x) : (djVec3){0, 0, 0};
}

static void pushApart(const djLossAt* at, djVec3 f) {
  int body[2];
  djVec3 point[2], along = alongLine(body, point, at, f.x);
  addForce(at->w, body[0], point[0], along);
  addForce(at->w, body[1], point[1], dju_neg3(along));
}

// ---- derivatives by state beside them ----------------------------------------------------------

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

static void stateVelocity(double* dq, double* dv, const djLossAt* at, djVec3 f) {
  (void)dv;
  velocityGradient(dq, at->w, at->m, at->t->id, at->qvel, f);
}

static void stateQpos(double* dq, double* dv, const djLossAt* at, djVec3 f) {
  (void)dv;
  const int* adr = at->m->jnt_dofadr;
  dq[adr[at->t->id]] += f.x;
  if (hasOther(at->t)) dq[adr[at->t->id2]] -= f.x;
}

static void stateQvel(double* dq, double* dv, const djLossAt* at, djVec3 f) {
  (void)dq;
  dv[at->m->jnt_dofadr[at->t->id]] += f.x;
}

// ---- derivatives by parameters beside them -----------------------------------------------------

// A point of a site or geom, by its place in the body.
static void paramsPlace(double* param, const djLossAt* at, djObject object, int id, djVec3 f) {
  if (object != DJ_OBJ_SITE && object != DJ_OBJ_GEOM) return;
  int body;
  placeOf(&body, at, object, id);
  djField field = object == DJ_OBJ_SITE ? DJ_FIELD_SITE_POS : DJ_FIELD_GEOM_POS;
  double* g = dj_paramEntry(param, at->m, field, id);
  dju_addTo3(g, 1, dju_mulMtV(at->w->kin.body[body].R, f));
}

static void paramsPoint(double* param, const djLossAt* at, djVec3 f, double* scratch) {
  (void)scratch;
  paramsPlace(param, at, at->t->object, at->t->id, f);
}

static void paramsApart(double* param, const djLossAt* at, djVec3 f, double* scratch) {
  (void)scratch;
  int body[2];
  djVec3 point[2], along = alongLine(body, point, at, f.x);
  paramsPlace(param, at, at->t->object, at->t->id, along);
  paramsPlace(param, at, at->t->object2, at->t->id2, dju_neg3(along));
}

// d com = sum (c_b - com) dm_b/M + m_b R dipos/M
static void paramsSubtree(double* param, const djLossAt* at, int root, djVec3 f) {
  const djModel* m = at->m;
  const djLossWork* w = at->w;
  double total, *mass = dj_paramBlock(param, m, DJ_FIELD_BODY_MASS);
  double* ipos = dj_paramBlock(param, m, DJ_FIELD_BODY_IPOS);
  djVec3 centre = massCentre(&total, w, m, root);
  for (int b = 1; b < m->nbody; b++) {
    if (!inSubtree(m, b, root)) continue;
    mass[b] += dju_dot3(f, dju_sub3(w->kin.com[b], centre)) / total;
    djVec3 g = dju_scale3(m->body_mass[b] / total, f);
    g = dju_mulMtV(w->kin.body[b].R, g);
    dju_addTo3(ipos + 3 * b, 1, g);
  }
}

static void paramsMasses(double* param, const djLossAt* at, djVec3 f, double* scratch) {
  (void)scratch;
  paramsSubtree(param, at, at->t->id, f);
}

static void paramsCentres(double* param, const djLossAt* at, djVec3 f, double* scratch) {
  (void)scratch;
  paramsSubtree(param, at, at->t->id, f);
  paramsSubtree(param, at, at->t->id2, dju_neg3(f));
}

// The velocity of a point p of body b along f is D_v (f . p): a second derivative of psi = f . p,
// whose nested second derivative takes twists to f . (w1 x (w2 x rho + v2)).
static void paramsVelocity(double* param, const djLossAt* at, djVec3 f, double* scratch) {
  djLossWork* w = at->w;
  const djModel* m = at->m;
  const djConfig config = {&w->kin, at->qpos, w->ref, w->wants};
  const double* qvel = at->qvel;
  int body = at->t->id;
  double *x = scratch, *C = scratch + 6 * (size_t)m->nbody;
  dj_bodyTwists(x, m, &w->kin, qvel);
  memset(C, 0, (size_t)m->nbody * 6 * sizeof(double));
  djVec3 p = w->kin.body[body].p, rho = dju_sub3(p, w->ref[body]);
  djVec3 u = dju_add3(dju_cross3(dju_load3(x + 6 * body), rho), dju_load3(x + 6 * body + 3));
  dju_store3(C + 6 * body, dju_cross3(u, f));
  dj_gatherCotangents(C, m, w->ref);
  dj_gatherCotangents(w->wrench, m, w->ref);
  dj_frameParamsSecond(param, m, &config, C, w->wrench, x, qvel);
}

// ---- the table --------------------------------------------------------------------------------

#define ELEMENT(name, kind, needed, without) \
  {name, DJ_HOLDS_ELEMENT, 0, kind, needed, "", without}
#define BODY ELEMENT("body", DJ_OBJ_BODY, true, "")
#define JOINT ELEMENT("joint", DJ_OBJ_JOINT, true, "")
#define TARGET(n, unit) {"target", DJ_HOLDS_NUMBERS, n, DJ_NOBJ, true, unit, ""}
#define TARGET_OR(n, unit, standard) {"target", DJ_HOLDS_NUMBERS, n, DJ_NOBJ, false, unit, standard}
#define KEYS(...) (const djKey[]){__VA_ARGS__, {0}}

const djLossRow dj_lossRows[DJ_NLOSS] = {
    [DJ_LOSS_POSITION] = {
        {"position", "m^2",
         "|p - target|^2 of a point, or of those of its coordinates that `index` lists; of a body "
         "its frame's origin",
         KEYS(BODY, ELEMENT("site", DJ_OBJ_SITE, true, ""), ELEMENT("geom", DJ_OBJ_GEOM, true, ""),
              TARGET(3, "m"), {"index", DJ_HOLDS_NUMBERS, 0, DJ_NOBJ, false, "", "all"})},
        .vector = position, .push = pushPoint, .params = paramsPoint},
    [DJ_LOSS_ORIENTATION] = {
        {"orientation", "rad^2", "the square of the angle to the target, a quaternion",
         KEYS(BODY, TARGET(4, ""))},
        .quaternion = true, .vector = orientation, .push = pushTurn},
    [DJ_LOSS_VELOCITY] = {
        {"velocity", "m^2/s^2", "|v - target|^2 of the origin of a body's frame",
         KEYS(BODY, TARGET_OR(3, "m/s", "0"))},
        .of_velocity = true, .vector = velocity, .push = pushOrigin, .state = stateVelocity,
        .params = paramsVelocity},
    [DJ_LOSS_COM] = {
        {"com", "m^2", "|c - target|^2 of the centre of mass of the subtree of a body",
         KEYS(ELEMENT("body", DJ_OBJ_BODY, false, "everything"), TARGET(3, "m"))},
        .vector = com, .push = pushMasses, .params = paramsMasses},
    [DJ_LOSS_DISTANCE] = {
        {"distance", "m^2",
         "(d - target)^2, d being the distance of two points; of bodies their frames' origins",
         KEYS(BODY, ELEMENT("site", DJ_OBJ_SITE, true, ""), ELEMENT("geom", DJ_OBJ_GEOM, true, ""),
              ELEMENT("body2", DJ_OBJ_BODY, true, ""), ELEMENT("site2", DJ_OBJ_SITE, true, ""),
              ELEMENT("geom2", DJ_OBJ_GEOM, true, ""), TARGET_OR(1, "m", "0"))},
        .number = distance, .push = pushApart, .params = paramsApart},
    [DJ_LOSS_QPOS] = {
        {"qpos", "m^2 or rad^2",
         "(q - target)^2 of a hinge or slide, or of how much it is ahead of `joint2`",
         KEYS(JOINT, ELEMENT("joint2", DJ_OBJ_JOINT, false, "none"), TARGET(1, "m or rad"))},
        .number = jointQpos, .state = stateQpos},
    [DJ_LOSS_QVEL] = {
        {"qvel", "m^2/s^2 or rad^2/s^2", "(q' - target)^2 of a hinge or slide",
         KEYS(JOINT, TARGET_OR(1, "m/s or rad/s", "0"))},
        .number = jointQvel, .state = stateQvel},
    [DJ_LOSS_EFFORT] = {   // rollouts take it: it is of the controls, not of a state
        {"effort", "", "|ctrl|^2", KEYS({0})}, .when = DJ_WHEN_RUNNING},
    [DJ_LOSS_RELATIVE] = {
        {"relative", "m^2",
         "|c - c0|^2, c being from the centre of mass of the subtree of `body2` to that of `body`, "
         "and c0 what c is at the start, or at the step `from` of `when`",
         KEYS(BODY, ELEMENT("body2", DJ_OBJ_BODY, true, ""))},
        .relative = true, .vector = centres, .push = pushCentres, .params = paramsCentres},
};

const djEntry* dj_lossEntry(int i) {
  return i >= 0 && i < DJ_NLOSS ? &dj_lossRows[i].entry : NULL;
}
