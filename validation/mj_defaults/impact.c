// Impacts that slide: what friction keeps of Coulomb's impulse mu J, and the normal impulse J.
//
// A box on its face, edge or corner, or a sphere, meets a plane at the speed of a drop from .3 m or
// 1 m, with 2.5 times that speed along the plane, so that it slides throughout; the centre of mass
// is above the point of contact. With v the velocity of the centre of mass, from the start of the
// first step in which the plane acts until it has stopped and some steps more,
//   J = m (dv_n + g_n t),   share = -m (dv_t - g_t t) / (mu J),
// and the normal number is (v_peak - v_before)/|v_before| less what a rebound adds, 1 when right.
// Eight phases of the drop against the step; sizes grow from .05 m to .1 m over them.

#include "defaults.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MU 0.3
#define GRAVITY 9.81
// Ratio of rebound that an impact at default settings shall have.
#define REBOUND 0.0

enum { NPHASE = 8, NSTEP = 7 };
static const double STEP[NSTEP] = {1e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2};

typedef enum Shape { BOX, SPHERE, EDGE, CORNER, NSHAPE } Shape;
static const char* const NAME[NSHAPE] = {"box", "sphere", "edge of a box", "corner of a box"};

typedef struct Impact {
  Shape shape;
  double drop, slope;      // m, rad
  double h;
} Impact;

typedef struct Result {
  Spread share, normal;
  int missing;             // runs in which nothing was met or that failed
} Result;

// Rotation by an angle about y, after one about an axis that brings the box onto edge or corner.
static void setPose(double quat[4], double* reach, const Impact* c, double r) {
  double turn[4] = {1, 0, 0, 0}, slope[4] = {cos(c->slope / 2), 0, sin(c->slope / 2), 0};
  *reach = r;
  if (c->shape == EDGE || c->shape == CORNER) {
    // about (-1, 1, 0)/sqrt(2) a box is brought onto its corner, about y onto an edge
    double angle = c->shape == EDGE ? M_PI / 4 : acos(1 / sqrt(3));
    double s = sin(angle / 2), x = c->shape == EDGE ? 0 : -s / sqrt(2);
    double y = c->shape == EDGE ? s : s / sqrt(2);
    *reach = r * (c->shape == EDGE ? sqrt(2) : sqrt(3));
    mju_copy(turn, (double[4]){cos(angle / 2), x, y, 0}, 4);
  }
  mju_mulQuat(quat, slope, turn);
}

static mjModel* makeScene(const Impact* c, double r) {
  djvText t = djv_text();
  djv_put(&t, "<mujoco><default><geom friction=\"%g\"/></default><worldbody>"
              "<geom type=\"plane\" size=\"9 9 .1\" quat=\"%.17g 0 %.17g 0\"/>"
              "<body><freejoint/><geom type=\"%s\" size=\"%.9g %.9g %.9g\"/></body>"
              "</worldbody></mujoco>", MU, cos(c->slope / 2), sin(c->slope / 2),
          c->shape == SPHERE ? "sphere" : "box", r, r, r);
  mjModel* m = robot_compile(t.text);
  free(t.text);
  return m;
}

// One impact; false: nothing was met.
static bool run(double* share, double* normal, Sim* s, const Impact* c, double r, double phase) {
  double n[3] = {sin(c->slope), 0, cos(c->slope)}, t[3] = {cos(c->slope), 0, -sin(c->slope)};
  double speed = sqrt(2 * GRAVITY * c->drop), h = c->h, reach, quat[4];
  double gn = GRAVITY * n[2], gt = -GRAVITY * t[2];
  sim_reset(s);
  setPose(quat, &reach, c, r);
  for (int a = 0; a < 3; a++) {
    s->qpos[a] = n[a] * (reach + (1.5 + phase) * h * speed);
    s->qvel[a] = -n[a] * speed + 2.5 * t[a] * speed;
  }
  mju_copy(s->qpos + 3, quat, 4);
  double before = 0, along = 0, peak = -INFINITY, first = -1, after = 0;
  long last = lround(0.15 / h) + 20;
  for (long k = 0; k < last; k++) {
    double v = djv_dot(s->qvel, n), u = djv_dot(s->qvel, t);
    if (!sim_step(s)) return false;
    double now = djv_dot(s->qvel, n), free = v - gn * h;
    if (first < 0 && now > free + 1e-3 * speed) {
      first = (double)k * h;
      before = v;
      along = u;
    }
    if (first < 0) continue;
    peak = fmax(peak, now);
    if (now < -0.01 * speed && after == 0) continue;
    after += h;
    if (after < fmax(2e-3, 3 * h) - 1e-9) continue;
    double time = (double)(k + 1) * h - first;
    double J = now - before + gn * time, F = -(djv_dot(s->qvel, t) - along) + gt * time;
    *share = F / (MU * J);
    *normal = (peak - before) / fabs(before) / (1 + REBOUND);
    return true;
  }
  return false;
}

static Result measure(const Program* p, const Impact* c, Column column) {
  double share[NPHASE], normal[NPHASE];
  Result out = {.missing = 0};
  int got = 0, stride = p->quick ? 4 : 1;
  for (int j = 0; j < NPHASE; j += stride) {
    double r = 0.05 + 0.05 * j / (NPHASE - 1);
    mjModel* m = makeScene(c, r);
    Sim s;
    sim_open(&s, m, column, c->h, p);
    if (run(&share[got], &normal[got], &s, c, r, (double)j / NPHASE)) got++;
    else out.missing++;
    sim_close(&s);
    mj_deleteModel(m);
  }
  out.share = def_spread(share, got);
  out.normal = def_spread(normal, got);
  return out;
}

static void show(Program* p, const Impact* c, bool target) {
  Result r[NCOLUMN];
  char cell[NCOLUMN][60];
  for (int i = 0; i < NCOLUMN; i++) {
    r[i] = measure(p, c, (Column)i);
    const Result* x = &r[i];
    snprintf(cell[i], sizeof cell[i], "%6.3f (%6.3f) %5.3f%s", x->share.mean, x->share.least,
             x->normal.mean, x->missing ? "!" : " ");
  }
  djv_note("%-15s %3.1f m %4.1f ms %s %s %s", NAME[c->shape], c->drop, 1e3 * c->h, cell[0], cell[1],
           cell[2]);
  if (!target) return;
  const Result* ours = &r[OURS];
  double error = djv_worst(fabs(ours->normal.most - 1), fabs(ours->normal.least - 1));
  def_check(p, "impact: share of Coulomb's impulse", ours->missing ? NAN : ours->share.mean);
  def_check(p, "impact: error of the normal impulse", ours->missing ? NAN : error);
}

static void table(const char* what) {
  djv_note("%s", what);
  djv_note("  %-24s %-22s %-22s %s", "", "ours", "stock", "best");
  djv_note("  %-24s %-22s %-22s %s", "", "share (least) normal", "share (least) normal",
           "share (least) normal");
}

void def_impact(Program* p) {
  djv_title("Impacts that slide: mean share of Coulomb's impulse, the least; normal impulse");
  table("on a plane");
  for (int shape = BOX; shape <= SPHERE; shape++) {
    for (int d = 0; d < 2; d++) {
      for (int i = 0; i < NSTEP; i++) {
        if (p->quick && (i < 1 || i == 2 || i > 4)) continue;
        show(p, &(Impact){(Shape)shape, d ? 1 : 0.3, 0, STEP[i]}, true);
      }
    }
  }
  if (p->quick) return;
  table("on a slope of 20 degrees");
  for (int shape = BOX; shape <= SPHERE; shape++) {
    for (int i = 0; i < NSTEP; i++) show(p, &(Impact){(Shape)shape, 0.3, 0.35, STEP[i]}, true);
  }
  table("on edges and corners: from 5 ms on the box turns within a step");
  for (int shape = EDGE; shape < NSHAPE; shape++) {
    for (int i = 0; i < 5; i++) show(p, &(Impact){(Shape)shape, 0.3, 0, STEP[i]}, i < 4);
  }
}
