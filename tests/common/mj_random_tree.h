// Random MJCF for derivatives of MuJoCo's step: trees of all joints and simple geoms that touch,
// limits, friction loss, tendons, equalities, actuators; both cones, all integrators.

#ifndef DJ_TESTS_MJ_RANDOM_TREE_H_
#define DJ_TESTS_MJ_RANDOM_TREE_H_

#include "common/random.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { DJT_TREE_TEXT = 60000 };

typedef struct djtTree {
  char* text;
  int used;
  djRng rng;
  int bodies, joints, scalars, sites, tendons; // named b0.., j0.. (scalar: s0..), x0.., t0..
} djtTree;

// Of {a,b} in the text a number between.
static inline void djt_putTree(djtTree* t, const char* format, ...)
    __attribute__((format(printf, 2, 3)));
static inline void djt_putTree(djtTree* t, const char* format, ...) {
  char text[1000];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  for (char* c = text; *c; c++) {
    if (*c != '{') {
      t->text[t->used++] = *c;
      continue;
    }
    double low = strtod(c + 1, &c), high = strtod(c + 1, &c);
    t->used += snprintf(t->text + t->used, 20, "%.4f", djt_uniform(&t->rng, low, high));
  }
  t->text[t->used] = 0;
}

static inline double djt_in(djtTree* t, double low, double high) {
  return djt_uniform(&t->rng, low, high);
}
static inline int djt_pick(djtTree* t, int n) { return (int)djt_in(t, 0, n - 1e-9); }
static inline int djt_chance(djtTree* t, double part) { return djt_in(t, 0, 1) < part; }

static inline void djt_putTreeGeom(djtTree* t) {
  static const char* const type[] = {"sphere", "capsule", "box", "ellipsoid", "cylinder"};
  int k = djt_pick(t, 100);
  k = k < 35 ? 0 : k < 65 ? 1 : k < 85 ? 2 : k < 93 ? 3 : 4;
  double a = djt_in(t, 0.03, 0.05), b = djt_in(t, 0.03, 0.08), c = djt_in(t, 0.03, 0.05);
  static const int dims[] = {1, 3, 3, 4, 6};
  djt_putTree(t,
              "<geom type='%s' size='%.4f %.4f %.4f' condim='%d' friction='{0.2,1} "
              "{0.005,0.05} {0.001,0.02}' pos='{-0.03,0.03} {-0.03,0.03} "
              "{-0.03,0.03}' euler='{0,90} {0,90} {0,90}' density='{300,2000}'",
              type[k], a, b, c, dims[djt_pick(t, 5)]);
  if (djt_chance(t, 0.5)) {
    djt_putTree(t, " solref='{0.01,0.05} {0.5,1.5}'");
  } else if (djt_chance(t, 0.3)) {
    djt_putTree(t, " solref='{-3000,-300} {-60,-10}'");
  }
  if (djt_chance(t, 0.5)) {
    djt_putTree(t, " solimp='{0.5,0.8} {0.85,0.97} {0.005,0.05} {0.2,0.8} {1,4}'");
  }
  if (djt_chance(t, 0.3)) djt_putTree(t, " margin='{0,0.02}'");
  if (djt_chance(t, 0.15)) djt_putTree(t, " fluidshape='ellipsoid'");
  djt_putTree(t, "/>");
}

static inline void djt_putTreeJoint(djtTree* t, int ball) {
  const char* type = ball ? "ball" : djt_chance(t, 0.7) ? "hinge" : "slide";
  int slide = type[0] == 's';
  if (ball)
    djt_putTree(t, "<joint name='j%d' type='ball'", t->joints++);
  else
    djt_putTree(t, "<joint name='s%d' type='%s' axis='{-1,1} {-1,1} {0.1,1}'", t->scalars++, type);
  djt_putTree(t, " pos='{-0.05,0.05} {-0.05,0.05} 0'");
  if (djt_chance(t, 0.5))
    djt_putTree(t, " damping='{0.01,0.5}'");
  else if (djt_chance(t, 0.4))
    djt_putTree(t, " damping='{0.01,0.5} {0.01,0.2} {0.01,0.1}'");
  if (djt_chance(t, 0.4)) djt_putTree(t, " stiffness='{0.5,20}'");
  if (djt_chance(t, 0.4)) djt_putTree(t, " armature='{0.005,0.1}'");
  if (djt_chance(t, 0.3)) djt_putTree(t, " frictionloss='{0.02,1}'");
  if (djt_chance(t, 0.5)) {
    if (ball)
      djt_putTree(t, " range='0 {5,40}'");
    else if (slide)
      djt_putTree(t, " range='{-0.1,0} {0,0.1}'");
    else
      djt_putTree(t, " range='{-30,0} {0,30}'");
    if (djt_chance(t, 0.5)) djt_putTree(t, " solreflimit='{0.01,0.05} {0.5,1.5}'");
    if (djt_chance(t, 0.3)) djt_putTree(t, " margin='{0,0.05}'");
  }
  djt_putTree(t, "/>");
}

static inline void djt_putTreeBody(djtTree* t, int depth, double x, double y, double z) {
  djt_putTree(t,
              "<body name='b%d' pos='%.3f %.3f %.3f' euler='{-20,20} {-20,20} "
              "{-20,20}'",
              t->bodies++, x, y, z);
  if (djt_chance(t, 0.1)) djt_putTree(t, " gravcomp='{0,1}'");
  djt_putTree(t, ">");
  if (depth == 0 && djt_chance(t, 0.6)) {
    djt_putTree(t, "<freejoint/>");
  } else if (djt_chance(t, 0.3)) {
    djt_putTreeJoint(t, 1);
  } else {
    for (int n = 1 + djt_pick(t, 3), k = 0; k < n; k++) djt_putTreeJoint(t, 0);
  }
  djt_putTreeGeom(t);
  if (djt_chance(t, 0.3)) djt_putTreeGeom(t);
  djt_putTree(t,
              "<site name='x%d' pos='{-0.1,0.1} {-0.1,0.1} {-0.1,0.1}' euler='{0,90} "
              "20 30'/>",
              t->sites);
  t->sites++;
  for (int n = depth < 3 ? djt_pick(t, 3) : 0, k = 0; k < n; k++) {
    double x1 = djt_in(t, 0.12, 0.2), y1 = djt_in(t, -0.15, 0.15), z1 = djt_in(t, -0.05, 0.1);
    djt_putTreeBody(t, depth + 1, k ? -x1 : x1, y1, z1);
  }
  djt_putTree(t, "</body>");
}

static inline void djt_putTreeTendons(djtTree* t) {
  djt_putTree(t, "<tendon>");
  for (int n = djt_pick(t, 4), k = 0; k < n; k++) {
    int spatial = djt_chance(t, 0.6) && t->sites > 1;
    if (!spatial && t->scalars < 2) continue;
    djt_putTree(t, "<%s name='t%d'", spatial ? "spatial" : "fixed", t->tendons++);
    if (djt_chance(t, 0.4)) djt_putTree(t, " damping='{0.1,1}'");
    if (djt_chance(t, 0.4)) djt_putTree(t, " stiffness='{1,30}'");
    if (djt_chance(t, 0.3)) djt_putTree(t, " frictionloss='{0.1,1}'");
    if (djt_chance(t, 0.3)) djt_putTree(t, " armature='{0.01,0.2}'");
    if (djt_chance(t, 0.4))
      djt_putTree(t, spatial ? " range='0 {.05,.4}'" : " range='{-.2,0} {.05,.4}'");
    djt_putTree(t, ">");
    int a = djt_pick(t, spatial ? t->sites : t->scalars), m = spatial ? t->sites : t->scalars;
    for (int i = 0; i < 2 + (m > 2); i++) {
      if (spatial)
        djt_putTree(t, "<site site='x%d'/>", (a + i) % m);
      else
        djt_putTree(t, "<joint joint='s%d' coef='{-1,1}'/>", (a + i) % m);
    }
    djt_putTree(t, "</%s>", spatial ? "spatial" : "fixed");
  }
  djt_putTree(t, "</tendon><equality>");
  for (int n = djt_pick(t, 3), k = 0; k < n; k++) {
    int kind = djt_pick(t, 4), a = djt_pick(t, t->bodies), b = djt_pick(t, t->bodies);
    const char* imp = djt_chance(t, 0.5) ? " solimp='.6 .9 .05 .4 2'" : "";
    if (kind == 0 && a != b) {
      djt_putTree(t, "<connect body1='b%d' body2='b%d' anchor='{-0.1,0.1} 0 .05'%s/>", a, b, imp);
    } else if (kind == 1 && a != b) {
      djt_putTree(t, "<weld body1='b%d' body2='b%d' torquescale='{0.3,1.5}'%s/>", a, b, imp);
    } else if (kind == 2 && t->scalars > 1) {
      int s = djt_pick(t, t->scalars);
      djt_putTree(t,
                  "<joint joint1='s%d' joint2='s%d' polycoef='{-0.1,0.1} {-1,1} .3 .1 "
                  "0'%s/>",
                  s, (s + 1) % t->scalars, imp);
    } else if (kind == 3 && t->tendons > 1) {
      djt_putTree(t, "<tendon tendon1='t0' tendon2='t1' polycoef='.02 .5 .3 0 0'%s/>", imp);
    }
  }
  djt_putTree(t, "</equality>");
}

static inline void djt_putTreeActuators(djtTree* t) {
  djt_putTree(t, "<actuator>");
  for (int n = djt_pick(t, 6), k = 0; k < n; k++) {
    char at[60];
    if (t->tendons && djt_chance(t, 0.3)) {
      snprintf(at, sizeof at, "tendon='t%d'", djt_pick(t, t->tendons));
    } else if (t->scalars && djt_chance(t, 0.7)) {
      snprintf(at, sizeof at, "joint='s%d'", djt_pick(t, t->scalars));
    } else {
      snprintf(at, sizeof at, "site='x%d' gear='0 1 .5 .2 0 .1'", djt_pick(t, t->sites));
    }
    switch (djt_pick(t, 7)) {
      case 0:
        djt_putTree(t, "<motor %s/>", at);
        break;
      case 1:
        djt_putTree(t, "<position %s kp='{1,20}' kv='{0,1}'/>", at);
        break;
      case 2:
        djt_putTree(t, "<velocity %s kv='{0.1,2}'/>", at);
        break;
      case 3:
        djt_putTree(t, "<intvelocity %s kp='{1,20}' actrange='-1 1'/>", at);
        break;
      case 4:
        djt_putTree(t,
                    "<general %s dyntype='filterexact' dynprm='.05' gainprm='3' "
                    "biastype='affine' biasprm='0 -2 -.2'/>",
                    at);
        break;
      case 5:
        djt_putTree(t,
                    "<general %s dyntype='filter' dynprm='.03' gaintype='affine' gainprm='2 "
                    ".5 -.3' actearly='%s'/>",
                    at, djt_chance(t, 0.5) ? "true" : "false");
        break;
      default:
        djt_putTree(t, "<damper %s kv='{0.1,1}' ctrlrange='0 1'/>", at);
    }
  }
  djt_putTree(t, "</actuator>");
}

// Malloc'ed.
static inline char* djt_randomTree(unsigned seed) {
  static const char* const integrator[] = {"Euler", "implicitfast", "implicit"};
  djtTree t = {.text = malloc(DJT_TREE_TEXT), .rng = {seed * 7919u + 12345u}};
  if (!t.text) return NULL;
  int cone = djt_chance(&t, 0.5), way = djt_pick(&t, 3), dense = djt_chance(&t, 0.5);
  djt_putTree(&t,
              "<mujoco><compiler autolimits='true'/><option timestep='{.001,.004}' cone='%s' "
              "impratio='{.5,5}' integrator='%s' jacobian='%s'",
              cone ? "elliptic" : "pyramidal", integrator[way], dense ? "dense" : "sparse");
  if (djt_chance(&t, 0.3))
    djt_putTree(&t, " density='{1,1000}' viscosity='{0,0.5}' wind='.3 .2 .1'");
  djt_putTree(&t, ">%s</option><worldbody><geom type='plane' size='5 5 .1' condim='3'/>",
              djt_chance(&t, 0.2) ? "<flag eulerdamp='disable'/>" : "");
  for (int n = 2 + djt_pick(&t, 3), k = 0; k < n; k++) {
    djt_putTreeBody(&t, 0, 0.25 * k, 0.1 * (k % 2), djt_in(&t, 0.05, 0.2));
  }
  djt_putTree(&t, "</worldbody>");
  djt_putTreeTendons(&t);
  djt_putTreeActuators(&t);
  djt_putTree(&t, "</mujoco>");
  return t.text;
}

#endif // DJ_TESTS_MJ_RANDOM_TREE_H_
