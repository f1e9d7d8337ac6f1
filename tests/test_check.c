// The certificate of a directional derivative, on functions whose derivative is known.

#include <dijoco/check.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

typedef double (*Function)(double e);

static bool along(void* user, double e, double* loss) {
  Function* f = user;
  *loss = (*f)(e);
  return isfinite(*loss);
}

static djdCertificate certify(Function f, double analytic) {
  djdCertificate c;
  assert_int_equal(djd_check(&c, f(0), analytic, 0.1, along, &f), DJ_OK);
  return c;
}

static double smooth(double e) { return exp(sin(1 + 3 * e)); }
static double stiff(double e) { return sin(1 + 1e5 * e); }
static double offset(double e) { return 1e4 + sin(1 + 30 * e); }
static double quadratic(double e) { return (1 + e) * (1 + e); }
static double linear(double e) { return 3 - 2 * e; }
static double constant(double e) { return 0 * e + 4; }
static double one_sided(double e) { return e < 0 ? NAN : exp(e); }
static double corner(double e) { return 1 + e + (e > 0 ? e : 0); }
// C2: zero beyond, the fourth power before, as the contact barrier
static double barrier(double e) { return 1 + e + (e < 1e-3 ? pow(1 - 1e3 * e, 4) : 0); }

static void right_gradients_pass(void** state) {
  (void)state;
  const struct {
    Function f;
    double analytic;
  } list[] = {{smooth, 3 * cos(1) * exp(sin(1))}, {stiff, 1e5 * cos(1)}, {offset, 30 * cos(1)},
              {quadratic, 2},                     {one_sided, 1},        {barrier, 1 - 4e3}};
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
    djdCertificate c = certify(list[i].f, list[i].analytic);
    assert_true(c.passed);
    assert_true(c.has_slope);
    assert_true(c.relative_error < 1e-7);
    assert_true(fabs(c.slope - 2) < 0.05);
    assert_true(c.difference_error < 1e-5 * fabs(list[i].analytic));
  }
}

static void wrong_gradients_fail(void** state) {
  (void)state;
  assert_false(certify(smooth, 3 * cos(1) * exp(sin(1)) * 1.00001).passed);
  assert_false(certify(stiff, 1e5 * cos(1) * 0.9999).passed);
  assert_false(certify(offset, 0).passed);
  assert_false(certify(quadratic, -2).passed);
  assert_false(certify(linear, -2.1).passed);
  assert_false(certify(constant, 1e-3).passed);
  assert_false(certify(corner, 1).passed);
}

static void linear_losses_have_no_slope(void** state) {
  (void)state;
  djdCertificate c = certify(linear, -2);
  assert_true(c.passed);
  assert_false(c.has_slope);
  c = certify(constant, 0);
  assert_true(c.passed);
  assert_false(c.has_slope);
  assert_true(c.relative_error == 0);
}

static double nowhere(double e) { return e == 0 ? 1 : NAN; }

static void bad_input_is_refused(void** state) {
  (void)state;
  Function f = smooth;
  djdCertificate c;
  assert_int_equal(djd_check(&c, 1, 1, 0, along, &f), DJ_INVALID);
  assert_int_equal(djd_check(&c, NAN, 1, 1, along, &f), DJ_INVALID);
  assert_int_equal(djd_check(NULL, 1, 1, 1, along, &f), DJ_INVALID);
  assert_int_equal(djd_check(&c, 1, 1, 1, NULL, &f), DJ_INVALID);
  f = nowhere;
  assert_int_equal(djd_check(&c, 1, 1, 1, along, &f), DJ_NOT_CONVERGED);
  assert_false(c.passed);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(right_gradients_pass), cmocka_unit_test(wrong_gradients_fail),
      cmocka_unit_test(linear_losses_have_no_slope), cmocka_unit_test(bad_input_is_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
