// Hitting a target: ball A shall meet ball B (radius .05, no gravity, no friction) such that B is
// at a target after T = .5 s. Variables: A's velocity, along x (head-on) or in the plane (oblique).
// 25 random tasks of each kind: the rigid-body solution's speed is 1 to 3 m/s, the first guess .6
// to 1.6 times that, aimed such that A meets B. Solved: within 1 mm.
//   lbfgsb        the library's, 30 iterations, on the squared distance
//   Gauss-Newton  30 iterations, too, with steps halved while they do not help
// Ours: derivatives by the chain of the steps; MuJoCo, at 5 ms only: by central differences of
// whole runs.

#include "defaults.h"

#include <dijoco/optimize.h>

#include <stdio.h>
#include <string.h>

#define RADIUS 0.05
#define TIME 0.5

enum { NTASK = 25, NSTEP = 3, ITERATIONS = 30 };
static const double STEP[NSTEP] = {1e-3, 2e-3, 5e-3};

typedef struct Task {
  int n;                   // variables, and coordinates of the target
  double gap;              // m; between the balls at the start
  double target[2], guess[2];
} Task;

typedef struct Job {
  Sim* sim;
  const Task* task;
} Job;

static Task drawTask(djvRandom* r, bool oblique) {
  Task t = {.n = oblique ? 2 : 1, .gap = djv_uniform(r, 0.1, 0.4)};
  double speed = djv_uniform(r, 1, 3), factor = djv_uniform(r, 0.6, 1.6);
  double line = oblique ? djv_uniform(r, -0.4, 0.4) : 0;
  double aim = oblique ? djv_uniform(r, -0.4, 0.4) : 0;
  // Where A is when lines of centres at an angle meet, and its way there: of solution and guess.
  double start = -2 * RADIUS - t.gap;
  double wx = -2 * RADIUS * cos(line) - start, wy = -2 * RADIUS * sin(line);
  double way = sqrt(wx * wx + wy * wy);
  double part = (wx * cos(line) + wy * sin(line)) / way;
  double went = 0.5 * speed * part * (TIME - way / speed);
  t.target[0] = went * cos(line);
  t.target[1] = went * sin(line);
  double gx = -2 * RADIUS * cos(aim) - start, gy = -2 * RADIUS * sin(aim);
  double length = sqrt(gx * gx + gy * gy);
  t.guess[0] = factor * speed * gx / length;
  t.guess[1] = factor * speed * gy / length;
  return t;
}

// Where B ends, less the target; J (n x n, or NULL) its derivative by the variables.
static bool shoot(double r[2], double J[4], Sim* s, const Task* task, const double* v) {
  double x[2][24] = {{0}}, next[24], zero[1] = {0};
  sim_reset(s);
  s->qpos[0] = -2 * RADIUS - task->gap;
  s->qpos[7] = 0;
  for (int i = 0; i < task->n; i++) {
    s->qvel[i] = v[i];
    x[i][12 + i] = 1;
  }
  for (long k = lround(TIME / s->h); k > 0; k--) {
    if (!sim_step(s)) return false;
    for (int i = 0; i < task->n && J; i++) {
      if (djd_stepJvp(s->model, s->data, next, x[i], zero) < 0) return false;
      memcpy(x[i], next, sizeof next);
    }
  }
  for (int a = 0; a < task->n; a++) {
    r[a] = s->qpos[7 + a] - task->target[a];
    for (int i = 0; i < task->n && J; i++) J[task->n * a + i] = x[i][6 + a];
  }
  return true;
}

// The same of rigid bodies without friction or rebound. A miss leaves B where it is.
static void shootRigid(double r[2], const Task* task, const double* v) {
  double x = -2 * RADIUS - task->gap, speed2 = v[0] * v[0] + v[1] * v[1];
  double along = -x * v[0], t = -1;               // |(x, 0) + t v| = 2 r, earlier root
  double root = along * along - speed2 * (x * x - 4 * RADIUS * RADIUS);
  if (root >= 0 && along > 0) t = (along - sqrt(root)) / speed2;
  double went[2] = {0, 0};
  if (t >= 0 && t < TIME) {
    double n[2] = {-(x + t * v[0]) / (2 * RADIUS), -t * v[1] / (2 * RADIUS)};
    double speed = 0.5 * (v[0] * n[0] + v[1] * n[1]);
    for (int a = 0; a < 2; a++) went[a] = speed * n[a] * (TIME - t);
  }
  for (int a = 0; a < task->n; a++) r[a] = went[a] - task->target[a];
}

static bool shootEither(double r[2], const Job* job, const double* v) {
  if (job->sim) return shoot(r, NULL, job->sim, job->task, v);
  shootRigid(r, job->task, v);
  return true;
}

static bool evaluate(double r[2], double J[4], const Job* job, const double* v) {
  int n = job->task->n;
  if (job->sim && job->sim->column == OURS) return shoot(r, J, job->sim, job->task, v);
  for (int i = 0; i < n; i++) {
    double w[2] = {v[0], v[1]}, high[2], low[2], e = 1e-7;
    w[i] = v[i] + e;
    if (!shootEither(high, job, w)) return false;
    w[i] = v[i] - e;
    if (!shootEither(low, job, w)) return false;
    for (int a = 0; a < n; a++) J[n * a + i] = (high[a] - low[a]) / (2 * e);
  }
  return shootEither(r, job, v);
}

static djStatus objective(void* user, double* loss, double* grad, const double* x) {
  const Job* job = user;
  int n = job->task->n;
  double r[2] = {0, 0}, J[4], v[2] = {x[0], n > 1 ? x[1] : 0};
  if (!evaluate(r, J, job, v)) return DJ_INVALID;
  *loss = r[0] * r[0] + r[1] * r[1];
  for (int i = 0; i < n && grad; i++) {
    grad[i] = 0;
    for (int a = 0; a < n; a++) grad[i] += 2 * r[a] * J[n * a + i];
  }
  return DJ_OK;
}

static bool byLbfgs(Job* job) {
  double x[2] = {job->task->guess[0], job->task->guess[1]};
  djOptimizer how = dj_defaultOptimizer();
  djOptimizeProblem problem = {.n = job->task->n, .objective = objective, .user = job};
  djOptimizeResult result;
  djError err;
  how.type = "lbfgsb";
  how.iterations = ITERATIONS;
  return dj_optimize(&result, x, &problem, &how, &err) >= 0 && result.loss < 1e-6;
}

static bool byGaussNewton(Job* job) {
  int n = job->task->n;
  double v[2] = {job->task->guess[0], job->task->guess[1]}, r[2] = {0, 0}, J[4];
  if (!evaluate(r, J, job, v)) return false;
  for (int k = 0; k < ITERATIONS; k++) {
    double best = r[0] * r[0] + r[1] * r[1], step[2] = {0, 0};
    if (best < 1e-6) return true;
    double det = n > 1 ? J[0] * J[3] - J[1] * J[2] : J[0];
    if (det == 0) return false;
    step[0] = n > 1 ? -(J[3] * r[0] - J[1] * r[1]) / det : -r[0] / det;
    if (n > 1) step[1] = -(J[0] * r[1] - J[2] * r[0]) / det;
    bool better = false;
    for (double part = 1; part > 1e-3 && !better; part /= 2) {
      double w[2] = {v[0] + part * step[0], v[1] + part * step[1]}, s[2] = {0, 0}, K[4];
      better = evaluate(s, K, job, w) && s[0] * s[0] + s[1] * s[1] < best;
      if (!better) continue;
      memcpy(v, w, sizeof v);
      memcpy(r, s, sizeof r);
      memcpy(J, K, sizeof J);
    }
    if (!better) return false;
  }
  return false;
}

static void showRigid(bool oblique, int tasks) {
  int lbfgs = 0, newton = 0;
  djvRandom random = djv_random(77 + oblique);
  for (int k = 0; k < tasks; k++) {
    Task t = drawTask(&random, oblique);
    lbfgs += byLbfgs(&(Job){NULL, &t});
    newton += byGaussNewton(&(Job){NULL, &t});
  }
  djv_note("%s, rigid bodies in closed form: lbfgsb %d, Gauss-Newton %d of %d",
           oblique ? "oblique" : "head-on", lbfgs, newton, tasks);
}

static void show(Program* p, const mjModel* m, bool oblique, double h) {
  double lbfgs[NCOLUMN] = {0}, newton[NCOLUMN] = {0};
  int tasks = p->quick ? 4 : NTASK;
  char label[80];
  for (int c = 0; c < NCOLUMN; c++) {
    if (c != OURS && h < 5e-3) {   // for time
      lbfgs[c] = newton[c] = NAN;
      continue;
    }
    djvRandom random = djv_random(77 + oblique);
    Sim s;
    sim_open(&s, m, (Column)c, h, p);
    if (c != OURS) s.m->opt.tolerance = 1e-12;
    for (int k = 0; k < tasks; k++) {
      Task t = drawTask(&random, oblique);
      lbfgs[c] += byLbfgs(&(Job){&s, &t});
      newton[c] += byGaussNewton(&(Job){&s, &t});
    }
    sim_close(&s);
  }
  snprintf(label, sizeof label, "%s, %g ms: lbfgsb, of %d", oblique ? "oblique" : "head-on",
           1e3 * h, tasks);
  def_row(label, lbfgs);
  def_row("  Gauss-Newton", newton);
  def_check(p, "target: part solved by lbfgsb", lbfgs[OURS] / tasks);
  def_check(p, "target: part solved by Gauss-Newton", newton[OURS] / tasks);
}

void def_target(Program* p) {
  mjModel* m = robot_compile(
      "<mujoco><option gravity=\"0 0 0\"/><default>"
      "<geom type=\"sphere\" size=\".05\" condim=\"1\"/></default>"
      "<worldbody><body><freejoint/><geom/></body><body><freejoint/><geom/></body></worldbody>"
      "</mujoco>");
  djv_title("Hitting a target: tasks solved");
  def_head("");
  for (int oblique = 0; oblique < 2; oblique++) {
    showRigid(oblique, p->quick ? 4 : NTASK);
    for (int i = p->quick ? 2 : 0; i < NSTEP; i++) show(p, m, oblique, STEP[i]);
  }
  mj_deleteModel(m);
}
