// What starts in deep overlap settles: beside stock MuJoCo, of our own scenes or of those that are
// named: the largest force on a pair of geoms, its mean over the last fifth of a second, the most
// speed, and how many of the pairs that overlap by half a millimetre or more at the start are apart
// by a millimetre or less after it (MuJoCo's geometry tells for both).

#include "common/robots.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCENE(bodies) "<mujoco><default><geom friction='.8'/></default><worldbody>" bodies         \
                      "</worldbody></mujoco>"
#define PLANE "<geom type='plane' size='5 5 1'/>"

// A finger's root in the palm, which nothing parts, and its tip, which turns out of it.
static const char ROOTED[] = SCENE(
    "<geom name='palm' type='box' size='.04 .05 .03' mass='.5'/>"
    "<body pos='.03 0 0'><joint axis='0 1 0' damping='.02' armature='1e-4' range='-90 90'/>"
    "<geom name='root' type='capsule' fromto='0 0 0 .03 0 0' size='.012' mass='.03'/>"
    "<body pos='.03 0 0'><joint axis='0 1 0' damping='.02' armature='1e-4'/>"
    "<geom name='tip' type='box' size='.02 .01 .008' pos='-.008 0 .026' mass='.02'/></body>"
    "</body>");

// A base that is held where it is by dampers, as deep in the floor as its feet are long.
static const char SCREWED[] = SCENE(
    PLANE "<body pos='0 0 .199'><joint type='slide' axis='1 0 0' damping='1e11' armature='1e-4'/>"
    "<joint type='slide' axis='0 1 0' damping='1e11' armature='1e-4'/>"
    "<joint type='slide' axis='0 0 1' damping='1e11' armature='1e-4'/>"
    "<geom name='base' type='box' size='.3 .25 .2' mass='120'/>"
    "<body pos='0 0 .3'><joint axis='0 1 0' damping='20'/>"
    "<geom name='arm' type='capsule' fromto='0 0 0 .4 0 .2' size='.05' mass='8'/></body></body>");

// Four wheels on casters, two centimetres inside of the base's hull, of which only their forks are
// children.
#define CASTER(x, y)                                                                               \
  "<body pos='" x " " y " -.04'><joint axis='0 0 1' damping='.01'/>"                               \
  "<geom type='box' size='.008 .008 .008' mass='.05' contype='0' conaffinity='0'/>"                \
  "<body pos='-.016 0 -.025'><joint axis='0 1 0' damping='1e-3'/>"                                 \
  "<geom type='cylinder' size='.025 .012' euler='90 0 0' mass='.1'/></body></body>"
static const char CASTERS[] = SCENE(
    PLANE "<body pos='0 0 .09'><freejoint/>"
    "<geom name='base' type='box' size='.2 .15 .06' mass='20'/>"
    CASTER(".15", ".1") CASTER(".15", "-.1") CASTER("-.15", ".1") CASTER("-.15", "-.1") "</body>");

// An arm folded into itself: links that are apart by a joint or two overlap by centimetres.
#define LINK(pos, axis, size, inner)                                                               \
  "<body pos='" pos "'><joint axis='" axis "' damping='.5' armature='.01'/>"                       \
  "<geom type='capsule' fromto='0 0 0 0 0 .12' size='" size "' mass='.8'/>" inner "</body>"
static const char FOLDED[] = SCENE(
    "<geom name='base' type='cylinder' size='.06 .05'/>"
    LINK("0 0 .06", "0 0 1", ".04",
         LINK("0 0 .12", "0 1 0", ".035", "<body pos='0 0 .12' euler='0 170 0'>"
              "<joint axis='0 1 0' damping='.5' armature='.01'/>"
              "<geom type='capsule' fromto='0 0 0 0 0 .12' size='.03' mass='.6'/>"
              LINK("0 0 .12", "1 0 0", ".03", "") "</body>")));

typedef struct Pairs {
  double* depth;           // (ngeom x ngeom) as MuJoCo sees it, > 0: overlap
  double most;             // force on one pair, N
} Pairs;

static void measure(Pairs* p, const mjModel* m, mjData* d) {
  const size_t n = (size_t)m->ngeom;
  double* force = calloc(n * n, sizeof *force);
  memset(p->depth, 0, n * n * sizeof *p->depth);
  p->most = 0;
  for (int i = 0; i < d->ncon; i++) {
    const mjContact* con = &d->contact[i];
    mjtNum f[6];
    mj_contactForce(m, d, i, f);
    const size_t at = (size_t)con->geom[0] * n + (size_t)con->geom[1];
    p->depth[at] = fmax(p->depth[at], -con->dist);
    force[at] += f[0];
    p->most = fmax(p->most, force[at]);
  }
  free(force);
}

typedef struct Seen {
  double most, end, speed; // N, N, rad/s or m/s
  int parted;
} Seen;

static void addSpeed(Seen* s, const double* v, int nv) {
  for (int i = 0; i < nv; i++) s->speed = fmax(s->speed, fabs(v[i]));
}

static int countApart(const Pairs* first, const Pairs* last, const mjModel* m, double depth) {
  int n = 0;
  for (size_t i = 0; i < (size_t)m->ngeom * (size_t)m->ngeom; i++) {
    n += first->depth[i] > 5e-4 && last->depth[i] < depth;
  }
  return n;
}

static void runTheirs(Seen* s, Pairs* first, Pairs* now, const mjModel* m, int n) {
  mjData* d = mj_makeData(m);
  mj_forward(m, d);
  measure(first, m, d);
  for (int k = 0; k < n; k++) {
    mj_step(m, d);
    measure(now, m, d);
    s->most = fmax(s->most, now->most);
    if (k >= n - n / 5) s->end += now->most / (n / 5);
    addSpeed(s, d->qvel, (int)m->nv);
  }
  mj_forward(m, d);
  measure(now, m, d);
  s->parted = countApart(first, now, m, 1e-3);
  mj_deleteData(d);
}

static long runOurs(Seen* s, const Pairs* first, Pairs* now, const mjModel* m, int n) {
  djError err;
  djModel* model = robot_import(m, &err);
  if (!model) djv_fail("%s", err.text);
  djData* data = robot_makeData(model);
  long bad = 0;
  for (int k = 0; k < n; k++) {
    bad += dj_step(model, data) != DJ_OK;
    double most = 0;
    for (int i = 0; i < data->npair; i++) most = fmax(most, data->pair[i].normal_force);
    s->most = fmax(s->most, most);
    if (k >= n - n / 5) s->end += most / (n / 5);
    addSpeed(s, data->qvel, (int)m->nv);
  }
  mjData* d = mj_makeData(m);
  mju_copy(d->qpos, data->qpos, (int)m->nq);
  mj_forward(m, d);
  measure(now, m, d);
  s->parted = countApart(first, now, m, 1e-3);
  mj_deleteData(d);
  dj_deleteData(data);
  dj_deleteModel(model);
  return bad;
}

static void compare(djvReport* r, const char* name, const mjModel* m) {
  const size_t n = (size_t)m->ngeom * (size_t)m->ngeom;
  Pairs first = {.depth = calloc(n, sizeof(double))}, now = {.depth = calloc(n, sizeof(double))};
  Seen theirs = {0}, ours = {0};
  const int steps = (int)lround(1 / m->opt.timestep);
  runTheirs(&theirs, &first, &now, m, steps);
  long bad = runOurs(&ours, &first, &now, m, steps);
  int deep = countApart(&first, &first, m, INFINITY);
  printf("%-24.24s %2d overlap, %2d and %2d part; N: %8.3g %8.3g, at the end %8.3g %8.3g; "
         "speed %6.3g %6.3g\n", name, deep, theirs.parted, ours.parted, theirs.most, ours.most, theirs.end,
         ours.end, theirs.speed, ours.speed);
  robot_count(r, bad, 0, "%s: steps that fail", name);
  robot_count(r, ours.most > 10 * theirs.most, 0, "%s: force above ten times MuJoCo's", name);
  robot_count(r, ours.parted < theirs.parted, 0, "%s: pairs apart in MuJoCo alone", name);
  robot_count(r, ours.speed > 2 * theirs.speed, 0, "%s: speed above twice MuJoCo's", name);
  djv_figure(r, "force over MuJoCo's", ours.most / theirs.most, "");
  free(first.depth);
  free(now.depth);
}

static void compareText(djvReport* r, const char* name, const char* text) {
  mjModel* m = robot_compile(text);
  compare(r, name, m);
  mj_deleteModel(m);
}

static void compareFile(djvReport* r, const char* path) {
  char why[1000];
  mjModel* m = mj_loadXML(path, NULL, why, sizeof why);
  if (!m) djv_fail("%s: %s", path, why);
  const char* name = strrchr(path, '/');
  compare(r, name ? name + 1 : path, m);
  mj_deleteModel(m);
}

int main(int argc, char** argv) {
  djvReport report = {0};
  djv_title("Starts in deep overlap, MuJoCo and DiJoCo, 1 s");
  if (argc > 1 && argv[1][0] != '-') {
    for (int i = 1; i < argc; i++) compareFile(&report, argv[i]);
    return djv_finish(&report);
  }
  djv_isQuick(argc, argv);
  compareText(&report, "rooted", ROOTED);
  compareText(&report, "screwed", SCREWED);
  compareText(&report, "casters", CASTERS);
  compareText(&report, "folded", FOLDED);
  return djv_finish(&report);
}
