// Lengths and moments of tendons, cranks and actuators on sites beside MuJoCo's.

#include "common/make_model.h"
#include "common/mj_zoo.h"
#include "common/random_mjcf.h"
#include "common/test.h"
#include "common/worst.h"
#include "force/site_drive.h"
#include "integrate/work.h"

#include <dijoco/dijoco.h>

// Our scalar coordinates at MuJoCo's state.
typedef struct Both {
  mjModel* m;
  mjData* d;
  djModel* x;
  djData* data;
} Both;

static Both makeBoth(const char* text, djRng* rng) {
  Both b = {.m = djt_compile(text)};
  djError err;
  b.m->opt.disableflags |= mjDSBL_CONTACT;
  b.d = mj_makeData(b.m);
  djt_shake(b.d, rng, b.m, 0.5, 1);
  mj_forward(b.m, b.d);
  if (dj_importMuJoCo(&b.x, NULL, b.m, &err) < 0) fail_msg("%s\n%.9000s", err.text, text);
  if (dj_makeData(&b.data, b.x, &err) < 0) fail_msg("%s", err.text);
  mju_copy(b.data->qpos, b.d->qpos, b.x->nq);
  mju_copy(b.data->qvel, b.d->qvel, b.x->nv);
  mju_copy(b.data->mocap_pos, b.d->mocap_pos, 3 * b.x->nmocap);
  mju_copy(b.data->mocap_quat, b.d->mocap_quat, 4 * b.x->nmocap);
  if (dj_forward(b.x, b.data) < 0) fail_msg("%s", dj_errorText(b.data));
  return b;
}

static void freeBoth(Both* b) {
  djt_delete(b->x, b->data);
  djt_deleteEngine(b->m, b->d);
}

// Largest difference of coordinate c from MuJoCo's length and sparse row of derivatives, over gear.
static double difference(const Both* b, int c, double gear, double length, int nnz, const int* ind,
                         const mjtNum* J) {
  const djModel* x = b->x;
  const djCoordinates* coord = &b->data->work->begin.coord;
  double worst = fabs(gear * coord->x[c] - length);
  mjtNum* row = calloc((size_t)x->nv + 1, sizeof(*row));
  for (int k = 0; k < nnz; k++) row[ind[k]] += J[k];
  for (int k = x->coord_dofadr[c]; k < x->coord_dofadr[c] + x->coord_dofnum[c]; k++) {
    row[x->coord_dof[k]] -= gear * coord->J[k];
  }
  for (int i = 0; i < x->nv; i++) worst = djt_worst(worst, fabs(row[i]));
  free(row);
  return worst;
}

// Per coordinate: how far its derivatives move with a change of the state by 1e-14, read off one of
// 1e-12: what rounding makes of them where a path's segment is short or a crank nearly stretched.
// The state is as before.
static double* rounding(Both* b, djRng* rng) {
  const djModel* x = b->x;
  const djCoordinates* coord = &b->data->work->begin.coord;
  double* out = calloc((size_t)x->ncoord + 1, sizeof(*out));
  double* J = malloc((size_t)x->ncoorddof * sizeof(*J) + 1);
  mjtNum* v = malloc((size_t)x->nv * sizeof(*v) + 1);
  for (int k = 0; k < x->ncoorddof; k++) J[k] = coord->J[k];
  for (int i = 0; i < x->nv; i++) v[i] = djt_uniform(rng, -1e-12, 1e-12);
  mj_integratePos(b->m, b->data->qpos, v, 1);
  if (dj_forward(x, b->data) < 0) fail_msg("%s", dj_errorText(b->data));
  for (int c = 0; c < x->ncoord; c++) {
    for (int k = x->coord_dofadr[c]; k < x->coord_dofadr[c] + x->coord_dofnum[c]; k++) {
      out[c] = djt_worst(out[c], 1e-2 * fabs(J[k] - coord->J[k]));
    }
  }
  mju_copy(b->data->qpos, b->d->qpos, x->nq);
  if (dj_forward(x, b->data) < 0) fail_msg("%s", dj_errorText(b->data));
  free(J);
  free(v);
  return out;
}

static void testLengths(void) {
  djRng rng = {31}, shift = {32};
  double worst = 0;
  int tendons = 0, cranks = 0, pulleys = 0;
  for (int trial = 0; trial < 300; trial++) {
    char* text = djt_randomMjcf(&rng, 1 + trial % 8, DJT_MJCF_TENDONS | DJT_MJCF_MOCAP);
    assert_non_null(text);
    Both b = makeBoth(text, &rng);
    const mjModel* m = b.m;
    const mjData* d = b.d;
    double* slack = rounding(&b, &shift);
    double largest = 0; // beyond what rounding explains
    for (int t = 0; t < m->ntendon; t++) {
      int adr = m->ten_J_rowadr[t];
      int c = b.x->tendon_coord[t];
      double e = difference(&b, c, 1, d->ten_length[t], m->ten_J_rownnz[t], m->ten_J_colind + adr,
                            d->ten_J + adr);
      largest = djt_worst(largest, e - slack[c]);
      largest = djt_worst(largest, fabs(b.x->tendon_length0[t] - m->tendon_length0[t]));
      largest = djt_worst(largest, fabs(b.x->tendon_lengthspring[2 * t] -
                                        m->tendon_lengthspring[2 * t]));
      tendons++;
    }
    for (int k = 0; k < m->nwrap; k++) pulleys += m->wrap_type[k] == mjWRAP_PULLEY;
    for (int i = 0; i < b.x->nu; i++) {
      if (b.x->actuator_crank[2 * i] < 0) continue;
      int out = m->actuator_outadr[i], adr = d->moment_rowadr[out];
      int c = b.x->actuator_coord[i];
      double gear = m->actuator_gear[6 * out];
      double e = difference(&b, c, gear, d->actuator_length[out], d->moment_rownnz[out],
                            d->moment_colind + adr, d->actuator_moment + adr);
      largest = djt_worst(largest, e - fabs(gear) * slack[c]);
      cranks++;
    }
    if (!(largest < 1e-10)) fail_msg("trial %d: %g\n%.9000s", trial, largest, text);
    worst = djt_worst(worst, largest);
    freeBoth(&b);
    free(slack);
    free(text);
  }
  print_message("%d tendons, %d pulleys, %d cranks: largest difference %.2g\n", tendons, pulleys,
                cranks, worst);
  assert_true(tendons > 500 && pulleys > 200 && cranks > 100);
}

static void checkSame(const double* ours, const mjtNum* theirs, int n, const char* what, int t) {
  for (int i = 0; i < n; i++) {
    if (fabs(ours[i] - theirs[i]) <= 1e-14 * (1 + fabs(theirs[i]))) continue;
    fail_msg("tendon %d: %s[%d] is %.17g, not %.17g", t, what, i, ours[i], theirs[i]);
  }
}

static void checkTendon(const djModel* x, const mjModel* m, int t) {
#define SAME(field, n) checkSame(x->tendon_##field + n * t, m->tendon_##field + n * t, n, #field, t)
  SAME(stiffness, 1);
  SAME(stiffnesspoly, 2);
  SAME(damping, 1);
  SAME(dampingpoly, 2);
  SAME(armature, 1);
  SAME(frictionloss, 1);
  SAME(margin, 1);
  SAME(lengthspring, 2);
  SAME(range, 2);
  SAME(actfrcrange, 2);
#undef SAME
  assert_int_equal(x->tendon_limited[t], m->tendon_limited[t]);
  assert_int_equal(x->tendon_actfrclimited[t], m->tendon_actfrclimited[t]);
  double stiffness, damping;
  djm_limitLaw(&stiffness, &damping, m, m->tendon_solref_lim + mjNREF * t,
               m->tendon_solimp_lim + mjNIMP * t);
  checkSame(x->tendon_limit_stiffness + t, &stiffness, 1, "limit_stiffness", t);
  checkSame(x->tendon_limit_damping + t, &damping, 1, "limit_damping", t);
  assert_string_equal(dj_id2name(x, DJ_OBJ_TENDON, t), mj_id2name(m, mjOBJ_TENDON, t));
  assert_int_equal(x->tendon_num[t], m->tendon_num[t]);
  for (int k = 0; k < m->tendon_num[t]; k++) {
    int ours = x->tendon_adr[t] + k, theirs = m->tendon_adr[t] + k;
    assert_int_equal(x->wrap_type[ours], m->wrap_type[theirs]);
    if (m->wrap_type[theirs] != mjWRAP_PULLEY) {
      assert_int_equal(x->wrap_objid[ours], m->wrap_objid[theirs]);
    }
    if (m->wrap_type[theirs] == mjWRAP_SITE) continue;
    checkSame(x->wrap_prm + ours, m->wrap_prm + theirs, 1, "wrap_prm", t);
  }
}

// What an actuator is on, by MuJoCo's trntype.
static void checkTarget(const djModel* x, const mjModel* m, int i) {
  const int type = m->actuator_trntype[i], *id = m->actuator_trnid + 2 * i;
  bool tendon = type == mjTRN_TENDON, site = type == mjTRN_SITE, crank = type == mjTRN_SLIDERCRANK;
  bool live = djm_actuatorLive(m, i);
  assert_int_equal(x->actuator_tendon[i], tendon ? id[0] : -1);
  if (live || tendon) checkSame(x->actuator_gear + 6 * i, m->actuator_gear + 6 * i, 6, "gear", i);
  for (int k = 0; k < 2 && live; k++) {
    assert_int_equal(x->actuator_site[2 * i + k], site ? id[k] : -1);
    assert_int_equal(x->actuator_crank[2 * i + k], crank ? id[k] : -1);
  }
  if (live && crank) {
    checkSame(x->actuator_cranklength + i, m->actuator_cranklength + i, 1, "cranklength", i);
  }
  checkSame(x->actuator_armature + i, m->actuator_armature + i, 1, "armature", i);
  checkSame(x->actuator_damping + i, m->actuator_damping + i, 1, "damping", i);
  checkSame(x->actuator_dampingpoly + 2 * i, m->actuator_dampingpoly + 2 * i, 2, "dampingpoly", i);
}

// Every field of a tendon is MuJoCo's, and so is what actuators are on.
static void testFields(void) {
  djRng rng = {34};
  int margins = 0, limits = 0, targets[4] = {0};
  for (int trial = 0; trial < 100; trial++) {
    char* text = djt_randomMjcf(&rng, 1 + trial % 8, DJT_MJCF_TENDONS);
    assert_non_null(text);
    mjModel* m = djt_compile(text);
    for (int t = 0; t < m->ntendon; t++) {
      m->tendon_solref_lim[mjNREF * t] = djt_uniform(&rng, 0.02, 0.2);
      m->tendon_solimp_lim[mjNIMP * t + 1] = djt_uniform(&rng, 0.9, 0.99);
      margins += m->tendon_limited[t] && m->tendon_margin[t] > 0;
      limits += m->tendon_actfrclimited[t];
    }
    djModel* x = djt_import(NULL, m);
    assert_int_equal(x->ntendon, m->ntendon);
    for (int t = 0; t < x->ntendon; t++) checkTendon(x, m, t);
    for (int i = 0; i < x->nu; i++) {
      checkTarget(x, m, i);
      targets[x->actuator_tendon[i] >= 0 ? 0 : x->actuator_crank[2 * i] >= 0 ? 1 : 2]++;
      targets[3] += x->actuator_site[2 * i + 1] >= 0;
    }
    dj_deleteModel(x);
    mj_deleteModel(m);
    free(text);
  }
  assert_true(margins > 20 && limits > 20);
  for (int k = 0; k < 4; k++) assert_true(targets[k] > 20);
}

// An actuator on a site, where its displacement begins.
static double siteDifference(const Both* b, int i) {
  const djModel* x = b->x;
  const mjData* d = b->d;
  djWork* w = b->data->work;
  djMotion at = dj_motionAt(w, x, &w->begin);
  djSiteDrive drive = dj_siteDrive(&at, i);
  int out = b->m->actuator_outadr[i], adr = d->moment_rowadr[out];
  double worst = fabs(dj_siteLength(&at, i) - d->actuator_length[out]);
  double* row = calloc((size_t)x->nv + 1, sizeof(*row));
  for (int k = 0; k < d->moment_rownnz[out]; k++) {
    row[d->moment_colind[adr + k]] -= d->actuator_moment[adr + k];
  }
  for (int s = 0; s < DJ_NDRIVE; s++) {
    if (drive.body[s] < 0) continue;
    for (int dof = x->body_lastdof[drive.body[s]]; dof >= 0; dof = x->dof_parent[dof]) {
      for (int k = 0; k < 6; k++) row[dof] += w->begin.kin.S[6 * dof + k] * drive.W[s][k];
    }
  }
  for (int k = 0; k < x->nv; k++) worst = djt_worst(worst, fabs(row[k]));
  free(row);
  return worst;
}

static void testSites(void) {
  djRng rng = {33};
  double worst = 0;
  int one = 0, two = 0;
  for (int trial = 0; trial < 200; trial++) {
    char* text = djt_randomMjcf(&rng, 1 + trial % 8, DJT_MJCF_TENDONS | DJT_MJCF_MOCAP);
    assert_non_null(text);
    Both b = makeBoth(text, &rng);
    for (int i = 0; i < b.x->nu; i++) {
      if (b.x->actuator_site[2 * i] < 0) continue;
      double difference = siteDifference(&b, i);
      if (!(difference < 1e-10)) fail_msg("trial %d, %d: %g\n%.9000s", trial, i, difference, text);
      worst = djt_worst(worst, difference);
      if (b.x->actuator_site[2 * i + 1] < 0) one++;
      else two++;
    }
    freeBoth(&b);
    free(text);
  }
  print_message("%d actuators on one site, %d on two: largest difference %.2g\n", one, two, worst);
  assert_true(one > 100 && two > 100);
}

// Beyond the rod's reach.
static void testReach(void) {
  djRng rng = {32};
  int beyond = 0;
  for (int trial = 0; trial < 60; trial++) {
    char text[1500];
    double x = djt_uniform(&rng, -.6, .6), z = djt_uniform(&rng, -.6, .6);
    snprintf(text, sizeof(text),
             "<mujoco><worldbody><site name='c' pos='%.4g .1 %.4g'/><body><joint axis='1 .2 .3'/>"
             "<joint type='slide' axis='0 0 1'/><geom size='.1'/><site name='s' pos='.1 0 .2'/>"
             "</body></worldbody><actuator><motor cranksite='c' slidersite='s' cranklength='.4' "
             "gear='2'/></actuator></mujoco>", x, z);
    Both b = makeBoth(text, &rng);
    double worst = difference(&b, b.x->actuator_coord[0], 2, b.d->actuator_length[0],
                              b.d->moment_rownnz[0], b.d->moment_colind, b.d->actuator_moment);
    if (!(worst < 1e-10)) fail_msg("trial %d: %g\n%s", trial, worst, text);
    mjtNum v[3], local[3];
    mju_sub3(v, b.d->site_xpos + 3 * b.m->actuator_trnid[0],
             b.d->site_xpos + 3 * b.m->actuator_trnid[1]);
    mju_mulMatTVec3(local, b.d->site_xmat + 9 * b.m->actuator_trnid[1], v);
    beyond += local[0] * local[0] + local[1] * local[1] > 0.4 * 0.4;
    freeBoth(&b);
  }
  assert_true(beyond > 5 && beyond < 50);
}

DJT_MAIN(testLengths, testSites, testReach, testFields)
