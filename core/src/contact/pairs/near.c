#include "contact/pairs/near.h"

#include "contact/pairs/tied.h"
#include "math/so3.h"
#include "model/geom_row.h"

#include <stdlib.h>
#include <string.h>

// Below this part of g h friction is viscous while steps are eased: much less, and the eased step is
// nearly as hard to find as the step itself; much more, and it is foreseen from too far away.
#define EASE_SPEED 0.14

enum { FEW = 2 };   // pairs for each geom
static const double ROUNDED = 1e-9;   // of the range

// |dp + dR x| <= |dp| + ||dR|| |x|.
double dj_displacement(const djPose* from, const djPose* to, double reach) {
  return dju_norm3(dju_sub3(to->p, from->p)) + reach * dju_turnNorm(&from->R, &to->R);
}

djGeomPair dj_geomPair(const djContacts* c, const djNearPair* p, const djModel* m,
                       const djPose* pose) {
  int base = p->use * m->ngeom;
  const djShape* shape = m->collision->shape + base;
  const djShapeBounds* bounds = m->collision->bounds + base;
  return (djGeomPair){.model = m,
                      .geom_a = p->a,
                      .geom_b = p->b,
                      .a = &shape[p->a],
                      .b = &shape[p->b],
                      .bounds_a = &bounds[p->a],
                      .bounds_b = &bounds[p->b],
                      .pose_a = &pose[p->body_a],
                      .pose_b = &pose[p->body_b],
                      .inflate = p->inflate,
                      .scratch = c->scratch};
}

// ------------------------------------------ motions --------------------------------------------

void dj_measureMoves(djMoves* moves, const djModel* m, const djPose* from, const djPose* to) {
  const double* reach = m->collision->reach;
  moves->from = from;
  moves->to = to;
  memset(moves->turned, 0, (size_t)m->nbody * sizeof *moves->turned);
  for (int b = 0; b < m->nbody; b++) {
    moves->most[b] = dj_displacement(&from[b], &to[b], reach[b]);
  }
}

static const djMat3* turnOf(djMoves* moves, int body) {
  const double *R0 = moves->from[body].R.m, *R1 = moves->to[body].R.m;
  djMat3* turn = &moves->turn[body];
  for (int i = 0; i < 9 && !moves->turned[body]; i++) {
    const double *x = R1 + i / 3 * 3, *y = R0 + i % 3 * 3;
    turn->m[i] = x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
  }
  moves->turned[body] = true;
  return turn;
}

// As the other geom's body sees it, the smaller one's centre x goes by x' - p' - T (x - p), T its
// turn, and points about the centre by the difference of both turns.
double dj_relativeMove(const djNearPair* p, const djModel* m, djMoves* moves) {
  const int small = p->b_in_a ? p->body_b : p->body_a, large = p->b_in_a ? p->body_a : p->body_b;
  const double* box = m->collision->box + 6 * (p->b_in_a ? p->b : p->a);
  const djMat3 *S = turnOf(moves, small), *T = turnOf(moves, large);
  djVec3 arm = dju_mulMV(moves->from[small].R, dju_load3(box));
  djVec3 from = dju_sub3(dju_add3(moves->from[small].p, arm), moves->from[large].p);
  djVec3 to = dju_sub3(moves->to[small].p, moves->to[large].p);
  to = dju_add3(to, dju_mulMV(*S, arm));
  return dju_norm3(dju_sub3(to, dju_mulMV(*T, from))) + p->radius * dju_turnNorm(S, T);
}

// The smaller geom of a pair, as the other one's body sees it.
static djPose placeOf(const djNearPair* p, const djModel* m, const djPose* pose) {
  const djPose* small = &pose[p->b_in_a ? p->body_b : p->body_a];
  const djPose* large = &pose[p->b_in_a ? p->body_a : p->body_b];
  const double* box = m->collision->box + 6 * (p->b_in_a ? p->b : p->a);
  djVec3 center = dju_transform(small, dju_load3(box));
  return (djPose){.p = dju_untransform(large, center), .R = dju_mulMtM(large->R, small->R)};
}

double dj_leastGap(djNearPair* p, const djModel* m, djMoves* moves, double enough) {
  double gap = p->bound - dj_bothMove(p, moves);
  if (gap > enough || p->always) return gap;
  double moved = dj_relativeMove(p, m, moves);
  if (p->bound - moved > enough) return p->bound - moved;
  djPose place = placeOf(p, m, moves->to);
  gap = p->seen_gap - dj_displacement(&p->seen, &place, p->radius);
  p->bound = dj_larger(p->bound, gap - moved);
  return dj_larger(gap, p->bound - moved);
}

void dj_seeGap(djNearPair* p, const djModel* m, djMoves* moves, double gap) {
  if (p->always) return;
  p->seen = placeOf(p, m, moves->to);
  p->seen_gap = gap;
  p->bound = dj_larger(p->bound, gap - dj_relativeMove(p, m, moves));
}

bool dj_mayReach(djContacts* c, const djModel* m, djNearPair* p) {
  djDistance d;
  if (p->always) return true;
  if (dj_leastGap(p, m, &c->moved, p->range) > p->range) return false;
  if (p->begun || dj_pairGap(&d, &p->cache, c, p, m, c->moved.to) != DJ_OK) return true;
  dj_seeGap(p, m, &c->moved, dj_separation(&d));
  return !(p->seen_gap > (1 + ROUNDED) * p->range);   // at the range itself the kernel decides
}

djStatus dj_pairGap(djDistance* d, djDistanceCache* cache, const djContacts* c,
                    const djNearPair* p, const djModel* m, const djPose* pose) {
  djGeomPair pair = dj_geomPair(c, p, m, pose);
  return p->kernel->gap(d, cache, &pair);
}

double dj_separation(const djDistance* d) {
  if (!(d->gap < INFINITY)) return d->gap; // there are no points
  return fmin(d->gap, dju_dot3(d->normal, dju_sub3(d->point_b, d->point_a)));
}

djStatus dj_trueDepth(double* depth, djContacts* c, const djNearPair* p, const djModel* m,
                      const djPose* pose) {
  *depth = -INFINITY;
  if (!p->kernel->depth) return DJ_OK;
  djGeomPair pair = dj_geomPair(c, p, m, pose);
  return p->kernel->depth(depth, NULL, &pair);
}

djPairInput dj_pairInput(const djContacts* c, const djModel* m, const djNearPair* p,
                         const djPose* pose) {
  const djShape* shape = m->collision->shape + p->use * m->ngeom;
  const djPose* start = p->lagged ? c->lag : c->start;
  const bool past = c->past && !p->lagged;
  const double ease = EASE_SPEED * m->contact.gravity * c->h;
  return (djPairInput){
      .a = &shape[p->a],
      .b = &shape[p->b],
      .pose_a = &pose[p->body_a],
      .pose_b = &pose[p->body_b],
      .start_a = &start[p->body_a],
      .start_b = &start[p->body_b],
      .past_a = past ? &c->past[p->body_a] : NULL,
      .past_b = past ? &c->past[p->body_b] : NULL,
      .rate_a = &c->rate[p->body_a],
      .rate_b = &c->rate[p->body_b],
      .ref_a = c->ref[p->body_a],
      .ref_b = c->ref[p->body_b],
      .twist_a = c->twist + 6 * p->body_a,
      .twist_b = c->twist + 6 * p->body_b,
      .h = c->h,
      .rest = c->rest,
      .timestep = m->opt.timestep,
      .setting = c->setting + (size_t)p->slot * DJ_MAX_OF_KERNEL,
      .friction = p->friction,
      .cone = p->cone,
      .force_cap = m->contact.weight,
      .inflate = p->inflate,
      .lower = p->lower,
      .guide_part = dj_guides(c, m) && !p->plain ? p->guide_part : 0,
      .guide_scale = p->guide_scale,
      .recovery_part = p->recovery_part,
      .ease = c->ease,
      .ease_eps = ease * ease,
      .iterate = c->iterate,
      .recover = m->opt.overlap == DJ_OVERLAP_RECOVER && !p->lagged,
      .state_size = c->state_size,
      .scratch = c->scratch,
      .nscratch = c->nscratch,
  };
}

// ------------------------------------------ the list -------------------------------------------

typedef struct Filter {
  const djContacts* c;
  const djModel* m;
  const double* margin;    // (nbody)
} Filter;

static bool moves(const djModel* m, int body) { return m->body_weld[body] != 0; }

// Centre and half extents of a geom's box, world axes, at the base poses.
static void worldBox(djVec3* center, djVec3* half, const djContacts* c, const djModel* m,
                     int geom) {
  const double* box = m->collision->box + 6 * geom;
  const djPose* pose = &c->base[m->geom_body[geom]];
  const double* R = pose->R.m;
  *center = dju_transform(pose, dju_load3(box));
  half->x = fabs(R[0]) * box[3] + fabs(R[1]) * box[4] + fabs(R[2]) * box[5];
  half->y = fabs(R[3]) * box[3] + fabs(R[4]) * box[4] + fabs(R[5]) * box[5];
  half->z = fabs(R[6]) * box[3] + fabs(R[7]) * box[4] + fabs(R[8]) * box[5];
}

// Lower bound of the distance of two shapes' boxes, or of a box and a half space, of use u.
static double boxGap(const djContacts* c, const djModel* m, int u, int a, int b) {
  djVec3 ca, ha, cb, hb;
  worldBox(&ca, &ha, c, m, a);
  const djShape* plane = &m->collision->shape[u * m->ngeom + b];
  if (plane->type == DJ_PLANE) {
    const djPose* pose = &c->base[m->geom_body[b]];
    djVec3 n = dju_mulMV(pose->R, plane->normal);
    return dju_dot3(n, dju_sub3(ca, pose->p)) - plane->offset -
           (fabs(n.x) * ha.x + fabs(n.y) * ha.y + fabs(n.z) * ha.z);
  }
  worldBox(&cb, &hb, c, m, b);
  double x = fabs(ca.x - cb.x) - ha.x - hb.x, y = fabs(ca.y - cb.y) - ha.y - hb.y;
  return dj_larger(dj_larger(x, y), fabs(ca.z - cb.z) - ha.z - hb.z);
}

static bool keepPair(const void* user, int i, int j) {
  const Filter* f = user;
  const djModel* m = f->m;
  const struct djCollision* col = m->collision;
  int a = f->c->box_geom[i], b = f->c->box_geom[j];
  if (col->collide) {
    if (!(col->collide[a * col->rowwords + b / 32] >> (b % 32) & 1)) return false;
  } else if (!dj_isContactPair(m, a, b)) {
    return false;
  }
  if (dj_isTied(f->c, m, a, b)) return false;
  if (m->geom_type[a] == DJ_PLANE) {
    int swap = a;
    a = b;
    b = swap;
  } else if (m->geom_type[b] != DJ_PLANE) {
    return true;
  }
  if (moves(m, m->geom_body[b])) return true;
  int u = f->c->nuse > 1 ? dj_useOf(col, dj_pairKernel(m, a, b)) : 0;
  double margin = f->margin[m->geom_body[a]] +
                  fmax(f->c->range[u] + col->maxinflate, col->beyond[a] + col->beyond[b]);
  return !(boxGap(f->c, m, u, a, b) > margin);
}

// The pair's kernel, and what its settings say about distances.
static void setKernel(djNearPair* p, const djContacts* c, const djModel* m) {
  int kernel = dj_pairKernel(m, p->low, p->high);
  p->kernel = dj_kernel(kernel);
  p->use = dj_useOf(m->collision, kernel);
  double setting[DJ_MAX_OF_KERNEL];
  p->own = dj_pairSettings(setting, m, kernel, p->low, p->high);
  p->range = p->kernel->range(setting);
  p->afar = p->kernel->afar && p->kernel->afar(setting);
  const bool limits = c->traits[p->use].limits;
  p->share = limits ? p->kernel->share : 1;
  p->room = INFINITY;
  const djShape* shape = m->collision->shape + p->use * m->ngeom;
  if (limits) p->room = p->kernel->room(setting, &shape[p->a], &shape[p->b]);
}

static void boundByBoxes(djNearPair* p, const djContacts* c, const djModel* m) {
  if (p->always || p->bound > p->range) return;
  p->bound = dj_larger(p->bound, boxGap(c, m, p->use, p->a, p->b) - dj_larger(p->inflate, 0));
}

static void measureSizes(djNearPair* p, const djModel* m) {
  double radius[2];
  for (int k = 0; k < 2; k++) {
    int geom = k ? p->b : p->a;
    radius[k] = dju_norm3(dju_load3(m->collision->box + 6 * geom + 3));
  }
  p->b_in_a = m->geom_type[p->b] != DJ_PLANE && radius[1] < radius[0];
  p->radius = radius[p->b_in_a];
}

static void setCoefficients(djNearPair* p, const djPairCoefficients* k, const djModel* m) {
  const bool touches = p->kernel->touch && m->geom_type[p->b] != DJ_HFIELD;
  p->friction = k->friction;
  p->cone = k->cone;
  p->restitution = touches ? k->restitution : 0;
  memcpy(p->source, k->source, sizeof p->source);
}

void dj_takeCoefficients(djNearPair* p, const djModel* m) {
  const djPairCoefficients k = dj_pairCoefficients(m, p->low, p->high);
  setCoefficients(p, &k, m);
}

void dj_newPair(djNearPair* p, const djContacts* c, const djModel* m, int low, int high) {
  memset(p, 0, sizeof *p);
  p->low = low;
  p->high = high;
  bool swap = dj_isGround(m->geom_type[low]);
  p->a = swap ? high : low;
  p->b = swap ? low : high;
  p->body_a = m->geom_body[p->a];
  p->body_b = m->geom_body[p->b];
  djPairCoefficients k = dj_pairCoefficients(m, low, high);
  p->inflate = k.inflate;
  p->deeper = k.deeper;
  p->slot = -1;
  p->always = m->geom_type[p->b] == DJ_PLANE && moves(m, p->body_b);
  setKernel(p, c, m);
  setCoefficients(p, &k, m);
  p->guide_part = m->geom_part[low] * m->geom_part[high];
  p->guide_scale = m->geom_bound[low] + m->geom_bound[high];
  const djContactScale scale = dj_pairScale(m, low, high);
  p->recovery_part = scale.push / scale.weight;
  p->lower = dj_skinOfOther(m->collision, p->use, p->a, p->b);
  p->inflate -= p->lower;
  p->bound = -INFINITY;
  boundByBoxes(p, c, m);
  measureSizes(p, m);
  p->seen_gap = -INFINITY;
}

static int compare(const djNearPair* p, int low, int high) {
  if (p->low != low) return p->low < low ? -1 : 1;
  return p->high < high ? -1 : p->high > high;
}

// New pairs into the list: what was known of a pair stays. So do pairs in use in this step, for
// which there is room beside maxlist.
static void mergePairs(djContacts* c, const djModel* m, int nfound) {
  int n = 0, i = 0, k = 0;
  while (i < nfound || k < c->npair) {
    int low = -1, high = -1, order = 1;
    if (i < nfound) {
      low = c->box_geom[c->found[i].a];
      high = c->box_geom[c->found[i].b];
    }
    if (k < c->npair) order = i < nfound ? compare(&c->pair[k], low, high) : -1;
    if (order > 0) {
      dj_newPair(&c->other[n++], c, m, low, high);
      i++;
      continue;
    }
    djNearPair* p = &c->pair[k++];
    if (order == 0 || p->near || p->begun) {
      if (!p->near) boundByBoxes(p, c, m);
      c->other[n++] = *p;
    } else if (p->slot >= 0) {
      c->free_slot[c->nfree++] = p->slot;
    }
    if (order == 0) i++;
  }
  djNearPair* swap = c->pair;
  c->pair = c->other;
  c->other = swap;
  c->npair = n;
}

// Adds those that act afar to the n pairs found. Returns how many there are then, of which only
// maxlist are written.
static int addAfar(djContacts* c, int n) {
  int i = n < c->maxlist ? n : c->maxlist, k = c->nafar, missing = 0;
  if (k == 0) return n;
  for (int f = 0, a = 0; a < k; a++) {
    while (f < i && dj_pairBefore(c->found[f], c->afar[a])) f++;
    missing += f == i || dj_pairBefore(c->afar[a], c->found[f]);
  }
  int total = n + missing, at = total;
  if (total > c->maxlist) return total;
  while (k > 0) {   // from the end, so that each is read before its place is written
    djBoxPair next = c->afar[k - 1];
    bool found = i > 0 && !dj_pairBefore(c->found[i - 1], next);
    if (found && !dj_pairBefore(next, c->found[i - 1])) k--;
    c->found[--at] = found ? c->found[--i] : c->afar[--k];
  }
  return total;
}

bool dj_actsAfar(const djModel* m, int low, int high) {
  double setting[DJ_MAX_OF_KERNEL];
  if (!dj_isContactPair(m, low, high)) return false;
  int kernel = dj_pairKernel(m, low, high);
  const djKernel* row = dj_kernel(kernel);
  if (!row->afar) return false;
  dj_pairSettings(setting, m, kernel, low, high);
  return row->afar(setting);
}

static bool someActAfar(const djContacts* c, const djModel* m) {
  for (int u = 0; u < c->nuse; u++) {
    const djKernel* row = dj_kernel(c->use[u]);
    if (row->afar && (m->nsetting > 0 || row->afar(m->kernel_setting + c->first[u]))) return true;
  }
  return false;
}

djStatus dj_listAfar(djContacts* c, const djModel* m) {
  c->nafar = 0;
  if (!someActAfar(c, m)) return DJ_OK;
  for (int i = 0; i < c->nbox; i++) {
    for (int k = i + 1; k < c->nbox; k++) {
      const int low = c->box_geom[i], high = c->box_geom[k];
      if (!dj_actsAfar(m, low, high) || dj_isTied(c, m, low, high)) continue;
      if (c->nafar == c->maxafar) {
        size_t more = 2 * (size_t)c->maxafar + 64;
        djBoxPair* grown = realloc(c->afar, more * sizeof *grown);
        if (!grown) return DJ_NO_MEMORY;
        c->afar = grown;
        c->maxafar = (int)more;
      }
      c->afar[c->nafar++] = (djBoxPair){i, k};
    }
  }
  return DJ_OK;
}

// tight: bodies may move by no more than their need. Where pairs are few, all are listed for good:
// their bounds cost less than lists. c->wanted: the pairs found.
static djStatus listPairs(djContacts* c, const djModel* m, bool tight) {
  const struct djCollision* col = m->collision;
  double least = tight ? 0 : 0.25 * m->contact.radius, factor = tight ? 1.01 : 2;
  if (col->maxpair <= FEW * c->nbox) least = INFINITY;
  for (int b = 0; b < c->nbody; b++) {
    c->margin[b] = moves(m, b) ? dj_larger(least, factor * c->need[b]) : 0;
  }
  for (int i = 0; i < c->nbox; i++) {
    int geom = c->box_geom[i];
    double* box = c->box + 6 * i;
    if (m->geom_type[geom] == DJ_PLANE) {
      for (int k = 0; k < 6; k++) box[k] = k < 3 ? -INFINITY : INFINITY;
      continue;
    }
    djVec3 center, half;
    worldBox(&center, &half, c, m, geom);
    double grow = c->margin[m->geom_body[geom]] +
                  dj_larger(0.5 * (c->maxrange + col->maxinflate), col->beyond[geom]);
    half = dju_add3(half, dju_vec3(grow, grow, grow));
    dju_store3(box, dju_sub3(center, half));
    dju_store3(box + 3, dju_add3(center, half));
  }
  Filter filter = {c, m, c->margin};
  int n = dj_updateBroadphase(c->found, c->maxlist, c->broadphase, c->box, keepPair, &filter);
  n = addAfar(c, n);
  c->wanted = n;
  if (n < 0 || n > c->maxlist) return DJ_CROWDED;
  mergePairs(c, m, n);
  memcpy(c->slack, c->margin, (size_t)c->nbody * sizeof(double));
  c->listed = true;
  c->evaluated = c->blocked = false;   // blocks refer to the list
  return DJ_OK;
}

djStatus dj_listPairs(djContacts* c, const djModel* m, bool guess) {
  djStatus status = listPairs(c, m, false);
  if (status == DJ_CROWDED && !c->fixed && c->wanted > 0 && c->wanted <= c->roomy) {
    djStatus grown = dj_growList(c, c->wanted);
    if (grown == DJ_OK) status = listPairs(c, m, false);
  }
  if (status != DJ_CROWDED) return status;
  if (guess) memset(c->need, 0, (size_t)c->nbody * sizeof(double));
  status = listPairs(c, m, true);
  while (status == DJ_CROWDED) {
    djStatus grown = dj_growList(c, c->wanted);
    if (grown < 0) return grown;
    status = listPairs(c, m, true);
  }
  return status;
}
