// Soft rows: slopes and curvatures beside differences on both sides of every corner, what they are
// far from corners, and that corners are as wide as they say. Rows of a step: a hinge beside its
// limit in closed form, with damping at the end of the step.

#include "common/make_model.h"
#include "common/random_model.h"
#include "common/scene.h"
#include "common/test.h"
#include "common/worst.h"
#include "force/soft_row.h"
#include "integrate/euler_row.h"
#include "integrate/work.h"

#include <dijoco/dijoco.h>

static const double impedance[5] = {0.7, 0.95, 0.1, 0.4, 3};
static const double corner = 0.5;   // of z

static void near(double a, double b, double most) {
  if (!(fabs(a - b) <= most)) fail_msg("%.15g, not %.15g", a, b);
}

static djLimitDef limitAt(double low, double high) {
  return (djLimitDef){{low, high}, 0.02, 3000, 200, 1.7, impedance};
}

static djSoftRow rowAt(const djLimitDef* limit, double loss, double x, double v) {
  djSoftRow row = {.corner = corner};
  dj_setRowLimit(&row, limit, x, v);
  dj_setRowLoss(&row, loss, 100, 0.9, limit->inertia, v);
  return row;
}

// Largest error of derivatives at z, relative; wrong: of the curvature.
static double slopeError(double x, double v, double z, double loss, double wrong) {
  const double e = 1e-6;
  djLimitDef l = limitAt(-1, 1), low = limitAt(-1 + e, 1), high = limitAt(-1, 1 + e);
  djLimitDef low2 = limitAt(-1 - e, 1), high2 = limitAt(-1, 1 - e);
  djSoftRow row = rowAt(&l, loss, x, v);
  djRowSlope s = dj_rowSlope(&row, z), a = dj_rowSlope(&row, z + e), b = dj_rowSlope(&row, z - e);
  double worst = fabs((a.f - b.f) / (2 * e) - s.d);
  worst = djt_worst(worst, fabs((a.d - b.d) / (2 * e) - s.dd - wrong));
#define DIFFERENCE(name, plus, minus)                                    \
  do {                                                                   \
    djSoftRow p = plus, q = minus;                                       \
    double d = dj_rowSlope(&p, z).d - dj_rowSlope(&q, z).d;              \
    worst = djt_worst(worst, fabs(d / (2 * e) - s.name) / 1e3);          \
  } while (0)
  DIFFERENCE(by_x, rowAt(&l, loss, x + e, v), rowAt(&l, loss, x - e, v));
  DIFFERENCE(by_v, rowAt(&l, loss, x, v + e), rowAt(&l, loss, x, v - e));
  DIFFERENCE(by_range[0], rowAt(&low, loss, x, v), rowAt(&low2, loss, x, v));
  DIFFERENCE(by_range[1], rowAt(&high, loss, x, v), rowAt(&high2, loss, x, v));
  if (loss > 0) DIFFERENCE(by_loss, rowAt(&l, loss + e, x, v), rowAt(&l, loss - e, x, v));
  return worst / (1 + fabs(s.d));
}

static void testSlopes(void) {
  djRng rng = {5};
  double worst = 0, wrong = INFINITY;
  for (int k = 0; k < 2000; k++) {
    double x = djt_uniform(&rng, -1.15, 1.15), v = djt_uniform(&rng, -1, 1);
    double loss = k % 3 ? djt_uniform(&rng, 0.1, 20) : 0, z = djt_uniform(&rng, -50, 50);
    djLimitDef l = limitAt(-1, 1);
    djSoftRow row = rowAt(&l, loss, x, v);
    if (k % 2 && row.side[1].acts) z = -row.side[1].aref + djt_uniform(&rng, -1, 1) * corner;
    if (k % 4 == 0 && loss > 0) z = row.aref + loss / row.D + djt_uniform(&rng, -1, 1) * corner;
    worst = djt_worst(worst, slopeError(x, v, z, loss, 0));
    wrong = fmin(wrong, slopeError(x, v, z, loss, 1) * (1 + fabs(dj_rowSlope(&row, z).d)));
  }
  print_message("slopes: %.1e (with an error of 1: %.1e)\n", worst, wrong);
  assert_true(worst < 1e-4 && wrong > 0.5);
}

// Far from corners: D (z - aref) of a limit that presses, 0 of one that does not, and the loss.
static void testBranches(void) {
  djLimitDef l = limitAt(-1, 1);
  djSoftRow row = rowAt(&l, 0, 1.2, 0.3);
  djRowSide s = row.side[1];
  assert_true(s.acts && !row.side[0].acts);
  near(s.D, 1.7 * 0.95 / 0.05, 1e-12);
  near(s.aref, 0.05 / 0.95 * 200 * 0.3 + 0.05 / 0.95 * 3000 * 0.22, 1e-12);
  double z = -s.aref + 2 * corner;
  near(dj_rowSlope(&row, z).d, s.D * (z + s.aref), 1e-9);
  near(dj_rowSlope(&row, z).limit, s.D * (z + s.aref), 1e-9);
  near(dj_rowSlope(&row, -s.aref - 2 * corner).d, 0, 0);
  row = rowAt(&l, 3, 0, 0.3);
  assert_false(row.side[0].acts || row.side[1].acts);
  near(dj_rowSlope(&row, row.aref + 1000).d, 3, 1e-12);
  near(dj_rowSlope(&row, row.aref - 1000).d, -3, 1e-12);
  near(dj_rowSlope(&row, row.aref + 0.01).d, row.D * 0.01, 1e-12);
}

// I a_M = D (-aref - a_M) of a hinge beyond its limit; (I + h c) a = I a_M.
static void testHinge(void) {
  Scene* scene = newScene(1);
  addBody(scene, 0, DJ_HINGE, 0, 0, 0, 1, 0.2);
  djJointDef* j = &scene->joint[0];
  j->limited = true;
  j->range[0] = -1;
  j->range[1] = 0.5;
  j->damping = 0.3;
  djModel* m = takeScene(scene);
  djOption option = m->opt;
  djError err;
  option.integrator = DJ_EULER;
  option.timestep = 0.01;
  if (dj_setOption(m, &option, &err) < 0) fail_msg("%s", err.text);
  djData* d = djt_data(m);
  m->opt.gravity[2] = 0;
  d->qpos[0] = 0.6;
  d->qvel[0] = 0.4;
  assert_int_equal(dj_step(m, d), DJ_OK);
  const djEulerRow* r = d->work->rows.row;
  assert_int_equal(d->work->rows.n, 1);
  assert_true(d->work->rows.mixed && r->coordinate == 0);
  djRowSide s = r->law.side[1];
  double M = *dj_stageOf(d->work)->linear.M.data, tau = -0.3 * 0.4;
  double a = (tau - s.D * s.aref) / (M + s.D), end = 0.4 + 0.01 * M * a / (M + 0.003);
  print_message("hinge: %.15g, %.15g\n", d->qvel[0], end);
  near(d->qvel[0], end, 1e-12);
  double force;
  assert_int_equal(dj_limitForces(&force, m, d), DJ_OK);
  near(force, s.D * (s.aref + a), 1e-9);
  near(r->law.corner, 1e-7 / (0.01 * 0.01), 1e-15);
  option.timestep = 1e-4;   // corners that grew without end would be all there is
  if (dj_setOption(m, &option, &err) < 0) fail_msg("%s", err.text);
  assert_int_equal(dj_step(m, d), DJ_OK);
  near(d->work->rows.row->law.corner, 0.025, 1e-15);
  djt_delete(m, d);
}

DJT_MAIN(testSlopes, testBranches, testHinge)
