#include "contact/triangles/triangle_plane.h"

#include <math.h>
#include <string.h>

#define MOST 80      // iterations
#define START 0.1    // gap over l at which any plane is as good to start from
#define DONE 1e-14   // of the squared decrement over P: the next step is the last
#define THERE 1e-28  // likewise: there is no next step
#define NEAR 1e-2    // likewise: full steps need no search
#define BOUNDARY 0.9 // of the way to it

// ------------------------------------------ start ----------------------------------------------

typedef struct Parting {
  const djVec3 *a, *b;
  djVec3 best;
  double gap;
} Parting;

// Takes an axis, or the opposite one, where that parts better. Of edges that are parallel, size the
// product of their lengths, there is none.
static void takeAxis(Parting* p, djVec3 axis, double size) {
  const double norm = dju_norm3(axis);
  if (!(norm > 1e-10 * size)) return;
  double low[2], high[2];
  for (int s = 0; s < 2; s++) {
    const djVec3* v = s ? p->b : p->a;
    const double x = dju_dot3(axis, v[0]), y = dju_dot3(axis, v[1]), z = dju_dot3(axis, v[2]);
    low[s] = x < y ? x : y;
    low[s] = z < low[s] ? z : low[s];
    high[s] = x > y ? x : y;
    high[s] = z > high[s] ? z : high[s];
  }
  const double forth = low[1] - high[0], back = low[0] - high[1];
  const double apart = (forth > back ? forth : back) / norm;
  if (!(apart > p->gap)) return;
  p->gap = apart;
  p->best = dju_scale3((forth > back ? 1 : -1) / norm, axis);
}

// The way between the middles, then facets of the difference of both triangles: across faces,
// across an edge of each, and where the triangles lie in one plane across edges in it.
double dj_partTriangles(djVec3* u, const djVec3 a[3], const djVec3 b[3], double enough) {
  Parting p = {a, b, {0, 0, 1}, -INFINITY};
  djVec3 edge[2][3], face[2], middle[2];
  double size[2][3];
  for (int s = 0; s < 2; s++) {
    const djVec3* v = s ? b : a;
    middle[s] = dju_add3(v[0], dju_add3(v[1], v[2]));
    for (int k = 0; k < 3; k++) edge[s][k] = dju_sub3(v[(k + 1) % 3], v[k]);
    face[s] = dju_cross3(edge[s][0], edge[s][1]);
  }
  takeAxis(&p, dju_sub3(middle[1], middle[0]), 0);
  takeAxis(&p, face[0], 0);
  takeAxis(&p, face[1], 0);
  for (int i = 0; i < 6 && p.gap < enough; i++) {
    takeAxis(&p, dju_cross3(face[i / 3], edge[i / 3][i % 3]), 0);
    size[i / 3][i % 3] = dju_norm3(edge[i / 3][i % 3]);
  }
  for (int i = 0; i < 9 && p.gap < enough; i++) {
    takeAxis(&p, dju_cross3(edge[0][i / 3], edge[1][i % 3]), size[0][i / 3] * size[1][i % 3]);
  }
  *u = p.best;
  return p.gap;
}

// The plane across u in the middle. The origin goes to where it is nearest to the vertices.
//   a with c (1 - a)^-p + sum a^-p least: (a/(1 - a))^(p + 1) = sum/c
static double lengthOf(const djTrianglePlane* p, double sum) {
  return 1 / (1 + (p->p == 1 ? sqrt(p->c / sum) : cbrt(p->c / sum)));
}

static bool startPlane(djTrianglePlane* p) {
  djVec3 u, near[2];
  double sum = 0;
  if (!(dj_partTriangles(&u, p->v, p->v + 3, START) > 0)) return false;
  for (int pass = 0; pass < 2; pass++) { // about the new origin there is less rounding
    double most = -INFINITY, least = INFINITY;
    for (int k = 0; k < 3; k++) {
      const double high = dju_dot3(u, p->v[k]), low = dju_dot3(u, p->v[3 + k]);
      most = high > most ? high : most;
      least = low < least ? low : least;
    }
    const double middle = 0.5 * (most + least);
    sum = 0;
    for (int s = 0; s < 2; s++) {
      double weights = 0;
      near[s] = dju_vec3(0, 0, 0);
      for (int k = 3 * s; k < 3 * s + 3; k++) {
        const double x = fabs(dju_dot3(u, p->v[k]) - middle), w = 1 / (x * x * x);
        near[s] = dju_madd3(near[s], w, p->v[k]);
        weights += w;
        sum += p->p == 1 ? 1 / x : 1 / (x * x);
      }
      near[s] = dju_scale3(1 / weights, near[s]);
    }
    if (!(sum < INFINITY)) return false;
    if (pass == 1) {
      const double a = lengthOf(p, sum);
      p->n = dju_scale3(a, u);
      p->o = -a * middle;
      return true;
    }
    const djVec3 z = dju_scale3(0.5, dju_add3(near[0], near[1]));
    p->z = dju_add3(p->z, z);
    for (int k = 0; k < 6; k++) p->v[k] = dju_sub3(p->v[k], z);
  }
  return false;
}

// ------------------------------------------ Newton ---------------------------------------------

static double sideOf(int k) { return k < 3 ? -1 : 1; }

// x of all vertices and the sum; infinite where the plane does not part them.
static double sumAt(double x[6], const djTrianglePlane* p, djVec3 n, double o) {
  const double room = 1 - dju_norm3(n);
  if (!(room > 0)) return INFINITY;
  double sum = p->p == 1 ? p->c / room : p->c / (room * room);
  bool apart = true;
  for (int k = 0; k < 6; k++) {
    x[k] = sideOf(k) * (dju_dot3(n, p->v[k]) + o);
    apart = apart && x[k] > 0;
    sum += p->p == 1 ? 1 / x[k] : 1 / (x[k] * x[k]);
  }
  return apart ? sum : INFINITY;
}

static void setAxes(djVec3 axis[3], djVec3 n) {
  const djVec3 u = dju_scale3(1 / dju_norm3(n), n);
  const double sign = copysign(1, u.z), a = -1 / (sign + u.z), b = u.x * u.y * a;
  axis[0] = u;
  axis[1] = dju_vec3(1 + sign * u.x * u.x * a, sign * b, -sign * u.x);
  axis[2] = dju_vec3(b, sign + u.y * u.y * a, -u.y);
}

// Gradient and factor of the Hessian by (o, n along the axes). The first two are largest where
// triangles are near.
static bool factorAt(double gradient[4], djTrianglePlane* p) {
  const double norm = dju_norm3(p->n), room = 1 - norm, power = p->p;
  double H[16] = {0};
  setAxes(p->axis, p->n);
  memset(gradient, 0, 4 * sizeof(double));
  for (int k = 0; k < 6; k++) {
    const double inverse = 1 / p->x[k], square = inverse * inverse;
    const double row[4] = {1, dju_dot3(p->axis[0], p->v[k]), dju_dot3(p->axis[1], p->v[k]),
                           dju_dot3(p->axis[2], p->v[k])};
    p->force[k] = p->p == 1 ? square : 2 * square * inverse;
    p->bend[k] = (power + 1) * p->force[k] * inverse;
    for (int i = 0; i < 4; i++) {
      gradient[i] -= sideOf(k) * p->force[k] * row[i];
      for (int j = 0; j <= i; j++) H[4 * i + j] += p->bend[k] * row[i] * row[j];
    }
  }
  const double slope = power * p->c / (room * room * (p->p == 1 ? 1 : room));
  gradient[1] += slope;
  H[5] += (power + 1) * slope / room;
  H[10] += slope / norm;
  H[15] += slope / norm;
  for (int i = 0; i < 4; i++) {
    for (int j = 0; j <= i; j++) {
      double s = H[4 * i + j];
      for (int k = 0; k < j; k++) s -= p->factor[4 * i + k] * p->factor[4 * j + k];
      if (i == j && !(s > 0)) return false;
      p->factor[4 * i + j] = i == j ? sqrt(s) : s / p->factor[5 * j];
    }
  }
  return true;
}

static void solve(double x[4], const double L[16]) {
  for (int i = 0; i < 4; i++) {
    for (int k = 0; k < i; k++) x[i] -= L[4 * i + k] * x[k];
    x[i] /= L[5 * i];
  }
  for (int i = 3; i >= 0; i--) {
    for (int k = i + 1; k < 4; k++) x[i] -= L[4 * k + i] * x[k];
    x[i] /= L[5 * i];
  }
}

static djVec3 alongAxes(const djTrianglePlane* p, const double x[3]) {
  djVec3 v = dju_scale3(x[0], p->axis[0]);
  v = dju_madd3(v, x[1], p->axis[1]);
  return dju_madd3(v, x[2], p->axis[2]);
}

void dj_movePlane(djVec3* dn, double* dO, const djTrianglePlane* p, djVec3 by, double by_o) {
  double x[4] = {by_o, dju_dot3(p->axis[0], by), dju_dot3(p->axis[1], by),
                 dju_dot3(p->axis[2], by)};
  solve(x, p->factor);
  *dn = alongAxes(p, x + 1);
  *dO = x[0];
}

// The part of the step that leaves distances positive.
static double insideOf(const djTrianglePlane* p, djVec3 dn, double dO) {
  double t = 1;
  for (int k = 0; k < 6; k++) {
    const double dx = sideOf(k) * (dju_dot3(dn, p->v[k]) + dO);
    if (p->x[k] + t * dx < (1 - BOUNDARY) * p->x[k]) t = -BOUNDARY * p->x[k] / dx;
  }
  const double room = 1 - dju_norm3(p->n);
  while (1 - dju_norm3(dju_madd3(p->n, t, dn)) < (1 - BOUNDARY) * room) t *= 0.7;
  return t;
}

static djStatus solvePlane(djTrianglePlane* p) {
  double gradient[4];
  for (p->iterations = 0; p->iterations < MOST; p->iterations++) {
    if (!factorAt(gradient, p)) return DJ_NOT_CONVERGED;
    double step[4];
    for (int i = 0; i < 4; i++) step[i] = -gradient[i];
    solve(step, p->factor);
    double decrement = 0;
    for (int i = 0; i < 4; i++) decrement -= gradient[i] * step[i];
    if (decrement <= THERE * p->P) return DJ_OK;
    const djVec3 dn = alongAxes(p, step + 1);
    double t = insideOf(p, dn, step[0]), x[6];
    const bool near = t == 1 && decrement < NEAR * p->P;
    for (int cut = 0;; cut++) {
      const djVec3 n = dju_madd3(p->n, t, dn);
      const double o = p->o + t * step[0], sum = sumAt(x, p, n, o);
      if (sum < INFINITY && (near || sum <= p->P - 0.1 * t * decrement)) {
        p->n = n;
        p->o = o;
        p->P = sum;
        memcpy(p->x, x, sizeof x);
        break;
      }
      if (cut == 60) return DJ_NOT_CONVERGED;
      t *= 0.5;
    }
    if (near && decrement <= DONE * p->P) return factorAt(gradient, p) ? DJ_OK : DJ_NOT_CONVERGED;
  }
  return DJ_NOT_CONVERGED;
}

// Vertices about p->z.
static void setVertices(djTrianglePlane* p, const djVec3 a[3], const djVec3 b[3], double l) {
  p->l = l;
  for (int k = 0; k < 3; k++) {
    p->v[k] = dju_sub3(dju_scale3(1 / l, a[k]), p->z);
    p->v[3 + k] = dju_sub3(dju_scale3(1 / l, b[k]), p->z);
  }
}

djStatus dj_findTrianglePlane(djTrianglePlane* p, const djVec3 a[3], const djVec3 b[3], double l) {
  p->z = dju_vec3(0, 0, 0);
  setVertices(p, a, b, l);
  if (!startPlane(p)) return DJ_OVERLAP;
  p->P = sumAt(p->x, p, p->n, p->o);
  return p->P < INFINITY ? solvePlane(p) : DJ_OVERLAP;
}

bool dj_resumeTrianglePlane(djTrianglePlane* p, const djVec3 a[3], const djVec3 b[3], double l) {
  setVertices(p, a, b, l);
  p->P = sumAt(p->x, p, p->n, p->o);
  return p->P < INFINITY && solvePlane(p) == DJ_OK;
}
