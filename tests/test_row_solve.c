// The solver for rows (integrate/row_solve.h): laws by differences, and that random problems, with
// planes' unknowns and without, are solved.

#include "common/random.h"
#include "common/states.h"
#include "common/test.h"

#include "integrate/row_law.h"
#include "math/barrier.h"

enum { N = 24, M = 6, NV = 12 };

static djLawRow barrier(double weight, double support, djBarrierLaw law) {
  return (djLawRow){.kind = DJ_CURVE_BARRIER, .shared = -1, .weight = weight, .width = support,
                    .law = law, .turn = -1};
}

static void checkBarrier(djBarrierLaw law) {
  djLawRow r = barrier(3, 0.01, law);
  for (double x = 1e-5; x < 0.01; x *= 1.3) {
    double p[3];
    dj_barrier(p, x, (djBarrier){r.width, r.law});
    dj_placeArgument(&r, x);
    assert_true(r.at.acts && fabs(r.at.F + 3 * p[1]) < 1e-12 * r.at.F);
    assert_true(fabs(r.at.C * 3 * p[2] - 1) < 1e-12);
    double F = r.at.F;
    dj_placeForce(&r, F);
    assert_true(fabs(r.at.x - x) < 1e-12 * x + 1e-10 * (r.width - x) && r.at.F > 0);
    assert_true(fabs(r.at.F - F) < 1e-10 * F);
  }
  dj_placeArgument(&r, 0.0101);
  assert_true(!r.at.acts && r.at.F == 0 && r.at.x == 0.0101);
  dj_placeForce(&r, 0);
  assert_true(!r.at.acts && r.at.x == r.width);
}

static void testBarrier(void) {
  for (djBarrierLaw law = 0; law < DJ_NBARRIER; law++) checkBarrier(law);
}

// One row against the line x = a + g F, from everywhere.
static void testRow(void) {
  for (int i = 0; i < 800; i++) {
    djLawRow r = barrier(2, 0.01, (djBarrierLaw)(i / 400));
    double a = -0.1 + 5e-4 * (i % 400), g = pow(10, -8 + i % 9);
    dj_solveRow(&r, a, g);
    double left = r.at.x - a - g * r.at.F;
    assert_true(fabs(left) < 0.03 * (fabs(a) + r.at.x));
    if (a >= r.width) assert_true(r.at.F == 0);
  }
}

static void testDisc(void) {
  djRng random = {3};
  for (int i = 0; i < 400; i++) {
    double weight = pow(10, djt_uniform(&random, -3, 7));
    djLawRow r[2] = {{.kind = DJ_CURVE_SLIP, .shared = -1, .weight = weight, .width = 1e-12,
                      .turn = -1},
                     {.kind = DJ_CURVE_ACROSS, .shared = -1, .turn = -1}};
    double a[2], G[3] = {0.3, 0.1, 0.2};
    djt_uniforms(a, 2, &random, -1, 1);
    dj_solveDisc(r, a, G);
    double x = a[0] + G[0] * r[0].at.F + G[1] * r[1].at.F;
    double y = a[1] + G[1] * r[0].at.F + G[2] * r[1].at.F;
    assert_true(hypot(r[0].at.F, r[1].at.F) <= r->weight);
    assert_true(hypot(x - r[0].at.x, y - r[1].at.x) < 1e-4 * hypot(a[0], a[1]));
    // C = -dx/dF
    double e = 1e-6 * hypot(r[0].at.x, r[1].at.x), F0 = r[0].at.F, F1 = r[1].at.F;
    djRowPoint at[2] = {r[0].at, r[1].at};
    double dx = e * djt_uniform(&random, -1, 1);
    double dy = e * djt_uniform(&random, -1, 1);
    dj_placeSlip(r, at[0].x + dx, at[1].x + dy);
    double dF = r[0].at.F - F0, dG = r[1].at.F - F1;
    if (hypot(at[0].x, at[1].x) > 1e-5) continue;   // rounding of F, which hardly changes
    assert_true(hypot(dx + at[0].C * dF + at[0].cross * dG,
                      dy + at[0].cross * dF + at[1].C * dG) < 1e-3 * e);
  }
}

// ---- problems ---------------------------------------------------------------------------------

typedef struct Problem {
  djRowProblem P;
  djLawRow row[N];
  djSoftRow soft[N];
  double G[N * N], base[N], B[N * M], stiff[M], p[M], scratch[2 * N * N + 4 * N + 2 * N * M + 200];
  djRowPoint before[N];
  int acting[N];
} Problem;

// Barriers of which the first shares, a disc, a cost; with planes: pairs of barriers on two sides
// of one, which have n unknown offsets and turns; the second may stand still.
static void randomProblem(Problem* q, djRng* r, bool planes, bool still) {
  memset(q, 0, sizeof *q);
  double L[N][NV], way[NV];   // bodies that go that way find room
  int n = 12 + 2 * djt_integer(r, 4), m = planes ? 3 : 0;
  int nv = 6 + djt_integer(r, 7);
  const double s = 3e-4, K = pow(10, djt_uniform(r, -2, 4));
  const djBarrierLaw law = (djBarrierLaw)(djt_integer(r, 8) < 4);
  djt_uniforms(way, nv, r, -4 * s, 4 * s);
  for (int i = 0; i < n; i++) {
    djLawRow* row = &q->row[i];
    *row = barrier(K, s, law);
    double unit = 1;
    if (i == 0 && !planes) *row = (djLawRow){.kind = DJ_CURVE_SHARED, .shared = -1, .weight = 4 * K,
                                             .width = s, .law = law, .turn = -1};
    if (i > 0 && i < 5 && !planes) row->shared = 0;
    if (i >= 6 && i < 10) {
      bool across = i % 2;
      *row = (djLawRow){.kind = across ? DJ_CURVE_ACROSS : DJ_CURVE_SLIP, .shared = -1,
                        .weight = across ? row[-1].weight : pow(10, djt_uniform(r, -2, 2)),
                        .width = 1e-12, .turn = -1};
      unit = 500;
    }
    if (i == 10) {
      *row = (djLawRow){.kind = DJ_CURVE_COST, .shared = -1, .weight = 4e-6, .turn = -1,
                        .soft = &q->soft[i]};
      q->soft[i].side[0] = (djRowSide){.acts = true, .out = -1, .D = 5, .aref = 20};
      q->soft[i].corner = 0.025;
      unit = 2.5e5;
    }
    const bool stands = still && row->kind == DJ_CURVE_BARRIER && i % 2;
    for (int k = 0; k < nv; k++) L[i][k] = unit * djt_uniform(r, -1, 1) * !stands;
    q->base[i] = row->kind == DJ_CURVE_BARRIER ? djt_uniform(r, 1.5, 3) * s
                 : row->kind == DJ_CURVE_COST  ? djt_uniform(r, -100, 100)
                                               : djt_uniform(r, -0.5, 0.5);
    for (int k = 0; k < nv && row->kind == DJ_CURVE_BARRIER; k++) q->base[i] -= L[i][k] * way[k];
    for (int k = 0; k < m && row->kind == DJ_CURVE_BARRIER; k++) {
      q->B[m * i + k] = k == 2 ? (i % 2 ? 1 : -1) : (i % 2 ? 1 : -1) * djt_uniform(r, -0.1, 0.1);
    }
    if (planes && row->kind == DJ_CURVE_BARRIER) {
      row->turn = 0;
      row->bend[0] = row->bend[2] = 0.05;
    }
    if (row->kind == DJ_CURVE_SLIP || row->kind == DJ_CURVE_ACROSS) dj_placeSlip(row - i % 2, 0, 0);
    if (row->kind == DJ_CURVE_COST) dj_placeArgument(row, q->base[i]);
    if (row->kind == DJ_CURVE_BARRIER) dj_placeForce(row, 0);
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      for (int k = 0; k < nv; k++) q->G[n * i + j] += 1e-6 * L[i][k] * L[j][k];
    }
  }
  q->P = (djRowProblem){n, m, q->row, q->G, q->base, q->B, q->stiff, q->p,
                        q->scratch, q->before, q->acting};
}

// Largest of what rows and planes lack, as energies, J^1/2.
static double unsolved(const Problem* q) {
  const djRowProblem* P = &q->P;
  double worst = 0;
  for (int i = 0; i < P->n; i++) {
    const djLawRow* r = &P->row[i];
    if (r->kind == DJ_CURVE_SHARED) continue;
    double lin = P->base[i], y = r->shared < 0 ? 0 : P->row[r->shared].at.x;
    for (int j = 0; j < P->n; j++) {
      if (P->row[j].kind != DJ_CURVE_SHARED) lin += P->G[P->n * i + j] * P->row[j].at.F;
    }
    for (int k = 0; k < P->m; k++) lin += P->B[P->m * i + k] * P->p[k];
    if (r->turn >= 0) lin -= 0.025 * (P->p[0] * P->p[0] + P->p[1] * P->p[1]);
    double left = r->at.x + y - lin, g = P->G[(P->n + 1) * i];
    if (r->kind == DJ_CURVE_BARRIER && !r->at.acts) left = fmin(lin - y - r->width, 0);
    worst = fmax(worst, fabs(left) / sqrt(g + (r->at.acts ? r->at.C : 0)));
  }
  for (int k = 0; k < P->m; k++) {
    double sum = -P->stiff[k] * P->p[k], size = 1;   // J
    for (int i = 0; i < P->n; i++) {
      double b = P->B[P->m * i + k], F = P->row[i].at.F;
      if (P->row[i].turn >= 0 && k < 2) b -= 0.05 * P->p[k];
      sum += b * F;
      size += fabs(b * F);
    }
    worst = fmax(worst, fabs(sum) / size);
  }
  return worst;
}

typedef enum Kind { ALONE, PLANES, STILL } Kind;   // STILL: one side of planes has no G

static void testProblems(void** state) {
  const Kind kind = *(const Kind*)*state;
  const bool planes = kind != ALONE;
  djRng r = {7};
  int most = 0, failed = 0, total = 0, count = 1500;
  static Problem q;
  for (int k = 0; k < count; k++) {
    double left;
    randomProblem(&q, &r, planes, kind == STILL);
    int steps = dj_solveRows(&left, &q.P, 1e-7, true);
    total += steps;
    if (steps > most) most = steps;
    failed += !(left <= 1e-7) || unsolved(&q) > 1e-4;
  }
  print_message("%d of %d not solved; %.1f steps, at most %d\n", failed, count,
                (double)total / count, most);
  static const int share[] = {500, 28, 20};
  assert_true(failed <= count / share[kind] && total < 14 * count);
}

DJT_MAIN_ROWS(djt_test(testBarrier), djt_test(testRow), djt_test(testDisc),
              djt_of(testProblems, Kind, ALONE), djt_of(testProblems, Kind, PLANES),
              djt_of(testProblems, Kind, STILL))
