// Convex substitutes of contact's Hessians: two balls, whose curvature across the normal is -f/d
// with the force f and the distance d of what touches.

#include "common/balls.h"
#include "common/near.h"
#include "common/random.h"
#include "common/test.h"
#include "contact/contact.h"

// Balls in half of the range along x; the Hessian as it is and what becomes of it.
static void hessians(double exact[144], double convex[144], const djModel* m, double share) {
  djContacts* c;
  djError err = {""};
  assert_int_equal(dj_makeContacts(&c, m, &err), DJ_OK);
  djPose pose[3];
  djVec3 ref[3];
  double reach = 0.2 - m->geom_skin[0] - m->geom_skin[1] + 0.5 * m->contact.range, value;
  for (int b = 0; b < 3; b++) {
    pose[b] = (djPose){{b == 2 ? reach : 0, 0, 0}, dju_eye3()};
    ref[b] = pose[b].p;
  }
  assert_int_equal(dj_beginContacts(c, m, pose, NULL, NULL, ref, 0.002, &err), DJ_OK);
  assert_int_equal(dj_evalContacts(&value, c, m, pose, NULL, DJ_EVAL_HESSIAN), DJ_OK);
  int n;
  const djContactBlock* const* block = dj_contactBlocks(&n, c);
  assert_int_equal(n, 1);
  memcpy(exact, block[0]->out.hessian, 144 * sizeof(double));
  dj_convexContacts(c, m, share);
  memcpy(convex, block[0]->out.hessian, 144 * sizeof(double));
  dj_deleteContacts(c);
}

static double along(const double H[144], const double x[12]) {
  double sum = 0;
  for (int r = 0; r < 12; r++) {
    for (int c = 0; c < 12; c++) sum += x[r] * H[12 * r + c] * x[c];
  }
  return sum;
}

static void testBothMove(void) {
  double exact[144], convex[144];
  djRng rng = {5};
  djModel* m = djt_makeBalls(2, 2);
  hessians(exact, convex, m, 1);
  double normal[12] = {[3] = 1, [9] = -1}, across[12] = {[4] = 1, [10] = -1};
  double stiff = along(exact, normal);
  assert_true(stiff > 0 && along(exact, across) < -1e-6 * stiff);
  djt_near(along(convex, normal), stiff, 1e-12 * stiff);
  djt_near(along(convex, across), 0, 1e-12 * stiff);
  for (int k = 0; k < 1000; k++) {
    double x[12], size = 0;
    for (int i = 0; i < 12; i++) {
      x[i] = djt_uniform(&rng, -1, 1) * (i % 6 < 3 ? 10 : 1);
      size += x[i] * x[i];
    }
    assert_true(along(convex, x) >= -1e-12 * stiff * size);
  }
  dj_deleteModel(m);
}

// Beside a body that cannot move, the block of the other one is all that counts: it changes alone.
static void testOneMoves(void) {
  double exact[144], convex[144];
  djModel* m = djt_makeBalls(2, 1);
  hessians(exact, convex, m, 1);
  double normal[12] = {[3] = 1}, across[12] = {[4] = 1};
  djt_near(along(convex, normal), along(exact, normal), 1e-12 * along(exact, normal));
  assert_true(along(exact, across) < 0);
  djt_near(along(convex, across), 0, 1e-12 * along(exact, normal));
  for (int i = 0; i < 144; i++) assert_true((i / 12 < 6 && i % 12 < 6) || exact[i] == convex[i]);
  dj_deleteModel(m);
}

// A share of the way leaves the rest of what is negative.
static void testShare(void) {
  double exact[144], whole[144], part[144];
  for (int n = 1; n <= 2; n++) {
    djModel* m = djt_makeBalls(2, n);
    hessians(exact, whole, m, 1);
    hessians(exact, part, m, 0.25);
    double size = 0;
    for (int i = 0; i < 144; i++) size = fmax(size, fabs(exact[i]));
    for (int i = 0; i < 144; i++) {
      djt_near(part[i], 0.75 * exact[i] + 0.25 * whole[i], 1e-14 * size);
    }
    double across[12] = {[4] = 1};
    djt_near(along(part, across), 0.75 * along(exact, across), 1e-12 * size);
    dj_deleteModel(m);
  }
}

DJT_MAIN(testBothMove, testOneMoves, testShare)
