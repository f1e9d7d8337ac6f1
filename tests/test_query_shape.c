// Shapes of contact queries: what is refused, vertices, and the order of a query's halves.

#include "common/near.h"
#include "common/test.h"
#include "contact/kernel_query.h"
#include "contact/query/query_shape.h"
#include "model/geom_row.h"

static djcShape geom(djGeomType type, double x, double y, double z) {
  return (djcShape){.geom = type, .size = {x, y, z}, .quat = {1, 0, 0, 0}};
}

static void testVertices(void) {
  djcShape box = geom(DJ_BOX, 1, 2, 3), ball = geom(DJ_SPHERE, 1, 0, 0),
           rod = geom(DJ_CAPSULE, 0.1, 2, 0), plane = geom(DJ_PLANE, 0, 0, 0);
  assert_int_equal(dj_queryVertices(&box), 8);
  assert_int_equal(dj_queryVertices(&ball), 1);
  assert_int_equal(dj_queryVertices(&rod), 2);
  assert_int_equal(dj_queryVertices(&plane), 0);
  int seen = 0;
  djVec3 v, move, w;
  for (int i = 0; i < 8; i++) {
    dj_geomVertex(&v, &move, dj_geomRow(DJ_BOX), box.size, i);
    assert_true(fabs(v.x) == 1 && fabs(v.y) == 2 && fabs(v.z) == 3);
    seen |= 1 << ((v.x > 0) + 2 * (v.y > 0) + 4 * (v.z > 0));
  }
  assert_int_equal(seen, 255);
  dj_geomVertex(&v, &move, dj_geomRow(DJ_CAPSULE), rod.size, 0);
  dj_geomVertex(&w, &move, dj_geomRow(DJ_CAPSULE), rod.size, 1);
  djt_near(v.z * w.z, -4, 0);
  dj_geomVertex(&v, &move, dj_geomRow(DJ_SPHERE), ball.size, 0);
  djt_near(dju_norm3(v), 0, 0);
}

static void testRefused(void) {
  djError err;
  djcShape good = geom(DJ_BOX, 1, 2, 3), flat = geom(DJ_BOX, 1, -2, 3), odd = good;
  odd.quat[0] = 0;
  djcShape far = good;
  far.pos[1] = NAN;
  assert_int_equal(dj_checkQueryShape(&good, 'a', &err), DJ_OK);
  const djcShape* bad[] = {&flat, &odd, &far};
  for (int i = 0; i < 3; i++) {
    assert_int_equal(dj_checkQueryShape(bad[i], 'b', &err), DJ_INVALID);
    assert_non_null(strchr(err.text, 'b'));
  }
}

// Entry (i, j) goes to (i + 6, j + 6), modulo 12.
static void testSwap(void) {
  double x[12], H[144];
  for (int i = 0; i < 12; i++) x[i] = i;
  for (int i = 0; i < 144; i++) H[i] = i;
  dj_swapHalves(x);
  dj_swapHessian(H);
  for (int i = 0; i < 12; i++) {
    assert_true(x[i] == (i + 6) % 12);
    for (int j = 0; j < 12; j++) assert_true(H[12 * i + j] == 12 * ((i + 6) % 12) + (j + 6) % 12);
  }
}

DJT_MAIN(testVertices, testRefused, testSwap)
