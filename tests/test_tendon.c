// Tendons by themselves: lengths with first and second derivatives, the force of a dead band,
// motions that can be calculated, and definitions that are refused.

#include "common/make_model.h"
#include "common/near.h"
#include "common/random_model.h"
#include "common/scene.h"
#include "common/states.h"
#include "common/step_energy.h"
#include "common/test.h"
#include "model/coordinate.h"

// ---- derivatives -------------------------------------------------------------------------------

typedef struct Place {
  djPlace p;
  void* memory[3];
} Place;

static Place openPlace(const djModel* m) {
  Place x = {.memory = {calloc(1, dj_kinSize(m) + 64), calloc(1, dj_coordinatesSize(m) + 64),
                        calloc((size_t)m->nq + 1, sizeof(double))}};
  for (int k = 0; k < 3; k++) assert_non_null(x.memory[k]);
  x.p = (djPlace){x.memory[2], dj_initKin(m, x.memory[0]), dj_initCoordinates(m, x.memory[1])};
  return x;
}

static void closePlace(Place* x) {
  for (int k = 0; k < 3; k++) free(x->memory[k]);
}

// Coordinates at q (+) s dir about ref.
static void setAt(Place* x, const djModel* m, const djData* d, const double* q, const double* dir,
                  double s, const djVec3* ref) {
  dj_integratePos(x->p.q, m, q, dir, s);
  dj_setPlace(&x->p, m, d->mocap_pos, d->mocap_quat);
  dj_openPlace(&x->p, m, ref);
}

// dx/dq along a direction by five points.
static double difference(Place* x, const djModel* m, const djData* d, const double* q,
                         const double* dir, const djVec3* ref, int c) {
  static const double point[4] = {1, -1, 2, -2}, weight[4] = {8, -8, -1, 1};
  double sum = 0, h = 1e-3;
  for (int k = 0; k < 4; k++) {
    setAt(x, m, d, q, dir, point[k] * h, ref);
    sum += weight[k] / (12 * h) * x->p.coord.x[c];
  }
  return sum;
}

// And of dx/dq v, v held: what armature needs.
static double rateDifference(Place* x, const djModel* m, const djData* d, const double* q,
                             const double* dir, const djVec3* ref, int c, const double* v) {
  static const double point[4] = {1, -1, 2, -2}, weight[4] = {8, -8, -1, 1};
  double sum = 0, h = 1e-3;
  for (int k = 0; k < 4; k++) {
    setAt(x, m, d, q, dir, point[k] * h, ref);
    sum += weight[k] / (12 * h) * dj_coordinateRate(&x->p.coord, m, c, v);
  }
  return sum;
}

static void testDerivatives(void) {
  djRng rng = {41};
  double worst = 0, worst_rate = 0;
  int bent = 0, seen = 0, coupled = 0;
  for (int trial = 0; trial < 60; trial++) {
    djModel* m = djt_randomModel(&rng, 1 + trial % 6,
                                 DJT_TENDONS | DJT_ACTUATORS | DJT_EQUALITIES |
                                     (trial % 2 ? DJT_WRAPS : 0));
    djData* d = makeData(m);
    djt_randomState(&rng, m, d, 1);
    assert_int_equal(dj_forward(m, d), DJ_OK);
    const djVec3* ref = d->work->ref;
    Place at = openPlace(m), moved = openPlace(m);
    double *dir = calloc((size_t)m->nv, sizeof(double)), *v = calloc((size_t)m->nv, sizeof(double));
    for (int c = 0; c < m->ncoord; c++) {
      if (m->coord_type[c] == DJ_COORD_JOINT) continue;
      double slope = 0;
      for (int i = 0; i < m->nv; i++) dir[i] = djt_uniform(&rng, -1, 1);
      for (int i = 0; i < m->nv; i++) v[i] = djt_uniform(&rng, -1, 1);
      setAt(&at, m, d, d->qpos, dir, 0, ref);
      double along = dj_coordinateRate(&at.p.coord, m, c, dir);
      double fd = difference(&moved, m, d, d->qpos, dir, ref, c);
      worst = djt_worst(worst, fabs(along - fd) / (1 + fabs(fd)));
      const int n = m->coord_dofnum[c], *dofs = m->coord_dof + m->coord_dofadr[c];
      bool equality = m->coord_type[c] == DJ_COORD_EQUALITY;
      double* T = calloc((size_t)(n * n) + DJ_SLOPE_SCRATCH(n) + 1, sizeof(double));
      dj_coordinateSlopes(T, T + n * n, m, &at.p.kin, &at.p.coord, ref, c);
      for (int k = 0; k < n; k++) {
        double sum = 0, one = 0;   // all at once, and one by one
        for (int i = 0; i < n; i++) sum += v[dofs[i]] * T[n * i + k];
        if (!equality) one = dj_coordinateRateSlope(m, &at.p.kin, ref, c, v, k);
        if (!equality) djt_near(sum, one, 1e-12 * (1 + fabs(one)));
        slope += dir[dofs[k]] * sum;
      }
      free(T);
      coupled += equality && n > 0;
      fd = rateDifference(&moved, m, d, d->qpos, dir, ref, c, v);
      worst_rate = djt_worst(worst_rate, fabs(slope - fd) / (1 + fabs(fd)));
      if (fabs(fd) > 0.1) {   // a slope that is wrong by a thousandth is seen
        assert_true(fabs(1.001 * slope - fd) > 1e-6 * (1 + fabs(fd)));
        seen++;
      }
      bent += dj_coordinateBends(m, c);
    }
    free(dir);
    free(v);
    closePlace(&at);
    closePlace(&moved);
    djt_delete(m, d);
  }
  print_message("%d that bend: dx %.1e, d dx %.1e\n", bent, worst, worst_rate);
  assert_true(bent > 100 && seen > 50 && coupled > 300);
  assert_true(worst < 1e-6 && worst_rate < 1e-6);
}

// ---- models of slides --------------------------------------------------------------------------

typedef struct Slides {
  Scene* s;
  djSiteDef site[6];
  djWrapDef wrap[8];
  djTendonDef tendon;
} Slides;

// Bodies of these masses on vertical slides, a site on each and one 1 m above it.
static Slides slides(int n, const double* mass) {
  Slides x = {.s = newScene(n), .tendon = dj_defaultTendonDef()};
  for (int k = 0; k < n; k++) {
    int b = addBody(x.s, 0, DJ_SLIDE, k, 0, 0, mass[k], 0.1);
    djJointDef* j = &x.s->joint[b - 1];
    memcpy(j->axis, (double[]){0, 0, 1}, sizeof j->axis);
    x.site[2 * k] = (djSiteDef){.body = 0, .pos = {k, 0, 1}, .quat = {1, 0, 0, 0}};
    x.site[2 * k + 1] = (djSiteDef){.body = b, .quat = {1, 0, 0, 0}};
  }
  return x;
}

static djModel* modelOf(Slides* x, double h, djIntegrator integrator) {
  x->tendon.wrap = x->wrap;
  x->s->def.nsite = 2 * x->s->def.njnt;
  x->s->def.site = x->site;
  x->s->def.ntendon = 1;
  x->s->def.tendon = &x->tendon;
  x->s->def.option.timestep = h;
  x->s->def.option.integrator = integrator;
  djModel* m = djt_makeModel(&x->s->def);
  freeScene(x->s);
  return m;
}

static void addSites(Slides* x, int k) {
  x->wrap[x->tendon.nwrap++] = (djWrapDef){DJ_WRAP_SITE, 2 * k + 1, 0};
  x->wrap[x->tendon.nwrap++] = (djWrapDef){DJ_WRAP_SITE, 2 * k, 0};
}

// Two masses on a rope that runs over a wheel, or the second one on a block that halves the force:
// m1 x1'' = m1 g - F, m2 x2'' = m2 g - F/n, x1 + x2/n = 0 downward.
static void testPulley(void** state) {
  const djIntegrator integrator = *(const djIntegrator*)*state;
  for (int n = 1; n <= 2; n++) {
    const double mass[2] = {2, 1.5};
    Slides x = slides(2, mass);
    if (n == 1) {
      x.wrap[0] = (djWrapDef){DJ_WRAP_SITE, 1, 0};
      for (int k = 0; k < 3; k++) x.wrap[1 + k] = (djWrapDef){DJ_WRAP_SITE, k ? k + 1 : 0, 0};
      x.tendon.nwrap = 4;
    } else {
      addSites(&x, 0);
      x.wrap[x.tendon.nwrap++] = (djWrapDef){DJ_WRAP_PULLEY, -1, n};
      addSites(&x, 1);
    }
    x.tendon.stiffness = 1e7;
    djModel* m = modelOf(&x, 1e-3, integrator);
    djData* d = makeData(m);
    double g = 9.81, t = 0.3, nn = (double)n * n;
    double a = g * (mass[0] - n * mass[1]) / (mass[0] + nn * mass[1]);
    for (int k = 0; k < 300; k++) assert_int_equal(dj_step(m, d), DJ_OK);
    double want = -0.5 * a * t * t;
    print_message("%s, divisor %d: %.5f m, calculated %.5f\n", dj_integratorName(integrator), n,
                  d->qpos[0], want);
    assert_true(fabs(d->qpos[0] - want) < 5e-3 * fabs(want) + 1e-4);
    assert_true(fabs(d->qpos[0] + d->qpos[1] / n) < 1e-4);
    djt_delete(m, d);
  }
}

// A mass on a spring, with the tendon's armature: omega^2 = k/(m + A).
static void testFrequency(void** state) {
  const djIntegrator integrator = *(const djIntegrator*)*state;
  const double mass[1] = {0.7};
  Slides x = slides(1, mass);
  addSites(&x, 0);
  x.tendon.stiffness = 50;
  x.tendon.armature = 0.3;
  djModel* m = modelOf(&x, 1e-3, integrator);
  djData* d = makeData(m);
  double want = 2 * acos(-1.0) * sqrt(1.0 / 50), first = 0, last = 0, before;
  int crossings = 0;
  m->opt.gravity[2] = 0;
  d->qpos[0] = 0.05;
  for (int k = 0; k < 5000; k++) {
    before = d->qpos[0];
    assert_int_equal(dj_step(m, d), DJ_OK);
    if (!(before < 0 && d->qpos[0] >= 0)) continue;
    last = d->time - 1e-3 * d->qpos[0] / (d->qpos[0] - before);
    if (crossings++ == 0) first = last;
  }
  double period = (last - first) / (crossings - 1);
  print_message("%s: period %.6f s, calculated %.6f\n", dj_integratorName(integrator), period,
                want);
  assert_true(crossings > 4 && fabs(period - want) < 1e-3 * want);
  djt_delete(m, d);
}

// Outside of the dead band the force is the polynomial's, inside there is none: so is the energy.
static void testDeadBand(void) {
  const double mass[1] = {1};
  for (int side = 0; side < 2; side++) {
    Slides x = slides(1, mass);
    addSites(&x, 0);
    x.tendon.stiffness = 30;
    x.tendon.stiffnesspoly[0] = 7;
    x.tendon.stiffnesspoly[1] = 11;
    x.tendon.springlength[0] = 0.8;
    x.tendon.springlength[1] = 1.3;
    djModel* m = modelOf(&x, 1e-3, DJ_POSITION);
    djData* d = makeData(m);
    double before = 0, corner = NAN;
    for (int k = 0; k <= 400; k++) {
      double length = side ? 1 + 1e-3 * k : 1 - 1e-3 * k;   // 1 - q
      double e = fmax(length - 1.3, 0) + fmin(length - 0.8, 0);
      double V = e * e * (15 + e * (7.0 / 3 + e * 11.0 / 4));
      d->qpos[0] = 1 - length;
      m->opt.gravity[2] = 0;
      assert_int_equal(dj_forward(m, d), DJ_OK);
      // the corner's own energy and more is below k w^2, w = 5e-4
      assert_true(fabs(d->energy[0] - V) < 30 * 5e-4 * 5e-4);
      assert_true(d->energy[0] >= before);
      before = d->energy[0];
      if (fabs(e) < 1e-3) continue;   // beyond the corner its energy stays
      if (isnan(corner)) corner = before - V;
      djt_near(before - V, corner, 1e-14);
    }
    assert_true(before > 0.1);
    djt_delete(m, d);
  }
}

// The sum of the forces of a tendon's actuators stays within its range: all of them fall alike.
static void testTotal(void) {
  static const double range[2][2] = {{-3, 5}, {0, 5}};
  static const struct {
    double ctrl[2], scale[2];   // what is left of both, in either range
  } cases[] = {{{2, 1}, {1, 1}},        {{10, -2}, {5. / 8, 5. / 8}}, {{-9, 1}, {3. / 8, 0}},
               {{-1, -1.5}, {1, 0}},    {{4, 3}, {5. / 7, 5. / 7}}};
  const double mass[1] = {1}, h = 1e-3;
  for (int i = 0; i < 10; i++) {
    Slides x = slides(1, mass);
    addSites(&x, 0);
    x.tendon.actfrclimited = true;
    memcpy(x.tendon.actfrcrange, range[i % 2], sizeof x.tendon.actfrcrange);
    djActuatorDef actuator[2];
    for (int k = 0; k < 2; k++) {
      actuator[k] = dj_defaultActuatorDef();
      actuator[k].tendon = 0;
      actuator[k].gear[0] = k ? -1 : 2;
    }
    x.s->def.actuator = actuator;
    x.s->def.nu = 2;
    djModel* m = modelOf(&x, h, DJ_POSITION);
    djData* d = makeData(m);
    memset(m->opt.gravity, 0, sizeof m->opt.gravity);
    const double* ctrl = cases[i / 2].ctrl;
    memcpy(d->ctrl, ctrl, 2 * sizeof(double));
    assert_int_equal(dj_step(m, d), DJ_OK);
    djt_near(d->qvel[0], -h * cases[i / 2].scale[i % 2] * (2 * ctrl[0] - ctrl[1]), 1e-9);
    djt_delete(m, d);
  }
}

// ---- momentum ----------------------------------------------------------------------------------

// Two free bodies, tied at sites away from their centres: linear momentum stays to rounding.
static void testMomentum(void** state) {
  const djIntegrator integrator = *(const djIntegrator*)*state;
  Scene* s = newScene(2);
  djSiteDef site[2];
  djWrapDef wrap[2] = {{DJ_WRAP_SITE, 0, 0}, {DJ_WRAP_SITE, 1, 0}};
  djTendonDef tendon = dj_defaultTendonDef();
  for (int b = 0; b < 2; b++) {
    addBody(s, 0, DJ_FREE, 0.5 * b, 0, 0, 1 + b, 0.2);
    site[b] = (djSiteDef){.body = b + 1, .pos = {0.1, 0.2 * b, -0.1}, .quat = {1, 0, 0, 0}};
  }
  tendon.nwrap = 2;
  tendon.wrap = wrap;
  tendon.stiffness = 40;
  tendon.damping = 0.3;
  tendon.armature = 0.5;
  tendon.springlength[0] = tendon.springlength[1] = 0.3;
  s->def.nsite = 2;
  s->def.site = site;
  s->def.ntendon = 1;
  s->def.tendon = &tendon;
  s->def.option.contact = DJ_CONTACT_NONE;
  s->def.option.integrator = integrator;
  s->def.option.timestep = 0.005;
  s->def.option.tolerance = 1e-10;
  memset(s->def.option.gravity, 0, sizeof s->def.option.gravity);
  djModel* m = djt_makeModel(&s->def);
  freeScene(s);
  djData* d = makeData(m);
  djRng rng = {43};
  for (int i = 0; i < m->nv; i++) d->qvel[i] = djt_uniform(&rng, -1, 1);
  double want[3], worst = 0, moved = 0;
  for (int k = 0; k < 3; k++) want[k] = d->qvel[k] + 2 * d->qvel[6 + k];
  double first = d->qvel[0];
  for (int step = 0; step < 400; step++) {
    assert_int_equal(dj_step(m, d), DJ_OK);
    for (int k = 0; k < 3; k++) {
      worst = djt_worst(worst, fabs(d->qvel[k] + 2 * d->qvel[6 + k] - want[k]));
    }
    moved = fmax(moved, fabs(d->qvel[0] - first));
  }
  print_message("%s: momentum %.1e\n", dj_integratorName(integrator), worst);
  assert_true(moved > 0.1 && worst < 1e-9);
  djt_delete(m, d);
}

// ---- definitions -------------------------------------------------------------------------------

typedef struct Bad {
  djTendonDef tendon;
  djWrapDef wrap[4];
  djActuatorDef actuator;
} Bad;

// The error of a model with two slides, four sites, the tendon and, if it is on something, the
// actuator.
static void expectError(const Bad* bad, const char* text) {
  const double mass[2] = {1, 1};
  Slides x = slides(2, mass);
  djModel* m = NULL;
  djError err = {""};
  djTendonDef tendon = bad->tendon;
  tendon.wrap = bad->wrap;
  tendon.name = "rope";
  x.s->def.nsite = 4;
  x.s->def.site = x.site;
  x.s->def.ntendon = 1;
  x.s->def.tendon = &tendon;
  x.s->actuator[0] = bad->actuator;
  x.s->actuator[0].name = "winch";
  x.s->def.nu = 1;
  djStatus status = dj_makeModel(&m, &x.s->def, &err);
  if (!text && status < 0) fail_msg("%s", err.text);
  djt_failIf(text && (status != DJ_INVALID || strcmp(err.text, text) != 0), "'%s' is not '%s'",
             err.text, text);
  dj_deleteModel(m);
  freeScene(x.s);
}

static Bad good(void) {
  Bad b = {.tendon = dj_defaultTendonDef(), .actuator = dj_defaultActuatorDef()};
  b.tendon.nwrap = 2;
  b.wrap[0] = (djWrapDef){DJ_WRAP_SITE, 0, 0};
  b.wrap[1] = (djWrapDef){DJ_WRAP_SITE, 1, 0};
  b.actuator.tendon = 0;
  return b;
}

#define EXPECT(change, text) \
  do {                       \
    Bad b = good();          \
    change;                  \
    expectError(&b, text);   \
  } while (0)
#define WRAP(k, type, id, prm) b.wrap[k] = (djWrapDef){type, id, prm}

static void testDefinitions(void) {
  EXPECT((void)0, NULL);
  EXPECT(b.tendon.nwrap = 0, "tendon 'rope': has neither joints nor a path");
  EXPECT(WRAP(1, DJ_WRAP_JOINT, 0, 1), "tendon 'rope': joints and sites cannot be mixed");
  EXPECT(WRAP(0, DJ_WRAP_JOINT, 0, 1), "tendon 'rope': joints and sites cannot be mixed");
  EXPECT(WRAP(1, DJ_WRAP_SITE, 4, 0), "tendon 'rope': a site does not exist");
  EXPECT((WRAP(0, DJ_WRAP_JOINT, 2, 1), b.tendon.nwrap = 1),
         "tendon 'rope': a joint does not exist");
  EXPECT((WRAP(0, DJ_WRAP_JOINT, 0, NAN), b.tendon.nwrap = 1), "tendon 'rope': coef is not finite");
  EXPECT((WRAP(0, DJ_WRAP_JOINT, 0, 1e30), b.tendon.nwrap = 1),
         "tendon 'rope': prm is larger than 1e20");
  EXPECT(b.tendon.nwrap = 1, "tendon 'rope': a site of its path stands alone");
  EXPECT((WRAP(1, DJ_WRAP_PULLEY, -1, 2)), "tendon 'rope': a site of its path stands alone");
  EXPECT((WRAP(2, DJ_WRAP_PULLEY, -1, 2), b.tendon.nwrap = 3),
         "tendon 'rope': a site must follow each pulley");
  EXPECT((WRAP(0, DJ_WRAP_PULLEY, -1, 0), WRAP(1, DJ_WRAP_SITE, 0, 0), WRAP(2, DJ_WRAP_SITE, 1, 0),
          b.tendon.nwrap = 3),
         "tendon 'rope': divisor of a pulley must be positive");
  EXPECT((WRAP(0, DJ_WRAP_PULLEY, -1, 1e-30), WRAP(1, DJ_WRAP_SITE, 0, 0),
          WRAP(2, DJ_WRAP_SITE, 1, 0), b.tendon.nwrap = 3),
         "tendon 'rope': divisor of a pulley is smaller than 1e-20");
  EXPECT(WRAP(0, (djWrap)9, 1, 0), "tendon 'rope': unknown type of path element");
  EXPECT(b.tendon.stiffness = -1, "tendon 'rope': stiffness is negative or not finite");
  EXPECT(b.tendon.stiffness = 1e61, "tendon 'rope': stiffness is larger than 1e60");
  EXPECT(b.tendon.damping = INFINITY, "tendon 'rope': damping is negative or not finite");
  EXPECT(b.tendon.frictionloss = -1, "tendon 'rope': frictionloss is negative or not finite");
  EXPECT(b.tendon.armature = -1, "tendon 'rope': armature is negative or not finite");
  EXPECT(b.tendon.springlength[0] = 1, "tendon 'rope': springlength is reversed");
  EXPECT((b.tendon.limited = true, b.tendon.range[0] = 2), "tendon 'rope': range is reversed");
  EXPECT((b.tendon.actfrclimited = true, b.tendon.actfrcrange[0] = 1, b.tendon.actfrcrange[1] = 2),
         "tendon 'rope': actfrcrange does not hold 0");
  EXPECT(b.actuator.joint = 0,
         "actuator 'winch': must be on one of joint, tendon, site, cranksite, body, adds_to");
  EXPECT(b.actuator.tendon = 1, "actuator 'winch': its tendon does not exist");
  EXPECT(b.actuator.tendon = -1, "actuator 'winch': its joint does not exist");
  EXPECT((b.actuator.tendon = -1, b.actuator.site = 4),
         "actuator 'winch': its site does not exist");
  EXPECT(b.actuator.refsite = 1, "actuator 'winch': has a refsite but no site");
  EXPECT((b.actuator.tendon = -1, b.actuator.joint = 0, b.actuator.refsite = 1),
         "actuator 'winch': has a refsite but no site");
  EXPECT((b.actuator.tendon = -1, b.actuator.cranksite = 1),
         "actuator 'winch': its slidersite does not exist");
  EXPECT((b.actuator.tendon = -1, b.actuator.cranksite = 1, b.actuator.slidersite = 2),
         "actuator 'winch': cranklength must be positive");
  EXPECT((b.actuator.tendon = -1, b.actuator.site = 0, b.actuator.armature = 1),
         "actuator 'winch': armature and damping need a joint or a tendon");
}

// Along a path armature is known to two integrators; the others say so.
static void testArmature(void) {
  const double mass[1] = {1};
  for (int bent = 0; bent < 2; bent++) {
    Slides x = slides(1, mass);
    if (bent) addSites(&x, 0);
    else x.wrap[x.tendon.nwrap++] = (djWrapDef){DJ_WRAP_JOINT, 0, 2};
    x.tendon.name = "rope";
    x.tendon.armature = 0.5;
    djModel* m = modelOf(&x, 1e-3, DJ_BDF1);
    djData* d = makeData(m);
    djStatus status = dj_step(m, d);
    if (bent) {
      assert_int_equal(status, DJ_UNSUPPORTED);
      assert_string_equal(dj_errorText(d), "tendon 'rope': armature along a path: use integrator "
                                           "position or variational");
    } else {
      assert_int_equal(status, DJ_OK);
      assert_true(fabs(d->qvel[0] + 9.81e-3 / 3) < 1e-9);   // inertia 1 + 0.5 2^2
    }
    djt_delete(m, d);
  }
}

DJT_MAIN_ROWS(djt_test(testDerivatives), djt_byTwo(testPulley), djt_byTwo(testFrequency),
              djt_test(testDeadBand), djt_test(testTotal), djt_byTwo(testMomentum),
              djt_test(testDefinitions), djt_test(testArmature))
