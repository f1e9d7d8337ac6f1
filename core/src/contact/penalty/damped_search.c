#include "contact/penalty/damped_search.h"

#include "contact/penalty/damped.h"
#include "contact/penalty/damped_law.h"
#include "contact/wrench.h"

#include <math.h>

typedef struct Search {
  const djPenaltyPair* pair;
  const djPenaltyWay* way;
  double cut, least;
  int first, n; // that wait to be visited
  djRangeVisit visit;
  void* user;
} Search;

const djPenaltyWay* dj_detectedBy(const djPenaltyPair* pair, const djPenaltyWay* way) {
  return pair->in->setting[DJ_DAMPED_INVARIANT] != 0 ? NULL : &pair->start[way - pair->way];
}

// No point of a node's ball has more force: f falls with g, and g is no less than the bound of d
// less `ahead` times the largest speed there.
static double mostForce(const Search* s, const djPointNode* node, double bound) {
  const djPairInput* in = s->pair->in;
  const djDampedLaw* law = s->pair->own;
  const djVec3 x = dju_transform(&s->way->place, dju_load3(node->center));
  const djVec3 turn = dju_sub3(dju_load3(in->twist_a), dju_load3(in->twist_b));
  const djVec3 u = dju_sub3(dj_twistField(in->twist_a, dju_sub3(x, in->ref_a)),
                            dj_twistField(in->twist_b, dju_sub3(x, in->ref_b)));
  const double speed = dju_norm3(u) + (node->radius + s->way->from.radius) * dju_norm3(turn);
  return s->way->share * dj_dampedForce(law, bound - law->ahead * speed).f;
}

static void visitNode(Search* s, const djPointNode* node) {
  const double bound = dj_nodeBound(s->way, node);
  if (mostForce(s, node, bound) < s->cut) {
    s->least = fmin(s->least, bound);
    return;
  }
  if (node->right > 0) {
    visitNode(s, node + 1);
    visitNode(s, node + (int)node->right);
    return;
  }
  if (s->first + s->n < (int)node->first) {
    if (s->n > 0) s->visit(s->user, s->first, s->n);
    s->first = (int)node->first;
    s->n = 0;
  }
  s->n += (int)node->n;
}

double dj_visitRanges(const djPenaltyPair* pair, const djPenaltyWay* way, djRangeVisit visit,
                      void* user) {
  Search s = {.pair = pair,
              .way = way,
              .cut = pair->in->setting[DJ_DAMPED_CUT],
              .least = INFINITY,
              .visit = visit,
              .user = user};
  if (s.cut > 0)
    visitNode(&s, way->from.node);
  else
    s.n = way->from.npoint;
  if (s.n > 0) visit(user, s.first, s.n);
  return s.least;
}
