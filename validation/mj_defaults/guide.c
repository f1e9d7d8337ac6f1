// Derivatives through impacts over the phase of the step: what tells a descent method where to go.
//
// Ball A (radius .05, no gravity) meets ball B at rest; after T = 1 s, x is where B is. In
// rigid-body mechanics, without rebound,
//   head-on:    dx/dv = T/2
//   glancing:   with the line of centres at the angle a to the speed, J_n = m v cos(a)/2 and
//               J_t = min(mu J_n, m v sin(a)/7); dx/dv = T (J_n cos(a) + J_t sin(a))/(m v)
// Ours: the chain of the steps' derivatives; MuJoCo: central differences of whole runs.

#include "defaults.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RADIUS 0.05
#define TIME 1.0
// Ratio of rebound that an impact at default settings shall have.
#define REBOUND 0.0

enum { NPHASE = 40, NSPEED = 3 };
static const double SPEED[NSPEED] = {1.5, 2, 2.5};

typedef struct Hit {
  double offset, mu;       // 1: part of 2 r; friction
} Hit;

static double law(const Hit* c) {
  double sine = c->offset, cosine = sqrt(1 - sine * sine);
  double Jn = 0.5 * (1 + REBOUND) * cosine, Jt = fmin(c->mu * Jn, sine / 7);
  return TIME * (Jn * cosine + Jt * sine);
}

// Final x of B for A's speed; *slope (may be NULL) its derivative, by the chain of our steps.
static double run(double* slope, Sim* s, const Hit* c, double speed, double phase) {
  double x[24] = {0}, next[24], zero[1] = {0}, y = 2 * RADIUS * c->offset;
  sim_reset(s);
  s->qpos[0] = -sqrt(4 * RADIUS * RADIUS - y * y) - 0.1 - phase;
  s->qpos[1] = -y;
  s->qvel[0] = speed;
  x[12] = 1;
  for (long k = lround(TIME / s->h); k > 0; k--) {
    if (!sim_step(s)) return NAN;
    if (!slope) continue;
    if (djd_stepJvp(s->model, s->data, next, x, zero) < 0) return NAN;
    memcpy(x, next, sizeof x);
  }
  if (slope) *slope = x[6];
  return s->qpos[7];
}

// Derivatives over phases and speeds of one hit.
static int measure(double* slope, const Program* p, const Hit* c, Column column, double h) {
  char text[600];
  snprintf(text, sizeof text,
           "<mujoco><option gravity=\"0 0 0\"/><default><geom type=\"sphere\" size=\"%g\" "
           "friction=\"%g\" solref=\".02 .95\"/></default><worldbody><body><freejoint/><geom/>"
           "</body>"
           "<body><freejoint/><geom/></body></worldbody></mujoco>", RADIUS, c->mu);
  mjModel* m = robot_compile(text);
  Sim s;
  int n = 0, phases = p->quick ? 8 : column == OURS ? NPHASE : 10;
  sim_open(&s, m, column, h, p);
  if (column != OURS) s.m->opt.tolerance = 1e-12;
  for (int i = 0; i < NSPEED; i++) {
    for (int j = 0; j < phases; j++) {
      double phase = h * SPEED[i] * (j + 0.37) / phases, e = 1e-7;
      if (column == OURS) {
        run(&slope[n], &s, c, SPEED[i], phase);
      } else {
        double b = run(NULL, &s, c, SPEED[i] + e, phase);
        slope[n] = (b - run(NULL, &s, c, SPEED[i] - e, phase)) / (2 * e);
      }
      n++;
    }
  }
  sim_close(&s);
  mj_deleteModel(m);
  return n;
}

static void show(Program* p, const Hit* c, double h, const char* key) {
  static const char* const name[] = {"ours", "stock", "best"};
  djv_note("offset %.1f, friction %.1f, %g ms: law %.4f", c->offset, c->mu, 1e3 * h, law(c));
  for (int k = 0; k < NCOLUMN; k++) {
    double slope[NSPEED * NPHASE];
    int n = measure(slope, p, c, (Column)k, h), wrong = 0;
    Spread s = def_spread(slope, n);
    for (int i = 0; i < n; i++) wrong += !(slope[i] > 0);
    djv_note("  %-6s mean %9.4f   spread %9.4f   %9.4f ..%9.4f   wrong sign %d of %d", name[k],
             s.mean, s.sd, s.least, s.most, wrong, n);
    if (k == OURS) def_check(p, key, s.sd);
  }
}

void def_guide(Program* p) {
  static const double step[] = {1e-3, 2e-3, 5e-3};
  static const Hit hit[] = {{0, 1}, {0.3, 0}, {0.6, 0}, {0.9, 0}, {0.3, 0.3}, {0.6, 0.3},
                            {0.9, 0.3}};
  djv_title("Balls meet: derivative of where the struck one is after 1 s by the speed");
  for (int i = 0; i < (p->quick ? 2 : 7); i++) {
    for (int k = p->quick ? 1 : 0; k < 3; k++) {
      show(p, &hit[i], step[k],
           i ? "guide: spread, glancing hits" : "guide: spread, head-on");
    }
  }
}
