// bdf1 and bdf2 beside another implementation of the same equations: energies at the end of scenes
// without contact, kinetic and change of potential, are those that the tests of differentiable
// RedMax expect of its BDF1 and BDF2 to 1e-2 erg (github.com/sueda/redmax,
// matlab-diff/scenesRedMax.m: the numbers in brackets). Units are centimetres, grams and seconds
// throughout: g = 980, density 1.

#include "common/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_LINKS = 5, MOST_JOINTS = 8, MOST_SPRINGS = 2, MOST_POINTS = 3 };

typedef struct Joint {
  djJointType type;
  double axis[3];
  double q, v;
  double stiffness, damping;
} Joint;

// A cuboid in the frame of its joints.
typedef struct Link {
  int parent;                // 0: the world, k: the k-th link
  double pos[3];             // of its frame in the parent's
  double sides[3], centre[3];
  int njoint;                // 0: fixed
  Joint joint[3];
} Link;

// A spring and damper along points, which rests at its length at the start; stiffness and damping are
// over that.
typedef struct Spring {
  int npoint;
  int body[MOST_POINTS];
  double point[MOST_POINTS][3];
  double stiffness, damping;
  bool point_to_point;       // rests at length 0; not over it
} Spring;

typedef struct Case {
  int number;
  const char* name;
  double energy[2];          // expected of bdf1, bdf2
  double timestep, time, gravity[3];
  int nlink;
  Link link[MOST_LINKS];
  int nspring;
  Spring spring[MOST_SPRINGS];
} Case;

#define HINGE(x, y, z, at, speed) {.type = DJ_HINGE, .axis = {x, y, z}, .q = at, .v = speed}
#define SLIDE(x, y, z, at, speed) {.type = DJ_SLIDE, .axis = {x, y, z}, .q = at, .v = speed}
#define PI_4 0.78539816339744830962
#define DOWN {0, 0, -980}

static const Case kCases[] = {
    {.number = 0, .name = "serial chain, every other joint fixed",
     .energy = {-1.2705398823489915e+05, 2.6058008179021417e+03},
     .timestep = 1e-2, .time = 1, .gravity = DOWN, .nlink = 5,
     .link = {{0, {0}, {10, 1, 1}, {5}, 1, {HINGE(0, 1, 0, PI_4, 0)}},
              {1, {10}, {10, 1, 1}, {5}, 0, {{0}}},
              {2, {10}, {10, 1, 1}, {5}, 1, {HINGE(0, 1, 0, PI_4, 0)}},
              {3, {10}, {10, 1, 1}, {5}, 0, {{0}}},
              {4, {10}, {10, 1, 1}, {5}, 1, {HINGE(0, 1, 0, PI_4, 0)}}}},
    {.number = 1, .name = "hinges about several axes",
     .energy = {-3.8359074258588909e+04, -9.7138545812971279e+02},
     .timestep = 1e-2, .time = 1, .gravity = DOWN, .nlink = 3,
     .link = {{0, {0}, {10, 1, 1}, {5}, 1, {HINGE(0, 0, 1, 0, 0)}},
              {1, {10}, {10, 1, 1}, {5}, 1, {HINGE(0, 1, 0, 2 * PI_4, 0)}},
              {2, {10}, {10, 1, 1}, {5}, 1, {HINGE(0, 0, 1, 2 * PI_4, 0)}}}},
    {.number = 2, .name = "branches",
     .energy = {-2.2826101928480086e+04, -2.4159349151742754e+02},
     .timestep = 1e-2, .time = 1, .gravity = DOWN, .nlink = 4,
     .link = {{0, {0, 0, 15}, {1, 1, 10}, {0, 0, -5}, 1, {HINGE(1, 0, 0, 0, 0)}},
              {1, {0, 0, -10}, {1, 20, 1}, {0}, 1, {HINGE(0, 0, 1, 0, 0)}},
              {2, {0, -10, 0}, {1, 1, 10}, {0, 0, -5}, 1, {HINGE(1, 0, 0, PI_4, 0)}},
              {2, {0, 10, 0}, {1, 1, 10}, {0, 0, -5}, 1, {HINGE(0, 1, 0, PI_4, 0)}}}},
    {.number = 3, .name = "slide",
     .energy = {-3.7579402399569808e+04, -6.1132876082600706e+02},
     .timestep = 1e-2, .time = 1, .gravity = DOWN, .nlink = 2,
     .link = {{0, {0}, {20, 1, 1}, {0}, 1, {SLIDE(1, 0, 0, 0, 0)}},
              {1, {-10}, {1, 1, 10}, {0, 0, -5}, 1, {HINGE(0, 1, 0, 2 * PI_4, 0)}}}},
    {.number = 4, .name = "two slides",
     .energy = {-4.5738939646068720e+04, -4.7000178355609387e+02},
     .timestep = 1e-2, .time = 1, .gravity = DOWN, .nlink = 3,
     .link = {{0, {0}, {10, 10, 1}, {0}, 2, {SLIDE(1, 0, 0, 0, 0), SLIDE(0, 1, 0, 0, 0)}},
              {1, {-5}, {1, 1, 10}, {0, 0, -5}, 1, {HINGE(0, 1, 0, 2 * PI_4, 0)}},
              {1, {0, -5}, {1, 1, 10}, {0, 0, -5}, 1, {HINGE(1, 0, 0, PI_4, 0)}}}},
    {.number = 5, .name = "three slides, no gravity",
     .energy = {3.3661704151378050e+04, 3.3377464890219308e+04},
     .timestep = 1e-2, .time = 2, .gravity = {0}, .nlink = 3,
     .link = {{0, {0}, {10, 10, 1}, {0}, 3,
               {SLIDE(1, 0, 0, 0, 0), SLIDE(0, 1, 0, 0, 0), SLIDE(0, 0, 1, 0, 0)}},
              {1, {-5}, {1, 1, 10}, {0, 0, -5}, 1, {HINGE(0, 1, 0, 0, -10)}},
              {1, {0, -5}, {1, 1, 10}, {0, 0, -5}, 1, {HINGE(1, 0, 0, 0, 10)}}}},
    {.number = 6, .name = "free in the plane",
     .energy = {2.0322933333333378e+04, 2.1283333333333332e+04},
     .timestep = 5e-3, .time = 0.4, .gravity = {0, -980, 0}, .nlink = 1,
     .link = {{0, {0}, {1, 1, 1}, {0}, 3,
               {SLIDE(1, 0, 0, -10, 50), SLIDE(0, 1, 0, -10, 200), HINGE(0, 0, 1, 0, 20)}}}},
    {.number = 8, .name = "universal joints",
     .energy = {-2.5276246935781084e+04, -1.3781281283808785e+03},
     .timestep = 1e-2, .time = 1, .gravity = DOWN, .nlink = 3,
     .link = {{0, {0}, {1, 1, 10}, {0, 0, -5}, 2,
               {HINGE(1, 0, 0, PI_4 / 2, 0), HINGE(0, 1, 0, 0, 0)}},
              {1, {0, 0, -10}, {1, 1, 10}, {0, 0, -5}, 2,
               {HINGE(1, 0, 0, 0, 0), HINGE(0, 1, 0, PI_4 / 2, 0)}},
              {2, {0, 0, -10}, {1, 1, 10}, {0, 0, -5}, 2,
               {HINGE(1, 0, 0, PI_4 / 2, 0), HINGE(0, 1, 0, 0, 0)}}}},
    {.number = 9, .name = "free cube", .energy = {4.3970920953724946e+00, 4.5466508559364156e+00},
     .timestep = 5e-2, .time = 6, .gravity = {0, 0, -1}, .nlink = 1,
     .link = {{0, {0}, {1, 1, 1}, {0}, 1, {{.type = DJ_FREE}}}}},
    {.number = 10, .name = "loop, closed by a spring of length 0",
     .energy = {1.2376477982839792e+03, 4.1146190850293169e+03},
     .timestep = 1e-2, .time = 1, .gravity = DOWN, .nlink = 5,
     .link = {{0, {0}, {20, 1, 1}, {0}, 0, {{0}}},
              {1, {-10}, {1, 1, 10}, {0, 0, -5}, 1, {HINGE(0, 1, 0, 0, 0)}},
              {1, {10}, {1, 1, 10}, {0, 0, -5}, 1, {HINGE(0, 1, 0, 0, 0)}},
              {2, {0, 0, -10}, {20, 1, 1}, {10}, 1, {HINGE(0, 1, 0, 0, 0)}},
              {4, {10}, {1, 1, 10}, {0, 0, -5}, 1, {HINGE(0, 1, 0, 0, 5)}}},
     .nspring = 1,
     .spring = {{2, {3, 4}, {{0, 0, -10}, {20}}, 1e7, 0, true}}},
    {.number = 12, .name = "springs and dampers between points",
     .energy = {-2.2145412057327565e+04, -8.9887693524038732e+03},
     .timestep = 1e-2, .time = 1, .gravity = DOWN, .nlink = 2,
     .link = {{0, {0}, {10, 1, 1}, {5}, 1, {HINGE(0, 1, 0, 0, 0)}},
              {1, {10}, {10, 1, 1}, {5}, 1, {HINGE(0, 1, 0, 0, 0)}}},
     .nspring = 2,
     .spring = {{2, {0, 2}, {{-5, 0, -5}, {5, 0, -2}}, 1e6, 1e3, false},
                {2, {1, 2}, {{5, 0, 2}, {5, 0, 2}}, 1e6, 1e3, false}}},
    {.number = 13, .name = "cable over three links, taut",
     .energy = {-3.1874892332895153e+04, -2.7872894793863266e+04},
     .timestep = 1e-2, .time = 1, .gravity = DOWN, .nlink = 4,
     .link = {{0, {0}, {0.1, 0.1, 0.1}, {0}, 0, {{0}}},
              {1, {0}, {10, 1, 1}, {5}, 1, {HINGE(0, 1, 0, 2 * PI_4, 0)}},
              {2, {10}, {10, 1, 1}, {5}, 1, {HINGE(0, 1, 0, -2 * PI_4, 0)}},
              {1, {10}, {1, 1, 1}, {0}, 1, {{DJ_SLIDE, {1, 0, 0}, 0, 0, 1e4, 1e3}}}},
     .nspring = 1,
     .spring = {{3, {4, 2, 3}, {{0}, {1, 0, 1}, {1, 0, 1}}, 1e6, 1e3, false}}},
};
enum { NCASE = sizeof kCases / sizeof kCases[0] };

typedef struct Parts {
  djModelDef def;
  djBodyDef body[MOST_LINKS + 1];
  djJointDef joint[MOST_JOINTS];
  djSiteDef site[MOST_POINTS * MOST_SPRINGS];
  djWrapDef wrap[MOST_POINTS * MOST_SPRINGS];
  djTendonDef tendon[MOST_SPRINGS];
} Parts;

static void addLink(Parts* p, const Link* l) {
  djBodyDef* b = &p->body[p->def.nbody++];
  *b = dj_defaultBodyDef();
  b->parent = l->parent;
  const double* s = l->sides;
  b->mass = s[0] * s[1] * s[2];
  for (int k = 0; k < 3; k++) {
    double u = s[(k + 1) % 3], v = s[(k + 2) % 3];
    b->pos[k] = l->pos[k];
    b->ipos[k] = l->centre[k];
    b->inertia[k] = b->mass / 12 * (u * u + v * v);
  }
  for (int i = 0; i < l->njoint; i++) {
    djJointDef* j = &p->joint[p->def.njnt++];
    *j = dj_defaultJointDef();
    j->body = p->def.nbody - 1;
    j->type = l->joint[i].type;
    j->stiffness = l->joint[i].stiffness;
    j->damping = l->joint[i].damping;
    if (j->type == DJ_FREE) j->qpos0[3] = 1;
    else memcpy(j->axis, l->joint[i].axis, sizeof j->axis);
  }
}

// Its sites and what is along them.
static void addSpring(Parts* p, const Spring* s, double length) {
  int first = p->def.nsite;
  for (int k = 0; k < s->npoint; k++) {
    djSiteDef* site = &p->site[p->def.nsite++];
    *site = (djSiteDef){.quat = {1, 0, 0, 0}};
    site->body = s->body[k];
    memcpy(site->pos, s->point[k], sizeof site->pos);
    p->wrap[first + k] = (djWrapDef){.type = DJ_WRAP_SITE, .id = first + k};
  }
  djTendonDef* t = &p->tendon[p->def.ntendon++];
  *t = dj_defaultTendonDef();
  t->nwrap = s->npoint;
  t->wrap = &p->wrap[first];
  double over = s->point_to_point ? 1 : length;
  t->springlength[0] = t->springlength[1] = s->point_to_point ? 0 : length;
  t->stiffness = s->stiffness / over;
  t->damping = s->damping / over;
}

static void setStart(djData* d, const djModel* m, const Case* c) {
  int j = 0;
  for (int k = 0; k < c->nlink; k++) {
    for (int i = 0; i < c->link[k].njoint; i++, j++) {
      const Joint* joint = &c->link[k].joint[i];
      if (joint->type == DJ_FREE) {
        const double v[6] = {0, 0, 3, 0.2, 0.4, 0.6};
        memcpy(d->qvel + m->jnt_dofadr[j], v, sizeof v);
        continue;
      }
      d->qpos[m->jnt_qposadr[j]] = joint->q;
      d->qvel[m->jnt_dofadr[j]] = joint->v;
    }
  }
  if (dj_forward(m, d) < 0) djv_fail("%s", dj_errorText(d));
}

static void makeScene(djModel** m, djData** d, const Case* c, djIntegrator integrator,
                      const double* length) {
  Parts p = {.def = dj_defaultModelDef()};
  djError err;
  p.def.option.contact = DJ_CONTACT_NONE;
  p.def.option.integrator = integrator;
  p.def.option.timestep = c->timestep;
  p.def.option.tolerance = 1e-8;   // 1e-9 is within rounding of the chain that falls fastest
  memcpy(p.def.option.gravity, c->gravity, sizeof c->gravity);
  p.body[0] = dj_defaultBodyDef();
  p.def.nbody = 1;
  p.def.body = p.body;
  p.def.joint = p.joint;
  p.def.site = p.site;
  p.def.tendon = p.tendon;
  for (int k = 0; k < c->nlink; k++) addLink(&p, &c->link[k]);
  for (int k = 0; k < c->nspring; k++) addSpring(&p, &c->spring[k], length[k]);
  if (dj_makeModel(m, &p.def, &err) < 0) djv_fail("scene (%d): %s", c->number, err.text);
  if (dj_makeData(d, *m, &err) < 0) djv_fail("scene (%d): %s", c->number, err.text);
  setStart(*d, *m, c);
}

// Lengths of the springs at the start.
static void measure(double* length, const Case* c) {
  djModel* m;
  djData* d;
  const double any[MOST_SPRINGS] = {1, 1}, *a;
  makeScene(&m, &d, c, DJ_BDF1, any);
  a = d->site_xpos;
  for (int k = 0; k < c->nspring; k++, a += 3) {
    length[k] = 0;
    for (int i = 1; i < c->spring[k].npoint; i++, a += 3) {
      double x = a[3] - a[0], y = a[4] - a[1], z = a[5] - a[2];
      length[k] += sqrt(x * x + y * y + z * z);
    }
  }
  dj_deleteData(d);
  dj_deleteModel(m);
}

static void run(djvReport* r, const Case* c, int which) {
  static const djIntegrator integrator[2] = {DJ_BDF1, DJ_BDF2};
  djModel* m;
  djData* d;
  double length[MOST_SPRINGS] = {0};
  measure(length, c);
  makeScene(&m, &d, c, integrator[which], length);
  double potential = d->energy[0];
  int steps = (int)ceil(c->time / c->timestep - 1e-9);
  for (int k = 0; k < steps; k++) {
    if (dj_step(m, d) < 0) djv_fail("scene (%d): %s", c->number, dj_errorText(d));
  }
  if (dj_forward(m, d) < 0) djv_fail("scene (%d): %s", c->number, dj_errorText(d));
  double energy = d->energy[1] + d->energy[0] - potential;
  char what[100];
  snprintf(what, sizeof what, "(%d) %s, %s", c->number, c->name,
           dj_integratorName(integrator[which]));
  djv_near(r, what, energy, c->energy[which], 1e-2, "erg");
  bool turns = c->link[0].joint[0].type == DJ_FREE;   // there RedMax has Euler angles
  djv_figure(r, turns ? "apart from what is expected, free joint" : "apart from what is expected",
             fabs(energy - c->energy[which]), "erg");
  djv_count(r, "  steps by another method or unconverged",
            d->stats.fallback_steps + d->stats.unconverged_steps, 0);
  dj_deleteData(d);
  dj_deleteModel(m);
}

int main(int argc, char** argv) {
  djv_isQuick(argc, argv);
  djvReport r = {0};
  printf("Energies at the end, beside those that differentiable RedMax expects\n");
  for (int which = 0; which < 2; which++) {
    djv_title("%s", which ? "bdf2" : "bdf1");
    for (int k = 0; k < NCASE; k++) run(&r, &kCases[k], which);
  }
  return djv_finish(&r);
}
