// Maps to the controls of one actuator and, as their derivative by time, of another: splines and
// sines. Values are those of the closed form, rates those of differences in time, derivatives by z
// those of extrapolated differences; designs place and gather both actuators' controls.

#include "common/json.h"
#include "common/message.h"
#include "common/random.h"
#include "common/test.h"
#include "gradient/map.h"

#include <dijoco/dijoco.h>

enum { NU = 3, ROWS = 12, MOST = 10 };   // MOST: numbers of z

#define ARM                                                                                        \
  "{'dijoco_model':1,'option':{'timestep':0.004},'bodies':[{'name':'world'},"                      \
  "{'name':'arm','mass':1,'ipos':[0,0,-0.3],'inertia':[0.02,0.03,0.04]}],"                         \
  "'joints':[{'name':'swing','type':'hinge','body':'arm','axis':[0,1,0]}]"
static const char scene[] = ARM ",'actuators':[{'name':'m0','joint':'swing'},{'name':'m1','joint':"
                                "'swing'},{'name':'m2','joint':'swing'}]}";

typedef struct Case {
  djModel* m;
  djTask* task;
  djProblem* p;
} Case;

static void closeCase(Case* c) {
  dj_deleteProblem(c->p);
  dj_deleteTask(c->task);
  dj_deleteModel(c->m);
}

// keys: those of the task besides scene. False: it does not resolve.
static bool tryCase(Case* c, djError* err, const char* model, const char* keys) {
  char text[2000];
  *c = (Case){0};
  snprintf(text, sizeof text, "{'scene':'s',%s}", keys);
  if (dj_loadModelText(&c->m, djt_json(model), err) < 0) fail_msg("%s", err->text);
  return dj_loadTaskText(&c->task, djt_json(text), NULL, err) == DJ_OK &&
         dj_applyTask(c->m, c->task, err) == DJ_OK &&
         dj_resolveTask(&c->p, c->task, c->m, err) == DJ_OK;
}

static void openCase(Case* c, const char* keys) {
  djError err = {""};
  if (!tryCase(c, &err, scene, keys)) fail_msg("%s", err.text);
}

// A map of this type from n numbers to m1, and m0 or not.
static void openMap(Case* c, const char* type, int n, bool velocity, int rows, double timestep) {
  char keys[600], z[4 * MOST + 1] = "0";
  for (int k = 1; k < n; k++) strcat(z, ",0");
  snprintf(keys, sizeof keys,
           "'timestep':%.17g,'horizon':%d,'loss':[],'free':{'z':{'value':[%s]}},"
           "'maps':[{'type':'%s','from':'z','actuator':'m1'%s}]",
           timestep, rows, z, type, velocity ? ",'velocity':'m0'" : "");
  openCase(c, keys);
  const djMap* map = c->p->map;
  assert_true(map->ntarget == (velocity ? 2 : 1) && map->nout == map->ntarget * rows);
  assert_true(map->target[0].start == 1 && (!velocity || map->target[1].start == 0));
}

static void applyMap(double* out, const Case* c, const double* z) {
  double work[2 * MOST];
  assert_true(c->p->map->nwork <= 2 * MOST);
  c->p->map->type->apply(out, c->p->map, z, work);
}

static void assertClose(double x, double expected, double tolerance) {
  if (fabs(x - expected) <= tolerance * (1 + fabs(expected))) return;
  fail_msg("%.17g instead of %.17g", x, expected);
}

// ---- maps -------------------------------------------------------------------------------------

// Sums of one to three sines, with and without an offset.
static void testSines(void) {
  static const int sizes[] = {3, 4, 6, 7, 9, 10};
  const double pi = acos(-1), h = 0.01;
  djRng rng = {1};
  for (int i = 0; i < 12; i++) {
    Case c;
    double z[MOST], out[2 * ROWS];
    int n = sizes[i / 2];
    bool velocity = i % 2 == 1;
    openMap(&c, "sines", n, velocity, ROWS, h);
    djt_uniforms(z, n, &rng, -3, 3);
    applyMap(out, &c, z);
    for (int k = 0; k < ROWS; k++) {
      double u = n % 3 == 1 ? z[n - 1] : 0, rate = 0;
      for (int w = 0; w < n / 3; w++) {
        double frequency = 2 * pi * z[3 * w + 1], angle = frequency * k * h + z[3 * w + 2];
        u += z[3 * w] * sin(angle);
        rate += z[3 * w] * frequency * cos(angle);
      }
      assertClose(out[k], u, 1e-13);
      if (velocity) assertClose(out[ROWS + k], rate, 1e-13);
    }
    closeCase(&c);
  }
}

// Derivative in row k of 0..last, exact for polynomials of degree 4.
static double slope(const double* f, int k, int last, double h) {
  if (k > 1 && k < last - 1) {
    return (8 * (f[k + 1] - f[k - 1]) - (f[k + 2] - f[k - 2])) / (12 * h);
  }
  int s = k < 2 ? 1 : -1;
  f += k;
  return s * (-25 * f[0] + 48 * f[s] - 36 * f[2 * s] + 16 * f[3 * s] - 3 * f[4 * s]) / (12 * h);
}

// The rate is that of the same map at a timestep of a FINE-th; knots lie between the rows. What the
// actuator itself gets does not depend on whether there is another.
static void testRates(void) {
  enum { FINE = 16, LAST = (ROWS - 1) * FINE };
  static const struct {
    const char* type;
    int n;
  } list[] = {{"spline", 1}, {"spline", 2}, {"spline", 3}, {"spline", 5}, {"sines", 3},
              {"sines", 7}};
  const double h = 0.01;
  djRng rng = {2};
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
    Case coarse, fine, single;
    double z[MOST], out[2 * ROWS], alone[ROWS], f[LAST + 1], moves = 0;
    openMap(&coarse, list[i].type, list[i].n, true, ROWS, h);
    openMap(&fine, list[i].type, list[i].n, false, LAST + 1, h / FINE);
    openMap(&single, list[i].type, list[i].n, false, ROWS, h);
    djt_uniforms(z, list[i].n, &rng, -2, 2);
    applyMap(out, &coarse, z);
    applyMap(alone, &single, z);
    applyMap(f, &fine, z);
    for (int k = 0; k < ROWS; k++) {
      assert_true(out[k] == alone[k]);
      assertClose(out[k], f[k * FINE], 1e-12);
      assertClose(out[ROWS + k], slope(f, k * FINE, LAST, h / FINE), 1e-8);
      moves += fabs(out[ROWS + k]);
    }
    assert_true(list[i].n == 1 ? moves == 0 : moves > 1);
    closeCase(&coarse);
    closeCase(&fine);
    closeCase(&single);
  }
}

// One row: where things start; a spline has no rate there.
static void testOneRow(void) {
  Case c;
  double out[2];
  openMap(&c, "spline", 3, true, 1, 0.01);
  applyMap(out, &c, (double[]){0.3, 1, 2});
  assert_true(out[0] == 0.3 && out[1] == 0);
  closeCase(&c);
  openMap(&c, "sines", 4, true, 1, 0.01);
  applyMap(out, &c, (double[]){0.3, 2, 0, 5});
  assert_true(out[0] == 5);
  assertClose(out[1], 0.3 * 4 * acos(-1), 1e-15);
  closeCase(&c);
}

// dout . out at z with entry k moved by e.
static double moved(const Case* c, const double* z, const double* dout, int k, double e) {
  double x[MOST], out[2 * ROWS], sum = 0;
  memcpy(x, z, (size_t)c->p->map->nz * sizeof *x);
  x[k] += e;
  applyMap(out, c, x);
  for (int i = 0; i < c->p->map->nout; i++) sum += dout[i] * out[i];
  return sum;
}

static void testVjp(void) {
  static const struct {
    const char* type;
    int n, rows;
  } list[] = {{"spline", 1, ROWS}, {"spline", 2, ROWS}, {"spline", 3, ROWS}, {"spline", 7, ROWS},
              {"spline", 4, 1}, {"sines", 3, ROWS}, {"sines", 4, ROWS}, {"sines", 10, ROWS},
              {"sines", 7, 1}};
  const double e = 1e-3;
  djRng rng = {3};
  for (size_t i = 0; i < 2 * sizeof list / sizeof list[0]; i++) {
    Case c;
    double z[MOST], dz[MOST], dout[2 * ROWS], work[2 * MOST];
    int n = list[i / 2].n;
    openMap(&c, list[i / 2].type, n, i % 2 == 1, list[i / 2].rows, 0.01);
    djt_uniforms(z, n, &rng, -2, 2);
    djt_uniforms(dout, c.p->map->nout, &rng, -1, 1);
    for (int k = 0; k < n; k++) dz[k] = 7;   // it is added to
    c.p->map->type->vjp(dz, c.p->map, z, dout, work);
    for (int k = 0; k < n; k++) {
      double wide = moved(&c, z, dout, k, e) - moved(&c, z, dout, k, -e);
      double near = moved(&c, z, dout, k, e / 2) - moved(&c, z, dout, k, -e / 2);
      assertClose(dz[k] - 7, (8 * near - wide) / (6 * e), 1e-9);
    }
    closeCase(&c);
  }
}

// ---- designs ----------------------------------------------------------------------------------

#define TIMES "'timestep':0.01,'horizon':12,'ctrl':[0.3,0.7,-0.4]"
#define FREE "'free':{'z':{'value':[0.5,2,0.1,-0.2]},'y':{'value':[1,-2,0.5]}}"
#define SINES "{'type':'sines','from':'z','actuator':'m2','velocity':'m0'}"
#define SPLINE "{'type':'spline','from':'y','actuator':'m0','velocity':'m1'}"

// Each map alone, one after the other in both orders: controls that none computes are those given,
// a later map replaces what an earlier one set, and the gradient is that of what is left.
static void testDesigns(void) {
  static const char* const list[] = {SINES, SPLINE, SINES "," SPLINE, SPLINE "," SINES};
  static const double given[NU] = {0.3, 0.7, -0.4};
  for (int i = 0; i < 4; i++) {
    Case c;
    djDesign* d;
    char keys[1000];
    snprintf(keys, sizeof keys,
             TIMES "," FREE ",'maps':[%s],'variables':[{'name':'z'},{'name':'y'}],"
                   "'loss':[{'type':'effort'},{'type':'qpos','joint':'swing',"
                   "'target':1,'weight':50}]",
             list[i]);
    openCase(&c, keys);
    assert_int_equal(djd_makeDesign(&d, c.m, c.p, NULL), DJ_OK);
    double expected[NU * ROWS], out[2 * ROWS], work[2 * MOST], loss[4], grad[7], x[7];
    for (int k = 0; k < NU * ROWS; k++) expected[k] = given[k % NU];
    for (int k = 0; k < c.p->nmap; k++) {
      const djMap* map = &c.p->map[k];
      bool sines = strcmp(map->type->entry.name, "sines") == 0;
      map->type->apply(out, map, d->x0 + (sines ? 0 : 4), work);
      for (int row = 0; row < ROWS; row++) {
        expected[NU * row + (sines ? 2 : 0)] = out[row];
        expected[NU * row + (sines ? 0 : 1)] = out[ROWS + row];
      }
    }
    assert_memory_equal(d->rollout.ctrl, expected, sizeof expected);
    assert_int_equal(djd_evaluateDesign(loss, grad, d, d->x0), DJ_OK);
    for (int k = 0; k < 7; k++) {
      static const double steps[] = {1e-3, -1e-3, 5e-4, -5e-4};
      for (int s = 0; s < 4; s++) {
        memcpy(x, d->x0, sizeof x);
        x[k] += steps[s];
        assert_int_equal(djd_evaluateDesign(&loss[s], NULL, d, x), DJ_OK);
      }
      double slope_of = (8 * (loss[2] - loss[3]) - (loss[0] - loss[1])) / 6e-3;
      assertClose(grad[k], slope_of, 1e-8);
      assert_true((grad[k] == 0) == (k < 4 ? i == 1 : i == 0));
    }
    djd_deleteDesign(d);
    closeCase(&c);
  }
}

// A task that is refused.
static void refuse(const char* model, const char* maps, const char* message) {
  Case c;
  djError err = {""};
  char keys[1500];
  snprintf(keys, sizeof keys, "'horizon':4,'loss':[],%s%s", strstr(maps, "'free'") ? "" : FREE ",",
           maps);
  assert_false(tryCase(&c, &err, model, keys));
  assertMessage(err.text, message);
  closeCase(&c);
}

static void testErrors(void) {
  static const char* const types[] = {"sines", "spline"};
  static const char* const list[][2] = {
      {"'velocity':'m0'", "maps[0]: actuator: is missing"},
      {"'actuator':'m3'", "maps[0]: actuator: there is no 'm3'"},
      {"'actuator':3", "maps[0]: actuator: there is no '#3'"},
      {"'actuator':'m0','velocity':'swing'", "maps[0]: velocity: there is no 'swing'"},
      {"'actuator':'m1','velocity':'m1'", "maps[0]: velocity: 'm1' is given twice"},
      {"'actuator':'m1','velocity':1", "maps[0]: velocity: '#1' is given twice"},
      {"'actuator':'m1','velocity':[1]", "maps[0]: velocity: must be a string"},
      {"'actuator':'m1','to':'option/gravity'", "maps[0]: to: must be 'ctrl'"},
      {"'actuator':'m1','hold':1", "maps[0]: unknown key 'hold'"},
  };
  char maps[300];
  for (int t = 0; t < 2; t++) {
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
      snprintf(maps, sizeof maps, "'maps':[{'type':'%s','from':'z',%s}]", types[t], list[i][0]);
      refuse(scene, maps, list[i][1]);
    }
    snprintf(maps, sizeof maps, "'maps':[{'type':'%s','from':'z','actuator':0}]", types[t]);
    refuse(ARM "}", maps, "maps[0]: actuator: there is no '#0'");
    refuse(scene, "'free':{'z':{'value':[1,1e400,1]}}", "free: z: value: is not finite");
    // Entry 1 is of no map, 2 of `actuator`, 0 of `velocity`.
    for (int entry = 0; entry < NU; entry++) {
      char keys[400];
      Case c;
      djError err = {""};
      snprintf(keys, sizeof keys,
               "'horizon':4,'loss':[]," FREE ",'maps':[{'type':'%s','from':'z',"
               "'actuator':'m2','velocity':'m0'}],'variables':[{'name':'ctrl',"
               "'index':[%d]}]",
               types[t], NU + entry);
      assert_true(tryCase(&c, &err, scene, keys) == (entry == 1));
      if (entry != 1) assertMessage(err.text, "variables: 'ctrl' is computed by maps[0]");
      closeCase(&c);
    }
  }
  static const char* const wrong[] = {"1", "[1,2]", "[1,2,3,4,5]", "[1,2,3,4,5,6,7,8]"};
  for (int i = 0; i < 4; i++) {
    snprintf(maps, sizeof maps,
             "'free':{'z':{'value':%s}},'maps':[{'type':'sines','from':'z',"
             "'actuator':0}]",
             wrong[i]);
    refuse(scene, maps,
           "maps[0]: from: 'z' must be 3 W or 3 W + 1 numbers: rows of amplitude, Hz and phase, "
           "then perhaps an offset");
  }
}

// Numbers that are none, or become so, are refused where they would act.
static void testNotFinite(void) {
  static const struct {
    int entry;
    double value;
    const char* message;
  } list[] = {{0, NAN, "x[0] is not finite"},
              {3, INFINITY, "x[3] is not finite"},
              {1, 1e308, "ctrl of step 0: ctrl[0]: not a finite number"}};
  Case c;
  djDesign* d;
  openCase(&c, TIMES "," FREE ",'maps':[" SINES "],'variables':[{'name':'z'}],"
                     "'loss':[{'type':'effort'}]");
  assert_int_equal(djd_makeDesign(&d, c.m, c.p, NULL), DJ_OK);
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
    double loss, x[4] = {0.5, 2, 0.1, -0.2};
    x[list[i].entry] = list[i].value;
    assert_true(djd_evaluateDesign(&loss, NULL, d, x) < 0);
    assertMessage(d->error.text, list[i].message);
  }
  djd_deleteDesign(d);
  closeCase(&c);
}

// A design is of the timestep that its maps are made for, unless none depends on it.
static void testTimestep(void) {
  static const char* const list[] = {"{'type':'spline','from':'y','actuator':'m0'}", SPLINE, SINES,
                                     "{'type':'sines','from':'z','actuator':'m0'}"};
  for (int i = 0; i < 4; i++) {
    Case c;
    djDesign* d;
    djError err = {""};
    char keys[600];
    snprintf(keys, sizeof keys,
             TIMES "," FREE ",'loss':[],'maps':[{'type':'tanh','from':'y','hold':12},"
                   "%s]",
             list[i]);
    openCase(&c, keys);
    djOption option = c.m->opt;
    assert_true(option.timestep == 0.01);
    option.timestep = 0.004;
    assert_int_equal(dj_setOption(c.m, &option, &err), DJ_OK);
    djStatus status = djd_makeDesign(&d, c.m, c.p, &err);
    if (i > 0) {
      assert_int_equal(status, DJ_INVALID);
      assert_null(d);
      assertMessage(err.text, "maps[1]: made for a timestep of 0.01 s, the model's is 0.004 s");
    } else {
      assert_int_equal(status, DJ_OK);
    }
    djd_deleteDesign(d);
    closeCase(&c);
  }
}

DJT_MAIN(testSines, testRates, testOneRow, testVjp, testDesigns, testErrors, testNotFinite,
         testTimestep)
