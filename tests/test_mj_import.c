// The importer against MuJoCo: fields of random models, the pair predicate, kinematics, scene
// settings, load errors, and gymnasium's models.

#include "common/file.h"
#include "common/make_model.h"
#include "common/message.h"
#include "common/mjcf.h"
#include "common/random_mjcf.h"
#include "common/test.h"

#include "contact/contact.h"

#include <dijoco/dijoco.h>

#include <dirent.h>
#include <unistd.h>

static void checkNear(double a, double b, double tolerance, const char* what, int i) {
  djt_failIf(!(fabs(a - b) <= tolerance * (1 + fabs(b))), "%s[%d]: %.17g is not %.17g", what, i, a,
             b);
}

static void checkArray(const double* a, const mjtNum* b, int n, const char* what) {
  for (int i = 0; i < n; i++) checkNear(a[i], b[i], 1e-14, what, i);
}

static void checkInts(const int* a, const int* b, int n, const char* what) {
  for (int i = 0; i < n; i++) {
    if (a[i] != b[i]) fail_msg("%s[%d]: %d is not %d", what, i, a[i], b[i]);
  }
}

static mjModel* randomModel(djRng* rng, int nbody, int features) {
  char* text = djt_randomMjcf(rng, nbody, features);
  assert_non_null(text);
  mjModel* m = djt_compile(text);
  free(text);
  return m;
}

// ------------------------------ fields ----------------------------------------------------------

static void checkBodies(const djModel* x, const mjModel* m) {
  checkInts(x->body_parent, m->body_parentid, x->nbody, "body_parent");
  checkInts(x->body_mocap, m->body_mocapid, x->nbody, "body_mocap");
  checkInts(x->body_jntnum, m->body_jntnum, x->nbody, "body_jntnum");
  checkInts(x->body_dofnum, m->body_dofnum, x->nbody, "body_dofnum");
  checkInts(x->body_dofadr, m->body_dofadr, x->nbody, "body_dofadr");
  checkInts(x->body_geomnum, m->body_geomnum, x->nbody, "body_geomnum");
  checkArray(x->body_pos, m->body_pos, 3 * x->nbody, "body_pos");
  checkArray(x->body_quat, m->body_quat, 4 * x->nbody, "body_quat");
  checkArray(x->body_ipos, m->body_ipos, 3 * x->nbody, "body_ipos");
  checkArray(x->body_iquat, m->body_iquat, 4 * x->nbody, "body_iquat");
  checkArray(x->body_mass, m->body_mass, x->nbody, "body_mass");
  checkArray(x->body_inertia, m->body_inertia, 3 * x->nbody, "body_inertia");
  checkArray(x->body_gravcomp, m->body_gravcomp, x->nbody, "body_gravcomp");
  double mass = 0;
  for (int i = 1; i < m->nbody; i++) mass += m->body_mass[i];
  checkNear(x->total_mass, mass, 1e-12, "total_mass", 0);
}

static void checkJoints(const djModel* x, const mjModel* m) {
  checkInts(x->jnt_type, m->jnt_type, x->njnt, "jnt_type");
  checkInts(x->jnt_body, m->jnt_bodyid, x->njnt, "jnt_body");
  checkInts(x->jnt_qposadr, m->jnt_qposadr, x->njnt, "jnt_qposadr");
  checkInts(x->jnt_dofadr, m->jnt_dofadr, x->njnt, "jnt_dofadr");
  checkInts(x->dof_jnt, m->dof_jntid, x->nv, "dof_jnt");
  checkInts(x->dof_parent, m->dof_parentid, x->nv, "dof_parent");
  checkArray(x->jnt_pos, m->jnt_pos, 3 * x->njnt, "jnt_pos");
  checkArray(x->jnt_axis, m->jnt_axis, 3 * x->njnt, "jnt_axis");
  checkArray(x->jnt_stiffness, m->jnt_stiffness, x->njnt, "jnt_stiffness");
  checkArray(x->jnt_stiffnesspoly, m->jnt_stiffnesspoly, 2 * x->njnt, "jnt_stiffnesspoly");
  checkArray(x->jnt_margin, m->jnt_margin, x->njnt, "jnt_margin");
  checkArray(x->jnt_actfrcrange, m->jnt_actfrcrange, 2 * x->njnt, "jnt_actfrcrange");
  checkArray(x->qpos0, m->qpos0, x->nq, "qpos0");
  checkArray(x->qpos_spring, m->qpos_spring, x->nq, "qpos_spring");
  for (int i = 0; i < x->nv; i++) {
    int j = x->dof_jnt[i];
    checkNear(x->jnt_damping[j], m->dof_damping[i], 0, "damping", i);
    checkArray(x->jnt_dampingpoly + 2 * j, m->dof_dampingpoly + 2 * i, 2, "dampingpoly");
    checkNear(x->jnt_armature[j], m->dof_armature[i], 0, "armature", i);
    checkNear(x->jnt_frictionloss[j], m->dof_frictionloss[i], 0, "frictionloss", i);
  }
  for (int j = 0; j < x->njnt; j++) {
    assert_int_equal(x->jnt_limited[j], m->jnt_limited[j]);
    assert_int_equal(x->jnt_actfrclimited[j], m->jnt_actfrclimited[j]);
    if (m->jnt_limited[j]) checkArray(x->jnt_range + 2 * j, m->jnt_range + 2 * j, 2, "range");
    // static stiffness of MuJoCo's limit beyond the width of solimp
    bool safe = !(m->opt.disableflags & mjDSBL_REFSAFE);
    double s0 = fmax(m->jnt_solref[2 * j], safe ? 2 * m->opt.timestep : 0);
    double s1 = m->jnt_solref[2 * j + 1];
    double d = m->jnt_solimp[5 * j + 1];
    checkNear(x->jnt_limit_stiffness[j], 1 / (s0 * s0 * s1 * s1 * (1 - d)), 1e-12, "limit", j);
    checkNear(x->jnt_limit_damping[j], 2 / (s0 * (1 - d)), 1e-12, "limit damping", j);
  }
}

static void checkGeoms(const djModel* x, const mjModel* m) {
  checkInts(x->geom_type, m->geom_type, x->ngeom, "geom_type");
  checkInts(x->geom_body, m->geom_bodyid, x->ngeom, "geom_body");
  checkInts(x->geom_mesh, m->geom_dataid, x->ngeom, "geom_mesh");
  checkInts(x->geom_contype, m->geom_contype, x->ngeom, "geom_contype");
  checkInts(x->geom_conaffinity, m->geom_conaffinity, x->ngeom, "geom_conaffinity");
  checkInts(x->geom_condim, m->geom_condim, x->ngeom, "geom_condim");
  checkInts(x->geom_priority, m->geom_priority, x->ngeom, "geom_priority");
  for (int i = 0; i < x->ngeom; i++) {
    int type = x->geom_type[i], used = type == DJ_SPHERE ? 1 : type == DJ_CAPSULE ? 2 : 3;
    if (type == DJ_CYLINDER) used = 2;
    checkArray(x->geom_size + 3 * i, m->geom_size + 3 * i, used, "geom_size");
    for (int k = used; k < 3; k++) checkNear(x->geom_size[3 * i + k], 0, 0, "unused size", i);
  }
  checkArray(x->geom_pos, m->geom_pos, 3 * x->ngeom, "geom_pos");
  checkArray(x->geom_quat, m->geom_quat, 4 * x->ngeom, "geom_quat");
  checkArray(x->geom_friction, m->geom_friction, 3 * x->ngeom, "geom_friction");
  for (int i = 0; i < x->ngeom; i++) {   // MuJoCo's gap does not move where contact begins
    checkNear(x->geom_margin[i] - x->geom_gap[i], m->geom_margin[i], 1e-15, "margin", i);
  }
  for (int i = 0; i < x->nmesh; i++) {
    assert_int_equal(x->mesh_vertnum[i], m->mesh_vertnum[i]);
    for (int k = 0; k < 3 * x->mesh_vertnum[i]; k++) {
      double value = x->mesh_vert[3 * x->mesh_vertadr[i] + k];
      checkNear(value, m->mesh_vert[3 * m->mesh_vertadr[i] + k], 0, "mesh_vert", k);
    }
    assert_int_equal(x->mesh_trinum[i], m->mesh_facenum[i]);   // as they are
    const int* tri = x->mesh_tri + 3 * x->mesh_triadr[i];
    assert_memory_equal(tri, m->mesh_face + 3 * m->mesh_faceadr[i],
                        sizeof *tri * 3 * (size_t)x->mesh_trinum[i]);
    // Euler's formula for triangulated hulls; every face's plane has all vertices on one side
    int nface = x->mesh_facenum[i];
    if (m->mesh_graphadr[i] < 0) continue;
    assert_int_equal(nface, 2 * m->mesh_graph[m->mesh_graphadr[i]] - 4);
    const double* v = x->mesh_vert + 3 * x->mesh_vertadr[i];
    for (int f = 0; f < nface; f++) {
      const int* c = x->mesh_face + 3 * (x->mesh_faceadr[i] + f);
      mjtNum e1[3], e2[3], n[3];
      mju_sub3(e1, v + 3 * c[1], v + 3 * c[0]);
      mju_sub3(e2, v + 3 * c[2], v + 3 * c[0]);
      mju_cross(n, e1, e2);
      for (int k = 0; k < x->mesh_vertnum[i]; k++) {
        assert_true(mju_dot3(n, v + 3 * k) - mju_dot3(n, v + 3 * c[0]) < 1e-7);
      }
    }
  }
  checkInts(x->site_body, m->site_bodyid, x->nsite, "site_body");
  checkArray(x->site_pos, m->site_pos, 3 * x->nsite, "site_pos");
  checkArray(x->site_quat, m->site_quat, 4 * x->nsite, "site_quat");
}

static void checkPairs(const djModel* x, const mjModel* m) {
  assert_int_equal(x->npair, m->npair);
  checkInts(x->pair_geom1, m->pair_geom1, x->npair, "pair_geom1");
  checkInts(x->pair_geom2, m->pair_geom2, x->npair, "pair_geom2");
  checkInts(x->pair_condim, m->pair_dim, x->npair, "pair_condim");
  for (int i = 0; i < x->npair; i++) {   // gap: as for geoms
    checkNear(x->pair_margin[i] - x->pair_gap[i], m->pair_margin[i], 1e-15, "pair margin", i);
  }
  assert_int_equal(x->nexclude, m->nexclude);
  for (int i = 0; i < x->nexclude; i++) {
    int a = x->exclude_body1[i], b = x->exclude_body2[i];
    assert_int_equal(m->exclude_signature[i], a < b ? (a << 16) + b : (b << 16) + a);
  }
}

static void checkActuators(const djModel* x, const mjModel* m) {
  checkInts(x->actuator_actadr, m->actuator_actadr, x->nu, "actuator_actadr");
  checkArray(x->actuator_gear, m->actuator_gear, 6 * x->nu, "gear");
  checkArray(x->actuator_armature, m->actuator_armature, x->nu, "armature");
  checkArray(x->actuator_damping, m->actuator_damping, x->nu, "damping");
  checkArray(x->actuator_dampingpoly, m->actuator_dampingpoly, 2 * x->nu, "dampingpoly");
  checkArray(x->actuator_ctrlrange, m->actuator_ctrlrange, 2 * x->nu, "ctrlrange");
  for (int i = 0; i < x->nu; i++) {
    bool on = djm_actuatorLive(m, i), stateful = on && m->actuator_dyntype[i];
    assert_int_equal(x->actuator_joint[i], m->actuator_trnid[2 * i]);
    assert_int_equal(x->actuator_inparent[i], m->actuator_trntype[i] == mjTRN_JOINTINPARENT);
    assert_int_equal(x->actuator_ctrllimited[i], m->actuator_ctrllimited[i]);
    assert_int_equal(x->actuator_forcelimited[i], on && m->actuator_forcelimited[i]);
    assert_int_equal(x->actuator_actlimited[i], stateful && m->actuator_actlimited[i]);
    assert_int_equal(x->actuator_actearly[i], stateful && m->actuator_actearly[i]);
    for (int k = 0; k < 3; k++) {   // those that act
      bool gain = on && (k == 0 || m->actuator_gaintype[i] == mjGAIN_AFFINE);
      bool bias = on && m->actuator_biastype[i] == mjBIAS_AFFINE;
      bool used = k == 0 || x->actuator_gain[i] == DJ_GAIN_AFFINE;
      double g = used ? x->actuator_gainprm[DJ_NPRM * i + k] : 0;
      checkNear(g, gain ? m->actuator_gainprm[mjNGAIN * i + k] : 0, 0, "gain", i);
      double b = x->actuator_bias[i] == DJ_BIAS_AFFINE ? x->actuator_biasprm[DJ_NPRM * i + k] : 0;
      checkNear(b, bias ? m->actuator_biasprm[mjNBIAS * i + k] : 0, 0, "bias", i);
    }
    if (!on) continue;
    assert_int_equal(x->actuator_dyn[i], m->actuator_dyntype[i]);
    checkArray(x->actuator_forcerange + 2 * i, m->actuator_forcerange + 2 * i, 2, "forcerange");
    if (!stateful) continue;
    checkArray(x->actuator_actrange + 2 * i, m->actuator_actrange + 2 * i, 2, "actrange");
    checkNear(x->actuator_tau[i], m->actuator_dynprm[mjNDYN * i], 0, "tau", i);
  }
}

static void checkKeys(const djModel* x, const mjModel* m) {
  assert_int_equal(x->nkey, m->nkey);
  checkArray(x->key_time, m->key_time, x->nkey, "key_time");
  checkArray(x->key_qpos, m->key_qpos, x->nkey * x->nq, "key_qpos");
  checkArray(x->key_qvel, m->key_qvel, x->nkey * x->nv, "key_qvel");
  checkArray(x->key_act, m->key_act, x->nkey * x->na, "key_act");
  checkArray(x->key_ctrl, m->key_ctrl, x->nkey * x->nu, "key_ctrl");
  checkArray(x->key_mpos, m->key_mpos, x->nkey * 3 * x->nmocap, "key_mpos");
  checkArray(x->key_mquat, m->key_mquat, x->nkey * 4 * x->nmocap, "key_mquat");
}

// Flags by their meaning; "constraint" stands for all constraints.
static void checkOption(const djModel* x, const mjModel* m) {
  static const struct {
    int ours, theirs;
    bool constraint;
  } flags[] = {
      {DJ_DSBL_CONTACT, mjDSBL_CONTACT, true},
      {DJ_DSBL_LIMIT, mjDSBL_LIMIT, true},
      {DJ_DSBL_FRICTIONLOSS, mjDSBL_FRICTIONLOSS, true},
      {DJ_DSBL_EQUALITY, mjDSBL_EQUALITY, true},
      {DJ_DSBL_SPRING, mjDSBL_SPRING, false},
      {DJ_DSBL_DAMPER, mjDSBL_DAMPER, false},
      {DJ_DSBL_GRAVITY, mjDSBL_GRAVITY, false},
      {DJ_DSBL_CLAMPCTRL, mjDSBL_CLAMPCTRL, false},
      {DJ_DSBL_FILTERPARENT, mjDSBL_FILTERPARENT, false},
      {DJ_DSBL_ACTUATION, mjDSBL_ACTUATION, false},
  };
  int known = 0, bits = m->opt.disableflags;
  for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
    bool off = (bits & flags[i].theirs) || (flags[i].constraint && (bits & mjDSBL_CONSTRAINT));
    bool none = x->nequality > 0 && x->opt.integrator != DJ_EULER;
    off |= flags[i].ours == DJ_DSBL_EQUALITY && none;
    assert_int_equal((x->opt.disable & flags[i].ours) != 0, off);
    known |= flags[i].ours;
  }
  assert_int_equal(x->opt.disable & ~known, 0);
  checkNear(x->opt.timestep, m->opt.timestep, 0, "timestep", 0);
  checkArray(x->opt.gravity, m->opt.gravity, 3, "gravity");
  checkArray(x->opt.wind, m->opt.wind, 3, "wind");
  checkNear(x->opt.density, m->opt.density, 0, "density", 0);
  checkNear(x->opt.viscosity, m->opt.viscosity, 0, "viscosity", 0);
}

// Names of everything that has one.
static void checkNames(const djModel* x, const mjModel* m) {
  static const struct {
    djObject ours;
    mjtObj theirs;
  } kinds[] = {{DJ_OBJ_BODY, mjOBJ_BODY}, {DJ_OBJ_JOINT, mjOBJ_JOINT}, {DJ_OBJ_GEOM, mjOBJ_GEOM},
               {DJ_OBJ_SITE, mjOBJ_SITE}, {DJ_OBJ_MESH, mjOBJ_MESH},
               {DJ_OBJ_ACTUATOR, mjOBJ_ACTUATOR}, {DJ_OBJ_KEY, mjOBJ_KEY}};
  for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
    for (int i = 0; i < dj_objectCount(x, kinds[k].ours); i++) {
      const char* name = mj_id2name(m, kinds[k].theirs, i);
      assert_string_equal(dj_id2name(x, kinds[k].ours, i), name ? name : "");
    }
  }
}

static void testFields(void) {
  djRng rng = {1};
  for (int trial = 0; trial < 300; trial++) {
    mjModel* m = randomModel(&rng, 1 + trial % 9, DJT_MJCF_ALL);
    int flags = djt_integer(&rng, 1 << 20);
    m->opt.disableflags ^= flags & djt_integer(&rng, 1 << 20);
    for (int j = 0; j < m->njnt; j++) {   // MuJoCo's compiler has no other than the reference
      mjtNum* rest = m->qpos_spring + m->jnt_qposadr[j];
      if (m->jnt_type[j] == mjJNT_BALL) djt_unitQuat(rest, &rng);
      if (m->jnt_type[j] == mjJNT_FREE) djt_unitQuat(rest + 3, &rng);
    }
    djReport* report;
    void* before = malloc((size_t)m->nbuffer);
    assert_non_null(before);
    memcpy(before, m->buffer, (size_t)m->nbuffer);
    djModel* x = djt_import(&report, m);
    assert_memory_equal(before, m->buffer, (size_t)m->nbuffer);   // it is const, all of it
    free(before);
    const int ours[] = {x->nq, x->nv, x->nu, x->na, x->nbody, x->njnt, x->ngeom, x->nmocap};
    const int theirs[] = {(int)m->nq,    (int)m->nv,   (int)m->nu,    (int)m->na,
                          (int)m->nbody, (int)m->njnt, (int)m->ngeom, (int)m->nmocap};
    checkInts(ours, theirs, 8, "sizes");
    checkOption(x, m);
    checkBodies(x, m);
    checkJoints(x, m);
    checkGeoms(x, m);
    checkPairs(x, m);
    checkActuators(x, m);
    checkKeys(x, m);
    checkNames(x, m);
    assert_int_equal(dj_name2id(x, DJ_OBJ_BODY, "world"), 0);
    for (int i = 0; i < report->n; i++) assert_true(report->entry[i].state != DJ_IGNORED);
    dj_deleteReport(report);
    dj_deleteModel(x);
    mj_deleteModel(m);
  }
}

// ------------------------------ pair predicate --------------------------------------------------

// All geoms are spheres within reach of each other, so MuJoCo lists what may collide at all.
static void testPredicate(void) {
  djRng rng = {2};
  long listed = 0, pairs = 0;
  for (int trial = 0; trial < 3000; trial++) {
    mjModel* m = randomModel(&rng, 2 + trial % 5, DJT_MJCF_CONTACT | DJT_MJCF_MOCAP |
                                                       DJT_MJCF_CLUSTER);
    mjData* d = mj_makeData(m);
    djModel* x = djt_import(NULL, m);
    mj_forward(m, d);
    int n = (int)m->ngeom;
    char* seen = calloc(n, n);
    assert_non_null(seen);
    for (int i = 0; i < d->ncon; i++) {
      const int* g = d->contact[i].geom;
      seen[g[0] * n + g[1]] = seen[g[1] * n + g[0]] = 1;
    }
    for (int a = 0; a < n; a++) {
      for (int b = a + 1; b < n; b++) {
        bool has = seen[a * n + b];
        listed += has;
        pairs++;
        if (dj_canCollide(x, a, b) != has) fail_msg("core: geoms %d, %d: MuJoCo %d", a, b, has);
        if (djm_canCollide(m, a, b) != has) fail_msg("import: geoms %d, %d: MuJoCo %d", a, b, has);
      }
    }
    free(seen);
    dj_deleteModel(x);
    djt_deleteEngine(m, d);
  }
  assert_true(listed > pairs / 10 && listed < pairs * 9 / 10);
}

// ------------------------------ kinematics ------------------------------------------------------

static void checkPoses(const djModel* x, djData* data, const mjModel* m, mjData* d) {
  assert_int_equal(dj_forward(x, data), DJ_OK);
  mj_kinematics(m, d);
  for (int i = 0; i < 3 * x->nbody; i++) {
    checkNear(data->xpos[i], d->xpos[i], 1e-12, "xpos", i);
    checkNear(data->xipos[i], d->xipos[i], 1e-12, "xipos", i);
  }
  for (int i = 0; i < 9 * x->nbody; i++) checkNear(data->xmat[i], d->xmat[i], 1e-12, "xmat", i);
  for (int i = 0; i < x->nbody; i++) {
    double dot = mju_dot(data->xquat + 4 * i, d->xquat + 4 * i, 4);
    checkNear(fabs(dot), 1, 1e-14, "xquat", i);
  }
  for (int i = 0; i < 3 * x->ngeom; i++) {
    checkNear(data->geom_xpos[i], d->geom_xpos[i], 1e-12, "geom_xpos", i);
  }
  for (int i = 0; i < 9 * x->ngeom; i++) {
    checkNear(data->geom_xmat[i], d->geom_xmat[i], 1e-12, "geom_xmat", i);
  }
  for (int i = 0; i < 3 * x->nsite; i++) {
    checkNear(data->site_xpos[i], d->site_xpos[i], 1e-12, "site_xpos", i);
  }
}

static void testKinematics(void) {
  djRng rng = {3};
  for (int trial = 0; trial < 200; trial++) {
    mjModel* m = randomModel(&rng, 1 + trial % 9, DJT_MJCF_ALL);
    m->opt.disableflags |= mjDSBL_CONTACT;
    m->opt.enableflags |= mjENBL_ENERGY;
    mjData* d = mj_makeData(m);
    djModel* x = djt_import(NULL, m);
    djData* data = djt_data(x);
    for (int i = 0; i < m->nq; i++) d->qpos[i] = djt_uniform(&rng, -1, 1);   // not normalised
    for (int i = 0; i < m->nv; i++) d->qvel[i] = djt_uniform(&rng, -1, 1);
    for (int i = 0; i < 3 * m->nmocap; i++) d->mocap_pos[i] = djt_uniform(&rng, -1, 1);
    for (int i = 0; i < 4 * m->nmocap; i++) d->mocap_quat[i] = djt_uniform(&rng, -1, 1);
    mju_copy(data->qpos, d->qpos, x->nq);
    mju_copy(data->qvel, d->qvel, x->nv);
    mju_copy(data->mocap_pos, d->mocap_pos, 3 * x->nmocap);
    mju_copy(data->mocap_quat, d->mocap_quat, 4 * x->nmocap);
    checkPoses(x, data, m, d);
    mj_forward(m, d);
    checkNear(data->energy[0], d->energy[0], 1e-11, "potential energy", trial);
    checkNear(data->energy[1], d->energy[1], 1e-11, "kinetic energy", trial);
    djt_delete(x, data);
    djt_deleteEngine(m, d);
  }
}

// ------------------------------ settings --------------------------------------------------------

#define SCENE(custom) "<mujoco><custom>" custom "</custom><worldbody><geom type='plane' " \
  "size='1 1 1'/><body pos='0 0 1'><freejoint/><geom size='.1'/></body></worldbody></mujoco>"

static void testSettings(void) {
  mjModel* m = djt_compile(SCENE(
      "<numeric name='dijoco_support' data='0.003'/><numeric name='dijoco_stiffness' data='1e-3'/>"
      "<numeric name='dijoco_skin' data='0'/><numeric name='dijoco_friction_eps' data='1e-8'/>"
      "<numeric name='dijoco_tolerance' data='1e-6'/><numeric name='dijoco_length_scale' data='2'/>"
      "<numeric name='dijoco_gravity_ramp' data='1.5'/><numeric name='other' data='1 2 3'/>"
      "<text name='dijoco_overlap' data='error'/><text name='dijoco_friction_cap' data='paper'/>"));
  djModel* x = djt_import(NULL, m);
  checkNear(x->opt.support, 0.003, 0, "support", 0);
  checkNear(x->opt.stiffness, 1e-3, 0, "stiffness", 0);
  checkNear(x->opt.skin, 0, 0, "skin", 0);
  checkNear(x->opt.friction_eps, 1e-8, 0, "friction_eps", 0);
  checkNear(x->opt.tolerance, 1e-6, 0, "tolerance", 0);
  checkNear(x->opt.length_scale, 2, 0, "length_scale", 0);
  checkNear(x->opt.gravity_ramp, 1.5, 0, "gravity_ramp", 0);
  assert_int_equal(x->opt.overlap, DJ_OVERLAP_ERROR);
  assert_int_equal(x->opt.friction_cap, DJ_CAP_PAPER);
  dj_deleteModel(x);
  mj_deleteModel(m);

  static const struct {
    const char *text, *error;
  } bad[] = {
      {SCENE("<numeric name='dijoco_suport' data='0.003'/>"),
       "numeric/dijoco_suport: there is no such setting"},
      {SCENE("<numeric name='dijoco_skin' data='0 1'/>"),
       "numeric/dijoco_skin: one number is expected"},
      {SCENE("<numeric name='dijoco_overlap' data='2'/>"),
       "numeric/dijoco_overlap: unknown value '2'"},
      {SCENE("<text name='dijoco_contact' data='soft'/>"),
       "text/dijoco_contact: unknown value 'soft'"},
      {SCENE("<numeric name='dijoco_max_iterations' data='1.5'/>"),
       "numeric/dijoco_max_iterations: must be a whole number"},
      {SCENE("<numeric name='dijoco_gravity_ramp' data='-1'/>"),
       "numeric/dijoco_gravity_ramp: must not be negative"},
  };
  for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
    mjModel* wrong = djt_compile(bad[i].text);
    djReport* report;
    djError err;
    assert_int_equal(dj_importMuJoCo(&x, &report, wrong, &err), DJ_INVALID);
    assert_null(x);
    assert_null(report);
    assertMessage(err.text, bad[i].error);
    mj_deleteModel(wrong);
  }
}

// ------------------------------ files -----------------------------------------------------------

static void testLoad(void) {
  static const struct {
    const char *file, *text, *part;
  } bad[] = {
      {"import_none.xml", NULL, "cannot open the file"},
      {"import_none.mjb", NULL, "cannot open the file"},
      {"import_bad.xml", "<mujoco><worldbody><geom size='1' foo='2'/></worldbody></mujoco>",
       "'foo'"},
      {"import_bad.xml", "<mujoco><worldbody><include file='gone.xml'/></worldbody></mujoco>",
       "gone.xml"},
      {"import_bad.xml", "<mujoco><asset><mesh name='m' file='nope.stl'/></asset><worldbody>"
       "<geom type='mesh' mesh='m'/></worldbody></mujoco>", "nope.stl"},
      {"import_bad.xml",
       "<mujoco><worldbody><body name='thing'><joint/></body></worldbody></mujoco>", "thing"},
      {"import_bad.xml", "", "empty"},
      {"import_bad.xml", "<mujoco", "XML"},
      {"import_bad.mjb", "junk", "header"},
  };
  djModel* x;
  djReport* report;
  mjModel* stock;
  djError err;
  char folder[] = "import_XXXXXX";   // of its own: other tests make MuJoCo write its log
  assert_non_null(mkdtemp(folder));
  assert_int_equal(chdir(folder), 0);
  for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
    remove(bad[i].file);
    if (bad[i].text) djt_writeText(bad[i].file, bad[i].text);
    djStatus status = dj_loadMJCF(&x, &report, &stock, bad[i].file, &err);
    assert_true(status < 0);
    assert_true(!x && !report && !stock);
    if (!strstr(err.text, bad[i].part)) fail_msg("'%s' in: %s", bad[i].part, err.text);
    if (strpbrk(err.text, "\r\n")) fail_msg("more than one line: %s", err.text);
    remove(bad[i].file);
  }
  djt_writeText("import_good.xml", SCENE(""));
  assert_int_equal(dj_loadMJCF(&x, &report, &stock, "import_good.xml", &err), DJ_OK);
  mj_saveModel(stock, "import_good.mjb", NULL, 0);
  dj_deleteModel(x);
  dj_deleteReport(report);
  mj_deleteModel(stock);
  assert_int_equal(dj_loadMJCF(&x, NULL, NULL, "import_good.mjb", &err), DJ_OK);
  assert_int_equal(x->nq, 7);
  dj_deleteModel(x);
  remove("import_good.xml");
  remove("import_good.mjb");
  FILE* log = fopen("MUJOCO_LOG.TXT", "r");
  assert_null(log);
  assert_int_equal(chdir(".."), 0);
  assert_int_equal(rmdir(folder), 0);
}

// Imports, or is refused with a line that names the element.
static void testGymnasium(void) {
  const char* folder = djt_robotFolder();
  DIR* dir = opendir(folder);
  int n = 0;
  if (!dir) fail_msg("%s: cannot be read", folder);
  for (struct dirent* entry; (entry = readdir(dir));) {
    const char* ending = strrchr(entry->d_name, '.');
    if (!ending || strcmp(ending, ".xml") != 0) continue;
    char path[2000];
    snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
    djModel* x;
    djReport* report;
    mjModel* m;
    djError err;
    if (dj_loadMJCF(&x, &report, &m, path, &err) != DJ_OK) fail_msg("%s: %s", path, err.text);
    assert_int_equal(x->nv, m->nv);
    int ignored = 0;
    for (int i = 0; i < report->n; i++) {
      assert_true(report->entry[i].element[0] && report->entry[i].feature[0]);
      assert_true(report->entry[i].note[0]);
      ignored += report->entry[i].state == DJ_IGNORED;
    }
    assert_true((ignored > 0) == (report->state == DJ_IGNORED));
    dj_deleteReport(report);
    dj_deleteModel(x);
    mj_deleteModel(m);
    n++;
  }
  closedir(dir);
  assert_int_equal(n, 14);
}

DJT_MAIN(testFields, testPredicate, testKinematics, testSettings, testLoad, testGymnasium)
