// Tunnels that the command counts: of bodies that connections hold together.

#include "common/design_case.h"
#include "common/test.h"
#include "tunnels.h"

#define LONG                                                                                       \
  "[[-0.3,-0.1,-0.1],[0.3,-0.1,-0.1],[-0.3,0.1,-0.1],[0.3,0.1,-0.1],"                              \
  "[-0.3,-0.1,0.1],[0.3,-0.1,0.1],[-0.3,0.1,0.1],[0.3,0.1,0.1]]"
#define MESH(name) "{\"name\":\"" name "\",\"vert\":" LONG "}"
#define GEOM(name, body, pos, quat)                                                                \
  "{\"name\":\"" name "\",\"type\":\"mesh\",\"mesh\":\"" name "\",\"body\":\"" body                \
  "\",\"pos\":" pos ",\"quat\":" quat ",\"contype\":0,\"conaffinity\":0}"
#define ALONG "[1,0,0,0]"
#define ACROSS "[0.7071067811865476,0,0,0.7071067811865476]"

// Two frames of four bars each, of which the connection names one.
static const char scene[] =
    "{\"dijoco_model\":1,\"bodies\":[{\"name\":\"world\"},"
    "{\"name\":\"named\",\"mass\":1,\"inertia\":[1,1,1]},"
    "{\"name\":\"other\",\"mass\":1,\"inertia\":[1,1,1]}],"
    "\"joints\":[{\"type\":\"free\",\"body\":\"named\"},{\"type\":\"free\",\"body\":\"other\"}],"
    "\"meshes\":[" MESH("a") "," MESH("b") "," MESH("c") "," MESH("d") "," MESH("e") "," MESH("f") "," MESH("g") "," MESH(
        "h") "],"
             "\"geoms\":[" GEOM("a", "named", "[0,0.2,0]", ALONG) "," GEOM("b", "named", "[0,-0.2,0]", ALONG) "," GEOM(
                 "c", "named", "[0.2,0,0]",
                 ACROSS) "," GEOM("d", "named", "[-0.2,0,0]",
                                  ACROSS) "," GEOM("e", "other", "[0,0.2,0]",
                                                   ALONG) "," GEOM("f", "other", "[0,-0.2,0]",
                                                                   ALONG) "," GEOM("g", "other",
                                                                                   "[0.2,0,0]",
                                                                                   ACROSS) "," GEOM("h",
                                                                                                    "other",
                                                                                                    "[-0.2,0,0]",
                                                                                                    ACROSS) "]}";

static const char task[] =
    "{\"scene\":\"s\",\"horizon\":1,\"contact\":\"none\","
    "\"loss\":[{\"type\":\"com\",\"body\":\"named\",\"target\":[0,0,0]}],"
    "\"variables\":[{\"name\":\"mesh/b/vert\"}],"
    "\"connect\":[{\"a\":{\"geom\":\"a\",\"vertex\":0},\"b\":{\"geom\":\"b\",\"vertex\":0}}]}";

static void testFrame(void) {
  DesignCase c;
  djt_openDesign(&c, scene, task);
  const size_t size = (size_t)c.d->n * sizeof(double);
  double* x = malloc(size);
  assert_non_null(x);
  memcpy(x, c.d->x, size);
  assert_int_equal(tunnels_count(c.d, x), 1);
  for (int i = 0; i < 8; i++) x[3 * i + 1] -= 0.5; // the bar leaves the frame open
  assert_int_equal(tunnels_count(c.d, x), 0);
  for (int i = 0; i < 8; i++) x[3 * i + 2] = 0; // flat
  assert_int_equal(tunnels_count(c.d, x), -1);
  free(x);
  djt_closeDesign(&c);
}

DJT_MAIN(testFrame)
