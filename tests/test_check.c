// The certificate of a directional derivative, on functions whose derivative is known.

#include "common/test.h"

#include <dijoco/check.h>

#include <float.h>

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

static void right_gradients_pass(void) {
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

static void wrong_gradients_fail(void) {
  assert_false(certify(smooth, 3 * cos(1) * exp(sin(1)) * 1.00001).passed);
  assert_false(certify(stiff, 1e5 * cos(1) * 0.9999).passed);
  assert_false(certify(offset, 0).passed);
  assert_false(certify(quadratic, -2).passed);
  assert_false(certify(linear, -2.1).passed);
  assert_false(certify(constant, 1e-3).passed);
  assert_false(certify(corner, 1).passed);
}

static void linear_losses_have_no_slope(void) {
  djdCertificate c = certify(linear, -2);
  assert_true(c.passed);
  assert_false(c.has_slope);
  c = certify(constant, 0);
  assert_true(c.passed);
  assert_false(c.has_slope);
  assert_true(c.relative_error == 0);
}

// ---- slopes

static double linear_plus(double e) { return 1 + e; }
static double power_of(double e, double p) { return 1 + e + pow(fabs(e), p); }
static double power15(double e) { return power_of(e, 1.5); }
static double power18(double e) { return power_of(e, 1.8); }
static double power195(double e) { return power_of(e, 1.95); }
static double power2(double e) { return power_of(e, 2); }
static double power205(double e) { return power_of(e, 2.05); }
static double power22(double e) { return power_of(e, 2.2); }
static double power3(double e) { return power_of(e, 3); }

// The remainder of 1 + e + |e|^p is of order p, with the right derivative; that of a linear loss is
// of order 1, with one that is wrong by less than its error may be.
static void slopes_decide(void) {
  const struct {
    Function f;
    double analytic, slope;
    bool passes;
  } list[] = {{power15, 1, 1.5, false}, {power18, 1, 1.8, false},  {power195, 1, 1.95, true},
              {power2, 1, 2, true},     {power205, 1, 2.05, true}, {power22, 1, 2.2, false},
              {power3, 1, 3, false},    {linear_plus, 1 + 5e-7, 1, false},
              {linear_plus, 1, NAN, true}};
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
    djdCertificate c = certify(list[i].f, list[i].analytic);
    assert_true(c.relative_error < 1e-6);
    assert_int_equal(c.has_slope, !isnan(list[i].slope));
    if (c.has_slope) assert_true(fabs(c.slope - list[i].slope) < 0.02);
    assert_int_equal(c.passed, list[i].passes);
  }
}

// ---- steps that leave the neighbourhood

// A ball that is hit within 0.02, and missed beyond.
static double hit(double e) {
  double x = e / 0.02;
  return 5 + (fabs(x) < 1 ? e * pow(1 - x * x, 3) : 0);
}
static double never_hit(double e) { return 5 + 0 * e; }
// Beyond, another smooth loss.
static double elsewhere(double e) { return fabs(e) < 1e-3 ? 2 + sin(3 * e) : 2 + 0.5 * e + e * e; }
static double farther(double e) { return fabs(e) < 2e-6 ? 2 + sin(3 * e) : 2 + 0.5 * sin(e); }

static void small_steps_have_the_last_word(void) {
  const struct {
    Function f;
    double right, wrong;
  } list[] = {{hit, 1, 0}, {elsewhere, 3, 0.5}, {farther, 3, 0.5}, {never_hit, 0, 1e-3}};
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
    for (double scale = 1.7; scale > 0.01; scale /= 5) {
      Function f = list[i].f;
      djdCertificate c;
      assert_int_equal(djd_check(&c, f(0), list[i].right, scale, along, &f), DJ_OK);
      assert_true(c.passed);
      assert_true(c.relative_error < 1e-6);
      assert_int_equal(djd_check(&c, f(0), list[i].wrong, scale, along, &f), DJ_OK);
      assert_false(c.passed);
    }
  }
}

// ---- noise

typedef struct Noisy {
  double size, offset, bend;   // of the noise, of the loss; change over 1/bend
  bool one_sided;
  unsigned long seed;
} Noisy;

// offset + sin(bend e)/bend + noise that depends on the step alone, as rounding does.
static bool noisyAlong(void* user, double e, double* loss) {
  const Noisy* n = user;
  union {
    double x;
    uint32_t part[2];
  } bits = {e};
  double noise = 0;
  for (int k = 0; k < 4; k++) {   // nearly normal
    noise += djd_random(n->seed + k, bits.part[0], bits.part[1]) - 0.5;
  }
  *loss = n->offset + sin(n->bend * e) / n->bend + n->size * noise;
  return e >= 0 || !n->one_sided;
}

// The difference errs by no more than is granted, a right derivative passes, and one does not that
// is wrong by more.
static void uncertainty_is_honest(void) {
  int judged = 0;
  for (unsigned long seed = 0; seed < 400; seed++) {
    Noisy n = {.size = pow(10, -14 + (double)(seed % 5)), .bend = pow(10, (double)(seed % 4)),
               .offset = 1, .one_sided = seed % 3 == 0, .seed = 10 * seed};
    djdCertificate c;
    double loss;
    noisyAlong(&n, 0, &loss);
    assert_int_equal(djd_check(&c, loss, 1, 0.1, noisyAlong, &n), DJ_OK);
    assert_true(c.relative_error <= 1e-6 + c.uncertainty);
    assert_true(fabs(c.uncertainty - 4 * c.difference_error) < 1e-12);
    if (c.uncertainty > 1e-2) continue;
    judged++;
    assert_true(c.passed);
    double wrong = 1 + 2 * (1e-6 + c.uncertainty);
    assert_int_equal(djd_check(&c, loss, wrong, 0.1, noisyAlong, &n), DJ_OK);
    assert_false(c.passed);
  }
  assert_true(judged > 300);
}

typedef struct Target {
  double width, noise;
  unsigned long seed;
} Target;

// 1 + e and noise up to the target's width. Beyond, where it is missed, exactly 1.
static bool targetAlong(void* user, double e, double* loss) {
  const Target* t = user;
  Noisy n = {.size = t->noise * t->width, .bend = 1e-6, .seed = t->seed};
  double change = 0;
  if (e != 0 && fabs(e) < t->width) noisyAlong(&n, e, &change);
  *loss = 1 + change;
  return true;
}

// Steps that miss know of no derivative: next to noise their exact 0 must not win.
static void missed_targets_know_nothing(void) {
  for (unsigned long seed = 0; seed < 10; seed++) {
    for (double width = 0.3; width > 1e-4; width /= 2) {
      for (double noise = 0.01; noise < 0.11; noise *= sqrt(10)) {
        Target t = {width, noise, 10 * seed};
        djdCertificate c;
        assert_int_equal(djd_check(&c, 1, 1, 1, targetAlong, &t), DJ_OK);
        assert_true(c.difference != 0);
        assert_true(c.relative_error <= 1e-6 + c.uncertainty);
        assert_true(c.step < width);
      }
    }
  }
}

// More losses average noise that a ladder alone cannot see through.
static void noise_is_averaged(void) {
  for (unsigned long seed = 0; seed < 20; seed++) {
    Noisy n = {.size = 1e-11, .offset = 1, .bend = 100, .seed = seed};
    djdCertificate c;
    double loss;
    noisyAlong(&n, 0, &loss);
    assert_int_equal(djd_check(&c, loss, 1 + 1e-5, 0.1, noisyAlong, &n), DJ_OK);
    assert_false(c.passed);
    assert_true(c.uncertainty < 5e-6);
    n.size = 1e-9;   // of which a ladder alone leaves more than 5e-6
    noisyAlong(&n, 0, &loss);
    assert_int_equal(djd_check(&c, loss, 1 + 3e-6, 0.1, noisyAlong, &n), DJ_OK);
    assert_false(c.passed);
    assert_true(c.uncertainty < 1e-6);
    assert_true(c.relative_error <= 3e-6 + c.uncertainty);
  }
}

static void what_cannot_be_known_does_not_pass(void) {
  Noisy n = {.size = 1e-2, .offset = 1, .bend = 100};
  djdCertificate c;
  double loss;
  noisyAlong(&n, 0, &loss);
  assert_int_equal(djd_check(&c, loss, 1, 0.1, noisyAlong, &n), DJ_OK);
  assert_true(c.uncertainty > 1e-2);
  assert_false(c.passed);
}

// A loss that is all but linear has no slope that could refuse: a difference that knows less than a
// hundredth must do so by itself, of the right derivative too. What knows more lets it pass.
static void useless_differences_certify_nothing(void) {
  int useless = 0, rough = 0;
  for (unsigned long seed = 0; seed < 400; seed++) {
    Noisy n = {.size = pow(10, -6 + 0.015 * (double)seed), .offset = 1, .bend = 1e-3,
               .seed = 10 * seed};
    djdCertificate c;
    double loss;
    noisyAlong(&n, 0, &loss);
    assert_int_equal(djd_check(&c, loss, 1, 0.1, noisyAlong, &n), DJ_OK);
    if (c.has_slope || c.relative_error > 1e-6 + c.uncertainty) continue;
    assert_int_equal(c.passed, c.uncertainty <= 1e-2);
    useless += c.uncertainty > 1e-2;
    rough += c.uncertainty > 1e-3 && c.uncertainty <= 1e-2;
  }
  assert_true(useless > 50 && rough > 20);
}

// A derivative of 1e-9 of the loss, of which rounding leaves six digits or less.
static void small_derivatives_are_judged_by_what_is_known(void) {
  for (int k = 0; k < 50; k++) {
    Noisy n = {.offset = 1e9 * (1 + 0.01 * k), .bend = 0.3 + 0.1 * k};
    djdCertificate c;
    assert_int_equal(djd_check(&c, n.offset, 1, 1, noisyAlong, &n), DJ_OK);
    assert_true(c.passed);
    double wrong = 1 + 2 * (1e-6 + c.uncertainty);
    assert_int_equal(djd_check(&c, n.offset, wrong, 1, noisyAlong, &n), DJ_OK);
    assert_false(c.passed);
  }
}

// A state of 1e16 keeps nothing of any step, so that the loss is constant. The difference does not
// take that for knowledge of a derivative which rounding of the loss would hide as well.
static bool lostAlong(void* user, double e, double* loss) {
  volatile double state = 1e16;
  state += e;
  *loss = 1 + *(double*)user * (state - 1e16);
  return true;
}

static void rounded_states_are_no_knowledge(void) {
  for (double slope = 1e-14; slope < 2e-13; slope *= 2) {
    djdCertificate c;
    assert_int_equal(djd_check(&c, 1, slope, 0.1, lostAlong, &slope), DJ_OK);
    assert_true(c.difference == 0);
    assert_true(c.difference_error >= DBL_EPSILON / c.step);
    assert_true(c.passed);
    assert_int_equal(djd_check(&c, 1, 1e-11, 0.1, lostAlong, &slope), DJ_OK);
    assert_false(c.passed);
  }
}

// A loss with jumps at all steps, as of runs whose steps have several solutions, says nothing: that
// is found out soon, and no gradient is called wrong.
static bool jumpAlong(void* user, double e, double* loss) {
  int* count = user;
  uint64_t bits;
  memcpy(&bits, &e, sizeof bits);
  (*count)++;
  *loss = 1 + sin(e);
  if (e != 0 && djd_random(7, (unsigned long)(bits >> 12), 0) < 0.5) *loss += 0.1;
  return true;
}

static void jumps_are_given_up(void) {
  for (int k = 0; k < 2; k++) {
    int count = 0;
    djdCertificate c;
    djd_check(&c, 1, k ? 1 : 50, 0.1, jumpAlong, &count);
    assert_false(c.passed);
    assert_non_null(strstr(c.gave_up, "jumps"));
    assert_true(count <= 20);
  }
  djdCertificate c = certify(smooth, 3 * cos(1) * exp(sin(1)) * 1.1);
  assert_false(c.passed);
  assert_string_equal(c.gave_up, "");   // that is wrong
}

// More losses are not taken than are allowed, nor where they change nothing.
static void work_is_bounded(void) {
  Noisy n = {.size = 1e-9, .offset = 1, .bend = 100, .seed = 3};
  djdCertificate c;
  double loss;
  noisyAlong(&n, 0, &loss);
  assert_int_equal(djd_check(&c, loss, 1, 0.1, noisyAlong, &n), DJ_OK);
  assert_true(c.evaluations > 100 && c.evaluations <= DJD_CHECK_RUNS);
  assert_int_equal(djd_check(&c, loss, 1.5, 0.1, noisyAlong, &n), DJ_OK);
  assert_true(!c.passed && !*c.gave_up && c.evaluations < 60);
  assert_int_equal(djd_checkBudget(16, 0, 0), 800);
  assert_int_equal(djd_checkBudget(16, 0, 1700), 700);
  assert_int_equal(djd_checkBudget(16, 0, 2400), 0);
  assert_int_equal(djd_checkBudget(16, 0, 9999), 0);
  assert_int_equal(djd_checkBudget(3, 80, 100), 10);
}

// Slopes on both sides of a corner, and that they are the same where there is none.
static void corners_show_both_slopes(void) {
  const double analytic[] = {1, 1.5, 2, 0.9};
  for (int k = 0; k < 4; k++) {
    djdCertificate c = certify(corner, analytic[k]);
    assert_true(fabs(c.one_sided[0] - 1) < 1e-6 && fabs(c.one_sided[1] - 2) < 1e-6);
    assert_non_null(strstr(c.kink, "differ"));
    assert_false(c.passed);   // no cause is known
  }
  djdCertificate c = certify(smooth, 3 * cos(1) * exp(sin(1)));
  assert_string_equal(c.kink, "");
  assert_true(fabs(c.one_sided[1] - c.one_sided[0]) < 1e-4 * fabs(c.analytic));
  c = certify(one_sided, 1);
  assert_true(isnan(c.one_sided[0]) && fabs(c.one_sided[1] - 1) < 1e-6 && !*c.kink);
}

static double nowhere(double e) { return e == 0 ? 1 : NAN; }

static void bad_input_is_refused(void) {
  Function f = smooth;
  djdCertificate c;
  assert_int_equal(djd_check(&c, 1, 1, 0, along, &f), DJ_INVALID);
  assert_int_equal(djd_check(&c, NAN, 1, 1, along, &f), DJ_INVALID);
  assert_int_equal(djd_check(NULL, 1, 1, 1, along, &f), DJ_INVALID);
  assert_int_equal(djd_check(&c, 1, 1, 1, NULL, &f), DJ_INVALID);
  f = nowhere;
  assert_int_equal(djd_check(&c, 1, 1, 1, along, &f), DJ_NOT_CONVERGED);
  assert_false(c.passed);
  assert_non_null(strstr(c.gave_up, "three steps"));
}

DJT_MAIN(right_gradients_pass, wrong_gradients_fail, linear_losses_have_no_slope, slopes_decide,
         small_steps_have_the_last_word, uncertainty_is_honest, missed_targets_know_nothing,
         useless_differences_certify_nothing, rounded_states_are_no_knowledge, noise_is_averaged,
         what_cannot_be_known_does_not_pass, small_derivatives_are_judged_by_what_is_known,
         jumps_are_given_up, work_is_bounded, corners_show_both_slopes, bad_input_is_refused)
