// The program, for knots p_0 = start, ..., p_(N-1) = goal, with h = |goal - start|/(N - 1) and the
// length `bending` b:
//
//   minimise     sum |p_(i+1) - p_i| + b^2/h^3 sum |p_(i+1) - 2 p_i + p_(i-1)|^2
//   subject to   least alpha_j on the piece from p_i to p_(i+1) >= 1 + margin, for all i, j
//                low <= p_i <= high
//
// The second sum is the integral of the squared curvature of an evenly traced path. With t in (0,
// 1) where alpha is least on a piece, the derivative of the constraint by its ends is (1 - t) and t
// times that of alpha there (27).
//
// A quasi-Newton method takes hundreds of iterations to find the curvature of the second sum, which
// is known: with the Hessian L L^T of a straight and even path, unknowns are y = L^T x.

#include "plan.h"

#include <nlopt.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TOLERANCE 1e-9       // of the cost, relative
#define AGREEMENT 1e-7       // likewise, of two starts
#define ALPHA_TOLERANCE 1e-7 // of each constraint
#define STEP 1e-6            // of differences, in y
#define CHECK_STEP 1e-4      // of those of checkDerivatives()
enum { BAND = 2, EVALUATIONS = 500, STARTS = 10 };

typedef struct Plan {
  Scene* scene;
  bool differences;
  int inner, n;     // knots between both ends; unknowns
  int pieces, m;    // constraints: of pieces and obstacles, then of bounds
  double h;         // m
  double* path;     // (knots x 3)
  double* factor;   // (inner x inner) L, one for all three coordinates
  Touch* knot;      // (knots) of one obstacle
  double* gradient; // (knots x 3)
  double* row;      // (2 m) of constraints
  double* y;        // (2 n) of unknowns
  long evaluations;
  double began, querying; // s
} Plan;

// ------------------------------------------ unknowns -------------------------------------------

// y = L^T x, of the knots between both ends.
static void unknownsOf(double* y, const Plan* p) {
  const double* x = p->path + 3;
  for (int i = 0; i < p->inner; i++) {
    for (int k = 0; k < 3; k++) {
      double sum = 0;
      for (int j = i; j <= i + BAND && j < p->inner; j++) {
        sum += p->factor[j * p->inner + i] * x[3 * j + k];
      }
      y[3 * i + k] = sum;
    }
  }
}

// x = L^-T y, into the path.
static void setPath(const Plan* p, const double* y) {
  double* x = p->path + 3;
  for (int i = p->inner - 1; i >= 0; i--) {
    for (int k = 0; k < 3; k++) {
      double sum = y[3 * i + k];
      for (int j = i + 1; j <= i + BAND && j < p->inner; j++) {
        sum -= p->factor[j * p->inner + i] * x[3 * j + k];
      }
      x[3 * i + k] = sum / p->factor[i * p->inner + i];
    }
  }
}

// A derivative by x becomes that by y: L^-1 g.
static void byUnknowns(const Plan* p, double* g) {
  for (int i = 0; i < p->inner; i++) {
    for (int k = 0; k < 3; k++) {
      double sum = g[3 * i + k];
      for (int j = i < BAND ? 0 : i - BAND; j < i; j++) {
        sum -= p->factor[i * p->inner + j] * g[3 * j + k];
      }
      g[3 * i + k] = sum / p->factor[i * p->inner + i];
    }
  }
}

static double smoothness(const Plan* p) {
  return p->scene->bending * p->scene->bending / (p->h * p->h * p->h);
}

// Cholesky's factor of the Hessian: of each sum, stencil by stencil; (1, -1) has 1/h, as the length
// has across the path, and (1, -2, 1) twice its weight.
static void factorHessian(Plan* p) {
  const int n = p->inner;
  const double weight[2] = {1 / p->h, 2 * smoothness(p)};
  const double stencil[2][3] = {{1, -1, 0}, {1, -2, 1}};
  double* A = p->factor;
  for (int kind = 0; kind < 2; kind++) {
    for (int first = -1; first < n - kind; first++) { // -1: the start, which does not move
      for (int a = 0; a < 9; a++) {
        const int i = first + a / 3, j = first + a % 3;
        if (i < 0 || j < 0 || i >= n || j >= n) continue;
        A[i * n + j] += weight[kind] * stencil[kind][a / 3] * stencil[kind][a % 3];
      }
    }
  }
  for (int i = 0; i < n; i++) {
    for (int j = i < BAND ? 0 : i - BAND; j <= i; j++) {
      double sum = A[i * n + j];
      for (int k = i < BAND ? 0 : i - BAND; k < j; k++) sum -= A[i * n + k] * A[j * n + k];
      A[i * n + j] = i == j ? sqrt(sum) : sum / A[j * n + j];
    }
  }
}

// ------------------------------------------ the program ----------------------------------------

// The cost of the path, and its gradient by all knots.
static double costOf(const Plan* p, double* g) {
  const double* x = p->path;
  const double weight = smoothness(p);
  double sum = 0;
  memset(g, 0, (size_t)(p->inner + 2) * 3 * sizeof *g);
  for (int i = 0; i < p->pieces; i++) {
    const int a = 3 * i, b = a + 3;
    const double length = distance(x + a, x + b);
    sum += length;
    for (int k = 0; k < 3; k++) {
      const double u = length > 0 ? (x[b + k] - x[a + k]) / length : 0;
      g[b + k] += u;
      g[a + k] -= u;
    }
  }
  for (int i = 3; i < 3 + p->n; i++) { // coordinate by coordinate
    const double bend = x[i + 3] - 2 * x[i] + x[i - 3];
    sum += weight * bend * bend;
    g[i + 3] += 2 * weight * bend;
    g[i] -= 4 * weight * bend;
    g[i - 3] += 2 * weight * bend;
  }
  return sum;
}

// Constraints c <= 0 of the path, and (m x n) their derivatives by x, or NULL.
static void constraintsOf(double* c, double* by, const Plan* p) {
  Scene* s = p->scene;
  const double* x = p->path;
  const size_t n = (size_t)p->n;
  if (by) memset(by, 0, (size_t)p->m * n * sizeof *by);
  for (int j = 0; j < s->nobstacle; j++) {
    for (int i = 0; i <= p->pieces; i++) p->knot[i] = touchAt(s, j, x + 3 * i);
    for (int i = 0; i < p->pieces; i++, c++) {
      double t;
      const Touch touch = leastTouch(s, j, x + 3 * i, x + 3 * i + 3, p->knot + i, &t);
      *c = 1 + s->margin - touch.alpha;
      if (!by) continue;
      for (int k = 0; k < 3; k++) {
        if (i > 0) by[3 * (i - 1) + k] = -(1 - t) * touch.grad[k];
        if (i < p->pieces - 1) by[3 * i + k] = -t * touch.grad[k];
      }
      by += n;
    }
  }
  for (int i = 0; i < p->n; i++, c += 2) {
    c[0] = s->low[i % 3] - x[3 + i];
    c[1] = x[3 + i] - s->high[i % 3];
    if (!by) continue;
    by[i] = -1;
    by[n + i] = 1;
    by += 2 * n;
  }
}

// What NLopt calls: the cost, its gradient by y.
static double cost(unsigned n, const double* y, double* gradient, void* context) {
  Plan* p = context;
  setPath(p, y);
  const double value = costOf(p, p->gradient);
  if (!gradient) return value;
  if (!p->differences) {
    memcpy(gradient, p->gradient + 3, n * sizeof *gradient);
    byUnknowns(p, gradient);
    return value;
  }
  memcpy(p->y, y, n * sizeof *y);
  for (unsigned k = 0; k < n; k++) {
    p->y[k] = y[k] + STEP;
    setPath(p, p->y);
    gradient[k] = (costOf(p, p->gradient) - value) / STEP;
    p->y[k] = y[k];
  }
  return value;
}

// Constraints, and (m x n) their derivatives by y.
static void constraints(unsigned m, double* c, unsigned n, const double* y, double* by,
                        void* context) {
  Plan* p = context;
  const double start = processorSeconds();
  p->evaluations++;
  showProgress("optimising", p->began, "evaluation", p->evaluations);
  setPath(p, y);
  constraintsOf(c, p->differences ? NULL : by, p);
  if (by && p->differences) {
    memcpy(p->y, y, n * sizeof *y);
    for (unsigned k = 0; k < n; k++) {
      p->y[k] = y[k] + STEP;
      setPath(p, p->y);
      constraintsOf(p->row, NULL, p);
      for (unsigned r = 0; r < m; r++) by[(size_t)r * n + k] = (p->row[r] - c[r]) / STEP;
      p->y[k] = y[k];
      showProgress("optimising", p->began, "evaluation", p->evaluations);
    }
  }
  p->querying += processorSeconds() - start;
  if (by && !p->differences) {
    for (unsigned r = 0; r < m; r++) byUnknowns(p, by + (size_t)r * n);
  }
}

// ------------------------------------------ solving --------------------------------------------

static void freePlan(Plan* p) {
  free(p->path);
  free(p->factor);
  free(p->knot);
  free(p->gradient);
  free(p->row);
  free(p->y);
}

static bool makePlan(Plan* p, const double* path, Scene* scene, bool differences, djError* err) {
  const int knots = scene->knots;
  *p = (Plan){.scene = scene, .differences = differences, .inner = knots - 2, .pieces = knots - 1};
  p->n = 3 * p->inner;
  p->m = p->pieces * scene->nobstacle + 2 * p->n;
  p->h = distance(scene->start, scene->goal) / p->pieces;
  p->path = calloc((size_t)knots * 3, sizeof(double));
  p->factor = calloc((size_t)p->inner * (size_t)p->inner, sizeof(double));
  p->knot = calloc((size_t)knots, sizeof *p->knot);
  p->gradient = calloc((size_t)knots * 3, sizeof(double));
  p->row = calloc(2 * (size_t)p->m, sizeof(double));
  p->y = calloc(2 * (size_t)p->n, sizeof(double));
  if (!p->path || !p->factor || !p->knot || !p->gradient || !p->row || !p->y) {
    freePlan(p);
    return fail(err, "out of memory");
  }
  memcpy(p->path, path, (size_t)knots * 3 * sizeof(double));
  factorHessian(p);
  p->began = seconds();
  return true;
}

static const char* statusText(nlopt_result result) {
  switch (result) {
    case NLOPT_FTOL_REACHED:
    case NLOPT_XTOL_REACHED:
      return "converged";
    case NLOPT_MAXEVAL_REACHED:
      return "not converged: out of evaluations";
    case NLOPT_ROUNDOFF_LIMITED:
      return "not converged: limited by rounding";
    case NLOPT_OUT_OF_MEMORY:
      return "out of memory";
    default:
      return "not converged: NLopt gave up";
  }
}

// NLopt takes slow progress for convergence, and may lose itself in a bad estimate of the Hessian:
// it starts anew from what it has until that brings nothing.
static nlopt_result solve(nlopt_opt opt, double* y, double* least) {
  nlopt_result result = NLOPT_FAILURE;
  double last = INFINITY;
  for (int k = 0; k < STARTS; k++) {
    result = nlopt_optimize(opt, y, least);
    if (result > 0 && last - *least < AGREEMENT * fabs(*least)) break;
    if (result != NLOPT_FAILURE && result != NLOPT_ROUNDOFF_LIMITED && result < 0) break;
    last = *least;
    if (k == STARTS - 1 && result > 0) result = NLOPT_MAXEVAL_REACHED;
  }
  return result;
}

bool optimizePath(PlanReport* report, double* path, Scene* scene, bool differences, djError* err) {
  Plan p;
  if (!makePlan(&p, path, scene, differences, err)) return false;
  double* y = p.y + p.n;
  const long queries = scene->queries;
  const double start = processorSeconds();
  *report = (PlanReport){.cost = {costOf(&p, p.gradient)}};
  for (int r = 0; r < p.m; r++) p.row[r] = ALPHA_TOLERANCE;
  nlopt_opt opt = nlopt_create(NLOPT_LD_SLSQP, (unsigned)p.n);
  nlopt_result result = NLOPT_OUT_OF_MEMORY;
  if (opt && nlopt_set_min_objective(opt, cost, &p) > 0 &&
      nlopt_add_inequality_mconstraint(opt, (unsigned)p.m, constraints, &p, p.row) > 0 &&
      nlopt_set_ftol_rel(opt, TOLERANCE) > 0 && nlopt_set_maxeval(opt, EVALUATIONS) > 0) {
    unknownsOf(y, &p);
    result = solve(opt, y, &report->cost[1]);
    setPath(&p, y);
  }
  nlopt_destroy(opt);
  endProgress();
  memcpy(path, p.path, 3 * (size_t)scene->knots * sizeof *path);
  report->status = statusText(result);
  report->converged = result == NLOPT_FTOL_REACHED || result == NLOPT_XTOL_REACHED;
  report->evaluations = p.evaluations;
  report->elapsed = seconds() - p.began;
  report->processor = processorSeconds() - start;
  report->share = p.querying / fmax(report->processor, 1e-6);
  report->queries = scene->queries - queries;
  freePlan(&p);
  return true;
}

// Largest difference of derivatives, and largest of them, of (rows x 1).
static void compare(double worst[2], const double* analytic, int stride, const double* high,
                    const double* low, int rows) {
  for (int r = 0; r < rows; r++) {
    const double difference = (high[r] - low[r]) / (2 * CHECK_STEP);
    worst[0] = fmax(worst[0], fabs(difference - analytic[r * stride]));
    worst[1] = fmax(worst[1], fabs(difference));
  }
}

bool checkDerivatives(double error[2], const double* path, Scene* scene, djError* err) {
  Plan p;
  if (!makePlan(&p, path, scene, false, err)) return false;
  const unsigned m = (unsigned)p.m, n = (unsigned)p.n;
  double* by = calloc((size_t)(p.m + 1) * n, sizeof *by); // the last row is the cost's
  double *y = p.y, *c[2] = {p.row, p.row + m};
  double worst[2][2] = {{0}};
  if (by) {
    unknownsOf(y, &p);
    constraints(m, c[0], n, y, by, &p);
    cost(n, y, by + (size_t)m * n, &p);
    for (unsigned k = 0; k < n; k++) {
      const double at = y[k];
      double value[2];
      for (int side = 0; side < 2; side++) {
        y[k] = side ? at + CHECK_STEP : at - CHECK_STEP;
        constraints(m, c[side], n, y, NULL, &p);
        value[side] = cost(n, y, NULL, &p);
      }
      y[k] = at;
      compare(worst[0], by + (size_t)m * n + k, 0, value + 1, value, 1);
      compare(worst[1], by + k, p.n, c[1], c[0], p.m);
    }
    for (int i = 0; i < 2; i++) error[i] = worst[i][0] / worst[i][1];
  }
  free(by);
  endProgress();
  freePlan(&p);
  return by ? true : fail(err, "out of memory");
}
