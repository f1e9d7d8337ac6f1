// End of a step: what acted between which geoms and bodies, gaps and overlaps.

#include "contact/pairs/near.h"
#include "contact/shapes/convex.h"

#include <math.h>
#include <string.h>

// Depth along a direction (unit, from a to b): at least the true one.
static djStatus depthAlong(double* depth, djContacts* c, const djNearPair* p, const djModel* m,
                           const djPose* pose, djVec3 n) {
  *depth = 0;
  if (!p->kernel->depth) return DJ_OK;
  djGeomPair pair = dj_geomPair(c, p, m, pose);
  return p->kernel->depth(depth, &n, &pair);
}

// The deepest overlap of true geoms. Exact depths cost more than bounds, so only the pairs whose
// bound is larger than what was found are measured, the largest bound first.
static djStatus deepestOverlap(double* deepest, djContacts* c, const djModel* m,
                               const djPose* pose) {
  *deepest = 0;
  for (;;) {
    int best = -1;
    for (int k = 0; k < c->nblock; k++) {
      if (c->depth[k] > *deepest && (best < 0 || c->depth[k] > c->depth[best])) best = k;
    }
    if (best < 0) return DJ_OK;
    double depth;
    djStatus status = dj_trueDepth(&depth, c, &c->pair[c->active_pair[best]], m, pose);
    if (status < 0) return status;
    if (depth > *deepest) *deepest = depth;
    c->depth[best] = 0;
  }
}

// The same over pairs that do not act. Geoms overlap before their contact shapes come into range
// where erosion took more than half of that: at edges and corners, and with a thick skin.
static djStatus hiddenOverlap(double* deepest, djContacts* c, const djModel* m,
                              const djPose* pose) {
  const struct djCollision* col = m->collision;
  int next = 0;
  dj_measureMoves(&c->moved, m, c->base, pose);
  for (int k = 0; k < c->npair; k++) {
    djNearPair* p = &c->pair[k];
    if (next < c->nblock && c->active_pair[next] == k) {
      next++;
      continue;
    }
    const djShape* shape = col->shape + p->use * m->ngeom;
    double inflate = dj_pairInflation(&shape[p->a], &shape[p->b], p->inflate);
    double least = col->beyond[p->a] + col->beyond[p->b] - *deepest - fmin(inflate, 0);
    if (dj_leastGap(p, m, &c->moved, least) >= least) continue;
    double depth;
    djStatus status = dj_trueDepth(&depth, c, p, m, pose);
    if (status < 0) return status;
    if (!p->near) dj_seeGap(p, m, &c->moved, -depth - fmax(inflate, 0));
    *deepest = fmax(*deepest, depth);
  }
  return DJ_OK;
}

// Entries are sorted by their bodies; the force is on the second.
void dj_addReported(djData* d, const djContactPair* p, const djModel* m, const djPose* pose) {
  int a = m->geom_body[p->geom1], b = m->geom_body[p->geom2], at = d->ncontact;
  int body1 = a < b ? a : b, body2 = a < b ? b : a;
  while (at > 0 && (d->contact[at - 1].body1 > body1 ||
                    (d->contact[at - 1].body1 == body1 && d->contact[at - 1].body2 > body2))) {
    at--;
  }
  bool found = at > 0 && d->contact[at - 1].body1 == body1 && d->contact[at - 1].body2 == body2;
  djContactForce* f = found ? &d->contact[at - 1] : &d->contact[at];
  if (!found) {
    memmove(f + 1, f, (size_t)(d->ncontact - at) * sizeof *f);
    *f = (djContactForce){.body1 = body1, .body2 = body2};
    d->ncontact++;
  }
  double sign = a < b ? 1 : -1;
  djVec3 arm = dju_sub3(dju_load3(p->point), pose[body2].p), force = dju_load3(p->force);
  dju_addTo3(f->force, sign, force);
  dju_addTo3(f->torque, sign, dju_add3(dju_load3(p->torque), dju_cross3(arm, force)));
}

static double skinOf(const struct djCollision* c, const djNearPair* p, int ngeom) {
  const double* skin = c->skin + p->use * ngeom;
  return skin[p->a] + (isfinite(skin[p->b]) ? skin[p->b] : dj_skinOfOther(c, p->use, p->a, p->b));
}

// What acts of a pair, and inside without a force, is of that pair.
static void addKinks(uint64_t kink[DJ_NKINK], const djPairReport* r, const djNearPair* p) {
  uint64_t weight = (uint64_t)(p->low + 1) * UINT64_C(0x100000001b3) + (uint64_t)p->high;
  for (int i = 0; i < DJ_NKINK; i++) kink[i] += weight * r->kink[i];
}

// kink: added to.
static djStatus reportPair(djData* d, uint64_t kink[DJ_NKINK], djContacts* c, const djModel* m,
                           const djPose* pose, int k) {
  const djNearPair* p = &c->pair[c->active_pair[k]];
  djPairInput in = dj_pairInput(c, m, p, pose);
  djPairReport r = {.gap = 0};
  djStatus status = dj_reportPair(&r, p->kernel, dj_stateOf(c, p), &in);
  if (status < 0) return status;
  addKinks(kink, &r, p);
  bool beyond = r.gap > p->range;   // it acts from afar
  c->depth[k] = 0;
  const double* hidden = m->collision->beyond;
  if (!beyond || r.gap < hidden[p->a] + hidden[p->b]) {
    status = depthAlong(&c->depth[k], c, p, m, pose, r.normal);
  }
  if (status < 0) return status;
  double gap = r.gap;
  if (r.recovering) {   // without the further erosion
    djDistance at;
    status = dj_pairGap(&at, NULL, c, p, m, pose);
    if (status < 0) return status;
    gap = at.gap;
  }
  if (!beyond || p->kernel->everywhere) d->stats.gap = fmin(d->stats.gap, gap);
  djContactPair* out = &d->pair[d->npair++];
  bool swap = p->a > p->b;   // in the order of geom ids
  out->geom1 = p->low;
  out->geom2 = p->high;
  out->gap = gap;
  out->skin = skinOf(m->collision, p, m->ngeom) + p->deeper;
  dju_store3(out->normal, swap ? dju_neg3(r.normal) : r.normal);
  dju_store3(out->point, r.point);
  const double* wrench = swap ? r.wrench_a : r.wrench_b;
  djVec3 arm = dju_sub3(swap ? in.ref_a : in.ref_b, r.point), force = dju_load3(wrench + 3);
  dju_store3(out->force, force);
  dju_store3(out->torque, dju_add3(dju_load3(wrench), dju_cross3(arm, force)));
  out->normal_force = r.normal_force;
  out->recovering = r.recovering;
  dj_addReported(d, out, m, pose);
  return DJ_OK;
}

// Pairs in recovery that exert no force at the end of the step still overlap: their gap and depth
// count, whatever the further erosion has left. kink: added to.
static djStatus reportSilent(bool* recovering, uint64_t kink[DJ_NKINK], djData* d, djContacts* c,
                             const djModel* m, const djPose* pose) {
  int next = 0;
  for (int k = 0; k < c->npair; k++) {
    const djNearPair* p = &c->pair[k];
    bool listed = next < c->nblock && c->active_pair[next] == k;
    if (listed) next++;
    if (listed || !p->near || !p->begun) continue;
    djPairInput in = dj_pairInput(c, m, p, pose);
    djPairReport r = {.gap = 0};
    djStatus status = dj_reportPair(&r, p->kernel, dj_stateOf(c, p), &in);
    if (status < 0) return status;
    addKinks(kink, &r, p);
    if (!r.recovering) continue;
    djDistance at;
    double depth;
    status = dj_pairGap(&at, NULL, c, p, m, pose);
    if (status >= 0) status = dj_trueDepth(&depth, c, p, m, pose);
    if (status < 0) return status;
    d->stats.gap = fmin(d->stats.gap, at.gap);
    d->stats.overlap = fmax(d->stats.overlap, depth);
    *recovering = true;
  }
  return DJ_OK;
}

const char* dj_kinkName(int kink) {
  static const char* const name[DJ_NKINK] = {"touch", "release", "slip", "ridge"};
  return kink >= 0 && kink < DJ_NKINK ? name[kink] : "";
}

bool dj_contactsUseTwists(const djContacts* c) { return c && c->uses_twist; }

djStatus dj_refreshTwists(djContacts* c, const djModel* m, const djPose* pose,
                          const double* twist) {
  if (!c || !m || !pose || !twist || !c->listed) return DJ_INVALID;
  double value;
  if (memcmp(c->twist, twist, 6 * (size_t)c->nbody * sizeof *twist) != 0) {
    return dj_evalContacts(&value, c, m, pose, twist, 0);
  }
  return dj_refreshContacts(c, m, pose);
}

djStatus dj_reportContacts(djData* d, djContacts* c, const djModel* m, const djPose* pose) {
  if (!d || !c || !m || !pose || !c->listed) return DJ_INVALID;
  djStatus status = dj_refreshContacts(c, m, pose);
  if (status < 0) return status;
  d->npair = d->ncontact = 0;
  status = dj_roomForReport(d, &c->report, c->nblock);
  if (status < 0) return status;
  d->stats.gap = INFINITY;
  d->stats.overlap = 0;
  uint64_t kink[DJ_NKINK] = {0};
  for (int k = 0; k < c->nblock; k++) {
    status = reportPair(d, kink, c, m, pose, k);
    if (status < 0) return status;
  }
  status = deepestOverlap(&d->stats.overlap, c, m, pose);
  if (status < 0) return status;
  bool recovering = false;
  status = reportSilent(&recovering, kink, d, c, m, pose);
  if (status >= 0) status = hiddenOverlap(&d->stats.overlap, c, m, pose);
  if (status < 0) return status;
  for (int i = 0; i < DJ_NKINK; i++) {   // a run's order counts
    d->stats.kink[i] = d->stats.kink[i] * UINT64_C(0x9e3779b97f4a7c15) + kink[i];
  }
  d->stats.recovering = recovering;   // of those that are not listed one stands for all
  for (int k = 0; k < d->npair; k++) d->stats.recovering += d->pair[k].recovering;
  d->stats.recovering_steps += d->stats.recovering > 0;
  d->stats.smallest_gap = fmin(d->stats.smallest_gap, d->stats.gap);
  d->stats.deepest_overlap = fmax(d->stats.deepest_overlap, d->stats.overlap);
  return DJ_OK;
}

typedef struct PointVisit {
  const djNearPair* pair;
  djContactPointVisit visit;
  void* user;
} PointVisit;

static void visitPoint(void* user, const djPairPoint* point) {
  const PointVisit* v = user;
  const int a = v->pair->a, b = v->pair->b;
  v->visit(v->user, point->of_b ? b : a, point->of_b ? a : b, point);
}

djStatus dj_visitContactPoints(djContacts* c, const djModel* m, const djPose* pose,
                               djContactPointVisit visit, void* user) {
  if (!c || !m || !pose || !visit || !c->listed) return DJ_INVALID;
  djStatus status = dj_refreshContacts(c, m, pose);
  for (int k = 0; k < c->nblock && status >= 0; k++) {
    PointVisit v = {&c->pair[c->active_pair[k]], visit, user};
    if (!v.pair->kernel->points) continue;
    djPairInput in = dj_pairInput(c, m, v.pair, pose);
    status = v.pair->kernel->points(&in, visitPoint, &v);
  }
  return status < 0 ? status : DJ_OK;
}

// The size |f| of the force f = dU/dv of body a, v its translation: d|f| = f/|f| . df.
djStatus dj_contactNormal(double now[12], double start[12], djContacts* c, const djModel* m,
                          const djPose* pose, int k) {
  if (!c || !m || !pose || k < 0 || k >= c->nblock) return DJ_INVALID;
  const djNearPair* p = &c->pair[c->active_pair[k]];
  djPairInput in = dj_pairInput(c, m, p, pose);
  djPairOutput out = {.twist_jac = NULL};
  double jac[144], rate_jac[144];
  in.friction = 0;
  memset(now, 0, 12 * sizeof(double));
  memset(start, 0, 12 * sizeof(double));
  djStatus status = p->kernel->eval(&out, dj_stateOf(c, p), &in, DJ_EVAL_HESSIAN);
  if (status < 0 || !out.active) return status;
  djStatus second = dj_startPair(jac, rate_jac, p->kernel, dj_stateOf(c, p), &in);
  if (second < 0) return second;
  const double* f = out.gradient + 3;
  double size = dju_norm3(dju_load3(f));
  for (int r = 0; r < 3 && size > 0; r++) {
    for (int i = 0; i < 12; i++) {
      now[i] += f[r] / size * out.hessian[12 * (3 + r) + i];
      start[i] += f[r] / size * jac[12 * (3 + r) + i];
    }
  }
  return status > 0 ? status : second;
}
