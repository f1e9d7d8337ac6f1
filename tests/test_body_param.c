// Derivatives of the step's residual by masses, inertial frames, inertias and gravity.

#include "common/param_case.h"
#include "common/test.h"
#include "force/drag.h"

static const djField field[] = {DJ_FIELD_BODY_MASS,    DJ_FIELD_BODY_IPOS,
                                DJ_FIELD_BODY_IQUAT,   DJ_FIELD_BODY_INERTIA,
                                DJ_FIELD_BODY_GRAVCOMP, DJ_FIELD_GRAVITY};
enum { NFIELD = sizeof field / sizeof field[0] };

static void test_differences(void) {
  djRng rng = {11};
  djtWorst worst = {{0}, {0}, {0}};
  for (int trial = 0; trial < 20; trial++) {
    djModel* m = djt_randomModel(&rng, 1 + djt_integer(&rng, 6), DJT_ALL);
    m->opt.timestep = 0.02;
    m->opt.integrator = djt_paramMethod(trial);
    djParamCase c = djt_openParamCase(m, &rng, 2);
    djt_compareParams(&worst, &c, field, NFIELD);
    djt_closeParamCase(&c);
  }
  djt_expectRight(&worst, field, NFIELD);
  for (int f = 0; f < NFIELD; f++) {
    assert_true(worst.nonzero[field[f]] > 0.65 * worst.count[field[f]]);   // all but the world's
  }
}

// Every combination of what switches terms off, and gravity's scale.
static void test_disabled(void) {
  static const int flags[] = {DJ_DSBL_GRAVITY, DJ_DSBL_SPRING, DJ_DSBL_DAMPER,
                              DJ_DSBL_SPRING | DJ_DSBL_DAMPER,
                              DJ_DSBL_SPRING | DJ_DSBL_DAMPER | DJ_DSBL_GRAVITY};
  djRng rng = {12};
  djtWorst worst = {{0}, {0}, {0}};
  for (int trial = 0; trial < 15; trial++) {
    int off = flags[trial % 5];
    djModel* m = djt_randomModel(&rng, 4, DJT_ALL);
    m->opt.disable |= off;
    m->opt.integrator = djt_paramMethod(trial / 5);
    djParamCase c = djt_openParamCase(m, &rng, 2);
    c.data->work->start.gravity_scale = c.other->work->start.gravity_scale = 0.3;
    djt_paramGradient(&c);
    djt_compareParams(&worst, &c, field, NFIELD);
    const double* gravity = dj_paramEntry(c.grad, m, DJ_FIELD_GRAVITY, 0);
    assert_true((gravity[0] == 0) == ((off & DJ_DSBL_GRAVITY) != 0));
    const double* comp = dj_paramEntry(c.grad, m, DJ_FIELD_BODY_GRAVCOMP, 1);
    bool none = (off & DJ_DSBL_GRAVITY) ||
                off == (DJ_DSBL_SPRING | DJ_DSBL_DAMPER);
    assert_true((comp[0] == 0) == none);
    djt_closeParamCase(&c);
  }
  djt_expectRight(&worst, field, NFIELD);
}

// A gradient that is wrong by a tenth of a percent is seen.
static void test_wrong(void) {
  djRng rng = {13};
  djModel* m = djt_randomModel(&rng, 3, DJT_ALL);
  m->opt.timestep = 0.02;
  m->opt.integrator = djt_paramMethod(0);
  djParamCase c = djt_openParamCase(m, &rng, 2);
  for (int f = 0; f < NFIELD; f++) {
    djtWorst worst = {{0}, {0}, {0}};
    double* entry = dj_paramEntry(c.grad, m, field[f], field[f] == DJ_FIELD_GRAVITY ? 0 : 2);
    assert_true(entry[0] != 0);
    entry[0] *= 1.001;
    djt_compareParams(&worst, &c, &field[f], 1);
    assert_true(worst.error[field[f]] > 1e-6);
    entry[0] /= 1.001;
  }
  djt_closeParamCase(&c);
}

// Drag's coefficients where the box is flat: they do not depend on the inertia there.
static void test_flat(void) {
  djRng rng = {14};
  djModel* m = djt_randomModel(&rng, 1, DJT_FLUID);
  m->body_inertia[3] = 0.5 * m->body_inertia[4];
  m->body_inertia[5] = m->body_inertia[4] - m->body_inertia[3];
  double one[6] = {1, 1, 1, 1, 1, 1}, mass = 0, inertia[3] = {0};
  dj_dragCoefficientParams(&mass, inertia, m, 1, one, one);
  assert_true(mass < 0 && isfinite(mass));
  // Edge 1 is clamped, by x_1 = I_2 + I_0 - I_1 = 0: I_1 acts through the others alone.
  djDrag drag;
  double sum[2], h = 1e-6 * m->body_inertia[4];
  for (int side = 0; side < 2; side++) {
    m->body_inertia[4] += side ? h : 0;   // deeper in the clamp
    dj_setDrag(&drag, m, 1);
    sum[side] = 0;
    for (int i = 0; i < 6; i++) sum[side] += drag.linear[i] + drag.square[i];
  }
  assert_true(fabs((sum[1] - sum[0]) / h - inertia[1]) < 1e-4 * fabs(inertia[1]));
  dj_deleteModel(m);
}

DJT_MAIN(test_differences, test_disabled, test_wrong, test_flat)
