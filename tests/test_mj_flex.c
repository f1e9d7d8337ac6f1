// Ropes, cloth and solids of MJCF: what is read, forces and steps beside MuJoCo's, what is written,
// and what is refused by its name.

#define _GNU_SOURCE // mkstemps
#include "common/mjcf.h"
#include "common/near.h"
#include "common/random.h"

#include "import_report.h"
#include "write.h"

#include <dijoco/io.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TOUCHES "<contact contype='0' conaffinity='0' selfcollide='none'/>"
#define COMP(attributes, inner)                                                                    \
  "<flexcomp name='x' mass='1' radius='.01' pos='0 0 1' "                                          \
  "euler='20 30 40' " attributes ">" inner TOUCHES "</flexcomp>"
#define GRID(dim, count) "type='grid' dim='" dim "' count='" count "' spacing='.1 .1 .1'"
#define ELASTIC(more) "<elasticity young='1e4' poisson='.2' damping='.01' " more "/>"
#define CURVED                                                                                     \
  "type='direct' dim='2' point='0 0 0 .11 0 .02 .21 .01 -.01 .01 .1 .03 .1 .12 .08 "               \
  ".2 .1 .05 0 .2 0 .12 .21 .06 .2 .2 -.02' element='0 1 4 0 4 3 1 2 5 1 5 4 3 4 7 3 7 6 4 5 8 4 " \
  "8 7'"

static const struct {
  const char *name, *text;
  double young, poisson, thickness; // as imported
} scenes[] = {
    {"rope", COMP(GRID("1", "5 1 1"), "<edge stiffness='100' damping='1'/>"), 0, 0, 0},
    {"bend", COMP(GRID("2", "4 3 1"), ELASTIC("thickness='.013' elastic2d='bend'")),
     1e4 * 2.197 / 8 / 0.96, 0, 0.02},
    {"stretch", COMP(GRID("2", "4 3 1"), ELASTIC("thickness='.013' elastic2d='stretch'")), 6500,
     0.2, 0.02},
    {"both", COMP(GRID("2", "4 3 1"), ELASTIC("thickness='.013' elastic2d='both'")), 1e4, 0.2,
     0.013},
    {"pinned",
     COMP(GRID("2", "4 3 1"), "<pin id='0 1'/>" ELASTIC("thickness='.013' "
                                                        "elastic2d='both'")),
     1e4, 0.2, 0.013},
    {"curved", COMP(CURVED, ELASTIC("thickness='.013' elastic2d='both'")), 1e4, 0.2, 0.013},
    {"solid", COMP(GRID("3", "3 3 3"), ELASTIC("")), 1e4, 0.2, 0},
    // vertices that ride on a body that turns
    {"ridden",
     "<body name='b' pos='0 0 1'><joint type='ball'/><geom size='.1' mass='1' contype='0' "
     "conaffinity='0'/>" COMP(
         GRID("2", "3 3 1"),
         "<pin id='0 1 2'/>" ELASTIC("thickness='.013' elastic2d='both'")) "</body>",
     1e4, 0.2, 0.013},
};
enum { NSCENE = sizeof scenes / sizeof *scenes };

static char* sceneText(int i, double timestep, double gravity) {
  char* text;
  if (asprintf(&text,
               "<mujoco><option timestep='%.9g' gravity='0 0 %g'/><worldbody>%s</worldbody>"
               "</mujoco>",
               timestep, gravity, scenes[i].text) < 0)
    abort();
  return text;
}

static mjModel* compile(int i, double timestep, double gravity) {
  char* text = sceneText(i, timestep, gravity);
  mjModel* m = djt_compile(text);
  free(text);
  return m;
}

static void shake(mjData* d, const mjModel* m, djRng* rng, double size, double speed) {
  mjtNum* dq = calloc((size_t)m->nv, sizeof *dq);
  mj_resetData(m, d);
  for (int i = 0; i < m->nv; i++) dq[i] = djt_uniform(rng, -size, size);
  mj_integratePos(m, d->qpos, dq, 1);
  for (int i = 0; i < m->nv; i++) d->qvel[i] = djt_uniform(rng, -speed, speed);
  free(dq);
}

static double largest(const double* x, int n) {
  double most = 0;
  for (int k = 0; k < n; k++) most = fmax(most, fabs(x[k]));
  return most;
}

static double apart(const double* a, const double* b, int n) {
  double most = 0;
  for (int k = 0; k < n; k++) most = fmax(most, fabs(a[k] - b[k]));
  return most;
}

// Material, edges, lengths, stiffness and bending of the compiled model.
static void testRead(void** state) {
  (void)state;
  for (int i = 0; i < NSCENE; i++) {
    mjModel* m = compile(i, 0.002, 0);
    djModel* x = djt_import(NULL, m);
    int stride = m->flex_dim[0] == 3 ? 24 : 21, used = m->flex_dim[0] == 3 ? 21 : 6;
    assert_int_equal(x->nflex, 1);
    assert_int_equal(x->nflexedge, m->nflexedge);
    assert_memory_equal(x->flexedge_vert, m->flex_edge, 2 * sizeof(int) * (size_t)m->nflexedge);
    djt_near(x->flex_young[0], scenes[i].young, 1e-9 * scenes[i].young);
    djt_near(x->flex_poisson[0], scenes[i].poisson, 1e-12);
    if (m->flex_dim[0] == 2) djt_near(x->flex_thickness[0], scenes[i].thickness, 1e-13);
    assert_true(apart(x->flexedge_length0, m->flexedge_length0, (int)m->nflexedge) < 1e-15);
    double worst = 0,
           size = m->nflexstiffness ? largest(m->flex_stiffness, (int)m->nflexstiffness) : 1;
    for (int e = 0; e < x->nflexelem && m->nflexstiffness && size > 0; e++) {
      worst =
          fmax(worst,
               apart(x->flexelem_stiffness + 21 * e, m->flex_stiffness + stride * e, used) / size);
    }
    if (m->nflexbending) {
      worst = fmax(worst, apart(x->flexedge_bending, m->flex_bending, (int)m->nflexbending) /
                              largest(m->flex_bending, (int)m->nflexbending));
    }
    print_message("%-8s stiffness and bending: %.1e\n", scenes[i].name, worst);
    assert_true(worst < 1e-13);
    dj_deleteModel(x);
    mj_deleteModel(m);
  }
}

// M (v+ - v)/h of a step without damping at the end, less what inertia alone has.
static void forceOf(double* out, djModel* x, const mjModel* m, mjData* d) {
  djData* data;
  djError err;
  if (dj_makeData(&data, x, &err) != DJ_OK) fail_msg("%s", err.text);
  mju_copy(data->qpos, d->qpos, (int)m->nq);
  mju_copy(data->qvel, d->qvel, (int)m->nv);
  assert_true(dj_step(x, data) >= 0);
  mjtNum* a = calloc((size_t)m->nv, sizeof *a);
  for (int i = 0; i < m->nv; i++) a[i] = (data->qvel[i] - d->qvel[i]) / m->opt.timestep;
  mj_mulM(m, d, out, a);
  for (int i = 0; i < m->nv; i++) out[i] += d->qfrc_bias[i];
  free(a);
  dj_deleteData(data);
}

static void testForces(void** state) {
  (void)state;
  djRng rng = {7};
  for (int i = 0; i < NSCENE; i++) {
    mjModel* m = compile(i, 0.002, 0);
    mjData* d = mj_makeData(m);
    djModel* x = djt_import(NULL, m);
    double *f = calloc((size_t)m->nv, sizeof *f), spring = 0, damper = 0;
    for (int trial = 0; trial < 5; trial++) {
      shake(d, m, &rng, 0.03, 0);
      mj_forward(m, d);
      forceOf(f, x, m, d);
      spring =
          fmax(spring, apart(f, d->qfrc_spring, (int)m->nv) / largest(d->qfrc_spring, (int)m->nv));
      shake(d, m, &rng, 0.03, 1);
      mj_forward(m, d);
      forceOf(f, x, m, d);
      for (int k = 0; k < m->nv; k++) f[k] -= d->qfrc_spring[k];
      damper =
          fmax(damper, apart(f, d->qfrc_damper, (int)m->nv) / largest(d->qfrc_damper, (int)m->nv));
    }
    print_message("%-8s spring %.1e, damper %.1e\n", scenes[i].name, spring, damper);
    assert_true(spring < 1e-12 && damper < 1e-8);
    free(f);
    dj_deleteModel(x);
    mj_deleteData(d);
    mj_deleteModel(m);
  }
}

// `euler` is MuJoCo's step.
static void testSteps(void** state) {
  (void)state;
  djRng rng = {8};
  for (int i = 0; i < NSCENE; i++) {
    mjModel* m = compile(i, 0.0005, -9.81);
    mjData* d = mj_makeData(m);
    djModel* x = djt_import(NULL, m);
    djData* data;
    assert_int_equal(dj_makeData(&data, x, NULL), DJ_OK);
    shake(d, m, &rng, 0.01, 0.3);
    mju_copy(data->qpos, d->qpos, (int)m->nq);
    mju_copy(data->qvel, d->qvel, (int)m->nv);
    for (int k = 0; k < 100; k++) {
      mj_step(m, d);
      assert_true(dj_step(x, data) >= 0);
    }
    double far =
        fmax(apart(d->qpos, data->qpos, (int)m->nq), apart(d->qvel, data->qvel, (int)m->nv));
    print_message("%-8s after 100 steps: %.1e\n", scenes[i].name, far);
    assert_true(far < 1e-9);
    dj_deleteData(data);
    dj_deleteModel(x);
    mj_deleteData(d);
    mj_deleteModel(m);
  }
}

// Steps of 10 ms, which MuJoCo's Euler does not take: implicit methods settle.
static void testImplicit(void** state) {
  (void)state;
  static const djIntegrator methods[] = {DJ_POSITION, DJ_BDF1, DJ_BDF2, DJ_MIDPOINT};
  djRng rng = {9};
  for (int i = 3; i < 7; i += 3) { // cloth and solid
    mjModel* m = compile(i, 0.01, 0);
    mjData* d = mj_makeData(m);
    shake(d, m, &rng, 0.02, 0.1);
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
      djModel* x = djt_import(NULL, m);
      djOption o = x->opt;
      djError err;
      o.integrator = methods[k];
      assert_int_equal(dj_setOption(x, &o, &err), DJ_OK);
      djData* data;
      assert_int_equal(dj_makeData(&data, x, NULL), DJ_OK);
      mju_copy(data->qpos, d->qpos, (int)m->nq);
      mju_copy(data->qvel, d->qvel, (int)m->nv);
      for (int step = 0; step < 100; step++) assert_int_equal(dj_step(x, data), DJ_OK);
      double first, last;
      assert_int_equal(data->stats.unconverged_steps, 0);
      first = largest(d->qvel, (int)m->nv);
      last = largest(data->qvel, (int)m->nv);
      print_message("%-6s method %d: speed %.2g -> %.2g, %.1f iterations a step\n", scenes[i].name,
                    (int)methods[k], first, last, (double)data->stats.newton_iterations / 100);
      assert_true(last < 3 * first);
      dj_deleteData(data);
      dj_deleteModel(x);
    }
    mj_deleteData(d);
    mj_deleteModel(m);
  }
}

// ---- writing -----------------------------------------------------------------------------------

static void setNumber(djModel* x, const char* name, double value) {
  djParam p;
  djError err;
  if (dj_paramId(&p, x, name, &err) != DJ_OK || dj_setParam(x, &p, &value, &err) != DJ_OK) {
    fail_msg("%s", err.text);
  }
}

static void testWritten(void** state) {
  (void)state;
  for (int i = 0; i < NSCENE; i++) {
    char path[] = "djflexXXXXXX.xml", *text = sceneText(i, 0.002, -9.81), *out;
    int file = mkstemps(path, 4);
    assert_int_equal(write(file, text, strlen(text)), (int)strlen(text));
    close(file);
    mjModel* m = djt_compile(text);
    djModel* x = djt_import(NULL, m);
    djError err;
    if (x->flex_dim[0] == 1) {
      setNumber(x, "flex/x/edgestiffness", 77);
    } else {
      setNumber(x, "flex/x/young", 1.3 * x->flex_young[0]);
      setNumber(x, "flex/x/poisson", 0.31);
      setNumber(x, "flex/x/damping", 0.02);
      if (x->flex_dim[0] == 2) setNumber(x, "flex/x/thickness", 0.0171);
    }
    if (djm_makeMJCF(&out, path, x, NULL, &err) != DJ_OK)
      fail_msg("%s: %s", scenes[i].name, err.text);
    mjModel* w = djt_compile(out);
    djModel* y = djt_import(NULL, w);
    assert_true(djm_checkFlexes(y, x, 1e-10, &err));
    dj_deleteModel(y);
    mj_deleteModel(w);
    free(out);
    // from our own file, and a rest shape that the bodies do not have
    char json[] = "djflexXXXXXX.json";
    file = mkstemps(json, 5);
    close(file);
    if (dj_saveModel(x, json, &err) != DJ_OK) fail_msg("%s", err.text);
    if (djm_makeMJCF(&out, json, x, NULL, &err) != DJ_OK)
      fail_msg("%s: %s", scenes[i].name, err.text);
    free(out);
    dj_deleteModel(x);
    mj_deleteModel(m);
    free(text);
    remove(path);
    remove(json);
  }
}

// Rest shape: vertices that move by themselves anywhere, `pinned` among the others.
static void setRest(djModel* x, const mjModel* m, djRng* rng, bool pinned) {
  djParam p;
  djError err;
  assert_int_equal(dj_paramId(&p, x, "flex/x/vert", &err), DJ_OK);
  double* vert = malloc((size_t)p.nvalue * sizeof *vert);
  assert_int_equal(dj_getParam(vert, x, &p), DJ_OK);
  for (int k = 0; k < p.nvalue; k++) {
    const bool moves = m->body_jntnum[m->flex_vertbodyid[k / 3]] == 3;
    if (moves != pinned) vert[k] += djt_uniform(rng, -0.01, 0.01);
  }
  if (dj_setParam(x, &p, vert, &err) != DJ_OK) fail_msg("%s", err.text);
  free(vert);
}

// What was written holds our rest shape, in MuJoCo's springs, at any place, and where it begins.
static void testRest(void** state) {
  (void)state;
  djRng rng = {21};
  for (int i = 0; i < NSCENE; i++) {
    char path[] = "djflexXXXXXX.xml", json[] = "djflexXXXXXX.json";
    char *text = sceneText(i, 0.002, 0), *out;
    int file = mkstemps(path, 4);
    assert_int_equal(write(file, text, strlen(text)), (int)strlen(text));
    close(file);
    close(mkstemps(json, 5));
    mjModel* m = djt_compile(text);
    djModel* x = djt_import(NULL, m);
    djError err;
    setRest(x, m, &rng, false);
    if (dj_saveModel(x, json, &err) != DJ_OK) fail_msg("%s", err.text);
    for (int k = 0; k < 2; k++) {
      if (djm_makeMJCF(&out, k ? json : path, x, NULL, &err) != DJ_OK) {
        fail_msg("%s: %s", scenes[i].name, err.text);
      }
      mjModel* w = djt_compile(out);
      mjData *d = mj_makeData(w), *plain = mj_makeData(m);
      double *f = calloc((size_t)m->nv, sizeof *f), worst = 0, change = 0;
      mj_resetDataKeyframe(w, d, mj_name2id(w, mjOBJ_KEY, "start"));
      assert_true(apart(d->qpos, m->qpos0, (int)m->nq) < 1e-15);
      for (int trial = 0; trial < 3; trial++) {
        shake(plain, m, &rng, 0.03, 0);
        mj_forward(m, plain);
        mju_copy(d->qpos, plain->qpos, (int)m->nq);
        mj_forward(w, d);
        forceOf(f, x, w, d);
        double size = largest(d->qfrc_spring, (int)m->nv);
        worst = fmax(worst, apart(f, d->qfrc_spring, (int)m->nv) / size);
        change = fmax(change, apart(plain->qfrc_spring, d->qfrc_spring, (int)m->nv) / size);
        assert_true(apart(plain->xpos, d->xpos, 3 * (int)m->nbody) < 1e-14);
      }
      print_message("%-8s %s rest shape: spring %.1e, of a change of %.2g\n", scenes[i].name,
                    k ? "our" : "its", worst, change);
      assert_true(worst < 1e-11 && change > 0.01);
      free(f);
      free(out);
      mj_deleteData(plain);
      mj_deleteData(d);
      mj_deleteModel(w);
    }
    if (strcmp(scenes[i].name, "pinned") == 0) { // what rides on the world does not give way
      setRest(x, m, &rng, true);
      assert_int_equal(djm_makeMJCF(&out, path, x, NULL, &err), DJ_UNSUPPORTED);
      assert_non_null(strstr(err.text, "flex/x/vert: could not be written"));
    }
    dj_deleteModel(x);
    mj_deleteModel(m);
    free(text);
    remove(path);
    remove(json);
  }
}

// ---- contact and refusals ----------------------------------------------------------------------

// A cloth upon a ball and a block on the ground: every vertex is a sphere that stays outside, and
// the scenes come to rest about where MuJoCo's do.
static void testContact(void** state) {
  (void)state;
  static const char kScene[] =
      "<mujoco><option timestep='.005' integrator='discrete'/><worldbody><geom type='plane' "
      "size='2 2 .1'/><geom type='sphere' size='.15' pos='0 0 .16'/>"
      "<flexcomp name='x' type='grid' count='9 9 1' spacing='.05 .05 .05' mass='.2' dim='2' "
      "radius='.01' pos='0 0 .34'><elasticity young='3e4' poisson='.2' thickness='.004' "
      "damping='.01' elastic2d='both'/><contact selfcollide='none'/></flexcomp>"
      "<flexcomp name='y' type='grid' count='3 3 3' spacing='.05 .05 .05' mass='.5' dim='3' "
      "radius='.01' pos='.6 0 .09'><elasticity young='3e4' poisson='.2' damping='.01'/><contact "
      "selfcollide='none' contype='2' conaffinity='1'/></flexcomp></worldbody></mujoco>";
  static const djContactModel contacts[] = {DJ_SEPARATING_PLANE, DJ_PENALTY};
  mjModel* m = djt_compile(kScene);
  mjData* d = mj_makeData(m);
  for (int k = 0; k < 120; k++) mj_step(m, d);
  mj_kinematics(m, d);
  for (size_t c = 0; c < sizeof contacts / sizeof *contacts; c++) {
    djModel* x = djt_import(NULL, m);
    djData* data;
    djError err;
    djOption o = x->opt;
    o.contact = contacts[c];
    assert_int_equal(dj_setOption(x, &o, &err), DJ_OK);
    assert_int_equal(x->ngeom, m->ngeom + m->nflexvert);
    assert_true(dj_makeData(&data, x, &err) == DJ_OK);
    for (int k = 0; k < 120; k++) assert_true(dj_step(x, data) >= 0);
    double deepest = INFINITY, apart_z[2] = {0, 0};
    for (int v = 0; v < x->nflexvert; v++) {
      const double* p = data->xpos + 3 * x->flexvert_body[v];
      double centre[3] = {p[0], p[1], p[2] - 0.16};
      deepest = fmin(deepest, fmin(p[2] - 0.01, mju_norm3(centre) - 0.16));
      int flex = v >= x->flex_vertadr[1];
      apart_z[flex] += (p[2] - d->xpos[3 * m->flex_vertbodyid[v] + 2]) / x->flex_vertnum[flex];
    }
    print_message("contact %d: deepest %.1e m, mean heights %.1e and %.1e m from MuJoCo's\n",
                  (int)contacts[c], deepest, apart_z[0], apart_z[1]);
    assert_true(deepest > -2e-3 && fabs(apart_z[0]) < 0.02 && fabs(apart_z[1]) < 3e-3);
    assert_int_equal(data->stats.unconverged_steps, 0);
    dj_deleteData(data);
    dj_deleteModel(x);
  }
  mj_deleteData(d);
  mj_deleteModel(m);
}

// In place of mj_step, and inside of it where MuJoCo's own contact is off: one motion, whose forces
// are those of the bodies that touch.
#define SOFT                                                                                       \
  "<plugin plugin='dijoco.contact'><instance name='dj'><config key='warn' value='false'/>"         \
  "</instance></plugin>"
static const char kTouching[] =
    "<mujoco><extension>" SOFT "</extension>"
    "<option timestep='.002'><flag contact='disable'/></option><worldbody>"
    "<geom type='plane' size='2 2 .1'/><body name='box' pos='0 0 .05'><freejoint/>"
    "<geom type='box' size='.1 .1 .05' mass='.5'/>"
    "<site name='s' type='box' size='.2 .2 .2'/></body>"
    "<body name='rim' pos='.02 .01 .13'><freejoint/><inertial pos='0 0 0' mass='.1' "
    "diaginertia='1e-4 1e-4 1e-4'/><site name='t'/>"
    "<flexcomp name='x' type='grid' count='5 5 1' spacing='.05 .05 .05' mass='.2' dim='2' "
    "radius='.01'><pin id='11 12 13 17'/><elasticity young='3e3' poisson='.2' thickness='.004' "
    "damping='.001'/><contact selfcollide='none'/></flexcomp></body></worldbody><sensor>"
    "<touch site='s'/><force site='t'/><accelerometer site='t'/></sensor></mujoco>";

static void stepBeside(mjModel* m, mjData* own, mjData* inside, djmContext* c) {
  djModel* x = djt_import(NULL, m);
  djData* data;
  djError err;
  assert_int_equal(djm_ownGeoms(x), m->ngeom);
  assert_int_equal(x->ngeom, m->ngeom + m->nflexvert);
  assert_int_equal(dj_makeData(&data, x, &err), DJ_OK);
  double worst[2] = {0, 0};
  for (int k = 0; k < 150; k++) {
    mj_step(m, inside);
    if (djm_step(m, own, c) != DJ_OK) fail_msg("%s", djm_errorText(c));
    assert_int_equal(dj_step(x, data), DJ_OK);
    worst[0] = fmax(worst[0], apart(data->qpos, own->qpos, (int)m->nq));
    worst[1] = fmax(worst[1], apart(inside->qpos, own->qpos, (int)m->nq));
  }
  print_message("%d pairs, dj_step %.1e, mj_step %.1e\n", data->npair, worst[0], worst[1]);
  assert_true(data->npair > 8 && worst[0] == 0 && worst[1] < 1e-9);
  dj_deleteData(data);
  dj_deleteModel(x);
}

static void testTouching(void** state) {
  (void)state;
  mjModel* m = djt_compile(kTouching);
  mjData *d = mj_makeData(m), *inside = mj_makeData(m);
  djmContext* c;
  djError err;
  if (djm_makeContext(&c, NULL, m, &err) != DJ_OK) fail_msg("%s", err.text);
  stepBeside(m, d, inside, c);
  // what lies on the box and what it lies on, at the body that each force acts on
  if (djm_forward(m, d, c) != DJ_OK) fail_msg("%s", djm_errorText(c));
  double sum = 0;
  int box = mj_name2id(m, mjOBJ_BODY, "box");
  for (int b = 1; b < m->nbody; b++) sum += b == box ? 0 : d->cfrc_ext[6 * b + 5];
  print_message("on the cloth %.3f N, on the box %.3f N, touch %.3f N\n", sum,
                d->cfrc_ext[6 * box + 5], d->sensordata[0]);
  djt_near(sum + d->cfrc_ext[6 * box + 5], 9.81 * m->body_subtreemass[0], 0.5);
  assert_true(sum > 0.5);
  // C: forces on the box and on what three vertices are pinned to
  int nx = 2 * (int)m->nv, ns = (int)m->nsensordata;
  int dof = m->body_dofadr[mj_name2id(m, mjOBJ_BODY, "rim")];
  double *C = calloc((size_t)(ns * nx), sizeof *C), *was = calloc((size_t)(3 * ns), sizeof *was);
  assert_int_equal(djm_transition(m, d, c, NULL, NULL, C, NULL), DJ_OK);
  double worst = 0, size = 0;
  for (int k = 0; k < 6; k++) {
    const double e = 1e-7;
    for (int s = 0; s < 2; s++) {
      d->qvel[dof + k] += s ? -2 * e : e;
      assert_int_equal(djm_forward(m, d, c), DJ_OK);
      memcpy(was + s * ns, d->sensordata, (size_t)ns * sizeof *was);
    }
    d->qvel[dof + k] += e;
    for (int r = 0; r < ns; r++) {
      double slope = (was[r] - was[ns + r]) / (2 * e), own = C[r * nx + m->nv + dof + k];
      worst = fmax(worst, fabs(slope - own));
      size = fmax(size, fabs(slope));
    }
  }
  print_message("sensors by velocities: %.1e of %.1e\n", worst, size);
  assert_true(worst < 1e-4 * size && size > 1);
  free(C);
  free(was);
  djm_deleteContext(c);
  mj_deleteData(d);
  mj_deleteData(inside);
  mj_deleteModel(m);
}

// What is not carried is left out by its name: stiffness of no material, rods, mocap bodies.
static void testRefused(void** state) {
  (void)state;
  mjModel* m = compile(3, 0.002, 0);
  m->flex_stiffness[0] *= 1.001;
  djReport* report;
  djModel* x = djt_import(&report, m);
  bool told = false;
  for (int i = 0; i < report->n; i++) {
    told |=
        strcmp(report->entry[i].feature, "elasticity") == 0 && report->entry[i].state == DJ_IGNORED;
  }
  assert_true(told && x->nflex == 1 && x->flex_young[0] == 0);
  dj_deleteReport(report);
  dj_deleteModel(x);
  mj_deleteModel(m);
  m = djt_compile(
      "<mujoco><worldbody><flexcomp name='x' type='grid' dim='1' count='4 1 1' "
      "spacing='.1 .1 .1' mass='1' radius='.01' pos='0 0 1'><elasticity young='1e6'/>" TOUCHES
      "</flexcomp></worldbody></mujoco>");
  x = djt_import(&report, m);
  assert_int_equal(x->nflex, 0);
  assert_true(report->n == 1 && strstr(report->entry[0].note, "rod"));
  dj_deleteReport(report);
  dj_deleteModel(x);
  mj_deleteModel(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testRead),     cmocka_unit_test(testForces),  cmocka_unit_test(testSteps),
      cmocka_unit_test(testImplicit), cmocka_unit_test(testWritten), cmocka_unit_test(testRest), cmocka_unit_test(testContact),
      cmocka_unit_test(testTouching), cmocka_unit_test(testRefused),
  };
  return cmocka_run_group_tests(tests, djt_registerContact, NULL);
}
