// Forces by where the step began, which early normals follow: n turns by
//   dn = dn/dx (v + w x (c - ref)) of the points' body,  -that + w x n  of the field's,
// with c and dn/dx of the start; F by F_n dn (damped_sum.c), x by -r dn.

#include "contact/penalty/penalty_pair.h"

#include <string.h>

typedef struct Start {
  const djPenaltyPair* pair;
  double* jac; // (12 x 12)
} Start;

// Adds what dn makes of the gradient to column `at`.
static void addColumn(const Start* s, const djPenaltyWay* way, const djPointForce* p,
                      const djPenaltyLaw* law, djVec3 dn, int at) {
  const djVec3 dx = dju_scale3(-p->radius, dn);
  const djVec3 dF = dj_pointChanges(p, law, dn, 0, dju_cross3(p->w, dx));
  const djVec3 ref[2] = {s->pair->in->ref_a, s->pair->in->ref_b};
  for (int body = 0; body < 2; body++) {
    const djVec3 torque = dju_add3(dju_cross3(dju_sub3(p->x, ref[body]), dF), dju_cross3(dx, p->F));
    const double sign = body == way->points_of_b ? -1 : 1;
    const double row[6] = {torque.x, torque.y, torque.z, dF.x, dF.y, dF.z};
    for (int i = 0; i < 6; i++) s->jac[12 * (6 * body + i) + at] += sign * row[i];
  }
}

static void addPoint(void* user, const djPenaltyWay* way, int i, const double x[3],
                     const djFieldAt* at) {
  const Start* s = user;
  const djPenaltyWay* then = dj_startOf(s->pair, way);
  const djPenaltyLaw law = s->pair->model->law(s->pair, way);
  djPointForce p;
  djFieldAt field;
  double place[3];
  (void)x;
  dj_findPoint(&p, s->pair, way, i, at);
  if (p.state == DJ_POINT_FREE) return;
  dj_fieldAtPoint(&field, place, then, i);
  const djMat3 turn = dj_normalTurn(then, &field);
  const djVec3 c = dju_transform(&then->place, dju_load3(then->from.point + 3 * i));
  for (int k = 0; k < 12; k++) {
    const bool of_b = k >= 6, moves = of_b == then->points_of_b;
    const djVec3 e = {k % 3 == 0, k % 3 == 1, k % 3 == 2};
    const djVec3 arm = dju_sub3(c, of_b ? s->pair->in->ref_b : s->pair->in->ref_a);
    const djVec3 dc = k % 6 < 3 ? dju_cross3(e, arm) : e;
    djVec3 dn = dju_scale3(moves ? 1 : -1, dju_mulMV(turn, dc));
    if (!moves && k % 6 < 3) dn = dju_add3(dn, dju_cross3(e, p.n));
    addColumn(s, way, &p, &law, dn, k);
  }
}

void dj_pointsByStart(double start_jac[144], const djPenaltyPair* pair) {
  Start s = {pair, start_jac};
  memset(start_jac, 0, 144 * sizeof *start_jac);
  if (!pair->early || pair->held) return;
  for (int k = 0; k < pair->nway; k++) dj_visitPair(pair, &pair->way[k], addPoint, &s);
}
