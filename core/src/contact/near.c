#include "contact/near.h"

#include "contact/recovery.h"

#include <string.h>

// |dp + dR x| <= |dp| + ||dR|| |x|. The singular values of a difference of rotations are
// (2 sin(t/2), 2 sin(t/2), 0), so its norm is the Frobenius norm over sqrt 2.
double dj_displacement(const djPose* from, const djPose* to, double reach) {
  double sum = 0;
  for (int k = 0; k < 9; k++) {
    double d = to->R.m[k] - from->R.m[k];
    sum += d * d;
  }
  return dju_norm3(dju_sub3(to->p, from->p)) + reach * sqrt(0.5 * sum);
}

djStatus dj_pairGap(djDistance* d, djDistanceCache* cache, const djNearPair* p, const djModel* m,
                    const djPose* pose) {
  const djShape* shape = m->collision->shape;
  djStatus status = dj_distance(d, cache, &shape[p->a], &pose[p->body_a], 0, &shape[p->b],
                                &pose[p->body_b], 0);
  if (status < 0) return status;
  d->gap -= dj_pairInflation(&shape[p->a], &shape[p->b], p->inflate);
  return DJ_OK;
}

djStatus dj_trueDepth(double* depth, djContacts* c, const djNearPair* p, const djModel* m,
                      const djPose* pose) {
  djShape a, b;
  djDistance d;
  dj_trueShape(&a, c->scratch, m, p->a);
  dj_trueShape(&b, c->scratch + 3 * a.npad, m, p->b);
  djStatus status = dj_distance(&d, NULL, &a, &pose[p->body_a], 0, &b, &pose[p->body_b], 0);
  *depth = -d.gap;
  return status < 0 ? status : DJ_OK;
}

djPairInput dj_pairInput(const djContacts* c, const djModel* m, const djNearPair* p,
                         const djPose* pose) {
  const djContactSettings* s = &m->contact;
  const djShape* shape = m->collision->shape;
  return (djPairInput){
      .a = &shape[p->a],
      .b = &shape[p->b],
      .pose_a = &pose[p->body_a],
      .pose_b = &pose[p->body_b],
      .start_a = &c->start[p->body_a],
      .start_b = &c->start[p->body_b],
      .ref_a = c->ref[p->body_a],
      .ref_b = c->ref[p->body_b],
      .h = c->h,
      .support = s->support,
      .length_scale = s->length_scale,
      .stiffness = s->stiffness,
      .friction = p->friction,
      .friction_eps = s->friction_eps,
      .force_cap = s->weight,
      .arms = m->opt.friction_arms,
      .cap = m->opt.friction_cap,
      .inflate = p->inflate,
      .recover = m->opt.overlap == DJ_OVERLAP_RECOVER,
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

// Centre and half extents of a geom's box, world axes, at the start poses.
static void worldBox(djVec3* center, djVec3* half, const djContacts* c, const djModel* m,
                     int geom) {
  const double* box = m->collision->box + 6 * geom;
  const djPose* pose = &c->start[m->geom_body[geom]];
  const double* R = pose->R.m;
  *center = dju_transform(pose, dju_load3(box));
  half->x = fabs(R[0]) * box[3] + fabs(R[1]) * box[4] + fabs(R[2]) * box[5];
  half->y = fabs(R[3]) * box[3] + fabs(R[4]) * box[4] + fabs(R[5]) * box[5];
  half->z = fabs(R[6]) * box[3] + fabs(R[7]) * box[4] + fabs(R[8]) * box[5];
}

// Lower bound of the distance of two shapes' boxes, or of a box and a half space.
static double boxGap(const djContacts* c, const djModel* m, int a, int b) {
  djVec3 ca, ha, cb, hb;
  worldBox(&ca, &ha, c, m, a);
  const djShape* plane = &m->collision->shape[b];
  if (plane->type == DJ_PLANE) {
    const djPose* pose = &c->start[m->geom_body[b]];
    djVec3 n = dju_mulMV(pose->R, plane->normal);
    return dju_dot3(n, dju_sub3(ca, pose->p)) - plane->offset -
           (fabs(n.x) * ha.x + fabs(n.y) * ha.y + fabs(n.z) * ha.z);
  }
  worldBox(&cb, &hb, c, m, b);
  double x = fabs(ca.x - cb.x) - ha.x - hb.x, y = fabs(ca.y - cb.y) - ha.y - hb.y;
  return fmax(fmax(x, y), fabs(ca.z - cb.z) - ha.z - hb.z);
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
  if (m->geom_type[a] == DJ_PLANE) {
    int swap = a;
    a = b;
    b = swap;
  } else if (m->geom_type[b] != DJ_PLANE) {
    return true;
  }
  if (moves(m, m->geom_body[b])) return true;
  double margin = f->margin[m->geom_body[a]] +
                  fmax(f->c->range + col->maxinflate, col->beyond[a] + col->beyond[b]);
  return !(boxGap(f->c, m, a, b) > margin);
}

static void newPair(djNearPair* p, const djContacts* c, const djModel* m, int low, int high) {
  memset(p, 0, sizeof *p);
  p->low = low;
  p->high = high;
  bool swap = m->geom_type[low] == DJ_PLANE;
  p->a = swap ? high : low;
  p->b = swap ? low : high;
  p->body_a = m->geom_body[p->a];
  p->body_b = m->geom_body[p->b];
  djPairCoefficients k = dj_pairCoefficients(m, low, high);
  p->friction = k.friction;
  p->inflate = k.inflate;
  p->slot = -1;
  p->always = m->geom_type[p->b] == DJ_PLANE && moves(m, p->body_b);
  p->bound = p->always ? -INFINITY : boxGap(c, m, p->a, p->b) - fmax(p->inflate, 0);
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
      newPair(&c->other[n++], c, m, low, high);
      i++;
      continue;
    }
    djNearPair* p = &c->pair[k++];
    if (order == 0 || p->near || p->begun) {
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

djStatus dj_listPairs(djContacts* c, const djModel* m, bool tight) {
  const struct djCollision* col = m->collision;
  double least = tight ? 0 : 0.25 * m->contact.radius, factor = tight ? 1.01 : 2;
  for (int b = 0; b < c->nbody; b++) {
    c->move[b] = moves(m, b) ? fmax(least, factor * c->need[b]) : 0;
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
    double grow = c->move[m->geom_body[geom]] +
                  fmax(0.5 * (c->range + col->maxinflate), col->beyond[geom]);
    half = dju_add3(half, dju_vec3(grow, grow, grow));
    dju_store3(box, dju_sub3(center, half));
    dju_store3(box + 3, dju_add3(center, half));
  }
  Filter filter = {c, m, c->move};
  int n = dj_updateBroadphase(c->found, c->maxlist, c->broadphase, c->box, keepPair, &filter);
  if (n > c->maxlist) return DJ_NO_MEMORY;
  mergePairs(c, m, n);
  memcpy(c->slack, c->move, (size_t)c->nbody * sizeof(double));
  c->listed = true;
  c->evaluated = false;   // blocks refer to the list
  return DJ_OK;
}
