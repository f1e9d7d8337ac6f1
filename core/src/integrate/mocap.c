#include "integrate/mocap.h"

#include "math/so3.h"

#include <math.h>
#include <string.h>

static const double MOST_SIZES = 2;   // bounding radii that a body goes in a step: more is a jump
static const double MOST_TURN = 1;    // rad

// How far bodies of a tree reach from body b's origin, joints at their reference; infinite where
// none has a shape: nobody feels how such a body moves but by tendons.
static double sizeOf(const djModel* m, int root) {
  double size = 0;
  for (int b = root; b < m->nbody && m->collision; b++) {
    double arm = 0;
    int up = b;
    if (dj_baseBody(m, b) != root || !(m->collision->reach[b] > 0)) continue;
    for (; up != root; up = m->body_parent[up]) arm += dju_norm3(dju_load3(m->body_pos + 3 * up));
    size = fmax(size, arm + m->collision->reach[b]);
  }
  return size > 0 ? size : INFINITY;
}

bool dj_mocapWay(djMocapWay* way, const djModel* m, const djData* d, int b) {
  int k = m->body_mocap[b];
  const double* last = d->mocap_last_quat + 4 * k;
  *way = (djMocapWay){{0, 0, 0}, {0, 0, 0}};
  if (last[0] == 0 && last[1] == 0 && last[2] == 0 && last[3] == 0) return false;
  djVec3 p1 = dju_load3(d->mocap_pos + 3 * k), p0 = dju_load3(d->mocap_last_pos + 3 * k);
  if (!memcmp(last, d->mocap_quat + 4 * k, 4 * sizeof(double)) &&
      !memcmp(d->mocap_pos + 3 * k, d->mocap_last_pos + 3 * k, 3 * sizeof(double))) {
    return true;
  }
  djQuat q1 = dju_normalizeQuat(dju_loadQuat(d->mocap_quat + 4 * k));
  djQuat q0 = dju_normalizeQuat(dju_loadQuat(last));
  djMocapWay found = {dju_sub3(p1, p0), dju_logQuat(dju_mulQuat(q1, dju_conj(q0)))};
  if (dju_norm3(found.turn) > MOST_TURN) return false;
  if (dju_norm3(found.move) > MOST_SIZES * sizeOf(m, b)) return false;
  *way = found;
  return true;
}

static bool isStill(const djMocapWay* w) {
  return dju_dot3(w->move, w->move) + dju_dot3(w->turn, w->turn) == 0;
}

// The present pose of mocap body k becomes its last one.
static void forgetWay(djData* s, int k) {
  memcpy(s->mocap_last_pos + 3 * k, s->mocap_pos + 3 * k, 3 * sizeof(double));
  memcpy(s->mocap_last_quat + 4 * k, s->mocap_quat + 4 * k, 4 * sizeof(double));
}

void dj_beginMocap(djWork* w, const djModel* m) {
  djData* s = &w->start;
  w->carries = w->jams = false;
  w->stage_part = w->carried = 1;
  for (int b = 1; b < m->nbody && m->nmocap > 0; b++) {
    int k = m->body_mocap[b];
    djMocapWay way;
    if (k < 0) continue;
    if (!dj_mocapWay(&way, m, s, b)) forgetWay(s, k);
    w->carries = w->carries || !isStill(&way);
    double *rate = w->mocap_rate + 6 * k, f = w->parts / m->opt.timestep;   // 1/h
    dju_store3(rate, dju_scale3(f, way.turn));
    dju_store3(rate + 3, dju_scale3(f, way.move));
  }
}

void dj_stopMocap(djWork* w, const djModel* m, int b) {
  forgetWay(&w->start, m->body_mocap[b]);
  memset(w->mocap_rate + 6 * m->body_mocap[b], 0, 6 * sizeof(double));
  w->carries = !dju_isZero(w->mocap_rate, 6 * (size_t)m->nmocap);
  w->stage_part = w->carried = 1;
}

double dj_baseSpeed(const djWork* w, const djModel* m, int b) {
  int base = dj_baseBody(m, b), k = w->carries ? m->body_mocap[base] : -1;
  if (k < 0) return 0;
  double turn = dju_norm3(dju_load3(w->mocap_rate + 6 * k)), size = 0;
  if (turn > 0) size = sizeOf(m, base);
  return dju_norm3(dju_load3(w->mocap_rate + 6 * k + 3)) + (isfinite(size) ? turn * size : 0);
}

void dj_mocapPose(double* pos, double* quat, const djWork* w, int k, double part) {
  const djData* s = &w->start;
  const double *p0 = s->mocap_last_pos + 3 * k, *p1 = s->mocap_pos + 3 * k;
  const double *q0 = s->mocap_last_quat + 4 * k, *q1 = s->mocap_quat + 4 * k;
  memcpy(pos, part == 0 ? p0 : p1, 3 * sizeof(double));
  memcpy(quat, part == 0 ? q0 : q1, 4 * sizeof(double));
  if (part == 0 || part == 1) return;
  for (int i = 0; i < 3; i++) pos[i] = p0[i] + part * (p1[i] - p0[i]);
  djQuat from = dju_normalizeQuat(dju_loadQuat(q0)), to = dju_normalizeQuat(dju_loadQuat(q1));
  djVec3 turn = dju_logQuat(dju_mulQuat(to, dju_conj(from)));
  dju_storeQuat(quat, dju_mulQuat(dju_expQuat(dju_scale3(part, turn)), from));
}

void dj_setPlaceAt(djPlace* p, djWork* w, const djModel* m, double part) {
  double *pos = w->mocap_scratch, *quat = pos + 3 * m->nmocap;
  if (!w->carries) {
    dj_setPlace(p, m, w->start.mocap_pos, w->start.mocap_quat);
    return;
  }
  for (int k = 0; k < m->nmocap; k++) dj_mocapPose(pos + 3 * k, quat + 4 * k, w, k, part);
  dj_setPlace(p, m, pos, quat);
}

void dj_setMocapStage(djWork* w, const djModel* m, double stage_h) {
  if (!w->carries) return;
  bool prompt = w->method && w->method->prompt;
  double end = prompt ? w->coef.time[w->stage] : stage_h;
  w->stage_part = end == w->h ? 1 : end / w->h;
  w->rate_part = end == stage_h ? 0 : (end - stage_h) / w->h;
  dj_setPlaceAt(&w->from, w, m, 0);
}

djSix dj_mocapTwist(const djWork* w, const djModel* m, int b, const djKin* kin) {
  int base = dj_baseBody(m, b), k = w->carries ? m->body_mocap[base] : -1;
  if (k < 0) return (djSix){{0, 0, 0}, {0, 0, 0}};
  djVec3 turn = dju_load3(w->mocap_rate + 6 * k), move = dju_load3(w->mocap_rate + 6 * k + 3);
  djVec3 arm = dju_sub3(w->ref[b], kin->body[base].p);
  return (djSix){turn, dju_add3(move, dju_cross3(turn, arm))};
}
