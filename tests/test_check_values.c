// What is asked of single values of definitions.

#include "common/near.h"
#include "common/test.h"
#include "model/check.h"
#include "model/geom_row.h"
#include "model/joint_type.h"

static void testNumbers(void) {
  const double good[3] = {0, 1, 2}, minus[3] = {1, -1, 2}, odd[3] = {1, NAN, INFINITY};
  assert_true(dj_allFinite(minus, 3) && !dj_allFinite(odd, 3) && dj_allFinite(odd, 1));
  assert_true(dj_allNonnegative(good, 3) && !dj_allNonnegative(minus, 3));
  assert_false(dj_allNonnegative(odd + 2, 1));
  assert_string_equal(dj_elementText("joint", "knee", 3).text, "joint 'knee'");
  assert_string_equal(dj_elementText("joint", "", 3).text, "joint #3");
  assert_string_equal(dj_elementText("joint", NULL, 3).text, "joint #3");
}

static void testUnit(void) {
  const double v[3] = {3, 0, 4}, zero[3] = {0};
  double out[3], again[3];
  assert_true(dj_makeUnit(out, v, 3));
  djt_near(out[0], 0.6, 1e-15);
  djt_near(out[2], 0.8, 1e-15);
  assert_true(dj_makeUnit(again, out, 3));
  assert_memory_equal(again, out, sizeof out);
  assert_false(dj_makeUnit(out, zero, 3));
}

static void testSizes(void) {
  const double large[2] = {1, -2e20}, huge = 2e60, small = 1e-21, fine = 1e-20;
  assert_string_equal(dj_sizeProblem(large, 2, DJ_LARGEST), "is larger than 1e20");
  assert_null(dj_sizeProblem(large, 1, DJ_LARGEST));
  assert_null(dj_sizeProblem(large, 2, DJ_LARGEST_FORCE));
  assert_string_equal(dj_sizeProblem(&huge, 1, DJ_LARGEST_FORCE), "is larger than 1e60");
  assert_string_equal(dj_smallProblem(small), "is smaller than 1e-20");
  assert_null(dj_smallProblem(fine));
  assert_null(dj_smallProblem(0));
}

static void testRanges(void) {
  const double right[2] = {-1, 1}, reversed[2] = {1, -1}, open[2] = {-INFINITY, 1};
  assert_null(dj_rangeProblem(right, true));
  assert_string_equal(dj_rangeProblem(reversed, true), "is reversed");
  assert_null(dj_rangeProblem(reversed, false));
  assert_non_null(dj_rangeProblem(open, true));
}

static void testTypes(void) {
  assert_true(dj_jointNq(DJ_FREE) == 7 && dj_jointNv(DJ_FREE) == 6 && dj_jointNq(DJ_BALL) == 4);
  assert_true(dj_isScalarJoint(DJ_SLIDE) && dj_isScalarJoint(DJ_HINGE));
  assert_false(dj_isScalarJoint(DJ_BALL) || dj_isScalarJoint(DJ_FREE));
  assert_true(dj_jointTurns(DJ_HINGE) && !dj_jointTurns(DJ_SLIDE));
  assert_true(dj_geomRow(DJ_BOX)->nsize == 3 && dj_geomRow(DJ_CAPSULE)->nsize == 2);
  assert_true(dj_geomRow(DJ_SPHERE)->nsize == 1 && dj_geomRow(DJ_ELLIPSOID)->nsize == 3);
  const double flat[3] = {1, 2, 3}, thin[3] = {1, 2, 3.1}, minus[3] = {1, 1, -0.1};
  assert_true(dj_inertiaOk(flat));
  assert_false(dj_inertiaOk(thin) || dj_inertiaOk(minus));
}

DJT_MAIN(testNumbers, testUnit, testSizes, testRanges, testTypes)
