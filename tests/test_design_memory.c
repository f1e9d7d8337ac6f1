// Memory of designs: what they say they hold is what they took, and it grows as the number of hulls
// that connections hold together, not as its square.

#include "common/design_case.h"
#include "common/test.h"

#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
#include <malloc.h>
static size_t inUse(void) { return mallinfo2().uordblks + mallinfo2().hblkhd; }
#else
static size_t inUse(void) { return 0; }
#endif

enum { FEW = 30, MANY = 120, LEAST = 400 }; // hulls; bytes a text of one takes at most

// A row of n boxes that touch, all vertices of which vary.
static char* boxes(int n) {
  size_t size = (size_t)n * LEAST + 1000;
  char *text = malloc(size), *at = text;
  assert_non_null(text);
  at += sprintf(at, "{\"dijoco_model\":1,\"bodies\":[{\"name\":\"world\"},{\"name\":\"row\","
                    "\"mass\":1,\"inertia\":[1,1,1]}],\"joints\":[{\"type\":\"slide\",\"body\":"
                    "\"row\"}],\"meshes\":[");
  for (int k = 0; k < n; k++) {
    at += sprintf(at, "%s{\"name\":\"m%d\",\"vert\":[", k ? "," : "", k);
    for (int i = 0; i < 8; i++) {
      at += sprintf(at, "%s[%d,%d,%d]", i ? "," : "", k + (i & 1), (i >> 1) & 1, i >> 2);
    }
    at += sprintf(at, "]}");
  }
  at += sprintf(at, "],\"geoms\":[");
  for (int k = 0; k < n; k++) {
    at += sprintf(at, "%s{\"name\":\"g%d\",\"type\":\"mesh\",\"mesh\":\"m%d\",\"body\":\"row\"}",
                  k ? "," : "", k, k);
  }
  sprintf(at, "]}");
  return text;
}

static void openRow(DesignCase* c, int n) {
  static const char task[] =
      "{\"scene\":\"s\",\"horizon\":2,\"contact\":{\"vertices\":\"all\",\"skin\":0},\"loss\":[],"
      "\"connect\":\"auto\",\"variables\":[{\"name\":\"mesh/*/vert\"}]}";
  djError err = {""};
  char* scene = boxes(n);
  *c = (DesignCase){0};
  if (dj_loadModelText(&c->m, scene, &err) < 0 || dj_loadTaskText(&c->task, task, NULL, &err) < 0 ||
      dj_applyTask(c->m, c->task, &err) < 0 || dj_resolveTask(&c->p, c->task, c->m, &err) < 0)
    fail_msg("%s", err.text);
  free(scene);
}

// Bytes of a design, and the equations' entries.
static size_t bytesOf(int n, int* entries) {
  DesignCase c;
  djError err = {""};
  double loss;
  openRow(&c, n);
  size_t before = inUse();
  if (djd_makeDesign(&c.d, c.m, c.p, &err) < 0) fail_msg("%s", err.text);
  size_t bytes = djd_designBytes(c.d), taken = inUse() - before;
  size_t all = bytes + dj_dataBytes(c.d->data) + djd_tapeBytes(c.d->tape);
  print_message("%d hulls: %d unknowns, %d equations, %zu bytes of %zu\n", n, c.d->n, c.d->nequal,
                all, taken);
  assert_int_equal(c.d->nequal, 3 * n); // one ties the row to the world
  *entries = c.d->equal_start[c.d->nequal];
  // The C library adds 16 bytes or so to each block.
  if (inUse() > 0) assert_true(taken >= all && (double)taken < 1.1 * (double)all);
  assert_int_equal(djd_evaluateDesign(&loss, NULL, c.d, c.d->x0), DJ_OK);
  djt_closeDesign(&c);
  return bytes;
}

static void testGrowth(void) {
  int few, many;
  size_t less = bytesOf(FEW, &few), more = bytesOf(MANY, &many);
  assert_int_equal(few, 6 * FEW - 3);
  assert_int_equal(many, 6 * MANY - 3);
  assert_true((double)more < 1.2 * MANY / FEW * (double)less);
  assert_int_equal(djd_designBytes(NULL), 0);
  assert_int_equal(dj_modelBytes(NULL), 0);
}

DJT_MAIN(testGrowth)
