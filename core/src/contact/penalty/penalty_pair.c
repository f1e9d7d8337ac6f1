#include "contact/penalty/penalty_pair.h"

#include "contact/wrench.h"

#include <math.h>

static bool isFinitePose(const djPose* T) {
  double sum = T->p.x + T->p.y + T->p.z;
  for (int k = 0; k < 9; k++) sum += T->R.m[k];
  return isfinite(sum);
}

static bool isFinite(const double* x, int n) {
  double sum = 0;
  for (int k = 0; k < n; k++) sum += x[k];
  return isfinite(sum);
}

static bool isShape(const djShape* s) {
  return s && s->fit && (s->type == DJ_PLANE || (s->nvert > 0 && s->npad >= s->nvert));
}

static bool isGood(const djPairInput* in) {
  if (!in || !isShape(in->a) || !isShape(in->b) || !in->pose_a || !in->pose_b) return false;
  if (!in->setting || !in->twist_a || !in->twist_b) return false;
  if (!isFinite(in->twist_a, 6) || !isFinite(in->twist_b, 6)) return false;
  return isfinite(in->inflate) && in->friction >= 0 && isFinitePose(in->pose_a) &&
         isFinitePose(in->pose_b);
}

djStatus dj_openPenaltyPair(djPenaltyPair* out, const djPairInput* in) {
  if (!isGood(in)) return DJ_INVALID;
  out->in = in;
  out->nway = dj_penaltyWays(out->way, in->a, in->b, in->pose_a, in->pose_b, in->inflate);
  return DJ_OK;
}

djPenaltyLaw dj_penaltyLaw(const djPenaltyPair* pair, const djPenaltyWay* way) {
  const double *x = pair->in->setting, s = x[DJ_PENALTY_SCALE] * way->share;
  return (djPenaltyLaw){s * x[DJ_PENALTY_KN], s * x[DJ_PENALTY_KT], s * x[DJ_PENALTY_KD],
                        pair->in->friction};
}

void dj_findPoint(djPointForce* out, djFieldAt* at, double x[3], const djPenaltyPair* pair,
                  const djPenaltyWay* w, int i) {
  const djPairInput* in = pair->in;
  const djVec3 point = dju_load3(w->from.point + 3 * i);
  const djPenaltyLaw law = dj_penaltyLaw(pair, w);
  const djMat3 R = w->field.R;
  djFieldAt own;
  double place[3];
  if (!at) at = &own;
  if (!x) x = place;
  dju_store3(x, dju_transform(&w->local, point));
  dj_fieldAt(at, &w->in.field, x);
  djMat3 turn;
  for (int k = 0; k < 9; k++) turn.m[k] = at->turn[k];
  out->c = dju_transform(&w->place, point);
  out->n = dju_mulMV(R, dju_load3(at->normal));
  out->gradient = dju_mulMV(R, dju_load3(at->gradient));
  const djMat3 half = dju_mulMM(R, turn), back = {{R.m[0], R.m[3], R.m[6], R.m[1], R.m[4],
                                                   R.m[7], R.m[2], R.m[5], R.m[8]}};
  out->turn = dju_mulMM(half, back);
  out->radius = w->from.radius;
  out->d = at->distance - w->from.radius - w->inflate;
  const bool b = w->points_of_b;
  dj_pointForce(out, &law, b ? in->twist_b : in->twist_a, b ? in->ref_b : in->ref_a,
                b ? in->twist_a : in->twist_b, b ? in->ref_a : in->ref_b);
}

// What changes as the pose of one body moves along one twist: the point's, or the field's.
static void poseChange(djVec3* dx, djVec3* dF, const djPointForce* p, const djPenaltyLaw* law,
                       const double* twist, djVec3 ref, bool field) {
  const djVec3 at = dj_twistField(twist, dju_sub3(p->c, ref));
  const djVec3 apart = field ? dju_neg3(at) : at;
  djVec3 dn = dju_mulMV(p->turn, apart);
  if (field) dn = dju_add3(dn, dju_cross3(dju_load3(twist), p->n));
  *dx = dju_scale3(-p->radius, dn);
  if (!field) *dx = dju_add3(*dx, at);
  *dF = dj_pointChanges(p, law, dn, dju_dot3(p->gradient, apart), dju_cross3(p->w, *dx));
}

void dj_addPoint(double gradient[12], double* by_pose, double* by_twist, const djPenaltyPair* pair,
                 const djPenaltyWay* w, const djPointForce* p) {
  const djVec3 ref[2] = {pair->in->ref_a, pair->in->ref_b}, none = {0, 0, 0};
  const djPenaltyLaw law = dj_penaltyLaw(pair, w);
  const double sign = w->points_of_b ? -1 : 1;   // of the force on a
  const djVec3 F = dju_scale3(sign, p->F);
  dj_addForce(gradient, 1, p->x, ref, F);
  for (int j = 0; j < 12 && (by_pose || by_twist); j++) {
    double e[6] = {0};
    const bool field = (j >= 6) != w->points_of_b;
    e[j % 6] = 1;
    if (by_pose) {
      djVec3 dx, dF;
      poseChange(&dx, &dF, p, &law, e, ref[j / 6], field);
      dj_addForce(by_pose + j, 12, p->x, ref, dju_scale3(sign, dF));
      double turn[3];   // the arms change, too
      dju_store3(turn, dju_cross3(dx, F));
      for (int i = 0; i < 3; i++) {
        by_pose[12 * i + j] -= turn[i];
        by_pose[12 * (6 + i) + j] += turn[i];
      }
    }
    if (!by_twist) continue;
    const djVec3 u = dj_twistField(e, dju_sub3(p->x, ref[j / 6]));
    const djVec3 dF = dj_pointChanges(p, &law, none, 0, field ? dju_neg3(u) : u);
    dj_addForce(by_twist + j, 12, p->x, ref, dju_scale3(sign, dF));
  }
}

// ------------------------------------------ parameters -----------------------------------------

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
  double distance[3], normal[9];
  const djVec3 by_n = dju_mulMtV(R, by->n);
  dj_fieldSizes(distance, normal, &w->in.field, x, at);
  const double n[3] = {by_n.x, by_n.y, by_n.z};
  for (int k = 0; k < 3; k++) {
    double sum = by->d * distance[k];
    for (int i = 0; i < 3; i++) sum += n[i] * normal[3 * i + k];
    grad->number[DJ_PENALTY_BY_SIZE + k] += sum;
  }
  double* vert = grad->number + DJ_PENALTY_BY_POINT + 3 * w->in.npoint;
  dj_fieldVertices(vert, &w->in.field, x, by->d, n);
  // by d and n as c moves against the field, which leaves x where it is
  const djVec3 apart = dju_add3(dju_scale3(by->d, p->gradient), dju_mulMtV(p->turn, by->n));
  const djVec3 arm = dju_sub3(p->c, w->field.p);
  const djVec3 turn = dju_sub3(dju_cross3(p->n, by->n), dju_cross3(arm, apart));
  grad->origin = dju_add3(grad->origin, dju_mulMtV(body->R, dju_neg3(apart)));
  grad->turn = dju_add3(grad->turn, dju_mulMtV(body->R, turn));
}

// lambda . gradient is F . V(x), V the twist field of lambda of the one body against the other.
static void pointGrad(void* user, const djPenaltyWay* w, int i) {
  const Backward* back = user;
  const djPairInput* in = back->pair->in;
  djPointForce p;
  djFieldAt at;
  djPointGrad by;
  double x[3];
  dj_findPoint(&p, &at, x, back->pair, w, i);
  if (p.state == DJ_POINT_FREE) return;
  const double* lambda = back->lambda;
  const double sign = w->points_of_b ? -1 : 1;
  const djVec3 V = dju_scale3(sign, dju_sub3(dj_twistField(lambda + 6, dju_sub3(p.x, in->ref_b)),
                                             dj_twistField(lambda, dju_sub3(p.x, in->ref_a))));
  const djVec3 turn = dju_scale3(sign, dju_sub3(dju_load3(lambda + 6), dju_load3(lambda)));
  const djPenaltyLaw law = dj_penaltyLaw(back->pair, w);
  dj_pointVjp(&by, &p, &law, V, dju_cross3(p.F, turn));
  djPairGrad* grad = back->grad;
  djShapeGrad* from = w->points_of_b ? grad->b : grad->a;
  djShapeGrad* field = w->points_of_b ? grad->a : grad->b;
  const djPose* field_body = w->points_of_b ? in->pose_a : in->pose_b;
  addNumbers(from->number, DJ_PENALTY_BY_POINT + 3 * (int)w->from.id[i], 1,
             dju_mulMtV(w->place.R, by.c));
  if (w->from.radius > 0) from->number[DJ_PENALTY_BY_SIZE] += by.radius;
  fieldGrad(field, w, &p, &by, field_body, &at, x);
  const double *set = in->setting, s = set[DJ_PENALTY_SCALE] * w->share;
  const double by_s = by.law.kn * set[DJ_PENALTY_KN] + by.law.kt * set[DJ_PENALTY_KT] +
                      by.law.kd * set[DJ_PENALTY_KD];
  grad->setting[DJ_PENALTY_KN] += s * by.law.kn;
  grad->setting[DJ_PENALTY_KT] += s * by.law.kt;
  grad->setting[DJ_PENALTY_KD] += s * by.law.kd;
  grad->setting[DJ_PENALTY_SCALE] += w->share * by_s;
  from->number[DJ_PENALTY_BY_SCALE] += w->part * set[DJ_PENALTY_SCALE] * by_s;
  grad->friction += by.law.mu;
}

void dj_addWayVjp(djPairGrad* grad, const djPenaltyPair* pair, const djPenaltyWay* way,
                  const double lambda[12]) {
  Backward back = {pair, grad, lambda};
  dj_visitPoints(way, pointGrad, &back);
}
