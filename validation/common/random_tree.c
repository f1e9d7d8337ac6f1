#include "common/random_tree.h"

#include "common/report.h"
#include "common/text.h"

enum { MAX_JOINTS = 100 };

typedef struct Maker {
  djvRandom* random;
  int features;
  djvText text;
  int njoint;
  bool free[MAX_JOINTS];   // of joint j1, j2...
} Maker;

#define put(k, ...) djv_put(&(k)->text, __VA_ARGS__)

static double uniform(Maker* k, double low, double high) {
  return djv_uniform(k->random, low, high);
}
static bool maybe(Maker* k, double p) { return djv_uniform(k->random, 0, 1) < p; }

static void randomAxis(Maker* k, double axis[3]) {
  double square = 0;
  while (square < 0.01 || square > 1) {
    square = 0;
    for (int i = 0; i < 3; i++) {
      axis[i] = uniform(k, -1, 1);
      square += axis[i] * axis[i];
    }
  }
}

static void putJoint(Maker* k, const char* type) {
  double axis[3];
  randomAxis(k, axis);
  bool free = type[0] == 'f', ball = type[0] == 'b';
  if (k->njoint == MAX_JOINTS) djv_fail("random tree: too many joints");
  k->free[k->njoint] = free;
  put(k, "<joint name=\"j%d\" type=\"%s\"", ++k->njoint, type);
  if (!free) {
    double pos[3];
    djv_uniforms(pos, 3, k->random, -0.2, 0.2);
    put(k, " pos=\"%.5g %.5g %.5g\"", pos[0], pos[1], pos[2]);
  }
  if (!free && !ball) {
    double ref[2];
    djv_uniforms(ref, 2, k->random, -0.3, 0.3);
    put(k, " axis=\"%.17g %.17g %.17g\" ref=\"%.5g\" springref=\"%.5g\"", axis[0], axis[1], axis[2],
        ref[0], ref[1]);
  }
  put(k, " armature=\"%.5g\"", free ? 0 : uniform(k, 0.05, 0.3));
  if (k->features & TREE_SPRINGS) {
    double stiffness[3], damping[3];
    djv_uniforms(damping + 1, 2, k->random, 0, 0.1);
    damping[0] = uniform(k, 0, 0.3);
    djv_uniforms(stiffness + 1, 2, k->random, 0, 1);
    stiffness[0] = uniform(k, 0, 3);
    put(k, " stiffness=\"%.5g %.5g %.5g\" damping=\"%.5g %.5g %.5g\"", stiffness[0], stiffness[1],
        stiffness[2], damping[0], damping[1], damping[2]);
  }
  put(k, "/>");
}

static void putJoints(Maker* k, bool top) {
  if (top && maybe(k, 0.5)) {
    putJoint(k, "free");
    return;
  }
  switch (djv_integer(k->random, 0, 4)) {
    case 0: putJoint(k, "ball"); break;
    case 1: putJoint(k, "slide"); putJoint(k, "hinge"); break;
    case 2: putJoint(k, "hinge"); putJoint(k, "slide"); putJoint(k, "hinge"); break;
    case 3: putJoint(k, "hinge"); putJoint(k, "hinge"); break;
    default: putJoint(k, "hinge"); break;
  }
}

static void putBody(Maker* k, int* next, int end, int depth) {
  double q[4], pos[3], ipos[2], product[2];
  (*next)++;
  djv_randomQuat(k->random, q);
  djv_uniforms(pos, 3, k->random, -0.5, 0.5);
  put(k, "<body pos=\"%.5g %.5g %.5g\" quat=\"%.17g %.17g %.17g %.17g\"", pos[0], pos[1], pos[2],
      q[0], q[1], q[2], q[3]);
  if ((k->features & TREE_GRAVCOMP) && maybe(k, 0.5)) {
    put(k, " gravcomp=\"%.5g\"", uniform(k, 0.2, 1.2));
  }
  put(k, ">");
  putJoints(k, depth == 0);
  djv_uniforms(product, 2, k->random, -0.02, 0.02);
  double mass = uniform(k, 0.5, 2);
  djv_uniforms(ipos, 2, k->random, -0.2, 0.2);
  put(k, "<inertial pos=\"%.5g %.5g 0\" mass=\"%.5g\" fullinertia=\"0.1 0.15 0.2 %.5g 0.01 %.5g\"/>"
      "<geom size=\"0.1\" contype=\"0\" conaffinity=\"0\"/>\n",
      ipos[0], ipos[1], mass, product[0], product[1]);
  while (depth < 4 && *next < end && maybe(k, 0.7)) putBody(k, next, end, depth + 1);
  put(k, "</body>\n");
}

static void putActuators(Maker* k) {
  static const char* const dyn[] = {"none", "integrator", "filter", "filterexact"};
  put(k, "<actuator>\n");
  for (int j = 1; j <= k->njoint; j++) {
    double gain = uniform(k, -1, 1);
    bool affine = maybe(k, 0.3);
    double tau = uniform(k, 0.1, 0.3);
    int type = djv_integer(k->random, 0, 3);
    double gear = uniform(k, 0.5, 1.5);
    put(k, "<general joint%s=\"j%d\" gear=\"%.5g 0.3 0.2 0.1 -0.4 0.7\" dyntype=\"%s\" "
        "dynprm=\"%.5g\" gaintype=\"%s\" gainprm=\"%.5g 0.2 %g\" ctrllimited=\"false\"",
        maybe(k, 0.3) ? "inparent" : "", j, gear, dyn[type], tau, affine ? "affine" : "fixed", gain,
        k->free[j - 1] ? 0 : 0.1);
    // Velocity terms on free joints are reported as ignored.
    if (maybe(k, 0.5)) {
      put(k, " biastype=\"affine\" biasprm=\"0.1 -1 %g\"", k->free[j - 1] ? 0 : -0.2);
    }
    if (maybe(k, 0.3)) {
      double own[2];
      djv_uniforms(own, 2, k->random, 0, 0.1);
      put(k, " armature=\"%.5g\" damping=\"%.5g\"", own[0], own[1]);
    }
    put(k, "/>\n");
  }
  put(k, "</actuator>\n");
}

char* tree_random(djvRandom* random, int nbody, int features) {
  Maker maker = {.random = random, .features = features, .text = djv_text()}, *k = &maker;
  put(k, "<mujoco><compiler angle=\"radian\"/><option gravity=\"%.4g 0 -9.81\"",
      uniform(k, -1, 1));
  if (features & TREE_FLUID) put(k, " density=\"5\" viscosity=\"0.05\" wind=\"1 -0.5 0.3\"");
  put(k, "/>\n<worldbody>\n");
  for (int next = 0; next < nbody;) putBody(k, &next, nbody, 0);
  put(k, "</worldbody>\n");
  if ((features & TREE_ACTUATORS) && k->njoint) putActuators(k);
  put(k, "</mujoco>\n");
  return k->text.text;
}
