#include "contact/penalty/penalty_pair.h"

#include "contact/wrench.h"
#include "math/block6.h"

#include <math.h>
#include <string.h>

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

djStatus dj_openPenaltyPair(djPenaltyPair* out, const djPairInput* in, const djPointModel* model) {
  if (!isGood(in)) return DJ_INVALID;
  out->in = in;
  out->model = model;
  out->own = NULL;
  out->held = out->early = false;
  out->nway = dj_penaltyWays(out->way, in->a, in->b, in->pose_a, in->pose_b, in->inflate);
  return DJ_OK;
}

static djPenaltyLaw penaltyLaw(const djPenaltyPair* pair, const djPenaltyWay* way) {
  const double *x = pair->in->setting, s = x[DJ_PENALTY_SCALE] * way->share;
  return (djPenaltyLaw){s * x[DJ_PENALTY_KN],
                        s * x[DJ_PENALTY_KT],
                        s * x[DJ_PENALTY_KD],
                        pair->in->friction,
                        NULL,
                        NULL,
                        s};
}

static double visitInside(const djPenaltyPair* pair, const djPenaltyWay* way, djPointVisit visit,
                          void* user) {
  (void)pair;
  return dj_visitPoints(way, visit, user);
}

static void penaltySettings(djPairGrad* grad, double* by_scale, const djPenaltyPair* pair,
                            const djPenaltyWay* w, const djPointGrad* by) {
  const double *set = pair->in->setting, s = set[DJ_PENALTY_SCALE] * w->share;
  const double by_s = by->law.kn * set[DJ_PENALTY_KN] + by->law.kt * set[DJ_PENALTY_KT] +
                      by->law.kd * set[DJ_PENALTY_KD];
  grad->setting[DJ_PENALTY_KN] += s * by->law.kn;
  grad->setting[DJ_PENALTY_KT] += s * by->law.kt;
  grad->setting[DJ_PENALTY_KD] += s * by->law.kd;
  grad->setting[DJ_PENALTY_SCALE] += w->share * by_s;
  *by_scale += w->part * set[DJ_PENALTY_SCALE] * by_s;
}

const djPointModel dj_penaltyModel = {
    .law = penaltyLaw, .visit = visitInside, .settings = penaltySettings};

// False on flat sides, where most points of most scenes are.
static bool turns(const djFieldAt* at) {
  double sum = 0;
  for (int k = 0; k < 9; k++) sum += fabs(at->turn[k]);
  return sum != 0;
}

djMat3 dj_normalTurn(const djPenaltyWay* w, const djFieldAt* at) {
  const djMat3 R = w->field.R;
  const djMat3 back = {{R.m[0], R.m[3], R.m[6], R.m[1], R.m[4], R.m[7], R.m[2], R.m[5], R.m[8]}};
  djMat3 turn;
  for (int k = 0; k < 9; k++) turn.m[k] = at->turn[k];
  return dju_mulMM(dju_mulMM(R, turn), back);
}

void dj_findPoint(djPointForce* out, const djPenaltyPair* pair, const djPenaltyWay* w, int i,
                  const djFieldAt* at) {
  const djPairInput* in = pair->in;
  const djVec3 point = dju_load3(w->from.point + 3 * i);
  const djPenaltyLaw law = pair->model->law(pair, w);
  const djMat3 R = w->field.R;
  out->c = dju_transform(&w->place, point);
  out->n = dju_mulMV(R, dju_load3(at->normal));
  out->gradient = dju_mulMV(R, dju_load3(at->gradient));
  out->held = pair->held || pair->early;
  out->turn = (djMat3){{0}};
  if (!out->held && turns(at)) out->turn = dj_normalTurn(w, at);
  if (pair->early) {
    djFieldAt then;
    double x[3];
    dj_fieldAtPoint(&then, x, dj_startOf(pair, w), i);
    out->n = dju_mulMV(dj_startOf(pair, w)->field.R, dju_load3(then.normal));
  }
  out->radius = w->from.radius;
  out->d = at->distance - w->from.radius - w->inflate;
  const bool b = w->points_of_b;
  dj_pointForce(out, &law, b ? in->twist_b : in->twist_a, b ? in->ref_b : in->ref_a,
                b ? in->twist_a : in->twist_b, b ? in->ref_a : in->ref_b);
}

// ------------------------------------------ sums -----------------------------------------------

// Adds to columns of minus the wrench on a that (w, v) of a twist about a point make, where the
// force on a changes by Fw w + Fv v and x by Xw w + Xv v: -dF, and -((x - ref) x dF + dx x F).
static void addColumns(double* out, const djMat3* Fw, const djMat3* Fv, const djMat3* Xw,
                       const djMat3* Xv, djVec3 arm, djVec3 F) {
  for (int k = 0; k < 6; k++) {
    const djVec3 dF = dju_column(k < 3 ? Fw : Fv, k % 3);
    djVec3 torque = dju_cross3(arm, dF);
    if (Xw) torque = dju_add3(torque, dju_cross3(dju_column(k < 3 ? Xw : Xv, k % 3), F));
    const double row[6] = {torque.x, torque.y, torque.z, dF.x, dF.y, dF.z};
    for (int i = 0; i < 6; i++) out[12 * i + k] -= row[i];
  }
}

// A [r]: what turning about a point at -r from there makes of A times a displacement w x r = -[r]
// w.
static djMat3 byTurn(const djMat3* A, djVec3 r) {
  const djMat3 skew = dju_skew(dju_neg3(r));
  return dju_mulMM(*A, skew);
}

// F by n as c, d and u stay, but x, and u with it, follow n; by c as the field stays; by u.
typedef struct Slopes {
  djMat3 n, c, u;
} Slopes;

static Slopes slopesOf(const djPointForce* p, const djPenaltyLaw* law) {
  Slopes s = {{{0}}, {{0}}, {{0}}};
  const djVec3 none = {0, 0, 0};
  for (int k = 0; k < 3; k++) {
    const djVec3 e = {k == 0, k == 1, k == 2};
    const djVec3 slide = dju_cross3(p->w, e); // of u as x moves
    const djVec3 n = dj_pointChanges(p, law, e, 0, dju_scale3(-p->radius, slide));
    const djVec3 u = dj_pointChanges(p, law, none, 0, e);
    const double x[3] = {n.x, n.y, n.z}, y[3] = {u.x, u.y, u.z};
    for (int i = 0; i < 3; i++) s.n.m[3 * i + k] = x[i], s.u.m[3 * i + k] = y[i];
  }
  const djVec3 by_d = dj_pointChanges(p, law, none, 1, none);
  s.c = dju_mulMM(s.n, p->turn);
  dju_addOuter3(&s.c, 1, by_d, p->gradient);
  return s;
}

static djMat3 scaled(const djMat3* A, double f) {
  djMat3 out;
  for (int i = 0; i < 9; i++) out.m[i] = f * A->m[i];
  return out;
}

static void addMatrix(djMat3* A, double f, const djMat3* B) {
  for (int i = 0; i < 9; i++) A->m[i] += f * B->m[i];
}

// Of the point's body c moves, and x = c - r n with it; of the field's c moves against the field,
// and n turns.
static void addDerivatives(djPenaltySum* sum, const djPenaltyPair* pair, const djPenaltyWay* w,
                           const djPointForce* p) {
  const djVec3 ref[2] = {pair->in->ref_a, pair->in->ref_b};
  const djPenaltyLaw law = pair->model->law(pair, w);
  const double sign = w->points_of_b ? -1 : 1;
  const int body = w->points_of_b;
  const djVec3 arm = dju_sub3(p->x, ref[0]), F = dju_scale3(sign, p->F);
  Slopes s = slopesOf(p, &law);
  s.n = scaled(&s.n, sign), s.c = scaled(&s.c, sign), s.u = scaled(&s.u, sign);
  const djMat3 spin = dju_skew(p->w);
  djMat3 Fv = dju_mulMM(s.u, spin), Xv = scaled(&p->turn, -p->radius);
  addMatrix(&Fv, 1, &s.c);
  for (int k = 0; k < 9; k += 4) Xv.m[k] += 1;
  const djVec3 point = dju_sub3(p->c, ref[body]), field = dju_sub3(p->c, ref[!body]);
  djMat3 Fw = byTurn(&Fv, point), Xw = byTurn(&Xv, point);
  addColumns(sum->by_pose + 6 * body, &Fw, &Fv, &Xw, &Xv, arm, F);
  djMat3 normal = dju_skew(dju_neg3(p->n)); // n moves by w x n
  if (p->held) normal = (djMat3){{0}};
  Fv = scaled(&s.c, -1);
  Xv = scaled(&p->turn, p->radius);
  Fw = byTurn(&Fv, field), Xw = byTurn(&Xv, field);
  const djMat3 turned = dju_mulMM(s.n, normal);
  addMatrix(&Fw, 1, &turned);
  addMatrix(&Xw, -p->radius, &normal);
  addColumns(sum->by_pose + 6 * !body, &Fw, &Fv, &Xw, &Xv, arm, F);
  for (int k = 0; k < 2; k++) {
    Fv = scaled(&s.u, k == body ? 1 : -1);
    Fw = byTurn(&Fv, dju_sub3(p->x, ref[k]));
    addColumns(sum->by_twist + 6 * k, &Fw, &Fv, NULL, NULL, arm, F);
  }
}

void dj_addPoint(djPenaltySum* sum, bool derivatives, const djPenaltyPair* pair,
                 const djPenaltyWay* w, const djPointForce* p) {
  const djVec3 F = w->points_of_b ? p->F : dju_neg3(p->F); // minus that on a
  const djVec3 torque = dju_cross3(dju_sub3(p->x, pair->in->ref_a), F);
  sum->active = true;
  sum->N += p->N;
  sum->point = dju_madd3(sum->point, p->N, p->x);
  dju_addTo3(sum->gradient, 1, torque);
  dju_addTo3(sum->gradient + 3, 1, F);
  if (!derivatives) return;
  addDerivatives(sum, pair, w, p);
}

// Of b all is opposite, and about another point that is fixed, too.
static void addOpposite(double* out, int stride, const double* in, djVec3 apart) {
  const djVec3 f = {in[3 * stride], in[4 * stride], in[5 * stride]};
  double more[3];
  dju_store3(more, dju_cross3(apart, f));
  for (int i = 0; i < 6; i++) out[i * stride] = -in[i * stride] - (i < 3 ? more[i] : 0);
}

void dj_completeSum(double gradient[12], double* by_pose, double* by_twist, const djPenaltySum* sum,
                    const djPenaltyPair* pair) {
  const djVec3 apart = dju_sub3(pair->in->ref_a, pair->in->ref_b);
  memcpy(gradient, sum->gradient, sizeof sum->gradient);
  addOpposite(gradient + 6, 1, gradient, apart);
  double* const out[2] = {by_pose, by_twist};
  const double* const in[2] = {sum->by_pose, sum->by_twist};
  for (int m = 0; m < 2; m++) {
    if (!out[m]) continue;
    memcpy(out[m], in[m], sizeof sum->by_pose);
    for (int j = 0; j < 12; j++) addOpposite(out[m] + 72 + j, 12, out[m] + j, apart);
  }
}
