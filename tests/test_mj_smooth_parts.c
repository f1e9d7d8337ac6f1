// Parts of the smooth derivatives by themselves: numbers that carry derivatives, laws of actuators
// (their forces are MuJoCo's), states of controllers, paths around geoms, spatial vectors.

#include "common/mj_smooth.h"
#include "common/test.h"
#include "derivative/dual.h"
#include "derivative/law_slope.h"
#include "derivative/motor_slope.h"
#include "derivative/slope_math.h"
#include "derivative/smooth_work.h"
#include "derivative/wrap_slope.h"

// A formula with every operation.
static djmDual formula(djmDual a, djmDual b) {
  djmDual r = dDiv(dSin(dMul(a, b)), dShift(dExp(dScl(b, 0.3)), 0.5));
  r = dAdd(r, dSqrt(dSub(dMul(a, a), dScl(b, 0.1))));
  return dAdd(r, dMul(dAbs(dScl(a, -1)), dClip(b, -1, 1)));
}

static void testDual(void) {
  double x[2] = {1.3, 0.7}, h = 1e-5;
  djmDual y = formula(dVar(x[0], 3), dVar(x[1], 7));
  for (int i = 0; i < 2; i++) {
    double z[2][2] = {{x[0], x[1]}, {x[0], x[1]}};
    z[0][i] += h;
    z[1][i] -= h;
    double up = formula(dConst(z[0][0]), dConst(z[0][1])).x;
    double down = formula(dConst(z[1][0]), dConst(z[1][1])).x;
    djt_near(y.d[i ? 7 : 3], (up - down) / (2 * h), 1e-8);
  }
  djmDual end = dClip(dVar(1, 0), -1, 1), beyond = dClip(dVar(1.5, 0), -1, 1);
  djt_near(end.d[0], 1, 0);
  djt_near(beyond.d[0], 0, 0);
  djt_near(beyond.x, 1, 0);
  djt_near(y.d[0], 0, 0);
}

// A law's force is what MuJoCo has, its activations after the step, too.
static void testLaws(void) {
  static const char text[] =
      "<mujoco><option timestep='.002'/><worldbody><body><joint name='a' axis='0 1 0'/>"
      "<geom size='.1' pos='.2 0 0' mass='1'/></body></worldbody><actuator>"
      "<general joint='a' gear='2' gaintype='affine' gainprm='1 2 3' biastype='affine' "
      "biasprm='.1 .2 .3' dyntype='filterexact' dynprm='.1' actearly='true'/>"
      "<muscle joint='a' lengthrange='-1 1' force='20'/><pid joint='a' kp='3' kv='1' ki='2' "
      "slewmax='3'/><dcmotor joint='a' motorconst='.5' resistance='2' inductance='0 .01' "
      "thermal='2 3 0 .004 25 30' lugre='20 1 .5 .7 2' cogging='.3 6 .2' input='pos vel ff' "
      "controller='3 2 .5 .3 .4 6'/></actuator></mujoco>";
  djRng rng = {5};
  djtSmooth s = djt_openSmooth(djt_compile(text));
  for (int n = 0; n < 5; n++) {
    djt_shakeSmooth(&s, &rng, 0.4, 1);
    mj_copyData(s.e, s.m, s.d);
    mj_step(s.m, s.e);
    for (int i = 0; i < s.m->nactuator; i++) {
      djmLaw law;
      djError err = {""};
      assert_int_equal(djm_checkLaw(s.m, i, &err), DJ_OK);
      djm_law(&law, s.m, s.d, i);
      double f = s.d->actuator_force[s.m->actuator_outadr[i]];
      djt_near(law.force.x + law.extra.x, f, 1e-12 * (1 + fabs(f)));
      for (int k = 0; k < s.m->actuator_actnum[i]; k++) {
        djt_near(law.next[k].x, s.e->act[s.m->actuator_actadr[i] + k], 1e-12);
        djt_near(law.rate[k].x, s.d->act_dot[s.m->actuator_actadr[i] + k], 1e-10);
      }
    }
  }
  djt_closeSmooth(&s);
}

// Curves of muscles over all their pieces; set points more than half a turn away; orientations.
static void testValues(void) {
  static const char text[] =
      "<mujoco><worldbody><site name='w'/><body><joint name='a' axis='0 1 0'/><geom size='.1' "
      "pos='.2 0 0' "
      "mass='1'/>"
      "<body><joint name='b' type='ball'/><geom size='.1' pos='.1 .1 0' mass='1'/><site name='s'/>"
      "</body></body></worldbody><actuator><muscle joint='a' lengthrange='-1 1' force='20'/>"
      "<position joint='b' gear='1 2 .5' kp='2'/><pid joint='b' gear='0 1 1' kp='2' ki='1'/>"
      "<position site='s' refsite='w' gear='0 0 0 1 2 3' kp='1'/>"
      "<general joint='b' gaintype='so3' biastype='so3' gainprm='3' biasprm='.2 -3 -.5'/>"
      "<general joint='b' gaintype='so3' biastype='so3' gainprm='3' biasprm='.2 -3 -.5' "
      "forcerange='0 .7'/></actuator></mujoco>";
  mjModel* m = djt_compile(text);
  mjData* d = mj_makeData(m);
  djRng rng = {6};
  for (int n = 0; n < 200; n++) {
    djt_shake(d, &rng, m, 0.4, 1);
    d->qpos[0] = -4 + 0.06 * n;
    d->qvel[0] = djt_uniform(&rng, -20, 20);
    for (int i = 1; i < 4; i++) d->ctrl[m->actuator_ctrladr[i]] = djt_uniform(&rng, -50, 50);
    mj_forward(m, d);
    for (int i = 0; i < m->nactuator; i++) {
      const double* f = d->actuator_force + m->actuator_outadr[i];
      djmLaw law;
      djmOrientation turn;
      if (i < 4)
        djm_law(&law, m, d, i);
      else
        djm_orientationLaw(&turn, m, d, i);
      for (int k = 0; k < m->actuator_outnum[i]; k++) {
        djt_near(i < 4 ? law.force.x : turn.force[k], f[k], 1e-11);
      }
    }
  }
  djt_deleteEngine(m, d);
}

static void testControllers(void) {
  djmDual rate, u = dVar(2, 0), was = dVar(1, 1), y = djm_slew(&rate, u, was, 0.3, 0.1, 0);
  djt_near(y.x, 1.3, 1e-15);
  djt_near(y.d[1], 1, 0);
  djt_near(rate.x, 3, 1e-14);
  djt_near(rate.d[1], 0, 0);
  y = djm_slew(&rate, u, was, 5, 0.1, 0);
  djt_near(y.d[0], 1, 0);
  djt_near(rate.d[1], -10, 1e-13);
  y = djm_slew(&rate, dVar(9, 0), was, 5, 0.1, 4);
  djt_near(y.x, 1, 1e-15);
  djt_near(djm_windup(u, 0.5, 0.5).x, 0, 0);
  djt_near(djm_windup(dScl(u, -1), 0.5, 0.5).x, -2, 0);
  djt_near(djm_windup(u, -0.5, 0.5).x, 2, 0);
  djt_near(djm_windup(dScl(u, -1), -0.5, 0.5).x, 0, 0);
}

// Second derivatives are symmetric, do not see a common shift, and follow the first ones.
static void testWrap(void) {
  const double pos[3] = {.1, .2, .3}, mat[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, R = .2;
  double x0[3] = {-.5, .3, .25}, x1[3] = {.6, .2, .5}, w0[3] = {.1, .4, .3}, w1[3] = {.11, .4, .31};
  for (int cylinder = 0; cylinder < 2; cylinder++) {
    djmWrapSlope s, up, down;
    assert_true(djm_wrapSlope(&s, x0, x1, w0, w1, pos, mat, R, cylinder));
    for (int k = 0; k < 3; k++) {
      double h = 1e-6, keep = x0[k];
      x0[k] = keep + h;
      assert_true(djm_wrapSlope(&up, x0, x1, w0, w1, pos, mat, R, cylinder));
      x0[k] = keep - h;
      assert_true(djm_wrapSlope(&down, x0, x1, w0, w1, pos, mat, R, cylinder));
      x0[k] = keep;
      for (int j = 0; j < 3; j++) {
        djt_near(s.H[0][3 * j + k], (up.slope[0][j] - down.slope[0][j]) / (2 * h), 1e-7);
        djt_near(s.H[1][3 * k + j], (up.slope[1][j] - down.slope[1][j]) / (2 * h), 1e-7);
        djt_near(s.H[0][3 * j + k], s.H[0][3 * k + j], 1e-13);
      }
    }
  }
  djmWrapSlope s;
  assert_false(djm_wrapSlope(&s, pos, x1, w0, w1, pos, mat, R, false));
}

static void testVectors(void) {
  const double v[6] = {.1, -.2, .3, .4, .5, -.6}, f[6] = {1, 2, -3, .5, .1, .7};
  double motion[6] = {0}, force[6] = {0};
  // the two products are each other's transpose, negative
  addCrossMotion(motion, v, f);
  addCrossForce(force, v, f);
  const double y[6] = {.3, .1, .2, -.4, .6, .9};
  double other[6] = {0};
  addCrossMotion(other, v, y);
  djt_near(dot6(force, y), -dot6(f, other), 1e-15);
  addCrossMotion(other, v, v);
  addCrossMotion(motion, f, v);
  djt_near(mju_norm(motion, 6), 0, 1e-15);
  // inertia of a point of mass 2 at c
  const double c[3] = {.1, .2, .3}, mass = 2, cc = dot3(c, c);
  const double I[10] = {mass * (cc - c[0] * c[0]),
                        mass * (cc - c[1] * c[1]),
                        mass * (cc - c[2] * c[2]),
                        -mass * c[0] * c[1],
                        -mass * c[0] * c[2],
                        -mass * c[1] * c[2],
                        mass * c[0],
                        mass * c[1],
                        mass * c[2],
                        mass};
  double p[3], l[3], h[6];
  cross3(p, v, c);
  for (int i = 0; i < 3; i++) p[i] = mass * (p[i] + v[3 + i]);
  cross3(l, c, p);
  mulInertia(h, I, v);
  for (int i = 0; i < 3; i++) {
    djt_near(h[i], l[i], 1e-15);
    djt_near(h[3 + i], p[i], 1e-15);
  }
}

static void testPoly(void) {
  const double poly[2] = {2, 3};
  double slope, h = 1e-5, other;
  for (int odd = 0; odd < 2; odd++) {
    for (double x = -.7; x < 1; x += .5) {
      double y = djm_polyForce(&slope, 1.5, poly, x, odd);
      djt_near(y, 1.5 * x + 2 * x * (odd ? fabs(x) : x) + 3 * x * x * x, 1e-14);
      double up = djm_polyForce(&other, 1.5, poly, x + h, odd);
      double down = djm_polyForce(&other, 1.5, poly, x - h, odd);
      djt_near(slope, (up - down) / (2 * h), 1e-8);
    }
  }
}

DJT_MAIN(testDual, testLaws, testControllers, testWrap, testVectors, testPoly, testValues)
