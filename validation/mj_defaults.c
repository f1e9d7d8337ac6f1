// What a scene that sets nothing gets: contact at our defaults beside stock MuJoCo at its own and
// at its best settings, as one table of raw numbers and one of targets.
//
//   mj_defaults [--quick] [--targets] [--integrator NAME] [--set NAME=VALUE]... [GROUP]...
//
//   crowd        5 to 60 mixed bodies: unconverged steps, iterations, time; --runs N: so many
//                (200: 100,000 steps); --only K: that one; --write FOLDER: its scene and
//                speeds; $DIJOCO_CROWDS: folder of two that once fell short
//   impact       share of Coulomb's impulse, normal impulse
//   guide        spread of derivatives through impacts over the phase of the step
//   target       tasks of hitting a target that descent solves
//   creep        a box on a slope
//   stacks       planks, cubes, pyramid, mass ratio, cards; --only K: that one
//   cost         Newton iterations and time: humanoid
//   pass         fast bodies: what passes through, energy
//   roll         ball, car, top
//   restitution  rebound by solref, Newton's cradle
//
// Targets are those of work under way: exit status 1 means, with --targets, that one is missed, and
// with --quick, that less holds than did. --set tries another setting of ours (support, stiffness,
// friction_eps...) in place of a default.

#include "mj_defaults/defaults.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Targets, and what holds today, which is what --quick asserts: to be tightened, last column until
// it is the target, as defaults change.
static const Bound BOUNDS[] = {
  // key, unit, "at least", target, today
  {"crowd: unconverged steps", "", false, 1e-5, 0.03},
  {"crowd: share of steps above 60 iterations", "", false, 0, 0.03},
  {"crowd: worst iterations", "", false, 60, 300},   // of thousands: rounding decides which
  {"impact: share of Coulomb's impulse", "", true, 0.98, 0.96},
  {"impact: error of the normal impulse", "", false, 0.01, 0.45},
  {"guide: spread, head-on", "", false, 0.05, 0.05},
  {"guide: spread, glancing hits", "", false, 0.05, 0.05},
  {"target: part solved by lbfgsb", "", true, 0.9, 0.9},
  {"target: part solved by Gauss-Newton", "", true, 0.96, 0.75},
  {"creep: mm a minute at .8 of the limit", "mm", false, 0.5, 0.5},
  {"stacks: planks that fall", "", false, 0, 0},
  {"stacks: cubes, pyramid, mass ratio that fall", "", false, 0, 0},
  {"stacks: cards that fall", "", false, 0, 0},
  {"stacks: drift of what stands", "mm", false, 1, 1},
  {"cost: humanoid, iterations at states", "", false, 7, 14},
  // times: not those of other machines, or under sanitizers
  {"cost: humanoid, step + A, B at states, us", "us", false, 80, 1e5},
  {"cost: humanoid, own run, us", "us", false, 50, 1e5},
  {"pass: share of pairs, up to 2 thicknesses a step", "", false, 0, 0},
  {"pass: share of pairs, 5 and 10 a step", "", false, 0, 0},
  {"pass: energy after to before, most", "", false, 1.01, 1.01},
  {"roll: speed that a ball keeps of 2 m/s", "m/s", true, 1.99, 1.99},
  {"roll: car, speed beside RK4's", "", false, 0.01, 0.01},
  {"roll: top, spin beside RK4's", "", false, 0.01, 0.01},
  {"restitution: rebound less stock's at .01 ms", "", false, 0.02, 0.02},
  {"restitution: momentum through a cradle", "", true, 0.9, 0.9},
};

enum { NBOUND = sizeof BOUNDS / sizeof BOUNDS[0] };

typedef struct Group {
  const char* name;
  void (*run)(Program* p);
} Group;

static const Group GROUPS[] = {
  {"crowd", def_crowd},
  {"impact", def_impact},
  {"guide", def_guide},
  {"target", def_target},
  {"creep", def_creep},
  {"stacks", def_stacks},
  {"cost", def_cost},
  {"pass", def_pass},
  {"roll", def_roll},
  {"restitution", def_restitution},
};

enum { NGROUP = sizeof GROUPS / sizeof GROUPS[0] };

static _Noreturn void usage(void) {
  fprintf(stderr, "usage: mj_defaults [--quick] [--targets] [--integrator NAME] "
                  "[--set NAME=VALUE]... "
                  "[--runs CROWDS] [--only K] "
                  "[--write FOLDER] [GROUP]...\ngroups:");
  for (int i = 0; i < NGROUP; i++) fprintf(stderr, " %s", GROUPS[i].name);
  fprintf(stderr, "\n");
  exit(2);
}

// NAME=VALUE.
static void takeSetting(Program* p, char* text) {
  char* equal = strchr(text, '=');
  if (!equal || p->nset == MAX_SET) usage();
  *equal = 0;
  char* end;
  p->set_name[p->nset] = text;
  p->set_value[p->nset++] = strtod(equal + 1, &end);
  if (*end || end == equal + 1) usage();
}

static void takeArguments(Program* p, bool wanted[NGROUP], int argc, char** argv) {
  bool any = false;
  for (int i = 1; i < argc; i++) {
    const char* next = i + 1 < argc ? argv[i + 1] : NULL;
    int k = 0;
    while (k < NGROUP && strcmp(argv[i], GROUPS[k].name) != 0) k++;
    if (k < NGROUP) {
      any = wanted[k] = true;
    } else if (strcmp(argv[i], "--quick") == 0) {
      p->quick = true;
    } else if (strcmp(argv[i], "--targets") == 0) {
      p->targets = true;
    } else if (next && strcmp(argv[i], "--set") == 0) {
      takeSetting(p, argv[++i]);
    } else if (next && strcmp(argv[i], "--only") == 0) {
      p->only = atoi(argv[++i]);
    } else if (next && strcmp(argv[i], "--runs") == 0) {
      p->runs = atoi(argv[++i]);
    } else if (next && strcmp(argv[i], "--write") == 0) {
      p->write = argv[++i];
    } else {
      usage();
    }
  }
  for (int k = 0; k < NGROUP && !any; k++) wanted[k] = true;
}

// The targets that were measured. In full: all of them. --quick: what holds today.
static void printTargets(Program* p) {
  djv_title("Targets, %s",
            p->quick ? "and what --quick asserts" : "worst numbers of all rows (ours)");
  for (int i = 0; i < NBOUND; i++) {
    const Bound* b = &BOUNDS[i];
    if (!p->seen[i]) continue;
    double limit = p->quick ? b->today : b->target;
    bool met = b->least ? p->worst[i] >= limit : p->worst[i] <= limit;
    bool reached = b->least ? p->worst[i] >= b->target : p->worst[i] <= b->target;
    djv_note("%-50s %12.4g %-8s %s %-9.4g %s%s", b->key, p->worst[i], b->unit,
             b->least ? ">=" : "<=", limit, met ? "ok" : "MISS",
             p->quick && met && !reached ? " (misses its target)" : "");
    if (!p->quick && !p->targets) continue;
    p->report.checks++;
    if (!met) p->report.misses++;
  }
}

int main(int argc, char** argv) {
  Program p = {.only = -1, .bound = BOUNDS, .nbound = NBOUND};
  bool wanted[NGROUP] = {false};
  int given = argc;
  p.integrator = djv_takeIntegrator(&argc, argv);
  p.given_integrator = argc < given;
  takeArguments(&p, wanted, argc, argv);
  for (int k = 0; k < NGROUP; k++) {
    double start = def_clock();
    if (!wanted[k]) continue;
    GROUPS[k].run(&p);
    djv_note("(%s: %.1f s)", GROUPS[k].name, def_clock() - start);
  }
  printTargets(&p);
  return djv_finish(&p.report);
}
