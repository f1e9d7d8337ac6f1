// Derivatives of the forces at points by parameters.

#include "contact/penalty/penalty_pair.h"
#include "contact/wrench.h"

typedef struct Backward {
  const djPenaltyPair* pair;
  djPairGrad* grad;
  const double* lambda;
} Backward;

static void addNumbers(double* number, int at, double f, djVec3 by) {
  dju_addTo3(number + at, f, by);
}

// The field's sizes, and its frame, which moves as its body would: with c held, c moves against it.
static void fieldGrad(djShapeGrad* grad, const djPenaltyWay* w, const djPointForce* p,
                      const djPointGrad* by, const djPose* body, const djFieldAt* at,
                      const double x[3]) {
  const djMat3 R = w->field.R;
  double distance[3], normal[9], by_d = by->d;
  djVec3 by_n = dju_mulMtV(R, by->n);
  djFieldAt outward = *at;
  if (w->in.inside) { // derivatives by the geom are those of its own field
    dj_fieldAt(&outward, &w->in.field, x);
    by_d = -by_d;
    by_n = dju_neg3(by_n);
  }
  dj_fieldSizes(distance, normal, &w->in.field, x, &outward);
  const double n[3] = {by_n.x, by_n.y, by_n.z};
  for (int k = 0; k < 3; k++) {
    double sum = by_d * distance[k];
    for (int i = 0; i < 3; i++) sum += n[i] * normal[3 * i + k];
    grad->number[DJ_PENALTY_BY_SIZE + k] += sum;
  }
  double* vert = grad->number + DJ_PENALTY_BY_POINT + 3 * w->in.npoint;
  dj_fieldVertices(vert, &w->in.field, x, by_d, n);
  // by d and n as c moves against the field, which leaves x where it is
  const djVec3 apart = dju_add3(dju_scale3(by->d, p->gradient), dju_mulMtV(p->turn, by->n));
  const djVec3 arm = dju_sub3(p->c, w->field.p);
  const djVec3 turn = dju_sub3(dju_cross3(p->n, by->n), dju_cross3(arm, apart));
  grad->origin = dju_add3(grad->origin, dju_mulMtV(body->R, dju_neg3(apart)));
  grad->turn = dju_add3(grad->turn, dju_mulMtV(body->R, turn));
}

// Of a point that early normals are of: they are all that depends on it.
static void earlyGrad(djPairGrad* grad, const djPenaltyPair* pair, const djPenaltyWay* way, int i,
                      const djPointForce* p, djVec3 by_n) {
  const djPenaltyWay* w = dj_startOf(pair, way);
  const djPose* field_body = w->points_of_b ? pair->in->start_a : pair->in->start_b;
  const djPointGrad by = {.n = by_n};
  djPointForce then = {.n = p->n};
  double x[3];
  djFieldAt at;
  dj_fieldAtPoint(&at, x, w, i);
  then.turn = dj_normalTurn(w, &at);
  then.c = dju_transform(&w->place, dju_load3(w->from.point + 3 * i));
  addNumbers((w->points_of_b ? grad->b : grad->a)->number,
             DJ_PENALTY_BY_POINT + 3 * (int)w->from.id[i], 1,
             dju_mulMtV(w->place.R, dju_mulMtV(then.turn, by_n)));
  fieldGrad(w->points_of_b ? grad->a : grad->b, w, &then, &by, field_body, &at, x);
}

// lambda . gradient is F . V(x), V the twist field of lambda of the one body against the other.
static void pointGrad(void* user, const djPenaltyWay* w, int i, const double x[3],
                      const djFieldAt* at) {
  const Backward* back = user;
  const djPairInput* in = back->pair->in;
  djPointForce p;
  djPointGrad by;
  dj_findPoint(&p, back->pair, w, i, at);
  if (p.state == DJ_POINT_FREE) return;
  const double* lambda = back->lambda;
  const double sign = w->points_of_b ? -1 : 1;
  const djVec3 V = dju_scale3(sign, dju_sub3(dj_twistField(lambda + 6, dju_sub3(p.x, in->ref_b)),
                                             dj_twistField(lambda, dju_sub3(p.x, in->ref_a))));
  const djVec3 turn = dju_scale3(sign, dju_sub3(dju_load3(lambda + 6), dju_load3(lambda)));
  const djPenaltyLaw law = back->pair->model->law(back->pair, w);
  p.held = back->pair->held;
  dj_pointVjp(&by, &p, &law, V, dju_cross3(p.F, turn));
  djPairGrad* grad = back->grad;
  if (back->pair->early) {
    earlyGrad(grad, back->pair, w, i, &p, by.n);
    by.n = dju_vec3(0, 0, 0);
  }
  djShapeGrad* from = w->points_of_b ? grad->b : grad->a;
  djShapeGrad* field = w->points_of_b ? grad->a : grad->b;
  const djPose* field_body = w->points_of_b ? in->pose_a : in->pose_b;
  addNumbers(from->number, DJ_PENALTY_BY_POINT + 3 * (int)w->from.id[i], 1,
             dju_mulMtV(w->place.R, by.c));
  if (w->from.radius > 0) from->number[DJ_PENALTY_BY_SIZE] += by.radius;
  fieldGrad(field, w, &p, &by, field_body, at, x);
  back->pair->model->settings(grad, &from->number[DJ_PENALTY_BY_SCALE], back->pair, w, &by);
  grad->friction += by.law.mu;
}

void dj_addWayVjp(djPairGrad* grad, const djPenaltyPair* pair, const djPenaltyWay* way,
                  const double lambda[12]) {
  Backward back = {pair, grad, lambda};
  dj_visitPair(pair, way, pointGrad, &back);
}
