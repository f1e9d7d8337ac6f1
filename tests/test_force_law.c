// Laws of gain and bias, row by row: the numbers that a law does not read do nothing, derivatives
// are those of its coefficients, which are a tangent's, and names lead to rows and back.

#include "common/make_model.h"
#include "common/near.h"
#include "common/random_model.h"
#include "common/test.h"
#include "model/motor.h"

static djLawAt placeOf(djRng* rng) {
  return (djLawAt){djt_uniform(rng, 0.5, 1.1), djt_uniform(rng, -0.9, 0.9), {0.5, 1.1}, 2};
}

// Where a law is not smooth is left alone: a difference across it is of neither side.
static void near(double value, const double coarse, const double fine, double size, int* left) {
  if (fabs(coarse - fine) > 1e-6 * size) {
    ++*left;
    return;
  }
  djt_near(value / size, fine / size, 1e-5);
}

// Numbers that all laws take: a muscle's range, force, scale, lmin, lmax, vmax, fpmax, fvmax.
static void chooseNumbers(double prm[DJ_NPRM], djRng* rng) {
  const double typical[DJ_NPRM] = {0.7, 1.1, 30, 200, 0.5, 1.6, 1.5, 1.3, 1.2, 1};
  for (int k = 0; k < DJ_NPRM; k++) prm[k] = typical[k] * djt_uniform(rng, 0.95, 1.05);
  if (djt_uniform(rng, 0, 1) < 0.3) prm[2] = -1;
}

static double weighted(const djForceLaw* law, const double* prm, const djLawAt* at,
                       const double weight[3]) {
  djLawCoefs f;
  law->set(&f, law, prm, at);
  return weight[0] * f.c[0] + weight[1] * f.c[1] + weight[2] * f.c[2];
}

static double slope(const djForceLaw* law, const double* prm, const djLawAt* at,
                    const double weight[3], int k, double e) {
  double other[DJ_NPRM], f[2];
  for (int side = 0; side < 2; side++) {
    memcpy(other, prm, sizeof other);
    other[k] += side ? e : -e;
    f[side] = weighted(law, other, at, weight);
  }
  return (f[1] - f[0]) / (2 * e);
}

static void checkNumbers(const djForceLaw* law, djRng* rng, int* left) {
  double prm[DJ_NPRM], weight[3], by[DJ_NPRM] = {0};
  djLawAt at = placeOf(rng);
  chooseNumbers(prm, rng);
  for (int k = 0; k < 3; k++) weight[k] = djt_uniform(rng, -1, 1);
  law->vjp(by, law, weight, prm, &at);
  for (int k = 0; k < DJ_NPRM; k++) {
    double e = 1e-5 * fmax(1, fabs(prm[k]));
    double coarse = slope(law, prm, &at, weight, k, 2 * e);
    double fine = slope(law, prm, &at, weight, k, e);
    near(by[k], coarse, fine, fmax(10, fabs(fine)), left);
    if (k >= law->nprm) assert_true(fine == 0 && by[k] == 0);
  }
}

// The value at a place, by its own tangent.
static double valueAt(const djForceLaw* law, const double* prm, const djLawAt* at) {
  djLawCoefs f;
  law->set(&f, law, prm, at);
  return f.c[0] + f.c[1] * at->l + f.c[2] * at->rate;
}

// What: 0: the value, 1: the slope by l'; by l or l'.
static double placeSlope(const djForceLaw* law, const double* prm, djLawAt at, int what, bool by_l,
                         double e) {
  double f[2];
  for (int side = 0; side < 2; side++) {
    djLawAt moved = at;
    *(by_l ? &moved.l : &moved.rate) += side ? e : -e;
    djLawCoefs c;
    law->set(&c, law, prm, &moved);
    f[side] = what ? c.c[2] : valueAt(law, prm, &moved);
  }
  return (f[1] - f[0]) / (2 * e);
}

static void checkTangent(const djForceLaw* law, djRng* rng, int* left) {
  double prm[DJ_NPRM];
  djLawAt at = placeOf(rng);
  djLawCoefs f;
  chooseNumbers(prm, rng);
  law->set(&f, law, prm, &at);
  const double found[4] = {f.c[1], f.c[2], f.by_l, f.by_rate};
  for (int k = 0; k < 4; k++) {
    double coarse = placeSlope(law, prm, at, k / 2, k % 2 == 0, 2e-5);
    double fine = placeSlope(law, prm, at, k / 2, k % 2 == 0, 1e-5);
    near(found[k], coarse, fine, fmax(10, fabs(fine)), left);
  }
  if (!law->bends) assert_true(f.by_l == 0 && f.by_rate == 0);
}

static int checkTable(const djForceLaw* law, const djChoice* names, djRng* rng) {
  int n = 0, left = 0;
  for (; names[n].name; n++) {
    assert_int_equal(names[n].value, n);
    assert_string_equal(names[n].name, law[n].name);
    for (int trial = 0; trial < 200; trial++) {
      checkNumbers(&law[n], rng, &left);
      checkTangent(&law[n], rng, &left);
    }
    assert_true(!law[n].problem || law[n].nprm > 0);
  }
  assert_true(left < 20);
  return n;
}

static void testRows(void) {
  djRng rng = {51};
  assert_int_equal(checkTable(dj_gainLaws, dj_gainNames, &rng), DJ_GAIN_DCMOTOR + 1);
  assert_int_equal(checkTable(dj_biasLaws, dj_biasNames, &rng), DJ_BIAS_DCMOTOR + 1);
}

// p = g . (1, l, l') u + b . (1, l, l')
static void testValues(void) {
  const double prm[DJ_NPRM] = {2, 3, 5};
  djLawAt at = {1, 2, {0, 1}, 1};
  djLawCoefs f;
  dj_gainLaws[DJ_GAIN_FIXED].set(&f, &dj_gainLaws[DJ_GAIN_FIXED], prm, &at);
  assert_true(f.c[0] == 2 && f.c[1] == 0 && f.c[2] == 0);
  dj_biasLaws[DJ_BIAS_NONE].set(&f, &dj_biasLaws[DJ_BIAS_NONE], prm, &at);
  assert_true(f.c[0] == 0 && f.c[1] == 0 && f.c[2] == 0);
  dj_biasLaws[DJ_BIAS_AFFINE].set(&f, &dj_biasLaws[DJ_BIAS_AFFINE], prm, &at);
  assert_true(f.c[0] == 2 && f.c[1] == 3 && f.c[2] == 5);
}

// At the middle of its range and at rest a muscle pulls with its peak force; what is wrong is told.
static void testMuscle(void) {
  double prm[DJ_NPRM] = {0.75, 1.05, 40, 200, 0.5, 1.6, 1.5, 1.3, 1.2};
  djLawAt at = {0.5 + 0.25 / 0.3 * 0.6, 0, {0.5, 1.1}, 2};
  djt_near(valueAt(&dj_gainLaws[DJ_GAIN_MUSCLE], prm, &at), -40, 1e-12);
  djt_near(valueAt(&dj_biasLaws[DJ_BIAS_MUSCLE], prm, &at), 0, 1e-12);
  prm[2] = -1;
  djt_near(valueAt(&dj_gainLaws[DJ_GAIN_MUSCLE], prm, &at), -100, 1e-12);
  assert_null(dj_gainLaws[DJ_GAIN_MUSCLE].problem(prm));
  const int place[5] = {1, 4, 5, 6, 8};
  const double wrong[5] = {0.7, 1.2, 0.9, 0, 0.99};
  for (int k = 0; k < 5; k++) {
    double bad[DJ_NPRM];
    memcpy(bad, prm, sizeof bad);
    bad[place[k]] = wrong[k];
    assert_non_null(dj_gainLaws[DJ_GAIN_MUSCLE].problem(bad));
  }
}

// What a motor gives, by all that it depends on: force, what is added, their slopes, next states.
enum { NOUT = 4 + DJ_NMOTORSTATE };
static double outOf(double by[DJ_MOTOR_NBY], const djMotor* motor, int k) {
  const djMotorNumber* list[4] = {&motor->force, &motor->extra, &motor->slope, &motor->extra_slope};
  const djMotorNumber* number = k < 4 ? list[k] : &motor->next[k - 4];
  memcpy(by, number->d, sizeof number->d);
  return number->x;
}

// Place of what derivative k is by, in the model or in data; NULL: nothing that is there.
static double* placeIn(djModel* m, djData* d, int i, double at[2], int k) {
  if (k <= DJ_MOTOR_BY_RATE) return at + k;
  if (k < DJ_MOTOR_BY_INTEGRAL) {
    return m->actuator_input[i] == k - DJ_MOTOR_BY_INPUT ? d->ctrl + i : NULL;
  }
  if (k == DJ_MOTOR_BY_INTEGRAL) return d->act + m->actuator_zadr[i];
  if (k < DJ_MOTOR_BY_GAIN) {
    return d->act + m->actuator_motoradr[DJ_NMOTORSTATE * i + k - DJ_MOTOR_BY_STATE];
  }
  if (k < DJ_MOTOR_BY_BIAS) return m->actuator_gainprm + DJ_NPRM * i + k - DJ_MOTOR_BY_GAIN;
  if (k < DJ_MOTOR_BY_OWN) return m->actuator_biasprm + DJ_NPRM * i + k - DJ_MOTOR_BY_BIAS;
  return m->actuator_motorprm + DJ_NMOTORPRM * i + k - DJ_MOTOR_BY_OWN;
}

static void testMotor(void) {
  djRng rng = {53};
  int motors = 0;
  for (int trial = 0; trial < 40; trial++) {
    djModel* m = djt_randomModel(&rng, 3, DJT_ACTUATORS | DJT_MOTORS);
    int i = dj_firstMotor(m);
    for (int limit = 0; limit < 3 && i >= 0; limit++) {
      djData* d = djt_data(m);
      djMotor motor, moved;
      double at[2] = {djt_uniform(&rng, -1, 1), djt_uniform(&rng, 0.2, 1)}, by[DJ_MOTOR_NBY];
      djt_randomState(&rng, m, d, 1);
      if (limit == 1) m->actuator_gainprm[DJ_NPRM * i + 7] = 1e-3;   // bounds that are reached
      if (limit == 2) m->actuator_motorprm[DJ_NMOTORPRM * i + 1] = 1e-3;
      dj_evalMotor(&motor, m, d, i, at[0], at[1], 0.01, DJ_INPUTS_HARD);
      for (int k = 0; k < DJ_MOTOR_NBY; k++) {
        double *x = placeIn(m, d, i, at, k), f[NOUT][2], unused[DJ_MOTOR_NBY];
        if (!x) continue;
        const double was = *x, e = 1e-6 * fmax(0.1, fabs(was));
        for (int side = 0; side < 2; side++) {
          *x = was + (side ? e : -e);
          dj_evalMotor(&moved, m, d, i, at[0], at[1], 0.01, DJ_INPUTS_HARD);
          for (int o = 0; o < NOUT; o++) f[o][side] = outOf(unused, &moved, o);
        }
        *x = was;
        for (int o = 0; o < NOUT; o++) {
          double slope = (f[o][1] - f[o][0]) / (2 * e), size = fmax(1, fabs(slope));
          outOf(by, &motor, o);
          djt_near(by[k] / size, slope / size, 1e-6);
        }
      }
      motors++;
      dj_deleteData(d);
    }
    dj_deleteModel(m);
  }
  assert_true(motors > 30);
}

DJT_MAIN(testRows, testValues, testMuscle, testMotor)
