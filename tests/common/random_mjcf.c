#include "common/random_mjcf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct djMaker {
  djRng* rng;
  int features;
  char* text;              // grows
  size_t used, room;
  bool failed;
  int njnt, ngeom, nsite, nmocap, nu, na;
  int joint_type[500];     // of joint j1, j2...: f, b, s or h
} djMaker;

static void put(djMaker* k, const char* format, ...) {
  char piece[2000];
  va_list args;
  va_start(args, format);
  int n = vsnprintf(piece, sizeof(piece), format, args);
  va_end(args);
  if (k->failed || n < 0 || n >= (int)sizeof(piece)) {
    k->failed = true;
    return;
  }
  if (k->used + n + 1 > k->room) {
    size_t room = 2 * (k->used + n + 1);
    char* text = realloc(k->text, room);
    if (!text) {
      k->failed = true;
      return;
    }
    k->text = text;
    k->room = room;
  }
  memcpy(k->text + k->used, piece, n + 1);
  k->used += n;
}

static double uniform(djMaker* k, double lo, double hi) { return djt_uniform(k->rng, lo, hi); }
static int integer(djMaker* k, int n) { return djt_integer(k->rng, n); }
static bool maybe(djMaker* k, double p) { return djt_uniform(k->rng, 0, 1) < p; }

static void putPose(djMaker* k, double reach) {
  double q[4];
  djt_unitQuat(q, k->rng);
  put(k, " pos=\"%.17g %.17g %.17g\" quat=\"%.17g %.17g %.17g %.17g\"", uniform(k, -reach, reach),
      uniform(k, -reach, reach), uniform(k, -reach, reach), q[0], q[1], q[2], q[3]);
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
  else put(k, " size=\"%.4g %.4g %.4g\"", uniform(k, 0.05, 0.2), uniform(k, 0.05, 0.2),
           uniform(k, 0.05, 0.2));
  if (maybe(k, 0.3)) put(k, " density=\"%.5g\"", uniform(k, 100, 3000));
  if (k->features & DJT_MJCF_CONTACT) {
    static const int condim[] = {1, 3, 4, 6};
    if (maybe(k, 0.5)) {
      put(k, " contype=\"%d\" conaffinity=\"%d\"", integer(k, 4), integer(k, 4));
    }
    put(k, " condim=\"%d\" friction=\"%.5g %.5g %.5g\"", condim[integer(k, 4)],
        uniform(k, 0, 1.5), uniform(k, 0, 0.01), uniform(k, 0, 0.001));
    if (maybe(k, 0.3)) put(k, " priority=\"%d\"", integer(k, 3) - 1);
    if (maybe(k, 0.3)) put(k, " margin=\"%.5g\"", uniform(k, 0, 0.02));
    if (maybe(k, 0.3)) put(k, " gap=\"%.5g\"", uniform(k, 0, 0.01));
  }
  put(k, "/>\n");
}

// Springs, damping, limits, and the like of one joint.
static void putJointTerms(djMaker* k, int type) {
  if (maybe(k, 0.3)) {
    put(k, " stiffness=\"%.5g %.5g %.5g\"", uniform(k, 0, 10), uniform(k, 0, 2), uniform(k, 0, 2));
  }
  if (maybe(k, 0.5)) {
    put(k, " damping=\"%.5g %.5g %.5g\"", uniform(k, 0, 2), uniform(k, 0, 1), uniform(k, 0, 1));
  }
  if (maybe(k, 0.5)) put(k, " armature=\"%.5g\"", uniform(k, 0, 0.5));
  bool smooth = k->features & DJT_MJCF_SMOOTH;
  if (!smooth && maybe(k, 0.2)) put(k, " frictionloss=\"%.5g\"", uniform(k, 0, 0.5));
  if (k->features & DJT_MJCF_REST && maybe(k, 0.5)) put(k, " actuatorgravcomp=\"true\"");
  if (type == 'f') return;
  if (!smooth && maybe(k, 0.4)) {
    put(k, " limited=\"true\" range=\"%.5g %.5g\" margin=\"%.5g\"",
        type == 'b' ? 0 : uniform(k, -2, -0.5), uniform(k, 0.5, 2), uniform(k, 0, 0.01));
    if (maybe(k, 0.5)) {
      put(k, " solreflimit=\"%.5g %.5g\" solimplimit=\"0.8 %.5g 0.01\"", uniform(k, 0.001, 0.05),
          uniform(k, 0.5, 1.5), uniform(k, 0.9, 0.999));
    }
  }
  if (type == 'b') return;
  if (maybe(k, 0.3)) put(k, " ref=\"%.5g\"", uniform(k, -0.5, 0.5));
  if (maybe(k, 0.3)) put(k, " springref=\"%.5g\"", uniform(k, -0.5, 0.5));
  if (!smooth && maybe(k, 0.2)) put(k, " actuatorfrclimited=\"true\" actuatorfrcrange=\"-3 %.5g\"",
                         uniform(k, 0.5, 5));
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
    put(k, "<joint name=\"j%d\" type=\"%s\" pos=\"%.5g %.5g %.5g\"", k->njnt, names[type],
        uniform(k, -0.2, 0.2), uniform(k, -0.2, 0.2), uniform(k, -0.2, 0.2));
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

// Body i and a random part of the bodies up to *next < end below it.
static void putBody(djMaker* k, int* next, int end, int depth) {
  int id = (*next)++;
  bool mocap = depth == 0 && (k->features & DJT_MJCF_MOCAP) && maybe(k, 0.15);
  put(k, "<body name=\"b%d\"", id);
  putPose(k, k->features & DJT_MJCF_CLUSTER ? 0.1 : 0.6);
  if (mocap) put(k, " mocap=\"true\"");
  else if (maybe(k, 0.2)) put(k, " gravcomp=\"%.4g\"", uniform(k, 0, 1.2));
  put(k, ">\n");
  k->nmocap += mocap;
  if (!mocap) putJoints(k, depth == 0);
  if (maybe(k, 0.3)) {
    put(k, "<inertial pos=\"0.1 %.5g 0\" mass=\"%.5g\" fullinertia=\"2 3 4 %.5g 0.1 %.5g\"/>\n",
        uniform(k, -0.1, 0.1), uniform(k, 0.5, 3), uniform(k, -0.3, 0.3), uniform(k, -0.3, 0.3));
  }
  putGeom(k, false);
  while (maybe(k, 0.3)) putGeom(k, false);
  while (maybe(k, k->features & DJT_MJCF_TENDONS ? 0.6 : 0.3)) {
    put(k, "<site name=\"s%d\"", ++k->nsite);
    putPose(k, 0.2);
    put(k, "/>\n");
  }
  while (depth < 5 && *next < end && maybe(k, 0.6)) putBody(k, next, end, depth + 1);
  put(k, "</body>\n");
}

// A range, which holds only where it is limited.
static void putRange(djMaker* k, const char* name, double low, double high) {
  put(k, " %slimited=\"%s\" %srange=\"%.5g %.5g\"", name, maybe(k, 0.7) ? "true" : "false", name,
      uniform(k, low, 0), uniform(k, 0.1, high));
}

static void putActuators(djMaker* k) {
  static const char* const dyn[] = {"none", "integrator", "filter", "filterexact"};
  bool smooth = k->features & DJT_MJCF_SMOOTH;
  put(k, "<actuator>\n");
  for (int j = 1; j <= k->njnt; j++) {
    if (maybe(k, 0.4)) continue;
    put(k, "<general name=\"a%d\" joint%s=\"j%d\" gear=\"%.5g 0.3 %.5g 0.1 -0.4 %.5g\"", ++k->nu,
        maybe(k, 0.2) ? "inparent" : "", j, uniform(k, -2, 2), uniform(k, -1, 1),
        uniform(k, -1, 1));
    int type = integer(k, 4);
    k->na += type > 0;
    put(k, " dyntype=\"%s\" dynprm=\"%.5g\"", dyn[type], uniform(k, 0.01, 0.1));
    if (!smooth && type && maybe(k, 0.7)) putRange(k, "act", -1, 1);
    if (type && maybe(k, 0.3)) put(k, " actearly=\"true\"");
    put(k, " gaintype=\"%s\" gainprm=\"%.5g %.5g %.5g\"", maybe(k, 0.3) ? "affine" : "fixed",
        uniform(k, -3, 3), uniform(k, -1, 1), uniform(k, -0.5, 0.5));
    if (maybe(k, 0.5)) {
      put(k, " biastype=\"affine\" biasprm=\"%.5g %.5g %.5g\"", uniform(k, -1, 1),
          uniform(k, -4, 0), uniform(k, -0.5, 0));
    }
    if (!smooth && maybe(k, 0.7)) putRange(k, "ctrl", -1, 2);
    if (!smooth && maybe(k, 0.5)) putRange(k, "force", -3, 2);
    if (maybe(k, 0.3)) {
      put(k, " armature=\"%.5g\" damping=\"%.5g %.5g %.5g\"", uniform(k, 0, 0.3),
          uniform(k, 0, 0.3), uniform(k, 0, 0.3), uniform(k, 0, 0.3));
    }
    put(k, " group=\"%d\"/>\n", integer(k, 3));
  }
  put(k, "</actuator>\n");
}

// ------------------------------ tendons ---------------------------------------------------------

static void putTendonTerms(djMaker* k, bool wraps) {
  bool smooth = k->features & DJT_MJCF_SMOOTH;
  double slack = uniform(k, 0, 0.3);
  put(k, " stiffness=\"%.5g %.5g %.5g\" damping=\"%.5g %.5g %.5g\"", uniform(k, 0, 20),
      uniform(k, 0, 5), uniform(k, 0, 5), uniform(k, 0, 2), uniform(k, 0, 1), uniform(k, 0, 1));
  if (maybe(k, 0.7)) {
    put(k, " springlength=\"%.5g %.5g\"", slack, slack + maybe(k, 0.5) * uniform(k, 0, 0.2));
  }
  if (wraps) return;
  if (maybe(k, 0.4)) put(k, " armature=\"%.5g\"", uniform(k, 0, 0.5));
  if (smooth) return;
  if (maybe(k, 0.3)) put(k, " frictionloss=\"%.5g\"", uniform(k, 0, 0.5));
  if (maybe(k, 0.4)) {
    put(k, " limited=\"true\" range=\"%.5g %.5g\" margin=\"%.5g\"", uniform(k, -0.5, 0.4),
        uniform(k, 0.5, 1.5), uniform(k, 0, 0.01));
  }
  if (maybe(k, 0.4)) {
    put(k, " actuatorfrclimited=\"true\" actuatorfrcrange=\"%.5g %.5g\"", uniform(k, -3, -0.5),
        uniform(k, 0.5, 3));
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

static void putPath(djMaker* k) {
  int last = 0;
  if (maybe(k, 0.2)) put(k, "<pulley divisor=\"%.5g\"/>", uniform(k, 0.5, 3));
  for (int part = 0; part < 3; part++) {
    last = putSite(k, 0);
    last = putSite(k, last);
    while (maybe(k, 0.4)) last = putSite(k, last);
    if (part == 2 || maybe(k, 0.6)) return;
    put(k, "<pulley divisor=\"%.5g\"/>", uniform(k, 0.5, 3));
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
    putTendonTerms(k, false);
    put(k, ">");
    putPath(k);
    put(k, "</spatial>\n");
  }
  put(k, "</tendon>\n");
  return n;
}

static void putDrive(djMaker* k) {
  put(k, " gear=\"%.5g 0.3 %.5g 0.1 -0.4 %.5g\"", uniform(k, -2, 2), uniform(k, -1, 1),
      uniform(k, -1, 1));
  put(k, " gainprm=\"%.5g\" biastype=\"affine\" biasprm=\"%.5g %.5g %.5g\" group=\"%d\"",
      uniform(k, -2, 2), uniform(k, -1, 1), uniform(k, -3, 0), uniform(k, -1, 0), integer(k, 3));
  if (!(k->features & DJT_MJCF_SMOOTH) && maybe(k, 0.5)) putRange(k, "force", -3, 2);
  k->nu++;
}

// Several on each tendon, on sites, and by cranks.
static void putDrives(djMaker* k, int ntendon) {
  for (int i = 0; i < 2 * ntendon; i++) {
    put(k, "<general tendon=\"t%d\"", 1 + integer(k, ntendon));
    putDrive(k);
    put(k, " damping=\"%.5g %.5g %.5g\"", uniform(k, 0, 0.5), uniform(k, 0, 0.5),
        uniform(k, 0, 0.5));
    if (maybe(k, 0.3)) {
      put(k, " armature=\"%.5g\"", uniform(k, 0, 0.2));
    }
    put(k, "/>\n");
  }
  for (int i = 1; i <= k->nsite; i++) {
    int other = 1 + integer(k, k->nsite), type = integer(k, 3);
    put(k, type == 2 ? "<general cranksite=\"s%d\"" : "<general site=\"s%d\"", i);
    if (type == 1) put(k, " refsite=\"s%d\"", other);
    if (type == 2) put(k, " slidersite=\"s%d\" cranklength=\"%.5g\"", other, uniform(k, 2, 4));
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
    put(k, "<general tendon=\"t0\" gear=\"%.5g\" gainprm=\"%.5g\" biastype=\"affine\" "
        "biasprm=\"%.5g %.5g %.5g\" damping=\"%.5g %.5g %.5g\" group=\"%d\"/>\n",
        uniform(k, -3, 3), uniform(k, -2, 2), uniform(k, -1, 1), uniform(k, -3, 0),
        uniform(k, -1, 0), uniform(k, 0, 0.5), uniform(k, 0, 0.5), uniform(k, 0, 0.5),
        integer(k, 3));
  }
  for (int j = 1; j <= k->njnt; j++) {
    if (k->joint_type[j] == 'b' && maybe(k, 0.5)) {
      put(k, "<orientation joint=\"j%d\" kp=\"%.5g\" kv=\"%.5g\"/>\n", j, uniform(k, 0, 5),
          uniform(k, 0, 1));
    }
    if (k->joint_type[j] == 'f' || k->joint_type[j] == 'b' || maybe(k, 0.6)) continue;
    put(k, "<muscle joint=\"j%d\" gear=\"%.5g\" lengthrange=\"-2 2\" force=\"%.5g\"/>\n", j,
        uniform(k, -1, 1), uniform(k, 1, 10));
  }
  put(k, "</actuator>\n");
}

static void putContacts(djMaker* k, int nbody) {
  put(k, "<contact>\n");
  for (int i = 0; i < k->ngeom / 4; i++) {
    int a = 1 + integer(k, k->ngeom), b = 1 + integer(k, k->ngeom);
    if (a == b) continue;
    put(k, "<pair geom1=\"g%d\" geom2=\"g%d\" condim=\"%d\" friction=\"%.5g %.5g 0.01 0 0\" "
        "margin=\"%.4g\" gap=\"%.4g\"/>\n", a, b, maybe(k, 0.5) ? 3 : 1, uniform(k, 0.1, 1),
        uniform(k, 0.1, 1), uniform(k, 0, 0.01), maybe(k, 0.3) ? uniform(k, 0, 0.01) : 0);
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
  put(k, "<keyframe><key name=\"k1\" time=\"0.5\"/><key name=\"k2\" time=\"%.5g\"",
      uniform(k, 0, 9));
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
  put(k, "<option timestep=\"%.4g\" gravity=\"%.4g %.4g %.4g\" density=\"%.4g\" "
      "wind=\"1 %.3g %.3g\"", uniform(k, 0.001, 0.01), uniform(k, -1, 1), uniform(k, -1, 1),
      uniform(k, -10, -1), maybe(k, 0.5) ? uniform(k, 0, 10) : 0, uniform(k, -1, 1),
      uniform(k, -1, 1));
  if (maybe(k, 0.3)) put(k, " actuatorgroupdisable=\"%d\"", integer(k, 3));
  if (maybe(k, 0.5)) put(k, " viscosity=\"%.4g\"", uniform(k, 0, 0.1));
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
  if (k->failed) {
    free(k->text);
    return NULL;
  }
  return k->text;
}
