// Each term of the smooth derivatives (derivative/smooth_slope.h) is seen by its test: without it,
// the error is far above what the whole has. Structure, what is refused, integration of positions.

#include "common/mj_smooth.h"
#include "common/test.h"

#define ALL                                                                                        \
  "<mujoco><option timestep='.002' density='50' viscosity='.5' wind='.3 -.5 .2'/>"                 \
  "<compiler autolimits='true'/><worldbody><site name='w0' pos='-.6 .05 1.1'/>"                    \
  "<body pos='0 0 1' gravcomp='.4'><joint type='free' stiffness='3 1.5 2' damping='.3 .2 .1'/>"    \
  "<geom type='box' pos='.1 .05 0' size='.2 .15 .1' mass='2'/><site name='b0' pos='-.2 .1 .1'/>"   \
  "<body pos='.1 .2 .15'><joint name='ball' type='ball' stiffness='2 1 3' damping='.1 .2 .3'/>"    \
  "<geom name='ball' type='sphere' size='.08' mass='.7' fluidshape='ellipsoid'/>"                  \
  "<body pos='.3 0 .05'><joint name='h' axis='0 1 .2' stiffness='2 1 1' damping='.3 .1 .2'/>"      \
  "<joint name='s' type='slide' axis='1 0 .5'/><geom type='box' pos='.1 0 .1' size='.2 .05 .03' "  \
  "mass='.4'/><site name='t0' pos='.1 0 .1'/></body></body></body></worldbody>"                    \
  "<tendon><spatial name='line' stiffness='30 10 20' damping='2 1 .5' springlength='.05' "         \
  "armature='.3'><site site='w0'/><site site='b0'/><site site='t0'/></spatial></tendon>"           \
  "<actuator><general joint='h' gear='2' gaintype='affine' gainprm='3 .2 -.1' biastype='affine' "  \
  "biasprm='.1 -.2 -.5' damping='.2 .1 .3'/><general tendon='line' dyntype='filter' "              \
  "dynprm='.1'/><general joint='s' dyntype='integrator'/>"                                         \
  "<general site='t0' refsite='b0' gear='.1 .2 .3 .4 .5 .6' biastype='affine' biasprm='1 -2 -1'/>" \
  "</actuator></mujoco>"

// What is left out: arrays of the model, by name.
typedef struct Left {
  const char* name;
  size_t at;   // of the pointer in mjModel
  size_t size; // of its count, an mjtSize
  int width;
} Left;

#define LEFT(field, count, width)                                                                  \
  { #field, offsetof(mjModel, field), offsetof(mjModel, count), width }

static const Left LEFT_OUT[] = {LEFT(jnt_stiffness, njnt, 1),
                                LEFT(jnt_stiffnesspoly, njnt, mjNPOLY),
                                LEFT(dof_damping, nv, 1),
                                LEFT(dof_dampingpoly, nv, mjNPOLY),
                                LEFT(body_gravcomp, nbody, 1),
                                LEFT(body_mass, nbody, 1),
                                LEFT(geom_fluid, ngeom, mjNFLUID),
                                LEFT(tendon_stiffness, ntendon, 1),
                                LEFT(tendon_stiffnesspoly, ntendon, mjNPOLY),
                                LEFT(tendon_damping, ntendon, 1),
                                LEFT(tendon_dampingpoly, ntendon, mjNPOLY),
                                LEFT(tendon_armature, ntendon, 1),
                                LEFT(actuator_gainprm, nactuator, mjNGAIN),
                                LEFT(actuator_biasprm, nactuator, mjNBIAS),
                                LEFT(actuator_gear, nout, 6),
                                LEFT(actuator_damping, nactuator, 1),
                                LEFT(actuator_dampingpoly, nactuator, mjNPOLY)};

// Our rows with a part of the model at zero.
static void rowsWithout(double* rows, djtSmooth* s, const Left* left) {
  djError err = {""};
  mjtNum* array;
  mjtSize count;
  memcpy(&array, (const char*)s->m + left->at, sizeof(array));
  memcpy(&count, (const char*)s->m + left->size, sizeof(count));
  int n = (int)count * left->width;
  mjtNum* kept = djt_room((size_t)n);
  mju_copy(kept, array, n);
  mju_zero(array, n);
  if (djt_smoothRows(rows, s, DJT_FORCE, &err) != DJ_OK) fail_msg("%s", err.text);
  mju_copy(array, kept, n);
  free(kept);
}

static double mostOf(const double* a, const double* b, size_t n) {
  double most = 0;
  for (size_t i = 0; i < n; i++) most = fmax(most, fabs(a[i] - (b ? b[i] : 0)));
  return most;
}

static void testTerms(void) {
  djRng rng = {99};
  djError err = {""};
  djtSmooth s = djt_openSmooth(djt_compile(ALL));
  djt_shakeSmooth(&s, &rng, 0.4, 1);
  double error[4];
  djt_smoothErrors(error, &s, DJT_FORCE, 2e-4);
  for (int i = 0; i < 4; i++) assert_true(error[i] < 1e-8);
  size_t n = (size_t)s.nv * (size_t)s.nx;
  double *rows = djt_room(n), *other = djt_room(n);
  assert_int_equal(djt_smoothRows(rows, &s, DJT_FORCE, &err), DJ_OK);
  double size = mostOf(rows, NULL, n);
  for (size_t i = 0; i < sizeof(LEFT_OUT) / sizeof(LEFT_OUT[0]); i++) {
    rowsWithout(other, &s, LEFT_OUT + i);
    double e = mostOf(rows, other, n) / size;
    if (!(e > 1e-6)) fail_msg("%s: %.1e", LEFT_OUT[i].name, e);
  }
  struct {
    const char* name;
    mjtNum* value;
    int n;
  } inputs[] = {{"gravity", s.m->opt.gravity, 3},
                {"wind", s.m->opt.wind, 3},
                {"density", &s.m->opt.density, 1},
                {"viscosity", &s.m->opt.viscosity, 1},
                {"velocity", s.d->qvel, s.nv},
                {"acceleration", s.a, s.nv},
                {"wrenches", s.d->xfrc_applied, 6 * (int)s.m->nbody},
                {"controls", s.d->ctrl, s.nu},
                {"body velocities", s.d->cvel, 6 * (int)s.m->nbody},
                {"rates of axes", s.d->cdof_dot, 6 * s.nv},
                {"tendon velocity", s.d->ten_velocity, 1}};
  for (size_t i = 0; i < sizeof(inputs) / sizeof(inputs[0]); i++) {
    mjtNum* kept = djt_room((size_t)inputs[i].n);
    mju_copy(kept, inputs[i].value, inputs[i].n);
    mju_zero(inputs[i].value, inputs[i].n);
    assert_int_equal(djt_smoothRows(other, &s, DJT_FORCE, &err), DJ_OK);
    mju_copy(inputs[i].value, kept, inputs[i].n);
    double e = mostOf(rows, other, n) / size;
    if (!(e > 1e-6)) fail_msg("%s: %.1e", inputs[i].name, e);
    free(kept);
  }
  free(rows);
  free(other);
  djt_closeSmooth(&s);
}

// Under every flag that leaves something out.
static void testFlags(void) {
  static const int flags[] = {mjDSBL_SPRING,  mjDSBL_DAMPER,    mjDSBL_SPRING | mjDSBL_DAMPER,
                              mjDSBL_GRAVITY, mjDSBL_CLAMPCTRL, mjDSBL_ACTUATION};
  djRng rng = {95};
  djtSmooth s = djt_openSmooth(djt_compile(ALL));
  int plain = s.m->opt.disableflags;
  for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
    s.m->opt.disableflags = plain | flags[i];
    djt_shakeSmooth(&s, &rng, 0.4, 1);
    for (int thing = 0; thing < DJT_NTHING; thing++) {
      double error[4];
      if (thing == DJT_RATE && flags[i] == mjDSBL_ACTUATION) continue;
      djt_smoothErrors(error, &s, thing, 2e-4);
      for (int k = 0; k < 4; k++) {
        if (!(error[k] < 1e-8)) fail_msg("flags %x, %d by %d: %.1e", flags[i], thing, k, error[k]);
      }
    }
  }
  djt_closeSmooth(&s);
}

// Matrices one by one are those of all together.
static void testParts(void) {
  djRng rng = {98};
  djError err = {""};
  djtSmooth s = djt_openSmooth(djt_compile(ALL));
  djt_shakeSmooth(&s, &rng, 0.4, 1);
  int width[4] = {s.nv, s.nv, s.na, s.nu};
  for (int kind = 0; kind < 2; kind++) {
    size_t rows = (size_t)(kind ? s.na : s.nv);
    double* all[4];
    for (int i = 0; i < 4; i++) all[i] = djt_room(rows * (size_t)width[i]);
    for (int part = -1; part < 4; part++) {
      double* one = djt_room(rows * (size_t)(part < 0 ? 1 : width[part]));
      double* by[4];
      for (int i = 0; i < 4; i++) by[i] = part < 0 ? all[i] : i == part ? one : NULL;
      djStatus status =
          kind ? djm_activationSlope(by[0], by[1], by[2], by[3], s.m, s.d, true, s.w, &err)
               : djm_smoothSlope(by[0], by[1], by[2], by[3], s.m, s.d, s.a, s.w, &err);
      assert_int_equal(status, DJ_OK);
      if (part >= 0) assert_true(mostOf(one, all[part], rows * (size_t)width[part]) == 0);
      free(one);
    }
    for (int i = 0; i < 4; i++) free(all[i]);
  }
  djt_closeSmooth(&s);
}

// Dofs of other branches have exact zeros.
static void testZeros(void) {
  djRng rng = {97};
  djError err = {""};
  djtSmooth s = djt_openSmooth(djt_robot("humanoid"));
  djt_shakeSmooth(&s, &rng, 0.3, 1);
  size_t n = (size_t)s.nv * (size_t)s.nv;
  double *by_q = djt_room(n), *by_v = djt_room(n);
  mju_zero(s.m->tendon_stiffness, (int)s.m->ntendon);
  mju_zero(s.m->tendon_damping, (int)s.m->ntendon);
  assert_int_equal(djm_smoothSlope(by_q, by_v, NULL, NULL, s.m, s.d, s.a, s.w, &err), DJ_OK);
  int apart = 0;
  for (int i = 0; i < s.nv; i++) {
    for (int j = 0; j < i; j++) {
      int k = i;
      while (k > j) k = s.m->dof_parentid[k];
      if (k == j) continue;
      apart++;
      assert_true(by_q[i * s.nv + j] == 0 && by_q[j * s.nv + i] == 0);
      assert_true(by_v[i * s.nv + j] == 0 && by_v[j * s.nv + i] == 0);
    }
  }
  assert_true(apart > 50);
  free(by_q);
  free(by_v);
  djt_closeSmooth(&s);
}

// ---- positions --------------------------------------------------------------------------------

// Column k of d(q (+) h v), by q or by v, into dy (nv).
static void integrateColumn(double* dy, const djtSmooth* s, int k, bool by_v, double h) {
  static const double weight[3] = {45, -9, 1};
  const mjModel* m = s->m;
  double *end = djt_room((size_t)m->nq), *q = djt_room((size_t)m->nq), *v = djt_room((size_t)s->nv);
  mju_zero(dy, s->nv);
  mju_copy(end, s->d->qpos, (int)m->nq);
  mj_integratePos(m, end, s->d->qvel, h);
  for (int i = 0; i < 6; i++) {
    double step = (i % 2 ? -1 : 1) * (i / 2 + 1) * 1e-3, *off = djt_room((size_t)s->nv);
    mju_copy(q, s->d->qpos, (int)m->nq);
    mju_copy(v, s->d->qvel, s->nv);
    if (by_v) {
      v[k] += step;
    } else {
      off[k] = step;
      mj_integratePos(m, q, off, 1);
    }
    mj_integratePos(m, q, v, h);
    mj_differentiatePos(m, off, 1, end, q);
    mju_addToScl(dy, off, (i % 2 ? -1 : 1) * weight[i / 2] / 0.06, s->nv);
    free(off);
  }
  free(end);
  free(q);
  free(v);
}

static void testPositions(void) {
  djRng rng = {96};
  djtSmooth s = djt_openSmooth(djt_compile(ALL));
  djt_shakeSmooth(&s, &rng, 0.4, 3);
  double *by_q = djt_room(3 * (size_t)s.nv), *by_v = djt_room(3 * (size_t)s.nv), h = 0.3;
  djm_integrateSlope(by_q, by_v, s.m, s.d->qvel, h);
  double* dy = djt_room((size_t)s.nv);
  for (int kind = 0; kind < 2; kind++) {
    const double* by = kind ? by_v : by_q;
    for (int k = 0; k < s.nv; k++) {
      integrateColumn(dy, &s, k, kind, h);
      for (int i = 0; i < s.nv; i++) {
        bool turns = (i >= 3 && i < 9);
        int first = turns ? i / 3 * 3 : i;
        double ours = k >= first && k < first + (turns ? 3 : 1) ? by[3 * i + k - first] : 0;
        djt_near(ours, dy[i], 1e-9);
      }
    }
  }
  free(dy);
  free(by_q);
  free(by_v);
  djt_closeSmooth(&s);
}

// ---- what is refused --------------------------------------------------------------------------

#define ONE(body, rest)                                                                            \
  "<mujoco><worldbody><body name='b'><joint name='j'/><geom name='g' size='.1' pos='.2 0 0' "      \
  "mass='1'/>" body "</body><body pos='.3 0 0'><freejoint/><geom name='o' size='.15' "             \
  "mass='1'/></body></worldbody>" rest "</mujoco>"

static void checkRefused(const char* text, const char* what, bool at_once) {
  mjModel* m = djt_compile(text);
  mjData* d = mj_makeData(m);
  djmSmoothWork* w = djm_makeSmoothWork(m);
  djError err = {""};
  mj_forward(m, d);
  djStatus status = djm_checkSmooth(m, &err);
  assert_int_equal(status, at_once ? DJ_UNSUPPORTED : DJ_OK);
  if (!at_once) {
    double *by_q = djt_room((size_t)(m->nv * m->nv)), *by_v = djt_room((size_t)(m->nv * m->nv));
    status = djm_smoothSlope(by_q, by_v, NULL, NULL, m, d, d->qacc, w, &err);
    assert_int_equal(status, DJ_UNSUPPORTED);
    free(by_q);
    free(by_v);
  }
  if (!strstr(err.text, what)) fail_msg("\"%s\" does not name %s", err.text, what);
  djm_deleteSmoothWork(w);
  djt_deleteEngine(m, d);
}

static void noForce(const mjModel* m, mjData* d) {
  (void)m;
  (void)d;
}

static void testRefused(void) {
  mjcb_passive = noForce;
  checkRefused(ONE("", ""), "mjcb_passive", true);
  mjcb_passive = NULL;
  checkRefused(ONE("", "<actuator><general name='act' joint='j' dyntype='user'/></actuator>"),
               "act", true);
  checkRefused(ONE("", "<actuator><general name='act' joint='j' gaintype='user'/></actuator>"),
               "act", true);
  checkRefused(
      ONE("", "<actuator><motor name='act' joint='j' delay='.01' nsample='5'/></actuator>"), "act",
      true);
  checkRefused("<mujoco><worldbody><body><joint/><geom size='.1' pos='.2 0 0'/></body><body "
               "pos='.3 0 0'><freejoint/><geom size='.15'/></body><body pos='0 0 3'><freejoint/>"
               "<geom name='sticky' size='.1' adhesion='3' gap='.1'/></body><body pos='0 0 3.15'>"
               "<freejoint/><geom size='.1'/></body></worldbody></mujoco>",
               "sticky", false);
  checkRefused(ONE("", "<actuator><adhesion name='glue' body='b' ctrlrange='0 1'/></actuator>"),
               "glue", false);
}

DJT_MAIN(testTerms, testFlags, testParts, testZeros, testPositions, testRefused)
