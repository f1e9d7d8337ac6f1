// What a gradient says and what a run does: one derivative per scene, of where (or how fast) a body
// ends by how it starts or is pushed, in DiJoCo and in stock MuJoCo.
//
// Every engine is held against itself. Ours: the adjoint of the whole run against extrapolated
// differences of our own run. MuJoCo's: the matrices of mjd_transitionFD of every step, chained,
// against extrapolated differences of MuJoCo's own run. Neither engine's motion judges the other's;
// where mechanics has a closed form, both derivatives stand beside it.
//
// MuJoCo is given every chance: integrators that its differences accept, centred differences, the
// scene's default solver settings as well as elliptic cones with the solver run to its end, and
// steps from 1e-2 to 1e-10. The table has the error at its documentation's step, 1e-6, the range
// over steps of 1e-4 to 1e-8, and the best of all settings and steps.
//
// A derivative may be exact and still of little use. Two more tables say so, for both engines:
//   reach: the largest change of the input up to which central differences of the run stay within
//     a tenth of the derivative;
//   phases: how far a body is from the next when a step begins changes how a collision of two time
//     steps resolves. The derivative is taken at starts spread over one step's travel. Where the
//     run's end is a continuous function of its start, the mean is the derivative of the smoothed
//     outcome, near the secant over a large change and near the law of rigid bodies; the spread is
//     what one gradient misses. Where a force switches on at once, the run's end jumps from phase
//     to phase, and the mean of exact derivatives is not the secant.
//
// A last table has balls that are far apart (gradient_honesty/afar.c): all derivatives there are
// exact, and zero, but for those with a guide.

#include "common/report.h"

#include <stdio.h>

#ifndef DJ_HAVE_MUJOCO

int main(int argc, char** argv) {
  djv_isQuick(argc, argv);
  printf("needs MuJoCo\n");
  return DJV_SKIPPED;
}

#else

#include "common/robots.h"
#include "gradient_honesty/afar.h"

#include <dijoco/check.h>

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef enum Input { CTRL, QVEL, QPOS } Input;

typedef struct Case {
  const char* name;
  const char* what;       // derivative of what, by what
  const char* text;       // MJCF with a keyframe; NULL: gymnasium's humanoid
  int horizon;
  int settle;             // steps at rest before the run, in either engine by itself
  Input input;
  int dof;                // of the input; -1: a random direction (controls: of every step)
  bool velocity;          // the output: qvel[out_dof], else qpos[out_qpos]
  int out_qpos, out_dof;
  double (*law)(double offset);   // the derivative in rigid-body mechanics, NULL: none
  double offset;          // of the law
  bool phases;            // take the derivative at several phases of the step, too
} Case;

#define H 0.005
#define OPEN "<mujoco><option timestep='0.005' gravity='0 0 -9.81'/><worldbody>"
#define WEIGHTLESS "<mujoco><option timestep='0.005' gravity='0 0 0'/><worldbody>"
#define FLOOR "<geom type='plane' size='9 9 1' friction='0.5 0.005 0.0001'/>"
#define BALL(name, at, dim)                                                              \
  "<body name='" name "' pos='" at "'><joint name='" name "' type='free'/>"              \
  "<geom size='0.1' mass='1' friction='0.5 0.005 0.0001' condim='" dim "'/></body>"
#define BOX                                                                              \
  "<body name='box' pos='0 0 0.05'><joint name='box' type='free'/>"                      \
  "<geom type='box' size='0.15 0.15 0.05' mass='1' friction='0.5 0.005 0.0001'/></body>"
#define PUSH "<actuator><motor joint='box' gear='1 0 0 0 0 0'/></actuator>"
#define KEY(what) "<keyframe><key " what "/></keyframe></mujoco>"
#define STILL "0 0 0 0 0 0"

// Smooth balls of radius 0.1; the first moves at 1 m/s, 5 mm a step. When 0.5 apart they touch for
// the first time exactly when a step ends, when 0.5013 apart within one.
#define BALLS(apart, offset)                                                             \
  WEIGHTLESS BALL("one", "0 0 0", "1") BALL("two", apart " " offset " 0", "1") "</worldbody>" \
  KEY("qvel='1 0 0 0 0 0 " STILL "'")

// Inelastic impact of equal smooth balls: along the line of centres both leave with half of the
// speed. With sin a = offset/0.2, run time T, and contact when the first has gone s = 0.5013 - 0.2
// cos a, the struck one moves by cos a (v T - s)/2 along (cos a, sin a).
enum { NBALL = 160 };
static double roll(double offset) { return (void)offset, 5.0 / 7; }  // sliding, then rolling
static double stop(double offset) { return (void)offset, 1 / (0.5 * 9.81); }  // v/(mu g) at 1 m/s
static double stick(double offset) { return (void)offset, 0; }
static double miss(double offset) { return (void)offset, NBALL * H; }
static double struckBySpeed(double offset) {
  double sine = offset / 0.2;
  return 0.5 * (1 - sine * sine) * NBALL * H;
}

// d y / d (y of the first ball) = -d y/d offset of its displacement y = sin a cos a (v T - s)/2.
static double struckByAim(double offset) {
  double sine = offset / 0.2, cosine = sqrt(1 - sine * sine), rest = NBALL * H - 0.5013;
  double by_angle = 0.5 * ((cosine * cosine - sine * sine) * rest +
                           0.2 * (cosine * cosine * cosine - 2 * cosine * sine * sine));
  return -by_angle / (0.2 * cosine);
}

static const Case cases[] = {
    {"ball lands and rolls", "end x by start vx",
     OPEN FLOOR BALL("ball", "0 0 0.3", "3") "</worldbody>" KEY("qvel='1 0 0 0 0 0'"),
     120, 0, QVEL, 0, false, 0, 0, NULL, 0, false},
    {"ball lands and rolls", "end vx by start vx",
     OPEN FLOOR BALL("ball", "0 0 0.3", "3") "</worldbody>" KEY("qvel='1 0 0 0 0 0'"),
     120, 0, QVEL, 0, true, 0, 0, roll, 0, false},
    {"ball lands and rolls", "end x by start vz",
     OPEN FLOOR BALL("ball", "0 0 0.3", "3") "</worldbody>" KEY("qvel='1 0 0 0 0 0'"),
     120, 0, QVEL, 2, false, 0, 0, NULL, 0, false},
    {"box slides to rest", "end x by start vx",
     OPEN FLOOR BOX "</worldbody>" KEY("qvel='1 0 0 0 0 0'"),
     80, 200, QVEL, 0, false, 0, 0, stop, 0, false},
    {"box sticks", "end x by push",
     OPEN FLOOR BOX "</worldbody>" PUSH KEY("ctrl='2'"),
     80, 200, CTRL, 0, false, 0, 0, stick, 0, false},
    {"balls miss by 1 mm", "end x by start vx", BALLS("0.5013", "0.201"),
     NBALL, 0, QVEL, 0, false, 0, 0, miss, 0, false},
    {"balls meet head-on", "struck one's x by vx", BALLS("0.5013", "0"),
     NBALL, 0, QVEL, 0, false, 7, 6, struckBySpeed, 0, true},
    {"... at a step's end", "struck one's x by vx", BALLS("0.5", "0"),
     NBALL, 0, QVEL, 0, false, 7, 6, struckBySpeed, 0, false},
    {"balls glance", "struck one's x by vx", BALLS("0.5013", "0.12"),
     NBALL, 0, QVEL, 0, false, 7, 6, struckBySpeed, 0.12, true},
    {"balls glance", "struck one's y by aim", BALLS("0.5013", "0.12"),
     NBALL, 0, QPOS, 1, false, 8, 7, struckByAim, 0.12, true},
    {"humanoid, 200 steps", "end x by controls", NULL,
     200, 0, CTRL, -1, false, 0, 0, NULL, 0, false},
    {"humanoid, 200 steps", "end x by start qvel", NULL,
     200, 0, QVEL, -1, false, 0, 0, NULL, 0, false},
};
enum { NCASE = sizeof cases / sizeof cases[0] };
enum { REFINEMENT = 8, NEPS = 9, NLADDER = 15, NPHASE = 40 };

// ---- the output of one case in one engine, at input + e * direction ----------------------------

typedef struct Run {
  const Case* c;
  int nv, size;                        // size: of the input
  double *qpos, *qvel, *ctrl;          // start; controls (horizon x nu)
  double* direction;                   // (size)
  double* moved;
  djModel* model;                      // ours
  djData* data;
  djTape* tape;
  mjModel* m;                          // MuJoCo's; of our runs, too, for the sizes
  mjData* d;                           // NULL: our run
} Run;

static double* numbers(int n) {
  double* x = calloc((size_t)n + 1, sizeof(double));
  if (!x) djv_fail("no memory");
  return x;
}

// The inputs at e, one of them moved.
static void moveInput(const double* in[3], Run* r, double e) {
  in[CTRL] = r->ctrl, in[QVEL] = r->qvel, in[QPOS] = r->qpos;
  const double* from = in[r->c->input];
  in[r->c->input] = r->moved;
  if (r->c->input == QPOS) {
    memcpy(r->moved, from, (size_t)r->m->nq * sizeof(double));
    mj_integratePos(r->m, r->moved, r->direction, e);
  } else {
    for (int i = 0; i < r->size; i++) r->moved[i] = from[i] + e * r->direction[i];
  }
}

// The output as a loss of ours.
static double lastState(void* user, const djModel* m, int h, const double* qpos,
                        const double* qvel, const double* act, const double* ctrl,
                        double* dstate, double* dctrl) {
  const Case* c = user;
  (void)act, (void)ctrl, (void)dctrl;
  if (dstate) dstate[h * dj_tangentSize(m) + (c->velocity ? m->nv : 0) + c->out_dof] += 1;
  return c->velocity ? qvel[h * m->nv + c->out_dof] : qpos[h * m->nq + c->out_qpos];
}

static djRollout ourRollout(Run* r, double e) {
  const double* in[3];
  moveInput(in, r, e);
  return (djRollout){.horizon = r->c->horizon, .qpos0 = in[QPOS], .qvel0 = in[QVEL],
                     .ctrl = in[CTRL], .callback = lastState, .user = (void*)(uintptr_t)r->c,
                     .refinement_steps = REFINEMENT};
}

static bool ourOutput(Run* r, double e, double* output) {
  djRollout rollout = ourRollout(r, e);
  rollout.loss_only = true;
  djRolloutResult result = {0};
  djStatus status = djd_rolloutForward(&result, r->model, r->data, &rollout, r->tape);
  *output = result.loss;
  return status == DJ_OK;
}

static void startMuJoCo(Run* r, const double* in[3]) {
  mj_resetData(r->m, r->d);
  mju_copy(r->d->qpos, in[QPOS], (int)r->m->nq);
  mju_copy(r->d->qvel, in[QVEL], (int)r->m->nv);
}

static double read(const Run* r) {
  return r->c->velocity ? r->d->qvel[r->c->out_dof] : r->d->qpos[r->c->out_qpos];
}

static bool output(void* user, double e, double* value) {
  Run* r = user;
  if (!r->d) return ourOutput(r, e, value);
  const double* in[3];
  moveInput(in, r, e);
  startMuJoCo(r, in);
  for (int k = 0; k < r->c->horizon; k++) {
    mju_copy(r->d->ctrl, in[CTRL] + k * r->m->nu, (int)r->m->nu);
    mj_step(r->m, r->d);
  }
  *value = read(r);
  return true;
}

// ---- gradients ---------------------------------------------------------------------------------

static double ourGradient(djvReport* report, Run* r) {
  double* gradient = numbers(r->size);
  djRollout rollout = ourRollout(r, 0);
  djRolloutResult result = {0};
  *(r->c->input == CTRL ? &result.grad_ctrl
                        : r->c->input == QVEL ? &result.grad_qvel0 : &result.grad_qpos0) = gradient;
  djStatus status = djd_rolloutForward(&result, r->model, r->data, &rollout, r->tape);
  if (status >= 0) {
    djStatus back = djd_rolloutBackward(&result, r->model, r->data, &rollout, r->tape);
    if (back) status = back;
  }
  if (status != DJ_OK) {
    robot_count(report, 1, 0, "%s, %s: run fails", r->c->name, r->c->what);
  }
  double along = 0;
  for (int i = 0; i < r->size; i++) along += gradient[i] * r->direction[i];
  free(gradient);
  return along;
}

// Chained mjd_transitionFD, centred: dx = A dx + B du along the run.
static double theirGradient(Run* r, double eps) {
  const Case* c = r->c;
  int nv = r->nv, nu = (int)r->m->nu, nx = 2 * nv + (int)r->m->na;
  double *A = numbers(nx * nx), *B = numbers(nx * nu), *dx = numbers(nx), *next = numbers(nx);
  const double* in[3];
  moveInput(in, r, 0);
  startMuJoCo(r, in);
  if (c->input != CTRL) memcpy(dx + (c->input == QVEL ? nv : 0), r->direction, nv * sizeof *dx);
  for (int k = 0; k < c->horizon; k++) {
    mju_copy(r->d->ctrl, in[CTRL] + k * nu, nu);
    mjd_transitionFD(r->m, r->d, eps, 1, A, nu ? B : NULL, NULL, NULL);
    mju_mulMatVec(next, A, dx, nx, nx);
    for (int i = 0; i < nx && c->input == CTRL; i++) {
      for (int j = 0; j < nu; j++) next[i] += B[i * nu + j] * r->direction[k * nu + j];
    }
    memcpy(dx, next, nx * sizeof *dx);
    mj_step(r->m, r->d);
  }
  double result = dx[(c->velocity ? nv : 0) + c->out_dof];
  free(A);
  free(B);
  free(dx);
  free(next);
  return result;
}

// The largest step, at most `largest`, up to which all central differences stay within a tenth.
static double reachOf(Run* r, double derivative, double largest) {
  double reach = 0;
  for (int k = NLADDER - 1; k >= 0; k--) {
    double e = largest * pow(10, -0.5 * k), plus, minus;
    if (!output(r, e, &plus) || !output(r, -e, &minus)) break;
    double quotient = (plus - minus) / (2 * e);
    // beyond rounding of the outputs
    if (fabs(quotient - derivative) > 0.1 * fabs(derivative) + 1e-13 / e) break;
    reach = e;
  }
  return reach;
}

// ---- opening a case ----------------------------------------------------------------------------

typedef struct Setting {
  const char* name;
  bool tuned;             // elliptic cones, solver to its end
  int integrator;
} Setting;

static const Setting settings[] = {{"scene's own, Euler", false, mjINT_EULER},
                                   {"elliptic, converged, Euler", true, mjINT_EULER},
                                   {"elliptic, converged, discrete", true, mjINT_DISCRETE}};
enum { NSETTING = sizeof settings / sizeof settings[0] };

static mjModel* compile(const Case* c, const Setting* setting) {
  mjModel* m = c->text ? robot_compile(c->text) : robot_load("humanoid");
  m->opt.integrator = setting->integrator;
  m->opt.solver = mjSOL_NEWTON;
  if (setting->tuned) {
    m->opt.cone = mjCONE_ELLIPTIC;
    m->opt.iterations = 200;
    m->opt.ls_iterations = 100;
    m->opt.tolerance = m->opt.ls_tolerance = 1e-14;
  }
  return m;
}

enum { THEIRS = -1 };

// An engine, and what it is asked for beside its defaults.
typedef struct Way {
  const char* name;
  int integrator;           // THEIRS: MuJoCo's run
  double support;           // > 0: ours
  double restitution;       // > 0: of all geoms
} Way;

static bool setWay(djModel* m, const Way* way, djError* err) {
  djOption option = m->opt;
  option.integrator = (djIntegrator)way->integrator;
  if (way->support > 0) option.support = way->support;
  bool done = dj_setOption(m, &option, err) >= 0;
  for (int g = 0; g < m->ngeom && way->restitution > 0 && done; g++) {
    char name[40];
    djParam param;
    snprintf(name, sizeof name, "geom/#%d/restitution", g);
    done = dj_paramId(&param, m, name, err) >= 0 &&
           dj_setParam(m, &param, &way->restitution, err) >= 0;
  }
  return done;
}

// Start (keyframe, at rest on the floor where the case says so), controls and direction.
static void openRun(Run* r, const Case* c, const Setting* setting, const Way* way) {
  djError err;
  *r = (Run){.c = c, .m = compile(c, setting)};
  int nq = (int)r->m->nq, nv = (int)r->m->nv, nu = (int)r->m->nu;
  r->nv = nv;
  r->size = c->input == CTRL ? c->horizon * nu : nv;
  r->qpos = numbers(nq);
  r->qvel = numbers(nv);
  r->ctrl = numbers(c->horizon * nu);
  r->direction = numbers(r->size);
  r->moved = numbers(r->size > nq ? r->size : nq);
  mju_copy(r->qpos, r->m->nkey ? r->m->key_qpos : r->m->qpos0, nq);
  if (r->m->nkey) mju_copy(r->qvel, r->m->key_qvel, nv);
  djvRandom random = djv_random(3);
  for (int k = 0; k < c->horizon * nu; k++) {
    r->ctrl[k] = c->text ? r->m->key_ctrl[k % nu] : djv_uniform(&random, -0.2, 0.2);
  }
  double square = 0;
  for (int i = 0; i < r->size; i++) {
    bool whole = c->dof < 0, mine = c->input == CTRL || i == c->dof;
    r->direction[i] = whole ? djv_uniform(&random, -1, 1) : mine;
    square += r->direction[i] * r->direction[i];
  }
  for (int i = 0; i < r->size && c->dof < 0; i++) r->direction[i] /= sqrt(square);

  if (way->integrator != THEIRS) {
    r->model = robot_import(r->m, &err);
    if (!r->model || !setWay(r->model, way, &err) ||
        djd_makeTape(&r->tape, r->model, c->horizon, &err) < 0) {
      djv_fail("%s: %s", c->name, err.text);
    }
    r->data = robot_makeData(r->model);
    memcpy(r->data->qpos, r->qpos, nq * sizeof(double));
    for (int k = 0; k < c->settle; k++) dj_step(r->model, r->data);
    if (c->settle) memcpy(r->qpos, r->data->qpos, nq * sizeof(double));
  } else {
    r->d = mj_makeData(r->m);
    mju_copy(r->d->qpos, r->qpos, nq);
    for (int k = 0; k < c->settle; k++) mj_step(r->m, r->d);
    if (c->settle) mju_copy(r->qpos, r->d->qpos, nq);
  }
}

static void closeRun(Run* r) {
  double* memory[] = {r->qpos, r->qvel, r->ctrl, r->direction, r->moved};
  for (int k = 0; k < 5; k++) free(memory[k]);
  djd_deleteTape(r->tape);
  dj_deleteData(r->data);
  dj_deleteModel(r->model);
  mj_deleteData(r->d);
  mj_deleteModel(r->m);
}

// ---- measuring ---------------------------------------------------------------------------------

typedef struct Row {
  double ours[2], our_error[2], our_reach;   // of `ours`; reach of the first
  double theirs, their_reach;           // MuJoCo's difference at the scene's own settings
  double at_default;                    // error of its chained matrices there, at eps 1e-6
  double least, most;                   // over steps of 1e-4 to 1e-8, at these settings
  bool smooth;                          // its differences settle, to 0.1%
  double best, best_eps;                // over all settings and steps
  int best_setting;
} Row;

static double relative(double gradient, double difference) {
  return fabs(gradient - difference) / fmax(fabs(difference), 1e-12);
}

static double largest(const Case* c) { return c->dof < 0 ? 1 : 0.1; }

static djdCertificate differences(Run* r, double gradient) {
  double at = 0;
  djdCertificate certificate;
  if (!output(r, 0, &at) ||
      djd_check(&certificate, at, gradient, largest(r->c), output, r) < 0) {
    djv_fail("%s: no differences", r->c->name);
  }
  return certificate;
}

static const Way ours[2] = {{"euler", DJ_EULER, -1, -1}, {"position", DJ_POSITION, -1, -1}};
static const Way theirs = {"MuJoCo", THEIRS, -1, -1};

static void measureOurs(djvReport* report, Row* row, const Case* c, bool quick) {
  for (int i = 0; i < (quick && !c->text ? 1 : 2); i++) {
    Run r;
    openRun(&r, c, &settings[0], &ours[i]);
    row->ours[i] = ourGradient(report, &r);
    djdCertificate d = differences(&r, row->ours[i]);
    row->our_error[i] = relative(row->ours[i], d.difference);
    if (i == 0) row->our_reach = quick ? NAN : reachOf(&r, row->ours[i], largest(c));
    djv_note("%s: gradient %.10g, difference %.10g +- %.1g; %d of %d steps recovering",
             ours[i].name, row->ours[i], d.difference, d.difference_error,
             (int)r.data->stats.recovering_steps, c->horizon);
    closeRun(&r);
  }
}

static void measureTheirs(Row* row, const Case* c, int which, bool quick) {
  static const double eps[NEPS] = {1e-6, 1e-4, 1e-8, 1e-2, 1e-3, 1e-5, 1e-7, 1e-9, 1e-10};
  Run r;
  openRun(&r, c, &settings[which], &theirs);
  char text[300] = "";
  int used = 0, n = quick ? c->text ? 3 : 1 : NEPS;
  double first = theirGradient(&r, eps[0]);
  djdCertificate d = differences(&r, first);
  if (which == 0) {
    row->theirs = d.difference;
    row->smooth = d.difference_error < 1e-3 * fabs(d.difference);
    row->their_reach = quick ? NAN : reachOf(&r, d.difference, largest(c));
    row->least = INFINITY;
  }
  for (int k = 0; k < n; k++) {
    double error = relative(k ? theirGradient(&r, eps[k]) : first, d.difference);
    used += snprintf(text + used, sizeof text - used, " %.0e:%.1e", eps[k], error);
    if (which == 0 && k == 0) row->at_default = error;
    if (which == 0 && eps[k] < 2e-4 && eps[k] > 5e-9) {
      row->least = fmin(row->least, error);
      row->most = djv_worst(row->most, error);
    }
    if (error < row->best) row->best = error, row->best_eps = eps[k], row->best_setting = which;
  }
  djv_note("MuJoCo, %s: difference %.8g +- %.1g", settings[which].name, d.difference,
           d.difference_error);
  djv_note("  errors by step%s", text);
  closeRun(&r);
}

// ---- phases of the step ------------------------------------------------------------------------

typedef struct Phases {
  double mean, least, most;
  double secant;            // mean of central differences over a tenth of the speed or 1 cm
  double restitution;       // mean of (velocity of separation)/(1 m/s), along x
} Phases;

// Derivatives at starts of the first ball over the 5 mm that it moves in a step.
static Phases overPhases(djvReport* report, const Case* c, const Way* way, int n) {
  Phases p = {.least = INFINITY, .most = -INFINITY};
  for (int k = 0; k < n; k++) {
    Run r;
    double end;
    openRun(&r, c, &settings[0], way);
    r.qpos[0] += 1.0 * H * (k + 0.5) / n;
    double g = r.model ? ourGradient(report, &r) : theirGradient(&r, 1e-7);
    double reach = c->input == QVEL ? 0.1 : 0.01, plus, minus;
    if (!output(&r, reach, &plus) || !output(&r, -reach, &minus)) djv_fail("%s", c->name);
    p.secant += (plus - minus) / (2 * reach) / n;
    output(&r, 0, &end);
    const double* qvel = r.model ? r.data->qvel : r.d->qvel;
    p.mean += g / n;
    p.least = fmin(p.least, g);
    p.most = djv_worst(p.most, g);
    p.restitution += (qvel[6] - qvel[0]) / n;
    closeRun(&r);
  }
  return p;
}

static void printPhases(djvReport* report, int n) {
  enum { ASKED = 1, WAYS = 4 };   // that asks to bounce, so that impacts are at their own time
  static const Way ways[WAYS] = {{"euler", DJ_EULER, -1, -1},
                                 {"... restitution", DJ_EULER, -1, 1e-3},
                                 {"... support 0.02", DJ_EULER, 0.02, -1},
                                 {"MuJoCo", THEIRS, -1, -1}};
  double mean[NCASE];
  djv_title("over %d phases of the step (law: of a plastic impact)", n);
  djv_note("%-21s %-21s %-16s %6s %6s %7s %15s %5s", "scene", "derivative of", "", "law", "secant",
           "mean", "least..most", "rest.");
  for (int k = 0; k < NCASE; k++) {
    const Case* c = &cases[k];
    for (int i = 0; i < WAYS && c->phases; i++) {
      Phases p = overPhases(report, c, &ways[i], n);
      char restitution[20] = "";
      if (c->offset == 0) snprintf(restitution, sizeof restitution, "%.3f", p.restitution);
      djv_note("%-21s %-21s %-16s %6.3f %6.3f %7.3f %7.3f..%6.3f %5s", c->name, c->what,
               ways[i].name, c->law(c->offset), p.secant, p.mean, p.least, p.most, restitution);
      if (i == ASKED) mean[k] = p.mean;
    }
  }
  for (int k = 0; k < NCASE && n == NPHASE; k++) {
    const Case* c = &cases[k];
    if (!c->phases) continue;
    robot_near(report, mean[k], c->law(c->offset), 0.06, "%s, %s: mean by restitution", c->name,
               c->what);
  }
}

static void printTables(const Row* rows, const bool* done) {
  djv_title("relative error of the gradient against differences of the same engine's run");
  djv_note("%-21s %-21s %8s %8s %8s %8s %17s", "scene", "derivative of", "euler", "position",
           "MuJoCo", "best", "steps 1e-4..1e-8");
  for (int k = 0; k < NCASE; k++) {
    const Row* row = &rows[k];
    if (!done[k]) continue;
    djv_note("%-21s %-21s %8.0e %8.0e %8.0e %8.0e %8.0e..%.0e%s", cases[k].name, cases[k].what,
             row->our_error[0], row->our_error[1], row->at_default, row->best, row->least,
             row->most, row->smooth ? "" : " none");
  }
  djv_note("none: MuJoCo's run has no derivative there: its differences do not settle");
  djv_title("the derivative itself, and the reach of ours (euler) and of MuJoCo's");
  djv_note("%-21s %-21s %8s %9s %9s %9s %7s %7s", "scene", "derivative of", "law", "euler",
           "position", "MuJoCo", "reach", "MuJoCo");
  for (int k = 0; k < NCASE; k++) {
    const Row* row = &rows[k];
    if (!done[k]) continue;
    char law[30] = "-";
    if (cases[k].law) snprintf(law, sizeof law, "%.4f", cases[k].law(cases[k].offset));
    djv_note("%-21s %-21s %8s %9.4g %9.4g %9.4g %7.0e %7.0e", cases[k].name, cases[k].what, law,
             row->ours[0], row->ours[1], row->theirs, row->our_reach, row->their_reach);
  }
}

int main(int argc, char** argv) {
  djvReport report = {0};
  bool quick = djv_isQuick(argc, argv), done[NCASE] = {false};
  Row rows[NCASE];
  for (int k = 0; k < NCASE; k++) {
    const Case* c = &cases[k];
    if (!c->text && (!robot_folder() || (quick && c->input == QVEL))) continue;
    djv_title("%s: %s", c->name, c->what);
    rows[k] = (Row){.best = INFINITY, .ours = {NAN, NAN}, .our_error = {NAN, NAN}};
    measureOurs(&report, &rows[k], c, quick);
    for (int s = 0; s < (quick ? 1 : NSETTING); s++) measureTheirs(&rows[k], c, s, quick);
    done[k] = true;
  }
  printTables(rows, done);
  printPhases(&report, quick ? 2 : NPHASE);
  afar_report(&report, quick);
  djv_title("checks");
  for (int k = 0; k < NCASE; k++) {
    for (int i = 0; i < 2 && done[k]; i++) {
      if (quick && !cases[k].text && i) continue;     // not measured
      robot_below(&report, rows[k].our_error[i], 1e-6, "", "%s, %s", cases[k].name,
                  cases[k].what);
      djv_figure(&report, "error", rows[k].our_error[i], "");
    }
  }
  return robot_folder() ? djv_finish(&report) : djv_finishWithout(&report, "gymnasium's robots");
}

#endif
