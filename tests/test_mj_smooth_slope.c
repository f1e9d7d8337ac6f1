// Derivatives of smooth forces (derivative/smooth_slope.h) against differences of MuJoCo's
// functions, on small models of every feature and on robots.

#include "common/mj_smooth.h"
#include "common/test.h"

#include <time.h>

#define TREE_BODIES                                                                                \
  "<body name='base' pos='0 0 1' euler='10 20 30' gravcomp='.3'><freejoint name='root'/>"          \
  "<geom type='box' size='.2 .15 .1' pos='.05 .02 .01' euler='0 0 20' mass='2'/>"                  \
  "<body name='link' pos='.1 .2 .15' euler='5 40 10'><joint name='ball' type='ball' pos='.05 .1 "  \
  "0' "                                                                                            \
  "armature='.02'/><joint name='side' type='slide' axis='1 2 3'/>"                                 \
  "<geom type='capsule' fromto='0 0 0 .3 .1 .05' size='.04' mass='.7'/>"                           \
  "<body name='tip' pos='.3 0 .05' gravcomp='1.2'><joint name='hinge' axis='0 1 .2' pos='0 .1 "    \
  ".2'/>"                                                                                          \
  "<joint name='slide' type='slide' axis='1 0 .5'/><joint name='other' axis='1 .2 0'/>"            \
  "<geom type='capsule' fromto='0 0 0 .2 .05 0' size='.03' mass='.4'/>"                            \
  "<body pos='.1 0 0' gravcomp='1'><geom type='box' size='.1 .05 .02' "                            \
  "mass='.3'/></body></body></body>"                                                               \
  "<body name='arm' pos='-.2 0 0'><joint name='elbow' axis='0 1 0' pos='.02 0 .1'/>"               \
  "<geom type='box' size='.05 .1 .2' mass='.5' pos='.1 0 .1'/><body name='wrist' pos='0 .1 .2' "   \
  "gravcomp='.5'><joint name='turn' type='ball'/><geom type='box' size='.1 .04 .06' mass='.2'/>"   \
  "</body></body></body>"                                                                          \
  "<body name='pole' pos='-1 0 .8'><joint name='swing' axis='1 1 0' armature='.01' "               \
  "actuatorgravcomp='true'/><geom type='box' size='.03 .1 .2' pos='.1 .1 .2' mass='.5'/>"          \
  "<body pos='0 0 .3'><joint name='last' axis='0 1 1' type='ball' pos='0 .1 .1'/><geom "           \
  "type='box' size='.03 .1 .2' pos='.1 .1 .2' mass='.5'/></body></body>"

#define TREE(options, rest)                                                                        \
  "<mujoco><option timestep='.002' gravity='.3 -.4 -9.8' " options                                 \
  "/><compiler autolimits='true'/>"                                                                \
  "<worldbody>" TREE_BODIES "</worldbody>" rest "</mujoco>"

static double worstOf(const double* x, int n) {
  double worst = 0;
  for (int i = 0; i < n; i++) {
    if (!(x[i] <= worst)) worst = x[i];
  }
  return worst;
}

// Worst errors over random states; n: how many.
static double worstError(mjModel* m, int n, double angle, double h, const char* name) {
  djRng rng = {12345};
  djtSmooth s = djt_openSmooth(m);
  double worst = 0;
  djError err = {""};
  if (djm_checkSmooth(m, &err) != DJ_OK) fail_msg("%s: %s", name, err.text);
  for (int i = 0; i < n; i++) {
    djt_shakeSmooth(&s, &rng, angle, 1);
    for (int thing = 0; thing < DJT_NTHING; thing++) {
      if (thing != DJT_FORCE && !m->na) continue;
      double error[4];
      djt_smoothErrors(error, &s, thing, h);
      if (getenv("DJT_SHOW")) {
        printf("%s %d %d: %.1e %.1e %.1e %.1e\n", name, i, thing, error[0], error[1], error[2],
               error[3]);
      }
      worst = fmax(worst, worstOf(error, 4));
    }
  }
  djt_closeSmooth(&s);
  return worst;
}

static void testTree(void) {
  double e = worstError(djt_compile(TREE("", "")), 4, 0.7, 1e-3, "tree");
  djt_below("rigid bodies", e, 1e-8);
}

// ---- passive ----------------------------------------------------------------------------------

// Joints' springs and dampers with all powers; plastic rests.
static void testSprings(void) {
  static const char text[] =
      "<mujoco><option timestep='.002'/><compiler autolimits='true'/><worldbody><body><joint "
      "axis='1 0 0' stiffness='1'/><geom size='.1' pos='0 .1 0' mass='.2'/></body>"
      "<body pos='0 0 1'><joint type='free' stiffness='3 1.5 2' damping='.3 .2 .1'/>"
      "<geom type='box' size='.2 .15 .1' mass='2'/>"
      "<body pos='.1 .2 .15'><joint type='ball' stiffness='4 1 .5' damping='.1 .3 .4'/>"
      "<geom type='capsule' fromto='0 0 0 .3 .1 .05' size='.04' mass='.7'/>"
      "<body pos='.3 0 .05'><joint name='h' axis='0 1 .2' stiffness='2 -1 3' damping='.2 .1 .5' "
      "springref='20'/><joint name='s' type='slide' axis='1 0 .5' stiffness='5 2 1' "
      "damping='1 .2 .3' springref='.1'/>"
      "<geom type='capsule' fromto='0 0 0 .2 .05 0' size='.03' mass='.4'/></body></body></body>"
      "</worldbody><actuator><general joint='h' gear='2' damping='.2 .1 .3' armature='.1'/>"
      "<general joint='h' gear='.5' damping='.3 .2 .1'/></actuator></mujoco>";
  double e = worstError(djt_compile(text), 4, 0.5, 1e-3, "springs");
  djt_below("springs", e, 1e-8);
}

// Springs that yield: rests that moved.
static void testPlastic(void) {
  static const char text[] =
      "<mujoco><option timestep='.002'/><compiler autolimits='true'/><worldbody>"
      "<body pos='0 0 1'><joint name='a' type='slide' axis='1 2 0' stiffness='3 1.5 2' "
      "springyield='.2'/>"
      "<geom type='box' size='.2 .15 .1' mass='2'/><site name='s' pos='.1 0 .2'/>"
      "<body pos='.1 .2 .15'><joint name='b' type='ball' stiffness='4 1 .5' springyield='.3'/>"
      "<geom type='capsule' fromto='0 0 0 .3 .1 .05' size='.04' mass='.7'/><site name='t' "
      "pos='.2 .1 0'/></body></body></worldbody><tendon><spatial stiffness='20 5 3' "
      "springyield='.02' "
      "springlength='.1 .12'><site site='s'/><site site='t'/></spatial></tendon></mujoco>";
  djRng rng = {11};
  djtSmooth s = djt_openSmooth(djt_compile(text));
  double error[4], axis[3] = {.3, -.2, .4};
  assert_int_equal(s.m->nplastic, 7);
  djt_shakeSmooth(&s, &rng, 0.5, 1);
  double before[49];
  djError err = {""};
  assert_int_equal(djm_smoothSlope(before, NULL, NULL, NULL, s.m, s.d, s.a, s.w, &err), DJ_OK);
  s.d->plastic[s.m->jnt_plasticadr[0]] += .3;
  mju_quatIntegrate(s.d->plastic + s.m->jnt_plasticadr[1], axis, 1);
  s.d->plastic[s.m->tendon_plasticadr[0]] += .01;
  s.d->plastic[s.m->tendon_plasticadr[0] + 1] += .02;
  mj_forward(s.m, s.d);
  djt_smoothErrors(error, &s, DJT_FORCE, 2e-4);
  print_message("plastic: %.1e\n", error[0]);
  assert_true(error[0] < 1e-8 && error[1] < 1e-8);
  double after[49], most = 0;
  assert_int_equal(djm_smoothSlope(after, NULL, NULL, NULL, s.m, s.d, s.a, s.w, &err), DJ_OK);
  for (int i = 0; i < s.nv * s.nv; i++) most = fmax(most, fabs(after[i] - before[i]));
  assert_true(most > 1e-2);
  djt_closeSmooth(&s);
}

#define FLUID(shape)                                                                               \
  "<mujoco><option timestep='.002' density='200' viscosity='.8' wind='.3 -.5 .2'/><worldbody>"     \
  "<body pos='0 0 1'><freejoint/><geom type='ellipsoid' " shape " size='.2 .15 .1' mass='2'/>"     \
  "<body pos='.1 .2 .15'><joint type='ball'/>"                                                     \
  "<geom type='capsule' " shape " fromto='0 0 0 .3 .1 .05' size='.04' mass='.7'/>"                 \
  "<body pos='.3 0 .05'><joint axis='0 1 .2'/><joint type='slide' axis='1 0 .5'/>"                 \
  "<geom type='box' " shape " pos='.1 0 .1' euler='10 20 30' size='.2 .05 .03' mass='.4'/>"        \
  "<geom type='cylinder' pos='0 .1 0' size='.03 .06' mass='.4'/></body></body></body></worldbody>" \
  "</mujoco>"

static void testFluid(void) {
  double box = worstError(djt_compile(FLUID("")), 4, 0.5, 1e-3, "box");
  double shape =
      worstError(djt_compile(FLUID("fluidshape='ellipsoid' fluidcoef='.6 .3 1.2 .8 .9'")), 4, 0.5,
                 1e-3, "shape");
  print_message("fluid: box %.1e, ellipsoid %.1e\n", box, shape);
  assert_true(box < 1e-8 && shape < 1e-8);
}

// ---- tendons ----------------------------------------------------------------------------------

#define TENDONS(rest)                                                                              \
  "<mujoco><option timestep='.002'/><compiler autolimits='true'/><worldbody>"                      \
  "<site name='w0' pos='-.6 .05 1.1'/><site name='w1' pos='.5 -.2 1.4'/>"                          \
  "<body pos='0 0 1'><freejoint/><geom type='box' size='.2 .15 .1' mass='2'/>"                     \
  "<site name='b0' pos='-.2 .1 .1'/><site name='b1' pos='.1 -.1 .1'/>"                             \
  "<body pos='.1 .2 .15'><joint type='ball'/><geom name='ball' type='sphere' size='.08' "          \
  "mass='.7'/>"                                                                                    \
  "<geom name='rod' type='cylinder' pos='0 .3 .1' euler='80 10 0' size='.05 .1' mass='.3'/>"       \
  "<site name='l0' pos='.2 .1 .1'/><site name='side' pos='0 .1 -.05'/><site name='in' "            \
  "pos='0 .3 .11'/><site name='core' pos='.01 0 .01'/>"                                            \
  "<body pos='.3 0 .05'><joint name='h' axis='0 1 .2'/><joint name='s' type='slide' axis='1 0 "    \
  ".5'/>"                                                                                          \
  "<geom type='box' pos='.1 0 .1' size='.2 .05 .03' mass='.4'/><site name='t0' pos='.1 0 .1'/>"    \
  "<site name='t1' pos='-.1 .2 .1'/></body></body></body>"                                         \
  "<body pos='0 .4 1'><joint name='p' axis='0 0 1'/><geom type='box' size='.1 .05 .03' "           \
  "mass='.4'/>"                                                                                    \
  "<site name='p0' pos='.1 .1 0'/></body></worldbody>" rest "</mujoco>"

#define FORCES "stiffness='30 10 20' damping='2 1 .5' springlength='.05'"

#define PATHS(forces)                                                                              \
  "<fixed name='fixed' " forces "><joint joint='h' coef='.5'/><joint joint='p' "                   \
  "coef='-1.5'/></fixed><spatial name='line' " forces "><site site='w0'/><site site='b0'/>"        \
  "<site site='b1'/><site site='t0'/><pulley divisor='3'/><site site='l0'/><site site='p0'/>"      \
  "<site site='w1'/><pulley divisor='2'/><site site='t1'/><site site='b1'/></spatial>"             \
  "<spatial name='sphere' " forces                                                                 \
  "><site site='w0'/><geom geom='ball'/><site site='t0'/></spatial>"                               \
  "<spatial name='sided' " forces "><site site='w1'/><geom geom='ball' sidesite='side'/>"          \
  "<site site='p0'/><site site='t1'/></spatial>"                                                   \
  "<spatial name='cylinder' " forces "><site site='b0'/><geom geom='rod' sidesite='side'/>"        \
  "<site site='t1'/></spatial>"                                                                    \
  "<spatial name='long' " forces "><site site='w0'/><site site='b0'/><geom geom='ball'/>"          \
  "<site site='t0'/><pulley divisor='2'/><site site='w1'/><geom geom='ball'/><site site='t0'/>"    \
  "<site site='p0'/><geom geom='rod'/><site site='t1'/></spatial>"

// MuJoCo solves for the point where these touch to 1e-6 only.
#define INNER(forces)                                                                              \
  "<spatial name='inner' " forces "><site site='w1'/><geom "                                       \
  "geom='ball' sidesite='core'/><site site='t0'/></spatial>"                                       \
  "<spatial name='hole' " forces "><site site='t1'/><geom geom='rod' sidesite='in'/>"              \
  "<site site='b0'/></spatial>"

// dJ/dq against differences of ten_J; -1: the path differs within them.
static double hessianError(djtSmooth* s, int tendon) {
  int nv = s->nv, adr = s->m->ten_J_rowadr[tendon];
  size_t size = (size_t)nv * (size_t)nv;
  double *H = djt_room(size), worst = 0, h = 1e-4;
  djError err = {""};
  if (djm_tendonHessian(H, s->m, s->d, tendon, s->w, &err) != DJ_OK) fail_msg("%s", err.text);
  for (int k = 0; k < nv; k++) {
    static const double weight[3] = {45, -9, 1};
    for (int i = 0; i < 6; i++) {
      double at = (i % 2 ? -1 : 1) * (i / 2 + 1);
      djt_moveSmooth(s, k, at * h);
      mj_fwdPosition(s->m, s->e);
      if (djt_pathDiffers(s)) worst = INFINITY;
      for (int c = 0; c < s->m->ten_J_rownnz[tendon]; c++) {
        int j = s->m->ten_J_colind[adr + c];
        H[(size_t)j * nv + k] -= (i % 2 ? -1 : 1) * weight[i / 2] / (60 * h) * s->e->ten_J[adr + c];
      }
    }
  }
  for (size_t i = 0; i < size; i++) worst = fmax(worst, fabs(H[i]));
  free(H);
  return isinf(worst) ? -1 : worst;
}

// How often a tendon goes around its geom.
static int countWraps(const djtSmooth* s, int tendon) {
  int n = 0;
  for (int k = 0; k < s->d->ten_wrapnum[tendon]; k++) {
    if (s->d->wrap_obj[s->d->ten_wrapadr[tendon] + k] >= 0) n++;
  }
  return n / 2;
}

static void testHessians(void) {
  djRng rng = {7};
  djtSmooth s = djt_openSmooth(djt_compile(TENDONS("<tendon>" PATHS("") INNER("") "</tendon>")));
  int wraps[8] = {0}, left = 0;
  double worst[8] = {0};
  assert_int_equal(s.m->ntendon, 8);
  for (int n = 0; n < 40; n++) {
    djt_shakeSmooth(&s, &rng, 0.4, 1);
    for (int i = 0; i < 8; i++) {
      double e = hessianError(&s, i);
      worst[i] = fmax(worst[i], e);
      if (e < 0)
        left++;
      else
        wraps[i] += countWraps(&s, i);
    }
  }
  for (int i = 0; i < 8; i++) {
    print_message("tendon %s: wraps %d, dJ/dq %.1e\n", mj_id2name(s.m, mjOBJ_TENDON, i), wraps[i],
                  worst[i]);
    assert_true(worst[i] < (i < 6 ? 1e-9 : 1e-4));
    if (i >= 2) assert_true(wraps[i] > 5);
  }
  assert_true(left < 40);
  djt_closeSmooth(&s);
}

static void testTendons(void) {
  double e = worstError(djt_compile(TENDONS("<tendon>" PATHS(FORCES) "</tendon>")), 8, 0.4, 2e-4,
                        "tendons");
  djt_below("tendons", e, 1e-8);
}

#define INERTIAS                                                                                   \
  "<tendon><spatial name='line' armature='2'><site site='w0'/><site site='b0'/><site site='b1'/>"  \
  "<site site='t0'/><pulley divisor='3'/><site site='l0'/><site site='p0'/></spatial>"             \
  "<fixed name='fixed' armature='.7'><joint joint='h' coef='.5'/><joint joint='p' coef='-1.5'/>"   \
  "</fixed><spatial name='driven'><site site='w1'/><site site='t1'/></spatial></tendon>"           \
  "<actuator><general tendon='driven' gear='3' armature='.2' damping='.3 .2 .1'/></actuator>"

// Inertia of tendons, their own and actuators'.
static void testArmature(void) {
  double e = worstError(djt_compile(TENDONS(INERTIAS)), 4, 0.4, 2e-4, "armature");
  djt_below("armature", e, 1e-8);
}

// ---- robots -----------------------------------------------------------------------------------

static void testRobots(void) {
  static const char* const names[] = {"humanoid",     "ant",         "hopper",
                                      "half_cheetah", "walker2d_v5", "swimmer",
                                      "pusher_v5",    "reacher",     "inverted_double_pendulum"};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
    double e = worstError(djt_robot(names[i]), 3, 0.3, 1e-3, names[i]);
    print_message("%s: %.1e\n", names[i], e);
    assert_true(e < 1e-7);
  }
}

DJT_MAIN(testTree, testSprings, testFluid, testPlastic, testHessians, testTendons, testArmature,
         testRobots)
