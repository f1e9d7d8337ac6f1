// Two smooth balls of radius 0.1 at rest, D apart, without gravity, the second one at the origin:
// velocities come from coordinates, whose rounding grows with them. It is to be D/10 farther away
// after 0.8 s, by the speed v of the first. Before they touch, its end does not depend on v, unless
// a guide acts. Adam goes from v = 0: rate D/40 m/s, betas 0.3 and 0.5, epsilon 1e-300.
//
// The guide's coefficient is GUIDE D^5/2, so that the derivative at rest is about the same for all
// D: the tail's force falls as D^-3/2. It acts in the run where its derivative is held against
// differences, and in derivatives alone where a descent goes by it.

#include "gradient_honesty/afar.h"

#ifdef DJ_HAVE_MUJOCO

#include "common/robots.h"
#include "common/text.h"

#include <dijoco/check.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 160 };
#define GUIDE 1e-6   // J/m^(5/2)

typedef enum Engine { PLAIN, GUIDED, BACKWARD, STOCK, ENGINES } Engine;

typedef struct Balls {
  double apart, target;
  Engine engine;
  djModel* model;           // ours
  djData* data;
  djTape* tape;
  mjModel* m;
  mjData* d;
} Balls;

static double lastPlace(void* user, const djModel* m, int h, const double* qpos,
                        const double* qvel, const double* act, const double* ctrl, double* dstate,
                        double* dctrl) {
  (void)user, (void)qvel, (void)act, (void)ctrl, (void)dctrl;
  if (dstate) dstate[h * dj_tangentSize(m) + 6] += 1;
  return qpos[h * m->nq + 7];
}

static void open(Balls* b, double apart, Engine engine) {
  djError err;
  djvText t = djv_text();
  djv_put(&t, "<mujoco><option timestep='0.005' gravity='0 0 0'/><worldbody>");
  for (int k = 0; k < 2; k++) {
    djv_put(&t, "<body pos='%g 0 0'><freejoint/><geom size='0.1' mass='1' condim='1'/></body>",
            (k - 1) * apart);
  }
  djv_put(&t, "</worldbody></mujoco>");
  *b = (Balls){.apart = apart, .target = 0.1 * apart, .engine = engine, .m = robot_compile(t.text)};
  free(t.text);
  b->d = mj_makeData(b->m);
  b->model = robot_import(b->m, &err);
  djOption option = b->model ? b->model->opt : dj_defaultOption();
  bool guided = engine == GUIDED || engine == BACKWARD;
  option.guide = guided ? GUIDE * apart * apart * sqrt(apart) : 0;
  option.guide_backward_only = engine == BACKWARD;
  if (!b->model || dj_setOption(b->model, &option, &err) < 0 ||
      djd_makeTape(&b->tape, b->model, STEPS, &err) < 0) {
    djv_fail("balls: %s", err.text);
  }
  b->data = robot_makeData(b->model);
}

static void close(Balls* b) {
  djd_deleteTape(b->tape);
  dj_deleteData(b->data);
  dj_deleteModel(b->model);
  mj_deleteData(b->d);
  mj_deleteModel(b->m);
}

// Where the second ball ends, and the derivative by the first one's speed.
static double stockEnd(double* slope, const Balls* b, double speed) {
  enum { NX = 24 };
  double A[NX * NX], dx[NX] = {0}, next[NX];
  mj_resetData(b->m, b->d);
  b->d->qvel[0] = speed;
  dx[NX / 2] = 1;
  for (int k = 0; k < STEPS; k++) {
    if (slope) {
      mjd_transitionFD(b->m, b->d, 1e-6, 1, A, NULL, NULL, NULL);
      mju_mulMatVec(next, A, dx, NX, NX);
      mju_copy(dx, next, NX);
    }
    mj_step(b->m, b->d);
  }
  if (slope) *slope = dx[6];
  return b->d->qpos[7];
}

static bool end(double* out, double* slope, const Balls* b, double speed) {
  if (b->engine == STOCK) return *out = stockEnd(slope, b, speed), true;
  double qvel[12] = {speed}, grad[12] = {0};
  djRolloutResult result = {.grad_qvel0 = slope ? grad : NULL};
  djRollout run = {.horizon = STEPS, .qpos0 = b->model->qpos0, .qvel0 = qvel,
                   .callback = lastPlace, .refinement_steps = 8, .loss_only = !slope};
  djStatus status = djd_rolloutForward(&result, b->model, b->data, &run, b->tape);
  if (status >= 0 && slope) {
    status = djd_rolloutBackward(&result, b->model, b->data, &run, b->tape);
  }
  *out = result.loss;
  if (slope) *slope = grad[0];
  return status == DJ_OK;
}

static bool output(void* user, double e, double* value) { return end(value, NULL, user, e); }

static djStatus objective(void* user, double* loss, double* grad, const double* x) {
  const Balls* b = user;
  double place, slope = 0;
  if (!end(&place, grad ? &slope : NULL, b, x[0])) return DJ_INVALID;
  *loss = (place - b->target) * (place - b->target);
  if (grad) grad[0] = 2 * (place - b->target) * slope;
  return DJ_OK;
}

// How far from the mark the second ball is in the end, over D.
static double descend(Balls* b, int iterations, double* speed) {
  djError err;
  djOptimizeResult result;
  djOptimizer how = dj_defaultOptimizer();
  djOptimizeProblem problem = {.n = 1, .objective = objective, .user = b};
  double x = 0;
  how.type = "adam";
  how.rate = b->apart / 40;
  how.beta1 = 0.3;
  how.beta2 = 0.5;
  how.epsilon = 1e-300;
  how.iterations = iterations;
  if (dj_optimize(&result, &x, &problem, &how, &err) < 0) djv_fail("balls: %s", err.text);
  *speed = x;
  return sqrt(result.loss) / b->apart;
}

static void reportRow(djvReport* report, Balls* b, Engine e, int radii, bool quick) {
  static const char* const name[ENGINES] = {"plain contact", "guide", "", "MuJoCo"};
  double at = 0, slope = NAN, speed;
  djdCertificate d = {0};
  if (!end(&at, &slope, &b[e], 0) ||
      djd_check(&d, at, slope, b[e].apart / 10, output, &b[e]) < 0) {
    djv_fail("balls: no derivative");
  }
  double error = slope == d.difference ? 0 : fabs(slope / d.difference - 1);
  double miss = descend(e == GUIDED ? &b[BACKWARD] : &b[e], quick ? 80 : 200, &speed);
  djv_note("%-16s %6d %10.3g %10.3g %8.0e %10.4g %10.2g", name[e], radii, slope, d.difference,
           error, speed, miss);
  if (e == GUIDED) {
    robot_below(report, error, 1e-5, "", "balls %d radii apart, guide", radii);
    robot_below(report, miss, 0.03, "", "... the descent misses by, over D");
  } else {
    robot_count(report, slope != 0, 0, "balls %d radii apart, %s: not 0", radii, name[e]);
  }
}

void afar_report(djvReport* report, bool quick) {
  static const int radii[] = {10, 100, 1000};
  djv_title("balls at rest, far apart: x of one by the speed of the other; a descent to a mark");
  djv_note("%-16s %6s %10s %10s %8s %10s %10s", "", "radii", "gradient", "difference", "error",
           "to speed", "misses, /D");
  for (int k = 0; k < 3; k++) {
    Balls b[ENGINES];
    for (int e = 0; e < ENGINES; e++) open(&b[e], 0.1 * radii[k], (Engine)e);
    for (int e = 0; e < ENGINES; e++) {
      if (e != BACKWARD) reportRow(report, b, (Engine)e, radii[k], quick);
    }
    for (int e = 0; e < ENGINES; e++) close(&b[e]);
  }
}

#endif // DJ_HAVE_MUJOCO
