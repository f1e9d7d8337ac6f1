// djm_forward, and what djm_step fills besides the state: accelerations, forces, sensors.

#include "common/mj_zoo.h"
#include "common/test.h"
#include "common/worst.h"

#include <dijoco/dijoco.h>

// Largest difference of sensordata over sensors of one stage.
static double stageDifference(const mjModel* m, const mjData* a, const mjData* b, int stage) {
  double worst = 0;
  for (int i = 0; i < m->nsensor; i++) {
    if (m->sensor_needstage[i] != stage) continue;
    for (int k = m->sensor_adr[i]; k < m->sensor_adr[i] + m->sensor_dim[i]; k++) {
      worst = djt_worst(worst, fabs(a->sensordata[k] - b->sensordata[k]));
    }
  }
  return worst;
}

// Without contact: stages of position and velocity are MuJoCo's, accelerations up to O(h).
static void testFree(void) {
  djRng rng = {5};
  double error[2] = {0, 0}, other = 0;
  for (int trial = 0; trial < 20; trial++) {
    mjModel* m = djt_compile(DJT_ZOO);
    m->opt.disableflags |= mjDSBL_CONTACT | mjDSBL_LIMIT;
    m->opt.integrator = trial % 2 ? mjINT_EULER : mjINT_RK4;
    if (trial / 2 % 2) m->opt.enableflags |= mjENBL_ENERGY;
    if (trial / 4 % 2) {   // no sensor asks for energies
      for (int i = 0; i < m->nsensor; i++) {
        int type = m->sensor_type[i];
        bool energy = type == mjSENS_E_POTENTIAL || type == mjSENS_E_KINETIC;
        if (energy) m->sensor_type[i] = mjSENS_CLOCK;
      }
    }
    mjData *d = mj_makeData(m), *e = mj_makeData(m);
    d->energy[0] = d->energy[1] = 7;
    djt_shake(d, &rng, m, 0.3, 0.5);
    d->qpos[2] += 2;
    for (int k = 0; k < 2; k++) {
      m->opt.timestep = k ? 1e-5 : 1e-4;
      mj_copyData(e, m, d);
      mj_forward(m, e);
      djmContext* c = djt_context(m);
      djt_tolerance(c, 1e-6);
      assert_int_equal(djm_forward(m, d, c), DJ_OK);
      for (int i = 0; i < 2; i++) djt_near(d->energy[i], e->energy[i], 0);
      djt_near(stageDifference(m, d, e, mjSTAGE_POS), 0, 0);
      djt_near(stageDifference(m, d, e, mjSTAGE_VEL), 0, 0);
      error[k] = djt_worst(error[k], stageDifference(m, d, e, mjSTAGE_ACC));
      mju_zero(e->sensordata, (int)m->nsensordata);
      other = djt_worst(other, stageDifference(m, d, e, mjSTAGE_ACC));
      djm_deleteContext(c);
    }
    mj_deleteData(d);
    djt_deleteEngine(m, e);
  }
  print_message("accelerations: %.2e, %.2e of %.2e\n", error[0], error[1], other);
  assert_true(error[0] < 0.05 * other && error[1] < 0.15 * error[0]);
}

static const char kBox[] =
    "<mujoco><option timestep='0.002' cone='%s'/><worldbody><geom type='plane' size='1 1 1'/>"
    "<body name='box' pos='.1 -.2 .1'><freejoint/><geom name='box' type='box' size='.1 .1 .1' "
    "mass='3'/><site name='skin' type='box' size='.11 .11 .11'/><site name='left' type='box' "
    "pos='-.1 0 0' size='.05 .2 .2'/><site name='turned' euler='90 0 0'/></body></worldbody>"
    "<sensor><touch site='skin'/><touch site='left'/><accelerometer site='skin'/><accelerometer "
    "site='turned'/><framelinacc objtype='body' objname='box'/><force site='skin'/>"
    "<contact geom1='box' data='found force' reduce='netforce'/><contact body1='box' "
    "data='force pos normal' num='2'/></sensor></mujoco>";

// A box at rest: everything carries its weight, whatever the cone and the substeps.
static void testRest(void) {
  for (int trial = 0; trial < 4; trial++) {
    char text[2000];
    snprintf(text, sizeof(text), kBox, trial % 2 ? "elliptic" : "pyramidal");
    mjModel* m = djt_compile(text);
    mjData* d = mj_makeData(m);
    djmContext* c = djt_context(m);
    djt_tolerance(c, 1e-6);
    djm_stepOption(c)->substeps = trial < 2 ? 1 : 3;
    assert_true(djm_stepOption(c)->sensors);   // there are some
    djm_stepOption(c)->sensors = false;
    for (int k = 0; k < 2000; k++) assert_int_equal(djm_step(m, d, c), DJ_OK);
    const double w = 3 * 9.81, *s = d->sensordata, eps = 1e-4 * w;
    // by djm_step
    for (int i = 0; i < 6; i++) {
      djt_near(d->qfrc_constraint[i], i == 2 ? w : 0, eps);
      djt_near(d->cfrc_ext[6 + i], i == 5 ? w : 0, eps);
      djt_near(d->qacc[i], 0, 1e-4);
    }
    djt_near(s[0], 0, 0);   // sensors were not wanted
    assert_int_equal(djm_forward(m, d, c), DJ_OK);
    static const double expect[] = {1, 0};   // touch
    for (int i = 0; i < 2; i++) djt_near(s[i], expect[i] * w, eps);
    for (int i = 0; i < 3; i++) {
      djt_near(s[2 + i], i == 2 ? 9.81 : 0, 1e-3);   // accelerometer: +g
      djt_near(s[5 + i], i == 1 ? 9.81 : 0, 1e-3);
      djt_near(s[8 + i], i == 2 ? 9.81 : 0, 1e-3);
      djt_near(s[11 + i], 0, eps);                   // nothing holds it
      djt_near(d->cfrc_ext[6 + i], 0, eps);
      djt_near(d->cfrc_ext[9 + i], i == 2 ? w : 0, eps);
    }
    djt_near(s[14], 1, 0);                           // one contact
    djt_near(mju_norm3(s + 15), w, eps);
    djt_near(s[18], w, eps);                         // along the contact's normal
    djt_near(s[23], 0, 1e-3);                        // at the floor
    djt_near(fabs(s[26]), 1, 1e-9);                  // which is vertical
    djm_stepOption(c)->sensors = true;
    mju_zero(d->sensordata, (int)m->nsensordata);
    assert_int_equal(djm_step(m, d, c), DJ_OK);
    djt_near(s[0], w, eps);
    djm_deleteContext(c);
    djt_deleteEngine(m, d);
  }
}

static int noContact(const mjModel* m, mjData* d, int geom1, int geom2) {
  (void)m, (void)d, (void)geom1, (void)geom2;
  return 1;
}

// Contact sensors show our contacts, with the distance of the geoms as they are, whether or not
// MuJoCo has contacts of its own, and whether or not they ask for forces.
static void testContactSensors(void) {
  static const char* const margins[] = {
      "", "<default><geom margin='.01'/></default>",
      "<option o_margin='.02'><flag override='enable'/></option>",
      "<contact><pair geom1='box' geom2='floor' margin='.03'/></contact>",
      "<custom><text name='dijoco_softness' data='mujoco'/>"
      "<numeric name='dijoco_soft_depth/box' data='.01'/></custom>"};
  static const double apart[] = {0, 0.02, 0.02, 0.03, -0.01};
  for (int trial = 0; trial < 10; trial++) {
    char text[2000];
    snprintf(text, sizeof(text),
             "<mujoco>%s<worldbody><geom name='floor' type='plane' size='1 1 1'/><body "
             "pos='0 0 .09'><freejoint/><geom name='box' type='box' size='.1 .1 .05'/></body>"
             "</worldbody><sensor><contact geom1='box' data='found dist'/>"
             "<contact geom1='box' data='found force dist'/></sensor></mujoco>",
             margins[trial / 2]);
    mjModel* m = djt_compile(text);
    assert_int_equal(m->sensor_needstage[0], mjSTAGE_POS);
    mjData* d = mj_makeData(m);
    djmContext* c = djt_context(m);
    mjcb_contactfilter = trial % 2 ? noContact : NULL;
    for (int k = 0; k < 800; k++) assert_true(djm_step(m, d, c) >= 0);
    assert_true(djm_forward(m, d, c) >= 0);
    mjcb_contactfilter = NULL;
    if (trial % 2 && m->npair == 0) assert_int_equal(d->ncon, 0);
    mjtNum fromto[6], distance = mj_geomDistance(m, d, 0, 1, 1, fromto);
    djt_near(distance, apart[trial / 2], 1e-4);
    const double* s = d->sensordata;
    djt_near(s[0], 1, 0);
    djt_near(s[1], distance, 1e-6);
    djt_near(s[2], 1, 0);
    djt_near(s[6], distance, 1e-6);
    djm_deleteContext(c);
    djt_deleteEngine(m, d);
  }
}

// A thousand steps of either engine, then what sensors of ours show at the end.
static void settle(const mjModel* m, mjData* d, mjData* e, djmContext* c) {
  for (int k = 0; k < 1000; k++) {
    assert_true(djm_step(m, d, c) >= 0);
    mj_step(m, e);
  }
  assert_true(djm_forward(m, d, c) >= 0);
}

// Boxes on each other at rest: touch sensors on either body show what MuJoCo's show, by where their
// sites are and how they are turned.
static void testTouch(void) {
  mjModel* m = djt_compile(
      "<mujoco><worldbody><geom type='plane' size='1 1 1'/><body pos='0 0 .1' euler='0 0 90'>"
      "<freejoint/><geom type='box' size='.1 .1 .1' mass='3'/>"
      "<site name='top' pos='0 0 .15' size='.2'/><site "
      "name='bottom' type='box' pos='0 0 -.15' size='.2 .2 .1'/><site name='all' type='box' "
      "size='.3 .3 .3'/><site name='above' type='box' pos='0 .08 .2' size='.2 .01 .2' "
      "euler='90 0 0'/><site name='upright' type='box' pos='0 .08 .2' size='.2 .01 .2'/><site "
      "name='below' type='cylinder' pos='0 .08 -.3' size='.3 .01'/><site name='none' pos='3 0 0' "
      "size='.1'/></body><body pos='0 0 .3'><freejoint/><geom type='box' size='.1 .1 .1' mass='2'/>"
      "<site name='under' pos='0 0 -.2' size='.3 .3 .15' type='ellipsoid'/><site name='over' "
      "pos='0 0 .2' size='.1 .1 .05' type='box'/></body></worldbody><sensor><touch site='top'/>"
      "<touch site='bottom'/><touch site='all'/><touch site='above'/><touch site='upright'/><touch "
      "site='below'/><touch site='none'/><touch site='under'/><touch site='over'/><touch "
      "site='all' cutoff='20'/></sensor></mujoco>");
  mjData *d = mj_makeData(m), *e = mj_makeData(m);
  djmContext* c = djt_context(m);
  settle(m, d, e, c);
  mj_forward(m, e);
  double sum = 0;
  for (int i = 0; i < m->nsensordata; i++) {
    djt_near(d->sensordata[i], e->sensordata[i], 0.02);
    sum += e->sensordata[i];
  }
  // top, above, under: 2 kg; bottom, below: 5 kg; all: 7 kg; its cutoff
  djt_near(sum, (3 * 2 + 2 * 5 + 7) * 9.81 + 20, 0.1);
  djm_deleteContext(c);
  mj_deleteData(d);
  djt_deleteEngine(m, e);
}

// With sensors, djm_step leaves those of its start, where d is (after djm_forward).
static void checkSensorsOfStep(const mjModel* m, const mjData* d, djmContext* c) {
  mjData* e = mj_copyData(NULL, m, d);
  mju_zero(e->sensordata, (int)m->nsensordata);
  djm_stepOption(c)->sensors = true;
  assert_true(djm_step(m, e, c) >= 0);
  djm_stepOption(c)->sensors = false;
  for (int i = 0; i < m->nsensordata; i++) {
    djt_near(e->sensordata[i], d->sensordata[i], 1e-9 * (1 + fabs(d->sensordata[i])));
  }
  for (int i = 0; i < 3 * m->nbody; i++) djt_near(e->xpos[i], d->xpos[i], 0);
  assert_true(e->time > d->time && e->qpos[0] != d->qpos[0]);
  mj_deleteData(e);
}

// A pendulum that hangs on its limit, horizontally, and a ball joint likewise.
static void testLimits(void) {
  mjModel* m = djt_compile(
      "<mujoco><option timestep='.002'/><compiler autolimits='true'/><worldbody>"
      "<body><joint name='hinge' axis='0 1 0' range='-90 0' damping='.1'/><geom size='.1' mass='2' "
      "pos='.5 0 0'/></body>"
      "<body pos='0 2 0'><joint name='ball' type='ball' range='0 20' damping='.1'/><geom size='.1' "
      "mass='2' pos='.5 0 0'/></body></worldbody><sensor><jointlimitfrc joint='hinge'/>"
      "<jointlimitfrc joint='ball'/><jointlimitfrc joint='hinge' cutoff='3'/>"
      "<jointlimitfrc joint='hinge' nsample='4'/></sensor></mujoco>");
  mjData* d = mj_makeData(m);
  djmContext* c = djt_context(m);
  double force[2];
  assert_int_equal(dj_limitForces(force, djm_model(c), djm_data(c)), DJ_INVALID);   // no step yet
  assert_int_equal(dj_limitForces(NULL, djm_model(c), djm_data(c)), DJ_INVALID);
  djt_tolerance(c, 1e-8);
  for (int k = 0; k < 5000; k++) assert_true(djm_step(m, d, c) >= 0);
  assert_true(djm_forward(m, d, c) >= 0);
  const double torque = 2 * 9.81 * 0.5;
  djt_near(d->sensordata[0], torque, 1e-2 * torque);
  djt_near(d->sensordata[1], torque * cos(20 * mjPI / 180), 2e-2 * torque);
  djt_near(d->sensordata[2], 3, 0);
  djt_near(d->sensordata[3], d->sensordata[0], 0);   // a history alone delays nothing
  djm_deleteContext(c);
  djt_deleteEngine(m, d);
}

// A pile in motion: forces, and what follows from them, agree with each other.
static void testForces(void) {
  djRng rng = {6};
  double largest = 0;
  for (int trial = 0; trial < 20; trial++) {
    mjModel* m = djt_compile(DJT_ZOO);
    mjData *d = mj_makeData(m), *e = mj_makeData(m);
    djmContext* c = djt_context(m);
    djm_stepOption(c)->substeps = 1 + trial % 3;
    djt_shake(d, &rng, m, 0.05, 0.5);
    for (int k = 0; k < 30; k++) assert_true(djm_step(m, d, c) >= 0);
    mj_copyData(e, m, d);
    assert_true(djm_forward(m, d, c) >= 0);
    assert_true(djm_step(m, e, c) >= 0);
    int nv = (int)m->nv, nb = (int)m->nbody;
    mjtNum q[100], jacp[300], jacr[300], sum[100] = {0}, wrench[6], f[6];
    for (int i = 0; i < nv; i++) {
      djt_near(d->qacc[i], e->qacc[i], 1e-12 * (1 + fabs(e->qacc[i])));
      djt_near(d->qfrc_constraint[i], e->qfrc_constraint[i], 1e-9);
      largest = djt_worst(largest, fabs(d->qfrc_constraint[i]));
    }
    for (int i = 0; i < 6 * nb; i++) djt_near(d->cfrc_ext[i], e->cfrc_ext[i], 1e-9);
    checkSensorsOfStep(m, d, c);
    // J^T of cfrc_ext = contact + applied
    for (int b = 1; b < nb; b++) {
      const mjtNum *w = d->cfrc_ext + 6 * b, *com = d->subtree_com + 3 * m->body_rootid[b];
      mju_transformSpatial(wrench, w, 1, d->xipos + 3 * b, com, NULL);
      mju_sub3(f, wrench + 3, d->xfrc_applied + 6 * b);
      mju_sub3(f + 3, wrench, d->xfrc_applied + 6 * b + 3);
      mj_jacBodyCom(m, d, jacp, jacr, b);
      mju_mulMatTVec(q, jacp, f, 3, nv);
      mju_addTo(sum, q, nv);
      mju_mulMatTVec(q, jacr, f + 3, 3, nv);
      mju_addTo(sum, q, nv);
    }
    for (int i = 0; i < nv; i++) djt_near(sum[i], d->qfrc_constraint[i], 1e-9);
    djm_deleteContext(c);
    mj_deleteData(d);
    djt_deleteEngine(m, e);
  }
  assert_true(largest > 1);
}

// Substeps are steps of a shorter timestep; forces are their mean.
static void testSubsteps(void) {
  djRng rng = {7};
  mjModel *m = djt_compile(DJT_ZOO), *quarter = mj_copyModel(NULL, m);
  mjData *d = mj_makeData(m), *e = mj_makeData(m);
  djmContext* c = djt_context(m);
  double h = m->opt.timestep;
  quarter->opt.timestep = h / 4;
  djmContext* fine = djt_context(quarter);
  djm_stepOption(c)->substeps = 4;
  djt_shake(d, &rng, m, 0.05, 0.5);
  mj_copyData(e, m, d);
  for (int k = 0; k < 30; k++) {
    mjtNum before[100], force[100] = {0};
    int nv = (int)m->nv;
    mju_copy(before, d->qvel, nv);
    assert_true(djm_step(m, d, c) >= 0);
    for (int i = 0; i < 4; i++) {
      assert_true(djm_step(quarter, e, fine) >= 0);
      mju_addToScl(force, e->cfrc_ext + 6, 0.25, 6 * (int)m->nbody - 6);
    }
    assert_memory_equal(d->qpos, e->qpos, sizeof(mjtNum) * (size_t)m->nq);
    assert_memory_equal(d->qvel, e->qvel, sizeof(mjtNum) * (size_t)nv);
    djt_near(d->time, e->time, 1e-12);
    for (int i = 0; i < nv; i++) {
      djt_near(d->qacc[i], (d->qvel[i] - before[i]) / h, 1e-9);
    }
    double size = mju_norm(force, 3) + 1;
    for (int i = 3; i < 6; i++) djt_near(d->cfrc_ext[12 + i], force[6 + i], 1e-6 * size);
  }
  djm_stepOption(c)->substeps = 0;
  assert_int_equal(djm_step(m, d, c), DJ_INVALID);
  assert_non_null(strstr(djm_errorText(c), "substeps"));
  djm_stepOption(c)->substeps = 1;
  assert_true(djm_step(m, d, c) >= 0);
  djt_near(djm_model(c)->opt.timestep, h, 1e-15);
  djm_deleteContext(c);
  djm_deleteContext(fine);
  mj_deleteData(d);
  djt_deleteEngine(quarter, e);
  mj_deleteModel(m);
}

// What is refused leaves all of mjData as it was. A step writes the documented fields alone.
static void testRefused(void) {
  djRng rng = {8};
  mjModel* m = djt_compile(DJT_ZOO);
  mjModel* other = djt_compile("<mujoco><worldbody><body><joint/><geom size='1'/></body>"
                               "</worldbody></mujoco>");
  mjData* d = mj_makeData(m);
  djmContext* c = djt_context(m);
  djt_shake(d, &rng, m, 0.05, 0.5);
  mj_forward(m, d);
  void* copy = malloc((size_t)d->nbuffer);
  assert_non_null(copy);
  struct {
    mjtNum* at;
    const char* text;
  } bad[] = {{d->qpos + 4, "qpos[4]"}, {d->qvel + 2, "qvel[2]"}, {d->ctrl + 1, "ctrl[1]"},
             {d->act, "act[0]"}, {d->xfrc_applied + 7, "xfrc_applied[7]"}};
  for (int sensors = 0; sensors < 2; sensors++) {
    djm_stepOption(c)->sensors = sensors;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
      mjtNum value = *bad[i].at;
      *bad[i].at = i % 2 ? NAN : INFINITY;
      memcpy(copy, d->buffer, (size_t)d->nbuffer);
      assert_int_equal(djm_step(m, d, c), DJ_INVALID);
      assert_non_null(strstr(djm_errorText(c), bad[i].text));
      assert_int_equal(djm_forward(m, d, c), DJ_INVALID);
      assert_memory_equal(copy, d->buffer, (size_t)d->nbuffer);
      *bad[i].at = value;
    }
  }
  mjData* small = mj_makeData(other);
  assert_int_equal(djm_step(other, small, c), DJ_INVALID);
  assert_non_null(strstr(djm_errorText(c), "another"));
  assert_int_equal(djm_step(m, small, c), DJ_INVALID);
  assert_int_equal(djm_step(m, NULL, c), DJ_INVALID);
  djmContext* none = c;
  djError err;
  assert_int_equal(djm_makeContext(&none, NULL, NULL, &err), DJ_INVALID);
  assert_null(none);
  assert_non_null(strstr(err.text, "no model"));
  assert_int_equal(djm_makeContext(NULL, NULL, m, NULL), DJ_INVALID);
  assert_null(djm_pluginContext(m, NULL));
  assert_false(djm_sensorIsAnalytic(m, -1) || djm_sensorIsAnalytic(m, (int)m->nsensor));
  assert_int_equal(djm_forward(NULL, d, c), DJ_INVALID);
  assert_int_equal(djm_transition(m, d, NULL, NULL, NULL, NULL, NULL), DJ_INVALID);
  mj_deleteData(small);

  struct {
    mjtNum* at;
    int n;
  } written[] = {{d->qpos, (int)m->nq}, {d->qvel, (int)m->nv}, {d->act, (int)m->na},
                 {d->qacc, (int)m->nv}, {d->qacc_warmstart, (int)m->nv},
                 {d->qfrc_constraint, (int)m->nv}, {d->cfrc_ext, 6 * (int)m->nbody}};
  djm_stepOption(c)->sensors = false;
  memcpy(copy, d->buffer, (size_t)d->nbuffer);
  assert_true(djm_step(m, d, c) >= 0);
  assert_string_equal(djm_errorText(c), "");
  assert_memory_not_equal(copy, d->buffer, (size_t)d->nbuffer);
  for (size_t i = 0; i < sizeof(written) / sizeof(*written); i++) {
    size_t offset = (size_t)((char*)written[i].at - (char*)d->buffer);
    memcpy(written[i].at, (char*)copy + offset, (size_t)written[i].n * sizeof(mjtNum));
  }
  assert_memory_equal(copy, d->buffer, (size_t)d->nbuffer);
  free(copy);
  djm_deleteContext(c);
  djt_deleteEngine(m, d);
  mj_deleteModel(other);
}

// djm_forward leaves the inputs and MuJoCo's lists; mj_step works on what it leaves.
static void testRestored(void) {
  djRng rng = {9};
  mjModel* m = djt_compile(DJT_ZOO);
  mjData *d = mj_makeData(m), *e = mj_makeData(m);
  djmContext* c = djt_context(m);
  djt_shake(d, &rng, m, 0.05, 0.5);
  d->qpos[2] -= 0.005;   // into the floor
  mj_copyData(e, m, d);
  mj_forward(m, e);
  assert_true(e->ncon > 0 && e->nefc > 0);
  assert_true(djm_forward(m, d, c) >= 0);
  assert_int_equal(d->ncon, e->ncon);
  assert_int_equal(d->nefc, e->nefc);
  assert_int_equal(d->nl, e->nl);
  assert_int_equal(d->pstack, e->pstack);
  assert_ptr_equal(d->contact, d->arena);
  for (int i = 0; i < d->ncon; i++) {
    mjtNum f[6];
    djt_near(d->contact[i].dist, e->contact[i].dist, 0);
    mj_contactForce(m, d, i, f);
    djt_near(mju_norm(f, 6), 0, 0);
  }
  for (int i = 0; i < 6 * m->nbody; i++) {
    djt_near(d->xfrc_applied[i], e->xfrc_applied[i], 0);
  }
  mj_resetData(m, e);
  int size = mj_stateSize(m, mjSTATE_INTEGRATION);
  mjtNum *x = calloc((size_t)size, sizeof(*x)), *y = calloc((size_t)size, sizeof(*y));
  mj_getState(m, d, x, mjSTATE_INTEGRATION);
  mj_setState(m, e, x, mjSTATE_INTEGRATION);
  mj_step(m, d);
  mj_step(m, e);
  mj_getState(m, d, x, mjSTATE_INTEGRATION);
  mj_getState(m, e, y, mjSTATE_INTEGRATION);
  for (int i = 0; i < size; i++) djt_near(x[i], y[i], 1e-9 * (1 + fabs(y[i])));
  free(x);
  free(y);
  djm_deleteContext(c);
  mj_deleteData(d);
  djt_deleteEngine(m, e);
}

// Sensors of one pair of geoms, in either order, and of pairs that do not touch: MuJoCo's values of
// two boxes at rest, but for how many contacts there are.
static void testContactPairs(void) {
  mjModel* m = djt_compile(
      "<mujoco><option cone='elliptic'/><worldbody><geom name='other' size='.1' pos='3 0 3'/>"
      "<geom name='floor' type='plane' size='1 1 1'/><body pos='0 0 .05'><freejoint/><geom "
      "name='low' type='box' size='.1 .1 .05' mass='2'/></body><body pos='0 0 .13'><freejoint/>"
      "<geom name='high' type='box' size='.05 .05 .03' mass='1'/></body></worldbody><sensor>"
      "<contact geom1='low' geom2='high' data='found force' reduce='netforce'/>"
      "<contact geom1='high' geom2='low' data='found force' reduce='netforce'/>"
      "<contact geom1='low' geom2='floor' data='found force' reduce='netforce'/>"
      "<contact geom1='floor' data='found force' reduce='netforce'/>"
      "<contact geom1='floor' geom2='high' data='found force' reduce='netforce'/>"
      "<contact geom1='other' data='found force' reduce='netforce'/></sensor></mujoco>");
  mjData *d = mj_makeData(m), *e = mj_makeData(m);
  djmContext* c = djt_context(m);
  settle(m, d, e, c);
  int touching = 0;
  for (int i = 0; i < m->nsensor; i++) {
    const mjtNum *s = d->sensordata + m->sensor_adr[i], *t = e->sensordata + m->sensor_adr[i];
    assert_true((s[0] > 0) == (t[0] > 0));
    touching += s[0] > 0;
    for (int k = 1; k < 4; k++) djt_near(s[k], t[k], 0.05);
  }
  assert_int_equal(touching, 4);
  djm_deleteContext(c);
  mj_deleteData(d);
  djt_deleteEngine(m, e);
}

// A callback that leaves MuJoCo's stack in use.
static int failing_stage;
static void failingSensor(const mjModel* m, mjData* d, int stage) {
  (void)m;
  if (stage != failing_stage) return;
  d->pstack += 64;
  d->pbase += 8;
  mju_error("sensor");
}

// An error in a callback, before or while MuJoCo's contacts are hidden, leaves data that can be
// used: nothing stays hidden, and the stack is free.
static void testFailed(void) {
  static const int stages[] = {mjSTAGE_POS, mjSTAGE_VEL, mjSTAGE_ACC};
  mjModel* m = djt_compile(
      "<mujoco><worldbody><geom type='plane' size='1 1 1'/><body pos='0 0 .099'><freejoint/><geom "
      "size='.1'/></body></worldbody><sensor><user dim='1' needstage='pos'/><user dim='1' "
      "needstage='vel'/><user dim='1' needstage='acc'/></sensor></mujoco>");
  for (int k = 0; k < 3; k++) {
    mjData* d = mj_makeData(m);
    djmContext* c = djt_context(m);
    mj_forward(m, d);
    const mjData was = *d;
    assert_true(was.ncon == 1 && was.nefc > 0);
    failing_stage = stages[k];
    mjcb_sensor = failingSensor;
    assert_int_equal(djm_forward(m, d, c), DJ_INVALID);
    mjcb_sensor = NULL;
    assert_non_null(strstr(djm_errorText(c), "sensor"));
    assert_true(d->pstack == was.pstack && d->pbase == was.pbase);
    assert_true(d->ncon == was.ncon && d->nefc == was.nefc && d->nl == was.nl);
    assert_true(d->ne == was.ne && d->nf == was.nf);
    assert_ptr_equal(d->xfrc_applied, was.xfrc_applied);
    assert_ptr_equal(d->contact, was.contact);
    assert_int_equal(d->contact[0].geom[1], 1);
    assert_true(djm_forward(m, d, c) >= 0);
    djm_deleteContext(c);
    mj_deleteData(d);
  }
  mj_deleteModel(m);
}

// What the step has to say is said by djm_forward, too.
static void testStatus(void) {
  mjModel* m = djt_compile(DJT_ZOO);
  mjData* d = mj_makeData(m);
  djmContext* c = djt_context(m);
  djOption option = djm_model(c)->opt;
  option.integrator = DJ_POSITION;
  option.max_iterations = 1;
  djError err;
  assert_int_equal(dj_setOption(djm_model(c), &option, &err), DJ_OK);
  d->qvel[2] = -5;
  assert_int_equal(djm_forward(m, d, c), DJ_NOT_CONVERGED);
  djm_stepOption(c)->sensors = true;
  assert_int_equal(djm_step(m, d, c), DJ_NOT_CONVERGED);
  djm_deleteContext(c);
  djt_deleteEngine(m, d);
}

DJT_MAIN(testFree, testRest, testForces, testTouch, testContactPairs, testFailed, testStatus,
         testLimits, testContactSensors, testSubsteps, testRefused, testRestored)
