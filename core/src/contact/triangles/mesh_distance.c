#include "contact/triangles/mesh_distance.h"

#include "contact/triangles/triangle_plane.h"
#include "math/so3.h"

#include <math.h>

#define SHARE 0.9 // of the gap, in one advance
#define ADVANCES 20
#define LEFT 0.1 // of the first gap

static double clamp(double x) { return x < 0 ? 0 : x > 1 ? 1 : x; }

// ------------------------------------------ triangles ------------------------------------------

// The point of a triangle that is nearest to x.
static djVec3 nearestOf(djVec3 x, const djVec3 v[3]) {
  const djVec3 e = dju_sub3(v[1], v[0]), f = dju_sub3(v[2], v[0]), r = dju_sub3(x, v[0]);
  const double ee = dju_dot3(e, e), ef = dju_dot3(e, f), ff = dju_dot3(f, f);
  const double er = dju_dot3(e, r), fr = dju_dot3(f, r), det = ee * ff - ef * ef;
  const double s = ff * er - ef * fr, t = ee * fr - ef * er;
  if (s >= 0 && t >= 0 && s + t <= det && det > 0) {
    return dju_madd3(dju_madd3(v[0], s / det, e), t / det, f);
  }
  djVec3 best = v[0];
  double least = INFINITY;
  for (int k = 0; k < 3; k++) {
    const djVec3 edge = dju_sub3(v[(k + 1) % 3], v[k]);
    const double part = clamp(dju_dot3(dju_sub3(x, v[k]), edge) / dju_dot3(edge, edge));
    const djVec3 p = dju_madd3(v[k], part, edge), d = dju_sub3(x, p);
    if (!(dju_dot3(d, d) < least)) continue;
    least = dju_dot3(d, d);
    best = p;
  }
  return best;
}

static void takePoints(djMeshDistance* out, double* least, djVec3 on_a, djVec3 on_b) {
  const djVec3 d = dju_sub3(on_b, on_a);
  const double square = dju_dot3(d, d);
  if (!(square < *least)) return;
  *least = square;
  out->on_a = on_a;
  out->on_b = on_b;
}

// Of edges p + s u and q + t w, 0 <= s, t <= 1.
static void takeEdges(djMeshDistance* out, double* least, djVec3 p, djVec3 u, djVec3 q, djVec3 w) {
  const djVec3 r = dju_sub3(q, p);
  const double uu = dju_dot3(u, u), uw = dju_dot3(u, w), ww = dju_dot3(w, w);
  const double ur = dju_dot3(u, r), wr = dju_dot3(w, r), det = uu * ww - uw * uw;
  double s = det > 1e-14 * uu * ww ? clamp((ur * ww - uw * wr) / det) : 0;
  const double t = clamp((s * uw - wr) / ww);
  s = clamp((t * uw + ur) / uu);
  takePoints(out, least, dju_madd3(p, s, u), dju_madd3(q, t, w));
}

void dj_triangleDistance(djMeshDistance* out, const djVec3 a[3], const djVec3 b[3], double enough) {
  double least = INFINITY;
  djVec3 u;
  const double apart = dj_partTriangles(&u, a, b, enough);
  out->gap = apart;
  if (apart >= enough) return;
  for (int k = 0; k < 3; k++) {
    takePoints(out, &least, a[k], nearestOf(a[k], b));
    takePoints(out, &least, nearestOf(b[k], a), b[k]);
    for (int i = 0; i < 3; i++) {
      takeEdges(out, &least, a[k], dju_sub3(a[(k + 1) % 3], a[k]), b[i],
                dju_sub3(b[(i + 1) % 3], b[i]));
    }
  }
  out->gap = apart > 0 ? sqrt(least) : apart;
  out->normal = u;
  if (out->gap > 0) {
    const djVec3 d = dju_scale3(1 / out->gap, dju_sub3(out->on_b, out->on_a));
    const double norm = dju_norm3(d);
    if (norm > 0.5) out->normal = dju_scale3(1 / norm, d);
  }
}

// ------------------------------------------ meshes ---------------------------------------------

typedef struct Search {
  const djSphereTree *a, *b;
  const djPose* place;
  djMeshDistance* best;
  double part; // of the best gap: what is no nearer is not looked for
} Search;

// No triangles of both nodes are nearer.
static double boundOf(const Search* s, int i, int j) {
  const djSphereNode *a = &s->a->node[i], *b = &s->b->node[j];
  const djVec3 x = dju_transform(s->place, dju_load3(a->x));
  return dju_norm3(dju_sub3(x, dju_load3(b->x))) - a->R - b->R;
}

static void searchTriangles(const Search* s, const djSphereNode* a, const djSphereNode* b) {
  djVec3 va[3], vb[3];
  djMeshDistance d;
  for (int k = 0; k < 3; k++) {
    va[k] = dju_transform(s->place, dj_treeVertex(s->a, (int)a->first, k));
    vb[k] = dj_treeVertex(s->b, (int)b->first, k);
  }
  const double enough = s->part * s->best->gap;
  dj_triangleDistance(&d, va, vb, enough);
  if (!(d.gap < enough)) return;
  *s->best = d;
  s->best->tri_a = (int)a->first;
  s->best->tri_b = (int)b->first;
}

// The nearer child of the larger node first.
static void search(const Search* s, int i, int j, double bound) {
  const djSphereNode *a = &s->a->node[i], *b = &s->b->node[j];
  if (!(bound < s->part * s->best->gap)) return;
  const int ra = (int)a->right, rb = (int)b->right;
  if (ra == 0 && rb == 0) {
    searchTriangles(s, a, b);
    return;
  }
  const bool part_a = rb == 0 || (ra > 0 && a->R >= b->R);
  const int i1 = part_a ? i + 1 : i, i2 = part_a ? ra : i;
  const int j1 = part_a ? j : j + 1, j2 = part_a ? j : rb;
  const double first = boundOf(s, i1, j1), second = boundOf(s, i2, j2);
  if (first <= second) {
    search(s, i1, j1, first);
    search(s, i2, j2, second);
  } else {
    search(s, i2, j2, second);
    search(s, i1, j1, first);
  }
}

void dj_meshDistance(djMeshDistance* out, const djSphereTree* a, const djSphereTree* b,
                     const djPose* place) {
  dj_nearTriangles(out, a, b, place, 1);
}

void dj_nearTriangles(djMeshDistance* out, const djSphereTree* a, const djSphereTree* b,
                      const djPose* place, double part) {
  const Search s = {a, b, place, out, part};
  *out = (djMeshDistance){.gap = INFINITY, .normal = {0, 0, 1}};
  search(&s, 0, 0, boundOf(&s, 0, 0));
}

// ------------------------------------------ motions --------------------------------------------

double dj_meshAdvance(double* gap, const djSphereTree* a, const djSphereTree* b,
                      const djPose* place, const djPose* trial, djVec3 center, double bound) {
  const djVec3 from = dju_transform(place, center), to = dju_transform(trial, center);
  const djVec3 turn = dju_logQuat(dju_quatOf(dju_mulMtM(place->R, trial->R)));
  const djVec3 move = dju_sub3(to, from);
  const double speed = dju_norm3(move) + bound * dju_norm3(turn);
  djMeshDistance d;
  djPose now = *place;
  double part = 0, first = 0;
  for (int k = 0; k < ADVANCES; k++) {
    dj_meshDistance(&d, a, b, &now);
    if (k == 0) *gap = first = d.gap;
    if (k > 0 && !(d.gap > LEFT * first)) return part;
    if (!(d.gap > 0)) return 0;
    if (part + SHARE * d.gap / speed >= 1) return 1;
    part += SHARE * d.gap / speed;
    now.R = dju_mulMM(place->R, dju_quatToMat(dju_expQuat(dju_scale3(part, turn))));
    now.p = dju_sub3(dju_madd3(from, part, move), dju_mulMV(now.R, center));
  }
  return part;
}
