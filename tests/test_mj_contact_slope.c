// djm_contactSlopes against differences, for each pair of geom types, in random poses and in poses
// whose frames are aligned but for quarter turns and a tilt. Where MuJoCo's function of the pair is
// exact to rounding they are fourth-order differences of mj_collision's contacts; where it iterates
// (curved surfaces), of the extreme of the distance next to them, and wide ones of mj_collision.

#include "derivative/contact_part.h"
#include "derivative/contact_slope.h"

#include "common/mjcf.h"
#include "common/random.h"
#include "common/test.h"

enum { MAXCON = 32, POSES = 60, NROW = 7 };

// A mocap body and a free one, with a geom each.
static const char SCENE[] =
    "<mujoco><option ccd_tolerance='1e-12' ccd_iterations='200'/><asset>"
    "<mesh name='rock' vertex='-.3 -.2 -.25 .35 -.25 -.2 .3 .3 -.25 -.25 .25 -.3 -.2 -.15 .2 .25 "
    "-.2 .25 .2 .22 .3 -.3 .3 .2 .05 .02 .45'/>"
    "<mesh name='crate' vertex='-.3 -.2 -.25 .3 -.2 -.25 .3 .2 -.25 -.3 .2 -.25 -.3 -.2 .25 .3 -.2 "
    ".25 .3 .2 .25 -.3 .2 .25'/>"
    "<hfield name='bumps' nrow='4' ncol='4' size='1 1 .3 .1' elevation='0 .3 .1 .5 .4 1 .7 .2 .1 "
    ".6 .9 .3 .5 .2 .4 .8'/></asset><worldbody><body name='a' mocap='true'><geom name='a' %s "
    "margin='%g' pos='.05 -.1 .02' euler='10 20 30'/></body><body name='b'><freejoint/>"
    "<geom name='b' %s pos='-.03 .07 .04' euler='-40 10 5'/>"
    "<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/></body></worldbody></mujoco>";

#define PLANE "type='plane' size='5 5 .1'"
#define FIELD "type='hfield' hfield='bumps'"
#define SPHERE "type='sphere' size='.3'"
#define CAPSULE "type='capsule' size='.1 .35'"
#define ELLIPSOID "type='ellipsoid' size='.2 .3 .4'"
#define CYLINDER "type='cylinder' size='.25 .3'"
#define BOX "type='box' size='.2 .3 .25'"
#define LONG_BOX "type='box' size='.35 .15 .5'"
#define FLAT_BOX "type='box' size='.5 .6 .2'"
#define ROCK "type='mesh' mesh='rock'"
#define CRATE "type='mesh' mesh='crate'"

typedef struct Case {
  const char *a, *b;
} Case;

// What was compared: contacts by feature, those left out, largest errors; with which a slope
// without the spin about the normal, one whose point goes with the second body, would have passed.
typedef struct Count {
  int feature[DJM_NFEATURE], left, contacts;
  double worst, no_spin, rigid;
} Count;

// ---- motion -----------------------------------------------------------------------------------

typedef struct Pose {
  mjtNum pos[2][3], quat[2][4];
} Pose;

static void setPose(const mjModel* m, mjData* d, const Pose* p) {
  mju_copy3(d->mocap_pos, p->pos[0]);
  mju_copy4(d->mocap_quat, p->quat[0]);
  mju_copy3(d->qpos, p->pos[1]);
  mju_copy4(d->qpos + 3, p->quat[1]);
  mj_kinematics(m, d);
  mj_comPos(m, d);
  mj_collision(m, d);
}

// By h along column k of the twists, about the point `at`; first: the body of geom[0].
static Pose movePose(const Pose* p, int k, mjtNum h, const mjtNum at[3], int first) {
  Pose q = *p;
  int body = k < 6 ? first : 1 - first;
  k %= 6;
  if (k >= 3) {
    q.pos[body][k - 3] += h;
    return q;
  }
  mjtNum axis[3] = {k == 0, k == 1, k == 2}, turn[4], r[3];
  mju_axisAngle2Quat(turn, axis, h);
  mju_mulQuat(q.quat[body], turn, p->quat[body]);
  mju_sub3(r, p->pos[body], at);
  mju_rotVecQuat(q.pos[body], r, turn);
  mju_addTo3(q.pos[body], at);
  return q;
}

static mjtNum deepest(const mjData* d) {
  mjtNum x = 1;
  for (int i = 0; i < d->ncon; i++) x = fmin(x, d->contact[i].dist);
  return x;
}

// The second geom's frame is that of the first but for a quarter turn and a tilt; it comes along z.
static void align(Pose* p, mjtNum dir[3], const mjModel* m, djRng* rng) {
  mjtNum turn[4], tilt[4], world[4], quat[4], back[4], axis[3], aside[3];
  mjtNum z[3] = {0, 0, 1}, small = pow(10, djt_uniform(rng, -2.5, -0.7));
  int quarter = djt_integer(rng, 3);
  mjtNum other[3] = {quarter == 0, quarter == 1, 0};
  mju_axisAngle2Quat(turn, other, quarter < 2 ? mjPI / 2 : 0);
  djt_unitVector(axis, rng);
  mju_axisAngle2Quat(tilt, axis, small);
  mju_mulQuat(world, p->quat[0], m->geom_quat);
  mju_mulQuat(quat, world, tilt);
  mju_mulQuat(quat, quat, turn);
  mju_negQuat(back, m->geom_quat + 4);
  mju_mulQuat(p->quat[1], quat, back);
  mju_rotVecQuat(dir, z, world);
  djt_unitVector(aside, rng);
  mju_addToScl3(dir, aside, 0.2);
}

// Geoms that overlap by depth (or are apart, within a margin), from afar along a direction.
static bool touch(Pose* p, const mjModel* m, mjData* d, djRng* rng, mjtNum depth, bool aligned) {
  mjtNum dir[3], far = 3, near = 0;
  bool flat = m->geom_type[0] == mjGEOM_PLANE || m->geom_type[0] == mjGEOM_HFIELD;
  for (int k = 0; k < 2; k++) {
    djt_unitQuat(p->quat[k], rng);
    mju_zero3(p->pos[k]);
  }
  djt_unitVector(dir, rng);
  if (aligned) {
    align(p, dir, m, rng);
  } else if (flat) {
    mjtNum world[4], z[3] = {0, 0, 1};
    mju_mulQuat(world, p->quat[0], m->geom_quat);
    mju_rotVecQuat(dir, z, world);
  }
  for (int i = 0; i < 45; i++) {
    mjtNum mid = 0.5 * (far + near);
    mju_scl3(p->pos[1], dir, mid);
    setPose(m, d, p);
    if (d->ncon && deepest(d) < -depth)
      near = mid;
    else
      far = mid;
  }
  mju_scl3(p->pos[1], dir, near);
  setPose(m, d, p);
  return d->ncon > 0 && d->ncon <= MAXCON;
}

// ---- differences ------------------------------------------------------------------------------

typedef struct Numbers {
  mjtNum dist, pos[3], frame[9];
} Numbers;

// Contact i as MuJoCo has it, or the extreme next to it.
static bool readNumbers(Numbers* x, const mjModel* m, const mjData* d, int i, bool ideal) {
  const mjContact* con = &d->contact[i];
  x->dist = con->dist;
  mju_copy3(x->pos, con->pos);
  mju_copy(x->frame, con->frame, 9);
  if (!ideal) return true;
  djmPatch A, B;
  djmTouch t = djm_touch(m, d, con);
  if (!djm_extremeNextTo(&A, &B, x->frame, x->pos, &x->dist, m, &t, 1)) return false;
  mju_zero(x->frame + 3, 6);
  x->frame[fabs(x->frame[1]) < 0.5 ? 4 : 5] = 1;
  mju_addToScl3(x->frame + 3, x->frame, -mju_dot3(x->frame, x->frame + 3));
  mju_normalize3(x->frame + 3);
  mju_cross(x->frame + 6, x->frame, x->frame + 3);
  return true;
}

// The contact that is next to a point.
static int nextTo(const mjData* d, const mjtNum pos[3]) {
  int best = 0;
  for (int i = 1; i < d->ncon; i++) {
    if (mju_dist3(d->contact[i].pos, pos) < mju_dist3(d->contact[best].pos, pos)) best = i;
  }
  return best;
}

// How the differences are taken; of MuJoCo's search, where they are not 0: its tolerance, and how
// many iterations it has.
typedef struct Way {
  mjtNum h;
  bool ideal;
  mjtNum tolerance;
  int iterations;
} Way;

// Column k of the slope of contact i of con (n) by differences: dist, pos, turn; false: other
// contacts.
static bool derive(mjtNum out[NROW], const mjModel* m, mjData* d, const Pose* p,
                   const mjContact* con, int i, int n, int k, mjtNum h, bool ideal) {
  static const int step[4] = {-2, -1, 1, 2}, weight[4] = {1, -8, 8, -1};
  int first = con[0].geom[0] == 0 ? 0 : 1;
  mjtNum sum[13] = {0};
  Numbers base;
  setPose(m, d, p);
  if (!readNumbers(&base, m, d, i, ideal)) return false;
  for (int s = 0; s < 4; s++) {
    Pose q = movePose(p, k, h * step[s], con[i].pos, first);
    Numbers x;
    setPose(m, d, &q);
    int at = d->ncon == n ? nextTo(d, con[i].pos) : -1;
    if (at < 0 || !readNumbers(&x, m, d, at, ideal)) return false;
    if (mju_dist3(x.pos, base.pos) > 0.01 + 100 * h) return false;
    for (int r = 0; r < 3; r++) {
      if (mju_dist3(x.frame + 3 * r, base.frame + 3 * r) > 0.01 + 100 * h) return false;
    }
    for (int r = 0; r < 13; r++) sum[r] += weight[s] * (&x.dist)[r] / (12 * h);
  }
  mju_copy(out, sum, 4);
  mju_zero3(out + 4);
  for (int r = 0; r < 3; r++) {
    mjtNum turn[3];
    mju_cross(turn, base.frame + 3 * r, sum + 4 + 3 * r);
    mju_addToScl3(out + 4, turn, 0.5);
  }
  return true;
}

static void column(mjtNum out[NROW], const djmContactSlope* s, int k) {
  out[0] = s->dist[k];
  for (int i = 0; i < 3; i++) {
    out[1 + i] = s->pos[i][k];
    out[4 + i] = s->turn[i][k];
  }
}

typedef struct Errors {
  mjtNum worst, noise, size, no_spin, rigid;
} Errors;

static bool compare(Errors* e, const mjModel* m, mjData* d, const Pose* p, const mjContact* con,
                    const djmContactSlope* slope, int i, int n, Way way) {
  *e = (Errors){.size = 1};
  for (int k = 0; k < 12; k++) {
    mjtNum wide[NROW], fine[NROW], x[NROW];
    if (!derive(wide, m, d, p, con, i, n, k, 2 * way.h, way.ideal)) return false;
    if (!derive(fine, m, d, p, con, i, n, k, way.h, way.ideal)) return false;
    column(x, &slope[i], k);
    mjtNum spin = mju_dot3(x + 4, con[i].frame);
    for (int r = 0; r < NROW; r++) {
      e->size = fmax(e->size, fabs(wide[r]));
      e->noise = fmax(e->noise, fabs(wide[r] - fine[r]));
      e->worst = fmax(e->worst, fabs(x[r] - wide[r]));
      if (r > 3) e->no_spin = fmax(e->no_spin, fabs(x[r] - spin * con[i].frame[r - 4] - wide[r]));
      if (r > 0 && r < 4) e->rigid = fmax(e->rigid, fabs((k == 8 + r) - wide[r]));
    }
  }
  return true;
}

static void checkPose(Count* count, const mjModel* m, mjData* d, const Pose* p, Way way) {
  mjContact con[MAXCON];
  djmContactSlope slope[MAXCON];
  setPose(m, d, p);
  int n = d->ncon;
  memcpy(con, d->contact, (size_t)n * sizeof(mjContact));
  assert_int_equal(djm_contactSlopes(slope, m, d, con, n), DJ_OK);
  for (int i = 0; i < n; i++) {
    Errors e;
    count->contacts++;
    count->feature[slope[i].feature]++;
    bool clipped = slope[i].feature == DJM_FEATURE_CLIPPED;  // is no extreme
    if ((clipped && way.ideal) || !compare(&e, m, d, p, con, slope, i, n, way) ||
        e.noise > 1e-6 * e.size) {
      count->left++;
      continue;
    }
    count->worst = fmax(count->worst, e.worst / e.size);
    count->no_spin = fmax(count->no_spin, e.no_spin / e.size);
    count->rigid = fmax(count->rigid, e.rigid / e.size);
  }
}

static void compileCase(mjModel** m, mjData** d, const Case* c, double margin) {
  char text[4000];
  snprintf(text, sizeof text, SCENE, c->a, margin, c->b);
  *m = djt_compile(text);
  *d = mj_makeData(*m);
}

static Count checkCase(const Case* c, double margin, mjtNum most, Way way) {
  mjModel* m;
  mjData* d;
  Count count = {0};
  djRng rng = {7};
  compileCase(&m, &d, c, margin);
  if (way.tolerance > 0) m->opt.ccd_tolerance = way.tolerance;
  if (way.iterations) m->opt.ccd_iterations = way.iterations;
  for (int i = 0; i < 2 * POSES; i++) {
    Pose p;
    mjtNum depth = pow(10, djt_uniform(&rng, log10(most) - 2, log10(most)));
    if (margin > 0 && i % 3 == 0) depth = -0.5 * margin;
    if (touch(&p, m, d, &rng, depth, i >= POSES)) checkPose(&count, m, d, &p, way);
  }
  print_message("  %-20.20s %-20.20s worst %.1e, %d left of %d:", c->a, c->b, count.worst,
                count.left, count.contacts);
  for (int f = 0; f < DJM_NFEATURE; f++) {
    if (count.feature[f]) {
      print_message(" %s %d", djm_featureName((djmFeature)f), count.feature[f]);
    }
  }
  print_message("\n");
  djt_deleteEngine(m, d);
  return count;
}

// ---- tests ------------------------------------------------------------------------------------

// Pairs whose functions are exact. Bounds: errors; of all contacts those left out; differences.
static void testExact(void) {
  static const Case cases[] = {
      {PLANE, SPHERE},   {PLANE, CAPSULE},   {PLANE, ELLIPSOID},  {PLANE, CYLINDER},
      {PLANE, BOX},      {PLANE, ROCK},      {PLANE, CRATE},      {SPHERE, SPHERE},
      {SPHERE, CAPSULE}, {SPHERE, CYLINDER}, {SPHERE, BOX},       {CAPSULE, CAPSULE},
      {CAPSULE, BOX},    {BOX, BOX},         {LONG_BOX, BOX},     {SPHERE, ROCK},
      {CAPSULE, ROCK},   {BOX, ROCK},        {BOX, CRATE},        {ROCK, CRATE},
      {CRATE, CRATE},    {BOX, CAPSULE},     {LONG_BOX, CAPSULE}, {CRATE, CAPSULE},
  };
  for (int i = 0; i < (int)(sizeof cases / sizeof cases[0]); i++) {
    Count x = checkCase(&cases[i], 0, 0.03, (Way){.h = 1e-5, .ideal = false});
    assert_true(x.worst < 2e-7);
    assert_true(x.contacts >= POSES && x.left <= x.contacts / 10);
    assert_true(x.feature[DJM_FEATURE_DIFFERENCES] <= x.contacts / 50);
    assert_int_equal(x.feature[DJM_FEATURE_KINK], 0);
    assert_true(x.no_spin > 1e-3 && x.rigid > 1e-3);  // what is wrong fails
  }
}

// With a margin: pairs that are apart, too. Only functions of their own are exact then.
static void testMargin(void) {
  static const Case cases[] = {
      {PLANE, CAPSULE}, {PLANE, CYLINDER}, {PLANE, CRATE}, {SPHERE, CYLINDER},
      {SPHERE, BOX},    {CAPSULE, BOX},    {BOX, BOX},     {CAPSULE, CAPSULE},
  };
  for (int i = 0; i < (int)(sizeof cases / sizeof cases[0]); i++) {
    Count x = checkCase(&cases[i], 0.02, 0.03, (Way){.h = 1e-5, .ideal = false});
    assert_true(x.worst < 2e-7);
    assert_true(x.left <= x.contacts / 10);
    assert_true(x.feature[DJM_FEATURE_DIFFERENCES] <= x.contacts / 100);
    assert_int_equal(x.feature[DJM_FEATURE_KINK], 0);
  }
}

// Pairs that MuJoCo iterates for: slopes of the extreme itself.
static void testCurved(void) {
  static const Case cases[] = {
      {SPHERE, ELLIPSOID},   {CAPSULE, ELLIPSOID}, {CAPSULE, CYLINDER}, {ELLIPSOID, ELLIPSOID},
      {ELLIPSOID, CYLINDER}, {ELLIPSOID, BOX},     {ELLIPSOID, ROCK},
  };
  for (int i = 0; i < (int)(sizeof cases / sizeof cases[0]); i++) {
    Count x = checkCase(&cases[i], 0, 0.03, (Way){.h = 1e-4, .ideal = true});
    assert_true(x.worst < 3e-5);  // MuJoCo's normal is that of the extreme to 1e-6
    assert_true(x.left <= x.contacts / 5);
    assert_true(x.feature[DJM_FEATURE_DIFFERENCES] <= x.contacts / 50);
    assert_int_equal(x.feature[DJM_FEATURE_KINK], 0);
  }
}

// Deep in each other, with MuJoCo's own tolerance, 1e-6: its points and normals are 1e-3 off, and
// the extreme is found next to them.
static void testDeep(void) {
  static const Case cases[] = {
      {CAPSULE, CYLINDER}, {CAPSULE, ELLIPSOID}, {SPHERE, ELLIPSOID}, {ELLIPSOID, ELLIPSOID}};
  for (int i = 0; i < (int)(sizeof cases / sizeof cases[0]); i++) {
    Count x = checkCase(&cases[i], 0, 0.2, (Way){.h = 1e-4, .ideal = true, .tolerance = 1e-6});
    assert_int_equal(x.feature[DJM_FEATURE_KINK], 0);
    assert_true(x.feature[DJM_FEATURE_DIFFERENCES] <= x.contacts / 20);
    assert_true(x.worst < 5e-3);   // as far as MuJoCo's point is from the extreme's
  }
}

// Searches that end by their number of iterations, far from the extreme: what MuJoCo finds is a
// function of the poses all the same.
static void testUnfinished(void) {
  static const Case shapes = {SPHERE, ELLIPSOID};
  Count x = checkCase(&shapes, 0.02, 0.2, (Way){.h = 1e-6, .tolerance = 1e-15, .iterations = 12});
  assert_true(x.worst < 1e-5);
  assert_true(x.contacts - x.left > 20);
  assert_true(x.feature[DJM_FEATURE_DIFFERENCES] > 20);
  assert_true(x.feature[DJM_FEATURE_KINK] < 3);
}

// Cylinders against what has faces: clipped polygons are exact, rims to what iterations leave.
static void testCylinders(void) {
  static const Case cases[] = {
      {CYLINDER, CYLINDER}, {CYLINDER, BOX}, {CYLINDER, ROCK}, {BOX, CYLINDER}, {CRATE, CYLINDER}};
  for (int i = 0; i < (int)(sizeof cases / sizeof cases[0]); i++) {
    Count x = checkCase(&cases[i], 0, 0.03, (Way){.h = 1e-5, .ideal = false});
    assert_true(x.worst < 3e-3);
    assert_true(x.feature[DJM_FEATURE_CLIPPED] > 0);
    assert_true(x.feature[DJM_FEATURE_DIFFERENCES] <= x.contacts / 20);
    // without what is clipped
    Count rims = checkCase(&cases[i], 0, 0.03, (Way){.h = 1e-4, .ideal = true});
    assert_true(rims.worst < 3e-5 && rims.contacts - rims.left > 20);
  }
}

static void testField(void) {
  static const Case cases[] = {{FIELD, SPHERE}, {FIELD, BOX}};
  for (int i = 0; i < 2; i++) {
    Count x = checkCase(&cases[i], 0, 0.03, (Way){.h = 1e-5, .ideal = false});
    assert_true(x.worst < 1e-5);
    assert_int_equal(x.feature[DJM_FEATURE_DIFFERENCES] + x.feature[DJM_FEATURE_KINK], x.contacts);
    assert_true(x.feature[DJM_FEATURE_KINK] <= x.contacts / 20);
  }
}

// A box flat on a larger one, to rounding: the normal goes with the larger one, whichever comes
// first.
static void testFlat(void) {
  static const Case cases[] = {{BOX, FLAT_BOX}, {FLAT_BOX, BOX}};
  for (int i = 0; i < 2; i++) {
    mjModel* m;
    mjData* d;
    Count count = {0};
    Pose p = {0};
    compileCase(&m, &d, &cases[i], 0);
    mjtNum centre[2][3];
    for (int k = 0; k < 2; k++) {
      mju_negQuat(p.quat[k], m->geom_quat + 4 * k);
      mju_rotVecQuat(centre[k], m->geom_pos + 3 * k, p.quat[k]);
    }
    mju_sub3(p.pos[1], centre[0], centre[1]);
    p.pos[1][0] += 0.01;
    p.pos[1][2] += 0.449;
    setPose(m, d, &p);
    assert_int_equal(d->ncon, 4);
    checkPose(&count, m, d, &p, (Way){.h = 1e-5, .ideal = false});
    assert_int_equal(count.feature[DJM_FEATURE_CLIPPED], 4);
    assert_int_equal(count.left, 0);
    assert_true(count.worst < 2e-7);
    djt_deleteEngine(m, d);
  }
}

// Two spheres about one point have no normal: named; d stays as it was; a flex is refused.
static void testRefused(void) {
  static const Case spheres = {SPHERE, SPHERE}, field = {FIELD, BOX};
  mjModel* m;
  mjData* d;
  djmContactSlope slope[MAXCON];
  Pose p = {.quat = {{1, 0, 0, 0}, {1, 0, 0, 0}}};
  compileCase(&m, &d, &spheres, 0);
  mju_sub3(p.pos[1], m->geom_pos, m->geom_pos + 3);
  setPose(m, d, &p);
  assert_int_equal(d->ncon, 1);
  mjContact con = d->contact[0];
  assert_int_equal(djm_contactSlope(slope, m, d, &con), DJ_OK);
  assert_int_equal(slope[0].feature, DJM_FEATURE_KINK);
  assert_string_equal(djm_featureName(slope[0].feature), "kink");
  con.geom[1] = -1;
  assert_int_equal(djm_contactSlope(slope, m, d, &con), DJ_UNSUPPORTED);
  djt_deleteEngine(m, d);

  compileCase(&m, &d, &field, 0);
  mjData* copy = mj_makeData(m);
  djRng rng = {3};
  assert_true(touch(&p, m, d, &rng, 1e-3, false));
  mj_copyData(copy, m, d);
  assert_int_equal(djm_contactSlopes(slope, m, d, copy->contact, copy->ncon), DJ_OK);
  assert_memory_equal(d->geom_xpos, copy->geom_xpos, 3 * (size_t)m->ngeom * sizeof(mjtNum));
  assert_memory_equal(d->geom_xmat, copy->geom_xmat, 9 * (size_t)m->ngeom * sizeof(mjtNum));
  assert_memory_equal(d->contact, copy->contact, (size_t)copy->ncon * sizeof(mjContact));
  mj_deleteData(copy);
  djt_deleteEngine(m, d);
}

DJT_MAIN(testExact, testMargin, testCurved, testCylinders, testField, testFlat, testDeep,
         testUnfinished, testRefused)
