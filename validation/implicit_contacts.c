// Kinds of contact between implicit surfaces (iDCOL, Figs. 3, 6, 7).
//
// Four contacts of polytopes: whichever way, face-edge (alpha < 1), face-face, edge-edge (alpha >
// 1). alpha must lie within a bracket that does not come from the pair's solution: gauges at x from
// above, and from below, for any unit n, n.r/(ha(n) + hb(-n)), with support functions by planes. It
// is no less than alpha of the sharp polytopes, which is a linear program (its corners are all
// tried), and no more than that of polytopes that lie inside the smooth ones. Derivatives are
// finite, and are those of differences where the condition allows.
//
// Sharpness: the distance tends to GJK's for the sharp shapes. Witness points: at contact the gap
// is the distance. --sharpness FILE, --witness FILE: pictures of both, as SVG.

#include "common/scene.h"
#include "implicit_contacts/contacts.h"

#include <stdio.h>
#include <string.h>

enum { MOST = 14 }; // facets of both

static const double BOX[26] = {1, 0, 0, -1, 0,  0,  0, 1,   0,   0,   -1,  0, 0,
                               0, 1, 0, 0,  -1, 1., 1, 0.8, 0.8, 0.6, 0.6, 1, 20};

typedef struct Pose {
  double pos[3], quat[4];
} Pose;

typedef struct Body {
  djcImplicitShape shape;
  double size[4 * MOST + 2];
  Pose pose;
} Body;

static void makeBox(Body* b) {
  memcpy(b->size, BOX, sizeof BOX);
  b->shape = (djcImplicitShape){"smooth_polytope", 6, 26, b->size};
}

// Six sides about y, one of which is below, and two ends.
static void makePrism(Body* b) {
  for (int i = 0; i < 8; i++) {
    double* a = b->size + 3 * i;
    const double angle = M_PI / 6 + i * M_PI / 3;
    a[0] = i < 6 ? cos(angle) : 0;
    a[1] = i < 6 ? 0 : 13 - 2 * i;
    a[2] = i < 6 ? sin(angle) : 0;
    b->size[24 + i] = i < 6 ? 0.7 : 0.9;
  }
  b->size[32] = 1;
  b->size[33] = 20;
  b->shape = (djcImplicitShape){"smooth_polytope", 8, 34, b->size};
}

static djcImplicitPair* makePair(const djcImplicitShape* a, const djcImplicitShape* b) {
  djError err = {""};
  djcImplicitPair* pair;
  if (djc_makeImplicitPair(&pair, a, b, &err)) djv_fail("%s", err.text);
  return pair;
}

// ---- alpha of sharp polytopes -------------------------------------------------------------------

static double determinant(double A[4][5], double x[4]) {
  double det = 1;
  for (int k = 0; k < 4; k++) {
    int p = k;
    for (int i = k + 1; i < 4; i++) {
      if (fabs(A[i][k]) > fabs(A[p][k])) p = i;
    }
    for (int j = 0; j < 5 && p != k; j++) {
      const double t = A[k][j];
      A[k][j] = A[p][j];
      A[p][j] = t;
    }
    det *= A[k][k];
    if (fabs(det) < 1e-12) return 0;
    for (int i = k + 1; i < 4; i++) {
      const double f = A[i][k] / A[k][k];
      for (int j = k; j < 5; j++) A[i][j] -= f * A[k][j];
    }
  }
  for (int k = 3; k >= 0; k--) {
    x[k] = A[k][4];
    for (int j = k + 1; j < 4; j++) x[k] -= A[k][j] * x[j];
    x[k] /= A[k][k];
  }
  return det;
}

// Least alpha with n.x - alpha b <= n.p for all facets of both, b less by `inset` of L.
static double sharpAlpha(const Body body[2], const double inset[2]) {
  double row[MOST][5];
  int m = 0;
  for (int k = 0; k < 2; k++) {
    const int n = body[k].shape.nface;
    double R[9];
    djv_quatToMat(R, body[k].pose.quat);
    for (int i = 0; i < n; i++, m++) {
      static const double none[3] = {0};
      djv_transform(row[m], none, R, body[k].size + 3 * i);
      row[m][3] = -(body[k].size[3 * n + i] - inset[k] * body[k].size[4 * n]);
      row[m][4] = djv_dot(row[m], body[k].pose.pos);
    }
  }
  double best = INFINITY;
  for (int c = 0; c < 1 << m; c++) {
    if (__builtin_popcount((unsigned)c) != 4) continue;
    double A[4][5], x[4];
    int n = 0;
    for (int i = 0; i < m; i++) {
      if (c >> i & 1) memcpy(A[n++], row[i], sizeof row[i]);
    }
    if (determinant(A, x) == 0 || x[3] >= best) continue;
    bool feasible = true;
    for (int i = 0; i < m; i++) {
      feasible &= djv_dot(row[i], x) + row[i][3] * x[3] <= row[i][4] + 1e-10;
    }
    if (feasible) best = x[3];
  }
  return best;
}

// ---- the bracket of alpha -----------------------------------------------------------------------

static double upperAlpha(const Body body[2], const double x[3]) {
  double most = 0;
  for (int k = 0; k < 2; k++) {
    double R[9], off[3], u[3];
    djv_quatToMat(R, body[k].pose.quat);
    djv_sub(off, x, body[k].pose.pos);
    const double length = djv_norm(off);
    for (int i = 0; i < 3; i++) {
      u[i] = (R[i] * off[0] + R[3 + i] * off[1] + R[6 + i] * off[2]) / length;
    }
    most = fmax(most, length / radiusAlong(&body[k].shape, u));
  }
  return most;
}

// Height of the origin over a plane that touches the body from below along n: its support function.
static double support(const Body* body, const double n[3]) {
  static const djcImplicitShape plane = {"plane", 0, 0, NULL};
  const double across = n[0] * n[0] + n[1] * n[1], less = n[2] > 0 ? across / (1 + n[2]) : 1 - n[2];
  double quat[4] = {less, n[1], -n[0], 0}; // turns z to -n
  if (across == 0) quat[0] = n[2]<0, quat[1] = n[2]> 0;
  double norm = 0;
  for (int k = 0; k < 4; k++) norm += quat[k] * quat[k];
  for (int k = 0; k < 4; k++) quat[k] /= sqrt(norm);
  djcImplicit o;
  djError err = {""};
  if (djc_implicit(&o, NULL, NULL, &body->shape, body->pose.pos, body->pose.quat, &plane,
                   body->pose.pos, quat, 0, &err)) {
    djv_fail("no support function: %s", err.text);
  }
  return -o.gap;
}

static double lowerAlpha(const Body body[2], const double n[3]) {
  double r[3];
  const double back[3] = {-n[0], -n[1], -n[2]};
  djv_sub(r, body[1].pose.pos, body[0].pose.pos);
  return djv_dot(n, r) / (support(&body[0], n) + support(&body[1], back));
}

// ---- derivatives --------------------------------------------------------------------------------

enum { OUTPUTS = 8 }; // alpha, gap, x, normal

static void turnBy(double quat[4], int axis, double angle) {
  const double s = sin(angle / 2), c = cos(angle / 2), q[4] = {quat[0], quat[1], quat[2], quat[3]};
  const int i = axis + 1, j = axis == 2 ? 1 : axis + 2, k = axis == 0 ? 3 : axis;
  quat[0] = c * q[0] - s * q[i];
  quat[i] = c * q[i] + s * q[0];
  quat[j] = c * q[j] - s * q[k];
  quat[k] = c * q[k] + s * q[j];
}

static void valuesAt(double v[OUTPUTS], djcImplicitPair* pair, const Body body[2], int j,
                     double h) {
  Pose pose[2] = {body[0].pose, body[1].pose};
  djcImplicit o;
  if (j % 6 < 3)
    turnBy(pose[j / 6].quat, j % 6, h);
  else
    pose[j / 6].pos[j % 6 - 3] += h;
  if (djc_evalImplicitPair(&o, pair, pose[0].pos, pose[0].quat, pose[1].pos, pose[1].quat, 0)) {
    djv_fail("not solved beside the contact");
  }
  v[0] = o.alpha;
  v[1] = o.gap;
  memcpy(v + 2, o.x, sizeof o.x);
  memcpy(v + 5, o.normal, sizeof o.normal);
}

// Largest errors against differences of sixth order, of alpha and gap, and of x and normal, by the
// largest derivatives.
static void differences(double worst[2], djcImplicitPair* pair, const Body body[2],
                        const djcImplicit* o) {
  double error[2] = {0, 0}, size[2] = {0, 0}, v[6][OUTPUTS];
  double most = 1;
  for (int k = 0; k < 36; k++) most = fmax(most, fabs(o->dx[k]));
  const double h = 2e-3 / most;
  for (int j = 0; j < 12; j++) {
    static const double STEP[6] = {3, 2, 1, -1, -2, -3};
    for (int q = 0; q < 6; q++) valuesAt(v[q], pair, body, j, STEP[q] * h);
    for (int i = 0; i < OUTPUTS; i++) {
      const double d =
          (45 * (v[2][i] - v[3][i]) - 9 * (v[1][i] - v[4][i]) + (v[0][i] - v[5][i])) / (60 * h);
      const double mine = i == 0   ? o->dalpha[j]
                          : i == 1 ? o->dgap[j]
                          : i < 5  ? o->dx[12 * (i - 2) + j]
                                   : o->dnormal[12 * (i - 5) + j];
      error[i > 1] = djv_worst(error[i > 1], fabs(d - mine));
      size[i > 1] = fmax(size[i > 1], fabs(d));
    }
  }
  for (int k = 0; k < 2; k++) worst[k] = error[k] / size[k];
}

static bool allFinite(const djcImplicit* o) {
  double sum = 0;
  for (int k = 0; k < 12; k++) sum += o->dalpha[k] + o->dgap[k];
  for (int k = 0; k < 36; k++) {
    sum += o->dx[k] + o->dnormal[k] + o->dpoint_a[k] + o->dpoint_b[k];
  }
  return isfinite(sum);
}

// ---- contacts -----------------------------------------------------------------------------------

static void checkContact(djvReport* r, const char* name, Body body[2], bool apart) {
  djcImplicitPair* pair = makePair(&body[0].shape, &body[1].shape);
  const Pose *p = &body[0].pose, *q = &body[1].pose;
  djcImplicit o;
  const djStatus status = djc_evalImplicitPair(&o, pair, p->pos, p->quat, q->pos, q->quat,
                                               DJC_DERIVATIVES | DJC_CONDITION);
  if (status) djv_fail("%s: not solved", name);
  const double upper = upperAlpha(body, o.x), lower = lowerAlpha(body, o.normal);
  static const double none[2] = {0, 0};
  const double rounding = fmax(1e-8, 1e-12 * o.condition); // of the differences
  double inset[2], worst[2];
  for (int k = 0; k < 2; k++) {
    inset[k] = log(body[k].shape.nface) / body[k].size[4 * body[k].shape.nface + 1];
  }
  const double sharp = sharpAlpha(body, none), inside = sharpAlpha(body, inset);
  differences(worst, pair, body, &o);
  djv_note("%-10s alpha %.12f, within %+.1e, %+.1e; sharp %.6f, inside %.6f; gap %+.6f; condition "
           "%.1e",
           name, o.alpha, lower - o.alpha, upper - o.alpha, sharp, inside, o.gap, o.condition);
  char what[60];
  snprintf(what, sizeof what, "%s: bracket of alpha", name);
  djv_below(r, what, fmax(fabs(upper - o.alpha), fabs(lower - o.alpha)) / o.alpha, 1e-11, "");
  snprintf(what, sizeof what, "%s: alpha beyond sharp bounds", name);
  djv_count(r, what, !(sharp <= o.alpha && o.alpha <= inside), 0);
  snprintf(what, sizeof what, "%s: on the wrong side of 1", name);
  djv_count(r, what, apart != (o.alpha > 1), 0);
  snprintf(what, sizeof what, "%s: derivatives not finite", name);
  djv_count(r, what, !allFinite(&o), 0);
  snprintf(what, sizeof what, "%s: alpha and gap, differences", name);
  djv_below(r, what, worst[0], rounding, "");
  snprintf(what, sizeof what, "%s: x and normal, differences", name);
  djv_below(r, what, worst[1], rounding, "");
  djc_deleteImplicitPair(pair);
}

static void checkContacts(djvReport* r) {
  static const struct {
    const char* name;
    bool apart;
    double turn_a, turn_b; // about y
    double pos[3], quat[4];
  } CASES[4] = {{"general", false, 0, 0, {0.9, 0.5, 0.6}, {0.8, 0.3, -0.4, 0.33}},
                {"face-edge", false, 0, M_PI / 6, {0.2, 0.1, 1.1}, {1, 0, 0, 0}},
                {"face-face", true, 0, 0, {0.15, -0.1, 1.7}, {1, 0, 0, 0}},
                {"edge-edge", true, M_PI / 4, M_PI / 6, {0.1, 0.2, 2.4}, {1, 0, 0, 0}}};
  for (int i = 0; i < 4; i++) {
    Body body[2] = {{.pose = {{0}, {1}}}, {.pose = {{0}, {1}}}};
    double norm = 0;
    makeBox(&body[0]);
    makePrism(&body[1]);
    memcpy(body[1].pose.pos, CASES[i].pos, sizeof CASES[i].pos);
    for (int k = 0; k < 4; k++) norm += CASES[i].quat[k] * CASES[i].quat[k];
    for (int k = 0; k < 4; k++) body[1].pose.quat[k] = CASES[i].quat[k] / sqrt(norm);
    turnBy(body[0].pose.quat, 1, CASES[i].turn_a);
    turnBy(body[1].pose.quat, 1, CASES[i].turn_b);
    checkContact(r, CASES[i].name, body, CASES[i].apart);
  }
}

// ---- witness points -----------------------------------------------------------------------------

// At contact, by moving b along the line of the origins, for all pairs of families.
static void checkWitness(djvReport* r, int places) {
  static const double one[4] = {1, 0, 0, 0}, zero[3] = {0};
  djvRandom random = djv_random(23);
  double contact = 0, ratio = 0;
  long failed = 0, total = 0;
  for (int i = 0; i < SHARP_FAMILIES * SHARP_FAMILIES; i++) {
    Sharp s[2];
    makeSharp(&s[0], i % SHARP_FAMILIES, 1);
    makeSharp(&s[1], i / SHARP_FAMILIES, 1);
    djcImplicitPair* pair = makePair(&s[0].shape, &s[1].shape);
    for (int k = 0; k < places; k++, total++) {
      double pos[3], quat[4];
      djcImplicit o;
      djcImplicitDistance d;
      djv_uniforms(pos, 3, &random, -3, 3);
      djv_randomQuat(&random, quat);
      for (int step = 0; step < 3; step++) {
        failed += djc_evalImplicitPair(&o, pair, zero, one, pos, quat, 0) != DJ_OK;
        if (step == 0 && o.gap > 0.1) {
          failed += djc_implicitDistance(&d, NULL, NULL, pair, 0) != DJ_OK;
          ratio = fmax(ratio, o.gap / d.distance);
        }
        for (int j = 0; j < 3 && step < 2; j++) pos[j] /= o.alpha;
      }
      failed += djc_implicitDistance(&d, NULL, NULL, pair, 0) != DJ_OK;
      double points = djv_dist(o.point_a, d.point_a), normals = djv_dist(o.normal, d.normal);
      contact = djv_worst(contact, fabs(d.distance - o.gap));
      if (points > 1e-6 || normals > 1e-6) failed++;
    }
    djc_deleteImplicitPair(pair);
  }
  djv_note("%ld places of 16 pairs: apart, the gap is up to %.2f times the distance", total, ratio);
  djv_count(r, "not found, or points differ in contact", failed, 0);
  djv_below(r, "in contact: gap beside distance", contact, 1e-9, "m");
}

int main(int argc, char** argv) {
  const char* sharpness = djv_takeText(&argc, argv, "--sharpness");
  const char* witness = djv_takeText(&argc, argv, "--witness");
  const bool quick = djv_isQuick(argc, argv);
  double error[SHARP_FAMILIES][LEVELS];
  djvReport r = {0};
  djv_title("Four contacts of a box and a prism, beta 20");
  checkContacts(&r);
  djv_title(
      "Distance from a ball beside GJK's of the sharp shape, m: beta 10, 20... 640, n 1... 64");
  checkSharpness(&r, error, quick ? 40 : 2000);
  djv_title("Witness points");
  checkWitness(&r, quick ? 40 : 4000);
  if (sharpness) drawSharpness(sharpness, error);
  if (witness) drawWitness(witness);
  return djv_finish(&r);
}
