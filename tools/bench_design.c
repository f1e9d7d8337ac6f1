// dijoco bench, design: how long a design takes to move all vertices of a body of 12 x 13 blocks,
// 1540 of them, in hulls, contact shapes, mass and inertia: what an optimizer's iteration adds to
// its runs. Blocks touch at first; vertices are moved at random by a part of a
// block's size, so that facets bend.

#include "bench.h"

#ifdef DJ_HAVE_MUJOCO

#include "clock.h"
#include "text.h"

#include <dijoco/dijoco.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 12, COLUMNS = 13, BLOCKS = ROWS * COLUMNS, EXTRA = 146, MOVES = 200 };
static const double size = 0.01;      // of a block

typedef struct DesignBench {
  djModel* m;
  djTask* task;
  djProblem* p;
  djDesign* d;
  double* x;
} DesignBench;

// A block's corners, and of most two points more, above and below.
static void add_block(Buffer* out, int block) {
  double x = size * (block % COLUMNS), y = size * (block / COLUMNS);
  buf_addf(out, "%s{\"name\":\"m%d\",\"vert\":[", block ? "," : "", block);
  for (int i = 0; i < 8; i++) {
    buf_addf(out, "%s[%.17g,%.17g,%.17g]", i ? "," : "", x + (i & 1 ? size : 0),
             y + (i & 2 ? size : 0), i & 4 ? size : 0);
  }
  for (int i = 0; i < 2 && block < EXTRA; i++) {
    buf_addf(out, ",[%.17g,%.17g,%.17g]", x + 0.5 * size, y + 0.5 * size, (i ? 1.2 : -0.2) * size);
  }
  buf_add(out, "]}");
}

static void write_scene(Buffer* out) {
  buf_add(out, "{\"dijoco_model\":1,\"bodies\":[{\"name\":\"world\"},{\"name\":\"jaw\","
               "\"mass\":0.2,\"ipos\":[0.065,0.06,0.005],\"inertia\":[2.5e-4,2.9e-4,5.3e-4]}],"
               "\"joints\":[{\"type\":\"free\",\"body\":\"jaw\"}],\"meshes\":[");
  for (int k = 0; k < BLOCKS; k++) add_block(out, k);
  buf_add(out, "],\"geoms\":[{\"type\":\"plane\",\"body\":\"world\",\"size\":[0,0,1]}");
  for (int k = 0; k < BLOCKS; k++) {
    buf_addf(out, ",{\"type\":\"mesh\",\"mesh\":\"m%d\",\"body\":\"jaw\"}", k);
  }
  buf_add(out, "]}");
}

static void write_task(Buffer* out, const char* rule) {
  buf_addf(out, "{\"scene\":\"s\",\"horizon\":1,\"inertia_from_geom\":\"%s\","
                "\"contact\":{\"skin\":0},"
                "\"initial\":{\"qpos\":[0,0,1,1,0,0,0]},\"loss\":[{\"type\":\"position\","
                "\"body\":\"jaw\",\"target\":[0,0,1]}],\"variables\":[", rule);
  for (int k = 0; k < BLOCKS; k++) buf_addf(out, "%s{\"name\":\"mesh/m%d/vert\"}", k ? "," : "", k);
  buf_add(out, "]}");
}

static bool open_design(DesignBench* t, Bench* b, const char* rule) {
  Buffer scene = {0}, task = {0};
  djError err = {""};
  write_scene(&scene);
  write_task(&task, rule);
  djStatus status = dj_loadModelText(&t->m, scene.text, &err);
  if (status == DJ_OK) status = dj_loadTaskText(&t->task, task.text, NULL, &err);
  if (status == DJ_OK) status = dj_applyTask(t->m, t->task, &err);
  if (status == DJ_OK) status = dj_resolveTask(&t->p, t->task, t->m, &err);
  if (status == DJ_OK) status = djd_makeDesign(&t->d, t->m, t->p, &err);
  if (status == DJ_OK) t->x = tool_alloc((size_t)t->d->n, sizeof(double));
  else bench_skip(b, "design", "%.150s", err.text);
  buf_free(&scene);
  buf_free(&task);
  return status == DJ_OK;
}

static void close_design(DesignBench* t) {
  free(t->x);
  djd_deleteDesign(t->d);
  dj_deleteProblem(t->p);
  dj_deleteTask(t->task);
  dj_deleteModel(t->m);
}

static void time_moves(Bench* b, const char* rule, double part, const char* name) {
  DesignBench t = {0};
  Times ours = {0};
  long failed = 0;
  if (!bench_begin(b, name)) return;
  bool open = open_design(&t, b, rule);
  for (int k = 0; open && k < MOVES; k++) {
    for (int i = 0; i < t.d->n; i++) {
      double r = djd_random(7, (unsigned long)k, (unsigned long)i);
      t.x[i] = t.d->x0[i] + part * size * (2 * r - 1);
    }
    double start = bench_threadClock();
    failed += djd_moveDesign(t.d, t.x) < 0;
    times_add(&ours, bench_threadClock() - start);
  }
  if (open) {
    bench_add(b, name, times_median(&ours), "-", NAN,
              "all %d vertices of %d meshes moved by up to %.2g of a block's size: hulls, contact "
              "shapes, mass and inertia by the rule %s; 90%% of moves take at most %.0f us, %ld of "
              "%d failed", t.d->n / 3, BLOCKS, part, rule, times_part(&ours, 0.9), failed, MOVES);
  }
  times_free(&ours);
  close_design(&t);
}

void bench_design(Bench* b) {
  static const char* const rules[3] = {"exact", "lumped", "union"};
  for (int r = 0; r < 3; r++) {
    for (int k = 0; k < 2; k++) {
      char name[60];
      snprintf(name, sizeof name, "design/%s/%s", rules[r], k ? "far" : "near");
      if (bench_wants(b, name)) time_moves(b, rules[r], k ? 0.05 : 1e-4, name);
    }
  }
}

#endif
