// djm_contactSlopes against differences of mj_collision, for each pair of geom types in random and in
// aligned poses.

#include "contact_part.h"

#include "common/mjcf.h"
#include "common/random.h"

#include <math.h>
#include <stdbool.h>
#include <time.h>

enum { MAXCON = 32, POSES = 150 };

// A mocap body and a free one, with a geom each.
static const char SCENE[] =
    "<mujoco><option ccd_tolerance='%g' ccd_iterations='%d'><flag nativeccd='enable' multiccd='%s'/>"
    "</option><asset><mesh name='rock' vertex='-.3 -.2 -.25 .35 -.25 -.2 .3 .3 -.25 -.25 .25 -.3 "
    "-.2 -.15 .2 .25 -.2 .25 .2 .22 .3 -.3 .3 .2 .05 .02 .45'/>"
    "<mesh name='crate' vertex='-.3 -.2 -.25 .3 -.2 -.25 .3 .2 -.25 -.3 .2 -.25 -.3 -.2 .25 .3 -.2 "
    ".25 .3 .2 .25 -.3 .2 .25'/></asset><worldbody>"
    "<body name='a' mocap='true'><geom name='a' %s margin='%g' pos='.05 -.1 .02' euler='10 20 30'/>"
    "</body><body name='b'><freejoint/><geom name='b' %s pos='-.03 .07 .04' euler='-40 10 5'/>"
    "<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/></body></worldbody></mujoco>";

typedef struct Case {
  const char *a, *b;
} Case;

#define PLANE "type='plane' size='5 5 .1'"
#define SPHERE "type='sphere' size='.3'"
#define CAPSULE "type='capsule' size='.1 .35'"
#define ELLIPSOID "type='ellipsoid' size='.2 .3 .4'"
#define CYLINDER "type='cylinder' size='.25 .3'"
#define BOX "type='box' size='.2 .3 .25'"
#define ROCK "type='mesh' mesh='rock'"
#define CRATE "type='mesh' mesh='crate'"

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

// By h along column k of the twists, about the point `at`; `first`: body of geom[0].
static Pose movePose(const Pose* p, int k, mjtNum h, const mjtNum at[3], int first) {
  Pose q = *p;
  int body = k < 6 ? first : 1 - first;
  k %= 6;
  if (k < 3) {
    mjtNum axis[3] = {k == 0, k == 1, k == 2}, turn[4], r[3];
    mju_axisAngle2Quat(turn, axis, h);
    mju_mulQuat(q.quat[body], turn, p->quat[body]);
    mju_sub3(r, p->pos[body], at);
    mju_rotVecQuat(q.pos[body], r, turn);
    mju_addTo3(q.pos[body], at);
  } else {
    q.pos[body][k - 3] += h;
  }
  return q;
}

// ---- differences ------------------------------------------------------------------------------

typedef struct Numbers {
  mjtNum dist, pos[3], frame[9];
} Numbers;

static void readNumbers(Numbers* x, const mjContact* con) {
  x->dist = con->dist;
  mju_copy3(x->pos, con->pos);
  mju_copy(x->frame, con->frame, 9);
}

// Contacts at four poses; false: others.
static bool sample(Numbers out[4], const mjModel* m, mjData* d, const Pose* p, const mjContact* con,
                   int i, int ncon, int k, mjtNum h, int first) {
  static const int step[4] = {-2, -1, 1, 2};
  for (int s = 0; s < 4; s++) {
    Pose q = movePose(p, k, h * step[s], con[i].pos, first);
    setPose(m, d, &q);
    if (d->ncon != ncon) return false;
    readNumbers(&out[s], &d->contact[i]);
    if (mju_dist3(out[s].pos, con[i].pos) > 100 * h + 0.02) return false;
    for (int r = 0; r < 3; r++) {
      if (mju_dist3(out[s].frame + 3 * r, con[i].frame + 3 * r) > 100 * h + 0.02) return false;
    }
  }
  return true;
}

// Column k by differences: dist, pos, turn.
static void derive(mjtNum out[7], const Numbers s[4], const mjContact* con, mjtNum h) {
  Numbers r;
  const mjtNum *a = &s[0].dist, *b = &s[1].dist, *c = &s[2].dist, *e = &s[3].dist;
  mjtNum* x = &r.dist;
  for (int i = 0; i < 13; i++) x[i] = (8 * (c[i] - b[i]) - (e[i] - a[i])) / (12 * h);
  out[0] = r.dist;
  mju_copy3(out + 1, r.pos);
  mju_zero3(out + 4);
  for (int i = 0; i < 3; i++) {
    mjtNum turn[3];
    mju_cross(turn, con->frame + 3 * i, r.frame + 3 * i);
    mju_addToScl3(out + 4, turn, 0.5);
  }
}

static void column(mjtNum out[7], const djmContactSlope* s, int k) {
  out[0] = s->dist[k];
  for (int i = 0; i < 3; i++) {
    out[1 + i] = s->pos[i][k];
    out[4 + i] = s->turn[i][k];
  }
}

typedef struct Count {
  int feature[DJM_NFEATURE], left, contacts, refused;
  mjtNum worst[DJM_NFEATURE];
  mjtNum wrong;           // least worst error of a contact when its slope is spoilt
} Count;

// ---- poses ------------------------------------------------------------------------------------

static mjtNum least(const mjData* d) {
  mjtNum x = 1;
  for (int i = 0; i < d->ncon; i++) x = fmin(x, d->contact[i].dist);
  return x;
}

// Geoms that touch: from afar along a direction until they do, and deeper.
static bool touch(Pose* p, const mjModel* m, mjData* d, djRng* rng, mjtNum depth, bool aligned) {
  mjtNum dir[3], tilt[4], axis[3];
  for (int k = 0; k < 2; k++) {
    djt_unitQuat(p->quat[k], rng);
    mju_zero3(p->pos[k]);
  }
  djt_unitVector(dir, rng);
  if (aligned) {  // geom frames aligned but for quarter turns and a tilt
    mjtNum turn[4], quat[4], small = pow(10, djt_uniform(rng, -2.5, -0.7));
    mjtNum z[3] = {0, 0, 1}, world[4];
    int quarter = djt_integer(rng, 3);
    mjtNum other[3] = {quarter == 0, quarter == 1, 0};
    mju_axisAngle2Quat(turn, other, quarter < 2 ? mjPI / 2 : 0);
    djt_unitVector(axis, rng);
    mju_axisAngle2Quat(tilt, axis, small);
    mju_mulQuat(world, p->quat[0], m->geom_quat);
    mju_mulQuat(quat, world, tilt);
    mju_mulQuat(quat, quat, turn);
    mjtNum back[4];
    mju_negQuat(back, m->geom_quat + 4);
    mju_mulQuat(p->quat[1], quat, back);
    mju_rotVecQuat(dir, z, world);
    mjtNum aside[3];
    djt_unitVector(aside, rng);
    mju_addToScl3(dir, aside, 0.2);
  } else if (m->geom_type[0] == mjGEOM_PLANE) {
    mjtNum world[4], z[3] = {0, 0, 1};
    mju_mulQuat(world, p->quat[0], m->geom_quat);
    mju_rotVecQuat(dir, z, world);
  }
  mjtNum far = 3, near = 0;
  for (int i = 0; i < 45; i++) {
    mjtNum mid = 0.5 * (far + near);
    mju_scl3(p->pos[1], dir, mid);
    setPose(m, d, p);
    if (d->ncon && least(d) < -depth) near = mid; else far = mid;
  }
  mju_scl3(p->pos[1], dir, near);
  setPose(m, d, p);
  return d->ncon > 0;
}

static mjtNum STEP = 1e-5, NOISE = 1e-6;

static void checkPose(Count* count, const mjModel* m, mjData* d, const Pose* p, bool print) {
  mjContact con[MAXCON];
  djmContactSlope slope[MAXCON];
  setPose(m, d, p);
  int ncon = d->ncon < MAXCON ? d->ncon : MAXCON;
  memcpy(con, d->contact, (size_t)ncon * sizeof(mjContact));
  djStatus status = djm_contactSlopes(slope, m, d, con, ncon);
  if (status != DJ_OK) {
    count->refused++;
    return;
  }
  int first = con[0].geom[0] == 0 ? 0 : 1;
  for (int i = 0; i < ncon; i++) {
    mjtNum worst = 0, noise = 0, size = 1;
    int bad = -1;
    bool ok = true;
    mjtNum keep[12][7];
    for (int k = 0; k < 12 && ok; k++) {
      Numbers s[4], f[4];
      mjtNum fine[7], x[7];
      ok = sample(s, m, d, p, con, i, ncon, k, 2 * STEP, first) &&
           sample(f, m, d, p, con, i, ncon, k, STEP, first);
      if (!ok) break;
      derive(keep[k], s, &con[i], 2 * STEP);
      derive(fine, f, &con[i], STEP);
      column(x, &slope[i], k);
      for (int r = 0; r < 7; r++) {
        size = fmax(size, fabs(fine[r]));
        noise = fmax(noise, fabs(keep[k][r] - fine[r]));
        mjtNum e = fabs(x[r] - keep[k][r]);
        if (e > worst) {
          worst = e;
          bad = 10 * k + r;
        }
      }
    }
    count->contacts++;
    if (!ok || noise > NOISE * size) {
      count->left++;
      continue;
    }
    int f = slope[i].feature;
    count->feature[f]++;
    count->worst[f] = fmax(count->worst[f], worst / size);
    if (print && (worst > 1e-6 * size || (getenv("DIFF") && f == DJM_FEATURE_DIFFERENCES))) {
      print_message("  %s contact %d/%d error %.1e noise %.1e size %.1e at col %d row %d dist %.2e\n",
                    djm_featureName(slope[i].feature), i, ncon, worst / size, noise / size, size,
                    bad / 10, bad % 10, con[i].dist);
      if (getenv("DUMP")) {
        for (int c = 0; c < ncon; c++) {
          setPose(m, d, p);
          djmTouch t = djm_touch(m, d, &con[c]);
          mjtNum r[3], l0[3], l1[3], n0[3], n1[3];
          mju_sub3(r, t.q[0], t.s[0].pos); mju_mulMatTVec3(l0, t.s[0].mat, r);
          mju_sub3(r, t.q[1], t.s[1].pos); mju_mulMatTVec3(l1, t.s[1].mat, r);
          mju_mulMatTVec3(n0, t.s[0].mat, t.n); mju_mulMatTVec3(n1, t.s[1].mat, t.n);
          print_message("    %d dist %.12g q0 %.10g %.10g %.10g n0 %.10g %.10g %.10g | q1 %.10g %.10g %.10g n1 %.10g %.10g %.10g %s\n", c, t.dist, l0[0], l0[1], l0[2], n0[0],n0[1],n0[2],l1[0],l1[1],l1[2],n1[0],n1[1],n1[2], djm_featureName(slope[c].feature));
        }
      }
    }
  }
}

static void checkCase(const Case* c, double tolerance, int iterations, const char* multi,
                      double margin, bool aligned) {
  char text[4000];
  snprintf(text, sizeof text, SCENE, tolerance, iterations, multi, c->a, margin, c->b);
  mjModel* m = djt_compile(text);
  mjData* d = mj_makeData(m);
  djRng rng = {7};
  Count count = {0};
  int printed = 0;
  for (int i = 0; i < POSES; i++) {
    Pose p;
    if (!touch(&p, m, d, &rng, i % 3 ? pow(10, djt_uniform(&rng, -4, -1.5)) : margin ? -0.5 * margin : 2e-4, aligned))
      continue;
    checkPose(&count, m, d, &p, printed++ < 1000);
  }
  print_message("%.24s | %.24s %s multi %s margin %g tol %g: %d contacts, %d left, %d refused\n", c->a, c->b,
                aligned ? "aligned" : "random", multi, margin, tolerance, count.contacts, count.left, count.refused);
  for (int f = 0; f < DJM_NFEATURE; f++) {
    if (count.feature[f]) {
      print_message("    %-12s %5d  worst %.1e\n", djm_featureName((djmFeature)f), count.feature[f],
                    count.worst[f]);
    }
  }
  mj_deleteData(d);
  mj_deleteModel(m);
}

static void testPairs(void** state) {
  (void)state;
  static const Case cases[] = {
      {PLANE, SPHERE},      {PLANE, CAPSULE},   {PLANE, ELLIPSOID},  {PLANE, CYLINDER},
      {PLANE, BOX},         {PLANE, ROCK},      {PLANE, CRATE},      {SPHERE, SPHERE},
      {SPHERE, CAPSULE},    {SPHERE, CYLINDER}, {SPHERE, BOX},       {CAPSULE, CAPSULE},
      {CAPSULE, BOX},       {BOX, BOX},         {SPHERE, ELLIPSOID}, {SPHERE, ROCK},
      {CAPSULE, ELLIPSOID}, {CAPSULE, CYLINDER}, {CAPSULE, ROCK},    {ELLIPSOID, ELLIPSOID},
      {ELLIPSOID, CYLINDER}, {ELLIPSOID, BOX},  {ELLIPSOID, ROCK},   {CYLINDER, CYLINDER},
      {CYLINDER, BOX},      {CYLINDER, ROCK},   {BOX, ROCK},         {BOX, CRATE},
      {ROCK, CRATE},        {CRATE, CRATE},
  };
  const char* only = getenv("ONLY");
  if (getenv("STEP")) STEP = atof(getenv("STEP"));
  if (getenv("NOISE")) NOISE = atof(getenv("NOISE"));
  for (int i = 0; i < (int)(sizeof cases / sizeof cases[0]); i++) {
    if (only && atoi(only) != i) continue;
    for (int a = 0; a < 2; a++) {
      checkCase(&cases[i], getenv("TOL") ? atof(getenv("TOL")) : 1e-12, 200, getenv("MULTI") ? getenv("MULTI") : "enable", getenv("MARGIN") ? atof(getenv("MARGIN")) : 0, a);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testPairs)};
  return cmocka_run_group_tests_name("contact_slope", tests, NULL, NULL);
}
