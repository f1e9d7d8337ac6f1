// What the command tells of the hulls of bodies that overlap.

#include "common/make_model.h"
#include "common/near.h"
#include "common/test.h"
#include "overlap.h"

// One body of two boxes, one of a single box.
static const char scene[] =
    "{\"dijoco_model\":1,\"bodies\":[{\"name\":\"world\"},"
    "{\"name\":\"pair\",\"mass\":1,\"inertia\":[1,1,1]},"
    "{\"name\":\"one\",\"mass\":1,\"inertia\":[1,1,1]}],\"geoms\":["
    "{\"type\":\"box\",\"body\":\"pair\",\"size\":[1,1,1]},"
    "{\"type\":\"box\",\"body\":\"pair\",\"size\":[1,1,1],\"pos\":[1,0,0]},"
    "{\"type\":\"box\",\"body\":\"one\",\"size\":[1,1,1],\"pos\":[1,0,0]}]}";

static void testOverlap(void) {
  djModel* m = djt_modelOf(scene);
  djt_near(overlap_share(m), 4.0 / 24, 1e-8);
  Buffer text = {0};
  Json out;
  json_start(&out, &text);
  json_object(&out, NULL);
  overlap_write(&out, m);
  json_end(&out);
  const char* list = strstr(text.text, "\"overlap\":");
  assert_non_null(list);
  assert_non_null(strstr(list, "\"pair\""));
  assert_null(strstr(list, "\"one\""));
  const char* share = strstr(list, "\"share\":");
  assert_non_null(share);
  djt_near(strtod(share + 8, NULL), 0.25, 1e-8);
  buf_free(&text);
  dj_deleteModel(m);
}

DJT_MAIN(testOverlap)
