// djm_backwardMuJoCo against matrices of the transition, and against differences of mj_step by
// every number of a design, set in the model with mj_setConst.

#include "derivative/design_work.h"
#include "derivative/sweep.h"

#include "common/mj_rows.h"
#include "common/mj_step_slope.h"
#include "common/random.h"
#include "common/test.h"

// ---- state and controls -------------------------------------------------------------------------

static double compareState(djtStep* s, djRng* rng, djmDesignGradient* g) {
  djError err;
  double *end = djt_room((size_t)s->nx), *start = djt_room((size_t)(s->nx + s->nu)), worst = 0;
  for (int i = 0; i < s->nx; i++) end[i] = djt_uniform(rng, -1, 1);
  djt_failIf(djm_transitionMuJoCoWith(s->m, s->d, s->w, s->A, s->B, NULL, NULL, &err) < 0 ||
                 djm_backwardMuJoCo(start, start + s->nx, g, s->m, s->d, s->w, end, &err) < 0,
             "%s", err.text);
  double size = 1;
  for (int k = 0; k < s->nx + s->nu; k++) {
    double sum = 0;
    for (int i = 0; i < s->nx; i++) {
      sum += end[i] * (k < s->nx ? s->A[i * s->nx + k] : s->B[i * s->nu + k - s->nx]);
    }
    size = fmax(size, fabs(sum));
    worst = djt_worst(worst, fabs(sum - start[k]));
  }
  free(end);
  free(start);
  return worst / size;
}

static void runState(mjModel* m, int integrator, bool design, const char* name) {
  djtStep s = djt_openStep(m);
  djRng rng = {77};
  djError err;
  djmDesignGradient* g = NULL;
  s.m->opt.integrator = integrator;
  if (design) assert_int_equal(djm_makeDesignGradient(&g, s.m, &err), DJ_OK);
  double worst = 0;
  for (int i = 0; i < 60; i++) {
    for (int k = 0; k < s.nu; k++) s.d->ctrl[k] = djt_uniform(&rng, -1, 1);
    mj_step(s.m, s.d);
    if (i % 6 == 5) worst = djt_worst(worst, compareState(&s, &rng, g));
  }
  print_message("%s: %.1e\n", name, worst);
  assert_true(worst < 1e-9);
  djm_deleteDesignGradient(g);
  djt_closeStep(&s);
}

// ---- design -------------------------------------------------------------------------------------

enum { PLAIN, QUAT, AXIS };
enum { BODY, JOINT, DOF, COORDINATE, GEOM, PAIR, EQUALITY, TENDON, ACTUATOR, OUTPUT };

// A field: how an entry is changed. absolute: by lengths and angles, else by parts of itself.
typedef struct Field {
  const char* name;
  size_t model, gradient;
  int of, width, kind;
  bool absolute, frames;   // frames: bodies that are `simple` keep theirs
} Field;

#define ROW(name, of, width, kind, absolute, frames)                                              \
  {#name,  offsetof(mjModel, name), offsetof(djmDesignGradient, name), of, width, kind, absolute, \
   frames}
static const Field kField[] = {
  ROW(body_mass, BODY, 1, PLAIN, false, false),
  ROW(body_inertia, BODY, 3, PLAIN, false, false),
  ROW(body_ipos, BODY, 3, PLAIN, true, true),
  ROW(body_iquat, BODY, 3, QUAT, true, true),
  ROW(body_pos, BODY, 3, PLAIN, true, false),
  ROW(body_quat, BODY, 3, QUAT, true, false),
  ROW(body_gravcomp, BODY, 1, PLAIN, false, false),
  ROW(jnt_pos, JOINT, 3, PLAIN, true, true),
  ROW(jnt_axis, JOINT, 3, AXIS, true, true),
  ROW(jnt_stiffness, JOINT, 1, PLAIN, false, false),
  ROW(jnt_range, JOINT, 2, PLAIN, false, false),
  ROW(jnt_margin, JOINT, 1, PLAIN, false, false),
  ROW(jnt_solref, JOINT, 2, PLAIN, false, false),
  ROW(jnt_solimp, JOINT, 5, PLAIN, false, false),
  ROW(dof_armature, DOF, 1, PLAIN, true, false),
  ROW(dof_damping, DOF, 1, PLAIN, true, false),
  ROW(dof_frictionloss, DOF, 1, PLAIN, false, false),
  ROW(dof_solref, DOF, 2, PLAIN, false, false),
  ROW(dof_solimp, DOF, 5, PLAIN, false, false),
  ROW(geom_pos, GEOM, 3, PLAIN, true, false),
  ROW(geom_quat, GEOM, 3, QUAT, true, false),
  ROW(geom_size, GEOM, 3, PLAIN, true, false),
  ROW(geom_friction, GEOM, 3, PLAIN, false, false),
  ROW(geom_margin, GEOM, 1, PLAIN, false, false),
  ROW(geom_solref, GEOM, 2, PLAIN, false, false),
  ROW(geom_solimp, GEOM, 5, PLAIN, false, false),
  ROW(pair_friction, PAIR, 5, PLAIN, false, false),
  ROW(pair_margin, PAIR, 1, PLAIN, false, false),
  ROW(pair_solref, PAIR, 2, PLAIN, false, false),
  ROW(pair_solreffriction, PAIR, 2, PLAIN, false, false),
  ROW(pair_solimp, PAIR, 5, PLAIN, false, false),
  ROW(eq_data, EQUALITY, mjNEQDATA, PLAIN, false, false),
  ROW(eq_solref, EQUALITY, 2, PLAIN, false, false),
  ROW(eq_solimp, EQUALITY, 5, PLAIN, false, false),
  ROW(tendon_stiffness, TENDON, 1, PLAIN, true, false),
  ROW(tendon_damping, TENDON, 1, PLAIN, true, false),
  ROW(tendon_frictionloss, TENDON, 1, PLAIN, false, false),
  ROW(tendon_armature, TENDON, 1, PLAIN, false, false),
  ROW(tendon_range, TENDON, 2, PLAIN, false, false),
  ROW(tendon_lengthspring, TENDON, 2, PLAIN, false, false),
  ROW(tendon_solref_lim, TENDON, 2, PLAIN, false, false),
  ROW(tendon_solimp_lim, TENDON, 5, PLAIN, false, false),
  ROW(tendon_solref_fri, TENDON, 2, PLAIN, false, false),
  ROW(tendon_solimp_fri, TENDON, 5, PLAIN, false, false),
  ROW(actuator_gainprm, ACTUATOR, mjNGAIN, PLAIN, false, false),
  ROW(actuator_biasprm, ACTUATOR, mjNBIAS, PLAIN, false, false),
  ROW(actuator_dynprm, ACTUATOR, mjNDYN, PLAIN, false, false),
  ROW(actuator_gear, OUTPUT, 6, PLAIN, false, false),
};
enum { NFIELD = sizeof(kField) / sizeof(*kField) };

typedef struct Design {
  djtStep s;
  mjModel* changed;
  mjData *probe, *e;
  djmDesignGradient* g;
  bool unfinished;         // for tests: mj_setConst's part is left out
  double *end, *along;     // (nx); direction of a field
  double worst[NFIELD];    // relative
  int taken[NFIELD];       // differences that are not zero
  int left;
} Design;

static int countOf(const mjModel* m, int of) {
  const mjtSize n[] = {m->nbody, m->njnt, m->nv, m->nq, m->ngeom, m->npair, m->neq, m->ntendon,
                       m->nactuator, m->nout};
  return (int)n[of];
}

static double* arrayOf(const void* base, size_t place) {
  double* array;
  memcpy(&array, (const char*)base + place, sizeof(array));
  return array;
}

static void change(Design* x, const Field* f, double h) {
  const double* from = arrayOf(x->s.m, f->model);
  double* to = arrayOf(x->changed, f->model);
  // mj_setConst makes anchors from others
  mju_copy(x->changed->eq_data, x->s.m->eq_data, mjNEQDATA * (int)x->s.m->neq);
  int n = countOf(x->s.m, f->of), width = f->kind == QUAT ? 4 : f->width;
  for (int i = 0; i < n; i++) {
    const double* along = x->along + f->width * i;
    if (f->kind == QUAT) {
      mju_copy4(to + 4 * i, from + 4 * i);
      mju_quatIntegrate(to + 4 * i, along, h);
      continue;
    }
    for (int k = 0; k < width; k++) to[width * i + k] = from[width * i + k] + h * along[k];
    if (f->kind == AXIS) mju_normalize3(to + 3 * i);
  }
}

// The gradient's scalar after the change; false: rows switch.
static bool value(double* out, Design* x, const Field* f, double h) {
  djtStep* s = &x->s;
  bool finds = true;
  change(x, f, h);
  mj_setConst(x->changed, x->probe);
  mj_copyState(s->m, s->d, x->e, mjSTATE_INTEGRATION);
  mj_step(x->changed, x->e);
  double* diff = djt_room((size_t)s->nx);
  mj_differentiatePos(s->m, diff, 1, s->next->qpos, x->e->qpos);
  mju_sub(diff + s->nv, x->e->qvel, s->next->qvel, s->nv);
  mju_sub(diff + 2 * s->nv, x->e->act, s->next->act, s->na);
  *out = mju_dot(diff, x->end, s->nx);
  free(diff);
  finds = djt_sameRows(x->e, s->next);
  return finds;
}

static bool difference(double* out, Design* x, const Field* f, double h) {
  static const double kPoint[4] = {1, -1, 2, -2}, kWeight[4] = {8, -8, -1, 1};
  bool same = true;
  *out = 0;
  for (int p = 0; p < 4; p++) {
    double y;
    same = value(&y, x, f, kPoint[p] * h) && same;
    *out += kWeight[p] / (12 * h) * y;
  }
  change(x, f, 0);
  return same;
}

static void chooseDirection(Design* x, const Field* f, djRng* rng) {
  const mjModel* m = x->s.m;
  int n = countOf(m, f->of);
  const double* from = arrayOf(m, f->model);
  for (int i = 0; i < n; i++) {
    double* along = x->along + f->width * i;
    int body = f->of == BODY ? i : f->of == JOINT ? m->jnt_bodyid[i] : 0;
    for (int k = 0; k < f->width; k++) {
      double r = djt_uniform(rng, 0.3, 1) * (djt_uniform(rng, -1, 1) < 0 ? -1 : 1);
      along[k] = f->absolute ? 0.1 * r : r * fabs(from[f->width * i + k]);
      if ((f->of == BODY && i == 0) || (f->frames && m->body_simple[body])) along[k] = 0;
    }
    if (f->model == offsetof(mjModel, eq_data) && m->eq_type[i] == mjEQ_WELD) {
      mju_zero(along + 6, f->width - 6);   // rotations and scales of welds are not known
    }
    if (f->model == offsetof(mjModel, geom_size) && m->geom_type[i] >= mjGEOM_MESH) {
      mju_zero(along, 3);
    }
    if (f->kind == AXIS) mju_addToScl3(along, from + 3 * i, -mju_dot3(along, from + 3 * i));
  }
}

static void compareDesign(Design* x, djRng* rng) {
  djtStep* s = &x->s;
  djError err;
  for (int i = 0; i < s->nx; i++) x->end[i] = djt_uniform(rng, -1, 1);
  djm_zeroDesignGradient(x->g, s->m);
  djt_failIf(djm_backwardMuJoCo(NULL, NULL, x->g, s->m, s->d, s->w, x->end, &err) < 0, "%s",
             err.text);
  if (!x->unfinished && djm_finishDesign(x->g, s->m, s->w, &err) < 0) fail_msg("%s", err.text);
  mj_copyData(s->next, s->m, s->d);
  mj_step(s->m, s->next);
  for (int i = 0; i < NFIELD; i++) {
    const Field* f = kField + i;
    int n = countOf(s->m, f->of) * f->width;
    if (!n) continue;
    chooseDirection(x, f, rng);
    double coarse, fine, found = mju_dot(arrayOf(x->g, f->gradient), x->along, n);
    bool same = difference(&coarse, x, f, 2e-4);
    same = difference(&fine, x, f, 1e-4) && same;
    double size = fmax(fabs(fine), 2e-3);
    if (!same || fabs(coarse - fine) > 1e-6 * size) {
      x->left++;
      continue;
    }
    if (fabs(fine) > 1e-9) x->taken[i]++;
    double error = fmin(fabs(found - fine), fabs(found - coarse)) / size;
    if (error > 1e-6 && !x->unfinished && !s->w->drop) {
      print_message("  %s: %.9g, differences %.9g\n", f->name, found, fine);
    }
    x->worst[i] = djt_worst(x->worst[i], error);
  }
}

static void openDesign(Design* x, mjModel* m, int integrator) {
  djError err;
  memset(x, 0, sizeof(*x));
  x->s = djt_openStep(m);
  m->opt.integrator = integrator;
  x->probe = mj_makeData(m);
  x->e = mj_makeData(m);
  // the larger friction counts: none shall be equal
  for (int i = 0; i < 3 * (int)m->ngeom; i++) m->geom_friction[i] *= 1 + 0.01 * (i % 7);
  // nor shall times of contacts be at their bound
  for (int i = 0; i < (int)m->ngeom; i++) {
    double* ref = m->geom_solref + 2 * i;
    if (ref[0] > 0) ref[0] = fmax(ref[0], 3 * m->opt.timestep);
  }
  mj_setConst(m, x->probe);
  x->changed = mj_copyModel(NULL, m);
  assert_int_equal(djm_makeDesignGradient(&x->g, m, &err), DJ_OK);
  x->end = djt_room((size_t)x->s.nx);
  x->along = djt_room(12 * (size_t)(m->nbody + m->njnt + m->nv + m->ngeom + m->npair + m->neq +
                                    m->ntendon + m->nactuator + m->nout));
}

static void closeDesign(Design* x) {
  mj_deleteData(x->probe);
  djt_deleteEngine(x->changed, x->e);
  djm_deleteDesignGradient(x->g);
  free(x->end);
  free(x->along);
  djt_closeStep(&x->s);
}

static void runSteps(Design* x, int steps, int every) {
  djRng rng = {31};
  djtStep* s = &x->s;
  for (int i = 0; i < s->nv; i++) s->d->qvel[i] = djt_uniform(&rng, -0.5, 0.5);
  for (int i = 1; i <= steps; i++) {
    for (int k = 0; k < s->nu; k++) s->d->ctrl[k] = djt_uniform(&rng, -0.4, 0.4);
    mj_step(s->m, s->d);
    if (i % every == 0) compareDesign(x, &rng);
  }
}

static void runTo(double tolerance, mjModel* m, int integrator, int steps, int every,
                  const char* name) {
  Design x;
  openDesign(&x, m, integrator);
  runSteps(&x, steps, every);
  print_message("%s, %d left out\n", name, x.left);
  bool fails = false;
  for (int i = 0; i < NFIELD; i++) {
    if (!x.taken[i]) continue;
    print_message("  %-20s %.1e in %d\n", kField[i].name, x.worst[i], x.taken[i]);
    if (!(x.worst[i] < tolerance)) fails = true;
  }
  closeDesign(&x);
  assert_false(fails);
}

static void runDesign(mjModel* m, int integrator, int steps, int every, const char* name) {
  runTo(1e-6, m, integrator, steps, every, name);
}

#define FREE_BODIES(option, cone)                                                                  \
  "<mujoco><option timestep='0.002' " option " cone='" cone "'/><worldbody>"                       \
  "<body pos='.1 0 1' quat='1 .2 .1 .3'><joint axis='0 1 .3' pos='.02 .01 .05' stiffness='3' "     \
  "springref='20' damping='.2' armature='.02'/><geom type='capsule' fromto='.01 0 0 .3 .02 .05' "  \
  "size='.04'/><body pos='.3 .02 .03' quat='1 .1 -.2 .1' gravcomp='.4'>"                           \
  "<joint type='slide' axis='.3 .1 1' damping='.3' stiffness='9'/>"                                \
  "<joint axis='1 .2 .1' pos='0 .03 .01' damping='.1'/><geom type='box' size='.1 .05 .06' "        \
  "pos='.05 0 .02' euler='10 20 30'/><body pos='.1 .1 0'><joint type='ball' pos='.01 .02 .03' "    \
  "damping='.05' stiffness='.4'/><geom type='ellipsoid' size='.1 .05 .06' pos='.05 .02 .01' "      \
  "euler='5 9 40'/><geom size='.04' pos='.1 .1 0'/></body></body></body>"                          \
  "<body pos='0 1 1'><freejoint/><geom type='box' size='.1 .2 .05' pos='.03 .02 .01'/>"            \
  "<geom size='.05' pos='.1 .2 .1'/></body></worldbody></mujoco>"

static void testSmooth(void) {
  runDesign(djt_compile(FREE_BODIES("", "pyramidal")), mjINT_EULER, 40, 10, "bodies");
  runDesign(djt_compile(FREE_BODIES("", "pyramidal")), mjINT_IMPLICITFAST, 40, 10, "implicitfast");
  runDesign(djt_compile(FREE_BODIES("", "pyramidal")), mjINT_IMPLICIT, 40, 10, "implicit");
}

// Rows of one number, equalities of bodies and sites, actuators of many laws.
static const char kLimbs[] =
  "<mujoco><option timestep='0.002'/><compiler autolimits='true'/><worldbody>"
  "<body pos='0 0 2'><joint type='ball' range='0 20' solimplimit='.7 .95 .3 .3 2.5' margin='.01' "
  "damping='.1' frictionloss='.05'/><geom type='capsule' fromto='0 0 0 .3 0 -.1' size='.03'/>"
  "<body pos='.3 0 -.1'><joint name='a' axis='0 1 .2' range='-10 10' margin='.02' "
  "frictionloss='.3' solimpfriction='.8 .9 .01' damping='.05'/>"
  "<geom type='capsule' fromto='0 0 0 .25 .1 0' size='.03'/>"
  "<body name='tip' pos='.25 .1 0'><joint name='b' axis='1 0 .3' solreflimit='-300 -20' "
  "range='-5 8'/><joint name='s' type='slide' axis='0 .2 1' range='-.05 .05' stiffness='20'/>"
  "<geom size='.06'/><site name='s3' pos='0 0 .05'/></body></body></body>"
  "<body name='c' pos='.5 .2 2'><freejoint/><geom type='box' size='.1 .08 .05' pos='.01 0 .01'/>"
  "<site name='s2' pos='.05 .02 .03' euler='-30 5 60'/></body>"
  "<body name='e' pos='.9 .2 2'><freejoint/><geom type='box' size='.1 .08 .05'/>"
  "<site name='s4' pos='-.05 .02 .03'/></body>"
  "<body pos='0 1 1.5'><joint name='j1' axis='0 1 0' damping='.02'/>"
  "<geom type='capsule' fromto='0 0 0 .1 0 -.4' size='.03'/><body pos='.1 0 -.4'>"
  "<joint name='j2' axis='1 1 0' damping='.01'/><geom type='capsule' fromto='0 0 0 .1 0 -.2' "
  "size='.03'/></body></body>"
  "<body pos='0 1.5 1.5'><joint name='j3' axis='0 1 1' damping='.02'/><joint name='j4' "
  "axis='1 0 1' damping='.02'/><geom type='capsule' fromto='0 0 0 .1 0 -.4' size='.03'/></body>"
  "</worldbody>"
  "<tendon><fixed name='t1' range='-.05 .05' frictionloss='.1' armature='.05' stiffness='3' "
  "springlength='-.02 .01' damping='.2' solreflimit='.03 .8'><joint joint='j1' coef='1'/>"
  "<joint joint='j2' coef='-.7'/></fixed><fixed name='t2' frictionloss='.001'>"
  "<joint joint='j3' coef='.4'/><joint joint='j2' coef='.5'/></fixed>"
  "<fixed name='t3'><joint joint='j4' coef='1'/><joint joint='j1' coef='.3'/></fixed></tendon>"
  "<equality><connect body1='tip' body2='c' anchor='0 0 .02' solimp='.8 .95 .1 .5 2'/>"
  "<weld body1='c' body2='e' relpose='-.35 .02 .03 1 .1 .05 -.02' torquescale='.7' "
  "solimp='.8 .95 .05 .4 3'/><connect site1='s4' site2='s3' solref='.2 1'/>"
  "<weld site1='s2' site2='s4' solref='.1 1'/>"
  "<joint joint1='j3' joint2='j1' polycoef='.1 .8 .5 -.2 .1' solimp='.8 .95 .5 .5 2'/>"
  "<tendon tendon1='t3' tendon2='t2' polycoef='.02 .8 .9' solimp='.8 .95 .1 .5 2'/></equality>"
  "<actuator><motor joint='a' gear='3' damping='.02' armature='.003'/>"
  "<position joint='b' kp='5' kv='.3' gear='.7' "
  "forcerange='-4 4'/><intvelocity joint='s' kp='7' kv='.1' actrange='-1 1'/>"
  "<general tendon='t1' gear='2' dyntype='filter' dynprm='.05' gaintype='affine' "
  "gainprm='2 .3 -.4' biastype='affine' biasprm='.1 -.5 -.2'/>"
  "<general joint='j3' dyntype='filterexact' dynprm='.03' gainprm='1.5' actearly='true'/>"
  "<muscle joint='j2' ctrllimited='true' ctrlrange='0 1' force='2' lengthrange='-1 1'/>"
  "<damper joint='j1' kv='.5' ctrlrange='0 1'/></actuator></mujoco>";

static void testRows(void) {
  runDesign(djt_compile(kLimbs), mjINT_EULER, 60, 6, "rows");
  runDesign(djt_compile(kLimbs), mjINT_IMPLICITFAST, 60, 6, "rows, implicitfast");
  runDesign(djt_compile(kLimbs), mjINT_IMPLICIT, 60, 6, "rows, implicit");
}

static void testContacts(void) {
  runDesign(djt_compile(CONTACTS("elliptic")), mjINT_EULER, 60, 6, "cones");
  runDesign(djt_compile(CONTACTS("pyramidal")), mjINT_EULER, 60, 6, "pyramids");
  runDesign(djt_compile(CONTACTS("pyramidal")), mjINT_IMPLICITFAST, 60, 6,
            "pyramids, implicitfast");
  runDesign(djt_compile(kBelts), mjINT_EULER, 60, 6, "belts");
  runDesign(djt_compile(STICKY("elliptic")), mjINT_EULER, 60, 6, "adhesion, cones");
  runDesign(djt_compile(STICKY("pyramidal")), mjINT_EULER, 60, 6, "adhesion, pyramids");
}

#define SHAPES(one, two)                                                                          \
  "<mujoco><option timestep='0.002' cone='elliptic' ccd_tolerance='1e-15' ccd_iterations='500'/>"  \
  "<default><geom friction='.6 .02 .01' solref='.02 .9' mass='1'/></default><worldbody>"           \
  "<body pos='0 0 0' quat='1 .02 .03 .1'><joint type='slide' axis='0 0 1' stiffness='90'/>"        \
  "<joint axis='1 0 .1' stiffness='3'/><joint axis='0 1 0' stiffness='3'/><geom " one              \
  " pos='.01 .02 0'/></body><body " two "/></body></worldbody></mujoco>"

#define FLOOR(two)                                                                                \
  "<mujoco><option timestep='0.002' cone='elliptic'/><default><geom friction='.6 .02 .01' "        \
  "solref='.02 .9' mass='1'/></default><worldbody><geom type='plane' size='1 1 1' "                \
  "euler='2 3 0'/><body " two "/></body></worldbody></mujoco>"

static void testSizes(void) {
  static const struct {
    const char *name, *text;
  } kCase[] = {
    {"box, box", SHAPES("type='box' size='.2 .15 .1'", "pos='.15 .02 .149' quat='1 .03 -.02 .3'>"
                        "<freejoint/><geom type='box' size='.1 .12 .05'")},
    {"box, capsule", SHAPES("type='box' size='.2 .15 .1'", "pos='.05 .02 .15' quat='1 .03 .8 .3'>"
                            "<freejoint/><geom type='capsule' size='.05 .12'")},
    {"box, sphere", SHAPES("type='box' size='.2 .15 .1'", "pos='.2 .17 .135'>"
                           "<freejoint/><geom size='.05'")},
    {"capsules", SHAPES("type='capsule' size='.1 .3' euler='90 0 0'", "pos='.05 .02 .17' "
                        "quat='1 .03 .8 .3'><freejoint/><geom type='capsule' size='.08 .12'")},
    {"plane, box", FLOOR("pos='.05 .02 .09' quat='1 .03 -.02 .3'>"
                          "<freejoint/><geom type='box' size='.08 .12 .1'")},
    {"plane, cylinder", FLOOR("pos='.05 .02 .09' "
                               "quat='1 .03 -.02 .3'><freejoint/><geom type='cylinder' "
                              "size='.08 .1'")},
    {"plane, ellipsoid", FLOOR("pos='.05 .02 .09' "
                                "quat='1 .3 -.2 .3'><freejoint/><geom type='ellipsoid' "
                                "size='.08 .13 .1'")},
    {"ellipsoids", SHAPES("type='ellipsoid' size='.2 .15 .1'", "pos='.05 .02 .18' "
                          "quat='1 .3 -.2 .3'><freejoint/><geom type='ellipsoid' "
                          "size='.08 .13 .1'")},
    {"box, cylinder", SHAPES("type='box' size='.2 .15 .1'", "pos='.15 .02 .2' "
                             "quat='1 .3 -.2 .3'><freejoint/><geom type='cylinder' size='.08 .1'")},
  };
  for (size_t i = 0; i < sizeof(kCase) / sizeof(*kCase); i++) {
    // where MuJoCo searches for contacts they have errors of their own
    const char* name = kCase[i].name;
    bool search = strcmp(name, "ellipsoids") == 0 || strcmp(name, "box, cylinder") == 0;
    runTo(search ? 1e-4 : 1e-6, djt_compile(kCase[i].text), mjINT_EULER, 30, 3, kCase[i].name);
  }
}

static void testRobots(void) {
  static const char* const kName[] = {"hopper", "half_cheetah", "ant", "humanoid", "walker2d_v5"};
  for (size_t i = 0; i < sizeof(kName) / sizeof(*kName); i++) {
    runDesign(djt_robot(kName[i]), mjINT_EULER, 150, 25, kName[i]);
  }
}

static void testState(void) {
  static const int kIntegrator[] = {mjINT_EULER, mjINT_IMPLICIT, mjINT_IMPLICITFAST};
  for (int i = 0; i < 3; i++) {
    runState(djt_compile(CONTACTS("elliptic")), kIntegrator[i], true, "cones");
    runState(djt_compile(CONTACTS("pyramidal")), kIntegrator[i], true, "pyramids");
    runState(djt_compile(STICKY("pyramidal")), kIntegrator[i], true, "adhesion");
    runState(djt_compile(BODY_ROWS), kIntegrator[i], false, "rows");
    runState(djt_compile(SITE_ROWS), kIntegrator[i], false, "rows of sites");
    runState(djt_compile(kDampers), kIntegrator[i], false, "dampers");
    runState(djt_compile(kBelts), kIntegrator[i], true, "belts");
    runState(djt_compile(DJT_ZOO), kIntegrator[i], false, "zoo");
    runState(djt_robot("humanoid"), kIntegrator[i], true, "humanoid");
    runState(djt_robot("ant"), kIntegrator[i], true, "ant");
  }
}

// What is left out is missed, by each of the fields that it is for.
static void testDropped(void) {
  static const struct {
    int drop;
    bool unfinished;
    const char *text, *name, *field;
  } kCase[] = {
    {DJM_DROP_FORCE, false, CONTACTS("elliptic"), "dJ^T f", "geom_pos"},
    {DJM_DROP_IMPEDANCE, false, CONTACTS("elliptic"), "dD", "geom_solimp"},
    {DJM_DROP_REFERENCE, false, CONTACTS("elliptic"), "daref", "geom_pos"},
    {DJM_DROP_CURVATURE, false, CONTACTS("elliptic"), "the cone's block", "geom_solref"},
    {DJM_DROP_FEATURE, false, CONTACTS("elliptic"), "the features' motion", "geom_pos"},
    {0, true, CONTACTS("elliptic"), "mj_setConst", "body_mass"},
    {0, true, kLimbs, "mj_setConst", "dof_armature"},
  };
  for (size_t i = 0; i < sizeof(kCase) / sizeof(*kCase); i++) {
    Design x;
    openDesign(&x, djt_compile(kCase[i].text), mjINT_EULER);
    x.unfinished = kCase[i].unfinished;
    x.s.w->drop = kCase[i].drop;
    runSteps(&x, 60, 12);
    double worst = 0;
    for (int k = 0; k < NFIELD; k++) {
      if (strcmp(kField[k].name, kCase[i].field) == 0) worst = x.worst[k];
    }
    print_message("without %s, %s: %.1e\n", kCase[i].name, kCase[i].field, worst);
    assert_true(worst > 1e-4);
    closeDesign(&x);
  }
}

// Gravity, with compensation.
static void testGravity(void) {
  Design x;
  djError err;
  openDesign(&x, djt_compile(FREE_BODIES("", "pyramidal")), mjINT_IMPLICIT);
  djtStep* s = &x.s;
  for (int i = 0; i < s->nx; i++) x.end[i] = sin(i + 1);
  for (int i = 0; i < 10; i++) mj_step(s->m, s->d);
  assert_int_equal(djm_backwardMuJoCo(NULL, NULL, x.g, s->m, s->d, s->w, x.end, &err), DJ_OK);
  mj_copyData(s->next, s->m, s->d);
  mj_step(s->m, s->next);
  for (int k = 0; k < 3; k++) {
    double value[2], *diff = djt_room((size_t)s->nx);
    for (int side = 0; side < 2; side++) {
      mju_copy3(x.changed->opt.gravity, s->m->opt.gravity);
      x.changed->opt.gravity[k] += side ? 0.01 : -0.01;
      mj_copyState(s->m, s->d, x.e, mjSTATE_INTEGRATION);
      mj_step(x.changed, x.e);
      mj_differentiatePos(s->m, diff, 1, s->next->qpos, x.e->qpos);
      mju_sub(diff + s->nv, x.e->qvel, s->next->qvel, s->nv);
      value[side] = mju_dot(diff, x.end, s->nx);
    }
    free(diff);
    double slope = (value[1] - value[0]) / 0.02;
    assert_true(fabs(slope - x.g->gravity[k]) < 1e-6 * fabs(slope));
  }
  closeDesign(&x);
}

// A run of several steps: its end by masses, damping and sizes, from the last step to the first.
static double runEnd(Design* x, const Field* f, double h, int steps) {
  djtStep* s = &x->s;
  change(x, f, h);
  mj_setConst(x->changed, x->probe);
  mj_copyState(s->m, s->d, x->e, mjSTATE_INTEGRATION);
  for (int i = 0; i < steps; i++) mj_step(x->changed, x->e);
  double* diff = djt_room((size_t)s->nx);
  mj_differentiatePos(s->m, diff, 1, s->next->qpos, x->e->qpos);
  mju_sub(diff + s->nv, x->e->qvel, s->next->qvel, s->nv);
  double y = mju_dot(diff, x->end, s->nx);
  free(diff);
  change(x, f, 0);
  return y;
}

static void testRun(void) {
  enum { STEPS = 20 };
  static const char* const kName[] = {"body_mass", "body_pos", "dof_damping", "geom_size",
                                      "geom_friction", "jnt_axis"};
  Design x;
  djRng rng = {8};
  djError err;
  openDesign(&x, djt_robot("humanoid"), mjINT_EULER);
  djtStep* s = &x.s;
  for (int i = 0; i < 100; i++) mj_step(s->m, s->d);
  for (int u = 0; u < s->nu; u++) s->d->ctrl[u] = djt_uniform(&rng, -0.4, 0.4);
  for (int i = 0; i < s->nx; i++) x.end[i] = djt_uniform(&rng, -1, 1);
  mjData* path[STEPS];
  mj_copyData(s->next, s->m, s->d);
  for (int i = 0; i < STEPS; i++) {
    path[i] = mj_copyData(NULL, s->m, s->next);
    mj_step(s->m, s->next);
  }
  double* by = djt_room((size_t)s->nx);
  mju_copy(by, x.end, s->nx);
  for (int i = STEPS - 1; i >= 0; i--) {
    djt_failIf(djm_backwardMuJoCo(by, NULL, x.g, s->m, path[i], s->w, by, &err) < 0, "%s",
               err.text);
    mj_deleteData(path[i]);
  }
  assert_int_equal(djm_finishDesign(x.g, s->m, s->w, &err), DJ_OK);
  for (int i = 0; i < NFIELD; i++) {
    const Field* f = kField + i;
    bool wanted = false;
    for (size_t k = 0; k < sizeof(kName) / sizeof(*kName); k++) {
      wanted = wanted || strcmp(kName[k], f->name) == 0;
    }
    if (!wanted) continue;
    chooseDirection(&x, f, &rng);
    double h = 2e-5, found = mju_dot(arrayOf(x.g, f->gradient), x.along,
                                     countOf(s->m, f->of) * f->width);
    double near = runEnd(&x, f, h, STEPS) - runEnd(&x, f, -h, STEPS);
    double far = runEnd(&x, f, 2 * h, STEPS) - runEnd(&x, f, -2 * h, STEPS);
    double slope = (8 * near - far) / (12 * h);
    print_message("%s: %.9g, differences %.9g\n", f->name, found, slope);
    assert_true(fabs(found - slope) < 1e-5 * fmax(fabs(slope), 1e-2));
  }
  free(by);
  closeDesign(&x);
}

// Rollouts add up, and what is not known is refused.
static void testCall(void) {
  Design x;
  djError err;
  openDesign(&x, djt_robot("hopper"), mjINT_EULER);
  djtStep* s = &x.s;
  for (int i = 0; i < s->nx; i++) x.end[i] = 1;
  double *start = djt_room((size_t)s->nx), *other = djt_room((size_t)s->nx);
  assert_int_equal(djm_backwardMuJoCo(start, NULL, x.g, s->m, s->d, s->w, x.end, &err), DJ_OK);
  double once = x.g->body_mass[2];
  assert_int_equal(djm_backwardMuJoCo(other, NULL, x.g, s->m, s->d, s->w, x.end, &err), DJ_OK);
  assert_true(once != 0 && fabs(x.g->body_mass[2] - 2 * once) < 1e-12 * fabs(once));
  assert_memory_equal(start, other, (size_t)s->nx * sizeof(double));
  double value[10];
  int n;
  assert_int_equal(djm_readDesign(value, &n, x.g, s->m, "body/#2/mass", &err), DJ_OK);
  assert_true(n == 1 && value[0] == x.g->body_mass[2]);
  assert_int_equal(djm_readDesign(value, &n, x.g, s->m, "joint/foot_joint/axis", &err), DJ_OK);
  assert_true(n == 3 && memcmp(value, x.g->jnt_axis + 15, sizeof(double[3])) == 0);
  assert_int_equal(djm_readDesign(value, &n, x.g, s->m, "option/gravity", &err), DJ_OK);
  assert_true(n == 3 && value[2] != 0);
  assert_int_equal(djm_readDesign(value, &n, x.g, s->m, "body/none/mass", &err), DJ_UNSUPPORTED);
  djm_zeroDesignGradient(x.g, s->m);
  assert_true(x.g->body_mass[2] == 0);
  free(start);
  free(other);
  closeDesign(&x);
  openDesign(&x, djt_compile(BODY_ROWS), mjINT_EULER);
  assert_int_equal(djm_backwardMuJoCo(NULL, NULL, x.g, x.s.m, x.s.d, x.s.w, x.end, &err),
                   DJ_UNSUPPORTED);
  assert_non_null(strstr(err.text, "spatial tendon"));
  closeDesign(&x);
}

DJT_MAIN(testState, testSmooth, testRows, testContacts, testSizes, testRobots, testDropped,
         testGravity, testRun, testCall)
