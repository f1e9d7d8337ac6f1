// A quadrotor's path among obstacles: the first path of a random tree, made shorter and smoother by
// a nonlinear program whose constraints keep alpha, the contact of implicit surfaces, above 1 along
// the whole path (Quadrotor path planning, section VII-A of the iDCOL paper).
//   cc quadrotor_path.c quadrotor/*.c $(pkg-config --cflags --libs dijoco nlopt libcjson) -lm &&
//   ./a.out --seed 3 --out path
// It needs NLopt and cJSON, which DiJoCo itself does not give (libnlopt-dev, libcjson-dev).

#include "quadrotor/draw.h"
#include "quadrotor/plan.h"
#include "quadrotor/rrt.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCENE "../models/implicit/quadrotor/scene.json"
#define SLACK 1e-6 // of alpha, and in m
enum { BETWEEN = 20 };

typedef struct Options {
  const char *scene, *out;
  long seed, seeds; // seeds: 1 to that one, a line each; 0: the one seed
  bool differences, check;
} Options;

typedef struct Run {
  PlanReport plan;
  double* first; // (knots x 3)
  double* path;  // likewise
  double tree;   // s
  double length[2];
  double least[2][2]; // alpha of the first and the last path, at knots and between
  bool held;
} Run;

static const char USAGE[] =
    "usage: quadrotor_path [SCENE] [--seed N | --seeds N] [--out DIR] [--no-derivatives] "
    "[--check]\n"
    "  SCENE             by default " SCENE "\n"
    "  --seed N          of the first path's random tree, by default 1\n"
    "  --seeds N         seeds 1 to N, a line each\n"
    "  --out DIR         writes DIR/path.csv and DIR/path.svg\n"
    "  --no-derivatives  the optimizer gets differences in place of derivatives\n"
    "  --check           compares derivatives with central differences\n";

static bool readCountOption(long* value, const char* text) {
  char* end;
  *value = text ? strtol(text, &end, 10) : -1;
  return text && *text && !*end && *value >= 0 && *value <= 1000000000;
}

static bool readOptions(Options* o, int argc, char** argv) {
  bool named = false;
  *o = (Options){.scene = SCENE, .seed = 1};
  for (int i = 1; i < argc; i++) {
    const char* word = argv[i];
    if (strcmp(word, "--no-derivatives") == 0) {
      o->differences = true;
    } else if (strcmp(word, "--check") == 0) {
      o->check = true;
    } else if (strcmp(word, "--out") == 0 && i + 1 < argc) {
      o->out = argv[++i];
    } else if (strcmp(word, "--seed") == 0 || strcmp(word, "--seeds") == 0) {
      if (!readCountOption(word[6] ? &o->seeds : &o->seed, argv[++i < argc ? i : argc]))
        return false;
    } else if (*word != '-' && !named) {
      o->scene = word;
      named = true;
    } else {
      return false;
    }
  }
  return !(o->seeds && o->out);
}

// The least alpha at knots, and at points between them, each obstacle's first query cold.
static void leastAlphas(double least[2], const double* path, Scene* s) {
  least[0] = least[1] = INFINITY;
  for (int j = 0; j < s->nobstacle; j++) {
    djc_forgetImplicitPair(s->pair[j]);
    for (int i = 0; i < s->knots; i++) {
      const double *p = path + 3 * i, *q = i + 1 < s->knots ? p + 3 : p;
      least[0] = fmin(least[0], touchAt(s, j, p).alpha);
      for (int n = 1; n <= BETWEEN; n++) {
        const double t = n / (BETWEEN + 1.0);
        const double at[3] = {p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1]),
                              p[2] + t * (q[2] - p[2])};
        least[1] = fmin(least[1], touchAt(s, j, at).alpha);
      }
    }
  }
}

// Whether alpha and the bounds are kept.
static bool isHeld(const Run* r, const Scene* s) {
  bool held = fmin(r->least[1][0], r->least[1][1]) >= 1 + s->margin - SLACK;
  for (int i = 0; i < 3 * s->knots; i++) {
    held = held && r->path[i] >= s->low[i % 3] - SLACK && r->path[i] <= s->high[i % 3] + SLACK;
  }
  return held;
}

static bool runSeed(Run* r, Scene* s, const Options* o, long seed, djError* err) {
  const size_t size = 3 * (size_t)s->knots * sizeof(double);
  const double start = processorSeconds();
  if (!firstPath(r->first, s, (uint64_t)seed)) {
    return fail(err, "seed %ld: no way was found with %d samples", seed, s->rrt_samples);
  }
  r->tree = processorSeconds() - start;
  memcpy(r->path, r->first, size);
  if (!optimizePath(&r->plan, r->path, s, o->differences, err)) return false;
  r->length[0] = pathLength(r->first, s->knots);
  r->length[1] = pathLength(r->path, s->knots);
  leastAlphas(r->least[0], r->first, s);
  leastAlphas(r->least[1], r->path, s);
  r->held = isHeld(r, s);
  return true;
}

static void printRun(const Run* r, const Scene* s, const Options* o) {
  const PlanReport* p = &r->plan;
  printf("seed %ld, %d obstacles, %d knots; gradients by %s\n", o->seed, s->nobstacle, s->knots,
         o->differences ? "differences" : "derivatives");
  printf("status: %s, %s\n", p->status, r->held ? "constraints hold" : "constraints are violated");
  printf("evaluations: %ld\n", p->evaluations);
  printf("seconds: %.3f, of the processor %.3f; tree %.3f\n", p->elapsed, p->processor, r->tree);
  printf("collision queries: %ld, %.0f%% of the time\n", p->queries, 100 * p->share);
  printf("cost: %.6f before, %.6f after\n", p->cost[0], p->cost[1]);
  printf("length: %.4f m before, %.4f m after\n", r->length[0], r->length[1]);
  printf("least alpha before: %.6f at knots, %.6f between\n", r->least[0][0], r->least[0][1]);
  printf("least alpha after: %.6f at knots, %.6f between\n", r->least[1][0], r->least[1][1]);
  if (s->failed > 0) printf("queries that did not converge: %ld\n", s->failed);
}

static bool finishRun(const Run* r, Scene* s, const Options* o, djError* err) {
  if (o->check) {
    double error[2][2];
    if (!checkDerivatives(error[0], r->first, s, err) ||
        !checkDerivatives(error[1], r->path, s, err))
      return false;
    printf("error of derivatives: cost %.1e, constraints %.1e\n", fmax(error[0][0], error[1][0]),
           fmax(error[0][1], error[1][1]));
  }
  return !o->out || writeFiles(o->out, r->first, r->path, s, err);
}

// A line for each seed; returns how many failed.
static long runSeeds(Run* r, Scene* s, const Options* o) {
  long failed = 0;
  printf("seed  length before  after (m)  evaluations  processor (s)  queries  share  "
         "alpha at knots  between  status\n");
  for (long seed = 1; seed <= o->seeds; seed++) {
    djError err = {""};
    if (!runSeed(r, s, o, seed, &err)) {
      printf("%4ld  %s\n", seed, err.text);
      failed++;
      continue;
    }
    const PlanReport* p = &r->plan;
    printf("%4ld  %13.3f  %9.3f  %11ld  %13.3f  %7ld  %4.0f%%  %14.6f  %7.6f  %s%s\n", seed,
           r->length[0], r->length[1], p->evaluations, p->processor, p->queries, 100 * p->share,
           r->least[1][0], r->least[1][1], p->status, r->held ? "" : ", violated");
    fflush(stdout);
    failed += !p->converged || !r->held;
  }
  return failed;
}

int main(int argc, char** argv) {
  Options o;
  Scene scene;
  djError err = {""};
  if (!readOptions(&o, argc, argv)) {
    fputs(USAGE, stderr);
    return 2;
  }
  if (!readScene(&scene, o.scene, &err)) {
    fprintf(stderr, "%s\n", err.text);
    return 2;
  }
  Run run = {.first = calloc(3 * (size_t)scene.knots, sizeof(double)),
             .path = calloc(3 * (size_t)scene.knots, sizeof(double))};
  bool done = run.first && run.path;
  if (!done) {
    fail(&err, "out of memory");
  } else if (o.seeds > 0) {
    done = runSeeds(&run, &scene, &o) == 0;
  } else if ((done = runSeed(&run, &scene, &o, o.seed, &err))) {
    printRun(&run, &scene, &o);
    done = finishRun(&run, &scene, &o, &err) && run.plan.converged && run.held;
  }
  if (*err.text) fprintf(stderr, "%s\n", err.text);
  free(run.first);
  free(run.path);
  freeScene(&scene);
  return done ? 0 : 1;
}
