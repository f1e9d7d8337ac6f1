// How often a step is cut so that no pair closes too far in one part of it.
//
// A step that minimises an energy has two bodies slide round each other and pass where the way that
// they would go without contact ends beyond the other one. It does not where they approach by less
// than they are wide: what counts is the middle one of a shape's three half extents, as plates of
// any thickness are rounded by their rim alone.

#include "contact/pairs/near.h"
#include "model/geom_row.h"
#include "shape/hull.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ------------------------------------------ widths ---------------------------------------------

// Middle half extent of a geom that collides.
static double widthOf(const djModel* m, int geom) {
  const double* size = m->geom_size + 3 * geom;
  int type = m->geom_type[geom];
  if (dj_isGround(type)) return INFINITY;
  if (type == DJ_MESH) {
    const djHull* hull = &m->collision->hull[m->geom_mesh[geom]];
    return hull->nvert > 0 ? hull->width : m->collision->inner[geom];
  }
  return dj_geomRow(type)->nsize == 3 ? dju_middle(size[0], size[1], size[2]) : size[0];
}

bool dj_mayImpact(const djContacts* c, const djModel* m, const double* move, const double* own) {
  int n = 0, tree = -1;
  bool fast = false, own_fast = false, several = false;
  if (!m->collision->bounded) return false;
  for (int i = 0; i < c->nbox; i++) {
    int geom = c->box_geom[i], b = m->geom_body[geom];
    if (dj_isGround(m->geom_type[geom])) continue;
    int root = m->body_weld[b] ? m->body_root[b] : 0;
    double half = 0.5 * widthOf(m, geom);
    several = several || (n > 0 && root != tree);
    tree = root;
    n++;
    fast = fast || move[b] > half;
    own_fast = own_fast || own[b] > half;
  }
  return n > 1 && (own_fast || (fast && several));
}

// ------------------------------------------ ways -----------------------------------------------

static djVec3 centerOf(const djModel* m, int geom, const djPose* pose) {
  return dju_transform(&pose[m->geom_body[geom]], dju_load3(m->collision->box + 6 * geom));
}

static void growBox(djSwept* s, djVec3 center, const double* half, const djMat3* R, double more) {
  const double p[3] = {center.x, center.y, center.z};
  for (int k = 0; k < 3; k++) {
    const double* row = R->m + 3 * k;
    double h = fabs(row[0]) * half[0] + fabs(row[1]) * half[1] + fabs(row[2]) * half[2] + more;
    if (p[k] - h < s->low[k]) s->low[k] = p[k] - h;
    s->high[k] = dj_larger(s->high[k], p[k] + h);
  }
}

static void sweep(djSwept* s, const djModel* m, int geom, const djPose* from, const djPose* to) {
  const djMat3 *A = &from[m->geom_body[geom]].R, *B = &to[m->geom_body[geom]].R;
  const double* half = m->collision->box + 6 * geom + 3;
  double trace = 0;
  for (int k = 0; k < 9; k++) trace += A->m[k] * B->m[k];
  s->geom = geom;
  s->from = centerOf(m, geom, from);
  s->to = centerOf(m, geom, to);
  s->radius = dju_norm3(dju_load3(half));
  s->turn = sqrt(dj_larger(3 - trace, 0));
  for (int k = 0; k < 3; k++) {
    s->low[k] = INFINITY;
    s->high[k] = -INFINITY;
  }
  // An arc leaves its chord by an eighth of its angle.
  double arc = 0.125 * s->turn * dju_norm3(dju_sub3(s->to, s->from));
  growBox(s, s->from, half, A, arc);
  growBox(s, s->to, half, B, arc);
}

static int compareLow(const void* a, const void* b) {
  const djSwept *x = a, *y = b;
  if (x->low[0] != y->low[0]) return x->low[0] < y->low[0] ? -1 : 1;
  return (x->geom > y->geom) - (x->geom < y->geom);
}

static bool boxesMeet(const djSwept* a, const djSwept* b) {
  for (int k = 1; k < 3; k++) {
    if (a->low[k] > b->high[k] || b->low[k] > a->high[k]) return false;
  }
  return true;
}

// The balls around both come together on the way.
static bool ballsMeet(const djSwept* a, const djSwept* b) {
  djVec3 start = dju_sub3(a->from, b->from), way = dju_sub3(dju_sub3(a->to, b->to), start);
  double square = dju_dot3(way, way), t = square > 0 ? -dju_dot3(start, way) / square : 0;
  t = fmin(fmax(t, 0), 1);
  double reach = a->radius + b->radius + 0.125 * (a->turn + b->turn) * sqrt(square);
  return dju_norm3(dju_madd3(start, t, way)) <= reach;
}

// ------------------------------------------ pairs ----------------------------------------------

static bool collide(const djModel* m, int a, int b) {
  const struct djCollision* col = m->collision;
  if (col->collide) return col->collide[a * col->rowwords + b / 32] >> (b % 32) & 1;
  return dj_isContactPair(m, a, b);
}

// How far a body's point goes along n.
static double along(djVec3 n, djVec3 point, const djPose* from, const djPose* to) {
  djVec3 local = dju_mulMtV(from->R, dju_sub3(point, from->p));
  return dju_dot3(n, dju_sub3(dju_transform(to, local), point));
}

// How far two geoms close along the line of their distance, by their centres or by the nearest
// points, whichever is more; 0 where they do not come to touch.
static double closing(const djContacts* c, const djModel* m, const djSwept* s, const djSwept* t,
                      const djPose* from, const djPose* to) {
  const djSwept *x = s->geom < t->geom ? s : t, *y = x == s ? t : s;
  int kernel = dj_pairKernel(m, x->geom, y->geom);
  djNearPair p = {.a = x->geom, .b = y->geom, .body_a = m->geom_body[x->geom],
                  .body_b = m->geom_body[y->geom]};
  djDistance d;
  if (kernel < 0) return 0;
  p.kernel = dj_kernel(kernel);
  p.use = dj_useOf(m->collision, kernel);
  if (dj_pairGap(&d, NULL, c, &p, m, from) < 0) return 0;
  djVec3 way = dju_sub3(dju_sub3(x->to, x->from), dju_sub3(y->to, y->from));
  double points = along(d.normal, d.point_a, &from[p.body_a], &to[p.body_a]) -
                  along(d.normal, d.point_b, &from[p.body_b], &to[p.body_b]);
  double sum = fmax(dju_dot3(d.normal, way), points);
  return sum > dj_separation(&d) ? sum : 0;
}

// Parts that one pair asks for.
static double partsOf(const djContacts* c, const djModel* m, const djSwept* a, const djSwept* b,
                      const djPose* from, const djPose* to) {
  if (!boxesMeet(a, b) || !collide(m, a->geom, b->geom)) return 1;
  double way = dju_norm3(dju_sub3(dju_sub3(a->to, a->from), dju_sub3(b->to, b->from)));
  double most = way + a->turn * a->radius + b->turn * b->radius;
  double half = 0.5 * (widthOf(m, a->geom) + widthOf(m, b->geom));
  if (most <= half || !ballsMeet(a, b)) return 1;
  return ceil(closing(c, m, a, b, from, to) / half);
}

// Whether the list has all pairs that may come to touch on the way. Then c->moved leads to its
// beginning, c->move to its end.
static bool isListed(djContacts* c, const djModel* m, const djPose* from, const djPose* to) {
  bool covers = dj_isCurrent(c, m);
  if (!covers) return false;
  dj_measureMoves(&c->moved, m, c->base, from);
  dj_measureMoves(&c->move, m, from, to);
  for (int b = 0; b < c->nbody; b++) {
    double slack = m->body_weld[b] ? c->slack[b] : 0;
    covers = covers && c->moved.most[b] + c->move.most[b] <= slack;
  }
  return covers;
}

// The same over the list. Pairs that are farther apart than they move do not touch.
static double partsOfListed(djContacts* c, const djModel* m, const djPose* from,
                            const djPose* to) {
  double parts = 1;
  djSwept s[2] = {{.geom = -1}, {.geom = -1}};
  for (int k = 0; k < c->npair; k++) {
    const djNearPair* p = &c->pair[k];
    double apart = p->bound - dj_bothMove(p, &c->moved);
    if (dj_isGround(m->geom_type[p->b]) || apart > dj_bothMove(p, &c->move)) continue;
    if (apart > dj_relativeMove(p, m, &c->move)) continue;
    if (s[0].geom != p->low) sweep(&s[0], m, p->low, from, to);   // the list is sorted by it
    sweep(&s[1], m, p->high, from, to);
    if (s[0].low[0] > s[1].high[0] || s[1].low[0] > s[0].high[0]) continue;
    parts = dj_larger(parts, partsOf(c, m, &s[0], &s[1], from, to));
  }
  return parts;
}

int dj_impactParts(djContacts* c, const djModel* m, const djPose* from, const djPose* to,
                   int most) {
  bool listed = isListed(c, m, from, to);
  double parts = listed ? partsOfListed(c, m, from, to) : 1;
  int n = 0;
  for (int i = 0; i < c->nbox && !listed; i++) {
    if (dj_isGround(m->geom_type[c->box_geom[i]])) continue;
    sweep(&c->swept[n++], m, c->box_geom[i], from, to);
  }
  qsort(c->swept, (size_t)n, sizeof *c->swept, compareLow);
  for (int i = 0; i < n; i++) {
    const djSwept* s = &c->swept[i];
    for (int k = i + 1; k < n && c->swept[k].low[0] <= s->high[0]; k++) {
      parts = fmax(parts, partsOf(c, m, s, &c->swept[k], from, to));
    }
  }
  return parts < most ? (int)parts : most;
}
