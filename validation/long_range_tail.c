// The tail of a guide over the distance: two geoms of all pairs of types, turned at random, are
// moved apart along the line of their centres from where the barrier begins to 1e4 times their
// size. What must hold at every distance: barrier with tail repel, and their force falls with the
// distance (d2U/dg2 > 0). Sizes of one geom differ by a factor of up to 8; every fourth turn both
// geoms are parallel and side by side, of one type also of the same sizes.
//
// --turns N (300; --quick: 60), --aspect X: the factor.
//
// The worst of a pair of types is the least of g d2U/dg2 over the force, which is 1.5 far away.

#include "common/report.h"
#include "common/scene.h"
#include "common/vec3.h"

#include <dijoco/contact.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NTYPE = 6, NGAP = 60 };

static const char* const NAME[NTYPE] = {"sphere",   "capsule", "ellipsoid",
                                        "cylinder", "box",     "hull"};
static const djGeomType TYPE[NTYPE] = {DJ_SPHERE,   DJ_CAPSULE, DJ_ELLIPSOID,
                                       DJ_CYLINDER, DJ_BOX,     DJ_MESH};

// A geom at the origin; radii of its largest ball and of one that holds it.
typedef struct Body {
  djcShape shape;
  djvHull hull;
  double vert[3 * DJV_MAX_VERT];
  double inner, bound;
} Body;

static double least3(const double f[3]) { return fmin(f[0], fmin(f[1], f[2])); }

static void drawHull(Body* b, djvRandom* r, const double f[3]) {
  djvHull round;
  djv_makeHull(&round, r, 12);
  djv_scaleHull(&b->hull, &round, f);
  djv_closeHull(&b->hull);
  b->shape.nvert = b->hull.nvert;
  b->bound = 0;
  for (int i = 0; i < b->hull.nvert; i++) {
    for (int k = 0; k < 3; k++) b->vert[3 * i + k] = b->hull.vert[i][k] - b->hull.com[k];
    b->bound = fmax(b->bound, djv_norm(b->vert + 3 * i));
  }
  b->shape.vert = b->vert;
  b->inner = 0.6 * least3(f);
}

static void draw(Body* b, djvRandom* r, int type, double aspect) {
  double f[3], size = djv_uniform(r, -1, 1);
  djv_uniforms(f, 3, r, -1, 0);
  for (int k = 0; k < 3; k++) f[k] = exp(size) * pow(aspect, f[k]);
  memset(&b->shape, 0, sizeof b->shape);
  b->shape.quat[0] = 1;
  b->shape.geom = TYPE[type];
  memcpy(b->shape.size, f, sizeof f);
  switch (TYPE[type]) {
    case DJ_SPHERE:
      b->inner = b->bound = f[0];
      break;
    case DJ_CAPSULE:
      b->inner = f[0], b->bound = f[0] + f[1];
      break;
    case DJ_CYLINDER:
      b->inner = fmin(f[0], f[1]), b->bound = hypot(f[0], f[1]);
      break;
    case DJ_ELLIPSOID:
      b->inner = least3(f), b->bound = fmax(f[0], fmax(f[1], f[2]));
      break;
    case DJ_BOX:
      b->inner = least3(f), b->bound = djv_norm(f);
      break;
    default:
      drawHull(b, r, f);
      break;
  }
}

static void copyBody(Body* b, const Body* a) {
  *b = *a;
  if (b->shape.nvert) b->shape.vert = b->vert;
}

// A pair in its turns, and the direction from centre to centre.
typedef struct Turned {
  const Body* body[2];
  double quat[2][4], along[3];
} Turned;

static void rotate(double out[3], const double q[4], const double v[3]) {
  double t[3], u[3];
  djv_cross(t, q + 1, v);
  for (int k = 0; k < 3; k++) t[k] = 2 * t[k];
  djv_cross(u, q + 1, t);
  for (int k = 0; k < 3; k++) out[k] = v[k] + q[0] * t[k] + u[k];
}

// side: of both when parallel, 0, 1, 2; -1: turned at random.
static void turn(Turned* t, djvRandom* r, int side) {
  for (int k = 0; k < 2; k++) djv_randomQuat(r, t->quat[k]);
  double v[3] = {side == 0, side == 1, side == 2}, n = 1;
  while (side < 0 && (djv_uniforms(v, 3, r, -1, 1), n = djv_norm(v), n < 0.1 || n > 1)) continue;
  for (int k = 0; k < 3; k++) t->along[k] = v[k] / n;
  if (side < 0) return;
  memcpy(t->quat[1], t->quat[0], sizeof t->quat[0]);
  rotate(t->along, t->quat[0], v);
}

static double gapAt(const Turned* t, double distance) {
  static double vert[2][3 * DJV_MAX_VERT];
  djcShape s[2];
  for (int side = 0; side < 2; side++) {
    double pos[3], x[3];
    s[side] = t->body[side]->shape;
    for (int k = 0; k < 3; k++) pos[k] = side * distance * t->along[k];
    memcpy(s[side].pos, pos, sizeof pos);
    memcpy(s[side].quat, t->quat[side], sizeof t->quat[side]);
    for (int i = 0; i < s[side].nvert; i++) {
      rotate(x, t->quat[side], s[side].vert + 3 * i);
      for (int k = 0; k < 3; k++) vert[side][3 * i + k] = x[k] + pos[k];
    }
    if (s[side].nvert) s[side].vert = vert[side];
  }
  double gap, normal[3], a[3], b[3];
  if (djc_distance(&gap, normal, a, b, &s[0], &s[1]) < 0) djv_fail("no distance");
  return gap;
}

typedef struct Tally {
  long places, unsolved, attract, rise;
  double worst; // g U''/F
} Tally;

static void sweep(Tally* tally, const Turned* t) {
  const Body *a = t->body[0], *b = t->body[1];
  // by the default rules, for a weight of 1 N; c as without thin parts
  double l = a->bound + b->bound, r = a->inner + b->inner, s = 0.01 * r, range = 2 * s / (1 - s);
  double length = fmin(0.1 * l, 0.3 * pow(r * r * r * l, 0.25)), K = 3.125e7 * s * s;
  const djcSetting setting[2] = {{"guide", 5e-4 * l * l / K}, {"guide_length", length}};
  djcOption option = djc_defaultOption();
  djcPair* pair;
  djError err;
  option.support = s;
  option.nsetting = 2;
  option.setting = setting;
  option.guide_scale = l;
  if (djc_makePair(&pair, &a->shape, &b->shape, &option, &err) < 0) djv_fail("%s", err.text);
  double low = 0, high = 2 * l;
  for (int i = 0; i < 60; i++) {
    double middle = 0.5 * (low + high);
    *(gapAt(t, middle) < range ? &low : &high) = middle;
  }
  for (int i = 0; i < NGAP; i++) {
    double g = i ? l * pow(10, -4 + 8.0 * i / (NGAP - 1)) : 0, value, gradient[12], H[144];
    double zero[3] = {0}, pos[3], bend = 0;
    for (int k = 0; k < 3; k++) pos[k] = (high + g) * t->along[k];
    djc_forgetPair(pair);
    djStatus status = djc_evalPair(&value, gradient, H, pair, zero, t->quat[0], pos, t->quat[1]);
    double force = -djv_dot(gradient + 9, t->along);
    for (int k = 0; k < 9; k++) {
      bend += t->along[k / 3] * t->along[k % 3] * H[12 * (9 + k / 3) + 9 + k % 3];
    }
    tally->places++;
    tally->unsolved += status != DJ_OK;
    tally->attract += !(force > 0);
    tally->rise += !(bend > 0);
    double share = (g + range) * bend / fabs(force);
    tally->worst = tally->worst < share ? tally->worst : share;
  }
  djc_deletePair(pair);
}

int main(int argc, char** argv) {
  double aspect = djv_takeNumber(&argc, argv, "--aspect", 8);
  double given = djv_takeNumber(&argc, argv, "--turns", 0);
  int turns = given > 0 ? (int)given : djv_isQuick(argc, argv) ? 60 : 300;
  djvReport report = {0};
  Tally sum = {.worst = INFINITY};
  static Body a, b;
  djv_title("%d turns of each pair, sizes that differ by a factor of up to %g", turns, aspect);
  for (int i = 0; i < NTYPE; i++) {
    for (int j = i; j < NTYPE; j++) {
      Tally one = {.worst = INFINITY};
      for (int k = 0; k < turns; k++) {
        djvRandom r = djv_random((uint64_t)(1000000 * (10 * i + j) + k + 1));
        bool parallel = k % 4 == 3;
        Turned t = {.body = {&a, &b}};
        draw(&a, &r, i, aspect);
        draw(&b, &r, j, aspect);
        if (parallel && i == j) copyBody(&b, &a);
        turn(&t, &r, parallel ? k / 4 % 3 : -1);
        sweep(&one, &t);
      }
      djv_note("%-10s %-10s worst g U''/F %9.4f; %ld places attract, in %ld the force rises",
               NAME[i], NAME[j], one.worst, one.attract, one.rise);
      sum.places += one.places;
      sum.unsolved += one.unsolved;
      sum.attract += one.attract;
      sum.rise += one.rise;
      sum.worst = fmin(sum.worst, one.worst);
    }
  }
  djv_countOf(&report, "planes not solved", sum.unsolved, 0, sum.places);
  djv_countOf(&report, "places where a pair does not repel", sum.attract, 0, sum.places);
  djv_countOf(&report, "places where its force rises", sum.rise, 0, sum.places);
  djv_above(&report, "the least g U''/F", sum.worst, 0, "");
  djv_figure(&report, "least g U''/F", sum.worst, "");
  return djv_finish(&report);
}
