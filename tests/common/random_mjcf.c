#include "common/random_mjcf.h"
#include "common/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct djMaker {
  djRng* rng;
  int features;
  djtText text;
  int njnt, ngeom, nsite, nmocap, nu, na, nwrap;
  int joint_type[500];     // of joint j1, j2...: f, b, s or h
  int wrap_side[500];      // of geom w1, w2...: 0 none, 1 inner, 2 outer
} djMaker;

#define put(k, ...) djt_put(&(k)->text, __VA_ARGS__)
#define putUniform(k, name, ...) djt_putUniform(&(k)->text, (k)->rng, name, __VA_ARGS__)

static double uniform(djMaker* k, double lo, double hi) { return djt_uniform(k->rng, lo, hi); }
static int integer(djMaker* k, int n) { return djt_integer(k->rng, n); }
static bool maybe(djMaker* k, double p) { return djt_uniform(k->rng, 0, 1) < p; }

static void putPose(djMaker* k, double reach) {
  double q[4];
  djt_unitQuat(q, k->rng);
  putUniform(k, "pos", {-reach, reach}, {-reach, reach}, {-reach, reach});
  put(k, " quat=\"%.17g %.17g %.17g %.17g\"", q[0], q[1], q[2], q[3]);
}

static void putGeom(djMaker* k, bool world) {
  static const char* const types[] = {"sphere", "capsule", "box", "mesh", "plane"};
  bool cluster = k->features & DJT_MJCF_CLUSTER;
  int n = (k->features & DJT_MJCF_MESHES) ? 4 : 3;
  int type = cluster ? 0 : world && maybe(k, 0.3) ? 4 : integer(k, n);
  put(k, "<geom name=\"g%d\" type=\"%s\"", ++k->ngeom, types[type]);
  putPose(k, cluster ? 0.1 : 0.3);
  if (type == 3) put(k, " mesh=\"m%d\"", 1 + integer(k, 2));
  else if (cluster) put(k, " size=\"1\"");
  else putUniform(k, "size", {0.05, 0.2}, {0.05, 0.2}, {0.05, 0.2});
  if (maybe(k, 0.3)) putUniform(k, "density", {100, 3000});
  if (k->features & DJT_MJCF_CONTACT) {
    static const int condim[] = {1, 3, 4, 6};
    if (maybe(k, 0.5)) {
      put(k, " contype=\"%d\"", integer(k, 4));
      put(k, " conaffinity=\"%d\"", integer(k, 4));
    }
    put(k, " condim=\"%d\"", condim[integer(k, 4)]);
    putUniform(k, "friction", {0, 1.5}, {0, 0.01}, {0, 0.001});
    if (maybe(k, 0.3)) put(k, " priority=\"%d\"", integer(k, 3) - 1);
    if (maybe(k, 0.3)) putUniform(k, "margin", {0, 0.02});
    if (maybe(k, 0.3)) putUniform(k, "gap", {0, 0.01});
  }
  put(k, "/>\n");
}

// Springs, damping, limits, and the like of one joint.
static void putJointTerms(djMaker* k, int type) {
  if (maybe(k, 0.3)) putUniform(k, "stiffness", {0, 10}, {0, 2}, {0, 2});
  if (maybe(k, 0.5)) putUniform(k, "damping", {0, 2}, {0, 1}, {0, 1});
  if (maybe(k, 0.5)) putUniform(k, "armature", {0, 0.5});
  bool smooth = k->features & DJT_MJCF_SMOOTH;
  if (!smooth && maybe(k, 0.2)) putUniform(k, "frictionloss", {0, 0.5});
  if (k->features & DJT_MJCF_REST && maybe(k, 0.5)) put(k, " actuatorgravcomp=\"true\"");
  if (type == 'f') return;
  if (!smooth && maybe(k, 0.4)) {
    bool ball = type == 'b';
    put(k, " limited=\"true\"");
    putUniform(k, "range", {ball ? 0 : -2, ball ? 0 : -0.5}, {0.5, 2});
    putUniform(k, "margin", {0, 0.01});
    if (maybe(k, 0.5)) {
      putUniform(k, "solreflimit", {0.001, 0.05}, {0.5, 1.5});
      putUniform(k, "solimplimit", {0.8, 0.8}, {0.9, 0.999}, {0.01, 0.01});
    }
  }
  if (type == 'b') return;
  if (maybe(k, 0.3)) putUniform(k, "ref", {-0.5, 0.5});
  if (maybe(k, 0.3)) putUniform(k, "springref", {-0.5, 0.5});
  if (smooth || !maybe(k, 0.2)) return;
  put(k, " actuatorfrclimited=\"true\"");
  putUniform(k, "actuatorfrcrange", {-3, -3}, {0.5, 5});
}

static void putJoint(djMaker* k, int type) {
  static const char* const names[] = {['b'] = "ball", ['s'] = "slide", ['h'] = "hinge"};
  double axis[3];
  djt_unitVector(axis, k->rng);
  if (k->njnt == 499) return;
  k->joint_type[++k->njnt] = type;
  if (type == 'f') {   // <freejoint> has no dynamics of its own; <joint type="free"> has
    put(k, "<joint name=\"j%d\" type=\"free\"", k->njnt);
  } else {
    put(k, "<joint name=\"j%d\" type=\"%s\"", k->njnt, names[type]);
    putUniform(k, "pos", {-0.2, 0.2}, {-0.2, 0.2}, {-0.2, 0.2});
    if (type != 'b') put(k, " axis=\"%.17g %.17g %.17g\"", axis[0], axis[1], axis[2]);
  }
  putJointTerms(k, type);
  put(k, "/>\n");
}

static void putJoints(djMaker* k, bool top) {
  if (top && maybe(k, 0.4)) {
    putJoint(k, 'f');
    return;
  }
  switch (integer(k, 5)) {
    case 0: break;                       // welded to the parent
    case 1: putJoint(k, 'b'); break;
    case 2: putJoint(k, 's'); putJoint(k, 'h'); break;
    case 3: putJoint(k, 'h'); putJoint(k, 's'); putJoint(k, 'h'); break;
    default: putJoint(k, 'h'); break;
  }
}

// A geom for paths to go around, with a site within it, or by it, or none.
static void putWrap(djMaker* k) {
  static const char* const kind[] = {"", "inner", "outer"};
  double pos[3], out[3], r = uniform(k, 0.03, 0.15);
  int id = ++k->nwrap, side = integer(k, 3);
  for (int i = 0; i < 3; i++) {
    pos[i] = uniform(k, -0.2, 0.2);
    out[i] = uniform(k, -0.5, 0.5) * r + (side == 2) * copysign(r, uniform(k, -1, 1));
  }
  k->wrap_side[id] = side;
  put(k, "<geom name=\"w%d\" type=\"%s\" size=\"%.5g 0.1\" pos=\"%.5g %.5g %.5g\" mass=\"0.1\"",
      id, maybe(k, 0.5) ? "sphere" : "cylinder", r, pos[0], pos[1], pos[2]);
  putUniform(k, "euler", {-3, 3}, {-3, 3}, {-3, 3});
  put(k, " contype=\"0\" conaffinity=\"0\"/>\n");
  if (side == 0) return;
  put(k, "<site name=\"%s%d\" pos=\"%.5g %.5g %.5g\"/>\n", kind[side], id, pos[0] + out[0],
      pos[1] + out[1], pos[2] + out[2]);
}

// Body i and a random part of the bodies up to *next < end below it.
static void putBody(djMaker* k, int* next, int end, int depth) {
  int id = (*next)++;
  bool mocap = depth == 0 && (k->features & DJT_MJCF_MOCAP) && maybe(k, 0.15);
  put(k, "<body name=\"b%d\"", id);
  putPose(k, k->features & DJT_MJCF_CLUSTER ? 0.1 : 0.6);
  if (mocap) put(k, " mocap=\"true\"");
  else if (maybe(k, 0.2)) putUniform(k, "gravcomp", {0, 1.2});
  put(k, ">\n");
  k->nmocap += mocap;
  if (!mocap) putJoints(k, depth == 0);
  if (maybe(k, 0.3)) {
    put(k, "<inertial");
    putUniform(k, "pos", {0.1, 0.1}, {-0.1, 0.1}, {0, 0});
    putUniform(k, "mass", {0.5, 3});
    putUniform(k, "fullinertia", {2, 2}, {3, 3}, {4, 4}, {-0.3, 0.3}, {0.1, 0.1}, {-0.3, 0.3});
    put(k, "/>\n");
  }
  putGeom(k, false);
  while (maybe(k, 0.3)) putGeom(k, false);
  while (maybe(k, k->features & DJT_MJCF_TENDONS ? 0.6 : 0.3)) {
    put(k, "<site name=\"s%d\"", ++k->nsite);
    putPose(k, 0.2);
    put(k, "/>\n");
  }
  if (k->features & DJT_MJCF_WRAPS) putWrap(k);
  while (depth < 5 && *next < end && maybe(k, 0.6)) putBody(k, next, end, depth + 1);
  put(k, "</body>\n");
}

static void putGear(djMaker* k) {
  putUniform(k, "gear", {-2, 2}, {0.3, 0.3}, {-1, 1}, {0.1, 0.1}, {-0.4, -0.4}, {-1, 1});
}

// A range, which holds only where it is limited.
static void putRange(djMaker* k, const char* name, double low, double high) {
  char range[16];
  snprintf(range, sizeof(range), "%srange", name);
  put(k, " %slimited=\"%s\"", name, maybe(k, 0.7) ? "true" : "false");
  putUniform(k, range, {low, 0}, {0.1, high});
}

static void putActuators(djMaker* k) {
  static const char* const dyn[] = {"none", "integrator", "filter", "filterexact"};
  bool smooth = k->features & DJT_MJCF_SMOOTH;
  put(k, "<actuator>\n");
  for (int j = 1; j <= k->njnt; j++) {
    if (maybe(k, 0.4)) continue;
    put(k, "<general name=\"a%d\" joint%s=\"j%d\"", ++k->nu, maybe(k, 0.2) ? "inparent" : "", j);
    putGear(k);
    int type = integer(k, 4);
    k->na += type > 0;
    put(k, " dyntype=\"%s\"", dyn[type]);
    putUniform(k, "dynprm", {0.01, 0.1});
    if (!smooth && type && maybe(k, 0.7)) putRange(k, "act", -1, 1);
    if (type && maybe(k, 0.3)) put(k, " actearly=\"true\"");
    put(k, " gaintype=\"%s\"", maybe(k, 0.3) ? "affine" : "fixed");
    putUniform(k, "gainprm", {-3, 3}, {-1, 1}, {-0.5, 0.5});
    if (maybe(k, 0.5)) {
      put(k, " biastype=\"affine\"");
      putUniform(k, "biasprm", {-1, 1}, {-4, 0}, {-0.5, 0});
    }
    if (!smooth && maybe(k, 0.7)) putRange(k, "ctrl", -1, 2);
    if (!smooth && maybe(k, 0.5)) putRange(k, "force", -3, 2);
    if (maybe(k, 0.3)) {
      putUniform(k, "armature", {0, 0.3});
      putUniform(k, "damping", {0, 0.3}, {0, 0.3}, {0, 0.3});
    }
    put(k, " group=\"%d\"/>\n", integer(k, 3));
  }
  put(k, "</actuator>\n");
}

// ------------------------------ tendons ---------------------------------------------------------

// MuJoCo has no armature on paths around geoms.
static void putTendonTerms(djMaker* k, bool wraps) {
  bool smooth = k->features & DJT_MJCF_SMOOTH;
  double slack = uniform(k, 0, 0.3);
  putUniform(k, "stiffness", {0, 20}, {0, 5}, {0, 5});
  putUniform(k, "damping", {0, 2}, {0, 1}, {0, 1});
  if (maybe(k, 0.7)) {
    double play = maybe(k, 0.5) ? 0.2 : 0;
    putUniform(k, "springlength", {slack, slack}, {slack, slack + play});
  }
  if (!wraps && maybe(k, 0.4)) putUniform(k, "armature", {0, 0.5});
  if (smooth || (wraps && k->features & DJT_MJCF_REST)) return;
  if (maybe(k, 0.3)) putUniform(k, "frictionloss", {0, 0.5});
  if (maybe(k, 0.4)) {
    put(k, " limited=\"true\"");
    putUniform(k, "range", {-0.5, 0.4}, {0.5, 1.5});
    putUniform(k, "margin", {0, 0.01});
  }
  if (maybe(k, 0.4)) {
    put(k, " actuatorfrclimited=\"true\"");
    putUniform(k, "actuatorfrcrange", {-3, -0.5}, {0.5, 3});
  }
}

// Of any site but `last`; the one that was put.
static int putSite(djMaker* k, int last) {
  int site;
  do site = 1 + integer(k, k->nsite);
  while (site == last);
  put(k, "<site site=\"s%d\"/>", site);
  return site;
}

static void putPulley(djMaker* k) {
  put(k, "<pulley");
  putUniform(k, "divisor", {0.5, 3});
  put(k, "/>");
}

// A geom on the way to the next site.
static void putDetour(djMaker* k) {
  if (k->nwrap == 0 || maybe(k, 0.3)) return;
  int id = 1 + integer(k, k->nwrap), side = k->wrap_side[id];
  put(k, "<geom geom=\"w%d\"", id);
  if (side) put(k, " sidesite=\"%s%d\"", side == 1 ? "inner" : "outer", id);
  put(k, "/>");
}

static void putPath(djMaker* k) {
  int last = 0;
  if (maybe(k, 0.2)) putPulley(k);
  for (int part = 0; part < 3; part++) {
    last = putSite(k, 0);
    do {
      putDetour(k);
      last = putSite(k, last);
    } while (maybe(k, 0.4));
    if (part == 2 || maybe(k, 0.6)) return;
    putPulley(k);
  }
}

// Tendons t1, t2..; how many.
static int putTendons(djMaker* k) {
  int n = 0;
  put(k, "<tendon>\n");
  for (int t = 0; t < 2 && k->njnt > 0; t++) {
    int used = 0;
    for (int j = 1; j <= k->njnt && used < 3; j++) {
      if (k->joint_type[j] == 'f' || k->joint_type[j] == 'b' || maybe(k, 0.4)) continue;
      if (used++ == 0) {
        put(k, "<fixed name=\"t%d\"", ++n);
        putTendonTerms(k, false);
        put(k, ">");
      }
      put(k, "<joint joint=\"j%d\" coef=\"%.5g\"/>", j, uniform(k, -2, 2));
    }
    if (used > 0) put(k, "</fixed>\n");
  }
  for (int t = 0; t < 2 && k->nsite > 1; t++) {
    put(k, "<spatial name=\"t%d\"", ++n);
    putTendonTerms(k, k->features & DJT_MJCF_WRAPS);
    put(k, ">");
    putPath(k);
    put(k, "</spatial>\n");
  }
  put(k, "</tendon>\n");
  return n;
}

static void putDrive(djMaker* k) {
  putGear(k);
  put(k, " biastype=\"affine\" group=\"%d\"", integer(k, 3));
  putUniform(k, "gainprm", {-2, 2});
  putUniform(k, "biasprm", {-1, 1}, {-3, 0}, {-1, 0});
  if (!(k->features & DJT_MJCF_SMOOTH) && maybe(k, 0.5)) putRange(k, "force", -3, 2);
  k->nu++;
}

// Several on each tendon, on sites, and by cranks.
static void putDrives(djMaker* k, int ntendon) {
  for (int i = 0; i < 2 * ntendon; i++) {
    put(k, "<general tendon=\"t%d\"", 1 + integer(k, ntendon));
    putDrive(k);
    putUniform(k, "damping", {0, 0.5}, {0, 0.5}, {0, 0.5});
    if (!(k->features & DJT_MJCF_WRAPS) && maybe(k, 0.3)) putUniform(k, "armature", {0, 0.2});
    put(k, "/>\n");
  }
  for (int i = 1; i <= k->nsite; i++) {
    int other = 1 + integer(k, k->nsite), type = integer(k, 3);
    put(k, type == 2 ? "<general cranksite=\"s%d\"" : "<general site=\"s%d\"", i);
    if (type == 1) put(k, " refsite=\"s%d\"", other);
    if (type == 2) {
      put(k, " slidersite=\"s%d\"", other);
      putUniform(k, "cranklength", {2, 4});
    }
    putDrive(k);
    put(k, "/>\n");
  }
}

// ------------------------------ forces that only MuJoCo has -------------------------------------

// A tendon around a geom, muscles, and actuators of several outputs.
static void putRest(djMaker* k) {
  if (k->nsite > 1) {
    put(k, "<tendon><spatial name=\"t0\"");
    putTendonTerms(k, true);
    put(k, "><site site=\"s1\"/><geom geom=\"g0\"/><site site=\"s2\"/></spatial></tendon>\n");
  }
  put(k, "<actuator>\n");
  for (int i = 0; i < 2 && k->nsite > 1; i++) {
    put(k, "<general tendon=\"t0\" biastype=\"affine\" group=\"%d\"", integer(k, 3));
    putUniform(k, "gear", {-3, 3});
    putUniform(k, "gainprm", {-2, 2});
    putUniform(k, "biasprm", {-1, 1}, {-3, 0}, {-1, 0});
    putUniform(k, "damping", {0, 0.5}, {0, 0.5}, {0, 0.5});
    put(k, "/>\n");
  }
  for (int j = 1; j <= k->njnt; j++) {
    if (k->joint_type[j] == 'b' && maybe(k, 0.5)) {
      put(k, "<orientation joint=\"j%d\"", j);
      putUniform(k, "kp", {0, 5});
      putUniform(k, "kv", {0, 1});
      put(k, "/>\n");
    }
    if (k->joint_type[j] == 'f' || k->joint_type[j] == 'b' || maybe(k, 0.6)) continue;
    put(k, "<muscle joint=\"j%d\" lengthrange=\"-2 2\"", j);
    putUniform(k, "gear", {-1, 1});
    putUniform(k, "force", {1, 10});
    put(k, "/>\n");
  }
  put(k, "</actuator>\n");
}

static void putContacts(djMaker* k, int nbody) {
  put(k, "<contact>\n");
  for (int i = 0; i < k->ngeom / 4; i++) {
    int a = 1 + integer(k, k->ngeom), b = 1 + integer(k, k->ngeom);
    if (a == b) continue;
    put(k, "<pair geom1=\"g%d\" geom2=\"g%d\" condim=\"%d\"", a, b, maybe(k, 0.5) ? 3 : 1);
    putUniform(k, "friction", {0.1, 1}, {0.1, 1}, {0.01, 0.01}, {0, 0}, {0, 0});
    putUniform(k, "margin", {0, 0.01});
    if (maybe(k, 0.3)) putUniform(k, "gap", {0, 0.01});
    put(k, "/>\n");
  }
  int last = 0;   // of two excludes none may repeat: the pairs (b1, bi) with rising i
  while (nbody > 2 && maybe(k, 0.7) && (last += 1 + integer(k, 2)) < nbody) {
    put(k, "<exclude body1=\"b%d\" body2=\"b%d\"/>\n", 1 + last, maybe(k, 0.5) ? 1 : last);
  }
  put(k, "</contact>\n");
}

static void putNumbers(djMaker* k, const char* name, int n) {
  put(k, " %s=\"", name);
  for (int i = 0; i < n; i++) put(k, "%.5g ", uniform(k, 0.2, 0.9));
  put(k, "\"");
}

static void putKeys(djMaker* k) {
  int nq = 0, nv = 0;
  for (int j = 1; j <= k->njnt; j++) {
    int type = k->joint_type[j];
    nq += type == 'f' ? 7 : type == 'b' ? 4 : 1;
    nv += type == 'f' ? 6 : type == 'b' ? 3 : 1;
  }
  put(k, "<keyframe><key name=\"k1\" time=\"0.5\"/><key name=\"k2\"");
  putUniform(k, "time", {0, 9});
  putNumbers(k, "qpos", nq);
  putNumbers(k, "qvel", nv);
  putNumbers(k, "act", k->na);
  putNumbers(k, "ctrl", k->nu);
  putNumbers(k, "mpos", 3 * k->nmocap);
  putNumbers(k, "mquat", 4 * k->nmocap);
  put(k, "/></keyframe>\n");
}

static void putMeshes(djMaker* k) {
  put(k, "<asset>\n");
  for (int i = 1; i <= 2; i++) {
    put(k, "<mesh name=\"m%d\" vertex=\"", i);
    for (int v = 0; v < 36; v++) put(k, "%.6g ", uniform(k, -0.2, 0.2));
    put(k, "\"/>\n");
  }
  put(k, "</asset>\n");
}

static void putOption(djMaker* k) {
  put(k, "<mujoco model=\"random\"><compiler angle=\"radian\"/>\n");
  put(k, "<option");
  putUniform(k, "timestep", {0.001, 0.01});
  putUniform(k, "gravity", {-1, 1}, {-1, 1}, {-10, -1});
  if (maybe(k, 0.5)) putUniform(k, "density", {0, 10});
  putUniform(k, "wind", {1, 1}, {-1, 1}, {-1, 1});
  if (maybe(k, 0.3)) put(k, " actuatorgroupdisable=\"%d\"", integer(k, 3));
  if (maybe(k, 0.5)) putUniform(k, "viscosity", {0, 0.1});
  put(k, "><flag");
  if (maybe(k, 0.2)) put(k, " filterparent=\"disable\"");
  if (maybe(k, 0.1)) put(k, " clampctrl=\"disable\"");
  if (maybe(k, 0.1)) put(k, " gravity=\"disable\"");
  if (maybe(k, 0.15)) put(k, " spring=\"disable\"");
  if (maybe(k, 0.15)) put(k, " damper=\"disable\"");
  if (maybe(k, 0.1)) put(k, " actuation=\"disable\"");
  put(k, "/></option>\n");
}

char* djt_randomMjcf(djRng* rng, int nbody, int features) {
  djMaker maker = {.rng = rng, .features = features}, *k = &maker;
  putOption(k);
  if (features & DJT_MJCF_MESHES) putMeshes(k);
  put(k, "<worldbody>\n");
  if (maybe(k, 0.8)) putGeom(k, true);
  if (features & DJT_MJCF_REST) put(k, "<geom name=\"g0\" size=\"0.1\" pos=\"0.1 0.2 0.3\"/>\n");
  for (int next = 1; next <= nbody;) putBody(k, &next, nbody + 1, 0);
  put(k, "</worldbody>\n");
  if (features & DJT_MJCF_ACTUATORS) putActuators(k);
  if (features & DJT_MJCF_TENDONS) {
    int ntendon = putTendons(k);
    put(k, "<actuator>\n");
    putDrives(k, ntendon);
    put(k, "</actuator>\n");
  }
  if (features & DJT_MJCF_REST) putRest(k);
  if (features & DJT_MJCF_CONTACT) putContacts(k, nbody);
  if (features & DJT_MJCF_KEYS) putKeys(k);
  put(k, "</mujoco>\n");
  if (k->text.failed) {
    free(k->text.text);
    return NULL;
  }
  return k->text.text;
}
