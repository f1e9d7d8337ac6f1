// Exact distance fields: nearest points against brute force and an ellipsoid's in long double, all
// derivatives against differences and by Taylor slopes, ridges, bounds, and points where formulas
// divide by zero.

#include "common/near.h"
#include "common/random.h"
#include "common/test.h"
#include "shape/field.h"
#include "shape/field_ellipsoid.h"

#define CHECK(x) assert_true(x)

static const int TYPES[] = {DJ_PLANE, DJ_SPHERE, DJ_CAPSULE, DJ_ELLIPSOID, DJ_CYLINDER, DJ_BOX};
enum { NTYPE = sizeof TYPES / sizeof TYPES[0] };
static const int NSIZE[DJ_NGEOMTYPE] = {
    [DJ_SPHERE] = 1, [DJ_CAPSULE] = 2, [DJ_ELLIPSOID] = 3, [DJ_CYLINDER] = 2, [DJ_BOX] = 3};

static djDistanceField randomField(djRng* rng, int type, double ratio) {
  djDistanceField f = {.type = type};
  for (int k = 0; k < NSIZE[type]; k++) f.size[k] = exp(djt_uniform(rng, -log(ratio), 0));
  return f;
}

static double largest(const djDistanceField* f) {
  double size = fmax(f->size[0], fmax(f->size[1], f->size[2]));
  return size > 0 ? size : 1;
}

// Deep inside, near the surface on both sides, and far.
static void randomPlace(double x[3], djRng* rng, const djDistanceField* f) {
  double size = largest(f), radius = size * exp(djt_uniform(rng, -3, 2));
  djt_uniforms(x, 3, rng, -radius, radius);
  for (int k = 0; k < NSIZE[f->type]; k++) {
    if (djt_integer(rng, 2) == 0) x[k] *= f->size[k] / size;
  }
  if (djt_integer(rng, 2) == 0) return;
  djFieldAt at;
  dj_fieldAt(&at, f, x);
  double to = 0.05 * size * djt_uniform(rng, -1, 1) - at.distance;
  for (int k = 0; k < 3; k++) x[k] += to * at.normal[k];
}

static bool isInside(const djDistanceField* f, const double x[3]) {
  const double* s = f->size;
  double round = sqrt(x[0] * x[0] + x[1] * x[1]), z = fabs(x[2]);
  switch (f->type) {
    case DJ_PLANE:
      return x[2] < 0;
    case DJ_SPHERE:
      return sqrt(round * round + z * z) < s[0];
    case DJ_CAPSULE:
      return hypot(round, fmax(z - s[1], 0)) < s[0];
    case DJ_CYLINDER:
      return round < s[0] && z < s[1];
    case DJ_BOX:
      return fabs(x[0]) < s[0] && fabs(x[1]) < s[1] && z < s[2];
    default:
      return x[0] / s[0] * (x[0] / s[0]) + x[1] / s[1] * (x[1] / s[1]) +
                 x[2] / s[2] * (x[2] / s[2]) <
             1;
  }
}

// A point of the surface.
static void randomSurface(double y[3], djRng* rng, const djDistanceField* f) {
  const double* s = f->size;
  djt_unitVector(y, rng);
  double round = sqrt(y[0] * y[0] + y[1] * y[1]);
  if (f->type == DJ_PLANE) {
    djt_uniforms(y, 2, rng, -2, 2);
    y[2] = 0;
  } else if (f->type == DJ_SPHERE) {
    for (int k = 0; k < 3; k++) y[k] *= s[0];
  } else if (f->type == DJ_ELLIPSOID) {
    for (int k = 0; k < 3; k++) y[k] *= s[k];
  } else if (f->type == DJ_BOX) {
    int axis = djt_integer(rng, 3);
    for (int k = 0; k < 3; k++) y[k] = s[k] * djt_uniform(rng, -1, 1);
    y[axis] = copysign(s[axis], y[axis]);
  } else if (f->type == DJ_CAPSULE && djt_integer(rng, 2)) {
    for (int k = 0; k < 3; k++) y[k] *= s[0];
    y[2] += copysign(s[1], y[2]);
  } else if (f->type == DJ_CYLINDER && djt_integer(rng, 2)) {
    double r = s[0] * sqrt(djt_uniform(rng, 0, 1));
    for (int k = 0; k < 2; k++) y[k] *= r / round;
    y[2] = copysign(s[1], y[2]);
  } else {
    for (int k = 0; k < 2; k++) y[k] *= s[0] / round;
    y[2] = s[1] * djt_uniform(rng, -1, 1);
  }
}

static double distanceBetween(const double a[3], const double b[3]) {
  return dju_norm3(dju_sub3(dju_load3(a), dju_load3(b)));
}

// How far y is from the surface, by its equation; to first order.
static double offSurface(const djDistanceField* f, const double y[3]) {
  const double* s = f->size;
  double round = sqrt(y[0] * y[0] + y[1] * y[1]), z = fabs(y[2]), value = -1, slope = 0;
  switch (f->type) {
    case DJ_PLANE:
      return y[2];
    case DJ_SPHERE:
      return hypot(round, z) - s[0];
    case DJ_CAPSULE:
      return hypot(round, fmax(z - s[1], 0)) - s[0];
    case DJ_CYLINDER:
      return fmax(round - s[0], z - s[1]);
    case DJ_BOX:
      return fmax(fabs(y[0]) - s[0], fmax(fabs(y[1]) - s[1], z - s[2]));
    default:
      for (int k = 0; k < 3; k++) {
        value += y[k] / s[k] * (y[k] / s[k]);
        slope += 4 * y[k] * y[k] / (s[k] * s[k] * s[k] * s[k]);
      }
      return value / sqrt(slope);
  }
}

// The point y = x - d n is on the surface, no point of the surface is nearer than |d|, and the sign
// is that of inside: so d is the distance.
static void testNearest(void) {
  djRng rng = {1};
  for (int i = 0; i < NTYPE; i++) {
    double tightest = INFINITY;
    for (int trial = 0; trial < 400; trial++) {
      djDistanceField f = randomField(&rng, TYPES[i], trial % 2 ? 100 : 5);
      double x[3], y[3], size = largest(&f), nearest = INFINITY;
      randomPlace(x, &rng, &f);
      djFieldAt at;
      dj_fieldAt(&at, &f, x);
      double scale = size + fabs(at.distance);
      for (int k = 0; k < 3; k++) y[k] = x[k] - at.distance * at.normal[k];
      djt_near(offSurface(&f, y), 0, 1e-14 * scale);
      if (fabs(at.distance) > 1e-12 * size) CHECK((at.distance < 0) == isInside(&f, x));
      for (int k = 0; k < 2000; k++) {
        randomSurface(y, &rng, &f);
        nearest = fmin(nearest, distanceBetween(x, y));
      }
      CHECK(nearest >= fabs(at.distance) - 1e-14 * scale);
      tightest = fmin(tightest, nearest - fabs(at.distance));
    }
    CHECK(tightest < 1e-3); // the surface is there
  }
}

// By bisection in long double of sum (a x/(a^2 + t))^2 = 1.
static long double slowEllipsoid(const double a[3], const double x[3]) {
  long double least = fminl(a[0], fminl(a[1], a[2])), low = 0, high = 0;
  for (int k = 0; k < 3; k++) high += (long double)a[k] * fabsl(x[k]);
  for (int i = 0; i < 300; i++) {
    long double tau = (low + high) / 2, sum = 0;
    for (int k = 0; k < 3; k++) {
      long double e = ((long double)a[k] - least) * ((long double)a[k] + least);
      long double q = x[k] == 0 ? 0 : a[k] * (long double)x[k] / (e + tau);
      sum += q * q;
    }
    if (sum > 1)
      low = tau;
    else
      high = tau;
  }
  long double tau = high, length = 0;
  for (int k = 0; k < 3; k++) {
    long double e = ((long double)a[k] - least) * ((long double)a[k] + least);
    long double w = x[k] == 0 ? 0 : x[k] / (e + tau);
    length += w * w;
  }
  return (tau - least * least) * sqrtl(length);
}

// Aspect ratios to 1:100, equal axes, points near the planes of symmetry and near the focal disc.
static void testEllipsoids(void) {
  djRng rng = {2};
  double worst = 0;
  for (int trial = 0; trial < 20000; trial++) {
    djDistanceField f = randomField(&rng, DJ_ELLIPSOID, 100);
    if (trial % 5 == 0) f.size[1] = f.size[0];
    if (trial % 7 == 0) f.size[2] = f.size[1];
    double x[3];
    randomPlace(x, &rng, &f);
    if (trial % 3 == 0) x[djt_integer(&rng, 3)] *= exp(djt_uniform(&rng, -60, 0));
    djFieldAt at;
    dj_fieldAt(&at, &f, x);
    double exact = (double)slowEllipsoid(f.size, x);
    double scale = largest(&f) + fabs(exact);
    worst = fmax(worst, fabs(at.distance - exact) / scale);
  }
  CHECK(worst < 4e-16 * 10);
  // exactly on the focal disc: both sides of the least axis are nearest
  for (int trial = 0; trial < 200; trial++) {
    djDistanceField f = randomField(&rng, DJ_ELLIPSOID, 100);
    f.size[1] *= 0.5 * fmin(f.size[0], f.size[2]);
    double x[3] = {0, 0, 0}, near[3];
    for (int k = 0; k < 3; k += 2) {
      x[k] = 0.7 * (f.size[k] - f.size[1] * f.size[1] / f.size[k]) * djt_uniform(&rng, -1, 1);
    }
    djFieldAt at, beside;
    dj_fieldAt(&at, &f, x);
    memcpy(near, x, sizeof near);
    near[1] = 1e-12 * f.size[1];
    dj_fieldAt(&beside, &f, near);
    CHECK(at.normal[1] > 0 && at.ridge == DJ_RIDGE_MIDDLE && at.ridge_distance == 0);
    for (int k = 0; k < 3; k++) djt_near(at.normal[k], beside.normal[k], 1e-9);
    for (int k = 0; k < 9; k++) djt_near(at.turn[k], beside.turn[k], 1e-6 * (1 + fabs(at.turn[k])));
    near[1] = -near[1];
    dj_fieldAt(&beside, &f, near);
    djt_near(beside.normal[1], -at.normal[1], 1e-9);
    CHECK(beside.piece != at.piece);
  }
}

// Whether all is of one piece between the ends of a difference.
static bool isSmooth(const djDistanceField* f, const double x[3], int axis, double step) {
  djFieldAt a, b;
  double y[3];
  memcpy(y, x, sizeof y);
  y[axis] = x[axis] + 2 * step;
  dj_fieldAt(&a, f, y);
  y[axis] = x[axis] - 2 * step;
  dj_fieldAt(&b, f, y);
  return a.piece == b.piece;
}

// Extrapolated differences: (8 (+1) - 8 (-1) - (+2) + (-2))/12 h of 13 numbers.
static void differences(double out[4], const djDistanceField* f, const double x[3], int axis,
                        bool of_size, double step) {
  const double weight[4] = {8, -8, -1, 1}, offset[4] = {1, -1, 2, -2};
  memset(out, 0, 4 * sizeof *out);
  for (int i = 0; i < 4; i++) {
    djDistanceField g = *f;
    double y[3] = {x[0], x[1], x[2]};
    djFieldAt at;
    *(of_size ? &g.size[axis] : &y[axis]) += offset[i] * step;
    dj_fieldAt(&at, &g, y);
    out[0] += weight[i] * at.distance / (12 * step);
    for (int k = 0; k < 3; k++) out[1 + k] += weight[i] * at.normal[k] / (12 * step);
  }
}

static void testDerivatives(void) {
  djRng rng = {3};
  for (int i = 0; i < NTYPE; i++) {
    int checked = 0, inside = 0;
    for (int trial = 0; trial < 4000; trial++) {
      djDistanceField f = randomField(&rng, TYPES[i], 20);
      double x[3], by_size[3], turn_size[9], out[4];
      randomPlace(x, &rng, &f);
      djFieldAt at;
      dj_fieldAt(&at, &f, x);
      if (at.ridge_distance < 1e-3) continue;
      double least = fmin(at.ridge_distance, 1);
      for (int k = 0; k < NSIZE[TYPES[i]]; k++) least = fmin(least, f.size[k]);
      double step = 1e-3 * least, rounding = 2e-15 * (1 + dju_norm3(dju_load3(x))) / step;
      double scale = 1e-9 / least; // 1/least: the most that curvatures are
      dj_fieldSizes(by_size, turn_size, &f, x, &at);
      checked++;
      inside += at.distance < 0;
      for (int k = 0; k < 3; k++) {
        djt_near(at.gradient[k], at.normal[k], 0);
        if (!isSmooth(&f, x, k, step)) continue;
        differences(out, &f, x, k, false, step);
        djt_near(out[0], at.gradient[k], 1e-9 + rounding);
        for (int j = 0; j < 3; j++) djt_near(out[1 + j], at.turn[3 * j + k], scale + 4 * rounding);
      }
      for (int k = 0; k < 3; k++) {
        if (k >= NSIZE[TYPES[i]]) {
          djt_near(by_size[k], 0, 0);
          for (int j = 0; j < 3; j++) djt_near(turn_size[3 * j + k], 0, 0);
          continue;
        }
        djDistanceField more = f, less = f;
        djFieldAt a, b;
        more.size[k] += 2 * step;
        less.size[k] -= 2 * step;
        dj_fieldAt(&a, &more, x);
        dj_fieldAt(&b, &less, x);
        if (a.piece != b.piece) continue;
        differences(out, &f, x, k, true, step);
        djt_near(out[0], by_size[k], 1e-9 + rounding);
        for (int j = 0; j < 3; j++) {
          djt_near(out[1 + j], turn_size[3 * j + k], scale + 4 * rounding);
        }
      }
    }
    CHECK(checked > 2000 && inside > 500);
  }
}

// |n| = 1, so that dn/dx is symmetric and has n as null vector.
static void testEikonal(void) {
  djRng rng = {4};
  for (int i = 0; i < NTYPE; i++) {
    for (int trial = 0; trial < 5000; trial++) {
      djDistanceField f = randomField(&rng, TYPES[i], 100);
      double x[3], most = 0;
      randomPlace(x, &rng, &f);
      djFieldAt at;
      dj_fieldAt(&at, &f, x);
      djt_near(dju_norm3(dju_load3(at.normal)), 1, 1e-15);
      for (int k = 0; k < 9; k++) most = fmax(most, fabs(at.turn[k]));
      for (int k = 0; k < 3; k++) {
        const double* row = at.turn + 3 * k;
        djt_near(dju_dot3(dju_load3(row), dju_load3(at.normal)), 0, 1e-14 * most);
        for (int j = 0; j < 3; j++) djt_near(row[j], at.turn[3 * j + k], 1e-15 * most);
      }
    }
  }
}

// The remainder of the second-order expansion falls with the third power of the step, or, where
// that term is small by chance, faster or more slowly.
static void testTaylor(void) {
  djRng rng = {5};
  for (int i = 0; i < NTYPE; i++) {
    int checked = 0, third = 0;
    for (int trial = 0; trial < 3000; trial++) {
      djDistanceField f = randomField(&rng, TYPES[i], 5);
      double x[3], v[3], rest[2];
      randomPlace(x, &rng, &f);
      djt_unitVector(v, &rng);
      djFieldAt at, there;
      dj_fieldAt(&at, &f, x);
      double step = 0.02 * fmin(at.ridge_distance, 0.2);
      bool same = true;
      for (int k = 0; k < 2; k++, step /= 2) {
        double y[3], first = 0, second = 0;
        for (int j = 0; j < 3; j++) y[j] = x[j] + step * v[j];
        dj_fieldAt(&there, &f, y);
        same = same && there.piece == at.piece;
        for (int j = 0; j < 3; j++) {
          first += step * at.gradient[j] * v[j];
          for (int l = 0; l < 3; l++) second += step * step / 2 * v[j] * at.turn[3 * j + l] * v[l];
        }
        rest[k] = there.distance - at.distance - first - second;
      }
      if (!same || fabs(rest[1]) < 1e-9 * step || fabs(rest[1]) < 1e-13) continue;
      third += fabs(log2(fabs(rest[0] / rest[1])) - 3) < 0.2;
      checked++;
    }
    bool flat = TYPES[i] == DJ_PLANE || TYPES[i] == DJ_BOX || TYPES[i] == DJ_CYLINDER;
    CHECK(third >= 0.97 * checked && (flat || checked > 300));
  }
}

static void testBounds(void) {
  djRng rng = {6};
  for (int i = 0; i < NTYPE; i++) {
    for (int trial = 0; trial < 2000; trial++) {
      djDistanceField f = randomField(&rng, TYPES[i], 20);
      double x[3], y[3], step[3], size = largest(&f);
      randomPlace(x, &rng, &f);
      double radius = size * exp(djt_uniform(&rng, -4, 1));
      double bound = dj_fieldBound(&f, x, radius);
      djFieldAt at;
      for (int k = 0; k < 10; k++) {
        djt_unitVector(step, &rng);
        double length = k < 5 ? radius : radius * djt_uniform(&rng, 0, 1);
        for (int j = 0; j < 3; j++) y[j] = x[j] + length * step[j];
        dj_fieldAt(&at, &f, y);
        CHECK(bound <= at.distance + 1e-14 * (size + radius));
      }
      dj_fieldAt(&at, &f, x);
      if (TYPES[i] == DJ_ELLIPSOID) CHECK(bound == dj_ellipsoidBound(&f, x) - radius);
      if (TYPES[i] != DJ_ELLIPSOID) djt_near(bound, at.distance - radius, 1e-14 * (size + radius));
      if (at.distance > 2 * size) CHECK(bound > at.distance / 2 - radius); // and it skips
    }
  }
}

// Where the normal jumps most on a segment, after so many halvings that what is smooth is still.
static double jumpOn(const djDistanceField* f, const double a[3], const double b[3]) {
  double end[2][3], middle[3], jump = 0;
  memcpy(end[0], a, sizeof end[0]);
  memcpy(end[1], b, sizeof end[1]);
  for (int i = 0; i < 36; i++) {
    djFieldAt at[3];
    for (int k = 0; k < 3; k++) middle[k] = 0.5 * (end[0][k] + end[1][k]);
    dj_fieldAt(&at[0], f, end[0]);
    dj_fieldAt(&at[1], f, middle);
    dj_fieldAt(&at[2], f, end[1]);
    double first = distanceBetween(at[0].normal, at[1].normal);
    double second = distanceBetween(at[1].normal, at[2].normal);
    jump = fmax(first, second);
    memcpy(end[first > second ? 1 : 0], middle, sizeof middle);
  }
  return jump;
}

// No jump is nearer than ridge_distance; and beyond it there is one, of the kind that is named.
static void testRidges(void) {
  djRng rng = {7};
  for (int i = 0; i < NTYPE; i++) {
    int jumps = 0;
    for (int trial = 0; trial < 3000; trial++) {
      djDistanceField f = randomField(&rng, TYPES[i], 5);
      double x[3], y[3], step[3];
      randomPlace(x, &rng, &f);
      djt_unitVector(step, &rng);
      djFieldAt at;
      dj_fieldAt(&at, &f, x);
      CHECK(at.ridge_distance >= 0 && (at.ridge == DJ_RIDGE_NONE) == isinf(at.ridge_distance));
      double reach = fmin(at.ridge_distance, 10);
      for (int k = 0; k < 3; k++) y[k] = x[k] + 0.999 * reach * step[k];
      CHECK(jumpOn(&f, x, y) < 1e-5);
      for (int k = 0; k < 3; k++) y[k] = x[k] + (reach + 0.1) * step[k];
      jumps += jumpOn(&f, x, y) > 1e-2;
    }
    CHECK(TYPES[i] == DJ_PLANE || TYPES[i] == DJ_SPHERE || TYPES[i] == DJ_CAPSULE || jumps > 100);
  }
}

typedef struct Place {
  int type;
  double x[3], distance, normal[3];
  djRidge ridge;
  double ridge_distance;
} Place;

// Sizes 1, 2, 3 throughout.
static const Place PLACES[] = {
    {DJ_PLANE, {5, 6, -7}, -7, {0, 0, 1}, DJ_RIDGE_NONE, INFINITY},
    {DJ_SPHERE, {0, 0, 0}, -1, {0, 0, 1}, DJ_RIDGE_CENTRE, 0},
    {DJ_SPHERE, {0, -3, 0}, 2, {0, -1, 0}, DJ_RIDGE_CENTRE, 3},
    {DJ_CAPSULE, {0, 0, 1}, -1, {1, 0, 0}, DJ_RIDGE_AXIS, 0},
    {DJ_CAPSULE, {0, 0, 2}, -1, {1, 0, 0}, DJ_RIDGE_AXIS, 0},
    {DJ_CAPSULE, {0, 0, -5}, 2, {0, 0, -1}, DJ_RIDGE_AXIS, 3},
    {DJ_CYLINDER, {0, 0, 0}, -1, {1, 0, 0}, DJ_RIDGE_AXIS, 0},
    {DJ_CYLINDER, {0, 0, 1.75}, -0.25, {0, 0, 1}, DJ_RIDGE_BISECTOR, 0.75 * 0.70710678118654752},
    {DJ_CYLINDER, {0.5, 0, 1.5}, -0.5, {0, 0, 1}, DJ_RIDGE_BISECTOR, 0},
    {DJ_CYLINDER, {1, 0, 2}, 0, {0, 0, 1}, DJ_RIDGE_EDGE, 0},
    {DJ_CYLINDER, {-4, 0, -6}, 5, {-0.6, 0, -0.8}, DJ_RIDGE_EDGE, 5},
    {DJ_CYLINDER, {0, 4, 0}, 3, {0, 1, 0}, DJ_RIDGE_EDGE, 3.6055512754639893},
    {DJ_BOX, {0, 0, 0}, -1, {1, 0, 0}, DJ_RIDGE_MIDDLE, 0},
    {DJ_BOX, {-0.5, 1.5, 0}, -0.5, {-1, 0, 0}, DJ_RIDGE_BISECTOR, 0},
    {DJ_BOX, {0.75, 0, 0}, -0.25, {1, 0, 0}, DJ_RIDGE_MIDDLE, 0.75},
    {DJ_BOX, {1, 2, 3}, 0, {1, 0, 0}, DJ_RIDGE_EDGE, 0},
    {DJ_BOX, {2, -4, 5}, 3, {1.0 / 3, -2.0 / 3, 2.0 / 3}, DJ_RIDGE_EDGE, 3},
    {DJ_BOX, {4, 0, -7}, 5, {0.6, 0, -0.8}, DJ_RIDGE_EDGE, 5},
    {DJ_BOX, {0, 5, 0}, 3, {0, 1, 0}, DJ_RIDGE_EDGE, 3.1622776601683795},
    {DJ_ELLIPSOID, {0, 0, 0}, -1, {1, 0, 0}, DJ_RIDGE_MIDDLE, 0},
    {DJ_ELLIPSOID, {0, 0, -5}, 2, {0, 0, -1}, DJ_RIDGE_MIDDLE, 5 - 8.0 / 3},
};

static void testPlaces(void) {
  for (size_t i = 0; i < sizeof PLACES / sizeof PLACES[0]; i++) {
    const Place* p = &PLACES[i];
    djDistanceField f = {.type = p->type, .size = {1, 2, 3}};
    djFieldAt at, again;
    dj_fieldAt(&at, &f, p->x);
    dj_fieldAt(&again, &f, p->x);
    assert_memory_equal(&at, &again, sizeof at);
    djt_near(at.distance, p->distance, 1e-14);
    for (int k = 0; k < 3; k++) djt_near(at.normal[k], p->normal[k], 1e-14);
    assert_int_equal(at.ridge, p->ridge);
    CHECK(isinf(p->ridge_distance) ? isinf(at.ridge_distance)
                                   : fabs(at.ridge_distance - p->ridge_distance) < 1e-12);
  }
  assert_string_equal(dj_ridgeName(DJ_RIDGE_BISECTOR), "bisector");
  assert_string_equal(dj_ridgeName(DJ_RIDGE_MEDIAL), "medial");
  assert_string_equal(dj_ridgeName(DJ_RIDGE_NONE), "");
  assert_string_equal(dj_ridgeName((djRidge)99), "");
}

// On centres, axes, faces and edges, beside them by next to nothing, and far away.
static void testFinite(void) {
  const double special[] = {0,       -0.0,   1,     -1,        2,   3,    1e-200,
                            -1e-160, 1e-120, 1e-20, 1 + 1e-15, 1e8, -1e60};
  enum { N = sizeof special / sizeof special[0] };
  for (int i = 0; i < NTYPE; i++) {
    for (int m = 0; m < N * N * N * 3; m++) {
      djDistanceField f = {.type = TYPES[i], .size = {1, 2, 3}};
      if (m % 3 == 1) f.size[0] = 3; // two equal ones
      if (m % 3 == 2) f.size[0] = f.size[1] = 3;
      const double x[3] = {special[m / 3 % N], special[m / 3 / N % N], special[m / 3 / N / N]};
      double by_size[3], turn_size[9], sum = 0;
      djFieldAt at;
      dj_fieldAt(&at, &f, x);
      dj_fieldSizes(by_size, turn_size, &f, x, &at);
      sum += at.distance + dj_fieldBound(&f, x, 1);
      for (int k = 0; k < 9; k++) sum += at.turn[k] / 1e150 + turn_size[k] / 1e150;
      for (int k = 0; k < 3; k++) sum += at.gradient[k] + by_size[k];
      CHECK(isfinite(sum) && at.ridge_distance >= 0);
      djt_near(dju_norm3(dju_load3(at.normal)), 1, 1e-14);
    }
  }
}

static void testOthers(void) {
  const int none[] = {-1, DJ_HFIELD, DJ_NGEOMTYPE, 1000000};
  const double x[3] = {1, 2, 3};
  double by_size[3] = {1, 1, 1}, turn_size[9], vert[3] = {4, 5, 6};
  djFieldAt at;
  for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
    djDistanceField f = {.type = none[i], .size = {1, 1, 1}};
    CHECK(!dj_hasField(none[i]));
    dj_fieldAt(&at, &f, x);
    CHECK(isinf(at.distance) && at.normal[0] == 0 && at.turn[0] == 0);
    dj_fieldSizes(by_size, turn_size, &f, x, &at);
    CHECK(by_size[0] == 0 && turn_size[8] == 0 && isinf(dj_fieldBound(&f, x, 1)));
  }
  for (int i = 0; i < NTYPE; i++) CHECK(dj_hasField(TYPES[i]));
  CHECK(dj_hasField(DJ_MESH));
  djDistanceField mesh = {.type = DJ_MESH}; // without a grid
  dj_fieldAt(&at, &mesh, x);
  CHECK(isinf(at.distance) && isinf(dj_fieldBound(&mesh, x, 1)));
  dj_fieldVertices(vert, &mesh, x, 1, x);
  djDistanceField box = {.type = DJ_BOX, .size = {1, 1, 1}};
  dj_fieldVertices(vert, &box, x, 1, x);
  CHECK(vert[0] == 4 && vert[1] == 5 && vert[2] == 6);
}

DJT_MAIN(testNearest, testEllipsoids, testDerivatives, testEikonal, testTaylor, testBounds,
         testRidges, testPlaces, testFinite, testOthers)
