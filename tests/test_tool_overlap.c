// What the command tells of the hulls of bodies that overlap.

#include "common/make_model.h"
#include "common/near.h"
#include "overlap.h"

// One body of two boxes, one of a single box.
static const char scene[] =
    "{\"dijoco_model\":1,\"bodies\":[{\"name\":\"world\"},"
    "{\"name\":\"pair\",\"mass\":1,\"inertia\":[1,1,1]},"
    "{\"name\":\"one\",\"mass\":1,\"inertia\":[1,1,1]}],\"geoms\":["
    "{\"type\":\"box\",\"body\":\"pair\",\"size\":[1,1,1]},"
    "{\"type\":\"box\",\"body\":\"pair\",\"size\":[1,1,1],\"pos\":[1,0,0]},"
    "{\"type\":\"box\",\"body\":\"one\",\"size\":[1,1,1],\"pos\":[1,0,0]}]}";

static void testOverlap(void** state) {
  (void)state;
  djModel* m = NULL;
  djError err = {""};
  if (dj_loadModelText(&m, scene, &err) != DJ_OK) fail_msg("%s", err.text);
  djt_near(overlap_share(m), 4.0 / 24, 1e-8);
  dj_deleteModel(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testOverlap)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
