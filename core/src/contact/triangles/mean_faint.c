// What is faint beside triangles near each other, before anything is found. Their rho is no more
// than sqrt(3) times their distance d: for a plane with |n| = s, lengths over l, their nearest
// points are x_a + x_b <= s d from it, and of each triangle one vertex is no farther, so that
//   P >= c (1 - s)^-2 + 2 (s d/2)^-2 = c [(1 - s)^-2 + (s e)^-2] >= c (1 + e^(-2/3))^3,  e =
//   sqrt(3) d.
// Up the trees, of the pairs of nodes that hold them,
//   D_ch <= (weight D_child^-q)^(-1/q),  D = (1 - phi) D_ch + phi D_c.

#include "contact/triangles/mesh_distance.h"
#include "contact/triangles/mean_distance.h"

#include <math.h>

#define NEAR 0.5  // triangles that are twice as far as the nearest will do
#define APART 1.1 // from there on no triangles are 21 times as far apart as the nearest

// Which child of a node holds a triangle.
static int childWith(const djSphereTree* t, int i, int triangle) {
  const int right = (int)t->node[i].right;
  if (right == 0) return i;
  return triangle < (int)t->node[right].first ? i + 1 : right;
}

// No less than log D of two nodes.
static double mostOf(const djMeanPair* p, const djMeshDistance* d, int i, int j) {
  const djSphereNode *a = &p->a->node[i], *b = &p->b->node[j];
  const djVec3 x = dju_transform(&p->place, dju_load3(a->x));
  const double r = dju_norm3(dju_sub3(x, dju_load3(b->x))), V = a->V + b->V;
  const double t = r / (a->R + b->R) - 1;
  double phi[3];
  if (t >= 1) return 0.5 * log(r * r + V);
  if (!(a->right > 0) && !(b->right > 0)) {
    const double s = 3 * d->gap * d->gap, part = DJ_MEAN_ALPHA / DJ_MEAN_Q;
    return 0.5 * (part * log(s) + (1 - part) * log(s + V)); // rho^2 is s at most
  }
  const int ca = childWith(p->a, i, d->tri_a), cb = childWith(p->b, j, d->tri_b);
  const double weight = p->a->node[ca].m * p->b->node[cb].m / (a->m * b->m);
  const double near = mostOf(p, d, ca, cb) - log(weight) / DJ_MEAN_Q;
  if (t <= 0) return near;
  dj_quintic(phi, t);
  return log((1 - phi[0]) * exp(near) + phi[0] * sqrt(r * r + V));
}

double dj_firstFaint(const djMeanPair* p) {
  const djSphereNode *a = &p->a->node[0], *b = &p->b->node[0];
  const djVec3 x = dju_transform(&p->place, dju_load3(a->x));
  djMeshDistance d;
  if (dju_norm3(dju_sub3(x, dju_load3(b->x))) >= APART * (a->R + b->R)) return -INFINITY;
  dj_nearTriangles(&d, p->a, p->b, &p->place, NEAR);
  if (!(d.gap > 0)) return -INFINITY;
  return -DJ_MEAN_Q * mostOf(p, &d, 0, 0) - DJ_MEAN_FAINT;
}
