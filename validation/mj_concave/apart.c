// How far two surfaces are apart, or how deep they reach into each other.

#include "mj_concave/concave.h"

#include "common/vec3.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

void cv_openSurfaces(Surfaces* s, const Hanging* what, const mjModel* m) {
  what->thing(&s->own[0]);
  what->holder(&s->own[1]);
  for (int k = 0; k < 2; k++) {
    const djTriangles* own = &s->own[k];
    s->world[k] = *own;
    s->world[k].vert = djv_take(3 * (size_t)own->nvert, sizeof(double));
    s->body[k] = mj_name2id(m, mjOBJ_BODY, k ? "holder" : "thing");
  }
}

void cv_closeSurfaces(Surfaces* s) {
  for (int k = 0; k < 2; k++) {
    free(s->world[k].vert);
    dj_freeTriangles(&s->own[k]);
  }
}

static const double* corner(const djTriangles* t, int i, int k) {
  return t->vert + 3 * t->tri[3 * i + k];
}

// Solid angle of a triangle, after Van Oosterom and Strackee.
static double angleOf(const djTriangles* t, int i, const double x[3]) {
  double v[3][3], n[3], cross[3];
  for (int k = 0; k < 3; k++) {
    djv_sub(v[k], corner(t, i, k), x);
    n[k] = djv_norm(v[k]);
  }
  djv_cross(cross, v[1], v[2]);
  const double below = n[0] * n[1] * n[2] + djv_dot(v[0], v[1]) * n[2] +
                       djv_dot(v[1], v[2]) * n[0] + djv_dot(v[2], v[0]) * n[1];
  return 2 * atan2(djv_dot(v[0], cross), below);
}

static double clamp(double x) { return fmin(1, fmax(0, x)); }

// To the nearest point of a triangle: within, or on an edge.
static double toTriangle(const djTriangles* t, int i, const double x[3]) {
  double edge[3][3], from[3][3], n[3], least = INFINITY;
  bool within = true;
  for (int k = 0; k < 3; k++) {
    djv_sub(edge[k], corner(t, i, (k + 1) % 3), corner(t, i, k));
    djv_sub(from[k], x, corner(t, i, k));
  }
  djv_cross(n, edge[0], edge[1]);
  for (int k = 0; k < 3; k++) {
    double side[3], d[3];
    djv_cross(side, n, edge[k]);
    within = within && djv_dot(side, from[k]) >= 0;
    const double part = clamp(djv_dot(from[k], edge[k]) / djv_dot(edge[k], edge[k]));
    for (int j = 0; j < 3; j++) d[j] = from[k][j] - part * edge[k][j];
    least = fmin(least, djv_norm(d));
  }
  return within ? fabs(djv_dot(n, from[0])) / djv_norm(n) : least;
}

// How deep a point is inside; 0: it is not.
static double depthOf(const djTriangles* t, const double x[3]) {
  double angle = 0, least = INFINITY;
  for (int i = 0; i < t->ntri; i++) angle += angleOf(t, i, x);
  if (fabs(angle) < 2 * PI) return 0;
  for (int i = 0; i < t->ntri; i++) least = fmin(least, toTriangle(t, i, x));
  return least;
}

static void boxOf(double low[3], double high[3], const djTriangles* t) {
  for (int k = 0; k < 3; k++) {
    low[k] = INFINITY;
    high[k] = -INFINITY;
    for (int i = 0; i < t->nvert; i++) {
      low[k] = fmin(low[k], t->vert[3 * i + k]);
      high[k] = fmax(high[k], t->vert[3 * i + k]);
    }
  }
}

// Of points of `of` in `in`.
static double deepest(const djTriangles* of, const djTriangles* in) {
  double low[3], high[3], most = 0;
  boxOf(low, high, in);
  for (int i = 0; i < of->ntri; i++) {
    for (int p = 0; p < 7; p++) { // corners, middles of edges, the middle
      double x[3];
      bool near = true;
      for (int k = 0; k < 3; k++) {
        const double a = corner(of, i, 0)[k], b = corner(of, i, 1)[k], c = corner(of, i, 2)[k];
        const double at[7] = {a, b, c, (a + b) / 2, (b + c) / 2, (c + a) / 2, (a + b + c) / 3};
        x[k] = at[p];
        near = near && x[k] > low[k] && x[k] < high[k];
      }
      if (near) most = fmax(most, depthOf(in, x));
    }
  }
  return most;
}

double cv_apart(Surfaces* s, const double* const pos[2], const double* const mat[2]) {
  djcShape shape[2];
  djcResult found;
  djcOption option = djc_defaultOption();
  option.model = DJ_LONG_RANGE;
  for (int k = 0; k < 2; k++) {
    djTriangles* w = &s->world[k];
    for (int i = 0; i < w->nvert; i++)
      djv_transform(w->vert + 3 * i, pos[k], mat[k], s->own[k].vert + 3 * i);
    shape[k] = (djcShape){.nvert = w->nvert, .vert = w->vert, .ntri = w->ntri, .tri = w->tri};
  }
  djc_pair(&found, NULL, NULL, NULL, &shape[0], &shape[1], &option);
  if (!isfinite(found.gap)) djv_fail("no distance: %s", found.message);
  if (found.gap > 0) return found.gap;
  return -fmax(deepest(&s->world[0], &s->world[1]), deepest(&s->world[1], &s->world[0]));
}
