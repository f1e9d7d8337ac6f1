// Rows of contact kernels (contact/rows.h) against their energy: with the bodies held, forces of
// rows at the unknowns that balance them are those of eval; arguments change by J and B.

#include "common/kernel_case.h"
#include "common/test.h"

#include "contact/plane/plane_pair.h"
#include "contact/plane/plane_tail.h"
#include "contact/rows.h"
#include "integrate/row_law.h"
#include "integrate/row_solve.h"

enum { MOST = DJ_PAIR_ROWS };
static const double EDGE = 2e-7;   // N; less than that may be left out at the end of the range

typedef struct RowCase {
  djPairPlane plane;
  djPairRows rows;
  djLawRow row[MOST];
  double G[MOST * MOST], base[MOST], B[MOST * DJ_PAIR_OWN], scratch[2 * MOST * MOST + 2000];
  djRowPoint before[MOST];
  int acting[MOST];
  int joined;              // rows that act
} RowCase;

static djLawRow lawRow(const djContactRow* from) {
  static const djCurveKind kinds[] = {[DJ_ROW_BARRIER] = DJ_CURVE_BARRIER,
                                      [DJ_ROW_SHARED] = DJ_CURVE_SHARED,
                                      [DJ_ROW_SLIP] = DJ_CURVE_SLIP,
                                      [DJ_ROW_ACROSS] = DJ_CURVE_ACROSS};
  djLawRow r = {.kind = kinds[from->kind], .shared = -1, .weight = from->weight,
                .width = from->width, .law = from->law, .turn = -1};
  memcpy(r.bend, from->bend, sizeof r.bend);
  return r;
}

// The pair's unknowns at the poses now, by passes in which bodies are held: *g (12) = -sum J^T F.
static void solveHeld(double g[12], RowCase* t, const djKernel* k, PairCase* c) {
  memset(&t->plane, 0, sizeof t->plane);
  for (int pass = 0; pass < 60; pass++) {
    djPairPlane* plane = &t->plane;
    t->rows.n = 0;
    assert_int_equal(k->rows(&t->rows, plane, stateOf(c), pairInput(c)), DJ_OK);
    const int n = t->rows.n, m = plane->nown;
    int shared = -1;
    double left;
    if (n <= 0) break;
    assert_true(dj_rowScratch(n, m) <= (int)(sizeof t->scratch / sizeof *t->scratch));
    for (int i = 0; i < n; i++) {
      const djContactRow* from = &t->rows.row[i];
      t->row[i] = lawRow(from);
      if (t->row[i].kind == DJ_CURVE_SHARED) shared = i;
      if (t->row[i].kind == DJ_CURVE_BARRIER) t->row[i].shared = shared;
      if (t->row[i].kind == DJ_CURVE_BARRIER && m > 0) t->row[i].turn = 0;
      t->base[i] = from->x;
      for (int j = 0; j < m; j++) {
        t->B[m * i + j] = from->B[j];
        t->base[i] -= from->B[j] * plane->p[j];
      }
    }
    for (int i = 0; i < n; i++) {
      if (t->row[i].kind == DJ_CURVE_SLIP) {
        dj_placeSlip(&t->row[i], t->rows.row[i].x, t->rows.row[i + 1].x);
      } else if (t->row[i].kind == DJ_CURVE_BARRIER) {
        dj_placeArgument(&t->row[i], t->rows.row[i].x - (shared < 0 ? 0 : plane->p[0]));
      }
    }
    double p[DJ_PAIR_OWN];
    memcpy(p, plane->p, sizeof p);
    djRowProblem P = {n, m, t->row, t->G, t->base, t->B, plane->stiff, plane->p,
                      t->scratch, t->before, t->acting};
    memset(t->G, 0, sizeof t->G);
    dj_solveRows(&left, &P, 0, false);
    if (shared >= 0) plane->p[0] = t->row[shared].at.x;
  }
  memset(g, 0, 12 * sizeof *g);
  t->joined = 0;
  for (int i = 0; i < t->rows.n; i++) {
    const djContactRow* r = &t->rows.row[i];
    if (r->kind == DJ_ROW_SHARED) continue;
    t->joined += r->kind == DJ_ROW_BARRIER && t->row[i].at.F > 0;
    for (int j = 0; j < 12; j++) g[j] -= r->J[j] * t->row[i].at.F;
  }
}

static int compared, guided, beyond;

static void checkForces(const djKernel* k, Random* r, int type_a, int type_b) {
  if (!k->rows) return;
  RowCase* t = malloc(sizeof *t);
  for (int i = 0; i < some(40, type_a, type_b); i++) {
    PairCase c;
    movingPair(&c, k, r, type_a, type_b, uniform(r, 0.3, 1.1));
    if (i % 3 == 0) setRates(&c, r);
    if (i % 4 == 0) c.friction = 0;
    djPairOutput out;
    double g[12];
    assert_int_equal(beginNew(k, &c), DJ_OK);
    evalCase(&out, k, &c, DJ_EVAL_GRADIENT);
    solveHeld(g, t, k, &c);
    if (t->rows.n < 0) {
      guided += dj_planeGuided(pairInput(&c));
      freeCase(&c);
      continue;
    }
    double size = 0;
    for (int j = 0; j < 12; j++) size = fmax(size, fabs(out.gradient[j]));
    assert_true(!out.active || t->rows.n > 0);
    if (t->rows.n > 0) assert_true(djt_furthest(g, out.gradient, 12) < 1e-6 * size + EDGE);
    compared += t->joined > 0;
    beyond += !out.active;
    freeCase(&c);
  }
  free(t);
}

static void testForces(void) {
  compared = guided = beyond = 0;
  forAllPairs(checkForces, 5);
  print_message("%d pairs with forces, %d apart, %d with guides\n", compared, beyond, guided);
  assert_true(compared > 400 && guided > 0 && beyond > 10);
}

// x of the rows of one plane at poses that both bodies' twists e dir lead to.
static void argumentsAt(double x[MOST], int id[MOST], int* n, const djKernel* k, PairCase* c,
                        djPairPlane plane, double e, const double dir[12]) {
  static djPairRows rows;
  djPose now[2] = {c->now[0], c->now[1]};
  for (int b = 0; b < 2; b++) {
    double xi[6];
    for (int j = 0; j < 6; j++) xi[j] = e * dir[6 * b + j];
    c->now[b] = twistPose(&now[b], c->ref[b], xi);
  }
  rows.n = 0;
  plane.begun = false;   // its length is not adapted: of a new one
  assert_int_equal(k->rows(&rows, &plane, stateOf(c), pairInput(c)), DJ_OK);
  *n = rows.n;
  for (int i = 0; i < rows.n; i++) {
    x[i] = rows.row[i].x;
    id[i] = rows.row[i].id;
  }
  memcpy(c->now, now, sizeof now);
}

// Arguments change by J where the plane stays: that of the start.
static void checkSlopes(const djKernel* k, Random* r, int type_a, int type_b) {
  if (!k->rows || kernel_guide > 0) return;
  for (int i = 0; i < some(9, type_a, type_b); i++) {
    PairCase c;
    movingPair(&c, k, r, type_a, type_b, uniform(r, 0.3, 0.7));
    assert_int_equal(beginNew(k, &c), DJ_OK);
    djPairPlane plane = {0};
    djPairRows rows = {0};
    assert_int_equal(k->rows(&rows, &plane, stateOf(&c), pairInput(&c)), DJ_OK);
    assert_true(rows.n > 0);
    double dir[12], low[MOST], high[MOST], e = 1e-6;
    int id[2][MOST], n[2];
    for (int j = 0; j < 12; j++) dir[j] = uniform(r, -1, 1);
    djPairPlane fresh = {0};
    argumentsAt(low, id[0], &n[0], k, &c, fresh, -e, dir);
    argumentsAt(high, id[1], &n[1], k, &c, fresh, e, dir);
    for (int a = 0; a < rows.n && n[0] == rows.n && n[1] == rows.n; a++) {
      const djContactRow* row = &rows.row[a];
      if (id[0][a] != row->id || id[1][a] != row->id) continue;
      double by = 0, size = 1e-12;
      bool slip = row->kind >= DJ_ROW_SLIP;
      for (int j = 0; j < 12; j++) {
        by += row->J[j] * dir[j];
        size += fabs(row->J[j]);
      }
      if (slip && plane.nown > 0) continue;   // the first motion of a plane is the mean slip
      assert_true(fabs((high[a] - low[a]) / (2 * e) - by) < 1e-5 * size);
    }
    freeCase(&c);
  }
}

static void testSlopes(void) { forAllPairs(checkSlopes, 6); }

DJT_MAIN(testForces, testSlopes)
