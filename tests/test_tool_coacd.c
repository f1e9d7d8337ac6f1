// CoACD where it is there: loading it, and its hulls of an L. Where it is not, why.

#include "coacd.h"
#include "common/message.h"
#include "common/near.h"
#include "common/solid_mesh.h"
#include "common/test.h"

#include <unistd.h>

#define LIBRARY DIJOCO_SOURCE_DIR "/build/deps/coacd/coacd/lib_coacd.so"

static void testMissing(void) {
  static const char* const wrong[] = {"/no/such/lib_coacd.so", "libm.so.6", ""};
  for (int i = 0; i < 3; i++) {
    djError err = {""};
    const char* path = "unset";
    setenv("DIJOCO_COACD", wrong[i], 1);
    assert_false(coacd_load(&path, &err));
    assert_null(path);
    assert_non_null(strstr(err.text, "scripts/fetch.py coacd"));
    if (i == 1) assert_non_null(strstr(err.text, "libm.so.6 is no CoACD"));
  }
}

static void testL(void) {
  djError err = {""};
  const char* path;
  if (access(LIBRARY, R_OK) != 0) skip();
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  skip(); // it leaks, and its threads are not known to the sanitizers
#endif
  setenv("DIJOCO_COACD", LIBRARY, 1);
  if (!coacd_load(&path, &err)) fail_msg("%s", err.text);
  assert_string_equal(path, LIBRARY);
  SolidMesh m = makeL();
  djTriangles mesh = {m.nvert, m.vert, m.ntri, m.tri};
  djPieces pieces;
  djPieceReport report;
  const CoacdWish wish = {.hulls = -1, .vertices = 10, .seed = 1};
  if (coacd_run(&pieces, &mesh, &wish, &err) != DJ_OK) fail_msg("%s", err.text);
  assert_int_equal(dj_comparePieces(&report, &pieces, &mesh, &err), DJ_OK);
  print_message("%d hulls, volume ratio %.5f, overlap %.2g\n", pieces.n, report.volume_ratio,
                report.overlap);
  assert_true(pieces.n >= 2 && pieces.n <= 4);
  assert_true(fabs(report.volume_ratio - 1) < 0.01 && report.overlap < 0.01);
  for (int i = 0; i < pieces.n; i++) assert_true(pieces.hull[i].nvert <= 10);
  dj_freePieces(&pieces);
  // One hull is that of all vertices, without the inner corner.
  const CoacdWish one = {.hulls = 1, .vertices = 10, .seed = 1};
  if (coacd_run(&pieces, &mesh, &one, &err) != DJ_OK) fail_msg("%s", err.text);
  assert_int_equal(pieces.n, 1);
  djt_near(pieces.volume[0], 0.41, 1e-3);
  dj_freePieces(&pieces);
  freeSolid(&m);
}

DJT_MAIN(testMissing, testL)
