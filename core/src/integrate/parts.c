#include "integrate/parts.h"

#include "base/arena.h"
#include "base/room.h"
#include "base/status.h"
#include "integrate/mocap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- how many ---------------------------------------------------------------------------------

// Bounds of a body's motion: speed of its origin, and of its turning.
typedef struct Speed {
  double origin, turn;
} Speed;

// Of body b on its parent. Wherever joints stand, its origin is no farther from the parent's, and
// from the anchors, than their shifts together.
static Speed speedOf(const djModel* m, const djData* d, int b, Speed parent) {
  int first = m->body_jntadr[b], end = first + m->body_jntnum[b];
  double shift = 0, slide = 0;
  Speed own = {0, parent.turn};
  if (m->body_mocap[b] >= 0) {
    djMocapWay way;
    dj_mocapWay(&way, m, d, b);
    return (Speed){dju_norm3(way.move) / m->opt.timestep, dju_norm3(way.turn) / m->opt.timestep};
  }
  for (int j = first; j < end; j++) {
    const double* v = d->qvel + m->jnt_dofadr[j];
    const djJointRow* row = dj_jointRow(m, j);
    if (row->pose) return (Speed){dju_norm3(dju_load3(v)), dju_norm3(dju_load3(v + 3))};
    shift += fabs(dj_jointSlide(m, j, d->qpos)) + 2 * dju_norm3(dju_load3(m->jnt_pos + 3 * j));
    if (row->quat) {
      own.turn += dju_norm3(dju_load3(v));
    } else {
      own.turn += fabs(row->turn * *v);
      slide += fabs(row->slide * *v);
    }
  }
  double arm = dju_norm3(dju_load3(m->body_pos + 3 * b));
  own.origin = parent.origin + parent.turn * arm + own.turn * shift + slide;
  return own;
}

// The most that geoms' points go in a step: `move`, and `own` as their tree's root sees it.
static bool mayClose(const djModel* m, djContacts* c, double* move, double* own_move,
                     const Speed* speed, const Speed* own) {
  bool any = false;
  for (int b = 0; b < m->nbody; b++) {
    double timestep = m->opt.timestep, reach = m->collision->reach[b];
    move[b] = timestep * (speed[b].origin + speed[b].turn * reach);
    own_move[b] = timestep * (own[b].origin + own[b].turn * reach);
    any = any || move[b] > 0;
  }
  return any && dj_mayImpact(c, m, move, own_move);
}

// Bounds of all bodies. A few operations for each, without kinematics.
static void boundSpeeds(Speed* speed, Speed* own, const djModel* m, const djData* d) {
  const Speed rest = {0, 0};
  for (int b = 0; b < m->nbody; b++) {
    int parent = m->body_parent[b];
    speed[b] = b ? speedOf(m, d, b, speed[parent]) : rest;
    own[b] = b && parent ? speedOf(m, d, b, own[parent]) : rest;
  }
}

// A body's twist about its own origin, from that of its parent about the parent's.
static djSix twistOf(const djModel* m, const djKin* kin, const double* qvel, int b, djSix parent) {
  int first = m->body_jntadr[b], up = m->body_parent[b];
  djVec3 x = kin->body[b].p, w = parent.w;
  djVec3 v = dju_add3(parent.v, dju_cross3(w, dju_sub3(x, kin->body[up].p)));
  for (int j = first; j < first + m->body_jntnum[b]; j++) {
    const djJointRow* row = dj_jointRow(m, j);
    const double* rate = qvel + m->jnt_dofadr[j];
    djVec3 turn = row->quat ? dju_mulMV(kin->frame[j], dju_load3(rate + row->nplain))
                            : dju_scale3(row->turn * *rate, kin->axis[j]);
    if (row->pose) v = dju_add3(v, dju_load3(rate));
    if (!row->quat) v = dju_madd3(v, row->slide * *rate, kin->axis[j]);
    w = dju_add3(w, turn);
    v = dju_add3(v, dju_cross3(turn, dju_sub3(x, kin->anchor[j])));
  }
  return (djSix){w, v};
}

// The same by the speeds at the start, where these are less. Speeds along joints stay what they are in
// a step, and axes turn with what is before them: with bounds W and V of turning and of a point's
// speed, the speed changes by 3 W V at most in a unit of time, and the turning by W^2.
static void measureSpeeds(Speed* speed, Speed* own, const djModel* m, const djKin* kin,
                          const djData* s, djSix* twist) {
  const double half = 0.5 * m->opt.timestep;
  for (int k = 0; k < 2; k++) {
    Speed* bound = k ? own : speed;
    twist[0] = (djSix){{0, 0, 0}, {0, 0, 0}};
    for (int b = 1; b < m->nbody; b++) {
      const bool rests = k && !m->body_parent[b];
      twist[b] = rests ? twist[0] : twistOf(m, kin, s->qvel, b, twist[m->body_parent[b]]);
      Speed* most = &bound[b];
      double turn = dju_norm3(twist[b].w) + half * most->turn * most->turn;
      double origin = dju_norm3(twist[b].v) + 3 * half * most->turn * most->origin;
      *most = (Speed){fmin(most->origin, origin), fmin(most->turn, turn)};
    }
  }
}

// Whether some body may be so fast that a pair closes by more than half its size. Then `begin` and
// the start are set.
static bool isFast(const djModel* m, djData* d, djContacts* c) {
  djWork* w = d->work;
  size_t nb = (size_t)m->nbody;
  Speed *speed = (Speed*)(void*)w->wrench, *own = speed + nb;   // of 6 nbody numbers there
  double *move = w->wrench + 4 * nb, *own_move = move + nb;
  boundSpeeds(speed, own, m, d);
  if (!mayClose(m, c, move, own_move, speed, own)) return false;
  w->stepped = w->linearized = false;
  if (dj_copyStart(m, d) < 0) return false;   // the step will say so
  if (w->carries) return true;
  dj_setPlaceAt(&w->begin, w, m, 0);
  w->opened = true;
  measureSpeeds(speed, own, m, &w->begin.kin, &w->start, (djSix*)(void*)w->N);
  return mayClose(m, c, move, own_move, speed, own);
}

int dj_countParts(const djModel* m, djData* d) {
  djWork* w = d->work;
  djContacts* c = dj_contactsOf(&w->forces);
  w->opened = false;
  if (m->opt.impact_steps < 2 || !c || dj_checkData(m, d) < 0 || !isFast(m, d, c)) return 1;
  const djData* s = &w->start;
  if (w->carries) {
    dj_kinematics(&w->begin.kin, m, s->qpos, s->mocap_last_pos, s->mocap_last_quat);
  }
  dj_integratePos(w->trial.q, m, s->qpos, s->qvel, m->opt.timestep);
  dj_kinematics(&w->trial.kin, m, w->trial.q, s->mocap_pos, s->mocap_quat);
  int n = dj_impactParts(c, m, w->begin.kin.body, w->trial.kin.body, m->opt.impact_steps);
  w->opened = w->opened && n == 1;
  return n;
}

// ---- memory -----------------------------------------------------------------------------------

static bool makeRecords(djWork* w, int n) {
  if (n <= w->maxpart) return true;
  djPart* part = realloc(w->part, ((size_t)n + 1) * sizeof(djPart));
  if (!part) return false;
  int had = w->part ? w->maxpart + 1 : 0;
  memset(part + had, 0, (size_t)(n + 1 - had) * sizeof(djPart));
  w->part = part;
  w->maxpart = n;
  return true;
}

static void layout(djWork* w, djArena* a, int n) {
  for (int k = 0; k <= n; k++) {
    djPart* p = &w->part[k];
    p->start = dj_take(a, w->nstate, 1);
    for (int s = 0; s < w->nstage; s++) p->q[s] = dj_take(a, w->sizes.nq, sizeof(double));
  }
}

// Records 0 to n - 1, and the scratch at maxpart, follow each other.
djStatus dj_beginParts(const djModel* m, djData* d, int n) {
  djWork* w = d->work;
  w->parts_linearized = false;
  if (!makeRecords(w, n)) return dj_failMemory(&w->error);
  djArena a = {NULL, 0};
  layout(w, &a, w->maxpart);
  unsigned char* memory = dj_roomFor(w->part_memory, &w->npart_memory, a.used);
  if (!memory) return dj_failMemory(&w->error);
  w->part_memory = memory;
  a = (djArena){memory, 0};
  layout(w, &a, w->maxpart);
  dj_savePlace(m, d);
  w->parts = n;
  return DJ_OK;
}

void dj_freeParts(djWork* w) {
  for (int k = 0; w->part && k <= w->maxpart; k++) free(w->part[k].linear);
  free(w->part);
  free(w->part_memory);
}

size_t dj_heldParts(const djWork* w) {
  size_t sum = w->npart_memory;
  if (!w->part) return 0;
  for (int k = 0; k <= w->maxpart; k++) sum += sizeof(djPart) + w->part[k].nlinear;
  return sum;
}

// ---- records ----------------------------------------------------------------------------------

// data's arrays of state and inputs are one block, from qpos on.
static void keepPlace(djPart* p, const djModel* m, const djData* d) {
  memcpy(p->start, d->qpos, d->work->nstate);
  p->kept = dj_hasHistory(m, d);
  p->gravity_scale = d->gravity_scale;
}

static void setPlace(djData* d, const djModel* m, const djPart* p) {
  memcpy(d->qpos, p->start, d->work->nstate);
  dj_markHistory(m, d, p->kept);
  memcpy(d->qpos, p->start, d->work->nstate);   // a history that is none is as it was
  d->gravity_scale = p->gravity_scale;
}

// An array of data's, in a record.
static const double* recorded(const djPart* p, const djData* d, const double* array) {
  return (const double*)(const void*)p->start + (array - d->qpos);
}

const double* dj_partQpos(const djPart* p) { return (const double*)(const void*)p->start; }

void dj_movePart(const djModel* m, djData* d, int k) {
  djWork* w = d->work;
  djPart* whole = &w->part[w->maxpart];   // as it was at the start of the step
  size_t n = (size_t)m->nmocap, size = sizeof(double);
  if (n == 0) return;
  djData* s = &w->start;
  memcpy(s->mocap_last_pos, recorded(whole, d, d->mocap_last_pos), 3 * n * size);
  memcpy(s->mocap_last_quat, recorded(whole, d, d->mocap_last_quat), 4 * n * size);
  memcpy(s->mocap_pos, recorded(whole, d, d->mocap_pos), 3 * n * size);
  memcpy(s->mocap_quat, recorded(whole, d, d->mocap_quat), 4 * n * size);
  dj_beginMocap(w, m);
  double part = k + 1 == w->parts ? 1 : (double)(k + 1) / w->parts;
  for (int i = 0; i < m->nmocap; i++) {
    dj_mocapPose(d->mocap_pos + 3 * i, d->mocap_quat + 4 * i, w, i, part);
  }
}

void dj_setPartState(djData* d, const djModel* m, const djPart* p) {
  size_t nh = (size_t)dj_historySize(m), size = sizeof(double);
  memcpy(d->qpos, dj_partQpos(p), (size_t)m->nq * size);
  memcpy(d->qvel, recorded(p, d, d->qvel), (size_t)m->nv * size);
  memcpy(d->act, recorded(p, d, d->act), (size_t)m->na * size);
  memcpy(d->mocap_last_pos, recorded(p, d, d->mocap_last_pos), 3 * (size_t)m->nmocap * size);
  memcpy(d->mocap_last_quat, recorded(p, d, d->mocap_last_quat), 4 * (size_t)m->nmocap * size);
  memcpy(d->mocap_pos, recorded(p, d, d->mocap_pos), 3 * (size_t)m->nmocap * size);
  memcpy(d->mocap_quat, recorded(p, d, d->mocap_quat), 4 * (size_t)m->nmocap * size);
  dj_markHistory(m, d, p->kept);
  memcpy(d->history, recorded(p, d, d->history), nh * size);
}

void dj_savePlace(const djModel* m, djData* d) {
  keepPlace(&d->work->part[d->work->maxpart], m, d);
}

void dj_keepPartStart(const djModel* m, djData* d, int k) { keepPlace(&d->work->part[k], m, d); }

void dj_keepPartEnd(const djModel* m, const djData* d, int k) {
  const djWork* w = d->work;
  djPart* p = &w->part[k];
  p->method = w->method;
  size_t mocap = (size_t)m->nmocap * sizeof(double);   // as the part took it
  memcpy(p->start + (size_t)((char*)d->mocap_last_pos - (char*)d->qpos), w->start.mocap_last_pos,
         3 * mocap);
  memcpy(p->start + (size_t)((char*)d->mocap_last_quat - (char*)d->qpos), w->start.mocap_last_quat,
         4 * mocap);
  for (int s = 0; s < w->method->nstage; s++) {
    memcpy(p->q[s], w->at_stage[s].q, (size_t)m->nq * sizeof(double));
  }
}

void dj_returnToPlace(const djModel* m, djData* d, int n) {
  djWork* w = d->work;
  w->parts = 1;
  w->npart = n;
  setPlace(d, m, &w->part[w->maxpart]);
}

void dj_leaveParts(const djModel* m, djData* d) { dj_returnToPlace(m, d, d->work->npart); }

void dj_endParts(const djModel* m, djData* d) {
  d->work->parts = 1;
  if (dj_historySize(m) > 0) dj_markHistory(m, d, false);
}

// ---- derivatives ------------------------------------------------------------------------------

djStatus dj_openPart(const djModel* m, djData* d, int k) {
  djWork* w = d->work;
  const djPart* p = &w->part[k];
  int last = p->method->nstage - 1;
  const double* psi[DJ_MAX_STAGE];
  setPlace(d, m, p);
  for (int s = 0; s <= last; s++) {
    psi[s] = w->tangent + (size_t)s * m->nv;
    dj_differentiatePos(w->tangent + (size_t)s * m->nv, m, 1, d->qpos, p->q[s]);
  }
  djStatus status = dj_replayStep(m, d, p->method, last, p->q[last], psi);
  if (status < 0) return status;
  for (int s = 0; s <= last; s++) {
    memcpy(w->at_stage[s].q, p->q[s], (size_t)m->nq * sizeof(double));
  }
  dj_differentiatePos(w->at_stage[last].linear.psi, m, 1, w->start.qpos, p->q[last]);
  status = dj_endStep(w, m);
  return status < 0 ? status : DJ_OK;
}

djStatus dj_linearizePart(djLinear* lin, const djModel* m, djData* d, int k) {
  djWork* w = d->work;
  int n = w->npart;
  djStatus status = dj_checkData(m, d);
  if (status < 0) return status;
  if (!w->stepped) {
    return dj_fail(&w->error, DJ_INVALID, "no step has been taken since the state was set");
  }
  dj_savePlace(m, d);
  w->parts = n;
  status = dj_openPart(m, d, k);
  if (status == DJ_OK) status = dj_linearizeStep(lin, m, d);
  if (k == n - 1) lin->keeps = false;   // no history at the end
  dj_returnToPlace(m, d, n);
  return status;
}

static djStatus keepLinear(djWork* w, const djModel* m, const djLinear* lin, int k) {
  djPart* p = &w->part[k];
  size_t need = sizeof *lin + dj_linearSize(m, lin) * sizeof(double);
  djLinear* memory = dj_roomFor(p->linear, &p->nlinear, need);
  if (!memory) return dj_failMemory(&w->error);
  p->linear = memory;
  dj_copyLinear(memory, (double*)(void*)(memory + 1), m, lin);
  return DJ_OK;
}

djStatus dj_linearizeParts(const djModel* m, djData* d) {
  djWork* w = d->work;
  djStatus status = DJ_OK;
  if (w->stepped && w->parts_linearized) return dj_checkData(m, d);
  for (int k = 0; k < w->npart && status == DJ_OK; k++) {
    djLinear lin;
    status = dj_linearizePart(&lin, m, d, k);
    if (status == DJ_OK) status = keepLinear(w, m, &lin, k);
  }
  w->parts_linearized = status == DJ_OK;
  return status;
}
