#include "contact/triangles/slip_sum.h"

#include "contact/wrench.h"

// What a twist of a body at its start, or of its rate pose, does to the displacement and the place
// now of the point that is at y at the start and moves there by dy.
static void startMoves(djVec3* displaced, djVec3* moved, const djSlipPair* p, int side, djVec3 y,
                       djVec3 dy) {
  const djMotion* m = &p->motion[side];
  const double* twist = p->by.twist + 6 * side;
  djVec3 label = dy, at_rate;
  if (p->by.start) label = dju_sub3(label, dj_twistField(twist, dju_sub3(y, m->ref)));
  const djVec3 own = dju_mulMtV(m->start->R, label);
  *moved = dju_mulMV(m->now->R, own);
  at_rate = dju_mulMV(m->rate->R, own);
  if (p->by.rate) {
    const djVec3 place = dju_transform(m->rate, dju_untransform(m->start, y));
    at_rate = dju_add3(at_rate, dj_twistField(twist, dju_sub3(place, m->ref)));
  }
  *displaced = dju_sub3(*moved, at_rate);
}

// Rows of (r x F, F) where the arm moves by dr and F by dF; of b the opposite.
static void setRows(double* out, int stride, const djVec3 r[2], djVec3 F, const djVec3 dr[2],
                    djVec3 dF) {
  for (int side = 0; side < 2; side++) {
    djVec3 turn = dju_add3(dju_cross3(dr[side], F), dju_cross3(r[side], dF)), force = dF;
    if (side) {
      turn = dju_neg3(turn);
      force = dju_neg3(force);
    }
    const double row[6] = {turn.x, turn.y, turn.z, force.x, force.y, force.z};
    for (int i = 0; i < 6; i++) out[(6 * side + i) * stride] = row[i];
  }
}

// Along ds, at a given N: d(s/q) = (ds - s (s.ds)/q^2)/q.
static djVec3 turnedSlip(djVec3 s, double q, djVec3 ds) {
  return dju_scale3(1 / q, dju_madd3(ds, -dju_dot3(s, ds) / (q * q), s));
}

static djVec3 tangential(djVec3 u, djVec3 v) { return dju_madd3(v, -dju_dot3(u, v), u); }

void dj_slipAt(djSlipSum* out, const djSlipPair* p, djDual1 N, djDualVec u, djDualVec y) {
  djVec3 r[2], D[2], dr[2], dD[2];
  const djVec3 none = {0, 0, 0};
  for (int side = 0; side < 2; side++) {
    D[side] = dj_displace(&p->motion[side], y.x);
    r[side] = dj_armNow(&p->motion[side], y.x, D[side]);
    startMoves(&dD[side], &dr[side], p, side, y.x, y.d);
  }
  const djVec3 v = dju_scale3(1 / p->h, dju_sub3(D[0], D[1])), s = tangential(u.x, v);
  const double q = sqrt(dju_dot3(s, s) + p->eps);
  const djVec3 unit = dju_scale3(1 / q, s), F = dju_scale3(N.x, unit), still[2] = {none, none};
  out->value = N.x * p->h * q;
  setRows(out->g, 1, r, none, still, F);
  // s = v - u (u.v)
  djVec3 ds = tangential(u.x, dju_scale3(1 / p->h, dju_sub3(dD[0], dD[1])));
  ds = dju_madd3(ds, -dju_dot3(u.x, v), u.d);
  ds = dju_madd3(ds, -dju_dot3(u.d, v), u.x);
  const djVec3 dF = dju_madd3(dju_scale3(N.d, unit), N.x, turnedSlip(s, q, ds));
  setRows(out->change, 1, r, F, dr, dF);
  for (int j = 0; j < 12 && p->second; j++) {
    const int side = j / 6;
    const djVec3 e = {j % 3 == 0, j % 3 == 1, j % 3 == 2};
    djVec3 move[2] = {none, none};
    move[side] = j % 6 < 3 ? dju_cross3(e, r[side]) : e;
    const djVec3 slip = tangential(u.x, dju_scale3(1 / p->h, dju_sub3(move[0], move[1])));
    setRows(out->K + j, 12, r, F, move, dju_scale3(N.x, turnedSlip(s, q, slip)));
  }
}

void dj_scaleSlip(djSlipSum* s, djDual1 by, bool second) {
  s->value *= by.x;
  for (int i = 0; i < 12; i++) {
    s->change[i] = by.x * s->change[i] + by.d * s->g[i];
    s->g[i] *= by.x;
  }
  for (int i = 0; i < 144 && second; i++) s->K[i] *= by.x;
}

void dj_addSlip(djSlipSum* s, const djSlipSum* more, bool second) {
  s->value += more->value;
  for (int i = 0; i < 12; i++) {
    s->change[i] += more->change[i];
    s->g[i] += more->g[i];
  }
  for (int i = 0; i < 144 && second; i++) s->K[i] += more->K[i];
}
