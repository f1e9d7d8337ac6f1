// Stacks from a scene that sets nothing: which stand, and how far they drift.
//
// A run ends when a body has moved from where it started by a fifth of the size given, which is
// counted as a fall. No gravity ramp; MuJoCo's best column ramps gravity over 2 s.

#include "defaults.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLANK_INSET 0.002

typedef struct Stack {
  const char* name;
  void (*put)(djvText* t);
  double size;             // m; a fifth of it is a fall
  const char* key;         // of the target
} Stack;

static void putBox(djvText* t, double x, double z, double tilt, const char* rest) {
  djv_put(t, "<body pos=\"%.17g 0 %.17g\" quat=\"%.17g 0 %.17g 0\"><freejoint/>"
             "<geom type=\"box\" %s/></body>", x, z, cos(tilt / 2), sin(tilt / 2), rest);
}

// Twenty planks of 2 m, each reaching 1/k m (k from the top) less 2 mm over the one below.
static void putPlanks(djvText* t) {
  double x = 0;
  djv_put(t, "<geom type=\"box\" size=\"1 .2 .1\" pos=\"0 0 .1\" friction=\".5\"/>");
  for (int k = 20; k >= 1; k--) {
    x += 1.0 / k - PLANK_INSET;
    putBox(t, x, 0.1 + 0.2 * (21 - k), 0, "size=\"1 .2 .1\" mass=\".16\" friction=\".5\"");
  }
}

static void putCubes(djvText* t, int n) {
  djv_put(t, "<geom type=\"plane\" size=\"9 9 .1\"/>");
  for (int k = 0; k < n; k++) putBox(t, 0, 0.05 + 0.1 * k, 0, "size=\".05 .05 .05\"");
}
static void putFive(djvText* t) { putCubes(t, 5); }
static void putForty(djvText* t) { putCubes(t, 40); }

static void putPyramid(djvText* t) {
  djv_put(t, "<geom type=\"plane\" size=\"9 9 .1\"/>");
  for (int row = 0; row < 6; row++) {
    for (int k = 0; k < 6 - row; k++) {
      putBox(t, 0.11 * (k + 0.5 * row), 0.05 + 0.1 * row, 0, "size=\".05 .05 .05\"");
    }
  }
}

static void putMassRatio(djvText* t) {
  djv_put(t, "<geom type=\"plane\" size=\"9 9 .1\"/>");
  putBox(t, 0, 0.05, 0, "size=\".05 .05 .05\" mass=\".01\"");
  putBox(t, 0, 0.15, 0, "size=\".05 .05 .05\" mass=\"1000\"");
}

// Two cards, .1 m high and 1 mm thick, lean against each other by their inner upper edges, by
// `tilt` from upright, above (x, z); they need a friction of tan(tilt)/2. Returns how high they
// reach, at two outer edges.
static double putFrame(djvText* t, double x, double z, double tilt, const char* rest) {
  const double a = 0.05, b = 0.0005;
  char text[100];
  snprintf(text, sizeof text, "size=\".0005 .03 .05\" %s", rest);
  for (int side = -1; side <= 1; side += 2) {
    // the edge at (-side b, a) of the card, turned by -side tilt, is at x
    putBox(t, x + side * (b * cos(tilt) + a * sin(tilt)), z + a * cos(tilt) + b * sin(tilt),
           -side * tilt, text);
  }
  return z + 2 * (a * cos(tilt) + b * sin(tilt));
}

static void putCards(djvText* t) {
  djv_put(t, "<geom type=\"plane\" size=\"9 9 .1\"/>");
  putFrame(t, 0, 0, M_PI / 12, "");
}
static void putSlippery(djvText* t) {
  djv_put(t, "<geom type=\"plane\" size=\"9 9 .1\" friction=\".3\"/>");
  putFrame(t, 0, 0, M_PI / 9, "friction=\".3\"");
}

// Two such pairs, a card flat on them, and a pair on that.
static void putHouse(djvText* t) {
  djv_put(t, "<geom type=\"plane\" size=\"9 9 .1\"/>");
  putFrame(t, -0.05, 0, M_PI / 12, "");
  double top = putFrame(t, 0.05, 0, M_PI / 12, "");
  putBox(t, 0, top + 0.0005, 0, "size=\".06 .03 .0005\"");
  putFrame(t, 0, top + 0.001, M_PI / 12, "");
}

static const Stack STACK[] = {
  {"20 planks", putPlanks, 0.2, "stacks: planks that fall"},
  {"5 cubes", putFive, 0.1, "stacks: cubes, pyramid, mass ratio that fall"},
  {"40 cubes", putForty, 0.1, "stacks: cubes, pyramid, mass ratio that fall"},
  {"pyramid of 21", putPyramid, 0.1, "stacks: cubes, pyramid, mass ratio that fall"},
  {"mass ratio 1e5", putMassRatio, 0.1, "stacks: cubes, pyramid, mass ratio that fall"},
  {"leaning cards", putCards, 0.1, "stacks: cards that fall"},
  {"cards, 20 deg", putSlippery, 0.1, "stacks: cards that fall"},
  {"house of cards", putHouse, 0.1, "stacks: cards that fall"},
};
enum { NSTACK = sizeof STACK / sizeof STACK[0], NSTEP = 4 };
static const double STEP[NSTEP] = {1e-3, 2e-3, 5e-3, 1e-2};

typedef struct Outcome {
  double time;             // s; when it fell, or the whole time
  double drift;            // m
  bool falls;
  long unconverged;
  double newton, cost;     // a step; s
} Outcome;

static double drift(const Sim* s) {
  double most = 0;
  for (int i = 0; i < s->nq; i += 7) {
    most = djv_worst(most, djv_dist(s->qpos + i, s->m->qpos0 + i));
  }
  return most;
}

static Outcome run(const Program* p, const Stack* stack, const mjModel* m, Column column, double h,
                   double seconds) {
  Outcome out = {0};
  Sim s;
  sim_open(&s, m, column, h, p);
  long n = lround(seconds / h), k = 0, iterations = 0;
  double g = s.m->opt.gravity[2], start = def_clock();
  for (; k < n && !out.falls; k++) {
    bool unconverged = false;
    if (column == BEST) s.m->opt.gravity[2] = g * fmin(1, (double)k * h / 2);
    out.falls = !sim_step(&s);
    iterations += sim_iterations(&s, &unconverged);
    out.unconverged += unconverged;
    out.drift = djv_worst(out.drift, drift(&s));
    out.falls = out.falls || !(out.drift < stack->size / 5);
  }
  out.time = (double)k * h;
  out.newton = (double)iterations / (double)k;
  out.cost = (def_clock() - start) / (double)k;
  sim_close(&s);
  return out;
}

static void write(char* cell, size_t size, const Outcome* o) {
  if (o->falls) snprintf(cell, size, "falls at %.3g s", o->time);
  else snprintf(cell, size, "stands, %.3g mm", 1e3 * o->drift);
}

void def_stacks(Program* p) {
  double seconds = p->quick ? 1 : 60;
  djv_title("Stacks, %g s: when they fall (a body has moved by a fifth of its height), or drift",
            seconds);
  djv_note("%-15s %5s %-18s %-18s %-18s %7s %9s %5s", "", "ms", "ours", "stock", "best", "Newton",
           "us a step", "unc.");
  for (int i = 0; i < NSTACK; i++) {
    if (p->only >= 0 && i != p->only) continue;
    djvText t = djv_text();
    djv_put(&t, "<mujoco><size memory=\"64M\"/><worldbody>");
    STACK[i].put(&t);
    djv_put(&t, "</worldbody></mujoco>");
    mjModel* m = robot_compile(t.text);
    for (int k = 0; k < NSTEP; k++) {
      Outcome o[NCOLUMN];
      char cell[NCOLUMN][40];
      if (p->quick && k != 2) continue;
      for (int c = 0; c < NCOLUMN; c++) {
        o[c] = run(p, &STACK[i], m, (Column)c, STEP[k], seconds);
        write(cell[c], sizeof cell[c], &o[c]);
      }
      djv_note("%-15s %5g %-18s %-18s %-18s %7.2f %9.1f %5ld", STACK[i].name, 1e3 * STEP[k],
               cell[0], cell[1], cell[2], o[OURS].newton, 1e6 * o[OURS].cost,
               o[OURS].unconverged);
      def_check(p, STACK[i].key, o[OURS].falls);
      if (!o[OURS].falls) def_check(p, "stacks: drift of what stands", 1e3 * o[OURS].drift);
    }
    mj_deleteModel(m);
    free(t.text);
  }
}
