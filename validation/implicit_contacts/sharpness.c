// How implicit shapes tend to the sharp ones that they stand for.

#include "contacts.h"

#include "common/scene.h"

#include <dijoco/contact.h>

#include <stdio.h>
#include <string.h>

enum { RIM = 720 };

static const double HALF[3] = {0.9, 0.7, 0.5}, RADIUS[2] = {0.8, 0.5}, LENGTH = 0.7;

void makeSharp(Sharp* s, int family, int level) {
  const double n = ldexp(1, level), beta = 10 * n;
  memset(s, 0, sizeof *s);
  s->shape.size = s->size;
  if (family == 0) {
    s->name = "smooth_polytope";
    for (int i = 0; i < 6; i++) {
      s->size[3 * i + i / 2] = i % 2 ? -1 : 1;
      s->size[18 + i] = HALF[i / 2];
    }
    s->size[24] = HALF[2];
    s->size[25] = beta;
    s->shape.nface = 6;
    s->shape.nsize = 26;
  } else if (family == 1) {
    s->name = "truncated_cone";
    const double size[5] = {RADIUS[0], RADIUS[1], LENGTH, LENGTH, beta};
    memcpy(s->size, size, sizeof size);
    s->shape.nsize = 5;
  } else if (family == 2) {
    s->name = "superellipsoid";
    memcpy(s->size, HALF, sizeof HALF);
    s->size[3] = n;
    s->shape.nsize = 4;
  } else {
    s->name = "superelliptic_cylinder";
    const double size[3] = {RADIUS[0], LENGTH, n};
    memcpy(s->size, size, sizeof size);
    s->shape.nsize = 3;
  }
  s->shape.family = s->name;
}

static long double softMax(const long double* c, int n, long double beta) {
  long double most = c[0], sum = 0;
  for (int i = 1; i < n; i++) most = fmaxl(most, c[i]);
  for (int i = 0; i < n; i++) sum += expl(beta * (c[i] - most));
  return most + logl(sum) / beta;
}

long double phiOf(const djcImplicitShape* s, const double y[3]) {
  const double* v = s->size;
  const long double x = y[0], r2 = (long double)y[1] * y[1] + (long double)y[2] * y[2];
  if (s->nface > 0) {
    const int m = s->nface;
    long double c[32];
    for (int i = 0; i < m; i++) {
      c[i] = -v[3 * m + i];
      for (int k = 0; k < 3; k++) c[i] += (long double)v[3 * i + k] * y[k];
      c[i] /= v[4 * m];
    }
    return softMax(c, m, v[4 * m + 1]);
  }
  if (strcmp(s->family, "truncated_cone") == 0) {
    const long double R = v[0] + (v[1] - v[0]) * (x + v[2]) / (v[2] + v[3]);
    const long double c[3] = {r2 / (R * R) - 1, -x / v[2] - 1, x / v[3] - 1};
    return softMax(c, 3, v[4]);
  }
  const bool round = s->nsize == 3;
  const long double n = v[s->nsize - 1];
  long double sum = round ? powl(r2 / (v[0] * v[0]), n) + powl(x * x / (v[1] * v[1]), n) : 0;
  for (int k = 0; k < 3 && !round; k++) sum += powl(y[k] / v[k] * (long double)(y[k] / v[k]), n);
  return powl(sum, 1 / (2 * n)) - 1;
}

double radiusAlong(const djcImplicitShape* s, const double u[3]) {
  double low = 0, high = 1;
  for (int k = 0; k < 60 && high - low > 1e-15; k++) {
    const double t = 0.5 * (low + high), y[3] = {2 * t * u[0], 2 * t * u[1], 2 * t * u[2]};
    if (phiOf(s, y) < 0)
      low = t;
    else
      high = t;
  }
  return low + high;
}

// Vertices of the sharp shape: a box, or rims.
static int sharpVertices(double* vert, int family) {
  int n = 0;
  if (family == 0 || family == 2) {
    for (; n < 8; n++) {
      for (int k = 0; k < 3; k++) vert[3 * n + k] = (n >> k & 1 ? 1 : -1) * HALF[k];
    }
    return n;
  }
  for (; n < 2 * RIM; n++) {
    const int end = n % 2;
    const double r = RADIUS[end && family == 1], angle = 2 * M_PI * (n / 2) / RIM;
    vert[3 * n] = end ? LENGTH : -LENGTH;
    vert[3 * n + 1] = r * cos(angle);
    vert[3 * n + 2] = r * sin(angle);
  }
  return n;
}

static double levelError(djvReport* r, int family, int level, int places) {
  static const double ball[4] = {0.3, 0.3, 0.3, 1}, origin[3] = {0}, one[4] = {1, 0, 0, 0};
  static double vert[6 * RIM];
  const djcImplicitShape round = {"superellipsoid", 0, 4, ball};
  Sharp s;
  djcImplicitPair* pair;
  djError err = {""};
  makeSharp(&s, family, level);
  if (djc_makeImplicitPair(&pair, &s.shape, &round, &err)) djv_fail("%s", err.text);
  djcShape exact = {.vert = vert, .nvert = sharpVertices(vert, family), .quat = {1}};
  djcShape sphere = {.geom = DJ_SPHERE, .size = {ball[0]}, .quat = {1}};
  djvRandom random = djv_random(17);
  double sum = 0;
  long failed = 0;
  for (int i = 0; i < places; i++) {
    double u[3], normal[3], a[3], b[3], gap;
    for (int k = 0; k < 3; k++) u[k] = djv_uniform(&random, -1, 1);
    const double far = 1.6 / fmax(djv_norm(u), 0.1);
    for (int k = 0; k < 3; k++) sphere.pos[k] = sphere.origin[k] = far * u[k];
    djcImplicit o;
    djcImplicitDistance d;
    failed += djc_evalImplicitPair(&o, pair, origin, one, sphere.pos, one, 0) != DJ_OK ||
              djc_implicitDistance(&d, NULL, NULL, pair, 0) != DJ_OK;
    if (djc_distance(&gap, normal, a, b, &exact, &sphere)) djv_fail("no distance by GJK");
    sum += fabs(d.distance - gap) / places;
  }
  djc_deleteImplicitPair(pair);
  if (failed) djv_count(r, s.name, failed, 0);
  return sum;
}

void checkSharpness(djvReport* r, double error[SHARP_FAMILIES][LEVELS], int places) {
  for (int f = 0; f < SHARP_FAMILIES; f++) {
    Sharp s;
    char text[200];
    int at = 0;
    double x = 0, y = 0, xx = 0, xy = 0;
    const int from = 2, n = LEVELS - from;
    makeSharp(&s, f, 0);
    for (int k = 0; k < LEVELS; k++) {
      error[f][k] = levelError(r, f, k, places);
      at += snprintf(text + at, sizeof text - (size_t)at, " %8.1e", error[f][k]);
      if (k < from) continue;
      const double lx = k * log(2), ly = log(error[f][k]);
      x += lx / n, y += ly / n, xx += lx * lx / n, xy += lx * ly / n;
    }
    djv_note("%-23s%s", s.name, text);
    char what[60];
    snprintf(what, sizeof what, "%s: order", s.name);
    djv_near(r, what, -(xy - x * y) / (xx - x * x), 1, 0.1, "");
  }
}
