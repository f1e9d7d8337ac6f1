// What benches need of MuJoCo: models of text.

#include "bench_mujoco.h"
#include "common/near.h"
#include "common/test.h"

static void testCompile(void) {
  char error[300] = "";
  Buffer text = {0};
  buf_addf(&text, "<mujoco><worldbody><geom name='%s' size='1'/></worldbody></mujoco>", "ball");
  mjModel* m = bench_compile(&text, error, sizeof error);
  assert_non_null(m);
  assert_int_equal(m->ngeom, 1);
  assert_int_equal(mj_name2id(m, mjOBJ_GEOM, "ball"), 0);
  mj_deleteModel(m);
  assert_null(text.text);
}

static void testErrors(void) {
  char error[300] = "";
  Buffer text = {0};
  buf_addf(&text, "<mujoco><worldbody><geom name='%s'/></worldbody></mujoco>", "ball");
  assert_null(bench_compile(&text, error, sizeof error));
  assert_non_null(strstr(error, "size"));
  assert_null(text.text);
}

DJT_MAIN(testCompile, testErrors)
