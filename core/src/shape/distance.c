#include "shape/distance.h"

#include "shape/minkowski.h"
#include "shape/support.h"

// A distance is that of the supports along its normal, up to this part of the shapes' size.
#define CERTAIN 1e-11

static bool isVertexShape(const djShape* s) {
  return s->type >= 0 && s->nvert > 0 && s->npad >= s->nvert && s->npad % DJ_LANES == 0;
}

static double erodedRadius(const djShape* s, double e) { return s->radius + e * s->radius_slope; }

static bool isFinite3(djVec3 v) { return isfinite(v.x) && isfinite(v.y) && isfinite(v.z); }

static bool isFinitePose(const djPose* pose) {
  double sum = 0;
  for (int k = 0; k < 9; k++) sum += pose->R.m[k];
  return isfinite(sum) && isFinite3(pose->p);
}

// Against a half space: the lowest vertex, less the radius and the ellipsoid's reach.
static djStatus planeDistance(djDistance* out, djDistanceCache* cache, const djShape* a,
                              const djPose* pose_a, double e_a, const djShape* b,
                              const djPose* pose_b, double e_b) {
  djVec3 normal = dju_mulMV(pose_b->R, b->normal), down = dju_mulMtV(pose_a->R, normal);
  int low = dj_farthestVertex(a, e_a, dju_neg3(down));
  djVec3 x = dju_transform(pose_a, dj_erodedVertex(a, e_a, low));
  djVec3 below = {0, 0, 0};
  if (a->curved) {
    djMat3 G = a->curve;
    for (int i = 0; i < 9; i++) G.m[i] -= e_a * a->curve_move.m[i];
    dj_curveReach(&below, NULL, &G, down);
    x = dju_sub3(x, dju_mulMV(pose_a->R, below));
  }
  double radius = erodedRadius(a, e_a);
  double height = dju_dot3(normal, dju_sub3(x, pose_b->p)) - b->offset + e_b;
  out->gap = height - radius;
  out->normal = dju_neg3(normal);
  out->point_a = dju_madd3(x, -radius, normal);
  out->point_b = dju_madd3(x, -height, normal);
  out->iterations = 0;
  if (cache) *cache = (djDistanceCache){.count = 1, .a = {low}, .weight = {1}};
  return isfinite(out->gap) ? DJ_OK : DJ_INVALID;
}

static void startSimplex(djSimplex* s, djMinkowski* m, const djDistanceCache* cache,
                         const djShape* a, const djShape* b) {
  s->n = 0;
  for (int i = 0; cache && i < cache->count && i < 4; i++) {
    int ia = cache->a[i], ib = cache->b[i];
    if (ia < 0 || ia >= a->nvert || ib < 0 || ib >= b->nvert) continue;
    s->p[s->n++] = dj_minkowskiPoint(m, ia, ib);
  }
  if (s->n > 0) return;
  djVec3 toward = dju_sub3(dju_add3(dju_mulMV(m->b.R, b->center), m->b.p),
                           dju_add3(dju_mulMV(m->a.R, a->center), m->a.p));
  s->p[s->n++] = dj_minkowskiSupport(m, toward);
}

djStatus dj_distance(djDistance* out, djDistanceCache* cache, const djShape* a,
                     const djPose* pose_a, double e_a, const djShape* b, const djPose* pose_b,
                     double e_b) {
  if (!out || !a || !b || !pose_a || !pose_b || !isVertexShape(a)) return DJ_INVALID;
  if (!(e_a >= 0) || !(e_b >= 0) || !isFinitePose(pose_a) || !isFinitePose(pose_b)) {
    return DJ_INVALID;
  }
  if (b->type == DJ_PLANE) return planeDistance(out, cache, a, pose_a, e_a, b, pose_b, e_b);
  if (!isVertexShape(b)) return DJ_INVALID;

  djMinkowski m;
  dj_initMinkowski(&m, a, pose_a, e_a, b, pose_b, e_b);
  djSimplex s;
  djVec3 v, n;
  djStatus status = DJ_OK;
  double core, bound;
  bool curved = m.a.curved || m.b.curved;
  if (!curved) startSimplex(&s, &m, cache, a, b);
  if (curved) {
    status = dj_curvedDistance(&core, &n, &s, &out->iterations, &m, cache);
  } else if (dj_gjk(&v, &bound, &s, &out->iterations, &m)) {
    core = dju_norm3(v);
    n = dju_scale3(-1 / core, v);
    if (core - bound > CERTAIN * m.scale) {   // shapes are no farther apart than along the normal
      core = bound;
      status = DJ_NOT_CONVERGED;
    }
  } else {
    double depth;
    int more;
    status = dj_epa(&depth, &n, &s, &more, &m);
    out->iterations += more;
    core = -depth;
  }
  if (!isfinite(core) || !isFinite3(n)) return DJ_INVALID;

  djVec3 xa = {0, 0, 0}, xb = {0, 0, 0};
  for (int i = 0; i < s.n; i++) {
    xa = dju_madd3(xa, s.weight[i], s.p[i].a);
    xb = dju_madd3(xb, s.weight[i], s.p[i].b);
  }
  if (m.a.curved) {
    dj_curveReach(&v, NULL, &m.a.curve, n);
    xa = dju_add3(xa, v);
  }
  if (m.b.curved) {
    dj_curveReach(&v, NULL, &m.b.curve, n);
    xb = dju_sub3(xb, v);
  }
  double ra = erodedRadius(a, e_a), rb = erodedRadius(b, e_b);
  out->gap = core - ra - rb;
  out->normal = n;
  out->point_a = dju_add3(dju_madd3(xa, ra, n), m.origin);
  out->point_b = dju_add3(dju_madd3(xb, -rb, n), m.origin);
  if (cache) {
    *cache = (djDistanceCache){.count = s.n};
    for (int i = 0; i < s.n; i++) {
      cache->a[i] = s.p[i].ia;
      cache->b[i] = s.p[i].ib;
      cache->weight[i] = s.weight[i];
    }
    if (curved) dju_store3(cache->normal, n);
  }
  return status;
}
