// Height fields of MJCF: what is read, how bodies move on them beside MuJoCo, and what is written.

#define _GNU_SOURCE   // mkstemps
#include "common/make_model.h"
#include "common/mjcf.h"
#include "common/near.h"
#include "common/test.h"

#include "write.h"
#include "write_hfield.h"

#include <unistd.h>

enum { ROWS = 17, COLUMNS = 21 };

static double heightAt(double x, double y) {
  return 0.1 + 0.06 * sin(2.1 * x + 0.3) * cos(1.7 * y) - 0.03 * x;
}

// A field of hills about a turned, raised frame, with a body upon it. MJCF has its rows from the
// highest y down, and stretches them to 0 to 1.
static char* sceneText(const char* body) {
  char* text = NULL;
  size_t size;
  FILE* f = open_memstream(&text, &size);
  double h[ROWS * COLUMNS], low = INFINITY, high = -INFINITY;
  for (int k = 0; k < ROWS * COLUMNS; k++) {
    h[k] = heightAt(2.0 * (k % COLUMNS) / (COLUMNS - 1) - 1, 1.6 * (k / COLUMNS) / (ROWS - 1) - 0.8);
    low = fmin(low, h[k]);
    high = fmax(high, h[k]);
  }
  fprintf(f, "<mujoco><option timestep='.002' cone='elliptic'/><asset><hfield name='hills' nrow='%d' "
             "ncol='%d' size='1 .8 %.17g .15' elevation='", ROWS, COLUMNS, high - low);
  for (int j = ROWS - 1; j >= 0; j--) {
    for (int i = 0; i < COLUMNS; i++) fprintf(f, "%.9g ", (h[j * COLUMNS + i] - low) / (high - low));
  }
  fprintf(f, "'/></asset><worldbody><geom name='ground' type='hfield' hfield='hills' pos='.1 -.05 "
             "%.17g' euler='0 0 30'/>%s</worldbody></mujoco>", low, body);
  fclose(f);
  return text;
}

static void testRead(void) {
  char* text = sceneText("<body pos='0 0 1'><freejoint/><geom size='.1'/></body>");
  mjModel* m = djt_compile(text);
  djModel* x = djt_import(NULL, m);
  assert_int_equal(x->nhfield, 1);
  assert_true(x->hfield_nrow[0] == ROWS && x->hfield_ncol[0] == COLUMNS && x->geom_hfield[0] == 0);
  const double size[3] = {1, 0.8, 0.15};
  for (int k = 0; k < 3; k++) assert_true(x->hfield_size[k] == size[k]);
  for (int k = 0; k < ROWS * COLUMNS; k++) {
    const double wanted = heightAt(2.0 * (k % COLUMNS) / (COLUMNS - 1) - 1,
                                   1.6 * (k / COLUMNS) / (ROWS - 1) - 0.8);
    djt_near(x->hfield_height[k] + x->geom_pos[2], wanted, 1e-7);
  }
  dj_deleteModel(x);
  mj_deleteModel(m);
  free(text);
}

// Bodies are laid on the hills and go down them, without impacts, as MuJoCo's do on its triangles.
static void testBeside(void) {
  static const struct {
    const char* geom;
    double tolerance;   // m, after half a second
  } cases[] = {{"type='sphere' size='.08'", 0.005},
               {"type='box' size='.1 .08 .05' friction='.9'", 0.004},
               {"type='capsule' size='.05 .1'", 0.005},
               {"type='ellipsoid' size='.1 .08 .06'", 0.004}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char body[300];
    snprintf(body, sizeof body, "<body pos='.2 .1 .3'><freejoint/><geom %s mass='.5'/></body>",
             cases[i].geom);
    char* text = sceneText(body);
    mjModel* m = djt_compile(text);
    mjData* stock = mj_makeData(m);
    djModel* x = djt_import(NULL, m);
    djData* d = djt_data(x);
    // settled on its way by friction that nothing overcomes: lowered until it touches
    for (double z = 0.3; z > 0.05; z -= 1e-4) {
      stock->qpos[2] = z;
      mj_forward(m, stock);
      if (stock->ncon > 0 && stock->contact[0].dist < 0) break;
    }
    assert_true(stock->ncon > 0);
    mju_copy(d->qpos, stock->qpos, 7);
    d->qpos[2] += 1e-3;
    double far = 0;
    for (int k = 0; k < 250; k++) {
      mj_step(m, stock);
      assert_true(dj_step(x, d) >= 0);
      far = fmax(far, mju_dist3(stock->qpos, d->qpos));
    }
    assert_int_equal(d->stats.unconverged_steps, 0);
    print_message("%-45s at most %.2g m apart, moved %.2g m\n", cases[i].geom, far,
                  hypot(stock->qpos[0] - 0.2, stock->qpos[1] - 0.1));
    assert_true(far < cases[i].tolerance);
    djt_delete(x, d);
    djt_deleteEngine(m, stock);
    free(text);
  }
}

// Heights that a design has changed: MuJoCo's parts, range and the geom's place follow, and the
// surface is where it was wanted as far as single precision has it.
static void testWritten(void) {
  char* text = sceneText("<body pos='0 0 1'><freejoint/><geom size='.1'/></body>");
  char path[] = "djwriteXXXXXX.xml";
  int file = mkstemps(path, 4);
  assert_true(file >= 0);
  assert_int_equal(write(file, text, strlen(text)), (int)strlen(text));
  close(file);
  mjModel* m = djt_compile(text);
  djModel* x = djt_import(NULL, m);
  for (int i = 0; i < 3; i++) {   // lower, higher, all alike
    double height[ROWS * COLUMNS];
    djError err;
    char* made;
    for (int k = 0; k < ROWS * COLUMNS; k++) {
      const double was = x->hfield_height[k];
      height[k] = i == 0 ? was - 0.05 - 0.01 * (k % 5) : i == 1 ? was + 0.02 * (k % 7) : 0.125;
    }
    djParam param = djt_param(x, "hfield/hills/heights");
    assert_int_equal(dj_setParam(x, &param, height, &err), DJ_OK);
    if (djm_makeMJCF(&made, path, x, NULL, &err) != DJ_OK) fail_msg("%s", err.text);
    mjModel* w = djt_compile(made);
    djModel* y = djt_import(NULL, w);
    for (int k = 0; k < ROWS * COLUMNS; k++) {
      djt_near(y->hfield_height[k] + y->geom_pos[2], height[k] + x->geom_pos[2], 1e-7);
    }
    djt_near(y->geom_pos[2] - y->hfield_size[2], x->geom_pos[2] - x->hfield_size[2], 1e-9);
    assert_true(djm_checkHfields(y, x, 1e-9, &err));
    y->hfield_height[7] += 1e-4;
    assert_false(djm_checkHfields(y, x, 1e-9, &err));
    assert_non_null(strstr(err.text, "hfield/hills/heights: could not be written: number 7 is"));
    free(made);
    dj_deleteModel(y);
    mj_deleteModel(w);
  }
  dj_deleteModel(x);
  mj_deleteModel(m);
  free(text);
  remove(path);
}

DJT_MAIN(testRead, testBeside, testWritten)
