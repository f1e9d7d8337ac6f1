#include "contact/penalty/penalty_search.h"

#include <math.h>

// ------------------------------------------ ways -----------------------------------------------

static void openWay(djPenaltyWay* w, const djPenaltyShape* from, const djPenaltyShape* in,
                    const djPose* body, const djPose* other, double inflate) {
  w->part = 1;
  w->inflate = inflate + from->inflate + in->inflate;
  w->from = *from;
  w->in = *in;
  w->place = *body;
  w->field.R = dju_mulMM(other->R, in->frame.R);
  w->field.p = dju_transform(other, in->frame.p);
  w->local.R = dju_mulMtM(w->field.R, body->R);
  w->local.p = dju_untransform(&w->field, body->p);
}

// The higher acts alone where one is a ball.
static int rankOf(const djPenaltyShape* s) { return s->given ? 2 : s->ball ? 1 : 0; }

int dj_penaltyWays(djPenaltyWay way[2], const djShape* a, const djShape* b, const djPose* pose_a,
                   const djPose* pose_b, double inflate) {
  djPenaltyShape s[2];
  dj_openPenalty(&s[0], a);
  dj_openPenalty(&s[1], b);
  bool acts[2];
  for (int k = 0; k < 2; k++) acts[k] = s[k].npoint > 0 && !s[k].inside && s[!k].has_field;
  const bool alone = acts[0] && acts[1] && (s[0].ball || s[1].ball);
  const int first = rankOf(&s[0]), second = rankOf(&s[1]);
  if (alone && first != second) acts[first > second] = false;
  int n = 0;
  for (int k = 0; k < 2; k++) {
    if (!acts[k]) continue;
    openWay(&way[n], &s[k], &s[!k], k ? pose_b : pose_a, k ? pose_a : pose_b, inflate);
    way[n].points_of_b = k;
    if (alone && first == second) way[n].part = 0.5;
    way[n].share = way[n].part * s[k].scale;
    n++;
  }
  return n;
}

// ------------------------------------------ tree -----------------------------------------------

double dj_nodeBound(const djPenaltyWay* w, const djPointNode* node) {
  double x[3];
  dju_store3(x, dju_transform(&w->local, dju_load3(node->center)));
  double bound = 0;
  if (w->in.inside) { // -d falls by no more than the ball's radius
    djFieldAt at;
    dj_fieldAt(&at, &w->in.field, x);
    bound = -at.distance - node->radius;
  } else {
    bound = dj_fieldBound(&w->in.field, x, node->radius);
  }
  return bound - w->from.radius - w->inflate;
}

static void turnInsideOut(djFieldAt* at) {
  at->distance = -at->distance;
  for (int k = 0; k < 3; k++) {
    at->gradient[k] = -at->gradient[k];
    at->normal[k] = -at->normal[k];
  }
  for (int k = 0; k < 9; k++) at->turn[k] = -at->turn[k];
}

double dj_fieldAtPoint(djFieldAt* at, double x[3], const djPenaltyWay* w, int i) {
  dju_store3(x, dju_transform(&w->local, dju_load3(w->from.point + 3 * i)));
  dj_fieldAt(at, &w->in.field, x);
  if (w->in.inside) turnInsideOut(at);
  return at->distance - w->from.radius - w->inflate;
}

// A bound of 0 says no more than that the ball is outside.
static double visitNode(const djPenaltyWay* w, const djPointNode* node, djPointVisit visit,
                        void* user) {
  const double bound = dj_nodeBound(w, node);
  if (bound > 0) return bound;
  if (node->right > 0) {
    const double left = visitNode(w, node + 1, visit, user);
    return fmin(left, visitNode(w, node + (int)node->right, visit, user));
  }
  double least = INFINITY;
  for (int k = 0; k < (int)node->n; k++) {
    const int i = (int)node->first + k;
    double x[3];
    djFieldAt at;
    const double d = dj_fieldAtPoint(&at, x, w, i);
    if (d < 0) visit(user, w, i, x, &at);
    if (d >= 0) least = fmin(least, d);
  }
  return least;
}

double dj_visitPoints(const djPenaltyWay* w, djPointVisit visit, void* user) {
  return visitNode(w, w->from.node, visit, user);
}

static double deepestBelow(int* point, const djPenaltyWay* w, const djPointNode* node,
                           double least) {
  if (node->right > 0) {
    const djPointNode *near = node + 1, *far = node + (int)node->right;
    double first = dj_nodeBound(w, near), second = dj_nodeBound(w, far);
    if (second < first) {
      const djPointNode* other = near;
      const double bound = first;
      near = far, far = other;
      first = second, second = bound;
    }
    if (first < least) least = deepestBelow(point, w, near, least);
    return second < least ? deepestBelow(point, w, far, least) : least;
  }
  for (int k = 0; k < (int)node->n; k++) {
    const int i = (int)node->first + k;
    double x[3];
    djFieldAt at;
    const double d = dj_fieldAtPoint(&at, x, w, i);
    if (!(d < least)) continue;
    *point = i;
    least = d;
  }
  return least;
}

double dj_deepestPoint(int* point, const djPenaltyWay* w, double least) {
  *point = -1;
  return deepestBelow(point, w, w->from.node, least);
}
